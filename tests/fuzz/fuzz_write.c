/* Target: the input says what to write; both writers write it, with values given up half-way, flushes and
 * allocations that fail; what is read back is what was written, no more and no less. */
#include "fuzz.h"
#include "ionf_bin_write.h"
#include "ionf_txt_write.h"

#define DEPTH_MAX 40
#define TEXT_MAX 48

typedef struct script {
    const uint8_t *p, *end;
} script;

/* The next byte of the script, 0 behind its end. */
static unsigned
draw(script *s)
{
    return s->p == s->end ? 0 : *s->p++;
}

/* A heap that fails when it is told to. */
typedef struct failing_heap {
    fuzz_heap heap;
    ionf_alloc inner;
    unsigned countdown; /* the allocation that fails; 0: none */
} failing_heap;

static bool
fails(failing_heap *heap)
{
    return heap->countdown != 0 && --heap->countdown == 0;
}

static void *
failing_alloc(void *ctx, size_t size)
{
    failing_heap *const heap = ctx;
    return fails(heap) ? NULL : heap->inner.alloc(heap->inner.ctx, size);
}

static void *
failing_realloc(void *ctx, void *ptr, size_t old_size, size_t size)
{
    failing_heap *const heap = ctx;
    return fails(heap) ? NULL : heap->inner.realloc(heap->inner.ctx, ptr, old_size, size);
}

static void
failing_free(void *ctx, void *ptr, size_t size)
{
    failing_heap *const heap = ctx;
    heap->inner.free(heap->inner.ctx, ptr, size);
}

/* One open container, and where the writers stood before it. */
typedef struct level {
    uint8_t kind;
    unsigned wrappers; /* calls of ionf_bin_write_annotations that wait for their end */
    ionf_bin_mark bin;
    ionf_txt_mark txt;
    size_t log_len;
} level;

typedef struct session {
    script s;
    failing_heap heap;
    ionf_bin_writer bin;
    ionf_txt_writer txt;
    ionf_buf body, binary, text;
    fuzz_log log;
    ionf_symtab no_table;
    level levels[DEPTH_MAX];
    size_t depth;
    bool has_marker;
    uint8_t bytes[4][TEXT_MAX]; /* what the token being made refers to */
} session;

static void
open_session(session *w, const uint8_t *data, size_t size)
{
    memset(w, 0, sizeof *w);
    w->s = (script){data, data + size};
    w->heap.inner = fuzz_alloc(&w->heap.heap, size);
    const ionf_alloc alloc = {failing_alloc, failing_realloc, failing_free, &w->heap, NULL};
    ionf_bin_writer_init(&w->bin, alloc);
    ionf_txt_writer_init(&w->txt, alloc);
    ionf_buf_init(&w->body, alloc);
    ionf_buf_init(&w->binary, alloc);
    ionf_buf_init(&w->text, alloc);
    fuzz_log_init(&w->log, ionf_alloc_libc(), false);
    ionf_symtab_init(&w->no_table, ionf_alloc_libc());
    w->bin.body = &w->body;
    w->bin.preallocate = (uint8_t)(draw(&w->s) % 3);
    w->txt.out = &w->text;
    w->txt.is_pretty = draw(&w->s) % 2 != 0;
    w->txt.indent = "\t";
    w->txt.top_separator = "\n";
}

static void
close_session(session *w)
{
    ionf_bin_writer_destroy(&w->bin);
    ionf_txt_writer_destroy(&w->txt);
    ionf_buf_destroy(&w->body);
    ionf_buf_destroy(&w->binary);
    ionf_buf_destroy(&w->text);
    fuzz_log_destroy(&w->log);
    ionf_symtab_destroy(&w->no_table);
    fuzz_heap_end(&w->heap.heap);
}

/* ---- what to write */

