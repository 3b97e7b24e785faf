/* The binary writer's cold half: life, patches, values of unknown length, annotations.
 * Specification: binary.md. */
#include "ionf_bin_write.h"

static void
set_defaults(ionf_bin_writer *w)
{
    w->body = NULL;
    w->frame_count = 0;
    w->depth = 0;
    w->preallocate = IONF_BIN_DEFAULT_PREALLOCATE;
    w->is_reserved = false;
    w->max_depth = IONF_DEFAULT_MAX_DEPTH;
}

void
ionf_bin_writer_init(ionf_bin_writer *w, ionf_alloc alloc)
{
    set_defaults(w);
    w->frames = NULL;
    w->frame_cap = 0;
    w->alloc = alloc;
    ionf_patch_init(&w->patches, alloc);
    ionf_symmap_init(&w->symbols, alloc);
}

void
ionf_bin_writer_reset(ionf_bin_writer *w)
{
    set_defaults(w);
    ionf_patch_reset(&w->patches);
    ionf_symmap_reset(&w->symbols);
}

void
ionf_bin_writer_destroy(ionf_bin_writer *w)
{
    set_defaults(w);
    ionf_alloc_free(&w->alloc, w->frames, w->frame_cap * sizeof *w->frames);
    w->frames = NULL;
    w->frame_cap = 0;
    ionf_patch_destroy(&w->patches);
    ionf_symmap_destroy(&w->symbols);
}

size_t
ionf_bin_writer_retained(const ionf_bin_writer *w)
{
    return w->frame_cap * sizeof *w->frames + ionf_patch_retained(&w->patches) +
           ionf_symmap_retained(&w->symbols);
}

/* ---- frames and patches */

IONF_NOINLINE ionf_status
ionf_bin_frames_grow(ionf_bin_writer *w)
{
    void *frames = w->frames;
    const ionf_status status =
        ionf_alloc_grow(&w->alloc, &frames, &w->frame_cap, w->frame_count + 1, sizeof *w->frames);
    w->frames = frames;
    return status;
}

/* Reserve slots for all open frames that have none, outermost first. They are the innermost ones,
 * because reserving always starts at the outside; so each frame is looked at about once. */
static ionf_status
reserve_patches(ionf_bin_writer *w)
{
    size_t first = w->frame_count;
    while (first != 0 && w->frames[first - 1].patch == IONF_PATCH_NONE) {
        first--;
    }
    for (size_t i = first; i < w->frame_count; i++) {
        /* A merged frame's slot is never filled, and passed over. */
        const ionf_status status = ionf_patch_reserve(&w->patches, &w->frames[i].patch);
        if (status != IONF_OK) {
            return status;
        }
    }
    return IONF_OK;
}

ionf_status
ionf_bin_close_patched(ionf_bin_writer *w, uint64_t length, size_t length_size)
{
    const ionf_status status = reserve_patches(w);
    if (status != IONF_OK) {
        return status;
    }
    const ionf_bin_frame frame = w->frames[--w->frame_count];
    const size_t position = frame.content_start - w->preallocate;
    w->body->data[position - 1] |= 14;
    ionf_patch_fill(&w->patches, frame.patch, position, length, w->preallocate);
    if (w->frame_count != 0) {
        w->frames[w->frame_count - 1].extra += frame.extra + length_size - w->preallocate;
    }
    return IONF_OK;
}

size_t
ionf_bin_writer_body_size(const ionf_bin_writer *w)
{
    return w->body->len + ionf_patch_extra(&w->patches);
}

uint8_t *
ionf_bin_writer_emit(const ionf_bin_writer *w, uint8_t *dst)
{
    return ionf_patch_splice(&w->patches, w->body->data, w->body->len, dst);
}

void
ionf_bin_writer_emit_in_place(const ionf_bin_writer *w, size_t head)
{
    assert(w->body->cap >= head + ionf_bin_writer_body_size(w));
    ionf_patch_splice_in_place(&w->patches, w->body->data, w->body->len, head);
}

