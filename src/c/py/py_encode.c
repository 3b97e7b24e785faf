/* The encoder: every kind of Python object, once; what is most common has hot loops besides, in
 * py_encode_walk.c. Here a reference is held to whatever is being written.
 */
#include "py_encode.h"

#include "py_codec.h"
#include "py_conv.h"
#include "py_fields.h"

/* How often in a row `default`, or an enum's value, may give something that needs another step. */
#define CHAIN_MAX 254

/* The call on the writer that is in use. */
#define WRITE(enc, operation, ...)                                                                \
    ((enc)->is_binary ? ionf_bin_write_##operation(&(enc)->bin, __VA_ARGS__)                      \
                      : ionf_txt_write_##operation(&(enc)->txt, __VA_ARGS__))

/* ---- errors ---- */

int
ionfast_encode_status(ionfast_encoder *enc, ionf_status status)
{
    if (IONF_LIKELY(status == IONF_OK)) {
        return 0;
    }
    ionfast_set_status(enc->state, status);
    return -1;
}

/* The name of the child in hand, borrowed from the frame or its source; NULL for an index. */
static PyObject *
frame_name(const ionfast_encode_frame *frame)
{
    if (frame->form == IONFAST_FORM_PAIRS ||
        (IONFAST_WALK_OWNS && frame->form == IONFAST_FORM_DICT)) {
        return frame->name;
    }
    if (frame->form == IONFAST_FORM_DICT) {
        Py_ssize_t position = frame->last;
        PyObject *key, *value;
        return PyDict_Next(frame->source, &position, &key, &value) ? key : NULL;
    }
    if (frame->form >= IONFAST_FORM_NAMED && frame->next > 0) {
        PyObject *const names = frame->form == IONFAST_FORM_FIELDS
                                    ? ((const ionfast_fields *)frame->names)->names
                                    : frame->names;
        return PyTuple_GET_ITEM(names, frame->next - 1);
    }
    return NULL;
}

/* One step of a path, as text; new reference. */
static PyObject *
frame_step(const void *walk, size_t index)
{
    const ionfast_encode_frame *const frame = &((const ionfast_encoder *)walk)->frames[index];
    PyObject *name = Py_XNewRef(frame_name(frame));
    if (name == NULL) {
        return PyUnicode_FromFormat("[%zd]", frame->next - 1);
    }
    const bool is_plain = PyUnicode_Check(name) && PyUnicode_IsIdentifier(name) == 1;
    PyObject *step = PyUnicode_FromFormat(is_plain ? ".%U" : "[%R]", name);
    Py_DECREF(name);
    return step;
}

PyObject *
ionfast_encode_path(ionfast_encoder *enc, bool with_last)
{
    const size_t count = enc->frame_count - (with_last || enc->frame_count == 0 ? 0 : 1);
    PyObject *path = enc->root_index < 0 ? PyUnicode_FromString("$")
                                         : PyUnicode_FromFormat("values[%zd]", enc->root_index);
    return ionfast_path_extend(path, frame_step, enc, count);
}

/* TypeError with `format`, which takes the type's name and the path. */
static int
refuse_type(ionfast_encoder *enc, const char *format, PyObject *value, bool with_last)
{
    PyObject *path = ionfast_encode_path(enc, with_last);
    if (path != NULL) {
        PyErr_Format(PyExc_TypeError, format, Py_TYPE(value)->tp_name, path);
        Py_DECREF(path);
    }
    return -1;
}

/* ---- the stack ---- */

static int
grow_frames(ionfast_encoder *enc)
{
    void *frames = enc->frames;
    const ionf_status status = ionf_alloc_grow(&enc->state->alloc, &frames, &enc->frame_cap,
                                               enc->frame_count + 1, sizeof *enc->frames);
    enc->frames = frames;
    return ionfast_encode_status(enc, status);
}

static void
use_more(ionfast_encode_frame *frame)
{
    frame->has_more = true;
    frame->names = NULL;
    frame->held = NULL;
    frame->name = NULL;
}

/* A frame for the children of `source`, of which it takes a reference; the container is open. -1 with
 * MemoryError. */
static int
push_frame(ionfast_encoder *enc, uint8_t form, PyObject *source)
{
    if (IONF_UNLIKELY(enc->frame_count == enc->frame_cap) && grow_frames(enc) < 0) {
        return -1;
    }
    ionfast_encode_frame *const frame = &enc->frames[enc->frame_count++];
    frame->source = Py_NewRef(source);
    enc->held_count = enc->frame_count;
    frame->next = 0;
    frame->form = form;
    frame->is_annotated = false;
    frame->has_more = false;
    if (form == IONFAST_FORM_DICT) {
        frame->last = 0;
        frame->count = frame->left = PyDict_GET_SIZE(source);
    }
    if (IONFAST_WALK_OWNS || (form != IONFAST_FORM_DICT && form != IONFAST_FORM_LIST)) {
        use_more(frame);
    }
    return 0;
}

/* Take the innermost frame off; dropping its references can run foreign code. */
static void
pop_frame(ionfast_encoder *enc)
{
    enc->held_count = --enc->frame_count;
    ionfast_encode_drop(enc->frames[enc->frame_count]);
}

static int
close_annotated(ionfast_encoder *enc)
{
    return enc->is_binary ? ionfast_encode_status(enc, ionf_bin_write_annotations_end(&enc->bin))
                          : 0;
}

static int
close_container(ionfast_encoder *enc)
{
    const bool is_annotated = enc->frames[enc->frame_count - 1].is_annotated;
    pop_frame(enc);
    const ionf_status status =
        enc->is_binary ? ionf_bin_write_end(&enc->bin) : ionf_txt_write_end(&enc->txt);
    if (IONF_UNLIKELY(status != IONF_OK)) {
        return ionfast_encode_status(enc, status);
    }
    return is_annotated ? close_annotated(enc) : 0;
}

/* Open a container and push its frame. */
static int
open_source(ionfast_encoder *enc, ionf_kind kind, ionfast_form form, PyObject *source)
{
    const ionf_status status = WRITE(enc, begin, kind);
    return status == IONF_OK ? push_frame(enc, (uint8_t)form, source)
                             : ionfast_encode_status(enc, status);
}

/* ---- scalars ---- */

IONF_FORCE_INLINE ionf_slice
ascii_of(PyObject *str)
{
    const ionf_slice text = {PyUnicode_1BYTE_DATA(str), (size_t)PyUnicode_GET_LENGTH(str)};
    return text;
}

static int
encode_big_int(ionfast_encoder *enc, PyObject *value)
{
    ionf_integer integer;
    Py_INCREF(value); /* long digits may be made by Python code */
    enc->scratch.len = 0;
    const int result = enc->is_binary
                           ? ionfast_int_to(enc->state, value, &integer, &enc->scratch)
                           : ionfast_int_to_digits(enc->state, value, &integer, &enc->scratch);
    Py_DECREF(value);
    return result < 0 ? -1 : ionfast_encode_status(enc, WRITE(enc, integer, &integer));
}

static int
encode_int(ionfast_encoder *enc, PyObject *value)
{
    int overflow;
    const long long small = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (IONF_UNLIKELY(overflow != 0)) {
        return encode_big_int(enc, value);
    }
    return ionfast_encode_status(enc, WRITE(enc, i64, small));
}

/* Without asking the value's own __bool__, which can be foreign code. */
static int
encode_int_as_bool(ionfast_encoder *enc, PyObject *value)
{
    int overflow;
    const bool is_true = PyLong_AsLongLongAndOverflow(value, &overflow) != 0 || overflow != 0;
    return ionfast_encode_status(enc, WRITE(enc, bool, is_true));
}

static int
encode_decimal(ionfast_encoder *enc, PyObject *value)
{
    ionf_decimal decimal;
    enc->scratch.len = 0;
    if (ionfast_decimal_to(enc->state, value, &decimal, &enc->scratch) < 0) {
        return -1;
    }
    return ionfast_encode_status(enc, WRITE(enc, decimal, &decimal));
}

static int
encode_timestamp(ionfast_encoder *enc, PyObject *value)
{
    ionf_timestamp ts;
    enc->scratch.len = 0;
    if (ionfast_timestamp_to(enc->state, value, &ts, &enc->scratch) < 0) {
        return -1;
    }
    return ionfast_encode_status(enc, WRITE(enc, timestamp, &ts));
}

/* A symbol value from a str or a token; `value` is held by the caller. */
static int
encode_symbol(ionfast_encoder *enc, PyObject *value)
{
    uint64_t sid;
    ionf_symref ref;
    if (ionfast_symbol_of(enc, value, "symbols", &sid, &ref) < 0) {
        return -1;
    }
    return ionfast_encode_status(enc, enc->is_binary ? ionf_bin_write_symbol(&enc->bin, sid)
                                                     : ionf_txt_write_symbol(&enc->txt, &ref));
}

static int
encode_bytes(ionfast_encoder *enc, ionf_kind kind, PyObject *bytes)
{
    const uint8_t *const data = (const uint8_t *)PyBytes_AS_STRING(bytes);
    Py_INCREF(bytes); /* long ones look at signals, which may run any code */
    const ionf_status status = WRITE(enc, lob, kind, data, (size_t)PyBytes_GET_SIZE(bytes));
    Py_DECREF(bytes);
    return ionfast_encode_status(enc, status);
}

/* A bytearray or a memoryview; one that is not contiguous, or may change meanwhile, is copied. */
static int
encode_buffer(ionfast_encoder *enc, PyObject *value)
{
    Py_buffer view;
    if (!IONFAST_HAS_GIL || PyObject_GetBuffer(value, &view, PyBUF_SIMPLE) < 0) {
        PyErr_Clear();
        PyObject *copy = ionfast_bytes_of(value);
        const int result = copy == NULL ? -1 : encode_bytes(enc, IONF_KIND_BLOB, copy);
        Py_XDECREF(copy);
        return result;
    }
    const ionf_status status = WRITE(enc, lob, IONF_KIND_BLOB, view.buf, (size_t)view.len);
    PyBuffer_Release(&view);
    return ionfast_encode_status(enc, status);
}

/* A str that a call has made of something else; steals it. */
static int
encode_made_str(ionfast_encoder *enc, PyObject *str, PyObject *value)
{
    if (str == NULL) {
        return -1;
    }
    const int result =
        PyUnicode_Check(str)
            ? ionfast_encode_wide(enc, str)
            : refuse_type(enc, "cannot write a value of type '%s' at %U: no text", value, true);
    Py_DECREF(str);
    return result;
}

/* ---- names ---- */

/* A field name of text that is an identifier, as nearly all are: known from the last time, so that
 * nobody looks at its characters again. */
static int
encode_identifier(ionfast_encoder *enc, PyObject *name)
{
    const ionf_slice text = ascii_of(name);
    ionf_status status = ionf_txt_write_raw(&enc->txt, (const char *)text.data, text.len);
    if (IONF_LIKELY(status == IONF_OK)) {
        status = ionf_buf_append(enc->body, ": ", enc->txt.is_pretty ? 2 : 1);
        enc->txt.has_prefix = true;
    }
    return IONF_LIKELY(status == IONF_OK) ? 0 : ionfast_encode_status(enc, status);
}

/* Keep `name`, with its text if that is short. */
static void
remember_identifier(ionfast_encoder *enc, PyObject *name)
{
    const ionf_slice text = ascii_of(name);
    ionfast_name_slot *const slot =
        ionfast_name_remember(enc, name, ionf_system_sid(text.data, text.len));
    slot->is_identifier = true;
    slot->generation = enc->generation - 1; /* no SID was asked for */
    if (text.len < IONFAST_NAME_TEXT) {
        memcpy(slot->text, text.data, text.len);
        slot->text[text.len] = ':';
        slot->text_len = (uint8_t)(text.len + 1);
    }
}

/* A name that the cache has not got. */
static int
encode_new_name(ionfast_encoder *enc, PyObject *name)
{
    uint64_t sid;
    ionf_symref ref;
    if (ionfast_symbol_of(enc, name, "field names", &sid, &ref) < 0) {
        return -1;
    }
    if (enc->is_binary) {
        return ionfast_encode_status(enc, ionf_bin_write_field(&enc->bin, sid));
    }
    if (PyUnicode_CheckExact(name) && PyUnicode_IS_COMPACT_ASCII(name) &&
        !ionf_txt_symbol_needs_quotes(ref.text, ref.len)) {
        remember_identifier(enc, name);
    }
    return ionfast_encode_status(enc, ionf_txt_write_field(&enc->txt, &ref));
}

static int
encode_name(ionfast_encoder *enc, PyObject *name)
{
    ionfast_name_slot *const slot = ionfast_name_slot_of(enc, name);
    if (slot->name != name ||
        !(enc->is_binary ? ionfast_name_has_sid(enc, slot) : slot->is_identifier)) {
        return encode_new_name(enc, name);
    }
    return enc->is_binary ? ionfast_encode_status(enc, ionf_bin_write_field(&enc->bin, slot->sid))
                          : encode_identifier(enc, name);
}

int
ionfast_encode_name(ionfast_encoder *enc, PyObject *name)
{
    Py_INCREF(name);
    const int result = encode_name(enc, name);
    Py_DECREF(name);
    return result;
}

static int
encode_annotations_text(ionfast_encoder *enc, PyObject *names)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); i++) {
        uint64_t sid;
        ionf_symref ref;
        if (ionfast_symbol_of(enc, PyTuple_GET_ITEM(names, i), "annotations", &sid, &ref) < 0) {
            return -1;
        }
        const ionf_status status = ionf_txt_write_annotation(&enc->txt, &ref);
        if (status != IONF_OK) {
            return ionfast_encode_status(enc, status);
        }
    }
    return 0;
}

