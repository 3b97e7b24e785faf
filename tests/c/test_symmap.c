/* ionf_symmap: text -> SID, imports, and the tables that are written. */
#include "ct.h"

#include "ionf_symmap.h"

#define LEN(literal) (sizeof(literal) - 1)

/* A shared table for tests; counts its references in `owner`. */
static void
retain(const ionf_shared *shared)
{
    ++*(int *)shared->owner;
}

static void
release(const ionf_shared *shared)
{
    --*(int *)shared->owner;
}

static ionf_slice
slice(const char *text)
{
    const ionf_slice s = {(const uint8_t *)text, text == NULL ? 0 : strlen(text)};
    return s;
}

static ionf_shared
shared_table(const char *name, uint32_t version, const ionf_slice *symbols, uint64_t count,
             int *references)
{
    const ionf_shared shared = {slice(name), version, count, symbols, retain, release, references};
    return shared;
}

static uint64_t
intern(ionf_symmap *map, const char *text)
{
    uint64_t sid = 0;
    CHECK_INT(ionf_symmap_intern(map, (const uint8_t *)text, strlen(text), &sid), IONF_OK);
    return sid;
}

static uint64_t
find(ionf_symmap *map, const char *text)
{
    uint64_t sid = 99;
    CHECK_INT(ionf_symmap_find(map, (const uint8_t *)text, strlen(text), &sid), IONF_OK);
    return sid;
}

static void
test_system_symbols(void)
{
    static const char *const names[] = {
        "$ion",    "$ion_1_0", "$ion_symbol_table",        "name", "version", "imports",
        "symbols", "max_id",   "$ion_shared_symbol_table",
    };
    ionf_symmap map;
    ionf_symmap_init(&map, ionf_alloc_libc());
    for (size_t i = 0; i < 9; i++) {
        CHECK_INT(intern(&map, names[i]), i + 1);
    }
    CHECK_INT(map.local_count, 0);
    CHECK_INT(intern(&map, "names"), 10);
    CHECK_INT(intern(&map, "nane"), 11);
    CHECK_INT(intern(&map, "Name"), 12);
    ionf_symmap_destroy(&map);
}

static void
test_locals(void)
{
    ionf_symmap map;
    ionf_symmap_init(&map, ionf_alloc_libc());
    CHECK_INT(find(&map, "a"), 0);
    CHECK_INT(intern(&map, "a"), 10);
    CHECK_INT(intern(&map, ""), 11);
    CHECK_INT(intern(&map, "a long symbol of more than eight bytes"), 12);
    CHECK_INT(intern(&map, "a"), 10);
    CHECK_INT(intern(&map, ""), 11);
    CHECK_INT(find(&map, "a long symbol of more than eight bytes"), 12);
    CHECK_INT(find(&map, "a long symbol of more than eight bytez"), 0);
    CHECK_INT(ionf_symmap_max_id(&map), 12);
    ionf_symmap_destroy(&map);
}

/* Every length from 0 on, differing in one byte, and many symbols: each keeps its own SID. */
static void
test_many_locals(void)
{
    ionf_symmap map;
    ionf_symmap_init(&map, ionf_alloc_libc());
    char text[40];
    for (int round = 0; round < 2; round++) {
        uint64_t expected = 10;
        for (int i = 0; i < 50000; i++) {
            const int width = i % 30;
            snprintf(text, sizeof text, "%0*x", width, i);
            const uint64_t sid = intern(&map, text);
            if (sid != expected) {
                CHECK_INT(sid, expected);
                break;
            }
            expected++;
        }
    }
    ionf_symmap_destroy(&map);
}

