/* The transform, modulo p = 2 ** 64 - 2 ** 32 + 1, whose multiplicative group has elements of order
 * 2 ** 32, and modulo which 2 ** 64 is 2 ** 32 - 1, so that no division is needed.
 *
 * A limb is cut into two halves of 16 bits, each an array of its own: a column of a product of halves
 * stays below 2 * count * 2 ** 32, which is less than p, so the columns come out exactly.
 *
 *   a = a0 + a1 * 2 ** 16        a * b = a0 b0 + (a0 b1 + a1 b0) 2 ** 16 + a1 b1 * 2 ** 32
 */
#include "ionf_ntt.h"

#define PRIME UINT64_C(0xFFFFFFFF00000001)
/* 2 ** 64 modulo the prime. */
#define EPSILON UINT64_C(0xFFFFFFFF)
/* Of order p - 1. */
#define GENERATOR 7

static inline uint64_t
add_mod(uint64_t a, uint64_t b)
{
    const uint64_t gap = PRIME - b;
    return a >= gap ? a - gap : a + b;
}

static inline uint64_t
sub_mod(uint64_t a, uint64_t b)
{
    return a >= b ? a - b : a + (PRIME - b);
}

/* hi * 2 ** 64 + lo: the upper half of hi counts 2 ** 96, which is -1, the lower half 2 ** 32 - 1. */
static inline uint64_t
mul_mod(uint64_t a, uint64_t b)
{
    const ionf_product128 product = ionf_multiply(a, b);
    const uint64_t top = product.hi >> 32;
    uint64_t value = product.lo - top;
    value -= product.lo < top ? EPSILON : 0;
    const uint64_t middle = (product.hi & EPSILON) * EPSILON;
    const uint64_t sum = value + middle;
    const uint64_t folded = sum + (sum < middle ? EPSILON : 0);
    return folded >= PRIME ? folded - PRIME : folded;
}

static uint64_t
power_mod(uint64_t base, uint64_t exponent)
{
    uint64_t result = 1;
    for (; exponent != 0; exponent >>= 1) {
        result = (exponent & 1) != 0 ? mul_mod(result, base) : result;
        base = mul_mod(base, base);
    }
    return result;
}

/* The roots of each level stand together: from index `half` on, the `half` powers of the root of order
 * 2 * half. */
void
ionf_ntt_roots(uint64_t *roots, size_t count)
{
    roots[0] = roots[1] = 1;
    for (size_t half = count; half > 1; half /= 2) {
        const uint64_t root = power_mod(GENERATOR, (PRIME - 1) / (2 * half));
        roots[half] = 1;
        for (size_t i = 1; i < half; i++) {
            roots[half + i] = mul_mod(roots[half + i - 1], root);
        }
    }
}

/* In place, `size` values; they come out in bit-reversed order. */
static void
forward(uint64_t *values, size_t size, const uint64_t *roots)
{
    for (size_t half = size / 2; half != 0; half /= 2) {
        for (uint64_t *low = values; low != values + size; low += 2 * half) {
            uint64_t *const high = low + half;
            for (size_t i = 0; i < half; i++) {
                const uint64_t a = low[i], b = high[i];
                low[i] = add_mod(a, b);
                high[i] = mul_mod(sub_mod(a, b), roots[half + i]);
            }
        }
    }
}

/* The inverse of forward, times `size`. With the roots as they are instead of their inverses it gives
 * value `i` the place of `-i`, which take_columns undoes. */
static void
backward(uint64_t *values, size_t size, const uint64_t *roots)
{
    for (size_t half = 1; half < size; half *= 2) {
        for (uint64_t *low = values; low != values + size; low += 2 * half) {
            uint64_t *const high = low + half;
            for (size_t i = 0; i < half; i++) {
                const uint64_t a = low[i], b = mul_mod(high[i], roots[half + i]);
                low[i] = add_mod(a, b);
                high[i] = sub_mod(a, b);
            }
        }
    }
}

void
ionf_ntt_transform(uint64_t *factor, const uint32_t *limbs, size_t count, const uint64_t *roots)
{
    const size_t size = 2 * count;
    uint64_t *const upper = factor + size;
    for (size_t i = 0; i < count; i++) {
        factor[i] = limbs[i] & 0xFFFFu;
        upper[i] = limbs[i] >> 16;
    }
    memset(factor + count, 0, count * sizeof *factor);
    memset(upper + count, 0, count * sizeof *upper);
    forward(factor, size, roots);
    forward(upper, size, roots);
}

/* Columns to limbs. Each of the three parts of a column is below 2 ** 64, and what runs over a limb is
 * at most what `carry` can hold: (2 ** 64 + 2 ** 48 + ...) / base. */
IONF_FORCE_INLINE void
take_columns(uint32_t *dst, const uint64_t *low, const uint64_t *middle, const uint64_t *high,
             size_t size, uint64_t base)
{
    const uint64_t scale = power_mod(size, PRIME - 2);
    uint64_t carry = 0;
    for (size_t i = 0; i < size; i++) {
        const size_t place = i == 0 ? 0 : size - i;
        const uint64_t c0 = mul_mod(low[place], scale);
        const uint64_t c1 = mul_mod(middle[place], scale);
        const uint64_t c2 = mul_mod(high[place], scale);
        const uint64_t part1 = c1 % base << 16;
        const uint64_t part2 = c2 % base << 16; /* shifted twice, for 2 ** 32 */
        const uint64_t part2_rest = part2 % base << 16;
        const uint64_t sum = carry % base + c0 % base + part1 % base + part2_rest % base;
        dst[i] = (uint32_t)(sum % base);
        carry = carry / base + c0 / base + part1 / base + part2_rest / base + sum / base +
                ((c1 / base) << 16) + ((part2 / base) << 16) + ((c2 / base) << 32);
    }
}

void
ionf_ntt_multiply(uint32_t *dst, const uint32_t *a, const uint64_t *factor, size_t count,
                  uint64_t base, const uint64_t *roots, uint64_t *scratch)
{
    const size_t size = 2 * count;
    uint64_t *const low = scratch;
    uint64_t *const high = scratch + size;
    const uint64_t *const factor_high = factor + size;
    ionf_ntt_transform(scratch, a, count, roots);
    uint64_t *const middle = scratch + 2 * size;
    for (size_t i = 0; i < size; i++) {
        const uint64_t a0 = low[i], a1 = high[i];
        middle[i] = add_mod(mul_mod(a0, factor_high[i]), mul_mod(a1, factor[i]));
        low[i] = mul_mod(a0, factor[i]);
        high[i] = mul_mod(a1, factor_high[i]);
    }
    backward(low, size, roots);
    backward(middle, size, roots);
    backward(high, size, roots);
    if (base == UINT64_C(1) << 32) {
        take_columns(dst, low, middle, high, size, UINT64_C(1) << 32);
    } else {
        take_columns(dst, low, middle, high, size, UINT64_C(1000000000));
    }
}