static int
encode_annotations_binary(ionfast_encoder *enc, PyObject *names)
{
    const size_t count = (size_t)PyTuple_GET_SIZE(names);
    void *sids = enc->sids;
    const ionf_status status =
        ionf_alloc_grow(&enc->state->alloc, &sids, &enc->sid_cap, count, sizeof *enc->sids);
    enc->sids = sids;
    if (status != IONF_OK) {
        return ionfast_encode_status(enc, status);
    }
    for (size_t i = 0; i < count; i++) {
        ionf_symref ref;
        PyObject *name = PyTuple_GET_ITEM(names, (Py_ssize_t)i);
        if (ionfast_symbol_of(enc, name, "annotations", &enc->sids[i], &ref) < 0) {
            return -1;
        }
    }
    return ionfast_encode_status(enc, ionf_bin_write_annotations(&enc->bin, enc->sids, count));
}

int
ionfast_encode_annotations(ionfast_encoder *enc, PyObject *annotations)
{
    PyObject *names = PySequence_Tuple(annotations);
    if (names == NULL) {
        return -1;
    }
    const int result = enc->is_binary ? encode_annotations_binary(enc, names)
                                      : encode_annotations_text(enc, names);
    Py_DECREF(names);
    return result;
}

int
ionfast_encode_annotations_end(ionfast_encoder *enc)
{
    return close_annotated(enc);
}

