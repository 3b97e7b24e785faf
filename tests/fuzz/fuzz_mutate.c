/* The mutator. Binary Ion is taken apart into values, one of them is changed, and the lengths around it
 * are made right again, so that damage reaches the values instead of ending at the first length. Text,
 * and now and then binary too, is changed byte by byte.
 *
 * Serves libFuzzer (LLVMFuzzerCustomMutator) and the plain driver. Binary encoding: binary.md.
 */
#include "fuzz.h"

#define NODE_MAX 256

/* A value as bytes of the input: [start][header][content .. end). */
typedef struct node {
    size_t start, content, end;
    size_t parent; /* index in nodes; NODE_MAX: top level */
    uint8_t type;
} node;

typedef struct document {
    uint8_t *data;
    size_t size, cap;
    node nodes[NODE_MAX];
    size_t count;
    uint64_t state;
} document;

static uint64_t
draw(document *d, uint64_t below)
{
    d->state ^= d->state << 13;
    d->state ^= d->state >> 7;
    d->state ^= d->state << 17;
    return d->state % below;
}

/* Put `len` bytes in place of data[at .. at + removed); false when there is no room. */
static bool
splice(document *d, size_t at, size_t removed, const uint8_t *bytes, size_t len)
{
    if (len > removed && len - removed > d->cap - d->size) {
        return false;
    }
    memmove(d->data + at + len, d->data + at + removed, d->size - at - removed);
    memcpy(d->data + at, bytes, len);
    d->size = d->size - removed + len;
    return true;
}

/* ---- bytes */

static const char *const words[] = {"$ion_symbol_table::{symbols:[\"q\",\"r\"]}",
                                    "$ion_symbol_table::{imports:$ion_symbol_table,",
                                    "{name:\"t\",version:1,max_id:3}",
                                    "$ion_1_0",
                                    "null.int",
                                    "'''",
                                    "\\u00e9",
                                    "\\\n",
                                    "2001-02-03T04:05:06.7Z",
                                    "-0",
                                    "0x",
                                    "0b1",
                                    "1_0",
                                    "d-3",
                                    "e5",
                                    "nan",
                                    "+inf",
                                    "{{",
                                    "}}",
                                    "::",
                                    "/*",
                                    "*/",
                                    "//",
                                    "\r\n",
                                    "$10",
                                    "''",
                                    "\xE0\x01\x00\xEA",
                                    "\xE7\x81\x83\xD4\x87\xB2\x81\x61",
                                    "\x71\x0A",
                                    "(",
                                    ")",
                                    "[",
                                    "]",
                                    "{",
                                    "}",
                                    ",",
                                    ":",
                                    "\"",
                                    "999999999999999999999",
                                    ".",
                                    "T",
                                    "+00:00"};

static void
mutate_bytes_once(document *d)
{
    const size_t at = (size_t)draw(d, d->size + 1);
    const size_t left = d->size - at;
    uint8_t bytes[16];
    switch (draw(d, 8)) {
    case 0: {
        const char *const word = words[draw(d, sizeof words / sizeof *words)];
        (void)splice(d, at, 0, (const uint8_t *)word, strlen(word));
        return;
    }
    case 1: { /* a copy of some of its own bytes */
        const size_t from = (size_t)draw(d, d->size + 1);
        size_t len = d->size - from;
        len = len < sizeof bytes ? len : sizeof bytes;
        len = (size_t)draw(d, len + 1);
        memcpy(bytes, d->data + from, len);
        (void)splice(d, at, 0, bytes, len);
        return;
    }
    case 2:
        (void)splice(d, at, (size_t)draw(d, (left < 12 ? left : 12) + 1), bytes, 0);
        return;
    case 3:
        bytes[0] = (uint8_t)draw(d, 256);
        (void)splice(d, at, 0, bytes, 1);
        return;
    case 4:
        d->size = draw(d, 4) == 0 ? at : d->size;
        return;
    default:
        if (left != 0) {
            d->data[at] = draw(d, 2) == 0 ? (uint8_t)(d->data[at] ^ 1u << draw(d, 8))
                                          : (uint8_t)draw(d, 256);
        }
    }
}

/* ---- taking binary apart */

/* Type descriptor and length at `at`: false when they do not stay before `end`. */
static bool
read_header(const document *d, size_t at, size_t end, node *out)
{
    const uint8_t descriptor = d->data[at];
    const unsigned low = descriptor & 15u;
    size_t content = at + 1;
    size_t len = low == 15 ? 0 : low;
    out->type = descriptor >> 4;
    if (out->type == IONF_TYPE_BOOL) {
        len = 0;
    } else if (low == 14 || (low == 1 && out->type == IONF_TYPE_STRUCT)) {
        const uint8_t *p = d->data + content;
        uint64_t length;
        if (ionf_varuint_read(&p, d->data + end, &length) != IONF_OK || length > d->size) {
            return false;
        }
        len = (size_t)length;
        content = (size_t)(p - d->data);
    }
    out->start = at;
    out->content = content;
    out->end = content + len;
    return out->end <= end;
}

