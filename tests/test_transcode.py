"""ionfast.transcode: every vector survives both ways; sources, targets, errors, memory."""

from __future__ import annotations

import gc
import gzip
import io
import itertools
import pathlib
import random
import tracemalloc
import zlib
from collections.abc import Iterator
from typing import Any

import pytest

import ionfast
import vectors
from ionfast import (
    Catalog,
    IonError,
    SharedSymbolTable,
    dumps,
    dumps_all,
    loads_all,
    pools,
    transcode,
)
from ionfast.equivalence import ion_equals

IVM = b"\xe0\x01\x00\xea"
FORMS: list[dict[str, Any]] = [{"binary": True}, {"binary": False}, {"binary": False, "indent": 2}]


@pytest.fixture(autouse=True)
def _everything_goes_back() -> Iterator[None]:
    before = taken()
    if any(before):  # something that an earlier test left to the collector
        gc.collect()
        before = taken()
    yield
    gc.collect()
    assert taken() == before


def taken() -> list[int]:
    """How many objects are out of their pools."""
    stats = pools.stats()
    names = ("encoders", "decoders", "buffers", "string_decoders")
    return [stats[name]["takes"] - stats[name]["gives"] for name in names]


class Pieces(io.RawIOBase):
    """A file that gives and takes `size` bytes at a time."""

    def __init__(self, data: bytes = b"", size: int = 7) -> None:
        self.left, self.size, self.written = data, size, b""

    def read(self, size: int = -1) -> bytes:
        piece, self.left = self.left[: self.size], self.left[self.size :]
        return piece

    def write(self, data: Any) -> int:
        piece = bytes(data[: self.size])
        self.written += piece
        return len(piece)


# ---- every valid input, every way ----


class Sink(io.RawIOBase):
    """Drops what is written, and counts its bytes."""

    total = 0

    def write(self, data: Any) -> int:
        self.total += len(data)
        return len(data)



@vectors.parametrize("good")
def test_vectors_survive(vector: str) -> None:
    data = vectors.read(vector)
    values = loads_all(data)
    for form, back in itertools.product(FORMS, FORMS):
        once = transcode(data, **form)
        assert isinstance(once, bytes if form["binary"] else str)
        assert ion_equals(loads_all(once), values)
        twice = transcode(once, **back)
        assert ion_equals(loads_all(twice), values)
        assert transcode(twice, **back) == twice


@vectors.parametrize("good")
def test_vectors_survive_in_pieces(vector: str) -> None:
    data = vectors.read(vector)
    values = loads_all(data)
    for form, size in itertools.product(FORMS, (1, 1000)):
        source, target = Pieces(data, size), Pieces(b"", 5)
        assert transcode(source, target, auto_flush=1, **form) == len(values)
        assert ion_equals(loads_all(target.written), values)


@vectors.parametrize("bad")
def test_bad_vectors_are_refused_as_by_loads(vector: str) -> None:
    data = vectors.read(vector)
    with pytest.raises(IonError) as wanted:
        loads_all(data)
    for form in FORMS:
        with pytest.raises(IonError) as info:
            transcode(data, **form)
        assert str(info.value) == str(wanted.value)
        assert info.value.offset == wanted.value.offset


def test_what_dumps_all_would_give() -> None:
    values = [{"a": [1, 2.5, None], "b": "h\u00e9"}, ionfast.Symbol("a"), [b"x" * 300]]
    for source_form in FORMS:
        for form in FORMS:
            data = dumps_all(values, **source_form)
            assert transcode(data, **form) == dumps_all(values, **form)


def test_options_of_the_output() -> None:
    assert transcode("[1]", binary=False) == "$ion_1_0 [1]"
    assert transcode("[1]", binary=False, omit_version_marker=True) == "[1]"
    assert transcode("a [1]", binary=False, indent="\t") == "$ion_1_0\na\n[\n\t1\n]"
    assert transcode("") == IVM
    assert transcode("", binary=False) == "$ion_1_0"
    assert transcode("", binary=False, omit_version_marker=True) == ""


# ---- symbols ----


