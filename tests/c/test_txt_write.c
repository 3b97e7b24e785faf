/* ionf_txt_write: the text of each value, what is quoted and escaped, compact and pretty layout.
 */
#include "ct.h"

#include <math.h>

#include "ionf_txt_write.h"

#define LEN(literal) (sizeof(literal) - 1)

typedef struct fixture {
    ionf_txt_writer w;
    ionf_buf out;
} fixture;

static void
open_fixture(fixture *f)
{
    ionf_txt_writer_init(&f->w, ionf_alloc_libc());
    ionf_buf_init(&f->out, ionf_alloc_libc());
    f->w.out = &f->out;
}

static void
close_fixture(fixture *f)
{
    ionf_txt_writer_destroy(&f->w);
    ionf_buf_destroy(&f->out);
}

/* Compare and show both. */
static void
check_text(const ionf_buf *out, const char *expected, size_t len)
{
    const int failures = ct_failures;
    CHECK_BYTES(out->data, out->len, expected, len);
    if (ct_failures != failures) {
        fprintf(stderr, "  wrote    %.*s\n  expected %.*s\n", (int)out->len,
                (const char *)out->data, (int)len, expected);
    }
}

/* `call` uses `w`. */
#define CHECK_WRITES(call, expected)                                                              \
    do {                                                                                          \
        fixture ct_f;                                                                             \
        open_fixture(&ct_f);                                                                      \
        ionf_txt_writer *const w = &ct_f.w;                                                       \
        CHECK_INT((call), IONF_OK);                                                               \
        check_text(&ct_f.out, (expected), LEN(expected));                                         \
        close_fixture(&ct_f);                                                                     \
    } while (0)

static ionf_symref
symref_of(const char *text, size_t len)
{
    const ionf_symref symbol = {(const uint8_t *)text, len, 0, false};
    return symbol;
}

static ionf_status
symbol(ionf_txt_writer *w, const char *text)
{
    const ionf_symref name = symref_of(text, strlen(text));
    return ionf_txt_write_symbol(w, &name);
}

static ionf_status
field(ionf_txt_writer *w, const char *text)
{
    const ionf_symref name = symref_of(text, strlen(text));
    return ionf_txt_write_field(w, &name);
}

static ionf_status
annotation(ionf_txt_writer *w, const char *text)
{
    const ionf_symref name = symref_of(text, strlen(text));
    return ionf_txt_write_annotation(w, &name);
}

static void
test_nulls_and_bools(void)
{
    static const char *const names[] = {
        "null",           "null.bool",   "null.int",    "null.float", "null.decimal",
        "null.timestamp", "null.symbol", "null.string", "null.clob",  "null.blob",
        "null.list",      "null.sexp",   "null.struct",
    };
    for (unsigned kind = 0; kind <= IONF_KIND_STRUCT; kind++) {
        fixture f;
        open_fixture(&f);
        CHECK_INT(ionf_txt_write_null(&f.w, (ionf_kind)kind), IONF_OK);
        check_text(&f.out, names[kind], strlen(names[kind]));
        close_fixture(&f);
    }
    CHECK_WRITES(ionf_txt_write_bool(w, true), "true");
    CHECK_WRITES(ionf_txt_write_bool(w, false), "false");
}

static void
test_numbers(void)
{
    CHECK_WRITES(ionf_txt_write_i64(w, 0), "0");
    CHECK_WRITES(ionf_txt_write_i64(w, -17), "-17");
    CHECK_WRITES(ionf_txt_write_i64(w, INT64_MIN), "-9223372036854775808");
    ionf_integer integer = {.u64 = UINT64_MAX};
    CHECK_WRITES(ionf_txt_write_integer(w, &integer), "18446744073709551615");
    integer = (ionf_integer){.is_negative = true};
    CHECK_WRITES(ionf_txt_write_integer(w, &integer), "0");
    integer = (ionf_integer){0, (const uint8_t *)"\x01\0\0\0\0\0\0\0\0", 9, IONF_INT_BE, true};
    CHECK_WRITES(ionf_txt_write_integer(w, &integer), "-18446744073709551616");
    CHECK_WRITES(ionf_txt_write_double(w, 1.0), "1e0");
    CHECK_WRITES(ionf_txt_write_double(w, -0.0), "-0e0");
    CHECK_WRITES(ionf_txt_write_double(w, (double)NAN), "nan");
    CHECK_WRITES(ionf_txt_write_double(w, -INFINITY), "-inf");
    const ionf_decimal decimal = {{.u64 = 10}, -2};
    CHECK_WRITES(ionf_txt_write_decimal(w, &decimal), "0.10");
    const ionf_timestamp ts = {
        .year = 2007, .month = 2, .day = 23, .precision = IONF_PRECISION_DAY};
    CHECK_WRITES(ionf_txt_write_timestamp(w, &ts), "2007-02-23");
}

