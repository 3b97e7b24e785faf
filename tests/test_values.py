"""The value classes: Python values with an Ion type and annotations."""

from __future__ import annotations

import copy
import datetime
import json
import math
import pickle
import random
import zoneinfo
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from ionfast import (
    Clob,
    ImportLocation,
    IonError,
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
    is_null,
)
from ionfast.equivalence import ion_equals

UNKNOWN = SymbolToken(None, 12, ImportLocation("fruits", 3))
MOMENT = Timestamp(
    2024,
    5,
    6,
    7,
    8,
    9,
    tzinfo=datetime.timezone(datetime.timedelta(hours=-8)),
    precision=TimestampPrecision.SECOND,
    fractional_seconds=Decimal("0.1234567890"),
)

# Class, Ion type by default, a plain value, and Python's type.
CLASSES: list[tuple[Any, IonType, Any, type]] = [
    (IonPyBool, IonType.BOOL, True, int),
    (IonPyInt, IonType.INT, 10**30, int),
    (IonPyFloat, IonType.FLOAT, -0.5, float),
    (IonPyDecimal, IonType.DECIMAL, Decimal("-1.50E+7"), Decimal),
    (IonPyTimestamp, IonType.TIMESTAMP, MOMENT, datetime.datetime),
    (IonPyText, IonType.STRING, "plüm", str),
    (IonPySymbol, IonType.SYMBOL, SymbolToken("plum", 12), SymbolToken),
    (IonPyBytes, IonType.BLOB, b"\x00\xff", bytes),
    (Clob, IonType.CLOB, b"plum", bytes),
    (IonPyList, IonType.LIST, [1, "two", [3]], list),
    (Sexp, IonType.SEXP, [1, "two", [3]], list),
    (IonPyDict, IonType.STRUCT, {"a": 1, "b": [2]}, dict),
]

by_class = pytest.mark.parametrize(
    ("cls", "ion_type", "plain", "python_type"), CLASSES, ids=[row[0].__name__ for row in CLASSES]
)


# ---- what all classes share ----


@by_class
def test_is_a_python_value(cls: Any, ion_type: IonType, plain: Any, python_type: type) -> None:
    value = cls.from_value(ion_type, plain)
    assert isinstance(value, python_type)
    assert value == plain
    assert plain == value
    assert value.ion_type is ion_type is cls.ion_type
    assert value.ion_annotations == ()
    if python_type not in (list, dict):
        assert hash(value) == hash(plain)


@by_class
def test_costs_no_dictionary_until_something_is_set(
    cls: Any, ion_type: IonType, plain: Any, python_type: type
) -> None:
    assert cls.from_value(ion_type, plain).__dict__ == {}
    assert cls.from_value(ion_type, plain, ["a"]).__dict__ == {"ion_annotations": (Symbol("a"),)}


@by_class
def test_from_none_is_a_null(cls: Any, ion_type: IonType, plain: Any, python_type: type) -> None:
    value = cls.from_value(ion_type, None, ["a"])
    assert type(value) is IonPyNull
    assert (value.ion_type, value.ion_annotations) == (ion_type, ("a",))


@by_class
def test_type_and_annotations_are_assignable(
    cls: Any, ion_type: IonType, plain: Any, python_type: type
) -> None:
    value = cls.from_value(ion_type, plain)
    value.ion_type = IonType.NULL
    value.ion_annotations = ("a", "b")
    assert (value.ion_type, value.ion_annotations) == (IonType.NULL, ("a", "b"))
    assert cls.ion_type is ion_type
    assert cls.ion_annotations == ()


COPIES: list[tuple[str, Callable[[Any], Any]]] = [
    ("copy", copy.copy),
    ("deepcopy", copy.deepcopy),
    ("__copy__", lambda value: value.__copy__()),
] + [
    (
        f"pickle{protocol}",
        lambda value, protocol=protocol: pickle.loads(pickle.dumps(value, protocol)),
    )
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1)
]

by_copy = pytest.mark.parametrize("copied", [c for _, c in COPIES], ids=[n for n, _ in COPIES])


