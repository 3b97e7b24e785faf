/* Text -> SID for writers, and the local symbol tables they write.
 * Specification: symbols.md, "Local Symbol Tables", "Imports", "Semantics". */
#include "ionf_symmap.h"

#include <assert.h>

#include "ionf_bin_put.h"

/* Nothing hangs on the value: a map whose owner sets no seed still needs one. */
#define DEFAULT_SEED 0x5851F42D4C957F2Du

/* ---- the hash */

static inline uint64_t
load32_native(const uint8_t *p)
{
    uint32_t value;
    memcpy(&value, p, sizeof value);
    return value;
}

/* One step for 8 bytes. The product of the two halves makes what a difference does depend on the
 * seed, so that collisions are hard to prepare; the second one keeps the state if a half is 0. */
static inline uint64_t
hash_step(uint64_t state, uint64_t block)
{
    const uint64_t mixed = state ^ block;
    return (mixed & 0xFFFFFFFFu) * (mixed >> 32) + (mixed ^ mixed >> 29) * 0x9E3779B97F4A7C15u;
}

/* The last 1 .. 8 bytes of `len`, which overlap earlier ones where there are any: the length is in
 * the state, so no two texts of one length give the same blocks. */
static inline uint64_t
hash_tail(const uint8_t *text, size_t len)
{
    if (len >= 8) {
        return ionf_load64_native(text + len - 8);
    }
    if (len >= 4) {
        return load32_native(text) | load32_native(text + len - 4) << 32;
    }
    if (len == 0) {
        return 0;
    }
    return (uint64_t)text[0] | (uint64_t)text[len / 2] << 8 | (uint64_t)text[len - 1] << 16;
}

static inline uint64_t
hash_text(uint64_t seed, const uint8_t *text, size_t len)
{
    uint64_t state = seed ^ (uint64_t)len * 0xD6E8FEB86659FD93u;
    size_t i = 0;
    for (; len - i > 8; i += 8) {
        state = hash_step(state, ionf_load64_native(text + i));
    }
    state = hash_step(state, hash_tail(text, len));
    state = hash_step(state ^ seed >> 32, 0);
    return state ^ state >> 32;
}

/* ---- slots
 *
 *   31..28   distance from where the hash says to look first; DISTANCE_MAX stands for any longer one too
 *   27..k    as many bits of the hash
 *   k-1..0   index + 1, of 2^k slots
 *
 * A slot's place, less the distance, is the rest of the hash: they can grow without a look at the texts,
 * which would have to be hashed again (6 ns each), and need no hash beside them. The distance costs a
 * look-up nothing: it knows which one it needs, so that these bits tell texts apart as the others do. */

#define HASH_BITS 0x0FFFFFFFu
#define DISTANCE_ONE ((uint32_t)1 << 28)
#define DISTANCE_MAX 15u
#define MIN_SLOTS 64
/* Up to so many it does not matter what they take: they grow to four times as many, half of them used.
 * More grow to twice as many, three quarters of them used. */
#define FEW_SLOTS 16384
#define SLOTS_MAX ((size_t)1 << 28)
#define ITEMS_MAX (SLOTS_MAX / 4 * 3)

/* What a slot has above the index, for the hash at no distance. */
static inline uint32_t
slot_tag(uint64_t hash, size_t mask)
{
    return (uint32_t)hash & HASH_BITS & ~(uint32_t)mask;
}

/* The same one slot further. */
static inline uint32_t
next_tag(uint32_t tag)
{
    return tag < DISTANCE_MAX * DISTANCE_ONE ? tag + DISTANCE_ONE : tag;
}

static inline bool
slot_has_tag(uint32_t slot, uint32_t tag, size_t mask)
{
    return ((slot ^ tag) & ~(uint32_t)mask) == 0;
}

static inline size_t
slot_index(uint32_t slot, size_t mask)
{
    return (size_t)(slot & (uint32_t)mask) - 1;
}

