"""`ionfast.Reader`: moving about, the current value, sources, misuse, and what may come in between."""

from __future__ import annotations

import array
import gc
import gzip
import io
import mmap
import pathlib
import re
import tempfile
import threading
from collections.abc import Callable
from typing import Any

import pytest

import ionfast
import leaks
import scenarios
from ionfast import (
    Catalog,
    ImportLocation,
    IonError,
    IonType,
    Reader,
    SharedSymbolTable,
    Symbol,
    SymbolToken,
    pools,
)

TEXT = "{id: 7, tags: a::[x, 'y z'], empty: null.struct} \"next\" 2.50"
BINARY = ionfast.dumps_all(ionfast.loads_all(TEXT))


@pytest.fixture(params=[TEXT, BINARY], ids=["text", "binary"])
def data(request: pytest.FixtureRequest) -> Any:
    """The same three values in both encodings."""
    return request.param


class File:
    """A file object with nothing but read; `pieces` may hold callables and exceptions."""

    def __init__(self, *pieces: Any) -> None:
        self.pieces = list(pieces)

    def read(self, size: int) -> Any:
        piece = self.pieces.pop(0) if self.pieces else b""
        if isinstance(piece, BaseException):
            raise piece
        return piece() if callable(piece) else piece


def read_all(reader: Reader) -> None:
    """All that is left, containers whole."""
    while reader.next() is not None:
        reader.value()


# ---- moving ----


def test_a_walk(data: Any) -> None:
    with Reader(data) as r:
        assert (r.type, r.depth, r.annotations, r.field_name) == (None, 0, (), None)
        assert r.next() is IonType.STRUCT is r.type
        r.step_in()
        assert (r.type, r.depth) == (None, 1)
        assert (r.next(), r.field_name, r.value(), r.value()) == (IonType.INT, "id", 7, 7)
        assert (r.next(), r.field_name, r.annotations) == (IonType.LIST, "tags", (Symbol("a"),))
        r.step_in()
        assert (r.next(), r.value(), r.field_name, r.depth) == (IonType.SYMBOL, "x", None, 2)
        r.step_out()
        assert (r.next(), r.field_name, r.is_null) == (IonType.STRUCT, "empty", True)
        assert r.value().ion_type is IonType.STRUCT
        assert r.next() is None
        assert r.next() is None
        r.step_out()
        assert (r.next(), r.value()) == (IonType.STRING, "next")
        assert (r.next(), r.is_null, str(r.value())) == (IonType.DECIMAL, False, "2.50")
        assert r.next() is None
        assert r.next() is None


def test_containers_are_passed_over_when_not_stepped_into(data: Any) -> None:
    with Reader(data) as r:
        kinds = []
        while (kind := r.next()) is not None:
            kinds.append(kind)
    assert kinds == [IonType.STRUCT, IonType.STRING, IonType.DECIMAL]


def test_a_value_whole_after_some_of_it(data: Any) -> None:
    with Reader(data) as r:
        r.next()
        r.step_in()
        r.next()
        r.next()
        value = r.value()
        assert (value, value.ion_annotations) == (["x", "y z"], (Symbol("a"),))
        assert (r.field_name, r.annotations) == ("tags", (Symbol("a"),))
        r.step_out()
        assert r.next() is IonType.STRING


def test_iteration_is_over_the_values_at_this_depth(data: Any) -> None:
    assert list(Reader(data)) == ionfast.loads_all(data)
    with Reader(data) as r:
        r.next()
        r.step_in()
        assert list(r) == list(ionfast.loads_all(data)[0].values())
        assert list(r) == []
        r.step_out()
        for value in r:
            assert value == "next"
            break
        assert next(r) == ionfast.loads_all(data)[2]
        assert next(r, "end") == "end"


@pytest.mark.parametrize("model", ["lossless", "plain", "ionpy"])
def test_models(data: Any, model: Any) -> None:
    values = list(Reader(data, model=model))
    wanted = ionfast.loads_all(data, model=model)
    assert values == wanted
    assert list(map(type, values)) == list(map(type, wanted))


