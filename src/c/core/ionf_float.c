/* Doubles: correctly rounded from digits, shortest digits back. Specification: float.md.
 *
 * Reading goes through three stages, each exact or aware that it is not: one division or
 * multiplication of doubles that are exact; a 192-bit product with a 128-bit power of ten, whose
 * error is bounded, so that it knows when it cannot decide (Eisel and Lemire's method); big
 * integers. Printing takes one product with the same powers for almost all doubles, and for the rest
 * Raffaello Giulietti's Schubfach, which takes three.
 */
#include "ionf_num.h"

#include <assert.h>
#include <float.h>

#include "ionf_bignum.h"
#include "ionf_pow10.h"
#include "ionf_varint.h"

#define FRACTION_BITS 52
#define HIDDEN_BIT (UINT64_C(1) << FRACTION_BITS)
#define FRACTION_MASK (HIDDEN_BIT - 1)
#define SIGN_BIT (UINT64_C(1) << 63)
#define INFINITY_BITS (UINT64_C(0x7FF) << FRACTION_BITS)
/* A double is an integer below 2 ** 53 times 2 ** (biased exponent - EXPONENT_BIAS). */
#define EXPONENT_BIAS 1075
/* No double needs more digits than these to tell which side of a midpoint it is on. */
#define DIGITS_THAT_COUNT 770

/* floor(value * factor / 2 ** shift), for a magnitude of the product below 2 ** 40. */
static inline int
floor_scale(int value, int64_t factor, unsigned shift)
{
    const int64_t lift = INT64_C(1) << 40;
    return (int)((value * factor + lift) >> shift) - (int)(lift >> shift);
}

/* floor(log2(10 ** exponent)); checked by tools/make_pow10_table.py over the table's range. */
static inline int
floor_log2_pow10(int exponent)
{
    return floor_scale(exponent, 1741647, 19);
}

static inline double
double_from_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* ---- Reading ---- */

/* Where a decimal lies between doubles: at `floor_bits` or above it, below the next one. */
typedef struct placed {
    uint64_t floor_bits;
    bool is_certain; /* is `round_up` known? */
    bool round_up;
} placed;

/* Place a value of 2 ** exponent up to twice that, whose top bits are `top`, followed by the
 * bits of `rest` and `last`, the highest bit of all at 63 or 62. When not `is_exact`, the true
 * value is above by less than one unit of the last bit of `rest`. */
static placed
place_bits(uint64_t top, uint64_t rest, uint64_t last, int exponent, bool is_exact)
{
    if (exponent > 1023) {
        return (placed){INFINITY_BITS, true, false};
    }
    const bool is_normal = exponent >= -1022;
    const int kept_bits = is_normal ? 53 : EXPONENT_BIAS + exponent;
    const int shift = 63 + (int)(top >> 63) - kept_bits;
    if (shift > 64) {
        return (placed){0, true, false};
    }
    const uint64_t kept = shift == 64 ? 0 : top >> shift;
    const uint64_t half = UINT64_C(1) << (shift - 1);
    const uint64_t dropped = top & (half | (half - 1));
    const uint64_t base = is_normal ? (uint64_t)(exponent + 1022) << FRACTION_BITS : 0;
    placed place = {base + kept, true, dropped >= half};
    if (dropped == half && rest == 0 && last == 0) {
        place.round_up = !is_exact || (place.floor_bits & 1);
    } else if (dropped == half - 1 && rest == UINT64_MAX) {
        place.is_certain = is_exact;
    }
    return place;
}

/* Place `digits` * 10 ** `exponent`; `digits` is not 0. */
static placed
place_decimal(uint64_t digits, int64_t exponent)
{
    if (exponent < IONF_POW10_MIN) {
        /* 10 ** 19 at most, so less than half of the smallest double. */
        return (placed){0, true, false};
    }
    if (exponent > DBL_MAX_10_EXP) {
        return (placed){INFINITY_BITS, true, false};
    }
    const int q = (int)exponent;
    const int zeros = ionf_clz64(digits);
    const uint64_t factor = digits << zeros;
    const ionf_product128 high = ionf_multiply(factor, ionf_pow10[q - IONF_POW10_MIN].hi);
    const ionf_product128 low = ionf_multiply(factor, ionf_pow10[q - IONF_POW10_MIN].lo);
    const uint64_t rest = high.lo + low.hi;
    const uint64_t top = high.hi + (rest < high.lo);
    const int binary_exponent = floor_log2_pow10(q) + 63 - zeros + (int)(top >> 63);
    return place_bits(top, rest, low.lo, binary_exponent, q >= 0 && q <= IONF_POW10_MAX_EXACT);
}

