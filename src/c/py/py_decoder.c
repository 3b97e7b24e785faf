/* The pooled decoder: its life, its stacks, its caches of symbol strings. */
#include "py_decoder.h"

#include "ionf_txt_write.h"
#include "py_build.h"
#include "py_decimal_memo.h"
#include "py_typed.h"

/* ---- the pool's view ---- */

/* A string decoder for the text reader, until the decoder is reset. A reader that has gone back to where it
 * had none gets the same. */
static ionf_buf *
lend_scratch(void *ctx)
{
    ionfast_decoder *dec = ctx;
    if (dec->scratch == NULL) {
        dec->scratch = ionf_pool_take(&dec->state->string_decoders);
    }
    return dec->scratch;
}

static void *
decoder_create(void *ctx)
{
    ionfast_state *state = ctx;
    ionfast_decoder *dec = ionf_alloc_new(&state->alloc, sizeof *dec);
    if (dec == NULL) {
        return NULL;
    }
    memset(dec, 0, sizeof *dec);
    dec->state = state;
    dec->serial = ++state->decoder_serial;
    ionf_bin_reader_init(&dec->bin, state->alloc);
    ionf_txt_reader_init(&dec->txt, state->alloc);
    dec->txt.lend = lend_scratch;
    dec->txt.lend_ctx = dec;
    return dec;
}

static void
clear_shapes(ionfast_decoder *dec)
{
    for (size_t i = 0; dec->shape_count != 0; i++) {
        if (dec->shapes[i].dict != NULL) {
            dec->shape_count--;
            Py_CLEAR(dec->shapes[i].dict);
        }
    }
}

static void
clear_symbols(ionfast_decoder *dec)
{
    for (size_t i = 0; dec->has_symbols && i < IONFAST_SYMBOL_SLOTS; i++) {
        Py_CLEAR(dec->symbols[i].text);
        Py_CLEAR(dec->symbols[i].symbol);
        Py_CLEAR(dec->symbols[i].alone);
        Py_CLEAR(dec->symbols[i].attributes);
    }
    dec->has_symbols = false;
}

static void
clear_sid_cache(ionfast_decoder *dec)
{
    for (size_t i = 0; i < dec->sid_cap; i++) {
        Py_CLEAR(dec->sid_strs[i]);
    }
}

static size_t
count_retained(const ionfast_decoder *dec)
{
    const size_t per_symbol = 64; /* a short str */
    const size_t per_int = 32;
    const size_t per_decimal = 120; /* from 3.13 on */
    const size_t per_shape = 512;   /* a dict of a dozen keys */
    return sizeof *dec + ionf_bin_reader_retained(&dec->bin) +
           ionf_txt_reader_retained(&dec->txt) + dec->sid_cap * (sizeof(PyObject *) + per_symbol) +
           (dec->keys == NULL ? 0 : IONFAST_KEY_SLOTS * sizeof *dec->keys + sizeof *dec->order) +
           (dec->memo == NULL ? 0 : sizeof *dec->memo + IONFAST_MEMO_SLOTS * per_int) +
           (dec->decimals == NULL ? 0
                                  : sizeof *dec->decimals + IONFAST_DECIMAL_SLOTS * per_decimal) +
           dec->shape_count * per_shape + dec->value_cap * sizeof *dec->values +
           dec->frame_cap * sizeof *dec->frames + dec->stream.kind_cap +
           ionfast_typed_retained(dec);
}

static void
decoder_reset(void *object)
{
    ionfast_decoder *dec = object;
    if (IONF_UNLIKELY((dec->value_count | dec->frame_count) != 0)) {
        ionfast_decoder_drop_values(dec);
    }
    if (dec->typed != NULL) {
        ionfast_typed_drop(dec);
    }
    Py_CLEAR(dec->plan);
    if (dec->is_binary) {
        ionf_bin_reader_reset(&dec->bin);
    } else {
        ionf_txt_reader_reset(&dec->txt);
    }
    if (dec->scratch != NULL) {
        ionf_pool_give(&dec->state->string_decoders, dec->scratch);
        dec->scratch = NULL;
    }
    Py_CLEAR(dec->catalog);
    /* In the steady state nothing is allocated, and nothing need be counted. */
    if (IONF_UNLIKELY(dec->counted_at != dec->state->heap.allocs)) {
        dec->counted = count_retained(dec);
        dec->counted_at = dec->state->heap.allocs;
    }
}

