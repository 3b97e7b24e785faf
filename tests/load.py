"""Mixed work from many threads for a time: every result compared, resident memory flat, calls counted.

    python tests/load.py                       8 threads, 60 seconds
    python tests/load.py --seconds 10 --workers 4
    python tests/load.py --interpreters        each thread an interpreter with its own GIL (3.13)

Prints the calls a second of one worker alone and of all, and how resident memory went.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import pathlib
import sys
import sysconfig
import threading
import time

TESTS = pathlib.Path(__file__).parent
sys.path.insert(0, str(TESTS))

BATCH = 50  # calls between two looks at the clock

# What one worker does, in an interpreter of its own or in a thread of this one. It writes one line to `pipe`:
# its calls, the seconds that they took, and what went wrong.
WORK = """
import os, sys, time
sys.path.insert(0, {tests!r})
import entry_points

def work(seed, seconds, pipe):
    names = sorted(entry_points.ALL)
    wanted = {{name: entry_points.run(name) for name in names}}
    calls, wrong, place, began = 0, [], seed * 13, time.monotonic()
    while time.monotonic() < began + seconds and not wrong:
        for _ in range({batch}):
            place += 7
            name = names[place % len(names)]
            if entry_points.run(name) != wanted[name]:
                wrong.append(name)
            calls += 1
    os.write(pipe, f"{{calls}} {{time.monotonic() - began}} {{','.join(wrong)}}\\n".encode())
"""


@dataclasses.dataclass
class Outcome:
    """What the workers did."""

    calls: int
    rate: float  # calls a second, of all workers together
    wrong: list[str]
    resident: list[int]  # bytes, sampled at even times
    cpu_seconds: float  # of the whole process, making ready included

    def growth(self) -> tuple[int, int]:
        """Bytes at the middle and at the end: the medians of a tenth of the samples each."""
        tenth = max(1, len(self.resident) // 10)
        middle = self.resident[len(self.resident) // 2 :][:tenth]
        return sorted(middle)[len(middle) // 2], sorted(self.resident[-tenth:])[tenth // 2]


def resident_bytes() -> int:
    """0 where the system does not say it in /proc."""
    try:
        pages = int(pathlib.Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def in_interpreter(code: str) -> None:
    """Run it in an interpreter with a GIL of its own; an error there is one here."""
    import _interpreters  # type: ignore[import-not-found]

    interpreter = _interpreters.create("isolated")
    error = _interpreters.exec(interpreter, code)
    _interpreters.destroy(interpreter)
    if error is not None:
        raise RuntimeError(error.formatted)


def run(seconds: float, workers: int, *, interpreters: bool = False) -> Outcome:
    """Run so many workers for so long."""
    reading, writing = os.pipe()
    failures: list[BaseException] = []
    code = WORK.format(tests=str(TESTS), batch=BATCH)
    names: dict[str, object] = {}
    exec(code, names)

    def start(seed: int) -> None:
        try:
            if interpreters:
                in_interpreter(f"{code}\nwork({seed}, {seconds}, {writing})")
            else:
                names["work"](seed, seconds, writing)  # type: ignore[operator]
        except BaseException as error:
            failures.append(error)
            raise

    cpu = time.process_time()
    threads = [threading.Thread(target=start, args=(seed,)) for seed in range(workers)]
    for each in threads:
        each.start()
    resident = []
    while any(each.is_alive() for each in threads):
        resident.append(resident_bytes())
        time.sleep(seconds / 200)
    os.close(writing)
    with os.fdopen(reading, encoding="ascii") as lines:
        rows = [line.rstrip("\n").split(" ", 2) for line in lines]
    wrong = [name for _, _, each in rows for name in each.split(",") if name]
    wrong += [repr(error) for error in failures]
    calls = sum(int(count) for count, _, _ in rows)
    rate = sum(int(count) / float(took) for count, took, _ in rows)
    return Outcome(calls, rate, wrong, resident, time.process_time() - cpu)


def describe() -> str:
    free = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
    gil = getattr(sys, "_is_gil_enabled", lambda: True)()
    return f"CPython {sys.version.split()[0]}{' free-threaded' if free else ''}, GIL {'on' if gil else 'off'}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--interpreters", action="store_true")
    options = parser.parse_args()
    way = "interpreters" if options.interpreters else "threads"
    alone = run(options.seconds / 6, 1, interpreters=options.interpreters)
    full = run(options.seconds, options.workers, interpreters=options.interpreters)
    middle, end = full.growth()
    print(f"{describe()}: {options.workers} {way}, {os.cpu_count()} cores")
    for label, each in (("one", alone), ("all", full)):
        per_cpu = each.calls / each.cpu_seconds
        print(
            f"{label}: {each.rate:,.0f} calls a second, {per_cpu:,.0f} a second of processor time"
        )
    print(
        f"resident {middle / 1e6:.1f} MB half-way, {end / 1e6:.1f} MB at the end; {full.calls:,} calls"
    )
    wrong = alone.wrong + full.wrong
    if wrong:
        print("wrong:", wrong[:5])
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
