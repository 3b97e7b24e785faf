"""Ints of thousands of digits, exactly and in less than quadratic time.

The C half converts numbers of up to some 2,000 digits itself and calls these for the rest, so
that they depend neither on ``sys.set_int_max_str_digits`` nor on the current decimal context.
Both directions split the number into leaves that Python converts at once, then join neighbours,
pair by pair, until one is left: the work is that of a few multiplications of large numbers.

"""

from collections.abc import Callable
from decimal import (
    MAX_EMAX,
    MAX_PREC,
    MIN_EMIN,
    Clamped,
    Context,
    Inexact,
    InvalidOperation,
    Overflow,
    Rounded,
    Underflow,
)
from typing import TypeVar

__all__ = ["int_from_digits", "int_to_digits"]

_T = TypeVar("_T")

# Under 640 digits, the least that sys.set_int_max_str_digits accepts, int() is never refused.
_LEAF_DIGITS = 512
_LEAF_BYTES = 128

_DIGITS_TO_ASCII = bytes.maketrans(bytes(range(10)), b"0123456789")


def _exact_context() -> Context:
    """A context in which nothing is ever rounded: what does not fit raises."""
    traps = [Clamped, Inexact, InvalidOperation, Overflow, Rounded, Underflow]
    return Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN, clamp=0, traps=traps)


def _join(
    leaves: list[_T],
    base: _T,
    join: Callable[[_T, _T, _T, int], _T],
    square: Callable[[_T], _T],
) -> _T:
    """Join leaves, the least significant first: ``low + high * base`` at each level.

    `join` also gets how many leaves wide the lower half is.
    """
    width = 1
    while len(leaves) > 1:
        last = leaves[-1:] if len(leaves) % 2 else []
        pairs = zip(leaves[0::2], leaves[1::2], strict=False)
        leaves = [join(low, high, base, width) for low, high in pairs] + last
        width *= 2
        if len(leaves) > 1:
            base = square(base)
    return leaves[0]


def _join_ints(low: int, high: int, power_of_five: int, width: int) -> int:
    # 10 ** n is 5 ** n shifted by n: the factor has three tenths fewer bits.
    return low + ((high * power_of_five) << (width * _LEAF_DIGITS))


def int_from_digits(digits: bytes, negative: bool) -> int:
    """The int of a magnitude in ASCII decimal digits, and a sign.

    >>> int_from_digits(b"1" + b"0" * 5000, True) == -(10**5000)
    True
    """
    leaves = [
        int(digits[max(0, end - _LEAF_DIGITS) : end])
        for end in range(len(digits), 0, -_LEAF_DIGITS)
    ]
    base: int = 5**_LEAF_DIGITS
    magnitude = _join(leaves or [0], base, _join_ints, lambda power: power * power)
    return -magnitude if negative else magnitude


def int_to_digits(value: int) -> bytes:
    """The magnitude of an int in ASCII decimal digits, without a sign or leading zeros.

    >>> int_to_digits(-(10**5000)) == b"1" + b"0" * 5000
    True
    """
    exact = _exact_context()
    magnitude = abs(value)
    data = magnitude.to_bytes((magnitude.bit_length() + 7) // 8 or 1, "little")
    leaves = [
        exact.create_decimal(int.from_bytes(data[start : start + _LEAF_BYTES], "little"))
        for start in range(0, len(data), _LEAF_BYTES)
    ]
    # decimal multiplies large numbers by a number-theoretic transform, int by Karatsuba's method.
    total = _join(
        leaves,
        exact.create_decimal(1 << (8 * _LEAF_BYTES)),
        lambda low, high, base, _: exact.fma(high, base, low),
        lambda base: exact.multiply(base, base),
    )
    return str(total).encode("ascii")