static void
test_reset_forgets(void)
{
    ionf_symmap map;
    ionf_symmap_init(&map, ionf_alloc_libc());
    char text[16];
    static const int counts[] = {3, 40, 1, 0, 500, 2, 17};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        for (int j = 0; j < counts[i]; j++) {
            snprintf(text, sizeof text, "s%d", j);
            CHECK_INT(intern(&map, text), 10 + j);
        }
        ionf_symmap_reset(&map);
        CHECK_INT(find(&map, "s0"), 0);
        for (size_t j = 0; j < map.slots.cap; j++) {
            CHECK(map.slots.slots[j] == 0);
        }
    }
    ionf_symmap_destroy(&map);
}

static void
test_truncate(void)
{
    ionf_symmap map;
    ionf_symmap_init(&map, ionf_alloc_libc());
    CHECK_INT(intern(&map, "a"), 10);
    CHECK_INT(intern(&map, "b"), 11);
    CHECK_INT(intern(&map, "c"), 12);
    ionf_symmap_truncate(&map, 1);
    CHECK_INT(find(&map, "a"), 10);
    CHECK_INT(find(&map, "b"), 0);
    CHECK_INT(intern(&map, "c"), 11);
    ionf_symmap_destroy(&map);
}

/* Names that are never the same again, so that what was forgotten is not met again. */
static size_t
serial_text(char *text, size_t size, unsigned serial)
{
    return (size_t)snprintf(text, size, "%0*x", (int)(serial % 20), serial);
}

static void
check_serials(ionf_symmap *map, const unsigned *serials, size_t count)
{
    char text[40];
    for (size_t i = 0; i < count; i++) {
        const size_t len = serial_text(text, sizeof text, serials[i]);
        const ionf_slice local = ionf_symmap_local(map, i);
        uint64_t sid = 0;
        CHECK_INT(ionf_symmap_find(map, (const uint8_t *)text, len, &sid), IONF_OK);
        if (sid != 10 + i || local.len != len || memcmp(local.data, text, len) != 0) {
            CHECK_INT(sid, 10 + i);
            return;
        }
    }
}

/* Through every size of the slots and both ways that they are filled, with runs that go on at the first
 * slot; what is truncated is forgotten, and all else is found. */
static void
test_growing_and_truncating(void)
{
    enum { MANY = 50000 };
    static unsigned serials[MANY];
    static const size_t counts[] = {30,   7,     33,    31,    140,  100,   3000,  513, 9000,
                                    2047, 24580, 23000, 24570, MANY, 48000, 30000, 3};
    char text[40];
    for (uint64_t seed = 0; seed < 4; seed++) {
        ionf_symmap map;
        ionf_symmap_init(&map, ionf_alloc_libc());
        ionf_symmap_set_seed(&map, seed * 0x9E3779B97F4A7C15u);
        unsigned serial = 0;
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
            const size_t before = map.local_count;
            ionf_symmap_truncate(&map, counts[i]);
            while (map.local_count < counts[i]) {
                uint64_t sid;
                const size_t len = serial_text(text, sizeof text, serial);
                serials[map.local_count] = serial++;
                CHECK_INT(ionf_symmap_intern(&map, (const uint8_t *)text, len, &sid), IONF_OK);
            }
            check_serials(&map, serials, counts[i]);
            for (size_t j = counts[i]; j < before; j++) {
                uint64_t sid = 99;
                const size_t len = serial_text(text, sizeof text, serials[j]);
                CHECK_INT(ionf_symmap_find(&map, (const uint8_t *)text, len, &sid), IONF_OK);
                CHECK(sid == 0);
            }
        }
        ionf_symmap_destroy(&map);
    }
}

