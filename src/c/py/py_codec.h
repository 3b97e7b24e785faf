/* The registry behind ionfast.Codec: which types are written and read by functions of the user's.
 *
 * Level 2 of dispatch asks it before anything built in. A look-up walks the bases of a type once; what
 * it came to, nothing included, is remembered.
 */
#ifndef PY_CODEC_H
#define PY_CODEC_H

#include "py_state.h"

/* What a registered type is written as; all borrowed from the codec. */
typedef struct ionfast_codec_entry {
    PyObject *annotations; /* tuple, or NULL */
    PyObject *encode;      /* callable, or NULL: as without a codec */
} ionfast_codec_entry;

/* 0 for a Codec, else -1 with TypeError. */
int ionfast_codec_check(ionfast_state *state, PyObject *object);
/* Its cache of plans, a dict; borrowed. */
PyObject *ionfast_codec_plans(PyObject *codec);
/* How values of `type` are written: 1, or 0 when neither it nor a base of it is registered; -1 with an
 * exception. */
int ionfast_codec_find(PyObject *codec, PyTypeObject *type, ionfast_codec_entry *out);

int ionfast_codec_exec(PyObject *module, ionfast_state *state); /* the base class of Codec */

#endif
