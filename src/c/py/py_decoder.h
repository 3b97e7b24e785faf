/* The decoder: what one reading needs, made once and pooled: both core readers, the stacks on which
 * values are built, and the caches of key strings.
 *
 *   values  [key][value][key][value][key] | [item][item] | [key][value]     one stack for all open
 *            ^ frames[0].start (struct)     ^ frames[1] (list)              containers
 *
 * A key that a cache of the decoder owns until the value is complete is borrowed, and says so by a bit
 * (ionfast_slot_borrow): no reference is counted up only to be counted down. All else is owned.
 *
 * Items are collected on `values` and become a list or dict of just the right size when their
 * container ends. Until then nothing that the collector could see exists. A decoder belongs to one
 * thread, from take to give.
 */
#ifndef PY_DECODER_H
#define PY_DECODER_H

#include "ionf_bin_read.h"
#include "ionf_txt_read.h"
#include "py_input.h"
#include "py_memo.h"
#include "py_state.h"

typedef enum ionfast_model {
    IONFAST_MODEL_LOSSLESS = 0,
    IONFAST_MODEL_PLAIN = 1,
    IONFAST_MODEL_IONPY = 2
} ionfast_model;

typedef struct ionfast_build_frame {
    size_t start;          /* index in values of the first child */
    PyObject *annotations; /* owned tuple, or NULL */
    uint8_t kind;          /* ionf_kind of the container */
    bool has_repeats;      /* a name came again in this long struct (py_spill.c) */
} ionfast_build_frame;

/* Text field names seen before, found by a hash of their bytes: a fixed table, one probe, the newest
 * wins. Only short ASCII names; their hash is computed before they are stored. */
#define IONFAST_KEY_SLOTS 1024
#define IONFAST_KEY_MAX_LEN 64
#define IONFAST_RETIRED_MAX 64

/* Tokens between two looks at pending signals: tens of microseconds of ordinary reading, and no more than
 * some milliseconds when each token is just below what looks by itself (IONFAST_LONG_TEXT, and the
 * conversions of numbers in py_int.c and py_decimal.c). A look takes 5 to 10 ns. */
#define IONFAST_SIGNAL_INTERVAL 1024

/* Names mostly come in the same order as before: the text reader is told which one comes next if it is the one
 * that last came after the same two. It takes two others in a row to be forgotten. */
#define IONFAST_FOLLOWS_AGAIN 0x8000u

typedef struct ionfast_key_order {
    ionf_txt_guess guesses[IONFAST_KEY_SLOTS]; /* the name in each slot, where it may be guessed */
    uint16_t followers[IONFAST_KEY_SLOTS];     /* slots, by the two names before */
    uint16_t before;                           /* index in `followers` of the two names met last */
    uint16_t last;                             /* slot of the last one of them */
    uint16_t guessed;                          /* slot of the one that is expected now */
} ionfast_key_order;

/* What a Reader works on. It lies in the pooled decoder, not in the Reader, so that making a Reader is
 * making a small object: nothing here is cleared for it. */
typedef struct ionfast_stream {
    ionfast_input input;
    ionf_limits limits;
    const ionf_catalog *catalog; /* borrowed from the decoder's catalog */
    PyObject *field;             /* owned: kept when the token's own slices go; or NULL */
    PyObject *annotations;       /* the same */
    uint8_t *kinds; /* owned: ionf_kind of each container stepped into, outermost first */
    size_t kind_cap;
    uint64_t discard_offset; /* of the value that is too large and being passed over */
    ionf_token token;        /* the current value */
} ionfast_stream;

/* Structs of one shape - the same keys in the same order - come in crowds. The second time a shape is
 * seen a dict with these keys is kept; from then on such a struct is a copy of it with other values:
 * twitter 838 -> 561 us of building alone, citm_catalog 4.5 -> 2.7 ms (benchmarks/floor). A fixed
 * table, two probes, the newest wins. */
#define IONFAST_SHAPE_SLOTS 256
#define IONFAST_SHAPE_MAX_KEYS 64

