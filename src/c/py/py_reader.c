/* ionfast.Reader: a pull reader over memory, files, or chunks that are fed.
 *
 * The object is a small handle: what it reads with and works on lies in the pooled decoder.
 *
 * The core's reader enters each container with its token; a Reader's user may step in, take the value
 * whole, or pass on. So the Reader keeps the depth that its user sees, and brings the core there when
 * the next value is asked for:
 *
 *   core depth = depth      between values, or at a scalar
 *   core depth = depth + 1  at a container that was not stepped into: it is skipped
 *   core depth > depth      after step_out(): the rest is skipped
 *   core depth = depth - 1  the container's end has been read (at_end), until step_out()
 *
 * `is_busy` is set wherever Python code may run: a file's read, a callback, a class's constructor, a
 * signal's handler, a finalizer that the collector calls. Whoever comes in then gets an error, so that
 * nothing is closed or moved under the call that is under way. Without a GIL other threads may come in at
 * any time, and each method takes the reader's turn besides.
 */
#include "py_reader.h"

#include "py_args.h"
#include "py_build.h"
#include "py_gc.h"
#include "py_input.h"
#include "py_options.h"
#include "py_typed.h"

typedef struct Reader {
    PyObject_HEAD ionfast_state *state; /* borrowed: the type keeps the module alive */
    ionfast_decoder *dec;               /* owned, from the pool; NULL: closed */
    PyObject *close_source; /* owned: callable that closes what the reader opened; or NULL */
    PyObject *on_oversized; /* owned: callable told of values that are too large; or NULL */
    uint32_t depth;
    bool has_token;   /* the stream's token is the current value */
    bool is_taken;    /* value() has consumed the current container */
    bool is_building; /* value() is waiting for more input in the middle of a container */
    bool is_busy;
    bool is_plain; /* made by make_plain_reader(): the collector has never seen it */
    ionfast_turn turn;
    /* What next() must see to first: none of it in most calls, which is one look at `any`. */
    union {
        struct {
            bool is_unopened;   /* the decoder has not had its first window */
            bool at_end;        /* the current container's end has been read */
            bool has_extra;     /* any of: is_taken, is_building, kept names */
            bool is_discarding; /* in the middle of a value that is too large */
        };
        uint32_t any;
    } first;
} Reader;

/* ---- input ---- */

static inline bool
is_binary_bytes(PyObject *source)
{
    return PyBytes_CheckExact(source) && PyBytes_GET_SIZE(source) != 0 &&
           (uint8_t)PyBytes_AS_STRING(source)[0] == 0xE0;
}

static void
set_window(Reader *self, const uint8_t *data, size_t len)
{
    ionfast_decoder *dec = self->dec;
    const bool is_ended = dec->stream.input.is_ended;
    if (dec->is_binary) {
        ionf_bin_reader_window(&dec->bin, data, len, is_ended);
    } else {
        ionf_txt_reader_window(&dec->txt, data, len, is_ended);
    }
}

/* Before the input may move or drop the bytes that were used up. */
static void
release_window(Reader *self)
{
    ionfast_decoder *dec = self->dec;
    const size_t consumed =
        dec->is_binary ? ionf_bin_reader_release(&dec->bin) : ionf_txt_reader_release(&dec->txt);
    ionfast_input_consume(&dec->stream.input, consumed);
}

/* The decoder's first window: only now is it known whether this is binary. */
static int
open_decoder(Reader *self)
{
    ionfast_decoder *dec = self->dec;
    const ionfast_stream *stream = &dec->stream;
    const uint8_t *data;
    size_t len;
    ionfast_input_window(&stream->input, &data, &len);
    if (len == 0 && !stream->input.is_ended) {
        return 0;
    }
    if (ionfast_decoder_open(dec, data, len, stream->input.is_ended, stream->input.is_text,
                             &stream->limits, stream->catalog) < 0) {
        return -1;
    }
    self->first.is_unopened = false;
    return 1;
}

/* More bytes for the decoder: 1 when there are, 0 when the user must feed first, -1 on an exception. */
static int
pull_more(Reader *self)
{
    if (!self->first.is_unopened) {
        release_window(self);
    }
    ionfast_input *input = &self->dec->stream.input;
    self->is_busy = true;
    const int pulled = ionfast_input_pull(self->state, input);
    self->is_busy = false;
    if (pulled <= 0) {
        return pulled;
    }
    if (self->first.is_unopened) {
        return open_decoder(self);
    }
    const uint8_t *data;
    size_t len;
    ionfast_input_window(input, &data, &len);
    set_window(self, data, len);
    return 1;
}

IONF_NOINLINE static PyObject *
in_use(void)
{
    PyErr_SetString(PyExc_RuntimeError, "the reader is in use by another call");
    return NULL;
}

IONF_NOINLINE static int
unusable(const Reader *self)
{
    if (self->dec == NULL) {
        PyErr_SetString(PyExc_ValueError, "the reader is closed");
    } else {
        in_use();
    }
    return -1;
}

/* Is the reader usable, and by this call alone? */
static inline int
check_usable(const Reader *self)
{
    return IONF_LIKELY(self->dec != NULL && !self->is_busy) ? 0 : unusable(self);
}

/* ---- errors ---- */

static const char *const kind_names[] = {
    "a null",   "a bool", "an int", "a float", "a decimal", "a timestamp", "a symbol",
    "a string", "a clob", "a blob", "a list",  "a sexp",    "a struct"};

/* Containers named in a message; beyond them it says how many more. */
#define PLACE_KINDS 4

/* Where the reader stands: "at the top level", "in a list in a struct". */
static PyObject *
describe_place(const Reader *self)
{
    if (self->depth == 0) {
        return PyUnicode_FromString("at the top level");
    }
    const uint8_t *kinds = self->dec->stream.kinds;
    PyObject *place = PyUnicode_FromFormat("in %s", kind_names[kinds[self->depth - 1]]);
    uint32_t left = self->depth - 1;
    for (int i = 1; place != NULL && left != 0 && i < PLACE_KINDS; i++, left--) {
        Py_SETREF(place, PyUnicode_FromFormat("%U in %s", place, kind_names[kinds[left - 1]]));
    }
    if (place != NULL && left != 0) {
        Py_SETREF(place, PyUnicode_FromFormat("%U and %u more", place, (unsigned)left));
    }
    return place;
}

