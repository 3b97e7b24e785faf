/* Tests of ionf_txt_lex: classes of bytes, scanning, comments, quoted text, numbers, lobs. */
#include "ct.h"

#include "ionf_txt_lex.h"
#include "ionf_utf8.h"

static ionf_buf scratch;

/* A lexer over exactly the bytes of `text`, in memory of their size so that reading past the
 * end is seen by the sanitizers. One at a time. */
static uint8_t *held;

static ionf_txt_lex
lexer(const char *text, size_t len, bool is_final)
{
    free(held);
    held = malloc(len == 0 ? 1 : len);
    if (len != 0) {
        memcpy(held, text, len);
    }
    ionf_buf_reset(&scratch);
    const ionf_txt_lex x = {held, held + len, is_final, IONF_TXT_NO_COMMENT, &scratch, NULL};
    return x;
}

#define LEXER(literal, is_final) lexer("" literal, sizeof(literal) - 1, is_final)
#define AT(x) ((long long)((x).p - held))

static void
class_check(const char *members, unsigned flag)
{
    for (unsigned byte = 0; byte < 256; byte++) {
        const bool expected = byte != 0 && byte < 128 && strchr(members, (int)byte) != NULL;
        CHECK_INT(ionf_txt_is((uint8_t)byte, flag), expected);
    }
}

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

static void
each_class_has_its_bytes(void)
{
    class_check("\t\n\v\f\r ", IONF_TXT_SPACE);
    class_check(LETTERS "0123456789_$", IONF_TXT_IDENT);
    class_check(LETTERS "_$", IONF_TXT_IDENT_START);
    class_check("0123456789", IONF_TXT_DIGIT);
    class_check("{}[](),\"' \t\n\r\v\f", IONF_TXT_STOP);
    class_check("!#%&*+-./;<=>?@^`|~", IONF_TXT_OPERATOR);
    class_check("0123456789abcdefABCDEF", IONF_TXT_HEX);
    class_check(LETTERS "0123456789_.+-:", IONF_TXT_NUMBER);
}

/* Every stop byte at every distance, so that each of the wide loops finds it in each lane. */
static void
scan_stops_at_each_position(void)
{
    static const uint8_t stops[] = {'"', '\\', 0x00, 0x1F, '\n'};
    for (size_t len = 0; len < 50; len++) {
        for (size_t i = 0; i < sizeof stops; i++) {
            ionf_txt_lex x =
                lexer("..................................................", len + 1, true);
            held[len] = stops[i];
            bool has_high = false;
            CHECK_INT(ionf_txt_scan(x.p, x.end, '"', &has_high) - held, len);
            CHECK(!has_high);
            if (len != 0) {
                held[len - 1] = 0x80;
                CHECK_INT(ionf_txt_scan(x.p, x.end, '"', &has_high) - held, len);
                CHECK(has_high);
            }
        }
    }
}

static void
scan_ignores_high_bytes_after_the_stop(void)
{
    const ionf_txt_lex x =
        LEXER("ab\"\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", true);
    bool has_high = false;
    CHECK_INT(ionf_txt_scan(x.p, x.end, '"', &has_high) - held, 2);
    CHECK(!has_high);
    CHECK_INT(ionf_txt_scan(x.p, x.p + 10, '"', &has_high) - held, 2);
    CHECK(!has_high);
}

static void
space_passes_comments(void)
{
    ionf_txt_lex x = LEXER(" \t\v\f//x\r/* * / **/\n 1", true);
    CHECK_INT(ionf_txt_lex_space(&x), IONF_OK);
    CHECK_INT(AT(x), 20);
    x = LEXER("//", true);
    CHECK_INT(ionf_txt_lex_space(&x), IONF_OK);
    CHECK_INT(AT(x), 2);
    x = LEXER("/+", true);
    CHECK_INT(ionf_txt_lex_space(&x), IONF_OK);
    CHECK_INT(AT(x), 0);
}

