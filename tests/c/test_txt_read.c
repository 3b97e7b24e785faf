/* Tests of ionf_txt_read: the grammar, system values, errors with their place, limits, pieces.
 *
 * Each input is read in every way there is: by the inline half, with each name guessed to come again, by
 * the careful half alone, and in pieces of 1, 2, 3 and 7 bytes. All must give the same trace, or the same
 * error at the same place.
 */
#include "ct.h"

#include "ionf_txt_read.h"

/* ---- the trace: tokens as short text ----
 *
 * [ ( { ] ) }-style brackets are L( S( D( and ), values are their content; "name:" is a field,
 * "a::" an annotation, $n a symbol ID, 'x' a symbol, "x" a string, i f d t the numbers, c b the
 * lobs.
 */
static char trace[1 << 16];
static size_t trace_len;

static void
put(const void *data, size_t len)
{
    if (len != 0 && trace_len + len < sizeof trace) {
        memcpy(trace + trace_len, data, len);
        trace_len += len;
    }
}

static void
put_text(const char *text)
{
    put(text, strlen(text));
}

static void
put_number(long long value)
{
    char text[32];
    snprintf(text, sizeof text, "%lld", value);
    put_text(text);
}

static void
put_symbol(const ionf_symref *symbol)
{
    if (symbol->text == NULL) {
        put_text("$");
        put_number((long long)symbol->sid);
        return;
    }
    CHECK_INT(symbol->is_ascii, ionf_utf8_is_ascii(symbol->text, symbol->len));
    put_text("'");
    put(symbol->text, symbol->len);
    put_text("'");
}

static void
put_integer(const ionf_integer *integer)
{
    put_text(integer->is_negative ? "-" : "");
    if (integer->form == IONF_INT_U64) {
        put_number((long long)integer->u64);
    } else {
        put(integer->data, integer->form == IONF_INT_DIGITS ? integer->len : 0);
    }
}

static void
put_float(double value)
{
    char text[40];
    snprintf(text, sizeof text, "f%.17g", value);
    put_text(text);
}

static void
put_timestamp(const ionf_timestamp *ts)
{
    put_text("t");
    put_number(ts->year);
    put_text("p");
    put_number(ts->precision);
}

static void
put_bytes(const char *open, const ionf_token *token)
{
    put_text(open);
    put(token->as.bytes.data, token->as.bytes.len);
    put_text("\"");
    if (token->kind == IONF_KIND_STRING) {
        CHECK(token->as.bytes.data != NULL);
        CHECK_INT(token->is_ascii, ionf_utf8_is_ascii(token->as.bytes.data, token->as.bytes.len));
    }
}

static void
put_content(const ionf_token *token)
{
    switch (token->kind) {
    case IONF_KIND_BOOL:
        put_text(token->as.boolean ? "true" : "false");
        break;
    case IONF_KIND_INT:
        put_text("i");
        put_integer(&token->as.integer);
        break;
    case IONF_KIND_FLOAT:
        put_float(token->as.f64);
        break;
    case IONF_KIND_DECIMAL:
        put_text("d");
        put_integer(&token->as.decimal.coefficient);
        put_text("e");
        put_number(token->as.decimal.exponent);
        break;
    case IONF_KIND_TIMESTAMP:
        put_timestamp(&token->as.timestamp);
        break;
    case IONF_KIND_SYMBOL:
        put_symbol(&token->as.symbol);
        break;
    case IONF_KIND_STRING:
    case IONF_KIND_CLOB:
    case IONF_KIND_BLOB:
        put_bytes(token->kind == IONF_KIND_STRING ? "\""
                  : token->kind == IONF_KIND_CLOB ? "c\""
                                                  : "b\"",
                  token);
        break;
    default:
        put_text(token->kind == IONF_KIND_LIST   ? "L("
                 : token->kind == IONF_KIND_SEXP ? "S("
                                                 : "D(");
        break;
    }
}

static void
put_token(const ionf_token *token)
{
    if (token->kind == IONF_KIND_EOF) {
        return;
    }
    if (token->kind == IONF_KIND_END) {
        put_text(")");
        return;
    }
    put_text(trace_len == 0 || trace[trace_len - 1] == '(' ? "" : " ");
    if (token->has_field) {
        put_symbol(&token->field);
        put_text(":");
    }
    for (uint32_t i = 0; i < token->annotation_count; i++) {
        put_symbol(&token->annotations[i]);
        put_text("::");
    }
    if (token->is_null) {
        put_text("null.");
        put_number(token->kind);
    } else {
        put_content(token);
    }
}

/* ---- reading in every way ---- */

typedef struct feed {
    const uint8_t *data;
    size_t len, arrived;
    uint8_t
        *window; /* owned: exactly its bytes, so that the sanitizers see reading past the end */
} feed;

static void
feed_window(feed *f, ionf_txt_reader *r, size_t step)
{
    const size_t from = (size_t)ionf_reader_offset(&r->base, r->base.p);
    const bool is_final = f->arrived == f->len;
    f->arrived = f->len - f->arrived < step ? f->len : f->arrived + step;
    const size_t len = f->arrived - from;
    uint8_t *window = malloc(len == 0 ? 1 : len);
    memcpy(window, f->data + from, len);
    ionf_txt_reader_window(r, window, len, is_final);
    free(f->window);
    f->window = window;
}

static ionf_limits limits;
static ionf_error last_error;

/* The name that readers are told to expect, in memory of just its size. */
typedef struct expected_name {
    ionf_txt_guess guess;
    uint8_t *text;        /* owned */
    size_t guessed_count; /* tokens whose name it was, as the reader said */
} expected_name;

static void
expect_name(expected_name *name, const uint8_t *text, size_t len)
{
    free(name->text);
    name->text = malloc(len == 0 ? 1 : len);
    memcpy(name->text, text, len);
    uint8_t head[8] = {0};
    memcpy(head, text, len < sizeof head ? len : sizeof head);
    const ionf_txt_guess guess = {name->text, ionf_load64_native(head), len};
    name->guess = guess;
}

/* An identifier of letters that is no keyword? */
static bool
may_be_guessed(const ionf_symref *name)
{
    for (size_t i = 0; i < name->len; i++) {
        if ((name->text[i] | 0x20) < 'a' || (name->text[i] | 0x20) > 'z') {
            return false;
        }
    }
    return name->len != 0 && ionf_txt_keyword_of(name->text, name->len) == IONF_TXT_NO_KEYWORD;
}

