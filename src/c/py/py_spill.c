/* Long lists and structs, so that the value stack does not hold a second copy of them: when it is full,
 * the items of a list that has many move to a list object, the fields of a struct to a dict, and one slot
 * stands for them.
 *
 *   values  [item][item] ... [item] | [key][value]      the outer list is long, a struct in it is open
 *           [spill]                 | [key][value]
 *
 * Only plain lists and dicts: others want all of their children together when they end. So does a struct
 * in which a name comes again, for it becomes an IonPyDict: its dict is taken apart. The objects stay
 * hidden from the collector until they are complete.
 */
#include "py_build.h"

/* Slots from which on a list moves: a quarter of a megabyte. A test build wants fewer. */
#ifndef IONFAST_SPILL_MIN
#define IONFAST_SPILL_MIN 32768
#endif
/* The same for a struct, of 43,691 fields: CPython makes no dict of a greater size at once, so that one made
 * now grows no more often than one made in the end. (With the 16,384 of a list, 50,000 fields took 15% more
 * time.) */
#define SPILL_MIN_STRUCT (IONFAST_SPILL_MIN * 8 / 3 + 1)

#if IONFAST_HAS_GIL

/* ---- the stack ---- */

/* What is on the stack from `from` on, with the frames inside the one of `index`, moves to `to`; there is
 * room. */
static void
move_slots(ionfast_decoder *dec, size_t index, size_t from, size_t to)
{
    memmove(dec->values + to, dec->values + from, (dec->value_count - from) * sizeof *dec->values);
    dec->value_count += to - from; /* either may be the greater */
    for (size_t inner = index + 1; inner < dec->frame_count; inner++) {
        dec->frames[inner].start += to - from;
    }
}

/* The children of the frame before `end` are in `object` now. */
static void
replace_by(ionfast_decoder *dec, size_t index, size_t end, PyObject *object)
{
    const size_t start = dec->frames[index].start;
    dec->values[start] = ionfast_slot_spill(object);
    move_slots(dec, index, end, start + 1);
}

/* The object that the children of the frame are in, borrowed; NULL: all of them are on the stack. */
static PyObject *
spilled(const ionfast_decoder *dec, const ionfast_build_frame *frame)
{
    PyObject *slot = dec->values[frame->start];
    return ionfast_slot_is_spill(slot) ? ionfast_slot_object(slot) : NULL;
}

/* ---- lists ---- */

static int
spill_list(ionfast_decoder *dec, size_t index, size_t end)
{
    const size_t start = dec->frames[index].start;
    PyObject *known = spilled(dec, &dec->frames[index]);
    PyObject *list = known != NULL ? known : PyList_New(0);
    if (list == NULL) {
        return -1;
    }
    const size_t begin = start + (known != NULL);
    if (ionfast_list_extend(list, dec->values + begin, end - begin) < 0) {
        if (known == NULL) {
            Py_DECREF(list);
        }
        return -1;
    }
    if (known == NULL) {
        PyObject_GC_UnTrack(list);
    }
    replace_by(dec, index, end, list);
    return 0;
}

static PyObject *
close_list(ionfast_decoder *dec, size_t start, PyObject *list)
{
    if (ionfast_list_extend(list, dec->values + start + 1, dec->value_count - start - 1) < 0) {
        return NULL;
    }
    ionfast_list_trim(list);
    PyObject_GC_Track(list);
    dec->value_count = start;
    return list;
}

/* ---- structs ---- */

/* The pairs go into `dict` too. 1 where each name was new, or need not be; 0 where a name came again: the
 * values that the dict had are as they were; -1 with an exception. */
static int
share_pairs(ionfast_decoder *dec, PyObject *const *pairs, size_t count, PyObject *dict)
{
    const bool is_last_kept = dec->model == IONFAST_MODEL_PLAIN;
    int result = 1;
    for (size_t i = 0; result == 1 && i < 2 * count; i += 2) {
        PyObject *key = ionfast_slot_object(pairs[i]);
        if (is_last_kept) {
            result = ionfast_dict_set(dict, key, pairs[i + 1]) < 0 ? -1 : 1;
        } else {
            result = ionfast_dict_add(dict, key, pairs[i + 1]);
        }
    }
    PyObject_GC_UnTrack(dict); /* a container that it was given has shown it to the collector */
    return result;
}

static void
drop_pairs(PyObject *const *pairs, size_t count)
{
    for (size_t i = 0; i < 2 * count; i++) {
        ionfast_slot_drop(pairs[i]);
    }
}