static void
test_symbol_quotes(void)
{
    static const char *const bare[] = {"a",      "Zz9_$",   "_",   "$",    "$a",      "$1a",
                                       "inf",    "nulls",   "nil", "True", "nanx",    "$ion_a",
                                       "false_", "$ion_1_", "x",   "$_10", "$ion_1_a"};
    static const char *const quoted[] = {"",     "1a",  "null",     "true", "false",    "nan",
                                         "$0",   "$10", "a b",      "a-b",  "+",        "+inf",
                                         "-inf", "a.b", "null.int", "=>",   "\xC3\xA9", "a\n"};
    for (size_t i = 0; i < sizeof bare / sizeof *bare; i++) {
        CHECK(!ionf_txt_symbol_needs_quotes((const uint8_t *)bare[i], strlen(bare[i])));
    }
    for (size_t i = 0; i < sizeof quoted / sizeof *quoted; i++) {
        CHECK(ionf_txt_symbol_needs_quotes((const uint8_t *)quoted[i], strlen(quoted[i])));
    }
    CHECK_WRITES(symbol(w, "a"), "a");
    CHECK_WRITES(symbol(w, ""), "''");
    CHECK_WRITES(symbol(w, "$10"), "'$10'");
    CHECK_WRITES(symbol(w, "it's \"\\\n"), "'it\\'s \"\\\\\\n'");
    const ionf_symref unknown = {NULL, 0, 42, false};
    CHECK_WRITES(ionf_txt_write_symbol(w, &unknown), "$42");
    const ionf_symref nul = symref_of("\0", 1);
    CHECK_WRITES(ionf_txt_write_symbol(w, &nul), "'\\0'");
}

/* Only where it would be a marker: at top level without annotations. */
static void
test_version_marker_lookalikes(void)
{
    CHECK_WRITES(symbol(w, "$ion_1_1"), "'$ion_1_1'");
    CHECK_WRITES(symbol(w, "$ion_1234_56"), "'$ion_1234_56'");
    CHECK_WRITES(symbol(w, "$ion_1_0x"), "$ion_1_0x");
    CHECK_WRITES(symbol(w, "$ion__0"), "$ion__0");
    CHECK_WRITES(symbol(w, "$ion_10_"), "$ion_10_");
    CHECK_WRITES(symbol(w, "$ion_1234"), "$ion_1234");
    CHECK_WRITES(annotation(w, "a") || symbol(w, "$ion_1_0"), "a::$ion_1_0");
    CHECK_WRITES(ionf_txt_write_begin(w, IONF_KIND_LIST) || symbol(w, "$ion_1_0"), "[$ion_1_0");
    fixture f;
    open_fixture(&f);
    const ionf_symref by_sid = {NULL, 0, IONF_SID_ION_1_0, false};
    CHECK_INT(symbol(&f.w, "$ion_1_0"), IONF_ERR_RESERVED);
    CHECK_INT(ionf_txt_write_symbol(&f.w, &by_sid), IONF_ERR_RESERVED);
    CHECK_INT(f.out.len, 0);
    close_fixture(&f);
}

static void
test_kinds_of_open_containers(void)
{
    fixture f;
    open_fixture(&f);
    CHECK_INT(ionf_txt_writer_kind(&f.w, 0), IONF_KIND_NULL);
    CHECK_INT(ionf_txt_write_begin(&f.w, IONF_KIND_LIST), IONF_OK);
    CHECK_INT(ionf_txt_write_begin(&f.w, IONF_KIND_SEXP), IONF_OK);
    CHECK_INT(ionf_txt_write_begin(&f.w, IONF_KIND_STRUCT), IONF_OK);
    CHECK_INT(ionf_txt_writer_kind(&f.w, 1), IONF_KIND_LIST);
    CHECK_INT(ionf_txt_writer_kind(&f.w, 2), IONF_KIND_SEXP);
    CHECK_INT(ionf_txt_writer_kind(&f.w, 3), IONF_KIND_STRUCT);
    close_fixture(&f);
}

