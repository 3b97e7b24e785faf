/* Memory, files and fed chunks as windows for a decoder. */
#include "py_input.h"

static void
input_clear(ionfast_input *input, ionfast_input_kind kind)
{
    /* One by one: memset of this many bytes is `rep stos`, which takes 8 ns to begin. */
    input->kind = (uint8_t)kind;
    input->is_text = input->is_ended = input->is_ending = false;
    input->data = (const uint8_t *)"";
    input->len = input->start = 0;
    input->pulled = 0;
    input->owner = input->chunk = input->pending = input->queue = NULL;
    input->queue_head = 0;
    input->buffer = NULL;
    input->view.obj = NULL;
}

/* ---- text ---- */

/* The error for a str that has no UTF-8, at the place where it has none. */
static void
set_surrogate_error(ionfast_state *state, PyObject *str, uint64_t base_offset)
{
    PyObject *type, *error, *traceback;
    PyErr_Fetch(&type, &error, &traceback);
    PyErr_NormalizeException(&type, &error, &traceback);
    Py_ssize_t index = 0;
    if (PyUnicodeEncodeError_GetStart(error, &index) < 0) {
        PyErr_Clear();
    }
    Py_XDECREF(type);
    Py_XDECREF(error);
    Py_XDECREF(traceback);
    PyObject *before = PyUnicode_Substring(str, 0, index);
    PyObject *bytes = before == NULL ? NULL : PyUnicode_AsUTF8String(before);
    Py_XDECREF(before);
    if (bytes != NULL) {
        const uint64_t offset = base_offset + (uint64_t)PyBytes_GET_SIZE(bytes);
        Py_DECREF(bytes);
        ionfast_set_error_at(state, offset, "the text holds a lone surrogate");
    }
}

/* UTF-8 of a str as bytes of our own: asking the str for it would make it keep a copy. */
static PyObject *
encode_str(ionfast_state *state, PyObject *str, uint64_t base_offset)
{
    PyObject *bytes = PyUnicode_AsUTF8String(str);
    if (bytes == NULL && PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) {
        set_surrogate_error(state, str, base_offset);
    }
    return bytes;
}

/* The bytes of an ASCII str in place, else of a new bytes object; `*holder` keeps them, owned. */
static int
str_bytes(ionfast_state *state, PyObject *str, uint64_t base_offset, PyObject **holder,
          const uint8_t **data, size_t *len)
{
    if (PyUnicode_IS_ASCII(str)) {
        *holder = Py_NewRef(str);
        *data = PyUnicode_1BYTE_DATA(str);
        *len = (size_t)PyUnicode_GET_LENGTH(str);
        return 0;
    }
    *holder = encode_str(state, str, base_offset);
    if (*holder == NULL) {
        return -1;
    }
    *data = (const uint8_t *)PyBytes_AS_STRING(*holder);
    *len = (size_t)PyBytes_GET_SIZE(*holder);
    return 0;
}

/* ---- memory ---- */

