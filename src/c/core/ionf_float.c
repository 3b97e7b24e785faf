/* Doubles: correctly rounded from digits, shortest digits back. Specification: float.md.
 *
 * Reading goes through three stages, each exact or aware that it is not: one division or
 * multiplication of doubles that are exact; a 192-bit product with a 128-bit power of ten, whose
 * error is bounded, so that it knows when it cannot decide (Eisel and Lemire's method); big
 * integers. Printing is Raffaello Giulietti's Schubfach over the same powers.
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

/* An integer below 2 ** 53 is its own shortest form, and the most common double. */
static inline bool
is_small_integer(uint64_t significand, int exponent)
{
    return exponent <= 0 && exponent > -53 &&
           (significand & ((UINT64_C(1) << -exponent) - 1)) == 0;
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

static uint8_t *
put_text(uint8_t *w, const char *text, size_t len)
{
    memcpy(w, text, len);
    return w + len;
}

/* A number's digits, padded to 17 with zeros at the end: "d" "dddddddd" "dddddddd". Text of known
 * length is stored in a few moves, and words that stay in registers wait for no store. */
typedef struct padded {
    uint8_t first;         /* ASCII */
    uint64_t middle, last; /* eight ASCII digits each, the first in the lowest byte */
    int count;             /* up to the last digit that is not 0 */
} padded;

#define PADDED_COUNT 17

/* 1 .. 18: the bit length times log10(2), and one comparison to correct it. `value` is not 0. */
static inline int
digit_count(uint64_t value)
{
    const unsigned guess = (unsigned)ionf_bit_length(value) * 1233u >> 12;
    return (int)guess + (value >= ionf_num_powers_of_ten[guess]);
}

/* All but the first digit, from two numbers below 10 ** 8. */
static inline void
pad_tail(padded *text, uint32_t middle, uint32_t last)
{
#if IONF_HAS_SSE2
    /* Both at once, as ionf_num_digits_8 does one: half the moves. Lanes of 64, 32, 16, 8 bits. */
    const __m128i values = _mm_set_epi64x(last, middle);
    const __m128i high = _mm_srli_epi64(_mm_mul_epu32(values, _mm_set1_epi64x(0xD1B71759)), 45);
    const __m128i low = _mm_sub_epi64(values, _mm_mul_epu32(high, _mm_set1_epi64x(10000)));
    const __m128i halves = _mm_or_si128(high, _mm_slli_epi64(low, 32));
    const __m128i hundreds = _mm_srli_epi16(_mm_mulhi_epu16(halves, _mm_set1_epi16(10486)), 4);
    const __m128i below = _mm_sub_epi16(halves, _mm_mullo_epi16(hundreds, _mm_set1_epi16(100)));
    const __m128i pairs = _mm_or_si128(hundreds, _mm_slli_epi32(below, 16));
    const __m128i tens = _mm_mulhi_epu16(pairs, _mm_set1_epi16(6554));
    const __m128i ones = _mm_sub_epi16(pairs, _mm_mullo_epi16(tens, _mm_set1_epi16(10)));
    const __m128i digits = _mm_or_si128(tens, _mm_slli_epi16(ones, 8));
    const __m128i zeros = _mm_cmpeq_epi8(digits, _mm_setzero_si128());
    const __m128i ascii = _mm_or_si128(digits, _mm_set1_epi8('0'));
    text->count = 33 - ionf_clz64((~(uint64_t)(unsigned)_mm_movemask_epi8(zeros) & 0xFFFFu) << 32 |
                                  UINT64_C(1) << 31);
    text->middle = (uint64_t)_mm_cvtsi128_si64(ascii);
    text->last = (uint64_t)_mm_cvtsi128_si64(_mm_unpackhi_epi64(ascii, ascii));
#else
    const uint64_t middle_digits = ionf_num_digits_8(middle);
    const uint64_t last_digits = ionf_num_digits_8(last);
    text->middle = middle_digits | IONF_ASCII_ZEROS;
    text->last = last_digits | IONF_ASCII_ZEROS;
    text->count = 1;
    if (last_digits != 0) {
        text->count = PADDED_COUNT - ionf_clz64(last_digits) / 8;
    } else if (middle_digits != 0) {
        text->count = PADDED_COUNT - 8 - ionf_clz64(middle_digits) / 8;
    }
#endif
}

static inline padded
pad(uint64_t digits, int *count)
{
    const uint64_t block = 100000000u;
    uint64_t scaled = digits;
    *count = PADDED_COUNT;
    if (digits < ionf_num_powers_of_ten[PADDED_COUNT - 1]) {
        *count = PADDED_COUNT - 1;
        scaled = digits * 10;
    }
    if (IONF_UNLIKELY(scaled <
                      ionf_num_powers_of_ten[PADDED_COUNT - 1])) { /* fewer than 16 digits */
        *count = digit_count(digits);
        scaled = digits * ionf_num_powers_of_ten[PADDED_COUNT - *count];
    }
    assert(*count <= PADDED_COUNT);
    const uint64_t above = scaled / block;
    const uint64_t first =
        scaled / ionf_num_powers_of_ten[PADDED_COUNT - 1]; /* does not wait for above */
    padded text = {.first = (uint8_t)('0' + first)};
    pad_tail(&text, (uint32_t)(above - first * block), (uint32_t)(scaled - above * block));
    return text;
}

static void
put_padded(uint8_t *w, const padded *text)
{
    w[0] = text->first;
    ionf_num_store_8(w + 1, text->middle);
    ionf_num_store_8(w + 9, text->last);
}

/* "d.ddde<exponent>" */
static uint8_t *
put_scientific(uint8_t *w, const padded *text, int exponent)
{
    put_padded(w + 1, text);
    w[0] = text->first;
    w[1] = '.';
    w += text->count == 1 ? 1 : text->count + 1;
    *w++ = 'e';
    if (exponent < 0) {
        *w++ = '-';
        exponent = -exponent;
    }
    return w + ionf_num_print_8(w, (uint32_t)exponent);
}

/* "ddd.ddd" with `point` digits, from 1 to 16, before the point. */
static void
put_pointed(uint8_t *w, const padded *text, int point)
{
    put_padded(w + 1, text);
    if (IONF_LIKELY(point <= 8)) {
        /* The digits before the point, and the point, move down by one. */
        const unsigned shift = 8u * (unsigned)(point - 1);
        const uint64_t before = (UINT64_C(1) << shift) - 1;
        w[0] = text->first;
        ionf_num_store_8(w + 1, (text->middle & before) | (uint64_t)'.' << shift |
                                    (text->middle & ~before) << 8);
    } else {
        memmove(w, w + 1, (size_t)point);
        w[point] = '.';
    }
}

/* Lay out digits * 10 ** exponent; `digits` is not 0 and has at most 17 digits. */
IONF_FORCE_INLINE uint8_t *
put_decimal(uint8_t *w, uint64_t digits, int exponent)
{
    int count;
    const padded text = pad(digits, &count);
    const int point = count + exponent; /* digits before the point, if positive */
    if (IONF_UNLIKELY(point < -3 || point > 16)) {
        return put_scientific(w, &text, point - 1);
    }
    if (point <= 0) {
        memcpy(w, "0.000", 5);
        w += 2 - point;
        put_padded(w, &text);
        w += text.count;
    } else if (text.count <= point) {
        put_padded(w, &text); /* zeros before the point are there */
        w += point;
    } else {
        put_pointed(w, &text, point);
        w += text.count + 1;
    }
    memcpy(w, "e0", 2);
    return w + 2;
}

/* The longest: sign, zeros, the digits, exponent with eight digits stored. */
_Static_assert(1 + 5 + PADDED_COUNT + 2 + 8 <= IONF_DOUBLE_TEXT_MAX, "all stores are in the room");

IONF_FORCE_INLINE uint8_t *
put_finite(uint8_t *w, uint64_t significand, int exponent, bool lower_is_closer)
{
    shortest number;
    if (is_small_integer(significand, exponent)) {
        number = (shortest){significand >> -exponent, 0};
    } else {
        number = shortest_of(significand, exponent, lower_is_closer);
    }
    return put_decimal(w, number.digits, number.exponent);
}

size_t
ionf_num_print_double(uint8_t *dst, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    const uint64_t fraction = bits & FRACTION_MASK;
    const int biased = (int)(bits >> FRACTION_BITS & 0x7FFu);
    const bool is_negative = (bits & SIGN_BIT) != 0;
    if (IONF_UNLIKELY(biased == 0x7FF)) {
        const char *const text = fraction != 0 ? "nan" : is_negative ? "-inf" : "+inf";
        return (size_t)(put_text(dst, text, fraction != 0 ? 3 : 4) - dst);
    }
    uint8_t *w = dst;
    *w = '-';
    w += is_negative;
    if (biased == 0 && fraction == 0) {
        w = put_text(w, "0e0", 3);
    } else if (biased == 0) {
        w = put_finite(w, fraction, 1 - EXPONENT_BIAS, false);
    } else {
        w = put_finite(w, fraction | HIDDEN_BIT, biased - EXPONENT_BIAS,
                       fraction == 0 && biased > 1);
    }
    return (size_t)(w - dst);
}
