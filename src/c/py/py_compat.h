/* Every test of the Python version in the project, and what hides behind it. */
#ifndef PY_COMPAT_H
#define PY_COMPAT_H

#ifndef PY_SSIZE_T_CLEAN
#define PY_SSIZE_T_CLEAN
#endif
#include <Python.h>

#if PY_VERSION_HEX < 0x030B0000
#error "ionfast needs CPython 3.11 or newer"
#endif

/* Before 3.12 the cyclic collector runs inside allocations; from 3.12 on only between bytecodes. */
#if PY_VERSION_HEX < 0x030C0000
#define IONFAST_GC_RUNS_IN_C 1
#else
#define IONFAST_GC_RUNS_IN_C 0
#endif

/* A dict with room for `count` keys: growing one key table at a time costs more than filling it. */
static inline PyObject *
ionfast_dict_new(size_t count)
{
    return count <= 5 ? PyDict_New() : _PyDict_NewPresized((Py_ssize_t)count);
}

/* Insert a str whose hash is cached. */
static inline int
ionfast_dict_set(PyObject *dict, PyObject *key, PyObject *value)
{
    return PyDict_SetItem(dict, key, value);
}

/* Slots of the module definition that only some versions know. From 3.13 on each subinterpreter may
 * have a GIL of its own; 3.12 knows the slot too, but datetime, which this needs, does not allow it
 * there. */
#if PY_VERSION_HEX >= 0x030D0000
#define IONFAST_MODULE_SLOTS                                                                      \
    {Py_mod_multiple_interpreters, Py_MOD_PER_INTERPRETER_GIL_SUPPORTED},
#else
#define IONFAST_MODULE_SLOTS
#endif

/* Big ints as big-endian bytes. 3.13 has public functions for it and changed the private ones. */

/* The int whose value is these bytes, unsigned. */
static inline PyObject *
ionfast_long_from_be(const unsigned char *bytes, size_t len)
{
#if PY_VERSION_HEX >= 0x030D0000
    return PyLong_FromUnsignedNativeBytes(bytes, len, Py_ASNATIVEBYTES_BIG_ENDIAN);
#else
    return _PyLong_FromByteArray(bytes, len, 0, 0);
#endif
}

/* Bytes that two's complement of an int needs, sign bit included, perhaps one too many; -1 with an
 * exception. */
static inline Py_ssize_t
ionfast_long_size(PyObject *value)
{
#if PY_VERSION_HEX >= 0x030D0000
    return PyLong_AsNativeBytes(value, NULL, 0, Py_ASNATIVEBYTES_BIG_ENDIAN);
#else
    const size_t bits = _PyLong_NumBits(value);
    return bits == (size_t)-1 ? -1 : (Py_ssize_t)(bits / 8 + 1);
#endif
}

/* Store two's complement in the `len` bytes that ionfast_long_size asked for; -1 with an
 * exception. */
static inline int
ionfast_long_to_be(PyObject *value, unsigned char *dst, Py_ssize_t len)
{
#if PY_VERSION_HEX >= 0x030D0000
    return PyLong_AsNativeBytes(value, dst, len, Py_ASNATIVEBYTES_BIG_ENDIAN) < 0 ? -1 : 0;
#else
    return _PyLong_AsByteArray((PyLongObject *)value, dst, (size_t)len, 0, 1);
#endif
}

#endif