static ionf_slice
make_text(session *w, size_t index)
{
    static const char *const texts[] = {"a",
                                        "b",
                                        "",
                                        "$10",
                                        "nan",
                                        "null",
                                        "+",
                                        "h\xC3\xA9",
                                        "\xF0\x9F\x98\x80",
                                        "$ion_symbol_table",
                                        "$ion_1_0",
                                        "name",
                                        "a b",
                                        "'''",
                                        "\\",
                                        "\x01\x7F",
                                        "// x",
                                        "{{",
                                        "imports",
                                        "\xE2\x80\xA8"};
    const unsigned choice = draw(&w->s);
    if (choice < 192) {
        const char *const text = texts[choice % (sizeof texts / sizeof *texts)];
        return (ionf_slice){(const uint8_t *)text, strlen(text)};
    }
    const size_t len = draw(&w->s) % TEXT_MAX;
    for (size_t i = 0; i < len; i++) {
        w->bytes[index][i] = (uint8_t)(draw(&w->s) & 0x7F);
    }
    return (ionf_slice){w->bytes[index], len};
}

static ionf_symref
make_symbol(session *w, size_t index)
{
    const ionf_slice text = make_text(w, index);
    return (ionf_symref){text.data, text.len, 0, ionf_utf8_is_ascii(text.data, text.len)};
}

static ionf_integer
make_integer(session *w, bool may_be_negative)
{
    const unsigned choice = draw(&w->s);
    const bool is_negative = may_be_negative && choice % 2 != 0;
    const size_t len = draw(&w->s) % TEXT_MAX;
    uint8_t *const bytes = w->bytes[3];
    for (size_t i = 0; i < len; i++) {
        bytes[i] = (uint8_t)draw(&w->s);
        bytes[i] = choice % 3 == 0 ? (uint8_t)('0' + bytes[i] % 10) : bytes[i];
    }
    ionf_integer integer = choice % 3 == 0 ? ionf_num_integer_from_digits(bytes, len, is_negative)
                                           : ionf_num_integer_from_be(bytes, len, is_negative);
    return integer;
}

static ionf_timestamp
make_timestamp(session *w)
{
    ionf_timestamp ts = {.month = 1, .day = 1};
    ts.year = (int16_t)(1 + (draw(&w->s) << 8 | draw(&w->s)) % 9999);
    ts.precision = (uint8_t)(1 + draw(&w->s) % 6);
    if (ts.precision >= IONF_PRECISION_MONTH) {
        ts.month = (uint8_t)(1 + draw(&w->s) % 12);
    }
    if (ts.precision >= IONF_PRECISION_DAY) {
        ts.day = (uint8_t)(1 + draw(&w->s) % 31);
    }
    if (ts.precision >= IONF_PRECISION_MINUTE) {
        ts.hour = (uint8_t)(draw(&w->s) % 24);
        ts.minute = (uint8_t)(draw(&w->s) % 60);
        ts.has_offset = draw(&w->s) % 4 != 0;
        ts.offset_minutes =
            ts.has_offset ? (int16_t)((int)((draw(&w->s) << 8 | draw(&w->s)) % 2879) - 1439) : 0;
    }
    if (ts.precision >= IONF_PRECISION_SECOND) {
        ts.second = (uint8_t)(draw(&w->s) % 60);
    }
    if (ts.precision == IONF_PRECISION_FRACTION) {
        ts.fraction = make_integer(w, false);
        ts.fraction_digits = 1 + draw(&w->s);
    }
    return ts;
}

