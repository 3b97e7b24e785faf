/* The options that all kinds of writing share, and an encoder set up with them. */
#ifndef PY_WRITE_OPTIONS_H
#define PY_WRITE_OPTIONS_H

#include "py_encode.h"

typedef struct ionfast_write_options {
    bool binary, tuple_as_sexp, omit_version_marker;
    PyObject *indent; /* borrowed from the arguments, as the next ones; NULL: none */
    PyObject *imports;
    PyObject *catalog;
    PyObject *hook;
    PyObject *codec;
    uint64_t max_depth;
} ionfast_write_options;

static inline ionfast_write_options
ionfast_write_options_default(void)
{
    const ionfast_write_options options = {.binary = true, .max_depth = IONF_DEFAULT_MAX_DEPTH};
    return options;
}

/* Is `name` this keyword? An exact compare of text: as quick as identity for names this short, and no
 * names to keep. */
#define IONFAST_IS_KEYWORD(name, text)                                                            \
    (PyUnicode_GET_LENGTH(name) == sizeof(text) - 1 && PyUnicode_IS_ASCII(name) &&                \
     memcmp(PyUnicode_DATA(name), text, sizeof(text) - 1) == 0)

/* One option by name; -1 with TypeError or ValueError, naming `function`. */
int ionfast_write_option_set(ionfast_write_options *options, const char *function, PyObject *name,
                             PyObject *value);
/* A flag: any object's truth. */
int ionfast_take_flag(PyObject *value, bool *out);

/* An encoder from the pool with these options, nothing written yet. It borrows the hook, and an indent
 * that is a str. NULL with an exception set. */
ionfast_encoder *ionfast_write_options_encoder(ionfast_state *state,
                                               const ionfast_write_options *options);

#endif
