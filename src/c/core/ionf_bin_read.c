/* The binary reader's careful half: the start of the stream, version markers, padding, annotation
 * wrappers, local symbol tables, long forms, windows that end too soon, and every error. Ion
 * specification, "Ion Binary Encoding". Each check of the fast half is made here as well. */
#include "ionf_bin_read.h"

#include "ionf_varint.h"

/* Only inside this file: what was read is dealt with, and there is no token to give. */
#define KIND_NOTHING 15

#define VERSION_MARKER_SIZE 4

static const uint8_t version_marker[VERSION_MARKER_SIZE] = {0xE0, 0x01, 0x00, 0xEA};

/* ---- life cycle ---------------------------------------------------------------------------- */

static void
stream_clear(ionf_bin_reader *r)
{
    r->limit = r->base.end;
    r->limit_is_end = false;
    r->mode = IONF_BIN_CAREFUL;
    r->has_started = false;
    r->is_skipping = r->skip_leaves = false;
    r->skip_to = 0;
    r->discard_size = 0;
    r->wanted = 0;
}

void
ionf_bin_reader_init(ionf_bin_reader *r, ionf_alloc alloc)
{
    memset(r, 0, sizeof *r);
    ionf_reader_base_init(&r->base, alloc);
    ionf_buf_init(&r->scratch, alloc);
    stream_clear(r);
}

void
ionf_bin_reader_reset(ionf_bin_reader *r)
{
    ionf_reader_base_reset(&r->base);
    ionf_buf_reset(&r->scratch);
    stream_clear(r);
}

void
ionf_bin_reader_destroy(ionf_bin_reader *r)
{
    const ionf_alloc alloc = r->base.alloc;
    ionf_alloc_free(&alloc, r->frames, r->frame_cap * sizeof *r->frames);
    ionf_alloc_free(&alloc, r->annotations, r->annotation_cap * sizeof *r->annotations);
    ionf_buf_destroy(&r->scratch);
    ionf_reader_base_destroy(&r->base);
    ionf_bin_reader_init(r, alloc);
}

size_t
ionf_bin_reader_retained(const ionf_bin_reader *r)
{
    return ionf_reader_base_retained(&r->base) + r->frame_cap * sizeof *r->frames +
           r->annotation_cap * sizeof *r->annotations + r->scratch.cap;
}

static void
frame_limit_update(ionf_bin_reader *r)
{
    const uint64_t max_depth = r->base.limits.max_depth;
    const size_t cap = r->frame_cap < UINT32_MAX ? r->frame_cap : UINT32_MAX;
    r->frame_limit = (uint32_t)(cap < max_depth ? cap : max_depth);
}

void
ionf_bin_reader_open(ionf_bin_reader *r, const uint8_t *data, size_t len, bool is_final,
                     const ionf_limits *limits, const ionf_catalog *catalog)
{
    ionf_reader_base_open(&r->base, data, len, is_final, limits, catalog);
    frame_limit_update(r);
    ionf_bin_limit_update(r);
    if (IONF_LIKELY(len >= VERSION_MARKER_SIZE) &&
        memcmp(data, version_marker, VERSION_MARKER_SIZE) == 0) {
        /* Here, so that the fast half may read the first value: many streams have no other. */
        r->base.p += VERSION_MARKER_SIZE;
        r->has_started = true;
        r->mode = ionf_bin_mode_of_depth(r);
    }
}

void
ionf_bin_reader_window(ionf_bin_reader *r, const uint8_t *data, size_t len, bool is_final)
{
    ionf_reader_base_window(&r->base, data, len, is_final);
    ionf_bin_limit_update(r);
    r->base.lst.content.data = NULL;
}

static void
mode_update(ionf_bin_reader *r)
{
    if (r->base.error.status != IONF_OK || !r->has_started || r->base.in_lst || r->is_skipping) {
        r->mode = IONF_BIN_CAREFUL;
    } else {
        r->mode = ionf_bin_mode_of_depth(r);
    }
}

/* ---- errors and ends of the window --------------------------------------------------------- */

/* Where a step ends at `p`, ask the host. The next one goes to `*bound`. */
static inline ionf_status
look_around(const ionf_bin_reader *r, const uint8_t *p, const uint8_t **bound)
{
    if (IONF_LIKELY(p < *bound)) {
        return IONF_OK;
    }
    return ionf_step_next(&r->base.alloc, p, r->base.end, bound);
}

