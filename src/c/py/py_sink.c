/* Segments of output -> file or memory. In C, so that no signal handler can come between a file's
 * write and the note of what it took. */
#include "py_sink.h"

#include "py_values.h"

int
ionfast_sink_open(ionfast_state *state, PyObject *target, PyObject *source, bool is_binary,
                  ionfast_sink *sink)
{
    *sink = (ionfast_sink){.takes_str = !is_binary};
    if (target == Py_None) {
        sink->segments = PyList_New(0);
        return sink->segments == NULL ? -1 : 0;
    }
    PyObject *opened = PyObject_CallFunctionObjArgs(state->open_target, target,
                                                    is_binary ? Py_True : Py_False, source, NULL);
    PyObject *file, *write, *close;
    int takes_str;
    if (opened == NULL || !PyArg_ParseTuple(opened, "OOOp", &file, &write, &close, &takes_str)) {
        Py_XDECREF(opened);
        return -1;
    }
    sink->file = Py_NewRef(file);
    sink->write = Py_NewRef(write);
    sink->close = close == Py_None ? NULL : Py_NewRef(close);
    sink->takes_str = takes_str != 0;
    Py_DECREF(opened);
    return 0;
}

PyObject *
ionfast_sink_segment(const ionfast_sink *sink, const uint8_t *data, size_t len)
{
    if (!sink->takes_str) {
        return ionfast_bytes_new(data, len);
    }
    return len <= IONF_STEP_BYTES ? PyUnicode_DecodeUTF8((const char *)data, (Py_ssize_t)len, NULL)
                                  : ionfast_str_from_wide(data, len);
}

/* ---- files ---- */

/* Count `count` bytes of what is left, or all of it when negative, as taken. */
static void
take(ionfast_sink *sink, Py_ssize_t count)
{
    sink->done += count;
    if (count < 0 || sink->takes_str || sink->done >= PyBytes_GET_SIZE(sink->left)) {
        sink->done = 0;
        Py_CLEAR(sink->left);
    }
}

/* After write() has raised: a BlockingIOError may say that a part was taken. */
static void
take_before_error(ionfast_sink *sink)
{
    if (!PyErr_ExceptionMatches(PyExc_BlockingIOError) || sink->takes_str) {
        return;
    }
    PyObject *type, *error, *traceback;
    PyErr_Fetch(&type, &error, &traceback);
    PyErr_NormalizeException(&type, &error, &traceback);
    PyObject *written = PyObject_GetAttrString(error, "characters_written");
    const Py_ssize_t count = written == NULL ? 0 : PyLong_AsSsize_t(written);
    Py_XDECREF(written);
    PyErr_Clear();
    if (count > 0) {
        take(sink, count);
    }
    PyErr_Restore(type, error, traceback);
}

/* Does None from this file's write() say that nothing was taken? 1, 0, or -1 on an exception. */
static int
is_raw(PyObject *file)
{
    PyObject *io = PyImport_ImportModule("io");
    PyObject *raw = io == NULL ? NULL : PyObject_GetAttrString(io, "RawIOBase");
    const int result = raw == NULL ? -1 : PyObject_IsInstance(file, raw);
    Py_XDECREF(io);
    Py_XDECREF(raw);
    return result;
}

/* Make sense of what write() gave for `len` bytes. */
static int
take_result(ionfast_sink *sink, PyObject *result, Py_ssize_t len)
{
    if (result == Py_None && !sink->takes_str) {
        const int took_nothing = is_raw(sink->file);
        if (took_nothing > 0) {
            PyErr_SetString(PyExc_BlockingIOError, "the target takes no more now");
        }
        if (took_nothing != 0) {
            return -1;
        }
    }
    if (sink->takes_str || !PyLong_Check(result)) {
        take(sink, -1); /* other objects than binary files may say nothing */
        return 0;
    }
    const Py_ssize_t count = PyLong_AsSsize_t(result);
    if (count <= 0 || count > len) {
        PyErr_Clear();
        PyErr_Format(PyExc_OSError, "write() of the target gave %R for %zd bytes", result, len);
        return -1;
    }
    take(sink, count);
    return 0;
}

