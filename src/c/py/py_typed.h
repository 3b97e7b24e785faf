/* Typed decoding: tokens -> objects of the types that a plan names. */
#ifndef PY_TYPED_H
#define PY_TYPED_H

#include "py_build.h"
#include "py_options.h"
#include "py_plan.h"

/* Drop what a reading left, and destroy the stacks; for the decoder's pool. */
void ionfast_typed_drop(ionfast_decoder *dec);
void ionfast_typed_destroy(ionfast_decoder *dec);
size_t ionfast_typed_retained(const ionfast_decoder *dec);

/* The next top-level value by the plan's root. */
ionfast_build_result ionfast_typed_value(ionfast_decoder *dec, ionfast_plan *plan,
                                         bool forbid_unknown, PyObject **out);

/* For incremental reading by dec->plan. Take the value whose token is at hand: 1 with a scalar in
 * `*out`, 0 when a container has been opened, -1 with an exception. The container then continues, after
 * IONFAST_BUILD_NEED_DATA again, until it is complete. */
int ionfast_typed_begin(ionfast_decoder *dec, const ionf_token *t, PyObject **out);
ionfast_build_result ionfast_typed_continue(ionfast_decoder *dec, PyObject **out);

/* Choose the record of a TAGGED container that has just been opened, whose frame is the innermost, and
 * make its frame that of the record: 1. 0 when the input has run out before its tag, the reader then
 * standing where it stood; -1 with an exception. (py_typed_tag.c) */
int ionfast_typed_choose(ionfast_decoder *dec);

#endif
