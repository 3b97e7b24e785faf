/* ionf_bin_read: every input is read in one window and again in windows that grow by 1, 2, 3 ...
 * bytes, each in a block of its own exact size, so that the sanitizer sees a step outside; both ways
 * once by ionf_bin_next alone, and once by ionf_bin_take where that takes. */
#include "ct.h"

#include <stdarg.h>

#include "ionf_bin_read.h"
#include "take.h"

/* ---- input as hex, tokens as text ---------------------------------------------------------- */

typedef struct bytes {
    uint8_t data[2048];
    size_t len;
} bytes;

static int
digit_of(char c)
{
    return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
}

/* "E0 01 00 EA | 21 07": spaces and bars are for the eye. */
static bytes
from_hex(const char *hex)
{
    bytes out;
    out.len = 0;
    while (*hex != '\0') {
        if (*hex == ' ' || *hex == '|') {
            hex++;
            continue;
        }
        out.data[out.len++] = (uint8_t)(digit_of(hex[0]) * 16 + digit_of(hex[1]));
        hex += 2;
    }
    return out;
}

#define IVM "E0 01 00 EA |"

typedef struct dump {
    char text[4096];
    size_t len;
} dump;

static void
put(dump *d, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    d->len += (size_t)vsnprintf(d->text + d->len, sizeof d->text - d->len, format, args);
    va_end(args);
}

static void
put_symbol(dump *d, const ionf_bin_reader *r, const ionf_symref *ref)
{
    ionf_symbol found;
    CHECK_INT(ionf_symtab_find(&r->base.symtab, ref->sid, &found), IONF_OK);
    if (found.text == NULL) {
        put(d, "$%llu", (unsigned long long)ref->sid);
    } else {
        put(d, "%.*s", (int)found.len, (const char *)found.text);
    }
}

static void
put_integer(dump *d, const ionf_integer *integer)
{
    put(d, "%s", integer->is_negative ? "-" : "");
    if (integer->form == IONF_INT_U64) {
        put(d, "%llu", (unsigned long long)integer->u64);
        return;
    }
    put(d, "0x");
    for (size_t i = 0; i < integer->len; i++) {
        put(d, "%02x", integer->data[i]);
    }
}

static void
put_scalar(dump *d, const ionf_bin_reader *r, const ionf_token *token)
{
    switch (token->kind) {
    case IONF_KIND_BOOL:
        put(d, token->as.boolean ? "true" : "false");
        break;
    case IONF_KIND_INT:
        put_integer(d, &token->as.integer);
        break;
    case IONF_KIND_FLOAT:
        put(d, "%.17ge", token->as.f64);
        break;
    case IONF_KIND_DECIMAL:
        put_integer(d, &token->as.decimal.coefficient);
        put(d, "d%lld", (long long)token->as.decimal.exponent);
        break;
    case IONF_KIND_TIMESTAMP:
        put(d, "%dT", token->as.timestamp.year);
        break;
    case IONF_KIND_SYMBOL:
        put_symbol(d, r, &token->as.symbol);
        break;
    case IONF_KIND_STRING:
        put(d, "%s\"%.*s\"", token->is_ascii ? "" : "u", (int)token->as.bytes.len,
            (const char *)token->as.bytes.data);
        break;
    default:
        put(d, token->kind == IONF_KIND_CLOB ? "{{\"%.*s\"}}" : "{{%.*s}}",
            (int)token->as.bytes.len, (const char *)token->as.bytes.data);
        break;
    }
}

/* "name:ann::value " for a scalar, "[" for a container that begins. */
static void
put_token(dump *d, const ionf_bin_reader *r, const ionf_token *token)
{
    if (token->has_field) {
        put_symbol(d, r, &token->field);
        put(d, ":");
    }
    for (uint32_t i = 0; i < token->annotation_count; i++) {
        put_symbol(d, r, &token->annotations[i]);
        put(d, "::");
    }
    if (token->is_null) {
        put(d, "null.%d ", token->kind);
    } else if (ionf_kind_is_container(token->kind)) {
        put(d, "%c", "[({"[token->kind - IONF_KIND_LIST]);
    } else if (token->kind == IONF_KIND_END) {
        put(d, "; ");
    } else {
        put_scalar(d, r, token);
        put(d, " ");
    }
}

/* ---- reading in windows -------------------------------------------------------------------- */

typedef struct feeder {
    const bytes *input;
    size_t chunk; /* 0: all at once */
    size_t base;  /* stream offset of the window */
    size_t have;  /* stream offset of its end */
    uint8_t *window;
} feeder;

static uint8_t *
window_copy(const feeder *f)
{
    const size_t len = f->have - f->base;
    uint8_t *window = malloc(len == 0 ? 1 : len);
    memcpy(window, f->input->data + f->base, len);
    return window;
}

static void
feeder_open(feeder *f, ionf_bin_reader *r, const ionf_limits *limits)
{
    const size_t len = f->input->len;
    f->base = 0;
    f->have = f->chunk == 0 || f->chunk > len ? len : f->chunk;
    f->window = window_copy(f);
    ionf_bin_reader_open(r, f->window, f->have, f->have == len, limits, NULL);
}

static void
feeder_more(feeder *f, ionf_bin_reader *r)
{
    const size_t len = f->input->len;
    CHECK(!r->base.is_final);
    f->base += (size_t)(r->base.p - f->window);
    f->have = len - f->have < f->chunk ? len : f->have + f->chunk;
    uint8_t *const last = f->window;
    f->window = window_copy(f);
    ionf_bin_reader_window(r, f->window, f->have - f->base, f->have == len);
    free(last);
}

/* Set for the second way. */
static bool is_taking;

