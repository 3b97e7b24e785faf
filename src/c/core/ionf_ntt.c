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

/* Values between two questions to the host, as a power of two: 256 KB, so that the levels within a
 * piece find it in the second cache. */
#define PIECE ((size_t)1 << 15)

static inline size_t
min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The `half` powers of the root of order 2 * half, in pieces. */
static ionf_status
level_roots(uint64_t *roots, size_t half, const ionf_alloc *host)
{
    const uint64_t root = power_mod(GENERATOR, (PRIME - 1) / (2 * half));
    roots[0] = 1;
    for (size_t start = 1; start < half; start += PIECE) {
        const size_t stop = min_size(half, start + PIECE);
        for (size_t i = start; i < stop; i++) {
            roots[i] = mul_mod(roots[i - 1], root);
        }
        if (stop - start == PIECE && ionf_alloc_ask(host) != IONF_OK) {
            return IONF_ERR_INTERRUPTED;
        }
    }
    return IONF_OK;
}

/* The roots of each level stand together: from index `half` on, those of order 2 * half. */
ionf_status
ionf_ntt_roots(uint64_t *roots, size_t count, const ionf_alloc *host)
{
    ionf_status status = IONF_OK;
    roots[0] = roots[1] = 1;
    for (size_t half = count; status == IONF_OK && half > 1; half /= 2) {
        status = level_roots(roots + half, half, host);
    }
    return status;
}

static inline void
forward_run(uint64_t *low, uint64_t *high, const uint64_t *roots, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const uint64_t a = low[i], b = high[i];
        low[i] = add_mod(a, b);
        high[i] = mul_mod(sub_mod(a, b), roots[i]);
    }
}

static inline void
backward_run(uint64_t *low, uint64_t *high, const uint64_t *roots, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const uint64_t a = low[i], b = mul_mod(high[i], roots[i]);
        low[i] = add_mod(a, b);
        high[i] = sub_mod(a, b);
    }
}

/* One level whose halves are longer than a piece. */
IONF_FORCE_INLINE ionf_status
wide_level(uint64_t *values, size_t size, size_t half, const uint64_t *roots, bool is_forward,
           const ionf_alloc *host)
{
    for (uint64_t *low = values; low != values + size; low += 2 * half) {
        for (size_t start = 0; start < half; start += PIECE / 2) {
            uint64_t *const high = low + half + start;
            if (is_forward) {
                forward_run(low + start, high, roots + half + start, PIECE / 2);
            } else {
                backward_run(low + start, high, roots + half + start, PIECE / 2);
            }
            if (ionf_alloc_ask(host) != IONF_OK) {
                return IONF_ERR_INTERRUPTED;
            }
        }
    }
    return IONF_OK;
}

/* In place, `size` values; they come out in bit-reversed order. Once the halves fit a piece, pieces have
 * no more to do with each other, and each goes through all levels that are left. */
static ionf_status
forward(uint64_t *values, size_t size, const uint64_t *roots, const ionf_alloc *host)
{
    size_t half = size / 2;
    for (; half >= PIECE; half /= 2) {
        if (wide_level(values, size, half, roots, true, host) != IONF_OK) {
            return IONF_ERR_INTERRUPTED;
        }
    }
    const size_t piece = 2 * half;
    for (uint64_t *at = values; at != values + size; at += piece) {
        for (size_t h = half; h != 0; h /= 2) {
            for (uint64_t *low = at; low != at + piece; low += 2 * h) {
                forward_run(low, low + h, roots + h, h);
            }
        }
        if (size > PIECE && ionf_alloc_ask(host) != IONF_OK) {
            return IONF_ERR_INTERRUPTED;
        }
    }
    return IONF_OK;
}

/* The inverse of forward, times `size`. With the roots as they are instead of their inverses it gives
 * value `i` the place of `-i`, which take_columns undoes. */
