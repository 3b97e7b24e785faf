/* The words of Ion text: white space and comments, quoted text with its escapes, numbers, lobs.
 *
 * Ion specification, "Ion Text Encoding", the lexer half of the grammar, and "Strings and Clobs".
 * Knows nothing of containers, annotations or symbol tables: that is ionf_txt_read.
 */
#ifndef IONF_TXT_LEX_H
#define IONF_TXT_LEX_H

#include <float.h>

#include "ionf_buf.h"
#include "ionf_token.h"

/* Classes of bytes, as bits of ionf_txt_class. Bytes from 0x80 are in none. */
enum {
    IONF_TXT_SPACE = 1,       /* tab, LF, VT, FF, CR, space */
    IONF_TXT_IDENT = 2,       /* letters, digits, '_', '$' */
    IONF_TXT_IDENT_START = 4, /* the same without digits */
    IONF_TXT_DIGIT = 8,
    IONF_TXT_STOP = 16,     /* the fifteen bytes that may follow a number */
    IONF_TXT_OPERATOR = 32, /* the nineteen operator characters */
    IONF_TXT_HEX = 64,
    IONF_TXT_NUMBER = 128 /* what a number or timestamp is made of */
};

/* Sixteen bytes a row, each the sum of its bits above; from 0x80 on all are 0. test_txt_lex.c
 * checks every entry against the characters themselves. */
/* clang-format off */
static const uint8_t ionf_txt_class[256] = {
      0,   0,   0,   0,   0,   0,   0,   0,   0,  17,  17,  17,  17,  17,   0,   0,
      0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,
     17,  32,  16,  32,   6,  32,  32,  16,  16,  16,  32, 160,  16, 160, 160,  32,
    202, 202, 202, 202, 202, 202, 202, 202, 202, 202, 128,  32,  32,  32,  32,  32,
     32, 198, 198, 198, 198, 198, 198, 134, 134, 134, 134, 134, 134, 134, 134, 134,
    134, 134, 134, 134, 134, 134, 134, 134, 134, 134, 134,  16,   0,  16,  32, 134,
     32, 198, 198, 198, 198, 198, 198, 134, 134, 134, 134, 134, 134, 134, 134, 134,
    134, 134, 134, 134, 134, 134, 134, 134, 134, 134, 134,  16,  32,  16,  32,   0,
};
/* clang-format on */

static inline bool
ionf_txt_is(uint8_t byte, unsigned classes)
{
    return (ionf_txt_class[byte] & classes) != 0;
}

/* Past plain white space; comments are not for here. Compact text has none or one space between
 * tokens, indented text has runs of spaces, which go eight at a time. */
static inline const uint8_t *
ionf_txt_space(const uint8_t *p, const uint8_t *end)
{
    while (p != end && ionf_txt_is(*p, IONF_TXT_SPACE)) {
        p++;
        while (end - p >= 8 && ionf_load64_native(p) == 0x2020202020202020u) {
            p += 8;
        }
    }
    return p;
}

static inline uint64_t
ionf_txt_load64_le(const uint8_t *p)
{
    const uint64_t value = ionf_load64_native(p);
    return IONF_BIG_ENDIAN ? ionf_swap64(value) : value;
}

/* The first `quote`, backslash or control byte (below 0x20) in [p, end), or `end`. `*has_high` is
 * set when a byte from 0x80 came before it. */
static inline const uint8_t *
ionf_txt_scan(const uint8_t *p, const uint8_t *end, uint8_t quote, bool *has_high)
{
#if IONF_HAS_SSE2
    const __m128i quotes = _mm_set1_epi8((char)quote);
    const __m128i backslashes = _mm_set1_epi8('\\');
    const __m128i controls = _mm_set1_epi8(0x1F);
    while (end - p >= 16) {
        const __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)p);
        const __m128i special = _mm_or_si128(
            _mm_or_si128(_mm_cmpeq_epi8(bytes, quotes), _mm_cmpeq_epi8(bytes, backslashes)),
            _mm_cmpeq_epi8(_mm_min_epu8(bytes, controls), bytes));
        const uint32_t stops = (uint32_t)_mm_movemask_epi8(special);
        const uint32_t highs = (uint32_t)_mm_movemask_epi8(bytes);
        if (stops != 0) {
            /* stops & -stops is the first stop's bit, less one the bits before it. */
            *has_high |= (highs & ((stops & (0u - stops)) - 1)) != 0;
            return p + ionf_ctz64(stops);
        }
        *has_high |= highs != 0;
        p += 16;
    }
