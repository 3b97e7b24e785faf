"""Types of one's own, registered with a Codec: out and in, and when their functions fail."""

from __future__ import annotations

import dataclasses
import enum
import fractions
import gc
import io
import weakref
from decimal import Decimal
from typing import Any

import pytest

import ionfast
import scenarios
from ionfast import Codec, ValidationError
from leaks import assert_flat

Fraction = fractions.Fraction


@dataclasses.dataclass
class Point:
    x: int
    y: int = 0


@dataclasses.dataclass
class Circle:
    centre: Point
    radius: float


@dataclasses.dataclass
class Square:
    side: float


class Colour(enum.Enum):
    RED = "red"


class Opaque:
    def __init__(self, value: Any) -> None:
        self.value = value


class Derived(Opaque):
    pass


def make_codec() -> Codec:
    codec = Codec()
    codec.add(
        Fraction,
        annotation="ratio",
        encode=lambda value: [value.numerator, value.denominator],
        decode=lambda pair: Fraction(*pair),
    )
    codec.add(Point, annotation="point")
    codec.add(Circle, annotation="circle")
    codec.add(Square, annotation="square")
    return codec


NESTED = [
    Fraction(1, 2),
    {"a": Point(1, 2), "b": [Circle(Point(3), 1.5), None]},
    Square(2.0),
    "text",
]
NESTED_TEXT = (
    "$ion_1_0 [ratio::[1,2],{a:point::{x:1,y:2},"
    'b:[circle::{centre:point::{x:3,y:0},radius:1.5e0},null]},square::{side:2e0},"text"]'
)


# ================================================================================== writing


def test_registered_types_are_written_with_their_annotations() -> None:
    codec = make_codec()
    assert codec.dumps(NESTED, binary=False) == NESTED_TEXT
    assert ionfast.dumps(NESTED, binary=False, codec=codec) == NESTED_TEXT
    assert ionfast.loads(codec.dumps(NESTED)) == ionfast.loads(NESTED_TEXT)


def test_registered_types_may_have_no_annotation() -> None:
    codec = Codec()
    codec.add(Opaque, encode=lambda opaque: opaque.value)
    codec.add(complex, encode=lambda number: {"re": number.real, "im": number.imag})
    assert codec.dumps([Opaque(1), 2j], binary=False) == "$ion_1_0 [1,{re:0e0,im:2e0}]"


def test_encode_may_give_another_registered_type() -> None:
    codec = Codec()
    codec.add(Opaque, annotation="opaque", encode=lambda opaque: opaque.value)
    codec.add(Fraction, annotation="ratio", encode=str)
    value = Opaque(Opaque(Fraction(1, 2)))
    assert codec.dumps(value, binary=False) == '$ion_1_0 opaque::opaque::ratio::"1/2"'
    assert codec.dumps(Opaque(value), binary=False) == (
        '$ion_1_0 opaque::opaque::opaque::ratio::"1/2"'
    )
    own = ionfast.IonPyList.from_value(ionfast.IonType.LIST, [1], ["own"])
    assert codec.dumps(Opaque(own), binary=False) == "$ion_1_0 opaque::own::[1]"


def test_subclasses_are_written_as_their_base() -> None:
    codec = Codec()
    codec.add(Opaque, annotation="opaque", encode=lambda opaque: opaque.value)
    assert codec.dumps(Derived(1), binary=False) == "$ion_1_0 opaque::1"
    codec.add(Derived, annotation="derived", encode=lambda derived: -derived.value)
    assert codec.dumps([Derived(1), Opaque(1)], binary=False) == "$ion_1_0 [derived::-1,opaque::1]"


def test_enums_and_others_with_an_ion_form_can_be_annotated() -> None:
    codec = Codec()
    codec.add(Colour, annotation="colour")
    assert codec.dumps([Colour.RED], binary=False) == '$ion_1_0 [colour::"red"]'
    assert codec.loads('[colour::"red"]') == [Colour.RED]


def test_default_is_asked_last() -> None:
    codec = make_codec()
    options = {"binary": False, "default": lambda value: ("default", value.value)}
    assert codec.dumps([Opaque(Point(1))], **options) == (
        '$ion_1_0 [["default",point::{x:1,y:0}]]'
    )
    with pytest.raises(TypeError, match=r"cannot write a value of type 'Opaque' at \$\.a\[0\]"):
        codec.dumps({"a": [Opaque(1)]})


def test_a_type_registered_later_is_found() -> None:
    codec = Codec()
    with pytest.raises(TypeError, match="'Opaque'"):
        codec.dumps(Opaque(1))
    codec.add(Opaque, encode=lambda opaque: opaque.value)
    assert codec.dumps(Opaque(1), binary=False) == "$ion_1_0 1"
    assert ionfast.dumps(Point(1), binary=False) == "$ion_1_0 {x:1,y:0}"


