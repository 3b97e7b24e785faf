/* Is this interpreter laid out as py_compat.h has it? The headers say how the versions are that it knows,
 * and no release has changed that behind them; but nothing promises it, and what reads the wrong place
 * crashes later and elsewhere. So it is tried once, on objects whose contents are known. */
#include "py_state.h"

/* "a" and "b", interned as attribute names are, and two values that nobody shares. */
typedef struct samples {
    PyObject *names[2], *values[2];
} samples;

static bool
dict_is_known(const samples *known)
{
    PyObject *dict = PyDict_New();
    bool is_known = dict != NULL;
    for (int i = 0; is_known && i < 2; i++) {
        is_known = PyDict_SetItem(dict, known->names[i], known->values[i]) == 0;
    }
    if (is_known && ionfast_dict_has_entries(dict)) {
        PyObject *const *const entries = ionfast_dict_entries(dict);
        for (int i = 0; i < 2; i++) {
            is_known = is_known && entries[2 * i] == known->names[i] &&
                       entries[2 * i + 1] == known->values[i];
        }
    }
    Py_XDECREF(dict);
    return is_known;
}

/* The values of an object, wherever it says that they are. */
static bool
values_are_known(const samples *known, PyObject *object)
{
    const ionfast_dict_keys *const keys = ionfast_class_keys(Py_TYPE(object));
    PyObject *const *const values = keys == NULL ? NULL : ionfast_object_values(object, keys);
    for (int i = 0; values != NULL && i < 2; i++) {
        const Py_ssize_t index = ionfast_class_keys_index(keys, known->names[i]);
        if (index < 0 || values[index] != known->values[i]) {
            return false;
        }
    }
    return true;
}

/* Before and after the object has been asked for its `__dict__`. */
static bool
object_is_known(const samples *known)
{
    PyObject *cls = PyObject_CallFunction((PyObject *)&PyType_Type, "s(){}", "sample");
    PyObject *object = cls == NULL ? NULL : PyObject_CallNoArgs(cls);
    bool is_known = object != NULL;
    for (int i = 0; is_known && i < 2; i++) {
        is_known = PyObject_SetAttr(object, known->names[i], known->values[i]) == 0;
    }
    is_known = is_known && values_are_known(known, object);
    PyObject *dict = is_known ? PyObject_GetAttrString(object, "__dict__") : NULL;
    is_known = dict != NULL && values_are_known(known, object);
    Py_XDECREF(dict);
    Py_XDECREF(object);
    Py_XDECREF(cls);
    return is_known;
}

int
ionfast_layout_check(void)
{
    samples known = {
        {PyUnicode_InternFromString("a"), PyUnicode_InternFromString("b")},
        {PyList_New(0), PyList_New(0)},
    };
    bool is_known = false;
    if (known.names[0] != NULL && known.names[1] != NULL && known.values[0] != NULL &&
        known.values[1] != NULL) {
        is_known = dict_is_known(&known) && object_is_known(&known);
    }
    for (int i = 0; i < 2; i++) {
        Py_XDECREF(known.names[i]);
        Py_XDECREF(known.values[i]);
    }
    if (!is_known && !PyErr_Occurred()) {
        PyErr_SetString(PyExc_ImportError,
                        "ionfast does not know how this interpreter lays out its objects");
    }
    return is_known ? 0 : -1;
}
