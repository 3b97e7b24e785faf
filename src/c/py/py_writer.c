/* ionfast.Writer: a stream of top-level values, to a file, a path or memory.
 *
 * The writer owns a pooled encoder. Values collect in its body; a flush, only between top-level
 * values, makes a segment of them and hands that to the sink:
 *
 *   binary   [version marker, symbol table][values]   [appended symbols][values]   ...
 *   text     $ion_1_0 value value                      value value                  ...
 *            '- first segment of a context            '- later ones
 *
 * A value that fails half-way is rolled back, its symbols too. `is_busy` is set while foreign code may
 * run - a hook, an iterator, the file's write: whoever comes in then gets an error. Without a GIL each method
 * takes the writer's turn besides.
 */
#include "py_writer.h"

#include "py_sink.h"
#include "py_write_options.h"

typedef enum writer_health {
    WRITER_GOOD = 0,
    WRITER_FAILED, /* the file has not taken a segment; flush() tries again */
    WRITER_BROKEN  /* out of memory where a value could not be undone; only close() is left */
} writer_health;

/* Where a value begins, for undoing it. */
typedef struct writer_mark {
    ionf_bin_mark bin;
    ionf_txt_mark txt;
    size_t local_count, absent_count, absent_names_len, unknown_count;
    size_t marker_len;
    bool needs_marker;
} writer_mark;

typedef struct Writer {
    PyObject_HEAD ionfast_state *state; /* borrowed: the type keeps the module alive */
    ionfast_encoder *enc;               /* owned, from the pool; NULL: closed */
    ionfast_sink sink;
    PyObject *hook;    /* owned: the encoder borrows it; or NULL */
    PyObject *indent;  /* the same */
    PyObject *value;   /* owned: of memory that has been closed; else NULL */
    size_t block;      /* bytes past which a value is followed by a flush; 0: never */
    uint8_t health;    /* writer_health */
    bool has_marker;   /* text: $ion_1_0 is wanted */
    bool needs_marker; /* a version marker comes next */
    bool has_output;   /* a segment has been made */
    bool is_busy;
    ionfast_turn turn;
    writer_mark top; /* before the top-level value in hand */
} Writer;

/* ---- where it stands ---- */

static uint32_t
depth_of(const Writer *self)
{
    return self->enc->is_binary ? self->enc->bin.depth : self->enc->txt.depth;
}

/* Kind of the container at `depth` from 1, or IONF_KIND_NULL. Binary: wrappers are frames too. */
static ionf_kind
kind_at(const Writer *self, uint32_t depth)
{
    const ionfast_encoder *const enc = self->enc;
    if (!enc->is_binary) {
        return ionf_txt_writer_kind(&enc->txt, depth);
    }
    for (size_t i = 0; i < enc->bin.frame_count; i++) {
        depth -= enc->bin.frames[i].kind < IONF_FRAME_ANNOTATION;
        if (depth == 0) {
            return (ionf_kind)enc->bin.frames[i].kind;
        }
    }
    return IONF_KIND_NULL;
}

/* Of the innermost container; IONF_KIND_NULL at top level. No wrapper is innermost between calls. */
static ionf_kind
innermost_kind(const Writer *self)
{
    const ionfast_encoder *const enc = self->enc;
    if (depth_of(self) == 0) {
        return IONF_KIND_NULL;
    }
    return enc->is_binary ? (ionf_kind)enc->bin.frames[enc->bin.frame_count - 1].kind
                          : ionf_txt_writer_kind(&enc->txt, enc->txt.depth);
}

static const char *
container_name(ionf_kind kind)
{
    return kind == IONF_KIND_LIST ? "list" : kind == IONF_KIND_SEXP ? "sexp" : "struct";
}

/* ---- misuse ---- */

/* Open containers that a message names. */
#define NAMES_MAX 8

/* "struct > list > list", outermost first, or "nothing"; new reference. */
static PyObject *
open_containers(const Writer *self)
{
    const uint32_t depth = depth_of(self);
    if (depth == 0) {
        return PyUnicode_FromString("nothing");
    }
    PyObject *names = PyUnicode_FromString("");
    for (uint32_t i = 1; names != NULL && i <= depth; i++) {
        if (i == NAMES_MAX && depth > NAMES_MAX) {
            PyUnicode_AppendAndDel(&names, PyUnicode_FromString(" > ..."));
            i = depth - 1;
            continue;
        }
        PyUnicode_AppendAndDel(&names, PyUnicode_FromFormat("%s%s", i == 1 ? "" : " > ",
                                                            container_name(kind_at(self, i))));
    }
    return names;
}

/* IonError: "<problem>; open: <containers>". Always gives -1. */
static int
refuse(const Writer *self, const char *problem)
{
    PyObject *names = open_containers(self);
    if (names != NULL) {
        PyErr_Format(self->state->IonError, "%s; open: %U", problem, names);
        Py_DECREF(names);
    }
    return -1;
}

static PyObject *
in_use(void)
{
    PyErr_SetString(PyExc_RuntimeError, "the writer is in use by another call");
    return NULL;
}

static int
check_open(const Writer *self)
{
    if (IONF_UNLIKELY(self->enc == NULL)) {
        PyErr_SetString(PyExc_ValueError, "the writer is closed");
        return -1;
    }
    if (IONF_UNLIKELY(self->is_busy)) {
        in_use();
        return -1;
    }
    return 0;
}