def test_codecs_know_nothing_of_each_other() -> None:
    one, other = Codec(), Codec()
    one.add(Point, annotation="one")
    other.add(Point, annotation="other")
    for _ in range(2):
        assert one.dumps(Point(1), binary=False) == "$ion_1_0 one::{x:1,y:0}"
        assert other.dumps(Point(1), binary=False) == "$ion_1_0 other::{x:1,y:0}"
        assert ionfast.dumps(Point(1), binary=False) == "$ion_1_0 {x:1,y:0}"


def test_more_types_than_are_remembered() -> None:
    codec = Codec()
    classes = [type(f"Made{i}", (Opaque,), {}) for i in range(1500)]
    codec.add(Opaque, encode=lambda opaque: opaque.value)
    values = [cls(i) for i, cls in enumerate(classes)]
    assert ionfast.loads(codec.dumps(values * 2)) == list(range(1500)) * 2


# ================================================================================== reading


def test_annotations_stand_for_types_at_any_depth() -> None:
    codec = make_codec()
    for data in (NESTED_TEXT, codec.dumps(NESTED)):
        assert codec.loads(data) == NESTED
        assert ionfast.loads(data, codec=codec) == NESTED
        assert codec.loads(data, type=list[Any]) == NESTED
        assert ionfast.Decoder(list, codec=codec).loads(data) == NESTED


def test_what_is_not_registered_is_read_as_ever() -> None:
    codec = make_codec()
    text = '[x::{a:1,a:2}, (y::z), null.int, ratio::null, "s", {{aGk=}}, 1.5, 2020T, w::[ratio::[1,2]]]'
    for model in ("lossless", "plain", "ionpy"):
        wanted = ionfast.loads(text, model=model)
        value = codec.loads(text, model=model)
        assert value[:-1] == wanted[:-1]
        assert [type(item) for item in value] == [type(item) for item in wanted]
        assert value[-1] == [Fraction(1, 2)]
        if model != "plain":
            assert value[0].ion_annotations == wanted[0].ion_annotations
            assert value[0].get_all_values("a") == wanted[0].get_all_values("a")
            assert value[-1].ion_annotations[0].text == "w"
    assert codec.loads("[]") == []
    assert Codec().loads("[{a: b::[1]}]") == [{"a": [1]}]


def test_decode_gets_the_plain_value() -> None:
    seen: list[Any] = []
    codec = Codec()
    codec.add(Opaque, annotation="o", decode=lambda value: seen.append(value) or Opaque(value))
    codec.loads("[o::1, o::{a: [2]}, o::x::(3)]")
    assert seen == [1, {"a": [2]}, [3]]
    assert [type(value) for value in seen[:2]] == [int, dict]


def test_registered_types_as_fields() -> None:
    @dataclasses.dataclass
    class Recipe:
        parts: dict[str, Fraction]
        best: Fraction | None = None

    codec = make_codec()
    value = Recipe({"a": Fraction(1, 3)}, Fraction(2, 3))
    decoder: Any = ionfast.Decoder(Recipe, codec=codec)
    assert decoder.loads(codec.dumps(value)) == value
    assert decoder.loads("{parts: {a: [1, 3]}}") == Recipe({"a": Fraction(1, 3)})
    with pytest.raises(ValidationError) as caught:
        decoder.loads("{parts: {a: point::[1, 3]}}")
    assert str(caught.value) == "$.parts.a (offset 12): expected ratio::, found point::list"
    with pytest.raises(TypeError, match=r"Recipe\.parts\[\.\.\.\]: Fraction cannot be read"):
        ionfast.Decoder(Recipe)


def test_unions_of_classes_by_annotation() -> None:
    codec = make_codec()
    shapes = [Circle(Point(1), 2.0), Square(3.0), None]
    tp = list[Circle | Square | None]
    assert codec.loads(codec.dumps(shapes), type=tp) == shapes
    with pytest.raises(ValidationError) as caught:
        codec.loads("[{side: 1e0}]", type=tp)
    assert str(caught.value) == (
        "$[0] (offset 1): expected circle::struct, square::struct or null, found struct"
    )
    with pytest.raises(TypeError, match="no annotations tell them apart"):
        ionfast.loads("[]", type=tp)


def test_reader_and_writer() -> None:
    codec = make_codec()
    file = io.BytesIO()
    with codec.Writer(file) as writer:
        for value in NESTED:
            writer.write(value)
    data = file.getvalue()
    assert ionfast.loads_all(data) == ionfast.loads(NESTED_TEXT)
    with codec.Reader(data) as reader:
        values = []
        while reader.next() is not None:
            values.append(reader.value())
    assert values == NESTED
    assert list(codec.Reader(io.BytesIO(data))) == NESTED


