/* SharedSymbolTable and Catalog: what imports refer to, and where they are looked up.
 *
 * Ion specification: symbols.md, "Shared Symbol Tables" and catalog.md. The core reads both
 * through plain structs embedded in the objects, without running any Python code.
 *
 *   Catalog.tables   dict   name -> dict   version -> SharedSymbolTable
 */
#include "py_conv.h"

#include <structmember.h>

/* As many symbols as a repr shows. */
#define REPR_SYMBOLS_MAX 8
#define SYSTEM_TABLE_NAME "$ion"

/* ---- SharedSymbolTable ---- */

typedef struct SharedSymbolTable {
    PyObject ob_base;
    /* The core's view. Its slices point into `name` and the strs of `symbols`: those are
     * immutable, and each keeps its UTF-8 as long as it lives. */
    ionf_shared shared;
    ionf_slice *slices; /* owned array of shared.max_id, by PyMem: when the collector takes a whole
                         * module apart, a table may outlive the module state and its allocator */
    PyObject *name;     /* owned exact str */
    PyObject *symbols;  /* owned tuple of exact str and None */
} SharedSymbolTable;

static void
shared_retain(const ionf_shared *shared)
{
    Py_INCREF((PyObject *)shared->owner);
}

static void
shared_release(const ionf_shared *shared)
{
    Py_DECREF((PyObject *)shared->owner);
}

static void
SharedSymbolTable_dealloc(PyObject *self)
{
    SharedSymbolTable *table = (SharedSymbolTable *)self;
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    PyMem_Free(table->slices);
    Py_XDECREF(table->name);
    Py_XDECREF(table->symbols);
    type->tp_free(self);
    Py_DECREF(type);
}

/* Strs are no containers, so that the only cycle goes through the type. */
static int
SharedSymbolTable_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((SharedSymbolTable *)self)->symbols);
    return 0;
}

/* The UTF-8 of an exact str, as long as it lives. */
static int
slice_of_str(PyObject *str, ionf_slice *out)
{
    Py_ssize_t len;
    const char *text = PyUnicode_AsUTF8AndSize(str, &len);
    if (text == NULL) {
        return -1;
    }
    out->data = (const uint8_t *)text;
    out->len = (size_t)len;
    return 0;
}

static int
check_name(PyObject *name)
{
    if (!PyUnicode_Check(name)) {
        PyErr_Format(PyExc_TypeError,
                     "the name of a shared symbol table must be a str, not %.200s",
                     Py_TYPE(name)->tp_name);
        return -1;
    }
    if (PyUnicode_GET_LENGTH(name) == 0) {
        PyErr_SetString(PyExc_ValueError, "the name of a shared symbol table must not be empty");
        return -1;
    }
    if (PyUnicode_CompareWithASCIIString(name, SYSTEM_TABLE_NAME) == 0) {
        PyErr_SetString(PyExc_ValueError,
                        "'" SYSTEM_TABLE_NAME "' is the name of the system symbol table");
        return -1;
    }
    return 0;
}

static int
parse_version(PyObject *value, uint32_t *out)
{
    if (!PyLong_Check(value) || PyBool_Check(value)) {
        PyErr_Format(PyExc_TypeError, "the version of a symbol table must be an int, not %.200s",
                     Py_TYPE(value)->tp_name);
        return -1;
    }
    int overflow;
    const long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (overflow != 0 || number < 1 || number > UINT32_MAX) {
        PyErr_Format(PyExc_ValueError, "the version of a symbol table must be 1 .. %llu, not %R",
                     (unsigned long long)UINT32_MAX, value);
        return -1;
    }
    *out = (uint32_t)number;
    return 0;
}

/* Symbol `index` as an exact str or None: new reference. */
static PyObject *
exact_symbol(PyObject *symbol, Py_ssize_t index)
{
    if (symbol == Py_None) {
        return Py_NewRef(symbol);
    }
    if (!PyUnicode_Check(symbol)) {
        return PyErr_Format(PyExc_TypeError, "symbols[%zd] must be a str or None, not %.200s",
                            index, Py_TYPE(symbol)->tp_name);
    }
    return PyUnicode_FromObject(symbol);
}

