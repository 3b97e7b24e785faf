/* Blocks of bytes as wider code units. Knows nothing of UTF-8 but that ASCII has the high bit clear. */
#ifndef IONF_WIDEN_H
#define IONF_WIDEN_H

#include "ionf_base.h"

/* Bytes that are read, and units that are stored, whatever they are. */
#define IONF_WIDEN_BLOCK 16

/* Each stores a whole block and gives how many units of it, from the first, are ASCII. */
#if IONF_HAS_SSE2

static inline size_t
ionf_widen_plain(__m128i bytes)
{
    return (size_t)ionf_ctz64((unsigned)_mm_movemask_epi8(bytes) | 1u << IONF_WIDEN_BLOCK);
}

static inline __m128i
ionf_widen_load(const uint8_t *src)
{
    return _mm_loadu_si128((const __m128i *)(const void *)src);
}

static inline size_t
ionf_widen_block_uint8_t(const uint8_t *src, uint8_t *dst)
{
    const __m128i bytes = ionf_widen_load(src);
    _mm_storeu_si128((__m128i *)(void *)dst, bytes);
    return ionf_widen_plain(bytes);
}

static inline size_t
ionf_widen_block_uint16_t(const uint8_t *src, uint16_t *dst)
{
    const __m128i bytes = ionf_widen_load(src);
    const __m128i zero = _mm_setzero_si128();
    __m128i *const out = (__m128i *)(void *)dst;
    _mm_storeu_si128(out, _mm_unpacklo_epi8(bytes, zero));
    _mm_storeu_si128(out + 1, _mm_unpackhi_epi8(bytes, zero));
    return ionf_widen_plain(bytes);
}

static inline size_t
ionf_widen_block_uint32_t(const uint8_t *src, uint32_t *dst)
{
    const __m128i bytes = ionf_widen_load(src);
    const __m128i zero = _mm_setzero_si128();
    const __m128i low = _mm_unpacklo_epi8(bytes, zero);
    const __m128i high = _mm_unpackhi_epi8(bytes, zero);
    __m128i *const out = (__m128i *)(void *)dst;
    _mm_storeu_si128(out, _mm_unpacklo_epi16(low, zero));
    _mm_storeu_si128(out + 1, _mm_unpackhi_epi16(low, zero));
    _mm_storeu_si128(out + 2, _mm_unpacklo_epi16(high, zero));
    _mm_storeu_si128(out + 3, _mm_unpackhi_epi16(high, zero));
    return ionf_widen_plain(bytes);
}

#else

#define IONF_WIDEN_PLAIN(unit)                                                                    \
    static inline size_t ionf_widen_block_##unit(const uint8_t *src, unit *dst)                   \
    {                                                                                             \
        size_t plain = 0;                                                                         \
        while (plain < IONF_WIDEN_BLOCK && src[plain] < 0x80) {                                   \
            dst[plain] = src[plain];                                                              \
            plain++;                                                                              \
        }                                                                                         \
        return plain;                                                                             \
    }

IONF_WIDEN_PLAIN(uint8_t)
IONF_WIDEN_PLAIN(uint16_t)
IONF_WIDEN_PLAIN(uint32_t)

#endif

#endif
