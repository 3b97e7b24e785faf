/* The C library's allocator as a value, and array growth. */
#include "ionf_alloc.h"

#include <stdlib.h>

static void *
libc_alloc(void *ctx, size_t size)
{
    (void)ctx;
    return malloc(size);
}

static void *
libc_realloc(void *ctx, void *ptr, size_t old_size, size_t size)
{
    (void)ctx;
    (void)old_size;
    return realloc(ptr, size);
}

static void
libc_free(void *ctx, void *ptr, size_t size)
{
    (void)ctx;
    (void)size;
    free(ptr);
}

ionf_alloc
ionf_alloc_libc(void)
{
    const ionf_alloc a = {libc_alloc, libc_realloc, libc_free, NULL, NULL};
    return a;
}

ionf_status
ionf_alloc_grow(const ionf_alloc *a, void **ptr, size_t *cap, size_t needed, size_t item_size)
{
    if (needed <= *cap) {
        return IONF_OK;
    }
    size_t new_cap = *cap < 8 ? 8 : *cap;
    while (new_cap < needed) {
        new_cap = new_cap > SIZE_MAX / 2 ? needed : new_cap * 2;
    }
    size_t bytes;
    if (!ionf_size_mul(new_cap, item_size, &bytes)) {
        return IONF_ERR_NOMEM;
    }
    void *grown = a->realloc(a->ctx, *ptr, *cap * item_size, bytes);
    if (grown == NULL) {
        return IONF_ERR_NOMEM;
    }
    *ptr = grown;
    *cap = new_cap;
    return IONF_OK;
}
