/* Where a decoder's bytes come from: memory as a whole, a file object read in chunks, or chunks that
 * the user feeds. Hands the decoder one window after another.
 *
 *   buffer  [consumed ....|== window: not consumed yet ==]   <- next chunk is appended
 *                          ^ start
 * What has been consumed is dropped only when it is more than half, so that a value longer than a
 * chunk is not moved once per chunk.
 */
#ifndef PY_INPUT_H
#define PY_INPUT_H

#include "py_decoder.h"

#define IONFAST_READ_SIZE 65536

typedef enum ionfast_input_kind {
    IONFAST_INPUT_MEMORY = 0,
    IONFAST_INPUT_FILE = 1,
    IONFAST_INPUT_FEED = 2
} ionfast_input_kind;

typedef struct ionfast_input {
    uint8_t kind;
    bool is_text;        /* a str, or chunks of str: text Ion, whatever it begins with */
    bool is_ended;       /* nothing follows what has been pulled */
    bool is_ending;      /* FEED: end() was called; the last chunks may not have been pulled yet */
    const uint8_t *data; /* MEMORY: borrowed from owner or view */
    size_t len;
    PyObject *owner; /* owned: the bytes read from, the bound read method, or the list of chunks fed */
    Py_buffer view;  /* MEMORY: held until the end, so that a bytearray cannot be resized */
    ionf_buf *buffer; /* FILE, FEED: taken from the pool of byte buffers */
    size_t start;     /* in buffer: first byte not consumed */
} ionfast_input;

/* bytes-like or str. -1 with TypeError, naming `function`, or IonError. */
int ionfast_input_open_memory(ionfast_state *state, const char *function, PyObject *data,
                              ionfast_input *input);
/* A file object: `read` is its bound method, of which a reference is taken. */
int ionfast_input_open_file(ionfast_state *state, PyObject *read, ionfast_input *input);
int ionfast_input_open_feed(ionfast_state *state, ionfast_input *input);
/* FEED: remember a chunk; it is looked at when the decoder asks for more. */
int ionfast_input_feed(ionfast_input *input, PyObject *chunk);
/* `count` more bytes of the window have been used up: what the reader's release() gave. To be told
 * before each pull, which may move or drop them. */
void ionfast_input_consume(ionfast_input *input, size_t count);
/* FILE, FEED: get more bytes into the buffer. 1: there are more, or the end is known now; 0: none yet;
 * -1: an exception is set, the window stays as it was. May run Python code (the file's read). */
int ionfast_input_pull(ionfast_state *state, ionfast_input *input);
/* The bytes that have not been consumed, as the reader's next window. */
void ionfast_input_window(const ionfast_input *input, const uint8_t **data, size_t *len);
/* Release all; safe to call twice. */
void ionfast_input_close(ionfast_state *state, ionfast_input *input);

#endif
