/* The binary writer. Specification: binary.md. One buffer, one patch list; canonical output: the
 * shortest form of every length, whatever the preallocation, so that equal values give equal
 * bytes. Knows nothing of where the bytes go, or of Python.
 *
 *   body   [td][room][content ....................]
 *                     ^ frame.content_start
 * Closing a container: content < 14 bytes moves down into the room and the length goes into the
 * type nibble; a length that fits the room is patched in place (moving down if it is shorter than
 * the room); a longer one becomes an entry of the patch list, spliced when the body is taken out.
 *
 * All frames of a body have the same room, so a frame is always closed by a patch when one inside
 * it was: content never moves under a patch, and the frames with a patch are the outermost ones.
 */
#ifndef IONF_BIN_WRITE_H
#define IONF_BIN_WRITE_H

#include <assert.h>

#include "ionf_buf.h"
#include "ionf_dec.h"
#include "ionf_patch.h"
#include "ionf_symmap.h"
#include "ionf_ts.h"
#include "ionf_varint.h"

typedef struct ionf_bin_frame {
    size_t content_start;
    uint64_t extra; /* bytes that patches inside will add */
    size_t patch;   /* its slot in the patch list, or IONF_PATCH_NONE */
    uint8_t kind;   /* ionf_kind, or one of the two below */
} ionf_bin_frame;

#define IONF_FRAME_ANNOTATION 14
/* Annotations that went into the wrapper around them: no bytes of its own. */
#define IONF_FRAME_MERGED 15

/* Containers of 14 to 127 bytes, the most common ones, then close in place: no move, no patch. */
#define IONF_BIN_DEFAULT_PREALLOCATE 1

typedef struct ionf_bin_writer {
    ionf_buf
        *body; /* BORROWED from the owner (a pooled byte buffer), set before the first write */
    ionf_bin_frame *frames; /* owned */
    size_t frame_count, frame_cap;
    uint32_t depth;      /* open containers, annotation frames not counted */
    uint8_t preallocate; /* 0, 1, 2; may change only while no frame is open */
    bool is_reserved;    /* the open wrapper would make a top-level struct a symbol table */
    uint32_t max_depth;
    ionf_patch_list patches;
    ionf_symmap symbols;
    ionf_alloc alloc;
} ionf_bin_writer;

/* Allocates nothing. */
void ionf_bin_writer_init(ionf_bin_writer *w, ionf_alloc alloc);
/* As after init - options, body and symbols too - apart from kept capacity. Cannot fail. */
void ionf_bin_writer_reset(ionf_bin_writer *w);
void ionf_bin_writer_destroy(ionf_bin_writer *w);
/* Bytes retained, the body's not counted, for pools that cap them. */
size_t ionf_bin_writer_retained(const ionf_bin_writer *w);

/* One call a value. The caller has written the field's SID first inside a struct. All give
 * IONF_ERR_NOMEM at worst and have then written nothing, unless they say more. */

/* ---- cold values, and the cold halves of hot ones (ionf_bin_write.c) */

/* Any form. */
IONF_MUST_CHECK ionf_status ionf_bin_write_integer(ionf_bin_writer *w, const ionf_integer *value);
IONF_MUST_CHECK ionf_status ionf_bin_write_decimal(ionf_bin_writer *w, const ionf_decimal *value);
/* Also what ionf_ts_write gives for a timestamp that is not valid. */
IONF_MUST_CHECK ionf_status ionf_bin_write_timestamp(ionf_bin_writer *w,
                                                     const ionf_timestamp *value);
/* Opens a wrapper around the next value; right after another one, which a wrapper may not hold,
 * the annotations join that one's. IONF_ERR_STATE for no annotations. */
IONF_MUST_CHECK ionf_status ionf_bin_write_annotations(ionf_bin_writer *w, const uint64_t *sids,
                                                       size_t count);

IONF_MUST_CHECK ionf_status ionf_bin_frames_grow(ionf_bin_writer *w);
/* Close the innermost frame, whose length needs `length_size` bytes, by a patch. */
IONF_MUST_CHECK ionf_status ionf_bin_close_patched(ionf_bin_writer *w, uint64_t length,
                                                   size_t length_size);
/* The rest of the body, without room, is the content of the type descriptor at `at`: put the
 * length where it belongs. On failure the body ends at `at`. */
