/* Every test of the Python version in the project, and what hides behind it. */
#ifndef PY_COMPAT_H
#define PY_COMPAT_H

#ifndef PY_SSIZE_T_CLEAN
#define PY_SSIZE_T_CLEAN
#endif
#include <Python.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "ionf_base.h"

#if PY_VERSION_HEX < 0x030B0000
#error "ionfast needs CPython 3.11 or newer"
#endif

/* A dict with room for `count` keys: growing one key table at a time costs more than filling it. */
static inline PyObject *
ionfast_dict_new(size_t count)
{
    return count <= 5 ? PyDict_New() : _PyDict_NewPresized((Py_ssize_t)count);
}

/* Insert a str whose hash is cached. (_PyDict_SetItem_KnownHash saves nothing: 909 against 987 us for
 * all of twitter with PyDict_New, 838 for this with presized dicts.) */
static inline int
ionfast_dict_set(PyObject *dict, PyObject *key, PyObject *value)
{
    return PyDict_SetItem(dict, key, value);
}

/* ---- without a GIL ----
 *
 * Is there one lock around all calls? Without it whatever threads share needs one of these; with it they
 * are nothing, or what is quickest under it:
 *
 *   IONFAST_SHARED    a counter or a flag that any thread may read and change
 *   ionfast_spin      around a few lines that run no code of the interpreter's
 *   ionfast_turn      an object that one call at a time may use; who comes second is told so
 *   IONFAST_ALONE     a method of such an object
 *   ionfast_publish   an object that is made on first use and kept for ever
 *   ionfast_dict_...  references out of containers that others may change meanwhile
 */
#ifdef Py_GIL_DISABLED
#define IONFAST_HAS_GIL 0
#define IONFAST_SHARED(type) _Atomic(type)
#else
#define IONFAST_HAS_GIL 1
#define IONFAST_SHARED(type) type
#endif

/* From 3.12 on the cyclic collector runs where signals are looked at, before inside allocations. */
#define IONFAST_COLLECTS_AT_SIGNALS (PY_VERSION_HEX >= 0x030C0000)

/* Held for a few instructions, none of which may wait, run Python code or make the interpreter stop: then
 * no `fork` and no collection finds it locked. (PyMutex can be handed to a thread that sleeps, and would
 * stay with it in the child of a fork.) Zeroed memory is one that nobody holds. */
typedef struct ionfast_spin {
    IONFAST_SHARED(bool) is_held;
} ionfast_spin;

#define IONFAST_SPINS 100 /* before others are let in: the holder may not be running */

static inline void
ionfast_spin_lock(ionfast_spin *spin)
{
#if IONFAST_HAS_GIL
    (void)spin;
#else
    for (int i = 1; atomic_exchange_explicit(&spin->is_held, true, memory_order_acquire); i++) {
        if (i % IONFAST_SPINS == 0) {
            Py_BEGIN_ALLOW_THREADS Py_END_ALLOW_THREADS
        }
    }
#endif
}

static inline void
ionfast_spin_unlock(ionfast_spin *spin)
{
#if IONFAST_HAS_GIL
    (void)spin;
#else
    atomic_store_explicit(&spin->is_held, false, memory_order_release);
#endif
}

/* A new reference to what `*place` holds, which others may replace under the same lock; or NULL. */
static inline PyObject *
ionfast_spin_ref(ionfast_spin *spin, PyObject **place)
{
    ionfast_spin_lock(spin);
    PyObject *object = Py_XNewRef(*place);
    ionfast_spin_unlock(spin);
    return object;
}

/* Put `object`, which is taken over, into `*place`. */
static inline void
ionfast_spin_replace(ionfast_spin *spin, PyObject **place, PyObject *object)
{
    ionfast_spin_lock(spin);
    PyObject *old = *place;
    *place = object;
    ionfast_spin_unlock(spin);
    Py_XDECREF(old); /* may run anything */
}

/* Whose turn it is to use an object: of one call at a time, however long that takes. Zeroed memory is
 * nobody's turn. With a GIL the objects' own flags do, which are set wherever others may come in. */
