/* UTF-8: validation with measuring, ASCII runs, single code points. RFC 3629: no surrogates,
 * nothing overlong. */
#ifndef IONF_UTF8_H
#define IONF_UTF8_H

#include "ionf_alloc.h"

/* What a consumer that builds wider strings needs to know of a run of UTF-8. */
typedef struct ionf_utf8_info {
    size_t count; /* code points */
    uint32_t
        max_class; /* 0x7F, 0xFF, 0xFFFF or 0x10FFFF: an upper bound of the greatest code point */
} ionf_utf8_info;

/* Are all `len` bytes ASCII? Eight or more at a time. */
IONF_MUST_CHECK static inline bool
ionf_utf8_is_ascii(const uint8_t *p, size_t len)
{
    uint64_t seen = 0;
    while (len >= 8) {
        seen |= ionf_load64_native(p);
        p += 8;
        len -= 8;
    }
    while (len != 0) {
        seen |= *p++;
        len--;
    }
    return (seen & 0x8080808080808080u) == 0;
}

/* Length of valid UTF-8 from the start: `len` when all of it is valid, else the offset of the
 * first bad sequence. `info` may be NULL; it describes the valid part. */
size_t ionf_utf8_check(const uint8_t *p, size_t len, ionf_utf8_info *info);

/* The same of text of any length: `host` is asked at each step whether to go on. `*valid` is how far it got,
 * also with IONF_ERR_INTERRUPTED. */
IONF_MUST_CHECK ionf_status ionf_utf8_check_steps(const ionf_alloc *host, const uint8_t *p,
                                                  size_t len, ionf_utf8_info *info, size_t *valid);

/* The same of VALID UTF-8, without checking it again. */
void ionf_utf8_measure(const uint8_t *p, size_t len, ionf_utf8_info *info);

/* Encode one code point (not a surrogate, at most 0x10FFFF): 1 to 4 bytes at `dst`; gives how
 * many. */
size_t ionf_utf8_put(uint8_t *dst, uint32_t code_point);

/* Decode one code point of VALID UTF-8 and step over it. */
uint32_t ionf_utf8_take(const uint8_t **p);

/* Bytes of a step of a long VALID text: IONF_STEP_BYTES, or less, not to end within a sequence. */
static inline size_t
ionf_utf8_step(const uint8_t *text)
{
    size_t step = IONF_STEP_BYTES;
    while ((text[step] & 0xC0) == 0x80) {
        step--;
    }
    return step;
}

/* Check and widen in one pass, as far as it is valid and below U+10000; gives how far. `dst` has room for
 * `len` units and IONF_WIDEN_BLOCK more. `*count`: units stored; `*all`: 0x100 or more where any
 * of them is, else less. */
size_t ionf_utf8_decode_bmp(const uint8_t *p, size_t len, uint16_t *dst, size_t *count,
                            uint32_t *all);

/* Widen VALID UTF-8 of `len` bytes into code units; `dst` holds info.count of them. */
void ionf_utf8_to_ucs1(const uint8_t *p, size_t len, uint8_t *dst);
void ionf_utf8_to_ucs2(const uint8_t *p, size_t len, uint16_t *dst);
void ionf_utf8_to_ucs4(const uint8_t *p, size_t len, uint32_t *dst);

#endif
