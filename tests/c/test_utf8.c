/* ionf_utf8.h: every code point both ways, everything that RFC 3629 refuses, every position of
 * a fault. */
#include "ionf_utf8.h"
#include "ionf_widen.h"

#include "ct.h"

static void
check_valid(const char *text, size_t count, uint32_t max_class)
{
    const size_t len = strlen(text);
    ionf_utf8_info info;
    CHECK_INT(ionf_utf8_check((const uint8_t *)text, len, &info), len);
    CHECK_INT(info.count, count);
    CHECK_INT(info.max_class, max_class);
    CHECK_INT(ionf_utf8_check((const uint8_t *)text, len, NULL), len);
    CHECK_INT(ionf_utf8_is_ascii((const uint8_t *)text, len), max_class == 0x7F);
    ionf_utf8_info measured;
    ionf_utf8_measure((const uint8_t *)text, len, &measured);
    CHECK_INT(measured.count, count);
    CHECK_INT(measured.max_class, max_class);
}

static void
test_measure(void)
{
    check_valid("", 0, 0x7F);
    check_valid("plain", 5, 0x7F);
    check_valid("just seventeen!!!", 17, 0x7F);
    check_valid("caf\xC3\xA9", 4, 0xFF);
    check_valid("\xC3\xBF", 1, 0xFF);
    check_valid("\xC4\x80", 1, 0xFFFF);
    check_valid("\xE2\x82\xAC 5", 3, 0xFFFF);
    check_valid("\xEF\xBF\xBF", 1, 0xFFFF);
    check_valid("ab\xF0\x9F\x98\x80\xC3\xA9", 4, 0x10FFFF);
}

/* The same behind runs of sequences of each length, which have loops of their own. */
static void
check_fault_in_runs(const char *text, size_t len, size_t valid)
{
    static const char *const units[] = {"\xC3\xA9", "\xE6\x97\xA5", "\xF0\x9F\x98\x80"};
    uint8_t buffer[128];
    for (size_t unit = 0; unit < 3; unit++) {
        const size_t unit_len = unit + 2;
        for (size_t repeats = 1; repeats < 8; repeats++) {
            size_t lead = 0;
            for (size_t i = 0; i < repeats; i++, lead += unit_len) {
                memcpy(buffer + lead, units[unit], unit_len);
            }
            memcpy(buffer + lead, text, len);
            CHECK_INT(ionf_utf8_check(buffer, lead + len, NULL), lead + valid);
            memset(buffer + lead + len, 'b', 8);
            CHECK_INT(ionf_utf8_check(buffer, lead + len + 8, NULL), lead + valid);
        }
    }
}

/* The fault stands after `valid` good bytes, and after runs of ASCII that move it over word
 * borders. */
static void
check_fault(const char *text, size_t len, size_t valid)
{
    uint8_t buffer[64];
    check_fault_in_runs(text, len, valid);
    for (size_t lead = 0; lead < 40; lead++) {
        memset(buffer, 'a', lead);
        memcpy(buffer + lead, text, len);
        ionf_utf8_info info;
        CHECK_INT(ionf_utf8_check(buffer, lead + len, &info), lead + valid);
        memset(buffer + lead + len, 'b', 16);
        CHECK_INT(ionf_utf8_check(buffer, lead + len + 16, NULL), lead + valid);
        CHECK(!ionf_utf8_is_ascii(buffer, lead + len));
    }
}

static void
test_faults(void)
{
    check_fault("\x80", 1, 0);
    check_fault("\xBF", 1, 0);
    check_fault("\xC0\x80", 2, 0);
    check_fault("\xC1\xBF", 2, 0);
    check_fault("\xC2", 1, 0);
    check_fault("\xC2\x41", 2, 0);
    check_fault("\xE0\x9F\xBF", 3, 0);
    check_fault("\xE1\x80", 2, 0);
    check_fault("\xE1\x80\xC0", 3, 0);
    check_fault("\xED\xA0\x80", 3, 0);
    check_fault("\xED\xBF\xBF", 3, 0);
    check_fault("\xF0\x8F\xBF\xBF", 4, 0);
    check_fault("\xF1\x80\x80", 3, 0);
    check_fault("\xF1\x80\x80\x7F", 4, 0);
    check_fault("\xF4\x90\x80\x80", 4, 0);
    check_fault("\xF5\x80\x80\x80", 4, 0);
    check_fault("\xFF", 1, 0);
    check_fault("\xC3\xA9\xFF", 3, 2);
    check_fault("\xE2\x82\xAC\xE2\x82", 5, 3);
}

static void
test_every_code_point(void)
{
    for (uint32_t code_point = 0; code_point <= 0x10FFFF; code_point++) {
        if (code_point - 0xD800u < 0x800u) {
            continue;
        }
        uint8_t bytes[4];
        const size_t len = ionf_utf8_put(bytes, code_point);
        const uint8_t *p = bytes;
        ionf_utf8_info info;
        if (ionf_utf8_check(bytes, len, &info) != len || info.count != 1 ||
            code_point > info.max_class || ionf_utf8_take(&p) != code_point || p != bytes + len) {
            fprintf(stderr, "U+%04X\n", code_point);
            CHECK(!"code point survives");
        }
    }
    CHECK_INT(ionf_utf8_put((uint8_t[4]){0}, 0x10FFFF), 4);
}

/* Text of `len` bytes at least, of code points up to `max`, and the code points themselves. */
static size_t
make_text(uint32_t seed, uint32_t max, size_t len, uint8_t *text, uint32_t *code_points,
          size_t *count)
{
    size_t at = 0;
    *count = 0;
    while (at < len) {
        seed = seed * 1664525u + 1013904223u;
        uint32_t code_point = seed >> 28 < 9 ? 'a' + (seed >> 8) % 26 : (seed >> 8) % (max + 1);
        if (code_point - 0xD800u < 0x800u) {
            code_point = 0xD7FF;
        }
        code_points[(*count)++] = code_point;
        at += ionf_utf8_put(text + at, code_point);
    }
    return at;
}

