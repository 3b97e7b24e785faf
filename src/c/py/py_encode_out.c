/* The encoder's life in the pool, and what it hands out in the end: bytes or a str. */
#include "py_encode.h"

#include "ionf_bin_put.h"
#include "ionf_utf8.h"
#include "ionf_widen.h"
#include "py_conv.h"

/* ---- the body's memory: that of a bytes object, so that it can become the output ---- */

#define BODY_OFFSET offsetof(PyBytesObject, ob_sval)

static PyObject *
body_object(uint8_t *data)
{
    return (PyObject *)(void *)(data - BODY_OFFSET);
}

static void *
body_realloc(void *ctx, void *ptr, size_t old_size, size_t size)
{
    ionfast_heap *const heap = ctx;
    PyObject *object;
    if (size > PY_SSIZE_T_MAX - BODY_OFFSET - 1) {
        return NULL;
    }
    if (ptr == NULL) {
        object = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)size);
    } else { /* not _PyBytes_Resize, which frees what it cannot make larger */
        object = PyObject_Realloc(body_object(ptr), BODY_OFFSET + size + 1);
    }
    if (object == NULL) {
        return NULL;
    }
    Py_SET_SIZE((PyVarObject *)object, (Py_ssize_t)size);
    heap->allocs++;
    heap->frees += ptr != NULL;
    heap->live_bytes += (int64_t)size - (int64_t)old_size;
    heap->total_bytes += size;
    return PyBytes_AS_STRING(object);
}

static void *
body_alloc(void *ctx, size_t size)
{
    return body_realloc(ctx, NULL, 0, size);
}

static void
body_free(void *ctx, void *ptr, size_t size)
{
    ionfast_heap *const heap = ctx;
    if (ptr != NULL) {
        heap->frees++;
        heap->live_bytes -= (int64_t)size;
        Py_DECREF(body_object(ptr));
    }
}

/* The body's object, which leaves the encoder: it begins with an empty one then. */
static PyObject *
release_body(ionfast_encoder *enc)
{
    ionf_buf *const body = enc->body;
    PyObject *const object = body_object(body->data);
    enc->state->heap.frees++;
    enc->state->heap.live_bytes -= (int64_t)body->cap;
    ionf_buf_init(body, body->alloc);
    return object;
}

/* ---- output ---- */

/* Smaller bodies are not worth the call. */
#define LARGE_BODY 65536
/* Left when it is trimmed, so that the same value once more finds the room that the loops want. */
#define TRIM_ROOM 1024

static bool
resize_body(ionf_buf *body, size_t cap)
{
    void *const data = body->alloc.realloc(body->alloc.ctx, body->data, body->cap, cap);
    if (data == NULL) {
        return false;
    }
    body->data = data;
    body->cap = cap;
    return true;
}

static bool
has_grown_large(const ionfast_encoder *enc)
{
    return IONF_UNLIKELY(enc->body->cap > enc->body_start_cap) && enc->body->len >= LARGE_BODY;
}

/* Before the output is allocated: give back what growth has taken too much, so that little more than
 * twice the output is in use at any time. */
static void
trim_body(ionfast_encoder *enc)
{
    ionf_buf *const body = enc->body;
    if (has_grown_large(enc) && body->cap - body->len > body->len / 32 + TRIM_ROOM) {
        (void)resize_body(body, body->len + TRIM_ROOM); /* or it stays as it is */
    }
}

/* An encoder's first large body becomes the output, so that who writes one document has no need of two
 * times its size. From then on the body stays: who writes more of them is quicker, by up to a tenth, in
 * memory that is there already. docs/performance-dumps.md */
static bool
is_body_given(ionfast_encoder *enc)
{
    const bool is_given = has_grown_large(enc) && !enc->has_given_body;
    enc->has_given_body = enc->has_given_body || is_given;
    return is_given;
}

