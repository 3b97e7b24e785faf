"""Inputs from public bug reports, each with the outcome that Ion 1.0 asks for.

Run one again alone: pytest tests/test_cases.py -k double-comma
"""

from __future__ import annotations

import array
import copy
import datetime
import decimal
import enum
import gc
import json
import mmap
import os
import pickle
import sys
import threading
import zoneinfo
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import ionfast
import scenarios
import vectors

Case = dict[str, Any]


def _load_cases() -> dict[str, Case]:
    if not vectors.CASES.is_file():
        return {}
    lines = vectors.CASES.read_text(encoding="utf-8").splitlines()
    return {case["id"]: case for case in map(json.loads, lines)}


CASES = _load_cases()
NAMES = {"datetime": datetime, "decimal": decimal, "enum": enum, "zoneinfo": zoneinfo}

# Cases whose outcome is told in words are checked by a function of their own.
CHECKS: dict[str, Callable[[Case], None]] = {}


def check(name: str) -> Callable[[Callable[[Case], None]], Callable[[Case], None]]:
    """Register the check of one case."""

    def register(function: Callable[[Case], None]) -> Callable[[Case], None]:
        CHECKS[name] = function
        return function

    return register


def evaluate(expression: str) -> Any:
    """A value that the data spells as a Python expression."""
    return eval(expression, dict(NAMES))


def data_of(case: Case) -> bytes | str:
    """The input of a case."""
    if "input_hex" in case:
        return bytes.fromhex(case["input_hex"])
    return case["input_text"] if "input_text" in case else evaluate(case["input_py"])


def values_of(case: Case) -> str:
    """The Ion text of the wanted values."""
    expect = case["expect"]
    return expect["values"] if "values" in expect else evaluate(expect["values_py"])


def check_by_kind(case: Case) -> None:
    """What the wanted values or the wanted error of a case ask for."""
    if "dump_py" in case:
        value = evaluate(case["dump_py"])
        if case["expect"].get("error"):
            scenarios.assert_not_dumped(value)
        else:
            scenarios.assert_dumps(value, values_of(case))
    elif case["expect"].get("error"):
        scenarios.assert_refused(data_of(case))
    elif case["kind"] == "roundtrip":
        scenarios.assert_survives(data_of(case), values_of(case))
    else:
        scenarios.assert_reads(data_of(case), values_of(case))


# They measure or change what is the whole process's: tracemalloc, the collector, references to an int.
OF_THE_PROCESS = (
    "huge-length-prefixes", "huge-max-id", "leak-on-error", "gc-during-parse", "wrong-call-arguments",
)  # fmt: skip


def _params() -> list[Any]:
    if not CASES:
        return [vectors.skipped("cases", vectors.NEEDS_TESTDATA)]
    alone = pytest.mark.thread_unsafe
    return [pytest.param(name, marks=alone if name in OF_THE_PROCESS else ()) for name in CASES]


@pytest.mark.parametrize("name", _params())
def test_case(name: str) -> None:
    case = CASES[name]
    CHECKS.get(name, check_by_kind)(case)


def test_each_case_told_in_words_has_a_check() -> None:
    """A new case that only has a note is not passed over; a check without its case is not kept."""
    if not CASES:
        pytest.skip(vectors.NEEDS_TESTDATA)
    in_words = {name for name, case in CASES.items() if "note" in case["expect"]}
    assert in_words - CHECKS.keys() == set()
    assert {*CHECKS, *OF_THE_PROCESS} - CASES.keys() == set()
    assert len(CASES) == 114


# -------------------------------------------------------------- values told in words


@check("decimal-context-precision")
def _(case: Case) -> None:
    with decimal.localcontext() as context:
        context.prec = 3
        context.traps[decimal.Inexact] = True
        values = ionfast.loads_all(data_of(case))
        encoded = list(scenarios.encodings(values))
        again = [ionfast.loads_all(data) for data in encoded]
    for read in (values, *again):
        scenarios.assert_values(read, values_of(case))


