"""Random Ion values of every type, and the canonical text of each.

A value is a tuple (annotations, kind, content). A symbol is a str, or `ZERO` ($0), `LOCAL` (a slot of a
local symbol table that holds no text), or `Absent` (a slot of an import that no catalog has). Nothing here
leans on a library.
"""

from __future__ import annotations

import datetime
import math
import random
import string
import struct
from typing import Any, NamedTuple

from . import canonical

EXTREMES = (0.0, -0.0, math.inf, -math.inf, math.nan, 5e-324, 1.7976931348623157e308)
TELLING = "\0\a\b\t\n\f\r\v\x1b\x7f\"'\\/?\x85\xa0\ufeff\u2028\ufffd\uffff"
SYSTEM = (
    "$ion",
    "$ion_1_0",
    "$ion_symbol_table",
    "name",
    "version",
    "imports",
    "symbols",
    "max_id",
    "$ion_shared_symbol_table",
)
TYPES = (
    "null",
    "bool",
    "int",
    "float",
    "decimal",
    "timestamp",
    "symbol",
    "string",
    "clob",
    "blob",
    "list",
    "sexp",
    "struct",
)
CODES = dict(zip(TYPES, (0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13), strict=True))
OPERATORS = "!#%&*+-./;<=>?@^`|~"
KEYWORDS = (
    "null",
    "true",
    "false",
    "nan",
    "null.int",
    "$10",
    "$0",
    "$ion_1_0",
    "inf",
    "+inf",
    "$ion",
)


class Unknown(NamedTuple):
    """A symbol without text, by its canonical text."""

    text: str


class Absent(NamedTuple):
    """A slot, from 1, of a table that no catalog has."""

    table: str
    position: int


ZERO = Unknown("$0")
LOCAL = Unknown("$local")

Symbol = str | Unknown | Absent
Value = tuple[tuple[Symbol, ...], str, Any]


def symbol_text(symbol: Symbol) -> str:
    """The canonical text of a symbol."""
    if isinstance(symbol, str):
        return canonical.symbol(symbol)
    return symbol.text if isinstance(symbol, Unknown) else canonical.imported(*symbol)


def canonical_text(value: Value) -> str:
    """The canonical text of a value, from the tuple that it was made as."""
    annotations, kind, content = value
    return "".join([symbol_text(a) + "::" for a in annotations]) + _content_text(kind, content)


def _content_text(kind: str, content: Any) -> str:
    if kind == "null":
        return f"null.{content}"
    if kind == "bool":
        return "true" if content else "false"
    if kind == "int":
        return "i" + canonical.integer(content)
    if kind == "float":
        return canonical.float_(content)
    if kind == "decimal":
        return canonical.decimal_(*content)
    if kind == "timestamp":
        return canonical.timestamp(*content)
    if kind == "symbol":
        return "y" + symbol_text(content)
    if kind == "string":
        return f's"{canonical.text(content)}"'
    if kind in ("clob", "blob"):
        return kind[0] + content.hex()
    if kind == "struct":
        return canonical.struct_([f"{symbol_text(n)}:{canonical_text(v)}" for n, v in content])
    items = ",".join(map(canonical_text, content))
    return f"[{items}]" if kind == "list" else f"({items})"


