/* ionf_num.h: doubles against the C library, integers of every size, conversions both ways. */
#include <math.h>

#include "ionf_num.h"

#include "ct.h"

static ct_heap heap = {.fail_at = -1};

/* A fixed seed: a failure is there again on the next run. */
static uint64_t random_state = 88172645463325252u;

static uint64_t
next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static double
from_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint64_t
to_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* "-12.5e3" by our parser: digits and exponent taken apart as a reader does it. */
static double
parse(const char *text)
{
    static uint8_t digits[4096];
    size_t len = 0;
    long long exponent = 0;
    const bool is_negative = *text == '-';
    bool has_point = false;
    for (text += is_negative; *text != '\0' && *text != 'e'; text++) {
        if (*text == '.') {
            has_point = true;
        } else {
            digits[len++] = (uint8_t)*text;
            exponent -= has_point;
        }
    }
    exponent += *text == 'e' ? atoll(text + 1) : 0;
    const double value = ionf_num_parse_double(digits, len, exponent);
    uint64_t number;
    double scaled;
    if (len <= 19 && ionf_num_parse_u64(digits, len, &number) &&
        ionf_num_scale_double(number, exponent, &scaled)) {
        CHECK(to_bits(scaled) == to_bits(value));
    }
    return is_negative ? -value : value;
}

static void
check_parse(const char *text)
{
    const double expected = strtod(text, NULL);
    const double actual = parse(text);
    if (to_bits(actual) != to_bits(expected)) {
        fprintf(stderr, "%s reads as %.17g, expected %.17g\n", text, actual, expected);
    }
    CHECK(to_bits(actual) == to_bits(expected));
}

static void
test_parse_known(void)
{
    static const char *const texts[] = {
        "0e0",
        "0e999",
        "000e0",
        "1e0",
        "0.1",
        "0.3",
        "123.456e2",
        "9007199254740991e0",
        "9007199254740992e0",
        "9007199254740993e0",
        "9007199254740993.0",
        "9007199254740994e0",
        "9007199254740995e0",
        "18446744073709551615e0",
        "18446744073709551616e0",
        "9223372036854775808.5",
        "1e22",
        "1e23",
        "1e-22",
        "1e-23",
        "8.5e22",
        "89255e-22",
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "1.7976931348623159e308",
        "1e308",
        "1e309",
        "2e308",
        "99999999999999999999e289",
        "1e-307",
        "2.2250738585072014e-308",
        "2.2250738585072011e-308",
        "2.2250738585072012e-308",
        "2.225073858507201e-308",
        "4.9e-324",
        "5e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "2.5e-324",
        "1e-324",
        "1e-400",
        "123456789012345678901234567890e-350",
        "0.000000000000000000000000000001e40",
        "1000000000000000000000000000000000000e-36",
        "6.631236846766476e-316",
        "3.2378839133029012895883524125015321748630094e-319",
        "7.2057594037927933e16",
        "1090544144181609348671888949248e0",
        "1090544144181609348835077142190e0",
        "6250000000000000000000000000000000e-36",
        "-0e0",
        "-1.5e-7",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        check_parse(texts[i]);
    }
    CHECK(parse("1e9223372036854775807") == from_bits(0x7FFull << 52));
    CHECK(to_bits(parse("1e-9223372036854775807")) == 0);
    const uint8_t one[] = "1";
    CHECK(ionf_num_parse_double(one, 1, INT64_MAX) == from_bits(0x7FFull << 52));
    CHECK(to_bits(ionf_num_parse_double(one, 1, INT64_MIN)) == 0);
    CHECK(to_bits(ionf_num_parse_double(one, 0, 0)) == 0);
}

/* The exact text of the midpoint between a double and the next one, and its two neighbours. */
static void
check_midpoint(uint64_t bits)
{
    static char text[2000];
    const double low = from_bits(bits);
    const double high = from_bits(bits + 1);
    /* The long double holds the midpoint exactly: it has 11 bits more. */
    snprintf(text, sizeof text, "%.*Le", 780, ((long double)low + (long double)high) / 2);
    check_parse(text);
    char *const exponent = strchr(text, 'e');
    exponent[-1] = '1';
    check_parse(text);
    char tail[32];
    snprintf(tail, sizeof tail, "%s", exponent);
    memset(exponent, '0', 300);
    snprintf(exponent + 300, 40, "1%s", tail);
    check_parse(text);
}

