"""Ctrl-C in the middle of each long call: KeyboardInterrupt arrives, and what it leaves behind is right.

Each test runs in an interpreter of its own, to which a child process sends SIGINT. How long it took from
the signal to the exception is printed by:

    python tests/test_interrupt.py [NAME]...

Calls that are about one giant token must look at signals within it: a handler then runs several times, which
it did not when a token was one step.
"""

from __future__ import annotations

import dataclasses
import decimal
import functools
import gc
import io
import os
import pathlib
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import ionfast
import scenarios

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork"),
]

ROWS = 40_000
MOST_SECONDS = 2.0  # far more than is ever seen: no test is about speed
ATTEMPTS = 30
MB = 1 << 20
FEWEST_LOOKS = 3  # a look before and one after a token are two


@dataclasses.dataclass
class Row:
    id: int
    name: str
    tags: list[str]
    price: decimal.Decimal


def rows_text() -> str:
    row = '{{id:{0},name:"row {0}",tags:[red,green,"a b"],price:{0}.50}}'
    return "[" + ",".join(row.format(number) for number in range(ROWS)) + "]"


TEXT = rows_text()
TOP_LEVEL = TEXT[1:-1].replace("},{", "} {")
DIGITS = "7" * 3000  # takes a step of its own between two bases


@functools.cache
def repeat(item: str, count: int) -> str:
    """A list of so many; made before the call that is interrupted, by the one that warms up."""
    return "[" + ",".join([item] * count) + "]"


def reader_value(data: Any) -> object:
    with ionfast.Reader(data) as reader:
        reader.next()
        return reader.value()


def reader_walk(data: Any) -> None:
    """The loop is Python's, so this is about what an interrupt leaves of a reader."""
    with ionfast.Reader(data) as reader:
        while True:
            kind = reader.next()
            if kind in (ionfast.IonType.LIST, ionfast.IonType.STRUCT):
                reader.step_in()
            elif kind is None and reader.depth:
                reader.step_out()
            elif kind is None:
                return


def reader_passes(data: Any) -> None:
    """Over the first value, to the second."""
    with ionfast.Reader(data) as reader:
        reader.next()
        reader.next()


def reader_oversized(data: Any) -> list[object]:
    with ionfast.Reader(data, max_value_size=1000, on_oversized=lambda *_: None) as reader:
        return list(reader)


def reader_fed(data: bytes) -> object:
    """All but the last byte in one chunk."""
    with ionfast.Reader(None) as reader:
        reader.feed(data[:-1])
        assert reader.next() is ionfast.NEED_DATA
        reader.feed(data[-1:])
        reader.end()
        reader.next()
        return reader.value()


def write(value: object, **options: Any) -> None:
    with ionfast.Writer(
        io.BytesIO() if options.get("binary", True) else io.StringIO(), **options
    ) as writer:
        writer.write(value)


