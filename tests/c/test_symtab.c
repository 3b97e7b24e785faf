/* ionf_symtab: look-ups, imports, appends, recognition, and what makes a local table invalid. */
#include "ct.h"

#include "ionf_symtab.h"

/* ---- tokens by hand ------------------------------------------------------------------------ */

static ionf_slice
slice(const char *text)
{
    const ionf_slice s = {(const uint8_t *)text, text == NULL ? 0 : strlen(text)};
    return s;
}

static ionf_token
token_of(const char *field, ionf_kind kind)
{
    ionf_token token;
    memset(&token, 0, sizeof token);
    token.kind = (uint8_t)kind;
    if (field != NULL) {
        token.has_field = true;
        token.field.text = (const uint8_t *)field;
        token.field.len = strlen(field);
    }
    return token;
}

static ionf_token
open(const char *field, ionf_kind kind)
{
    return token_of(field, kind);
}

static ionf_token
close(void)
{
    return token_of(NULL, IONF_KIND_END);
}

static ionf_token
null(const char *field, ionf_kind kind)
{
    ionf_token token = token_of(field, kind);
    token.is_null = true;
    return token;
}

static ionf_token
text(const char *field, const char *value)
{
    ionf_token token = token_of(field, IONF_KIND_STRING);
    token.as.bytes = slice(value);
    token.is_ascii = true;
    return token;
}

static ionf_token
number(const char *field, int64_t value)
{
    ionf_token token = token_of(field, IONF_KIND_INT);
    token.as.integer.u64 = value < 0 ? (uint64_t)-value : (uint64_t)value;
    token.as.integer.is_negative = value < 0;
    return token;
}

static ionf_token
symbol(const char *field, uint64_t sid)
{
    ionf_token token = token_of(field, IONF_KIND_SYMBOL);
    token.as.symbol.sid = sid;
    return token;
}

/* The token with its field name given as a SID. */
static ionf_token
under(uint64_t sid, ionf_token token)
{
    const ionf_symref field = {NULL, 0, sid, false};
    token.has_field = true;
    token.field = field;
    return token;
}

/* Feed a whole table; the struct's own END is the last token. Gives the first error. */
static ionf_status
feed(ionf_lst *lst, const ionf_token *tokens, size_t count)
{
    ionf_lst_begin(lst);
    for (size_t i = 0; i < count; i++) {
        bool is_done;
        const ionf_status status = ionf_lst_token(lst, &tokens[i], &is_done);
        if (status != IONF_OK) {
            return status;
        }
        CHECK_INT(is_done, i == count - 1);
    }
    return IONF_OK;
}

#define FEED(lst, ...)                                                                            \
    feed((lst), (const ionf_token[]){__VA_ARGS__},                                                \
         sizeof((const ionf_token[]){__VA_ARGS__}) / sizeof(ionf_token))

/* Text of `sid`, "?" when it is unknown, "!" beyond max_id. */
static const char *
text_of(const ionf_symtab *tab, uint64_t sid)
{
    static char copy[64];
    ionf_symbol found;
    if (ionf_symtab_find(tab, sid, &found) != IONF_OK) {
        return "!";
    }
    if (found.text == NULL) {
        return "?";
    }
    memcpy(copy, found.text, found.len);
    copy[found.len] = '\0';
    return copy;
}

#define CHECK_TEXT(tab, sid, expected)                                                            \
    do {                                                                                          \
        const char *ct_text = text_of((tab), (sid));                                              \
        CHECK_BYTES(ct_text, strlen(ct_text), expected, strlen(expected));                        \
    } while (0)

/* ---- a catalog of a few tables ------------------------------------------------------------- */

typedef struct small_catalog {
    ionf_shared *tables[4];
    size_t count;
} small_catalog;

static const ionf_shared *
small_find(void *ctx, ionf_slice name, uint32_t version)
{
    const small_catalog *catalog = ctx;
    const ionf_shared *best = NULL;
    for (size_t i = 0; i < catalog->count; i++) {
        const ionf_shared *table = catalog->tables[i];
        if (table->name.len != name.len || memcmp(table->name.data, name.data, name.len) != 0) {
            continue;
        }
        if (best == NULL || table->version == version ||
            (best->version != version && table->version > best->version)) {
            best = table;
        }
    }
    if (best != NULL) {
        best->retain(best);
    }
    return best;
}

static void
catalog_add(small_catalog *catalog, const ionf_alloc *a, const char *name, uint32_t version,
            const char *first, const char *second)
{
    const ionf_slice symbols[2] = {slice(first), slice(second)};
    ionf_shared *table;
    CHECK_INT(ionf_shared_create(a, slice(name), version, symbols, 2, &table), IONF_OK);
    catalog->tables[catalog->count++] = table;
}

/* Everything that most tests need: "abc" in versions 1 (a, b) and 3 (a, -). */
typedef struct fixture {
    ct_heap heap;
    ionf_alloc alloc;
    small_catalog tables;
    ionf_catalog catalog;
    ionf_symtab tab;
    ionf_lst lst;
} fixture;

static void
fixture_open(fixture *f)
{
    const ct_heap heap = {.fail_at = -1};
    f->heap = heap;
    f->alloc = ct_heap_allocator(&f->heap);
    f->tables.count = 0;
    catalog_add(&f->tables, &f->alloc, "abc", 1, "a", "b");
    catalog_add(&f->tables, &f->alloc, "abc", 3, "a", NULL);
    f->catalog.find = small_find;
    f->catalog.ctx = &f->tables;
    ionf_symtab_init(&f->tab, f->alloc);
    f->tab.catalog = &f->catalog;
    ionf_lst_init(&f->lst, &f->tab);
}