/* ---- containers of all sorts; `value` is held by the caller ---- */

/* Open a container whose children come from iter(value), or from iter(items) for pairs. */
static int
open_iterated(ionfast_encoder *enc, ionf_kind kind, ionfast_form form, PyObject *items)
{
    PyObject *iterator = items == NULL ? NULL : PyObject_GetIter(items);
    if (iterator == NULL) {
        return -1;
    }
    const int result = open_source(enc, kind, form, iterator);
    Py_DECREF(iterator);
    return result;
}

static int
open_mapping(ionfast_encoder *enc, PyObject *value)
{
    PyObject *items = PyObject_CallMethodNoArgs(value, enc->state->str_items);
    const int result = open_iterated(enc, IONF_KIND_STRUCT, IONFAST_FORM_PAIRS, items);
    Py_XDECREF(items);
    return result;
}

static int
open_named(ionfast_encoder *enc, PyObject *value, PyObject *names)
{
    Py_INCREF(names);
    if (open_source(enc, IONF_KIND_STRUCT, IONFAST_FORM_NAMED, value) < 0) {
        Py_DECREF(names);
        return -1;
    }
    enc->frames[enc->frame_count - 1].names = names;
    return 0;
}

/* The field that says which of a union's classes an object is of. */
static int
encode_tag(ionfast_encoder *enc, const ionfast_fields *fields)
{
    if (encode_name(enc, fields->tag_name) < 0) {
        return -1;
    }
    return PyLong_Check(fields->tag) ? encode_int(enc, fields->tag)
                                     : ionfast_encode_wide(enc, fields->tag);
}

/* A dataclass or the like: its fields where they are, or in a dict. */
static int
open_fields(ionfast_encoder *enc, PyObject *value, PyObject *object)
{
    ionfast_fields *const fields = (ionfast_fields *)Py_NewRef(object);
    int result = -1;
    ionfast_fields_settle(fields);
    if (ionfast_fields_in_turn(fields, value)) {
        result = open_source(enc, IONF_KIND_STRUCT, IONFAST_FORM_FIELDS, value);
        if (result == 0) {
            enc->frames[enc->frame_count - 1].names = Py_NewRef(object);
        }
    } else {
        PyObject *dict = ionfast_fields_dict(fields, value);
        if (dict != NULL) {
            result = open_source(enc, IONF_KIND_STRUCT, IONFAST_FORM_DICT, dict);
            Py_DECREF(dict);
        }
    }
    if (result == 0 && fields->tag != NULL) {
        result = encode_tag(enc, fields);
    }
    Py_DECREF(fields);
    return result;
}

static int
open_tuple(ionfast_encoder *enc, PyObject *value)
{
    const ionf_kind kind = enc->tuple_as_sexp ? IONF_KIND_SEXP : IONF_KIND_LIST;
    return open_source(enc, kind, IONFAST_FORM_TUPLE, value);
}

