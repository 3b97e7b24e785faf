/* Values beyond the common case. Everything here is out of the inner loop's way. */
#include "py_values.h"

#include "ionf_widen.h"
#include "py_build.h"
#include "py_decimal_memo.h"

/* Like IONFAST_LONG_TEXT: measuring and widening take some ten times as long as copying. */
#define LONG_WIDE_TEXT (IONFAST_LONG_TEXT / 16)

/* `text` as the units of `str` from `start` on. */
static void
widen_into(PyObject *str, size_t start, const uint8_t *text, size_t len)
{
    switch (PyUnicode_KIND(str)) {
    case PyUnicode_1BYTE_KIND:
        ionf_utf8_to_ucs1(text, len, PyUnicode_1BYTE_DATA(str) + start);
        break;
    case PyUnicode_2BYTE_KIND:
        ionf_utf8_to_ucs2(text, len, PyUnicode_2BYTE_DATA(str) + start);
        break;
    default:
        ionf_utf8_to_ucs4(text, len, PyUnicode_4BYTE_DATA(str) + start);
        break;
    }
}

/* The same for all of it, in steps with a look at signals after each. */
static int
widen_steps(PyObject *str, const uint8_t *text, size_t len)
{
    size_t start = 0;
    while (len > IONF_STEP_BYTES) {
        const size_t step = ionf_utf8_step(text);
        ionf_utf8_info info;
        ionf_utf8_measure(text, step, &info);
        widen_into(str, start, text, step);
        if (PyErr_CheckSignals() < 0) {
            return -1;
        }
        start += info.count;
        text += step;
        len -= step;
    }
    widen_into(str, start, text, len);
    return 0;
}

static PyObject *
widen(const uint8_t *text, size_t len, const ionf_utf8_info *info)
{
    if (IONF_UNLIKELY(len >= LONG_WIDE_TEXT) && PyErr_CheckSignals() < 0) {
        return NULL;
    }
    PyObject *str = PyUnicode_New((Py_ssize_t)info->count, info->max_class);
    if (str != NULL && widen_steps(str, text, len) < 0) {
        Py_CLEAR(str);
    }
    return str;
}

/* memcpy for any length, with a look at signals after each step. */
static int
copy_steps(uint8_t *dst, const uint8_t *src, size_t len)
{
    for (; len > IONF_STEP_BYTES; len -= IONF_STEP_BYTES) {
        memcpy(dst, src, IONF_STEP_BYTES);
        dst += IONF_STEP_BYTES;
        src += IONF_STEP_BYTES;
        if (PyErr_CheckSignals() < 0) {
            return -1;
        }
    }
    memcpy(dst, src, len);
    return 0;
}

PyObject *
ionfast_str_from_long_ascii(const uint8_t *text, size_t len)
{
    PyObject *str = PyErr_CheckSignals() < 0 ? NULL : PyUnicode_New((Py_ssize_t)len, 127);
    if (str != NULL && copy_steps(PyUnicode_1BYTE_DATA(str), text, len) < 0) {
        Py_CLEAR(str);
    }
    return str;
}

PyObject *
ionfast_bytes_new(const uint8_t *data, size_t len)
{
    if (len <= IONF_STEP_BYTES) {
        return PyBytes_FromStringAndSize((const char *)data, (Py_ssize_t)len);
    }
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)len);
    if (bytes != NULL && copy_steps((uint8_t *)PyBytes_AS_STRING(bytes), data, len) < 0) {
        Py_CLEAR(bytes);
    }
    return bytes;
}

/* Bytes of a string that is widened on the C stack while it is checked: most are shorter. */
#define UNITS_MAX 512

static PyObject *
str_from_units(const uint16_t *units, size_t count, uint32_t all)
{
    const bool is_narrow = all < 0x100;
    PyObject *str = PyUnicode_New((Py_ssize_t)count, is_narrow ? 0xFF : 0xFFFF);
    if (str == NULL) {
        return NULL;
    }
    if (!is_narrow) {
        memcpy(PyUnicode_2BYTE_DATA(str), units, count * sizeof *units);
        return str;
    }
    uint8_t *const dst = PyUnicode_1BYTE_DATA(str);
    for (size_t i = 0; i < count; i++) {
        dst[i] = (uint8_t)units[i];
    }
    return str;
}

