/* Text and symbols for the encoder: str -> UTF-8, names -> SIDs, and symbols with unknown text.
 *
 * A symbol that a local symbol table declares without text is written through a local null slot. Its
 * SID follows the imports, so it is only known in the end: a mark stands for it until then.
 *
 * A symbol of an import that no catalog had is known by its table's name and its position there. To
 * survive, the output has to import that table again. Specification: symbols.md, "Imports" and "Data
 * Model". In text the needed imports are simply collected, for nothing else has a symbol ID there. In
 * binary, imports come before local symbols, so that the SIDs of a value that is half written would
 * move: such symbols get provisional SIDs, and the finished body is copied with the final ones.
 */
#include "py_encode.h"

#include "ionf_num.h"
#include "ionf_utf8.h"
#include "ionf_varint.h"
#include "py_conv.h"

/* ---- str -> UTF-8 ---- */

/* Encode `count` code units; gives the end of the output, or NULL at a surrogate, whose index is then
 * in `*bad`. One instance for each width. */
#define ENCODE_UNITS(name, unit)                                                                  \
    static uint8_t *name(uint8_t *dst, const unit *src, size_t count, size_t *bad)                \
    {                                                                                             \
        for (size_t i = 0; i < count; i++) {                                                      \
            const uint32_t c = src[i];                                                            \
            if (c < 0x80) {                                                                       \
                *dst++ = (uint8_t)c;                                                              \
            } else if (c < 0x800) {                                                               \
                dst[0] = (uint8_t)(0xC0 | c >> 6);                                                \
                dst[1] = (uint8_t)(0x80 | (c & 0x3F));                                            \
                dst += 2;                                                                         \
            } else if (sizeof(unit) == 2 || c < 0x10000) {                                        \
                if (IONF_UNLIKELY(c - 0xD800 < 0x800)) {                                          \
                    *bad = i;                                                                     \
                    return NULL;                                                                  \
                }                                                                                 \
                dst[0] = (uint8_t)(0xE0 | c >> 12);                                               \
                dst[1] = (uint8_t)(0x80 | (c >> 6 & 0x3F));                                       \
                dst[2] = (uint8_t)(0x80 | (c & 0x3F));                                            \
                dst += 3;                                                                         \
            } else {                                                                              \
                dst[0] = (uint8_t)(0xF0 | c >> 18);                                               \
                dst[1] = (uint8_t)(0x80 | (c >> 12 & 0x3F));                                      \
                dst[2] = (uint8_t)(0x80 | (c >> 6 & 0x3F));                                       \
                dst[3] = (uint8_t)(0x80 | (c & 0x3F));                                            \
                dst += 4;                                                                         \
            }                                                                                     \
        }                                                                                         \
        return dst;                                                                               \
    }

ENCODE_UNITS(encode_ucs1, uint8_t)
ENCODE_UNITS(encode_ucs2, uint16_t)
ENCODE_UNITS(encode_ucs4, uint32_t)

/* The same for `count` units of a str from `start` on. */
static uint8_t *
encode_units(uint8_t *dst, PyObject *str, size_t start, size_t count, size_t *bad)
{
    switch (PyUnicode_KIND(str)) {
    case PyUnicode_1BYTE_KIND:
        return encode_ucs1(dst, PyUnicode_1BYTE_DATA(str) + start, count, bad);
    case PyUnicode_2BYTE_KIND:
        return encode_ucs2(dst, PyUnicode_2BYTE_DATA(str) + start, count, bad);
    default:
        return encode_ucs4(dst, PyUnicode_4BYTE_DATA(str) + start, count, bad);
    }
}

static uint8_t *
encode_all_units(uint8_t *dst, PyObject *str, size_t *bad)
{
    return encode_units(dst, str, 0, (size_t)PyUnicode_GET_LENGTH(str), bad);
}

/* Bytes of the UTF-8; a surrogate counts as any of its width. */
static size_t
utf8_size(PyObject *str)
{
    const size_t count = (size_t)PyUnicode_GET_LENGTH(str);
    const void *const data = PyUnicode_DATA(str);
    const Py_UCS1 *const ucs1 = data;
    const Py_UCS2 *const ucs2 = data;
    const Py_UCS4 *const ucs4 = data;
    size_t more = 0;
    switch (PyUnicode_KIND(str)) {
    case PyUnicode_1BYTE_KIND:
        for (size_t i = 0; i < count; i++) {
            more += ucs1[i] >= 0x80;
        }
        break;
    case PyUnicode_2BYTE_KIND:
        for (size_t i = 0; i < count; i++) {
            more += (size_t)(ucs2[i] >= 0x80) + (ucs2[i] >= 0x800);
        }
        break;
    default:
        for (size_t i = 0; i < count; i++) {
            more += (size_t)(ucs4[i] >= 0x80) + (ucs4[i] >= 0x800) + (ucs4[i] >= 0x10000);
        }
    }
    return count + more;
}

/* More characters are counted before they are encoded. */
#define COUNT_MIN 16384

/* Room for the str's UTF-8: for a short one the most that its width can need. */
static size_t
utf8_bound(PyObject *str)
{
    const size_t kind = (size_t)PyUnicode_KIND(str);
    const size_t count = (size_t)PyUnicode_GET_LENGTH(str);
    return count >= COUNT_MIN ? utf8_size(str) : count * (kind == 4 ? 4 : kind + 1);
}

/* UnicodeEncodeError, with the path in its reason. The hot loops come here with borrowed containers, and
 * making an exception can set off the collector. */
