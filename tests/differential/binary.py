"""Writes values as binary Ion, now and then in an unusual but legal way."""

from __future__ import annotations

import datetime
import random
import struct

from .symbols import Import, Table
from .values import CODES, LOCAL, Absent, Symbol, Value

IVM = b"\xe0\x01\x00\xea"


class Binary:
    """Writes binary Ion, now and then in an unusual way."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.symbols = Table()
        self.odd = rng.choice((0.0, 0.0, 0.05, 0.3))  # how often a value is written unusually

    def is_odd(self) -> bool:
        return self.rng.random() < self.odd

    def start(self) -> bytes:
        return IVM + (IVM if self.is_odd() else b"")

    def end(self) -> bytes:
        return self.padding()

    def table(self, imports: list[Import], used: list[Symbol]) -> bytes:
        """A symbol table that has all that is used: a new one, or one that goes on from the last."""
        rng = self.rng
        out = IVM if self.is_odd() else b""
        if out:
            self.symbols.slots = []
        if not imports and all(self.symbols.ids(s) for s in used) and rng.random() < 0.5:
            return out
        fields: list[bytes] = []
        goes_on = not imports and rng.random() < 0.5
        old = self.symbols.slots if goes_on else []
        absent = [Absent(i.table, n + 1) for i in imports for n in range(i.max_id)]
        table = Table()
        table.slots = [*old, *absent]
        added = [s for s in used if not table.ids(s)]
        if self.is_odd():
            added = [*added, *rng.choices(added, k=1)] if added else [LOCAL]
        if self.is_odd():
            rng.shuffle(added)
        if goes_on:
            fields.append(b"\x86" + self.unit(7, b"\x03"))
        elif imports:
            entries = b"".join([self.import_(i) for i in imports])
            fields.append(b"\x86" + self.unit(11, entries))
        fields.append(b"\x87" + self.unit(11, b"".join([self.slot(s) for s in added])))
        if self.is_odd():
            fields.append(b"\x88" + self.unit(2, b"\x07"))  # open content
        rng.shuffle(fields)
        body = self.unit(13, b"".join(fields))
        self.symbols.slots = [*table.slots, *added]
        return out + self.unit(14, b"\x81\x83" + body)

    def import_(self, table: Import) -> bytes:
        fields = [
            b"\x84" + self.unit(8, table.table.encode()),
            b"\x85" + self.write_int(table.version),
            b"\x88" + self.write_int(table.max_id),
        ]
        self.rng.shuffle(fields)
        return self.unit(13, b"".join(fields))

    def slot(self, symbol: Symbol) -> bytes:
        if isinstance(symbol, str):
            return self.unit(8, symbol.encode())
        return self.rng.choice((b"\x0f", b"\x11", b"\x8f", b"\x21\x05"))

    def top(self, value: Value) -> bytes:
        return self.padding() + self.value(value)

    def padding(self) -> bytes:
        """NOP padding, or none."""
        if not self.is_odd():
            return b""
        length = self.rng.choice((0, 1, 5, 13, 14, 20))
        return self.unit(0, self.rng.randbytes(length))

    def varuint(self, number: int) -> bytes:
        groups = [number & 0x7F | 0x80]
        while number := number >> 7:
            groups.append(number & 0x7F)
        if self.is_odd():
            groups += [0] * self.rng.choice((1, 1, 2))
        return bytes(reversed(groups))

    def varint(self, number: int, negative: bool = False) -> bytes:
        magnitude = abs(number)
        groups = []
        while magnitude > 0x3F:
            groups.append(magnitude & 0x7F)
            magnitude >>= 7
        if self.is_odd():
            groups.append(magnitude)
            magnitude = 0
        groups.append(magnitude | (0x40 if number < 0 or negative else 0))
        groups[0] |= 0x80
        return bytes(reversed(groups))

    def unit(self, code: int, content: bytes) -> bytes:
        is_short = len(content) < 14 and not (code == 13 and len(content) == 1)
        if is_short and (not self.is_odd() or (code == 13 and not content)):
            return bytes([code << 4 | len(content)]) + content
        return bytes([code << 4 | 14]) + self.varuint(len(content)) + content

    def uint(self, number: int) -> bytes:
        length = (number.bit_length() + 7) // 8 + (self.rng.choice((1, 2)) if self.is_odd() else 0)
        return number.to_bytes(length)

    def signed(self, negative: int, magnitude: int) -> bytes:
        """An Int field: a sign bit and a magnitude; nothing at all for a plain zero."""
        if magnitude == 0 and not negative and not self.is_odd():
            return b""
        length = magnitude.bit_length() // 8 + 1 + (1 if self.is_odd() else 0)
        data = bytearray(magnitude.to_bytes(length))
        data[0] |= 0x80 if negative else 0
        return bytes(data)

    def value(self, value: Value) -> bytes:
        annotations, kind, content = value
        data = (
            self.write_null(content) if kind == "null" else getattr(self, f"write_{kind}")(content)
        )
        if not annotations:
            return bytes(data)
        ids = b"".join([self.varuint(self.sid(a)) for a in annotations])
        return self.unit(14, self.varuint(len(ids)) + ids + data)

    def sid(self, symbol: Symbol) -> int:
        return self.rng.choice(self.symbols.ids(symbol))

    def write_null(self, kind: str) -> bytes:
        code = CODES[kind]
        if kind == "int" and self.rng.random() < 0.5:
            code = 3
        return bytes([code << 4 | 15])

    def write_bool(self, content: bool) -> bytes:
        return b"\x11" if content else b"\x10"

    def write_int(self, content: int) -> bytes:
        return self.unit(3 if content < 0 else 2, self.uint(abs(content)))

    def write_float(self, content: float) -> bytes:
        if content == 0 and struct.pack(">d", content)[0] == 0 and self.rng.random() < 0.5:
            return b"\x40"
        if content != content or self.rng.random() < 0.5:
            try:
                single = struct.pack(">f", content)
            except OverflowError:
                single = b""
            if single and (content != content or struct.unpack(">f", single)[0] == content):
                return b"\x44" + single
        return b"\x48" + struct.pack(">d", content)

    def write_decimal(self, content: tuple[int, int, int]) -> bytes:
        sign, coefficient, exponent = content
        if not (sign or coefficient or exponent) and self.rng.random() < 0.5:
            return b"\x50"
        return self.unit(5, self.varint(exponent) + self.signed(sign, coefficient))

    def write_timestamp(self, content: tuple[tuple[int, ...], str, int | None]) -> bytes:
        fields, fraction, minutes = content
        if len(fields) < 4:
            return self.unit(6, b"\xc0" + b"".join([self.varuint(n) for n in fields]))
        local = datetime.datetime(*fields)  # type: ignore[arg-type]
        utc = local - datetime.timedelta(minutes=minutes or 0)
        parts = [utc.year, utc.month, utc.day, utc.hour, utc.minute, utc.second]
        offset = b"\xc0" if minutes is None else self.varint(minutes)
        body = offset + b"".join([self.varuint(n) for n in parts[: len(fields)]])
        if fraction:
            body += self.varint(-len(fraction)) + self.signed(0, int(fraction))
        elif len(fields) == 6 and self.is_odd():
            body += self.varint(0)  # 0d0: no fraction
        return self.unit(6, body)

    def write_symbol(self, content: Symbol) -> bytes:
        return self.unit(7, self.uint(self.sid(content)))

    def write_string(self, content: str) -> bytes:
        return self.unit(8, content.encode())

    def write_clob(self, content: bytes) -> bytes:
        return self.unit(9, content)

    def write_blob(self, content: bytes) -> bytes:
        return self.unit(10, content)

    def write_list(self, content: list[Value]) -> bytes:
        return self.unit(11, b"".join([self.padding() + self.value(v) for v in content]))

    def write_sexp(self, content: list[Value]) -> bytes:
        return self.unit(12, b"".join([self.value(v) + self.padding() for v in content]))

    def write_struct(self, content: list[tuple[Symbol, Value]]) -> bytes:
        fields = [(self.sid(name), self.value(value)) for name, value in content]
        if fields and self.is_odd():
            fields.sort(key=lambda field: field[0])
            body = b"".join([self.varuint(sid) + data for sid, data in fields])
            return b"\xd1" + self.varuint(len(body)) + body
        if self.is_odd():
            padding = (self.rng.choice((0, 4, 9)), self.unit(0, b""))
            fields.insert(self.rng.randrange(len(fields) + 1), padding)
        return self.unit(13, b"".join([self.varuint(sid) + data for sid, data in fields]))
