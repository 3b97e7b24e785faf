"""Reading Ion as values of types: what comes out, what is refused and with which words."""

from __future__ import annotations

import collections
import copy
import dataclasses
import datetime
import enum
import gc
import pathlib
import pickle
import sys
import typing
import uuid
import weakref
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import (
    Annotated,
    Any,
    Final,
    Generic,
    Literal,
    NamedTuple,
    NewType,
    NotRequired,
    Required,
    TypedDict,
    TypeVar,
)

import pytest

import ionfast
import scenarios
from ionfast import Decoder, Field, Symbol, Timestamp, ValidationError
from leaks import assert_flat

UTC = datetime.UTC


class Status(enum.Enum):
    NEW = "new"
    PAID = "paid"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Access(enum.Flag):
    READ = 1
    WRITE = 2


class Mixed(enum.Enum):
    NUMBER = 7
    TEXT = "seven"
    FLAG = True
    EXACT = Decimal("7.5")


@dataclasses.dataclass
class Line:
    sku: str
    quantity: int
    price: Decimal


@dataclasses.dataclass(slots=True, frozen=True)
class Order:
    id: int
    customer: str
    total: Decimal
    created: datetime.datetime
    status: Status = Status.NEW
    lines: list[Line] = dataclasses.field(default_factory=list)
    note: str | None = None


@dataclasses.dataclass(kw_only=True)
class Named:
    first: Annotated[str, Field(name="firstName")]
    last: Annotated[str, Field(name="last name")] = "none"


@dataclasses.dataclass
class Measured:
    width: Annotated[int, Field(annotation="cm")]
    parts: Annotated[list[int], Field(name="p", annotation="mm")] = dataclasses.field(
        default_factory=list
    )


@dataclasses.dataclass
class Tree:
    value: int
    children: list[Tree] = dataclasses.field(default_factory=list)
    left: Tree | None = None


@dataclasses.dataclass
class Circle:
    radius: float


@dataclasses.dataclass
class Square:
    side: float


@dataclasses.dataclass
class Drawing:
    shape: (
        Annotated[Circle, Field(annotation="circle")]
        | Annotated[Square, Field(annotation="square")]
        | None
    )


class Point(NamedTuple):
    x: int
    y: Annotated[int, Field(name="why")] = 0


Plain = collections.namedtuple("Plain", "a b", defaults=[9])


class Movie(TypedDict, total=False):
    title: Required[str]
    year: int


class Closed(TypedDict):
    name: str
    size: NotRequired[int]


T = TypeVar("T")
UserId = NewType("UserId", int)


@dataclasses.dataclass
class Box(Generic[T]):
    content: T


@dataclasses.dataclass
class IntBox(Box[int]):
    label: str = ""


@dataclasses.dataclass
class Doubled:
    value: int
    twice: int = dataclasses.field(init=False, default=0)

    def __post_init__(self) -> None:
        if self.value < 0:
            raise ValueError("negative")
        self.twice = 2 * self.value


@dataclasses.dataclass
class Custom:
    """With a constructor of its own, which must be called."""

    value: int

    def __init__(self, value: int) -> None:
        self.value = value + 1


@dataclasses.dataclass
class Pedantic:
    value: int

    def __setattr__(self, name: str, value: object) -> None:
        object.__setattr__(self, name, (value, "set"))


@dataclasses.dataclass
class SlotBase:
    __slots__ = ("a",)
    a: int


@dataclasses.dataclass
class HalfSlots(SlotBase):
    b: int


def table(*rows: tuple[Any, ...]) -> pytest.MarkDecorator:
    """Parametrize over rows of (name, ...)."""
    names = {3: "tp, data", 4: "tp, data, wanted"}[len(rows[0])]
    return pytest.mark.parametrize(names, [row[1:] for row in rows], ids=[row[0] for row in rows])


def encodings(text: str) -> tuple[str, bytes]:
    """Text Ion, and the same data as binary."""
    return text, ionfast.dumps(ionfast.loads(text))


# =================================================================================== values


