/* Symbol tables: looking SIDs up, recognising a table that repeats, reading a local table out of
 * tokens. Ion specification, "Symbols". Knows neither encoding: tokens come from either reader. */
#include "ionf_symtab.h"

#include <stdatomic.h>

#include "ionf_bin_put.h"
#include "ionf_utf8.h"

/* Less than this that lies idle in an array is kept. */
#define TRIM_MIN 65536

/* ---- the system table ---------------------------------------------------------------------- */

typedef struct system_row {
    const char *text;
    size_t len;
} system_row;

/* Index: SID - 1. */
static const system_row system_rows[IONF_SYSTEM_MAX_ID] = {
    {"$ion", 4},    {"$ion_1_0", 8}, {"$ion_symbol_table", 17},
    {"name", 4},    {"version", 7},  {"imports", 7},
    {"symbols", 7}, {"max_id", 6},   {"$ion_shared_symbol_table", 24}};

ionf_slice
ionf_system_symbol(uint64_t sid)
{
    const system_row *row = &system_rows[sid - 1];
    const ionf_slice text = {(const uint8_t *)row->text, row->len};
    return text;
}

uint64_t
ionf_system_sid(const uint8_t *text, size_t len)
{
    for (uint64_t i = 0; i < IONF_SYSTEM_MAX_ID; i++) {
        if (system_rows[i].len == len && memcmp(system_rows[i].text, text, len) == 0) {
            return i + 1;
        }
    }
    return 0;
}

/* ---- shared tables with a count of their own ----------------------------------------------- */

/* One block: this, then the slices, then all texts. */
typedef struct counted_shared {
    ionf_shared shared;
    ionf_alloc alloc;
    size_t size;
    atomic_size_t references;
} counted_shared;

static void
counted_retain(const ionf_shared *shared)
{
    counted_shared *counted = shared->owner;
    atomic_fetch_add_explicit(&counted->references, 1, memory_order_relaxed);
}

static void
counted_release(const ionf_shared *shared)
{
    counted_shared *counted = shared->owner;
    if (atomic_fetch_sub_explicit(&counted->references, 1, memory_order_acq_rel) == 1) {
        const ionf_alloc alloc = counted->alloc;
        ionf_alloc_free(&alloc, counted, counted->size);
    }
}

/* Size of the block; false when it does not fit a size_t. */
static bool
counted_size(ionf_slice name, const ionf_slice *symbols, uint64_t count, size_t *size)
{
    size_t total;
    if (count > SIZE_MAX || !ionf_size_mul((size_t)count, sizeof(ionf_slice), &total) ||
        !ionf_size_add(total, sizeof(counted_shared), &total) ||
        !ionf_size_add(total, name.len, &total)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (!ionf_size_add(total, symbols[i].len, &total)) {
            return false;
        }
    }
    /* The empty text of a table without any other must still point somewhere inside the block. */
    return ionf_size_add(total, 1, size);
}

static ionf_slice
text_copy(uint8_t **dst, ionf_slice text)
{
    const ionf_slice copy = {text.data == NULL ? NULL : *dst, text.len};
    if (text.data != NULL) {
        memcpy(*dst, text.data, text.len);
        *dst += text.len;
    }
    return copy;
}

ionf_status
ionf_shared_create(const ionf_alloc *a, ionf_slice name, uint32_t version,
                   const ionf_slice *symbols, uint64_t count, ionf_shared **out)
{
    if (name.len == 0 || version == 0) {
        return IONF_ERR_SYMTAB;
    }
    size_t size;
    if (!counted_size(name, symbols, count, &size)) {
        return IONF_ERR_NOMEM;
    }
    counted_shared *counted = ionf_alloc_new(a, size);
    if (counted == NULL) {
        return IONF_ERR_NOMEM;
    }
    ionf_slice *slices = (ionf_slice *)(void *)(counted + 1);
    uint8_t *text = (uint8_t *)(slices + count);
    counted->alloc = *a;
    counted->size = size;
    atomic_init(&counted->references, 1);
    counted->shared.name = text_copy(&text, name);
    for (size_t i = 0; i < count; i++) {
        slices[i] = text_copy(&text, symbols[i]);
    }
    counted->shared.version = version;
    counted->shared.max_id = count;
    counted->shared.symbols = slices;
    counted->shared.retain = counted_retain;
    counted->shared.release = counted_release;
    counted->shared.owner = counted;
    *out = &counted->shared;
    return IONF_OK;
}

