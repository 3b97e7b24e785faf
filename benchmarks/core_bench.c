/* The core alone: a full traversal of a document, every scalar decoded, no Python. core_rs and core_java
 * hold the same for ion-rs and ion-java. Takes lines of a count and a file of binary or text Ion on standard
 * input, and answers with that many times in microseconds of the thread's CPU time.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ionf_bin_read.h"
#include "ionf_txt_read.h"

static double
now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void *
heap_alloc(void *ctx, size_t size)
{
    (void)ctx;
    return malloc(size);
}

static void *
heap_realloc(void *ctx, void *block, size_t old_size, size_t size)
{
    (void)ctx;
    (void)old_size;
    return realloc(block, size);
}

static void
heap_free(void *ctx, void *block, size_t size)
{
    (void)ctx;
    (void)size;
    free(block);
}

/* Something of each scalar, so that none is skipped. */
static uint64_t
use(const ionf_token *t)
{
    switch (t->kind) {
    case IONF_KIND_INT:
        return t->as.integer.u64;
    case IONF_KIND_FLOAT: {
        uint64_t bits;
        memcpy(&bits, &t->as.f64, sizeof bits);
        return bits;
    }
    case IONF_KIND_STRING:
        return t->as.bytes.len + t->is_ascii;
    case IONF_KIND_DECIMAL:
        return t->as.decimal.coefficient.u64;
    case IONF_KIND_TIMESTAMP:
        return (uint64_t)t->as.timestamp.year;
    default:
        return t->kind;
    }
}

static uint64_t
read_binary(ionf_bin_reader *r, const ionf_slice *in, const ionf_limits *limits)
{
    uint64_t sum = 0;
    ionf_token t;
    ionf_bin_reader_open(r, in->data, in->len, true, limits, NULL);
    while (ionf_bin_next(r, &t) == IONF_OK && t.kind != IONF_KIND_EOF) {
        sum += use(&t);
    }
    sum = r->base.error.status == IONF_OK ? sum : 0;
    ionf_bin_reader_reset(r);
    return sum;
}

static uint64_t
read_text(ionf_txt_reader *r, ionf_buf *scratch, const ionf_slice *in, const ionf_limits *limits)
{
    uint64_t sum = 0;
    ionf_token t;
    r->scratch = scratch;
    ionf_txt_reader_open(r, in->data, in->len, true, limits, NULL);
    while (ionf_txt_next(r, &t) == IONF_OK && t.kind != IONF_KIND_EOF) {
        sum += use(&t);
    }
    sum = r->base.error.status == IONF_OK ? sum : 0;
    ionf_txt_reader_reset(r);
    return sum;
}

/* What is kept between documents, as a decoder of the pool keeps it. */
typedef struct readers {
    ionf_bin_reader bin;
    ionf_txt_reader txt;
    ionf_buf scratch;
    uint64_t sum; /* keeps the work honest */
} readers;

static bool
run(readers *r, const ionf_slice *in, int rounds)
{
    const ionf_limits limits = ionf_limits_default();
    const bool is_binary = in->len != 0 && in->data[0] == 0xE0;
    for (int i = 0; i < rounds; i++) {
        const double start = now_us();
        const uint64_t sum = is_binary ? read_binary(&r->bin, in, &limits)
                                       : read_text(&r->txt, &r->scratch, in, &limits);
        const double end = now_us();
        if (sum == 0) {
            return false;
        }
        r->sum += sum;
        printf("%s%.1f", i == 0 ? "" : " ", end - start);
    }
    printf("\n");
    return fflush(stdout) == 0;
}

static bool
run_file(readers *r, const char *path, int rounds)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
        return false;
    }
    const size_t len = (size_t)ftell(file);
    uint8_t *data = malloc(len + 1);
    rewind(file);
    const bool is_read = data != NULL && fread(data, 1, len, file) == len;
    fclose(file);
    const ionf_slice in = {data, len};
    const bool is_done = is_read && run(r, &in, rounds);
    free(data);
    return is_done;
}

int
main(void)
{
    const ionf_alloc alloc = {heap_alloc, heap_realloc, heap_free, NULL, NULL};
    readers r = {.sum = 0};
    char line[4096];
    ionf_bin_reader_init(&r.bin, alloc);
    ionf_txt_reader_init(&r.txt, alloc);
    ionf_buf_init(&r.scratch, alloc);
    while (fgets(line, sizeof line, stdin) != NULL) {
        char *path = strchr(line, ' ');
        line[strcspn(line, "\n")] = '\0';
        if (path == NULL || !run_file(&r, path + 1, atoi(line))) {
            fprintf(stderr, "cannot read: %s\n", line);
            return 1;
        }
    }
    ionf_bin_reader_destroy(&r.bin);
    ionf_txt_reader_destroy(&r.txt);
    ionf_buf_destroy(&r.scratch);
    return r.sum == 42;
}
