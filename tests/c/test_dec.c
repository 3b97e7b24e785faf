/* ionf_dec.h: binary and text forms of decimals, coefficients of any size, the ends of
 * exponents. */
#include "ionf_dec.h"

#include "ct.h"

static ct_heap heap = {.fail_at = -1};

static ionf_decimal
small(bool is_negative, uint64_t coefficient, int64_t exponent)
{
    return (ionf_decimal){
        .coefficient = {.u64 = coefficient, .form = IONF_INT_U64, .is_negative = is_negative},
        .exponent = exponent};
}

static ionf_decimal
big(bool is_negative, const char *digits, int64_t exponent)
{
    return (ionf_decimal){.coefficient = ionf_num_integer_from_digits((const uint8_t *)digits,
                                                                      strlen(digits), is_negative),
                          .exponent = exponent};
}

/* Write `decimal`, compare, read it back and print it. */
static void
check_binary(ionf_decimal decimal, const char *bytes, size_t len, const char *text)
{
    ionf_buf out, scratch, printed;
    ionf_buf_init(&out, ct_heap_allocator(&heap));
    ionf_buf_init(&scratch, ct_heap_allocator(&heap));
    ionf_buf_init(&printed, ct_heap_allocator(&heap));
    CHECK_INT(ionf_buf_push(&printed, '>'), IONF_OK);
    CHECK_INT(ionf_dec_write(&decimal, &out), IONF_OK);
    CHECK_BYTES(out.data, out.len, bytes, len);

    ionf_decimal read;
    CHECK_INT(ionf_dec_read((const uint8_t *)bytes, len, &scratch, &read), IONF_OK);
    CHECK(read.exponent == decimal.exponent);
    CHECK_INT(read.coefficient.is_negative, decimal.coefficient.is_negative);
    CHECK_INT(ionf_dec_print(&read, &printed), IONF_OK);
    CHECK_BYTES(printed.data + 1, printed.len - 1, text, strlen(text));

    printed.len = 1;
    CHECK_INT(ionf_dec_print(&decimal, &printed), IONF_OK);
    CHECK_BYTES(printed.data + 1, printed.len - 1, text, strlen(text));
    ionf_buf_destroy(&out);
    ionf_buf_destroy(&scratch);
    ionf_buf_destroy(&printed);
}

static void
test_small(void)
{
    check_binary(small(false, 0, 0), "", 0, "0.");
    check_binary(small(true, 0, 0), "\x80\x80", 2, "-0.");
    check_binary(small(false, 0, -1), "\xC1", 1, "0.0");
    check_binary(small(true, 0, -5), "\xC5\x80", 2, "-0.00000");
    check_binary(small(false, 0, 3), "\x83", 1, "0d3");
    check_binary(small(false, 1, 0), "\x80\x01", 2, "1.");
    check_binary(small(true, 1, 0), "\x80\x81", 2, "-1.");
    check_binary(small(false, 150, -2), "\xC2\x00\x96", 3, "1.50");
    check_binary(small(true, 150, -2), "\xC2\x80\x96", 3, "-1.50");
    check_binary(small(false, 127, -2), "\xC2\x7F", 2, "1.27");
    check_binary(small(false, 128, -3), "\xC3\x00\x80", 3, "0.128");
    check_binary(small(false, 5, -3), "\xC3\x05", 2, "0.005");
    check_binary(small(false, 12, 30), "\x9E\x0C", 2, "12d30");
    check_binary(small(true, 12, 64), "\x00\xC0\x8C", 3, "-12d64");
    check_binary(small(false, INT64_MAX, 0), "\x80\x7F\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 9,
                 "9223372036854775807.");
    check_binary(small(true, 1ull << 63, 0), "\x80\x80\x80\x00\x00\x00\x00\x00\x00\x00", 10,
                 "-9223372036854775808.");
    check_binary(small(false, UINT64_MAX, -19), "\xD3\x00\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 10,
                 "1.8446744073709551615");
}

static void
test_big(void)
{
    check_binary(big(false, "18446744073709551616", -20),
                 "\xD4\x01\x00\x00\x00\x00\x00\x00\x00\x00", 10, "0.18446744073709551616");
    check_binary(big(true, "18446744073709551616", 0), "\x80\x81\x00\x00\x00\x00\x00\x00\x00\x00",
                 10, "-18446744073709551616.");
    /* 2 ** 71 fills its top byte, so the sign has a byte of its own. */
    check_binary(big(true, "2361183241434822606848", 1),
                 "\x81\x80\x80\x00\x00\x00\x00\x00\x00\x00\x00", 11, "-2361183241434822606848d1");
    check_binary(big(false, "2361183241434822606848", -22),
                 "\xD6\x00\x80\x00\x00\x00\x00\x00\x00\x00\x00", 11, "0.2361183241434822606848");
    check_binary(big(true, "123456789012345678901234567890", -60),
                 "\xFC\x81\x8E\xE9\x0F\xF6\xC3\x73\xE0\xEE\x4E\x3F\x0A\xD2", 14,
                 "-123456789012345678901234567890d-60");
}

/* Bytes that a writer need not choose, and the value they stand for. */
static void
check_reads(const char *bytes, size_t len, const char *text)
{
    ionf_buf out, scratch;
    ionf_buf_init(&out, ct_heap_allocator(&heap));
    ionf_buf_init(&scratch, ct_heap_allocator(&heap));
    ionf_decimal read;
    CHECK_INT(ionf_dec_read((const uint8_t *)bytes, len, &scratch, &read), IONF_OK);
    CHECK_INT(ionf_dec_print(&read, &out), IONF_OK);
    CHECK_BYTES(out.data, out.len, text, strlen(text));
    ionf_buf_destroy(&out);
    ionf_buf_destroy(&scratch);
}

