/* Writing objects with named fields - dataclasses, attrs classes, msgspec structs - as structs: where
 * the objects of a class keep their fields, so that the encoder's hot loop reads them there; for objects
 * that keep them in any other way, the object as a dict.
 */
#ifndef PY_FIELDS_H
#define PY_FIELDS_H

#include "py_state.h"

/* Where all fields of an object are. */
typedef enum ionfast_fields_layout {
    IONFAST_FIELDS_ANYWHERE = 0, /* each has to be asked for */
    IONFAST_FIELDS_IN_DICT,      /* in its `__dict__`, or not yet known to be in values */
    IONFAST_FIELDS_IN_VALUES,    /* in its `__dict__`, in an array: see ionfast_object_values */
    IONFAST_FIELDS_IN_SLOTS
} ionfast_fields_layout;

typedef struct ionfast_fields {
    PyObject_VAR_HEAD PyTypeObject *type; /* owned: the class */
    PyObject *names;                      /* owned: tuple of names in Ion */
    PyObject *attributes;                 /* owned: tuple */
    PyObject *pattern;                    /* owned: dict with these names, in order */
    PyObject *tag_name, *tag;             /* owned: of a first field that the class has; or NULL */
    const ionfast_dict_keys *keys;        /* IN_VALUES: those of the class */
    uint8_t layout;                       /* ionfast_fields_layout */
    bool is_dict_named;                   /* a `__dict__` has these very names as keys */
    Py_ssize_t places[]; /* one for each field: IN_VALUES, bytes from the first value; else of a
                          * slot, or FIELD_IN_DICT, FIELD_BY_GETATTR */
} ionfast_fields;

/* How the fields of a class are got at; made once for each class and encoder. New reference, or NULL
 * with an exception. For a class that is written by a function of the user's field annotations, and for
 * numpy's, `*function` is that function, a new reference, and the result is None. */
PyObject *ionfast_fields_of(ionfast_state *state, PyTypeObject *type, PyObject **function);

/* What the places of the fields are relative to; NULL: see ionfast_fields_dict, as always where other threads
 * can change them at any time. Valid until foreign code runs. A place may hold NULL: see
 * ionfast_fields_value. */
IONF_FORCE_INLINE const char *
ionfast_fields_base(const ionfast_fields *fields, PyObject *object)
{
    if (!IONFAST_HAS_GIL ||
        IONF_UNLIKELY(Py_TYPE(object) != fields->type)) { /* foreign code can change it */
        return NULL;
    }
    if (fields->layout == IONFAST_FIELDS_IN_VALUES) {
        return (const char *)ionfast_object_values(object, fields->keys);
    }
    return fields->layout == IONFAST_FIELDS_IN_SLOTS ? (const char *)object : NULL;
}

/* Are the fields to be written one by one, each when its turn comes? Else ionfast_fields_dict has them
 * all. */
static inline bool
ionfast_fields_in_turn(const ionfast_fields *fields, PyObject *object)
{
    return IONFAST_HAS_GIL ? ionfast_fields_base(fields, object) != NULL
                           : fields->layout != IONFAST_FIELDS_ANYWHERE && Py_SIZE(fields) != 0 &&
                                 Py_TYPE(object) == fields->type;
}

/* A field's value, wherever it is. New reference; NULL with an exception. */
PyObject *ionfast_fields_value(const ionfast_fields *fields, PyObject *object, Py_ssize_t i);

/* The shared keys of a class are complete only when an object has all attributes: see whether they are
 * by now. */
void ionfast_fields_settle(ionfast_fields *fields);

/* The fields' values by their names in Ion, without the tag: the object's own `__dict__` where that is
 * the very same, else a dict made for the purpose. New reference; NULL with an exception. */
PyObject *ionfast_fields_dict(ionfast_fields *fields, PyObject *object);

/* Are these the attributes `names`, a tuple, under their own names? */
bool ionfast_fields_are_named(PyObject *fields, PyObject *names);

int ionfast_fields_exec(PyObject *module, ionfast_state *state);

#endif
