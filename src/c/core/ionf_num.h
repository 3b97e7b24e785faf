/* Numbers between text and machine form: doubles both ways, decimal digits both ways.
 *
 * Correctly rounded reading, shortest round-trip printing, without locale and without the C
 * library's strtod/printf. Knows nothing of tokens beyond ionf_integer. The doubles are in
 * ionf_float.c, the integers in ionf_num.c.
 */
#ifndef IONF_NUM_H
#define IONF_NUM_H

#include "ionf_buf.h"
#include "ionf_token.h"

/* Room for ionf_num_print_double, which may store past the end of its output, but not past this. */
#define IONF_DOUBLE_TEXT_MAX 48
/* Room for ionf_num_print_u64, which may store past the end of its output, but not past this. */
#define IONF_U64_TEXT_MAX 20
/* ionf_num_is_below_pow10 compares big-endian magnitudes of up to so many bits exactly. */
#define IONF_NUM_EXACT_BITS 8192

/* 10 ** index: all that fit. In the header, so that a constant index is a constant and a division by
 * it a multiplication. */
static const uint64_t ionf_num_powers_of_ten[20] = {
    1u,
    10u,
    100u,
    1000u,
    10000u,
    100000u,
    1000000u,
    10000000u,
    100000000u,
    1000000000u,
    10000000000u,
    100000000000u,
    1000000000000u,
    10000000000000u,
    100000000000000u,
    1000000000000000u,
    10000000000000000u,
    100000000000000000u,
    1000000000000000000u,
    10000000000000000000u,
};

/* The double nearest to digits * 10 ** exponent, ties to even; infinity beyond the greatest one.
 * `digits`: `len` ASCII digits, any number of them, no underscores, leading zeros allowed.
 * `exponent` counts from the last digit. The sign is the caller's. */
double ionf_num_parse_double(const uint8_t *digits, size_t len, int64_t exponent);

/* The same for a number of up to 19 digits at hand; false in the rare case that only the digits, one by
 * one, can decide. */
bool ionf_num_scale_double(uint64_t digits, int64_t exponent, double *out);

/* The shortest text that reads back as `value`, as Ion float text: always with an exponent
 * ("1e0", "1.5e-7", "-0e0"), or "nan", "+inf", "-inf". From 0.0001 up to 1e16 the digits stand
 * in place and the exponent is 0. Gives the end of the text; no terminating NUL. */
uint8_t *ionf_num_print_double(uint8_t *dst, double value);

/* Decimal digits of `value`; gives the length. */
size_t ionf_num_print_u64(uint8_t *dst, uint64_t value);

/* The value of `len` ASCII digits (leading zeros allowed); false when it does not fit. */
bool ionf_num_parse_u64(const uint8_t *digits, size_t len, uint64_t *out);

/* ionf_integer from digits: strips leading zeros, picks IONF_INT_U64 or IONF_INT_DIGITS
 * (borrowed). */
ionf_integer ionf_num_integer_from_digits(const uint8_t *digits, size_t len, bool is_negative);
/* ionf_integer from big-endian magnitude bytes: strips zero bytes, picks IONF_INT_U64 or
 * IONF_INT_BE. */
ionf_integer ionf_num_integer_from_be(const uint8_t *bytes, size_t len, bool is_negative);
/* The digits of an integer's magnitude appended to `out`, any form; 0 gives "0". On failure
 * `out` is as it was. Faster than quadratic in the length. */
IONF_MUST_CHECK ionf_status ionf_num_integer_to_digits(const ionf_integer *integer, ionf_buf *out);
/* The magnitude as big-endian bytes without leading zeros appended to `out`, any form; 0 gives
 * none. On failure `out` is as it was. Faster than quadratic in the length. */
IONF_MUST_CHECK ionf_status ionf_num_integer_to_be(const ionf_integer *integer, ionf_buf *out);
/* Big-endian magnitude bytes without leading zeros from text digits of radix 2 or 16 (no
 * underscores), appended to `out`; 0 gives none. */
IONF_MUST_CHECK ionf_status ionf_num_radix_to_be(const uint8_t *digits, size_t len, unsigned radix,
                                                 ionf_buf *out);
/* Is the magnitude less than 10 ** exponent? Exact, but for a magnitude in big-endian bytes of
 * more than IONF_NUM_EXACT_BITS bits: false then means "not as far as the length tells". */
bool ionf_num_is_below_pow10(const ionf_integer *integer, uint64_t exponent);

/* Eight ASCII digits as one number, in three multiplications. */
static inline uint32_t
ionf_num_parse_8(const uint8_t *digits)
{
    const uint64_t text = ionf_load64_be(digits) - 0x3030303030303030u;
    /* Each byte pair becomes 10 * high + low; then the four pairs meet in the top half. */
    const uint64_t pairs = text + (text >> 8) * 10;
    const uint64_t mask = 0x000000FF000000FFu;
    const uint64_t low = (pairs & mask) * 0x0000000100002710u;
    const uint64_t high = (pairs >> 16 & mask) * 0x00000064000F4240u;
    return (uint32_t)((low + high) >> 32);
}

/* Are these eight ASCII digits? */
static inline bool
ionf_num_is_8(const uint8_t *p)
{
    const uint64_t text = ionf_load64_native(p);
    return ((text & 0xF0F0F0F0F0F0F0F0u) |
            ((text + 0x0606060606060606u) & 0xF0F0F0F0F0F0F0F0u) >> 4) == 0x3333333333333333u;
}

/* The other way: the eight digits of a number below 10 ** 8, leading zeros too, one a byte, the first
 * in the lowest byte. Halves, quarters and eighths side by side, without a table or a division. */
static inline uint64_t
ionf_num_digits_8(uint32_t value)
{
    const uint64_t halves = value / 10000 | (uint64_t)(value % 10000) << 32;
    const uint64_t hundreds =
        (halves * 10486 >> 20) & 0x0000007F0000007Fu; /* x / 100, x < 10000 */
    const uint64_t pairs = hundreds | (halves - hundreds * 100) << 16;
    const uint64_t tens = (pairs * 103 >> 10) & 0x000F000F000F000Fu; /* x / 10, x < 100 */
    return tens | (pairs - tens * 10) << 8;
}

#define IONF_ASCII_ZEROS 0x3030303030303030u

/* Store eight bytes, the lowest first. */
static inline void
ionf_num_store_8(uint8_t *dst, uint64_t bytes)
{
    const uint64_t ordered = IONF_BIG_ENDIAN ? ionf_swap64(bytes) : bytes;
    memcpy(dst, &ordered, sizeof ordered);
}

/* The digits of a number below 10 ** 8, without leading zeros; stores eight bytes. */
static inline size_t
ionf_num_print_8(uint8_t *dst, uint32_t value)
{
    const uint64_t digits = ionf_num_digits_8(value);
    const unsigned zeros = (unsigned)ionf_ctz64(digits | UINT64_C(1) << 56) / 8u;
    ionf_num_store_8(dst, (digits | IONF_ASCII_ZEROS) >> 8 * zeros);
    return 8 - zeros;
}

#endif
