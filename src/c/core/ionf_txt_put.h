/* Text stored at a pointer, for loops that keep their place in the output in a register and have made
 * room before. Specification: spec.md, "Strings" and "Integers"; text.md. */
#ifndef IONF_TXT_PUT_H
#define IONF_TXT_PUT_H

#include "ionf_num.h"

/* Copying may store so many bytes past the end of the text. */
#define IONF_TXT_PUT_SLACK 16

#define IONF_TXT_ONES 0x0101010101010101u
#define IONF_TXT_HIGHS 0x8080808080808080u

/* Not 0 when one of the 8 bytes is `byte`. (A borrow can only set bits above a true hit, so that
 * the answer for the whole word is exact.) */
static inline uint64_t
ionf_txt_word_has(uint64_t word, uint8_t byte)
{
    const uint64_t diff = word ^ (IONF_TXT_ONES * byte);
    return (diff - IONF_TXT_ONES) & ~diff & IONF_TXT_HIGHS;
}

/* Not 0 when one of the 8 bytes must be escaped between `quote`s: what is none of the above, or, in a
 * clob, not ASCII. */
static inline uint64_t
ionf_txt_word_is_special(uint64_t word, uint8_t quote, bool is_clob)
{
    const uint64_t is_control = (word - IONF_TXT_ONES * 0x20) & ~word & IONF_TXT_HIGHS;
    return is_control | ionf_txt_word_has(word, quote) | ionf_txt_word_has(word, '\\') |
           ionf_txt_word_has(word, 0x7F) | (is_clob ? word & IONF_TXT_HIGHS : 0);
}

static inline bool
ionf_txt_byte_is_special(uint8_t byte, uint8_t quote, bool is_clob)
{
    return byte < 0x20 || byte == quote || byte == '\\' || byte == 0x7F ||
           (is_clob && byte >= 0x80);
}

/* Copy bytes up to the first that must be escaped; gives how many. May store up to
 * IONF_TXT_PUT_SLACK bytes more than that, but none past dst + len + IONF_TXT_PUT_SLACK. */
static inline size_t
ionf_txt_copy_plain(uint8_t *dst, const uint8_t *src, size_t len, uint8_t quote, bool is_clob)
{
    size_t i = 0;
#if IONF_HAS_SSE2
    /* 16 at a time: see docs/performance-dumps.md. */
    const __m128i quotes = _mm_set1_epi8((char)quote);
    const __m128i backslashes = _mm_set1_epi8('\\');
    const __m128i deletes = _mm_set1_epi8(0x7F);
    const __m128i last_control = _mm_set1_epi8(0x1F);
    for (; len - i >= 16; i += 16) {
        const __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(src + i));
        _mm_storeu_si128((__m128i *)(void *)(dst + i), bytes);
        __m128i special = _mm_cmpeq_epi8(_mm_min_epu8(bytes, last_control), bytes);
        special = _mm_or_si128(special, _mm_cmpeq_epi8(bytes, quotes));
        special = _mm_or_si128(special, _mm_cmpeq_epi8(bytes, backslashes));
        special = _mm_or_si128(special, _mm_cmpeq_epi8(bytes, deletes));
        const unsigned mask = (unsigned)_mm_movemask_epi8(special) |
                              (is_clob ? (unsigned)_mm_movemask_epi8(bytes) : 0);
        if (mask != 0) {
            return i + (size_t)ionf_ctz64(mask);
        }
    }
#endif
    for (; len - i >= 8; i += 8) {
        const uint64_t word = ionf_load64_native(src + i);
        memcpy(dst + i, &word, sizeof word);
        if (ionf_txt_word_is_special(word, quote, is_clob)) {
            break;
        }
    }
    if (len - i >= 4) {
        uint32_t half;
        memcpy(&half, src + i, sizeof half);
        memcpy(dst + i, &half, sizeof half);
        /* Spaces fill up the word. */
        if (!ionf_txt_word_is_special(half | UINT64_C(0x2020202000000000), quote, is_clob)) {
            i += 4;
        }
    }
    while (i < len && !ionf_txt_byte_is_special(src[i], quote, is_clob)) {
        dst[i] = src[i];
        i++;
    }
    return i;
}

/* An int; `dst` has room for 1 + IONF_U64_TEXT_MAX bytes. */
static inline uint8_t *
ionf_txt_put_i64(uint8_t *dst, int64_t value)
{
    const uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    *dst = '-';
    dst += value < 0;
    if (magnitude < 10) {
        *dst = (uint8_t)('0' + magnitude);
        return dst + 1;
    }
    return dst + ionf_num_print_u64(dst, magnitude);
}

#endif
