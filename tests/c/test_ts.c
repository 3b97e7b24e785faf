/* ionf_ts.h: the calendar, both forms of every precision, offsets, fractions, everything
 * refused. */
#include "ionf_ts.h"

#include "ct.h"

static ct_heap heap = {.fail_at = -1};

static void
print_equals(const ionf_timestamp *ts, const char *text)
{
    ionf_buf out;
    ionf_buf_init(&out, ct_heap_allocator(&heap));
    CHECK_INT(ionf_buf_push(&out, '>'), IONF_OK);
    CHECK_INT(ionf_ts_print(ts, &out), IONF_OK);
    CHECK_BYTES(out.data + 1, out.len - 1, text, strlen(text));
    if (out.len - 1 != strlen(text) || memcmp(out.data + 1, text, strlen(text)) != 0) {
        fprintf(stderr, "  printed %.*s, expected %s\n", (int)out.len - 1, out.data + 1, text);
    }
    ionf_buf_destroy(&out);
}

/* Text to struct to binary to struct to text; both ends given. */
static void
check_round_trip(const char *text, const char *printed, const char *bytes, size_t len)
{
    const uint8_t *p = (const uint8_t *)text;
    const char *expected = NULL;
    ionf_timestamp ts;
    CHECK_INT(ionf_ts_parse(&p, p + strlen(text), &ts, &expected), IONF_OK);
    CHECK(p == (const uint8_t *)text + strlen(text));
    CHECK(ionf_ts_is_valid(&ts));
    print_equals(&ts, printed);

    ionf_buf out;
    ionf_buf_init(&out, ct_heap_allocator(&heap));
    CHECK_INT(ionf_ts_write(&ts, &out), IONF_OK);
    CHECK_BYTES(out.data, out.len, bytes, len);
    ionf_buf_destroy(&out);

    ionf_timestamp read = {.year = 0};
    CHECK_INT(ionf_ts_read((const uint8_t *)bytes, len, &read), IONF_OK);
    CHECK_INT(read.precision, ts.precision);
    CHECK_INT(read.has_offset, ts.has_offset);
    print_equals(&read, printed);
}

static void
test_precisions(void)
{
    check_round_trip("2007T", "2007T", "\xC0\x0F\xD7", 3);
    check_round_trip("0001T", "0001T", "\xC0\x81", 2);
    check_round_trip("2007-02T", "2007-02T", "\xC0\x0F\xD7\x82", 4);
    check_round_trip("2007-02-23", "2007-02-23", "\xC0\x0F\xD7\x82\x97", 5);
    check_round_trip("2007-02-23T", "2007-02-23", "\xC0\x0F\xD7\x82\x97", 5);
    check_round_trip("2007-02-23T12:14Z", "2007-02-23T12:14Z", "\x80\x0F\xD7\x82\x97\x8C\x8E", 7);
    check_round_trip("2007-02-23T12:14:33-00:00", "2007-02-23T12:14:33-00:00",
                     "\xC0\x0F\xD7\x82\x97\x8C\x8E\xA1", 8);
    check_round_trip("2007-02-23T12:14:33+00:00", "2007-02-23T12:14:33Z",
                     "\x80\x0F\xD7\x82\x97\x8C\x8E\xA1", 8);
    check_round_trip("2007-02-23T12:14:33.079-08:00", "2007-02-23T12:14:33.079-08:00",
                     "\x43\xE0\x0F\xD7\x82\x97\x94\x8E\xA1\xC3\x4F", 11);
    check_round_trip("2007-02-23T00:00:00.000+00:01", "2007-02-23T00:00:00.000+00:01",
                     "\x81\x0F\xD7\x82\x96\x97\xBB\x80\xC3", 9);
}