static void
fixture_close(fixture *f)
{
    ionf_lst_destroy(&f->lst);
    ionf_symtab_destroy(&f->tab);
    for (size_t i = 0; i < f->tables.count; i++) {
        f->tables.tables[i]->release(f->tables.tables[i]);
    }
    CHECK_INT(f->heap.live_blocks, 0);
    CHECK_INT(f->heap.live_bytes, 0);
}

/* ---- look-ups ------------------------------------------------------------------------------ */

static void
system_symbols_have_their_ids(void)
{
    static const char *const names[] = {"$ion",    "$ion_1_0", "$ion_symbol_table",
                                        "name",    "version",  "imports",
                                        "symbols", "max_id",   "$ion_shared_symbol_table"};
    ionf_symtab tab;
    ionf_symtab_init(&tab, ionf_alloc_libc());
    for (uint64_t sid = 1; sid <= IONF_SYSTEM_MAX_ID; sid++) {
        const char *name = names[sid - 1];
        CHECK_TEXT(&tab, sid, name);
        CHECK_INT(ionf_system_sid((const uint8_t *)name, strlen(name)), sid);
    }
    CHECK_TEXT(&tab, 0, "?");
    CHECK_TEXT(&tab, 10, "!");
    CHECK_TEXT(&tab, UINT64_MAX, "!");
    CHECK_INT(ionf_system_sid((const uint8_t *)"nam", 3), 0);
    ionf_symtab_destroy(&tab);
}

static void
a_fresh_table_allocates_nothing(void)
{
    ct_heap heap = {.fail_at = 0};
    ionf_symtab tab;
    ionf_lst lst;
    ionf_symtab_init(&tab, ct_heap_allocator(&heap));
    ionf_lst_init(&lst, &tab);
    CHECK_INT(ionf_symtab_retained(&tab) + ionf_lst_retained(&lst), 0);
    CHECK_INT(FEED(&lst, close()), IONF_OK);
    ionf_lst_destroy(&lst);
    ionf_symtab_destroy(&tab);
    CHECK_INT(heap.calls, 0);
}

static void
local_symbols_follow_the_system_table(void)
{
    fixture f;
    fixture_open(&f);
    /* {symbols: ["x", null, "", 1, (), "y"]} */
    CHECK_INT(FEED(&f.lst, open("symbols", IONF_KIND_LIST), text(NULL, "x"),
                   null(NULL, IONF_KIND_STRING), text(NULL, ""), number(NULL, 1),
                   open(NULL, IONF_KIND_SEXP), text(NULL, "inner"), close(), text(NULL, "y"),
                   close(), close()),
              IONF_OK);
    CHECK_INT(f.tab.max_id, 15);
    CHECK_TEXT(&f.tab, 10, "x");
    CHECK_TEXT(&f.tab, 11, "?");
    CHECK_TEXT(&f.tab, 12, "");
    CHECK_TEXT(&f.tab, 13, "?");
    CHECK_TEXT(&f.tab, 14, "?");
    CHECK_TEXT(&f.tab, 15, "y");
    CHECK_TEXT(&f.tab, 16, "!");
    CHECK_TEXT(&f.tab, 4, "name");
    fixture_close(&f);
}

static void
an_unknown_local_symbol_has_no_import_location(void)
{
    fixture f;
    fixture_open(&f);
    CHECK_INT(FEED(&f.lst, open("symbols", IONF_KIND_LIST), null(NULL, IONF_KIND_NULL), close(),
                   close()),
              IONF_OK);
    ionf_symbol found;
    CHECK_INT(ionf_symtab_find(&f.tab, 10, &found), IONF_OK);
    CHECK(found.text == NULL && found.import_name.data == NULL && found.shared == NULL);
    fixture_close(&f);
}

static void
symbols_may_have_any_length(void)
{
    static const size_t lengths[] = {0, 1, 13, 14, 15, 127, 128, 16383, 16384, 2097151, 2097152};
    const size_t count = sizeof lengths / sizeof *lengths;
    uint8_t *letters = malloc(lengths[count - 1]);
    memset(letters, 'x', lengths[count - 1]);
    fixture f;
    fixture_open(&f);
    const ionf_token list = open("symbols", IONF_KIND_LIST);
    const ionf_token end = close();
    bool is_done;
    ionf_lst_begin(&f.lst);
    CHECK_INT(ionf_lst_token(&f.lst, &list, &is_done), IONF_OK);
    for (size_t i = 0; i < count; i++) {
        ionf_token token = text(NULL, "");
        token.as.bytes.data = letters;
        token.as.bytes.len = lengths[i];
        CHECK_INT(ionf_lst_token(&f.lst, &token, &is_done), IONF_OK);
    }
    CHECK_INT(ionf_lst_token(&f.lst, &end, &is_done), IONF_OK);
    CHECK_INT(ionf_lst_token(&f.lst, &end, &is_done), IONF_OK);
    for (size_t i = 0; i < count; i++) {
        ionf_symbol found;
        CHECK_INT(ionf_symtab_find(&f.tab, 10 + i, &found), IONF_OK);
        CHECK(found.is_ascii);
        CHECK_BYTES(found.text, found.len, letters, lengths[i]);
    }
    fixture_close(&f);
    free(letters);
}

static bool
is_ascii(const ionf_symtab *tab, uint64_t sid)
{
    ionf_symbol found;
    return ionf_symtab_find(tab, sid, &found) == IONF_OK && found.is_ascii;
}

