/* The text reader, careful half: comments, annotations, every form of name and value, version
 * markers and local symbol tables, errors with their place, and reading in pieces.
 *
 * Ion specification, "Ion Text Encoding" (parser rules) and "Symbols". What a word looks like is
 * ionf_txt_lex's affair; what a symbol table means is ionf_symtab's.
 */
#include "ionf_txt_read.h"

#include <math.h>

/* ---- life ---- */

static void
stream_clear(ionf_txt_reader *r)
{
    ionf_txt_set_container(r, IONF_KIND_EOF);
    r->after_value = false;
    r->needs_general = false;
    r->frame_limit = 0;
    r->value_limit = r->top_limit = r->base.start;
    r->window_end = r->base.end;
    r->asked = r->base.start;
    r->guess = NULL;
    r->is_guessed = false;
    memset(&r->find, 0, sizeof r->find);
    r->comment = IONF_TXT_NO_COMMENT;
    r->is_bare = false;
    r->ends_with_cr = false;
    r->is_skipping = false;
    r->skip_depth = 0;
    r->rest.is_active = false;
    r->scratch = NULL;
}

void
ionf_txt_reader_init(ionf_txt_reader *r, ionf_alloc alloc)
{
    ionf_reader_base_init(&r->base, alloc);
    r->frames = NULL;
    r->frame_cap = 0;
    r->annotations = NULL;
    r->annotation_cap = 0;
    r->lend = NULL;
    r->lend_ctx = NULL;
    stream_clear(r);
}

void
ionf_txt_reader_reset(ionf_txt_reader *r)
{
    ionf_reader_base_reset(&r->base);
    stream_clear(r);
}

void
ionf_txt_reader_destroy(ionf_txt_reader *r)
{
    const ionf_alloc *a = &r->base.alloc;
    ionf_alloc_free(a, r->frames, r->frame_cap);
    ionf_alloc_free(a, r->annotations, r->annotation_cap * sizeof *r->annotations);
    r->frames = NULL;
    r->frame_cap = 0;
    r->annotations = NULL;
    r->annotation_cap = 0;
    ionf_reader_base_destroy(&r->base);
    stream_clear(r);
}

size_t
ionf_txt_reader_retained(const ionf_txt_reader *r)
{
    return ionf_reader_base_retained(&r->base) + r->frame_cap +
           r->annotation_cap * sizeof *r->annotations;
}

/* The frames that can be pushed without growing or passing max_depth. */
static void
set_frame_limit(ionf_txt_reader *r)
{
    const uint64_t limit =
        r->frame_cap < r->base.limits.max_depth ? r->frame_cap : r->base.limits.max_depth;
    r->frame_limit = limit < UINT32_MAX ? (uint32_t)limit : UINT32_MAX;
}

/* Where the current top-level value becomes too long, within the window. */
static void
set_value_limit(ionf_txt_reader *r)
{
    const uint64_t max = r->base.limits.max_value_size;
    r->top_limit = max == IONF_UNLIMITED ? r->base.end : r->base.start;
    r->value_limit = r->top_limit;
    if (max == IONF_UNLIMITED || r->base.depth == 0) {
        return;
    }
    /* The value began before the window or in it: what it has used up outside does not count. */
    const uint64_t before = r->base.base_offset > r->base.value_offset
                                ? r->base.base_offset - r->base.value_offset
                                : 0;
    const uint64_t skipped = r->base.value_offset > r->base.base_offset
                                 ? r->base.value_offset - r->base.base_offset
                                 : 0;
    const uint64_t room = (uint64_t)(r->base.end - r->base.start) - skipped;
    const uint64_t left = max > before ? max - before : 0;
    r->value_limit = r->base.start + (size_t)(skipped + (left < room ? left : room));
}

/* Ask the host, when much of a step is behind. */
static ionf_status
look_around(ionf_txt_reader *r)
{
    if (IONF_LIKELY((size_t)(r->base.p - r->asked) < IONF_STEP_BYTES / 2)) {
        return IONF_OK;
    }
    r->asked = r->base.p;
    return ionf_alloc_ask(&r->base.alloc);
}

/* What a version marker at the start of the input is followed by; NULL where there is none, or it takes a
 * closer look to tell. Many inputs are a line with a marker and one value. */
static const uint8_t *
after_first_marker(const uint8_t *data, const uint8_t *end)
{
    const size_t len = 8;
    if ((size_t)(end - data) <= len || memcmp(data, "$ion_1_0", len) != 0 ||
        (data[len] != ' ' && data[len] != '\n')) {
        return NULL;
    }
    const uint8_t *const next = ionf_txt_space(data + len, end);
    return next == end || *next == ':' || *next == '/' ? NULL : next;
}

void
ionf_txt_reader_open(ionf_txt_reader *r, const uint8_t *data, size_t len, bool is_final,
                     const ionf_limits *limits, const ionf_catalog *catalog)
{
    ionf_reader_base_open(&r->base, data, len, is_final, limits, catalog);
    set_frame_limit(r);
    set_value_limit(r);
    const uint8_t *const next = after_first_marker(r->base.p, r->base.end);
    if (next != NULL) {
        r->base.p = next;
    }
    r->window_end = r->base.end;
    r->asked = r->base.p;
    ionf_txt_show_step(r);
}

/* ---- places ---- */

static inline bool
is_break(uint8_t byte)
{
    return byte == '\n' || byte == '\r';
}

#if IONF_HAS_SSE2
/* The sum of sixteen bytes that are 0 or -1, as a positive number. */
static inline unsigned
count_set(__m128i mask)
{
    const __m128i zero = _mm_setzero_si128();
    const __m128i sums = _mm_sad_epu8(_mm_sub_epi8(zero, mask), zero);
    return (unsigned)_mm_cvtsi128_si32(sums) +
           (unsigned)_mm_cvtsi128_si32(_mm_srli_si128(sums, 8));
}
#endif

/* Line breaks in [p, stop), of which p[-1] may be read; `*after` moves behind the last of them. CR LF is
 * one line break. */
static uint64_t
count_breaks(const uint8_t *p, const uint8_t *stop, const uint8_t **after)
{
    uint64_t count = 0;
#if IONF_HAS_SSE2
    const __m128i feed = _mm_set1_epi8('\n');
    const __m128i creturn = _mm_set1_epi8('\r');
    for (; stop - p >= 16; p += 16) {
        const __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)p);
        const __m128i before = _mm_loadu_si128((const __m128i *)(const void *)(p - 1));
        const __m128i feeds = _mm_cmpeq_epi8(bytes, feed);
        const __m128i returns = _mm_cmpeq_epi8(bytes, creturn);
        const unsigned all = (unsigned)_mm_movemask_epi8(_mm_or_si128(feeds, returns));
        if (all != 0) {
            const __m128i first = _mm_andnot_si128(_mm_cmpeq_epi8(before, creturn), feeds);
            count += count_set(_mm_or_si128(first, returns));
            *after = p + 64 - ionf_clz64(all);
        }
    }