/* Its name, if any, is the one to come next. */
static void
follow_name(expected_name *name, ionf_txt_reader *r, const ionf_token *token)
{
    if (token->kind >= IONF_KIND_END || !token->has_field || token->field.text == NULL) {
        return;
    }
    if (r->is_guessed) {
        CHECK_BYTES(token->field.text, token->field.len, name->text, name->guess.len);
        name->guessed_count++;
    }
    if (may_be_guessed(&token->field)) {
        expect_name(name, token->field.text, token->field.len);
        r->guess = &name->guess;
    }
}

static expected_name expected_next;

/* Read all of it: at once with `step` 0, else in pieces. */
static ionf_status
read_all(ionf_txt_reader *r, const char *text, size_t len, size_t step, bool is_careful)
{
    feed f = {(const uint8_t *)text, len, 0, NULL};
    trace_len = 0;
    ionf_txt_reader_open(r, NULL, 0, false, &limits, NULL);
    ionf_status status;
    ionf_token token;
    do {
        memset(&token, 0xA5, sizeof token);
        status = is_careful ? ionf_txt_next_general(r, &token) : ionf_txt_next(r, &token);
        if (status == IONF_NEED_DATA) {
            if (step == 0) {
                f.arrived = len;
            }
            feed_window(&f, r, step);
        } else if (status == IONF_OK) {
            put_token(&token);
            if (r->guess != NULL) {
                follow_name(&expected_next, r, &token);
            }
        }
    } while (status == IONF_NEED_DATA || (status == IONF_OK && token.kind != IONF_KIND_EOF));
    last_error = r->base.error;
    if (status != IONF_OK) {
        CHECK_INT(ionf_txt_next(r, &token), status);
    }
    free(f.window);
    return status;
}

typedef struct way {
    size_t step;
    bool is_careful, is_guessing;
} way;

static const way ways[] = {
    {0, false, false}, {0, false, true}, {0, true, false},  {1, false, false},
    {2, false, true},  {3, true, true},  {7, false, false}, {29, false, true},
};
#define WAYS (sizeof ways / sizeof ways[0])

static ionf_status
read_way(const char *text, size_t len, const way *w)
{
    ionf_txt_reader r;
    ionf_buf scratch;
    ionf_buf_init(&scratch, ionf_alloc_libc());
    ionf_txt_reader_init(&r, ionf_alloc_libc());
    r.scratch = &scratch;
    r.guess = w->is_guessing ? &expected_next.guess : NULL;
    const ionf_status status = read_all(&r, text, len, w->step, w->is_careful);
    ionf_txt_reader_destroy(&r);
    ionf_buf_destroy(&scratch);
    return status;
}

static void
gives(const char *text, size_t len, const char *expected, size_t expected_len)
{
    for (size_t i = 0; i < WAYS; i++) {
        const ionf_status status = read_way(text, len, &ways[i]);
        CHECK_INT(status, IONF_OK);
        CHECK_BYTES(trace, trace_len, expected, expected_len);
        if (status != IONF_OK || trace_len != expected_len ||
            memcmp(trace, expected, expected_len) != 0) {
            fprintf(stderr, "  %.*s\n  in pieces of %zu gave\n  %.*s\n", (int)len, text,
                    ways[i].step, (int)trace_len, trace);
        }
    }
}

#define GIVES(text, expected) gives("" text, sizeof(text) - 1, "" expected, sizeof(expected) - 1)

/* `expected` is "" for none, NULL for a text that others decide. */
static void
fails(const char *text, size_t len, ionf_status status, uint64_t offset, int32_t found,
      const char *expected)
{
    for (size_t i = 0; i < WAYS; i++) {
        CHECK_INT(read_way(text, len, &ways[i]), status);
        CHECK_INT(last_error.status, status);
        CHECK_INT(last_error.offset, offset);
        CHECK_INT(last_error.found, found);
        const char *actual = last_error.expected == NULL ? "" : last_error.expected;
        if (expected != NULL) {
            CHECK_BYTES(actual, strlen(actual), expected, strlen(expected));
        }
    }
}

#define FAILS(text, status, offset, found, expected)                                              \
    fails("" text, sizeof(text) - 1, status, offset, found, expected)

/* ---- values ---- */

static void
nothing_is_no_value(void)
{
    GIVES("", "");
    GIVES(" \t\r\n\v\f", "");
    GIVES("//", "");
    GIVES("// 1\r/* 2 * / **/ // 3\n", "");
}

static void
scalars(void)
{
    GIVES("null true false nan +inf -inf", "null.0 true false fnan finf f-inf");
    GIVES("null.null null.int null.timestamp null.struct", "null.0 null.2 null.5 null.12");
    GIVES("0 -0 123 -5 0x1F 0b11 1_000", "i0 i0 i123 i-5 i31 i3 i1000");
    GIVES("123456789012345678901 ", "i123456789012345678901");
    GIVES("1.5 -0. 1d3 0.00", "d15e-1 d-0e0 d1e3 d0e-2");
    GIVES("1e0 -1.5e3 2.5E-1 -0e0", "f1 f-1500 f0.25 f-0");
    GIVES("2007T 2007-01T 2007-01-01 2007-02-23T12:14Z", "t2007p1 t2007p2 t2007p3 t2007p4");
    GIVES("\"a\" \"\" \"\xC3\xA9\" \"a\\n\" \"\\\n\"", "\"a\" \"\" \"\xC3\xA9\" \"a\n\" \"\"");
    GIVES("'''a''' '''b''' // c\n '''c''' \"d\"", "\"abc\" \"d\"");
    GIVES("{{aGk=}} {{ \"hi\" }} {{'''a''' '''b'''}}", "b\"hi\" c\"hi\" c\"ab\"");
}

static void
numbers_at_the_edge_of_the_inline_half(void)
{
    GIVES("[999999999999999999,-999999999999999999]",
          "L(i999999999999999999 i-999999999999999999)");
    GIVES("[1234567890123456789]", "L(i1234567890123456789)");
    GIVES("[0.12345678901234567,0.123456789012345678]",
          "L(d12345678901234567e-17 d123456789012345678e-18)");
    GIVES("[9007199254740993e0,1e22,1e23,1e-7]",
          "L(f9007199254740992 f1e+22 f9.9999999999999992e+22 "
          "f9.9999999999999995e-08)");
    GIVES("[1.,1.e1,0]", "L(d1e0 f10 i0)");
}