/* bytes of the finished body, behind room for `head` bytes; new reference. */
static PyObject *
output_of_body(ionfast_encoder *enc, size_t head)
{
    const bool is_plain = ionf_bin_writer_is_plain(&enc->bin);
    const size_t size = head + (is_plain ? enc->body->len : ionf_bin_writer_body_size(&enc->bin));
    if (IONF_UNLIKELY(is_body_given(enc))) {
        const size_t cap = size > enc->body->len ? size : enc->body->len;
        if (resize_body(enc->body, cap)) {
            ionf_bin_writer_emit_in_place(&enc->bin, head);
            PyObject *const bytes = release_body(enc);
            Py_SET_SIZE((PyVarObject *)bytes, (Py_ssize_t)size);
            PyBytes_AS_STRING(bytes)[size] = 0;
            return bytes;
        }
    }
    trim_body(enc);
    PyObject *const bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)size);
    if (IONF_UNLIKELY(bytes == NULL)) {
        return NULL;
    }
    uint8_t *const dst = (uint8_t *)PyBytes_AS_STRING(bytes) + head;
    if (!is_plain) {
        (void)ionf_bin_writer_emit(&enc->bin, dst);
    } else if (enc->body->len != 0) {
        memcpy(dst, enc->body->data, enc->body->len);
    }
    return bytes;
}

int
ionfast_encode_version_marker(ionfast_encoder *enc)
{
    static const char marker[] = "$ion_1_0";
    ionf_buf *const body = enc->body;
    ionf_status status;
    if (IONF_UNLIKELY(enc->txt.has_value)) { /* a new context in a stream */
        status = ionf_txt_write_raw(&enc->txt, marker, sizeof marker - 1);
    } else {
        status = ionf_buf_append(body, marker, sizeof marker - 1);
        enc->txt.has_value = true;
    }
    enc->marker_len = body->len;
    return ionfast_encode_status(enc, status);
}

/* ---- the head, when the symbol map was not asked: names alone, no imports ---- */

static const uint8_t version_marker[] = {0xE0, 0x01, 0x00, 0xEA};

static ionf_slice
put_off_text(const ionfast_encoder *enc, size_t i)
{
    PyObject *const name = enc->names[enc->put_off[i]].name;
    const ionf_slice text = {PyUnicode_1BYTE_DATA(name), (size_t)PyUnicode_GET_LENGTH(name)};
    return text;
}

/* $ion_symbol_table::{symbols:[...]}, and the version marker, before the body. */
static PyObject *
binary_of_names(ionfast_encoder *enc)
{
    const size_t symbols_len = enc->put_off_size;
    const size_t struct_len = 1 + ionf_bin_sized(symbols_len);
    const size_t wrapper_len = 2 + ionf_bin_sized(struct_len);
    const size_t head = sizeof version_marker + ionf_bin_sized(wrapper_len);
    PyObject *bytes = output_of_body(enc, head);
    if (bytes == NULL) {
        return NULL;
    }
    uint8_t *dst = (uint8_t *)PyBytes_AS_STRING(bytes);
    memcpy(dst, version_marker, sizeof version_marker);
    dst = ionf_bin_put_head(dst + sizeof version_marker, 0xE0, wrapper_len);
    *dst++ = 0x81;
    *dst++ = 0x80u | IONF_SID_ION_SYMBOL_TABLE;
    dst = ionf_bin_put_head(dst, 0xD0, struct_len);
    *dst++ = 0x80u | IONF_SID_SYMBOLS;
    dst = ionf_bin_put_head(dst, 0xB0, symbols_len);
    for (size_t i = 0; i < enc->put_off_count; i++) {
        const ionf_slice text = put_off_text(enc, i);
        dst = ionf_bin_put_string(dst, text.data, text.len);
    }
    return bytes;
}

/* Many names take more in the map than in the output. What the map needs to find them goes before the
 * output is allocated, as the body's spare room does, in a call that the encoder grew for. */
static void
trim_symbols(ionfast_encoder *enc)
{
    ionf_symmap *const symbols = &enc->bin.symbols;
    if (IONF_UNLIKELY(enc->body->cap > enc->body_start_cap) &&
        ionf_symmap_retained(symbols) >= LARGE_BODY) {
        ionf_symmap_trim(symbols);
    }
}

/* The same from the symbol map. */
static PyObject *
binary_of_map(ionfast_encoder *enc)
{
    ionf_symmap *const symbols = &enc->bin.symbols;
    trim_symbols(enc);
    PyObject *const bytes = output_of_body(enc, ionf_symmap_binary_size(symbols, true));
    if (bytes != NULL) {
        (void)ionf_symmap_put_binary(symbols, true, (uint8_t *)PyBytes_AS_STRING(bytes));
    }
    return bytes;
}

PyObject *
ionfast_encoder_binary(ionfast_encoder *enc)
{
    if (enc->unknown_count != 0) {
        return ionfast_encoder_binary_absent(enc);
    }
    return enc->put_off_count != 0 ? binary_of_names(enc) : binary_of_map(enc);
}