static void
each_symbol_is_ascii_or_not(void)
{
    fixture f;
    fixture_open(&f);
    ionf_token other = text(NULL, "\xC3\xA9");
    other.is_ascii = false;
    /* ["x"], then "\u00e9" and "y" appended */
    CHECK_INT(FEED(&f.lst, open("symbols", IONF_KIND_LIST), text(NULL, "x"), close(), close()),
              IONF_OK);
    CHECK(is_ascii(&f.tab, 10));
    CHECK_INT(FEED(&f.lst, symbol("imports", IONF_SID_ION_SYMBOL_TABLE),
                   open("symbols", IONF_KIND_LIST), other, text(NULL, "y"), close(), close()),
              IONF_OK);
    CHECK(is_ascii(&f.tab, 10));
    CHECK(!is_ascii(&f.tab, 11));
    CHECK(is_ascii(&f.tab, 12));
    /* ["\u00e9"], then "x" appended */
    CHECK_INT(FEED(&f.lst, open("symbols", IONF_KIND_LIST), other, close(), close()), IONF_OK);
    CHECK_INT(FEED(&f.lst, symbol("imports", IONF_SID_ION_SYMBOL_TABLE),
                   open("symbols", IONF_KIND_LIST), text(NULL, "x"), close(), close()),
              IONF_OK);
    CHECK(!is_ascii(&f.tab, 10));
    CHECK(is_ascii(&f.tab, 11));
    fixture_close(&f);
}

static void
is_text_compares_known_text_only(void)
{
    fixture f;
    fixture_open(&f);
    CHECK(ionf_symtab_is_text(&f.tab, 4, "name", 4));
    CHECK(!ionf_symtab_is_text(&f.tab, 4, "nam", 3));
    CHECK(!ionf_symtab_is_text(&f.tab, 0, "", 0));
    CHECK(!ionf_symtab_is_text(&f.tab, 10, "name", 4));
    fixture_close(&f);
}

/* ---- imports ------------------------------------------------------------------------------- */

static void
an_exact_import_takes_the_length_of_its_table(void)
{
    fixture f;
    fixture_open(&f);
    /* {imports: [{name: "abc"}], symbols: ["x"]}: the version is 1 when it is not said */
    CHECK_INT(FEED(&f.lst, open("imports", IONF_KIND_LIST), open(NULL, IONF_KIND_STRUCT),
                   text("name", "abc"), close(), close(), open("symbols", IONF_KIND_LIST),
                   text(NULL, "x"), close(), close()),
              IONF_OK);
    CHECK_TEXT(&f.tab, 10, "a");
    CHECK_TEXT(&f.tab, 11, "b");
    CHECK_TEXT(&f.tab, 12, "x");
    CHECK_INT(f.tab.max_id, 12);
    ionf_symbol found;
    CHECK_INT(ionf_symtab_find(&f.tab, 11, &found), IONF_OK);
    CHECK(found.shared == f.tables.tables[0]);
    CHECK_INT(found.shared_index, 1);
    fixture_close(&f);
}

static void
max_id_pads_and_truncates(void)
{
    fixture f;
    fixture_open(&f);
    /* two symbols padded to 3, then truncated to 1 */
    CHECK_INT(FEED(&f.lst, open("imports", IONF_KIND_LIST), open(NULL, IONF_KIND_STRUCT),
                   number("max_id", 3), text("name", "abc"), close(), open(NULL, IONF_KIND_STRUCT),
                   text("name", "abc"), number("max_id", 1), close(), close(), close()),
              IONF_OK);
    CHECK_TEXT(&f.tab, 11, "b");
    CHECK_TEXT(&f.tab, 12, "?");
    CHECK_TEXT(&f.tab, 13, "a");
    CHECK_TEXT(&f.tab, 14, "!");
    fixture_close(&f);
}

static void
an_inexact_import_needs_max_id_and_takes_the_greatest_version(void)
{
    fixture f;
    fixture_open(&f);
    /* {imports: [{name: "abc", version: 2, max_id: 2}]}: version 3 has a gap there */
    CHECK_INT(FEED(&f.lst, open("imports", IONF_KIND_LIST), open(NULL, IONF_KIND_STRUCT),
                   text("name", "abc"), number("version", 2), number("max_id", 2), close(),
                   close(), close()),
              IONF_OK);
    CHECK_TEXT(&f.tab, 10, "a");
    ionf_symbol found;
    CHECK_INT(ionf_symtab_find(&f.tab, 11, &found), IONF_OK);
    CHECK(found.text == NULL);
    CHECK_BYTES(found.import_name.data, found.import_name.len, "abc", 3);
    CHECK_INT(found.import_version, 2);
    CHECK_INT(found.import_sid, 2);

    const uint64_t generation = f.tab.generation;
    CHECK_INT(FEED(&f.lst, open("imports", IONF_KIND_LIST), open(NULL, IONF_KIND_STRUCT),
                   text("name", "abc"), number("version", 2), close()),
              IONF_ERR_IMPORT);
    CHECK(f.lst.expected != NULL);
    CHECK_INT(f.tab.generation, generation); /* untouched by the failure */
    CHECK_TEXT(&f.tab, 10, "a");
    fixture_close(&f);
}

static void
an_absent_import_costs_one_row_however_long(void)
{
    fixture f;
    fixture_open(&f);
    /* {imports: [{name: "none", version: 7, max_id: 2**63 - 1}], symbols: ["x"]} */
    CHECK_INT(FEED(&f.lst, open("imports", IONF_KIND_LIST), open(NULL, IONF_KIND_STRUCT),
                   text("name", "none"), number("version", 7), number("max_id", INT64_MAX),
                   close(), close(), open("symbols", IONF_KIND_LIST), text(NULL, "x"), close(),
                   close()),
              IONF_OK);
    CHECK_TEXT(&f.tab, (uint64_t)INT64_MAX + 10, "x");
    CHECK_INT(f.tab.max_id == (uint64_t)INT64_MAX + 10, 1);
    ionf_symbol found;
    CHECK_INT(ionf_symtab_find(&f.tab, 1000009, &found), IONF_OK);
    CHECK_BYTES(found.import_name.data, found.import_name.len, "none", 4);
    CHECK_INT(found.import_sid, 1000000);
    CHECK(found.shared == NULL);
    CHECK(ionf_symtab_retained(&f.tab) < 2048);
    fixture_close(&f);
}

