/* ionf_status, ionf_alloc and ionf_buf. */
#include "ionf_buf.h"
#include "ionf_status.h"

#include "ct.h"

static void
test_status_table(void)
{
    for (int status = 0; status < IONF_STATUS_COUNT; status++) {
        CHECK(strncmp(ionf_status_name((ionf_status)status), "IONF_", 5) == 0);
        CHECK(strlen(ionf_status_text((ionf_status)status)) > 4);
    }
    CHECK(strcmp(ionf_status_name(IONF_OK), "IONF_OK") == 0);
    CHECK(strcmp(ionf_status_name(IONF_ERR_RESERVED), "IONF_ERR_RESERVED") == 0);
    CHECK(strcmp(ionf_status_text(IONF_ERR_NOMEM), "out of memory") == 0);
    CHECK(strcmp(ionf_status_text((ionf_status)999), "unknown status") == 0);
    CHECK(strcmp(ionf_status_name((ionf_status)999), "unknown status") == 0);
}

static void
test_libc_allocator(void)
{
    const ionf_alloc alloc = ionf_alloc_libc();
    uint8_t *block = ionf_alloc_new(&alloc, 10);
    CHECK(block != NULL);
    block[9] = 42;
    block = alloc.realloc(alloc.ctx, block, 10, 1000);
    CHECK(block != NULL && block[9] == 42);
    ionf_alloc_free(&alloc, block, 1000);
    ionf_alloc_free(&alloc, NULL, 0);
}

static void
test_grow(void)
{
    ct_heap heap = {.fail_at = -1};
    const ionf_alloc alloc = ct_heap_allocator(&heap);
    void *array = NULL;
    size_t cap = 0;
    CHECK_INT(ionf_alloc_grow(&alloc, &array, &cap, 1, 4), IONF_OK);
    CHECK_INT(cap, 8);
    CHECK_INT(ionf_alloc_grow(&alloc, &array, &cap, 8, 4), IONF_OK);
    CHECK_INT(heap.calls, 1);
    CHECK_INT(ionf_alloc_grow(&alloc, &array, &cap, 9, 4), IONF_OK);
    CHECK_INT(cap, 16);
    CHECK_INT(ionf_alloc_grow(&alloc, &array, &cap, 100, 4), IONF_OK);
    CHECK_INT(cap, 128);
    CHECK_INT(heap.live_bytes, 512);

    void *const before = array;
    CHECK_INT(ionf_alloc_grow(&alloc, &array, &cap, SIZE_MAX / 2, 4), IONF_ERR_NOMEM);
    heap.fail_at = heap.calls;
    CHECK_INT(ionf_alloc_grow(&alloc, &array, &cap, 129, 4), IONF_ERR_NOMEM);
    CHECK(array == before);
    CHECK_INT(cap, 128);
    ionf_alloc_free(&alloc, array, cap * 4);
    CHECK_INT(heap.live_bytes, 0);
    CHECK_INT(heap.live_blocks, 0);
}

static ionf_status
fill(ionf_buf *buf)
{
    for (unsigned i = 0; i < 1000; i++) {
        const ionf_status status =
            i % 2 != 0 ? ionf_buf_push(buf, (uint8_t)i) : ionf_buf_append(buf, "abcdefghij", 10);
        if (status != IONF_OK) {
            return status;
        }
    }
    return IONF_OK;
}

static void
test_buf(void)
{
    ct_heap heap = {.fail_at = -1};
    ionf_buf buf;
    ionf_buf_init(&buf, ct_heap_allocator(&heap));
    CHECK_INT(ionf_buf_append(&buf, NULL, 0), IONF_OK);
    CHECK_INT(heap.calls, 0);
    CHECK_INT(fill(&buf), IONF_OK);
    CHECK_INT(buf.len, 5500);
    CHECK_BYTES(buf.data + 11, 12,
                "abcdefghij\x03"
                "a",
                12);

    const size_t cap = buf.cap;
    ionf_buf_reset(&buf);
    CHECK_INT(buf.len, 0);
    CHECK_INT(buf.cap, cap);
    const long long calls = heap.calls;
    CHECK_INT(fill(&buf), IONF_OK);
    CHECK_INT(heap.calls, calls);
    CHECK_INT(ionf_buf_reserve(&buf, SIZE_MAX), IONF_ERR_NOMEM);
    CHECK_INT(buf.len, 5500);

    ionf_buf_destroy(&buf);
    CHECK(buf.data == NULL && buf.len == 0 && buf.cap == 0);
    CHECK_INT(heap.live_bytes, 0);
    ionf_buf_destroy(&buf);
    CHECK_INT(heap.live_blocks, 0);
}

static void
test_buf_each_allocation_fails(void)
{
    ionf_status status = IONF_ERR_NOMEM;
    for (long long fail_at = 0; status != IONF_OK; fail_at++) {
        ct_heap heap = {.fail_at = fail_at};
        ionf_buf buf;
        ionf_buf_init(&buf, ct_heap_allocator(&heap));
        status = fill(&buf);
        CHECK(status == IONF_OK || status == IONF_ERR_NOMEM);
        ionf_buf_destroy(&buf);
        CHECK_INT(heap.live_bytes, 0);
        CHECK(fail_at < 100);
    }
}

int
main(void)
{
    RUN(test_status_table);
    RUN(test_libc_allocator);
    RUN(test_grow);
    RUN(test_buf);
    RUN(test_buf_each_allocation_fails);
    return ct_end();
}
