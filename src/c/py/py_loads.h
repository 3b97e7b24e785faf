/* One-shot reading: the entry points of the extension module. */
#ifndef PY_LOADS_H
#define PY_LOADS_H

#include "py_decoder.h"

PyObject *ionfast_loads(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                        PyObject *kwnames);
PyObject *ionfast_loads_all(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                            PyObject *kwnames);

extern const char ionfast_loads_doc[];
extern const char ionfast_loads_all_doc[];

#endif
