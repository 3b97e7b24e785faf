/* The pool: a hot slot that one atomic exchange takes or gives, and a bounded stack behind it.
 * Knows nothing of its objects but the four functions of their type, and calls none of them under
 * the lock. */
#include "ionf_pool.h"

/* Under the caller's lock a load and a store, at half the price of an atomic addition. */
static void
count_up(const ionf_pool *pool, _Atomic(uint64_t) *counter)
{
    if (IONF_LIKELY(pool->lock == NULL)) {
        const uint64_t value = atomic_load_explicit(counter, memory_order_relaxed);
        atomic_store_explicit(counter, value + 1, memory_order_relaxed);
    } else {
        atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
    }
}

static size_t
load_size(const _Atomic(size_t) *value)
{
    return atomic_load_explicit(value, memory_order_relaxed);
}

static void
store_size(_Atomic(size_t) *target, size_t value)
{
    atomic_store_explicit(target, value, memory_order_relaxed);
}

static void
lock_take(ionf_pool *pool)
{
    if (pool->lock != NULL) {
        pool->lock(pool->lock_ctx);
    }
}

static void
lock_give(ionf_pool *pool)
{
    if (pool->unlock != NULL) {
        pool->unlock(pool->lock_ctx);
    }
}

/* Put `object` into the hot slot and give what was there. Where the caller's lock is around every call
 * (the GIL) two plain moves do, at a fifth of the exchange's price. */
static void *
hot_exchange(ionf_pool *pool, void *object)
{
    if (IONF_LIKELY(pool->lock == NULL)) {
        void *const old = atomic_load_explicit(&pool->hot, memory_order_relaxed);
        atomic_store_explicit(&pool->hot, object, memory_order_relaxed);
        return old;
    }
    return atomic_exchange_explicit(&pool->hot, object, memory_order_acq_rel);
}

/* Under the lock, after a change of the caps or of what the stack retains, so that giving makes one comparison. */
static void
room_set(ionf_pool *pool)
{
    const size_t used = load_size(&pool->idle_bytes);
    const size_t max_bytes = load_size(&pool->max_bytes);
    const size_t max_object_bytes = load_size(&pool->max_object_bytes);
    size_t room = 0;
    if (load_size(&pool->max_idle) != 0 && used <= max_bytes) {
        const size_t left = max_bytes - used;
        const size_t most = left < max_object_bytes ? left : max_object_bytes;
        room = most == SIZE_MAX ? most : most + 1;
    }
    store_size(&pool->hot_room, room);
}

static void
caps_set(ionf_pool *pool, size_t max_idle, size_t max_object_bytes, size_t max_bytes)
{
    lock_take(pool);
    store_size(&pool->max_idle, max_idle < IONF_POOL_MAX_IDLE ? max_idle : IONF_POOL_MAX_IDLE);
    store_size(&pool->max_object_bytes, max_object_bytes);
    store_size(&pool->max_bytes, max_bytes);
    room_set(pool);
    lock_give(pool);
}

void
ionf_pool_init(ionf_pool *pool, ionf_pool_type type, size_t max_idle, size_t max_object_bytes,
               size_t max_bytes)
{
    memset(pool, 0, sizeof *pool);
    pool->type = type;
    caps_set(pool, max_idle, max_object_bytes, max_bytes);
}

/* The object on top of the stack, or NULL. */
static void *
stack_pop(ionf_pool *pool)
{
    if (load_size(&pool->idle_count) == 0) {
        return NULL; /* the usual miss costs no lock */
    }
    void *object = NULL;
    lock_take(pool);
    const size_t count = load_size(&pool->idle_count);
    if (count != 0) {
        object = pool->idle[count - 1];
        const size_t bytes = pool->idle_bytes_each[count - 1];
        store_size(&pool->idle_bytes, load_size(&pool->idle_bytes) - bytes);
        store_size(&pool->idle_count, count - 1);
        room_set(pool);
    }
    lock_give(pool);
    return object;
}

/* Do `bytes` more fit beside what the stack retains? */
static bool
bytes_fit(const ionf_pool *pool, size_t bytes)
{
    const size_t used = load_size(&pool->idle_bytes);
    const size_t max_bytes = load_size(&pool->max_bytes);
    return used <= max_bytes && bytes <= max_bytes - used;
}

