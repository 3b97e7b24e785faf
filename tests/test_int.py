"""Ints of any size, both encodings, both ways."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator

import pytest

import ionfast
from leaks import assert_flat

EDGES = [
    0,
    1,
    -1,
    2**31,
    2**63 - 1,
    2**63,
    -(2**63),
    -(2**63) - 1,
    2**64 - 1,
    2**64,
    -(2**64) + 1,
    -(2**64),
    2**71,
    -(2**71),
    2**72,
    2**127,
    2**128,
    10**19,
    10**20 - 1,
    -(10**38),
]

# Around the sizes where the conversion changes hands, and some beyond.
SIZES = [20, 39, 100, 639, 640, 641, 1999, 2000, 2001, 4299, 4301, 20_000]


@pytest.fixture(autouse=True)
def _tightest_digit_limit() -> Iterator[None]:
    """Nothing may depend on Python's limit on digits, not even at the lowest that it can be."""
    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(640)
    yield
    sys.set_int_max_str_digits(limit)


def decimal_text(value: int) -> str:
    """The digits by long division, in pieces that no limit concerns."""
    sign, value = ("-", -value) if value < 0 else ("", value)
    pieces = []
    while value >= 10**500:
        value, low = divmod(value, 10**500)
        pieces.append(f"{low:0500d}")
    return sign + str(value) + "".join(reversed(pieces))


def binary_int(value: int) -> bytes:
    """Ion binary of an int, by the specification."""
    magnitude = abs(value)
    content = magnitude.to_bytes((magnitude.bit_length() + 7) // 8, "big")
    code = 0x30 if value < 0 else 0x20
    if len(content) < 14:
        return b"\xe0\x01\x00\xea" + bytes([code | len(content)]) + content
    groups = [len(content) & 0x7F | 0x80]
    rest = len(content) >> 7
    while rest:
        groups.insert(0, rest & 0x7F)
        rest >>= 7
    return b"\xe0\x01\x00\xea" + bytes([code | 0x0E]) + bytes(groups) + content


def numbers_of(digits: int) -> list[int]:
    generator = random.Random(digits)
    drawn = generator.randrange(10 ** (digits - 1), 10**digits)
    return [10 ** (digits - 1), 10**digits - 1, drawn, -drawn]


@pytest.mark.parametrize("value", EDGES)
def test_edges(value: int) -> None:
    assert ionfast.loads(str(value)) == value
    assert ionfast.loads(binary_int(value)) == value
    assert ionfast.dumps(value) == binary_int(value)
    assert ionfast.dumps(value, binary=False).split()[-1] == str(value)


@pytest.mark.parametrize("digits", SIZES)
def test_sizes(digits: int) -> None:
    for value in numbers_of(digits):
        text = decimal_text(value)
        assert ionfast.loads(text) == value
        assert ionfast.loads(binary_int(value)) == value
        assert ionfast.dumps(value) == binary_int(value)
        assert ionfast.dumps(value, binary=False).split()[-1] == text


@pytest.mark.parametrize("bits", [65, 128, 6_640, 6_648, 100_000])
def test_hexadecimal_and_binary_digits(bits: int) -> None:
    value = random.Random(bits).getrandbits(bits) | 1 << (bits - 1)
    assert ionfast.loads(f"{value:#x}") == value
    assert ionfast.loads(f"-{value:#b}") == -value


def test_leading_zeros_and_padding_in_binary() -> None:
    assert ionfast.loads(b"\xe0\x01\x00\xea\x2a" + bytes(9) + b"\x05") == 5


class Odd(int):
    """Overrides what conversions might be tempted to call."""

    def __abs__(self) -> int:
        raise AssertionError("__abs__ was called")

    def __index__(self) -> int:
        raise AssertionError("__index__ was called")

    def __int__(self) -> int:
        raise AssertionError("__int__ was called")

    def __neg__(self) -> int:
        raise AssertionError("__neg__ was called")

    def __str__(self) -> str:
        raise AssertionError("__str__ was called")


@pytest.mark.parametrize("value", [7, -7, 2**64, -(2**64), 10**3000, -(10**3000)])
@pytest.mark.parametrize("binary", [True, False])
def test_a_subclass_is_written_by_its_value(value: int, binary: bool) -> None:
    assert ionfast.dumps(Odd(value), binary=binary) == ionfast.dumps(value, binary=binary)


def test_conversions_leave_nothing_behind() -> None:
    values = [5, 2**63, -(2**64), 10**100, -(10**700), 10**2500]

    def round_trip() -> None:
        assert ionfast.loads(ionfast.dumps(values)) == values
        assert ionfast.loads(ionfast.dumps(values, binary=False)) == values

    assert_flat(round_trip)


@pytest.mark.parametrize("binary", [True, False])
def test_ints_that_repeat_share_an_object(binary: bool) -> None:
    numbers = [257, -257, 2**63 - 1, -(2**63) + 1, 205705993, 10**15]
    values = numbers * 100 + [-(2**63), 2**63, 2**64] * 100
    loaded = ionfast.loads(ionfast.dumps(values, binary=binary))
    assert loaded == values
    assert len({id(number) for number in loaded[-600:-300]}) == len(numbers)


@pytest.mark.parametrize("binary", [True, False])
def test_ints_that_meet_in_one_place(binary: bool) -> None:
    rng = random.Random(7)
    many = [rng.randrange(-(2**63), 2**63) for _ in range(3000)]
    values = [rng.choice(many[: 10**exponent]) for exponent in (1, 2, 3) for _ in range(5000)]
    values += many + values[:2000]
    encoded = ionfast.dumps(values, binary=binary)
    for _ in range(3):
        assert ionfast.loads(encoded) == values
