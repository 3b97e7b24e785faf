/* Tests of ionf_txt_discard and ionf_bin_discard: passing over a top-level value that is too large.
 *
 * Each input is read in windows that grow by 1, 2, 3, 7 and 4096 bytes, and of which what was consumed
 * is dropped, as a Reader does it. The trace is the kinds and int values that were read, and "(size)"
 * for each value that was passed over.
 */
#include "ct.h"

#include "ionf_bin_read.h"
#include "ionf_txt_read.h"

static char trace[4096];
static size_t trace_len;

static void
put_number(const char *format, unsigned long long number)
{
    trace_len += (size_t)snprintf(trace + trace_len, sizeof trace - trace_len, format, number);
}

/* Either reader. */
typedef struct fixture {
    ct_heap heap;
    bool is_binary;
    ionf_bin_reader bin;
    ionf_txt_reader txt;
    ionf_buf scratch;
    size_t largest_window;
} fixture;

static ionf_reader *
base_of(fixture *f)
{
    return f->is_binary ? &f->bin.base : &f->txt.base;
}

static void
open_fixture(fixture *f, const uint8_t *data, size_t len, bool is_final, uint64_t max_value_size)
{
    const ionf_limits limits = {IONF_DEFAULT_MAX_DEPTH, max_value_size};
    memset(f, 0, sizeof *f);
    f->heap.fail_at = -1;
    f->is_binary = data[0] == 0xE0;
    const ionf_alloc alloc = ct_heap_allocator(&f->heap);
    ionf_bin_reader_init(&f->bin, alloc);
    ionf_txt_reader_init(&f->txt, alloc);
    ionf_buf_init(&f->scratch, alloc);
    f->txt.scratch = &f->scratch;
    if (f->is_binary) {
        ionf_bin_reader_open(&f->bin, data, len, is_final, &limits, NULL);
    } else {
        ionf_txt_reader_open(&f->txt, data, len, is_final, &limits, NULL);
    }
}

static void
close_fixture(fixture *f)
{
    ionf_bin_reader_destroy(&f->bin);
    ionf_txt_reader_destroy(&f->txt);
    ionf_buf_destroy(&f->scratch);
    CHECK_INT(f->heap.live_blocks, 0);
}

/* Read on to the end or to what stops it; `*discarding` across calls. */
static ionf_status
read_on(fixture *f, bool *discarding)
{
    for (;;) {
        ionf_token token;
        uint64_t size = 0;
        ionf_status status;
        if (*discarding) {
            status =
                f->is_binary ? ionf_bin_discard(&f->bin, &size) : ionf_txt_discard(&f->txt, &size);
            if (status != IONF_OK) {
                return status;
            }
            *discarding = false;
            put_number("(%llu)", size);
            continue;
        }
        status = f->is_binary ? ionf_bin_next(&f->bin, &token) : ionf_txt_next(&f->txt, &token);
        if (status == IONF_ERR_VALUE_SIZE) {
            *discarding = true;
            continue;
        }
        if (status != IONF_OK || token.kind == IONF_KIND_EOF) {
            return status;
        }
        if (token.kind == IONF_KIND_INT && !token.is_null) {
            put_number("%llu ", token.as.integer.u64);
        } else {
            put_number("k%llu ", token.kind);
        }
    }
}

static ionf_status
read_in_pieces(fixture *f, const uint8_t *data, size_t len, size_t piece, uint64_t max_value_size)
{
    size_t start = 0;
    size_t end = piece < len ? piece : len;
    bool discarding = false;
    trace_len = 0;
    trace[0] = '\0';
    open_fixture(f, data, end, end == len, max_value_size);
    for (;;) {
        const ionf_status status = read_on(f, &discarding);
        if (status != IONF_NEED_DATA) {
            return status;
        }
        CHECK(end != len);
        start +=
            f->is_binary ? ionf_bin_reader_release(&f->bin) : ionf_txt_reader_release(&f->txt);
        end = len - end < piece ? len : end + piece;
        f->largest_window = end - start > f->largest_window ? end - start : f->largest_window;
        if (f->is_binary) {
            ionf_bin_reader_window(&f->bin, data + start, end - start, end == len);
        } else {
            ionf_txt_reader_window(&f->txt, data + start, end - start, end == len);
        }
    }
}

