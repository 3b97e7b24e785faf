/* The text reader: a pull reader over Ion 1.0 text, its hot half inline. Ion specification, "Ion
 * Text Encoding", the grammar; "Symbols" for version markers and local symbol tables.
 *
 * ionf_txt_next has two halves that must agree. The inline one takes what most text is made of:
 * struct fields with plain names, strings without escapes, small numbers, keywords, symbols, all
 * without comments, annotations or any doubt about what follows. At anything else it gives up,
 * having changed nothing, and ionf_txt_next_general reads the same token again from its start.
 *
 * Incremental reading consumes white space, comments and commas as they come, but a field name,
 * its value's annotations and the value only together. When they are not complete yet, the
 * finder remembers how far it has looked for their end, so that input in many small pieces is
 * not read anew for each of them. At top level what must be looked at beyond a symbol or a long
 * string, to know that no `::` or other segment follows, counts towards max_value_size: memory
 * stays bounded.
 */
#ifndef IONF_TXT_READ_H
#define IONF_TXT_READ_H

#include "ionf_num.h"
#include "ionf_reader.h"
#include "ionf_ts.h"
#include "ionf_txt_lex.h"
#include "ionf_utf8.h"

/* Where the search for the end of an unfinished value stands. See ionf_txt_read.c. */
typedef struct ionf_txt_find {
    bool is_active;
    uint8_t state;
    uint8_t before;  /* what the last word was, if a colon may follow it */
    bool is_field;   /* the field's name has not been passed yet */
    uint64_t offset; /* stream offset of the unfinished value: base.p */
    size_t scanned;  /* bytes from base.p that need not be looked at again */
    size_t word;     /* where the identifier being scanned began, from base.p */
} ionf_txt_find;

/* Where passing over a value that is too large stands. See ionf_txt_discard.c. */
typedef struct ionf_txt_rest {
    bool is_active;
    uint8_t state;
    uint8_t word_len; /* of the identifier being passed, as far as it fits `word` */
    uint8_t word[8];
    uint64_t depth;        /* open brackets */
    uint64_t begin, end;   /* stream offsets: of the value, of the end of what surely is its own */
    const uint8_t *window; /* borrowed for one call: where it goes on */
    uint64_t window_offset; /* stream offset of that */
} ionf_txt_rest;

/* A field name that the owner expects next, since it came after the last one before: where it stands, in
 * quotes or without and with its colon right behind it, nothing is looked for. An identifier of ASCII that is
 * no keyword; `len` 0: none. */
typedef struct ionf_txt_guess {
    const uint8_t *text; /* borrowed: while it may be used */
    uint64_t
        head; /* its first 8 bytes as ionf_load64_native() has them; of less, what follows is 0 */
    size_t len;
} ionf_txt_guess;

/* No byte closes the top level. */
#define IONF_TXT_NO_CLOSER 0x100u

typedef struct ionf_txt_reader {
    ionf_reader base;
    /* Borrowed: set by the owner before open, until reset; or NULL, then lend(lend_ctx) gives it when it is
     * needed first, which the inline half never does. NULL from there: no memory. */
    ionf_buf *scratch;
    ionf_buf *(*lend)(void *ctx);
    void *lend_ctx;
    /* The container that is open, IONF_KIND_EOF at top level. frames[depth - 1] is the kind of its
     * parent, and so on down to frames[0], the top level. */
    uint8_t container;
    bool has_commas;      /* the open container is a list or a struct */
    bool after_value;     /* a value has been read, and no comma yet; only with has_commas */
    bool needs_general;   /* something is going on that the inline half must not pass over */
    uint16_t closer;      /* the byte that ends the open container, or IONF_TXT_NO_CLOSER */
    uint32_t frame_limit; /* frames that may be pushed without asking: room and max_depth */
    uint8_t *frames;      /* owned */
    size_t frame_cap;
    ionf_symref *annotations; /* owned */
    size_t annotation_cap;
    /* What a token must not go beyond without asking: the end of the window or where the
     * current top-level value is too long. At top level it is top_limit: the end of the window,
     * or its start when there is a max_value_size, so that each value's limit gets set. */
    const uint8_t *value_limit, *top_limit;
    /* The end of the window. The inline half is shown no more than a step of it, by base.end, so that it comes
     * to the careful one from time to time, which asks the host whether to go on; that one sees all. */
    const uint8_t *window_end;
    const uint8_t *asked;        /* where that was last */
    const ionf_txt_guess *guess; /* borrowed: set by the owner between tokens, or NULL */
    bool is_guessed;             /* of a token with a field: its name is that of `guess` */
    ionf_txt_find find;
    uint8_t comment;   /* ionf_txt_comment: what base.p stands inside */
    bool is_bare;      /* the symbol just read was an identifier without quotes */
    bool ends_with_cr; /* the window before this one ended with a CR */
    bool is_skipping;  /* ionf_txt_skip is under way, down to skip_depth */
    uint32_t skip_depth;
    ionf_txt_rest rest;
} ionf_txt_reader;