/* Texts of every length up to some hundreds of bytes, so that those of a row are near and far. */
static void
test_long_locals(void)
{
    enum { COUNT = 700 };
    static const size_t strides[] = {1, 7, 64, 300};
    static uint8_t text[COUNT * 2];
    memset(text, 'x', sizeof text);
    for (size_t i = 0; i < sizeof strides / sizeof *strides; i++) {
        ionf_symmap map;
        ionf_symmap_init(&map, ionf_alloc_libc());
        for (size_t j = 0; j < COUNT; j++) {
            uint64_t sid = 0;
            const size_t len = j * strides[i] % COUNT;
            text[len] = (uint8_t)j;
            CHECK_INT(ionf_symmap_intern(&map, text, len + 1, &sid), IONF_OK);
            CHECK_INT(sid, 10 + j);
            text[len] = 'x';
        }
        for (size_t j = 0; j < COUNT; j++) {
            const size_t len = j * strides[i] % COUNT;
            const ionf_slice local = ionf_symmap_local(&map, j);
            CHECK_INT(local.len, len + 1);
            CHECK_INT(local.data[len], (uint8_t)j);
        }
        ionf_symmap_destroy(&map);
    }
}

typedef struct hashed {
    uint32_t hash; /* all that slots have of it */
    uint32_t number;
} hashed;

static int
compare_hashes(const void *a, const void *b)
{
    const uint32_t left = ((const hashed *)a)->hash;
    const uint32_t right = ((const hashed *)b)->hash;
    return (left > right) - (left < right);
}

static void
number_text(uint8_t *text, size_t len, size_t at, uint32_t number)
{
    memset(text, 'x', len);
    for (size_t i = 0; i < 4 && at + i < len; i++) {
        text[at + i] = (uint8_t)(number >> 8 * i & 0xFF);
    }
}

/* Texts that are the same but for a few bytes, wherever these are, and whose hashes are the same. */
static void
test_texts_of_one_hash(void)
{
    enum { COUNT = 80000, LOW_BITS = 6 };
    static const size_t cases[][2] = {{3, 0},  {6, 0},  {6, 2},  {8, 0},  {8, 4},
                                      {12, 0}, {12, 4}, {12, 8}, {16, 0}, {16, 12},
                                      {20, 0}, {20, 8}, {20, 16}};
    static hashed all[COUNT];
    uint8_t text[20];
    uint64_t sid = 0;
    ionf_symmap map;
    ionf_symmap_init(&map, ionf_alloc_libc());
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const size_t len = cases[i][0];
        for (uint32_t j = 0; j < COUNT; j++) {
            number_text(text, len, cases[i][1], j);
            ionf_symmap_truncate(&map, 0);
            CHECK(ionf_symmap_intern(&map, text, len, &sid) == IONF_OK);
            uint32_t place = 0;
            while (map.slots.slots[place] == 0) {
                place++;
            }
            all[j] = (hashed){map.slots.slots[place] >> LOW_BITS << LOW_BITS | place, j};
        }
        CHECK_INT(map.slots.cap, 1 << LOW_BITS);
        qsort(all, COUNT, sizeof *all, compare_hashes);
        int pairs = 0;
        for (size_t j = 1; j < COUNT; j++) {
            if (all[j].hash != all[j - 1].hash) {
                continue;
            }
            ionf_symmap_truncate(&map, 0);
            for (size_t k = 0; k < 4; k++) {
                number_text(text, len, cases[i][1], all[j - k % 2].number);
                CHECK_INT(ionf_symmap_intern(&map, text, len, &sid), IONF_OK);
                CHECK_INT(sid, 10 + k % 2);
            }
            pairs++;
        }
        CHECK(pairs > 3);
    }
    ionf_symmap_destroy(&map);
}

