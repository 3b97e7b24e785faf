/* Objects with named fields as dicts. */
#include "py_fields.h"

#include <structmember.h>

/* Where a field is kept, unless it is the offset of a slot. */
enum { FIELD_IN_DICT = 0, FIELD_BY_GETATTR = -1 };

/* ---- making ---- */

static Py_ssize_t
place_of(PyTypeObject *type, PyObject *attribute)
{
    if (type->tp_getattro != PyObject_GenericGetAttr) {
        return FIELD_BY_GETATTR;
    }
    PyObject *const descriptor = ionfast_type_lookup(type, attribute);
    if (descriptor == NULL) {
        return FIELD_IN_DICT;
    }
    Py_ssize_t place =
        Py_TYPE(descriptor)->tp_descr_set == NULL ? FIELD_IN_DICT : FIELD_BY_GETATTR;
    if (Py_IS_TYPE(descriptor, &PyMemberDescr_Type)) {
        const PyMemberDef *const member = ((PyMemberDescrObject *)descriptor)->d_member;
        const bool is_own =
            member->type == T_OBJECT_EX && PyType_IsSubtype(type, PyDescr_TYPE(descriptor));
        place = is_own ? member->offset : FIELD_BY_GETATTR;
    }
    Py_DECREF(descriptor);
    return place;
}

static PyObject *
pattern_of(PyObject *names)
{
    PyObject *pattern = PyDict_New();
    for (Py_ssize_t i = 0; pattern != NULL && i < PyTuple_GET_SIZE(names); i++) {
        if (PyDict_SetItem(pattern, PyTuple_GET_ITEM(names, i), Py_None) < 0) {
            Py_CLEAR(pattern);
        }
    }
    return pattern;
}

/* What all places have in common. */
static ionfast_fields_layout
layout_of(const ionfast_fields *self)
{
    bool is_dict = Py_SIZE(self) != 0, is_slots = is_dict;
    for (Py_ssize_t i = 0; i < Py_SIZE(self); i++) {
        is_dict = is_dict && self->places[i] == FIELD_IN_DICT;
        is_slots = is_slots && self->places[i] > 0;
    }
    return is_dict    ? IONFAST_FIELDS_IN_DICT
           : is_slots ? IONFAST_FIELDS_IN_SLOTS
                      : IONFAST_FIELDS_ANYWHERE;
}

static void
find_places(ionfast_fields *self)
{
    self->is_dict_named = true;
    for (Py_ssize_t i = 0; i < Py_SIZE(self); i++) {
        PyObject *const attribute = PyTuple_GET_ITEM(self->attributes, i);
        self->places[i] = place_of(self->type, attribute);
        self->is_dict_named = self->is_dict_named && attribute == PyTuple_GET_ITEM(self->names, i);
    }
    self->layout = (uint8_t)layout_of(self);
}

void
ionfast_fields_settle(ionfast_fields *self)
{
    const ionfast_dict_keys *const keys = ionfast_class_keys(self->type);
    if (self->layout != IONFAST_FIELDS_IN_DICT || keys == NULL) {
        return;
    }
    for (Py_ssize_t i = 0; i < Py_SIZE(self); i++) {
        if (ionfast_class_keys_index(keys, PyTuple_GET_ITEM(self->attributes, i)) < 0) {
            return;
        }
    }
    for (Py_ssize_t i = 0; i < Py_SIZE(self); i++) {
        const Py_ssize_t index =
            ionfast_class_keys_index(keys, PyTuple_GET_ITEM(self->attributes, i));
        self->places[i] = index * (Py_ssize_t)sizeof(PyObject *);
    }
    self->keys = keys;
    self->layout = IONFAST_FIELDS_IN_VALUES;
}

static PyObject *
fields_make(ionfast_state *state, PyTypeObject *type, PyObject *names, PyObject *attributes,
            PyObject *tag)
{
    const Py_ssize_t count = PyTuple_GET_SIZE(names);
    if (PyTuple_GET_SIZE(attributes) != count) {
        return PyErr_Format(PyExc_ValueError, "names and attributes do not match");
    }
    ionfast_fields *const self = (ionfast_fields *)state->Fields->tp_alloc(state->Fields, count);
    if (self == NULL) {
        return NULL;
    }
    self->type = (PyTypeObject *)Py_NewRef((PyObject *)type);
    self->names = Py_NewRef(names);
    self->attributes = Py_NewRef(attributes);
    if (tag != NULL) {
        self->tag_name = Py_NewRef(PyTuple_GET_ITEM(tag, 0));
        self->tag = Py_NewRef(PyTuple_GET_ITEM(tag, 1));
    }
    self->pattern = pattern_of(names);
    if (self->pattern == NULL || PyDict_GET_SIZE(self->pattern) != count) {
        if (self->pattern != NULL) {
            PyErr_Format(PyExc_TypeError, "two fields of %.200s have the same name in Ion",
                         type->tp_name);
        }
        Py_DECREF(self);
        return NULL;
    }
    find_places(self);
    ionfast_fields_settle(self);
    return (PyObject *)self;
}

PyObject *
ionfast_fields_of(ionfast_state *state, PyTypeObject *type, PyObject **function)
{
    PyObject *description = PyObject_CallOneArg(state->describe_encoding, (PyObject *)type);
    if (description == NULL) {
        return NULL;
    }
    PyObject *names, *attributes, *tag, *encode, *result = NULL;
    if (PyArg_ParseTuple(description, "O!O!OO", &PyTuple_Type, &names, &PyTuple_Type, &attributes,
                         &tag, &encode)) {
        if (encode == Py_None) {
            result = fields_make(state, type, names, attributes, tag == Py_None ? NULL : tag);
        } else {
            *function = Py_NewRef(encode);
            result = Py_NewRef(Py_None);
        }
    }
    Py_DECREF(description);
    return result;
}