/* Allocates nothing. The reader must not move in memory afterwards. */
void ionf_txt_reader_init(ionf_txt_reader *r, ionf_alloc alloc);
/* As after init, apart from kept capacity. Cannot fail. */
void ionf_txt_reader_reset(ionf_txt_reader *r);
void ionf_txt_reader_destroy(ionf_txt_reader *r);
/* Bytes kept by an idle reader. */
size_t ionf_txt_reader_retained(const ionf_txt_reader *r);
/* Begin a stream, on a reader fresh from init or reset, with `scratch` or `lend` set. `data` and
 * `catalog` are borrowed until the next window or reset. */
void ionf_txt_reader_open(ionf_txt_reader *r, const uint8_t *data, size_t len, bool is_final,
                          const ionf_limits *limits, const ionf_catalog *catalog);
/* After IONF_NEED_DATA, before the bytes of the window that were consumed go away: gives how many of
 * them there are. What is left must stay until the next window, which may fail to come. */
size_t ionf_txt_reader_release(ionf_txt_reader *r);
/* A new window, after IONF_NEED_DATA: data[0] is the byte that base.p pointed at. Without a release
 * before it, the old window must still be there. */
void ionf_txt_reader_window(ionf_txt_reader *r, const uint8_t *data, size_t len, bool is_final);

/* Leave the container that is open, to just after it; what is passed is checked. On
 * IONF_NEED_DATA call it again with more. IONF_ERR_STATE at top level, which is not kept as the
 * reader's error. */
IONF_MUST_CHECK ionf_status ionf_txt_skip(ionf_txt_reader *r);

/* After IONF_ERR_VALUE_SIZE: pass over the rest of the value, of which nothing but its end is looked
 * for, forget the error, give the value's size, annotations included. On IONF_NEED_DATA call again,
 * and nothing else, after the next window: nothing is kept of what has passed; on IONF_ERR_INTERRUPTED at
 * any time. IONF_ERR_VALUE_SIZE again when it is, or may be, a symbol table; IONF_ERR_TRUNCATED. */
IONF_MUST_CHECK ionf_status ionf_txt_discard(ionf_txt_reader *r, uint64_t *size);

/* Keep an error with its line; for parts of the reader only. IONF_NEED_DATA instead where bytes at
 * the end of the window are not UTF-8 yet. */
ionf_status ionf_txt_fail(ionf_txt_reader *r, ionf_status status, const uint8_t *at,
                          const char *expected);

/* The careful half of ionf_txt_next; not to be called by others. */
ionf_status ionf_txt_next_general(ionf_txt_reader *r, ionf_token *token);
/* The same where all is well up to the value, which begins at `value`: its field, if any, is in the
 * token. */
ionf_status ionf_txt_next_value(ionf_txt_reader *r, const uint8_t *value, ionf_token *token);

/* The careful half begins. */
static inline void
ionf_txt_show_all(ionf_txt_reader *r)
{
    r->base.end = r->window_end;
}

/* It ends: the inline half may go on from base.p. */
static inline void
ionf_txt_show_step(ionf_txt_reader *r)
{
    r->base.end = ionf_step_end(r->base.p, r->window_end);
}

/* Make `kind` the open container, or the top level for IONF_KIND_EOF. */
static inline void
ionf_txt_set_container(ionf_txt_reader *r, unsigned kind)
{
    static const uint16_t closers[] = {']', ')', '}', 0, IONF_TXT_NO_CLOSER};
    r->container = (uint8_t)kind;
    r->closer = closers[kind - IONF_KIND_LIST];
    r->has_commas = kind == IONF_KIND_LIST || kind == IONF_KIND_STRUCT;
}

/* Enter a container; there is room for the frame. */
static inline void
ionf_txt_push(ionf_txt_reader *r, unsigned kind)
{
    r->frames[r->base.depth++] = r->container;
    ionf_txt_set_container(r, kind);
    r->after_value = false;
}