void
ionf_bin_writer_flushed(ionf_bin_writer *w)
{
    assert(w->frame_count == 0);
    ionf_buf_reset(w->body);
    ionf_patch_reset(&w->patches);
}

ionf_bin_mark
ionf_bin_writer_mark(const ionf_bin_writer *w)
{
    const ionf_bin_mark mark = {
        .body_len = w->body->len,
        .frame_count = w->frame_count,
        .patch_count = w->patches.count,
        .extra = w->frame_count == 0 ? 0 : w->frames[w->frame_count - 1].extra,
        .depth = w->depth,
        .is_reserved = w->is_reserved,
    };
    return mark;
}

void
ionf_bin_writer_rollback(ionf_bin_writer *w, const ionf_bin_mark *mark)
{
    assert(mark->frame_count <= w->frame_count && mark->body_len <= w->body->len);
    w->body->len = mark->body_len;
    w->frame_count = mark->frame_count;
    w->depth = mark->depth;
    w->is_reserved = mark->is_reserved;
    ionf_patch_truncate(&w->patches, mark->patch_count);
    if (w->frame_count != 0) {
        w->frames[w->frame_count - 1].extra = mark->extra;
    }
    for (size_t i = w->frame_count; i != 0; i--) {
        /* A slot reserved for this frame since the mark; IONF_PATCH_NONE is greater too. */
        if (w->frames[i - 1].patch < mark->patch_count) {
            break;
        }
        w->frames[i - 1].patch = IONF_PATCH_NONE;
    }
}

/* ---- values whose length is known only when they are written */

ionf_status
ionf_bin_insert_length(ionf_buf *body, size_t at)
{
    const size_t len = body->len - at - 1;
    if (IONF_LIKELY(len < 14)) {
        body->data[at] = (uint8_t)(body->data[at] | len);
        return IONF_OK;
    }
    const size_t length_size = ionf_varuint_size(len);
    const ionf_status status = ionf_buf_reserve(body, length_size);
    if (status != IONF_OK) {
        body->len = at;
        return status;
    }
    uint8_t *const head = body->data + at;
    head[0] |= 14;
    memmove(head + 1 + length_size, head + 1, len);
    (void)ionf_varuint_put_sized(head + 1, len, length_size);
    body->len += length_size;
    return IONF_OK;
}

ionf_status
ionf_bin_write_integer(ionf_bin_writer *w, const ionf_integer *value)
{
    if (value->form == IONF_INT_U64) {
        const bool is_negative = value->is_negative && value->u64 != 0;
        return ionf_bin_put_uint(w->body, is_negative ? 0x30 : 0x20, value->u64);
    }
    ionf_buf *const body = w->body;
    const size_t at = body->len;
    ionf_status status = ionf_buf_push(body, value->is_negative ? 0x30 : 0x20);
    if (status == IONF_OK) {
        status = ionf_num_integer_to_be(value, body);
    }
    if (status != IONF_OK) {
        body->len = at;
        return status;
    }
    return ionf_bin_insert_length(body, at);
}

ionf_status
ionf_bin_write_decimal(ionf_bin_writer *w, const ionf_decimal *value)
{
    ionf_buf *const body = w->body;
    const size_t at = body->len;
    ionf_status status = ionf_buf_push(body, 0x50);
    if (status == IONF_OK) {
        status = ionf_dec_write(value, body);
    }
    if (status != IONF_OK) {
        body->len = at;
        return status;
    }
    return ionf_bin_insert_length(body, at);
}

ionf_status
ionf_bin_write_timestamp(ionf_bin_writer *w, const ionf_timestamp *value)
{
    ionf_buf *const body = w->body;
    const size_t at = body->len;
    ionf_status status = ionf_buf_push(body, 0x60);
    if (status == IONF_OK) {
        status = ionf_ts_write(value, body);
    }
    if (status != IONF_OK) {
        body->len = at;
        return status;
    }
    return ionf_bin_insert_length(body, at);
}