#endif
    for (; p != stop; p++) {
        if (is_break(*p)) {
            count += *p == '\r' || p[-1] != '\r';
            *after = p + 1;
        }
    }
    return count;
}

/* Move (line feeds, code points after the last) over [start, stop). */
static void
count_lines(const ionf_txt_reader *r, const uint8_t *stop, uint64_t *lines, uint64_t *columns)
{
    const uint8_t *const start = r->base.start;
    *lines = r->base.base_line;
    *columns = r->base.base_column;
    if (start == stop) {
        return;
    }
    const uint8_t *after = is_break(*start) ? start + 1 : start;
    *lines += is_break(*start) && (*start == '\r' || !r->ends_with_cr);
    *lines += count_breaks(start + 1, stop, &after);
    ionf_utf8_info info;
    ionf_utf8_measure(after, (size_t)(stop - after), &info);
    *columns = (after == start ? *columns : 0) + info.count;
}

size_t
ionf_txt_reader_release(ionf_txt_reader *r)
{
    ionf_reader *base = &r->base;
    count_lines(r, base->p, &base->base_line, &base->base_column);
    r->ends_with_cr = base->p == base->start ? r->ends_with_cr : base->p[-1] == '\r';
    return ionf_reader_base_release(base);
}

void
ionf_txt_reader_window(ionf_txt_reader *r, const uint8_t *data, size_t len, bool is_final)
{
    (void)ionf_txt_reader_release(r);
    ionf_reader_base_window(&r->base, data, len, is_final);
    set_value_limit(r);
    r->window_end = r->base.end;
    r->asked = r->base.p;
    ionf_txt_show_step(r);
}

/* What stands at `at`: a code point, a byte that is not UTF-8, or the end. */
static int32_t
found_at(const ionf_txt_reader *r, const uint8_t *at, bool *is_utf8)
{
    *is_utf8 = true;
    if (at == r->base.end) {
        return IONF_FOUND_END;
    }
    const size_t left = (size_t)(r->base.end - at);
    if (ionf_utf8_check(at, left < 4 ? left : 4, NULL) == 0) {
        *is_utf8 = false;
        return *at;
    }
    const uint8_t *p = at;
    return (int32_t)ionf_utf8_take(&p);
}

/* Fill in line and column of the error that has just been kept, at `at` in the window. */
static void
locate(ionf_txt_reader *r, const uint8_t *at)
{
    uint64_t lines, columns;
    count_lines(r, at, &lines, &columns);
    r->base.error.line = lines + 1;
    r->base.error.column = columns + 1;
    r->needs_general = true;
}

/* Is `status` about what stands in the input, so that bytes which are not UTF-8 are the real
 * cause? */
static bool
is_about_found(ionf_status status)
{
    return status == IONF_ERR_SYNTAX || status == IONF_ERR_NUMBER || status == IONF_ERR_ESCAPE ||
           status == IONF_ERR_TIMESTAMP || status == IONF_ERR_BASE64 || status == IONF_ERR_LOB;
}

/* Keep an error with its place. */
static ionf_status
fail(ionf_txt_reader *r, ionf_status status, const uint8_t *at, const char *expected)
{
    bool is_utf8;
    int32_t found = found_at(r, at, &is_utf8);
    if (!is_utf8 && is_about_found(status)) {
        if (!r->base.is_final && ionf_txt_lex_is_cut(at, r->base.end)) {
            return IONF_NEED_DATA;
        }
        status = IONF_ERR_UTF8;
        expected = NULL;
    }
    if ((status == IONF_ERR_ESCAPE && found == '\\') ||
        (expected == NULL && status != IONF_ERR_UTF8)) {
        found = IONF_FOUND_NONE;
    }
    ionf_reader_fail(&r->base, status, at, found, expected);
    locate(r, at);
    return status;
}

ionf_status
ionf_txt_fail(ionf_txt_reader *r, ionf_status status, const uint8_t *at, const char *expected)
{
    return fail(r, status, at, expected);
}

/* A failure that is not about what stands in the input there. An offset before the window has no
 * line that is still known: the window's start is the nearest. */
static ionf_status
fail_at_offset(ionf_txt_reader *r, ionf_status status, uint64_t offset)
{
    const uint64_t base = r->base.base_offset;
    const uint8_t *at = r->base.start + (size_t)(offset > base ? offset - base : 0);
    ionf_reader_fail(&r->base, status, at, IONF_FOUND_NONE, NULL);
    r->base.error.offset = offset;
    locate(r, at);
    return status;
}

static ionf_status
check_size(ionf_txt_reader *r, uint64_t value_offset, const uint8_t *p)
{
    if (ionf_reader_offset(&r->base, p) - value_offset <= r->base.limits.max_value_size) {
        return IONF_OK;
    }
    return fail_at_offset(r, IONF_ERR_VALUE_SIZE, value_offset);
}

/* More of the value must come, unless there is too much of it already. */
static ionf_status
wait_for_data(ionf_txt_reader *r)
{
    const uint64_t here = ionf_reader_offset(&r->base, r->base.p);
    const ionf_status size =
        check_size(r, r->base.depth != 0 ? r->base.value_offset : here, r->base.end);
    return size == IONF_OK ? IONF_NEED_DATA : size;
}

/* What a lexer's answer means for the reader. */
static ionf_status
conclude(ionf_txt_reader *r, const ionf_txt_lex *x, ionf_status status)
{
    if (status == IONF_OK || status == IONF_ERR_INTERRUPTED) {
        return status;
    }
    return status == IONF_NEED_DATA ? wait_for_data(r) : fail(r, status, x->p, x->expected);
}

/* ---- the finder ---- */

/* States of the search for the end of an unfinished value: what `scanned` stands in. */
typedef enum find_state {
    FIND_BETWEEN = 0, /* words */
    FIND_IDENT,
    FIND_NUMBER,
    FIND_OPERATOR,
    FIND_STRING,
    FIND_SYMBOL,
    FIND_LONG,
    FIND_LOB, /* {{ ... }}, outside of strings */
    FIND_LOB_STRING,
    FIND_LOB_LONG,
    FIND_LINE_COMMENT,
    FIND_BLOCK_COMMENT
} find_state;

/* What went before FIND_BETWEEN. */
enum { BEFORE_NOTHING = 0, BEFORE_NAME, BEFORE_LONG };

/* The answer of one step. */
typedef enum find_step {
    FIND_ON,   /* look at the next word */
    FIND_MORE, /* the bytes have run out */
    FIND_DONE  /* all that the lexer must see seems to be there, or is wrong */
} find_step;

