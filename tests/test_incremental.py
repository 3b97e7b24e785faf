"""Reading in pieces: a `Reader` that is fed, cut at any byte, gives what `loads_all` gives.

Each public vector is fed in pieces of several sizes and read in two ways, value by value and token by
token; errors must have the same offset and text.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import ccompiler
import ionfast
import vectors
from ionfast import NEED_DATA, IonError, IonType, Reader, Symbol, pools
from ionfast.equivalence import ion_equals

PIECES = (1, 2, 3, 7, 4096)

# Vectors of more bytes than this are left to the larger pieces.
LARGE = 200_000

Outcome = tuple[list[Any] | None, int | None, str | None]


class Feeder:
    """A reader and the bytes that it has not been given yet."""

    def __init__(self, data: bytes | str, size: int, **options: Any) -> None:
        self.reader = Reader(**options)
        self.data = data
        self.size = size
        self.position = 0
        self.waits = 0

    def wait_for(self, call: Callable[[], Any]) -> Any:
        """The call's answer, feeding for as long as it needs data."""
        while (answer := call()) is NEED_DATA:
            self.waits += 1
            if self.position < len(self.data):
                self.reader.feed(self.data[self.position : self.position + self.size])
                self.position += self.size
            else:
                self.reader.end()
        return answer

    def read_all(self) -> list[Any]:
        """The values that are left, each taken whole."""
        values = []
        while self.wait_for(self.reader.next) is not None:
            values.append(self.wait_for(self.reader.value))
        return values


def outcome_of(read: Callable[[], list[Any]]) -> Outcome:
    """The values; or the error's offset and text."""
    try:
        return read(), None, None
    except IonError as error:
        return None, error.offset, str(error)


def by_values(data: bytes | str, size: int, **options: Any) -> list[Any]:
    """All values, each taken whole."""
    feeder = Feeder(data, size, **options)
    values = feeder.read_all()
    feeder.reader.close()
    return values


def by_iteration(data: bytes | str, size: int, **options: Any) -> list[Any]:
    """All values, by next(reader)."""
    feeder = Feeder(data, size, **options)
    end = object()
    values = []
    while (value := feeder.wait_for(lambda: next(feeder.reader, end))) is not end:
        values.append(value)
    return values


def walk(feeder: Feeder) -> Iterator[tuple[Any, ...]]:
    """Every token, containers stepped into."""
    reader = feeder.reader
    while True:
        kind = feeder.wait_for(reader.next)
        if kind is None:
            if reader.depth == 0:
                return
            reader.step_out()
            yield ("end",)
            continue
        names = (kind, reader.field_name, reader.annotations, reader.offset, reader.is_null)
        if kind >= IonType.LIST and not reader.is_null:
            yield names
            reader.step_in()
        else:
            yield (*names, repr(reader.value()))


def same(left: Outcome, right: Outcome) -> bool:
    """Are two outcomes equal as Ion?"""
    if left[0] is None or right[0] is None:
        return left == right
    return len(left[0]) == len(right[0]) and all(map(ion_equals, left[0], right[0]))


@vectors.parametrize("")
def test_vectors_in_pieces(vector: str) -> None:
    data = vectors.read(vector)
    whole = outcome_of(lambda: ionfast.loads_all(data))
    for size in PIECES:
        if len(data) > LARGE and size < 100:
            continue
        pieces = outcome_of(lambda size=size: by_values(data, size))
        assert same(pieces, whole), (size, pieces, whole)
        iterated = outcome_of(lambda size=size: by_iteration(data, size))
        assert same(iterated, whole), (size, iterated, whole)


