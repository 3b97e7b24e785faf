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
    void *data = buf->data;
    const ionf_status status = ionf_alloc_grow(&buf->alloc, &data, &buf->cap, needed, 1);
    buf->data = data;
    return status;
}
