/* Growable bytes: the out-of-line half. */
#include "ionf_buf.h"

void
ionf_buf_init(ionf_buf *buf, ionf_alloc alloc)
{
    buf->data = NULL;
    buf->len = 0;
    buf->cap = 0;
    buf->alloc = alloc;
}

void
ionf_buf_destroy(ionf_buf *buf)
{
    ionf_alloc_free(&buf->alloc, buf->data, buf->cap);
    ionf_buf_init(buf, buf->alloc);
}

/* What is large grows by half, not to twice: so much less lies idle. */
#define LARGE 65536

IONF_NOINLINE ionf_status
ionf_buf_grow(ionf_buf *buf, size_t extra)
{
    size_t needed;
    if (!ionf_size_add(buf->len, extra, &needed)) {
        return IONF_ERR_NOMEM;
    }
    if (needed < 64) {
        needed = 64;
    }
    size_t cap = buf->cap;
    size_t wanted = cap < LARGE ? cap * 2 : cap + cap / 2;
    wanted = wanted < needed ? needed : wanted;
    void *const data = buf->alloc.realloc(buf->alloc.ctx, buf->data, cap, wanted);
    if (data == NULL) {
        return IONF_ERR_NOMEM;
    }
    buf->data = data;
    buf->cap = wanted;
    return IONF_OK;
}

ionf_status
ionf_buf_append_steps(ionf_buf *buf, const uint8_t *data, size_t len)
{
    ionf_status status = ionf_buf_reserve(buf, len);
    while (status == IONF_OK && len > IONF_STEP_BYTES) {
        status = ionf_buf_append(buf, data, IONF_STEP_BYTES);
        data += IONF_STEP_BYTES;
        len -= IONF_STEP_BYTES;
        if (status == IONF_OK) {
            status = ionf_alloc_ask(&buf->alloc);
        }
    }
    return status == IONF_OK ? ionf_buf_append(buf, data, len) : status;
}
