/* Timestamps: the Timestamp class, and conversions to and from it, datetime and date.
 *
 * The only file that includes datetime.h. Ion specification: spec.md, "Timestamps".
 *
 * A Timestamp is a datetime with what datetime has no room for: how precise it is, and
 * fractional digits beyond the sixth. datetime's own code makes instances of a subclass in
 * several places without calling its tp_new, and they arrive zeroed; a zero precision therefore
 * means "as a datetime: a second with six fractional digits".
 */
#include "py_conv.h"

#include <datetime.h>

#include "ionf_ts.h"

#define MICROSECOND_DIGITS 6
/* 10 ** 19 is the greatest power of ten that fits 64 bits. */
#define POWER_MAX 19
/* amazon.ion counts precisions from YEAR = 0, Ion's reader from 1. */
#define PRECISION_COUNT 5

static const char *const precision_names[PRECISION_COUNT] = {"YEAR", "MONTH", "DAY", "MINUTE",
                                                             "SECOND"};

/* The fraction of a second, exactly. Up to six digits it is datetime's microsecond alone. */
typedef struct fraction {
    uint64_t digits;      /* how many */
    uint64_t coefficient; /* with more than six digits, when `big` is NULL */
    PyObject *big;        /* owned Decimal: a coefficient beyond 64 bits; else NULL */
    int microsecond;      /* truncated, never rounded */
} fraction;

typedef struct Timestamp {
    PyDateTime_DateTime base;
    uint8_t precision;    /* ionf_precision, at most SECOND; 0: see above */
    uint64_t digits;      /* as in fraction; meaningless while precision is 0 */
    uint64_t coefficient; /* as in fraction */
    PyObject *big;        /* as in fraction */
} Timestamp;

/* The fields of a datetime, by the names of the constructor's arguments. */
typedef struct fields {
    int year, month, day, hour, minute, second, fold;
    PyObject *tzinfo; /* borrowed */
} fields;

PyTypeObject *
ionfast_datetime_type(void)
{
    return PyDateTimeAPI->DateTimeType;
}

PyTypeObject *
ionfast_date_type(void)
{
    return PyDateTimeAPI->DateType;
}

bool
ionfast_is_date(PyObject *value)
{
    return PyDate_Check(value);
}

/* ---- the type and its state ---- */

static void
Timestamp_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    Timestamp *ts = (Timestamp *)self;
    PyObject_GC_UnTrack(self);
    Py_XDECREF(ts->big);
    if (ts->base.hastzinfo) {
        Py_XDECREF(ts->base.tzinfo);
    }
    type->tp_free(self);
    Py_DECREF(type);
}

static int
Timestamp_traverse(PyObject *self, visitproc visit, void *arg)
{
    Timestamp *ts = (Timestamp *)self;
    Py_VISIT(Py_TYPE(self));
    if (ts->base.hastzinfo) {
        Py_VISIT(ts->base.tzinfo);
    }
    Py_VISIT(ts->big);
    return 0;
}

/* Timestamp itself, for it or a subclass; NULL for any other type. Classes made in Python have
 * subtype_dealloc, so that this one tells the class made here; there is one per interpreter. */
static PyTypeObject *
timestamp_class(PyTypeObject *type)
{
    while (type != NULL && type->tp_dealloc != Timestamp_dealloc) {
        type = type->tp_base;
    }
    return type;
}

static bool
is_timestamp(PyObject *value)
{
    return timestamp_class(Py_TYPE(value)) != NULL;
}

static ionfast_state *
state_of_type(PyTypeObject *type)
{
    return (ionfast_state *)PyType_GetModuleState(timestamp_class(type));
}

static ionfast_state *
state_of(PyObject *self)
{
    return state_of_type(Py_TYPE(self));
}

/* An attribute by name. The str is interned: a new one each time would fill the interpreter's
 * cache of attributes with itself. */
static PyObject *
attribute_of(PyObject *object, const char *name)
{
    PyObject *interned = PyUnicode_InternFromString(name);
    if (interned == NULL) {
        return NULL;
    }
    PyObject *attribute = PyObject_GetAttr(object, interned);
    Py_DECREF(interned);
    return attribute;
}

/* ---- fractions ---- */

static void
fraction_clear(fraction *f)
{
    Py_CLEAR(f->big);
}

static int
microsecond_of(uint64_t coefficient, uint64_t digits)
{
    if (digits <= MICROSECOND_DIGITS) {
        return (int)(coefficient * ionf_num_powers_of_ten[MICROSECOND_DIGITS - digits]);
    }
    const uint64_t dropped = digits - MICROSECOND_DIGITS;
    return dropped > POWER_MAX ? 0 : (int)(coefficient / ionf_num_powers_of_ten[dropped]);
}

/* The same for a coefficient in text; its leading zeros are not written. */
static int
microsecond_of_text(const uint8_t *text, size_t len, uint64_t digits)
{
    const uint64_t zeros = digits - len;
    int microsecond = 0;
    for (uint64_t i = 0; i < MICROSECOND_DIGITS; i++) {
        microsecond = microsecond * 10 + (i < zeros ? 0 : text[i - zeros] - '0');
    }
    return microsecond;
}

/* A coefficient beyond 64 bits. Decimal converts bases faster than quadratically and linearly
 * to text, so a hostile fraction of a million digits costs no more than any other text. */
static int
fraction_from_big(ionfast_state *state, const ionf_integer *coefficient, uint64_t digits,
                  fraction *out)
{
    if (digits > INT64_MAX) {
        ionfast_set_status(state, IONF_ERR_RANGE);
        return -1;
    }
    const ionf_decimal exact = {*coefficient, -(int64_t)digits};
    PyObject *big = ionfast_decimal_from(state, &exact, (PyTypeObject *)state->Decimal);
    if (big == NULL) {
        return -1;
    }
    ionf_buf scratch;
    ionf_buf_init(&scratch, state->alloc);
    ionf_decimal text;
    const int result = ionfast_decimal_to(state, big, &text, &scratch);
    if (result == 0) {
        out->digits = digits;
        out->coefficient = 0;
        out->big = big;
        out->microsecond =
            microsecond_of_text(text.coefficient.data, text.coefficient.len, digits);
    } else {
        Py_DECREF(big);
    }
    ionf_buf_destroy(&scratch);
    return result;
}