/* When the slots cannot grow, all that was there is still there. */
static void
test_growth_that_fails(void)
{
    ct_heap heap = {.fail_at = -1};
    ionf_symmap map;
    ionf_symmap_init(&map, ct_heap_allocator(&heap));
    char text[16];
    int failures = 0;
    for (int i = 0; i < 20000;) {
        uint64_t sid = 0;
        const size_t len = (size_t)snprintf(text, sizeof text, "s%d", i);
        heap.fail_at = heap.calls; /* the first allocation, if there is one */
        ionf_status status = ionf_symmap_intern(&map, (const uint8_t *)text, len, &sid);
        heap.fail_at = -1;
        if (status == IONF_OK) {
            CHECK(sid == 10 + (uint64_t)i++);
            continue;
        }
        CHECK_INT(status, IONF_ERR_NOMEM);
        CHECK_INT(find(&map, text), 0);
        CHECK_INT(find(&map, "s0"), i == 0 ? 0 : 10);
        CHECK_INT(intern(&map, text), 10 + i++);
        failures++;
    }
    CHECK(failures > 10);
    for (int i = 0; i < 20000; i++) {
        snprintf(text, sizeof text, "s%d", i);
        CHECK(find(&map, text) == 10 + (uint64_t)i);
    }
    ionf_symmap_destroy(&map);
    CHECK_INT(heap.live_bytes, 0);
}

/* The system table comes first, then the imports in order, then locals; repeats and gaps cost
 * SIDs. */
static void
test_imports(void)
{
    int references = 0;
    const ionf_slice first[] = {slice("x"), slice(NULL), slice("name"), slice("x"), slice("y")};
    const ionf_slice second[] = {slice("y"), slice("z"), slice("")};
    const ionf_shared a = shared_table("a", 1, first, 5, &references);
    const ionf_shared none = shared_table("none", 1, NULL, 0, &references);
    const ionf_shared b = shared_table("b", 1, second, 3, &references);
    ionf_symmap map;
    ionf_symmap_init(&map, ionf_alloc_libc());
    CHECK_INT(ionf_symmap_import_add(&map, &a), IONF_OK);
    CHECK_INT(ionf_symmap_import_add(&map, &none), IONF_OK);
    CHECK_INT(ionf_symmap_import_add(&map, &b), IONF_OK);
    CHECK_INT(references, 3);
    CHECK_INT(intern(&map, "x"), 10);
    CHECK_INT(intern(&map, "name"), 4);
    CHECK_INT(intern(&map, "y"), 14);
    CHECK_INT(intern(&map, "z"), 16);
    CHECK_INT(intern(&map, ""), 17);
    CHECK_INT(intern(&map, "new"), 18);
    CHECK_INT(ionf_symmap_import_add(&map, &a), IONF_ERR_STATE);
    ionf_symmap_destroy(&map);
    CHECK_INT(references, 0);
}

/* The same imports after a reset need no new index; others take its place. */
static void
test_import_index_is_kept(void)
{
    int references = 0, others = 0;
    const ionf_slice symbols[] = {slice("x"), slice("y")};
    const ionf_shared a = shared_table("a", 1, symbols, 2, &references);
    const ionf_shared b = shared_table("b", 1, symbols, 1, &others);
    ct_heap heap = {.fail_at = -1};
    ionf_symmap map;
    ionf_symmap_init(&map, ct_heap_allocator(&heap));

    CHECK_INT(ionf_symmap_import_add(&map, &a), IONF_OK);
    ionf_symmap_reset(&map);
    CHECK_INT(references, 0); /* never looked up: nothing to keep */

    CHECK_INT(ionf_symmap_import_add(&map, &a), IONF_OK);
    CHECK_INT(ionf_symmap_import_add(&map, &b), IONF_OK);
    CHECK_INT(intern(&map, "z"), 13);
    ionf_symmap_reset(&map);
    const long long calls = heap.calls;
    CHECK_INT(find(&map, "x"), 0);
    for (int i = 0; i < 3; i++) {
        CHECK_INT(ionf_symmap_import_add(&map, &a), IONF_OK);
        CHECK_INT(ionf_symmap_import_add(&map, &b), IONF_OK);
        CHECK_INT(intern(&map, "y"), 11);
        CHECK_INT(intern(&map, "z"), 13);
        ionf_symmap_reset(&map);
    }
    CHECK_INT(heap.calls, calls);
    CHECK_INT(references, 1);
    CHECK_INT(others, 1);

    CHECK_INT(ionf_symmap_import_add(&map, &b), IONF_OK);
    CHECK_INT(references, 0);
    CHECK_INT(others, 1);
    CHECK_INT(intern(&map, "y"), 11);
    ionf_symmap_destroy(&map);
    CHECK_INT(others, 0);
    CHECK_INT(heap.live_bytes, 0);
}