@vectors.parametrize("")
def test_vectors_token_by_token_in_pieces(vector: str) -> None:
    data = vectors.read(vector)
    if len(data) > LARGE:
        pytest.skip("too large to be cut into single bytes twice")

    def tokens(size: int) -> Outcome:
        return outcome_of(lambda: list(walk(Feeder(data, size))))

    whole = tokens(len(data) + 1)
    for size in PIECES:
        assert tokens(size) == whole, size
    # The first error is met on the way, whether values are made or not.
    by_value = outcome_of(lambda: ionfast.loads_all(data))
    assert (whole[1], whole[2]) == (by_value[1], by_value[2])


DOCUMENT = (
    "$ion_1_0 /* c */ $ion_symbol_table::{symbols:[\"ab\"]} {a: ann::'q s'::[1, -2.50, 3e0], "
    "'b': \"é\\n\", c: '''l''' /**/ '''m'''} $10 (+ 2003-04-05T06:07Z {{aGk=}} {{'''x'''}}) "
    "null.int nan // end\n'last'"
)
DOCUMENTS = [DOCUMENT.encode(), ionfast.dumps_all(ionfast.loads_all(DOCUMENT))]


@pytest.mark.parametrize("data", DOCUMENTS, ids=["text", "binary"])
def test_cut_once_at_each_byte(data: bytes) -> None:
    wanted = ionfast.loads_all(data)
    for cut in range(len(data) + 1):
        r = Reader()
        r.feed(data[:cut])
        values = []
        while (kind := r.next()) is not None:
            if kind is not NEED_DATA:
                value = r.value()
                if value is not NEED_DATA:
                    values.append(value)
                    continue
            assert len(values) <= len(wanted)
            assert all(map(ion_equals, values, wanted)), cut
            r.feed(data[cut:])
            r.end()
            if kind is not NEED_DATA:
                values.append(r.value())
        assert len(values) == len(wanted)
        assert all(map(ion_equals, values, wanted)), cut


@pytest.mark.parametrize("data", DOCUMENTS, ids=["text", "binary"])
@pytest.mark.parametrize("size", PIECES)
def test_leaving_a_container_at_each_token(data: bytes, size: int) -> None:
    wanted = ionfast.loads_all(data)[1:]
    for tokens in range(8):
        feeder = Feeder(data, size)
        r = feeder.reader
        assert feeder.wait_for(r.next) is IonType.STRUCT
        r.step_in()
        for _ in range(tokens):
            kind = feeder.wait_for(r.next)
            if kind is None:
                break
            if kind is IonType.LIST:
                r.step_in()
        while r.depth:
            r.step_out()
        rest = []
        while feeder.wait_for(r.next) is not None:
            rest.append(feeder.wait_for(r.value))
        assert all(map(ion_equals, rest, wanted))
        assert len(rest) == len(wanted)


@pytest.mark.parametrize("data", DOCUMENTS, ids=["text", "binary"])
def test_next_after_part_of_a_value(data: bytes) -> None:
    wanted = ionfast.loads_all(data)[1:]
    for given in range(len(data)):
        r = Reader()
        r.feed(data[:given])
        if r.next() is not IonType.STRUCT or r.value() is not NEED_DATA:
            continue
        r.feed(data[given:])
        r.end()
        values = []
        while r.next() is not None:
            values.append(r.value())
        assert len(values) == len(wanted)
        assert all(map(ion_equals, values, wanted))


def test_half_a_value_is_never_reported() -> None:
    r = Reader(None)
    for piece in (b"12", b"3", b"4"):
        assert r.next() is NEED_DATA
        assert r.type is None
        r.feed(piece)
    assert r.next() is NEED_DATA
    r.feed(b" tru")
    assert (r.next(), r.value()) == (IonType.INT, 1234)
    assert r.next() is NEED_DATA
    r.feed(b"e ")
    assert (r.next(), r.value()) == (IonType.BOOL, True)
    assert r.next() is NEED_DATA
    r.end()
    assert r.next() is None