/* The first `count` pairs of the struct's dict back onto the stack, and no dict for it until it ends. */
static int
take_apart(ionfast_decoder *dec, size_t index, size_t count)
{
    ionfast_build_frame *const frame = &dec->frames[index];
    if (ionfast_decoder_reserve_values(dec, 2 * count) < 0) {
        return -1;
    }
    PyObject *dict = spilled(dec, frame);
    move_slots(dec, index, frame->start + 1, frame->start + 2 * count);
    PyObject **pairs = dec->values + frame->start;
    Py_ssize_t position = 0;
    for (size_t i = 0; i < count; i++) {
        PyObject *key = Py_None;
        PyObject *value = Py_None;
        (void)PyDict_Next(dict, &position, &key, &value);
        *pairs++ = Py_NewRef(key);
        *pairs++ = Py_NewRef(value);
    }
    frame->has_repeats = true;
    Py_DECREF(dict);
    return 0;
}

static int
spill_struct(ionfast_decoder *dec, size_t index, size_t end)
{
    ionfast_build_frame *const frame = &dec->frames[index];
    PyObject *known = spilled(dec, frame);
    const size_t begin = frame->start + (known != NULL);
    const size_t count = (end - begin) / 2; /* the name of an open value stays */
    PyObject *dict = known != NULL ? known : ionfast_dict_new(count);
    if (dict == NULL) {
        return -1;
    }
    const size_t before = (size_t)PyDict_GET_SIZE(dict);
    const int result = share_pairs(dec, dec->values + begin, count, dict);
    if (result > 0) {
        drop_pairs(dec->values + begin, count);
        replace_by(dec, index, begin + 2 * count, dict);
        return 0;
    }
    if (known != NULL) {
        return result < 0 ? -1 : take_apart(dec, index, before);
    }
    Py_DECREF(dict);
    frame->has_repeats = true;
    return result;
}

static PyObject *
close_struct(ionfast_decoder *dec, size_t start, PyObject *dict)
{
    const size_t before = (size_t)PyDict_GET_SIZE(dict);
    PyObject *const *pairs = dec->values + start + 1;
    const size_t count = (dec->value_count - start - 1) / 2;
    const int result = share_pairs(dec, pairs, count, dict);
    if (result < 0 || (result == 0 && take_apart(dec, dec->frame_count - 1, before) < 0)) {
        return NULL;
    }
    if (result == 0) {
        return ionfast_close_new_struct(dec, start);
    }
    drop_pairs(pairs, count);
    dec->value_count = start;
    PyObject_GC_Track(dict);
    return dict;
}

/* ---- both ---- */

static bool
is_plain(const ionfast_decoder *dec, const ionfast_build_frame *frame)
{
    return dec->model != IONFAST_MODEL_IONPY && frame->annotations == NULL &&
           frame->kind != IONF_KIND_SEXP && !frame->has_repeats;
}

/* The children of the frame that stand before `end` move, where they are many and may. */
static int
spill(ionfast_decoder *dec, size_t index, size_t end)
{
    const ionfast_build_frame *const frame = &dec->frames[index];
    const bool is_struct = frame->kind == IONF_KIND_STRUCT;
    const size_t enough = is_struct ? SPILL_MIN_STRUCT : IONFAST_SPILL_MIN / 2;
    if (end - frame->start < enough || !is_plain(dec, frame)) {
        return 0;
    }
    return is_struct ? spill_struct(dec, index, end) : spill_list(dec, index, end);
}

int
ionfast_decoder_make_room(ionfast_decoder *dec)
{
    for (size_t i = 0; i < dec->frame_count && dec->value_count >= IONFAST_SPILL_MIN; i++) {
        const size_t end = i + 1 < dec->frame_count ? dec->frames[i + 1].start : dec->value_count;
        if (spill(dec, i, end) < 0) {
            return -1;
        }
    }
    return dec->value_cap - dec->value_count < 2 ? ionfast_decoder_reserve_values(dec, 64) : 0;
}

PyObject *
ionfast_spill_close(ionfast_decoder *dec, size_t start)
{
    PyObject *object = ionfast_slot_object(dec->values[start]);
    return PyList_CheckExact(object) ? close_list(dec, start, object)
                                     : close_struct(dec, start, object);
}

#else

int
ionfast_decoder_make_room(ionfast_decoder *dec)
{
    return ionfast_decoder_reserve_values(dec, 64);
}

PyObject *
ionfast_spill_close(ionfast_decoder *dec, size_t start)
{
    (void)start;
    return PyErr_Format(PyExc_SystemError, "none of %zu values was moved", dec->value_count);
}

#endif