static void
symbols(void)
{
    GIVES("a 'b c' '' '\\'' $0 $4 '$4' inf null_ $",
          "'a' 'b c' '' ''' $0 $4 '$4' 'inf' 'null_' '$'");
    GIVES("[a,$4,'x', nulls, truex]", "L('a' $4 'x' 'nulls' 'truex')");
    GIVES("abc\"x\"'y'12 z-3", "'abc' \"x\" 'y' i12 'z' i-3");
    GIVES("'a''b'", "'a' 'b'");
}

static void
annotations(void)
{
    GIVES("a::1 'b'::$4::c::d", "'a'::i1 'b'::$4::'c'::'d'");
    GIVES("a :: /*x*/ b // y\n :: [ c::1 ]", "'a'::'b'::L('c'::i1)");
    GIVES("'nan'::nan '\\x61'::'b'::\"\\n\"", "'nan'::fnan 'a'::'b'::\"\n\"");
    GIVES("{f:a::b}", "D('f':'a'::'b')");
    GIVES(
        "[x::1,a::[],b::{},$c::(),d::\"e\",f::-1.5,g::2e0,h::2007-01-01,i::{{aGk=}},j::{{\"k\"}}]",
        "L('x'::i1 'a'::L() 'b'::D() '$c'::S() 'd'::\"e\" 'f'::d-15e-1 'g'::f2 'h'::t2007p3 "
        "'i'::b\"hi\" 'j'::c\"k\")");
    GIVES(
        "[x::1,$::[2],$4::[],$10x::[],x::\"\\n\",x::\"\xC3\xA9\",x::'y',x::y,x::y::[],x::null,x "
        "::1]",
        "L('x'::i1 '$'::L(i2) $4::L() '$10x'::L() 'x'::\"\n\" 'x'::\"\xC3\xA9\" 'x'::'y' 'x'::'y' "
        "'x'::'y'::L() 'x'::null.0 'x'::i1)");
    GIVES("(x::1 a::[b::{c:d::1.}]e::\"f\"g::0x1F h::1_000 i::-0 j::-inf k::+inf l::-)",
          "S('x'::i1 'a'::L('b'::D('c':'d'::d1e0)) 'e'::\"f\" 'g'::i31 'h'::i1000 'i'::i0 "
          "'j'::f-inf "
          "'k'::finf 'l'::'-')");
    GIVES("{a:x::1,b:y::[z::2],c:$ion_symbol_table::{d:$ion_1_0::[]}    }",
          "D('a':'x'::i1 'b':'y'::L('z'::i2) 'c':'$ion_symbol_table'::D('d':'$ion_1_0'::L()))");
}

static void
lists(void)
{
    GIVES("[] [ ] [1] [1,2,] [ 1 , 2 , ]", "L() L() L(i1) L(i1 i2) L(i1 i2)");
    GIVES("[[],[[1]],{},()]", "L(L() L(L(i1)) D() S())");
    GIVES("[1/*x*/,2.5//y\n,2007-01-01/*z*/]", "L(i1 d25e-1 t2007p3)");
    GIVES("[\"a\" , null,true\n,false , nan]", "L(\"a\" null.0 true false fnan)");
}

static void
structs(void)
{
    GIVES("{} {a:1} {a:1,} { 'a b' : 1 , \"c\" : 2 }",
          "D() D('a':i1) D('a':i1) D('a b':i1 'c':i2)");
    GIVES("{'''a''' /*c*/ '''b''':1, \"\\x41\":2, \"\":3, $4:4}", "D('ab':i1 'A':i2 '':i3 $4:i4)");
    GIVES("{a:{b:{}},c:[{d:{{}}}]}", "D('a':D('b':D()) 'c':L(D('d':b\"\")))");
    GIVES("{inf:1,int:2,'null':3,\"true\":4,nullable:5}",
          "D('inf':i1 'int':i2 'null':i3 'true':i4 'nullable':i5)");
    GIVES("{\"\xC3\xA9\":\"\\xe9\"}", "D('\xC3\xA9':\"\xC3\xA9\")");
}

/* All of these are names but the one that is guessed, or stand otherwise. */
static void
names_like_the_guessed_one(void)
{
    GIVES("{abc:1,abcd:2,ab:3,\"abc\":4,\"abcd\":5,'abc':6,abc :7,abc: 8,\"abc\" "
          ":9,abc/**/:0,end:[]}",
          "D('abc':i1 'abcd':i2 'ab':i3 'abc':i4 'abcd':i5 'abc':i6 'abc':i7 'abc':i8 'abc':i9 "
          "'abc':i0 'end':L())");
    GIVES("{abc:x::1,abc:{abc:[],abc:null},abc:\"\\n\",abc:{{aGk=}},abc:$4,\"abc\":1_0          }",
          "D('abc':'x'::i1 'abc':D('abc':L() 'abc':null.0) 'abc':\"\n\" 'abc':b\"hi\" 'abc':$4 "
          "'abc':i10)");
    FAILS("{abc:1,\"abc:2\":3,abc::4             }", IONF_ERR_SYNTAX, 21, ':', NULL);
    FAILS("{abc:1,\"abc':2                   }", IONF_ERR_TRUNCATED, 34, IONF_FOUND_END, NULL);
    FAILS("{abc:1,abc\":2                   }", IONF_ERR_SYNTAX, 10, '"', NULL);
    FAILS("{abc:1 abc:2                     }", IONF_ERR_SYNTAX, 7, 'a', NULL);
    FAILS("{abc:1,,abc:2                    }", IONF_ERR_SYNTAX, 7, ',', NULL);
    FAILS("{abc:1,abc:                      }", IONF_ERR_SYNTAX, 33, '}', NULL);
    FAILS("{abc:1,:2                        }", IONF_ERR_SYNTAX, 7, ':', NULL);
}

/* Of each length, in each place: before it the same bytes but one, and at the end of the window. */
static void
guesses_of_each_length(void)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNO";
    for (size_t len = 1; len < sizeof letters; len++) {
        for (size_t other = 0; other < len; other++) {
            char text[256], expected[256], wrong[64];
            memcpy(wrong, letters, len);
            wrong[other] = '_';
            const int n = (int)len;
            const int size = snprintf(text, sizeof text, "{%.*s:1,%.*s:2,\"%.*s\":3,%.*s:4}", n,
                                      letters, n, letters, n, letters, n, wrong);
            snprintf(expected, sizeof expected, "D('%.*s':i1 '%.*s':i2 '%.*s':i3 '%.*s':i4)", n,
                     letters, n, letters, n, letters, n, wrong);
            gives(text, (size_t)size, expected, strlen(expected));
        }
    }
}