/* Step over what stands before the values in a container: nothing, or a wrapper's annotations. */
static size_t
first_child(const document *d, const node *n)
{
    if (n->type != IONF_TYPE_ANNOTATION) {
        return n->content;
    }
    const uint8_t *p = d->data + n->content;
    uint64_t length;
    if (ionf_varuint_read(&p, d->data + n->end, &length) != IONF_OK ||
        length > (uint64_t)(d->data + n->end - p)) {
        return n->end;
    }
    return (size_t)(p - d->data) + (size_t)length;
}

static bool
has_children(const node *n)
{
    return n->type >= IONF_TYPE_LIST && n->type <= IONF_TYPE_ANNOTATION && n->end != n->content;
}

/* Find the values, breadth first, as far as they are sound. */
static void
take_apart(document *d)
{
    d->count = 0;
    size_t next = NODE_MAX; /* whose children are found: first the top level's */
    for (;;) {
        const node *const parent = next == NODE_MAX ? NULL : &d->nodes[next];
        const size_t end = parent == NULL ? d->size : parent->end;
        size_t at = parent == NULL ? 0 : first_child(d, parent);
        while (at < end && d->count < NODE_MAX) {
            if (parent == NULL && end - at >= 4 &&
                memcmp(d->data + at, "\xE0\x01\x00\xEA", 4) == 0) {
                at += 4;
                continue;
            }
            if (parent != NULL && parent->type == IONF_TYPE_STRUCT) {
                const uint8_t *p = d->data + at;
                uint64_t sid;
                if (ionf_varuint_read(&p, d->data + end, &sid) != IONF_OK || p == d->data + end) {
                    break;
                }
                at = (size_t)(p - d->data);
            }
            node *const n = &d->nodes[d->count];
            if (!read_header(d, at, end, n)) {
                break;
            }
            n->parent = next;
            d->count++;
            at = n->end;
        }
        do {
            next = next == NODE_MAX ? 0 : next + 1;
        } while (next < d->count && !has_children(&d->nodes[next]));
        if (next >= d->count) {
            return;
        }
    }
}

/* ---- putting it together again */

/* `len` as the header of `type`; now and then longer than need be. */
static size_t
put_header(document *d, uint8_t *dst, unsigned type, size_t len)
{
    if (len < 14 && !(type == IONF_TYPE_STRUCT && len == 1) && draw(d, 16) != 0) {
        dst[0] = (uint8_t)(type << 4 | len);
        return 1;
    }
    dst[0] = (uint8_t)(type << 4 | 14u);
    const size_t padding = draw(d, 16) == 0 ? (size_t)draw(d, 3) : 0;
    memset(dst + 1, 0, padding);
    return (size_t)(ionf_varuint_put(dst + 1 + padding, len) - dst);
}

/* Replace data[at .. at + removed), inside `inner` or at top level, and mend the lengths of all that
 * stands around it. */
static void
replace(document *d, size_t inner, size_t at, size_t removed, const uint8_t *bytes, size_t len)
{
    if (!splice(d, at, removed, bytes, len)) {
        return;
    }
    ptrdiff_t delta = (ptrdiff_t)len - (ptrdiff_t)removed;
    while (inner != NODE_MAX && delta != 0) {
        const node *const n = &d->nodes[inner];
        uint8_t header[16];
        const size_t content_len = (size_t)((ptrdiff_t)(n->end - n->content) + delta);
        const size_t size = put_header(d, header, n->type, content_len);
        if (!splice(d, n->start, n->content - n->start, header, size)) {
            return;
        }
        delta += (ptrdiff_t)size - (ptrdiff_t)(n->content - n->start);
        inner = n->parent;
    }
}

/* A value out of nothing: a random type and length, random or telling content. */
static size_t
make_value(document *d, uint8_t *dst)
{
    static const char *const pieces[] = {"\x21\x01",
                                         "\x20",
                                         "\x31\x05",
                                         "\x30",
                                         "\x48\x7F\xF8\0\0\0\0\0\x01",
                                         "\x40",
                                         "\x50",
                                         "\x52\xC1\x80",
                                         "\x53\xC2\x80\x01",
                                         "\x68\x80\x0F\xD0\x81\x81\x80\x80\x80",
                                         "\x63\xC0\x0F\xD0",
                                         "\x70",
                                         "\x71\x04",
                                         "\x71\x0B",
                                         "\x82\xC3\xA9",
                                         "\x8E\x81\x61",
                                         "\xB0",
                                         "\xC0",
                                         "\xD0",
                                         "\xD1\x82\x84\x0F",
                                         "\x0F",
                                         "\x00",
                                         "\x01\xFF",
                                         "\x0E\x80",
                                         "\xE4\x81\x84\x21\x07",
                                         "\xE3\x81\x83\xD0",
                                         "\xBE\x81\x0F",
                                         "\x91\x80",
                                         "\xA1\x00"};
    if (draw(d, 3) != 0) {
        const size_t index = (size_t)draw(d, sizeof pieces / sizeof *pieces);
        const size_t len = index == 4 ? 9 : strlen(pieces[index]) + (pieces[index][0] == 0);
        memcpy(dst, pieces[index], len);
        return len;
    }
    const size_t len = (size_t)draw(d, 20);
    const size_t header = put_header(d, dst, (unsigned)draw(d, 15), len);
    for (size_t i = 0; i < len; i++) {
        dst[header + i] = draw(d, 2) == 0 ? (uint8_t)draw(d, 256) : (uint8_t)(0x80 | draw(d, 16));
    }
    return header + len;
}

