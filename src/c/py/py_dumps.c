/* dumps and dumps_all: their options, and one run of a pooled encoder. */
#include "py_dumps.h"

#include "py_write_options.h"
#include "py_encode.h"

#define OPTIONS_DOC                                                                               \
    "binary: True for bytes of binary Ion, False for a str of text Ion.\n"                        \
    "indent: for text: None for one line; a number of spaces, or a str of white space, for\n"     \
    "    one element a line.\n"                                                                   \
    "imports: shared symbol tables whose symbols binary Ion need not spell out:\n"                \
    "    SharedSymbolTables, or, for tables of the catalog, a name, (name, version) or\n"         \
    "    (name, version, max_id).\n"                                                              \
    "catalog: a Catalog. Symbols that are only known by their place in one of its tables are\n"   \
    "    spelled out.\n"                                                                          \
    "default: called with each object that has no Ion form; what it gives is written instead.\n"  \
    "tuple_as_sexp: write a tuple as an s-expression, not as a list.\n"                           \
    "omit_version_marker: leave out the $ion_1_0 that text otherwise starts with. Binary Ion\n"   \
    "    always has its marker.\n"                                                                \
    "max_depth: the most containers inside each other; None for no limit.\n"                      \
    "codec: a Codec, whose registered types are written its way.\n\n"                             \
    "Raises IonError for what Ion cannot hold, TypeError for a type without Ion form or a "       \
    "field\n"                                                                                     \
    "name that is no str, with the path to it; what foreign code raises passes unchanged.\n"

#define SIGNATURE                                                                                 \
    ", *, binary=True, indent=None, imports=(), catalog=None, default=None, "                     \
    "tuple_as_sexp=False, omit_version_marker=False, max_depth=1000, codec=None)\n--\n\n"

const char ionfast_dumps_doc[] =
    "dumps(obj" SIGNATURE "Write one value as Ion: bytes, or a str.\n\n" OPTIONS_DOC "\n"
    ">>> import ionfast\n"
    ">>> ionfast.dumps({'a': [1, 2.5]}, binary=False)\n"
    "'$ion_1_0 {a:[1,2.5e0]}'\n"
    ">>> ionfast.dumps(None)\n"
    "b'\\xe0\\x01\\x00\\xea\\x0f'";

const char ionfast_dumps_all_doc[] =
    "dumps_all(values" SIGNATURE
    "Write a stream of top-level values, taken from any iterable.\n\n" OPTIONS_DOC "\n"
    ">>> import ionfast\n"
    ">>> ionfast.dumps_all([1, 'two'], binary=False)\n"
    "'$ion_1_0 1 \"two\"'";

static int
take_options(ionfast_write_options *options, const char *function, PyObject *const *args,
             Py_ssize_t nargs, PyObject *kwnames)
{
    if (nargs != 1) {
        PyErr_Format(PyExc_TypeError, "%s() takes 1 positional argument but %zd were given",
                     function, nargs);
        return -1;
    }
    *options = ionfast_write_options_default();
    const Py_ssize_t count = kwnames == NULL ? 0 : PyTuple_GET_SIZE(kwnames);
    for (Py_ssize_t i = 0; i < count; i++) {
        if (ionfast_write_option_set(options, function, PyTuple_GET_ITEM(kwnames, i),
                                     args[1 + i]) < 0) {
            return -1;
        }
    }
    return 0;
}

/* Text starts with a version marker, if it is wanted; binary gets its own when it is taken out. */
static int
begin(ionfast_encoder *enc, const ionfast_write_options *options)
{
    enc->can_put_off = options->imports == NULL;
    return options->binary || options->omit_version_marker ? 0
                                                           : ionfast_encode_version_marker(enc);
}

/* ---- running ---- */

static int
encode_all(ionfast_encoder *enc, PyObject *values)
{
    PyObject *iterator = PyObject_GetIter(values);
    if (iterator == NULL) {
        return -1;
    }
    int result = 0;
    PyObject *value;
    while (result == 0 && (value = PyIter_Next(iterator)) != NULL) {
        enc->root_index++;
        result = ionfast_encode(enc, value);
        Py_DECREF(value);
    }
    Py_DECREF(iterator);
    return PyErr_Occurred() ? -1 : result;
}

static PyObject *
dump(PyObject *module, const ionfast_write_options *options, PyObject *object, bool is_stream)
{
    ionfast_encoder *enc = ionfast_write_options_encoder(ionfast_state_of_module(module), options);
    if (enc == NULL) {
        return NULL;
    }
    PyObject *output = NULL;
    if (begin(enc, options) == 0 &&
        (is_stream ? encode_all(enc, object) : ionfast_encode(enc, object)) == 0) {
        output = options->binary ? ionfast_encoder_binary(enc) : ionfast_encoder_text(enc);
    }
    ionfast_encoder_give(enc);
    return output;
}

PyObject *
ionfast_dumps(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    ionfast_write_options options;
    return take_options(&options, "dumps", args, nargs, kwnames) < 0
               ? NULL
               : dump(module, &options, args[0], false);
}

PyObject *
ionfast_dumps_all(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    ionfast_write_options options;
    return take_options(&options, "dumps_all", args, nargs, kwnames) < 0
               ? NULL
               : dump(module, &options, args[0], true);
}

/* Nothing is needed from Python yet: level 2 looks classes up when it first meets one of theirs. */
