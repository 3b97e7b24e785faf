/* ionf_bin_write: the bytes of each value, lengths around every boundary at every preallocation
 * against a naive encoder, two flushes on one writer, undoing. */
#include "ct.h"

#include <math.h>

#include "ionf_bin_write.h"

#define LEN(literal) (sizeof(literal) - 1)

typedef struct fixture {
    ionf_bin_writer w;
    ionf_buf body;
} fixture;

static void
open_fixture(fixture *f, uint8_t preallocate)
{
    ionf_bin_writer_init(&f->w, ionf_alloc_libc());
    ionf_buf_init(&f->body, ionf_alloc_libc());
    f->w.body = &f->body;
    f->w.preallocate = preallocate;
}

static void
close_fixture(fixture *f)
{
    ionf_bin_writer_destroy(&f->w);
    ionf_buf_destroy(&f->body);
}

/* The output, spliced; the caller frees it. */
static uint8_t *
take(ionf_bin_writer *w, size_t *len)
{
    *len = ionf_bin_writer_body_size(w);
    uint8_t *out = malloc(*len + 1);
    CHECK(ionf_bin_writer_emit(w, out) == out + *len);
    CHECK(!ionf_bin_writer_is_plain(w) || *len == w->body->len);
    return out;
}

/* `call` uses `w`; whatever the preallocation, `expected` comes out. */
#define CHECK_WRITES(call, expected)                                                              \
    do {                                                                                          \
        for (uint8_t ct_room = 0; ct_room <= 2; ct_room++) {                                      \
            fixture ct_f;                                                                         \
            open_fixture(&ct_f, ct_room);                                                         \
            ionf_bin_writer *const w = &ct_f.w;                                                   \
            size_t ct_len;                                                                        \
            CHECK_INT((call), IONF_OK);                                                           \
            uint8_t *ct_out = take(w, &ct_len);                                                   \
            CHECK_BYTES(ct_out, ct_len, (expected), LEN(expected));                               \
            free(ct_out);                                                                         \
            close_fixture(&ct_f);                                                                 \
        }                                                                                         \
    } while (0)

static void
test_null_and_bool(void)
{
    static const char nulls[] = "\x0F\x1F\x2F\x4F\x5F\x6F\x7F\x8F\x9F\xAF\xBF\xCF\xDF";
    for (unsigned kind = 0; kind <= IONF_KIND_STRUCT; kind++) {
        fixture f;
        open_fixture(&f, 0);
        CHECK_INT(ionf_bin_write_null(&f.w, (ionf_kind)kind), IONF_OK);
        CHECK_BYTES(f.body.data, f.body.len, nulls + kind, 1);
        close_fixture(&f);
    }
    CHECK_WRITES(ionf_bin_write_bool(w, false), "\x10");
    CHECK_WRITES(ionf_bin_write_bool(w, true), "\x11");
}

static void
test_ints(void)
{
    CHECK_WRITES(ionf_bin_write_i64(w, 0), "\x20");
    CHECK_WRITES(ionf_bin_write_i64(w, 1), "\x21\x01");
    CHECK_WRITES(ionf_bin_write_i64(w, -1), "\x31\x01");
    CHECK_WRITES(ionf_bin_write_i64(w, 255), "\x21\xFF");
    CHECK_WRITES(ionf_bin_write_i64(w, 256), "\x22\x01\x00");
    CHECK_WRITES(ionf_bin_write_i64(w, -65536), "\x33\x01\x00\x00");
    CHECK_WRITES(ionf_bin_write_i64(w, INT64_MAX), "\x28\x7F\xFF\xFF\xFF\xFF\xFF\xFF\xFF");
    CHECK_WRITES(ionf_bin_write_i64(w, INT64_MIN), "\x38\x80\x00\x00\x00\x00\x00\x00\x00");
}

/* Any number of bytes gives the shortest form. */
static void
test_int_widths(void)
{
    for (unsigned bytes = 1; bytes <= 8; bytes++) {
        fixture f;
        open_fixture(&f, 0);
        const uint64_t value = UINT64_MAX >> (64 - 8 * bytes);
        const ionf_integer integer = {.u64 = value, .form = IONF_INT_U64, .is_negative = true};
        CHECK_INT(ionf_bin_write_integer(&f.w, &integer), IONF_OK);
        uint8_t expected[9];
        memset(expected, 0xFF, sizeof expected);
        expected[0] = (uint8_t)(0x30 | bytes);
        CHECK_BYTES(f.body.data, f.body.len, expected, bytes + 1);
        close_fixture(&f);
    }
}

static ionf_integer
big(uint8_t form, const char *data, size_t len, bool is_negative)
{
    const ionf_integer integer = {0, (const uint8_t *)data, len, form, is_negative};
    return integer;
}

