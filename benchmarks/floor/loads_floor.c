/* The floor of loads: a document, taken apart once, is put together again as bare objects - the same
 * lists, dicts, strings and numbers, and nothing else. No parsing, no checking, no look-up of names.
 *
 * prepare(value) gives a program in a capsule; replay(program, copies) runs it. With `copies` a dict
 * whose keys were seen before is a copy of an empty one with other values, as loads makes it, else it
 * is filled key by key: the first is the floor of what CPython can build, the second the floor of what
 * its documented functions can.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>
#include <stdint.h>

#include "py_compat.h"

typedef enum step_kind {
    STEP_INT,
    STEP_FLOAT,
    STEP_STR,
    STEP_ATOM,
    STEP_KEY,
    STEP_LIST,
    STEP_DICT
} step_kind;

typedef struct step {
    step_kind kind;
    Py_ssize_t count; /* of children */
    PyObject *object; /* owned: what is rebuilt; the key; a dict of the keys with None */
    int64_t integer;
    double number;
} step;

typedef struct program {
    step *steps;
    size_t count, cap;
    PyObject **stack;
    PyObject *keys;   /* owned dict: each key as one object */
    PyObject *shapes; /* owned dict: keys of a dict -> the dict of these with None */
} program;

static int
add(program *p, step_kind kind, Py_ssize_t count, PyObject *object)
{
    if (p->count == p->cap) {
        const size_t cap = p->cap == 0 ? 1024 : 2 * p->cap;
        step *steps = PyMem_Realloc(p->steps, cap * sizeof *steps);
        if (steps == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        p->steps = steps;
        p->cap = cap;
    }
    step *s = &p->steps[p->count++];
    *s = (step){kind, count, Py_NewRef(object), 0, 0.0};
    if (kind == STEP_INT) {
        s->integer = PyLong_AsLongLong(object);
        return s->integer == -1 && PyErr_Occurred() ? -1 : 0;
    }
    s->number = kind == STEP_FLOAT ? PyFloat_AS_DOUBLE(object) : 0.0;
    return 0;
}

static int add_value(program *p, PyObject *value);

static int
add_dict(program *p, PyObject *dict)
{
    Py_ssize_t at = 0;
    PyObject *key, *value;
    PyObject *names = PySequence_Tuple(dict);
    if (names == NULL) {
        return -1;
    }
    while (PyDict_Next(dict, &at, &key, &value)) {
        PyObject *shared = PyDict_SetDefault(p->keys, key, key);
        if (shared == NULL || add(p, STEP_KEY, 0, shared) < 0 || add_value(p, value) < 0) {
            Py_DECREF(names);
            return -1;
        }
    }
    PyObject *shape = PyDict_GetItemWithError(p->shapes, names);
    if (shape == NULL && !PyErr_Occurred() && (shape = PyDict_New()) != NULL) {
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); i++) {
            PyObject *name = PyDict_GetItemWithError(p->keys, PyTuple_GET_ITEM(names, i));
            if (name == NULL || PyDict_SetItem(shape, name, Py_None) < 0) {
                break;
            }
        }
        const int status = PyDict_SetItem(p->shapes, names, shape);
        Py_DECREF(shape);
        shape = status < 0 ? NULL : shape;
    }
    Py_DECREF(names);
    return shape == NULL || PyErr_Occurred() ? -1
                                             : add(p, STEP_DICT, PyDict_GET_SIZE(dict), shape);
}

static int
add_value(program *p, PyObject *value)
{
    if (PyUnicode_CheckExact(value)) {
        return add(p, STEP_STR, PyUnicode_GET_LENGTH(value), value);
    }
    if (value == Py_None || PyBool_Check(value)) {
        return add(p, STEP_ATOM, 0, value);
    }
    if (PyLong_CheckExact(value)) {
        return add(p, STEP_INT, 0, value);
    }
    if (PyFloat_CheckExact(value)) {
        return add(p, STEP_FLOAT, 0, value);
    }
    if (PyDict_CheckExact(value)) {
        return add_dict(p, value);
    }
    if (!PyList_CheckExact(value)) {
        PyErr_Format(PyExc_TypeError, "the floor knows no %s", Py_TYPE(value)->tp_name);
        return -1;
    }
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(value); i++) {
        if (add_value(p, PyList_GET_ITEM(value, i)) < 0) {
            return -1;
        }
    }
    return add(p, STEP_LIST, PyList_GET_SIZE(value), value);
}