static find_step
find_go(ionf_txt_find *find, const uint8_t **p, size_t len, find_state state)
{
    *p += len;
    find->state = (uint8_t)state;
    return FIND_ON;
}

/* Up to three quotes at `p`: 3 for ''', 0 when it takes more bytes to tell, else 1. */
static int
quotes_at(const uint8_t *p, const uint8_t *end)
{
    const size_t left = (size_t)(end - p);
    if (left >= 3) {
        return p[1] == '\'' && p[2] == '\'' ? 3 : 1;
    }
    return left == 2 && p[1] != '\'' ? 1 : 0;
}

/* A word has ended that a colon, or another segment, may follow. */
static find_step
find_after(ionf_txt_find *find, int before)
{
    find->before = (uint8_t)before;
    find->state = FIND_BETWEEN;
    return FIND_ON;
}

/* A single quote outside of any text. */
static find_step
find_quote(ionf_txt_find *find, const uint8_t **p, const uint8_t *end, find_state if_long,
           find_state if_single)
{
    const int quotes = quotes_at(*p, end);
    if (quotes == 0) {
        return FIND_MORE;
    }
    return find_go(find, p, (size_t)quotes, quotes == 3 ? if_long : if_single);
}

/* A word begins. */
static find_step
find_word(ionf_txt_find *find, const uint8_t **at, const uint8_t *end, const uint8_t *item)
{
    const uint8_t *p = *at;
    if (ionf_txt_is(*p, IONF_TXT_IDENT_START)) {
        find->word = (size_t)(p - item);
        return find_go(find, at, 1, FIND_IDENT);
    }
    if (ionf_txt_is(*p, IONF_TXT_DIGIT)) {
        return find_go(find, at, 1, FIND_NUMBER);
    }
    switch (*p) {
    case '"':
        return find_go(find, at, 1, FIND_STRING);
    case '\'':
        return find_quote(find, at, end, FIND_LONG, FIND_SYMBOL);
    case ':':
        return find_go(find, at, 1, FIND_BETWEEN);
    case '{':
        return end - p < 2 ? FIND_MORE : p[1] == '{' ? find_go(find, at, 2, FIND_LOB) : FIND_DONE;
    case '+':
    case '-':
        if (end - p < 2) {
            return FIND_MORE;
        }
        return find_go(find, at, 1,
                       ionf_txt_is(p[1], IONF_TXT_DIGIT) || p[1] == 'i' ? FIND_NUMBER
                                                                        : FIND_OPERATOR);
    default:
        return ionf_txt_is(*p, IONF_TXT_OPERATOR) ? find_go(find, at, 1, FIND_OPERATOR)
                                                  : FIND_DONE;
    }
}

static find_step
find_between(ionf_txt_find *find, const uint8_t **at, const uint8_t *end, const uint8_t *item)
{
    const uint8_t *p = *at = ionf_txt_space(*at, end);
    if (p == end) {
        return FIND_MORE;
    }
    if (*p == '/') {
        if (end - p < 2) {
            return FIND_MORE;
        }
        if (p[1] == '/' || p[1] == '*') {
            return find_go(find, at, 2, p[1] == '/' ? FIND_LINE_COMMENT : FIND_BLOCK_COMMENT);
        }
    }
    if (find->before == BEFORE_NOTHING) {
        return find_word(find, at, end, item);
    }
    if (*p == ':') {
        find->before = BEFORE_NOTHING;
        find->is_field = false;
        return find_go(find, at, 1, FIND_BETWEEN);
    }
    if (*p == '\'' && find->before == BEFORE_LONG) {
        const int quotes = quotes_at(p, end);
        return quotes == 0 ? FIND_MORE : quotes == 1 ? FIND_DONE : find_go(find, at, 3, FIND_LONG);
    }
    return FIND_DONE;
}

static find_step
find_ident(ionf_txt_find *find, const uint8_t **at, const uint8_t *end, const uint8_t *item)
{
    const uint8_t *p = *at = ionf_txt_ident_end(*at, end);
    if (p == end) {
        return FIND_MORE;
    }
    const uint8_t *word = item + find->word;
    switch (ionf_txt_keyword_of(word, (size_t)(p - word))) {
    case IONF_TXT_NO_KEYWORD:
        return find_after(find, BEFORE_NAME);
    case IONF_TXT_NULL:
        return *p == '.' ? find_go(find, at, 1, FIND_NUMBER) : FIND_DONE;
    default:
        return FIND_DONE;
    }
}

/* A run of bytes of some classes: whatever ends it, ends the value. */
static find_step
find_run(const uint8_t **at, const uint8_t *end, unsigned classes)
{
    const uint8_t *p = *at;
    while (p != end && ionf_txt_is(*p, classes)) {
        p++;
    }
    *at = p;
    return p == end ? FIND_MORE : FIND_DONE;
}

/* Inside quotes: to the byte after the closing ones, when there are any. */
static find_step
find_closing(const uint8_t **at, const uint8_t *end, uint8_t quote, bool is_long)
{
    const uint8_t *p = *at;
    for (;;) {
        bool has_high = false;
        p = *at = ionf_txt_scan(p, end, quote, &has_high);
        if (p == end) {
            return FIND_MORE;
        }
        if (*p == quote && !is_long) {
            *at = p + 1;
            return FIND_ON;
        }
        if (*p == quote) {
            const int quotes = quotes_at(p, end);
            if (quotes == 3) {
                *at = p + 3;
                return FIND_ON;
            }
            if (quotes == 0) {
                return FIND_MORE;
            }
            p++;
        } else if (*p == '\\') {
            if (end - p < 2) {
                return FIND_MORE;
            }
            p += 2;
        } else if (is_long || *p == '\t' || *p == '\v' || *p == '\f') {
            p++;
        } else {
            return FIND_DONE;
        }
    }
}

/* Inside {{ }}, outside of strings. */
static find_step
find_lob(ionf_txt_find *find, const uint8_t **at, const uint8_t *end)
{
    const uint8_t *p = *at;
    while (p != end && *p != '}' && *p != '"' && *p != '\'') {
        p++;
    }
    *at = p;
    if (p == end) {
        return FIND_MORE;
    }
    if (*p == '}') {
        return end - p < 2 ? FIND_MORE : FIND_DONE;
    }
    return *p == '"' ? find_go(find, at, 1, FIND_LOB_STRING)
                     : find_quote(find, at, end, FIND_LOB_LONG, FIND_LOB);
}