/* Put a slot that is known not to be there; there is room. */
IONF_FORCE_INLINE void
slots_put(ionf_symmap_slots *table, uint64_t hash, size_t index)
{
    const size_t mask = table->cap - 1;
    uint32_t tag = slot_tag(hash, mask);
    size_t i = (size_t)hash & mask;
    while (table->slots[i] != 0) {
        i = (i + 1) & mask;
        tag = next_tag(tag);
    }
    table->slots[i] = tag | (uint32_t)(index + 1);
}

static void
slots_free(ionf_symmap_slots *table, const ionf_alloc *alloc)
{
    ionf_alloc_free(alloc, table->slots, table->cap * sizeof *table->slots);
    table->slots = NULL;
    table->cap = 0;
}

/* More slots, a power of two, the new ones empty. On failure nothing has changed. */
static ionf_status
slots_add(ionf_symmap_slots *table, size_t cap, const ionf_alloc *alloc)
{
    assert(cap > table->cap && cap <= SLOTS_MAX);
    const size_t size = sizeof *table->slots;
    uint32_t *const slots =
        alloc->realloc(alloc->ctx, table->slots, table->cap * size, cap * size);
    if (slots == NULL) {
        return IONF_ERR_NOMEM;
    }
    memset(slots + table->cap, 0, (cap - table->cap) * size);
    table->slots = slots;
    table->cap = cap;
    return IONF_OK;
}

/* Items that so many slots are for. */
static inline size_t
slots_room(size_t cap)
{
    return cap <= FEW_SLOTS ? cap / 2 : cap / 4 * 3;
}

/* Slots for `count` items, at most ITEMS_MAX: `cap`, a power of two, or a greater one. */
static size_t
slots_cap_for(size_t cap, size_t count)
{
    while (slots_room(cap) < count) {
        cap *= 2;
    }
    return cap;
}

/* ---- the locals' texts, as they stand in the table that is written */

/* A row of map->starts says where four locals begin: the first, and how much further the others do, or
 * FAR. Two bytes a local, where a start each would be eight.
 *
 *   63..24 first | 23..16 fourth | 15..8 third | 7..0 second */
#define LOCALS_PER_ROW 4
#define START_SHIFT 24
#define START_MAX (UINT64_MAX >> START_SHIFT)
#define FAR 255u

/* Where a local begins that is FAR from its row's first. */
static IONF_OUTLINE const uint8_t *
local_far(const ionf_symmap *map, size_t index)
{
    const uint64_t row = map->starts[index / LOCALS_PER_ROW];
    const uint8_t *p = map->text.data + (size_t)(row >> START_SHIFT);
    for (size_t left = index % LOCALS_PER_ROW; left != 0; left--) {
        (void)ionf_symtab_take(&p);
    }
    return p;
}

/* Where local `index` begins; there is one. */
static inline const uint8_t *
local_at(const ionf_symmap *map, size_t index)
{
    const uint64_t row = map->starts[index / LOCALS_PER_ROW];
    const size_t further = (uint8_t)(row << 8 >> 8 * (index % LOCALS_PER_ROW));
    if (IONF_UNLIKELY(further == FAR)) {
        return local_far(map, index);
    }
    return map->text.data + (size_t)(row >> START_SHIFT) + further;
}

/* The next local begins at the end of the text, of at most START_MAX bytes. */
static inline void
local_begin(ionf_symmap *map)
{
    const size_t index = map->local_count++;
    uint64_t *const row = &map->starts[index / LOCALS_PER_ROW];
    if (index % LOCALS_PER_ROW == 0) {
        *row = (uint64_t)map->text.len << START_SHIFT;
        return;
    }
    const size_t further = map->text.len - (size_t)(*row >> START_SHIFT);
    const size_t shift = 8 * (index % LOCALS_PER_ROW - 1);
    const uint64_t kept =
        *row & ~((uint64_t)FAR << shift); /* a local that was truncated had one */
    *row = kept | (uint64_t)(further < FAR ? further : FAR) << shift;
}