@table(
    ("bool", bool, "true", True),
    ("int", int, "-12", -12),
    ("big_int", int, f"{10**40}", 10**40),
    ("float", float, "2.5e0", 2.5),
    ("float_of_int", list[float], "[3, -4]", [3.0, -4.0]),
    ("float_of_big_int", float, f"{2**70}", 2.0**70),
    ("float_of_decimal", float, "0.25", 0.25),
    ("decimal", Decimal, "1.50", Decimal("1.50")),
    ("decimal_of_int", Decimal, "7", Decimal(7)),
    ("decimal_of_big_int", Decimal, f"{10**30}", Decimal(10**30)),
    ("str", str, '"é"', "é"),
    ("str_of_symbol", str, "abc", "abc"),
    ("symbol", Symbol, "abc", Symbol("abc")),
    ("bytes", bytes, "{{aGk=}}", b"hi"),
    ("bytes_of_clob", bytes, '{{"hi"}}', b"hi"),
    ("bytearray", bytearray, "{{aGk=}}", bytearray(b"hi")),
    ("none", None, "null", None),
    ("optional", int | None, "null.string", None),
    ("timestamp", Timestamp, "2020-01T", ionfast.loads("2020-01T")),
    ("datetime", datetime.datetime, "2020-01-02T03:04:05.5Z",
     datetime.datetime(2020, 1, 2, 3, 4, 5, 500_000, UTC)),
    ("datetime_to_the_minute", datetime.datetime, "2020-01-02T03:04-00:00",
     datetime.datetime(2020, 1, 2, 3, 4)),
    ("datetime_of_zeros", datetime.datetime, "2020-01-02T03:04:05.120000000Z",
     datetime.datetime(2020, 1, 2, 3, 4, 5, 120_000, UTC)),
    ("date", datetime.date, "2020-01-02", datetime.date(2020, 1, 2)),
    ("date_or_datetime", list[datetime.date | datetime.datetime],
     "[2020-01-02, 2020-01-02T00:00Z]",
     [datetime.date(2020, 1, 2), datetime.datetime(2020, 1, 2, tzinfo=UTC)]),
    ("uuid", uuid.UUID, '"00000000-0000-0000-0000-000000000007"', uuid.UUID(int=7)),
    ("path", pathlib.PurePosixPath, '"/a/b"', pathlib.PurePosixPath("/a/b")),
    ("enum", list[Status], '["new", paid]', [Status.NEW, Status.PAID]),
    ("int_enum", Level, "2", Level.HIGH),
    ("flag", Access, "3", Access.READ | Access.WRITE),
    ("mixed_enum", list[Mixed], '[7, "seven", true, 7.5]', [*Mixed]),
    ("literal", list[Literal["a", 1, True, None]], "[a, 1, true, null]", ["a", 1, True, None]),
    ("list", list[int], "[1, 2]", [1, 2]),
    ("list_of_sexp", list[int], "(1 2)", [1, 2]),
    ("bare_list", list, "[1, [a]]", [1, ["a"]]),
    ("sequence", Sequence[int], "[1]", [1]),
    ("set", set[int], "[1, 2, 1]", {1, 2}),
    ("frozenset", frozenset[str], "[a]", frozenset("a")),
    ("tuple", tuple[int, str], "[1, a]", (1, "a")),
    ("empty_tuple", tuple[()], "[]", ()),
    ("tuple_of", tuple[int, ...], "[1, 2, 3]", (1, 2, 3)),
    ("bare_tuple", tuple, "[1, a]", (1, "a")),
    ("dict", dict[str, int], "{a: 1, 'b c': 2}", {"a": 1, "b c": 2}),
    ("dict_of_enums", dict[Status, int], "{new: 1}", {Status.NEW: 1}),
    ("dict_of_symbols", dict[Symbol, int], "{new: 1}", {Symbol("new"): 1}),
    ("mapping", Mapping[str, list[int]], "{a: [1]}", {"a": [1]}),
    ("any", dict[str, Any], "{a: [1, {b: c}]}", {"a": [1, {"b": "c"}]}),
    ("new_type", UserId, "3", 3),
    ("union_by_kind", list[int | str | Decimal | list[int] | dict[str, int] | bool | None],
     '[1, "a", 2.5, [1], {a: 1}, true, null]', [1, "a", Decimal("2.5"), [1], {"a": 1}, True, None]),
    ("str_or_symbol", list[str | Symbol], '["a", b]', ["a", Symbol("b")]),
    ("float_or_decimal", list[float | Decimal], "[1e0, 1.0, 1]",
     [1.0, Decimal("1.0"), Decimal(1)]),
    ("annotations_do_not_matter", list[int], "[a::1, b::c::2]", [1, 2]),
    ("dataclass", Line, '{sku: "s", quantity: 2, price: 1.5}', Line("s", 2, Decimal("1.5"))),
    ("any_order", Line, '{price: 1.5, sku: "s", quantity: 2}', Line("s", 2, Decimal("1.5"))),
    ("unknown_fields", Line,
     '{a: 1, sku: "s", b: {c: [d]}, quantity: 2, e: null.list, price: 1.5, f: (g)}',
     Line("s", 2, Decimal("1.5"))),
    ("slots_frozen_defaults", Order, '{id: 1, customer: "c", total: 2, created: 2020-01-02T00:00Z}',
     Order(1, "c", Decimal(2), datetime.datetime(2020, 1, 2, tzinfo=UTC))),
    ("nested", list[Order],
     '[{id: 1, customer: "c", total: 2., created: 2020-01-02T00:00Z, status: paid,'
     'lines: [{sku: "s", quantity: 2, price: 1.5}], note: "n"}]',
     [Order(1, "c", Decimal(2), datetime.datetime(2020, 1, 2, tzinfo=UTC), Status.PAID,
            [Line("s", 2, Decimal("1.5"))], "n")]),
    ("renamed", Named, "{'last name': l, firstName: f}", Named(first="f", last="l")),
    ("annotated_fields", Measured, "{width: cm::3, p: mm::[1]}", Measured(3, [1])),
    ("recursive", Tree, "{value: 1, children: [{value: 2}], left: {value: 3, left: null}}",
     Tree(1, [Tree(2)], Tree(3))),
    ("union_of_classes", list[Drawing],
     "[{shape: circle::{radius: 1e0}}, {shape: square::{side: 2e0}}, {shape: null}]",
     [Drawing(Circle(1.0)), Drawing(Square(2.0)), Drawing(None)]),
    ("named_tuple", Point, "{x: 1, why: 2}", Point(1, 2)),
    ("named_tuple_default", Point, "{x: 1}", Point(1)),
    ("plain_named_tuple", Plain, "{a: [b]}", Plain(["b"])),
    ("typed_dict", Movie, "{title: t}", {"title": "t"}),
    ("typed_dict_not_required", list[Closed], "[{name: n}, {size: 1, name: n}]",
     [{"name": "n"}, {"name": "n", "size": 1}]),
    ("generic", Box[list[int]], "{content: [1]}", Box([1])),
    ("generic_base", IntBox, "{content: 1, label: l}", IntBox(1, "l")),
    ("half_slots", HalfSlots, "{a: 1, b: 2}", HalfSlots(1, 2)),
)  # fmt: skip
def test_values(tp: Any, data: str, wanted: object) -> None:
    decoder = Decoder(tp)
    for encoded in encodings(data):
        for value in (ionfast.loads(encoded, type=tp), decoder.loads(encoded)):
            if tp is not None:
                assert value == wanted
                assert type(value) is type(wanted)