#endif
    const uint64_t ones = 0x0101010101010101u;
    const uint64_t tops = 0x8080808080808080u;
    while (end - p >= 8) {
        const uint64_t bytes = ionf_txt_load64_le(p);
        const uint64_t if_quote = bytes ^ (ones * quote);
        const uint64_t if_backslash = bytes ^ (ones * (uint8_t)'\\');
        /* Exact up to the lowest hit, which is all that is used. */
        const uint64_t stops =
            (((if_quote - ones) & ~if_quote) | ((if_backslash - ones) & ~if_backslash) |
             ((bytes - ones * 0x20) & ~bytes)) &
            tops;
        if (stops != 0) {
            *has_high |= (bytes & tops & ((stops & (0u - stops)) - 1)) != 0;
            return p + ionf_ctz64(stops) / 8;
        }
        *has_high |= (bytes & tops) != 0;
        p += 8;
    }
    while (p != end && *p != quote && *p != '\\' && *p >= 0x20) {
        *has_high |= *p >= 0x80;
        p++;
    }
    return p;
}

/* Which comment a position stands inside. */
typedef enum ionf_txt_comment {
    IONF_TXT_NO_COMMENT = 0,
    IONF_TXT_LINE_COMMENT,
    IONF_TXT_BLOCK_COMMENT
} ionf_txt_comment;

/* A position in the input, and where decoded bytes go.
 *
 * The functions below move `p` past what they have read. When the bytes run out they answer
 * IONF_NEED_DATA, or IONF_ERR_TRUNCATED if is_final, with `p` at the end. On an error `p` is at
 * the offending byte and `expected` says what should stand there (static text, or NULL). In a long
 * token the scratch's owner is asked at each step whether to go on: IONF_ERR_INTERRUPTED, with `p`
 * anywhere inside, but for white space. */
typedef struct ionf_txt_lex {
    const uint8_t *p;
    const uint8_t *end;
    bool is_final;     /* nothing follows `end` */
    uint8_t comment;   /* ionf_txt_comment that p stands inside: see ionf_txt_lex_space */
    ionf_buf *scratch; /* borrowed; only appended to */
    const char *expected;
} ionf_txt_lex;

/* Text that was in quotes: a part of the input, or of the scratch when data is NULL. */
typedef struct ionf_txt_text {
    const uint8_t *data;
    size_t start; /* in scratch */
    size_t len;
    bool is_ascii; /* not told of a clob, which is bytes */
} ionf_txt_text;

typedef enum ionf_txt_form {
    IONF_TXT_STRING,   /* "..." */
    IONF_TXT_SYMBOL,   /* '...' */
    IONF_TXT_LONG,     /* '''...''', one segment */
    IONF_TXT_CLOB,     /* "..." in {{ }} */
    IONF_TXT_CLOB_LONG /* '''...''' in {{ }}, one segment */
} ionf_txt_form;

/* The bytes have run out: IONF_NEED_DATA, or IONF_ERR_TRUNCATED when nothing follows. */
ionf_status ionf_txt_lex_end(ionf_txt_lex *x, const char *expected);
/* Something else stands at p (or the bytes have run out there). */
ionf_status ionf_txt_lex_unexpected(ionf_txt_lex *x, ionf_status status, const char *expected);

/* Past white space and comments, to a byte that is neither or to the end, which is no error.
 * When the bytes run out inside a comment, `p` is as far in it as it has been checked and
 * `comment` tells which it is: calling again with more bytes from there goes on. The same after
 * IONF_ERR_INTERRUPTED. */
IONF_MUST_CHECK ionf_status ionf_txt_lex_space(ionf_txt_lex *x);

/* Do three single quotes stand at p, where one does? IONF_NEED_DATA when that cannot be told. */
IONF_MUST_CHECK ionf_status ionf_txt_lex_is_long(ionf_txt_lex *x, bool *is_long);

/* The rest of a quoted text, from after its opening quote(s) past the closing one(s). */
IONF_MUST_CHECK ionf_status ionf_txt_lex_quoted(ionf_txt_lex *x, ionf_txt_form form,
                                                ionf_txt_text *out);
/* All segments of a long string, from its first quote to just after the last segment. */
IONF_MUST_CHECK ionf_status ionf_txt_lex_long(ionf_txt_lex *x, ionf_txt_text *out);

/* An int, float, decimal or timestamp; its digits may borrow from the input or from the
 * scratch, so that nothing may be appended there while the token is used. */
