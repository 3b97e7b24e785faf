/* One-shot writing: the entry points of the extension module. */
#ifndef PY_DUMPS_H
#define PY_DUMPS_H

#include "py_state.h"

PyObject *ionfast_dumps(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                        PyObject *kwnames);
PyObject *ionfast_dumps_all(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                            PyObject *kwnames);

extern const char ionfast_dumps_doc[];
extern const char ionfast_dumps_all_doc[];

#endif
