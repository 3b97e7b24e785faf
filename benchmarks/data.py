"""The documents that are measured: public JSON corpora where they are at hand, and the examples."""

from __future__ import annotations

import gzip
import json
import lzma
import os
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
CORPORA = ("twitter", "citm_catalog", "canada", "github")
EXAMPLES = ("orders", "service")


def testdata() -> Path:
    """The folder of public test data: IONFAST_TESTDATA, else ../shared/testdata beside the project."""
    return Path(os.environ.get("IONFAST_TESTDATA", ROOT.parent / "shared" / "testdata"))


@cache
def corpus_json(name: str) -> bytes | None:
    """One corpus as JSON text; None where the test data is absent."""
    path = testdata() / "corpora" / f"{name}.json.xz"
    return lzma.decompress(path.read_bytes()) if path.exists() else None


@cache
def example(name: str) -> bytes | None:
    """One generated example as Ion, unpacked; None before `python examples/make_examples.py` has run."""
    for path in sorted((ROOT / "examples").glob(f"{name}*")):
        data = path.read_bytes()
        return gzip.decompress(data) if path.suffix == ".gz" else data
    return None


@cache
def document(name: str) -> Any:
    """The Python value that everyone loads and dumps."""
    text = corpus_json(name)
    if text is None:
        raise FileNotFoundError(f"corpus {name} is not in {testdata()}")
    return json.loads(text)
