/* Target: one decoder for all inputs, as a pool gives it out: what it reads depends on the input alone.
 * Now and then it is given up in the middle, and must not notice. */
#include "fuzz.h"

static fuzz_reader shared;
static bool is_open;

/* The first `first` bytes, then the rest, up to so many tokens: as a stream that is given up half-way. */
static void
read_part(fuzz_reader *r, const uint8_t *data, size_t size, size_t first, size_t tokens)
{
    const ionf_limits limits = ionf_limits_default();
    fuzz_reader_open(r, fuzz_is_binary(data, size), data, first, false, &limits, fuzz_catalog());
    for (size_t i = 0; i < tokens; i++) {
        ionf_token token;
        ionf_status status = fuzz_next(r, &token);
        if (status == IONF_NEED_DATA && !fuzz_base(r)->is_final) {
            fuzz_reader_rest(r, data, size);
            status = fuzz_next(r, &token);
        }
        if (status != IONF_OK || token.kind == IONF_KIND_EOF) {
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
    const ionf_catalog *const catalog = size % 2 == 0 ? fuzz_catalog() : NULL;
    read_part(&shared, data, size, size == 0 ? 0 : data[size / 2] % size, size / 3 % 16);
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