/* Bytes that may be read on, and what it means to run out of them. */
typedef struct span {
    const uint8_t *limit;
    bool is_end;         /* nothing more belongs to it; false: the window ends first */
    ionf_status overrun; /* the error when is_end */
} span;

IONF_NOINLINE static ionf_status
fail_at(ionf_bin_reader *r, ionf_status status, const uint8_t *at, const char *expected)
{
    const int32_t found = at == r->base.end ? IONF_FOUND_END : (int32_t)*at;
    return ionf_reader_fail(&r->base, status, at, found, expected);
}

/* The window does not hold all of the value that starts at base.p. */
static ionf_status
window_ends(ionf_bin_reader *r)
{
    if (r->base.is_final) {
        return fail_at(r, IONF_ERR_TRUNCATED, r->base.end, NULL);
    }
    const uint64_t size = (uint64_t)(r->base.end - r->base.p);
    if (r->base.depth == 0 && size > r->base.limits.max_value_size) {
        return ionf_reader_fail(&r->base, IONF_ERR_VALUE_SIZE, r->base.p, IONF_FOUND_NONE, NULL);
    }
    return IONF_NEED_DATA;
}

/* More bytes were wanted than the span has. */
static ionf_status
span_ends(ionf_bin_reader *r, const span *s)
{
    if (!s->is_end) {
        return window_ends(r);
    }
    return ionf_reader_fail(&r->base, s->overrun, s->limit, IONF_FOUND_NONE,
                            s->overrun == IONF_ERR_ANNOTATION
                                ? "annotations and one value, as long as the wrapper says"
                                : "the rest of a value before its container ends");
}

static ionf_status
read_varuint(ionf_bin_reader *r, const span *s, const uint8_t **p, uint64_t *out)
{
    const ionf_status status = ionf_varuint_read(p, s->limit, out);
    if (status == IONF_OK) {
        return IONF_OK;
    }
    if (status == IONF_ERR_TRUNCATED) {
        return span_ends(r, s);
    }
    return fail_at(r, status, *p, "a VarUInt of at most 64 bits");
}

static ionf_status
check_sid(ionf_bin_reader *r, uint64_t sid, const uint8_t *at)
{
    if (sid > r->base.symtab.max_id) {
        return ionf_reader_fail(&r->base, IONF_ERR_SID, at, IONF_FOUND_NONE,
                                "a symbol ID of the current symbol table");
    }
    return IONF_OK;
}

/* ---- type descriptor and length ------------------------------------------------------------ */

typedef struct header {
    const uint8_t *start;   /* the type descriptor */
    const uint8_t *content; /* behind the length */
    uint64_t len;           /* of the content, which may reach beyond the window */
    uint8_t type;
    bool is_null;
} header;

/* Is this L allowed for this T? The error otherwise. */
static ionf_status
check_descriptor(ionf_bin_reader *r, const uint8_t *at)
{
    const unsigned len = *at & 15u;
    switch (*at >> 4) {
    case IONF_TYPE_BOOL:
        return len <= 1 || len == 15
                   ? IONF_OK
                   : fail_at(r, IONF_ERR_TYPECODE, at, "0x10, 0x11 or 0x1F for a bool");
    case IONF_TYPE_INT_NEGATIVE:
        return len != 0 ? IONF_OK : fail_at(r, IONF_ERR_INT, at, "a negative int other than 0");
    case IONF_TYPE_FLOAT:
        return len == 0 || len == 4 || len == 8 || len == 15
                   ? IONF_OK
                   : fail_at(r, IONF_ERR_FLOAT, at, "a float of 0, 4 or 8 bytes");
    case IONF_TYPE_TIMESTAMP:
        return len > 1 ? IONF_OK
                       : fail_at(r, IONF_ERR_TIMESTAMP, at, "a timestamp of at least 2 bytes");
    case IONF_TYPE_ANNOTATION:
        return len > 2 && len < 15 ? IONF_OK
                                   : fail_at(r, IONF_ERR_ANNOTATION, at,
                                             "an annotation wrapper of at least 3 bytes");
    case 15:
        return fail_at(r, IONF_ERR_TYPECODE, at, "a type code of Ion 1.0");
    default:
        return IONF_OK;
    }
}

