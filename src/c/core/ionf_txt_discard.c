/* Passing over a top-level text value that is larger than max_value_size, in memory that does not
 * depend on its size. Ion specification, "Ion Text Encoding": of its grammar only what tells where a
 * value ends, which is quotes, comments, brackets, `::` and the segments of long strings. What is
 * passed over is not checked otherwise.
 *
 *   depth 0   AT_VALUE --symbol--> AFTER_NAME --'::'--> AT_VALUE
 *                |  '---long string--> AFTER_LONG --another segment--> IN_LONG
 *                '--bracket--> INSIDE ... its closing bracket: done
 */
#include "ionf_txt_read.h"

typedef enum rest_state {
    AT_VALUE = 0, /* depth 0: an annotation or the value follows */
    AFTER_NAME,   /* depth 0: was it an annotation? */
    AFTER_LONG,   /* depth 0: is there another segment? */
    INSIDE,       /* between the words of a container */
    IN_IDENT,     /* depth 0 */
    IN_NUMBER,    /* depth 0 */
    IN_STRING,
    IN_SYMBOL,
    IN_LONG,
    IN_LOB,
    IN_LOB_STRING,
    IN_LOB_LONG,
    IS_DONE
} rest_state;

/* ---- words: each step gives false when it takes more bytes to go on ---- */

/* A word or a bracket has been passed: `state` is what `p` stands in now. */
static bool
go(ionf_txt_rest *rest, ionf_txt_lex *x, size_t len, rest_state state)
{
    x->p += len;
    rest->state = (uint8_t)state;
    return true;
}

/* The value, or a part of it that may be its last, ends after `len` more bytes. */
static bool
go_past(ionf_txt_rest *rest, ionf_txt_lex *x, size_t len, rest_state state)
{
    go(rest, x, len, state);
    rest->end = rest->window_offset + (uint64_t)(x->p - rest->window);
    return true;
}

/* Where a text in quotes, or a lob, leads to. */
static rest_state
state_after(const ionf_txt_rest *rest)
{
    if (rest->depth != 0) {
        return INSIDE;
    }
    return rest->state == IN_SYMBOL ? AFTER_NAME : rest->state == IN_LONG ? AFTER_LONG : IS_DONE;
}

/* How many quotes begin here: 3, else 1; 0 when it takes more bytes to tell. */
static size_t
quotes_at(const ionf_txt_lex *x)
{
    const size_t left = (size_t)(x->end - x->p);
    if (left >= 3) {
        return x->p[1] == '\'' && x->p[2] == '\'' ? 3 : 1;
    }
    return x->is_final || (left == 2 && x->p[1] != '\'') ? 1 : 0;
}

static bool
step_quote(ionf_txt_rest *rest, ionf_txt_lex *x)
{
    const size_t quotes = quotes_at(x);
    return quotes != 0 && go(rest, x, quotes, quotes == 3 ? IN_LONG : IN_SYMBOL);
}

/* `{`, which may be a lob's. */
static bool
step_brace(ionf_txt_rest *rest, ionf_txt_lex *x)
{
    if (x->end - x->p < 2 && !x->is_final) {
        return false;
    }
    if (x->end - x->p >= 2 && x->p[1] == '{') {
        return go(rest, x, 2, IN_LOB);
    }
    rest->depth++;
    return go(rest, x, 1, INSIDE);
}

/* Through a text in quotes. */
static bool
step_text(ionf_txt_rest *rest, ionf_txt_lex *x, uint8_t quote, bool is_long, rest_state after)
{
    for (;;) {
        while (x->p != x->end && *x->p != quote && *x->p != '\\') {
            x->p++;
        }
        const size_t left = (size_t)(x->end - x->p);
        if (left == 0 || (*x->p == '\\' && left < 2)) {
            return false;
        }
        if (*x->p == '\\') {
            x->p += 2;
            continue;
        }
        const size_t quotes = is_long ? quotes_at(x) : 1;
        if (quotes == 0) {
            return false;
        }
        if (!is_long || quotes == 3) {
            return go_past(rest, x, quotes, after);
        }
        x->p++;
    }
}