static void
make_scalar(session *w, ionf_token *token)
{
    switch (token->kind) {
    case IONF_KIND_BOOL:
        token->as.boolean = draw(&w->s) % 2 != 0;
        break;
    case IONF_KIND_INT:
        token->as.integer = make_integer(w, true);
        if (token->as.integer.form == IONF_INT_U64 && token->as.integer.u64 == 0) {
            token->as.integer.is_negative = false;
        }
        break;
    case IONF_KIND_FLOAT: {
        uint64_t bits = 0;
        for (size_t i = 0; i < 8; i++) {
            bits = bits << 8 | draw(&w->s);
        }
        memcpy(&token->as.f64, &bits, sizeof bits);
        break;
    }
    case IONF_KIND_DECIMAL:
        token->as.decimal.coefficient = make_integer(w, true);
        token->as.decimal.exponent = (int64_t)draw(&w->s) - 128;
        if (draw(&w->s) % 16 == 0) {
            token->as.decimal.exponent *= INT64_MAX / 128;
        }
        break;
    case IONF_KIND_TIMESTAMP:
        token->as.timestamp = make_timestamp(w);
        break;
    case IONF_KIND_SYMBOL:
        token->as.symbol = make_symbol(w, 3);
        break;
    default: /* string, clob, blob */
        token->as.bytes = make_text(w, 3);
        token->is_ascii = ionf_utf8_is_ascii(token->as.bytes.data, token->as.bytes.len);
    }
}

/* ---- writing it */

static ionf_status
write_names(session *w, ionf_token *token, ionf_symref *annotations, level *l)
{
    uint64_t sids[3];
    ionf_status status = IONF_OK;
    if (token->has_field) {
        status = ionf_txt_write_field(&w->txt, &token->field);
        if (status == IONF_OK) {
            status =
                ionf_symmap_intern(&w->bin.symbols, token->field.text, token->field.len, sids);
        }
        if (status == IONF_OK) {
            status = ionf_bin_write_field(&w->bin, sids[0]);
        }
    }
    const bool is_joined = draw(&w->s) % 2 != 0; /* one wrapper at once, or one call each */
    for (size_t i = 0; status == IONF_OK && i < token->annotation_count; i++) {
        status = ionf_txt_write_annotation(&w->txt, &annotations[i]);
        if (status == IONF_OK) {
            status = ionf_symmap_intern(&w->bin.symbols, annotations[i].text, annotations[i].len,
                                        &sids[i]);
        }
        if (status == IONF_OK && !is_joined) {
            status = ionf_bin_write_annotations(&w->bin, &sids[i], 1);
            l->wrappers += status == IONF_OK;
        }
    }
    if (status == IONF_OK && is_joined && token->annotation_count != 0) {
        status = ionf_bin_write_annotations(&w->bin, sids, token->annotation_count);
        l->wrappers += status == IONF_OK;
    }
    return status;
}

static ionf_status
write_binary(session *w, const ionf_token *token)
{
    const ionf_kind kind = (ionf_kind)token->kind;
    if (token->is_null) {
        return ionf_bin_write_null(&w->bin, kind);
    }
    switch (kind) {
    case IONF_KIND_BOOL:
        return ionf_bin_write_bool(&w->bin, token->as.boolean);
    case IONF_KIND_INT:
        return ionf_bin_write_integer(&w->bin, &token->as.integer);
    case IONF_KIND_FLOAT:
        return ionf_bin_write_double(&w->bin, token->as.f64);
    case IONF_KIND_DECIMAL:
        return ionf_bin_write_decimal(&w->bin, &token->as.decimal);
    case IONF_KIND_TIMESTAMP:
        return ionf_bin_write_timestamp(&w->bin, &token->as.timestamp);
    case IONF_KIND_SYMBOL: {
        uint64_t sid;
        const ionf_status status =
            ionf_symmap_intern(&w->bin.symbols, token->as.symbol.text, token->as.symbol.len, &sid);
        return status == IONF_OK ? ionf_bin_write_symbol(&w->bin, sid) : status;
    }
    case IONF_KIND_STRING:
        return ionf_bin_write_string(&w->bin, token->as.bytes.data, token->as.bytes.len);
    case IONF_KIND_CLOB:
    case IONF_KIND_BLOB:
        return ionf_bin_write_lob(&w->bin, kind, token->as.bytes.data, token->as.bytes.len);
    default:
        return ionf_bin_write_begin(&w->bin, kind);
    }
}

