/* Tokens -> Python objects: the inner loop of every way of reading, written once and compiled for the
 * binary and for the text reader.
 *
 * The common case (an unannotated, non-null value in the lossless or plain model) is inline; all else
 * goes to py_values.c. The loop keeps its state in the decoder, so it can stop at any token for more
 * input and go on later.
 */
#ifndef PY_BUILD_H
#define PY_BUILD_H

#include "ionf_utf8.h"
#include "py_compat.h"
#include "py_conv.h"
#include "py_decoder.h"
#include "py_values.h"

/* A string or lob of so many bytes looks at signals before it is copied. */
#define IONFAST_LONG_TEXT 65536

typedef enum ionfast_build_result {
    IONFAST_BUILD_ERROR = -1, /* an exception is set; half-built values are still on the stack */
    IONFAST_BUILD_EOF = 0,
    IONFAST_BUILD_VALUE = 1,
    IONFAST_BUILD_NEED_DATA = 2
} ionfast_build_result;

/* ---- strings and symbols ---- */

/* A str of valid UTF-8. */
static inline PyObject *
ionfast_str_from_utf8(const uint8_t *text, size_t len, bool is_ascii)
{
    if (IONF_UNLIKELY(!is_ascii)) {
        return ionfast_str_from_wide(text, len);
    }
    if (IONF_UNLIKELY(len - 2 >= IONFAST_LONG_TEXT - 2)) { /* one comparison for both ends */
        if (len <= 1) { /* shared by the interpreter: the empty and one-character strs */
            return len == 0 ? PyUnicode_New(0, 0) : PyUnicode_FromOrdinal(text[0]);
        }
        return ionfast_str_from_long_ascii(text, len);
    }
    return ionfast_ascii_new(text, len);
}

/* The str of a SID in the cache, borrowed, or NULL; the cache is current. */
static inline PyObject *
ionfast_sid_cached(const ionfast_decoder *dec, const ionf_symtab *tab, uint64_t sid)
{
    uint64_t slot = sid;
    if (IONF_LIKELY(sid >= tab->local_first)) {
        slot = sid - tab->local_first + IONF_SYSTEM_MAX_ID + 1;
    } else if (sid > IONF_SYSTEM_MAX_ID) {
        return NULL; /* imported */
    }
    return IONF_LIKELY(slot < dec->sid_cap) ? dec->sid_strs[slot] : NULL;
}

/* The str of a SID, or a SymbolToken where its text is unknown; new reference. */
static inline PyObject *
ionfast_sid_str(ionfast_decoder *dec, const ionf_symtab *tab, uint64_t sid)
{
    if (IONF_LIKELY(ionfast_sid_cache_is_current(dec, tab))) {
        PyObject *str = ionfast_sid_cached(dec, tab, sid);
        if (IONF_LIKELY(str != NULL)) {
            return Py_NewRef(str);
        }
    }
    return ionfast_sid_str_slow(dec, sid);
}

/* The same for a field name, as a slot of `values`. */
static inline PyObject *
ionfast_sid_key(ionfast_decoder *dec, const ionf_symtab *tab, uint64_t sid)
{
    PyObject *str = ionfast_sid_cached(dec, tab, sid);
    return IONF_LIKELY(str != NULL) ? ionfast_slot_borrow(str) : ionfast_sid_str_slow(dec, sid);
}

/* Are two names of `len` bytes, at least 1, the same? Most are short, and a call costs as much. */
static inline bool
ionfast_same_name(const uint8_t *a, const uint8_t *b, size_t len)
{
    if (len > 16) {
        return memcmp(a, b, len) == 0;
    }
    if (len >= 8) {
        return ionf_load64_native(a) == ionf_load64_native(b) &&
               ionf_load64_native(a + len - 8) == ionf_load64_native(b + len - 8);
    }
    if (len >= 4) {
        uint32_t words[4];
        memcpy(&words[0], a, 4);
        memcpy(&words[1], b, 4);
        memcpy(&words[2], a + len - 4, 4);
        memcpy(&words[3], b + len - 4, 4);
        return words[0] == words[1] && words[2] == words[3];
    }
    return a[0] == b[0] && a[len / 2] == b[len / 2] && a[len - 1] == b[len - 1];
}