/* The UTC fields of binary may stand in the years 0 and 10000. */
static void
test_offset_crosses_year(void)
{
    check_round_trip("2000-01-01T00:00+00:01", "2000-01-01T00:00+00:01",
                     "\x81\x0F\xCF\x8C\x9F\x97\xBB", 7);
    check_round_trip("2000-02-29T23:59-00:01", "2000-02-29T23:59-00:01",
                     "\xC1\x0F\xD0\x83\x81\x80\x80", 7);
    check_round_trip("1900-03-01T00:00+23:59", "1900-03-01T00:00+23:59",
                     "\x0B\x9F\x0E\xEC\x82\x9C\x80\x81", 8);
    check_round_trip("9999-12-31T23:59:59-12:00", "9999-12-31T23:59:59-12:00",
                     "\x45\xD0\x4E\x90\x81\x81\x8B\xBB\xBB", 9);
    check_round_trip("0001-01-01T00:00-23:59", "0001-01-01T00:00-23:59",
                     "\x4B\x9F\x81\x81\x81\x97\xBB", 7);
    check_round_trip("0001-01-01T00:00+23:59", "0001-01-01T00:00+23:59",
                     "\x0B\x9F\x80\x8C\x9F\x80\x81", 7);
}

static void
test_fractions(void)
{
    check_round_trip("2000-01-01T00:00:00.0Z", "2000-01-01T00:00:00.0Z",
                     "\x80\x0F\xD0\x81\x81\x80\x80\x80\xC1", 9);
    check_round_trip("2000-01-01T00:00:00.0250Z", "2000-01-01T00:00:00.0250Z",
                     "\x80\x0F\xD0\x81\x81\x80\x80\x80\xC4\x00\xFA", 11);
    check_round_trip(
        "2000-01-01T00:00:00.18446744073709551615Z", "2000-01-01T00:00:00.18446744073709551615Z",
        "\x80\x0F\xD0\x81\x81\x80\x80\x80\xD4\x00\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 18);
    check_round_trip(
        "2000-01-01T00:00:00.018446744073709551616Z", "2000-01-01T00:00:00.018446744073709551616Z",
        "\x80\x0F\xD0\x81\x81\x80\x80\x80\xD5\x01\x00\x00\x00\x00\x00\x00\x00\x00", 18);
    check_round_trip("2000-01-01T00:00:00.000000000000000000000000Z",
                     "2000-01-01T00:00:00.000000000000000000000000Z",
                     "\x80\x0F\xD0\x81\x81\x80\x80\x80\xD8", 9);
}

static void
check_reads(const char *bytes, size_t len, const char *printed)
{
    ionf_timestamp ts;
    CHECK_INT(ionf_ts_read((const uint8_t *)bytes, len, &ts), IONF_OK);
    print_equals(&ts, printed);
}

/* Encodings that binary.md calls equivalent, and padded ones. */
static void
test_equivalent_binary(void)
{
    check_reads("\x80\x0F\xD0\x81\x81\x80\x80\x80", 8, "2000-01-01T00:00:00Z");
    check_reads("\x80\x0F\xD0\x81\x81\x80\x80\x80\x80", 9, "2000-01-01T00:00:00Z");
    check_reads("\x80\x0F\xD0\x81\x81\x80\x80\x80\x80\x00", 10, "2000-01-01T00:00:00Z");
    check_reads("\x80\x0F\xD0\x81\x81\x80\x80\x80\xC0", 9, "2000-01-01T00:00:00Z");
    check_reads("\x80\x0F\xD0\x81\x81\x80\x80\x80\x81", 9, "2000-01-01T00:00:00Z");
    check_reads("\x80\x0F\xD0\x81\x81\x80\x80\x80\xC2", 9, "2000-01-01T00:00:00.00Z");
    check_reads("\x80\x0F\xD0\x81\x81\x80\x80\x80\xC2\x00", 10, "2000-01-01T00:00:00.00Z");
    check_reads("\x80\x0F\xD0\x81\x81\x80\x80\x80\xC2\x80", 10, "2000-01-01T00:00:00.00Z");
    check_reads("\x80\x0F\xD0\x81\x81\x80\x80\x80\xC2\x00\x00\x05", 12, "2000-01-01T00:00:00.05Z");
    check_reads("\x80\x0F\xD0\x81\x81\x80\x80\x80\xC2\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x05",
                20, "2000-01-01T00:00:00.05Z");
    /* Dates have no offset, whatever is written. */
    check_reads("\x81\x81", 2, "0001T");
    check_reads("\x80\x0F\xD0\x81", 4, "2000-01T");
    check_reads("\x81\x0F\xD0\x81\x81", 5, "2000-01-01");
    check_reads("\x00\x80\x00\x0F\xD0\x00\x81\x81\x00\x80\x80\x80", 12, "2000-01-01T00:00:00Z");
}

static void
check_binary_refused(const char *bytes, size_t len)
{
    ionf_timestamp ts = {.year = 1234};
    CHECK_INT(ionf_ts_read((const uint8_t *)bytes, len, &ts), IONF_ERR_TIMESTAMP);
    CHECK_INT(ts.year, 1234);
}

static void
test_binary_refused(void)
{
    check_binary_refused("", 0);
    check_binary_refused("\xC0", 1);
    check_binary_refused("\xC0\x0F", 2);     /* year does not end */
    check_binary_refused("\xC0\x80", 2);     /* year 0 */
    check_binary_refused("\xC0\x4E\x90", 3); /* year 10000 */
    check_binary_refused("\xC0\x01\x00\x00\x00\x00\x00\x00\x00\x00\x81", 11);
    check_binary_refused("\x80\x80\x8C\x9F\x97\xBB", 6);     /* year 0, no offset to leave it */
    check_binary_refused("\x81\x4E\x90\x81\x81\x80\x80", 7); /* local year 10000 */
    check_binary_refused("\x80\x0F\xE5\x80", 4);             /* month 0 */
    check_binary_refused("\x80\x0F\xE5\x8D", 4);             /* month 13 */
    check_binary_refused("\x80\x0F\xE5\x01\x81", 5);         /* month 129 */
    check_binary_refused("\x80\x0F\xE5\x81\x80", 5);         /* day 0 */
    check_binary_refused("\x80\x0F\xE5\x82\x9E", 5);         /* 30 February */
    check_binary_refused("\xC0\x0F\xDF\x89\x9F", 5);         /* 31 September */
    check_binary_refused("\xC0\x0F\xDF\x81\x81\x80", 6);     /* hour without minute */
    check_binary_refused("\xC0\x0F\xDF\x81\x81\x98\x80", 7); /* hour 24 */
    check_binary_refused("\xC0\x0F\xDF\x81\x81\x80\xBC", 7); /* minute 60 */
    check_binary_refused("\xC0\x0F\xDF\x81\x81\x80\x80\xBC", 8); /* second 60 */
    check_binary_refused("\x81\x0F\xE5\x82\x9E\x80\x80", 7);     /* 30 February, with an offset */
    check_binary_refused("\x0B\xA0\x0F\xD0\x81\x81\x80\x80", 8); /* offset 24:00 */
    check_binary_refused("\x4B\xA0\x0F\xD0\x81\x81\x80\x80", 8); /* offset -24:00 */
    check_binary_refused("\x81\x0F\xD0\x81\x81\x80\x80\x80\x00", 9); /* exponent does not end */
}

static void
test_binary_fraction_refused(void)
{
    check_binary_refused("\x80\x81\x81\x81\x80\x80\x80\xC1\x0A", 9);      /* 10d-1 */
    check_binary_refused("\x80\x81\x81\x81\x80\x80\x80\xC1\x0B", 9);      /* 11d-1 */
    check_binary_refused("\x80\x81\x81\x81\x80\x80\x80\x80\x01", 9);      /* 1d0 */
    check_binary_refused("\x80\x81\x81\x81\x80\x80\x80\xC0\x01", 9);      /* 1d-0 */
    check_binary_refused("\x80\x81\x81\x81\x80\x80\x80\x81\x01", 9);      /* 1d1 */
    check_binary_refused("\x80\x81\x81\x81\x80\x80\x80\xC1\x81", 9);      /* -1d-1 */
    check_binary_refused("\x80\x81\x81\x81\x80\x80\x80\xC2\x80\x01", 10); /* -1d-2, padded */
    /* -2 ** 64 and a negative number with a full top byte. */
    check_binary_refused("\x80\x81\x81\x81\x80\x80\x80\xFF\x81\0\0\0\0\0\0\0\0", 17);
    check_binary_refused("\x80\x81\x81\x81\x80\x80\x80\xFF\x80\xFF\0\0\0\0\0\0\0\0", 18);
}

/* 10 ** 30 - 1 and 10 ** 30 with 30 digits; they differ in the last bit of 100 only. */
static void
test_fraction_below_one_exactly(void)
{
    const char just_below[] = "\x80\x81\x81\x81\x80\x80\x80\xDE"
                              "\x0C\x9F\x2C\x9C\xD0\x46\x74\xED\xEA\x3F\xFF\xFF\xFF";
    const char one[] = "\x80\x81\x81\x81\x80\x80\x80\xDE"
                       "\x0C\x9F\x2C\x9C\xD0\x46\x74\xED\xEA\x40\x00\x00\x00";
    check_reads(just_below, 21, "0001-01-01T00:00:00.999999999999999999999999999999Z");
    check_binary_refused(one, 21);
}

/* Nothing loops or allocates by the exponent; only printing has to write the zeros. */
static void
test_huge_exponents(void)
{
    ionf_timestamp ts;
    const char most[] = "\x80\x81\x81\x81\x80\x80\x80\x41\x7F\x7F\x7F\x7F\x7F\x7F\x7F\x7F\xFF\x07";
    CHECK_INT(ionf_ts_read((const uint8_t *)most, 18, &ts), IONF_OK);
    CHECK(ts.fraction_digits == UINT64_MAX);
    CHECK_INT(ts.fraction.u64, 7);
    ionf_buf out;
    ionf_buf_init(&out, ct_heap_allocator(&heap));
    CHECK_INT(ionf_ts_write(&ts, &out), IONF_OK);
    CHECK_BYTES(out.data, out.len, most, 18);
    CHECK_INT(ionf_ts_print(&ts, &out), IONF_ERR_RANGE);
    CHECK_INT(out.len, 18);

    ts.fraction_digits = IONF_TS_PRINT_ZEROS_MAX + 2;
    CHECK_INT(ionf_ts_print(&ts, &out), IONF_ERR_RANGE);
    ts.fraction_digits = IONF_TS_PRINT_ZEROS_MAX + 1;
    CHECK_INT(ionf_ts_print(&ts, &out), IONF_OK);
    CHECK_INT(out.len, 18 + 20 + IONF_TS_PRINT_ZEROS_MAX + 2);
    CHECK_BYTES(out.data + out.len - 4, 4, "007Z", 4);
    ionf_buf_destroy(&out);

    /* 0d<huge>: a zero is ignored whatever its positive exponent. */
    check_reads("\x80\x81\x81\x81\x80\x80\x80\x01\x7F\x7F\x7F\x7F\x7F\x7F\x7F\x7F\xFF", 17,
                "0001-01-01T00:00:00Z");
    check_binary_refused("\x80\x81\x81\x81\x80\x80\x80\x03\x7F\x7F\x7F\x7F\x7F\x7F\x7F\x7F\xFF",
                         17);
}

static void
check_text_refused(const char *text, size_t offset, const char *wanted)
{
    const uint8_t *p = (const uint8_t *)text;
    const char *expected = "";
    ionf_timestamp ts = {.year = 1234};
    CHECK_INT(ionf_ts_parse(&p, p + strlen(text), &ts, &expected), IONF_ERR_TIMESTAMP);
    CHECK_INT(ts.year, 1234);
    const size_t stopped = (size_t)(p - (const uint8_t *)text);
    if (stopped != offset || strcmp(expected, wanted) != 0) {
        fprintf(stderr, "%s\n%*s expected %s, not %s\n", text, (int)offset + 1, "^", wanted,
                expected);
    }
    CHECK_INT(stopped, offset);
    CHECK(strcmp(expected, wanted) == 0);
}

#define OFFSET_FORMS "an offset ('Z', '+hh:mm' or '-hh:mm')"

static void
test_text_date_refused(void)
{
    check_text_refused("", 0, "a digit");
    check_text_refused("200", 3, "a digit");
    check_text_refused("0000T", 0, "a year from 0001 to 9999");
    check_text_refused("2007", 4, "'-' or 'T' after the year");
    check_text_refused("2007/02/01", 4, "'-' or 'T' after the year");
    check_text_refused("2007-1-1", 6, "a digit");
    check_text_refused("2007-01", 7, "'-' or 'T' after the month");
    check_text_refused("2007-13T", 5, "a month from 01 to 12");
    check_text_refused("2007-00-01", 5, "a month from 01 to 12");
    check_text_refused("2007-01-00", 8, "a day of that month");
    check_text_refused("2007-01-32", 8, "a day of that month");
    check_text_refused("2006-02-29", 8, "a day of that month");
    check_text_refused("1900-02-29T", 8, "a day of that month");
    check_text_refused("2007-02-2", 9, "a digit");
}

static void
test_text_time_refused(void)
{
    check_text_refused("2007-02-23T1:30Z", 12, "a digit");
    check_text_refused("2007-02-23T24:00Z", 11, "an hour from 00 to 23");
    check_text_refused("2007-02-23T12Z", 13, "':' and the minute");
    check_text_refused("2007-02-23T12:60Z", 14, "a minute from 00 to 59");
    check_text_refused("2007-02-23T12:14", 16, "':' and the second, or " OFFSET_FORMS);
    check_text_refused("2007-02-23T12:14z", 16, "':' and the second, or " OFFSET_FORMS);
    check_text_refused("2007-02-23T12:14:60Z", 17, "a second from 00 to 59");
    check_text_refused("2007-02-23T12:14:33", 19, "'.' and a fraction, or " OFFSET_FORMS);
    check_text_refused("2007-02-23T12:14:33.Z", 20, "a digit of the fraction");
    check_text_refused("2007-02-23T12:14:33.5", 21, "a digit, or " OFFSET_FORMS);
    check_text_refused("2007-02-23T12:14:33.5z", 21, "a digit, or " OFFSET_FORMS);
}

static void
test_text_offset_refused(void)
{
    check_text_refused("2007-02-23T12:14+8", 18, "a digit");
    check_text_refused("2007-02-23T12:14+8:00", 18, "a digit");
    check_text_refused("2007-02-23T12:14+08", 19, "':' and the minutes of the offset");
    check_text_refused("2007-02-23T12:14+08:", 20, "a digit");
    check_text_refused("2007-02-23T12:14+24:00", 17, "an offset below 24:00");
    check_text_refused("2007-02-23T12:14-08:60", 20, "minutes from 00 to 59");
}

/* What follows is the caller's affair. */
static void
test_text_stops(void)
{
    static const struct {
        const char *text;
        size_t len;
    } rows[] = {{"2007T, 1", 5},
                {"2007-02-23+08:00", 10},
                {"2007-02-23T+08:00", 11},
                {"2007-02-23T12:14Zulu", 17},
                {"2007-02-23T12:14+08:000", 22}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const uint8_t *p = (const uint8_t *)rows[i].text;
        const char *expected;
        ionf_timestamp ts;
        CHECK_INT(ionf_ts_parse(&p, p + strlen(rows[i].text), &ts, &expected), IONF_OK);
        CHECK_INT(p - (const uint8_t *)rows[i].text, rows[i].len);
    }
}

static void
test_calendar(void)
{
    CHECK_INT(ionf_ts_days_in_month(2000, 2), 29);
    CHECK_INT(ionf_ts_days_in_month(1900, 2), 28);
    CHECK_INT(ionf_ts_days_in_month(2004, 2), 29);
    CHECK_INT(ionf_ts_days_in_month(2005, 2), 28);
    CHECK_INT(ionf_ts_days_in_month(2005, 12), 31);
    CHECK_INT(ionf_ts_days_in_month(2005, 4), 30);

    ionf_timestamp ts = {.year = 10000, .month = 12, .day = 31, .hour = 23, .minute = 59};
    CHECK(!ionf_ts_shift(&ts, 1));
    CHECK_INT(ts.minute, 59);
    CHECK(ionf_ts_shift(&ts, -1439));
    CHECK_INT(ts.hour * 100 + ts.minute, 0);
    ts = (ionf_timestamp){.year = 0, .month = 1, .day = 1};
    CHECK(!ionf_ts_shift(&ts, -1));
    CHECK_INT(ts.year, 0);
    CHECK_INT(ts.day, 1);
}

/* A struct that is not valid is neither written nor printed. */
static void
check_invalid(ionf_timestamp ts)
{
    ionf_buf out;
    ionf_buf_init(&out, ct_heap_allocator(&heap));
    CHECK(!ionf_ts_is_valid(&ts));
    CHECK_INT(ionf_ts_write(&ts, &out), IONF_ERR_TIMESTAMP);
    CHECK_INT(ionf_ts_print(&ts, &out), IONF_ERR_TIMESTAMP);
    CHECK_INT(out.len, 0);
    ionf_buf_destroy(&out);
}

#define WITH(field, value)                                                                        \
    do {                                                                                          \
        ionf_timestamp changed = base;                                                            \
        changed.field = value;                                                                    \
        check_invalid(changed);                                                                   \
    } while (0)

static void
test_invalid_fields(void)
{
    const ionf_timestamp base = {.year = 2000,
                                 .month = 1,
                                 .day = 1,
                                 .precision = IONF_PRECISION_FRACTION,
                                 .has_offset = true,
                                 .fraction_digits = 2,
                                 .fraction = {.u64 = 99}};
    CHECK(ionf_ts_is_valid(&base));
    WITH(year, 0);
    WITH(year, 10000);
    WITH(month, 0);
    WITH(month, 13);
    WITH(day, 0);
    WITH(day, 32);
    WITH(hour, 24);
    WITH(minute, 60);
    WITH(second, 60);
    WITH(precision, 0);
    WITH(precision, 7);
    WITH(offset_minutes, 1440);
    WITH(offset_minutes, -1440);
    WITH(fraction.u64, 100);
    WITH(fraction.is_negative, true);
    WITH(fraction_digits, 0);
    WITH(precision, IONF_PRECISION_SECOND); /* but there are fraction digits */
}

static void
test_invalid_below_precision(void)
{
    ionf_timestamp base = {.year = 2000, .month = 1, .day = 1, .precision = IONF_PRECISION_YEAR};
    CHECK(ionf_ts_is_valid(&base));
    WITH(month, 2);
    WITH(day, 2);
    WITH(hour, 2);
    WITH(has_offset, true);
    WITH(offset_minutes, 1);
    base.precision = IONF_PRECISION_DAY;
    WITH(minute, 2);
    base.precision = IONF_PRECISION_MINUTE;
    WITH(second, 2);
}

static ionf_status
write_and_print(ionf_buf *out)
{
    const char text[] = "2000-01-01T00:00:00.018446744073709551616018446744073709551616+01:00";
    const uint8_t *p = (const uint8_t *)text;
    const char *expected;
    ionf_timestamp ts;
    CHECK_INT(ionf_ts_parse(&p, p + sizeof text - 1, &ts, &expected), IONF_OK);
    size_t before = out->len;
    ionf_status status = ionf_ts_write(&ts, out);
    if (status == IONF_OK) {
        before = out->len;
        status = ionf_ts_print(&ts, out);
    }
    if (status != IONF_OK) {
        CHECK_INT(out->len, before);
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
            ionf_buf out;
            ionf_buf_init(&out, ct_heap_allocator(&failing));
            status = ionf_buf_append(&out, (const uint8_t[64]){0}, before);
            if (status == IONF_OK) {
                status = write_and_print(&out);
            }
            CHECK(status == IONF_OK || status == IONF_ERR_NOMEM);
            ionf_buf_destroy(&out);
            CHECK_INT(failing.live_bytes, 0);
        }
    }
}

