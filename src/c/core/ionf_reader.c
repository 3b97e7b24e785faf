/* What the binary and the text reader share: life cycle, the window, the first error, and feeding
 * a local symbol table. Knows neither encoding. */
#include "ionf_reader.h"

const uint8_t ionf_reader_nothing[1] = {0};
const ionf_error ionf_no_error = {IONF_OK, IONF_FOUND_NONE, 0, 0, 0, NULL};

ionf_status
ionf_reader_fail(ionf_reader *r, ionf_status status, const uint8_t *at, int32_t found,
                 const char *expected)
{
    if (r->error.status != IONF_OK) {
        return r->error.status;
    }
    r->error.status = status;
    r->error.found = found;
    r->error.offset = ionf_reader_offset(r, at);
    r->error.expected = expected;
    return status;
}

void
ionf_reader_base_init(ionf_reader *r, ionf_alloc alloc)
{
    r->alloc = alloc;
    r->end = ionf_reader_nothing;
    r->error = ionf_no_error;
    r->limits = ionf_limits_default();
    ionf_symtab_init(&r->symtab, alloc);
    ionf_lst_init(&r->lst, &r->symtab);
    ionf_reader_stream_clear(r);
}

void
ionf_reader_base_destroy(ionf_reader *r)
{
    ionf_lst_destroy(&r->lst);
    ionf_symtab_destroy(&r->symtab);
    ionf_reader_stream_clear(r);
}

size_t
ionf_reader_base_retained(const ionf_reader *r)
{
    return ionf_symtab_retained(&r->symtab) + ionf_lst_retained(&r->lst);
}

size_t
ionf_reader_base_release(ionf_reader *r)
{
    const size_t consumed = (size_t)(r->p - r->start);
    r->base_offset += consumed;
    r->start = r->p;
    return consumed;
}

void
ionf_reader_base_window(ionf_reader *r, const uint8_t *data, size_t len, bool is_final)
{
    (void)ionf_reader_base_release(r);
    ionf_reader_window_set(r, data, len, is_final);
}

ionf_status
ionf_reader_lst_token(ionf_reader *r, const ionf_token *token, const uint8_t *at)
{
    bool is_done = false;
    const ionf_status status = ionf_lst_token(&r->lst, token, &is_done);
    if (status != IONF_OK) {
        return ionf_reader_fail(r, status, at, IONF_FOUND_NONE, r->lst.expected);
    }
    r->in_lst = !is_done;
    return IONF_OK;
}

ionf_status
ionf_reader_lst_null(ionf_reader *r, const uint8_t *at)
{
    ionf_token end = {0};
    end.kind = IONF_KIND_END;
    ionf_reader_lst_begin(r);
    return ionf_reader_lst_token(r, &end, at);
}