static int
open_named_tuple(ionfast_encoder *enc, PyObject *value, PyObject *names)
{
    if (PyTuple_GET_SIZE(names) != PyTuple_GET_SIZE(value)) {
        return open_tuple(enc, value); /* some subclass that only looks like one */
    }
    return open_named(enc, value, names);
}

/* An IonPyDict: its repeated fields, where it has any, else its entries. */
static int
open_ion_dict(ionfast_encoder *enc, PyObject *value)
{
    PyObject *repeats = PyObject_GetAttr(value, enc->state->str_repeats);
    if (repeats == NULL) {
        return -1;
    }
    const int result = repeats == Py_None
                           ? open_source(enc, IONF_KIND_STRUCT, IONFAST_FORM_DICT, value)
                           : open_iterated(enc, IONF_KIND_STRUCT, IONFAST_FORM_PAIRS, repeats);
    Py_DECREF(repeats);
    return result;
}

/* ---- everything but the common case ---- */

/* Write `value`, which needs no further step and is held by the caller. `kind` is the Ion type that an
 * IonPy* value asks for, or the usual one. */
static int
handle(ionfast_encoder *enc, PyObject *value, const ionfast_type_row *row, ionf_kind kind)
{
    switch ((ionfast_handler)row->handler) {
    case IONFAST_AS_STR:
        return ionfast_encode_wide(enc, value);
    case IONFAST_AS_INT:
        return kind == IONF_KIND_BOOL ? encode_int_as_bool(enc, value) : encode_int(enc, value);
    case IONFAST_AS_FLOAT:
        return ionfast_encode_status(enc, WRITE(enc, double, PyFloat_AS_DOUBLE(value)));
    case IONFAST_AS_BOOL:
        return ionfast_encode_status(enc, WRITE(enc, bool, value == Py_True));
    case IONFAST_AS_NONE:
    case IONFAST_AS_NULL:
        return ionfast_encode_status(enc, WRITE(enc, null, kind));
    case IONFAST_AS_DECIMAL:
        return encode_decimal(enc, value);
    case IONFAST_AS_TIMESTAMP:
        return encode_timestamp(enc, value);
    case IONFAST_AS_SYMBOL:
    case IONFAST_AS_TOKEN:
        return encode_symbol(enc, value);
    case IONFAST_AS_BYTES:
        return encode_bytes(enc, kind, value);
    case IONFAST_AS_BUFFER:
        return encode_buffer(enc, value);
    case IONFAST_AS_LIST:
        return open_source(enc, kind, IONFAST_FORM_LIST, value);
    case IONFAST_AS_TUPLE:
        return open_tuple(enc, value);
    case IONFAST_AS_ITERABLE:
        return open_iterated(enc, kind, IONFAST_FORM_ITEMS, value);
    case IONFAST_AS_DICT:
        return row->is_ion ? open_ion_dict(enc, value)
                           : open_source(enc, IONF_KIND_STRUCT, IONFAST_FORM_DICT, value);
    case IONFAST_AS_MAPPING:
        return open_mapping(enc, value);
    case IONFAST_AS_NAMED_TUPLE:
        return open_named_tuple(enc, value, row->fields);
    case IONFAST_AS_DATACLASS:
        return open_fields(enc, value, row->fields);
    case IONFAST_AS_UUID:
        return encode_made_str(enc, PyObject_Str(value), value);
    case IONFAST_AS_FSPATH:
        /* Not PyOS_FSPath, which makes a TypeError of a MemoryError. */
        return encode_made_str(enc, PyObject_CallMethodNoArgs(value, enc->state->str_fspath),
                               value);
    case IONFAST_AS_UNKNOWN:
    case IONFAST_AS_ENUM:
    case IONFAST_AS_REPLACED:
    case IONFAST_AS_REGISTERED:
    case IONFAST_AS_ANNOTATED:
        break;
    }
    PyErr_SetString(PyExc_SystemError, "a value without handler");
    return -1;
}

/* The Ion type that a handler writes, unless an IonPy* value says otherwise. */
static ionf_kind
usual_kind(unsigned handler)
{
    switch (handler) {
    case IONFAST_AS_STR:
        return IONF_KIND_STRING;
    case IONFAST_AS_INT:
        return IONF_KIND_INT;
    case IONFAST_AS_FLOAT:
        return IONF_KIND_FLOAT;
    case IONFAST_AS_DECIMAL:
        return IONF_KIND_DECIMAL;
    case IONFAST_AS_TIMESTAMP:
        return IONF_KIND_TIMESTAMP;
    case IONFAST_AS_SYMBOL:
    case IONFAST_AS_TOKEN:
        return IONF_KIND_SYMBOL;
    case IONFAST_AS_BYTES:
        return IONF_KIND_BLOB;
    case IONFAST_AS_LIST:
    case IONFAST_AS_ITERABLE:
        return IONF_KIND_LIST;
    case IONFAST_AS_DICT:
    case IONFAST_AS_MAPPING:
        return IONF_KIND_STRUCT;
    default:
        return IONF_KIND_NULL;
    }
}

/* The handler for an IonPy* value that asks for `kind`, or IONFAST_AS_UNKNOWN when the two do not go
 * together. */
static ionfast_handler
adapt_handler(unsigned handler, ionf_kind kind)
{
    if (handler == IONFAST_AS_NULL || usual_kind(handler) == kind) {
        return (ionfast_handler)handler;
    }
    if (handler == IONFAST_AS_STR && kind == IONF_KIND_SYMBOL) {
        return IONFAST_AS_SYMBOL;
    }
    const bool is_fitting = (handler == IONFAST_AS_INT && kind == IONF_KIND_BOOL) ||
                            (handler == IONFAST_AS_BYTES && kind == IONF_KIND_CLOB) ||
                            (handler == IONFAST_AS_LIST && kind == IONF_KIND_SEXP) ||
                            (handler == IONFAST_AS_ITERABLE && kind == IONF_KIND_SEXP);
    return is_fitting ? (ionfast_handler)handler : IONFAST_AS_UNKNOWN;
}

