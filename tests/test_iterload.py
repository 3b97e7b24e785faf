"""`ionfast.iterload`: values one by one, in memory bounded by the largest, the too large passed over."""

from __future__ import annotations

import gzip
import io
import pathlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import ionfast
import leaks
import scenarios
import vectors
from ionfast import IonError, Reader, iterload
from ionfast.equivalence import ion_equals

RECORD = {"id": 7, "name": "a name", "tags": ["x", "y"]}


class Stream:
    """A file of a head and so many repeats of a body, made as it is read."""

    def __init__(self, head: bytes, body: bytes, repeats: int, tail: bytes = b"") -> None:
        self.parts = self._parts(head, body, repeats, tail)
        self.rest = b""

    @staticmethod
    def _parts(head: bytes, body: bytes, repeats: int, tail: bytes) -> Iterator[bytes]:
        yield head
        block = body * max(1, 65536 // len(body))
        count = len(block) // len(body)
        for _ in range(repeats // count):
            yield block
        yield body * (repeats % count) + tail

    def read(self, size: int) -> bytes:
        while not self.rest:
            part = next(self.parts, None)
            if part is None:
                return b""
            self.rest = part
        piece, self.rest = self.rest[:size], self.rest[size:]
        return piece


def _records(binary: bool, count: int) -> Stream:
    data: Any = ionfast.dumps_all([RECORD, RECORD], binary=binary)
    data = data if isinstance(data, bytes) else data.encode() + b"\n"
    one: Any = ionfast.dumps_all([RECORD], binary=binary)
    one = one if isinstance(one, bytes) else one.encode() + b"\n"
    body = data[len(one) :]
    return Stream(data[: len(data) - 2 * len(body)], body, count)


# ---- sources ----


def test_bytes_are_a_source_too() -> None:
    data = ionfast.dumps_all([1, RECORD])
    for source in (data, bytearray(data), memoryview(data), gzip.compress(data)):
        assert list(iterload(source)) == [1, RECORD]


@pytest.mark.parametrize("source", [None, 5, ["1"]])
def test_what_is_no_source(source: Any) -> None:
    with pytest.raises(TypeError, match="a path or a file object is needed"):
        iterload(source)


def test_options_reach_the_reader() -> None:
    values = iterload(io.BytesIO(b"a::1 null.int"), model="plain")
    assert list(values) == [1, None]
    with pytest.raises(IonError, match="max_depth"):
        list(iterload(io.BytesIO(b"[[1]]"), max_depth=1))
    with pytest.raises(TypeError, match="nonsense"):
        iterload(io.BytesIO(b"1"), nonsense=1)


class Pieces:
    """A file that gives so many bytes at a time."""

    def __init__(self, data: bytes, size: int) -> None:
        self.file = io.BytesIO(data)
        self.size = size

    def read(self, size: int) -> bytes:
        return self.file.read(self.size)


@vectors.parametrize("")
def test_vectors_from_files_that_give_little(vector: str) -> None:
    """The same values as from memory, or the same error at the same place."""
    data = vectors.read(vector)

    def outcome(read: Callable[[], list[Any]]) -> tuple[list[Any], str, int | None]:
        try:
            return read(), "", None
        except IonError as error:
            return [], str(error), error.offset

    wanted = outcome(lambda: ionfast.loads_all(data))
    for size in (1, 2, 3, 7, 4096):
        if len(data) > 200_000 and size < 100:
            continue
        got = outcome(lambda size=size: list(iterload(Pieces(data, size))))
        assert got[1:] == wanted[1:], size
        assert len(got[0]) == len(wanted[0])
        assert all(map(ion_equals, got[0], wanted[0])), size


# ---- memory ----


@pytest.mark.parametrize("binary", [False, True], ids=["text", "binary"])
def test_memory_does_not_grow_with_the_stream(binary: bool) -> None:
    small, large = (
        scenarios.peak_bytes(lambda n=n: sum(1 for _ in iterload(_records(binary, n))))
        for n in (5_000, 50_000)
    )
    assert large < small + 100_000


@scenarios.not_sanitized
@pytest.mark.parametrize("kind", ["binary", "text", "gzip"])
def test_fifty_megabytes_grow_the_process_by_little(kind: str) -> None:
    grown = scenarios.run_python(f"""
    import resource, sys, zlib
    sys.path.insert(0, {str(pathlib.Path(__file__).parent)!r})
    from test_iterload import _records

    class Packed:
        def __init__(self, raw):
            self.raw, self.packer = raw, zlib.compressobj(1, wbits=31)
            self.ended = False
        def read(self, size):
            out = b""
            while not out and not self.ended:
                data = self.raw.read(1 << 16)
                self.ended = not data
                out = self.packer.compress(data) if data else self.packer.flush()
            return out

    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * resource.getpagesize()

    kind = {kind!r}
    make = lambda n: Packed(_records(True, n)) if kind == "gzip" else _records(kind == "binary", n)
    count = 50_000_000 // 30
    sum(1 for _ in ionfast.iterload(make(10_000)))
    before = resident()
    assert sum(1 for _ in ionfast.iterload(make(count))) == count
    print(resident() - before)
    """)
    assert int(grown) < (16_000_000 if scenarios.HAS_GIL else 48_000_000)


# ---- values that are too large ----


def test_a_value_that_is_too_large_is_an_error_with_size_and_offset() -> None:
    data = ionfast.dumps_all([1, "x" * 100])
    values = iterload(io.BytesIO(data), max_value_size=50)
    assert next(values) == 1
    with pytest.raises(IonError) as info:
        next(values)
    assert (
        str(info.value) == "offset 6: a value is larger than max_value_size: 102 bytes, limit 50"
    )
    values = iterload(io.BytesIO(b"1\n  [2, 3, 4]"), max_value_size=5)
    assert next(values) == 1
    with pytest.raises(IonError) as info:
        next(values)
    assert str(info.value) == (
        "line 2, column 3 (offset 4): a value is larger than max_value_size"
    )


# Values, each with what it is and what follows it.
TEXT: list[tuple[str, Any, str]] = [
    ("1", 1, " "),
    ('a::b::"0123456789"', "0123456789", " "),
    ("2", 2, " // ] end\n"),
    ("[10, {x: ']'}, \"]\", (/*)*/ a)]", [10, {"x": "]"}, "]", ["a"]], " /* [ */ "),
    ("'long enough symbol'", "long enough symbol", "\n"),
    ("3", 3, " "),
    ("'''one''' /* c */ '''two'''", "onetwo", " "),
    ('{{ "}}" }}', b"}}", " "),
    ("{{QUJDREVGR0hJ}}", b"ABCDEFGHI", " "),
    ("1.00000000000000000001e0", 1.0, "//]\n"),
    ("long_symbol::another::null.timestamp", None, " "),
    ("4", 4, " "),
    ("{a: '''}''', 'b}' : {{'''}}'''}}}", {"a": "}", "b}": b"}}"}, " "),
    ("null.int", None, " "),
    ("5", 5, ""),
]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 4096])
@pytest.mark.parametrize("limit", [9, 12, 20, 30])
def test_text_values_that_are_too_large_are_passed_over(size: int, limit: int) -> None:
    data = "".join(text + after for text, _, after in TEXT).encode()
    told: list[tuple[int, int]] = []
    values = list(
        iterload(
            Pieces(data, size),  # type: ignore[arg-type]
            model="plain",
            max_value_size=limit,
            on_oversized=lambda length, offset: told.append((length, offset)),
        )
    )
    small, large, offset = [], [], 0
    for text, value, after in TEXT:
        place = (len(text), offset)
        if len(text) > limit:
            large.append(place)
        if place not in told:
            small.append(value)
        offset += len(text + after)
    # What follows a symbol or a long string counts too, as far as it must be looked at.
    assert [place for place in told if place[0] > limit] == large
    assert values == small
    assert len(told) <= len(large) + 2


