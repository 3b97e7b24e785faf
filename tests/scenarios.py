"""What a test does more than once: round trips, misbehaving callers, and interpreters of their own.

test_faults.py runs these on inputs of the project's own, test_cases.py on those of the test data.
"""

from __future__ import annotations

import functools
import io
import os
import subprocess
import sys
import sysconfig
import textwrap
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

import ionfast
import model
from ionfast.equivalence import ion_equals

# Set by tests/sanitize.sh: address-space limits and memory figures mean nothing under ASan.
SANITIZED = bool(os.environ.get("IONFAST_SANITIZED"))
# Free-threaded builds: memory and the life of objects are other things there, whether the GIL is on or not.
HAS_GIL = not sysconfig.get_config_var("Py_GIL_DISABLED")
needs_gil = pytest.mark.skipif(not HAS_GIL, reason="not so in builds without a GIL")
# From the first thread on a free-threaded 3.13 keeps all classes for ever.
classes_die = pytest.mark.skipif(not HAS_GIL, reason="builds without a GIL keep classes")
not_sanitized = pytest.mark.skipif(SANITIZED, reason="means nothing under a sanitizer")

# Seconds for an interpreter of its own; ThreadSanitizer makes all of it twenty times as slow.
TIMEOUT = float(os.environ.get("IONFAST_TEST_TIMEOUT", "300"))

PRELUDE = """
import copy, datetime, decimal, faulthandler, gc, io, signal, sys, threading
faulthandler.enable()
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in what a shell runs behind
import ionfast
from ionfast import IonError, dumps, dumps_all, load, loads, loads_all
"""