class Values:
    """Makes random values of every type."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.unknowns: tuple[Symbol, ...] = ()  # symbols without text that a document may use

    def value(self, depth: int = 3) -> Value:
        rng = self.rng
        annotations: tuple[Symbol, ...] = ()
        if rng.random() < 0.12:
            annotations = tuple([self.make_symbol() for _ in range(self.few())])
        if depth and rng.random() < 0.35:
            kind = rng.choice(("list", "sexp", "struct"))
            count = self.size()
            if kind == "struct":
                return (
                    annotations,
                    kind,
                    [(self.make_symbol(), self.value(depth - 1)) for _ in range(count)],
                )
            return annotations, kind, [self.value(depth - 1) for _ in range(count)]
        kind = rng.choice(TYPES[:10])
        content = getattr(self, f"make_{kind}")()
        return annotations, kind, content

    def few(self) -> int:
        return 1 if self.rng.random() < 0.8 else self.rng.choice((2, 2, 2, 3, 3, 5, 12))

    def size(self) -> int:
        return self.rng.choice((0, 1, 1, 2, 2, 3, 4)) if self.rng.random() < 0.99 else 30

    def make_null(self) -> str:
        return self.rng.choice(TYPES)

    def make_bool(self) -> bool:
        return self.rng.random() < 0.5

    def natural(self) -> int:
        """Small ones, those around powers of two and ten, long ones."""
        rng = self.rng
        sort = rng.randrange(8)
        if sort < 3:
            return rng.randrange(300)
        if sort < 5:
            return max(0, (1 << rng.randrange(1, 130)) + rng.randrange(-2, 3))
        if sort < 6:
            return max(0, 10 ** rng.randrange(1, 40) + rng.randrange(-2, 3))
        return rng.getrandbits(rng.randrange(1, 70 if rng.random() < 0.95 else 2000))

    def make_int(self) -> int:
        return self.natural() * self.rng.choice((1, -1))

    def make_float(self) -> float:
        rng = self.rng
        sort = rng.randrange(6)
        if sort == 0:
            return rng.choice(EXTREMES)
        if sort == 1:
            return float(rng.randrange(-1000, 1000)) / 8
        if sort == 2:
            return rng.uniform(-1, 1) * 10.0 ** rng.randrange(-40, 40)
        if sort == 3:
            (single,) = struct.unpack(">f", rng.randbytes(4))
            return float(single)
        (double,) = struct.unpack(">d", rng.randbytes(8))
        return float(double)

    def make_decimal(self) -> tuple[int, int, int]:
        rng = self.rng
        exponent = rng.choice((0, 0, -1, -2, 2, rng.randrange(-40, 40), rng.randrange(-400, 400)))
        if rng.random() < 0.02:
            exponent = rng.choice((-1, 1)) * rng.randrange(1 << rng.randrange(1, 31))
        return int(rng.random() < 0.3), 0 if rng.random() < 0.1 else self.natural(), exponent

    def make_timestamp(self) -> tuple[tuple[int, ...], str, int | None]:
        rng = self.rng
        year = rng.choice((2007, 2000, 1970, rng.randrange(2, 9999)))
        month = rng.randrange(1, 13)
        last = (
            datetime.date(year + month // 12, month % 12 + 1, 1) - datetime.timedelta(days=1)
        ).day
        day = rng.choice((1, last, rng.randrange(1, last + 1)))
        fields = (year, month, day, rng.randrange(24), rng.randrange(60), rng.randrange(60))
        count = rng.choice((1, 2, 3, 5, 6, 6, 6, 6))
        if count < 4:
            return fields[:count], "", None
        minutes = rng.choice((None, 0, 60, -480, rng.randrange(-1439, 1440)))
        fraction = ""
        if count == 6 and rng.random() < 0.6:
            length = rng.choice((1, 2, 3, 3, 6, 6, 9, 9, 10, 12, 18, 19, 30))
            fraction = "".join(rng.choices("0123456789", k=length))
            if rng.random() < 0.1:
                fraction = "0" * length
        return fields[:count], fraction, minutes

    def make_symbol(self) -> Symbol:
        rng = self.rng
        sort = rng.randrange(20)
        if sort < 13:
            return rng.choice(string.ascii_lowercase) * rng.choice((1, 1, 2, 3))
        if sort < 14:
            return rng.choice(SYSTEM)
        if sort < 15:
            return rng.choice(KEYWORDS)
        if sort < 16:
            return "".join(rng.choices(OPERATORS, k=rng.randrange(1, 4)))
        if sort < 17 and self.unknowns:
            return rng.choice(self.unknowns)
        return self.make_string()

    def make_string(self) -> str:
        """From all planes, controls and quotes among them."""
        rng = self.rng
        length = rng.choice((0, 1, 3, 5, 8, 13, 14, 15, 20))
        if rng.random() < 0.02:
            length = rng.choice((63, 64, 127, 128, 129, 200, 1000))
        if rng.random() < 0.6:
            return "".join(rng.choices(string.ascii_letters + " ", k=length))
        return "".join([self.character() for _ in range(length)])

    def character(self) -> str:
        rng = self.rng
        sort = rng.randrange(8)
        if sort < 3:
            return chr(rng.randrange(0x20, 0x7F))
        if sort < 4:
            return rng.choice(TELLING)
        if sort < 5:
            return chr(rng.randrange(0x80, 0x800))
        if sort < 6:
            return chr(rng.choice((rng.randrange(0x800, 0xD800), rng.randrange(0xE000, 0x10000))))
        return chr(rng.randrange(0x10000, 0x110000))

    def make_clob(self) -> bytes:
        return self.make_blob()

    def make_blob(self) -> bytes:
        length = self.rng.choice((0, 1, 2, 3, 4, 5, 13, 14))
        return self.rng.randbytes(length if self.rng.random() < 0.98 else 300)