/* The digits that count as an integer; `*exponent` becomes that of its last digit. */
static void
exact_digits(ionf_bignum *number, const uint8_t *digits, size_t len, int64_t *exponent)
{
    const size_t used = len < DIGITS_THAT_COUNT ? len : DIGITS_THAT_COUNT;
    ionf_bignum_set_digits(number, digits, used);
    *exponent += (int64_t)(len - used);
    if (used < len) {
        /* There are no trailing zeros, so what is left out is more than nothing. */
        ionf_bignum_mul_add(number, 10, 1);
        *exponent -= 1;
    }
}

/* Should a value at or above the double `floor_bits` go up? By comparing it with the midpoint.
 * Bounds: 771 digits and 5 ** 1101 are below 2 ** 2620, as is everything that is compared. */
static bool
rounds_up_exactly(const uint8_t *digits, size_t len, int64_t exponent, uint64_t floor_bits)
{
    const unsigned biased = (unsigned)(floor_bits >> FRACTION_BITS);
    const uint64_t fraction = floor_bits & FRACTION_MASK;
    const uint64_t significand = biased == 0 ? fraction : fraction | HIDDEN_BIT;
    const int midpoint_exponent = (biased == 0 ? 1 : (int)biased) - EXPONENT_BIAS - 1;
    ionf_bignum value;
    ionf_bignum midpoint;
    exact_digits(&value, digits, len, &exponent);
    ionf_bignum_set_u64(&midpoint, significand * 2 + 1);
    const int q = (int)exponent;
    ionf_bignum_mul_pow5(q >= 0 ? &value : &midpoint, (unsigned)(q >= 0 ? q : -q));
    const int twos = q - midpoint_exponent;
    ionf_bignum_shift_left(twos >= 0 ? &value : &midpoint, (unsigned)(twos >= 0 ? twos : -twos));
    const int order = ionf_bignum_compare(&value, &midpoint);
    return order > 0 || (order == 0 && (floor_bits & 1));
}

/* One operation on two doubles that are both exact is rounded correctly by the machine. */
static inline bool
parse_by_machine(uint64_t digits, int64_t exponent, double *out)
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (FLT_EVAL_METHOD != 0 || digits > HIDDEN_BIT * 2 || exponent < -22 || exponent > 22) {
        return false;
    }
    const double value = (double)digits;
    *out = exponent < 0 ? value / powers[-exponent] : value * powers[exponent];
    return true;
}

/* More than 19 digits: the first 19 decide, unless a midpoint lies within what they leave open. */
static double
parse_long(const uint8_t *digits, size_t len, int64_t exponent)
{
    while (digits[len - 1] == '0') {
        len--;
        exponent++;
    }
    const size_t used = len < 19 ? len : 19;
    uint64_t head;
    (void)ionf_num_parse_u64(digits, used, &head);
    const int64_t head_exponent = exponent + (int64_t)(len - used);
    placed place = place_decimal(head, head_exponent);
    if (used < len && place.is_certain) {
        const placed above = place_decimal(head + 1, head_exponent);
        place.is_certain = above.is_certain &&
                           above.floor_bits + above.round_up == place.floor_bits + place.round_up;
    }
    if (!place.is_certain) {
        place.round_up = rounds_up_exactly(digits, len, exponent, place.floor_bits);
    }
    return double_from_bits(place.floor_bits + place.round_up);
}

bool
ionf_num_scale_double(uint64_t digits, int64_t exponent, double *out)
{
    if (digits == 0) {
        *out = 0.0;
        return true;
    }
    const placed place = place_decimal(digits, exponent);
    *out = double_from_bits(place.floor_bits + place.round_up);
    return place.is_certain;
}