static void
guesses_are_right_where_names_repeat(void)
{
    const way at_once = {0, false, true};
    expected_next.guessed_count = 0;
    static const char text[] =
        "[{id:1},{id:2},{\"id\":3},{id :4},{'id':5},{id:6},{id:null}, 12345678]";
    CHECK_INT(read_way(text, sizeof text - 1, &at_once), IONF_OK);
    CHECK_INT(expected_next.guessed_count, 4);
}

static void
sexps(void)
{
    GIVES("() (a b) ((1)2[3]{})", "S() S('a' 'b') S(S(i1) i2 L(i3) D())");
    GIVES("(a+-b) (a.b;) (a--1) (2 --1) (a-1)",
          "S('a' '+-' 'b') S('a' '.' 'b' ';') S('a' '--' i1) S(i2 '--' i1) S('a' i-1)");
    GIVES("(+1 - 1 -1 -a +inf -inf +infx -in)",
          "S('+' i1 '-' i1 i-1 '-' 'a' finf f-inf '+' 'infx' '-' 'in')");
    GIVES("(+inf+inf -inf* +inf/**/ +inf/ -inf\"x\")",
          "S('+' 'inf' finf '-' 'inf' '*' finf '+' 'inf' '/' f-inf \"x\")");
    GIVES("(null .timestamps null.int.x a::+++ a::-1)",
          "S(null.0 '.' 'timestamps' null.2 '.' 'x' 'a'::'+++' 'a'::i-1)");
    GIVES("(a/*x*/b//y\n+/**/-/%)", "S('a' 'b' '+' '-/%')");
    GIVES("('a' '''b''' \"c\"'d')", "S('a' \"b\" \"c\" 'd')");
    GIVES("(x+=y;!z **bar)", "S('x' '+=' 'y' ';!' 'z' '**' 'bar')");
}

/* ---- system values ---- */

static void
version_markers(void)
{
    GIVES("$ion_1_0 1 $ion_1_0", "i1");
    GIVES("$ion_symbol_table::{symbols:[\"q\"]} '$ion_1_0' $2 $10", "$10");
    GIVES("a::$ion_1_0 $ion_1_0::1 [$ion_1_0] ($ion_2_0)",
          "'a'::'$ion_1_0' '$ion_1_0'::i1 L('$ion_1_0') S('$ion_2_0')");
    GIVES("'$ion_1_1' $ion_1 $ion_1_ $ion__1 $ion_1_1_ $ion_a_1",
          "'$ion_1_1' '$ion_1' '$ion_1_' '$ion__1' '$ion_1_1_' '$ion_a_1'");
    FAILS("1 $ion_1_1 ", IONF_ERR_VERSION, 2, IONF_FOUND_NONE,
          "Ion 1.0 (version marker $ion_1_0), not 1.1");
    FAILS("$ion_12_34", IONF_ERR_VERSION, 0, IONF_FOUND_NONE, "Ion 1.0 (version marker $ion_1_0)");
    FAILS("$ion_symbol_table::{symbols:[\"q\"]} $ion_1_0 $10", IONF_ERR_SID, 44, IONF_FOUND_NONE,
          "");
}

static void
local_symbol_tables(void)
{
    GIVES("$ion_symbol_table::{symbols:[\"a\",'''b''']} $10 {$11:$10::1}", "$10 D($11:$10::i1)");
    GIVES(
        "$3::{symbols:[\"a\"]} $ion_symbol_table::{imports:$ion_symbol_table,symbols:[\"b\"]} $11",
        "$11");
    GIVES("$ion_symbol_table::x::{symbols:[\"a\"]} $10", "$10");
    GIVES("$ion_symbol_table::[1] [$ion_symbol_table::{a:1}] x::$ion_symbol_table::{}",
          "'$ion_symbol_table'::L(i1) L('$ion_symbol_table'::D('a':i1)) "
          "'x'::'$ion_symbol_table'::D()");
    FAILS("$ion_symbol_table::{symbols:[\"a\"]} $ion_symbol_table::null.struct $10", IONF_ERR_SID,
          66, IONF_FOUND_NONE, "");
    FAILS("$ion_symbol_table::{symbols:[\"a\"],symbols:[]}", IONF_ERR_SYMTAB, 42, IONF_FOUND_NONE,
          NULL);
}

/* ---- errors ---- */

static void
wrong_in_containers(void)
{
    FAILS("[1:2]", IONF_ERR_NUMBER, 2, ':', "the end of the number");
    FAILS("[a b]", IONF_ERR_SYNTAX, 3, 'b', "',' or ']' in list");
    FAILS("[1,,2]", IONF_ERR_SYNTAX, 3, ',', "a value or ']' in list");
    FAILS("[,]", IONF_ERR_SYNTAX, 1, ',', "a value or ']' in list");
    FAILS("[1)", IONF_ERR_SYNTAX, 2, ')', "',' or ']' in list");
    FAILS("(1 ,2)", IONF_ERR_SYNTAX, 3, ',', "a value or ')' in sexp");
    FAILS("{a:1 b:2}", IONF_ERR_SYNTAX, 5, 'b', "',' or '}' in struct");
    FAILS("{a:1,,}", IONF_ERR_SYNTAX, 5, ',', "a field name or '}' in struct");
    FAILS("{a}", IONF_ERR_SYNTAX, 2, '}', "':' after the field name");
    FAILS("{a::b}", IONF_ERR_SYNTAX, 3, ':', "a value");
    FAILS("{a:}", IONF_ERR_SYNTAX, 3, '}', "a value");
    FAILS("{1:2}", IONF_ERR_SYNTAX, 1, '1', "a field name or '}' in struct");
    FAILS("{nan:1}", IONF_ERR_SYNTAX, 1, 'n',
          "a field name that is not a keyword (or is in quotes)");
    FAILS("{null.int:1}", IONF_ERR_SYNTAX, 1, 'n',
          "a field name that is not a keyword (or is in quotes)");
}

static void
wrong_at_top_level(void)
{
    FAILS("]", IONF_ERR_SYNTAX, 0, ']', "a value");
    FAILS("abc@", IONF_ERR_SYNTAX, 3, '@', "a value");
    FAILS("1,2", IONF_ERR_SYNTAX, 1, ',', "a value");
    FAILS("+1", IONF_ERR_SYNTAX, 0, '+', "a value");
    FAILS("-a", IONF_ERR_SYNTAX, 1, 'a', "a digit or 'inf' after '-'");
    FAILS("-inf-2", IONF_ERR_SYNTAX, 1, 'i', "a digit or 'inf' after '-'");
    FAILS("\xE5\xAD\x90", IONF_ERR_SYNTAX, 0, 0x5B50, "a value");
    FAILS("1\xC2\xA2", IONF_ERR_NUMBER, 1, 0xA2, "the end of the number");
    FAILS("\xEF\xBB\xBF 1", IONF_ERR_SYNTAX, 0, 0xFEFF,
          "a value (Ion text has no byte order mark)");
    FAILS("1 \0", IONF_ERR_SYNTAX, 2, 0, "a value");
    FAILS("null.ints", IONF_ERR_SYNTAX, 5, 'i', "the name of an Ion type after 'null.'");
    FAILS("( null. )", IONF_ERR_SYNTAX, 7, ' ', "the name of an Ion type after 'null.'");
}

