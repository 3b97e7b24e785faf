/* ionf_transcode: every kind of value both ways, symbols carried from table to table, imports that
 * nobody has, segments, giving up half-way. */
#include "ct.h"

#include "ionf_bin_read.h"
#include "ionf_transcode.h"
#include "ionf_txt_read.h"

#define LEN(literal) (sizeof(literal) - 1)

typedef struct bench {
    ionf_alloc alloc;
    ionf_bin_reader bin_in;
    ionf_txt_reader txt_in;
    ionf_buf scratch;
    ionf_bin_writer bin;
    ionf_txt_writer txt;
    ionf_buf body, out;
    ionf_transcoder t;
    bool is_binary_in;
    bool flushes; /* after each top-level value */
} bench;

static void
open_bench(bench *b, ionf_alloc alloc, bool is_binary, bool with_marker)
{
    memset(b, 0, sizeof *b);
    b->alloc = alloc;
    ionf_bin_reader_init(&b->bin_in, alloc);
    ionf_txt_reader_init(&b->txt_in, alloc);
    ionf_buf_init(&b->scratch, alloc);
    ionf_bin_writer_init(&b->bin, alloc);
    ionf_txt_writer_init(&b->txt, alloc);
    ionf_buf_init(&b->body, alloc);
    ionf_buf_init(&b->out, alloc);
    b->bin.body = &b->body;
    b->txt.out = &b->body;
    b->txt.top_separator = " ";
    ionf_transcoder_init(&b->t, alloc, &b->bin, &b->txt, is_binary, is_binary ? &b->out : NULL,
                         with_marker);
}

static void
close_bench(bench *b)
{
    ionf_transcoder_destroy(&b->t);
    ionf_bin_writer_destroy(&b->bin);
    ionf_txt_writer_destroy(&b->txt);
    ionf_bin_reader_destroy(&b->bin_in);
    ionf_txt_reader_destroy(&b->txt_in);
    ionf_buf_destroy(&b->scratch);
    ionf_buf_destroy(&b->body);
    ionf_buf_destroy(&b->out);
}

static ionf_status
next(bench *b, ionf_token *token)
{
    return b->is_binary_in ? ionf_bin_next(&b->bin_in, token) : ionf_txt_next(&b->txt_in, token);
}

/* All of the source; what is finished stands in b->t.out then. */
static ionf_status
feed(bench *b, const void *source, size_t len, const ionf_catalog *catalog)
{
    const ionf_limits limits = ionf_limits_default();
    b->is_binary_in = len != 0 && *(const uint8_t *)source == 0xE0;
    ionf_bin_reader_reset(&b->bin_in);
    ionf_txt_reader_reset(&b->txt_in);
    b->txt_in.scratch = &b->scratch;
    ionf_reader *const base = b->is_binary_in ? &b->bin_in.base : &b->txt_in.base;
    if (b->is_binary_in) {
        ionf_bin_reader_open(&b->bin_in, source, len, true, &limits, catalog);
    } else {
        ionf_txt_reader_open(&b->txt_in, source, len, true, &limits, catalog);
    }
    for (;;) {
        ionf_token token;
        ionf_status status = next(b, &token);
        if (status == IONF_OK && token.kind == IONF_KIND_EOF) {
            return IONF_OK;
        }
        if (status == IONF_OK) {
            status = ionf_transcode_token(&b->t, &base->symtab, &token);
        }
        if (status == IONF_OK && b->flushes && ionf_transcode_depth(&b->t) == 0) {
            status = ionf_transcode_flush(&b->t);
        }
        if (status != IONF_OK) {
            return status;
        }
    }
}

/* The source as text without a version marker, into `text`, NUL-terminated. */
static void
as_text(const void *source, size_t len, const ionf_catalog *catalog, char *text, size_t cap)
{
    bench b;
    open_bench(&b, ionf_alloc_libc(), false, false);
    CHECK_INT(feed(&b, source, len, catalog), IONF_OK);
    CHECK_INT(ionf_transcode_finish(&b.t), IONF_OK);
    CHECK(b.t.out->len < cap);
    memcpy(text, b.t.out->data, b.t.out->len);
    text[b.t.out->len] = 0;
    close_bench(&b);
}

#define CHECK_TEXT(actual, expected)                                                              \
    do {                                                                                          \
        CHECK(strcmp((actual), (expected)) == 0);                                                 \
        if (strcmp((actual), (expected)) != 0) {                                                  \
            fprintf(stderr, "  got      %s\n  expected %s\n", (actual), (expected));              \
        }                                                                                         \
    } while (0)