/* ---- the current table --------------------------------------------------------------------- */

static void
imports_release(const ionf_import *imports, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (imports[i].shared != NULL) {
            imports[i].shared->release(imports[i].shared);
        }
    }
}

void
ionf_symtab_init(ionf_symtab *tab, ionf_alloc alloc)
{
    memset(tab, 0, sizeof *tab);
    tab->alloc = alloc;
    tab->max_id = IONF_SYSTEM_MAX_ID;
    tab->local_first = IONF_SYSTEM_MAX_ID + 1;
    ionf_buf_init(&tab->text, alloc);
    ionf_buf_init(&tab->raw, alloc);
}

void
ionf_symtab_drop_rows(ionf_symtab *tab)
{
    imports_release(tab->imports, tab->import_count);
    tab->import_count = 0;
    tab->local_count = 0;
    tab->local_first = IONF_SYSTEM_MAX_ID + 1;
    ionf_buf_reset(&tab->text);
    tab->raw_is_valid = false;
    tab->generation++;
}

void
ionf_symtab_destroy(ionf_symtab *tab)
{
    imports_release(tab->imports, tab->import_count);
    ionf_alloc_free(&tab->alloc, tab->imports, tab->import_cap * sizeof *tab->imports);
    ionf_alloc_free(&tab->alloc, tab->locals, tab->local_cap * sizeof *tab->locals);
    ionf_buf_destroy(&tab->text);
    ionf_buf_destroy(&tab->raw);
    ionf_symtab_init(tab, tab->alloc);
}

size_t
ionf_symtab_retained(const ionf_symtab *tab)
{
    return tab->import_cap * sizeof *tab->imports + tab->local_cap * sizeof *tab->locals +
           tab->text.cap + tab->raw.cap;
}

/* The import that `sid` falls in. Of several rows with the same first SID only the last can have a
 * length, so "the last that starts at or before it" is the one. */
static const ionf_import *
import_of(const ionf_symtab *tab, uint64_t sid)
{
    size_t low = 0;
    size_t high = tab->import_count;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (tab->imports[middle].first_sid <= sid) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return &tab->imports[low];
}

static void
find_in_import(const ionf_symtab *tab, uint64_t sid, ionf_symbol *out)
{
    const ionf_import *import = import_of(tab, sid);
    const uint64_t index = sid - import->first_sid;
    const ionf_shared *shared = import->shared;
    out->shared = shared;
    out->shared_index = shared == NULL ? 0 : index;
    if (shared != NULL && index < shared->max_id && shared->symbols[index].data != NULL) {
        out->text = shared->symbols[index].data;
        out->len = shared->symbols[index].len;
        out->is_ascii = ionf_utf8_is_ascii(out->text, out->len);
        return;
    }
    out->import_name.data = tab->text.data + import->name_start;
    out->import_name.len = import->name_len;
    out->import_version = import->version;
    out->import_sid = index + 1;
}

static void
find_in_locals(const ionf_symtab *tab, uint64_t sid, ionf_symbol *out)
{
    const uint8_t *p = tab->text.data + tab->locals[sid - tab->local_first];
    const ionf_slice text = ionf_symtab_take(&p);
    out->text = text.data;
    out->len = text.len;
    out->is_ascii =
        text.data != NULL && (tab->locals_are_ascii || ionf_utf8_is_ascii(text.data, text.len));
}

