/* The options that all kinds of reading share: model, catalog, limits. */
#ifndef PY_OPTIONS_H
#define PY_OPTIONS_H

#include "py_decoder.h"

typedef struct ionfast_read_options {
    ionfast_model model;
    PyObject *catalog; /* borrowed from the arguments */
    ionf_limits limits;
    /* Of typed reading, borrowed from the arguments; NULL: none. Only where a function takes them. */
    PyObject *type, *codec;
    bool forbid_unknown;
} ionfast_read_options;

/* The defaults, then the keyword arguments `kwnames` (may be NULL) with their `values`.
 * -1 with TypeError or ValueError, naming `function`. */
int ionfast_read_options_parse(ionfast_state *state, const char *function, PyObject *kwnames,
                               PyObject *const *values, ionfast_read_options *options);

/* One option of typed reading by name, type, codec or forbid_unknown: 1, 0 when it is none of them, -1
 * with an exception. */
int ionfast_typed_option_set(ionfast_state *state, PyObject *name, PyObject *value,
                             ionfast_read_options *options);

/* One option by name; -1 with TypeError or ValueError. */
int ionfast_read_option_set(ionfast_state *state, const char *function, PyObject *name,
                            PyObject *value, ionfast_read_options *options);

/* A decoder from the pool with these options, not opened yet; the core's view of the catalog through
 * `catalog`. NULL with an exception set. */
ionfast_decoder *ionfast_read_options_decoder(ionfast_state *state,
                                              const ionfast_read_options *options,
                                              const ionf_catalog **catalog);

#endif
