/* The encoder: Python objects -> Ion, binary or text. A pooled object that holds both writers, the
 * stack of the walk and the caches; one call owns it from take to give.
 *
 * The walk is iterative, so that depth costs memory and no C stack. Whatever can run foreign code - a
 * hook, an iterator, a key that is no plain str - runs with the stack in a consistent state and with
 * strong references held to all that is used afterwards.
 */
#ifndef PY_ENCODE_H
#define PY_ENCODE_H

#include "py_dispatch.h"

#include "ionf_bin_write.h"
#include "ionf_txt_write.h"

/* Values between two looks at pending signals. */
#define IONFAST_ENCODE_SIGNAL_INTERVAL 1024

/* How the children of an open container are found. */
typedef enum ionfast_form {
    IONFAST_FORM_DICT,
    IONFAST_FORM_LIST,
    IONFAST_FORM_TUPLE,
    IONFAST_FORM_ITEMS, /* source: an iterator over the elements of a list or sexp */
    IONFAST_FORM_PAIRS, /* source: an iterator over (name, value) pairs */
    IONFAST_FORM_NAMED, /* source: a tuple; names: a tuple of as many names */
    IONFAST_FORM_FIELDS /* source: an object; names: its Fields, which know where they are */
} ionfast_form;

typedef struct ionfast_encode_frame {
    PyObject *source;  /* owned; borrowed from the frame below it while a hot loop runs */
    Py_ssize_t next;   /* index of the next child, or position in the dict */
    Py_ssize_t last;   /* dict: position of the child in hand */
    Py_ssize_t count;  /* dict: entries when it was entered */
    Py_ssize_t left;   /* dict: entries still to come */
    uint8_t form;      /* ionfast_form */
    bool is_annotated; /* an annotation wrapper closes after it */
    bool has_more;     /* the fields below are in use, so that most frames need not clear them */
    PyObject *names;   /* owned as `source` is; NULL where the form needs none */
    PyObject *held;    /* owned: the child in hand, where `source` alone would not keep it alive */
    PyObject *name;    /* owned: the name in hand of IONFAST_FORM_PAIRS, for error messages */
} ionfast_encode_frame;

/* Keys seen by identity, so that a repeated one costs a look-up by pointer. Short ones stay from one
 * call to the next, for small messages are mostly names. */
#define IONFAST_NAME_SLOTS 1024
/* A short identifier is kept with its colon, as text has it. */
#define IONFAST_NAME_TEXT 32

typedef struct ionfast_name_slot {
    PyObject *name;      /* owned; NULL: empty */
    uint64_t generation; /* of the encoder when `sid` was given */
    uint64_t sid;        /* binary; that of a system symbol, or 0, where generation is older */
    uint8_t text_len;    /* text: bytes of `text`; 0: not known, or no short identifier */
    bool is_identifier;  /* text: can be written as it is */
    bool is_kept;        /* stays when the call ends */
    bool is_interned;    /* no other str has this text */
    bool is_listed;      /* in used_names */
    uint8_t text[IONFAST_NAME_TEXT];
} ionfast_name_slot;

/* An import that no catalog had: only its name and the places that symbols were read from are known.
 * Written again so that they can be found by whoever has the table. In text a row without a name says
 * that the local symbol table needs a null slot. */
typedef struct ionfast_absent {
    size_t name_start, name_len; /* in encoder.absent_names */
    uint64_t max_id;
    uint64_t first_sid;
} ionfast_absent;

/* In the place of an import: the symbol is a null slot of the local table. */
#define IONFAST_LOCAL_SLOT SIZE_MAX

/* Binary: a symbol of unknown text, written under a provisional local SID. */
typedef struct ionfast_unknown {
    size_t absent; /* index in encoder.absents, or IONFAST_LOCAL_SLOT */
    uint64_t position;
    size_t local; /* index in the writer's symbols */
} ionfast_unknown;

