/* The transcoder: tokens of any reader -> binary or text, symbols carried over from one symbol table
 * to another, no value built in between. Knows the writers; of readers only the token and the table.
 * Specification: symbols.md, "Local Symbol Tables", "Imports", "Data Model".
 *
 *   source    token: SID 12 --- source's table ---> "name" --- this output's symbol map ---> SID 10
 *                       '------------- remembered for each local SID -------------------------^
 *
 * A symbol whose text nobody knows is written by its place: the output imports the same table again.
 * Imports stand before local symbols, so a source table that brings other such imports starts another
 * output context: what was written is flushed, and a version marker follows.
 *
 * Text Ion gets its tables too, where they are needed, and spells out all other symbols.
 */
#ifndef IONF_TRANSCODE_H
#define IONF_TRANSCODE_H

#include "ionf_bin_write.h"
#include "ionf_txt_write.h"

typedef struct ionf_transcoder {
    ionf_alloc alloc;
    bool is_binary;
    ionf_bin_writer *bin;      /* borrowed, with its body; its symbol map serves text too */
    ionf_txt_writer *txt;      /* borrowed, with its output */
    ionf_buf *out;             /* borrowed: finished bytes; for text the writer's own output */
    bool needs_marker;         /* a version marker comes before what is written next */
    size_t given_import_count; /* binary: imports of every context, whatever the source has */

    /* What is known of the source's table. */
    bool has_source;
    uint64_t generation;
    bool is_visible;    /* the table had symbols above the system's */
    size_t local_count; /* its local symbols that have been looked at for text */
    uint64_t gap_sid;   /* output SID of a local symbol without text, 0: none yet */
    uint64_t
        *sids; /* owned: output SID, 0 where none yet; slot: SID 1 .. 9, 10 + index of local */
    size_t sid_count, sid_cap;

    uint64_t *annotations; /* owned: output SIDs of one token's annotations */
    size_t annotation_cap;

    bool in_value;          /* a top-level value has begun */
    ionf_bin_mark bin_mark; /* where it did */
    ionf_txt_mark txt_mark;
} ionf_transcoder;

/* Allocates nothing. Both writers are fresh from init or reset, their body and output set, and stay
 * the transcoder's until it is destroyed. The symbol map may have imports for a binary output's every
 * context; for text it has none. `out` is for binary, NULL for text. Their depth limit is
 * lifted: the reader has one. `with_marker`: text too starts with $ion_1_0. */
void ionf_transcoder_init(ionf_transcoder *t, ionf_alloc alloc, ionf_bin_writer *bin,
                          ionf_txt_writer *txt, bool is_binary, ionf_buf *out, bool with_marker);
void ionf_transcoder_destroy(ionf_transcoder *t);

/* One token, IONF_KIND_END included, IONF_KIND_EOF not; SIDs in it are those of `tab`. After a
 * failure, IONF_ERR_INTERRUPTED among them: ionf_transcode_abandon, and no other token. */
IONF_MUST_CHECK ionf_status ionf_transcode_token(ionf_transcoder *t, const ionf_symtab *tab,
                                                 const ionf_token *token);
/* Forget the part of a top-level value that has been written. Cannot fail. */
void ionf_transcode_abandon(ionf_transcoder *t);

/* Open containers. */
static inline uint32_t
ionf_transcode_depth(const ionf_transcoder *t)
{
    return t->is_binary ? t->bin->depth : t->txt->depth;
}
/* Bytes that wait: for a flush, and finished ones, of contexts that have ended, to be taken. */
static inline size_t
ionf_transcode_pending(const ionf_transcoder *t)
{
    return t->out->len + (t->is_binary ? t->bin->body->len : 0);
}
/* At depth 0: everything so far becomes finished bytes in t->out, which the caller may take and
 * empty at any time. On failure nothing has changed. */
IONF_MUST_CHECK ionf_status ionf_transcode_flush(ionf_transcoder *t);
/* The same at the end of the stream; a stream without values is a version marker alone. */
IONF_MUST_CHECK ionf_status ionf_transcode_finish(ionf_transcoder *t);

#endif