/* Does the length fit what is left of the span? Beyond a window that is not final is fine here. */
static ionf_status
check_len(ionf_bin_reader *r, const span *s, const header *h)
{
    if (h->len <= (uint64_t)(s->limit - h->content)) {
        return IONF_OK;
    }
    uint64_t left = UINT64_MAX - ionf_reader_offset(&r->base, h->content);
    if (r->base.depth != 0) {
        left = r->frames[r->base.depth - 1].end_offset - ionf_reader_offset(&r->base, h->content);
    }
    if (s->is_end || h->len > left) {
        return fail_at(r, s->overrun, h->start, "a length that fits what is around the value");
    }
    return r->base.is_final ? window_ends(r) : IONF_OK;
}

static ionf_status
read_header(ionf_bin_reader *r, const span *s, const uint8_t *p, header *h)
{
    if (p == s->limit) {
        return span_ends(r, s);
    }
    ionf_status status = check_descriptor(r, p);
    if (status != IONF_OK) {
        return status;
    }
    h->start = p;
    h->type = *p >> 4;
    h->len = *p & 15u;
    h->is_null = h->len == 15;
    const bool is_ordered = *p == 0xD1;
    p++;
    if (h->is_null || h->type == IONF_TYPE_BOOL) {
        h->len = 0;
    } else if (h->len == 14 || is_ordered) {
        status = read_varuint(r, s, &p, &h->len);
        if (status != IONF_OK) {
            return status;
        }
        if (is_ordered && h->len == 0) {
            return fail_at(r, IONF_ERR_STRUCT, h->start,
                           "at least one field in an ordered struct");
        }
    }
    h->content = p;
    return check_len(r, s, h);
}

/* ---- scalars ------------------------------------------------------------------------------- */

static ionf_status
scalar_int(ionf_bin_reader *r, const header *h, ionf_token *token)
{
    const bool is_negative = h->type == IONF_TYPE_INT_NEGATIVE;
    ionf_integer *integer = &token->as.integer;
    *integer = ionf_num_integer_from_be(h->content, (size_t)h->len, is_negative);
    if (is_negative && integer->form == IONF_INT_U64 && integer->u64 == 0) {
        return fail_at(r, IONF_ERR_INT, h->start, "a negative int other than 0");
    }
    return IONF_OK;
}

static ionf_status
scalar_symbol(ionf_bin_reader *r, const header *h, ionf_token *token)
{
    const ionf_integer sid = ionf_num_integer_from_be(h->content, (size_t)h->len, false);
    const ionf_symref symbol = {NULL, 0, sid.u64, false};
    token->as.symbol = symbol;
    return check_sid(r, sid.form == IONF_INT_U64 ? sid.u64 : UINT64_MAX, h->start);
}

static ionf_status
fail_at_utf8(ionf_bin_reader *r, const uint8_t *at)
{
    return fail_at(r, IONF_ERR_UTF8, at, "valid UTF-8 in a string");
}

void
ionf_bin_refuse_string(ionf_bin_reader *r, const ionf_token *token, size_t valid)
{
    (void)fail_at_utf8(r, token->as.bytes.data + valid);
    r->mode = IONF_BIN_CAREFUL;
}

static ionf_status
scalar_string(ionf_bin_reader *r, const header *h, ionf_token *token)
{
    const size_t len = (size_t)h->len;
    token->as.bytes.data = h->content;
    token->as.bytes.len = len;
    ionf_utf8_info info;
    size_t valid;
    const ionf_status status =
        ionf_utf8_check_steps(&r->base.alloc, h->content, len, &info, &valid);
    token->is_ascii = info.max_class == 0x7Fu;
    return status != IONF_OK || valid == len ? status : fail_at_utf8(r, h->content + valid);
}

static ionf_status
scalar_decoded(ionf_bin_reader *r, const header *h, ionf_status status)
{
    if (status == IONF_OK) {
        return IONF_OK;
    }
    return ionf_reader_fail(&r->base, status, h->start, IONF_FOUND_NONE, NULL);
}