static uint64_t
current_offset(const Reader *self)
{
    const ionfast_decoder *dec = self->dec;
    if (self->has_token) {
        return dec->stream.token.offset;
    }
    const ionf_reader *base = dec->is_binary ? &dec->bin.base : &dec->txt.base;
    return !self->first.is_unopened ? ionf_reader_offset(base, base->p) : 0;
}

/* IonError for a call that makes no sense here: what was called, and why not. */
static PyObject *
misuse(Reader *self, const char *method, const char *reason)
{
    PyObject *place = describe_place(self);
    if (place != NULL) {
        ionfast_set_error_at(self->state, current_offset(self), "%s() %U: %s", method, place,
                             reason);
        Py_DECREF(place);
    }
    return NULL;
}

/* The core's error; with the size where it is known, for a value that is too large. */
static void
set_core_error(Reader *self)
{
    ionfast_decoder *dec = self->dec;
    const ionf_error *error = &ionfast_decoder_base(dec)->error;
    uint64_t size;
    if (error->status == IONF_ERR_VALUE_SIZE && dec->is_binary &&
        ionf_bin_measure(&dec->bin, &size) == IONF_OK) {
        ionfast_set_error_at(self->state, error->offset,
                             "a value is larger than max_value_size: %llu bytes, limit %llu",
                             (unsigned long long)size,
                             (unsigned long long)dec->stream.limits.max_value_size);
        return;
    }
    ionfast_set_error(self->state, error);
}

/* ---- moving ---- */

typedef enum step_result {
    STEP_ERROR = -1,
    STEP_OK = 0,
    STEP_NEED_DATA = 1,
    STEP_OVERSIZED = 2 /* the next value is too large, and on_oversized is to be told */
} step_result;

/* After the core has answered IONF_NEED_DATA or an error. STEP_OK: try again. */
static step_result
after_status(Reader *self, ionf_status status)
{
    if (status == IONF_NEED_DATA) {
        const int more = pull_more(self);
        return more < 0 ? STEP_ERROR : more == 0 ? STEP_NEED_DATA : STEP_OK;
    }
    if (status == IONF_ERR_VALUE_SIZE && self->on_oversized != NULL && self->depth == 0) {
        return STEP_OVERSIZED;
    }
    if (status == IONF_ERR_INTERRUPTED) {
        return STEP_ERROR; /* a signal's exception is set; the same call may be made again */
    }
    set_core_error(self);
    return STEP_ERROR;
}

static step_result
ensure_open(Reader *self)
{
    while (self->first.is_unopened) {
        const int more = pull_more(self);
        if (more <= 0) {
            return more < 0 ? STEP_ERROR : STEP_NEED_DATA;
        }
    }
    return STEP_OK;
}

/* Bring the core up to the depth that the user sees, past all that was not read. In the middle of a
 * symbol table the depth is the core's own affair. */
static step_result
leave_inner(Reader *self)
{
    ionfast_decoder *dec = self->dec;
    const ionf_reader *base = ionfast_decoder_base(dec);
    while (base->depth > self->depth && !base->in_lst) {
        self->is_busy = true;
        const ionf_status status =
            dec->is_binary ? ionf_bin_skip(&dec->bin) : ionf_txt_skip(&dec->txt);
        self->is_busy = false;
        if (status != IONF_OK) {
            const step_result result = after_status(self, status);
            if (result != STEP_OK) {
                return result;
            }
        }
    }
    return STEP_OK;
}

IONF_NOINLINE static void
forget_extra(Reader *self)
{
    ionfast_decoder *dec = self->dec;
    self->first.has_extra = false;
    self->is_taken = false;
    self->is_building = false;
    /* Dropping values may run finalizers, which must not come in here. */
    self->is_busy = true;
    Py_CLEAR(dec->stream.field);
    Py_CLEAR(dec->stream.annotations);
    ionfast_decoder_drop_values(dec);
    self->is_busy = false;
}

static inline void
forget_value(Reader *self)
{
    self->has_token = false;
    if (IONF_UNLIKELY(self->first.has_extra)) {
        forget_extra(self);
    }
}

static inline step_result
next_token(Reader *self)
{
    ionfast_decoder *dec = self->dec;
    ionf_token *token = &dec->stream.token;
    for (;;) {
        self->is_busy = true;
        const ionf_status status =
            dec->is_binary ? ionf_bin_next(&dec->bin, token) : ionf_txt_next(&dec->txt, token);
        self->is_busy = false;
        if (IONF_LIKELY(status == IONF_OK)) {
            return STEP_OK;
        }
        const step_result result = after_status(self, status);
        if (result != STEP_OK) {
            return result;
        }
    }
}

/* Tell on_oversized. */
static step_result
report_oversized(Reader *self, uint64_t size)
{
    self->is_busy = true;
    PyObject *result = PyObject_CallFunction(self->on_oversized, "KK", (unsigned long long)size,
                                             (unsigned long long)self->dec->stream.discard_offset);
    self->is_busy = false;
    Py_XDECREF(result);
    return result == NULL ? STEP_ERROR : STEP_OK;
}

/* Past a value that is too large, keeping nothing of it. */
static step_result
discard(Reader *self)
{
    ionfast_decoder *dec = self->dec;
    const ionf_reader *base = ionfast_decoder_base(dec);
    for (;;) {
        uint64_t size;
        self->is_busy = true;
        const ionf_status status = dec->is_binary ? ionf_bin_discard(&dec->bin, &size)
                                                  : ionf_txt_discard(&dec->txt, &size);
        self->is_busy = false;
        self->first.is_discarding = (status == IONF_NEED_DATA || status == IONF_ERR_INTERRUPTED) &&
                                    base->error.status == IONF_OK;
        if (status == IONF_OK) {
            return report_oversized(self, size);
        }
        if (status == IONF_ERR_VALUE_SIZE) {
            ionfast_set_error_at(self->state, base->error.offset,
                                 "a symbol table is larger than max_value_size, and cannot be "
                                 "passed over");
            return STEP_ERROR;
        }
        if (status == IONF_ERR_INTERRUPTED) {
            return STEP_ERROR;
        }
        if (status != IONF_NEED_DATA) {
            set_core_error(self);
            return STEP_ERROR;
        }
        const int more = pull_more(self);
        if (more <= 0) {
            return more < 0 ? STEP_ERROR : STEP_NEED_DATA;
        }
    }
}

