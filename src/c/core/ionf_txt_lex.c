/* The words of Ion text, out of line: comments, escapes, numbers in all their forms, lobs.
 *
 * Ion specification, "Ion Text Encoding" (lexer rules) and "Strings and Clobs". Knows nothing of
 * containers, annotations or symbol tables.
 */
#include "ionf_txt_lex.h"

#include "ionf_b64.h"
#include "ionf_num.h"
#include "ionf_ts.h"
#include "ionf_utf8.h"

/* ---- ends and errors ---- */

ionf_status
ionf_txt_lex_end(ionf_txt_lex *x, const char *expected)
{
    x->p = x->end;
    x->expected = expected;
    return x->is_final ? IONF_ERR_TRUNCATED : IONF_NEED_DATA;
}

ionf_status
ionf_txt_lex_unexpected(ionf_txt_lex *x, ionf_status status, const char *expected)
{
    if (x->p == x->end) {
        return ionf_txt_lex_end(x, expected);
    }
    x->expected = expected;
    return status;
}

bool
ionf_txt_lex_is_cut(const uint8_t *p, const uint8_t *end)
{
    const size_t len = (size_t)(end - p);
    if (len == 0 || len >= 4) {
        return false;
    }
    const size_t needed = *p < 0xE0 ? 2 : *p < 0xF0 ? 3 : 4;
    /* Whatever valid beginning there is, one of these two bytes goes on with it. */
    static const uint8_t tails[] = {0x80, 0xA0};
    for (size_t i = 0; i < sizeof tails && len < needed; i++) {
        uint8_t whole[4];
        memset(whole, tails[i], sizeof whole);
        memcpy(whole, p, len);
        if (ionf_utf8_check(whole, needed, NULL) == needed) {
            return true;
        }
    }
    return false;
}

/* ---- long tokens ---- */

/* A step is behind: the next one ends at `*bound`, if the host wants to go on. */
static ionf_status
next_step(const ionf_txt_lex *x, const uint8_t **bound)
{
    return ionf_step_next(&x->scratch->alloc, x->p, x->end, bound);
}

/* The same where p has come to `bound` or further; at the end there is no next step. */
static inline ionf_status
look_around(const ionf_txt_lex *x, const uint8_t **bound)
{
    return IONF_LIKELY(x->p < *bound) || *bound == x->end ? IONF_OK : next_step(x, bound);
}

/* Check [p, stop) and go there. A sequence cut off by `bound`, where more may follow, is left alone: p
 * then stands before it. */
static ionf_status
advance_checked(ionf_txt_lex *x, const uint8_t *stop, const uint8_t *bound)
{
    const size_t len = (size_t)(stop - x->p);
    size_t valid;
    const ionf_status status = ionf_utf8_check_steps(&x->scratch->alloc, x->p, len, NULL, &valid);
    x->p += valid;
    if (status != IONF_OK || valid == len || (stop == bound && ionf_txt_lex_is_cut(x->p, stop))) {
        return status;
    }
    x->expected = NULL;
    return IONF_ERR_UTF8;
}

/* Past plain white space, however much. */
static ionf_status
plain_space(ionf_txt_lex *x)
{
    const uint8_t *bound = ionf_step_end(x->p, x->end);
    ionf_status status = IONF_OK;
    for (;;) {
        x->p = ionf_txt_space(x->p, bound);
        if (x->p != bound || bound == x->end) {
            return IONF_OK;
        }
        status = next_step(x, &bound);
        if (status != IONF_OK) {
            return status;
        }
    }
}

/* ---- white space and comments ---- */

static ionf_status
line_comment(ionf_txt_lex *x)
{
    const uint8_t *stop = x->p;
    for (;;) {
        const uint8_t *const bound = ionf_step_end(stop, x->end);
        while (stop != bound && *stop != '\n' && *stop != '\r') {
            stop++;
        }
        const bool goes_on = stop == bound && bound != x->end;
        /* Cut off by a step or by the end of the input: it may go on. */
        const ionf_status status = advance_checked(x, stop, bound);
        if (status != IONF_OK) {
            return status;
        }
        if (!goes_on) {
            break;
        }
        if (ionf_alloc_ask(&x->scratch->alloc) != IONF_OK) {
            return IONF_ERR_INTERRUPTED;
        }
    }
    if (stop == x->end && !x->is_final) {
        return IONF_NEED_DATA;
    }
    if (x->p != stop) {
        x->expected = NULL;
        return IONF_ERR_UTF8;
    }
    x->comment = IONF_TXT_NO_COMMENT;
    return IONF_OK;
}

/* Where the next star is, or no further than `bound`. */
static const uint8_t *
find_star(const uint8_t *p, const uint8_t *bound)
{
    const uint8_t *const star = p == bound ? NULL : memchr(p, '*', (size_t)(bound - p));
    return star == NULL ? bound : star;
}

