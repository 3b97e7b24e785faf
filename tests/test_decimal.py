"""Decimals: exact in both encodings, whatever the context, up to what Python can hold."""

from __future__ import annotations

import copy
import decimal
import pickle
import random
import subprocess
import sys
from decimal import Decimal, localcontext

import pytest

import ionfast
from leaks import assert_flat

# Python's spelling, Ion's text.
SPELLINGS = [
    ("0", "0."),
    ("-0", "-0."),
    ("0.0", "0.0"),
    ("-0.00", "-0.00"),
    ("0E+5", "0d5"),
    ("0E-30", "0d-30"),
    ("1", "1."),
    ("1.50", "1.50"),
    ("-12.340", "-12.340"),
    ("0.05", "0.05"),
    ("1E+10", "1d10"),
    ("1E-7", "1d-7"),
    ("-123E+400", "-123d400"),
    ("18446744073709551615", "18446744073709551615."),
    ("18446744073709551616", "18446744073709551616."),
    ("-1844674407370955161.6", "-1844674407370955161.6"),
    ("123456789012345678901234567890.123450", "123456789012345678901234567890.123450"),
    ("1E+999999999999999999", "1d999999999999999999"),
    ("1E-1999999999999999997", "1d-1999999999999999997"),
    ("0E+999999999999999999", "0d999999999999999999"),
]


def same(left: Decimal, right: Decimal) -> bool:
    return left.as_tuple() == right.as_tuple()


@pytest.mark.parametrize(("spelling", "text"), SPELLINGS)
def test_sign_zeros_and_exponent_survive(spelling: str, text: str) -> None:
    value = Decimal(spelling)
    read = ionfast.loads(text)
    assert type(read) is Decimal
    assert same(read, value)
    assert same(ionfast.loads(ionfast.dumps(value)), value)
    assert same(ionfast.loads(ionfast.dumps(value, binary=False)), value)


def test_every_exponent_near_zero_with_every_length() -> None:
    for exponent in range(-45, 30):
        for digits in ("0", "1", "10", "123", "9" * 19, "9" * 20, "1" + "0" * 39):
            for sign in ("", "-"):
                value = Decimal(f"{sign}{digits}E{exponent}")
                for binary in (True, False):
                    assert same(ionfast.loads(ionfast.dumps(value, binary=binary)), value)


@pytest.mark.parametrize("digits", [21, 100, 640, 1990, 2010, 5000, 300_000])
def test_long_coefficients(digits: int) -> None:
    generator = random.Random(digits)
    value = Decimal((1, [1] + [generator.randrange(10) for _ in range(digits - 1)], -7))
    for binary in (True, False):
        assert same(ionfast.loads(ionfast.dumps(value, binary=binary)), value)


@pytest.mark.parametrize(
    "context",
    [
        decimal.Context(prec=1),
        decimal.Context(prec=1, rounding=decimal.ROUND_UP, Emax=1, Emin=-1),
        decimal.Context(capitals=0),
        decimal.Context(clamp=1, Emax=10),
        decimal.Context(traps=[decimal.Inexact, decimal.Rounded, decimal.FloatOperation]),
    ],
    ids=repr,
)
@pytest.mark.parametrize("text", ["1234567890.123450", "-12345d400", "1d-300", "0d-99"])
def test_the_context_does_not_matter(context: decimal.Context, text: str) -> None:
    expected = ionfast.loads(text)
    written = ionfast.dumps(expected), ionfast.dumps(expected, binary=False)
    with decimal.localcontext(context) as current:
        assert same(ionfast.loads(text), expected)
        assert (ionfast.dumps(expected), ionfast.dumps(expected, binary=False)) == written
        assert not any(current.flags.values())