static ionf_status
read_all(ionf_bin_reader *r, const bytes *input, size_t chunk, const ionf_limits *limits, dump *d)
{
    feeder f = {input, chunk, 0, 0, NULL};
    ionf_token token;
    ionf_status status;
    d->len = 0;
    d->text[0] = '\0';
    feeder_open(&f, r, limits);
    do {
        status = is_taking ? take_or_next(r, &token) : ionf_bin_next(r, &token);
        if (status == IONF_NEED_DATA) {
            feeder_more(&f, r);
            status = IONF_OK;
            token.kind = IONF_KIND_NULL;
        } else if (status == IONF_OK && token.kind != IONF_KIND_EOF) {
            put_token(d, r, &token);
        }
    } while (status == IONF_OK && token.kind != IONF_KIND_EOF);
    free(f.window);
    return status;
}

/* `reader` keeps its context between inputs, as a pooled one does. */
static ionf_bin_reader reader;

static void
check_reads_within(const char *hex, const char *expected, ionf_limits limits)
{
    const bytes input = from_hex(hex);
    dump d;
    for (size_t chunk = 0; chunk <= input.len; chunk++) {
        ionf_bin_reader_reset(&reader);
        CHECK_INT(read_all(&reader, &input, chunk, &limits, &d), IONF_OK);
        CHECK_BYTES(d.text, d.len, expected, strlen(expected));
        if (d.len != strlen(expected) || memcmp(d.text, expected, d.len) != 0) {
            fprintf(stderr, "  %s in windows of %zu: %s\n", hex, chunk, d.text);
        }
    }
}

static void
check_reads(const char *hex, const char *expected)
{
    check_reads_within(hex, expected, ionf_limits_default());
}

/* In one window: this error at this offset. In smaller ones: some error, no later token. */
static void
check_fails_within(const char *hex, ionf_status expected, uint64_t offset, ionf_limits limits)
{
    const bytes input = from_hex(hex);
    dump whole, part;
    ionf_bin_reader_reset(&reader);
    const ionf_status status = read_all(&reader, &input, 0, &limits, &whole);
    CHECK_INT(status, expected);
    CHECK_INT(reader.base.error.status, expected);
    CHECK_INT(reader.base.error.offset, offset);
    if (status != expected || reader.base.error.offset != offset) {
        fprintf(stderr, "  %s: %s at %llu\n", hex, ionf_status_name(status),
                (unsigned long long)reader.base.error.offset);
    }
    ionf_token token;
    CHECK_INT(ionf_bin_next(&reader, &token), expected); /* sticky */
    CHECK_INT(ionf_bin_skip(&reader), expected);
    for (size_t chunk = 1; chunk < input.len; chunk++) {
        ionf_bin_reader_reset(&reader);
        CHECK(read_all(&reader, &input, chunk, &limits, &part) != IONF_OK);
        CHECK(part.len >= whole.len && memcmp(part.text, whole.text, whole.len) == 0);
    }
}

static void
check_fails(const char *hex, ionf_status expected, uint64_t offset)
{
    check_fails_within(hex, expected, offset, ionf_limits_default());
}

/* ---- scalars ------------------------------------------------------------------------------- */

static void
nulls_and_bools(void)
{
    check_reads(IVM "0F 1F 2F 3F 4F 5F 6F 7F 8F 9F AF BF CF DF",
                "null.0 null.1 null.2 null.2 null.3 null.4 null.5 null.6 null.7 null.8 null.9 "
                "null.10 null.11 null.12 ");
    check_reads(IVM "10 11", "false true ");
    check_fails(IVM "12", IONF_ERR_TYPECODE, 4);
    check_fails(IVM "1E 81", IONF_ERR_TYPECODE, 4);
}

static void
ints(void)
{
    check_reads(IVM "20 21 01 31 01 22 01 00", "0 1 -1 256 ");
    check_reads(IVM "28 FF FF FF FF FF FF FF FF", "18446744073709551615 ");
    check_reads(IVM "38 80 00 00 00 00 00 00 00", "-9223372036854775808 ");
    check_reads(IVM "29 01 00 00 00 00 00 00 00 00", "0x010000000000000000 ");
    check_reads(IVM "2E 8E 00 00 00 00 00 00 00 00 00 00 00 00 00 05", "5 ");
    check_reads(IVM "24 00 00 00 07 20", "7 0 ");
    check_reads(IVM "2E 00 00 00 81 07", "7 "); /* a length padded on the left */
}

static void
negative_zero_is_not_an_int(void)
{
    check_fails(IVM "30", IONF_ERR_INT, 4);
    check_fails(IVM "31 00", IONF_ERR_INT, 4);
    check_fails(IVM "39 00 00 00 00 00 00 00 00 00", IONF_ERR_INT, 4);
}

static void
floats(void)
{
    check_reads(IVM "40 44 3F 80 00 00 48 C0 04 00 00 00 00 00 00", "0e 1e -2.5e ");
    check_reads(IVM "44 80 00 00 00 48 7F F0 00 00 00 00 00 00", "-0e infe ");
    check_fails(IVM "42 3C 00", IONF_ERR_FLOAT, 4);
    check_fails(IVM "4E 88 3F F0 00 00 00 00 00 00", IONF_ERR_FLOAT, 4);
}

static void
decimals(void)
{
    check_reads(IVM "50 52 C1 0A 52 C1 8A 51 C2", "0d0 10d-1 -10d-1 0d-2 ");
    check_reads(IVM "5B 80 81 00 00 00 00 00 00 00 00 01", "-0x01000000000000000001d0 ");
    check_fails(IVM "51 00", IONF_ERR_DECIMAL, 4); /* the exponent does not end */
}

static void
timestamps(void)
{
    check_reads(IVM "63 C0 0F E7 65 80 0F E7 81 81", "2023T 2023T ");
    check_fails(IVM "60", IONF_ERR_TIMESTAMP, 4);
    check_fails(IVM "61 80", IONF_ERR_TIMESTAMP, 4);
    check_fails(IVM "64 C0 0F E7 8D", IONF_ERR_TIMESTAMP, 4); /* month 13 */
}