static ionf_status
block_comment(ionf_txt_lex *x)
{
    const uint8_t *stop = x->p;
    const uint8_t *bound = ionf_step_end(stop, x->end);
    for (;;) {
        const uint8_t *const star = find_star(stop, bound);
        ionf_status status = IONF_OK;
        if (star == bound && bound != x->end) {
            status = advance_checked(x, star, bound);
            if (status == IONF_OK) {
                status = next_step(x, &bound);
            }
            stop = star;
        } else if (x->end - star < 2) { /* no star, or the input ends with it */
            status = advance_checked(x, star, x->end);
            if (status != IONF_OK) {
                return status;
            }
            return x->is_final ? ionf_txt_lex_end(x, "'*/' to end a comment") : IONF_NEED_DATA;
        } else if (star[1] == '/') {
            status = advance_checked(x, star, NULL);
            if (status == IONF_OK) {
                x->p = star + 2;
                x->comment = IONF_TXT_NO_COMMENT;
            }
            return status;
        } else {
            stop = star + 1;
        }
        if (status != IONF_OK) {
            return status;
        }
    }
}

ionf_status
ionf_txt_lex_space(ionf_txt_lex *x)
{
    const uint8_t *bound = ionf_step_end(x->p, x->end);
    for (;;) {
        ionf_status status = look_around(x, &bound);
        if (status != IONF_OK) {
            return status;
        }
        if (x->comment == IONF_TXT_NO_COMMENT) {
            x->p = ionf_txt_space(x->p, bound);
            if (x->p == bound && bound != x->end) {
                continue;
            }
            if (x->p == x->end || *x->p != '/') {
                return IONF_OK;
            }
            if (x->end - x->p < 2) {
                return x->is_final ? IONF_OK : IONF_NEED_DATA;
            }
            if (x->p[1] != '/' && x->p[1] != '*') {
                return IONF_OK;
            }
            x->comment = x->p[1] == '/' ? IONF_TXT_LINE_COMMENT : IONF_TXT_BLOCK_COMMENT;
            x->p += 2;
        }
        status = x->comment == IONF_TXT_LINE_COMMENT ? line_comment(x) : block_comment(x);
        if (status != IONF_OK) {
            return status;
        }
    }
}

/* ---- quoted text ---- */

static const char *
closing_of(ionf_txt_form form)
{
    switch (form) {
    case IONF_TXT_STRING:
    case IONF_TXT_CLOB:
        return "'\"' to end a string";
    case IONF_TXT_SYMBOL:
        return "\"'\" to end a quoted symbol";
    default:
        return "\"'''\" to end a long string";
    }
}

static inline bool
is_clob(ionf_txt_form form)
{
    return form == IONF_TXT_CLOB || form == IONF_TXT_CLOB_LONG;
}

static inline bool
is_long_form(ionf_txt_form form)
{
    return form == IONF_TXT_LONG || form == IONF_TXT_CLOB_LONG;
}

static inline unsigned
hex_value(uint8_t digit)
{
    return digit <= '9' ? digit - (unsigned)'0' : (digit | 0x20u) - (unsigned)'a' + 10;
}

/* `count` hexadecimal digits at p. */
static ionf_status
hex_digits(ionf_txt_lex *x, int count, uint32_t *out)
{
    uint32_t value = 0;
    for (int i = 0; i < count; i++) {
        if (x->p == x->end || !ionf_txt_is(*x->p, IONF_TXT_HEX)) {
            return ionf_txt_lex_unexpected(x, IONF_ERR_ESCAPE,
                                           count == 2   ? "2 hexadecimal digits after '\\x'"
                                           : count == 4 ? "4 hexadecimal digits after '\\u'"
                                                        : "8 hexadecimal digits after '\\U'");
        }
        value = value << 4 | hex_value(*x->p++);
    }
    *out = value;
    return IONF_OK;
}

/* p is after an escaped first half of a surrogate pair: the second half must follow, escaped
 * too. */
static ionf_status
second_half(ionf_txt_lex *x, uint32_t *code_point)
{
    static const char expected[] = "'\\u' and the second half of a surrogate pair";
    for (const char *c = "\\u"; *c != '\0'; c++) {
        if (x->p == x->end || *x->p != (uint8_t)*c) {
            return ionf_txt_lex_unexpected(x, IONF_ERR_ESCAPE, expected);
        }
        x->p++;
    }
    const uint8_t *digits = x->p;
    uint32_t low;
    const ionf_status status = hex_digits(x, 4, &low);
    if (status != IONF_OK) {
        return status;
    }
    if (low < 0xDC00 || low > 0xDFFF) {
        x->p = digits;
        return ionf_txt_lex_unexpected(x, IONF_ERR_ESCAPE, expected);
    }
    *code_point = 0x10000 + ((*code_point - 0xD800) << 10) + (low - 0xDC00);
    return IONF_OK;
}

