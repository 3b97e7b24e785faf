/* Text -> SID for writers, and the local symbol tables they write.
 * Specification: symbols.md, "Local Symbol Tables", "Imports", "Semantics". */
#include "ionf_symmap.h"

#include <assert.h>

#include "ionf_varint.h"

#define MIN_SLOTS 32
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

/* ---- slots */

#define SLOT_TAG 0xFFFFFFFF00000000u
#define SLOT_INDEX(slot) ((size_t)((slot) & 0xFFFFFFFFu) - 1)

static inline uint64_t
slot_make(uint64_t hash, size_t index)
{
    return (hash & SLOT_TAG) | (uint64_t)(index + 1);
}

/* Put a slot that is known not to be there; there is room. */
static void
slots_put(ionf_symmap_slots *table, uint64_t hash, size_t index)
{
    size_t i = (size_t)hash & (table->cap - 1);
    while (table->slots[i] != 0) {
        i = (i + 1) & (table->cap - 1);
    }
    table->slots[i] = slot_make(hash, index);
}

static void
slots_free(ionf_symmap_slots *table, const ionf_alloc *alloc)
{
    ionf_alloc_free(alloc, table->slots, table->cap * sizeof *table->slots);
    table->slots = NULL;
    table->cap = 0;
}

/* A new, empty array of `cap` slots, a power of two, in place of the old one. */
static ionf_status
slots_renew(ionf_symmap_slots *table, size_t cap, const ionf_alloc *alloc)
{
    size_t bytes;
    if (cap == 0 || !ionf_size_mul(cap, sizeof *table->slots, &bytes)) {
        return IONF_ERR_NOMEM;
    }
    uint64_t *const slots = ionf_alloc_new(alloc, bytes);
    if (slots == NULL) {
        return IONF_ERR_NOMEM;
    }
    memset(slots, 0, bytes);
    slots_free(table, alloc);
    table->slots = slots;
    table->cap = cap;
    return IONF_OK;
}

