"""Random values: round trips, and against amazon.ion both ways in both encodings.

The same examples are drawn every time. New ones: IONFAST_HYPOTHESIS_PROFILE=explore pytest ...
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ionfast
import model
import scenarios
from ionfast import (
    Clob,
    IonPyBool,
    IonPyDecimal,
    IonPyDict,
    IonPyFloat,
    IonPyInt,
    IonPyList,
    IonPyNull,
    IonPyText,
    IonType,
    Sexp,
    Symbol,
    Timestamp,
    TimestampPrecision,
)
from ionfast.equivalence import ion_equals

# ------------------------------------------------------------------------------ values

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
NAMES = TEXT | st.sampled_from(["null", "nan", "true", "$10", "$ion_1_0", "+", "a b", "", "name"])


@st.composite
def timestamps(draw: st.DrawFn) -> Timestamp:
    """Any precision, any offset, up to 12 fractional digits."""
    year = draw(st.integers(1, 9999))
    precision = draw(st.sampled_from(list(TimestampPrecision)))
    rest: dict[str, Any] = {"precision": precision}
    if precision.includes_month:
        rest["month"] = draw(st.integers(1, 12))
    if precision.includes_day:
        rest["day"] = draw(st.integers(1, 28))
    if precision.includes_minute:
        offset = draw(st.none() | st.integers(-1439, 1439))
        if offset is not None:
            rest["tzinfo"] = datetime.timezone(datetime.timedelta(minutes=offset))
            year = min(max(year, 2), 9998)  # local and UTC years both exist
        rest |= {"hour": draw(st.integers(0, 23)), "minute": draw(st.integers(0, 59))}
    if precision.includes_second:
        rest["second"] = draw(st.integers(0, 59))
        digits = draw(st.integers(0, 12))
        fraction = draw(st.integers(0, 10**digits - 1))
        rest["fractional_seconds"] = Decimal((0, model_digits(fraction), -digits))
    return Timestamp(year, **rest)


def model_digits(number: int) -> tuple[int, ...]:
    """A number as decimal digits, as Decimal's constructor takes them."""
    return tuple(map(int, str(number)))


@st.composite
def decimals(draw: st.DrawFn) -> Decimal:
    """Coefficients of up to 40 digits, either zero, exponents within what peers can hold."""
    digits = model_digits(draw(st.integers(0, 10 ** draw(st.integers(1, 40)))))
    return Decimal((draw(st.integers(0, 1)), digits, draw(st.integers(-300, 300))))


NULLS = st.sampled_from([None, *(IonPyNull(ion_type) for ion_type in IonType if ion_type)])
SCALARS = st.one_of(
    NULLS,
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.integers(-(2**600), 2**600),
    st.floats(),
    decimals(),
    timestamps(),
    TEXT,
    NAMES.map(Symbol),
    st.binary(max_size=20),
    st.binary(max_size=20).map(Clob),
)


