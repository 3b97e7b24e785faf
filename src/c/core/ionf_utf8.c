/* UTF-8: checking, measuring and widening. RFC 3629; Ion specification, "Strings" (binary.md
 * 0x8).
 *
 * Checking is strict: no surrogates, nothing overlong, nothing above U+10FFFF. Widening trusts
 * text that has been checked.
 */
#include "ionf_utf8.h"

#define HIGH_BITS 0x8080808080808080u

static inline bool
is_tail(uint8_t byte)
{
    return (byte & 0xC0u) == 0x80u;
}

/* Length of the ASCII run at `p`. Sixteen bytes a step. */
static inline size_t
ascii_run(const uint8_t *p, size_t len)
{
    size_t i = 0;
    while (len - i >= 16) {
        if ((ionf_load64_native(p + i) | ionf_load64_native(p + i + 8)) & HIGH_BITS) {
            break;
        }
        i += 16;
    }
    if (len - i >= 8 && (ionf_load64_native(p + i) & HIGH_BITS) == 0) {
        i += 8;
    }
    while (i < len && p[i] < 0x80u) {
        i++;
    }
    return i;
}

/* Three bytes: E0 must not be overlong, ED must not be a surrogate. */
static inline bool
is_triple(const uint8_t *p)
{
    const unsigned head = (unsigned)p[0] << 8 | p[1];
    return is_tail(p[1]) && is_tail(p[2]) && head >= 0xE0A0u &&
           (head < 0xEDA0u || head >= 0xEE80u);
}

/* Four bytes: U+10000 .. U+10FFFF. */
static inline bool
is_quad(const uint8_t *p)
{
    const unsigned head = (unsigned)p[0] << 8 | p[1];
    return is_tail(p[1]) && is_tail(p[2]) && is_tail(p[3]) && head >= 0xF090u && head < 0xF490u;
}

/* Length of the sequence at `p`, which is not ASCII; 0 when it is not UTF-8. */
static inline size_t
sequence_len(const uint8_t *p, size_t remaining)
{
    const uint8_t lead = p[0];
    if (lead < 0xE0u) {
        return lead >= 0xC2u && remaining >= 2 && is_tail(p[1]) ? 2 : 0;
    }
    if (lead < 0xF0u) {
        return remaining >= 3 && is_triple(p) ? 3 : 0;
    }
    return remaining >= 4 && is_quad(p) ? 4 : 0;
}

/* The greatest lead byte bounds the greatest code point. */
static inline uint32_t
class_of_lead(uint8_t lead)
{
    if (lead < 0x80u) {
        return 0x7Fu;
    }
    if (lead < 0xC4u) {
        return 0xFFu;
    }
    return lead < 0xF0u ? 0xFFFFu : 0x10FFFFu;
}

size_t
ionf_utf8_check(const uint8_t *p, size_t len, ionf_utf8_info *info)
{
    size_t i = 0;
    size_t tails = 0;
    uint8_t max_lead = 0;
    while (i < len) {
        if (p[i] < 0x80u) {
            i += ascii_run(p + i, len - i);
            continue;
        }
        const size_t step = sequence_len(p + i, len - i);
        if (IONF_UNLIKELY(step == 0)) {
            break;
        }
        max_lead = p[i] > max_lead ? p[i] : max_lead;
        tails += step - 1;
        i += step;
    }
    if (info != NULL) {
        info->count = i - tails;
        info->max_class = class_of_lead(max_lead);
    }
    return i;
}

size_t
ionf_utf8_put(uint8_t *dst, uint32_t code_point)
{
    if (code_point < 0x80u) {
        dst[0] = (uint8_t)code_point;
        return 1;
    }
    const uint8_t last = (uint8_t)(0x80u | (code_point & 0x3Fu));
    if (code_point < 0x800u) {
        dst[0] = (uint8_t)(0xC0u | code_point >> 6);
        dst[1] = last;
        return 2;
    }
    const uint8_t second_last = (uint8_t)(0x80u | (code_point >> 6 & 0x3Fu));
    if (code_point < 0x10000u) {
        dst[0] = (uint8_t)(0xE0u | code_point >> 12);
        dst[1] = second_last;
        dst[2] = last;
        return 3;
    }
    dst[0] = (uint8_t)(0xF0u | code_point >> 18);
    dst[1] = (uint8_t)(0x80u | (code_point >> 12 & 0x3Fu));
    dst[2] = second_last;
    dst[3] = last;
    return 4;
}

/* The code point of the sequence at `p`, which is valid and not ASCII; `*step` is its length. */
static inline uint32_t
decode_sequence(const uint8_t *p, size_t *step)
{
    const uint32_t lead = p[0];
    const uint32_t second = p[1] & 0x3Fu;
    if (lead < 0xE0u) {
        *step = 2;
        return (lead & 0x1Fu) << 6 | second;
    }
    const uint32_t third = p[2] & 0x3Fu;
    if (lead < 0xF0u) {
        *step = 3;
        return (lead & 0x0Fu) << 12 | second << 6 | third;
    }
    *step = 4;
    return (lead & 0x07u) << 18 | second << 12 | third << 6 | (p[3] & 0x3Fu);
}

uint32_t
ionf_utf8_take(const uint8_t **p)
{
    const uint8_t first = **p;
    if (first < 0x80u) {
        *p += 1;
        return first;
    }
    size_t step;
    const uint32_t code_point = decode_sequence(*p, &step);
    *p += step;
    return code_point;
}

/* The three below are one loop over three unit sizes: eight ASCII bytes at a time, else a
 * sequence. */

void
ionf_utf8_to_ucs1(const uint8_t *p, size_t len, uint8_t *dst)
{
    size_t i = 0;
    while (i < len) {
        if (len - i >= 8 && (ionf_load64_native(p + i) & HIGH_BITS) == 0) {
            memcpy(dst, p + i, 8);
            dst += 8;
            i += 8;
        } else if (p[i] < 0x80u) {
            *dst++ = p[i++];
        } else {
            *dst++ = (uint8_t)(p[i] << 6 | (p[i + 1] & 0x3Fu));
            i += 2;
        }
    }
}

void
ionf_utf8_to_ucs2(const uint8_t *p, size_t len, uint16_t *dst)
{
    size_t i = 0;
    while (i < len) {
        if (len - i >= 8 && (ionf_load64_native(p + i) & HIGH_BITS) == 0) {
            for (size_t unit = 0; unit < 8; unit++) {
                dst[unit] = p[i + unit];
            }
            dst += 8;
            i += 8;
        } else if (p[i] < 0x80u) {
            *dst++ = p[i++];
        } else {
            size_t step;
            *dst++ = (uint16_t)decode_sequence(p + i, &step);
            i += step;
        }
    }
}

void
ionf_utf8_to_ucs4(const uint8_t *p, size_t len, uint32_t *dst)
{
    size_t i = 0;
    while (i < len) {
        if (len - i >= 8 && (ionf_load64_native(p + i) & HIGH_BITS) == 0) {
            for (size_t unit = 0; unit < 8; unit++) {
                dst[unit] = p[i + unit];
            }
            dst += 8;
            i += 8;
        } else if (p[i] < 0x80u) {
            *dst++ = p[i++];
        } else {
            size_t step;
            *dst++ = decode_sequence(p + i, &step);
            i += step;
        }
    }
}
