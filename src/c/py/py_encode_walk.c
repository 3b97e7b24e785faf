/* The encoder's hot loops: dicts and lists of str, int, float, bool, None, and of dicts and lists.
 * Everything else, and indented text, is left to py_encode.c.
 *
 * What makes them fast, with its numbers in docs/performance-dumps.md:
 *
 * - The place in the output is a local variable, for a store through a byte pointer could change
 *   anything in memory, and all else would be loaded again after each.
 * - Room is made once a child, so names and numbers are stored without a check.
 * - A dict's entries are read where they are, as long as no foreign code has run.
 * - They are compiled twice: what dicts and lists alone need is up to 8% quicker without the code for
 *   objects and subclasses, which is used from the first of these on.
 * - Frames own their containers only once foreign code may run: until then nobody can drop them.
 *
 * `leave` makes the encoder's state whole: the output's length, and references for all frames. It comes
 * before everything out of line that might run foreign code, fail, or look at the output.
 */
#include "py_encode.h"
#include "py_fields.h"

#include "ionf_bin_put.h"
#include "ionf_txt_put.h"

/* Room before each child: a separator, a name, a number or the quotes of a string, the end of a
 * container, and what ionf_*_put stores beyond. */
#define CHILD_ROOM 256
/* Floats of a list that is written in one go: a point or a box of coordinates. */
#define ROW_MAX 4

_Static_assert(CHILD_ROOM >= 2 + IONFAST_NAME_TEXT + ROW_MAX * (1 + IONF_DOUBLE_TEXT_MAX) +
                                 IONF_TXT_PUT_SLACK,
               "a name and a row fit");
_Static_assert(CHILD_ROOM >= (2 + ROW_MAX) * IONF_BIN_PUT_MAX, "the same in binary");

typedef struct cursor {
    uint8_t *dst;
    uint8_t *limit; /* up to here a child has its room */
    uint32_t countdown;
} cursor;

/* What became of a child. */
typedef enum outcome {
    FAILED = -1, /* with an exception, after leave */
    WRITTEN,     /* and nothing but this loop has run */
    CHANGED      /* another container is innermost, or foreign code may have run */
} outcome;

IONF_FORCE_INLINE void
enter(ionfast_encoder *enc, cursor *c)
{
    const ionf_buf *const body = enc->body;
    c->dst = body->data + body->len;
    c->limit = body->data + (body->cap > CHILD_ROOM ? body->cap - CHILD_ROOM : 0);
    c->countdown = enc->countdown;
}

/* Before code that runs nothing foreign, unless it fails. */
IONF_FORCE_INLINE void
park(ionfast_encoder *enc, const cursor *c)
{
    enc->body->len = (size_t)(c->dst - enc->body->data);
    enc->countdown = c->countdown;
}

IONF_FORCE_INLINE void
leave(ionfast_encoder *enc, const cursor *c)
{
    park(enc, c);
    ionfast_encode_hold(enc);
}

/* Room for `extra` bytes and a child. */
IONF_FORCE_INLINE bool
make_room(ionfast_encoder *enc, cursor *c, size_t extra)
{
    park(enc, c);
    const ionf_status status = ionf_buf_reserve(enc->body, extra + CHILD_ROOM);
    if (IONF_UNLIKELY(status != IONF_OK)) {
        ionfast_encode_hold(enc);
        (void)ionfast_encode_status(enc, status);
        return false;
    }
    enter(enc, c);
    return true;
}

/* After something out of line. */
IONF_FORCE_INLINE outcome
come_back(ionfast_encoder *enc, cursor *c, int result)
{
    if (IONF_UNLIKELY(result < 0)) {
        return FAILED;
    }
    enter(enc, c);
    return CHANGED;
}

/* The same after what runs nothing foreign, unless it fails. */
IONF_FORCE_INLINE outcome
go_on(ionfast_encoder *enc, cursor *c, int result)
{
    if (IONF_UNLIKELY(result < 0)) {
        ionfast_encode_hold(enc);
        return FAILED;
    }
    enter(enc, c);
    return WRITTEN;
}

IONF_FORCE_INLINE outcome
write_other(ionfast_encoder *enc, bool is_binary, cursor *c, PyObject *value)
{
    leave(enc, c);
    if (!is_binary) {
        enc->txt.has_prefix = true; /* the separator, or a name, is there */
    }
    return come_back(enc, c, ionfast_encode_other(enc, value));
}