/* `source` as text is `expected`, straight and by way of binary, in one segment and in many. */
static void
check_both_ways(const char *source, const ionf_catalog *catalog, const char *expected)
{
    char text[4096];
    as_text(source, strlen(source), catalog, text, sizeof text);
    CHECK_TEXT(text, expected);
    for (int flushes = 0; flushes <= 1; flushes++) {
        bench b;
        open_bench(&b, ionf_alloc_libc(), true, true);
        b.flushes = flushes != 0;
        CHECK_INT(feed(&b, source, strlen(source), catalog), IONF_OK);
        CHECK_INT(ionf_transcode_finish(&b.t), IONF_OK);
        as_text(b.out.data, b.out.len, NULL, text, sizeof text);
        CHECK_TEXT(text, expected);
        close_bench(&b);
    }
}

static void
test_values(void)
{
    static const char values[] =
        "null null.bool null.int null.float null.decimal null.timestamp null.symbol null.string "
        "null.clob null.blob null.list null.sexp null.struct true false 0 -1 "
        "9223372036854775808 -123456789012345678901234567890 0e0 -0e0 nan +inf -inf 1.5e0 0. -0. "
        "1.50 -0d3 1234567890123456789012345.67890 2007T 2007-02T 2007-02-23 2007-02-23T12:14Z "
        "2007-02-23T12:14:33.0790-08:00 2007-02-23T12:14:33-00:00 name 'a b' '' \"\" "
        "\"h\xC3\xA9\" {{\"clob\\x80\"}} {{aGk=}} [] () {} [1,[2,(3 {a:4,a:5})]] a::b::c::1 "
        "a::[b::{c:d::null.int}] {$ion:name,imports:$0} $0 $0::{$0:$0}";
    check_both_ways(values, NULL, values);
}

static void
test_nothing(void)
{
    bench b;
    open_bench(&b, ionf_alloc_libc(), true, true);
    CHECK_INT(feed(&b, "// nothing", 10, NULL), IONF_OK);
    CHECK_INT(ionf_transcode_flush(&b.t), IONF_OK);
    CHECK_INT(b.out.len, 0);
    CHECK_INT(ionf_transcode_finish(&b.t), IONF_OK);
    CHECK_BYTES(b.out.data, b.out.len, "\xE0\x01\x00\xEA", 4);
    CHECK_INT(ionf_transcode_finish(&b.t), IONF_OK);
    CHECK_INT(b.out.len, 4);
    close_bench(&b);
    open_bench(&b, ionf_alloc_libc(), false, true);
    CHECK_INT(ionf_transcode_finish(&b.t), IONF_OK);
    CHECK_BYTES(b.body.data, b.body.len, "$ion_1_0", 8);
    close_bench(&b);
}

static void
test_markers(void)
{
    bench b;
    open_bench(&b, ionf_alloc_libc(), false, true);
    CHECK_INT(feed(&b, "1 2", 3, NULL), IONF_OK);
    CHECK_INT(ionf_transcode_finish(&b.t), IONF_OK);
    CHECK_BYTES(b.body.data, b.body.len, "$ion_1_0 1 2", 12);
    close_bench(&b);
}

/* Binary: a flush after each value; the symbol table grows by append, the second "a" needs none. */
static void
test_segments(void)
{
    static const char expected[] = "\xE0\x01\x00\xEA"
                                   "\xE7\x81\x83\xD4\x87\xB2\x81\x61"
                                   "\x71\x0A"
                                   "\xEA\x81\x83\xD7\x86\x71\x03\x87\xB2\x81\x62"
                                   "\x71\x0B"
                                   "\x71\x0A";
    bench b;
    open_bench(&b, ionf_alloc_libc(), true, true);
    b.flushes = true;
    CHECK_INT(feed(&b, "a b a", 5, NULL), IONF_OK);
    CHECK_INT(ionf_transcode_finish(&b.t), IONF_OK);
    CHECK_BYTES(b.out.data, b.out.len, expected, LEN(expected));
    close_bench(&b);
}

/* One SID, three meanings: what was remembered of a table ends with it. */
static void
test_tables_follow_each_other(void)
{
    check_both_ways("$ion_symbol_table::{symbols:[\"a\",\"b\"]} $10 $11 "
                    "$ion_symbol_table::{symbols:[\"c\"]} $10 $0 "
                    "$ion_symbol_table::{imports:$ion_symbol_table,symbols:[\"d\"]} $10 $11 "
                    "$ion_1_0 e $ion_symbol_table::{symbols:[\"a\",\"b\"]} {$11:$10}",
                    NULL, "a b c $0 c d e {b:a}");
}