/* Push unless a cap forbids it; `hot_bytes` are retained by the hot slot's object. */
static bool
stack_push(ionf_pool *pool, void *object, size_t bytes, size_t hot_bytes)
{
    size_t total;
    lock_take(pool);
    const size_t count = load_size(&pool->idle_count);
    const bool fits = count + 1 < load_size(&pool->max_idle) &&
                      ionf_size_add(bytes, hot_bytes, &total) && bytes_fit(pool, total);
    if (fits) {
        pool->idle[count] = object;
        pool->idle_bytes_each[count] = bytes;
        store_size(&pool->idle_bytes, load_size(&pool->idle_bytes) + bytes);
        store_size(&pool->idle_count, count + 1);
        room_set(pool);
    }
    lock_give(pool);
    return fits;
}

/* Keep a reset object. The newest is the warmest, so it goes to the hot slot, and the one that was
 * there to the stack. False: `*object` is now the one to destroy. */
static inline bool
keep(ionf_pool *pool, void **object)
{
    const size_t bytes = pool->type.retained(*object);
    if (bytes >= load_size(&pool->hot_room)) {
        return false;
    }
    void *const displaced = hot_exchange(pool, *object);
    if (IONF_LIKELY(displaced == NULL)) {
        return true;
    }
    *object = displaced;
    return stack_push(pool, displaced, pool->type.retained(displaced), bytes);
}

void *
ionf_pool_take(ionf_pool *pool)
{
    count_up(pool, &pool->takes);
    if (IONF_LIKELY(!ionf_pool_is_disabled(pool))) {
        void *object = hot_exchange(pool, NULL);
        if (IONF_UNLIKELY(object == NULL)) {
            object = stack_pop(pool);
        }
        if (IONF_LIKELY(object != NULL)) {
            return object;
        }
    }
    count_up(pool, &pool->misses);
    return pool->type.create(pool->type.ctx);
}

void
ionf_pool_give(ionf_pool *pool, void *object)
{
    count_up(pool, &pool->gives);
    if (IONF_LIKELY(!ionf_pool_is_disabled(pool))) {
        pool->type.reset(object);
        if (IONF_LIKELY(keep(pool, &object))) {
            return;
        }
    }
    count_up(pool, &pool->drops);
    pool->type.destroy(object);
}

void
ionf_pool_clear(ionf_pool *pool)
{
    void *object = hot_exchange(pool, NULL);
    if (object != NULL) {
        pool->type.destroy(object);
    }
    /* As many as there are now: what other threads give meanwhile is theirs to keep. */
    for (size_t left = load_size(&pool->idle_count); left != 0; left--) {
        object = stack_pop(pool);
        if (object != NULL) {
            pool->type.destroy(object);
        }
    }
}

void
ionf_pool_configure(ionf_pool *pool, size_t max_idle, size_t max_object_bytes, size_t max_bytes)
{
    void *objects[IONF_POOL_MAX_IDLE + 1];
    size_t count = 0;
    while (count < IONF_POOL_MAX_IDLE && (objects[count] = stack_pop(pool)) != NULL) {
        count++;
    }
    objects[count] = hot_exchange(pool, NULL);
    count += objects[count] != NULL;
    caps_set(pool, max_idle, max_object_bytes, max_bytes);
    /* Warmest last, so that it ends in the hot slot: the stack came off top first. */
    for (size_t i = 0; i < count; i++) {
        void *object = objects[i];
        if (!keep(pool, &object)) {
            pool->type.destroy(object);
        }
    }
}

void
ionf_pool_stats_get(ionf_pool *pool, ionf_pool_stats *out)
{
    out->takes = atomic_load_explicit(&pool->takes, memory_order_relaxed);
    out->misses = atomic_load_explicit(&pool->misses, memory_order_relaxed);
    out->hits = out->takes > out->misses ? out->takes - out->misses : 0;
    out->gives = atomic_load_explicit(&pool->gives, memory_order_relaxed);
    out->drops = atomic_load_explicit(&pool->drops, memory_order_relaxed);
    out->idle = load_size(&pool->idle_count);
    out->idle_bytes = load_size(&pool->idle_bytes);
    /* Another thread may take the hot object at any time: take it to measure it. */
    void *hot = hot_exchange(pool, NULL);
    if (hot != NULL) {
        out->idle++;
        out->idle_bytes += pool->type.retained(hot);
        if (!keep(pool, &hot)) {
            pool->type.destroy(hot);
        }
    }
}