def test_offsets() -> None:
    with Reader(b"  a::1  {b : c::2 }") as r:
        assert r.offset == 0
        r.next()
        assert r.offset == 2
        r.next()
        assert r.offset == 8
        r.step_in()
        r.next()
        assert r.offset == 13
    with Reader(ionfast.dumps_all([1, [300]])) as r:
        assert (r.next(), r.offset) == (IonType.INT, 4)
        assert (r.next(), r.offset) == (IonType.LIST, 6)
        r.step_in()
        assert (r.next(), r.offset) == (IonType.INT, 7)


# ---- symbols ----

FRUITS = SharedSymbolTable("fruits", 1, ["apple", None, "cherry"])
IMPORTING = (
    '$ion_symbol_table::{imports:[{name:"fruits",version:1,max_id:3}],symbols:["own"]}'
    "{$10: $10::$12::1, $11: 2, $13: 3, plain: 4, $0: 5, name: $4::6}"
)


@pytest.mark.parametrize("as_binary", [False, True])
def test_symbol_tokens_say_where_they_come_from(as_binary: bool) -> None:
    source: Any = IMPORTING
    if as_binary:
        # fields $10, $11, $13 and $4
        source = bytes.fromhex(
            "e00100ea ee9d8183 de99 86be90 de8e 84 86 667275697473 85 2101 88 2103 87b4 83 6f776e"
            "de96 8a e5 82 8a8c 2101 8b 2102 8d 2103 80 2105 84 e4 81 84 2106"
        )
    with Reader(source, catalog=Catalog([FRUITS])) as r:
        r.next()
        r.step_in()
        found = {}
        while r.next() is not None:
            found[r.value()] = (r.field_symbol, r.annotation_symbols)
    apple = SymbolToken("apple", 10, ImportLocation("fruits", 1))
    cherry = SymbolToken("cherry", 12, ImportLocation("fruits", 3))
    assert found[1] == (apple, (apple, cherry))
    assert found[2] == (SymbolToken(None, 11, ImportLocation("fruits", 2)), ())
    assert found[3] == (SymbolToken("own", 13, None), ())
    assert found[5] == (SymbolToken(None, 0), ())
    if as_binary:
        assert found[6] == (SymbolToken("name", 4), (SymbolToken("name", 4),))
    else:
        assert found[4] == (SymbolToken("plain"), ())
        assert found[6] == (SymbolToken("name"), (SymbolToken("name", 4),))


def test_there_are_no_symbols_where_there_are_no_names(data: Any) -> None:
    with Reader(data) as r:
        assert (r.field_symbol, r.annotation_symbols) == (None, ())
        r.next()
        assert (r.field_symbol, r.annotation_symbols) == (None, ())


def test_symbols_go_with_the_containers_value(data: Any) -> None:
    with Reader(data) as r:
        r.next()
        r.step_in()
        r.next()
        r.next()
        r.value()
        for name in ("field_symbol", "annotation_symbols"):
            with pytest.raises(IonError, match=rf"{name}\(\) in a struct: to be read before"):
                getattr(r, name)


# ---- sources ----


def test_every_kind_of_source(data: Any, tmp_path: pathlib.Path) -> None:
    wanted = ionfast.loads_all(data)
    raw = data.encode() if isinstance(data, str) else data
    path = tmp_path / "data.ion"
    path.write_bytes(raw)
    for source in (
        data, raw, bytearray(raw), memoryview(raw), array.array("B", raw), path,
        gzip.compress(raw), bytearray(gzip.compress(raw)), array.array("B", gzip.compress(raw)),
        io.BytesIO(raw), io.BytesIO(gzip.compress(raw)), io.BufferedReader(io.BytesIO(raw)),
        File(raw[:5], raw[5:]), File(bytearray(raw[:5]), memoryview(raw[5:])),
    ):  # fmt: skip
        assert list(Reader(source)) == wanted, source
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        assert list(Reader(mapped)) == wanted
    with tempfile.NamedTemporaryFile() as named:
        named.write(raw)
        named.seek(0)
        assert list(Reader(named)) == wanted
    path.write_bytes(gzip.compress(raw))
    assert list(Reader(path)) == wanted
    with path.open("rb", buffering=0) as unbuffered:
        assert list(Reader(unbuffered)) == wanted


