/* Typed decoding: one loop over the tokens, with a stack of its own, that builds each value as its
 * plan's node says.
 *
 *   values  [slot 0][slot 1]..[slot n] | [item][item] | [key][value]      a record's slots are reserved
 *            ^ frames[0].start (record)   ^ frames[1]    ^ frames[2]       and filled in any order
 *
 * An object is made when its container ends and all its fields are at hand, so that nobody can see one
 * that is half-made. What ANY stands for is built by py_build.h's loop.
 */
#include "py_typed.h"

#include "py_conv.h"
#include "py_typed_error.h"

/* ---- the stacks ---- */

static ionfast_typed_stack *
stack_make(ionfast_decoder *dec)
{
    ionfast_typed_stack *const stack = ionf_alloc_new(&dec->state->alloc, sizeof *stack);
    if (stack == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    memset(stack, 0, sizeof *stack);
    dec->typed = stack;
    return stack;
}

void
ionfast_typed_drop(ionfast_decoder *dec)
{
    ionfast_typed_stack *const stack = dec->typed;
    if (stack == NULL) {
        return;
    }
    while (stack->value_count != 0) {
        Py_XDECREF(stack->values[--stack->value_count]);
    }
    while (stack->frame_count != 0) {
        Py_XDECREF(stack->frames[--stack->frame_count].annotations);
    }
}

void
ionfast_typed_destroy(ionfast_decoder *dec)
{
    ionfast_typed_stack *const stack = dec->typed;
    if (stack == NULL) {
        return;
    }
    ionfast_typed_drop(dec);
    const ionf_alloc alloc = dec->state->alloc;
    ionf_alloc_free(&alloc, stack->values, stack->value_cap * sizeof *stack->values);
    ionf_alloc_free(&alloc, stack->frames, stack->frame_cap * sizeof *stack->frames);
    ionf_alloc_free(&alloc, stack, sizeof *stack);
    dec->typed = NULL;
}

size_t
ionfast_typed_retained(const ionfast_decoder *dec)
{
    const ionfast_typed_stack *const stack = dec->typed;
    return stack == NULL ? 0
                         : sizeof *stack + stack->value_cap * sizeof *stack->values +
                               stack->frame_cap * sizeof *stack->frames;
}

static IONF_NOINLINE int
grow_values(ionfast_decoder *dec, size_t extra)
{
    ionfast_typed_stack *const stack = dec->typed;
    void *array = stack->values;
    const ionf_status status = ionf_alloc_grow(&dec->state->alloc, &array, &stack->value_cap,
                                               stack->value_count + extra, sizeof *stack->values);
    stack->values = array;
    if (status != IONF_OK) {
        PyErr_NoMemory();
        return -1;
    }
    return 0;
}

static IONF_NOINLINE int
grow_frames(ionfast_decoder *dec)
{
    ionfast_typed_stack *const stack = dec->typed;
    void *array = stack->frames;
    const ionf_status status = ionf_alloc_grow(&dec->state->alloc, &array, &stack->frame_cap,
                                               stack->frame_count + 16, sizeof *stack->frames);
    stack->frames = array;
    if (status != IONF_OK) {
        PyErr_NoMemory();
        return -1;
    }
    return 0;
}

IONF_FORCE_INLINE int
need_values(ionfast_decoder *dec, size_t extra)
{
    ionfast_typed_stack *const stack = dec->typed;
    return IONF_LIKELY(stack->value_cap - stack->value_count >= extra) ? 0
                                                                       : grow_values(dec, extra);
}

/* Empty slots for the record that is innermost; there is room. */
static inline void
open_slots(ionfast_typed_stack *stack, const ionfast_plan_record *record)
{
    for (size_t i = 0; i < record->count; i++) {
        stack->values[stack->value_count++] = NULL;
    }
}

/* Open a container that is read as `node` says; takes over `annotations`. */
static inline int
push_frame(ionfast_decoder *dec, const ionfast_plan_node *node, const ionfast_plan_node *convert,
           const ionf_token *t, PyObject *annotations)
{
    ionfast_typed_stack *const stack = dec->typed;
    const size_t slots = node->op == IONFAST_PLAN_RECORD ? node->record->count : 0;
    if ((IONF_UNLIKELY(stack->frame_count == stack->frame_cap) && grow_frames(dec) < 0) ||
        need_values(dec, slots) < 0) {
        Py_XDECREF(annotations);
        return -1;
    }
    ionfast_typed_frame *const frame = &stack->frames[stack->frame_count++];
    frame->node = node;
    frame->convert = convert;
    frame->annotations = annotations;
    frame->start = stack->value_count;
    frame->slot = UINT32_MAX;
    frame->kind = t->kind;
    frame->offset = t->offset;
    if (slots != 0) {
        open_slots(stack, node->record);
    }
    return 0;
}

/* ---- scalars ---- */

static PyObject *
mismatch(ionfast_decoder *dec, const ionfast_plan_node *node, const ionf_token *t)
{
    PyObject *found = ionfast_typed_found(dec, t);
    return ionfast_typed_fail(dec, t->offset, Py_NewRef(node->expected), found);
}

/* A float from an int or a decimal that it holds exactly. */
static PyObject *
exact_float(ionfast_decoder *dec, const ionf_token *t)
{
    if (t->kind == IONF_KIND_INT && t->as.integer.form == IONF_INT_U64 &&
        t->as.integer.u64 <= (uint64_t)1 << 53) {
        const double magnitude = (double)t->as.integer.u64;
        return PyFloat_FromDouble(t->as.integer.is_negative ? -magnitude : magnitude);
    }
    PyObject *number = t->kind == IONF_KIND_INT ? ionfast_small_int(dec, &t->as.integer)
                                                : ionfast_build_rare_scalar(dec, t);
    PyObject *value = number == NULL ? NULL : PyNumber_Float(number);
    if (value == NULL && number != NULL && PyErr_ExceptionMatches(PyExc_OverflowError)) {
        PyErr_Clear();
        value = PyFloat_FromDouble(Py_HUGE_VAL);
    }
    const int is_same = value == NULL ? -1 : PyObject_RichCompareBool(number, value, Py_EQ);
    Py_XDECREF(number);
    if (is_same > 0) {
        return value;
    }
    Py_XDECREF(value);
    if (is_same == 0) {
        ionfast_typed_fail(
            dec, t->offset, PyUnicode_FromString("float"),
            PyUnicode_FromFormat("%s that no float equals", ionfast_typed_kind_name(t->kind)));
    }
    return NULL;
}

static PyObject *
decimal_of_int(ionfast_decoder *dec, const ionf_token *t)
{
    const ionf_decimal decimal = {t->as.integer, 0};
    if (decimal.coefficient.form == IONF_INT_U64) {
        return ionfast_decimal_from(dec->state, &decimal, (PyTypeObject *)dec->state->Decimal);
    }
    PyObject *number = ionfast_int_from(dec->state, &t->as.integer);
    PyObject *value = number == NULL ? NULL : PyObject_CallOneArg(dec->state->Decimal, number);
    Py_XDECREF(number);
    return value;
}

/* datetime, date, or whichever the precision asks for. */
static PyObject *
moment(ionfast_decoder *dec, const ionfast_plan_node *node, const ionf_token *t)
{
    const ionf_timestamp *const ts = &t->as.timestamp;
    const bool is_day = ts->precision == IONF_PRECISION_DAY;
    const bool wants_date =
        node->op == IONFAST_PLAN_DATE || (node->op == IONFAST_PLAN_MOMENT && is_day);
    PyObject *value = NULL;
    const int fits =
        wants_date ? ionfast_date_from(ts, &value) : ionfast_datetime_from(dec->state, ts, &value);
    if (fits != 0) {
        return value;
    }
    static const char *const precisions[] = {"",       "year",   "month",   "day",
                                             "minute", "second", "fraction"};
    const char *const expected =
        wants_date ? "timestamp of day precision" : "timestamp of minutes to microseconds";
    PyObject *found = ts->precision == IONF_PRECISION_FRACTION
                          ? PyUnicode_FromFormat("one of %llu fractional digits",
                                                 (unsigned long long)ts->fraction_digits)
                          : PyUnicode_FromFormat("one of %s precision", precisions[ts->precision]);
    return ionfast_typed_fail(dec, t->offset, PyUnicode_FromString(expected), found);
}

/* Text of a string or symbol; `text` NULL for a symbol without. */
static ionf_slice
text_of(ionfast_decoder *dec, const ionf_token *t)
{
    const ionf_slice none = {NULL, 0};
    if (t->kind == IONF_KIND_STRING) {
        const ionf_slice text = {t->as.bytes.data == NULL ? (const uint8_t *)"" : t->as.bytes.data,
                                 t->as.bytes.len};
        return text;
    }
    if (t->as.symbol.text != NULL) {
        const ionf_slice text = {t->as.symbol.text, t->as.symbol.len};
        return text;
    }
    ionf_symbol symbol;
    if (ionf_symtab_find(&ionfast_decoder_base(dec)->symtab, t->as.symbol.sid, &symbol) !=
            IONF_OK ||
        symbol.text == NULL) {
        return none;
    }
    const ionf_slice text = {symbol.text, symbol.len};
    return text;
}

/* None of the choices; steals `value`, which is what was found. */
static PyObject *
no_choice(ionfast_decoder *dec, const ionfast_plan_node *node, const ionf_token *t,
          PyObject *value)
{
    if (value == NULL) {
        return NULL;
    }
    PyObject *found = PyObject_Repr(value);
    Py_DECREF(value);
    return ionfast_typed_fail(dec, t->offset, Py_NewRef(node->expected), found);
}

static PyObject *
choice_of_value(ionfast_decoder *dec, const ionfast_plan_node *node, const ionf_token *t)
{
    PyObject *value = ionfast_build_scalar(dec, t);
    /* True and 1 are the same key, so that bools are wrapped. */
    PyObject *key =
        value != NULL && PyBool_Check(value) ? PyTuple_Pack(1, value) : Py_XNewRef(value);
    PyObject *result = key == NULL ? NULL : PyDict_GetItemWithError(node->object, key);
    Py_XDECREF(key);
    if (result != NULL || PyErr_Occurred()) {
        Py_XDECREF(value);
        return Py_XNewRef(result);
    }
    return no_choice(dec, node, t, value);
}

/* A member of an enum or a literal. */
static PyObject *
choice(ionfast_decoder *dec, const ionfast_plan_node *node, const ionf_token *t)
{
    if (t->kind != IONF_KIND_STRING && t->kind != IONF_KIND_SYMBOL) {
        return choice_of_value(dec, node, t);
    }
    const ionf_slice text = text_of(dec, t);
    if (text.data == NULL) {
        return mismatch(dec, node, t);
    }
    const int index = ionfast_name_find(&node->names, text.data, text.len);
    if (IONF_LIKELY(index >= 0)) {
        return Py_NewRef(PyTuple_GET_ITEM(PyTuple_GET_ITEM(node->results, 0), index));
    }
    return no_choice(dec, node, t,
                     PyUnicode_DecodeUTF8((const char *)text.data, (Py_ssize_t)text.len, NULL));
}

/* A str or a Symbol from a symbol, whose text must be known. */
static PyObject *
symbol_text(ionfast_decoder *dec, const ionfast_plan_node *node, const ionf_token *t)
{
    PyObject *text = ionfast_symref_str(dec, &t->as.symbol);
    if (text == NULL) {
        return NULL;
    }
    if (!PyUnicode_Check(text)) {
        Py_DECREF(text);
        return ionfast_typed_fail(dec, t->offset, Py_NewRef(node->expected),
                                  PyUnicode_FromString("symbol without text"));
    }
    if (node->op == IONFAST_PLAN_STR) {
        return text;
    }
    PyObject *symbol = PyObject_CallOneArg(dec->state->Symbol, text);
    Py_DECREF(text);
    return symbol;
}

/* An unannotated, non-null scalar that the node's usual kind is not, or that is not common. */
static PyObject *
other_scalar(ionfast_decoder *dec, const ionfast_plan_node *node, const ionf_token *t)
{
    if (node->op == IONFAST_PLAN_ANY) {
        return t->annotation_count == 0 && dec->model != IONFAST_MODEL_IONPY
                   ? ionfast_build_scalar(dec, t)
                   : ionfast_build_special(dec, t);
    }
    if (((unsigned)node->accepts >> t->kind & 1u) == 0) {
        return mismatch(dec, node, t);
    }
    switch (node->op) {
    case IONFAST_PLAN_STR:
    case IONFAST_PLAN_SYMBOL:
        return symbol_text(dec, node, t);
    case IONFAST_PLAN_FLOAT:
        return exact_float(dec, t);
    case IONFAST_PLAN_DECIMAL:
        return decimal_of_int(dec, t);
    case IONFAST_PLAN_BYTES:
        return PyBytes_FromStringAndSize((const char *)t->as.bytes.data,
                                         (Py_ssize_t)t->as.bytes.len);
    case IONFAST_PLAN_DATETIME:
    case IONFAST_PLAN_DATE:
    case IONFAST_PLAN_MOMENT:
        return moment(dec, node, t);
    case IONFAST_PLAN_CHOICE:
        return choice(dec, node, t);
    default:
        return mismatch(dec, node, t);
    }
}

IONF_FORCE_INLINE PyObject *
scalar(ionfast_decoder *dec, const ionfast_plan_node *node, const ionf_token *t)
{
    switch (node->op) {
    case IONFAST_PLAN_STR:
        if (IONF_LIKELY(t->kind == IONF_KIND_STRING)) {
            return ionfast_str_from_utf8(t->as.bytes.data, t->as.bytes.len, t->is_ascii);
        }
        break;
    case IONFAST_PLAN_INT:
        if (IONF_LIKELY(t->kind == IONF_KIND_INT)) {
            return ionfast_small_int(dec, &t->as.integer);
        }
        break;
    case IONFAST_PLAN_FLOAT:
        if (IONF_LIKELY(t->kind == IONF_KIND_FLOAT)) {
            return PyFloat_FromDouble(t->as.f64);
        }
        break;
    case IONFAST_PLAN_BOOL:
        if (IONF_LIKELY(t->kind == IONF_KIND_BOOL)) {
            return Py_NewRef(t->as.boolean ? Py_True : Py_False);
        }
        break;
    case IONFAST_PLAN_DECIMAL:
    case IONFAST_PLAN_TIMESTAMP:
        if (IONF_LIKELY(t->kind == (node->op == IONFAST_PLAN_DECIMAL ? IONF_KIND_DECIMAL
                                                                     : IONF_KIND_TIMESTAMP))) {
            return ionfast_build_rare_scalar(dec, t);
        }
        break;
    default:
        break;
    }
    return other_scalar(dec, node, t);
}

/* ---- which node reads a value ---- */

/* Index of the child that one of the value's annotations stands for, or -1; -2 with an exception. */
static int
annotated_child(ionfast_decoder *dec, const ionfast_plan_node *node, const ionf_token *t)
{
    for (uint32_t i = 0; i < t->annotation_count; i++) {
        PyObject *name = ionfast_symref_str(dec, &t->annotations[i]);
        PyObject *index = name == NULL ? NULL : PyDict_GetItemWithError(node->object, name);
        Py_XDECREF(name);
        if (index != NULL) {
            return (int)PyLong_AsLong(index);
        }
        if (PyErr_Occurred()) {
            return -2;
        }
    }
    return -1;
}

/* Has the value the node's annotation? 0 with an exception if it has not. */
static bool
has_annotation(ionfast_decoder *dec, const ionfast_plan_node *node, const ionf_token *t)
{
    for (uint32_t i = 0; i < t->annotation_count; i++) {
        PyObject *name = ionfast_symref_str(dec, &t->annotations[i]);
        if (name == NULL) {
            return false;
        }
        const int is_same = PyObject_RichCompareBool(name, node->annotation, Py_EQ);
        Py_DECREF(name);
        if (is_same != 0) {
            return is_same > 0;
        }
    }
    if (t->annotation_count == 0 && !node->is_strict) {
        return true;
    }
    mismatch(dec, node, t);
    return false;
}

/* The child of a union or a registry that reads the value; NULL: the node itself, or, with an
 * exception, none. */
static const ionfast_plan_node *
chosen_child(ionfast_decoder *dec, const ionfast_plan_node *node, const ionf_token *t)
{
    if (node->object != NULL && t->annotation_count != 0) {
        const int index = annotated_child(dec, node, t);
        if (index != -1) {
            return index < 0 ? NULL : node->children[index];
        }
    }
    if (node->op == IONFAST_PLAN_UNION) {
        if (node->children[t->kind] == NULL) {
            mismatch(dec, node, t);
        }
        return node->children[t->kind];
    }
    return NULL;
}

/* Find the node that reads the value, and a conversion that then applies. A null that is welcome is in
 * `*value`. NULL with an exception. */
static const ionfast_plan_node *
resolve(ionfast_decoder *dec, const ionfast_plan_node *node, const ionf_token *t,
        const ionfast_plan_node **convert, PyObject **value)
{
    for (;;) {
        /* A null that is welcome need not be annotated, for the writer does not do it. */
        const bool is_bare_null =
            t->is_null && t->annotation_count == 0 && ((unsigned)node->accepts & 1u) != 0;
        if (node->annotation != NULL && !is_bare_null && !has_annotation(dec, node, t)) {
            return NULL;
        }
        if (t->is_null && node->op != IONFAST_PLAN_ANY) {
            if ((node->accepts & 1u) == 0) {
                mismatch(dec, node, t);
                return NULL;
            }
            *value = Py_NewRef(Py_None);
            return node;
        }
        const ionfast_plan_node *next;
        if (node->op == IONFAST_PLAN_CONVERT) {
            if (*convert == NULL) {
                *convert = node;
            }
            next = node->children[0];
        } else if (node->op == IONFAST_PLAN_UNION || node->op == IONFAST_PLAN_ANY) {
            /* What a conversion gets is the value inside: its annotation has been followed. */
            const bool is_final = node->op == IONFAST_PLAN_ANY &&
                                  (node->object == NULL || *convert != NULL || t->is_null);
            next = is_final ? NULL : chosen_child(dec, node, t);
        } else {
            return node;
        }
        if (next == NULL) {
            if (PyErr_Occurred()) {
                return NULL;
            }
            if (t->is_null) {
                *value = ionfast_build_special(dec, t);
                return *value == NULL ? NULL : node;
            }
            return node;
        }
        node = next;
    }
}

/* ---- opening containers ---- */

/* A container of ANY: all of it, built by the untyped loop. */
static PyObject *
any_container(ionfast_decoder *dec, const ionf_token *t)
{
    PyObject *annotations = NULL;
    if (t->annotation_count != 0 && dec->model != IONFAST_MODEL_PLAIN) {
        annotations = ionfast_build_annotations(dec, t);
        if (annotations == NULL) {
            return NULL;
        }
    }
    if (ionfast_push_frame(dec, t->kind, annotations) < 0) {
        return NULL;
    }
    PyObject *value = NULL;
    const ionfast_build_result result = ionfast_build_value(dec, &value);
    if (result == IONFAST_BUILD_NEED_DATA) { /* only whole windows are read typed */
        PyErr_SetString(PyExc_SystemError, "typed reading ran out of data");
    }
    return result == IONFAST_BUILD_VALUE ? value : NULL;
}

/* The same where annotations may stand for registered types, at any depth. */
static int
open_any(ionfast_decoder *dec, const ionfast_plan_node *node, const ionfast_plan_node *convert,
         const ionf_token *t)
{
    PyObject *annotations = NULL;
    /* A conversion gets the plain value. */
    if (t->annotation_count != 0 && convert == NULL && dec->model != IONFAST_MODEL_PLAIN) {
        annotations = ionfast_build_annotations(dec, t);
        if (annotations == NULL) {
            return -1;
        }
    }
    return push_frame(dec, node->children[t->kind == IONF_KIND_STRUCT], convert, t, annotations);
}

/* ---- finished containers ---- */

/* All values from `start`, moved into a new tuple's or list's items. */
static void
move_values(ionfast_typed_stack *stack, size_t start, PyObject **items)
{
    const size_t count = stack->value_count - start;
    if (count != 0) {
        memcpy(items, stack->values + start, count * sizeof *items);
    }
    stack->value_count = start;
}

static PyObject *
close_list(ionfast_typed_stack *stack, size_t start)
{
    PyObject *list = ionfast_list_of(stack->values + start, stack->value_count - start);
    if (IONF_LIKELY(list != NULL)) {
        stack->value_count = start;
    }
    return list;
}

static PyObject *
close_tuple(ionfast_decoder *dec, const ionfast_typed_frame *frame)
{
    ionfast_typed_stack *const stack = dec->typed;
    const size_t count = stack->value_count - frame->start;
    if (frame->node->op == IONFAST_PLAN_TUPLE && count != frame->node->child_count) {
        return ionfast_typed_fail_inside(
            dec, frame->offset, PyUnicode_FromFormat("%u elements", frame->node->child_count),
            PyUnicode_FromFormat("%zu", count));
    }
    PyObject *tuple = PyTuple_New((Py_ssize_t)count);
    if (tuple != NULL) {
        move_values(stack, frame->start, ((PyTupleObject *)tuple)->ob_item);
    }
    return tuple;
}

static PyObject *
close_set(ionfast_decoder *dec, const ionfast_typed_frame *frame)
{
    ionfast_typed_stack *const stack = dec->typed;
    PyObject *set = frame->node->op == IONFAST_PLAN_SET ? PySet_New(NULL) : PyFrozenSet_New(NULL);
    for (size_t i = frame->start; set != NULL && i < stack->value_count; i++) {
        if (PySet_Add(set, stack->values[i]) < 0) {
            ionfast_typed_note(dec, frame->offset);
            Py_CLEAR(set);
        }
    }
    if (set != NULL) {
        while (stack->value_count > frame->start) {
            Py_DECREF(stack->values[--stack->value_count]);
        }
    }
    return set;
}

static PyObject *
close_dict(ionfast_decoder *dec, const ionfast_typed_frame *frame)
{
    ionfast_typed_stack *const stack = dec->typed;
    const size_t count = (stack->value_count - frame->start) / 2;
    PyObject *dict = ionfast_dict_new(count);
    for (size_t i = frame->start; dict != NULL && i < stack->value_count; i += 2) {
        if (PyDict_SetItem(dict, stack->values[i], stack->values[i + 1]) < 0) {
            ionfast_typed_note(dec, frame->offset);
            Py_CLEAR(dict);
        }
    }
    if (dict == NULL) {
        return NULL;
    }
    if ((size_t)PyDict_GET_SIZE(dict) != count && frame->node->op == IONFAST_PLAN_DICT) {
        Py_DECREF(dict);
        return ionfast_typed_fail_inside(dec, frame->offset,
                                         PyUnicode_FromString("different field names"),
                                         PyUnicode_FromString("a repeated one"));
    }
    while (stack->value_count > frame->start) {
        Py_DECREF(stack->values[--stack->value_count]);
    }
    return dict;
}

/* A struct of ANY: an IonPyDict where a field repeats. */
static PyObject *
close_any_struct(ionfast_decoder *dec, const ionfast_typed_frame *frame)
{
    ionfast_typed_stack *const stack = dec->typed;
    const size_t start = frame->start, count = (stack->value_count - start) / 2;
    PyObject *pairs = NULL;
    if (dec->model != IONFAST_MODEL_PLAIN) {
        pairs = PyList_New((Py_ssize_t)count);
        for (size_t i = 0; pairs != NULL && i < count; i++) {
            PyObject *pair =
                PyTuple_Pack(2, stack->values[start + 2 * i], stack->values[start + 2 * i + 1]);
            if (pair == NULL) {
                Py_CLEAR(pairs);
                break;
            }
            PyList_SET_ITEM(pairs, (Py_ssize_t)i, pair);
        }
        if (pairs == NULL) {
            return NULL;
        }
    }
    PyObject *value = close_dict(dec, frame);
    if (value != NULL && pairs != NULL && (size_t)PyDict_GET_SIZE(value) != count) {
        Py_SETREF(value, PyObject_CallMethodOneArg(dec->state->IonPyDict,
                                                   dec->state->str_from_items, pairs));
    }
    Py_XDECREF(pairs);
    return value;
}

/* As untyped reading wraps containers that its model asks for. */
static PyObject *
wrap_any(ionfast_decoder *dec, PyObject *value, ionfast_typed_frame *frame)
{
    const bool is_plain = dec->model == IONFAST_MODEL_PLAIN ||
                          (dec->model == IONFAST_MODEL_LOSSLESS && frame->annotations == NULL &&
                           frame->kind != IONF_KIND_SEXP);
    if (value == NULL || is_plain) {
        return value;
    }
    const ionfast_build_frame wrapped = {0, frame->annotations, frame->kind, false};
    frame->annotations = NULL;
    return ionfast_wrap_container(dec, value, &wrapped);
}

/* ---- records ---- */

static PyObject *
fail_missing(ionfast_decoder *dec, const ionfast_typed_frame *frame,
             const ionfast_plan_field *field)
{
    return ionfast_typed_fail_inside(dec, frame->offset,
                                     PyUnicode_FromFormat("field %R", field->name),
                                     PyUnicode_FromString("none"));
}

/* Defaults for the fields that are not there. -1 with an exception. */
static int
fill_defaults(ionfast_decoder *dec, const ionfast_typed_frame *frame)
{
    const ionfast_plan_record *const record = frame->node->record;
    for (uint32_t i = 0; i < record->count; i++) {
        const ionfast_plan_field *const field = &record->fields[i];
        if (IONF_LIKELY(dec->typed->values[frame->start + i] != NULL)) {
            continue;
        }
        if (field->is_required) {
            fail_missing(dec, frame, field);
            return -1;
        }
        if (field->fallback != NULL) {
            PyObject *value = field->is_factory ? PyObject_CallNoArgs(field->fallback)
                                                : Py_NewRef(field->fallback);
            if (value == NULL) {
                ionfast_typed_note(dec, frame->offset);
                return -1;
            }
            dec->typed->values[frame->start + i] = value;
        }
    }
    return 0;
}

/* Store the value, which is taken over, where `__init__` would. */
IONF_FORCE_INLINE int
set_field(PyObject *object, const ionfast_plan_field *field, PyObject *value)
{
    if (field->offset != 0) {
        *(PyObject **)((char *)object + field->offset) = value;
        return 0;
    }
    const int result = PyObject_GenericSetAttr(object, field->attribute, value);
    Py_DECREF(value);
    return result;
}

/* An object without attributes. With a `__dict__` it must come from object.__new__, which makes room for
 * the values in the object (3.11 and 3.12): tp_alloc alone leaves them to a dict of each object's own,
 * which takes twice the time to fill (benchmarks/typed.py). */
static PyObject *
new_object(const ionfast_state *state, PyTypeObject *cls)
{
    return cls->tp_dictoffset == 0 ? cls->tp_alloc(cls, 0)
                                   : PyBaseObject_Type.tp_new(cls, state->empty_tuple, NULL);
}

static PyObject *
make_direct(ionfast_decoder *dec, const ionfast_typed_frame *frame)
{
    const ionfast_plan_record *const record = frame->node->record;
    PyTypeObject *const cls = (PyTypeObject *)frame->node->object;
    PyObject *object = new_object(dec->state, cls);
    if (object == NULL) {
        return NULL;
    }
    PyObject **const values = dec->typed->values + frame->start;
    for (uint32_t i = 0; i < record->count; i++) {
        PyObject *const value = values[i];
        if (IONF_LIKELY(value != NULL)) {
            values[i] = NULL;
            if (IONF_UNLIKELY(set_field(object, &record->fields[i], value) < 0)) {
                Py_DECREF(object);
                return NULL;
            }
        }
    }
    if (record->has_post_init) {
        PyObject *result = PyObject_CallMethodNoArgs(object, dec->state->str_post_init);
        if (result == NULL) {
            ionfast_typed_note(dec, frame->offset);
            Py_DECREF(object);
            return NULL;
        }
        Py_DECREF(result);
    }
    return object;
}

/* Names of the fields that are there, as call keywords; their values move together. */
static PyObject *
call_names(ionfast_decoder *dec, const ionfast_typed_frame *frame)
{
    const ionfast_plan_record *const record = frame->node->record;
    ionfast_typed_stack *const stack = dec->typed;
    const uint32_t attribute_count = record->count - record->has_tag;
    uint32_t count = 0;
    for (uint32_t i = 0; i < attribute_count; i++) {
        count += stack->values[frame->start + i] != NULL;
    }
    if (count == attribute_count) {
        return Py_NewRef(record->attributes);
    }
    PyObject *names = PyTuple_New((Py_ssize_t)count);
    for (uint32_t i = 0, next = 0; names != NULL && i < attribute_count; i++) {
        PyObject *const value = stack->values[frame->start + i];
        if (value != NULL) {
            PyTuple_SET_ITEM(names, (Py_ssize_t)next, Py_NewRef(record->fields[i].attribute));
            stack->values[frame->start + i] = NULL;
            stack->values[frame->start + next++] = value;
        }
    }
    return names;
}

static PyObject *
make_by_call(ionfast_decoder *dec, const ionfast_typed_frame *frame)
{
    PyObject *names = call_names(dec, frame);
    if (names == NULL) {
        return NULL;
    }
    PyObject *object =
        PyObject_Vectorcall(frame->node->object, dec->typed->values + frame->start, 0, names);
    Py_DECREF(names);
    if (object == NULL) {
        ionfast_typed_note(dec, frame->offset);
    }
    return object;
}

static PyObject *
make_named_tuple(ionfast_decoder *dec, const ionfast_typed_frame *frame)
{
    const ionfast_plan_record *const record = frame->node->record;
    PyTypeObject *const cls = (PyTypeObject *)frame->node->object;
    PyObject *tuple = cls->tp_alloc(cls, (Py_ssize_t)record->count);
    if (tuple != NULL) {
        PyObject **const values = dec->typed->values + frame->start;
        memcpy(((PyTupleObject *)tuple)->ob_item, values, record->count * sizeof *values);
        memset(values, 0, record->count * sizeof *values);
    }
    return tuple;
}

static PyObject *
make_dict(ionfast_decoder *dec, const ionfast_typed_frame *frame)
{
    const ionfast_plan_record *const record = frame->node->record;
    PyObject *dict = PyDict_New();
    for (uint32_t i = 0; dict != NULL && i < record->count; i++) {
        PyObject *const value = dec->typed->values[frame->start + i];
        if (value != NULL && PyDict_SetItem(dict, record->fields[i].attribute, value) < 0) {
            Py_CLEAR(dict);
        }
    }
    return dict;
}

static PyObject *
close_record(ionfast_decoder *dec, const ionfast_typed_frame *frame)
{
    const ionfast_plan_record *const record = frame->node->record;
    if (IONF_UNLIKELY(fill_defaults(dec, frame) < 0)) {
        return NULL;
    }
    if (record->has_tag) { /* it has been checked, and is no attribute */
        Py_CLEAR(dec->typed->values[frame->start + record->count - 1]);
    }
    PyObject *object;
    switch (record->form) {
    case IONFAST_RECORD_DIRECT:
        object = make_direct(dec, frame);
        break;
    case IONFAST_RECORD_CALL:
        object = make_by_call(dec, frame);
        break;
    case IONFAST_RECORD_TUPLE:
        object = make_named_tuple(dec, frame);
        break;
    default:
        object = make_dict(dec, frame);
        break;
    }
    ionfast_typed_stack *const stack = dec->typed;
    if (IONF_LIKELY(object != NULL)) {
        if (record->form == IONFAST_RECORD_DIRECT || record->form == IONFAST_RECORD_TUPLE) {
            stack->value_count = frame->start; /* all of them have moved into the object */
        }
        while (stack->value_count > frame->start) {
            Py_XDECREF(stack->values[--stack->value_count]);
        }
    }
    return object;
}

/* Call the conversion; steals `value`, which may be NULL with an exception. */
static PyObject *
convert_value(ionfast_decoder *dec, const ionfast_plan_node *convert, PyObject *value,
              uint64_t offset)
{
    if (value == NULL) {
        return NULL;
    }
    PyObject *result = PyObject_CallOneArg(convert->object, value);
    if (result == NULL) {
        ionfast_typed_convert_failed(dec, convert, value, offset);
    }
    Py_DECREF(value);
    return result;
}

/* The innermost container has ended: its value. On failure the frame and its values stay, to be dropped
 * with the rest. */
static PyObject *
close_frame(ionfast_decoder *dec)
{
    ionfast_typed_stack *const stack = dec->typed;
    /* Foreign code below uses other decoders, so that the stacks stay where they are. */
    ionfast_typed_frame *const frame = &stack->frames[stack->frame_count - 1];
    frame->slot = UINT32_MAX;
    PyObject *value;
    switch (frame->node->op) {
    case IONFAST_PLAN_RECORD:
        value = close_record(dec, frame);
        break;
    case IONFAST_PLAN_LIST:
        value = close_list(stack, frame->start);
        break;
    case IONFAST_PLAN_ANY_LIST:
        value = wrap_any(dec, close_list(stack, frame->start), frame);
        break;
    case IONFAST_PLAN_ANY_STRUCT:
        value = wrap_any(dec, close_any_struct(dec, frame), frame);
        break;
    case IONFAST_PLAN_DICT:
        value = close_dict(dec, frame);
        break;
    case IONFAST_PLAN_TUPLE:
    case IONFAST_PLAN_TUPLE_OF:
        value = close_tuple(dec, frame);
        break;
    default:
        value = close_set(dec, frame);
        break;
    }
    if (IONF_UNLIKELY(frame->convert != NULL)) {
        value = convert_value(dec, frame->convert, value, frame->offset);
    }
    if (IONF_LIKELY(value != NULL)) {
        Py_XDECREF(frame->annotations);
        stack->frame_count--;
    }
    return value;
}

/* ---- fields ---- */

/* Pass over a value that nobody asked for, without building it. */
static int
skip_value(ionfast_decoder *dec, bool is_binary, const ionf_token *t)
{
    if (!ionf_kind_is_container(t->kind) || t->is_null) {
        return 0;
    }
    const ionf_status status = is_binary ? ionf_bin_skip(&dec->bin) : ionf_txt_skip(&dec->txt);
    if (status != IONF_OK) {
        ionfast_build_stop(dec, status);
        return -1;
    }
    return 0;
}

/* Name of a field as str, or what stands for unknown text. */
static PyObject *
field_name(ionfast_decoder *dec, const ionf_token *t)
{
    return ionfast_symref_str(dec, &t->field);
}

static IONF_NOINLINE int
refuse_unknown(ionfast_decoder *dec, const ionf_token *t)
{
    PyObject *name = field_name(dec, t);
    PyObject *found = name == NULL ? NULL : PyUnicode_FromFormat("%R", name);
    Py_XDECREF(name);
    ionfast_typed_fail_inside(dec, t->offset, PyUnicode_FromString("no other field"), found);
    return -1;
}

static IONF_NOINLINE int
refuse_repeat(ionfast_decoder *dec, const ionf_token *t)
{
    ionfast_typed_fail(dec, t->offset, PyUnicode_FromString("one such field"),
                       PyUnicode_FromString("a second"));
    return -1;
}

/* Slot of a SID: IONFAST_SID_FOREIGN or more, -1 with an exception. */
IONF_FORCE_INLINE int
row_of_sid(ionfast_decoder *dec, bool is_binary, ionfast_plan_record *record, uint64_t sid)
{
    const ionf_symtab *const tab = is_binary ? &dec->bin.base.symtab : &dec->txt.base.symtab;
    if (!IONFAST_HAS_GIL && !dec->typed->can_learn) {
        return ionfast_plan_look_up(record, dec, sid);
    }
    if (IONF_LIKELY(record->generation == tab->generation &&
                    record->table == ionfast_decoder_table(dec) && sid < record->sid_cap)) {
        const int row = record->sid_slots[sid];
        if (IONF_LIKELY(row != IONFAST_SID_UNLEARNED)) {
            return row;
        }
    }
    return ionfast_plan_learn(record, dec, sid);
}

IONF_FORCE_INLINE int
row_of_text(const ionfast_plan_record *record, uint32_t previous, const ionf_symref *name)
{
    /* Most writers keep to one order. */
    const uint32_t next = previous + 1;
    if (next < record->count && record->names.lens[next] == name->len &&
        memcmp(record->names.texts[next], name->text, name->len) == 0) {
        return (int)next + IONFAST_SID_SLOT;
    }
    const int slot = ionfast_name_find(&record->names, name->text, name->len);
    return slot < 0 ? IONFAST_SID_FOREIGN : slot + IONFAST_SID_SLOT;
}

/* The node of the field in hand: 1, or 0 when the value has been passed over; -1 with an exception. */
IONF_FORCE_INLINE int
enter_field(ionfast_decoder *dec, bool is_binary, ionfast_typed_frame *frame, const ionf_token *t,
            const ionfast_plan_node **node)
{
    ionfast_plan_record *const record = frame->node->record;
    const int row = is_binary || t->field.text == NULL
                        ? row_of_sid(dec, is_binary, record, t->field.sid)
                        : row_of_text(record, frame->slot, &t->field);
    if (IONF_UNLIKELY(row < IONFAST_SID_SLOT)) {
        if (row < 0 || dec->typed->forbid_unknown || record->is_closed) {
            return row < 0 ? -1 : refuse_unknown(dec, t);
        }
        return skip_value(dec, is_binary, t);
    }
    const uint32_t slot = (uint32_t)(row - IONFAST_SID_SLOT);
    frame->slot = slot;
    if (IONF_UNLIKELY(dec->typed->values[frame->start + slot] != NULL)) {
        return refuse_repeat(dec, t);
    }
    if (IONF_UNLIKELY(record->fields[slot].is_ignored)) {
        return skip_value(dec, is_binary, t);
    }
    *node = record->fields[slot].node;
    return 1;
}

/* Push the key of a dict's entry. */
static int
enter_entry(ionfast_decoder *dec, const ionfast_plan_node *dict, const ionf_token *t)
{
    PyObject *key = field_name(dec, t);
    const ionfast_plan_node *const convert = dict->child_count > 1 ? dict->children[1] : NULL;
    if (key != NULL && dict->op == IONFAST_PLAN_DICT && !PyUnicode_Check(key)) {
        Py_DECREF(key);
        ionfast_typed_fail_inside(dec, t->offset, PyUnicode_FromString("field names with text"),
                                  PyUnicode_FromString("one without"));
        return -1;
    }
    if (key != NULL && convert != NULL) {
        ionf_token name = *t;
        name.kind = IONF_KIND_SYMBOL;
        name.as.symbol = t->field;
        Py_DECREF(key);
        key = other_scalar(dec, convert, &name);
    }
    if (key == NULL) {
        return -1;
    }
    dec->typed->values[dec->typed->value_count++] = key;
    return 0;
}

/* The node of a container's next child; as enter_field. */
IONF_FORCE_INLINE int
enter_child(ionfast_decoder *dec, bool is_binary, ionfast_typed_frame *frame, const ionf_token *t,
            const ionfast_plan_node **node)
{
    const ionfast_plan_node *const parent = frame->node;
    if (IONF_LIKELY(parent->op == IONFAST_PLAN_RECORD)) {
        return enter_field(dec, is_binary, frame, t, node);
    }
    if (IONF_UNLIKELY(need_values(dec, 2) < 0)) {
        return -1;
    }
    if (parent->op == IONFAST_PLAN_TUPLE) {
        const size_t index = dec->typed->value_count - frame->start;
        if (index >= parent->child_count) {
            ionfast_typed_fail_inside(dec, t->offset,
                                      PyUnicode_FromFormat("%u elements", parent->child_count),
                                      PyUnicode_FromString("more"));
            return -1;
        }
        *node = parent->children[index];
        return 1;
    }
    *node = parent->children[0];
    const bool has_keys = parent->op == IONFAST_PLAN_DICT || parent->op == IONFAST_PLAN_ANY_STRUCT;
    return has_keys && enter_entry(dec, parent, t) < 0 ? -1 : 1;
}

/* ---- the loop ---- */

/* What a value of the plan's node came to. */
typedef enum typed_step {
    STEP_NEED_DATA = -2, /* a container has been opened, but its class is not known yet */
    STEP_ERROR = -1,
    STEP_OPENED = 0, /* a container, whose frame is on the stack */
    STEP_VALUE = 1
} typed_step;

/* The container of a TAGGED node is innermost: find out its class. */
static typed_step
enter_tagged(ionfast_decoder *dec)
{
    const int chosen = ionfast_typed_choose(dec);
    if (chosen <= 0) {
        return chosen < 0 ? STEP_ERROR : STEP_NEED_DATA;
    }
    ionfast_typed_stack *const stack = dec->typed;
    const ionfast_plan_record *const record = stack->frames[stack->frame_count - 1].node->record;
    if (need_values(dec, record->count) < 0) {
        return STEP_ERROR;
    }
    open_slots(stack, record);
    return STEP_OPENED;
}

/* A value that is null, annotated by plan, of a union, converted or ANY. */
static IONF_NOINLINE typed_step
take_odd(ionfast_decoder *dec, const ionfast_plan_node *node, const ionf_token *t,
         PyObject **value)
{
    const ionfast_plan_node *convert = NULL;
    *value = NULL;
    node = resolve(dec, node, t, &convert, value);
    if (node == NULL) {
        return STEP_ERROR;
    }
    if (*value != NULL) {
        return STEP_VALUE;
    }
    if (!ionf_kind_is_container(t->kind)) {
        if (convert != NULL && node->op == IONFAST_PLAN_ANY) {
            *value = ionfast_build_scalar(dec, t); /* a conversion gets the plain value */
        } else {
            *value = scalar(dec, node, t);
        }
    } else if (node->op == IONFAST_PLAN_ANY) {
        if (node->object != NULL) {
            return open_any(dec, node, convert, t) < 0 ? STEP_ERROR : STEP_OPENED;
        }
        *value = any_container(dec, t);
    } else if (((unsigned)node->accepts >> t->kind & 1u) == 0) {
        mismatch(dec, node, t);
        return STEP_ERROR;
    } else if (push_frame(dec, node, convert, t, NULL) < 0) {
        return STEP_ERROR;
    } else {
        return node->op == IONFAST_PLAN_TAGGED ? enter_tagged(dec) : STEP_OPENED;
    }
    if (convert != NULL) {
        *value = convert_value(dec, convert, *value, t->offset);
    }
    return *value == NULL ? STEP_ERROR : STEP_VALUE;
}

IONF_FORCE_INLINE typed_step
take_value(ionfast_decoder *dec, const ionfast_plan_node *node, const ionf_token *t,
           PyObject **value)
{
    if (IONF_UNLIKELY(t->is_null || !node->is_plain)) {
        return take_odd(dec, node, t, value);
    }
    if (!ionf_kind_is_container(t->kind)) {
        *value = scalar(dec, node, t);
        return IONF_LIKELY(*value != NULL) ? STEP_VALUE : STEP_ERROR;
    }
    if (IONF_UNLIKELY(((unsigned)node->accepts >> t->kind & 1u) == 0 ||
                      node->op == IONFAST_PLAN_ANY)) {
        return take_odd(dec, node, t, value);
    }
    return IONF_LIKELY(push_frame(dec, node, NULL, t, NULL) == 0) ? STEP_OPENED : STEP_ERROR;
}

/* A finished value goes where its container wants it; there is room. */
IONF_FORCE_INLINE void
store_value(ionfast_typed_stack *stack, PyObject *value)
{
    const ionfast_typed_frame *const frame = &stack->frames[stack->frame_count - 1];
    if (frame->node->op == IONFAST_PLAN_RECORD) {
        stack->values[frame->start + frame->slot] = value;
    } else {
        stack->values[stack->value_count++] = value;
    }
}

/* The inner loop: past 15 lines because it is one. `is_binary` is a constant where this is inlined. */
IONF_FORCE_INLINE ionfast_build_result
typed_loop(ionfast_decoder *dec, bool is_binary, const ionfast_plan_node *root, PyObject **out)
{
    ionfast_typed_stack *const stack = dec->typed;
    if (stack->frame_count != 0 &&
        stack->frames[stack->frame_count - 1].node->op == IONFAST_PLAN_TAGGED) {
        const typed_step step = enter_tagged(dec); /* there is more data than last time */
        if (step != STEP_OPENED) {
            return step == STEP_ERROR ? IONFAST_BUILD_ERROR : IONFAST_BUILD_NEED_DATA;
        }
    }
    ionf_token t;
    for (;;) {
        const ionf_status status = ionfast_next(dec, is_binary, &t);
        if (IONF_UNLIKELY(status != IONF_OK)) {
            return ionfast_build_stop(dec, status);
        }
        if (IONF_UNLIKELY(ionfast_check_signals(dec) < 0)) {
            return IONFAST_BUILD_ERROR;
        }
        PyObject *value;
        if (IONF_UNLIKELY(t.kind >= IONF_KIND_END)) {
            if (t.kind == IONF_KIND_EOF) {
                return IONFAST_BUILD_EOF;
            }
            value = close_frame(dec);
            if (IONF_UNLIKELY(value == NULL)) {
                return IONFAST_BUILD_ERROR;
            }
        } else {
            const ionfast_plan_node *node = root;
            if (IONF_LIKELY(stack->frame_count != 0)) {
                ionfast_typed_frame *const frame = &stack->frames[stack->frame_count - 1];
                const int entered = enter_child(dec, is_binary, frame, &t, &node);
                if (IONF_UNLIKELY(entered <= 0)) {
                    if (entered < 0) {
                        return IONFAST_BUILD_ERROR;
                    }
                    continue;
                }
            }
            const typed_step step = take_value(dec, node, &t, &value);
            if (step != STEP_VALUE) {
                if (IONF_UNLIKELY(step != STEP_OPENED)) {
                    return step == STEP_ERROR ? IONFAST_BUILD_ERROR : IONFAST_BUILD_NEED_DATA;
                }
                continue;
            }
        }
        if (stack->frame_count == 0) {
            *out = value;
            return IONFAST_BUILD_VALUE;
        }
        store_value(stack, value);
    }
}

static ionfast_build_result
typed_text(ionfast_decoder *dec, const ionfast_plan_node *root, PyObject **out)
{
    return typed_loop(dec, false, root, out);
}

static ionfast_build_result
typed_binary(ionfast_decoder *dec, const ionfast_plan_node *root, PyObject **out)
{
    return typed_loop(dec, true, root, out);
}

/* Run the loop, with what the plan has learned if nobody else is using it. */
static ionfast_build_result
typed_run(ionfast_decoder *dec, ionfast_plan *plan, PyObject **out)
{
    const bool is_ours = ionfast_turn_take(&plan->turn);
    dec->typed->can_learn = is_ours;
    const ionfast_build_result result =
        dec->is_binary ? typed_binary(dec, plan->nodes, out) : typed_text(dec, plan->nodes, out);
    if (is_ours) {
        ionfast_turn_give(&plan->turn);
    }
    return result;
}

ionfast_build_result
ionfast_typed_value(ionfast_decoder *dec, ionfast_plan *plan, bool forbid_unknown, PyObject **out)
{
    if (dec->typed == NULL && stack_make(dec) == NULL) {
        return IONFAST_BUILD_ERROR;
    }
    dec->typed->forbid_unknown = forbid_unknown;
    return typed_run(dec, plan, out);
}

ionfast_build_result
ionfast_typed_continue(ionfast_decoder *dec, PyObject **out)
{
    return typed_run(dec, (ionfast_plan *)dec->plan, out);
}

int
ionfast_typed_begin(ionfast_decoder *dec, const ionf_token *t, PyObject **out)
{
    if (dec->typed == NULL && stack_make(dec) == NULL) {
        return -1;
    }
    dec->typed->forbid_unknown = false;
    dec->typed->can_learn = IONFAST_HAS_GIL; /* one token is not worth a turn */
    const typed_step step = take_value(dec, ((ionfast_plan *)dec->plan)->nodes, t, out);
    return step == STEP_NEED_DATA ? STEP_OPENED : (int)step;
}
