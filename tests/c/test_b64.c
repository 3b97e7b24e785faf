/* ionf_b64.h: RFC 4648's vectors, every length both ways, whitespace anywhere, every kind of
 * fault. */
#include "ionf_b64.h"

#include "ct.h"

static ct_heap heap = {.fail_at = -1};

static void
check_both_ways(const char *plain, const char *text)
{
    ionf_buf out;
    ionf_buf_init(&out, ct_heap_allocator(&heap));
    size_t error_at = 0;
    CHECK_INT(ionf_buf_push(&out, '>'), IONF_OK);
    CHECK_INT(ionf_b64_encode((const uint8_t *)plain, strlen(plain), &out), IONF_OK);
    CHECK_BYTES(out.data + 1, out.len - 1, text, strlen(text));
    CHECK_INT(ionf_b64_decode((const uint8_t *)text, strlen(text), &out, &error_at), IONF_OK);
    CHECK_BYTES(out.data + 1 + strlen(text), out.len - 1 - strlen(text), plain, strlen(plain));
    ionf_buf_destroy(&out);
}

static void
test_rfc_vectors(void)
{
    check_both_ways("", "");
    check_both_ways("f", "Zg==");
    check_both_ways("fo", "Zm8=");
    check_both_ways("foo", "Zm9v");
    check_both_ways("foob", "Zm9vYg==");
    check_both_ways("fooba", "Zm9vYmE=");
    check_both_ways("foobar", "Zm9vYmFy");
    check_both_ways("\xFB\xEF\xBE\xFF\xFF\xFF", "++++////");
}

static void
test_every_length(void)
{
    uint8_t bytes[300];
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)(i * 151 + 7);
    }
    for (size_t len = 0; len <= sizeof bytes; len++) {
        ionf_buf text, back;
        ionf_buf_init(&text, ct_heap_allocator(&heap));
        ionf_buf_init(&back, ct_heap_allocator(&heap));
        size_t error_at;
        CHECK_INT(ionf_b64_encode(bytes, len, &text), IONF_OK);
        CHECK_INT(text.len, (len + 2) / 3 * 4);
        CHECK_INT(ionf_b64_decode(text.data, text.len, &back, &error_at), IONF_OK);
        CHECK_BYTES(back.data, back.len, bytes, len);
        ionf_buf_destroy(&text);
        ionf_buf_destroy(&back);
    }
}

static void
check_decodes(const char *text, const char *plain, size_t len)
{
    ionf_buf out;
    ionf_buf_init(&out, ct_heap_allocator(&heap));
    size_t error_at = 99;
    CHECK_INT(ionf_b64_decode((const uint8_t *)text, strlen(text), &out, &error_at), IONF_OK);
    CHECK_BYTES(out.data, out.len, plain, len);
    ionf_buf_destroy(&out);
}

static void
test_whitespace(void)
{
    check_decodes(" \t\r\n\v\f", "", 0);
    check_decodes(" Z m 9 v ", "foo", 3);
    check_decodes("Zm9vY\ng = \t= ", "foob", 4);
    check_decodes("Zm9vYmFyZm9vYmFyZm9v\nYmFy Zm9vYmFy", "foobarfoobarfoobarfoobar", 24);
    check_decodes("  +AB/\n", "\xF8\x00\x7F", 3);
}

/* Bits that the padding leaves unused are dropped. */
static void
test_bits_under_padding(void)
{
    check_decodes("Zh==", "f", 1);
    check_decodes("Zm+=", "fo", 2);
}

static void
check_fault(const char *text, size_t offset)
{
    ionf_buf out;
    ionf_buf_init(&out, ct_heap_allocator(&heap));
    CHECK_INT(ionf_buf_append(&out, "kept", 4), IONF_OK);
    size_t error_at = 99;
    CHECK_INT(ionf_b64_decode((const uint8_t *)text, strlen(text), &out, &error_at),
              IONF_ERR_BASE64);
    if (error_at != offset) {
        fprintf(stderr, "%s\n%*s wanted here\n", text, (int)offset + 1, "^");
    }
    CHECK_INT(error_at, offset);
    CHECK_BYTES(out.data, out.len, "kept", 4);
    ionf_buf_destroy(&out);
}

static void
test_faults(void)
{
    check_fault("aGVs-bG8=", 4);
    check_fault("_", 0);
    check_fault("Zm9v.", 4);
    check_fault("Zm9v\x80", 4);
    check_fault("Z", 1);
    check_fault("Zg", 2);
    check_fault("Zg=", 3);
    check_fault("Zg= ", 4);
    check_fault("Zg===", 4);
    check_fault("Zg==Zg==", 4);
    check_fault("Zm8", 3);
    check_fault("Zm8==", 4);
    check_fault("Zm9v=", 4);
    check_fault("nonsense= ", 8);
    check_fault("=", 0);
    check_fault("====", 0);
    check_fault("Z=g=", 1);
    check_fault("Zm=v", 3);
    check_fault("Zg=*", 3);
    check_fault("12345", 5);
}

static void
test_each_allocation_fails(void)
{
    for (int decode = 0; decode < 2; decode++) {
        ct_heap failing = {.fail_at = 0};
        ionf_buf out;
        ionf_buf_init(&out, ct_heap_allocator(&failing));
        const uint8_t text[] = "Zm9v";
        size_t error_at;
        const ionf_status first =
            decode ? ionf_b64_decode(text, 4, &out, &error_at) : ionf_b64_encode(text, 4, &out);
        CHECK_INT(first, IONF_ERR_NOMEM);
        CHECK_INT(out.len, 0);
        const ionf_status second =
            decode ? ionf_b64_decode(text, 4, &out, &error_at) : ionf_b64_encode(text, 4, &out);
        CHECK_INT(second, IONF_OK);
        ionf_buf_destroy(&out);
        CHECK_INT(failing.live_bytes, 0);
    }
}

int
main(void)
{
    RUN(test_rfc_vectors);
    RUN(test_every_length);
    RUN(test_whitespace);
    RUN(test_bits_under_padding);
    RUN(test_faults);
    RUN(test_each_allocation_fails);
    CHECK_INT(heap.live_bytes, 0);
    return ct_end();
}