def test_text_files() -> None:
    text = "'é' '''\N{SNOWMAN}''' [1, 2]"
    assert list(Reader(io.StringIO(text))) == ["é", "\N{SNOWMAN}", [1, 2]]
    assert list(Reader(File(*text, ""))) == ["é", "\N{SNOWMAN}", [1, 2]]


def test_a_str_is_text_even_if_it_begins_like_binary() -> None:
    with pytest.raises(IonError, match="expected a value"):
        Reader("\u00e0\x01\x00\u00ea").next()


@pytest.mark.parametrize("source", [5, object(), ["1"], 2.5])
def test_what_is_no_source(source: Any) -> None:
    name = type(source).__name__
    with pytest.raises(TypeError, match=f"a path or a file object is needed, not {name}"):
        Reader(source)


def test_a_missing_path() -> None:
    with pytest.raises(FileNotFoundError):
        Reader(pathlib.Path("/no/such/file.ion"))


def test_a_bytearray_cannot_be_resized_while_it_is_read() -> None:
    data = bytearray(b"1 2")
    reader = Reader(data)
    if not scenarios.HAS_GIL:  # the reader has a copy
        data[0:3] = b"[}[}"
        assert list(reader) == [1, 2]
        return
    with pytest.raises(BufferError):
        data.append(0)
    reader.close()
    data.append(0)


def test_compression_none_does_not_look() -> None:
    with pytest.raises(IonError):
        Reader(gzip.compress(b"1"), compression=None).next()
    assert list(Reader(b"1", compression=None)) == [1]
    with pytest.raises(ValueError, match="compression is 'auto' or None, not 'gzip'"):
        Reader(io.BytesIO(b"1"), compression="gzip")  # type: ignore[arg-type]


def test_damaged_compressed_data_stays_an_error() -> None:
    packed = gzip.compress(b"1 2 " * 50_000)
    reader = Reader(packed[:-20])
    messages = set()
    for _ in range(3):
        with pytest.raises(IonError) as info:
            read_all(reader)
        messages.add(str(info.value))
    assert len(messages) == 1
    assert re.fullmatch(r"offset \d+: the gzip data cannot be decompressed: truncated", *messages)


def test_a_lone_surrogate_is_an_error_at_its_place() -> None:
    with pytest.raises(IonError, match="lone surrogate") as info:
        Reader("'é' \ud800")
    assert info.value.offset == 5
    reader = Reader(File("1 ", "'é' \udc00 1"))
    assert (reader.next(), reader.value()) == (IonType.INT, 1)
    for _ in range(2):
        with pytest.raises(IonError, match="lone surrogate") as info:
            reader.next()
        assert info.value.offset == 7


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"model": "nonsense"}, ValueError, "model must be"),
        ({"nonsense": 1}, TypeError, r"Reader\(\) got an unexpected keyword argument 'nonsense'"),
        ({"max_depth": -1}, ValueError, "max_depth must not be negative"),
        ({"catalog": 5}, TypeError, "atalog"),
        ({"on_oversized": 5}, TypeError, "on_oversized must be callable or None, not int"),
    ],
)
def test_options_are_checked(options: Any, error: Any, message: str) -> None:
    for kind in (Reader, type("Sub", (Reader,), {})):
        with pytest.raises(error, match=message):
            kind(b"1", **options)


def test_too_many_arguments() -> None:
    for kind in (Reader, type("Sub", (Reader,), {})):
        with pytest.raises(TypeError, match="at most 1 positional argument but 2 were given"):
            kind(b"1", b"2")


# ---- misuse ----