ionf_status
ionf_symtab_find(const ionf_symtab *tab, uint64_t sid, ionf_symbol *out)
{
    if (sid > tab->max_id) {
        return IONF_ERR_SID;
    }
    memset(out, 0, sizeof *out);
    if (sid > IONF_SYSTEM_MAX_ID) {
        if (sid >= tab->local_first) {
            find_in_locals(tab, sid, out);
        } else {
            find_in_import(tab, sid, out);
        }
    } else if (sid != 0) {
        const ionf_slice text = ionf_system_symbol(sid);
        out->text = text.data;
        out->len = text.len;
        out->is_ascii = true;
    }
    return IONF_OK;
}

bool
ionf_symtab_is_text(const ionf_symtab *tab, uint64_t sid, const char *text, size_t len)
{
    ionf_symbol symbol;
    return ionf_symtab_find(tab, sid, &symbol) == IONF_OK && symbol.text != NULL &&
           symbol.len == len && memcmp(symbol.text, text, len) == 0;
}

bool
ionf_symtab_recognise(ionf_symtab *tab, const uint8_t *content, size_t len)
{
    const uint8_t *const raw =
        tab->raw_is_in_text ? tab->text.data + tab->raw_start : tab->raw.data;
    if (!tab->raw_is_valid || len != tab->raw_len ||
        (len != 0 && memcmp(content, raw, len) != 0)) {
        return false;
    }
    if (tab->import_count != 0 && tab->catalog != tab->raw_catalog) {
        return false;
    }
    const size_t count = (size_t)(tab->raw_max_id + 1 - tab->local_first);
    if (count < tab->local_count) {
        /* Appends came after it. Their SIDs are free again, and may come back with other text. */
        tab->text.len = tab->locals[count];
        tab->local_count = count;
        tab->generation++;
    }
    tab->max_id = tab->raw_max_id;
    return true;
}

void
ionf_symtab_remember(ionf_symtab *tab, const uint8_t *content, size_t len)
{
    tab->raw_len = len;
    tab->raw_start = len <= tab->text.len ? tab->text.len - len : 0;
    tab->raw_is_in_text = len != 0 && len <= tab->text.len &&
                          memcmp(tab->text.data + tab->raw_start, content, len) == 0;
    ionf_buf_reset(&tab->raw);
    tab->raw_is_valid = tab->raw_is_in_text || ionf_buf_append(&tab->raw, content, len) == IONF_OK;
    tab->raw_catalog = tab->catalog;
    tab->raw_max_id = tab->max_id;
}

/* ---- reading a local table ----------------------------------------------------------------- */

enum { STATE_TABLE, STATE_SYMBOLS, STATE_IMPORTS, STATE_IMPORT };

enum { SEEN_NAME = 1, SEEN_VERSION = 2, SEEN_MAX_ID = 4 };

void
ionf_lst_init(ionf_lst *lst, ionf_symtab *tab)
{
    memset(lst, 0, sizeof *lst);
    lst->tab = tab;
    ionf_buf_init(&lst->text, tab->alloc);
}

void
ionf_lst_reset(ionf_lst *lst)
{
    imports_release(lst->imports, lst->import_count);
    lst->import_count = 0;
    lst->local_count = 0;
    ionf_buf_reset(&lst->text);
    lst->expected = NULL;
}

void
ionf_lst_destroy(ionf_lst *lst)
{
    const ionf_alloc *alloc = &lst->text.alloc;
    imports_release(lst->imports, lst->import_count);
    ionf_alloc_free(alloc, lst->imports, lst->import_cap * sizeof *lst->imports);
    ionf_alloc_free(alloc, lst->locals, lst->local_cap * sizeof *lst->locals);
    ionf_buf_destroy(&lst->text);
    lst->imports = NULL;
    lst->locals = NULL;
    lst->import_count = lst->import_cap = lst->local_count = lst->local_cap = 0;
}

size_t
ionf_lst_retained(const ionf_lst *lst)
{
    return lst->import_cap * sizeof *lst->imports + lst->local_cap * sizeof *lst->locals +
           lst->text.cap;
}

