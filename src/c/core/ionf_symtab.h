/* Symbol tables: the system table, shared tables, local tables with their imports, and the machine
 * that reads a local symbol table out of a stream of tokens. Ion specification, "Symbols".
 *
 * A table costs what is looked up in it: an import is one row (shared table, first SID, length),
 * slots without text are never materialised, SIDs are 64-bit.
 *
 *   SID   0 | 1 ........ 9 | 10 .......... | ............. | local_first ......... max_id
 *           | system table | imports[0]    | imports[1]    | locals[0] ...
 *
 * The symbols of a local table stand in `text` as binary Ion writes a list of strings, whatever they were
 * read from. So a row is no more than where its symbol begins, and a binary table, whose bytes are mostly
 * just these and a few before them, is recognised by them when it comes again.
 *
 *   text    [name of an import]... [before] [8L][symbol] [8E][VarUInt][longer symbol] [0F] ...
 *                                            ^ locals[0]  ^ locals[1]                  ^ locals[2]: a gap
 */
#ifndef IONF_SYMTAB_H
#define IONF_SYMTAB_H

#include "ionf_alloc.h"
#include "ionf_buf.h"
#include "ionf_token.h"

#define IONF_SYSTEM_MAX_ID 9

/* SIDs of the system symbol table. */
enum {
    IONF_SID_ION = 1,                    /* $ion */
    IONF_SID_ION_1_0 = 2,                /* $ion_1_0 */
    IONF_SID_ION_SYMBOL_TABLE = 3,       /* $ion_symbol_table */
    IONF_SID_NAME = 4,                   /* name */
    IONF_SID_VERSION = 5,                /* version */
    IONF_SID_IMPORTS = 6,                /* imports */
    IONF_SID_SYMBOLS = 7,                /* symbols */
    IONF_SID_MAX_ID = 8,                 /* max_id */
    IONF_SID_ION_SHARED_SYMBOL_TABLE = 9 /* $ion_shared_symbol_table */
};

/* Text of a system SID, 1 .. 9. */
ionf_slice ionf_system_symbol(uint64_t sid);
/* SID of a system symbol's text, or 0. */
uint64_t ionf_system_sid(const uint8_t *text, size_t len);

/* A shared symbol table as the core sees it. Immutable once made; reference-counted by its owner
 * through retain/release, which must be callable wherever a reader is used. */
typedef struct ionf_shared {
    ionf_slice name;
    uint32_t version;
    uint64_t max_id;
    const ionf_slice *symbols; /* max_id of them; data == NULL: a gap without text */
    void (*retain)(const struct ionf_shared *shared);
    void (*release)(const struct ionf_shared *shared);
    void *owner;
} ionf_shared;

/* A shared table for owners that have none of their own: everything is copied into one block, and
 * retain and release count atomically. `symbols[i].data` NULL is a gap. `*out` starts with one
 * reference, the caller's. IONF_ERR_SYMTAB when the name is empty or the version 0. */
IONF_MUST_CHECK ionf_status ionf_shared_create(const ionf_alloc *a, ionf_slice name,
                                               uint32_t version, const ionf_slice *symbols,
                                               uint64_t count, ionf_shared **out);

/* Where imports are looked up. `find` gives a RETAINED table with this name: of this version if
 * there is one, else of the greatest version, else NULL. It must not call back into the reader. */
typedef struct ionf_catalog {
    const ionf_shared *(*find)(void *ctx, ionf_slice name, uint32_t version);
    void *ctx;
} ionf_catalog;

typedef struct ionf_import {
    size_t name_start; /* in symtab.text */
    size_t name_len;
    uint32_t version;
    uint64_t first_sid;
    uint64_t length;           /* SIDs it takes: the declared max_id, or the shared table's */
    const ionf_shared *shared; /* retained; NULL when the catalog has none */
} ionf_import;

/* What stands for a symbol without text: null, or a value that is not a string. */
#define IONF_SYMTAB_GAP 0x0F

