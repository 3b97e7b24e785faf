/* Target: read any input, as binary or text by its first byte. Twice, with and without a catalog; the
 * second time with containers skipped as the input's own bytes say, and under small limits. */
#include "fuzz.h"

static void
read_once(const uint8_t *data, size_t size)
{
    fuzz_heap heap;
    const ionf_alloc alloc = fuzz_alloc(&heap, size);
    const ionf_limits limits = ionf_limits_default();
    fuzz_reader r;
    fuzz_log log;
    fuzz_reader_init(&r, alloc);
    fuzz_log_init(&log, ionf_alloc_libc(), true);
    fuzz_reader_open(&r, fuzz_is_binary(data, size), data, size, true, &limits, fuzz_catalog());
    const ionf_status status = fuzz_read_all(&r, &log);
    FUZZ_CHECK(fuzz_base(&r)->error.offset <= size);
    ionf_token token;
    if (status != IONF_OK) { /* the first error is the last word */
        FUZZ_CHECK(fuzz_next(&r, &token) == status);
    } else { /* so is the end */
        FUZZ_CHECK(fuzz_next(&r, &token) == IONF_OK && token.kind == IONF_KIND_EOF);
    }
    fuzz_log_destroy(&log);
    fuzz_reader_destroy(&r);
    fuzz_heap_end(&heap);
    fuzz_catalog_end();
}

static void
read_skipping(const uint8_t *data, size_t size)
{
    fuzz_heap heap;
    const ionf_limits limits = {data[size / 2] % 8, data[size - 1] % 128 + 1};
    fuzz_reader r;
    fuzz_reader_init(&r, fuzz_alloc(&heap, size));
    fuzz_reader_open(&r, fuzz_is_binary(data, size), data, size, true, &limits, NULL);
    for (size_t i = 0;; i++) {
        ionf_token token;
        ionf_status status = fuzz_next(&r, &token);
        if (status == IONF_OK && token.kind == IONF_KIND_EOF) {
            break;
        }
        if (status == IONF_OK && fuzz_base(&r)->depth != 0 && data[i % size] % 4 == 1) {
            status = fuzz_skip(&r);
        }
        if (status != IONF_OK) {
            FUZZ_CHECK(status != IONF_NEED_DATA);
            break;
        }
        FUZZ_CHECK(fuzz_base(&r)->depth <= limits.max_depth);
    }
    fuzz_reader_destroy(&r);
    fuzz_heap_end(&heap);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_once(data, size);
    if (size != 0) {
        read_skipping(data, size);
    }
    return 0;
}