/* ---- children ---- */

IONF_FORCE_INLINE outcome
write_str(ionfast_encoder *enc, bool is_binary, cursor *c, PyObject *value)
{
    const ionf_slice known = ionfast_utf8_cached(value);
    const uint8_t *const text = known.data;
    const size_t len = known.len;
    if (IONF_UNLIKELY(text == NULL)) {
        if (IONF_UNLIKELY(PyUnicode_GET_LENGTH(value) > IONFAST_LONG_STR)) {
            return write_other(enc, is_binary, c, value);
        }
        park(enc, c);
        enc->txt.has_prefix = !is_binary;
        return go_on(enc, c, ionfast_encode_wide(enc, value));
    }
    if (IONF_UNLIKELY((ptrdiff_t)len > c->limit - c->dst)) {
        if (len > IONF_STEP_BYTES) {
            return write_other(enc, is_binary, c, value);
        }
        if (!make_room(enc, c, len)) {
            return FAILED;
        }
    }
    if (is_binary) {
        c->dst = ionf_bin_put_string(c->dst, text, len);
        return WRITTEN;
    }
    uint8_t *const dst = c->dst;
    dst[0] = '"';
    if (IONF_UNLIKELY(ionf_txt_copy_plain(dst + 1, text, len, '"', false) != len)) {
        if (len > IONF_STEP_BYTES) {
            return write_other(enc, is_binary, c, value);
        }
        park(enc, c);
        enc->txt.has_prefix = true;
        const ionf_status status = ionf_txt_write_string(&enc->txt, text, len);
        return go_on(enc, c, ionfast_encode_status(enc, status));
    }
    dst[len + 1] = '"';
    c->dst = dst + len + 2;
    return WRITTEN;
}

IONF_FORCE_INLINE outcome
write_int(ionfast_encoder *enc, bool is_binary, cursor *c, PyObject *value)
{
    int overflow = 0;
    const int64_t number = ionfast_long_is_compact(value)
                               ? ionfast_long_compact_value(value)
                               : PyLong_AsLongLongAndOverflow(value, &overflow);
    if (IONF_UNLIKELY(overflow != 0)) {
        return write_other(enc, is_binary, c, value);
    }
    c->dst = is_binary ? ionf_bin_put_i64(c->dst, number) : ionf_txt_put_i64(c->dst, number);
    return WRITTEN;
}

IONF_FORCE_INLINE void
write_float(bool is_binary, cursor *c, PyObject *value)
{
    if (is_binary) {
        c->dst = ionf_bin_put_double(c->dst, PyFloat_AS_DOUBLE(value));
    } else {
        c->dst = ionf_num_print_double(c->dst, PyFloat_AS_DOUBLE(value));
    }
}

IONF_FORCE_INLINE void
write_constant(cursor *c, const char *text, size_t len)
{
    memcpy(c->dst, text, len);
    c->dst += len;
}

/* Push the frame of a container that is open in the output. */
IONF_FORCE_INLINE void
push_frame(ionfast_encoder *enc, uint8_t form, PyObject *source, ionfast_fields *fields)
{
    ionfast_encode_frame *const frame = &enc->frames[enc->frame_count++];
    frame->source = source; /* borrowed for now: see ionfast_encode_hold */
    frame->next = 0;
    frame->form = form;
    frame->is_annotated = false;
    frame->has_more = false;
    if (form == IONFAST_FORM_DICT) {
        frame->last = 0;
        frame->count = frame->left = PyDict_GET_SIZE(source);
    } else if (form == IONFAST_FORM_FIELDS) {
        frame->has_more = true;
        frame->names = (PyObject *)fields; /* borrowed from the map of types, as `source` */
        frame->held = NULL;
        frame->name = NULL;
    }
}

IONF_FORCE_INLINE bool
has_free_frame(const ionfast_encoder *enc, bool is_binary)
{
    const ionf_bin_writer *const bin = &enc->bin;
    const ionf_txt_writer *const txt = &enc->txt;
    const bool has_free = is_binary
                              ? bin->depth < bin->max_depth && bin->frame_count < bin->frame_cap
                              : txt->depth < txt->max_depth && txt->depth < txt->frame_cap;
    return has_free && enc->frame_count < enc->frame_cap;
}

