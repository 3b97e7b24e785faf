/* The targets' shared half: allocator, catalog, reader and log. */
#include "fuzz.h"

/* ---- memory */

static void
heap_add(fuzz_heap *heap, size_t size)
{
    heap->live += size;
    FUZZ_CHECK(heap->live <= heap->limit);
}

static void *
heap_alloc(void *ctx, size_t size)
{
    FUZZ_CHECK(size != 0);
    heap_add(ctx, size);
    return malloc(size);
}

static void
heap_free(void *ctx, void *ptr, size_t size)
{
    fuzz_heap *const heap = ctx;
    FUZZ_CHECK(ptr == NULL || size <= heap->live);
    heap->live -= ptr == NULL ? 0 : size;
    free(ptr);
}

/* Never in place, so that a pointer kept from before is always found out. */
static void *
heap_realloc(void *ctx, void *ptr, size_t old_size, size_t size)
{
    void *const fresh = heap_alloc(ctx, size);
    if (fresh != NULL && ptr != NULL) {
        memcpy(fresh, ptr, old_size < size ? old_size : size);
        heap_free(ctx, ptr, old_size);
    }
    return fresh;
}

ionf_alloc
fuzz_alloc(fuzz_heap *heap, size_t input_size)
{
    heap->live = 0;
    heap->limit = ((size_t)64 << 20) + 64 * input_size;
    return (ionf_alloc){heap_alloc, heap_realloc, heap_free, heap, NULL};
}

void
fuzz_heap_end(const fuzz_heap *heap)
{
    FUZZ_CHECK(heap->live == 0);
}

/* ---- catalog */

static long retained;

static void
table_retain(const ionf_shared *shared)
{
    (void)shared;
    retained++;
}

static void
table_release(const ionf_shared *shared)
{
    (void)shared;
    FUZZ_CHECK(retained > 0);
    retained--;
}

#define TEXT(literal) {(const uint8_t *)(literal), sizeof(literal) - 1}

static const ionf_slice t_symbols[] = {
    TEXT("a"), TEXT("b"), {NULL, 0}, TEXT("name"), TEXT("h\xC3\xA9")};
static const ionf_slice u_symbols[] = {TEXT("a"), TEXT(""), TEXT("x y")};
static const ionf_shared tables[] = {
    {TEXT("t"), 1, 3, t_symbols, table_retain, table_release, NULL},
    {TEXT("t"), 2, 5, t_symbols, table_retain, table_release, NULL},
    {TEXT("u"), 3, 3, u_symbols, table_retain, table_release, NULL},
};

static const ionf_shared *
catalog_find(void *ctx, ionf_slice name, uint32_t version)
{
    (void)ctx;
    const ionf_shared *best = NULL;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        const ionf_shared *const table = &tables[i];
        const bool is_named = name.len == 1 && name.data[0] == table->name.data[0];
        if (is_named && (best == NULL || best->version != version)) {
            best = table;
        }
    }
    if (best != NULL) {
        best->retain(best);
    }
    return best;
}

const ionf_catalog *
fuzz_catalog(void)
{
    static const ionf_catalog catalog = {catalog_find, NULL};
    return &catalog;
}

void
fuzz_catalog_end(void)
{
    FUZZ_CHECK(retained == 0);
}

/* ---- reader */

void
fuzz_reader_init(fuzz_reader *r, ionf_alloc alloc)
{
    memset(r, 0, sizeof *r);
    ionf_bin_reader_init(&r->bin, alloc);
    ionf_txt_reader_init(&r->txt, alloc);
    ionf_buf_init(&r->scratch, alloc);
}

void
fuzz_reader_reset(fuzz_reader *r)
{
    ionf_bin_reader_reset(&r->bin);
    ionf_txt_reader_reset(&r->txt);
    ionf_buf_reset(&r->scratch);
}

void
fuzz_reader_destroy(fuzz_reader *r)
{
    ionf_bin_reader_destroy(&r->bin);
    ionf_txt_reader_destroy(&r->txt);
    ionf_buf_destroy(&r->scratch);
}

void
fuzz_reader_open(fuzz_reader *r, bool is_binary, const uint8_t *data, size_t size, bool is_final,
                 const ionf_limits *limits, const ionf_catalog *catalog)
{
    r->is_binary = is_binary;
    if (is_binary) {
        ionf_bin_reader_open(&r->bin, data, size, is_final, limits, catalog);
    } else {
        r->txt.scratch = &r->scratch;
        ionf_txt_reader_open(&r->txt, data, size, is_final, limits, catalog);
    }
}

