/* Status codes of every core function, their table, and the error record a reader or writer keeps.
 *
 * Knows nothing of Python: the binding turns an ionf_error into an exception in one place.
 */
#ifndef IONF_STATUS_H
#define IONF_STATUS_H

#include "ionf_base.h"

/* One row a code: name, and what went wrong, as the middle of a sentence. */
#define IONF_STATUS_TABLE(X)                                                                      \
    X(IONF_OK, "no error")                                                                        \
    X(IONF_NEED_DATA, "more input is needed")                                                     \
    X(IONF_ERR_NOMEM, "out of memory")                                                            \
    X(IONF_ERR_SYNTAX, "unexpected character")                                                    \
    X(IONF_ERR_TRUNCATED, "the input ends inside a value")                                        \
    X(IONF_ERR_UTF8, "invalid UTF-8")                                                             \
    X(IONF_ERR_ESCAPE, "invalid escape sequence")                                                 \
    X(IONF_ERR_NUMBER, "invalid number")                                                          \
    X(IONF_ERR_DECIMAL, "invalid decimal")                                                        \
    X(IONF_ERR_TIMESTAMP, "invalid timestamp")                                                    \
    X(IONF_ERR_BASE64, "invalid base64")                                                          \
    X(IONF_ERR_LOB, "invalid blob or clob")                                                       \
    X(IONF_ERR_LENGTH, "a length overruns its container")                                         \
    X(IONF_ERR_TYPECODE, "invalid type descriptor")                                               \
    X(IONF_ERR_VARINT, "variable-length integer out of range")                                    \
    X(IONF_ERR_INT, "invalid int")                                                                \
    X(IONF_ERR_FLOAT, "invalid float length")                                                     \
    X(IONF_ERR_ANNOTATION, "invalid annotation wrapper")                                          \
    X(IONF_ERR_STRUCT, "invalid struct")                                                          \
    X(IONF_ERR_SID, "symbol ID out of range")                                                     \
    X(IONF_ERR_SYMTAB, "invalid symbol table")                                                    \
    X(IONF_ERR_IMPORT, "an import cannot be resolved")                                            \
    X(IONF_ERR_VERSION, "unsupported Ion version")                                                \
    X(IONF_ERR_NOT_ION, "the input is not Ion")                                                   \
    X(IONF_ERR_DEPTH, "containers are nested deeper than max_depth")                              \
    X(IONF_ERR_VALUE_SIZE, "a value is larger than max_value_size")                               \
    X(IONF_ERR_RANGE, "a number is out of the supported range")                                   \
    X(IONF_ERR_STATE, "the call is not possible here")                                            \
    X(IONF_ERR_RESERVED, "the value is reserved for the Ion encoding")                            \
    X(IONF_ERR_INTERRUPTED, "interrupted")

typedef enum ionf_status {
#define IONF_STATUS_ENUM(name, text) name,
    IONF_STATUS_TABLE(IONF_STATUS_ENUM)
#undef IONF_STATUS_ENUM
        IONF_STATUS_COUNT
} ionf_status;

/* `found` when there is no single byte or code point to name. */
#define IONF_FOUND_NONE (-2)
/* `found` when the input ended. */
#define IONF_FOUND_END (-1)

/* Where and why reading stopped. Filled once, by the first failure; a zeroed record is "no error". */
typedef struct ionf_error {
    ionf_status status;
    int32_t found;   /* byte or code point found, IONF_FOUND_END or IONF_FOUND_NONE */
    uint64_t offset; /* bytes from the start of the stream */
    uint64_t line;   /* from 1; 0 in binary */
    uint64_t column; /* in code points, from 1; 0 in binary */
    const char
        *expected; /* static text: "',' or '}' in struct"; NULL when the status says it all */
} ionf_error;

/* The row's text: static, never NULL, for any value of `status`. */
const char *ionf_status_text(ionf_status status);

/* The code's own name, "IONF_ERR_SYNTAX"; for tests and logs. */
const char *ionf_status_name(ionf_status status);

#endif
