/* Compiled plans: made from the description that ionfast/_typed.py gives, kept in a cache, and taught
 * symbol IDs.
 *
 * A description is a list of nodes, the root first, each a tuple:
 *   (op, accepts, expected, annotation or None, is_strict, object, children, extra)
 * children: indexes of nodes, -1 for none. extra: CHOICE: its texts and their results; TAGGED: the tags
 * that are text, the field's name and a text with all tags (object: index by tag that is an int); CONVERT: whether it is a
 * user's function; RECORD: form, has_post_init, has_tag, is_closed and its fields, each (name, attribute,
 * is_required, fallback, fallback kind, is_ignored).
 */
#include "py_plan.h"

#include <structmember.h>

#include "py_codec.h"
#include "py_decoder.h"
#include "py_typed.h"

/* ---- name tables ---- */

static void
names_destroy(const ionf_alloc *alloc, ionfast_name_table *names)
{
    ionf_alloc_free(alloc, names->texts, names->count * sizeof *names->texts);
    ionf_alloc_free(alloc, names->lens, names->count * sizeof *names->lens);
    ionf_alloc_free(alloc, names->slots, ((size_t)names->mask + 1) * sizeof *names->slots);
    memset(names, 0, sizeof *names);
}

/* An array of `count` zeroed items; NULL with MemoryError. */
static void *
new_array(const ionf_alloc *alloc, size_t count, size_t size)
{
    const size_t len = (count == 0 ? 1 : count) * size;
    void *array = ionf_alloc_new(alloc, len);
    if (array == NULL) {
        return PyErr_NoMemory();
    }
    return memset(array, 0, len);
}

static bool
names_place(ionfast_name_table *names)
{
    memset(names->slots, 0, ((size_t)names->mask + 1) * sizeof *names->slots);
    for (uint32_t i = 0; i < names->count; i++) {
        const uint64_t hash =
            ionfast_name_hash((const uint8_t *)names->texts[i], names->lens[i], names->seed);
        uint16_t *const slot = &names->slots[hash & names->mask];
        if (*slot != 0) {
            return false;
        }
        *slot = (uint16_t)(i + 1);
    }
    return true;
}

/* Seeds that are tried before the table is made larger: a few make up for most collisions, and names
 * by the thousand need room more than luck. */
#define SEEDS_TRIED 256
#define NAME_SLOTS_MAX ((size_t)1 << 26)

/* Find the smallest table, of at least twice as many slots as names, in which no two meet. */
static int
names_settle(const ionf_alloc *alloc, ionfast_name_table *names)
{
    size_t size = 2;
    while (size < 2 * (size_t)names->count) {
        size *= 2;
    }
    for (; size <= NAME_SLOTS_MAX; size *= 2) {
        names->slots = new_array(alloc, size, sizeof *names->slots);
        if (names->slots == NULL) {
            return -1;
        }
        names->mask = (uint32_t)(size - 1);
        for (names->seed = 1; names->seed <= SEEDS_TRIED; names->seed++) {
            if (names_place(names)) {
                return 0;
            }
        }
        ionf_alloc_free(alloc, names->slots, size * sizeof *names->slots);
        names->slots = NULL;
        names->mask = 0;
    }
    PyErr_SetString(PyExc_ValueError, "too many names");
    return -1;
}