typedef struct ionfast_shape {
    PyObject *dict; /* owned: the keys, each with None; or NULL */
    uint64_t seen;  /* hash of the keys that found no dict here last */
} ionfast_shape;

/* Symbol objects by their text's str, which a cache of the decoder gives: as many as there are symbol
 * values share one object, which nobody can change. One probe, the newest wins. */
#define IONFAST_SYMBOL_SLOTS 256

typedef struct ionfast_symbol_entry {
    PyObject *text, *symbol; /* owned, or NULL */
    PyObject *alone;         /* owned: (symbol,), or NULL until it is wanted */
    PyObject *attributes;    /* owned: {"ion_annotations": alone}; made with it */
} ionfast_symbol_entry;

typedef struct ionfast_decoder {
    ionfast_state *state; /* borrowed: outlives every decoder */
    ionf_bin_reader bin;
    ionf_txt_reader txt;
    bool is_binary;
    ionfast_model model;
    PyObject *catalog; /* owned while reading: keeps the core's view alive; NULL: none */
    ionf_buf *scratch; /* taken from the pool of string decoders when text asks for it; or NULL */

    PyObject **values; /* owned array; its references are owned or marked as borrowed */
    size_t value_count, value_cap;
    ionfast_build_frame *frames; /* owned */
    size_t frame_count, frame_cap;

    /* SID -> str of the system and local symbols met so far, in step with the symbol table of `bin`
     * or `txt`: slot = sid for 0 .. 9, 10 + index for locals. Owned references or NULL. */
    PyObject **sid_strs;
    size_t sid_cap;
    uint64_t sid_generation;
    bool sid_is_binary; /* which reader's table the cache belongs to */

    PyObject **keys; /* owned: IONFAST_KEY_SLOTS of owned str or NULL; NULL until text is read */
    ionfast_key_order *order; /* owned: made with `keys` */
    uint32_t countdown;       /* tokens until signals are looked at */
    ionfast_memo *memo;       /* owned; NULL until a large input is read */
    bool has_memo;            /* `memo` is to be asked for this input */
    /* Owned; NULL until a decimal is read. */
    struct ionfast_decimal_memo *decimals;

    uint64_t
        serial; /* tells decoders of one interpreter apart, for what is learned of their tables */
    struct ionfast_typed_stack *typed; /* owned: stacks of typed reading; NULL until it is used */
    PyObject *plan; /* owned: what a Reader with a codec reads values by; or NULL */
    /* Owned: names that `keys` gave up while slots may still borrow them; until the value ends. */
    PyObject *retired[IONFAST_RETIRED_MAX];
    size_t retired_count;
    size_t shape_count;
    ionfast_shape shapes[IONFAST_SHAPE_SLOTS];
    bool has_symbols; /* any in `symbols` */
    ionfast_symbol_entry symbols[IONFAST_SYMBOL_SLOTS];
    const ionfast_symbol_entry *annotated; /* whose `alone` was asked for last, or NULL */

    /* Bytes that it retains, as counted at a reset when the heap had made `counted_at` allocations. */
    size_t counted;
    uint64_t counted_at;

    ionfast_stream stream; /* last: loads() never looks at it */
} ionfast_decoder;

/* A slot of `values` that borrows `key`; one that holds the first children of a long list or struct, as the
 * object that is not complete (py_spill.c); and what a slot of any sort holds. */
static inline PyObject *
ionfast_slot_borrow(PyObject *key)
{
    return (PyObject *)((uintptr_t)key | 1);
}

static inline bool
ionfast_slot_is_borrowed(const PyObject *slot)
{
    return ((uintptr_t)slot & 1) != 0;
}

static inline PyObject *
ionfast_slot_spill(PyObject *object)
{
    return (PyObject *)((uintptr_t)object | 2);
}

static inline bool
ionfast_slot_is_spill(const PyObject *slot)
{
    return ((uintptr_t)slot & 2) != 0;
}

static inline PyObject *
ionfast_slot_object(PyObject *slot)
{
    return (PyObject *)((uintptr_t)slot & ~(uintptr_t)3);
}

static inline void
ionfast_slot_drop(PyObject *slot)
{
    if (!ionfast_slot_is_borrowed(slot)) {
        Py_DECREF(ionfast_slot_object(slot));
    }
}