static const size_t pieces[] = {1, 2, 3, 7, 4096};

static void
check_bytes(const void *data, size_t len, uint64_t max_value_size, const char *wanted)
{
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        fixture f;
        CHECK_INT(read_in_pieces(&f, data, len, pieces[i], max_value_size), IONF_OK);
        CHECK_BYTES(trace, trace_len, wanted, strlen(wanted));
        if (pieces[i] < 10) {
            /* The limit, a piece, and what a decision may take: nothing that grows with the value. */
            CHECK(f.largest_window <= max_value_size + 2 * pieces[i] + 24);
        }
        close_fixture(&f);
    }
}

static void
check(const char *text, uint64_t max_value_size, const char *wanted)
{
    check_bytes(text, strlen(text), max_value_size, wanted);
}

static void
check_fails(const void *data, size_t len, uint64_t max_value_size, ionf_status wanted,
            uint64_t offset)
{
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        fixture f;
        CHECK_INT(read_in_pieces(&f, data, len, pieces[i], max_value_size), wanted);
        CHECK_INT(base_of(&f)->error.status, wanted);
        CHECK_INT(base_of(&f)->error.offset, offset);
        close_fixture(&f);
    }
}

static void
scalars_of_text(void)
{
    check("1 \"0123456789\" 2", 8, "1 (12)2 ");
    check("1 '0123456789' 2", 8, "1 (12)2 ");
    check("1 abcdefghijklm 2", 8, "1 (13)2 ");
    check("1 123456789012345 2", 8, "1 (15)2 ");
    check("1 -1234567890123.5e7 2", 8, "1 (18)2 ");
    check("1 2001-02-03T04:05:06.000Z 2", 8, "1 (24)2 ");
    check("1 null.timestamp 2", 8, "1 (14)2 ");
    check("1 +inf 2", 3, "1 (4)2 ");
    check("1 false 2", 4, "1 (5)2 ");
    check("1 '''0123''' '''456''' 2", 8, "1 (20)2 ");
    check("1 '''01'23''4\\'''' /*'''*/ '''56''' '7' 2", 9, "1 (33)k6 2 ");
    check("1 {{ aGVsbG8gd29ybGQ= }} 2", 8, "1 (22)2 ");
    check("1 {{ \"}}\\\"}}\" }} 2", 8, "1 (14)2 ");
    check("1 {{ '''}}''' '''\\'''' }} 2", 8, "1 (23)2 ");
}

static void
annotations_of_text(void)
{
    check("1 abc::def::\"x\" 2", 8, "1 (13)2 ");
    check("1 abc :: /* :: */ 'd\\'f' // ::\n :: 5 2", 8, "1 (34)2 ");
    check("1 abcdefghij::[1,[2],\"]\"] 2", 8, "1 (23)2 ");
}

static void
containers_of_text(void)
{
    check("1 [0,0,0,0,0,0] 2", 8, "1 k10 0 0 0 0 (13)2 ");
    check("1 [[[[[[]]]]]] 2", 8, "1 k10 k10 k10 k10 k10 k10 k13 k13 (12)2 ");
    check("1 {a:\"}}}}}}}\",'}':{{\"}}\"}},b:(/ // )\n /*)*/ ')')} 2", 6, "1 k12 (48)2 ");
    check("1 [ ''' ] ''' , \"\\\"]\", '\\']' , '' ] 2", 6, "1 k10 (33)2 ");
}

static void
the_end_of_the_input_ends_a_value(void)
{
    check("abcdefghijklm", 8, "(13)");
    check("123456789012", 8, "(12)");
    check("'''0123456''' // then nothing", 8, "(13)");
}