/* All local symbols without text are one symbol, which is not $0. */
static void
test_local_gaps(void)
{
    check_both_ways("$ion_symbol_table::{symbols:[null,\"a\",null]} [$10,$11,$12,$0] $12::{$10:1}",
                    NULL, "$ion_symbol_table::{symbols:[null]} [$10,a,$10,$0] $10::{$10:1}");
    char text[256];
    static const char appended[] = "$ion_symbol_table::{symbols:[\"a\"]} $10 "
                                   "$ion_symbol_table::{imports:$ion_symbol_table,symbols:[null]} "
                                   "$11 $10";
    as_text(appended, sizeof appended - 1, NULL, text, sizeof text);
    CHECK_TEXT(text, "a $ion_symbol_table::{symbols:[null]} $10 a");
}

#define TABLE(imports) "$ion_symbol_table::{imports:[" imports "]}"
#define FRUITS "{name:\"fruits\",version:2,max_id:3}"
#define TOOLS "{name:\"tools\",version:1,max_id:2}"

/* The output imports what the source imports; known symbols beside them are spelled out. */
static void
test_unknown_imports(void)
{
    check_both_ways("$ion_symbol_table::{imports:[" FRUITS "],symbols:[\"a\"]} $12 $13 {$11:$10}",
                    NULL, TABLE(FRUITS) " $12 a {$11:$10}");
    /* None of them is used: the table is there all the same, for that is not known beforehand. */
    check_both_ways("1 $ion_symbol_table::{imports:[" TOOLS "],symbols:[\"a\"]} $12", NULL,
                    "1 " TABLE(TOOLS) " a");
    /* Another table that the last one covers needs no context of its own. */
    check_both_ways(TABLE(TOOLS "," FRUITS) " $10 " TABLE(FRUITS) " $10 " TABLE(TOOLS) " $11",
                    NULL, TABLE(TOOLS "," FRUITS) " $10 $12 $11");
    check_both_ways(TABLE(TOOLS) " $10 " TABLE(FRUITS) " $12::$11 $ion_1_0 a", NULL,
                    TABLE(TOOLS) " $10 " TABLE(FRUITS) " $12::$11 a");
}

/* Imports of more symbols than memory has cost nothing; more than SIDs are refused. */
static void
test_huge_imports(void)
{
    check_both_ways(
        TABLE("{name:\"x\",version:1,max_id:4611686018427387904}") " $4611686018427387913", NULL,
        TABLE("{name:\"x\",version:1,max_id:4611686018427387904}") " $4611686018427387913");
    static const char source[] = TABLE("{name:\"x\",version:1,max_id:9223372036854775807},"
                                       "{name:\"y\",version:1,max_id:9223372036854775000}") " 1";
    bench b;
    open_bench(&b, ionf_alloc_libc(), true, true);
    CHECK_INT(feed(&b, source, LEN(source), NULL), IONF_ERR_RANGE);
    ionf_transcode_abandon(&b.t);
    CHECK_INT(ionf_transcode_depth(&b.t), 0);
    close_bench(&b);
}

static const ionf_shared *
find_shared(void *ctx, ionf_slice name, uint32_t version)
{
    const ionf_shared *const shared = ctx;
    (void)version;
    if (name.len != shared->name.len || memcmp(name.data, shared->name.data, name.len) != 0) {
        return NULL;
    }
    shared->retain(shared);
    return shared;
}

#define SLICE(text) {(const uint8_t *)(text), LEN(text)}

/* What the catalog knows is spelled out; gaps and what lies behind the table keep their places. */
static void
test_known_imports(void)
{
    const ionf_slice symbols[] = {SLICE("apple"), SLICE("pear"), SLICE("plum")};
    const ionf_slice gapped[] = {SLICE("apple"), {NULL, 0}, SLICE("plum")};
    const ionf_slice name = SLICE("fruits");
    const ionf_alloc alloc = ionf_alloc_libc();
    ionf_shared *shared;
    CHECK_INT(ionf_shared_create(&alloc, name, 2, symbols, 3, &shared), IONF_OK);
    const ionf_catalog catalog = {find_shared, shared};
    check_both_ways(TABLE(FRUITS) " $10 {$11:$12}", &catalog, "apple {pear:plum}");
    static const char longer[] = TABLE("{name:\"fruits\",version:2,max_id:5}");
    char source[256], expected[256];
    snprintf(source, sizeof source, "%s $10 {$11:$14}", longer);
    snprintf(expected, sizeof expected, "%s apple {pear:$14}", longer);
    check_both_ways(source, &catalog, expected);
    shared->release(shared);

    CHECK_INT(ionf_shared_create(&alloc, name, 2, gapped, 3, &shared), IONF_OK);
    const ionf_catalog gapped_catalog = {find_shared, shared};
    check_both_ways(TABLE(FRUITS) " $10 {$11:$12}", &gapped_catalog,
                    TABLE(FRUITS) " apple {$11:plum}");
    shared->release(shared);
}