/* All of the content is in the window. */
static ionf_status
read_scalar(ionf_bin_reader *r, const header *h, ionf_token *token)
{
    const size_t len = (size_t)h->len;
    switch (h->type) {
    case IONF_TYPE_BOOL:
        token->as.boolean = *h->start == 0x11;
        return IONF_OK;
    case IONF_TYPE_INT_POSITIVE:
    case IONF_TYPE_INT_NEGATIVE:
        return scalar_int(r, h, token);
    case IONF_TYPE_FLOAT:
        token->as.f64 = len == 8   ? ionf_bin_float64(ionf_uint_read(h->content, 8))
                        : len == 4 ? ionf_bin_float32((uint32_t)ionf_uint_read(h->content, 4))
                                   : 0.0;
        return IONF_OK;
    case IONF_TYPE_DECIMAL:
        ionf_buf_reset(&r->scratch);
        return scalar_decoded(r, h,
                              ionf_dec_read(h->content, len, &r->scratch, &token->as.decimal));
    case IONF_TYPE_TIMESTAMP:
        return scalar_decoded(r, h, ionf_ts_read(h->content, len, &token->as.timestamp));
    case IONF_TYPE_SYMBOL:
        return scalar_symbol(r, h, token);
    case IONF_TYPE_STRING:
        return scalar_string(r, h, token);
    default:
        token->as.bytes.data = h->content;
        token->as.bytes.len = len;
        return IONF_OK;
    }
}

/* ---- annotations --------------------------------------------------------------------------- */

static ionf_status
push_annotation(ionf_bin_reader *r, ionf_token *token, uint64_t sid)
{
    const ionf_symref annotation = {NULL, 0, sid, false};
    const size_t count = token->annotation_count;
    void *annotations = r->annotations;
    const ionf_status status =
        count == UINT32_MAX ? IONF_ERR_NOMEM
                            : ionf_alloc_grow(&r->base.alloc, &annotations, &r->annotation_cap,
                                              count + 1, sizeof annotation);
    r->annotations = annotations;
    if (status != IONF_OK) {
        return ionf_reader_fail(&r->base, status, r->base.p, IONF_FOUND_NONE, NULL);
    }
    r->annotations[token->annotation_count++] = annotation;
    token->annotations = r->annotations;
    return IONF_OK;
}

/* The SIDs between `p` and `end`, at least one. */
static ionf_status
read_sids(ionf_bin_reader *r, const uint8_t *p, const uint8_t *end, ionf_token *token)
{
    const span sids = {end, true, IONF_ERR_ANNOTATION};
    const uint8_t *bound = ionf_step_end(p, end);
    while (p != end) {
        const uint8_t *const at = p;
        uint64_t sid;
        ionf_status status = look_around(r, p, &bound);
        if (status == IONF_OK) {
            status = read_varuint(r, &sids, &p, &sid);
        }
        if (status == IONF_OK) {
            status = check_sid(r, sid, at);
        }
        if (status == IONF_OK) {
            status = push_annotation(r, token, sid);
        }
        if (status != IONF_OK) {
            return status;
        }
    }
    return IONF_OK;
}

/* The header inside a wrapper: a value, and of exactly the length that is left. */
static ionf_status
read_wrapped_header(ionf_bin_reader *r, const span *s, const uint8_t *p, uint64_t left, header *h)
{
    if (p != s->limit && *p >> 4 == IONF_TYPE_ANNOTATION) {
        return fail_at(r, IONF_ERR_ANNOTATION, p, "a value, not another wrapper, in a wrapper");
    }
    if (p != s->limit && *p < 15) {
        return fail_at(r, IONF_ERR_ANNOTATION, p, "a value, not padding, in a wrapper");
    }
    const ionf_status status = read_header(r, s, p, h);
    if (status != IONF_OK) {
        return status;
    }
    /* Where the window ends before the wrapper does, nothing above has looked at the wrapper's end. */
    const uint64_t header_len = (uint64_t)(h->content - p);
    if (header_len > left) {
        const span inside = {p + left, true, IONF_ERR_ANNOTATION};
        return span_ends(r, &inside);
    }
    if (h->len > left - header_len) {
        return fail_at(r, IONF_ERR_ANNOTATION, p, "a length that fits what is around the value");
    }
    if (h->len != left - header_len) {
        return fail_at(r, IONF_ERR_ANNOTATION, p, "a value that fills its wrapper exactly");
    }
    return IONF_OK;
}

