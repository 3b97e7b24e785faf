/* The text writer. Specification: spec.md, text.md and its grammar, symbols.md, stringclob.md. */
#include "ionf_txt_write.h"

#include <assert.h>

#include "ionf_b64.h"
#include "ionf_txt_put.h"

static void
set_defaults(ionf_txt_writer *w)
{
    w->out = NULL;
    w->depth = 0;
    w->max_depth = IONF_DEFAULT_MAX_DEPTH;
    w->is_pretty = false;
    w->indent = "  ";
    w->top_separator = "\n";
    w->has_value = false;
    w->has_prefix = false;
    w->is_reserved = false;
}

void
ionf_txt_writer_init(ionf_txt_writer *w, ionf_alloc alloc)
{
    set_defaults(w);
    w->frames = NULL;
    w->frame_cap = 0;
    w->alloc = alloc;
}

void
ionf_txt_writer_reset(ionf_txt_writer *w)
{
    set_defaults(w);
}

void
ionf_txt_writer_destroy(ionf_txt_writer *w)
{
    ionf_alloc_free(&w->alloc, w->frames, w->frame_cap);
    ionf_txt_writer_init(w, w->alloc);
}

size_t
ionf_txt_writer_retained(const ionf_txt_writer *w)
{
    return w->frame_cap;
}

ionf_kind
ionf_txt_writer_kind(const ionf_txt_writer *w, uint32_t depth)
{
    assert(depth <= w->depth);
    return depth == 0 ? IONF_KIND_NULL : (ionf_kind)(w->frames[depth - 1] & ~IONF_TXT_HAS_CHILD);
}

/* ---- what stands between values */

static ionf_status
append_newline(ionf_txt_writer *w, uint32_t depth)
{
    const size_t indent_len = strlen(w->indent);
    size_t len;
    if (!ionf_size_mul(indent_len, depth, &len) || !ionf_size_add(len, 1, &len)) {
        return IONF_ERR_NOMEM;
    }
    const ionf_status status = ionf_buf_reserve(w->out, len);
    if (status != IONF_OK) {
        return status;
    }
    uint8_t *dst = w->out->data + w->out->len;
    *dst++ = '\n';
    for (uint32_t i = 0; i < depth; i++) {
        memcpy(dst, w->indent, indent_len);
        dst += indent_len;
    }
    w->out->len += len;
    return IONF_OK;
}

/* What separates the next element from what stands before it. */
static ionf_status
separate(ionf_txt_writer *w)
{
    if (w->depth == 0) {
        const bool is_first = !w->has_value;
        w->has_value = true;
        if (is_first) {
            return IONF_OK;
        }
        const char *const separator = w->top_separator;
        return IONF_LIKELY(separator[1] == 0)
                   ? ionf_buf_push(w->out, (uint8_t)separator[0])
                   : ionf_buf_append(w->out, separator, strlen(separator));
    }
    uint8_t *const frame = &w->frames[w->depth - 1];
    const bool is_first = (*frame & IONF_TXT_HAS_CHILD) == 0;
    const bool is_sexp = (*frame & ~IONF_TXT_HAS_CHILD) == IONF_KIND_SEXP;
    *frame |= IONF_TXT_HAS_CHILD;
    if (!is_first && !(is_sexp && w->is_pretty)) {
        const ionf_status status = ionf_buf_push(w->out, is_sexp ? ' ' : ',');
        if (IONF_UNLIKELY(status != IONF_OK)) {
            return status;
        }
    }
    return w->is_pretty ? append_newline(w, w->depth) : IONF_OK;
}

/* The start of every value: separate it, unless a field name or annotation has been; then reserve
 * `len` bytes for it. */
static inline ionf_status
start_value(ionf_txt_writer *w, size_t len)
{
    if (!w->has_prefix) {
        const ionf_status status = separate(w);
        if (IONF_UNLIKELY(status != IONF_OK)) {
            return status;
        }
    }
    w->has_prefix = false;
    return ionf_buf_reserve(w->out, len);
}

static ionf_status
write_ascii(ionf_txt_writer *w, const char *text, size_t len)
{
    const ionf_status status = start_value(w, len);
    if (IONF_UNLIKELY(status != IONF_OK)) {
        return status;
    }
    return ionf_buf_append(w->out, text, len);
}

/* ---- quoted text */

/* Longest output of put_escape. */
#define ESCAPE_MAX 4