/* From a tuple of distinct strs, which must live as long as the table. */
static int
names_build(const ionf_alloc *alloc, ionfast_name_table *names, PyObject *strs)
{
    const Py_ssize_t count = PyTuple_GET_SIZE(strs);
    if (count > IONFAST_NAMES_MAX) {
        PyErr_SetString(PyExc_ValueError, "too many names");
        return -1;
    }
    names->texts = new_array(alloc, (size_t)count, sizeof *names->texts);
    names->lens =
        names->texts == NULL ? NULL : new_array(alloc, (size_t)count, sizeof *names->lens);
    if (names->lens == NULL) {
        if (names->texts != NULL) {
            ionf_alloc_free(alloc, names->texts,
                            (size_t)(count == 0 ? 1 : count) * sizeof *names->texts);
            names->texts = NULL;
        }
        return -1;
    }
    names->count = (uint32_t)(count == 0 ? 1 : count); /* as allocated, until they are placed */
    for (Py_ssize_t i = 0; i < count; i++) {
        Py_ssize_t len;
        const char *text = PyUnicode_AsUTF8AndSize(PyTuple_GET_ITEM(strs, i), &len);
        if (text == NULL) {
            return -1;
        }
        names->texts[i] = text;
        names->lens[i] = (size_t)len;
    }
    if (count == 0) {
        names->texts[0] = "";
        names->lens[0] = SIZE_MAX; /* no text is that long */
        names->slots = new_array(alloc, 1, sizeof *names->slots);
        return names->slots == NULL ? -1 : 0;
    }
    return names_settle(alloc, names);
}

/* ---- records ---- */

/* Where objects of `cls` keep the attribute, when that is a slot which may simply be stored to. */
static Py_ssize_t
slot_offset(PyTypeObject *cls, PyObject *attribute)
{
    PyObject *descriptor = PyObject_GetAttr((PyObject *)cls, attribute);
    if (descriptor == NULL) {
        PyErr_Clear();
        return 0;
    }
    Py_ssize_t offset = 0;
    if (Py_IS_TYPE(descriptor, &PyMemberDescr_Type)) {
        const PyMemberDescrObject *const slot = (PyMemberDescrObject *)descriptor;
        if (slot->d_member->type == T_OBJECT_EX && slot->d_member->flags == 0 &&
            PyType_IsSubtype(cls, PyDescr_TYPE(slot))) {
            offset = slot->d_member->offset;
        }
    }
    Py_DECREF(descriptor);
    return offset;
}

static void
record_destroy(const ionf_alloc *alloc, ionfast_plan_record *record)
{
    for (uint32_t i = 0; record->fields != NULL && i < record->count; i++) {
        Py_XDECREF(record->fields[i].name);
        Py_XDECREF(record->fields[i].attribute);
        Py_XDECREF(record->fields[i].fallback);
    }
    const size_t cap = record->count == 0 ? 1 : record->count;
    if (record->fields != NULL) {
        ionf_alloc_free(alloc, record->fields, cap * sizeof *record->fields);
    }
    Py_XDECREF(record->attributes);
    if (record->names.texts != NULL) {
        names_destroy(alloc, &record->names);
    }
    ionf_alloc_free(alloc, record->sid_slots, record->sid_cap * sizeof *record->sid_slots);
    ionf_alloc_free(alloc, record->far,
                    record->far == NULL ? 0 : IONFAST_FAR_SLOTS * sizeof *record->far);
    ionf_alloc_free(alloc, record, sizeof *record);
}

static int
field_build(ionfast_plan *plan, const ionfast_plan_node *node, ionfast_plan_field *field,
            PyObject *description, uint32_t child)
{
    PyObject *name, *attribute, *fallback;
    int is_required, fallback_kind, is_ignored;
    if (!PyArg_ParseTuple(description, "UUpOip", &name, &attribute, &is_required, &fallback,
                          &fallback_kind, &is_ignored)) {
        return -1;
    }
    field->node = node->children[child];
    field->name = Py_NewRef(name);
    field->attribute = Py_NewRef(attribute);
    field->fallback = fallback_kind == 0 ? NULL : Py_NewRef(fallback);
    field->is_factory = fallback_kind == 2;
    field->is_required = is_required;
    field->is_ignored = is_ignored;
    if (node->record->form == IONFAST_RECORD_DIRECT) {
        field->offset = slot_offset((PyTypeObject *)node->object, attribute);
    }
    (void)plan;
    return 0;
}