def test_elements_have_their_types() -> None:
    value = ionfast.loads("[1, 1e0, 1., true]", type=tuple[int, float, Decimal, bool])
    assert [type(item) for item in value] == [int, float, Decimal, bool]
    moment = ionfast.loads("2020-01-02T03:04Z", type=datetime.datetime)
    assert type(moment) is datetime.datetime


def test_final_and_optional_hints() -> None:
    made = dataclasses.make_dataclass("Made", [("a", Final[int | None]), ("b", "int | None", 3)])
    assert ionfast.loads("{a: null}", type=made) == made(None, 3)


def test_constructors_that_are_called() -> None:
    assert ionfast.loads("{value: 1}", type=Custom).value == 2
    assert ionfast.loads("{value: 1}", type=Pedantic).value == (1, "set")
    assert ionfast.loads("{value: 3, twice: 5}", type=Doubled) == Doubled(3)


def test_default_factories_are_called_each_time() -> None:
    first, second = ionfast.loads_all("{value: 1} {value: 1}", type=Tree)
    assert first.children == []
    assert first.children is not second.children


def test_any_follows_the_model() -> None:
    for text in ("[a::1]", "[a::[1]]", "[a::{b: 1}]", "[a::null.list]"):
        assert ionfast.loads(text, type=list[Any])[0].ion_annotations[0].text == "a"
    assert type(ionfast.loads("[a::1]", type=list[Any], model="plain")[0]) is int
    assert isinstance(Decoder(Any, model="ionpy").loads("{a: (b)}"), ionfast.IonPyDict)


def test_streams() -> None:
    decoder = Decoder[int](int)
    assert decoder.loads_all("1 2 3") == [1, 2, 3]
    assert decoder.loads_all("") == []
    assert decoder.type is int
    with pytest.raises(ionfast.IonError, match=r"^offset 2: the stream holds a second value"):
        decoder.loads("1 2")
    with pytest.raises(ionfast.IonError, match=r"^offset 0: the stream holds no value$"):
        decoder.loads("")


def test_symbol_tables_may_change_between_values() -> None:
    """What was learned of one table must not be taken for another's."""
    tables = [
        '$ion_symbol_table::{symbols:["sku","quantity","price","other"]} '
        '{$10:"a",$11:1,$12:1.5,$13:[1]} ',
        '$ion_symbol_table::{symbols:["price","other","sku","quantity"]} '
        '{$10:2.5,$11:[1],$12:"b",$13:2} ',
        '$ion_symbol_table::{imports:$ion_symbol_table,symbols:["more"]} {$14:1,$12:"c",$13:3,$10:3.5}',
    ]
    wanted = [
        Line("a", 1, Decimal("1.5")),
        Line("b", 2, Decimal("2.5")),
        Line("c", 3, Decimal("3.5")),
    ]
    assert ionfast.loads_all("".join(tables), type=Line) == wanted
    decoder = Decoder(Line)
    for text, line in list(zip(tables[:2], wanted, strict=False)) * 3:
        assert decoder.loads(text) == line
        reordered = dict(reversed(dataclasses.asdict(line).items()))
        assert decoder.loads(ionfast.dumps(reordered)) == line
        assert decoder.loads(ionfast.dumps(line)) == line
    rows = [ionfast.dumps(dataclasses.asdict(line)) for line in wanted]
    rows += [ionfast.dumps(dict(reversed(dataclasses.asdict(line).items()))) for line in wanted]
    assert decoder.loads_all(b"".join(rows)) == wanted * 2