static void
test_big_ints(void)
{
    const ionf_integer nine = big(IONF_INT_BE, "\x01\0\0\0\0\0\0\0\0", 9, false);
    CHECK_WRITES(ionf_bin_write_integer(w, &nine), "\x29\x01\0\0\0\0\0\0\0\0");
    const ionf_integer digits = big(IONF_INT_DIGITS, "18446744073709551616", 20, true);
    CHECK_WRITES(ionf_bin_write_integer(w, &digits), "\x39\x01\0\0\0\0\0\0\0\0");
    const ionf_integer fourteen = big(IONF_INT_BE, "ABCDEFGHIJKLMN", 14, false);
    CHECK_WRITES(ionf_bin_write_integer(w, &fourteen), "\x2E\x8E"
                                                       "ABCDEFGHIJKLMN");
    const ionf_integer zero = {.is_negative = true};
    CHECK_WRITES(ionf_bin_write_integer(w, &zero), "\x20");
}

static void
test_doubles(void)
{
    CHECK_WRITES(ionf_bin_write_double(w, 0.0), "\x40");
    CHECK_WRITES(ionf_bin_write_double(w, -0.0), "\x48\x80\0\0\0\0\0\0\0");
    CHECK_WRITES(ionf_bin_write_double(w, 1.5), "\x48\x3F\xF8\0\0\0\0\0\0");
    CHECK_WRITES(ionf_bin_write_double(w, -INFINITY), "\x48\xFF\xF0\0\0\0\0\0\0");
    CHECK_WRITES(ionf_bin_write_double(w, (double)NAN), "\x48\x7F\xF8\0\0\0\0\0\0");
    CHECK_WRITES(ionf_bin_write_double(w, -(double)NAN), "\x48\x7F\xF8\0\0\0\0\0\0");
}

static void
test_decimals(void)
{
    const ionf_decimal zero = {{0}, 0};
    CHECK_WRITES(ionf_bin_write_decimal(w, &zero), "\x50");
    const ionf_decimal plain = {{.u64 = 1}, -1};
    CHECK_WRITES(ionf_bin_write_decimal(w, &plain), "\x52\xC1\x01");
    const ionf_decimal large = {
        big(IONF_INT_BE, "\x71\x42\x43\x44\x45\x46\x47\x48\x49\x4A\x4B\x4C\x4D", 13, true), 2};
    CHECK_WRITES(ionf_bin_write_decimal(w, &large),
                 "\x5E\x8E\x82\xF1\x42\x43\x44\x45\x46\x47\x48\x49\x4A\x4B\x4C\x4D");
}

static void
test_timestamps(void)
{
    ionf_timestamp ts = {.year = 2000, .month = 1, .day = 1, .precision = IONF_PRECISION_YEAR};
    CHECK_WRITES(ionf_bin_write_timestamp(w, &ts), "\x63\xC0\x0F\xD0");
    ts.precision = IONF_PRECISION_SECOND;
    ts.has_offset = true;
    CHECK_WRITES(ionf_bin_write_timestamp(w, &ts), "\x68\x80\x0F\xD0\x81\x81\x80\x80\x80");
    ts.precision = IONF_PRECISION_FRACTION;
    ts.fraction_digits = 18;
    ts.fraction.u64 = 123456789012345678;
    CHECK_WRITES(ionf_bin_write_timestamp(w, &ts),
                 "\x6E\x91\x80\x0F\xD0\x81\x81\x80\x80\x80\xD2\x01\xB6\x9B\x4B\xA6\x30\xF3\x4E");
}

static void
test_symbols_and_fields(void)
{
    CHECK_WRITES(ionf_bin_write_symbol(w, 0), "\x70");
    CHECK_WRITES(ionf_bin_write_symbol(w, 10), "\x71\x0A");
    CHECK_WRITES(ionf_bin_write_symbol(w, 256), "\x72\x01\x00");
    CHECK_WRITES(ionf_bin_write_field(w, 0), "\x80");
    CHECK_WRITES(ionf_bin_write_field(w, 127), "\xFF");
    CHECK_WRITES(ionf_bin_write_field(w, 128), "\x01\x80");
    CHECK_WRITES(ionf_bin_write_field(w, 16383), "\x7F\xFF");
    CHECK_WRITES(ionf_bin_write_field(w, 16384), "\x01\x00\x80");
    CHECK_WRITES(ionf_bin_write_field(w, UINT64_MAX), "\x01\x7F\x7F\x7F\x7F\x7F\x7F\x7F\x7F\xFF");
}

