"""`python -m benchmarks.writes [--scale F]`: streams of nested values through Writer, beside the peers.

Three loads: 194,617 values (about 200 MB of binary Ion), 59,155 values (about 21 MB), and one small
value. For each: preallocation 0, 1 and 2, with and without auto-flush; seconds, the growth of the
process while writing, allocations of the core, bytes written. All write to a file object that only
counts, and all write the same Python values. Times are of the CPU. What takes more than ten
seconds, as amazon.ion does, is called once only; all in all it takes some minutes.

Last, a stream of `--megabytes` made on the fly, read by iterload and written by Writer: its speed, and
how far the process grows.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import io
import itertools
import json
import os
import platform
import random
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import ionfast
from ionfast import pools

from . import peers, readers
from .timing import Timing, interleave

Write = Callable[[Iterator[Any], "Counter"], None]

# Values are made once and written over and over: this many different ones.
DISTINCT = 499
WORDS = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa")


class Counter(io.RawIOBase):
    """A file that counts what it is given."""

    def __init__(self) -> None:
        self.size = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.size += len(data)
        return len(data)


# ---- the values ----


def _entry(random_: random.Random, depth: int) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "id": random_.randrange(1 << random_.choice((7, 14, 30, 50))),
        "name": " ".join(random_.choices(WORDS, k=random_.randrange(1, 6))),
        "score": random_.random() * 1000,
        "is_active": random_.random() < 0.5,
        "note": None,
        "tags": random_.choices(WORDS, k=random_.randrange(5)),
    }
    if depth:
        entry["children"] = [_entry(random_, depth - 1) for _ in range(random_.randrange(1, 4))]
        entry["parent"] = {"ref": {"id": random_.randrange(1000), "path": [1, 2, [3]]}}
    return entry


def values_of_size(mean: float) -> list[dict[str, Any]]:
    """Different nested values, about `mean` bytes each in binary Ion."""
    random_ = random.Random(194_617)
    values = []
    for i in range(DISTINCT):
        value = {"offset": i, "entries": [_entry(random_, 1)]}
        while len(ionfast.dumps_all([*values[-20:], value])) < mean * (len(values[-20:]) + 0.7):
            value["entries"].append(_entry(random_, random_.randrange(4)))
        values.append(value)
    return values


# ---- who writes them ----


def _writer(preallocate: int, auto_flush: bool) -> Write:
    def write(values: Iterator[Any], file: Counter) -> None:
        with ionfast.Writer(file, preallocate=preallocate, auto_flush=auto_flush) as w:
            write_value = w.write
            for value in values:
                write_value(value)

    return write


def _dumps_all(values: Iterator[Any], file: Counter) -> None:
    file.write(ionfast.dumps_all(values))


def _amazon(values: Iterator[Any], file: Counter) -> None:
    simpleion = peers.amazon_ion(True)
    simpleion.c_ext = True
    simpleion.dump(list(values), file, sequence_as_stream=True)


def _packed(pack: Callable[[Any], bytes]) -> Write:
    def write(values: Iterator[Any], file: Counter) -> None:
        for value in values:
            file.write(pack(value))

    return write


def candidates() -> dict[str, Write]:
    """Everyone who can write a stream: name -> call."""
    found: dict[str, Write] = {
        f"ionfast Writer, preallocate {n}, auto-flush {'on' if flush else 'off'}": _writer(
            n, flush
        )
        for flush, n in itertools.product((True, False), (0, 1, 2))
    }
    found["ionfast dumps_all"] = _dumps_all
    if peers.amazon_ion(True) is not None:
        found["amazon.ion C dump"] = _amazon
    for name, attribute in (("ormsgpack", "packb"), ("msgpack", "packb")):
        module = peers._import(name)
        if module is not None:
            found[f"{name} {attribute}"] = _packed(getattr(module, attribute))
    return found


# ---- measuring ----


def _in_child(function: Callable[[], Any]) -> Any:
    """What a function gives in a fork of this process, so that its memory is its own."""
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.write(write_end, json.dumps(function()).encode())
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    os.close(write_end)
    with os.fdopen(read_end, "rb") as pipe:
        result = pipe.read()
    os.waitpid(child, 0)
    return json.loads(result)


def _give_back() -> None:
    """Hand free memory back to the system: else a call could use it, and the process not grow."""
    gc.collect()
    pools.clear()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:  # the GNU C library's
        trim(0)


def _reset_peak() -> int:
    """Forget the highest memory use so far; gives the current one."""
    _give_back()
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    return _peak()


def _peak() -> int:
    """Bytes of memory in use at most, since the last reset."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) for line in status.splitlines() if "VmHWM" in line) * 1024