static void
strings_and_lobs(void)
{
    check_reads(IVM "80 83 61 62 63 88 61 62 63 64 65 66 67 68", "\"\" \"abc\" \"abcdefgh\" ");
    check_reads(IVM "8E 8E 61 62 63 64 65 66 67 68 69 6A 6B 6C 6D 6E", "\"abcdefghijklmn\" ");
    check_reads(IVM "83 E2 82 AC 89 61 62 63 64 65 66 67 C3 A9",
                "u\"\xE2\x82\xAC\" u\"abcdefg\xC3\xA9\" ");
    check_reads(IVM "90 92 61 62 A0 A2 61 62", "{{\"\"}} {{\"ab\"}} {{}} {{ab}} ");
}

static void
a_long_string_needs_a_long_length(void)
{
    char hex[1024] = IVM "8E 01 AC"; /* 172 */
    char expected[256] = "\"";
    for (int i = 0; i < 172; i++) {
        strcat(hex, "78");
        strcat(expected, "x");
    }
    strcat(expected, "\" ");
    check_reads(hex, expected);
}

static void
invalid_utf8_is_found_where_it_is(void)
{
    check_fails(IVM "83 61 FF 62", IONF_ERR_UTF8, 6);
    check_fails(IVM "83 ED A0 80", IONF_ERR_UTF8, 5); /* a surrogate */
    check_fails(IVM "82 61 C3", IONF_ERR_UTF8, 6);    /* cut short */
}

/* What ionf_bin_take takes, and what it must leave alone. */
static void
scalars_inside_containers(void)
{
    check_reads(IVM "BB 0F 10 11 20 21 07 31 07 32 00 07", "[null.0 false true 0 7 -7 -7 ; ");
    check_reads(IVM "BC 28 FF FF FF FF FF FF FF FF 81 61 80",
                "[18446744073709551615 \"a\" \"\" ; ");
    check_reads(IVM "BE 93 48 C0 04 00 00 00 00 00 00 83 E2 82 AC 40 44 3F 80 00 00",
                "[-2.5e u\"\xE2\x82\xAC\" 0e 1e ; ");
    check_reads(IVM "BC 00 01 FF 2F 3F 52 C1 0A 80 A1 41 20",
                "[null.2 null.2 10d-1 \"\" {{A}} 0 ; ");
    check_reads(IVM "DE 8E 84 10 85 21 05 84 0F 86 8E 84 61 62 63 64",
                "{name:false version:5 name:null.0 "
                "imports:\"abcd\" ; ");
    check_reads(IVM "BD 29 01 00 00 00 00 00 00 00 00 2E 81 05", "[0x010000000000000000 5 ; ");
    check_reads(IVM "BD 39 01 00 00 00 00 00 00 00 00 3E 81 05", "[-0x010000000000000000 -5 ; ");
    check_fails(IVM "B2 31 00", IONF_ERR_INT, 5);
    check_fails(IVM "B1 30", IONF_ERR_INT, 5);
    check_fails(IVM "B1 12", IONF_ERR_TYPECODE, 5);
    check_fails(IVM "B2 82 61", IONF_ERR_LENGTH, 5);
    check_fails(IVM "B3 8E 82 61", IONF_ERR_LENGTH, 5);
    check_fails(IVM "B2 22 01", IONF_ERR_LENGTH, 5);
    check_fails(IVM "B3 82 C3 28", IONF_ERR_UTF8, 6);
    check_fails(IVM "D2 8A 20", IONF_ERR_SID, 5);
    check_fails(IVM "DE 81 84", IONF_ERR_LENGTH, 7);
}

static void
symbols(void)
{
    check_reads(IVM "71 04 70 71 00 72 00 05", "name $0 $0 version ");
    check_reads(IVM "B2 71 04", "[name ; ");
    check_reads(IVM "7A 00 00 00 00 00 00 00 00 00 04", "name ");
    check_fails(IVM "71 0A", IONF_ERR_SID, 4);
    check_fails(IVM "B2 71 0A", IONF_ERR_SID, 5);
    check_fails(IVM "79 01 00 00 00 00 00 00 00 00", IONF_ERR_SID, 4);
}

static void
reserved_type_codes_are_refused(void)
{
    for (unsigned code = 0xF0; code <= 0xFF; code++) {
        char hex[64];
        snprintf(hex, sizeof hex, IVM "%02X", code);
        check_fails(hex, IONF_ERR_TYPECODE, 4);
        snprintf(hex, sizeof hex, IVM "B1 %02X", code);
        check_fails(hex, IONF_ERR_TYPECODE, 5);
    }
}

/* ---- containers ---------------------------------------------------------------------------- */

static void
containers(void)
{
    check_reads(IVM "B0 C0 D0", "[; (; {; ");
    check_reads(IVM "B8 21 01 C1 10 D3 84 21 02 0F", "[1 (false ; {name:2 ; ; null.0 ");
    check_reads(IVM "BE 8E 21 01 21 02 21 03 21 04 21 05 21 06 21 07", "[1 2 3 4 5 6 7 ; ");
    check_reads(IVM "BE 82 21 01", "[1 ; "); /* longer than it need be */
    check_reads(IVM "D4 84 10 84 11", "{name:false name:true ; ");
    check_reads(IVM "D3 00 84 10", "{name:false ; "); /* a field name padded on the left */
}

static void
ordered_structs_are_not_empty(void)
{
    check_reads(IVM "D1 84 84 10 85 11", "{name:false version:true ; ");
    check_reads(IVM "D1 84 85 10 84 11", "{version:false name:true ; "); /* order is not checked */
    check_fails(IVM "D1 80", IONF_ERR_STRUCT, 4);
    check_fails(IVM "B2 D1 80", IONF_ERR_STRUCT, 5);
}

