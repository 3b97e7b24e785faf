/* The stacks of typed decoding, and its errors: where in the value, what was expected, what was found. */
#ifndef PY_TYPED_ERROR_H
#define PY_TYPED_ERROR_H

#include "py_decoder.h"
#include "py_plan.h"

typedef struct ionfast_typed_frame {
    const ionfast_plan_node *node;    /* borrowed: what the container is read as */
    const ionfast_plan_node *convert; /* borrowed: a CONVERT for the finished value, or NULL */
    PyObject *annotations;            /* owned tuple, or NULL; ANY only */
    size_t start;                     /* index of its first value */
    uint64_t offset;                  /* of the container */
    uint32_t slot;                    /* record: of the field in hand; UINT32_MAX: none */
    uint8_t kind;                     /* ionf_kind of the container */
} ionfast_typed_frame;

typedef struct ionfast_typed_stack {
    PyObject **values; /* owned array of owned references; NULL in slots of records */
    size_t value_count, value_cap;
    ionfast_typed_frame *frames; /* owned */
    size_t frame_count, frame_cap;
    bool forbid_unknown;
    bool can_learn; /* the plan's turn is this reading's; always with a GIL */
} ionfast_typed_stack;

/* "decimal" and so on. */
const char *ionfast_typed_kind_name(unsigned kind);
/* What a token is, for messages: "decimal", "null.string", "cm::int". New reference. */
PyObject *ionfast_typed_found(ionfast_decoder *dec, const ionf_token *t);

/* ValidationError for the value in hand; steals both texts, either may be NULL with an exception set.
 * Always gives NULL. */
PyObject *ionfast_typed_fail(ionfast_decoder *dec, uint64_t offset, PyObject *expected,
                             PyObject *found);
/* The same for the innermost container as a whole. */
PyObject *ionfast_typed_fail_inside(ionfast_decoder *dec, uint64_t offset, PyObject *expected,
                                    PyObject *found);
/* Add to the exception that foreign code raised where it was called for: the innermost container. */
void ionfast_typed_note(ionfast_decoder *dec, uint64_t offset);
/* A conversion raised. Of Python's own classes a ValueError means that the text is no such value; what
 * a user's function raises comes through with a note. */
void ionfast_typed_convert_failed(ionfast_decoder *dec, const ionfast_plan_node *convert,
                                  PyObject *value, uint64_t offset);

#endif