static uint8_t *
put_escape(uint8_t *dst, uint8_t byte)
{
    static const char hex[] = "0123456789abcdef";
    static const char letters[] = "0......abtnvfr.";
    *dst++ = '\\';
    if (byte == '"' || byte == '\'' || byte == '\\') {
        *dst++ = byte;
    } else if (byte < sizeof letters - 1 && letters[byte] != '.') {
        *dst++ = (uint8_t)letters[byte];
    } else {
        *dst++ = 'x';
        *dst++ = (uint8_t)hex[byte >> 4];
        *dst++ = (uint8_t)hex[byte & 15];
    }
    return dst;
}

/* Append `len` bytes, with escapes, between `quote`s. Names are written in one step however long: whoever
 * owns them need not expect to be asked. */
static ionf_status
append_quoted(ionf_buf *out, const uint8_t *text, size_t len, uint8_t quote, bool is_clob)
{
    const size_t slack = ESCAPE_MAX + IONF_TXT_PUT_SLACK + 2;
    ionf_status status = ionf_buf_reserve(out, len + slack);
    if (IONF_UNLIKELY(status != IONF_OK)) {
        return status;
    }
    out->data[out->len++] = quote;
    size_t i = 0;
    const bool has_steps = quote == '"' && len > IONF_STEP_BYTES;
    size_t stop = has_steps ? IONF_STEP_BYTES : len;
    while (i < len) {
        uint8_t *dst = out->data + out->len;
        const size_t plain = ionf_txt_copy_plain(dst, text + i, stop - i, quote, is_clob);
        dst += plain;
        i += plain;
        if (i < stop) {
            dst = put_escape(dst, text[i++]);
        }
        out->len = (size_t)(dst - out->data);
        status = ionf_buf_reserve(out, len - i + slack);
        if (status == IONF_OK && i == stop && i < len) {
            stop = len - i > IONF_STEP_BYTES ? i + IONF_STEP_BYTES : len;
            status = ionf_alloc_ask(&out->alloc);
        }
        if (IONF_UNLIKELY(status != IONF_OK)) {
            return status;
        }
    }
    out->data[out->len++] = quote;
    return IONF_OK;
}

/* ---- symbols */

static inline bool
is_digit(uint8_t byte)
{
    return (uint8_t)(byte - '0') < 10;
}

/* A-Z, a-z, 0-9, _ and $. One test a byte, as every field name goes through it. */
static inline bool
is_identifier_byte(uint8_t byte)
{
    static const uint64_t bits[4] = {
        UINT64_C(1) << '$' | UINT64_C(0x3FF) << '0',
        UINT64_C(0x3FFFFFF) << ('A' - 64) | UINT64_C(1) << ('_' - 64) |
            UINT64_C(0x3FFFFFF) << ('a' - 64),
    };
    return (bits[byte >> 6] >> (byte & 63) & 1) != 0;
}

static bool
is_keyword(const uint8_t *text, size_t len)
{
    switch (len) {
    case 3:
        return memcmp(text, "nan", 3) == 0;
    case 4:
        return memcmp(text, "null", 4) == 0 || memcmp(text, "true", 4) == 0;
    case 5:
        return memcmp(text, "false", 5) == 0;
    default:
        return false;
    }
}

/* Number of digits that `text` starts with. */
static size_t
count_digits(const uint8_t *text, size_t len)
{
    size_t count = 0;
    while (count < len && is_digit(text[count])) {
        count++;
    }
    return count;
}

bool
ionf_txt_symbol_needs_quotes(const uint8_t *text, size_t len)
{
    if (len == 0 || is_digit(text[0])) {
        return true;
    }
    for (size_t i = 0; i < len; i++) {
        if (!is_identifier_byte(text[i])) {
            return true;
        }
    }
    if (text[0] == '$') {
        return len > 1 && count_digits(text + 1, len - 1) == len - 1;
    }
    return is_keyword(text, len);
}

/* $ion_<digits>_<digits> */
static bool
looks_like_ivm(const uint8_t *text, size_t len)
{
    if (len < 8 || memcmp(text, "$ion_", 5) != 0) {
        return false;
    }
    const size_t major = count_digits(text + 5, len - 5);
    const size_t at = 5 + major;
    if (major == 0 || at == len || text[at] != '_') {
        return false;
    }
    const size_t minor_len = len - at - 1;
    return minor_len != 0 && count_digits(text + at + 1, minor_len) == minor_len;
}

static ionf_status
append_sid(ionf_buf *out, uint64_t sid)
{
    const ionf_status status = ionf_buf_reserve(out, 1 + IONF_U64_TEXT_MAX);
    if (status != IONF_OK) {
        return status;
    }
    out->data[out->len++] = '$';
    out->len += ionf_num_print_u64(out->data + out->len, sid);
    return IONF_OK;
}