/* A fraction below 1. The caller owns out->big afterwards. */
static int
fraction_from(ionfast_state *state, const ionf_integer *coefficient, uint64_t digits,
              fraction *out)
{
    if (IONF_UNLIKELY(coefficient->form != IONF_INT_U64)) {
        return fraction_from_big(state, coefficient, digits, out);
    }
    const fraction small = {
        .digits = digits,
        .coefficient = coefficient->u64,
        .microsecond = microsecond_of(coefficient->u64, digits),
    };
    *out = small;
    return 0;
}

static uint64_t
digits_of(const Timestamp *ts)
{
    return ts->precision == 0 ? MICROSECOND_DIGITS : ts->digits;
}

static uint8_t
precision_of(const Timestamp *ts)
{
    return ts->precision == 0 ? IONF_PRECISION_SECOND : ts->precision;
}

/* The fraction's coefficient; a big one is put in `scratch`. */
static int
coefficient_of(ionfast_state *state, const Timestamp *ts, ionf_integer *out, ionf_buf *scratch)
{
    if (IONF_UNLIKELY(ts->big != NULL)) {
        ionf_decimal decimal;
        if (ionfast_decimal_to(state, ts->big, &decimal, scratch) < 0) {
            return -1;
        }
        *out = decimal.coefficient;
        return 0;
    }
    const uint64_t digits = digits_of(ts);
    const ionf_integer small = {
        .u64 = digits > MICROSECOND_DIGITS
                   ? ts->coefficient
                   : (uint64_t)PyDateTime_DATE_GET_MICROSECOND(ts) /
                         ionf_num_powers_of_ten[MICROSECOND_DIGITS - digits],
        .form = IONF_INT_U64,
    };
    *out = small;
    return 0;
}

/* Put precision and fraction on a new object; steals f->big. */
static void
set_nature(Timestamp *ts, uint8_t precision, fraction *f)
{
    ts->precision = precision;
    ts->digits = f->digits;
    ts->coefficient = f->coefficient;
    Py_XSETREF(ts->big, f->big);
    f->big = NULL;
}

/* A new object of `type`, whose __init__ is not called; steals f->big. */
static PyObject *
make_timestamp(PyTypeObject *type, const fields *from, uint8_t precision, fraction *f)
{
    PyObject *self = PyDateTimeAPI->DateTime_FromDateAndTimeAndFold(
        from->year, from->month, from->day, from->hour, from->minute, from->second, f->microsecond,
        from->tzinfo, from->fold, type);
    if (IONF_LIKELY(self != NULL)) {
        set_nature((Timestamp *)self, precision, f);
    }
    fraction_clear(f);
    return self;
}

static fields
fields_of(PyObject *self)
{
    const fields from = {
        PyDateTime_GET_YEAR(self),        PyDateTime_GET_MONTH(self),
        PyDateTime_GET_DAY(self),         PyDateTime_DATE_GET_HOUR(self),
        PyDateTime_DATE_GET_MINUTE(self), PyDateTime_DATE_GET_SECOND(self),
        PyDateTime_DATE_GET_FOLD(self),   PyDateTime_DATE_GET_TZINFO(self),
    };
    return from;
}

/* ---- reading ---- */

static PyObject *
new_timezone(int minutes)
{
    PyObject *delta = PyDelta_FromDSU(0, minutes * 60, 0);
    if (delta == NULL) {
        return NULL;
    }
    PyObject *zone = PyTimeZone_FromOffset(delta);
    Py_DECREF(delta);
    return zone;
}

/* New reference. All offsets in use are whole quarter hours, and each is made once. */
static PyObject *
timezone_of(ionfast_state *state, int minutes)
{
    if (IONF_LIKELY(minutes == 0)) {
        return Py_NewRef(state->utc);
    }
    if (IONF_UNLIKELY(minutes % 15 != 0)) {
        return new_timezone(minutes);
    }
    PyObject **slot = &state->timezones[minutes / 15 + 96];
    PyObject *zone = ionfast_peek(slot);
    if (IONF_UNLIKELY(zone == NULL)) {
        zone = ionfast_publish(slot, new_timezone(minutes));
    }
    return Py_XNewRef(zone);
}

PyObject *
ionfast_timestamp_from(ionfast_state *state, const ionf_timestamp *ts, PyTypeObject *cls)
{
    fraction f = {0};
    if (ts->fraction_digits != 0 &&
        IONF_UNLIKELY(fraction_from(state, &ts->fraction, ts->fraction_digits, &f) < 0)) {
        return NULL;
    }
    PyObject *zone = ts->has_offset ? timezone_of(state, ts->offset_minutes) : Py_NewRef(Py_None);
    if (IONF_UNLIKELY(zone == NULL)) {
        fraction_clear(&f);
        return NULL;
    }
    const fields from = {ts->year, ts->month, ts->day, ts->hour, ts->minute, ts->second, 0, zone};
    const uint8_t precision =
        ts->precision == IONF_PRECISION_FRACTION ? IONF_PRECISION_SECOND : ts->precision;
    PyObject *self = make_timestamp(cls, &from, precision, &f);
    Py_DECREF(zone);
    return self;
}

/* Microseconds of the fraction; false when it has finer parts that are not zero. */
static bool
whole_microseconds(const ionf_timestamp *ts, int *out)
{
    uint64_t digits = ts->fraction_digits, coefficient = ts->fraction.u64;
    if (digits == 0) {
        *out = 0;
        return true;
    }
    if (ts->fraction.form != IONF_INT_U64) {
        return false;
    }
    for (; digits > MICROSECOND_DIGITS && coefficient % 10 == 0 && coefficient != 0; digits--) {
        coefficient /= 10;
    }
    *out = coefficient == 0 ? 0 : microsecond_of(coefficient, digits);
    return coefficient == 0 || digits <= MICROSECOND_DIGITS;
}

int
ionfast_datetime_from(ionfast_state *state, const ionf_timestamp *ts, PyObject **out)
{
    int microsecond = 0;
    if (ts->precision < IONF_PRECISION_MINUTE || !whole_microseconds(ts, &microsecond)) {
        return 0;
    }
    PyObject *zone = ts->has_offset ? timezone_of(state, ts->offset_minutes) : Py_NewRef(Py_None);
    if (zone == NULL) {
        return -1;
    }
    *out = PyDateTimeAPI->DateTime_FromDateAndTime(ts->year, ts->month, ts->day, ts->hour,
                                                   ts->minute, ts->second, microsecond, zone,
                                                   PyDateTimeAPI->DateTimeType);
    Py_DECREF(zone);
    return *out == NULL ? -1 : 1;
}

