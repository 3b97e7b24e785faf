/* The allocator: a value that the owner of a core object passes in. All core memory goes through it.
 *
 * Sizes are handed back on realloc and free, so that a counting allocator needs no headers.
 *
 * It goes wherever long work is done, so it is also what asks the owner whether to go on: a token may be
 * of any size, and whoever waits for it may have lost patience.
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
    /* Does the owner want the step that is under way to end? NULL: never. Asked after each
     * IONF_STEP_BYTES, or some milliseconds of arithmetic. It must not touch the core object at work. */
    bool (*is_interrupted)(void *ctx);
} ionf_alloc;

/* What is read, written or converted between two questions: below a millisecond for most of it, 12 ms
 * for what is slowest (padding of one byte each). What is shorter is never asked for. */
#ifndef IONF_STEP_BYTES /* tests want shorter ones, of at least 16 */
#define IONF_STEP_BYTES ((size_t)1 << 20)
#endif

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

/* IONF_ERR_INTERRUPTED if the owner wants to stop. */
IONF_MUST_CHECK static inline ionf_status
ionf_alloc_ask(const ionf_alloc *a)
{
    return a->is_interrupted != NULL && a->is_interrupted(a->ctx) ? IONF_ERR_INTERRUPTED : IONF_OK;
}

/* Where to ask next: a step behind `p`, or at `end` when that is nearer. */
static inline const uint8_t *
ionf_step_end(const uint8_t *p, const uint8_t *end)
{
    return (size_t)(end - p) > IONF_STEP_BYTES ? p + IONF_STEP_BYTES : end;
}

/* A step has ended at `p`: the next one ends at `*bound`, if the owner wants to go on. */
IONF_MUST_CHECK static inline ionf_status
ionf_step_next(const ionf_alloc *a, const uint8_t *p, const uint8_t *end, const uint8_t **bound)
{
    *bound = ionf_step_end(p, end);
    return ionf_alloc_ask(a);
}

/* Grow the array `*ptr` of `*cap` items of `item_size` bytes to hold at least `needed` items, at
 * least doubling it. On failure nothing has changed. */
IONF_MUST_CHECK ionf_status ionf_alloc_grow(const ionf_alloc *a, void **ptr, size_t *cap,
                                            size_t needed, size_t item_size);

#endif