def test_a_container_is_reported_before_its_end() -> None:
    r = Reader()
    r.feed(b"a::[1, {b:")
    assert (r.next(), r.annotations) == (IonType.LIST, (Symbol("a"),))
    r.step_in()
    assert (r.next(), r.value()) == (IonType.INT, 1)
    assert r.next() is IonType.STRUCT
    assert r.value() is NEED_DATA
    assert r.value() is NEED_DATA
    r.feed(b" 2")
    assert r.value() is NEED_DATA
    with pytest.raises(IonError, match="in the middle of the container"):
        r.step_in()
    r.feed(b"}, c]")
    assert r.value() == {"b": 2}
    assert (r.next(), r.value(), r.next()) == (IonType.SYMBOL, "c", None)


@pytest.mark.parametrize(
    ("data", "offset", "message"),
    [
        ("[1, 2", 5, "expected ',' or ']'|']' to end a list"),
        ('{a: "b', 6, "to end a string"),
        ("a::", 3, "expected a value"),
        ("{{aGk", 5, "the input ends inside"),
        ("'''x", 4, "long string"),
        ("/* never", 8, "comment"),
        ("[\n1,\n  2", 8, "line 3, column 4"),
        (bytes.fromhex("e00100ea 84 6162"), 7, "the input ends inside a value"),
        (bytes.fromhex("e00100ea b4 2101 21"), 8, "the input ends inside a value"),
        (bytes.fromhex("e001"), 2, "the input ends inside a value"),
        (bytes.fromhex("e00100ea ee"), 5, "the input ends inside a value"),
    ],
)
def test_end_in_the_middle_of_a_value(data: bytes | str, offset: int, message: str) -> None:
    for size in (1, 2, 100):
        feeder = Feeder(data, size)
        seen = []
        for _ in range(2):
            with pytest.raises(IonError, match=message) as info:
                feeder.read_all()
            seen.append(str(info.value))
            assert info.value.offset == offset
        assert seen[0] == seen[1]


def test_what_can_be_fed() -> None:
    r = Reader()
    changed = bytearray(b"[1")
    r.feed(changed)
    changed[1:] = b"9"
    r.feed(memoryview(b", 2"))
    r.feed(b"")
    r.feed(b"] ")
    assert next(r) == [1, 2]
    r = Reader()
    for character in "'\N{SNOWMAN}' \"é\" ":
        r.feed(character)
    r.end()
    assert [v for v in r if v is not NEED_DATA] == ["\N{SNOWMAN}", "é"]
    with pytest.raises(TypeError, match=r"feed\(\) takes a bytes-like object or str, not int"):
        Reader().feed(5)  # type: ignore[arg-type]


def test_nothing_follows_the_end() -> None:
    r = Reader()
    r.feed(b"1")
    r.end()
    r.end()
    with pytest.raises(IonError, match=r"feed\(\) at the top level: end\(\) has been called"):
        r.feed(b"2")
    assert list(r) == [1]


def test_binary_from_its_first_byte() -> None:
    data = ionfast.dumps_all(["foo", 7])
    for first in (1, 2, 4, 6, len(data)):
        for ends_early in (False, True):
            r = Reader()
            r.feed(b"")
            r.feed(data[:first])
            r.feed(data[first:])
            values = [] if ends_early else [r.next() and r.value()]
            r.end()
            values += list(r)
            assert values == ["foo", 7]
            assert (r.offset, r.next()) == (len(data), None)
    r = Reader()
    r.feed("\xe0")  # a str is text, whatever it begins with
    r.end()
    with pytest.raises(IonError):
        r.next()


def test_an_empty_stream() -> None:
    r = Reader()
    assert r.next() is NEED_DATA
    r.feed(b"")
    assert r.next() is NEED_DATA
    r.end()
    assert r.next() is None


@pytest.mark.parametrize("model", ["lossless", "plain", "ionpy"])
def test_options_of_a_fed_reader(model: Any) -> None:
    for data in DOCUMENTS:
        values = by_values(data, 3, model=model)
        assert list(map(repr, values)) == list(map(repr, ionfast.loads_all(data, model=model)))
    with pytest.raises(IonError, match="max_depth"):
        by_values(b"[[[]]]", 1, max_depth=2)