static void
imports_without_a_usable_name_or_shape_are_ignored(void)
{
    fixture f;
    fixture_open(&f);
    /* {imports: [{}, {name: ""}, {name: null.string}, {name: 1}, {name: "$ion"}, {name: []},
     *            null.struct, 1, ["x"], {other: {name: "abc"}}, {name: "abc"}]} */
    CHECK_INT(FEED(&f.lst, open("imports", IONF_KIND_LIST), open(NULL, IONF_KIND_STRUCT), close(),
                   open(NULL, IONF_KIND_STRUCT), text("name", ""), close(),
                   open(NULL, IONF_KIND_STRUCT), null("name", IONF_KIND_STRING), close(),
                   open(NULL, IONF_KIND_STRUCT), number("name", 1), close(),
                   open(NULL, IONF_KIND_STRUCT), text("name", "$ion"), close(),
                   open(NULL, IONF_KIND_STRUCT), open("name", IONF_KIND_LIST), close(), close(),
                   null(NULL, IONF_KIND_STRUCT), number(NULL, 1), open(NULL, IONF_KIND_LIST),
                   text(NULL, "x"), close(), open(NULL, IONF_KIND_STRUCT),
                   open("other", IONF_KIND_STRUCT), text("name", "abc"), close(), close(),
                   open(NULL, IONF_KIND_STRUCT), text("name", "abc"), close(), close(), close()),
              IONF_OK);
    CHECK_INT(f.tab.import_count, 1);
    CHECK_TEXT(&f.tab, 10, "a");
    fixture_close(&f);
}

static void
malformed_versions_count_as_1_and_malformed_max_ids_as_none(void)
{
    const ionf_token versions[] = {null("version", IONF_KIND_INT), number("version", 0),
                                   number("version", -2), text("version", "3")};
    const ionf_token max_ids[] = {null("max_id", IONF_KIND_INT), number("max_id", -1),
                                  text("max_id", "1"), null("max_id", IONF_KIND_NULL)};
    for (size_t i = 0; i < 4; i++) {
        fixture f;
        fixture_open(&f);
        CHECK_INT(FEED(&f.lst, open("imports", IONF_KIND_LIST), open(NULL, IONF_KIND_STRUCT),
                       text("name", "abc"), versions[i], max_ids[i], close(), close(), close()),
                  IONF_OK);
        CHECK_TEXT(&f.tab, 11, "b");
        CHECK_INT(f.tab.max_id, 11);
        fixture_close(&f);
    }
}

static void
empty_imports_share_a_first_sid(void)
{
    fixture f;
    fixture_open(&f);
    CHECK_INT(FEED(&f.lst, open("imports", IONF_KIND_LIST), open(NULL, IONF_KIND_STRUCT),
                   text("name", "none"), number("max_id", 0), close(),
                   open(NULL, IONF_KIND_STRUCT), text("name", "abc"), close(),
                   open(NULL, IONF_KIND_STRUCT), text("name", "gone"), number("max_id", 0),
                   close(), close(), close()),
              IONF_OK);
    CHECK_TEXT(&f.tab, 10, "a");
    CHECK_TEXT(&f.tab, 11, "b");
    CHECK_TEXT(&f.tab, 12, "!");
    fixture_close(&f);
}

/* ---- what is an error ---------------------------------------------------------------------- */

static void
repeated_fields_are_errors(void)
{
    fixture f;
    fixture_open(&f);
    CHECK_INT(FEED(&f.lst, null("symbols", IONF_KIND_LIST), null("symbols", IONF_KIND_LIST)),
              IONF_ERR_SYMTAB);
    CHECK_INT(FEED(&f.lst, number("imports", 1), null("imports", IONF_KIND_LIST)),
              IONF_ERR_SYMTAB);
    CHECK_INT(FEED(&f.lst, open("imports", IONF_KIND_LIST), open(NULL, IONF_KIND_STRUCT),
                   text("name", "abc"), text("name", "abc")),
              IONF_ERR_SYMTAB);
    CHECK_INT(FEED(&f.lst, open("imports", IONF_KIND_LIST), open(NULL, IONF_KIND_STRUCT),
                   number("max_id", 1), number("max_id", 1)),
              IONF_ERR_SYMTAB);
    fixture_close(&f);
}

static void
symbol_ids_may_not_overflow(void)
{
    fixture f;
    fixture_open(&f);
    ionf_token huge = number("max_id", 0);
    huge.as.integer.u64 = (uint64_t)INT64_MAX + 1;
    CHECK_INT(FEED(&f.lst, open("imports", IONF_KIND_LIST), open(NULL, IONF_KIND_STRUCT),
                   text("name", "none"), huge),
              IONF_ERR_SYMTAB);
    const ionf_token max = number("max_id", INT64_MAX);
    CHECK_INT(FEED(&f.lst, open("imports", IONF_KIND_LIST), open(NULL, IONF_KIND_STRUCT),
                   text("name", "a"), max, close(), open(NULL, IONF_KIND_STRUCT),
                   text("name", "b"), max, close()),
              IONF_ERR_SYMTAB);
    fixture_close(&f);
}

/* ---- fields by SID, open content ----------------------------------------------------------- */

