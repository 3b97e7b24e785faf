/* ionf_patch: reserving, filling, splicing, and slots that are used again. */
#include "ct.h"

#include "ionf_patch.h"

static ionf_patch_list
new_list(void)
{
    ionf_patch_list list;
    ionf_patch_init(&list, ionf_alloc_libc());
    return list;
}

static size_t
reserve(ionf_patch_list *list)
{
    size_t index = 0;
    CHECK_INT(ionf_patch_reserve(list, &index), IONF_OK);
    return index;
}

static void
test_nothing_to_splice(void)
{
    ionf_patch_list list = new_list();
    uint8_t out[8];
    CHECK_INT(ionf_patch_extra(&list), 0);
    CHECK_BYTES(out, ionf_patch_splice(&list, (const uint8_t *)"abc", 3, out) - out, "abc", 3);
    CHECK(ionf_patch_splice(&list, NULL, 0, out) == out);
    ionf_patch_destroy(&list);
}

/* The same where the body is, behind heads of several lengths. */
static void
check_in_place(const ionf_patch_list *list, const char *body, const char *spliced, size_t len)
{
    for (size_t head = 0; head < 9; head += 4) {
        uint8_t data[64];
        memcpy(data, body, strlen(body));
        ionf_patch_splice_in_place(list, data, strlen(body), head);
        CHECK_BYTES(data + head, len, spliced, len);
    }
}

/* The room's bytes ('?') go, the length comes in their place. */
static void
test_rooms(void)
{
    static const struct {
        const char *body;
        uint8_t room;
        uint64_t length;
        const char *spliced;
        size_t spliced_len;
    } cases[] = {
        {"abcd", 0, 14,
         "ab\x8E"
         "cd",
         5},
        {"ab?cd", 1, 128,
         "ab\x01\x80"
         "cd",
         6},
        {"ab??cd", 2, 16384,
         "ab\x01\x00\x80"
         "cd",
         7},
        {"ab??cd", 2, UINT64_MAX,
         "ab\x01\x7F\x7F\x7F\x7F\x7F\x7F\x7F\x7F\xFF"
         "cd",
         14},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ionf_patch_list list = new_list();
        uint8_t out[32];
        ionf_patch_fill(&list, reserve(&list), 2, cases[i].length, cases[i].room);
        const size_t len = strlen(cases[i].body);
        const uint8_t *end = ionf_patch_splice(&list, (const uint8_t *)cases[i].body, len, out);
        CHECK_BYTES(out, end - out, cases[i].spliced, cases[i].spliced_len);
        CHECK_INT(ionf_patch_extra(&list), cases[i].spliced_len - len);
        check_in_place(&list, cases[i].body, cases[i].spliced, cases[i].spliced_len);
        ionf_patch_destroy(&list);
    }
}

/* The outer slot is reserved first and filled last; both come out in stream order. */
static void
test_ancestor_filled_last(void)
{
    ionf_patch_list list = new_list();
    uint8_t out[16];
    const size_t outer = reserve(&list), inner = reserve(&list);
    ionf_patch_fill(&list, inner, 3, 20, 0);
    ionf_patch_fill(&list, outer, 1, 23, 0);
    const uint8_t *end = ionf_patch_splice(&list, (const uint8_t *)"AbCde", 5, out);
    CHECK_BYTES(out, end - out,
                "A\x97"
                "bC\x94"
                "de",
                7);
    check_in_place(&list, "AbCde",
                   "A\x97"
                   "bC\x94"
                   "de",
                   7);
    ionf_patch_destroy(&list);
}

/* A slot that held a patch before the flush, reserved again and never filled, adds nothing. */
static void
test_stale_slot_is_invalid(void)
{
    ionf_patch_list list = new_list();
    uint8_t out[16];
    for (size_t i = 0; i < 3; i++) {
        ionf_patch_fill(&list, reserve(&list), 1, 300, 0);
        ionf_patch_reset(&list);
        (void)reserve(&list);
        CHECK_INT(ionf_patch_extra(&list), 0);
        const uint8_t *end = ionf_patch_splice(&list, (const uint8_t *)"xyz", 3, out);
        CHECK_BYTES(out, end - out, "xyz", 3);
        check_in_place(&list, "xyz", "xyz", 3);
        ionf_patch_reset(&list);
    }
    ionf_patch_destroy(&list);
}

static void
test_truncate(void)
{
    ionf_patch_list list = new_list();
    uint8_t out[16];
    ionf_patch_fill(&list, reserve(&list), 1, 300, 0);
    ionf_patch_fill(&list, reserve(&list), 2, 300, 0);
    ionf_patch_truncate(&list, 1);
    const uint8_t *end = ionf_patch_splice(&list, (const uint8_t *)"xyz", 3, out);
    CHECK_BYTES(out, end - out,
                "x\x02\xAC"
                "yz",
                5);
    CHECK_INT(reserve(&list), 1);
    ionf_patch_destroy(&list);
}

static ionf_status
reserve_many(ct_heap *heap)
{
    ionf_patch_list list;
    ionf_patch_init(&list, ct_heap_allocator(heap));
    ionf_status status = IONF_OK;
    for (size_t i = 0; i < 100 && status == IONF_OK; i++) {
        size_t index;
        status = ionf_patch_reserve(&list, &index);
    }
    ionf_patch_destroy(&list);
    return status;
}

static void
test_each_allocation_failing(void)
{
    ionf_status status = IONF_ERR_NOMEM;
    long long fail_at = 0;
    for (; status != IONF_OK && fail_at < 100; fail_at++) {
        ct_heap heap = {.fail_at = fail_at};
        status = reserve_many(&heap);
        CHECK(status == IONF_OK || status == IONF_ERR_NOMEM);
        CHECK_INT(heap.live_bytes, 0);
    }
    CHECK_INT(status, IONF_OK);
    CHECK(fail_at > 2);
}

int
main(void)
{
    RUN(test_nothing_to_splice);
    RUN(test_rooms);
    RUN(test_ancestor_filled_last);
    RUN(test_stale_slot_is_invalid);
    RUN(test_truncate);
    RUN(test_each_allocation_failing);
    return ct_end();
}
