/* Integers between digits, bytes and ionf_integer. Specification: spec.md, "Integers".
 *
 * What fits 64 bits is done here; larger naturals go through ionf_radix.c.
 */
#include "ionf_num.h"

#include "ionf_bignum.h"
#include "ionf_radix.h"
#include "ionf_varint.h"

size_t
ionf_num_print_u64(uint8_t *dst, uint64_t value)
{
    const uint32_t block = 100000000u;
    if (value < block) {
        return ionf_num_print_8(dst, (uint32_t)value);
    }
    const uint64_t above = value / block;
    size_t count;
    if (above < block) {
        count = ionf_num_print_8(dst, (uint32_t)above);
    } else {
        count = ionf_num_print_8(dst, (uint32_t)(above / block));
        ionf_num_store_8(dst + count,
                         ionf_num_digits_8((uint32_t)(above % block)) | IONF_ASCII_ZEROS);
        count += 8;
    }
    ionf_num_store_8(dst + count, ionf_num_digits_8((uint32_t)(value % block)) | IONF_ASCII_ZEROS);
    return count + 8;
}

static size_t
skip_leading(const uint8_t *data, size_t len, uint8_t unwanted)
{
    size_t i = 0;
    const uint64_t word = UINT64_C(0x0101010101010101) * unwanted;
    while (len - i >= 8 && ionf_load64_native(data + i) == word) {
        i += 8;
    }
    while (i < len && data[i] == unwanted) {
        i++;
    }
    return i;
}

/* The value of at most 19 digits. */
static inline uint64_t
parse_up_to_19(const uint8_t *digits, size_t len)
{
    uint64_t value = 0;
    while (len >= 8) {
        value = value * 100000000u + ionf_num_parse_8(digits);
        digits += 8;
        len -= 8;
    }
    for (size_t i = 0; i < len; i++) {
        value = value * 10 + (digits[i] - (uint64_t)'0');
    }
    return value;
}

bool
ionf_num_parse_u64(const uint8_t *digits, size_t len, uint64_t *out)
{
    if (IONF_UNLIKELY(len > 19)) {
        const size_t zeros = skip_leading(digits, len, '0');
        digits += zeros;
        len -= zeros;
        if (len == 20) {
            const uint64_t head = parse_up_to_19(digits, 19);
            const uint64_t last = digits[19] - (uint64_t)'0';
            if (head > (UINT64_MAX - last) / 10) {
                return false;
            }
            *out = head * 10 + last;
            return true;
        }
        if (len > 20) {
            return false;
        }
    }
    *out = parse_up_to_19(digits, len);
    return true;
}

ionf_integer
ionf_num_integer_from_digits(const uint8_t *digits, size_t len, bool is_negative)
{
    ionf_integer integer = {.form = IONF_INT_U64, .is_negative = is_negative};
    if (IONF_UNLIKELY(!ionf_num_parse_u64(digits, len, &integer.u64))) {
        const size_t zeros = skip_leading(digits, len, '0');
        integer.form = IONF_INT_DIGITS;
        integer.data = digits + zeros;
        integer.len = len - zeros;
    }
    return integer;
}

ionf_integer
ionf_num_integer_from_be(const uint8_t *bytes, size_t len, bool is_negative)
{
    ionf_integer integer = {.form = IONF_INT_U64, .is_negative = is_negative};
    const size_t zeros = len > 8 ? skip_leading(bytes, len, 0) : 0;
    if (IONF_LIKELY(len - zeros <= 8)) {
        integer.u64 = ionf_uint_read(bytes + zeros, len - zeros);
    } else {
        integer.form = IONF_INT_BE;
        integer.data = bytes + zeros;
        integer.len = len - zeros;
    }
    return integer;
}

ionf_status
ionf_num_integer_to_digits(const ionf_integer *integer, ionf_buf *out)
{
    if (integer->form == IONF_INT_DIGITS) {
        return ionf_buf_append(out, integer->data, integer->len);
    }
    if (integer->form == IONF_INT_BE) {
        return ionf_radix_be_to_digits(integer->data, integer->len, out);
    }
    const ionf_status status = ionf_buf_reserve(out, IONF_U64_TEXT_MAX);
    if (status == IONF_OK) {
        out->len += ionf_num_print_u64(out->data + out->len, integer->u64);
    }
    return status;
}

