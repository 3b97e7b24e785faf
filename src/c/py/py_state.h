/* The module state: everything that one interpreter's ionfast owns. No globals anywhere else.
 *
 * Reached through the module (ionfast_state_of_module), or by a pointer in the object that needs it
 * (decoders, encoders). Classes written in Python are bound once by ionfast/__init__.py.
 */
#ifndef PY_STATE_H
#define PY_STATE_H

#include "py_compat.h"

#include "ionf_alloc.h"
#include "ionf_pool.h"
#include "ionf_token.h"

#define IONFAST_KIND_COUNT 13 /* IONF_KIND_NULL .. IONF_KIND_STRUCT */

/* clang-format off */
/* Classes and helpers that the Python half hands over, by attribute name: X(name in the mapping). */
#define IONFAST_BOUND(X)                                                                          \
    X(IonType) X(NEED_DATA) X(IonError) X(ValidationError) X(describe_type) X(describe_encoding)  \
    X(Annotated) X(SymbolToken) X(ImportLocation) X(Symbol) X(Clob) X(Sexp) X(IonPyNull)          \
    X(IonPyBool) X(IonPyInt) X(IonPyFloat) X(IonPyDecimal) X(IonPyTimestamp) X(IonPyText)         \
    X(IonPySymbol) X(IonPyBytes) X(IonPyList) X(IonPyDict) X(open_source) X(open_target)          \
    X(int_from_digits) X(int_to_digits)

/* Interned attribute names: X(C suffix, text). */
#define IONFAST_NAMES(X)                                                                          \
    X(ion_annotations, "ion_annotations") X(ion_type, "ion_type") X(text, "text") X(sid, "sid")   \
    X(location, "location") X(name, "name") X(position, "position") X(value, "value")             \
    X(from_items, "_from_items") X(repeats, "_repeats") X(as_tuple, "as_tuple")                   \
    X(model, "model") X(catalog, "catalog") X(max_depth, "max_depth")                             \
    X(max_value_size, "max_value_size") X(compression, "compression") X(auto, "auto")             \
    X(utcoffset, "utcoffset") X(dict, "__dict__") X(dataclass_fields, "__dataclass_fields__")     \
    X(post_init, "__post_init__") X(add_note, "add_note") X(type, "type") X(codec, "codec")       \
    X(forbid_unknown, "forbid_unknown") X(struct_fields, "__struct_fields__")                     \
    X(attrs_fields, "__attrs_attrs__") X(plain_value, "_value_") X(fields, "_fields")             \
    X(items, "items") X(offset, "offset") X(fspath, "__fspath__")
/* clang-format on */

/* What the core has asked of the allocator in this interpreter; tests and pools.stats() read it. */
typedef struct ionfast_heap {
    IONFAST_SHARED(uint64_t) allocs; /* successful alloc and realloc calls */
    IONFAST_SHARED(uint64_t) frees;
    IONFAST_SHARED(int64_t) live_bytes;
    IONFAST_SHARED(uint64_t) total_bytes; /* sum of all sizes ever asked for */
} ionfast_heap;

/* Number of a registration, which tells it from all others. */
typedef IONFAST_SHARED(uint32_t) ionfast_serial;