@pytest.mark.parametrize(
    ("steps", "call", "message"),
    [
        ("", "step_out", "step_out() at the top level: no container has been stepped into"),
        ("", "step_in", "step_in() at the top level: there is no current value: next() first"),
        ("", "value", "value() at the top level: there is no current value: next() first"),
        ("ni", "step_in", "step_in() in a list: there is no current value: next() first"),
        ("nin", "step_in", "step_in() in a list: only a list, sexp or struct has an inside"),
        ("ninn", "step_in", "step_in() in a list: a null container has no inside"),
        ("nv", "step_in", "step_in() at the top level: value() has read the container"),
        ("nv", "value", "value() at the top level: the container's value has been read"),
        ("ninnnininn", "value", "value() in a list in a struct in a list: there is no current"),
        ("ninnnininin", "step_in", "in a sexp in a list in a struct in a list: only a list"),
        ("ninnninininnin", "step_in", "in a struct in a sexp in a list in a struct and 1 more"),
        ("ninnninn", "step_in", "in a struct in a list: the container has ended: step_out()"),
    ],
)
@pytest.mark.parametrize("binary", [False, True])
def test_misuse_says_what_is_open(steps: str, call: str, message: str, binary: bool) -> None:
    source: Any = "[1, null.list, {a: [(b {c: 1})]}]"
    source = ionfast.dumps(ionfast.loads(source)) if binary else source
    with Reader(source) as r:
        calls: dict[str, Callable[[], Any]] = {"n": r.next, "i": r.step_in, "v": r.value}
        for step in steps:
            calls[step]()
        with pytest.raises(IonError) as info:
            getattr(r, call)()
        assert message in str(info.value)
        assert info.value.offset is not None


def test_a_misuse_changes_nothing(data: Any) -> None:
    with Reader(data) as r:
        r.next()
        r.step_in()
        r.next()
        with pytest.raises(IonError):
            r.step_in()
        assert (r.field_name, r.value()) == ("id", 7)
        assert r.next() is IonType.LIST


def test_use_after_close(data: Any) -> None:
    r = Reader(data)
    r.next()
    assert not r.closed
    r.close()
    r.close()
    assert r.closed
    for call in (r.next, r.value, r.step_in, r.step_out, r.__enter__, r.end, lambda: r.feed(b"")):
        with pytest.raises(ValueError, match="the reader is closed"):
            call()
    for name in ("type", "depth", "offset", "field_name", "annotations", "is_null"):
        with pytest.raises(ValueError, match="the reader is closed"):
            getattr(r, name)
    with pytest.raises(ValueError, match="the reader is closed"):
        next(r)


def test_feeding_is_for_readers_without_a_source() -> None:
    with Reader(b"1") as r:
        with pytest.raises(TypeError, match=r"feed\(\) is for a reader made with Reader\(None\)"):
            r.feed(b"2")
        with pytest.raises(TypeError, match=r"end\(\) is for a reader made with Reader\(None\)"):
            r.end()


# ---- errors ----


@pytest.mark.parametrize(
    ("source", "offset"),
    [(b"1 ]", 2), (b"[1, {a: ]}]", 8), (bytes.fromhex("e00100ea21018f72"), 8), (b"\xe0\x01", 2)],
)
def test_an_error_stays(source: bytes, offset: int) -> None:
    with Reader(source) as r:
        seen = []
        for _ in range(3):
            with pytest.raises(IonError) as info:
                read_all(r)
            seen.append((str(info.value), info.value.offset))
        assert seen[0][1] == offset
        assert seen[1:] == seen[:1] * 2


def test_what_python_cannot_hold_is_an_error_of_one_value() -> None:
    with Reader("[1d1000000000000000000] 2") as r:
        r.next()
        with pytest.raises(IonError):
            r.value()
        with pytest.raises(IonError, match="has been read"):
            r.value()
        assert (r.next(), r.value()) == (IonType.INT, 2)