def test_imported_field_names() -> None:
    shared = ionfast.SharedSymbolTable("lines", 1, ["price", "quantity", "sku"])
    data = ionfast.dumps(Line("s", 1, Decimal(2)), imports=[shared])
    assert Decoder(Line, catalog=ionfast.Catalog([shared])).loads(data) == Line("s", 1, Decimal(2))
    header = '$ion_symbol_table::{imports:[{name:"lines",version:1,max_id:3}],symbols:["sku"]}'
    with pytest.raises(ValidationError, match="expected field 'quantity', found none"):
        ionfast.loads(header + '{$13:"s",$10:1,$11:2}', type=Line)


def test_names_behind_a_huge_import() -> None:
    """Their symbol IDs are beyond what a plan keeps an array for."""
    names = [f"field_{i}" for i in range(200)]
    wide = dataclasses.make_dataclass("Wide", [(name, int) for name in names[::2]])
    rows = [dict(zip(names, range(i, i + 200), strict=True)) for i in range(3)]
    wanted = [wide(*list(row.values())[::2]) for row in rows]
    for before in (70_000, 65_500):
        shared = ionfast.SharedSymbolTable("huge", 1, [f"s{i}" for i in range(before)])
        data = ionfast.dumps(rows, imports=[shared])
        decoder: Any = Decoder(list[wide], catalog=ionfast.Catalog([shared]))  # type: ignore[valid-type]
        for each in (data, ionfast.dumps(rows), data):  # tables in turns
            assert decoder.loads(each) == wanted


def test_many_fields_and_names_alike() -> None:
    names = [f"a_long_common_name_{i:05}" for i in range(2000)] + ["x" * n for n in range(1, 40)]
    wide = dataclasses.make_dataclass("Wide", [(name, int) for name in names])
    value = wide(*range(len(names)))
    for encoded in (ionfast.dumps(value), ionfast.dumps(value, binary=False)):
        assert ionfast.loads(encoded, type=wide) == value


def test_deep_input_needs_no_c_stack() -> None:
    depth = 50_000
    text = "{value: 1, left: " * depth + "null" + "}" * depth
    value = ionfast.loads(text, type=Tree | None, max_depth=None)
    for _ in range(depth - 1):
        value = value.left
    assert value.left is None
    with pytest.raises(ionfast.IonError, match="deep"):
        ionfast.loads(text, type=Tree)


# ===================================================================== there and back again

MOMENT = datetime.datetime(2024, 2, 29, 12, 30, 45, 123456, tzinfo=UTC)


@pytest.mark.parametrize(
    "value",
    [
        Order(1, "c", Decimal("1.10"), MOMENT, Status.PAID, [Line("s", 2, Decimal(3))], "n"),
        Named(first="f", last="l"),
        Measured(1, [2]),
        Tree(1, [Tree(2)], Tree(3)),
        Drawing(Circle(1.0)),
        Drawing(Square(2.0)),
        Point(1, 2),
        Plain(1, 2),
        Box("x"),
        HalfSlots(1, 2),
        Level.HIGH,
        Status.NEW,
        Access.READ,
        uuid.UUID(int=3),
        pathlib.PurePosixPath("a/b"),
        MOMENT,
        datetime.date(2020, 2, 3),
    ],
    ids=repr,
)
def test_dumps_then_loads(value: Any) -> None:
    for encoded in (ionfast.dumps(value), ionfast.dumps(value, binary=False)):
        again = ionfast.loads(encoded, type=type(value))
        assert again == value
        assert type(again) is type(value)


def test_renamed_fields_are_written_renamed() -> None:
    assert ionfast.dumps(Named(first="f"), binary=False) == (
        '$ion_1_0 {firstName:"f",\'last name\':"none"}'
    )
    assert ionfast.dumps(Measured(1, [2]), binary=False) == "$ion_1_0 {width:cm::1,p:mm::[2]}"
    assert ionfast.dumps(Drawing(Circle(1.0)), binary=False) == (
        "$ion_1_0 {shape:circle::{radius:1e0}}"
    )


def test_objects_that_are_not_as_they_were_declared() -> None:
    line = Line("s", 1, Decimal(2))
    line.extra = 1  # type: ignore[attr-defined]
    assert ionfast.dumps(line, binary=False) == '$ion_1_0 {sku:"s",quantity:1,price:2.}'
    del line.quantity
    with pytest.raises(AttributeError, match="quantity"):
        ionfast.dumps(line)
    mixed = Line.__new__(Line)
    mixed.price, mixed.sku, mixed.quantity = Decimal(2), "s", 1
    assert ionfast.dumps(mixed, binary=False) == '$ion_1_0 {sku:"s",quantity:1,price:2.}'