static ionf_status
write_text(session *w, const ionf_token *token)
{
    const ionf_kind kind = (ionf_kind)token->kind;
    if (token->is_null) {
        return ionf_txt_write_null(&w->txt, kind);
    }
    switch (kind) {
    case IONF_KIND_BOOL:
        return ionf_txt_write_bool(&w->txt, token->as.boolean);
    case IONF_KIND_INT:
        return ionf_txt_write_integer(&w->txt, &token->as.integer);
    case IONF_KIND_FLOAT:
        return ionf_txt_write_double(&w->txt, token->as.f64);
    case IONF_KIND_DECIMAL:
        return ionf_txt_write_decimal(&w->txt, &token->as.decimal);
    case IONF_KIND_TIMESTAMP:
        return ionf_txt_write_timestamp(&w->txt, &token->as.timestamp);
    case IONF_KIND_SYMBOL:
        return ionf_txt_write_symbol(&w->txt, &token->as.symbol);
    case IONF_KIND_STRING:
        return ionf_txt_write_string(&w->txt, token->as.bytes.data, token->as.bytes.len);
    case IONF_KIND_CLOB:
    case IONF_KIND_BLOB:
        return ionf_txt_write_lob(&w->txt, kind, token->as.bytes.data, token->as.bytes.len);
    default:
        return ionf_txt_write_begin(&w->txt, kind);
    }
}

static ionf_status
close_wrappers(session *w, level *l)
{
    ionf_status status = IONF_OK;
    while (status == IONF_OK && l->wrappers != 0) {
        status = ionf_bin_write_annotations_end(&w->bin);
        l->wrappers -= status == IONF_OK;
    }
    return status;
}

/* Forget all since `l` began, as a Writer does after an error. */
static void
give_up(session *w, const level *l)
{
    ionf_bin_writer_rollback(&w->bin, &l->bin);
    ionf_txt_writer_rollback(&w->txt, &l->txt);
    w->log.bytes.len = l->log_len;
}

static void
write_end(session *w)
{
    level *const l = &w->levels[w->depth - 1];
    ionf_status status = ionf_bin_write_end(&w->bin);
    if (status == IONF_OK) {
        status = ionf_txt_write_end(&w->txt);
    }
    if (status == IONF_OK) {
        status = close_wrappers(w, l);
    }
    w->depth--;
    if (status != IONF_OK) {
        FUZZ_CHECK(status == IONF_ERR_NOMEM);
        give_up(w, l);
        return;
    }
    const ionf_token end = {.kind = IONF_KIND_END};
    fuzz_log_token(&w->log, &w->no_table, &end);
}

static void
write_value(session *w)
{
    level l = {.bin = ionf_bin_writer_mark(&w->bin),
               .txt = ionf_txt_writer_mark(&w->txt),
               .log_len = w->log.bytes.len};
    ionf_token token = {.kind = (uint8_t)(draw(&w->s) % IONF_KIND_END)};
    ionf_symref annotations[3];
    const unsigned choice = draw(&w->s);
    token.is_null = token.kind == IONF_KIND_NULL || choice % 16 == 0;
    token.annotation_count = choice % 5 == 0 ? choice % 4 : 0;
    for (size_t i = 0; i < token.annotation_count; i++) {
        annotations[i] = make_symbol(w, i);
    }
    token.annotations = annotations;
    token.has_field = w->depth != 0 && w->levels[w->depth - 1].kind == IONF_KIND_STRUCT;
    if (token.has_field) { /* no room of its own: from the table, or of the value's bytes */
        token.field = make_symbol(w, 2);
    }
    const bool is_container = ionf_kind_is_container(token.kind) && !token.is_null;
    if (!token.is_null && !is_container) {
        make_scalar(w, &token);
    }
    if (is_container && w->depth == DEPTH_MAX) {
        return;
    }
    l.kind = token.kind;
    w->heap.countdown = choice % 7 == 0 ? 1 + draw(&w->s) % 4 : 0;
    ionf_status status = write_names(w, &token, annotations, &l);
    if (status == IONF_OK) {
        status = write_binary(w, &token);
    }
    if (status == IONF_OK) {
        status = write_text(w, &token);
    }
    if (status == IONF_OK && !is_container) {
        status = close_wrappers(w, &l);
    }
    w->heap.countdown = 0;
    if (status != IONF_OK) {
        FUZZ_CHECK(status == IONF_ERR_NOMEM || status == IONF_ERR_RESERVED ||
                   (status == IONF_ERR_TIMESTAMP && token.kind == IONF_KIND_TIMESTAMP));
        give_up(w, &l);
        return;
    }
    fuzz_log_token(&w->log, &w->no_table, &token);
    if (is_container) {
        w->levels[w->depth++] = l;
    }
}

