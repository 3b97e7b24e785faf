/* The compiled plan of typed decoding: what a Python type asks of the Ion value it is read from.
 *
 * Made once from the description that ionfast/_typed.py gives of a type, and not changed afterwards,
 * but for one thing: each record learns which symbol ID means which field, for the symbol table that
 * it was read with last. The learned rows say which table they belong to, so that two readings that
 * take turns on one plan only unlearn each other's. Without a GIL one reading at a time has the plan's
 * turn, and the others look each symbol ID up by its text.
 *
 *   plan    nodes[0] root, then in no order; children point into the same array
 *   record  names: text -> slot, without collisions     sid_slots: SID -> slot, learned
 *           fields[slot]: name, node, default, where the object keeps it
 */
#ifndef PY_PLAN_H
#define PY_PLAN_H

#include "py_state.h"

/* In step with the names of the same sound in ionfast/_typed.py. */
typedef enum ionfast_plan_op {
    IONFAST_PLAN_ANY = 0, /* whatever untyped reading makes of it */
    IONFAST_PLAN_NONE = 1,
    IONFAST_PLAN_BOOL = 2,
    IONFAST_PLAN_INT = 3,
    IONFAST_PLAN_FLOAT = 4,
    IONFAST_PLAN_DECIMAL = 5,
    IONFAST_PLAN_STR = 6,
    IONFAST_PLAN_SYMBOL = 7,
    IONFAST_PLAN_BYTES = 8,
    IONFAST_PLAN_TIMESTAMP = 9,
    IONFAST_PLAN_DATETIME = 10,
    IONFAST_PLAN_DATE = 11,
    IONFAST_PLAN_MOMENT = 12,  /* a date where the precision is a day, else a datetime */
    IONFAST_PLAN_CHOICE = 13,  /* one of the keys of a table: enums and literals */
    IONFAST_PLAN_CONVERT = 14, /* the child, then a call */
    IONFAST_PLAN_UNION = 15,   /* a child by Ion type, or by annotation */
    IONFAST_PLAN_LIST = 16,    /* from here on containers */
    IONFAST_PLAN_SET = 17,
    IONFAST_PLAN_FROZENSET = 18,
    IONFAST_PLAN_TUPLE_OF = 19, /* any number of the same */
    IONFAST_PLAN_TUPLE = 20,    /* one child an element */
    IONFAST_PLAN_DICT = 21,
    IONFAST_PLAN_RECORD = 22,
    IONFAST_PLAN_ANY_LIST = 23, /* containers of ANY with a registry */
    IONFAST_PLAN_ANY_STRUCT = 24,
    IONFAST_PLAN_TAGGED = 25, /* the record that a field of the struct names */
    IONFAST_PLAN_OP_COUNT = 26
} ionfast_plan_op;

/* How a record's object is made of its fields. */
typedef enum ionfast_record_form {
    IONFAST_RECORD_DIRECT = 0, /* allocated and filled, as the generated __init__ would */
    IONFAST_RECORD_CALL = 1,   /* cls(**fields) */
    IONFAST_RECORD_TUPLE = 2,  /* a named tuple */
    IONFAST_RECORD_DICT = 3    /* a dict of the fields that are there */
} ionfast_record_form;

/* Names, each with its index, found by a hash that tells these apart: no probing. */
typedef struct ionfast_name_table {
    const char **texts; /* owned array of texts borrowed from the strs of `owner` */
    size_t *lens;       /* owned */
    uint32_t count;
    uint32_t mask; /* of the table's size, a power of two */
    uint64_t seed;
    uint16_t *slots; /* owned: index + 1, or 0 */
} ionfast_name_table;

#define IONFAST_NAMES_MAX 0xFFFE

static inline uint64_t
ionfast_name_hash(const uint8_t *text, size_t len, uint64_t seed)
{
    const uint64_t factor = 0x9E3779B97F4A7C15u;
    uint64_t hash = (seed ^ len) * factor;
    while (len > 8) {
        hash = (hash ^ ionf_load64_native(text)) * factor;
        hash ^= hash >> 29;
        text += 8;
        len -= 8;
    }
    uint64_t last = 0;
    memcpy(&last, text, len);
    /* Names often differ in their last byte alone, which is the top one here. */
    hash ^= last ^ hash >> 32;
    hash = (hash ^ last >> 32) * factor;
    hash = (hash ^ hash >> 29) * factor;
    return hash ^ hash >> 32;
}