@by_class
@by_copy
def test_copies_keep_everything(
    cls: Any, ion_type: IonType, plain: Any, python_type: type, copied: Callable[[Any], Any]
) -> None:
    value = cls.from_value(ion_type, plain, ["a", UNKNOWN])
    value.extra = [1]
    result = copied(value)
    assert type(result) is cls
    assert result is not value
    assert result == value
    assert ion_equals(result, value)
    assert result.__dict__ == value.__dict__
    value.ion_type = IonType.NULL
    value.ion_annotations = ()
    assert (result.ion_type, result.ion_annotations) == (ion_type, ("a", UNKNOWN))


@by_copy
def test_copies_of_nulls_keep_everything(copied: Callable[[Any], Any]) -> None:
    value = IonPyNull.from_value(IonType.CLOB, None, ["a"])
    assert copied(value) == value
    assert copied(value).ion_annotations == ("a",)


@by_class
def test_a_deep_copy_shares_nothing_that_can_change(
    cls: Any, ion_type: IonType, plain: Any, python_type: type
) -> None:
    value = cls.from_value(ion_type, plain)
    value.extra = [1]
    assert copy.deepcopy(value).extra is not value.extra
    assert copy.copy(value).extra is value.extra


@by_class
def test_a_subclass_stays_one(cls: Any, ion_type: IonType, plain: Any, python_type: type) -> None:
    subclass = type("Sub", (cls,), {})
    value = subclass.from_value(ion_type, plain, ["a"])
    for result in (value, copy.copy(value), copy.deepcopy(value)):
        assert type(result) is subclass
        assert result == plain


# ---- annotations ----


def test_annotations_are_symbols_with_text_or_tokens_without() -> None:
    given = ["a", Symbol("b"), SymbolToken("c", 10), IonPySymbol("d"), IonPyText("e"), UNKNOWN]
    annotations = IonPyInt.from_value(IonType.INT, 1, given).ion_annotations
    assert [type(a) for a in annotations] == [Symbol] * 5 + [SymbolToken]
    assert [a.text for a in annotations] == ["a", "b", "c", "d", "e", None]
    assert "c" in annotations
    assert annotations[5] == UNKNOWN


@pytest.mark.parametrize("annotations", ["abc", SymbolToken("abc")])
def test_one_symbol_is_not_a_sequence_of_annotations(annotations: Any) -> None:
    with pytest.raises(TypeError, match=r"annotations are a sequence of symbols, not one: .*abc"):
        IonPyInt.from_value(IonType.INT, 1, annotations)


def test_an_annotation_that_is_no_symbol_is_an_error() -> None:
    with pytest.raises(TypeError, match="an annotation is a str or a SymbolToken, not 5"):
        IonPyInt.from_value(IonType.INT, 1, ["a", 5])  # type: ignore[list-item]


# ---- class by class ----


def test_null() -> None:
    assert not IonPyNull()
    assert IonPyNull() == IonPyNull(IonType.NULL)
    assert IonPyNull(IonType.INT) != IonPyNull(IonType.STRING)
    assert IonPyNull(IonType.INT) not in (None, 0)
    assert len({IonPyNull(IonType.INT), IonPyNull(IonType.INT), IonPyNull()}) == 2
    assert repr(IonPyNull(IonType.SEXP)) == "IonPyNull(IonType.SEXP)"
    assert [is_null(v) for v in (None, IonPyNull(IonType.INT), 0, "", [])] == [True, True] + 3 * [
        False
    ]


def test_bool_reads_as_one() -> None:
    assert (repr(IonPyBool(1)), str(IonPyBool(0)), f"{IonPyBool(1)}") == ("True", "False", "True")


def test_float_keeps_the_sign_of_zero() -> None:
    value = copy.deepcopy(IonPyFloat.from_value(IonType.FLOAT, -0.0))
    assert math.copysign(1, value) == -1


@by_copy
@pytest.mark.parametrize("text", ["-0.00", "1E+999999", "0E-999999", "1.2300", "7" * 5000])
def test_decimals_keep_their_digits(copied: Callable[[Any], Any], text: str) -> None:
    value = IonPyDecimal.from_value(IonType.DECIMAL, Decimal(text))
    assert copied(value).as_tuple() == Decimal(text).as_tuple()