static find_step
find_comment_end(ionf_txt_find *find, const uint8_t **at, const uint8_t *end)
{
    const uint8_t *p = *at;
    if (find->state == FIND_LINE_COMMENT) {
        while (p != end && *p != '\n' && *p != '\r') {
            p++;
        }
    } else {
        while (p != end && !(*p == '*' && end - p >= 2 && p[1] == '/')) {
            if (*p == '*' && end - p < 2) {
                *at = p;
                return FIND_MORE;
            }
            p++;
        }
    }
    *at = p;
    return p == end ? FIND_MORE
                    : find_go(find, at, find->state == FIND_LINE_COMMENT ? 1 : 2, FIND_BETWEEN);
}

/* One word of the search. */
static find_step
find_next(ionf_txt_find *find, const uint8_t **p, const uint8_t *end, const uint8_t *item)
{
    find_step step;
    switch ((find_state)find->state) {
    case FIND_BETWEEN:
        return find_between(find, p, end, item);
    case FIND_IDENT:
        return find_ident(find, p, end, item);
    case FIND_NUMBER:
        return find_run(p, end, IONF_TXT_NUMBER);
    case FIND_OPERATOR:
        return find_run(p, end, IONF_TXT_OPERATOR);
    case FIND_STRING:
        step = find_closing(p, end, '"', false);
        return step != FIND_ON ? step : find->is_field ? find_after(find, BEFORE_NAME) : FIND_DONE;
    case FIND_SYMBOL:
        step = find_closing(p, end, '\'', false);
        return step != FIND_ON ? step : find_after(find, BEFORE_NAME);
    case FIND_LONG:
        step = find_closing(p, end, '\'', true);
        return step != FIND_ON ? step : find_after(find, BEFORE_LONG);
    case FIND_LOB:
        return find_lob(find, p, end);
    case FIND_LOB_STRING:
    case FIND_LOB_LONG:
        step = find->state == FIND_LOB_STRING ? find_closing(p, end, '"', false)
                                              : find_closing(p, end, '\'', true);
        return step != FIND_ON ? step : find_go(find, p, 0, FIND_LOB);
    default:
        return find_comment_end(find, p, end);
    }
}

/* Go on looking for the end of the unfinished value, in steps as if each were all that has arrived.
 * IONF_OK when it is worth reading it again. */
static ionf_status
find_end(ionf_txt_reader *r)
{
    ionf_txt_find *find = &r->find;
    const uint8_t *item = r->base.p;
    const uint8_t *p = item + find->scanned;
    for (;;) {
        const uint8_t *const bound = ionf_step_end(p, r->base.end);
        find_step step = FIND_ON;
        while (step == FIND_ON) {
            step = find_next(find, &p, bound, item);
        }
        find->scanned = (size_t)(p - item);
        if (step == FIND_DONE) {
            return IONF_OK;
        }
        if (bound == r->base.end) {
            return IONF_NEED_DATA;
        }
        if (ionf_alloc_ask(&r->base.alloc) != IONF_OK) {
            return IONF_ERR_INTERRUPTED;
        }
    }
}

/* A value turned out to be unfinished: look for its end from now on. */
static void
find_begin(ionf_txt_reader *r)
{
    const uint64_t offset = ionf_reader_offset(&r->base, r->base.p);
    /* A slash alone may begin a comment, which is consumed as it comes and is no part of a value. */
    const bool is_slash = r->base.end - r->base.p == 1 && *r->base.p == '/';
    if (r->base.p == r->base.end || is_slash || r->comment != IONF_TXT_NO_COMMENT) {
        r->find.is_active = false;
    } else if (!r->find.is_active || r->find.offset != offset) {
        memset(&r->find, 0, sizeof r->find);
        r->find.is_active = true;
        r->find.is_field = r->container == IONF_KIND_STRUCT;
        r->find.offset = offset;
    }
}

/* ---- names and values ---- */

/* `text` of a symref whose bytes are in the scratch, at `sid`, until all of the token is read: the
 * scratch may still move. */
static const uint8_t in_scratch = 0;

static void
set_symref(ionf_symref *symref, const ionf_txt_text *text)
{
    symref->text = text->data != NULL ? text->data : &in_scratch;
    symref->sid = text->data != NULL ? 0 : text->start;
    symref->len = text->len;
    symref->is_ascii = text->is_ascii;
}

static void
settle_symref(const ionf_txt_reader *r, ionf_symref *symref)
{
    if (symref->text == &in_scratch) {
        /* Empty text needs an address too. */
        symref->text = symref->len == 0 ? r->base.start : r->scratch->data + (size_t)symref->sid;
        symref->sid = 0;
    }
}

/* A symbol ID must be one that the current table has. */
static ionf_status
set_sid(const ionf_txt_reader *r, ionf_txt_lex *x, const uint8_t *start, uint64_t sid,
        ionf_symref *symref)
{
    if (sid > r->base.symtab.max_id) {
        x->p = start;
        x->expected = NULL;
        return IONF_ERR_SID;
    }
    symref->text = NULL;
    symref->len = 0;
    symref->sid = sid;
    symref->is_ascii = false;
    return IONF_OK;
}

/* An identifier at p, which keyword it is, and otherwise the symbol. */
static ionf_status
lex_ident(ionf_txt_reader *r, ionf_txt_lex *x, ionf_symref *symref, ionf_txt_keyword *keyword)
{
    const uint8_t *start = x->p;
    const uint8_t *bound;
    do {
        bound = ionf_step_end(x->p, x->end);
        x->p = ionf_txt_ident_end(x->p, bound);
        if (x->p == bound && bound != x->end && ionf_alloc_ask(&r->base.alloc) != IONF_OK) {
            return IONF_ERR_INTERRUPTED;
        }
    } while (x->p == bound && bound != x->end);
    const size_t len = (size_t)(x->p - start);
    if (x->p == x->end && !x->is_final) {
        return IONF_NEED_DATA;
    }
    r->is_bare = true;
    *keyword = ionf_txt_keyword_of(start, len);
    uint64_t sid;
    if (ionf_txt_lex_is_sid(start, len, &sid)) {
        return set_sid(r, x, start, sid, symref);
    }
    symref->text = start;
    symref->len = len;
    symref->sid = 0;
    symref->is_ascii = true;
    return IONF_OK;
}

/* A quoted symbol at p, of which it is known that it is no long string. */
static ionf_status
lex_quoted_symbol(ionf_txt_reader *r, ionf_txt_lex *x, ionf_symref *symref)
{
    ionf_txt_text text;
    x->p++;
    r->is_bare = false;
    const ionf_status status = ionf_txt_lex_quoted(x, IONF_TXT_SYMBOL, &text);
    if (status == IONF_OK) {
        set_symref(symref, &text);
    }
    return status;
}

