/* transcode(): text Ion to binary and back, token to token. */
#ifndef PY_TRANSCODE_H
#define PY_TRANSCODE_H

#include "py_state.h"

PyObject *ionfast_transcode(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                            PyObject *kwnames);

extern const char ionfast_transcode_doc[];

#endif
