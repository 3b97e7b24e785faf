"""`python -m benchmarks.memory`: the greatest memory that loads and dumps hold, as tracemalloc counts it.

For loads what is held at the peak beyond the result, in bytes and as a share of the input; for dumps the
peak as a multiple of the output. Each from empty pools and again from warm ones.
"""

from __future__ import annotations

import platform
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import ionfast
from ionfast import pools

from . import data


def peak_of(call: Callable[[], Any]) -> tuple[int, int]:
    """(peak, result): bytes above what was there before, at the worst moment, and in the result."""
    tracemalloc.start()
    try:
        result = call()
        peak = tracemalloc.get_traced_memory()[1]
        pools.clear()
        size = tracemalloc.get_traced_memory()[0]
        del result
    finally:
        tracemalloc.stop()
    return peak, size


def documents() -> Iterator[tuple[str, Any]]:
    """The corpora, and two flat ones."""
    for name in data.CORPORA:
        if data.corpus_json(name) is not None:
            yield name, data.document(name)
    yield "a million ints", list(range(1_000_000))
    yield "100,000 fields", {f"field_{i}": i for i in range(100_000)}


def report(name: str, value: Any, *, binary: bool) -> None:
    """One line of the table."""
    out: Any = ionfast.dumps(value, binary=binary)
    encoded: bytes = out if binary else out.encode()
    pools.clear()
    cells = []
    for state in ("cold", "warm"):
        if state == "warm":
            ionfast.loads(encoded)
        peak, size = peak_of(lambda: ionfast.loads(encoded))
        cells.append(
            f"loads {state} +{(peak - size) / 1e3:.0f} KB, {(peak - size) / len(encoded):.0%}"
        )
    for state in ("cold", "warm"):
        if state == "warm":
            ionfast.dumps(value, binary=binary)
        peak, _ = peak_of(lambda: ionfast.dumps(value, binary=binary))
        cells.append(f"dumps {state} x{peak / sys.getsizeof(out):.2f}")
    kind = "binary" if binary else "text"
    print(f"{name:16} {kind:6} {len(encoded):9} bytes: " + " | ".join(cells), flush=True)


def main() -> int:
    """Print the table."""
    print(f"ionfast {ionfast.__version__}, CPython {platform.python_version()}")
    for name, value in documents():
        for binary in (True, False):
            report(name, value, binary=binary)
    return 0


if __name__ == "__main__":
    sys.exit(main())