@pytest.mark.parametrize("size", [1, 2, 3, 7, 4096])
def test_binary_values_that_are_too_large_are_passed_over(size: int) -> None:
    records: list[Any] = [1, "s" * 100, [1, ["z" * 90]], 2, b"q" * 1000, {"name": "b" * 60}, 3]
    told: list[tuple[int, int]] = []
    values = iterload(
        Pieces(ionfast.dumps_all(records), size),  # type: ignore[arg-type]
        max_value_size=40,
        on_oversized=lambda length, offset: told.append((length, offset)),
    )
    assert list(values) == [1, 2, 3]
    assert [length for length, _ in told] == [102, 98, 1003, 65]
    assert [offset - told[0][1] for _, offset in told] == [0, 102, 202, 1205]


@pytest.mark.parametrize("binary", [False, True], ids=["text", "binary"])
def test_a_huge_value_is_passed_over_in_little_memory(binary: bool) -> None:
    size = 20_000_000
    if binary:
        length = bytes((size >> 21 & 127, size >> 14 & 127, size >> 7 & 127, size & 127 | 128))
        stream = Stream(b"\xe0\x01\x00\xea\x21\x01\x8e" + length, b"x" * 1000, 20_000, b"\x21\x02")
    else:
        stream = Stream(b"1 [", b"'x,'," * 200, 20_000, b"] 2")
    told: list[tuple[int, int]] = []
    values: list[Any] = []

    def run() -> None:
        values.extend(
            iterload(
                stream,  # type: ignore[arg-type]
                max_value_size=100_000,
                on_oversized=lambda length, offset: told.append((length, offset)),
            )
        )

    assert scenarios.peak_bytes(run) < 4_000_000
    assert values == [1, 2]
    assert told == ([(size + 5, 6)] if binary else [(size + 2, 2)])