static void
test_parse_midpoints(void)
{
    check_midpoint(0);
    check_midpoint(1);
    check_midpoint(2);
    check_midpoint((1ull << 52) - 2);
    check_midpoint((1ull << 52) - 1);
    check_midpoint(1ull << 52);
    check_midpoint(to_bits(1.0));
    check_midpoint(to_bits(9007199254740992.0));
    check_midpoint(to_bits(1.7976931348623155e308));
    for (int i = 0; i < 300; i++) {
        check_midpoint(next_random() % (0x7FEull << 52));
    }
    /* Between the greatest double and what would be the next one. */
    check_parse(
        "179769313486231580793728971405303415079934132710037826936173778980444968292764750946"
        "649017977587207096330286416692887910946555547851940402630657488671505820681908902000"
        "708383676273854845817711531764475730270069855571366959622842914819860834936475292719"
        "074168444365510704342711559699508093042880e0");
    check_parse(
        "179769313486231580793728971405303415079934132710037826936173778980444968292764750946"
        "649017977587207096330286416692887910946555547851940402630657488671505820681908902000"
        "708383676273854845817711531764475730270069855571366959622842914819860834936475292719"
        "074168444365510704342711559699508093042879.9e0");
}

/* Any bit pattern, with exponents near 1 and whole numbers more often than chance has them. */
static double
random_double(unsigned i)
{
    uint64_t bits = next_random();
    if (i % 4 == 1) {
        bits = (bits & ~(0x7FFull << 52)) | (1000 + next_random() % 64) << 52;
    } else if (i % 4 == 2) {
        bits = (bits & (0xFFFull << 52)) | next_random() % 3;
    } else if (i % 4 == 3) {
        return (double)(int64_t)(next_random() >> (next_random() % 64)) / 1000;
    }
    return from_bits((bits >> 52 & 0x7FF) == 0x7FF ? bits ^ 1ull << 60 : bits);
}

static void
test_parse_random(void)
{
    for (unsigned i = 0; i < CT_ROUNDS(100000); i++) {
        const double value = random_double(i);
        char text[64];
        snprintf(text, sizeof text, "%.17g", value);
        CHECK(to_bits(parse(text)) == to_bits(value));
        snprintf(text, sizeof text, "%.*e", (int)(i % 30), value);
        check_parse(text);
    }
}

static void
check_print(double value, const char *text)
{
    uint8_t printed[IONF_DOUBLE_TEXT_MAX];
    const size_t len = (size_t)(ionf_num_print_double(printed, value) - printed);
    if (len != strlen(text) || memcmp(printed, text, len) != 0) {
        fprintf(stderr, "%.17g prints as %.*s, expected %s\n", value, (int)len, printed, text);
    }
    CHECK_BYTES(printed, len, text, strlen(text));
}

static void
test_print_known(void)
{
    check_print(0.0, "0e0");
    check_print(-0.0, "-0e0");
    check_print(1.0, "1e0");
    check_print(-1.5, "-1.5e0");
    check_print(123.25, "123.25e0");
    check_print(0.1, "0.1e0");
    check_print(0.001, "0.001e0");
    check_print(0.0001, "0.0001e0");
    check_print(0.00001, "1e-5");
    check_print(0.000012345, "1.2345e-5");
    check_print(1.5e-7, "1.5e-7");
    check_print(100.0, "100e0");
    check_print(1000000.0, "1000000e0");
    check_print(1e15, "1000000000000000e0");
    check_print(9007199254740991.0, "9007199254740991e0");
    check_print(9007199254740993.0, "9007199254740992e0");
    check_print(1e16, "1e16");
    check_print(12345678901234567000.0, "1.2345678901234567e19");
    check_print(1e22, "1e22");
    check_print(1e23, "1e23");
    check_print(9.5e-3, "0.0095e0");
    check_print(1.7976931348623157e308, "1.7976931348623157e308");
    check_print(-2.2250738585072014e-308, "-2.2250738585072014e-308");
    check_print(5e-324, "5e-324");
    check_print(2e-323, "2e-323");
    check_print(4.35, "4.35e0");
    /* The nearest decimals of the shortest length are equally near: the even one. */
    check_print(1125899906842624.25, "1125899906842624.2e0");
    check_print(1125899906842624.75, "1125899906842624.8e0");
    check_print(-1688849860263926.25, "-1688849860263926.2e0");
    /* A shorter decimal lies on the very end of the interval, which belongs to it or does not. */
    check_print(18014398509481992.0, "1.801439850948199e16");
    check_print(18014398509481996.0, "1.8014398509481996e16");
    /* A carry through all the digits. */
    check_print(from_bits(0x3FEFFFFFFFFFFFFFull), "0.9999999999999999e0");
    check_print(9.9999999999999995e22, "1e23");
    check_print(99999999999999.98, "99999999999999.98e0");
    /* Powers of two: the interval is narrower below. */
    check_print(0x1p-10, "0.0009765625e0");
    check_print(0x1p-20, "9.5367431640625e-7");
    check_print(0x1p70, "1.1805916207174113e21");
    check_print(0x1p-1022, "2.2250738585072014e-308");
    check_print(2.0 / 3, "0.6666666666666666e0");
    check_print(9007199254740992.0 * 2, "1.8014398509481984e16");
    check_print(from_bits(0x7FFull << 52), "+inf");
    check_print(from_bits(0xFFFull << 52), "-inf");
    check_print(from_bits(0x7FF8ull << 48), "nan");
    check_print(from_bits(0xFFF0000000000001ull), "nan");
}

