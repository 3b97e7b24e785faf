"""Ctrl-C in the middle of each long call: KeyboardInterrupt arrives, and what it leaves behind is right.

Each test runs in an interpreter of its own, to which a child process sends SIGINT. How long it took from
the signal to the exception is printed by:

    python tests/test_interrupt.py [NAME]...
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
from collections.abc import Callable
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


def out_of_pools() -> dict[str, int]:
    """What was taken from each pool and not given back."""
    gc.collect()
    stats = ionfast.pools.stats()
    return {name: row["takes"] - row["gives"] for name, row in stats.items() if "takes" in row}


def check(name: str) -> tuple[float, float]:
    """The call's own seconds, and the longest from a signal to its exception."""
    call = prepare()[name]
    wanted = call()
    began = time.monotonic()
    call()
    whole = time.monotonic() - began
    taken = out_of_pools()
    seen: list[float] = []
    for attempt in range(ATTEMPTS):
        found = interrupted(call, whole * (0.2 + 0.6 * attempt / ATTEMPTS))
        assert out_of_pools() == taken, (out_of_pools(), taken)
        seen += [] if found is None else [found]
        if len(seen) == 2:
            break
    assert seen != [], f"{ATTEMPTS} signals all came too late"
    assert max(seen) < MOST_SECONDS, seen
    assert call() == wanted
    assert out_of_pools() == taken
    return whole, max(seen)


NAMES = list(prepare())


@scenarios.not_sanitized
@pytest.mark.parametrize("name", NAMES)
def test_ctrl_c(name: str) -> None:
    done = subprocess.run([sys.executable, __file__, name], capture_output=True, text=True,
                          timeout=300, check=False, cwd=pathlib.Path(__file__).parent)  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr[-4000:]
    assert "ms" in done.stdout


def main(names: list[str]) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in what a shell runs behind
    for name in names:
        whole, longest = check(name)
        print(
            f"{name:24} takes {whole * 1e3:7.1f} ms, stops within {longest * 1e3:6.1f} ms",
            flush=True,
        )


if __name__ == "__main__":
    main(sys.argv[1:] or NAMES)