/* Decode a sequence of VALID UTF-8 that is not ASCII, and step over it. */
static inline uint32_t
take_sequence(const uint8_t **text)
{
    const uint8_t *const p = *text;
    const uint32_t lead = p[0], second = p[1] & 0x3Fu;
    if (lead >= 0xE0 && lead < 0xF0) {
        *text = p + 3;
        return (lead & 0x0Fu) << 12 | second << 6 | (p[2] & 0x3Fu);
    }
    if (lead < 0xE0) {
        *text = p + 2;
        return (lead & 0x1Fu) << 6 | second;
    }
    *text = p + 4;
    return (lead & 0x07u) << 18 | second << 12 | (p[2] & 0x3Fu) << 6 | (p[3] & 0x3Fu);
}

/* Widen VALID UTF-8 into `count` code units: a block of ASCII as it comes, then what is not. Whole
 * documents are mostly ASCII in runs of any length, so blocks are stored in full as long as there is
 * room, and count only up to the first byte that is more. One instance for each width. */
#define WIDEN(name, unit)                                                                         \
    static void name(const uint8_t *p, size_t len, unit *dst, size_t count)                       \
    {                                                                                             \
        const uint8_t *const end = p + len;                                                       \
        const unit *const dst_end = dst + count;                                                  \
        while (end - p >= IONF_WIDEN_BLOCK && dst_end - dst >= IONF_WIDEN_BLOCK) {                \
            const size_t plain = ionf_widen_block_##unit(p, dst);                                 \
            if (IONF_LIKELY(plain == IONF_WIDEN_BLOCK)) {                                         \
                p += IONF_WIDEN_BLOCK; /* known before the block has been looked at */            \
                dst += IONF_WIDEN_BLOCK;                                                          \
                continue;                                                                         \
            }                                                                                     \
            p += plain;                                                                           \
            dst += plain;                                                                         \
            do {                                                                                  \
                *dst++ = (unit)take_sequence(&p);                                                 \
            } while (p < end && *p >= 0x80);                                                      \
        }                                                                                         \
        while (p < end) {                                                                         \
            *dst++ = (unit)(*p < 0x80 ? *p++ : take_sequence(&p));                                \
        }                                                                                         \
    }

WIDEN(widen_ucs1, uint8_t)
WIDEN(widen_ucs2, uint16_t)
WIDEN(widen_ucs4, uint32_t)

/* `text`, which has `count` code points, as the units of `str` from `start` on. */
static void
widen_into(PyObject *str, size_t start, const uint8_t *text, size_t len, size_t count)
{
    switch (PyUnicode_KIND(str)) {
    case PyUnicode_1BYTE_KIND:
        if (count == len) {
            memcpy(PyUnicode_1BYTE_DATA(str) + start, text, len);
        } else {
            widen_ucs1(text, len, PyUnicode_1BYTE_DATA(str) + start, count);
        }
        break;
    case PyUnicode_2BYTE_KIND:
        widen_ucs2(text, len, PyUnicode_2BYTE_DATA(str) + start, count);
        break;
    default:
        widen_ucs4(text, len, PyUnicode_4BYTE_DATA(str) + start, count);
    }
}

/* The same of a long output, in steps with a look at signals after each; the text that is left over. */
static int
widen_steps(PyObject *str, size_t *start, const uint8_t **text, size_t *len)
{
    while (*len > IONF_STEP_BYTES) {
        const size_t step = ionf_utf8_step(*text);
        ionf_utf8_info info = {step, 0x7F};
        if (!PyUnicode_IS_ASCII(str)) {
            ionf_utf8_measure(*text, step, &info);
        }
        widen_into(str, *start, *text, step, info.count);
        if (PyErr_CheckSignals() < 0) {
            return -1;
        }
        *start += info.count;
        *text += step;
        *len -= step;
    }
    return 0;
}

static PyObject *
str_of(const uint8_t *text, size_t len, const ionf_utf8_info *info)
{
    if (IONF_LIKELY(info->max_class == 0x7F && len >= 2 && len <= IONF_STEP_BYTES)) {
        return ionfast_ascii_new(text, len);
    }
    PyObject *str = PyUnicode_New((Py_ssize_t)info->count, info->max_class);
    if (str == NULL || len == 0) {
        return str;
    }
    size_t start = 0;
    if (IONF_UNLIKELY(len > IONF_STEP_BYTES) && widen_steps(str, &start, &text, &len) < 0) {
        Py_DECREF(str);
        return NULL;
    }
    widen_into(str, start, text, len, info->count - start);
    return str;
}