static void
field_names_are_compared_by_text_under_any_sid(void)
{
    fixture f;
    fixture_open(&f);
    /* {$7: ["symbols"]}, then {$10: ["x"]}: $10 is "symbols" by now */
    CHECK_INT(FEED(&f.lst, under(7, open(NULL, IONF_KIND_LIST)), text(NULL, "symbols"), close(),
                   close()),
              IONF_OK);
    CHECK(ionf_lst_is_memorable(&f.lst));
    CHECK_INT(
        FEED(&f.lst, under(10, open(NULL, IONF_KIND_LIST)), text(NULL, "x"), close(), close()),
        IONF_OK);
    CHECK(!ionf_lst_is_memorable(&f.lst)); /* these bytes mean something else another time */
    CHECK_TEXT(&f.tab, 10, "x");
    fixture_close(&f);
}

static void
open_content_and_wrong_types_are_ignored(void)
{
    fixture f;
    fixture_open(&f);
    /* {other: {symbols: ["no"]}, imports: ({name: "none"}), symbols: ("no"), name: "no"} */
    CHECK_INT(FEED(&f.lst, open("other", IONF_KIND_STRUCT), open("symbols", IONF_KIND_LIST),
                   text(NULL, "no"), close(), close(), open("imports", IONF_KIND_SEXP),
                   open(NULL, IONF_KIND_STRUCT), text("name", "none"), close(), close(),
                   open("symbols", IONF_KIND_SEXP), text(NULL, "no"), close(), text("name", "no"),
                   close()),
              IONF_OK);
    CHECK_INT(f.tab.max_id, IONF_SYSTEM_MAX_ID);
    fixture_close(&f);
}

/* ---- appends, version markers, recognition ------------------------------------------------- */

static ionf_status
feed_one(ionf_lst *lst, const char *name)
{
    return FEED(lst, open("symbols", IONF_KIND_LIST), text(NULL, name), close(), close());
}

static ionf_status
feed_append(ionf_lst *lst, const char *name)
{
    return FEED(lst, open("symbols", IONF_KIND_LIST), text(NULL, name), close(),
                symbol("imports", IONF_SID_ION_SYMBOL_TABLE), close());
}

static void
an_append_keeps_what_was_there(void)
{
    fixture f;
    fixture_open(&f);
    CHECK_INT(feed_one(&f.lst, "x"), IONF_OK);
    const uint64_t generation = f.tab.generation;
    CHECK_INT(feed_append(&f.lst, "y"), IONF_OK);
    CHECK_INT(feed_append(&f.lst, "z"), IONF_OK);
    CHECK_TEXT(&f.tab, 10, "x");
    CHECK_TEXT(&f.tab, 11, "y");
    CHECK_TEXT(&f.tab, 12, "z");
    CHECK_INT(f.tab.max_id, 12);
    CHECK_INT(f.tab.generation, generation);
    CHECK(!ionf_lst_is_memorable(&f.lst));
    CHECK_INT(feed_one(&f.lst, "w"), IONF_OK);
    CHECK_TEXT(&f.tab, 10, "w");
    CHECK_TEXT(&f.tab, 11, "!");
    CHECK(f.tab.generation != generation);
    fixture_close(&f);
}

static void
an_append_after_a_version_marker_starts_afresh(void)
{
    fixture f;
    fixture_open(&f);
    CHECK_INT(feed_one(&f.lst, "x"), IONF_OK);
    ionf_symtab_ivm(&f.tab);
    CHECK_TEXT(&f.tab, 10, "!");
    CHECK_INT(feed_append(&f.lst, "y"), IONF_OK);
    CHECK_TEXT(&f.tab, 10, "y");
    CHECK_TEXT(&f.tab, 11, "!");
    fixture_close(&f);
}

static bool
recognise(ionf_symtab *tab, const char *bytes)
{
    return ionf_symtab_recognise(tab, (const uint8_t *)bytes, strlen(bytes));
}

static void
a_repeated_table_is_recognised_across_markers_and_resets(void)
{
    fixture f;
    fixture_open(&f);
    CHECK(!recognise(&f.tab, "x-bytes"));
    CHECK_INT(feed_one(&f.lst, "x"), IONF_OK);
    ionf_symtab_remember(&f.tab, (const uint8_t *)"x-bytes", 7);
    const uint64_t generation = f.tab.generation;
    ionf_symtab_ivm(&f.tab);
    CHECK(!recognise(&f.tab, "x-byteZ"));
    CHECK(!recognise(&f.tab, "x-byte"));
    CHECK(recognise(&f.tab, "x-bytes"));
    CHECK_TEXT(&f.tab, 10, "x");
    ionf_symtab_reset(&f.tab);
    CHECK_TEXT(&f.tab, 10, "!");
    CHECK(recognise(&f.tab, "x-bytes"));
    CHECK_TEXT(&f.tab, 10, "x");
    CHECK_INT(f.tab.generation, generation);
    CHECK_INT(feed_one(&f.lst, "y"), IONF_OK);
    CHECK(!recognise(&f.tab, "x-bytes"));
    fixture_close(&f);
}

static void
recognition_drops_appends_and_renews_the_generation(void)
{
    fixture f;
    fixture_open(&f);
    CHECK_INT(feed_one(&f.lst, "x"), IONF_OK);
    ionf_symtab_remember(&f.tab, (const uint8_t *)"x-bytes", 7);
    CHECK_INT(feed_append(&f.lst, "y"), IONF_OK);
    const uint64_t generation = f.tab.generation;
    CHECK(recognise(&f.tab, "x-bytes"));
    CHECK_TEXT(&f.tab, 11, "!");
    CHECK(f.tab.generation != generation);
    CHECK_INT(feed_append(&f.lst, "z"), IONF_OK);
    CHECK_TEXT(&f.tab, 11, "z");
    fixture_close(&f);
}

