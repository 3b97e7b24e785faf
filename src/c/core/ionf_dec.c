/* Decimals in binary and text. Specification: decimal.md; binary.md, "0x5: decimal".
 *
 * Coefficients of any size pass through as ionf_integer; nothing here does arithmetic on them.
 */
#include "ionf_dec.h"

/* "0.000000123" is still easy to read; one zero more and the exponent is clearer. */
#define MAX_LEADING_ZEROS 6
/* "d", a sign and the digits of an int64. */
#define EXPONENT_TEXT_MAX (2 + IONF_U64_TEXT_MAX)

static ionf_status
exponent_read(const uint8_t **p, const uint8_t *end, int64_t *exponent)
{
    bool is_negative;
    uint64_t magnitude;
    const ionf_status status = ionf_varint_read(p, end, &is_negative, &magnitude);
    if (status == IONF_ERR_TRUNCATED) {
        return IONF_ERR_DECIMAL;
    }
    if (status != IONF_OK || magnitude > (uint64_t)INT64_MAX + is_negative) {
        return IONF_ERR_RANGE;
    }
    if (is_negative) {
        *exponent = magnitude == 0 ? 0 : -(int64_t)(magnitude - 1) - 1;
    } else {
        *exponent = (int64_t)magnitude;
    }
    return IONF_OK;
}

/* A negative coefficient of more than 8 bytes: its sign bit shares the top byte with the
 * magnitude. */
static ionf_status
negative_coefficient_read(const uint8_t *p, size_t len, ionf_buf *scratch, ionf_integer *out)
{
    if ((p[0] & 0x7Fu) == 0) {
        *out = ionf_num_integer_from_be(p + 1, len - 1, true);
        return IONF_OK;
    }
    ionf_buf_reset(scratch);
    const ionf_status status = ionf_buf_append(scratch, p, len);
    if (status != IONF_OK) {
        return status;
    }
    scratch->data[0] &= 0x7Fu;
    *out = ionf_num_integer_from_be(scratch->data, len, true);
    return IONF_OK;
}

static inline ionf_status
coefficient_read(const uint8_t *p, size_t len, ionf_buf *scratch, ionf_integer *out)
{
    const bool is_negative = len != 0 && (p[0] & 0x80u) != 0;
    if (IONF_UNLIKELY(len > 8)) {
        if (is_negative) {
            return negative_coefficient_read(p, len, scratch, out);
        }
        *out = ionf_num_integer_from_be(p, len, false);
        return IONF_OK;
    }
    uint64_t magnitude = ionf_uint_read(p, len);
    if (is_negative) {
        magnitude -= (uint64_t)1 << (8 * len - 1);
    }
    *out = (ionf_integer){.u64 = magnitude, .form = IONF_INT_U64, .is_negative = is_negative};
    return IONF_OK;
}

ionf_status
ionf_dec_read(const uint8_t *content, size_t len, ionf_buf *scratch, ionf_decimal *out)
{
    ionf_decimal decimal = {.exponent = 0};
    if (len != 0) {
        const uint8_t *p = content;
        const uint8_t *const end = content + len;
        ionf_status status = exponent_read(&p, end, &decimal.exponent);
        if (status != IONF_OK) {
            return status;
        }
        status = coefficient_read(p, (size_t)(end - p), scratch, &decimal.coefficient);
        if (status != IONF_OK) {
            return status;
        }
    }
    *out = decimal;
    return IONF_OK;
}

static inline bool
integer_is_zero(const ionf_integer *integer)
{
    return integer->form == IONF_INT_U64 && integer->u64 == 0;
}

/* An Int of at most 8 bytes of magnitude; `integer` is not a positive zero. */
static ionf_status
small_int_write(const ionf_integer *integer, ionf_buf *out)
{
    const ionf_status status = ionf_buf_reserve(out, 9);
    if (status != IONF_OK) {
        return status;
    }
    uint8_t *const dst = out->data + out->len;
    /* A magnitude that fills its top byte needs one byte more for the sign. */
    const size_t size = ionf_bit_length(integer->u64) / 8 + 1;
    dst[0] = 0;
    ionf_uint_put(dst + size / 9, integer->u64, size - size / 9);
    if (integer->is_negative) {
        dst[0] |= 0x80u;
    }
    out->len += size;
    return IONF_OK;
}