/* Inside {{ }}, outside of strings. */
static bool
step_lob(ionf_txt_rest *rest, ionf_txt_lex *x)
{
    while (x->p != x->end && *x->p != '}' && *x->p != '"' && *x->p != '\'') {
        x->p++;
    }
    const size_t left = (size_t)(x->end - x->p);
    if (left != 0 && *x->p == '"') {
        return go(rest, x, 1, IN_LOB_STRING);
    }
    if (left != 0 && *x->p == '\'') {
        const size_t quotes = quotes_at(x);
        return quotes != 0 && go(rest, x, quotes, quotes == 3 ? IN_LOB_LONG : IN_LOB);
    }
    return left >= 2 &&
           go_past(rest, x, x->p[1] == '}' ? 2 : 1, x->p[1] == '}' ? state_after(rest) : IN_LOB);
}

/* Identifier at depth 0. Its first bytes are kept, to tell keywords, which are no annotations. */
static bool
step_ident(ionf_txt_rest *rest, ionf_txt_lex *x)
{
    while (x->p != x->end && ionf_txt_is(*x->p, IONF_TXT_IDENT)) {
        if (rest->word_len < sizeof rest->word) {
            rest->word[rest->word_len++] = *x->p;
        }
        x->p++;
    }
    if (x->p == x->end && !x->is_final) {
        return false;
    }
    switch (ionf_txt_keyword_of(rest->word, rest->word_len)) {
    case IONF_TXT_NO_KEYWORD:
        return go_past(rest, x, 0, AFTER_NAME);
    case IONF_TXT_NULL:
        return go_past(rest, x, 0, x->p != x->end && *x->p == '.' ? IN_NUMBER : IS_DONE);
    default:
        return go_past(rest, x, 0, IS_DONE);
    }
}

/* A number, timestamp, infinity, or the type of a null. */
static bool
step_number(ionf_txt_rest *rest, ionf_txt_lex *x)
{
    while (x->p != x->end && ionf_txt_is(*x->p, IONF_TXT_NUMBER)) {
        x->p++;
    }
    return (x->p != x->end || x->is_final) && go_past(rest, x, 0, IS_DONE);
}

/* ---- between words ---- */

/* A string, a quoted symbol or a container begins at `x->p`; else `*is_other` is set. */
static bool
step_opening(ionf_txt_rest *rest, ionf_txt_lex *x, bool *is_other)
{
    switch (*x->p) {
    case '"':
        return go(rest, x, 1, IN_STRING);
    case '\'':
        return step_quote(rest, x);
    case '{':
        return step_brace(rest, x);
    case '[':
    case '(':
        rest->depth++;
        return go(rest, x, 1, INSIDE);
    default:
        *is_other = true;
        return false;
    }
}

static bool
step_value(ionf_txt_rest *rest, ionf_txt_lex *x)
{
    if (x->p == x->end) {
        return false;
    }
    if (ionf_txt_is(*x->p, IONF_TXT_IDENT_START)) {
        rest->word_len = 0;
        return go(rest, x, 0, IN_IDENT);
    }
    bool is_other = false;
    const bool went = step_opening(rest, x, &is_other);
    /* What is neither a number nor anything else is for the reader to refuse. */
    return is_other ? go(rest, x, ionf_txt_is(*x->p, IONF_TXT_NUMBER) || *x->p == '+', IN_NUMBER)
                    : went;
}

/* After a symbol at depth 0: `::`, or the symbol was the value. */
static bool
step_after_name(ionf_txt_rest *rest, ionf_txt_lex *x)
{
    const size_t left = (size_t)(x->end - x->p);
    if (left == 0 || *x->p != ':') {
        return (left != 0 || x->is_final) && go(rest, x, 0, IS_DONE);
    }
    if (left < 2) {
        return x->is_final && go(rest, x, 0, IS_DONE);
    }
    return x->p[1] == ':' ? go(rest, x, 2, AT_VALUE) : go(rest, x, 0, IS_DONE);
}

/* After a segment of a long string at depth 0. */
static bool
step_after_long(ionf_txt_rest *rest, ionf_txt_lex *x)
{
    if (x->p == x->end || *x->p != '\'') {
        return (x->p != x->end || x->is_final) && go(rest, x, 0, IS_DONE);
    }
    const size_t quotes = quotes_at(x);
    return quotes != 0 && (quotes == 3 ? go(rest, x, 3, IN_LONG) : go(rest, x, 0, IS_DONE));
}