/* An unannotated container without children needs no frame; some documents, as citm_catalog.json, are
 * full of them. */
IONF_FORCE_INLINE void
write_empty(bool is_binary, cursor *c, ionf_kind kind)
{
    if (is_binary) {
        *c->dst++ = ionf_bin_type_byte(kind, 0);
    } else {
        write_constant(c, kind == IONF_KIND_LIST ? "[]" : "{}", 2);
    }
}

/* A short list of floats without a frame: false, and nothing written, if it is anything else. Maps are
 * made of them: see docs/performance-dumps.md. */
IONF_FORCE_INLINE bool
write_row(ionfast_encoder *enc, bool is_binary, cursor *c, PyObject *list)
{
    const Py_ssize_t count = PyList_GET_SIZE(list);
    if (count == 0 || count > ROW_MAX || !has_free_frame(enc, is_binary)) {
        return false;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        if (!PyFloat_CheckExact(PyList_GET_ITEM(list, i))) {
            return false;
        }
    }
    uint8_t *const head = c->dst;
    c->dst += is_binary ? 2 : 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        if (!is_binary) {
            *c->dst++ = i == 0 ? '[' : ',';
        }
        write_float(is_binary, c, PyList_GET_ITEM(list, i));
    }
    if (!is_binary) {
        *c->dst++ = ']';
        return true;
    }
    const size_t len = (size_t)(c->dst - head - 2);
    if (len < 14) { /* one float, or zeros */
        head[0] = ionf_bin_type_byte(IONF_KIND_LIST, (unsigned)len);
        memmove(head + 1, head + 2, len);
        c->dst--;
    } else {
        head[0] = ionf_bin_type_byte(IONF_KIND_LIST, 14);
        head[1] = (uint8_t)(0x80u | len);
    }
    return true;
}

/* Open a container that has children and for which there is a frame. */
IONF_FORCE_INLINE outcome
open_container(ionfast_encoder *enc, bool is_binary, cursor *c, ionf_kind kind, uint8_t form,
               PyObject *source, ionfast_fields *fields)
{
    if (is_binary) {
        ionf_bin_writer *const w = &enc->bin;
        c->dst[0] = ionf_bin_type_byte(kind, 0);
        c->dst += 1u + w->preallocate;
        ionf_bin_frame *const frame = &w->frames[w->frame_count++];
        frame->content_start = (size_t)(c->dst - enc->body->data);
        frame->extra = 0;
        frame->patch = IONF_PATCH_NONE;
        frame->kind = (uint8_t)kind;
        w->depth++;
    } else {
        *c->dst++ = kind == IONF_KIND_LIST ? '[' : '{';
        enc->txt.frames[enc->txt.depth++] = (uint8_t)kind;
    }
    push_frame(enc, form, source, fields);
    return CHANGED;
}

/* A dict or list of `count` children. */
IONF_FORCE_INLINE outcome
write_container(ionfast_encoder *enc, bool is_binary, cursor *c, ionf_kind kind, uint8_t form,
                PyObject *source, Py_ssize_t count)
{
    if (IONF_UNLIKELY(!has_free_frame(enc, is_binary))) {
        return write_other(enc, is_binary, c, source);
    }
    if (count == 0) {
        write_empty(is_binary, c, kind);
        return WRITTEN;
    }
    return open_container(enc, is_binary, c, kind, form, source, NULL);
}

IONF_FORCE_INLINE outcome
write_list(ionfast_encoder *enc, bool is_binary, cursor *c, PyObject *list)
{
    return write_row(enc, is_binary, c, list)
               ? WRITTEN
               : write_container(enc, is_binary, c, IONF_KIND_LIST, IONFAST_FORM_LIST, list,
                                 PyList_GET_SIZE(list));
}

/* An object whose fields lie where they can be read. */
IONF_FORCE_INLINE outcome
write_object(ionfast_encoder *enc, bool is_binary, cursor *c, PyObject *object,
             ionfast_fields *fields)
{
    if (fields->tag != NULL || Py_SIZE(fields) == 0 || !has_free_frame(enc, is_binary) ||
        ionfast_fields_base(fields, object) == NULL) {
        return write_other(enc, is_binary, c, object);
    }
    return open_container(enc, is_binary, c, IONF_KIND_STRUCT, IONFAST_FORM_FIELDS, object,
                          fields);
}

