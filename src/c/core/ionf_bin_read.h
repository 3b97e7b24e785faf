/* The binary reader: a pull reader over Ion 1.0 binary, hot half inline. Ion specification,
 * "Ion Binary Encoding".
 *
 * ionf_bin_next tries ionf_bin_fast, which knows the plain cases, reports no error and consumes
 * nothing when it gives up; ionf_bin_slow then reads the same value with every check and says what
 * is wrong with it. So the fast half may be incomplete, but never wrong.
 *
 *   struct, field name   annotation wrapper               value
 *   [field SID]          [E.][len][annot_len][SID]...     [td][len][content ......]
 *    ^ base.p: the unit is consumed as a whole or not at all        ^ containers are entered here
 */
#ifndef IONF_BIN_READ_H
#define IONF_BIN_READ_H

#include "ionf_dec.h"
#include "ionf_reader.h"
#include "ionf_ts.h"
#include "ionf_utf8.h"

/* An open container. Its end is a stream offset: the window moves, and may end before it. */
typedef struct ionf_bin_frame_in {
    uint64_t end_offset;
    bool is_struct;
} ionf_bin_frame_in;

/* What the next value may be preceded by. */
typedef enum ionf_bin_mode {
    IONF_BIN_PLAIN = 0,  /* nothing: a list, an s-expression, the top level */
    IONF_BIN_STRUCT = 1, /* a field name */
    IONF_BIN_CAREFUL =
        2 /* something only the slow half deals with: the start, an error, a skip ... */
} ionf_bin_mode;

typedef struct ionf_bin_reader {
    ionf_reader base;
    const uint8_t *limit; /* end of the innermost container, or of the window if that is nearer */
    bool limit_is_end;    /* it is the container's end */
    uint8_t mode;         /* ionf_bin_mode */
    uint32_t frame_limit; /* depth up to which the fast half may enter containers */
    ionf_bin_frame_in *frames; /* owned; base.depth of them in use */
    size_t frame_cap;
    ionf_symref *annotations; /* owned; of the token given last */
    size_t annotation_cap;
    ionf_buf scratch; /* what a decimal's coefficient may borrow from */
    bool has_started; /* the first version marker has been read */
    /* On the way to skip_to, over padding or out of the innermost container (skip_leaves). */
    bool is_skipping, skip_leaves;
    uint64_t skip_to;
    uint64_t wanted;       /* stream offset where an unfinished scalar ends; 0: none */
    uint64_t discard_size; /* of the value that ionf_bin_discard passes over; 0: none */
} ionf_bin_reader;

/* Allocates nothing. The reader must not move in memory afterwards. */
void ionf_bin_reader_init(ionf_bin_reader *r, ionf_alloc alloc);
/* Ready for ionf_bin_reader_open; keeps capacity. Cannot fail. */
void ionf_bin_reader_reset(ionf_bin_reader *r);
void ionf_bin_reader_destroy(ionf_bin_reader *r);
/* Bytes retained, for pools that cap them. */
size_t ionf_bin_reader_retained(const ionf_bin_reader *r);

/* Start on a stream, with its first window. `data` is borrowed until the next window or the reset,
 * `catalog` (may be NULL) until the reset. */
void ionf_bin_reader_open(ionf_bin_reader *r, const uint8_t *data, size_t len, bool is_final,
                          const ionf_limits *limits, const ionf_catalog *catalog);
/* After IONF_NEED_DATA, before the bytes of the window that were consumed go away: gives how many of
 * them there are. What is left must stay until the next window, which may fail to come. */
static inline size_t
ionf_bin_reader_release(ionf_bin_reader *r)
{
    return ionf_reader_base_release(&r->base);
}
/* After IONF_NEED_DATA: a new window; data[0] is the byte that r->base.p pointed at before. */
void ionf_bin_reader_window(ionf_bin_reader *r, const uint8_t *data, size_t len, bool is_final);

/* Leave the innermost container, to just after it, without looking at what is left of it: O(1).
 * IONF_NEED_DATA when its end has not arrived: all of the window is consumed then; call again, or
 * call next, after the next window. IONF_ERR_STATE, not recorded, when no container is open. */
IONF_MUST_CHECK ionf_status ionf_bin_skip(ionf_bin_reader *r);