static ionf_status
backward(uint64_t *values, size_t size, const uint64_t *roots, const ionf_alloc *host)
{
    const size_t piece = min_size(size, PIECE);
    for (uint64_t *at = values; at != values + size; at += piece) {
        for (size_t h = 1; h < piece; h *= 2) {
            for (uint64_t *low = at; low != at + piece; low += 2 * h) {
                backward_run(low, low + h, roots + h, h);
            }
        }
        if (size > PIECE && ionf_alloc_ask(host) != IONF_OK) {
            return IONF_ERR_INTERRUPTED;
        }
    }
    for (size_t half = piece; half < size; half *= 2) {
        if (wide_level(values, size, half, roots, false, host) != IONF_OK) {
            return IONF_ERR_INTERRUPTED;
        }
    }
    return IONF_OK;
}

ionf_status
ionf_ntt_transform(uint64_t *factor, const uint32_t *limbs, size_t count, const uint64_t *roots,
                   const ionf_alloc *host)
{
    const size_t size = 2 * count;
    uint64_t *const upper = factor + size;
    for (size_t i = 0; i < count; i++) {
        factor[i] = limbs[i] & 0xFFFFu;
        upper[i] = limbs[i] >> 16;
    }
    memset(factor + count, 0, count * sizeof *factor);
    memset(upper + count, 0, count * sizeof *upper);
    const ionf_status status = forward(factor, size, roots, host);
    return status == IONF_OK ? forward(upper, size, roots, host) : status;
}

/* Columns to limbs. Each of the three parts of a column is below 2 ** 64, and what runs over a limb is
 * at most what `carry` can hold: (2 ** 64 + 2 ** 48 + ...) / base. */
IONF_FORCE_INLINE ionf_status
take_columns(uint32_t *dst, const uint64_t *low, const uint64_t *middle, const uint64_t *high,
             size_t size, uint64_t base, const ionf_alloc *host)
{
    const uint64_t scale = power_mod(size, PRIME - 2);
    uint64_t carry = 0;
    for (size_t start = 0; start < size; start += PIECE) {
        const size_t stop = min_size(size, start + PIECE);
        for (size_t i = start; i < stop; i++) {
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
        if (stop - start == PIECE && ionf_alloc_ask(host) != IONF_OK) {
            return IONF_ERR_INTERRUPTED;
        }
    }
    return IONF_OK;
}

/* The products of the halves, in the transform: `low` and `high` are those of one factor before, and of
 * the product after, with `middle`. */
static ionf_status
multiply_values(uint64_t *low, uint64_t *middle, uint64_t *high, const uint64_t *factor,
                size_t size, const ionf_alloc *host)
{
    const uint64_t *const factor_high = factor + size;
    for (size_t start = 0; start < size; start += PIECE) {
        const size_t stop = min_size(size, start + PIECE);
        for (size_t i = start; i < stop; i++) {
            const uint64_t a0 = low[i], a1 = high[i];
            middle[i] = add_mod(mul_mod(a0, factor_high[i]), mul_mod(a1, factor[i]));
            low[i] = mul_mod(a0, factor[i]);
            high[i] = mul_mod(a1, factor_high[i]);
        }
        if (stop - start == PIECE && ionf_alloc_ask(host) != IONF_OK) {
            return IONF_ERR_INTERRUPTED;
        }
    }
    return IONF_OK;
}

ionf_status
ionf_ntt_multiply(uint32_t *dst, const uint32_t *a, const uint64_t *factor, size_t count,
                  uint64_t base, const uint64_t *roots, uint64_t *scratch, const ionf_alloc *host)
{
    const size_t size = 2 * count;
    uint64_t *const low = scratch;
    uint64_t *const high = scratch + size;
    uint64_t *const middle = scratch + 2 * size;
    ionf_status status = ionf_ntt_transform(scratch, a, count, roots, host);
    if (status == IONF_OK) {
        status = multiply_values(low, middle, high, factor, size, host);
    }
    uint64_t *const parts[] = {low, middle, high};
    for (size_t i = 0; status == IONF_OK && i < 3; i++) {
        status = backward(parts[i], size, roots, host);
    }
    if (status != IONF_OK) {
        return status;
    }
    return base == UINT64_C(1) << 32
               ? take_columns(dst, low, middle, high, size, UINT64_C(1) << 32, host)
               : take_columns(dst, low, middle, high, size, UINT64_C(1000000000), host);
}
