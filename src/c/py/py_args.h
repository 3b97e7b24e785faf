/* Keyword arguments of FASTCALL entry points: found by identity first, by text second. */
#ifndef PY_ARGS_H
#define PY_ARGS_H

#include "py_state.h"

/* Is `name` the interned string `known`? Only seldom is one that is not interned looked into. */
static inline bool
ionfast_keyword_is(PyObject *name, PyObject *known)
{
    return name == known ||
           (!PyUnicode_CHECK_INTERNED(name) && PyUnicode_Compare(name, known) == 0);
}

/* Index of `name` among the `count` interned strings `known`; -1 with TypeError when it is none of them. */
static inline Py_ssize_t
ionfast_keyword_index(const char *function, PyObject *name, PyObject *const *known,
                      Py_ssize_t count)
{
    for (Py_ssize_t i = 0; i < count; i++) {
        if (name == known[i]) {
            return i;
        }
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        if (PyUnicode_Compare(name, known[i]) == 0) {
            return i;
        }
    }
    if (!PyErr_Occurred()) {
        PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument '%U'", function,
                     name);
    }
    return -1;
}

/* An option that is a count: a non-negative int, or None for "no limit". -1 with an exception. */
int ionfast_arg_limit(const char *name, PyObject *value, uint64_t *out);

#endif