def test_limits() -> None:
    with pytest.raises(IonError, match="nested deeper than max_depth"):
        list(Reader("[[[]]]", max_depth=2))
    with pytest.raises(IonError, match=r"offset 6: .* max_value_size: 21 bytes, limit 10"):
        list(Reader(ionfast.dumps_all([1, "x" * 19]), max_value_size=10))


@pytest.mark.parametrize("error", [KeyError("mine"), KeyboardInterrupt(), OSError(5, "disk")])
def test_an_error_of_read_comes_out_and_reading_can_go_on(error: BaseException) -> None:
    text = b"{a: [1, 2, 3]} 4"
    for cut in range(len(text)):
        r = Reader(File(text[:cut], error, text[cut:]) if cut else File(error, text))
        values: list[Any] = []
        raised = 0
        while True:
            try:
                if r.type is None and r.next() is None:
                    break
                values.append(r.value())
                r.next()
                if r.type is None:
                    break
            except type(error) as caught:
                assert caught is error
                raised += 1
        assert (values, raised) == ([{"a": [1, 2, 3]}, 4], 1), cut
        r.close()


def test_a_reader_can_be_closed_after_an_error_of_read() -> None:
    before = pools.stats()["decoders"]
    for step in ("next", "value"):
        r = Reader(File(b"[1, 2", OSError(5, "disk")))
        r.next()
        with pytest.raises(OSError, match="disk"):
            getattr(r, step)()
        r.close()
        assert r.closed
    after = pools.stats()["decoders"]
    assert after["takes"] - before["takes"] == after["gives"] - before["gives"] == 2


def test_a_stop_iteration_of_read_does_not_end_the_loop() -> None:
    error = StopIteration("mine")
    r = Reader(File(b"1 2 ", error))
    assert next(r) == 1
    with pytest.raises(RuntimeError, match="reading raised StopIteration") as info:
        list(r)
    assert info.value.__cause__ is error
    r = Reader(File(error))
    with pytest.raises(StopIteration):
        r.next()


@pytest.mark.parametrize("result", [None, 5, ["a"]])
def test_read_must_give_bytes_or_str(result: Any) -> None:
    r = Reader(File(b"1 ", result, b"2"), compression=None)
    assert r.next() is IonType.INT
    with pytest.raises(TypeError, match=f"must give bytes or str, not {type(result).__name__}"):
        r.next()
    assert (r.next(), r.value()) == (IonType.INT, 2)


# ---- what may come in between ----

ENTRANCES: dict[str, Callable[[Reader], Any]] = {
    "next": lambda r: r.next(),
    "value": lambda r: r.value(),
    "step_in": lambda r: r.step_in(),
    "step_out": lambda r: r.step_out(),
    "close": lambda r: r.close(),
    "iterate": lambda r: next(r),
    "exit": lambda r: r.__exit__(None, None, None),
    "field_name": lambda r: r.field_name,
    "offset": lambda r: r.offset,
    "annotation_symbols": lambda r: r.annotation_symbols,
}


@pytest.mark.parametrize("name", ENTRANCES)
def test_read_cannot_use_the_reader_that_called_it(name: str) -> None:
    refused: list[str] = []
    reader: Reader

    def enter() -> bytes:
        try:
            ENTRANCES[name](reader)
        except RuntimeError as error:
            refused.append(str(error))
        return b", 2] 3"

    reader = Reader(File(b"[1", enter))
    assert list(reader) == [[1, 2], 3]
    assert refused == ["the reader is in use by another call"]
    reader.close()


def test_read_may_use_other_readers() -> None:
    def other() -> bytes:
        with Reader(File(b"[5", b"]")) as r:
            return ionfast.dumps(next(r), binary=False, omit_version_marker=True).encode() + b"]"

    assert list(Reader(File(b"[", other))) == [[[5]]]