/* A table of which only the size is known takes up its SIDs, and is not kept by a reset. */
static void
test_import_without_symbols(void)
{
    int references = 0;
    const ionf_shared a = shared_table("a", 1, NULL, 1000000000000, &references);
    ionf_symmap map;
    ionf_symmap_init(&map, ionf_alloc_libc());
    CHECK_INT(ionf_symmap_import_add(&map, &a), IONF_OK);
    CHECK_INT(intern(&map, "x"), 1000000000010);
    CHECK_INT(find(&map, "y"), 0);
    CHECK_INT(references, 1);
    ionf_symmap_reset(&map);
    CHECK_INT(references, 0);
    ionf_symmap_destroy(&map);
}

/* A length below the table's hides its other symbols, one above pads it; the index serves any. */
static void
test_parts_of_imports(void)
{
    int references = 0;
    const ionf_slice symbols[] = {slice("x"), slice("y"), slice("x"), slice("z")};
    const ionf_shared a = shared_table("a", 1, symbols, 4, &references);
    ionf_symmap map;
    ionf_symmap_init(&map, ionf_alloc_libc());
    static const uint64_t lengths[] = {3, 0, 4, 1, 1000, UINT64_MAX / 4};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        const uint64_t length = lengths[i];
        CHECK_INT(ionf_symmap_import_part(&map, &a, length), IONF_OK);
        CHECK_INT(intern(&map, "x"), 10); /* of the import, or the first local one */
        CHECK_INT(find(&map, "y"), length < 2 ? 0 : 11);
        CHECK_INT(find(&map, "z"), length < 4 ? 0 : 13);
        CHECK_INT(intern(&map, "new"), 10 + (long long)length + (length == 0));
        ionf_symmap_reset(&map);
    }
    CHECK_INT(ionf_symmap_import_part(&map, &a, UINT64_MAX / 2 + 1), IONF_ERR_STATE);
    ionf_symmap_destroy(&map);
    CHECK_INT(references, 0);
}

static void
test_keep_imports(void)
{
    int references = 0, others = 0;
    const ionf_slice symbols[] = {slice("x"), slice("y")};
    const ionf_shared a = shared_table("a", 1, symbols, 2, &references);
    const ionf_shared b = shared_table("b", 1, symbols + 1, 1, &others);
    ionf_symmap map;
    ionf_symmap_init(&map, ionf_alloc_libc());
    CHECK_INT(ionf_symmap_import_part(&map, &a, 1), IONF_OK);
    CHECK_INT(ionf_symmap_import_add(&map, &b), IONF_OK);
    CHECK_INT(intern(&map, "y"), 11);
    CHECK_INT(intern(&map, "z"), 12);
    ionf_symmap_keep_imports(&map, 1);
    CHECK_INT(others, 0);
    CHECK_INT(find(&map, "z"), 0);
    CHECK_INT(intern(&map, "x"), 10);
    CHECK_INT(intern(&map, "y"), 11);
    ionf_symmap_keep_imports(&map, 0);
    CHECK_INT(references, 0);
    CHECK_INT(intern(&map, "x"), 10);
    ionf_symmap_destroy(&map);
}