/* The iterable's items as a new tuple of exact strs and None. */
static PyObject *
exact_symbols(PyObject *iterable)
{
    if (PyUnicode_Check(iterable) || PyBytes_Check(iterable)) {
        return PyErr_Format(PyExc_TypeError,
                            "symbols must be an iterable of str and None, not %.200s",
                            Py_TYPE(iterable)->tp_name);
    }
    PyObject *given = PySequence_Tuple(iterable);
    if (given == NULL) {
        return NULL;
    }
    const Py_ssize_t count = PyTuple_GET_SIZE(given);
    PyObject *exact = PyTuple_New(count);
    for (Py_ssize_t i = 0; exact != NULL && i < count; i++) {
        PyObject *symbol = exact_symbol(PyTuple_GET_ITEM(given, i), i);
        if (symbol == NULL) {
            Py_CLEAR(exact);
        } else {
            PyTuple_SET_ITEM(exact, i, symbol);
        }
    }
    Py_DECREF(given);
    return exact;
}

/* Point a slice at each symbol's text. */
static int
fill_slices(SharedSymbolTable *table)
{
    const size_t count = (size_t)PyTuple_GET_SIZE(table->symbols);
    table->slices = PyMem_Calloc(count, sizeof(ionf_slice)); /* zeroes: a gap */
    if (table->slices == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    table->shared.max_id = count;
    table->shared.symbols = table->slices;
    for (size_t i = 0; i < count; i++) {
        PyObject *symbol = PyTuple_GET_ITEM(table->symbols, (Py_ssize_t)i);
        if (symbol != Py_None && slice_of_str(symbol, &table->slices[i]) < 0) {
            return -1;
        }
    }
    return 0;
}

static PyObject *
SharedSymbolTable_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static const char *const keywords[] = {"name", "version", "symbols", NULL};
    PyObject *name, *version, *symbols = NULL;
    uint32_t number;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|O:SharedSymbolTable", (char **)keywords,
                                     &name, &version, &symbols) ||
        check_name(name) < 0 || parse_version(version, &number) < 0) {
        return NULL;
    }
    PyObject *self = type->tp_alloc(type, 0);
    if (self == NULL) {
        return NULL;
    }
    SharedSymbolTable *table = (SharedSymbolTable *)self;
    table->shared.version = number;
    table->shared.retain = shared_retain;
    table->shared.release = shared_release;
    table->shared.owner = self;
    table->name = PyUnicode_FromObject(name);
    table->symbols = symbols == NULL ? PyTuple_New(0) : exact_symbols(symbols);
    if (table->name == NULL || table->symbols == NULL ||
        slice_of_str(table->name, &table->shared.name) < 0 || fill_slices(table) < 0) {
        Py_DECREF(self);
        return NULL;
    }
    return self;
}

static Py_ssize_t
SharedSymbolTable_length(PyObject *self)
{
    return PyTuple_GET_SIZE(((SharedSymbolTable *)self)->symbols);
}

static PyObject *
SharedSymbolTable_repr(PyObject *self)
{
    const SharedSymbolTable *table = (const SharedSymbolTable *)self;
    const Py_ssize_t count = PyTuple_GET_SIZE(table->symbols);
    if (count > REPR_SYMBOLS_MAX) {
        return PyUnicode_FromFormat("SharedSymbolTable(%R, %lu, <%zd symbols>)", table->name,
                                    (unsigned long)table->shared.version, count);
    }
    return PyUnicode_FromFormat("SharedSymbolTable(%R, %lu, %R)", table->name,
                                (unsigned long)table->shared.version, table->symbols);
}

/* 1, 0, or -1 with an exception. */
static int
tables_equal(const SharedSymbolTable *a, const SharedSymbolTable *b)
{
    if (a->shared.version != b->shared.version || a->shared.max_id != b->shared.max_id) {
        return 0;
    }
    const int same_name = PyObject_RichCompareBool(a->name, b->name, Py_EQ);
    return same_name <= 0 ? same_name : PyObject_RichCompareBool(a->symbols, b->symbols, Py_EQ);
}

static PyObject *
SharedSymbolTable_richcompare(PyObject *self, PyObject *other, int op)
{
    if ((op != Py_EQ && op != Py_NE) || !Py_IS_TYPE(other, Py_TYPE(self))) {
        Py_RETURN_NOTIMPLEMENTED;
    }
    const int equal =
        tables_equal((const SharedSymbolTable *)self, (const SharedSymbolTable *)other);
    return equal < 0 ? NULL : PyBool_FromLong((equal != 0) == (op == Py_EQ));
}