/* Begin with the struct's bytes at hand, as the binary reader does. */
static ionf_status
feed_content(ionf_lst *lst, ionf_slice content, const ionf_token *tokens, size_t count)
{
    bool is_done;
    ionf_status status = IONF_OK;
    ionf_lst_begin(lst);
    lst->content = content;
    for (size_t i = 0; status == IONF_OK && i < count; i++) {
        status = ionf_lst_token(lst, &tokens[i], &is_done);
    }
    if (status == IONF_OK) {
        ionf_symtab_remember(lst->tab, content.data, content.len);
    }
    return status;
}

static ionf_token
list_of(const char *field, uint64_t content_len)
{
    ionf_token token = open(field, IONF_KIND_LIST);
    token.content_len = content_len;
    return token;
}

/* {imports: [{name: "abc"}], symbols: ["x", null, "symbol number three"]} */
#define BEFORE_LIST                                                                               \
    "\x86\xB6\xD5\x84\x83"                                                                        \
    "abc"                                                                                         \
    "\x87\xBE"
#define LIST "\x81x\x0F\x8E\x93symbol number three"
#define CONTENT BEFORE_LIST "\x98" LIST

static ionf_status
feed_whole(ionf_lst *lst, const char *bytes, uint64_t list_len)
{
    const ionf_token tokens[] = {list_of("imports", 6),
                                 open(NULL, IONF_KIND_STRUCT),
                                 text("name", "abc"),
                                 close(),
                                 close(),
                                 list_of("symbols", list_len),
                                 text(NULL, "x"),
                                 null(NULL, IONF_KIND_NULL),
                                 text(NULL, "symbol number three"),
                                 close(),
                                 close()};
    return feed_content(lst, slice(bytes), tokens, sizeof tokens / sizeof *tokens);
}

static void
check_whole(fixture *f)
{
    CHECK_INT(f->tab.max_id, 14);
    CHECK_TEXT(&f->tab, 11, "b");
    CHECK_TEXT(&f->tab, 12, "x");
    CHECK_TEXT(&f->tab, 13, "?");
    CHECK_TEXT(&f->tab, 14, "symbol number three");
}

static void
a_table_at_hand_is_kept_once(void)
{
    fixture f;
    fixture_open(&f);
    CHECK_INT(feed_whole(&f.lst, CONTENT, strlen(LIST)), IONF_OK);
    check_whole(&f);
    CHECK_INT(f.tab.raw.cap, 0);
    char other[] = CONTENT;
    for (size_t i = 0; i < strlen(CONTENT); i++) {
        other[i] ^= 1;
        CHECK(!recognise(&f.tab, other));
        other[i] ^= 1;
    }
    CHECK(!recognise(&f.tab, CONTENT "\x0F"));
    ionf_symtab_ivm(&f.tab);
    CHECK(recognise(&f.tab, CONTENT));
    check_whole(&f);
    CHECK_INT(feed_append(&f.lst, "y"), IONF_OK);
    CHECK_TEXT(&f.tab, 15, "y");
    CHECK(recognise(&f.tab, CONTENT));
    check_whole(&f);
    CHECK_TEXT(&f.tab, 15, "!");
    CHECK_INT(feed_append(&f.lst, "z"), IONF_OK);
    CHECK_TEXT(&f.tab, 14, "symbol number three");
    CHECK_TEXT(&f.tab, 15, "z");
    CHECK(recognise(&f.tab, CONTENT));
    fixture_close(&f);
}

static void
a_table_written_in_another_way_is_kept_beside(void)
{
    /* an overlong length of "x"; another field behind the list; an annotated null */
    static const struct {
        const char *content;
        uint64_t list_len;
    } tables[] = {{BEFORE_LIST "\x99\x8E\x81x\x0F\x8E\x93symbol number three", 25},
                  {CONTENT "\x84\x20", 24},
                  {BEFORE_LIST "\x9B\x81x\xE3\x81\x84\x0F\x8E\x93symbol number three", 27}};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        const char *const content = tables[i].content;
        fixture f;
        fixture_open(&f);
        CHECK_INT(feed_whole(&f.lst, content, tables[i].list_len), IONF_OK);
        check_whole(&f);
        CHECK_INT(f.tab.raw.len, strlen(content));
        CHECK(!recognise(&f.tab, CONTENT));
        ionf_symtab_ivm(&f.tab);
        CHECK(recognise(&f.tab, content));
        check_whole(&f);
        CHECK_INT(feed_append(&f.lst, "y"), IONF_OK);
        CHECK_TEXT(&f.tab, 15, "y");
        CHECK(recognise(&f.tab, content));
        check_whole(&f);
        fixture_close(&f);
    }
}

static void
an_append_at_hand_leaves_the_table_recognisable(void)
{
    fixture f;
    fixture_open(&f);
    CHECK_INT(feed_whole(&f.lst, CONTENT, strlen(LIST)), IONF_OK);
    /* {imports: $ion_symbol_table, symbols: ["y"]}, not remembered */
    const ionf_token tokens[] = {symbol("imports", IONF_SID_ION_SYMBOL_TABLE),
                                 list_of("symbols", 2), text(NULL, "y"), close(), close()};
    for (int round = 0; round < 3; round++) {
        bool is_done = false;
        ionf_lst_begin(&f.lst);
        f.lst.content = slice("\x86\x71\x03\x87\xB2\x81y");
        for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++) {
            CHECK_INT(ionf_lst_token(&f.lst, &tokens[i], &is_done), IONF_OK);
        }
        CHECK(is_done);
        CHECK_TEXT(&f.tab, 15 + (uint64_t)round, "y");
    }
    /* what stood before the symbols that were appended is not kept */
    CHECK_INT(f.tab.text.len, 3 + strlen(CONTENT) + 3 * 2);
    CHECK_TEXT(&f.tab, 14, "symbol number three");
    CHECK(recognise(&f.tab, CONTENT));
    check_whole(&f);
    fixture_close(&f);
}