/* What is left, as write() takes it; new reference. */
static PyObject *
left_chunk(const ionfast_sink *sink)
{
    if (sink->done == 0) {
        return Py_NewRef(sink->left);
    }
    PyObject *view = PyMemoryView_FromObject(sink->left);
    PyObject *chunk =
        view == NULL ? NULL : PySequence_GetSlice(view, sink->done, PyBytes_GET_SIZE(sink->left));
    Py_XDECREF(view);
    return chunk;
}

static int
write_some(ionfast_sink *sink)
{
    PyObject *chunk = left_chunk(sink);
    const Py_ssize_t len = chunk == NULL ? -1 : PyObject_Size(chunk);
    if (len < 0) {
        Py_XDECREF(chunk);
        return -1;
    }
    PyObject *result = PyObject_CallOneArg(sink->write, chunk);
    Py_DECREF(chunk);
    if (result == NULL) {
        take_before_error(sink);
        return -1;
    }
    const int status = take_result(sink, result, len);
    Py_DECREF(result);
    return status;
}

/* ---- both ---- */

int
ionfast_sink_retry(ionfast_sink *sink)
{
    while (sink->left != NULL) {
        if (!ionfast_sink_is_memory(sink)) {
            if (write_some(sink) < 0) {
                return -1;
            }
        } else if (PyList_Append(sink->segments, sink->left) < 0) {
            return -1;
        } else {
            Py_CLEAR(sink->left);
        }
    }
    return 0;
}

int
ionfast_sink_write(ionfast_sink *sink, PyObject *segment)
{
    sink->left = segment;
    sink->done = 0;
    return ionfast_sink_retry(sink);
}

int
ionfast_sink_flush(ionfast_sink *sink)
{
    if (sink->file == NULL) {
        return 0;
    }
    PyObject *flush = PyObject_GetAttrString(sink->file, "flush");
    if (flush == NULL) {
        if (!PyErr_ExceptionMatches(PyExc_AttributeError)) {
            return -1;
        }
        PyErr_Clear();
        return 0;
    }
    PyObject *result = PyObject_CallNoArgs(flush);
    Py_DECREF(flush);
    Py_XDECREF(result);
    return result == NULL ? -1 : 0;
}

PyObject *
ionfast_sink_value(ionfast_sink *sink)
{
    if (PyList_GET_SIZE(sink->segments) == 1) {
        return Py_NewRef(PyList_GET_ITEM(sink->segments, 0));
    }
    PyObject *const nothing =
        sink->takes_str ? PyUnicode_New(0, 0) : PyBytes_FromStringAndSize(NULL, 0);
    PyObject *value =
        nothing == NULL ? NULL : PyObject_CallMethod(nothing, "join", "O", sink->segments);
    Py_XDECREF(nothing);
    /* The next call finds one segment. */
    PyObject *joined = value == NULL ? NULL : PyList_New(1);
    if (joined == NULL) {
        Py_XDECREF(value);
        return NULL;
    }
    PyList_SET_ITEM(joined, 0, Py_NewRef(value));
    Py_SETREF(sink->segments, joined);
    return value;
}

int
ionfast_sink_close(ionfast_sink *sink)
{
    PyObject *type, *error, *traceback;
    PyErr_Fetch(&type, &error, &traceback);
    PyObject *const close = sink->close;
    sink->close = NULL;
    Py_CLEAR(sink->write);
    Py_CLEAR(sink->file);
    Py_CLEAR(sink->segments);
    Py_CLEAR(sink->left);
    PyObject *result = close == NULL ? Py_NewRef(Py_None) : PyObject_CallNoArgs(close);
    Py_XDECREF(close);
    Py_XDECREF(result);
    if (type == NULL) {
        return result == NULL ? -1 : 0;
    }
    if (result == NULL) {
        PyErr_Clear(); /* the first error is the one to know of */
    }
    PyErr_Restore(type, error, traceback);
    return -1;
}