typedef struct ionfast_turn {
    IONFAST_SHARED(bool) is_taken;
} ionfast_turn;

/* For memory that is not zeroed. */
static inline void
ionfast_turn_init(ionfast_turn *turn)
{
#if IONFAST_HAS_GIL
    (void)turn;
#else
    atomic_init(&turn->is_taken, false);
#endif
}

/* False: it is another call's, maybe one of this very thread. */
static inline bool
ionfast_turn_take(ionfast_turn *turn)
{
#if IONFAST_HAS_GIL
    (void)turn;
    return true;
#else
    return !atomic_exchange_explicit(&turn->is_taken, true, memory_order_acquire);
#endif
}

static inline void
ionfast_turn_give(ionfast_turn *turn)
{
#if IONFAST_HAS_GIL
    (void)turn;
#else
    atomic_store_explicit(&turn->is_taken, false, memory_order_release);
#endif
}

/* Is a call under way? For the collector, which finds the world stopped. */
static inline bool
ionfast_turn_is_taken(const ionfast_turn *turn)
{
#if IONFAST_HAS_GIL
    (void)turn;
    return false;
#else
    return atomic_load_explicit(&turn->is_taken, memory_order_relaxed);
#endif
}

/* IONFAST_ALONE(function, (its parameters), (their names)) makes function_alone, which takes the turn of
 * `self` around the function, or gives what the file's in_use() gives where it cannot have it.
 * IONFAST_METHOD(function) is that; with a GIL, the function itself. */
#if IONFAST_HAS_GIL
#define IONFAST_METHOD(function) function
#define IONFAST_ALONE(function, parameters, arguments)
#else
#define IONFAST_METHOD(function) function##_alone
#define IONFAST_ALONE(function, parameters, arguments)                                            \
    static PyObject *function##_alone parameters                                                  \
    {                                                                                             \
        if (!ionfast_turn_take(&self->turn)) {                                                    \
            return in_use();                                                                      \
        }                                                                                         \
        PyObject *const result = function arguments;                                              \
        ionfast_turn_give(&self->turn);                                                           \
        return result;                                                                            \
    }
#endif

/* A pointer that others may look at while it changes: only whether it is NULL means anything then. */
static inline void *
ionfast_peek(void *place)
{
#if IONFAST_HAS_GIL
    return *(void **)place;
#else
    return _Py_atomic_load_ptr_acquire(place);
#endif
}

/* Give `*place` the object, which is taken over; NULL stays NULL. */
static inline void
ionfast_poke(void *place, void *value)
{
#if IONFAST_HAS_GIL
    *(void **)place = value;
#else
    _Py_atomic_store_ptr_release(place, value);
#endif
}

/* Keep `object`, which is taken over, in `*place` for ever, unless another thread was quicker. Gives what is
 * there then, borrowed; NULL for NULL. */
static inline PyObject *
ionfast_publish(PyObject **place, PyObject *object)
{
#if IONFAST_HAS_GIL
    Py_XSETREF(*place, object);
    return object;
#else
    void *known = NULL;
    if (object == NULL || _Py_atomic_compare_exchange_ptr(place, &known, object)) {
        return object;
    }
    Py_DECREF(object);
    return known;
#endif
}

/* Between these no other thread changes the object, unless what stands there waits for something. Each of
 * the two is a brace. */
#if IONFAST_HAS_GIL
#define IONFAST_LOCK(object) {
#define IONFAST_UNLOCK() }
#else
#define IONFAST_LOCK(object) Py_BEGIN_CRITICAL_SECTION(object)
#define IONFAST_UNLOCK() Py_END_CRITICAL_SECTION()
#endif

/* A copy of what a buffer holds, as bytes. Locked: 3.13's bytearray counts its users without one. */
static inline PyObject *
ionfast_bytes_of(PyObject *object)
{
    PyObject *bytes;
    IONFAST_LOCK(object);
    bytes = PyBytes_FromObject(object);
    IONFAST_UNLOCK();
    return bytes;
}

