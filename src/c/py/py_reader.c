/* ionfast.Reader: a pull reader over memory, files, or chunks that are fed.
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
 * `is_busy` is set while Python code may run (a file's read): whoever comes in then gets an error.
 */
#include "py_reader.h"

#include "py_args.h"
#include "py_build.h"
#include "py_gc.h"
#include "py_input.h"
#include "py_options.h"

typedef struct Reader {
    PyObject_HEAD
    ionfast_state *state;  /* borrowed: the type keeps the module alive */
    ionfast_decoder *dec;  /* owned, from the pool; NULL: closed */
    PyObject *close_source; /* owned: callable that closes what the reader opened; or NULL */
    ionfast_input input;
    ionf_limits limits;
    const ionf_catalog *catalog; /* borrowed from the decoder's catalog */
    uint32_t depth;
    bool is_open;     /* the decoder has had its first window */
    bool has_token;   /* `token` is the current value */
    bool at_end;      /* the current container's end has been read */
    bool is_taken;    /* value() has consumed the current container */
    bool is_building; /* value() is waiting for more input in the middle of a container */
    bool is_busy;
    PyObject *field;       /* owned: kept when the token's own slices go; or NULL */
    PyObject *annotations; /* the same */
    ionf_token token;
} Reader;

/* ---- input ---- */

static void
set_window(Reader *self, const uint8_t *data, size_t len)
{
    ionfast_decoder *dec = self->dec;
    if (dec->is_binary) {
        ionf_bin_reader_window(&dec->bin, data, len, self->input.is_ended);
    } else {
        ionf_txt_reader_window(&dec->txt, data, len, self->input.is_ended);
    }
}

/* Before the input may move or drop the bytes that were used up. */
static void
release_window(Reader *self)
{
    ionfast_decoder *dec = self->dec;
    const size_t consumed = dec->is_binary ? ionf_bin_reader_release(&dec->bin)
                                           : ionf_txt_reader_release(&dec->txt);
    ionfast_input_consume(&self->input, consumed);
}

/* The decoder's first window: only now is it known whether this is binary. */
static int
open_decoder(Reader *self)
{
    const uint8_t *data;
    size_t len;
    ionfast_input_window(&self->input, &data, &len);
    if (len == 0 && !self->input.is_ended) {
        return 0;
    }
    if (ionfast_decoder_open(self->dec, data, len, self->input.is_ended, self->input.is_text,
                             &self->limits, self->catalog) < 0) {
        return -1;
    }
    self->is_open = true;
    return 1;
}

/* More bytes for the decoder: 1 when there are, 0 when the user must feed first, -1 on an exception. */
static int
pull_more(Reader *self)
{
    if (self->is_open) {
        release_window(self);
    }
    self->is_busy = true;
    const int pulled = ionfast_input_pull(self->state, &self->input);
    self->is_busy = false;
    if (pulled <= 0) {
        return pulled;
    }
    if (!self->is_open) {
        return open_decoder(self);
    }
    const uint8_t *data;
    size_t len;
    ionfast_input_window(&self->input, &data, &len);
    set_window(self, data, len);
    return 1;
}

/* Is the reader usable, and by this call alone? */
static int
check_usable(Reader *self)
{
    if (IONF_UNLIKELY(self->dec == NULL)) {
        PyErr_SetString(PyExc_ValueError, "the reader is closed");
        return -1;
    }
    if (IONF_UNLIKELY(self->is_busy)) {
        PyErr_SetString(PyExc_RuntimeError, "the reader is in use by another call");
        return -1;
    }
    return 0;
}

/* ---- moving ---- */

typedef enum step_result { STEP_ERROR = -1, STEP_OK = 0, STEP_NEED_DATA = 1 } step_result;

/* After the core has answered IONF_NEED_DATA or an error. STEP_OK: try again. */
static step_result
after_status(Reader *self, ionf_status status)
{
    if (status != IONF_NEED_DATA) {
        ionfast_set_error(self->state, &ionfast_decoder_base(self->dec)->error);
        return STEP_ERROR;
    }
    const int more = pull_more(self);
    return more < 0 ? STEP_ERROR : more == 0 ? STEP_NEED_DATA : STEP_OK;
}

