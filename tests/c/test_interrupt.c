/* ionf_alloc's is_interrupted: asked within every kind of long token, and obeyed. Each question is answered
 * with yes once, until the work passes: nothing leaks, and readers go on as if nothing had been.
 *
 * The documents are some steps long, whatever IONF_STEP_BYTES is. With short ones, as test_core_c.py also
 * builds all C tests, everything is cut everywhere; with the usual ones only some documents are tried.
 */
#include "ct.h"

#include "ionf_b64.h"
#include "ionf_bin_read.h"
#include "ionf_num.h"
#include "ionf_transcode.h"
#include "ionf_txt_read.h"

#define HAS_SHORT_STEPS (IONF_STEP_BYTES <= 4096)
#define SIZE_MIN (HAS_SHORT_STEPS ? 3 * IONF_STEP_BYTES + 5 : IONF_STEP_BYTES / 3 * 4)
#define ASKED_MIN (HAS_SHORT_STEPS ? 2 : 1)
#define DOCUMENT_STRIDE (HAS_SHORT_STEPS ? 1 : 11)

/* ---- documents: `unit` repeated between `prefix` and `suffix` ---- */

typedef struct document {
    const char *prefix, *unit, *suffix;
} document;

static const document documents[] = {
    {"\"", "abcdefg", "\""},
    {"[\"", "\xC3\xA4xy\xE2\x82\xAC", "\"]"},
    {"{a:\"", "\xF0\x9D\x84\x9E", "\"}"},
    {"\"", "\\n", "\""},
    {"\"", "abc\\u00e4d", "\""},
    {"'''", "it's\r\n", "'''"},
    {"", "'''ab''' ", ""},
    {"", "'''a\\x62'''/**/", "1"},
    {"{{", "QUJD", "}}"},
    {"{{", "QU JD\n", " }}"},
    {"{{\"", "ab\\x80", "\" }}"},
    {"{{", "'''ab'''\n", "}}"},
    {"", " ", "1"},
    {"[", "\n", "1]"},
    {"//", "\xC3\xA4", "\n1"},
    {"/*", "a\xE2\x82\xAC", "*/1"},
    {"/*", "*", "*/1"},
    {"", "/**/", "1"},
    {"", "//\n", "1"},
    {"1", "_7", ""},
    {"-", "7", ""},
    {"1.", "7", "d-5"},
    {"1.", "7", "e5"},
    {"0x", "aF_0", "0"},
    {"0b", "1", " "},
    {"", "abc", ""},
    {"", "a::", "1"},
    {"", "'b\\x62'::", "c"},
    {"", "$ion_1_0 ", "x"},
    {"$ion_symbol_table::{symbols:[", "\"ab\",", "]} $10"},
    {"$ion_symbol_table::{symbols:[\"", "ab", "\"]} $10"},
    {"[", "[1,{a:'b'}],", "]"},
    {"[", "\"\\t\",", "]"},
};

#define DOCUMENT_COUNT (sizeof documents / sizeof documents[0])

static char *
make_document(const document *doc, size_t *len)
{
    const size_t unit = strlen(doc->unit);
    const size_t count = SIZE_MIN / unit + 1;
    const size_t prefix = strlen(doc->prefix), suffix = strlen(doc->suffix);
    *len = prefix + count * unit + suffix;
    char *const text = malloc(*len);
    memcpy(text, doc->prefix, prefix);
    for (size_t i = 0; i < count; i++) {
        memcpy(text + prefix + i * unit, doc->unit, unit);
    }
    memcpy(text + prefix + count * unit, doc->suffix, suffix);
    return text;
}

/* ---- what is read, as a hash ---- */

static uint64_t
mix(uint64_t hash, const void *data, size_t len)
{
    const uint8_t *const bytes = data;
    for (size_t i = 0; i < len; i++) {
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001B3);
    }
    return (hash ^ len) * UINT64_C(0x100000001B3);
}

static uint64_t
mix_symbol(uint64_t hash, const ionf_symref *symbol)
{
    return symbol->text == NULL ? mix(hash, &symbol->sid, sizeof symbol->sid)
                                : mix(hash, symbol->text, symbol->len);
}

static uint64_t
mix_integer(uint64_t hash, const ionf_integer *integer)
{
    return integer->form == IONF_INT_U64 ? mix(hash, &integer->u64, sizeof integer->u64)
                                         : mix(hash, integer->data, integer->len);
}