def test_keys_that_are_members_of_an_enum() -> None:
    value = {Status.NEW: {Status.PAID: 1}, "plain": Status.NEW}
    for binary in (True, False):
        data = ionfast.dumps(value, binary=binary)
        assert ionfast.loads(data) == {"new": {"paid": 1}, "plain": "new"}
    again = ionfast.loads(ionfast.dumps({Status.NEW: 1}), type=dict[Status, int])
    assert again == {Status.NEW: 1}
    with pytest.raises(TypeError) as caught:
        ionfast.dumps({"a": {Level.HIGH: 1}})
    words = r"field names must be str or SymbolToken, not 'Level', at $.a"
    assert str(caught.value) == words


def test_properties_over_fields_are_asked() -> None:
    class Loud(Line):
        @property
        def sku(self) -> str:  # type: ignore[override]
            return "loud"

        @sku.setter
        def sku(self, value: str) -> None:
            pass

    assert ionfast.loads(ionfast.dumps(Loud("s", 1, Decimal(2))))["sku"] == "loud"


def test_attrs_classes() -> None:
    attrs = pytest.importorskip("attrs")

    @attrs.define
    class Pet:
        name: str
        _legs: int = 4
        tags: list[str] = attrs.field(factory=list, converter=list)

    globals()["Pet"] = Pet
    value = Pet("Rex", 3, ["a"])
    assert ionfast.dumps(value, binary=False) == '$ion_1_0 {name:"Rex",_legs:3,tags:["a"]}'
    assert ionfast.loads(ionfast.dumps(value), type=Pet) == value
    assert ionfast.loads('{name: "Rex"}', type=Pet) == Pet("Rex")
    with pytest.raises(ValidationError) as caught:
        ionfast.loads("[{_legs: 1}]", type=list[Pet])
    assert str(caught.value) == "$[0] (offset 1): expected field 'name', found none"


def test_msgspec_structs() -> None:
    msgspec = pytest.importorskip("msgspec")
    made = msgspec.defstruct(
        "made", [("foo_bar", int), ("tail", list[int], msgspec.field(default_factory=list))],
        rename="camel", frozen=True,
    )  # fmt: skip
    value = made(1, [2])
    assert ionfast.dumps(value, binary=False) == "$ion_1_0 {fooBar:1,tail:[2]}"
    assert ionfast.loads(ionfast.dumps(value), type=made) == value
    assert ionfast.loads("{fooBar: 1}", type=made) == made(1)


def test_numpy_values() -> None:
    np = pytest.importorskip("numpy")
    values = [
        np.int16(-3), np.uint64(2**64 - 1), np.float32(0.5), np.bool_(True), np.str_("s"),
        np.array([[1, 2], [3, 4]]), np.array(5), np.array(["a"]), np.datetime64("2020-01-02"),
        np.datetime64("2020-01-02T03:04:05.123456000"),
    ]  # fmt: skip
    assert ionfast.dumps(values, binary=False) == (
        '$ion_1_0 [-3,18446744073709551615,0.5e0,true,"s",[[1,2],[3,4]],5,["a"],2020-01-02,'
        "2020-01-02T03:04:05.123456-00:00]"
    )
    with pytest.raises(TypeError, match="numpy dtype complex128 cannot be written as Ion"):
        ionfast.dumps(np.complex128(1))
    with pytest.raises(TypeError, match="longdouble"):
        ionfast.dumps(np.longdouble(1))
    with pytest.raises(ValueError, match="no whole microseconds") as caught:
        ionfast.dumps({"t": np.datetime64("2020-01-02T03:04:05.123456789")})
    assert caught.value.__notes__ == ["at $.t"]


# =================================================================================== errors