static void
tokens_know_offset_and_content_length(void)
{
    const bytes input = from_hex(IVM "D6 84 E4 81 85 21 07");
    const ionf_limits limits = ionf_limits_default();
    ionf_token token;
    ionf_bin_reader_reset(&reader);
    ionf_bin_reader_open(&reader, input.data, input.len, true, &limits, NULL);
    CHECK_INT(ionf_bin_next(&reader, &token), IONF_OK);
    CHECK_INT(token.kind, IONF_KIND_STRUCT);
    CHECK_INT(token.offset, 4);
    CHECK_INT(token.content_len, 6);
    CHECK_INT(reader.base.depth, 1);
    CHECK_INT(ionf_bin_next(&reader, &token), IONF_OK);
    CHECK_INT(token.kind, IONF_KIND_INT);
    CHECK_INT(token.offset, 6); /* the wrapper, not the field name */
    CHECK_INT(token.content_len, 1);
    CHECK_INT(ionf_bin_next(&reader, &token), IONF_OK);
    CHECK_INT(token.kind, IONF_KIND_END);
    CHECK(!token.has_field);
    CHECK_INT(reader.base.depth, 0);
    for (int i = 0; i < 2; i++) {
        CHECK_INT(ionf_bin_next(&reader, &token), IONF_OK);
        CHECK_INT(token.kind, IONF_KIND_EOF);
    }
}

static void
lengths_never_reach_beyond_what_is_around_them(void)
{
    check_fails(IVM "B2 22 01 02", IONF_ERR_LENGTH, 5);          /* an int beyond its list */
    check_fails(IVM "B2 B2 10 10", IONF_ERR_LENGTH, 5);          /* a list beyond its list */
    check_fails(IVM "B1 2E 81 07", IONF_ERR_LENGTH, 6);          /* a length beyond its list */
    check_fails(IVM "D1 81 84 10", IONF_ERR_LENGTH, 7);          /* a field name without value */
    check_fails(IVM "D2 04 04 84", IONF_ERR_LENGTH, 7);          /* a field name without end */
    check_fails(IVM "B2 0E 8F 00", IONF_ERR_LENGTH, 5);          /* padding beyond its list */
    check_fails(IVM "DE 83 80 0E FF 00 00", IONF_ERR_LENGTH, 7); /* padding beyond its struct */
    check_fails(IVM "B1 01 00", IONF_ERR_LENGTH, 5);
    /* 2**64 - 1 bytes: no arithmetic may wrap */
    check_fails(IVM "BC 8E 01 7F 7F 7F 7F 7F 7F 7F 7F FF 00", IONF_ERR_LENGTH, 5);
    check_fails(IVM "8E 01 7F 7F 7F 7F 7F 7F 7F 7F FF", IONF_ERR_LENGTH, 4);
    check_fails(IVM "0E 01 7F 7F 7F 7F 7F 7F 7F 7F FF", IONF_ERR_LENGTH, 4);
}

static void
input_that_ends_too_soon_is_truncated(void)
{
    check_fails(IVM "21", IONF_ERR_TRUNCATED, 5);
    check_fails(IVM "8E", IONF_ERR_TRUNCATED, 5);
    check_fails(IVM "8E 00", IONF_ERR_TRUNCATED, 6);
    check_fails(IVM "85 61 62", IONF_ERR_TRUNCATED, 7);
    check_fails(IVM "B3 10", IONF_ERR_TRUNCATED, 6);
    check_fails(IVM "D3 84", IONF_ERR_TRUNCATED, 6);
    check_fails(IVM "0E 90 00", IONF_ERR_TRUNCATED, 7);
    check_fails(IVM "E4 81 84", IONF_ERR_TRUNCATED, 7);
    check_fails(IVM "E0 01", IONF_ERR_TRUNCATED, 6);
}

static void
variable_lengths_are_limited_to_64_bits(void)
{
    check_fails(IVM "8E 02 00 00 00 00 00 00 00 00 80", IONF_ERR_VARINT, 5);
    check_fails(IVM "DB 7F 7F 7F 7F 7F 7F 7F 7F 7F FF 10", IONF_ERR_VARINT, 5);
}

static void
field_names_must_be_in_the_table(void)
{
    check_fails(IVM "D2 8A 10", IONF_ERR_SID, 5);
    check_fails(IVM "D3 01 80 10", IONF_ERR_SID, 5);
    check_reads(IVM "D2 80 10", "{$0:false ; ");
}

/* ---- padding ------------------------------------------------------------------------------- */

static void
padding_is_no_value(void)
{
    check_reads(IVM "00 01 FF 21 01 0E 8E 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00", "1 ");
    check_reads(IVM "B4 00 21 01 00 C2 01 FF", "[1 ; (; ");
    check_reads(IVM "D2 80 00 D3 80 01 AC D2 8F 00", "{; {; {; ");
    check_reads(IVM "D7 84 81 61 80 02 01 02", "{name:\"a\" ; ");
    check_reads(IVM "D5 7F FF 00 84 10", "{name:false ; "); /* a SID out of range, ignored */
    check_reads(IVM "00", "");
}

/* ---- annotations --------------------------------------------------------------------------- */

static void
annotations(void)
{
    check_reads(IVM "E4 81 84 21 01", "name::1 ");
    check_reads(IVM "E5 82 84 85 21 01", "name::version::1 ");
    check_reads(IVM "E3 81 80 0F", "$0::null.0 ");
    check_reads(IVM "E3 81 84 B0 10", "name::[; false ");
    check_reads(IVM "D7 86 E5 81 84 B2 21 07", "{imports:name::[7 ; ; ");
    check_reads(IVM "EE 8E 81 84 8B 61 62 63 64 65 66 67 68 69 6A 6B 10",
                "name::\"abcdefghijk\" false ");
    check_reads(IVM "E4 82 00 84 10", "name::false "); /* a SID padded on the left */
    check_reads(IVM "E7 81 84 B4 E3 81 85 10", "name::[version::false ; ");
}