static void
space_goes_on_inside_a_comment(void)
{
    ionf_txt_lex x = LEXER("/*ab*", false);
    CHECK_INT(ionf_txt_lex_space(&x), IONF_NEED_DATA);
    CHECK_INT(AT(x), 4);
    CHECK_INT(x.comment, IONF_TXT_BLOCK_COMMENT);
    const uint8_t comment = x.comment;
    x = LEXER("*/ 1", false);
    x.comment = comment;
    CHECK_INT(ionf_txt_lex_space(&x), IONF_OK);
    CHECK_INT(AT(x), 3);
    x = LEXER("//\xC3", false);
    CHECK_INT(ionf_txt_lex_space(&x), IONF_NEED_DATA);
    CHECK_INT(AT(x), 2);
    CHECK_INT(x.comment, IONF_TXT_LINE_COMMENT);
}

static void
space_refuses_bad_comments(void)
{
    ionf_txt_lex x = LEXER("/* *", true);
    CHECK_INT(ionf_txt_lex_space(&x), IONF_ERR_TRUNCATED);
    CHECK_INT(AT(x), 4);
    x = LEXER("/*a\xFF*/", true);
    CHECK_INT(ionf_txt_lex_space(&x), IONF_ERR_UTF8);
    CHECK_INT(AT(x), 3);
    x = LEXER("//a\xC3", true);
    CHECK_INT(ionf_txt_lex_space(&x), IONF_ERR_UTF8);
    CHECK_INT(AT(x), 3);
}

static void
quoted_check(const char *text, size_t len, ionf_txt_form form, bool in_place, const char *value,
             size_t value_len)
{
    ionf_txt_lex x = lexer(text, len, false);
    ionf_txt_text out;
    CHECK_INT(ionf_txt_lex_quoted(&x, form, &out), IONF_OK);
    CHECK_INT(AT(x), len);
    CHECK_INT(out.data != NULL, in_place);
    const uint8_t *data = out.data != NULL ? out.data : scratch.data + out.start;
    CHECK_BYTES(data, out.len, value, value_len);
    CHECK_INT(out.is_ascii,
              form == IONF_TXT_CLOB || ionf_utf8_is_ascii((const uint8_t *)value, value_len));
}

#define QUOTED(text, form, in_place, value)                                                       \
    quoted_check("" text, sizeof(text) - 1, form, in_place, "" value, sizeof(value) - 1)

static void
quoted_text_is_a_slice_of_the_input(void)
{
    QUOTED("\"", IONF_TXT_STRING, true, "");
    QUOTED("it's\"", IONF_TXT_STRING, true, "it's");
    QUOTED("tab\there \v\f\x7F\"", IONF_TXT_STRING, true, "tab\there \v\f\x7F");
    QUOTED("\xC3\xA9\xF0\x9F\x98\x80\"", IONF_TXT_STRING, true, "\xC3\xA9\xF0\x9F\x98\x80");
    QUOTED("a \"b\"'", IONF_TXT_SYMBOL, true, "a \"b\"");
    QUOTED("a'b''c\nd'''", IONF_TXT_LONG, true, "a'b''c\nd");
    QUOTED("abc~\"", IONF_TXT_CLOB, true, "abc~");
}

static void
quoted_text_is_decoded(void)
{
    QUOTED("\\0\\a\\b\\t\\n\\f\\r\\v\\\"\\'\\?\\\\\\/\"", IONF_TXT_STRING, false,
           "\0\a\b\t\n\f\r\v\"'?\\/");
    QUOTED("a\\x41\\xe9\\u00e9\\u20AC\\U0001f600z\"", IONF_TXT_STRING, false,
           "aA\xC3\xA9\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80z");
    QUOTED("\\uD83D\\uDE00'", IONF_TXT_SYMBOL, false, "\xF0\x9F\x98\x80");
    QUOTED("a\\\nb\\\rc\\\r\nd\"", IONF_TXT_STRING, false, "abcd");
    QUOTED("a\rb\r\nc\\r\\\nd'''", IONF_TXT_LONG, false, "a\nb\nc\rd");
    QUOTED("\\xff\\x00\\x7F\"", IONF_TXT_CLOB, false, "\xFF\0\x7F");
}