static uint64_t
mix_token(uint64_t hash, const ionf_token *t)
{
    hash = mix(hash, &t->kind, 1);
    hash = mix(hash, &t->offset, sizeof t->offset);
    for (uint32_t i = 0; i < t->annotation_count; i++) {
        hash = mix_symbol(hash, &t->annotations[i]);
    }
    if (t->has_field) {
        hash = mix_symbol(hash, &t->field);
    }
    switch (t->kind) {
    case IONF_KIND_INT:
        return mix_integer(hash, &t->as.integer);
    case IONF_KIND_DECIMAL:
        return mix_integer(hash, &t->as.decimal.coefficient);
    case IONF_KIND_FLOAT:
        return mix(hash, &t->as.f64, sizeof t->as.f64);
    case IONF_KIND_SYMBOL:
        return mix_symbol(hash, &t->as.symbol);
    case IONF_KIND_STRING:
        return mix(mix(hash, &t->is_ascii, sizeof t->is_ascii), t->as.bytes.data, t->as.bytes.len);
    case IONF_KIND_CLOB:
    case IONF_KIND_BLOB:
        return mix(hash, t->as.bytes.data, t->as.bytes.len);
    default:
        return hash;
    }
}

/* ---- readers ---- */

typedef struct source {
    const uint8_t *data;
    size_t len;
    bool is_binary;
    size_t first; /* bytes of the first window; `len`: all in one, which is the last */
    enum { READ_ALL, SKIP, DISCARD } how;
} source;

typedef struct stream {
    const source *from;
    ionf_bin_reader bin;
    ionf_txt_reader txt;
    ionf_buf scratch;
    bool has_all;
    long long interrupts;
} stream;

static void
stream_open(stream *s, const source *from, const ionf_alloc *alloc)
{
    ionf_limits limits = ionf_limits_default();
    limits.max_value_size = from->how == DISCARD ? 10 : limits.max_value_size;
    s->from = from;
    s->has_all = from->first == from->len;
    s->interrupts = 0;
    ionf_bin_reader_init(&s->bin, *alloc);
    ionf_txt_reader_init(&s->txt, *alloc);
    ionf_buf_init(&s->scratch, *alloc);
    s->txt.scratch = &s->scratch;
    if (from->is_binary) {
        ionf_bin_reader_open(&s->bin, from->data, from->first, s->has_all, &limits, NULL);
    } else {
        ionf_txt_reader_open(&s->txt, from->data, from->first, s->has_all, &limits, NULL);
    }
}

static void
stream_close(stream *s)
{
    ionf_bin_reader_destroy(&s->bin);
    ionf_txt_reader_destroy(&s->txt);
    ionf_buf_destroy(&s->scratch);
}

/* After IONF_NEED_DATA: all that is left. */
static void
stream_go_on(stream *s)
{
    ionf_reader *const base = s->from->is_binary ? &s->bin.base : &s->txt.base;
    CHECK(!s->has_all);
    s->has_all = true;
    const size_t used = (size_t)ionf_reader_offset(base, base->p);
    if (s->from->is_binary) {
        ionf_bin_reader_window(&s->bin, s->from->data + used, s->from->len - used, true);
    } else {
        ionf_txt_reader_window(&s->txt, s->from->data + used, s->from->len - used, true);
    }
}

static ionf_status
stream_step(stream *s, ionf_token *token, unsigned how)
{
    uint64_t size;
    switch (how) {
    case SKIP:
        return s->from->is_binary ? ionf_bin_skip(&s->bin) : ionf_txt_skip(&s->txt);
    case DISCARD:
        return s->from->is_binary ? ionf_bin_discard(&s->bin, &size)
                                  : ionf_txt_discard(&s->txt, &size);
    default:
        return s->from->is_binary ? ionf_bin_next(&s->bin, token) : ionf_txt_next(&s->txt, token);
    }
}

/* The same call again until it is through, whatever comes between. */
static ionf_status
stream_call(stream *s, ionf_token *token, unsigned how)
{
    for (;;) {
        const ionf_status status = stream_step(s, token, how);
        if (status == IONF_NEED_DATA) {
            stream_go_on(s);
        } else if (status == IONF_ERR_INTERRUPTED) {
            s->interrupts++;
        } else {
            return status;
        }
    }
}