/* After IONF_ERR_VALUE_SIZE: the size of the value that is too large, header and annotations included.
 * Looks at its first few bytes only: IONF_NEED_DATA while they have not arrived. IONF_ERR_VALUE_SIZE
 * again when it is a symbol table. */
IONF_MUST_CHECK ionf_status ionf_bin_measure(ionf_bin_reader *r, uint64_t *size);
/* After IONF_ERR_VALUE_SIZE: pass over the value without looking at it, forget the error, give the
 * size. On IONF_NEED_DATA call again, and nothing else, after the next window: nothing is kept of what
 * has passed. Other answers as ionf_bin_measure, or the input ends too soon. */
IONF_MUST_CHECK ionf_status ionf_bin_discard(ionf_bin_reader *r, uint64_t *size);

/* Will next() give IONF_KIND_EOF? False may also mean that it takes a closer look to tell. */
static inline bool
ionf_bin_is_at_eof(const ionf_bin_reader *r)
{
    return r->base.p == r->base.end && r->base.is_final && r->base.depth == 0 &&
           r->mode == IONF_BIN_PLAIN;
}

/* The careful half of ionf_bin_next; not for callers. */
IONF_MUST_CHECK ionf_status ionf_bin_slow(ionf_bin_reader *r, ionf_token *token);

/* Set limit, limit_is_end for the innermost container. */
static inline void
ionf_bin_limit_update(ionf_bin_reader *r)
{
    const size_t window = (size_t)(r->base.end - r->base.start);
    r->limit = r->base.end;
    r->limit_is_end = false;
    if (r->base.depth != 0) {
        const uint64_t distance = r->frames[r->base.depth - 1].end_offset - r->base.base_offset;
        if (IONF_LIKELY(distance <= window)) {
            r->limit = r->base.start + distance;
            r->limit_is_end = true;
        }
    }
}

/* The mode that depth alone asks for. */
static inline uint8_t
ionf_bin_mode_of_depth(const ionf_bin_reader *r)
{
    if (r->base.depth != 0) {
        return r->frames[r->base.depth - 1].is_struct ? IONF_BIN_STRUCT : IONF_BIN_PLAIN;
    }
    return r->base.limits.max_value_size == IONF_UNLIMITED ? IONF_BIN_PLAIN : IONF_BIN_CAREFUL;
}

/* Pop the innermost frame; base.p stands at its end. */
static inline void
ionf_bin_leave(ionf_bin_reader *r)
{
    r->base.depth--;
    ionf_bin_limit_update(r);
    r->mode = ionf_bin_mode_of_depth(r);
}

/* Push a frame, for which there is room, and stand at the content's first byte. The container's
 * length has been checked against the one around it. */
static inline void
ionf_bin_enter(ionf_bin_reader *r, const uint8_t *content, uint64_t len, bool is_struct)
{
    ionf_bin_frame_in *frame = &r->frames[r->base.depth++];
    frame->end_offset = ionf_reader_offset(&r->base, content) + len;
    frame->is_struct = is_struct;
    r->base.p = content;
    r->mode = is_struct ? IONF_BIN_STRUCT : IONF_BIN_PLAIN;
}

/* Big-endian value of `len` bytes, 1 to 8; `end` is that of readable memory. */
IONF_FORCE_INLINE uint64_t
ionf_bin_uint(const uint8_t *p, size_t len, const uint8_t *end)
{
    if (IONF_LIKELY(end - p >= 8)) {
        return ionf_load64_be(p) >> (64 - 8 * len);
    }
    uint64_t value = 0;
    for (size_t i = 0; i < len; i++) {
        value = value << 8 | p[i];
    }
    return value;
}

/* As ionf_utf8_is_ascii, without its loop over the last bytes: field values are short. False for what is
 * longer than a step: that takes a look with breaks. */
static inline bool
ionf_bin_is_ascii(const uint8_t *p, size_t len, const uint8_t *end)
{
    const uint64_t high_bits = 0x8080808080808080u;
    if (len < 8) {
        return len == 0 || (ionf_bin_uint(p, len, end) & high_bits) == 0;
    }
    if (len > 64) {
        return len <= IONF_STEP_BYTES && ionf_utf8_is_ascii(p, len);
    }
    uint64_t seen = ionf_load64_native(p + (len - 8));
    for (size_t i = 0; i < len - 8; i += 8) {
        seen |= ionf_load64_native(p + i);
    }
    return (seen & high_bits) == 0;
}