static void
decoder_destroy(void *object)
{
    ionfast_decoder *dec = object;
    decoder_reset(dec);
    ionfast_typed_destroy(dec);
    const ionf_alloc alloc = dec->state->alloc;
    clear_shapes(dec);
    clear_symbols(dec);
    clear_sid_cache(dec);
    ionfast_memo_destroy(dec->memo, &alloc);
    ionfast_decimal_memo_destroy(dec->decimals, &alloc);
    ionf_alloc_free(&alloc, dec->sid_strs, dec->sid_cap * sizeof *dec->sid_strs);
    if (dec->keys != NULL) {
        for (size_t i = 0; i < IONFAST_KEY_SLOTS; i++) {
            Py_CLEAR(dec->keys[i]);
        }
        ionf_alloc_free(&alloc, dec->keys, IONFAST_KEY_SLOTS * sizeof *dec->keys);
    }
    ionf_alloc_free(&alloc, dec->order, sizeof *dec->order);
    ionf_alloc_free(&alloc, dec->values, dec->value_cap * sizeof *dec->values);
    ionf_alloc_free(&alloc, dec->frames, dec->frame_cap * sizeof *dec->frames);
    ionf_alloc_free(&alloc, dec->stream.kinds, dec->stream.kind_cap);
    ionf_bin_reader_destroy(&dec->bin);
    ionf_txt_reader_destroy(&dec->txt);
    ionf_alloc_free(&alloc, dec, sizeof *dec);
}

static size_t
decoder_retained(const void *object)
{
    const ionfast_decoder *dec = object;
    return dec->counted;
}

ionf_pool_type
ionfast_decoder_pool_type(ionfast_state *state)
{
    const ionf_pool_type type = {decoder_create, decoder_reset, decoder_destroy, decoder_retained,
                                 state};
    return type;
}

ionfast_decoder *
ionfast_decoder_take(ionfast_state *state)
{
    ionfast_decoder *dec = ionf_pool_take(&state->decoders);
    if (dec == NULL) {
        PyErr_NoMemory();
    }
    return dec;
}

/* ---- opening ---- */

void
ionfast_decoder_use_memo(ionfast_decoder *dec)
{
    if (dec->memo == NULL) {
        dec->memo = ionfast_memo_new(&dec->state->alloc);
    }
    if (dec->memo != NULL) {
        dec->memo->points = IONFAST_MEMO_POINTS;
        dec->has_memo = true;
    }
}

/* The cache of names, once: false when there is no memory. */
static bool
has_keys(ionfast_decoder *dec)
{
    const ionf_alloc *alloc = &dec->state->alloc;
    const size_t keys_size = IONFAST_KEY_SLOTS * sizeof *dec->keys;
    if (IONF_LIKELY(dec->keys != NULL)) {
        return true;
    }
    if (dec->order == NULL) {
        dec->order = ionf_alloc_new(alloc, sizeof *dec->order);
    }
    dec->keys = dec->order == NULL ? NULL : ionf_alloc_new(alloc, keys_size);
    if (dec->keys == NULL) {
        return false;
    }
    memset(dec->order, 0, sizeof *dec->order);
    memset(dec->keys, 0, keys_size);
    return true;
}

static int
open_text(ionfast_decoder *dec, const uint8_t *data, size_t len, bool is_final,
          const ionf_limits *limits, const ionf_catalog *catalog)
{
    ionfast_decoder_begin(dec, false, len);
    if (IONF_UNLIKELY(!has_keys(dec))) {
        PyErr_NoMemory();
        return -1;
    }
    ionf_txt_reader_open(&dec->txt, data, len, is_final, limits, catalog);
    return 0;
}

int
ionfast_decoder_open(ionfast_decoder *dec, const uint8_t *data, size_t len, bool is_final,
                     bool is_text, const ionf_limits *limits, const ionf_catalog *catalog)
{
    if (!is_text && len != 0 && data[0] == 0xE0) {
        ionfast_decoder_open_binary(dec, data, len, is_final, limits, catalog);
        return 0;
    }
    return open_text(dec, data, len, is_final, limits, catalog);
}

/* ---- stacks ---- */