static const char *const plain_texts[] = {
    "2007-02-23T12:14:33Z",       "2007-02-23T12:14:33.079-08:00",
    "0001-01-01T00:00:00+00:00",  "9999-12-31T23:59:59.999999999999999999Z",
    "2024-02-29T12:14:33-00:00",  "2007-02-23T12:14:33.0Z",
    "2007-02-23T12:14:33+23:59,", "2007-02-23T12:14:33.000250+05:30 1",
};

/* Whatever the short way takes, the long way takes as well, and alike. Gives whether it was taken. */
static bool
check_plain(const char *text, size_t len)
{
    const uint8_t *const start = (const uint8_t *)text;
    const uint8_t *plain_end = start, *end = start;
    ionf_timestamp plain, ts;
    const char *expected;
    if (!ionf_ts_parse_plain(&plain_end, start + len, &plain)) {
        CHECK(plain_end == start);
        return false;
    }
    CHECK_INT(ionf_ts_parse(&end, start + len, &ts, &expected), IONF_OK);
    CHECK(end == plain_end);
    CHECK(plain.year == ts.year && plain.month == ts.month && plain.day == ts.day &&
          plain.hour == ts.hour && plain.minute == ts.minute && plain.second == ts.second &&
          plain.precision == ts.precision && plain.has_offset == ts.has_offset &&
          plain.offset_minutes == ts.offset_minutes &&
          plain.fraction_digits == ts.fraction_digits && plain.fraction.form == ts.fraction.form &&
          plain.fraction.u64 == ts.fraction.u64);
    return true;
}