typedef struct ionfast_encoder {
    ionfast_state *state; /* borrowed: outlives every encoder */
    ionf_bin_writer bin;
    ionf_txt_writer txt;
    ionf_buf *body; /* own_body */
    ionf_buf own_body;
    bool is_binary;
    bool tuple_as_sexp;
    PyObject *default_hook;                  /* borrowed for the call; NULL: none */
    PyObject *codec;                         /* owned: a Codec, or NULL */
    PyObject *catalog;                       /* owned: a Catalog, or NULL */
    const ionf_catalog *catalog_view;        /* borrowed from it */
    PyTypeObject *datetime_type, *date_type; /* borrowed: static types */
    bool is_busy;                            /* a value is being written */
    bool has_classes;      /* objects, or subclasses of str and int, have been met in this call */
    size_t marker_len;     /* text: bytes of the version marker at the start of the body */
    Py_ssize_t root_index; /* of the top-level value in a stream, or -1 */

    ionfast_encode_frame *frames; /* owned */
    size_t frame_count, frame_cap;
    size_t held_count;  /* frames, from the first, that own their source: all but in a hot loop */
    uint32_t countdown; /* values until the next look at pending signals */

    ionf_buf scratch;
    uint64_t *sids; /* owned: of one value's annotations */
    size_t sid_cap;

    ionfast_type_map types;
    ionfast_name_slot names[IONFAST_NAME_SLOTS];
    uint16_t used_names[IONFAST_NAME_SLOTS]; /* slots to empty in the end, unless kept by then */
    size_t used_name_count;
    uint64_t generation; /* of the symbol table */
    /* Binary, one value: slots, by index, whose names have the first local SIDs, as long as the
     * writer's symbol map has none: most often it is never asked. */
    bool can_put_off;
    uint16_t put_off[IONFAST_NAME_SLOTS];
    size_t put_off_count;
    size_t put_off_size; /* of their texts as Ion strings */

    ionfast_absent *absents; /* owned */
    size_t absent_count, absent_cap;
    ionf_buf absent_names;
    ionfast_unknown *unknowns; /* owned */
    size_t unknown_count, unknown_cap;
    ionf_buf indent;                    /* spaces */
    const ionfast_serial *codec_serial; /* borrowed from the codec; NULL without one */
    PyObject *codec_entry; /* owned: what the codec has for the value in hand; or NULL */
    size_t body_start_cap; /* room that the body had when the call began */
    size_t retained;       /* by it when it was given back last */
    uint64_t counted_at;   /* calls of the allocator until then: without more it is the same */
    bool has_given_body;   /* a large one has become the output: from now on it stays */
} ionfast_encoder;

/* An encoder for the caller alone, set up for binary or text output; NULL with MemoryError. */
ionfast_encoder *ionfast_encoder_take(ionfast_state *state, bool is_binary);
/* Drop all references and hand it back. An exception that is set stays set. */
void ionfast_encoder_give(ionfast_encoder *enc);

/* Write registered types as the codec says, until the encoder is given back. -1 with TypeError. */
int ionfast_encode_use_codec(ionfast_encoder *enc, PyObject *codec);

/* Spell out symbols that are known by their place in one of the catalog's tables, until the encoder is
 * given back. -1 with TypeError. */
int ionfast_encode_use_catalog(ionfast_encoder *enc, PyObject *catalog);

/* Write one value, with its annotations, where the writer stands. -1 with an exception; the output
 * is then unusable, unless the writer is rolled back. */
int ionfast_encode(ionfast_encoder *enc, PyObject *value);
/* Drop the frames above the first `frame_count`. An exception that is set stays set. */
void ionfast_encode_unwind(ionfast_encoder *enc, size_t frame_count);