/* \u and \U, from after the letter. */
static ionf_status
unicode_escape(ionf_txt_lex *x, int digit_count, uint32_t *code_point)
{
    const uint8_t *backslash = x->p - 2;
    ionf_status status = hex_digits(x, digit_count, code_point);
    if (status == IONF_OK && digit_count == 4 && *code_point >= 0xD800 && *code_point < 0xDC00) {
        status = second_half(x, code_point);
    }
    if (status != IONF_OK) {
        return status;
    }
    if (*code_point > 0x10FFFF || (*code_point >= 0xD800 && *code_point <= 0xDFFF)) {
        x->p = backslash;
        x->expected = "the escape of a code point up to 10FFFF that is not half of a pair";
        return IONF_ERR_ESCAPE;
    }
    return IONF_OK;
}

/* What a one-letter escape stands for, or -1. */
static int
letter_escape(uint8_t letter)
{
    switch (letter) {
    case '0':
        return 0;
    case 'a':
        return '\a';
    case 'b':
        return '\b';
    case 't':
        return '\t';
    case 'n':
        return '\n';
    case 'f':
        return '\f';
    case 'r':
        return '\r';
    case 'v':
        return '\v';
    case '"':
    case '\'':
    case '?':
    case '\\':
    case '/':
        return letter;
    default:
        return -1;
    }
}

static ionf_status
push_code_point(ionf_txt_lex *x, uint32_t code_point, bool *is_ascii)
{
    const ionf_status status = ionf_buf_reserve(x->scratch, 4);
    if (status == IONF_OK) {
        x->scratch->len += ionf_utf8_put(x->scratch->data + x->scratch->len, code_point);
        *is_ascii = *is_ascii && code_point < 0x80;
    }
    return status;
}

/* Past an escaped line break, which stands for nothing. p is at the LF or CR. */
static ionf_status
escaped_newline(ionf_txt_lex *x, ionf_txt_form form)
{
    if (*x->p++ == '\r') {
        if (x->p == x->end) {
            return ionf_txt_lex_end(x, closing_of(form));
        }
        x->p += *x->p == '\n';
    }
    return IONF_OK;
}

/* One escape, from its backslash; what it stands for goes to the scratch. */
static ionf_status
escape(ionf_txt_lex *x, ionf_txt_form form, bool *is_ascii)
{
    if (x->end - x->p < 2) {
        return ionf_txt_lex_end(x, closing_of(form));
    }
    x->p++;
    const uint8_t letter = *x->p;
    const int simple = letter_escape(letter);
    if (simple >= 0) {
        x->p++;
        return ionf_buf_push(x->scratch, (uint8_t)simple);
    }
    if (letter == '\n' || letter == '\r') {
        return escaped_newline(x, form);
    }
    uint32_t code_point;
    ionf_status status;
    if (letter == 'x') {
        x->p++;
        status = hex_digits(x, 2, &code_point);
        if (status == IONF_OK && is_clob(form)) {
            return ionf_buf_push(x->scratch, (uint8_t)code_point);
        }
    } else if ((letter == 'u' || letter == 'U') && !is_clob(form)) {
        x->p++;
        status = unicode_escape(x, letter == 'u' ? 4 : 8, &code_point);
    } else {
        return ionf_txt_lex_unexpected(x, IONF_ERR_ESCAPE,
                                       is_clob(form) ? "an escape that a clob may have after '\\'"
                                                     : "an escape character after '\\'");
    }
    return status == IONF_OK ? push_code_point(x, code_point, is_ascii) : status;
}

ionf_status
ionf_txt_lex_is_long(ionf_txt_lex *x, bool *is_long)
{
    const size_t left = (size_t)(x->end - x->p);
    *is_long = left >= 3 && x->p[1] == '\'' && x->p[2] == '\'';
    if (left < 3 && !x->is_final && (left < 2 || x->p[1] == '\'')) {
        return ionf_txt_lex_end(x, "the rest of a quoted text");
    }
    return IONF_OK;
}

/* The text between quotes while it is being read: [run, p) has been checked but not copied. */
typedef struct quoted {
    ionf_txt_form form;
    const uint8_t *run;
    size_t start; /* in scratch */
    bool is_copied, is_ascii;
} quoted;

static ionf_status
copy_run(const ionf_txt_lex *x, quoted *q)
{
    q->is_copied = true;
    return ionf_buf_append_steps(x->scratch, q->run, (size_t)(x->p - q->run));
}