static void
quoted_error(const char *text, size_t len, ionf_txt_form form, bool is_final, ionf_status status,
             size_t at)
{
    ionf_txt_lex x = lexer(text, len, is_final);
    ionf_txt_text out;
    CHECK_INT(ionf_txt_lex_quoted(&x, form, &out), status);
    CHECK_INT(AT(x), at);
}

#define QUOTED_ERROR(text, form, is_final, status, at)                                            \
    quoted_error("" text, sizeof(text) - 1, form, is_final, status, at)

static void
quoted_text_is_refused(void)
{
    QUOTED_ERROR("abc", IONF_TXT_STRING, true, IONF_ERR_TRUNCATED, 3);
    QUOTED_ERROR("abc", IONF_TXT_STRING, false, IONF_NEED_DATA, 3);
    QUOTED_ERROR("abc\\", IONF_TXT_STRING, false, IONF_NEED_DATA, 4);
    QUOTED_ERROR("\\u12", IONF_TXT_STRING, false, IONF_NEED_DATA, 4);
    QUOTED_ERROR("ab''", IONF_TXT_LONG, true, IONF_ERR_TRUNCATED, 4);
    QUOTED_ERROR("a\xC3", IONF_TXT_STRING, false, IONF_NEED_DATA, 2);
    QUOTED_ERROR("a\nb\"", IONF_TXT_STRING, true, IONF_ERR_SYNTAX, 1);
    QUOTED_ERROR("a\x1F\"", IONF_TXT_LONG, true, IONF_ERR_SYNTAX, 1);
    QUOTED_ERROR("a\\e\"", IONF_TXT_STRING, true, IONF_ERR_ESCAPE, 2);
    QUOTED_ERROR("\\xg0\"", IONF_TXT_STRING, true, IONF_ERR_ESCAPE, 2);
    QUOTED_ERROR("\\ud800a\"", IONF_TXT_STRING, true, IONF_ERR_ESCAPE, 6);
    QUOTED_ERROR("\\ud800\\uabcd\"", IONF_TXT_STRING, true, IONF_ERR_ESCAPE, 8);
    QUOTED_ERROR("a\\udc00\"", IONF_TXT_STRING, true, IONF_ERR_ESCAPE, 1);
    QUOTED_ERROR("\\U00110000\"", IONF_TXT_STRING, true, IONF_ERR_ESCAPE, 0);
    QUOTED_ERROR("ab\xED\xA0\x80\"", IONF_TXT_STRING, true, IONF_ERR_UTF8, 2);
    QUOTED_ERROR("ab\xC3\"", IONF_TXT_STRING, true, IONF_ERR_UTF8, 2);
    QUOTED_ERROR("ab\xC3\xA9\"", IONF_TXT_CLOB, true, IONF_ERR_LOB, 2);
    QUOTED_ERROR("\\u0041\"", IONF_TXT_CLOB, true, IONF_ERR_ESCAPE, 1);
}

static void
long_segments_are_joined(void)
{
    ionf_txt_text out;
    ionf_txt_lex x = LEXER("'''a\\n'''/*c*/'''b'''//d\n '''\xC3\xA9''' 'sym'", false);
    CHECK_INT(ionf_txt_lex_long(&x, &out), IONF_OK);
    CHECK(out.data == NULL);
    CHECK_BYTES(scratch.data + out.start, out.len, "a\nb\xC3\xA9", 5);
    CHECK(!out.is_ascii);
    CHECK_INT(AT(x), 34);
    x = LEXER("'''only''' ", true);
    CHECK_INT(ionf_txt_lex_long(&x, &out), IONF_OK);
    CHECK_BYTES(out.data, out.len, "only", 4);
    x = LEXER("'''only''' ", false);
    CHECK_INT(ionf_txt_lex_long(&x, &out), IONF_NEED_DATA);
    x = LEXER("'''\\uD83D''' '''\\uDE00'''", true);
    CHECK_INT(ionf_txt_lex_long(&x, &out), IONF_ERR_ESCAPE);
    CHECK_INT(AT(x), 9);
}

