/* Which Ion value a Python object becomes: the two levels of type dispatch.
 *
 * Level 1 compares the type with the few that nearly all values have, the most common first. Level 2
 * is a small map from type to handler for all others - subclasses, dataclasses, mappings, enums - that
 * an encoder fills as it meets them. Neither raises for a type that nobody knows: that is
 * IONFAST_AS_UNKNOWN, and the `default` hook's turn.
 */
#ifndef PY_DISPATCH_H
#define PY_DISPATCH_H

#include "py_state.h"

typedef enum ionfast_handler {
    IONFAST_AS_UNKNOWN = 0,
    /* level 1, exact types */
    IONFAST_AS_STR,
    IONFAST_AS_INT,
    IONFAST_AS_DICT,
    IONFAST_AS_LIST,
    IONFAST_AS_FLOAT,
    IONFAST_AS_BOOL,
    IONFAST_AS_NONE,
    IONFAST_AS_BYTES,
    IONFAST_AS_DECIMAL,
    IONFAST_AS_TIMESTAMP,
    IONFAST_AS_TUPLE,
    IONFAST_AS_SYMBOL, /* a str that is a symbol */
    /* level 2 only; subclasses of the above have the handlers above */
    IONFAST_AS_TOKEN, /* SymbolToken */
    IONFAST_AS_NULL,  /* IonPyNull */
    IONFAST_AS_BUFFER,
    IONFAST_AS_ITERABLE,
    IONFAST_AS_MAPPING,
    IONFAST_AS_NAMED_TUPLE,
    IONFAST_AS_DATACLASS,
    IONFAST_AS_ENUM,       /* by its value */
    IONFAST_AS_REPLACED,   /* what a function, in `fields`, gives for it */
    IONFAST_AS_REGISTERED, /* of the codec in use: fields, (annotations, encode) */
    IONFAST_AS_ANNOTATED,  /* a value in a wrapper that carries annotations */
    IONFAST_AS_UUID,       /* str() of it */
    IONFAST_AS_FSPATH      /* os.fspath() of it */
} ionfast_handler;

typedef struct ionfast_type_row {
    PyTypeObject *type; /* owned; NULL: an empty row */
    PyObject *
        fields; /* owned: names of a named tuple's fields, a tuple; how those of a class are got at,
                  * from ionfast_fields_of; a function, or an entry of a codec; else NULL */
    uint8_t handler;  /* ionfast_handler */
    bool is_ion;      /* an IonPy* class: ion_type and ion_annotations count */
    uint32_t free_of; /* the codec that has no entry for the type, by its serial */
} ionfast_type_row;

/* Open addressing by pointer; emptied when it is three quarters full, so it is bounded. */
#define IONFAST_TYPE_ROWS 64

typedef struct ionfast_type_map {
    ionfast_type_row rows[IONFAST_TYPE_ROWS];
    uint32_t count;
    bool has_unknown; /* a type that may become known later, as by Mapping.register, has a row */
} ionfast_type_map;

/* A zeroed map is an empty one. Both drop references, so foreign code may run. */
void ionfast_type_map_clear(ionfast_type_map *map);
/* Forget the unknown types, which hold for one call only. */
void ionfast_type_map_forget_unknown(ionfast_type_map *map);

static inline size_t
ionfast_type_map_index(const PyTypeObject *type)
{
    const uintptr_t bits = (uintptr_t)type;
    return (size_t)(bits >> 4 ^ bits >> 10) % IONFAST_TYPE_ROWS;
}

/* The row of `type`, or the empty row where it belongs. There is always an empty one. */
IONF_FORCE_INLINE ionfast_type_row *
ionfast_type_map_find(ionfast_type_map *map, const PyTypeObject *type)
{
    size_t i = ionfast_type_map_index(type);
    while (map->rows[i].type != type && map->rows[i].type != NULL) {
        i = (i + 1) % IONFAST_TYPE_ROWS;
    }
    return &map->rows[i];
}

/* Level 1, where it matters most: handler of the types that nearly all values have, or
 * IONFAST_AS_UNKNOWN. Where `has_classes` says that such are about, a class made at run time, which is
 * none of these, goes to the map without being compared with each: docs/performance-dumps.md. */
IONF_FORCE_INLINE ionfast_handler
ionfast_dispatch_common(const PyTypeObject *type, bool has_classes)
{
    if (type == &PyUnicode_Type) {
        return IONFAST_AS_STR;
    }
    if (type == &PyLong_Type) {
        return IONFAST_AS_INT;
    }
    if (type == &PyDict_Type) {
        return IONFAST_AS_DICT;
    }
    if (type == &PyList_Type) {
        return IONFAST_AS_LIST;
    }
    if (has_classes && (type->tp_flags & Py_TPFLAGS_HEAPTYPE) != 0) {
        return IONFAST_AS_UNKNOWN;
    }
    if (type == &PyFloat_Type) {
        return IONFAST_AS_FLOAT;
    }
    if (type == &PyBool_Type) {
        return IONFAST_AS_BOOL;
    }
    if (type == Py_TYPE(Py_None)) {
        return IONFAST_AS_NONE;
    }
    return IONFAST_AS_UNKNOWN;
}

/* Level 1: handler of an exact, known type, or IONFAST_AS_UNKNOWN for level 2. */
IONF_FORCE_INLINE ionfast_handler
ionfast_dispatch_known(const ionfast_state *state, const PyTypeObject *type)
{
    const ionfast_handler common = ionfast_dispatch_common(type, false);
    if (common != IONFAST_AS_UNKNOWN) {
        return common;
    }
    if (type == (PyTypeObject *)state->Decimal) {
        return IONFAST_AS_DECIMAL;
    }
    if (type == state->Timestamp) {
        return IONFAST_AS_TIMESTAMP;
    }
    if (type == (PyTypeObject *)state->Symbol) {
        return IONFAST_AS_SYMBOL;
    }
    if (type == &PyBytes_Type) {
        return IONFAST_AS_BYTES;
    }
    if (type == &PyTuple_Type) {
        return IONFAST_AS_TUPLE;
    }
    return IONFAST_AS_UNKNOWN;
}

/* Level 2: the row of `value`'s type in `*out`, references borrowed from the map while the type lives
 * and the map is not used again. Runs foreign code the first time that a type is met; -1 with an
 * exception when that raises. `free_of` is the serial of a codec that has been asked for the type in
 * vain, or 0. */
int ionfast_dispatch_other(ionfast_state *state, ionfast_type_map *map, PyObject *value,
                           uint32_t free_of, ionfast_type_row *out);

#endif
