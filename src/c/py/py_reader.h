/* The Reader class: pull reading of streams. */
#ifndef PY_READER_H
#define PY_READER_H

#include "py_state.h"

/* Make the type and NEED_DATA, and add them to the module; 0, or -1 with an exception set. */
int ionfast_reader_exec(PyObject *module, ionfast_state *state);
/* Free the memory that waits for the next Reader. */
void ionfast_reader_drop_idle(ionfast_state *state);

#endif