static void
program_free(PyObject *capsule)
{
    program *p = PyCapsule_GetPointer(capsule, "program");
    for (size_t i = 0; i < p->count; i++) {
        Py_DECREF(p->steps[i].object);
    }
    Py_XDECREF(p->keys);
    Py_XDECREF(p->shapes);
    PyMem_Free(p->steps);
    PyMem_Free(p->stack);
    PyMem_Free(p);
}

static PyObject *
prepare(PyObject *Py_UNUSED(module), PyObject *value)
{
    program *p = PyMem_Calloc(1, sizeof *p);
    PyObject *capsule = p == NULL ? PyErr_NoMemory() : PyCapsule_New(p, "program", program_free);
    if (capsule == NULL) {
        PyMem_Free(p);
        return NULL;
    }
    p->keys = PyDict_New();
    p->shapes = PyDict_New();
    if (p->keys == NULL || p->shapes == NULL || add_value(p, value) < 0 ||
        (p->stack = PyMem_Calloc(p->count + 1, sizeof *p->stack)) == NULL) {
        Py_DECREF(capsule);
        return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    }
    return capsule;
}

static PyObject *
new_str(const step *s)
{
    if (s->count == 0 || (s->count == 1 && PyUnicode_READ_CHAR(s->object, 0) < 256)) {
        return Py_NewRef(s->object);
    }
    PyObject *str = PyUnicode_New(s->count, PyUnicode_MAX_CHAR_VALUE(s->object));
    if (str != NULL) {
        memcpy(PyUnicode_DATA(str), PyUnicode_DATA(s->object),
               (size_t)s->count * PyUnicode_KIND(s->object));
    }
    return str;
}

static PyObject *
fill_dict(PyObject *const *pairs, Py_ssize_t count)
{
    PyObject *dict = ionfast_dict_new((size_t)count);
    for (Py_ssize_t i = 0; dict != NULL && i < count; i++) {
        if (PyDict_SetItem(dict, pairs[2 * i], pairs[2 * i + 1]) < 0) {
            Py_CLEAR(dict);
        }
        Py_DECREF(pairs[2 * i + 1]);
    }
    return dict;
}

static PyObject *
copy_dict(PyObject *shape, PyObject *const *pairs, Py_ssize_t count)
{
    PyObject *dict = PyDict_Copy(shape);
    if (dict == NULL) {
        return NULL;
    }
    PyObject **entries = ionfast_dict_entries(dict);
    bool has_collectable = false;
    for (Py_ssize_t i = 0; i < count; i++) {
        has_collectable |= PyType_IS_GC(Py_TYPE(pairs[2 * i + 1]));
        entries[2 * i + 1] = pairs[2 * i + 1];
    }
    ionfast_none_drop((size_t)count);
    if (has_collectable) {
        ionfast_dict_track(dict);
    }
    return dict;
}

/* `top` points behind the step's children, which are taken over. */
static PyObject *
run_step(const step *s, PyObject **top, bool copies)
{
    switch (s->kind) {
    case STEP_INT:
        return PyLong_FromLongLong(s->integer);
    case STEP_FLOAT:
        return PyFloat_FromDouble(s->number);
    case STEP_STR:
        return new_str(s);
    case STEP_ATOM:
        return Py_NewRef(s->object);
    case STEP_KEY:
        return s->object; /* borrowed */
    case STEP_LIST:
        return ionfast_list_of(top - s->count, (size_t)s->count);
    default:
        return copies && s->count != 0 && ionfast_dict_has_entries(s->object)
                   ? copy_dict(s->object, top - 2 * s->count, s->count)
                   : fill_dict(top - 2 * s->count, s->count);
    }
}

static PyObject *
replay(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t nargs)
{
    program *p = nargs == 2 ? PyCapsule_GetPointer(args[0], "program") : NULL;
    if (p == NULL) {
        return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "replay(program, copies)");
    }
    const bool copies = args[1] == Py_True;
    const int was_enabled = PyGC_Disable();
    PyObject **top = p->stack;
    for (size_t i = 0; i < p->count; i++) {
        const step *s = &p->steps[i];
        PyObject *object = run_step(s, top, copies);
        if (object == NULL) {
            Py_FatalError("the floor has run out of memory");
        }
        top -= s->kind == STEP_DICT ? 2 * s->count : s->kind == STEP_LIST ? s->count : 0;
        *top++ = object;
    }
    if (was_enabled) {
        PyGC_Enable();
    }
    return p->stack[0];
}

static PyMethodDef methods[] = {
    {"prepare", prepare, METH_O, "prepare(value) -> program"},
    {"replay", (PyCFunction)(void (*)(void))replay, METH_FASTCALL,
     "replay(program, copies) -> value"},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "loads_floor", NULL, 0, methods, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC
PyInit_loads_floor(void)
{
    return PyModuleDef_Init(&definition);
}