static void
wrong_annotations(void)
{
    FAILS("[x::1,true::[]]", IONF_ERR_SYNTAX, 6, 't', NULL);
    FAILS("[x::1,nan::\"a\"]", IONF_ERR_SYNTAX, 6, 'n', NULL);
    FAILS("[x::1,$11::[]]", IONF_ERR_SID, 6, IONF_FOUND_NONE, NULL);
    FAILS("[x::1,y::]     ", IONF_ERR_SYNTAX, 9, ']', NULL);
    FAILS("[x::1,y::01    ]", IONF_ERR_NUMBER, 10, '1', NULL);
    FAILS("[x::1,y::\"a\n\"   ]", IONF_ERR_SYNTAX, 11, '\n', NULL);
    static const char keyword[] = "an annotation that is not a keyword (or is in quotes)";
    FAILS("true::1", IONF_ERR_SYNTAX, 0, 't', keyword);
    FAILS("[null.int::1]", IONF_ERR_SYNTAX, 1, 'n', keyword);
    FAILS("a : : b", IONF_ERR_SYNTAX, 2, ':', "a value");
    FAILS("a::,", IONF_ERR_SYNTAX, 3, ',', "a value");
    FAILS("\"a\"::1", IONF_ERR_SYNTAX, 3, ':', "a value");
    FAILS("(@::1)", IONF_ERR_SYNTAX, 2, ':', "a value or ')' in sexp");
    FAILS("a::@", IONF_ERR_SYNTAX, 3, '@', "a value");
    FAILS("$10::1", IONF_ERR_SID, 0, IONF_FOUND_NONE, "");
    FAILS("{$10:1}", IONF_ERR_SID, 1, IONF_FOUND_NONE, "");
}

static void
wrong_bytes(void)
{
    FAILS("\"a\xFF\"", IONF_ERR_UTF8, 2, 0xFF, "");
    FAILS("[\"\xC3\xA9\",\"\xED\xA0\x80\"]", IONF_ERR_UTF8, 7, 0xED, "");
    FAILS("1 //\xFF\n", IONF_ERR_UTF8, 4, 0xFF, "");
    FAILS("1 \x80", IONF_ERR_UTF8, 2, 0x80, "");
    FAILS("'\xC0\x80'", IONF_ERR_UTF8, 1, 0xC0, "");
    FAILS("\"a\nb\"", IONF_ERR_SYNTAX, 2, '\n', "'\"' to end a string");
    FAILS("\"\\ude00\"", IONF_ERR_ESCAPE, 1, IONF_FOUND_NONE,
          "the escape of a code point up to 10FFFF that is not half of a pair");
    FAILS("{{ aG-k }}", IONF_ERR_BASE64, 5, '-', "base64 or '}}' to end a blob");
    FAILS("{{\"\xC3\xA9\"}}", IONF_ERR_LOB, 3, 0xE9, "an ASCII character or an escape in a clob");
    FAILS("2007-02-30 ", IONF_ERR_TIMESTAMP, 8, '3', NULL);
    FAILS("1d9223372036854775808", IONF_ERR_RANGE, 2, '9', "a decimal exponent that fits 64 bits");
}

static void
cut_off_input(void)
{
    FAILS("[1", IONF_ERR_TRUNCATED, 2, IONF_FOUND_END, "']' to end a list");
    FAILS("(1 ", IONF_ERR_TRUNCATED, 3, IONF_FOUND_END, "')' to end a sexp");
    FAILS("{a:1,", IONF_ERR_TRUNCATED, 5, IONF_FOUND_END, "'}' to end a struct");
    FAILS("{a", IONF_ERR_TRUNCATED, 2, IONF_FOUND_END, "':' after the field name");
    FAILS("{a:", IONF_ERR_TRUNCATED, 3, IONF_FOUND_END, "a value");
    FAILS("a::", IONF_ERR_TRUNCATED, 3, IONF_FOUND_END, "a value");
    FAILS("\"abc", IONF_ERR_TRUNCATED, 4, IONF_FOUND_END, "'\"' to end a string");
    FAILS("'abc", IONF_ERR_TRUNCATED, 4, IONF_FOUND_END, "\"'\" to end a quoted symbol");
    FAILS("'''abc''", IONF_ERR_TRUNCATED, 8, IONF_FOUND_END, "\"'''\" to end a long string");
    FAILS("{{aGk=", IONF_ERR_TRUNCATED, 6, IONF_FOUND_END, "'}}' to end a blob or clob");
    FAILS("1 /* *", IONF_ERR_TRUNCATED, 6, IONF_FOUND_END, "'*/' to end a comment");
    FAILS("1e", IONF_ERR_TRUNCATED, 2, IONF_FOUND_END, "a digit in the exponent");
    FAILS("-", IONF_ERR_TRUNCATED, 1, IONF_FOUND_END, "a digit or 'inf' after '-'");
}

static void
place_check(const char *text, uint64_t line, uint64_t column)
{
    for (size_t i = 0; i < WAYS; i++) {
        CHECK(read_way(text, strlen(text), &ways[i]) != IONF_OK);
        CHECK_INT(last_error.line, line);
        CHECK_INT(last_error.column, column);
    }
}

static void
errors_tell_line_and_column(void)
{
    place_check("@", 1, 1);
    place_check("1\n2\n  @", 3, 3);
    place_check("1\r2\r\n3\n\r@", 5, 1);
    place_check("\"\xC3\xA9\xF0\x9F\x98\x80\" @", 1, 6);
    place_check("/*\n\n*/ [\n@", 4, 1);
    place_check("$ion_1_0\n$ion_symbol_table::{\n symbols:[],symbols:[]}", 3, 21);
}

/* ---- limits ---- */