/* Can a value be written, or a container be closed? */
static int
check_usable(const Writer *self)
{
    if (check_open(self) < 0) {
        return -1;
    }
    if (IONF_LIKELY(self->health == WRITER_GOOD)) {
        return 0;
    }
    PyErr_SetString(self->state->IonError,
                    self->health == WRITER_FAILED
                        ? "an earlier write to the target failed: flush() tries again, close() "
                          "gives it up"
                        : "memory ran out inside a value: only close() is left");
    return -1;
}

static int
check_top_level(const Writer *self, const char *problem)
{
    return depth_of(self) == 0 ? 0 : refuse(self, problem);
}

/* ---- undoing ---- */

static void
set_mark(const Writer *self, writer_mark *mark)
{
    const ionfast_encoder *const enc = self->enc;
    if (enc->is_binary) {
        mark->bin = ionf_bin_writer_mark(&enc->bin);
    } else {
        mark->txt = ionf_txt_writer_mark(&enc->txt);
    }
    mark->local_count = enc->bin.symbols.local_count;
    mark->absent_count = enc->absent_count;
    mark->absent_names_len = enc->absent_names.len;
    mark->unknown_count = enc->unknown_count;
    mark->marker_len = enc->marker_len;
    mark->needs_marker = self->needs_marker;
}

static void
roll_back(Writer *self, const writer_mark *mark)
{
    ionfast_encoder *const enc = self->enc;
    if (enc->is_binary) {
        ionf_bin_writer_rollback(&enc->bin, &mark->bin);
    } else {
        ionf_txt_writer_rollback(&enc->txt, &mark->txt);
    }
    if (enc->bin.symbols.local_count != mark->local_count) {
        ionf_symmap_truncate(&enc->bin.symbols, mark->local_count);
        ionfast_names_clear(enc); /* it may hold symbols that are void now */
    }
    enc->absent_count = mark->absent_count;
    enc->absent_names.len = mark->absent_names_len;
    enc->unknown_count = mark->unknown_count;
    enc->marker_len = mark->marker_len;
    self->needs_marker = mark->needs_marker;
}

/* ---- segments ---- */

static void
forget_absents(ionfast_encoder *enc)
{
    enc->absent_count = 0;
    enc->unknown_count = 0;
    ionf_buf_reset(&enc->absent_names);
}

/* SIDs start again, and a version marker comes before the next value. */
static void
start_context(Writer *self)
{
    ionf_symmap_new_context(&self->enc->bin.symbols);
    ionfast_names_clear(self->enc);
    forget_absents(self->enc);
    self->needs_marker = self->enc->is_binary || self->has_marker;
}

/* Symbol table and body as bytes. On failure nothing has changed. */
static PyObject *
binary_segment(Writer *self)
{
    ionfast_encoder *const enc = self->enc;
    ionf_symmap *const symbols = &enc->bin.symbols;
    const size_t head = ionf_symmap_binary_size(symbols, self->needs_marker);
    const size_t body = ionf_bin_writer_body_size(&enc->bin);
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(head + body));
    if (bytes == NULL) {
        return NULL;
    }
    ionf_buf_reset(&enc->scratch);
    const ionf_status status =
        ionf_symmap_write_binary(symbols, self->needs_marker, &enc->scratch);
    if (status != IONF_OK) {
        Py_DECREF(bytes);
        return ionfast_set_status(self->state, status);
    }
    uint8_t *const dst = (uint8_t *)PyBytes_AS_STRING(bytes);
    if (head != 0) {
        memcpy(dst, enc->scratch.data, head);
    }
    (void)ionf_bin_writer_emit(&enc->bin, dst + head);
    self->needs_marker = false;
    return bytes;
}

/* Text whose unknown symbols need a table: it stands behind the version marker, if there is one, and
 * before all values. */
static PyObject *
text_segment_absent(Writer *self)
{
    ionfast_encoder *const enc = self->enc;
    ionf_buf *const out = &enc->scratch;
    const char *const separator = enc->txt.top_separator;
    const size_t marker = enc->marker_len;
    const bool is_start = marker == 0 && !self->has_output;
    ionf_buf_reset(out);
    ionf_status status = ionf_buf_append(out, enc->body->data, marker);
    if (status == IONF_OK && !is_start) {
        status = ionf_buf_append(out, separator, strlen(separator));
    }
    if (status == IONF_OK) {
        status = ionfast_absent_text(enc, out);
    }
    if (status == IONF_OK && is_start) { /* elsewhere the values come with one */
        status = ionf_buf_append(out, separator, strlen(separator));
    }
    if (status == IONF_OK) {
        status = ionf_buf_append(out, enc->body->data + marker, enc->body->len - marker);
    }
    return status == IONF_OK ? ionfast_sink_segment(&self->sink, out->data, out->len)
                             : ionfast_set_status(self->state, status);
}

/* What has been written since the last segment. On failure nothing has changed. */
static PyObject *
make_segment(Writer *self)
{
    ionfast_encoder *const enc = self->enc;
    PyObject *segment;
    if (!enc->is_binary) {
        segment = enc->absent_count != 0
                      ? text_segment_absent(self)
                      : ionfast_sink_segment(&self->sink, enc->body->data, enc->body->len);
        if (segment != NULL) {
            ionf_buf_reset(enc->body);
            enc->marker_len = 0;
            forget_absents(enc);
        }
        return segment;
    }
    const bool has_unknown = enc->unknown_count != 0;
    segment = has_unknown ? ionfast_encoder_binary_absent(enc) : binary_segment(self);
    if (segment != NULL) {
        ionf_bin_writer_flushed(&enc->bin);
        if (has_unknown || enc->bin.symbols.local_count > IONF_SYMMAP_CONTEXT_MAX) {
            start_context(self);
        }
    }
    return segment;
}

