/* The decoder: what one reading needs, made once and pooled: both core readers, the stacks on which
 * values are built, and the caches of key strings.
 *
 *   values  [key][value][key][value][key] | [item][item] | [key][value]     one stack for all open
 *            ^ frames[0].start (struct)     ^ frames[1] (list)              containers
 *
 * Items are collected on `values` and become a list or dict of just the right size when their
 * container ends. Until then nothing that the collector could see exists. A decoder belongs to one
 * thread, from take to give.
 */
#ifndef PY_DECODER_H
#define PY_DECODER_H

#include "ionf_bin_read.h"
#include "ionf_txt_read.h"
#include "py_state.h"

typedef enum ionfast_model {
    IONFAST_MODEL_LOSSLESS = 0,
    IONFAST_MODEL_PLAIN = 1,
    IONFAST_MODEL_IONPY = 2
} ionfast_model;

typedef struct ionfast_build_frame {
    size_t start;          /* index in values of the first child */
    PyObject *annotations; /* owned tuple, or NULL */
    uint8_t kind;          /* ionf_kind of the container */
} ionfast_build_frame;

/* Text field names seen before, found by a hash of their bytes: a fixed table, one probe, the newest
 * wins. Only short ASCII names; their hash is computed before they are stored. */
#define IONFAST_KEY_SLOTS 1024
#define IONFAST_KEY_MAX_LEN 64

typedef struct ionfast_decoder {
    ionfast_state *state; /* borrowed: outlives every decoder */
    ionf_bin_reader bin;
    ionf_txt_reader txt;
    bool is_binary;
    ionfast_model model;
    PyObject *catalog; /* owned while reading: keeps the core's view alive; NULL: none */
    ionf_buf *scratch; /* taken from the pool of string decoders while reading text */

    PyObject **values; /* owned array of owned references */
    size_t value_count, value_cap;
    ionfast_build_frame *frames; /* owned */
    size_t frame_count, frame_cap;

    /* SID -> str of the system and local symbols met so far, in step with the symbol table of `bin`
     * or `txt`: slot = sid for 0 .. 9, 10 + index for locals. Owned references or NULL. */
    PyObject **sid_strs;
    size_t sid_cap;
    uint64_t sid_generation;
    bool sid_is_binary; /* which reader's table the cache belongs to */

    PyObject **keys; /* owned: IONFAST_KEY_SLOTS of owned str or NULL; NULL until text is read */
    uint32_t countdown; /* tokens until signals are looked at */
} ionfast_decoder;

static inline ionf_reader *
ionfast_decoder_base(ionfast_decoder *dec)
{
    return dec->is_binary ? &dec->bin.base : &dec->txt.base;
}

/* A decoder from the pool; NULL with MemoryError. */
ionfast_decoder *ionfast_decoder_take(ionfast_state *state);
/* Back to the pool; reset there. */
void ionfast_decoder_give(ionfast_decoder *dec);
/* Start on a window. Binary or text by the version marker, unless `is_text` says that it is text.
 * -1 with MemoryError. */
int ionfast_decoder_open(ionfast_decoder *dec, const uint8_t *data, size_t len, bool is_final,
                         bool is_text, const ionf_limits *limits, const ionf_catalog *catalog);
/* Drop half-built values, after an error or a stop in the middle. */
void ionfast_decoder_drop_values(ionfast_decoder *dec);
/* Grow the value or frame stack; -1 with MemoryError. */
int ionfast_decoder_grow_values(ionfast_decoder *dec);
int ionfast_decoder_grow_frames(ionfast_decoder *dec);

/* Out-of-line halves of the look-ups below. New references. NULL with an exception set. */
PyObject *ionfast_sid_str_slow(ionfast_decoder *dec, uint64_t sid);
PyObject *ionfast_key_slow(ionfast_decoder *dec, const uint8_t *text, size_t len, size_t slot);

#endif