static void
depth_is_limited(void)
{
    limits.max_depth = 2;
    GIVES("[[]] [{}]", "L(L()) L(D())");
    FAILS("[[ [] ]]", IONF_ERR_DEPTH, 3, IONF_FOUND_NONE, "");
    GIVES("[x::1,y::[z::\"a\"]]", "L('x'::i1 'y'::L('z'::\"a\"))");
    FAILS("[x::1,y::[z::()]]", IONF_ERR_DEPTH, 13, IONF_FOUND_NONE, "");
    limits.max_depth = 0;
    GIVES("1 a", "i1 'a'");
    FAILS("a::()", IONF_ERR_DEPTH, 3, IONF_FOUND_NONE, "");
    limits = ionf_limits_default();
}

static void
deep_nesting_is_no_recursion(void)
{
    enum { DEPTH = 100000 };
    char *text = malloc(2 * DEPTH);
    memset(text, '[', DEPTH);
    memset(text + DEPTH, ']', DEPTH);
    limits.max_depth = DEPTH;
    CHECK_INT(read_way(text, 2 * DEPTH, &ways[0]), IONF_OK);
    limits = ionf_limits_default();
    CHECK_INT(read_way(text, 2 * DEPTH, &ways[0]), IONF_ERR_DEPTH);
    CHECK_INT(last_error.offset, IONF_DEFAULT_MAX_DEPTH);
    free(text);
}

static void
size_is_limited(void)
{
    limits.max_value_size = 8;
    GIVES("[1,2,34]", "L(i1 i2 i34)");
    GIVES("12345678 \"abcdef\" {a:\"\",} [1,2,3,]",
          "i12345678 \"abcdef\" D('a':\"\") L(i1 i2 i3)");
    for (size_t i = 0; i < WAYS; i++) {
        CHECK_INT(read_way("1 [1,2,345]", 11, &ways[i]), IONF_ERR_VALUE_SIZE);
        CHECK_INT(last_error.offset, 2);
        CHECK_INT(read_way("1 [1,2,3 ]", 10, &ways[i]), IONF_OK);
        CHECK_INT(read_way("1 [1,2,3  ]", 11, &ways[i]), IONF_ERR_VALUE_SIZE);
        CHECK_INT(read_way("[x::12 ]     ", 13, &ways[i]), IONF_OK);
        CHECK_INT(read_way("[x::123 ]    ", 13, &ways[i]), IONF_ERR_VALUE_SIZE);
        CHECK_INT(read_way("[a::\"bc\"]    ", 13, &ways[i]), IONF_ERR_VALUE_SIZE);
        CHECK_INT(read_way("[a::[]]      ", 13, &ways[i]), IONF_OK);
        CHECK_INT(read_way("123456789 ", 10, &ways[i]), IONF_ERR_VALUE_SIZE);
        CHECK_INT(last_error.offset, 0);
    }
    limits = ionf_limits_default();
}

/* An unfinished value is refused as soon as it is too long, not when it ends. */
static void
size_is_limited_before_the_end(void)
{
    ionf_txt_reader r;
    ionf_buf scratch;
    ionf_token token;
    ionf_buf_init(&scratch, ionf_alloc_libc());
    ionf_txt_reader_init(&r, ionf_alloc_libc());
    r.scratch = &scratch;
    limits.max_value_size = 8;
    ionf_txt_reader_open(&r, (const uint8_t *)"\"1234567", 8, false, &limits, NULL);
    CHECK_INT(ionf_txt_next(&r, &token), IONF_NEED_DATA);
    ionf_txt_reader_window(&r, (const uint8_t *)"\"12345678", 9, false);
    CHECK_INT(ionf_txt_next(&r, &token), IONF_ERR_VALUE_SIZE);
    limits = ionf_limits_default();
    ionf_txt_reader_destroy(&r);
    ionf_buf_destroy(&scratch);
}

/* ---- in pieces ---- */

/* How often the same long value would be read anew if nothing were remembered: half a billion
 * bytes for each of these. Each is fed a byte at a time. */
static void
long_words_in_single_bytes(void)
{
    static const struct {
        const char *before, *middle, *after;
    } words[] = {{"\"", "x", "\""},          {"'", "\\n", "'::1"},      {"'''", "''x", "'''"},
                 {"{{", "aGk=\n", "}} "},    {"{{\"", "\\\"", "\"}}"},  {"1", "0", " "},
                 {"{", "/* : */", "a:1}"},   {"{a /*", "***", "*/:1}"}, {"a::", "b::", "1 "},
                 {"'''x'''", "'''y'''", ""}, {"//", "x", "\n"},         {"(", "+", ")"}};
    enum { COUNT = 30000 };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        const size_t step = strlen(words[i].middle);
        const size_t before = strlen(words[i].before), after = strlen(words[i].after);
        const size_t len = before + COUNT * step + after;
        char *text = malloc(len);
        memcpy(text, words[i].before, before);
        for (size_t k = 0; k < COUNT; k++) {
            memcpy(text + before + k * step, words[i].middle, step);
        }
        memcpy(text + before + COUNT * step, words[i].after, after);
        ionf_txt_reader r;
        ionf_buf scratch;
        ionf_buf_init(&scratch, ionf_alloc_libc());
        ionf_txt_reader_init(&r, ionf_alloc_libc());
        r.scratch = &scratch;
        ionf_txt_reader_open(&r, (const uint8_t *)text, 0, false, &limits, NULL);
        ionf_status status = IONF_NEED_DATA;
        ionf_token token;
        token.kind = IONF_KIND_NULL;
        /* The text lies in one place, so that a window costs nothing but what the reader does. */
        for (size_t arrived = 0; status == IONF_NEED_DATA || token.kind != IONF_KIND_EOF;) {
            status = ionf_txt_next(&r, &token);
            if (status == IONF_NEED_DATA) {
                const size_t from = (size_t)ionf_reader_offset(&r.base, r.base.p);
                const bool is_final = arrived == len;
                arrived += !is_final;
                ionf_txt_reader_window(&r, (const uint8_t *)text + from, arrived - from, is_final);
            } else if (status != IONF_OK) {
                break;
            }
        }
        CHECK_INT(status, i == 3 ? IONF_ERR_BASE64 : IONF_OK);
        ionf_txt_reader_destroy(&r);
        ionf_buf_destroy(&scratch);
        free(text);
    }
}

/* Read the first token of an unfinished input. */
static ionf_status
first_of(const char *text, ionf_token *token, uint64_t *consumed)
{
    ionf_txt_reader r;
    ionf_buf scratch;
    ionf_buf_init(&scratch, ionf_alloc_libc());
    ionf_txt_reader_init(&r, ionf_alloc_libc());
    r.scratch = &scratch;
    ionf_txt_reader_open(&r, (const uint8_t *)text, strlen(text), false, &limits, NULL);
    const ionf_status status = ionf_txt_next(&r, token);
    *consumed = ionf_reader_offset(&r.base, r.base.p);
    ionf_txt_reader_destroy(&r);
    ionf_buf_destroy(&scratch);
    return status;
}