/* Text: the version marker that is due. */
static int
write_marker(Writer *self)
{
    if (!self->needs_marker || self->enc->is_binary) {
        return 0;
    }
    self->needs_marker = false;
    return ionfast_encode_version_marker(self->enc);
}

/* Make a segment and hand it over, at top level. `is_end`: a stream without values still gets its
 * version marker. */
static int
flush_segment(Writer *self, bool is_end)
{
    const bool is_bare = is_end && !self->has_output && self->needs_marker;
    if (is_bare && write_marker(self) < 0) {
        return -1;
    }
    if (self->enc->body->len == 0 && !is_bare) {
        return 0;
    }
    self->health = WRITER_FAILED; /* until it is done */
    self->is_busy = true;         /* a long one looks at signals */
    PyObject *segment = make_segment(self);
    self->is_busy = false;
    if (segment == NULL) {
        return -1;
    }
    self->has_output = true;
    self->is_busy = true;
    const int result = ionfast_sink_write(&self->sink, segment);
    self->is_busy = false;
    if (result == 0) {
        self->health = WRITER_GOOD;
    }
    return result;
}

/* What a failed flush has left over, then everything else. */
static int
flush_all(Writer *self, bool is_end)
{
    if (self->health == WRITER_FAILED) {
        self->is_busy = true;
        const int result = ionfast_sink_retry(&self->sink);
        self->is_busy = false;
        if (result < 0) {
            return -1;
        }
        self->health = WRITER_GOOD;
    }
    return flush_segment(self, is_end);
}

