/* The writer's symbol table: text -> SID, over the system table, imports and local symbols that
 * are appended as they are met. Imports cost what is looked up in them. Knows nothing of values.
 * Specification: symbols.md, "Local Symbol Tables" and "Semantics" (a text's lowest SID counts).
 *
 *   SID   1 ........ 9 | 10 .......... | ............. | first_local ....
 *         system table | imports[0]    | imports[1]    | locals[0] ...
 */
#ifndef IONF_SYMMAP_H
#define IONF_SYMMAP_H

#include "ionf_buf.h"
#include "ionf_symtab.h"

/* Open addressing with linear probing, a power of two of slots. A slot holds an index + 1, and in the bits
 * that it leaves some of the hash; 0 is an empty slot. */
typedef struct ionf_symmap_slots {
    uint32_t *slots; /* owned; NULL while cap is 0 */
    size_t cap;
} ionf_symmap_slots;

typedef struct ionf_symmap_import {
    const ionf_shared *shared; /* retained */
    uint64_t first_sid;
    uint64_t
        length; /* SIDs it takes, and symbols that are looked up: the max_id that is written */
    /* Text -> index in shared->symbols. Built when a text is first looked up, kept by reset. */
    ionf_symmap_slots index;
    bool has_index;
} ionf_symmap_import;

typedef struct ionf_symmap {
    ionf_alloc alloc;
    uint64_t seed; /* of the hash: see ionf_symmap_set_seed */
    /* Owned. Rows from import_count to import_kept belong to the use before the last reset: their
     * index serves again when the same tables are imported again in the same order. */
    ionf_symmap_import *imports;
    size_t import_count, import_kept, import_cap;
    uint64_t first_local;
    size_t local_count; /* local SID = first_local + index */
    uint64_t *starts;   /* owned: where they begin in text, a row for each four */
    size_t start_cap;
    size_t emitted_count; /* locals already written out by a flush: the next table is an append */
    bool has_context;     /* a table, with the imports, has been written */
    ionf_buf text;        /* the locals as the table has them: strings, and nulls for gaps */
    ionf_symmap_slots slots; /* of the locals */
} ionf_symmap;

/* Allocates nothing. */
void ionf_symmap_init(ionf_symmap *map, ionf_alloc alloc);
/* Make the hash unpredictable for who chooses the symbols. Right after init; reset keeps it. */
void ionf_symmap_set_seed(ionf_symmap *map, uint64_t seed);
/* No imports, no locals; keeps capacity. Cost follows what was used. Cannot fail. A shared table
 * whose index has been built stays retained, for the next use, until other imports take its place
 * or the map is destroyed; all others are released. */
void ionf_symmap_reset(ionf_symmap *map);
/* Release and free everything; the map is then as after init, its seed kept. */
void ionf_symmap_destroy(ionf_symmap *map);
/* Bytes retained, for pools that cap them; indexes of imports count. */
size_t ionf_symmap_retained(const ionf_symmap *map);

/* Append an import. Retains `shared`, whose `symbols` may be NULL: then no text is known to be in
 * it, and it only takes up its SIDs. IONF_ERR_STATE after a local symbol or a written table. */
IONF_MUST_CHECK ionf_status ionf_symmap_import_add(ionf_symmap *map, const ionf_shared *shared);
/* The same for its first `length` symbols; what `length` has above the table's is without text. */
IONF_MUST_CHECK ionf_status ionf_symmap_import_part(ionf_symmap *map, const ionf_shared *shared,
                                                    uint64_t length);
/* A new context whose imports are the first `count` alone. Cannot fail. */
void ionf_symmap_keep_imports(ionf_symmap *map, size_t count);
/* SID of `text` (valid UTF-8), from the system table, an import, or a local symbol, appended if
 * new: always the lowest one. IONF_ERR_RANGE beyond 200 million local symbols, or 1 TB of them. */
IONF_MUST_CHECK ionf_status ionf_symmap_intern(ionf_symmap *map, const uint8_t *text, size_t len,
                                               uint64_t *sid);
/* As intern, but nothing is appended: 0 for a text without SID. The first look-up may allocate. */
IONF_MUST_CHECK ionf_status ionf_symmap_find(ionf_symmap *map, const uint8_t *text, size_t len,
                                             uint64_t *sid);
/* Append a local symbol whose text is unknown, a null in the list of symbols. */
IONF_MUST_CHECK ionf_status ionf_symmap_gap(ionf_symmap *map, uint64_t *sid);
/* Text of a local symbol, until the map changes; data is NULL for a gap. */
ionf_slice ionf_symmap_local(const ionf_symmap *map, size_t index);
/* Greatest SID in use. */
static inline uint64_t
ionf_symmap_max_id(const ionf_symmap *map)
{
    return map->first_local + map->local_count - 1;
}
/* Forget the local symbols from `count` on, which no written table holds: their SIDs are void. */
void ionf_symmap_truncate(ionf_symmap *map, size_t count);

/* Append what must stand before the values: IVM if `with_ivm`, and a local symbol table if there
 * are imports or locals not written yet (an append, `imports:$ion_symbol_table`, after the first),
 * binary. An IVM makes readers forget all symbols, so everything is written again after it. On
 * failure neither `out` nor the map has changed. */
IONF_MUST_CHECK ionf_status ionf_symmap_write_binary(ionf_symmap *map, bool with_ivm,
                                                     ionf_buf *out);
/* Bytes that ionf_symmap_write_binary would append. */
size_t ionf_symmap_binary_size(const ionf_symmap *map, bool with_ivm);
/* The same to `dst`, which has room for them; gives the byte after. */
uint8_t *ionf_symmap_put_binary(ionf_symmap *map, bool with_ivm, uint8_t *dst);
/* Give back what only look-ups need, and the room that the texts do not use. Until the map is reset, all
 * locals may be written, after an IVM, and nothing else. Cannot fail. */
void ionf_symmap_trim(ionf_symmap *map);
/* With more local symbols than this a stream does better with a new context: neither its writer nor
 * its readers have to hold symbols of long ago. */
#define IONF_SYMMAP_CONTEXT_MAX 65536
/* Forget the local symbols and what has been written: SIDs start again after the imports, which
 * are kept, and the next write starts a new symbol table context. */
void ionf_symmap_new_context(ionf_symmap *map);

#endif
