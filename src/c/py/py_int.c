/* Ints of any size, between the core's forms and Python's: the only user of the big-int API.
 *
 * Nothing here goes through Python's own int <-> str conversion: it is quadratic, and refuses more
 * digits than sys.set_int_max_str_digits() allows, which may be as few as 640.
 */
#include "py_conv.h"

#include "ionf_num.h"
#include "py_compat.h"

/* Beyond these sizes the helper written in Python is faster, because the multiplications of int
 * and of Decimal are. They meet at about 2,000 digits (80 us to int, 220 us from it, CPython
 * 3.11). For int they meet again, since the core's transform takes n log n steps for a product and
 * int n ** 1.6: two million digits took 2.0 s and take 0.9. */
#define MAX_CORE_DIGITS 2000
#define MIN_CORE_DIGITS_AGAIN 200000
#define MAX_CORE_BYTES 830
/* Decimal's multiplications cannot be interrupted: the last one takes 25 ms at this size. The core's can,
 * though it takes longer: 0.64 instead of 0.44 s for half a megabyte. */
#define MIN_CORE_BYTES_AGAIN (1u << 19)

/* The negative of `magnitude`, which is stolen and may be NULL. */
static PyObject *
negate(PyObject *magnitude)
{
    if (magnitude == NULL) {
        return NULL;
    }
    PyObject *value = PyNumber_Negative(magnitude);
    Py_DECREF(magnitude);
    return value;
}

static PyObject *
from_u64(uint64_t magnitude, bool is_negative)
{
    if (magnitude <= INT64_MAX) {
        return PyLong_FromLongLong(is_negative ? -(long long)magnitude : (long long)magnitude);
    }
    PyObject *value = PyLong_FromUnsignedLongLong(magnitude);
    return is_negative ? negate(value) : value;
}

static PyObject *
from_be(const uint8_t *bytes, size_t len, bool is_negative)
{
    PyObject *value = ionfast_long_from_be(bytes, len);
    return is_negative ? negate(value) : value;
}

static PyObject *
from_digits(ionfast_state *state, const ionf_integer *integer)
{
    if (PyErr_CheckSignals() < 0) { /* the rest takes longer than this, or far longer */
        return NULL;
    }
    if (integer->len > MAX_CORE_DIGITS && integer->len < MIN_CORE_DIGITS_AGAIN) {
        return PyObject_CallFunction(state->int_from_digits, "y#O", (const char *)integer->data,
                                     (Py_ssize_t)integer->len,
                                     integer->is_negative ? Py_True : Py_False);
    }
    ionf_buf bytes;
    ionf_buf_init(&bytes, state->alloc);
    const ionf_status status = ionf_num_integer_to_be(integer, &bytes);
    PyObject *value = status == IONF_OK ? from_be(bytes.data, bytes.len, integer->is_negative)
                                        : ionfast_set_status(state, status);
    ionf_buf_destroy(&bytes);
    return value;
}

PyObject *
ionfast_int_from(ionfast_state *state, const ionf_integer *integer)
{
    switch (integer->form) {
    case IONF_INT_U64:
        return from_u64(integer->u64, integer->is_negative);
    case IONF_INT_BE:
        return from_be(integer->data, integer->len, integer->is_negative);
    default:
        return from_digits(state, integer);
    }
}

/* Two's complement to magnitude, in place. */
static void
negate_bytes(uint8_t *bytes, size_t len)
{
    unsigned carry = 1;
    for (size_t i = len; i != 0; i--) {
        carry += (uint8_t)~bytes[i - 1];
        bytes[i - 1] = (uint8_t)carry;
        carry >>= 8;
    }
}