/* 1 and a new reference, or 0 and NULL; -1 with an exception. */
static inline int
ionfast_dict_get(PyObject *dict, PyObject *key, PyObject **value)
{
#if IONFAST_HAS_GIL
    *value = Py_XNewRef(PyDict_GetItemWithError(dict, key));
    return *value != NULL ? 1 : PyErr_Occurred() ? -1 : 0;
#else
    return PyDict_GetItemRef(dict, key, value);
#endif
}

/* What `dict` has for the key, a str, or `value`, which it has then. New reference, or NULL.
 *
 * PyDict_SetDefault does this too, but in 3.13 it goes on when memory runs out while the dict grows, and
 * leaves one that crashes later. */
static inline PyObject *
ionfast_dict_set_default(PyObject *dict, PyObject *key, PyObject *value)
{
#if IONFAST_HAS_GIL
    PyObject *known = PyDict_GetItemWithError(dict, key);
    if (known == NULL && !PyErr_Occurred() && PyDict_SetItem(dict, key, value) == 0) {
        known = value;
    }
    return Py_XNewRef(known);
#else
    PyObject *known;
    return PyDict_SetDefaultRef(dict, key, value, &known) < 0 ? NULL : known;
#endif
}

/* Are references out of a container that is being walked new ones, which the caller drops? Else they are
 * borrowed, as long as no foreign code runs. */
#define IONFAST_WALK_OWNS (!IONFAST_HAS_GIL)

/* PyDict_Next. */
static inline int
ionfast_dict_next(PyObject *dict, Py_ssize_t *position, PyObject **key, PyObject **value)
{
#if IONFAST_HAS_GIL
    return PyDict_Next(dict, position, key, value);
#else
    int result;
    Py_BEGIN_CRITICAL_SECTION(dict);
    result = PyDict_Next(dict, position, key, value);
    if (result != 0) {
        Py_INCREF(*key);
        Py_INCREF(*value);
    }
    Py_END_CRITICAL_SECTION();
    return result;
#endif
}

/* Item `i` of a list, or NULL without an exception beyond its end. */
static inline PyObject *
ionfast_list_item(PyObject *list, Py_ssize_t i)
{
    if (i >= PyList_GET_SIZE(list)) {
        return NULL;
    }
#if IONFAST_HAS_GIL
    return PyList_GET_ITEM(list, i);
#else
    PyObject *item = PyList_GetItemRef(list, i);
    if (item == NULL) {
        PyErr_Clear(); /* it has become shorter */
    }
    return item;
#endif
}

/* What a class has under a name, its bases asked too, without descriptors; new reference, or NULL without
 * an exception. */
static inline PyObject *
ionfast_type_lookup(PyTypeObject *type, PyObject *name)
{
#if IONFAST_HAS_GIL
    return Py_XNewRef(_PyType_Lookup(type, name));
#else
    return _PyType_LookupRef(type, name);
#endif
}

/* The classes that a class builds on, itself first; a new reference to a tuple, or NULL. */
static inline PyObject *
ionfast_type_bases(PyTypeObject *type)
{
#if IONFAST_HAS_GIL
    return Py_NewRef(type->tp_mro);
#else
    PyObject *bases = PyObject_GetAttrString((PyObject *)type, "__mro__");
    if (bases != NULL && !PyTuple_CheckExact(bases)) {
        Py_SETREF(bases, PySequence_Tuple(bases));
    }
    return bases;
#endif
}

/* UTF-8 that a str has made of itself, or NULL; its length is there before it. */
static inline const char *
ionfast_str_utf8(const PyCompactUnicodeObject *str)
{
#if IONFAST_HAS_GIL
    return str->utf8;
#else
    return _Py_atomic_load_ptr_acquire(&str->utf8);
#endif
}

/* May an object be put together where it is used? Its parts are in the public headers of these versions;
 * builds that count or trace references have to be told of it, and go through the functions. */
#if PY_VERSION_HEX < 0x030E0000 && !defined(Py_GIL_DISABLED) && !defined(Py_REF_DEBUG) &&         \
    !defined(Py_TRACE_REFS)
