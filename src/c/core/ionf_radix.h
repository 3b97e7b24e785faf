/* Naturals of any size between decimal digits and big-endian bytes, in less than quadratic time.
 *
 * Knows nothing of Ion. Scratch memory comes from the allocator of the buffer that takes the
 * result.
 */
#ifndef IONF_RADIX_H
#define IONF_RADIX_H

#include "ionf_buf.h"

/* Append the value of `len` ASCII digits as big-endian bytes without leading zeros. On failure
 * (IONF_ERR_NOMEM) `out` is as it was. */
IONF_MUST_CHECK ionf_status ionf_radix_digits_to_be(const uint8_t *digits, size_t len,
                                                    ionf_buf *out);
/* Append the value of `len` big-endian bytes as ASCII digits without leading zeros, "0" for 0. On
 * failure (IONF_ERR_NOMEM) `out` is as it was. */
IONF_MUST_CHECK ionf_status ionf_radix_be_to_digits(const uint8_t *bytes, size_t len,
                                                    ionf_buf *out);

#endif