static ionf_status
close_quoted(ionf_txt_lex *x, quoted *q, ionf_txt_text *out)
{
    if (q->is_copied) {
        const ionf_status status = copy_run(x, q);
        if (status != IONF_OK) {
            return status;
        }
    }
    out->data = q->is_copied ? NULL : q->run;
    out->start = q->start;
    out->len = q->is_copied ? x->scratch->len - q->start : (size_t)(x->p - q->run);
    out->is_ascii = q->is_ascii;
    x->p += is_long_form(q->form) ? 3 : 1;
    return IONF_OK;
}

/* A raw CR in a long string: it, and an LF after it, become one LF. */
static ionf_status
normalise_newline(ionf_txt_lex *x, quoted *q)
{
    ionf_status status = copy_run(x, q);
    if (status == IONF_OK) {
        status = ionf_buf_push(x->scratch, '\n');
    }
    x->p++;
    x->p += x->p != x->end && *x->p == '\n';
    q->run = x->p;
    return status;
}

/* A byte below 0x20 at p. */
static ionf_status
control_byte(ionf_txt_lex *x, quoted *q)
{
    const bool may_break = is_long_form(q->form);
    if (*x->p == '\r' && may_break) {
        return normalise_newline(x, q);
    }
    if (*x->p == '\t' || *x->p == '\v' || *x->p == '\f' || (*x->p == '\n' && may_break)) {
        x->p++;
        return IONF_OK;
    }
    return ionf_txt_lex_unexpected(x, is_clob(q->form) ? IONF_ERR_LOB : IONF_ERR_SYNTAX,
                                   *x->p == '\n' || *x->p == '\r'
                                       ? closing_of(q->form)
                                       : "an escape for a control character");
}

/* [p, stop) has bytes from 0x80; p moves to `stop`, or to a sequence that `bound` cuts off. */
static ionf_status
high_run(ionf_txt_lex *x, quoted *q, const uint8_t *stop, const uint8_t *bound)
{
    q->is_ascii = false;
    if (!is_clob(q->form)) {
        return advance_checked(x, stop, bound);
    }
    while (*x->p < 0x80) {
        x->p++;
    }
    return ionf_txt_lex_unexpected(x, IONF_ERR_LOB, "an ASCII character or an escape in a clob");
}

ionf_status
ionf_txt_lex_quoted(ionf_txt_lex *x, ionf_txt_form form, ionf_txt_text *out)
{
    const uint8_t quote = form == IONF_TXT_STRING || form == IONF_TXT_CLOB ? '"' : '\'';
    quoted q = {form, x->p, x->scratch->len, false, true};
    const uint8_t *bound = ionf_step_end(x->p, x->end);
    for (;;) {
        bool has_high = false;
        ionf_status status = look_around(x, &bound);
        if (status != IONF_OK) {
            return status;
        }
        const uint8_t *stop = ionf_txt_scan(x->p, bound, quote, &has_high);
        if (has_high) {
            status = high_run(x, &q, stop, bound);
            if (status != IONF_OK) {
                return status;
            }
        }
        if (stop == bound && bound != x->end) {
            x->p = has_high ? x->p : stop;
            status = next_step(x, &bound);
            if (status != IONF_OK) {
                return status;
            }
            continue;
        }
        x->p = stop;
        if (stop == x->end) {
            return ionf_txt_lex_end(x, closing_of(form));
        }
        if (*stop == quote) {
            if (!is_long_form(form)) {
                return close_quoted(x, &q, out);
            }
            if (x->end - stop >= 3 ? stop[1] == quote && stop[2] == quote : false) {
                return close_quoted(x, &q, out);
            }
            x->p++;
        } else if (*stop == '\\') {
            status = copy_run(x, &q);
            if (status == IONF_OK) {
                status = escape(x, form, &q.is_ascii);
                q.run = x->p;
            }
        } else {
            status = control_byte(x, &q);
        }
        if (status != IONF_OK) {
            return status;
        }
    }
}

/* Make `text` a part of the scratch, at its end. */
static ionf_status
text_to_scratch(ionf_txt_lex *x, ionf_txt_text *text)
{
    if (text->data == NULL) {
        return IONF_OK;
    }
    text->start = x->scratch->len;
    const ionf_status status = ionf_buf_append_steps(x->scratch, text->data, text->len);
    text->data = NULL;
    return status;
}

/* One more segment onto `out`, which is empty before the first. p is at the segment's quotes. */
static ionf_status
add_segment(ionf_txt_lex *x, ionf_txt_form form, ionf_txt_text *out, bool is_first)
{
    ionf_txt_text segment;
    x->p += 3;
    if (is_first) {
        return ionf_txt_lex_quoted(x, form, out);
    }
    ionf_status status = text_to_scratch(x, out);
    if (status == IONF_OK) {
        status = ionf_txt_lex_quoted(x, form, &segment);
    }
    if (status == IONF_OK) {
        status = text_to_scratch(x, &segment);
    }
    if (status == IONF_OK) {
        out->len += segment.len;
        out->is_ascii = out->is_ascii && segment.is_ascii;
    }
    return status;
}

