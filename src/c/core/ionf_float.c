/* Doubles: correctly rounded from digits, shortest digits back. Specification: float.md.
 *
 * Reading goes through three stages, each exact or aware that it is not: one division or
 * multiplication of doubles that are exact; a 192-bit product with a 128-bit power of ten, whose
 * error is bounded, so that it knows when it cannot decide (Eisel and Lemire's method); big
 * integers. Printing is Raffaello Giulietti's Schubfach over the same powers.
 */
#include "ionf_num.h"

#include <float.h>

#include "ionf_bignum.h"
#include "ionf_pow10.h"

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
static shortest
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

static uint8_t *
put_zeros(uint8_t *w, int count)
{
    memset(w, '0', (size_t)count);
    return w + count;
}

/* "d.ddde<exponent>"; the digits are at `w` + 1 already. */
static uint8_t *
put_scientific(uint8_t *w, size_t count, int exponent)
{
    w[0] = w[1];
    w[1] = '.';
    w += count == 1 ? 1 : count + 1;
    *w++ = 'e';
    if (exponent < 0) {
        *w++ = '-';
        exponent = -exponent;
    }
    return w + ionf_num_print_u64(w, (uint64_t)exponent);
}

/* Lay out digits * 10 ** exponent; `digits` is not 0 and does not end in 0. */
static uint8_t *
put_decimal(uint8_t *w, uint64_t digits, int exponent)
{
    uint8_t text[IONF_U64_TEXT_MAX];
    const size_t count = ionf_num_print_u64(text, digits);
    const int point = (int)count + exponent; /* digits before the point, if positive */
    if (point < -3 || point > 16) {
        memcpy(w + 1, text, count);
        return put_scientific(w, count, point - 1);
    }
    if (point <= 0) {
        w = put_zeros(w, 1);
        *w++ = '.';
        w = put_zeros(w, -point);
        memcpy(w, text, count);
        w += count;
    } else if (exponent >= 0) {
        memcpy(w, text, count);
        w = put_zeros(w + count, exponent);
    } else {
        memcpy(w, text, (size_t)point);
        w += point;
        *w++ = '.';
        memcpy(w, text + point, (size_t)-exponent);
        w += -exponent;
    }
    return put_text(w, "e0", 2);
}

static uint8_t *
put_finite(uint8_t *w, uint64_t significand, int exponent, bool lower_is_closer)
{
    shortest number;
    if (is_small_integer(significand, exponent)) {
        number = (shortest){significand >> -exponent, 0};
    } else {
        number = shortest_of(significand, exponent, lower_is_closer);
    }
    while (number.digits % 10 == 0) {
        number.digits /= 10;
        number.exponent++;
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
    if (is_negative) {
        *w++ = '-';
    }
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