/* `h` is the wrapper's header, and becomes that of the value inside. */
static ionf_status
read_wrapper(ionf_bin_reader *r, header *h, ionf_token *token)
{
    if (h->len < 3) {
        return fail_at(r, IONF_ERR_ANNOTATION, h->start,
                       "an annotation wrapper of at least 3 bytes");
    }
    const uint8_t *p = h->content;
    span inside = {r->limit, false, IONF_ERR_ANNOTATION};
    if (h->len <= (uint64_t)(r->limit - p)) {
        inside.limit = p + h->len;
        inside.is_end = true;
    }
    uint64_t sids_len;
    const ionf_status status = read_varuint(r, &inside, &p, &sids_len);
    if (status != IONF_OK) {
        return status;
    }
    const uint64_t used = (uint64_t)(p - h->content);
    if (sids_len == 0 || used >= h->len || sids_len >= h->len - used) {
        return fail_at(r, IONF_ERR_ANNOTATION, h->content,
                       "at least one annotation, and a value behind them");
    }
    if (sids_len > (uint64_t)(inside.limit - p)) {
        return span_ends(r, &inside);
    }
    const uint8_t *const value = p + sids_len;
    const ionf_status sids_status = read_sids(r, p, value, token);
    if (sids_status != IONF_OK) {
        return sids_status;
    }
    return read_wrapped_header(r, &inside, value, h->len - used - sids_len, h);
}

/* ---- containers and symbol tables ---------------------------------------------------------- */

static ionf_status
check_depth(ionf_bin_reader *r, const uint8_t *at)
{
    uint64_t max_depth = r->base.limits.max_depth;
    if (r->base.in_lst && max_depth < IONF_DEFAULT_MAX_DEPTH) {
        /* The limit is for the user's data, which the symbol table is not. */
        max_depth = IONF_DEFAULT_MAX_DEPTH;
    }
    if (r->base.depth >= max_depth || r->base.depth == UINT32_MAX) {
        return ionf_reader_fail(&r->base, IONF_ERR_DEPTH, at, IONF_FOUND_NONE, NULL);
    }
    void *frames = r->frames;
    const ionf_status status = ionf_alloc_grow(&r->base.alloc, &frames, &r->frame_cap,
                                               (size_t)r->base.depth + 1, sizeof *r->frames);
    r->frames = frames;
    if (status != IONF_OK) {
        return ionf_reader_fail(&r->base, status, at, IONF_FOUND_NONE, NULL);
    }
    frame_limit_update(r);
    return IONF_OK;
}

static ionf_status
enter(ionf_bin_reader *r, const header *h)
{
    const ionf_status status = check_depth(r, h->start);
    if (status != IONF_OK) {
        return status;
    }
    ionf_bin_enter(r, h->content, h->len, h->type == IONF_TYPE_STRUCT);
    ionf_bin_limit_update(r);
    return IONF_OK;
}

/* Is it a struct, or null.struct, at top level whose first annotation is $ion_symbol_table? */
static bool
is_symbol_table(const ionf_bin_reader *r, const ionf_token *token)
{
    if (r->base.depth != 0 || token->kind != IONF_KIND_STRUCT || token->annotation_count == 0) {
        return false;
    }
    const uint64_t sid = token->annotations[0].sid;
    return sid == IONF_SID_ION_SYMBOL_TABLE ||
           (sid > IONF_SYSTEM_MAX_ID &&
            ionf_symtab_is_text(&r->base.symtab, sid, "$ion_symbol_table", 17));
}

/* Start on a local symbol table; done at once when it is null or the last one again. */
static ionf_status
begin_symbol_table(ionf_bin_reader *r, const header *h, ionf_token *token)
{
    token->kind = KIND_NOTHING;
    if (h->is_null) {
        r->base.p = h->content;
        return ionf_reader_lst_null(&r->base, h->start);
    }
    ionf_slice content = {NULL, 0};
    if (h->len <= (uint64_t)(r->limit - h->content)) {
        content.data = h->content;
        content.len = (size_t)h->len;
        if (ionf_symtab_recognise(&r->base.symtab, content.data, content.len)) {
            r->base.p = content.data + content.len;
            return IONF_OK;
        }
    }
    ionf_reader_lst_begin(&r->base);
    r->base.lst.content = content;
    return enter(r, h);
}

/* "$ion_1_0" as a top-level symbol without annotations, which means nothing. */
static bool
is_inert_marker(const ionf_bin_reader *r, const ionf_token *token)
{
    if (token->kind != IONF_KIND_SYMBOL || r->base.depth != 0 || token->annotation_count != 0) {
        return false;
    }
    const uint64_t sid = token->as.symbol.sid;
    return sid == IONF_SID_ION_1_0 ||
           (sid > IONF_SYSTEM_MAX_ID && ionf_symtab_is_text(&r->base.symtab, sid, "$ion_1_0", 8));
}

/* ---- one step ------------------------------------------------------------------------------ */