@check("ts-year-9999-offset")
def _(case: Case) -> None:
    (value,) = ionfast.loads_all(data_of(case))
    assert (value.year, value.month, value.day, value.hour) == (9999, 12, 31, 23)
    for binary in (True, False):
        try:
            encoded = ionfast.dumps(value, binary=binary)
            scenarios.assert_values(ionfast.loads_all(encoded), case["input_text"])
        except ionfast.IonError:
            assert binary  # text has no need of the year 10000


@check("ts-dump-midnight")
def _(case: Case) -> None:
    for encoded in scenarios.encodings([evaluate(case["dump_py"])]):
        value = ionfast.loads(encoded)
        assert value.precision.name in ("SECOND", "FRACTION")
        assert value == datetime.datetime(2024, 5, 6, tzinfo=datetime.UTC)


@check("deepcopy-pickle")
def _(case: Case) -> None:
    values = ionfast.loads_all(data_of(case))
    copies = [copy.copy, copy.deepcopy]
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        copies.append(lambda value, p=protocol: pickle.loads(pickle.dumps(value, p)))
    for make in copies:
        scenarios.assert_values([make(value) for value in values], values_of(case))


@check("two-values-single")
def _(case: Case) -> None:
    with pytest.raises(ionfast.IonError):
        ionfast.loads(data_of(case))
    assert ionfast.loads_all(data_of(case)) == [1, 2]


@check("lazy-stream")
def _(case: Case) -> None:
    # That the first value comes out before the second is written belongs to the stream reader.
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb", buffering=0) as source:
        with os.fdopen(writing, "wb", buffering=0) as sink:
            sink.write(case["input_text"].encode())
        assert list(ionfast.iterload(source)) == [{"n": 1}, {"n": 2}]


@check("comment-across-buffer")
@check("multibyte-over-buffer")
def _(case: Case) -> None:
    data = data_of(case)
    text = data if isinstance(data, str) else data.decode()
    for whole in (text, text.encode()):
        scenarios.assert_reads(whole, values_of(case))
        for file in scenarios.files(whole):
            scenarios.assert_values(list(ionfast.iterload(file)), values_of(case))


@check("buffer-inputs")
def _(case: Case) -> None:
    data = str(case["input_text"]).encode()
    with mmap.mmap(-1, len(data)) as mapped:
        mapped.write(data)
        for buffer in (data, bytearray(data), memoryview(data), memoryview(b"xx" + data)[2:],
                       memoryview(data).toreadonly(), array.array("B", data), mapped):  # fmt: skip
            scenarios.assert_values([ionfast.loads(buffer)], values_of(case))
    spread = bytes(byte for each in data for byte in (each, 0x20))
    try:
        value = ionfast.loads(memoryview(spread)[::2])
    except (BufferError, TypeError, ValueError):
        return  # refusing a buffer with gaps is as good as reading it
    scenarios.assert_values([value], values_of(case))


# --------------------------------------------------------------------------- robustness


@check("deep-list-text")
def _(case: Case) -> None:
    scenarios.assert_deep_is_safe(case["input_py"])
    for opening in ('b"(" * 200000', 'b"{a:" * 200000', 'b"a::" * 200000', 'b"[(" * 100000'):
        scenarios.assert_deep_is_safe(opening)


@check("deep-small-thread-stack")
def _(case: Case) -> None:
    out = scenarios.run_python("""
        seen = []
        def attempt():
            for n in range(100, 1001, 100):
                try:
                    loads(b"[" * n + b"]" * n)
                except IonError:
                    pass
                seen.append(n)
        threading.stack_size(256 * 1024)
        thread = threading.Thread(target=attempt)
        thread.start()
        thread.join()
        print(len(seen))
    """)
    assert out == "10"


@check("deep-dump")
def _(case: Case) -> None:
    for wrap in ("[deep]", "(deep,)", "{'k': deep}", "[{'k': (deep,)}]"):
        scenarios.assert_deep_dump_is_safe(f"""
            deep = []
            for _ in range(100000):
                deep = {wrap}
        """)


