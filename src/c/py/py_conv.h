/* Conversions of single values between the core's forms and Python objects, both ways.
 *
 * Each `..._from` gives a new reference, or NULL with an exception set. Each `..._to` gives 0, or -1
 * with an exception set; what it returns through `out` may borrow from the object or from `scratch`,
 * until either changes. `cls` is the class to make: the plain Python type or an IonPy* subclass of it.
 */
#ifndef PY_CONV_H
#define PY_CONV_H

#include "py_state.h"

#include "ionf_buf.h"
#include "ionf_symtab.h"
#include "ionf_token.h"

/* py_int.c: the only user of the big-int API. */
PyObject *ionfast_int_from(ionfast_state *state, const ionf_integer *integer);
int ionfast_int_to(ionfast_state *state, PyObject *value, ionf_integer *out, ionf_buf *scratch);
/* The same in IONF_INT_DIGITS form when it does not fit 64 bits, for text. */
int ionfast_int_to_digits(ionfast_state *state, PyObject *value, ionf_integer *out,
                          ionf_buf *scratch);

/* py_decimal.c: the only user of Decimal. */
PyObject *ionfast_decimal_from(ionfast_state *state, const ionf_decimal *decimal,
                               PyTypeObject *cls);
/* NaN and infinities: a ValueError that says that Ion has no such decimal. */
int ionfast_decimal_to(ionfast_state *state, PyObject *value, ionf_decimal *out,
                       ionf_buf *scratch);

/* py_time.c: the only user of datetime.h. */
PyObject *ionfast_timestamp_from(ionfast_state *state, const ionf_timestamp *ts,
                                 PyTypeObject *cls);
/* A plain datetime, or a plain date: 1, or 0 when it would not hold all of the timestamp; -1 with an
 * exception. A datetime takes minutes to microseconds, a date a day. */
int ionfast_datetime_from(ionfast_state *state, const ionf_timestamp *ts, PyObject **out);
int ionfast_date_from(const ionf_timestamp *ts, PyObject **out);
/* A Timestamp, datetime or date (or subclass). */
int ionfast_timestamp_to(ionfast_state *state, PyObject *value, ionf_timestamp *out,
                         ionf_buf *scratch);
/* Is it a datetime.date or datetime.datetime, subclasses included? */
bool ionfast_is_date(PyObject *value);
/* Exact-type tests for level 1 dispatch: the type objects datetime.datetime and datetime.date. */
PyTypeObject *ionfast_datetime_type(void);
PyTypeObject *ionfast_date_type(void);

/* py_symbols.c: tables and the catalog. */
/* The core's view of a Catalog object, or of None (NULL). -1 with TypeError for anything else. */
int ionfast_catalog_of(ionfast_state *state, PyObject *object, const ionf_catalog **out);
/* The table of a Catalog with this name, a str, and this very version, an int, or, with None, its greatest
 * one: new reference. NULL with an exception; IonError when it is not there. */
PyObject *ionfast_catalog_table(ionfast_state *state, PyObject *catalog, PyObject *name,
                                PyObject *version);
/* The core's view of a SharedSymbolTable, borrowed from the object; NULL with TypeError. */
const ionf_shared *ionfast_shared_of(ionfast_state *state, PyObject *object);
/* New reference to the str of symbol `index` (from 0) of a table that came from a SharedSymbolTable;
 * the symbol has text. */
PyObject *ionfast_shared_symbol_str(const ionf_shared *shared, uint64_t index);

#endif