static ionf_status
string(ionf_txt_writer *w, const char *text, size_t len)
{
    return ionf_txt_write_string(w, (const uint8_t *)text, len);
}

static void
test_strings(void)
{
    CHECK_WRITES(string(w, "", 0), "\"\"");
    CHECK_WRITES(string(w, "it's", 4), "\"it's\"");
    CHECK_WRITES(string(w, "a\"b\\c", 5), "\"a\\\"b\\\\c\"");
    CHECK_WRITES(string(w, "\0\a\b\t\n\v\f\r", 8), "\"\\0\\a\\b\\t\\n\\v\\f\\r\"");
    CHECK_WRITES(string(w, "\x01\x1B\x1F\x7F", 4), "\"\\x01\\x1b\\x1f\\x7f\"");
    CHECK_WRITES(string(w, "h\xC3\xA9\xC2\x85\xE2\x80\xA8\xF0\x9F\x98\x80", 12),
                 "\"h\xC3\xA9\xC2\x85\xE2\x80\xA8\xF0\x9F\x98\x80\"");
}

/* Each byte at each place of texts of several lengths, against the rule applied byte by byte. */
static void
test_escapes_anywhere(void)
{
    for (size_t len = 1; len <= 20; len++) {
        for (size_t at = 0; at < len; at++) {
            for (unsigned byte = 0; byte < 256; byte++) {
                uint8_t text[20], expected[32];
                memset(text, at % 2 == 0 ? 'a' : 0x80, len);
                text[at] = (uint8_t)byte;
                size_t n = 0;
                expected[n++] = '"';
                for (size_t i = 0; i < len; i++) {
                    static const char shorts[] = "0......abtnvfr";
                    if (text[i] == '"' || text[i] == '\\') {
                        expected[n++] = '\\';
                        expected[n++] = text[i];
                    } else if (text[i] < 14 && shorts[text[i]] != '.') {
                        expected[n++] = '\\';
                        expected[n++] = (uint8_t)shorts[text[i]];
                    } else if (text[i] < 0x20 || text[i] == 0x7F) {
                        n += (size_t)sprintf((char *)expected + n, "\\x%02x", text[i]);
                    } else {
                        expected[n++] = text[i];
                    }
                }
                expected[n++] = '"';
                fixture f;
                open_fixture(&f);
                CHECK_INT(ionf_txt_write_string(&f.w, text, len), IONF_OK);
                check_text(&f.out, (const char *)expected, n);
                close_fixture(&f);
            }
        }
    }
}

/* Every byte grows fourfold: the reservation follows. */
static void
test_all_escaped(void)
{
    uint8_t text[3000];
    memset(text, 1, sizeof text);
    fixture f;
    open_fixture(&f);
    CHECK_INT(ionf_txt_write_string(&f.w, text, sizeof text), IONF_OK);
    CHECK_INT(f.out.len, 4 * sizeof text + 2);
    CHECK_BYTES(f.out.data + f.out.len - 5, 5, "\\x01\"", 5);
    close_fixture(&f);
}

static ionf_status
lob(ionf_txt_writer *w, ionf_kind kind, const char *data, size_t len)
{
    return ionf_txt_write_lob(w, kind, (const uint8_t *)data, len);
}

static void
test_lobs(void)
{
    CHECK_WRITES(lob(w, IONF_KIND_BLOB, "", 0), "{{}}");
    CHECK_WRITES(lob(w, IONF_KIND_BLOB, "hi", 2), "{{aGk=}}");
    CHECK_WRITES(lob(w, IONF_KIND_CLOB, "", 0), "{{\"\"}}");
    CHECK_WRITES(lob(w, IONF_KIND_CLOB, "it's \"\\\n\0\x7F\x80\xFF.", 13),
                 "{{\"it's \\\"\\\\\\n\\0\\x7f\\x80\\xff.\"}}");
}

