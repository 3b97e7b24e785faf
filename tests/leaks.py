"""Counts what an action leaves behind: references to types and blocks of memory."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable

import scenarios

WARM_UP = 200
REPEATS = 1000


def assert_flat(action: Callable[[], object], *types: type) -> None:
    """Nothing is left for each time that `action` runs.

    Caches of the interpreter, such as that of attributes, may still grow a little, so blocks are
    compared with half a block for each run.
    """
    gc.collect()
    grown, references = _grown(action, types)
    assert references == [0] * len(types)
    allowed = REPEATS // 2 + (0 if scenarios.HAS_GIL else 200)  # given back later there
    assert grown < allowed, f"{grown} blocks are left after {REPEATS} runs"


def _grown(action: Callable[[], object], types: tuple[type, ...]) -> tuple[int, list[int]]:
    """Blocks, and references to each of the types, that the runs leave behind."""
    for _ in range(WARM_UP):
        action()
    gc.collect()
    references = [sys.getrefcount(each) for each in types]
    blocks = sys.getallocatedblocks()
    for _ in range(REPEATS):
        action()
    gc.collect()
    gc.collect()  # without a GIL some memory is given back a collection later
    blocks = sys.getallocatedblocks() - blocks
    after = [sys.getrefcount(each) for each in types]
    return blocks, [b - a for a, b in zip(references, after, strict=True)]
