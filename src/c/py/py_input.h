/* Where a decoder's bytes come from: memory as a whole, a file object read in chunks, or chunks that
 * the user feeds. Hands the decoder one window after another.
 *
 *   window  [consumed ....|== not consumed yet ==]
 *           ^ data         ^ start               ^ len
 *
 * A chunk is a window as it is, uncopied, when all before it has been consumed. Else what is left and
 * the chunk are joined in a buffer, where the consumed part goes only when it is the larger one: so a
 * value longer than a chunk is not moved once per chunk.
 */
#ifndef PY_INPUT_H
#define PY_INPUT_H

#include "ionf_buf.h"
#include "py_state.h"

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
    const uint8_t *data; /* borrowed from owner, view, chunk or buffer */
    size_t len;
    size_t start;    /* first byte of data not consumed; 0 in MEMORY */
    uint64_t pulled; /* FILE, FEED: bytes pulled, the offset of the next chunk */
    PyObject *owner; /* owned: MEMORY: bytes or str; FILE: the bound read method; or NULL */
    PyObject *chunk; /* owned: bytes or str that `data` points into; NULL: it is another's */
    /* Owned: the next chunk, not taken yet. It stays when taking it fails, so nothing gets lost. */
    PyObject *pending;
    PyObject *queue;       /* owned: FEED: list of those behind it; NULL: none */
    Py_ssize_t queue_head; /* first of them */
    ionf_buf *buffer; /* owned: from the pool of byte buffers, when chunks were joined; or NULL */
    Py_buffer view;   /* MEMORY: held until the end, so that a bytearray cannot be resized */
} ionfast_input;

/* bytes-like or str. -1 with TypeError, naming `function`, or IonError. */
int ionfast_input_open_memory(ionfast_state *state, const char *function, PyObject *data,
                              ionfast_input *input);
/* Any source but None: bytes-like, str, a path, a file object; gzip and zstd are decompressed unless
 * `compression` is None. `*close_source` is what closes it, owned, or NULL. -1 with an exception, naming
 * `function` where the source is not one; nothing is left open then. */
int ionfast_input_open_source(ionfast_state *state, const char *function, PyObject *source,
                              PyObject *compression, ionfast_input *input,
                              PyObject **close_source);
/* Nothing yet: what is fed. */
void ionfast_input_open_feed(ionfast_input *input);
/* FEED: remember a chunk; it is looked at when the decoder asks for more. */
int ionfast_input_feed(ionfast_input *input, PyObject *chunk);
/* `count` more bytes of the window have been used up: what the reader's release() gave. To be told
 * before each pull, which may move or drop them. */
void ionfast_input_consume(ionfast_input *input, size_t count);
/* FILE, FEED: get more bytes behind the window. 1: there are more, or the end is known now; 0: none
 * yet; -1: an exception is set, the window stays as it was. May run Python code (the file's read). */
int ionfast_input_pull(ionfast_state *state, ionfast_input *input);
/* The bytes that have not been consumed, as the reader's next window. */
static inline void
ionfast_input_window(const ionfast_input *input, const uint8_t **data, size_t *len)
{
    *data = input->data + input->start;
    *len = input->len - input->start;
}
/* Bytes as an input, of which a reference is taken: the short way through open_memory. Not all of
 * `input` is set: nothing looks at what only files and chunks need. */
static inline void
ionfast_input_open_bytes(PyObject *bytes, ionfast_input *input)
{
    input->kind = IONFAST_INPUT_MEMORY;
    input->is_text = false;
    input->is_ended = true;
    input->data = (const uint8_t *)PyBytes_AS_STRING(bytes);
    input->len = (size_t)PyBytes_GET_SIZE(bytes);
    input->start = 0;
    input->owner = Py_NewRef(bytes);
    input->view.obj = NULL;
}
/* FEED: the first chunk, as a window at once; else as feed(). */
static inline void
ionfast_input_feed_first(ionfast_input *input, PyObject *bytes)
{
    input->chunk = Py_NewRef(bytes);
    input->data = (const uint8_t *)PyBytes_AS_STRING(bytes);
    input->len = (size_t)PyBytes_GET_SIZE(bytes);
    input->pulled = input->len;
}
/* For tp_traverse of whoever owns an input. */
int ionfast_input_traverse(const ionfast_input *input, visitproc visit, void *arg);
/* Release all; safe to call twice. May run Python code. */
void ionfast_input_close(ionfast_state *state, ionfast_input *input);

#endif
