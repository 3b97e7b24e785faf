/* The C tests' harness: checks that count and report, and an allocator that counts and fails on demand.
 *
 * Each tests/c/test_<file>.c has its own main: `int main(void) { RUN(test_one); ...; return ct_end(); }`.
 */
#ifndef CT_H
#define CT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ionf_alloc.h"

static int ct_checks, ct_failures;
static const char *ct_current = "";

#define RUN(test)                                                                                 \
    do {                                                                                          \
        ct_current = #test;                                                                       \
        test();                                                                                   \
    } while (0)

/* Rounds of random input: a fifth where each takes fifty times as long, as under valgrind. */
#ifdef CT_SLOWED
#define CT_ROUNDS(count) ((count) / 5)
#else
#define CT_ROUNDS(count) (count)
#endif

#define CHECK(condition)                                                                          \
    do {                                                                                          \
        ct_checks++;                                                                              \
        if (!(condition)) {                                                                       \
            ct_failures++;                                                                        \
            fprintf(stderr, "%s:%d: %s: not true: %s\n", __FILE__, __LINE__, ct_current,          \
                    #condition);                                                                  \
        }                                                                                         \
    } while (0)

#define CHECK_INT(actual, expected)                                                               \
    do {                                                                                          \
        const long long ct_a = (long long)(actual), ct_b = (long long)(expected);                 \
        ct_checks++;                                                                              \
        if (ct_a != ct_b) {                                                                       \
            ct_failures++;                                                                        \
            fprintf(stderr, "%s:%d: %s: %s is %lld, expected %lld\n", __FILE__, __LINE__,         \
                    ct_current, #actual, ct_a, ct_b);                                             \
        }                                                                                         \
    } while (0)

#define CHECK_BYTES(actual, actual_len, expected, expected_len)                                   \
    do {                                                                                          \
        const size_t ct_n = (size_t)(actual_len), ct_m = (size_t)(expected_len);                  \
        ct_checks++;                                                                              \
        if (ct_n != ct_m || (ct_n != 0 && memcmp((actual), (expected), ct_n) != 0)) {             \
            ct_failures++;                                                                        \
            fprintf(stderr, "%s:%d: %s: %s (%zu bytes) differs from %s (%zu bytes)\n", __FILE__,  \
                    __LINE__, ct_current, #actual, ct_n, #expected, ct_m);                        \
        }                                                                                         \
    } while (0)

/* Counts what is live; fails the allocation number `fail_at` (from 0), or none when negative. Interrupts at
 * question number `stop_at` (from 1), or at none when 0. */
typedef struct ct_heap {
    long long live_bytes, live_blocks, calls, fail_at;
    long long asked, stop_at;
} ct_heap;

static inline bool
ct_heap_is_interrupted(void *ctx)
{
    ct_heap *heap = ctx;
    return ++heap->asked == heap->stop_at;
}

static inline bool
ct_heap_fails(ct_heap *heap)
{
    return heap->calls++ == heap->fail_at;
}

static inline void *
ct_heap_alloc(void *ctx, size_t size)
{
    ct_heap *heap = ctx;
    void *p = ct_heap_fails(heap) ? NULL : malloc(size);
    if (p != NULL) {
        heap->live_bytes += (long long)size;
        heap->live_blocks++;
    }
    return p;
}

static inline void *
ct_heap_realloc(void *ctx, void *ptr, size_t old_size, size_t size)
{
    ct_heap *heap = ctx;
    void *p = ct_heap_fails(heap) ? NULL : realloc(ptr, size);
    if (p != NULL) {
        heap->live_bytes += (long long)size - (long long)old_size;
        heap->live_blocks += ptr == NULL;
    }
    return p;
}

static inline void
ct_heap_free(void *ctx, void *ptr, size_t size)
{
    ct_heap *heap = ctx;
    if (ptr != NULL) {
        heap->live_bytes -= (long long)size;
        heap->live_blocks--;
    }
    free(ptr);
}

static inline ionf_alloc
ct_heap_allocator(ct_heap *heap)
{
    const ionf_alloc a = {ct_heap_alloc, ct_heap_realloc, ct_heap_free, heap,
                          ct_heap_is_interrupted};
    return a;
}

static inline int
ct_end(void)
{
    printf("%d checks, %d failures\n", ct_checks, ct_failures);
    return ct_failures == 0 ? 0 : 1;
}

#endif
