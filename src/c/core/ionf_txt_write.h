/* The text writer. Specification: spec.md (the notation of each type), text.md and its grammar,
 * symbols.md, "Symbol Representations". Compact or pretty; output is escaped only where it must
 * be: UTF-8 stands as it is, controls are escaped. Knows nothing of where the bytes go.
 *
 * Symbols are quoted unless they are identifiers that are not keywords (null, true, false, nan)
 * and not of the form $<digits>; operators are always quoted, and so is a top-level symbol that
 * looks like a version marker; $ion_1_0 itself, which readers drop even so, is refused there.
 * Separators are the writer's affair.
 *
 *   compact   {a:1,b:[1,2],c:(a '+' b)}
 *   pretty    one element a line, in sexps too; {}, [] and () when empty
 */
#ifndef IONF_TXT_WRITE_H
#define IONF_TXT_WRITE_H

#include "ionf_buf.h"
#include "ionf_dec.h"
#include "ionf_symmap.h"
#include "ionf_ts.h"

/* A frame is the container's kind, and this once it has a child. */
#define IONF_TXT_HAS_CHILD 0x80u

typedef struct ionf_txt_writer {
    ionf_buf *out; /* BORROWED from the owner (a pooled byte buffer), set before the first write */
    uint8_t *frames; /* owned: kind of each open container, and whether it has a child yet */
    size_t frame_cap;
    uint32_t depth;
    uint32_t max_depth;
    bool is_pretty;
    const char *indent; /* borrowed: one level's white space, "  " or "\t"; NUL-terminated */
    const char *top_separator; /* borrowed: between top-level values, "\n" or " "; not empty */
    bool has_value;            /* a top-level value has been written */
    bool has_prefix;           /* a field name or annotation stands right before the next value */
    bool is_reserved; /* with has_prefix: a top-level struct here would be a symbol table */
    ionf_alloc alloc;
} ionf_txt_writer;

/* Allocates nothing. Compact, values separated by "\n", until the fields say otherwise. */
void ionf_txt_writer_init(ionf_txt_writer *w, ionf_alloc alloc);
/* As after init, options and `out` too, apart from kept capacity. Cannot fail. */
void ionf_txt_writer_reset(ionf_txt_writer *w);
void ionf_txt_writer_destroy(ionf_txt_writer *w);
/* Bytes retained, out's not counted, for pools that cap them. */
size_t ionf_txt_writer_retained(const ionf_txt_writer *w);

/* Kind of the open container at `depth`, from 1; IONF_KIND_NULL for 0. */
ionf_kind ionf_txt_writer_kind(const ionf_txt_writer *w, uint32_t depth);

/* Would `text` as a symbol need quotes, wherever it stands? */
bool ionf_txt_symbol_needs_quotes(const uint8_t *text, size_t len);

/* One call a value, after its field name and its annotations. All give IONF_ERR_NOMEM at worst,
 * unless they say more; the output may then end in half a value, which rollback takes away. */

/* The name of the next value, inside a struct: its text, or unknown text as $<sid>. */
IONF_MUST_CHECK ionf_status ionf_txt_write_field(ionf_txt_writer *w, const ionf_symref *name);
/* name::   one call each, right before the value. */
IONF_MUST_CHECK ionf_status ionf_txt_write_annotation(ionf_txt_writer *w, const ionf_symref *name);
/* IONF_ERR_RESERVED for a null.struct that readers would take for a symbol table. */
IONF_MUST_CHECK ionf_status ionf_txt_write_null(ionf_txt_writer *w, ionf_kind kind);
IONF_MUST_CHECK ionf_status ionf_txt_write_bool(ionf_txt_writer *w, bool value);
IONF_MUST_CHECK ionf_status ionf_txt_write_i64(ionf_txt_writer *w, int64_t value);
IONF_MUST_CHECK ionf_status ionf_txt_write_integer(ionf_txt_writer *w, const ionf_integer *value);
IONF_MUST_CHECK ionf_status ionf_txt_write_double(ionf_txt_writer *w, double value);
IONF_MUST_CHECK ionf_status ionf_txt_write_decimal(ionf_txt_writer *w, const ionf_decimal *value);
/* Also what ionf_ts_print gives for a timestamp that is not valid. */
IONF_MUST_CHECK ionf_status ionf_txt_write_timestamp(ionf_txt_writer *w,
                                                     const ionf_timestamp *value);
/* IONF_ERR_RESERVED for $ion_1_0 at top level. */
IONF_MUST_CHECK ionf_status ionf_txt_write_symbol(ionf_txt_writer *w, const ionf_symref *symbol);
/* `text` is valid UTF-8. */
IONF_MUST_CHECK ionf_status ionf_txt_write_string(ionf_txt_writer *w, const uint8_t *text,
                                                  size_t len);
/* A clob or a blob. */
IONF_MUST_CHECK ionf_status ionf_txt_write_lob(ionf_txt_writer *w, ionf_kind kind,
                                               const uint8_t *data, size_t len);
/* Open a list, a sexp or a struct. IONF_ERR_DEPTH at max_depth; IONF_ERR_RESERVED for a top-level
 * struct that readers would take for a symbol table. */
IONF_MUST_CHECK ionf_status ionf_txt_write_begin(ionf_txt_writer *w, ionf_kind kind);
/* Close the innermost container. IONF_ERR_STATE when none is open or a prefix has no value. */
IONF_MUST_CHECK ionf_status ionf_txt_write_end(ionf_txt_writer *w);

/* `text` as it is where a value could stand: for what is Ion text already. */
IONF_MUST_CHECK ionf_status ionf_txt_write_raw(ionf_txt_writer *w, const char *text, size_t len);
/* What must stand before the values, at top level: $ion_1_0 if `with_ivm`, and a local symbol
 * table if `map` has imports (its locals are not needed: text spells them out). */
IONF_MUST_CHECK ionf_status ionf_txt_write_head(ionf_txt_writer *w, const ionf_symmap *map,
                                                bool with_ivm);

/* ---- undoing a value that failed half-way, so that the writer can go on */

typedef struct ionf_txt_mark {
    size_t out_len;
    uint32_t depth;
    uint8_t frame; /* the innermost one */
    bool has_value, has_prefix, is_reserved;
} ionf_txt_mark;

/* Where the writer is, before a field name, annotation or value. */
ionf_txt_mark ionf_txt_writer_mark(const ionf_txt_writer *w);
/* Forget what was written since `mark`, which must come from this output and from a container
 * still open. Cannot fail. */
void ionf_txt_writer_rollback(ionf_txt_writer *w, const ionf_txt_mark *mark);

#endif