def test_what_the_callback_raises_comes_out_and_reading_can_go_on() -> None:
    error = KeyError("mine")

    def refuse(size: int, offset: int) -> None:
        raise error

    reader = Reader("1 [2, 3, 4, 5] 6", max_value_size=5, on_oversized=refuse)
    assert next(reader) == 1
    with pytest.raises(KeyError) as info:
        next(reader)
    assert info.value is error
    assert next(reader) == 6


def test_the_callback_cannot_use_the_reader() -> None:
    refused: list[str] = []
    reader: Reader

    def enter(size: int, offset: int) -> None:
        for call in (reader.next, reader.close):
            try:
                call()
            except RuntimeError as error:
                refused.append(str(error))

    reader = Reader("1 [2, 3, 4, 5] 6", max_value_size=5, on_oversized=enter)
    assert list(reader) == [1, 6]
    assert refused == ["the reader is in use by another call"] * 2


def test_next_passes_over_too_but_value_and_walks_raise() -> None:
    told: list[tuple[int, int]] = []
    reader = Reader(
        "'0123456789' [1, 2, 3, 4] 5",
        max_value_size=6,
        on_oversized=lambda *place: told.append(place),
    )
    assert reader.next() is ionfast.IonType.LIST
    assert told == [(12, 0)]
    with pytest.raises(IonError, match="larger than max_value_size"):
        reader.value()
    assert (reader.next(), reader.value()) == (ionfast.IonType.INT, 5)
    assert told == [(12, 0), (12, 13)]


@pytest.mark.parametrize("size", [1, 7, 4096])
@pytest.mark.parametrize(
    "data",
    [
        b'$ion_symbol_table::{symbols:["a", "b"]} $10',
        b"'$ion_symbol_table' :: {symbols:[\"a\"]} $10",
        b'$3::{symbols:["a", "b", "c"]} $10',
        ionfast.dumps({"a field name": 1}),
    ],
)
def test_a_symbol_table_is_never_passed_over(data: bytes, size: int) -> None:
    values = iterload(
        Pieces(data, size),  # type: ignore[arg-type]
        max_value_size=10,
        on_oversized=lambda *place: None,
    )
    with pytest.raises(IonError, match="a symbol table is larger than max_value_size") as info:
        next(values)
    assert info.value.offset == (4 if data[0] == 0xE0 else 0)


@pytest.mark.parametrize(
    ("data", "offset"), [(b'1 ["0123456789', 14), (b"\xe0\x01\x00\xea\x8e\x90abc", 9)]
)
def test_a_large_value_without_an_end(data: bytes, offset: int) -> None:
    values = iterload(io.BytesIO(data), max_value_size=5, on_oversized=lambda *place: None)
    with pytest.raises(IonError, match="the input ends inside a value") as info:
        list(values)
    assert info.value.offset == offset


# ---- life ----


def _broken_off() -> None:
    for value in iterload(_records(True, 10)):
        assert value == RECORD
        break


def _never_begun() -> None:
    iterload(io.BytesIO(b"1"))


def _closed() -> None:
    values: Any = iterload(io.BytesIO(b"1 2 3"))
    next(values)
    values.close()
    assert list(values) == []


def _callback_raises() -> None:
    def refuse(size: int, offset: int) -> None:
        raise KeyError(size)

    with pytest.raises(KeyError):
        list(iterload(b"1 [2, 3, 4]", max_value_size=3, on_oversized=refuse))


def _callback_knows_the_reader() -> None:
    told: list[Any] = []
    values = iterload(b"1 [2, 3]", max_value_size=3, on_oversized=lambda *a: told.append(values))
    assert next(values) == 1


@pytest.mark.parametrize(
    "life",
    [_broken_off, _never_begun, _closed, _callback_raises],
    ids=lambda life: life.__name__[1:],
)
def test_no_life_of_an_iterator_leaks(life: Callable[[], None]) -> None:
    leaks.assert_flat(life, Reader)


def test_a_callback_that_knows_its_reader_is_collected(monkeypatch: pytest.MonkeyPatch) -> None:
    import gc

    monkeypatch.setattr(leaks, "WARM_UP", 10)
    monkeypatch.setattr(leaks, "REPEATS", 50)

    def use() -> None:
        _callback_knows_the_reader()
        gc.collect()

    leaks.assert_flat(use, Reader)