/* "12.5e0" for the digits 125 with `point` of them before the point, as the header has it. */
static void
lay_out(char *text, const char *digits, int count, int point)
{
    if (point < -3 || point > 16) {
        sprintf(text, "%c%s%se%d", digits[0], count > 1 ? "." : "", digits + 1, point - 1);
    } else if (point <= 0) {
        sprintf(text, "0.%.*s%se0", -point, "000", digits);
    } else if (point < count) {
        sprintf(text, "%.*s.%se0", point, digits, digits + point);
    } else {
        sprintf(text, "%s%.*se0", digits, point - count, "000000000000000");
    }
}

/* Up to 15 digits come back as they are; the point at each place among them and beyond. */
static void
test_print_layouts(void)
{
    for (unsigned i = 0; i < CT_ROUNDS(100000); i++) {
        char digits[20], number[40], text[60];
        const int count = 1 + (int)(i % 15);
        digits[0] = (char)('1' + next_random() % 9);
        for (int d = 1; d < count; d++) {
            digits[d] = (char)('0' + next_random() % (d == count - 1 ? 9 : 10));
        }
        digits[count - 1] = (char)(digits[count - 1] + (count > 1));
        digits[count] = '\0';
        const int point = (int)(i / 15 % 28) - 8;
        sprintf(number, "%se%d", digits, point - count);
        lay_out(text + 1, digits, count, point);
        check_print(strtod(number, NULL), text + 1);
        text[0] = '-';
        check_print(-strtod(number, NULL), text);
    }
}

/* Some machines have no wider type, and valgrind computes as if this one had none. */
static bool
long_double_is_wider(void)
{
    const volatile long double one = 1, little = 1e-18L;
    return one + little != one;
}

/* Reads back; no shorter text does; and of that length none is nearer. */
static void
check_shortest(double value)
{
    char text[IONF_DOUBLE_TEXT_MAX + 1];
    *ionf_num_print_double((uint8_t *)text, value) = '\0';
    bool is_right = to_bits(strtod(text, NULL)) == to_bits(value);
    int count = 0;
    int zeros = 0;
    for (const char *p = text; *p != 'e'; p++) {
        if (*p >= '0' && *p <= '9' && (count != 0 || *p != '0')) {
            count++;
            zeros = *p == '0' ? zeros + 1 : 0;
        }
    }
    count -= zeros;
    if (count > 1) {
        char shorter[64];
        snprintf(shorter, sizeof shorter, "%.*e", count - 2, value);
        is_right = is_right && strtod(shorter, NULL) != value;
    }
    if (count > 0 && long_double_is_wider()) {
        char nearest[64], ours[64];
        snprintf(nearest, sizeof nearest, "%.*e", count - 1, value);
        snprintf(ours, sizeof ours, "%.*Le", count - 1, strtold(text, NULL));
        is_right = is_right && (strcmp(nearest, ours) == 0 || strtod(nearest, NULL) != value);
    }
    if (!is_right) {
        fprintf(stderr, "%.17g prints as %s\n", value, text);
    }
    CHECK(is_right);
}