static void
reset_releases_imports_and_forgets_them(void)
{
    fixture f;
    fixture_open(&f);
    CHECK_INT(FEED(&f.lst, open("imports", IONF_KIND_LIST), open(NULL, IONF_KIND_STRUCT),
                   text("name", "abc"), close(), close(), close()),
              IONF_OK);
    CHECK(ionf_lst_is_memorable(&f.lst));
    ionf_symtab_remember(&f.tab, (const uint8_t *)"imports", 7);
    CHECK(recognise(&f.tab, "imports"));
    ionf_symtab_reset(&f.tab);
    CHECK(!recognise(&f.tab, "imports"));
    CHECK_INT(f.tab.import_count, 0);
    CHECK(f.tab.catalog == NULL);
    f.tables.count = 1; /* nothing else holds version 3 */
    f.tables.tables[1]->release(f.tables.tables[1]);
    fixture_close(&f);
}

static void
an_import_that_the_catalog_may_yet_answer_better_is_not_memorable(void)
{
    fixture f;
    fixture_open(&f);
    CHECK_INT(FEED(&f.lst, open("imports", IONF_KIND_LIST), open(NULL, IONF_KIND_STRUCT),
                   text("name", "none"), number("max_id", 1), close(), close(), close()),
              IONF_OK);
    CHECK(!ionf_lst_is_memorable(&f.lst));
    fixture_close(&f);
}

static void
an_abandoned_table_is_released_by_reset(void)
{
    fixture f;
    fixture_open(&f);
    const ionf_token tokens[] = {open("imports", IONF_KIND_LIST), open(NULL, IONF_KIND_STRUCT),
                                 text("name", "abc"), close()};
    ionf_lst_begin(&f.lst);
    for (size_t i = 0; i < 4; i++) {
        bool is_done;
        CHECK_INT(ionf_lst_token(&f.lst, &tokens[i], &is_done), IONF_OK);
    }
    CHECK_INT(f.lst.import_count, 1);
    ionf_lst_reset(&f.lst);
    CHECK_INT(f.lst.import_count, 0);
    fixture_close(&f); /* counts the blocks: a reference too many would keep one alive */
}

/* ---- shared tables, memory ----------------------------------------------------------------- */

static void
a_shared_table_copies_and_counts(void)
{
    ct_heap heap = {.fail_at = -1};
    const ionf_alloc alloc = ct_heap_allocator(&heap);
    char first[] = "first";
    const ionf_slice symbols[3] = {slice(first), slice(NULL), slice("")};
    ionf_shared *table;
    CHECK_INT(ionf_shared_create(&alloc, slice("t"), 2, symbols, 3, &table), IONF_OK);
    first[0] = 'X';
    CHECK_BYTES(table->symbols[0].data, table->symbols[0].len, "first", 5);
    CHECK(table->symbols[1].data == NULL);
    CHECK(table->symbols[2].data != NULL && table->symbols[2].len == 0);
    CHECK_INT(table->max_id, 3);
    CHECK_INT(table->version, 2);
    table->retain(table);
    table->release(table);
    CHECK_INT(heap.live_blocks, 1);
    table->release(table);
    CHECK_INT(heap.live_blocks, 0);
    CHECK_INT(ionf_shared_create(&alloc, slice(""), 1, symbols, 3, &table), IONF_ERR_SYMTAB);
    CHECK_INT(ionf_shared_create(&alloc, slice("t"), 0, symbols, 3, &table), IONF_ERR_SYMTAB);
}

/* `count` symbols of 10 bytes each. */
static ionf_status
feed_many(ionf_lst *lst, size_t count)
{
    const ionf_token list = open("symbols", IONF_KIND_LIST);
    const ionf_token end = close();
    bool is_done;
    ionf_lst_begin(lst);
    ionf_status status = ionf_lst_token(lst, &list, &is_done);
    for (size_t i = 0; status == IONF_OK && i < count; i++) {
        char name[24];
        snprintf(name, sizeof name, "s%09zu", i);
        const ionf_token token = text(NULL, name);
        status = ionf_lst_token(lst, &token, &is_done);
    }
    for (int i = 0; status == IONF_OK && i < 2; i++) {
        status = ionf_lst_token(lst, &end, &is_done);
    }
    return status;
}

static void
a_large_table_takes_what_it_needs(void)
{
    const size_t count = 70000; /* just beyond a power of two */
    const size_t needed = count * (11 + 4);
    fixture f;
    fixture_open(&f);
    CHECK_INT(feed_many(&f.lst, count), IONF_OK);
    CHECK(ionf_symtab_retained(&f.tab) < needed + 65536);
    CHECK_TEXT(&f.tab, 10, "s000000000");
    CHECK_TEXT(&f.tab, 10 + count - 1, "s000069999");
    CHECK_INT(feed_append(&f.lst, "y"), IONF_OK);
    CHECK_TEXT(&f.tab, 10 + count - 1, "s000069999");
    CHECK_TEXT(&f.tab, 10 + count, "y");
    for (int i = 0; i < 4; i++) {
        CHECK_INT(feed_one(&f.lst, "x"), IONF_OK);
    }
    CHECK(ionf_symtab_retained(&f.tab) + ionf_lst_retained(&f.lst) >= needed);
    fixture_close(&f);
}

