/* Short strs, made in one go. A file of its own, so that it is a function of its own: inside the loops
 * that read it would push out what they keep in registers. */
#include "py_compat.h"

#if IONFAST_CAN_MAKE_OBJECTS

/* The head of a str of ASCII; its text is the caller's affair. */
static inline uint8_t *
set_head(PyASCIIObject *object, size_t len)
{
    memset(&object->state, 0, sizeof object->state);
    object->ob_base.ob_refcnt = 1;
    object->ob_base.ob_type = &PyUnicode_Type;
    object->length = (Py_ssize_t)len;
    object->hash = -1;
    object->state.kind = PyUnicode_1BYTE_KIND;
    object->state.compact = 1;
    object->state.ascii = 1;
#if IONFAST_STR_HAS_WSTR
    object->state.ready = 1;
    object->wstr = NULL;
#endif
    return (uint8_t *)(object + 1);
}

PyObject *
ionfast_ascii_adopt(void *memory, size_t len)
{
    set_head(memory, len)[len] = 0;
    return memory;
}

#endif

PyObject *
ionfast_ascii_new(const uint8_t *text, size_t len)
{
#if IONFAST_CAN_MAKE_OBJECTS
    PyASCIIObject *object =
        IONF_LIKELY(len < SIZE_MAX / 4) ? PyObject_Malloc(sizeof *object + len + 1) : NULL;
    if (IONF_UNLIKELY(object == NULL)) {
        return PyErr_NoMemory();
    }
    uint8_t *const data = set_head(object, len);
    memcpy(data, text, len);
    data[len] = 0;
    return (PyObject *)object;
#else
    PyObject *object = PyUnicode_New((Py_ssize_t)len, 127);
    if (IONF_LIKELY(object != NULL)) {
        memcpy(PyUnicode_1BYTE_DATA(object), text, len);
    }
    return object;
#endif
}