/* Name and version identify a table; the symbols need not be looked at. */
static Py_hash_t
SharedSymbolTable_hash(PyObject *self)
{
    const SharedSymbolTable *table = (const SharedSymbolTable *)self;
    const Py_hash_t name = PyObject_Hash(table->name);
    if (name == -1) {
        return -1;
    }
    const Py_hash_t mixed =
        (Py_hash_t)((Py_uhash_t)name ^ (Py_uhash_t)table->shared.version * 0x9E3779B1u);
    return mixed == -1 ? -2 : mixed;
}

static PyObject *
SharedSymbolTable_reduce(PyObject *self, PyObject *Py_UNUSED(ignored))
{
    const SharedSymbolTable *table = (const SharedSymbolTable *)self;
    return Py_BuildValue("(O(OkO))", Py_TYPE(self), table->name,
                         (unsigned long)table->shared.version, table->symbols);
}

static PyMethodDef SharedSymbolTable_methods[] = {
    {"__reduce__", SharedSymbolTable_reduce, METH_NOARGS, "For pickle and copy."},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef SharedSymbolTable_members[] = {
    {"name", T_OBJECT, offsetof(SharedSymbolTable, name), READONLY, "The name, a str."},
    {"version", T_UINT, offsetof(SharedSymbolTable, shared.version), READONLY,
     "The version, from 1."},
    {"max_id", T_ULONGLONG, offsetof(SharedSymbolTable, shared.max_id), READONLY,
     "The number of symbols, gaps included."},
    {"symbols", T_OBJECT, offsetof(SharedSymbolTable, symbols), READONLY,
     "The symbols' texts as a tuple; None where there is a gap."},
    {NULL, 0, 0, 0, NULL},
};

PyDoc_STRVAR(SharedSymbolTable_doc,
             "SharedSymbolTable(name, version, symbols=())\n--\n\n"
             "Symbols that documents import by name and version. Immutable.\n\n"
             "`symbols` are str, or None for a gap: a symbol ID that has no text.");

static PyType_Slot SharedSymbolTable_slots[] = {
    {Py_tp_doc, (void *)SharedSymbolTable_doc},
    {Py_tp_new, SharedSymbolTable_new},
    {Py_tp_dealloc, SharedSymbolTable_dealloc},
    {Py_tp_traverse, SharedSymbolTable_traverse},
    {Py_tp_repr, SharedSymbolTable_repr},
    {Py_tp_richcompare, SharedSymbolTable_richcompare},
    {Py_tp_hash, SharedSymbolTable_hash},
    {Py_tp_methods, SharedSymbolTable_methods},
    {Py_tp_members, SharedSymbolTable_members},
    {Py_sq_length, SharedSymbolTable_length},
    {0, NULL},
};

static PyType_Spec SharedSymbolTable_spec = {
    .name = "ionfast.SharedSymbolTable",
    .basicsize = sizeof(SharedSymbolTable),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = SharedSymbolTable_slots,
};

const ionf_shared *
ionfast_shared_of(ionfast_state *state, PyObject *object)
{
    if (!Py_IS_TYPE(object, state->SharedSymbolTable)) {
        PyErr_Format(PyExc_TypeError, "an import must be a SharedSymbolTable, not %.200s",
                     Py_TYPE(object)->tp_name);
        return NULL;
    }
    return &((SharedSymbolTable *)object)->shared;
}

PyObject *
ionfast_shared_symbol_str(const ionf_shared *shared, uint64_t index)
{
    const SharedSymbolTable *table = (const SharedSymbolTable *)shared->owner;
    return Py_NewRef(PyTuple_GET_ITEM(table->symbols, (Py_ssize_t)index));
}

/* ---- Catalog ---- */

typedef struct Catalog {
    PyObject_HEAD ionf_catalog view; /* the core's; its ctx is this object */
    PyObject *tables;                /* owned dict, see above */
    ionfast_state *state;            /* borrowed: the type keeps the module alive */
} Catalog;

static int
Catalog_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((Catalog *)self)->tables);
    return 0;
}

static int
Catalog_clear(PyObject *self)
{
    Py_CLEAR(((Catalog *)self)->tables);
    return 0;
}

static void
Catalog_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    Catalog_clear(self);
    type->tp_free(self);
    Py_DECREF(type);
}

/* The table of the greatest version: new reference, or NULL with MemoryError. A name in a catalog has at
 * least one. */