static void
test_print_random(void)
{
    for (unsigned i = 0; i < CT_ROUNDS(100000); i++) {
        check_shortest(random_double(i));
        /* Near 2 ** 52 ties are common, and so are decimals on the ends of the interval. */
        check_shortest(ldexp((double)(1ull << 52 | next_random() >> 12), (int)(i % 16) - 4));
    }
    for (uint64_t biased = 1; biased < 0x7FF; biased++) {
        check_shortest(from_bits(biased << 52));
        check_shortest(from_bits((biased << 52) + 1));
        check_shortest(from_bits((biased << 52) - 1));
    }
}

/* Without the C library, so that there is time for many more. */
static void
test_print_parse_random(void)
{
    size_t wrong = 0;
    for (unsigned i = 0; i < CT_ROUNDS(2000000); i++) {
        const double value = random_double(i);
        char text[IONF_DOUBLE_TEXT_MAX + 1];
        *ionf_num_print_double((uint8_t *)text, value) = '\0';
        wrong += to_bits(parse(text)) != to_bits(value);
    }
    CHECK_INT(wrong, 0);
}

static void
check_u64(uint64_t value)
{
    char expected[32];
    uint8_t printed[IONF_U64_TEXT_MAX];
    const int len = snprintf(expected, sizeof expected, "%llu", (unsigned long long)value);
    CHECK_BYTES(printed, ionf_num_print_u64(printed, value), expected, len);
    uint64_t read = 0;
    CHECK(ionf_num_parse_u64(printed, (size_t)len, &read));
    CHECK(read == value);
}

static void
test_u64(void)
{
    uint64_t power = 1;
    for (int i = 0; i < 20; i++, power *= 10) {
        check_u64(power);
        check_u64(power - 1);
        check_u64(power + 1);
    }
    for (int i = 0; i < 64; i++) {
        check_u64(1ull << i);
        check_u64((1ull << i) - 1);
        check_u64(next_random() >> i);
    }
    check_u64(UINT64_MAX);
}

