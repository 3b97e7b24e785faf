/* ionfast.Decoder, and what loads() and loads_all() do with `type=` and `codec=`. */
#ifndef PY_DECODER_TYPE_H
#define PY_DECODER_TYPE_H

#include "py_input.h"
#include "py_options.h"

/* Read a whole input as options->type, or with options->codec alone as anything: its one value, or a
 * list of all. New reference. */
PyObject *ionfast_typed_read(ionfast_state *state, const ionfast_input *input,
                             const ionfast_read_options *options, bool is_all);

int ionfast_decoder_type_exec(PyObject *module, ionfast_state *state);

#endif
