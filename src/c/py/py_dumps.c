/* dumps and dumps_all: their options, and one run of a pooled encoder. */
#include "py_dumps.h"

#include "py_args.h"
#include "py_conv.h"
#include "py_encode.h"

#define OPTIONS_DOC                                                                               \
    "binary: True for bytes of binary Ion, False for a str of text Ion.\n"                        \
    "indent: for text: None for one line; a number of spaces, or a str of white space, for\n"     \
    "    one element a line.\n"                                                                   \
    "imports: shared symbol tables whose symbols binary Ion need not spell out.\n"                \
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
    ", *, binary=True, indent=None, imports=(), default=None, tuple_as_sexp=False, "              \
    "omit_version_marker=False, max_depth=1000, codec=None)\n--\n\n"

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

typedef struct dump_options {
    bool binary, tuple_as_sexp, omit_version_marker;
    PyObject *indent;  /* borrowed; NULL: none */
    PyObject *imports; /* borrowed; NULL: none */
    PyObject *hook;    /* borrowed; NULL: none */
    PyObject *codec;   /* borrowed; NULL: none */
    uint64_t max_depth;
} dump_options;

/* ---- options ---- */

static int
take_flag(PyObject *value, bool *out)
{
    const int flag = PyObject_IsTrue(value);
    *out = flag > 0;
    return flag < 0 ? -1 : 0;
}

static PyObject *
unless_none(PyObject *value)
{
    return value == Py_None ? NULL : value;
}

/* Is `name` this keyword? Compares the text, so that no interned names have to be kept. */
#define IS_KEYWORD(name, text)                                                                    \
    (PyUnicode_GET_LENGTH(name) == sizeof(text) - 1 && PyUnicode_IS_ASCII(name) &&                \
     memcmp(PyUnicode_DATA(name), text, sizeof(text) - 1) == 0)

static int
take_option(dump_options *options, const char *function, PyObject *name, PyObject *value)
{
    if (IS_KEYWORD(name, "binary")) {
        return take_flag(value, &options->binary);
    }
    if (IS_KEYWORD(name, "indent")) {
        options->indent = unless_none(value);
        return 0;
    }
    if (IS_KEYWORD(name, "codec")) {
        options->codec = unless_none(value);
        return 0;
    }
    if (IS_KEYWORD(name, "imports")) {
        options->imports = unless_none(value);
        return 0;
    }
    if (IS_KEYWORD(name, "default")) {
        options->hook = unless_none(value);
        return 0;
    }
    if (IS_KEYWORD(name, "tuple_as_sexp")) {
        return take_flag(value, &options->tuple_as_sexp);
    }
    if (IS_KEYWORD(name, "omit_version_marker")) {
        return take_flag(value, &options->omit_version_marker);
    }
    if (IS_KEYWORD(name, "max_depth")) {
        return ionfast_arg_limit("max_depth", value, &options->max_depth);
    }
    PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument '%U'", function, name);
    return -1;
}

static int
take_options(dump_options *options, const char *function, PyObject *const *args, Py_ssize_t nargs,
             PyObject *kwnames)
{
    if (nargs != 1) {
        PyErr_Format(PyExc_TypeError, "%s() takes 1 positional argument but %zd were given",
                     function, nargs);
        return -1;
    }
    *options = (dump_options){.binary = true, .max_depth = IONF_DEFAULT_MAX_DEPTH};
    const Py_ssize_t count = kwnames == NULL ? 0 : PyTuple_GET_SIZE(kwnames);
    for (Py_ssize_t i = 0; i < count; i++) {
        if (take_option(options, function, PyTuple_GET_ITEM(kwnames, i), args[1 + i]) < 0) {
            return -1;
        }
    }
    if (options->hook != NULL && !PyCallable_Check(options->hook)) {
        PyErr_Format(PyExc_TypeError, "default must be callable, not '%s'",
                     Py_TYPE(options->hook)->tp_name);
        return -1;
    }
    return 0;
}

/* ---- setting the encoder up ---- */

/* More spaces than anyone can want a level. */
#define INDENT_MAX 1000