static void
test_strings_and_lobs(void)
{
    uint8_t text[200], expected[210];
    for (size_t i = 0; i < sizeof text; i++) {
        text[i] = (uint8_t)('!' + i % 90);
    }
    for (size_t len = 0; len <= sizeof text; len++) {
        fixture f;
        open_fixture(&f, 1);
        /* From the end, so that a read beyond it is seen. */
        const uint8_t *from = text + sizeof text - len;
        CHECK_INT(ionf_bin_write_string(&f.w, from, len), IONF_OK);
        size_t head = 1;
        expected[0] = (uint8_t)(len < 14 ? 0x80 | len : 0x8E);
        if (len >= 128) {
            expected[head++] = (uint8_t)(len >> 7);
        }
        if (len >= 14) {
            expected[head++] = (uint8_t)(len | 0x80);
        }
        memcpy(expected + head, from, len);
        CHECK_BYTES(f.body.data, f.body.len, expected, head + len);
        close_fixture(&f);
    }
    CHECK_WRITES(ionf_bin_write_lob(w, IONF_KIND_CLOB, (const uint8_t *)"ab", 2), "\x92"
                                                                                  "ab");
    CHECK_WRITES(ionf_bin_write_lob(w, IONF_KIND_BLOB, NULL, 0), "\xA0");
}

static ionf_status
write_containers(ionf_bin_writer *w)
{
    const uint64_t sids[] = {10, 300};
    ionf_status status = ionf_bin_write_begin(w, IONF_KIND_STRUCT);
    status = status ? status : ionf_bin_write_field(w, 11);
    status = status ? status : ionf_bin_write_begin(w, IONF_KIND_LIST);
    status = status ? status : ionf_bin_write_end(w);
    status = status ? status : ionf_bin_write_field(w, 12);
    status = status ? status : ionf_bin_write_annotations(w, sids, 2);
    status = status ? status : ionf_bin_write_begin(w, IONF_KIND_SEXP);
    status = status ? status : ionf_bin_write_i64(w, 1);
    status = status ? status : ionf_bin_write_end(w);
    status = status ? status : ionf_bin_write_annotations_end(w);
    return status ? status : ionf_bin_write_end(w);
}

static void
test_containers(void)
{
    CHECK_WRITES(write_containers(w), "\xDB\x8B\xB0\x8C\xE7\x83\x8A\x02\xAC\xC2\x21\x01");
}

static void
test_wrong_calls(void)
{
    const uint64_t sid = 10;
    fixture f;
    open_fixture(&f, 1);
    CHECK_INT(ionf_bin_write_end(&f.w), IONF_ERR_STATE);
    CHECK_INT(ionf_bin_write_annotations_end(&f.w), IONF_ERR_STATE);
    CHECK_INT(ionf_bin_write_annotations(&f.w, &sid, 0), IONF_ERR_STATE);
    CHECK_INT(ionf_bin_write_annotations(&f.w, &sid, 1), IONF_OK);
    CHECK_INT(ionf_bin_write_end(&f.w), IONF_ERR_STATE);
    CHECK_INT(ionf_bin_write_begin(&f.w, IONF_KIND_LIST), IONF_OK);
    CHECK_INT(ionf_bin_write_annotations_end(&f.w), IONF_ERR_STATE);
    close_fixture(&f);
}

static void
test_max_depth(void)
{
    const uint64_t sid = 10;
    fixture f;
    open_fixture(&f, 1);
    f.w.max_depth = 2;
    CHECK_INT(ionf_bin_write_begin(&f.w, IONF_KIND_LIST), IONF_OK);
    CHECK_INT(ionf_bin_write_annotations(&f.w, &sid, 1), IONF_OK);
    CHECK_INT(ionf_bin_write_begin(&f.w, IONF_KIND_LIST), IONF_OK);
    CHECK_INT(ionf_bin_write_begin(&f.w, IONF_KIND_LIST), IONF_ERR_DEPTH);
    CHECK_INT(f.w.depth, 2);
    close_fixture(&f);
}

