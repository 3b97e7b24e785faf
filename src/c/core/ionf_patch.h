/* The patch list: container lengths that did not fit the room left for them, in stream order.
 * Knows nothing of containers. Specification: binary.md, "Typed Value Formats" (the length field).
 *
 * ONE contiguous array a writer, its slots reused. A child that needs a patch first reserves slots
 * for its open ancestors, which overwrite them when they close: so the array stays in the order of
 * the stream, and flushing is one forward pass. A reserved slot is INVALID until it is filled: a
 * slot that is reused must never show the numbers of an earlier flush.
 *
 *   body     ..[td][room][content ........................]..      room: 0, 1 or 2 bytes, not used
 *                  ^ position
 *   spliced  ..[td][length: VarUInt][content .............]..
 */
#ifndef IONF_PATCH_H
#define IONF_PATCH_H

#include "ionf_alloc.h"

#define IONF_PATCH_NONE SIZE_MAX

typedef struct ionf_patch {
    uint64_t length;        /* final content length, all patches inside included */
    uint64_t position : 61; /* in the body: first byte of the room left for the length */
    uint64_t room : 2;      /* bytes left for it: 0, 1 or 2 */
    uint64_t is_valid : 1;
} ionf_patch;

typedef struct ionf_patch_list {
    ionf_patch *patches; /* owned */
    size_t count, cap;
    ionf_alloc alloc;
} ionf_patch_list;

/* Allocates nothing. */
void ionf_patch_init(ionf_patch_list *list, ionf_alloc alloc);
/* Forget all patches, keep the capacity. Cannot fail. */
static inline void
ionf_patch_reset(ionf_patch_list *list)
{
    list->count = 0;
}
/* Give the memory back; the list is then as after init. */
void ionf_patch_destroy(ionf_patch_list *list);
static inline size_t
ionf_patch_retained(const ionf_patch_list *list)
{
    return list->cap * sizeof *list->patches;
}

/* Reserve the next slot, invalid; its index through `*index`. */
IONF_MUST_CHECK ionf_status ionf_patch_reserve(ionf_patch_list *list, size_t *index);
/* Fill a reserved slot. Positions must grow with the index, and VarUInt `length` must be longer
 * than `room`. */
void ionf_patch_fill(ionf_patch_list *list, size_t index, size_t position, uint64_t length,
                     uint8_t room);
/* Forget the slots from `count` on. */
static inline void
ionf_patch_truncate(ionf_patch_list *list, size_t count)
{
    list->count = count;
}

/* Copy `len` body bytes from `src` to `dst`, splicing in the lengths; gives the byte after. `dst`
 * has len + ionf_patch_extra(list) bytes of room. Slots never filled are passed over. */
uint8_t *ionf_patch_splice(const ionf_patch_list *list, const uint8_t *src, size_t len,
                           uint8_t *dst);
/* The same where the bytes are, `head` bytes further up, with room for head + len +
 * ionf_patch_extra(list) bytes at `data`. */
void ionf_patch_splice_in_place(const ionf_patch_list *list, uint8_t *data, size_t len,
                                size_t head);
/* How many bytes splicing adds. */
size_t ionf_patch_extra(const ionf_patch_list *list);

#endif