def test_what_the_catalog_knows_is_spelled_out() -> None:
    table = SharedSymbolTable("fruits", 1, ["apple", "pear"])
    data = dumps({"apple": 1, "pear": 2, "fig": 3}, imports=[table])
    with_catalog = transcode(data, catalog=Catalog([table]))
    assert with_catalog == dumps({"apple": 1, "pear": 2, "fig": 3})
    without = transcode(data)
    assert ion_equals(loads_all(without), loads_all(data))
    assert loads_all(without, catalog=Catalog([table])) == [{"apple": 1, "pear": 2, "fig": 3}]
    assert "fruits" in transcode(data, binary=False)


def test_unknown_symbols_of_one_import_after_another() -> None:
    import_ = "$ion_symbol_table::{imports:[%s]} "
    fruits, tools = '{name:"fruits",version:1,max_id:3}', '{name:"tools",version:1,max_id:2}'
    source = import_ % fruits + "$12 " + import_ % f"{tools},{fruits}" + "{$11:$10} " + "$0 a::$14"
    for form, flush in itertools.product(FORMS, (False, 1)):
        assert ion_equals(
            loads_all(transcode(source, auto_flush=flush, **form)), loads_all(source)
        )


@pytest.mark.parametrize("flush", [False, 1])
def test_given_imports(flush: Any) -> None:
    table = SharedSymbolTable("fruits", 2, ["apple", "pear"])
    catalog = Catalog([table])
    values: list[Any] = [{"apple": 1, "fig": 2}, ionfast.Symbol("pear")]
    wanted = dumps_all(values, imports=[table])
    for form in FORMS:
        data = dumps_all(values, **form)
        for imports in ([table], ["fruits"], [("fruits", 2)]):
            got = transcode(data, imports=imports, catalog=catalog, auto_flush=flush)
            assert flush or got == wanted
            assert b"apple" not in got
            assert loads_all(got, catalog=catalog) == values
        # Text spells its symbols; what it is given is still checked.
        assert transcode(data, imports=[table], binary=False) == dumps_all(values, binary=False)


def test_given_imports_beside_those_of_the_source() -> None:
    fruits = SharedSymbolTable("fruits", 2, ["apple", "pear", "fig"])
    catalog = Catalog([fruits])
    import_ = "$ion_symbol_table::{imports:[%s]} "
    source = (
        import_ % '{name:"tools",version:1,max_id:2}'
        + "$10 apple "
        + import_ % '{name:"fruits",version:1,max_id:3},{name:"nuts",version:4,max_id:9}'
        + "{$10:$12,$21:fig} "
        + import_ % '{name:"fruits",version:1,max_id:7}'
        + "pear $16"
    )
    for flush in (False, 1):
        data = transcode(source, imports=[fruits], auto_flush=flush)
        assert not [text for text in (b"apple", b"pear", b"fig") if text in data]
        wanted = loads_all(source.replace("{$10:$12", "{apple:fig"))
        assert all(map(ion_equals, loads_all(data, catalog=catalog), wanted))


def test_an_import_costs_what_is_used_of_it() -> None:
    source = '$ion_symbol_table::{imports:[{name:"x",version:1,max_id:1000000000}]} $1000000009'
    tracemalloc.start()
    for form in FORMS:
        assert ion_equals(loads_all(transcode(source, **form)), loads_all(source))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200_000


# ---- sources and targets ----


def test_sources(tmp_path: pathlib.Path) -> None:
    text = "{a:1} '\u00e9'"
    binary = transcode(text)
    path = tmp_path / "a.ion"
    for data in (text.encode(), binary, gzip.compress(binary), gzip.compress(text.encode())):
        path.write_bytes(data)
        for source in (data, bytearray(data), memoryview(data), path, io.BytesIO(data)):
            assert transcode(source) == binary
    assert transcode(io.StringIO(text)) == binary
    with pytest.raises(IonError):
        transcode(gzip.compress(binary), compression=None)
    for wrong in (None, 5, object()):
        with pytest.raises(TypeError):
            transcode(wrong)  # type: ignore[arg-type]