/* The value's ion_type as a kind; `usual` when it is None. -1 with an exception. */
static int
kind_asked_for(ionfast_encoder *enc, PyObject *value, ionf_kind usual)
{
    PyObject *type = PyObject_GetAttr(value, enc->state->str_ion_type);
    if (type == NULL) {
        return -1;
    }
    int kind = type == Py_None ? (int)usual : -1;
    for (int i = 0; kind < 0 && i < IONFAST_KIND_COUNT; i++) {
        if (type == enc->state->ion_types[i]) {
            kind = i;
        }
    }
    Py_DECREF(type);
    return kind >= 0 ? kind
                     : refuse_type(enc, "ion_type of a value of type '%s' at %U is no IonType",
                                   value, true);
}

/* `outer`, which may be NULL, and then those of the value as a tuple; new reference. */
static PyObject *
joined_annotations(ionfast_encoder *enc, PyObject *outer, PyObject *value)
{
    PyObject *own = PyObject_GetAttr(value, enc->state->str_ion_annotations);
    if (own != NULL && outer != NULL) {
        Py_SETREF(own, PySequence_Tuple(own));
        if (own != NULL) {
            Py_SETREF(own, PySequence_Concat(outer, own));
        }
    }
    return own;
}

/* The annotations of an IonPy* value, after `outer`, opened; gives 1 if there are any, 0 if not, -1 on
 * error. */
static int
open_annotations(ionfast_encoder *enc, PyObject *outer, PyObject *value)
{
    PyObject *annotations = joined_annotations(enc, outer, value);
    if (annotations == NULL) {
        return -1;
    }
    int result = PyObject_IsTrue(annotations);
    if (result > 0 && ionfast_encode_annotations(enc, annotations) < 0) {
        result = -1;
    }
    Py_DECREF(annotations);
    return result;
}

/* handle(), where annotations are open: they close after the value. */
static int
handle_annotated(ionfast_encoder *enc, PyObject *value, const ionfast_type_row *row,
                 ionf_kind kind)
{
    const size_t frame_count = enc->frame_count;
    if (handle(enc, value, row, kind) < 0) {
        return -1;
    }
    if (enc->frame_count > frame_count) {
        enc->frames[enc->frame_count - 1].is_annotated = true;
        return 0;
    }
    return close_annotated(enc);
}

static int
handle_ion(ionfast_encoder *enc, PyObject *value, ionfast_type_row row, PyObject *outer)
{
    const int kind = kind_asked_for(enc, value, usual_kind(row.handler));
    if (kind < 0) {
        return -1;
    }
    row.handler = (uint8_t)adapt_handler(row.handler, (ionf_kind)kind);
    if (row.handler == IONFAST_AS_UNKNOWN) {
        return refuse_type(enc, "ion_type of a value of type '%s' at %U does not fit the type",
                           value, true);
    }
    const int is_annotated = open_annotations(enc, outer, value);
    if (is_annotated < 0) {
        return -1;
    }
    return is_annotated ? handle_annotated(enc, value, &row, (ionf_kind)kind)
                        : handle(enc, value, &row, (ionf_kind)kind);
}

/* Write `value` as the row says, within `annotations`, which may be NULL. */
static int
handle_within(ionfast_encoder *enc, PyObject *value, const ionfast_type_row *row,
              PyObject *annotations)
{
    if (row->is_ion) {
        return handle_ion(enc, value, *row, annotations);
    }
    if (annotations == NULL) {
        return handle(enc, value, row, usual_kind(row->handler));
    }
    return ionfast_encode_annotations(enc, annotations) < 0
               ? -1
               : handle_annotated(enc, value, row, usual_kind(row->handler));
}

/* Level 1 beyond what the hot loops know. */
static ionfast_handler
dispatch_known(const ionfast_encoder *enc, const PyTypeObject *type)
{
    return type == enc->datetime_type || type == enc->date_type
               ? IONFAST_AS_TIMESTAMP
               : ionfast_dispatch_known(enc->state, type);
}

/* Is it of a type that the hot loops know, too? */
static inline bool
dispatch_common(PyObject *value, ionfast_type_row *row)
{
    const ionfast_handler common = ionfast_dispatch_common(Py_TYPE(value), false);
    *row = (ionfast_type_row){Py_TYPE(value), NULL, (uint8_t)common, false, 0};
    return common != IONFAST_AS_UNKNOWN;
}

static int
dispatch(ionfast_encoder *enc, PyObject *value, ionfast_type_row *row)
{
    PyTypeObject *const type = Py_TYPE(value);
    const ionfast_type_row *const met = ionfast_encode_met(enc, type);
    if (met->type != NULL) {
        *row = *met;
        return 0;
    }
    const ionfast_handler known = dispatch_known(enc, type);
    if (known != IONFAST_AS_UNKNOWN) {
        *row = (ionfast_type_row){type, NULL, (uint8_t)known, false, 0};
        return 0;
    }
    if (enc->codec == NULL) {
        return ionfast_dispatch_other(enc->state, &enc->types, value, 0, row);
    }
    const uint32_t serial = *enc->codec_serial; /* before it is asked: it may change meanwhile */
    PyObject *const entry = ionfast_codec_find(enc->codec, type);
    Py_XSETREF(enc->codec_entry, entry);
    if (entry == Py_None) {
        return ionfast_dispatch_other(enc->state, &enc->types, value, serial, row);
    }
    *row = (ionfast_type_row){type, entry, IONFAST_AS_REGISTERED, false, 0};
    return entry == NULL ? -1 : 0;
}

int
ionfast_encode_use_codec(ionfast_encoder *enc, PyObject *codec)
{
    if (ionfast_codec_check(enc->state, codec) < 0) {
        return -1;
    }
    enc->codec_serial = ionfast_codec_serial(codec);
    Py_XSETREF(enc->codec, Py_NewRef(codec));
    return 0;
}