/* The value of header `h`, which begins with its field name at base.p. */
static ionf_status
read_value(ionf_bin_reader *r, const header *h, ionf_token *token)
{
    token->kind = ionf_bin_kind(h->type);
    token->is_null = h->is_null;
    token->content_len = h->len;
    const uint64_t header_len =
        ionf_reader_offset(&r->base, h->content) - token->offset; /* wrapper included */
    const uint64_t max_size = r->base.limits.max_value_size;
    if (r->base.depth == 0 && (header_len > max_size || h->len > max_size - header_len)) {
        return ionf_reader_fail(&r->base, IONF_ERR_VALUE_SIZE, r->base.p, IONF_FOUND_NONE, NULL);
    }
    if (is_symbol_table(r, token)) {
        return begin_symbol_table(r, h, token);
    }
    if (ionf_kind_is_container(token->kind) && !h->is_null) {
        return enter(r, h);
    }
    if (h->len > (uint64_t)(r->limit - h->content)) {
        r->wanted = ionf_reader_offset(&r->base, h->content) + h->len;
        return window_ends(r);
    }
    if (!h->is_null) {
        const ionf_status status = read_scalar(r, h, token);
        if (status != IONF_OK) {
            return status;
        }
        if (is_inert_marker(r, token)) {
            token->kind = KIND_NOTHING;
        }
    }
    r->base.p = h->content + h->len;
    return IONF_OK;
}

/* At the limit: the container ends, the stream ends, or the window does. */
static ionf_status
read_boundary(ionf_bin_reader *r, ionf_token *token)
{
    token->kind = IONF_KIND_END;
    if (r->limit_is_end) {
        ionf_bin_leave(r);
        return IONF_OK;
    }
    if (r->base.depth != 0 || !r->base.is_final) {
        return window_ends(r);
    }
    token->kind = IONF_KIND_EOF;
    return IONF_OK;
}

static ionf_status
version_fail(ionf_bin_reader *r, const uint8_t *p)
{
    const char *expected = p[1] == 1 && p[2] == 1 ? "Ion 1.0 (version marker E0 01 00 EA), not 1.1"
                                                  : "Ion 1.0 (version marker E0 01 00 EA)";
    return fail_at(r, IONF_ERR_VERSION, p + (p[1] == 1 ? 2 : 1), expected);
}

/* 0xE0 at top level: a version marker, or nothing valid. */
static ionf_status
read_version_marker(ionf_bin_reader *r)
{
    const uint8_t *const p = r->base.p;
    if (r->base.end - p < VERSION_MARKER_SIZE) {
        return window_ends(r);
    }
    if (p[3] != version_marker[3]) {
        return fail_at(r, IONF_ERR_TYPECODE, p, "a value, or the version marker E0 01 00 EA");
    }
    if (memcmp(p, version_marker, VERSION_MARKER_SIZE) != 0) {
        return version_fail(r, p);
    }
    ionf_symtab_ivm(&r->base.symtab);
    r->base.p = p + VERSION_MARKER_SIZE;
    return IONF_OK;
}

/* Go on to skip_to, and out of the container if that was the aim. */
static ionf_status
skip_on(ionf_bin_reader *r)
{
    const uint64_t distance = r->skip_to - ionf_reader_offset(&r->base, r->base.p);
    if (distance > (uint64_t)(r->base.end - r->base.p)) {
        r->base.p = r->base.end;
        return window_ends(r);
    }
    r->base.p += distance;
    r->is_skipping = false;
    if (r->skip_leaves) {
        ionf_bin_leave(r);
    }
    return IONF_OK;
}

/* Padding whose header begins at `p`, behind the field name in a struct. It need not fit the
 * window: there is no reason to collect it. */
static ionf_status
read_padding(ionf_bin_reader *r, const span *s, const uint8_t *p)
{
    header h;
    const ionf_status status = read_header(r, s, p, &h);
    if (status != IONF_OK) {
        return status;
    }
    r->base.p = h.content;
    r->is_skipping = true;
    r->skip_leaves = false;
    r->skip_to = ionf_reader_offset(&r->base, h.content) + h.len;
    return skip_on(r);
}

/* The value at `p`, behind the field name in a struct. */
static ionf_status
read_at(ionf_bin_reader *r, const span *s, const uint8_t *p, ionf_token *token)
{
    header h;
    token->offset = ionf_reader_offset(&r->base, p);
    ionf_status status = read_header(r, s, p, &h);
    if (status == IONF_OK && h.type == IONF_TYPE_ANNOTATION) {
        status = read_wrapper(r, &h, token);
    }
    return status == IONF_OK ? read_value(r, &h, token) : status;
}