/* The name alone of a field. */
static ionf_status
lex_field_name(ionf_txt_reader *r, ionf_txt_lex *x, ionf_symref *field)
{
    static const char expected[] = "a field name or '}' in struct";
    ionf_txt_text text;
    ionf_status status;
    if (ionf_txt_is(*x->p, IONF_TXT_IDENT_START)) {
        const uint8_t *start = x->p;
        ionf_txt_keyword keyword = IONF_TXT_NO_KEYWORD;
        status = lex_ident(r, x, field, &keyword);
        if (status == IONF_OK && keyword != IONF_TXT_NO_KEYWORD) {
            x->p = start;
            return ionf_txt_lex_unexpected(x, IONF_ERR_SYNTAX,
                                           "a field name that is not a keyword (or is in quotes)");
        }
        return status;
    }
    if (*x->p == '"') {
        x->p++;
        status = ionf_txt_lex_quoted(x, IONF_TXT_STRING, &text);
    } else if (*x->p == '\'') {
        bool is_long;
        status = ionf_txt_lex_is_long(x, &is_long);
        if (status == IONF_OK && !is_long) {
            return lex_quoted_symbol(r, x, field);
        }
        if (status == IONF_OK) {
            status = ionf_txt_lex_long(x, &text);
        }
    } else {
        return ionf_txt_lex_unexpected(x, IONF_ERR_SYNTAX, expected);
    }
    if (status == IONF_OK) {
        set_symref(field, &text);
    }
    return status;
}

/* A field's name and its colon, up to the value. */
static ionf_status
lex_field(ionf_txt_reader *r, ionf_txt_lex *x, ionf_token *token)
{
    token->has_field = true;
    ionf_status status = lex_field_name(r, x, &token->field);
    if (status == IONF_OK) {
        status = ionf_txt_lex_space(x);
    }
    if (status != IONF_OK) {
        return status;
    }
    if (x->p == x->end || *x->p != ':') {
        return ionf_txt_lex_unexpected(x, IONF_ERR_SYNTAX, "':' after the field name");
    }
    x->p++;
    return ionf_txt_lex_space(x);
}

/* A keyword is no annotation: say so where someone has taken it for one. */
static ionf_status
after_keyword(ionf_txt_lex *x, const uint8_t *keyword)
{
    if (x->p == x->end || *x->p != ':') {
        return IONF_OK;
    }
    if (x->end - x->p < 2) {
        return x->is_final ? IONF_OK : IONF_NEED_DATA;
    }
    if (x->p[1] == ':') {
        x->p = keyword;
        return ionf_txt_lex_unexpected(x, IONF_ERR_SYNTAX,
                                       "an annotation that is not a keyword (or is in quotes)");
    }
    return IONF_OK;
}

static ionf_status
set_keyword(ionf_txt_lex *x, ionf_txt_keyword keyword, ionf_token *token)
{
    switch (keyword) {
    case IONF_TXT_TRUE:
    case IONF_TXT_FALSE:
        token->kind = IONF_KIND_BOOL;
        token->as.boolean = keyword == IONF_TXT_TRUE;
        return IONF_OK;
    case IONF_TXT_NAN:
        token->kind = IONF_KIND_FLOAT;
        token->as.f64 = (double)NAN;
        return IONF_OK;
    default:
        token->kind = IONF_KIND_NULL;
        token->is_null = true;
        if (x->p == x->end || *x->p != '.') {
            return IONF_OK;
        }
        x->p++;
        return ionf_txt_lex_null_type(x, token);
    }
}

/* A keyword that ends at p. */
static ionf_status
lex_keyword(ionf_txt_lex *x, const uint8_t *start, ionf_txt_keyword keyword, ionf_token *token)
{
    const ionf_status status = set_keyword(x, keyword, token);
    return status == IONF_OK ? after_keyword(x, start) : status;
}

/* Does a sign at p begin +inf or -inf? These are numbers, so one of the stop characters must follow: in a
 * sexp `+inf+1` is an operator, a symbol and so on. */
static ionf_status
lex_infinity(ionf_txt_lex *x, bool *is_infinity)
{
    const uint8_t *p = x->p + 1;
    *is_infinity = false;
    for (const char *c = "inf"; *c != '\0'; c++, p++) {
        if (p == x->end) {
            return x->is_final ? IONF_OK : IONF_NEED_DATA;
        }
        if (*p != (uint8_t)*c) {
            return IONF_OK;
        }
    }
    if (p == x->end && !x->is_final) {
        return IONF_NEED_DATA;
    }
    return ionf_txt_lex_is_stop(x, p, is_infinity);
}

static ionf_status
lex_operator(ionf_txt_reader *r, ionf_txt_lex *x, ionf_token *token)
{
    const uint8_t *start = x->p;
    ionf_txt_lex_operator(x);
    if (x->p == x->end && !x->is_final) {
        return IONF_NEED_DATA;
    }
    r->is_bare = false;
    token->kind = IONF_KIND_SYMBOL;
    token->as.symbol.text = start;
    token->as.symbol.len = (size_t)(x->p - start);
    token->as.symbol.sid = 0;
    token->as.symbol.is_ascii = true;
    return IONF_OK;
}

/* What may stand where a value was expected. */
static const char *
expected_value(const ionf_txt_reader *r, const ionf_txt_lex *x)
{
    if (ionf_reader_offset(&r->base, x->p) == 0 && x->end - x->p >= 3 &&
        memcmp(x->p, "\xEF\xBB\xBF", 3) == 0) {
        return "a value (Ion text has no byte order mark)";
    }
    if (x->p == r->base.p && r->container == IONF_KIND_LIST) {
        return "a value or ']' in list";
    }
    if (x->p == r->base.p && r->container == IONF_KIND_SEXP) {
        return "a value or ')' in sexp";
    }
    return "a value";
}

/* A sign: of a number, of an infinity, or an operator. */
static ionf_status
lex_signed(ionf_txt_reader *r, ionf_txt_lex *x, ionf_token *token)
{
    const bool is_minus = *x->p == '-';
    if (x->end - x->p < 2 && !x->is_final) {
        return IONF_NEED_DATA;
    }
    if (is_minus && x->end - x->p >= 2 && ionf_txt_is(x->p[1], IONF_TXT_DIGIT)) {
        return ionf_txt_lex_number(x, token);
    }
    bool is_infinity;
    const ionf_status status = lex_infinity(x, &is_infinity);
    if (status != IONF_OK) {
        return status;
    }
    if (is_infinity) {
        x->p += 4;
        token->kind = IONF_KIND_FLOAT;
        token->as.f64 = is_minus ? -(double)INFINITY : (double)INFINITY;
        return IONF_OK;
    }
    if (r->container == IONF_KIND_SEXP) {
        return lex_operator(r, x, token);
    }
    x->p += is_minus;
    return ionf_txt_lex_unexpected(x, IONF_ERR_SYNTAX,
                                   is_minus ? "a digit or 'inf' after '-'" : expected_value(r, x));
}