/* {a:1,'b c':[true,[]],d:x::'y z'::(a '+' (b)),e:{}} and two more values. */
static ionf_status
write_document(ionf_txt_writer *w)
{
    ionf_status s = ionf_txt_write_begin(w, IONF_KIND_STRUCT);
    s = s ? s : field(w, "a");
    s = s ? s : ionf_txt_write_i64(w, 1);
    s = s ? s : field(w, "b c");
    s = s ? s : ionf_txt_write_begin(w, IONF_KIND_LIST);
    s = s ? s : ionf_txt_write_bool(w, true);
    s = s ? s : ionf_txt_write_begin(w, IONF_KIND_LIST);
    s = s ? s : ionf_txt_write_end(w);
    s = s ? s : ionf_txt_write_end(w);
    s = s ? s : field(w, "d");
    s = s ? s : annotation(w, "x");
    s = s ? s : annotation(w, "y z");
    s = s ? s : ionf_txt_write_begin(w, IONF_KIND_SEXP);
    s = s ? s : symbol(w, "a");
    s = s ? s : symbol(w, "+");
    s = s ? s : ionf_txt_write_begin(w, IONF_KIND_SEXP);
    s = s ? s : symbol(w, "b");
    s = s ? s : ionf_txt_write_end(w);
    s = s ? s : ionf_txt_write_end(w);
    s = s ? s : field(w, "e");
    s = s ? s : ionf_txt_write_begin(w, IONF_KIND_STRUCT);
    s = s ? s : ionf_txt_write_end(w);
    s = s ? s : ionf_txt_write_end(w);
    s = s ? s : annotation(w, "n");
    s = s ? s : ionf_txt_write_null(w, IONF_KIND_NULL);
    s = s ? s : ionf_txt_write_begin(w, IONF_KIND_SEXP);
    return s ? s : ionf_txt_write_end(w);
}

static const char compact_document[] =
    "{a:1,'b c':[true,[]],d:x::'y z'::(a '+' (b)),e:{}}\nn::null\n()";

static void
test_compact(void)
{
    CHECK_WRITES(write_document(w), compact_document);
}

static void
test_pretty(void)
{
    static const char expected[] = "{\n"
                                   "\ta: 1,\n"
                                   "\t'b c': [\n"
                                   "\t\ttrue,\n"
                                   "\t\t[]\n"
                                   "\t],\n"
                                   "\td: x::'y z'::(\n"
                                   "\t\ta\n"
                                   "\t\t'+'\n"
                                   "\t\t(\n"
                                   "\t\t\tb\n"
                                   "\t\t)\n"
                                   "\t),\n"
                                   "\te: {}\n"
                                   "}\n"
                                   "n::null\n"
                                   "()";
    fixture f;
    open_fixture(&f);
    f.w.is_pretty = true;
    f.w.indent = "\t";
    CHECK_INT(write_document(&f.w), IONF_OK);
    check_text(&f.out, expected, LEN(expected));
    close_fixture(&f);
}

static void
test_top_separator(void)
{
    fixture f;
    open_fixture(&f);
    f.w.top_separator = " ";
    CHECK_INT(ionf_txt_write_raw(&f.w, "$ion_1_0", 8), IONF_OK);
    CHECK_INT(string(&f.w, "a", 1), IONF_OK);
    CHECK_INT(string(&f.w, "b", 1), IONF_OK);
    check_text(&f.out, "$ion_1_0 \"a\" \"b\"", 16);
    close_fixture(&f);
}

static void
test_wrong_calls(void)
{
    fixture f;
    open_fixture(&f);
    f.w.max_depth = 1;
    CHECK_INT(ionf_txt_write_end(&f.w), IONF_ERR_STATE);
    CHECK_INT(ionf_txt_write_begin(&f.w, IONF_KIND_STRUCT), IONF_OK);
    CHECK_INT(field(&f.w, "a"), IONF_OK);
    CHECK_INT(ionf_txt_write_end(&f.w), IONF_ERR_STATE);
    CHECK_INT(ionf_txt_write_begin(&f.w, IONF_KIND_LIST), IONF_ERR_DEPTH);
    close_fixture(&f);
}