/* All segments; between those of a clob there may be no comments. */
static ionf_status
segments(ionf_txt_lex *x, ionf_txt_form form, ionf_txt_text *out)
{
    const uint8_t *bound = ionf_step_end(x->p, x->end);
    for (bool is_first = true;; is_first = false) {
        ionf_status status = look_around(x, &bound);
        if (status == IONF_OK) {
            status = add_segment(x, form, out, is_first);
        }
        if (status != IONF_OK) {
            return status;
        }
        const uint8_t *after = x->p;
        if (form == IONF_TXT_LONG) {
            status = ionf_txt_lex_space(x);
            if (status != IONF_OK) {
                return status;
            }
        } else {
            status = plain_space(x);
            if (status != IONF_OK) {
                return status;
            }
        }
        bool is_long = false;
        if (x->p == x->end) {
            if (!x->is_final) {
                return IONF_NEED_DATA;
            }
        } else if (*x->p == '\'') {
            status = ionf_txt_lex_is_long(x, &is_long);
            if (status != IONF_OK) {
                return status;
            }
        }
        if (!is_long) {
            x->p = after;
            return IONF_OK;
        }
    }
}

ionf_status
ionf_txt_lex_long(ionf_txt_lex *x, ionf_txt_text *out)
{
    return segments(x, IONF_TXT_LONG, out);
}

/* ---- lobs ---- */

static ionf_status
lob_end(ionf_txt_lex *x)
{
    for (int i = 0; i < 2; i++) {
        if (x->p == x->end || *x->p != '}') {
            return ionf_txt_lex_unexpected(x, IONF_ERR_LOB, "'}}' to end a blob or clob");
        }
        x->p++;
    }
    return IONF_OK;
}

static ionf_status
clob(ionf_txt_lex *x, bool is_long, ionf_token *token)
{
    ionf_txt_text text;
    ionf_status status;
    if (is_long) {
        status = segments(x, IONF_TXT_CLOB_LONG, &text);
    } else {
        x->p++;
        status = ionf_txt_lex_quoted(x, IONF_TXT_CLOB, &text);
    }
    if (status == IONF_OK) {
        status = plain_space(x);
    }
    if (status != IONF_OK) {
        return status;
    }
    status = lob_end(x);
    if (status == IONF_OK) {
        token->kind = IONF_KIND_CLOB;
        token->as.bytes.data = text.data != NULL ? text.data
                               : text.len == 0   ? NULL
                                                 : x->scratch->data + text.start;
        token->as.bytes.len = text.len;
    }
    return status;
}

static inline bool
is_base64(uint8_t byte)
{
    return byte == '+' || byte == '/' || byte == '=' ||
           (ionf_txt_is(byte, IONF_TXT_IDENT | IONF_TXT_SPACE) && byte != '_' && byte != '$');
}

/* Where the base64 at p ends: at the '}', or without one after the first byte that is wrong, so
 * that the same error is found however much of the input is there. NULL when the bytes run out. */
static ionf_status
base64_end(const ionf_txt_lex *x, const uint8_t **stop)
{
    const size_t left = (size_t)(x->end - x->p);
    *stop = left == 0 ? NULL : memchr(x->p, '}', left);
    if (*stop != NULL) {
        return IONF_OK;
    }
    ionf_txt_lex look = *x;
    const uint8_t *bound = ionf_step_end(look.p, look.end);
    while (look.p != look.end && is_base64(*look.p)) {
        look.p++;
        const ionf_status status = look_around(&look, &bound);
        if (status != IONF_OK) {
            return status;
        }
    }
    *stop = look.p == look.end ? NULL : look.p + 1;
    return IONF_OK;
}

static ionf_status
blob(ionf_txt_lex *x, ionf_token *token)
{
    const uint8_t *stop;
    ionf_status status = base64_end(x, &stop);
    if (status != IONF_OK) {
        return status;
    }
    if (stop == NULL) {
        return ionf_txt_lex_end(x, "'}}' to end a blob or clob");
    }
    const size_t start = x->scratch->len;
    size_t error_at = 0;
    status = ionf_b64_decode(x->p, (size_t)(stop - x->p), x->scratch, &error_at);
    if (status != IONF_OK) {
        x->p += status == IONF_ERR_BASE64 ? error_at : 0;
        x->expected = x->p == stop ? "complete base64 groups of four before '}}'"
                                   : "base64 or '}}' to end a blob";
        return status;
    }
    x->p = stop;
    status = lob_end(x);
    if (status == IONF_OK) {
        token->kind = IONF_KIND_BLOB;
        token->as.bytes.len = x->scratch->len - start;
        token->as.bytes.data = token->as.bytes.len == 0 ? NULL : x->scratch->data + start;
    }
    return status;
}

