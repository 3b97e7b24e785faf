/* Caps of the pools, and the functions behind `ionfast.pools`. */
#ifndef PY_POOL_H
#define PY_POOL_H

#include "py_state.h"

#define IONFAST_POOL_IDLE 16
/* A decoder or buffer that has grown beyond this is not kept: one giant input must not stay for ever. */
#define IONFAST_POOL_OBJECT_BYTES ((Py_ssize_t)4 << 20)
#define IONFAST_POOL_BYTES ((Py_ssize_t)16 << 20)

PyObject *ionfast_pool_stats(PyObject *module, PyObject *args);
PyObject *ionfast_pool_clear(PyObject *module, PyObject *args);
PyObject *ionfast_pool_configure(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *ionfast_pool_disable(PyObject *module, PyObject *flag);

#endif