void
ionf_lst_begin(ionf_lst *lst)
{
    ionf_lst_reset(lst);
    lst->state = STATE_TABLE;
    lst->skip_depth = 0;
    lst->seen_symbols = lst->seen_imports = lst->is_append = false;
    lst->is_context_free = lst->is_exact = lst->locals_are_ascii = true;
    lst->content.data = NULL;
    lst->content.len = 0;
    lst->next_sid = IONF_SYSTEM_MAX_ID + 1;
}

static ionf_status
lst_fail(ionf_lst *lst, ionf_status status, const char *expected)
{
    lst->expected = expected;
    return status;
}

/* Where a symbol begins must fit its row. */
static const char too_large[] = "a table of at most 4 GiB of symbols";

/* System SID of a symbol by its text, which may stand under any SID; 0 for every other symbol. */
static uint64_t
system_meaning(const ionf_lst *lst, const ionf_symref *ref)
{
    if (ref->text != NULL) {
        return ionf_system_sid(ref->text, ref->len);
    }
    if (ref->sid <= IONF_SYSTEM_MAX_ID) {
        return ref->sid;
    }
    ionf_symbol symbol;
    if (ionf_symtab_find(lst->tab, ref->sid, &symbol) != IONF_OK || symbol.text == NULL) {
        return 0;
    }
    return ionf_system_sid(symbol.text, symbol.len);
}

static bool
ref_needs_context(const ionf_symref *ref)
{
    return ref->text == NULL && ref->sid > IONF_SYSTEM_MAX_ID;
}

static bool
token_needs_context(const ionf_token *token)
{
    for (uint32_t i = 0; i < token->annotation_count; i++) {
        if (ref_needs_context(&token->annotations[i])) {
            return true;
        }
    }
    return (token->has_field && ref_needs_context(&token->field)) ||
           (token->kind == IONF_KIND_SYMBOL && !token->is_null &&
            ref_needs_context(&token->as.symbol));
}

/* Is it a value of this kind, and not null? */
static bool
is_a(const ionf_token *token, ionf_kind kind)
{
    return token->kind == kind && !token->is_null;
}

/* A value that has no meaning here: nothing to do, but for the tokens inside a container. */
static void
ignore(ionf_lst *lst, const ionf_token *token)
{
    if (ionf_kind_is_container(token->kind) && !token->is_null) {
        lst->skip_depth++;
    }
}

/* The symbol as binary Ion writes it. */
static ionf_status
put_text(ionf_buf *buf, ionf_slice text)
{
    const ionf_status status = ionf_buf_reserve(buf, text.len + IONF_BIN_PUT_MAX);
    if (status == IONF_OK) {
        uint8_t *const end = ionf_bin_put_string(buf->data + buf->len, text.data, text.len);
        buf->len = (size_t)(end - buf->data);
    }
    return status;
}

static ionf_status
grow_staged(ionf_lst *lst)
{
    void *locals = lst->locals;
    const ionf_status status = ionf_alloc_grow(&lst->tab->alloc, &locals, &lst->local_cap,
                                               lst->local_count + 1, sizeof *lst->locals);
    lst->locals = locals;
    return status;
}

static ionf_status
stage_symbol(ionf_lst *lst, const ionf_token *token)
{
    const size_t start = lst->text.len;
    if (start > UINT32_MAX) {
        return lst_fail(lst, IONF_ERR_SYMTAB, too_large);
    }
    ionf_status status = lst->local_count < lst->local_cap ? IONF_OK : grow_staged(lst);
    if (status != IONF_OK) {
        return status;
    }
    if (is_a(token, IONF_KIND_STRING)) {
        status = put_text(&lst->text, token->as.bytes);
        lst->locals_are_ascii = lst->locals_are_ascii && token->is_ascii;
    } else {
        ignore(lst, token);
        status = ionf_buf_push(&lst->text, IONF_SYMTAB_GAP);
    }
    if (status == IONF_OK) {
        lst->locals[lst->local_count++] = (uint32_t)start;
    }
    return status;
}

/* The list of symbols begins. With all of a binary struct at hand, room is made for the symbols at once, and
 * what stands before the list is put before them: mostly all of the struct then stands in the text, and
 * no other copy is needed to recognise it. */
