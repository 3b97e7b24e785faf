"""A registry of types: how they are written to Ion, and read from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any, TypeVar

from . import _io, _ionfast
from ._ionfast import CodecBase, Reader, Timestamp, Writer
from ._symbols import Symbol

__all__ = ["Codec"]

_T = TypeVar("_T", bound=type)

# Written at level 1, before any registry is asked.
_KNOWN = (str, int, dict, list, float, bool, type(None), Decimal, Timestamp, Symbol, bytes, tuple)


class Codec(CodecBase):
    """How types of one's own are written and read.

    There is no global registry: each codec is an object of its own, used through its methods or as
    ``codec=`` of the module's functions.

    >>> import fractions
    >>> codec = Codec()
    >>> codec.add(
    ...     fractions.Fraction,
    ...     annotation="ratio",
    ...     encode=lambda value: [value.numerator, value.denominator],
    ...     decode=lambda pair: fractions.Fraction(*pair),
    ... )
    <class 'fractions.Fraction'>
    >>> codec.dumps({"half": fractions.Fraction(1, 2)}, binary=False)
    '$ion_1_0 {half:ratio::[1,2]}'
    >>> codec.loads("{half: ratio::[1, 2]}")
    {'half': Fraction(1, 2)}
    """

    def __init__(self) -> None:
        super().__init__()
        self._registered: dict[type, tuple[str | None, Callable[[Any], Any] | None]] = {}
        self._annotated: dict[str, type] = {}

    def add(
        self,
        type: _T,
        *,
        annotation: str | None = None,
        encode: Callable[[Any], Any] | None = None,
        decode: Callable[[Any], Any] | None = None,
    ) -> _T:
        """Register a type; anew, if it is there already. Subclasses are written the same way.

        Args:
            type: A class that Ion has no type for, such as a dataclass.
            annotation: Put on the value when it is written; when reading, an annotation of that
                name makes any value of this type.
            encode: Gives something that can be written for an object of the class. Without it the
                object is written as it would be without a codec.
            decode: Gives the object for the plain value read. Without it the class is read field by
                field, as by ``type=``.

        Returns:
            The type, so that this can decorate it.

        Raises:
            TypeError: `type` is no class, or one that is written before a codec is asked.
            ValueError: The annotation is another type's.
        """
        if not isinstance(type, _type):
            raise TypeError(f"a class is needed, not {type!r}")
        if type in _KNOWN:
            raise TypeError(f"{type.__qualname__} has an Ion type of its own")
        for what, function in (("encode", encode), ("decode", decode)):
            if function is not None and not callable(function):
                raise TypeError(f"{what} must be callable, not {function!r}")
        if annotation is not None and not isinstance(annotation, str):
            raise TypeError(f"annotation must be a str or None, not {annotation!r}")
        # Step by step, each of them whole: other threads may register types of their own meanwhile.
        if annotation is not None and self._annotated.setdefault(annotation, type) is not type:
            raise ValueError(f"annotation {annotation!r} is that of another type")
        for name, known in self.annotated_types().items():
            if known is type and name != annotation:
                self._annotated.pop(name, None)
        self._registered[type] = (annotation, decode)
        self._set_entry(type, (None if annotation is None else (annotation,), encode))
        return type

    def registered(self, cls: type) -> tuple[str | None, Callable[[Any], Any] | None] | None:
        """Annotation and `decode` of a registered class; ``None`` for any other."""
        return self._registered.get(cls)

    def annotated_types(self) -> dict[str, type]:
        """The registered classes by their annotations."""
        return dict(self._annotated)

    def loads(self, data: Any, **options: Any) -> Any:
        """As `ionfast.loads`, with this codec."""
        return _ionfast.loads(data, codec=self, **options)

    def loads_all(self, data: Any, **options: Any) -> list[Any]:
        """As `ionfast.loads_all`, with this codec."""
        result: list[Any] = _ionfast.loads_all(data, codec=self, **options)
        return result

    def load(self, source: _io.Source, **options: Any) -> Any:
        """As `ionfast.load`, with this codec."""
        return _io.load(source, codec=self, **options)

    def load_all(self, source: _io.Source, **options: Any) -> list[Any]:
        """As `ionfast.load_all`, with this codec."""
        return _io.load_all(source, codec=self, **options)

    def dumps(self, obj: object, **options: Any) -> Any:
        """As `ionfast.dumps`, with this codec."""
        return _ionfast.dumps(obj, codec=self, **options)

    def dumps_all(self, values: Iterable[object], **options: Any) -> Any:
        """As `ionfast.dumps_all`, with this codec."""
        return _ionfast.dumps_all(values, codec=self, **options)

    def dump(self, obj: object, target: _io.Target, **options: Any) -> None:
        """As `ionfast.dump`, with this codec."""
        _io.dump(obj, target, codec=self, **options)

    def dump_all(self, values: Iterable[object], target: _io.Target, **options: Any) -> None:
        """As `ionfast.dump_all`, with this codec."""
        _io.dump_all(values, target, codec=self, **options)

    def Reader(self, source: Any = None, **options: Any) -> Reader:  # noqa: N802 - as the class
        """A `Reader` whose ``value()`` reads with this codec."""
        return Reader(source, codec=self, **options)

    def Writer(self, target: Any = None, **options: Any) -> Writer:  # noqa: N802 - as the class
        """A `Writer` that writes with this codec."""
        return Writer(target, codec=self, **options)


_type = type