static int
set_indent_spaces(ionfast_encoder *enc, PyObject *count)
{
    int overflow;
    const long spaces = PyLong_AsLongAndOverflow(count, &overflow);
    if (overflow != 0 || spaces < 0 || spaces > INDENT_MAX) {
        PyErr_Format(PyExc_ValueError, "indent must be 0 to %d spaces", INDENT_MAX);
        return -1;
    }
    ionf_buf_reset(&enc->indent);
    const ionf_status status = ionf_buf_reserve(&enc->indent, (size_t)spaces + 1);
    if (status != IONF_OK) {
        return ionfast_encode_status(enc, status);
    }
    memset(enc->indent.data, ' ', (size_t)spaces);
    enc->indent.data[spaces] = 0;
    enc->txt.indent = (const char *)enc->indent.data;
    return 0;
}

static int
set_indent_text(ionfast_encoder *enc, PyObject *text)
{
    const char *const indent =
        PyUnicode_IS_COMPACT_ASCII(text) ? (const char *)PyUnicode_1BYTE_DATA(text) : NULL;
    if (indent == NULL || strspn(indent, " \t\n\r\v\f") != (size_t)PyUnicode_GET_LENGTH(text)) {
        PyErr_Format(PyExc_ValueError, "indent must be white space, not %R", text);
        return -1;
    }
    enc->txt.indent = indent;
    return 0;
}

static int
set_layout(ionfast_encoder *enc, const dump_options *options)
{
    enc->txt.is_pretty = options->indent != NULL;
    enc->txt.top_separator = options->indent == NULL ? " " : "\n";
    if (options->indent == NULL) {
        return 0;
    }
    if (PyLong_Check(options->indent)) {
        return set_indent_spaces(enc, options->indent);
    }
    if (PyUnicode_Check(options->indent)) {
        return set_indent_text(enc, options->indent);
    }
    PyErr_Format(PyExc_TypeError, "indent must be None, an int or a str, not '%s'",
                 Py_TYPE(options->indent)->tp_name);
    return -1;
}

static int
add_imports(ionfast_encoder *enc, PyObject *imports)
{
    PyObject *tables = PySequence_Tuple(imports);
    if (tables == NULL) {
        return -1;
    }
    int result = 0;
    for (Py_ssize_t i = 0; result == 0 && i < PyTuple_GET_SIZE(tables); i++) {
        const ionf_shared *shared = ionfast_shared_of(enc->state, PyTuple_GET_ITEM(tables, i));
        result =
            shared == NULL
                ? -1
                : ionfast_encode_status(enc, ionf_symmap_import_add(&enc->bin.symbols, shared));
    }
    Py_DECREF(tables);
    return result;
}

static int
set_up(ionfast_encoder *enc, const dump_options *options)
{
    const uint32_t depth =
        options->max_depth > UINT32_MAX ? UINT32_MAX : (uint32_t)options->max_depth;
    enc->bin.max_depth = depth;
    enc->txt.max_depth = depth;
    enc->tuple_as_sexp = options->tuple_as_sexp;
    enc->default_hook = options->hook;
    if (options->codec != NULL && ionfast_encode_use_codec(enc, options->codec) < 0) {
        return -1;
    }
    enc->can_put_off = options->imports == NULL;
    if (options->imports != NULL && add_imports(enc, options->imports) < 0) {
        return -1;
    }
    if (options->binary) {
        return 0;
    }
    if (set_layout(enc, options) < 0) {
        return -1;
    }
    return options->omit_version_marker ? 0 : ionfast_encode_version_marker(enc);
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
dump(PyObject *module, const dump_options *options, PyObject *object, bool is_stream)
{
    ionfast_encoder *enc = ionfast_encoder_take(ionfast_state_of_module(module), options->binary);
    if (enc == NULL) {
        return NULL;
    }
    PyObject *output = NULL;
    if (set_up(enc, options) == 0 &&
        (is_stream ? encode_all(enc, object) : ionfast_encode(enc, object)) == 0) {
        output = options->binary ? ionfast_encoder_binary(enc) : ionfast_encoder_text(enc);
    }
    ionfast_encoder_give(enc);
    return output;
}

PyObject *
ionfast_dumps(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    dump_options options;
    return take_options(&options, "dumps", args, nargs, kwnames) < 0
               ? NULL
               : dump(module, &options, args[0], false);
}

PyObject *
ionfast_dumps_all(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    dump_options options;
    return take_options(&options, "dumps_all", args, nargs, kwnames) < 0
               ? NULL
               : dump(module, &options, args[0], true);
}

/* Nothing is needed from Python yet: level 2 looks classes up when it first meets one of theirs. */
