"""`python -m benchmarks.readers`: what it costs to make a reader, to pass over values, to read a stream.

Four tables, each in one run on the same data:

- the loop of readers over a small binary stream, pooled, under `pools.disabled()`, beside the floor (an
  object of no content with the same methods) and amazon.ion's C extension;
- passing over top-level values with next() alone, beside loads_all and a plain copy of the bytes;
- feeding byte by byte, which must not cost more a byte the longer the input is;
- a stream made on the fly through iterload: its speed, and how far the process grows.
"""

from __future__ import annotations

import argparse
import importlib.util
import io
import platform
import resource
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import ionfast
from ionfast import NEED_DATA, Reader, pools

from . import data, peers

FLOOR_SOURCE = Path(__file__).resolve().parent / "floor" / "floor.c"


def floor_type() -> Any:
    """The empty type, compiled into a temporary folder with the compiler that CPython was built with."""
    from setuptools import Distribution, Extension
    from setuptools.command.build_ext import build_ext

    folder = Path(tempfile.mkdtemp(prefix="ionfast-floor-"))
    extension = Extension("floor", [str(FLOOR_SOURCE)], extra_compile_args=["-O3"])
    command = build_ext(Distribution({"ext_modules": [extension]}))
    command.build_lib = str(folder)
    command.build_temp = str(folder / "temp")
    command.ensure_finalized()
    command.run()
    path = folder / f"floor{sysconfig.get_config_var('EXT_SUFFIX')}"
    spec = importlib.util.spec_from_file_location("floor", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Empty


# ---- the loop of readers ----

Loop = Callable[[Any, bytes, int], None]


def one_shot(kind: Any, stream: bytes, count: int) -> None:
    """Make, traverse, close."""
    for _ in range(count):
        r = kind(stream)
        while r.next() is not None:
            pass
        r.close()


def one_shot_value(kind: Any, stream: bytes, count: int) -> None:
    """Make, traverse and take each value, close."""
    for _ in range(count):
        r = kind(stream)
        while r.next() is not None:
            r.value()
        r.close()


# The loop over "foo" knows how many calls it takes, so that the empty object can run it too.


def foo(kind: Any, stream: bytes, count: int) -> None:
    for _ in range(count):
        r = kind(stream)
        r.next()
        r.next()
        r.close()


def foo_value(kind: Any, stream: bytes, count: int) -> None:
    for _ in range(count):
        r = kind(stream)
        r.next()
        r.value()
        r.next()
        r.close()


def foo_fed(kind: Any, stream: bytes, count: int) -> None:
    for _ in range(count):
        r = kind()
        r.feed(stream)
        r.end()
        r.next()
        r.next()
        r.close()


def foo_fed_value(kind: Any, stream: bytes, count: int) -> None:
    for _ in range(count):
        r = kind()
        r.feed(stream)
        r.end()
        r.next()
        r.value()
        r.next()
        r.close()


LOOPS: dict[str, Loop] = {
    "one-shot": foo,
    "one-shot, values": foo_value,
    "incremental": foo_fed,
    "incremental, values": foo_fed_value,
}


def _seconds(call: Callable[[], object]) -> float:
    """CPU time: a loop of milliseconds that is interrupted by other work is not measured as longer."""
    begin = time.process_time()
    call()
    return time.process_time() - begin


def _unpooled(loop: Loop, stream: bytes, count: int) -> float:
    with pools.disabled():
        return _seconds(lambda: loop(Reader, stream, count))


def _amazon(stream: bytes, count: int) -> float | None:
    simpleion = peers.amazon_ion(True)
    if simpleion is None:
        return None
    simpleion.c_ext = True

    def call() -> None:
        for _ in range(count):
            for _ in simpleion.load(io.BytesIO(stream), single_value=False, parse_eagerly=False):
                pass

    return _seconds(call)


def _best(calls: dict[str, Callable[[], float | None]], rounds: int) -> dict[str, float]:
    """The best of each, in turns."""
    best: dict[str, float] = {}
    for _ in range(rounds):
        for name, call in calls.items():
            seconds = call()
            if seconds is not None:
                best[name] = min(best.get(name, seconds), seconds)
    return best


def _bytes_allocated(loop: Loop, stream: bytes, count: int) -> tuple[int, int]:
    """(allocations, bytes) that the core asked for."""
    before = pools.stats()["heap"]
    loop(Reader, stream, count)
    after = pools.stats()["heap"]
    return after["allocs"] - before["allocs"], after["total_bytes"] - before["total_bytes"]


def report_loop(empty: Any, count: int, rounds: int) -> None:
    """The stream that holds the string "foo" alone."""
    stream = ionfast.dumps("foo")
    print(
        f'\n{count} readers over the {len(stream)} bytes of "foo"; ns a reader, best of {rounds}'
    )
    for name, loop in LOOPS.items():
        calls = _pooled_and_not(loop, stream, count)
        calls["floor"] = lambda loop=loop: _seconds(lambda: loop(empty, stream, count))
        calls["amazon.ion C"] = lambda: _amazon(stream, count // 20)
        best = _best(calls, rounds)
        loop(Reader, stream, 10)
        allocs, size = _bytes_allocated(loop, stream, count)
        with pools.disabled():
            _, unpooled_size = _bytes_allocated(loop, stream, count)
        ns = {key: seconds / count * 1e9 for key, seconds in best.items()}
        cells = [
            f"{name:20} floor {ns['floor']:.0f}",
            f"pooled {ns['pooled']:.0f} = {ns['pooled'] / ns['floor']:.2f} x floor",
            f"unpooled {ns['unpooled']:.0f}, pooled/unpooled {ns['pooled'] / ns['unpooled']:.2f}",
            f"core allocations {allocs}, bytes {size} / {unpooled_size}",
        ]
        if "amazon.ion C" in ns:
            amazon = ns["amazon.ion C"] * 20
            cells.append(f"amazon.ion C {amazon:.0f} = {amazon / ns['pooled']:.0f} x pooled")
        print(" | ".join(cells), flush=True)


def _pooled_and_not(
    loop: Loop, stream: bytes, count: int
) -> dict[str, Callable[[], float | None]]:
    return {
        "pooled": lambda: _seconds(lambda: loop(Reader, stream, count)),
        "unpooled": lambda: _unpooled(loop, stream, count),
    }


def report_sizes(rounds: int) -> None:
    """Larger streams of records: where the pools' benefit fades."""
    print("\nthe same over larger streams; µs a reader")
    record = {"id": 1, "name": "a name", "price": 12.5, "tags": ["x", "y"]}
    for size in (9, 1_000, 50_000, 1_000_000):
        one = len(ionfast.dumps_all([record] * 2)) - len(ionfast.dumps(record))
        stream = ionfast.dumps("foo") if size == 9 else ionfast.dumps_all([record] * (size // one))
        count = max(2, 400_000 // size)
        for name, loop in (("next", one_shot), ("values", one_shot_value)):
            best = _best(_pooled_and_not(loop, stream, count), rounds)
            pooled, unpooled = (best[key] / count * 1e6 for key in ("pooled", "unpooled"))
            print(
                f"{len(stream):9} bytes, {name:6} pooled {pooled:.2f}, unpooled {unpooled:.2f},"
                f" pooled/unpooled {pooled / unpooled:.2f}",
                flush=True,
            )


# ---- passing over ----


def _scan(stream: bytes) -> None:
    with Reader(stream) as r:
        while r.next() is not None:
            pass


def report_scan(rounds: int) -> None:
    """Top-level values passed over, the corpora repeated; a copy of the bytes beside it."""
    print("\nnext() alone over binary, beside loads_all and a copy of the bytes; ms")
    streams: dict[str, bytes] = {}
    for name in data.CORPORA:
        if data.corpus_json(name) is not None:
            value = data.document(name)
            streams[f"{name} x 4"] = ionfast.dumps_all([value] * 4)
            if isinstance(value, dict):
                rows = max((v for v in value.values() if isinstance(v, list)), key=len, default=[])
                streams[f"{name}, its {len(rows)} rows x 20"] = ionfast.dumps_all(rows * 20)
            else:
                streams[f"{name}, its {len(value)} rows x 20"] = ionfast.dumps_all(value * 20)
    for name in data.EXAMPLES:
        encoded = data.example(name)
        if encoded is not None and encoded[:1] == b"\xe0":
            streams[name] = encoded
    for name, stream in streams.items():
        if len(stream) < 1000:
            continue
        source = bytearray(stream)
        best = _best(
            {
                "loads_all": lambda stream=stream: _seconds(lambda: ionfast.loads_all(stream)),
                "scan": lambda stream=stream: _seconds(lambda: _scan(stream)),
                "copy": lambda source=source: _seconds(lambda: bytes(source)),
            },
            rounds,
        )
        ms = {key: seconds * 1e3 for key, seconds in best.items()}
        print(
            f"{name:32} {len(stream):9} bytes: loads_all {ms['loads_all']:.3f},"
            f" scan {ms['scan']:.4f} = loads_all / {ms['loads_all'] / ms['scan']:.0f},"
            f" copy {ms['copy']:.4f}",
            flush=True,
        )


# ---- feeding ----


def _feed(stream: bytes, size: int) -> None:
    r = Reader()
    position = 0
    while True:
        answer = r.next()
        if answer is not NEED_DATA and answer is not None:
            answer = r.value()
        if answer is None:
            break
        while answer is NEED_DATA:
            if position < len(stream):
                r.feed(stream[position : position + size])
                position += size
            else:
                r.end()
            answer = r.value() if r.type is not None else None
    r.close()


def report_feed(rounds: int) -> None:
    """One byte at a time: the nanoseconds a byte must not grow with the length."""
    print("\nfed one byte at a time; ns a byte at 1, 4 and 16 times the length")
    shapes: dict[str, Callable[[int], bytes]] = {
        "text string": lambda n: b'"' + b"x" * n + b'"',
        "text list": lambda n: b"[" + b"1," * (n // 2) + b"]",
        "binary string": lambda n: ionfast.dumps("x" * n),
        "binary list": lambda n: ionfast.dumps([1] * (n // 2)),
    }
    for name, shape in shapes.items():
        costs = []
        for length in (10_000, 40_000, 160_000):
            stream = shape(length)
            best = _best(
                {"fed": lambda stream=stream: _seconds(lambda: _feed(stream, 1))},
                max(2, rounds // 4),
            )
            costs.append(f"{best['fed'] / len(stream) * 1e9:.0f}")
        print(f"{name:16} {', '.join(costs)}", flush=True)


# ---- a long stream ----


class Endless:
    """A file of so many bytes of records, made as it is read."""

    def __init__(self, records: Iterable[Any], size: int, *, binary: bool) -> None:
        encoded: Any = ionfast.dumps_all(records, binary=binary)
        raw: bytes = encoded if isinstance(encoded, bytes) else encoded.encode() + b"\n"
        self._block = raw
        self.size = size
        self._parts = self._make(size)
        self._rest = b""

    def _make(self, size: int) -> Iterator[bytes]:
        # Each block begins with a version marker and its symbol table, as appended files do.
        for _ in range(max(1, size // len(self._block))):
            yield self._block

    def read(self, size: int) -> bytes:
        """At most `size` bytes."""
        if not self._rest:
            self._rest = next(self._parts, b"")
        piece, self._rest = self._rest[:size], self._rest[size:]
        return piece


def _resident() -> int:
    with Path("/proc/self/statm").open() as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def report_stream(size: int) -> None:
    """A long stream through iterload."""
    print(f"\n{size / 1e6:.0f} MB made on the fly, through iterload")
    record = {"id": 1, "name": "a name", "price": 12.5, "tags": ["x", "y"], "note": "z" * 40}
    for binary in (True, False):
        file: Any = Endless([record] * 2000, size, binary=binary)
        before = _resident()
        peak = before
        begin = time.process_time()
        count = 0
        for _ in ionfast.iterload(file):
            count += 1
            if count % 100_000 == 0:
                peak = max(peak, _resident())
        seconds = time.process_time() - begin
        print(
            f"{'binary' if binary else 'text':8} {count} values, {size / seconds / 1e6:.0f} MB/s,"
            f" resident growth {(peak - before) / 1e6:.1f} MB",
            flush=True,
        )


def main(argv: list[str] | None = None) -> int:
    """Run all tables."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.readers", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--count", type=int, default=10_000, help="readers a loop")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--megabytes", type=int, default=1000, help="length of the long stream")
    options = parser.parse_args(argv)
    print(f"ionfast {ionfast.__version__}, CPython {platform.python_version()}")
    report_loop(floor_type(), options.count, options.rounds)
    report_sizes(options.rounds)
    report_scan(options.rounds)
    report_feed(options.rounds)
    report_stream(options.megabytes * 1_000_000)
    return 0


if __name__ == "__main__":
    sys.exit(main())