void
fuzz_reader_rest(fuzz_reader *r, const uint8_t *data, size_t size)
{
    if (r->is_binary) {
        const size_t consumed = ionf_bin_reader_release(&r->bin);
        ionf_bin_reader_window(&r->bin, data + consumed, size - consumed, true);
    } else {
        const size_t consumed = ionf_txt_reader_release(&r->txt);
        ionf_txt_reader_window(&r->txt, data + consumed, size - consumed, true);
    }
}

ionf_status
fuzz_next(fuzz_reader *r, ionf_token *token)
{
    return r->is_binary ? ionf_bin_next(&r->bin, token) : ionf_txt_next(&r->txt, token);
}

ionf_status
fuzz_skip(fuzz_reader *r)
{
    return r->is_binary ? ionf_bin_skip(&r->bin) : ionf_txt_skip(&r->txt);
}

/* ---- log */

void
fuzz_log_init(fuzz_log *log, ionf_alloc alloc, bool has_offsets)
{
    ionf_buf_init(&log->bytes, alloc);
    log->has_offsets = has_offsets;
}

void
fuzz_log_destroy(fuzz_log *log)
{
    ionf_buf_destroy(&log->bytes);
}

void
fuzz_log_bytes(fuzz_log *log, const void *data, size_t size)
{
    FUZZ_CHECK(ionf_buf_append(&log->bytes, data, size) == IONF_OK);
}

void
fuzz_log_number(fuzz_log *log, uint64_t value)
{
    fuzz_log_bytes(log, &value, sizeof value);
}

static void
log_text(fuzz_log *log, const uint8_t *text, size_t len, bool is_ascii)
{
    FUZZ_CHECK(ionf_utf8_check(text, len, NULL) == len);
    FUZZ_CHECK(!is_ascii || ionf_utf8_is_ascii(text, len));
    fuzz_log_number(log, len);
    fuzz_log_bytes(log, text, len);
}

/* By text, or by place in an import, or as the symbol that has neither. */
static void
log_symbol(fuzz_log *log, const ionf_symtab *tab, const ionf_symref *symbol)
{
    ionf_symbol found = {0};
    if (symbol->text != NULL) {
        found.text = symbol->text;
        found.len = symbol->len;
        found.is_ascii = symbol->is_ascii;
    } else {
        FUZZ_CHECK(symbol->sid <= tab->max_id);
        FUZZ_CHECK(ionf_symtab_find(tab, symbol->sid, &found) == IONF_OK);
    }
    if (found.text != NULL) {
        fuzz_log_bytes(log, "T", 1);
        log_text(log, found.text, found.len, found.is_ascii);
    } else if (found.import_name.data != NULL) {
        fuzz_log_bytes(log, "I", 1);
        log_text(log, found.import_name.data, found.import_name.len, false);
        fuzz_log_number(log, found.import_sid);
    } else {
        fuzz_log_bytes(log, "0", 1);
    }
}

static void
check_integer(const ionf_integer *integer)
{
    switch (integer->form) {
    case IONF_INT_U64:
        return;
    case IONF_INT_BE:
        FUZZ_CHECK(integer->len > 8 && integer->data[0] != 0);
        return;
    case IONF_INT_DIGITS:
        FUZZ_CHECK(integer->len >= 20 && integer->data[0] != '0');
        for (size_t i = 0; i < integer->len; i++) {
            FUZZ_CHECK(integer->data[i] >= '0' && integer->data[i] <= '9');
        }
        return;
    default:
        FUZZ_CHECK(!"a form");
    }
}

void
fuzz_log_integer(fuzz_log *log, const ionf_integer *integer)
{
    check_integer(integer);
    fuzz_log_bytes(log, integer->is_negative ? "-" : "+", 1);
    const size_t start = log->bytes.len;
    fuzz_log_number(log, 0);
    FUZZ_CHECK(ionf_num_integer_to_be(integer, &log->bytes) == IONF_OK);
    const uint64_t size = log->bytes.len - start - sizeof size;
    memcpy(log->bytes.data + start, &size, sizeof size);
}