static ionf_status
lex_brace(ionf_txt_lex *x, ionf_token *token)
{
    if (x->end - x->p < 2 && !x->is_final) {
        return IONF_NEED_DATA;
    }
    x->p++;
    if (x->p != x->end && *x->p == '{') {
        x->p++;
        return ionf_txt_lex_lob(x, token);
    }
    token->kind = IONF_KIND_STRUCT;
    return IONF_OK;
}

static void
set_string(const ionf_txt_reader *r, const ionf_txt_text *text, ionf_token *token)
{
    token->kind = IONF_KIND_STRING;
    token->is_ascii = text->is_ascii;
    token->as.bytes.len = text->len;
    token->as.bytes.data = text->data != NULL ? text->data
                           : text->len == 0   ? r->base.start
                                              : r->scratch->data + text->start;
}

/* A value at p that does not begin like a symbol. It is the last of the token to use the
 * scratch. */
static ionf_status
lex_value(ionf_txt_reader *r, ionf_txt_lex *x, ionf_token *token)
{
    const uint8_t first = *x->p;
    if (ionf_txt_is(first, IONF_TXT_DIGIT)) {
        return ionf_txt_lex_number(x, token);
    }
    ionf_txt_text text;
    ionf_status status;
    switch (first) {
    case '"':
    case '\'':
        if (first == '"') {
            x->p++;
            status = ionf_txt_lex_quoted(x, IONF_TXT_STRING, &text);
        } else {
            status = ionf_txt_lex_long(x, &text);
        }
        if (status == IONF_OK) {
            set_string(r, &text, token);
        }
        return status;
    case '-':
    case '+':
        return lex_signed(r, x, token);
    case '{':
        return lex_brace(x, token);
    case '[':
    case '(':
        x->p++;
        token->kind = first == '[' ? IONF_KIND_LIST : IONF_KIND_SEXP;
        return IONF_OK;
    default:
        if (r->container == IONF_KIND_SEXP && ionf_txt_is(first, IONF_TXT_OPERATOR)) {
            return lex_operator(r, x, token);
        }
        return ionf_txt_lex_unexpected(x, IONF_ERR_SYNTAX, expected_value(r, x));
    }
}

static ionf_status
add_annotation(ionf_txt_reader *r, const ionf_symref *annotation, ionf_token *token)
{
    const size_t count = token->annotation_count;
    if (count == UINT32_MAX) {
        return IONF_ERR_RANGE;
    }
    void *annotations = r->annotations;
    const ionf_status status = ionf_alloc_grow(&r->base.alloc, &annotations, &r->annotation_cap,
                                               count + 1, sizeof *r->annotations);
    r->annotations = annotations;
    if (status == IONF_OK) {
        r->annotations[count] = *annotation;
        token->annotation_count++;
    }
    return status;
}

/* Does `::` follow the symbol that ends at p? Then p moves to what stands after it. */
static ionf_status
lex_double_colon(ionf_txt_lex *x, bool *is_annotation)
{
    const uint8_t *after = x->p;
    const ionf_status status = ionf_txt_lex_space(x);
    *is_annotation = false;
    if (status != IONF_OK) {
        return status;
    }
    if (!x->is_final && (x->p == x->end || (*x->p == ':' && x->end - x->p < 2))) {
        return IONF_NEED_DATA;
    }
    if (x->end - x->p >= 2 && x->p[0] == ':' && x->p[1] == ':') {
        *is_annotation = true;
        x->p += 2;
        return ionf_txt_lex_space(x);
    }
    x->p = after;
    return IONF_OK;
}

/* Annotations and the value itself, from its first byte on. */
static ionf_status
lex_annotated(ionf_txt_reader *r, ionf_txt_lex *x, ionf_token *token)
{
    const uint8_t *bound = ionf_step_end(x->p, x->end);
    for (;;) {
        if (x->p == x->end) {
            return ionf_txt_lex_end(x, "a value");
        }
        if (IONF_UNLIKELY(x->p >= bound) &&
            ionf_step_next(&r->base.alloc, x->p, x->end, &bound) != IONF_OK) {
            return IONF_ERR_INTERRUPTED;
        }
        const uint8_t *start = x->p;
        ionf_symref symref;
        ionf_txt_keyword keyword = IONF_TXT_NO_KEYWORD;
        ionf_status status = IONF_OK;
        if (ionf_txt_is(*x->p, IONF_TXT_IDENT_START)) {
            status = lex_ident(r, x, &symref, &keyword);
            if (status == IONF_OK && keyword != IONF_TXT_NO_KEYWORD) {
                return lex_keyword(x, start, keyword, token);
            }
        } else {
            bool is_symbol = false;
            if (*x->p == '\'') {
                status = ionf_txt_lex_is_long(x, &is_symbol);
                is_symbol = !is_symbol;
            }
            if (status == IONF_OK && !is_symbol) {
                return lex_value(r, x, token);
            }
            if (status == IONF_OK) {
                status = lex_quoted_symbol(r, x, &symref);
            }
        }
        bool is_annotation = false;
        if (status == IONF_OK) {
            status = lex_double_colon(x, &is_annotation);
        }
        if (status == IONF_OK && is_annotation) {
            status = add_annotation(r, &symref, token);
        }
        if (status != IONF_OK) {
            return status;
        }
        if (!is_annotation) {
            token->kind = IONF_KIND_SYMBOL;
            token->as.symbol = symref;
            return IONF_OK;
        }
    }
}

/* ---- tokens ---- */

/* White space and comments before a token, consumed as far as they have come. */
static ionf_status
leading_space(ionf_txt_reader *r, ionf_txt_lex *x)
{
    x->comment = r->comment;
    const ionf_status status = ionf_txt_lex_space(x);
    if (status == IONF_OK || status == IONF_NEED_DATA || status == IONF_ERR_INTERRUPTED) {
        r->base.p = x->p;
        r->comment = x->comment;
    }
    return status;
}

/* The window has run out between two tokens. */
static ionf_status
at_end(ionf_txt_reader *r, ionf_txt_lex *x, ionf_token *token)
{
    if (r->base.depth != 0) {
        return ionf_txt_lex_end(x, r->container == IONF_KIND_LIST   ? "']' to end a list"
                                   : r->container == IONF_KIND_SEXP ? "')' to end a sexp"
                                                                    : "'}' to end a struct");
    }
    if (!x->is_final) {
        return IONF_NEED_DATA;
    }
    memset(token, 0, sizeof *token);
    token->kind = IONF_KIND_EOF;
    token->offset = ionf_reader_offset(&r->base, x->p);
    return IONF_OK;
}

