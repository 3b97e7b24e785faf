"""Values that Python's own types cannot express: annotated, typed nulls, clobs, sexps, and structs
with repeated fields.

Each class is the Python type with two attributes more. Their defaults belong to the class, so a
value has an instance dictionary only when it differs: most values in a document do not.

Ion specification: https://amazon-ion.github.io/ion-docs/docs/spec.html.
"""

import copy
import copyreg
from collections.abc import ItemsView, Iterable, Iterator
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Self, TypeAlias, overload

from ._ionfast import Timestamp
from ._symbols import Symbol, SymbolToken
from ._types import IonType, TimestampPrecision

__all__ = [
    "Clob",
    "IonPyBool",
    "IonPyBytes",
    "IonPyDecimal",
    "IonPyDict",
    "IonPyFloat",
    "IonPyInt",
    "IonPyList",
    "IonPyNull",
    "IonPySymbol",
    "IonPyText",
    "IonPyTimestamp",
    "Sexp",
    "is_null",
]

Annotation: TypeAlias = Symbol | SymbolToken
FieldName: TypeAlias = str | SymbolToken
Pair: TypeAlias = tuple[FieldName, Any]


def _annotation(annotation: str | SymbolToken) -> Annotation:
    """A `Symbol`, or a plain `SymbolToken` where the text is unknown."""
    if isinstance(annotation, Symbol):
        return annotation
    if isinstance(annotation, str):
        return Symbol(annotation)
    if not isinstance(annotation, SymbolToken):
        raise TypeError(f"an annotation is a str or a SymbolToken, not {annotation!r}")
    return SymbolToken(*annotation) if annotation.text is None else Symbol(annotation.text)


def _annotations(annotations: Iterable[str | SymbolToken]) -> tuple[Annotation, ...]:
    """All of a value's annotations, in order."""
    if isinstance(annotations, (str, SymbolToken)):
        raise TypeError(f"annotations are a sequence of symbols, not one: {annotations!r}")
    return tuple(map(_annotation, annotations))


class _IonNature:
    """What every value class adds to its Python type.

    Attributes:
        ion_type: The Ion type; assignable.
        ion_annotations: The annotations in order; assignable: any tuple of ``str``, `Symbol` and
            `SymbolToken`. What ``loads`` and `from_value` set holds a `Symbol` for each, or a
            `SymbolToken` where the text is unknown.
    """

    __slots__ = ()

    ion_type: IonType
    ion_annotations: tuple[str | SymbolToken, ...] = ()

    @overload
    @classmethod
    def from_value(
        cls, ion_type: IonType, value: None, annotations: Iterable[str | SymbolToken] = ()
    ) -> "IonPyNull": ...
    @overload
    @classmethod
    def from_value(
        cls, ion_type: IonType, value: Any, annotations: Iterable[str | SymbolToken] = ()
    ) -> Self: ...
    @classmethod
    def from_value(
        cls, ion_type: IonType, value: Any, annotations: Iterable[str | SymbolToken] = ()
    ) -> "Self | IonPyNull":
        """Make a value of this class out of a plain one; ``None`` gives an `IonPyNull`.

        Raises:
            TypeError: An annotation that is neither a ``str`` nor a `SymbolToken`.

        >>> price = IonPyDecimal.from_value(IonType.DECIMAL, Decimal("9.90"), ["USD"])
        >>> price + 1, price.ion_annotations
        (Decimal('10.90'), (Symbol('USD'),))
        """
        result = IonPyNull() if value is None else cls._from_python(value)
        if result.ion_type is not ion_type:
            result.ion_type = ion_type
        if annotations:
            result.ion_annotations = _annotations(annotations)
        return result

    @classmethod
    def _from_python(cls, value: Any) -> Self:
        """A value of this class that equals `value`, without its attributes."""
        return cls(value)  # type: ignore[call-arg]

    def _copy(self) -> Self:
        """A shallow copy: the type and the annotations are the copy's own."""
        result = self._from_python(self)
        result.__dict__.update(self.__dict__)
        return result

    def __copy__(self) -> Self:
        return self._copy()