/* The first and the last 8 bytes of a name of at least one; all of a shorter one, without a call. */
static inline void
ionfast_name_ends(const uint8_t *text, size_t len, uint64_t *head, uint64_t *tail)
{
    if (len >= 8) {
        *head = ionf_load64_native(text);
        *tail = ionf_load64_native(text + len - 8);
        return;
    }
    *tail = 0;
    if (len >= 4) {
        uint32_t words[2];
        memcpy(&words[0], text, 4);
        memcpy(&words[1], text + len - 4, 4);
        *head = words[0] | (uint64_t)words[1] << 32;
        return;
    }
    *head = text[0] | (uint64_t)text[len / 2] << 8 | (uint64_t)text[len - 1] << 16;
}

/* May a text name be in the cache? */
static inline bool
ionfast_key_fits(const ionf_symref *name)
{
    return name->is_ascii && name->len - 1 < IONFAST_KEY_MAX_LEN;
}

static inline size_t
ionfast_key_slot(const ionf_symref *name)
{
    uint64_t head, tail; /* first and last bytes: enough to tell field names apart */
    ionfast_name_ends(name->text, name->len, &head, &tail);
    const uint64_t mixed = (head ^ (tail * 0x9E3779B97F4A7C15u) ^ name->len) * 0xD6E8FEB86659FD93u;
    return (size_t)(mixed >> 54) % IONFAST_KEY_SLOTS;
}

/* The str of a name that fits, from the cache of those seen before, as a slot of `values`. */
static inline PyObject *
ionfast_key_at(ionfast_decoder *dec, const ionf_symref *name, size_t slot)
{
    const size_t len = name->len;
    PyObject *str = dec->keys[slot];
    if (IONF_LIKELY(str != NULL && (size_t)PyUnicode_GET_LENGTH(str) == len &&
                    ionfast_same_name(PyUnicode_1BYTE_DATA(str), name->text, len))) {
        return ionfast_slot_borrow(str);
    }
    return ionfast_key_slow(dec, name->text, len, slot);
}

static inline PyObject *
ionfast_key_str(ionfast_decoder *dec, const ionf_symref *name)
{
    if (IONF_UNLIKELY(!ionfast_key_fits(name))) {
        return ionfast_str_from_utf8(name->text, name->len, name->is_ascii);
    }
    return ionfast_key_at(dec, name, ionfast_key_slot(name));
}

/* The name at `slot` has come; guess what comes next. */
static inline void
ionfast_guess_next(ionfast_decoder *dec, size_t slot)
{
    ionfast_key_order *const order = dec->order;
    order->before = (uint16_t)((order->last * 5u ^ slot) % IONFAST_KEY_SLOTS);
    order->last = (uint16_t)slot;
    order->guessed = order->followers[order->before] % IONFAST_KEY_SLOTS;
    dec->txt.guess = &order->guesses[order->guessed];
}

/* A text field name, as a slot of `values`. */
static inline PyObject *
ionfast_field_key(ionfast_decoder *dec, const ionf_symref *name)
{
    uint16_t *const follower = &dec->order->followers[dec->order->before];
    size_t slot = dec->order->guessed;
    PyObject *key;
    if (IONF_LIKELY(dec->txt.is_guessed)) {
        key = ionfast_slot_borrow(dec->keys[slot]);
        *follower = (uint16_t)(slot | IONFAST_FOLLOWS_AGAIN);
    } else if (IONF_UNLIKELY(!ionfast_key_fits(name))) {
        return ionfast_str_from_utf8(name->text, name->len, name->is_ascii);
    } else {
        slot = ionfast_key_slot(name);
        key = ionfast_key_at(dec, name, slot);
        *follower = (*follower & IONFAST_FOLLOWS_AGAIN) != 0
                        ? (uint16_t)(*follower & ~IONFAST_FOLLOWS_AGAIN)
                        : (uint16_t)slot;
    }
    ionfast_guess_next(dec, slot);
    return key;
}

/* A symbol reference of either encoding as str, or SymbolToken where its text is unknown. */
static inline PyObject *
ionfast_symref_str(ionfast_decoder *dec, const ionf_symref *ref)
{
    if (ref->text != NULL) {
        PyObject *slot = ionfast_key_str(dec, ref);
        return ionfast_slot_is_borrowed(slot) ? Py_NewRef(ionfast_slot_object(slot)) : slot;
    }
    return ionfast_sid_str(dec, &ionfast_decoder_base(dec)->symtab, ref->sid);
}

/* ---- scalars ---- */

