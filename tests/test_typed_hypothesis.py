"""Types made up, and values of them: each comes back equal, as text and as binary."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import importlib
import importlib.util
import math
import uuid
from decimal import Decimal
from typing import Annotated, Any, Generic, NamedTuple, Optional, TypedDict, TypeVar, Union

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ionfast
from ionfast import Decoder, Field

Pair = tuple[Any, st.SearchStrategy[Any]]


class Suit(enum.Enum):
    CLUBS = "clubs"
    HEARTS = "hearts of red"


class Rank(enum.IntEnum):
    TWO = 2
    ACE = 14


_NAMES = st.text(st.characters(categories=["Lu", "Ll", "Nd", "Zs"]), min_size=1, max_size=12)
_UTC = st.just(datetime.UTC)

SCALARS: list[Pair] = [
    (bool, st.booleans()),
    (int, st.integers()),
    (float, st.floats()),
    (Decimal, st.decimals(allow_nan=False, allow_infinity=False)),
    (str, st.text(st.characters(exclude_categories=["Cs"]))),
    (bytes, st.binary()),
    (datetime.datetime, st.datetimes(timezones=_UTC)),
    (datetime.date, st.dates()),
    (uuid.UUID, st.uuids()),
    (Suit, st.sampled_from(Suit)),
    (Rank, st.sampled_from(Rank)),
    (Optional[int], st.none() | st.integers()),  # noqa: UP045
    (int | str | bytes | None, st.none() | st.integers() | st.text("ab") | st.binary()),
]


def _list_of(pair: Pair) -> Pair:
    return list[pair[0]], st.lists(pair[1], max_size=3)  # type: ignore[name-defined]


def _tuple_of(pairs: list[Pair]) -> Pair:
    return tuple[tuple(tp for tp, _ in pairs)], st.tuples(*(v for _, v in pairs))  # type: ignore[misc]


def _dict_of(pair: Pair) -> Pair:
    return dict[str, pair[0]], st.dictionaries(_NAMES, pair[1], max_size=3)  # type: ignore[name-defined]


def _optional(pair: Pair) -> Pair:
    return Optional[pair[0]], st.none() | pair[1]  # noqa: UP045


def _dataclass_of(arguments: tuple[list[Pair], list[str], dict[str, bool]]) -> Pair:
    """A dataclass whose every field has a name of its own in Ion."""
    pairs, names, options = arguments
    fields = [
        (f"field{i}", Annotated[tp, Field(name=name)] if i % 2 else tp)
        for i, ((tp, _), name) in enumerate(zip(pairs, names, strict=False))
    ]
    cls: Any = dataclasses.make_dataclass("Made", fields, **options)
    return cls, st.builds(cls, **{f[0]: p[1] for f, p in zip(fields, pairs, strict=False)})


def _named_tuple_of(pairs: list[Pair]) -> Pair:
    cls: Any = NamedTuple("Row", [(f"field{i}", tp) for i, (tp, _) in enumerate(pairs)])
    return cls, st.builds(cls, *(values for _, values in pairs))


def _typed_dict_of(pairs: list[Pair]) -> Pair:
    cls: Any = TypedDict("Row", {f"field {i}": tp for i, (tp, _) in enumerate(pairs)})
    return cls, st.fixed_dictionaries({f"field {i}": v for i, (_, v) in enumerate(pairs)})


def _dict_of_members(pair: Pair) -> Pair:
    return dict[Suit, pair[0]], st.dictionaries(st.sampled_from(Suit), pair[1])  # type: ignore[name-defined]


T = TypeVar("T")


@dataclasses.dataclass
class Box(Generic[T]):
    content: T
    others: list[T] = dataclasses.field(default_factory=list)
    inner: Box[T] | None = None


def _generic_of(pair: Pair) -> Pair:
    tp, values = pair
    boxes = st.builds(Box, values, st.lists(values, max_size=2))
    return Box[tp], st.builds(Box, values, inner=st.none() | boxes)  # type: ignore[valid-type]


def _annotated_union_of(pairs: list[Pair]) -> Pair:
    """Classes that their annotations tell apart, as fields: written as any other value they have none."""
    classes = [dataclasses.make_dataclass("Option", [("a", tp)]) for tp, _ in pairs]
    options = [Annotated[cls, Field(annotation=f"o {i}")] for i, cls in enumerate(classes)]
    hint = Union[tuple(options)] if len(options) > 1 else options[0]  # noqa: UP007
    holder: Any = dataclasses.make_dataclass("Holder", [("one", hint), ("all", list[hint])])
    values = st.one_of(*(st.builds(cls, a=v) for cls, (_, v) in zip(classes, pairs, strict=True)))
    return holder, st.builds(holder, values, st.lists(values, max_size=2))


def _attrs_of(pairs: list[Pair]) -> Pair:
    fields = {f"field{i}": attrs.field(type=tp) for i, (tp, _) in enumerate(pairs)}
    cls = attrs.make_class("Made", fields, slots=len(pairs) % 2 == 0)
    return cls, st.builds(cls, **{f"field{i}": v for i, (_, v) in enumerate(pairs)})


def _structs_of(arguments: tuple[list[Pair], bool]) -> Pair:
    """A union of tagged structs."""
    pairs, is_text = arguments
    classes = [
        msgspec.defstruct(
            "Made",
            [("some_field", tp)],
            rename="camel",
            tag=f"t{i}" if is_text else i,
            tag_field="t",
        )
        for i, (tp, _) in enumerate(pairs)
    ]
    values = (st.builds(cls, some_field=v) for cls, (_, v) in zip(classes, pairs, strict=True))
    return Union[tuple(classes)], st.one_of(*values)  # noqa: UP007


def _set_of(pair: Pair) -> Pair:
    return frozenset[pair[0]], st.frozensets(pair[1], max_size=3)  # type: ignore[name-defined]


SETS = [_set_of((tp, v)) for tp, v in SCALARS if tp not in (float, Decimal)]
HAS_ATTRS = importlib.util.find_spec("attrs") is not None
HAS_MSGSPEC = importlib.util.find_spec("msgspec") is not None
attrs: Any = importlib.import_module("attrs") if HAS_ATTRS else None
msgspec: Any = importlib.import_module("msgspec") if HAS_MSGSPEC else None

_OPTIONS = st.fixed_dictionaries({name: st.booleans() for name in ("slots", "frozen", "kw_only")})


def _containers(pairs: st.SearchStrategy[Pair]) -> st.SearchStrategy[Pair]:
    several = st.lists(pairs, min_size=1, max_size=4)
    names = st.lists(_NAMES, unique=True, min_size=4, max_size=4)
    return st.one_of(
        pairs.map(_list_of),
        several.map(_tuple_of),
        pairs.map(_dict_of),
        pairs.map(_optional),
        st.tuples(several, names, _OPTIONS).map(_dataclass_of),
        several.map(_named_tuple_of),
        several.map(_typed_dict_of),
        pairs.map(_dict_of_members),
        pairs.map(_generic_of),
        several.map(_annotated_union_of),
        *([several.map(_attrs_of)] if HAS_ATTRS else []),
        *([st.tuples(several, st.booleans()).map(_structs_of)] if HAS_MSGSPEC else []),
    )


PAIRS = st.recursive(st.sampled_from(SCALARS + SETS), _containers, max_leaves=8)


def _field_names(value: Any) -> Any:
    if dataclasses.is_dataclass(value):
        return [field.name for field in dataclasses.fields(value)]
    if hasattr(value, "__attrs_attrs__"):
        return [field.name for field in value.__attrs_attrs__]
    return getattr(value, "__struct_fields__", None)


def _is_same(value: Any, other: Any) -> bool:
    """Equal, NaN too, and of the same type."""
    if type(value) is not type(other):
        return False
    if isinstance(value, float):
        return (math.isnan(value) and math.isnan(other)) or repr(value) == repr(other)
    if isinstance(value, Decimal):
        return value.as_tuple() == other.as_tuple()
    names = _field_names(value)
    if names is not None:
        return all(_is_same(getattr(value, n), getattr(other, n)) for n in names)
    if isinstance(value, dict):
        return value.keys() == other.keys() and all(_is_same(value[k], other[k]) for k in value)
    if isinstance(value, (list, tuple)):
        return len(value) == len(other) and all(map(_is_same, value, other))
    return bool(value == other)


@pytest.mark.slow
@settings(
    max_examples=300, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True
)
@given(st.data())
def test_values_come_back(data: Any) -> None:
    tp, values = data.draw(PAIRS)
    decoder = Decoder(tp, forbid_unknown=True)
    for value in data.draw(st.lists(values, min_size=1, max_size=3)):
        for encoded in (ionfast.dumps(value), ionfast.dumps(value, binary=False)):
            for again in (decoder.loads(encoded), ionfast.loads(encoded, type=tp)):
                assert _is_same(again, value), (tp, encoded, again)


@pytest.mark.slow
@settings(
    max_examples=300, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True
)
@given(st.data())
def test_other_values_are_refused_or_read_but_never_worse(data: Any) -> None:
    """A value of one type read as another: a value, or an error that tells where."""
    tp, _ = data.draw(PAIRS)
    _, others = data.draw(PAIRS)
    value = data.draw(others)
    for encoded in (ionfast.dumps(value), ionfast.dumps(value, binary=False)):
        try:
            ionfast.loads(encoded, type=tp)
        except ionfast.ValidationError as error:
            assert str(error).startswith(f"{error.path} (offset {error.offset}): expected ")