typedef struct ionfast_state {
    bool is_bound;
#define IONFAST_BOUND_FIELD(name) PyObject *name; /* owned */
    IONFAST_BOUND(IONFAST_BOUND_FIELD)
#undef IONFAST_BOUND_FIELD
    PyObject *ion_types[IONFAST_KIND_COUNT]; /* owned: IonType members by kind */

#define IONFAST_NAME_FIELD(suffix, text) PyObject *str_##suffix; /* owned, interned */
    IONFAST_NAMES(IONFAST_NAME_FIELD)
#undef IONFAST_NAME_FIELD
    PyObject *system_symbols[10]; /* owned: str of SIDs 1 .. 9; [0] NULL */
    PyObject *empty_tuple;        /* owned */
    PyObject *annotated_dict; /* owned: what a value's `__dict__` is copied from (py_values.c) */

    /* From the standard library, owned. */
    PyObject *Decimal;
    bool has_decimal_layout; /* of Decimal, as py_decimal_layout.h knows it */
    PyObject *Enum;
    PyObject *UUID;     /* looked up on first use; NULL before */
    PyObject *PurePath; /* the same */
    PyObject *Mapping;  /* collections.abc.Mapping */

    /* Types made in C, owned. */
    PyTypeObject *Timestamp;
    PyTypeObject *SharedSymbolTable;
    PyTypeObject *Catalog;
    PyTypeObject *Reader;
    PyTypeObject *Writer;
    PyTypeObject *Plan;
    PyTypeObject *Decoder;
    PyTypeObject *CodecBase;
    PyTypeObject *Fields;
    PyObject *plans; /* owned: dict, type -> Plan, of reading with `type=` */
    IONFAST_SHARED(uint64_t) decoder_serial; /* of the decoder made last */
    ionfast_serial codec_serial;             /* of the registration made last in any codec */

    /* py_time.c: timezone objects by offset, and its own needs. */
    PyObject *utc; /* owned: datetime.timezone.utc */
    PyObject *timezones[2 * 96 +
                        1]; /* owned, lazily: offsets in whole quarter hours, -24:00 .. +24:00 */

    ionfast_heap heap;
    ionf_alloc alloc;          /* PyMem, counted in `heap` */
    ionf_pool decoders;        /* ionfast_decoder */
    ionf_pool string_decoders; /* ionf_buf: scratch for strings that need unescaping or widening */
    ionf_pool buffers;         /* ionf_buf: output of writers */
    ionf_pool encoders;        /* ionfast_encoder */
    ionfast_spin pool_lock;    /* of all four */
    uint32_t pool_disablers;   /* blocks that want them off; under the lock */
    void *idle_reader; /* owned: memory of the Reader dropped last; or NULL (py_reader.c) */
} ionfast_state;

static inline ionfast_state *
ionfast_state_of_module(PyObject *module)
{
    return (ionfast_state *)PyModule_GetState(module);
}

/* The definition that every type of the module comes from, for PyType_GetModuleByDef. */
struct PyModuleDef *ionfast_module_def(void); /* py_module.c */

/* ---- parts that make up the module; each gives 0, or -1 with an exception set ---- */
int
ionfast_layout_check(void); /* py_layout.c: ImportError unless py_compat.h knows the interpreter */
int ionfast_time_exec(PyObject *module, ionfast_state *state);    /* py_time.c: Timestamp, utc */
int ionfast_symbols_exec(PyObject *module, ionfast_state *state); /* py_symbols.c */
void ionfast_pool_setup(ionfast_state *state);                    /* py_pool.c; cannot fail */
void ionfast_pool_teardown(ionfast_state *state);

/* Decoders and encoders as pool types: create with `ctx` = the state. */
ionf_pool_type ionfast_decoder_pool_type(ionfast_state *state); /* py_loads.c */
ionf_pool_type ionfast_encoder_pool_type(ionfast_state *state); /* py_dumps.c */

/* ---- errors (py_error.c): the only place that makes an IonError ---- */
#include "ionf_status.h"
/* Set the exception for a core error: MemoryError for IONF_ERR_NOMEM, else IonError with offset, line,
 * column. Always gives NULL. */
PyObject *ionfast_set_error(ionfast_state *state, const ionf_error *error);
/* IonError with a message of one's own and an offset (no line). Always gives NULL. */
PyObject *ionfast_set_error_at(ionfast_state *state, uint64_t offset, const char *format, ...);
/* Give the IonError that is set, if it has no offset yet, this one. */
void ionfast_error_add_offset(ionfast_state *state, uint64_t offset);
/* For writers: IonError (or MemoryError) for a bare status, no offset. Always gives NULL. */
PyObject *ionfast_set_status(ionfast_state *state, ionf_status status);
/* One step of a path to a value, ".name" or "[3]", as text; new reference. */
typedef PyObject *(*ionfast_path_step)(const void *walk, size_t index);
/* `path` (stolen; NULL stays NULL) and its steps 0 .. count - 1 behind it; of a very long path the middle
 * is left out. New reference, or NULL with an exception set. */
PyObject *ionfast_path_extend(PyObject *path, ionfast_path_step step, const void *walk,
                              size_t count);

#endif