int
ionfast_date_from(const ionf_timestamp *ts, PyObject **out)
{
    if (ts->precision != IONF_PRECISION_DAY) {
        return 0;
    }
    *out = PyDate_FromDate(ts->year, ts->month, ts->day);
    return *out == NULL ? -1 : 1;
}

/* ---- writing ---- */

/* Whole minutes of a timedelta that is less than a day; -1 with ValueError naming `value`. */
static int
offset_from_delta(PyObject *value, PyObject *delta, ionf_timestamp *out)
{
    const int64_t seconds =
        (int64_t)PyDateTime_DELTA_GET_DAYS(delta) * 86400 + PyDateTime_DELTA_GET_SECONDS(delta);
    if (PyDateTime_DELTA_GET_MICROSECONDS(delta) != 0 || seconds % 60 != 0) {
        PyErr_Format(PyExc_ValueError,
                     "the UTC offset %S of %R is not a whole number of minutes, "
                     "which is all that an Ion timestamp can hold",
                     delta, value);
        return -1;
    }
    if (seconds <= -86400 || seconds >= 86400) {
        PyErr_Format(PyExc_ValueError, "the UTC offset %S of %R is not less than a day", delta,
                     value);
        return -1;
    }
    out->has_offset = true;
    out->offset_minutes = (int16_t)(seconds / 60);
    return 0;
}

/* value.utcoffset(), as Python's own code asks it. A datetime.timezone cannot be subclassed and
 * gives the same for any argument: asking it takes 40 ns where asking the datetime takes 330. */
static PyObject *
utcoffset_of(ionfast_state *state, PyObject *value, PyObject *zone)
{
    const bool is_plain = Py_IS_TYPE(value, state->Timestamp) || PyDateTime_CheckExact(value);
    if (is_plain && Py_IS_TYPE(zone, Py_TYPE(state->utc))) {
        return PyObject_CallMethodOneArg(zone, state->str_utcoffset, Py_None);
    }
    return PyObject_CallMethodNoArgs(value, state->str_utcoffset);
}

static int
offset_of(ionfast_state *state, PyObject *value, ionf_timestamp *out)
{
    PyObject *zone = PyDateTime_DATE_GET_TZINFO(value);
    if (zone == Py_None) {
        return 0;
    }
    if (zone == state->utc) {
        out->has_offset = true;
        return 0;
    }
    PyObject *delta = utcoffset_of(state, value, zone);
    if (delta == NULL) {
        return -1;
    }
    int result = 0;
    if (PyDelta_Check(delta)) {
        result = offset_from_delta(value, delta, out);
    } else if (delta != Py_None) {
        PyErr_Format(PyExc_TypeError, "utcoffset() of %R must be None or a timedelta, not %.200s",
                     value, Py_TYPE(delta)->tp_name);
        result = -1;
    }
    Py_DECREF(delta);
    return result;
}

/* The fields down to `precision`; those below keep what a timestamp without them has. */
static void
copy_fields(PyObject *value, uint8_t precision, ionf_timestamp *out)
{
    const ionf_timestamp whole_year = {
        .year = (int16_t)PyDateTime_GET_YEAR(value),
        .month = 1,
        .day = 1,
        .precision = precision,
    };
    *out = whole_year;
    if (precision >= IONF_PRECISION_MONTH) {
        out->month = PyDateTime_GET_MONTH(value);
    }
    if (precision >= IONF_PRECISION_DAY) {
        out->day = PyDateTime_GET_DAY(value);
    }
    if (precision >= IONF_PRECISION_MINUTE) {
        out->hour = PyDateTime_DATE_GET_HOUR(value);
        out->minute = PyDateTime_DATE_GET_MINUTE(value);
    }
    if (precision >= IONF_PRECISION_SECOND) {
        out->second = PyDateTime_DATE_GET_SECOND(value);
    }
}

/* A plain datetime is precise to the microsecond, even a zero one: so amazon.ion writes it, and it
 * tells "on the second" from "some time in that second". */
static void
copy_microsecond(PyObject *value, ionf_timestamp *out)
{
    out->precision = IONF_PRECISION_FRACTION;
    out->fraction_digits = MICROSECOND_DIGITS;
    out->fraction.form = IONF_INT_U64;
    out->fraction.u64 = (uint64_t)PyDateTime_DATE_GET_MICROSECOND(value);
}

static int
copy_fraction(ionfast_state *state, const Timestamp *ts, ionf_timestamp *out, ionf_buf *scratch)
{
    const uint64_t digits = digits_of(ts);
    if (digits == 0) {
        return 0;
    }
    out->precision = IONF_PRECISION_FRACTION;
    out->fraction_digits = digits;
    return coefficient_of(state, ts, &out->fraction, scratch);
}

int
ionfast_timestamp_to(ionfast_state *state, PyObject *value, ionf_timestamp *out, ionf_buf *scratch)
{
    if (!PyDateTime_Check(value)) {
        copy_fields(value, IONF_PRECISION_DAY, out);
        return 0;
    }
    const Timestamp *ts = is_timestamp(value) ? (const Timestamp *)value : NULL;
    const uint8_t precision = ts == NULL ? IONF_PRECISION_SECOND : precision_of(ts);
    copy_fields(value, precision, out);
    if (precision < IONF_PRECISION_MINUTE) {
        return 0;
    }
    if (offset_of(state, value, out) < 0) {
        return -1;
    }
    if (precision < IONF_PRECISION_SECOND) {
        return 0;
    }
    if (ts == NULL) {
        copy_microsecond(value, out);
        return 0;
    }
    return copy_fraction(state, ts, out, scratch);
}

/* ---- the constructor ---- */

/* None is SECOND, as for a datetime. */
static int
parse_precision(PyObject *value, uint8_t *out)
{
    *out = IONF_PRECISION_SECOND;
    if (value == NULL || value == Py_None) {
        return 0;
    }
    const Py_ssize_t number = PyNumber_AsSsize_t(value, NULL);
    if (number == -1 && PyErr_Occurred()) {
        return -1;
    }
    if (number < 0 || number >= PRECISION_COUNT) {
        PyErr_Format(PyExc_ValueError, "precision must be a TimestampPrecision or 0 .. 4, not %R",
                     value);
        return -1;
    }
    *out = (uint8_t)(number + IONF_PRECISION_YEAR);
    return 0;
}

