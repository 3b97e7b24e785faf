/* UTF-8: checking, measuring and widening. RFC 3629; Ion specification, "Strings" (binary.md
 * 0x8).
 *
 * Checking is strict: no surrogates, nothing overlong, nothing above U+10FFFF. Widening trusts
 * text that has been checked.
 */
#include "ionf_utf8.h"

#include "ionf_widen.h"

#define HIGH_BITS 0x8080808080808080u

/* Four bytes, the first the lowest. */
static inline uint32_t
load32_le(const uint8_t *p)
{
    uint32_t value;
    memcpy(&value, p, sizeof value);
    return IONF_BIG_ENDIAN ? (uint32_t)(ionf_swap64(value) >> 32) : value;
}

/* Do four loaded bytes begin with three that are a valid sequence? All tests at once, since most text
 * that is not ASCII is in runs of these: lead E0..EF and two tails; then the bits that tell E0 80..9F
 * (overlong) and ED A0..BF (surrogates). */
static inline bool
is_triple_word(uint32_t word)
{
    const uint32_t telling = word & 0x200Fu;
    return (word & 0xC0C0F0u) == 0x8080E0u && telling != 0 && telling != 0x200Du;
}

/* Two sequences of two bytes; C0 and C1 would be overlong. */
static inline bool
is_two_pairs_word(uint32_t word)
{
    return (word & 0xC0E0C0E0u) == 0x80C080C0u && (word & 0x1Eu) != 0 && (word & 0x1E0000u) != 0;
}

/* The same for four: F0 80..8F is overlong, F4 90 and above is beyond Unicode. */
static inline bool
is_quad_word(uint32_t word)
{
    const uint32_t telling = (word & 0x07u) << 2 | (word >> 12 & 0x03u);
    return (word & 0xC0C0C0F8u) == 0x808080F0u && telling - 1 < 16;
}

static inline uint32_t
decode_quad(uint32_t word)
{
    return (word & 0x07u) << 18 | (word << 4 & 0x3F000u) | (word >> 10 & 0xFC0u) |
           (word >> 24 & 0x3Fu);
}

static inline uint32_t
decode_triple(uint32_t word)
{
    return (word & 0x0Fu) << 12 | (word >> 2 & 0xFC0u) | (word >> 16 & 0x3Fu);
}

#if IONF_HAS_SSE2

#define FOUR_TRIPLES 13 /* bytes that are looked at: one more than they have */

/* What begins every third byte, as lanes of 32 bits. */
static inline __m128i
load_triples(const uint8_t *p)
{
    return _mm_set_epi32((int)load32_le(p + 9), (int)load32_le(p + 6), (int)load32_le(p + 3),
                         (int)load32_le(p));
}

/* is_triple_word of all four. */
static inline bool
are_triples(__m128i words)
{
    const __m128i marks = _mm_and_si128(words, _mm_set1_epi32(0xC0C0F0));
    const __m128i telling = _mm_and_si128(words, _mm_set1_epi32(0x200F));
    const __m128i is_bad = _mm_or_si128(_mm_cmpeq_epi32(telling, _mm_setzero_si128()),
                                        _mm_cmpeq_epi32(telling, _mm_set1_epi32(0x200D)));
    const __m128i is_good =
        _mm_andnot_si128(is_bad, _mm_cmpeq_epi32(marks, _mm_set1_epi32(0x8080E0)));
    return _mm_movemask_epi8(is_good) == 0xFFFF;
}

/* decode_triple of all four, stored as units, none of them below 0x800. */
static inline void
store_triples(__m128i words, uint16_t *dst)
{
    const __m128i first = _mm_slli_epi32(words, 28); /* to the top, for a pack that keeps signs */
    const __m128i second = _mm_and_si128(_mm_slli_epi32(words, 14), _mm_set1_epi32(0xFC00000));
    const __m128i third = _mm_and_si128(words, _mm_set1_epi32(0x3F0000));
    const __m128i units = _mm_or_si128(_mm_or_si128(first, second), third);
    const __m128i low = _mm_srai_epi32(units, 16);
    _mm_storel_epi64((__m128i *)(void *)dst, _mm_packs_epi32(low, low));
}

