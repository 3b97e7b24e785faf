/* One-shot reading: the entry points of the extension module. */
#ifndef PY_LOADS_H
#define PY_LOADS_H

#include "py_input.h"
#include "py_options.h"
#include "py_plan.h"

/* What to make of an input that is there as a whole. */
typedef struct ionfast_whole {
    ionfast_plan *plan; /* borrowed: as a type; NULL: as the model says */
    bool forbid_unknown;
    bool is_all; /* a list of all values, not the only one */
} ionfast_whole;

/* Read it with a decoder from the pool. New reference, or NULL with an exception set. */
PyObject *ionfast_read_whole(ionfast_state *state, const ionfast_input *input,
                             const ionfast_read_options *options, const ionfast_whole *how);

PyObject *ionfast_loads(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                        PyObject *kwnames);
PyObject *ionfast_loads_all(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                            PyObject *kwnames);

extern const char ionfast_loads_doc[];
extern const char ionfast_loads_all_doc[];

#endif
