/* Decimals between the core's (coefficient, exponent) and decimal.Decimal: the only user of
 * Decimal.
 *
 * Up to 19 digits go in and out by py_decimal_layout.h, where that is known: 350 -> 60 ns. All others as
 * text, since Decimal has no C API: in through its tp_new, which is exact whatever the context says, and
 * out of its tp_str, which depends on the context only in "E" or "e". Both are linear in the number of
 * digits. Ion specification: decimal.md.
 */
#include "py_conv.h"

#include "ionf_num.h"
#include "py_decimal_layout.h"

/* "-", "E-" and the digits of an int64_t. */
#define EXTRA_TEXT_MAX (3 + IONF_U64_TEXT_MAX)
/* Coefficients of more bytes become digits through the helper for ints: see py_int.c. */
#define MAX_CORE_BYTES 830
#define MIN_CORE_BYTES_AGAIN (1u << 19)
/* Any 19 digits fit 64 bits. */
#define MAX_U64_DIGITS 19
/* Decimals up to this many digits after the point are passed on as "12.34": Decimal reads that
 * 36 of 430 ns faster than "1234E-2". */
#define MAX_PLACES 20
/* Exponents and digit counts up to here are within every build's limits of Decimal. */
#define SAFE_EXPONENT 100000000

/* ---- to Decimal ---- */

static PyTypeObject *
decimal_type(ionfast_state *state)
{
    return (PyTypeObject *)state->Decimal;
}

/* Decimal.__new__(cls, text); steals `text`, which may be NULL. */
static PyObject *
new_from_text(ionfast_state *state, PyTypeObject *cls, PyObject *text)
{
    if (text == NULL) {
        return NULL;
    }
    /* A tuple from the free list costs 10 of the 130 ns; one that is kept would need a lock. */
    PyObject *args = PyTuple_New(1);
    if (args == NULL) {
        Py_DECREF(text);
        return NULL;
    }
    PyTuple_SET_ITEM(args, 0, text);
    PyObject *value = decimal_type(state)->tp_new(cls, args, NULL);
    Py_DECREF(args);
    return value;
}

/* Store "E", the sign and the digits; nothing for 0. Gives the length. */
static size_t
put_exponent(uint8_t *dst, int64_t exponent)
{
    if (exponent == 0) {
        return 0;
    }
    uint8_t *w = dst;
    *w++ = 'E';
    if (exponent < 0) {
        *w++ = '-';
    }
    w += ionf_num_print_u64(w, exponent < 0 ? 0 - (uint64_t)exponent : (uint64_t)exponent);
    return (size_t)(w - dst);
}

/* A str of sign, digits and exponent. */
static PyObject *
text_from_digits(const uint8_t *digits, size_t len, bool is_negative, int64_t exponent)
{
    uint8_t tail[EXTRA_TEXT_MAX];
    const size_t tail_len = put_exponent(tail, exponent);
    if (len > SIZE_MAX / 2 - EXTRA_TEXT_MAX) {
        return PyErr_NoMemory();
    }
    const size_t total = len + tail_len + (is_negative ? 1 : 0);
    PyObject *text = PyUnicode_New((Py_ssize_t)total, 127);
    if (text == NULL) {
        return NULL;
    }
    uint8_t *w = PyUnicode_1BYTE_DATA(text);
    if (is_negative) {
        *w++ = '-';
    }
    memcpy(w, digits, len);
    memcpy(w + len, tail, tail_len);
    return text;
}

/* Store the digits with a point before the last `places` (1 .. MAX_PLACES). Gives the length. */
static size_t
put_with_point(uint8_t *dst, const uint8_t *digits, size_t len, size_t places)
{
    uint8_t *w = dst;
    if (places >= len) { /* "0." and zeros, then all digits */
        const size_t zeros = places - len;
        *w++ = '0';
        *w++ = '.';
        memset(w, '0', zeros);
        memcpy(w + zeros, digits, len);
        return 2 + places;
    }
    const size_t whole = len - places;
    memcpy(w, digits, whole);
    w[whole] = '.';
    memcpy(w + whole + 1, digits + whole, places);
    return len + 1;
}

/* A coefficient of 64 bits: the common case. */
static PyObject *
small_text(const ionf_decimal *decimal)
{
    uint8_t digits[IONF_U64_TEXT_MAX];
    const size_t len = ionf_num_print_u64(digits, decimal->coefficient.u64);
    const bool is_negative = decimal->coefficient.is_negative;
    if (decimal->exponent >= 0 || decimal->exponent < -MAX_PLACES) {
        return text_from_digits(digits, len, is_negative, decimal->exponent);
    }
    uint8_t pointed[2 + IONF_U64_TEXT_MAX + MAX_PLACES];
    const size_t total = put_with_point(pointed, digits, len, (size_t)-decimal->exponent);
    return text_from_digits(pointed, total, is_negative, 0);
}