/* The names and attributes of all fields, as tuples; the names' table. */
static int
record_name(const ionf_alloc *alloc, ionfast_plan_record *record)
{
    PyObject *names = PyTuple_New((Py_ssize_t)record->count);
    const uint32_t attribute_count = record->count - record->has_tag;
    record->attributes = names == NULL ? NULL : PyTuple_New((Py_ssize_t)attribute_count);
    if (record->attributes == NULL) {
        Py_XDECREF(names);
        return -1;
    }
    for (uint32_t i = 0; i < record->count; i++) {
        PyTuple_SET_ITEM(names, (Py_ssize_t)i, Py_NewRef(record->fields[i].name));
        if (i < attribute_count) {
            PyTuple_SET_ITEM(record->attributes, (Py_ssize_t)i,
                             Py_NewRef(record->fields[i].attribute));
        }
    }
    const int result = names_build(alloc, &record->names, names);
    Py_DECREF(names); /* the fields hold the strs */
    return result;
}

static int
record_build(ionfast_plan *plan, ionfast_plan_node *node, PyObject *extra)
{
    const ionf_alloc *const alloc = &plan->state->alloc;
    int form, has_post_init, has_tag, is_closed;
    PyObject *fields;
    if (!PyArg_ParseTuple(extra, "ipppO!", &form, &has_post_init, &has_tag, &is_closed,
                          &PyTuple_Type, &fields)) {
        return -1;
    }
    ionfast_plan_record *const record = new_array(alloc, 1, sizeof *record);
    if (record == NULL) {
        return -1;
    }
    node->record = record;
    record->form = (uint8_t)form;
    record->has_post_init = has_post_init;
    record->has_tag = has_tag;
    record->is_closed = is_closed;
    const size_t count = (size_t)PyTuple_GET_SIZE(fields);
    if (count != node->child_count || count > IONFAST_NAMES_MAX) {
        PyErr_SetString(PyExc_ValueError, "too many fields");
        return -1;
    }
    record->fields = new_array(alloc, count, sizeof *record->fields);
    if (record->fields == NULL) {
        return -1;
    }
    record->count = (uint32_t)count;
    for (uint32_t i = 0; i < record->count; i++) {
        PyObject *description = PyTuple_GET_ITEM(fields, (Py_ssize_t)i);
        if (field_build(plan, node, &record->fields[i], description, i) < 0) {
            return -1;
        }
    }
    return record_name(alloc, record);
}

/* ---- learning ---- */

/* SIDs beyond this, which only a huge import gives, have their rows in a small cache. */
#define LEARNED_MAX ((size_t)1 << 16)

static int
learn_grow(ionfast_plan_record *record, const ionf_alloc *alloc, size_t needed)
{
    void *rows = record->sid_slots;
    const size_t old_cap = record->sid_cap;
    if (ionf_alloc_grow(alloc, &rows, &record->sid_cap, needed, sizeof *record->sid_slots) !=
        IONF_OK) {
        PyErr_NoMemory();
        return -1;
    }
    record->sid_slots = rows;
    memset(record->sid_slots + old_cap, 0,
           (record->sid_cap - old_cap) * sizeof *record->sid_slots);
    return 0;
}

/* The record's rows belong to the decoder's table from here on. */
static void
learn_begin(ionfast_plan_record *record, const ionfast_decoder *dec, const ionf_symtab *tab)
{
    const uint64_t table = ionfast_decoder_table(dec);
    if (record->table == table && record->generation == tab->generation) {
        return;
    }
    if (record->sid_cap != 0) {
        memset(record->sid_slots, 0, record->sid_cap * sizeof *record->sid_slots);
    }
    if (record->far != NULL) {
        memset(record->far, 0, IONFAST_FAR_SLOTS * sizeof *record->far);
    }
    record->table = table;
    record->generation = tab->generation;
}

static int
find_row(const ionfast_plan_record *record, const ionf_symtab *tab, uint64_t sid)
{
    ionf_symbol symbol;
    if (ionf_symtab_find(tab, sid, &symbol) != IONF_OK || symbol.text == NULL) {
        return IONFAST_SID_FOREIGN;
    }
    const int slot = ionfast_name_find(&record->names, symbol.text, symbol.len);
    return slot < 0 ? IONFAST_SID_FOREIGN : slot + IONFAST_SID_SLOT;
}