/* The symbol at `*p`, which moves behind it, as binary Ion writes it; data NULL: a gap. For bytes of our own,
 * about which nothing need be checked. */
static inline ionf_slice
ionf_symtab_take(const uint8_t **p)
{
    const uint8_t *text = *p + 1;
    size_t len = **p & 15u;
    if (IONF_UNLIKELY(len == 15)) {
        *p = text;
        return (ionf_slice){NULL, 0};
    }
    if (len == 14) {
        uint8_t group;
        len = 0;
        do {
            group = *text++;
            len = len << 7 | (group & 0x7Fu);
        } while (group < 0x80);
    }
    *p = text + len;
    return (ionf_slice){text, len};
}

typedef struct ionf_symtab {
    ionf_alloc alloc;
    const ionf_catalog *catalog; /* borrowed until the next reset; NULL: none */
    uint64_t max_id; /* greatest SID that may be used now; IONF_SYSTEM_MAX_ID after an IVM */
    uint64_t
        generation; /* changes whenever the meaning of an SID above 9 may have changed; an append
                          * and a repeated table leave it alone, so caches by SID stay true */
    ionf_import *imports; /* owned */
    size_t import_count, import_cap;
    uint64_t local_first;
    uint32_t *locals; /* owned; where each symbol begins in text */
    size_t local_count, local_cap;
    ionf_buf text;

    /* The last local symbol table as bytes (binary, whole struct content), to recognise a repeat:
     * what the arrays above hold is its resolved form, even while an IVM has hidden it. They are
     * in text, from raw_start on, or, where they are not just those that stand there, in raw. */
    ionf_buf raw;
    size_t raw_start, raw_len;
    bool raw_is_in_text;
    bool raw_is_valid;
    bool locals_are_ascii;           /* false: some may not be */
    const ionf_catalog *raw_catalog; /* what it was resolved against */
    uint64_t raw_max_id;
} ionf_symtab;

/* Allocates nothing. */
void ionf_symtab_init(ionf_symtab *tab, ionf_alloc alloc);
/* Forget the resolved rows: half of the reset below, not for others. */
void ionf_symtab_drop_rows(ionf_symtab *tab);
/* Ready for another stream: system table only, catalog gone. Keeps capacity and the last resolved
 * table for recognition, except when it holds imports (their tables are released). Cannot fail. */
static inline void
ionf_symtab_reset(ionf_symtab *tab)
{
    if (IONF_UNLIKELY(tab->import_count != 0)) {
        ionf_symtab_drop_rows(tab);
    }
    tab->catalog = NULL;
    tab->raw_catalog = NULL;
    tab->max_id = IONF_SYSTEM_MAX_ID;
}
void ionf_symtab_destroy(ionf_symtab *tab);
/* Bytes retained, for pools that cap them. */
size_t ionf_symtab_retained(const ionf_symtab *tab);
/* An IVM: only system symbols from here on. Keeps the resolved form for recognition. */
static inline void
ionf_symtab_ivm(ionf_symtab *tab)
{
    tab->max_id = IONF_SYSTEM_MAX_ID;
}

/* What a SID means. */
typedef struct ionf_symbol {
    const uint8_t *text; /* borrowed until the table changes; NULL: unknown text */
    size_t len;
    bool is_ascii;
    /* Unknown text from an import; SID 0 and local slots without text have no import_name. */
    ionf_slice import_name;
    uint32_t import_version;
    uint64_t import_sid; /* from 1, within the imported table */
    /* The imported table that the SID falls in and the 0-based index there; NULL, 0 elsewhere. */
    const ionf_shared *shared;
    uint64_t shared_index;
} ionf_symbol;

/* Look up `sid` <= max_id; IONF_ERR_SID beyond. */
IONF_MUST_CHECK ionf_status ionf_symtab_find(const ionf_symtab *tab, uint64_t sid,
                                             ionf_symbol *out);
