/* Memory, files and fed chunks as windows for a decoder. */
#include "py_input.h"

static void
input_clear(ionfast_input *input, ionfast_input_kind kind)
{
    memset(input, 0, offsetof(ionfast_input, view));
    input->view.obj = NULL;
    input->buffer = NULL;
    input->start = 0;
    input->kind = (uint8_t)kind;
}

/* ---- memory ---- */

/* UTF-8 of a str as bytes of our own: asking the str for it would make it keep a copy. */
static PyObject *
encode_str(ionfast_state *state, PyObject *str)
{
    PyObject *bytes = PyUnicode_AsUTF8String(str);
    if (bytes == NULL && PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) {
        PyErr_Clear();
        return ionfast_set_error_at(state, 0, "the text holds a lone surrogate");
    }
    return bytes;
}

static int
open_str(ionfast_state *state, PyObject *str, ionfast_input *input)
{
    input->is_text = true;
    if (PyUnicode_IS_ASCII(str)) {
        input->owner = Py_NewRef(str);
        input->data = PyUnicode_1BYTE_DATA(str);
        input->len = (size_t)PyUnicode_GET_LENGTH(str);
        return 0;
    }
    input->owner = encode_str(state, str);
    if (input->owner == NULL) {
        return -1;
    }
    input->data = (const uint8_t *)PyBytes_AS_STRING(input->owner);
    input->len = (size_t)PyBytes_GET_SIZE(input->owner);
    return 0;
}

static int
open_buffer(const char *function, PyObject *data, ionfast_input *input)
{
    if (!PyObject_CheckBuffer(data)) {
        PyErr_Format(PyExc_TypeError,
                     "%s() takes bytes, bytearray, memoryview, another buffer or str, not %.200s",
                     function, Py_TYPE(data)->tp_name);
        return -1;
    }
    if (PyObject_GetBuffer(data, &input->view, PyBUF_SIMPLE) < 0) {
        input->view.obj = NULL;
        return -1;
    }
    input->data = input->view.buf;
    input->len = (size_t)input->view.len;
    return 0;
}

int
ionfast_input_open_memory(ionfast_state *state, const char *function, PyObject *data,
                          ionfast_input *input)
{
    input_clear(input, IONFAST_INPUT_MEMORY);
    input->is_ended = true;
    if (PyBytes_CheckExact(data)) {
        input->owner = Py_NewRef(data);
        input->data = (const uint8_t *)PyBytes_AS_STRING(data);
        input->len = (size_t)PyBytes_GET_SIZE(data);
        return 0;
    }
    return PyUnicode_Check(data) ? open_str(state, data, input)
                                 : open_buffer(function, data, input);
}

/* ---- chunks ---- */

static int
take_buffer(ionfast_state *state, ionfast_input *input)
{
    input->buffer = ionf_pool_take(&state->buffers);
    if (input->buffer == NULL) {
        PyErr_NoMemory();
        Py_CLEAR(input->owner);
        return -1;
    }
    return 0;
}

int
ionfast_input_open_file(ionfast_state *state, PyObject *read, ionfast_input *input)
{
    input_clear(input, IONFAST_INPUT_FILE);
    input->owner = Py_NewRef(read);
    return take_buffer(state, input);
}

int
ionfast_input_open_feed(ionfast_state *state, ionfast_input *input)
{
    input_clear(input, IONFAST_INPUT_FEED);
    input->owner = PyList_New(0);
    return input->owner == NULL ? -1 : take_buffer(state, input);
}

int
ionfast_input_feed(ionfast_input *input, PyObject *chunk)
{
    PyObject *kept = NULL;
    if (PyBytes_CheckExact(chunk) || PyUnicode_Check(chunk)) {
        kept = Py_NewRef(chunk);
    } else if (PyObject_CheckBuffer(chunk)) {
        kept = PyBytes_FromObject(chunk); /* a copy: the caller may change a bytearray */
    } else {
        PyErr_Format(PyExc_TypeError, "feed() takes a bytes-like object or str, not %.200s",
                     Py_TYPE(chunk)->tp_name);
    }
    if (kept == NULL) {
        return -1;
    }
    const int status = PyList_Append(input->owner, kept);
    Py_DECREF(kept);
    return status;
}

/* Append, forgetting what was consumed when it is the larger part. Memory is asked for first, so that
 * a failure leaves the window that the decoder still looks at. */