ionf_slice
ionf_symmap_local(const ionf_symmap *map, size_t index)
{
    const uint8_t *p = local_at(map, index);
    return ionf_symtab_take(&p);
}

/* ---- life */

static void
import_release(ionf_symmap *map, ionf_symmap_import *import)
{
    import->shared->release(import->shared);
    slots_free(&import->index, &map->alloc);
}

/* Release the rows from `count` on, kept ones included. */
static void
imports_truncate(ionf_symmap *map, size_t count)
{
    while (map->import_kept > count) {
        import_release(map, &map->imports[--map->import_kept]);
    }
    if (map->import_count > count) {
        map->import_count = count;
    }
}

static void
init_with_seed(ionf_symmap *map, ionf_alloc alloc, uint64_t seed)
{
    memset(map, 0, sizeof *map);
    map->alloc = alloc;
    map->seed = seed;
    map->first_local = IONF_SYSTEM_MAX_ID + 1;
    ionf_buf_init(&map->text, alloc);
}

void
ionf_symmap_init(ionf_symmap *map, ionf_alloc alloc)
{
    init_with_seed(map, alloc, DEFAULT_SEED);
}

void
ionf_symmap_set_seed(ionf_symmap *map, uint64_t seed)
{
    assert(map->local_count == 0);
    imports_truncate(map, 0);
    map->first_local = IONF_SYSTEM_MAX_ID + 1;
    map->seed = seed;
}

/* Forget the last local. No look-up of another one passes over its slot: it came last, and slots that grow
 * keep the order of their runs. */
static void
forget_last(ionf_symmap *map)
{
    const size_t index = map->local_count - 1;
    const ionf_slice text = ionf_symmap_local(map, index);
    if (text.data != NULL) {
        const size_t mask = map->slots.cap - 1;
        size_t i = (size_t)hash_text(map->seed, text.data, text.len) & mask;
        while (slot_index(map->slots.slots[i], mask) != index) {
            i = (i + 1) & mask;
        }
        map->slots.slots[i] = 0;
    }
    map->local_count = index;
}

void
ionf_symmap_truncate(ionf_symmap *map, size_t count)
{
    assert(map->emitted_count <= count || map->emitted_count == 0);
    if (map->local_count <= count) {
        return;
    }
    const size_t len = count == 0 ? 0 : (size_t)(local_at(map, count) - map->text.data);
    if (count == 0 && map->local_count > map->slots.cap / 32) {
        if (map->slots.cap != 0) {
            memset(map->slots.slots, 0, map->slots.cap * sizeof *map->slots.slots);
        }
        map->local_count = 0;
    }
    while (map->local_count > count) {
        forget_last(map);
    }
    map->text.len = len;
}

void
ionf_symmap_new_context(ionf_symmap *map)
{
    map->emitted_count = 0;
    map->has_context = false;
    ionf_symmap_truncate(map, 0);
}

void
ionf_symmap_reset(ionf_symmap *map)
{
    ionf_symmap_new_context(map);
    size_t keep = 0;
    while (keep < map->import_kept && map->imports[keep].has_index) {
        keep++;
    }
    imports_truncate(map, keep);
    map->import_count = 0;
    map->first_local = IONF_SYSTEM_MAX_ID + 1;
}

static void
free_index(ionf_symmap *map)
{
    ionf_alloc_free(&map->alloc, map->starts, map->start_cap * sizeof *map->starts);
    map->starts = NULL;
    map->start_cap = 0;
    slots_free(&map->slots, &map->alloc);
}

void
ionf_symmap_trim(ionf_symmap *map)
{
    free_index(map);
    ionf_buf *const text = &map->text;
    if (text->cap == text->len || text->len == 0) {
        return;
    }
    void *const data = map->alloc.realloc(map->alloc.ctx, text->data, text->cap, text->len);
    if (data != NULL) { /* or it stays as it is */
        text->data = data;
        text->cap = text->len;
    }
}

void
ionf_symmap_destroy(ionf_symmap *map)
{
    imports_truncate(map, 0);
    ionf_alloc_free(&map->alloc, map->imports, map->import_cap * sizeof *map->imports);
    free_index(map);
    ionf_buf_destroy(&map->text);
    init_with_seed(map, map->alloc, map->seed);
}

