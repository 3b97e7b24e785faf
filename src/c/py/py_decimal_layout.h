/* How the interpreter's Decimal lies in memory, for coefficients of one machine word.
 *
 * Decimal has no C API, and to print and parse text for each costs ten times as much as all that there
 * is to store. So the places of its fields are known here. Nothing promises them: at start
 * ionfast_decimal_layout_check() compares them with Decimals made the official way, and unless all agree
 * - another version, the implementation in Python, 32 bits - text it is.
 */
#ifndef PY_DECIMAL_LAYOUT_H
#define PY_DECIMAL_LAYOUT_H

#include "py_state.h"

/* A word holds 19 digits. */
#define IONFAST_DECIMAL_WORD 10000000000000000000u

enum {
    IONFAST_DECIMAL_NEGATIVE = 1,
    IONFAST_DECIMAL_SPECIAL = 2 | 4 | 8, /* infinity, NaN, signalling NaN */
    IONFAST_DECIMAL_INLINE = 16 | 32     /* the number and its words are parts of the object */
};

typedef struct ionfast_decimal_object {
    PyObject_HEAD Py_hash_t hash; /* -1: not computed yet */
    uint8_t flags;
    Py_ssize_t exponent, digits, word_count, word_cap;
    uint64_t *words; /* the lowest first */
    uint64_t inline_words[4];
} ionfast_decimal_object;

/* Is that how `state->Decimal` is made? False also where it could not be found out. */
bool ionfast_decimal_layout_check(ionfast_state *state);

/* A Decimal, or an object of a subclass of it, `cls`; `coefficient` is below IONFAST_DECIMAL_WORD. New
 * reference, or NULL with MemoryError. */
PyObject *ionfast_decimal_make(PyTypeObject *cls, uint64_t coefficient, bool is_negative,
                               Py_ssize_t exponent);

/* A finite Decimal of one word? Then its parts. */
static inline bool
ionfast_decimal_parts(PyObject *value, uint64_t *coefficient, bool *is_negative, int64_t *exponent)
{
    const ionfast_decimal_object *decimal = (const ionfast_decimal_object *)value;
    if ((decimal->flags & IONFAST_DECIMAL_SPECIAL) != 0 || decimal->word_count != 1) {
        return false;
    }
    *coefficient = decimal->words[0];
    *is_negative = (decimal->flags & IONFAST_DECIMAL_NEGATIVE) != 0;
    *exponent = decimal->exponent;
    return true;
}

#endif