static int
append_bytes(ionfast_input *input, const void *data, size_t len)
{
    ionf_buf *buffer = input->buffer;
    const size_t left = buffer->len - input->start;
    const bool is_mostly_consumed = input->start > buffer->len / 2;
    const bool has_room = is_mostly_consumed && len <= buffer->cap - left;
    if (!has_room && ionf_buf_reserve(buffer, len) != IONF_OK) {
        PyErr_NoMemory();
        return -1;
    }
    if (is_mostly_consumed) {
        memmove(buffer->data, buffer->data + input->start, left);
        buffer->len = left;
        input->start = 0;
    }
    if (len != 0) {
        memcpy(buffer->data + buffer->len, data, len);
        buffer->len += len;
    }
    return 0;
}

/* Append a chunk of any kind; its number of bytes through `len`. */
static int
append_chunk(ionfast_state *state, ionfast_input *input, PyObject *chunk, size_t *len)
{
    if (PyUnicode_Check(chunk)) {
        input->is_text = true;
        PyObject *bytes = encode_str(state, chunk);
        if (bytes == NULL) {
            return -1;
        }
        *len = (size_t)PyBytes_GET_SIZE(bytes);
        const int status = append_bytes(input, PyBytes_AS_STRING(bytes), *len);
        Py_DECREF(bytes);
        return status;
    }
    Py_buffer view;
    if (PyObject_GetBuffer(chunk, &view, PyBUF_SIMPLE) < 0) {
        return -1;
    }
    *len = (size_t)view.len;
    const int status = append_bytes(input, view.buf, *len);
    PyBuffer_Release(&view);
    return status;
}

static int
pull_file(ionfast_state *state, ionfast_input *input)
{
    PyObject *size = PyLong_FromLong(IONFAST_READ_SIZE);
    PyObject *chunk = size == NULL ? NULL : PyObject_CallOneArg(input->owner, size);
    Py_XDECREF(size);
    if (chunk == NULL) {
        return -1;
    }
    if (!PyUnicode_Check(chunk) && !PyObject_CheckBuffer(chunk)) {
        PyErr_Format(PyExc_TypeError, "read() of the source must give bytes or str, not %.200s",
                     Py_TYPE(chunk)->tp_name);
        Py_DECREF(chunk);
        return -1;
    }
    size_t len = 0;
    const int status = append_chunk(state, input, chunk, &len);
    Py_DECREF(chunk);
    if (status < 0) {
        return -1;
    }
    input->is_ended = len == 0;
    return 1;
}

static int
pull_feed(ionfast_state *state, ionfast_input *input)
{
    PyObject *chunks = input->owner;
    const Py_ssize_t count = PyList_GET_SIZE(chunks);
    Py_ssize_t done = 0;
    size_t len;
    while (done < count && append_chunk(state, input, PyList_GET_ITEM(chunks, done), &len) == 0) {
        done++;
    }
    if (PyList_SetSlice(chunks, 0, done, NULL) < 0 || done < count) {
        return -1;
    }
    const bool has_ended = input->is_ending && !input->is_ended;
    input->is_ended = input->is_ending;
    return count != 0 || has_ended;
}

int
ionfast_input_pull(ionfast_state *state, ionfast_input *input)
{
    return input->kind == IONFAST_INPUT_FILE ? pull_file(state, input) : pull_feed(state, input);
}

void
ionfast_input_consume(ionfast_input *input, size_t count)
{
    input->start += count;
}

void
ionfast_input_window(const ionfast_input *input, const uint8_t **data, size_t *len)
{
    if (input->kind == IONFAST_INPUT_MEMORY) {
        *data = input->data;
        *len = input->len;
        return;
    }
    *len = input->buffer->len - input->start;
    *data = *len == 0 ? (const uint8_t *)"" : input->buffer->data + input->start;
}

void
ionfast_input_close(ionfast_state *state, ionfast_input *input)
{
    Py_CLEAR(input->owner);
    if (input->view.obj != NULL) {
        PyBuffer_Release(&input->view);
        input->view.obj = NULL;
    }
    if (input->buffer != NULL) {
        ionf_buf *buffer = input->buffer;
        input->buffer = NULL;
        ionf_pool_give(&state->buffers, buffer);
    }
}