/* $ion_symbol_table::{...} at top level would vanish; elsewhere it is data. */
static void
test_symbol_table_is_reserved(void)
{
    const uint64_t first[] = {3, 10}, second[] = {10, 3};
    fixture f;
    open_fixture(&f, 1);
    CHECK_INT(ionf_bin_write_annotations(&f.w, first, 2), IONF_OK);
    CHECK_INT(ionf_bin_write_begin(&f.w, IONF_KIND_STRUCT), IONF_ERR_RESERVED);
    CHECK_INT(ionf_bin_write_null(&f.w, IONF_KIND_STRUCT), IONF_ERR_RESERVED);
    CHECK_INT(ionf_bin_write_begin(&f.w, IONF_KIND_LIST), IONF_OK);
    CHECK_INT(ionf_bin_write_annotations(&f.w, first, 1), IONF_OK);
    CHECK_INT(ionf_bin_write_begin(&f.w, IONF_KIND_STRUCT), IONF_OK);
    CHECK_INT(ionf_bin_write_end(&f.w), IONF_OK);
    CHECK_INT(ionf_bin_write_annotations_end(&f.w), IONF_OK);
    CHECK_INT(ionf_bin_write_end(&f.w), IONF_OK);
    CHECK_INT(ionf_bin_write_annotations_end(&f.w), IONF_OK);
    CHECK_INT(ionf_bin_write_begin(&f.w, IONF_KIND_STRUCT), IONF_OK);
    CHECK_INT(ionf_bin_write_end(&f.w), IONF_OK);
    CHECK_INT(ionf_bin_write_annotations(&f.w, second, 2), IONF_OK);
    CHECK_INT(ionf_bin_write_null(&f.w, IONF_KIND_STRUCT), IONF_OK);
    CHECK_INT(ionf_bin_write_annotations_end(&f.w), IONF_OK);
    CHECK_BYTES(f.body.data, f.body.len,
                "\xE8\x82\x83\x8A\xB4\xE3\x81\x83\xD0\xD0\xE4\x82\x8A\x83\xDF", 15);
    close_fixture(&f);
}

/* Readers drop $ion_1_0 at top level; elsewhere it is data. */
static void
test_version_marker_is_reserved(void)
{
    const uint64_t sid = 10;
    fixture f;
    open_fixture(&f, 1);
    CHECK_INT(ionf_bin_write_symbol(&f.w, IONF_SID_ION_1_0), IONF_ERR_RESERVED);
    CHECK_INT(f.body.len, 0);
    CHECK_INT(ionf_bin_write_annotations(&f.w, &sid, 1), IONF_OK);
    CHECK_INT(ionf_bin_write_symbol(&f.w, IONF_SID_ION_1_0), IONF_OK);
    CHECK_INT(ionf_bin_write_annotations_end(&f.w), IONF_OK);
    CHECK_INT(ionf_bin_write_begin(&f.w, IONF_KIND_LIST), IONF_OK);
    CHECK_INT(ionf_bin_write_symbol(&f.w, IONF_SID_ION_1_0), IONF_OK);
    CHECK_INT(ionf_bin_write_end(&f.w), IONF_OK);
    CHECK_BYTES(f.body.data, f.body.len, "\xE4\x81\x8A\x71\x02\xB2\x71\x02", 8);
    close_fixture(&f);
}

static uint8_t zeros[40000];

/* sids[0 .. first]::sids[first]::sids[first + 1]::[a blob of len zeros], by three calls. */
static ionf_status
write_joined(ionf_bin_writer *w, const uint64_t *sids, size_t first, size_t len)
{
    ionf_status status = ionf_bin_write_annotations(w, sids, first);
    status = status ? status : ionf_bin_write_annotations(w, sids + first, 1);
    status = status ? status : ionf_bin_write_annotations(w, sids + first + 1, 1);
    status = status ? status : ionf_bin_write_begin(w, IONF_KIND_LIST);
    status = status ? status : ionf_bin_write_lob(w, IONF_KIND_BLOB, zeros, len);
    status = status ? status : ionf_bin_write_end(w);
    status = status ? status : ionf_bin_write_annotations_end(w);
    status = status ? status : ionf_bin_write_annotations_end(w);
    return status ? status : ionf_bin_write_annotations_end(w);
}

/* The same by one call. */
static ionf_status
write_at_once(ionf_bin_writer *w, const uint64_t *sids, size_t count, size_t len)
{
    ionf_status status = ionf_bin_write_annotations(w, sids, count);
    status = status ? status : ionf_bin_write_begin(w, IONF_KIND_LIST);
    status = status ? status : ionf_bin_write_lob(w, IONF_KIND_BLOB, zeros, len);
    status = status ? status : ionf_bin_write_end(w);
    return status ? status : ionf_bin_write_annotations_end(w);
}

static void
check_joined(uint8_t preallocate, const uint64_t *sids, size_t first, size_t len)
{
    fixture f[2];
    uint8_t *out[2];
    size_t out_len[2];
    for (int i = 0; i < 2; i++) {
        open_fixture(&f[i], preallocate);
        CHECK_INT(ionf_bin_write_begin(&f[i].w, IONF_KIND_SEXP), IONF_OK);
        CHECK_INT(i == 0 ? write_joined(&f[i].w, sids, first, len)
                         : write_at_once(&f[i].w, sids, first + 2, len),
                  IONF_OK);
        CHECK_INT(ionf_bin_write_end(&f[i].w), IONF_OK);
        out[i] = take(&f[i].w, &out_len[i]);
    }
    CHECK_BYTES(out[0], out_len[0], out[1], out_len[1]);
    for (int i = 0; i < 2; i++) {
        free(out[i]);
        close_fixture(&f[i]);
    }
}

