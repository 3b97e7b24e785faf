"""Small damage to documents: to text by tokens, to binary by values, to either by bytes."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

from .binary import IVM

TOKEN = re.compile(
    rb"""//[^\n]*\n?|/\*.*?\*/|'''|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[A-Za-z0-9_$.+\-]+|\s+|::|\{\{|\}\}|.""",
    re.S | re.X,
)

# What has been read wrongly before, and beginnings and ends of all kinds.
_WORDS = r"""
    { } [ ] ( ) {{ }} :: : , . - + _ / // /* */ ''' '' ' " \ null null. null.int nan +inf -inf inf true
    $0 $10 $2 $99 $ion_1_0 '$ion_1_0' $ion_1_1 $ion_symbol_table $ion_symbol_table::{symbols:["x"]}
    a a:: b:1 0 00 01 -0 1_0 1__0 1_ 0x 0xF 0b 0b1 0b2 1. 1.5 .5 1e 1e5 1d 1d-5 1d+ -0. -0e0 1e400
    2007T 2007 2007-01 2007-01T 2007-02-29 2007-02-28 2007-01-01T00:00Z 2007-01-01T24:00Z 0000T
    2007-01-01T00:00:00.Z 2007-01-01T00:00:00.5-00:00 2007-01-01T00:00:60Z 0001-01-01T00:00+23:59
    9999-12-31T23:59-23:59 2007-01-01T00:00 2007-01-01T00:00+24:00
    {{}} {{aGk=}} {{aG}} {{"a"}} {{'''a'''}} "\u00e9" "\x41" "\ud83d\ude00" "\ud83d" "\q" "\U0001F600"
    '\u0000' '''a'''
"""
_BYTES = b" ", b"\n", b"\r", b"\v", b"\0", b"\x80", b"\xc2\xa0", b"\xef\xbb\xbf", b"\xed\xa0\x80"
TELLING = (*_WORDS.encode().split(), *_BYTES)


class Mutator:
    """Changes documents; it takes pieces of one for another."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.other = b""  # a document to take pieces from

    def mutate(self, data: bytes) -> bytes:
        """The document with one to four changes."""
        for _ in range(self.rng.choice((1, 1, 1, 2, 4))):
            if self.rng.random() < 0.2:
                data = self.damage_bytes(data)
            elif data.startswith(IVM):
                data = self.damage_binary(data)
            else:
                data = self.damage_text(data)
        return data

    def damage_bytes(self, data: bytes) -> bytes:
        rng = self.rng
        at = rng.randrange(len(data) + 1)
        to = min(len(data), at + rng.choice((1, 1, 1, 2, 4)))
        sort = rng.randrange(6)
        if sort == 0:
            return data[:at] + data[to:]
        if sort == 1:
            return data[:at] + rng.randbytes(rng.choice((1, 1, 2, 3))) + data[at:]
        if sort == 2:
            return data[:at]
        if sort == 3 and at < len(data):
            return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]
        return data[:at] + rng.randbytes(to - at) + data[to:]

    # -------------------------------------------------------------------------------- text

    def damage_text(self, data: bytes) -> bytes:
        rng = self.rng
        tokens = TOKEN.findall(data) or [b""]
        at = rng.randrange(len(tokens))
        sort = rng.randrange(7)
        if sort == 0:
            del tokens[at]
        elif sort == 1:
            tokens.insert(at, tokens[rng.randrange(len(tokens))])
        elif sort == 2:
            to = rng.randrange(len(tokens))
            tokens[at], tokens[to] = tokens[to], tokens[at]
        elif sort == 3:
            tokens[at] = rng.choice(TELLING)
        elif sort == 4:
            tokens.insert(at, rng.choice(TELLING))
        elif sort == 5 and not self.other.startswith(IVM):
            others = TOKEN.findall(self.other) or [b""]
            start = rng.randrange(len(others))
            tokens[at:at] = others[start : start + rng.choice((1, 2, 5))]
        else:
            tokens[at] = self.damage_bytes(tokens[at])
        return b"".join(tokens)

    # ------------------------------------------------------------------------------ binary

    def damage_binary(self, data: bytes) -> bytes:
        """Change one value, and most times mend the lengths around it."""
        rng = self.rng
        places = list(units(data, 4, len(data), ()))
        if not places:
            return self.damage_bytes(data)
        start, body, end, around = rng.choice(places)
        head, content = data[start:body], data[body:end]
        sort = rng.randrange(9)
        if sort == 0:
            new = b""
        elif sort == 1:
            new = bytes([head[0] ^ rng.randrange(1, 16) << 4]) + head[1:] + content
        elif sort == 2:
            new = bytes([head[0] & 0xF0 | rng.randrange(16)]) + head[1:] + content
        elif sort == 3:
            new = data[start:end] * 2
        elif sort == 4:
            picked = (
                list(units(self.other, 4, len(self.other), ()))
                if self.other.startswith(IVM)
                else places
            )
            source = self.other if self.other.startswith(IVM) else data
            new = b""
            if picked:
                other_start, _, other_end, _ = rng.choice(picked)
                new = source[other_start:other_end]
        elif sort == 5:
            new = header(head[0] >> 4, len(content) + rng.choice((-1, 1))) + content
        else:
            changed = self.damage_bytes(content)
            new = header(head[0] >> 4, len(changed)) + changed
        return mended(data, start, end, new, around if rng.random() < 0.85 else ())


Span = tuple[int, int, int]  # where a value's head starts, its content starts, and it ends
Unit = tuple[int, int, int, tuple[Span, ...]]  # the same, and the values around it


def header(code: int, length: int) -> bytes:
    """A head with the length in its plainest form."""
    if 0 <= length < 14:
        return bytes([code << 4 | length])
    return bytes([code << 4 | 14]) + varuint(max(length, 0))


def varuint(number: int) -> bytes:
    groups = [number & 0x7F | 0x80]
    while number := number >> 7:
        groups.append(number & 0x7F)
    return bytes(reversed(groups))


def skip_varuint(data: bytes, at: int, end: int) -> tuple[int, int]:
    """A VarUInt's value and where it ends; it ends at `end` at the latest."""
    number = 0
    while at < end:
        byte = data[at]
        at += 1
        number = min(number << 7 | byte & 0x7F, 1 << 40)
        if byte & 0x80:
            break
    return number, at


