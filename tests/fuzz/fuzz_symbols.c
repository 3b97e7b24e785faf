/* Target: the writer's symbol map against a list that is searched from its start. The input says what is
 * interned, looked up, forgotten, imported and written; what was written is read back by the reader's
 * symbol table, which must give the same SIDs the same texts. */
#include "fuzz.h"
#include "ionf_symmap.h"

#define SYMBOL_MAX 512

typedef struct model {
    ionf_slice texts[SYMBOL_MAX]; /* by SID; data NULL: no text */
    uint64_t max_id;
    uint64_t first_local;
} model;

static uint64_t
model_find(const model *m, ionf_slice text)
{
    for (uint64_t sid = 1; sid <= m->max_id; sid++) {
        if (m->texts[sid].data != NULL && m->texts[sid].len == text.len &&
            memcmp(m->texts[sid].data, text.data, text.len) == 0) {
            return sid;
        }
    }
    return 0;
}

static void
model_begin(model *m)
{
    memset(m, 0, sizeof *m);
    for (uint64_t sid = 1; sid <= IONF_SYSTEM_MAX_ID; sid++) {
        m->texts[sid] = ionf_system_symbol(sid);
    }
    m->max_id = IONF_SYSTEM_MAX_ID;
    m->first_local = m->max_id + 1;
}

static void
import_all(ionf_symmap *map, model *m, unsigned choice)
{
    static const uint8_t names[] = {'t', 't', 'u'};
    static const uint32_t versions[] = {1, 2, 3};
    for (; choice % 4 != 3 && m->max_id < 64; choice /= 4) {
        const ionf_catalog *const catalog = fuzz_catalog();
        const ionf_slice name = {&names[choice % 4], 1};
        const ionf_shared *const shared = catalog->find(NULL, name, versions[choice % 4]);
        FUZZ_CHECK(ionf_symmap_import_add(map, shared) == IONF_OK);
        for (uint64_t i = 0; i < shared->max_id; i++) {
            m->texts[++m->max_id] = shared->symbols[i];
        }
        shared->release(shared);
        if (choice < 4) {
            break;
        }
    }
    m->first_local = m->max_id + 1;
}

/* The table as readers see it. */
static void
check_written(const model *m, const ionf_buf *out)
{
    const ionf_limits limits = ionf_limits_default();
    fuzz_reader r;
    ionf_token token;
    fuzz_reader_init(&r, ionf_alloc_libc());
    fuzz_reader_open(&r, true, out->data, out->len, true, &limits, fuzz_catalog());
    FUZZ_CHECK(fuzz_next(&r, &token) == IONF_OK && token.kind == IONF_KIND_EOF);
    FUZZ_CHECK(r.bin.base.symtab.max_id == m->max_id);
    for (uint64_t sid = 1; sid <= m->max_id; sid++) {
        ionf_symbol symbol;
        FUZZ_CHECK(ionf_symtab_find(&r.bin.base.symtab, sid, &symbol) == IONF_OK);
        FUZZ_CHECK((symbol.text == NULL) == (m->texts[sid].data == NULL));
        FUZZ_CHECK(symbol.text == NULL ||
                   (symbol.len == m->texts[sid].len &&
                    memcmp(symbol.text, m->texts[sid].data, symbol.len) == 0));
    }
    fuzz_reader_destroy(&r);
}

/* A text of the input, of 0 to 7 bytes without the high bit: often one that was met before. */
static ionf_slice
take_text(const uint8_t **p, const uint8_t *end, uint8_t *room)
{
    const size_t left = (size_t)(end - *p);
    const size_t wanted = **p & 7;
    const size_t len = wanted < left - 1 ? wanted : left - 1;
    for (size_t i = 0; i < len; i++) {
        room[i] = (*p)[1 + i] & 0x7F;
    }
    *p += 1 + len;
    return (ionf_slice){room, len};
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t room[SYMBOL_MAX][8];
    static model m;
    size_t used = 0;
    fuzz_heap heap;
    const ionf_alloc alloc = fuzz_alloc(&heap, size);
    ionf_symmap map;
    ionf_buf out;
    ionf_symmap_init(&map, alloc);
    ionf_buf_init(&out, alloc);
    model_begin(&m);
    const uint8_t *p = data;
    const uint8_t *const end = data + size;
    if (p != end) {
        ionf_symmap_set_seed(&map, *p);
        import_all(&map, &m, *p++);
    }
    size_t emitted = 0;
    while (p != end && used < SYMBOL_MAX - 80) {
        const unsigned choice = *p++;
        if (choice % 16 == 0) {
            const size_t count = (size_t)(m.max_id + 1 - m.first_local);
            const size_t kept = emitted + (count - emitted) * (choice / 16) / 16;
            ionf_symmap_truncate(&map, kept);
            m.max_id = m.first_local - 1 + kept;
        } else if (choice % 16 == 1) {
            const size_t before = out.len;
            const bool with_marker = out.len == 0 || choice > 128;
            const size_t wanted = ionf_symmap_binary_size(&map, with_marker);
            FUZZ_CHECK(ionf_symmap_write_binary(&map, with_marker, &out) == IONF_OK);
            FUZZ_CHECK(out.len - before == wanted);
            emitted = (size_t)(m.max_id + 1 - m.first_local);
            check_written(&m, &out);
        } else if (choice == 2) {
            ionf_symmap_new_context(&map);
            m.max_id = m.first_local - 1;
            emitted = 0;
            out.len = 0;
        } else if (choice == 4) {
            uint64_t sid = 0;
            FUZZ_CHECK(ionf_symmap_gap(&map, &sid) == IONF_OK && sid == m.max_id + 1);
            m.texts[++m.max_id] = (ionf_slice){NULL, 0};
            used++;
        } else if (choice == 3 || choice == 5) {
            if (choice == 5) {
                ionf_symmap_trim(&map);
                out.len = 0;
                FUZZ_CHECK(ionf_symmap_write_binary(&map, true, &out) == IONF_OK);
                check_written(&m, &out);
            }
            ionf_symmap_reset(&map);
            model_begin(&m);
            import_all(&map, &m, (unsigned)used);
            emitted = 0;
            out.len = 0;
        } else if (p != end) {
            const ionf_slice text = take_text(&p, end, room[used]);
            const uint64_t wanted = model_find(&m, text);
            uint64_t sid = 0;
            FUZZ_CHECK(ionf_symmap_find(&map, text.data, text.len, &sid) == IONF_OK &&
                       sid == wanted);
            if (choice % 2 == 0) {
                FUZZ_CHECK(ionf_symmap_intern(&map, text.data, text.len, &sid) == IONF_OK);
                if (wanted == 0) {
                    m.texts[++m.max_id] = text;
                    used++;
                }
                FUZZ_CHECK(sid == (wanted == 0 ? m.max_id : wanted));
            }
        }
        FUZZ_CHECK(ionf_symmap_max_id(&map) == m.max_id);
    }
    ionf_buf_destroy(&out);
    ionf_symmap_destroy(&map);
    fuzz_heap_end(&heap);
    fuzz_catalog_end();
    return 0;
}