static inline step_result
move(Reader *self)
{
    step_result result = STEP_OK;
    if (IONF_UNLIKELY(self->first.is_discarding)) {
        result = discard(self);
    } else if (IONF_UNLIKELY(self->first.is_unopened)) {
        result = ensure_open(self);
    }
    if (result == STEP_OK && ionfast_decoder_base(self->dec)->depth > self->depth) {
        result = leave_inner(self);
    }
    return IONF_LIKELY(result == STEP_OK) ? next_token(self) : result;
}

/* On to the next value at this depth: has_token tells whether there is one. */
static step_result
advance(Reader *self)
{
    forget_value(self);
    if (self->first.at_end) {
        return STEP_OK;
    }
    step_result result = move(self);
    while (IONF_UNLIKELY(result == STEP_OVERSIZED)) {
        self->dec->stream.discard_offset = ionfast_decoder_base(self->dec)->error.offset;
        result = discard(self);
        if (result == STEP_OK) {
            result = move(self);
        }
    }
    if (IONF_LIKELY(result == STEP_OK)) {
        const uint8_t kind = self->dec->stream.token.kind;
        self->has_token = kind < IONF_KIND_END;
        self->first.at_end = kind == IONF_KIND_END;
    }
    return result;
}

/* The plain cases of advance(), in binary. False: nothing has been done. */
IONF_FORCE_INLINE bool
advance_fast(Reader *self)
{
    ionfast_decoder *dec = self->dec;
    if (IONF_UNLIKELY(self->first.any != 0 || !dec->is_binary ||
                      dec->bin.base.depth != self->depth)) {
        return false;
    }
    if (ionf_bin_is_at_eof(&dec->bin)) {
        self->has_token = false;
        return true;
    }
    ionf_token *token = &dec->stream.token;
    if (IONF_UNLIKELY(!ionf_bin_fast(&dec->bin, token))) {
        return false;
    }
    self->has_token = token->kind < IONF_KIND_END;
    self->first.at_end = !self->has_token;
    return true;
}

static PyObject *
need_data(Reader *self)
{
    return Py_NewRef(self->state->NEED_DATA);
}

static PyObject *
current_type(Reader *self)
{
    return Py_NewRef(self->has_token ? self->state->ion_types[self->dec->stream.token.kind]
                                     : Py_None);
}

static PyObject *
Reader_next(Reader *self, PyObject *Py_UNUSED(ignored))
{
    if (check_usable(self) < 0) {
        return NULL;
    }
    step_result result = STEP_OK;
    if (IONF_UNLIKELY(self->first.is_unopened)) {
        result = ensure_open(self);
    }
    if (IONF_UNLIKELY(result != STEP_OK || !advance_fast(self))) {
        result = result == STEP_OK ? advance(self) : result;
        if (IONF_UNLIKELY(result != STEP_OK)) {
            return result == STEP_ERROR ? NULL : need_data(self);
        }
    }
    return current_type(self);
}

/* Why the current value cannot be stepped into; NULL: it can. */
static const char *
no_step_in_reason(const Reader *self)
{
    const ionf_token *t = &self->dec->stream.token;
    if (!self->has_token) {
        return self->first.at_end ? "the container has ended: step_out() first"
                                  : "there is no current value: next() first";
    }
    if (!ionf_kind_is_container(t->kind)) {
        return "only a list, sexp or struct has an inside";
    }
    if (t->is_null) {
        return "a null container has no inside";
    }
    return self->is_taken      ? "value() has read the container"
           : self->is_building ? "value() is in the middle of the container"
                               : NULL;
}

static PyObject *
Reader_step_in(Reader *self, PyObject *Py_UNUSED(ignored))
{
    if (check_usable(self) < 0) {
        return NULL;
    }
    const char *reason = no_step_in_reason(self);
    if (reason != NULL) {
        return misuse(self, "step_in", reason);
    }
    ionfast_stream *stream = &self->dec->stream;
    void *kinds = stream->kinds;
    const ionf_status status = ionf_alloc_grow(&self->state->alloc, &kinds, &stream->kind_cap,
                                               (size_t)self->depth + 1, 1);
    stream->kinds = kinds;
    if (status != IONF_OK) {
        return PyErr_NoMemory();
    }
    stream->kinds[self->depth] = stream->token.kind;
    forget_value(self);
    self->depth++;
    Py_RETURN_NONE;
}

static PyObject *
Reader_step_out(Reader *self, PyObject *Py_UNUSED(ignored))
{
    if (check_usable(self) < 0) {
        return NULL;
    }
    if (self->depth == 0) {
        return misuse(self, "step_out", "no container has been stepped into");
    }
    forget_value(self);
    self->depth--;
    self->first.at_end = false;
    Py_RETURN_NONE;
}

/* ---- the current value ---- */

/* Keep what the token only borrows, before the core moves on. */
static int
keep_names(Reader *self)
{
    ionfast_stream *stream = &self->dec->stream;
    const ionf_token *t = &stream->token;
    self->first.has_extra = true;
    if (t->has_field && stream->field == NULL) {
        stream->field = ionfast_symref_str(self->dec, &t->field);
        if (stream->field == NULL) {
            return -1;
        }
    }
    if (t->annotation_count != 0 && stream->annotations == NULL) {
        stream->annotations = ionfast_build_annotations(self->dec, t);
        if (stream->annotations == NULL) {
            return -1;
        }
    }
    return 0;
}

