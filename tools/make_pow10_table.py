"""Write src/c/core/ionf_pow10.h: 128-bit significands of powers of ten.

Run from anywhere: ``python tools/make_pow10_table.py``. The script asserts every property that
src/c/core/ionf_float.c relies on, so that a wrong table cannot be written.
"""

from fractions import Fraction
from pathlib import Path

# Reading needs w * 10**q, w of up to 19 digits: below -342 all is zero, above 308 infinite.
# Printing needs 10**k for k in -292 .. 324.
MIN_EXPONENT = -342
MAX_EXPONENT = 324
# 5**55 is the last power of five that fits 128 bits.
MAX_EXACT = 55

# Printing finds its row and shift with these: steps are log10(2) and log2(10), shifted.
PLACE_OF_0 = 0x2999B659745
PLACE_STEP = 1292913986
SHIFT_OF_0 = 0x4B670A249191
SHIFT_STEP = 891723282

TARGET = Path(__file__).resolve().parent.parent / "src" / "c" / "core" / "ionf_pow10.h"

HEADER = f"""\
/* Powers of ten for ionf_float.c, as 128-bit significands. Written by tools/make_pow10_table.py.
 *
 * Row i holds floor(10 ** q / 2 ** (e - 127)), its highest bit set, for q = i + IONF_POW10_MIN and
 * e = floor(log2(10 ** q)). It is exact for q = 0 .. IONF_POW10_MAX_EXACT and for no other q.
 */
#ifndef IONF_POW10_H
#define IONF_POW10_H

#include "ionf_base.h"

#define IONF_POW10_MIN ({MIN_EXPONENT})
#define IONF_POW10_MAX {MAX_EXPONENT}
#define IONF_POW10_MAX_EXACT {MAX_EXACT}

/* For printing a normal double of any biased exponent: PLACE_OF_0 - PLACE_STEP * exponent is a row and,
 * in the low half, a fraction f. The row's power scales one unit in the double's last place to 0.1 or
 * more, but below 1, and (SHIFT_OF_0 + SHIFT_STEP * f) >> 60 is how far that is below 1: n when it is
 * from 2 ** -(n + 1) up to 2 ** -n. */
#define IONF_POW10_PLACE_OF_0 UINT64_C(0x{PLACE_OF_0:X})
#define IONF_POW10_PLACE_STEP {PLACE_STEP}u
#define IONF_POW10_SHIFT_OF_0 UINT64_C(0x{SHIFT_OF_0:X})
#define IONF_POW10_SHIFT_STEP {SHIFT_STEP}u

static const struct {{
    uint64_t hi, lo;
}} ionf_pow10[IONF_POW10_MAX - IONF_POW10_MIN + 1] = {{
"""


def floor_log2_pow10(exponent: int) -> int:
    """Give floor(log2(10 ** exponent)), computed exactly."""
    if exponent >= 0:
        return (10**exponent).bit_length() - 1
    return -((10**-exponent - 1).bit_length())


def significand(exponent: int) -> tuple[int, bool]:
    """Give the 128-bit significand, rounded down, and whether it is exact."""
    shift = 127 - floor_log2_pow10(exponent)
    numerator = 10 ** max(exponent, 0) << max(shift, 0)
    denominator = 10 ** max(-exponent, 0) << max(-shift, 0)
    value, rest = divmod(numerator, denominator)
    assert value.bit_length() == 128
    return value, rest == 0


def check_places() -> None:
    """Assert that each normal double's row and shift are those that printing needs."""
    for biased in range(1, 2047):
        place = PLACE_OF_0 - biased * PLACE_STEP
        row, fraction = place >> 32, place & (1 << 32) - 1
        shift = fraction * SHIFT_STEP + SHIFT_OF_0 >> 60
        unit = Fraction(2) ** (biased - 1075) * Fraction(10) ** (row + MIN_EXPONENT)
        assert Fraction(1, 10) <= unit < 1
        assert Fraction(1, 2) <= unit * 2**shift < 1


def main() -> None:
    """Check the properties and write the header."""
    check_places()
    rows = []
    for exponent in range(MIN_EXPONENT, MAX_EXPONENT + 1):
        value, is_exact = significand(exponent)
        high, low = value >> 64, value & (1 << 64) - 1
        assert is_exact == (0 <= exponent <= MAX_EXACT)
        # Printing rounds the inexact rows up, in the low word alone.
        assert low != (1 << 64) - 1
        assert floor_log2_pow10(exponent) == exponent * 1741647 >> 19
        rows.append(f"    {{0x{high:016X}u, 0x{low:016X}u}}, /* {exponent} */\n")
    TARGET.write_text(HEADER + "".join(rows) + "};\n\n#endif\n")


if __name__ == "__main__":
    main()
