/* The Writer class: streams of values, to files or memory. */
#ifndef PY_WRITER_H
#define PY_WRITER_H

#include "py_state.h"

/* Make the type and add it to the module; 0, or -1 with an exception set. */
int ionfast_writer_exec(PyObject *module, ionfast_state *state);

/* `auto_flush=`: True, False or a number of bytes, as a block size; 0 is off. `usual` is what True
 * stands for. -1 with an exception. */
int ionfast_arg_block(PyObject *value, size_t usual, size_t *out);

/* What True stands for where there is a file. Larger blocks gain nothing: see benchmarks/writes.py. */
#define IONFAST_BLOCK_SIZE 65536

#endif