#define IONFAST_CAN_MAKE_OBJECTS 1
#else
#define IONFAST_CAN_MAKE_OBJECTS 0
#endif

/* 3.11 still keeps a wchar_t form of a str, and whether it has been made ready. */
#define IONFAST_STR_HAS_WSTR (PY_VERSION_HEX < 0x030C0000)

/* PyFloat_FromDouble without the list of free floats, which is empty while a document is read:
 * canada 8.2 -> 7.5 ms. */
static inline PyObject *
ionfast_float_new(double value)
{
#if IONFAST_CAN_MAKE_OBJECTS
    PyFloatObject *object = PyObject_Malloc(sizeof *object);
    if (IONF_UNLIKELY(object == NULL)) {
        return PyErr_NoMemory();
    }
    object->ob_base.ob_refcnt = 1;
    object->ob_base.ob_type = &PyFloat_Type;
    object->ob_fval = value;
    return (PyObject *)object;
#else
    return PyFloat_FromDouble(value);
#endif
}

/* A str of `len` ASCII characters, at least 2, at `text` (py_ascii.c). */
PyObject *ionfast_ascii_new(const uint8_t *text, size_t len);
#if IONFAST_CAN_MAKE_OBJECTS
/* The same in `memory`, of PyObject_Malloc, where the text is already, behind a PyASCIIObject and with
 * room for one byte more: it becomes the str. */
PyObject *ionfast_ascii_adopt(void *memory, size_t len);
#endif