@check("huge-length-prefixes")
@scenarios.not_sanitized
def _(case: Case) -> None:
    lengths = ("077f7f7fff", "1000000081", "00400000000080", "007f7f7f7f7f7f7f7fff",
               "7f7f7f7f7f7f7f7f7f7f7fff")  # fmt: skip
    for code in (0, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14):
        for length in lengths:
            data = bytes.fromhex(f"e00100ea{code:x}e{length}61")
            peak = scenarios.peak_bytes(lambda data=data: scenarios.assert_refused(data))
            assert peak < 10_000_000, data.hex()


@check("huge-max-id")
def _(case: Case) -> None:
    assert ionfast.loads_all(data_of(case)) == [1]
    if not scenarios.SANITIZED:
        assert scenarios.peak_bytes(lambda: ionfast.loads_all(data_of(case))) < 100_000


@check("leak-on-error")
def _(case: Case) -> None:
    text = data_of(case)
    scenarios.assert_no_leak(scenarios.swallow(lambda: ionfast.loads(text), ionfast.IonError))
    binary = ionfast.dumps(ionfast.loads('[1,"x",{k:[ann::2.5,2020T]}]'), binary=True)
    for length in range(5, len(binary)):
        cut = binary[:length]
        fails = scenarios.swallow(lambda cut=cut: ionfast.loads(cut), ionfast.IonError)
        assert scenarios.growth_bytes(fails, times=200) < 4096, cut.hex()
    unknown = [{"k": 1}, "s", object()]
    scenarios.assert_no_leak(scenarios.swallow(lambda: ionfast.dumps(unknown), TypeError))


@check("container-mutated-in-dump")
def _(case: Case) -> None:
    out = scenarios.run_python("""
        class TZ(datetime.tzinfo):
            def utcoffset(self, dt):
                del lst[1:]
                dct.clear()
                return datetime.timedelta(0)
            def dst(self, dt):
                return None
        for binary in (True, False):
            lst = [datetime.datetime(2020, 1, 1, tzinfo=TZ())] + [object() for _ in range(256)]
            dct = {"k": datetime.datetime(2020, 1, 1, tzinfo=TZ()),
                   **{str(i): [i] for i in range(256)}}
            for value in (lst, dct):
                try:
                    loads(dumps(value, binary=binary))
                except (IonError, TypeError, ValueError, RuntimeError):
                    pass
        print("done")
    """)
    assert out == "done"


@check("read-callback-misbehaves")
def _(case: Case) -> None:
    scenarios.assert_read_errors_come_out()


@check("dump-aliasing")
def _(case: Case) -> None:
    for character in ("\0", "\x85", "x", "é", "😀"):
        for power in range(1, 17):
            for length in range((1 << power) - 3, (1 << power) + 4):
                string = character * length
                for binary in (True, False):
                    assert ionfast.loads(ionfast.dumps(string, binary=binary)) == string


@check("subinterpreter")
def _(case: Case) -> None:
    out = scenarios.run_python("""
        import _testcapi
        code = '''
        import ionfast
        value = ionfast.loads("[1, {a: 2.5}, 2020T]")
        assert ionfast.loads(ionfast.dumps(value)) == value
        '''
        import textwrap
        results = [_testcapi.run_in_subinterp(textwrap.dedent(code)) for _ in range(3)]
        assert loads("[1]") == [1]
        print(results)
    """)
    assert out == "[0, 0, 0]"