ionf_status
ionf_txt_lex_lob(ionf_txt_lex *x, ionf_token *token)
{
    const ionf_status space = plain_space(x);
    if (space != IONF_OK) {
        return space;
    }
    if (x->p != x->end && *x->p == '"') {
        return clob(x, false, token);
    }
    if (x->p != x->end && *x->p == '\'') {
        bool is_long;
        const ionf_status status = ionf_txt_lex_is_long(x, &is_long);
        if (status != IONF_OK) {
            return status;
        }
        return is_long ? clob(x, true, token)
                       : ionf_txt_lex_unexpected(x, IONF_ERR_LOB, "base64 or a string in '{{'");
    }
    return blob(x, token);
}

/* ---- numbers ---- */

/* The parts of a number, found before any of it is converted. */
typedef struct number {
    const uint8_t *digits; /* of the whole part */
    const uint8_t *digits_end;
    const uint8_t *fraction; /* after the point; NULL without a point */
    const uint8_t *fraction_end;
    size_t digit_count, fraction_count;
    int64_t exponent;
    bool is_negative, has_underscore, has_exponent, is_float;
} number;

static inline bool
is_digit_of(uint8_t byte, unsigned radix)
{
    return radix == 10   ? ionf_txt_is(byte, IONF_TXT_DIGIT)
           : radix == 16 ? ionf_txt_is(byte, IONF_TXT_HEX)
                         : (byte & 0xFE) == '0';
}

/* One or more digits, single underscores between them. */
static ionf_status
digit_run(ionf_txt_lex *x, unsigned radix, size_t *count, bool *has_underscore)
{
    size_t n = 0;
    const uint8_t *bound = ionf_step_end(x->p, x->end);
    for (;;) {
        const uint8_t *run = x->p;
        while (x->p != bound && is_digit_of(*x->p, radix)) {
            x->p++;
            const ionf_status status = look_around(x, &bound);
            if (status != IONF_OK) {
                return status;
            }
        }
        if (x->p == run) {
            return ionf_txt_lex_unexpected(x, IONF_ERR_NUMBER,
                                           n == 0 ? "a digit" : "a digit after '_'");
        }
        n += (size_t)(x->p - run);
        if (x->p == x->end || *x->p != '_') {
            *count = n;
            return IONF_OK;
        }
        *has_underscore = true;
        x->p++;
        const ionf_status status = look_around(x, &bound);
        if (status != IONF_OK) {
            return status;
        }
    }
}

ionf_status
ionf_txt_lex_is_stop(const ionf_txt_lex *x, const uint8_t *p, bool *is_stop)
{
    *is_stop = p == x->end || ionf_txt_is(*p, IONF_TXT_STOP);
    if (p == x->end || *p != '/') {
        return IONF_OK;
    }
    if (x->end - p < 2) {
        return x->is_final ? IONF_OK : IONF_NEED_DATA;
    }
    *is_stop = p[1] == '/' || p[1] == '*';
    return IONF_OK;
}

/* What stands after a number must end it. */
static ionf_status
number_stop(ionf_txt_lex *x)
{
    bool is_stop;
    const ionf_status status = ionf_txt_lex_is_stop(x, x->p, &is_stop);
    if (status != IONF_OK || is_stop) {
        return status;
    }
    return ionf_txt_lex_unexpected(x, IONF_ERR_NUMBER, "the end of the number");
}

/* Append [p, end) without underscores. */
static ionf_status
append_digits(ionf_buf *buf, const uint8_t *p, const uint8_t *end)
{
    ionf_status status = ionf_buf_reserve(buf, (size_t)(end - p));
    while (status == IONF_OK && p != end) {
        const uint8_t *const bound = ionf_step_end(p, end);
        for (; p != bound; p++) {
            if (*p != '_') {
                buf->data[buf->len++] = *p;
            }
        }
        status = p != end ? ionf_alloc_ask(&buf->alloc) : IONF_OK;
    }
    return status;
}

/* 0x... and 0b..., from after the letter. */
static ionf_status
radix_int(ionf_txt_lex *x, unsigned radix, bool is_negative, ionf_token *token)
{
    const uint8_t *digits = x->p;
    size_t count;
    bool has_underscore = false;
    ionf_status status = digit_run(x, radix, &count, &has_underscore);
    if (status == IONF_OK) {
        status = number_stop(x);
    }
    ionf_buf *scratch = x->scratch;
    const size_t start = scratch->len;
    if (status == IONF_OK) {
        status = append_digits(scratch, digits, x->p);
    }
    /* Room enough that converting, which reads the digits here, cannot move them. */
    if (status == IONF_OK) {
        status = ionf_buf_reserve(scratch, count + 16);
    }
    const size_t bytes = scratch->len;
    if (status == IONF_OK) {
        status = ionf_num_radix_to_be(scratch->data + start, count, radix, scratch);
    }
    if (status != IONF_OK) {
        return status;
    }
    token->kind = IONF_KIND_INT;
    token->as.integer =
        ionf_num_integer_from_be(scratch->data + bytes, scratch->len - bytes, is_negative);
    if (token->as.integer.form == IONF_INT_U64 && token->as.integer.u64 == 0) {
        token->as.integer.is_negative = false;
    }
    return IONF_OK;
}

