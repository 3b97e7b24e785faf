"""Huge ints and decimals: exact, whatever the interpreter's limits and the decimal context."""

from __future__ import annotations

import decimal
import random
import sys
from collections.abc import Iterator

import pytest

from ionfast._bignum import (
    int_from_digits,
    int_to_digits,
)

# Around the leaves of 512 digits and of 128 bytes, and where an odd one is left over.
DIGIT_COUNTS = [1, 2, 511, 512, 513, 1023, 1024, 1025, 1536, 1537, 2560, 4301, 20_000]


@pytest.fixture(params=["default", "hostile"], autouse=True)
def _surroundings(request: pytest.FixtureRequest) -> Iterator[None]:
    """Every test also runs with the least digit limit and a context that rounds everything."""
    limit = sys.get_int_max_str_digits()
    context = decimal.getcontext().copy()
    if request.param == "hostile":
        sys.set_int_max_str_digits(640)
        decimal.setcontext(decimal.Context(prec=1, Emax=1, Emin=-1, traps=[decimal.Inexact]))
    yield
    sys.set_int_max_str_digits(limit)
    decimal.setcontext(context)


def digits_of(rng: random.Random, count: int) -> str:
    return rng.choice("123456789") + "".join(rng.choices("0123456789", k=count - 1))


def horner(digits: str) -> int:
    """An oracle that shares nothing with the code: digit by digit."""
    value = 0
    for digit in digits:
        value = value * 10 + int(digit)
    return value


@pytest.mark.parametrize("count", DIGIT_COUNTS)
def test_int_from_digits_is_exact(count: int) -> None:
    digits = digits_of(random.Random(count), count)
    assert int_from_digits(digits.encode(), False) == horner(digits)
    assert int_from_digits(digits.encode(), True) == -horner(digits)


@pytest.mark.parametrize("count", DIGIT_COUNTS)
def test_int_to_digits_gives_the_magnitude(count: int) -> None:
    digits = digits_of(random.Random(count), count)
    assert int_to_digits(horner(digits)) == digits.encode()
    assert int_to_digits(-horner(digits)) == digits.encode()


@pytest.mark.parametrize("bits", [0, 1, 8, 1023, 1024, 1025, 2048, 3072, 3073, 50_000])
def test_powers_of_two_and_their_neighbours_round_trip(bits: int) -> None:
    for value in ((1 << bits) - 1, 1 << bits, (1 << bits) + 1):
        assert int_from_digits(int_to_digits(value), False) == value


@pytest.mark.parametrize("zeros", [0, 511, 512, 513, 5000])
def test_powers_of_ten(zeros: int) -> None:
    assert int_to_digits(10**zeros) == b"1" + b"0" * zeros
    assert int_from_digits(b"1" + b"0" * zeros, False) == 10**zeros


def test_zero_and_leading_zeros() -> None:
    assert int_to_digits(0) == b"0"
    assert int_from_digits(b"0", True) == 0
    assert int_from_digits(b"0" * 2000 + b"7", True) == -7


def test_what_is_no_digit_is_an_error() -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        int_from_digits(b"1" * 600 + b"x" + b"1" * 600, False)