/* Leave the open container by its closing byte, which base.p is moved past. */
static inline void
ionf_txt_pop(ionf_txt_reader *r, const uint8_t *closer, ionf_token *token)
{
    token->kind = IONF_KIND_END;
    token->is_null = false;
    token->has_field = false;
    token->annotation_count = 0;
    token->annotations = NULL;
    token->content_len = 0;
    token->offset = ionf_reader_offset(&r->base, closer);
    r->base.p = closer + 1;
    ionf_txt_set_container(r, r->frames[--r->base.depth]);
    r->after_value = r->has_commas;
    if (r->base.depth == 0) {
        r->value_limit = r->top_limit;
    }
}

/* A string without escapes or control characters, from after its quote: false otherwise. */
static inline bool
ionf_txt_plain_string(const uint8_t **p, const uint8_t *end, const uint8_t **text, size_t *len,
                      bool *is_ascii)
{
    bool has_high = false;
    const uint8_t *start = *p;
    const uint8_t *stop = ionf_txt_scan(start, end, '"', &has_high);
    if (stop == end || *stop != '"') {
        return false;
    }
    *text = start;
    *len = (size_t)(stop - start);
    *is_ascii = !has_high;
    *p = stop + 1;
    return !has_high || ionf_utf8_check(start, *len, NULL) == *len;
}

/* Is that the name at `p`, of which so many bytes and 8 more are there? */
static inline bool
ionf_txt_is_guess(const ionf_txt_guess *guess, const uint8_t *p)
{
    const size_t len = guess->len;
    const uint64_t differs = ionf_load64_native(p) ^ guess->head;
    if (len < 8) {
        const unsigned rest = 64 - 8 * (unsigned)len;
        return (IONF_BIG_ENDIAN ? differs >> rest : differs << rest) == 0;
    }
    return differs == 0 && (len <= 16 ? ionf_load64_native(p + len - 8) ==
                                            ionf_load64_native(guess->text + len - 8)
                                      : memcmp(p + 8, guess->text + 8, len - 8) == 0);
}

/* The name that is expected, and its colon: false where anything else stands. */
static inline bool
ionf_txt_guessed_field(const ionf_txt_guess *guess, const uint8_t **at, const uint8_t *end,
                       ionf_symref *field)
{
    const uint8_t *p = *at;
    const size_t len = guess->len;
    if (len == 0 || (size_t)(end - p) < len + 10) {
        return false;
    }
    const bool is_quoted = *p == '"';
    p += is_quoted;
    if (!ionf_txt_is_guess(guess, p)) {
        return false;
    }
    field->text = p;
    field->len = len;
    field->sid = 0;
    field->is_ascii = true;
    p += len;
    if (is_quoted && *p++ != '"') {
        return false;
    }
    if (*p != ':') {
        return false;
    }
    p = ionf_txt_space(p + 1, end);
    if (p == end) {
        return false; /* and *at is where it was, for a closer look */
    }
    *at = p;
    return true;
}

/* A field name in double quotes or an identifier, and its colon. */
static inline bool
ionf_txt_plain_field(const uint8_t **at, const uint8_t *end, ionf_symref *field)
{
    const uint8_t *p = *at;
    if (*p == '"') {
        p++;
        if (!ionf_txt_plain_string(&p, end, &field->text, &field->len, &field->is_ascii)) {
            return false;
        }
    } else if (ionf_txt_is(*p, IONF_TXT_IDENT_START) && *p != '$') {
        p = ionf_txt_ident_end(p + 1, end);
        field->text = *at;
        field->len = (size_t)(p - *at);
        field->is_ascii = true;
        if (ionf_txt_keyword_of(field->text, field->len) != IONF_TXT_NO_KEYWORD) {
            return false;
        }
    } else {
        return false;
    }
    field->sid = 0;
    p = ionf_txt_space(p, end);
    if (p == end || *p != ':') {
        return false;
    }
    *at = ionf_txt_space(p + 1, end);
    return *at != end;
}

/* Digits after those in `*value`, which is only right while `*count`, all of them, is at most
 * 19. */