static void
annotation_wrappers_are_exact(void)
{
    check_fails(IVM "E1 80", IONF_ERR_ANNOTATION, 4);
    check_fails(IVM "E2 81 84", IONF_ERR_ANNOTATION, 4);
    check_fails(IVM "EF", IONF_ERR_ANNOTATION, 4);
    check_fails(IVM "EE 82 81 84", IONF_ERR_ANNOTATION, 4);
    check_fails(IVM "B3 E0 01 00", IONF_ERR_ANNOTATION, 5);
    check_fails(IVM "E3 80 21 01", IONF_ERR_ANNOTATION, 5);    /* no annotation */
    check_fails(IVM "E3 82 84 85", IONF_ERR_ANNOTATION, 5);    /* no value */
    check_fails(IVM "E4 82 84 05 10", IONF_ERR_ANNOTATION, 8); /* a SID without end */
    check_fails(IVM "E3 81 84 00", IONF_ERR_ANNOTATION, 7);    /* padding */
    check_fails(IVM "E4 81 84 01 FF", IONF_ERR_ANNOTATION, 7);
    check_fails(IVM "E6 81 84 E3 81 85 10", IONF_ERR_ANNOTATION, 7); /* another wrapper */
    check_fails(IVM "E4 81 84 10 10", IONF_ERR_ANNOTATION, 7);       /* too long for its value */
    check_fails(IVM "E4 81 84 B0 10", IONF_ERR_ANNOTATION, 7);
    check_fails(IVM "E4 81 84 22 01 02", IONF_ERR_ANNOTATION, 7); /* too short for it */
    check_fails(IVM "E4 81 84 B2 01 02", IONF_ERR_ANNOTATION, 7);
    check_fails(IVM "E3 81 8A 10", IONF_ERR_SID, 6);
    check_fails(IVM "B4 E4 81 84 21 07", IONF_ERR_LENGTH, 5);
}

static void
annotations_have_no_limit_of_their_own(void)
{
    char hex[1024] = IVM "EE 01 D5 01 D2"; /* 213 bytes: 2 for the length, 210 SIDs, the value */
    char expected[2048] = "";
    for (int i = 0; i < 210; i++) {
        strcat(hex, "84");
        strcat(expected, "name::");
    }
    strcat(hex, "10");
    strcat(expected, "false ");
    check_reads(hex, expected);
}

/* ---- version markers ----------------------------------------------------------------------- */

static void
a_stream_begins_with_the_version_marker(void)
{
    check_reads("", "");
    check_reads(IVM, "");
    check_reads(IVM IVM "10" IVM, "false ");
    check_fails("10", IONF_ERR_NOT_ION, 0);
    check_fails("7B 22 61 22 7D", IONF_ERR_NOT_ION, 0);
    check_fails("E0 01 00 E0", IONF_ERR_NOT_ION, 0);
    check_fails("E0 01 00", IONF_ERR_TRUNCATED, 3);
}

static void
other_versions_are_refused_by_name(void)
{
    check_fails("E0 01 01 EA", IONF_ERR_VERSION, 2);
    const bytes ion_1_1 = from_hex("E0 01 01 EA");
    const ionf_limits limits = ionf_limits_default();
    dump d;
    ionf_bin_reader_reset(&reader);
    CHECK_INT(read_all(&reader, &ion_1_1, 0, &limits, &d), IONF_ERR_VERSION);
    CHECK(strstr(reader.base.error.expected, "1.1") != NULL);
    check_fails("E0 02 00 EA", IONF_ERR_VERSION, 1);
    check_fails(IVM "10 E0 01 01 EA", IONF_ERR_VERSION, 7);
    check_fails(IVM "10 E0 01 00 EB", IONF_ERR_TYPECODE, 5);
}

static void
top_level_symbols_that_look_like_the_marker_mean_nothing(void)
{
    check_reads(IVM "71 02 10", "false ");
    /* {symbols: ["$ion_1_0"]}, then $10 at top level, $2 annotated, $10 in a list */
    check_reads(IVM "EE 8E 81 83 DB 87 B9 88 24 69 6F 6E 5F 31 5F 30 | 71 0A | E4 81 84 71 02"
                    "| B2 71 0A",
                "name::$ion_1_0 [$ion_1_0 ; ");
}

/* ---- local symbol tables ------------------------------------------------------------------- */

/* $ion_symbol_table::{symbols: ["a"]} */
#define TABLE_A "E7 81 83 D4 87 B2 81 61"
/* $ion_symbol_table::{imports: $ion_symbol_table, symbols: ["b"]} */
#define APPEND_B "EA 81 83 D7 86 71 03 87 B2 81 62"

static void
local_symbol_tables_define_symbols(void)
{
    check_reads(IVM TABLE_A "| 71 0A D2 8A 10 E3 81 8A 11", "a {a:false ; a::true ");
    check_reads(IVM TABLE_A APPEND_B "71 0A 71 0B", "a b ");
    check_reads(IVM TABLE_A "71 0A" TABLE_A APPEND_B "71 0B" TABLE_A "71 0A", "a b a ");
    check_reads(IVM TABLE_A "71 0A" IVM TABLE_A "71 0A", "a a ");
    check_reads(IVM "E8 82 83 84 D4 87 B2 81 61 | 71 0A", "a "); /* a second annotation */
    check_reads(IVM "E3 81 83 D0 | E4 81 83 B1 10", "$ion_symbol_table::[false ; ");
}

static void
tables_end_at_markers_nulls_and_other_tables(void)
{
    check_fails(IVM TABLE_A "71 0B", IONF_ERR_SID, 12);
    check_fails(IVM TABLE_A IVM "71 0A", IONF_ERR_SID, 16);
    check_fails(IVM TABLE_A "E3 81 83 DF | 71 0A", IONF_ERR_SID, 16); /* null.struct is empty */
    check_fails(IVM TABLE_A APPEND_B TABLE_A "71 0B", IONF_ERR_SID, 31);
}

static void
only_a_top_level_struct_with_it_first_is_a_table(void)
{
    check_reads(IVM "E4 82 84 83 D0 10", "name::$ion_symbol_table::{; false ");
    check_reads(IVM "B4 E3 81 83 D0", "[$ion_symbol_table::{; ; ");
    check_reads(IVM "D5 84 E3 81 83 D0", "{name:$ion_symbol_table::{; ; ");
    check_reads(IVM "D0", "{; ");
}

static void
a_table_may_be_named_by_a_local_symbol(void)
{
    /* {symbols: ["$ion_symbol_table"]}, then $10::{symbols: ["a"]} */
    check_reads(IVM "EE 9A 81 83 DE 96 87 BE 93"
                    "8E 91 24 69 6F 6E 5F 73 79 6D 62 6F 6C 5F 74 61 62 6C 65"
                    "| E7 81 8A D4 87 B2 81 61 | 71 0A",
                "a ");
}