static bool
step_inside(ionf_txt_rest *rest, ionf_txt_lex *x)
{
    if (x->p == x->end) {
        return false;
    }
    if (*x->p == ']' || *x->p == ')' || *x->p == '}') {
        rest->depth--;
        return go_past(rest, x, 1, rest->depth == 0 ? IS_DONE : INSIDE);
    }
    bool is_other = false;
    const bool went = step_opening(rest, x, &is_other);
    return is_other ? go(rest, x, 1, INSIDE) : went;
}

static bool
step(ionf_txt_rest *rest, ionf_txt_lex *x)
{
    switch ((rest_state)rest->state) {
    case AT_VALUE:
        return step_value(rest, x);
    case AFTER_NAME:
        return step_after_name(rest, x);
    case AFTER_LONG:
        return step_after_long(rest, x);
    case IN_IDENT:
        return step_ident(rest, x);
    case IN_NUMBER:
        return step_number(rest, x);
    case IN_STRING:
        return step_text(rest, x, '"', false, state_after(rest));
    case IN_SYMBOL:
        return step_text(rest, x, '\'', false, state_after(rest));
    case IN_LONG:
        return step_text(rest, x, '\'', true, state_after(rest));
    case IN_LOB:
        return step_lob(rest, x);
    case IN_LOB_STRING:
        return step_text(rest, x, '"', false, IN_LOB);
    case IN_LOB_LONG:
        return step_text(rest, x, '\'', true, IN_LOB);
    default:
        return step_inside(rest, x);
    }
}

/* ---- the whole ---- */

/* White space and comments may stand before `state`. */
static bool
is_between_words(unsigned state)
{
    return state <= INSIDE;
}

/* Until the value has ended or the bytes have. IONF_NEED_DATA also where the input ends too soon. */
static ionf_status
run_words(ionf_txt_rest *rest, ionf_txt_lex *x)
{
    while (rest->state != IS_DONE) {
        if (is_between_words(rest->state)) {
            const ionf_status status = ionf_txt_lex_space(x);
            if (status != IONF_OK) {
                return status;
            }
        }
        if (!step(rest, x)) {
            return IONF_NEED_DATA;
        }
    }
    return IONF_OK;
}

/* The same in steps, as if no more had arrived than what each can see: so the host is asked between them. */
static ionf_status
run(ionf_txt_reader *r, ionf_txt_lex *x)
{
    for (;;) {
        x->end = ionf_step_end(x->p, r->base.end);
        x->is_final = r->base.is_final && x->end == r->base.end;
        const ionf_status status = run_words(&r->rest, x);
        if (status != IONF_NEED_DATA || x->end == r->base.end) {
            return status;
        }
        if (ionf_alloc_ask(&r->base.alloc) != IONF_OK) {
            return IONF_ERR_INTERRUPTED;
        }
    }
}

/* Longest form of the annotation $ion_symbol_table: each character an escape of ten bytes. */
#define SYMTAB_ANNOTATION_MAX 172

/* Escaped line breaks make a name of any length in the input. Nobody writes that. */
static bool
has_escaped_newline(const uint8_t *p, const uint8_t *end)
{
    for (; end - p >= 2; p++) {
        if (p[0] == '\\' && (p[1] == '\n' || p[1] == '\r')) {
            return true;
        }
    }
    return false;
}

/* Does the value at `at` begin with the annotation $ion_symbol_table? Then it must not be passed
 * over. IONF_NEED_DATA as long as that cannot be told. */
