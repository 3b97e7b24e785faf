/* A growable run of bytes: the output of writers, the scratch of readers. Pooled by its owner. */
#ifndef IONF_BUF_H
#define IONF_BUF_H

#include "ionf_alloc.h"

typedef struct ionf_buf {
    uint8_t *data; /* owned; NULL while cap is 0 */
    size_t len;
    size_t cap;
    ionf_alloc alloc;
} ionf_buf;

/* Cannot fail and allocates nothing. */
void ionf_buf_init(ionf_buf *buf, ionf_alloc alloc);
/* Forget the content, keep the capacity. Cannot fail. */
static inline void
ionf_buf_reset(ionf_buf *buf)
{
    buf->len = 0;
}
/* Give the memory back; the buffer is then as after init. */
void ionf_buf_destroy(ionf_buf *buf);

/* Out-of-line half of ionf_buf_reserve. */
IONF_MUST_CHECK ionf_status ionf_buf_grow(ionf_buf *buf, size_t extra);

/* Make room for `extra` more bytes beyond len, so that they can be stored without a check. */
IONF_MUST_CHECK static inline ionf_status
ionf_buf_reserve(ionf_buf *buf, size_t extra)
{
    if (IONF_LIKELY(extra <= buf->cap - buf->len)) {
        return IONF_OK;
    }
    return ionf_buf_grow(buf, extra);
}

IONF_MUST_CHECK static inline ionf_status
ionf_buf_append(ionf_buf *buf, const void *data, size_t len)
{
    const ionf_status status = ionf_buf_reserve(buf, len);
    if (IONF_UNLIKELY(status != IONF_OK)) {
        return status;
    }
    if (len != 0) {
        memcpy(buf->data + buf->len, data, len);
        buf->len += len;
    }
    return IONF_OK;
}

/* The same for data of any length: the owner is asked at each step whether to go on. On failure `buf` may
 * have grown. */
IONF_MUST_CHECK ionf_status ionf_buf_append_steps(ionf_buf *buf, const uint8_t *data, size_t len);

IONF_MUST_CHECK static inline ionf_status
ionf_buf_push(ionf_buf *buf, uint8_t byte)
{
    const ionf_status status = ionf_buf_reserve(buf, 1);
    if (IONF_UNLIKELY(status != IONF_OK)) {
        return status;
    }
    buf->data[buf->len++] = byte;
    return IONF_OK;
}

#endif