/* Give `list`, which is empty, `count` items, which it takes over; -1 leaves them. */
static inline int
ionfast_list_fill(PyObject *list, PyObject *const *items, size_t count)
{
    if (count == 0) {
        return 0;
    }
#ifndef Py_GIL_DISABLED
    PyObject **copy = PyMem_Malloc(count * sizeof *copy);
    if (copy == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    memcpy(copy, items, count * sizeof *copy);
    ((PyListObject *)list)->ob_item = copy;
    ((PyListObject *)list)->allocated = (Py_ssize_t)count;
    Py_SET_SIZE(list, (Py_ssize_t)count);
#else
    for (size_t i = 0; i < count; i++) {
        if (PyList_Append(list, items[i]) < 0) {
            PyList_SetSlice(list, 0, PY_SSIZE_T_MAX, NULL);
            return -1;
        }
    }
    for (size_t i = 0; i < count; i++) {
        Py_DECREF(items[i]);
    }
#endif
    return 0;
}

/* A list of `count` items, which it takes over; NULL leaves them. PyList_New(count) would first clear
 * what is overwritten here: 5% of canada. (Without a GIL 3.13's crashes when memory runs out.) */
static inline PyObject *
ionfast_list_of(PyObject *const *items, size_t count)
{
    PyObject *list = PyList_New(0);
    if (list != NULL && ionfast_list_fill(list, items, count) < 0) {
        Py_CLEAR(list);
    }
    return list;
}

#if IONFAST_HAS_GIL
/* Put `count` more items behind those of `list`, which nobody else knows, and which takes them over; -1
 * leaves them. */
static inline int
ionfast_list_extend(PyObject *list, PyObject *const *items, size_t count)
{
    PyListObject *const object = (PyListObject *)list;
    const size_t size = (size_t)Py_SIZE(list);
    if ((size_t)object->allocated - size < count) {
        const size_t room = size + count + size / 16;
        PyObject **const array = PyMem_Realloc(object->ob_item, room * sizeof *array);
        if (array == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        object->ob_item = array;
        object->allocated = (Py_ssize_t)room;
    }
    memcpy(object->ob_item + size, items, count * sizeof *items);
    Py_SET_SIZE(list, (Py_ssize_t)(size + count));
    return 0;
}

/* Give back what the items do not need. */
static inline void
ionfast_list_trim(PyObject *list)
{
    PyListObject *const object = (PyListObject *)list;
    const size_t size = (size_t)Py_SIZE(list);
    PyObject **const array = PyMem_Realloc(object->ob_item, size * sizeof *array);
    if (array != NULL) {
        object->ob_item = array;
        object->allocated = (Py_ssize_t)size;
    }
}
#endif

/* Put everything that `dict` holds into `object`, an empty dict of a subclass; steals `dict`. What they
 * hold changes places, so that nothing is copied. -1 with an exception. */
static inline int
ionfast_dict_move(PyObject *object, PyObject *dict)
{
#ifndef Py_GIL_DISABLED
    PyDictObject *to = (PyDictObject *)object;
    PyDictObject *from = (PyDictObject *)dict;
    const PyDictObject was = *to;
    to->ma_keys = from->ma_keys;
    to->ma_values = from->ma_values;
    to->ma_used = from->ma_used;
    from->ma_keys = was.ma_keys;
    from->ma_values = was.ma_values;
    from->ma_used = was.ma_used;
    Py_DECREF(dict);
    return 0;
#else
    const int status = PyDict_Merge(object, dict, 1);
    Py_DECREF(dict);
    return status;
#endif
}

/* What a dict looks like inside, to put other values into a dict that PyDict_Copy has just made without
 * looking each key up (py_build.h, remembered shapes), and to read entries where they lie.
 *
 *   dict -> keys  [header][indices: 1 << log2_index_bytes][key, value][key, value] ...
 *
 * The same from 3.11 to 3.14 with the GIL; py_layout.c makes sure at start. */
typedef struct ionfast_dict_keys {
    Py_ssize_t refcount;
    uint8_t log2_size, log2_index_bytes, kind;
    uint32_t version;
    Py_ssize_t usable, entry_count;
    char indices[];
} ionfast_dict_keys;

#if PY_VERSION_HEX < 0x030F0000 && !defined(Py_GIL_DISABLED)
#define IONFAST_DICT_HAS_LAYOUT 1
#else
#define IONFAST_DICT_HAS_LAYOUT 0
#endif
#define IONFAST_DICT_KIND_UNICODE 1

/* Key, value, key, value ... of a dict with nothing but str keys, none of them ever deleted. */
static inline PyObject **
ionfast_dict_entries(PyObject *dict)
{
    ionfast_dict_keys *keys = (ionfast_dict_keys *)((PyDictObject *)dict)->ma_keys;
    return (PyObject **)(void *)(keys->indices + ((size_t)1 << keys->log2_index_bytes));
}

/* Is `dict`, whose keys are all str, laid out as ionfast_dict_entries takes for granted? */
static inline bool
ionfast_dict_has_entries(PyObject *dict)
{
    if (!IONFAST_DICT_HAS_LAYOUT || ((PyDictObject *)dict)->ma_values != NULL) {
        return false;
    }
    const ionfast_dict_keys *keys = (ionfast_dict_keys *)((PyDictObject *)dict)->ma_keys;
    return keys->kind == IONFAST_DICT_KIND_UNICODE && keys->entry_count == PyDict_GET_SIZE(dict);
}

/* May PyDict_SetDefault be called: is there room, where it does not bear that there is none? */
static inline bool
ionfast_dict_has_room(PyObject *dict)
{
#if PY_VERSION_HEX < 0x030D0000
    (void)dict;
    return true;
#else
    return IONFAST_DICT_HAS_LAYOUT &&
           ((ionfast_dict_keys *)((PyDictObject *)dict)->ma_keys)->usable > 0;
#endif
}

/* Put a value under a new key: 1, or 0 where the dict has the key, with a value that stays; -1 with an
 * exception. Looks the key up once where it can: twice is 10 ns more. */
static inline int
ionfast_dict_add(PyObject *dict, PyObject *key, PyObject *value)
{
    if (IONF_LIKELY(ionfast_dict_has_room(dict))) {
        const Py_ssize_t size = PyDict_GET_SIZE(dict);
        return PyDict_SetDefault(dict, key, value) == NULL ? -1 : PyDict_GET_SIZE(dict) != size;
    }
    const int known = PyDict_Contains(dict, key);
    return known != 0 ? -(known < 0) : PyDict_SetItem(dict, key, value) < 0 ? -1 : 1;
}

/* Where an object keeps the attributes that are in its `__dict__`, as long as nobody has given it a dict
 * of another shape: in an array of values, by the index of the name in the keys that all objects of the
 * class share. Names are only ever added to these. Reading them there makes no `__dict__`. */
#define IONFAST_DICT_KIND_SPLIT 2

/* The shared keys of a class, or NULL. They live as long as the class. */
static inline const ionfast_dict_keys *
ionfast_class_keys(PyTypeObject *type)
{
#if PY_VERSION_HEX < 0x030E0000 && !defined(Py_GIL_DISABLED)
    const unsigned long needed = Py_TPFLAGS_HEAPTYPE | Py_TPFLAGS_MANAGED_DICT;
    if ((type->tp_flags & needed) != needed) {
        return NULL;
    }
    const ionfast_dict_keys *const keys =
        (const ionfast_dict_keys *)(void *)((PyHeapTypeObject *)type)->ht_cached_keys;
    return keys != NULL && keys->kind == IONFAST_DICT_KIND_SPLIT ? keys : NULL;
#else
    (void)type;
    return NULL;
#endif
}

/* Index of an interned name in the shared keys of a class, or -1. */
static inline Py_ssize_t
ionfast_class_keys_index(const ionfast_dict_keys *keys, const PyObject *name)
{
    PyObject *const *const entries =
        (PyObject *const *)(const void *)(keys->indices + ((size_t)1 << keys->log2_index_bytes));
    for (Py_ssize_t i = 0; i < keys->entry_count; i++) {
        if (entries[2 * i] == name) {
            return i;
        }
    }
    return -1;
}

#if PY_VERSION_HEX >= 0x030D0000
/* [capacity][size][embedded][valid] padding [value] ... */
#define IONFAST_VALUES_HEADER sizeof(PyObject *)
#else
#define IONFAST_VALUES_HEADER 0
#endif

/* The values of `object`, by index in the class's shared keys, which must not be NULL; or NULL where it
 * keeps them otherwise. Valid until its attributes change. */
static inline PyObject *const *
ionfast_object_values(PyObject *object, const ionfast_dict_keys *keys)
{
#if PY_VERSION_HEX >= 0x030D0000
    const unsigned char *const values = (const unsigned char *)object + sizeof(PyObject);
    if ((Py_TYPE(object)->tp_flags & Py_TPFLAGS_INLINE_VALUES) != 0 && values[3] != 0) {
        return (PyObject *const *)(const void *)(values + IONFAST_VALUES_HEADER);
    }
    const PyObject *const dict = ((PyObject *const *)object)[-3];
#elif PY_VERSION_HEX >= 0x030C0000
    const uintptr_t either = ((const uintptr_t *)object)[-3]; /* a dict, or values - 1 */
    if ((either & 1) != 0) {
        return (PyObject *const *)(either + 1);
    }
    const PyObject *const dict = (const PyObject *)either;
#else
    const PyObject *const dict = ((PyObject *const *)object)[-3];
    if (dict == NULL) {
        return ((PyObject *const *const *)object)[-4];
    }
#endif
    if (dict == NULL || !PyDict_CheckExact(dict)) {
        return NULL;
    }
    const PyDictObject *const split = (const PyDictObject *)dict;
    if (split->ma_values == NULL || (const void *)split->ma_keys != (const void *)keys) {
        return NULL;
    }
    return (PyObject *const *)(const void *)((const char *)split->ma_values +
                                             IONFAST_VALUES_HEADER);
}

/* A dict of atoms has been given other values: make the collector know it. From 3.14 on it does from
 * the start. */
static inline void
ionfast_dict_track(PyObject *dict)
{
#if PY_VERSION_HEX < 0x030E0000
    PyObject_GC_Track(dict);
#else
    (void)dict;
#endif
}

/* Take `count` references to None away, all at once. */
static inline void
ionfast_none_drop(size_t count)
{
#if PY_VERSION_HEX < 0x030C0000 && defined(Py_REF_DEBUG)
    for (size_t i = 0; i < count; i++) { /* so that sys.gettotalrefcount() stays right */
        Py_DECREF(Py_None);
    }
#elif PY_VERSION_HEX < 0x030C0000
    Py_SET_REFCNT(Py_None, Py_REFCNT(Py_None) - (Py_ssize_t)count);
#else
    (void)count; /* immortal */
#endif
}

/* Slots of the module definition that only some versions know. From 3.13 on each subinterpreter may
 * have a GIL of its own, and there may be none at all; 3.12 knows the first slot too, but datetime, which
 * this needs, does not allow it there. */
#if PY_VERSION_HEX >= 0x030D0000
#define IONFAST_MODULE_SLOTS                                                                      \
    {Py_mod_multiple_interpreters, Py_MOD_PER_INTERPRETER_GIL_SUPPORTED},                         \
        {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#else
#define IONFAST_MODULE_SLOTS
#endif

/* Ints of one digit, whose value is found without a call. */
static inline bool
ionfast_long_is_compact(PyObject *value)
{
#if PY_VERSION_HEX >= 0x030C0000
    return PyUnstable_Long_IsCompact((const PyLongObject *)value) != 0;
#else
    const Py_ssize_t size = Py_SIZE(value);
    return size >= -1 && size <= 1;
#endif
}

static inline Py_ssize_t
ionfast_long_compact_value(PyObject *value)
{
#if PY_VERSION_HEX >= 0x030C0000
    return PyUnstable_Long_CompactValue((const PyLongObject *)value);
#else
    /* The digit of 0 may be anything. */
    return Py_SIZE(value) * (Py_ssize_t)((const PyLongObject *)value)->ob_digit[0];
#endif
}

/* Big ints as big-endian bytes. 3.13 has public functions for it and changed the private ones. */

/* The int whose value is these bytes, unsigned. */
static inline PyObject *
ionfast_long_from_be(const unsigned char *bytes, size_t len)
{
#if PY_VERSION_HEX >= 0x030D0000
    return PyLong_FromUnsignedNativeBytes(bytes, len, Py_ASNATIVEBYTES_BIG_ENDIAN);
#else
    return _PyLong_FromByteArray(bytes, len, 0, 0);
#endif
}

/* Bytes that two's complement of an int needs, sign bit included, perhaps one too many; -1 with an
 * exception. */
static inline Py_ssize_t
ionfast_long_size(PyObject *value)
{
#if PY_VERSION_HEX >= 0x030D0000
    return PyLong_AsNativeBytes(value, NULL, 0, Py_ASNATIVEBYTES_BIG_ENDIAN);
#else
    const size_t bits = _PyLong_NumBits(value);
    return bits == (size_t)-1 ? -1 : (Py_ssize_t)(bits / 8 + 1);
#endif
}

/* Store two's complement in the `len` bytes that ionfast_long_size asked for; -1 with an
 * exception. */
static inline int
ionfast_long_to_be(PyObject *value, unsigned char *dst, Py_ssize_t len)
{
#if PY_VERSION_HEX >= 0x030D0000
    return PyLong_AsNativeBytes(value, dst, len, Py_ASNATIVEBYTES_BIG_ENDIAN) < 0 ? -1 : 0;
#else
    return _PyLong_AsByteArray((PyLongObject *)value, dst, (size_t)len, 0, 1);
#endif
}

/* Give an object that has just been made, and has no `__dict__` yet, this one. Where the dict has a place of
 * its own in the object, which 3.12 and before keep for values without a dict, it is put there. */
static inline int
ionfast_set_first_dict(PyObject *object, PyObject *dict)
{
#if PY_VERSION_HEX >= 0x030D0000 && PY_VERSION_HEX < 0x030E0000 && !defined(Py_GIL_DISABLED)
    PyObject **slot = _PyObject_GetDictPtr(object);
    if (slot != NULL && *slot == NULL) {
        *slot = Py_NewRef(dict);
        return 0;
    }
#endif
    return PyObject_GenericSetDict(object, dict, NULL);
}

#endif