static inline PyObject *
ionfast_small_int(ionfast_decoder *dec, const ionf_integer *integer)
{
    if (IONF_LIKELY(integer->form == IONF_INT_U64 && integer->u64 <= INT64_MAX)) {
        const int64_t value =
            integer->is_negative ? -(int64_t)integer->u64 : (int64_t)integer->u64;
        if (integer->u64 > 256 && dec->has_memo && dec->memo->points > 0) {
            return ionfast_memo_int(dec->memo, value);
        }
        return PyLong_FromLongLong(value);
    }
    return ionfast_int_from(dec->state, integer);
}

/* An unannotated, non-null scalar in the lossless or plain model; `is_checked`: strings are UTF-8. */
IONF_FORCE_INLINE PyObject *
ionfast_build_scalar_as(ionfast_decoder *dec, const ionf_token *t, bool is_checked)
{
    switch (t->kind) {
    case IONF_KIND_STRING:
        if (!is_checked && IONF_UNLIKELY(!t->is_ascii)) {
            return ionfast_str_from_unchecked(dec, t);
        }
        return ionfast_str_from_utf8(t->as.bytes.data, t->as.bytes.len, t->is_ascii);
    case IONF_KIND_INT:
        return ionfast_small_int(dec, &t->as.integer);
    case IONF_KIND_FLOAT:
        return ionfast_float_new(t->as.f64);
    case IONF_KIND_BOOL:
        return Py_NewRef(t->as.boolean ? Py_True : Py_False);
    default:
        return ionfast_build_rare_scalar(dec, t);
    }
}

static inline PyObject *
ionfast_build_scalar(ionfast_decoder *dec, const ionf_token *t)
{
    return ionfast_build_scalar_as(dec, t, true);
}

/* ---- containers ---- */

static inline int
ionfast_push_frame(ionfast_decoder *dec, uint8_t kind, PyObject *annotations)
{
    if (dec->frame_count == 0 &&
        !ionfast_sid_cache_is_current(dec, &ionfast_decoder_base(dec)->symtab)) {
        ionfast_sid_cache_clear(dec);
    }
    if (IONF_UNLIKELY(dec->frame_count == dec->frame_cap) &&
        ionfast_decoder_grow_frames(dec) < 0) {
        Py_XDECREF(annotations);
        return -1;
    }
    const ionfast_build_frame frame = {dec->value_count, annotations, kind, false};
    dec->frames[dec->frame_count++] = frame;
    return 0;
}

/* The children of the innermost frame as a list; takes them off the stack. */
static inline PyObject *
ionfast_close_list(ionfast_decoder *dec, size_t start)
{
    if (start != dec->value_count && IONF_UNLIKELY(ionfast_slot_is_spill(dec->values[start]))) {
        return ionfast_spill_close(dec, start);
    }
    PyObject *list = ionfast_list_of(dec->values + start, dec->value_count - start);
    if (IONF_LIKELY(list != NULL)) {
        dec->value_count = start;
    }
    return list;
}

/* Put the key-value pairs from `start` into `dict` and take them off the stack; -1 leaves those not
 * yet put there. */
static inline int
ionfast_fill_dict(ionfast_decoder *dec, size_t start, PyObject *dict)
{
    const size_t end = dec->value_count;
    PyObject **const pairs = dec->values;
    for (size_t i = start; i < end; i += 2) {
        if (IONF_UNLIKELY(ionfast_dict_set(dict, ionfast_slot_object(pairs[i]), pairs[i + 1]) <
                          0)) {
            return -1;
        }
    }
    return 0;
}

/* The pairs from `start` as a dict made from nothing. */
static inline PyObject *
ionfast_close_new_struct(ionfast_decoder *dec, size_t start)
{
    const size_t count = (dec->value_count - start) / 2;
    PyObject *dict = ionfast_dict_new(count);
    if (IONF_UNLIKELY(dict == NULL)) {
        return NULL;
    }
    if (IONF_UNLIKELY(ionfast_fill_dict(dec, start, dict) < 0)) {
        Py_DECREF(dict);
        return NULL;
    }
    if (IONF_UNLIKELY((size_t)PyDict_GET_SIZE(dict) != count) &&
        dec->model != IONFAST_MODEL_PLAIN) {
        Py_SETREF(dict, ionfast_close_repeats(dec, start));
        if (dict == NULL) {
            return NULL;
        }
    }
    PyObject **const values = dec->values;
    for (size_t i = dec->value_count; i > start; i--) {
        ionfast_slot_drop(values[i - 1]);
    }
    dec->value_count = start;
    return dict;
}

