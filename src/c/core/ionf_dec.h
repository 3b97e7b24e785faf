/* Decimals: binary form (VarInt exponent, Int coefficient) and text form. Specification:
 * decimal.md. Lossless: coefficient's trailing zeros, negative zero and every exponent that
 * fits 64 bits survive. */
#ifndef IONF_DEC_H
#define IONF_DEC_H

#include "ionf_num.h"
#include "ionf_varint.h"

/* Decode the `len` content bytes of a binary decimal; big coefficients borrow from `content`,
 * except a negative one whose sign bit must be cleared in its top byte: `scratch` is then
 * emptied and holds the bytes. Empty content is 0d0. IONF_ERR_DECIMAL when the exponent does
 * not end, IONF_ERR_RANGE when it does not fit an int64. */
IONF_MUST_CHECK ionf_status ionf_dec_read(const uint8_t *content, size_t len, ionf_buf *scratch,
                                          ionf_decimal *out);
/* Append the binary content (not the type descriptor) to `out`: nothing for 0d0, no
 * coefficient for a positive zero. On failure `out` is as it was. */
IONF_MUST_CHECK ionf_status ionf_dec_write(const ionf_decimal *decimal, ionf_buf *out);
/* Append an Int field (sign and magnitude, binary.md) of any size: nothing for a positive
 * zero, 0x80 for a negative one. On failure `out` is as it was. */
IONF_MUST_CHECK ionf_status ionf_dec_write_int(const ionf_integer *integer, ionf_buf *out);
/* Append Ion text, always recognisable as a decimal and read back with the same coefficient and
 * exponent: "1.", "0.10", "0.005", "-0d-9", "12d30". On failure `out` is as it was. */
IONF_MUST_CHECK ionf_status ionf_dec_print(const ionf_decimal *decimal, ionf_buf *out);

#endif