static ionf_status
append_symbol(ionf_buf *out, const ionf_symref *symbol, bool is_quoted)
{
    if (symbol->text == NULL) {
        return append_sid(out, symbol->sid);
    }
    if (is_quoted || ionf_txt_symbol_needs_quotes(symbol->text, symbol->len)) {
        return append_quoted(out, symbol->text, symbol->len, '\'', false);
    }
    return ionf_buf_append(out, symbol->text, symbol->len);
}

static bool
names_symbol_table(const ionf_symref *symbol)
{
    static const char name[] = "$ion_symbol_table";
    if (symbol->text == NULL) {
        return symbol->sid == IONF_SID_ION_SYMBOL_TABLE;
    }
    return symbol->len == sizeof name - 1 && memcmp(symbol->text, name, sizeof name - 1) == 0;
}

static bool
is_version_marker(const ionf_symref *symbol)
{
    if (symbol->text == NULL) {
        return symbol->sid == IONF_SID_ION_1_0;
    }
    return symbol->len == 8 && memcmp(symbol->text, "$ion_1_0", 8) == 0;
}

ionf_status
ionf_txt_write_field(ionf_txt_writer *w, const ionf_symref *name)
{
    assert(!w->has_prefix && w->depth != 0);
    ionf_status status = start_value(w, 0);
    if (IONF_UNLIKELY(status != IONF_OK)) {
        return status;
    }
    status = append_symbol(w->out, name, false);
    if (IONF_UNLIKELY(status != IONF_OK)) {
        return status;
    }
    w->has_prefix = true;
    return ionf_buf_append(w->out, ": ", w->is_pretty ? 2 : 1);
}

ionf_status
ionf_txt_write_annotation(ionf_txt_writer *w, const ionf_symref *name)
{
    if (w->depth == 0 && !w->has_prefix) {
        w->is_reserved = names_symbol_table(name);
    }
    ionf_status status = start_value(w, 0);
    if (IONF_UNLIKELY(status != IONF_OK)) {
        return status;
    }
    status = append_symbol(w->out, name, false);
    if (IONF_UNLIKELY(status != IONF_OK)) {
        return status;
    }
    w->has_prefix = true;
    return ionf_buf_append(w->out, "::", 2);
}

ionf_status
ionf_txt_write_symbol(ionf_txt_writer *w, const ionf_symref *symbol)
{
    bool is_quoted = false;
    if (w->depth == 0 && !w->has_prefix) {
        if (is_version_marker(symbol)) {
            return IONF_ERR_RESERVED;
        }
        is_quoted = symbol->text != NULL && looks_like_ivm(symbol->text, symbol->len);
    }
    const ionf_status status = start_value(w, 0);
    if (IONF_UNLIKELY(status != IONF_OK)) {
        return status;
    }
    return append_symbol(w->out, symbol, is_quoted);
}

/* ---- scalars */

/* Is the next value a top-level one whose first annotation is $ion_symbol_table? */
static inline bool
stands_for_symbol_table(const ionf_txt_writer *w)
{
    return w->depth == 0 && w->has_prefix && w->is_reserved;
}

ionf_status
ionf_txt_write_null(ionf_txt_writer *w, ionf_kind kind)
{
    static const char *const names[] = {
        "null",           "null.bool",   "null.int",    "null.float", "null.decimal",
        "null.timestamp", "null.symbol", "null.string", "null.clob",  "null.blob",
        "null.list",      "null.sexp",   "null.struct",
    };
    assert(kind <= IONF_KIND_STRUCT);
    if (kind == IONF_KIND_STRUCT && stands_for_symbol_table(w)) {
        return IONF_ERR_RESERVED;
    }
    return write_ascii(w, names[kind], strlen(names[kind]));
}

ionf_status
ionf_txt_write_bool(ionf_txt_writer *w, bool value)
{
    return value ? write_ascii(w, "true", 4) : write_ascii(w, "false", 5);
}

static ionf_status
write_signed(ionf_txt_writer *w, bool is_negative, uint64_t magnitude)
{
    const ionf_status status = start_value(w, 1 + IONF_U64_TEXT_MAX);
    if (IONF_UNLIKELY(status != IONF_OK)) {
        return status;
    }
    uint8_t *dst = w->out->data + w->out->len;
    *dst = '-';
    dst += is_negative;
    w->out->len += is_negative + ionf_num_print_u64(dst, magnitude);
    return IONF_OK;
}