/* The row of a type that level 2 has met and no codec has to be asked about; or an empty one. */
IONF_FORCE_INLINE const ionfast_type_row *
ionfast_encode_met(ionfast_encoder *enc, const PyTypeObject *type)
{
    static const ionfast_type_row none = {NULL, NULL, IONFAST_AS_UNKNOWN, false, 0};
    const ionfast_type_row *const row = ionfast_type_map_find(&enc->types, type);
    return enc->codec_serial == NULL || row->free_of == *enc->codec_serial ? row : &none;
}

/* ---- py_encode_walk.c ---- */

/* Write the children of the containers above frame `base`, and close these; the text is not indented.
 * 1 when a class has turned up (`has_classes`) that the second pair of functions is for. -1 with an
 * exception, all frames then owning their sources. */
int ionfast_walk_binary(ionfast_encoder *enc, size_t base);
int ionfast_walk_text(ionfast_encoder *enc, size_t base);
int ionfast_walk_classes_binary(ionfast_encoder *enc, size_t base);
int ionfast_walk_classes_text(ionfast_encoder *enc, size_t base);

/* What the walk leaves to py_encode.c: write any value, or open it; write children of the innermost
 * container, of any form, until another one is innermost. -1 with an exception. */
int ionfast_encode_other(ionfast_encoder *enc, PyObject *value);
int ionfast_encode_next(ionfast_encoder *enc);

/* Foreign code may run from here on: give each frame a reference of its own. */
static inline void
ionfast_encode_hold(ionfast_encoder *enc)
{
    while (enc->held_count < enc->frame_count) {
        const ionfast_encode_frame *const frame = &enc->frames[enc->held_count++];
        Py_INCREF(frame->source);
        if (frame->has_more) { /* an object's, the only other thing that is borrowed */
            Py_INCREF(frame->names);
        }
    }
}

/* Drop what a frame owns, once it is off the stack. */
static inline void
ionfast_encode_drop(ionfast_encode_frame frame)
{
    if (IONF_UNLIKELY(frame.has_more)) {
        Py_XDECREF(frame.names);
        Py_XDECREF(frame.held);
        Py_XDECREF(frame.name);
    }
    Py_DECREF(frame.source);
}

/* ---- for py_writer.c too ---- */

/* Write the name of the next value in a struct: a str, or a SymbolToken. -1 with an exception. */
int ionfast_encode_name(ionfast_encoder *enc, PyObject *name);
/* Open the annotations of the next value: a tuple or list of names, not empty. Binary needs
 * ionfast_encode_annotations_end after the value. -1 with an exception. */
int ionfast_encode_annotations(ionfast_encoder *enc, PyObject *annotations);
int ionfast_encode_annotations_end(ionfast_encoder *enc);

/* All that was written, as bytes or str; new reference, NULL with an exception. */
PyObject *ionfast_encoder_binary(ionfast_encoder *enc);
PyObject *ionfast_encoder_text(ionfast_encoder *enc);
/* Text, before any value: $ion_1_0. -1 with MemoryError. */
int ionfast_encode_version_marker(ionfast_encoder *enc);

/* ---- py_encode_symbols.c ---- */

/* SID (binary) or reference (text) of a name that is not in the cache. What `ref` borrows stays until
 * the encoder is used again. `what` says what it is, for the TypeError: "field names". */
int ionfast_symbol_of(ionfast_encoder *enc, PyObject *name, const char *what, uint64_t *sid,
                      ionf_symref *ref);
/* UTF-8 that the str is, or has made of itself at some time, or NULL data. Never makes it: that would
 * stay with the str. */