/* A wrapper may not hold a wrapper: what comes right after one joins it. The list's length in place
 * and in a patch, annot_length of one byte, of two, and growing from one to the other. */
static void
test_annotations_join(void)
{
    static const size_t lens[] = {0, 9, 10, 120, 130, 16370, 16390, sizeof zeros};
    static const size_t firsts[] = {1, 62, 128};
    uint64_t sids[130];
    for (size_t i = 0; i < 130; i++) {
        sids[i] = 120 + i;
    }
    for (uint8_t preallocate = 0; preallocate <= 2; preallocate++) {
        for (size_t i = 0; i < 8 * 3; i++) {
            check_joined(preallocate, sids, firsts[i / 8], lens[i % 8]);
        }
    }
}

/* Behind the wrapper's value nothing joins it. */
static void
test_annotations_join_too_late(void)
{
    const uint64_t sid = 10;
    fixture f;
    open_fixture(&f, 1);
    CHECK_INT(ionf_bin_write_annotations(&f.w, &sid, 1), IONF_OK);
    CHECK_INT(ionf_bin_write_i64(&f.w, 1), IONF_OK);
    CHECK_INT(ionf_bin_write_annotations(&f.w, &sid, 1), IONF_ERR_STATE);
    CHECK_INT(ionf_bin_write_annotations_end(&f.w), IONF_OK);
    CHECK_BYTES(f.body.data, f.body.len, "\xE4\x81\x8A\x21\x01", 5);
    close_fixture(&f);
}

/* ---- random structures against a naive encoder */

typedef enum op_code {
    OP_BEGIN,
    OP_END,
    OP_WRAP,
    OP_UNWRAP,
    OP_FIELD,
    OP_STRING,
    OP_NULL
} op_code;

typedef struct op {
    op_code code;
    size_t arg; /* kind, SID, count of annotations, length of the string */
} op;

typedef struct program {
    op ops[8192];
    size_t count;
    uint64_t random;
} program;

static const uint64_t wrap_sids[] = {10, 128, 5, 16384, 11};
static uint8_t filler[(1 << 21) + 64];

static size_t
pick(program *p, size_t below)
{
    p->random ^= p->random << 13;
    p->random ^= p->random >> 7;
    p->random ^= p->random << 17;
    return (size_t)(p->random >> 20) % below;
}

static void
emit(program *p, op_code code, size_t arg)
{
    p->ops[p->count++] = (op){code, arg};
}

static size_t
varuint_size(uint64_t value)
{
    size_t size = 1;
    while (value >>= 7) {
        size++;
    }
    return size;
}

static size_t
encoded_size(size_t content)
{
    return 1 + (content < 14 ? 0 : varuint_size(content)) + content;
}

static size_t
wrap_size(size_t count, size_t value)
{
    size_t sids = 0;
    for (size_t i = 0; i < count; i++) {
        sids += varuint_size(wrap_sids[i]);
    }
    return encoded_size(varuint_size(sids) + sids + value);
}

static size_t
field(program *p, bool is_struct)
{
    static const size_t sids[] = {4, 127, 128, 16384};
    if (!is_struct) {
        return 0;
    }
    const size_t sid = sids[pick(p, 4)];
    emit(p, OP_FIELD, sid);
    return varuint_size(sid);
}

/* Strings, and nulls where no string fits, of `size` encoded bytes together, or a few more. */
static size_t
fill(program *p, size_t size, bool is_struct)
{
    size_t done = 0;
    while (done < size) {
        done += field(p, is_struct);
        const size_t left = size > done ? size - done : 1;
        size_t len = left - 1;
        while (encoded_size(len) > left) {
            len--;
        }
        const bool is_null = len == 0 || pick(p, 40) == 0;
        emit(p, is_null ? OP_NULL : OP_STRING, len);
        done += is_null ? 1 : encoded_size(len);
    }
    return done;
}

/* One value: nested containers down to `levels`, each filled up to just around a boundary. Gives
 * its encoded size. */