ionf_status
ionf_num_integer_to_be(const ionf_integer *integer, ionf_buf *out)
{
    if (integer->form == IONF_INT_DIGITS) {
        return ionf_radix_digits_to_be(integer->data, integer->len, out);
    }
    if (integer->form == IONF_INT_BE) {
        const size_t zeros = skip_leading(integer->data, integer->len, 0);
        return ionf_buf_append(out, integer->data + zeros, integer->len - zeros);
    }
    const ionf_status status = ionf_buf_reserve(out, 8);
    if (status == IONF_OK) {
        const size_t size = ionf_uint_size(integer->u64);
        ionf_uint_put(out->data + out->len, integer->u64, size);
        out->len += size;
    }
    return status;
}

static inline unsigned
digit_value(uint8_t digit)
{
    return digit <= '9' ? digit - (unsigned)'0' : (digit | 0x20u) - (unsigned)'a' + 10u;
}

ionf_status
ionf_num_radix_to_be(const uint8_t *digits, size_t len, unsigned radix, ionf_buf *out)
{
    const unsigned digit_bits = radix == 16 ? 4 : 1;
    const size_t digits_per_byte = 8 / digit_bits;
    const size_t zeros = skip_leading(digits, len, '0');
    digits += zeros;
    len -= zeros;
    const size_t size = len / digits_per_byte + (len % digits_per_byte != 0);
    const ionf_status status = ionf_buf_reserve(out, size);
    if (status != IONF_OK) {
        return status;
    }
    for (size_t i = 0; i < size; i++) {
        /* The first byte takes what the others leave over. */
        const size_t end = len - (size - 1 - i) * digits_per_byte;
        unsigned byte = 0;
        for (size_t at = i == 0 ? 0 : end - digits_per_byte; at < end; at++) {
            byte = byte << digit_bits | digit_value(digits[at]);
        }
        out->data[out->len++] = (uint8_t)byte;
        if (i % IONF_STEP_BYTES == IONF_STEP_BYTES - 1 && ionf_alloc_ask(&out->alloc) != IONF_OK) {
            out->len -= i + 1;
            return IONF_ERR_INTERRUPTED;
        }
    }
    return IONF_OK;
}

/* value < 10 ** exponent, for a value whose length leaves it open. */
static bool
be_is_below_pow10_exactly(const uint8_t *bytes, size_t len, unsigned exponent)
{
    ionf_bignum value;
    ionf_bignum power;
    ionf_bignum_set_be(&value, bytes, len);
    ionf_bignum_set_u64(&power, 1);
    ionf_bignum_mul_pow5(&power, exponent);
    ionf_bignum_shift_left(&power, exponent);
    return ionf_bignum_compare(&value, &power) < 0;
}

static bool
be_is_below_pow10(const uint8_t *bytes, size_t len, uint64_t exponent)
{
    const size_t zeros = skip_leading(bytes, len, 0);
    bytes += zeros;
    len -= zeros;
    if (len == 0) {
        return true;
    }
    const double log10_of_2 = 0.30102999566398120;
    const double bits = 8.0 * (double)(len - 1) + (double)ionf_bit_length(bytes[0]);
    /* The value lies in 2 ** (bits - 1) .. 2 ** bits; the margin is for the double's own rounding,
     * which is far below it for any length that fits memory. */
    const double margin = 1e-3;
    const double wanted = (double)exponent;
    if (wanted >= bits * log10_of_2 + margin) {
        return true;
    }
    if (wanted <= (bits - 1) * log10_of_2 - margin || bits > IONF_NUM_EXACT_BITS) {
        return false;
    }
    return be_is_below_pow10_exactly(bytes, len, (unsigned)exponent);
}

bool
ionf_num_is_below_pow10(const ionf_integer *integer, uint64_t exponent)
{
    if (integer->form == IONF_INT_DIGITS) {
        return integer->len <= exponent;
    }
    if (integer->form == IONF_INT_BE) {
        return be_is_below_pow10(integer->data, integer->len, exponent);
    }
    return exponent >= 20 || integer->u64 < ionf_num_powers_of_ten[exponent];
}