IONF_MUST_CHECK ionf_status ionf_bin_insert_length(ionf_buf *body, size_t at);

/* ---- taking the output out, only at depth 0. The head (IVM, symbol table) comes from
 * ionf_symmap_write_binary(&w->symbols, ...). */

/* Bytes that emit will store. */
size_t ionf_bin_writer_body_size(const ionf_bin_writer *w);
/* Is the body complete as it stands, so that it needs no emit? */
static inline bool
ionf_bin_writer_is_plain(const ionf_bin_writer *w)
{
    return w->patches.count == 0;
}
/* Store the body at `dst`, lengths spliced in; gives the byte after. */
uint8_t *ionf_bin_writer_emit(const ionf_bin_writer *w, uint8_t *dst);
/* The same in the body's own memory, which has room for `head` bytes before it: to copy less. The body
 * is then good for nothing but to be taken. */
void ionf_bin_writer_emit_in_place(const ionf_bin_writer *w, size_t head);
/* The body has been taken: empty it and the patch list; symbols stay. */
void ionf_bin_writer_flushed(ionf_bin_writer *w);

/* ---- undoing a value that failed half-way, so that the writer can go on */

typedef struct ionf_bin_mark {
    size_t body_len, frame_count, patch_count;
    uint64_t extra; /* of the innermost frame */
    uint32_t depth;
    bool is_reserved;
} ionf_bin_mark;

/* Where the writer is, before a field name, annotation or value. */
ionf_bin_mark ionf_bin_writer_mark(const ionf_bin_writer *w);
/* Forget what was written since `mark`, which must come from this body and from a frame still
 * open. Symbols interned in between stay. Cannot fail. */
void ionf_bin_writer_rollback(ionf_bin_writer *w, const ionf_bin_mark *mark);

/* ---- hot values: one reservation each */

/* Room for a type descriptor and the longest length or small content. */
#define IONF_BIN_HEAD_MAX 16

/* Type code of a kind: an int below 0 has 3, so all after int are one higher. */
static inline uint8_t
ionf_bin_type_byte(unsigned kind, unsigned low_nibble)
{
    return (uint8_t)((kind + (kind > IONF_KIND_INT)) << 4 | low_nibble);
}

/* The name of the next value, inside a struct. */
IONF_MUST_CHECK static inline ionf_status
ionf_bin_write_field(ionf_bin_writer *w, uint64_t sid)
{
    ionf_buf *const body = w->body;
    const ionf_status status = ionf_buf_reserve(body, IONF_BIN_HEAD_MAX);
    if (IONF_UNLIKELY(status != IONF_OK)) {
        return status;
    }
    uint8_t *const dst = body->data + body->len;
    if (IONF_LIKELY(sid < 0x80)) {
        dst[0] = (uint8_t)(sid | 0x80u);
        body->len += 1;
    } else if (IONF_LIKELY(sid < 0x4000)) {
        dst[0] = (uint8_t)(sid >> 7);
        dst[1] = (uint8_t)(sid | 0x80u);
        body->len += 2;
    } else {
        body->len += (size_t)(ionf_varuint_put(dst, sid) - dst);
    }
    return IONF_OK;
}

/* null, null.bool, ... IONF_ERR_RESERVED for a null.struct that readers would take for a symbol
 * table. */
IONF_MUST_CHECK static inline ionf_status
ionf_bin_write_null(ionf_bin_writer *w, ionf_kind kind)
{
    if (IONF_UNLIKELY(w->is_reserved) && kind == IONF_KIND_STRUCT && w->depth == 0) {
        return IONF_ERR_RESERVED;
    }
    return ionf_buf_push(w->body, ionf_bin_type_byte(kind, 15));
}

IONF_MUST_CHECK static inline ionf_status
ionf_bin_write_bool(ionf_bin_writer *w, bool value)
{
    return ionf_buf_push(w->body, (uint8_t)(0x10 | (unsigned)value));
}

