/* ionf_pool: exclusive take, reset on give, caps by count and bytes, counters, threads. */
#include "ct.h"

#include <pthread.h>

#include "ionf_pool.h"

/* An object that knows how it was treated. */
typedef struct item {
    ct_heap *heap;
    size_t bytes; /* what it claims to retain */
    int resets;
    int owners; /* 1 while taken */
} item;

static void *
item_create(void *ctx)
{
    ct_heap *heap = ctx;
    item *object = ct_heap_alloc(heap, sizeof *object);
    if (object != NULL) {
        const item fresh = {heap, 100, 0, 0};
        *object = fresh;
    }
    return object;
}

static void
item_reset(void *object)
{
    ((item *)object)->resets++;
}

static void
item_destroy(void *object)
{
    ct_heap_free(((item *)object)->heap, object, sizeof(item));
}

static size_t
item_retained(const void *object)
{
    return ((const item *)object)->bytes;
}

static ionf_pool_type
item_type(ct_heap *heap)
{
    const ionf_pool_type type = {item_create, item_reset, item_destroy, item_retained, heap};
    return type;
}

static void
check_stats(ionf_pool *pool, unsigned takes, unsigned misses, unsigned gives, unsigned drops,
            size_t idle, size_t idle_bytes)
{
    ionf_pool_stats stats;
    ionf_pool_stats_get(pool, &stats);
    CHECK_INT(stats.takes, takes);
    CHECK_INT(stats.misses, misses);
    CHECK_INT(stats.hits, takes - misses);
    CHECK_INT(stats.gives, gives);
    CHECK_INT(stats.drops, drops);
    CHECK_INT(stats.idle, idle);
    CHECK_INT(stats.idle_bytes, idle_bytes);
}

static void
take_gives_the_last_object_back_after_a_reset(void)
{
    ct_heap heap = {.fail_at = -1};
    ionf_pool pool;
    ionf_pool_init(&pool, item_type(&heap), 4, 1000, 10000);
    item *first = ionf_pool_take(&pool);
    CHECK_INT(first->resets, 0);
    ionf_pool_give(&pool, first);
    CHECK_INT(first->resets, 1);
    CHECK(ionf_pool_take(&pool) == first);
    check_stats(&pool, 2, 1, 1, 0, 0, 0);
    ionf_pool_give(&pool, first);
    check_stats(&pool, 2, 1, 2, 0, 1, 100);
    ionf_pool_clear(&pool);
    CHECK_INT(heap.live_blocks, 0);
    CHECK_INT(heap.calls, 1);
}

static void
two_takes_never_share_an_object(void)
{
    ct_heap heap = {.fail_at = -1};
    ionf_pool pool;
    ionf_pool_init(&pool, item_type(&heap), 4, 1000, 10000);
    item *first = ionf_pool_take(&pool);
    item *second = ionf_pool_take(&pool);
    CHECK(first != second);
    ionf_pool_give(&pool, first);
    ionf_pool_give(&pool, second);
    CHECK(ionf_pool_take(&pool) == second); /* the warmest first */
    CHECK(ionf_pool_take(&pool) == first);
    check_stats(&pool, 4, 2, 2, 0, 0, 0);
    ionf_pool_give(&pool, first);
    ionf_pool_give(&pool, second);
    ionf_pool_clear(&pool);
    CHECK_INT(heap.live_blocks, 0);
}

/* Take `count` objects, then give all of them. */
static void
churn(ionf_pool *pool, size_t count)
{
    item *taken[IONF_POOL_MAX_IDLE + 8];
    for (size_t i = 0; i < count; i++) {
        taken[i] = ionf_pool_take(pool);
    }
    for (size_t i = 0; i < count; i++) {
        ionf_pool_give(pool, taken[i]);
    }
}

static void
the_count_is_capped(void)
{
    ct_heap heap = {.fail_at = -1};
    ionf_pool pool;
    ionf_pool_init(&pool, item_type(&heap), 3, 1000, 10000);
    churn(&pool, 5);
    check_stats(&pool, 5, 5, 5, 2, 3, 300);
    CHECK_INT(heap.live_blocks, 3);
    ionf_pool_clear(&pool);
    check_stats(&pool, 5, 5, 5, 2, 0, 0);
    CHECK_INT(heap.live_blocks, 0);
}