@pytest.mark.parametrize(
    ("plain", "precision", "fraction"),
    [
        (MOMENT, TimestampPrecision.SECOND, "0.1234567890"),
        (Timestamp(2024, precision=TimestampPrecision.YEAR), TimestampPrecision.YEAR, "0"),
        (datetime.datetime(2024, 5, 6, 7, 8, 9, 120), TimestampPrecision.SECOND, "0.000120"),
        (datetime.datetime(2024, 5, 6), TimestampPrecision.SECOND, "0.000000"),
        (datetime.date(2024, 5, 6), TimestampPrecision.DAY, "0"),
    ],
)
def test_timestamp_from_what_python_has(
    plain: Any, precision: TimestampPrecision, fraction: str
) -> None:
    value = IonPyTimestamp.from_value(IonType.TIMESTAMP, plain)
    assert value.precision == precision
    assert value.fractional_seconds.as_tuple() == Decimal(fraction).as_tuple()
    assert ion_equals(value, plain)
    assert ion_equals(copy.deepcopy(value), plain)


@pytest.mark.parametrize(("fold", "hours"), [(0, -4), (1, -5)])
def test_timestamp_keeps_the_offset_of_an_ambiguous_hour(fold: int, hours: int) -> None:
    zone = zoneinfo.ZoneInfo("America/New_York")
    plain = datetime.datetime(2022, 11, 6, 1, 30, tzinfo=zone, fold=fold)
    value = IonPyTimestamp.from_value(IonType.TIMESTAMP, plain)
    assert value.utcoffset() == datetime.timedelta(hours=hours)
    assert pickle.loads(pickle.dumps(value)).utcoffset() == datetime.timedelta(hours=hours)


def test_symbol_is_its_text() -> None:
    symbol = Symbol("plum")
    assert {"plum": 1}[symbol] == 1
    assert type(symbol.text) is str
    assert (symbol.text, symbol.sid, symbol.location) == ("plum", None, None)
    assert (symbol.ion_type, symbol.ion_annotations) == (IonType.SYMBOL, ())
    assert repr([Symbol("it's")]) == '[Symbol("it\'s")]'
    for name, copied in COPIES:
        if name != "__copy__":
            assert type(copied(symbol)) is Symbol
            assert copied(symbol) == symbol


def test_symbol_token_compares_by_all_parts() -> None:
    assert SymbolToken("a") == SymbolToken("a", None) != SymbolToken("a", 10)
    assert SymbolToken(None, 12) != UNKNOWN == SymbolToken(None, 12, ImportLocation("fruits", 3))
    assert hash(SymbolToken("a", 10)) == hash(SymbolToken("a", 10))
    assert repr(UNKNOWN) == (
        "SymbolToken(text=None, sid=12, location=ImportLocation(name='fruits', position=3))"
    )
    assert pickle.loads(pickle.dumps(UNKNOWN)) == UNKNOWN


def test_ion_symbol_from_what_symbols_are_made_of() -> None:
    for plain in ("a", Symbol("a"), IonPyText("a")):
        value = IonPySymbol.from_value(IonType.SYMBOL, plain)
        assert (value, type(value.text)) == (("a", None, None), str)
    assert IonPySymbol.from_value(IonType.SYMBOL, UNKNOWN) == UNKNOWN
    with pytest.raises(TypeError, match="a symbol is made of a str or a SymbolToken, not 5"):
        IonPySymbol.from_value(IonType.SYMBOL, 5)


def test_reprs_tell_types_apart() -> None:
    values = [Clob(b"a"), b"a", Symbol("a"), "a", Sexp([1]), [1], IonPyList([1])]
    assert repr(values) == "[Clob(b'a'), b'a', Symbol('a'), 'a', Sexp([1]), [1], [1]]"


def test_a_list_may_contain_itself() -> None:
    value = Sexp([1])
    value.append(value)
    for result in (copy.deepcopy(value), pickle.loads(pickle.dumps(value))):
        assert result[1] is result
    assert repr(value) == "Sexp([1, Sexp([...])])"


# ---- structs with repeated fields ----

ITEMS = [("a", 1), ("b", 2), ("a", 3), (UNKNOWN, 4), ("a", 5)]


def repeated() -> IonPyDict:
    return IonPyDict._from_items(ITEMS)


