/* The patch list: reserve, fill, splice. Specification: binary.md, "Typed Value Formats". */
#include "ionf_patch.h"

#include <assert.h>

#include "ionf_varint.h"

/* No memory is larger. */
#define POSITION_MAX (UINT64_MAX >> 3)

void
ionf_patch_init(ionf_patch_list *list, ionf_alloc alloc)
{
    list->patches = NULL;
    list->count = 0;
    list->cap = 0;
    list->alloc = alloc;
}

void
ionf_patch_destroy(ionf_patch_list *list)
{
    ionf_alloc_free(&list->alloc, list->patches, ionf_patch_retained(list));
    ionf_patch_init(list, list->alloc);
}

ionf_status
ionf_patch_reserve(ionf_patch_list *list, size_t *index)
{
    if (list->count == list->cap) {
        void *patches = list->patches;
        const ionf_status status = ionf_alloc_grow(&list->alloc, &patches, &list->cap,
                                                   list->count + 1, sizeof *list->patches);
        if (status != IONF_OK) {
            return status;
        }
        list->patches = patches;
    }
    /* The slot may hold a patch of an earlier flush: see the header. */
    list->patches[list->count].is_valid = false;
    *index = list->count++;
    return IONF_OK;
}

void
ionf_patch_fill(ionf_patch_list *list, size_t index, size_t position, uint64_t length,
                uint8_t room)
{
    assert(index < list->count);
    assert(position <= POSITION_MAX && ionf_varuint_size(length) > room);
    ionf_patch *const patch = &list->patches[index];
    patch->position = position & POSITION_MAX;
    patch->length = length;
    patch->room = room & 3u;
    patch->is_valid = true;
}

uint8_t *
ionf_patch_splice(const ionf_patch_list *list, const uint8_t *src, size_t len, uint8_t *dst)
{
    size_t done = 0;
    for (size_t i = 0; i < list->count; i++) {
        const ionf_patch *const patch = &list->patches[i];
        if (!patch->is_valid) {
            continue;
        }
        assert(patch->position >= done && patch->position <= len);
        const size_t run = (size_t)patch->position - done;
        memcpy(dst, src + done, run);
        dst = ionf_varuint_put(dst + run, patch->length);
        done = (size_t)patch->position + (size_t)patch->room;
    }
    if (done < len) {
        memcpy(dst, src + done, len - done);
        dst += len - done;
    }
    return dst;
}

void
ionf_patch_splice_in_place(const ionf_patch_list *list, uint8_t *data, size_t len, size_t head)
{
    /* From the end on: what is still to be moved never lies behind where it goes. */
    uint8_t *dst = data + head + len + ionf_patch_extra(list);
    size_t left = len;
    for (size_t i = list->count; i != 0; i--) {
        const ionf_patch *const patch = &list->patches[i - 1];
        if (!patch->is_valid) {
            continue;
        }
        const size_t start = (size_t)patch->position + (size_t)patch->room;
        const size_t length_size = ionf_varuint_size(patch->length);
        assert(start <= left);
        dst -= left - start;
        memmove(dst, data + start, left - start);
        dst -= length_size;
        (void)ionf_varuint_put_sized(dst, patch->length, length_size);
        left = (size_t)patch->position;
    }
    assert(dst == data + head + left);
    memmove(dst - left, data, left);
}

size_t
ionf_patch_extra(const ionf_patch_list *list)
{
    size_t extra = 0;
    for (size_t i = 0; i < list->count; i++) {
        if (list->patches[i].is_valid) {
            extra += ionf_varuint_size(list->patches[i].length) - (size_t)list->patches[i].room;
        }
    }
    return extra;
}