double
ionf_num_parse_double(const uint8_t *digits, size_t len, int64_t exponent)
{
    while (len != 0 && *digits == '0') {
        digits++;
        len--;
    }
    /* Beyond these the value is 0 or infinite however it rounds; within, nothing overflows
     * below. */
    if (len == 0 || exponent < -340 - (int64_t)len) {
        return 0.0;
    }
    if (exponent > DBL_MAX_10_EXP - (int64_t)len + 1) {
        return double_from_bits(INFINITY_BITS);
    }
    if (len > 19) {
        return parse_long(digits, len, exponent);
    }
    uint64_t value;
    double result;
    (void)ionf_num_parse_u64(digits, len, &value);
    if (parse_by_machine(value, exponent, &result)) {
        return result;
    }
    placed place = place_decimal(value, exponent);
    if (IONF_UNLIKELY(!place.is_certain)) {
        place.round_up = rounds_up_exactly(digits, len, exponent, place.floor_bits);
    }
    return double_from_bits(place.floor_bits + place.round_up);
}

/* ---- Printing ---- */

/* digits * 10 ** exponent, at most 17 digits. */
typedef struct shortest {
    uint64_t digits;
    int exponent;
} shortest;

/* The top 64 bits of power * factor, the lowest of them set if any bit below is: enough to compare
 * with multiples of 2, as Schubfach does. */
static inline uint64_t
multiply_to_odd(ionf_product128 power, uint64_t factor)
{
    const ionf_product128 low = ionf_multiply(power.lo, factor);
    const ionf_product128 high = ionf_multiply(power.hi, factor);
    const uint64_t middle = high.lo + low.hi;
    const uint64_t top = high.hi + (middle < high.lo);
    return top | (middle > 1);
}

/* 10 ** exponent, rounded up where it is not exact. */
static inline ionf_product128
power_above(int exponent)
{
    const uint64_t hi = ionf_pow10[exponent - IONF_POW10_MIN].hi;
    const uint64_t lo = ionf_pow10[exponent - IONF_POW10_MIN].lo;
    const bool is_exact = exponent >= 0 && exponent <= IONF_POW10_MAX_EXACT;
    return (ionf_product128){hi, lo + !is_exact};
}

/* Schubfach: scale by the power of ten that makes the rounding interval between 1 and 10 wide,
 * then take the one multiple of ten in it, or else the integer in it that is nearest. All
 * numbers are four times the scaled ones, so that halves and quarters are integers. */
IONF_FORCE_INLINE shortest
shortest_of(uint64_t significand, int exponent, bool lower_is_closer)
{
    const bool is_even = (significand & 1) == 0;
    const int k =
        lower_is_closer
            ? (int)(((int64_t)exponent * 1262611 - 524031 + (INT64_C(1) << 40)) >> 22) - (1 << 18)
            : floor_scale(exponent, 1262611, 22);
    const int shift = exponent + floor_log2_pow10(-k) + 1;
    const ionf_product128 power = power_above(-k);
    const uint64_t centre = 4 * significand;
    const uint64_t value = multiply_to_odd(power, centre << shift);
    const uint64_t below = multiply_to_odd(power, (centre - 2 + lower_is_closer) << shift);
    const uint64_t above = multiply_to_odd(power, (centre + 2) << shift);
    /* The interval includes its ends when the significand is even, as reading rounds ties to
     * even. */
    const uint64_t lowest = below + !is_even;
    const uint64_t highest = above - !is_even;
    const uint64_t whole = value / 4;
    if (whole >= 10) {
        const uint64_t tens = whole / 10;
        const bool low_is_inside = lowest <= 40 * tens;
        const bool high_is_inside = 40 * tens + 40 <= highest;
        if (low_is_inside != high_is_inside) {
            return (shortest){tens + high_is_inside, k + 1};
        }
    }
    const bool low_is_inside = lowest <= 4 * whole;
    const bool high_is_inside = 4 * whole + 4 <= highest;
    if (low_is_inside != high_is_inside) {
        return (shortest){whole + high_is_inside, k};
    }
    const uint64_t middle = 4 * whole + 2;
    const bool round_up = value > middle || (value == middle && (whole & 1));
    return (shortest){whole + round_up, k};
}

/* (high * 10 ** 8 + low) * 10 ** (point - 16), not 0, of 16 or 17 digits. `point` of the last 16 stand
 * before the point. */