def test_repeated_fields_are_all_there_in_order() -> None:
    struct = repeated()
    assert struct.all_items() == list(struct.items()) == list(struct.iteritems()) == ITEMS
    assert list(struct.iter_all_items()) == ITEMS
    assert struct._repeats == ITEMS
    assert len(struct) == len(struct.items()) == 5
    assert ("a", 3) in struct.items()
    assert ("a", 4) not in struct.items()
    assert struct.get_all_values("a") == [1, 3, 5]
    assert struct.get_all_values(UNKNOWN) == [4]
    assert repr(struct).startswith("{'a': 1, 'b': 2, 'a': 3, SymbolToken(text=None")


def test_the_dict_is_the_last_value_of_each_name() -> None:
    struct = repeated()
    assert list(struct) == list(struct.keys()) == ["a", "b", UNKNOWN]
    assert list(struct.values()) == [5, 2, 4]
    assert (struct["a"], struct.get("a"), struct.get("z", 0), "a" in struct) == (5, 5, 0, True)
    assert dict(struct) == {"a": 5, "b": 2, UNKNOWN: 4}
    assert json.loads(json.dumps(IonPyDict._from_items([("a", 1), ("a", 2)]))) == {"a": 2}


def test_a_name_that_is_not_there() -> None:
    for struct in (IonPyDict(b=1), repeated()):
        for call in (struct.get_all_values, struct.__getitem__, struct.__delitem__, struct.pop):
            with pytest.raises(KeyError, match="z"):
                call("z")
        assert struct.pop("z", 7) == 7


def test_without_repeats_there_is_no_side_storage() -> None:
    struct = IonPyDict({"a": 1}, b=2)
    struct.add_item("c", 3)
    assert struct.__dict__ == {}
    assert struct._repeats is None
    assert struct.items() & {("a", 1)} == {("a", 1)}
    struct.add_item("a", 4)
    assert struct._repeats == [("a", 1), ("b", 2), ("c", 3), ("a", 4)]
    struct["a"] = 5
    assert struct.__dict__ == {}
    assert list(struct.items()) == [("a", 5), ("b", 2), ("c", 3)]


class Model:
    """What a struct with repeated fields should do, as a list of pairs."""

    def __init__(self) -> None:
        self.items: list[tuple[str, int]] = []

    def add(self, key: str, value: int) -> None:
        self.items.append((key, value))

    def delete(self, key: str) -> None:
        self.items = [item for item in self.items if item[0] != key]

    def replace(self, key: str, values: list[int]) -> None:
        names = [name for name, _ in self.items]
        at = names.index(key) if key in names else len(names)
        before, after = self.items[:at], self.items[at:]
        self.items = [*before, *((key, v) for v in values), *(i for i in after if i[0] != key)]


ACTIONS = (
    *("add", "add", "add", "set", "del", "pop", "popitem", "setdefault", "clear"),
    *("update", "update_repeated", "ior", "or"),
)


def mutate(rng: random.Random, struct: IonPyDict, model: Model) -> None:
    key, value = rng.choice("abcd"), rng.randrange(100)
    held = [v for k, v in model.items if k == key]
    action = rng.choice(ACTIONS)
    if action == "add":
        struct.add_item(key, value)
        model.add(key, value)
    elif action == "set":
        struct[key] = value
        model.replace(key, [value])
    elif action == "del" and held:
        del struct[key]
        model.delete(key)
    elif action == "pop":
        assert struct.pop(key, None) == (held[-1] if held else None)
        model.delete(key)
    elif action == "popitem" and model.items:
        name, last = struct.popitem()
        assert last == [v for k, v in model.items if k == name][-1]
        model.delete(name)
    elif action == "setdefault":
        assert struct.setdefault(key, value) == (held[-1] if held else value)
        if not held:
            model.add(key, value)
    elif action == "update":
        struct.update({key: value}, e=value)
        model.replace(key, [value])
        model.replace("e", [value])
    elif action == "ior":
        struct |= {key: value}
        model.replace(key, [value])
    elif action == "or":
        assert (struct | {key: value})[key] == value
    elif action == "update_repeated":
        struct.update(IonPyDict._from_items([(key, value), (key, value + 1)]), f=1)
        model.replace(key, [value, value + 1])
        model.replace("f", [1])
    elif action == "clear" and rng.random() < 0.2:
        struct.clear()
        model.items = []


