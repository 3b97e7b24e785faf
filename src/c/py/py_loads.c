/* loads and loads_all: arguments, the collector's pause. Building is py_build.h. */
#include "py_loads.h"

#include "py_build.h"
#include "py_decoder_type.h"
#include "py_gc.h"
#include "py_typed.h"

/* The two instances of the inner loop. */
static ionfast_build_result
build_text(ionfast_decoder *dec, PyObject **out)
{
    return ionfast_build(dec, false, out);
}

static ionfast_build_result
build_binary(ionfast_decoder *dec, PyObject **out)
{
    return ionfast_build(dec, true, out);
}

ionfast_build_result
ionfast_build_value(ionfast_decoder *dec, PyObject **out)
{
    return dec->is_binary ? build_binary(dec, out) : build_text(dec, out);
}

/* ---- reading ---- */

static inline ionfast_build_result
next_value(ionfast_decoder *dec, const ionfast_whole *how, PyObject **out)
{
    return IONF_LIKELY(how->plan == NULL)
               ? ionfast_build_value(dec, out)
               : ionfast_typed_value(dec, how->plan, how->forbid_unknown, out);
}

static inline bool
is_at_eof(const ionfast_decoder *dec)
{
    return dec->is_binary ? ionf_bin_is_at_eof(&dec->bin) : ionf_txt_is_at_eof(&dec->txt);
}

/* After the only value: nothing, or an error, for which the rest need not be read. */
static int
expect_end(ionfast_decoder *dec)
{
    if (IONF_LIKELY(is_at_eof(dec))) {
        return 0;
    }
    ionf_token t;
    const ionf_status status = ionfast_next(dec, dec->is_binary, &t);
    if (IONF_LIKELY(status == IONF_OK && t.kind == IONF_KIND_EOF)) {
        return 0;
    }
    if (status != IONF_OK) {
        ionfast_build_stop(dec, status);
    } else {
        ionfast_set_error_at(dec->state, t.offset,
                             "the stream holds a second value; loads_all() reads them all");
    }
    return -1;
}

/* Exactly one value. */
static PyObject *
read_single(ionfast_decoder *dec, const ionfast_whole *how)
{
    PyObject *value = NULL;
    const ionfast_build_result first = next_value(dec, how, &value);
    if (IONF_UNLIKELY(first != IONFAST_BUILD_VALUE)) {
        if (first == IONFAST_BUILD_EOF) {
            const ionf_reader *base = ionfast_decoder_base(dec);
            ionfast_set_error_at(dec->state, ionf_reader_offset(base, base->end),
                                 "the stream holds no value");
        }
        return NULL;
    }
    if (IONF_UNLIKELY(expect_end(dec) < 0)) {
        Py_CLEAR(value);
    }
    return value;
}

static PyObject *
read_all(ionfast_decoder *dec, const ionfast_whole *how)
{
    PyObject *list = PyList_New(0);
    if (list == NULL) {
        return NULL;
    }
    for (;;) {
        PyObject *value = NULL;
        const ionfast_build_result result = next_value(dec, how, &value);
        if (result == IONFAST_BUILD_EOF) {
            return list;
        }
        if (result != IONFAST_BUILD_VALUE || PyList_Append(list, value) < 0) {
            Py_XDECREF(value);
            Py_DECREF(list);
            return NULL;
        }
        Py_DECREF(value);
    }
}

/* Give the decoder back with an exception set: dropping values may run foreign code. */
static void
give_after_error(ionfast_decoder *dec)
{
    PyObject *type, *error, *traceback;
    PyErr_Fetch(&type, &error, &traceback);
    ionfast_decoder_give(dec);
    PyErr_Restore(type, error, traceback);
}

