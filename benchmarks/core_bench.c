/* The core alone: a full traversal of a document, every scalar decoded, no Python. For comparison with Ion
 * readers in other languages, which do the same. Usage: core_bench FILE... (binary or text Ion).
 * Prints the best and the median of many rounds in microseconds, and a sum that keeps the work honest.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "ionf_bin_read.h"
#include "ionf_txt_read.h"

#define ROUNDS 200

static double
now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
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

static int
compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void
run(const char *path, const ionf_slice *in)
{
    const ionf_alloc alloc = {heap_alloc, heap_realloc, heap_free, NULL};
    const ionf_limits limits = ionf_limits_default();
    const bool is_binary = in->len != 0 && in->data[0] == 0xE0;
    ionf_bin_reader bin;
    ionf_txt_reader txt;
    ionf_buf scratch;
    static double times[ROUNDS];
    uint64_t sum = 0;
    ionf_bin_reader_init(&bin, alloc);
    ionf_txt_reader_init(&txt, alloc);
    ionf_buf_init(&scratch, alloc);
    for (int i = 0; i < ROUNDS; i++) {
        const double start = now_us();
        sum = is_binary ? read_binary(&bin, in, &limits) : read_text(&txt, &scratch, in, &limits);
        times[i] = now_us() - start;
    }
    qsort(times, ROUNDS, sizeof *times, compare_doubles);
    printf("%s\t%s\t%.1f\t%.1f\t%llx\n", path, is_binary ? "binary" : "text", times[0],
           times[ROUNDS / 2], (unsigned long long)sum);
    ionf_bin_reader_destroy(&bin);
    ionf_txt_reader_destroy(&txt);
    ionf_buf_destroy(&scratch);
}

int
main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        FILE *file = fopen(argv[i], "rb");
        if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
            perror(argv[i]);
            return 1;
        }
        const size_t len = (size_t)ftell(file);
        uint8_t *data = malloc(len + 1);
        rewind(file);
        if (data == NULL || fread(data, 1, len, file) != len) {
            perror(argv[i]);
            return 1;
        }
        fclose(file);
        const ionf_slice in = {data, len};
        run(argv[i], &in);
        free(data);
    }
    return 0;
}