/* Index of a name, or -1. */
static inline int
ionfast_name_find(const ionfast_name_table *names, const uint8_t *text, size_t len)
{
    const unsigned slot = names->slots[ionfast_name_hash(text, len, names->seed) & names->mask];
    if (slot == 0 || names->lens[slot - 1] != len ||
        memcmp(names->texts[slot - 1], text, len) != 0) {
        return -1;
    }
    return (int)slot - 1;
}

typedef struct ionfast_plan_node ionfast_plan_node;

typedef struct ionfast_plan_field {
    const ionfast_plan_node *node; /* borrowed: of the same plan */
    PyObject *name;                /* owned: in Ion */
    PyObject *attribute;           /* owned: in Python */
    PyObject *fallback;            /* owned: default, or what is called for one; or NULL */
    Py_ssize_t offset;             /* of the object's slot; 0: set as an attribute */
    bool is_required;
    bool is_factory;
    bool is_ignored; /* known, but not read: a field that __init__ does not take */
} ionfast_plan_field;

/* Meanings of a learned row: not yet known, no field of the record, or 2 + slot. */
#define IONFAST_SID_UNLEARNED 0
#define IONFAST_SID_FOREIGN 1
#define IONFAST_SID_SLOT 2

/* Rows of SIDs beyond what sid_slots holds, by their last bits; the newest wins. */
#define IONFAST_FAR_SLOTS 64

typedef struct ionfast_far_sid {
    uint64_t sid; /* 0: none */
    uint16_t row;
} ionfast_far_sid;

typedef struct ionfast_plan_record {
    ionfast_plan_field *fields; /* owned */
    uint32_t count;
    uint8_t form; /* ionfast_record_form */
    bool has_post_init;
    bool has_tag;   /* the last field is no attribute: it only says which class this is */
    bool is_closed; /* fields that it has not are refused */
    PyObject
        *attributes; /* owned: tuple of the fields' attributes, without the tag's, for calls */
    ionfast_name_table names;
    uint16_t *sid_slots; /* owned: by SID, see ionfast_plan_learn */
    size_t sid_cap;
    ionfast_far_sid *far;       /* owned: IONFAST_FAR_SLOTS, or NULL */
    uint64_t table, generation; /* what it was learned with: see ionfast_decoder_table */
} ionfast_plan_record;

struct ionfast_plan_node {
    uint8_t op;           /* ionfast_plan_op */
    bool is_plain;        /* neither annotation nor another node has to be looked at first */
    bool is_strict;       /* the annotation must be there */
    bool is_foreign;      /* CONVERT: a user's function, whose exceptions come through */
    uint16_t accepts;     /* bit of each ionf_kind; that of IONF_KIND_NULL: any null gives None */
    PyObject *expected;   /* owned str, for messages */
    PyObject *annotation; /* owned str, or NULL */
    PyObject *object;     /* owned: class, callable or table; NULL: none */
    const ionfast_plan_node **children; /* owned array; UNION: by kind, NULL where none */
    uint32_t child_count;
    ionfast_name_table names; /* CHOICE, TAGGED: the keys that are text */
    PyObject
        *results; /* owned: CHOICE: (results by index of the name, texts); TAGGED: (texts, name of
                        * the field, what the tags are), children being in the order of the texts */
    ionfast_plan_record *record; /* owned; RECORD */
};

typedef struct ionfast_plan {
    PyObject_HEAD ionfast_state *state; /* borrowed: of the type's module */
    ionfast_plan_node *nodes;           /* owned */
    uint32_t node_count;
    ionfast_turn turn; /* to use what its records have learned */
} ionfast_plan;

/* The plan of a type: with a codec from its cache, else from the module's. New reference; TypeError for
 * a type that cannot be read. `codec` may be NULL. */
ionfast_plan *ionfast_plan_of(ionfast_state *state, PyObject *type, PyObject *codec);
/* The same, not from a cache nor into one. */
ionfast_plan *ionfast_plan_make(ionfast_state *state, PyObject *type, PyObject *codec);

/* The row of a SID, learned now: IONFAST_SID_FOREIGN or more; -1 with MemoryError. `tab` is the
 * decoder's, `sid` at most its max_id. */
struct ionfast_decoder;
int ionfast_plan_learn(ionfast_plan_record *record, struct ionfast_decoder *dec, uint64_t sid);
/* The same without learning, where it is not this reading's turn; cannot fail. */
int ionfast_plan_look_up(const ionfast_plan_record *record, struct ionfast_decoder *dec,
                         uint64_t sid);

int ionfast_plan_exec(PyObject *module, ionfast_state *state); /* the type of plans */

#endif