static size_t
generate(program *p, unsigned levels, size_t max_boundary)
{
    static const size_t boundaries[] = {0,   2,     13,    14,      15,     127,
                                        128, 16383, 16384, 2097151, 2097152};
    static const size_t kinds[] = {IONF_KIND_LIST, IONF_KIND_SEXP, IONF_KIND_STRUCT};
    const size_t wraps = pick(p, 3) == 0 ? 1 + pick(p, 5) : 0;
    if (wraps != 0) {
        emit(p, OP_WRAP, wraps);
    }
    const size_t kind = kinds[pick(p, 3)];
    emit(p, OP_BEGIN, kind);
    const bool is_struct = kind == IONF_KIND_STRUCT;
    size_t size = 0;
    const size_t before = pick(p, 3) == 0 ? pick(p, 30) : 0;
    size += fill(p, before, is_struct);
    if (levels != 0) {
        const size_t children = pick(p, 12) == 0 && p->count < 4000 ? 2 : 1;
        for (size_t i = 0; i < children; i++) {
            size += field(p, is_struct);
            size += generate(p, i == 0 ? levels - 1 : (unsigned)pick(p, levels), max_boundary);
        }
    }
    size_t target = boundaries[pick(p, max_boundary)];
    target = target > 2 ? target + pick(p, 5) - 2 : target;
    if (size < target) {
        size += fill(p, target - size, is_struct);
    }
    emit(p, OP_END, 0);
    size = encoded_size(size);
    if (wraps != 0) {
        emit(p, OP_UNWRAP, 0);
        size = wrap_size(wraps, size);
    }
    return size;
}

/* What the naive encoder writes to. */
typedef struct bytes {
    uint8_t *data;
    size_t len, cap;
} bytes;

static void
put(bytes *out, const uint8_t *data, size_t len)
{
    if (out->cap - out->len < len) {
        out->cap = (out->len + len) * 2;
        out->data = realloc(out->data, out->cap);
    }
    if (len != 0) {
        memcpy(out->data + out->len, data, len);
        out->len += len;
    }
}

static void
put_varuint(bytes *out, uint64_t value)
{
    for (size_t i = varuint_size(value); i-- != 0;) {
        const uint8_t byte = (uint8_t)((value >> 7 * i & 0x7F) | (i == 0 ? 0x80 : 0));
        put(out, &byte, 1);
    }
}

static void
put_value(bytes *out, unsigned code, const uint8_t *content, size_t len)
{
    const uint8_t head = (uint8_t)(code << 4 | (len < 14 ? len : 14));
    put(out, &head, 1);
    if (len >= 14) {
        put_varuint(out, len);
    }
    put(out, content, len);
}

static void
put_annotations(bytes *out, size_t count)
{
    bytes sids = {0};
    for (size_t i = 0; i < count; i++) {
        put_varuint(&sids, wrap_sids[i]);
    }
    put_varuint(out, sids.len);
    put(out, sids.data, sids.len);
    free(sids.data);
}

/* The naive encoder: content first, into a buffer of its own, then the head before it. */
static void
encode(const op **next, bytes *out)
{
    const op o = *(*next)++;
    if (o.code == OP_FIELD) {
        put_varuint(out, o.arg);
    } else if (o.code == OP_STRING) {
        put_value(out, 8, filler, o.arg);
    } else if (o.code == OP_NULL) {
        put(out, (const uint8_t *)"\x0F", 1);
    } else {
        bytes content = {0};
        if (o.code == OP_WRAP) {
            put_annotations(&content, o.arg);
        }
        while ((*next)->code != OP_END && (*next)->code != OP_UNWRAP) {
            encode(next, &content);
        }
        ++*next;
        put_value(out, o.code == OP_WRAP ? 14 : (unsigned)o.arg + 1, content.data, content.len);
        free(content.data);
    }
}

static ionf_status
run_op(ionf_bin_writer *w, const op *o)
{
    switch (o->code) {
    case OP_BEGIN:
        return ionf_bin_write_begin(w, (ionf_kind)o->arg);
    case OP_END:
        return ionf_bin_write_end(w);
    case OP_WRAP:
        return ionf_bin_write_annotations(w, wrap_sids, o->arg);
    case OP_UNWRAP:
        return ionf_bin_write_annotations_end(w);
    case OP_FIELD:
        return ionf_bin_write_field(w, o->arg);
    case OP_STRING:
        return ionf_bin_write_string(w, filler, o->arg);
    default:
        return ionf_bin_write_null(w, IONF_KIND_NULL);
    }
}

static ionf_status
run_program(ionf_bin_writer *w, const program *p)
{
    ionf_status status = IONF_OK;
    for (size_t i = 0; i < p->count && status == IONF_OK; i++) {
        status = run_op(w, &p->ops[i]);
    }
    return status;
}

