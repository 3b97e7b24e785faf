/* What the fuzz targets share: checks that end the process, an allocator that knows what is held, a
 * catalog of known tables, one reader for both encodings, and a log of what was read.
 *
 * A target is a C file with LLVMFuzzerTestOneInput. It links with fuzz_common.c and fuzz_mutate.c and
 * with either libFuzzer or the plain driver, fuzz_main.c. See run.sh.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdio.h>
#include <stdlib.h>

#include "ionf_bin_read.h"
#include "ionf_txt_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What a target found wrong ends the process, so that a driver sees it as a crash. */
#define FUZZ_CHECK(condition)                                                                     \
    do {                                                                                          \
        if (!(condition)) {                                                                       \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);             \
            abort();                                                                              \
        }                                                                                         \
    } while (0)

/* ---- memory: held bytes never go past 64 MB and 64 times the input, and none stay behind */

typedef struct fuzz_heap {
    size_t live, limit;
} fuzz_heap;

/* `heap` must outlive what is allocated. */
ionf_alloc fuzz_alloc(fuzz_heap *heap, size_t input_size);
/* Nothing is held any more. */
void fuzz_heap_end(const fuzz_heap *heap);

/* ---- shared tables "t" (versions 1 and 2) and "u" (version 3), some slots without text */

const ionf_catalog *fuzz_catalog(void);
/* Every table that was retained has been released. */
void fuzz_catalog_end(void);

/* ---- either reader */

typedef struct fuzz_reader {
    ionf_bin_reader bin;
    ionf_txt_reader txt;
    ionf_buf scratch;
    bool is_binary;
} fuzz_reader;

void fuzz_reader_init(fuzz_reader *r, ionf_alloc alloc);
void fuzz_reader_reset(fuzz_reader *r);
void fuzz_reader_destroy(fuzz_reader *r);
/* Binary or text by the first byte of the whole input, as the binding does it. */
void fuzz_reader_open(fuzz_reader *r, bool is_binary, const uint8_t *data, size_t size,
                      bool is_final, const ionf_limits *limits, const ionf_catalog *catalog);
/* Opened on the first bytes of the input: what is left of it, which is all. */
void fuzz_reader_rest(fuzz_reader *r, const uint8_t *data, size_t size);
ionf_status fuzz_next(fuzz_reader *r, ionf_token *token);
ionf_status fuzz_skip(fuzz_reader *r);

static inline bool
fuzz_is_binary(const uint8_t *data, size_t size)
{
    return size != 0 && data[0] == 0xE0;
}

static inline ionf_reader *
fuzz_base(fuzz_reader *r)
{
    return r->is_binary ? &r->bin.base : &r->txt.base;
}

/* ---- the log: bytes that are equal when the same data was read */

typedef struct fuzz_log {
    ionf_buf bytes;
    bool has_offsets; /* stream offsets count as data */
} fuzz_log;

void fuzz_log_init(fuzz_log *log, ionf_alloc alloc, bool has_offsets);
void fuzz_log_destroy(fuzz_log *log);
void fuzz_log_bytes(fuzz_log *log, const void *data, size_t size);
void fuzz_log_number(fuzz_log *log, uint64_t value);
void fuzz_log_integer(fuzz_log *log, const ionf_integer *integer);
/* One token; SIDs in it are those of `tab`. Checks what a token promises on the way. */
void fuzz_log_token(fuzz_log *log, const ionf_symtab *tab, const ionf_token *token);
/* The reader's first error, with its position if `has_offsets`. */
void fuzz_log_error(fuzz_log *log, const ionf_error *error);
/* Read to the end or to the first error, which is given back, logging everything. */
ionf_status fuzz_read_all(fuzz_reader *r, fuzz_log *log);
/* The same data? Tells where the logs part if not. */
bool fuzz_log_equals(const fuzz_log *a, const fuzz_log *b);

/* ---- the structure-aware mutator for binary Ion (fuzz_mutate.c) */

/* Change `size` bytes at `data`, which has room for `cap`; gives the new size. Any input is taken;
 * what is not binary Ion is changed byte by byte. */
size_t fuzz_mutate(uint8_t *data, size_t size, size_t cap, uint64_t seed);

#endif