/* Looked up by text each time, 20,000 objects of six such fields took 9.8 ms; this way 8.0, and 6.9 where
 * the SIDs are below the limit. */
static int
learn_far(ionfast_plan_record *record, const ionfast_decoder *dec, const ionf_symtab *tab,
          uint64_t sid)
{
    if (record->far == NULL) {
        record->far = new_array(&dec->state->alloc, IONFAST_FAR_SLOTS, sizeof *record->far);
        if (record->far == NULL) {
            return -1;
        }
    }
    ionfast_far_sid *const far = &record->far[sid % IONFAST_FAR_SLOTS];
    if (far->sid != sid) {
        far->row = (uint16_t)find_row(record, tab, sid);
        far->sid = sid;
    }
    return far->row;
}

int
ionfast_plan_look_up(const ionfast_plan_record *record, ionfast_decoder *dec, uint64_t sid)
{
    return find_row(record, &ionfast_decoder_base(dec)->symtab, sid);
}

int
ionfast_plan_learn(ionfast_plan_record *record, ionfast_decoder *dec, uint64_t sid)
{
    const ionf_symtab *const tab = &ionfast_decoder_base(dec)->symtab;
    learn_begin(record, dec, tab);
    if (sid >= LEARNED_MAX) {
        return learn_far(record, dec, tab, sid);
    }
    if (sid >= record->sid_cap && learn_grow(record, &dec->state->alloc, (size_t)sid + 1) < 0) {
        return -1;
    }
    const int row = find_row(record, tab, sid);
    record->sid_slots[sid] = (uint16_t)row;
    return row;
}

/* ---- nodes ---- */

static int
choice_build(ionfast_plan *plan, ionfast_plan_node *node, PyObject *extra)
{
    PyObject *texts, *results;
    if (!PyArg_ParseTuple(extra, "O!O!", &PyTuple_Type, &texts, &PyTuple_Type, &results)) {
        return -1;
    }
    /* The pair keeps the texts alive, which the table borrows from. */
    node->results = PyTuple_Pack(2, results, texts);
    return node->results == NULL ? -1 : names_build(&plan->state->alloc, &node->names, texts);
}

static int
tagged_build(ionfast_plan *plan, ionfast_plan_node *node, PyObject *extra)
{
    PyObject *texts, *name, *tags;
    if (!PyArg_ParseTuple(extra, "O!UU", &PyTuple_Type, &texts, &name, &tags)) {
        return -1;
    }
    node->results = PyTuple_Pack(3, texts, name, tags);
    return node->results == NULL ? -1 : names_build(&plan->state->alloc, &node->names, texts);
}

static int
children_build(ionfast_plan *plan, ionfast_plan_node *node, PyObject *children)
{
    const Py_ssize_t count = PyTuple_GET_SIZE(children);
    node->children = new_array(&plan->state->alloc, (size_t)count, sizeof *node->children);
    if (node->children == NULL) {
        return -1;
    }
    node->child_count = (uint32_t)count;
    for (Py_ssize_t i = 0; i < count; i++) {
        const long index = PyLong_AsLong(PyTuple_GET_ITEM(children, i));
        if (index == -1 && PyErr_Occurred()) {
            return -1;
        }
        if (index >= (long)plan->node_count) {
            PyErr_SetString(PyExc_IndexError, "a child of a plan is out of range");
            return -1;
        }
        node->children[i] = index < 0 ? NULL : &plan->nodes[index];
    }
    return 0;
}

/* Children that the loop takes for granted. */
static uint32_t
children_needed(int op)
{
    switch (op) {
    case IONFAST_PLAN_UNION:
        return IONFAST_KIND_COUNT;
    case IONFAST_PLAN_CONVERT:
    case IONFAST_PLAN_LIST:
    case IONFAST_PLAN_SET:
    case IONFAST_PLAN_FROZENSET:
    case IONFAST_PLAN_TUPLE_OF:
    case IONFAST_PLAN_DICT:
    case IONFAST_PLAN_ANY_LIST:
    case IONFAST_PLAN_ANY_STRUCT:
        return 1;
    default:
        return 0;
    }
}

