/* Long lists, so that the value stack does not hold a second copy of them: when it is full, the items of
 * a list that has many move to a list object, and one slot stands for them.
 *
 *   values  [item][item] ... [item] | [key][value]      the outer list is long, a struct in it is open
 *           [spill]                 | [key][value]
 *
 * Only plain lists: others want their items together when they end. The list object stays hidden from
 * the collector until it is complete.
 */
#include "py_decoder.h"

#define SPILL_MIN 32768 /* items: a quarter of a megabyte */

#if IONFAST_HAS_GIL

static bool
is_plain_list(const ionfast_decoder *dec, const ionfast_build_frame *frame)
{
    return dec->model != IONFAST_MODEL_IONPY && frame->annotations == NULL &&
           frame->kind == IONF_KIND_LIST;
}

/* The items from `start` to `end` into the list that stands at `start`, or a new one. Gives how many slots
 * fewer are in use then; 0 with MemoryError. */
static size_t
spill(ionfast_decoder *dec, size_t start, size_t end)
{
    PyObject **const values = dec->values;
    const bool is_first = !ionfast_slot_is_spill(values[start]);
    PyObject *list = is_first ? PyList_New(0) : ionfast_slot_object(values[start]);
    if (list == NULL) {
        return 0;
    }
    const size_t begin = start + !is_first;
    if (is_first) {
        PyObject_GC_UnTrack(list);
    }
    if (ionfast_list_extend(list, values + begin, end - begin) < 0) {
        if (is_first) {
            Py_DECREF(list);
        }
        return 0;
    }
    values[start] = ionfast_slot_spill(list);
    memmove(values + start + 1, values + end, (dec->value_count - end) * sizeof *values);
    return end - start - 1;
}

int
ionfast_decoder_make_room(ionfast_decoder *dec)
{
    for (size_t i = 0; i < dec->frame_count && dec->value_count >= SPILL_MIN; i++) {
        const size_t start = dec->frames[i].start;
        const size_t end = i + 1 < dec->frame_count ? dec->frames[i + 1].start : dec->value_count;
        if (end - start < SPILL_MIN / 2 || !is_plain_list(dec, &dec->frames[i])) {
            continue;
        }
        const size_t fewer = spill(dec, start, end);
        if (fewer == 0) {
            return -1;
        }
        dec->value_count -= fewer;
        for (size_t inner = i + 1; inner < dec->frame_count; inner++) {
            dec->frames[inner].start -= fewer;
        }
    }
    return dec->value_cap - dec->value_count < 2 ? ionfast_decoder_grow_values(dec) : 0;
}

PyObject *
ionfast_spill_close(ionfast_decoder *dec, size_t start)
{
    PyObject *list = ionfast_slot_object(dec->values[start]);
    if (ionfast_list_extend(list, dec->values + start + 1, dec->value_count - start - 1) < 0) {
        return NULL;
    }
    ionfast_list_trim(list);
    PyObject_GC_Track(list);
    dec->value_count = start;
    return list;
}

#else

int
ionfast_decoder_make_room(ionfast_decoder *dec)
{
    return ionfast_decoder_grow_values(dec);
}

PyObject *
ionfast_spill_close(ionfast_decoder *dec, size_t start)
{
    (void)start;
    return PyErr_Format(PyExc_SystemError, "no list of %zu values was moved", dec->value_count);
}

#endif
