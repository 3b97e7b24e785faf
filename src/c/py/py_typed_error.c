/* ValidationError and the paths in it. */
#include "py_typed_error.h"

#include "py_build.h"

/* ---- paths ---- */

/* ".name" or "['a name']" or "[3]"; new reference. */
static PyObject *
frame_step(const void *walk, size_t index)
{
    const ionfast_typed_stack *const stack = walk;
    const ionfast_typed_frame *const frame = &stack->frames[index];
    const size_t end =
        index + 1 < stack->frame_count ? stack->frames[index + 1].start : stack->value_count;
    const ionfast_plan_node *const node = frame->node;
    PyObject *name = NULL;
    if (node->op == IONFAST_PLAN_RECORD) {
        if (frame->slot == UINT32_MAX) {
            return PyUnicode_FromString("");
        }
        name = node->record->fields[frame->slot].name;
    } else if (node->op == IONFAST_PLAN_TAGGED) {
        if (frame->slot == UINT32_MAX) {
            return PyUnicode_FromString("");
        }
        name = PyTuple_GET_ITEM(node->results, 1);
    } else if (node->op == IONFAST_PLAN_DICT || node->op == IONFAST_PLAN_ANY_STRUCT) {
        if ((end - frame->start) % 2 == 0) { /* no key in hand */
            return PyUnicode_FromString("");
        }
        name = stack->values[end - 1];
    }
    if (name == NULL) {
        return PyUnicode_FromFormat("[%zu]", end - frame->start);
    }
    const bool is_plain = PyUnicode_Check(name) && PyUnicode_IsIdentifier(name) == 1;
    return is_plain ? PyUnicode_FromFormat(".%U", name) : PyUnicode_FromFormat("[%R]", name);
}

/* Of the value in hand, or of the innermost container. */
static PyObject *
path_of(const ionfast_typed_stack *stack, bool with_last)
{
    const size_t count = stack->frame_count - (with_last || stack->frame_count == 0 ? 0 : 1);
    return ionfast_path_extend(PyUnicode_FromString("$"), frame_step, stack, count);
}

/* ---- what was found ---- */

const char *
ionfast_typed_kind_name(unsigned kind)
{
    static const char *const names[] = {"null",      "bool",   "int",    "float", "decimal",
                                        "timestamp", "symbol", "string", "clob",  "blob",
                                        "list",      "sexp",   "struct"};
    return kind < sizeof names / sizeof names[0] ? names[kind] : "nothing";
}

PyObject *
ionfast_typed_found(ionfast_decoder *dec, const ionf_token *t)
{
    const char *const kind = ionfast_typed_kind_name(t->kind);
    PyObject *found = PyUnicode_FromString("");
    for (uint32_t i = 0; found != NULL && i < t->annotation_count; i++) {
        PyObject *name = ionfast_symref_str(dec, &t->annotations[i]);
        PyObject *text = name == NULL            ? NULL
                         : PyUnicode_Check(name) ? PyUnicode_FromFormat("%U::", name)
                                                 : PyUnicode_FromString("$0::");
        Py_XDECREF(name);
        PyUnicode_AppendAndDel(&found, text);
    }
    if (found != NULL) {
        const bool is_typed_null = t->is_null && t->kind != IONF_KIND_NULL;
        PyUnicode_AppendAndDel(&found,
                               PyUnicode_FromFormat("%s%s", is_typed_null ? "null." : "", kind));
    }
    return found;
}

/* ---- raising ---- */

/* Line and column of an offset in the window of text. */
static void
place_of(const ionfast_decoder *dec, uint64_t offset, unsigned long long *line,
         unsigned long long *column)
{
    const ionf_reader *const base = &dec->txt.base;
    const uint8_t *p = base->start;
    const uint64_t distance = offset - base->base_offset;
    const uint8_t *const at = distance <= (uint64_t)(base->end - p) ? p + distance : base->end;
    *line = base->base_line + 1;
    *column = base->base_column + 1;
    for (; p < at; p++) {
        if (*p == '\n' || (*p == '\r' && (p + 1 == base->end || p[1] != '\n'))) {
            *line += 1;
            *column = 1;
        } else if ((*p & 0xC0) != 0x80) { /* not a byte that continues a code point */
            *column += 1;
        }
    }
}