/* A small int that is at most `max`; `name` is for the message. */
static int
parse_small(PyObject *value, const char *name, long max, int *out)
{
    const Py_ssize_t number = PyNumber_AsSsize_t(value, NULL);
    if (number == -1 && PyErr_Occurred()) {
        return -1;
    }
    if (number < 0 || number > max) {
        PyErr_Format(PyExc_ValueError, "%s must be in 0..%ld, not %R", name, max, value);
        return -1;
    }
    *out = (int)number;
    return 0;
}

/* Is it below 1 and not negative? Then also its number of digits. */
static bool
is_below_one(const ionf_decimal *decimal, uint64_t *digits)
{
    const ionf_integer *coefficient = &decimal->coefficient;
    *digits = decimal->exponent < 0 ? 0 - (uint64_t)decimal->exponent : 0;
    if (coefficient->form != IONF_INT_U64) {
        return !coefficient->is_negative && coefficient->len <= *digits;
    }
    if (coefficient->u64 == 0) {
        return true;
    }
    return !coefficient->is_negative &&
           (*digits > POWER_MAX || coefficient->u64 < ionf_num_powers_of_ten[*digits]);
}

static int
fraction_from_decimal(ionfast_state *state, PyObject *value, fraction *out)
{
    const int is_decimal = PyObject_IsInstance(value, state->Decimal);
    if (is_decimal <= 0) {
        if (is_decimal == 0) {
            PyErr_Format(PyExc_TypeError, "fractional_seconds must be a Decimal, not %.200s",
                         Py_TYPE(value)->tp_name);
        }
        return -1;
    }
    ionf_buf scratch;
    ionf_buf_init(&scratch, state->alloc);
    ionf_decimal decimal;
    uint64_t digits;
    int result = ionfast_decimal_to(state, value, &decimal, &scratch);
    if (result == 0 && !is_below_one(&decimal, &digits)) {
        PyErr_Format(PyExc_ValueError, "fractional_seconds must be at least 0 and below 1, not %S",
                     value);
        result = -1;
    }
    if (result == 0) {
        decimal.coefficient.is_negative = false;
        result = fraction_from(state, &decimal.coefficient, digits, out);
    }
    ionf_buf_destroy(&scratch);
    return result;
}

/* Do the other two arguments say the same as `f`? None says nothing. */
static int
check_agreement(const fraction *f, PyObject *microsecond, int precision, PyObject *seconds)
{
    const int digits = f->digits < MICROSECOND_DIGITS ? (int)f->digits : MICROSECOND_DIGITS;
    if (precision >= 0 && precision != digits) {
        PyErr_Format(PyExc_ValueError,
                     "fractional_precision is %d, but fractional_seconds %S has a precision of %d",
                     precision, seconds, digits);
        return -1;
    }
    int given;
    if (microsecond == Py_None) {
        return 0;
    }
    if (parse_small(microsecond, "microsecond", 999999, &given) < 0) {
        return -1;
    }
    if (given != f->microsecond) {
        PyErr_Format(PyExc_ValueError,
                     "microsecond is %d, but fractional_seconds is %S: give one of them", given,
                     seconds);
        return -1;
    }
    return 0;
}

/* Microseconds with that many digits, or with six when `precision` is negative. */
static int
fraction_from_microsecond(PyObject *microsecond, int precision, fraction *out)
{
    int value;
    if (parse_small(microsecond, "microsecond", 999999, &value) < 0) {
        return -1;
    }
    const int digits = precision < 0 ? MICROSECOND_DIGITS : precision;
    if ((uint64_t)value % ionf_num_powers_of_ten[MICROSECOND_DIGITS - digits] != 0) {
        PyErr_Format(PyExc_ValueError, "microsecond %d cannot be expressed in %d digits", value,
                     digits);
        return -1;
    }
    out->digits = (uint64_t)digits;
    out->microsecond = value;
    return 0;
}

/* The three arguments that describe the fraction, None where not given. The caller owns
 * out->big. */
static int
parse_fraction(ionfast_state *state, PyObject *microsecond, PyObject *precision, PyObject *seconds,
               fraction *out)
{
    int digits = -1;
    if (precision != Py_None) {
        if (parse_small(precision, "fractional_precision", MICROSECOND_DIGITS, &digits) < 0) {
            return -1;
        }
        if (microsecond == Py_None) {
            PyErr_SetString(PyExc_ValueError, "fractional_precision needs microsecond");
            return -1;
        }
    }
    if (seconds != Py_None) {
        if (fraction_from_decimal(state, seconds, out) < 0) {
            return -1;
        }
        return check_agreement(out, microsecond, digits, seconds);
    }
    return microsecond == Py_None ? 0 : fraction_from_microsecond(microsecond, digits, out);
}

static PyObject *
Timestamp_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static const char *const keywords[] = {"year",
                                           "month",
                                           "day",
                                           "hour",
                                           "minute",
                                           "second",
                                           "microsecond",
                                           "tzinfo",
                                           "precision",
                                           "fractional_precision",
                                           "fractional_seconds",
                                           "fold",
                                           NULL};
    fields from = {0, 1, 1, 0, 0, 0, 0, Py_None};
    PyObject *microsecond = Py_None, *precision = Py_None;
    PyObject *fractional_precision = Py_None, *fractional_seconds = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "i|iiiiiOOOOOi:Timestamp", (char **)keywords,
                                     &from.year, &from.month, &from.day, &from.hour, &from.minute,
                                     &from.second, &microsecond, &from.tzinfo, &precision,
                                     &fractional_precision, &fractional_seconds, &from.fold)) {
        return NULL;
    }
    uint8_t code;
    fraction f = {0};
    if (parse_precision(precision, &code) < 0 ||
        parse_fraction(state_of_type(type), microsecond, fractional_precision, fractional_seconds,
                       &f) < 0) {
        fraction_clear(&f);
        return NULL;
    }
    return make_timestamp(type, &from, code, &f);
}

/* ---- arithmetic: what datetime gives, with the precision carried over ---- */

/* Digits that a microsecond needs: 0 for 0, 3 for 79000. */
static uint64_t
digits_needed(int microsecond)
{
    uint64_t digits = MICROSECOND_DIGITS;
    while (digits != 0 &&
           (uint64_t)microsecond % ionf_num_powers_of_ten[MICROSECOND_DIGITS - digits + 1] == 0) {
        digits--;
    }
    return digits;
}