def run_python(code: str, *, timeout: float = TIMEOUT) -> str:
    """Run code in an interpreter of its own, so that a crash is one failed test. Gives its output."""
    source = PRELUDE + textwrap.dedent(code)
    done = subprocess.run(
        [sys.executable, "-c", source],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    assert done.returncode == 0, f"exit {done.returncode}\n{source}\n{done.stderr[-4000:]}"
    return done.stdout.strip()


# ------------------------------------------------------------------------ round trips


def encodings(values: Sequence[object]) -> Iterator[bytes | str]:
    """The values as binary, compact text and pretty text."""
    yield ionfast.dumps_all(values, binary=True)
    yield ionfast.dumps_all(values, binary=False)
    yield ionfast.dumps_all(values, binary=False, indent="  ")


def assert_values(values: Sequence[Any], wanted: str) -> None:
    """The values are those of the Ion text, in the suite's model and in the library's eyes."""
    expected = ionfast.loads_all(wanted)
    assert model.of_values(values, order="repeated") == model.of_values(expected, order="repeated")
    assert all(map(ion_equals, values, expected))


def assert_reads(data: bytes | str, wanted: str) -> None:
    """Text reads the same as str and as UTF-8 bytes."""
    assert_values(ionfast.loads_all(data), wanted)
    if isinstance(data, str):
        assert_values(ionfast.loads_all(data.encode()), wanted)


def assert_survives(data: bytes | str, wanted: str) -> None:
    """The values are as wanted, and still are after each encoding and back."""
    values = ionfast.loads_all(data)
    assert_values(values, wanted)
    for encoded in encodings(values):
        assert_values(ionfast.loads_all(encoded), wanted)


def assert_dumps(value: object, wanted: str) -> None:
    """A Python value is written as the wanted one, in each encoding."""
    for encoded in encodings([value]):
        assert_values(ionfast.loads_all(encoded), wanted)


def assert_refused(data: bytes | str) -> ionfast.IonError:
    """An IonError with a place. Gives it."""
    with pytest.raises(ionfast.IonError) as caught:
        ionfast.loads_all(data)
    assert caught.value.offset is not None
    return caught.value


def assert_not_dumped(value: object) -> None:
    """A clear error in both encodings, never wrong bytes."""
    for binary in (True, False):
        with pytest.raises((ionfast.IonError, TypeError, ValueError, OverflowError)):
            ionfast.dumps(value, binary=binary)


# ---------------------------------------------------------------------- file objects


class DripFile:
    """A file whose reads give one byte, or one character, at a time."""

    def __init__(self, data: bytes | str) -> None:
        self._file = io.StringIO(data) if isinstance(data, str) else io.BytesIO(data)

    def read(self, size: int = -1) -> bytes | str:
        return self._file.read(1 if size else 0)


def files(data: bytes | str) -> Iterator[Any]:
    """File objects of each sort over the same data."""
    yield io.StringIO(data) if isinstance(data, str) else io.BytesIO(data)
    yield DripFile(data)


class RaisingFile:
    """A file whose read raises."""

    def __init__(self, error: BaseException) -> None:
        self._error = error

    def read(self, size: int = -1) -> bytes:
        raise self._error


class GivingFile:
    """A file whose every read gives the same object, whatever it is."""

    def __init__(self, result: object) -> None:
        self._result = result

    def read(self, size: int = -1) -> object:
        return self._result


def assert_read_errors_come_out() -> None:
    """What a file's read raises is what the caller sees; what it should not return is a TypeError."""
    errors = (KeyError("mine"), KeyboardInterrupt("mine"), StopIteration("mine"), OSError("mine"))
    for error in errors:
        with pytest.raises(type(error)) as caught:
            ionfast.load(RaisingFile(error))
        assert caught.value is error
    for result in (None, 7, ["x"], object()):
        with pytest.raises(TypeError):
            ionfast.load(GivingFile(result))


# ------------------------------------------------------------------- memory and limits


def peak_bytes(call: Callable[[], object]) -> int:
    """The most that the call held at once, as tracemalloc sees it, above what was there before."""
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        call()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


def growth_bytes(call: Callable[[], object], *, times: int = 2000) -> int:
    """What many calls leave behind: a leak grows in every round, a cache that fills does not."""
    tracemalloc.start()
    try:
        rounds = []
        for _ in range(4):
            before = tracemalloc.get_traced_memory()[0]
            for _ in range(times // 4):
                call()
            rounds.append(tracemalloc.get_traced_memory()[0] - before)
        return min(rounds) * len(rounds)
    finally:
        tracemalloc.stop()


def swallow(call: Callable[[], object], *errors: type[BaseException]) -> Callable[[], None]:
    """The call with its errors caught: for measuring what an error leaves behind."""

    def quiet() -> None:
        try:
            call()
        except errors:
            return
        raise AssertionError("no error")

    return quiet


def assert_no_leak(call: Callable[[], object]) -> None:
    """2000 calls leave nothing behind, but for what the measuring itself takes."""
    assert growth_bytes(call) < 4096


# ------------------------------------------------------------------------- deep nesting


@functools.cache
def interpreter_frees_deep_lists_in_small_threads() -> bool:
    """Whether the interpreter itself can free what a deep document becomes, with no ionfast in it.

    CPython 3.13.0 overflows a stack of 256 KiB when it frees a list nested 10,000 deep there. Where
    that is so, a deep value is still read in the small thread, and freed on the main one.
    """
    code = """
import threading
def make_and_free():
    deep = []
    for _ in range(200_000):
        deep = [deep]
threading.stack_size(256 * 1024)
thread = threading.Thread(target=make_and_free)
thread.start()
thread.join()
"""
    return subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def assert_deep_is_safe(expression: str) -> None:
    """A value or an IonError: on the main thread, and in a thread with a stack of 256 KiB."""
    out = run_python(f"""
        kept = []
        def attempt(keep):
            for limit in ({{}}, {{"max_depth": None}}):
                try:
                    value = loads({expression}, **limit)
                    if keep:
                        kept.append(value)
                    del value
                except (IonError, RecursionError) as error:
                    pass
        attempt(keep=False)
        threading.stack_size(256 * 1024)
        keep = {not interpreter_frees_deep_lists_in_small_threads()}
        thread = threading.Thread(target=attempt, args=(keep,))
        thread.start()
        thread.join()
        kept.clear()
        assert loads("[1]") == [1]
        print("done")
    """)
    assert out == "done"


def assert_deep_dump_is_safe(build: str) -> None:
    """Dumping what the statements build into `deep` gives a value or an error, never a crash."""
    out = run_python(f"""
        {textwrap.indent(textwrap.dedent(build), " " * 8).strip()}
        def attempt():
            for binary in (True, False):
                try:
                    dumps(deep, binary=binary)
                except (IonError, RecursionError, ValueError):
                    pass
        attempt()
        threading.stack_size(256 * 1024)
        thread = threading.Thread(target=attempt)
        thread.start()
        thread.join()
        assert loads(dumps([1])) == [1]
        print("done")
    """)
    assert out == "done"


# ------------------------------------------------------------------------ what loads holds


def assert_cut_off_is_dropped(text: str) -> None:
    """Nothing stays of a long value that ends too early: its items would be tens of thousands of blocks."""

    def fail() -> None:
        with pytest.raises(ionfast.IonError):
            ionfast.loads(text[: len(text) * 9 // 10])

    fail()
    fail()
    before = sys.getallocatedblocks()
    for _ in range(5):
        fail()
    assert sys.getallocatedblocks() - before < 1000


def value_in_pieces(encoded: bytes | str) -> Any:
    """The one value of a stream that is fed 64 KB at a time."""
    data = encoded if isinstance(encoded, bytes) else encoded.encode()
    r = ionfast.Reader()
    answer: Any = ionfast.NEED_DATA
    for start in range(0, len(data), 65_536):
        r.feed(data[start : start + 65_536])
        if r.type is None and r.next() is ionfast.NEED_DATA:  # the symbol table is not all there
            continue
        answer = r.value()
    r.end()
    return r.value() if answer is ionfast.NEED_DATA else answer


def loads_with_peak(data: bytes | str) -> tuple[Any, int]:
    """The value, and the bytes held beyond it at the worst moment, from empty pools."""
    ionfast.pools.clear()
    tracemalloc.start()
    try:
        value = ionfast.loads(data)
        peak = tracemalloc.get_traced_memory()[1]
        ionfast.pools.clear()
        return value, peak - tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