size_t
ionf_symmap_retained(const ionf_symmap *map)
{
    size_t bytes = map->import_cap * sizeof *map->imports + map->start_cap * sizeof *map->starts +
                   map->slots.cap * sizeof *map->slots.slots + map->text.cap;
    for (size_t i = 0; i < map->import_kept; i++) {
        bytes += map->imports[i].index.cap * sizeof *map->slots.slots;
    }
    return bytes;
}

/* ---- imports */

/* The row for the next import: a kept one of the same table, or a new one. */
static ionf_status
import_row(ionf_symmap *map, const ionf_shared *shared)
{
    if (map->import_count < map->import_kept) {
        if (map->imports[map->import_count].shared == shared) {
            return IONF_OK;
        }
        imports_truncate(map, map->import_count);
    }
    void *rows = map->imports;
    const ionf_status status = ionf_alloc_grow(&map->alloc, &rows, &map->import_cap,
                                               map->import_count + 1, sizeof *map->imports);
    map->imports = rows;
    if (status != IONF_OK) {
        return status;
    }
    ionf_symmap_import *const import = &map->imports[map->import_count];
    memset(import, 0, sizeof *import);
    shared->retain(shared);
    import->shared = shared;
    map->import_kept++;
    return IONF_OK;
}

ionf_status
ionf_symmap_import_part(ionf_symmap *map, const ionf_shared *shared, uint64_t length)
{
    if (map->local_count != 0 || map->has_context || length > UINT64_MAX / 2 ||
        map->first_local > UINT64_MAX / 2) {
        return IONF_ERR_STATE;
    }
    const ionf_status status = import_row(map, shared);
    if (status != IONF_OK) {
        return status;
    }
    ionf_symmap_import *const import = &map->imports[map->import_count++];
    import->first_sid = map->first_local;
    import->length = length;
    map->first_local += length;
    return IONF_OK;
}

ionf_status
ionf_symmap_import_add(ionf_symmap *map, const ionf_shared *shared)
{
    return ionf_symmap_import_part(map, shared, shared->max_id);
}

void
ionf_symmap_keep_imports(ionf_symmap *map, size_t count)
{
    ionf_symmap_new_context(map);
    imports_truncate(map, count);
    const ionf_symmap_import *const last = count == 0 ? NULL : &map->imports[count - 1];
    map->first_local = last == NULL ? IONF_SYSTEM_MAX_ID + 1 : last->first_sid + last->length;
}

/* Short texts are compared without a call: 4 ns. */
static inline bool
slice_is(ionf_slice slice, const uint8_t *text, size_t len)
{
    if (slice.data == NULL || slice.len != len) {
        return false;
    }
    if (len > 16) {
        return memcmp(slice.data, text, len) == 0;
    }
    return hash_tail(slice.data, len) == hash_tail(text, len) &&
           (len <= 8 || ionf_load64_native(slice.data) == ionf_load64_native(text));
}

/* Index in shared->symbols of `text`, or SIZE_MAX. */
static size_t
import_find(const ionf_symmap_import *import, uint64_t hash, const uint8_t *text, size_t len)
{
    const ionf_symmap_slots *const table = &import->index;
    if (table->cap == 0) {
        return SIZE_MAX;
    }
    assert(import->shared->symbols != NULL); /* what the slots point into */
    const size_t mask = table->cap - 1;
    uint32_t tag = slot_tag(hash, mask);
    for (size_t i = (size_t)hash & mask; table->slots[i] != 0; i = (i + 1) & mask) {
        if (slot_has_tag(table->slots[i], tag, mask)) {
            const size_t index = slot_index(table->slots[i], mask);
            if (slice_is(import->shared->symbols[index], text, len)) {
                return index;
            }
        }
        tag = next_tag(tag);
    }
    return SIZE_MAX;
}