/* The precision that the fields of `value` need, so that none is lost. */
static uint8_t
precision_needed(PyObject *value)
{
    if (PyDateTime_DATE_GET_SECOND(value) != 0 || PyDateTime_DATE_GET_MICROSECOND(value) != 0) {
        return IONF_PRECISION_SECOND;
    }
    if (PyDateTime_DATE_GET_HOUR(value) != 0 || PyDateTime_DATE_GET_MINUTE(value) != 0) {
        return IONF_PRECISION_MINUTE;
    }
    if (PyDateTime_GET_DAY(value) != 1) {
        return IONF_PRECISION_DAY;
    }
    return PyDateTime_GET_MONTH(value) != 1 ? IONF_PRECISION_MONTH : IONF_PRECISION_YEAR;
}

/* The digits of `ts` with the first six replaced, appended to `text` with their leading zeros. */
static int
splice_digits(ionfast_state *state, const Timestamp *ts, int microsecond, ionf_buf *text)
{
    ionf_integer coefficient;
    ionf_buf scratch, old;
    ionf_buf_init(&scratch, state->alloc);
    ionf_buf_init(&old, state->alloc);
    int result = coefficient_of(state, ts, &coefficient, &scratch);
    ionf_status status = IONF_OK;
    if (result == 0) {
        status = ionf_num_integer_to_digits(&coefficient, &old);
    }
    if (result == 0 && status == IONF_OK) {
        status = ts->digits > SIZE_MAX / 2 ? IONF_ERR_NOMEM
                                           : ionf_buf_reserve(text, (size_t)ts->digits);
    }
    if (result == 0 && status == IONF_OK) {
        const size_t digits = (size_t)ts->digits;
        const size_t zeros = digits - old.len;
        memset(text->data, '0', zeros);
        memcpy(text->data + zeros, old.data, old.len);
        for (size_t i = MICROSECOND_DIGITS; i != 0; i--) {
            text->data[i - 1] = (uint8_t)('0' + microsecond % 10);
            microsecond /= 10;
        }
        text->len = digits;
    } else if (status != IONF_OK) {
        ionfast_set_status(state, status);
        result = -1;
    }
    ionf_buf_destroy(&old);
    ionf_buf_destroy(&scratch);
    return result;
}

/* The fraction of `ts` after its microsecond has become `microsecond`: later digits stay, and
 * fewer than six become as many as are needed. The caller owns out->big. */
static int
fraction_moved(ionfast_state *state, const Timestamp *ts, int microsecond, fraction *out)
{
    const uint64_t digits = digits_of(ts);
    out->microsecond = microsecond;
    if (digits <= MICROSECOND_DIGITS) {
        const uint64_t needed = digits_needed(microsecond);
        out->digits = digits > needed ? digits : needed;
        return 0;
    }
    if (microsecond == PyDateTime_DATE_GET_MICROSECOND(ts)) {
        out->digits = digits;
        out->coefficient = ts->coefficient;
        out->big = Py_XNewRef(ts->big);
        return 0;
    }
    ionf_buf text;
    ionf_buf_init(&text, state->alloc);
    int result = splice_digits(state, ts, microsecond, &text);
    if (result == 0) {
        const ionf_integer coefficient = ionf_num_integer_from_digits(text.data, text.len, false);
        result = fraction_from(state, &coefficient, digits, out);
    }
    ionf_buf_destroy(&text);
    return result;
}

/* Give `result`, which datetime has just made out of `source`, the nature of `source`: its
 * precision, or the least greater one that loses none of the result's fields. Steals `result`. */
static PyObject *
carry_nature(PyObject *result, PyObject *source)
{
    if (result == NULL || result == source || !is_timestamp(result) || Py_REFCNT(result) != 1) {
        return result;
    }
    const Timestamp *from = (const Timestamp *)source;
    if (from->precision == 0) {
        return result;
    }
    fraction f = {0};
    if (fraction_moved(state_of(source), from, PyDateTime_DATE_GET_MICROSECOND(result), &f) < 0) {
        Py_DECREF(result);
        return NULL;
    }
    const uint8_t needed = precision_needed(result);
    set_nature((Timestamp *)result, needed > from->precision ? needed : from->precision, &f);
    return result;
}

static PyObject *
Timestamp_add(PyObject *left, PyObject *right)
{
    PyObject *result = PyDateTimeAPI->DateTimeType->tp_as_number->nb_add(left, right);
    return carry_nature(result, is_timestamp(left) ? left : right);
}

/* A difference of two is a timedelta, and stays one. */
static PyObject *
Timestamp_subtract(PyObject *left, PyObject *right)
{
    PyObject *result = PyDateTimeAPI->DateTimeType->tp_as_number->nb_subtract(left, right);
    return carry_nature(result, left);
}

PyDoc_STRVAR(astimezone_doc,
             "astimezone($self, tz=None)\n--\n\n"
             "The same moment in another time zone, to the last fractional digit.");

static PyObject *
Timestamp_astimezone(PyObject *self, PyObject *args, PyObject *kwargs)
{
    PyObject *method = attribute_of((PyObject *)PyDateTimeAPI->DateTimeType, "astimezone");
    if (method == NULL) {
        return NULL;
    }
    PyObject *bound = PyMethod_New(method, self);
    Py_DECREF(method);
    if (bound == NULL) {
        return NULL;
    }
    PyObject *result = PyObject_Call(bound, args, kwargs);
    Py_DECREF(bound);
    return carry_nature(result, self);
}

/* ---- replace ---- */

/* What replace() was given; NULL or INT_MIN where nothing. */
typedef struct replacement {
    int year, month, day, hour, minute, second, fold;
    PyObject *microsecond, *tzinfo, *precision, *fractional_precision, *fractional_seconds;
} replacement;

static void
replace_int(int *field, int value)
{
    if (value != INT_MIN) {
        *field = value;
    }
}

static fields
replaced_fields(PyObject *self, const replacement *r)
{
    fields from = fields_of(self);
    replace_int(&from.year, r->year);
    replace_int(&from.month, r->month);
    replace_int(&from.day, r->day);
    replace_int(&from.hour, r->hour);
    replace_int(&from.minute, r->minute);
    replace_int(&from.second, r->second);
    replace_int(&from.fold, r->fold);
    if (r->tzinfo != NULL) {
        from.tzinfo = r->tzinfo;
    }
    return from;
}

static bool
is_given(PyObject *value)
{
    return value != NULL && value != Py_None;
}