/* A short string in one pass; false where it is longer, not valid or beyond U+FFFF. */
static bool
widen_short(const uint8_t *text, size_t len, PyObject **str)
{
    uint16_t units[UNITS_MAX + IONF_WIDEN_BLOCK];
    size_t count;
    uint32_t all;
    if (len > UNITS_MAX || ionf_utf8_decode_bmp(text, len, units, &count, &all) != len) {
        return false;
    }
    *str = str_from_units(units, count, all);
    return true;
}

PyObject *
ionfast_str_from_wide(const uint8_t *text, size_t len)
{
    PyObject *str;
    if (IONF_LIKELY(widen_short(text, len, &str))) {
        return str;
    }
    ionf_utf8_info info;
    ionf_utf8_measure(text, len, &info);
    return widen(text, len, &info);
}

int
ionfast_check_string(ionfast_decoder *dec, const ionf_token *t, ionf_utf8_info *info)
{
    size_t valid;
    if (ionf_utf8_check_steps(&dec->state->alloc, t->as.bytes.data, t->as.bytes.len, info,
                              &valid) != IONF_OK) {
        return -1; /* a signal's exception */
    }
    if (valid == t->as.bytes.len) {
        return 0;
    }
    ionf_bin_refuse_string(&dec->bin, t, valid);
    ionfast_set_error(dec->state, &dec->bin.base.error);
    return -1;
}

PyObject *
ionfast_str_from_unchecked(ionfast_decoder *dec, const ionf_token *t)
{
    const ionf_slice text = t->as.bytes;
    PyObject *str;
    if (IONF_LIKELY(widen_short(text.data, text.len, &str))) {
        return str;
    }
    ionf_utf8_info info;
    return ionfast_check_string(dec, t, &info) < 0 ? NULL : widen(text.data, text.len, &info);
}

static PyTypeObject *
as_type(PyObject *cls)
{
    return (PyTypeObject *)cls;
}

/* cls(value), for classes that add nothing to their base's __new__ and __init__: the slot is called
 * without what type.__call__ does around it. Steals `value`. */
static PyObject *
construct(PyObject *cls, PyObject *value)
{
    if (value == NULL) {
        return NULL;
    }
    PyObject *args = PyTuple_New(1);
    if (args == NULL) {
        Py_DECREF(value);
        return NULL;
    }
    PyTuple_SET_ITEM(args, 0, value);
    PyObject *object = as_type(cls)->tp_new(as_type(cls), args, NULL);
    Py_DECREF(args);
    return object;
}

/* The float as IonPyFloat. */
static PyObject *
ionpy_float(ionfast_state *state, double number)
{
    PyTypeObject *type = as_type(state->IonPyFloat);
    PyObject *object = type->tp_alloc(type, 0);
    if (object != NULL) {
        ((PyFloatObject *)object)->ob_fval = number;
    }
    return object;
}

static PyObject *
bytes_of(const ionf_slice *slice)
{
    if (IONF_LIKELY(slice->len < IONFAST_LONG_TEXT)) {
        return PyBytes_FromStringAndSize((const char *)slice->data, (Py_ssize_t)slice->len);
    }
    return PyErr_CheckSignals() < 0 ? NULL : ionfast_bytes_new(slice->data, slice->len);
}

/* A decimal that Python cannot hold is an error at the value's place. */
static PyObject *
checked_decimal(ionfast_decoder *dec, const ionf_token *t, PyObject *value)
{
    if (IONF_UNLIKELY(value == NULL)) {
        ionfast_error_add_offset(dec->state, t->offset);
    }
    return value;
}

/* A Decimal, which other values may share. */
static PyObject *
decimal_of(ionfast_decoder *dec, const ionf_token *t)
{
    ionfast_state *state = dec->state;
    if (IONF_UNLIKELY(dec->decimals == NULL)) {
        dec->decimals = ionfast_decimal_memo_new(&state->alloc);
    }
    if (IONF_UNLIKELY(dec->decimals == NULL)) {
        return PyErr_NoMemory();
    }
    return checked_decimal(dec, t, ionfast_decimal_shared(state, dec->decimals, &t->as.decimal));
}

/* The Symbol whose text is `text`, which it steals, where the decoder keeps it; NULL with an exception. */
static ionfast_symbol_entry *
symbol_of(ionfast_decoder *dec, PyObject *text)
{
    const uintptr_t address = (uintptr_t)text >> 4;
    ionfast_symbol_entry *entry = &dec->symbols[(address ^ address >> 8) % IONFAST_SYMBOL_SLOTS];
    if (IONF_LIKELY(entry->text == text)) {
        Py_DECREF(text);
        return entry;
    }
    PyObject *symbol = construct(dec->state->Symbol, Py_NewRef(text));
    if (symbol == NULL) {
        Py_DECREF(text);
        return NULL;
    }
    Py_XSETREF(entry->text, text);
    Py_XSETREF(entry->symbol, symbol);
    Py_CLEAR(entry->alone);
    Py_CLEAR(entry->attributes);
    dec->has_symbols = true;
    return entry;
}