/* Where a shape would be: by its count and three of its keys. */
static inline size_t
ionfast_shape_slot(PyObject *const *pairs, size_t count)
{
    const uint64_t first = (uintptr_t)pairs[0];
    const uint64_t middle = (uintptr_t)pairs[count & ~(size_t)1];
    const uint64_t last = (uintptr_t)pairs[2 * count - 2];
    const uint64_t mixed =
        ((first ^ count) * 0x9E3779B97F4A7C15u) ^ (middle * 0xD6E8FEB86659FD93u) ^ last;
    return (size_t)((mixed * 0x9E3779B97F4A7C15u) >> 56) % IONFAST_SHAPE_SLOTS;
}

/* Has `dict` these keys, all of them borrowed? */
static inline bool
ionfast_shape_fits(PyObject *dict, PyObject *const *pairs, size_t count)
{
    if (dict == NULL || (size_t)PyDict_GET_SIZE(dict) != count) {
        return false;
    }
    PyObject *const *entries = ionfast_dict_entries(dict);
    for (size_t i = 0; i < 2 * count; i += 2) {
        if (IONF_UNLIKELY(ionfast_slot_borrow(entries[i]) != pairs[i])) {
            return false;
        }
    }
    return true;
}

/* A copy of `shape`, which fits, with the values of the pairs, which it takes over. */
static inline PyObject *
ionfast_shape_build(PyObject *shape, PyObject *const *pairs, size_t count)
{
    PyObject *dict = PyDict_Copy(shape);
    if (IONF_UNLIKELY(dict == NULL)) {
        return NULL;
    }
    PyObject **const entries = ionfast_dict_entries(dict);
    bool has_collectable = false;
    for (size_t i = 0; i < 2 * count; i += 2) {
        has_collectable |= PyType_IS_GC(Py_TYPE(pairs[i + 1]));
        entries[i + 1] = pairs[i + 1];
    }
    ionfast_none_drop(count);
    if (has_collectable) {
        ionfast_dict_track(dict);
    }
    return dict;
}

static inline PyObject *
ionfast_close_struct(ionfast_decoder *dec, size_t start)
{
    const size_t slots = dec->value_count - start;
    if (IONF_UNLIKELY(slots % 2 != 0)) { /* one that stands for many */
        return ionfast_spill_close(dec, start);
    }
    const size_t count = slots / 2;
    if (IONF_UNLIKELY(count - 1 >= IONFAST_SHAPE_MAX_KEYS)) {
        return ionfast_close_new_struct(dec, start);
    }
    PyObject *const *pairs = dec->values + start;
    const size_t slot = ionfast_shape_slot(pairs, count);
    PyObject *shape = dec->shapes[slot].dict;
    if (IONF_UNLIKELY(!ionfast_shape_fits(shape, pairs, count))) {
        shape = dec->shapes[slot ^ 1].dict;
        if (!ionfast_shape_fits(shape, pairs, count)) {
            ionfast_shape_learn(dec, pairs, count, slot);
            return ionfast_close_new_struct(dec, start);
        }
    }
    PyObject *dict = ionfast_shape_build(shape, pairs, count);
    if (IONF_LIKELY(dict != NULL)) {
        dec->value_count = start;
    }
    return dict;
}

/* The innermost frame has ended: its value. On failure the frame stays, with what is left of its values,
 * to be dropped with the rest. */
static inline PyObject *
ionfast_close_frame(ionfast_decoder *dec)
{
    const ionfast_build_frame *frame = &dec->frames[dec->frame_count - 1];
    const bool is_plain = dec->model == IONFAST_MODEL_PLAIN ||
                          (dec->model == IONFAST_MODEL_LOSSLESS && frame->annotations == NULL &&
                           frame->kind != IONF_KIND_SEXP);
    PyObject *value = IONF_UNLIKELY(!is_plain)          ? ionfast_close_wrapped(dec, frame)
                      : frame->kind == IONF_KIND_STRUCT ? ionfast_close_struct(dec, frame->start)
                                                        : ionfast_close_list(dec, frame->start);
    if (IONF_LIKELY(value != NULL)) {
        dec->frame_count--;
        Py_XDECREF(frame->annotations);
    }
    return value;
}