/* The next token at base.p, with every check. KIND_NOTHING: go on. */
static ionf_status
read_token(ionf_bin_reader *r, ionf_token *token)
{
    const span here = {r->limit, r->limit_is_end, IONF_ERR_LENGTH};
    const uint8_t *p = r->base.p;
    ionf_bin_token_begin(token, KIND_NOTHING, ionf_reader_offset(&r->base, p), 0);
    token->annotations = NULL;
    token->has_field = false;
    if (p == here.limit) {
        return read_boundary(r, token);
    }
    const bool is_field = r->base.depth != 0 && r->frames[r->base.depth - 1].is_struct;
    uint64_t sid = 0;
    if (is_field) {
        const ionf_status status = read_varuint(r, &here, &p, &sid);
        if (status != IONF_OK) {
            return status;
        }
        if (p == here.limit) {
            return span_ends(r, &here);
        }
    }
    if (*p < 15) {
        return read_padding(r, &here, p); /* the field name of padding means nothing */
    }
    if (*p == version_marker[0] && r->base.depth == 0) {
        return read_version_marker(r);
    }
    if (is_field) {
        const ionf_symref field = {NULL, 0, sid, false};
        const ionf_status status = check_sid(r, sid, r->base.p);
        if (status != IONF_OK) {
            return status;
        }
        token->has_field = true;
        token->field = field;
    }
    return read_at(r, &here, p, token);
}

/* ---- the slow half ------------------------------------------------------------------------- */

/* The stream must begin with a version marker, or be empty. */
static ionf_status
read_start(ionf_bin_reader *r)
{
    const uint8_t *const p = r->base.p;
    const size_t len = (size_t)(r->base.end - p);
    if (len == 0 && r->base.is_final) {
        r->has_started = true;
        return IONF_OK;
    }
    if (len == 0) {
        return IONF_NEED_DATA;
    }
    if (*p != version_marker[0] || (len >= VERSION_MARKER_SIZE && p[3] != version_marker[3])) {
        return fail_at(r, IONF_ERR_NOT_ION, p, "the version marker E0 01 00 EA");
    }
    const ionf_status status = read_version_marker(r);
    r->has_started = status == IONF_OK;
    return status;
}

/* Read on inside a local symbol table until it is committed. */
static ionf_status
read_symbol_table(ionf_bin_reader *r, ionf_token *token)
{
    ionf_reader *base = &r->base;
    const uint8_t *bound = ionf_step_end(base->p, base->end);
    while (base->in_lst) {
        ionf_status status = base->p > bound ? look_around(r, base->p, &bound) : IONF_OK;
        if (status == IONF_OK && r->is_skipping) {
            status = skip_on(r);
        }
        if (status == IONF_OK) {
            status = read_token(r, token);
        }
        if (status != IONF_OK) {
            return status;
        }
        if (token->kind == KIND_NOTHING) {
            continue;
        }
        status =
            ionf_reader_lst_token(base, token, base->start + (token->offset - base->base_offset));
        if (status != IONF_OK) {
            return status;
        }
    }
    const ionf_slice content = base->lst.content;
    if (content.data != NULL && ionf_lst_is_memorable(&base->lst)) {
        ionf_symtab_remember(&base->symtab, content.data, content.len);
    }
    return IONF_OK;
}

/* Has the end of the scalar that was unfinished still not arrived? Without this its annotations would
 * be read again for every byte of it. */
static bool
must_wait(ionf_bin_reader *r)
{
    if (!r->base.is_final && ionf_reader_offset(&r->base, r->base.end) < r->wanted) {
        return true;
    }
    r->wanted = 0;
    return false;
}

static ionf_status
slow_next(ionf_bin_reader *r, ionf_token *token)
{
    const uint8_t *bound = ionf_step_end(r->base.p, r->base.end);
    do {
        token->kind = KIND_NOTHING;
        ionf_status status = r->base.error.status;
        if (status == IONF_OK && IONF_UNLIKELY(r->base.p > bound)) {
            status = look_around(r, r->base.p, &bound);
        }
        if (status == IONF_OK && must_wait(r)) {
            return IONF_NEED_DATA;
        }
        if (status == IONF_OK && !r->has_started) {
            status = read_start(r);
        }
        if (status == IONF_OK && r->base.in_lst) {
            status = read_symbol_table(r, token);
        }
        if (status == IONF_OK && r->is_skipping) {
            status = skip_on(r);
        }
        if (status == IONF_OK) {
            status = read_token(r, token);
        }
        if (status != IONF_OK) {
            return status;
        }
    } while (token->kind == KIND_NOTHING);
    return IONF_OK;
}