@table(
    ("wrong_scalar", dict[str, list[Line]], '{orders: [{sku: "s", quantity: 1, price: "x"}]}',
     "$.orders[0].price (offset 41): expected decimal, found string"),
    ("missing_field", list[Line], '[{sku: "s"}]',
     "$[0] (offset 1): expected field 'quantity', found none"),
    ("repeated_field", list[Line], '[{sku: "s", sku: "t"}]',
     "$[0].sku (offset 17): expected one such field, found a second"),
    ("repeated_key", dict[str, int], "{a: 1, b: 2, a: 3}",
     "$ (offset 0): expected different field names, found a repeated one"),
    ("scalar_for_a_record", list[Line], "[1]", "$[0] (offset 1): expected struct, found int"),
    ("list_for_a_record", Line, "[1]", "$ (offset 0): expected struct, found list"),
    ("struct_for_a_list", list[int], "{a: 1}", "$ (offset 0): expected list, found struct"),
    ("null", list[int], "[1, null]", "$[1] (offset 4): expected int, found null"),
    ("typed_null", list[Line], "[null.struct]",
     "$[0] (offset 1): expected struct, found null.struct"),
    ("optional", list[int | None], "[a]", "$[0] (offset 1): expected int or null, found symbol"),
    ("union", int | str | None, "2.5",
     "$ (offset 0): expected int, string or null, found decimal"),
    ("no_such_member", list[Status], "[gone]",
     "$[0] (offset 1): expected one of 'new', 'paid', found 'gone'"),
    ("no_such_value", Level, "3", "$ (offset 0): expected one of 1, 2, found 3"),
    ("kind_of_no_member", Level, "a", "$ (offset 0): expected one of 1, 2, found symbol"),
    ("literal_bool_is_no_int", Literal[1], "true", "$ (offset 0): expected 1, found bool"),
    ("float_not_exact", float, "0.1",
     "$ (offset 0): expected float, found decimal that no float equals"),
    ("float_too_big", float, f"{10**400}",
     "$ (offset 0): expected float, found int that no float equals"),
    ("float_of_odd_int", float, f"{2**53 + 1}",
     "$ (offset 0): expected float, found int that no float equals"),
    ("too_precise", datetime.datetime, "2020-01-02T03:04:05.123456789Z",
     "$ (offset 0): expected timestamp of minutes to microseconds, found one of 9 fractional digits"),
    ("no_time", datetime.datetime, "2020-01-02",
     "$ (offset 0): expected timestamp of minutes to microseconds, found one of day precision"),
    ("no_day", datetime.date, "2020-01T",
     "$ (offset 0): expected timestamp of day precision, found one of month precision"),
    ("no_uuid", uuid.UUID, '"x"', "$ (offset 0): expected a UUID, found 'x'"),
    ("short_tuple", list[tuple[int, int]], "[[1]]",
     "$[0] (offset 1): expected 2 elements, found 1"),
    ("long_tuple", list[tuple[int, int]], "[[1, 2, 3]]",
     "$[0] (offset 8): expected 2 elements, found more"),
    ("second_of_a_tuple", tuple[int, int], "[1, a]", "$[1] (offset 4): expected int, found symbol"),
    ("annotation", list[Measured], "[{width: mm::3}]",
     "$[0].width (offset 9): expected cm::int, found mm::int"),
    ("no_annotation", list[Measured], "[{width: 3}]",
     "$[0].width (offset 9): expected cm::int, found int"),
    ("union_of_classes", Drawing, "{shape: {radius: 1e0}}",
     "$.shape (offset 8): expected circle::struct, square::struct or null, found struct"),
    ("key_that_is_no_member", dict[Status, int], "{gone: 1}",
     "$ (offset 7): expected one of 'new', 'paid', found 'gone'"),
    ("odd_name", dict[str, dict[str, int]], "{'a b': {c: x}}",
     "$['a b'].c (offset 12): expected int, found symbol"),
    ("deep", Tree, "{value: 1, left: {value: 2, children: [{value: a}]}}",
     "$.left.children[0].value (offset 47): expected int, found symbol"),
)  # fmt: skip
def test_errors(tp: Any, data: str, wanted: str) -> None:
    with pytest.raises(ValidationError) as caught:
        ionfast.loads(data, type=tp)
    error = caught.value
    assert str(error) == wanted
    assert str(error) == (
        f"{error.path} (offset {error.offset}): expected {error.expected}, found {error.found}"
    )
    assert (error.line, error.column) == (1, error.offset + 1)
    with pytest.raises(ValidationError) as caught:
        Decoder(tp).loads(ionfast.dumps(ionfast.loads(data)))
    assert caught.value.path == error.path
    assert (caught.value.expected, caught.value.line) == (error.expected, None)


def test_the_offset_in_binary() -> None:
    data = bytes.fromhex("e00100ea b6 2101 2102 8161")
    with pytest.raises(ValidationError) as caught:
        ionfast.loads(data, type=list[int])
    assert str(caught.value) == "$[2] (offset 9): expected int, found string"


def test_the_line_and_column() -> None:
    with pytest.raises(ValidationError) as caught:
        ionfast.loads('[1,\n "é", 2]', type=list[int | None])
    assert (caught.value.line, caught.value.column, caught.value.offset) == (2, 2, 5)
    with pytest.raises(ValidationError) as caught:
        ionfast.loads('["é",\r\n\r "é", 2]', type=list[str])
    assert (caught.value.line, caught.value.column) == (3, 7)


def test_unknown_fields_can_be_refused() -> None:
    text = '[{sku: "s", extra: [1], quantity: 1, price: 2.}]'
    assert ionfast.loads(text, type=list[Line]) == [Line("s", 1, Decimal(2))]
    for encoded in encodings(text):
        for read in (
            lambda data: ionfast.loads(data, type=list[Line], forbid_unknown=True),
            Decoder(list[Line], forbid_unknown=True).loads,
        ):
            with pytest.raises(ValidationError, match="expected no other field, found 'extra'"):
                read(encoded)
    with pytest.raises(ValidationError) as caught:
        ionfast.loads(text, type=list[Line], forbid_unknown=True)
    assert str(caught.value) == "$[0] (offset 19): expected no other field, found 'extra'"
    assert ionfast.loads("{value: 1, twice: 9}", type=Doubled, forbid_unknown=True).twice == 2