static ionf_status
number(const char *text, bool is_final, ionf_token *token, long long *at)
{
    ionf_txt_lex x = lexer(text, strlen(text), is_final);
    memset(token, 0, sizeof *token);
    const ionf_status status = ionf_txt_lex_number(&x, token);
    *at = AT(x);
    return status;
}

static void
int_check(const char *text, bool is_negative, uint64_t magnitude)
{
    ionf_token token;
    long long at;
    CHECK_INT(number(text, true, &token, &at), IONF_OK);
    CHECK_INT(token.kind, IONF_KIND_INT);
    CHECK_INT(token.as.integer.form, IONF_INT_U64);
    CHECK_INT(token.as.integer.is_negative, is_negative);
    CHECK(token.as.integer.u64 == magnitude);
}

static void
ints(void)
{
    int_check("0", false, 0);
    int_check("-0", false, 0);
    int_check("-123 ", true, 123);
    int_check("1_2_3]", false, 123);
    int_check("18446744073709551615", false, UINT64_MAX);
    int_check("0xFa_CE,", false, 0xFACE);
    int_check("-0X00000000000000000001", true, 1);
    int_check("0b1_01", false, 5);
    int_check("-0b0", false, 0);
}

static void
big_ints(void)
{
    ionf_token token;
    long long at;
    CHECK_INT(number("-18446744073709551616", true, &token, &at), IONF_OK);
    CHECK_INT(token.as.integer.form, IONF_INT_DIGITS);
    CHECK(token.as.integer.is_negative);
    CHECK_BYTES(token.as.integer.data, token.as.integer.len, "18446744073709551616", 20);
    CHECK_INT(number("123_456_789_012_345_678_901", true, &token, &at), IONF_OK);
    CHECK_BYTES(token.as.integer.data, token.as.integer.len, "123456789012345678901", 21);
    CHECK_INT(number("0x1_0000_0000_0000_0000", true, &token, &at), IONF_OK);
    CHECK_INT(token.as.integer.form, IONF_INT_BE);
    CHECK_BYTES(token.as.integer.data, token.as.integer.len, "\1\0\0\0\0\0\0\0\0", 9);
}

static void
decimal_check(const char *text, bool is_negative, uint64_t coefficient, int64_t exponent)
{
    ionf_token token;
    long long at;
    CHECK_INT(number(text, true, &token, &at), IONF_OK);
    CHECK_INT(token.kind, IONF_KIND_DECIMAL);
    CHECK_INT(token.as.decimal.coefficient.is_negative, is_negative);
    CHECK(token.as.decimal.coefficient.u64 == coefficient);
    CHECK_INT(token.as.decimal.exponent, exponent);
}

static void
decimals(void)
{
    decimal_check("0.", false, 0, 0);
    decimal_check("-0.00", true, 0, -2);
    decimal_check("123_456.789_012", false, 123456789012, -6);
    decimal_check("1.50D+3", false, 150, 1);
    decimal_check("31.d2", false, 31, 2);
    decimal_check("31d-0_1_2", false, 31, -12);
    decimal_check("1d-9223372036854775808", false, 1, INT64_MIN);
    decimal_check("1d9223372036854775807", false, 1, INT64_MAX);
}

static void
floats(void)
{
    ionf_token token;
    long long at;
    CHECK_INT(number("-1_0.5_0e-1", true, &token, &at), IONF_OK);
    CHECK_INT(token.kind, IONF_KIND_FLOAT);
    CHECK(token.as.f64 == -1.05);
    CHECK_INT(number("1e0_1", true, &token, &at), IONF_OK);
    CHECK(token.as.f64 == 10.0);
    CHECK_INT(number("3100.E0", true, &token, &at), IONF_OK);
    CHECK(token.as.f64 == 3100.0);
    CHECK_INT(number("1e99999999999999999999", true, &token, &at), IONF_OK);
    CHECK(token.as.f64 > 1.7976931348623157e308);
    CHECK_INT(number("1e-99999999999999999999", true, &token, &at), IONF_OK);
    CHECK(token.as.f64 == 0.0);
}

