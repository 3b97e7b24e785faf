"""Equality in the Ion data model, where ``==`` on Python values says too much or too little.

``1 == 1.0``, ``Decimal("1.0") == Decimal("1.00")`` and ``Symbol("a") == "a"`` in Python, and NaN
differs from itself; in Ion it is the other way round.

Ion specification: https://amazon-ion.github.io/ion-docs/docs/spec.html, and symbols.html for
unknown text.
"""

import math
import struct
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from typing import Any, TypeAlias

from ._symbols import Symbol, SymbolToken
from ._types import IonType, TimestampPrecision
from ._values import IonPyDict, IonPyNull

__all__ = ["ion_equals"]

# Whatever identifies a value: hashable, and equal where the values are.
_Key: TypeAlias = tuple[Any, ...]


def ion_equals(a: object, b: object, timestamps_instants_only: bool = False) -> bool:
    """Are two values the same in the Ion data model?

    Types, annotations and their order, every digit of a decimal, the sign of a zero, and a
    timestamp's precision, offset and fractional digits count; the order of a struct's fields does
    not. NaN is NaN. Symbols are compared by text, and those of unknown text by where they are
    imported from; those of a local symbol table are all equal, but none is ``$0``. A plain Python
    value stands for what ``dumps`` writes for it. Depth has no limit; generators are consumed.

    Args:
        a, b: What ``loads`` gives, or anything that ``dumps`` takes.
        timestamps_instants_only: Compare timestamps by their instant alone, unknown offsets
            being UTC.

    Raises:
        TypeError: An object for which there is no Ion value, or a field name that is no text.
        ValueError: A container that contains itself.

    >>> ion_equals(Decimal("1.0"), Decimal("1.00")), ion_equals("a", Symbol("a"))
    (False, False)
    >>> ion_equals(float("nan"), float("nan")), ion_equals([1, (2,)], [1, [2]])
    (True, True)
    """
    numbering = _Numbering(_instant_key if timestamps_instants_only else _timestamp_key)
    return numbering.number(a) == numbering.number(b)


class _Frame:
    """A container that is being numbered."""

    __slots__ = ("annotations", "ion_type", "names", "numbers", "value", "values")

    def __init__(self, value: Any, ion_type: IonType) -> None:
        self.value = value
        self.ion_type = ion_type
        self.annotations = _annotations_key(value)
        self.names: list[_Key] = []
        self.numbers: list[int] = []
        self.values: Iterator[Any] = self._open()

    def _open(self) -> Iterator[Any]:
        if self.ion_type is not IonType.STRUCT:
            return iter(self.value)
        fields = list(_fields(self.value))
        self.names = [_symbol_key(name) for name, _ in fields]
        return iter([value for _, value in fields])

    def key(self, intern: Callable[[_Key], int]) -> _Key:
        """Once all values have numbers: a key of the whole."""
        if self.ion_type is not IonType.STRUCT:
            return self.ion_type, self.annotations, tuple(self.numbers)
        fields = sorted(zip(map(intern, self.names), self.numbers, strict=True))
        return self.ion_type, self.annotations, tuple(fields)