static ionf_status
grow_frames(ionf_txt_reader *r, ionf_txt_lex *x, const uint8_t *bracket)
{
    if (r->base.depth >= r->base.limits.max_depth || r->base.depth == UINT32_MAX) {
        x->p = bracket;
        x->expected = NULL;
        return IONF_ERR_DEPTH;
    }
    void *frames = r->frames;
    const ionf_status status =
        ionf_alloc_grow(&r->base.alloc, &frames, &r->frame_cap, r->base.depth + (size_t)1, 1);
    r->frames = frames;
    set_frame_limit(r);
    return status;
}

/* A token has been read up to p: make it count. */
static ionf_status
commit(ionf_txt_reader *r, ionf_txt_lex *x, ionf_token *token)
{
    const bool enters = ionf_kind_is_container(token->kind) && !token->is_null;
    if (enters && r->base.depth >= r->frame_limit) {
        const ionf_status status = grow_frames(r, x, x->p - 1);
        if (status != IONF_OK) {
            return status;
        }
    }
    if (r->base.depth == 0) {
        r->base.value_offset = token->offset;
    }
    for (uint32_t i = 0; i < token->annotation_count; i++) {
        settle_symref(r, &r->annotations[i]);
    }
    token->annotations = token->annotation_count == 0 ? NULL : r->annotations;
    if (token->has_field) {
        settle_symref(r, &token->field);
    }
    if (token->kind == IONF_KIND_SYMBOL && !token->is_null) {
        settle_symref(r, &token->as.symbol);
    }
    r->base.p = x->p;
    if (enters) {
        ionf_txt_push(r, token->kind);
        if (r->base.depth == 1) {
            set_value_limit(r);
        }
    } else {
        r->after_value = r->has_commas;
    }
    return IONF_OK;
}

/* One token, system values included. */
static ionf_status
lex_token(ionf_txt_reader *r, ionf_txt_lex *x, ionf_token *token)
{
    ionf_status status = leading_space(r, x);
    if (status == IONF_OK && r->after_value && x->p != x->end && *x->p == ',') {
        r->base.p = ++x->p;
        r->after_value = false;
        status = leading_space(r, x);
    }
    if (status != IONF_OK) {
        return status;
    }
    if (x->p == x->end) {
        return at_end(r, x, token);
    }
    if (*x->p == r->closer) {
        ionf_txt_pop(r, x->p, token);
        return IONF_OK;
    }
    if (r->after_value) {
        return ionf_txt_lex_unexpected(x, IONF_ERR_SYNTAX,
                                       r->container == IONF_KIND_LIST ? "',' or ']' in list"
                                                                      : "',' or '}' in struct");
    }
    r->is_bare = false;
    memset(token, 0, sizeof *token);
    if (r->container == IONF_KIND_STRUCT) {
        status = lex_field(r, x, token);
    }
    if (status == IONF_OK) {
        token->offset = ionf_reader_offset(&r->base, x->p);
        status = lex_annotated(r, x, token);
    }
    return status == IONF_OK ? commit(r, x, token) : status;
}

/* ---- system values ---- */

static bool
text_is(const ionf_reader *base, const ionf_symref *symref, const char *text)
{
    const size_t len = strlen(text);
    if (symref->text != NULL) {
        return symref->len == len && memcmp(symref->text, text, len) == 0;
    }
    ionf_symbol symbol;
    return ionf_symtab_find(&base->symtab, symref->sid, &symbol) == IONF_OK &&
           symbol.text != NULL && symbol.len == len && memcmp(symbol.text, text, len) == 0;
}

/* Is an identifier `$ion_X_Y`, with numbers for X and Y? */
static bool
is_version_marker(const uint8_t *text, size_t len)
{
    if (len < 8 || memcmp(text, "$ion_", 5) != 0) {
        return false;
    }
    size_t underscores = 0;
    for (size_t i = 5; i < len; i++) {
        if (text[i] == '_') {
            underscores += i != 5 && i != len - 1 ? 1 : 2;
        } else if (!ionf_txt_is(text[i], IONF_TXT_DIGIT)) {
            return false;
        }
    }
    return underscores == 1;
}

static ionf_status
version_fail(ionf_txt_reader *r, const ionf_symref *marker, uint64_t offset)
{
    const bool is_1_1 = text_is(&r->base, marker, "$ion_1_1");
    const ionf_status status = fail_at_offset(r, IONF_ERR_VERSION, offset);
    r->base.error.expected = is_1_1 ? "Ion 1.0 (version marker $ion_1_0), not 1.1"
                                    : "Ion 1.0 (version marker $ion_1_0)";
    return status;
}

/* A symbol at top level without annotations: a version marker, a look-alike that means nothing, or
 * a value. */
static ionf_status
absorb_symbol(ionf_txt_reader *r, const ionf_token *token, bool *is_system)
{
    const ionf_symref *symbol = &token->as.symbol;
    *is_system = text_is(&r->base, symbol, "$ion_1_0");
    if (!r->is_bare || symbol->text == NULL) {
        return IONF_OK;
    }
    if (*is_system) {
        ionf_symtab_ivm(&r->base.symtab);
        return IONF_OK;
    }
    return is_version_marker(symbol->text, symbol->len) ? version_fail(r, symbol, token->offset)
                                                        : IONF_OK;
}

/* A token that the reader keeps to itself sets `*is_system`. */
static ionf_status
absorb(ionf_txt_reader *r, const ionf_token *token, bool *is_system)
{
    const uint8_t *at = r->base.start + (size_t)(token->offset - r->base.base_offset);
    ionf_status status = IONF_OK;
    *is_system = r->base.in_lst;
    if (r->base.in_lst) {
        status = ionf_reader_lst_token(&r->base, token, at);
    } else if (token->kind == IONF_KIND_SYMBOL && r->base.depth == 0 && !token->is_null &&
               token->annotation_count == 0) {
        return absorb_symbol(r, token, is_system);
    } else if (token->kind == IONF_KIND_STRUCT && token->annotation_count != 0 &&
               r->base.depth == (token->is_null ? 0 : 1) &&
               text_is(&r->base, &token->annotations[0], "$ion_symbol_table")) {
        *is_system = true;
        if (token->is_null) {
            status = ionf_reader_lst_null(&r->base, at);
        } else {
            ionf_reader_lst_begin(&r->base);
        }
    }
    if (status != IONF_OK) {
        locate(r, at);
    }
    return status;
}

/* ---- the pull ---- */

/* An empty scratch. */
static inline ionf_status
need_scratch(ionf_txt_reader *r)
{
    if (IONF_UNLIKELY(r->scratch == NULL)) {
        r->scratch = r->lend(r->lend_ctx);
        if (r->scratch == NULL) {
            return IONF_ERR_NOMEM;
        }
    }
    ionf_buf_reset(r->scratch);
    return IONF_OK;
}