/* Naming a field states it: replacing the day of a mere year gives a day. */
static uint8_t
precision_named(const replacement *r)
{
    if (r->second != INT_MIN || r->microsecond != NULL || is_given(r->fractional_seconds)) {
        return IONF_PRECISION_SECOND;
    }
    if (r->hour != INT_MIN || r->minute != INT_MIN) {
        return IONF_PRECISION_MINUTE;
    }
    if (r->day != INT_MIN) {
        return IONF_PRECISION_DAY;
    }
    return r->month != INT_MIN ? IONF_PRECISION_MONTH : IONF_PRECISION_YEAR;
}

static int
replaced_precision(const Timestamp *ts, const replacement *r, uint8_t *out)
{
    if (is_given(r->precision)) {
        return parse_precision(r->precision, out);
    }
    const uint8_t named = precision_named(r);
    const uint8_t own = precision_of(ts);
    *out = named > own ? named : own;
    return 0;
}

/* fractional_precision alone: the same fraction in that many digits. */
static int
requantized_fraction(const Timestamp *ts, PyObject *precision, fraction *out)
{
    if (digits_of(ts) > MICROSECOND_DIGITS) {
        PyErr_SetString(PyExc_ValueError, "fractional_precision alone cannot drop digits beyond "
                                          "the sixth: give microsecond or fractional_seconds");
        return -1;
    }
    int digits;
    if (parse_small(precision, "fractional_precision", MICROSECOND_DIGITS, &digits) < 0) {
        return -1;
    }
    PyObject *microsecond = PyLong_FromLong(PyDateTime_DATE_GET_MICROSECOND(ts));
    if (microsecond == NULL) {
        return -1;
    }
    const int result = fraction_from_microsecond(microsecond, digits, out);
    Py_DECREF(microsecond);
    return result;
}

static int
replaced_fraction(ionfast_state *state, const Timestamp *ts, const replacement *r, fraction *out)
{
    if (is_given(r->microsecond) || is_given(r->fractional_seconds)) {
        return parse_fraction(state, r->microsecond != NULL ? r->microsecond : Py_None,
                              r->fractional_precision != NULL ? r->fractional_precision : Py_None,
                              r->fractional_seconds != NULL ? r->fractional_seconds : Py_None,
                              out);
    }
    if (is_given(r->fractional_precision)) {
        return requantized_fraction(ts, r->fractional_precision, out);
    }
    out->microsecond = PyDateTime_DATE_GET_MICROSECOND(ts);
    out->digits = digits_of(ts);
    out->coefficient = ts->coefficient;
    out->big = Py_XNewRef(ts->big);
    return 0;
}

PyDoc_STRVAR(
    replace_doc,
    "replace(year=..., month=..., day=..., hour=..., minute=..., second=..., "
    "microsecond=..., tzinfo=..., *, fold=..., precision=..., fractional_precision=..., "
    "fractional_seconds=...)\n\n"
    "A timestamp with some fields replaced. The fraction stays as it is, to its last "
    "digit,\nunless it is given; the precision grows to the smallest field that is given.");

static PyObject *
Timestamp_replace(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static const char *const keywords[] = {"year",
                                           "month",
                                           "day",
                                           "hour",
                                           "minute",
                                           "second",
                                           "microsecond",
                                           "tzinfo",
                                           "fold",
                                           "precision",
                                           "fractional_precision",
                                           "fractional_seconds",
                                           NULL};
    replacement r = {.year = INT_MIN,
                     .month = INT_MIN,
                     .day = INT_MIN,
                     .hour = INT_MIN,
                     .minute = INT_MIN,
                     .second = INT_MIN,
                     .fold = INT_MIN};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|iiiiiiOO$iOOO:replace", (char **)keywords,
                                     &r.year, &r.month, &r.day, &r.hour, &r.minute, &r.second,
                                     &r.microsecond, &r.tzinfo, &r.fold, &r.precision,
                                     &r.fractional_precision, &r.fractional_seconds)) {
        return NULL;
    }
    const Timestamp *ts = (const Timestamp *)self;
    uint8_t precision;
    fraction f = {0};
    if (replaced_precision(ts, &r, &precision) < 0 ||
        replaced_fraction(state_of(self), ts, &r, &f) < 0) {
        fraction_clear(&f);
        return NULL;
    }
    const fields from = replaced_fields(self, &r);
    return make_timestamp(Py_TYPE(self), &from, precision, &f);
}

/* ---- attributes ---- */

/* The class attribute `_precisions` holds what `precision` gives by number: the members of
 * TimestampPrecision once the Python half has put them there. */
static PyObject *
Timestamp_get_precision(PyObject *self, void *Py_UNUSED(closure))
{
    PyObject *members = attribute_of((PyObject *)timestamp_class(Py_TYPE(self)), "_precisions");
    if (members == NULL) {
        return NULL;
    }
    const Py_ssize_t number = precision_of((const Timestamp *)self) - IONF_PRECISION_YEAR;
    PyObject *member = PySequence_GetItem(members, number);
    Py_DECREF(members);
    return member;
}

static PyObject *
Timestamp_get_fractional_precision(PyObject *self, void *Py_UNUSED(closure))
{
    const uint64_t digits = digits_of((const Timestamp *)self);
    return PyLong_FromLong(digits < MICROSECOND_DIGITS ? (long)digits : MICROSECOND_DIGITS);
}

static PyObject *
Timestamp_get_fractional_seconds(PyObject *self, void *Py_UNUSED(closure))
{
    const Timestamp *ts = (const Timestamp *)self;
    if (ts->big != NULL) {
        return Py_NewRef(ts->big);
    }
    ionfast_state *state = state_of(self);
    const uint64_t digits = digits_of(ts);
    if (digits > INT64_MAX) {
        return ionfast_set_status(state, IONF_ERR_RANGE);
    }
    ionf_decimal seconds = {.exponent = -(int64_t)digits};
    if (coefficient_of(state, ts, &seconds.coefficient, NULL) < 0) {
        return NULL;
    }
    return ionfast_decimal_from(state, &seconds, (PyTypeObject *)state->Decimal);
}

/* ---- text ---- */

static PyObject *
set_text_error(ionfast_state *state, const char *text, const uint8_t *at, const uint8_t *end,
               const char *expected)
{
    const uint64_t offset = (uint64_t)(at - (const uint8_t *)text);
    const ionf_error error = {
        .status = IONF_ERR_TIMESTAMP,
        .found = at == end    ? IONF_FOUND_END
                 : *at < 0x80 ? *at
                              : IONF_FOUND_NONE,
        .offset = offset,
        .line = 1,
        .column = offset + 1,
        .expected = expected,
    };
    return ionfast_set_error(state, &error);
}