/* A symbol of the lossless model: Symbol, or the SymbolToken that stands for unknown text. */
static PyObject *
lossless_symbol(ionfast_decoder *dec, const ionf_symref *ref)
{
    PyObject *text = ionfast_symref_str(dec, ref);
    if (text == NULL || !PyUnicode_Check(text)) {
        return text;
    }
    const ionfast_symbol_entry *entry = symbol_of(dec, text);
    return entry == NULL ? NULL : Py_NewRef(entry->symbol);
}

/* IonPySymbol from a str or a SymbolToken; steals `text`. */
static PyObject *
ionpy_symbol(ionfast_decoder *dec, PyObject *text)
{
    if (text == NULL || PyUnicode_Check(text)) {
        if (text == NULL) {
            return NULL;
        }
        PyObject *symbol = PyObject_CallOneArg(dec->state->IonPySymbol, text);
        Py_DECREF(text);
        return symbol;
    }
    PyObject *sid = PyObject_GetAttr(text, dec->state->str_sid);
    PyObject *location = sid == NULL ? NULL : PyObject_GetAttr(text, dec->state->str_location);
    PyObject *symbol = NULL;
    if (location != NULL) {
        symbol =
            PyObject_CallFunctionObjArgs(dec->state->IonPySymbol, Py_None, sid, location, NULL);
    }
    Py_XDECREF(sid);
    Py_XDECREF(location);
    Py_DECREF(text);
    return symbol;
}

PyObject *
ionfast_build_rare_scalar(ionfast_decoder *dec, const ionf_token *t)
{
    ionfast_state *state = dec->state;
    const bool is_plain = dec->model == IONFAST_MODEL_PLAIN;
    switch (t->kind) {
    case IONF_KIND_NULL:
        Py_RETURN_NONE;
    case IONF_KIND_DECIMAL:
        return decimal_of(dec, t);
    case IONF_KIND_TIMESTAMP:
        return ionfast_timestamp_from(state, &t->as.timestamp, state->Timestamp);
    case IONF_KIND_SYMBOL:
        return is_plain ? ionfast_symref_str(dec, &t->as.symbol)
                        : lossless_symbol(dec, &t->as.symbol);
    case IONF_KIND_CLOB:
        return is_plain ? bytes_of(&t->as.bytes) : construct(state->Clob, bytes_of(&t->as.bytes));
    default:
        return bytes_of(&t->as.bytes);
    }
}

/* The scalar as its IonPy* class, without annotations. */
static PyObject *
ionpy_scalar(ionfast_decoder *dec, const ionf_token *t)
{
    ionfast_state *state = dec->state;
    switch (t->kind) {
    case IONF_KIND_BOOL:
        return construct(state->IonPyBool, ionfast_build_scalar(dec, t));
    case IONF_KIND_INT:
        return construct(state->IonPyInt, ionfast_build_scalar(dec, t));
    case IONF_KIND_FLOAT:
        return ionpy_float(state, t->as.f64);
    case IONF_KIND_STRING:
        return construct(state->IonPyText, ionfast_build_scalar(dec, t));
    case IONF_KIND_DECIMAL:
        return checked_decimal(
            dec, t, ionfast_decimal_from(state, &t->as.decimal, as_type(state->IonPyDecimal)));
    case IONF_KIND_TIMESTAMP:
        return ionfast_timestamp_from(state, &t->as.timestamp, as_type(state->IonPyTimestamp));
    case IONF_KIND_BLOB:
        return construct(state->IonPyBytes, bytes_of(&t->as.bytes));
    case IONF_KIND_CLOB:
        return construct(state->Clob, bytes_of(&t->as.bytes));
    default:
        return ionpy_symbol(dec, ionfast_symref_str(dec, &t->as.symbol));
    }
}

/* Put annotations (stolen; may be NULL) on `value` (stolen). */
static PyObject *
annotate(ionfast_state *state, PyObject *value, PyObject *annotations)
{
    if (annotations == NULL) {
        return value;
    }
    if (value != NULL && PyObject_SetAttr(value, state->str_ion_annotations, annotations) < 0) {
        Py_CLEAR(value);
    }
    Py_DECREF(annotations);
    return value;
}

