/* VarUInt, VarInt, UInt and Int of Ion binary. Specification: binary.md, "Basic Field Formats".
 *
 * All inline. Readers take a cursor and its end and never look past it.
 */
#ifndef IONF_VARINT_H
#define IONF_VARINT_H

#include "ionf_base.h"
#include "ionf_status.h"

/* The longest field that the writers here make: ten groups of seven bits hold 64. */
#define IONF_VARUINT_MAX_SIZE 10
/* As VarUInt, but the first group holds six bits and the sign. */
#define IONF_VARINT_MAX_SIZE 10

/* The groups after those that `value` already holds. `*p` moves only on success. */
static inline ionf_status
ionf_varuint_read_rest(const uint8_t **p, const uint8_t *cursor, const uint8_t *end,
                       uint64_t value, uint64_t *out)
{
    while (cursor != end) {
        const uint8_t byte = *cursor++;
        if (IONF_UNLIKELY(value >> 57 != 0)) {
            return IONF_ERR_VARINT;
        }
        value = value << 7 | (byte & 0x7Fu);
        if (byte & 0x80u) {
            *p = cursor;
            *out = value;
            return IONF_OK;
        }
    }
    return IONF_ERR_TRUNCATED;
}

/* Read a VarUInt. IONF_ERR_TRUNCATED when `end` comes first, IONF_ERR_VARINT beyond 64 bits; `*p`
 * and `*out` change only on success. Padding (leading 0x00 groups) is accepted however long. */
IONF_MUST_CHECK static inline ionf_status
ionf_varuint_read(const uint8_t **p, const uint8_t *end, uint64_t *out)
{
    const uint8_t *cursor = *p;
    if (IONF_LIKELY(cursor != end) && IONF_LIKELY(*cursor & 0x80u)) {
        *out = *cursor & 0x7Fu;
        *p = cursor + 1;
        return IONF_OK;
    }
    return ionf_varuint_read_rest(p, cursor, end, 0, out);
}

/* Read a VarInt as sign and magnitude, so that -0 stays apart from 0, as timestamps and decimals
 * need. Errors as ionf_varuint_read. */
IONF_MUST_CHECK static inline ionf_status
ionf_varint_read(const uint8_t **p, const uint8_t *end, bool *is_negative, uint64_t *magnitude)
{
    const uint8_t *cursor = *p;
    if (IONF_UNLIKELY(cursor == end)) {
        return IONF_ERR_TRUNCATED;
    }
    const uint8_t first = *cursor++;
    uint64_t value = first & 0x3Fu;
    if (IONF_UNLIKELY((first & 0x80u) == 0)) {
        const ionf_status status = ionf_varuint_read_rest(p, cursor, end, value, &value);
        if (IONF_UNLIKELY(status != IONF_OK)) {
            return status;
        }
    } else {
        *p = cursor;
    }
    *is_negative = (first & 0x40u) != 0;
    *magnitude = value;
    return IONF_OK;
}

/* Bits in use, 1 for 0. */
static inline unsigned
ionf_bit_length(uint64_t value)
{
    return 64u - (unsigned)ionf_clz64(value | 1u);
}

/* Bytes of the shortest VarUInt: 1 .. 10. */
static inline size_t
ionf_varuint_size(uint64_t value)
{
    return (ionf_bit_length(value) + 6u) / 7u;
}

/* Store the last `size` groups of `value`, the end flag on the last; gives the byte after. */
static inline uint8_t *
ionf_varuint_put_sized(uint8_t *dst, uint64_t value, size_t size)
{
    uint8_t *const end = dst + size;
    uint8_t *w = end - 1;
    *w = (uint8_t)(value & 0x7Fu) | 0x80u;
    while (w != dst) {
        value >>= 7;
        *--w = (uint8_t)(value & 0x7Fu);
    }
    return end;
}

/* Store the shortest VarUInt at `dst`, which has room for ionf_varuint_size(value) bytes;
 * gives the byte after it. */
static inline uint8_t *
ionf_varuint_put(uint8_t *dst, uint64_t value)
{
    if (IONF_LIKELY(value < 0x80u)) {
        *dst = (uint8_t)value | 0x80u;
        return dst + 1;
    }
    return ionf_varuint_put_sized(dst, value, ionf_varuint_size(value));
}

/* Bytes of the shortest VarInt: 1 .. 10. */
static inline size_t
ionf_varint_size(uint64_t magnitude)
{
    return (ionf_bit_length(magnitude) + 7u) / 7u;
}

/* Store the shortest VarInt; `is_negative` with magnitude 0 is -0, which stands for "unknown". */
static inline uint8_t *
ionf_varint_put(uint8_t *dst, bool is_negative, uint64_t magnitude)
{
    uint8_t *const end = ionf_varuint_put_sized(dst, magnitude, ionf_varint_size(magnitude));
    if (is_negative) {
        *dst |= 0x40u;
    }
    return end;
}

/* The big-endian UInt in `len` bytes, 0 .. 8 of them; 0 for none. */
static inline uint64_t
ionf_uint_read(const uint8_t *p, size_t len)
{
    uint64_t value = 0;
    for (size_t i = 0; i < len; i++) {
        value = value << 8 | p[i];
    }
    return value;
}

/* Bytes of the shortest UInt: 0 for 0, else 1 .. 8. */
static inline size_t
ionf_uint_size(uint64_t value)
{
    return value == 0 ? 0 : (ionf_bit_length(value) + 7u) / 8u;
}

/* Store the low `size` bytes of `value`, big-endian, 0 .. 8 of them; gives the byte after. */
static inline uint8_t *
ionf_uint_put(uint8_t *dst, uint64_t value, size_t size)
{
    for (size_t i = size; i != 0; i--) {
        dst[i - 1] = (uint8_t)value;
        value >>= 8;
    }
    return dst + size;
}

#endif