PyDoc_STRVAR(from_text_doc, "from_text($type, text, /)\n--\n\n"
                            "The timestamp that this Ion text denotes, exactly.\n\n"
                            "Raises IonError, with the offset, for any other text.");

static PyObject *
Timestamp_from_text(PyObject *cls, PyObject *arg)
{
    PyTypeObject *type = (PyTypeObject *)cls;
    ionfast_state *state = state_of_type(type);
    if (!PyUnicode_Check(arg)) {
        return PyErr_Format(PyExc_TypeError, "from_text() needs a str, not %.200s",
                            Py_TYPE(arg)->tp_name);
    }
    Py_ssize_t len;
    const char *text = PyUnicode_AsUTF8AndSize(arg, &len);
    if (text == NULL) {
        return NULL;
    }
    const uint8_t *p = (const uint8_t *)text;
    const uint8_t *const end = p + len;
    ionf_timestamp ts;
    const char *expected = NULL;
    const ionf_status status = ionf_ts_parse(&p, end, &ts, &expected);
    if (status == IONF_ERR_NOMEM) {
        return PyErr_NoMemory();
    }
    if (status != IONF_OK) {
        return set_text_error(state, text, p, end, expected);
    }
    if (p != end) {
        return set_text_error(state, text, p, end, "the end of the timestamp");
    }
    return ionfast_timestamp_from(state, &ts, type);
}

PyDoc_STRVAR(to_text_doc,
             "to_text($self, /)\n--\n\n"
             "Ion text: as precise as the timestamp is, to the last fractional digit.");

static PyObject *
Timestamp_to_text(PyObject *self, PyObject *Py_UNUSED(ignored))
{
    ionfast_state *state = state_of(self);
    ionf_buf scratch, text;
    ionf_buf_init(&scratch, state->alloc);
    ionf_buf_init(&text, state->alloc);
    PyObject *result = NULL;
    ionf_timestamp ts;
    if (ionfast_timestamp_to(state, self, &ts, &scratch) == 0) {
        const ionf_status status = ionf_ts_print(&ts, &text);
        result = status == IONF_OK
                     ? PyUnicode_DecodeASCII((const char *)text.data, (Py_ssize_t)text.len, NULL)
                     : ionfast_set_status(state, status);
    }
    ionf_buf_destroy(&text);
    ionf_buf_destroy(&scratch);
    return result;
}

/* The arguments from tzinfo on that differ from their defaults, as ", name=value" each. */
static PyObject *
repr_tail(PyObject *self)
{
    const Timestamp *ts = (const Timestamp *)self;
    PyObject *zone = PyDateTime_DATE_GET_TZINFO(self);
    PyObject *zone_text =
        zone == Py_None ? PyUnicode_FromString("") : PyUnicode_FromFormat(", tzinfo=%R", zone);
    if (zone_text == NULL) {
        return NULL;
    }
    const uint64_t digits = digits_of(ts);
    PyObject *fraction_text;
    if (digits == 0) {
        fraction_text = PyUnicode_FromString("");
    } else if (digits <= MICROSECOND_DIGITS) {
        fraction_text = PyUnicode_FromFormat(", fractional_precision=%d", (int)digits);
    } else {
        PyObject *seconds = Timestamp_get_fractional_seconds(self, NULL);
        fraction_text =
            seconds == NULL ? NULL : PyUnicode_FromFormat(", fractional_seconds=%R", seconds);
        Py_XDECREF(seconds);
    }
    PyObject *tail = NULL;
    if (fraction_text != NULL) {
        tail =
            PyUnicode_FromFormat("%U, precision=TimestampPrecision.%s%U%s", zone_text,
                                 precision_names[precision_of(ts) - IONF_PRECISION_YEAR],
                                 fraction_text, PyDateTime_DATE_GET_FOLD(self) ? ", fold=1" : "");
    }
    Py_XDECREF(fraction_text);
    Py_DECREF(zone_text);
    return tail;
}

/* An expression that makes the same timestamp. */
static PyObject *
Timestamp_repr(PyObject *self)
{
    PyObject *tail = repr_tail(self);
    if (tail == NULL) {
        return NULL;
    }
    const char *name = Py_TYPE(self)->tp_name;
    const char *dot = strrchr(name, '.');
    const uint64_t digits = digits_of((const Timestamp *)self);
    char microsecond[16] = "";
    if (digits != 0 && digits <= MICROSECOND_DIGITS) {
        PyOS_snprintf(microsecond, sizeof microsecond, ", %d",
                      PyDateTime_DATE_GET_MICROSECOND(self));
    }
    PyObject *result = PyUnicode_FromFormat(
        "%s(%d, %d, %d, %d, %d, %d%s%U)", dot == NULL ? name : dot + 1, PyDateTime_GET_YEAR(self),
        PyDateTime_GET_MONTH(self), PyDateTime_GET_DAY(self), PyDateTime_DATE_GET_HOUR(self),
        PyDateTime_DATE_GET_MINUTE(self), PyDateTime_DATE_GET_SECOND(self), microsecond, tail);
    Py_DECREF(tail);
    return result;
}

/* ---- pickling and copying ---- */

/* The constructor's arguments, all positional. */
static PyObject *
constructor_args(PyObject *self)
{
    const Timestamp *ts = (const Timestamp *)self;
    const uint64_t digits = digits_of(ts);
    PyObject *fractional_precision, *fractional_seconds;
    if (digits > MICROSECOND_DIGITS) {
        fractional_precision = Py_NewRef(Py_None);
        fractional_seconds = Timestamp_get_fractional_seconds(self, NULL);
    } else {
        fractional_precision = PyLong_FromLong((long)digits);
        fractional_seconds = Py_NewRef(Py_None);
    }
    const fields from = fields_of(self);
    /* "N" passes a NULL on as the error that it is, and lets the other one go. */
    PyObject *args = Py_BuildValue("(iiiiiiiOiNN)", from.year, from.month, from.day, from.hour,
                                   from.minute, from.second, PyDateTime_DATE_GET_MICROSECOND(self),
                                   from.tzinfo, precision_of(ts) - IONF_PRECISION_YEAR,
                                   fractional_precision, fractional_seconds);
    if (args == NULL || from.fold == 0) {
        return args;
    }
    PyObject *fold = Py_BuildValue("(i)", from.fold);
    PyObject *all = fold == NULL ? NULL : PySequence_Concat(args, fold);
    Py_XDECREF(fold);
    Py_DECREF(args);
    return all;
}

