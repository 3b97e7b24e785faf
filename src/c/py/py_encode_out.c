/* The encoder's life in the pool, and what it hands out in the end: bytes or a str. */
#include "py_encode.h"

#include "ionf_utf8.h"
#include "py_conv.h"

/* ---- output ---- */

int
ionfast_encode_version_marker(ionfast_encoder *enc)
{
    const ionf_status status = ionf_txt_write_raw(&enc->txt, "$ion_1_0", 8);
    enc->marker_len = enc->body->len;
    return ionfast_encode_status(enc, status);
}

PyObject *
ionfast_encoder_binary(ionfast_encoder *enc)
{
    if (enc->unknown_count != 0) {
        return ionfast_encoder_binary_absent(enc);
    }
    enc->scratch.len = 0;
    const ionf_status status = ionf_symmap_write_binary(&enc->bin.symbols, true, &enc->scratch);
    if (status != IONF_OK) {
        return ionfast_set_status(enc->state, status);
    }
    const size_t head = enc->scratch.len, body = ionf_bin_writer_body_size(&enc->bin);
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(head + body));
    if (bytes != NULL) {
        uint8_t *const dst = (uint8_t *)PyBytes_AS_STRING(bytes);
        memcpy(dst, enc->scratch.data, head);
        (void)ionf_bin_writer_emit(&enc->bin, dst + head);
    }
    return bytes;
}

/* Bytes that a counter of one byte can count without wrapping. */
#define MEASURE_BLOCK 128

/* Measure VALID UTF-8: code points, and the greatest byte, which is that of the greatest code point's
 * lead. Two sums over bytes, which compilers vectorise. */
static void
measure_utf8(const uint8_t *text, size_t len, size_t *count, uint8_t *max_byte)
{
    size_t tails = 0;
    uint8_t max = 0;
    for (size_t i = 0; i < len; i += MEASURE_BLOCK) {
        const size_t block = len - i < MEASURE_BLOCK ? len - i : MEASURE_BLOCK;
        uint8_t block_tails = 0;
        for (size_t j = 0; j < block; j++) {
            const uint8_t byte = text[i + j];
            block_tails = (uint8_t)(block_tails + ((byte & 0xC0u) == 0x80u));
            max = byte > max ? byte : max;
        }
        tails += block_tails;
    }
    *count = len - tails;
    *max_byte = max;
}

static PyObject *
str_of(const uint8_t *text, size_t len)
{
    size_t count;
    uint8_t max_byte;
    measure_utf8(text, len, &count, &max_byte);
    const Py_UCS4 max_char = max_byte < 0x80   ? 0x7F
                             : max_byte < 0xC4 ? 0xFF
                             : max_byte < 0xF0 ? 0xFFFF
                                               : 0x10FFFF;
    PyObject *str = PyUnicode_New((Py_ssize_t)count, max_char);
    if (str == NULL || count == 0) {
        return str;
    }
    if (max_char == 0x7F) {
        memcpy(PyUnicode_1BYTE_DATA(str), text, len);
    } else if (max_char == 0xFF) {
        ionf_utf8_to_ucs1(text, len, PyUnicode_1BYTE_DATA(str));
    } else if (max_char == 0xFFFF) {
        ionf_utf8_to_ucs2(text, len, PyUnicode_2BYTE_DATA(str));
    } else {
        ionf_utf8_to_ucs4(text, len, PyUnicode_4BYTE_DATA(str));
    }
    return str;
}

PyObject *
ionfast_encoder_text(ionfast_encoder *enc)
{
    const ionf_buf *const body = enc->body;
    if (enc->absent_count == 0) {
        return str_of(body->data, body->len);
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
    return status == IONF_OK ? str_of(out->data, out->len)
                             : ionfast_set_status(enc->state, status);
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
    ionf_txt_writer_init(&enc->txt, state->alloc);
    ionf_buf_init(&enc->scratch, state->alloc);
    ionf_buf_init(&enc->absent_names, state->alloc);
    ionf_buf_init(&enc->indent, state->alloc);
    return enc;
}

/* References have been dropped by ionfast_encoder_give, since dropping them can run foreign code. */
static void
encoder_reset(void *object)
{
    ionfast_encoder *enc = object;
    ionf_bin_writer_reset(&enc->bin);
    ionf_txt_writer_reset(&enc->txt);
    enc->absent_count = 0;
    enc->unknown_count = 0;
    ionf_buf_reset(&enc->absent_names);
}

static void
encoder_destroy(void *object)
{
    ionfast_encoder *enc = object;
    const ionf_alloc alloc = enc->state->alloc;
    ionfast_type_map_clear(&enc->types);
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
    const ionfast_encoder *enc = object;
    return sizeof *enc + ionf_bin_writer_retained(&enc->bin) +
           ionf_txt_writer_retained(&enc->txt) + enc->scratch.cap + enc->absent_names.cap +
           enc->indent.cap + enc->frame_cap * sizeof *enc->frames +
           enc->sid_cap * sizeof *enc->sids + enc->absent_cap * sizeof *enc->absents +
           enc->unknown_cap * sizeof *enc->unknowns;
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
    ionf_buf *body = enc == NULL ? NULL : ionf_pool_take(&state->buffers);
    if (body == NULL) {
        if (enc != NULL) {
            ionf_pool_give(&state->encoders, enc);
        }
        PyErr_NoMemory();
        return NULL;
    }
    enc->body = body;
    enc->bin.body = body;
    enc->txt.out = body;
    enc->is_binary = is_binary;
    enc->tuple_as_sexp = false;
    enc->default_hook = NULL;
    enc->root_index = -1;
    enc->marker_len = 0;
    enc->is_busy = false;
    enc->countdown = IONFAST_ENCODE_SIGNAL_INTERVAL;
    return enc;
}

void
ionfast_encoder_give(ionfast_encoder *enc)
{
    ionfast_state *const state = enc->state;
    PyObject *type, *error, *traceback;
    PyErr_Fetch(&type, &error, &traceback);
    ionfast_encode_unwind(enc, 0);
    ionfast_names_clear(enc);
    ionfast_type_map_forget_unknown(&enc->types);
    PyErr_Restore(type, error, traceback);
    ionf_buf *const body = enc->body;
    enc->body = NULL;
    ionf_pool_give(&state->encoders, enc);
    ionf_pool_give(&state->buffers, body);
}