static void
test_padded(void)
{
    check_reads("\x80", 1, "0.");
    check_reads("\xC0", 1, "0.");
    check_reads("\x80\x00\x00\x00", 4, "0.");
    check_reads("\x80\x80\x00\x00", 4, "-0.");
    check_reads("\xC1\x00\x00\x0F", 4, "1.5");
    check_reads("\xC1\x80\x00\x0F", 4, "-1.5");
    check_reads("\x40\x00\x81\x0F", 4, "1.5");
    check_reads("\x80\x80\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", 12, "-0.");
    check_reads("\x80\x80\x00\x00\x00\x00\x00\x00\x00\x00\x00\x07", 12, "-7.");
    check_reads("\x80\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x07", 12, "7.");
    check_reads("\x80\x80\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00", 12, "-18446744073709551616.");
}

static void
test_exponent_range(void)
{
    check_binary(small(false, 1, INT64_MAX), "\x00\x7F\x7F\x7F\x7F\x7F\x7F\x7F\x7F\xFF\x01", 11,
                 "1d9223372036854775807");
    check_binary(small(false, 1, INT64_MIN), "\x41\x00\x00\x00\x00\x00\x00\x00\x00\x80\x01", 11,
                 "1d-9223372036854775808");
    check_binary(small(true, 3, INT64_MIN + 1), "\x40\x7F\x7F\x7F\x7F\x7F\x7F\x7F\x7F\xFF\x83", 11,
                 "-3d-9223372036854775807");
}

static void
check_refused(const char *bytes, size_t len, ionf_status expected)
{
    ionf_buf scratch;
    ionf_buf_init(&scratch, ct_heap_allocator(&heap));
    ionf_decimal read = small(false, 77, 7);
    CHECK_INT(ionf_dec_read((const uint8_t *)bytes, len, &scratch, &read), expected);
    CHECK_INT(read.coefficient.u64, 77);
    ionf_buf_destroy(&scratch);
}

static void
test_refused(void)
{
    check_refused("\x00", 1, IONF_ERR_DECIMAL);
    check_refused("\x41\x00\x00", 3, IONF_ERR_DECIMAL);
    check_refused("\x01\x00\x00\x00\x00\x00\x00\x00\x00\x80\x01", 11, IONF_ERR_RANGE);
    check_refused("\x41\x00\x00\x00\x00\x00\x00\x00\x00\x81\x01", 11, IONF_ERR_RANGE);
    check_refused("\x3F\x7F\x7F\x7F\x7F\x7F\x7F\x7F\x7F\x7F\x7F\xFF", 12, IONF_ERR_RANGE);
}

/* The point wanders through the digits; more than six zeros after it become an exponent. */
static void
test_text_forms(void)
{
    static const char *const forms[] = {
        "123d1",   "123.",     "12.3",      "1.23",       "0.123",       "0.0123",
        "0.00123", "0.000123", "0.0000123", "0.00000123", "0.000000123", "123d-10",
    };
    for (int i = 0; i < 12; i++) {
        ionf_buf out;
        ionf_buf_init(&out, ct_heap_allocator(&heap));
        const ionf_decimal decimal = small(false, 123, 1 - i);
        CHECK_INT(ionf_dec_print(&decimal, &out), IONF_OK);
        CHECK_BYTES(out.data, out.len, forms[i], strlen(forms[i]));
        ionf_buf_destroy(&out);
    }
}

static ionf_status
write_read_print(ionf_buf *out, ionf_buf *scratch)
{
    const ionf_decimal decimal = big(true, "123456789012345678901234567890", -60);
    const size_t start = out->len;
    ionf_status status = ionf_dec_write(&decimal, out);
    if (status != IONF_OK) {
        CHECK_INT(out->len, start);
        return status;
    }
    ionf_decimal read;
    status = ionf_dec_read(out->data + start, out->len - start, scratch, &read);
    if (status != IONF_OK) {
        return status;
    }
    const size_t binary_end = out->len;
    status = ionf_dec_print(&read, out);
    if (status != IONF_OK) {
        CHECK_INT(out->len, binary_end);
    }
    return status;
}

static void
test_each_allocation_fails(void)
{
    /* At each number of bytes that stand before, so that each step is the one that must grow. */
    for (size_t before = 0; before < 64; before++) {
        ionf_status status = IONF_ERR_NOMEM;
        for (long long fail_at = 0; status != IONF_OK; fail_at++) {
            ct_heap failing = {.fail_at = fail_at};
            ionf_buf out, scratch;
            ionf_buf_init(&out, ct_heap_allocator(&failing));
            ionf_buf_init(&scratch, ct_heap_allocator(&failing));
            status = ionf_buf_append(&out, (const uint8_t[64]){0}, before);
            if (status == IONF_OK) {
                status = write_read_print(&out, &scratch);
            }
            CHECK(status == IONF_OK || status == IONF_ERR_NOMEM);
            ionf_buf_destroy(&out);
            ionf_buf_destroy(&scratch);
            CHECK_INT(failing.live_bytes, 0);
        }
    }
}

int
main(void)
{
    RUN(test_small);
    RUN(test_big);
    RUN(test_padded);
    RUN(test_exponent_range);
    RUN(test_refused);
    RUN(test_text_forms);
    RUN(test_each_allocation_fails);
    CHECK_INT(heap.live_bytes, 0);
    return ct_end();
}