static void
test_seed(void)
{
    int references = 0;
    const ionf_slice symbols[] = {slice("x"), slice("y")};
    const ionf_shared a = shared_table("a", 1, symbols, 2, &references);
    ionf_symmap map;
    ionf_symmap_init(&map, ionf_alloc_libc());
    static const uint64_t seeds[] = {0, 1, UINT64_MAX, 0x0123456789ABCDEFu};
    for (size_t i = 0; i < 4; i++) {
        ionf_symmap_set_seed(&map, seeds[i]);
        CHECK_INT(ionf_symmap_import_add(&map, &a), IONF_OK);
        CHECK_INT(intern(&map, "local"), 12);
        CHECK_INT(intern(&map, "y"), 11);
        CHECK_INT(intern(&map, "local"), 12);
        ionf_symmap_reset(&map);
    }
    ionf_symmap_destroy(&map);
    CHECK_INT(references, 0);
}

#define CHECK_WRITE(map, with_ivm, expected)                                                      \
    do {                                                                                          \
        ionf_buf ct_out;                                                                          \
        ionf_buf_init(&ct_out, ionf_alloc_libc());                                                \
        CHECK_INT(ionf_symmap_binary_size((map), (with_ivm)), LEN(expected));                     \
        CHECK_INT(ionf_symmap_write_binary((map), (with_ivm), &ct_out), IONF_OK);                 \
        CHECK_BYTES(ct_out.data, ct_out.len, (expected), LEN(expected));                          \
        ionf_buf_destroy(&ct_out);                                                                \
    } while (0)

#define IVM "\xE0\x01\x00\xEA"

static void
test_write_tables(void)
{
    ionf_symmap map;
    ionf_symmap_init(&map, ionf_alloc_libc());
    CHECK_WRITE(&map, true, IVM);
    CHECK_WRITE(&map, false, "");
    (void)intern(&map, "name");
    CHECK_WRITE(&map, true, IVM);
    (void)intern(&map, "a");
    (void)intern(&map, "b");
    /* $ion_symbol_table::{symbols:["a","b"]} */
    CHECK_WRITE(&map, false,
                "\xE9\x81\x83\xD6\x87\xB4\x81"
                "a\x81"
                "b");
    CHECK_WRITE(&map, false, "");
    (void)intern(&map, "c");
    /* $ion_symbol_table::{imports:$ion_symbol_table,symbols:["c"]} */
    CHECK_WRITE(&map, false,
                "\xEA\x81\x83\xD7\x86\x71\x03\x87\xB2\x81"
                "c");
    (void)intern(&map, "b");
    CHECK_WRITE(&map, false, "");
    /* After an IVM everything stands again. */
    CHECK_WRITE(&map, true,
                IVM "\xEB\x81\x83\xD8\x87\xB6\x81"
                    "a\x81"
                    "b\x81"
                    "c");
    (void)intern(&map, "d");
    CHECK_WRITE(&map, false,
                "\xEA\x81\x83\xD7\x86\x71\x03\x87\xB2\x81"
                "d");
    ionf_symmap_new_context(&map);
    CHECK_INT(intern(&map, "d"), 10);
    CHECK_WRITE(&map, false,
                "\xE7\x81\x83\xD4\x87\xB2\x81"
                "d");
    ionf_symmap_reset(&map);
    CHECK_INT(intern(&map, ""), 10);
    CHECK_WRITE(&map, true, IVM "\xE6\x81\x83\xD3\x87\xB1\x80");
    ionf_symmap_destroy(&map);
}

static void
test_gaps(void)
{
    ionf_symmap map;
    ionf_symmap_init(&map, ionf_alloc_libc());
    uint64_t sid = 0;
    CHECK_INT(ionf_symmap_gap(&map, &sid), IONF_OK);
    CHECK_INT(sid, 10);
    CHECK_INT(intern(&map, ""), 11);
    CHECK_INT(ionf_symmap_gap(&map, &sid), IONF_OK);
    CHECK_INT(sid, 12);
    CHECK_INT(intern(&map, "a"), 13);
    CHECK(ionf_symmap_local(&map, 0).data == NULL);
    CHECK(ionf_symmap_local(&map, 1).data != NULL && ionf_symmap_local(&map, 1).len == 0);
    CHECK(ionf_symmap_local(&map, 2).data == NULL);
    CHECK_WRITE(&map, true,
                IVM "\xEA\x81\x83\xD7\x87\xB5\x0F\x80\x0F\x81"
                    "a");
    CHECK_INT(ionf_symmap_gap(&map, &sid), IONF_OK);
    ionf_symmap_truncate(&map, 4);
    CHECK_INT(find(&map, "a"), 13);
    CHECK_INT(intern(&map, "b"), 14);
    ionf_symmap_new_context(&map);
    CHECK_INT(find(&map, "a"), 0);
    ionf_symmap_destroy(&map);
}