def test_symbols_without_text() -> None:
    for tp, data in ((str, "$0"), (Symbol, "$0"), (Status, "$0"), (dict[str, int], "{$0: 1}")):
        with pytest.raises(ValidationError):
            ionfast.loads(data, type=tp)
    with pytest.raises(ValidationError) as caught:
        ionfast.loads("[$0]", type=list[str])
    assert str(caught.value) == "$[0] (offset 1): expected string, found symbol without text"


def test_broken_input_is_an_ion_error() -> None:
    for data in ('[{sku: "s", ', b"\xe0\x01\x00\xea\xb5\x21", "[{x: [1, 2}]"):
        with pytest.raises(ionfast.IonError) as caught:
            ionfast.loads(data, type=list[Line])
        assert not isinstance(caught.value, ValidationError)


def test_a_long_path_is_cut() -> None:
    text = "{value: 1, left: " * 100 + "{value: a}" + "}" * 100
    with pytest.raises(ValidationError) as caught:
        ionfast.loads(text, type=Tree)
    assert caught.value.path == "$" + ".left" * 16 + "..." + ".left" * 15 + ".value"


def test_validation_errors_pickle_and_copy() -> None:
    with pytest.raises(ValidationError) as caught:
        ionfast.loads("[a]", type=list[int])
    for twin in (pickle.loads(pickle.dumps(caught.value)), copy.copy(caught.value)):
        assert str(twin) == str(caught.value)
        assert vars(twin) == vars(caught.value)
    assert isinstance(caught.value, ionfast.IonError)
    assert isinstance(caught.value, ValueError)


def test_what_post_init_raises_comes_through() -> None:
    with pytest.raises(ValueError, match="negative") as caught:
        ionfast.loads("[{value: 1}, {value: -1}]", type=list[Doubled])
    assert caught.value.__notes__ == ["at $[1] (offset 13)"]


def test_what_a_default_factory_raises_comes_through() -> None:
    def fail() -> int:
        raise KeyError("factory")

    made = dataclasses.make_dataclass(
        "Made", [("a", int, dataclasses.field(default_factory=fail))]
    )
    with pytest.raises(KeyError) as caught:
        ionfast.loads("{b: {}}", type=dict[str, made])
    assert caught.value.__notes__ == ["at $.b (offset 4)"]


def test_elements_that_cannot_be_hashed() -> None:
    with pytest.raises(TypeError, match="unhashable") as caught:
        ionfast.loads("[[1]]", type=set[list[int]])
    assert caught.value.__notes__ == ["at $ (offset 0)"]


@dataclasses.dataclass
class WithComplex:
    a: int
    b: list[complex]


@dataclasses.dataclass
class WithInitVar:
    a: int
    scale: dataclasses.InitVar[int]


@dataclasses.dataclass
class Twice:
    a: Annotated[int, Field(name="x")]
    b: Annotated[int, Field(name="x")]


@dataclasses.dataclass
class Unresolved:
    a: "NoSuchName"  # type: ignore[name-defined]  # noqa: F821, UP037


class BadEnum(enum.Enum):
    PAIR = (1, 2)


@table(
    ("class_without_fields", list[WithComplex],
     "WithComplex.b[...]: complex cannot be read from Ion"),
    ("init_var", WithInitVar, "WithInitVar.scale: InitVar cannot be read from Ion, for it is no part "
     "of the object"),
    ("one_name_twice", Twice, "Twice.b: field 'x' is that of a too"),
    ("unresolved_hint", Unresolved,
     "Unresolved: a type hint cannot be resolved: name 'NoSuchName' is not defined"),
    ("ambiguous_union", int | Level,
     "int | test_typed.Level: members of int | Level are the same Ion type, and no annotations tell "
     "them apart"),
    ("keys_that_are_no_text", dict[int, int],
     "dict[int, int]: int cannot be a field name, which is text"),
    ("enum_of_pairs", BadEnum, "BadEnum: BadEnum has the value (1, 2), which is no scalar"),
    ("no_type", 3, "3: 3 cannot be read from Ion"),
)  # fmt: skip
def test_types_that_cannot_be_read(tp: Any, data: str) -> None:
    for make in (Decoder, lambda tp: ionfast.loads("1", type=tp)):
        with pytest.raises(TypeError) as caught:
            make(tp)
        assert str(caught.value) == data


def test_arguments() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'x'"):
        Decoder(int, x=1)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="Decoder\\(\\) takes 1 positional argument"):
        Decoder()  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="codec must be a Codec or None, not int"):
        Decoder(int, codec=1)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="name must be a str or None, not int"):
        Field(name=1)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="loads"):
        Decoder(int).loads(3)  # type: ignore[arg-type]
    assert Field(name="a") == Field(name="a") != Field(annotation="a")
    assert repr(Field(name="a")) == "Field(name='a', annotation=None)"


# ================================================================================== memory


def test_nothing_leaks() -> None:
    data = ionfast.dumps([Order(1, "c", Decimal(2), MOMENT, lines=[Line("s", 1, Decimal(2))])] * 2)
    decoder = Decoder(list[Order])
    assert_flat(lambda: decoder.loads(data), Order, Line, Status)
    assert_flat(lambda: ionfast.loads(data, type=list[Order]), Order, Line)
    assert_flat(lambda: Decoder(list[Order]), Decoder, Order)


