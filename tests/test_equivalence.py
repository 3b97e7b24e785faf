"""Equality in the Ion data model, in both orders, and where Python's own ``==`` disagrees."""

from __future__ import annotations

import collections
import copy
import dataclasses
import datetime
import enum
import itertools
import pathlib
import types
import uuid
from decimal import Decimal
from typing import Any, NamedTuple

import pytest

from ionfast import (
    Clob,
    ImportLocation,
    IonPyBool,
    IonPyBytes,
    IonPyDecimal,
    IonPyDict,
    IonPyFloat,
    IonPyInt,
    IonPyList,
    IonPyNull,
    IonPySymbol,
    IonPyText,
    IonPyTimestamp,
    IonType,
    Sexp,
    Symbol,
    SymbolToken,
    Timestamp,
    TimestampPrecision,
)
from ionfast.equivalence import ion_equals

NAN = float("nan")
UTC = datetime.UTC
NOON = datetime.datetime(2024, 5, 6, 12, 0, 0)


class Color(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


class Name(str, enum.Enum):  # noqa: UP042 - StrEnum is not the same
    ANN = "ann"


class Point(NamedTuple):
    x: int
    y: int


@dataclasses.dataclass
class Place:
    x: int
    y: int
    ignored: dataclasses.InitVar[int] = 0


def struct(*items: tuple[Any, Any]) -> IonPyDict:
    return IonPyDict._from_items(items)


def annotated(value: Any, *annotations: str | SymbolToken) -> Any:
    classes: dict[type, tuple[Any, IonType]] = {
        int: (IonPyInt, IonType.INT),
        str: (IonPyText, IonType.STRING),
        list: (IonPyList, IonType.LIST),
        dict: (IonPyDict, IonType.STRUCT),
    }
    cls, ion_type = classes[type(value)]
    return cls.from_value(ion_type, value, annotations)


def stamp(*fields: int, **rest: Any) -> Timestamp:
    rest.setdefault("precision", TimestampPrecision.SECOND)
    return Timestamp(*fields, **rest)


# Within a group all are equal; between groups none are.
GROUPS: list[list[Any]] = [
    [None, IonPyNull(), IonPyNull(IonType.NULL)],
    [IonPyNull(IonType.INT)],
    [IonPyNull(IonType.STRING)],
    [IonPyNull(IonType.LIST)],
    [IonPyNull(IonType.INT, None, ["a"])],
    [False, IonPyBool(0)],
    [True, IonPyBool(1)],
    [0, IonPyInt(0)],
    [1, IonPyInt(1)],
    [3, Level.HIGH],
    [10**5000, IonPyInt(10**5000)],
    [0.0, IonPyFloat(0.0)],
    [-0.0, IonPyFloat(-0.0)],
    [1.0],
    [NAN, -NAN, IonPyFloat("nan")],
    [float("inf")],
    [Decimal("0"), IonPyDecimal(0)],
    [Decimal("-0"), IonPyDecimal("-0")],
    [Decimal("0.0")],
    [Decimal("0E1")],
    [Decimal("1")],
    [Decimal("1.0")],
    [Decimal("1.00")],
    [Decimal("10"), Decimal("1E1") + 0 * Decimal("1E0")],
    [Decimal("1E1")],
    ["", IonPyText()],
    ["red", Color.RED],
    ["ann", Name.ANN, IonPyText("ann")],
    ["a/b", pathlib.PurePosixPath("a/b")],
    ["12345678-1234-5678-1234-567812345678", uuid.UUID("12345678123456781234567812345678")],
    [
        *(Symbol("ann"), SymbolToken("ann"), SymbolToken("ann", 12), IonPySymbol("ann")),
        *(IonPyText.from_value(IonType.SYMBOL, "ann"),),
        *(SymbolToken("ann", 1, ImportLocation("t", 1)),),
    ],
    [Symbol("")],
    [SymbolToken(None, 0), IonPySymbol(None, 0)],
    [SymbolToken(None, 10), SymbolToken(None, 12), IonPySymbol(None, 99)],
    [SymbolToken(None, 12, ImportLocation("t", 3)), SymbolToken(None, 9, ImportLocation("t", 3))],
    [SymbolToken(None, 12, ImportLocation("t", 4))],
    [SymbolToken(None, 12, ImportLocation("u", 3))],
    [b"ann", bytearray(b"ann"), memoryview(b"ann"), IonPyBytes(b"ann")],
    [Clob(b"ann"), IonPyBytes.from_value(IonType.CLOB, b"ann")],
    [[], (), IonPyList(), set()],
    [[1, "ann"], (1, "ann"), IonPyList([1, "ann"])],
    [["ann", 1]],
    [Sexp(), IonPyList.from_value(IonType.SEXP, [])],
    [Sexp([1, "ann"])],
    [[[]]],
    [[[], []]],
    [{}, IonPyDict(), types.MappingProxyType({}), collections.OrderedDict()],
    [
        *({"x": 1, "y": 2}, {"y": 2, "x": 1}, types.MappingProxyType({"x": 1, "y": 2})),
        *(Point(1, 2), Place(1, 2), struct(("y", 2), ("x", 1))),
        *({SymbolToken("x"): 1, Symbol("y"): 2},),
    ],
    [{"x": 1}],
    [{"x": 1.0}],
    [{SymbolToken(None, 0): 1}],
    [{SymbolToken(None, 10): 1}, {SymbolToken(None, 12): 1}],
    [
        {SymbolToken(None, 10): 1, SymbolToken(None, 12): 2},
        struct((SymbolToken(None, 10), 2), (SymbolToken(None, 10), 1)),
    ],
    [struct(("x", 1), ("x", 1))],
    [struct(("x", 1), ("x", 2)), struct(("x", 2), ("x", 1))],
    [struct(("x", 1), ("x", 2), ("x", 2)), struct(("x", 2), ("x", 1), ("x", 2))],
    [struct(("x", 1), ("x", 1), ("x", 2))],
    [struct(("x", [1]), ("x", {"y": NAN})), struct(("x", {"y": NAN}), ("x", (1,)))],
    [annotated(1, "a"), annotated(1, Symbol("a")), annotated(1, SymbolToken("a", 10))],
    [annotated(1, "a", "b")],
    [annotated(1, "b", "a")],
    [annotated(1, "a", "a")],
    [annotated(1, SymbolToken(None, 0))],
    [annotated(1, SymbolToken(None, 10)), annotated(1, SymbolToken(None, 12))],
    [annotated("1", "a")],
    [annotated([1], "a")],
    [[annotated(1, "a")]],
    [annotated({"x": 1}, "a")],
]


@pytest.mark.parametrize("group", range(len(GROUPS)))
def test_equal_within_a_group(group: int) -> None:
    for a, b in itertools.product(GROUPS[group], repeat=2):
        assert ion_equals(a, b), (a, b)


@pytest.mark.parametrize("group", range(len(GROUPS)))
def test_different_between_groups(group: int) -> None:
    for other in range(len(GROUPS)):
        if other != group:
            assert not ion_equals(GROUPS[group][0], GROUPS[other][-1]), (group, other)


# ---- timestamps ----

# As above; the second number is the instant, for the comparison that looks at nothing else.
TIMESTAMPS: list[tuple[int, list[Any]]] = [
    (0, [stamp(2024, precision=TimestampPrecision.YEAR)]),
    (0, [stamp(2024, 1, precision=TimestampPrecision.MONTH)]),
    (0, [datetime.date(2024, 1, 1), stamp(2024, 1, 1, precision=TimestampPrecision.DAY)]),
    (0, [stamp(2024, 1, 1, 0, 0, tzinfo=UTC, precision=TimestampPrecision.MINUTE)]),
    (0, [stamp(2024, 1, 1, 0, 0, precision=TimestampPrecision.MINUTE)]),
    (0, [stamp(2024, 1, 1, tzinfo=UTC)]),
    (0, [stamp(2024, 1, 1)]),
    (
        0,
        [
            datetime.datetime(2024, 1, 1, tzinfo=UTC),
            stamp(2024, 1, 1, tzinfo=UTC, fractional_seconds=Decimal("0.000000")),
        ],
    ),
    (0, [stamp(2024, 1, 1, tzinfo=UTC, fractional_seconds=Decimal("0.0"))]),
    (
        0,
        [
            stamp(2024, 1, 1, 5, 30, tzinfo=datetime.timezone(datetime.timedelta(hours=5.5))),
        ],
    ),
    (1, [datetime.datetime(2024, 1, 1, 0, 0, 0, 250_000)]),
    (1, [stamp(2024, 1, 1, fractional_seconds=Decimal("0.25"))]),
    (
        1,
        [
            stamp(2024, 1, 1, fractional_seconds=Decimal("0.250")),
            IonPyTimestamp.from_value(
                IonType.TIMESTAMP, stamp(2024, 1, 1, fractional_seconds=Decimal("0.250"))
            ),
        ],
    ),
    (2, [stamp(2024, 1, 1, fractional_seconds=Decimal("0.2500000000001"))]),
    (3, [stamp(2024, 1, 1, fractional_seconds=Decimal("0.025"))]),
    (4, [stamp(2024, 1, 1, 0, 0, 1)]),
    (5, [stamp(1, 1, 1, tzinfo=datetime.timezone(datetime.timedelta(hours=14)))]),
    (6, [stamp(9999, 12, 31, 23, 59, tzinfo=datetime.timezone(-datetime.timedelta(hours=14)))]),
]


@pytest.mark.parametrize("row", range(len(TIMESTAMPS)))
def test_timestamps_by_precision_offset_and_digits(row: int) -> None:
    for other in range(len(TIMESTAMPS)):
        for a, b in itertools.product(TIMESTAMPS[row][1], TIMESTAMPS[other][1]):
            assert ion_equals(a, b) is (row == other), (a, b)


@pytest.mark.parametrize("row", range(len(TIMESTAMPS)))
def test_timestamps_by_instant(row: int) -> None:
    instant, values = TIMESTAMPS[row]
    for other, others in TIMESTAMPS:
        for a, b in itertools.product(values, others):
            equal = ion_equals([a], [b], timestamps_instants_only=True)
            assert equal is (instant == other), (a, b)


# ---- depth, sharing, and what has no Ion value ----


def nested(depth: int, innermost: object, repeat: bool = False) -> Any:
    value = innermost
    for _ in range(depth):
        value = struct(("a", value), ("a", 1)) if repeat else [value]
    return value


@pytest.mark.parametrize("repeat", [False, True])
def test_depth_has_no_limit(repeat: bool) -> None:
    depth = 20_000 if repeat else 100_000
    a, b, c = nested(depth, 1, repeat), nested(depth, 1, repeat), nested(depth, 2, repeat)
    assert ion_equals(a, b)
    assert not ion_equals(a, c)
    for value in (a, b, c):  # Python's own way to free them is recursive before 3.12
        while isinstance(value, (list, IonPyDict)):
            key = "a" if isinstance(value, IonPyDict) else 0
            inner = value.get_all_values("a")[0] if isinstance(value, IonPyDict) else value[key]
            value.clear()
            value = inner


def test_a_value_that_is_shared_is_looked_at_once() -> None:
    a: Any = [1]
    b: Any = [1]
    for _ in range(200):  # written out, these would be 2 ** 200 values
        a, b = [a, a], [b, copy.copy(b)]
    assert ion_equals(a, b)


def test_many_repeated_fields_are_matched_in_any_order() -> None:
    values = [[i % 7, {"n": i}] for i in range(5000)]
    a = struct(*(("a", value) for value in values))
    b = struct(*(("a", value) for value in reversed(values)))
    assert ion_equals(a, b)
    b.add_item("a", 1)
    assert not ion_equals(a, b)


def test_a_container_within_itself_is_an_error() -> None:
    loop: list[Any] = []
    loop.append({"a": [loop]})
    with pytest.raises(ValueError, match="contains itself"):
        ion_equals(loop, 1)


def test_generators_are_lists() -> None:
    assert ion_equals((i for i in range(3)), [0, 1, 2])


def test_an_object_without_an_ion_value_is_an_error() -> None:
    with pytest.raises(TypeError, match="no Ion value for an object of type complex"):
        ion_equals([1j], [1])


def test_a_field_name_that_is_no_text_is_an_error() -> None:
    with pytest.raises(TypeError, match="a field name is a str or a SymbolToken, not 1"):
        ion_equals({1: 2}, {})


def test_an_error_of_a_tzinfo_comes_out() -> None:
    class Broken(datetime.tzinfo):
        def utcoffset(self, moment: datetime.datetime | None) -> datetime.timedelta:
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        ion_equals(NOON.replace(tzinfo=Broken()), NOON)
