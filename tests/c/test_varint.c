/* ionf_varint.h: every size both ways, padding, -0, the ends of the range, truncation. */
#include "ionf_varint.h"

#include "ct.h"

static void
check_varuint(uint64_t value, const char *bytes, size_t len)
{
    uint8_t written[IONF_VARUINT_MAX_SIZE];
    CHECK_INT(ionf_varuint_size(value), len);
    CHECK_BYTES(written, ionf_varuint_put(written, value) - written, bytes, len);

    const uint8_t *p = (const uint8_t *)bytes;
    uint64_t read = 1;
    CHECK_INT(ionf_varuint_read(&p, p + len, &read), IONF_OK);
    CHECK(read == value);
    CHECK(p == (const uint8_t *)bytes + len);

    for (size_t cut = 0; cut < len; cut++) {
        p = (const uint8_t *)bytes;
        CHECK_INT(ionf_varuint_read(&p, p + cut, &read), IONF_ERR_TRUNCATED);
        CHECK(p == (const uint8_t *)bytes);
    }
}

static void
test_varuint(void)
{
    check_varuint(0, "\x80", 1);
    check_varuint(1, "\x81", 1);
    check_varuint(127, "\xFF", 1);
    check_varuint(128, "\x01\x80", 2);
    check_varuint(0x3FFF, "\x7F\xFF", 2);
    check_varuint(0x4000, "\x01\x00\x80", 3);
    check_varuint(2007, "\x0F\xD7", 2);
    check_varuint(UINT64_MAX >> 1, "\x7F\x7F\x7F\x7F\x7F\x7F\x7F\x7F\xFF", 9);
    check_varuint(UINT64_MAX, "\x01\x7F\x7F\x7F\x7F\x7F\x7F\x7F\x7F\xFF", 10);
}

static void
test_varuint_padding(void)
{
    uint8_t padded[40] = {0};
    padded[38] = 0x01;
    padded[39] = 0x82;
    const uint8_t *p = padded;
    uint64_t value = 0;
    CHECK_INT(ionf_varuint_read(&p, padded + 40, &value), IONF_OK);
    CHECK_INT(value, 130);
    CHECK(p == padded + 40);
}

static void
check_overflow(const char *bytes, size_t len)
{
    const uint8_t *p = (const uint8_t *)bytes;
    uint64_t value = 7;
    bool is_negative = true;
    CHECK_INT(ionf_varuint_read(&p, p + len, &value), IONF_ERR_VARINT);
    CHECK_INT(ionf_varint_read(&p, p + len, &is_negative, &value), IONF_ERR_VARINT);
    CHECK(p == (const uint8_t *)bytes);
    CHECK_INT(value, 7);
    CHECK(is_negative);
}

static void
test_overflow(void)
{
    check_overflow("\x02\x00\x00\x00\x00\x00\x00\x00\x00\x80", 10);
    check_overflow("\x01\x7F\x7F\x7F\x7F\x7F\x7F\x7F\x7F\x7F\xFF", 11);
    check_overflow("\x3F\x7F\x7F\x7F\x7F\x7F\x7F\x7F\x7F\x7F\x7F\x7F\x7F\x7F", 14);
}

static void
check_varint(bool is_negative, uint64_t magnitude, const char *bytes, size_t len)
{
    uint8_t written[IONF_VARINT_MAX_SIZE];
    CHECK_INT(ionf_varint_size(magnitude), len);
    CHECK_BYTES(written, ionf_varint_put(written, is_negative, magnitude) - written, bytes, len);

    const uint8_t *p = (const uint8_t *)bytes;
    bool read_negative = !is_negative;
    uint64_t read = 1;
    CHECK_INT(ionf_varint_read(&p, p + len, &read_negative, &read), IONF_OK);
    CHECK(read == magnitude);
    CHECK_INT(read_negative, is_negative);
    CHECK(p == (const uint8_t *)bytes + len);

    for (size_t cut = 0; cut < len; cut++) {
        p = (const uint8_t *)bytes;
        CHECK_INT(ionf_varint_read(&p, p + cut, &read_negative, &read), IONF_ERR_TRUNCATED);
        CHECK(p == (const uint8_t *)bytes);
    }
}

static void
test_varint(void)
{
    check_varint(false, 0, "\x80", 1);
    check_varint(true, 0, "\xC0", 1);
    check_varint(true, 1, "\xC1", 1);
    check_varint(false, 63, "\xBF", 1);
    check_varint(true, 63, "\xFF", 1);
    check_varint(false, 64, "\x00\xC0", 2);
    check_varint(true, 64, "\x40\xC0", 2);
    check_varint(true, 480, "\x43\xE0", 2);
    check_varint(false, 0x1FFF, "\x3F\xFF", 2);
    check_varint(false, 0x2000, "\x00\x40\x80", 3);
    check_varint(true, UINT64_MAX, "\x41\x7F\x7F\x7F\x7F\x7F\x7F\x7F\x7F\xFF", 10);
}

static void
test_uint(void)
{
    static const struct {
        uint64_t value;
        size_t size;
    } rows[] = {{0, 0},
                {1, 1},
                {0xFF, 1},
                {0x100, 2},
                {0xFFFFFFFF, 4},
                {1ull << 32, 5},
                {UINT64_MAX >> 8, 7},
                {UINT64_MAX, 8}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint8_t bytes[8];
        CHECK_INT(ionf_uint_size(rows[i].value), rows[i].size);
        CHECK_INT(ionf_uint_put(bytes, rows[i].value, rows[i].size) - bytes, rows[i].size);
        CHECK(ionf_uint_read(bytes, rows[i].size) == rows[i].value);
    }
    uint8_t bytes[3];
    ionf_uint_put(bytes, 0x1234, 3);
    CHECK_BYTES(bytes, 3, "\x00\x12\x34", 3);
}

int
main(void)
{
    RUN(test_varuint);
    RUN(test_varuint_padding);
    RUN(test_overflow);
    RUN(test_varint);
    RUN(test_uint);
    return ct_end();
}