/* Where other threads may write to it while it is read. */
static int
copy_buffer(PyObject *data, ionfast_input *input)
{
    Py_buffer view;
    IONFAST_LOCK(data);
    if (PyObject_GetBuffer(data, &view, PyBUF_SIMPLE) == 0) {
        input->owner = PyBytes_FromStringAndSize(view.buf, view.len);
        PyBuffer_Release(&view);
    }
    IONFAST_UNLOCK();
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
    if (!IONFAST_HAS_GIL) {
        return copy_buffer(data, input);
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
    if (IONF_LIKELY(PyBytes_CheckExact(data))) {
        ionfast_input_open_bytes(data, input);
        return 0;
    }
    input_clear(input, IONFAST_INPUT_MEMORY);
    input->is_ended = true;
    if (PyUnicode_Check(data)) {
        input->is_text = true;
        return str_bytes(state, data, 0, &input->owner, &input->data, &input->len);
    }
    return open_buffer(function, data, input);
}

/* ---- sources of any kind ---- */

static bool
is_compressed(const ionfast_input *input)
{
    static const uint8_t gzip[] = {0x1F, 0x8B};
    static const uint8_t zstd[] = {0x28, 0xB5, 0x2F, 0xFD};
    return !input->is_text &&
           ((input->len >= sizeof gzip && memcmp(input->data, gzip, sizeof gzip) == 0) ||
            (input->len >= sizeof zstd && memcmp(input->data, zstd, sizeof zstd) == 0));
}

/* A path, a file object or compressed bytes: the Python half gives (read, close or None). */
static int
open_through_python(ionfast_state *state, PyObject *source, PyObject *compression,
                    ionfast_input *input, PyObject **close_source)
{
    PyObject *pair = PyObject_CallFunctionObjArgs(state->open_source, source, compression, NULL);
    PyObject *read, *close;
    if (pair == NULL || !PyArg_ParseTuple(pair, "OO", &read, &close)) {
        Py_XDECREF(pair);
        return -1;
    }
    input_clear(input, IONFAST_INPUT_FILE);
    input->owner = Py_NewRef(read);
    *close_source = close == Py_None ? NULL : Py_NewRef(close);
    Py_DECREF(pair);
    return 0;
}

int
ionfast_input_open_source(ionfast_state *state, const char *function, PyObject *source,
                          PyObject *compression, ionfast_input *input, PyObject **close_source)
{
    if (!PyBytes_CheckExact(source) && !PyUnicode_Check(source) && !PyObject_CheckBuffer(source)) {
        return open_through_python(state, source, compression, input, close_source);
    }
    if (ionfast_input_open_memory(state, function, source, input) < 0) {
        return -1;
    }
    if (IONF_LIKELY(!is_compressed(input)) || compression == Py_None) {
        return 0;
    }
    ionfast_input_close(state, input);
    return open_through_python(state, source, compression, input, close_source);
}

/* ---- chunks ---- */

void
ionfast_input_open_feed(ionfast_input *input)
{
    input_clear(input, IONFAST_INPUT_FEED);
}

/* Put a chunk (stolen) behind those that wait. */
static int
enqueue(ionfast_input *input, PyObject *chunk)
{
    if (IONF_LIKELY(input->pending == NULL)) {
        input->pending = chunk;
        return 0;
    }
    if (input->queue == NULL) {
        input->queue = PyList_New(0);
    }
    const int status = input->queue == NULL ? -1 : PyList_Append(input->queue, chunk);
    Py_DECREF(chunk);
    return status;
}

int
ionfast_input_feed(ionfast_input *input, PyObject *chunk)
{
    PyObject *kept = NULL;
    if (PyBytes_CheckExact(chunk)) {
        kept = Py_NewRef(chunk);
    } else if (PyUnicode_Check(chunk)) {
        kept = PyUnicode_FromObject(chunk); /* of no subclass: it can be part of no cycle */
    } else if (PyObject_CheckBuffer(chunk)) {
        kept = PyBytes_FromObject(chunk); /* a copy: the caller may change a bytearray */
    } else {
        PyErr_Format(PyExc_TypeError, "feed() takes a bytes-like object or str, not %.200s",
                     Py_TYPE(chunk)->tp_name);
    }
    return kept == NULL ? -1 : enqueue(input, kept);
}

/* The first of the queue becomes the pending chunk. */
static void
dequeue(ionfast_input *input)
{
    if (input->queue == NULL) {
        return;
    }
    input->pending = Py_NewRef(PyList_GET_ITEM(input->queue, input->queue_head));
    input->queue_head++;
    if (input->queue_head == PyList_GET_SIZE(input->queue)) {
        input->queue_head = 0;
        Py_CLEAR(input->queue);
    }
}

/* Room for `len` bytes behind what is left of the window, in the buffer. Memory is asked for first:
 * a failure leaves the window that the decoder still looks at. */
static int
gather(ionfast_state *state, ionfast_input *input, size_t len)
{
    const size_t left = input->len - input->start;
    if (input->buffer == NULL) {
        input->buffer = ionf_pool_take(&state->buffers);
    }
    ionf_buf *const buffer = input->buffer;
    size_t needed;
    if (buffer == NULL || !ionf_size_add(left, len, &needed)) {
        goto no_memory;
    }
    if (input->chunk != NULL) {
        ionf_buf_reset(buffer);
        if (ionf_buf_reserve(buffer, needed) != IONF_OK) {
            goto no_memory;
        }
        memcpy(buffer->data, input->data + input->start, left);
        buffer->len = left;
        input->start = 0;
        Py_CLEAR(input->chunk);
        return 0;
    }
    const bool is_mostly_consumed = input->start > buffer->len / 2;
    const bool has_room = is_mostly_consumed && len <= buffer->cap - left;
    if (!has_room && ionf_buf_reserve(buffer, len) != IONF_OK) {
        goto no_memory;
    }
    if (is_mostly_consumed) {
        memmove(buffer->data, buffer->data + input->start, left);
        buffer->len = left;
        input->start = 0;
    }
    return 0;
no_memory:
    PyErr_NoMemory();
    return -1;
}

/* `len` bytes at `data`, kept by `holder` (stolen on success), follow what is in the window. */
static int
append(ionfast_state *state, ionfast_input *input, PyObject *holder, const uint8_t *data,
       size_t len)
{
    if (input->start == input->len) {
        Py_XSETREF(input->chunk, holder);
        input->data = data;
        input->len = len;
        input->start = 0;
    } else if (gather(state, input, len) < 0) {
        return -1;
    } else {
        ionf_buf *const buffer = input->buffer;
        memcpy(buffer->data + buffer->len, data, len);
        buffer->len += len;
        input->data = buffer->data;
        input->len = buffer->len;
        Py_DECREF(holder);
    }
    input->pulled += len;
    return 0;
}

/* Take the pending chunk; its number of bytes through `len`. */
static int
take_pending(ionfast_state *state, ionfast_input *input, size_t *len)
{
    PyObject *holder;
    const uint8_t *data;
    if (IONF_LIKELY(PyBytes_CheckExact(input->pending) && input->start == input->len)) {
        *len = (size_t)PyBytes_GET_SIZE(input->pending);
        if (*len != 0) {
            holder = input->pending;
            input->pending = NULL;
            return append(state, input, holder, (const uint8_t *)PyBytes_AS_STRING(holder), *len);
        }
    }
    if (PyUnicode_Check(input->pending)) {
        if (str_bytes(state, input->pending, input->pulled, &holder, &data, len) < 0) {
            return -1;
        }
        input->is_text = true;
    } else {
        holder = PyBytes_FromObject(input->pending); /* itself, if it is exactly bytes */
        if (holder == NULL) {
            return -1;
        }
        data = (const uint8_t *)PyBytes_AS_STRING(holder);
        *len = (size_t)PyBytes_GET_SIZE(holder);
    }
    if (*len == 0) {
        Py_DECREF(holder);
    } else if (append(state, input, holder, data, *len) < 0) {
        Py_DECREF(holder);
        return -1;
    }
    Py_CLEAR(input->pending);
    return 0;
}

/* What the file's read gives, as the pending chunk. */
static int
read_file(ionfast_input *input)
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
    input->pending = chunk;
    return 0;
}