/* A hash of all that is read; the question number `stop_at` of the heap is answered with yes. */
static uint64_t
read_source(const source *from, ct_heap *heap, long long *interrupts)
{
    const ionf_alloc alloc = ct_heap_allocator(heap);
    uint64_t hash = 1;
    stream s;
    stream_open(&s, from, &alloc);
    for (;;) {
        ionf_token token;
        ionf_status status = stream_call(&s, &token, READ_ALL);
        if (status == IONF_ERR_VALUE_SIZE && from->how == DISCARD) {
            status = stream_call(&s, NULL, DISCARD);
            CHECK_INT(status, IONF_OK);
            hash = mix(hash, "discarded", 9);
            continue;
        }
        CHECK_INT(status, IONF_OK);
        if (status != IONF_OK || token.kind == IONF_KIND_EOF) {
            break;
        }
        hash = mix_token(hash, &token);
        if (from->how == SKIP && ionf_kind_is_container(token.kind)) {
            CHECK_INT(stream_call(&s, NULL, SKIP), IONF_OK);
            hash = mix(hash, "skipped", 7);
        }
    }
    *interrupts = s.interrupts;
    stream_close(&s);
    CHECK_INT(heap->live_bytes, 0);
    return hash;
}

/* Each question is answered with yes once. Gives how many there are. */
static long long
check_source(const source *from)
{
    long long interrupts;
    ct_heap heap = {.fail_at = -1};
    const uint64_t expected = read_source(from, &heap, &interrupts);
    const long long asked = heap.asked;
    CHECK_INT(interrupts, 0);
    for (long long stop_at = 1; stop_at <= asked; stop_at++) {
        heap.asked = 0;
        heap.stop_at = stop_at;
        CHECK(read_source(from, &heap, &interrupts) == expected);
        CHECK_INT(interrupts, 1);
    }
    return asked;
}

/* ---- text ---- */

static void
test_text_in_one_window(void)
{
    for (size_t i = 0; i < DOCUMENT_COUNT; i += DOCUMENT_STRIDE) {
        size_t len;
        char *const text = make_document(&documents[i], &len);
        const source from = {(const uint8_t *)text, len, false, len, READ_ALL};
        CHECK(check_source(&from) >= ASKED_MIN);
        free(text);
    }
}

static void
test_text_in_two_windows(void)
{
    for (size_t i = 0; i < DOCUMENT_COUNT; i += DOCUMENT_STRIDE) {
        size_t len;
        char *const text = make_document(&documents[i], &len);
        const source from = {(const uint8_t *)text, len, false, len - len / 4, READ_ALL};
        CHECK(check_source(&from) >= ASKED_MIN);
        free(text);
    }
}

static void
test_text_skipped(void)
{
    for (size_t i = 0; i < DOCUMENT_COUNT; i += DOCUMENT_STRIDE) {
        size_t len;
        char *const text = make_document(&documents[i], &len);
        const source from = {(const uint8_t *)text, len, false, len, SKIP};
        CHECK(check_source(&from) >= ASKED_MIN);
        free(text);
    }
}

static void
test_text_discarded(void)
{
    static const document large[] = {{"[", "[1,{a:'b'}],\"\\t\",", "]"},
                                     {"[\"", "abc\\\"", "\"]"},
                                     {"\"", "abc", "\""},
                                     {"", "'''a'b''' ", ""},
                                     {"{{", "QUJD", "}}"},
                                     {"[/*", "**", "*/]"},
                                     {"a::1", "7", ""}};
    for (size_t i = 0; i < sizeof large / sizeof large[0]; i += DOCUMENT_STRIDE) {
        size_t len;
        char *const text = make_document(&large[i], &len);
        for (size_t windows = 1; windows <= 2; windows++) {
            const source from = {(const uint8_t *)text, len, false,
                                 windows == 1 ? len : len - len / 4, DISCARD};
            /* What has been seen before the value is refused is not asked about again. */
            CHECK(check_source(&from) + (windows == 2) >= ASKED_MIN);
        }
        free(text);
    }
}

/* ---- transcoding, and what comes of it ---- */

typedef struct job {
    stream in;
    ionf_bin_writer bin;
    ionf_txt_writer txt;
    ionf_buf body, out;
    ionf_transcoder t;
} job;

static ionf_status
job_run(job *j)
{
    const ionf_reader *const base = j->in.from->is_binary ? &j->in.bin.base : &j->in.txt.base;
    for (;;) {
        ionf_token token;
        ionf_status status = stream_step(&j->in, &token, READ_ALL);
        if (status == IONF_OK && token.kind == IONF_KIND_EOF) {
            return ionf_transcode_finish(&j->t);
        }
        if (status == IONF_OK) {
            status = ionf_transcode_token(&j->t, &base->symtab, &token);
        }
        if (status != IONF_OK) {
            return status;
        }
    }
}

