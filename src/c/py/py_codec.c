/* The base class of ionfast.Codec: the registry of types that are written in a way of their own. */
#include "py_codec.h"

typedef struct ionfast_codec {
    PyObject_HEAD PyObject
        *entries;       /* owned: dict, registered type -> (annotations or None, encode or None) */
    PyObject *resolved; /* owned: dict, type met -> one of these entries, or None */
    PyObject *plans;    /* owned: dict, type -> Plan */
    uint32_t serial;    /* of its last registration, or of itself */
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
    return ((ionfast_codec *)codec)->plans;
}

const uint32_t *
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
    uint32_t *const last = &ionfast_state_of_module(module)->codec_serial;
    *last += *last == UINT32_MAX ? 2 : 1; /* never 0 */
    codec->serial = *last;
    return 0;
}

/* The entry of the first registered class among the bases; borrowed, None if there is none, NULL with
 * an exception. */
static PyObject *
resolve(ionfast_codec *codec, PyTypeObject *type)
{
    PyObject *const bases = type->tp_mro;
    PyObject *found = Py_None;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(bases) && found == Py_None; i++) {
        PyObject *entry = PyDict_GetItemWithError(codec->entries, PyTuple_GET_ITEM(bases, i));
        if (entry == NULL && PyErr_Occurred()) {
            return NULL;
        }
        found = entry == NULL ? Py_None : entry;
    }
    if (PyDict_GET_SIZE(codec->resolved) >= RESOLVED_MAX) {
        PyDict_Clear(codec->resolved);
    }
    return PyDict_SetItem(codec->resolved, (PyObject *)type, found) < 0 ? NULL : found;
}

PyObject *
ionfast_codec_find(PyObject *object, PyTypeObject *type)
{
    ionfast_codec *const codec = (ionfast_codec *)object;
    PyObject *entry = PyDict_GetItemWithError(codec->resolved, (PyObject *)type);
    if (IONF_UNLIKELY(entry == NULL)) {
        entry = PyErr_Occurred() ? NULL : resolve(codec, type);
    }
    return entry;
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
    if (renew_serial(codec) < 0 || PyDict_SetItem(codec->entries, type, entry) < 0) {
        return NULL;
    }
    PyDict_Clear(codec->resolved);
    PyDict_Clear(codec->plans);
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
    codec->resolved = PyDict_New();
    codec->plans = PyDict_New();
    if (codec->entries == NULL || codec->resolved == NULL || codec->plans == NULL ||
        renew_serial(codec) < 0) {
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