bool
ionfast_fields_are_named(PyObject *fields, PyObject *names)
{
    const ionfast_fields *const self = (ionfast_fields *)fields;
    if (PyTuple_GET_SIZE(names) != Py_SIZE(self)) {
        return false;
    }
    for (Py_ssize_t i = 0; i < Py_SIZE(self); i++) {
        if (PyUnicode_Compare(PyTuple_GET_ITEM(self->names, i), PyTuple_GET_ITEM(names, i)) != 0) {
            return false;
        }
    }
    return true;
}

/* ---- use ---- */

/* Has the dict exactly these keys, in this order? */
static bool
has_names(PyObject *dict, PyObject *names)
{
    const Py_ssize_t count = PyTuple_GET_SIZE(names);
    if (PyDict_GET_SIZE(dict) != count) {
        return false;
    }
    Py_ssize_t position = 0;
    PyObject *key, *value;
    bool is_same = true;
    for (Py_ssize_t i = 0; is_same && i < count; i++) {
        if (!ionfast_dict_next(dict, &position, &key, &value)) {
            return false;
        }
        is_same = key == PyTuple_GET_ITEM(names, i);
        if (IONFAST_WALK_OWNS) {
            Py_DECREF(key);
            Py_DECREF(value);
        }
    }
    return is_same;
}

PyObject *
ionfast_fields_value(const ionfast_fields *self, PyObject *object, Py_ssize_t i)
{
    const char *base = ionfast_fields_base(self, object);
    if (IONFAST_HAS_GIL && base == NULL && self->layout == IONFAST_FIELDS_ANYWHERE &&
        self->places[i] > 0 && Py_TYPE(object) == self->type) {
        base = (const char *)object;
    }
    PyObject *const value = base == NULL ? NULL : *(PyObject *const *)(base + self->places[i]);
    return IONF_LIKELY(value != NULL)
               ? Py_NewRef(value)
               : PyObject_GetAttr(object, PyTuple_GET_ITEM(self->attributes, i));
}

static PyObject *
fill_pattern(const ionfast_fields *self, PyObject *object)
{
    PyObject *dict = PyDict_Copy(self->pattern);
    if (dict == NULL) {
        return NULL;
    }
    PyObject **const entries = ionfast_dict_has_entries(dict) ? ionfast_dict_entries(dict) : NULL;
    for (Py_ssize_t i = 0; i < Py_SIZE(self); i++) {
        PyObject *value = ionfast_fields_value(self, object, i);
        if (value == NULL) {
            Py_DECREF(dict);
            return NULL;
        }
        if (IONF_LIKELY(entries != NULL)) {
            Py_SETREF(entries[2 * i + 1], value);
            continue;
        }
        const int result = PyDict_SetItem(dict, PyTuple_GET_ITEM(self->names, i), value);
        Py_DECREF(value);
        if (result < 0) {
            Py_DECREF(dict);
            return NULL;
        }
    }
    return dict;
}

PyObject *
ionfast_fields_dict(ionfast_fields *self, PyObject *object)
{
    const bool is_dict =
        self->layout == IONFAST_FIELDS_IN_DICT || self->layout == IONFAST_FIELDS_IN_VALUES;
    if (is_dict && self->is_dict_named) {
        PyObject *dict = PyObject_GenericGetDict(object, NULL);
        if (dict != NULL && PyDict_CheckExact(dict) && has_names(dict, self->names)) {
            return dict;
        }
        Py_XDECREF(dict);
        PyErr_Clear();
    }
    Py_INCREF(self); /* an attribute can be foreign code, which may forget the class */
    PyObject *dict = fill_pattern(self, object);
    Py_DECREF(self);
    return dict;
}

/* ---- the type ---- */

static int
Fields_traverse(PyObject *object, visitproc visit, void *arg)
{
    ionfast_fields *const self = (ionfast_fields *)object;
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->type);
    Py_VISIT(self->names);
    Py_VISIT(self->attributes);
    Py_VISIT(self->pattern);
    Py_VISIT(self->tag_name);
    Py_VISIT(self->tag);
    return 0;
}

static void
Fields_dealloc(PyObject *object)
{
    ionfast_fields *const self = (ionfast_fields *)object;
    PyTypeObject *const type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    Py_XDECREF(self->type);
    Py_XDECREF(self->names);
    Py_XDECREF(self->attributes);
    Py_XDECREF(self->pattern);
    Py_XDECREF(self->tag_name);
    Py_XDECREF(self->tag);
    type->tp_free(object);
    Py_DECREF(type);
}

static PyType_Slot Fields_slots[] = {
    {Py_tp_doc, "How objects of one class are written; made by ionfast alone."},
    {Py_tp_traverse, Fields_traverse},
    {Py_tp_dealloc, Fields_dealloc},
    {0, NULL},
};

static PyType_Spec Fields_spec = {
    .name = "ionfast._ionfast.Fields",
    .basicsize = offsetof(ionfast_fields, places),
    .itemsize = sizeof(Py_ssize_t),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE |
             Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = Fields_slots,
};

int
ionfast_fields_exec(PyObject *module, ionfast_state *state)
{
    state->Fields = (PyTypeObject *)PyType_FromModuleAndSpec(module, &Fields_spec, NULL);
    return state->Fields == NULL ? -1 : 0;
}