void
ionfast_decoder_drop_retired(ionfast_decoder *dec)
{
    while (dec->retired_count != 0) {
        Py_DECREF(dec->retired[--dec->retired_count]);
    }
}

void
ionfast_decoder_drop_values(ionfast_decoder *dec)
{
    while (dec->value_count != 0) {
        ionfast_slot_drop(dec->values[--dec->value_count]);
    }
    while (dec->frame_count != 0) {
        Py_XDECREF(dec->frames[--dec->frame_count].annotations);
    }
    ionfast_decoder_drop_retired(dec);
}

static int
grow(ionfast_decoder *dec, void **array, size_t *cap, size_t needed, size_t item_size)
{
    if (ionf_alloc_grow(&dec->state->alloc, array, cap, needed, item_size) != IONF_OK) {
        PyErr_NoMemory();
        return -1;
    }
    return 0;
}

int
ionfast_decoder_reserve_values(ionfast_decoder *dec, size_t more)
{
    void *array = dec->values;
    const int status =
        grow(dec, &array, &dec->value_cap, dec->value_count + more, sizeof *dec->values);
    dec->values = array;
    return status;
}

int
ionfast_decoder_grow_frames(ionfast_decoder *dec)
{
    void *array = dec->frames;
    const int status =
        grow(dec, &array, &dec->frame_cap, dec->frame_count + 16, sizeof *dec->frames);
    dec->frames = array;
    return status;
}

/* ---- SID -> str ---- */

/* To what the table needs, which may be large and the last; by half at least, since appends come in
 * small steps. */