/* Index all symbols with text, each at its first place, which has the lowest SID. */
static IONF_NOINLINE ionf_status
import_build(ionf_symmap *map, ionf_symmap_import *import)
{
    const ionf_shared *const shared = import->shared;
    if (shared->max_id > ITEMS_MAX) {
        return IONF_ERR_NOMEM;
    }
    const size_t count = (size_t)shared->max_id;
    if (count != 0) {
        const ionf_status status =
            slots_add(&import->index, slots_cap_for(MIN_SLOTS, count), &map->alloc);
        if (status != IONF_OK) {
            return status;
        }
    }
    for (size_t i = 0; i < count; i++) {
        const ionf_slice symbol = shared->symbols[i];
        if (symbol.data == NULL) {
            continue;
        }
        const uint64_t hash = hash_text(map->seed, symbol.data, symbol.len);
        if (import_find(import, hash, symbol.data, symbol.len) == SIZE_MAX) {
            slots_put(&import->index, hash, i);
        }
    }
    import->has_index = true;
    return IONF_OK;
}

/* SID of `text` in the first import that has it, or 0. An index holds the first place of a text: if that
 * is beyond the import's length, so are all. */
static ionf_status
imports_find(ionf_symmap *map, uint64_t hash, const uint8_t *text, size_t len, uint64_t *sid)
{
    *sid = 0;
    for (size_t i = 0; i < map->import_count; i++) {
        ionf_symmap_import *const import = &map->imports[i];
        if (IONF_UNLIKELY(!import->has_index) && import->shared->symbols != NULL) {
            const ionf_status status = import_build(map, import);
            if (status != IONF_OK) {
                return status;
            }
        }
        const size_t index = import_find(import, hash, text, len);
        if (index < import->length) { /* SIZE_MAX is not */
            *sid = import->first_sid + index;
            return IONF_OK;
        }
    }
    return IONF_OK;
}

/* ---- locals */

/* SID of a system symbol, or 0. Bit n: some system symbol has n bytes. */
static inline uint64_t
system_find(const uint8_t *text, size_t len)
{
    const uint32_t lengths = 1u << 4 | 1u << 6 | 1u << 7 | 1u << 8 | 1u << 17 | 1u << 24;
    if (IONF_LIKELY(len > 24 || (lengths >> len & 1u) == 0)) {
        return 0;
    }
    switch (text[0]) {
    case '$':
    case 'n':
    case 'v':
    case 'i':
    case 's':
    case 'm':
        return ionf_system_sid(text, len);
    default:
        return 0;
    }
}

/* A text and where its look-up ended. */
typedef struct lookup {
    const uint8_t *text;
    size_t len;
    uint64_t hash;
    size_t place; /* of locals: the empty slot, unless there are none at all */
    uint32_t tag; /* at that place */
} lookup;

/* Index of a local, or SIZE_MAX. */
static inline size_t
local_find(const ionf_symmap *map, lookup *wanted)
{
    const size_t mask = map->slots.cap - 1;
    if (IONF_UNLIKELY(map->slots.cap == 0)) {
        return SIZE_MAX;
    }
    uint32_t tag = slot_tag(wanted->hash, mask);
    size_t i = (size_t)wanted->hash & mask;
    for (; map->slots.slots[i] != 0; i = (i + 1) & mask) {
        const uint32_t slot = map->slots.slots[i];
        if (slot_has_tag(slot, tag, mask)) {
            const uint8_t *p = local_at(map, slot_index(slot, mask));
            if (slice_is(ionf_symtab_take(&p), wanted->text, wanted->len)) {
                return slot_index(slot, mask);
            }
        }
        tag = next_tag(tag);
    }
    wanted->place = i;
    wanted->tag = tag;
    return SIZE_MAX;
}