static void
padding_inside_a_table_is_ignored(void)
{
    check_reads(IVM "EC 81 83 D9 80 01 FF 87 B4 00 81 61 00 | 71 0A", "a ");
}

static void
errors_inside_a_table_have_their_place(void)
{
    check_fails(IVM "E7 81 83 D4 87 B0 87 B0", IONF_ERR_SYMTAB, 11);
    check_fails(IVM "EB 81 83 D8 86 B6 D5 84 83 61 62 63", IONF_ERR_IMPORT, 16);
    check_fails(IVM "E7 81 83 D4 87 B2 81 FF", IONF_ERR_UTF8, 11);
    check_fails(IVM "E7 81 83 D4 87 B2 82 61", IONF_ERR_LENGTH, 10);
}

static void
a_repeated_table_is_not_read_again(void)
{
    const bytes input = from_hex(IVM TABLE_A "71 0A" IVM TABLE_A "71 0A");
    const ionf_limits limits = ionf_limits_default();
    dump d;
    ionf_bin_reader r;
    ionf_bin_reader_init(&r, ionf_alloc_libc());
    CHECK_INT(read_all(&r, &input, 0, &limits, &d), IONF_OK);
    CHECK_INT(r.base.symtab.generation, 1);
    CHECK_INT(r.base.symtab.raw.cap, 0); /* recognised by its symbols, not by another copy */
    ionf_bin_reader_reset(&r);
    CHECK_INT(read_all(&r, &input, 0, &limits, &d), IONF_OK);
    CHECK_INT(r.base.symtab.generation, 1);
    ionf_bin_reader_destroy(&r);
}

/* ---- limits -------------------------------------------------------------------------------- */

static void
depth_is_limited(void)
{
    const ionf_limits two = {2, IONF_UNLIMITED};
    const ionf_limits none = {0, IONF_UNLIMITED};
    check_reads_within(IVM "B1 B0", "[[; ; ", two);
    check_fails_within(IVM "B2 B1 B0", IONF_ERR_DEPTH, 6, two);
    check_reads_within(IVM "10 BF", "false null.10 ", none);
    check_fails_within(IVM "B0", IONF_ERR_DEPTH, 4, none);
    check_reads_within(IVM TABLE_A "71 0A", "a ", none); /* a symbol table is not the user's */
}

static void
value_size_is_limited(void)
{
    const ionf_limits five = {IONF_DEFAULT_MAX_DEPTH, 5};
    check_reads_within(IVM "84 61 62 63 64 B4 21 01 21 02 10", "\"abcd\" [1 2 ; false ", five);
    check_fails_within(IVM "85 61 62 63 64 65", IONF_ERR_VALUE_SIZE, 4, five);
    check_fails_within(IVM "10 B5 21 01 21 02 10", IONF_ERR_VALUE_SIZE, 5, five);
    check_fails_within(IVM "E5 82 84 85 21 07", IONF_ERR_VALUE_SIZE, 4, five);
    check_reads_within(IVM "06 00 00 00 00 00 00 10", "false ", five); /* padding is no value */
}

static void
a_header_that_never_ends_is_not_collected_for_ever(void)
{
    const ionf_limits five = {IONF_DEFAULT_MAX_DEPTH, 5};
    const bytes input = from_hex(IVM "8E 00 00 00 00 00 00");
    ionf_token token;
    ionf_bin_reader_reset(&reader);
    ionf_bin_reader_open(&reader, input.data, input.len, false, &five, NULL);
    CHECK_INT(ionf_bin_next(&reader, &token), IONF_ERR_VALUE_SIZE);
}

static void
deep_nesting_costs_no_stack(void)
{
    /* 300 lists, each the only content of the one around it: lengths grow towards the outside */
    bytes input = from_hex(IVM);
    uint8_t reversed[1024];
    size_t len = 0;
    for (int i = 0; i < 300; i++) {
        const size_t inside = len;
        if (inside < 14) {
            reversed[len++] = (uint8_t)(0xB0 + inside);
        } else {
            reversed[len++] = (uint8_t)(0x80 | (inside & 0x7F));
            reversed[len++] = (uint8_t)(inside >> 7);
            reversed[len++] = 0xBE;
        }
    }
    for (size_t i = 0; i < len; i++) {
        input.data[input.len++] = reversed[len - 1 - i];
    }
    const ionf_limits limits = ionf_limits_default();
    dump d;
    ionf_bin_reader_reset(&reader);
    CHECK_INT(read_all(&reader, &input, 7, &limits, &d), IONF_OK);
    CHECK_INT(d.len, 300 + 600);
}

/* ---- skipping ------------------------------------------------------------------------------ */

/* Enter the first container, skip out of it, and give what follows. */
static void
check_skip(const char *hex, int enter, const char *rest)
{
    const bytes input = from_hex(hex);
    const ionf_limits limits = ionf_limits_default();
    for (size_t chunk = 0; chunk <= input.len; chunk++) {
        feeder f = {&input, chunk, 0, 0, NULL};
        dump d = {"", 0};
        ionf_token token;
        int left = enter;
        ionf_bin_reader_reset(&reader);
        feeder_open(&f, &reader, &limits);
        do {
            ionf_status status = ionf_bin_next(&reader, &token);
            while (status == IONF_NEED_DATA) {
                feeder_more(&f, &reader);
                status = ionf_bin_next(&reader, &token);
            }
            CHECK_INT(status, IONF_OK);
            if (left == 0 && token.kind != IONF_KIND_EOF) {
                put_token(&d, &reader, &token);
            } else if (left != 0 && --left == 0) {
                while ((status = ionf_bin_skip(&reader)) == IONF_NEED_DATA) {
                    CHECK(reader.base.p == reader.base.end);
                    feeder_more(&f, &reader);
                }
                CHECK_INT(status, IONF_OK);
            }
        } while (token.kind != IONF_KIND_EOF);
        CHECK_BYTES(d.text, d.len, rest, strlen(rest));
        free(f.window);
    }
}