IONF_FORCE_INLINE ionf_slice
ionfast_utf8_cached(PyObject *str)
{
    ionf_slice text = {NULL, 0};
    if (IONF_LIKELY(PyUnicode_IS_COMPACT_ASCII(str))) {
        text.data = PyUnicode_1BYTE_DATA(str);
        text.len = (size_t)PyUnicode_GET_LENGTH(str);
    } else if (PyUnicode_IS_ASCII(str)) {
        text.data = PyUnicode_DATA(str);
        text.len = (size_t)PyUnicode_GET_LENGTH(str);
    } else if (PyUnicode_IS_COMPACT(str)) {
        const PyCompactUnicodeObject *const compact = (const PyCompactUnicodeObject *)str;
        if (ionfast_str_utf8(compact) != NULL) {
            text.data = (const uint8_t *)compact->utf8;
            text.len = (size_t)compact->utf8_length;
        }
    }
    return text;
}

/* UTF-8 of any str, borrowed from it or from the scratch. -1 with UnicodeEncodeError. */
int ionfast_utf8_of(ionfast_encoder *enc, PyObject *str, ionf_slice *out);
/* Write a str that is not compact ASCII as a string. */
int ionfast_encode_wide(ionfast_encoder *enc, PyObject *str);
/* Beyond so many characters, which no step of the core is longer than in UTF-8, it looks at signals: then
 * nothing may be only borrowed. */
#define IONFAST_LONG_STR ((Py_ssize_t)(IONF_STEP_BYTES / 4))
/* Keep `name`, an exact str, and its SID. The slot is never NULL. */
ionfast_name_slot *ionfast_name_remember(ionfast_encoder *enc, PyObject *name, uint64_t sid);
/* Forget the SIDs of all names, as when a new symbol table starts. */
void ionfast_names_clear(ionfast_encoder *enc);
/* The names that were put off become symbols of the map. */
ionf_status ionfast_names_settle(ionfast_encoder *enc);

/* Binary with unknown symbols: give the symbols their final SIDs. */
PyObject *ionfast_encoder_binary_absent(ionfast_encoder *enc);
/* The text of the symbol table that declares the absent imports and the null slot, appended to `out`.
 * References to the slot in the body, which may move, get their SID. */
ionf_status ionfast_absent_text(ionfast_encoder *enc, ionf_buf *out);

/* ---- errors (py_encode.c) ---- */

/* "$.items[3].owner": where the walk stands; new reference. */
PyObject *ionfast_encode_path(ionfast_encoder *enc, bool with_last);
/* 0 for IONF_OK, else -1 with the exception for `status`. */
int ionfast_encode_status(ionfast_encoder *enc, ionf_status status);

static inline ionfast_name_slot *
ionfast_name_slot_of(ionfast_encoder *enc, const PyObject *name)
{
    const uintptr_t bits = (uintptr_t)name;
    const size_t i = (bits >> 4 ^ bits >> 14) % IONFAST_NAME_SLOTS;
    ionfast_name_slot *const slot = &enc->names[i];
    if (IONF_LIKELY(slot->name == name)) {
        return slot;
    }
    /* Of a hundred names a few meet; where two take turns in one slot, twitter takes a third more. */
    ionfast_name_slot *const other = &enc->names[i ^ 1u];
    return other->name == name || (slot->name != NULL && other->name == NULL) ? other : slot;
}

/* Binary: has the slot's name a SID in this call, or can it have the next one at once? */
static inline bool
ionfast_name_has_sid(ionfast_encoder *enc, ionfast_name_slot *slot)
{
    if (IONF_LIKELY(slot->generation == enc->generation)) {
        return true;
    }
    if (!enc->can_put_off || !slot->is_interned || enc->bin.symbols.local_count != 0) {
        return false;
    }
    slot->generation = enc->generation;
    if (slot->sid == 0 || slot->sid > IONF_SYSTEM_MAX_ID) {
        slot->sid = IONF_SYSTEM_MAX_ID + 1 + enc->put_off_count;
        enc->put_off[enc->put_off_count++] = (uint16_t)(slot - enc->names);
        const size_t len = (size_t)PyUnicode_GET_LENGTH(slot->name); /* one byte in a head */
        enc->put_off_size += len + (len < 14 ? 1 : 2);
    }
    return true;
}

#endif
