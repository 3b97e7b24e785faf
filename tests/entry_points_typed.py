"""The entry points of types of one's own, for `entry_points`."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import enum
import fractions
import functools
import importlib
import pathlib
import uuid
from collections.abc import Callable
from decimal import Decimal
from typing import Annotated, Any, Literal, NamedTuple, TypedDict

import ionfast
from ionfast import Codec, Decoder, Field, Symbol

UTC = datetime.UTC


class Colour(enum.Enum):
    RED = "red"
    TWO = 2


class Point(NamedTuple):
    x: int
    y: int = 0


class Movie(TypedDict, total=False):
    title: str
    year: int


@dataclasses.dataclass
class Circle:
    radius: float


@dataclasses.dataclass(slots=True, frozen=True)
class Square:
    side: float
    tags: list[str] = dataclasses.field(default_factory=list)


@dataclasses.dataclass(slots=True)
class Everything:
    """A field of each kind."""

    number: int
    text: str
    symbol: Symbol
    exact: Decimal
    ratio: float
    flag: bool
    blob: bytes
    moment: datetime.datetime
    day: datetime.date
    colour: Colour
    choice: Literal["a", 1, True]
    point: Point
    movie: Movie
    id: uuid.UUID
    path: pathlib.PurePosixPath
    numbers: set[int]
    names: frozenset[str]
    pair: tuple[int, str]
    row: tuple[float, ...]
    table: dict[str, list[int]]
    colours: dict[Colour, int]
    anything: Any
    shape: (
        Annotated[Circle, Field(annotation="circle")]
        | Annotated[Square, Field(annotation="square")]
    )
    circles: list[Circle]
    either: int | str | None = None


@dataclasses.dataclass
class Checked:
    value: int

    def __post_init__(self) -> None:
        if self.value < 0:
            raise ValueError("negative")


@dataclasses.dataclass
class Made:
    value: Any = dataclasses.field(default_factory=lambda: int("none"))


@dataclasses.dataclass
class Called:
    """With a constructor of its own."""

    value: int

    def __init__(self, value: int) -> None:
        if value == 3:
            raise TypeError("three")
        self.value = value


# Hints that are no text, which the interpreter itself does not survive: see MAKES_PLANS.
Simple = dataclasses.make_dataclass("Simple", [("a", int), ("b", str, "none")])
Plain = collections.namedtuple("Plain", "c d", defaults=[9])
SimpleSlots = dataclasses.make_dataclass("SimpleSlots", [("a", Any)], slots=True)
SIMPLE = "{x: [{a: 1}, red, {c: [1]}], y: [{a: 1, b: c}, 2, {c: 1, d: 2}]}"


class Text(str):
    pass


class Number(int):
    pass


EVERYTHING = Everything(
    7, "text", Symbol("s"), Decimal("1.50"), 0.25, True, b"blob",
    datetime.datetime(2003, 4, 5, 6, 7, 8, tzinfo=UTC), datetime.date(2003, 4, 5), Colour.TWO, "a",
    Point(1), {"title": "t"}, uuid.UUID(int=7), pathlib.PurePosixPath("a/b"), {1, 2},
    frozenset("a"), (1, "h\xe9"), (0.5, 1.5), {"k": [1, 2]}, {Colour.RED: 1}, [1, {"a": (2,)}],
    Square(1.5, ["x"]), [Circle(0.5), Circle(1e100)], None,
)  # fmt: skip
DECODER: Decoder[Any] = Decoder(list[Everything])
ONE: Decoder[Any] = Decoder(Everything)
CLOSED: Decoder[Any] = Decoder(Square, forbid_unknown=True)
DATA = ionfast.dumps([EVERYTHING] * 2)
TEXT = ionfast.dumps([EVERYTHING] * 2, binary=False)
# One thing wrong in the first value of two.
WRONG = {
    name: TEXT.replace(old, new, 1)
    for name, old, new in [
        ("scalar", "exact:1.50", 'exact:"1.50"'), ("missing", "number:7,", ""),
        ("repeat", "number:7", "number:7,number:8"), ("union", "square::", "star::"),
        ("uuid", '"00000000', '"x'), ("enum", "colour:2", "colour:3"), ("float", "0.5e0", "0.1"),
        ("tuple", '[1,"h', '[1,2,"h'), ("key", "{red:", "{blue:"), ("end", "side:1.5e0,", "side:"),
    ]
}  # fmt: skip


def make_codec() -> Codec:
    codec = Codec()
    codec.add(
        fractions.Fraction,
        annotation="ratio",
        encode=lambda value: [value.numerator, value.denominator],
        decode=lambda pair: fractions.Fraction(*pair),
    )
    codec.add(Circle, annotation="circle")
    codec.add(Square, annotation="square")
    return codec


CODEC = make_codec()
SHAPES = [Circle(0.5), Square(2.0, ["a"]), fractions.Fraction(1, 3), {"k": [Circle(1.0)]}]
SHAPES_DATA = CODEC.dumps(SHAPES)
SHAPES_TEXT = CODEC.dumps(SHAPES, binary=False)
PLAIN_TEXT = "[circle::{radius:1e0},{k:square::{side:1e0}},x::[a,b::1.5],{a:1,a:2},null.int]"


def read_pieces() -> list[Any]:
    """Through a reader that runs out in the middle of values."""
    reader, found = CODEC.Reader(None), []
    pieces = [SHAPES_DATA[i : i + 5] for i in range(0, len(SHAPES_DATA), 5)]
    while (kind := reader.next()) is not None:
        if kind is ionfast.NEED_DATA:
            reader.feed(pieces.pop(0)) if pieces else reader.end()
            continue
        while (value := reader.value()) is ionfast.NEED_DATA:
            reader.feed(pieces.pop(0))
        found.append(value)
    return found


def write_shapes() -> Any:
    writer = CODEC.Writer()
    for value in [*SHAPES, EVERYTHING]:
        writer.write(value)
    writer.finish()
    return writer.getvalue()


OBJECTS: list[Any] = [
    EVERYTHING, Circle(1.5), Point(3), Text("t"), Number(2**70), Colour.RED, Square(1.0), Circle(2.5),
]  # fmt: skip

SIMPLE_OBJECTS: list[Any] = [
    Simple(1), SimpleSlots([Simple(2, "h\xe9"), {Colour.RED: uuid.UUID(int=7)}]), Plain(1), Text("t"),
    Number(2**70), Colour.TWO, pathlib.PurePosixPath("a/b"), SimpleSlots(SimpleSlots(1.5)), Simple(3),
]  # fmt: skip

# Those that run no Python code while memory runs out.
GOOD: dict[str, Callable[[], Any]] = {
    "typed_binary": lambda: DECODER.loads(DATA)[1],
    "typed_text": lambda: DECODER.loads(TEXT)[1],
    "typed_all": lambda: len(DECODER.loads_all(DATA + DATA)),
    "typed_loads": lambda: ionfast.loads(DATA, type=list[Everything]),
}
RUNS_PYTHON: dict[str, Callable[[], Any]] = {
    "typed_new_decoder": lambda: Decoder(list[Everything], forbid_unknown=True).loads(TEXT)[0],
    "typed_new_plan": lambda: Decoder(dict[str, tuple[Simple, Colour, Plain]]).loads(SIMPLE),
    "typed_post_init": lambda: ionfast.loads("[{value: 1}, {value: 2}]", type=list[Checked]),
    "typed_called": lambda: ionfast.loads("[{value: 1}, {value: 2}]", type=list[Called]),
    "codec_loads": lambda: CODEC.loads(SHAPES_DATA),
    "codec_loads_text": lambda: CODEC.loads(SHAPES_TEXT),
    "codec_loads_plain": lambda: CODEC.loads(PLAIN_TEXT, model="plain"),
    "codec_loads_annotated": lambda: CODEC.loads(PLAIN_TEXT),
    "codec_loads_type": lambda: CODEC.loads("[circle::{radius:1e0}]", type=list[Circle | Square]),
    "codec_dumps": lambda: CODEC.dumps(SHAPES),
    "codec_dumps_text": lambda: CODEC.dumps(SHAPES, binary=False),
    "codec_reader": read_pieces,
    "codec_writer": write_shapes,
    "codec_new": lambda: make_codec().loads(SHAPES_DATA),
    "dumps_simple": lambda: ionfast.dumps(SIMPLE_OBJECTS),
    "dumps_simple_text": lambda: ionfast.dumps(SIMPLE_OBJECTS, binary=False),
    "dumps_simple_pretty": lambda: ionfast.dumps(SIMPLE_OBJECTS, binary=False, indent=" "),
    "dumps_objects": lambda: ionfast.dumps(OBJECTS),
    "dumps_objects_text": lambda: ionfast.dumps(OBJECTS, binary=False),
    "dumps_objects_pretty": lambda: ionfast.dumps(OBJECTS, binary=False, indent=" "),
}
# typing.get_type_hints crashes where memory runs out, in 3.11 at least.
MAKES_PLANS = {
    "typed_new_decoder", "codec_new", "codec_writer", "dumps_objects", "dumps_objects_text",
    "dumps_objects_pretty",
}  # fmt: skip
BAD: dict[str, Callable[[], Any]] = {
    f"bad_typed_{name}": functools.partial(DECODER.loads, text) for name, text in WRONG.items()
} | {
    "bad_typed_binary": lambda: DECODER.loads(DATA[:-20]),
    "bad_typed_unknown": lambda: CLOSED.loads("{side: 1e0, more: [1]}"),
    "bad_typed_root": lambda: ONE.loads(DATA),
}
BAD_RUNS_PYTHON: dict[str, Callable[[], Any]] = {
    "bad_typed_hint": lambda: Decoder(list[complex]),
    "bad_typed_post_init": lambda: ionfast.loads(
        "{a: [{value: -1}]}", type=dict[str, list[Checked]]
    ),
    "bad_typed_factory": lambda: ionfast.loads("[{}]", type=list[Made]),
    "bad_typed_called": lambda: ionfast.loads("[{value: 3}]", type=list[Called]),
    "bad_codec_decode": lambda: CODEC.loads("{a: [ratio::[1, 2], ratio::'x']}"),
    "bad_codec_encode": lambda: CODEC.dumps({"a": [Circle(1.0), Square(object())]}),  # type: ignore[arg-type]
    "bad_dumps_object": lambda: ionfast.dumps(
        [Circle(1.0), Circle(Circle(object()))], binary=False
    ),  # type: ignore[arg-type]
}


def optional(name: str) -> Any:
    """The module, if there is one that this interpreter can load: msgspec's is for the main one only."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