static void
log_timestamp(fuzz_log *log, const ionf_timestamp *ts)
{
    FUZZ_CHECK(ionf_ts_is_valid(ts));
    const uint64_t fields[] = {(uint64_t)ts->year, ts->month,      ts->day,
                               ts->hour,           ts->minute,     ts->second,
                               ts->precision,      ts->has_offset, (uint64_t)ts->offset_minutes,
                               ts->fraction_digits};
    fuzz_log_bytes(log, fields, sizeof fields);
    fuzz_log_integer(log, &ts->fraction);
}

static void
log_scalar(fuzz_log *log, const ionf_symtab *tab, const ionf_token *token)
{
    switch (token->kind) {
    case IONF_KIND_BOOL:
        fuzz_log_number(log, token->as.boolean);
        break;
    case IONF_KIND_INT:
        FUZZ_CHECK(token->as.integer.form != IONF_INT_U64 || token->as.integer.u64 != 0 ||
                   !token->as.integer.is_negative);
        fuzz_log_integer(log, &token->as.integer);
        break;
    case IONF_KIND_FLOAT: {
        uint64_t bits;
        memcpy(&bits, &token->as.f64, sizeof bits);
        fuzz_log_number(log, token->as.f64 != token->as.f64 ? 1 : bits);
        break;
    }
    case IONF_KIND_DECIMAL:
        fuzz_log_integer(log, &token->as.decimal.coefficient);
        fuzz_log_number(log, (uint64_t)token->as.decimal.exponent);
        break;
    case IONF_KIND_TIMESTAMP:
        log_timestamp(log, &token->as.timestamp);
        break;
    case IONF_KIND_SYMBOL:
        log_symbol(log, tab, &token->as.symbol);
        break;
    case IONF_KIND_STRING:
        log_text(log, token->as.bytes.data, token->as.bytes.len, token->is_ascii);
        break;
    case IONF_KIND_CLOB:
    case IONF_KIND_BLOB:
        fuzz_log_number(log, token->as.bytes.len);
        fuzz_log_bytes(log, token->as.bytes.data, token->as.bytes.len);
        break;
    default:
        FUZZ_CHECK(token->kind <= IONF_KIND_EOF && token->kind != IONF_KIND_NULL);
    }
}

void
fuzz_log_token(fuzz_log *log, const ionf_symtab *tab, const ionf_token *token)
{
    const uint8_t head[] = {token->kind, token->is_null, token->has_field};
    fuzz_log_bytes(log, head, sizeof head);
    if (log->has_offsets) {
        fuzz_log_number(log, token->offset);
    }
    if (token->has_field) {
        log_symbol(log, tab, &token->field);
    }
    fuzz_log_number(log, token->annotation_count);
    for (size_t i = 0; i < token->annotation_count; i++) {
        log_symbol(log, tab, &token->annotations[i]);
    }
    if (!token->is_null) {
        log_scalar(log, tab, token);
    }
}

void
fuzz_log_error(fuzz_log *log, const ionf_error *error)
{
    fuzz_log_bytes(log, "E", 1);
    fuzz_log_number(log, error->status);
    if (log->has_offsets) {
        fuzz_log_number(log, (uint64_t)(int64_t)error->found);
        fuzz_log_number(log, error->offset);
        fuzz_log_number(log, error->line);
        fuzz_log_number(log, error->column);
    }
}

ionf_status
fuzz_read_all(fuzz_reader *r, fuzz_log *log)
{
    const ionf_reader *const base = fuzz_base(r);
    for (;;) {
        ionf_token token;
        const ionf_status status = fuzz_next(r, &token);
        if (status != IONF_OK) {
            FUZZ_CHECK(status != IONF_NEED_DATA || !base->is_final);
            FUZZ_CHECK(base->error.status == status || status == IONF_NEED_DATA);
            fuzz_log_error(log, &base->error);
            return status;
        }
        FUZZ_CHECK(base->depth <= base->limits.max_depth);
        fuzz_log_token(log, &base->symtab, &token);
        if (token.kind == IONF_KIND_EOF) {
            return IONF_OK;
        }
    }
}

bool
fuzz_log_equals(const fuzz_log *a, const fuzz_log *b)
{
    const size_t size = a->bytes.len < b->bytes.len ? a->bytes.len : b->bytes.len;
    size_t i = 0;
    while (i < size && a->bytes.data[i] == b->bytes.data[i]) {
        i++;
    }
    if (i == a->bytes.len && i == b->bytes.len) {
        return true;
    }
    fprintf(stderr, "logs of %zu and %zu bytes part at %zu\n", a->bytes.len, b->bytes.len, i);
    return false;
}
