"""Documents to start from: the public vectors, cases and conformance suite, and the fuzzer's seeds."""

from __future__ import annotations

import json
import runpy
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent
LARGEST = 20_000  # larger ones would only take time


def seeds() -> list[bytes]:
    """All of them, in a stable order; those of the public test data only where that is there."""
    if str(TESTS) not in sys.path:
        sys.path.insert(0, str(TESTS))
    import conformance
    import vectors

    found = list(runpy.run_path(str(TESTS / "fuzz" / "seeds.py"))["documents"]().values())
    found += [vectors.read(name) for name in vectors.paths("")]
    suite = vectors.ION_TESTS / "conformance"
    if suite.is_dir():
        found += [document.data() for document in conformance.documents(suite)]
    if vectors.CASES.is_file():
        found += [case_input(line) for line in vectors.CASES.read_text("utf-8").splitlines()]
    return [data for data in dict.fromkeys(found) if len(data) <= LARGEST]


def case_input(line: str) -> bytes:
    """The input of a case where it is spelled out, else nothing."""
    case = json.loads(line)
    if "input_hex" in case:
        return bytes.fromhex(case["input_hex"])
    return str(case.get("input_text", "")).encode("utf-8", "replace")