static ionf_status
big_int_write(const ionf_integer *integer, ionf_buf *out)
{
    const size_t start = out->len;
    ionf_status status = ionf_buf_push(out, 0);
    if (status == IONF_OK) {
        status = ionf_num_integer_to_be(integer, out);
    }
    if (status != IONF_OK) {
        out->len = start;
        return status;
    }
    uint8_t *const field = out->data + start;
    const size_t magnitude_len = out->len - start - 1;
    if (magnitude_len != 0 && (field[1] & 0x80u) == 0) {
        memmove(field, field + 1, magnitude_len);
        out->len--;
    }
    if (integer->is_negative) {
        field[0] |= 0x80u;
    }
    return IONF_OK;
}

ionf_status
ionf_dec_write_int(const ionf_integer *integer, ionf_buf *out)
{
    if (integer_is_zero(integer) && !integer->is_negative) {
        return IONF_OK;
    }
    return integer->form == IONF_INT_U64 ? small_int_write(integer, out)
                                         : big_int_write(integer, out);
}

static inline uint64_t
exponent_magnitude(int64_t exponent)
{
    return exponent < 0 ? 0 - (uint64_t)exponent : (uint64_t)exponent;
}

ionf_status
ionf_dec_write(const ionf_decimal *decimal, ionf_buf *out)
{
    const ionf_integer *coefficient = &decimal->coefficient;
    if (decimal->exponent == 0 && integer_is_zero(coefficient) && !coefficient->is_negative) {
        return IONF_OK;
    }
    ionf_status status = ionf_buf_reserve(out, IONF_VARINT_MAX_SIZE);
    if (status != IONF_OK) {
        return status;
    }
    const size_t start = out->len;
    const uint8_t *const after = ionf_varint_put(out->data + start, decimal->exponent < 0,
                                                 exponent_magnitude(decimal->exponent));
    out->len = (size_t)(after - out->data);
    status = ionf_dec_write_int(coefficient, out);
    if (status != IONF_OK) {
        out->len = start;
    }
    return status;
}

/* Make room for `count` bytes at `at`, which reserve has provided. */
static uint8_t *
open_gap(ionf_buf *out, size_t at, size_t count)
{
    uint8_t *const gap = out->data + at;
    memmove(gap + count, gap, out->len - at);
    out->len += count;
    return gap;
}

/* Put the point and the zeros before it, or the exponent, to the `count` digits at the end of
 * `out`, which has room for the longest of them. */
static void
place_point(ionf_buf *out, size_t count, int64_t exponent)
{
    const uint64_t places = exponent_magnitude(exponent);
    if (exponent == 0 || (exponent < 0 && places < count)) {
        open_gap(out, out->len - (size_t)places, 1)[0] = '.';
    } else if (exponent < 0 && places - count <= MAX_LEADING_ZEROS) {
        const size_t prefix = 2 + (size_t)places - count;
        uint8_t *const gap = open_gap(out, out->len - count, prefix);
        memset(gap, '0', prefix);
        gap[1] = '.';
    } else {
        uint8_t *w = out->data + out->len;
        *w++ = 'd';
        if (exponent < 0) {
            *w++ = '-';
        }
        w += ionf_num_print_u64(w, places);
        out->len = (size_t)(w - out->data);
    }
}

ionf_status
ionf_dec_print(const ionf_decimal *decimal, ionf_buf *out)
{
    const size_t start = out->len;
    ionf_status status = IONF_OK;
    if (decimal->coefficient.is_negative) {
        status = ionf_buf_push(out, '-');
    }
    const size_t digits = out->len;
    if (status == IONF_OK) {
        status = ionf_num_integer_to_digits(&decimal->coefficient, out);
    }
    if (status == IONF_OK) {
        status = ionf_buf_reserve(out, EXPONENT_TEXT_MAX);
    }
    if (status != IONF_OK) {
        out->len = start;
        return status;
    }
    place_point(out, out->len - digits, decimal->exponent);
    return IONF_OK;
}