@pytest.mark.parametrize(
    "text",
    [
        "1d1000000000000000000",
        "10d999999999999999999",
        "1d-1999999999999999998",
        "0d1000000000000000000",
        "1d9223372036854775807",
        "-5d-9223372036854775808",
    ],
)
@pytest.mark.parametrize("trap", [True, False])
def test_beyond_what_decimal_holds(text: str, trap: bool) -> None:
    """With the trap off, Decimal would make a NaN out of it without a word."""
    with decimal.localcontext() as context:
        context.traps[decimal.InvalidOperation] = trap
        with pytest.raises(ValueError, match="beyond what Python's Decimal can hold"):
            ionfast.loads(text)


@pytest.mark.parametrize("spelling", ["NaN", "-NaN", "NaN123", "sNaN", "Infinity", "-Infinity"])
@pytest.mark.parametrize("binary", [True, False])
def test_not_a_number_is_an_error(spelling: str, binary: bool) -> None:
    with pytest.raises(ValueError, match=rf"no such decimal: Decimal\('{spelling}'\)"):
        ionfast.dumps([Decimal(spelling)], binary=binary)


class Odd(Decimal):
    def __str__(self) -> str:
        raise AssertionError("__str__ was called")

    def as_tuple(self) -> decimal.DecimalTuple:
        raise AssertionError("as_tuple was called")


@pytest.mark.parametrize("binary", [True, False])
def test_a_subclass_is_written_by_its_value(binary: bool) -> None:
    assert same(ionfast.loads(ionfast.dumps(Odd("-1.50"), binary=binary)), Decimal("-1.50"))


def test_conversions_leave_nothing_behind() -> None:
    values = [Decimal("1.5"), Decimal("-0E+7"), Decimal("9" * 25), Decimal("7" * 2500 + "E-9")]

    def round_trip() -> None:
        assert ionfast.loads(ionfast.dumps(values)) == values
        assert ionfast.loads(ionfast.dumps(values, binary=False)) == values
        with pytest.raises(ValueError, match="beyond"):
            ionfast.loads("1d1000000000000000000")

    assert_flat(round_trip, Decimal)


# Coefficients around what fits one machine word of Decimal, in every sign and place.
WORDS = [0, 1, 9, 10, 99, 10**18, 10**19 - 1, 10**19, 2**64 - 1, 2**64, 10**20]
EXPONENTS = [0, 1, -1, -2, -19, -20, 27, 10**8, 10**8 + 1, -(10**8), -(10**8) - 1]


@pytest.mark.parametrize("exponent", EXPONENTS)
@pytest.mark.parametrize("word", WORDS)
def test_words(word: int, exponent: int) -> None:
    for sign in "", "-":
        value = Decimal(f"{sign}{word}E{exponent}")
        for binary in (True, False):
            read = ionfast.loads(ionfast.dumps(value, binary=binary))
            assert type(read) is Decimal
            assert read.as_tuple() == value.as_tuple()
            assert (str(read), hash(read)) == (str(value), hash(value))
            assert (read.copy_negate(), read.adjusted()) == (value.copy_negate(), value.adjusted())
            assert (pickle.dumps(read), copy.copy(read)) == (pickle.dumps(value), value)


def test_results_of_arithmetic_are_written() -> None:
    with localcontext() as context:
        context.prec = 60
        values = [Decimal(1) / 3, Decimal(2) ** 100 / 2**90, +Decimal("1.500"), Decimal(7) // 2]
        values += [Decimal(10) ** 30 - 10**30 + 5, Decimal("1e-7").normalize()]
    for value in values:
        assert same(ionfast.loads(ionfast.dumps(value)), value)


PURE = """
import sys
sys.modules["_decimal"] = None  # as if it were not there: Decimal in Python
import decimal, ionfast
values = [decimal.Decimal(text) for text in ("0", "-0.00", "12.50", "-7E+9", "9" * 40)]
assert type(values[0]).__add__.__class__.__name__ == "function"
for binary in (True, False):
    read = ionfast.loads(ionfast.dumps(values, binary=binary))
    assert list(map(str, read)) == list(map(str, values)), read
print("same")
"""


def test_decimals_written_in_python() -> None:
    done = subprocess.run([sys.executable, "-c", PURE], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("same\n", "")
