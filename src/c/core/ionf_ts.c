/* Timestamps in binary and text. Specification: spec.md, "Timestamps"; binary.md, "0x6:
 * timestamp".
 *
 * The struct holds local time. Text is local too; binary is UTC, so reading and writing binary
 * shift by the offset. The shift may leave the years 1 .. 9999 by one: UTC years 0 and 10000 are
 * read and written wherever the local year is legal.
 */
#include "ionf_ts.h"

static bool
is_leap(int year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

unsigned
ionf_ts_days_in_month(int year, unsigned month)
{
    static const uint8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return month == 2 && is_leap(year) ? 29u : days[month - 1];
}

static bool
date_is_valid(const ionf_timestamp *ts)
{
    return ts->month - 1u < 12u && ts->day - 1u < ionf_ts_days_in_month(ts->year, ts->month);
}

static bool
time_is_valid(const ionf_timestamp *ts)
{
    return ts->hour < 24 && ts->minute < 60 && ts->second < 60;
}

/* Does everything below the precision hold what it holds when absent? */
static bool
rest_is_default(const ionf_timestamp *ts)
{
    switch (ts->precision) {
    case IONF_PRECISION_YEAR:
        if (ts->month != 1) {
            return false;
        }
        /* fall through */
    case IONF_PRECISION_MONTH:
        if (ts->day != 1) {
            return false;
        }
        /* fall through */
    case IONF_PRECISION_DAY:
        if (ts->hour != 0 || ts->minute != 0 || ts->has_offset) {
            return false;
        }
        /* fall through */
    case IONF_PRECISION_MINUTE:
        if (ts->second != 0) {
            return false;
        }
        /* fall through */
    default:
        return true;
    }
}

static bool
fraction_is_valid(const ionf_timestamp *ts)
{
    if (ts->precision != IONF_PRECISION_FRACTION) {
        return ts->fraction_digits == 0;
    }
    return ts->fraction_digits != 0 && !ts->fraction.is_negative &&
           ionf_num_is_below_pow10(&ts->fraction, ts->fraction_digits);
}

static bool
offset_is_valid(const ionf_timestamp *ts)
{
    const int limit = ts->has_offset ? IONF_TS_OFFSET_MAX : 0;
    return ts->offset_minutes >= -limit && ts->offset_minutes <= limit;
}

bool
ionf_ts_is_valid(const ionf_timestamp *ts)
{
    return ts->year >= 1 && ts->year <= 9999 && ts->precision - 1u < IONF_PRECISION_FRACTION &&
           date_is_valid(ts) && time_is_valid(ts) && rest_is_default(ts) && offset_is_valid(ts) &&
           fraction_is_valid(ts);
}

static bool
shift_one_day_back(ionf_timestamp *ts)
{
    if (ts->day > 1) {
        ts->day--;
        return true;
    }
    if (ts->month > 1) {
        ts->month--;
    } else if (ts->year > 0) {
        ts->year--;
        ts->month = 12;
    } else {
        return false;
    }
    ts->day = (uint8_t)ionf_ts_days_in_month(ts->year, ts->month);
    return true;
}

static bool
shift_one_day_on(ionf_timestamp *ts)
{
    if (ts->day < ionf_ts_days_in_month(ts->year, ts->month)) {
        ts->day++;
        return true;
    }
    if (ts->month < 12) {
        ts->month++;
    } else if (ts->year < 10000) {
        ts->year++;
        ts->month = 1;
    } else {
        return false;
    }
    ts->day = 1;
    return true;
}

bool
ionf_ts_shift(ionf_timestamp *ts, int minutes)
{
    int minute_of_day = ts->hour * 60 + ts->minute + minutes;
    if (minute_of_day < 0) {
        if (!shift_one_day_back(ts)) {
            return false;
        }
        minute_of_day += 24 * 60;
    } else if (minute_of_day >= 24 * 60) {
        if (!shift_one_day_on(ts)) {
            return false;
        }
        minute_of_day -= 24 * 60;
    }
    ts->hour = (uint8_t)(minute_of_day / 60);
    ts->minute = (uint8_t)(minute_of_day % 60);
    return true;
}

/* ---- Binary ---- */

static ionf_status
offset_read(const uint8_t **p, const uint8_t *end, ionf_timestamp *ts)
{
    bool is_negative;
    uint64_t magnitude;
    if (ionf_varint_read(p, end, &is_negative, &magnitude) != IONF_OK ||
        magnitude > IONF_TS_OFFSET_MAX) {
        return IONF_ERR_TIMESTAMP;
    }
    ts->has_offset = magnitude != 0 || !is_negative;
    ts->offset_minutes = (int16_t)(is_negative ? -(int)magnitude : (int)magnitude);
    return IONF_OK;
}

/* A VarUInt field that fits a byte; its real range is checked with the others. */
static ionf_status
byte_field_read(const uint8_t **p, const uint8_t *end, uint8_t *field)
{
    uint64_t value;
    if (ionf_varuint_read(p, end, &value) != IONF_OK || value > 99) {
        return IONF_ERR_TIMESTAMP;
    }
    *field = (uint8_t)value;
    return IONF_OK;
}

/* The fields between year and fraction, as many as there are. */
static ionf_status
fields_read(const uint8_t **p, const uint8_t *end, ionf_timestamp *ts)
{
    uint8_t *const fields[] = {&ts->month, &ts->day, &ts->hour, &ts->minute, &ts->second};
    static const uint8_t precisions[] = {IONF_PRECISION_MONTH, IONF_PRECISION_DAY, 0,
                                         IONF_PRECISION_MINUTE, IONF_PRECISION_SECOND};
    ts->precision = IONF_PRECISION_YEAR;
    for (size_t i = 0; i < sizeof precisions && *p != end; i++) {
        if (byte_field_read(p, end, fields[i]) != IONF_OK) {
            return IONF_ERR_TIMESTAMP;
        }
        ts->precision = precisions[i];
    }
    /* 0: the input ended between hour and minute. */
    return ts->precision == 0 ? IONF_ERR_TIMESTAMP : IONF_OK;
}

static ionf_status
fraction_read(const uint8_t *p, const uint8_t *end, ionf_timestamp *ts)
{
    bool exponent_is_negative;
    uint64_t places;
    if (ionf_varint_read(&p, end, &exponent_is_negative, &places) != IONF_OK) {
        return IONF_ERR_TIMESTAMP;
    }
    ionf_integer fraction = {.form = IONF_INT_U64};
    if (p != end) {
        const bool is_negative = (*p & 0x80u) != 0;
        /* Where the sign bit is set only a zero is legal, so the magnitude needs no copy. */
        const size_t skip = (*p & 0x7Fu) == 0;
        fraction = ionf_num_integer_from_be(p + skip, (size_t)(end - p) - skip, false);
        if (is_negative && (!skip || fraction.form != IONF_INT_U64 || fraction.u64 != 0)) {
            return IONF_ERR_TIMESTAMP;
        }
    }
    if (!exponent_is_negative || places == 0) {
        return fraction.form == IONF_INT_U64 && fraction.u64 == 0 ? IONF_OK : IONF_ERR_TIMESTAMP;
    }
    ts->fraction = fraction;
    ts->fraction_digits = places;
    ts->precision = IONF_PRECISION_FRACTION;
    return IONF_OK;
}

/* From UTC to local fields; dates without a time have no offset, whatever the input says. */
static bool
utc_to_local(ionf_timestamp *ts)
{
    if (ts->precision < IONF_PRECISION_MINUTE) {
        ts->has_offset = false;
        ts->offset_minutes = 0;
        return true;
    }
    return date_is_valid(ts) && time_is_valid(ts) && ionf_ts_shift(ts, ts->offset_minutes);
}

ionf_status
ionf_ts_read(const uint8_t *content, size_t len, ionf_timestamp *out)
{
    const uint8_t *p = content;
    const uint8_t *const end = content + len;
    ionf_timestamp ts = {.month = 1, .day = 1};
    uint64_t year;
    if (offset_read(&p, end, &ts) != IONF_OK || ionf_varuint_read(&p, end, &year) != IONF_OK ||
        year > 10000) {
        return IONF_ERR_TIMESTAMP;
    }
    ts.year = (int16_t)year;
    if (fields_read(&p, end, &ts) != IONF_OK ||
        (p != end && fraction_read(p, end, &ts) != IONF_OK)) {
        return IONF_ERR_TIMESTAMP;
    }
    if (!utc_to_local(&ts) || !ionf_ts_is_valid(&ts)) {
        return IONF_ERR_TIMESTAMP;
    }
    *out = ts;
    return IONF_OK;
}

/* Store the offset and the fields down to the second; gives the byte after. At most 10 bytes. */
static uint8_t *
fields_put(uint8_t *w, const ionf_timestamp *utc)
{
    const int offset = utc->offset_minutes;
    w = ionf_varint_put(w, !utc->has_offset || offset < 0,
                        (uint64_t)(offset < 0 ? -offset : offset));
    w = ionf_varuint_put(w, (uint64_t)utc->year);
    if (utc->precision >= IONF_PRECISION_MONTH) {
        *w++ = utc->month | 0x80u;
    }
    if (utc->precision >= IONF_PRECISION_DAY) {
        *w++ = utc->day | 0x80u;
    }
    if (utc->precision >= IONF_PRECISION_MINUTE) {
        *w++ = utc->hour | 0x80u;
        *w++ = utc->minute | 0x80u;
    }
    if (utc->precision >= IONF_PRECISION_SECOND) {
        *w++ = utc->second | 0x80u;
    }
    return w;
}

ionf_status
ionf_ts_write(const ionf_timestamp *ts, ionf_buf *out)
{
    ionf_timestamp utc = *ts;
    if (!ionf_ts_is_valid(ts) || !ionf_ts_shift(&utc, -ts->offset_minutes)) {
        return IONF_ERR_TIMESTAMP;
    }
    ionf_status status = ionf_buf_reserve(out, 10 + IONF_VARINT_MAX_SIZE);
    if (status != IONF_OK) {
        return status;
    }
    const size_t start = out->len;
    uint8_t *w = fields_put(out->data + start, &utc);
    if (utc.precision == IONF_PRECISION_FRACTION) {
        w = ionf_varint_put(w, true, utc.fraction_digits);
    }
    out->len = (size_t)(w - out->data);
    if (utc.precision == IONF_PRECISION_FRACTION) {
        status = ionf_dec_write_int(&utc.fraction, out);
        if (status != IONF_OK) {
            out->len = start;
        }
    }
    return status;
}

/* ---- Text ---- */

/* Where the parser stands, and why it stopped. */
typedef struct parse_state {
    const uint8_t *p;
    const uint8_t *end;
    const char *expected;
} parse_state;

static bool
parse_fails(parse_state *state, const char *expected)
{
    state->expected = expected;
    return false;
}

static inline bool
next_is(const parse_state *state, char wanted)
{
    return state->p != state->end && *state->p == (uint8_t)wanted;
}

static inline bool
next_is_digit(const parse_state *state)
{
    return state->p != state->end && *state->p - (unsigned)'0' < 10u;
}

/* A field of exactly `count` digits. */
static bool
parse_field(parse_state *state, unsigned count, unsigned min, unsigned max, const char *expected,
            unsigned *out)
{
    const uint8_t *const start = state->p;
    unsigned value = 0;
    for (unsigned i = 0; i < count; i++) {
        if (!next_is_digit(state)) {
            return parse_fails(state, "a digit");
        }
        value = value * 10 + (*state->p++ - (unsigned)'0');
    }
    if (value < min || value > max) {
        state->p = start;
        return parse_fails(state, expected);
    }
    *out = value;
    return true;
}

static bool
parse_byte_field(parse_state *state, unsigned min, unsigned max, const char *expected,
                 uint8_t *out)
{
    unsigned value;
    if (!parse_field(state, 2, min, max, expected, &value)) {
        return false;
    }
    *out = (uint8_t)value;
    return true;
}

static bool
parse_char(parse_state *state, char wanted, const char *expected)
{
    if (!next_is(state, wanted)) {
        return parse_fails(state, expected);
    }
    state->p++;
    return true;
}

/* "2007T", "2007-02T", "2007-02-23" or "2007-02-23T": the date, and the T that ends it. */
static bool
parse_date(parse_state *state, ionf_timestamp *ts)
{
    unsigned year;
    if (!parse_field(state, 4, 1, 9999, "a year from 0001 to 9999", &year)) {
        return false;
    }
    ts->year = (int16_t)year;
    ts->precision = IONF_PRECISION_YEAR;
    if (!next_is(state, '-')) {
        return parse_char(state, 'T', "'-' or 'T' after the year");
    }
    state->p++;
    if (!parse_byte_field(state, 1, 12, "a month from 01 to 12", &ts->month)) {
        return false;
    }
    ts->precision = IONF_PRECISION_MONTH;
    if (!next_is(state, '-')) {
        return parse_char(state, 'T', "'-' or 'T' after the month");
    }
    state->p++;
    ts->precision = IONF_PRECISION_DAY;
    return parse_byte_field(state, 1, ionf_ts_days_in_month(ts->year, ts->month),
                            "a day of that month", &ts->day);
}

static bool
parse_fraction(parse_state *state, ionf_timestamp *ts)
{
    const uint8_t *const start = state->p;
    while (next_is_digit(state)) {
        state->p++;
    }
    const size_t count = (size_t)(state->p - start);
    if (count == 0) {
        return parse_fails(state, "a digit of the fraction");
    }
    ts->fraction = ionf_num_integer_from_digits(start, count, false);
    ts->fraction_digits = count;
    ts->precision = IONF_PRECISION_FRACTION;
    return true;
}

/* "12:14", "12:14:33", "12:14:33.079". */
static bool
parse_time(parse_state *state, ionf_timestamp *ts)
{
    if (!parse_byte_field(state, 0, 23, "an hour from 00 to 23", &ts->hour) ||
        !parse_char(state, ':', "':' and the minute") ||
        !parse_byte_field(state, 0, 59, "a minute from 00 to 59", &ts->minute)) {
        return false;
    }
    ts->precision = IONF_PRECISION_MINUTE;
    if (!next_is(state, ':')) {
        return true;
    }
    state->p++;
    if (!parse_byte_field(state, 0, 59, "a second from 00 to 59", &ts->second)) {
        return false;
    }
    ts->precision = IONF_PRECISION_SECOND;
    if (!next_is(state, '.')) {
        return true;
    }
    state->p++;
    return parse_fraction(state, ts);
}

static const char *
offset_expected(const ionf_timestamp *ts)
{
    switch (ts->precision) {
    case IONF_PRECISION_MINUTE:
        return "':' and the second, or an offset ('Z', '+hh:mm' or '-hh:mm')";
    case IONF_PRECISION_SECOND:
        return "'.' and a fraction, or an offset ('Z', '+hh:mm' or '-hh:mm')";
    default:
        return "a digit, or an offset ('Z', '+hh:mm' or '-hh:mm')";
    }
}

static bool
parse_offset(parse_state *state, ionf_timestamp *ts)
{
    if (next_is(state, 'Z')) {
        state->p++;
        ts->has_offset = true;
        return true;
    }
    if (!next_is(state, '+') && !next_is(state, '-')) {
        return parse_fails(state, offset_expected(ts));
    }
    const bool is_negative = *state->p++ == '-';
    uint8_t hours;
    uint8_t minutes;
    if (!parse_byte_field(state, 0, 23, "an offset below 24:00", &hours) ||
        !parse_char(state, ':', "':' and the minutes of the offset") ||
        !parse_byte_field(state, 0, 59, "minutes from 00 to 59", &minutes)) {
        return false;
    }
    const int offset = hours * 60 + minutes;
    ts->has_offset = offset != 0 || !is_negative;
    ts->offset_minutes = (int16_t)(is_negative ? -offset : offset);
    return true;
}

static bool
parse_timestamp(parse_state *state, ionf_timestamp *ts)
{
    if (!parse_date(state, ts)) {
        return false;
    }
    if (ts->precision < IONF_PRECISION_DAY || !next_is(state, 'T')) {
        return true;
    }
    state->p++;
    if (!next_is_digit(state)) {
        return true;
    }
    return parse_time(state, ts) && parse_offset(state, ts);
}

ionf_status
ionf_ts_parse(const uint8_t **p, const uint8_t *end, ionf_timestamp *out, const char **expected)
{
    ionf_timestamp ts = {.month = 1, .day = 1};
    parse_state state = {*p, end, NULL};
    const bool is_ok = parse_timestamp(&state, &ts);
    *p = state.p;
    if (!is_ok) {
        *expected = state.expected;
        return IONF_ERR_TIMESTAMP;
    }
    *out = ts;
    return IONF_OK;
}

/* Two digits; `*bad` is no longer 0 if they are not. */
static inline unsigned
two_digits(const uint8_t *p, unsigned *bad)
{
    const unsigned tens = p[0] - (unsigned)'0', ones = p[1] - (unsigned)'0';
    *bad |= (unsigned)(tens > 9) | (unsigned)(ones > 9);
    return tens * 10 + ones;
}

/* "2007-02-23T12:14:33", all of it there. */
static bool
plain_fields(const uint8_t *p, ionf_timestamp *ts)
{
    unsigned bad =
        (unsigned)((p[4] ^ '-') | (p[7] ^ '-') | (p[10] ^ 'T') | (p[13] ^ ':') | (p[16] ^ ':'));
    const unsigned year = two_digits(p, &bad) * 100 + two_digits(p + 2, &bad);
    const unsigned month = two_digits(p + 5, &bad), day = two_digits(p + 8, &bad);
    const unsigned hour = two_digits(p + 11, &bad), minute = two_digits(p + 14, &bad);
    const unsigned second = two_digits(p + 17, &bad);
    if (bad != 0 || year == 0 || month - 1 > 11 || hour > 23 || minute > 59 || second > 59 ||
        day - 1 >= ionf_ts_days_in_month((int)year, month)) {
        return false;
    }
    ts->year = (int16_t)year;
    ts->month = (uint8_t)month;
    ts->day = (uint8_t)day;
    ts->hour = (uint8_t)hour;
    ts->minute = (uint8_t)minute;
    ts->second = (uint8_t)second;
    ts->precision = IONF_PRECISION_SECOND;
    return true;
}

/* The digits behind the point; NULL when there are none, or too many. */
static const uint8_t *
plain_fraction(const uint8_t *p, const uint8_t *end, ionf_timestamp *ts)
{
    const uint8_t *const start = p;
    uint64_t value = 0;
    while (p != end && *p - (unsigned)'0' <= 9 && p - start <= 18) {
        value = value * 10 + (*p++ - (unsigned)'0');
    }
    if (p == start || p - start > 18) {
        return NULL;
    }
    ts->fraction.u64 = value;
    ts->fraction.form = IONF_INT_U64;
    ts->fraction_digits = (uint64_t)(p - start);
    ts->precision = IONF_PRECISION_FRACTION;
    return p;
}

/* "Z", "+05:30"; NULL for anything else. */
static const uint8_t *
plain_offset(const uint8_t *p, const uint8_t *end, ionf_timestamp *ts)
{
    if (p != end && *p == 'Z') {
        ts->has_offset = true;
        return p + 1;
    }
    if (end - p < 6 || (*p != '+' && *p != '-')) {
        return NULL;
    }
    unsigned bad = (unsigned)(p[3] ^ ':');
    const unsigned hours = two_digits(p + 1, &bad), minutes = two_digits(p + 4, &bad);
    if (bad != 0 || hours > 23 || minutes > 59) {
        return NULL;
    }
    const int offset = (int)(hours * 60 + minutes);
    ts->has_offset = offset != 0 || *p == '+';
    ts->offset_minutes = (int16_t)(*p == '-' ? -offset : offset);
    return p + 6;
}

bool
ionf_ts_parse_plain(const uint8_t **p, const uint8_t *end, ionf_timestamp *out)
{
    const ptrdiff_t fields_len = 19;
    const uint8_t *at = *p;
    ionf_timestamp ts = {.month = 1, .day = 1};
    if (end - at <= fields_len || !plain_fields(at, &ts)) {
        return false;
    }
    at += fields_len;
    if (*at == '.') {
        at = plain_fraction(at + 1, end, &ts);
    }
    at = at == NULL ? NULL : plain_offset(at, end, &ts);
    if (at == NULL) {
        return false;
    }
    *p = at;
    *out = ts;
    return true;
}

static uint8_t *
put_two_digits(uint8_t *w, unsigned value)
{
    w[0] = (uint8_t)('0' + value / 10);
    w[1] = (uint8_t)('0' + value % 10);
    return w + 2;
}

static uint8_t *
put_field(uint8_t *w, char separator, unsigned value)
{
    *w = (uint8_t)separator;
    return put_two_digits(w + 1, value);
}

/* Store everything up to the fraction, at most "2007-02-23T12:14:33"; gives the byte after. */
static uint8_t *
put_fields(uint8_t *w, const ionf_timestamp *ts)
{
    const unsigned year = (unsigned)ts->year;
    w = put_two_digits(w, year / 100);
    w = put_two_digits(w, year % 100);
    if (ts->precision >= IONF_PRECISION_MONTH) {
        w = put_field(w, '-', ts->month);
    }
    if (ts->precision >= IONF_PRECISION_DAY) {
        w = put_field(w, '-', ts->day);
    } else {
        *w++ = 'T';
    }
    if (ts->precision >= IONF_PRECISION_MINUTE) {
        w = put_field(w, 'T', ts->hour);
        w = put_field(w, ':', ts->minute);
    }
    if (ts->precision >= IONF_PRECISION_SECOND) {
        w = put_field(w, ':', ts->second);
    }
    return w;
}

/* Append '.' and the digits of the fraction behind their zeros. */
static ionf_status
fraction_print(const ionf_timestamp *ts, ionf_buf *out)
{
    ionf_status status = ionf_buf_push(out, '.');
    if (status != IONF_OK) {
        return status;
    }
    const size_t start = out->len;
    status = ionf_num_integer_to_digits(&ts->fraction, out);
    if (status != IONF_OK) {
        return status;
    }
    const size_t count = out->len - start;
    /* Not below 0: the fraction is less than 1, and at least "0" is printed for at least 1
     * digit. */
    const uint64_t zeros = ts->fraction_digits - count;
    if (zeros > IONF_TS_PRINT_ZEROS_MAX) {
        return IONF_ERR_RANGE;
    }
    status = ionf_buf_reserve(out, (size_t)zeros);
    if (status != IONF_OK) {
        return status;
    }
    uint8_t *const digits = out->data + start;
    memmove(digits + zeros, digits, count);
    memset(digits, '0', (size_t)zeros);
    out->len += (size_t)zeros;
    return IONF_OK;
}

/* Store the offset, at most 6 bytes; gives the byte after. */
static uint8_t *
put_offset(uint8_t *w, const ionf_timestamp *ts)
{
    if (ts->has_offset && ts->offset_minutes == 0) {
        *w++ = 'Z';
        return w;
    }
    const bool is_negative = !ts->has_offset || ts->offset_minutes < 0;
    const unsigned magnitude =
        (unsigned)(ts->offset_minutes < 0 ? -ts->offset_minutes : ts->offset_minutes);
    w = put_field(w, is_negative ? '-' : '+', magnitude / 60);
    return put_field(w, ':', magnitude % 60);
}

ionf_status
ionf_ts_print(const ionf_timestamp *ts, ionf_buf *out)
{
    if (!ionf_ts_is_valid(ts)) {
        return IONF_ERR_TIMESTAMP;
    }
    const size_t start = out->len;
    ionf_status status = ionf_buf_reserve(out, 32);
    if (status != IONF_OK) {
        return status;
    }
    out->len = (size_t)(put_fields(out->data + start, ts) - out->data);
    if (ts->precision == IONF_PRECISION_FRACTION) {
        status = fraction_print(ts, out);
    }
    if (status == IONF_OK && ts->precision >= IONF_PRECISION_MINUTE) {
        status = ionf_buf_reserve(out, 6);
        if (status == IONF_OK) {
            out->len = (size_t)(put_offset(out->data + out->len, ts) - out->data);
        }
    }
    if (status != IONF_OK) {
        out->len = start;
    }
    return status;
}