static void
the_count_has_a_ceiling_of_its_own(void)
{
    ct_heap heap = {.fail_at = -1};
    ionf_pool pool;
    ionf_pool_init(&pool, item_type(&heap), SIZE_MAX, SIZE_MAX, SIZE_MAX);
    churn(&pool, IONF_POOL_MAX_IDLE + 2);
    CHECK_INT(heap.live_blocks, IONF_POOL_MAX_IDLE);
    ionf_pool_clear(&pool);
    CHECK_INT(heap.live_blocks, 0);
}

static void
the_bytes_are_capped(void)
{
    ct_heap heap = {.fail_at = -1};
    ionf_pool pool;
    ionf_pool_init(&pool, item_type(&heap), 8, 1000, 250);
    churn(&pool, 4);
    check_stats(&pool, 4, 4, 4, 2, 2, 200);
    ionf_pool_clear(&pool);
    CHECK_INT(heap.live_blocks, 0);
}

static void
a_giant_object_is_not_kept(void)
{
    ct_heap heap = {.fail_at = -1};
    ionf_pool pool;
    ionf_pool_init(&pool, item_type(&heap), 8, 1000, 10000);
    item *object = ionf_pool_take(&pool);
    object->bytes = 1001;
    ionf_pool_give(&pool, object);
    check_stats(&pool, 1, 1, 1, 1, 0, 0);
    CHECK_INT(heap.live_blocks, 0);
}

static void
a_pool_of_none_keeps_none(void)
{
    ct_heap heap = {.fail_at = -1};
    ionf_pool pool;
    ionf_pool_init(&pool, item_type(&heap), 0, 1000, 10000);
    churn(&pool, 1);
    check_stats(&pool, 1, 1, 1, 1, 0, 0);
}

static void
disabled_creates_and_destroys_every_time(void)
{
    ct_heap heap = {.fail_at = -1};
    ionf_pool pool;
    ionf_pool_init(&pool, item_type(&heap), 8, 1000, 10000);
    churn(&pool, 1);
    pool.is_disabled = true;
    churn(&pool, 1);
    churn(&pool, 1);
    check_stats(&pool, 3, 3, 3, 2, 1, 100);
    pool.is_disabled = false;
    churn(&pool, 1); /* the one from before is still there */
    check_stats(&pool, 4, 3, 4, 2, 1, 100);
    CHECK_INT(heap.calls, 3);
    ionf_pool_clear(&pool);
    CHECK_INT(heap.live_blocks, 0);
}

static void
configure_destroys_what_is_over_the_new_caps(void)
{
    ct_heap heap = {.fail_at = -1};
    ionf_pool pool;
    ionf_pool_init(&pool, item_type(&heap), 8, 1000, 10000);
    churn(&pool, 5);
    ionf_pool_configure(&pool, 2, 1000, 10000);
    check_stats(&pool, 5, 5, 5, 0, 2, 200);
    CHECK_INT(heap.live_blocks, 2);
    ionf_pool_configure(&pool, 2, 99, 10000);
    check_stats(&pool, 5, 5, 5, 0, 0, 0);
    CHECK_INT(heap.live_blocks, 0);
}

static void
configure_keeps_the_warmest_hot(void)
{
    ct_heap heap = {.fail_at = -1};
    ionf_pool pool;
    ionf_pool_init(&pool, item_type(&heap), 8, 1000, 10000);
    item *first = ionf_pool_take(&pool);
    item *second = ionf_pool_take(&pool);
    ionf_pool_give(&pool, first);
    ionf_pool_give(&pool, second);
    ionf_pool_configure(&pool, 1, 1000, 10000);
    CHECK(ionf_pool_take(&pool) == second);
    ionf_pool_give(&pool, second);
    ionf_pool_clear(&pool);
    CHECK_INT(heap.live_blocks, 0);
}

/* An object of `bytes`, given alone: kept? */
static bool
is_kept(ionf_pool *pool, size_t bytes)
{
    ionf_pool_stats stats;
    item *object = ionf_pool_take(pool);
    ionf_pool_stats_get(pool, &stats);
    const uint64_t drops = stats.drops;
    object->bytes = bytes;
    ionf_pool_give(pool, object);
    ionf_pool_stats_get(pool, &stats);
    return stats.drops == drops;
}