IONF_MUST_CHECK ionf_status ionf_txt_lex_number(ionf_txt_lex *x, ionf_token *token);
/* May what stands at p follow a number: a stop character, a comment, or the end? */
IONF_MUST_CHECK ionf_status ionf_txt_lex_is_stop(const ionf_txt_lex *x, const uint8_t *p,
                                                 bool *is_stop);

/* A blob or clob, from after `{{` past `}}`; its bytes are in the scratch, as for numbers. */
IONF_MUST_CHECK ionf_status ionf_txt_lex_lob(ionf_txt_lex *x, ionf_token *token);

/* The type of a typed null, from after `null.`. */
IONF_MUST_CHECK ionf_status ionf_txt_lex_null_type(ionf_txt_lex *x, ionf_token *token);

/* Past a run of operator characters, which a comment ends. */
void ionf_txt_lex_operator(ionf_txt_lex *x);

/* Is an identifier `$` and digits? Then `*sid` is its number, UINT64_MAX when too great. */
bool ionf_txt_lex_is_sid(const uint8_t *ident, size_t len, uint64_t *sid);

/* Is [p, end) the beginning of a UTF-8 sequence that has been cut off? */
bool ionf_txt_lex_is_cut(const uint8_t *p, const uint8_t *end);

typedef enum ionf_txt_keyword {
    IONF_TXT_NO_KEYWORD = 0,
    IONF_TXT_NULL,
    IONF_TXT_TRUE,
    IONF_TXT_FALSE,
    IONF_TXT_NAN
} ionf_txt_keyword;

/* The identifiers that are values and so neither symbols, annotations nor field names. */
static inline ionf_txt_keyword
ionf_txt_keyword_of(const uint8_t *ident, size_t len)
{
    if (len == 4) {
        return memcmp(ident, "true", 4) == 0   ? IONF_TXT_TRUE
               : memcmp(ident, "null", 4) == 0 ? IONF_TXT_NULL
                                               : IONF_TXT_NO_KEYWORD;
    }
    if (len == 5) {
        return memcmp(ident, "false", 5) == 0 ? IONF_TXT_FALSE : IONF_TXT_NO_KEYWORD;
    }
    return len == 3 && memcmp(ident, "nan", 3) == 0 ? IONF_TXT_NAN : IONF_TXT_NO_KEYWORD;
}

/* Past the characters of an identifier, from its second one. Sixteen at a time for names, whose lengths
 * no branch predictor guesses. */
static inline const uint8_t *
ionf_txt_ident_end(const uint8_t *p, const uint8_t *end)
{
#if IONF_HAS_SSE2
    while (end - p >= 16) {
        const __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)p);
        const __m128i lower = _mm_or_si128(bytes, _mm_set1_epi8(0x20));
        const __m128i letter = _mm_sub_epi8(lower, _mm_set1_epi8('a'));
        const __m128i digit = _mm_sub_epi8(bytes, _mm_set1_epi8('0'));
        const __m128i is_ident = _mm_or_si128(
            _mm_or_si128(_mm_cmpeq_epi8(_mm_min_epu8(letter, _mm_set1_epi8(25)), letter),
                         _mm_cmpeq_epi8(_mm_min_epu8(digit, _mm_set1_epi8(9)), digit)),
            _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('_')),
                         _mm_cmpeq_epi8(bytes, _mm_set1_epi8('$'))));
        const uint32_t stops = ~(uint32_t)_mm_movemask_epi8(is_ident) & 0xFFFF;
        if (stops != 0) {
            return p + ionf_ctz64(stops);
        }
        p += 16;
    }
#endif
    while (p != end && ionf_txt_is(*p, IONF_TXT_IDENT)) {
        p++;
    }
    return p;
}

/* Are doubles rounded to 64 bits at each step? (Not so on the x87.) */
#if defined(FLT_EVAL_METHOD) && FLT_EVAL_METHOD == 0
#define IONF_DOUBLE_IS_STRICT 1
#else
#define IONF_DOUBLE_IS_STRICT 0
#endif

/* mantissa * 10 ** exponent, when that is exact with one rounding: a mantissa below 2 ** 53 and a
 * power of ten that a double holds. False otherwise. */
static inline bool
ionf_txt_double_exact(uint64_t mantissa, int64_t exponent, double *out)
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (IONF_DOUBLE_IS_STRICT == 0 || mantissa >> 53 != 0 || exponent < -22 || exponent > 22) {
        return false;
    }
    *out =
        exponent < 0 ? (double)mantissa / powers[-exponent] : (double)mantissa * powers[exponent];
    return true;
}

#endif
