/* Base64 as blobs use it (RFC 4648, padding required, no line breaks of its own). */
#ifndef IONF_B64_H
#define IONF_B64_H

#include "ionf_buf.h"

/* Append the encoding of `len` bytes to `out`. On failure `out` is as it was. */
IONF_MUST_CHECK ionf_status ionf_b64_encode(const uint8_t *data, size_t len, ionf_buf *out);
/* Append the decoding of Ion blob text (Ion whitespace between characters is skipped) to `out`.
 * IONF_ERR_BASE64 with `*error_at` = offset of the offending character (len: at the end). Padding
 * must be complete. Bits under the padding are dropped, zero or not: see docs/ion-choices.md. On
 * failure `out` is as it was. */
IONF_MUST_CHECK ionf_status ionf_b64_decode(const uint8_t *text, size_t len, ionf_buf *out,
                                            size_t *error_at);

#endif