/* A value that is cut short leaves no trace; the ones before it do. */
static void
test_abandon(void)
{
    for (int is_binary = 0; is_binary <= 1; is_binary++) {
        bench b;
        open_bench(&b, ionf_alloc_libc(), is_binary != 0, false);
        CHECK(feed(&b, "1 a::{b:[2,", 11, NULL) != IONF_OK);
        CHECK_INT(ionf_transcode_depth(&b.t), 2);
        ionf_transcode_abandon(&b.t);
        ionf_transcode_abandon(&b.t);
        CHECK_INT(ionf_transcode_depth(&b.t), 0);
        CHECK_INT(ionf_transcode_finish(&b.t), IONF_OK);
        char text[64];
        as_text(b.t.out->data, b.t.out->len, NULL, text, sizeof text);
        CHECK_TEXT(text, "1");
        close_bench(&b);
    }
}

/* Every allocation fails once: an error, nothing leaked, and what is finished is whole. */
static void
test_allocation_failures(void)
{
    static const char source[] =
        "a::{b:[1,2.5,\"cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc\"]} "
        "$ion_symbol_table::{imports:[" FRUITS "],symbols:[\"x\"]} x::y::{$10:$13,$12:[[[z]]]} "
        "123456789012345678901234567890";
    for (int is_binary = 0; is_binary <= 1; is_binary++) {
        ct_heap heap = {.fail_at = 0};
        ionf_status status = IONF_ERR_NOMEM;
        for (heap.fail_at = 0; status != IONF_OK && heap.fail_at < 1000; heap.fail_at++) {
            heap.calls = 0;
            bench b;
            open_bench(&b, ct_heap_allocator(&heap), is_binary != 0, true);
            b.flushes = true;
            status = feed(&b, source, LEN(source), NULL);
            if (status == IONF_OK) {
                status = ionf_transcode_finish(&b.t);
            }
            CHECK(status == IONF_OK || status == IONF_ERR_NOMEM);
            ionf_transcode_abandon(&b.t);
            CHECK_INT(ionf_transcode_depth(&b.t), 0);
            close_bench(&b);
            CHECK_INT(heap.live_bytes, 0);
            CHECK_INT(heap.live_blocks, 0);
        }
        CHECK_INT(status, IONF_OK);
    }
}

/* So many symbols that a new context begins: all are still right, and none are lost. */
static void
test_many_symbols(void)
{
    bench b;
    open_bench(&b, ionf_alloc_libc(), true, true);
    b.flushes = true;
    char name[16];
    for (unsigned i = 0; i < IONF_SYMMAP_CONTEXT_MAX + 10; i++) {
        const int len = snprintf(name, sizeof name, "s%u", i);
        CHECK_INT(feed(&b, name, (size_t)len, NULL), IONF_OK);
    }
    CHECK_INT(ionf_transcode_finish(&b.t), IONF_OK);
    CHECK_INT(b.bin.symbols.local_count, 9);
    const ionf_limits limits = ionf_limits_default();
    ionf_bin_reader r;
    ionf_bin_reader_init(&r, ionf_alloc_libc());
    ionf_bin_reader_open(&r, b.out.data, b.out.len, true, &limits, NULL);
    unsigned wrong = 0;
    for (unsigned i = 0; i < IONF_SYMMAP_CONTEXT_MAX + 10; i++) {
        ionf_token token;
        CHECK_INT(ionf_bin_next(&r, &token), IONF_OK);
        const int len = snprintf(name, sizeof name, "s%u", i);
        wrong += !ionf_symtab_is_text(&r.base.symtab, token.as.symbol.sid, name, (size_t)len);
    }
    CHECK_INT(wrong, 0);
    ionf_bin_reader_destroy(&r);
    close_bench(&b);
}

int
main(void)
{
    RUN(test_values);
    RUN(test_nothing);
    RUN(test_markers);
    RUN(test_segments);
    RUN(test_tables_follow_each_other);
    RUN(test_local_gaps);
    RUN(test_unknown_imports);
    RUN(test_huge_imports);
    RUN(test_known_imports);
    RUN(test_abandon);
    RUN(test_allocation_failures);
    RUN(test_many_symbols);
    return ct_end();
}
