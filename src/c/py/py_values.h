/* Values beyond the common case: wide strings, rare scalars, nulls, annotations, the IonPy* classes. */
#ifndef PY_VALUES_H
#define PY_VALUES_H

#include "ionf_utf8.h"
#include "py_decoder.h"

/* All give a new reference, or NULL with an exception set. */

/* A str of valid UTF-8 that is not all ASCII. */
PyObject *ionfast_str_from_wide(const uint8_t *text, size_t len);
/* A str of ASCII of at least IONFAST_LONG_TEXT bytes. */
PyObject *ionfast_str_from_long_ascii(const uint8_t *text, size_t len);
/* PyBytes_FromStringAndSize for any length, with a look at signals after each step. */
PyObject *ionfast_bytes_new(const uint8_t *data, size_t len);
/* Decimal, timestamp, symbol, clob, blob, null, unannotated, in the lossless or plain model. */
PyObject *ionfast_build_rare_scalar(ionfast_decoder *dec, const ionf_token *t);
/* Any scalar or null: annotated, null, or in the ionpy model. */
PyObject *ionfast_build_special(ionfast_decoder *dec, const ionf_token *t);
/* What ionf_bin_next_unchecked gave, a string that is not ASCII, and not null: as a str; only checked (`info`
 * may be NULL). IonError when it is not UTF-8. */
PyObject *ionfast_str_from_unchecked(ionfast_decoder *dec, const ionf_token *t);
int ionfast_check_string(ionfast_decoder *dec, const ionf_token *t, ionf_utf8_info *info);
/* The token's annotations as a tuple of Symbol (SymbolToken for unknown text). */
PyObject *ionfast_build_annotations(ionfast_decoder *dec, const ionf_token *t);
/* A symbol reference as SymbolToken(text, sid, location). */
PyObject *ionfast_symbol_token(ionfast_decoder *dec, const ionf_symref *ref);
/* The children of a frame that has ended as an IonPy* container, with its annotations; takes them off
 * the stack. */
PyObject *ionfast_close_wrapped(ionfast_decoder *dec, const ionfast_build_frame *frame);
/* A finished list or dict as its IonPy* class, annotations put on. Steals both. */
PyObject *ionfast_wrap_container(ionfast_decoder *dec, PyObject *value,
                                 const ionfast_build_frame *frame);
/* The pairs on the stack from `start` as an IonPyDict that keeps repeated fields. Leaves the stack. */
PyObject *ionfast_close_repeats(ionfast_decoder *dec, size_t start);

#endif