def test_another_thread_is_refused_while_one_reads() -> None:
    started, go_on = threading.Event(), threading.Event()

    def slow() -> bytes:
        started.set()
        assert go_on.wait(10)
        return b"2"

    reader = Reader(File(b"1 ", slow))
    values: list[Any] = []
    thread = threading.Thread(target=lambda: values.extend(reader))
    thread.start()
    assert started.wait(10)
    for enter in ENTRANCES.values():
        with pytest.raises(RuntimeError, match="the reader is in use by another call"):
            enter(reader)
    go_on.set()
    thread.join()
    assert values == [1, 2]
    reader.close()


def test_a_signal_handler_cannot_close_a_reader_that_builds() -> None:
    scenarios.run_python("""
    data = ionfast.dumps([list(range(1000))] * 500)
    reader = ionfast.Reader(data)
    refused = []
    def handler(*args):
        try:
            reader.close()
        except RuntimeError as error:
            refused.append(str(error))
    signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    tries = 0
    while not refused and tries < 2000:
        tries += 1
        try:
            reader.next()
            assert len(reader.value()) == 500
            reader.close()
        except (ValueError, RuntimeError):
            pass
        reader = ionfast.Reader(data)
    signal.setitimer(signal.ITIMER_REAL, 0)
    assert set(refused) == {"the reader is in use by another call"}, (tries, refused)
    """)


def test_a_signal_ends_a_value_but_not_the_stream() -> None:
    scenarios.run_python("""
    data = ionfast.dumps_all([[list(range(1000))] * 2000, "next"])
    class Stop(Exception): pass
    def handler(*args):
        raise Stop
    signal.signal(signal.SIGALRM, handler)
    reader = ionfast.Reader(data)
    reader.next()
    signal.setitimer(signal.ITIMER_REAL, 0.001)
    try:
        reader.value()
        raise SystemExit("was not stopped")
    except Stop:
        pass
    try:
        reader.value()
        raise SystemExit("half a value")
    except ionfast.IonError as error:
        assert "has been read" in str(error), error
    reader.next()
    assert reader.value() == "next"
    """)


# ---- life ----


class Counting(Reader):
    """A subclass with an attribute of its own."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.count = 0

    def next(self) -> Any:
        self.count += 1
        return super().next()


def test_subclasses(data: Any) -> None:
    with Counting(data, model="plain") as r:
        while r.next() is not None:
            pass
        assert r.count == 4
    assert list(Counting(data)) == ionfast.loads_all(data)


def _left_open() -> None:
    r = Reader(BINARY)
    r.next()
    r.step_in()
    r.next()


def _broken_off() -> None:
    for _ in Reader(File(TEXT.encode()[:40], TEXT.encode()[40:])):
        break


def _closed_twice() -> None:
    r = Reader(TEXT)
    r.next()
    r.value()
    r.close()
    r.close()


def _used_after_close() -> None:
    r = Reader(BINARY)
    r.close()
    with pytest.raises(ValueError, match="closed"):
        r.next()


def _in_a_cycle_with_its_file() -> None:
    file: Any = File(b"[1, 2, ", b"3]", b"[4")
    file.reader = Reader(file)
    file.reader.next()
    del file
    gc.collect()


def _in_a_cycle_of_its_own() -> None:
    r: Any = Counting(BINARY)
    r.me = r
    r.next()
    del r
    gc.collect()


def _half_a_value() -> None:
    r = Reader()
    r.feed(b"a::{b: c::[1, 2.5, 'x', {d: \"long enough")
    r.next()
    assert r.value() is ionfast.NEED_DATA
    assert r.field_name is None


def _re_entered() -> None:
    r: Reader

    def enter() -> bytes:
        with pytest.raises(RuntimeError):
            r.close()
        return b"2]"

    r = Reader(File(b"[1, ", enter))
    assert next(r) == [1, 2]


def _failed() -> None:
    with pytest.raises(IonError):
        list(Reader("[1, {a: [}"))
    with pytest.raises(OSError, match="disk"):
        list(Reader(File(b"[1, {a: 'b c d e f'", OSError(5, "disk"))))


def _not_made() -> None:
    for arguments in ((5,), (pathlib.Path("/no/such/file"),), ("\ud800",)):
        with pytest.raises((TypeError, OSError, IonError)):
            Reader(*arguments)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        Reader(b"1", on_oversized=5)  # type: ignore[arg-type]


def _oversized() -> None:
    values = Reader("1 [2, 3, 4, 'abc'] 5", max_value_size=4, on_oversized=lambda size, at: None)
    assert list(values) == [1, 5]


def _symbols() -> None:
    with Reader(IMPORTING, catalog=Catalog([FRUITS])) as r:
        r.next()
        r.step_in()
        while r.next() is not None:
            assert r.field_symbol is not None
            assert r.annotation_symbols is not None


LIVES = [
    _left_open, _broken_off, _closed_twice, _used_after_close, _half_a_value, _re_entered,
    _failed, _not_made, _oversized, _symbols,
]  # fmt: skip


def taken() -> list[int]:
    """How many objects are out of their pools, once those of other tests' garbage have come back."""
    gc.collect()
    stats = pools.stats()
    names = ("decoders", "string_decoders", "buffers")
    return [stats[name]["takes"] - stats[name]["gives"] for name in names]