@check("free-threading")
def _(case: Case) -> None:
    text = "[" + ",".join(f"{{id:{i},name:'sym{i % 50}',at:2020-01-01T00:00:{i % 60:02}Z}}"
                          for i in range(300)) + "]"  # fmt: skip
    wanted = ionfast.loads(text)
    binary = ionfast.dumps(wanted, binary=True)

    def work(number: int) -> bool:
        data = (text, text.encode(), binary)[number % 3]
        return bool(ionfast.loads(ionfast.dumps(ionfast.loads(data), binary=True)) == wanted)

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(work, range(200)))
    changing: dict[str, Any] = {str(i): [i] for i in range(100)}
    stop = threading.Event()

    def change() -> None:
        while not stop.is_set():
            changing.pop("5", None)
            changing["5"] = [len(changing)]

    changer = threading.Thread(target=change)
    changer.start()
    try:
        for _ in range(300):
            try:
                assert len(ionfast.loads(ionfast.dumps(changing))) in (99, 100)
            except RuntimeError:
                pass
    finally:
        stop.set()
        changer.join()


@check("gc-during-parse")
def _(case: Case) -> None:
    text = "[" + ",".join(f"{{a:[({i} 2.5)],b:x::2020T}}" for i in range(3000)) + "]"
    thresholds = gc.get_threshold()
    gc.set_threshold(1, 1, 1)
    try:
        value = ionfast.loads(text)
        encoded = ionfast.dumps(value)
        again = ionfast.loads(encoded)
    finally:
        gc.set_threshold(*thresholds)
    assert gc.isenabled()
    assert gc.is_tracked(value)
    assert gc.is_tracked(value[7]["a"])
    assert len(value) == len(again) == 3000
    assert value[2999]["a"][0][0] == again[2999]["a"][0][0] == 2999


@check("keyboard-interrupt")
def _(case: Case) -> None:
    assert_interrupted('"[" + "1234567," * 12_000_000 + "1]"')
    assert_interrupted('"[" + "{a:x::\'b\'}," * 3_000_000 + "1]"')


def assert_interrupted(expression: str) -> None:
    """Ctrl-C during a long read comes out of it, and reading goes on working."""
    out = scenarios.run_python(f"""
        big = {expression}
        value = None
        signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        try:
            value = loads(big)
            print("not interrupted")
        except KeyboardInterrupt:
            print("interrupted", value)
        assert loads("[1]") == [1]
    """)
    assert out == "interrupted None"


@check("memory-error")
@scenarios.not_sanitized
def _(case: Case) -> None:
    out = scenarios.run_python("""
        import resource
        big = '[' + '"x",' * 10**7 + '1]'
        used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + 30_000_000,) * 2)
        try:
            loads(big)
            print("no error")
        except (MemoryError, IonError) as error:
            print("error")
        assert loads("[1]") == [1]
    """)
    assert out == "error" or not scenarios.HAS_GIL  # there memory is reserved by the gigabyte
    if not scenarios.HAS_GIL:  # 3.13's own PyList_New crashes there
        return
    assert_each_allocation_may_fail("loads('[1, \"x\", {k: [ann::2.5, 2020T]}, (a b)]')")
    assert_each_allocation_may_fail('dumps([1, "x", {"k": [2.5, decimal.Decimal("1.5")]}])')


def assert_each_allocation_may_fail(call: str) -> None:
    """The call raises MemoryError, or gives a value, whichever allocation it is that fails."""
    out = scenarios.run_python(f"""
        import _testcapi
        {call}
        for n in range(1, 400):
            _testcapi.set_nomemory(n, n + 1)
            try:
                {call}
            except MemoryError:
                pass
            finally:
                _testcapi.remove_mem_hooks()
        {call}
        print("done")
    """)
    assert out == "done"


@check("wrong-call-arguments")
def _(case: Case) -> None:
    for call in (
        lambda: ionfast.loads(),
        lambda: ionfast.loads(1),
        lambda: ionfast.loads(None),
        lambda: ionfast.loads(b"1", nope=1),
        lambda: ionfast.loads(b"1", b"2"),
        lambda: ionfast.dumps(),
        lambda: ionfast.dumps(1, nope=1),
    ):
        with pytest.raises(TypeError):
            call()
    option = 54321
    before = sys.getrefcount(option)
    for _ in range(20_000):
        ionfast.loads("{p:q}", max_depth=option)
    gc.collect()
    assert abs(sys.getrefcount(option) - before) < 10