static step_result
ensure_open(Reader *self)
{
    while (!self->is_open) {
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
        const ionf_status status =
            dec->is_binary ? ionf_bin_skip(&dec->bin) : ionf_txt_skip(&dec->txt);
        if (status != IONF_OK) {
            const step_result result = after_status(self, status);
            if (result != STEP_OK) {
                return result;
            }
        }
    }
    return STEP_OK;
}

static void
forget_value(Reader *self)
{
    self->has_token = false;
    self->is_taken = false;
    Py_CLEAR(self->field);
    Py_CLEAR(self->annotations);
    if (self->is_building) {
        self->is_building = false;
        ionfast_decoder_drop_values(self->dec);
    }
}

static step_result
next_token(Reader *self)
{
    ionfast_decoder *dec = self->dec;
    for (;;) {
        const ionf_status status = dec->is_binary ? ionf_bin_next(&dec->bin, &self->token)
                                                  : ionf_txt_next(&dec->txt, &self->token);
        if (IONF_LIKELY(status == IONF_OK)) {
            return STEP_OK;
        }
        const step_result result = after_status(self, status);
        if (result != STEP_OK) {
            return result;
        }
    }
}

/* On to the next value at this depth: has_token tells whether there is one. */
static step_result
advance(Reader *self)
{
    forget_value(self);
    if (self->at_end) {
        return STEP_OK;
    }
    step_result result = IONF_LIKELY(self->is_open) ? STEP_OK : ensure_open(self);
    if (result == STEP_OK) {
        result = leave_inner(self);
    }
    if (result == STEP_OK) {
        result = next_token(self);
    }
    if (result != STEP_OK) {
        return result;
    }
    self->has_token = self->token.kind < IONF_KIND_END;
    self->at_end = self->token.kind == IONF_KIND_END;
    return STEP_OK;
}

static PyObject *
need_data(Reader *self)
{
    return Py_NewRef(self->state->NEED_DATA);
}

static PyObject *
Reader_next(Reader *self, PyObject *Py_UNUSED(ignored))
{
    if (check_usable(self) < 0) {
        return NULL;
    }
    const step_result result = advance(self);
    if (IONF_UNLIKELY(result != STEP_OK)) {
        return result == STEP_ERROR ? NULL : need_data(self);
    }
    return Py_NewRef(self->has_token ? self->state->ion_types[self->token.kind] : Py_None);
}

static bool
at_open_container(const Reader *self)
{
    return self->has_token && !self->is_taken && !self->is_building && !self->token.is_null &&
           ionf_kind_is_container(self->token.kind);
}

static PyObject *
state_error(Reader *self, const char *text)
{
    const ionf_reader *base = ionfast_decoder_base(self->dec);
    return ionfast_set_error_at(
        self->state, self->is_open ? ionf_reader_offset(base, base->p) : 0, "%s", text);
}

static PyObject *
Reader_step_in(Reader *self, PyObject *Py_UNUSED(ignored))
{
    if (check_usable(self) < 0) {
        return NULL;
    }
    if (!at_open_container(self)) {
        return state_error(self, "step_in() needs a list, sexp or struct that is not null and has "
                                 "not been read");
    }
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
        return state_error(self, "step_out() at the top level");
    }
    forget_value(self);
    self->depth--;
    self->at_end = false;
    Py_RETURN_NONE;
}

/* ---- the current value ---- */

static int
check_value(Reader *self)
{
    if (check_usable(self) < 0) {
        return -1;
    }
    if (!self->has_token) {
        state_error(self, "there is no current value: call next() first");
        return -1;
    }
    return 0;
}

/* Keep what the token only borrows, before the core moves on. */
static int
keep_names(Reader *self)
{
    if (self->token.has_field && self->field == NULL) {
        self->field = ionfast_symref_str(self->dec, &self->token.field);
        if (self->field == NULL) {
            return -1;
        }
    }
    if (self->token.annotation_count != 0 && self->annotations == NULL) {
        self->annotations = ionfast_build_annotations(self->dec, &self->token);
        if (self->annotations == NULL) {
            return -1;
        }
    }
    return 0;
}

