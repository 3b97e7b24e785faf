/* The life of a memo. */
#include "py_memo.h"

ionfast_memo *
ionfast_memo_new(const ionf_alloc *alloc)
{
    ionfast_memo *memo = ionf_alloc_new(alloc, sizeof *memo);
    if (memo != NULL) {
        memset(memo, 0, sizeof *memo);
    }
    return memo;
}

void
ionfast_memo_destroy(ionfast_memo *memo, const ionf_alloc *alloc)
{
    if (memo == NULL) {
        return;
    }
    for (size_t i = 0; i < IONFAST_MEMO_SLOTS; i++) {
        Py_CLEAR(memo->entries[i].object);
    }
    ionf_alloc_free(alloc, memo, sizeof *memo);
}
