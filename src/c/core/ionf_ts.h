/* Timestamps: calendar, precision, offsets; binary and text form. Specification: "Timestamps". */
#ifndef IONF_TS_H
#define IONF_TS_H

#include "ionf_dec.h"

/* Offsets are less than a day. */
#define IONF_TS_OFFSET_MAX 1439
/* ionf_ts_print writes at most so many zeros that no digit of the fraction stands for: a few bytes
 * of binary can ask for 2 ** 64 of them. */
#define IONF_TS_PRINT_ZEROS_MAX 1000000

/* 28 .. 31, proleptic Gregorian; `month` is 1 .. 12. */
unsigned ionf_ts_days_in_month(int year, unsigned month);
/* Are all fields in range for the precision, those below it at 1 or 0, the day in its month,
 * the fraction below 1? A fraction in big-endian bytes of more than IONF_NUM_EXACT_BITS bits
 * that agrees with 1 in its first digits counts as not below 1. */
bool ionf_ts_is_valid(const ionf_timestamp *ts);
/* Move local fields by `minutes`, less than a day either way (UTC = local - offset). False, and
 * nothing moved, outside years 0 .. 10000. */
bool ionf_ts_shift(ionf_timestamp *ts, int minutes);

/* Decode the `len` content bytes of a binary timestamp (UTC fields) into local fields. A fraction
 * that is not below 1 or is negative, a missing minute, a day that does not exist are errors
 * (IONF_ERR_TIMESTAMP). An offset without a time is ignored: such values have none. A big fraction
 * coefficient borrows from `content`. */
IONF_MUST_CHECK ionf_status ionf_ts_read(const uint8_t *content, size_t len, ionf_timestamp *out);
/* Append the binary content (not the type descriptor) to `out`. IONF_ERR_TIMESTAMP when `ts`
 * is not valid. On failure `out` is as it was. */
IONF_MUST_CHECK ionf_status ionf_ts_write(const ionf_timestamp *ts, ionf_buf *out);

/* Parse a text timestamp that starts at `*p`: moves `*p` past its last character. On failure
 * (IONF_ERR_TIMESTAMP) `*p` is at the offending character, or at the first one of a field that
 * is out of range, and `*expected` says what should stand there (static text). A fraction of
 * more than 19 significant digits borrows from the input. Does not look at what follows. */
IONF_MUST_CHECK ionf_status ionf_ts_parse(const uint8_t **p, const uint8_t *end,
                                          ionf_timestamp *out, const char **expected);
/* The same for the common forms alone, "2007-02-23T12:14:33Z", with a fraction of up to 18 digits or an
 * offset; false for anything else, right or wrong, `*p` unmoved. */
bool ionf_ts_parse_plain(const uint8_t **p, const uint8_t *end, ionf_timestamp *out);
/* Append Ion text: "2007T", "2007-02T", "2007-02-23" (day precision without T), "…T00:00Z".
 * IONF_ERR_TIMESTAMP when `ts` is not valid, IONF_ERR_RANGE past IONF_TS_PRINT_ZEROS_MAX. On
 * failure `out` is as it was. */
IONF_MUST_CHECK ionf_status ionf_ts_print(const ionf_timestamp *ts, ionf_buf *out);

#endif
