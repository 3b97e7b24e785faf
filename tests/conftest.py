"""Fixtures and settings that the whole suite shares."""

from __future__ import annotations

import gc
import os
import pathlib

import hypothesis
import pytest

import ionfast
import vectors

# A CI run draws the same examples every time; `--hypothesis-profile=explore` looks for new ones.
hypothesis.settings.register_profile("ci", derandomize=True, deadline=None, max_examples=150)
hypothesis.settings.register_profile("explore", deadline=None, max_examples=5000)
hypothesis.settings.load_profile(os.environ.get("IONFAST_HYPOTHESIS_PROFILE", "ci"))


@pytest.fixture(scope="module", autouse=True)
def _the_collector_passes_over_what_is_there() -> None:
    """What stands for ten thousand tests is not looked through each time that one of them collects.

    It took 0.2 s of each that does: a third of the whole run.
    """
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def project_root() -> pathlib.Path:
    """The folder that holds pyproject.toml."""
    return vectors.ROOT


@pytest.fixture(autouse=True)
def _pools_start_empty() -> None:
    """No test sees what another one left in the pools."""
    ionfast.pools.clear()