PyDoc_STRVAR(reduce_doc, "Everything that makes up the timestamp, for pickle and copy.");

/* The attributes of a subclass's instance come along as the state. */
static PyObject *
Timestamp_reduce(PyObject *self, PyObject *Py_UNUSED(protocol))
{
    PyObject *get_state = attribute_of(self, "__getstate__");
    PyObject *attributes = get_state == NULL ? NULL : PyObject_CallNoArgs(get_state);
    Py_XDECREF(get_state);
    if (attributes == NULL) {
        return NULL;
    }
    PyObject *args = constructor_args(self);
    if (args == NULL) {
        Py_DECREF(attributes);
        return NULL;
    }
    return Py_BuildValue("(ONN)", Py_TYPE(self), args, attributes);
}

PyDoc_STRVAR(
    adjust_doc,
    "adjust_from_utc_fields(...)\n\n"
    "Takes the constructor's arguments, with the fields in UTC, and gives the timestamp in "
    "the\nlocal time of its tzinfo.");

static PyObject *
Timestamp_adjust_from_utc_fields(PyObject *cls, PyObject *args, PyObject *kwargs)
{
    PyObject *utc = PyObject_Call(cls, args, kwargs);
    if (utc == NULL) {
        return NULL;
    }
    PyObject *offset = PyObject_CallMethodNoArgs(utc, state_of(utc)->str_utcoffset);
    if (offset == NULL || offset == Py_None) {
        Py_XDECREF(offset);
        if (offset == NULL) {
            Py_CLEAR(utc);
        }
        return utc;
    }
    PyObject *local = PyNumber_Add(utc, offset);
    Py_DECREF(offset);
    Py_DECREF(utc);
    return local;
}

static PyMethodDef Timestamp_methods[] = {
    {"from_text", Timestamp_from_text, METH_O | METH_CLASS, from_text_doc},
    {"to_text", Timestamp_to_text, METH_NOARGS, to_text_doc},
    {"replace", (PyCFunction)(void (*)(void))Timestamp_replace, METH_VARARGS | METH_KEYWORDS,
     replace_doc},
    {"__replace__", (PyCFunction)(void (*)(void))Timestamp_replace, METH_VARARGS | METH_KEYWORDS,
     replace_doc},
    {"astimezone", (PyCFunction)(void (*)(void))Timestamp_astimezone, METH_VARARGS | METH_KEYWORDS,
     astimezone_doc},
    {"adjust_from_utc_fields", (PyCFunction)(void (*)(void))Timestamp_adjust_from_utc_fields,
     METH_VARARGS | METH_KEYWORDS | METH_CLASS, adjust_doc},
    {"__reduce__", Timestamp_reduce, METH_NOARGS, reduce_doc},
    {"__reduce_ex__", Timestamp_reduce, METH_O, reduce_doc},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef Timestamp_getset[] = {
    {"precision", Timestamp_get_precision, NULL,
     "The last field that is stated, a TimestampPrecision.", NULL},
    {"fractional_precision", Timestamp_get_fractional_precision, NULL,
     "How many digits of microsecond are stated, 0 .. 6; fractional_seconds may have more.", NULL},
    {"fractional_seconds", Timestamp_get_fractional_seconds, NULL,
     "The fraction of the second, exactly: a Decimal with every digit that is stated.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyDoc_STRVAR(
    Timestamp_doc,
    "Timestamp(year, month=1, day=1, hour=0, minute=0, second=0, microsecond=None, tzinfo=None, "
    "precision=None, fractional_precision=None, fractional_seconds=None, fold=0)\n--\n\n"
    "A datetime that keeps all of an Ion timestamp: its precision and each fractional digit.\n\n"
    "An unknown offset is tzinfo None. The fraction is given as microsecond, with "
    "fractional_precision\ndigits (6 by default), or as fractional_seconds, a Decimal of any "
    "number "
    "of digits. Compares and\nhashes as a datetime. Without precision it is precise to the "
    "second.");

static PyType_Slot Timestamp_slots[] = {
    {Py_tp_doc, (void *)Timestamp_doc},
    {Py_tp_new, Timestamp_new},
    /* datetime's own would allocate a datetime, and without its tzinfo where there is none. */
    {Py_tp_alloc, PyType_GenericAlloc},
    {Py_tp_free, PyObject_GC_Del},
    {Py_tp_dealloc, Timestamp_dealloc},
    {Py_tp_traverse, Timestamp_traverse},
    {Py_tp_repr, Timestamp_repr},
    {Py_tp_methods, Timestamp_methods},
    {Py_tp_getset, Timestamp_getset},
    {Py_nb_add, Timestamp_add},
    {Py_nb_subtract, Timestamp_subtract},
    {0, NULL},
};

static PyType_Spec Timestamp_spec = {
    .name = "ionfast.Timestamp",
    .basicsize = sizeof(Timestamp),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .slots = Timestamp_slots,
};

/* Until the Python half puts the enum's members there. */
static int
set_plain_precisions(PyTypeObject *type)
{
    PyObject *numbers = Py_BuildValue("(iiiii)", 0, 1, 2, 3, 4);
    if (numbers == NULL) {
        return -1;
    }
    const int result = PyObject_SetAttrString((PyObject *)type, "_precisions", numbers);
    Py_DECREF(numbers);
    return result;
}

int
ionfast_time_exec(PyObject *module, ionfast_state *state)
{
    /* The API's pointer is the same in every interpreter; a failure here must not take it away
     * from those that have it. */
    PyDateTime_CAPI *api = (PyDateTime_CAPI *)PyCapsule_Import(PyDateTime_CAPSULE_NAME, 0);
    if (api == NULL) {
        return -1;
    }
    PyDateTimeAPI = api;
    state->utc = Py_NewRef(PyDateTime_TimeZone_UTC);
    state->Timestamp = (PyTypeObject *)PyType_FromModuleAndSpec(module, &Timestamp_spec,
                                                                (PyObject *)api->DateTimeType);
    if (state->Timestamp == NULL || set_plain_precisions(state->Timestamp) < 0) {
        return -1;
    }
    return PyModule_AddType(module, state->Timestamp);
}