/* An exponent that no double cares beyond, and that leaves room to subtract digit counts. */
#define FLOAT_EXPONENT_LIMIT (INT64_MAX / 4)

static ionf_status
exponent_error(ionf_txt_lex *x, const uint8_t *at)
{
    x->p = at;
    x->expected = "a decimal exponent that fits 64 bits";
    return IONF_ERR_RANGE;
}

/* The negated value of digits and single underscores, so that the least int64, which has no positive
 * twin, can be said; false when it does not fit. */
static bool
negated_value(const uint8_t *p, const uint8_t *end, int64_t *value)
{
    *value = 0;
    for (; p != end; p++) {
        if (*p == '_') {
            continue;
        }
        const int digit = *p - '0';
        if (*value < (INT64_MIN + digit) / 10) {
            return false;
        }
        *value = *value * 10 - digit;
    }
    return true;
}

/* The exponent of the last digit that is written, from the exponent's sign on. One that does
 * not fit is an error for a decimal; a float is 0 or infinite anyway. */
static ionf_status
exponent_digits(ionf_txt_lex *x, number *n)
{
    const uint8_t *start = x->p;
    bool is_negative = false;
    if (x->p != x->end && (*x->p == '+' || *x->p == '-')) {
        is_negative = *x->p++ == '-';
    }
    const uint8_t *digits = x->p;
    size_t count;
    bool has_underscore = false;
    const ionf_status status = digit_run(x, 10, &count, &has_underscore);
    if (status != IONF_OK) {
        if (x->p == digits) {
            x->expected = "a digit in the exponent";
        }
        return status;
    }
    int64_t value;
    const bool fits = negated_value(digits, x->p, &value);
    if (n->is_float) {
        value = fits && value > -FLOAT_EXPONENT_LIMIT ? value : -FLOAT_EXPONENT_LIMIT;
    } else if (!fits || (!is_negative && value == INT64_MIN)) {
        return exponent_error(x, start);
    }
    value = is_negative ? value : -value;
    if (value < INT64_MIN + (int64_t)n->fraction_count) {
        return exponent_error(x, start);
    }
    n->exponent = value;
    return IONF_OK;
}

/* Find the parts of a number after its whole digits. */
static ionf_status
number_rest(ionf_txt_lex *x, number *n)
{
    ionf_status status = IONF_OK;
    if (x->p != x->end && *x->p == '.') {
        x->p++;
        n->fraction = x->p;
        if (x->p != x->end && ionf_txt_is(*x->p, IONF_TXT_DIGIT)) {
            status = digit_run(x, 10, &n->fraction_count, &n->has_underscore);
        }
        n->fraction_end = x->p;
    }
    if (status == IONF_OK && x->p != x->end && ((*x->p | 0x20) == 'e' || (*x->p | 0x20) == 'd')) {
        n->has_exponent = true;
        n->is_float = (*x->p | 0x20) == 'e';
        x->p++;
        status = exponent_digits(x, n);
    }
    return status == IONF_OK ? number_stop(x) : status;
}

/* All digits in one run: the input's own when nothing stands between them, else in the scratch. */
static ionf_status
number_digits(ionf_txt_lex *x, const number *n, const uint8_t **digits)
{
    if (!n->has_underscore && n->fraction_count == 0) {
        *digits = n->digits;
        return IONF_OK;
    }
    const size_t start = x->scratch->len;
    ionf_status status = append_digits(x->scratch, n->digits, n->digits_end);
    if (status == IONF_OK && n->fraction != NULL) {
        status = append_digits(x->scratch, n->fraction, n->fraction_end);
    }
    if (status == IONF_OK) {
        *digits = x->scratch->data + start;
    }
    return status;
}

static ionf_status
number_value(ionf_txt_lex *x, const number *n, ionf_token *token)
{
    const uint8_t *digits;
    const ionf_status status = number_digits(x, n, &digits);
    if (status != IONF_OK) {
        return status;
    }
    const size_t count = n->digit_count + n->fraction_count;
    const int64_t exponent = n->exponent - (int64_t)n->fraction_count;
    if (n->is_float) {
        const double magnitude = ionf_num_parse_double(digits, count, exponent);
        token->kind = IONF_KIND_FLOAT;
        token->as.f64 = n->is_negative ? -magnitude : magnitude;
        return IONF_OK;
    }
    ionf_integer integer = ionf_num_integer_from_digits(digits, count, n->is_negative);
    if (n->fraction != NULL || n->has_exponent) {
        token->kind = IONF_KIND_DECIMAL;
        token->as.decimal.coefficient = integer;
        token->as.decimal.exponent = exponent;
        return IONF_OK;
    }
    if (integer.form == IONF_INT_U64 && integer.u64 == 0) {
        integer.is_negative = false;
    }
    token->kind = IONF_KIND_INT;
    token->as.integer = integer;
    return IONF_OK;
}