/* The smallest power of two that `count` items fill to at most a half; 0 when there is none. */
static size_t
slots_cap_for(size_t count)
{
    size_t cap = MIN_SLOTS;
    while (cap != 0 && cap / 2 < count) {
        cap *= 2;
    }
    return cap;
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

/* Empty the slot of the last local. No other local's probing passes over it: it came last. */
static void
clear_last_slot(ionf_symmap *map)
{
    const size_t index = --map->local_count;
    const uint64_t wanted = slot_make(map->locals[index].hash, index);
    size_t i = (size_t)map->locals[index].hash & (map->slots.cap - 1);
    while (map->slots.slots[i] != wanted) {
        i = (i + 1) & (map->slots.cap - 1);
    }
    map->slots.slots[i] = 0;
}

void
ionf_symmap_truncate(ionf_symmap *map, size_t count)
{
    assert(map->emitted_count <= count || map->emitted_count == 0);
    if (map->local_count <= count) {
        return;
    }
    map->text.len = map->locals[count].start;
    if (count == 0 && map->local_count > map->slots.cap / 16) {
        memset(map->slots.slots, 0, map->slots.cap * sizeof *map->slots.slots);
        map->local_count = 0;
        return;
    }
    while (map->local_count > count) {
        clear_last_slot(map);
    }
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

void
ionf_symmap_destroy(ionf_symmap *map)
{
    imports_truncate(map, 0);
    ionf_alloc_free(&map->alloc, map->imports, map->import_cap * sizeof *map->imports);
    ionf_alloc_free(&map->alloc, map->locals, map->local_cap * sizeof *map->locals);
    slots_free(&map->slots, &map->alloc);
    ionf_buf_destroy(&map->text);
    init_with_seed(map, map->alloc, map->seed);
}

size_t
ionf_symmap_retained(const ionf_symmap *map)
{
    size_t bytes = map->import_cap * sizeof *map->imports + map->local_cap * sizeof *map->locals +
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

static bool
slice_is(ionf_slice slice, const uint8_t *text, size_t len)
{
    return slice.data != NULL && slice.len == len &&
           (len == 0 || memcmp(slice.data, text, len) == 0);
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
    for (size_t i = (size_t)hash & (table->cap - 1); table->slots[i] != 0;
         i = (i + 1) & (table->cap - 1)) {
        const size_t index = SLOT_INDEX(table->slots[i]);
        if (((table->slots[i] ^ hash) & SLOT_TAG) == 0 &&
            slice_is(import->shared->symbols[index], text, len)) {
            return index;
        }
    }
    return SIZE_MAX;
}

/* Index all symbols with text, each at its first place, which has the lowest SID. */
static IONF_NOINLINE ionf_status
import_build(ionf_symmap *map, ionf_symmap_import *import)
{
    const ionf_shared *const shared = import->shared;
    if (shared->max_id >= UINT32_MAX) {
        return IONF_ERR_NOMEM;
    }
    const size_t count = (size_t)shared->max_id;
    if (count != 0) {
        const ionf_status status = slots_renew(&import->index, slots_cap_for(count), &map->alloc);
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

/* Index of local `text`, or SIZE_MAX. */
static inline size_t
local_find(const ionf_symmap *map, uint64_t hash, const uint8_t *text, size_t len)
{
    const size_t mask = map->slots.cap - 1;
    if (IONF_UNLIKELY(map->slots.cap == 0)) {
        return SIZE_MAX;
    }
    for (size_t i = (size_t)hash & mask; map->slots.slots[i] != 0; i = (i + 1) & mask) {
        const uint64_t slot = map->slots.slots[i];
        if (((slot ^ hash) & SLOT_TAG) != 0) {
            continue;
        }
        const ionf_symmap_entry *const entry = &map->locals[SLOT_INDEX(slot)];
        if (entry->len == len &&
            (len == 0 || memcmp(map->text.data + entry->start, text, len) == 0)) {
            return SLOT_INDEX(slot);
        }
    }
    return SIZE_MAX;
}

static IONF_NOINLINE ionf_status
locals_grow_slots(ionf_symmap *map)
{
    const ionf_status status =
        slots_renew(&map->slots, slots_cap_for(map->local_count + 1), &map->alloc);
    if (status != IONF_OK) {
        return status;
    }
    for (size_t i = 0; i < map->local_count; i++) {
        slots_put(&map->slots, map->locals[i].hash, i);
    }
    return IONF_OK;
}

/* Room for one more row and its slot. */
static ionf_status
local_reserve(ionf_symmap *map)
{
    if (map->local_count >= UINT32_MAX - 1) {
        return IONF_ERR_RANGE;
    }
    if (map->local_count == map->local_cap) {
        void *rows = map->locals;
        const ionf_status status = ionf_alloc_grow(&map->alloc, &rows, &map->local_cap,
                                                   map->local_count + 1, sizeof *map->locals);
        map->locals = rows;
        if (status != IONF_OK) {
            return status;
        }
    }
    return map->slots.cap / 2 <= map->local_count ? locals_grow_slots(map) : IONF_OK;
}

static ionf_status
local_append(ionf_symmap *map, uint64_t hash, const uint8_t *text, size_t len)
{
    ionf_status status = local_reserve(map);
    if (status != IONF_OK) {
        return status;
    }
    const size_t start = map->text.len;
    /* One more, so that even the empty text has an address to copy from. */
    status = ionf_buf_reserve(&map->text, len + 1);
    if (status != IONF_OK) {
        return status;
    }
    status = ionf_buf_append(&map->text, text, len);
    if (status != IONF_OK) {
        return status;
    }
    map->locals[map->local_count] = (ionf_symmap_entry){hash, start, len};
    slots_put(&map->slots, hash, map->local_count++);
    return IONF_OK;
}

ionf_status
ionf_symmap_gap(ionf_symmap *map, uint64_t *sid)
{
    const ionf_status status = local_reserve(map);
    if (status != IONF_OK) {
        return status;
    }
    /* It has a slot as all have, which no look-up finds: no text is that long. */
    map->locals[map->local_count] = (ionf_symmap_entry){0, map->text.len, IONF_SYMMAP_GAP};
    slots_put(&map->slots, 0, map->local_count++);
    *sid = ionf_symmap_max_id(map);
    return IONF_OK;
}

/* Look in all three places; `*hash` is set when the text is not a system symbol. */
static inline ionf_status
find_hashed(ionf_symmap *map, const uint8_t *text, size_t len, uint64_t *hash, uint64_t *sid)
{
    *sid = system_find(text, len);
    if (*sid != 0) {
        return IONF_OK;
    }
    *hash = hash_text(map->seed, text, len);
    if (map->import_count != 0) {
        const ionf_status status = imports_find(map, *hash, text, len, sid);
        if (status != IONF_OK || *sid != 0) {
            return status;
        }
    }
    const size_t index = local_find(map, *hash, text, len);
    *sid = index == SIZE_MAX ? 0 : map->first_local + index;
    return IONF_OK;
}

ionf_status
ionf_symmap_find(ionf_symmap *map, const uint8_t *text, size_t len, uint64_t *sid)
{
    uint64_t hash = 0, found;
    const ionf_status status = find_hashed(map, text, len, &hash, &found);
    if (status == IONF_OK) {
        *sid = found;
    }
    return status;
}

ionf_status
ionf_symmap_intern(ionf_symmap *map, const uint8_t *text, size_t len, uint64_t *sid)
{
    uint64_t hash = 0, found;
    ionf_status status = find_hashed(map, text, len, &hash, &found);
    if (IONF_UNLIKELY(status != IONF_OK)) {
        return status;
    }
    if (found == 0) {
        status = local_append(map, hash, text, len);
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

static size_t
sized(size_t content_len)
{
    return 1 + (content_len < 14 ? 0 : ionf_varuint_size(content_len)) + content_len;
}

static uint8_t *
put_head(uint8_t *dst, uint8_t type_code, size_t content_len)
{
    if (content_len < 14) {
        *dst = (uint8_t)((unsigned)type_code << 4 | content_len);
        return dst + 1;
    }
    *dst = (uint8_t)(type_code << 4 | 14);
    return ionf_varuint_put(dst + 1, content_len);
}

static uint8_t *
put_string(uint8_t *dst, const uint8_t *text, size_t len)
{
    dst = put_head(dst, 8, len);
    if (len != 0) {
        memcpy(dst, text, len);
    }
    return dst + len;
}

static uint8_t *
put_uint(uint8_t *dst, uint64_t value)
{
    const size_t size = ionf_uint_size(value);
    dst = put_head(dst, 2, size);
    return ionf_uint_put(dst, value, size);
}

static size_t
import_content_len(const ionf_symmap_import *import)
{
    return 3 + sized(import->shared->name.len) + sized(ionf_uint_size(import->shared->version)) +
           sized(ionf_uint_size(import->length));
}

static uint8_t *
put_import(uint8_t *dst, const ionf_symmap_import *import)
{
    const ionf_shared *const shared = import->shared;
    dst = put_head(dst, 13, import_content_len(import));
    *dst++ = FIELD(IONF_SID_NAME);
    dst = put_string(dst, shared->name.data, shared->name.len);
    *dst++ = FIELD(IONF_SID_VERSION);
    dst = put_uint(dst, shared->version);
    *dst++ = FIELD(IONF_SID_MAX_ID);
    return put_uint(dst, import->length);
}

/* Lengths of what the next table holds. */
typedef struct table_plan {
    bool is_append;
    size_t first;       /* local to start with */
    size_t import_len;  /* content of the list of imports; 0: no such list */
    size_t symbols_len; /* content of the list of symbols; 0: no such list */
    size_t struct_len;
    size_t wrapper_len;
    size_t total;
} table_plan;

static table_plan
plan_table(const ionf_symmap *map, bool is_append)
{
    table_plan plan = {.is_append = is_append, .first = is_append ? map->emitted_count : 0};
    for (size_t i = 0; !is_append && i < map->import_count; i++) {
        plan.import_len += sized(import_content_len(&map->imports[i]));
    }
    for (size_t i = plan.first; i < map->local_count; i++) {
        plan.symbols_len += map->locals[i].len == IONF_SYMMAP_GAP ? 1 : sized(map->locals[i].len);
    }
    if (plan.import_len == 0 && plan.symbols_len == 0) {
        return plan;
    }
    plan.struct_len = is_append ? 3 : plan.import_len == 0 ? 0 : 1 + sized(plan.import_len);
    plan.struct_len += plan.symbols_len == 0 ? 0 : 1 + sized(plan.symbols_len);
    plan.wrapper_len = 2 + sized(plan.struct_len);
    plan.total = sized(plan.wrapper_len);
    return plan;
}

static uint8_t *
put_symbol(uint8_t *dst, const ionf_symmap *map, const ionf_symmap_entry *entry)
{
    if (entry->len == IONF_SYMMAP_GAP) {
        *dst++ = 0x0F; /* null */
        return dst;
    }
    return put_string(dst, map->text.data + entry->start, entry->len);
}

static uint8_t *
put_table(uint8_t *dst, const ionf_symmap *map, const table_plan *plan)
{
    dst = put_head(dst, 14, plan->wrapper_len);
    *dst++ = 0x81;
    *dst++ = FIELD(IONF_SID_ION_SYMBOL_TABLE);
    dst = put_head(dst, 13, plan->struct_len);
    if (plan->is_append) {
        *dst++ = FIELD(IONF_SID_IMPORTS);
        *dst++ = 0x71;
        *dst++ = IONF_SID_ION_SYMBOL_TABLE;
    } else if (plan->import_len != 0) {
        *dst++ = FIELD(IONF_SID_IMPORTS);
        dst = put_head(dst, 11, plan->import_len);
        for (size_t i = 0; i < map->import_count; i++) {
            dst = put_import(dst, &map->imports[i]);
        }
    }
    if (plan->symbols_len != 0) {
        *dst++ = FIELD(IONF_SID_SYMBOLS);
        dst = put_head(dst, 11, plan->symbols_len);
        for (size_t i = plan->first; i < map->local_count; i++) {
            dst = put_symbol(dst, map, &map->locals[i]);
        }
    }
    return dst;
}

size_t
ionf_symmap_binary_size(const ionf_symmap *map, bool with_ivm)
{
    return (with_ivm ? 4 : 0) + plan_table(map, map->has_context && !with_ivm).total;
}

ionf_status
ionf_symmap_write_binary(ionf_symmap *map, bool with_ivm, ionf_buf *out)
{
    const table_plan plan = plan_table(map, map->has_context && !with_ivm);
    const ionf_status status = ionf_buf_reserve(out, 4 + plan.total);
    if (status != IONF_OK) {
        return status;
    }
    uint8_t *dst = out->data + out->len;
    if (with_ivm) {
        memcpy(dst, "\xE0\x01\x00\xEA", 4);
        dst += 4;
        map->has_context = false;
    }
    if (plan.total != 0) {
        dst = put_table(dst, map, &plan);
        map->has_context = true;
    }
    out->len = (size_t)(dst - out->data);
    map->emitted_count = map->local_count;
    return IONF_OK;
}