/* All three writers are used again and again, so each round runs on the slots of the last one. */
static void
test_random_structures(void)
{
    static program p;
    fixture fixtures[3];
    for (uint8_t room = 0; room <= 2; room++) {
        open_fixture(&fixtures[room], room);
    }
    const int failures = ct_failures;
    bytes expected = {0};
    for (uint64_t round = 0; round < CT_ROUNDS(1500); round++) {
        p.count = 0;
        p.random = 0x9E3779B97F4A7C15u * (round + 1);
        /* The last boundaries make megabytes: one round in fifty. */
        const size_t max_boundary = round % 50 == 0 ? 11 : round % 10 == 0 ? 9 : 7;
        const size_t values = 1 + pick(&p, 2);
        for (size_t i = 0; i < values; i++) {
            (void)generate(&p, (unsigned)pick(&p, 41), max_boundary);
        }
        const op *next = p.ops;
        expected.len = 0;
        while (next != p.ops + p.count) {
            encode(&next, &expected);
        }
        for (int room = 0; room <= 2; room++) {
            ionf_bin_writer *const w = &fixtures[room].w;
            CHECK_INT(run_program(w, &p), IONF_OK);
            size_t len;
            uint8_t *out = take(w, &len);
            CHECK_BYTES(out, len, expected.data, expected.len);
            if (ct_failures != failures) {
                fprintf(stderr, "round %llu, preallocation %d\n", (unsigned long long)round, room);
                round = UINT64_MAX - 1;
            }
            free(out);
            ionf_bin_writer_flushed(w);
        }
    }
    free(expected.data);
    for (int room = 0; room <= 2; room++) {
        close_fixture(&fixtures[room]);
    }
}

static ionf_status
write_list(ionf_bin_writer *w, unsigned depth, size_t len)
{
    ionf_status status = IONF_OK;
    for (unsigned i = 0; i < depth && status == IONF_OK; i++) {
        status = ionf_bin_write_begin(w, IONF_KIND_LIST);
    }
    if (status == IONF_OK) {
        status = ionf_bin_write_string(w, filler, len);
    }
    for (unsigned i = 0; i < depth && status == IONF_OK; i++) {
        status = ionf_bin_write_end(w);
    }
    return status;
}

/* The first flush leaves patched slots behind; an abandoned value reserves them without filling.
 */
static void
test_two_flushes(void)
{
    for (uint8_t room = 0; room <= 2; room++) {
        fixture f;
        open_fixture(&f, room);
        CHECK_INT(write_list(&f.w, 5, 20000), IONF_OK);
        CHECK(!ionf_bin_writer_is_plain(&f.w));
        ionf_bin_writer_flushed(&f.w);
        const ionf_bin_mark mark = ionf_bin_writer_mark(&f.w);
        CHECK_INT(ionf_bin_write_begin(&f.w, IONF_KIND_LIST), IONF_OK);
        CHECK_INT(write_list(&f.w, 3, 30000), IONF_OK);
        ionf_bin_writer_rollback(&f.w, &mark);
        CHECK_INT(write_list(&f.w, 2, 3), IONF_OK);
        CHECK(ionf_bin_writer_is_plain(&f.w));
        CHECK_BYTES(f.body.data, f.body.len,
                    "\xB5\xB4\x83"
                    "fff",
                    6);
        close_fixture(&f);
    }
}

/* Inside an open list that has patches before and after the undone part. */
static void
test_rollback_inside(void)
{
    for (uint8_t room = 0; room <= 2; room++) {
        fixture f, g;
        open_fixture(&f, room);
        open_fixture(&g, room);
        CHECK_INT(ionf_bin_write_begin(&f.w, IONF_KIND_LIST), IONF_OK);
        CHECK_INT(ionf_bin_write_begin(&f.w, IONF_KIND_SEXP), IONF_OK);
        for (int i = 0; i < 3; i++) {
            const ionf_bin_mark mark = ionf_bin_writer_mark(&f.w);
            CHECK_INT(write_list(&f.w, 4, 40000), IONF_OK);
            CHECK_INT(ionf_bin_write_begin(&f.w, IONF_KIND_LIST), IONF_OK);
            CHECK_INT(write_list(&f.w, 2, 40000), IONF_OK);
            ionf_bin_writer_rollback(&f.w, &mark);
            CHECK_INT(write_list(&f.w, 2, 20000 * (size_t)i), IONF_OK);
        }
        CHECK_INT(ionf_bin_write_end(&f.w), IONF_OK);
        CHECK_INT(ionf_bin_write_end(&f.w), IONF_OK);

        CHECK_INT(ionf_bin_write_begin(&g.w, IONF_KIND_LIST), IONF_OK);
        CHECK_INT(ionf_bin_write_begin(&g.w, IONF_KIND_SEXP), IONF_OK);
        for (int i = 0; i < 3; i++) {
            CHECK_INT(write_list(&g.w, 2, 20000 * (size_t)i), IONF_OK);
        }
        CHECK_INT(ionf_bin_write_end(&g.w), IONF_OK);
        CHECK_INT(ionf_bin_write_end(&g.w), IONF_OK);
        size_t len, expected_len;
        uint8_t *out = take(&f.w, &len), *expected = take(&g.w, &expected_len);
        CHECK_BYTES(out, len, expected, expected_len);
        free(out);
        free(expected);
        close_fixture(&f);
        close_fixture(&g);
    }
}