#endif

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

/* A stretch of valid sequences. */
typedef struct runs {
    size_t len, tails;
    uint8_t max_lead;
} runs;

/* Text in one script is a run of sequences of one length: each has a loop of its own, in which the
 * branches are foreseen. What it stops at is for others to judge. */
static inline runs
check_runs(const uint8_t *p, size_t len)
{
    runs r = {0, 0, 0};
    while (len - r.len >= 4 && is_triple_word(load32_le(p + r.len))) {
        r.max_lead = p[r.len] > r.max_lead ? p[r.len] : r.max_lead;
        r.tails += 2;
        r.len += 3;
#if IONF_HAS_SSE2
        while (len - r.len >= FOUR_TRIPLES && are_triples(load_triples(p + r.len))) {
            r.max_lead = 0xEF; /* its class is all that counts */
            r.tails += 8;
            r.len += 12;
        }
#endif
    }
    while (len - r.len >= 4 && is_two_pairs_word(load32_le(p + r.len))) {
        const uint8_t lead = p[r.len] > p[r.len + 2] ? p[r.len] : p[r.len + 2];
        r.max_lead = lead > r.max_lead ? lead : r.max_lead;
        r.tails += 2;
        r.len += 4;
    }
    while (len - r.len >= 4 && is_quad_word(load32_le(p + r.len))) {
        r.max_lead = p[r.len] > r.max_lead ? p[r.len] : r.max_lead;
        r.tails += 3;
        r.len += 4;
    }
    return r;
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
        const runs here = check_runs(p + i, len - i);
        max_lead = here.max_lead > max_lead ? here.max_lead : max_lead;
        tails += here.tails;
        i += here.len;
        if (i == len || p[i] < 0x80u) {
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

ionf_status
ionf_utf8_check_steps(const ionf_alloc *host, const uint8_t *p, size_t len, ionf_utf8_info *info,
                      size_t *valid)
{
    ionf_utf8_info all = {0, 0x7Fu};
    ionf_status status = IONF_OK;
    size_t i = 0;
    for (;;) {
        const size_t step = len - i > IONF_STEP_BYTES ? IONF_STEP_BYTES : len - i;
        ionf_utf8_info part;
        const size_t good = ionf_utf8_check(p + i, step, &part);
        all.count += part.count;
        all.max_class = part.max_class > all.max_class ? part.max_class : all.max_class;
        i += good;
        /* Up to three bytes at a step's end may be the beginning of a sequence: the next step tells. */
        if (i == len || good + 4 <= step || good == 0) {
            break;
        }
        status = ionf_alloc_ask(host);
        if (status != IONF_OK) {
            break;
        }
    }
    *valid = i;
    if (info != NULL) {
        *info = all;
    }
    return status;
}

#if IONF_HAS_SSE2
/* Tails and the greatest byte of whole sixteens; gives how many bytes that was. */
static inline size_t
measure_blocks(const uint8_t *p, size_t len, size_t *tails, uint8_t *max_byte)
{
    const __m128i last_tail = _mm_set1_epi8((char)0xC0);
    __m128i max = _mm_setzero_si128();
    __m128i sums = _mm_setzero_si128();
    size_t i = 0;
    for (; len - i >= 16; i += 16) {
        const __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(p + i));
        const __m128i is_tail_byte = _mm_cmplt_epi8(bytes, last_tail);
        max = _mm_max_epu8(max, bytes);
        sums = _mm_add_epi64(sums, _mm_sad_epu8(_mm_sub_epi8(_mm_setzero_si128(), is_tail_byte),
                                                _mm_setzero_si128()));
    }
    uint64_t halves[2];
    uint8_t bytes[16];
    _mm_storeu_si128((__m128i *)(void *)halves, sums);
    _mm_storeu_si128((__m128i *)(void *)bytes, max);
    *tails = (size_t)(halves[0] + halves[1]);
    for (size_t at = 0; at < sizeof bytes; at++) {
        *max_byte = bytes[at] > *max_byte ? bytes[at] : *max_byte;
    }
    return i;
}
#endif

void
ionf_utf8_measure(const uint8_t *p, size_t len, ionf_utf8_info *info)
{
    size_t i = 0;
    size_t tails = 0;
    uint8_t max_byte = 0;
#if IONF_HAS_SSE2
    if (len >= 16) {
        i = measure_blocks(p, len, &tails, &max_byte);
    }
#endif
    for (; i < len; i++) {
        tails += is_tail(p[i]);
        max_byte = p[i] > max_byte ? p[i] : max_byte;
    }
    info->count = len - tails;
    info->max_class = class_of_lead(max_byte);
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

/* The sequence at `p`, which is not ASCII, as a unit; its length, or 0 when it is no such sequence. */
static inline size_t
take_unit(const uint8_t *p, size_t remaining, uint16_t *unit)
{
    size_t step = p[0] < 0xF0u ? sequence_len(p, remaining) : 0;
    if (step != 0) {
        *unit = (uint16_t)decode_sequence(p, &step);
    }
    return step;
}

size_t
ionf_utf8_decode_bmp(const uint8_t *p, size_t len, uint16_t *dst, size_t *count, uint32_t *all)
{
    const uint16_t *const start = dst;
    uint32_t seen = 0;
    size_t i = 0;
    while (i < len) {
        uint32_t word;
        while (len - i >= 4 && is_triple_word(word = load32_le(p + i))) {
            const uint32_t unit = decode_triple(word);
            seen |= unit;
            *dst++ = (uint16_t)unit;
            i += 3;
#if IONF_HAS_SSE2
            __m128i words;
            while (len - i >= FOUR_TRIPLES && are_triples(words = load_triples(p + i))) {
                store_triples(words, dst);
                dst += 4;
                i += 12;
            }
#endif
        }
        while (len - i >= 4 && is_two_pairs_word(word = load32_le(p + i))) {
            const uint32_t first = (word & 0x1Fu) << 6 | (word >> 8 & 0x3Fu);
            const uint32_t second = (word >> 16 & 0x1Fu) << 6 | (word >> 24 & 0x3Fu);
            seen |= first | second;
            *dst++ = (uint16_t)first;
            *dst++ = (uint16_t)second;
            i += 4;
        }
        if (len - i >= IONF_WIDEN_BLOCK) {
            const size_t plain = ionf_widen_block_uint16_t(p + i, dst);
            dst += plain;
            i += plain;
        } else if (i < len && p[i] < 0x80u) {
            *dst++ = p[i++];
            continue;
        }
        if (i < len && p[i] >= 0x80u) {
            const size_t step = take_unit(p + i, len - i, dst);
            if (step == 0) {
                break;
            }
            seen |= *dst++;
            i += step;
        }
    }
    *count = (size_t)(dst - start);
    *all = seen;
    return i;
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
            do {
                *dst++ = (uint8_t)(p[i] << 6 | (p[i + 1] & 0x3Fu));
                i += 2;
            } while (i < len && p[i] >= 0x80u);
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
        } else if (len - i >= 4 && p[i] >= 0xE0u) {
            do { /* text in one of the scripts that take three bytes goes on like that */
                *dst++ = (uint16_t)decode_triple(load32_le(p + i));
                i += 3;
            } while (len - i >= 4 && p[i] >= 0xE0u);
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
        } else if (len - i >= 4 && p[i] >= 0xF0u) {
            do {
                *dst++ = decode_quad(load32_le(p + i));
                i += 4;
            } while (len - i >= 4 && p[i] >= 0xF0u);
        } else {
            size_t step;
            *dst++ = decode_sequence(p + i, &step);
            i += step;
        }
    }
}