msgspec = optional("msgspec")
if msgspec is not None:
    Cat: Any = msgspec.defstruct(
        "Cat", [("name", str), ("lives", int, 9)], tag=True, rename="camel"
    )
    Dog: Any = msgspec.defstruct("Dog", [("name", str), ("tricks", list[str])], tag=True)
    PETS: Decoder[Any] = Decoder(list[Cat | Dog])
    PETS_TEXT = "[{type: Cat, name: c}, {name: 'a long name', tricks: [a, \"\\x62\"], type: Dog}]"
    GOOD |= {
        "typed_tags": lambda: PETS.loads(PETS_TEXT),
        "typed_tags_binary": lambda: PETS.loads(ionfast.transcode(PETS_TEXT)),
    }
    RUNS_PYTHON |= {"dumps_tags": lambda: ionfast.dumps(PETS.loads(PETS_TEXT))}
    BAD |= {
        "bad_typed_tag": lambda: PETS.loads("[{type: Cat, name: c}, {name: d, type: 'Cow'}]"),
        "bad_typed_no_tag": lambda: PETS.loads("[{name: d, tricks: [a, b]}]"),
    }

attrs = optional("attrs")
if attrs is not None:
    Pet: Any = attrs.make_class("Pet", {"name": attrs.field(), "_legs": attrs.field(default=4)})
    RUNS_PYTHON |= {
        "typed_attrs": lambda: ionfast.loads("[{name: a}, {_legs: 3, name: b}]", type=list[Pet]),
        "dumps_attrs": lambda: ionfast.dumps([Pet("a"), Pet("b", 3)]),
    }