/* Add to the exception that a hook raised where it was called. */
static void
note_path(ionfast_encoder *enc)
{
    PyObject *type, *error, *traceback;
    PyErr_Fetch(&type, &error, &traceback);
    PyErr_NormalizeException(&type, &error, &traceback);
    PyObject *path = ionfast_encode_path(enc, true);
    PyObject *note = path == NULL ? NULL : PyUnicode_FromFormat("at %U", path);
    PyObject *result =
        note == NULL ? NULL : PyObject_CallMethodOneArg(error, enc->state->str_add_note, note);
    Py_XDECREF(result);
    Py_XDECREF(note);
    Py_XDECREF(path);
    PyErr_Clear(); /* the exception itself matters more than a note */
    PyErr_Restore(type, error, traceback);
}

/* function(value), with a note where that fails. */
static PyObject *
call_hook(ionfast_encoder *enc, PyObject *function, PyObject *value)
{
    Py_INCREF(function);
    PyObject *result = PyObject_CallOneArg(function, value);
    Py_DECREF(function);
    if (result == NULL) {
        note_path(enc);
    }
    return result;
}

/* Put `more`, which may be NULL, behind the annotations so far. */
static int
add_annotations(PyObject **annotations, PyObject *more)
{
    if (more == NULL || *annotations == NULL) {
        *annotations = Py_XNewRef(more);
        return 0;
    }
    Py_SETREF(*annotations, PySequence_Concat(*annotations, more));
    return *annotations == NULL ? -1 : 0;
}

/* A value of a registered type: what to write instead, or the value itself, `row` then telling how it
 * is written without a codec. NULL on error. */
static PyObject *
replace_registered(ionfast_encoder *enc, PyObject *value, ionfast_type_row *row,
                   PyObject **annotations)
{
    PyObject *const entry = Py_NewRef(row->fields);
    PyObject *const more = PyTuple_GET_ITEM(entry, 0), *const encode = PyTuple_GET_ITEM(entry, 1);
    PyObject *result = NULL;
    if (add_annotations(annotations, more == Py_None ? NULL : more) == 0) {
        if (encode != Py_None) {
            result = call_hook(enc, encode, value);
        } else if (ionfast_dispatch_other(enc->state, &enc->types, value, 0, row) == 0) {
            result = Py_NewRef(value);
        }
    }
    Py_DECREF(entry);
    return result;
}

static PyObject *
replace_annotated(ionfast_encoder *enc, PyObject *value, PyObject **annotations)
{
    PyObject *own = PyObject_GetAttr(value, enc->state->str_ion_annotations);
    if (own == NULL || add_annotations(annotations, own) < 0) {
        Py_XDECREF(own);
        return NULL;
    }
    Py_DECREF(own);
    return PyObject_GetAttr(value, enc->state->str_value);
}

/* What is to be written in the place of an enum member, a registered or an unknown object; NULL on
 * error. */
static PyObject *
replace(ionfast_encoder *enc, PyObject *value, ionfast_type_row *row, PyObject **annotations)
{
    switch (row->handler) {
    case IONFAST_AS_ENUM:
        return PyObject_GetAttr(value, row->fields == NULL ? enc->state->str_value : row->fields);
    case IONFAST_AS_REPLACED:
        return call_hook(enc, row->fields, value);
    case IONFAST_AS_REGISTERED:
        return replace_registered(enc, value, row, annotations);
    case IONFAST_AS_ANNOTATED:
        return replace_annotated(enc, value, annotations);
    default:
        break;
    }
    if (enc->default_hook == NULL) {
        refuse_type(enc, "cannot write a value of type '%s' at %U", value, true);
        return NULL;
    }
    return call_hook(enc, enc->default_hook, value);
}

/* Is something else to be written in its place? */
static bool
is_replaced(unsigned handler)
{
    return handler == IONFAST_AS_UNKNOWN ||
           (handler >= IONFAST_AS_ENUM && handler <= IONFAST_AS_ANNOTATED);
}

/* Is it of a class that the hot loops can write, once they know that such are about? */
static inline bool
is_class_of_walk(const ionfast_type_row *row)
{
    return row->handler == IONFAST_AS_DATACLASS ||
           ((row->handler == IONFAST_AS_STR || row->handler == IONFAST_AS_INT) && !row->is_ion &&
            (row->type->tp_flags & Py_TPFLAGS_HEAPTYPE) != 0);
}

/* Write any value; containers are only opened. */
static int
handle_other(ionfast_encoder *enc, PyObject *value)
{
    PyObject *held = Py_NewRef(value);
    PyObject *annotations = NULL;
    ionfast_type_row row;
    int result = -1;
    bool is_dispatched = false;
    for (int i = 0;; i++) {
        if (!is_dispatched && dispatch(enc, held, &row) < 0) {
            goto done;
        }
        if (IONF_LIKELY(!is_replaced(row.handler))) {
            break;
        }
        PyObject *next = replace(enc, held, &row, &annotations);
        if (next == NULL) {
            goto done;
        }
        /* Registered, and written as without a codec; or what hooks mostly give. */
        is_dispatched = next == held || dispatch_common(next, &row);
        Py_SETREF(held, next);
        if (i == CHAIN_MAX) {
            refuse_type(enc,
                        "default never gave a value to write, at last one of type '%s', at %U",
                        held, true);
            goto done;
        }
    }
    enc->has_classes = enc->has_classes || is_class_of_walk(&row);
    result = handle_within(enc, held, &row, annotations);
done:
    Py_XDECREF(annotations);
    Py_DECREF(held);
    return result;
}

int
ionfast_encode_other(ionfast_encoder *enc, PyObject *value)
{
    return handle_other(enc, value);
}

/* ---- the walk, but for the hot loops ---- */

static IONF_NOINLINE int
refuse_dict_change(const ionfast_encode_frame *frame)
{
    const bool is_resized = PyDict_GET_SIZE(frame->source) != frame->count;
    PyErr_Format(PyExc_RuntimeError, "dictionary %s changed during iteration",
                 is_resized ? "size" : "keys");
    return -1;
}

