/* The pooled decoder: its life, its stacks, its caches of symbol strings. */
#include "py_decoder.h"

#include "py_build.h"
#include "py_conv.h"

/* ---- the pool's view ---- */

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
    ionf_bin_reader_init(&dec->bin, state->alloc);
    ionf_txt_reader_init(&dec->txt, state->alloc);
    return dec;
}

static void
clear_sid_cache(ionfast_decoder *dec)
{
    for (size_t i = 0; i < dec->sid_cap; i++) {
        Py_CLEAR(dec->sid_strs[i]);
    }
}

static void
decoder_reset(void *object)
{
    ionfast_decoder *dec = object;
    ionfast_decoder_drop_values(dec);
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
}

static void
decoder_destroy(void *object)
{
    ionfast_decoder *dec = object;
    decoder_reset(dec);
    const ionf_alloc alloc = dec->state->alloc;
    clear_sid_cache(dec);
    ionf_alloc_free(&alloc, dec->sid_strs, dec->sid_cap * sizeof *dec->sid_strs);
    if (dec->keys != NULL) {
        for (size_t i = 0; i < IONFAST_KEY_SLOTS; i++) {
            Py_CLEAR(dec->keys[i]);
        }
        ionf_alloc_free(&alloc, dec->keys, IONFAST_KEY_SLOTS * sizeof *dec->keys);
    }
    ionf_alloc_free(&alloc, dec->values, dec->value_cap * sizeof *dec->values);
    ionf_alloc_free(&alloc, dec->frames, dec->frame_cap * sizeof *dec->frames);
    ionf_bin_reader_destroy(&dec->bin);
    ionf_txt_reader_destroy(&dec->txt);
    ionf_alloc_free(&alloc, dec, sizeof *dec);
}

static size_t
decoder_retained(const void *object)
{
    const ionfast_decoder *dec = object;
    const size_t per_symbol = 64; /* a short str */
    return sizeof *dec + ionf_bin_reader_retained(&dec->bin) +
           ionf_txt_reader_retained(&dec->txt) + dec->sid_cap * (sizeof(PyObject *) + per_symbol) +
           (dec->keys == NULL ? 0 : IONFAST_KEY_SLOTS * sizeof *dec->keys) +
           dec->value_cap * sizeof *dec->values + dec->frame_cap * sizeof *dec->frames;
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

void
ionfast_decoder_give(ionfast_decoder *dec)
{
    ionf_pool_give(&dec->state->decoders, dec);
}

/* ---- opening ---- */

static int
open_text(ionfast_decoder *dec, const uint8_t *data, size_t len, bool is_final,
          const ionf_limits *limits, const ionf_catalog *catalog)
{
    const ionf_alloc *alloc = &dec->state->alloc;
    dec->scratch = ionf_pool_take(&dec->state->string_decoders);
    if (dec->scratch != NULL && dec->keys == NULL) {
        dec->keys = ionf_alloc_new(alloc, IONFAST_KEY_SLOTS * sizeof *dec->keys);
        if (dec->keys != NULL) {
            memset(dec->keys, 0, IONFAST_KEY_SLOTS * sizeof *dec->keys);
        }
    }
    if (dec->scratch == NULL || dec->keys == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    dec->txt.scratch = dec->scratch;
    ionf_txt_reader_open(&dec->txt, data, len, is_final, limits, catalog);
    return 0;
}

int
ionfast_decoder_open(ionfast_decoder *dec, const uint8_t *data, size_t len, bool is_final,
                     bool is_text, const ionf_limits *limits, const ionf_catalog *catalog)
{
    dec->is_binary = !is_text && len != 0 && data[0] == 0xE0;
    dec->countdown = IONFAST_SIGNAL_INTERVAL;
    if (!dec->is_binary) {
        return open_text(dec, data, len, is_final, limits, catalog);
    }
    ionf_bin_reader_open(&dec->bin, data, len, is_final, limits, catalog);
    return 0;
}

/* ---- stacks ---- */

void
ionfast_decoder_drop_values(ionfast_decoder *dec)
{
    while (dec->value_count != 0) {
        Py_DECREF(dec->values[--dec->value_count]);
    }
    while (dec->frame_count != 0) {
        Py_XDECREF(dec->frames[--dec->frame_count].annotations);
    }
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
ionfast_decoder_grow_values(ionfast_decoder *dec)
{
    void *array = dec->values;
    const int status =
        grow(dec, &array, &dec->value_cap, dec->value_count + 64, sizeof *dec->values);
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

static int
grow_sid_cache(ionfast_decoder *dec, size_t needed)
{
    const size_t old_cap = dec->sid_cap;
    void *array = dec->sid_strs;
    const int status = grow(dec, &array, &dec->sid_cap, needed, sizeof *dec->sid_strs);
    dec->sid_strs = array;
    if (dec->sid_cap > old_cap) {
        memset(dec->sid_strs + old_cap, 0, (dec->sid_cap - old_cap) * sizeof *dec->sid_strs);
    }
    return status;
}

/* Bring the cache in step with the reader's table, if that has changed its meaning. */
static int
sync_sid_cache(ionfast_decoder *dec, const ionf_symtab *tab)
{
    if (dec->sid_generation != tab->generation || dec->sid_is_binary != dec->is_binary) {
        clear_sid_cache(dec);
        dec->sid_generation = tab->generation;
        dec->sid_is_binary = dec->is_binary;
    }
    const size_t needed = IONF_SYSTEM_MAX_ID + 1 + tab->local_count;
    return needed <= dec->sid_cap ? 0 : grow_sid_cache(dec, needed);
}

static PyObject *
unknown_symbol(ionfast_decoder *dec, uint64_t sid, const ionf_symbol *symbol)
{
    ionfast_state *state = dec->state;
    if (symbol->import_name.data == NULL) {
        return PyObject_CallFunction(state->SymbolToken, "OK", Py_None, 0ULL);
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
    const size_t slot = is_system ? (size_t)sid
                                  : (size_t)(sid - tab->local_first) + IONF_SYSTEM_MAX_ID + 1;
    if (dec->sid_strs[slot] == NULL) {
        PyObject *str = is_system ? Py_NewRef(dec->state->system_symbols[sid])
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

PyObject *
ionfast_key_slow(ionfast_decoder *dec, const uint8_t *text, size_t len, size_t slot)
{
    PyObject *str = ionfast_str_from_utf8(text, len, true);
    if (str == NULL || PyObject_Hash(str) == -1) {
        Py_XDECREF(str);
        return NULL;
    }
    Py_XSETREF(dec->keys[slot], Py_NewRef(str));
    return str;
}
