/* Typed reading of whole inputs: the class Decoder, and the same for loads() and loads_all(). */
#include "py_decoder_type.h"

#include "py_codec.h"
#include "py_loads.h"

/* ---- reading ---- */

PyObject *
ionfast_typed_read(ionfast_state *state, const ionfast_input *input,
                   const ionfast_read_options *options, bool is_all)
{
    PyObject *const type = options->type == NULL ? (PyObject *)&PyBaseObject_Type : options->type;
    ionfast_plan *plan = ionfast_plan_of(state, type, options->codec);
    if (plan == NULL) {
        return NULL;
    }
    const ionfast_whole how = {plan, options->forbid_unknown, is_all};
    PyObject *result = ionfast_read_whole(state, input, options, &how);
    Py_DECREF(plan);
    return result;
}

/* ---- Decoder ---- */

typedef struct Decoder {
    PyObject_HEAD ionfast_state *state; /* borrowed: of the type's module */
    ionfast_plan *plan;                 /* owned */
    ionfast_read_options options;       /* type, codec and catalog owned */
} Decoder;

static int
Decoder_parse(ionfast_state *state, PyObject *kwargs, ionfast_read_options *options)
{
    PyObject *name, *value;
    Py_ssize_t position = 0;
    while (kwargs != NULL && PyDict_Next(kwargs, &position, &name, &value)) {
        const int taken = ionfast_typed_option_set(state, name, value, options);
        if (taken < 0 ||
            (taken == 0 && ionfast_read_option_set(state, "Decoder", name, value, options) < 0)) {
            return -1;
        }
    }
    return 0;
}

static PyObject *
Decoder_new(PyTypeObject *cls, PyObject *args, PyObject *kwargs)
{
    ionfast_state *const state =
        ionfast_state_of_module(PyType_GetModuleByDef(cls, ionfast_module_def()));
    ionfast_read_options options;
    if (ionfast_read_options_parse(state, "Decoder", NULL, NULL, &options) < 0) {
        return NULL;
    }
    PyObject *type;
    if (PyTuple_GET_SIZE(args) == 1 && Decoder_parse(state, kwargs, &options) == 0 &&
        options.type == NULL) {
        type = PyTuple_GET_ITEM(args, 0);
    } else {
        return PyErr_Occurred() ? NULL
                                : PyErr_Format(PyExc_TypeError,
                                               "Decoder() takes 1 positional argument, the type");
    }
    Decoder *const self = (Decoder *)cls->tp_alloc(cls, 0);
    if (self == NULL) {
        return NULL;
    }
    self->state = state;
    self->options = options;
    self->options.type = Py_NewRef(type);
    Py_XINCREF(self->options.codec);
    Py_XINCREF(self->options.catalog);
    self->plan = ionfast_plan_make(state, type, options.codec);
    if (self->plan == NULL) {
        Py_DECREF(self);
        return NULL;
    }
    return (PyObject *)self;
}

static PyObject *
read_object(PyObject *object, const char *function, PyObject *data, bool is_all)
{
    Decoder *const self = (Decoder *)object;
    ionfast_input input;
    if (ionfast_input_open_memory(self->state, function, data, &input) < 0) {
        return NULL;
    }
    Py_INCREF(self);
    const ionfast_whole how = {self->plan, self->options.forbid_unknown, is_all};
    PyObject *result = ionfast_read_whole(self->state, &input, &self->options, &how);
    Py_DECREF(self);
    ionfast_input_close(self->state, &input);
    return result;
}

PyDoc_STRVAR(loads_doc, "loads($self, data, /)\n--\n\n"
                        "Read exactly one top-level value of Ion text or binary as the type.");

static PyObject *
Decoder_loads(PyObject *self, PyObject *data)
{
    return read_object(self, "loads", data, false);
}

PyDoc_STRVAR(loads_all_doc, "loads_all($self, data, /)\n--\n\n"
                            "Read all top-level values, each as the type, into a list.");

static PyObject *
Decoder_loads_all(PyObject *self, PyObject *data)
{
    return read_object(self, "loads_all", data, true);
}

static PyObject *
Decoder_get_type(PyObject *self, void *Py_UNUSED(closure))
{
    return Py_NewRef(((Decoder *)self)->options.type);
}

static int
Decoder_traverse(PyObject *object, visitproc visit, void *arg)
{
    Decoder *const self = (Decoder *)object;
    Py_VISIT(Py_TYPE(object));
    Py_VISIT((PyObject *)self->plan);
    Py_VISIT(self->options.type);
    Py_VISIT(self->options.codec);
    Py_VISIT(self->options.catalog);
    return 0;
}

static void
Decoder_dealloc(PyObject *object)
{
    Decoder *const self = (Decoder *)object;
    PyTypeObject *const type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    Py_XDECREF(self->plan);
    Py_XDECREF(self->options.type);
    Py_XDECREF(self->options.codec);
    Py_XDECREF(self->options.catalog);
    type->tp_free(object);
    Py_DECREF(type);
}

static PyMethodDef Decoder_methods[] = {
    {"loads", Decoder_loads, METH_O, loads_doc},
    {"loads_all", Decoder_loads_all, METH_O, loads_all_doc},
    {"__class_getitem__", Py_GenericAlias, METH_O | METH_CLASS, "Decoder[T], for annotations."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef Decoder_getset[] = {
    {"type", Decoder_get_type, NULL, "What values are read as.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyDoc_STRVAR(Decoder_doc,
             "Decoder(type, *, forbid_unknown=False, codec=None, model='lossless', catalog=None,\n"
             "        max_depth=1000, max_value_size=None)\n"
             "--\n\n"
             "Reads Ion as values of one type, again and again. Threads may share it.\n\n"
             "type: a dataclass, a list[...] of them, or whatever docs/types.md lists.\n"
             "forbid_unknown: a field that the type has not is an error; else it is passed over.\n"
             "codec: a Codec, whose registered types are read by their functions.\n"
             "The other options are those of loads(); model is how Any is read.\n\n"
             "Raises TypeError, naming the field, for a type that cannot be read.\n\n"
             ">>> import dataclasses, ionfast\n"
             ">>> Point = dataclasses.make_dataclass('Point', [('x', int), ('y', int)])\n"
             ">>> ionfast.Decoder(Point).loads('{x: 1, y: 2, colour: red}')\n"
             "Point(x=1, y=2)\n");

static PyType_Slot Decoder_slots[] = {
    {Py_tp_doc, (void *)Decoder_doc},
    {Py_tp_new, Decoder_new},
    {Py_tp_traverse, Decoder_traverse},
    {Py_tp_dealloc, Decoder_dealloc},
    {Py_tp_methods, Decoder_methods},
    {Py_tp_getset, Decoder_getset},
    {0, NULL},
};

static PyType_Spec Decoder_spec = {
    .name = "ionfast.Decoder",
    .basicsize = sizeof(Decoder),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = Decoder_slots,
};

int
ionfast_decoder_type_exec(PyObject *module, ionfast_state *state)
{
    PyObject *const type = PyType_FromModuleAndSpec(module, &Decoder_spec, NULL);
    state->Decoder = (PyTypeObject *)type;
    return type == NULL ? -1 : PyModule_AddObjectRef(module, "Decoder", type);
}