/* The hash of a local, as far as slots go, from its slot. */
static inline uint32_t
slot_hash(const ionf_symmap *map, uint32_t slot, size_t place, size_t mask)
{
    if (IONF_UNLIKELY(slot >= DISTANCE_MAX * DISTANCE_ONE)) {
        const ionf_slice text = ionf_symmap_local(map, slot_index(slot, mask));
        return (uint32_t)hash_text(map->seed, text.data, text.len);
    }
    return (slot & HASH_BITS & ~(uint32_t)mask) |
           ((uint32_t)(place - slot / DISTANCE_ONE) & (uint32_t)mask);
}

/* In two steps, so that what has branches that cannot be predicted stays apart: with 10,000 names a new one
 * takes 44 ns, not 48. */
#define SPREAD_BATCH 32

/* Take out what is in the slots from `start` to `end`, where it is as of `cap` slots, and put it again. */
static void
spread_some(ionf_symmap *map, size_t cap, size_t start, size_t end)
{
    uint32_t hashes[SPREAD_BATCH], indexes[SPREAD_BATCH];
    uint32_t *const slots = map->slots.slots;
    size_t count = 0;
    for (size_t i = start; i < end; i++) {
        hashes[count] = slot_hash(map, slots[i], i, cap - 1);
        indexes[count] = slots[i] & (uint32_t)(cap - 1);
        count += slots[i] != 0;
        slots[i] = 0;
    }
    for (size_t i = 0; i < count; i++) {
        slots_put(&map->slots, hashes[i], indexes[i] - 1);
    }
}

/* Spread the first `cap` slots over all. They are taken in the order of their runs, so that what is put
 * passes over nothing that is still to be taken, and no two of them change places; the run that goes on at
 * the first slot goes on behind the last one instead. */
static void
spread_slots(ionf_symmap *map, size_t cap)
{
    uint32_t *const slots = map->slots.slots;
    size_t first = 0;
    while (slots[first] != 0) {
        first++;
    }
    memcpy(slots + cap, slots, first * sizeof *slots);
    memset(slots, 0, first * sizeof *slots);
    const size_t end = cap + first;
    for (size_t i = first + 1; i < end; i += SPREAD_BATCH) {
        spread_some(map, cap, i, end - i < SPREAD_BATCH ? end : i + SPREAD_BATCH);
    }
}

static IONF_NOINLINE ionf_status
locals_grow_slots(ionf_symmap *map)
{
    const size_t cap = map->slots.cap;
    const size_t wanted = cap == 0 ? MIN_SLOTS : cap < FEW_SLOTS ? cap * 4 : cap * 2;
    const ionf_status status = slots_add(&map->slots, wanted, &map->alloc);
    if (status == IONF_OK && cap != 0) {
        spread_slots(map, cap);
    }
    return status;
}

/* Room for one more local of `size` bytes, and its slot. */
static ionf_status
local_reserve(ionf_symmap *map, size_t size)
{
    if (map->local_count >= ITEMS_MAX || (uint64_t)map->text.len > START_MAX) {
        return IONF_ERR_RANGE;
    }
    const size_t row = map->local_count / LOCALS_PER_ROW;
    ionf_status status = IONF_OK;
    if (row >= map->start_cap) {
        void *rows = map->starts;
        status =
            ionf_alloc_grow(&map->alloc, &rows, &map->start_cap, row + 1, sizeof *map->starts);
        map->starts = rows;
    }
    if (status == IONF_OK && slots_room(map->slots.cap) <= map->local_count) {
        status = locals_grow_slots(map);
    }
    return status == IONF_OK ? ionf_buf_reserve(&map->text, size) : status;
}

static ionf_status
local_append(ionf_symmap *map, const lookup *wanted)
{
    const size_t cap = map->slots.cap;
    const size_t size = ionf_bin_sized(wanted->len);
    const ionf_status status = local_reserve(map, size);
    if (status != IONF_OK) {
        return status;
    }
    if (IONF_LIKELY(map->slots.cap == cap)) {
        map->slots.slots[wanted->place] = wanted->tag | (uint32_t)(map->local_count + 1);
    } else {
        slots_put(&map->slots, wanted->hash, map->local_count);
    }
    local_begin(map);
    (void)ionf_bin_put_string(map->text.data + map->text.len, wanted->text, wanted->len);
    map->text.len += size;
    return IONF_OK;
}