/* Type codes of the binary encoding. */
enum {
    IONF_TYPE_NULL = 0,
    IONF_TYPE_BOOL = 1,
    IONF_TYPE_INT_POSITIVE = 2,
    IONF_TYPE_INT_NEGATIVE = 3,
    IONF_TYPE_FLOAT = 4,
    IONF_TYPE_DECIMAL = 5,
    IONF_TYPE_TIMESTAMP = 6,
    IONF_TYPE_SYMBOL = 7,
    IONF_TYPE_STRING = 8,
    IONF_TYPE_CLOB = 9,
    IONF_TYPE_BLOB = 10,
    IONF_TYPE_LIST = 11,
    IONF_TYPE_SEXP = 12,
    IONF_TYPE_STRUCT = 13,
    IONF_TYPE_ANNOTATION = 14
};

/* A kind from a type code up to IONF_TYPE_STRUCT: both codes of int are one kind. */
static inline uint8_t
ionf_bin_kind(unsigned type)
{
    return (uint8_t)(type - (type >= IONF_TYPE_INT_NEGATIVE));
}

static inline double
ionf_bin_float32(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

static inline double
ionf_bin_float64(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline void
ionf_bin_integer_set(ionf_integer *out, uint64_t magnitude, bool is_negative)
{
    out->u64 = magnitude;
    out->data = NULL;
    out->len = 0;
    out->form = IONF_INT_U64;
    out->is_negative = is_negative;
}

/* The fields of a token that carries neither a field name nor annotations nor null. */
static inline void
ionf_bin_token_begin(ionf_token *token, unsigned kind, uint64_t offset, uint64_t content_len)
{
    token->kind = (uint8_t)kind;
    token->is_null = false;
    token->is_ascii = false;
    token->annotation_count = 0;
    token->offset = offset;
    token->content_len = content_len;
}

/* One scalar whose content lies within the limit; false: leave it to the slow half. */
IONF_FORCE_INLINE bool
ionf_bin_fast_scalar(ionf_bin_reader *r, ionf_token *token, unsigned type, const uint8_t *content,
                     size_t len, bool checks_utf8)
{
    const uint8_t *const end = r->base.end;
    switch (type) {
    case IONF_TYPE_INT_POSITIVE:
    case IONF_TYPE_INT_NEGATIVE: {
        if (IONF_UNLIKELY(len > 8)) {
            return false;
        }
        const uint64_t magnitude = len == 0 ? 0 : ionf_bin_uint(content, len, end);
        const bool is_negative = type == IONF_TYPE_INT_NEGATIVE;
        ionf_bin_integer_set(&token->as.integer, magnitude, is_negative);
        return IONF_LIKELY(magnitude != 0 || !is_negative);
    }
    case IONF_TYPE_FLOAT:
        if (IONF_LIKELY(len == 8)) {
            token->as.f64 = ionf_bin_float64(ionf_load64_be(content));
        } else if (len == 4) {
            token->as.f64 = ionf_bin_float32((uint32_t)ionf_bin_uint(content, 4, end));
        } else {
            token->as.f64 = 0.0;
            return len == 0;
        }
        return true;
    case IONF_TYPE_DECIMAL:
        ionf_buf_reset(&r->scratch);
        return ionf_dec_read(content, len, &r->scratch, &token->as.decimal) == IONF_OK;
    case IONF_TYPE_TIMESTAMP:
        return ionf_ts_read(content, len, &token->as.timestamp) == IONF_OK;
    case IONF_TYPE_SYMBOL: {
        /* At top level a symbol may be "$ion_1_0", which is not a value. */
        if (IONF_UNLIKELY(len > 8 || r->base.depth == 0)) {
            return false;
        }
        const ionf_symref symbol = {NULL, 0, len == 0 ? 0 : ionf_bin_uint(content, len, end),
                                    false};
        token->as.symbol = symbol;
        return IONF_LIKELY(symbol.sid <= r->base.symtab.max_id);
    }
    case IONF_TYPE_STRING:
        token->as.bytes.data = content;
        token->as.bytes.len = len;
        token->is_ascii = ionf_bin_is_ascii(content, len, end);
        return IONF_LIKELY(token->is_ascii) || !checks_utf8 ||
               (len <= IONF_STEP_BYTES && ionf_utf8_check(content, len, NULL) == len);
    case IONF_TYPE_CLOB:
    case IONF_TYPE_BLOB:
        token->as.bytes.data = content;
        token->as.bytes.len = len;
        return true;
    default:
        return false;
    }
}

/* The end of the innermost container, or false. */
IONF_FORCE_INLINE bool
ionf_bin_fast_end(ionf_bin_reader *r, ionf_token *token)
{
    if (IONF_UNLIKELY(!r->limit_is_end || r->mode == IONF_BIN_CAREFUL)) {
        return false;
    }
    ionf_bin_token_begin(token, IONF_KIND_END, ionf_reader_offset(&r->base, r->base.p), 0);
    token->has_field = false;
    ionf_bin_leave(r);
    return true;
}

/* A VarUInt of one or two bytes; false: anything else. */
IONF_FORCE_INLINE bool
ionf_bin_fast_varuint(const uint8_t **p, const uint8_t *limit, size_t *out)
{
    const uint8_t *cursor = *p;
    if (IONF_UNLIKELY(cursor == limit)) {
        return false;
    }
    size_t value = *cursor++;
    if (IONF_LIKELY((value & 0x80u) != 0)) {
        *out = value & 0x7Fu;
    } else if (IONF_LIKELY(cursor != limit && (*cursor & 0x80u) != 0)) {
        *out = value << 7 | (*cursor++ & 0x7Fu);
    } else {
        return false;
    }
    *p = cursor;
    return true;
}

/* The plain cases. False: nothing has been consumed, whatever `token` holds now. Past 60 lines
 * because it is the hot loop's body: one straight run from the field name to the value. */
IONF_FORCE_INLINE bool
ionf_bin_fast_as(ionf_bin_reader *r, ionf_token *token, bool checks_utf8)
{
    const uint8_t *p = r->base.p;
    const uint8_t *const limit = r->limit;
    if (p == limit) {
        return ionf_bin_fast_end(r, token);
    }
    token->has_field = r->mode == IONF_BIN_STRUCT;
    if (r->mode != IONF_BIN_PLAIN) {
        size_t sid;
        if (IONF_UNLIKELY(r->mode == IONF_BIN_CAREFUL || !ionf_bin_fast_varuint(&p, limit, &sid) ||
                          sid > r->base.symtab.max_id || p == limit)) {
            return false;
        }
        const ionf_symref field = {NULL, 0, sid, false};
        token->field = field;
    }
    const uint64_t offset = ionf_reader_offset(&r->base, p);
    const unsigned descriptor = *p++;
    const unsigned type = descriptor >> 4;
    size_t len = descriptor & 15u;
    if (IONF_UNLIKELY(type > IONF_TYPE_STRUCT)) {
        return false; /* a wrapper, a version marker, a reserved code */
    }
    if (IONF_UNLIKELY(len >= 14)) {
        if (len == 15) {
            ionf_bin_token_begin(token, ionf_bin_kind(type), offset, 0);
            token->is_null = true;
            r->base.p = p;
            return true;
        }
        if (type <= IONF_TYPE_BOOL || type == IONF_TYPE_FLOAT ||
            !ionf_bin_fast_varuint(&p, limit, &len)) {
            return false;
        }
    }
    if (type == IONF_TYPE_BOOL) {
        ionf_bin_token_begin(token, IONF_KIND_BOOL, offset, 0);
        token->as.boolean = len == 1;
        if (IONF_UNLIKELY(len > 1)) {
            return false;
        }
        r->base.p = p;
        return true;
    }
    if (IONF_UNLIKELY(len > (size_t)(limit - p))) {
        return false;
    }
    ionf_bin_token_begin(token, ionf_bin_kind(type), offset, len);
    if (type >= IONF_TYPE_LIST) {
        if (IONF_UNLIKELY(descriptor == 0xD1u || r->base.depth >= r->frame_limit)) {
            return false;
        }
        ionf_bin_enter(r, p, len, type == IONF_TYPE_STRUCT);
        r->limit = p + len;
        r->limit_is_end = true;
        return true;
    }
    if (IONF_UNLIKELY(!ionf_bin_fast_scalar(r, token, type, p, len, checks_utf8))) {
        return false;
    }
    r->base.p = p + len;
    return true;
}

IONF_FORCE_INLINE bool
ionf_bin_fast(ionf_bin_reader *r, ionf_token *token)
{
    return ionf_bin_fast_as(r, token, true);
}

/* A plain value inside a container: what most values are. */
typedef struct ionf_bin_item {
    size_t sid;             /* of its field name, in a struct */
    const uint8_t *start;   /* its first byte, behind the field name */
    const uint8_t *content; /* `len` bytes */
    size_t len;
    uint8_t type;  /* code of null, bool, int of up to 8 bytes, float of 8, string */
    bool is_true;  /* of bool */
    bool is_ascii; /* of string; if not, it may be any bytes, as after ionf_bin_next_unchecked */
} ionf_bin_item;

static inline uint64_t
ionf_bin_item_uint(const ionf_bin_reader *r, const ionf_bin_item *item)
{
    return item->len == 0 ? 0 : ionf_bin_uint(item->content, item->len, r->base.end);
}

static inline double
ionf_bin_item_float(const ionf_bin_item *item)
{
    return ionf_bin_float64(ionf_load64_be(item->content));
}

/* The descriptor, at `start`: is it one of these types? `*p` stands behind it. */
IONF_FORCE_INLINE bool
ionf_bin_take_header(const ionf_bin_reader *r, const uint8_t **p, ionf_bin_item *out)
{
    const unsigned low = *out->start & 15u;
    out->type = *out->start >> 4;
    out->len = low;
    out->is_true = low == 1;
    switch (out->type) {
    case IONF_TYPE_NULL:
        out->len = 0;
        return low == 15;
    case IONF_TYPE_BOOL:
        out->len = 0;
        return low <= 1;
    case IONF_TYPE_INT_POSITIVE:
        return low <= 8;
    case IONF_TYPE_INT_NEGATIVE: /* zero is an error, which a first byte that is not cannot hide */
        return low - 1 < 8 && *p != r->limit && **p != 0;
    case IONF_TYPE_FLOAT:
        return low == 8;
    case IONF_TYPE_STRING:
        return low < 14 || (low == 14 && ionf_bin_fast_varuint(p, r->limit, &out->len));
    default:
        return false;
    }
}

/* If a plain value comes next in the innermost container, take it; else nothing is consumed, and next() tells
 * what there is. A token's other fields are half of the time that such a value takes. Not at top level, nor
 * in a mode other than `is_struct`'s: IONF_BIN_STRUCT or IONF_BIN_PLAIN. */
IONF_FORCE_INLINE bool
ionf_bin_take(ionf_bin_reader *r, bool is_struct, ionf_bin_item *out)
{
    const uint8_t *p = r->base.p;
    const uint8_t *const limit = r->limit;
    if (is_struct && (!ionf_bin_fast_varuint(&p, limit, &out->sid) ||
                      IONF_UNLIKELY(out->sid > r->base.symtab.max_id))) {
        return false;
    }
    if (p == limit) {
        return false;
    }
    out->start = p++;
    if (!ionf_bin_take_header(r, &p, out) || IONF_UNLIKELY(out->len > (size_t)(limit - p))) {
        return false;
    }
    out->content = p;
    out->is_ascii = out->type == IONF_TYPE_STRING && ionf_bin_is_ascii(p, out->len, r->base.end);
    r->base.p = p + out->len;
    return true;
}

/* The next token. IONF_OK with a token; IONF_NEED_DATA, only when the window is not final: nothing
 * of the unfinished value has been consumed; IONF_ERR_INTERRUPTED, which is not kept: the same, and it may
 * be called again; or an error, which is in r->base.error. */
IONF_MUST_CHECK IONF_FORCE_INLINE ionf_status
ionf_bin_next(ionf_bin_reader *r, ionf_token *token)
{
    if (IONF_LIKELY(ionf_bin_fast(r, token))) {
        return IONF_OK;
    }
    return ionf_bin_slow(r, token);
}

/* The same, but a string that is not called ASCII may be any bytes, ASCII too where it is longer than a step:
 * for those who look at each of them anyway, and report what is not UTF-8 by ionf_bin_refuse_string before they go on. */
IONF_MUST_CHECK IONF_FORCE_INLINE ionf_status
ionf_bin_next_unchecked(ionf_bin_reader *r, ionf_token *token)
{
    if (IONF_LIKELY(ionf_bin_fast_as(r, token, false))) {
        return IONF_OK;
    }
    return ionf_bin_slow(r, token);
}

/* The string given last is UTF-8 only up to byte `valid`. */
void ionf_bin_refuse_string(ionf_bin_reader *r, const ionf_token *token, size_t valid);

#endif