/* Has the local symbol with this index, below local_count, a text? */
static inline bool
ionf_symtab_has_text(const ionf_symtab *tab, size_t local)
{
    return tab->text.data[tab->locals[local]] != IONF_SYMTAB_GAP;
}

/* Try to recognise the content of a binary `$ion_symbol_table` struct as the last table: true when
 * the bytes, and the catalog, are the same; the table is current then, and nothing left to do. */
bool ionf_symtab_recognise(ionf_symtab *tab, const uint8_t *content, size_t len);
/* Remember the bytes that the table just committed came from: only where ionf_lst_is_memorable
 * says so. A failure to allocate only means that a repeat will not be recognised. */
void ionf_symtab_remember(ionf_symtab *tab, const uint8_t *content, size_t len);

/* ---- reading a local symbol table: a push machine over tokens, so that an incremental reader can
 * stop between any two of them. The reader feeds every token inside the struct, ENDs included;
 * the END of the struct itself commits. Until then `tab` stays as it was. */
typedef struct ionf_lst {
    ionf_symtab *tab;
    uint8_t state;
    uint64_t skip_depth; /* open containers of content that means nothing here */
    bool seen_symbols, seen_imports, is_append;
    /* The bytes mean the same whatever table they are read under: no SID above 9 among them. */
    bool is_context_free;
    ionf_slice content;   /* borrowed: see ionf_lst_begin; else NULL */
    const char *expected; /* static text, set with every error but IONF_ERR_NOMEM; else NULL */
    /* the import being read */
    size_t name_start, name_len;
    bool has_name;   /* of a usable name: a non-empty string other than "$ion" */
    bool has_max_id; /* of a usable one */
    uint8_t seen;    /* bits of the fields met, usable or not */
    uint64_t version, max_id;
    uint64_t next_sid; /* first SID behind the imports staged so far */
    bool is_exact;     /* every import staged so far is that very version */
    bool locals_are_ascii;
    /* staged rows, swapped with the table's on commit */
    ionf_import *imports;
    size_t import_count, import_cap;
    uint32_t *locals;
    size_t local_count, local_cap;
    ionf_buf text;
} ionf_lst;

void ionf_lst_init(ionf_lst *lst, ionf_symtab *tab);
/* Drop what is staged, releasing its shared tables; keeps capacity. Cannot fail. */
void ionf_lst_reset(ionf_lst *lst);
/* Would a reset change nothing? Most streams are so small that asking is worth it. */
static inline bool
ionf_lst_is_clean(const ionf_lst *lst)
{
    return lst->import_count == 0 && lst->local_count == 0 && lst->text.len == 0 &&
           lst->expected == NULL;
}
void ionf_lst_destroy(ionf_lst *lst);
size_t ionf_lst_retained(const ionf_lst *lst);
/* A struct annotated with $ion_symbol_table first begins at top level. Cannot fail.
 * Where all of its content is at hand, in binary, set `content` to it afterwards, and to NULL again should it
 * move: then room is made for just what it holds, and remembering it takes no more. */
void ionf_lst_begin(ionf_lst *lst);
/* One token inside it. `*is_done` when the table has been committed. Errors: IONF_ERR_SYMTAB,
 * IONF_ERR_IMPORT (no exact match in the catalog and no max_id), IONF_ERR_NOMEM. */
IONF_MUST_CHECK ionf_status ionf_lst_token(ionf_lst *lst, const ionf_token *token, bool *is_done);
/* After the commit: do the same bytes always make the same table? Not an append, no SID that needs
 * the table before, no import that the catalog could yet answer better. */
static inline bool
ionf_lst_is_memorable(const ionf_lst *lst)
{
    return !lst->is_append && lst->is_context_free && lst->is_exact;
}

/* Is `sid` a symbol with this text? False for unknown text and beyond max_id. */
bool ionf_symtab_is_text(const ionf_symtab *tab, uint64_t sid, const char *text, size_t len);

#endif
