/* Structs that name their class in a field of their own, wherever among the fields it stands.
 *
 * The reader runs ahead until it has seen that field and is then put back to where the struct opened:
 * most writers put the field first, and passing over others costs little. Inside a value the symbol
 * table does not change, so that the reader's place is all there is to put back.
 */
#include "py_typed.h"

#include "py_typed_error.h"

/* ---- the reader's place ---- */

/* A reader as it was; its arrays may have grown since. */
typedef union typed_mark {
    ionf_bin_reader bin;
    ionf_txt_reader txt;
} typed_mark;

static void
mark_take(const ionfast_decoder *dec, typed_mark *mark)
{
    if (dec->is_binary) {
        mark->bin = dec->bin;
    } else {
        mark->txt = dec->txt;
    }
}

static void
go_back_binary(ionf_bin_reader *r, const ionf_bin_reader *mark)
{
    const ionf_bin_reader now = *r;
    *r = *mark;
    r->frames = now.frames;
    r->frame_cap = now.frame_cap;
    r->annotations = now.annotations;
    r->annotation_cap = now.annotation_cap;
    r->scratch = now.scratch;
}

static void
go_back_text(ionf_txt_reader *r, const ionf_txt_reader *mark)
{
    const ionf_txt_reader now = *r;
    *r = *mark;
    r->frames = now.frames;
    r->frame_cap = now.frame_cap;
    r->annotations = now.annotations;
    r->annotation_cap = now.annotation_cap;
}

static void
go_back(ionfast_decoder *dec, const typed_mark *mark)
{
    if (dec->is_binary) {
        go_back_binary(&dec->bin, &mark->bin);
    } else {
        go_back_text(&dec->txt, &mark->txt);
    }
}

/* ---- the tag ---- */

/* NULL data for unknown text. */
static ionf_slice
symbol_text(const ionfast_decoder *dec, const ionf_symref *ref)
{
    if (ref->text != NULL) {
        return (ionf_slice){ref->text, ref->len};
    }
    const ionf_symtab *const tab = dec->is_binary ? &dec->bin.base.symtab : &dec->txt.base.symtab;
    ionf_symbol symbol;
    if (ionf_symtab_find(tab, ref->sid, &symbol) != IONF_OK || symbol.text == NULL) {
        return (ionf_slice){NULL, 0};
    }
    return (ionf_slice){symbol.text, symbol.len};
}

static bool
is_tag_field(const ionfast_decoder *dec, PyObject *name, const ionf_token *t)
{
    Py_ssize_t len;
    const char *const wanted = PyUnicode_AsUTF8AndSize(name, &len); /* cached: cannot fail */
    const ionf_slice text = symbol_text(dec, &t->field);
    return wanted != NULL && text.data != NULL && text.len == (size_t)len &&
           memcmp(text.data, wanted, text.len) == 0;
}

/* The child that the tag stands for, or NULL; an exception may be set. */
static const ionfast_plan_node *
tagged_child(ionfast_decoder *dec, const ionfast_plan_node *node, const ionf_token *t)
{
    if (t->is_null) {
        return NULL;
    }
    if (t->kind == IONF_KIND_STRING || t->kind == IONF_KIND_SYMBOL) {
        const ionf_slice text = t->kind == IONF_KIND_SYMBOL
                                    ? symbol_text(dec, &t->as.symbol)
                                    : (ionf_slice){t->as.bytes.data, t->as.bytes.len};
        const uint8_t *const data =
            text.data == NULL && t->kind == IONF_KIND_STRING ? (const uint8_t *)"" : text.data;
        const int index = data == NULL ? -1 : ionfast_name_find(&node->names, data, text.len);
        return index < 0 ? NULL : node->children[index];
    }
    if (t->kind != IONF_KIND_INT || node->object == NULL) {
        return NULL;
    }
    PyObject *number = ionfast_small_int(dec, &t->as.integer);
    PyObject *index = number == NULL ? NULL : PyDict_GetItemWithError(node->object, number);
    Py_XDECREF(number);
    return index == NULL ? NULL : node->children[PyLong_AsLong(index)];
}

/* What stands in the place of a tag, as text. */
static PyObject *
found_value(ionfast_decoder *dec, const ionf_token *t)
{
    if (t->is_null || ionf_kind_is_container(t->kind)) {
        return ionfast_typed_found(dec, t);
    }
    const bool is_symbol = t->kind == IONF_KIND_SYMBOL;
    PyObject *value =
        is_symbol ? ionfast_symref_str(dec, &t->as.symbol) : ionfast_build_scalar(dec, t);
    PyObject *text = value == NULL ? NULL
                     : is_symbol && !PyUnicode_Check(value)
                         ? PyUnicode_FromString("symbol without text")
                         : PyObject_Repr(value);
    Py_XDECREF(value);
    return text;
}

static int
refuse_tag(ionfast_decoder *dec, const ionfast_plan_node *node, const ionf_token *t)
{
    PyObject *found = found_value(dec, t);
    dec->typed->frames[dec->typed->frame_count - 1].slot = 0; /* the path ends in the tag's name */
    ionfast_typed_fail(dec, t->offset, Py_NewRef(PyTuple_GET_ITEM(node->results, 2)), found);
    return -1;
}

/* ---- running ahead ---- */

/* The record of the struct that has been opened, in `*child`: 1, 0 or -1 as ionfast_typed_choose. */
static int
look_for_tag(ionfast_decoder *dec, const ionfast_plan_node *node, uint64_t offset,
             const ionfast_plan_node **child)
{
    PyObject *const name = PyTuple_GET_ITEM(node->results, 1);
    for (;;) {
        ionf_token t;
        ionf_status status = ionfast_next(dec, dec->is_binary, &t);
        if (status == IONF_OK && t.kind == IONF_KIND_END) {
            ionfast_typed_fail_inside(dec, offset, PyUnicode_FromFormat("field %R", name),
                                      PyUnicode_FromString("none"));
            return -1;
        }
        if (status == IONF_OK && is_tag_field(dec, name, &t)) {
            *child = tagged_child(dec, node, &t);
            if (*child == NULL && !PyErr_Occurred()) {
                return refuse_tag(dec, node, &t);
            }
            return *child == NULL ? -1 : 1;
        }
        if (status == IONF_OK && ionf_kind_is_container(t.kind) && !t.is_null) {
            status = dec->is_binary ? ionf_bin_skip(&dec->bin) : ionf_txt_skip(&dec->txt);
        }
        if (status == IONF_NEED_DATA) {
            return 0;
        }
        if (status != IONF_OK) {
            ionfast_build_stop(dec, status);
            return -1;
        }
    }
}

int
ionfast_typed_choose(ionfast_decoder *dec)
{
    ionfast_typed_stack *const stack = dec->typed;
    ionfast_typed_frame *const frame = &stack->frames[stack->frame_count - 1];
    const ionfast_plan_node *child = NULL;
    typed_mark mark;
    mark_take(dec, &mark);
    const int result = look_for_tag(dec, frame->node, frame->offset, &child);
    if (result >= 0) {
        go_back(dec, &mark);
    }
    if (result > 0) {
        frame->node = child;
    }
    return result;
}
