"""Each allocation of each entry point fails once: MemoryError or the right result, and no harm done.

Run one of them again alone: pytest tests/test_nomemory.py -k loads_binary
"""

from __future__ import annotations

import importlib.util
import sys
import textwrap

import pytest

import entry_points
import entry_points_typed
import scenarios

pytestmark = [
    pytest.mark.slow,
    scenarios.not_sanitized,
    pytest.mark.skipif(not scenarios.HAS_GIL, reason="3.13's own PyList_New crashes there"),
    pytest.mark.skipif(
        importlib.util.find_spec("_testcapi") is None, reason="needs CPython's test modules"
    ),
]

# In an interpreter of its own: a crash there is one failed test. The pools are emptied half of the
# time, so that what is made only once fails too. The last allocation is behind when nothing has failed
# for a while. (To fail all allocations at once would trouble the interpreter's own `except`.)
SCRIPT = """
import gc, sys
sys.path.insert(0, {tests!r})
import _testcapi, entry_points

def attempt(name, n):
    _testcapi.set_nomemory(n, n + 1)
    try:
        return entry_points.ALL[name]()
    except MemoryError:
        return MemoryError
    except entry_points.ERRORS as error:
        return type(error)
    except SystemError as error:
        # Before 3.12 the interpreter itself loses an exception when it cannot make a traceback for it.
        # What C code loses is reported as "<built-in ...> returned NULL ...".
        if str(error) != "error return without exception set" and "<function" not in str(error):
            raise
        return MemoryError
    finally:
        _testcapi.remove_mem_hooks()

def plain(name):
    result = entry_points.run(name)
    return result[0] if name.startswith("bad") else result

def each_allocation(name, wanted):
    failures, n, last = 0, 0, 0
    while n < last + 40:
        n += 1
        if n % 3:
            entry_points.ionfast.pools.clear()
        result = attempt(name, n)
        if result is MemoryError:
            failures, last = failures + 1, n
        assert result is MemoryError or result == wanted, (name, n, result)
        assert plain(name) == wanted, (name, n)
    return failures

def settle():
    entry_points.ionfast.pools.clear()
    gc.collect()

for name in {names!r}:
    wanted = plain(name)
    failures = each_allocation(name, wanted)
    # What the interpreter keeps for itself grows once; a leak grows each time.
    rounds = []
    while len(rounds) < 4 and (not rounds or rounds[-1] >= max(20, failures // 4)):
        settle()
        blocks = sys.getallocatedblocks()
        each_allocation(name, wanted)
        settle()
        rounds.append(sys.getallocatedblocks() - blocks)
    # Before 3.13 a list subclass whose __init__ runs out of memory is lost, whoever calls it.
    assert sys.version_info < (3, 13) or len(rounds) < 4, (name, failures, rounds)
    print(name, failures)
"""

# pickle itself turns MemoryError into an error of its own.
OTHER_ERRORS = {"pickled_values"}
# From 3.12 on the interpreter crashes when it cannot make the frame of a Python function, so nothing that
# runs one can be tested there.
RUNS_PYTHON = {
    "copied_values", "equivalence", "iterload", "load", "load_all_gzip", "reader_file", "timestamps",
    "transcode_file", "bad_file", "bad_dumps_hook",
    *entry_points_typed.RUNS_PYTHON, *entry_points_typed.BAD_RUNS_PYTHON,
}  # fmt: skip
NAMES = (
    entry_points.ALL.keys()
    - OTHER_ERRORS
    - entry_points_typed.MAKES_PLANS
    - (RUNS_PYTHON if sys.version_info >= (3, 12) else set())
)


def run(*names: str) -> dict[str, int]:
    """How often each entry point raised MemoryError."""
    tests = str(entry_points.__file__).rpartition("/")[0]
    out = scenarios.run_python(textwrap.dedent(SCRIPT.format(tests=tests, names=names)))
    return {name: int(count) for name, count in (line.split() for line in out.splitlines())}


@pytest.mark.parametrize("name", sorted(NAMES))
def test_each_allocation_fails_once(name: str) -> None:
    assert run(name)[name] > 0