static void
test_widen(void)
{
    static const uint32_t maxima[] = {0x7F, 0xFF, 0xFFFF, 0x10FFFF};
    static uint8_t text[128], narrow[128];
    static uint16_t middle[128];
    static uint32_t wide[128], expected[128];
    for (uint32_t seed = 0; seed < 2000; seed++) {
        const uint32_t max = maxima[seed % 4];
        size_t count;
        const size_t len = make_text(seed, max, seed % 100, text, expected, &count);
        ionf_utf8_info info;
        CHECK_INT(ionf_utf8_check(text, len, &info), len);
        CHECK_INT(info.count, count);
        ionf_utf8_info measured;
        ionf_utf8_measure(text, len, &measured);
        CHECK_INT(measured.count, count);
        CHECK_INT(measured.max_class, info.max_class);
        ionf_utf8_to_ucs4(text, len, wide);
        ionf_utf8_to_ucs2(text, len, middle);
        ionf_utf8_to_ucs1(text, max <= 0xFF ? len : 0, narrow);
        CHECK(memcmp(wide, expected, count * sizeof *wide) == 0);
        for (size_t i = 0; i < count; i++) {
            CHECK(max > 0xFFFF || middle[i] == expected[i]);
            CHECK(max > 0xFF || narrow[i] == expected[i]);
        }
    }
}

/* One pass does what checking and widening do, up to the first sequence that is wrong or too great. */
static void
check_decode_bmp(const uint8_t *text, size_t len)
{
    static uint16_t units[128 + IONF_WIDEN_BLOCK];
    static uint32_t wide[128];
    size_t valid = ionf_utf8_check(text, len, NULL), limit = 0;
    ionf_utf8_info info;
    while (limit < valid && text[limit] < 0xF0) {
        limit++;
    }
    CHECK_INT(ionf_utf8_check(text, limit, &info), limit);
    ionf_utf8_to_ucs4(text, limit, wide);
    size_t count;
    uint32_t all, expected = 0;
    CHECK_INT(ionf_utf8_decode_bmp(text, len, units, &count, &all), limit);
    CHECK_INT(count, info.count);
    for (size_t i = 0; i < count && i < info.count; i++) {
        CHECK_INT(units[i], wide[i]);
        expected |= wide[i] < 0x80 ? 0 : wide[i];
    }
    CHECK_INT(all >= 0x100, expected >= 0x100);
}

static void
test_decode_bmp(void)
{
    static const uint32_t maxima[] = {0x7F, 0xFF, 0x7FF, 0xFFFF, 0x10FFFF};
    static uint8_t text[128];
    static uint32_t code_points[128];
    uint32_t random = 1;
    for (uint32_t seed = 0; seed < 5000; seed++) {
        size_t count;
        const size_t len =
            make_text(seed, maxima[seed % 5], seed % 100, text, code_points, &count);
        check_decode_bmp(text, len);
        for (int i = 0; i < 8 && len != 0; i++) {
            random = random * 1664525u + 1013904223u;
            const size_t at = (random >> 8) % len;
            const uint8_t was = text[at];
            text[at] = (uint8_t)(random >> 24);
            check_decode_bmp(text, len);
            check_decode_bmp(text, at);
            text[at] = was;
        }
    }
}

/* The length of the valid sequence of three bytes at `p`, or 0; by RFC 3629's table. */
static size_t
plain_triple(const uint8_t *p, size_t left)
{
    if (left < 3 || (p[0] & 0xF0) != 0xE0 || (p[1] & 0xC0) != 0x80 || (p[2] & 0xC0) != 0x80 ||
        (p[0] == 0xE0 && p[1] < 0xA0) || (p[0] == 0xED && p[1] > 0x9F)) {
        return 0;
    }
    return 3;
}

/* Runs of three-byte sequences, which are taken four at a time: one byte is another's at each place. */
static void
test_runs_of_triples(void)
{
    static const uint32_t code_points[] = {0x800, 0xD7FF, 0xE000, 0xFFFF, 0x6771, 0xFEFF, 0xFFD};
    static const uint8_t others[] = {0x00, 0x41, 0x7F, 0x80, 0x9F, 0xA0, 0xBF, 0xC2,
                                     0xDF, 0xE0, 0xE1, 0xED, 0xEE, 0xEF, 0xF0, 0xFF};
    uint8_t text[72];
    size_t len = 0;
    for (size_t i = 0; len + 3 <= sizeof text; i++) {
        len += ionf_utf8_put(text + len, code_points[i % 7]);
    }
    for (size_t at = 0; at < len; at++) {
        const uint8_t was = text[at];
        for (size_t other = 0; other < sizeof others; other++) {
            text[at] = others[other];
            for (size_t cut = at / 3 * 3 + 1; cut <= len; cut += cut % 3 == 0 ? 7 : 1) {
                size_t valid = 0;
                for (size_t step; (step = plain_triple(text + valid, cut - valid)) != 0;) {
                    valid += step;
                }
                const size_t found = ionf_utf8_check(text, cut, NULL);
                CHECK(found >= valid);
                CHECK(found == valid || text[valid] < 0x80 || (text[valid] & 0xF0) != 0xE0);
                check_decode_bmp(text, cut);
            }
            text[at] = was;
        }
    }
}

int
main(void)
{
    RUN(test_runs_of_triples);
    RUN(test_decode_bmp);
    RUN(test_measure);
    RUN(test_faults);
    RUN(test_every_code_point);
    RUN(test_widen);
    return ct_end();
}