/* Open the frame of the container whose token is current. */
static int
begin_container(Reader *self)
{
    ionfast_decoder *dec = self->dec;
    if (keep_names(self) < 0) {
        return -1;
    }
    PyObject *annotations = dec->model == IONFAST_MODEL_PLAIN ? NULL : dec->stream.annotations;
    if (dec->plan != NULL) {
        PyObject *none;
        if (ionfast_typed_begin(dec, &dec->stream.token, &none) < 0) {
            return -1;
        }
    } else if (ionfast_push_frame(dec, dec->stream.token.kind, Py_XNewRef(annotations)) < 0) {
        return -1;
    }
    self->is_building = true;
    return 0;
}

/* Build until the container is complete, 1; or more must be fed, 0; or an exception is set, -1. */
static int
build_container(Reader *self, PyObject **value)
{
    for (;;) {
        self->is_busy = true;
        const int was_enabled = ionfast_gc_pause(SIZE_MAX);
        const ionfast_build_result built = self->dec->plan != NULL
                                               ? ionfast_typed_continue(self->dec, value)
                                               : ionfast_build_value(self->dec, value);
        ionfast_gc_resume(was_enabled);
        self->is_busy = false;
        if (built == IONFAST_BUILD_VALUE) {
            return 1;
        }
        if (built != IONFAST_BUILD_NEED_DATA) {
            /* A token may be lost with what was raised: the value cannot be finished any more. */
            self->is_building = false;
            self->is_taken = true;
            self->is_busy = true;
            ionfast_decoder_drop_values(self->dec);
            ionfast_typed_drop(self->dec);
            self->is_busy = false;
            return -1;
        }
        const int more = pull_more(self);
        if (more <= 0) {
            return more;
        }
    }
}

static PyObject *
container_value(Reader *self)
{
    if (ionfast_decoder_base(self->dec)->error.status != IONF_OK) {
        set_core_error(self);
        return NULL;
    }
    if (self->is_taken) {
        return misuse(self, "value", "the container's value has been read: next() first");
    }
    self->is_busy = true;
    const int begun = self->is_building ? 0 : begin_container(self);
    self->is_busy = false;
    if (begun < 0) {
        return NULL;
    }
    PyObject *value = NULL;
    const int built = build_container(self, &value);
    if (built <= 0) {
        return built < 0 ? NULL : need_data(self);
    }
    self->is_building = false;
    self->is_taken = true;
    return value;
}

static PyObject *
scalar_value(Reader *self)
{
    ionfast_decoder *dec = self->dec;
    const ionf_token *t = &dec->stream.token;
    const bool is_special =
        t->is_null || t->annotation_count != 0 || dec->model == IONFAST_MODEL_IONPY;
    self->is_busy = true;
    PyObject *value = NULL;
    if (IONF_UNLIKELY(dec->plan != NULL)) {
        (void)ionfast_typed_begin(dec, t, &value);
    } else {
        value = is_special ? ionfast_build_special(dec, t) : ionfast_build_scalar(dec, t);
    }
    self->is_busy = false;
    return value;
}

static inline PyObject *
current_value(Reader *self)
{
    const ionf_token *t = &self->dec->stream.token;
    return ionf_kind_is_container(t->kind) && !t->is_null ? container_value(self)
                                                          : scalar_value(self);
}

static PyObject *
Reader_value(Reader *self, PyObject *Py_UNUSED(ignored))
{
    if (check_usable(self) < 0) {
        return NULL;
    }
    if (IONF_UNLIKELY(!self->has_token)) {
        return misuse(self, "value", "there is no current value: next() first");
    }
    return current_value(self);
}

/* ---- iteration over the values at this depth ---- */

/* Has value() failed because of a size that on_oversized is to be told? */
static bool
is_oversized(const Reader *self)
{
    const ionfast_decoder *dec = self->dec;
    const ionf_reader *base = dec->is_binary ? &dec->bin.base : &dec->txt.base;
    return self->on_oversized != NULL && self->depth == 0 &&
           base->error.status == IONF_ERR_VALUE_SIZE;
}

/* A StopIteration that the source has raised would end the loop as if all had been read. */
static PyObject *
iteration_failed(void)
{
    if (!PyErr_ExceptionMatches(PyExc_StopIteration)) {
        return NULL;
    }
    PyObject *type, *error, *traceback;
    PyErr_Fetch(&type, &error, &traceback);
    PyErr_NormalizeException(&type, &error, &traceback);
    PyErr_SetString(PyExc_RuntimeError, "reading raised StopIteration");
    PyObject *new_type, *new_error, *new_traceback;
    PyErr_Fetch(&new_type, &new_error, &new_traceback);
    PyErr_NormalizeException(&new_type, &new_error, &new_traceback);
    PyException_SetCause(new_error, error); /* steals it */
    PyErr_Restore(new_type, new_error, new_traceback);
    Py_XDECREF(type);
    Py_XDECREF(traceback);
    return NULL;
}

static PyObject *
Reader_iternext(Reader *self)
{
    if (check_usable(self) < 0) {
        return NULL;
    }
    for (;;) {
        if (!self->is_building) {
            const step_result result = advance(self);
            if (result == STEP_NEED_DATA) {
                return need_data(self);
            }
            if (result == STEP_ERROR) {
                return iteration_failed();
            }
            if (!self->has_token) {
                return NULL;
            }
        }
        PyObject *value = current_value(self);
        if (IONF_LIKELY(value != NULL)) {
            return value;
        }
        if (!is_oversized(self)) {
            return iteration_failed();
        }
        PyErr_Clear();
    }
}

/* ---- feeding ---- */

static int
check_feedable(Reader *self, const char *method)
{
    if (check_usable(self) < 0) {
        return -1;
    }
    if (self->dec->stream.input.kind != IONFAST_INPUT_FEED) {
        PyErr_Format(PyExc_TypeError, "%s() is for a reader made with Reader(None)", method);
        return -1;
    }
    return 0;
}

/* Binary Ion begins: nothing is there yet that the chunk would have to be joined with, so that it is the
 * decoder's window without waiting for next() to ask. */
static void
begin_binary(Reader *self, PyObject *bytes)
{
    ionfast_decoder *dec = self->dec;
    ionfast_stream *stream = &dec->stream;
    ionfast_input_feed_first(&stream->input, bytes);
    ionfast_decoder_open_binary(dec, stream->input.data, stream->input.len, false, &stream->limits,
                                stream->catalog);
    self->first.is_unopened = false;
}

