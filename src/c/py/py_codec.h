/* The registry behind ionfast.Codec: which types are written and read by functions of the user's.
 *
 * Level 2 of dispatch asks it before anything built in. A look-up walks the bases of a type once; what
 * it came to, nothing included, is remembered.
 */
#ifndef PY_CODEC_H
#define PY_CODEC_H

#include "py_state.h"

/* 0 for a Codec, else -1 with TypeError. */
int ionfast_codec_check(ionfast_state *state, PyObject *object);
/* Its cache of plans, a dict; new reference. A plan that was made while another type was registered goes into
 * a cache that nobody looks at any more. */
PyObject *ionfast_codec_plans(PyObject *codec);
/* Where it keeps the number of its last registration: not 0, and no other codec's. Lives as long as it. */
const ionfast_serial *ionfast_codec_serial(PyObject *codec);
/* How values of `type` are written: (annotations or None, encode or None); None when neither it
 * nor a base of it is registered. New reference, or NULL with an exception. */
PyObject *ionfast_codec_find(PyObject *codec, PyTypeObject *type);

int ionfast_codec_exec(PyObject *module, ionfast_state *state); /* the base class of Codec */

#endif
