/* Target: the number, text and base64 helpers, each against its inverse or against the C library. */
#include <math.h>

#include "fuzz.h"
#include "ionf_b64.h"

static bool
same_double(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (a != a && b != b);
}

/* digits * 10 ** exponent as strtod sees it. */
static void
check_parse(const uint8_t *data, size_t size)
{
    char text[1200];
    if (size < 3 || size > 1000) {
        return;
    }
    const size_t len = size - 2;
    const int64_t exponent = (int)(data[0] << 8 | data[1]) % 1400 - 1000;
    for (size_t i = 0; i < len; i++) {
        text[i] = (char)('0' + data[2 + i] % 10);
    }
    const double mine = ionf_num_parse_double((const uint8_t *)text, len, exponent);
    sprintf(text + len, "e%d", (int)exponent);
    FUZZ_CHECK(same_double(mine, strtod(text, NULL)));
}

static void
check_print(const uint8_t *data, size_t size)
{
    if (size < 8) {
        return;
    }
    double value;
    memcpy(&value, data, sizeof value);
    char text[IONF_DOUBLE_TEXT_MAX + 1];
    char *const end = (char *)ionf_num_print_double((uint8_t *)text, value);
    FUZZ_CHECK(end - text <= IONF_DOUBLE_TEXT_MAX);
    *end = 0;
    FUZZ_CHECK(same_double(value, strtod(text, NULL)));
    if (isfinite(value)) { /* no shorter text would do: one digit less is another number */
        char shorter[40];
        size_t digits = 0;
        const char *const stop = strchr(text, 'e');
        size_t zeros = 0;
        bool is_leading = true;
        for (const char *p = text; p != stop; p++) {
            if (*p >= '0' && *p <= '9' && !(is_leading && *p == '0')) {
                is_leading = false;
                digits++;
                zeros = *p == '0' ? zeros + 1 : 0;
            }
        }
        if (digits - zeros > 1) {
            sprintf(shorter, "%.*e", (int)(digits - zeros) - 2, value);
            FUZZ_CHECK(!same_double(value, strtod(shorter, NULL)));
        }
    }
}

static void
check_radix(const uint8_t *data, size_t size)
{
    fuzz_heap heap;
    const ionf_alloc alloc = fuzz_alloc(&heap, size);
    ionf_buf digits, bytes;
    ionf_buf_init(&digits, alloc);
    ionf_buf_init(&bytes, alloc);
    const ionf_integer integer = ionf_num_integer_from_be(data, size, false);
    FUZZ_CHECK(ionf_num_integer_to_digits(&integer, &digits) == IONF_OK);
    const ionf_integer read = ionf_num_integer_from_digits(digits.data, digits.len, false);
    FUZZ_CHECK(ionf_num_integer_to_be(&read, &bytes) == IONF_OK);
    size_t zeros = 0;
    while (zeros < size && data[zeros] == 0) {
        zeros++;
    }
    FUZZ_CHECK(bytes.len == size - zeros);
    FUZZ_CHECK(bytes.len == 0 || memcmp(bytes.data, data + zeros, bytes.len) == 0);
    for (size_t exponent = digits.len < 3 ? 0 : digits.len - 3; exponent < digits.len + 3;
         exponent++) {
        const bool is_below =
            exponent >= digits.len && !(integer.form == IONF_INT_U64 && !integer.u64);
        FUZZ_CHECK(size > 1000 || integer.u64 == 0 ||
                   ionf_num_is_below_pow10(&integer, exponent) == is_below);
    }
    ionf_buf_destroy(&digits);
    ionf_buf_destroy(&bytes);
    fuzz_heap_end(&heap);
}

static void
check_base64(const uint8_t *data, size_t size)
{
    ionf_buf text, bytes;
    ionf_buf_init(&text, ionf_alloc_libc());
    ionf_buf_init(&bytes, ionf_alloc_libc());
    size_t at = 0;
    FUZZ_CHECK(ionf_b64_encode(data, size, &text) == IONF_OK);
    FUZZ_CHECK(ionf_b64_decode(text.data, text.len, &bytes, &at) == IONF_OK);
    FUZZ_CHECK(bytes.len == size && (size == 0 || memcmp(bytes.data, data, size) == 0));
    bytes.len = 0;
    const ionf_status status = ionf_b64_decode(data, size, &bytes, &at);
    FUZZ_CHECK(status == IONF_OK || (status == IONF_ERR_BASE64 && at <= size && bytes.len == 0));
    ionf_buf_destroy(&text);
    ionf_buf_destroy(&bytes);
}

/* One code point by the table of RFC 3629; its length, 0 for none. */
static size_t
plain_utf8(const uint8_t *p, size_t left)
{
    static const uint8_t lows[] = {0x80, 0xA0, 0x80, 0x80, 0x90, 0x80};
    static const uint8_t highs[] = {0xBF, 0xBF, 0xBF, 0x9F, 0xBF, 0x8F};
    if (p[0] < 0x80) {
        return 1;
    }
    const size_t len = p[0] >= 0xF0 ? 4 : p[0] >= 0xE0 ? 3 : 2;
    if (p[0] < 0xC2 || p[0] > 0xF4 || left < len) {
        return 0;
    }
    const size_t row = p[0] == 0xE0   ? 1
                       : p[0] == 0xED ? 3
                       : p[0] == 0xF0 ? 4
                       : p[0] == 0xF4 ? 5
                                      : 0;
    if (p[1] < lows[row] || p[1] > highs[row]) {
        return 0;
    }
    for (size_t i = 2; i < len; i++) {
        if (p[i] < 0x80 || p[i] > 0xBF) {
            return 0;
        }
    }
    return len;
}

static void
check_utf8(const uint8_t *data, size_t size)
{
    size_t at = 0, count = 0;
    for (size_t len; at < size && (len = plain_utf8(data + at, size - at)) != 0; at += len) {
        count++;
    }
    ionf_utf8_info info;
    FUZZ_CHECK(ionf_utf8_check(data, size, &info) == at && info.count == count);
    const uint8_t *p = data;
    uint8_t again[4];
    while (p != data + at) {
        const uint8_t *const start = p;
        const uint32_t code_point = ionf_utf8_take(&p);
        FUZZ_CHECK(code_point <= info.max_class);
        FUZZ_CHECK(ionf_utf8_put(again, code_point) == (size_t)(p - start));
        FUZZ_CHECK(memcmp(again, start, (size_t)(p - start)) == 0);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check_parse(data, size);
    check_print(data, size);
    check_radix(data, size);
    check_base64(data, size);
    check_utf8(data, size);
    return 0;
}
