/* Tokens -> writers, and the symbols in between. Specification: symbols.md. */
#include "ionf_transcode.h"

#include <assert.h>

#define WRITE(t, operation, ...)                                                                  \
    ((t)->is_binary ? ionf_bin_write_##operation((t)->bin, __VA_ARGS__)                           \
                    : ionf_txt_write_##operation((t)->txt, __VA_ARGS__))

void
ionf_transcoder_init(ionf_transcoder *t, ionf_alloc alloc, ionf_bin_writer *bin,
                     ionf_txt_writer *txt, bool is_binary, ionf_buf *out, bool with_marker)
{
    memset(t, 0, sizeof *t);
    t->alloc = alloc;
    t->is_binary = is_binary;
    t->bin = bin;
    t->txt = txt;
    t->out = is_binary ? out : txt->out;
    t->needs_marker = is_binary || with_marker;
    t->given_import_count = is_binary ? bin->symbols.import_count : 0;
    bin->max_depth = txt->max_depth = UINT32_MAX;
}

void
ionf_transcoder_destroy(ionf_transcoder *t)
{
    ionf_alloc_free(&t->alloc, t->sids, t->sid_cap * sizeof *t->sids);
    ionf_alloc_free(&t->alloc, t->annotations, t->annotation_cap * sizeof *t->annotations);
    t->sids = t->annotations = NULL;
    t->sid_count = t->sid_cap = t->annotation_cap = 0;
}

static inline ionf_symmap *
symbols_of(const ionf_transcoder *t)
{
    return &t->bin->symbols;
}

/* ---- imports that are not known in full */

/* A shared table of which only the name and the size are known. */
typedef struct unknown_table {
    ionf_shared shared;
    ionf_alloc alloc;
    size_t size; /* of this block; the name follows the struct */
    size_t references;
} unknown_table;

static void
unknown_retain(const ionf_shared *shared)
{
    ((unknown_table *)shared->owner)->references++;
}

static void
unknown_release(const ionf_shared *shared)
{
    unknown_table *const table = shared->owner;
    if (--table->references == 0) {
        const ionf_alloc alloc = table->alloc;
        ionf_alloc_free(&alloc, table, table->size);
    }
}

static ionf_slice
import_name(const ionf_symtab *tab, const ionf_import *import)
{
    const ionf_slice name = {tab->text.data + import->name_start, import->name_len};
    return name;
}

/* Import the table of `import` into the output's context. */
static ionf_status
add_import(ionf_transcoder *t, const ionf_symtab *tab, const ionf_import *import)
{
    const ionf_slice name = import_name(tab, import);
    const size_t size = sizeof(unknown_table) + name.len;
    unknown_table *const table = ionf_alloc_new(&t->alloc, size);
    if (table == NULL) {
        return IONF_ERR_NOMEM;
    }
    uint8_t *const copy = (uint8_t *)(table + 1);
    if (name.len != 0) {
        memcpy(copy, name.data, name.len);
    }
    *table = (unknown_table){
        .shared = {.name = {copy, name.len},
                   .version = import->version,
                   .max_id = import->length,
                   .retain = unknown_retain,
                   .release = unknown_release,
                   .owner = table},
        .alloc = t->alloc,
        .size = size,
        .references = 1,
    };
    const ionf_status status = ionf_symmap_import_add(symbols_of(t), &table->shared);
    unknown_release(&table->shared);
    return status == IONF_ERR_STATE ? IONF_ERR_RANGE : status;
}

/* Past so many symbols a table is taken to have gaps: looking would cost more than an import. */
#define GAP_SEARCH_MAX 4096

/* May an SID of this import have no text? */
static bool
is_incomplete(const ionf_import *import)
{
    const ionf_shared *const shared = import->shared;
    if (shared == NULL || shared->max_id < import->length || import->length > GAP_SEARCH_MAX) {
        return import->length != 0;
    }
    for (uint64_t i = 0; i < import->length; i++) {
        if (shared->symbols[i].data == NULL) {
            return true;
        }
    }
    return false;
}

static bool
slice_equals(ionf_slice a, ionf_slice b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

/* SID in the output of the symbol at `position` (from 1) of table `name`, or 0. */
static uint64_t
imported_sid(const ionf_symmap *map, ionf_slice name, uint64_t position)
{
    for (size_t i = 0; i < map->import_count; i++) {
        const ionf_symmap_import *const import = &map->imports[i];
        if (position <= import->length && slice_equals(import->shared->name, name)) {
            return import->first_sid + position - 1;
        }
    }
    return 0;
}

/* Does the output's context have a place for each symbol without text of this import? */
static bool
has_import(const ionf_transcoder *t, const ionf_symtab *tab, const ionf_import *import)
{
    return !is_incomplete(import) ||
           imported_sid(symbols_of(t), import_name(tab, import), import->length) != 0;
}

/* And of the source's whole table? */
static bool
has_all_imports(const ionf_transcoder *t, const ionf_symtab *tab)
{
    for (size_t i = 0; i < tab->import_count; i++) {
        if (!has_import(t, tab, &tab->imports[i])) {
            return false;
        }
    }
    return true;
}

static void
forget_sids(ionf_transcoder *t)
{
    if (t->sid_count != 0) {
        memset(t->sids, 0, t->sid_count * sizeof *t->sids);
    }
    t->sid_count = 0;
}

/* Is there a local symbol without text from index `first` on? */
static bool
has_gap(const ionf_symtab *tab, size_t first)
{
    for (size_t i = first; i < tab->local_count; i++) {
        if (!ionf_symtab_has_text(tab, i)) {
            return true;
        }
    }
    return false;
}

/* Text declares a gap before the values; in binary it is a symbol among the others. */
static bool
lacks_gap(const ionf_transcoder *t, const ionf_symtab *tab)
{
    const size_t first = t->generation == tab->generation ? t->local_count : 0;
    return !t->is_binary && t->gap_sid == 0 && has_gap(tab, first);
}

/* Another output context, with the given imports and those that the source's table needs. */
static ionf_status
start_context(ionf_transcoder *t, const ionf_symtab *tab)
{
    ionf_status status = ionf_transcode_flush(t);
    if (status != IONF_OK) {
        return status;
    }
    ionf_symmap_keep_imports(symbols_of(t), t->given_import_count);
    forget_sids(t);
    t->gap_sid = 0;
    t->needs_marker = t->needs_marker || t->is_binary;
    for (size_t i = 0; status == IONF_OK && i < tab->import_count; i++) {
        if (!has_import(t, tab, &tab->imports[i])) {
            status = add_import(t, tab, &tab->imports[i]);
        }
    }
    if (status == IONF_OK && !t->is_binary) {
        if (has_gap(tab, 0)) {
            status = ionf_symmap_gap(symbols_of(t), &t->gap_sid);
        }
        if (status != IONF_OK) {
            return status;
        }
        status = ionf_txt_write_head(t->txt, symbols_of(t), t->needs_marker);
        t->needs_marker = false;
    }
    return status;
}

/* Before a top-level value: the source's table may be another one. */
static ionf_status
follow_source(ionf_transcoder *t, const ionf_symtab *tab)
{
    const bool is_visible = tab->max_id > IONF_SYSTEM_MAX_ID;
    if (IONF_LIKELY(t->has_source && t->generation == tab->generation &&
                    t->is_visible == is_visible && t->local_count == tab->local_count)) {
        return IONF_OK;
    }
    if (is_visible && (!has_all_imports(t, tab) || lacks_gap(t, tab))) {
        const ionf_status status = start_context(t, tab);
        if (status != IONF_OK) {
            return status;
        }
    }
    if (t->generation != tab->generation) {
        forget_sids(t);
    }
    t->has_source = true;
    t->generation = tab->generation;
    t->is_visible = is_visible;
    t->local_count = tab->local_count;
    return IONF_OK;
}

/* ---- symbols */

/* The output SID of a source's symbol without text: $0 is itself, a symbol of an import keeps its place
 * there, and all gaps of local tables are one symbol. */
static ionf_status
unknown_sid(ionf_transcoder *t, const ionf_symbol *symbol, uint64_t source, uint64_t *out)
{
    if (source == 0) {
        *out = 0;
        return IONF_OK;
    }
    if (symbol->import_name.data != NULL) {
        *out = imported_sid(symbols_of(t), symbol->import_name, symbol->import_sid);
        return IONF_OK;
    }
    if (t->gap_sid == 0) {
        const ionf_status status = ionf_symmap_gap(symbols_of(t), &t->gap_sid);
        if (status != IONF_OK) {
            return status;
        }
    }
    *out = t->gap_sid;
    return IONF_OK;
}

/* For text: what the source's symbol is called. */
static ionf_status
symbol_text(ionf_transcoder *t, const ionf_symtab *tab, const ionf_symref *source,
            ionf_symref *out)
{
    if (source->text != NULL) {
        *out = *source;
        return IONF_OK;
    }
    ionf_symbol symbol;
    const ionf_status status = ionf_symtab_find(tab, source->sid, &symbol);
    if (status != IONF_OK) {
        return status;
    }
    *out = (ionf_symref){symbol.text, symbol.len, 0, symbol.is_ascii};
    return symbol.text == NULL ? unknown_sid(t, &symbol, source->sid, &out->sid) : IONF_OK;
}

/* The place where the output SID of a local or system symbol is remembered; NULL for the others and
 * where there is no memory for it. */
static uint64_t *
sid_slot(ionf_transcoder *t, const ionf_symtab *tab, uint64_t sid)
{
    size_t slot = (size_t)sid;
    if (sid > IONF_SYSTEM_MAX_ID) {
        if (sid < tab->local_first) {
            return NULL;
        }
        slot = (size_t)(sid - tab->local_first) + IONF_SYSTEM_MAX_ID + 1;
    }
    if (IONF_UNLIKELY(slot >= t->sid_count)) {
        const size_t count = tab->local_count + IONF_SYSTEM_MAX_ID + 1;
        void *sids = t->sids;
        if (ionf_alloc_grow(&t->alloc, &sids, &t->sid_cap, count, sizeof *t->sids) != IONF_OK) {
            return NULL;
        }
        t->sids = sids;
        memset(t->sids + t->sid_count, 0, (count - t->sid_count) * sizeof *t->sids);
        t->sid_count = count;
    }
    return &t->sids[slot];
}

static IONF_NOINLINE ionf_status
find_sid(ionf_transcoder *t, const ionf_symtab *tab, uint64_t sid, uint64_t *out)
{
    ionf_symbol symbol;
    const ionf_status status = ionf_symtab_find(tab, sid, &symbol);
    if (status != IONF_OK) {
        return status;
    }
    if (symbol.text == NULL) {
        return unknown_sid(t, &symbol, sid, out);
    }
    return ionf_symmap_intern(symbols_of(t), symbol.text, symbol.len, out);
}

/* For binary: the source's symbol in the output's table. */
static ionf_status
symbol_sid(ionf_transcoder *t, const ionf_symtab *tab, const ionf_symref *source, uint64_t *out)
{
    if (source->text != NULL) {
        return ionf_symmap_intern(symbols_of(t), source->text, source->len, out);
    }
    uint64_t *const slot = sid_slot(t, tab, source->sid);
    if (IONF_LIKELY(slot != NULL && *slot != 0)) {
        *out = *slot;
        return IONF_OK;
    }
    const ionf_status status = find_sid(t, tab, source->sid, out);
    if (status == IONF_OK && slot != NULL) {
        *slot = *out;
    }
    return status;
}

/* ---- values */

static ionf_status
write_field(ionf_transcoder *t, const ionf_symtab *tab, const ionf_symref *field)
{
    if (t->is_binary) {
        uint64_t sid;
        const ionf_status status = symbol_sid(t, tab, field, &sid);
        return IONF_LIKELY(status == IONF_OK) ? ionf_bin_write_field(t->bin, sid) : status;
    }
    ionf_symref name;
    const ionf_status status = symbol_text(t, tab, field, &name);
    return IONF_LIKELY(status == IONF_OK) ? ionf_txt_write_field(t->txt, &name) : status;
}

static ionf_status
write_symbol(ionf_transcoder *t, const ionf_symtab *tab, const ionf_symref *symbol)
{
    if (t->is_binary) {
        uint64_t sid;
        const ionf_status status = symbol_sid(t, tab, symbol, &sid);
        return status == IONF_OK ? ionf_bin_write_symbol(t->bin, sid) : status;
    }
    ionf_symref name;
    const ionf_status status = symbol_text(t, tab, symbol, &name);
    return status == IONF_OK ? ionf_txt_write_symbol(t->txt, &name) : status;
}

/* Annotations written between two questions to the owner. */
#define ANNOTATIONS_A_STEP 65536

/* Before annotation `i`. */
static inline ionf_status
look_around(const ionf_transcoder *t, size_t i)
{
    return IONF_LIKELY((i + 1) % ANNOTATIONS_A_STEP != 0) ? IONF_OK : ionf_alloc_ask(&t->alloc);
}

static ionf_status
write_annotations_binary(ionf_transcoder *t, const ionf_symtab *tab, const ionf_token *token)
{
    void *sids = t->annotations;
    ionf_status status = ionf_alloc_grow(&t->alloc, &sids, &t->annotation_cap,
                                         token->annotation_count, sizeof *t->annotations);
    t->annotations = sids;
    for (size_t i = 0; status == IONF_OK && i < token->annotation_count; i++) {
        status = look_around(t, i);
        if (status == IONF_OK) {
            status = symbol_sid(t, tab, &token->annotations[i], &t->annotations[i]);
        }
    }
    return status == IONF_OK
               ? ionf_bin_write_annotations(t->bin, t->annotations, token->annotation_count)
               : status;
}

static ionf_status
write_annotations(ionf_transcoder *t, const ionf_symtab *tab, const ionf_token *token)
{
    if (t->is_binary) {
        return write_annotations_binary(t, tab, token);
    }
    ionf_status status = IONF_OK;
    for (size_t i = 0; status == IONF_OK && i < token->annotation_count; i++) {
        ionf_symref name = {NULL, 0, 0, false};
        status = look_around(t, i);
        if (status == IONF_OK) {
            status = symbol_text(t, tab, &token->annotations[i], &name);
        }
        if (status == IONF_OK) {
            status = ionf_txt_write_annotation(t->txt, &name);
        }
    }
    return status;
}

/* A value but for its names; of a container only the beginning. */
static ionf_status
write_value(ionf_transcoder *t, const ionf_symtab *tab, const ionf_token *token)
{
    const ionf_kind kind = (ionf_kind)token->kind;
    if (IONF_UNLIKELY(token->is_null)) {
        return WRITE(t, null, kind);
    }
    switch (kind) {
    case IONF_KIND_BOOL:
        return WRITE(t, bool, token->as.boolean);
    case IONF_KIND_INT:
        return WRITE(t, integer, &token->as.integer);
    case IONF_KIND_FLOAT:
        return WRITE(t, double, token->as.f64);
    case IONF_KIND_DECIMAL:
        return WRITE(t, decimal, &token->as.decimal);
    case IONF_KIND_TIMESTAMP:
        return WRITE(t, timestamp, &token->as.timestamp);
    case IONF_KIND_SYMBOL:
        return write_symbol(t, tab, &token->as.symbol);
    case IONF_KIND_STRING:
        return WRITE(t, string, token->as.bytes.data, token->as.bytes.len);
    case IONF_KIND_CLOB:
    case IONF_KIND_BLOB:
        return WRITE(t, lob, kind, token->as.bytes.data, token->as.bytes.len);
    case IONF_KIND_LIST:
    case IONF_KIND_SEXP:
    case IONF_KIND_STRUCT:
        return WRITE(t, begin, kind);
    case IONF_KIND_NULL: /* is_null says so */
    case IONF_KIND_END:
    case IONF_KIND_EOF:
        break;
    }
    return IONF_ERR_STATE;
}

static ionf_status
start_top_level(ionf_transcoder *t, const ionf_symtab *tab)
{
    if (t->is_binary) { /* what follow_source flushes is no part of this value */
        const ionf_status status = follow_source(t, tab);
        t->bin_mark = ionf_bin_writer_mark(t->bin);
        t->in_value = status == IONF_OK;
        return status;
    }
    t->txt_mark = ionf_txt_writer_mark(t->txt);
    t->in_value = true;
    ionf_status status = follow_source(t, tab);
    if (status == IONF_OK && t->needs_marker) {
        status = ionf_txt_write_head(t->txt, symbols_of(t), true);
        t->needs_marker = status != IONF_OK;
    }
    return status;
}

/* A value is complete: so is the wrapper that it may stand in. */
static ionf_status
end_value(ionf_transcoder *t)
{
    const ionf_bin_writer *const bin = t->bin;
    ionf_status status = IONF_OK;
    if (t->is_binary && bin->frame_count != 0 &&
        bin->frames[bin->frame_count - 1].kind == IONF_FRAME_ANNOTATION) {
        status = ionf_bin_write_annotations_end(t->bin);
    }
    t->in_value = status != IONF_OK || ionf_transcode_depth(t) != 0;
    return status;
}

ionf_status
ionf_transcode_token(ionf_transcoder *t, const ionf_symtab *tab, const ionf_token *token)
{
    ionf_status status = IONF_OK;
    if (token->kind == IONF_KIND_END) {
        status = t->is_binary ? ionf_bin_write_end(t->bin) : ionf_txt_write_end(t->txt);
        return status == IONF_OK ? end_value(t) : status;
    }
    if (ionf_transcode_depth(t) == 0) {
        status = start_top_level(t, tab);
    } else if (token->has_field) {
        status = write_field(t, tab, &token->field);
    }
    if (status == IONF_OK && IONF_UNLIKELY(token->annotation_count != 0)) {
        status = write_annotations(t, tab, token);
    }
    if (status == IONF_OK) {
        status = write_value(t, tab, token);
    }
    const bool is_complete = token->is_null || !ionf_kind_is_container(token->kind);
    return status == IONF_OK && is_complete ? end_value(t) : status;
}

void
ionf_transcode_abandon(ionf_transcoder *t)
{
    if (t->in_value && t->is_binary) {
        ionf_bin_writer_rollback(t->bin, &t->bin_mark);
    } else if (t->in_value) {
        ionf_txt_writer_rollback(t->txt, &t->txt_mark);
    }
    t->in_value = false;
}

/* ---- output */

/* Head and body of what has been written since the last flush. */
static ionf_status
flush_binary(ionf_transcoder *t)
{
    const size_t head = ionf_symmap_binary_size(symbols_of(t), t->needs_marker);
    ionf_status status = ionf_buf_reserve(t->out, head + ionf_bin_writer_body_size(t->bin));
    if (status == IONF_OK) {
        status = ionf_symmap_write_binary(symbols_of(t), t->needs_marker, t->out);
    }
    if (status != IONF_OK) {
        return status;
    }
    const uint8_t *const end = ionf_bin_writer_emit(t->bin, t->out->data + t->out->len);
    t->out->len = (size_t)(end - t->out->data);
    t->needs_marker = false;
    ionf_bin_writer_flushed(t->bin);
    return IONF_OK;
}

ionf_status
ionf_transcode_flush(ionf_transcoder *t)
{
    assert(ionf_transcode_depth(t) == 0);
    if (!t->is_binary || t->bin->body->len == 0) {
        return IONF_OK;
    }
    const ionf_status status = flush_binary(t);
    if (status == IONF_OK && symbols_of(t)->local_count > IONF_SYMMAP_CONTEXT_MAX) {
        ionf_symmap_new_context(symbols_of(t));
        forget_sids(t);
        t->gap_sid = 0;
        t->needs_marker = true;
    }
    return status;
}

ionf_status
ionf_transcode_finish(ionf_transcoder *t)
{
    const bool is_empty = t->needs_marker && !t->has_source;
    if (!is_empty) {
        return ionf_transcode_flush(t);
    }
    if (t->is_binary) {
        return flush_binary(t);
    }
    const ionf_status status = ionf_txt_write_head(t->txt, symbols_of(t), true);
    t->needs_marker = status != IONF_OK;
    return status;
}