ionf_status
ionf_symmap_gap(ionf_symmap *map, uint64_t *sid)
{
    const ionf_status status = local_reserve(map, 1);
    if (status != IONF_OK) {
        return status;
    }
    local_begin(map); /* without a slot: it is never looked for */
    map->text.data[map->text.len++] = IONF_SYMTAB_GAP;
    *sid = ionf_symmap_max_id(map);
    return IONF_OK;
}

/* Look in all three places; the hash is set when the text is not a system symbol. */
static inline ionf_status
find_hashed(ionf_symmap *map, lookup *wanted, uint64_t *sid)
{
    *sid = system_find(wanted->text, wanted->len);
    if (*sid != 0) {
        return IONF_OK;
    }
    wanted->hash = hash_text(map->seed, wanted->text, wanted->len);
    if (map->import_count != 0) {
        const ionf_status status = imports_find(map, wanted->hash, wanted->text, wanted->len, sid);
        if (status != IONF_OK || *sid != 0) {
            return status;
        }
    }
    const size_t index = local_find(map, wanted);
    *sid = index == SIZE_MAX ? 0 : map->first_local + index;
    return IONF_OK;
}

ionf_status
ionf_symmap_find(ionf_symmap *map, const uint8_t *text, size_t len, uint64_t *sid)
{
    lookup wanted = {text, len, 0, 0, 0};
    uint64_t found;
    const ionf_status status = find_hashed(map, &wanted, &found);
    if (status == IONF_OK) {
        *sid = found;
    }
    return status;
}

ionf_status
ionf_symmap_intern(ionf_symmap *map, const uint8_t *text, size_t len, uint64_t *sid)
{
    lookup wanted = {text, len, 0, 0, 0};
    uint64_t found;
    ionf_status status = find_hashed(map, &wanted, &found);
    if (IONF_UNLIKELY(status != IONF_OK)) {
        return status;
    }
    if (found == 0) {
        status = local_append(map, &wanted);
        if (IONF_UNLIKELY(status != IONF_OK)) {
            return status;
        }
        found = ionf_symmap_max_id(map);
    }
    *sid = found;
    return IONF_OK;
}

/* ---- writing the table
 *
 *   wrapper   EE len 81 83 struct                                  $ion_symbol_table::
 *   struct    DE len [86 71 03 | 86 BE len import...] [87 BE len string...]
 *   import    DE len 84 name 85 version 88 max_id
 *
 * All lengths are summed first, so that the bytes are stored once, in one reservation. */

#define FIELD(sid) ((uint8_t)(0x80u | (sid)))

static uint8_t *
put_uint(uint8_t *dst, uint64_t value)
{
    const size_t size = ionf_uint_size(value);
    dst = ionf_bin_put_head(dst, 0x20, size);
    return ionf_uint_put(dst, value, size);
}

static size_t
import_content_len(const ionf_symmap_import *import)
{
    return 3 + ionf_bin_sized(import->shared->name.len) +
           ionf_bin_sized(ionf_uint_size(import->shared->version)) +
           ionf_bin_sized(ionf_uint_size(import->length));
}

static uint8_t *
put_import(uint8_t *dst, const ionf_symmap_import *import)
{
    const ionf_shared *const shared = import->shared;
    dst = ionf_bin_put_head(dst, 0xD0, import_content_len(import));
    *dst++ = FIELD(IONF_SID_NAME);
    dst = ionf_bin_put_string(dst, shared->name.data, shared->name.len);
    *dst++ = FIELD(IONF_SID_VERSION);
    dst = put_uint(dst, shared->version);
    *dst++ = FIELD(IONF_SID_MAX_ID);
    return put_uint(dst, import->length);
}

/* Lengths of what the next table holds. */
typedef struct table_plan {
    bool is_append;
    size_t first;       /* where its locals begin in map->text */
    size_t import_len;  /* content of the list of imports; 0: no such list */
    size_t symbols_len; /* content of the list of symbols; 0: no such list */
    size_t struct_len;
    size_t wrapper_len;
    size_t total;
} table_plan;

