/* The extension module: its definition, its state's life, its method table, and nothing else. */
#include "py_compat.h"
#include "py_conv.h"
#include "py_codec.h"
#include "py_decimal_layout.h"
#include "py_decoder_type.h"
#include "py_dumps.h"
#include "py_fields.h"
#include "py_loads.h"
#include "py_plan.h"
#include "py_pool.h"
#include "py_reader.h"
#include "py_state.h"
#include "py_transcode.h"
#include "py_writer.h"

#include "ionf_symtab.h"

/* ---- the state's life ---- */

static int
intern_names(ionfast_state *state)
{
#define INTERN(suffix, text)                                                                      \
    state->str_##suffix = PyUnicode_InternFromString(text);                                       \
    if (state->str_##suffix == NULL) {                                                            \
        return -1;                                                                                \
    }
    IONFAST_NAMES(INTERN)
#undef INTERN
    for (uint64_t sid = 1; sid <= IONF_SYSTEM_MAX_ID; sid++) {
        const ionf_slice text = ionf_system_symbol(sid);
        PyObject *str = PyUnicode_FromStringAndSize((const char *)text.data, (Py_ssize_t)text.len);
        if (str == NULL || PyObject_Hash(str) == -1) {
            Py_XDECREF(str);
            return -1;
        }
        state->system_symbols[sid] = str;
    }
    state->empty_tuple = PyTuple_New(0);
    state->annotated_dict = state->empty_tuple == NULL ? NULL : PyDict_New();
    return state->annotated_dict == NULL
               ? -1
               : PyDict_SetItem(state->annotated_dict, state->str_ion_annotations,
                                state->empty_tuple);
}

static PyObject *
import_attribute(const char *module_name, const char *name)
{
    PyObject *module = PyImport_ImportModule(module_name);
    if (module == NULL) {
        return NULL;
    }
    PyObject *attribute = PyObject_GetAttrString(module, name);
    Py_DECREF(module);
    return attribute;
}

static int
import_library(ionfast_state *state)
{
    state->Decimal = import_attribute("decimal", "Decimal");
    state->Enum = state->Decimal == NULL ? NULL : import_attribute("enum", "Enum");
    state->Mapping = state->Enum == NULL ? NULL : import_attribute("collections.abc", "Mapping");
    if (state->Mapping == NULL) {
        return -1;
    }
    state->has_decimal_layout = ionfast_decimal_layout_check(state);
    return 0;
}

static int
module_exec(PyObject *module)
{
    ionfast_state *state = ionfast_state_of_module(module);
    ionfast_pool_setup(state);
    if (ionfast_layout_check() < 0 || intern_names(state) < 0 || import_library(state) < 0 ||
        ionfast_time_exec(module, state) < 0 || ionfast_symbols_exec(module, state) < 0 ||
        ionfast_reader_exec(module, state) < 0 || ionfast_plan_exec(module, state) < 0 ||
        ionfast_decoder_type_exec(module, state) < 0 || ionfast_codec_exec(module, state) < 0 ||
        ionfast_fields_exec(module, state) < 0 || ionfast_writer_exec(module, state) < 0) {
        return -1;
    }
    return 0;
}

/* clang-format off */
/* Everything owned that an instance of the state holds: X(field). */
#define OWNED_OBJECTS(X)                                                                          \
    X(empty_tuple) X(annotated_dict) X(Decimal) X(Enum) X(UUID) X(PurePath) X(Mapping) X(Timestamp)                 \
    X(SharedSymbolTable) X(Catalog) X(Reader) X(Writer) X(utc) X(Plan) X(Decoder) X(CodecBase)    \
    X(plans) X(Fields)
/* clang-format on */

static int
module_traverse(PyObject *module, visitproc visit, void *arg)
{
    ionfast_state *state = ionfast_state_of_module(module);
#define VISIT(field) Py_VISIT(state->field);
#define VISIT_NAME(suffix, text) Py_VISIT(state->str_##suffix);
    IONFAST_BOUND(VISIT)
    IONFAST_NAMES(VISIT_NAME)
    OWNED_OBJECTS(VISIT)
#undef VISIT
#undef VISIT_NAME
    for (size_t i = 0; i < IONFAST_KIND_COUNT; i++) {
        Py_VISIT(state->ion_types[i]);
    }
    for (size_t i = 0; i <= IONF_SYSTEM_MAX_ID; i++) {
        Py_VISIT(state->system_symbols[i]);
    }
    for (size_t i = 0; i < sizeof state->timezones / sizeof *state->timezones; i++) {
        Py_VISIT(state->timezones[i]);
    }
    return 0;
}

