/* Level 2 of the type dispatch: resolving a type once, and the map that keeps the answer. */
#include "py_dispatch.h"

#include "py_conv.h"
#include "py_fields.h"

/* ---- the map ---- */

void
ionfast_type_map_clear(ionfast_type_map *map)
{
    /* Dropping a type can run code that uses this very map, so it is empty before that. */
    ionfast_type_row rows[IONFAST_TYPE_ROWS];
    if (map->count == 0) {
        return;
    }
    memcpy(rows, map->rows, sizeof rows);
    memset(map, 0, sizeof *map);
    for (size_t i = 0; i < IONFAST_TYPE_ROWS; i++) {
        Py_XDECREF(rows[i].fields);
        Py_XDECREF(rows[i].type);
    }
}

void
ionfast_type_map_forget_unknown(ionfast_type_map *map)
{
    /* Taking single rows out would break the chains of the others, and they are soon found again. */
    if (map->has_unknown) {
        ionfast_type_map_clear(map);
    }
}

/* Keep `row`; takes over its reference to the fields. */
static void
add_row(ionfast_type_map *map, ionfast_type_row row)
{
    if (map->count >= IONFAST_TYPE_ROWS * 3 / 4) {
        ionfast_type_map_clear(map);
    }
    ionfast_type_row *const place = ionfast_type_map_find(map, row.type);
    if (place->type != NULL) { /* code that ran meanwhile has met the same type */
        Py_XDECREF(row.fields);
        return;
    }
    Py_INCREF(row.type);
    *place = row;
    map->count++;
    map->has_unknown = map->has_unknown || row.handler == IONFAST_AS_UNKNOWN;
}

/* ---- resolving ---- */

static bool
is_subtype(PyTypeObject *type, PyObject *base)
{
    return base != NULL && PyType_IsSubtype(type, (PyTypeObject *)base);
}

/* An attribute that need not be there: 1, or 0 and NULL; -1 with an exception. */
static int
optional_attr(PyObject *object, PyObject *name, PyObject **out)
{
    *out = PyObject_GetAttr(object, name);
    if (*out != NULL) {
        return 1;
    }
    if (!PyErr_ExceptionMatches(PyExc_AttributeError)) {
        return -1;
    }
    PyErr_Clear();
    return 0;
}

/* A class of a module that need not have been imported: then no value can be of it. -1 on error. */
static int
is_subtype_lazy(PyTypeObject *type, PyObject **base, const char *module_name, const char *name)
{
    if (ionfast_peek(base) == NULL) {
        PyObject *key = PyUnicode_FromString(module_name);
        PyObject *module = key == NULL ? NULL : PyImport_GetModule(key);
        Py_XDECREF(key);
        if (module == NULL) {
            return PyErr_Occurred() ? -1 : 0;
        }
        PyObject *found = NULL;
        key = PyUnicode_FromString(name);
        const int result = key == NULL ? -1 : optional_attr(module, key, &found);
        Py_XDECREF(key);
        Py_DECREF(module);
        if (result <= 0 || !PyType_Check(found)) { /* 0: the module is still being imported */
            Py_XDECREF(found);
            return result < 0 ? -1 : 0;
        }
        (void)ionfast_publish(base, found);
    }
    return is_subtype(type, ionfast_peek(base));
}

static bool
is_ion_class(const ionfast_state *state, PyTypeObject *type)
{
    PyObject *const classes[] = {state->IonPyNull,  state->IonPyBool,    state->IonPyInt,
                                 state->IonPyFloat, state->IonPyDecimal, state->IonPyTimestamp,
                                 state->IonPyText,  state->IonPySymbol,  state->IonPyBytes,
                                 state->IonPyList,  state->IonPyDict};
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++) {
        if (is_subtype(type, classes[i])) {
            return true;
        }
    }
    return false;
}

/* A subclass of dict that yields something else than its own entries, as OrderedDict does in its own
 * order, has to be asked for its items. -1 with an exception. */