/* ---- annotations */

static size_t
sids_size(const uint64_t *sids, size_t count)
{
    size_t size = 0;
    for (size_t i = 0; i < count; i++) {
        size += ionf_varuint_size(sids[i]);
    }
    return size;
}

static uint8_t *
put_sids(uint8_t *dst, const uint64_t *sids, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        dst = ionf_varuint_put(dst, sids[i]);
    }
    return dst;
}

/* Append annot_length and the SIDs. */
static ionf_status
append_sids(ionf_buf *body, const uint64_t *sids, size_t count)
{
    const size_t length = sids_size(sids, count);
    const ionf_status status = ionf_buf_reserve(body, length + IONF_VARUINT_MAX_SIZE);
    if (status != IONF_OK) {
        return status;
    }
    uint8_t *const dst = ionf_varuint_put(body->data + body->len, length);
    body->len = (size_t)(put_sids(dst, sids, count) - body->data);
    return IONF_OK;
}

static ionf_status
open_wrapper(ionf_bin_writer *w, const uint64_t *sids, size_t count)
{
    const size_t at = w->body->len;
    ionf_status status = ionf_bin_open(w, 0xE0, IONF_FRAME_ANNOTATION);
    if (status != IONF_OK) {
        return status;
    }
    status = append_sids(w->body, sids, count);
    if (status != IONF_OK) {
        w->body->len = at;
        w->frame_count--;
        return status;
    }
    if (w->frame_count == 1) {
        w->is_reserved = sids[0] == IONF_SID_ION_SYMBOL_TABLE;
    }
    return IONF_OK;
}

/* Add SIDs to the innermost wrapper, `content` on, whose SIDs have `length` bytes and end the
 * body. */
static ionf_status
join_wrapper(ionf_bin_writer *w, size_t content, uint64_t length, const uint64_t *sids,
             size_t count)
{
    ionf_buf *const body = w->body;
    const size_t added = sids_size(sids, count);
    const size_t old_size = ionf_varuint_size(length);
    const size_t new_size = ionf_varuint_size(length + added);
    const ionf_status status = ionf_buf_reserve(body, added + IONF_VARUINT_MAX_SIZE);
    if (status != IONF_OK) {
        return status;
    }
    ionf_bin_frame frame = w->frames[w->frame_count - 1];
    frame.kind = IONF_FRAME_MERGED;
    frame.extra = 0;
    frame.patch = IONF_PATCH_NONE;
    if (w->frame_count == w->frame_cap) {
        const ionf_status grown = ionf_bin_frames_grow(w);
        if (grown != IONF_OK) {
            return grown;
        }
    }
    w->frames[w->frame_count++] = frame;
    uint8_t *const head = body->data + content;
    memmove(head + new_size, head + old_size, (size_t)length);
    (void)ionf_varuint_put_sized(head, length + added, new_size);
    body->len = content + new_size + (size_t)length;
    body->len = (size_t)(put_sids(body->data + body->len, sids, count) - body->data);
    return IONF_OK;
}

ionf_status
ionf_bin_write_annotations(ionf_bin_writer *w, const uint64_t *sids, size_t count)
{
    if (count == 0) {
        return IONF_ERR_STATE;
    }
    if (w->frame_count != 0 && w->frames[w->frame_count - 1].kind >= IONF_FRAME_ANNOTATION) {
        const size_t content = w->frames[w->frame_count - 1].content_start;
        const uint8_t *p = w->body->data + content, *const end = w->body->data + w->body->len;
        uint64_t length;
        if (ionf_varuint_read(&p, end, &length) != IONF_OK || length != (uint64_t)(end - p)) {
            return IONF_ERR_STATE; /* the wrapper has its value already */
        }
        return join_wrapper(w, content, length, sids, count);
    }
    return open_wrapper(w, sids, count);
}
