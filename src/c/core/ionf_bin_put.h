/* Binary values stored at a pointer, for loops that keep their place in the output in a register and
 * have made room before: ionf_bin_write.h without the reservations. Specification: binary.md. */
#ifndef IONF_BIN_PUT_H
#define IONF_BIN_PUT_H

#include "ionf_base.h"
#include "ionf_varint.h"

/* The most bytes that one of these stores, text not counted: eight of a number may be stored too far. */
#define IONF_BIN_PUT_MAX 16

/* A field's SID. */
static inline uint8_t *
ionf_bin_put_field(uint8_t *dst, uint64_t sid)
{
    if (IONF_LIKELY(sid < 0x80)) {
        dst[0] = (uint8_t)(sid | 0x80u);
        return dst + 1;
    }
    if (IONF_LIKELY(sid < 0x4000)) {
        dst[0] = (uint8_t)(sid >> 7);
        dst[1] = (uint8_t)(sid | 0x80u);
        return dst + 2;
    }
    return ionf_varuint_put(dst, sid);
}

static inline uint8_t *
ionf_bin_put_i64(uint8_t *dst, int64_t value)
{
    const uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    /* 0 is shifted as if it had one byte, which is not counted. */
    const unsigned size = (71u - (unsigned)ionf_clz64(magnitude | 1u)) / 8u;
    const unsigned stored = magnitude == 0 ? 0 : size;
    dst[0] = (uint8_t)((value < 0 ? 0x30u : 0x20u) | stored);
    ionf_store64_be(dst + 1, magnitude << (64u - 8u * size));
    return dst + 1 + stored;
}

/* Eight bytes always, but for 0e0, which has none. All NaNs are one value and get one form. */
static inline uint8_t *
ionf_bin_put_double(uint8_t *dst, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (IONF_UNLIKELY(value != value)) {
        bits = 0x7FF8000000000000u;
    }
    dst[0] = bits == 0 ? 0x40 : 0x48;
    ionf_store64_be(dst + 1, bits);
    return dst + (bits == 0 ? 1 : 9);
}

/* Copy short runs without a call: 5.0 -> 4.2 ns a string of twitter.json. */
static inline void
ionf_copy_short(uint8_t *dst, const uint8_t *src, size_t len)
{
    if (len >= 8 && len <= 16) {
        const uint64_t first = ionf_load64_native(src);
        const uint64_t last = ionf_load64_native(src + len - 8);
        memcpy(dst, &first, 8);
        memcpy(dst + len - 8, &last, 8);
    } else if (len >= 4 && len < 8) {
        uint32_t first, last;
        memcpy(&first, src, 4);
        memcpy(&last, src + len - 4, 4);
        memcpy(dst, &first, 4);
        memcpy(dst + len - 4, &last, 4);
    } else if (len < 4) {
        for (size_t i = 0; i < len; i++) {
            dst[i] = src[i];
        }
    } else {
        memcpy(dst, src, len);
    }
}

/* Bytes of a value with so many of content. */
static inline size_t
ionf_bin_sized(size_t content_len)
{
    return 1 + (content_len < 14 ? 0 : ionf_varuint_size(content_len)) + content_len;
}

/* The head of a value with content; `type_byte` is the type code in its upper half. */
static inline uint8_t *
ionf_bin_put_head(uint8_t *dst, unsigned type_byte, size_t content_len)
{
    if (IONF_LIKELY(content_len < 14)) {
        *dst = (uint8_t)(type_byte | content_len);
        return dst + 1;
    }
    *dst = (uint8_t)(type_byte | 14u);
    return ionf_varuint_put(dst + 1, content_len);
}

/* A string, all of it within ionf_bin_sized(len) bytes. */
static inline uint8_t *
ionf_bin_put_string(uint8_t *dst, const uint8_t *text, size_t len)
{
    dst = ionf_bin_put_head(dst, 0x80, len);
    ionf_copy_short(dst, text, len);
    return dst + len;
}

#endif
