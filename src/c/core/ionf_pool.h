/* A pool of reusable objects: decoders, string decoders, byte buffers, encoders.
 *
 * Take means exclusive ownership, give resets; an idle object belongs to nobody. Either all calls are
 * made under one lock of the caller's (the GIL), and `lock` and `unlock` are NULL; or they are set, and
 * threads meet here: then the hot slot is taken and given by one atomic exchange, so that the common
 * case needs no lock, and the slots behind it are used under it. It is never held while foreign code
 * runs.
 *
 *   hot slot  [obj]           the object used last
 *   idle      [obj][obj]...   at most max_idle, at most max_bytes retained
 */
#ifndef IONF_POOL_H
#define IONF_POOL_H

#include <stdatomic.h>

#include "ionf_alloc.h"

/* What a pool must know of its objects. */
typedef struct ionf_pool_type {
    void *(*create)(void *ctx);  /* NULL: out of memory */
    void (*reset)(void *object); /* as new, apart from kept capacity; cannot fail */
    void (*destroy)(void *object);
    size_t (*retained)(const void *object); /* bytes kept by an idle object */
    void *ctx;
} ionf_pool_type;

typedef struct ionf_pool_stats {
    uint64_t takes, hits, misses; /* takes = hits + misses */
    uint64_t gives, drops;        /* drops: destroyed on give, over a cap or while disabled */
    size_t idle;                  /* objects waiting */
    size_t idle_bytes;            /* what they retain */
} ionf_pool_stats;

#define IONF_POOL_MAX_IDLE 64

/* Atomic where threads may meet without the lock; the rest is used under it, or never changes. */
typedef struct ionf_pool {
    ionf_pool_type type;
    _Atomic(void *) hot;            /* owned; NULL: empty */
    void *idle[IONF_POOL_MAX_IDLE]; /* owned; idle_count of them; under the lock */
    size_t idle_bytes_each[IONF_POOL_MAX_IDLE];
    _Atomic(size_t) idle_count;       /* behind the hot slot; written under the lock */
    _Atomic(size_t) idle_bytes;       /* retained by them; written under the lock */
    _Atomic(size_t) max_idle;         /* at most IONF_POOL_MAX_IDLE; the hot slot included */
    _Atomic(size_t) max_object_bytes; /* an object that retains more is destroyed on give */
    _Atomic(size_t) max_bytes;        /* over all idle objects */
    _Atomic(size_t) hot_room; /* an empty hot slot takes what retains less, by all of that */
    /* Create and destroy every time, so that the gain can be measured. May be set at any time. */
    atomic_bool is_disabled;
    /* Exact, each for itself: threads may count between two looks. */
    _Atomic(uint64_t) takes, misses, gives, drops;
    /* Set after init and before use, where the GIL does not do it; both or neither. */
    void (*lock)(void *ctx);
    void (*unlock)(void *ctx);
    void *lock_ctx;
} ionf_pool;

/* Allocates nothing. */
void ionf_pool_init(ionf_pool *pool, ionf_pool_type type, size_t max_idle, size_t max_object_bytes,
                    size_t max_bytes);
/* An object for the caller alone; NULL: out of memory. */
void *ionf_pool_take(ionf_pool *pool);
/* Hand `object` back: reset and kept, or destroyed. `object` must have come from take. */
void ionf_pool_give(ionf_pool *pool, void *object);
/* Destroy all idle objects. The pool itself owns nothing else: this is also how it ends. */
void ionf_pool_clear(ionf_pool *pool);
/* Change the caps; what is over them is destroyed. */
void ionf_pool_configure(ionf_pool *pool, size_t max_idle, size_t max_object_bytes,
                         size_t max_bytes);
void ionf_pool_stats_get(ionf_pool *pool, ionf_pool_stats *out);
static inline bool
ionf_pool_is_disabled(const ionf_pool *pool)
{
    return atomic_load_explicit(&pool->is_disabled, memory_order_relaxed);
}

#endif