static inline ionf_reader *
ionfast_decoder_base(ionfast_decoder *dec)
{
    return dec->is_binary ? &dec->bin.base : &dec->txt.base;
}

/* Do sid_strs belong to this table as it is now? */
static inline bool
ionfast_sid_cache_is_current(const ionfast_decoder *dec, const ionf_symtab *tab)
{
    return dec->sid_generation == tab->generation && dec->sid_is_binary == dec->is_binary;
}

/* Tells the symbol tables of all decoders apart, those of binary and text Ion too: with the table's
 * generation, what a SID means. */
static inline uint64_t
ionfast_decoder_table(const ionfast_decoder *dec)
{
    return dec->serial << 1 | (uint64_t)dec->is_binary;
}

/* A decoder from the pool; NULL with MemoryError. */
ionfast_decoder *ionfast_decoder_take(ionfast_state *state);
/* Back to the pool; reset there. */
static inline void
ionfast_decoder_give(ionfast_decoder *dec)
{
    ionf_pool_give(&dec->state->decoders, dec);
}
/* Start on a window. Binary or text by the version marker, unless `is_text` says that it is text.
 * -1 with MemoryError. */
int ionfast_decoder_open(ionfast_decoder *dec, const uint8_t *data, size_t len, bool is_final,
                         bool is_text, const ionf_limits *limits, const ionf_catalog *catalog);
/* The input is large enough for values to repeat in it. */
void ionfast_decoder_use_memo(ionfast_decoder *dec);
/* What opening in either encoding has in common. */
static inline void
ionfast_decoder_begin(ionfast_decoder *dec, bool is_binary, size_t len)
{
    dec->is_binary = is_binary;
    dec->countdown = IONFAST_SIGNAL_INTERVAL;
    dec->has_memo = false;
    if (len >= IONFAST_MEMO_MIN_INPUT) {
        ionfast_decoder_use_memo(dec);
    }
}
static inline void
ionfast_decoder_open_binary(ionfast_decoder *dec, const uint8_t *data, size_t len, bool is_final,
                            const ionf_limits *limits, const ionf_catalog *catalog)
{
    ionfast_decoder_begin(dec, true, len);
    ionf_bin_reader_open(&dec->bin, data, len, is_final, limits, catalog);
}
/* Drop half-built values, after an error or a stop in the middle. */
void ionfast_decoder_drop_values(ionfast_decoder *dec);
/* Let go of retired names; when no frame is open. */
void ionfast_decoder_drop_retired(ionfast_decoder *dec);
/* Room for two more values, by growing the stack or by emptying it: the children of a list or struct that
 * is long already move to the list or dict that they will be. -1 with an exception. (py_spill.c) */
int ionfast_decoder_make_room(ionfast_decoder *dec);
/* The innermost frame's list or struct, whose first slot, at `start`, is a spill: all of its children, off
 * the stack. NULL with an exception: they are still there. */
PyObject *ionfast_spill_close(ionfast_decoder *dec, size_t start);
/* Room for so many more values, or for another frame; -1 with MemoryError. */
int ionfast_decoder_reserve_values(ionfast_decoder *dec, size_t more);
int ionfast_decoder_grow_frames(ionfast_decoder *dec);

/* Out-of-line halves of the look-ups below. New references. NULL with an exception set. */
PyObject *ionfast_sid_str_slow(ionfast_decoder *dec, uint64_t sid);
/* The name as a slot of `values`. */
PyObject *ionfast_key_slow(ionfast_decoder *dec, const uint8_t *text, size_t len, size_t slot);
/* The outermost frame is about to be pushed: the SID cache must be in step with the symbol table from
 * here on, which cannot change inside a value. */
void ionfast_sid_cache_clear(ionfast_decoder *dec);
/* `count` key-value pairs found no dict at `slot`: keep one if they came for the second time. Cannot
 * fail, at worst nothing is kept. */
void ionfast_shape_learn(ionfast_decoder *dec, PyObject *const *pairs, size_t count, size_t slot);

#endif