/* Finished bytes of the binary writer; a failure in between changes nothing. */
static void
flush(session *w, unsigned choice)
{
    ionf_symmap *const map = &w->bin.symbols;
    const bool with_marker = !w->has_marker || choice % 4 == 0;
    const size_t before = w->binary.len;
    w->heap.countdown = choice % 3 == 0 ? 1 : 0;
    ionf_status status = ionf_symmap_write_binary(map, with_marker, &w->binary);
    w->heap.countdown = 0;
    if (status != IONF_OK) {
        FUZZ_CHECK(status == IONF_ERR_NOMEM && w->binary.len == before);
        status = ionf_symmap_write_binary(map, with_marker, &w->binary);
    }
    const size_t size = ionf_bin_writer_body_size(&w->bin);
    FUZZ_CHECK(status == IONF_OK && ionf_buf_reserve(&w->binary, size) == IONF_OK);
    const uint8_t *const end = ionf_bin_writer_emit(&w->bin, w->binary.data + w->binary.len);
    w->binary.len += size;
    FUZZ_CHECK(end == w->binary.data + w->binary.len);
    ionf_bin_writer_flushed(&w->bin);
    w->has_marker = true;
    if (choice % 16 == 5) {
        ionf_symmap_new_context(map);
        w->has_marker = false;
    }
}

static void
check_output(session *w, bool is_binary, const ionf_buf *output)
{
    const ionf_limits limits = ionf_limits_default();
    fuzz_reader r;
    fuzz_log log;
    fuzz_reader_init(&r, ionf_alloc_libc());
    fuzz_log_init(&log, ionf_alloc_libc(), false);
    fuzz_reader_open(&r, is_binary, output->data, output->len, true, &limits, NULL);
    FUZZ_CHECK(fuzz_read_all(&r, &log) == IONF_OK);
    FUZZ_CHECK(fuzz_log_equals(&w->log, &log));
    fuzz_log_destroy(&log);
    fuzz_reader_destroy(&r);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static session w; /* too large for the stack of a fuzzer */
    open_session(&w, data, size);
    while (w.s.p != w.s.end) {
        const unsigned choice = draw(&w.s);
        if (w.depth != 0 && choice % 8 == 0) {
            write_end(&w);
        } else if (w.depth != 0 && choice % 32 == 1) {
            w.depth = draw(&w.s) % w.depth;
            give_up(&w, &w.levels[w.depth]);
        } else if (w.depth == 0 && choice % 8 == 2) {
            flush(&w, choice / 8);
        } else {
            write_value(&w);
        }
    }
    while (w.depth != 0) {
        write_end(&w);
    }
    flush(&w, 1);
    const ionf_token end = {.kind = IONF_KIND_EOF};
    fuzz_log_token(&w.log, &w.no_table, &end);
    check_output(&w, true, &w.binary);
    check_output(&w, false, &w.text);
    close_session(&w);
    return 0;
}
