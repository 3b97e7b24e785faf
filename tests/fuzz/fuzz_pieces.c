/* Target: input that arrives in random pieces reads as the whole does: the same tokens at the same
 * offsets, the same first error at the same place. Each piece stands in memory of just its size. In pieces,
 * plain binary values are taken without ionf_bin_next.
 *
 * One difference is right: a binary container that is longer than the whole input is an error at once,
 * but in pieces only when the input has ended, after the tokens of the part that is there. */
#include "../c/take.h"
#include "fuzz.h"

typedef struct feed {
    const uint8_t *data;
    size_t size, arrived;
    uint8_t *window; /* owned: data[consumed .. arrived) */
    size_t consumed;
    uint64_t state; /* of the random sizes */
} feed;

static uint64_t
feed_random(feed *f)
{
    f->state = f->state * 6364136223846793005u + 1442695040888963407u;
    return f->state >> 33;
}

/* Another piece: mostly a few bytes, sometimes many or none. */
static void
feed_grow(feed *f)
{
    const size_t left = f->size - f->arrived;
    const uint64_t random = feed_random(f);
    size_t piece = random % 8 == 0 ? random / 8 % 64 : random / 8 % 4;
    piece = piece < left ? piece : left;
    f->arrived += piece;
    uint8_t *const old = f->window;
    f->window = malloc(f->arrived - f->consumed + 1);
    FUZZ_CHECK(f->window != NULL);
    memcpy(f->window, f->data + f->consumed, f->arrived - f->consumed);
    free(old);
}

/* After IONF_NEED_DATA. */
static void
feed_more(feed *f, fuzz_reader *r)
{
    FUZZ_CHECK(f->arrived < f->size || !fuzz_base(r)->is_final);
    f->consumed +=
        r->is_binary ? ionf_bin_reader_release(&r->bin) : ionf_txt_reader_release(&r->txt);
    FUZZ_CHECK(f->consumed <= f->arrived);
    feed_grow(f);
    /* The end may become known with the last byte, or only after it. */
    const bool is_final = f->arrived == f->size && feed_random(f) % 2 == 0;
    const size_t len = f->arrived - f->consumed;
    if (r->is_binary) {
        ionf_bin_reader_window(&r->bin, f->window, len, is_final);
    } else {
        ionf_txt_reader_window(&r->txt, f->window, len, is_final);
    }
}

/* As the bytes of the input say, a container is left early. */
static bool
wants_skip(const uint8_t *data, size_t size, size_t count, const fuzz_reader *r)
{
    const ionf_reader *const base = r->is_binary ? &r->bin.base : &r->txt.base;
    return base->depth != 0 && (data[count % size] & 15) == 5;
}

static ionf_status
step_once(fuzz_reader *r, const feed *f, ionf_token *token)
{
    if (token == NULL) {
        return fuzz_skip(r);
    }
    return f != NULL && r->is_binary ? take_or_next(&r->bin, token) : fuzz_next(r, token);
}

static ionf_status
step(fuzz_reader *r, feed *f, ionf_token *token)
{
    for (;;) {
        const ionf_status status = step_once(r, f, token);
        if (status != IONF_NEED_DATA) {
            return status;
        }
        FUZZ_CHECK(f != NULL);
        feed_more(f, r);
    }
}

/* Gives the first error, which is not logged yet. */
static ionf_status
read_logged(fuzz_reader *r, feed *f, fuzz_log *log, const uint8_t *data, size_t size, bool skips)
{
    for (size_t count = 0;; count++) {
        ionf_token token;
        ionf_status status = step(r, f, &token);
        if (status == IONF_OK) {
            fuzz_log_token(log, &fuzz_base(r)->symtab, &token);
            if (token.kind == IONF_KIND_EOF) {
                return IONF_OK;
            }
            if (skips && wants_skip(data, size, count, r)) {
                status = step(r, f, NULL);
            }
        }
        if (status != IONF_OK) {
            return status;
        }
    }
}

static void
compare(const uint8_t *data, size_t size, const ionf_limits *limits, uint64_t seed, bool skips)
{
    fuzz_heap heap;
    const ionf_alloc alloc = fuzz_alloc(&heap, size);
    const bool is_binary = fuzz_is_binary(data, size);
    fuzz_reader r;
    fuzz_log whole, pieces;
    fuzz_reader_init(&r, alloc);
    fuzz_log_init(&whole, ionf_alloc_libc(), true);
    fuzz_log_init(&pieces, ionf_alloc_libc(), true);
    fuzz_reader_open(&r, is_binary, data, size, true, limits, NULL);
    const ionf_status status = read_logged(&r, NULL, &whole, data, size, skips);
    const ionf_error error = fuzz_base(&r)->error;
    fuzz_reader_reset(&r);
    feed f = {.data = data, .size = size, .state = seed};
    feed_grow(&f);
    fuzz_reader_open(&r, is_binary, f.window, f.arrived, false, limits, NULL);
    const ionf_status later = read_logged(&r, &f, &pieces, data, size, skips);
    if (is_binary && status == IONF_ERR_TRUNCATED) {
        FUZZ_CHECK(later != IONF_OK && pieces.bytes.len >= whole.bytes.len);
        pieces.bytes.len = whole.bytes.len;
    } else {
        FUZZ_CHECK(status == later);
        fuzz_log_error(&whole, &error);
        fuzz_log_error(&pieces, &fuzz_base(&r)->error);
    }
    FUZZ_CHECK(fuzz_log_equals(&whole, &pieces));
    free(f.window);
    fuzz_log_destroy(&whole);
    fuzz_log_destroy(&pieces);
    fuzz_reader_destroy(&r);
    fuzz_heap_end(&heap);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t seed = size;
    for (size_t i = 0; i < size; i++) {
        seed = seed * 1099511628211u ^ data[i];
    }
    const ionf_limits limits = ionf_limits_default();
    compare(data, size, &limits, seed, false);
    if (size != 0) {
        const ionf_limits small = {seed % 4 == 0 ? 2 : 1000, IONF_UNLIMITED};
        compare(data, size, &small, seed + 1, true);
    }
    return 0;
}