/* The magnitude of an int beyond 64 bits (signed) as bytes in `scratch`. */
static int
big_to_be(ionfast_state *state, PyObject *value, bool is_negative, ionf_integer *out,
          ionf_buf *scratch)
{
    const Py_ssize_t len = ionfast_long_size(value);
    if (len < 0) {
        return -1;
    }
    ionf_buf_reset(scratch);
    const ionf_status status = ionf_buf_reserve(scratch, (size_t)len);
    if (status != IONF_OK) {
        ionfast_set_status(state, status);
        return -1;
    }
    if (ionfast_long_to_be(value, scratch->data, len) < 0) {
        return -1;
    }
    scratch->len = (size_t)len;
    if (is_negative) {
        negate_bytes(scratch->data, scratch->len);
    }
    *out = ionf_num_integer_from_be(scratch->data, scratch->len, is_negative);
    return 0;
}

int
ionfast_int_to(ionfast_state *state, PyObject *value, ionf_integer *out, ionf_buf *scratch)
{
    int overflow;
    const long long small = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (IONF_UNLIKELY(overflow != 0)) {
        return big_to_be(state, value, overflow < 0, out, scratch);
    }
    if (IONF_UNLIKELY(small == -1 && PyErr_Occurred() != NULL)) {
        return -1;
    }
    const ionf_integer integer = {
        .u64 = small < 0 ? 0 - (uint64_t)small : (uint64_t)small,
        .form = IONF_INT_U64,
        .is_negative = small < 0,
    };
    *out = integer;
    return 0;
}

/* Digits of `bytes` by the helper written in Python: a new bytes object. It is given a plain
 * int, so that nothing that a subclass overrides can run. */
static PyObject *
huge_digits(ionfast_state *state, const ionf_integer *bytes)
{
    PyObject *plain = ionfast_long_from_be(bytes->data, bytes->len);
    if (plain == NULL) {
        return NULL;
    }
    PyObject *digits = PyObject_CallOneArg(state->int_to_digits, plain);
    Py_DECREF(plain);
    if (digits != NULL && !PyBytes_Check(digits)) {
        PyErr_SetString(PyExc_TypeError, "int_to_digits() must give bytes");
        Py_CLEAR(digits);
    }
    return digits;
}

static int
huge_to_digits(ionfast_state *state, const ionf_integer *bytes, ionf_buf *scratch)
{
    PyObject *digits = huge_digits(state, bytes);
    if (digits == NULL) {
        return -1;
    }
    ionf_buf_reset(scratch);
    const ionf_status status =
        ionf_buf_append(scratch, PyBytes_AS_STRING(digits), (size_t)PyBytes_GET_SIZE(digits));
    Py_DECREF(digits);
    if (status != IONF_OK) {
        ionfast_set_status(state, status);
        return -1;
    }
    return 0;
}

/* Digits of `bytes`, which may lie in `scratch`, put into `scratch`. */
static int
bytes_to_digits(ionfast_state *state, const ionf_integer *bytes, ionf_buf *scratch)
{
    ionf_buf digits;
    ionf_buf_init(&digits, state->alloc);
    ionf_status status = ionf_num_integer_to_digits(bytes, &digits);
    ionf_buf_reset(scratch);
    if (status == IONF_OK) {
        status = ionf_buf_append(scratch, digits.data, digits.len);
    }
    ionf_buf_destroy(&digits);
    if (status != IONF_OK) {
        ionfast_set_status(state, status);
        return -1;
    }
    return 0;
}

int
ionfast_int_to_digits(ionfast_state *state, PyObject *value, ionf_integer *out, ionf_buf *scratch)
{
    if (ionfast_int_to(state, value, out, scratch) < 0) {
        return -1;
    }
    if (IONF_LIKELY(out->form == IONF_INT_U64)) {
        return 0;
    }
    const bool is_negative = out->is_negative;
    const bool is_for_helper = out->len > MAX_CORE_BYTES && out->len < MIN_CORE_BYTES_AGAIN;
    const int result =
        is_for_helper ? huge_to_digits(state, out, scratch) : bytes_to_digits(state, out, scratch);
    if (result == 0) {
        *out = ionf_num_integer_from_digits(scratch->data, scratch->len, is_negative);
    }
    return result;
}
