/* Decimals that come again and again - quantities, round prices - and share one object, as ints do
 * (py_memo.h). More is saved, since a Decimal takes 45 ns to make and drop, and 80 from 3.13 on, where it
 * has the collector's header: so it is worth it in short inputs too, and the decoder remembers from one to
 * the next. DynamoDB lines, in each three quantities of 1 to 5: see docs/performance.md.
 *
 * Only Decimals of few digits: others hardly repeat. Two with different exponents or signs are two, however
 * equal. One is kept when it is met at its slot and was the one that missed there last, so that what comes
 * once takes nothing away. Where little repeats the points run out, and nothing is looked up for a while.
 */
#ifndef PY_DECIMAL_MEMO_H
#define PY_DECIMAL_MEMO_H

#include "py_conv.h"

#define IONFAST_DECIMAL_SLOTS 256
#define IONFAST_DECIMAL_POINTS 256  /* at the start: a miss costs one */
#define IONFAST_DECIMAL_GAIN 8      /* points for a hit */
#define IONFAST_DECIMAL_PAUSE 16384 /* decimals that go by when there are none left */

typedef struct ionfast_decimal_entry {
    uint64_t key, missed; /* what key_of() gave: of `object`, of the last one that was not it */
    PyObject *object;     /* owned, or NULL */
} ionfast_decimal_entry;

typedef struct ionfast_decimal_memo {
    int32_t points; /* below 1: there are none, and so many have gone by since */
    ionfast_decimal_entry entries[IONFAST_DECIMAL_SLOTS];
} ionfast_decimal_memo;

/* Its number in 64 bits; false where that would not be the only one with these. */
static inline bool
ionfast_decimal_key(const ionf_decimal *decimal, uint64_t *key)
{
    const ionf_integer *const coefficient = &decimal->coefficient;
    const uint64_t exponent = (uint64_t)decimal->exponent + 64;
    *key = coefficient->u64 << 8 | exponent << 1 | coefficient->is_negative;
    return coefficient->form == IONF_INT_U64 && coefficient->u64 <= UINT32_MAX && exponent < 128;
}

/* NULL: no memory. */
ionfast_decimal_memo *ionfast_decimal_memo_new(const ionf_alloc *alloc);
void ionfast_decimal_memo_destroy(ionfast_decimal_memo *memo, const ionf_alloc *alloc);
/* Another one than at `entry`. */
PyObject *ionfast_decimal_missed(ionfast_state *state, ionfast_decimal_memo *memo,
                                 ionfast_decimal_entry *entry, const ionf_decimal *decimal);

/* A Decimal: new reference, or NULL as ionfast_decimal_from() does. */
static inline PyObject *
ionfast_decimal_shared(ionfast_state *state, ionfast_decimal_memo *memo,
                       const ionf_decimal *decimal)
{
    if (memo->points < 1) {
        memo->points =
            memo->points > -IONFAST_DECIMAL_PAUSE ? memo->points - 1 : IONFAST_DECIMAL_POINTS;
        return ionfast_decimal_from(state, decimal, (PyTypeObject *)state->Decimal);
    }
    uint64_t key;
    if (!ionfast_decimal_key(decimal, &key)) {
        memo->points--;
        return ionfast_decimal_from(state, decimal, (PyTypeObject *)state->Decimal);
    }
    const size_t slot = (size_t)(key * 0x9E3779B97F4A7C15u >> 56) % IONFAST_DECIMAL_SLOTS;
    ionfast_decimal_entry *const entry = &memo->entries[slot];
    if (entry->key != key || entry->object == NULL) {
        return ionfast_decimal_missed(state, memo, entry, decimal);
    }
    if (memo->points < IONFAST_DECIMAL_POINTS) {
        memo->points += IONFAST_DECIMAL_GAIN;
    }
    return Py_NewRef(entry->object);
}

#endif