static PyObject *
greatest_version(PyObject *versions)
{
    PyObject *tables = PyDict_Values(versions);
    if (tables == NULL) {
        return NULL;
    }
    PyObject *greatest = PyList_GET_ITEM(tables, 0);
    for (Py_ssize_t i = 1; i < PyList_GET_SIZE(tables); i++) {
        PyObject *const table = PyList_GET_ITEM(tables, i);
        if (((SharedSymbolTable *)table)->shared.version >
            ((SharedSymbolTable *)greatest)->shared.version) {
            greatest = table;
        }
    }
    Py_INCREF(greatest);
    Py_DECREF(tables);
    return greatest;
}

/* New reference; NULL without an exception when there is none. `version` may be NULL: the greatest one.
 * Keys are exact strs and ints, so that nothing written in Python runs. */
static PyObject *
find_table(const Catalog *catalog, PyObject *name, PyObject *version)
{
    PyObject *versions = NULL, *table = NULL;
    if (catalog->tables == NULL || ionfast_dict_get(catalog->tables, name, &versions) <= 0) {
        return NULL;
    }
    const int is_known = version == NULL ? 0 : ionfast_dict_get(versions, version, &table);
    if (is_known == 0) {
        table = greatest_version(versions);
    }
    Py_DECREF(versions);
    return table;
}

/* ionf_catalog.find. The contract has no failure but "none", so running out of memory is that. */
static const ionf_shared *
catalog_find(void *ctx, ionf_slice name, uint32_t version)
{
    PyObject *name_str = PyUnicode_DecodeUTF8((const char *)name.data, (Py_ssize_t)name.len, NULL);
    PyObject *number = PyLong_FromUnsignedLong(version);
    const ionf_shared *found = NULL;
    if (name_str != NULL && number != NULL) {
        PyObject *table = find_table((const Catalog *)ctx, name_str, number);
        if (table != NULL) { /* the caller's reference from here on */
            found = &((SharedSymbolTable *)table)->shared;
        }
    }
    Py_XDECREF(name_str);
    Py_XDECREF(number);
    if (found == NULL) {
        PyErr_Clear();
    }
    return found;
}

static int
register_table(Catalog *catalog, PyObject *object)
{
    if (!Py_IS_TYPE(object, catalog->state->SharedSymbolTable)) {
        PyErr_Format(PyExc_TypeError, "a catalog holds SharedSymbolTable objects, not %.200s",
                     Py_TYPE(object)->tp_name);
        return -1;
    }
    const SharedSymbolTable *table = (const SharedSymbolTable *)object;
    PyObject *number = PyLong_FromUnsignedLong(table->shared.version);
    if (number == NULL) {
        return -1;
    }
    /* A name never stands without a table, even if memory runs out or threads register at once. */
    int result = -1;
    PyObject *versions = PyDict_New(), *known = NULL;
    if (versions != NULL && PyDict_SetItem(versions, number, object) == 0) {
        known = ionfast_dict_set_default(catalog->tables, table->name, versions);
    }
    if (known != NULL) {
        result = known == versions ? 0 : PyDict_SetItem(known, number, object);
    }
    Py_XDECREF(known);
    Py_XDECREF(versions);
    Py_DECREF(number);
    return result;
}

static int
register_all(Catalog *catalog, PyObject *iterable)
{
    PyObject *iterator = PyObject_GetIter(iterable);
    if (iterator == NULL) {
        return -1;
    }
    int result = 0;
    PyObject *table;
    while (result == 0 && (table = PyIter_Next(iterator)) != NULL) {
        result = register_table(catalog, table);
        Py_DECREF(table);
    }
    Py_DECREF(iterator);
    return PyErr_Occurred() ? -1 : result;
}

/* Catalog itself, for it or a subclass: see timestamp_class in py_time.c. */
static PyTypeObject *
catalog_class(PyTypeObject *type)
{
    while (type->tp_dealloc != Catalog_dealloc) {
        type = type->tp_base;
    }
    return type;
}

static PyObject *
Catalog_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static const char *const keywords[] = {"tables", NULL};
    PyObject *tables = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:Catalog", (char **)keywords, &tables)) {
        return NULL;
    }
    PyObject *self = type->tp_alloc(type, 0);
    if (self == NULL) {
        return NULL;
    }
    Catalog *catalog = (Catalog *)self;
    catalog->view.find = catalog_find;
    catalog->view.ctx = self;
    catalog->state = (ionfast_state *)PyType_GetModuleState(catalog_class(type));
    catalog->tables = PyDict_New();
    if (catalog->tables == NULL || (tables != NULL && register_all(catalog, tables) < 0)) {
        Py_DECREF(self);
        return NULL;
    }
    return self;
}

