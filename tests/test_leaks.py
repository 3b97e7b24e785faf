"""Nothing is left behind by any entry point, its error paths included: blocks of memory and references to
types, over thousands of calls, in an interpreter of its own.

Run one of them again alone: python tests/test_leaks.py loads_binary
"""

from __future__ import annotations

import gc
import pathlib
import subprocess
import sys

import pytest

import entry_points
import ionfast
import scenarios

pytestmark = [pytest.mark.slow, scenarios.not_sanitized]

WARM_UP = 60
REPEATS = 400
GROUPS = 6


def types_of_the_library() -> list[type]:
    """Every class that the library makes, in C or in Python."""
    modules = (ionfast, ionfast._ionfast, ionfast._symbols, ionfast._values)
    found = {id(each): each for module in modules for each in vars(module).values()
             if isinstance(each, type)}  # fmt: skip
    return sorted(found.values(), key=lambda each: each.__qualname__)


def grown(name: str, types: list[type]) -> tuple[int, dict[str, int]]:
    """Blocks and references that REPEATS calls leave behind."""
    for _ in range(WARM_UP):
        entry_points.run(name)
    gc.collect()
    before = [sys.getrefcount(each) for each in types]
    blocks = sys.getallocatedblocks()
    for _ in range(REPEATS):
        entry_points.run(name)
    gc.collect()
    blocks = sys.getallocatedblocks() - blocks
    after = [sys.getrefcount(each) for each in types]
    left = {each.__qualname__: b - a for each, a, b in zip(types, before, after, strict=True) if a != b}
    return blocks, left


def main(names: list[str]) -> None:
    """Report each entry point that leaves more than caches of the interpreter could."""
    types = types_of_the_library()
    for name in names:
        for _ in range(4):  # caches fill once, a leak grows every time
            blocks, left = grown(name, types)
            if max(blocks, *left.values(), 0) <= REPEATS // 8:
                break
        else:
            print(f"{name}: {blocks} blocks, references: {left} after {REPEATS} calls")


@pytest.mark.parametrize("group", range(GROUPS))
def test_nothing_is_left_behind(group: int) -> None:
    names = sorted(entry_points.ALL)[group::GROUPS]
    done = subprocess.run([sys.executable, __file__, *names], capture_output=True, text=True,
                          timeout=300, check=False, cwd=pathlib.Path(__file__).parent)  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr[-4000:]) == (0, "", "")


@pytest.mark.parametrize("pooled", [True, False])
def test_pools_change_nothing_about_it(pooled: bool) -> None:
    """Objects that are made and destroyed each time leave nothing either, nor do the pools' caps."""
    script = f"""
        import sys
        sys.path.insert(0, {str(pathlib.Path(__file__).parent)!r})
        import contextlib, test_leaks
        way = contextlib.nullcontext() if {pooled} else ionfast.pools.disabled()
        ionfast.pools.configure(max_idle=1, max_object_bytes=4096)
        with way:
            test_leaks.main(["loads_text", "loads_binary", "dumps", "reader_feed", "writer_file",
                             "transcode_to_text", "bad_text", "bad_dumps_hook", "bad_writer_open"])
    """
    assert scenarios.run_python(script) == ""


if __name__ == "__main__":
    main(sys.argv[1:] or sorted(entry_points.ALL))