static void
exact_doubles(void)
{
    double value = 0;
    CHECK(!ionf_txt_double_exact(UINT64_C(1) << 53, 0, &value));
    CHECK(!ionf_txt_double_exact(1, 23, &value));
    CHECK(!ionf_txt_double_exact(1, -23, &value));
#if IONF_DOUBLE_IS_STRICT
    CHECK(ionf_txt_double_exact(123456789, -4, &value) && value == 12345.6789);
    CHECK(ionf_txt_double_exact(7, 22, &value) && value == 7e22);
#endif
}

static void
timestamps(void)
{
    ionf_token token;
    long long at;
    CHECK_INT(number("2007-02-23T12:14:33.079-08:00)", true, &token, &at), IONF_OK);
    CHECK_INT(at, 29);
    CHECK_INT(token.kind, IONF_KIND_TIMESTAMP);
    CHECK_INT(token.as.timestamp.precision, IONF_PRECISION_FRACTION);
    CHECK_INT(token.as.timestamp.offset_minutes, -480);
    CHECK_INT(number("0001T", true, &token, &at), IONF_OK);
    CHECK_INT(token.as.timestamp.year, 1);
    CHECK_INT(number("2007-02-2", false, &token, &at), IONF_NEED_DATA);
    CHECK_INT(number("2007-02-", true, &token, &at), IONF_ERR_TRUNCATED);
}

static void
number_error(const char *text, ionf_status status, long long expected_at)
{
    ionf_token token;
    long long at;
    CHECK_INT(number(text, true, &token, &at), status);
    CHECK_INT(at, expected_at);
}

static void
numbers_are_refused(void)
{
    number_error("007 ", IONF_ERR_NUMBER, 1);
    number_error("0_1 ", IONF_ERR_NUMBER, 1);
    number_error("1_ ", IONF_ERR_NUMBER, 2);
    number_error("1__2 ", IONF_ERR_NUMBER, 2);
    number_error("1_.5 ", IONF_ERR_NUMBER, 2);
    number_error("1._5 ", IONF_ERR_NUMBER, 2);
    number_error("0x_1 ", IONF_ERR_NUMBER, 2);
    number_error("0xg ", IONF_ERR_NUMBER, 2);
    number_error("0b2 ", IONF_ERR_NUMBER, 2);
    number_error("12a ", IONF_ERR_NUMBER, 2);
    number_error("1.5.2 ", IONF_ERR_NUMBER, 3);
    number_error("1e ", IONF_ERR_NUMBER, 2);
    number_error("1e_5 ", IONF_ERR_NUMBER, 2);
    number_error("1e5__0 ", IONF_ERR_NUMBER, 4);
    number_error("1e5_ ", IONF_ERR_NUMBER, 4);
    number_error("1/2", IONF_ERR_NUMBER, 1);
    number_error("1:", IONF_ERR_NUMBER, 1);
    number_error("1e", IONF_ERR_TRUNCATED, 2);
    number_error("-2007-01-01 ", IONF_ERR_NUMBER, 5);
    number_error("1d9223372036854775808 ", IONF_ERR_RANGE, 2);
    number_error("1.5d-9223372036854775808 ", IONF_ERR_RANGE, 4);
}

static void
numbers_end_at_their_stop(void)
{
    ionf_token token;
    long long at;
    CHECK_INT(number("1//", true, &token, &at), IONF_OK);
    CHECK_INT(at, 1);
    CHECK_INT(number("1/*", false, &token, &at), IONF_OK);
    CHECK_INT(number("1/", false, &token, &at), IONF_NEED_DATA);
    CHECK_INT(number("12", false, &token, &at), IONF_NEED_DATA);
    CHECK_INT(number("1\"", false, &token, &at), IONF_OK);
}