def test_targets(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.ion"
    for target in (path, str(path)):
        assert transcode("1 [2] three", target) == 3
        assert path.read_bytes() == transcode("1 [2] three")
        assert transcode("1 '\u00e9'", target, binary=False) == 2
        assert path.read_text("utf-8") == "$ion_1_0 1 '\u00e9'"
    file = io.StringIO()
    assert transcode("1 '\u00e9'", file, binary=False) == 2
    assert file.getvalue() == "$ion_1_0 1 '\u00e9'"
    with pytest.raises(TypeError, match="binary mode"):
        transcode("1", file)
    with pytest.raises(TypeError, match="a path or a file object"):
        transcode("1", 5)  # type: ignore[arg-type]


def test_a_wrong_source_leaves_the_target(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.ion"
    path.write_bytes(b"kept")
    with pytest.raises(TypeError):
        transcode(5, path)  # type: ignore[arg-type]
    with pytest.raises(FileNotFoundError):
        transcode(tmp_path / "missing", path)
    assert path.read_bytes() == b"kept"


@pytest.mark.parametrize("as_file", [False, True])
def test_the_file_that_is_read_is_no_target(as_file: bool, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.ion"
    (tmp_path / "link").symlink_to(path)
    path.write_text("1 2 3")
    for target in (path, str(path), tmp_path / "link"):
        with (
            path.open("rb") as file,
            pytest.raises(ValueError, match="the target is the file that is being read"),
        ):
            transcode(file if as_file else path, target)
        assert path.read_text() == "1 2 3"
    assert transcode(path, tmp_path / "b.ion") == 3
    with pathlib.Path("/dev/null").open("rb") as file:
        assert transcode(file, "/dev/null") == 0


def test_wrong_arguments() -> None:
    with pytest.raises(TypeError):
        transcode()  # type: ignore[call-overload]
    with pytest.raises(TypeError):
        transcode("1", None, None)  # type: ignore[call-overload]
    for name in ("nonsense", "model", "preallocate"):
        with pytest.raises(TypeError, match=name):
            transcode("1", **{name: 1})  # type: ignore[call-overload]


# ---- errors ----


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("auto_flush", [False, 1])
def test_values_before_an_error_are_written(form: dict[str, Any], auto_flush: Any) -> None:
    target = io.BytesIO()
    with pytest.raises(IonError, match="line 1, column 16"):
        transcode("1 two a::{b:[3 ? ]} 4", target, auto_flush=auto_flush, **form)
    assert loads_all(target.getvalue()) == [1, "two"]


def test_limits() -> None:
    assert transcode("[[[]]]", max_depth=3) == IVM + b"\xb2\xb1\xb0"
    with pytest.raises(IonError, match="max_depth"):
        transcode("[[[]]]", max_depth=2)
    with pytest.raises(IonError, match="max_value_size"):
        transcode("'aaaaaaaaaaaaaaaaa'", max_value_size=10)
    deep = "[" * 100_000 + "]" * 100_000
    binary = transcode(deep, max_depth=None)
    assert transcode(binary, binary=False, omit_version_marker=True, max_depth=None) == deep


@pytest.mark.parametrize("error", [KeyError("mine"), KeyboardInterrupt()], ids=repr)
def test_errors_of_files_come_through(error: BaseException) -> None:
    class Broken(Pieces):
        def read(self, size: int = -1) -> bytes:
            if not self.left:
                raise error
            return super().read(size)

    class Full(Pieces):
        def write(self, data: Any) -> int:
            if self.written:
                raise error
            return super().write(data)

    target = Pieces(b"", 1000)
    with pytest.raises(type(error)) as info:
        transcode(Broken(b"1 2 [3"), target)
    assert info.value is error
    assert loads_all(target.written) == [1, 2]
    target = Full(b"", 1000)
    with pytest.raises(type(error)) as info:
        transcode("1 2 3", target, auto_flush=1)
    assert info.value is error
    assert loads_all(target.written) == [1]


def test_inside_each_other() -> None:
    class Target(io.RawIOBase):
        def write(self, data: Any) -> int:
            inner.append(transcode(bytes(data), binary=False))
            return len(data)

    inner: list[str] = []
    assert transcode("1 2", Target(), auto_flush=5) == 2
    assert inner == ["$ion_1_0 1 2"]


# ---- memory ----


def test_memory_is_bounded() -> None:
    line = b'{id:12345,name:"nnnnnnnnnnnnnnnnnnnnnnnn",tags:[a,b,c],more:{x:1.5,y:2024-05-06T}}\n'
    count = 100_000

    class Source(io.RawIOBase):
        left = count

        def read(self, size: int = -1) -> bytes:
            lines = min(500, self.left)
            self.left -= lines
            return line * lines

    for form in FORMS:
        sink = Sink()
        tracemalloc.start()
        assert transcode(Source(), sink, **form) == count
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert sink.total > count * 40
        assert peak < 1_500_000


@pytest.mark.parametrize("kind", ["gzip", "imports"])
def test_memory_is_bounded_whatever_the_source(kind: str) -> None:
    """A gzip file; and a stream whose every block, smaller than the output's, brings another import."""
    count = 1000
    random_ = random.Random(7)
    line = b"{id:%d,name:'nnnnnnnnnnnnnnnnnnnnnnnn',tags:[a,b,c],more:{x:1.5,y:2024-05-06T}}\n"
    table = b'$ion_symbol_table::{imports:[{name:"t%d",version:1,max_id:99}]} $10 {$11:$12}\n'
    made = [
        b"".join(line % random_.randrange(10**16) for _ in range(200)) for _ in range(7)
    ]  # more than gzip looks back
    known = SharedSymbolTable("known", 1, ["id", "name", "tags", "a", "b", "c"])

    def blocks() -> Iterator[bytes]:
        packer = zlib.compressobj(1, wbits=31)
        for i in range(count):
            block = made[i % 7] + (table % i if kind == "imports" else b"")
            yield packer.compress(block) if kind == "gzip" else block
        yield packer.flush() if kind == "gzip" else b""

    class Source(io.RawIOBase):
        def __init__(self) -> None:
            self.parts = filter(None, blocks())

            self.rest = b""

        def read(self, size: int = -1) -> bytes:
            self.rest = self.rest or next(self.parts, b"")
            piece, self.rest = self.rest[:size], self.rest[size:]
            return piece

    for form in FORMS:
        sink = Sink()
        tracemalloc.start()
        values = transcode(Source(), sink, imports=[known], **form)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert values == count * (200 if kind == "gzip" else 202)
        assert sink.total > 5_000_000
        assert peak < 1_500_000


def test_no_object_is_made_of_any_value() -> None:
    data = dumps_all([{"a": i, "b": [str(i)]} for i in range(20_000)])
    for form in FORMS:
        target = io.BytesIO(bytes(5_000_000))
        transcode(data, target, **form)
        before = pools.stats()["heap"]["allocs"]
        tracemalloc.start()
        target.seek(0)
        transcode(data, target, **form)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert pools.stats()["heap"]["allocs"] - before < 20
        assert peak < 400_000


@pytest.mark.parametrize("binary", [True, False], ids=["binary", "text"])
def test_a_gap_of_a_local_table_is_no_symbol_zero(binary: bool) -> None:
    """symbols.md: "SID 0 is only equivalent to itself"; gaps of local tables equal one another."""
    source = (
        "$ion_symbol_table::{symbols:[null, \"a\", null]} $10 {$12: $11, $0: $10::1} $0 "
        "$ion_symbol_table::{imports:$ion_symbol_table, symbols:[null]} $13 b "
        "$ion_symbol_table::{symbols:[\"c\"]} $10 "
        "$ion_symbol_table::{imports:$ion_symbol_table, symbols:[null]} ($11 $10)"
    )
    wanted = ionfast.loads_all(source)
    for form in (source, ionfast.transcode(source, binary=not binary)):
        values = ionfast.loads_all(ionfast.transcode(form, binary=binary))
        assert len(values) == len(wanted) == 7
        assert all(map(ion_equals, values, wanted))
        assert not ion_equals(values[0], values[2])