typedef struct decimal {
    uint32_t high; /* eight or nine digits */
    uint32_t low;  /* eight, with leading zeros */
    int64_t point;
} decimal;

/* Is it -margin to margin, seen as a signed number? */
static inline bool
is_within(uint64_t value, uint64_t margin)
{
    return value + margin <= 2 * margin;
}

/* The shortest decimal of a normal double; false if one product cannot tell, which is once in some
 * 2 ** 50 doubles, where two answers are equally near, and for a power of two that has no shorter
 * decimal than most.
 *
 * The power of ten scales the rounding interval to 0.1 or more but less than 1, so that it holds one
 * integer at most. If it holds one, that is the whole part of its upper end, whose product this is, and
 * the shortest decimal but for zeros at the end. Otherwise one digit more will do, as a tenth fits in:
 * the nearest one.
 *
 * Fractions are in units of 2 ** -64, and less than two units below what they stand for. What is closer
 * to a limit than the margins is left to others; so it does not matter here whether the ends belong to
 * the interval, or where ties go. */
IONF_FORCE_INLINE bool
shorten(uint64_t bits, bool is_power_of_two, decimal *out)
{
    enum { SPARE_BITS = 11, MARGIN = 4, DIGIT_MARGIN = 256 };
    const uint64_t biased = bits >> FRACTION_BITS & 0x7FFu;
    const uint64_t place = IONF_POW10_PLACE_OF_0 - biased * IONF_POW10_PLACE_STEP;
    const uint64_t row = place >> 32;
    const uint64_t depth = (place & UINT32_MAX) * IONF_POW10_SHIFT_STEP + IONF_POW10_SHIFT_OF_0;
    const unsigned shift = (unsigned)(depth >> 60); /* 0 .. 3 */
    const uint64_t half = UINT64_C(1) << (SPARE_BITS - 1);
    const uint64_t upper = (bits << SPARE_BITS | UINT64_C(1) << 63 | half) >> shift;
    const uint64_t carried = ionf_multiply(upper, ionf_pow10[row].lo).hi;
    const ionf_product128 product = ionf_multiply(upper, ionf_pow10[row].hi);
    const uint64_t rest = product.lo + carried;
    const uint64_t top = product.hi + (rest < carried);
    const uint64_t whole = top >> SPARE_BITS;
    const uint64_t fraction = top << (64 - SPARE_BITS) | rest >> SPARE_BITS;

    const uint64_t unit = ionf_pow10[row].hi >> shift;
    const uint64_t width = is_power_of_two ? unit / 4 * 3 : unit;
    const uint64_t has_none = (uint64_t)(fraction < width) - 1; /* a mask: nobody can predict it */
    /* In units of 2 ** -60, and 0.5 to round. */
    const uint64_t digit = ((fraction - unit / 2) >> 3) * 5 + (UINT64_C(1) << 59);
    if ((is_power_of_two && has_none) || IONF_UNLIKELY(is_within(fraction, MARGIN)) ||
        IONF_UNLIKELY(is_within(fraction - width, MARGIN)) ||
        IONF_UNLIKELY(is_within(digit << 4, DIGIT_MARGIN))) {
        return false;
    }
    out->high = (uint32_t)(whole / 10000000u);
    out->low = ((uint32_t)whole - out->high * 10000000u) * 10 + (uint32_t)(digit >> 60 & has_none);
    out->point = 16 - 1 - IONF_POW10_MIN - (int64_t)row;
    return true;
}

/* 1 .. 18: the bit length times log10(2), and one comparison to correct it. `value` is not 0. */
static inline int
digit_count(uint64_t value)
{
    const unsigned guess = (unsigned)ionf_bit_length(value) * 1233u >> 12;
    return (int)guess + (value >= ionf_num_powers_of_ten[guess]);
}

#define TEN_8 100000000u

/* The same for every number but 0. */
static decimal
shorten_surely(uint64_t significand, int exponent, bool lower_is_closer)
{
    const shortest number = shortest_of(significand, exponent, lower_is_closer);
    const int count = digit_count(number.digits);
    const int zeros = count < 16 ? 16 - count : 0;
    const uint64_t digits = number.digits * ionf_num_powers_of_ten[zeros];
    return (decimal){(uint32_t)(digits / TEN_8), (uint32_t)(digits % TEN_8),
                     16 - zeros + number.exponent};
}