/* After a value: flush if it is a top-level one and there is enough. */
static PyObject *
after_value(Writer *self)
{
    if (IONF_UNLIKELY(self->block != 0 && self->enc->body->len >= self->block) &&
        depth_of(self) == 0 && flush_segment(self, false) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

/* ---- arguments of the calls that write a value ---- */

typedef struct value_args {
    PyObject *value;       /* borrowed, as the others; NULL where it may be left out */
    PyObject *field_name;  /* NULL: none */
    PyObject *annotations; /* NULL: none */
} value_args;

/* One of `field_name` and `annotations`, by its index. */
static void
set_value_arg(value_args *args, int index, PyObject *value)
{
    if (index == 0) {
        args->field_name = value == Py_None ? NULL : value;
    } else {
        args->annotations = value == Py_None ? NULL : value;
    }
}

static int
set_value_keyword(value_args *args, const char *function, PyObject *name, PyObject *value,
                  Py_ssize_t nargs)
{
    const int index = IONFAST_IS_KEYWORD(name, "field_name")    ? 0
                      : IONFAST_IS_KEYWORD(name, "annotations") ? 1
                                                                : -1;
    if (index < 0) {
        PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument '%U'", function,
                     name);
        return -1;
    }
    if (index + 1 < nargs) {
        PyErr_Format(PyExc_TypeError, "%s() got multiple values for argument '%U'", function,
                     name);
        return -1;
    }
    set_value_arg(args, index, value);
    return 0;
}

/* (value, /, field_name=None, annotations=()) */
static int
parse_value_args(value_args *out, const char *function, PyObject *const *args, Py_ssize_t nargs,
                 PyObject *kwnames)
{
    *out = (value_args){NULL, NULL, NULL};
    if (nargs < 1 || nargs > 3) {
        PyErr_Format(PyExc_TypeError, "%s() takes 1 to 3 positional arguments but %zd were given",
                     function, nargs);
        return -1;
    }
    out->value = args[0];
    for (Py_ssize_t i = 1; i < nargs; i++) {
        set_value_arg(out, (int)i - 1, args[i]);
    }
    const Py_ssize_t count = kwnames == NULL ? 0 : PyTuple_GET_SIZE(kwnames);
    for (Py_ssize_t i = 0; i < count; i++) {
        if (set_value_keyword(out, function, PyTuple_GET_ITEM(kwnames, i), args[nargs + i],
                              nargs) < 0) {
            return -1;
        }
    }
    if (out->annotations != NULL && PyUnicode_Check(out->annotations)) {
        PyErr_SetString(PyExc_TypeError, "annotations must be a sequence of names, not one str");
        return -1;
    }
    return 0;
}

/* ---- writing ---- */

static int
check_field_name(const Writer *self, const value_args *args)
{
    const bool in_struct = innermost_kind(self) == IONF_KIND_STRUCT;
    if (IONF_LIKELY(in_struct == (args->field_name != NULL))) {
        return 0;
    }
    return refuse(self, in_struct ? "a value in a struct needs a field_name"
                                  : "a field_name is for values in a struct only");
}

/* Field name and annotations. Gives 1 when there are annotations, 0 when not, -1 on an exception. */
static int
write_names(Writer *self, const value_args *args)
{
    ionfast_encoder *const enc = self->enc;
    if (args->field_name != NULL && ionfast_encode_name(enc, args->field_name) < 0) {
        return -1;
    }
    if (args->annotations == NULL) {
        return 0;
    }
    PyObject *names = PySequence_Tuple(args->annotations);
    if (names == NULL) {
        return -1;
    }
    const int has_names = PyTuple_GET_SIZE(names) != 0;
    const int result = has_names ? ionfast_encode_annotations(enc, names) : 0;
    Py_DECREF(names);
    return result < 0 ? -1 : has_names;
}

/* What writes the value itself, where the writer stands. */
typedef int (*value_writer)(Writer *self, PyObject *value);

static int
write_steps(Writer *self, const value_args *args, value_writer write, bool is_opening)
{
    if (depth_of(self) == 0 && write_marker(self) < 0) {
        return -1;
    }
    const int is_annotated = write_names(self, args);
    if (is_annotated < 0 || write(self, args->value) < 0) {
        return -1;
    }
    return is_annotated && !is_opening ? ionfast_encode_annotations_end(self->enc) : 0;
}

/* One value, or the opening of one, with all that belongs to it or not at all. */
static int
write_value(Writer *self, const value_args *args, value_writer write, bool is_opening)
{
    if (check_field_name(self, args) < 0) {
        return -1;
    }
    writer_mark mark;
    set_mark(self, &mark);
    if (is_opening && depth_of(self) == 0) {
        self->top = mark;
    }
    self->is_busy = true;
    const int result = write_steps(self, args, write, is_opening);
    self->is_busy = false;
    if (IONF_UNLIKELY(result < 0)) {
        roll_back(self, &mark);
    }
    return result;
}

/* The whole of a method that writes one value. */
static PyObject *
write_method(Writer *self, const char *name, PyObject *const *args, Py_ssize_t nargs,
             PyObject *kwnames, value_writer write)
{
    value_args parsed;
    if (check_usable(self) < 0 || parse_value_args(&parsed, name, args, nargs, kwnames) < 0 ||
        write_value(self, &parsed, write, false) < 0) {
        return NULL;
    }
    return after_value(self);
}

static int
write_any(Writer *self, PyObject *value)
{
    return ionfast_encode(self->enc, value);
}

static PyObject *
Writer_write(Writer *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    return write_method(self, "write", args, nargs, kwnames, write_any);
}

/* The kind of an IonType; -1 with TypeError. */
static int
kind_of(const Writer *self, PyObject *type)
{
    for (int kind = 0; kind < IONFAST_KIND_COUNT; kind++) {
        if (type == self->state->ion_types[kind]) {
            return kind;
        }
    }
    PyErr_Format(PyExc_TypeError, "an IonType is needed, not %.200s", Py_TYPE(type)->tp_name);
    return -1;
}

static int
write_null_of(Writer *self, PyObject *type)
{
    ionfast_encoder *const enc = self->enc;
    const int kind = kind_of(self, type);
    if (kind < 0) {
        return -1;
    }
    return ionfast_encode_status(enc, enc->is_binary
                                          ? ionf_bin_write_null(&enc->bin, (ionf_kind)kind)
                                          : ionf_txt_write_null(&enc->txt, (ionf_kind)kind));
}

static PyObject *
Writer_write_null(Writer *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    return write_method(self, "write_null", args, nargs, kwnames, write_null_of);
}

/* The annotations that an IonPy* value has of its own, after those of the call, opened; gives 1 if there
 * are any, 0 if not, -1 on an exception. */
static int
write_own_annotations(Writer *self, PyObject *value)
{
    if (PyUnicode_CheckExact(value) || PyBytes_CheckExact(value)) {
        return 0;
    }
    PyObject *own = PyObject_GetAttr(value, self->state->str_ion_annotations);
    if (own == NULL) {
        if (!PyErr_ExceptionMatches(PyExc_AttributeError)) {
            return -1;
        }
        PyErr_Clear();
        return 0;
    }
    int result = PyObject_IsTrue(own);
    if (result > 0 && ionfast_encode_annotations(self->enc, own) < 0) {
        result = -1;
    }
    Py_DECREF(own);
    return result;
}

/* write(), for values that ionfast_encode would give another type. */
static int
write_as(Writer *self, PyObject *value, value_writer write)
{
    const int is_annotated = write_own_annotations(self, value);
    if (is_annotated < 0 || write(self, value) < 0) {
        return -1;
    }
    return is_annotated ? ionfast_encode_annotations_end(self->enc) : 0;
}

static int
put_symbol(Writer *self, PyObject *name)
{
    ionfast_encoder *const enc = self->enc;
    uint64_t sid;
    ionf_symref ref;
    if (ionfast_symbol_of(enc, name, "symbols", &sid, &ref) < 0) {
        return -1;
    }
    return ionfast_encode_status(enc, enc->is_binary ? ionf_bin_write_symbol(&enc->bin, sid)
                                                     : ionf_txt_write_symbol(&enc->txt, &ref));
}

static int
write_symbol_of(Writer *self, PyObject *name)
{
    return write_as(self, name, put_symbol);
}

static PyObject *
Writer_write_symbol(Writer *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    return write_method(self, "write_symbol", args, nargs, kwnames, write_symbol_of);
}

static int
put_lob(ionfast_encoder *enc, const void *data, size_t len)
{
    return ionfast_encode_status(
        enc, enc->is_binary ? ionf_bin_write_lob(&enc->bin, IONF_KIND_CLOB, data, len)
                            : ionf_txt_write_lob(&enc->txt, IONF_KIND_CLOB, data, len));
}

static int
put_clob(Writer *self, PyObject *data)
{
    Py_buffer view;
    if (PyObject_GetBuffer(data, &view, PyBUF_SIMPLE) < 0) {
        return -1;
    }
    int result = -1;
    if (IONFAST_HAS_GIL || PyBytes_CheckExact(data)) {
        result = put_lob(self->enc, view.buf, (size_t)view.len);
    } else { /* others may change it while it is looked at: a copy */
        PyObject *copy = PyBytes_FromStringAndSize(view.buf, view.len);
        if (copy != NULL) {
            result = put_lob(self->enc, PyBytes_AS_STRING(copy), (size_t)view.len);
            Py_DECREF(copy);
        }
    }
    PyBuffer_Release(&view);
    return result;
}

static int
write_clob_of(Writer *self, PyObject *data)
{
    return write_as(self, data, put_clob);
}

static PyObject *
Writer_write_clob(Writer *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    return write_method(self, "write_clob", args, nargs, kwnames, write_clob_of);
}

/* ---- containers ---- */

static int
open_container(Writer *self, PyObject *type)
{
    ionfast_encoder *const enc = self->enc;
    const int kind = kind_of(self, type);
    if (kind < 0) {
        return -1;
    }
    if (!ionf_kind_is_container((unsigned)kind)) {
        PyErr_Format(self->state->IonError, "step_in() needs LIST, SEXP or STRUCT, not %S", type);
        return -1;
    }
    return ionfast_encode_status(enc, enc->is_binary
                                          ? ionf_bin_write_begin(&enc->bin, (ionf_kind)kind)
                                          : ionf_txt_write_begin(&enc->txt, (ionf_kind)kind));
}

static PyObject *
Writer_step_in(Writer *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    value_args parsed;
    if (check_usable(self) < 0 || parse_value_args(&parsed, "step_in", args, nargs, kwnames) < 0 ||
        write_value(self, &parsed, open_container, true) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

/* Close the innermost container and, in binary, the wrapper that it may stand in. */
static int
close_container(Writer *self)
{
    ionfast_encoder *const enc = self->enc;
    if (!enc->is_binary) {
        return ionfast_encode_status(enc, ionf_txt_write_end(&enc->txt));
    }
    ionf_bin_writer *const bin = &enc->bin;
    const ionf_status status = ionf_bin_write_end(bin);
    if (status != IONF_OK || bin->frame_count == 0 ||
        bin->frames[bin->frame_count - 1].kind != IONF_FRAME_ANNOTATION) {
        return ionfast_encode_status(enc, status);
    }
    const int result = ionfast_encode_annotations_end(enc);
    if (result < 0) {
        self->health = WRITER_BROKEN;
    }
    return result;
}

static PyObject *
Writer_step_out(Writer *self, PyObject *Py_UNUSED(ignored))
{
    if (check_usable(self) < 0) {
        return NULL;
    }
    if (depth_of(self) == 0) {
        refuse(self, "step_out() at top level");
        return NULL;
    }
    return close_container(self) < 0 ? NULL : after_value(self);
}

/* ---- handing out ---- */

static PyObject *
Writer_flush(Writer *self, PyObject *Py_UNUSED(ignored))
{
    if (check_open(self) < 0 || check_top_level(self, "flush() inside a value") < 0 ||
        flush_all(self, false) < 0) {
        return NULL;
    }
    self->is_busy = true;
    const int result = ionfast_sink_flush(&self->sink);
    self->is_busy = false;
    if (result < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *
Writer_finish(Writer *self, PyObject *Py_UNUSED(ignored))
{
    if (check_open(self) < 0 || check_top_level(self, "finish() inside a value") < 0 ||
        flush_all(self, false) < 0) {
        return NULL;
    }
    start_context(self);
    Py_RETURN_NONE;
}

static PyObject *
Writer_getvalue(Writer *self, PyObject *Py_UNUSED(ignored))
{
    if (self->value != NULL) {
        return Py_NewRef(self->value);
    }
    if (check_usable(self) < 0) {
        return NULL;
    }
    if (!ionfast_sink_is_memory(&self->sink)) {
        PyErr_SetString(PyExc_TypeError, "getvalue() is for a writer to memory, Writer(None)");
        return NULL;
    }
    if (check_top_level(self, "getvalue() inside a value") < 0 || flush_all(self, true) < 0) {
        return NULL;
    }
    return ionfast_sink_value(&self->sink);
}

/* ---- closing ---- */

/* Give everything back; nothing is written. -1 when closing a file raises. */
static int
release(Writer *self)
{
    ionfast_encoder *const enc = self->enc;
    ionfast_poke(&self->enc, NULL);
    if (enc != NULL) {
        ionfast_encoder_give(enc);
    }
    Py_CLEAR(self->hook);
    Py_CLEAR(self->indent);
    return ionfast_sink_close(&self->sink);
}

/* Forget the part of a value that has been written, if there is one. */
static void
abandon_value(Writer *self)
{
    if (depth_of(self) != 0 || self->health == WRITER_BROKEN) {
        roll_back(self, &self->top);
    }
}

/* Hand out what is complete and let go. `is_quiet`: an unfinished value is no error, for there is one
 * already. Whatever happens, the writer is closed then. */
static int
close_writer(Writer *self, bool is_quiet)
{
    int result = 0;
    const bool has_given_up = self->health == WRITER_FAILED; /* its error has been raised */
    if (!is_quiet) {
        result = check_top_level(self, "close() inside a value, which is dropped");
    }
    PyObject *type, *error, *traceback;
    PyErr_Fetch(&type, &error, &traceback);
    abandon_value(self);
    if (!has_given_up && flush_segment(self, true) < 0) {
        result = -1;
    } else if (ionfast_sink_is_memory(&self->sink)) {
        self->value = ionfast_sink_value(&self->sink);
        result = self->value == NULL ? -1 : result;
    }
    if (PyErr_Occurred()) {
        Py_XDECREF(type);
        Py_XDECREF(error);
        Py_XDECREF(traceback);
    } else {
        PyErr_Restore(type, error, traceback);
    }
    return release(self) < 0 ? -1 : result;
}

static PyObject *
Writer_close(Writer *self, PyObject *Py_UNUSED(ignored))
{
    if (self->enc != NULL && (check_open(self) < 0 || close_writer(self, false) < 0)) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *
Writer_enter(Writer *self, PyObject *Py_UNUSED(ignored))
{
    return check_open(self) < 0 ? NULL : Py_NewRef((PyObject *)self);
}

static PyObject *
Writer_exit(Writer *self, PyObject *const *args, Py_ssize_t nargs)
{
    const bool is_quiet = nargs > 0 && args[0] != Py_None;
    if (self->enc != NULL && (check_open(self) < 0 || close_writer(self, is_quiet) < 0)) {
        return NULL;
    }
    Py_RETURN_NONE;
}

/* ---- attributes ---- */

static PyObject *
Writer_get_depth(Writer *self, void *Py_UNUSED(closure))
{
    return check_open(self) < 0 ? NULL : PyLong_FromUnsignedLong(depth_of(self));
}

static PyObject *
Writer_get_closed(Writer *self, void *Py_UNUSED(closure))
{
    return PyBool_FromLong(ionfast_peek(&self->enc) == NULL);
}

/* ---- one call at a time ---- */

#define ALONE(function) IONFAST_ALONE(function, (Writer * self, PyObject * object), (self, object))
#define ALONE_VALUE(function)                                                                     \
    IONFAST_ALONE(function,                                                                       \
                  (Writer * self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames),    \
                  (self, args, nargs, kwnames))

ALONE_VALUE(Writer_write)
ALONE_VALUE(Writer_write_null)
ALONE_VALUE(Writer_write_symbol)
ALONE_VALUE(Writer_write_clob)
ALONE_VALUE(Writer_step_in)
ALONE(Writer_step_out)
ALONE(Writer_flush)
ALONE(Writer_finish)
ALONE(Writer_getvalue)
ALONE(Writer_close)
ALONE(Writer_enter)
IONFAST_ALONE(Writer_exit, (Writer * self, PyObject *const *args, Py_ssize_t nargs),
              (self, args, nargs))
IONFAST_ALONE(Writer_get_depth, (Writer * self, void *closure), (self, closure))

/* ---- making ---- */

typedef struct writer_options {
    ionfast_write_options base;
    PyObject *target;     /* borrowed */
    PyObject *auto_flush; /* borrowed */
    uint8_t preallocate;
} writer_options;

int
ionfast_arg_block(PyObject *value, size_t usual, size_t *out)
{
    if (PyBool_Check(value)) {
        *out = value == Py_True ? usual : 0;
        return 0;
    }
    if (!PyLong_Check(value)) {
        PyErr_Format(PyExc_TypeError, "auto_flush must be a bool or an int, not %.200s",
                     Py_TYPE(value)->tp_name);
        return -1;
    }
    const Py_ssize_t size = PyLong_AsSsize_t(value);
    if (size < 0) {
        PyErr_Clear();
        PyErr_SetString(PyExc_ValueError, "auto_flush is out of range");
        return -1;
    }
    *out = (size_t)size;
    return 0;
}

static int
take_preallocate(PyObject *value, uint8_t *out)
{
    int overflow = 0;
    const long count = PyLong_Check(value) ? PyLong_AsLongAndOverflow(value, &overflow) : -1;
    if (count < 0 || count > 2 || overflow != 0) {
        PyErr_Format(PyExc_ValueError, "preallocate must be 0, 1 or 2, not %R", value);
        return -1;
    }
    *out = (uint8_t)count;
    return 0;
}

static int
parse_options(writer_options *options, PyObject *target, PyObject *kwnames,
              PyObject *const *values)
{
    *options = (writer_options){ionfast_write_options_default(), target, Py_True,
                                IONF_BIN_DEFAULT_PREALLOCATE};
    const Py_ssize_t count = kwnames == NULL ? 0 : PyTuple_GET_SIZE(kwnames);
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *const name = PyTuple_GET_ITEM(kwnames, i);
        int result = 0;
        if (IONFAST_IS_KEYWORD(name, "target") && target == NULL) {
            options->target = values[i];
        } else if (IONFAST_IS_KEYWORD(name, "auto_flush")) {
            options->auto_flush = values[i];
        } else if (IONFAST_IS_KEYWORD(name, "preallocate")) {
            result = take_preallocate(values[i], &options->preallocate);
        } else {
            result = ionfast_write_option_set(&options->base, "Writer", name, values[i]);
        }
        if (result < 0) {
            return -1;
        }
    }
    if (options->target == NULL) {
        options->target = Py_None;
    }
    return 0;
}

/* The target comes last, for opening a path truncates the file. */
static int
set_up(Writer *self, const writer_options *options)
{
    /* Memory gains nothing from being cut into blocks, unless a size is asked for. */
    const size_t usual = options->target == Py_None ? 0 : IONFAST_BLOCK_SIZE;
    if (ionfast_arg_block(options->auto_flush, usual, &self->block) < 0) {
        return -1;
    }
    self->hook = Py_XNewRef(options->base.hook);
    self->indent = Py_XNewRef(options->base.indent);
    self->enc = ionfast_write_options_encoder(self->state, &options->base);
    if (self->enc == NULL) {
        return -1;
    }
    self->enc->bin.preallocate = options->preallocate;
    self->has_marker = !options->base.omit_version_marker;
    self->needs_marker = options->base.binary || self->has_marker;
    return ionfast_sink_open(self->state, options->target, NULL, options->base.binary,
                             &self->sink);
}

static PyObject *
make_writer(PyTypeObject *type, ionfast_state *state, const writer_options *options)
{
    Writer *self = (Writer *)type->tp_alloc(type, 0);
    if (self == NULL) {
        return NULL;
    }
    self->state = state;
    (void)ionfast_turn_take(
        &self->turn); /* the collector shows it to others before it is complete */
    if (set_up(self, options) < 0) {
        release(self);
        Py_DECREF(self);
        return NULL;
    }
    ionfast_turn_give(&self->turn);
    return (PyObject *)self;
}

/* Writer(target, **options) without a tuple or a dict of arguments. */
static PyObject *
Writer_vectorcall(PyObject *callable, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    PyTypeObject *type = (PyTypeObject *)callable;
    const Py_ssize_t nargs = PyVectorcall_NARGS(nargsf);
    if (nargs > 1) {
        return PyErr_Format(PyExc_TypeError,
                            "Writer() takes at most 1 positional argument but %zd were given",
                            nargs);
    }
    writer_options options;
    if (parse_options(&options, nargs == 0 ? NULL : args[0], kwnames, args + nargs) < 0) {
        return NULL;
    }
    return make_writer(type, PyType_GetModuleState(type), &options);
}

/* The slow way in, for subclasses. */
static PyObject *
Writer_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *module = PyType_GetModuleByDef(type, ionfast_module_def());
    if (module == NULL) {
        return NULL;
    }
    if (PyTuple_GET_SIZE(args) > 1) {
        PyErr_SetString(PyExc_TypeError, "Writer() takes at most 1 positional argument");
        return NULL;
    }
    PyObject *writer = NULL;
    PyObject *names = kwargs == NULL ? PyTuple_New(0) : PySequence_Tuple(kwargs);
    PyObject *values = kwargs == NULL ? PyList_New(0) : PyDict_Values(kwargs);
    writer_options options;
    if (names != NULL && values != NULL &&
        parse_options(&options, PyTuple_GET_SIZE(args) == 0 ? NULL : PyTuple_GET_ITEM(args, 0),
                      names, ((PyListObject *)values)->ob_item) == 0) {
        writer = make_writer(type, ionfast_state_of_module(module), &options);
    }
    Py_XDECREF(names);
    Py_XDECREF(values);
    return writer;
}

/* ---- the type ---- */

static int
Writer_traverse(Writer *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->sink.file);
    Py_VISIT(self->sink.write);
    Py_VISIT(self->sink.close);
    Py_VISIT(self->sink.segments);
    Py_VISIT(self->hook);
    Py_VISIT(self->indent);
    Py_VISIT(self->value);
    if (self->enc != NULL) {
        Py_VISIT(self->enc->codec);
        Py_VISIT(self->enc->codec_entry);
        Py_VISIT(self->enc->catalog);
    }
    return 0;
}

static int
Writer_clear(Writer *self)
{
    if (!self->is_busy) {
        PyObject *type, *error, *traceback;
        PyErr_Fetch(&type, &error, &traceback);
        if (release(self) < 0) {
            PyErr_WriteUnraisable((PyObject *)self);
        }
        PyErr_Restore(type, error, traceback);
        Py_CLEAR(self->value);
    }
    return 0;
}

/* Values that were never handed over are not written now: who dropped the writer may have meant to
 * give up. But they are not dropped without a word. */
static void
Writer_finalize(PyObject *object)
{
    Writer *self = (Writer *)object;
    if (self->enc == NULL || self->sink.file == NULL) {
        return;
    }
    PyObject *type, *error, *traceback;
    PyErr_Fetch(&type, &error, &traceback);
    if ((self->enc->body->len != 0 || self->health != WRITER_GOOD) &&
        PyErr_ResourceWarning(object, 1, "a Writer was dropped with values not written: %R",
                              object) < 0) {
        PyErr_WriteUnraisable(object);
    }
    PyErr_Restore(type, error, traceback);
}

static void
Writer_dealloc(Writer *self)
{
    PyTypeObject *type = Py_TYPE(self);
    if (self->enc != NULL && PyObject_CallFinalizerFromDealloc((PyObject *)self) < 0) {
        return;
    }
    PyObject_GC_UnTrack(self);
    Writer_clear(self);
    type->tp_free(self);
    Py_DECREF(type);
}

#define FASTCALL(function) ((PyCFunction)(void (*)(void))(function))

#define EXAMPLE_BEGIN                                                                             \
    ">>> import ionfast\n"                                                                        \
    ">>> w = ionfast.Writer(binary=False)\n"

#define VALUE_OPTIONS ", /, field_name=None, annotations=())\n--\n\n"

static PyMethodDef Writer_methods[] = {
    {"write", FASTCALL(IONFAST_METHOD(Writer_write)), METH_FASTCALL | METH_KEYWORDS,
     "write($self, value" VALUE_OPTIONS
     "Write anything that dumps() takes, containers whole. A struct's values need a field_name,\n"
     "a str or a SymbolToken. annotations come before those that the value has of its own. A\n"
     "value that cannot be written leaves no trace, and the writer usable.\n\n" EXAMPLE_BEGIN
     ">>> w.write({'a': [1, None]}, annotations=['b'])\n"
     ">>> w.getvalue()\n"
     "'$ion_1_0 b::{a:[1,null]}'\n"},
    {"write_null", FASTCALL(IONFAST_METHOD(Writer_write_null)), METH_FASTCALL | METH_KEYWORDS,
     "write_null($self, type" VALUE_OPTIONS "Write the null of an IonType.\n\n" EXAMPLE_BEGIN
     ">>> w.write_null(ionfast.IonType.INT)\n"
     ">>> w.getvalue()\n"
     "'$ion_1_0 null.int'\n"},
    {"write_symbol", FASTCALL(IONFAST_METHOD(Writer_write_symbol)), METH_FASTCALL | METH_KEYWORDS,
     "write_symbol($self, name" VALUE_OPTIONS
     "Write a symbol: a str, or a SymbolToken.\n\n" EXAMPLE_BEGIN ">>> w.write_symbol('red')\n"
     ">>> w.getvalue()\n"
     "'$ion_1_0 red'\n"},
    {"write_clob", FASTCALL(IONFAST_METHOD(Writer_write_clob)), METH_FASTCALL | METH_KEYWORDS,
     "write_clob($self, data" VALUE_OPTIONS
     "Write the bytes of a bytes-like object as a clob.\n\n" EXAMPLE_BEGIN
     ">>> w.write_clob(b'raw')\n"
     ">>> w.getvalue()\n"
     "'$ion_1_0 {{\"raw\"}}'\n"},
    {"step_in", FASTCALL(IONFAST_METHOD(Writer_step_in)), METH_FASTCALL | METH_KEYWORDS,
     "step_in($self, type" VALUE_OPTIONS "Open a container, IonType.LIST, SEXP or STRUCT: what is "
     "written now goes into it.\n\n" EXAMPLE_BEGIN
     ">>> w.step_in(ionfast.IonType.STRUCT, annotations=['point'])\n"
     ">>> w.write(1, 'x')\n"
     ">>> w.step_out()\n"
     ">>> w.getvalue()\n"
     "'$ion_1_0 point::{x:1}'\n"},
    {"step_out", (PyCFunction)IONFAST_METHOD(Writer_step_out), METH_NOARGS,
     "step_out($self, /)\n--\n\nClose the container that was opened last."},
    {"flush", (PyCFunction)IONFAST_METHOD(Writer_flush), METH_NOARGS,
     "flush($self, /)\n--\n\nHand all values to the target, and flush that. After a failed write, "
     "which\n"
     "raises what the target has raised, it goes on where the target has stopped."},
    {"finish", (PyCFunction)IONFAST_METHOD(Writer_finish), METH_NOARGS,
     "finish($self, /)\n--\n\nHand all values to the target; the next one starts a new symbol "
     "table "
     "context, with a\nversion marker."},
    {"getvalue", (PyCFunction)IONFAST_METHOD(Writer_getvalue), METH_NOARGS,
     "getvalue($self, /)\n--\n\nAll that has been written to memory, bytes or str; after close() "
     "too."},
    {"close", (PyCFunction)IONFAST_METHOD(Writer_close), METH_NOARGS,
     "close($self, /)\n--\n\nHand all values to the target and let go of it; a file opened by "
     "path is "
     "closed.\nIonError when a container is still open: its top-level value is dropped. Closing "
     "twice is allowed."},
    {"__enter__", (PyCFunction)IONFAST_METHOD(Writer_enter), METH_NOARGS, NULL},
    {"__exit__", FASTCALL(IONFAST_METHOD(Writer_exit)), METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef Writer_getset[] = {
    {"depth", (getter)IONFAST_METHOD(Writer_get_depth), NULL, "Containers stepped into.", NULL},
    {"closed", (getter)Writer_get_closed, NULL, "Has close() been called?", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static const char Writer_doc[] =
    "Writer(target=None, *, binary=True, indent=None, imports=(), catalog=None, preallocate=1,\n"
    "       auto_flush=True, default=None, tuple_as_sexp=False, omit_version_marker=False,\n"
    "       max_depth=1000, codec=None)\n"
    "--\n\n"
    "Write a stream of Ion value by value, in memory bounded by a block and the largest value.\n\n"
    "target: a path, which is opened and closed by the writer; a binary or, for text Ion, a text\n"
    "    file object; or None for memory, read with getvalue().\n"
    "auto_flush: hand values to the target whenever so many bytes of them are complete. True: 64\n"
    "    KiB, and never for memory; False: only in flush(), finish() and close().\n"
    "preallocate: bytes left free for a binary container's length, 0, 1 or 2. The output is the\n"
    "    same; this is about speed alone.\n"
    "The other options are those of dumps(). Not for use by two threads at once.\n\n"
    "What the target's write() raises comes through unchanged; the writer then keeps what was "
    "not\n"
    "taken, refuses values until flush() has written it, and can be closed, which gives it up.\n\n"
    ">>> import ionfast\n"
    ">>> with ionfast.Writer(binary=False) as w:\n"
    "...     w.write({'id': 7})\n"
    "...     w.step_in(ionfast.IonType.STRUCT, annotations=['order'])\n"
    "...     w.write([1, 2], 'items')\n"
    "...     w.step_out()\n"
    ">>> w.getvalue()\n"
    "'$ion_1_0 {id:7} order::{items:[1,2]}'\n";

static PyType_Slot Writer_slots[] = {
    {Py_tp_doc, (void *)Writer_doc},
    {Py_tp_new, (void *)Writer_new},
    {Py_tp_dealloc, (void *)Writer_dealloc},
    {Py_tp_finalize, (void *)Writer_finalize},
    {Py_tp_traverse, (void *)Writer_traverse},
    {Py_tp_clear, (void *)Writer_clear},
    {Py_tp_methods, Writer_methods},
    {Py_tp_getset, Writer_getset},
    {0, NULL},
};

static PyType_Spec Writer_spec = {
    .name = "ionfast.Writer",
    .basicsize = sizeof(Writer),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE,
    .slots = Writer_slots,
};

int
ionfast_writer_exec(PyObject *module, ionfast_state *state)
{
    PyObject *type = PyType_FromModuleAndSpec(module, &Writer_spec, NULL);
    if (type == NULL) {
        return -1;
    }
    ((PyTypeObject *)type)->tp_vectorcall = Writer_vectorcall;
    state->Writer = (PyTypeObject *)type;
    return PyModule_AddObjectRef(module, "Writer", type);
}