static void
pending(const char *text, ionf_status status, uint64_t consumed)
{
    ionf_token token;
    uint64_t actual;
    CHECK_INT(first_of(text, &token, &actual), status);
    CHECK_INT(actual, consumed);
}

static void
values_are_given_as_soon_as_they_are_sure(void)
{
    pending("12", IONF_NEED_DATA, 0);
    pending("12 ", IONF_OK, 2);
    pending("true ", IONF_OK, 4);
    pending("null.int ", IONF_OK, 8);
    pending("\"a\"", IONF_OK, 3);
    pending("abc ", IONF_NEED_DATA, 0);
    pending("abc 1", IONF_OK, 3);
    pending("a::b ", IONF_NEED_DATA, 0);
    pending("'''a''' ", IONF_NEED_DATA, 0);
    pending("'''a''' 1", IONF_OK, 7);
    pending("''", IONF_NEED_DATA, 0);
    pending("{", IONF_NEED_DATA, 0);
    pending("[", IONF_OK, 1);
    pending("{{}}", IONF_OK, 4);
    pending("+inf", IONF_NEED_DATA, 0);
    pending("+inf/", IONF_NEED_DATA, 0);
    pending("+inf/*", IONF_OK, 4);
    pending("1 ", IONF_OK, 1);
    pending("  // a", IONF_NEED_DATA, 6);
    pending(" /* a", IONF_NEED_DATA, 5);
    pending(" /", IONF_NEED_DATA, 1);
}

/* ---- skipping, reuse, memory ---- */

static void
skip_leaves_the_container(void)
{
    static const char text[] = "[1,[2,\"]\",{a:{{\"]\"}}}],3] 4";
    for (size_t step = 0; step < 4; step++) {
        ionf_txt_reader r;
        ionf_buf scratch;
        ionf_token token;
        feed f = {(const uint8_t *)text, sizeof text - 1, step == 0 ? sizeof text - 1 : 0, NULL};
        ionf_buf_init(&scratch, ionf_alloc_libc());
        ionf_txt_reader_init(&r, ionf_alloc_libc());
        r.scratch = &scratch;
        ionf_txt_reader_open(&r, NULL, 0, false, &limits, NULL);
        CHECK_INT(ionf_txt_skip(&r), IONF_ERR_STATE);
        for (int count = 0; count < 5;) {
            const ionf_status status = count == 3 ? ionf_txt_skip(&r) : ionf_txt_next(&r, &token);
            if (status == IONF_NEED_DATA) {
                feed_window(&f, &r, step);
                continue;
            }
            CHECK_INT(status, IONF_OK);
            count++;
        }
        CHECK_INT(token.kind, IONF_KIND_INT);
        CHECK_INT(token.as.integer.u64, 3);
        CHECK_INT(r.base.depth, 1);
        ionf_txt_reader_destroy(&r);
        ionf_buf_destroy(&scratch);
        free(f.window);
    }
}

static void
skip_checks_what_it_passes(void)
{
    ionf_txt_reader r;
    ionf_buf scratch;
    ionf_token token;
    ionf_buf_init(&scratch, ionf_alloc_libc());
    ionf_txt_reader_init(&r, ionf_alloc_libc());
    r.scratch = &scratch;
    ionf_txt_reader_open(&r, (const uint8_t *)"[[1,@]]", 7, true, &limits, NULL);
    CHECK_INT(ionf_txt_next(&r, &token), IONF_OK);
    CHECK_INT(ionf_txt_skip(&r), IONF_ERR_SYNTAX);
    CHECK_INT(r.base.error.offset, 4);
    CHECK_INT(ionf_txt_skip(&r), IONF_ERR_SYNTAX);
    ionf_txt_reader_destroy(&r);
    ionf_buf_destroy(&scratch);
}

static void
offsets_are_of_the_value(void)
{
    ionf_txt_reader r;
    ionf_buf scratch;
    ionf_token token;
    ionf_buf_init(&scratch, ionf_alloc_libc());
    ionf_txt_reader_init(&r, ionf_alloc_libc());
    r.scratch = &scratch;
    ionf_txt_reader_open(&r, (const uint8_t *)" { f : a::1 } ", 14, true, &limits, NULL);
    static const uint64_t offsets[] = {1, 7, 12, 14};
    for (size_t i = 0; i < sizeof offsets / sizeof offsets[0]; i++) {
        CHECK_INT(ionf_txt_next(&r, &token), IONF_OK);
        CHECK_INT(token.offset, offsets[i]);
    }
    CHECK_INT(token.kind, IONF_KIND_EOF);
    CHECK_INT(ionf_txt_next(&r, &token), IONF_OK);
    CHECK_INT(token.kind, IONF_KIND_EOF);
    ionf_txt_reader_destroy(&r);
    ionf_buf_destroy(&scratch);
}

/* The scratch grows, and so moves, after a name and an annotation have been put there. */
static void
names_survive_a_growing_scratch(void)
{
    char text[2000] = "{\"\\x61\":'\\x62'::\"";
    const size_t start = strlen(text);
    for (size_t i = 0; i < 300; i++) {
        memcpy(text + start + 4 * i, "\\x63", 4);
    }
    memcpy(text + start + 1200, "\"}", 2);
    char expected[400] = "D('a':'b'::\"";
    memset(expected + 12, 'c', 300);
    memcpy(expected + 312, "\")", 2);
    gives(text, start + 1202, expected, 314);
}

