/* The options that all kinds of reading share: parsing them, and a decoder made with them. */
#include "py_options.h"

#include "py_args.h"
#include "py_codec.h"
#include "py_conv.h"

static bool
is_text(PyObject *str, const char *text, size_t len)
{
    return PyUnicode_IS_ASCII(str) && (size_t)PyUnicode_GET_LENGTH(str) == len &&
           memcmp(PyUnicode_1BYTE_DATA(str), text, len) == 0;
}

static int
parse_model(PyObject *value, ionfast_model *out)
{
    if (!PyUnicode_Check(value)) {
        PyErr_Format(PyExc_TypeError, "model must be a str, not %.200s", Py_TYPE(value)->tp_name);
        return -1;
    }
    if (is_text(value, "plain", 5)) {
        *out = IONFAST_MODEL_PLAIN;
    } else if (is_text(value, "ionpy", 5)) {
        *out = IONFAST_MODEL_IONPY;
    } else if (is_text(value, "lossless", 8)) {
        *out = IONFAST_MODEL_LOSSLESS;
    } else {
        PyErr_Format(PyExc_ValueError, "model must be 'lossless', 'plain' or 'ionpy', not %R",
                     value);
        return -1;
    }
    return 0;
}

int
ionfast_arg_limit(const char *name, PyObject *value, uint64_t *out)
{
    if (value == Py_None) {
        *out = IONF_UNLIMITED;
        return 0;
    }
    if (!PyLong_Check(value) || PyBool_Check(value)) {
        PyErr_Format(PyExc_TypeError, "%s must be an int or None, not %.200s", name,
                     Py_TYPE(value)->tp_name);
        return -1;
    }
    const long long limit = PyLong_AsLongLong(value);
    if (limit == -1 && PyErr_Occurred()) {
        PyErr_Clear();
        PyErr_Format(PyExc_ValueError, "%s is out of range", name);
        return -1;
    }
    if (limit < 0) {
        PyErr_Format(PyExc_ValueError, "%s must not be negative", name);
        return -1;
    }
    *out = (uint64_t)limit;
    return 0;
}

int
ionfast_read_option_set(ionfast_state *state, const char *function, PyObject *name,
                        PyObject *value, ionfast_read_options *options)
{
    PyObject *const known[] = {state->str_model, state->str_catalog, state->str_max_depth,
                               state->str_max_value_size};
    switch (ionfast_keyword_index(function, name, known, 4)) {
    case 0:
        return parse_model(value, &options->model);
    case 1:
        options->catalog = value;
        return 0;
    case 2:
        return ionfast_arg_limit("max_depth", value, &options->limits.max_depth);
    case 3:
        return ionfast_arg_limit("max_value_size", value, &options->limits.max_value_size);
    default:
        return -1;
    }
}

static PyObject *
unless_none(PyObject *value)
{
    return value == Py_None ? NULL : value;
}

int
ionfast_typed_option_set(ionfast_state *state, PyObject *name, PyObject *value,
                         ionfast_read_options *options)
{
    if (ionfast_keyword_is(name, state->str_type)) {
        options->type = unless_none(value);
        return 1;
    }
    if (ionfast_keyword_is(name, state->str_codec)) {
        options->codec = unless_none(value);
        return options->codec == NULL || ionfast_codec_check(state, value) == 0 ? 1 : -1;
    }
    if (ionfast_keyword_is(name, state->str_forbid_unknown)) {
        const int flag = PyObject_IsTrue(value);
        options->forbid_unknown = flag > 0;
        return flag < 0 ? -1 : 1;
    }
    return 0;
}

int
ionfast_read_options_parse(ionfast_state *state, const char *function, PyObject *kwnames,
                           PyObject *const *values, ionfast_read_options *options)
{
    options->model = IONFAST_MODEL_LOSSLESS;
    options->catalog = NULL;
    options->limits = ionf_limits_default();
    options->type = options->codec = NULL;
    options->forbid_unknown = false;
    if (IONF_LIKELY(kwnames == NULL)) {
        return 0;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(kwnames); i++) {
        PyObject *name = PyTuple_GET_ITEM(kwnames, i);
        const int taken = ionfast_typed_option_set(state, name, values[i], options);
        if (taken < 0 || (taken == 0 && ionfast_read_option_set(state, function, name, values[i],
                                                                options) < 0)) {
            return -1;
        }
    }
    return 0;
}

ionfast_decoder *
ionfast_read_options_decoder(ionfast_state *state, const ionfast_read_options *options,
                             const ionf_catalog **catalog)
{
    *catalog = NULL;
    if (options->catalog != NULL && ionfast_catalog_of(state, options->catalog, catalog) < 0) {
        return NULL;
    }
    ionfast_decoder *dec = ionfast_decoder_take(state);
    if (dec != NULL) {
        dec->model = options->model;
        dec->catalog = *catalog == NULL ? NULL : Py_NewRef(options->catalog);
    }
    return dec;
}