static int
module_clear(PyObject *module)
{
    ionfast_state *state = ionfast_state_of_module(module);
    ionfast_pool_teardown(state);
#define CLEAR(field) Py_CLEAR(state->field);
#define CLEAR_NAME(suffix, text) Py_CLEAR(state->str_##suffix);
    IONFAST_BOUND(CLEAR)
    IONFAST_NAMES(CLEAR_NAME)
    OWNED_OBJECTS(CLEAR)
#undef CLEAR
#undef CLEAR_NAME
    for (size_t i = 0; i < IONFAST_KIND_COUNT; i++) {
        Py_CLEAR(state->ion_types[i]);
    }
    for (size_t i = 0; i <= IONF_SYSTEM_MAX_ID; i++) {
        Py_CLEAR(state->system_symbols[i]);
    }
    for (size_t i = 0; i < sizeof state->timezones / sizeof *state->timezones; i++) {
        Py_CLEAR(state->timezones[i]);
    }
    return 0;
}

static void
module_free(void *module)
{
    module_clear(module);
}

/* ---- the Python half's classes ---- */

static int
bind_ion_types(ionfast_state *state)
{
    for (int kind = 0; kind < IONFAST_KIND_COUNT; kind++) {
        PyObject *member = PyObject_CallFunction(state->IonType, "i", kind);
        if (member == NULL) {
            return -1;
        }
        Py_XSETREF(state->ion_types[kind], member);
    }
    return 0;
}

static PyObject *
module_bind(PyObject *module, PyObject *mapping)
{
    ionfast_state *state = ionfast_state_of_module(module);
    PyObject *object;
#define BIND(name)                                                                                \
    object = PyMapping_GetItemString(mapping, #name);                                             \
    if (object == NULL) {                                                                         \
        return NULL;                                                                              \
    }                                                                                             \
    Py_XSETREF(state->name, object);
    IONFAST_BOUND(BIND)
#undef BIND
    if (bind_ion_types(state) < 0) {
        return NULL;
    }
    state->is_bound = true;
    Py_RETURN_NONE;
}

/* ---- the tables ---- */

#define FASTCALL(function) ((PyCFunction)(void (*)(void))(function))

static PyMethodDef module_methods[] = {
    {"loads", FASTCALL(ionfast_loads), METH_FASTCALL | METH_KEYWORDS, ionfast_loads_doc},
    {"loads_all", FASTCALL(ionfast_loads_all), METH_FASTCALL | METH_KEYWORDS,
     ionfast_loads_all_doc},
    {"dumps", FASTCALL(ionfast_dumps), METH_FASTCALL | METH_KEYWORDS, ionfast_dumps_doc},
    {"dumps_all", FASTCALL(ionfast_dumps_all), METH_FASTCALL | METH_KEYWORDS,
     ionfast_dumps_all_doc},
    {"transcode", FASTCALL(ionfast_transcode), METH_FASTCALL | METH_KEYWORDS,
     ionfast_transcode_doc},
    {"_bind", module_bind, METH_O, "Take the classes of the Python half, by name."},
    {"_pool_stats", ionfast_pool_stats, METH_NOARGS, "Counters of every pool, by name."},
    {"_pool_clear", ionfast_pool_clear, METH_NOARGS, "Destroy all idle objects."},
    {"_pool_configure", FASTCALL(ionfast_pool_configure), METH_VARARGS | METH_KEYWORDS,
     "Set the caps of every pool."},
    {"_pool_disable", ionfast_pool_disable, METH_O,
     "One more block that wants no pooling, or one less."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, (void *)module_exec},
    IONFAST_MODULE_SLOTS{0, NULL},
};

static struct PyModuleDef module_def = {
    PyModuleDef_HEAD_INIT,
    .m_name = "ionfast._ionfast",
    .m_doc = "The C half of ionfast.",
    .m_size = sizeof(ionfast_state),
    .m_methods = module_methods,
    .m_slots = module_slots,
    .m_traverse = module_traverse,
    .m_clear = module_clear,
    .m_free = module_free,
};

struct PyModuleDef *
ionfast_module_def(void)
{
    return &module_def;
}

PyMODINIT_FUNC
PyInit__ionfast(void)
{
    return PyModuleDef_Init(&module_def);
}
