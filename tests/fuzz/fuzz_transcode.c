/* Target: what has been read, written and read again is the same data; written as binary a second time
 * it is the same bytes. Binary and text both ways, in one segment and in many, with a catalog and
 * without. */
#include "fuzz.h"
#include "ionf_transcode.h"

typedef struct writers {
    ionf_bin_writer bin;
    ionf_txt_writer txt;
    ionf_buf body, out;
    ionf_transcoder t;
    bool flushes;
} writers;

static void
writers_open(writers *w, ionf_alloc alloc, bool is_binary, uint8_t options)
{
    memset(w, 0, sizeof *w);
    ionf_bin_writer_init(&w->bin, alloc);
    ionf_txt_writer_init(&w->txt, alloc);
    ionf_buf_init(&w->body, alloc);
    ionf_buf_init(&w->out, alloc);
    w->bin.body = &w->body;
    w->bin.preallocate = options % 3;
    w->txt.out = &w->out;
    w->txt.is_pretty = options % 2 == 0;
    w->txt.indent = "  ";
    w->txt.top_separator = options % 5 == 0 ? " " : "\n";
    w->flushes = (options & 8) != 0;
    ionf_transcoder_init(&w->t, alloc, &w->bin, &w->txt, is_binary, is_binary ? &w->out : NULL,
                         (options & 4) != 0);
}

static void
writers_close(writers *w)
{
    ionf_transcoder_destroy(&w->t);
    ionf_bin_writer_destroy(&w->bin);
    ionf_txt_writer_destroy(&w->txt);
    ionf_buf_destroy(&w->body);
    ionf_buf_destroy(&w->out);
}

static ionf_status
feed(writers *w, fuzz_reader *r, const uint8_t *data, size_t size, const ionf_catalog *catalog)
{
    const ionf_limits limits = ionf_limits_default();
    fuzz_reader_open(r, fuzz_is_binary(data, size), data, size, true, &limits, catalog);
    ionf_status status = IONF_OK;
    while (status == IONF_OK) {
        ionf_token token;
        FUZZ_CHECK(fuzz_next(r, &token) == IONF_OK);
        if (token.kind == IONF_KIND_EOF) {
            return ionf_transcode_finish(&w->t);
        }
        status = ionf_transcode_token(&w->t, &fuzz_base(r)->symtab, &token);
        if (status == IONF_OK && w->flushes && ionf_transcode_depth(&w->t) == 0) {
            status = ionf_transcode_flush(&w->t);
        }
    }
    /* What cannot be written as a value, or is too long in text: see ionf_transcode.h. */
    FUZZ_CHECK(status == IONF_ERR_RESERVED || status == IONF_ERR_RANGE);
    ionf_transcode_abandon(&w->t);
    FUZZ_CHECK(ionf_transcode_depth(&w->t) == 0);
    return status;
}

/* `data` again as `is_binary` says; its data is `wanted`. False when it has no such form. */
static bool
transcode(const uint8_t *data, size_t size, const ionf_catalog *catalog, bool is_binary,
          uint8_t options, const fuzz_log *wanted, ionf_buf *out)
{
    const ionf_alloc alloc = ionf_alloc_libc();
    fuzz_reader r;
    writers w;
    fuzz_reader_init(&r, alloc);
    writers_open(&w, alloc, is_binary, options);
    const bool is_done = feed(&w, &r, data, size, catalog) == IONF_OK;
    fuzz_reader_reset(&r);
    if (is_done) {
        const ionf_limits limits = ionf_limits_default();
        fuzz_log log;
        fuzz_log_init(&log, alloc, false);
        /* Text without a single value may be empty, which is neither encoding. */
        fuzz_reader_open(&r, is_binary, w.out.data, w.out.len, true, &limits, catalog);
        FUZZ_CHECK(fuzz_read_all(&r, &log) == IONF_OK);
        FUZZ_CHECK(fuzz_log_equals(wanted, &log));
        fuzz_log_destroy(&log);
        FUZZ_CHECK(ionf_buf_append(out, w.out.data, w.out.len) == IONF_OK);
    }
    fuzz_reader_destroy(&r);
    writers_close(&w);
    return is_done;
}

static void
check_both(const uint8_t *data, size_t size, const ionf_catalog *catalog, uint8_t options,
           const fuzz_log *wanted)
{
    ionf_buf binary, text, again;
    ionf_buf_init(&binary, ionf_alloc_libc());
    ionf_buf_init(&text, ionf_alloc_libc());
    ionf_buf_init(&again, ionf_alloc_libc());
    if (transcode(data, size, catalog, true, options, wanted, &binary)) {
        const uint8_t other = options ^ 1; /* another preallocation */
        FUZZ_CHECK(transcode(binary.data, binary.len, catalog, true, other, wanted, &again));
        FUZZ_CHECK(catalog != NULL || (options & 8) != 0 ||
                   (again.len == binary.len && memcmp(again.data, binary.data, again.len) == 0));
    }
    again.len = 0;
    if (transcode(data, size, catalog, false, options, wanted, &text) && text.len != 0) {
        FUZZ_CHECK(transcode(text.data, text.len, catalog, true, options, wanted, &again));
    }
    ionf_buf_destroy(&binary);
    ionf_buf_destroy(&text);
    ionf_buf_destroy(&again);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t options = (uint8_t)size;
    for (size_t i = 0; i < size; i++) {
        options = (uint8_t)(options * 31 + data[i]);
    }
    const ionf_catalog *const catalog = options & 16 ? fuzz_catalog() : NULL;
    const ionf_limits limits = ionf_limits_default();
    fuzz_reader r;
    fuzz_log log;
    fuzz_reader_init(&r, ionf_alloc_libc());
    fuzz_log_init(&log, ionf_alloc_libc(), false);
    fuzz_reader_open(&r, fuzz_is_binary(data, size), data, size, true, &limits, catalog);
    if (fuzz_read_all(&r, &log) == IONF_OK) {
        check_both(data, size, catalog, options, &log);
    }
    fuzz_log_destroy(&log);
    fuzz_reader_destroy(&r);
    fuzz_catalog_end();
    return 0;
}