/* Store `type_byte` with the length of `magnitude`, and the magnitude. */
IONF_MUST_CHECK static inline ionf_status
ionf_bin_put_uint(ionf_buf *body, unsigned type_byte, uint64_t magnitude)
{
    const ionf_status status = ionf_buf_reserve(body, IONF_BIN_HEAD_MAX);
    if (IONF_UNLIKELY(status != IONF_OK)) {
        return status;
    }
    uint8_t *const dst = body->data + body->len;
    /* 0 is shifted as if it had one byte, which is not counted. */
    const unsigned size = (71u - (unsigned)ionf_clz64(magnitude | 1u)) / 8u;
    const unsigned stored = magnitude == 0 ? 0 : size;
    dst[0] = (uint8_t)(type_byte | stored);
    ionf_store64_be(dst + 1, magnitude << (64u - 8u * size));
    body->len += 1u + stored;
    return IONF_OK;
}

IONF_MUST_CHECK static inline ionf_status
ionf_bin_write_i64(ionf_bin_writer *w, int64_t value)
{
    const uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    return ionf_bin_put_uint(w->body, value < 0 ? 0x30 : 0x20, magnitude);
}

/* SID 0 has no bytes. IONF_ERR_RESERVED for $ion_1_0 at top level, which readers would drop: see
 * symbols.md, "Ion Version Markers". */
IONF_MUST_CHECK static inline ionf_status
ionf_bin_write_symbol(ionf_bin_writer *w, uint64_t sid)
{
    if (IONF_UNLIKELY(sid == IONF_SID_ION_1_0) && w->frame_count == 0) {
        return IONF_ERR_RESERVED;
    }
    return ionf_bin_put_uint(w->body, 0x70, sid);
}

/* Eight bytes always, but for 0e0, which has none. All NaNs are one value and get one form. */
IONF_MUST_CHECK static inline ionf_status
ionf_bin_write_double(ionf_bin_writer *w, double value)
{
    ionf_buf *const body = w->body;
    const ionf_status status = ionf_buf_reserve(body, IONF_BIN_HEAD_MAX);
    if (IONF_UNLIKELY(status != IONF_OK)) {
        return status;
    }
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (IONF_UNLIKELY(value != value)) {
        bits = 0x7FF8000000000000u;
    }
    uint8_t *const dst = body->data + body->len;
    ionf_store64_be(dst + 1, bits);
    dst[0] = bits == 0 ? 0x40 : 0x48;
    body->len += bits == 0 ? 1 : 9;
    return IONF_OK;
}

/* A type descriptor of `kind`, the length, the bytes. */
IONF_MUST_CHECK static inline ionf_status
ionf_bin_put_bytes(ionf_buf *body, unsigned kind, const uint8_t *data, size_t len)
{
    /* Cannot wrap: what is in memory is at most half of the address space. */
    const ionf_status status = ionf_buf_reserve(body, len + IONF_BIN_HEAD_MAX);
    if (IONF_UNLIKELY(status != IONF_OK)) {
        return status;
    }
    uint8_t *dst = body->data + body->len;
    if (IONF_LIKELY(len < 14)) {
        *dst++ = ionf_bin_type_byte(kind, (unsigned)len);
    } else {
        dst[0] = ionf_bin_type_byte(kind, 14);
        dst = ionf_varuint_put(dst + 1, len);
        if (IONF_UNLIKELY(len > IONF_STEP_BYTES)) {
            const size_t start = body->len;
            body->len = (size_t)(dst - body->data);
            const ionf_status copied = ionf_buf_append_steps(body, data, len);
            body->len = copied == IONF_OK ? body->len : start;
            return copied;
        }
    }
    if (len != 0) {
        memcpy(dst, data, len);
    }
    body->len = (size_t)(dst - body->data) + len;
    return IONF_OK;
}

/* `text` is valid UTF-8. */
IONF_MUST_CHECK static inline ionf_status
ionf_bin_write_string(ionf_bin_writer *w, const uint8_t *text, size_t len)
{
    return ionf_bin_put_bytes(w->body, IONF_KIND_STRING, text, len);
}

/* A clob or a blob. */
IONF_MUST_CHECK static inline ionf_status
ionf_bin_write_lob(ionf_bin_writer *w, ionf_kind kind, const uint8_t *data, size_t len)
{
    return ionf_bin_put_bytes(w->body, kind, data, len);
}