static int
dict_handler(const ionfast_state *state, PyTypeObject *type)
{
    PyObject *own = PyObject_GetAttr((PyObject *)type, state->str_items);
    PyObject *dicts =
        own == NULL ? NULL : PyObject_GetAttr((PyObject *)&PyDict_Type, state->str_items);
    const bool is_own = own == dicts;
    Py_XDECREF(own);
    Py_XDECREF(dicts);
    if (dicts == NULL) {
        return -1;
    }
    return is_own && type->tp_iter == PyDict_Type.tp_iter ? IONFAST_AS_DICT : IONFAST_AS_MAPPING;
}

static bool
is_names(PyObject *names)
{
    if (names == NULL || !PyTuple_Check(names)) {
        return false;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); i++) {
        if (!PyUnicode_Check(PyTuple_GET_ITEM(names, i))) {
            return false;
        }
    }
    return true;
}

static int
tuple_handler(const ionfast_state *state, PyTypeObject *type, PyObject **fields)
{
    PyObject *names;
    if (optional_attr((PyObject *)type, state->str_fields, &names) < 0) {
        return -1;
    }
    if (is_names(names)) {
        *fields = names;
        return IONFAST_AS_NAMED_TUPLE; /* resolve() looks for Fields */
    }
    Py_XDECREF(names);
    return type->tp_iter == PyTuple_Type.tp_iter ? IONFAST_AS_TUPLE : IONFAST_AS_ITERABLE;
}

/* Handler of a class that builds on one of Python's own value types, or IONFAST_AS_UNKNOWN; -1 with an
 * exception. */
static int
builtin_handler(const ionfast_state *state, PyObject *value, PyObject **fields)
{
    PyTypeObject *const type = Py_TYPE(value);
    if (PyUnicode_Check(value)) {
        return is_subtype(type, state->Symbol) ? IONFAST_AS_SYMBOL : IONFAST_AS_STR;
    }
    if (PyLong_Check(value)) {
        return IONFAST_AS_INT;
    }
    if (PyFloat_Check(value)) {
        return IONFAST_AS_FLOAT;
    }
    if (PyBytes_Check(value)) {
        return IONFAST_AS_BYTES;
    }
    if (PyByteArray_Check(value) || PyMemoryView_Check(value)) {
        return IONFAST_AS_BUFFER;
    }
    if (PyList_Check(value)) {
        return type->tp_iter == PyList_Type.tp_iter ? IONFAST_AS_LIST : IONFAST_AS_ITERABLE;
    }
    if (PyDict_Check(value)) {
        return dict_handler(state, type);
    }
    if (PyTuple_Check(value)) {
        return tuple_handler(state, type, fields);
    }
    if (is_subtype(type, state->Decimal)) {
        return IONFAST_AS_DECIMAL;
    }
    if (ionfast_is_date(value)) {
        return IONFAST_AS_TIMESTAMP;
    }
    return PyAnySet_Check(value) ? IONFAST_AS_ITERABLE : IONFAST_AS_UNKNOWN;
}

/* Handler of a class with fields that have names; -1 with an exception. */
static int
fields_handler(ionfast_state *state, PyTypeObject *type, PyObject **fields)
{
    PyObject *function = NULL;
    PyObject *made = ionfast_fields_of(state, type, &function);
    if (made == NULL) {
        return -1;
    }
    if (function != NULL) {
        Py_DECREF(made);
        *fields = function;
        return IONFAST_AS_REPLACED;
    }
    *fields = made;
    return IONFAST_AS_DATACLASS;
}

/* Is it a dataclass, an attrs class, a msgspec struct? -1 with an exception. */
static int
has_fields(const ionfast_state *state, PyTypeObject *type)
{
    PyObject *const markers[] = {state->str_dataclass_fields, state->str_struct_fields,
                                 state->str_attrs_fields};
    for (size_t i = 0; i < sizeof markers / sizeof markers[0]; i++) {
        PyObject *marker;
        const int result = optional_attr((PyObject *)type, markers[i], &marker);
        Py_XDECREF(marker);
        if (result != 0) {
            return result;
        }
    }
    return 0;
}