/* $ion_symbol_table::{...} at top level would vanish; elsewhere it is data. */
static void
test_symbol_table_is_reserved(void)
{
    const ionf_symref by_sid = {NULL, 0, IONF_SID_ION_SYMBOL_TABLE, false};
    fixture f;
    open_fixture(&f);
    CHECK_INT(annotation(&f.w, "$ion_symbol_table"), IONF_OK);
    CHECK_INT(annotation(&f.w, "a"), IONF_OK);
    CHECK_INT(ionf_txt_write_begin(&f.w, IONF_KIND_STRUCT), IONF_ERR_RESERVED);
    CHECK_INT(ionf_txt_write_null(&f.w, IONF_KIND_STRUCT), IONF_ERR_RESERVED);
    CHECK_INT(ionf_txt_write_begin(&f.w, IONF_KIND_LIST), IONF_OK);
    CHECK_INT(annotation(&f.w, "$ion_symbol_table"), IONF_OK);
    CHECK_INT(ionf_txt_write_null(&f.w, IONF_KIND_STRUCT), IONF_OK);
    CHECK_INT(ionf_txt_write_end(&f.w), IONF_OK);
    CHECK_INT(ionf_txt_write_begin(&f.w, IONF_KIND_STRUCT), IONF_OK);
    CHECK_INT(ionf_txt_write_end(&f.w), IONF_OK);
    CHECK_INT(annotation(&f.w, "a"), IONF_OK);
    CHECK_INT(annotation(&f.w, "$ion_symbol_table"), IONF_OK);
    CHECK_INT(ionf_txt_write_begin(&f.w, IONF_KIND_STRUCT), IONF_OK);
    CHECK_INT(ionf_txt_write_end(&f.w), IONF_OK);
    CHECK_INT(ionf_txt_write_annotation(&f.w, &by_sid), IONF_OK);
    CHECK_INT(ionf_txt_write_begin(&f.w, IONF_KIND_STRUCT), IONF_ERR_RESERVED);
    close_fixture(&f);
}

static void
count_reference(const ionf_shared *shared)
{
    ++*(int *)shared->owner;
}

static void
test_head(void)
{
    static const char with_imports[] =
        "$ion_1_0\n$ion_symbol_table::{imports:[{name:\"a\\\"b\",version:2,max_id:1},"
        "{name:\"c\",version:1,max_id:0}]}\n{}";
    int calls = 0;
    const ionf_slice symbols[] = {{(const uint8_t *)"x", 1}};
    const ionf_shared first = {
        {(const uint8_t *)"a\"b", 3}, 2, 1, symbols, count_reference, count_reference, &calls};
    const ionf_shared second = {{(const uint8_t *)"c", 1}, 1,     0, NULL, count_reference,
                                count_reference,           &calls};
    ionf_symmap map;
    ionf_symmap_init(&map, ionf_alloc_libc());
    CHECK_WRITES(ionf_txt_write_head(w, &map, false), "");
    CHECK_WRITES(ionf_txt_write_head(w, &map, true), "$ion_1_0");
    CHECK_INT(ionf_symmap_import_add(&map, &first), IONF_OK);
    CHECK_INT(ionf_symmap_import_add(&map, &second), IONF_OK);
    fixture f;
    open_fixture(&f);
    f.w.max_depth = 1;
    CHECK_INT(ionf_txt_write_head(&f.w, &map, true), IONF_OK);
    CHECK_INT(ionf_txt_write_begin(&f.w, IONF_KIND_STRUCT), IONF_OK);
    CHECK_INT(ionf_txt_write_end(&f.w), IONF_OK);
    check_text(&f.out, with_imports, LEN(with_imports));
    close_fixture(&f);
    ionf_symmap_destroy(&map);
    CHECK_INT(calls, 4);
}

static void
test_rollback(void)
{
    fixture f;
    open_fixture(&f);
    ionf_txt_mark mark = ionf_txt_writer_mark(&f.w);
    CHECK_INT(write_document(&f.w), IONF_OK);
    ionf_txt_writer_rollback(&f.w, &mark);
    CHECK_INT(ionf_txt_write_begin(&f.w, IONF_KIND_STRUCT), IONF_OK);
    mark = ionf_txt_writer_mark(&f.w);
    CHECK_INT(field(&f.w, "a"), IONF_OK);
    CHECK_INT(ionf_txt_write_begin(&f.w, IONF_KIND_LIST), IONF_OK);
    CHECK_INT(annotation(&f.w, "b"), IONF_OK);
    ionf_txt_writer_rollback(&f.w, &mark);
    CHECK_INT(field(&f.w, "c"), IONF_OK);
    CHECK_INT(ionf_txt_write_i64(&f.w, 2), IONF_OK);
    CHECK_INT(ionf_txt_write_end(&f.w), IONF_OK);
    check_text(&f.out, "{c:2}", 5);
    close_fixture(&f);
}