def footprint(write: Callable[[], Counter]) -> dict[str, float]:
    """Growth of the process, allocations of the core, bytes out and seconds, of one call."""

    def measure() -> dict[str, float]:
        resident = _reset_peak()
        heap = pools.stats()["heap"]
        begin = time.process_time()
        out = write().size
        seconds = time.process_time() - begin
        growth = _peak() - resident
        allocs = pools.stats()["heap"]["allocs"] - heap["allocs"]
        return {"growth": growth, "allocs": allocs, "out": out, "seconds": seconds}

    result: dict[str, float] = _in_child(measure)
    return result


def _print_row(name: str, timing: Timing, ours: Timing, print_: dict[str, float]) -> None:
    allocations = f" {print_['allocs']} allocations," if name.startswith("ionfast") else ""
    print(
        f"  {name:46} {timing.best * 1e3:11.3f} ms (median {timing.median * 1e3:.3f}),"
        f" x{timing.best / ours.best:.2f}, +{print_['growth'] / 1e6:.1f} MB,{allocations}"
        f" {print_['out']:,} bytes out",
        flush=True,
    )


def _report(title: str, calls: dict[str, Callable[[], Counter]], rounds: int) -> None:
    print(title, flush=True)
    prints = {name: footprint(call) for name, call in calls.items()}
    slow = {name: print_["seconds"] for name, print_ in prints.items() if print_["seconds"] > 10}
    quick = {name: call for name, call in calls.items() if name not in slow}
    timings = interleave(quick, rounds=rounds, budget_seconds=30.0, clock=time.process_time)
    timings |= {name: Timing(seconds, seconds, 1) for name, seconds in slow.items()}
    ours = timings["ionfast Writer, preallocate 1, auto-flush on"]
    for name, timing in timings.items():
        _print_row(name, timing, ours, prints[name])


def stream_calls(count: int, mean: float) -> dict[str, Callable[[], Counter]]:
    """Each candidate, writing `count` values of about `mean` bytes."""
    distinct = values_of_size(mean)

    def call(write: Write) -> Callable[[], Counter]:
        def run() -> Counter:
            file = Counter()
            write(itertools.islice(itertools.cycle(distinct), count), file)
            return file

        return run

    return {name: call(write) for name, write in candidates().items()}


# ---- a long stream ----


def _copy_stream(size: int, binary: bool) -> dict[str, float]:
    """Read a stream of so many bytes and write it again, value by value."""
    record = {"id": 1, "name": "a name", "price": 12.5, "tags": ["x", "y"], "note": "z" * 40}
    source: Any = readers.Endless([record] * 2000, size, binary=binary)
    file = Counter()
    resident = _reset_peak()
    begin = time.process_time()
    count = 0
    with ionfast.Writer(file, binary=binary) as w:
        for value in ionfast.iterload(source):
            w.write(value)
            count += 1
    seconds = time.process_time() - begin
    return {"seconds": seconds, "count": count, "growth": _peak() - resident, "out": file.size}


def report_stream(size: int) -> None:
    """A stream made on the fly through iterload and Writer, each in a process of its own."""
    print(f"{size / 1e6:.0f} MB made on the fly, read by iterload and written by Writer")
    for binary in (True, False):
        result = _in_child(lambda binary=binary: _copy_stream(size, binary))
        print(
            f"  {'binary' if binary else 'text':8} {result['count']:,} values,"
            f" {size / result['seconds'] / 1e6:.0f} MB/s, {result['out']:,} bytes out,"
            f" +{result['growth'] / 1e6:.1f} MB",
            flush=True,
        )


def main(argv: list[str] | None = None) -> int:
    """Run all loads; `xN` is how many times as long as the default Writer it takes."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.writes", description=main.__doc__)
    parser.add_argument("--scale", type=float, default=1.0, help="of the numbers of values")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--megabytes", type=int, default=1000, help="length of the long stream")
    options = parser.parse_args(argv)
    print(f"CPython {platform.python_version()}, {options.rounds} rounds, scale {options.scale}")
    for count, mean in ((194_617, 1_030.0), (59_155, 355.0)):
        scaled = max(1, int(count * options.scale))
        _report(f"{scaled:,} nested values", stream_calls(scaled, mean), options.rounds)
    small = {"id": 1, "name": "foo"}

    def call(write: Write) -> Callable[[], Counter]:
        def run() -> Counter:
            file = Counter()
            write(iter((small,)), file)
            return file

        return run

    calls = {name: call(write) for name, write in candidates().items()}
    _report("one small value", calls, 3 * options.rounds)
    report_stream(options.megabytes * 1_000_000)
    return 0


if __name__ == "__main__":
    sys.exit(main())