# ---- linear work ----


def _binary_annotations(count: int) -> bytes:
    """A string of `count` bytes with `count` annotations."""

    def varuint(value: int) -> bytes:
        return bytes((value >> 14 & 127, value >> 7 & 127, value & 127 | 128))

    text = b"\x8e" + varuint(count) + b"x" * count
    sids = varuint(count) + b"\x84" * count
    return b"\xe0\x01\x00\xea\xee" + varuint(len(sids) + len(text)) + sids + text


LONG: dict[str, Callable[[int], bytes]] = {
    "string": lambda n: b'"' + b"x" * n + b'"',
    "long string": lambda n: b"'''" + b"'x" * n + b"'''",
    "segments": lambda n: b"'''x''' " * n,
    "symbol": lambda n: b"'" + b"\\n" * n + b"'",
    "identifier": lambda n: b"x" * n,
    "number": lambda n: b"1" * n,
    "annotations": lambda n: b"a::" * n + b"1",
    "annotated string": lambda n: b"a::" * n + b'"' + b"x" * n + b'"',
    "blob": lambda n: b"{{" + b"QUJD" * n + b"}}",
    "clob": lambda n: b'{{ "' + b"x" * n + b'" }}',
    "block comment": lambda n: b"/*" + b"* " * n + b"*/ 1",
    "line comments": lambda n: b"//x\n" * n + b"1",
    "comments after a symbol": lambda n: b"x" + b"/**/" * n + b"1",
    "space": lambda n: b" " * n + b"1",
    "list": lambda n: b"[" + b"1," * n + b"]",
    "nested": lambda n: b"[" * 900 + b"{a: 1}" * n + b"]" * 900,
    "field name": lambda n: b"{" + b"x" * n + b" : 1}",
    "binary string": lambda n: ionfast.dumps("x" * n),
    "binary list": lambda n: ionfast.dumps([1] * n),
    "binary struct": lambda n: ionfast.dumps([{"field": "x" * 10}] * n),
    "binary symbol table": lambda n: ionfast.dumps([Symbol(f"s{i}") for i in range(n)]),
    "binary annotations": _binary_annotations,
}


@pytest.fixture(scope="module")
def counter(tmp_path_factory: pytest.TempPathFactory) -> Callable[[bytes], int]:
    """Counts the basic blocks that reading some bytes one at a time runs in the core."""
    if ccompiler.CC is None:
        pytest.skip("no C compiler")
    program = tmp_path_factory.mktemp("linear") / "linear"
    ccompiler.compile_c(
        "-std=c11", "-O1", "-fsanitize-coverage=trace-pc", "-I", ccompiler.CORE,
        ccompiler.C_TESTS / "linear.c", *sorted(ccompiler.CORE.glob("*.c")), "-lm", "-o", program,
    )  # fmt: skip

    def count(data: bytes) -> int:
        done = subprocess.run([program], input=data, capture_output=True, check=True)
        return int(done.stdout.split()[0])

    return count


@pytest.mark.parametrize("name", LONG)
def test_work_of_single_bytes_is_linear(name: str, counter: Callable[[bytes], int]) -> None:
    """Twice the input is twice the work, where a second look at each byte would make it four times."""
    small, large = (counter(LONG[name](n)) for n in (4_000, 8_000))
    assert large < 2.4 * small, (small, large)


@pytest.mark.parametrize("name", ["string", "blob", "list", "binary string", "binary list"])
def test_memory_of_single_bytes_is_linear(name: str) -> None:
    """What is asked of the allocator is a small multiple of the input, not a square of it."""
    data = LONG[name](20_000)
    with pools.disabled():
        before = pools.stats()["heap"]["total_bytes"]
        by_values(data, 1)
        asked = pools.stats()["heap"]["total_bytes"] - before
    assert asked < 40 * len(data) + 100_000