/* ---- the loop ---- */

/* The next token of either reader; `is_binary` is a constant where this is inlined. */
IONF_FORCE_INLINE ionf_status
ionfast_next(ionfast_decoder *dec, bool is_binary, ionf_token *t)
{
    return is_binary ? ionf_bin_next(&dec->bin, t) : ionf_txt_next(&dec->txt, t);
}

/* The same; in binary, a string that is not ASCII is checked while it becomes a str. */
IONF_FORCE_INLINE ionf_status
ionfast_next_unchecked(ionfast_decoder *dec, bool is_binary, ionf_token *t)
{
    return is_binary ? ionf_bin_next_unchecked(&dec->bin, t) : ionf_txt_next(&dec->txt, t);
}

static inline bool
ionfast_is_unchecked(const ionf_token *t)
{
    return t->kind == IONF_KIND_STRING && !t->is_ascii && !t->is_null;
}

/* What to answer when next() gave no token. */
static inline ionfast_build_result
ionfast_build_stop(ionfast_decoder *dec, ionf_status status)
{
    if (status == IONF_NEED_DATA) {
        return IONFAST_BUILD_NEED_DATA;
    }
    ionfast_set_error(dec->state, &ionfast_decoder_base(dec)->error);
    return IONFAST_BUILD_ERROR;
}

/* Key of a value in a struct onto the stack; there is room. */
static inline int
ionfast_push_key(ionfast_decoder *dec, bool is_binary, const ionf_token *t)
{
    PyObject *key;
    if (is_binary) {
        key = ionfast_sid_key(dec, &dec->bin.base.symtab, t->field.sid);
    } else if (t->field.text != NULL) {
        key = ionfast_field_key(dec, &t->field);
    } else {
        key = ionfast_sid_key(dec, &dec->txt.base.symtab, t->field.sid);
    }
    if (IONF_UNLIKELY(key == NULL)) {
        return -1;
    }
    dec->values[dec->value_count++] = key;
    return 0;
}

static inline int
ionfast_check_signals(ionfast_decoder *dec)
{
    if (IONF_LIKELY(--dec->countdown != 0)) {
        return 0;
    }
    dec->countdown = IONFAST_SIGNAL_INTERVAL;
    return PyErr_CheckSignals();
}

/* ---- the plain values of binary, without a token ---- */

static inline PyObject *
ionfast_item_wide_str(ionfast_decoder *dec, const ionf_bin_item *item)
{
    ionf_token t;
    ionf_bin_token_begin(&t, IONF_KIND_STRING, ionf_reader_offset(&dec->bin.base, item->start),
                         item->len);
    t.as.bytes.data = item->content;
    t.as.bytes.len = item->len;
    return ionfast_str_from_unchecked(dec, &t);
}

static inline PyObject *
ionfast_item_int(ionfast_decoder *dec, const ionf_bin_item *item)
{
    ionf_integer integer;
    ionf_bin_integer_set(&integer, ionf_bin_item_uint(&dec->bin, item),
                         item->type == IONF_TYPE_INT_NEGATIVE);
    return ionfast_small_int(dec, &integer);
}

IONF_FORCE_INLINE PyObject *
ionfast_item_value(ionfast_decoder *dec, const ionf_bin_item *item)
{
    switch (item->type) {
    case IONF_TYPE_STRING:
        return IONF_LIKELY(item->is_ascii) ? ionfast_str_from_utf8(item->content, item->len, true)
                                           : ionfast_item_wide_str(dec, item);
    case IONF_TYPE_INT_POSITIVE:
    case IONF_TYPE_INT_NEGATIVE:
        return ionfast_item_int(dec, item);
    case IONF_TYPE_FLOAT:
        return ionfast_float_new(ionf_bin_item_float(item));
    case IONF_TYPE_BOOL:
        return Py_NewRef(item->is_true ? Py_True : Py_False);
    default:
        return Py_NewRef(Py_None);
    }
}

/* The plain values that come next in the innermost container, as far as there is room, and until it is
 * time to look at signals. */