/* A map that has given its index back still writes all that it has, and works again after a reset. */
static void
test_trim(void)
{
    static uint8_t room[8192];
    ct_heap heap = {.fail_at = -1};
    ionf_symmap map;
    ionf_buf whole;
    ionf_symmap_init(&map, ct_heap_allocator(&heap));
    ionf_buf_init(&whole, ionf_alloc_libc());
    for (int round = 0; round < 3; round++) {
        char text[16];
        for (int i = 0; i < 1000; i++) {
            snprintf(text, sizeof text, "s%d", i);
            CHECK_INT(intern(&map, text), 10 + i);
        }
        whole.len = 0;
        CHECK_INT(ionf_symmap_write_binary(&map, true, &whole), IONF_OK);
        heap.fail_at = round == 0 ? heap.calls : -1; /* what cannot shrink stays as it is */
        ionf_symmap_trim(&map);
        heap.fail_at = -1;
        CHECK(ionf_symmap_retained(&map) == map.text.cap);
        CHECK((map.text.cap == map.text.len) == (round != 0));
        CHECK_INT(ionf_symmap_binary_size(&map, true), whole.len);
        const uint8_t *const end = ionf_symmap_put_binary(&map, true, room);
        CHECK_BYTES(room, (size_t)(end - room), whole.data, whole.len);
        ionf_symmap_reset(&map);
        CHECK_INT(find(&map, "s5"), 0);
    }
    ionf_symmap_trim(&map);
    ionf_symmap_destroy(&map);
    ionf_buf_destroy(&whole);
    CHECK_INT(heap.live_bytes, 0);
}

static void
test_write_long_lengths(void)
{
    ionf_symmap map;
    ionf_symmap_init(&map, ionf_alloc_libc());
    (void)intern(&map, "abcdefghijklmn");
    CHECK_WRITE(&map, false,
                "\xEE\x97\x81\x83\xDE\x93\x87\xBE\x90\x8E\x8E"
                "abcdefghijklmn");
    ionf_symmap_destroy(&map);
}

static void
test_write_imports(void)
{
    int references = 0;
    const ionf_slice symbols[] = {slice("x")};
    const ionf_shared a = shared_table("a", 1, symbols, 1, &references);
    const ionf_shared b = shared_table("b", 300, NULL, 0, &references);
    ionf_symmap map;
    ionf_symmap_init(&map, ionf_alloc_libc());
    CHECK_INT(ionf_symmap_import_add(&map, &a), IONF_OK);
    CHECK_INT(ionf_symmap_import_add(&map, &b), IONF_OK);
    /* {imports:[{name:"a",version:1,max_id:1},{name:"b",version:300,max_id:0}]} */
#define IMPORTS                                                                                   \
    "\x86\xBE\x94\xD9\x84\x81"                                                                    \
    "a\x85\x21\x01\x88\x21\x01\xD9\x84\x81"                                                       \
    "b\x85\x22\x01\x2C\x88\x20"
    CHECK_WRITE(&map, true, IVM "\xEE\x9B\x81\x83\xDE\x97" IMPORTS);
    CHECK_WRITE(&map, false, "");
    CHECK_INT(intern(&map, "z"), 11);
    CHECK_WRITE(&map, false,
                "\xEA\x81\x83\xD7\x86\x71\x03\x87\xB2\x81"
                "z");
    ionf_symmap_new_context(&map);
    CHECK_INT(intern(&map, "x"), 10);
    CHECK_INT(intern(&map, "w"), 11);
    CHECK_WRITE(&map, true,
                IVM "\xEE\x9F\x81\x83\xDE\x9B" IMPORTS "\x87\xB2\x81"
                    "w");
    /* Of a part, max_id is its length. */
    ionf_symmap_keep_imports(&map, 0);
    CHECK_INT(ionf_symmap_import_part(&map, &b, 2), IONF_OK);
    CHECK_WRITE(&map, true,
                IVM "\xEE\x90\x81\x83\xDD\x86\xBB\xDA\x84\x81"
                    "b\x85\x22\x01\x2C\x88\x21\x02");
    ionf_symmap_destroy(&map);
    CHECK_INT(references, 0);
}