static void
test_u64_limits(void)
{
    static const struct {
        const char *text;
        bool fits;
        uint64_t value;
    } rows[] = {{"", true, 0},
                {"0", true, 0},
                {"0000000000000000000000000000000", true, 0},
                {"00000000000000000000000000000000042", true, 42},
                {"018446744073709551615", true, UINT64_MAX},
                {"18446744073709551616", false, 0},
                {"18446744073709551620", false, 0},
                {"99999999999999999999", false, 0},
                {"100000000000000000000", false, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t value = 7;
        const uint8_t *const text = (const uint8_t *)rows[i].text;
        CHECK_INT(ionf_num_parse_u64(text, strlen(rows[i].text), &value), rows[i].fits);
        CHECK(value == (rows[i].fits ? rows[i].value : 7));
    }
}

/* Digits to an ionf_integer to bytes, and the bytes back to digits. */
static void
check_integer(const char *digits, const char *bytes, size_t len, ionf_int_form form)
{
    ionf_buf out;
    ionf_buf_init(&out, ct_heap_allocator(&heap));
    CHECK_INT(ionf_buf_push(&out, '>'), IONF_OK);
    char padded[100];
    const int padded_len = snprintf(padded, sizeof padded, "000%s", digits);
    const ionf_integer number =
        ionf_num_integer_from_digits((const uint8_t *)padded, (size_t)padded_len, true);
    CHECK_INT(number.form, form);
    CHECK(number.is_negative);
    CHECK_INT(ionf_num_integer_to_be(&number, &out), IONF_OK);
    CHECK_BYTES(out.data + 1, out.len - 1, bytes, len);
    out.len = 1;
    CHECK_INT(ionf_num_integer_to_digits(&number, &out), IONF_OK);
    CHECK_BYTES(out.data + 1, out.len - 1, digits, strlen(digits));

    uint8_t padded_bytes[40] = {0};
    memcpy(padded_bytes + 3, bytes, len);
    const ionf_integer back = ionf_num_integer_from_be(padded_bytes, len + 3, false);
    CHECK_INT(back.form, form == IONF_INT_U64 ? IONF_INT_U64 : IONF_INT_BE);
    CHECK(!back.is_negative);
    out.len = 1;
    CHECK_INT(ionf_num_integer_to_digits(&back, &out), IONF_OK);
    CHECK_BYTES(out.data + 1, out.len - 1, digits, strlen(digits));
    out.len = 1;
    CHECK_INT(ionf_num_integer_to_be(&back, &out), IONF_OK);
    CHECK_BYTES(out.data + 1, out.len - 1, bytes, len);
    ionf_buf_destroy(&out);
}

static void
test_integers(void)
{
    check_integer("0", "", 0, IONF_INT_U64);
    check_integer("1", "\x01", 1, IONF_INT_U64);
    check_integer("256", "\x01\x00", 2, IONF_INT_U64);
    check_integer("18446744073709551615", "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 8, IONF_INT_U64);
    check_integer("18446744073709551616", "\x01\0\0\0\0\0\0\0\0", 9, IONF_INT_DIGITS);
    check_integer("1000000000000000000000000000000",
                  "\x0C\x9F\x2C\x9C\xD0\x46\x74\xED\xEA\x40\x00\x00\x00", 13, IONF_INT_DIGITS);
    check_integer("340282366920938463463374607431768211455",
                  "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 16,
                  IONF_INT_DIGITS);
}

/* value = value * 10 + digit, byte by byte: slow, and plainly right. */
static size_t
plain_be(const uint8_t *digits, size_t len, uint8_t *bytes, size_t size)
{
    memset(bytes, 0, size);
    size_t used = 0;
    for (size_t i = 0; i < len; i++) {
        unsigned carry = digits[i] - (unsigned)'0';
        for (size_t at = 0; at < used || carry != 0; at++) {
            carry += bytes[size - 1 - at] * 10u;
            bytes[size - 1 - at] = (uint8_t)carry;
            carry >>= 8;
            used = at + 1 > used ? at + 1 : used;
        }
    }
    return used;
}

static void
check_big(const uint8_t *digits, size_t len)
{
    static uint8_t plain[2000];
    const size_t used = plain_be(digits, len, plain, sizeof plain);
    ionf_buf bytes, text;
    ionf_buf_init(&bytes, ct_heap_allocator(&heap));
    ionf_buf_init(&text, ct_heap_allocator(&heap));
    const ionf_integer number = ionf_num_integer_from_digits(digits, len, false);
    CHECK_INT(ionf_num_integer_to_be(&number, &bytes), IONF_OK);
    CHECK_BYTES(bytes.data, bytes.len, plain + sizeof plain - used, used);
    const ionf_integer back = ionf_num_integer_from_be(bytes.data, bytes.len, false);
    CHECK_INT(ionf_num_integer_to_digits(&back, &text), IONF_OK);
    CHECK_BYTES(text.data, text.len, digits, len);
    ionf_buf_destroy(&bytes);
    ionf_buf_destroy(&text);
}

/* Around each size at which the conversion takes another block or level, and extreme digits. */
static void
test_big_conversions(void)
{
    static uint8_t digits[3000];
    static const size_t sizes[] = {21,  40,  278, 279, 280, 305, 306,  307,  557,  560,
                                   611, 612, 613, 838, 918, 919, 1224, 1225, 1500, 2449};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (int kind = 0; kind < 4; kind++) {
            for (size_t at = 0; at < sizes[i]; at++) {
                const uint8_t random = (uint8_t)('0' + next_random() % 10);
                const uint8_t zeros = at == 0 ? '1' : '0';
                digits[at] = kind == 0 ? '9' : kind == 1 ? zeros : random;
            }
            digits[0] = digits[0] == '0' ? '7' : digits[0];
            check_big(digits, sizes[i]);
        }
    }
}

/* Sizes that the plain method would not finish: there and back, and a power that is known. */
static void
test_huge_conversions(void)
{
    enum { size = 50000 };
    static uint8_t digits[size];
    for (int kind = 0; kind < 2; kind++) {
        for (size_t at = 0; at < size; at++) {
            digits[at] = kind == 0 ? '9' : (uint8_t)('1' + next_random() % 9);
        }
        ionf_buf bytes, text;
        ionf_buf_init(&bytes, ct_heap_allocator(&heap));
        ionf_buf_init(&text, ct_heap_allocator(&heap));
        const ionf_integer number = ionf_num_integer_from_digits(digits, size, false);
        CHECK_INT(ionf_num_integer_to_be(&number, &bytes), IONF_OK);
        CHECK(bytes.len == 20763 || (kind == 1 && bytes.len == 20762));
        const ionf_integer back = ionf_num_integer_from_be(bytes.data, bytes.len, false);
        CHECK_INT(ionf_num_integer_to_digits(&back, &text), IONF_OK);
        CHECK_BYTES(text.data, text.len, digits, size);
        ionf_buf_destroy(&bytes);
        ionf_buf_destroy(&text);
    }
}

static void
check_radix(const char *digits, unsigned radix, const char *bytes, size_t len)
{
    ionf_buf out;
    ionf_buf_init(&out, ct_heap_allocator(&heap));
    CHECK_INT(ionf_buf_push(&out, '>'), IONF_OK);
    CHECK_INT(ionf_num_radix_to_be((const uint8_t *)digits, strlen(digits), radix, &out), IONF_OK);
    CHECK_BYTES(out.data + 1, out.len - 1, bytes, len);
    ionf_buf_destroy(&out);
}

static void
test_radix(void)
{
    check_radix("0", 16, "", 0);
    check_radix("000", 2, "", 0);
    check_radix("f", 16, "\x0F", 1);
    check_radix("BEEF", 16, "\xBE\xEF", 2);
    check_radix("00aBcDe", 16, "\x0A\xBC\xDE", 3);
    check_radix("0123456789abcdefABCDEF", 16, "\x01\x23\x45\x67\x89\xAB\xCD\xEF\xAB\xCD\xEF", 11);
    check_radix("1", 2, "\x01", 1);
    check_radix("0101", 2, "\x05", 1);
    check_radix("11111111", 2, "\xFF", 1);
    check_radix("100000000", 2, "\x01\x00", 2);
    check_radix("010100000011", 2, "\x05\x03", 2);
}

static void
check_below(const char *digits, uint64_t exponent, bool is_below)
{
    ionf_buf bytes;
    ionf_buf_init(&bytes, ct_heap_allocator(&heap));
    const ionf_integer number =
        ionf_num_integer_from_digits((const uint8_t *)digits, strlen(digits), false);
    CHECK_INT(ionf_num_is_below_pow10(&number, exponent), is_below);
    CHECK_INT(ionf_num_integer_to_be(&number, &bytes), IONF_OK);
    const ionf_integer back = ionf_num_integer_from_be(bytes.data, bytes.len, false);
    CHECK_INT(ionf_num_is_below_pow10(&back, exponent), is_below);
    ionf_buf_destroy(&bytes);
}

static void
test_below_pow10(void)
{
    check_below("0", 0, true);
    check_below("1", 0, false);
    check_below("9", 1, true);
    check_below("10", 1, false);
    check_below("9999999999999999999", 19, true);
    check_below("10000000000000000000", 19, false);
    check_below("18446744073709551615", 20, true);
    check_below("18446744073709551616", 20, true);
    check_below("18446744073709551616", 19, false);
    check_below("100000000000000000000", 20, false);
    check_below("100000000000000000000", 0, false);
    check_below("100000000000000000000", UINT64_MAX, true);
    static char digits[2600];
    for (size_t len = 21; len <= 2466; len += len < 60 ? 1 : 401) {
        memset(digits, '9', len);
        digits[len] = '\0';
        check_below(digits, len, true);
        check_below(digits, len - 1, false);
        memset(digits, '0', len);
        digits[0] = '1';
        check_below(digits, len, true);
        check_below(digits, len - 1, false);
    }
}

/* The remainder by 10 ** 9 + 7 of digits (scale 10) or bytes (scale 256). */
static uint64_t
remainder_of(const uint8_t *p, size_t len, unsigned scale)
{
    uint64_t value = 0;
    for (size_t i = 0; i < len; i++) {
        value = (value * scale + (scale == 10 ? p[i] - (unsigned)'0' : p[i])) % 1000000007u;
    }
    return value;
}

/* Sizes at which products are made by the transform: all bits set, where columns and carries are
 * largest, and random ones. */
static void
test_transformed_conversions(void)
{
    static uint8_t bytes[70001];
    static const size_t sizes[] = {2047, 2048, 4096, 4100, 8192, 9001, 33000, 70001};
    ionf_buf digits, back;
    ionf_buf_init(&digits, ct_heap_allocator(&heap));
    ionf_buf_init(&back, ct_heap_allocator(&heap));
    for (size_t i = 0; i < 2 * sizeof sizes / sizeof *sizes; i++) {
        const size_t len = sizes[i / 2];
        uint32_t random = 12345;
        for (size_t at = 0; at < len; at++) {
            random = random * 1664525u + 1013904223u;
            bytes[at] = i % 2 == 0 ? 0xFF : (uint8_t)(random >> 24 | 1u);
        }
        const ionf_integer number = ionf_num_integer_from_be(bytes, len, false);
        digits.len = back.len = 0;
        CHECK_INT(ionf_num_integer_to_digits(&number, &digits), IONF_OK);
        CHECK_INT(remainder_of(digits.data, digits.len, 10), remainder_of(bytes, len, 256));
        const ionf_integer text = ionf_num_integer_from_digits(digits.data, digits.len, false);
        CHECK_INT(ionf_num_integer_to_be(&text, &back), IONF_OK);
        CHECK_BYTES(back.data, back.len, bytes, len);
    }
    ionf_buf_destroy(&digits);
    ionf_buf_destroy(&back);
}

/* Past the exact size only what the length decides is known. */
static void
test_below_pow10_beyond(void)
{
    static uint8_t bytes[2000];
    memset(bytes, 0xFF, sizeof bytes);
    const ionf_integer number = ionf_num_integer_from_be(bytes, sizeof bytes, false);
    CHECK(ionf_num_is_below_pow10(&number, 4817));
    CHECK(!ionf_num_is_below_pow10(&number, 4816));
    CHECK(!ionf_num_is_below_pow10(&number, 4815));
    memset(bytes, 0, sizeof bytes);
    const ionf_integer zero = {.data = bytes, .len = sizeof bytes, .form = IONF_INT_BE};
    CHECK(ionf_num_is_below_pow10(&zero, 0));
}

static ionf_status
convert_both_ways(ionf_buf *out, const uint8_t *digits, size_t len)
{
    const ionf_integer number = ionf_num_integer_from_digits(digits, len, false);
    const size_t start = out->len;
    ionf_status status = ionf_num_integer_to_be(&number, out);
    if (status != IONF_OK) {
        CHECK_INT(out->len, start);
        return status;
    }
    const size_t middle = out->len;
    /* A copy, as `out` may move under what it converts. */
    static uint8_t copy[20000];
    memcpy(copy, out->data + start, middle - start);
    const ionf_integer back = ionf_num_integer_from_be(copy, middle - start, false);
    status = ionf_num_integer_to_digits(&back, out);
    if (status == IONF_OK) {
        CHECK_BYTES(out->data + middle, out->len - middle, digits, len);
        status = ionf_num_radix_to_be(digits, len, 16, out);
    } else {
        CHECK_INT(out->len, middle);
    }
    return status;
}

static void
test_each_allocation_fails(void)
{
    static uint8_t digits[20000];
    memset(digits, '7', sizeof digits);
    static const size_t sizes[] = {5, 30, 1000, 20000};
    for (size_t i = 0; i < 4; i++) {
        ionf_status status = IONF_ERR_NOMEM;
        for (long long fail_at = 0; status != IONF_OK; fail_at++) {
            ct_heap failing = {.fail_at = fail_at};
            ionf_buf out;
            ionf_buf_init(&out, ct_heap_allocator(&failing));
            status = convert_both_ways(&out, digits, sizes[i]);
            CHECK(status == IONF_OK || status == IONF_ERR_NOMEM);
            ionf_buf_destroy(&out);
            CHECK_INT(failing.live_bytes, 0);
        }
    }
}

int
main(void)
{
    RUN(test_parse_known);
    RUN(test_parse_midpoints);
    RUN(test_parse_random);
    RUN(test_print_known);
    RUN(test_print_layouts);
    RUN(test_print_random);
    RUN(test_print_parse_random);
    RUN(test_u64);
    RUN(test_u64_limits);
    RUN(test_integers);
    RUN(test_big_conversions);
    RUN(test_huge_conversions);
    RUN(test_transformed_conversions);
    RUN(test_radix);
    RUN(test_below_pow10);
    RUN(test_below_pow10_beyond);
    RUN(test_each_allocation_fails);
    CHECK_INT(heap.live_bytes, 0);
    return ct_end();
}
