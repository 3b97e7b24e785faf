/* ionf_bin_next with ionf_bin_take before it wherever that may be called: the tokens are the same. */
#ifndef TAKE_H
#define TAKE_H

#include "ionf_bin_read.h"

static inline void
take_set_value(const ionf_bin_reader *r, const ionf_bin_item *item, ionf_token *token)
{
    switch (item->type) {
    case IONF_TYPE_BOOL:
        token->as.boolean = item->is_true;
        break;
    case IONF_TYPE_INT_POSITIVE:
    case IONF_TYPE_INT_NEGATIVE:
        ionf_bin_integer_set(&token->as.integer, ionf_bin_item_uint(r, item),
                             item->type == IONF_TYPE_INT_NEGATIVE);
        break;
    case IONF_TYPE_FLOAT:
        token->as.f64 = ionf_bin_item_float(item);
        break;
    case IONF_TYPE_STRING:
        token->as.bytes.data = item->content;
        token->as.bytes.len = item->len;
        break;
    default:
        token->is_null = true;
        break;
    }
}

/* What a caller of ionf_bin_take has to see to. */
static inline ionf_status
take_check_string(ionf_bin_reader *r, const ionf_bin_item *item, ionf_token *token)
{
    token->is_ascii = item->is_ascii || ionf_utf8_is_ascii(item->content, item->len);
    const size_t valid = ionf_utf8_check(item->content, item->len, NULL);
    if (valid != item->len) {
        ionf_bin_refuse_string(r, token, valid);
        return r->base.error.status;
    }
    return IONF_OK;
}

static inline ionf_status
take_or_next(ionf_bin_reader *r, ionf_token *token)
{
    ionf_bin_item item = {0}; /* gcc does not see that a struct's item has its sid */
    const bool is_struct = r->mode == IONF_BIN_STRUCT;
    if (r->base.depth == 0 || r->base.in_lst || r->mode == IONF_BIN_CAREFUL ||
        !ionf_bin_take(r, is_struct, &item)) {
        return ionf_bin_next(r, token);
    }
    ionf_bin_token_begin(token, ionf_bin_kind(item.type), ionf_reader_offset(&r->base, item.start),
                         item.len);
    token->has_field = is_struct;
    if (is_struct) {
        const ionf_symref field = {NULL, 0, item.sid, false};
        token->field = field;
    }
    take_set_value(r, &item, token);
    return item.type == IONF_TYPE_STRING ? take_check_string(r, &item, token) : IONF_OK;
}

#endif