static void
test_reset(void)
{
    fixture f;
    open_fixture(&f, 2);
    uint64_t sid;
    CHECK_INT(ionf_symmap_intern(&f.w.symbols, (const uint8_t *)"a", 1, &sid), IONF_OK);
    CHECK_INT(ionf_bin_write_begin(&f.w, IONF_KIND_LIST), IONF_OK);
    f.w.max_depth = 1;
    ionf_bin_writer_reset(&f.w);
    CHECK_INT(f.w.depth, 0);
    CHECK_INT(f.w.frame_count, 0);
    CHECK_INT(f.w.max_depth, IONF_DEFAULT_MAX_DEPTH);
    CHECK_INT(f.w.preallocate, IONF_BIN_DEFAULT_PREALLOCATE);
    CHECK(f.w.body == NULL);
    CHECK_INT(ionf_symmap_max_id(&f.w.symbols), 9);
    CHECK(ionf_bin_writer_retained(&f.w) > 0);
    close_fixture(&f);
}

/* Everything that allocates; a failure leaves a writer that can be undone and used. */
static ionf_status
write_all(ionf_bin_writer *w)
{
    const uint64_t sids[] = {10, 11};
    const ionf_integer integer = big(IONF_INT_BE, "ABCDEFGHIJKLMN", 14, false);
    const ionf_decimal decimal = {integer, -3};
    const ionf_timestamp ts = {
        .year = 2000, .month = 2, .day = 29, .precision = IONF_PRECISION_DAY};
    ionf_status status = IONF_OK;
    for (int i = 0; i < 20 && status == IONF_OK; i++) {
        status = ionf_bin_write_begin(w, IONF_KIND_LIST);
        status = status ? status : ionf_bin_write_annotations(w, sids, 2);
        status = status ? status : ionf_bin_write_integer(w, &integer);
        status = status ? status : ionf_bin_write_annotations_end(w);
        status = status ? status : ionf_bin_write_decimal(w, &decimal);
        status = status ? status : ionf_bin_write_timestamp(w, &ts);
        status = status ? status : ionf_bin_write_double(w, 1.5);
        status = status ? status : ionf_bin_write_symbol(w, 10);
        status = status ? status : ionf_bin_write_string(w, filler, 100);
    }
    while (status == IONF_OK && w->frame_count != 0) {
        status = ionf_bin_write_end(w);
    }
    return status;
}

static void
test_each_allocation_failing(void)
{
    for (uint8_t room = 0; room <= 2; room++) {
        fixture whole;
        open_fixture(&whole, room);
        CHECK_INT(write_all(&whole.w), IONF_OK);
        size_t expected_len;
        uint8_t *expected = take(&whole.w, &expected_len);
        ionf_status status = IONF_ERR_NOMEM;
        long long fail_at = 0;
        for (; status != IONF_OK && fail_at < 1000; fail_at++) {
            ct_heap heap = {.fail_at = fail_at};
            ionf_bin_writer w;
            ionf_buf body;
            ionf_bin_writer_init(&w, ct_heap_allocator(&heap));
            ionf_buf_init(&body, ct_heap_allocator(&heap));
            w.body = &body;
            w.preallocate = room;
            const ionf_bin_mark mark = ionf_bin_writer_mark(&w);
            status = write_all(&w);
            CHECK(status == IONF_OK || status == IONF_ERR_NOMEM);
            ionf_bin_writer_rollback(&w, &mark);
            CHECK_INT(write_all(&w), IONF_OK);
            size_t len;
            uint8_t *out = take(&w, &len);
            CHECK_BYTES(out, len, expected, expected_len);
            free(out);
            ionf_bin_writer_destroy(&w);
            ionf_buf_destroy(&body);
            CHECK_INT(heap.live_bytes, 0);
        }
        CHECK_INT(status, IONF_OK);
        CHECK(fail_at > 5);
        free(expected);
        close_fixture(&whole);
    }
}

int
main(void)
{
    memset(filler, 'f', sizeof filler);
    RUN(test_null_and_bool);
    RUN(test_ints);
    RUN(test_int_widths);
    RUN(test_big_ints);
    RUN(test_doubles);
    RUN(test_decimals);
    RUN(test_timestamps);
    RUN(test_symbols_and_fields);
    RUN(test_strings_and_lobs);
    RUN(test_containers);
    RUN(test_wrong_calls);
    RUN(test_max_depth);
    RUN(test_symbol_table_is_reserved);
    RUN(test_version_marker_is_reserved);
    RUN(test_annotations_join);
    RUN(test_annotations_join_too_late);
    RUN(test_random_structures);
    RUN(test_two_flushes);
    RUN(test_rollback_inside);
    RUN(test_reset);
    RUN(test_each_allocation_failing);
    return ct_end();
}
