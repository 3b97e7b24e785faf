/* What the binary and the text reader share: the window on the input, the error, the symbol table.
 *
 * A reader works on a window of contiguous bytes. One-shot reading has one window, the whole
 * input, with is_final set. Incremental reading hands over a new window whenever the reader has
 * answered IONF_NEED_DATA: its first byte is the first one not consumed yet, so that stream
 * offsets go on.
 *
 *   stream  |······ consumed ······|======= window =======|····· not arrived ·····|
 *                                  start   ^p          end
 *                                  base_offset = stream offset of start
 *
 * next() is a pull: after a container's token the reader is inside it, and gives its children and
 * then IONF_KIND_END. A null container has no inside. Version markers, NOP padding and local
 * symbol tables are dealt with on the way and never reported. The first error is sticky. Not so
 * IONF_ERR_INTERRUPTED, which any call that moves may give when the owner's allocator says so: as after
 * IONF_NEED_DATA nothing of the unfinished value is consumed, and the same call goes on.
 */
#ifndef IONF_READER_H
#define IONF_READER_H

#include "ionf_buf.h"
#include "ionf_status.h"
#include "ionf_symtab.h"
#include "ionf_token.h"

typedef struct ionf_reader {
    const uint8_t *p;     /* next byte to read */
    const uint8_t *end;   /* end of the window; in text of what the inline half may see of it */
    const uint8_t *start; /* start of the window */
    uint64_t base_offset; /* stream offset of start */
    bool is_final;        /* nothing follows the window */
    uint32_t depth;       /* open containers */
    ionf_limits limits;
    /* Stream offset where the current top-level value began (text only: a binary header tells the
     * size before the content is read). */
    uint64_t value_offset;
    /* Lines before the window, kept when it moves, so that an error's line is right. */
    uint64_t base_line;   /* line feeds (and lone CRs) before start */
    uint64_t base_column; /* code points between the last of them and start */
    ionf_symtab symtab;
    ionf_lst lst;
    bool in_lst; /* the tokens now read belong to a local symbol table */
    ionf_error error;
    ionf_alloc alloc;
} ionf_reader;

static inline uint64_t
ionf_reader_offset(const ionf_reader *r, const uint8_t *p)
{
    return r->base_offset + (uint64_t)(p - r->start);
}

/* Record that reading failed at `at` (in the window) and give `status` back. The first failure is
 * kept: a later one changes nothing and gets the first one's status. Lines and columns stay 0: the
 * text reader fills them in. `expected` is static text or NULL; `found` a byte, a code point,
 * IONF_FOUND_END or IONF_FOUND_NONE. */
IONF_NOINLINE ionf_status ionf_reader_fail(ionf_reader *r, ionf_status status, const uint8_t *at,
                                           int32_t found, const char *expected);

/* Where an empty window points, so that no arithmetic is done on NULL. */
extern const uint8_t ionf_reader_nothing[1];
extern const ionf_error ionf_no_error;

/* Everything that belongs to one stream, apart from the symbol table and the limits, which come with the
 * next stream. Half of the reset below, not for others. */
static inline void
ionf_reader_stream_clear(ionf_reader *r)
{
    r->start = r->p =
        r->end; /* an empty window, wherever the last one ended: nobody reads there */
    r->base_offset = 0;
    r->is_final = true;
    r->depth = 0;
    r->value_offset = 0;
    r->base_line = 0;
    r->base_column = 0;
    r->in_lst = false;
    if (IONF_UNLIKELY(r->error.status != IONF_OK)) {
        r->error = ionf_no_error;
    }
}

static inline void
ionf_reader_window_set(ionf_reader *r, const uint8_t *data, size_t len, bool is_final)
{
    r->start = r->p = len == 0 ? ionf_reader_nothing : data;
    r->end = r->start + len;
    r->is_final = is_final;
}

/* The life of the shared part. `init` allocates nothing; the reader must not move in memory after
 * it. `reset` cannot fail: as after init, apart from kept capacity; shared tables are released.
 * `open` needs a reader fresh from init or reset. Reset and open are most of what a short stream costs. */
void ionf_reader_base_init(ionf_reader *r, ionf_alloc alloc);
static inline void
ionf_reader_base_reset(ionf_reader *r)
{
    if (IONF_UNLIKELY(!ionf_lst_is_clean(&r->lst))) {
        ionf_lst_reset(&r->lst);
    }
    ionf_symtab_reset(&r->symtab);
    ionf_reader_stream_clear(r);
}
void ionf_reader_base_destroy(ionf_reader *r);
/* Bytes kept by the symbol table and the staged rows of its reader. */
size_t ionf_reader_base_retained(const ionf_reader *r);
/* `data` is borrowed until the next window or the reset, `catalog` until the reset. `data` may be
 * NULL when `len` is 0; `catalog` may be NULL. */
static inline void
ionf_reader_base_open(ionf_reader *r, const uint8_t *data, size_t len, bool is_final,
                      const ionf_limits *limits, const ionf_catalog *catalog)
{
    ionf_reader_window_set(r, data, len, is_final);
    r->limits = *limits;
    r->symtab.catalog = catalog;
}
/* The bytes before `p` may go now: gives how many of them there are. Stream offsets go on; base_line and
 * base_column are the text reader's affair, before it calls this. */
size_t ionf_reader_base_release(ionf_reader *r);
/* Another window: data[0] is the byte that `p` points at now. */
void ionf_reader_base_window(ionf_reader *r, const uint8_t *data, size_t len, bool is_final);

/* A local symbol table begins: the tokens that follow, up to the struct's END, go to
 * ionf_reader_lst_token. A null.struct counts as an empty one: see ionf_reader_lst_null. */
static inline void
ionf_reader_lst_begin(ionf_reader *r)
{
    r->in_lst = true;
    ionf_lst_begin(&r->lst);
}
/* Feed one token inside the local symbol table. in_lst is false again once the table is committed.
 * On failure the error is recorded at `at`. */
IONF_MUST_CHECK ionf_status ionf_reader_lst_token(ionf_reader *r, const ionf_token *token,
                                                  const uint8_t *at);
/* A null.struct annotated with $ion_symbol_table: a table without imports and symbols. */
IONF_MUST_CHECK ionf_status ionf_reader_lst_null(ionf_reader *r, const uint8_t *at);

#endif