static void
raise_validation(ionfast_decoder *dec, uint64_t offset, PyObject *path, PyObject *expected,
                 PyObject *found)
{
    PyObject *message = PyUnicode_FromFormat("%U (offset %llu): expected %U, found %U", path,
                                             (unsigned long long)offset, expected, found);
    if (message == NULL) {
        return;
    }
    PyObject *line = Py_NewRef(Py_None), *column = Py_NewRef(Py_None);
    if (!dec->is_binary) {
        unsigned long long line_number, column_number;
        place_of(dec, offset, &line_number, &column_number);
        Py_SETREF(line, PyLong_FromUnsignedLongLong(line_number));
        Py_SETREF(column, PyLong_FromUnsignedLongLong(column_number));
    }
    PyObject *exception = NULL;
    if (line != NULL && column != NULL) {
        exception =
            PyObject_CallFunction(dec->state->ValidationError, "OKOOOOO", message,
                                  (unsigned long long)offset, line, column, path, expected, found);
    }
    if (exception != NULL) {
        PyErr_SetObject(dec->state->ValidationError, exception);
    }
    Py_XDECREF(exception);
    Py_XDECREF(line);
    Py_XDECREF(column);
    Py_DECREF(message);
}

static PyObject *
fail(ionfast_decoder *dec, uint64_t offset, PyObject *expected, PyObject *found, bool with_last)
{
    PyObject *path = expected == NULL || found == NULL ? NULL : path_of(dec->typed, with_last);
    if (path != NULL) {
        raise_validation(dec, offset, path, expected, found);
    }
    Py_XDECREF(path);
    Py_XDECREF(expected);
    Py_XDECREF(found);
    return NULL;
}

PyObject *
ionfast_typed_fail(ionfast_decoder *dec, uint64_t offset, PyObject *expected, PyObject *found)
{
    return fail(dec, offset, expected, found, true);
}

PyObject *
ionfast_typed_fail_inside(ionfast_decoder *dec, uint64_t offset, PyObject *expected,
                          PyObject *found)
{
    return fail(dec, offset, expected, found, false);
}

/* ---- what foreign code raised ---- */

static void
add_note(ionfast_decoder *dec, uint64_t offset, bool with_last)
{
    PyObject *type, *error, *traceback;
    PyErr_Fetch(&type, &error, &traceback);
    PyErr_NormalizeException(&type, &error, &traceback);
    PyObject *path = path_of(dec->typed, with_last);
    PyObject *note = path == NULL ? NULL
                                  : PyUnicode_FromFormat("at %U (offset %llu)", path,
                                                         (unsigned long long)offset);
    PyObject *result = note == NULL || error == NULL
                           ? NULL
                           : PyObject_CallMethodOneArg(error, dec->state->str_add_note, note);
    if (result == NULL) {
        PyErr_Clear(); /* the exception itself matters more */
    }
    Py_XDECREF(result);
    Py_XDECREF(note);
    Py_XDECREF(path);
    PyErr_Restore(type, error, traceback);
}

void
ionfast_typed_note(ionfast_decoder *dec, uint64_t offset)
{
    add_note(dec, offset, false);
}

void
ionfast_typed_convert_failed(ionfast_decoder *dec, const ionfast_plan_node *convert,
                             PyObject *value, uint64_t offset)
{
    /* While a container is converted its own frame is still the innermost. */
    const ionfast_typed_stack *const stack = dec->typed;
    const bool is_container = stack->frame_count != 0 &&
                              stack->frames[stack->frame_count - 1].convert == convert &&
                              stack->frames[stack->frame_count - 1].offset == offset;
    if (convert->is_foreign || !PyErr_ExceptionMatches(PyExc_ValueError)) {
        add_note(dec, offset, !is_container);
        return;
    }
    PyErr_Clear();
    fail(dec, offset, Py_NewRef(convert->expected), PyObject_Repr(value), !is_container);
}