/* Append a type descriptor and its room, and push the frame. */
IONF_MUST_CHECK static inline ionf_status
ionf_bin_open(ionf_bin_writer *w, uint8_t type_byte, uint8_t kind)
{
    ionf_buf *const body = w->body;
    const ionf_status status = ionf_buf_reserve(body, IONF_BIN_HEAD_MAX);
    if (IONF_UNLIKELY(status != IONF_OK)) {
        return status;
    }
    if (IONF_UNLIKELY(w->frame_count == w->frame_cap)) {
        const ionf_status grown = ionf_bin_frames_grow(w);
        if (grown != IONF_OK) {
            return grown;
        }
    }
    body->data[body->len] = type_byte;
    body->len += 1u + w->preallocate;
    ionf_bin_frame *const frame = &w->frames[w->frame_count++];
    frame->content_start = body->len;
    frame->extra = 0;
    frame->patch = IONF_PATCH_NONE;
    frame->kind = kind;
    return IONF_OK;
}

/* Open a list, a sexp or a struct. IONF_ERR_DEPTH at max_depth; IONF_ERR_RESERVED for a top-level
 * struct that readers would take for a symbol table. */
IONF_MUST_CHECK static inline ionf_status
ionf_bin_write_begin(ionf_bin_writer *w, ionf_kind kind)
{
    assert(ionf_kind_is_container(kind));
    if (IONF_UNLIKELY(w->depth >= w->max_depth)) {
        return IONF_ERR_DEPTH;
    }
    if (IONF_UNLIKELY(w->is_reserved) && kind == IONF_KIND_STRUCT && w->depth == 0) {
        return IONF_ERR_RESERVED;
    }
    const ionf_status status = ionf_bin_open(w, ionf_bin_type_byte(kind, 0), (uint8_t)kind);
    w->depth += status == IONF_OK;
    return status;
}

/* Move the last `len` bytes of the body down by `by` bytes, 1 or 2. */
static inline void
ionf_bin_move_down(ionf_buf *body, size_t len, size_t by)
{
    uint8_t *const src = body->data + body->len - len;
    memmove(src - by, src, len);
    body->len -= by;
}

/* Close the innermost frame, of either kind. */
IONF_MUST_CHECK static inline ionf_status
ionf_bin_close(ionf_bin_writer *w)
{
    ionf_buf *const body = w->body;
    const ionf_bin_frame *const frame = &w->frames[w->frame_count - 1];
    const size_t len = body->len - frame->content_start;
    const size_t room = w->preallocate;
    uint8_t *const head = body->data + frame->content_start - room - 1;
    if (len < 14) {
        head[0] = (uint8_t)(head[0] | len);
        if (room != 0) {
            ionf_bin_move_down(body, len, room);
        }
    } else {
        const uint64_t length = len + frame->extra;
        const size_t length_size = ionf_varuint_size(length);
        if (IONF_UNLIKELY(length_size > room)) {
            return ionf_bin_close_patched(w, length, length_size);
        }
        head[0] = (uint8_t)(head[0] | 14u);
        if (length_size != room) {
            ionf_bin_move_down(body, len, room - length_size);
        }
        (void)ionf_varuint_put_sized(head + 1, length, length_size);
    }
    w->frame_count--;
    return IONF_OK;
}

/* Close the innermost container. IONF_ERR_STATE when that is not what is open. */
IONF_MUST_CHECK static inline ionf_status
ionf_bin_write_end(ionf_bin_writer *w)
{
    if (IONF_UNLIKELY(w->frame_count == 0 ||
                      w->frames[w->frame_count - 1].kind >= IONF_FRAME_ANNOTATION)) {
        return IONF_ERR_STATE;
    }
    const ionf_status status = ionf_bin_close(w);
    w->depth -= status == IONF_OK;
    return status;
}

/* Close the wrapper after its one value, once for each call that opened or joined it.
 * IONF_ERR_STATE when no wrapper is innermost. */
IONF_MUST_CHECK static inline ionf_status
ionf_bin_write_annotations_end(ionf_bin_writer *w)
{
    if (IONF_UNLIKELY(w->frame_count == 0 ||
                      w->frames[w->frame_count - 1].kind < IONF_FRAME_ANNOTATION)) {
        return IONF_ERR_STATE;
    }
    if (IONF_UNLIKELY(w->frames[w->frame_count - 1].kind == IONF_FRAME_MERGED)) {
        w->frame_count--;
        w->frames[w->frame_count - 1].extra += w->frames[w->frame_count].extra;
        return IONF_OK;
    }
    const ionf_status status = ionf_bin_close(w);
    w->is_reserved = w->is_reserved && w->frame_count != 0;
    return status;
}

#endif