static IONF_NOINLINE int
refuse_surrogate(ionfast_encoder *enc, PyObject *str, size_t bad)
{
    ionfast_encode_hold(enc);
    Py_INCREF(str);
    PyObject *path = ionfast_encode_path(enc, true);
    PyObject *reason =
        path == NULL ? NULL : PyUnicode_FromFormat("surrogates not allowed, at %U", path);
    PyObject *error = reason == NULL
                          ? NULL
                          : PyObject_CallFunction(PyExc_UnicodeEncodeError, "sOnnO", "utf-8", str,
                                                  (Py_ssize_t)bad, (Py_ssize_t)bad + 1, reason);
    if (error != NULL) {
        PyErr_SetObject(PyExc_UnicodeEncodeError, error);
    }
    Py_XDECREF(error);
    Py_XDECREF(reason);
    Py_XDECREF(path);
    Py_DECREF(str);
    return -1;
}

/* Append the str's UTF-8 to `out`. */
static int
append_utf8(ionfast_encoder *enc, PyObject *str, ionf_buf *out)
{
    const ionf_slice known = ionfast_utf8_cached(str);
    if (known.data != NULL) {
        return ionfast_encode_status(enc, ionf_buf_append(out, known.data, known.len));
    }
    const ionf_status status = ionf_buf_reserve(out, utf8_bound(str));
    if (status != IONF_OK) {
        return ionfast_encode_status(enc, status);
    }
    size_t bad = 0;
    uint8_t *const end = encode_all_units(out->data + out->len, str, &bad);
    if (end == NULL) {
        return refuse_surrogate(enc, str, bad);
    }
    out->len = (size_t)(end - out->data);
    return 0;
}

int
ionfast_utf8_of(ionfast_encoder *enc, PyObject *str, ionf_slice *out)
{
    *out = ionfast_utf8_cached(str);
    if (out->data == NULL) {
        enc->scratch.len = 0;
        if (append_utf8(enc, str, &enc->scratch) < 0) {
            return -1;
        }
        *out = (ionf_slice){enc->scratch.data, enc->scratch.len};
    }
    return 0;
}

/* The str's UTF-8 to `dst`, where there is room, with a look at signals after each long step. Its end, or
 * NULL with an exception. */
static uint8_t *
encode_steps(ionfast_encoder *enc, uint8_t *dst, PyObject *str)
{
    const size_t count = (size_t)PyUnicode_GET_LENGTH(str);
    size_t bad = 0;
    size_t start = 0;
    while (IONF_UNLIKELY(count - start > IONFAST_LONG_STR)) {
        dst = encode_units(dst, str, start, IONFAST_LONG_STR, &bad);
        if (dst == NULL) {
            (void)refuse_surrogate(enc, str, start + bad);
            return NULL;
        }
        if (PyErr_CheckSignals() < 0) {
            return NULL;
        }
        start += IONFAST_LONG_STR;
    }
    dst = encode_units(dst, str, start, count - start, &bad);
    if (IONF_UNLIKELY(dst == NULL)) {
        (void)refuse_surrogate(enc, str, start + bad);
    }
    return dst;
}

/* A string in binary, encoded right where it belongs: behind a head as long as the greatest length
 * needs. Most often that is the head it gets; else the text moves down. */
static int
encode_wide_binary(ionfast_encoder *enc, PyObject *str)
{
    ionf_buf *const body = enc->body;
    const size_t bound = utf8_bound(str);
    const ionf_status status = ionf_buf_reserve(body, bound + IONF_BIN_HEAD_MAX);
    if (status != IONF_OK) {
        return ionfast_encode_status(enc, status);
    }
    const size_t room = bound < 14 ? 0 : ionf_varuint_size(bound);
    uint8_t *const head = body->data + body->len;
    const uint8_t *const end = encode_steps(enc, head + 1 + room, str);
    if (IONF_UNLIKELY(end == NULL)) {
        return -1;
    }
    const size_t len = (size_t)(end - (head + 1 + room));
    const size_t needed = len < 14 ? 0 : ionf_varuint_size(len);
    if (needed != room) {
        memmove(head + 1 + needed, head + 1 + room, len);
    }
    head[0] = ionf_bin_type_byte(IONF_KIND_STRING, len < 14 ? (unsigned)len : 14);
    if (needed != 0) {
        (void)ionf_varuint_put_sized(head + 1, len, needed);
    }
    body->len += 1 + needed + len;
    return 0;
}

/* The UTF-8 of a long str, in the scratch. */
static int
long_utf8(ionfast_encoder *enc, PyObject *str)
{
    ionf_buf *const out = &enc->scratch;
    ionf_buf_reset(out);
    const ionf_status status = ionf_buf_reserve(out, utf8_bound(str));
    if (status != IONF_OK) {
        return ionfast_encode_status(enc, status);
    }
    const uint8_t *const end = encode_steps(enc, out->data, str);
    if (end == NULL) {
        return -1;
    }
    out->len = (size_t)(end - out->data);
    return 0;
}

static int
write_text(ionfast_encoder *enc, ionf_slice text)
{
    return ionfast_encode_status(enc, enc->is_binary
                                          ? ionf_bin_write_string(&enc->bin, text.data, text.len)
                                          : ionf_txt_write_string(&enc->txt, text.data, text.len));
}

/* Room for the text of a str only where it is written. */
static void
give_scratch_back(ionfast_encoder *enc)
{
    if (IONF_UNLIKELY(enc->scratch.cap >= COUNT_MIN * 4)) {
        ionf_buf_destroy(&enc->scratch);
    }
}

/* A string that takes long, which stays while handlers of signals may run. */
static int
encode_long(ionfast_encoder *enc, PyObject *str)
{
    Py_INCREF(str);
    const ionf_slice known = ionfast_utf8_cached(str);
    int result;
    if (known.data != NULL) {
        result = write_text(enc, known);
    } else if (enc->is_binary) {
        result = encode_wide_binary(enc, str);
    } else {
        result = long_utf8(enc, str);
        if (result == 0) {
            result = write_text(enc, (ionf_slice){enc->scratch.data, enc->scratch.len});
        }
        give_scratch_back(enc);
    }
    Py_DECREF(str);
    return result;
}