static int
pull_file(ionfast_state *state, ionfast_input *input)
{
    size_t len = 0;
    if ((input->pending == NULL && read_file(input) < 0) || take_pending(state, input, &len) < 0) {
        return -1;
    }
    input->is_ended = len == 0;
    return 1;
}

static int
pull_feed(ionfast_state *state, ionfast_input *input)
{
    const bool was_ended = input->is_ended;
    size_t len = 0;
    while (len == 0 && input->pending != NULL) {
        if (take_pending(state, input, &len) < 0) {
            return -1;
        }
        dequeue(input);
    }
    input->is_ended = input->is_ending && input->pending == NULL;
    return len != 0 || input->is_ended != was_ended;
}

int
ionfast_input_pull(ionfast_state *state, ionfast_input *input)
{
    return input->kind == IONFAST_INPUT_FILE ? pull_file(state, input) : pull_feed(state, input);
}

/* ---- all kinds ---- */

void
ionfast_input_consume(ionfast_input *input, size_t count)
{
    input->start += count;
}

int
ionfast_input_traverse(const ionfast_input *input, visitproc visit, void *arg)
{
    Py_VISIT(input->owner);
    Py_VISIT(input->view.obj);
    if (input->kind != IONFAST_INPUT_MEMORY) {
        Py_VISIT(input->pending);
        Py_VISIT(input->queue);
    }
    return 0;
}

void
ionfast_input_close(ionfast_state *state, ionfast_input *input)
{
    Py_CLEAR(input->owner);
    if (IONF_LIKELY(input->kind == IONFAST_INPUT_MEMORY)) {
        if (IONF_UNLIKELY(input->view.obj != NULL)) {
            PyBuffer_Release(&input->view); /* sets obj to NULL */
        }
        return;
    }
    Py_CLEAR(input->chunk);
    Py_CLEAR(input->pending);
    Py_CLEAR(input->queue);
    ionf_buf *const buffer = input->buffer;
    if (buffer != NULL) {
        input->buffer = NULL;
        ionf_pool_give(&state->buffers, buffer);
    }
}
