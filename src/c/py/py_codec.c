/* The base class of ionfast.Codec: the registry of types that are written in a way of their own. */
#include "py_codec.h"

typedef struct ionfast_codec {
    PyObject_HEAD PyObject
        *entries; /* owned: dict, registered type -> (annotations or None, encode or None) */
    /* What has been found out since the last registration, which puts others in their place: who has begun
     * before it ends with the old ones. Owned, under the lock. */
    PyObject *resolved; /* dict, type met -> one of these entries, or None */
    PyObject *plans;    /* dict, type -> Plan */
    ionfast_spin lock;
    ionfast_serial serial; /* of its last registration, or of itself */
} ionfast_codec;

/* Types met that are remembered; beyond that it starts anew. */
#define RESOLVED_MAX 1024

int
ionfast_codec_check(ionfast_state *state, PyObject *object)
{
    if (PyObject_TypeCheck(object, state->CodecBase)) {
        return 0;
    }
    PyErr_Format(PyExc_TypeError, "codec must be a Codec or None, not %.200s",
                 Py_TYPE(object)->tp_name);
    return -1;
}

PyObject *
ionfast_codec_plans(PyObject *codec)
{
    ionfast_codec *const self = (ionfast_codec *)codec;
    return ionfast_spin_ref(&self->lock, &self->plans);
}

const ionfast_serial *
ionfast_codec_serial(PyObject *codec)
{
    return &((ionfast_codec *)codec)->serial;
}

/* -1 with an exception. */
static int
renew_serial(ionfast_codec *codec)
{
    PyObject *module = PyType_GetModuleByDef(Py_TYPE(codec), ionfast_module_def());
    if (module == NULL) {
        return -1;
    }
    ionfast_serial *const last = &ionfast_state_of_module(module)->codec_serial;
    uint32_t serial = ++*last;
    if (serial == 0) { /* that is none */
        serial = ++*last;
    }
    codec->serial = serial;
    return 0;
}

/* The entry of the first registered class among the bases; new reference, None if there is none, NULL with
 * an exception. */
static PyObject *
find_entry(ionfast_codec *codec, PyTypeObject *type)
{
    PyObject *const bases = ionfast_type_bases(type);
    PyObject *found = NULL;
    int result = bases == NULL ? -1 : 0;
    for (Py_ssize_t i = 0; result == 0 && i < PyTuple_GET_SIZE(bases); i++) {
        result = ionfast_dict_get(codec->entries, PyTuple_GET_ITEM(bases, i), &found);
    }
    Py_XDECREF(bases);
    return result == 0 ? Py_NewRef(Py_None) : found;
}

/* The same, and put into `resolved`. */
static PyObject *
resolve(ionfast_codec *codec, PyTypeObject *type, PyObject *resolved)
{
    PyObject *found = find_entry(codec, type);
    if (PyDict_GET_SIZE(resolved) >= RESOLVED_MAX) {
        PyDict_Clear(resolved);
    }
    if (found != NULL && PyDict_SetItem(resolved, (PyObject *)type, found) < 0) {
        Py_CLEAR(found);
    }
    return found;
}

PyObject *
ionfast_codec_find(PyObject *object, PyTypeObject *type)
{
    ionfast_codec *const codec = (ionfast_codec *)object;
    PyObject *resolved = ionfast_spin_ref(&codec->lock, &codec->resolved);
    PyObject *entry;
    if (IONF_UNLIKELY(ionfast_dict_get(resolved, (PyObject *)type, &entry) == 0)) {
        entry = resolve(codec, type, resolved);
    }
    Py_DECREF(resolved);
    return entry;
}

/* Register a type, or nothing: what has been found out so far does not hold any more. -1 with an
 * exception, and nothing has changed. */
static int
change(ionfast_codec *codec, PyObject *type, PyObject *entry)
{
    PyObject *resolved = PyDict_New();
    PyObject *plans = resolved == NULL ? NULL : PyDict_New();
    if (plans == NULL || (type != NULL && PyDict_SetItem(codec->entries, type, entry) < 0)) {
        Py_XDECREF(resolved);
        Py_XDECREF(plans);
        return -1;
    }
    ionfast_spin_replace(&codec->lock, &codec->resolved, resolved);
    ionfast_spin_replace(&codec->lock, &codec->plans, plans);
    return renew_serial(codec);
}

/* ---- the type ---- */

PyDoc_STRVAR(set_entry_doc,
             "Take how a type is written: (annotations, encode), each may be None.");

static PyObject *
CodecBase_set_entry(PyObject *self, PyObject *args)
{
    ionfast_codec *const codec = (ionfast_codec *)self;
    PyObject *type, *entry, *annotations, *encode;
    if (!PyArg_ParseTuple(args, "O!O!", &PyType_Type, &type, &PyTuple_Type, &entry) ||
        !PyArg_ParseTuple(entry, "OO", &annotations, &encode)) {
        return NULL;
    }
    if (change(codec, type, entry) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *
CodecBase_new(PyTypeObject *type, PyObject *Py_UNUSED(args), PyObject *Py_UNUSED(kwargs))
{
    ionfast_codec *const codec = (ionfast_codec *)type->tp_alloc(type, 0);
    if (codec == NULL) {
        return NULL;
    }
    codec->entries = PyDict_New();
    if (codec->entries == NULL || change(codec, NULL, NULL) < 0) {
        Py_DECREF(codec);
        return NULL;
    }
    return (PyObject *)codec;
}

static int
CodecBase_traverse(PyObject *self, visitproc visit, void *arg)
{
    ionfast_codec *const codec = (ionfast_codec *)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(codec->entries);
    Py_VISIT(codec->resolved);
    Py_VISIT(codec->plans);
    return 0;
}

/* Only empties the dicts: whoever still has the codec can go on using it. */
static int
CodecBase_clear(PyObject *self)
{
    ionfast_codec *const codec = (ionfast_codec *)self;
    PyObject *const dicts[] = {codec->entries, codec->resolved, codec->plans};
    for (size_t i = 0; i < sizeof dicts / sizeof dicts[0]; i++) {
        if (dicts[i] != NULL) {
            PyDict_Clear(dicts[i]);
        }
    }
    return 0;
}

static void
CodecBase_dealloc(PyObject *self)
{
    ionfast_codec *const codec = (ionfast_codec *)self;
    PyTypeObject *const type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    Py_XDECREF(codec->entries);
    Py_XDECREF(codec->resolved);
    Py_XDECREF(codec->plans);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyMethodDef CodecBase_methods[] = {
    {"_set_entry", CodecBase_set_entry, METH_VARARGS, set_entry_doc},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot CodecBase_slots[] = {
    {Py_tp_doc, "The C half of Codec."},
    {Py_tp_new, CodecBase_new},
    {Py_tp_traverse, CodecBase_traverse},
    {Py_tp_clear, CodecBase_clear},
    {Py_tp_dealloc, CodecBase_dealloc},
    {Py_tp_methods, CodecBase_methods},
    {0, NULL},
};

static PyType_Spec CodecBase_spec = {
    .name = "ionfast._ionfast.CodecBase",
    .basicsize = sizeof(ionfast_codec),
    .flags =
        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = CodecBase_slots,
};

int
ionfast_codec_exec(PyObject *module, ionfast_state *state)
{
    PyObject *const type = PyType_FromModuleAndSpec(module, &CodecBase_spec, NULL);
    state->CodecBase = (PyTypeObject *)type;
    return type == NULL ? -1 : PyModule_AddObjectRef(module, "CodecBase", type);
}