static void
skip_leaves_the_innermost_container(void)
{
    check_skip(IVM "B4 21 01 21 02 10", 1, "false ");
    check_skip(IVM "B4 21 01 21 02 10", 2, "false "); /* from the middle of it */
    check_skip(IVM "D8 84 B3 21 01 11 85 21 07 10", 2, "version:7 ; false ");
    check_skip(IVM "B4 FF FF FF FF 10", 1, "false "); /* what is skipped is not looked at */
    check_skip(IVM "B0 10", 1, "false ");
}

static void
skip_is_resumed_by_next(void)
{
    const bytes input = from_hex(IVM "B6 21 01 21 02 21 03 10");
    const ionf_limits limits = ionf_limits_default();
    ionf_token token;
    ionf_bin_reader_reset(&reader);
    ionf_bin_reader_open(&reader, input.data, 7, false, &limits, NULL);
    CHECK_INT(ionf_bin_next(&reader, &token), IONF_OK);
    CHECK_INT(ionf_bin_skip(&reader), IONF_NEED_DATA);
    ionf_bin_reader_window(&reader, input.data + 7, 2, false);
    CHECK_INT(ionf_bin_next(&reader, &token), IONF_NEED_DATA);
    ionf_bin_reader_window(&reader, input.data + 9, input.len - 9, true);
    CHECK_INT(ionf_bin_next(&reader, &token), IONF_OK);
    CHECK_INT(token.kind, IONF_KIND_BOOL);
    CHECK_INT(token.offset, 11);
}

static void
skip_needs_a_container_and_its_end(void)
{
    const bytes input = from_hex(IVM "10 B5 21");
    const ionf_limits limits = ionf_limits_default();
    ionf_token token;
    ionf_bin_reader_reset(&reader);
    ionf_bin_reader_open(&reader, input.data, input.len, false, &limits, NULL);
    CHECK_INT(ionf_bin_skip(&reader), IONF_ERR_STATE);
    CHECK_INT(ionf_bin_next(&reader, &token), IONF_OK);
    CHECK_INT(ionf_bin_skip(&reader), IONF_ERR_STATE);
    CHECK_INT(reader.base.error.status, IONF_OK); /* not recorded */
    CHECK_INT(ionf_bin_next(&reader, &token), IONF_OK);
    CHECK_INT(ionf_bin_skip(&reader), IONF_NEED_DATA);
    ionf_bin_reader_window(&reader, input.data, 0, true);
    CHECK_INT(ionf_bin_skip(&reader), IONF_ERR_TRUNCATED);
}

/* ---- windows ------------------------------------------------------------------------------- */

static void
a_stream_may_begin_with_an_empty_window(void)
{
    const bytes input = from_hex(IVM "10");
    const ionf_limits limits = ionf_limits_default();
    ionf_token token;
    ionf_bin_reader_reset(&reader);
    ionf_bin_reader_open(&reader, NULL, 0, false, &limits, NULL);
    CHECK_INT(ionf_bin_next(&reader, &token), IONF_NEED_DATA);
    ionf_bin_reader_window(&reader, input.data, input.len, true);
    CHECK_INT(ionf_bin_next(&reader, &token), IONF_OK);
    CHECK_INT(token.kind, IONF_KIND_BOOL);
}

static void
need_data_consumes_nothing_of_the_value(void)
{
    /* {name: version::"abc", ...}: the string's unit begins with its field name, at 5 */
    const bytes input = from_hex(IVM "DA 84 E6 81 85 83 61 62 63 84 10");
    const ionf_limits limits = ionf_limits_default();
    ionf_token token;
    ionf_bin_reader_reset(&reader);
    ionf_bin_reader_open(&reader, input.data, 12, false, &limits, NULL);
    CHECK_INT(ionf_bin_next(&reader, &token), IONF_OK);
    CHECK_INT(ionf_bin_next(&reader, &token), IONF_NEED_DATA);
    CHECK(reader.base.p == input.data + 5);
    CHECK_INT(reader.base.error.status, IONF_OK);
    ionf_bin_reader_window(&reader, input.data + 5, input.len - 5, true);
    CHECK_INT(ionf_bin_next(&reader, &token), IONF_OK);
    CHECK_INT(token.kind, IONF_KIND_STRING);
    CHECK_INT(token.annotation_count, 1);
    CHECK_INT(token.offset, 6);
}

static void
a_container_is_entered_before_its_content_arrives(void)
{
    const bytes input = from_hex(IVM "EE 90 81 84 BE 8B");
    const ionf_limits limits = ionf_limits_default();
    ionf_token token;
    ionf_bin_reader_reset(&reader);
    ionf_bin_reader_open(&reader, input.data, input.len, false, &limits, NULL);
    CHECK_INT(ionf_bin_next(&reader, &token), IONF_ERR_ANNOTATION); /* 11 are not the 12 left */
    const bytes right = from_hex(IVM "EE 8F 81 84 BE 8B");
    ionf_bin_reader_reset(&reader);
    ionf_bin_reader_open(&reader, right.data, right.len, false, &limits, NULL);
    CHECK_INT(ionf_bin_next(&reader, &token), IONF_OK);
    CHECK_INT(token.kind, IONF_KIND_LIST);
    CHECK_INT(token.content_len, 11);
    CHECK_INT(ionf_bin_next(&reader, &token), IONF_NEED_DATA);
}

/* ---- memory -------------------------------------------------------------------------------- */

