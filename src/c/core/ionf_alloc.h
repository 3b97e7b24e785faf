/* The allocator: a value that the owner of a core object passes in. All core memory goes through it.
 *
 * Sizes are handed back on realloc and free, so that a counting allocator needs no headers.
 */
#ifndef IONF_ALLOC_H
#define IONF_ALLOC_H

#include "ionf_base.h"
#include "ionf_status.h"

typedef struct ionf_alloc {
    /* NULL on failure; `size` is never 0. */
    void *(*alloc)(void *ctx, size_t size);
    /* NULL on failure, `ptr` then still valid; `ptr` may be NULL with `old_size` 0. */
    void *(*realloc)(void *ctx, void *ptr, size_t old_size, size_t size);
    /* `ptr` may be NULL. */
    void (*free)(void *ctx, void *ptr, size_t size);
    void *ctx;
} ionf_alloc;

/* malloc, realloc and free of the C library. */
ionf_alloc ionf_alloc_libc(void);

static inline void *
ionf_alloc_new(const ionf_alloc *a, size_t size)
{
    return a->alloc(a->ctx, size);
}

static inline void
ionf_alloc_free(const ionf_alloc *a, void *ptr, size_t size)
{
    a->free(a->ctx, ptr, size);
}

/* Grow the array `*ptr` of `*cap` items of `item_size` bytes to hold at least `needed` items, at
 * least doubling it. On failure nothing has changed. */
IONF_MUST_CHECK ionf_status ionf_alloc_grow(const ionf_alloc *a, void **ptr, size_t *cap,
                                            size_t needed, size_t item_size);

#endif