static ionf_status
use_map(ionf_symmap *map, ionf_buf *out, const ionf_shared *shared)
{
    ionf_status status = ionf_symmap_import_add(map, shared);
    char text[16];
    for (int i = 0; i < 100 && status == IONF_OK; i++) {
        uint64_t sid;
        const int len = snprintf(text, sizeof text, "s%d", i);
        status = ionf_symmap_intern(map, (const uint8_t *)text, (size_t)len, &sid);
    }
    if (status == IONF_OK) {
        const size_t before = out->len;
        status = ionf_symmap_write_binary(map, true, out);
        CHECK(status == IONF_OK || (out->len == before && !map->has_context));
    }
    return status;
}

static void
test_each_allocation_failing(void)
{
    int references = 0;
    const ionf_slice symbols[] = {slice("x"), slice("s5")};
    const ionf_shared shared = shared_table("a", 1, symbols, 2, &references);
    ionf_status status = IONF_ERR_NOMEM;
    long long fail_at = 0;
    for (; status != IONF_OK && fail_at < 1000; fail_at++) {
        ct_heap heap = {.fail_at = fail_at};
        ionf_symmap map;
        ionf_buf out;
        ionf_symmap_init(&map, ct_heap_allocator(&heap));
        ionf_buf_init(&out, ct_heap_allocator(&heap));
        status = use_map(&map, &out, &shared);
        CHECK(status == IONF_OK || status == IONF_ERR_NOMEM);
        /* It must work again after a reset, whatever failed. */
        ionf_symmap_reset(&map);
        ionf_buf_reset(&out);
        CHECK_INT(use_map(&map, &out, &shared), IONF_OK);
        CHECK_INT(find(&map, "s5"), 11);
        CHECK_INT(find(&map, "s99"), 110);
        CHECK(ionf_symmap_retained(&map) + out.cap == (size_t)heap.live_bytes);
        ionf_symmap_destroy(&map);
        ionf_buf_destroy(&out);
        CHECK_INT(heap.live_bytes, 0);
        CHECK_INT(references, 0);
    }
    CHECK_INT(status, IONF_OK);
    CHECK(fail_at > 5);
}

int
main(void)
{
    RUN(test_system_symbols);
    RUN(test_locals);
    RUN(test_many_locals);
    RUN(test_reset_forgets);
    RUN(test_truncate);
    RUN(test_growing_and_truncating);
    RUN(test_long_locals);
    RUN(test_texts_of_one_hash);
    RUN(test_growth_that_fails);
    RUN(test_imports);
    RUN(test_import_index_is_kept);
    RUN(test_import_without_symbols);
    RUN(test_parts_of_imports);
    RUN(test_keep_imports);
    RUN(test_seed);
    RUN(test_write_tables);
    RUN(test_gaps);
    RUN(test_trim);
    RUN(test_write_long_lengths);
    RUN(test_write_imports);
    RUN(test_each_allocation_failing);
    return ct_end();
}