@pytest.mark.parametrize("life", LIVES, ids=lambda life: life.__name__[1:])
def test_no_life_of_a_reader_leaks_or_harms_a_pool(life: Callable[[], None]) -> None:
    before = taken()
    leaks.assert_flat(life, Reader, Symbol, SymbolToken)
    assert taken() == before
    assert list(Reader(TEXT)) == ionfast.loads_all(BINARY)


@pytest.mark.parametrize("life", [_in_a_cycle_with_its_file, _in_a_cycle_of_its_own])
def test_cycles_are_collected(life: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leaks, "WARM_UP", 10)
    monkeypatch.setattr(leaks, "REPEATS", 50)
    leaks.assert_flat(life, Reader, Counting, File)


def test_a_path_is_closed_with_the_reader(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.ion"
    path.write_bytes(b"1 2")
    scenarios.run_python(f"""
    import os, warnings
    warnings.simplefilter("error")
    count = lambda: len(os.listdir("/proc/self/fd"))
    before = count()
    readers = [ionfast.Reader(__import__("pathlib").Path({str(path)!r})) for _ in range(5)]
    assert count() == before + 5
    readers[0].close()
    with readers[1] as r:
        r.next()
    assert count() == before + 3
    del readers, r
    assert count() == before
    """)


# ---- pools ----


def _one_shot() -> None:
    r = Reader(BINARY)
    while r.next() is not None:
        r.value()
    r.close()


def _one_shot_text() -> None:
    r = Reader(TEXT)
    while r.next() is not None:
        r.value()
    r.close()


def _incremental() -> None:
    r = Reader()
    for start in range(0, len(BINARY), 7):
        r.feed(BINARY[start : start + 7])
        while (kind := r.next()) is not None and kind is not ionfast.NEED_DATA:
            pass
    r.end()
    r.close()


def _file() -> None:
    with Reader(io.BytesIO(BINARY)) as r:
        list(r)


@pytest.mark.parametrize(
    "use", [_one_shot, _one_shot_text, _incremental, _file], ids=lambda use: use.__name__[1:]
)
def test_nothing_is_allocated_in_the_steady_state(use: Callable[[], None]) -> None:
    for _ in range(3):
        use()
    before = pools.stats()
    for _ in range(100):
        use()
    after = pools.stats()
    assert after["heap"]["allocs"] == before["heap"]["allocs"]
    assert after["decoders"]["hits"] - before["decoders"]["hits"] == 100
    assert after["decoders"]["misses"] == before["decoders"]["misses"]


def test_without_pools_each_reader_makes_and_frees_its_own() -> None:
    with pools.disabled():
        before = pools.stats()
        for _ in range(10):
            _one_shot()
        after = pools.stats()
    assert after["decoders"]["misses"] - before["decoders"]["misses"] == 10
    assert after["decoders"]["drops"] - before["decoders"]["drops"] == 10
    assert after["heap"]["live_bytes"] == before["heap"]["live_bytes"]