class IonPyNull(_IonNature):
    """A null of any type, or an annotated one.

    Two are equal when their types are. A plain ``null`` is read as ``None``.

    >>> IonPyNull(IonType.STRING)
    IonPyNull(IonType.STRING)
    >>> bool(IonPyNull()), IonPyNull(IonType.INT) == IonPyNull(IonType.INT)
    (False, True)
    """

    ion_type = IonType.NULL

    def __init__(
        self,
        ion_type: IonType = IonType.NULL,
        value: None = None,
        annotations: Iterable[str | SymbolToken] = (),
    ) -> None:
        if ion_type is not IonType.NULL:
            self.ion_type = ion_type
        if annotations:
            self.ion_annotations = _annotations(annotations)

    @classmethod
    def _from_python(cls, value: Any) -> Self:
        return cls()

    def __bool__(self) -> bool:
        return False

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, IonPyNull):
            return NotImplemented
        return self.ion_type == other.ion_type

    def __hash__(self) -> int:
        return hash((IonPyNull, self.ion_type))

    def __repr__(self) -> str:
        return f"{type(self).__name__}(IonType.{self.ion_type.name})"


class IonPyBool(_IonNature, int):
    """A bool; an ``int``, since Python's ``bool`` cannot be subclassed.

    >>> IonPyBool(1), IonPyBool(1) == True
    (True, True)
    """

    ion_type = IonType.BOOL

    def __repr__(self) -> str:
        return repr(bool(self))


class IonPyInt(_IonNature, int):
    """An int.

    >>> IonPyInt(3) + 1
    4
    """

    ion_type = IonType.INT


class IonPyFloat(_IonNature, float):
    """A float.

    >>> IonPyFloat(0.5) * 2
    1.0
    """

    ion_type = IonType.FLOAT


class IonPyDecimal(_IonNature, Decimal):
    """A decimal, with every digit.

    >>> IonPyDecimal("1.50") == Decimal("1.5"), str(IonPyDecimal("1.50"))
    (True, '1.50')
    """

    ion_type = IonType.DECIMAL

    # Decimal's own gives back the same object.
    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        result = self._from_python(self)
        result.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return result

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self),), self.__dict__


class IonPyTimestamp(_IonNature, Timestamp):
    """A timestamp, with its precision and every fractional digit.

    >>> moment = IonPyTimestamp.from_value(IonType.TIMESTAMP, datetime(2024, 5, 6, 7, 8, 9))
    >>> moment == datetime(2024, 5, 6, 7, 8, 9), moment.ion_type.name
    (True, 'TIMESTAMP')
    """

    ion_type = IonType.TIMESTAMP

    @classmethod
    def _from_python(cls, value: Any) -> Self:
        if not isinstance(value, datetime):
            return cls._from_date(value)
        fields = (value.year, value.month, value.day, value.hour, value.minute, value.second)
        zone, fold = value.tzinfo, value.fold
        if not isinstance(value, Timestamp):
            return cls(*fields, value.microsecond, zone, fold=fold)
        precision, seconds = value.precision, value.fractional_seconds
        return cls(*fields, None, zone, precision, None, seconds, fold)

    @classmethod
    def _from_date(cls, value: date) -> Self:
        return cls(value.year, value.month, value.day, precision=TimestampPrecision.DAY)


class IonPyText(_IonNature, str):
    """A string; a symbol when ``ion_type`` says so.

    >>> IonPyText("plum") == "plum"
    True
    """

    ion_type = IonType.STRING


class IonPySymbol(_IonNature, SymbolToken):
    """A symbol as a token, which can carry annotations and unknown text.

    >>> IonPySymbol.from_value(IonType.SYMBOL, "plum", ["fruit"]).text
    'plum'
    """

    ion_type = IonType.SYMBOL

    @classmethod
    def _from_python(cls, value: Any) -> Self:
        if isinstance(value, SymbolToken):
            return cls(*value)
        if not isinstance(value, str):
            raise TypeError(f"a symbol is made of a str or a SymbolToken, not {value!r}")
        return cls(str.__str__(value))


class IonPyBytes(_IonNature, bytes):
    """A blob; a clob when ``ion_type`` says so.

    >>> IonPyBytes(b"plum") == b"plum"
    True
    """

    ion_type = IonType.BLOB


class Clob(IonPyBytes):
    """A clob: text of unknown encoding.

    >>> Clob(b"plum")
    Clob(b'plum')
    """

    ion_type = IonType.CLOB

    def __repr__(self) -> str:
        return f"Clob({bytes.__repr__(self)})"


