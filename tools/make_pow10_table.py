"""Write src/c/core/ionf_pow10.h: 128-bit significands of powers of ten.

Run from anywhere: ``python tools/make_pow10_table.py``. The script asserts every property that
src/c/core/ionf_float.c relies on, so that a wrong table cannot be written.
"""

from pathlib import Path

# Reading needs w * 10**q, w of up to 19 digits: below -342 all is zero, above 308 infinite.
# Printing needs 10**k for k in -292 .. 324.
MIN_EXPONENT = -342
MAX_EXPONENT = 324
# 5**55 is the last power of five that fits 128 bits.
MAX_EXACT = 55

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


def main() -> None:
    """Check the properties and write the header."""
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