def prepare() -> dict[str, Callable[[], object]]:
    """The calls by name; their inputs are made once, in the process that needs them."""
    binary = ionfast.transcode(TEXT)
    stream = ionfast.transcode(TOP_LEVEL)
    rows = ionfast.loads(binary)
    floats = ionfast.dumps([1.5] * 1_000_000)
    return {
        "loads text": lambda: ionfast.loads(TEXT),
        "loads binary": lambda: ionfast.loads(binary),
        "loads plain": lambda: ionfast.loads(TEXT.encode(), model="plain"),
        "loads ionpy": lambda: ionfast.loads(binary, model="ionpy"),
        "loads_all": lambda: ionfast.loads_all(stream),
        "load": lambda: ionfast.load(io.BytesIO(binary)),
        "iterload": lambda: sum(1 for _ in ionfast.iterload(io.BytesIO(stream))),
        "iterload of one value": lambda: next(ionfast.iterload(io.StringIO(TEXT))),
        "typed text": lambda: ionfast.loads(TEXT, type=list[Row]),
        "typed binary": lambda: ionfast.loads(binary, type=list[Row]),
        "Reader.value text": lambda: reader_value(TEXT),
        "Reader.value binary": lambda: reader_value(binary),
        "Reader.value file": lambda: reader_value(io.BytesIO(binary)),
        "Reader walk": lambda: reader_walk(binary),
        "dumps binary": lambda: ionfast.dumps(rows),
        "dumps text": lambda: ionfast.dumps(rows, binary=False),
        "dumps pretty": lambda: ionfast.dumps(rows, binary=False, indent="  "),
        "dumps_all": lambda: ionfast.dumps_all(rows),
        "dumps of a generator": lambda: ionfast.dumps(row for row in rows),
        "dump": lambda: ionfast.dump(rows, io.BytesIO()),
        "Writer binary": lambda: write(rows),
        "Writer text": lambda: write(rows, binary=False),
        "transcode to binary": lambda: ionfast.transcode(TEXT),
        "transcode to text": lambda: ionfast.transcode(binary, binary=False),
        "transcode a file": lambda: ionfast.transcode(io.BytesIO(binary), io.BytesIO()),
        "long ints": lambda: ionfast.loads(repeat(DIGITS, 1500)),
        "long decimals": lambda: ionfast.loads(repeat(DIGITS + ".0", 4000)),
        "long ints transcoded": lambda: ionfast.transcode(repeat(DIGITS, 1500)),
        "long ASCII strings": lambda: ionfast.loads(repeat('"' + "abcdefgh" * 12_500 + '"', 1000)),
        "long strings": lambda: ionfast.loads(repeat('"' + "\xe4bcdefgh" * 1250 + '"', 3000)),
        "floats": lambda: ionfast.loads(floats),
    }


# ---------------------------------------------------------------------------- giant tokens