static int
node_build(ionfast_plan *plan, ionfast_plan_node *node, PyObject *description)
{
    int op, accepts, is_strict;
    PyObject *expected, *annotation, *object, *children, *extra;
    if (!PyArg_ParseTuple(description, "iiUOpOO!O", &op, &accepts, &expected, &annotation,
                          &is_strict, &object, &PyTuple_Type, &children, &extra)) {
        return -1;
    }
    if (op < 0 || op >= IONFAST_PLAN_OP_COUNT) {
        PyErr_SetString(PyExc_ValueError, "a plan has an unknown operation");
        return -1;
    }
    node->op = (uint8_t)op;
    node->accepts = (uint16_t)accepts;
    node->is_strict = is_strict;
    node->expected = Py_NewRef(expected);
    node->annotation = annotation == Py_None ? NULL : Py_NewRef(annotation);
    node->object = object == Py_None ? NULL : Py_NewRef(object);
    node->is_plain = node->annotation == NULL && op != IONFAST_PLAN_UNION &&
                     op != IONFAST_PLAN_CONVERT && op != IONFAST_PLAN_TAGGED &&
                     (op != IONFAST_PLAN_ANY || node->object == NULL);
    if (children_build(plan, node, children) < 0) {
        return -1;
    }
    if (node->child_count < children_needed(op)) {
        PyErr_SetString(PyExc_ValueError, "a node of a plan lacks children");
        return -1;
    }
    if (op == IONFAST_PLAN_RECORD) {
        return record_build(plan, node, extra);
    }
    if (op == IONFAST_PLAN_CONVERT) {
        node->is_foreign = extra == Py_True;
    }
    if (op == IONFAST_PLAN_TAGGED) {
        return tagged_build(plan, node, extra);
    }
    return op == IONFAST_PLAN_CHOICE ? choice_build(plan, node, extra) : 0;
}

static void
node_destroy(const ionf_alloc *alloc, ionfast_plan_node *node)
{
    if (node->record != NULL) {
        record_destroy(alloc, node->record);
    }
    if (node->names.texts != NULL) {
        names_destroy(alloc, &node->names);
    }
    if (node->children != NULL) {
        const size_t cap = node->child_count == 0 ? 1 : node->child_count;
        ionf_alloc_free(alloc, node->children, cap * sizeof *node->children);
    }
    Py_XDECREF(node->results);
    Py_XDECREF(node->object);
    Py_XDECREF(node->annotation);
    Py_XDECREF(node->expected);
}

/* ---- the type ---- */

static void
plan_release(ionfast_plan *plan)
{
    ionfast_plan_node *const nodes = plan->nodes;
    const uint32_t count = plan->node_count;
    plan->nodes = NULL;
    plan->node_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        node_destroy(&plan->state->alloc, &nodes[i]);
    }
    if (nodes != NULL) {
        ionf_alloc_free(&plan->state->alloc, nodes, (count == 0 ? 1 : count) * sizeof *nodes);
    }
}

static int
node_traverse(const ionfast_plan_node *node, visitproc visit, void *arg)
{
    Py_VISIT(node->object);
    Py_VISIT(node->results);
    if (node->record != NULL && node->record->fields != NULL) {
        for (uint32_t i = 0; i < node->record->count; i++) {
            Py_VISIT(node->record->fields[i].fallback);
        }
    }
    return 0;
}

static int
Plan_traverse(PyObject *self, visitproc visit, void *arg)
{
    const ionfast_plan *const plan = (ionfast_plan *)self;
    Py_VISIT(Py_TYPE(self));
    for (uint32_t i = 0; i < plan->node_count; i++) {
        const int result = node_traverse(&plan->nodes[i], visit, arg);
        if (result != 0) {
            return result;
        }
    }
    return 0;
}

static int
Plan_clear(PyObject *self)
{
    plan_release((ionfast_plan *)self);
    return 0;
}