def units(data: bytes, at: int, end: int, around: tuple[Span, ...]) -> Iterator[Unit]:
    """All values in a range, as far as they can be made out."""
    while at < end and len(around) < 50:
        start = at
        code, low = data[at] >> 4, data[at] & 15
        if data[at : at + 4] == IVM:
            at += 4
            continue
        length, at = (low, at + 1)
        if low == 14 or (code == 13 and low == 1):
            length, at = skip_varuint(data, at, end)
        elif low == 15 or code == 1:
            length = 0
        stop = min(end, at + length)
        yield start, at, stop, around
        inside = (*around, (start, at, stop))
        if code in (11, 12):
            yield from units(data, at, stop, inside)
        elif code == 14 and low != 0:
            count, inner = skip_varuint(data, at, stop)
            yield from units(data, min(stop, inner + count), stop, inside)
        elif code == 13:
            yield from fields(data, at, stop, inside)
        at = stop


def fields(data: bytes, at: int, end: int, around: tuple[Span, ...]) -> Iterator[Unit]:
    """The values of a struct's fields."""
    while at < end:
        _, at = skip_varuint(data, at, end)
        if at >= end:
            return
        low = data[at] & 15
        length, body = low, at + 1
        if low == 14 or (data[at] >> 4 == 13 and low == 1):
            length, body = skip_varuint(data, at + 1, end)
        elif low == 15 or data[at] >> 4 == 1:
            length = 0
        stop = min(end, body + length)
        yield from units(data, at, stop, around)
        at = stop


def mended(data: bytes, start: int, end: int, new: bytes, around: tuple[Span, ...]) -> bytes:
    """The document with a range replaced, and new lengths for the values around it."""
    for outer_start, outer_body, outer_end in reversed(around):
        content = data[outer_body:start] + new + data[end:outer_end]
        new = header(data[outer_start] >> 4, len(content)) + content
        start, end = outer_start, outer_end
    return data[:start] + new + data[end:]