@pytest.mark.parametrize(
    ("tp", "data"),
    [
        (list[Line], '[{sku: "s", quantity: 1, price: a}]'),
        (list[Line], '[{sku: "s", quantity: 1}]'),
        (list[Doubled], "[{value: 1}, {value: -1}]"),
        (dict[str, tuple[int, int]], "{a: [1, 2], b: [1]}"),
        (dict[str, Any], "{a: [1, {b: c}], b: [1}"),
        (list[uuid.UUID], '["x"]'),
        (set[list[int]], "[[1]]"),
    ],
)
def test_errors_leak_nothing(tp: Any, data: str) -> None:
    decoder = Decoder(tp)

    def fail() -> None:
        with pytest.raises((ValueError, TypeError)):
            decoder.loads(data)

    assert_flat(fail, Line, Doubled)


@scenarios.classes_die
def test_decoders_are_collected() -> None:
    made = dataclasses.make_dataclass("Made", [("a", int)])
    decoder = Decoder(made)
    made.decoder = decoder  # type: ignore[attr-defined]
    assert decoder.loads("{a: 1}") == made(1)
    ref = weakref.ref(made)
    del made, decoder
    gc.collect()
    assert ref() is None


def test_a_decoder_can_be_used_by_what_it_calls() -> None:
    decoders: list[Decoder[Any]] = []

    @dataclasses.dataclass
    class Nested:
        text: str
        inner: Any = dataclasses.field(init=False, default=None)

        def __post_init__(self) -> None:
            if self.text:
                self.inner = decoders[0].loads(self.text)

    decoders.append(Decoder(Nested))
    value = decoders[0].loads('{text: "{text: \\"{text: \\\\\\"\\\\\\"}\\"}"}')
    assert value.inner.inner.inner is None


@pytest.mark.skipif(sys.version_info < (3, 12), reason="type statements")
@pytest.mark.parametrize(
    ("tp", "value"),
    [
        ("list[tuple[int, str]]", [(1, "a")]),
        ("int | str | list[X] | dict[str, X] | None", [1, {"a": [None, "x"]}]),
        ("list[X | None]", [[], None, [[None]]]),
        ("Annotated[dict[str, X | int], 'doc']", {"a": {"b": 1}}),
    ],
)
def test_type_statements(tp: str, value: Any) -> None:
    """They may contain themselves."""
    namespace: dict[str, Any] = {"Annotated": Annotated}
    exec(f"type X = {tp}\ntype Y = Z\ntype Z = Y", namespace)
    assert ionfast.loads(ionfast.dumps(value), type=namespace["X"]) == value
    with pytest.raises(TypeError, match="Y: Z stands for nothing but itself"):
        Decoder(namespace["Y"])


@pytest.mark.skipif(sys.version_info < (3, 12), reason="type statements")
def test_type_statements_with_variables() -> None:
    namespace: dict[str, Any] = {"dataclasses": dataclasses}
    exec(
        "type Tree[T] = dict[str, T | Tree[T]]\n"
        "@dataclasses.dataclass\nclass Page[T]:\n    items: list[T]\n    next: 'Page[T] | None' = None",
        namespace,
    )
    tree, page = namespace["Tree"], namespace["Page"]
    assert ionfast.loads("{a: 1, b: {c: 2}}", type=tree[int]) == {"a": 1, "b": {"c": 2}}
    with pytest.raises(ValidationError) as caught:
        ionfast.loads("{b: {c: d}}", type=tree[int])
    assert str(caught.value) == "$.b.c (offset 8): expected int or struct, found symbol"
    assert ionfast.loads("{items: [1], next: {items: []}}", type=page[int]) == page([1], page([]))
    with pytest.raises(ValidationError, match="expected int, found symbol"):
        ionfast.loads("{items: [a]}", type=page[int])


@dataclasses.dataclass
class Chain(Generic[T]):
    value: T
    next: typing.Self | None = None
    word: typing.LiteralString = "w"


def test_self() -> None:
    value = Chain(1, Chain(2))
    assert ionfast.loads(ionfast.dumps(value), type=Chain[int]) == value
    with pytest.raises(ValidationError) as caught:
        ionfast.loads("{value: 1, next: {value: a}}", type=Chain[int])
    assert str(caught.value) == "$.next.value (offset 25): expected int, found symbol"

    class Longer(Chain[int]):
        pass

    assert type(ionfast.loads("{value: 1, next: {value: 2}}", type=Longer).next) is Longer


def test_unhashable_hints_work() -> None:
    assert ionfast.loads("1", type=Annotated[int, ["not hashable"]]) == 1


def test_typing_forms_are_known() -> None:
    assert ionfast.loads("[1]", type=typing.List[typing.Optional[int]]) == [1]  # noqa: UP006, UP045
    assert ionfast.loads("{a: 1}", type=typing.Dict[str, int]) == {"a": 1}  # noqa: UP006