/* Open the frame of the container whose token is current. */
static int
begin_container(Reader *self)
{
    if (keep_names(self) < 0) {
        return -1;
    }
    PyObject *annotations = self->dec->model == IONFAST_MODEL_PLAIN ? NULL : self->annotations;
    if (ionfast_push_frame(self->dec, self->token.kind, Py_XNewRef(annotations)) < 0) {
        return -1;
    }
    self->is_building = true;
    return 0;
}

static PyObject *
finish_container(Reader *self)
{
    for (;;) {
        PyObject *value = NULL;
        const int was_enabled = ionfast_gc_pause();
        const ionfast_build_result built = ionfast_build_value(self->dec, &value);
        ionfast_gc_resume(was_enabled);
        if (built == IONFAST_BUILD_VALUE) {
            self->is_building = false;
            self->is_taken = true;
            return value;
        }
        const int more = built == IONFAST_BUILD_NEED_DATA ? pull_more(self) : -1;
        if (more == 0) {
            return need_data(self);
        }
        if (more < 0) {
            return NULL;
        }
    }
}

static PyObject *
Reader_value(Reader *self, PyObject *Py_UNUSED(ignored))
{
    if (check_value(self) < 0) {
        return NULL;
    }
    const ionf_token *t = &self->token;
    if (!ionf_kind_is_container(t->kind) || t->is_null) {
        const bool is_special = t->is_null || t->annotation_count != 0;
        return is_special || self->dec->model == IONFAST_MODEL_IONPY
                   ? ionfast_build_special(self->dec, t)
                   : ionfast_build_scalar(self->dec, t);
    }
    if (self->is_taken) {
        return state_error(self, "the container's value has been read: call next()");
    }
    if (!self->is_building && begin_container(self) < 0) {
        return NULL;
    }
    return finish_container(self);
}

/* ---- iteration over the values at this depth ---- */

static PyObject *
Reader_iternext(Reader *self)
{
    if (check_usable(self) < 0) {
        return NULL;
    }
    if (!self->is_building) {
        const step_result result = advance(self);
        if (result == STEP_ERROR || (result == STEP_OK && !self->has_token)) {
            return NULL;
        }
        if (result == STEP_NEED_DATA) {
            return need_data(self);
        }
    }
    return Reader_value(self, NULL);
}

/* ---- feeding ---- */

static int
check_feedable(Reader *self, const char *method)
{
    if (check_usable(self) < 0) {
        return -1;
    }
    if (self->input.kind != IONFAST_INPUT_FEED) {
        PyErr_Format(PyExc_TypeError, "%s() is for a reader made with Reader(None)", method);
        return -1;
    }
    return 0;
}