@pytest.mark.parametrize("step", [1, 2, 7])
def test_reading_piece_by_piece(step: int) -> None:
    codec = make_codec()
    data = codec.dumps_all(NESTED)
    pieces = [data[i : i + step] for i in range(0, len(data), step)]
    reader, values = codec.Reader(None), []
    while (kind := reader.next()) is not None:
        if kind is ionfast.NEED_DATA:
            reader.feed(pieces.pop(0)) if pieces else reader.end()
            continue
        while (value := reader.value()) is ionfast.NEED_DATA:
            reader.feed(pieces.pop(0))
        values.append(value)
    assert values == NESTED


def test_a_reader_goes_on_after_a_failure() -> None:
    codec = make_codec()
    reader = codec.Reader("ratio::[1, 0] ratio::[1, 2] point::{x: a} 7")
    reader.next()
    with pytest.raises(ZeroDivisionError):
        reader.value()
    reader.next()
    assert reader.value() == Fraction(1, 2)
    reader.next()
    with pytest.raises(ValidationError):
        reader.value()


def test_files() -> None:
    codec = make_codec()
    file = io.BytesIO()
    codec.dump(NESTED, file)
    assert codec.load(io.BytesIO(file.getvalue())) == NESTED
    file = io.BytesIO()
    codec.dump_all(NESTED, file)
    assert codec.load_all(io.BytesIO(file.getvalue())) == NESTED
    assert codec.loads_all(codec.dumps_all(NESTED)) == NESTED


# =================================================================================== errors


def test_what_encode_raises_comes_through() -> None:
    codec = Codec()
    codec.add(Opaque, encode=lambda opaque: 1 / opaque.value)
    with pytest.raises(ZeroDivisionError) as caught:
        codec.dumps({"a": [1, Opaque(0)]})
    assert caught.value.__notes__ == ["at $.a[1]"]


def test_what_default_raises_comes_through() -> None:
    def fail(value: object) -> None:
        raise LookupError("default")

    with pytest.raises(LookupError) as caught:
        ionfast.dumps([Opaque(1)], default=fail)
    assert caught.value.__notes__ == ["at $[0]"]


def test_what_decode_raises_comes_through() -> None:
    codec = make_codec()
    with pytest.raises(ZeroDivisionError) as caught:
        codec.loads("{a: [ratio::[1, 2], ratio::[1, 0]]}")
    assert caught.value.__notes__ == ["at $.a[1] (offset 20)"]
    codec.add(Opaque, annotation="o", decode=lambda value: int("x"))
    with pytest.raises(ValueError, match="invalid literal") as raised:
        codec.loads("[o::1]")
    assert not isinstance(raised.value, ionfast.IonError)
    assert raised.value.__notes__ == ["at $[0] (offset 1)"]


def test_encode_that_never_ends() -> None:
    codec = Codec()
    codec.add(Opaque, encode=lambda opaque: Opaque(opaque.value))
    with pytest.raises(TypeError, match="never gave a value to write"):
        codec.dumps(Opaque(1))


def test_what_cannot_be_registered() -> None:
    codec = Codec()
    for known in (str, int, dict, list, float, bool, bytes, tuple, Decimal, type(None)):
        with pytest.raises(TypeError, match="has an Ion type of its own"):
            codec.add(known, annotation="a")
    with pytest.raises(TypeError, match="a class is needed, not 3"):
        codec.add(3)  # type: ignore[type-var]
    with pytest.raises(TypeError, match="encode must be callable, not 1"):
        codec.add(Point, encode=1)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="annotation must be a str or None, not 1"):
        codec.add(Point, annotation=1)  # type: ignore[arg-type]
    codec.add(Point, annotation="p")
    with pytest.raises(ValueError, match="annotation 'p' is that of another type"):
        codec.add(Square, annotation="p")
    for call in (ionfast.dumps, ionfast.loads):
        with pytest.raises(TypeError, match="codec must be a Codec or None, not int"):
            call("1", codec=1)  # type: ignore[operator]


def test_registering_anew_replaces() -> None:
    codec = Codec()
    codec.add(Point, annotation="old")
    assert codec.dumps(Point(1), binary=False) == "$ion_1_0 old::{x:1,y:0}"
    assert codec.loads("old::{x: 1}") == Point(1)
    codec.add(Point, annotation="new")
    assert codec.dumps(Point(1), binary=False) == "$ion_1_0 new::{x:1,y:0}"
    assert codec.loads("[old::{x: 1}, new::{x: 1}]") == [{"x": 1}, Point(1)]
    assert codec.add(Square) is Square


# =================================================================================== memory


def test_nothing_leaks() -> None:
    codec = make_codec()
    data = codec.dumps(NESTED)
    assert_flat(lambda: codec.dumps(NESTED), Point, Fraction)
    assert_flat(lambda: codec.loads(data), Point, Fraction)

    def fail() -> None:
        with pytest.raises(ZeroDivisionError):
            codec.loads("{a: [ratio::[1, 2], ratio::[1, 0]]}")

    assert_flat(fail, Fraction)