/* One token with all that goes with it: the finder before, the size after. */
static ionf_status
pull(ionf_txt_reader *r, ionf_token *token)
{
    if (r->find.is_active && !r->base.is_final) {
        const ionf_status found = find_end(r);
        if (found != IONF_OK) {
            return found == IONF_NEED_DATA ? wait_for_data(r) : found;
        }
    }
    ionf_status status = need_scratch(r);
    ionf_txt_lex x = {r->base.p,           r->base.end, r->base.is_final,
                      IONF_TXT_NO_COMMENT, r->scratch,  NULL};
    const uint32_t depth = r->base.depth;
    status = conclude(r, &x, status == IONF_OK ? lex_token(r, &x, token) : status);
    if (status == IONF_NEED_DATA) {
        find_begin(r);
        return status;
    }
    r->find.is_active = false;
    if (status == IONF_OK && token->kind != IONF_KIND_EOF) {
        status = check_size(r, depth == 0 ? token->offset : r->base.value_offset, r->base.p);
    }
    return status;
}

ionf_status
ionf_txt_next_general(ionf_txt_reader *r, ionf_token *token)
{
    if (r->base.error.status != IONF_OK) {
        return r->base.error.status;
    }
    bool is_system;
    ionf_status status;
    r->is_guessed = false;
    ionf_txt_show_all(r);
    do {
        status = look_around(r);
        is_system = false;
        if (status == IONF_OK) {
            status = pull(r, token);
        }
        if (status == IONF_OK) {
            status = absorb(r, token, &is_system);
        }
    } while (status == IONF_OK && is_system);
    ionf_txt_show_step(r);
    r->needs_general = r->base.in_lst || r->find.is_active || r->comment != IONF_TXT_NO_COMMENT ||
                       r->base.error.status != IONF_OK;
    return status;
}

/* A value at a byte that is no white space: with annotations, escapes, a lob. */
static ionf_status
lex_inner_value(ionf_txt_reader *r, const uint8_t *value, ionf_token *token)
{
    ionf_status status = need_scratch(r);
    ionf_txt_lex x = {value, r->base.end, r->base.is_final, IONF_TXT_NO_COMMENT, r->scratch, NULL};
    token->is_null = token->is_ascii = false;
    memset(&token->as, 0, sizeof token->as);
    if (status == IONF_OK) {
        status = lex_annotated(r, &x, token);
    }
    if (status != IONF_OK) {
        return status;
    }
    return x.p > r->value_limit ? IONF_ERR_VALUE_SIZE : commit(r, &x, token);
}

/* An identifier as the annotation at `p`, with nothing between it, its colons and the value: where that begins,
 * which two more bytes follow. NULL where it takes a closer look. */
static const uint8_t *
plain_annotation(const uint8_t *p, const uint8_t *end)
{
    if (!ionf_txt_is(*p, IONF_TXT_IDENT_START)) {
        return NULL;
    }
    const uint8_t *const stop = ionf_txt_ident_end(p + 1, end);
    if (end - stop < 5 || stop[0] != ':' || stop[1] != ':' ||
        (*p == '$' && ionf_txt_is(p[1], IONF_TXT_DIGIT)) ||
        ionf_txt_keyword_of(p, (size_t)(stop - p)) != IONF_TXT_NO_KEYWORD) {
        return NULL;
    }
    return stop + 2;
}

/* A container's opening, a string or a number as the inline half takes them; moves p behind it. */
static bool
plain_value(const uint8_t **p, const uint8_t *end, ionf_token *token)
{
    switch (**p) {
    case '"':
        (*p)++;
        token->kind = IONF_KIND_STRING;
        return ionf_txt_plain_string(p, end, &token->as.bytes.data, &token->as.bytes.len,
                                     &token->is_ascii);
    case '{':
        token->kind = IONF_KIND_STRUCT;
        return *++*p != '{';
    case '[':
    case '(':
        token->kind = *(*p)++ == '[' ? IONF_KIND_LIST : IONF_KIND_SEXP;
        return true;
    default:
        return (**p == '-' || ionf_txt_is(**p, IONF_TXT_DIGIT)) &&
               ionf_txt_plain_number(p, end, token);
    }
}

/* A value with one annotation, within a container. False for all that is not plain: then nothing has changed
 * that the careful way does not set. That takes 80 ns more. */
static bool
next_annotated(ionf_txt_reader *r, const uint8_t *value, ionf_token *token)
{
    const uint8_t *const end = r->base.end;
    const uint8_t *p = plain_annotation(value, end);
    if (p == NULL || r->annotation_cap == 0 || r->base.depth >= r->frame_limit) {
        return false;
    }
    const ionf_symref annotation = {
        .text = value, .len = (size_t)(p - 2 - value), .is_ascii = true};
    if (!plain_value(&p, end, token) || p > r->value_limit) {
        return false;
    }
    r->annotations[0] = annotation;
    token->annotations = r->annotations;
    token->annotation_count = 1;
    r->base.p = p;
    if (ionf_kind_is_container(token->kind)) {
        ionf_txt_push(r, token->kind);
    } else {
        r->after_value = r->has_commas;
    }
    return true;
}

/* At top level it may be a system value, and a comment is no part of it. These, and all that fails, are
 * done once more from the token's start. */
ionf_status
ionf_txt_next_value(ionf_txt_reader *r, const uint8_t *value, ionf_token *token)
{
    if (r->base.depth != 0 && *value != '/') {
        if (next_annotated(r, value, token)) {
            return IONF_OK;
        }
        ionf_status status = look_around(r);
        if (IONF_LIKELY(status == IONF_OK)) {
            ionf_txt_show_all(r);
            status = lex_inner_value(r, value, token);
            ionf_txt_show_step(r);
        }
        if (status == IONF_OK || status == IONF_ERR_INTERRUPTED) {
            return status;
        }
        if (status == IONF_ERR_NOMEM) { /* not to be tried again */
            r->needs_general = true;
            return fail(r, status, value, NULL);
        }
    }
    return ionf_txt_next_general(r, token);
}

ionf_status
ionf_txt_skip(ionf_txt_reader *r)
{
    if (r->base.error.status != IONF_OK) {
        return r->base.error.status;
    }
    if (r->base.depth == 0) {
        return IONF_ERR_STATE;
    }
    if (!r->is_skipping) {
        r->is_skipping = true;
        r->skip_depth = r->base.depth - 1;
    }
    while (r->base.depth > r->skip_depth) {
        ionf_token token;
        const ionf_status status = ionf_txt_next(r, &token);
        if (status != IONF_OK) {
            return status;
        }
    }
    r->is_skipping = false;
    return IONF_OK;
}