static void
lob_check(const char *text, unsigned kind, const char *value, size_t len)
{
    ionf_txt_lex x = lexer(text, strlen(text), false);
    ionf_token token;
    memset(&token, 0, sizeof token);
    CHECK_INT(ionf_txt_lex_lob(&x, &token), IONF_OK);
    CHECK_INT(AT(x), strlen(text));
    CHECK_INT(token.kind, kind);
    CHECK_BYTES(token.as.bytes.data, token.as.bytes.len, value, len);
}

static void
lobs(void)
{
    lob_check("}}", IONF_KIND_BLOB, "", 0);
    lob_check(" aG\nk = }}", IONF_KIND_BLOB, "hi", 2);
    lob_check("+AB/}}", IONF_KIND_BLOB, "\xF8\x00\x7F", 3);
    lob_check(" \"hi\" }}", IONF_KIND_CLOB, "hi", 2);
    lob_check("\"\"}}", IONF_KIND_CLOB, "", 0);
    lob_check("'''a'''\n'''\\xff''' }}", IONF_KIND_CLOB, "a\xFF", 2);
}

static void
lob_error(const char *text, bool is_final, ionf_status status, long long at)
{
    ionf_txt_lex x = lexer(text, strlen(text), is_final);
    ionf_token token;
    CHECK_INT(ionf_txt_lex_lob(&x, &token), status);
    CHECK_INT(AT(x), at);
}

static void
lobs_are_refused(void)
{
    lob_error("aGk}}", true, IONF_ERR_BASE64, 3);
    lob_error("aG-k}}", true, IONF_ERR_BASE64, 2);
    lob_error("aG-", false, IONF_ERR_BASE64, 2);
    lob_error("aGk=", true, IONF_ERR_TRUNCATED, 4);
    lob_error("aGk=", false, IONF_NEED_DATA, 4);
    lob_error("aGk=}", false, IONF_NEED_DATA, 5);
    lob_error("aGk=} }", true, IONF_ERR_LOB, 5);
    lob_error("'a'}}", true, IONF_ERR_LOB, 0);
    lob_error("\"a\" \"b\"}}", true, IONF_ERR_LOB, 4);
    lob_error("\"a\"//\n}}", true, IONF_ERR_LOB, 3);
    lob_error("'''a''' /**/ '''b'''}}", true, IONF_ERR_LOB, 8);
}

static void
null_types(void)
{
    static const char *const names[] = {"null",      "bool",   "int",    "float", "decimal",
                                        "timestamp", "symbol", "string", "clob",  "blob",
                                        "list",      "sexp",   "struct"};
    for (unsigned kind = 0; kind < sizeof names / sizeof names[0]; kind++) {
        ionf_token token;
        ionf_txt_lex x = lexer(names[kind], strlen(names[kind]), true);
        CHECK_INT(ionf_txt_lex_null_type(&x, &token), IONF_OK);
        CHECK_INT(token.kind, kind);
        CHECK(token.is_null);
    }
    ionf_token token;
    ionf_txt_lex x = LEXER("ints", true);
    CHECK_INT(ionf_txt_lex_null_type(&x, &token), IONF_ERR_SYNTAX);
    CHECK_INT(AT(x), 0);
    x = LEXER("int", false);
    CHECK_INT(ionf_txt_lex_null_type(&x, &token), IONF_NEED_DATA);
}

static void
operators_end_at_comments(void)
{
    ionf_txt_lex x = LEXER("+-*/%//c", true);
    ionf_txt_lex_operator(&x);
    CHECK_INT(AT(x), 5);
    x = LEXER("/%/*", true);
    ionf_txt_lex_operator(&x);
    CHECK_INT(AT(x), 2);
}

static void
symbol_ids(void)
{
    uint64_t sid = 7;
    CHECK(ionf_txt_lex_is_sid((const uint8_t *)"$10", 3, &sid) && sid == 10);
    CHECK(ionf_txt_lex_is_sid((const uint8_t *)"$0", 2, &sid) && sid == 0);
    CHECK(ionf_txt_lex_is_sid((const uint8_t *)"$99999999999999999999", 21, &sid));
    CHECK(sid == UINT64_MAX);
    CHECK(!ionf_txt_lex_is_sid((const uint8_t *)"$", 1, &sid));
    CHECK(!ionf_txt_lex_is_sid((const uint8_t *)"$1a", 3, &sid));
    CHECK(!ionf_txt_lex_is_sid((const uint8_t *)"_10", 3, &sid));
}