/* Error, unfinished and finished streams, one after the other, leave nothing behind. */
static void
reset_leaves_nothing(void)
{
    ct_heap heap = {.fail_at = -1};
    ionf_txt_reader r;
    ionf_buf scratch;
    static const char *const texts[] = {"[1,{a:@", "[1,{a:'b'::\"x", "1 /* x",
                                        "$ion_symbol_table::{",
                                        "$ion_symbol_table::{symbols:[\"a\"]} $10 [[[[[[[[[1"};
    ionf_buf_init(&scratch, ct_heap_allocator(&heap));
    ionf_txt_reader_init(&r, ct_heap_allocator(&heap));
    for (size_t i = 0; i < 2 * sizeof texts / sizeof texts[0]; i++) {
        r.scratch = &scratch;
        (void)read_all(&r, texts[i / 2], strlen(texts[i / 2]), i % 2, false);
        ionf_txt_reader_reset(&r);
        r.scratch = &scratch;
        CHECK_INT(read_all(&r, "a::[\"\\n\",{b:2}]", 15, i % 2, false), IONF_OK);
        CHECK_BYTES(trace, trace_len, "'a'::L(\"\n\" D('b':i2))", 21);
        ionf_txt_reader_reset(&r);
    }
    const long long calls = heap.calls;
    r.scratch = &scratch;
    CHECK_INT(read_all(&r, "a::[1,{b:\"\\n\"}]", 15, 0, false), IONF_OK);
    CHECK_INT(heap.calls, calls);
    CHECK(ionf_txt_reader_retained(&r) > 0);
    ionf_txt_reader_destroy(&r);
    ionf_buf_destroy(&scratch);
    CHECK_INT(heap.live_blocks, 0);
}

static void
each_allocation_fails_once(void)
{
    static const char text[] =
        "$ion_symbol_table::{imports:[{name:\"x\",version:1,max_id:3}],"
        "symbols:[\"a\",\"b\"]} $13::{\"\\x61\":'\\x62'::\"\\n\","
        "c:0x1_0000_0000_0000_0000,d:{{aGk=}},e:1_0.5,f:'''a''' '''b'''}"
        "[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]] 'a'::'b'::'c'::'d'::'e'::'f'::"
        "'g'::'h'::'i'::'j'::1";
    ionf_status status = IONF_ERR_NOMEM;
    long long fail_at = 0;
    for (; status != IONF_OK; fail_at++) {
        ct_heap heap = {.fail_at = fail_at};
        ionf_txt_reader r;
        ionf_buf scratch;
        ionf_buf_init(&scratch, ct_heap_allocator(&heap));
        ionf_txt_reader_init(&r, ct_heap_allocator(&heap));
        r.scratch = &scratch;
        status = read_all(&r, text, sizeof text - 1, (size_t)(fail_at % 2) * 3, false);
        CHECK(status == IONF_OK || status == IONF_ERR_NOMEM);
        ionf_txt_reader_destroy(&r);
        ionf_buf_destroy(&scratch);
        CHECK_INT(heap.live_blocks, 0);
        CHECK_INT(heap.live_bytes, 0);
    }
    CHECK(fail_at > 8);
}

/* ---- a scratch that comes when it is needed ---- */

typedef struct lender {
    ionf_buf scratch;
    int lent_count;
    bool has_none;
} lender;

static ionf_buf *
lend(void *ctx)
{
    lender *l = ctx;
    l->lent_count++;
    return l->has_none ? NULL : &l->scratch;
}

/* Read `text`, with `r` as new or reset, to the end of its only value. */
static ionf_status
read_lent(ionf_txt_reader *r, const char *text)
{
    ionf_txt_reader_open(r, (const uint8_t *)text, strlen(text), true, &limits, NULL);
    ionf_status status;
    ionf_token token;
    trace_len = 0;
    do {
        status = ionf_txt_next(r, &token);
        if (status == IONF_OK) {
            put_token(&token);
        }
    } while (status == IONF_OK && !(token.kind == IONF_KIND_END && ionf_txt_is_at_eof(r)));
    last_error = r->base.error;
    ionf_txt_reader_reset(r);
    return status;
}

static void
scratch_is_lent_once_and_only_where_needed(void)
{
    static const struct {
        const char *text, *trace;
        int lent_count;
        uint64_t offset; /* of the error where there is none to lend */
    } cases[] = {
        {"$ion_1_0 [{aa:1,\"b\":[true, null],c:2.5}]",
         "L(D('aa':i1 'b':L(true null.0) 'c':d25e-1))", 0, 0},
        {"[[[1]],\"x\\n\",'y',{{aGk=}}]", "L(L(L(i1)) \"x\n\" 'y' b\"hi\")", 1, 7},
        {"[a::1]", "L('a'::i1)", 1, 1},
        {"// c\n[1]", "L(i1)", 1, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        lender l = {.lent_count = 0};
        ionf_buf_init(&l.scratch, ionf_alloc_libc());
        ionf_txt_reader r;
        ionf_txt_reader_init(&r, ionf_alloc_libc());
        r.lend = lend;
        r.lend_ctx = &l;
        CHECK_INT(read_lent(&r, "[[[[]]]]"), IONF_OK); /* now it has frames */
        l.lent_count = 0;
        CHECK_INT(read_lent(&r, cases[i].text), IONF_OK);
        CHECK_BYTES(trace, trace_len, cases[i].trace, strlen(cases[i].trace));
        CHECK_INT(l.lent_count, cases[i].lent_count);
        l.has_none = true;
        const ionf_status status = read_lent(&r, cases[i].text);
        CHECK_INT(status, cases[i].lent_count == 0 ? IONF_OK : IONF_ERR_NOMEM);
        CHECK_INT(last_error.status, status);
        CHECK_INT(last_error.offset, cases[i].offset);
        ionf_txt_reader_destroy(&r);
        ionf_buf_destroy(&l.scratch);
    }
}

int
main(void)
{
    limits = ionf_limits_default();
    RUN(nothing_is_no_value);
    RUN(scalars);
    RUN(numbers_at_the_edge_of_the_inline_half);
    RUN(symbols);
    RUN(annotations);
    RUN(lists);
    RUN(structs);
    RUN(names_like_the_guessed_one);
    RUN(guesses_of_each_length);
    RUN(sexps);
    RUN(version_markers);
    RUN(local_symbol_tables);
    RUN(wrong_in_containers);
    RUN(wrong_at_top_level);
    RUN(wrong_annotations);
    RUN(wrong_bytes);
    RUN(cut_off_input);
    RUN(errors_tell_line_and_column);
    RUN(depth_is_limited);
    RUN(deep_nesting_is_no_recursion);
    RUN(size_is_limited);
    RUN(size_is_limited_before_the_end);
    RUN(long_words_in_single_bytes);
    RUN(values_are_given_as_soon_as_they_are_sure);
    RUN(skip_leaves_the_container);
    RUN(skip_checks_what_it_passes);
    RUN(offsets_are_of_the_value);
    RUN(names_survive_a_growing_scratch);
    RUN(reset_leaves_nothing);
    RUN(each_allocation_fails_once);
    if (IONF_STEP_BYTES > 128) { /* they count what the inline half does, which a step ends */
        RUN(guesses_are_right_where_names_repeat);
        RUN(scratch_is_lent_once_and_only_where_needed);
    }
    free(expected_next.text);
    return ct_end();
}