static int
grow_sid_cache(ionfast_decoder *dec, size_t needed)
{
    const size_t old_cap = dec->sid_cap;
    const size_t size = sizeof *dec->sid_strs;
    const size_t cap = needed > old_cap + old_cap / 2 ? needed : old_cap + old_cap / 2;
    const ionf_alloc *alloc = &dec->state->alloc;
    PyObject **grown = NULL;
    if (cap <= SIZE_MAX / size) {
        grown = alloc->realloc(alloc->ctx, dec->sid_strs, old_cap * size, cap * size);
    }
    if (grown == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    memset(grown + old_cap, 0, (cap - old_cap) * size);
    dec->sid_strs = grown;
    dec->sid_cap = cap;
    return 0;
}

void
ionfast_sid_cache_clear(ionfast_decoder *dec)
{
    clear_shapes(dec); /* other key objects now: none would fit any more */
    clear_sid_cache(dec);
    dec->sid_generation = ionfast_decoder_base(dec)->symtab.generation;
    dec->sid_is_binary = dec->is_binary;
}

/* Bring the cache in step with the reader's table, if that has changed its meaning. */
static int
sync_sid_cache(ionfast_decoder *dec, const ionf_symtab *tab)
{
    if (!ionfast_sid_cache_is_current(dec, tab)) {
        ionfast_sid_cache_clear(dec);
    }
    const size_t needed = IONF_SYSTEM_MAX_ID + 1 + tab->local_count;
    return needed <= dec->sid_cap ? 0 : grow_sid_cache(dec, needed);
}

static PyObject *
unknown_symbol(ionfast_decoder *dec, uint64_t sid, const ionf_symbol *symbol)
{
    ionfast_state *state = dec->state;
    if (symbol->import_name.data == NULL) {
        return PyObject_CallFunction(state->SymbolToken, "OK", Py_None, (unsigned long long)sid);
    }
    PyObject *location = PyObject_CallFunction(
        state->ImportLocation, "s#K", (const char *)symbol->import_name.data,
        (Py_ssize_t)symbol->import_name.len, (unsigned long long)symbol->import_sid);
    if (location == NULL) {
        return NULL;
    }
    return PyObject_CallFunction(state->SymbolToken, "OKN", Py_None, (unsigned long long)sid,
                                 location);
}

PyObject *
ionfast_sid_str_slow(ionfast_decoder *dec, uint64_t sid)
{
    const ionf_symtab *tab = &ionfast_decoder_base(dec)->symtab;
    if (sync_sid_cache(dec, tab) < 0) {
        return NULL;
    }
    ionf_symbol symbol;
    if (ionf_symtab_find(tab, sid, &symbol) != IONF_OK) {
        return ionfast_set_error_at(dec->state, ionfast_decoder_base(dec)->value_offset,
                                    "symbol ID %llu is out of range", (unsigned long long)sid);
    }
    if (symbol.text == NULL) {
        return unknown_symbol(dec, sid, &symbol);
    }
    if (symbol.shared != NULL) {
        return ionfast_shared_symbol_str(symbol.shared, symbol.shared_index);
    }
    const bool is_system = sid <= IONF_SYSTEM_MAX_ID;
    const size_t slot =
        is_system ? (size_t)sid : (size_t)(sid - tab->local_first) + IONF_SYSTEM_MAX_ID + 1;
    if (dec->sid_strs[slot] == NULL) {
        PyObject *str = is_system
                            ? Py_NewRef(dec->state->system_symbols[sid])
                            : ionfast_str_from_utf8(symbol.text, symbol.len, symbol.is_ascii);
        if (str == NULL || PyObject_Hash(str) == -1) { /* the hash is cached in the str */
            Py_XDECREF(str);
            return NULL;
        }
        dec->sid_strs[slot] = str;
    }
    return Py_NewRef(dec->sid_strs[slot]);
}

/* ---- text field names ---- */

/* The slot has a name, which lives as long as it is there. */
static void
set_guess(ionf_txt_guess *guess, PyObject *str)
{
    const uint8_t *const text = PyUnicode_1BYTE_DATA(str);
    const size_t len = (size_t)PyUnicode_GET_LENGTH(str);
    guess->len = 0;
    if (!ionf_txt_symbol_needs_quotes(text, len)) {
        guess->text = text;
        guess->len = len;
        guess->head = 0;
        memcpy(&guess->head, text, len < sizeof guess->head ? len : sizeof guess->head);
    }
}

PyObject *
ionfast_key_slow(ionfast_decoder *dec, const uint8_t *text, size_t len, size_t slot)
{
    PyObject *str = ionfast_str_from_utf8(text, len, true);
    if (str == NULL || PyObject_Hash(str) == -1) {
        Py_XDECREF(str);
        return NULL;
    }
    if (dec->value_count == 0) {
        Py_CLEAR(dec->keys[slot]); /* nobody borrows it */
    } else if (dec->keys[slot] != NULL) {
        if (dec->retired_count == IONFAST_RETIRED_MAX) {
            return str; /* no more room to keep the old one for those that borrow it */
        }
        dec->retired[dec->retired_count++] = dec->keys[slot];
    }
    dec->keys[slot] = str;
    set_guess(&dec->order->guesses[slot], str);
    return ionfast_slot_borrow(str);
}

/* ---- shapes ---- */

/* A dict with these keys and no values to speak of; NULL, without an exception, where there cannot be
 * one: repeated keys, keys that are no str, no memory. */
static PyObject *
shape_dict(PyObject *const *pairs, size_t count)
{
    PyObject *dict = PyDict_New();
    for (size_t i = 0; dict != NULL && i < count; i++) {
        PyObject *key = ionfast_slot_object(pairs[2 * i]);
        if (!PyUnicode_CheckExact(key) || PyDict_SetItem(dict, key, Py_None) < 0) {
            Py_CLEAR(dict);
        }
    }
    if (dict == NULL) {
        PyErr_Clear();
    } else if ((size_t)PyDict_GET_SIZE(dict) != count || !ionfast_dict_has_entries(dict)) {
        Py_CLEAR(dict);
    }
    return dict;
}

void
ionfast_shape_learn(ionfast_decoder *dec, PyObject *const *pairs, size_t count, size_t slot)
{
    if (!IONFAST_DICT_HAS_LAYOUT) {
        return; /* no dict would fit */
    }
    uint64_t hash = count;
    for (size_t i = 0; i < count; i++) {
        hash = (hash ^ (uintptr_t)pairs[2 * i]) * 0x9E3779B97F4A7C15u;
    }
    ionfast_shape *shape = &dec->shapes[slot];
    if (shape->seen != hash) {
        shape->seen = hash;
        return;
    }
    if (shape->dict != NULL && dec->shapes[slot ^ 1].dict == NULL) {
        shape = &dec->shapes[slot ^ 1];
    }
    PyObject *dict = shape_dict(pairs, count);
    if (dict != NULL) {
        dec->shape_count += shape->dict == NULL;
        Py_XSETREF(shape->dict, dict);
    }
}