class IonPyList(_IonNature, list[Any]):
    """A list; a sexp when ``ion_type`` says so.

    >>> IonPyList([1, 2]) == [1, 2]
    True
    """

    ion_type = IonType.LIST


class Sexp(IonPyList):
    """An s-expression. Compares as a list; `ionfast.equivalence.ion_equals` tells them apart.

    >>> Sexp([Symbol("+"), 1, 2])
    Sexp([Symbol('+'), 1, 2])
    """

    ion_type = IonType.SEXP

    def __repr__(self) -> str:
        return f"Sexp({list.__repr__(self)})"


class _AllItems(ItemsView[Any, Any]):
    """The items of a struct with repeated fields: each field, in order."""

    _mapping: "IonPyDict"

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        return self._mapping.iter_all_items()

    def __len__(self) -> int:
        return len(self._mapping)

    def __contains__(self, item: object) -> bool:
        return any(item == pair for pair in self)


class IonPyDict(_IonNature, dict[Any, Any]):
    """A struct. A ``dict`` in which a field name may also be repeated.

    ``[]`` reads the last value of a name and replaces all of them; `add_item` adds one. With
    repeated names ``len()`` and `items` count every field; ``keys()``, ``values()`` and iteration
    see each name once. Two such structs are equal when each name has the same values in the same
    order. While names are repeated, replacing or removing a field takes time in proportion to
    the struct.

    Keys are ``str``, or `SymbolToken` for unknown text.

    >>> struct = IonPyDict({"a": 1})
    >>> struct.add_item("b", 2)
    >>> struct.add_item("a", 3)
    >>> struct["a"], struct.get_all_values("a"), len(struct)
    (3, [1, 3], 3)
    >>> struct.all_items()
    [('a', 1), ('b', 2), ('a', 3)]
    >>> struct["a"] = 4
    >>> struct
    {'a': 4, 'b': 2}
    """

    ion_type = IonType.STRUCT

    # Every field in order, while a name is repeated; the dict then holds each name's last value,
    # and its names in the order of their first fields. None is the rule, and costs nothing.
    _repeats: list[Pair] | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        dict.__init__(self, *args, **kwargs)
        if args and isinstance(args[0], IonPyDict) and args[0]._repeats is not None:
            self._set_items(list(args[0]._repeats))
            self.update(kwargs)

    @classmethod
    def _from_items(cls, items: Iterable[Pair]) -> Self:
        """A struct with exactly these fields, in this order."""
        result = cls()
        result._set_items(list(items))
        return result

    def _set_items(self, items: list[Pair]) -> None:
        """Hold `items`, whatever was held before."""
        dict.clear(self)
        dict.update(self, items)
        if dict.__len__(self) != len(items):
            self._repeats = items
        elif self._repeats is not None:
            del self._repeats

    # ---- reading ----

    def iter_all_items(self) -> Iterator[Pair]:
        """Iterate over every field as ``(name, value)``, in order, repeated ones included."""
        return iter(dict.items(self) if self._repeats is None else self._repeats)

    def all_items(self) -> list[Pair]:
        """Every field as ``(name, value)``, in order, repeated ones included."""
        return list(self.iter_all_items())

    iteritems = iter_all_items

    def items(self) -> Any:
        """Every field as ``(name, value)``, in order: a view."""
        return dict.items(self) if self._repeats is None else _AllItems(self)

    def get_all_values(self, key: FieldName) -> list[Any]:
        """The values of every field of that name, in order.

        Raises:
            KeyError: There is none.
        """
        if self._repeats is None or key not in self:
            return [self[key]]
        return [value for name, value in self._repeats if name == key]

    def __len__(self) -> int:
        return dict.__len__(self) if self._repeats is None else len(self._repeats)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, dict):
            return NotImplemented
        others = other._repeats if isinstance(other, IonPyDict) else None
        if self._repeats is None and others is None:
            return dict.__eq__(self, other)
        if self._repeats is None or others is None:
            return False
        return _values_by_name(self._repeats) == _values_by_name(others)

    def __ne__(self, other: object) -> bool:
        return NotImplemented if not isinstance(other, dict) else not self == other

    __hash__ = None

    def __repr__(self) -> str:
        if self._repeats is None:
            return dict.__repr__(self)
        return "{" + ", ".join(f"{name!r}: {value!r}" for name, value in self._repeats) + "}"

    # ---- changing ----

    def add_item(self, key: FieldName, value: Any) -> None:
        """Add a field, after those of the same name."""
        if self._repeats is not None:
            self._repeats.append((key, value))
        elif key in self:
            self._repeats = [*dict.items(self), (key, value)]
        dict.__setitem__(self, key, value)

    def __setitem__(self, key: FieldName, value: Any) -> None:
        if self._repeats is None:
            dict.__setitem__(self, key, value)
        else:
            self._replace([(key, value)])

    def _replace(self, fields: list[Pair]) -> None:
        """Put these fields where the first of each name is; those of new names come last."""
        values = _values_by_name(fields)
        items: list[Pair] = []
        for name, value in self.iter_all_items():
            if name not in values:
                items.append((name, value))
            else:  # a name's later fields find nothing left
                items.extend((name, new) for new in values[name])
                values[name] = []
        items.extend(field for field in fields if field[0] not in self)
        self._set_items(items)

    def __delitem__(self, key: FieldName) -> None:
        dict.__delitem__(self, key)
        if self._repeats is not None:
            self._set_items([pair for pair in self._repeats if pair[0] != key])

    def pop(self, key: FieldName, *default: Any) -> Any:
        """Remove every field of that name; the last one's value, or the default."""
        if self._repeats is None or key not in self:
            return dict.pop(self, key, *default)
        value = self[key]
        del self[key]
        return value

    def popitem(self) -> Pair:
        """Remove every field of the name that came last; the name and its last value."""
        pair = dict.popitem(self)
        if self._repeats is not None:
            self._set_items([item for item in self._repeats if item[0] != pair[0]])
        return pair

    def setdefault(self, key: FieldName, default: Any = None) -> Any:
        """The last value of that name; a new field with the default when there is none."""
        if key not in self:
            self[key] = default
        return self[key]

    def clear(self) -> None:
        """Remove every field."""
        self._set_items([])

    def update(self, *args: Any, **kwargs: Any) -> None:
        """As ``dict.update``; names that another `IonPyDict` repeats are then repeated here."""
        source = args[0] if args and isinstance(args[0], IonPyDict) else None
        if self._repeats is None and (source is None or source._repeats is None):
            dict.update(self, *args, **kwargs)
            return
        self._replace(list((dict(*args) if source is None else source).items()))
        if kwargs:
            self._replace(list(kwargs.items()))

    def copy(self) -> Self:
        """A shallow copy, with the repeated fields, the type and the annotations."""
        return self._copy()

    def __or__(self, other: Any) -> Any:
        if not isinstance(other, dict):
            return NotImplemented
        result = self._copy()
        result.update(other)
        return result

    def __ror__(self, other: Any) -> Any:
        if not isinstance(other, dict):
            return NotImplemented
        result = IonPyDict(other)
        result.update(self)
        return result

    def __ior__(self, other: Any) -> Self:
        self.update(other)
        return self

    # ---- copying and pickling ----

    def _copy(self) -> Self:
        result = self._from_items(self.iter_all_items())
        result.__dict__.update((k, v) for k, v in self.__dict__.items() if k != "_repeats")
        return result

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        # The fields travel in the state, which is set after the object is known to the pickler:
        # a struct may contain itself.
        attributes = {k: v for k, v in self.__dict__.items() if k != "_repeats"}
        state = (self.all_items(), attributes)
        return copyreg.__newobj__, (type(self),), state  # type: ignore[attr-defined]

    def __setstate__(self, state: tuple[list[Pair], dict[str, Any]]) -> None:
        items, attributes = state
        self._set_items(items)
        self.__dict__.update(attributes)


def _values_by_name(items: Iterable[Pair]) -> dict[FieldName, list[Any]]:
    """Each name's values, in order."""
    result: dict[FieldName, list[Any]] = {}
    for name, value in items:
        result.setdefault(name, []).append(value)
    return result


def is_null(value: object) -> bool:
    """Is it ``None`` or a null of any type?

    >>> is_null(None), is_null(IonPyNull(IonType.INT)), is_null(0)
    (True, True, False)
    """
    return value is None or isinstance(value, IonPyNull)