class _Numbering:
    """Gives equal values equal numbers, from the leaves up, without recursion.

    A container's key is made of its values' numbers, so fields can be sorted and repeated ones
    matched whatever they hold, and a value that is shared is looked at once.
    """

    def __init__(self, timestamp_key: Callable[[date], _Key]) -> None:
        self._timestamp_key = timestamp_key
        self._numbers: dict[_Key, int] = {}
        # By id(): the value, which must stay alive, and its number; None while it is open.
        self._seen: dict[int, tuple[Any, int | None]] = {}

    def number(self, root: object) -> int:
        """The number of a value: another value has the same when `ion_equals` says so."""
        stack: list[_Frame] = []
        number = self._enter(root, stack)
        while stack:
            frame = stack[-1]
            if number is not None:
                frame.numbers.append(number)
            try:
                value = next(frame.values)
            except StopIteration:
                number = self._leave(stack.pop())
            else:
                number = self._enter(value, stack)
        assert number is not None
        return number

    def _enter(self, value: Any, stack: list[_Frame]) -> int | None:
        """The number of a scalar or of a container seen before; None when it is opened now."""
        ion_type, plain = _typed(value)
        if not ion_type.is_container or plain is None:
            key = (ion_type, _annotations_key(value), self._scalar_key(ion_type, plain))
            return self._intern(key)
        if id(value) in self._seen:
            number = self._seen[id(value)][1]
            if number is None:
                raise ValueError("a container that contains itself has no Ion value")
            return number
        stack.append(_Frame(value, ion_type))
        self._seen[id(value)] = (value, None)
        return None

    def _leave(self, frame: _Frame) -> int:
        number = self._intern(frame.key(self._intern))
        self._seen[id(frame.value)] = (frame.value, number)
        return number

    def _intern(self, key: _Key) -> int:
        return self._numbers.setdefault(key, len(self._numbers))

    def _scalar_key(self, ion_type: IonType, plain: Any) -> _Key:
        if plain is None:
            return (None,)
        if ion_type is IonType.TIMESTAMP:
            return self._timestamp_key(plain)
        return _SCALAR_KEYS[ion_type](plain)


# ---- what Ion value an object stands for ----

_TYPE_OF_EXACT: dict[type, IonType] = {
    bool: IonType.BOOL,
    int: IonType.INT,
    float: IonType.FLOAT,
    Decimal: IonType.DECIMAL,
    datetime: IonType.TIMESTAMP,
    str: IonType.STRING,
    Symbol: IonType.SYMBOL,
    bytes: IonType.BLOB,
    list: IonType.LIST,
    dict: IonType.STRUCT,
}

# In order: a class comes before its bases, and what is a value before what is a record.
_TYPE_OF_BASE: tuple[tuple[type | tuple[type, ...], IonType], ...] = (
    (SymbolToken, IonType.SYMBOL),
    (str, IonType.STRING),
    (int, IonType.INT),
    (float, IonType.FLOAT),
    ((bytes, bytearray, memoryview), IonType.BLOB),
    ((list, set, frozenset), IonType.LIST),
    (dict, IonType.STRUCT),
    (Decimal, IonType.DECIMAL),
    (date, IonType.TIMESTAMP),
)


def _typed(value: Any) -> tuple[IonType, Any]:
    """The Ion type of an object, and the object that holds its content: None for a null."""
    exact = _TYPE_OF_EXACT.get(type(value))
    if exact is not None:
        return exact, value
    if value is None:
        return IonType.NULL, None
    declared = getattr(value, "ion_type", None)
    if isinstance(declared, IonType):
        return declared, None if isinstance(value, IonPyNull) else value
    if isinstance(value, Enum):
        return _typed(value.value)
    for base, ion_type in _TYPE_OF_BASE:
        if isinstance(value, base):
            return ion_type, value
    if _is_of(value, "uuid", "UUID") or _is_of(value, "pathlib", "PurePath"):
        return IonType.STRING, str(value)
    return _container_type(value), value


def _container_type(value: object) -> IonType:
    cls = type(value)
    if isinstance(value, tuple):
        return IonType.STRUCT if hasattr(cls, "_fields") else IonType.LIST
    if hasattr(cls, "__dataclass_fields__") or isinstance(value, Mapping):
        return IonType.STRUCT
    if isinstance(value, Iterator):
        return IonType.LIST
    raise TypeError(f"there is no Ion value for an object of type {cls.__qualname__}")


def _is_of(value: object, module: str, name: str) -> bool:
    """Is it of a class whose module may not have been imported? Then nothing can be of it."""
    return module in sys.modules and isinstance(value, getattr(sys.modules[module], name))


def _fields(value: Any) -> Iterable[tuple[Any, Any]]:
    """Every field of what is a struct."""
    if isinstance(value, IonPyDict):
        return value.iter_all_items()
    if isinstance(value, Mapping):
        return value.items()
    if isinstance(value, tuple):
        return zip(type(value)._fields, value, strict=True)  # type: ignore[attr-defined]
    from dataclasses import fields  # slow to import, and here whoever made the class has done it

    return ((field.name, getattr(value, field.name)) for field in fields(value))