/* The body becomes the str, if it can: else false, and nothing has changed. */
static bool
adopt_text(ionfast_encoder *enc, const ionf_utf8_info *info, PyObject **out)
{
#if IONFAST_CAN_MAKE_OBJECTS
    const size_t shift = sizeof(PyASCIIObject) - BODY_OFFSET, len = enc->body->len;
    if (info->max_class == 0x7F && is_body_given(enc) && resize_body(enc->body, len + shift)) {
        memmove(enc->body->data + shift, enc->body->data, len);
        *out = ionfast_ascii_adopt(release_body(enc), len);
        return true;
    }
#endif
    (void)enc, (void)info, (void)out;
    return false;
}

/* Text of small messages is looked at without a call: 10 ns. */
#define SHORT_TEXT 256

static bool
is_short_ascii(const uint8_t *text, size_t len)
{
    if (len < 8 || len > SHORT_TEXT) {
        return false;
    }
    uint64_t bits = ionf_load64_native(text + len - 8);
    for (size_t i = 0; i < len - 8; i += 8) {
        bits |= ionf_load64_native(text + i);
    }
    return (bits & 0x8080808080808080u) == 0;
}

static PyObject *
text_of_body(ionfast_encoder *enc)
{
    if (is_short_ascii(enc->body->data, enc->body->len)) {
        return ionfast_ascii_new(enc->body->data, enc->body->len);
    }
    ionf_utf8_info info;
    ionf_utf8_measure(enc->body->data, enc->body->len, &info);
    PyObject *str;
    if (IONF_UNLIKELY(adopt_text(enc, &info, &str))) {
        return str;
    }
    trim_body(enc);
    return str_of(enc->body->data, enc->body->len, &info);
}

PyObject *
ionfast_encoder_text(ionfast_encoder *enc)
{
    const ionf_buf *const body = enc->body;
    if (enc->absent_count == 0) {
        return text_of_body(enc);
    }
    /* The table goes between the version marker and the first value. */
    ionf_buf *const out = &enc->scratch;
    const char *const separator = enc->txt.top_separator;
    const size_t head = enc->marker_len;
    out->len = 0;
    ionf_status status = ionf_buf_append(out, body->data, head);
    if (status == IONF_OK && head != 0) {
        status = ionf_buf_append(out, separator, strlen(separator));
    }
    if (status == IONF_OK) {
        status = ionfast_absent_text(enc, out);
    }
    if (status == IONF_OK && head == 0) {
        status = ionf_buf_append(out, separator, strlen(separator));
    }
    if (status == IONF_OK) {
        status = ionf_buf_append(out, body->data + head, body->len - head);
    }
    if (status != IONF_OK) {
        return ionfast_set_status(enc->state, status);
    }
    ionf_utf8_info info;
    ionf_utf8_measure(out->data, out->len, &info);
    return str_of(out->data, out->len, &info);
}

/* ---- the pool ---- */

static void *
encoder_create(void *ctx)
{
    ionfast_state *state = ctx;
    ionfast_encoder *enc = ionf_alloc_new(&state->alloc, sizeof *enc);
    if (enc == NULL) {
        return NULL;
    }
    memset(enc, 0, sizeof *enc);
    enc->state = state;
    enc->datetime_type = ionfast_datetime_type();
    enc->date_type = ionfast_date_type();
    ionf_bin_writer_init(&enc->bin, state->alloc);
    /* By the interpreter's own secret, so that who chooses the symbols cannot choose collisions. */
    ionf_symmap_set_seed(&enc->bin.symbols, (uint64_t)PyObject_Hash(state->str_offset));
    ionf_txt_writer_init(&enc->txt, state->alloc);
    const ionf_alloc body_memory = {body_alloc, body_realloc, body_free, &state->heap,
                                    state->alloc.is_interrupted};
    ionf_buf_init(&enc->own_body, body_memory);
    enc->body = &enc->own_body;
    enc->generation = 1;
    ionf_buf_init(&enc->scratch, state->alloc);
    ionf_buf_init(&enc->absent_names, state->alloc);
    ionf_buf_init(&enc->indent, state->alloc);
    return enc;
}