static inline const uint8_t *
ionf_txt_plain_digits(const uint8_t *p, const uint8_t *end, uint64_t *value, size_t *count)
{
    const uint8_t *start = p;
    uint64_t sum = *value;
    while (end - p >= 8 && ionf_num_is_8(p)) {
        sum = sum * 100000000 + ionf_num_parse_8(p);
        p += 8;
    }
    while (p != end && (uint8_t)(*p - '0') <= 9) {
        sum = sum * 10 + (uint64_t)(*p - '0');
        p++;
    }
    *value = sum;
    *count += (size_t)(p - start);
    return p;
}

/* The exponent of a float, of up to 4 digits, from its letter. NULL when it is anything else. */
static inline const uint8_t *
ionf_txt_plain_exponent(const uint8_t *p, const uint8_t *end, int64_t *exponent)
{
    bool is_negative = false;
    uint64_t value = 0;
    size_t count = 0;
    p++;
    if (p != end && (*p == '-' || *p == '+')) {
        is_negative = *p++ == '-';
    }
    p = ionf_txt_plain_digits(p, end, &value, &count);
    if (count == 0 || count > 4) {
        return NULL;
    }
    *exponent += is_negative ? -(int64_t)value : (int64_t)value;
    return p;
}

/* An int, decimal or float of at most 19 digits: false for anything else. */
static inline bool
ionf_txt_plain_number(const uint8_t **at, const uint8_t *end, ionf_token *token)
{
    const uint8_t *p = *at;
    const bool is_negative = *p == '-';
    p += is_negative;
    const uint8_t *digits = p;
    uint64_t value = 0;
    size_t count = 0;
    p = ionf_txt_plain_digits(p, end, &value, &count);
    if (count == 0 || p == end || (*digits == '0' && count > 1)) {
        return false;
    }
    if (IONF_UNLIKELY(*p == '-')) {
        token->kind = IONF_KIND_TIMESTAMP;
        return !is_negative && ionf_ts_parse_plain(at, end, &token->as.timestamp) && *at != end &&
               ionf_txt_is(**at, IONF_TXT_STOP);
    }
    token->kind = IONF_KIND_INT;
    int64_t exponent = 0;
    if (*p == '.') {
        const size_t whole = count;
        p = ionf_txt_plain_digits(p + 1, end, &value, &count);
        exponent = -(int64_t)(count - whole);
        token->kind = IONF_KIND_DECIMAL;
    }
    if (count > 19 || p == end) {
        return false;
    }
    if ((*p | 0x20) == 'e') {
        p = ionf_txt_plain_exponent(p, end, &exponent);
        double magnitude;
        if (p == NULL || p == end ||
            (!ionf_txt_double_exact(value, exponent, &magnitude) &&
             !ionf_num_scale_double(value, exponent, &magnitude))) {
            return false;
        }
        token->kind = IONF_KIND_FLOAT;
        token->as.f64 = is_negative ? -magnitude : magnitude;
    } else if (token->kind == IONF_KIND_DECIMAL) {
        token->as.decimal.coefficient.u64 = value;
        token->as.decimal.coefficient.form = IONF_INT_U64;
        token->as.decimal.coefficient.is_negative = is_negative;
        token->as.decimal.exponent = exponent;
    } else {
        token->as.integer.u64 = value;
        token->as.integer.form = IONF_INT_U64;
        token->as.integer.is_negative = is_negative && value != 0;
    }
    *at = p;
    return ionf_txt_is(*p, IONF_TXT_STOP);
}

/* true, false, null, nan or a symbol that is neither `$...` nor an annotation. */
static inline bool
ionf_txt_plain_ident(const uint8_t **at, const uint8_t *end, bool is_top, ionf_token *token)
{
    const uint8_t *start = *at;
    const uint8_t *p = ionf_txt_ident_end(start + 1, end);
    const size_t len = (size_t)(p - start);
    if (p == end) {
        return false;
    }
    const ionf_txt_keyword keyword = ionf_txt_keyword_of(start, len);
    switch (keyword) {
    case IONF_TXT_TRUE:
    case IONF_TXT_FALSE:
        token->kind = IONF_KIND_BOOL;
        token->as.boolean = keyword == IONF_TXT_TRUE;
        break;
    case IONF_TXT_NULL:
        token->kind = IONF_KIND_NULL;
        token->is_null = true;
        break;
    case IONF_TXT_NO_KEYWORD:
        token->kind = IONF_KIND_SYMBOL;
        token->as.symbol.text = start;
        token->as.symbol.len = len;
        token->as.symbol.sid = 0;
        token->as.symbol.is_ascii = true;
        break;
    default:
        return false;
    }
    *at = p;
    /* Only what surely ends it: a comma, a closing bracket or a line break in most text. */
    const uint8_t *next = ionf_txt_space(p, end);
    return next != end && *next != ':' && *next != '/' && *p != '.' &&
           (keyword != IONF_TXT_NO_KEYWORD || (!is_top && *start != '$'));
}