static ionf_status
timestamp(ionf_txt_lex *x, ionf_token *token)
{
    const ionf_status status = ionf_ts_parse(&x->p, x->end, &token->as.timestamp, &x->expected);
    if (status != IONF_OK) {
        return x->p == x->end ? ionf_txt_lex_end(x, x->expected) : status;
    }
    token->kind = IONF_KIND_TIMESTAMP;
    return number_stop(x);
}

/* More input may follow, and go on with the number: is its end there? */
static ionf_status
number_is_whole(ionf_txt_lex *x)
{
    ionf_txt_lex look = *x;
    const uint8_t *bound = ionf_step_end(look.p, look.end);
    while (look.p != look.end && ionf_txt_is(*look.p, IONF_TXT_NUMBER)) {
        look.p++;
        const ionf_status status = look_around(&look, &bound);
        if (status != IONF_OK) {
            return status;
        }
    }
    return look.p == look.end ? ionf_txt_lex_end(x, "the end of the number") : IONF_OK;
}

ionf_status
ionf_txt_lex_number(ionf_txt_lex *x, ionf_token *token)
{
    const uint8_t *start = x->p;
    ionf_status status = x->is_final ? IONF_OK : number_is_whole(x);
    if (status != IONF_OK) {
        return status;
    }
    number n = {0};
    n.is_negative = *x->p == '-';
    x->p += n.is_negative;
    n.digits = x->p;
    if (x->end - x->p >= 2 && *x->p == '0') {
        const uint8_t letter = x->p[1] | 0x20;
        if (letter == 'x' || letter == 'b') {
            x->p += 2;
            return radix_int(x, letter == 'x' ? 16 : 2, n.is_negative, token);
        }
    }
    status = digit_run(x, 10, &n.digit_count, &n.has_underscore);
    if (status != IONF_OK) {
        return status;
    }
    n.digits_end = x->p;
    if (n.digits_end - start == 4 && !n.has_underscore && !n.is_negative && x->p != x->end &&
        (*x->p == '-' || *x->p == 'T')) {
        x->p = start;
        return timestamp(x, token);
    }
    if (n.digit_count > 1 && *n.digits == '0') {
        x->p = n.digits + 1;
        return ionf_txt_lex_unexpected(x, IONF_ERR_NUMBER, "no more digits after a leading '0'");
    }
    status = number_rest(x, &n);
    return status == IONF_OK ? number_value(x, &n, token) : status;
}

/* ---- identifiers, nulls, operators ---- */

ionf_status
ionf_txt_lex_null_type(ionf_txt_lex *x, ionf_token *token)
{
    /* In the order of ionf_kind. */
    static const char names[][10] = {"null",      "bool",   "int",    "float", "decimal",
                                     "timestamp", "symbol", "string", "clob",  "blob",
                                     "list",      "sexp",   "struct"};
    const uint8_t *start = x->p;
    const uint8_t *end = ionf_txt_ident_end(start, x->end);
    const size_t len = (size_t)(end - start);
    if (end == x->end && !x->is_final) {
        return ionf_txt_lex_end(x, NULL);
    }
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (len == strlen(names[i]) && memcmp(start, names[i], len) == 0) {
            x->p = end;
            token->kind = (uint8_t)i;
            token->is_null = true;
            return IONF_OK;
        }
    }
    return ionf_txt_lex_unexpected(x, IONF_ERR_SYNTAX, "the name of an Ion type after 'null.'");
}

void
ionf_txt_lex_operator(ionf_txt_lex *x)
{
    while (x->p != x->end && ionf_txt_is(*x->p, IONF_TXT_OPERATOR)) {
        if (*x->p == '/' && x->end - x->p >= 2 && (x->p[1] == '/' || x->p[1] == '*')) {
            return;
        }
        x->p++;
    }
}

bool
ionf_txt_lex_is_sid(const uint8_t *ident, size_t len, uint64_t *sid)
{
    if (len < 2 || *ident != '$') {
        return false;
    }
    for (size_t i = 1; i < len; i++) {
        if (!ionf_txt_is(ident[i], IONF_TXT_DIGIT)) {
            return false;
        }
    }
    if (!ionf_num_parse_u64(ident + 1, len - 1, sid)) {
        *sid = UINT64_MAX;
    }
    return true;
}