static void
every_allocation_may_fail(void)
{
    const bytes input = from_hex(IVM TABLE_A APPEND_B "E6 81 8A D3 8B B1 10"
                                                      "| 5B 80 81 00 00 00 00 00 00 00 00 01");
    const ionf_limits limits = ionf_limits_default();
    bool has_passed = false;
    for (long long fail_at = 0; !has_passed; fail_at++) {
        ct_heap heap = {.fail_at = fail_at};
        ionf_bin_reader r;
        dump d;
        ionf_bin_reader_init(&r, ct_heap_allocator(&heap));
        const ionf_status status = read_all(&r, &input, 0, &limits, &d);
        has_passed = heap.calls <= fail_at;
        CHECK(status == IONF_OK || (!has_passed && status == IONF_ERR_NOMEM));
        ionf_bin_reader_reset(&r);
        heap.fail_at = -1;
        CHECK_INT(read_all(&r, &input, 0, &limits, &d), IONF_OK);
        CHECK(strcmp(d.text, "a::{b:[false ; ; -0x01000000000000000001d0 ") == 0);
        CHECK_INT(ionf_bin_reader_retained(&r), heap.live_bytes);
        ionf_bin_reader_destroy(&r);
        CHECK_INT(heap.live_bytes, 0);
    }
}

static void
a_reader_used_again_allocates_nothing(void)
{
    const bytes input = from_hex(IVM TABLE_A "E6 81 8A D3 8A B1 10");
    const ionf_limits limits = ionf_limits_default();
    ct_heap heap = {.fail_at = -1};
    ionf_bin_reader r;
    dump d;
    ionf_bin_reader_init(&r, ct_heap_allocator(&heap));
    CHECK_INT(heap.calls, 0);
    CHECK_INT(read_all(&r, &input, 0, &limits, &d), IONF_OK);
    const long long calls = heap.calls;
    CHECK(calls > 0);
    for (int i = 0; i < 3; i++) {
        ionf_bin_reader_reset(&r);
        CHECK_INT(read_all(&r, &input, 0, &limits, &d), IONF_OK);
    }
    CHECK_INT(heap.calls, calls);
    ionf_bin_reader_destroy(&r);
    CHECK_INT(heap.live_blocks, 0);
}

/* ---- damaged input: no outcome is asserted but that one window and many agree -------------- */

static uint32_t
random_next(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static void
damaged_input_reads_the_same_in_any_window(void)
{
    static const char *const seeds[] = {
        IVM TABLE_A APPEND_B "E6 81 8A D3 8B B1 10 | 52 C1 0A 63 C0 0F E7 83 E2 82 AC 71 0A", IVM
        "DE 90 84 B5 21 01 0E 82 00 85 E4 81 84 21 02 80 01 FF | 29 01 00 00 00 00 00 00 00 00"};
    const ionf_limits limits = ionf_limits_default();
    uint32_t state = 20240607;
    for (int round = 0; round < 4000; round++) {
        bytes input = from_hex(seeds[round & 1]);
        for (uint32_t n = random_next(&state) % 4 + 1; n != 0; n--) {
            const size_t at = 4 + random_next(&state) % (input.len - 4);
            input.data[at] = (uint8_t)random_next(&state);
        }
        if (random_next(&state) % 4 == 0) {
            input.len -= random_next(&state) % 8;
        }
        dump whole, part;
        ionf_bin_reader_reset(&reader);
        const ionf_status status = read_all(&reader, &input, 0, &limits, &whole);
        const size_t chunk = random_next(&state) % 9 + 1;
        ionf_bin_reader_reset(&reader);
        const ionf_status again = read_all(&reader, &input, chunk, &limits, &part);
        /* One window sees sooner that a container overruns the input: it may give fewer tokens. */
        const bool agree = (status == IONF_OK) == (again == IONF_OK) && part.len >= whole.len &&
                           memcmp(part.text, whole.text, whole.len) == 0;
        CHECK(agree);
        if (!agree) {
            fprintf(stderr, "  round %d, windows of %zu\n", round, chunk);
        }
    }
}

static void
run_all(void)
{
    ionf_bin_reader_init(&reader, ionf_alloc_libc());
    RUN(nulls_and_bools);
    RUN(ints);
    RUN(negative_zero_is_not_an_int);
    RUN(floats);
    RUN(decimals);
    RUN(timestamps);
    RUN(strings_and_lobs);
    RUN(a_long_string_needs_a_long_length);
    RUN(invalid_utf8_is_found_where_it_is);
    RUN(scalars_inside_containers);
    RUN(symbols);
    RUN(reserved_type_codes_are_refused);
    RUN(containers);
    RUN(ordered_structs_are_not_empty);
    RUN(tokens_know_offset_and_content_length);
    RUN(lengths_never_reach_beyond_what_is_around_them);
    RUN(input_that_ends_too_soon_is_truncated);
    RUN(variable_lengths_are_limited_to_64_bits);
    RUN(field_names_must_be_in_the_table);
    RUN(padding_is_no_value);
    RUN(annotations);
    RUN(annotation_wrappers_are_exact);
    RUN(annotations_have_no_limit_of_their_own);
    RUN(a_stream_begins_with_the_version_marker);
    RUN(other_versions_are_refused_by_name);
    RUN(top_level_symbols_that_look_like_the_marker_mean_nothing);
    RUN(local_symbol_tables_define_symbols);
    RUN(tables_end_at_markers_nulls_and_other_tables);
    RUN(only_a_top_level_struct_with_it_first_is_a_table);
    RUN(a_table_may_be_named_by_a_local_symbol);
    RUN(padding_inside_a_table_is_ignored);
    RUN(errors_inside_a_table_have_their_place);
    RUN(a_repeated_table_is_not_read_again);
    RUN(depth_is_limited);
    RUN(value_size_is_limited);
    RUN(a_header_that_never_ends_is_not_collected_for_ever);
    RUN(deep_nesting_costs_no_stack);
    RUN(skip_leaves_the_innermost_container);
    RUN(skip_is_resumed_by_next);
    RUN(skip_needs_a_container_and_its_end);
    RUN(a_stream_may_begin_with_an_empty_window);
    RUN(need_data_consumes_nothing_of_the_value);
    RUN(a_container_is_entered_before_its_content_arrives);
    RUN(every_allocation_may_fail);
    RUN(a_reader_used_again_allocates_nothing);
    RUN(damaged_input_reads_the_same_in_any_window);
    ionf_bin_reader_destroy(&reader);
}

int
main(void)
{
    run_all();
    is_taking = true;
    run_all();
    return ct_end();
}