/* ---- Sixteen digits as text, in registers: words that are stored from there wait for no store ---- */

#if IONF_HAS_SSE2

typedef __m128i text16;

/* From two numbers below 10 ** 8, as ionf_num_digits_8 makes one: lanes of 64, 32, 16, 8 bits. */
static inline text16
text16_of(uint32_t high, uint32_t low)
{
    const __m128i eights = _mm_set_epi64x(low, high);
    const __m128i fours = _mm_srli_epi64(_mm_mul_epu32(eights, _mm_set1_epi64x(0xD1B71759)), 45);
    const __m128i rests = _mm_sub_epi64(eights, _mm_mul_epu32(fours, _mm_set1_epi64x(10000)));
    const __m128i halves = _mm_or_si128(fours, _mm_slli_epi64(rests, 32));
    const __m128i hundreds = _mm_srli_epi16(_mm_mulhi_epu16(halves, _mm_set1_epi16(10486)), 4);
    const __m128i below = _mm_sub_epi16(halves, _mm_madd_epi16(hundreds, _mm_set1_epi32(100)));
    const __m128i pairs = _mm_or_si128(hundreds, _mm_slli_epi32(below, 16));
    const __m128i tens = _mm_mulhi_epu16(pairs, _mm_set1_epi16(6554));
    /* tens + 256 * (pairs - 10 * tens) */
    const __m128i factor = ionf_opaque(_mm_set1_epi16(10 * 256 - 1));
    const __m128i digits = _mm_sub_epi16(_mm_slli_epi16(pairs, 8), _mm_mullo_epi16(tens, factor));
    return _mm_or_si128(digits, _mm_set1_epi8('0'));
}

/* Digits up to the last one that is not 0. */
static inline int64_t
text16_count(text16 text)
{
    const __m128i others = _mm_cmpgt_epi8(text, _mm_set1_epi8('0'));
    const unsigned mask = (unsigned)_mm_movemask_epi8(others);
    return 63 - ionf_clz64((uint64_t)mask << 1 | 1);
}

static inline void
text16_store(uint8_t *w, text16 text)
{
    _mm_storeu_si128((__m128i *)(void *)w, text);
}

/* With a point after `point` digits, 0 to 16: 17 bytes. */
static inline void
text16_store_pointed(uint8_t *w, text16 text, int64_t point)
{
    /* Read from 16 - point on, a mask of so many bytes. */
    static const uint8_t masks[32] = {
        0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
        0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
    };
    const __m128i before = _mm_loadu_si128((const __m128i *)(const void *)(masks + 16 - point));
    const __m128i moved = _mm_slli_si128(text, 1);
    const __m128i change = _mm_and_si128(_mm_xor_si128(text, moved), before);
    text16_store(w + 1, text); /* for the last byte */
    text16_store(w, _mm_xor_si128(moved, change));
    w[point] = '.';
}

#else

typedef struct text16 {
    uint64_t high, low; /* eight digits each, the first in the lowest byte */
} text16;

static inline text16
text16_of(uint32_t high, uint32_t low)
{
    return (text16){ionf_num_digits_8(high) | IONF_ASCII_ZEROS,
                    ionf_num_digits_8(low) | IONF_ASCII_ZEROS};
}

/* Digits up to the last one that is not 0. */
static inline int64_t
text16_count(text16 text)
{
    const uint64_t high = text.high ^ IONF_ASCII_ZEROS;
    const uint64_t low = text.low ^ IONF_ASCII_ZEROS;
    return low != 0 ? 16 - ionf_clz64(low) / 8 : high != 0 ? 8 - ionf_clz64(high) / 8 : 0;
}

static inline void
text16_store(uint8_t *w, text16 text)
{
    ionf_num_store_8(w, text.high);
    ionf_num_store_8(w + 8, text.low);
}