/* A new `__dict__` with these annotations. */
static PyObject *
attributes_of(ionfast_state *state, PyObject *annotations)
{
    PyObject *attributes = PyDict_Copy(state->annotated_dict);
    if (attributes != NULL &&
        PyDict_SetItem(attributes, state->str_ion_annotations, annotations) < 0) {
        Py_CLEAR(attributes);
    }
    return attributes;
}

/* The same for a value that has just been made by a class whose objects begin without any attribute: a
 * copy of a dict becomes its `__dict__`, where SetAttr would make one that shares its keys, in twice the
 * time. */
static PyObject *
annotate_new(ionfast_decoder *dec, PyObject *value, PyObject *annotations)
{
    if (value == NULL || annotations == NULL) {
        return annotate(dec->state, value, annotations);
    }
    const ionfast_symbol_entry *known = dec->annotated;
    PyObject *attributes = known != NULL && known->alone == annotations
                               ? PyDict_Copy(known->attributes)
                               : attributes_of(dec->state, annotations);
    if (attributes == NULL || ionfast_set_first_dict(value, attributes) < 0) {
        Py_CLEAR(value);
    }
    Py_XDECREF(attributes);
    Py_DECREF(annotations);
    return value;
}

PyObject *
ionfast_build_special(ionfast_decoder *dec, const ionf_token *t)
{
    ionfast_state *state = dec->state;
    if (dec->model == IONFAST_MODEL_PLAIN) {
        if (t->is_null) {
            Py_RETURN_NONE;
        }
        return ionfast_build_scalar(dec, t);
    }
    PyObject *annotations = NULL;
    if (t->annotation_count != 0) {
        annotations = ionfast_build_annotations(dec, t);
        if (annotations == NULL) {
            return NULL;
        }
    }
    if (!t->is_null) {
        PyObject *scalar = ionpy_scalar(dec, t);
        return t->kind == IONF_KIND_SYMBOL ? annotate(state, scalar, annotations)
                                           : annotate_new(dec, scalar, annotations);
    }
    if (t->kind == IONF_KIND_NULL && annotations == NULL && dec->model == IONFAST_MODEL_LOSSLESS) {
        Py_RETURN_NONE;
    }
    PyObject *null = PyObject_CallOneArg(state->IonPyNull, state->ion_types[t->kind]);
    return annotate(state, null, annotations);
}

static int
make_alone(ionfast_state *state, ionfast_symbol_entry *entry)
{
    entry->alone = PyTuple_Pack(1, entry->symbol);
    if (entry->alone != NULL) {
        entry->attributes = attributes_of(state, entry->alone);
    }
    if (entry->attributes == NULL) {
        Py_CLEAR(entry->alone);
        return -1;
    }
    return 0;
}

/* The only annotation of a value, which most often many others have too: one tuple for all of them. */
static PyObject *
single_annotation(ionfast_decoder *dec, const ionf_symref *ref)
{
    PyObject *text = ionfast_symref_str(dec, ref);
    if (text == NULL) {
        return NULL;
    }
    if (!PyUnicode_Check(text)) {
        PyObject *tuple = PyTuple_Pack(1, text);
        Py_DECREF(text);
        return tuple;
    }
    ionfast_symbol_entry *entry = symbol_of(dec, text);
    if (entry == NULL) {
        return NULL;
    }
    if (entry->alone == NULL && make_alone(dec->state, entry) < 0) {
        return NULL;
    }
    dec->annotated = entry;
    return Py_NewRef(entry->alone);
}

PyObject *
ionfast_build_annotations(ionfast_decoder *dec, const ionf_token *t)
{
    if (IONF_LIKELY(t->annotation_count == 1)) {
        return single_annotation(dec, &t->annotations[0]);
    }
    PyObject *annotations = PyTuple_New((Py_ssize_t)t->annotation_count);
    if (annotations == NULL) {
        return NULL;
    }
    for (uint32_t i = 0; i < t->annotation_count; i++) {
        PyObject *symbol =
            i % IONFAST_SIGNAL_INTERVAL == IONFAST_SIGNAL_INTERVAL - 1 && PyErr_CheckSignals() < 0
                ? NULL
                : lossless_symbol(dec, &t->annotations[i]);
        if (symbol == NULL) {
            Py_DECREF(annotations);
            return NULL;
        }
        PyTuple_SET_ITEM(annotations, (Py_ssize_t)i, symbol);
    }
    return annotations;
}