/* A value of none of level 1's types, with its row of level 2: what the loops can write. */
IONF_FORCE_INLINE outcome
write_met(ionfast_encoder *enc, bool is_binary, cursor *c, PyObject *value,
          const ionfast_type_row *row)
{
    if (IONF_LIKELY(!row->is_ion)) {
        switch (row->handler) {
        case IONFAST_AS_STR:
            return write_str(enc, is_binary, c, value);
        case IONFAST_AS_INT:
            return write_int(enc, is_binary, c, value);
        case IONFAST_AS_DATACLASS:
            return write_object(enc, is_binary, c, value, (ionfast_fields *)row->fields);
        default:
            break;
        }
    }
    return write_other(enc, is_binary, c, value);
}

IONF_FORCE_INLINE outcome
write_child(ionfast_encoder *enc, bool is_binary, bool has_classes, cursor *c, PyObject *value)
{
    const ionfast_handler common = ionfast_dispatch_common(Py_TYPE(value), has_classes);
    switch (common) {
    case IONFAST_AS_STR:
        return write_str(enc, is_binary, c, value);
    case IONFAST_AS_INT:
        return write_int(enc, is_binary, c, value);
    case IONFAST_AS_DICT:
        return write_container(enc, is_binary, c, IONF_KIND_STRUCT, IONFAST_FORM_DICT, value,
                               PyDict_GET_SIZE(value));
    case IONFAST_AS_LIST:
        return write_list(enc, is_binary, c, value);
    case IONFAST_AS_FLOAT:
        write_float(is_binary, c, value);
        return WRITTEN;
    case IONFAST_AS_BOOL:
        if (is_binary) {
            *c->dst++ = (uint8_t)(0x10u | (value == Py_True));
        } else if (value == Py_True) {
            write_constant(c, "true", 4);
        } else {
            write_constant(c, "false", 5);
        }
        return WRITTEN;
    case IONFAST_AS_NONE:
        if (is_binary) {
            *c->dst++ = 0x0F;
        } else {
            write_constant(c, "null", 4);
        }
        return WRITTEN;
    default:
        if (!has_classes) {
            return write_other(enc, is_binary, c, value);
        }
        return write_met(enc, is_binary, c, value, ionfast_encode_met(enc, Py_TYPE(value)));
    }
}

/* In text: what stands between the innermost container's children. */
IONF_FORCE_INLINE void
separate(const ionfast_encoder *enc, cursor *c, uint8_t separator)
{
    uint8_t *const frame = &enc->txt.frames[enc->txt.depth - 1];
    *c->dst = separator;
    c->dst += *frame / IONF_TXT_HAS_CHILD;
    *frame |= IONF_TXT_HAS_CHILD;
}

/* A field name. */
IONF_FORCE_INLINE outcome
write_name(ionfast_encoder *enc, bool is_binary, cursor *c, PyObject *name)
{
    ionfast_name_slot *const slot = ionfast_name_slot_of(enc, name);
    if (IONF_UNLIKELY(slot->name != name ||
                      !(is_binary ? ionfast_name_has_sid(enc, slot) : slot->text_len != 0))) {
        leave(enc, c);
        const outcome done = come_back(enc, c, ionfast_encode_name(enc, name));
        enc->txt.has_prefix = false;
        return done == FAILED ? FAILED : WRITTEN;
    }
    if (is_binary) {
        c->dst = ionf_bin_put_field(c->dst, slot->sid);
        return WRITTEN;
    }
    separate(enc, c, ',');
    memcpy(c->dst, slot->text, IONFAST_NAME_TEXT);
    c->dst += slot->text_len;
    return WRITTEN;
}

/* ---- closing ---- */