static size_t
count_retained(const ionfast_encoder *enc)
{
    return sizeof *enc + ionf_bin_writer_retained(&enc->bin) +
           ionf_txt_writer_retained(&enc->txt) + enc->own_body.cap + enc->scratch.cap +
           enc->absent_names.cap + enc->indent.cap + enc->frame_cap * sizeof *enc->frames +
           enc->sid_cap * sizeof *enc->sids + enc->absent_cap * sizeof *enc->absents +
           enc->unknown_cap * sizeof *enc->unknowns;
}

/* References have been dropped by ionfast_encoder_give, since dropping them can run foreign code. */
static void
encoder_reset(void *object)
{
    ionfast_encoder *enc = object;
    ionf_bin_writer_reset(&enc->bin);
    ionf_txt_writer_reset(&enc->txt);
    ionf_buf_reset(&enc->own_body);
    enc->absent_count = 0;
    enc->unknown_count = 0;
    ionf_buf_reset(&enc->absent_names);
    const ionfast_heap *const heap = &enc->state->heap;
    if (IONF_UNLIKELY(enc->counted_at != heap->allocs + heap->frees)) {
        enc->counted_at = heap->allocs + heap->frees;
        enc->retained = count_retained(enc);
    }
}

static void
encoder_destroy(void *object)
{
    ionfast_encoder *enc = object;
    const ionf_alloc alloc = enc->state->alloc;
    ionfast_type_map_clear(&enc->types);
    for (size_t i = 0; i < IONFAST_NAME_SLOTS; i++) {
        Py_CLEAR(enc->names[i].name);
    }
    ionf_buf_destroy(&enc->own_body);
    ionf_bin_writer_destroy(&enc->bin);
    ionf_txt_writer_destroy(&enc->txt);
    ionf_buf_destroy(&enc->scratch);
    ionf_buf_destroy(&enc->absent_names);
    ionf_buf_destroy(&enc->indent);
    ionf_alloc_free(&alloc, enc->frames, enc->frame_cap * sizeof *enc->frames);
    ionf_alloc_free(&alloc, enc->sids, enc->sid_cap * sizeof *enc->sids);
    ionf_alloc_free(&alloc, enc->absents, enc->absent_cap * sizeof *enc->absents);
    ionf_alloc_free(&alloc, enc->unknowns, enc->unknown_cap * sizeof *enc->unknowns);
    ionf_alloc_free(&alloc, enc, sizeof *enc);
}

static size_t
encoder_retained(const void *object)
{
    return ((const ionfast_encoder *)object)->retained;
}

ionf_pool_type
ionfast_encoder_pool_type(ionfast_state *state)
{
    const ionf_pool_type type = {encoder_create, encoder_reset, encoder_destroy, encoder_retained,
                                 state};
    return type;
}

ionfast_encoder *
ionfast_encoder_take(ionfast_state *state, bool is_binary)
{
    ionfast_encoder *enc = ionf_pool_take(&state->encoders);
    if (enc == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    enc->bin.body = enc->body;
    enc->txt.out = enc->body;
    enc->body_start_cap = enc->body->cap;
    enc->can_put_off = false;
    enc->is_binary = is_binary;
    enc->tuple_as_sexp = false;
    enc->default_hook = NULL;
    enc->root_index = -1;
    enc->marker_len = 0;
    enc->is_busy = false;
    enc->has_classes = false;
    enc->countdown = IONFAST_ENCODE_SIGNAL_INTERVAL;
    return enc;
}

void
ionfast_encoder_give(ionfast_encoder *enc)
{
    ionfast_state *const state = enc->state;
    ionfast_encode_unwind(enc, 0);
    ionfast_names_clear(enc);
    if (IONF_UNLIKELY(enc->codec != NULL || enc->catalog != NULL)) {
        PyObject *type, *error, *traceback;
        PyErr_Fetch(&type, &error, &traceback);
        enc->catalog_view = NULL;
        Py_CLEAR(enc->catalog);
        enc->codec_serial = NULL;
        Py_CLEAR(enc->codec_entry);
        Py_CLEAR(enc->codec);
        PyErr_Restore(type, error, traceback);
    }
    if (IONF_UNLIKELY(enc->types.has_unknown)) {
        PyObject *type, *error, *traceback;
        PyErr_Fetch(&type, &error, &traceback);
        ionfast_type_map_forget_unknown(&enc->types);
        PyErr_Restore(type, error, traceback);
    }
    ionf_pool_give(&state->encoders, enc);
}