@scenarios.classes_die
def test_codecs_are_collected() -> None:
    codec = make_codec()
    made = dataclasses.make_dataclass("Made", [("a", Any)])
    made.codec = codec  # type: ignore[attr-defined]
    codec.add(made, annotation="made", encode=lambda value: value.a)
    assert codec.loads("made::{a: 1}") == made(1)
    codec.dumps(made(1))
    ref = weakref.ref(made)
    del codec, made
    ionfast.pools.clear()
    gc.collect()
    assert ref() is None


# ============================================================= hooks that pull the rug away


@pytest.mark.parametrize("binary", [True, False])
def test_decode_that_registers_anew_and_forgets_everything(binary: bool) -> None:
    """The plan in use goes on; the next call has the new one."""
    codec = Codec()

    def decode(value: Any) -> Any:
        codec.add(Opaque, annotation="o", decode=lambda value: ("new", value))
        codec.add(Point, annotation="p")
        ionfast.pools.clear()
        gc.collect()
        return Opaque(value)

    codec.add(Opaque, annotation="o", decode=decode)
    data = ionfast.dumps(ionfast.loads("[o::[1, {a: 2}], o::{b: o::3}, p::{x: 1}]"), binary=binary)
    first = codec.loads(data)
    assert [type(value) for value in first[:2]] == [Opaque, Opaque]
    assert (first[0].value, type(first[1].value["b"]), first[2]) == (
        [1, {"a": 2}],
        Opaque,
        {"x": 1},
    )
    assert codec.loads(data) == [("new", [1, {"a": 2}]), ("new", {"b": ("new", 3)}), Point(1)]


@pytest.mark.parametrize("binary", [True, False])
def test_encode_that_registers_anew_and_forgets_everything(binary: bool) -> None:
    codec = Codec()

    def encode(value: Opaque) -> Any:
        codec.add(Opaque, annotation="new", encode=lambda value: value.value)
        codec.add(Point, annotation="p")
        values.append(len(values))
        ionfast.pools.clear()
        gc.collect()
        return [value.value]

    codec.add(Opaque, annotation="old", encode=encode)
    values = [Opaque(1), Opaque(2), Point(3), Derived(4)]
    wanted = "[old::[1],new::2,p::{x:3,y:0},new::4,4]"
    assert ionfast.equivalence.ion_equals(
        ionfast.loads(codec.dumps(values, binary=binary)), ionfast.loads(wanted)
    )


def test_a_post_init_that_changes_its_class() -> None:
    @dataclasses.dataclass
    class Shifty:
        a: int
        b: Any = None

        def __post_init__(self) -> None:
            if self.a == 1:
                Shifty.__slots__ = ()
                Shifty.b = property(lambda self: "property", lambda self, value: None)
                del Shifty.__init__
                gc.collect()

    decoder: Any = ionfast.Decoder(list[Shifty])
    first, second = decoder.loads("[{a: 1, b: x}, {a: 2, b: [y]}]")
    assert (first.a, second.a, second.b) == (1, 2, "property")


def test_a_post_init_that_keeps_and_changes_what_it_got() -> None:
    kept: list[Any] = []

    @dataclasses.dataclass
    class Greedy:
        items: list[Any]

        def __post_init__(self) -> None:
            kept.append(self)
            self.items.extend(kept[0].items)
            if len(kept) == 3:
                kept[0].items.clear()
                raise LookupError("enough")

    with pytest.raises(LookupError) as caught:
        ionfast.loads("[{items: [1]}, {items: [2]}, {items: [[3]]}]", type=list[Greedy])
    assert caught.value.__notes__ == ["at $[2] (offset 29)"]
    assert [each.items for each in kept] == [[], [2, 1, 1], [[3], 1, 1]]


def test_a_key_whose_hash_uses_the_decoder() -> None:
    class Key(str):
        def __hash__(self) -> int:
            decoders[0].loads("{a: 1}")
            ionfast.pools.clear()
            return super().__hash__()

    @dataclasses.dataclass(frozen=True)
    class Element:
        a: int

        def __hash__(self) -> int:
            assert decoders[1].loads("[{a: 7}]")[0].a == 7 if self.a != 7 else True
            ionfast.pools.clear()
            return self.a

    decoders: list[Any] = [ionfast.Decoder(dict[str, int]), ionfast.Decoder(list[Element])]
    assert len(ionfast.loads("[{a: 1}, {a: 2}, {a: 1}]", type=set[Element])) == 2
    assert len(ionfast.loads("[{a: 1}, {a: 2}]", type=frozenset[Element])) == 2
    assert ionfast.loads(ionfast.dumps({Key("k"): 1})) == {"k": 1}
