"""Every example in a docstring runs, those of the C half included."""

from __future__ import annotations

import doctest
import importlib
import pathlib

import pytest

import ionfast

MODULES = sorted(p.stem for p in pathlib.Path(ionfast.__file__).parent.glob("*.py"))


@pytest.mark.parametrize("name", [*MODULES, "_ionfast"])
def test_examples(name: str) -> None:
    module = importlib.import_module("ionfast" if name == "__init__" else f"ionfast.{name}")
    failed, _ = doctest.testmod(module)
    assert failed == 0
