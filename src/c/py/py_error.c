/* Core status codes -> Python exceptions: the only place where an IonError is made. */
#include "py_state.h"

#include <stdarg.h>

#define FOUND_TEXT_MAX 48

/* "':'", "the end of the input", "U+00E9" or, in binary, "0xE9". */
static void
describe_found(const ionf_error *error, char *dst)
{
    const int32_t found = error->found;
    if (found == IONF_FOUND_END) {
        PyOS_snprintf(dst, FOUND_TEXT_MAX, "the end of the input");
    } else if (error->line == 0) {
        PyOS_snprintf(dst, FOUND_TEXT_MAX, "0x%02X", (unsigned)found);
    } else if (found >= 0x20 && found < 0x7F) {
        PyOS_snprintf(dst, FOUND_TEXT_MAX, "'%c'", (char)found);
    } else if (found == '\n') {
        PyOS_snprintf(dst, FOUND_TEXT_MAX, "the end of the line");
    } else {
        PyOS_snprintf(dst, FOUND_TEXT_MAX, "U+%04X", (unsigned)found);
    }
}

static PyObject *
format_place(const ionf_error *error)
{
    if (error->line == 0) {
        return PyUnicode_FromFormat("offset %llu", (unsigned long long)error->offset);
    }
    return PyUnicode_FromFormat("line %llu, column %llu (offset %llu)",
                                (unsigned long long)error->line, (unsigned long long)error->column,
                                (unsigned long long)error->offset);
}

static PyObject *
format_reason(const ionf_error *error)
{
    char found[FOUND_TEXT_MAX] = "";
    const bool has_found = error->found != IONF_FOUND_NONE;
    if (has_found) {
        describe_found(error, found);
    }
    const bool is_syntax = error->status == IONF_ERR_SYNTAX;
    if (error->expected == NULL) {
        return PyUnicode_FromFormat("%s%s%s", ionf_status_text(error->status),
                                    has_found ? ": " : "", found);
    }
    return PyUnicode_FromFormat(
        "%s%sexpected %s%s%s", is_syntax ? "" : ionf_status_text(error->status),
        is_syntax ? "" : ": ", error->expected, has_found ? ", found " : "", found);
}

/* Raise IonError(message, offset, line, column); steals `message`; line 0 means none. */
static PyObject *
raise_ion_error(ionfast_state *state, PyObject *message, const ionf_error *error, bool has_offset)
{
    if (message == NULL) {
        return NULL;
    }
    PyObject *exception;
    if (!has_offset) {
        exception = PyObject_CallFunction(state->IonError, "O", message);
    } else if (error->line == 0) {
        exception = PyObject_CallFunction(state->IonError, "OK", message,
                                          (unsigned long long)error->offset);
    } else {
        exception = PyObject_CallFunction(
            state->IonError, "OKKK", message, (unsigned long long)error->offset,
            (unsigned long long)error->line, (unsigned long long)error->column);
    }
    Py_DECREF(message);
    if (exception != NULL) {
        PyErr_SetObject(state->IonError, exception);
        Py_DECREF(exception);
    }
    return NULL;
}

PyObject *
ionfast_set_error(ionfast_state *state, const ionf_error *error)
{
    if (PyErr_Occurred()) {
        return NULL;
    }
    if (error->status == IONF_ERR_NOMEM) {
        return PyErr_NoMemory();
    }
    PyObject *place = format_place(error);
    PyObject *reason = place == NULL ? NULL : format_reason(error);
    PyObject *message = reason == NULL ? NULL : PyUnicode_FromFormat("%U: %U", place, reason);
    Py_XDECREF(place);
    Py_XDECREF(reason);
    return raise_ion_error(state, message, error, true);
}

PyObject *
ionfast_set_error_at(ionfast_state *state, uint64_t offset, const char *format, ...)
{
    const ionf_error error = {IONF_ERR_STATE, IONF_FOUND_NONE, offset, 0, 0, NULL};
    va_list args;
    va_start(args, format);
    PyObject *reason = PyUnicode_FromFormatV(format, args);
    va_end(args);
    if (reason == NULL) {
        return NULL;
    }
    PyObject *message =
        PyUnicode_FromFormat("offset %llu: %U", (unsigned long long)offset, reason);
    Py_DECREF(reason);
    return raise_ion_error(state, message, &error, true);
}

PyObject *
ionfast_set_status(ionfast_state *state, ionf_status status)
{
    if (PyErr_Occurred()) {
        return NULL;
    }
    if (status == IONF_ERR_NOMEM) {
        return PyErr_NoMemory();
    }
    return raise_ion_error(state, PyUnicode_FromString(ionf_status_text(status)), NULL, false);
}

void
ionfast_error_add_offset(ionfast_state *state, uint64_t offset)
{
    if (!PyErr_ExceptionMatches(state->IonError)) {
        return;
    }
    PyObject *type, *error, *traceback;
    PyErr_Fetch(&type, &error, &traceback);
    PyErr_NormalizeException(&type, &error, &traceback);
    PyObject *old = PyObject_GetAttr(error, state->str_offset);
    if (old == Py_None) {
        PyObject *text = PyObject_Str(error);
        if (text != NULL) {
            ionfast_set_error_at(state, offset, "%U", text);
            Py_DECREF(text);
            Py_CLEAR(error);
        }
    }
    Py_XDECREF(old);
    if (error == NULL) {
        Py_XDECREF(type);
        Py_XDECREF(traceback);
    } else {
        PyErr_Clear();
        PyErr_Restore(type, error, traceback);
    }
}

/* Steps of a path that are shown at either end of a long one. */
#define PATH_ENDS 16

PyObject *
ionfast_path_extend(PyObject *path, ionfast_path_step step, const void *walk, size_t count)
{
    for (size_t i = 0; path != NULL && i < count; i++) {
        if (i == PATH_ENDS && count > 2 * PATH_ENDS) {
            PyUnicode_AppendAndDel(&path, PyUnicode_FromString("..."));
            i = count - PATH_ENDS - 1;
        } else {
            PyUnicode_AppendAndDel(&path, step(walk, i));
        }
    }
    return path;
}