def structs(children: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Structs, some with repeated field names."""
    pairs = st.lists(st.tuples(NAMES, children), max_size=4)
    return pairs.map(struct_of)


def struct_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A dict, or an IonPyDict where a name is repeated."""
    fields = dict(pairs)
    if len(fields) == len(pairs):
        return fields
    struct = IonPyDict()
    for name, value in pairs:
        struct.add_item(name, value)
    return struct


def annotated(children: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """A value of a few types under one to three annotations."""
    names = st.lists(NAMES, min_size=1, max_size=3).map(tuple)
    sorts: list[tuple[Any, IonType, st.SearchStrategy[Any]]] = [
        (IonPyInt, IonType.INT, st.integers()),
        (IonPyBool, IonType.BOOL, st.booleans()),
        (IonPyFloat, IonType.FLOAT, st.floats()),
        (IonPyDecimal, IonType.DECIMAL, decimals()),
        (IonPyText, IonType.STRING, TEXT),
        (IonPyList, IonType.LIST, st.lists(children, max_size=2)),
        (IonPyDict, IonType.STRUCT, st.dictionaries(TEXT, children, max_size=2)),
    ]
    return st.one_of(
        *(
            st.builds(cls.from_value, st.just(ion_type), values, names)
            for cls, ion_type, values in sorts
        )
    )


VALUES = st.recursive(
    SCALARS,
    lambda children: st.one_of(
        st.lists(children, max_size=4),
        st.lists(children, max_size=4).map(Sexp),
        structs(children),
        annotated(children),
    ),
    max_leaves=12,
)


def writable_at_top_level(value: Any) -> bool:
    """System values cannot be written as data at top level, and dumps says so."""
    first = (*getattr(value, "ion_annotations", ()), None)[0]
    if first == "$ion_symbol_table":
        return not isinstance(value, dict)
    return not (isinstance(value, Symbol) and value.startswith("$ion_") and first is None)


TOP = VALUES.filter(writable_at_top_level)

# --------------------------------------------------------------------------- round trips


@given(st.lists(TOP, max_size=4))
def test_values_survive_each_encoding(values: list[Any]) -> None:
    wanted = model.of_values(values, order="repeated")
    for encoded in scenarios.encodings(values):
        again = ionfast.loads_all(encoded)
        assert model.of_values(again, order="repeated") == wanted
        assert all(map(ion_equals, values, again))


@given(TOP)
def test_the_suites_own_text_is_read(value: Any) -> None:
    """The text that model.py writes is another hand's."""
    wanted = model.of_value(value)
    (read,) = ionfast.loads_all(model.text(wanted))
    assert model.of_value(read) == wanted


@given(TOP)
def test_writing_is_stable(value: Any) -> None:
    for binary in (True, False):
        once = ionfast.dumps(value, binary=binary)
        assert ionfast.dumps(ionfast.loads(once), binary=binary) == once


@given(TOP)
def test_the_plain_model_only_drops(value: Any) -> None:
    """The plain model is readable wherever the lossless one is."""
    encoded = ionfast.dumps(value)
    assert (ionfast.loads(encoded, model="plain") is None) == isinstance(value, IonPyNull | None)


@given(st.binary(max_size=40))
def test_any_bytes_are_values_or_an_error(data: bytes) -> None:
    for document in (data, b"\xe0\x01\x00\xea" + data):
        try:
            values = ionfast.loads_all(document)
        except ionfast.IonError:
            continue
        model.of_values(values)


@given(st.text(max_size=40))
def test_any_text_is_values_or_an_error(text: str) -> None:
    try:
        values = ionfast.loads_all(text)
    except ionfast.IonError:
        return
    assert model.of_values(values) == model.of_values(ionfast.loads_all(text.encode()))


# ------------------------------------------------------------------------ against amazon.ion

peer = pytest.importorskip("amazon.ion.simpleion", reason="amazon.ion is not installed")

# What amazon.ion gets wrong, as tests of a part of a model: (reason, test). Such values are not compared.
PEER_FAULTS: tuple[tuple[str, Callable[[model.Model], bool]], ...] = (
    ("writes a wrong value for ints past 988 bits",
     lambda part: part[0] == "int" and abs(part[1]) >> 988 != 0),
    ("loses fractional digits past the sixth",
     lambda part: part[0] == "timestamp" and part[4][1] > 6),
    ("cannot read local times whose UTC year is out of reach",
     lambda part: part[0] == "timestamp" and part[2][0] in (1, 9999)),
    ("takes a top-level symbol such as $ion_1_0 for a version marker",
     lambda part: part[0] == "symbol" and str(part[1]).startswith("$ion_")),
    ("takes an escape such as \\U0001d800 for half a surrogate pair",
     lambda part: any(ord(c) > 0xFFFF and ord(c) & 0xF800 == 0xD800 for c in texts(part))),
)  # fmt: skip


def texts(part: model.Model) -> str:
    """The text that a part holds itself: a string's, a symbol's, annotations, field names."""
    if part[0] == "annotated":
        return "".join(map(str, part[1]))
    if part[0] == "struct":
        return "".join(str(name) for name, _ in part[1])
    return str(part[1]) if part[0] in ("string", "symbol") else ""


def parts(tree: model.Model) -> list[model.Model]:
    """A model and all models in it."""
    found, todo = [], [tree]
    while todo:
        found.append(todo.pop())
        kind = found[-1][0]
        if kind == "annotated":
            todo.append(found[-1][2])
        elif kind in ("list", "sexp"):
            todo.extend(found[-1][1])
        elif kind == "struct":
            todo.extend(value for _, value in found[-1][1])
    return found


def assume_peer_can(tree: model.Model) -> None:
    """Leave out what is a known fault of the peer."""
    for part in parts(tree):
        hypothesis.assume(not any(is_fault(part) for _, is_fault in PEER_FAULTS))


def of_peer(value: Any) -> model.Model:
    """The model of a value of amazon.ion, by its ion_type and attributes."""
    content = peer_content(value)
    annotations = tuple(a.text for a in getattr(value, "ion_annotations", ()))
    return ("annotated", annotations, content) if annotations else content


def peer_content(value: Any) -> model.Model:
    ion_type = getattr(value, "ion_type", None)
    if value is None or type(value).__name__ == "IonPyNull":
        return ("null", "null" if value is None else ion_type.name.lower())
    kind = ion_type.name.lower()
    if kind in ("list", "sexp"):
        return (kind, tuple(map(of_peer, value)))
    if kind == "struct":
        return ("struct", model.sort_fields((name, of_peer(item)) for name, item in value.items()))
    if kind == "symbol":
        return ("symbol", value.text)
    return PEER_SCALARS[kind](value)


def peer_timestamp(value: Any) -> model.Model:
    precision = value.precision.name.lower()
    fields = (value.year, value.month, value.day, value.hour, value.minute, value.second)
    count = {"year": 1, "month": 2, "day": 3, "minute": 5, "second": 6}[precision]
    if count < 5:
        return ("timestamp", precision, fields[:count], None, (0, 0))
    offset = value.utcoffset()
    minutes = None if offset is None else offset // datetime.timedelta(minutes=1)
    digits = value.fractional_precision if count == 6 else 0
    fraction = (int(value.fractional_seconds.scaleb(digits)), digits)
    return ("timestamp", precision, fields[:count], minutes, fraction)


PEER_SCALARS: dict[str, Callable[[Any], model.Model]] = {
    "bool": lambda value: ("bool", bool(value)),
    "int": lambda value: ("int", int(value)),
    "float": lambda value: model.float_model(float(value)),
    "decimal": lambda value: model.decimal_model(Decimal(value)),
    "timestamp": peer_timestamp,
    "string": lambda value: ("string", str(value)),
    "blob": lambda value: ("blob", bytes(value)),
    "clob": lambda value: ("clob", bytes(value)),
}


@pytest.mark.parametrize("encoding", ["binary", "text"])
@given(value=TOP)
def test_amazon_ion_reads_what_we_write(encoding: str, value: Any) -> None:
    wanted = model.of_value(value)
    assume_peer_can(wanted)
    encoded = ionfast.dumps(value, binary=encoding == "binary")
    assert of_peer(peer.loads(encoded)) == wanted, encoded


@pytest.mark.parametrize("encoding", ["binary", "text"])
@given(value=TOP)
def test_we_read_what_amazon_ion_writes(encoding: str, value: Any) -> None:
    wanted = model.of_value(value)
    assume_peer_can(wanted)
    # The peer reads our text first: its writer takes only its own classes.
    theirs = peer.loads(model.text(wanted))
    hypothesis.assume(of_peer(theirs) == wanted)
    encoded = peer.dumps(theirs, binary=encoding == "binary")
    assert model.of_value(ionfast.loads(encoded)) == wanted, encoded