/* Into `out`, of libc; or given up at the first interrupt. */
static ionf_status
transcode(const source *from, bool is_binary, ct_heap *heap, ionf_buf *out)
{
    const ionf_alloc alloc = ct_heap_allocator(heap);
    job j;
    stream_open(&j.in, from, &alloc);
    ionf_bin_writer_init(&j.bin, alloc);
    ionf_txt_writer_init(&j.txt, alloc);
    ionf_buf_init(&j.body, alloc);
    ionf_buf_init(&j.out, alloc);
    j.bin.body = &j.body;
    j.txt.out = &j.body;
    ionf_transcoder_init(&j.t, alloc, &j.bin, &j.txt, is_binary, is_binary ? &j.out : NULL,
                         is_binary);
    const ionf_status status = job_run(&j);
    ionf_transcode_abandon(&j.t);
    CHECK_INT(ionf_transcode_depth(&j.t), 0);
    if (status != IONF_OK) { /* what has been written before stays */
        CHECK_INT(ionf_transcode_finish(&j.t), IONF_OK);
    } else {
        CHECK_INT(ionf_buf_append(out, j.t.out->data, j.t.out->len), IONF_OK);
    }
    ionf_transcoder_destroy(&j.t);
    ionf_bin_writer_destroy(&j.bin);
    ionf_txt_writer_destroy(&j.txt);
    ionf_buf_destroy(&j.body);
    ionf_buf_destroy(&j.out);
    stream_close(&j.in);
    CHECK_INT(heap->live_bytes, 0);
    CHECK_INT(heap->live_blocks, 0);
    return status;
}

/* Interrupted at each question, then through; gives the output and how often it was asked. */
static long long
check_transcode(const source *from, bool is_binary, ionf_buf *out)
{
    ct_heap heap = {.fail_at = -1};
    CHECK_INT(transcode(from, is_binary, &heap, out), IONF_OK);
    const long long asked = heap.asked;
    ionf_buf again;
    ionf_buf_init(&again, ionf_alloc_libc());
    for (long long stop_at = 1; stop_at <= asked; stop_at++) {
        heap.asked = 0;
        heap.stop_at = stop_at;
        CHECK_INT(transcode(from, is_binary, &heap, &again), IONF_ERR_INTERRUPTED);
    }
    heap.stop_at = 0;
    CHECK_INT(transcode(from, is_binary, &heap, &again), IONF_OK);
    CHECK_BYTES(again.data, again.len, out->data, out->len);
    ionf_buf_destroy(&again);
    return asked;
}

/* Huge numbers are for the test below: here they would be converted for each question. */
static bool
is_number(const document *doc)
{
    return doc->prefix[0] == '1' || doc->prefix[0] == '-' || doc->prefix[0] == '0';
}

static void
test_transcode(void)
{
    for (size_t i = 0; i < DOCUMENT_COUNT; i += DOCUMENT_STRIDE) {
        if (is_number(&documents[i])) {
            continue;
        }
        size_t len;
        char *const text = make_document(&documents[i], &len);
        ionf_buf binary, back;
        ionf_buf_init(&binary, ionf_alloc_libc());
        ionf_buf_init(&back, ionf_alloc_libc());
        const source from_text = {(const uint8_t *)text, len, false, len, READ_ALL};
        CHECK(check_transcode(&from_text, true, &binary) >= ASKED_MIN);
        const source from_binary = {binary.data, binary.len, true, binary.len, READ_ALL};
        (void)check_transcode(&from_binary, false, &back);
        (void)check_source(&from_binary);
        ionf_buf_destroy(&binary);
        ionf_buf_destroy(&back);
        free(text);
    }
}

/* ---- binary that no writer makes ---- */

static void
check_bytes(const uint8_t *prefix, size_t prefix_len, const uint8_t *unit, size_t unit_len)
{
    const size_t count = SIZE_MIN / unit_len + 3;
    const size_t len = 4 + prefix_len + count * unit_len + 2;
    uint8_t *const data = malloc(len);
    memcpy(data, "\xE0\x01\x00\xEA", 4);
    memcpy(data + 4, prefix, prefix_len);
    for (size_t i = 0; i < count; i++) {
        memcpy(data + 4 + prefix_len + i * unit_len, unit, unit_len);
    }
    memcpy(data + len - 2, "\x21\x07", 2);
    for (size_t windows = 1; windows <= 2; windows++) {
        const source from = {data, len, true, windows == 1 ? len : len - len / 4, READ_ALL};
        CHECK(check_source(&from) >= ASKED_MIN);
    }
    free(data);
}