/* The dict as IonPyDict, without going through its __init__; steals `dict`. */
static PyObject *
ionpy_dict(ionfast_state *state, PyObject *dict)
{
    PyObject *object = PyDict_Type.tp_new(as_type(state->IonPyDict), state->empty_tuple, NULL);
    if (object == NULL) {
        Py_DECREF(dict);
        return NULL;
    }
    if (ionfast_dict_move(object, dict) < 0) {
        Py_CLEAR(object);
    }
    return object;
}

PyObject *
ionfast_wrap_container(ionfast_decoder *dec, PyObject *value, const ionfast_build_frame *frame)
{
    ionfast_state *state = dec->state;
    if (frame->kind == IONF_KIND_STRUCT) {
        if (Py_IS_TYPE(value, &PyDict_Type)) {
            value = ionpy_dict(state, value);
        }
    } else {
        PyObject *cls = frame->kind == IONF_KIND_SEXP ? state->Sexp : state->IonPyList;
        PyObject *list = PyObject_CallOneArg(cls, value);
        Py_DECREF(value);
        value = list;
    }
    return annotate(state, value, frame->annotations);
}

/* The items on the stack from `start` as IonPyList or Sexp; takes them off the stack. */
static PyObject *
ionpy_list(ionfast_decoder *dec, PyObject *cls, size_t start)
{
    PyObject *list = PyList_Type.tp_new(as_type(cls), dec->state->empty_tuple, NULL);
    if (list == NULL) {
        return NULL;
    }
    if (ionfast_list_fill(list, dec->values + start, dec->value_count - start) < 0) {
        Py_DECREF(list);
        return NULL;
    }
    dec->value_count = start;
    return list;
}

PyObject *
ionfast_close_wrapped(ionfast_decoder *dec, const ionfast_build_frame *frame)
{
    ionfast_state *state = dec->state;
    PyObject *value;
    if (frame->kind == IONF_KIND_STRUCT) {
        value = ionfast_close_struct(dec, frame->start);
        if (value != NULL &&
            !Py_IS_TYPE(value, &PyDict_Type)) { /* repeated names are attributes */
            return annotate(state, value, Py_XNewRef(frame->annotations));
        }
        value = value == NULL ? NULL : ionpy_dict(state, value);
    } else {
        value = ionpy_list(dec, frame->kind == IONF_KIND_SEXP ? state->Sexp : state->IonPyList,
                           frame->start);
    }
    return annotate_new(dec, value, Py_XNewRef(frame->annotations));
}

PyObject *
ionfast_close_repeats(ionfast_decoder *dec, size_t start)
{
    const size_t count = (dec->value_count - start) / 2;
    PyObject *pairs = PyList_New((Py_ssize_t)count);
    if (pairs == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        PyObject *pair = PyTuple_Pack(2, ionfast_slot_object(dec->values[start + 2 * i]),
                                      dec->values[start + 2 * i + 1]);
        if (pair == NULL) {
            Py_DECREF(pairs);
            return NULL;
        }
        PyList_SET_ITEM(pairs, (Py_ssize_t)i, pair);
    }
    PyObject *dict =
        PyObject_CallMethodOneArg(dec->state->IonPyDict, dec->state->str_from_items, pairs);
    Py_DECREF(pairs);
    return dict;
}

/* Where a shared table defines the symbol, or None; new reference. */
static PyObject *
import_location(ionfast_decoder *dec, uint64_t sid)
{
    ionf_symbol symbol;
    if (ionf_symtab_find(&ionfast_decoder_base(dec)->symtab, sid, &symbol) != IONF_OK ||
        symbol.shared == NULL) {
        Py_RETURN_NONE;
    }
    const ionf_slice name = symbol.shared->name;
    return PyObject_CallFunction(dec->state->ImportLocation, "s#K", (const char *)name.data,
                                 (Py_ssize_t)name.len,
                                 (unsigned long long)symbol.shared_index + 1);
}

PyObject *
ionfast_symbol_token(ionfast_decoder *dec, const ionf_symref *ref)
{
    PyObject *text = ionfast_symref_str(dec, ref);
    if (text == NULL || !PyUnicode_Check(text)) {
        return text; /* unknown text: a SymbolToken already */
    }
    PyObject *token = NULL;
    if (ref->text != NULL) {
        token = PyObject_CallOneArg(dec->state->SymbolToken, text);
    } else {
        PyObject *location = import_location(dec, ref->sid);
        if (location != NULL) {
            token = PyObject_CallFunction(dec->state->SymbolToken, "OKN", text,
                                          (unsigned long long)ref->sid, location);
        }
    }
    Py_DECREF(text);
    return token;
}
