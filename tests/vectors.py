"""Finds the public test data and lists its files.

The data is no part of the project. It is looked for where IONFAST_TESTDATA points, and else beside
the project in ../shared/testdata; where it is absent, the tests that need it skip with a message.
"""

from __future__ import annotations

import os
import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
TESTDATA = pathlib.Path(os.environ.get("IONFAST_TESTDATA", ROOT.parent / "shared" / "testdata"))
ION_TESTS = TESTDATA / "ion-tests"
VECTORS = ION_TESTS / "iontestdata"
CASES = TESTDATA / "cases" / "cases.jsonl"

NEEDS_TESTDATA = f"no test data in {TESTDATA}: set IONFAST_TESTDATA"

# Ion text is UTF-8 (docs/ion-choices.md). These two are the only vectors left out.
NOT_UTF8 = frozenset({"good/utf16.ion", "good/utf32.ion"})


def paths(folder: str) -> list[str]:
    """Names of the .ion and .10n files under a folder, from the vectors' root, in order."""
    found = (p for p in (VECTORS / folder).rglob("*") if p.suffix in (".ion", ".10n"))
    return sorted(p.relative_to(VECTORS).as_posix() for p in found)


def parametrize(folder: str) -> pytest.MarkDecorator:
    """A test for each file under a folder, with its name as `vector`."""
    names = paths(folder)
    if not names:
        return pytest.mark.parametrize("vector", [skipped(folder, NEEDS_TESTDATA)])
    params = [
        skipped(n, "Ion text is UTF-8: docs/ion-choices.md") if n in NOT_UTF8 else n for n in names
    ]
    return pytest.mark.parametrize("vector", params)


def skipped(name: str, reason: str):  # type: ignore[no-untyped-def]
    """One parameter that is shown as skipped, with the reason."""
    return pytest.param(name, id=name, marks=pytest.mark.skip(reason=reason))


def read(vector: str) -> bytes:
    """A vector's bytes."""
    return (VECTORS / vector).read_bytes()