int
ionfast_encode_wide(ionfast_encoder *enc, PyObject *str)
{
    if (IONF_UNLIKELY(PyUnicode_GET_LENGTH(str) > IONFAST_LONG_STR)) {
        return encode_long(enc, str);
    }
    ionf_slice text = ionfast_utf8_cached(str);
    if (text.data == NULL && enc->is_binary) {
        return encode_wide_binary(enc, str);
    }
    if (text.data == NULL && ionfast_utf8_of(enc, str, &text) < 0) {
        return -1;
    }
    const int result = write_text(enc, text);
    give_scratch_back(enc);
    return result;
}

/* ---- names ---- */

/* Longer ones are not worth their memory once the call is over. */
static bool
can_keep(PyObject *name)
{
    return PyUnicode_IS_COMPACT_ASCII(name) && PyUnicode_GET_LENGTH(name) < IONFAST_NAME_TEXT;
}

ionfast_name_slot *
ionfast_name_remember(ionfast_encoder *enc, PyObject *name, uint64_t sid)
{
    ionfast_name_slot *const slot = ionfast_name_slot_of(enc, name);
    PyObject *const old = slot->name;
    if (old != name) {
        slot->name = Py_NewRef(name);
        slot->is_kept = can_keep(name);
        slot->is_interned = slot->is_kept && PyUnicode_CHECK_INTERNED(name) != 0;
        slot->is_identifier = false;
        slot->text_len = 0;
        if (!slot->is_kept && !slot->is_listed) {
            slot->is_listed = true;
            enc->used_names[enc->used_name_count++] = (uint16_t)(slot - enc->names);
        }
        Py_XDECREF(old); /* an exact str: runs no foreign code */
    }
    slot->sid = sid;
    slot->generation = enc->generation;
    return slot;
}

void
ionfast_names_clear(ionfast_encoder *enc)
{
    for (size_t i = 0; i < enc->used_name_count; i++) {
        ionfast_name_slot *const slot = &enc->names[enc->used_names[i]];
        slot->is_listed = false;
        if (!slot->is_kept) { /* another name may have the place by now */
            Py_CLEAR(slot->name);
        }
    }
    enc->used_name_count = 0;
    enc->put_off_count = enc->put_off_size = 0;
    enc->generation++;
}

ionf_status
ionfast_names_settle(ionfast_encoder *enc)
{
    ionf_status status = IONF_OK;
    for (size_t i = 0; status == IONF_OK && i < enc->put_off_count; i++) {
        PyObject *const name = enc->names[enc->put_off[i]].name;
        uint64_t sid;
        status = ionf_symmap_intern(&enc->bin.symbols, PyUnicode_1BYTE_DATA(name),
                                    (size_t)PyUnicode_GET_LENGTH(name), &sid);
        assert(status != IONF_OK || sid == IONF_SYSTEM_MAX_ID + 1 + i);
    }
    enc->put_off_count = enc->put_off_size = 0;
    return status;
}

/* ---- symbols with unknown text ---- */

static ionf_slice
absent_name(const ionfast_encoder *enc, const ionfast_absent *absent)
{
    const ionf_slice name = {enc->absent_names.data + absent->name_start, absent->name_len};
    return name;
}

