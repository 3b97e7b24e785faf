/* The floor of the reader loop: an object of no content with a reader's methods, made and dropped as
 * CPython makes and drops any object. What remains of a loop over it is the cost of the calls. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

typedef struct Empty {
    PyObject_HEAD
} Empty;

static PyObject *
Empty_vectorcall(PyObject *callable, PyObject *const *Py_UNUSED(args), size_t nargsf,
                 PyObject *Py_UNUSED(kwnames))
{
    PyTypeObject *type = (PyTypeObject *)callable;
    if (PyVectorcall_NARGS(nargsf) > 1) {
        PyErr_SetString(PyExc_TypeError, "Empty() takes at most 1 argument");
        return NULL;
    }
    return type->tp_alloc(type, 0);
}

static void
Empty_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    type->tp_free(self);
    Py_DECREF(type);
}

static int
Empty_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    return 0;
}

static PyObject *
Empty_nothing(PyObject *Py_UNUSED(self), PyObject *Py_UNUSED(ignored))
{
    Py_RETURN_NONE;
}

static PyMethodDef Empty_methods[] = {
    {"next", Empty_nothing, METH_NOARGS, NULL},  {"value", Empty_nothing, METH_NOARGS, NULL},
    {"feed", Empty_nothing, METH_O, NULL},       {"end", Empty_nothing, METH_NOARGS, NULL},
    {"close", Empty_nothing, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL},
};

static PyType_Slot Empty_slots[] = {
    {Py_tp_dealloc, (void *)Empty_dealloc},
    {Py_tp_traverse, (void *)Empty_traverse},
    {Py_tp_methods, Empty_methods},
    {0, NULL},
};

static PyType_Spec Empty_spec = {
    .name = "floor.Empty",
    .basicsize = sizeof(Empty),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .slots = Empty_slots,
};

static int
floor_exec(PyObject *module)
{
    PyObject *type = PyType_FromModuleAndSpec(module, &Empty_spec, NULL);
    if (type == NULL) {
        return -1;
    }
    ((PyTypeObject *)type)->tp_vectorcall = Empty_vectorcall;
    const int status = PyModule_AddObjectRef(module, "Empty", type);
    Py_DECREF(type);
    return status;
}

static PyModuleDef_Slot floor_slots[] = {
    {Py_mod_exec, (void *)floor_exec},
    {0, NULL},
};

static struct PyModuleDef floor_def = {
    PyModuleDef_HEAD_INIT,
    .m_name = "floor",
    .m_size = 0,
    .m_slots = floor_slots,
};

PyMODINIT_FUNC
PyInit_floor(void)
{
    return PyModuleDef_Init(&floor_def);
}