static ionf_status
symbols_begin(ionf_lst *lst, const ionf_token *token)
{
    lst->state = STATE_SYMBOLS;
    if (lst->content.data == NULL) {
        return IONF_OK;
    }
    /* If the list is the last field, as it mostly is. */
    const size_t before = lst->content.len - (size_t)token->content_len;
    const ionf_status status = ionf_buf_reserve(&lst->text, lst->content.len + IONF_BIN_PUT_MAX);
    return status == IONF_OK ? ionf_buf_append(&lst->text, lst->content.data, before) : status;
}

static ionf_status
table_field(ionf_lst *lst, const ionf_token *token)
{
    const uint64_t field = token->has_field ? system_meaning(lst, &token->field) : 0;
    if (field == IONF_SID_SYMBOLS) {
        if (lst->seen_symbols) {
            return lst_fail(lst, IONF_ERR_SYMTAB, "a single 'symbols' field");
        }
        lst->seen_symbols = true;
        if (is_a(token, IONF_KIND_LIST)) {
            return symbols_begin(lst, token);
        }
    } else if (field == IONF_SID_IMPORTS) {
        if (lst->seen_imports) {
            return lst_fail(lst, IONF_ERR_SYMTAB, "a single 'imports' field");
        }
        lst->seen_imports = true;
        if (is_a(token, IONF_KIND_LIST)) {
            lst->state = STATE_IMPORTS;
            return IONF_OK;
        }
        lst->is_append = is_a(token, IONF_KIND_SYMBOL) &&
                         system_meaning(lst, &token->as.symbol) == IONF_SID_ION_SYMBOL_TABLE;
    }
    ignore(lst, token);
    return IONF_OK;
}

static void
import_begin(ionf_lst *lst)
{
    lst->state = STATE_IMPORT;
    lst->has_name = lst->has_max_id = false;
    lst->seen = 0;
    lst->name_start = lst->text.len;
    lst->name_len = 0;
    lst->version = 1;
    lst->max_id = 0;
}

static ionf_status
import_name(ionf_lst *lst, const ionf_token *token)
{
    if (!is_a(token, IONF_KIND_STRING)) {
        ignore(lst, token);
        return IONF_OK;
    }
    const ionf_slice name = token->as.bytes;
    if (name.len == 0 || ionf_system_sid(name.data, name.len) == IONF_SID_ION) {
        return IONF_OK;
    }
    lst->has_name = true;
    lst->name_len = name.len;
    return ionf_buf_append(&lst->text, name.data, name.len);
}

static ionf_status
import_max_id(ionf_lst *lst, const ionf_token *token)
{
    const ionf_integer *value = &token->as.integer;
    const bool is_small = value->form == IONF_INT_U64;
    if (!is_a(token, IONF_KIND_INT) || (value->is_negative && !(is_small && value->u64 == 0))) {
        ignore(lst, token);
        return IONF_OK;
    }
    if (!is_small || value->u64 > INT64_MAX) {
        return lst_fail(lst, IONF_ERR_SYMTAB, "a max_id below 2**63");
    }
    lst->has_max_id = true;
    lst->max_id = value->u64;
    return IONF_OK;
}

static void
import_version(ionf_lst *lst, const ionf_token *token)
{
    const ionf_integer *value = &token->as.integer;
    if (!is_a(token, IONF_KIND_INT)) {
        ignore(lst, token);
    } else if (!value->is_negative) {
        lst->version = value->form == IONF_INT_U64 ? value->u64 : UINT64_MAX;
        lst->version += lst->version == 0;
    }
}

