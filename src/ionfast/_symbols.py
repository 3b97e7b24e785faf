"""Symbols: with text, a ``str``; with unknown text, a token that says where it came from.

Ion specification: https://amazon-ion.github.io/ion-docs/docs/symbols.html.
"""

from typing import ClassVar, NamedTuple

from ._types import IonType

__all__ = ["ImportLocation", "Symbol", "SymbolToken"]


class ImportLocation(NamedTuple):
    """A symbol's place in a shared symbol table: the same in every version of the table.

    Attributes:
        name: The shared table's name.
        position: From 1.

    >>> ImportLocation("fruits", 3)
    ImportLocation(name='fruits', position=3)
    """

    name: str
    position: int


class SymbolToken(NamedTuple):
    """A symbol as an encoding gives it: by text, by symbol ID, or by its place in an import.

    What ``loads`` gives for a symbol, field name or annotation whose text is unknown. Two tokens
    are equal when all three parts are; `ionfast.equivalence.ion_equals` compares as Ion does.

    Attributes:
        text: ``None`` when it is unknown.
        sid: The symbol ID in the table that it was read with, or ``None``.
        location: Where a shared table defines it, or ``None``.

    >>> SymbolToken(None, 0)
    SymbolToken(text=None, sid=0, location=None)
    >>> SymbolToken(None, 12, ImportLocation("fruits", 3)).location.position
    3
    """

    text: str | None
    sid: int | None = None
    location: ImportLocation | None = None


class Symbol(str):
    """A symbol with known text: a ``str`` that is written as a symbol.

    It equals and hashes as its text, and has a token's attributes.

    >>> Symbol("apple") == "apple", Symbol("apple").text, Symbol("apple").sid
    (True, 'apple', None)
    >>> Symbol("apple")
    Symbol('apple')
    """

    __slots__ = ()

    ion_type: ClassVar[IonType] = IonType.SYMBOL
    ion_annotations: ClassVar[tuple["Symbol | SymbolToken", ...]] = ()

    @property
    def text(self) -> str:
        """The text, as a plain ``str``."""
        return str.__str__(self)

    @property
    def sid(self) -> None:
        """Always ``None``: text identifies the symbol."""
        return None

    @property
    def location(self) -> None:
        """Always ``None``: text identifies the symbol."""
        return None

    def __repr__(self) -> str:
        return f"Symbol({str.__repr__(self)})"