/* With a point after `point` digits, 0 to 16: 17 bytes. */
static inline void
text16_store_pointed(uint8_t *w, text16 text, int64_t point)
{
    text16_store(w + 1, text);
    if (IONF_LIKELY(point < 8)) {
        /* The digits before the point, and the point, move down by one. */
        const unsigned shift = 8u * (unsigned)point;
        const uint64_t before = (UINT64_C(1) << shift) - 1;
        ionf_num_store_8(w, (text.high & before) | (uint64_t)'.' << shift |
                                (text.high & ~before) << 8);
    } else {
        memmove(w, w + 1, (size_t)point);
        w[point] = '.';
    }
}

#endif

/* ---- Laying out ---- */

static uint8_t *
put_text(uint8_t *w, const char *text, size_t len)
{
    memcpy(w, text, len);
    return w + len;
}

/* Digits with a point, unless there would be nothing but zeros after it. */
static inline uint8_t *
put_pointed(uint8_t *w, text16 text, int64_t count, int64_t point)
{
    text16_store_pointed(w, text, point);
    return w + (count > point ? count + 1 : point);
}

/* "d.ddde<exponent>" */
static uint8_t *
put_scientific(uint8_t *w, text16 text, int64_t count, bool has_first, int64_t exponent)
{
    w = put_pointed(w + has_first, text, count, has_first ? 0 : 1);
    *w++ = 'e';
    if (exponent < 0) {
        *w++ = '-';
        exponent = -exponent;
    }
    return w + ionf_num_print_8(w, (uint32_t)exponent);
}

/* The longest: sign, zeros, the digits, exponent with eight digits stored. */
_Static_assert(1 + 5 + 17 + 2 + 8 <= IONF_DOUBLE_TEXT_MAX, "all stores are in the room");

/* Everything is stored in moves of known size: what is too much is written over. */
IONF_FORCE_INLINE uint8_t *
put_decimal(uint8_t *w, decimal number)
{
    const uint32_t first = number.high / TEN_8;
    const bool has_first = number.high >= TEN_8;
    const text16 text = text16_of(number.high - first * TEN_8, number.low);
    const int64_t count = text16_count(text);
    const int64_t point = number.point + has_first;
    *w = (uint8_t)('0' + first);
    if (IONF_LIKELY(point >= 1 && point <= 16)) {
        /* Zeros before the point are there. */
        w = put_pointed(w + has_first, text, count, number.point);
    } else if (point >= -3 && point <= 0) {
        memcpy(w, "0.000", 5);
        w += 2 - point;
        *w = (uint8_t)('0' + first);
        w += has_first;
        text16_store(w, text);
        w += count;
    } else {
        return put_scientific(w, text, count, has_first, point - 1);
    }
    memcpy(w, "e0", 2);
    return w + 2;
}

/* What `shorten` cannot do. */
static IONF_OUTLINE uint8_t *
print_other(uint8_t *dst, uint64_t bits)
{
    const uint64_t fraction = bits & FRACTION_MASK;
    const int biased = (int)(bits >> FRACTION_BITS & 0x7FFu);
    const bool is_negative = (bits & SIGN_BIT) != 0;
    if (IONF_UNLIKELY(biased == 0x7FF)) {
        const char *const text = fraction != 0 ? "nan" : is_negative ? "-inf" : "+inf";
        return put_text(dst, text, fraction != 0 ? 3 : 4);
    }
    *dst = '-';
    uint8_t *const w = dst + is_negative;
    if (biased == 0 && fraction == 0) {
        return put_text(w, "0e0", 3);
    }
    decimal number;
    if (biased == 0) {
        number = shorten_surely(fraction, 1 - EXPONENT_BIAS, false);
    } else if (fraction != 0 || !shorten(bits, true, &number)) {
        number = shorten_surely(fraction | HIDDEN_BIT, biased - EXPONENT_BIAS,
                                fraction == 0 && biased > 1);
    }
    return put_decimal(w, number);
}

uint8_t *
ionf_num_print_double(uint8_t *dst, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    const bool is_normal = (bits >> FRACTION_BITS & 0x7FFu) - 1 < 0x7FE;
    decimal number;
    if (IONF_UNLIKELY(!is_normal || (bits & FRACTION_MASK) == 0 ||
                      !shorten(bits, false, &number))) {
        return print_other(dst, bits);
    }
    *dst = '-';
    return put_decimal(dst + (bits >> 63), number);
}
