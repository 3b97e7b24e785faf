"""Writes values as text Ion, with white space, comments, escapes and the many ways of writing a number."""

from __future__ import annotations

import base64
import random
import string

from . import canonical
from .symbols import Import, Table
from .values import OPERATORS, Absent, Symbol, Value

IDENTIFIER = frozenset(string.ascii_letters + string.digits + "_$")
ESCAPES = dict(zip(b"\0\a\b\t\n\f\r\v\"'?\\/", "0abtnfrv\"'?\\/", strict=True))


def is_bare(text: str) -> bool:
    """Whether a symbol may stand without quotes."""
    if not text or not set(text) <= IDENTIFIER or text[0].isdigit():
        return False
    return text not in ("null", "true", "false", "nan") and not (
        text[0] == "$" and text[1:].isdigit()
    )


class Text:
    """Writes text Ion, with white space, comments, escapes and the many ways of writing a number."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.symbols = Table()
        self.odd = rng.choice((0.0, 0.0, 0.02, 0.05, 0.2))
        self.is_after_long = False  # a long string now would be part of the one before

    def is_odd(self) -> bool:
        return self.rng.random() < self.odd

    def start(self) -> bytes:
        return b"$ion_1_0 " if self.rng.random() < 0.3 else b""

    def end(self) -> bytes:
        return self.space().encode()

    def table(self, imports: list[Import], used: list[Symbol]) -> bytes:
        """A symbol table, where one is needed or by chance."""
        rng = self.rng
        out = ""
        if self.is_odd():
            self.symbols.slots = []
            out = " $ion_1_0 "
        needs = any(not isinstance(s, str) and not self.symbols.ids(s) for s in used)
        if not needs and not imports and rng.random() < 0.85:
            return out.encode()
        fields = []
        goes_on = not imports and rng.random() < 0.5
        old = self.symbols.slots if goes_on else []
        self.symbols.slots = [
            *old,
            *(Absent(i.table, n + 1) for i in imports for n in range(i.max_id)),
        ]
        added = [s for s in used if not self.symbols.ids(s)]
        if goes_on:
            fields.append(f"imports{self.space()}:{rng.choice(('$ion_symbol_table', '$3'))}")
        elif imports:
            fields.append(f"imports:[{','.join(map(self.import_, imports))}]")
        fields.append(f"'symbols':[{self.space()}{','.join(map(self.slot, added))}]")
        rng.shuffle(fields)
        self.symbols.slots = [*self.symbols.slots, *added]
        head = rng.choice(("$ion_symbol_table", "'$ion_symbol_table'", "$3"))
        return f"{out} {head}{self.space()}::{{{','.join(fields)}}} ".encode()

    def import_(self, table: Import) -> str:
        name = self.quoted(table.table)
        return f"{{name:{name},version:{table.version},max_id:{table.max_id}}}"

    def slot(self, symbol: Symbol) -> str:
        if isinstance(symbol, str):
            return self.quoted(symbol)
        return self.rng.choice(("null", "5", "null.string"))

    def top(self, value: Value) -> bytes:
        return self.apart(value, in_sexp=False).encode()

    def apart(self, value: Value, in_sexp: bool) -> str:
        """A value that no comma will follow."""
        text = self.value(value, in_sexp)
        self.is_after_long = value[1] == "string" and text.endswith("'''")
        return text + (self.space() or " ")

    def space(self) -> str:
        """White space and comments, or nothing."""
        if not self.is_odd():
            return ""
        if self.rng.random() < 0.8:
            return self.rng.choice((" ", "\n", "\t", "\r\n", " /*c*/ ", " // '\r\n"))
        return self.rng.choice(("\r", "\v", "\f", "/**/", "//x\n"))

    def value(self, value: Value, in_sexp: bool = False) -> str:
        annotations, kind, content = value
        out = ""
        for annotation in annotations:
            out += self.symbol_text(annotation) + self.space() + "::" + self.space()
        if kind == "symbol":
            is_operator = isinstance(content, str) and content and set(content) <= set(OPERATORS)
            if (
                in_sexp
                and is_operator
                and "//" not in content
                and "/*" not in content
                and not annotations
            ):
                return out + content + " "
            return out + self.symbol_text(content)
        return out + getattr(self, f"write_{kind}")(content)

    def symbol_text(self, symbol: Symbol) -> str:
        ids = self.symbols.ids(symbol)
        if not isinstance(symbol, str) or (ids and self.rng.random() < 0.2):
            return f"${self.rng.choice(ids)}"
        if is_bare(symbol) and self.rng.random() < 0.8:
            return symbol
        return "'" + self.escaped(symbol, "'") + "'"

    def quoted(self, text: str) -> str:
        return '"' + self.escaped(text, '"') + '"'

    def escaped(self, text: str, quote: str, newlines: bool = False) -> str:
        return "".join([self.character(ord(c), quote, newlines) for c in text])

    def character(self, point: int, quote: str, newlines: bool) -> str:
        rng = self.rng
        must = point == 0x5C or chr(point) == quote[0] or point < 0x20 or point == 0x7F
        if point in (9, 11, 12) or (point == 10 and newlines):
            must = False
        if not must and not self.is_odd():
            return chr(point)
        folded = "\\\n" if self.is_odd() else ""
        if point in ESCAPES and rng.random() < 0.6:
            return folded + "\\" + ESCAPES[point]
        if point < 0x100 and rng.random() < 0.5:
            return folded + f"\\x{point:02x}"
        if point < 0x10000 and rng.random() < 0.7:
            return folded + f"\\u{point:04X}"
        return folded + f"\\U{point:08x}"

    def write_null(self, kind: str) -> str:
        return "null" if kind == "null" and self.rng.random() < 0.7 else f"null.{kind}"

    def write_bool(self, content: bool) -> str:
        return "true" if content else "false"

    def digits(self, text: str) -> str:
        """Digits with an underscore by chance between two."""
        if len(text) < 2 or not self.is_odd():
            return text
        at = self.rng.randrange(1, len(text))
        return text[:at] + "_" + text[at:]

    def write_int(self, content: int) -> str:
        sign, magnitude = "-" if content < 0 else "", abs(content)
        sort = self.rng.randrange(6)
        if sort == 0 or magnitude.bit_length() > 10000:
            digits = f"{magnitude:x}" if self.rng.random() < 0.5 else f"{magnitude:X}"
            return f"{sign}0{self.rng.choice('xX')}{self.digits(digits)}"
        if sort == 1 and magnitude.bit_length() < 200:
            return f"{sign}0{self.rng.choice('bB')}{self.digits(f'{magnitude:b}')}"
        return sign + self.digits(str(magnitude))

    def write_float(self, content: float) -> str:
        text = repr(content)
        if text == "inf":
            return "+inf"
        if text in ("nan", "-inf"):
            return text
        mantissa, _, exponent = text.partition("e")
        if self.is_odd() and "." in mantissa:
            mantissa += "0" * self.rng.randrange(1, 20)
        return (
            f"{mantissa}{self.rng.choice('eE')}{exponent or self.rng.choice(('0', '+0', '-00'))}"
        )

    def write_decimal(self, content: tuple[int, int, int]) -> str:
        sign, coefficient, exponent = content
        minus, digits = "-" if sign else "", str(coefficient)
        places = self.rng.randrange(len(digits))
        if -60 < exponent <= 0 and self.rng.random() < 0.6:
            digits = digits.zfill(1 - exponent)
            whole, fraction = digits[: len(digits) + exponent], digits[len(digits) + exponent :]
            return f"{minus}{self.digits(whole)}.{self.digits(fraction)}"
        whole, fraction = digits[: len(digits) - places], digits[len(digits) - places :]
        power = exponent + places
        plus = "+" if power >= 0 and self.is_odd() else ""
        point = "." if places or self.is_odd() else ""
        return f"{minus}{self.digits(whole)}{point}{fraction}{self.rng.choice('dD')}{plus}{power}"

    def write_timestamp(self, content: tuple[tuple[int, ...], str, int | None]) -> str:
        fields, _, minutes = content
        text = canonical.timestamp(*content)[1:]
        if len(fields) < 4:
            return text + ("T" if len(fields) < 3 or self.is_odd() else "")
        if minutes == 0 and self.rng.random() < 0.7:
            text = text[:-6] + "Z"
        return text

    def write_string(self, content: str) -> str:
        if self.is_after_long or self.rng.random() < 0.8:
            return self.quoted(content)
        return self.long(content)

    def long(self, content: str) -> str:
        """A long string in one or two pieces; a CR in it would be normalised, and is escaped."""
        at = self.rng.randrange(len(content) + 1)
        pieces = [content[:at], content[at:]] if self.is_odd() else [content]
        return (self.space() or " ").join(
            ["'''" + self.escaped(p, "'", True) + "'''" for p in pieces]
        )

    def write_clob(self, content: bytes) -> str:
        out = []
        for byte in content:
            if 0x20 <= byte < 0x7F and byte not in b"\"'\\" and not self.is_odd():
                out.append(chr(byte))
            elif byte in ESCAPES and self.rng.random() < 0.5:
                out.append("\\" + ESCAPES[byte])
            else:
                out.append(f"\\x{byte:02x}")
        space = self.rng.choice(("", " ", "\n"))
        quote = self.rng.choice(('"', '"', "'''"))
        return "{{" + space + quote + "".join(out) + quote + space + "}}"

    def write_blob(self, content: bytes) -> str:
        text = base64.b64encode(content).decode()
        if self.is_odd():
            at = self.rng.randrange(len(text) + 1)
            text = text[:at] + self.rng.choice((" ", "\n", "\t")) + text[at:]
        return "{{" + text + "}}"

    def write_list(self, content: list[Value]) -> str:
        self.is_after_long = False
        items = [self.space() + self.value(v) + self.space() for v in content]
        end = "," if items and self.is_odd() else ""
        return "[" + ",".join(items) + end + self.space() + "]"

    def write_sexp(self, content: list[Value]) -> str:
        start = "(" + self.space()
        self.is_after_long = False
        items = "".join([self.apart(value, in_sexp=True) for value in content])
        self.is_after_long = False
        return start + items + ")"

    def write_struct(self, content: list[tuple[Symbol, Value]]) -> str:
        fields = []
        self.is_after_long = False
        for name, value in content:
            fields.append(
                f"{self.space()}{self.name(name)}{self.space()}:{self.space()}{self.value(value)}{self.space()}"
            )
        end = "," if fields and self.is_odd() else ""
        return "{" + ",".join(fields) + end + "}"

    def name(self, symbol: Symbol) -> str:
        if isinstance(symbol, str) and self.rng.random() < 0.2:
            return self.quoted(symbol) if self.rng.random() < 0.8 else self.long(symbol)
        return self.symbol_text(symbol)