static bool
slice_equals(ionf_slice a, ionf_slice b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

/* The symbol in one of the imports that the caller gave: SID, or 0 when none reaches so far; and its
 * text, where it has one. */
static uint64_t
given_sid(const ionfast_encoder *enc, ionf_slice name, uint64_t position, ionf_slice *text)
{
    const ionf_symmap *const map = &enc->bin.symbols;
    for (size_t i = 0; i < map->import_count; i++) {
        const ionf_symmap_import *const import = &map->imports[i];
        const ionf_shared *const shared = import->shared;
        if (position <= import->length && slice_equals(shared->name, name)) {
            if (position <= shared->max_id) {
                *text = shared->symbols[position - 1];
            }
            return import->first_sid + position - 1;
        }
    }
    return 0;
}

static ionf_status
add_absent(ionfast_encoder *enc, ionf_slice name, uint64_t max_id, uint64_t first_sid)
{
    void *rows = enc->absents;
    ionf_status status = ionf_alloc_grow(&enc->state->alloc, &rows, &enc->absent_cap,
                                         enc->absent_count + 1, sizeof *enc->absents);
    enc->absents = rows;
    const size_t start = enc->absent_names.len;
    if (status == IONF_OK) {
        status = ionf_buf_append(&enc->absent_names, name.data, name.len);
    }
    if (status == IONF_OK) {
        enc->absents[enc->absent_count++] = (ionfast_absent){start, name.len, max_id, first_sid};
    }
    return status;
}

/* Text: the row that stands for the local slot. No import has so short a name. */
static bool
is_slot_row(const ionfast_absent *absent)
{
    return absent->name_len == 0;
}

static bool
has_slot_row(const ionfast_encoder *enc)
{
    for (size_t i = 0; i < enc->absent_count; i++) {
        if (is_slot_row(&enc->absents[i])) {
            return true;
        }
    }
    return false;
}

/* Index of the last import, or SIZE_MAX. */
static size_t
last_import(const ionfast_encoder *enc)
{
    size_t i = enc->absent_count;
    while (i != 0 && is_slot_row(&enc->absents[i - 1])) {
        i--;
    }
    return i - 1;
}

/* Text: SIDs that have been written must not move, so only the last import can grow; a table that is
 * met again behind others is imported once more, with room to spare. */
static ionf_status
absent_sid_text(ionfast_encoder *enc, ionf_slice name, uint64_t position, uint64_t *sid)
{
    const size_t last = last_import(enc);
    uint64_t max_id = position;
    uint64_t next = IONF_SYSTEM_MAX_ID + 1;
    for (size_t i = 0; i < enc->absent_count; i++) {
        ionfast_absent *const absent = &enc->absents[i];
        if (is_slot_row(absent)) {
            continue;
        }
        const bool is_same = slice_equals(absent_name(enc, absent), name);
        if (is_same && i == last && absent->max_id < position) {
            absent->max_id = position;
        }
        if (is_same && position <= absent->max_id) {
            *sid = absent->first_sid + position - 1;
            return IONF_OK;
        }
        if (is_same && absent->max_id * 2 > max_id) {
            max_id = absent->max_id * 2;
        }
        next = absent->first_sid + absent->max_id;
    }
    *sid = next + position - 1;
    return add_absent(enc, name, max_id, next);
}

static ionf_status
add_unknown(ionfast_encoder *enc, ionfast_unknown unknown)
{
    void *rows = enc->unknowns;
    const ionf_status status = ionf_alloc_grow(&enc->state->alloc, &rows, &enc->unknown_cap,
                                               enc->unknown_count + 1, sizeof *enc->unknowns);
    enc->unknowns = rows;
    if (status == IONF_OK) {
        enc->unknowns[enc->unknown_count++] = unknown;
    }
    return status;
}

/* Binary: a provisional local symbol, whose text no str can have: it is not UTF-8. */
static ionf_status
absent_sid_binary(ionfast_encoder *enc, ionf_slice name, uint64_t position, uint64_t *sid)
{
    uint8_t tail[9] = {0xFF};
    ionf_store64_be(tail + 1, position);
    ionf_buf key;
    ionf_buf_init(&key, enc->state->alloc);
    ionf_symmap *const map = &enc->bin.symbols;
    const size_t local_count = map->local_count;
    ionf_status status = ionf_buf_append(&key, tail, 1);
    if (status == IONF_OK) {
        status = ionf_buf_append(&key, name.data, name.len);
    }
    if (status == IONF_OK) {
        status = ionf_buf_append(&key, tail, sizeof tail);
    }
    if (status == IONF_OK) {
        status = ionf_symmap_intern(map, key.data, key.len, sid);
    }
    ionf_buf_destroy(&key);
    if (status != IONF_OK || map->local_count == local_count) {
        return status;
    }
    size_t row = 0;
    while (row < enc->absent_count && !slice_equals(absent_name(enc, &enc->absents[row]), name)) {
        row++;
    }
    if (row == enc->absent_count) {
        status = add_absent(enc, name, position, 0);
        if (status != IONF_OK) {
            return status;
        }
    }
    if (enc->absents[row].max_id < position) {
        enc->absents[row].max_id = position;
    }
    return add_unknown(enc, (ionfast_unknown){row, position, local_count});
}

/* What stands for the local slot until its SID is known: in binary the text of a provisional local
 * symbol, in text the quoted symbol in the place of the reference. Neither can come from a str. */
static const uint8_t slot_text[] = {0xFF};
static const uint8_t slot_mark[] = {'\'', 0xFF, '\''};

/* A symbol that a local symbol table declares without text. They are all equivalent, so one null slot
 * in a local table of our own stands for all of them. */
static ionf_status
local_slot(ionfast_encoder *enc, uint64_t *sid, ionf_symref *ref)
{
    *ref = (ionf_symref){slot_text, sizeof slot_text, 0, false};
    if (!enc->is_binary) {
        return has_slot_row(enc) ? IONF_OK : add_absent(enc, (ionf_slice){slot_text, 0}, 0, 0);
    }
    const size_t local_count = enc->bin.symbols.local_count;
    const ionf_status status =
        ionf_symmap_intern(&enc->bin.symbols, slot_text, sizeof slot_text, sid);
    if (status != IONF_OK || enc->bin.symbols.local_count == local_count) {
        return status;
    }
    return add_unknown(enc, (ionfast_unknown){IONFAST_LOCAL_SLOT, 0, local_count});
}

/* The most SIDs that one absent import may take, so that no sum of them wraps. */
#define POSITION_MAX (UINT64_MAX >> 16)

/* The text of a symbol in the catalog's greatest version of a table: no version gives a place another
 * text. data == NULL when it is not there. Borrowed from the table, which is the catalog's. */
static ionf_slice
catalog_text(const ionfast_encoder *enc, ionf_slice name, uint64_t position)
{
    static const uint32_t any_version = 0;
    ionf_slice text = {NULL, 0};
    const ionf_catalog *const catalog = enc->catalog_view;
    const ionf_shared *const shared =
        catalog == NULL ? NULL : catalog->find(catalog->ctx, name, any_version);
    if (shared != NULL) {
        if (position <= shared->max_id) {
            text = shared->symbols[position - 1];
        }
        shared->release(shared);
    }
    return text;
}

/* A symbol of a table that is not among the imports, or, for text, that has none there. */
static ionf_status
symbol_of_absent(ionfast_encoder *enc, ionf_slice name, uint64_t position, uint64_t *sid,
                 ionf_slice *text)
{
    *text = catalog_text(enc, name, position);
    if (text->data == NULL) {
        return enc->is_binary ? absent_sid_binary(enc, name, position, sid)
                              : absent_sid_text(enc, name, position, sid);
    }
    return enc->is_binary ? ionf_symmap_intern(&enc->bin.symbols, text->data, text->len, sid)
                          : IONF_OK;
}

/* A symbol that is only known by its place. */
static int
symbol_of_place(ionfast_encoder *enc, ionf_slice name, uint64_t position, uint64_t *sid,
                ionf_symref *ref)
{
    ionf_status status = IONF_OK;
    ionf_slice text = {NULL, 0};
    if (name.len == 4 && memcmp(name.data, "$ion", 4) == 0) {
        *sid = position;
        status = position <= IONF_SYSTEM_MAX_ID ? IONF_OK : IONF_ERR_SID;
    } else if (name.len == 0 || position == 0 || position > POSITION_MAX) {
        status = IONF_ERR_SID;
    } else {
        *sid = given_sid(enc, name, position, &text);
        if (*sid == 0 || (!enc->is_binary && text.data == NULL)) {
            status = symbol_of_absent(enc, name, position, sid, &text);
        }
    }
    *ref = (ionf_symref){text.data, text.len, *sid, false};
    return ionfast_encode_status(enc, status);
}

/* A token with neither text nor location: $0, or a slot of a local table. */
static int
symbol_of_sid(ionfast_encoder *enc, PyObject *token, uint64_t *sid, ionf_symref *ref)
{
    PyObject *number = PyObject_GetAttr(token, enc->state->str_sid);
    if (number == NULL) {
        return -1;
    }
    int overflow = 0;
    const bool is_positive = PyLong_Check(number) &&
                             (PyLong_AsLongLongAndOverflow(number, &overflow) > 0 || overflow > 0);
    Py_DECREF(number);
    return is_positive ? ionfast_encode_status(enc, local_slot(enc, sid, ref)) : 0;
}

/* A token by its location, or by its SID where it has none. */
static int
symbol_of_location(ionfast_encoder *enc, PyObject *token, uint64_t *sid, ionf_symref *ref)
{
    const ionfast_state *const state = enc->state;
    *sid = 0;
    *ref = (ionf_symref){NULL, 0, 0, false};
    PyObject *name = NULL, *position = NULL;
    int result = -1;
    PyObject *location = PyObject_GetAttr(token, state->str_location);
    if (location == NULL || location == Py_None) {
        result = location == NULL ? -1 : symbol_of_sid(enc, token, sid, ref);
        goto done;
    }
    name = PyObject_GetAttr(location, state->str_name);
    position = name == NULL ? NULL : PyObject_GetAttr(location, state->str_position);
    if (position == NULL) {
        goto done;
    }
    if (!PyUnicode_Check(name) || !PyLong_Check(position)) {
        PyErr_SetString(PyExc_TypeError, "an import location is a str and an int");
        goto done;
    }
    const unsigned long long place = PyLong_AsUnsignedLongLong(position);
    if (place == (unsigned long long)-1 && PyErr_Occurred()) {
        goto done;
    }
    ionf_slice text;
    if (ionfast_utf8_of(enc, name, &text) == 0) {
        result = symbol_of_place(enc, text, place, sid, ref);
    }
done:
    Py_XDECREF(location);
    Py_XDECREF(name);
    Py_XDECREF(position);
    return result;
}

/* ---- any name ---- */

static int
symbol_of_text(ionfast_encoder *enc, ionf_slice text, uint64_t *sid, ionf_symref *ref)
{
    *ref = (ionf_symref){text.data, text.len, 0, false};
    return enc->is_binary
               ? ionfast_encode_status(
                     enc, ionf_symmap_intern(&enc->bin.symbols, text.data, text.len, sid))
               : 0;
}

/* Of a str that nothing is sure to keep alive: copied. */
static IONF_NOINLINE int
symbol_of_copy(ionfast_encoder *enc, PyObject *str, uint64_t *sid, ionf_symref *ref)
{
    enc->scratch.len = 0;
    if (append_utf8(enc, str, &enc->scratch) < 0) {
        return -1;
    }
    const ionf_status status = ionf_buf_reserve(&enc->scratch, 1); /* data is not NULL */
    const ionf_slice copy = {enc->scratch.data, enc->scratch.len};
    return status == IONF_OK ? symbol_of_text(enc, copy, sid, ref)
                             : ionfast_encode_status(enc, status);
}

static int
symbol_of_token(ionfast_encoder *enc, PyObject *token, uint64_t *sid, ionf_symref *ref)
{
    PyObject *text = PyObject_GetAttr(token, enc->state->str_text);
    if (text == NULL) {
        return -1;
    }
    int result;
    if (text == Py_None) {
        result = symbol_of_location(enc, token, sid, ref);
    } else if (!PyUnicode_Check(text)) {
        PyErr_SetString(PyExc_TypeError, "a symbol token's text is a str or None");
        result = -1;
    } else {
        result = symbol_of_copy(enc, text, sid, ref);
    }
    Py_DECREF(text);
    return result;
}

static int
refuse_name(ionfast_encoder *enc, PyObject *name, const char *what)
{
    PyObject *path = ionfast_encode_path(enc, strcmp(what, "field names") != 0);
    if (path != NULL) {
        PyErr_Format(PyExc_TypeError, "%s must be str or SymbolToken, not '%s', at %U", what,
                     Py_TYPE(name)->tp_name, path);
        Py_DECREF(path);
    }
    return -1;
}

/* An enum member is its value here too, where that is text. */
static IONF_NOINLINE int
symbol_of_member(ionfast_encoder *enc, PyObject *member, const char *what, uint64_t *sid,
                 ionf_symref *ref)
{
    PyObject *value = PyObject_GetAttr(member, enc->state->str_value);
    if (value == NULL) {
        return -1;
    }
    const int result = PyUnicode_Check(value) ? symbol_of_copy(enc, value, sid, ref)
                                              : refuse_name(enc, member, what);
    Py_DECREF(value);
    return result;
}

int
ionfast_symbol_of(ionfast_encoder *enc, PyObject *name, const char *what, uint64_t *sid,
                  ionf_symref *ref)
{
    *sid = 0;
    if (IONF_UNLIKELY(enc->put_off_count != 0)) {
        const ionf_status status = ionfast_names_settle(enc);
        if (status != IONF_OK) {
            return ionfast_encode_status(enc, status);
        }
    }
    if (PyUnicode_Check(name)) {
        ionf_slice text;
        if (ionfast_utf8_of(enc, name, &text) < 0 || symbol_of_text(enc, text, sid, ref) < 0) {
            return -1;
        }
        if (enc->is_binary && PyUnicode_CheckExact(name)) {
            (void)ionfast_name_remember(enc, name, *sid);
        }
        return 0;
    }
    if (PyObject_TypeCheck(name, (PyTypeObject *)enc->state->SymbolToken) ||
        PyObject_TypeCheck(name, (PyTypeObject *)enc->state->IonPySymbol)) {
        return symbol_of_token(enc, name, sid, ref);
    }
    if (PyObject_TypeCheck(name, (PyTypeObject *)enc->state->Enum)) {
        return symbol_of_member(enc, name, what, sid, ref);
    }
    return refuse_name(enc, name, what);
}

int
ionfast_encode_use_catalog(ionfast_encoder *enc, PyObject *catalog)
{
    if (ionfast_catalog_of(enc->state, catalog, &enc->catalog_view) < 0) {
        return -1;
    }
    Py_XSETREF(enc->catalog, Py_NewRef(catalog));
    return 0;
}

/* ---- the symbol table that declares absent imports ---- */

/* Both writers' calls, for the few that a symbol table needs. */
static ionf_status
table_imports_text(const ionfast_encoder *enc, ionf_txt_writer *w)
{
    static const ionf_symref name = {(const uint8_t *)"name", 4, 0, true};
    static const ionf_symref version = {(const uint8_t *)"version", 7, 0, true};
    static const ionf_symref max_id = {(const uint8_t *)"max_id", 6, 0, true};
    ionf_status status = ionf_txt_write_begin(w, IONF_KIND_LIST);
    for (size_t i = 0; status == IONF_OK && i < enc->absent_count; i++) {
        const ionf_slice text = absent_name(enc, &enc->absents[i]);
        if (is_slot_row(&enc->absents[i])) {
            continue;
        }
        if ((status = ionf_txt_write_begin(w, IONF_KIND_STRUCT)) == IONF_OK &&
            (status = ionf_txt_write_field(w, &name)) == IONF_OK &&
            (status = ionf_txt_write_string(w, text.data, text.len)) == IONF_OK &&
            (status = ionf_txt_write_field(w, &version)) == IONF_OK &&
            (status = ionf_txt_write_i64(w, 1)) == IONF_OK &&
            (status = ionf_txt_write_field(w, &max_id)) == IONF_OK &&
            (status = ionf_txt_write_i64(w, (int64_t)enc->absents[i].max_id)) == IONF_OK) {
            status = ionf_txt_write_end(w);
        }
    }
    return status == IONF_OK ? ionf_txt_write_end(w) : status;
}

static ionf_status
table_slot_text(ionf_txt_writer *w)
{
    ionf_status status = ionf_txt_write_begin(w, IONF_KIND_LIST);
    if (status == IONF_OK && (status = ionf_txt_write_null(w, IONF_KIND_NULL)) == IONF_OK) {
        status = ionf_txt_write_end(w);
    }
    return status;
}

/* Copy text to `dst` with `reference` for each slot_mark, and count these; NULL: only count. */
static size_t
replace_marks(const uint8_t *src, size_t len, const uint8_t *reference, size_t reference_len,
              uint8_t *dst)
{
    size_t count = 0;
    const uint8_t *const end = src + len;
    while (src != end) {
        const uint8_t *mark = memchr(src, slot_mark[1], (size_t)(end - src));
        mark = mark == NULL ? end : mark - 1;
        const size_t run = (size_t)(mark - src);
        if (dst != NULL) {
            memcpy(dst, src, run);
            dst += run;
        }
        src = mark;
        if (mark != end) {
            if (dst != NULL) {
                memcpy(dst, reference, reference_len);
                dst += reference_len;
            }
            src += sizeof slot_mark;
            count++;
        }
    }
    return count;
}

/* Write the local slot's SID, which stands behind all imports, in the place of its marks. */
static ionf_status
settle_slot(ionfast_encoder *enc)
{
    ionf_buf *const body = enc->body;
    const size_t last = last_import(enc);
    const uint64_t sid = last == SIZE_MAX
                             ? IONF_SYSTEM_MAX_ID + 1
                             : enc->absents[last].first_sid + enc->absents[last].max_id;
    uint8_t reference[1 + IONF_U64_TEXT_MAX] = {'$'};
    const size_t reference_len = 1 + ionf_num_print_u64(reference + 1, sid);
    const size_t count = replace_marks(body->data, body->len, NULL, 0, NULL);
    if (count == 0) {
        return IONF_OK;
    }
    const size_t size = body->len + count * (reference_len - sizeof slot_mark);
    uint8_t *const text = ionf_alloc_new(&enc->state->alloc, size);
    if (text == NULL) {
        return IONF_ERR_NOMEM;
    }
    (void)replace_marks(body->data, body->len, reference, reference_len, text);
    body->len = 0;
    const ionf_status status = ionf_buf_append(body, text, size);
    ionf_alloc_free(&enc->state->alloc, text, size);
    return status;
}

ionf_status
ionfast_absent_text(ionfast_encoder *enc, ionf_buf *out)
{
    static const ionf_symref imports = {(const uint8_t *)"imports", 7, 0, true};
    static const ionf_symref symbols = {(const uint8_t *)"symbols", 7, 0, true};
    static const char start[] = "$ion_symbol_table::";
    const bool has_slot = has_slot_row(enc);
    ionf_txt_writer w;
    ionf_txt_writer_init(&w, enc->state->alloc);
    w.out = out;
    w.max_depth = 3;
    ionf_status status = has_slot ? settle_slot(enc) : IONF_OK;
    if (status == IONF_OK && (status = ionf_buf_append(out, start, sizeof start - 1)) == IONF_OK) {
        status = ionf_txt_write_begin(&w, IONF_KIND_STRUCT);
    }
    if (status == IONF_OK && last_import(enc) != SIZE_MAX &&
        (status = ionf_txt_write_field(&w, &imports)) == IONF_OK) {
        status = table_imports_text(enc, &w);
    }
    if (status == IONF_OK && has_slot &&
        (status = ionf_txt_write_field(&w, &symbols)) == IONF_OK) {
        status = table_slot_text(&w);
    }
    if (status == IONF_OK) {
        status = ionf_txt_write_end(&w);
    }
    ionf_txt_writer_destroy(&w);
    return status;
}

static ionf_status
import_binary(ionf_bin_writer *w, ionf_slice name, uint32_t version, uint64_t max_id)
{
    ionf_status status = ionf_bin_write_begin(w, IONF_KIND_STRUCT);
    if (status == IONF_OK && (status = ionf_bin_write_field(w, IONF_SID_NAME)) == IONF_OK &&
        (status = ionf_bin_write_string(w, name.data, name.len)) == IONF_OK &&
        (status = ionf_bin_write_field(w, IONF_SID_VERSION)) == IONF_OK &&
        (status = ionf_bin_write_i64(w, version)) == IONF_OK &&
        (status = ionf_bin_write_field(w, IONF_SID_MAX_ID)) == IONF_OK &&
        (status = ionf_bin_write_i64(w, (int64_t)max_id)) == IONF_OK) {
        status = ionf_bin_write_end(w);
    }
    return status;
}

static ionf_status
imports_binary(const ionfast_encoder *enc, ionf_bin_writer *w)
{
    const ionf_symmap *const map = &enc->bin.symbols;
    if (map->import_count == 0 && enc->absent_count == 0) {
        return IONF_OK;
    }
    ionf_status status = ionf_bin_write_field(w, IONF_SID_IMPORTS);
    if (status == IONF_OK) {
        status = ionf_bin_write_begin(w, IONF_KIND_LIST);
    }
    for (size_t i = 0; status == IONF_OK && i < map->import_count; i++) {
        const ionf_symmap_import *const import = &map->imports[i];
        status = import_binary(w, import->shared->name, import->shared->version, import->length);
    }
    for (size_t i = 0; status == IONF_OK && i < enc->absent_count; i++) {
        const ionfast_absent *const absent = &enc->absents[i];
        status = import_binary(w, absent_name(enc, absent), 1, absent->max_id);
    }
    return status == IONF_OK ? ionf_bin_write_end(w) : status;
}

/* What the final symbol table makes of the provisional one: new SID of each local symbol. */
typedef struct remap {
    const ionfast_encoder *enc;
    uint64_t first_local; /* as in the body */
    uint64_t *sids;       /* owned; by index of local */
    size_t count;
} remap;

static uint64_t
remap_sid(const remap *map, uint64_t sid)
{
    return sid < map->first_local ? sid : map->sids[sid - map->first_local];
}

static void
remap_fill(remap *map)
{
    const ionfast_encoder *const enc = map->enc;
    uint64_t next = map->first_local;
    memset(map->sids, 0, map->count * sizeof *map->sids);
    for (size_t i = 0; i < enc->absent_count; i++) {
        enc->absents[i].first_sid = next;
        next += enc->absents[i].max_id;
    }
    for (size_t i = 0; i < enc->unknown_count; i++) {
        const ionfast_unknown *const unknown = &enc->unknowns[i];
        if (unknown->absent == IONFAST_LOCAL_SLOT) {
            continue; /* numbered as the symbols with text */
        }
        map->sids[unknown->local] =
            enc->absents[unknown->absent].first_sid + unknown->position - 1;
    }
    for (size_t i = 0; i < map->count; i++) {
        if (map->sids[i] == 0) {
            map->sids[i] = next++;
        }
    }
}

static bool
is_absent_sid(const remap *map, uint64_t sid)
{
    const ionfast_encoder *const enc = map->enc;
    if (enc->absent_count == 0) {
        return false;
    }
    const ionfast_absent *const last = &enc->absents[enc->absent_count - 1];
    return sid < last->first_sid + last->max_id;
}

/* A string, or the null of the local slot. */
static ionf_status
symbol_binary(ionf_bin_writer *w, const uint8_t *text, size_t len)
{
    return len == sizeof slot_text && text[0] == slot_text[0]
               ? ionf_bin_write_null(w, IONF_KIND_NULL)
               : ionf_bin_write_string(w, text, len);
}

static ionf_status
symbols_binary(const remap *map, ionf_bin_writer *w)
{
    const ionf_symmap *const symbols = &map->enc->bin.symbols;
    ionf_status status = ionf_bin_write_field(w, IONF_SID_SYMBOLS);
    if (status == IONF_OK) {
        status = ionf_bin_write_begin(w, IONF_KIND_LIST);
    }
    for (size_t i = 0; status == IONF_OK && i < map->count; i++) {
        if (!is_absent_sid(map, map->sids[i])) {
            const ionf_slice text = ionf_symmap_local(symbols, i);
            status = symbol_binary(w, text.data, text.len);
        }
    }
    return status == IONF_OK ? ionf_bin_write_end(w) : status;
}

/* The symbol table, as a value of its own. */
static ionf_status
table_binary(const remap *map, ionf_bin_writer *w)
{
    static const uint64_t annotation = IONF_SID_ION_SYMBOL_TABLE;
    ionf_status status = ionf_bin_write_annotations(w, &annotation, 1);
    w->is_reserved = false; /* this one is meant */
    if (status == IONF_OK && (status = ionf_bin_write_begin(w, IONF_KIND_STRUCT)) == IONF_OK &&
        (status = imports_binary(map->enc, w)) == IONF_OK &&
        (status = symbols_binary(map, w)) == IONF_OK &&
        (status = ionf_bin_write_end(w)) == IONF_OK) {
        status = ionf_bin_write_annotations_end(w);
    }
    return status;
}

/* ---- copying a finished body with other SIDs; all lengths in it are our own and right ---- */

/* An open container or annotation wrapper of the source. */
typedef struct copy_frame {
    const uint8_t *end;
    bool is_struct, is_wrapper;
} copy_frame;

typedef struct copier {
    const remap *map;
    ionf_bin_writer *w;
    copy_frame *frames; /* owned */
    size_t frame_count, frame_cap;
} copier;

static uint64_t
take_varuint(const uint8_t **p, const uint8_t *end)
{
    uint64_t value = 0;
    const ionf_status status = ionf_varuint_read(p, end, &value);
    (void)status;
    return value;
}

static ionf_status
copy_push(copier *copy, copy_frame frame)
{
    void *frames = copy->frames;
    const ionf_status status = ionf_alloc_grow(&copy->w->alloc, &frames, &copy->frame_cap,
                                               copy->frame_count + 1, sizeof frame);
    copy->frames = frames;
    if (status == IONF_OK) {
        copy->frames[copy->frame_count++] = frame;
    }
    return status;
}

static ionf_status
copy_wrapper(copier *copy, const uint8_t **p, const uint8_t *end)
{
    const uint64_t len = take_varuint(p, end);
    const uint8_t *const sids_end = *p + len;
    ionf_buf sids;
    ionf_buf_init(&sids, copy->w->alloc);
    ionf_status status = IONF_OK;
    size_t count = 0;
    while (status == IONF_OK && *p < sids_end) {
        const uint64_t sid = remap_sid(copy->map, take_varuint(p, sids_end));
        status = ionf_buf_append(&sids, &sid, sizeof sid);
        count++;
    }
    if (status == IONF_OK) {
        status = ionf_bin_write_annotations(copy->w, (const uint64_t *)(void *)sids.data, count);
    }
    ionf_buf_destroy(&sids);
    return status == IONF_OK ? copy_push(copy, (copy_frame){end, false, true}) : status;
}

/* One value, or the opening of one. */
static ionf_status
copy_value(copier *copy, const uint8_t **p, const uint8_t *end)
{
    const uint8_t *const start = *p;
    const unsigned type = *start >> 4, low = *start & 15u;
    *p = start + 1;
    if (type <= 1 || low == 15) {
        return ionf_buf_push(copy->w->body, *start);
    }
    const uint64_t len = low == 14 ? take_varuint(p, end) : low;
    const uint8_t *const content = *p;
    const uint8_t *const content_end = content + len;
    if (type == 14) {
        return copy_wrapper(copy, p, content_end);
    }
    if (type >= 11) {
        const ionf_kind kind = (ionf_kind)(type - 1);
        const ionf_status status = ionf_bin_write_begin(copy->w, kind);
        return status == IONF_OK ? copy_push(copy, (copy_frame){content_end, type == 13, false})
                                 : status;
    }
    *p = content_end;
    if (type == 7) {
        return ionf_bin_write_symbol(copy->w, remap_sid(copy->map, ionf_uint_read(content, len)));
    }
    return ionf_buf_append(copy->w->body, start, (size_t)(content_end - start));
}

static ionf_status
copy_body(copier *copy, const uint8_t *p, const uint8_t *end)
{
    ionf_status status = IONF_OK;
    while (status == IONF_OK && (p < end || copy->frame_count != 0)) {
        const copy_frame frame = copy->frame_count == 0 ? (copy_frame){end, false, false}
                                                        : copy->frames[copy->frame_count - 1];
        if (p == frame.end) {
            copy->frame_count--;
            status = frame.is_wrapper ? ionf_bin_write_annotations_end(copy->w)
                                      : ionf_bin_write_end(copy->w);
            continue;
        }
        if (frame.is_struct) {
            status =
                ionf_bin_write_field(copy->w, remap_sid(copy->map, take_varuint(&p, frame.end)));
        }
        if (status == IONF_OK) {
            status = copy_value(copy, &p, frame.end);
        }
    }
    ionf_alloc_free(&copy->w->alloc, copy->frames, copy->frame_cap * sizeof *copy->frames);
    return status;
}

/* Type bytes of containers are 11 .. 13, one more than their kinds. */
_Static_assert(IONF_KIND_LIST == 10 && IONF_KIND_STRUCT == 12, "kinds follow the type codes");

/* Symbol table and body, with final SIDs, written by `w`. */
static ionf_status
rewrite(ionfast_encoder *enc, const remap *map, ionf_bin_writer *w)
{
    ionf_status status = table_binary(map, w);
    const size_t size = ionf_bin_writer_body_size(&enc->bin);
    uint8_t *const flat = size == 0 ? NULL : ionf_alloc_new(&enc->state->alloc, size);
    if (flat == NULL) {
        return IONF_ERR_NOMEM; /* a body with an unknown symbol is not empty */
    }
    if (status == IONF_OK) {
        copier copy = {map, w, NULL, 0, 0};
        (void)ionf_bin_writer_emit(&enc->bin, flat);
        status = copy_body(&copy, flat, flat + size);
    }
    ionf_alloc_free(&enc->state->alloc, flat, size);
    return status;
}

/* The version marker and what `w` has, as bytes. */
static PyObject *
bytes_of(const ionf_bin_writer *w)
{
    static const uint8_t marker[] = {0xE0, 0x01, 0x00, 0xEA};
    const size_t size = sizeof marker + ionf_bin_writer_body_size(w);
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)size);
    if (bytes != NULL) {
        uint8_t *const dst = (uint8_t *)PyBytes_AS_STRING(bytes);
        memcpy(dst, marker, sizeof marker);
        (void)ionf_bin_writer_emit(w, dst + sizeof marker);
    }
    return bytes;
}

PyObject *
ionfast_encoder_binary_absent(ionfast_encoder *enc)
{
    const ionf_alloc alloc = enc->state->alloc;
    const size_t count = enc->bin.symbols.local_count;
    remap map = {enc, enc->bin.symbols.first_local, NULL, count};
    map.sids = ionf_alloc_new(&alloc, count * sizeof *map.sids);
    if (map.sids == NULL) {
        return PyErr_NoMemory();
    }
    remap_fill(&map);
    ionf_buf body;
    ionf_bin_writer w;
    ionf_buf_init(&body, alloc);
    ionf_bin_writer_init(&w, alloc);
    w.body = &body;
    w.max_depth = enc->bin.max_depth < 4 ? 4 : enc->bin.max_depth;
    const ionf_status status = rewrite(enc, &map, &w);
    PyObject *bytes = status == IONF_OK ? bytes_of(&w) : ionfast_set_status(enc->state, status);
    ionf_bin_writer_destroy(&w);
    ionf_buf_destroy(&body);
    ionf_alloc_free(&alloc, map.sids, count * sizeof *map.sids);
    return bytes;
}