static void
cut_check(const char *bytes, size_t len, bool expected)
{
    const uint8_t *p = (const uint8_t *)bytes;
    CHECK_INT(ionf_txt_lex_is_cut(p, p + len), expected);
}

static void
cut_sequences(void)
{
    cut_check("\xC3", 1, true);
    cut_check("\xE0", 1, true);
    cut_check("\xE0\xA0", 2, true);
    cut_check("\xE0\x80", 2, false);
    cut_check("\xED\x9F", 2, true);
    cut_check("\xED\xA0", 2, false);
    cut_check("\xF0\x9F\x98", 3, true);
    cut_check("\xF4\x8F", 2, true);
    cut_check("\xF4\x90", 2, false);
    cut_check("\xC0", 1, false);
    cut_check("\xFF", 1, false);
    cut_check("\x80", 1, false);
    cut_check("a", 1, false);
    cut_check("", 0, false);
}

static void
keywords(void)
{
    CHECK_INT(ionf_txt_keyword_of((const uint8_t *)"null", 4), IONF_TXT_NULL);
    CHECK_INT(ionf_txt_keyword_of((const uint8_t *)"true", 4), IONF_TXT_TRUE);
    CHECK_INT(ionf_txt_keyword_of((const uint8_t *)"false", 5), IONF_TXT_FALSE);
    CHECK_INT(ionf_txt_keyword_of((const uint8_t *)"nan", 3), IONF_TXT_NAN);
    CHECK_INT(ionf_txt_keyword_of((const uint8_t *)"inf", 3), IONF_TXT_NO_KEYWORD);
    CHECK_INT(ionf_txt_keyword_of((const uint8_t *)"nulls", 5), IONF_TXT_NO_KEYWORD);
}

/* Everything that appends to the scratch, with each allocation failing once. */
static void
each_allocation_fails_once(void)
{
    static const char *const texts[] = {"'''a\\n'''  '''b\r'''", "'''a''' '''bc'''"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        ionf_status status = IONF_ERR_NOMEM;
        for (long long fail_at = 0; status != IONF_OK; fail_at++) {
            ct_heap heap = {.fail_at = fail_at};
            ionf_buf buf;
            ionf_buf_init(&buf, ct_heap_allocator(&heap));
            ionf_txt_lex x = lexer(texts[i], strlen(texts[i]), true);
            ionf_txt_text out;
            x.scratch = &buf;
            status = ionf_txt_lex_long(&x, &out);
            CHECK(status == IONF_OK || status == IONF_ERR_NOMEM);
            ionf_buf_destroy(&buf);
            CHECK_INT(heap.live_blocks, 0);
        }
    }
}

int
main(void)
{
    ionf_buf_init(&scratch, ionf_alloc_libc());
    RUN(each_class_has_its_bytes);
    RUN(scan_stops_at_each_position);
    RUN(scan_ignores_high_bytes_after_the_stop);
    RUN(space_passes_comments);
    RUN(space_goes_on_inside_a_comment);
    RUN(space_refuses_bad_comments);
    RUN(quoted_text_is_a_slice_of_the_input);
    RUN(quoted_text_is_decoded);
    RUN(quoted_text_is_refused);
    RUN(long_segments_are_joined);
    RUN(ints);
    RUN(big_ints);
    RUN(decimals);
    RUN(floats);
    RUN(exact_doubles);
    RUN(timestamps);
    RUN(numbers_are_refused);
    RUN(numbers_end_at_their_stop);
    RUN(lobs);
    RUN(lobs_are_refused);
    RUN(null_types);
    RUN(operators_end_at_comments);
    RUN(symbol_ids);
    RUN(cut_sequences);
    RUN(keywords);
    RUN(each_allocation_fails_once);
    ionf_buf_destroy(&scratch);
    free(held);
    return ct_end();
}