PyDoc_STRVAR(register_doc,
             "register($self, table, /)\n--\n\n"
             "Add a SharedSymbolTable; it replaces one of the same name and version.");

static PyObject *
Catalog_register(PyObject *self, PyObject *table)
{
    if (register_table((Catalog *)self, table) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

PyDoc_STRVAR(get_doc, "get($self, name, version=None)\n--\n\n"
                      "The table of that name and version; without that version, or when none is "
                      "given,\nthe one of the greatest version; None when the name is unknown.");

/* find_table for arguments of any type: exact keys, new reference or None. */
static PyObject *
get_table(const Catalog *catalog, PyObject *name, PyObject *version)
{
    uint32_t number = 0;
    if (!PyUnicode_Check(name)) {
        return PyErr_Format(PyExc_TypeError,
                            "the name of a symbol table must be a str, not %.200s",
                            Py_TYPE(name)->tp_name);
    }
    if (version != Py_None && parse_version(version, &number) < 0) {
        return NULL;
    }
    PyObject *exact_name = PyUnicode_FromObject(name);
    PyObject *exact_version = number == 0 ? NULL : PyLong_FromUnsignedLong(number);
    PyObject *table = NULL;
    if (!PyErr_Occurred()) {
        table = find_table(catalog, exact_name, exact_version);
    }
    Py_XDECREF(exact_name);
    Py_XDECREF(exact_version);
    if (table == NULL && !PyErr_Occurred()) {
        Py_RETURN_NONE;
    }
    return table;
}

PyObject *
ionfast_catalog_table(ionfast_state *state, PyObject *catalog, PyObject *name, PyObject *version)
{
    PyObject *table = get_table((const Catalog *)catalog, name, version);
    if (table == NULL) {
        return NULL;
    }
    if (table == Py_None) {
        PyErr_Format(state->IonError, "the catalog has no symbol table %R", name);
        Py_CLEAR(table);
        return NULL;
    }
    uint32_t number = ((SharedSymbolTable *)table)->shared.version;
    const uint32_t greatest = number;
    if (version != Py_None && parse_version(version, &number) < 0) {
        Py_CLEAR(table);
    } else if (number != greatest) {
        PyErr_Format(state->IonError,
                     "the catalog has no version %lu of symbol table %R: its greatest is %lu",
                     (unsigned long)number, name, (unsigned long)greatest);
        Py_CLEAR(table);
    }
    return table;
}

static PyObject *
Catalog_get(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static const char *const keywords[] = {"name", "version", NULL};
    PyObject *name, *version = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O:get", (char **)keywords, &name,
                                     &version)) {
        return NULL;
    }
    return get_table((const Catalog *)self, name, version);
}

/* All tables as a new list, by name in the order of their first registration. */
static PyObject *
table_list(const Catalog *catalog)
{
    PyObject *names = PyDict_Values(catalog->tables);
    PyObject *list = names == NULL ? NULL : PyList_New(0);
    for (Py_ssize_t i = 0; list != NULL && i < PyList_GET_SIZE(names); i++) {
        PyObject *tables = PyDict_Values(PyList_GET_ITEM(names, i));
        if (tables == NULL || PyList_SetSlice(list, PY_SSIZE_T_MAX, PY_SSIZE_T_MAX, tables) < 0) {
            Py_CLEAR(list);
        }
        Py_XDECREF(tables);
    }
    Py_XDECREF(names);
    return list;
}

static PyObject *
Catalog_iter(PyObject *self)
{
    PyObject *list = table_list((const Catalog *)self);
    PyObject *iterator = list == NULL ? NULL : PyObject_GetIter(list);
    Py_XDECREF(list);
    return iterator;
}

static Py_ssize_t
Catalog_length(PyObject *self)
{
    PyObject *list = table_list((const Catalog *)self);
    const Py_ssize_t count = list == NULL ? -1 : PyList_GET_SIZE(list);
    Py_XDECREF(list);
    return count;
}

/* Is this very table, or one that equals it, in the catalog? */
static int
contains_table(const Catalog *catalog, PyObject *table)
{
    PyObject *number = PyLong_FromUnsignedLong(((SharedSymbolTable *)table)->shared.version);
    if (number == NULL) {
        return -1;
    }
    PyObject *found = find_table(catalog, ((SharedSymbolTable *)table)->name, number);
    Py_DECREF(number);
    if (found == NULL) {
        return PyErr_Occurred() ? -1 : 0;
    }
    const int is_equal = tables_equal((SharedSymbolTable *)found, (SharedSymbolTable *)table);
    Py_DECREF(found);
    return is_equal;
}