static void
Plan_dealloc(PyObject *self)
{
    PyTypeObject *const type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    plan_release((ionfast_plan *)self);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyType_Slot Plan_slots[] = {
    {Py_tp_doc, "How values are read as one type; made by ionfast alone."},
    {Py_tp_traverse, Plan_traverse},
    {Py_tp_clear, Plan_clear},
    {Py_tp_dealloc, Plan_dealloc},
    {0, NULL},
};

static PyType_Spec Plan_spec = {
    .name = "ionfast._ionfast.Plan",
    .basicsize = sizeof(ionfast_plan),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE |
             Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = Plan_slots,
};

static ionfast_plan *
plan_build(ionfast_state *state, PyObject *descriptions)
{
    PyTypeObject *const type = state->Plan;
    ionfast_plan *const plan = (ionfast_plan *)type->tp_alloc(type, 0);
    if (plan == NULL) {
        return NULL;
    }
    plan->state = state;
    const size_t count = (size_t)PyList_GET_SIZE(descriptions);
    plan->nodes = new_array(&state->alloc, count, sizeof *plan->nodes);
    if (plan->nodes == NULL) {
        goto fail;
    }
    plan->node_count = (uint32_t)count;
    for (size_t i = 0; i < count; i++) {
        PyObject *description = PyList_GET_ITEM(descriptions, (Py_ssize_t)i);
        if (node_build(plan, &plan->nodes[i], description) < 0) {
            goto fail;
        }
    }
    return plan;

fail:
    Py_DECREF(plan);
    return NULL;
}

ionfast_plan *
ionfast_plan_make(ionfast_state *state, PyObject *type, PyObject *codec)
{
    PyObject *descriptions = PyObject_CallFunctionObjArgs(state->describe_type, type,
                                                          codec == NULL ? Py_None : codec, NULL);
    if (descriptions == NULL) {
        return NULL;
    }
    ionfast_plan *plan = NULL;
    if (PyList_Check(descriptions) && PyList_GET_SIZE(descriptions) != 0) {
        plan = plan_build(state, descriptions);
    } else {
        PyErr_SetString(PyExc_TypeError, "a type was described by no list");
    }
    Py_DECREF(descriptions);
    return plan;
}

/* ---- the cache ---- */

/* Types are often made anew by tests and closures: the cache holds on to so many. */
#define PLANS_MAX 256

static int
cache_put(PyObject *cache, PyObject *type, ionfast_plan *plan)
{
    if (PyDict_GET_SIZE(cache) >= PLANS_MAX) {
        PyDict_Clear(cache);
    }
    if (PyDict_SetItem(cache, type, (PyObject *)plan) == 0) {
        return 0;
    }
    if (!PyErr_ExceptionMatches(PyExc_TypeError)) {
        return -1;
    }
    PyErr_Clear(); /* not hashable, as Annotated with a list is: it is made again next time */
    return 0;
}

ionfast_plan *
ionfast_plan_of(ionfast_state *state, PyObject *type, PyObject *codec)
{
    PyObject *cache = codec == NULL ? Py_NewRef(state->plans) : ionfast_codec_plans(codec);
    PyObject *known;
    const int is_known = ionfast_dict_get(cache, type, &known);
    ionfast_plan *plan = (ionfast_plan *)known;
    if (is_known <= 0) {
        if (is_known < 0 && !PyErr_ExceptionMatches(PyExc_TypeError)) {
            goto done;
        }
        PyErr_Clear();
        plan = ionfast_plan_make(state, type, codec);
        if (plan != NULL && cache_put(cache, type, plan) < 0) {
            Py_CLEAR(plan);
        }
    }
done:
    Py_DECREF(cache);
    return plan;
}

int
ionfast_plan_exec(PyObject *module, ionfast_state *state)
{
    state->plans = PyDict_New();
    if (state->plans == NULL) {
        return -1;
    }
    state->Plan = (PyTypeObject *)PyType_FromModuleAndSpec(module, &Plan_spec, NULL);
    return state->Plan == NULL ? -1 : 0;
}