@pytest.mark.parametrize("seed", range(60))
def test_any_changes_keep_all_fields(seed: int) -> None:
    rng = random.Random(seed)
    struct, model = IonPyDict(), Model()
    for _ in range(60):
        mutate(rng, struct, model)
        assert struct.all_items() == model.items
        assert len(struct) == len(model.items)
        assert dict(struct) == dict(model.items)
        assert list(struct) == list(dict(model.items))
        has_repeats = len(dict(model.items)) != len(model.items)
        assert struct._repeats == (model.items if has_repeats else None)


@by_copy
def test_copies_keep_repeated_fields(copied: Callable[[Any], Any]) -> None:
    struct = repeated()
    struct.ion_annotations = ("note",)
    result = copied(struct)
    assert type(result) is IonPyDict
    assert result.all_items() == ITEMS
    assert result.ion_annotations == ("note",)
    result["a"] = 0
    result.add_item("b", 0)
    assert struct.all_items() == ITEMS


def test_the_copy_method_and_constructor_keep_repeated_fields() -> None:
    for result in (repeated().copy(), IonPyDict(repeated()), repeated() | {}, {} | repeated()):
        assert type(result) is IonPyDict
        assert result.all_items() == ITEMS
    assert IonPyDict(repeated(), a=0).all_items() == [("a", 0), ("b", 2), (UNKNOWN, 4)]


def test_wrong_operands_are_refused_as_by_dict() -> None:
    for struct in (IonPyDict(a=1), repeated()):
        with pytest.raises(TypeError):
            struct | 1
        with pytest.raises(TypeError):
            1 | struct
        with pytest.raises(TypeError):
            struct.update({}, {})
        with pytest.raises(TypeError, match="unhashable"):
            hash(struct)


def test_equality_counts_repeated_fields() -> None:
    struct = repeated()
    assert struct == repeated()
    assert (struct != repeated()) is False
    reordered = [ITEMS[1], ITEMS[0], ITEMS[3], ITEMS[2], ITEMS[4]]
    assert struct == IonPyDict._from_items(reordered)
    assert struct != IonPyDict._from_items([ITEMS[2], *ITEMS[:2], *ITEMS[3:]])
    assert struct != dict(struct)
    assert dict(struct) != struct
    assert IonPyDict(a=1) == {"a": 1} == IonPyDict(a=1)
    assert struct != 5


def test_a_struct_may_contain_itself() -> None:
    struct = IonPyDict._from_items([("a", 1), ("a", 2)])
    struct.add_item("me", struct)
    for result in (copy.deepcopy(struct), pickle.loads(pickle.dumps(struct))):
        assert result["me"] is result
        assert result.get_all_values("a") == [1, 2]


# ---- the enums and the error ----


def test_ion_types_sort_into_families() -> None:
    numeric = [t.name for t in IonType if t.is_numeric]
    assert numeric == ["INT", "FLOAT", "DECIMAL", "TIMESTAMP"]
    assert [t.name for t in IonType if t.is_text] == ["SYMBOL", "STRING"]
    assert [t.name for t in IonType if t.is_lob] == ["CLOB", "BLOB"]
    assert [t.name for t in IonType if t.is_container] == ["LIST", "SEXP", "STRUCT"]


def test_timestamp_precisions_include_the_coarser_ones() -> None:
    included = [
        (p.includes_month, p.includes_day, p.includes_minute, p.includes_second)
        for p in TimestampPrecision
    ]
    assert included == [tuple(i < n for i in range(4)) for n in range(5)]


@pytest.mark.parametrize("name", [name for name, _ in COPIES if name != "__copy__"])
def test_an_error_survives_copying(name: str) -> None:
    copied = dict(COPIES)[name]
    error = IonError("line 3, column 14 (offset 87): expected ','", 87, 3, 14)
    result = copied(error)
    assert type(result) is IonError
    assert str(result) == str(error)
    assert (result.offset, result.line, result.column) == (87, 3, 14)
    assert isinstance(result, ValueError)
    assert IonError("x").offset is IonError("x").line is IonError("x").column is None