@functools.cache
def giant(before: bytes, unit: bytes, size: int, after: bytes = b"") -> bytes:
    """Ion of some size; like the inputs below made when it is first needed."""
    return before + unit * (size // len(unit)) + after


@functools.cache
def giant_binary(before: bytes, unit: bytes, size: int, after: bytes = b"") -> bytes:
    return ionfast.transcode(giant(before, unit, size, after))


@functools.cache
def giant_value(before: bytes, unit: bytes, size: int, after: bytes = b"") -> Any:
    return ionfast.loads(giant(before, unit, size, after))


@functools.cache
def giant_int() -> int:
    return int.from_bytes(b"Z" * 600_000, "big")


@functools.cache
def giant_decimal() -> decimal.Decimal:
    return decimal.Decimal("7" * 1_000_000)


@functools.cache
def binary_of(make: Callable[[], object]) -> bytes:
    return ionfast.dumps(make())


@functools.cache
def symbol_table() -> bytes:
    names = ",".join(f'"s{number}"' for number in range(1_000_000))
    return f"$ion_symbol_table::{{symbols:[{names}]}} $10".encode()


MARKER = b"\xe0\x01\x00\xea"
WIDE = (b'"', "\xe4bcd\xe9\u20ac\U0001d11e".encode(), 64 * MB, b'"')
ESCAPES = (b'"', b"\\n", 64 * MB, b'"')
BLOB = (b"{{", b"QUJD\n", 64 * MB, b"}}")
ANNOTATIONS = (b"", b"a::", 8 * MB, b"1")


def prepare_giants() -> dict[str, Callable[[], object]]:
    """Calls that are about one token, or about what lies between two."""
    return {
        "int from text": lambda: ionfast.loads(giant(b"", b"7", 1_000_000)),
        "int to binary": lambda: ionfast.transcode(giant(b"", b"7", 1_000_000)),
        "int to text": lambda: ionfast.dumps(giant_int(), binary=False),
        "int to text by a Writer": lambda: write(giant_int(), binary=False),
        "binary int to text": lambda: ionfast.transcode(binary_of(giant_int), binary=False),
        "Decimal to binary": lambda: ionfast.dumps(giant_decimal()),
        "binary decimal": lambda: ionfast.loads(binary_of(giant_decimal)),
        "binary decimal to text": lambda: ionfast.transcode(
            binary_of(giant_decimal), binary=False
        ),
        "int in base 16": lambda: ionfast.loads(giant(b"0x", b"7_f", 64 * MB, b"0")),
        "float": lambda: ionfast.loads(giant(b"1.", b"7", 64 * MB, b"e0")),
        "string": lambda: ionfast.loads(giant(*WIDE)),
        "string from binary": lambda: ionfast.loads(giant_binary(*WIDE)),
        "string to binary": lambda: ionfast.dumps(giant_value(*WIDE)),
        "string to text": lambda: ionfast.dumps(giant_value(*WIDE), binary=False),
        "string transcoded": lambda: ionfast.transcode(giant_binary(*WIDE), binary=False),
        "escapes": lambda: ionfast.loads(giant(*ESCAPES)),
        "escapes to text": lambda: ionfast.dumps(giant_value(*ESCAPES), binary=False),
        "escapes transcoded": lambda: ionfast.transcode(giant_binary(*ESCAPES), binary=False),
        "long string": lambda: ionfast.loads(giant(b"'''", b"it's\r\n", 64 * MB, b"'''")),
        "segments": lambda: ionfast.loads(giant(b"", b"'''ab''' ", 64 * MB)),
        "blob": lambda: ionfast.loads(giant(*BLOB)),
        "blob to text": lambda: ionfast.dumps(giant_value(*BLOB), binary=False),
        "blob transcoded": lambda: ionfast.transcode(giant_binary(*BLOB), binary=False),
        "clob": lambda: ionfast.loads(giant(b'{{"', b"QUJD\\n", 64 * MB, b'"}}')),
        "white space": lambda: ionfast.loads(giant(b"", b"\n", 64 * MB, b"1")),
        "comments": lambda: ionfast.loads(giant(b"", b"/**/", 64 * MB, b"1")),
        "comment of stars": lambda: ionfast.loads(giant(b"/*", b"*", 64 * MB, b"*/1")),
        "line comment": lambda: ionfast.loads(giant(b"//", b"\xc3\xa4", 64 * MB, b"\n1")),
        "annotations": lambda: ionfast.loads(giant(*ANNOTATIONS)),
        "annotations to binary": lambda: ionfast.transcode(giant(*ANNOTATIONS)),
        "annotations to text": lambda: ionfast.transcode(giant_binary(*ANNOTATIONS), binary=False),
        "padding": lambda: ionfast.loads_all(giant(MARKER, b"\0", 32 * MB)),
        "markers": lambda: ionfast.loads_all(giant(b"", MARKER, 64 * MB)),
        "markers in text": lambda: ionfast.loads_all(giant(b"", b"$ion_1_0 ", 32 * MB)),
        "symbol table": lambda: ionfast.loads(symbol_table()),
        "passing over text": lambda: reader_passes(giant(b"[", b"[1,{a:'b'}],", 64 * MB, b"] 2")),
        "an oversized value": lambda: reader_oversized(giant(b"[", b'"\\t",', 64 * MB, b"] 2")),
        "fed": lambda: reader_fed(giant(*ESCAPES)),
    }


def count_looks(call: Callable[[], object]) -> int:
    """How often a handler has run within one call, of a signal that comes every millisecond or so."""
    looks = 0

    def look(*_: object) -> None:
        nonlocal looks
        looks += 1

    signal.signal(signal.SIGVTALRM, look)
    signal.setitimer(signal.ITIMER_VIRTUAL, 0.001, 0.001)
    call()
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return looks


# ---------------------------------------------------------------------------- signals


def interrupted(call: Callable[[], object], delay: float) -> float | None:
    """Seconds from the signal to the exception; None when the call was over before it came.

    The child counts its delay from the byte that is written when the call begins: on a busy machine
    the parent may well be the slower of the two to come out of the fork.
    """
    starting, start = os.pipe()
    reading, writing = os.pipe()
    caller = os.getpid()
    child = os.fork()
    if child == 0:
        os.read(starting, 1)
        time.sleep(delay)
        os.write(writing, repr(time.monotonic()).encode())
        os.kill(caller, signal.SIGINT)
        os._exit(0)
    is_over = False
    try:
        os.write(start, b"!")
        call()
        is_over = True
        while True:
            time.sleep(1)
    except KeyboardInterrupt:
        caught = time.monotonic()
    os.waitpid(child, 0)
    sent = float(os.read(reading, 100))
    for end in (starting, start, reading, writing):
        os.close(end)
    return None if is_over else caught - sent


def delays(whole: float) -> Iterator[float]:
    """When to send a signal into a call of about `whole` seconds; each is for when all before came too late.

    They shrink, for `whole` is too long when the machine had other things to do as it was measured.
    """
    for attempt in range(ATTEMPTS):
        yield whole / 2 * 0.8**attempt
    raise AssertionError(f"{ATTEMPTS} signals all came too late")


def out_of_pools() -> dict[str, int]:
    """What was taken from each pool and not given back."""
    gc.collect()
    stats = ionfast.pools.stats()
    return {name: row["takes"] - row["gives"] for name, row in stats.items() if "takes" in row}


def check(name: str) -> tuple[float, float]:
    """The call's own seconds, and the longest from a signal to its exception."""
    is_giant = name in GIANT_NAMES
    call = prepare_giants()[name] if is_giant else prepare()[name]
    wanted = call()
    if is_giant:
        looks = count_looks(call)
        assert looks >= FEWEST_LOOKS, looks
    began = time.monotonic()
    call()
    whole = time.monotonic() - began
    taken = out_of_pools()
    seen: list[float] = []
    for delay in delays(whole):
        found = interrupted(call, delay)
        assert out_of_pools() == taken, (out_of_pools(), taken)
        seen += [] if found is None else [found]
        if len(seen) == 2:
            break
    assert max(seen) < MOST_SECONDS, seen
    assert call() == wanted
    assert out_of_pools() == taken
    return whole, max(seen)


# ---------------------------------------------------------------------------- what is left behind


def seconds_of(call: Callable[[], object]) -> float:
    call()
    began = time.monotonic()
    call()
    return time.monotonic() - began


def a_reader_goes_on() -> None:
    """next() may be called again: it comes to the value that it was on the way to."""
    for data in (
        giant(b"a /*", b"*", 64 * MB, b"*/ b c"),
        giant(b"a ", b"/**/", 64 * MB, b" b c"),
        giant(b"[", b"[1,{a:'b'}],", 64 * MB, b"] b c"),
        giant(MARKER + b"\x21\x01", b"\0", 32 * MB, b"\x81b\x81c"),
    ):
        seconds = seconds_of(functools.partial(reader_passes, data))
        for delay in delays(seconds):
            reader = ionfast.Reader(data)
            reader.next()
            if interrupted(reader.next, delay) is None:
                continue
            reader.next()
            assert reader.value() == "b"
            reader.next()
            assert reader.value() == "c"
            assert reader.next() is None
            break


def a_writer_takes_it_back() -> None:
    """The value that was being written is not there, and the writer goes on."""
    for value in (giant_int(), [1, giant_int()], giant_value(*ESCAPES)):
        seconds = seconds_of(functools.partial(ionfast.dumps, value, binary=False))
        for delay in delays(seconds):
            out = io.StringIO()
            writer = ionfast.Writer(out, binary=False)
            writer.write("before")
            if interrupted(functools.partial(writer.write, value), delay) is None:
                continue
            writer.write("after")
            writer.close()
            assert ionfast.loads_all(out.getvalue()) == ["before", "after"]
            break


def transcode_leaves_whole_values() -> None:
    """What was complete before the token has gone out, and nothing of the token."""
    source = b"1 2 {a:3} " + giant(*ESCAPES)
    for binary in (True, False):
        seconds = seconds_of(functools.partial(ionfast.transcode, source, binary=binary))
        for delay in delays(seconds):
            target = io.BytesIO()
            call = functools.partial(ionfast.transcode, source, target, binary=binary)
            if interrupted(call, delay) is not None:
                assert ionfast.loads_all(target.getvalue()) == [1, 2, {"a": 3}]
                break


def a_handler_cannot_come_in() -> None:
    """It may run within a token, so the reader or the writer at work is closed to it."""
    reader = ionfast.Reader(giant(b"/*", b"*", 64 * MB, b"*/1"))
    writer = ionfast.Writer(io.StringIO(), binary=False)
    for inside, again in (
        (reader.next, reader.next),
        (functools.partial(writer.write, giant_int()), functools.partial(writer.write, 1)),
    ):
        seen: list[str] = []

        def handle(*_: object) -> None:
            try:
                again()  # noqa: B023 (called in this round)
            except RuntimeError as error:
                seen.append(str(error))  # noqa: B023

        signal.signal(signal.SIGVTALRM, handle)
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.05)
        inside()
        assert len(seen) == 1, seen
        assert "in use by another call" in seen[0]