/* Will next() give IONF_KIND_EOF? False may also mean that it takes a closer look to tell. */
static inline bool
ionf_txt_is_at_eof(const ionf_txt_reader *r)
{
    const uint8_t *const end = r->base.end;
    return end == r->window_end && r->base.is_final && r->base.depth == 0 && !r->needs_general &&
           ionf_txt_space(r->base.p, end) == end;
}

/* The next token: IONF_OK, IONF_NEED_DATA (only without is_final; nothing of the unfinished
 * value is consumed), IONF_ERR_INTERRUPTED, which is not kept (the same: call again, and it is read from
 * its start), or an error, which is in base.error. Slices in the token borrow from the
 * window, the scratch and the reader, until the next call. */
IONF_MUST_CHECK static inline ionf_status
ionf_txt_next(ionf_txt_reader *r, ionf_token *token)
{
    const uint8_t *p = r->base.p;
    const uint8_t *const end = r->base.end;
    if (IONF_UNLIKELY(r->needs_general)) {
        goto general;
    }
    p = ionf_txt_space(p, end);
    if (IONF_UNLIKELY(p == end)) {
        goto general;
    }
    if (r->after_value) {
        if (IONF_LIKELY(*p == ',')) {
            p = ionf_txt_space(p + 1, end);
            if (IONF_UNLIKELY(p == end)) {
                goto general;
            }
        } else if (*p != r->closer) {
            goto general;
        }
    }
    if (*p == r->closer) {
        if (IONF_UNLIKELY(p >= r->value_limit)) {
            goto general;
        }
        ionf_txt_pop(r, p, token);
        return IONF_OK;
    }
    token->has_field = r->container == IONF_KIND_STRUCT;
    if (token->has_field) {
        r->is_guessed =
            r->guess != NULL && ionf_txt_guessed_field(r->guess, &p, end, &token->field);
        if (!r->is_guessed && IONF_UNLIKELY(!ionf_txt_plain_field(&p, end, &token->field))) {
            goto general;
        }
    }
    token->is_null = false;
    token->annotation_count = 0;
    token->annotations = NULL;
    token->content_len = 0;
    token->offset = ionf_reader_offset(&r->base, p);
    const uint8_t *const value = p;
    switch (*p) {
    case '"':
        p++;
        token->kind = IONF_KIND_STRING;
        if (IONF_UNLIKELY(!ionf_txt_plain_string(&p, end, &token->as.bytes.data,
                                                 &token->as.bytes.len, &token->is_ascii))) {
            goto by_value;
        }
        break;
    case '-':
    case '0':
    case '1':
    case '2':
    case '3':
    case '4':
    case '5':
    case '6':
    case '7':
    case '8':
    case '9':
        if (IONF_UNLIKELY(!ionf_txt_plain_number(&p, end, token))) {
            goto by_value;
        }
        break;
    case '{':
        if (IONF_UNLIKELY(r->base.depth >= r->frame_limit || end - p < 2 || p[1] == '{')) {
            goto by_value;
        }
        token->kind = IONF_KIND_STRUCT;
        p++;
        break;
    case '[':
    case '(':
        if (IONF_UNLIKELY(r->base.depth >= r->frame_limit)) {
            goto by_value;
        }
        token->kind = *p == '[' ? IONF_KIND_LIST : IONF_KIND_SEXP;
        p++;
        break;
    default:
        if (IONF_UNLIKELY(!ionf_txt_is(*p, IONF_TXT_IDENT_START) ||
                          !ionf_txt_plain_ident(&p, end, r->base.depth == 0, token))) {
            goto by_value;
        }
        break;
    }
    if (IONF_UNLIKELY(p > r->value_limit)) {
        goto general;
    }
    if (r->base.depth == 0) {
        r->base.value_offset = token->offset;
    }
    r->base.p = p;
    if (ionf_kind_is_container(token->kind)) {
        ionf_txt_push(r, token->kind);
    } else {
        r->after_value = r->has_commas;
    }
    return IONF_OK;

by_value:
    return ionf_txt_next_value(r, value, token);
general:
    return ionf_txt_next_general(r, token);
}

#endif
