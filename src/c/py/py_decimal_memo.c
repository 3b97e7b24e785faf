/* The life of a memo of Decimals, and what is not in it. */
#include "py_decimal_memo.h"

ionfast_decimal_memo *
ionfast_decimal_memo_new(const ionf_alloc *alloc)
{
    ionfast_decimal_memo *memo = ionf_alloc_new(alloc, sizeof *memo);
    if (memo != NULL) {
        memset(memo, 0, sizeof *memo);
        memo->points = IONFAST_DECIMAL_POINTS;
    }
    return memo;
}

void
ionfast_decimal_memo_destroy(ionfast_decimal_memo *memo, const ionf_alloc *alloc)
{
    if (memo == NULL) {
        return;
    }
    for (size_t i = 0; i < IONFAST_DECIMAL_SLOTS; i++) {
        Py_CLEAR(memo->entries[i].object);
    }
    ionf_alloc_free(alloc, memo, sizeof *memo);
}

PyObject *
ionfast_decimal_missed(ionfast_state *state, ionfast_decimal_memo *memo,
                       ionfast_decimal_entry *entry, const ionf_decimal *decimal)
{
    memo->points--;
    PyObject *object = ionfast_decimal_from(state, decimal, (PyTypeObject *)state->Decimal);
    uint64_t key;
    (void)ionfast_decimal_key(decimal, &key);
    if (entry->missed != key) {
        entry->missed = key;
    } else if (object != NULL) {
        entry->key = key;
        Py_XSETREF(entry->object, Py_NewRef(object));
    }
    return object;
}