# ---- keys of what is no container ----


def _symbol_key(symbol: Any) -> _Key:
    """Of a symbol, an annotation or a field name.

    Unknown text is symbol zero, or a place in a shared table that is not at hand, or a slot
    without text in a local table; all of the last are one symbol.
    """
    if isinstance(symbol, str):
        return (str.__str__(symbol),)
    if not isinstance(symbol, SymbolToken):
        raise TypeError(f"a field name is a str or a SymbolToken, not {symbol!r}")
    if symbol.text is not None:
        return (str.__str__(symbol.text),)
    if symbol.location is not None:
        return (None, *symbol.location)
    return (None, bool(symbol.sid))


def _annotations_key(value: Any) -> _Key:
    annotations = getattr(value, "ion_annotations", ())
    return tuple(map(_symbol_key, annotations)) if annotations else ()


def _float_key(value: float) -> _Key:
    return ("nan",) if math.isnan(value) else (struct.pack(">d", value),)


_SCALAR_KEYS: dict[IonType, Callable[[Any], _Key]] = {
    IonType.BOOL: lambda value: (bool(value),),
    IonType.INT: lambda value: (int(value),),
    IonType.FLOAT: _float_key,
    # The text of a Decimal is one to one with its sign, digits and exponent.
    IonType.DECIMAL: lambda value: (Decimal.__str__(value),),
    IonType.SYMBOL: _symbol_key,
    IonType.STRING: lambda value: (str.__str__(value),),
    IonType.CLOB: lambda value: (bytes(value),),
    IonType.BLOB: lambda value: (bytes(value),),
}


def _precision(value: date) -> TimestampPrecision:
    """A plain datetime is written to the microsecond, a date as a day."""
    if not isinstance(value, datetime):
        return TimestampPrecision.DAY
    stated = getattr(value, "precision", None)
    seconds = TimestampPrecision.SECOND
    return seconds if stated is None else TimestampPrecision(min(stated, seconds))


def _fraction(value: date) -> tuple[str, int]:
    """The fraction of a second: its digits from the first that counts, and how many it has."""
    if not isinstance(value, datetime) or not _precision(value).includes_second:
        return "0", 0
    fraction = getattr(value, "fractional_seconds", None)
    if fraction is None:
        return str(value.microsecond), 6
    _, digits, exponent = fraction.as_tuple()
    return "".join(map(str, digits)), max(-exponent, 0)


def _calendar(value: date) -> list[int]:
    """The fields that are stated, the fraction apart."""
    fields = [value.year, value.month, value.day]
    if isinstance(value, datetime):
        fields += [value.hour, value.minute, value.second]
    # Nobody states the hour without the minute: there is no precision of hours.
    precision = _precision(value)
    return fields[: precision + (2 if precision.includes_minute else 1)]


def _offset_seconds(value: date) -> float | None:
    """None when the offset is unknown, or the precision has none."""
    if not isinstance(value, datetime) or not _precision(value).includes_minute:
        return None
    offset = value.utcoffset()
    return None if offset is None else offset.total_seconds()


def _timestamp_key(value: date) -> _Key:
    return (*_calendar(value), _offset_seconds(value), _fraction(value))


def _instant_key(value: date) -> _Key:
    """UTC seconds from the start of the year 1, and the fraction without its last zeros."""
    stated = _calendar(value)
    year, month, day, hour, minute, second = stated + [1, 1, 1, 0, 0, 0][len(stated) :]
    days = date(year, month, day).toordinal()
    seconds = ((days * 24 + hour) * 60 + minute) * 60 + second
    digits, count = _fraction(value)
    kept = digits.rstrip("0")
    fraction = (kept, count - (len(digits) - len(kept))) if kept else ("", 0)
    return seconds - (_offset_seconds(value) or 0), fraction