static ionf_status
import_field(ionf_lst *lst, const ionf_token *token)
{
    const uint64_t field = token->has_field ? system_meaning(lst, &token->field) : 0;
    const uint8_t bit = field == IONF_SID_NAME      ? SEEN_NAME
                        : field == IONF_SID_VERSION ? SEEN_VERSION
                        : field == IONF_SID_MAX_ID  ? SEEN_MAX_ID
                                                    : 0;
    if ((lst->seen & bit) != 0) {
        return lst_fail(lst, IONF_ERR_SYMTAB, "an import without repeated fields");
    }
    lst->seen |= bit;
    switch (bit) {
    case SEEN_NAME:
        return import_name(lst, token);
    case SEEN_MAX_ID:
        return import_max_id(lst, token);
    case SEEN_VERSION:
        import_version(lst, token);
        return IONF_OK;
    default:
        ignore(lst, token);
        return IONF_OK;
    }
}

/* Ask the catalog. A version beyond 32 bits has no exact match. */
static void
import_resolve(const ionf_lst *lst, ionf_import *import, bool *is_exact)
{
    const ionf_catalog *catalog = lst->tab->catalog;
    const ionf_slice name = {lst->text.data + lst->name_start, lst->name_len};
    import->version = lst->version > UINT32_MAX ? UINT32_MAX : (uint32_t)lst->version;
    import->shared = catalog == NULL ? NULL : catalog->find(catalog->ctx, name, import->version);
    *is_exact = import->shared != NULL && import->shared->version == lst->version;
}

/* The END of an import: a row for it, unless it has no usable name. */
static ionf_status
import_end(ionf_lst *lst)
{
    lst->state = STATE_IMPORTS;
    if (!lst->has_name) {
        return IONF_OK;
    }
    void *imports = lst->imports;
    const ionf_status status = ionf_alloc_grow(&lst->tab->alloc, &imports, &lst->import_cap,
                                               lst->import_count + 1, sizeof *lst->imports);
    lst->imports = imports;
    if (status != IONF_OK) {
        return status;
    }
    ionf_import *import = &lst->imports[lst->import_count];
    bool is_exact;
    import_resolve(lst, import, &is_exact);
    import->name_start = lst->name_start;
    import->name_len = lst->name_len;
    import->first_sid = lst->next_sid;
    lst->import_count++; /* from here on ionf_lst_reset releases the shared table */
    if (!is_exact && !lst->has_max_id) {
        return lst_fail(
            lst, IONF_ERR_IMPORT,
            "a shared symbol table of this name and version in the catalog, or a max_id");
    }
    import->length = lst->has_max_id ? lst->max_id : import->shared->max_id;
    if (import->length > UINT64_MAX - lst->next_sid) {
        return lst_fail(lst, IONF_ERR_SYMTAB, "imports of fewer than 2**64 symbols");
    }
    lst->next_sid += import->length;
    lst->is_exact = lst->is_exact && is_exact;
    return IONF_OK;
}

#define SWAP(type, a, b)                                                                          \
    do {                                                                                          \
        type swapped = (a);                                                                       \
        (a) = (b);                                                                                \
        (b) = swapped;                                                                            \
    } while (0)

/* Rows grow by doubling, since nobody says how many there will be, and so does text that is not all at hand:
 * give back what is left over, where that is much. (An array that was far too large before stays: it
 * is there for other tables.) If that fails, nothing is lost. */
static void
trim_array(const ionf_alloc *a, void **ptr, size_t *cap, size_t count, size_t item_size)
{
    if ((*cap - count) * item_size < TRIM_MIN || count < *cap / 2) {
        return;
    }
    void *const trimmed = a->realloc(a->ctx, *ptr, *cap * item_size, count * item_size);
    if (trimmed != NULL) {
        *ptr = trimmed;
        *cap = count;
    }
}

static void
trim(ionf_symtab *tab)
{
    void *locals = tab->locals;
    void *text = tab->text.data;
    trim_array(&tab->alloc, &locals, &tab->local_cap, tab->local_count, sizeof *tab->locals);
    trim_array(&tab->alloc, &text, &tab->text.cap, tab->text.len, 1);
    tab->locals = locals;
    tab->text.data = text;
}

