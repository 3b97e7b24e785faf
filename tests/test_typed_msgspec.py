"""msgspec structs: renamed fields, tags, closed classes."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any, Generic, TypeVar

import pytest

import ionfast
from ionfast import Codec, Decoder, Field, ValidationError
from leaks import assert_flat

msgspec = pytest.importorskip("msgspec")

T = TypeVar("T")


class Cat(msgspec.Struct, tag=True):
    name: str
    lives: int = 9


class Dog(msgspec.Struct, tag=True):
    name: str
    tricks: list[str] = []  # noqa: RUF012 - msgspec copies it


class Get(msgspec.Struct, tag="get", tag_field="kind", frozen=True):
    key: str


class Put(msgspec.Struct, tag="put", tag_field="kind", forbid_unknown_fields=True):
    key: str
    value: Any


class One(msgspec.Struct, tag=1, tag_field="n", rename="camel"):
    some_name: int
    other: int = msgspec.field(default=0, name="x y")


class Two(msgspec.Struct, tag=2, tag_field="n"):
    left: One | Two | None = None


class Box(msgspec.Struct, Generic[T], tag=True, tag_field="b"):
    content: T


class Leaf(msgspec.Struct, tag=True, tag_field="b"):
    pass


class Closed(msgspec.Struct, forbid_unknown_fields=True):
    a: int


class Row(msgspec.Struct, array_like=True):
    a: int


class Measured(msgspec.Struct, tag="m"):
    width: Annotated[int, Field(annotation="cm")]


@dataclasses.dataclass
class Zoo:
    animals: list[Cat | Dog | None]
    star: Cat | Dog | None = None


def both(text: str) -> list[Any]:
    return [text, ionfast.dumps(ionfast.loads(text))]


def test_the_tag_is_written_first() -> None:
    values = [Cat("c"), Dog("d", ["sit"]), Get("k"), One(1, 2), Two(One(3)), Measured(3), Leaf()]
    for _ in range(2):
        assert ionfast.dumps(values, binary=False) == (
            '$ion_1_0 [{type:"Cat",name:"c",lives:9},{type:"Dog",name:"d",tricks:["sit"]},'
            "{kind:\"get\",key:\"k\"},{n:1,someName:1,'x y':2},{n:2,left:{n:1,someName:3,'x y':0}},"
            '{type:"m",width:cm::3},{b:"Leaf"}]'
        )
        assert ionfast.loads(ionfast.dumps(values)) == ionfast.loads(
            ionfast.dumps(values, binary=False, indent="  ")
        )


@pytest.mark.parametrize(
    ("tp", "values"),
    [
        (Cat | Dog, [Cat("c"), Dog("d", ["sit"]), Cat("c", 1)]),
        (Get | Put | None, [Get("k"), None, Put("k", [1, {"a": 2}])]),
        (One | Two | int, [One(1, 2), 7, Two(Two(One(3))), Two()]),
        (Box[int] | Leaf, [Box(1), Leaf()]),
        (Cat | Dog | One | None, None),
        (Cat, [Cat("c")]),
        (Measured, [Measured(3)]),
        (Zoo, [Zoo([Cat("c"), None, Dog("d")], Dog("e"))]),
    ],
    ids=str,
)
def test_there_and_back_again(tp: Any, values: list[Any] | None) -> None:
    if values is None:  # two tag fields, which cannot be told apart
        with pytest.raises(TypeError, match="no annotations tell them apart"):
            Decoder(tp)
        return
    for data in (ionfast.dumps(values), ionfast.dumps(values, binary=False)):
        again = ionfast.loads(data, type=list[tp])
        assert again == values
        assert list(map(type, again)) == list(map(type, values))


def test_the_fields_are_those_that_msgspec_itself_writes() -> None:
    for value in (
        Cat("c"),
        Dog("d", ["sit"]),
        Get("k"),
        Put("k", 1),
        One(1, 2),
        Two(Two()),
        Box(3),
    ):
        wanted = msgspec.to_builtins(value)
        for binary in (True, False):
            assert ionfast.loads(ionfast.dumps(value, binary=binary)) == wanted
        assert ionfast.loads(ionfast.dumps(wanted), type=type(value)) == value


@pytest.mark.parametrize(
    "text",
    [
        "{type: Dog, name: 'd', tricks: [a, b]}",
        "{name: 'd', type: \"Dog\", tricks: [a, b]}",
        "{tricks: [a, b], name: 'd', x: {y: [z, {{aGk=}}], type: Cat}, u: v::1.5, type: x::Dog}",
        "{tricks: /* [ */ ['''a''', \"\\x62\"], // {\n name: d, 'type': 'Dog'}",
        "{w: null.list, w: (+ - {type: Cat}), name: d, tricks: [a, b], type: Dog, z: 2020T}",
    ],
)
def test_the_tag_may_stand_anywhere(text: str) -> None:
    for tp in (Cat | Dog, Dog):
        for data in both(text):
            assert ionfast.loads(data, type=tp) == Dog("d", ["a", "b"])
        for data in both(f"[1, {{a: [{text}, x::{text}]}}, {text}]"):
            value = ionfast.loads(data, type=tuple[int, dict[str, list[tp]], tp])  # type: ignore[valid-type]
            assert value == (1, {"a": [Dog("d", ["a", "b"])] * 2}, Dog("d", ["a", "b"]))


def test_symbol_tables_name_tags_and_fields() -> None:
    text = '$ion_symbol_table::{symbols:["type","Dog","name"]} {$12:"d",$10:$11} {$10:$11,$12:"e"}'
    assert ionfast.loads_all(text, type=Cat | Dog) == [Dog("d"), Dog("e")]


ERRORS = [
    (list[Cat | Dog], "[{type: Dog, name: a}, {type: Cow}]",
     "$[1].type (offset 30): expected one of 'Cat', 'Dog', found 'Cow'"),
    (list[Cat | Dog], "[{name: a, lives: 1}]", "$[0] (offset 1): expected field 'type', found none"),
    (Cat | Dog, "{}", "$ (offset 0): expected field 'type', found none"),
    (Cat | Dog, "{type: 1}", "$.type (offset 7): expected one of 'Cat', 'Dog', found 1"),
    (Cat | Dog, "{type: [Dog]}", "$.type (offset 7): expected one of 'Cat', 'Dog', found list"),
    (Cat | Dog, "{type: null}", "$.type (offset 7): expected one of 'Cat', 'Dog', found null"),
    (Cat | Dog, "{type: $0}", "$.type (offset 7): expected one of 'Cat', 'Dog', found symbol without text"),
    (One | Two, "{n: 3}", "$.n (offset 4): expected one of 1, 2, found 3"),
    (One | Two, "{n: two}", "$.n (offset 4): expected one of 1, 2, found 'two'"),
    (Cat | Dog, "7", "$ (offset 0): expected struct, found int"),
    (Cat | Dog | None, "[]", "$ (offset 0): expected struct or null, found list"),
    (Cat, "{type: Dog, name: a}", "$.type (offset 7): expected 'Cat', found 'Dog'"),
    (Cat | Dog, "{type: Dog}", "$ (offset 0): expected field 'name', found none"),
    (Cat | Dog, "{type: Dog, name: 1}", "$.name (offset 18): expected string, found int"),
    (Cat | Dog, "{type: Dog, name: a, type: Dog}",
     "$.type (offset 27): expected one such field, found a second"),
    (Get | Put, "{kind: put, key: k, value: 1, more: 2}",
     "$ (offset 36): expected no other field, found 'more'"),
    (dict[str, Closed], "{x: {a: 1, b: 2}}", "$.x (offset 14): expected no other field, found 'b'"),
]  # fmt: skip


@pytest.mark.parametrize(("tp", "text", "wanted"), ERRORS, ids=[row[1] for row in ERRORS])
def test_errors(tp: Any, text: str, wanted: str) -> None:
    with pytest.raises(ValidationError) as caught:
        ionfast.loads(text, type=tp)
    assert str(caught.value) == wanted
    with pytest.raises(ValidationError) as binary:
        Decoder(tp).loads(ionfast.dumps(ionfast.loads(text)))
    assert binary.value.path == caught.value.path
    assert binary.value.expected == caught.value.expected


def test_a_tag_is_no_unknown_field() -> None:
    for tp in (Cat, Cat | Dog):
        assert ionfast.loads("{type: Cat, name: c}", type=tp, forbid_unknown=True) == Cat("c")
    assert ionfast.loads("{name: c}", type=Cat, forbid_unknown=True) == Cat("c")
    assert ionfast.loads("{kind: get, key: k, more: 1}", type=Get | Put) == Get("k")


def test_broken_input_before_the_tag() -> None:
    for data in (
        "{a: [1, {b: 2}], c: ",
        "{a: [1}, type: Dog}",
        b"\xe0\x01\x00\xea\xd8\x84\x71\x09",
    ):
        with pytest.raises(ionfast.IonError) as caught:
            ionfast.loads(data, type=Cat | Dog)
        assert not isinstance(caught.value, ValidationError)


def test_types_that_cannot_be() -> None:
    words = "Row: a struct with array_like=True has no place in Ion, where fields have names"
    with pytest.raises(TypeError) as caught:
        ionfast.dumps([Row(1)])
    assert str(caught.value) == words
    with pytest.raises(TypeError) as caught:
        Decoder(Row)
    assert str(caught.value) == words
    twin = msgspec.defstruct("Twin", [("a", int)], tag="Cat")
    with pytest.raises(TypeError, match="two members of the union have the same tag"):
        Decoder(Cat | twin)


@pytest.mark.parametrize("step", [1, 3, 1000])
@pytest.mark.parametrize("binary", [True, False])
def test_reading_piece_by_piece(step: int, binary: bool) -> None:
    """The reader may run out on the way to the tag, and has to come back to the first field."""
    codec = Codec()
    codec.add(Zoo, annotation="zoo")
    text = (
        "[zoo::{star: {name: 'a long name', tricks: [a, '{['], type: Dog}, animals: "
        "[null, {x: 1, type: Cat, name: c}]}, 1]"
    )
    data = ionfast.dumps(ionfast.loads(text), binary=binary)
    data = data if isinstance(data, bytes) else data.encode()
    pieces = [data[i : i + step] for i in range(0, len(data), step)]
    reader = codec.Reader(None)
    while reader.next() is ionfast.NEED_DATA:
        reader.feed(pieces.pop(0))
    while (value := reader.value()) is ionfast.NEED_DATA:
        reader.feed(pieces.pop(0)) if pieces else reader.end()
    assert value == [Zoo([None, Cat("c")], Dog("a long name", ["a", "{["])), 1]


def test_nothing_leaks() -> None:
    data = ionfast.dumps([Cat("c"), Dog("d", ["sit"])] * 3)
    late = "[{name: d, tricks: ['a long name'], type: Dog}, {name: c, type: Cat}]"
    decoder: Any = Decoder(list[Cat | Dog])
    assert_flat(lambda: decoder.loads(data), Cat, Dog)
    assert_flat(lambda: decoder.loads(late), Cat, Dog)
    assert_flat(lambda: ionfast.dumps([Cat("c"), Dog("d")]), Cat, Dog)
    assert_flat(lambda: Decoder(Cat | Dog), Cat, Dog)

    def fail() -> None:
        with pytest.raises(ValidationError):
            decoder.loads("[{name: d, type: Dog}, {name: [c], type: Cow}]")

    assert_flat(fail, Cat, Dog)