/* A named tuple whose hints rename or annotate fields is written like other classes with fields. */
static int
named_tuple_handler(ionfast_state *state, PyTypeObject *type, PyObject **fields)
{
    PyObject *function = NULL;
    PyObject *made = ionfast_fields_of(state, type, &function);
    if (made == NULL) {
        return -1;
    }
    if (function == NULL && ionfast_fields_are_named(made, *fields)) {
        Py_DECREF(made);
        return IONFAST_AS_NAMED_TUPLE;
    }
    if (function != NULL) {
        Py_SETREF(made, function);
    }
    Py_SETREF(*fields, made);
    return function != NULL ? IONFAST_AS_REPLACED : IONFAST_AS_DATACLASS;
}

/* Handler of a class that is none of Python's value types; -1 with an exception. */
static int
other_handler(ionfast_state *state, PyObject *value, PyObject **fields)
{
    PyTypeObject *const type = Py_TYPE(value);
    const int is_object = PyType_Check(value) ? 0 : has_fields(state, type);
    if (is_object != 0) {
        return is_object < 0 ? -1 : fields_handler(state, type, fields);
    }
    const int is_uuid = is_subtype_lazy(type, &state->UUID, "uuid", "UUID");
    if (is_uuid != 0) {
        return is_uuid < 0 ? -1 : IONFAST_AS_UUID;
    }
    const int is_path = is_subtype_lazy(type, &state->PurePath, "pathlib", "PurePath");
    if (is_path != 0) {
        return is_path < 0 ? -1 : IONFAST_AS_FSPATH;
    }
    const int is_mapping = PyObject_IsSubclass((PyObject *)type, state->Mapping);
    if (is_mapping != 0) {
        return is_mapping < 0 ? -1 : IONFAST_AS_MAPPING;
    }
    if (PyIter_Check(value)) {
        return IONFAST_AS_ITERABLE;
    }
    return strncmp(type->tp_name, "numpy.", 6) == 0 ? fields_handler(state, type, fields)
                                                    : IONFAST_AS_UNKNOWN;
}

/* Enum members by `_value_`, which costs a third of asking `value`, where that is Enum's own. */
static void
use_plain_value(const ionfast_state *state, PyTypeObject *type, PyObject **fields)
{
    PyObject *const own = _PyType_Lookup(type, state->str_value);
    if (own != NULL && own == _PyType_Lookup((PyTypeObject *)state->Enum, state->str_value)) {
        *fields = Py_NewRef(state->str_plain_value);
    }
}

static int
resolve(ionfast_state *state, PyObject *value, PyObject **fields)
{
    PyTypeObject *const type = Py_TYPE(value);
    if (is_subtype(type, state->SymbolToken) || is_subtype(type, state->IonPySymbol)) {
        return PyUnicode_Check(value) ? IONFAST_AS_SYMBOL : IONFAST_AS_TOKEN;
    }
    if (is_subtype(type, state->IonPyNull)) {
        return IONFAST_AS_NULL;
    }
    if (is_subtype(type, state->IonPyDict)) {
        return IONFAST_AS_DICT;
    }
    if (is_subtype(type, state->Enum)) {
        use_plain_value(state, type, fields);
        return IONFAST_AS_ENUM;
    }
    if (type == (PyTypeObject *)state->Annotated) {
        return IONFAST_AS_ANNOTATED;
    }
    const int handler = builtin_handler(state, value, fields);
    if (handler == IONFAST_AS_NAMED_TUPLE) {
        return named_tuple_handler(state, type, fields);
    }
    return handler != IONFAST_AS_UNKNOWN ? handler : other_handler(state, value, fields);
}

int
ionfast_dispatch_other(ionfast_state *state, ionfast_type_map *map, PyObject *value,
                       uint32_t free_of, ionfast_type_row *out)
{
    PyTypeObject *const type = Py_TYPE(value);
    ionfast_type_row *const known = ionfast_type_map_find(map, type);
    if (known->type != NULL) {
        known->free_of = free_of;
        *out = *known;
        return 0;
    }
    ionfast_type_row row = {type, NULL, IONFAST_AS_UNKNOWN, is_ion_class(state, type), free_of};
    const int handler = resolve(state, value, &row.fields);
    if (handler < 0) {
        Py_XDECREF(row.fields);
        return -1;
    }
    row.handler = (uint8_t)handler;
    add_row(map, row);
    *out = *ionfast_type_map_find(map, type);
    return 0;
}