PyObject *
ionfast_read_whole(ionfast_state *state, const ionfast_input *input,
                   const ionfast_read_options *options, const ionfast_whole *how)
{
    const ionf_catalog *catalog;
    ionfast_decoder *dec = ionfast_read_options_decoder(state, options, &catalog);
    if (dec == NULL) {
        return NULL;
    }
    PyObject *result = NULL;
    if (ionfast_decoder_open(dec, input->data, input->len, true, input->is_text, &options->limits,
                             catalog) == 0) {
        if (!dec->is_binary) { /* the name that came first before, after the one that came last */
            dec->txt.guess = &dec->order->guesses[dec->order->guessed];
        }
        const int was_enabled = ionfast_gc_pause(input->len);
        result = how->is_all ? read_all(dec, how) : read_single(dec, how);
        ionfast_gc_resume(was_enabled);
    }
    if (IONF_UNLIKELY(result == NULL)) {
        give_after_error(dec);
        return NULL;
    }
    ionfast_decoder_give(dec);
    return result;
}

static PyObject *
load_with(PyObject *module, const char *function, PyObject *const *args, Py_ssize_t nargs,
          PyObject *kwnames, bool is_all)
{
    ionfast_state *state = ionfast_state_of_module(module);
    ionfast_read_options options;
    ionfast_input input;
    if (IONF_UNLIKELY(nargs != 1)) {
        return PyErr_Format(PyExc_TypeError, "%s() takes 1 positional argument but %zd were given",
                            function, nargs);
    }
    if (ionfast_read_options_parse(state, function, kwnames, args + 1, &options) < 0 ||
        ionfast_input_open_memory(state, function, args[0], &input) < 0) {
        return NULL;
    }
    PyObject *result;
    if (IONF_UNLIKELY(options.type != NULL || options.codec != NULL)) {
        result = ionfast_typed_read(state, &input, &options, is_all);
    } else {
        const ionfast_whole how = {NULL, false, is_all};
        result = ionfast_read_whole(state, &input, &options, &how);
    }
    ionfast_input_close(state, &input);
    return result;
}

const char ionfast_loads_doc[] =
    "loads(data, *, type=None, codec=None, forbid_unknown=False, model='lossless', catalog=None,\n"
    "      max_depth=1000, max_value_size=None)\n"
    "--\n\n"
    "Read exactly one top-level value of Ion text or binary.\n\n"
    "data: bytes, bytearray, memoryview or another contiguous buffer, or str (text Ion). Binary "
    "is\n"
    "    told from text by the Ion version marker.\n"
    "type: read as this type, a dataclass, list[int] ...; codec: a Codec, whose annotations are "
    "its\n"
    "    types; forbid_unknown: a struct's field that its class has not is an error.\n"
    "model: 'lossless' gives Python's own types and Ion classes only where Ion says more; "
    "'plain'\n"
    "    drops annotations and the types of nulls; 'ionpy' makes every value an IonPy* object.\n"
    "catalog: a Catalog in which imported symbol tables are looked up.\n"
    "max_depth: open containers, an int or None for no limit.\n"
    "max_value_size: encoded bytes of one top-level value, an int or None for no limit.\n\n"
    "Raises IonError (a ValueError) with the place for anything that is not one Ion value.\n\n"
    ">>> import ionfast\n"
    ">>> ionfast.loads('{name: \"Fido\", weight: 4.50, tags: [good, dog]}')\n"
    "{'name': 'Fido', 'weight': Decimal('4.50'), 'tags': [Symbol('good'), Symbol('dog')]}\n";

PyObject *
ionfast_loads(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    return load_with(module, "loads", args, nargs, kwnames, false);
}

const char ionfast_loads_all_doc[] =
    "loads_all(data, *, type=None, codec=None, forbid_unknown=False, model='lossless', "
    "catalog=None,\n"
    "          max_depth=1000, max_value_size=None)\n"
    "--\n\n"
    "Read all top-level values of Ion text or binary into a list; the arguments are those of "
    "loads().\n\n"
    ">>> import ionfast\n"
    ">>> ionfast.loads_all('1 2.5e0 \"three\"')\n"
    "[1, 2.5, 'three']\n";

PyObject *
ionfast_loads_all(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    return load_with(module, "loads_all", args, nargs, kwnames, true);
}