static void
values_that_do_not_end(void)
{
    check_fails("[\"123456789", 11, 4, IONF_ERR_TRUNCATED, 11);
    check_fails("'''23456789", 11, 4, IONF_ERR_TRUNCATED, 11);
    check_fails("[[[[[[[ /* ", 11, 4, IONF_ERR_TRUNCATED, 11);
    check_fails("\xE0\x01\x00\xEA\x8E\x90gone", 10, 8, IONF_ERR_TRUNCATED, 10);
}

/* What comes after it would mean something else. */
static void
symbol_tables_are_not_passed_over(void)
{
    static const char *const texts[] = {
        "$ion_symbol_table::{symbols:[\"a\"]} $10",
        "'$ion_symbol_table' :: {symbols:[\"a\"]} $10",
        "'\\x24ion_symbol_\\u0074able'::{symbols:[\"a\"]} $10",
        "$3::{symbols:[\"a\"]} $10",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        check_fails(texts[i], strlen(texts[i]), 8, IONF_ERR_VALUE_SIZE, 0);
    }
    static const char binary[] = "\xE0\x01\x00\xEA\xEA\x81\x83\xD7\x87\xB5\x84name";
    check_fails(binary, sizeof binary - 1, 8, IONF_ERR_VALUE_SIZE, 4);
}

static void
values_of_binary(void)
{
    /* A string of 10 bytes; an annotated list; a struct; padding does not count. */
    static const char data[] = "\xE0\x01\x00\xEA\x21\x01\x8A"
                               "0123456789\x21\x02\xE9\x81\x84\xB6\x21\x05\x21\x06\x21\x07\x21\x03"
                               "\xD8\x84\x85"
                               "abcde\x87\x0E\x8A"
                               "0123456789\x21\x04\xE0\x01\x00\xEA\x21\x05";
    check_bytes(data, sizeof data - 1, 7, "1 (11)2 (10)3 (9)4 5 ");
}

static void
a_size_can_be_asked_for(void)
{
    static const uint8_t data[] = "\xE0\x01\x00\xEA\x8E\x07\x80";
    fixture f;
    ionf_token token;
    uint64_t size = 0;
    open_fixture(&f, data, 6, false, 100);
    CHECK_INT(ionf_bin_measure(&f.bin, &size), IONF_ERR_STATE);
    CHECK_INT(ionf_bin_next(&f.bin, &token), IONF_NEED_DATA);
    CHECK_INT(ionf_bin_reader_release(&f.bin), 4);
    ionf_bin_reader_window(&f.bin, data + 4, 3, false);
    CHECK_INT(ionf_bin_next(&f.bin, &token), IONF_ERR_VALUE_SIZE);
    CHECK_INT(ionf_bin_measure(&f.bin, &size), IONF_OK);
    CHECK_INT(size, 7 * 128 + 3);
    CHECK_INT(ionf_bin_next(&f.bin, &token), IONF_ERR_VALUE_SIZE);
    close_fixture(&f);
}

static void
nothing_else_can_be_discarded(void)
{
    uint64_t size = 0;
    fixture f;
    open_fixture(&f, (const uint8_t *)"]", 1, true, 8);
    CHECK_INT(ionf_txt_discard(&f.txt, &size), IONF_ERR_STATE);
    CHECK_INT(ionf_bin_discard(&f.bin, &size), IONF_ERR_STATE);
    ionf_token token;
    CHECK_INT(ionf_txt_next(&f.txt, &token), IONF_ERR_SYNTAX);
    CHECK_INT(ionf_txt_discard(&f.txt, &size), IONF_ERR_STATE);
    close_fixture(&f);
}

int
main(void)
{
    RUN(scalars_of_text);
    RUN(annotations_of_text);
    RUN(containers_of_text);
    RUN(the_end_of_the_input_ends_a_value);
    RUN(values_that_do_not_end);
    RUN(symbol_tables_are_not_passed_over);
    RUN(values_of_binary);
    RUN(a_size_can_be_asked_for);
    RUN(nothing_else_can_be_discarded);
    return ct_end();
}