/* Content changed in place, its length with it. */
static void
change_content(document *d, size_t index)
{
    const node *const n = &d->nodes[index];
    const size_t len = n->end - n->content;
    const size_t at = n->content + (size_t)draw(d, len + 1);
    const size_t left = n->end - at;
    uint8_t bytes[8];
    const size_t added = (size_t)draw(d, 4);
    for (size_t i = 0; i < added; i++) {
        bytes[i] = (uint8_t)draw(d, 256);
    }
    replace(d, index, at, (size_t)draw(d, (left < 4 ? left : 4) + 1), bytes, added);
}

/* In a container of another kind, or behind annotations. */
static void
wrap(document *d, const node *n)
{
    static const uint8_t types[] = {IONF_TYPE_LIST, IONF_TYPE_SEXP, IONF_TYPE_ANNOTATION,
                                    IONF_TYPE_STRUCT};
    const uint8_t type = types[draw(d, 4)];
    uint8_t head[24], prefix[4];
    size_t prefix_len = 0;
    if (type == IONF_TYPE_ANNOTATION) {
        prefix[prefix_len++] = 0x81;
    }
    if (type >= IONF_TYPE_STRUCT) {
        prefix[prefix_len++] = (uint8_t)(0x80 | draw(d, 16));
    }
    size_t head_len = put_header(d, head, type, n->end - n->start + prefix_len);
    memcpy(head + head_len, prefix, prefix_len);
    head_len += prefix_len;
    replace(d, n->parent, n->start, 0, head, head_len);
}

static void
mutate_value_once(document *d)
{
    take_apart(d);
    if (d->count == 0) {
        mutate_bytes_once(d);
        return;
    }
    const size_t index = (size_t)draw(d, d->count);
    const node *const n = &d->nodes[index];
    uint8_t bytes[256];
    switch (draw(d, 10)) {
    case 0: /* a new value before it */
        replace(d, n->parent, n->start, 0, bytes, make_value(d, bytes));
        return;
    case 1: /* in its place */
        replace(d, n->parent, n->start, n->end - n->start, bytes, make_value(d, bytes));
        return;
    case 2:
        replace(d, n->parent, n->start, n->end - n->start, bytes, 0);
        return;
    case 3: { /* a copy of it in another one's place */
        const size_t len = n->end - n->start;
        if (len <= sizeof bytes) {
            memcpy(bytes, d->data + n->start, len);
            const node *const other = &d->nodes[draw(d, d->count)];
            replace(d, other->parent, other->start,
                    draw(d, 2) == 0 ? 0 : other->end - other->start, bytes, len);
        }
        return;
    }
    case 4:
        wrap(d, n);
        return;
    case 5: /* the same content as another type */
        d->data[n->start] = (uint8_t)(draw(d, 15) << 4 | (d->data[n->start] & 15u));
        return;
    case 6: /* a length that is wrong */
        d->data[n->content - 1] = (uint8_t)(d->data[n->content - 1] + 1 - 2 * draw(d, 2));
        return;
    case 7: { /* another field name or annotation */
        if (n->start != 0) {
            d->data[n->start - 1] = (uint8_t)(0x80 | draw(d, 24));
        }
        return;
    }
    default:
        change_content(d, index);
    }
}

size_t
fuzz_mutate(uint8_t *data, size_t size, size_t cap, uint64_t seed)
{
    document d = {.data = data, .size = size, .cap = cap, .state = seed * 2 + 1};
    (void)draw(&d, 2);
    (void)draw(&d, 2);
    const uint64_t times = 1 + draw(&d, 4);
    for (uint64_t i = 0; i < times; i++) {
        if (fuzz_is_binary(d.data, d.size) && draw(&d, 4) != 0) {
            mutate_value_once(&d);
        } else {
            mutate_bytes_once(&d);
        }
    }
    if (d.size < cap && draw(&d, 64) == 0) { /* text becomes binary and the other way round */
        (void)splice(&d, 0, fuzz_is_binary(d.data, d.size) && d.size >= 4 ? 4 : 0,
                     (const uint8_t *)"\xE0\x01\x00\xEA",
                     draw(&d, 2) == 0 && cap - d.size >= 4 ? 4 : 0);
    }
    return d.size;
}

/* libFuzzer's own mutations half of the time: they use the dictionary and what comparisons wanted. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t cap);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t cap, unsigned seed);

size_t
LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t cap, unsigned seed)
{
    return seed % 2 == 0 ? LLVMFuzzerMutate(data, size, cap) : fuzz_mutate(data, size, cap, seed);
}