def a_handler_may_drop_the_value() -> None:
    """What is being written stays alive, though the list that held it is emptied meanwhile."""
    makers: tuple[Callable[[], object], ...] = (
        lambda: "\xe4b\n" * (8 * MB),
        lambda: "b\n" * (16 * MB),
        lambda: b"ab" * (32 * MB),
    )
    for make in makers:
        values = [1, make(), 2]
        wanted = ionfast.dumps([1, make()], binary=False)
        runs: list[int] = []

        def empty(*_: object) -> None:
            runs.append(len(values))  # noqa: B023 (called in this round)
            values.clear()  # noqa: B023
            bytearray(64 * MB)

        signal.signal(signal.SIGVTALRM, empty)
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.01)
        assert ionfast.dumps(values, binary=False) == wanted
        assert runs == [3]


SCENARIOS: dict[str, Callable[[], None]] = {
    scenario.__name__: scenario
    for scenario in (
        a_reader_goes_on,
        a_writer_takes_it_back,
        transcode_leaves_whole_values,
        a_handler_cannot_come_in,
        a_handler_may_drop_the_value,
    )
}

# ---------------------------------------------------------------------------- the tests

NAMES = list(prepare())
GIANT_NAMES = list(prepare_giants())


def run_alone(name: str) -> str:
    done = subprocess.run([sys.executable, __file__, name], capture_output=True, text=True,
                          timeout=300, check=False, cwd=pathlib.Path(__file__).parent)  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr[-4000:]
    return done.stdout


@scenarios.not_sanitized
@pytest.mark.parametrize("name", NAMES + GIANT_NAMES)
def test_ctrl_c(name: str) -> None:
    assert "ms" in run_alone(name)


@scenarios.not_sanitized
@pytest.mark.parametrize("name", SCENARIOS)
def test_what_is_left(name: str) -> None:
    assert "right" in run_alone(name)


def main(names: list[str]) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in what a shell runs behind
    for name in names:
        if name in SCENARIOS:
            SCENARIOS[name]()
            print(f"{name:24} right")
            continue
        whole, longest = check(name)
        print(
            f"{name:24} takes {whole * 1e3:7.1f} ms, stops within {longest * 1e3:6.1f} ms",
            flush=True,
        )


if __name__ == "__main__":
    main(sys.argv[1:] or [*NAMES, *GIANT_NAMES])