IONF_FORCE_INLINE int
ionfast_push_items(ionfast_decoder *dec, bool is_struct)
{
    const size_t room = (dec->value_cap - dec->value_count) / 2;
    size_t left = room < IONFAST_SIGNAL_INTERVAL ? room : IONFAST_SIGNAL_INTERVAL;
    ionf_bin_item item;
    for (; left != 0 && ionf_bin_take(&dec->bin, is_struct, &item); left--) {
        if (is_struct) {
            PyObject *key = ionfast_sid_key(dec, &dec->bin.base.symtab, item.sid);
            if (IONF_UNLIKELY(key == NULL)) {
                return -1;
            }
            dec->values[dec->value_count++] = key;
        }
        PyObject *value = ionfast_item_value(dec, &item);
        if (IONF_UNLIKELY(value == NULL)) {
            return -1;
        }
        dec->values[dec->value_count++] = value;
    }
    return 0;
}

/* The same wherever it may be done. Two loops, each with the kind of container known: one for both, and
 * for the containers within, took as long as tokens do. */
IONF_FORCE_INLINE int
ionfast_push_plain(ionfast_decoder *dec)
{
    if (dec->frame_count == 0 || dec->model == IONFAST_MODEL_IONPY) {
        return 0;
    }
    if (dec->bin.mode == IONF_BIN_STRUCT) {
        return ionfast_push_items(dec, true);
    }
    return dec->bin.mode == IONF_BIN_PLAIN ? ionfast_push_items(dec, false) : 0;
}

/* ---- all values ---- */

/* Go on building until the value whose frames are open, or the next top-level value, is complete.
 * A long function on purpose: it is the inner loop. */
IONF_FORCE_INLINE ionfast_build_result
ionfast_build(ionfast_decoder *dec, bool is_binary, PyObject **out)
{
    ionf_token t;
    for (;;) {
        if (is_binary && IONF_UNLIKELY(ionfast_push_plain(dec) < 0)) {
            return IONFAST_BUILD_ERROR;
        }
        const ionf_status status = ionfast_next_unchecked(dec, is_binary, &t);
        if (IONF_UNLIKELY(status != IONF_OK)) {
            return ionfast_build_stop(dec, status);
        }
        if (IONF_UNLIKELY(ionfast_check_signals(dec) < 0)) {
            return IONFAST_BUILD_ERROR;
        }
        PyObject *value;
        if (IONF_UNLIKELY(t.kind >= IONF_KIND_END)) {
            if (t.kind == IONF_KIND_EOF) {
                return IONFAST_BUILD_EOF;
            }
            value = ionfast_close_frame(dec);
        } else {
            if (IONF_UNLIKELY(dec->value_cap - dec->value_count < 2) &&
                ionfast_decoder_make_room(dec) < 0) {
                return IONFAST_BUILD_ERROR;
            }
            if (t.has_field && IONF_UNLIKELY(ionfast_push_key(dec, is_binary, &t) < 0)) {
                return IONFAST_BUILD_ERROR;
            }
            const bool is_special = t.is_null || t.annotation_count != 0;
            if (ionf_kind_is_container(t.kind) && !t.is_null) {
                PyObject *annotations = NULL;
                if (IONF_UNLIKELY(is_special) && dec->model != IONFAST_MODEL_PLAIN) {
                    annotations = ionfast_build_annotations(dec, &t);
                    if (annotations == NULL) {
                        return IONFAST_BUILD_ERROR;
                    }
                }
                if (IONF_UNLIKELY(ionfast_push_frame(dec, t.kind, annotations) < 0)) {
                    return IONFAST_BUILD_ERROR;
                }
                continue;
            }
            if (IONF_LIKELY(!is_special && dec->model != IONFAST_MODEL_IONPY)) {
                value = ionfast_build_scalar_as(dec, &t, !is_binary);
            } else if (is_binary && ionfast_is_unchecked(&t) &&
                       ionfast_check_string(dec, &t, NULL) < 0) {
                value = NULL;
            } else {
                value = ionfast_build_special(dec, &t);
            }
        }
        if (IONF_UNLIKELY(value == NULL)) {
            return IONFAST_BUILD_ERROR;
        }
        if (dec->frame_count == 0) {
            if (IONF_UNLIKELY(dec->retired_count != 0)) {
                ionfast_decoder_drop_retired(dec);
            }
            *out = value;
            return IONFAST_BUILD_VALUE;
        }
        dec->values[dec->value_count++] = value;
    }
}

/* Out-of-line: the two instances of the loop, chosen by the decoder's encoding. */
ionfast_build_result ionfast_build_value(ionfast_decoder *dec, PyObject **out);

#endif