static void
test_binary_without_values(void)
{
    const uint8_t nothing = 0;
    check_bytes(&nothing, 0, (const uint8_t *)"\x00", 1);             /* padding */
    check_bytes(&nothing, 0, (const uint8_t *)"\x01\xFF", 2);         /* more of it */
    check_bytes(&nothing, 0, (const uint8_t *)"\xE0\x01\x00\xEA", 4); /* version markers */
    check_bytes(&nothing, 0, (const uint8_t *)"\xE3\x81\x83\xDF", 4); /* null tables */
    check_bytes(&nothing, 0, (const uint8_t *)"\x71\x02", 2);         /* $ion_1_0 as a symbol */
    check_bytes(&nothing, 0, (const uint8_t *)"\xE3\x81\x83\xD0\x00",
                5); /* empty ones, and padding */
}

/* ---- numbers ---- */

typedef ionf_status (*convert)(const ionf_integer *integer, ionf_buf *out);

/* Stopped at questions 1, 2, 4, 8 ... and at the last one. */
static void
check_conversion(const ionf_integer *integer, convert run, ionf_buf *out)
{
    ct_heap heap = {.fail_at = -1};
    ionf_buf_init(out, ionf_alloc_libc());
    ionf_buf own;
    ionf_buf_init(&own, ct_heap_allocator(&heap));
    CHECK_INT(run(integer, &own), IONF_OK);
    CHECK_INT(ionf_buf_append(out, own.data, own.len), IONF_OK);
    const long long asked = heap.asked;
    CHECK(asked >= 8);
    for (long long stop_at = 1; stop_at != 0; stop_at = stop_at == asked      ? 0
                                                        : 2 * stop_at < asked ? 2 * stop_at
                                                                              : asked) {
        heap.asked = 0;
        heap.stop_at = stop_at;
        own.len = 1;
        own.data[0] = '>';
        CHECK_INT(run(integer, &own), IONF_ERR_INTERRUPTED);
        CHECK_INT(heap.asked, stop_at);
        CHECK_BYTES(own.data, own.len, ">", 1);
        CHECK_INT(heap.live_blocks, 1);
    }
    heap.asked = heap.stop_at = 0;
    CHECK_INT(run(integer, &own), IONF_OK);
    CHECK_BYTES(own.data + 1, own.len - 1, out->data, out->len);
    ionf_buf_destroy(&own);
    CHECK_INT(heap.live_bytes, 0);
}

static void
test_huge_integers(void)
{
    const size_t len = 400000;
    uint8_t *const digits = malloc(len);
    for (size_t i = 0; i < len; i++) {
        digits[i] = (uint8_t)('0' + (i * 7 + i / 11 + 1) % 10);
    }
    ionf_buf bytes, text;
    const ionf_integer from_digits = ionf_num_integer_from_digits(digits, len, false);
    check_conversion(&from_digits, ionf_num_integer_to_be, &bytes);
    const ionf_integer from_bytes = ionf_num_integer_from_be(bytes.data, bytes.len, false);
    check_conversion(&from_bytes, ionf_num_integer_to_digits, &text);
    CHECK_BYTES(text.data, text.len, digits, len);
    ionf_buf_destroy(&bytes);
    ionf_buf_destroy(&text);
    free(digits);
}

/* A host that never asks to stop need not say so. */
static void
test_no_hook(void)
{
    ionf_alloc alloc = ionf_alloc_libc();
    CHECK(alloc.is_interrupted == NULL);
    CHECK_INT(ionf_alloc_ask(&alloc), IONF_OK);
    CHECK(strcmp(ionf_status_text(IONF_ERR_INTERRUPTED), "interrupted") == 0);
}

int
main(void)
{
    RUN(test_text_in_one_window);
    RUN(test_text_in_two_windows);
    RUN(test_text_skipped);
    RUN(test_text_discarded);
    RUN(test_transcode);
    RUN(test_binary_without_values);
    RUN(test_huge_integers);
    RUN(test_no_hook);
    return ct_end();
}