static int
Catalog_contains(PyObject *self, PyObject *key)
{
    const Catalog *catalog = (const Catalog *)self;
    if (Py_IS_TYPE(key, catalog->state->SharedSymbolTable)) {
        return contains_table(catalog, key);
    }
    if (PyUnicode_Check(key)) {
        PyObject *table = get_table(catalog, key, Py_None);
        Py_XDECREF(table);
        return table == NULL ? -1 : table != Py_None;
    }
    PyErr_Format(PyExc_TypeError, "a catalog contains SharedSymbolTable objects, not %.200s",
                 Py_TYPE(key)->tp_name);
    return -1;
}

static PyObject *
Catalog_repr(PyObject *self)
{
    const Py_ssize_t count = Catalog_length(self);
    if (count < 0) {
        return NULL;
    }
    return PyUnicode_FromFormat("<Catalog of %zd table%s>", count, count == 1 ? "" : "s");
}

/* What a subclass's instance holds. */
static PyObject *
instance_state(PyObject *self)
{
    /* Interned: a new str each time would fill the interpreter's cache of attributes with
     * itself. */
    PyObject *name = PyUnicode_InternFromString("__getstate__");
    PyObject *attributes = name == NULL ? NULL : PyObject_CallMethodNoArgs(self, name);
    Py_XDECREF(name);
    return attributes;
}

static PyObject *
Catalog_reduce(PyObject *self, PyObject *Py_UNUSED(ignored))
{
    PyObject *attributes = instance_state(self);
    PyObject *tables = attributes == NULL ? NULL : table_list((const Catalog *)self);
    if (tables == NULL) {
        Py_XDECREF(attributes);
        return NULL;
    }
    return Py_BuildValue("(O(N)N)", Py_TYPE(self), tables, attributes);
}

static PyMethodDef Catalog_methods[] = {
    {"register", Catalog_register, METH_O, register_doc},
    {"get", (PyCFunction)(void (*)(void))Catalog_get, METH_VARARGS | METH_KEYWORDS, get_doc},
    {"__reduce__", Catalog_reduce, METH_NOARGS, "For pickle and copy."},
    {NULL, NULL, 0, NULL},
};

PyDoc_STRVAR(Catalog_doc,
             "Catalog(tables=())\n--\n\n"
             "Shared symbol tables by name and version, for readers and writers to look "
             "imports up in.\n\nIterating gives the tables; `in` takes a table or a name.");

static PyType_Slot Catalog_slots[] = {
    {Py_tp_doc, (void *)Catalog_doc},
    {Py_tp_new, Catalog_new},
    {Py_tp_dealloc, Catalog_dealloc},
    {Py_tp_traverse, Catalog_traverse},
    {Py_tp_clear, Catalog_clear},
    {Py_tp_repr, Catalog_repr},
    {Py_tp_iter, Catalog_iter},
    {Py_tp_methods, Catalog_methods},
    {Py_sq_length, Catalog_length},
    {Py_sq_contains, Catalog_contains},
    {0, NULL},
};

static PyType_Spec Catalog_spec = {
    .name = "ionfast.Catalog",
    .basicsize = sizeof(Catalog),
    .flags =
        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = Catalog_slots,
};

int
ionfast_catalog_of(ionfast_state *state, PyObject *object, const ionf_catalog **out)
{
    if (object == Py_None) {
        *out = NULL;
        return 0;
    }
    if (!PyObject_TypeCheck(object, state->Catalog)) {
        PyErr_Format(PyExc_TypeError, "catalog must be a Catalog or None, not %.200s",
                     Py_TYPE(object)->tp_name);
        return -1;
    }
    *out = &((const Catalog *)object)->view;
    return 0;
}

/* ---- both ---- */

static PyTypeObject *
add_type(PyObject *module, PyType_Spec *spec)
{
    PyTypeObject *type = (PyTypeObject *)PyType_FromModuleAndSpec(module, spec, NULL);
    if (type != NULL && PyModule_AddType(module, type) < 0) {
        Py_CLEAR(type);
    }
    return type;
}

int
ionfast_symbols_exec(PyObject *module, ionfast_state *state)
{
    state->SharedSymbolTable = add_type(module, &SharedSymbolTable_spec);
    if (state->SharedSymbolTable == NULL) {
        return -1;
    }
    state->Catalog = add_type(module, &Catalog_spec);
    return state->Catalog == NULL ? -1 : 0;
}
