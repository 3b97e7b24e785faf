"""The canonical text of Ion values: equal texts, equal values.

Every implementation's program writes it, so that values of five libraries can be compared. It is ASCII:

    null.int  true  i-ff  f3ff0000000000000  fnan  d-7b^-2  t2007-02-23T12:14:33.079-08:00
    y'text'  s"text"  bcafe  c00ff  [A,B]  (A,B)  {'name':A,'name':B}  'annotation'::A

Coefficients are hexadecimal, floats are their bits, text has %XX for every byte of its UTF-8 but the plain
ones. Fields are sorted by what is written for them, since structs are unordered. Timestamps show their
precision; -00:00 is the unknown offset. A symbol without text is $0, $local or $import<table>#position. Only
ionfast tells these apart; the peers write $0 for all, which is the weak form.
"""

from __future__ import annotations

import datetime
import decimal
import re
import struct
from collections.abc import Iterable
from typing import Any

_PLAIN = frozenset(range(0x20, 0x7F)) - frozenset(b"\"'%\\")
_ESCAPED = tuple(chr(b) if b in _PLAIN else f"%{b:02x}" for b in range(256))
_is_plain = re.compile(r"""[ !#$&(-\[\]-~]*""").fullmatch
_UNKNOWN = re.compile(r"\$local|\$import<[^']*?>#[0-9]+")


def text(string: str) -> str:
    """Text with every byte escaped that is not plain; a lone surrogate shows as its three bytes."""
    if _is_plain(string):
        return string
    return "".join([_ESCAPED[b] for b in string.encode("utf-8", "surrogatepass")])


def symbol(string: str) -> str:
    """A symbol with text."""
    return f"'{text(string)}'"


def imported(name: str, position: int) -> str:
    """A symbol of a table that is not there."""
    return f"$import<{text(name)}>#{position}"


def integer(number: int) -> str:
    """An int, or what stands after the d of a decimal."""
    return f"-{-number:x}" if number < 0 else f"{number:x}"


def float_(number: float) -> str:
    """A float by its bits, every NaN the same."""
    return "fnan" if number != number else "f" + struct.pack(">d", number).hex()


def decimal_(sign: int, coefficient: int, exponent: int) -> str:
    """A decimal by its parts, the sign of zero too."""
    return f"d{'-' if sign else ''}{coefficient:x}^{exponent}"


def offset(minutes: int | None) -> str:
    """An offset from UTC, or the unknown one."""
    if minutes is None:
        return "-00:00"
    return f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"


def timestamp(fields: tuple[int, ...], fraction: str, minutes: int | None) -> str:
    """A timestamp: as many local fields as its precision has, fractional digits, offset."""
    date = "-".join([f"{n:0{width}}" for n, width in zip(fields[:3], (4, 2, 2), strict=False)])
    if len(fields) < 4:
        return "t" + date
    time = ":".join([f"{n:02}" for n in fields[3:]])
    return f"t{date}T{time}{'.' + fraction if fraction else ''}{offset(minutes)}"


def struct_(fields: Iterable[str]) -> str:
    """A struct from its written fields."""
    return "{" + ",".join(sorted(fields)) + "}"


def is_weakened(canonical: str) -> bool:
    """Whether there are symbols in it that the weak form does not tell apart."""
    return _UNKNOWN.search(canonical) is not None


# ------------------------------------------------------------------ ionfast and amazon.ion


class Walker:
    """Writes values of either Python library: they share names, so one walk serves both."""

    def __init__(self, library: Any, weak: bool = False) -> None:
        self.weak = weak
        self.token = library.SymbolToken
        self.null = library.IonPyNull
        self.own = library.KINDS
        self.fraction = library.fraction

    def values(self, values: Iterable[object]) -> str:
        """A stream of values, one a line."""
        return "\n".join([self.value(v) for v in values])

    def value(self, value: Any) -> str:
        annotations = getattr(value, "ion_annotations", None)
        content = self.content(value)
        if annotations:
            return "".join([self.symbol(a) + "::" for a in annotations]) + content
        return content

    def symbol(self, token: Any) -> str:
        if token is None:
            return "$0"
        string = token.text if hasattr(token, "text") else token
        if string is not None:
            return symbol(str.__str__(string))
        if self.weak:
            return "$0"
        location = token.location
        if location is not None and location.name is not None:
            return imported(location.name, location.position)
        return "$local" if token.sid else "$0"

    def content(self, value: Any) -> str:
        kind = self.kind(value)
        if kind == "null":
            ion_type = getattr(value, "ion_type", None)
            return f"null.{ion_type.name.lower() if ion_type is not None else 'null'}"
        if kind == "list":
            return "[" + ",".join([self.value(v) for v in value]) + "]"
        if kind == "sexp":
            return "(" + ",".join([self.value(v) for v in value]) + ")"
        if kind == "struct":
            return struct_([f"{self.symbol(n)}:{self.value(v)}" for n, v in value.items()])
        return self.scalar(kind, value)

    def scalar(self, kind: str, value: Any) -> str:
        if kind == "int":
            return "i" + integer(int(value))
        if kind == "string":
            return f's"{text(str.__str__(value))}"'
        if kind == "symbol":
            return "y" + self.symbol(value)
        if kind == "bool":
            return "true" if value else "false"
        if kind == "float":
            return float_(float(value))
        if kind == "decimal":
            sign, digits, exponent = decimal.Decimal.as_tuple(value)
            return decimal_(sign, _digits(digits), int(exponent))
        if kind == "timestamp":
            return self.timestamp(value)
        return ("b" if kind == "blob" else "c") + bytes(value).hex()

    def kind(self, value: Any) -> str:
        if value is None or isinstance(value, self.null):
            return "null"
        ion_type = getattr(value, "ion_type", None)
        if ion_type is not None:
            return str(ion_type.name.lower())
        for python_type, kind in self.own:
            if isinstance(value, python_type):
                return kind
        raise AssertionError(f"{type(value)!r} stands for no Ion type")

    def timestamp(self, value: Any) -> str:
        fields = (value.year, value.month, value.day, value.hour, value.minute, value.second)
        count = {"year": 1, "month": 2, "day": 3, "minute": 5}.get(value.precision.name.lower(), 6)
        delta = value.utcoffset()
        minutes = None if delta is None else delta // datetime.timedelta(minutes=1)
        fraction = str(self.fraction(value)) if count == 6 else ""
        return timestamp(fields[:count], fraction, minutes)


def _digits(digits: tuple[int, ...]) -> int:
    string = "".join(map(str, digits))
    number = 0
    for start in range(0, len(string), 4000):  # Python converts no more than 4300 digits at once
        part = string[start : start + 4000]
        number = number * 10 ** len(part) + int(part)
    return number