static void
a_large_table_lives_on_when_it_cannot_be_trimmed(void)
{
    fixture f;
    fixture_open(&f);
    CHECK_INT(feed_many(&f.lst, 70000), IONF_OK);
    const long long calls = f.heap.calls;
    fixture_close(&f);
    for (long long before_last = 1; before_last <= 2; before_last++) {
        fixture_open(&f);
        f.heap.fail_at = calls - before_last;
        CHECK_INT(feed_many(&f.lst, 70000), IONF_OK);
        CHECK(ionf_symtab_retained(&f.tab) > 70000 * (11 + 4) + 2 * 65536);
        CHECK_TEXT(&f.tab, 10 + 69999, "s000069999");
        CHECK_INT(feed_append(&f.lst, "y"), IONF_OK);
        CHECK_TEXT(&f.tab, 10 + 70000, "y");
        fixture_close(&f);
    }
}

/* Symbols begin below 4 GiB. Nobody has the memory, so the text only says that it is as long. */
static void
symbols_beyond_4_gib_are_refused(void)
{
    fixture f;
    fixture_open(&f);
    const ionf_token tokens[] = {open("symbols", IONF_KIND_LIST), text(NULL, "y")};
    bool is_done;
    ionf_lst_begin(&f.lst);
    CHECK_INT(ionf_lst_token(&f.lst, &tokens[0], &is_done), IONF_OK);
    f.lst.text.len = (size_t)UINT32_MAX + 1;
    CHECK_INT(ionf_lst_token(&f.lst, &tokens[1], &is_done), IONF_ERR_SYMTAB);
    CHECK(f.lst.expected != NULL);
    f.lst.text.len = 0;

    CHECK_INT(feed_one(&f.lst, "x"), IONF_OK);
    const size_t len = f.tab.text.len;
    f.tab.text.len = (size_t)UINT32_MAX - 1; /* y would begin there, z one too far */
    CHECK_INT(FEED(&f.lst, open("symbols", IONF_KIND_LIST), text(NULL, "y"), text(NULL, "z"),
                   close(), symbol("imports", IONF_SID_ION_SYMBOL_TABLE), close()),
              IONF_ERR_SYMTAB);
    CHECK(f.lst.expected != NULL);
    f.tab.text.len = len;
    CHECK_INT(f.tab.max_id, 10);
    CHECK_TEXT(&f.tab, 10, "x");
    fixture_close(&f);
}

/* Import, local symbol and append, with the allocation number `fail_at` failing. */
static ionf_status
run_all(fixture *f)
{
    ionf_status status = FEED(&f->lst, open("imports", IONF_KIND_LIST),
                              open(NULL, IONF_KIND_STRUCT), text("name", "abc"), close(), close(),
                              open("symbols", IONF_KIND_LIST), text(NULL, "x"), close(), close());
    if (status == IONF_OK) {
        ionf_symtab_remember(&f->tab, (const uint8_t *)"bytes", 5);
        status = feed_append(&f->lst, "y");
    }
    if (status == IONF_OK) {
        status = feed_whole(&f->lst, CONTENT, strlen(LIST));
    }
    if (status == IONF_OK) {
        status = feed_append(&f->lst, "y");
    }
    return status;
}

static void
every_allocation_may_fail(void)
{
    bool has_passed = false;
    for (long long fail_at = 0; !has_passed; fail_at++) {
        fixture f;
        fixture_open(&f);
        f.heap.fail_at = f.heap.calls + fail_at;
        const ionf_status status = run_all(&f);
        const bool has_failed = f.heap.calls > f.heap.fail_at;
        CHECK(status == IONF_OK || (has_failed && status == IONF_ERR_NOMEM));
        has_passed = !has_failed;
        f.heap.fail_at = -1;
        CHECK_INT(run_all(&f), IONF_OK); /* a failure leaves everything usable */
        CHECK_TEXT(&f.tab, 12, "x");
        CHECK_TEXT(&f.tab, 14, "symbol number three");
        CHECK_TEXT(&f.tab, 15, "y");
        fixture_close(&f);
    }
}

int
main(void)
{
    RUN(system_symbols_have_their_ids);
    RUN(a_fresh_table_allocates_nothing);
    RUN(local_symbols_follow_the_system_table);
    RUN(an_unknown_local_symbol_has_no_import_location);
    RUN(symbols_may_have_any_length);
    RUN(each_symbol_is_ascii_or_not);
    RUN(is_text_compares_known_text_only);
    RUN(an_exact_import_takes_the_length_of_its_table);
    RUN(max_id_pads_and_truncates);
    RUN(an_inexact_import_needs_max_id_and_takes_the_greatest_version);
    RUN(an_absent_import_costs_one_row_however_long);
    RUN(imports_without_a_usable_name_or_shape_are_ignored);
    RUN(malformed_versions_count_as_1_and_malformed_max_ids_as_none);
    RUN(empty_imports_share_a_first_sid);
    RUN(repeated_fields_are_errors);
    RUN(symbol_ids_may_not_overflow);
    RUN(field_names_are_compared_by_text_under_any_sid);
    RUN(open_content_and_wrong_types_are_ignored);
    RUN(an_append_keeps_what_was_there);
    RUN(an_append_after_a_version_marker_starts_afresh);
    RUN(a_repeated_table_is_recognised_across_markers_and_resets);
    RUN(recognition_drops_appends_and_renews_the_generation);
    RUN(a_table_at_hand_is_kept_once);
    RUN(a_table_written_in_another_way_is_kept_beside);
    RUN(an_append_at_hand_leaves_the_table_recognisable);
    RUN(reset_releases_imports_and_forgets_them);
    RUN(an_import_that_the_catalog_may_yet_answer_better_is_not_memorable);
    RUN(an_abandoned_table_is_released_by_reset);
    RUN(a_shared_table_copies_and_counts);
    RUN(a_large_table_takes_what_it_needs);
    RUN(a_large_table_lives_on_when_it_cannot_be_trimmed);
    RUN(symbols_beyond_4_gib_are_refused);
    RUN(every_allocation_may_fail);
    return ct_end();
}