static PyObject *
Reader_feed(Reader *self, PyObject *chunk)
{
    if (check_feedable(self, "feed") < 0) {
        return NULL;
    }
    ionfast_input *input = &self->dec->stream.input;
    if (input->is_ending) {
        return misuse(self, "feed", "end() has been called");
    }
    if (self->first.is_unopened && input->pending == NULL && is_binary_bytes(chunk)) {
        begin_binary(self, chunk);
        Py_RETURN_NONE;
    }
    self->is_busy = true; /* a buffer's owner may be a class written in Python */
    const int status = ionfast_input_feed(input, chunk);
    self->is_busy = false;
    if (status < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *
Reader_end(Reader *self, PyObject *Py_UNUSED(ignored))
{
    if (check_feedable(self, "end") < 0) {
        return NULL;
    }
    ionfast_decoder *dec = self->dec;
    ionfast_input *input = &dec->stream.input;
    input->is_ending = true;
    if (!self->first.is_unopened && dec->is_binary && input->pending == NULL) {
        input->is_ended = true;
        dec->bin.base.is_final = true;
    }
    Py_RETURN_NONE;
}

/* ---- closing ---- */

/* Let go of all. What is dropped may run Python code, for which the reader is closed already. */
static int
close_reader(Reader *self)
{
    ionfast_decoder *dec = self->dec;
    if (dec == NULL) {
        return 0;
    }
    forget_value(self);
    ionfast_poke(&self->dec, NULL);
    ionfast_input_close(self->state, &dec->stream.input);
    ionfast_decoder_give(dec);
    if (IONF_LIKELY(self->on_oversized == NULL && self->close_source == NULL)) {
        return 0;
    }
    Py_CLEAR(self->on_oversized);
    PyObject *close_source = self->close_source;
    if (close_source == NULL) {
        return 0;
    }
    self->close_source = NULL;
    PyObject *result = PyObject_CallNoArgs(close_source);
    Py_DECREF(close_source);
    Py_XDECREF(result);
    return result == NULL ? -1 : 0;
}

static PyObject *
Reader_close(Reader *self, PyObject *Py_UNUSED(ignored))
{
    if (self->dec != NULL && check_usable(self) < 0) {
        return NULL;
    }
    if (close_reader(self) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *
Reader_enter(Reader *self, PyObject *Py_UNUSED(ignored))
{
    return check_usable(self) < 0 ? NULL : Py_NewRef((PyObject *)self);
}

static PyObject *
Reader_exit(Reader *self, PyObject *const *Py_UNUSED(args), Py_ssize_t Py_UNUSED(nargs))
{
    return Reader_close(self, NULL);
}

/* ---- attributes ---- */

static PyObject *
Reader_get_type(Reader *self, void *Py_UNUSED(closure))
{
    return check_usable(self) < 0 ? NULL : current_type(self);
}

static PyObject *
Reader_get_field_name(Reader *self, void *Py_UNUSED(closure))
{
    if (check_usable(self) < 0) {
        return NULL;
    }
    ionfast_decoder *dec = self->dec;
    if (!self->has_token || !dec->stream.token.has_field) {
        Py_RETURN_NONE;
    }
    if (dec->stream.field != NULL) {
        return Py_NewRef(dec->stream.field);
    }
    self->is_busy = true;
    PyObject *name = ionfast_symref_str(dec, &dec->stream.token.field);
    self->is_busy = false;
    return name;
}

static PyObject *
Reader_get_annotations(Reader *self, void *Py_UNUSED(closure))
{
    if (check_usable(self) < 0) {
        return NULL;
    }
    ionfast_decoder *dec = self->dec;
    if (!self->has_token || dec->stream.token.annotation_count == 0) {
        return Py_NewRef(self->state->empty_tuple);
    }
    if (dec->stream.annotations != NULL) {
        return Py_NewRef(dec->stream.annotations);
    }
    self->is_busy = true;
    PyObject *annotations = ionfast_build_annotations(dec, &dec->stream.token);
    self->is_busy = false;
    return annotations;
}

static PyObject *
Reader_get_field_symbol(Reader *self, void *Py_UNUSED(closure))
{
    if (check_usable(self) < 0) {
        return NULL;
    }
    ionfast_decoder *dec = self->dec;
    if (!self->has_token || !dec->stream.token.has_field) {
        Py_RETURN_NONE;
    }
    if (self->is_taken || self->is_building) {
        return misuse(self, "field_symbol", "to be read before the container's value()");
    }
    self->is_busy = true;
    PyObject *symbol = ionfast_symbol_token(dec, &dec->stream.token.field);
    self->is_busy = false;
    return symbol;
}

static PyObject *
symbol_tokens(ionfast_decoder *dec, const ionf_token *t)
{
    PyObject *symbols = PyTuple_New((Py_ssize_t)t->annotation_count);
    for (uint32_t i = 0; symbols != NULL && i < t->annotation_count; i++) {
        PyObject *symbol = ionfast_symbol_token(dec, &t->annotations[i]);
        if (symbol == NULL) {
            Py_CLEAR(symbols);
            break;
        }
        PyTuple_SET_ITEM(symbols, (Py_ssize_t)i, symbol);
    }
    return symbols;
}

static PyObject *
Reader_get_annotation_symbols(Reader *self, void *Py_UNUSED(closure))
{
    if (check_usable(self) < 0) {
        return NULL;
    }
    ionfast_decoder *dec = self->dec;
    if (!self->has_token || dec->stream.token.annotation_count == 0) {
        return Py_NewRef(self->state->empty_tuple);
    }
    if (self->is_taken || self->is_building) {
        return misuse(self, "annotation_symbols", "to be read before the container's value()");
    }
    self->is_busy = true;
    PyObject *symbols = symbol_tokens(dec, &dec->stream.token);
    self->is_busy = false;
    return symbols;
}

static PyObject *
Reader_get_is_null(Reader *self, void *Py_UNUSED(closure))
{
    if (check_usable(self) < 0) {
        return NULL;
    }
    return PyBool_FromLong(self->has_token && self->dec->stream.token.is_null);
}

static PyObject *
Reader_get_depth(Reader *self, void *Py_UNUSED(closure))
{
    return check_usable(self) < 0 ? NULL : PyLong_FromUnsignedLong(self->depth);
}

static PyObject *
Reader_get_offset(Reader *self, void *Py_UNUSED(closure))
{
    return check_usable(self) < 0 ? NULL : PyLong_FromUnsignedLongLong(current_offset(self));
}

static PyObject *
Reader_get_is_closed(Reader *self, void *Py_UNUSED(closure))
{
    return PyBool_FromLong(ionfast_peek(&self->dec) == NULL);
}

/* ---- one call at a time ---- */

#define ALONE(function) IONFAST_ALONE(function, (Reader * self, PyObject * object), (self, object))
#define ALONE_GETTER(function)                                                                    \
    IONFAST_ALONE(function, (Reader * self, void *closure), (self, closure))

ALONE(Reader_next)
ALONE(Reader_step_in)
ALONE(Reader_step_out)
ALONE(Reader_value)
ALONE(Reader_feed)
ALONE(Reader_end)
ALONE(Reader_close)
ALONE(Reader_enter)
IONFAST_ALONE(Reader_exit, (Reader * self, PyObject *const *args, Py_ssize_t nargs),
              (self, args, nargs))
IONFAST_ALONE(Reader_iternext, (Reader * self), (self))
ALONE_GETTER(Reader_get_type)
ALONE_GETTER(Reader_get_field_name)
ALONE_GETTER(Reader_get_annotations)
ALONE_GETTER(Reader_get_field_symbol)
ALONE_GETTER(Reader_get_annotation_symbols)
ALONE_GETTER(Reader_get_is_null)
ALONE_GETTER(Reader_get_depth)
ALONE_GETTER(Reader_get_offset)

/* ---- making ---- */

typedef struct make_options {
    ionfast_read_options read;
    PyObject *compression;  /* borrowed */
    PyObject *on_oversized; /* borrowed; NULL: none */
} make_options;

static int
open_source(Reader *self, PyObject *source, PyObject *compression)
{
    ionfast_input *input = &self->dec->stream.input;
    if (source == Py_None) {
        ionfast_input_open_feed(input);
        return 0;
    }
    if (ionfast_input_open_source(self->state, "Reader", source, compression, input,
                                  &self->close_source) < 0) {
        return -1;
    }
    return input->kind == IONFAST_INPUT_MEMORY && open_decoder(self) < 0 ? -1 : 0;
}

static int
set_option(ionfast_state *state, PyObject *name, PyObject *value, make_options *options)
{
    if (PyUnicode_Compare(name, state->str_compression) == 0) {
        options->compression = value;
        return 0;
    }
    if (PyUnicode_Compare(name, state->str_codec) == 0) {
        return ionfast_typed_option_set(state, name, value, &options->read) < 0 ? -1 : 0;
    }
    if (PyUnicode_CompareWithASCIIString(name, "on_oversized") != 0) {
        return ionfast_read_option_set(state, "Reader", name, value, &options->read);
    }
    if (value != Py_None && !PyCallable_Check(value)) {
        PyErr_Format(PyExc_TypeError, "on_oversized must be callable or None, not %.200s",
                     Py_TYPE(value)->tp_name);
        return -1;
    }
    options->on_oversized = value == Py_None ? NULL : value;
    return 0;
}

/* The keyword arguments: the shared options, and the Reader's own. */
static int
parse_keywords(ionfast_state *state, PyObject *kwnames, PyObject *const *values,
               make_options *options)
{
    if (ionfast_read_options_parse(state, "Reader", NULL, NULL, &options->read) < 0) {
        return -1;
    }
    options->compression = state->str_auto;
    options->on_oversized = NULL;
    const Py_ssize_t count = kwnames == NULL ? 0 : PyTuple_GET_SIZE(kwnames);
    for (Py_ssize_t i = 0; i < count; i++) {
        if (set_option(state, PyTuple_GET_ITEM(kwnames, i), values[i], options) < 0) {
            return -1;
        }
    }
    return 0;
}

/* Read values as the codec's registered types. */
static int
use_codec(Reader *self, PyObject *codec)
{
    PyObject *const anything = (PyObject *)&PyBaseObject_Type;
    self->dec->plan = (PyObject *)ionfast_plan_of(self->state, anything, codec);
    return self->dec->plan == NULL ? -1 : 0;
}

static PyObject *
make_reader(PyTypeObject *type, ionfast_state *state, PyObject *source,
            const make_options *options)
{
    Reader *self = (Reader *)type->tp_alloc(type, 0);
    if (IONF_UNLIKELY(self == NULL)) {
        return NULL;
    }
    const ionf_catalog *catalog;
    ionfast_decoder *dec = ionfast_read_options_decoder(state, &options->read, &catalog);
    if (IONF_UNLIKELY(dec == NULL)) {
        Py_DECREF(self);
        return NULL;
    }
    (void)ionfast_turn_take(
        &self->turn); /* the collector shows it to others before it is complete */
    self->state = state;
    self->dec = dec;
    self->first.is_unopened = true;
    self->on_oversized = Py_XNewRef(options->on_oversized);
    dec->stream.catalog = catalog;
    dec->stream.limits = options->read.limits;
    if (options->read.codec != NULL && use_codec(self, options->read.codec) < 0) {
        Py_DECREF(self);
        return NULL;
    }
    self->is_busy = true; /* as the turn */
    const int opened = open_source(self, source, options->compression);
    self->is_busy = false;
    if (IONF_UNLIKELY(opened < 0)) {
        Py_DECREF(self);
        return NULL;
    }
    ionfast_turn_give(&self->turn);
    return (PyObject *)self;
}

/* The memory of a plain Reader waits for the next one, like the decoder that it worked with: to free and
 * to allocate it costs more than all that either does with a short stream. */
static Reader *
take_handle(ionfast_state *state, PyTypeObject *type)
{
    Reader *self = state->idle_reader;
    if (IONF_UNLIKELY(self == NULL)) {
        return PyObject_GC_New(Reader, type);
    }
    state->idle_reader = NULL;
    return (Reader *)PyObject_Init((PyObject *)self, type);
}

/* The last step of a Reader's end. The type is the state's only until the module goes. */
static void
give_handle(ionfast_state *state, Reader *self)
{
    PyTypeObject *type = Py_TYPE(self);
    if (IONFAST_HAS_GIL && IONF_LIKELY(self->is_plain && state->idle_reader == NULL) &&
        type == state->Reader && !ionf_pool_is_disabled(&state->decoders)) {
        state->idle_reader = self;
    } else {
        type->tp_free(self);
    }
    Py_DECREF(type);
}

void
ionfast_reader_drop_idle(ionfast_state *state)
{
    void *idle = state->idle_reader;
    if (idle != NULL) {
        state->idle_reader = NULL;
        PyObject_GC_Del(idle);
    }
}

/* Reader(bytes) of binary Ion, or Reader(None) for `bytes` NULL, without options: make_reader() at its
 * shortest. The object is not told to the collector, since it can be part of no cycle: it holds bytes
 * and strs alone, and having no other class than Reader it has no attributes of its own. */
static PyObject *
make_plain_reader(PyTypeObject *type, ionfast_state *state, PyObject *bytes)
{
    Reader *self = take_handle(state, type);
    if (IONF_UNLIKELY(self == NULL)) {
        return NULL;
    }
    ionfast_decoder *dec = ionf_pool_take(&state->decoders);
    self->state = state;
    self->dec = dec;
    self->close_source = NULL;
    self->on_oversized = NULL;
    self->depth = 0;
    self->has_token = self->is_taken = self->is_building = self->is_busy = false;
    self->is_plain = true;
    ionfast_turn_init(&self->turn);
    self->first.any = 0;
    if (IONF_UNLIKELY(dec == NULL)) {
        Py_DECREF(self);
        return PyErr_NoMemory();
    }
    dec->model = IONFAST_MODEL_LOSSLESS;
    ionfast_input *input = &dec->stream.input;
    static const ionf_limits limits = IONF_LIMITS_DEFAULT;
    if (bytes == NULL) {
        self->first.is_unopened = true;
        dec->stream.limits = limits;
        dec->stream.catalog = NULL;
        ionfast_input_open_feed(input);
        return (PyObject *)self;
    }
    ionfast_input_open_bytes(bytes, input);
    ionfast_decoder_open_binary(dec, input->data, input->len, true, &limits, NULL);
    return (PyObject *)self;
}

static PyObject *
too_many_arguments(Py_ssize_t nargs)
{
    return PyErr_Format(PyExc_TypeError,
                        "Reader() takes at most 1 positional argument but %zd were given", nargs);
}

/* Reader(source, **options) without a tuple or a dict of arguments: making a reader must cost little. */
static PyObject *
Reader_vectorcall(PyObject *callable, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    PyTypeObject *type = (PyTypeObject *)callable;
    ionfast_state *state = PyType_GetModuleState(type);
    const Py_ssize_t nargs = PyVectorcall_NARGS(nargsf);
    if (IONF_LIKELY(kwnames == NULL)) {
        if (nargs == 1 && is_binary_bytes(args[0])) {
            return make_plain_reader(type, state, args[0]);
        }
        if (nargs == 0 || (nargs == 1 && args[0] == Py_None)) {
            return make_plain_reader(type, state, NULL);
        }
    }
    if (nargs > 1) {
        return too_many_arguments(nargs);
    }
    make_options options;
    if (parse_keywords(state, kwnames, args + nargs, &options) < 0) {
        return NULL;
    }
    return make_reader(type, state, nargs == 0 ? Py_None : args[0], &options);
}

/* The slow way in, for subclasses. */
static PyObject *
Reader_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *module = PyType_GetModuleByDef(type, ionfast_module_def());
    if (module == NULL) {
        return NULL;
    }
    ionfast_state *state = ionfast_state_of_module(module);
    const Py_ssize_t nargs = PyTuple_GET_SIZE(args);
    if (nargs > 1) {
        return too_many_arguments(nargs);
    }
    PyObject *names = kwargs == NULL ? NULL : PySequence_Tuple(kwargs);
    PyObject *values = kwargs == NULL ? NULL : PyDict_Values(kwargs);
    PyObject *reader = NULL;
    make_options options;
    if ((kwargs == NULL || (names != NULL && values != NULL)) &&
        parse_keywords(state, names, values == NULL ? NULL : ((PyListObject *)values)->ob_item,
                       &options) == 0) {
        PyObject *source = nargs == 0 ? Py_None : PyTuple_GET_ITEM(args, 0);
        reader = make_reader(type, state, source, &options);
    }
    Py_XDECREF(names);
    Py_XDECREF(values);
    return reader;
}

/* ---- the type ---- */

static int
Reader_traverse(Reader *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->close_source);
    Py_VISIT(self->on_oversized);
    if (self->dec != NULL && !self->is_busy && !ionfast_turn_is_taken(&self->turn)) {
        Py_VISIT(self->dec->catalog);
        Py_VISIT(self->dec->plan);
        Py_VISIT(self->dec->stream.field);
        Py_VISIT(self->dec->stream.annotations);
        return ionfast_input_traverse(&self->dec->stream.input, visit, arg);
    }
    return 0;
}

static int
Reader_clear(Reader *self)
{
    if (!self->is_busy) {
        Py_CLEAR(self->close_source);
        (void)close_reader(self);
    }
    return 0;
}

static void
Reader_finalize(PyObject *object)
{
    Reader *self = (Reader *)object;
    PyObject *type, *value, *traceback;
    if (self->is_busy) {
        return;
    }
    PyErr_Fetch(&type, &value, &traceback);
    if (close_reader(self) < 0) {
        PyErr_WriteUnraisable(object);
    }
    PyErr_Restore(type, value, traceback);
}

static void
Reader_dealloc(Reader *self)
{
    if (IONF_UNLIKELY(!self->is_plain)) {
        if (self->close_source != NULL &&
            PyObject_CallFinalizerFromDealloc((PyObject *)self) < 0) {
            return;
        }
        PyObject_GC_UnTrack(self);
        Py_CLEAR(self->close_source);
    }
    (void)close_reader(self);
    give_handle(self->state, self);
}

static PyMethodDef Reader_methods[] = {
    {"next", (PyCFunction)IONFAST_METHOD(Reader_next), METH_NOARGS,
     "next($self, /)\n--\n\nGo on to the next value at this depth and give its IonType; None "
     "after the "
     "last one;\nNEED_DATA from an incremental reader that has run out."},
    {"step_in", (PyCFunction)IONFAST_METHOD(Reader_step_in), METH_NOARGS,
     "step_in($self, /)\n--\n\nEnter the current list, sexp or struct: next() gives its "
     "children."},
    {"step_out", (PyCFunction)IONFAST_METHOD(Reader_step_out), METH_NOARGS,
     "step_out($self, /)\n--\n\nLeave the container entered last, passing over what is left of "
     "it."},
    {"value", (PyCFunction)IONFAST_METHOD(Reader_value), METH_NOARGS,
     "value($self, /)\n--\n\nThe current value, containers whole, as loads() would give it. "
     "NEED_DATA from "
     "an\nincremental reader that has run out: feed and call value() again."},
    {"feed", (PyCFunction)IONFAST_METHOD(Reader_feed), METH_O,
     "feed($self, chunk, /)\n--\n\nMore input, bytes-like or str, for a reader made with "
     "Reader(None)."},
    {"end", (PyCFunction)IONFAST_METHOD(Reader_end), METH_NOARGS,
     "end($self, /)\n--\n\nNo more input follows what has been fed."},
    {"close", (PyCFunction)IONFAST_METHOD(Reader_close), METH_NOARGS,
     "close($self, /)\n--\n\nGive the decoder back to the pool and let go of the source; files "
     "that were "
     "opened\nby path are closed. Closing twice is allowed."},
    {"__enter__", (PyCFunction)IONFAST_METHOD(Reader_enter), METH_NOARGS, NULL},
    {"__exit__", (PyCFunction)(void (*)(void))IONFAST_METHOD(Reader_exit), METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef Reader_getset[] = {
    {"type", (getter)IONFAST_METHOD(Reader_get_type), NULL,
     "IonType of the current value, or None.", NULL},
    {"field_name", (getter)IONFAST_METHOD(Reader_get_field_name), NULL,
     "Field name of the current value: str, SymbolToken where its text is unknown, or None.",
     NULL},
    {"annotations", (getter)IONFAST_METHOD(Reader_get_annotations), NULL,
     "Annotations of the current value: a tuple of Symbol, SymbolToken where text is unknown.",
     NULL},
    {"field_symbol", (getter)IONFAST_METHOD(Reader_get_field_symbol), NULL,
     "Field name of the current value as SymbolToken, with its symbol ID and import.", NULL},
    {"annotation_symbols", (getter)IONFAST_METHOD(Reader_get_annotation_symbols), NULL,
     "Annotations of the current value as a tuple of SymbolToken.", NULL},
    {"is_null", (getter)IONFAST_METHOD(Reader_get_is_null), NULL,
     "Is the current value a null of any type?", NULL},
    {"depth", (getter)IONFAST_METHOD(Reader_get_depth), NULL, "Containers stepped into.", NULL},
    {"offset", (getter)IONFAST_METHOD(Reader_get_offset), NULL,
     "Bytes from the start of the stream to the current value, annotations included.", NULL},
    {"closed", (getter)Reader_get_is_closed, NULL, "Has close() been called?", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static const char Reader_doc[] =
    "Reader(source=None, *, model='lossless', codec=None, catalog=None, max_depth=1000,\n"
    "       max_value_size=None, compression='auto', on_oversized=None)\n"
    "--\n\n"
    "Read a stream of Ion, text or binary, value by value, in memory bounded by the largest.\n\n"
    "source: bytes-like, str (text Ion), a path, a binary or text file object, or None: then "
    "chunks\n"
    "    are fed with feed() and the end is told with end().\n"
    "compression: 'auto' recognises gzip and zstd by their magic; None does not look.\n"
    "on_oversized: called with (size, offset) for each top-level value larger than "
    "max_value_size,\n"
    "    which is passed over then, unread and unchecked; None: such a value is an IonError.\n"
    "The other options are those of loads(). Not for use by two threads at once.\n\n"
    ">>> import ionfast\n"
    ">>> with ionfast.Reader('{id: 7, tags: [a, b]} \"next\"') as r:\n"
    "...     r.next(), r.step_in(), r.next(), r.field_name, r.value()\n"
    "(<IonType.STRUCT: 12>, None, <IonType.INT: 2>, 'id', 7)\n";

static PyType_Slot Reader_slots[] = {
    {Py_tp_doc, (void *)Reader_doc},
    {Py_tp_new, (void *)Reader_new},
    {Py_tp_dealloc, (void *)Reader_dealloc},
    {Py_tp_finalize, (void *)Reader_finalize},
    {Py_tp_traverse, (void *)Reader_traverse},
    {Py_tp_clear, (void *)Reader_clear},
    {Py_tp_iter, (void *)PyObject_SelfIter},
    {Py_tp_iternext, (void *)IONFAST_METHOD(Reader_iternext)},
    {Py_tp_methods, Reader_methods},
    {Py_tp_getset, Reader_getset},
    {0, NULL},
};

static PyType_Spec Reader_spec = {
    .name = "ionfast.Reader",
    .basicsize = sizeof(Reader),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE,
    .slots = Reader_slots,
};

int
ionfast_reader_exec(PyObject *module, ionfast_state *state)
{
    PyObject *type = PyType_FromModuleAndSpec(module, &Reader_spec, NULL);
    if (type == NULL) {
        return -1;
    }
    ((PyTypeObject *)type)->tp_vectorcall = Reader_vectorcall;
    state->Reader = (PyTypeObject *)type;
    return PyModule_AddObjectRef(module, "Reader", type);
}