static void
test_plain_forms(void)
{
    for (size_t i = 0; i < sizeof plain_texts / sizeof *plain_texts; i++) {
        CHECK(check_plain(plain_texts[i], strlen(plain_texts[i])));
    }
    const char *const others[] = {"2007T", "2007-02-23", "2007-02-23T12:14Z",
                                  "2007-02-23T12:14:33.1234567890123456789Z"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        CHECK(!check_plain(others[i], strlen(others[i])));
    }
}

/* Each byte of each form changed, each end cut off. */
static void
test_plain_forms_damaged(void)
{
    int taken = 0;
    for (size_t i = 0; i < sizeof plain_texts / sizeof *plain_texts; i++) {
        char text[64];
        const size_t len = strlen(plain_texts[i]);
        for (size_t at = 0; at < len; at++) {
            (void)check_plain(plain_texts[i], at);
            for (int byte = 0; byte < 256; byte++) {
                memcpy(text, plain_texts[i], len);
                text[at] = (char)byte;
                taken += check_plain(text, len);
            }
        }
    }
    CHECK(taken > 1000);
}

int
main(void)
{
    RUN(test_plain_forms);
    RUN(test_plain_forms_damaged);
    RUN(test_precisions);
    RUN(test_offset_crosses_year);
    RUN(test_fractions);
    RUN(test_equivalent_binary);
    RUN(test_binary_refused);
    RUN(test_binary_fraction_refused);
    RUN(test_fraction_below_one_exactly);
    RUN(test_huge_exponents);
    RUN(test_text_date_refused);
    RUN(test_text_time_refused);
    RUN(test_text_offset_refused);
    RUN(test_text_stops);
    RUN(test_calendar);
    RUN(test_invalid_fields);
    RUN(test_invalid_below_precision);
    RUN(test_each_allocation_fails);
    CHECK_INT(heap.live_bytes, 0);
    return ct_end();
}