ionf_status
ionf_txt_write_i64(ionf_txt_writer *w, int64_t value)
{
    return write_signed(w, value < 0, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

ionf_status
ionf_txt_write_integer(ionf_txt_writer *w, const ionf_integer *value)
{
    if (value->form == IONF_INT_U64) {
        return write_signed(w, value->is_negative && value->u64 != 0, value->u64);
    }
    const ionf_status status = start_value(w, 1);
    if (status != IONF_OK) {
        return status;
    }
    if (value->is_negative) {
        w->out->data[w->out->len++] = '-';
    }
    return ionf_num_integer_to_digits(value, w->out);
}

ionf_status
ionf_txt_write_double(ionf_txt_writer *w, double value)
{
    const ionf_status status = start_value(w, IONF_DOUBLE_TEXT_MAX);
    if (IONF_UNLIKELY(status != IONF_OK)) {
        return status;
    }
    const uint8_t *const end = ionf_num_print_double(w->out->data + w->out->len, value);
    w->out->len = (size_t)(end - w->out->data);
    return IONF_OK;
}

ionf_status
ionf_txt_write_decimal(ionf_txt_writer *w, const ionf_decimal *value)
{
    const ionf_status status = start_value(w, 0);
    return status != IONF_OK ? status : ionf_dec_print(value, w->out);
}

ionf_status
ionf_txt_write_timestamp(ionf_txt_writer *w, const ionf_timestamp *value)
{
    const ionf_status status = start_value(w, 0);
    return status != IONF_OK ? status : ionf_ts_print(value, w->out);
}

ionf_status
ionf_txt_write_string(ionf_txt_writer *w, const uint8_t *text, size_t len)
{
    const ionf_status status = start_value(w, 0);
    if (IONF_UNLIKELY(status != IONF_OK)) {
        return status;
    }
    return append_quoted(w->out, text, len, '"', false);
}

ionf_status
ionf_txt_write_lob(ionf_txt_writer *w, ionf_kind kind, const uint8_t *data, size_t len)
{
    assert(kind == IONF_KIND_CLOB || kind == IONF_KIND_BLOB);
    ionf_status status = write_ascii(w, "{{", 2);
    if (status != IONF_OK) {
        return status;
    }
    status = kind == IONF_KIND_CLOB ? append_quoted(w->out, data, len, '"', true)
                                    : ionf_b64_encode(data, len, w->out);
    if (status != IONF_OK) {
        return status;
    }
    return ionf_buf_append(w->out, "}}", 2);
}

/* ---- containers */

ionf_status
ionf_txt_write_begin(ionf_txt_writer *w, ionf_kind kind)
{
    assert(ionf_kind_is_container(kind));
    if (w->depth >= w->max_depth) {
        return IONF_ERR_DEPTH;
    }
    if (kind == IONF_KIND_STRUCT && stands_for_symbol_table(w)) {
        return IONF_ERR_RESERVED;
    }
    if (IONF_UNLIKELY(w->depth == w->frame_cap)) {
        void *frames = w->frames;
        const ionf_status status =
            ionf_alloc_grow(&w->alloc, &frames, &w->frame_cap, (size_t)w->depth + 1, 1);
        w->frames = frames;
        if (status != IONF_OK) {
            return status;
        }
    }
    const ionf_status status = start_value(w, 1);
    if (IONF_UNLIKELY(status != IONF_OK)) {
        return status;
    }
    w->out->data[w->out->len++] = (uint8_t)"[({"[kind - IONF_KIND_LIST];
    w->frames[w->depth++] = (uint8_t)kind;
    return IONF_OK;
}

ionf_status
ionf_txt_write_end(ionf_txt_writer *w)
{
    if (IONF_UNLIKELY(w->depth == 0 || w->has_prefix)) {
        return IONF_ERR_STATE;
    }
    const uint8_t frame = w->frames[w->depth - 1];
    const unsigned kind = frame & ~IONF_TXT_HAS_CHILD;
    if (w->is_pretty && (frame & IONF_TXT_HAS_CHILD) != 0) {
        const ionf_status status = append_newline(w, w->depth - 1);
        if (IONF_UNLIKELY(status != IONF_OK)) {
            return status;
        }
    }
    const ionf_status status = ionf_buf_push(w->out, (uint8_t)"])}"[kind - IONF_KIND_LIST]);
    w->depth -= status == IONF_OK;
    return status;
}

/* ---- what stands before the values */

ionf_status
ionf_txt_write_raw(ionf_txt_writer *w, const char *text, size_t len)
{
    return write_ascii(w, text, len);
}

/* A field of the symbol table; its name is an identifier. */
static ionf_status
write_system_field(ionf_txt_writer *w, uint64_t sid)
{
    const ionf_slice text = ionf_system_symbol(sid);
    const ionf_symref name = {text.data, text.len, sid, true};
    return ionf_txt_write_field(w, &name);
}

static ionf_status
write_uint_field(ionf_txt_writer *w, uint64_t sid, uint64_t value)
{
    const ionf_status status = write_system_field(w, sid);
    return status != IONF_OK ? status : write_signed(w, false, value);
}

static ionf_status
write_import(ionf_txt_writer *w, const ionf_symmap_import *import)
{
    const ionf_shared *const shared = import->shared;
    ionf_status status = ionf_txt_write_begin(w, IONF_KIND_STRUCT);
    if (status == IONF_OK) {
        status = write_system_field(w, IONF_SID_NAME);
    }
    if (status == IONF_OK) {
        status = ionf_txt_write_string(w, shared->name.data, shared->name.len);
    }
    if (status == IONF_OK) {
        status = write_uint_field(w, IONF_SID_VERSION, shared->version);
    }
    if (status == IONF_OK) {
        status = write_uint_field(w, IONF_SID_MAX_ID, import->length);
    }
    return status != IONF_OK ? status : ionf_txt_write_end(w);
}

static ionf_status
write_imports(ionf_txt_writer *w, const ionf_symmap *map)
{
    ionf_status status = write_system_field(w, IONF_SID_IMPORTS);
    if (status == IONF_OK) {
        status = ionf_txt_write_begin(w, IONF_KIND_LIST);
    }
    for (size_t i = 0; status == IONF_OK && i < map->import_count; i++) {
        status = write_import(w, &map->imports[i]);
    }
    return status != IONF_OK ? status : ionf_txt_write_end(w);
}

/* Text spells its symbols, so of the local ones only a gap needs to be declared. */
static bool
has_leading_gap(const ionf_symmap *map)
{
    return map->local_count != 0 && ionf_symmap_local(map, 0).data == NULL;
}

static ionf_status
write_gap(ionf_txt_writer *w)
{
    ionf_status status = write_system_field(w, IONF_SID_SYMBOLS);
    if (status == IONF_OK) {
        status = ionf_txt_write_begin(w, IONF_KIND_LIST);
    }
    if (status == IONF_OK) {
        status = ionf_txt_write_null(w, IONF_KIND_NULL);
    }
    return status != IONF_OK ? status : ionf_txt_write_end(w);
}

static ionf_status
write_table(ionf_txt_writer *w, const ionf_symmap *map)
{
    static const char annotation[] = "$ion_symbol_table::";
    ionf_status status = write_ascii(w, annotation, sizeof annotation - 1);
    w->has_prefix = true;
    w->is_reserved = false;
    if (status == IONF_OK) {
        status = ionf_txt_write_begin(w, IONF_KIND_STRUCT);
    }
    if (status == IONF_OK && map->import_count != 0) {
        status = write_imports(w, map);
    }
    if (status == IONF_OK && has_leading_gap(map)) {
        status = write_gap(w);
    }
    return status != IONF_OK ? status : ionf_txt_write_end(w);
}

ionf_status
ionf_txt_write_head(ionf_txt_writer *w, const ionf_symmap *map, bool with_ivm)
{
    assert(w->depth == 0 && !w->has_prefix);
    if (with_ivm) {
        const ionf_status status = write_ascii(w, "$ion_1_0", 8);
        if (status != IONF_OK) {
            return status;
        }
    }
    if (map->import_count == 0 && !has_leading_gap(map)) {
        return IONF_OK;
    }
    /* The limit is for the user's values. */
    const uint32_t max_depth = w->max_depth;
    w->max_depth = IONF_DEFAULT_MAX_DEPTH;
    const ionf_status status = write_table(w, map);
    w->max_depth = max_depth;
    return status;
}

/* ---- undoing */

ionf_txt_mark
ionf_txt_writer_mark(const ionf_txt_writer *w)
{
    const ionf_txt_mark mark = {
        .out_len = w->out->len,
        .depth = w->depth,
        .frame = w->depth == 0 ? (uint8_t)0 : w->frames[w->depth - 1],
        .has_value = w->has_value,
        .has_prefix = w->has_prefix,
        .is_reserved = w->is_reserved,
    };
    return mark;
}

void
ionf_txt_writer_rollback(ionf_txt_writer *w, const ionf_txt_mark *mark)
{
    assert(mark->depth <= w->depth && mark->out_len <= w->out->len);
    w->out->len = mark->out_len;
    w->depth = mark->depth;
    if (w->depth != 0) {
        w->frames[w->depth - 1] = mark->frame;
    }
    w->has_value = mark->has_value;
    w->has_prefix = mark->has_prefix;
    w->is_reserved = mark->is_reserved;
}
