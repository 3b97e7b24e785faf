/* Options of writing: parsing them, and setting an encoder up. */
#include "py_write_options.h"

#include "py_args.h"
#include "py_conv.h"

/* ---- parsing ---- */

int
ionfast_take_flag(PyObject *value, bool *out)
{
    if (IONF_LIKELY(PyBool_Check(value))) {
        *out = value == Py_True;
        return 0;
    }
    const int flag = PyObject_IsTrue(value);
    *out = flag > 0;
    return flag < 0 ? -1 : 0;
}

static PyObject *
unless_none(PyObject *value)
{
    return value == Py_None ? NULL : value;
}

static int
take_hook(PyObject *value, PyObject **out)
{
    *out = unless_none(value);
    if (*out != NULL && !PyCallable_Check(value)) {
        PyErr_Format(PyExc_TypeError, "default must be callable, not '%s'",
                     Py_TYPE(value)->tp_name);
        return -1;
    }
    return 0;
}

int
ionfast_write_option_set(ionfast_write_options *options, const char *function, PyObject *name,
                         PyObject *value)
{
    if (IONFAST_IS_KEYWORD(name, "binary")) {
        return ionfast_take_flag(value, &options->binary);
    }
    if (IONFAST_IS_KEYWORD(name, "indent")) {
        options->indent = unless_none(value);
        return 0;
    }
    if (IONFAST_IS_KEYWORD(name, "imports")) {
        options->imports = unless_none(value);
        return 0;
    }
    if (IONFAST_IS_KEYWORD(name, "catalog")) {
        options->catalog = unless_none(value);
        return 0;
    }
    if (IONFAST_IS_KEYWORD(name, "default")) {
        return take_hook(value, &options->hook);
    }
    if (IONFAST_IS_KEYWORD(name, "codec")) {
        options->codec = unless_none(value);
        return 0;
    }
    if (IONFAST_IS_KEYWORD(name, "tuple_as_sexp")) {
        return ionfast_take_flag(value, &options->tuple_as_sexp);
    }
    if (IONFAST_IS_KEYWORD(name, "omit_version_marker")) {
        return ionfast_take_flag(value, &options->omit_version_marker);
    }
    if (IONFAST_IS_KEYWORD(name, "max_depth")) {
        return ionfast_arg_limit("max_depth", value, &options->max_depth);
    }
    PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument '%U'", function, name);
    return -1;
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
set_layout(ionfast_encoder *enc, PyObject *indent)
{
    enc->txt.is_pretty = indent != NULL;
    enc->txt.top_separator = indent == NULL ? " " : "\n";
    if (indent == NULL) {
        return 0;
    }
    if (PyLong_Check(indent)) {
        return set_indent_spaces(enc, indent);
    }
    if (PyUnicode_Check(indent)) {
        return set_indent_text(enc, indent);
    }
    PyErr_Format(PyExc_TypeError, "indent must be None, an int or a str, not '%s'",
                 Py_TYPE(indent)->tp_name);
    return -1;
}

/* ---- imports ---- */

/* So that no sum of a few leaves 64 bits. */
#define MAX_ID_LIMIT (UINT64_MAX >> 16)

static int
take_max_id(PyObject *value, uint64_t *out)
{
    if (!PyLong_Check(value) || PyBool_Check(value)) {
        PyErr_Format(PyExc_TypeError, "the max_id of an import must be an int, not %.200s",
                     Py_TYPE(value)->tp_name);
        return -1;
    }
    const unsigned long long max_id = PyLong_AsUnsignedLongLong(value);
    if (max_id > MAX_ID_LIMIT) { /* as it is on an exception */
        PyErr_Clear();
        PyErr_Format(PyExc_ValueError, "the max_id of an import must be 0 .. %llu, not %R",
                     (unsigned long long)MAX_ID_LIMIT, value);
        return -1;
    }
    *out = max_id;
    return 0;
}

static int
add_import(ionfast_encoder *enc, PyObject *table, PyObject *max_id)
{
    const ionf_shared *const shared = ionfast_shared_of(enc->state, table);
    if (shared == NULL) {
        return -1;
    }
    uint64_t length = shared->max_id;
    if (max_id != Py_None && take_max_id(max_id, &length) < 0) {
        return -1;
    }
    return ionfast_encode_status(enc, ionf_symmap_import_part(&enc->bin.symbols, shared, length));
}

/* name, (name, version) or (name, version, max_id): a table of the catalog. */
static int
add_named_import(ionfast_encoder *enc, PyObject *import)
{
    PyObject *name = import, *version = Py_None, *max_id = Py_None;
    if (PyTuple_Check(import) &&
        !PyArg_ParseTuple(import,
                          "OO|O;an import is a SharedSymbolTable, a name, (name, version) "
                          "or (name, version, max_id)",
                          &name, &version, &max_id)) {
        return -1;
    }
    if (enc->catalog == NULL) {
        PyErr_Format(PyExc_TypeError, "an import by name needs a catalog to find %R in", name);
        return -1;
    }
    PyObject *table = ionfast_catalog_table(enc->state, enc->catalog, name, version);
    const int result = table == NULL ? -1 : add_import(enc, table, max_id);
    Py_XDECREF(table);
    return result;
}

static int
add_imports(ionfast_encoder *enc, PyObject *imports)
{
    if (PyUnicode_Check(imports)) {
        PyErr_SetString(PyExc_TypeError, "imports must be an iterable of tables, not one str");
        return -1;
    }
    PyObject *tables = PySequence_Tuple(imports);
    if (tables == NULL) {
        return -1;
    }
    int result = 0;
    for (Py_ssize_t i = 0; result == 0 && i < PyTuple_GET_SIZE(tables); i++) {
        PyObject *const import = PyTuple_GET_ITEM(tables, i);
        result = PyUnicode_Check(import) || PyTuple_Check(import)
                     ? add_named_import(enc, import)
                     : add_import(enc, import, Py_None);
    }
    Py_DECREF(tables);
    return result;
}

static int
set_up(ionfast_encoder *enc, const ionfast_write_options *options)
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
    if (options->catalog != NULL && ionfast_encode_use_catalog(enc, options->catalog) < 0) {
        return -1;
    }
    if (options->imports != NULL && add_imports(enc, options->imports) < 0) {
        return -1;
    }
    return options->binary ? 0 : set_layout(enc, options->indent);
}

ionfast_encoder *
ionfast_write_options_encoder(ionfast_state *state, const ionfast_write_options *options)
{
    ionfast_encoder *enc = ionfast_encoder_take(state, options->binary);
    if (enc != NULL && set_up(enc, options) < 0) {
        ionfast_encoder_give(enc);
        return NULL;
    }
    return enc;
}