/* The digits of a coefficient beyond 64 bits: in `digits`, or where they are already. */
static ionf_status
digits_of(const ionf_integer *coefficient, ionf_buf *digits, ionf_slice *out)
{
    if (coefficient->form == IONF_INT_DIGITS) {
        out->data = coefficient->data;
        out->len = coefficient->len;
        return IONF_OK;
    }
    const ionf_status status = ionf_num_integer_to_digits(coefficient, digits);
    if (status == IONF_OK) {
        out->data = digits->data;
        out->len = digits->len;
    }
    return status;
}

static PyObject *
big_text(ionfast_state *state, const ionf_decimal *decimal)
{
    if (PyErr_CheckSignals() < 0) { /* before a step that is as long as the digits are many */
        return NULL;
    }
    ionf_buf buf;
    ionf_buf_init(&buf, state->alloc);
    ionf_slice digits;
    const ionf_status status = digits_of(&decimal->coefficient, &buf, &digits);
    PyObject *text = status == IONF_OK
                         ? text_from_digits(digits.data, digits.len,
                                            decimal->coefficient.is_negative, decimal->exponent)
                         : ionfast_set_status(state, status);
    ionf_buf_destroy(&buf);
    return text;
}

/* A coefficient so long that the core's base conversion would be felt: through a Python int. */
static PyObject *
huge_text(ionfast_state *state, const ionf_decimal *decimal)
{
    ionf_integer magnitude = decimal->coefficient;
    magnitude.is_negative = false;
    PyObject *value = ionfast_int_from(state, &magnitude);
    if (value == NULL) {
        return NULL;
    }
    PyObject *digits = PyObject_CallOneArg(state->int_to_digits, value);
    Py_DECREF(value);
    if (digits == NULL) {
        return NULL;
    }
    PyObject *text = NULL;
    if (PyBytes_Check(digits)) {
        text = text_from_digits((const uint8_t *)PyBytes_AS_STRING(digits),
                                (size_t)PyBytes_GET_SIZE(digits), decimal->coefficient.is_negative,
                                decimal->exponent);
    } else {
        PyErr_SetString(PyExc_TypeError, "int_to_digits() must give bytes");
    }
    Py_DECREF(digits);
    return text;
}

static PyObject *
text_of(ionfast_state *state, const ionf_decimal *decimal)
{
    const ionf_integer *coefficient = &decimal->coefficient;
    if (IONF_LIKELY(coefficient->form == IONF_INT_U64)) {
        return small_text(decimal);
    }
    if (coefficient->form == IONF_INT_BE && coefficient->len > MAX_CORE_BYTES &&
        coefficient->len < MIN_CORE_BYTES_AGAIN) {
        return huge_text(state, decimal);
    }
    return big_text(state, decimal);
}

/* Could Decimal's limits matter? In an ordinary decimal they cannot. */
static bool
is_extreme(const ionf_decimal *decimal)
{
    return decimal->exponent > SAFE_EXPONENT || decimal->exponent < -SAFE_EXPONENT ||
           (decimal->coefficient.form != IONF_INT_U64 && decimal->coefficient.len > SAFE_EXPONENT);
}

/* Decimal's text starts with a digit or "-" and a digit unless it is NaN or an infinity. */
static int
is_finite(ionfast_state *state, PyObject *value)
{
    PyObject *text = decimal_type(state)->tp_str(value);
    if (text == NULL) {
        return -1;
    }
    const Py_ssize_t last = PyUnicode_GET_LENGTH(text) - 1;
    const Py_UCS4 end = last < 0 ? 0 : PyUnicode_READ_CHAR(text, last);
    Py_DECREF(text);
    return end >= '0' && end <= '9';
}

/* What Decimal made of a decimal near its limits: `value` if it is the same number. Out of
 * range it raises InvalidOperation, or gives NaN where the context does not trap that. */
static PyObject *
check_extreme(ionfast_state *state, PyObject *value, const ionf_decimal *decimal)
{
    if (value != NULL) {
        const int finite = is_finite(state, value);
        if (finite > 0) {
            return value;
        }
        Py_DECREF(value);
        if (finite < 0) {
            return NULL;
        }
    } else if (!PyErr_ExceptionMatches(PyExc_ArithmeticError)) {
        return NULL;
    }
    PyErr_Clear();
    PyErr_Format(state->IonError,
                 "a decimal with the exponent %lld is beyond what Python's Decimal can hold",
                 (long long)decimal->exponent);
    return NULL;
}

PyObject *
ionfast_decimal_from(ionfast_state *state, const ionf_decimal *decimal, PyTypeObject *cls)
{
    const bool may_fail = is_extreme(decimal);
    const ionf_integer *coefficient = &decimal->coefficient;
    if (IONF_LIKELY(state->has_decimal_layout && coefficient->form == IONF_INT_U64 &&
                    coefficient->u64 < IONFAST_DECIMAL_WORD && !may_fail)) {
        return ionfast_decimal_make(cls, coefficient->u64, coefficient->is_negative,
                                    (Py_ssize_t)decimal->exponent);
    }
    PyObject *value = new_from_text(state, cls, text_of(state, decimal));
    if (IONF_UNLIKELY(may_fail)) {
        return check_extreme(state, value, decimal);
    }
    return value;
}