/* Whatever the caps are and however they changed, to the byte. */
static void
caps_hold_to_the_byte(void)
{
    static const size_t caps[] = {0, 1, 99, 100, 101, 250, 1000, SIZE_MAX - 1, SIZE_MAX};
    const size_t count = sizeof caps / sizeof caps[0];
    ct_heap heap = {.fail_at = -1};
    ionf_pool pool;
    ionf_pool_init(&pool, item_type(&heap), 8, 1000, 10000);
    for (size_t i = 0; i < count * count * 3; i++) {
        const size_t max_idle = i % 3, each = caps[i / 3 % count], all = caps[i / 3 / count];
        ionf_pool_configure(&pool, max_idle, each, all);
        for (size_t n = 0; n < count - 1; n++) { /* nothing retains SIZE_MAX */
            ionf_pool_clear(&pool);
            CHECK_INT(is_kept(&pool, caps[n]), max_idle != 0 && caps[n] <= each && caps[n] <= all);
        }
        ionf_pool_clear(&pool);
        churn(&pool, 2);
        ionf_pool_stats stats;
        ionf_pool_stats_get(&pool, &stats);
        const size_t fit = all / 100 < 2 ? all / 100 : 2;
        CHECK_INT(stats.idle, each < 100 ? 0 : fit < max_idle ? fit : max_idle);
    }
    ionf_pool_clear(&pool);
    CHECK_INT(heap.live_blocks, 0);
}

static void
a_failing_create_is_a_miss_and_gives_null(void)
{
    ct_heap heap = {.fail_at = 0};
    ionf_pool pool;
    ionf_pool_init(&pool, item_type(&heap), 8, 1000, 10000);
    CHECK(ionf_pool_take(&pool) == NULL);
    check_stats(&pool, 1, 1, 0, 0, 0, 0);
    churn(&pool, 1);
    check_stats(&pool, 2, 2, 1, 0, 1, 100);
    ionf_pool_clear(&pool);
    CHECK_INT(heap.live_blocks, 0);
}

/* ---- threads: run under -fsanitize=thread as well ------------------------------------------ */

#define THREADS 4
#define ROUNDS 20000

static void
mutex_lock(void *ctx)
{
    pthread_mutex_lock(ctx);
}

static void
mutex_unlock(void *ctx)
{
    pthread_mutex_unlock(ctx);
}

/* Objects for threads use malloc: ct_heap counts without atomics. */
static void *
plain_create(void *ctx)
{
    (void)ctx;
    return calloc(1, sizeof(item));
}

/* Writes the object without atomics: two owners at once would be a race that TSan reports. */
static void *
worker(void *ctx)
{
    ionf_pool *pool = ctx;
    size_t errors = 0;
    for (int i = 0; i < ROUNDS; i++) {
        item *held[3];
        const size_t count = (size_t)(i % 3) + 1;
        for (size_t n = 0; n < count; n++) {
            held[n] = ionf_pool_take(pool);
            errors += held[n]->owners++ != 0;
        }
        for (size_t n = 0; n < count; n++) {
            errors += --held[n]->owners != 0;
            ionf_pool_give(pool, held[n]);
        }
        if (i % 1000 == 0) {
            ionf_pool_stats stats;
            ionf_pool_stats_get(pool, &stats);
            errors += stats.idle > 5;
        }
        if (i % 5000 == 0) {
            ionf_pool_configure(pool, 4, 1000, 10000);
            ionf_pool_clear(pool);
        }
    }
    return errors == 0 ? NULL : ctx;
}

static void
threads_own_what_they_take(void)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    const ionf_pool_type type = {plain_create, item_reset, free, item_retained, NULL};
    ionf_pool pool;
    ionf_pool_init(&pool, type, 4, 1000, 10000);
    pool.lock = mutex_lock;
    pool.unlock = mutex_unlock;
    pool.lock_ctx = &mutex;
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++) {
        CHECK_INT(pthread_create(&threads[i], NULL, worker, &pool), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        void *result;
        CHECK_INT(pthread_join(threads[i], &result), 0);
        CHECK(result == NULL);
    }
    ionf_pool_clear(&pool);
}

int
main(void)
{
    RUN(take_gives_the_last_object_back_after_a_reset);
    RUN(two_takes_never_share_an_object);
    RUN(the_count_is_capped);
    RUN(the_count_has_a_ceiling_of_its_own);
    RUN(the_bytes_are_capped);
    RUN(a_giant_object_is_not_kept);
    RUN(a_pool_of_none_keeps_none);
    RUN(disabled_creates_and_destroys_every_time);
    RUN(configure_destroys_what_is_over_the_new_caps);
    RUN(configure_keeps_the_warmest_hot);
    RUN(caps_hold_to_the_byte);
    RUN(a_failing_create_is_a_miss_and_gives_null);
    RUN(threads_own_what_they_take);
    return ct_end();
}
