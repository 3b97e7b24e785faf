/* The token: what a reader says of one value, and what every consumer is written against.
 *
 * Types only, and the limits that a reader is made with. No Python type, no copy: slices borrow
 * from the input or from the reader's scratch, until the reader's next call.
 */
#ifndef IONF_TOKEN_H
#define IONF_TOKEN_H

#include "ionf_base.h"

/* The Ion types by their binary type code (a negative int, code 3, is IONF_KIND_INT), so that a
 * kind indexes a table. amazon.ion's IonType has the same order with int = 2, float = 3 ... */
typedef enum ionf_kind {
    IONF_KIND_NULL = 0,
    IONF_KIND_BOOL = 1,
    IONF_KIND_INT = 2,
    IONF_KIND_FLOAT = 3,
    IONF_KIND_DECIMAL = 4,
    IONF_KIND_TIMESTAMP = 5,
    IONF_KIND_SYMBOL = 6,
    IONF_KIND_STRING = 7,
    IONF_KIND_CLOB = 8,
    IONF_KIND_BLOB = 9,
    IONF_KIND_LIST = 10,
    IONF_KIND_SEXP = 11,
    IONF_KIND_STRUCT = 12,
    IONF_KIND_END = 13, /* the container that was entered last has ended */
    IONF_KIND_EOF = 14  /* no more top-level values */
} ionf_kind;

static inline bool
ionf_kind_is_container(unsigned kind)
{
    return kind - IONF_KIND_LIST <= IONF_KIND_STRUCT - IONF_KIND_LIST;
}

/* A symbol as the encoding gave it: by text, or by symbol ID to be looked up in the reader's
 * current symbol table. Empty text is a non-NULL `text` with `len` 0. */
typedef struct ionf_symref {
    const uint8_t *text; /* borrowed; valid UTF-8; NULL: `sid` counts */
    size_t len;
    uint64_t sid;  /* at most the table's max_id when text is NULL */
    bool is_ascii; /* of text */
} ionf_symref;

typedef enum ionf_int_form {
    IONF_INT_U64 = 0,   /* magnitude in u64 */
    IONF_INT_BE = 1,    /* magnitude as big-endian bytes, no leading zero byte, more than 8 */
    IONF_INT_DIGITS = 2 /* magnitude as ASCII decimal digits, no leading zero, does not fit u64 */
} ionf_int_form;

/* An integer of any size: an int, a decimal's coefficient, a timestamp's fraction.
 * A small magnitude is always IONF_INT_U64, so the other forms mean "does not fit 64 bits". */
typedef struct ionf_integer {
    uint64_t u64;
    const uint8_t *data; /* borrowed; IONF_INT_BE and IONF_INT_DIGITS */
    size_t len;
    uint8_t form;     /* ionf_int_form */
    bool is_negative; /* with magnitude 0 only in a decimal's negative zero */
} ionf_integer;

/* coefficient * 10 ** exponent. */
typedef struct ionf_decimal {
    ionf_integer coefficient;
    int64_t exponent;
} ionf_decimal;

typedef enum ionf_precision {
    IONF_PRECISION_YEAR = 1,
    IONF_PRECISION_MONTH = 2,
    IONF_PRECISION_DAY = 3,
    IONF_PRECISION_MINUTE = 4,
    IONF_PRECISION_SECOND = 5,
    IONF_PRECISION_FRACTION = 6 /* at least one fractional digit */
} ionf_precision;

/* A timestamp broken down in its LOCAL time, as text writes it, whichever encoding it came from.
 * Fields below the precision hold 1 (month, day) or 0. */
typedef struct ionf_timestamp {
    int16_t year; /* 1 .. 9999 */
    uint8_t month, day, hour, minute, second;
    uint8_t precision;        /* ionf_precision */
    bool has_offset;          /* false: unknown offset (-00:00), or precision of a day or less */
    int16_t offset_minutes;   /* -1439 .. 1439; 0 without has_offset */
    uint64_t fraction_digits; /* number of fractional digits; 0 unless IONF_PRECISION_FRACTION */
    ionf_integer fraction;    /* coefficient of the fraction: .0250 is 250 with 4 digits */
} ionf_timestamp;

typedef struct ionf_token {
    uint8_t kind; /* ionf_kind */
    bool is_null; /* null.kind; a container that is null is not entered */
    bool has_field;
    bool is_ascii;                  /* of as.text for strings */
    ionf_symref field;              /* when has_field */
    const ionf_symref *annotations; /* borrowed; annotation_count of them, in order */
    /* Not beside the flags: testing both with one load, just after they were written one by one, makes
     * the load wait (6% of loading canada). */
    uint32_t annotation_count;
    uint64_t offset;      /* of the value's first byte, its annotations included */
    uint64_t content_len; /* binary: bytes of content; 0 in text */
    union {
        bool boolean;
        double f64;
        ionf_integer integer;
        ionf_decimal decimal;
        ionf_timestamp timestamp;
        ionf_symref symbol;
        ionf_slice bytes; /* string: valid UTF-8; clob, blob: the bytes */
    } as;
} ionf_token;

/* What a reader refuses. Zero is not "none": use IONF_UNLIMITED. */
#define IONF_UNLIMITED UINT64_MAX
#define IONF_DEFAULT_MAX_DEPTH 1000

typedef struct ionf_limits {
    uint64_t max_depth;      /* open containers */
    uint64_t max_value_size; /* encoded bytes of one top-level value */
} ionf_limits;

#define IONF_LIMITS_DEFAULT {IONF_DEFAULT_MAX_DEPTH, IONF_UNLIMITED}

static inline ionf_limits
ionf_limits_default(void)
{
    const ionf_limits limits = IONF_LIMITS_DEFAULT;
    return limits;
}

#endif