/* The innermost container's length goes where it belongs: ionf_bin_close. */
IONF_FORCE_INLINE outcome
close_binary(ionfast_encoder *enc, cursor *c)
{
    ionf_bin_writer *const w = &enc->bin;
    const ionf_bin_frame *const frame = &w->frames[w->frame_count - 1];
    uint8_t *const content = enc->body->data + frame->content_start;
    const size_t room = w->preallocate;
    uint8_t *const head = content - room - 1;
    const size_t len = (size_t)(c->dst - content);
    if (len < 14) {
        uint8_t copy[16]; /* what is stored too far is not yet output */
        head[0] |= (uint8_t)len;
        memcpy(copy, content, sizeof copy);
        memcpy(head + 1, copy, sizeof copy);
        c->dst -= room;
    } else if (IONF_LIKELY(room == 1 && len + frame->extra < 128)) {
        head[0] |= 14u;
        head[1] = (uint8_t)(0x80u | len);
    } else {
        const uint64_t length = len + frame->extra;
        const size_t length_size = ionf_varuint_size(length);
        if (length_size > room) {
            leave(enc, c);
            const ionf_status status = ionf_bin_close_patched(w, length, length_size);
            w->depth--;
            return come_back(enc, c, ionfast_encode_status(enc, status));
        }
        head[0] |= 14u;
        if (length_size != room) {
            memmove(content - (room - length_size), content, len);
            c->dst -= room - length_size;
        }
        (void)ionf_varuint_put_sized(head + 1, length, length_size);
    }
    w->frame_count--;
    w->depth--;
    return CHANGED;
}

/* Close the innermost container, whose children are all there. */
IONF_FORCE_INLINE outcome
close_container(ionfast_encoder *enc, bool is_binary, cursor *c, uint8_t end)
{
    const size_t index = --enc->frame_count;
    const bool is_annotated = enc->frames[index].is_annotated;
    const bool is_held = index < enc->held_count;
    if (is_binary) {
        if (IONF_UNLIKELY(close_binary(enc, c) == FAILED)) {
            enc->frame_count += is_held; /* with its reference, if it has one */
            return FAILED;
        }
    } else {
        *c->dst++ = end;
        enc->txt.depth--;
    }
    if (IONF_LIKELY(!is_held)) {
        return CHANGED;
    }
    enc->held_count = index;
    leave(enc, c);
    ionfast_encode_drop(enc->frames[index]); /* can run foreign code */
    return come_back(enc, c, is_annotated ? ionfast_encode_annotations_end(enc) : 0);
}

/* ---- loops ---- */

static IONF_NOINLINE int
check_signals(ionfast_encoder *enc)
{
    enc->countdown = IONFAST_ENCODE_SIGNAL_INTERVAL;
    return PyErr_CheckSignals();
}

/* Before a child: is all well? */
IONF_FORCE_INLINE outcome
prepare(ionfast_encoder *enc, cursor *c)
{
    if (IONF_UNLIKELY(c->dst > c->limit) && !make_room(enc, c, 0)) {
        return FAILED;
    }
    if (IONF_UNLIKELY(--c->countdown == 0)) {
        leave(enc, c);
        return come_back(enc, c, check_signals(enc));
    }
    return WRITTEN;
}

IONF_FORCE_INLINE outcome
walk_list(ionfast_encoder *enc, bool is_binary, bool has_classes, cursor *c)
{
    ionfast_encode_frame *const frame = &enc->frames[enc->frame_count - 1];
    PyObject *const list = frame->source;
    const bool is_sexp =
        !is_binary && ionf_txt_writer_kind(&enc->txt, enc->txt.depth) == IONF_KIND_SEXP;
    Py_ssize_t i = frame->next;
    for (;;) {
        outcome done = prepare(enc, c);
        if (IONF_UNLIKELY(done != WRITTEN)) {
            return done;
        }
        if (i >= PyList_GET_SIZE(list)) {
            return close_container(enc, is_binary, c, is_sexp ? ')' : ']');
        }
        PyObject *const value = PyList_GET_ITEM(list, i);
        frame->next = ++i;
        if (!is_binary) {
            separate(enc, c, is_sexp ? ' ' : ',');
        }
        done = write_child(enc, is_binary, has_classes, c, value);
        if (done != WRITTEN) {
            return done;
        }
    }
}

/* As long as the dict is as it was when its frame was made, and has nothing but str keys. */
IONF_FORCE_INLINE outcome
walk_dict(ionfast_encoder *enc, bool is_binary, bool has_classes, cursor *c)
{
    ionfast_encode_frame *const frame = &enc->frames[enc->frame_count - 1];
    PyObject *const *const entries = ionfast_dict_entries(frame->source);
    const Py_ssize_t count = frame->count;
    Py_ssize_t i = frame->next;
    for (;;) {
        outcome done = prepare(enc, c);
        if (IONF_UNLIKELY(done != WRITTEN)) {
            return done;
        }
        if (i == count) {
            return close_container(enc, is_binary, c, '}');
        }
        PyObject *const name = entries[2 * i];
        PyObject *const value = entries[2 * i + 1];
        frame->last = i;
        frame->next = ++i;
        frame->left = count - i;
        done = write_name(enc, is_binary, c, name);
        if (IONF_UNLIKELY(done == FAILED)) {
            return FAILED;
        }
        done = write_child(enc, is_binary, has_classes, c, value);
        if (done != WRITTEN) {
            return done;
        }
    }
}