/* The staged rows become the table; the old ones are dropped, their arrays staged in next. */
static ionf_status
commit_replace(ionf_lst *lst)
{
    ionf_symtab *tab = lst->tab;
    if (lst->local_count > UINT64_MAX - lst->next_sid) {
        return lst_fail(lst, IONF_ERR_SYMTAB, "a table of fewer than 2**64 symbols");
    }
    SWAP(ionf_import *, tab->imports, lst->imports);
    SWAP(size_t, tab->import_count, lst->import_count);
    SWAP(size_t, tab->import_cap, lst->import_cap);
    SWAP(uint32_t *, tab->locals, lst->locals);
    SWAP(size_t, tab->local_count, lst->local_count);
    SWAP(size_t, tab->local_cap, lst->local_cap);
    SWAP(ionf_buf, tab->text, lst->text);
    tab->local_first = lst->next_sid;
    tab->locals_are_ascii = lst->locals_are_ascii;
    tab->max_id = lst->next_sid - 1 + tab->local_count;
    tab->raw_is_valid = false;
    tab->generation++;
    trim(tab);
    ionf_lst_reset(lst);
    return IONF_OK;
}

static ionf_status
commit_append(ionf_lst *lst)
{
    ionf_symtab *tab = lst->tab;
    if (tab->max_id == IONF_SYSTEM_MAX_ID) {
        /* Only the system table is current: what the arrays hold is hidden, or says no more. */
        return commit_replace(lst);
    }
    if (lst->local_count > UINT64_MAX - 1 - tab->max_id) {
        return lst_fail(lst, IONF_ERR_SYMTAB, "a table of fewer than 2**64 symbols");
    }
    const size_t count = lst->local_count;
    if (count == 0) {
        ionf_lst_reset(lst);
        return IONF_OK;
    }
    const size_t first = lst->locals[0];
    const size_t text_len = tab->text.len;
    if (text_len > UINT32_MAX - (lst->locals[count - 1] - first)) {
        return lst_fail(lst, IONF_ERR_SYMTAB, too_large);
    }
    void *locals = tab->locals;
    ionf_status status = ionf_alloc_grow(&tab->alloc, &locals, &tab->local_cap,
                                         tab->local_count + count, sizeof *tab->locals);
    tab->locals = locals;
    if (status == IONF_OK) {
        status = ionf_buf_append(&tab->text, lst->text.data + first, lst->text.len - first);
    }
    if (status != IONF_OK) {
        return status;
    }
    for (size_t i = 0; i < count; i++) {
        tab->locals[tab->local_count++] = (uint32_t)(text_len + (lst->locals[i] - first));
    }
    tab->locals_are_ascii = tab->locals_are_ascii && lst->locals_are_ascii;
    tab->max_id += count;
    ionf_lst_reset(lst);
    return IONF_OK;
}

static ionf_status
lst_end(ionf_lst *lst, bool *is_done)
{
    if (lst->skip_depth != 0) {
        lst->skip_depth--;
        return IONF_OK;
    }
    if (lst->state == STATE_IMPORT) {
        return import_end(lst);
    }
    if (lst->state != STATE_TABLE) {
        lst->state = STATE_TABLE;
        return IONF_OK;
    }
    const ionf_status status = lst->is_append ? commit_append(lst) : commit_replace(lst);
    *is_done = status == IONF_OK;
    return status;
}

ionf_status
ionf_lst_token(ionf_lst *lst, const ionf_token *token, bool *is_done)
{
    *is_done = false;
    if (token->kind == IONF_KIND_END) {
        return lst_end(lst, is_done);
    }
    lst->is_context_free = lst->is_context_free && !token_needs_context(token);
    if (lst->skip_depth != 0) {
        ignore(lst, token);
        return IONF_OK;
    }
    switch (lst->state) {
    case STATE_SYMBOLS:
        return stage_symbol(lst, token);
    case STATE_IMPORT:
        return import_field(lst, token);
    case STATE_IMPORTS:
        if (is_a(token, IONF_KIND_STRUCT)) {
            import_begin(lst);
        } else {
            ignore(lst, token);
        }
        return IONF_OK;
    default:
        return table_field(lst, token);
    }
}
