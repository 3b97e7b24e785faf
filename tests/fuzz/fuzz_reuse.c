/* Target: one decoder for all inputs, as a pool gives it out: what it reads depends on the input alone.
 * Now and then it is given up in the middle, and must not notice. */
#include "fuzz.h"

static fuzz_reader shared;
static bool is_open;

static void
read_part(fuzz_reader *r, size_t tokens)
{
    ionf_token token;
    for (size_t i = 0; i < tokens; i++) {
        if (fuzz_next(r, &token) != IONF_OK || token.kind == IONF_KIND_EOF) {
            return;
        }
    }
}

static void
read_logged(fuzz_reader *r, fuzz_log *log, const uint8_t *data, size_t size,
            const ionf_catalog *catalog)
{
    const ionf_limits limits = ionf_limits_default();
    fuzz_reader_open(r, fuzz_is_binary(data, size), data, size, true, &limits, catalog);
    (void)fuzz_read_all(r, log);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!is_open) {
        is_open = true;
        fuzz_reader_init(&shared, ionf_alloc_libc());
    }
    const ionf_limits limits = ionf_limits_default();
    const ionf_catalog *const catalog = size % 2 == 0 ? fuzz_catalog() : NULL;
    fuzz_reader_open(&shared, fuzz_is_binary(data, size), data, size, true, &limits,
                     fuzz_catalog());
    read_part(&shared, size / 3 % 16);
    fuzz_reader_reset(&shared);

    fuzz_log used, fresh;
    fuzz_log_init(&used, ionf_alloc_libc(), true);
    fuzz_log_init(&fresh, ionf_alloc_libc(), true);
    read_logged(&shared, &used, data, size, catalog);
    fuzz_reader_reset(&shared);

    fuzz_heap heap;
    fuzz_reader r;
    fuzz_reader_init(&r, fuzz_alloc(&heap, size));
    read_logged(&r, &fresh, data, size, catalog);
    fuzz_reader_destroy(&r);
    fuzz_heap_end(&heap);
    FUZZ_CHECK(fuzz_log_equals(&used, &fresh));
    fuzz_log_destroy(&used);
    fuzz_log_destroy(&fresh);
    fuzz_catalog_end();
    return 0;
}