/* As long as the object's fields lie where the class has them. */
IONF_FORCE_INLINE outcome
walk_fields(ionfast_encoder *enc, bool is_binary, cursor *c, const char *base)
{
    ionfast_encode_frame *const frame = &enc->frames[enc->frame_count - 1];
    const ionfast_fields *const fields = (const ionfast_fields *)frame->names;
    PyObject *const *const names = ((PyTupleObject *)fields->names)->ob_item;
    const Py_ssize_t count = Py_SIZE(fields);
    Py_ssize_t i = frame->next;
    for (;;) {
        outcome done = prepare(enc, c);
        if (IONF_UNLIKELY(done != WRITTEN)) {
            return done;
        }
        if (i == count) {
            return close_container(enc, is_binary, c, '}');
        }
        PyObject *const value = *(PyObject *const *)(base + fields->places[i]);
        if (IONF_UNLIKELY(value == NULL)) {
            leave(enc, c);
            return come_back(enc, c, ionfast_encode_next(enc));
        }
        PyObject *const name = names[i];
        frame->next = ++i;
        done = write_name(enc, is_binary, c, name);
        if (IONF_UNLIKELY(done == FAILED)) {
            return FAILED;
        }
        done = write_child(enc, is_binary, true, c, value);
        if (done != WRITTEN) {
            return done;
        }
    }
}

static inline bool
is_plain_dict(const ionfast_encode_frame *frame)
{
    return frame->form == IONFAST_FORM_DICT && ionfast_dict_has_entries(frame->source) &&
           PyDict_GET_SIZE(frame->source) == frame->count &&
           frame->next + frame->left == frame->count;
}

/* What the places of the fields are relative to, or NULL. */
static inline const char *
plain_object(const ionfast_encode_frame *frame)
{
    return frame->form == IONFAST_FORM_FIELDS
               ? ionfast_fields_base((const ionfast_fields *)frame->names, frame->source)
               : NULL;
}

/* Close the containers above `base`, each after its children. 1 as soon as a class turns up that the
 * loops could write if they had been compiled for it. `is_binary` and `has_classes` are constants where
 * this is inlined. */
IONF_FORCE_INLINE int
walk(ionfast_encoder *enc, bool is_binary, bool has_classes, size_t base)
{
    cursor c;
    enter(enc, &c);
    while (enc->frame_count > base) {
        const ionfast_encode_frame *const frame = &enc->frames[enc->frame_count - 1];
        const char *object;
        outcome done;
        if (frame->form == IONFAST_FORM_LIST) {
            done = walk_list(enc, is_binary, has_classes, &c);
        } else if (IONF_LIKELY(is_plain_dict(frame))) {
            done = walk_dict(enc, is_binary, has_classes, &c);
        } else if (has_classes && (object = plain_object(frame)) != NULL) {
            done = walk_fields(enc, is_binary, &c, object);
        } else if (!has_classes && enc->has_classes) {
            break;
        } else {
            leave(enc, &c);
            done = come_back(enc, &c, ionfast_encode_next(enc));
        }
        if (IONF_UNLIKELY(done == FAILED)) {
            return -1;
        }
        if (!has_classes && IONF_UNLIKELY(enc->has_classes)) {
            break;
        }
    }
    leave(enc, &c);
    return enc->frame_count > base;
}

int
ionfast_walk_binary(ionfast_encoder *enc, size_t base)
{
    return walk(enc, true, false, base);
}

int
ionfast_walk_text(ionfast_encoder *enc, size_t base)
{
    return walk(enc, false, false, base);
}

int
ionfast_walk_classes_binary(ionfast_encoder *enc, size_t base)
{
    return walk(enc, true, true, base);
}

int
ionfast_walk_classes_text(ionfast_encoder *enc, size_t base)
{
    return walk(enc, false, true, base);
}