/* A name that is no plain str, while `value` may be only borrowed: hold both. */
static int
encode_odd_name(ionfast_encoder *enc, ionfast_encode_frame *frame, PyObject *name, PyObject *value)
{
    Py_INCREF(name);
    Py_INCREF(value);
    if (!frame->has_more) {
        use_more(frame);
    }
    Py_XSETREF(frame->held, value);
    const int result = encode_name(enc, name);
    Py_DECREF(name);
    return result;
}

/* Others may change what is being walked at any time: the frame holds the child in hand, and its name. */
static inline void
hold_child(ionfast_encode_frame *frame, PyObject *name, PyObject *value)
{
    if (IONFAST_WALK_OWNS) {
        Py_XSETREF(frame->held, value);
        Py_XSETREF(frame->name, name);
    }
}

/* The next child of a dict, name written, in `*value`, borrowed. 0 at the end, -1 on error. */
static int
next_entry(ionfast_encoder *enc, ionfast_encode_frame *frame, PyObject **value)
{
    PyObject *name;
    if (IONF_UNLIKELY(PyDict_GET_SIZE(frame->source) != frame->count)) {
        return refuse_dict_change(frame);
    }
    frame->last = frame->next;
    if (!ionfast_dict_next(frame->source, &frame->next, &name, value)) {
        return IONF_LIKELY(frame->left == 0) ? 0 : refuse_dict_change(frame);
    }
    hold_child(frame, name, *value);
    if (IONF_UNLIKELY(frame->left-- == 0)) {
        return refuse_dict_change(frame);
    }
    const int result = IONF_LIKELY(PyUnicode_CheckExact(name))
                           ? encode_name(enc, name)
                           : encode_odd_name(enc, frame, name, *value);
    return IONF_LIKELY(result == 0) ? 1 : -1;
}

/* The next pair of an iterator over a struct's fields; as next_entry. */
static int
next_pair(ionfast_encoder *enc, ionfast_encode_frame *frame, PyObject **value)
{
    PyObject *pair = PyIter_Next(frame->source);
    if (pair == NULL) {
        return PyErr_Occurred() ? -1 : 0;
    }
    if (!PyTuple_Check(pair) || PyTuple_GET_SIZE(pair) != 2) {
        refuse_type(enc, "items() gave a value of type '%s', not a pair, at %U", pair, false);
        Py_DECREF(pair);
        return -1;
    }
    frame->next++;
    Py_XSETREF(frame->held, Py_NewRef(PyTuple_GET_ITEM(pair, 1)));
    Py_XSETREF(frame->name, Py_NewRef(PyTuple_GET_ITEM(pair, 0)));
    Py_DECREF(pair);
    *value = frame->held;
    return encode_name(enc, frame->name) < 0 ? -1 : 1;
}

/* The next field of a named tuple; as next_entry. */
static int
next_field(ionfast_encoder *enc, ionfast_encode_frame *frame, PyObject **value)
{
    if (frame->next >= PyTuple_GET_SIZE(frame->names)) {
        return 0;
    }
    const Py_ssize_t i = frame->next++;
    PyObject *name = PyTuple_GET_ITEM(frame->names, i);
    PyObject *child = Py_NewRef(PyTuple_GET_ITEM(frame->source, i));
    Py_XSETREF(frame->held, child);
    *value = child;
    return encode_name(enc, name) < 0 ? -1 : 1;
}

/* The next field of an object; as next_entry. */
static int
next_attribute(ionfast_encoder *enc, ionfast_encode_frame *frame, PyObject **value)
{
    const ionfast_fields *const fields = (const ionfast_fields *)frame->names;
    if (frame->next >= Py_SIZE(fields)) {
        return 0;
    }
    const Py_ssize_t i = frame->next++;
    PyObject *child = ionfast_fields_value(fields, frame->source, i);
    if (child == NULL) {
        note_path(enc);
        return -1;
    }
    Py_XSETREF(enc->frames[enc->frame_count - 1].held, child);
    *value = child;
    return encode_name(enc, PyTuple_GET_ITEM(fields->names, i)) < 0 ? -1 : 1;
}

/* The next element of an iterator; as next_entry. */
static int
next_item(ionfast_encoder *enc, ionfast_encode_frame *frame, PyObject **value)
{
    (void)enc;
    PyObject *child = PyIter_Next(frame->source);
    if (child == NULL) {
        return PyErr_Occurred() ? -1 : 0;
    }
    frame->next++;
    Py_XSETREF(frame->held, child);
    *value = child;
    return 1;
}

static int
check_signals(ionfast_encoder *enc)
{
    enc->countdown = IONFAST_ENCODE_SIGNAL_INTERVAL;
    return PyErr_CheckSignals();
}

/* The next child of the innermost container, its name written, borrowed from the frame or its source;
 * 0 at the end, -1 on error. */
static int
next_child(ionfast_encoder *enc, ionfast_encode_frame *frame, PyObject **value)
{
    switch (frame->form) {
    case IONFAST_FORM_DICT:
        return next_entry(enc, frame, value);
    case IONFAST_FORM_LIST:
        *value = ionfast_list_item(frame->source, frame->next);
        if (*value == NULL) {
            return 0;
        }
        frame->next++;
        hold_child(frame, NULL, *value);
        return 1;
    case IONFAST_FORM_TUPLE:
        if (frame->next >= PyTuple_GET_SIZE(frame->source)) {
            return 0;
        }
        *value = PyTuple_GET_ITEM(frame->source, frame->next++);
        return 1;
    case IONFAST_FORM_ITEMS:
        return next_item(enc, frame, value);
    case IONFAST_FORM_PAIRS:
        return next_pair(enc, frame, value);
    case IONFAST_FORM_FIELDS:
        return next_attribute(enc, frame, value);
    default:
        return next_field(enc, frame, value);
    }
}

/* Values of the types that no codec is asked about, without all that handle_other has to look at. None of
 * them runs foreign code while `value` may be only borrowed. */
