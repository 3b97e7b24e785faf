/* Where finished output goes: a file object, or memory. Output comes in segments, each a bytes or, for
 * a text file and for text in memory, a str.
 *
 * A file may take a segment little by little, and raise in between. What it has not taken stays, and a
 * retry goes on from there: nothing is lost, nothing written twice.
 *
 *   left   [taken .....|=== still to be written ===]
 *                       ^ done
 */
#ifndef PY_SINK_H
#define PY_SINK_H

#include "py_state.h"

typedef struct ionfast_sink {
    PyObject *file;     /* owned, as all of these; NULL: memory, or closed */
    PyObject *write;    /* its bound method */
    PyObject *close;    /* callable that closes a file opened here; or NULL */
    PyObject *segments; /* memory: a list of the segments so far; else NULL */
    PyObject *left;     /* a segment that has not been taken in full; or NULL */
    Py_ssize_t done;    /* bytes of it that have */
    bool takes_str;     /* segments of text Ion are str, not UTF-8 */
} ionfast_sink;

/* `target`: a path, which is opened, a file object, or None for memory. A path must not be that of
 * `source`, which is being read; NULL: there is none. -1 with an exception; close is due even then. */
int ionfast_sink_open(ionfast_state *state, PyObject *target, PyObject *source, bool is_binary,
                      ionfast_sink *sink);
static inline bool
ionfast_sink_is_memory(const ionfast_sink *sink)
{
    return sink->segments != NULL;
}
/* `len` bytes of valid UTF-8 or of binary Ion as a segment; new reference. */
PyObject *ionfast_sink_segment(const ionfast_sink *sink, const uint8_t *data, size_t len);
/* Write a segment, which is stolen; nothing is left of an earlier one. -1 with what the file raised.
 * Runs foreign code. */
int ionfast_sink_write(ionfast_sink *sink, PyObject *segment);
/* Write what is left after a failure. */
int ionfast_sink_retry(ionfast_sink *sink);
/* Have the file flush its own buffers, if it knows how to. */
int ionfast_sink_flush(ionfast_sink *sink);
/* Memory: all of it in one object; new reference. */
PyObject *ionfast_sink_value(ionfast_sink *sink);
/* Let go of everything; a file opened by path is closed. -1 when that raises; an exception that was
 * set before stays set, and counts. Safe to call twice. */
int ionfast_sink_close(ionfast_sink *sink);

#endif