/* ---- from Decimal ---- */

/* Decimal's text taken apart: digits before and after the point, and the exponent. */
typedef struct decimal_text {
    ionf_slice whole;
    ionf_slice fraction;
    int64_t exponent; /* the one that is written, 0 if none */
    bool is_negative;
} decimal_text;

static ionf_slice
take_digits(const uint8_t **p, const uint8_t *end)
{
    const uint8_t *r = *p;
    while (r != end && *r >= '0' && *r <= '9') {
        r++;
    }
    const ionf_slice digits = {*p, (size_t)(r - *p)};
    *p = r;
    return digits;
}

/* "E+12", "e-7": false when that is not what follows. */
static bool
take_exponent(const uint8_t **p, const uint8_t *end, int64_t *out)
{
    const uint8_t *r = *p + 1;
    if (r == end || (*r != '+' && *r != '-')) {
        return false;
    }
    const bool is_negative = *r++ == '-';
    *p = r;
    const ionf_slice digits = take_digits(p, end);
    uint64_t magnitude;
    if (digits.len == 0 || !ionf_num_parse_u64(digits.data, digits.len, &magnitude) ||
        magnitude > INT64_MAX) {
        return false;
    }
    *out = is_negative ? -(int64_t)magnitude : (int64_t)magnitude;
    return true;
}

/* False for what is not a finite number. */
static bool
split_text(const uint8_t *text, size_t len, decimal_text *out)
{
    const uint8_t *p = text;
    const uint8_t *const end = text + len;
    const decimal_text empty = {{p, 0}, {p, 0}, 0, false};
    *out = empty;
    if (p != end && *p == '-') {
        out->is_negative = true;
        p++;
    }
    out->whole = take_digits(&p, end);
    if (p != end && *p == '.') {
        p++;
        out->fraction = take_digits(&p, end);
    }
    if (p != end && (*p == 'E' || *p == 'e') && !take_exponent(&p, end, &out->exponent)) {
        return false;
    }
    return p == end && out->whole.len + out->fraction.len != 0;
}

static uint64_t
add_digits(uint64_t value, ionf_slice digits)
{
    for (size_t i = 0; i < digits.len; i++) {
        value = value * 10 + (uint64_t)(digits.data[i] - '0');
    }
    return value;
}

/* The digits on both sides of the point as one integer. */
static ionf_status
join_digits(const decimal_text *text, ionf_buf *scratch, ionf_integer *out)
{
    if (IONF_LIKELY(text->whole.len + text->fraction.len <= MAX_U64_DIGITS)) {
        const ionf_integer small = {
            .u64 = add_digits(add_digits(0, text->whole), text->fraction),
            .form = IONF_INT_U64,
            .is_negative = text->is_negative,
        };
        *out = small;
        return IONF_OK;
    }
    ionf_buf_reset(scratch);
    ionf_status status = ionf_buf_append(scratch, text->whole.data, text->whole.len);
    if (status == IONF_OK) {
        status = ionf_buf_append(scratch, text->fraction.data, text->fraction.len);
    }
    if (status == IONF_OK) {
        *out = ionf_num_integer_from_digits(scratch->data, scratch->len, text->is_negative);
        out->is_negative = text->is_negative;
    }
    return status;
}

static int
parts_of_text(ionfast_state *state, PyObject *text, ionf_decimal *out, ionf_buf *scratch)
{
    decimal_text parts;
    if (!PyUnicode_IS_ASCII(text) ||
        !split_text(PyUnicode_1BYTE_DATA(text), (size_t)PyUnicode_GET_LENGTH(text), &parts)) {
        PyErr_Format(state->IonError, "Ion has no such decimal: Decimal('%U')", text);
        return -1;
    }
    const ionf_status status = join_digits(&parts, scratch, &out->coefficient);
    if (status != IONF_OK) {
        ionfast_set_status(state, status);
        return -1;
    }
    /* Decimal's exponents stay within 2 * 10 ** 18, so this cannot overflow. */
    out->exponent = parts.exponent - (int64_t)parts.fraction.len;
    return 0;
}

int
ionfast_decimal_to(ionfast_state *state, PyObject *value, ionf_decimal *out, ionf_buf *scratch)
{
    const ionf_integer word = {.form = IONF_INT_U64};
    out->coefficient = word;
    if (IONF_LIKELY(state->has_decimal_layout &&
                    ionfast_decimal_parts(value, &out->coefficient.u64,
                                          &out->coefficient.is_negative, &out->exponent))) {
        return 0;
    }
    /* The slot of Decimal itself: a subclass may print itself otherwise. */
    PyObject *text = decimal_type(state)->tp_str(value);
    if (text == NULL) {
        return -1;
    }
    const int result = parts_of_text(state, text, out, scratch);
    Py_DECREF(text);
    return result;
}
