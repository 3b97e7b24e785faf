"""Counts what an action leaves behind: references to types and blocks of memory."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable

WARM_UP = 200
REPEATS = 1000


def assert_flat(action: Callable[[], object], *types: type) -> None:
    """Nothing is left for each time that `action` runs.

    Caches of the interpreter, such as that of attributes, may still grow a little, so blocks are
    compared with half a block for each run.
    """
    for _ in range(WARM_UP):
        action()
    gc.collect()
    references = [sys.getrefcount(each) for each in types]
    blocks = sys.getallocatedblocks()
    for _ in range(REPEATS):
        action()
    gc.collect()
    grown = sys.getallocatedblocks() - blocks
    assert [sys.getrefcount(each) for each in types] == references
    assert grown < REPEATS // 2, f"{grown} blocks are left after {REPEATS} runs"
