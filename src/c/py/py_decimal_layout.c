/* Decimals put together, and the proof that it can be done. */
#include "py_decimal_layout.h"

#include "ionf_num.h"

/* By the bits, 1233 / 4096 of a digit each, which gives the count or one less. 0 has a digit as 1 has. */
static inline Py_ssize_t
count_digits(uint64_t value)
{
    const uint64_t some = value | 1;
    const unsigned bits = 64 - (unsigned)ionf_clz64(some);
    const unsigned count = bits * 1233 >> 12;
    return (Py_ssize_t)count + (some >= ionf_num_powers_of_ten[count]);
}

/* All that counts is stored by ionfast_decimal_make, so that nothing need be cleared. Where Decimals belong
 * to the collector, from 3.13 on, these stay unknown to it: they refer to nothing but their class. Not those
 * of a subclass with a `__dict__`, which from 3.12 on takes no room within them. */
static inline PyObject *
allocate(PyTypeObject *cls)
{
#if IONFAST_CAN_MAKE_OBJECTS
    if (IONF_LIKELY(cls->tp_basicsize == (Py_ssize_t)sizeof(ionfast_decimal_object) &&
                    cls->tp_dictoffset == 0 && cls->tp_weaklistoffset == 0)) {
        if (PyType_IS_GC(cls)) {
            return (PyObject *)PyObject_GC_New(ionfast_decimal_object, cls);
        }
        PyObject *object = PyObject_Malloc(sizeof(ionfast_decimal_object));
        return object == NULL ? PyErr_NoMemory() : PyObject_Init(object, cls);
    }
#endif
    return cls->tp_alloc(cls, 0);
}

PyObject *
ionfast_decimal_make(PyTypeObject *cls, uint64_t coefficient, bool is_negative,
                     Py_ssize_t exponent)
{
    ionfast_decimal_object *decimal = (ionfast_decimal_object *)allocate(cls);
    if (IONF_UNLIKELY(decimal == NULL)) {
        return NULL;
    }
    decimal->hash = -1;
    decimal->flags =
        (uint8_t)(IONFAST_DECIMAL_INLINE | (is_negative ? IONFAST_DECIMAL_NEGATIVE : 0));
    decimal->exponent = exponent;
    decimal->digits = count_digits(coefficient);
    decimal->word_count = 1;
    decimal->word_cap = 4;
    decimal->words = decimal->inline_words;
    decimal->inline_words[0] = coefficient;
    return (PyObject *)decimal;
}

/* A Decimal made from `text`, which is one word: is it, field by field, what we would have made? */
static bool
is_as_made(ionfast_state *state, const char *text, uint64_t coefficient, bool is_negative,
           Py_ssize_t exponent)
{
    ionfast_decimal_object *theirs =
        (ionfast_decimal_object *)PyObject_CallFunction(state->Decimal, "s", text);
    ionfast_decimal_object *ours = (ionfast_decimal_object *)ionfast_decimal_make(
        (PyTypeObject *)state->Decimal, coefficient, is_negative, exponent);
    const bool is_same =
        theirs != NULL && ours != NULL && theirs->hash == ours->hash &&
        theirs->flags == ours->flags && theirs->exponent == ours->exponent &&
        theirs->digits == ours->digits && theirs->word_count == ours->word_count &&
        theirs->word_cap == ours->word_cap && theirs->words == theirs->inline_words &&
        theirs->words[0] == ours->words[0];
    Py_XDECREF(theirs);
    Py_XDECREF(ours);
    return is_same;
}

/* Twenty digits are two words, an infinity is flagged. */
static bool
is_told_apart(ionfast_state *state, const char *text)
{
    PyObject *value = PyObject_CallFunction(state->Decimal, "s", text);
    uint64_t coefficient;
    int64_t exponent;
    bool is_negative;
    const bool is_word =
        value == NULL || ionfast_decimal_parts(value, &coefficient, &is_negative, &exponent);
    Py_XDECREF(value);
    return !is_word;
}

bool
ionfast_decimal_layout_check(ionfast_state *state)
{
    const PyTypeObject *type = (PyTypeObject *)state->Decimal;
    if (!PyType_Check(state->Decimal) || type->tp_itemsize != 0 ||
        type->tp_basicsize != (Py_ssize_t)sizeof(ionfast_decimal_object)) {
        return false;
    }
    const bool is_known =
        is_as_made(state, "0", 0, false, 0) && is_as_made(state, "-0E+3", 0, true, 3) &&
        is_as_made(state, "-12.345", 12345, true, -3) && is_as_made(state, "10", 10, false, 0) &&
        is_as_made(state, "9999999999999999999", 9999999999999999999u, false, 0) &&
        is_told_apart(state, "10000000000000000000") && is_told_apart(state, "Infinity") &&
        is_told_apart(state, "NaN") && is_told_apart(state, "sNaN");
    PyErr_Clear(); /* no memory: then it is not known */
    return is_known;
}
