/* Writing objects with named fields - dataclasses, attrs classes, msgspec structs - as structs: the
 * object as a dict, which the encoder's hot loop then walks like any other.
 */
#ifndef PY_FIELDS_H
#define PY_FIELDS_H

#include "py_state.h"

/* How the fields of a class are got at; made once for each class and encoder. New reference, or NULL
 * with an exception. For a class that is written by a function of the user's field annotations, and for
 * numpy's, `*function` is that function, a new reference, and the result is None. */
PyObject *ionfast_fields_of(ionfast_state *state, PyTypeObject *type, PyObject **function);

/* The fields' values by their names in Ion: the object's own `__dict__` where that is the very same,
 * else a dict made for the purpose. New reference; NULL with an exception. */
PyObject *ionfast_fields_dict(PyObject *fields, PyObject *object);

/* Are these the attributes `names`, a tuple, under their own names? */
bool ionfast_fields_are_named(PyObject *fields, PyObject *names);

int ionfast_fields_exec(PyObject *module, ionfast_state *state);

#endif