ionf_status
ionf_bin_slow(ionf_bin_reader *r, ionf_token *token)
{
    if (ionf_bin_is_at_eof(r)) {
        ionf_bin_token_begin(token, IONF_KIND_EOF, ionf_reader_offset(&r->base, r->base.p), 0);
        token->annotations = NULL;
        token->has_field = false;
        return IONF_OK;
    }
    const ionf_status status = slow_next(r, token);
    mode_update(r);
    return status;
}

ionf_status
ionf_bin_skip(ionf_bin_reader *r)
{
    if (r->base.error.status != IONF_OK) {
        return r->base.error.status;
    }
    if (r->base.depth == 0 || r->base.in_lst) {
        return IONF_ERR_STATE;
    }
    r->is_skipping = true;
    r->skip_leaves = true;
    r->skip_to = r->frames[r->base.depth - 1].end_offset;
    const ionf_status status = skip_on(r);
    mode_update(r);
    return status;
}

/* ---- values that are too large ------------------------------------------------------------- */

/* The first bytes of the value at base.p: its whole size, and whether it may be a symbol table, which
 * must not be passed over. Looks at no more than two VarUInts and an SID. */
static ionf_status
measure(ionf_bin_reader *r, uint64_t *size, bool *is_symtab)
{
    const span all = {r->base.end, false, IONF_ERR_LENGTH};
    header h;
    ionf_status status = read_header(r, &all, r->base.p, &h);
    *is_symtab = false;
    if (status == IONF_OK && h.type == IONF_TYPE_ANNOTATION) {
        const uint8_t *p = h.content;
        uint64_t sid = 0;
        status = read_varuint(r, &all, &p, &sid); /* the length of the SIDs */
        if (status == IONF_OK) {
            status = read_varuint(r, &all, &p, &sid);
        }
        *is_symtab = sid == IONF_SID_ION_SYMBOL_TABLE ||
                     (sid > IONF_SYSTEM_MAX_ID &&
                      ionf_symtab_is_text(&r->base.symtab, sid, "$ion_symbol_table", 17));
    }
    if (status == IONF_OK) {
        *size = (uint64_t)(h.content - h.start) + h.len;
    }
    return status;
}

ionf_status
ionf_bin_measure(ionf_bin_reader *r, uint64_t *size)
{
    const ionf_error error = r->base.error;
    const bool is_final = r->base.is_final;
    bool is_symtab;
    if (error.status != IONF_ERR_VALUE_SIZE) {
        return IONF_ERR_STATE;
    }
    r->base.error.status = IONF_OK;
    r->base.is_final = false; /* an end that comes too soon is found when it is reached */
    const uint64_t max_size = r->base.limits.max_value_size;
    r->base.limits.max_value_size = IONF_UNLIMITED;
    const ionf_status status = measure(r, size, &is_symtab);
    r->base.limits.max_value_size = max_size;
    r->base.is_final = is_final;
    if (status == IONF_NEED_DATA && is_final) {
        return window_ends(r);
    }
    if (status == IONF_OK || status == IONF_NEED_DATA) {
        r->base.error = error;
        return is_symtab ? IONF_ERR_VALUE_SIZE : status;
    }
    return status;
}

ionf_status
ionf_bin_discard(ionf_bin_reader *r, uint64_t *size)
{
    if (r->discard_size == 0) {
        const ionf_status status = ionf_bin_measure(r, size);
        if (status != IONF_OK) {
            return status;
        }
        const ionf_error no_error = {IONF_OK, IONF_FOUND_NONE, 0, 0, 0, NULL};
        r->base.error = no_error;
        r->discard_size = *size;
        r->is_skipping = true;
        r->skip_leaves = false;
        r->skip_to = ionf_reader_offset(&r->base, r->base.p) + *size;
    }
    *size = r->discard_size;
    const ionf_status status = skip_on(r);
    if (status != IONF_NEED_DATA) {
        r->discard_size = 0;
    }
    mode_update(r);
    return status;
}