static int
handle_child(ionfast_encoder *enc, PyObject *value)
{
    switch (ionfast_dispatch_common(Py_TYPE(value), false)) {
    case IONFAST_AS_STR:
        return ionfast_encode_wide(enc, value);
    case IONFAST_AS_INT:
        return encode_int(enc, value);
    case IONFAST_AS_DICT:
        return open_source(enc, IONF_KIND_STRUCT, IONFAST_FORM_DICT, value);
    case IONFAST_AS_LIST:
        return open_source(enc, IONF_KIND_LIST, IONFAST_FORM_LIST, value);
    case IONFAST_AS_FLOAT:
        return ionfast_encode_status(enc, WRITE(enc, double, PyFloat_AS_DOUBLE(value)));
    case IONFAST_AS_BOOL:
        return ionfast_encode_status(enc, WRITE(enc, bool, value == Py_True));
    case IONFAST_AS_NONE:
        return ionfast_encode_status(enc, WRITE(enc, null, IONF_KIND_NULL));
    default:
        return handle_other(enc, value);
    }
}

int
ionfast_encode_next(ionfast_encoder *enc)
{
    const size_t frame_count = enc->frame_count;
    do {
        PyObject *value;
        if (IONF_UNLIKELY(--enc->countdown == 0) && check_signals(enc) < 0) {
            return -1;
        }
        const int result = next_child(enc, &enc->frames[frame_count - 1], &value);
        if (result <= 0) {
            return result < 0 ? -1 : close_container(enc);
        }
        if (handle_child(enc, value) < 0) {
            return -1;
        }
    } while (enc->frame_count == frame_count);
    return 0;
}

/* Without the hot loops. */
static int
walk_rest(ionfast_encoder *enc, size_t base)
{
    while (enc->frame_count > base) {
        if (ionfast_encode_next(enc) < 0) {
            return -1;
        }
    }
    return 0;
}

/* The hot loops borrow what they walk, which only a GIL allows. */
static int
walk(ionfast_encoder *enc, size_t base)
{
    if (IONFAST_WALK_OWNS) {
        return walk_rest(enc, base);
    }
    if (enc->is_binary) {
        const int result = enc->has_classes ? 1 : ionfast_walk_binary(enc, base);
        return result > 0 ? ionfast_walk_classes_binary(enc, base) : result;
    }
    if (!enc->txt.is_pretty) {
        const int result = enc->has_classes ? 1 : ionfast_walk_text(enc, base);
        return result > 0 ? ionfast_walk_classes_text(enc, base) : result;
    }
    return walk_rest(enc, base);
}

void
ionfast_encode_unwind(ionfast_encoder *enc, size_t frame_count)
{
    if (enc->frame_count <= frame_count) {
        return;
    }
    PyObject *type, *error, *traceback;
    PyErr_Fetch(&type, &error, &traceback);
    while (enc->frame_count > frame_count) {
        pop_frame(enc);
    }
    PyErr_Restore(type, error, traceback);
}

/* More than a marker, a separator and the head of a container. */
#define ROOT_ROOM 64

/* May a container begin the value in the quickest way: nothing is open, there is a frame, and nothing
 * stands before it that it has to be fitted to? */
static bool
is_plain_start(const ionfast_encoder *enc)
{
    const ionf_bin_writer *const bin = &enc->bin;
    const ionf_txt_writer *const txt = &enc->txt;
    const bool is_plain = enc->is_binary
                              ? bin->frame_count == 0 && bin->frame_cap != 0 && bin->max_depth != 0
                              : txt->depth == 0 && txt->frame_cap != 0 && txt->max_depth != 0 &&
                                    !txt->is_pretty && !txt->has_prefix;
    return is_plain && enc->frame_count == 0 && enc->frame_cap != 0;
}

/* Open the dict that is the whole value, as the hot loops open those inside: the caller holds it, so its
 * frame need not. False, with nothing done, where that is not possible. Saves 20 ns a call. */
static bool
open_root(ionfast_encoder *enc, PyObject *dict)
{
    ionf_buf *const body = enc->body;
    if (IONFAST_WALK_OWNS || !is_plain_start(enc) || body->cap - body->len < ROOT_ROOM) {
        return false;
    }
    if (enc->is_binary) {
        ionf_bin_writer *const w = &enc->bin;
        body->data[body->len] = ionf_bin_type_byte(IONF_KIND_STRUCT, 0);
        body->len += 1u + w->preallocate;
        w->frames[w->frame_count++] =
            (ionf_bin_frame){body->len, 0, IONF_PATCH_NONE, IONF_KIND_STRUCT};
        w->depth++;
    } else {
        ionf_txt_writer *const w = &enc->txt;
        if (w->has_value) {
            body->data[body->len++] = (uint8_t)w->top_separator[0]; /* one byte, unless pretty */
        }
        w->has_value = true;
        body->data[body->len++] = '{';
        w->frames[w->depth++] = IONF_KIND_STRUCT;
    }
    ionfast_encode_frame *const frame = &enc->frames[enc->frame_count++];
    frame->source = dict; /* borrowed for now: see ionfast_encode_hold */
    frame->next = frame->last = 0;
    frame->count = frame->left = PyDict_GET_SIZE(dict);
    frame->form = IONFAST_FORM_DICT;
    frame->is_annotated = frame->has_more = false;
    return true;
}

int
ionfast_encode(ionfast_encoder *enc, PyObject *value)
{
    if (enc->is_busy) { /* only a writer that a hook has got hold of can come here */
        PyErr_SetString(PyExc_RuntimeError, "the writer is in use by the value being written");
        return -1;
    }
    enc->is_busy = true;
    const size_t base = enc->frame_count;
    int result;
    if (PyDict_CheckExact(value)) { /* what most calls are about need not ask what it is */
        result = open_root(enc, value)
                     ? 0
                     : open_source(enc, IONF_KIND_STRUCT, IONFAST_FORM_DICT, value);
    } else {
        result = handle_other(enc, value);
    }
    if (result == 0 && enc->frame_count > base) {
        result = walk(enc, base);
    }
    if (result < 0) {
        ionfast_encode_unwind(enc, base);
    }
    enc->is_busy = false;
    return result;
}