/* Bytes of the locals that have been written. */
static size_t
emitted_len(const ionf_symmap *map)
{
    return map->emitted_count == map->local_count
               ? map->text.len
               : (size_t)(local_at(map, map->emitted_count) - map->text.data);
}

static table_plan
plan_table(const ionf_symmap *map, bool is_append)
{
    table_plan plan = {.is_append = is_append, .first = is_append ? emitted_len(map) : 0};
    for (size_t i = 0; !is_append && i < map->import_count; i++) {
        plan.import_len += ionf_bin_sized(import_content_len(&map->imports[i]));
    }
    plan.symbols_len = map->text.len - plan.first;
    if (plan.import_len == 0 && plan.symbols_len == 0) {
        return plan;
    }
    plan.struct_len = is_append              ? 3
                      : plan.import_len == 0 ? 0
                                             : 1 + ionf_bin_sized(plan.import_len);
    plan.struct_len += plan.symbols_len == 0 ? 0 : 1 + ionf_bin_sized(plan.symbols_len);
    plan.wrapper_len = 2 + ionf_bin_sized(plan.struct_len);
    plan.total = ionf_bin_sized(plan.wrapper_len);
    return plan;
}

static uint8_t *
put_table(uint8_t *dst, const ionf_symmap *map, const table_plan *plan)
{
    dst = ionf_bin_put_head(dst, 0xE0, plan->wrapper_len);
    *dst++ = 0x81;
    *dst++ = FIELD(IONF_SID_ION_SYMBOL_TABLE);
    dst = ionf_bin_put_head(dst, 0xD0, plan->struct_len);
    if (plan->is_append) {
        *dst++ = FIELD(IONF_SID_IMPORTS);
        *dst++ = 0x71;
        *dst++ = IONF_SID_ION_SYMBOL_TABLE;
    } else if (plan->import_len != 0) {
        *dst++ = FIELD(IONF_SID_IMPORTS);
        dst = ionf_bin_put_head(dst, 0xB0, plan->import_len);
        for (size_t i = 0; i < map->import_count; i++) {
            dst = put_import(dst, &map->imports[i]);
        }
    }
    if (plan->symbols_len != 0) {
        *dst++ = FIELD(IONF_SID_SYMBOLS);
        dst = ionf_bin_put_head(dst, 0xB0, plan->symbols_len);
        memcpy(dst, map->text.data + plan->first, plan->symbols_len);
        dst += plan->symbols_len;
    }
    return dst;
}

size_t
ionf_symmap_binary_size(const ionf_symmap *map, bool with_ivm)
{
    return (with_ivm ? 4 : 0) + plan_table(map, map->has_context && !with_ivm).total;
}

static uint8_t *
put_binary(ionf_symmap *map, bool with_ivm, const table_plan *plan, uint8_t *dst)
{
    if (with_ivm) {
        memcpy(dst, "\xE0\x01\x00\xEA", 4);
        dst += 4;
        map->has_context = false;
    }
    if (plan->total != 0) {
        dst = put_table(dst, map, plan);
        map->has_context = true;
    }
    map->emitted_count = map->local_count;
    return dst;
}

uint8_t *
ionf_symmap_put_binary(ionf_symmap *map, bool with_ivm, uint8_t *dst)
{
    const table_plan plan = plan_table(map, map->has_context && !with_ivm);
    return put_binary(map, with_ivm, &plan, dst);
}

ionf_status
ionf_symmap_write_binary(ionf_symmap *map, bool with_ivm, ionf_buf *out)
{
    const table_plan plan = plan_table(map, map->has_context && !with_ivm);
    const ionf_status status = ionf_buf_reserve(out, 4 + plan.total);
    if (status != IONF_OK) {
        return status;
    }
    uint8_t *const end = put_binary(map, with_ivm, &plan, out->data + out->len);
    out->len = (size_t)(end - out->data);
    return IONF_OK;
}