static void
test_reset(void)
{
    fixture f;
    open_fixture(&f);
    f.w.is_pretty = true;
    CHECK_INT(write_document(&f.w), IONF_OK);
    CHECK_INT(ionf_txt_write_begin(&f.w, IONF_KIND_STRUCT), IONF_OK);
    CHECK_INT(field(&f.w, "a"), IONF_OK);
    ionf_txt_writer_reset(&f.w);
    CHECK(f.w.out == NULL);
    CHECK(ionf_txt_writer_retained(&f.w) > 0);
    ionf_buf_reset(&f.out);
    f.w.out = &f.out;
    CHECK_INT(write_document(&f.w), IONF_OK);
    check_text(&f.out, compact_document, LEN(compact_document));
    close_fixture(&f);
}

/* Grows every buffer: depth, escapes, lobs, indentation. */
static ionf_status
write_all(ionf_txt_writer *w)
{
    static const char digits[] = "123456789012345678901234567890";
    const ionf_integer integer = {0, (const uint8_t *)digits, 30, IONF_INT_DIGITS, true};
    const ionf_decimal decimal = {integer, -3};
    const ionf_timestamp ts = {
        .year = 2000, .month = 2, .day = 29, .precision = IONF_PRECISION_DAY};
    ionf_status s = IONF_OK;
    for (int i = 0; i < 20 && s == IONF_OK; i++) {
        s = annotation(w, "an annotation");
        s = s ? s : ionf_txt_write_begin(w, IONF_KIND_STRUCT);
        s = s ? s : field(w, "a");
        s = s ? s : string(w, "\1\2\3\4\5\6\7\1\2\3\4\5\6\7\1\2\3\4\5\6\7", 21);
        s = s ? s : field(w, "b");
        s = s ? s : lob(w, IONF_KIND_BLOB, digits, 30);
        s = s ? s : field(w, "c");
        s = s ? s : ionf_txt_write_integer(w, &integer);
        s = s ? s : field(w, "d");
        s = s ? s : ionf_txt_write_decimal(w, &decimal);
        s = s ? s : field(w, "e");
        s = s ? s : ionf_txt_write_timestamp(w, &ts);
        s = s ? s : field(w, "f");
        s = s ? s : ionf_txt_write_double(w, 0.1);
        s = s ? s : field(w, "g");
    }
    s = s ? s : ionf_txt_write_bool(w, true);
    while (s == IONF_OK && w->depth != 0) {
        s = ionf_txt_write_end(w);
    }
    return s;
}

static void
test_each_allocation_failing(void)
{
    fixture whole;
    open_fixture(&whole);
    whole.w.is_pretty = true;
    CHECK_INT(write_all(&whole.w), IONF_OK);
    ionf_status status = IONF_ERR_NOMEM;
    long long fail_at = 0;
    for (; status != IONF_OK && fail_at < 1000; fail_at++) {
        ct_heap heap = {.fail_at = fail_at};
        ionf_txt_writer w;
        ionf_buf out;
        ionf_txt_writer_init(&w, ct_heap_allocator(&heap));
        ionf_buf_init(&out, ct_heap_allocator(&heap));
        w.out = &out;
        w.is_pretty = true;
        const ionf_txt_mark mark = ionf_txt_writer_mark(&w);
        status = write_all(&w);
        CHECK(status == IONF_OK || status == IONF_ERR_NOMEM);
        ionf_txt_writer_rollback(&w, &mark);
        CHECK_INT(write_all(&w), IONF_OK);
        check_text(&out, (const char *)whole.out.data, whole.out.len);
        ionf_txt_writer_destroy(&w);
        ionf_buf_destroy(&out);
        CHECK_INT(heap.live_bytes, 0);
    }
    CHECK_INT(status, IONF_OK);
    CHECK(fail_at > 5);
    close_fixture(&whole);
}

int
main(void)
{
    RUN(test_nulls_and_bools);
    RUN(test_numbers);
    RUN(test_symbol_quotes);
    RUN(test_version_marker_lookalikes);
    RUN(test_kinds_of_open_containers);
    RUN(test_strings);
    RUN(test_escapes_anywhere);
    RUN(test_all_escaped);
    RUN(test_lobs);
    RUN(test_compact);
    RUN(test_pretty);
    RUN(test_top_separator);
    RUN(test_wrong_calls);
    RUN(test_symbol_table_is_reserved);
    RUN(test_head);
    RUN(test_rollback);
    RUN(test_reset);
    RUN(test_each_allocation_failing);
    return ct_end();
}
