/* Ground floor of the core: fixed-width types, compiler hints, unaligned loads, checked sizes.
 *
 * Knows nothing of Ion or of Python. The only core file that may test for a compiler or a machine.
 */
#ifndef IONF_BASE_H
#define IONF_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__GNUC__) || defined(__clang__)
#define IONF_LIKELY(x) __builtin_expect(!!(x), 1)
#define IONF_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define IONF_NOINLINE __attribute__((noinline, cold))
#define IONF_OUTLINE __attribute__((noinline)) /* for what is rarer than the rest, but not rare */
#define IONF_FORCE_INLINE static inline __attribute__((always_inline))
#define IONF_MUST_CHECK __attribute__((warn_unused_result))
#else
#define IONF_LIKELY(x) (x)
#define IONF_UNLIKELY(x) (x)
#define IONF_NOINLINE
#define IONF_OUTLINE
#define IONF_FORCE_INLINE static inline
#define IONF_MUST_CHECK
#endif

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define IONF_BIG_ENDIAN 1
#else
#define IONF_BIG_ENDIAN 0
#endif

/* Vectors of 16 bytes, where every machine of the architecture has them. */
#ifdef __SSE2__
#include <emmintrin.h>
#define IONF_HAS_SSE2 1

/* A constant that the compiler does not know: gcc makes shifts and additions, more and slower ones, out
 * of a vector multiplication by one that it knows. */
static inline __m128i
ionf_opaque(__m128i vector)
{
    __asm__("" : "+x"(vector));
    return vector;
}
#else
#define IONF_HAS_SSE2 0
#endif

/* A run of bytes that somebody else owns. `data` may be NULL only when `len` is 0. */
typedef struct ionf_slice {
    const uint8_t *data;
    size_t len;
} ionf_slice;

static inline uint64_t
ionf_swap64(uint64_t value)
{
#if defined(__GNUC__) || defined(__clang__)
    return __builtin_bswap64(value);
#else
    value = ((value & 0x00FF00FF00FF00FFu) << 8) | ((value >> 8) & 0x00FF00FF00FF00FFu);
    value = ((value & 0x0000FFFF0000FFFFu) << 16) | ((value >> 16) & 0x0000FFFF0000FFFFu);
    return (value << 32) | (value >> 32);
#endif
}

/* Unaligned loads: `p` must have that many readable bytes. */
static inline uint64_t
ionf_load64_native(const uint8_t *p)
{
    uint64_t value;
    memcpy(&value, p, sizeof value);
    return value;
}

static inline uint64_t
ionf_load64_be(const uint8_t *p)
{
    const uint64_t value = ionf_load64_native(p);
    return IONF_BIG_ENDIAN ? value : ionf_swap64(value);
}

static inline void
ionf_store64_be(uint8_t *p, uint64_t value)
{
    const uint64_t ordered = IONF_BIG_ENDIAN ? value : ionf_swap64(value);
    memcpy(p, &ordered, sizeof ordered);
}

/* Number of leading zero bits; `value` must not be 0. */
static inline int
ionf_clz64(uint64_t value)
{
#if defined(__GNUC__) || defined(__clang__)
    return __builtin_clzll(value);
#else
    int count = 0;
    while (!(value >> 63)) {
        value <<= 1;
        count++;
    }
    return count;
#endif
}

/* Number of trailing zero bits; `value` must not be 0. */
static inline int
ionf_ctz64(uint64_t value)
{
#if defined(__GNUC__) || defined(__clang__)
    return __builtin_ctzll(value);
#else
    int count = 0;
    while (!(value & 1)) {
        value >>= 1;
        count++;
    }
    return count;
#endif
}

/* All 128 bits of a product. */
typedef struct ionf_product128 {
    uint64_t hi, lo;
} ionf_product128;

static inline ionf_product128
ionf_multiply(uint64_t a, uint64_t b)
{
#ifdef __SIZEOF_INT128__
    __extension__ typedef unsigned __int128 uint128;
    const uint128 product = (uint128)a * b;
    return (ionf_product128){(uint64_t)(product >> 64), (uint64_t)product};
#else
    const uint64_t a_lo = (uint32_t)a;
    const uint64_t a_hi = a >> 32;
    const uint64_t b_lo = (uint32_t)b;
    const uint64_t b_hi = b >> 32;
    const uint64_t low = a_lo * b_lo;
    const uint64_t middle = a_hi * b_lo + (low >> 32);
    const uint64_t middle2 = a_lo * b_hi + (uint32_t)middle;
    return (ionf_product128){a_hi * b_hi + (middle >> 32) + (middle2 >> 32),
                             middle2 << 32 | (uint32_t)low};
#endif
}

/* Size arithmetic that cannot wrap: false, and `*out` untouched, when the result does not fit. */
static inline bool
ionf_size_add(size_t a, size_t b, size_t *out)
{
    if (a > SIZE_MAX - b) {
        return false;
    }
    *out = a + b;
    return true;
}

static inline bool
ionf_size_mul(size_t a, size_t b, size_t *out)
{
    if (b != 0 && a > SIZE_MAX / b) {
        return false;
    }
    *out = a * b;
    return true;
}

#endif