static PyObject *
Reader_feed(Reader *self, PyObject *chunk)
{
    if (check_feedable(self, "feed") < 0) {
        return NULL;
    }
    if (self->input.is_ending) {
        return state_error(self, "feed() after end()");
    }
    if (ionfast_input_feed(&self->input, chunk) < 0) {
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
    self->input.is_ending = true;
    Py_RETURN_NONE;
}

/* ---- closing ---- */

static int
close_reader(Reader *self)
{
    if (self->dec == NULL) {
        return 0;
    }
    ionfast_decoder *dec = self->dec;
    forget_value(self);
    self->dec = NULL;
    ionfast_decoder_give(dec);
    ionfast_input_close(self->state, &self->input);
    PyObject *close_source = self->close_source;
    self->close_source = NULL;
    if (close_source == NULL) {
        return 0;
    }
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
    if (check_usable(self) < 0) {
        return NULL;
    }
    return Py_NewRef(self->has_token ? self->state->ion_types[self->token.kind] : Py_None);
}

static PyObject *
Reader_get_field_name(Reader *self, void *Py_UNUSED(closure))
{
    if (check_usable(self) < 0) {
        return NULL;
    }
    if (!self->has_token || !self->token.has_field) {
        Py_RETURN_NONE;
    }
    return self->field != NULL ? Py_NewRef(self->field)
                               : ionfast_symref_str(self->dec, &self->token.field);
}

static PyObject *
Reader_get_annotations(Reader *self, void *Py_UNUSED(closure))
{
    if (check_usable(self) < 0) {
        return NULL;
    }
    if (!self->has_token || self->token.annotation_count == 0) {
        return Py_NewRef(self->state->empty_tuple);
    }
    return self->annotations != NULL ? Py_NewRef(self->annotations)
                                     : ionfast_build_annotations(self->dec, &self->token);
}

static PyObject *
Reader_get_field_symbol(Reader *self, void *Py_UNUSED(closure))
{
    if (check_usable(self) < 0) {
        return NULL;
    }
    if (!self->has_token || !self->token.has_field) {
        Py_RETURN_NONE;
    }
    if (self->field != NULL) {
        return state_error(self, "field_symbol must be read before the container's value()");
    }
    return ionfast_symbol_token(self->dec, &self->token.field);
}

static PyObject *
Reader_get_annotation_symbols(Reader *self, void *Py_UNUSED(closure))
{
    if (check_usable(self) < 0) {
        return NULL;
    }
    const size_t count = self->has_token ? self->token.annotation_count : 0;
    if (self->annotations != NULL) {
        return state_error(self, "annotation_symbols must be read before the container's value()");
    }
    PyObject *symbols = PyTuple_New((Py_ssize_t)count);
    for (size_t i = 0; symbols != NULL && i < count; i++) {
        PyObject *symbol = ionfast_symbol_token(self->dec, &self->token.annotations[i]);
        if (symbol == NULL) {
            Py_CLEAR(symbols);
            break;
        }
        PyTuple_SET_ITEM(symbols, (Py_ssize_t)i, symbol);
    }
    return symbols;
}

static PyObject *
Reader_get_is_null(Reader *self, void *Py_UNUSED(closure))
{
    if (check_usable(self) < 0) {
        return NULL;
    }
    return PyBool_FromLong(self->has_token && self->token.is_null);
}

static PyObject *
Reader_get_depth(Reader *self, void *Py_UNUSED(closure))
{
    return check_usable(self) < 0 ? NULL : PyLong_FromUnsignedLong(self->depth);
}

static PyObject *
Reader_get_offset(Reader *self, void *Py_UNUSED(closure))
{
    if (check_usable(self) < 0) {
        return NULL;
    }
    if (self->has_token) {
        return PyLong_FromUnsignedLongLong(self->token.offset);
    }
    const ionf_reader *base = ionfast_decoder_base(self->dec);
    return PyLong_FromUnsignedLongLong(self->is_open ? ionf_reader_offset(base, base->p) : 0);
}

static PyObject *
Reader_get_is_closed(Reader *self, void *Py_UNUSED(closure))
{
    return PyBool_FromLong(self->dec == NULL);
}

/* ---- making ---- */

static bool
is_compressed(const ionfast_input *input)
{
    static const uint8_t gzip[] = {0x1F, 0x8B};
    static const uint8_t zstd[] = {0x28, 0xB5, 0x2F, 0xFD};
    return !input->is_text &&
           ((input->len >= sizeof gzip && memcmp(input->data, gzip, sizeof gzip) == 0) ||
            (input->len >= sizeof zstd && memcmp(input->data, zstd, sizeof zstd) == 0));
}

/* A path, a file object or compressed bytes: the Python half gives (read, close or None). */
static int
open_through_python(Reader *self, PyObject *source, PyObject *compression)
{
    ionfast_state *state = self->state;
    PyObject *pair =
        PyObject_CallFunctionObjArgs(state->open_source, source, compression, NULL);
    if (pair == NULL) {
        return -1;
    }
    PyObject *read, *close;
    if (!PyArg_ParseTuple(pair, "OO", &read, &close) ||
        ionfast_input_open_file(state, read, &self->input) < 0) {
        Py_DECREF(pair);
        return -1;
    }
    self->close_source = close == Py_None ? NULL : Py_NewRef(close);
    Py_DECREF(pair);
    return 0;
}

static int
open_source(Reader *self, PyObject *source, PyObject *compression)
{
    ionfast_state *state = self->state;
    if (source == Py_None) {
        return ionfast_input_open_feed(state, &self->input);
    }
    if (!PyUnicode_Check(source) && !PyObject_CheckBuffer(source)) {
        return open_through_python(self, source, compression);
    }
    if (ionfast_input_open_memory(state, "Reader", source, &self->input) < 0) {
        return -1;
    }
    if (IONF_UNLIKELY(is_compressed(&self->input)) && compression != Py_None) {
        ionfast_input_close(state, &self->input);
        return open_through_python(self, source, compression);
    }
    return open_decoder(self) < 0 ? -1 : 0;
}

/* Split off `compression=`, which the shared options do not know. */
static int
parse_keywords(ionfast_state *state, PyObject *kwnames, PyObject *const *values,
               ionfast_read_options *options, PyObject **compression)
{
    *compression = state->str_auto;
    const Py_ssize_t count = kwnames == NULL ? 0 : PyTuple_GET_SIZE(kwnames);
    if (ionfast_read_options_parse(state, "Reader", NULL, NULL, options) < 0) {
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *name = PyTuple_GET_ITEM(kwnames, i);
        if (PyUnicode_Compare(name, state->str_compression) == 0) {
            *compression = values[i];
        } else if (ionfast_read_option_set(state, "Reader", name, values[i], options) < 0) {
            return -1;
        }
    }
    return 0;
}

static PyObject *
make_reader(PyTypeObject *type, ionfast_state *state, PyObject *source,
            const ionfast_read_options *options, PyObject *compression)
{
    Reader *self = (Reader *)type->tp_alloc(type, 0);
    if (self == NULL) {
        return NULL;
    }
    self->state = state;
    self->limits = options->limits;
    self->dec = ionfast_read_options_decoder(state, options, &self->catalog);
    if (self->dec == NULL || open_source(self, source, compression) < 0) {
        Py_DECREF(self);
        return NULL;
    }
    return (PyObject *)self;
}

/* Reader(source, **options) without a tuple or a dict of arguments: making a reader must cost little. */
static PyObject *
Reader_vectorcall(PyObject *callable, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    PyTypeObject *type = (PyTypeObject *)callable;
    ionfast_state *state = PyType_GetModuleState(type);
    const Py_ssize_t nargs = PyVectorcall_NARGS(nargsf);
    if (nargs > 1) {
        return PyErr_Format(PyExc_TypeError,
                            "Reader() takes at most 1 positional argument but %zd were given",
                            nargs);
    }
    ionfast_read_options options;
    PyObject *compression;
    if (parse_keywords(state, kwnames, args + nargs, &options, &compression) < 0) {
        return NULL;
    }
    return make_reader(type, state, nargs == 0 ? Py_None : args[0], &options, compression);
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
    PyObject *names = kwargs == NULL ? NULL : PySequence_Tuple(kwargs);
    PyObject *values = kwargs == NULL ? NULL : PyDict_Values(kwargs);
    PyObject *reader = NULL;
    ionfast_read_options options;
    PyObject *compression;
    if (kwargs != NULL && (names == NULL || values == NULL)) {
        goto done;
    }
    if (PyTuple_GET_SIZE(args) > 1) {
        PyErr_SetString(PyExc_TypeError, "Reader() takes at most 1 positional argument");
        goto done;
    }
    if (parse_keywords(state, names,
                       values == NULL ? NULL : ((PyListObject *)values)->ob_item, &options,
                       &compression) == 0) {
        PyObject *source = PyTuple_GET_SIZE(args) == 0 ? Py_None : PyTuple_GET_ITEM(args, 0);
        reader = make_reader(type, state, source, &options, compression);
    }
done:
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
    Py_VISIT(self->input.owner);
    Py_VISIT(self->input.view.obj);
    Py_VISIT(self->field);
    Py_VISIT(self->annotations);
    return 0;
}

static int
Reader_clear(Reader *self)
{
    if (!self->is_busy) {
        Py_CLEAR(self->close_source);
        close_reader(self);
    }
    return 0;
}

static void
Reader_finalize(PyObject *object)
{
    Reader *self = (Reader *)object;
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    if (close_reader(self) < 0) {
        PyErr_WriteUnraisable(object);
    }
    PyErr_Restore(type, value, traceback);
}

static void
Reader_dealloc(Reader *self)
{
    PyTypeObject *type = Py_TYPE(self);
    if (self->close_source != NULL && PyObject_CallFinalizerFromDealloc((PyObject *)self) < 0) {
        return;
    }
    PyObject_GC_UnTrack(self);
    Reader_clear(self);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyMethodDef Reader_methods[] = {
    {"next", (PyCFunction)Reader_next, METH_NOARGS,
     "next($self, /)\n--\n\nGo on to the next value at this depth and give its IonType; None after the "
     "last one;\nNEED_DATA from an incremental reader that has run out."},
    {"step_in", (PyCFunction)Reader_step_in, METH_NOARGS,
     "step_in($self, /)\n--\n\nEnter the current list, sexp or struct: next() gives its children."},
    {"step_out", (PyCFunction)Reader_step_out, METH_NOARGS,
     "step_out($self, /)\n--\n\nLeave the container entered last, passing over what is left of it."},
    {"value", (PyCFunction)Reader_value, METH_NOARGS,
     "value($self, /)\n--\n\nThe current value, containers whole, as loads() would give it. NEED_DATA from "
     "an\nincremental reader that has run out: feed and call value() again."},
    {"feed", (PyCFunction)Reader_feed, METH_O,
     "feed($self, chunk, /)\n--\n\nMore input, bytes-like or str, for a reader made with Reader(None)."},
    {"end", (PyCFunction)Reader_end, METH_NOARGS,
     "end($self, /)\n--\n\nNo more input follows what has been fed."},
    {"close", (PyCFunction)Reader_close, METH_NOARGS,
     "close($self, /)\n--\n\nGive the decoder back to the pool and let go of the source; files that were "
     "opened\nby path are closed. Closing twice is allowed."},
    {"__enter__", (PyCFunction)Reader_enter, METH_NOARGS, NULL},
    {"__exit__", (PyCFunction)(void (*)(void))Reader_exit, METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef Reader_getset[] = {
    {"type", (getter)Reader_get_type, NULL, "IonType of the current value, or None.", NULL},
    {"field_name", (getter)Reader_get_field_name, NULL,
     "Field name of the current value: str, SymbolToken where its text is unknown, or None.", NULL},
    {"annotations", (getter)Reader_get_annotations, NULL,
     "Annotations of the current value: a tuple of Symbol, SymbolToken where text is unknown.",
     NULL},
    {"field_symbol", (getter)Reader_get_field_symbol, NULL,
     "Field name of the current value as SymbolToken, with its symbol ID and import.", NULL},
    {"annotation_symbols", (getter)Reader_get_annotation_symbols, NULL,
     "Annotations of the current value as a tuple of SymbolToken.", NULL},
    {"is_null", (getter)Reader_get_is_null, NULL, "Is the current value a null of any type?", NULL},
    {"depth", (getter)Reader_get_depth, NULL, "Containers stepped into.", NULL},
    {"offset", (getter)Reader_get_offset, NULL,
     "Bytes from the start of the stream to the current value, annotations included.", NULL},
    {"closed", (getter)Reader_get_is_closed, NULL, "Has close() been called?", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static const char Reader_doc[] =
    "Reader(source=None, *, model='lossless', catalog=None, max_depth=1000, max_value_size=None,\n"
    "       compression='auto')\n"
    "--\n\n"
    "Read a stream of Ion, text or binary, value by value, in memory bounded by the largest.\n\n"
    "source: bytes-like, str (text Ion), a path, a binary or text file object, or None: then chunks\n"
    "    are fed with feed() and the end is told with end().\n"
    "compression: 'auto' recognises gzip and zstd by their magic; None does not look.\n"
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
    {Py_tp_iternext, (void *)Reader_iternext},
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