static ionf_status
check_symtab(ionf_txt_reader *r, const uint8_t *at)
{
    static const char name[] = "$ion_symbol_table";
    const size_t name_len = sizeof name - 1;
    ionf_txt_lex x = {at, r->base.end, r->base.is_final, IONF_TXT_NO_COMMENT, r->scratch, NULL};
    const uint8_t *text = x.p;
    size_t len = 0;
    ionf_status status = IONF_OK;
    if (*x.p == '$') {
        x.p = ionf_txt_ident_end(x.p, x.end);
        len = (size_t)(x.p - text);
        status = x.p == x.end && !x.is_final ? IONF_NEED_DATA : IONF_OK;
        uint64_t sid;
        if (status == IONF_OK && ionf_txt_lex_is_sid(text, len, &sid)) {
            return ionf_symtab_is_text(&r->base.symtab, sid, name, name_len) ? IONF_ERR_VALUE_SIZE
                                                                             : IONF_OK;
        }
    } else if (*x.p == '\'') {
        ionf_txt_text symbol = {NULL, 0, 0, false};
        ionf_buf_reset(r->scratch);
        x.p++;
        status = ionf_txt_lex_quoted(&x, IONF_TXT_SYMBOL, &symbol);
        if (status == IONF_ERR_NOMEM || status == IONF_ERR_INTERRUPTED) {
            return status;
        }
        if (status == IONF_OK && symbol.len == name_len) {
            text = symbol.data != NULL ? symbol.data : r->scratch->data + symbol.start;
            len = symbol.len;
        }
    }
    if (status == IONF_NEED_DATA) {
        return r->base.end - at < SYMTAB_ANNOTATION_MAX ? IONF_NEED_DATA
               : has_escaped_newline(at, r->base.end)   ? IONF_ERR_VALUE_SIZE
                                                        : IONF_OK;
    }
    return len == name_len && memcmp(text, name, len) == 0 ? IONF_ERR_VALUE_SIZE : IONF_OK;
}

/* Take over from the reader, which has just refused the value. */
static ionf_status
begin(ionf_txt_reader *r)
{
    if (r->base.error.status != IONF_ERR_VALUE_SIZE) {
        return IONF_ERR_STATE;
    }
    if (r->base.in_lst) {
        return IONF_ERR_VALUE_SIZE;
    }
    ionf_txt_rest *rest = &r->rest;
    const uint64_t here = ionf_reader_offset(&r->base, r->base.p);
    const uint64_t offset = r->base.error.offset;
    rest->state = r->base.depth != 0 ? INSIDE : here == offset ? AT_VALUE : IS_DONE;
    /* A value that began before the window has been seen by the reader: in_lst tells. */
    if (offset >= r->base.base_offset) {
        const ionf_status status =
            check_symtab(r, r->base.start + (size_t)(offset - r->base.base_offset));
        if (status != IONF_OK) {
            return status;
        }
    }
    const ionf_error no_error = {IONF_OK, IONF_FOUND_NONE, 0, 0, 0, NULL};
    r->base.error = no_error;
    rest->is_active = true;
    rest->begin = offset;
    rest->end = here;
    rest->depth = r->base.depth;
    return IONF_OK;
}

/* Give back to the reader, at top level. */
static void
finish(ionf_txt_reader *r)
{
    r->rest.is_active = false;
    r->base.depth = 0;
    ionf_txt_set_container(r, IONF_KIND_EOF);
    r->after_value = false;
    r->is_skipping = false;
    r->find.is_active = false;
    r->value_limit = r->top_limit;
    r->needs_general = false;
}

static ionf_status
discard(ionf_txt_reader *r, uint64_t *size)
{
    ionf_txt_rest *rest = &r->rest;
    if (!rest->is_active) {
        const ionf_status status = begin(r);
        if (status != IONF_OK) {
            return status;
        }
    }
    ionf_txt_lex x = {r->base.p, r->base.end, r->base.is_final, r->comment, r->scratch, NULL};
    rest->window = x.p;
    rest->window_offset = ionf_reader_offset(&r->base, x.p);
    ionf_status status = run(r, &x);
    r->base.p = x.p;
    r->comment = x.comment;
    *size = rest->end - rest->begin;
    if (status == IONF_OK) {
        finish(r);
    } else if (status != IONF_ERR_INTERRUPTED && (status != IONF_NEED_DATA || r->base.is_final)) {
        rest->is_active = false;
        status =
            ionf_txt_fail(r, status == IONF_NEED_DATA ? IONF_ERR_TRUNCATED : status, r->base.end,
                          "the end of a value that is larger than max_value_size");
    }
    return status;
}

ionf_status
ionf_txt_discard(ionf_txt_reader *r, uint64_t *size)
{
    ionf_txt_show_all(r);
    const ionf_status status = discard(r, size);
    ionf_txt_show_step(r);
    return status;
}
