/* Base64 for blobs. Specification: spec.md, "Blobs"; RFC 4648, section 4.
 *
 * The specification names what must be refused: other characters, padding within the data, a wrong
 * number of padding characters. Bits that the padding leaves unused are none of these.
 */
#include "ionf_b64.h"

#define SPACE 64 /* Ion whitespace */
#define OTHER 65

static const uint8_t alphabet[65] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* Value of each byte as a base64 character, SPACE or OTHER. Its text is one line a quarter:
 * controls and punctuation with digits, upper case, lower case, not ASCII. */
#define X OTHER
#define S SPACE
/* clang-format off */
static const uint8_t values[256] = {
    X,X,X,X,X,X,X,X,X,S,S,S,S,S,X,X, X,X,X,X,X,X,X,X,X,X,X,X,X,X,X,X,
    S,X,X,X,X,X,X,X,X,X,X,62,X,X,X,63, 52,53,54,55,56,57,58,59,60,61,X,X,X,X,X,X,
    X,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14, 15,16,17,18,19,20,21,22,23,24,25,X,X,X,X,X,
    X,26,27,28,29,30,31,32,33,34,35,36,37,38,39,40, 41,42,43,44,45,46,47,48,49,50,51,X,X,X,X,X,
    X,X,X,X,X,X,X,X,X,X,X,X,X,X,X,X, X,X,X,X,X,X,X,X,X,X,X,X,X,X,X,X,
    X,X,X,X,X,X,X,X,X,X,X,X,X,X,X,X, X,X,X,X,X,X,X,X,X,X,X,X,X,X,X,X,
    X,X,X,X,X,X,X,X,X,X,X,X,X,X,X,X, X,X,X,X,X,X,X,X,X,X,X,X,X,X,X,X,
    X,X,X,X,X,X,X,X,X,X,X,X,X,X,X,X, X,X,X,X,X,X,X,X,X,X,X,X,X,X,X,X,
};
/* clang-format on */
#undef X
#undef S

static inline void
encode_triple(uint8_t *dst, uint32_t bits)
{
    dst[0] = alphabet[bits >> 18];
    dst[1] = alphabet[bits >> 12 & 63u];
    dst[2] = alphabet[bits >> 6 & 63u];
    dst[3] = alphabet[bits & 63u];
}

ionf_status
ionf_b64_encode(const uint8_t *data, size_t len, ionf_buf *out)
{
    size_t size;
    if (len == 0) {
        return IONF_OK;
    }
    if (!ionf_size_mul(len / 3 + (len % 3 != 0), 4, &size)) {
        return IONF_ERR_NOMEM;
    }
    const ionf_status status = ionf_buf_reserve(out, size);
    if (status != IONF_OK) {
        return status;
    }
    uint8_t *w = out->data + out->len;
    size_t i = 0;
    for (size_t stop = 0; len - i >= 3;) {
        stop = len - i > IONF_STEP_BYTES ? i + IONF_STEP_BYTES : len;
        for (; stop - i >= 3; i += 3, w += 4) {
            encode_triple(w, (uint32_t)data[i] << 16 | (uint32_t)data[i + 1] << 8 | data[i + 2]);
        }
        if (stop != len && ionf_alloc_ask(&out->alloc) != IONF_OK) {
            return IONF_ERR_INTERRUPTED;
        }
    }
    if (len - i == 1) {
        encode_triple(w, (uint32_t)data[i] << 16);
        memcpy(w + 2, "==", 2);
    } else if (len - i == 2) {
        encode_triple(w, (uint32_t)data[i] << 16 | (uint32_t)data[i + 1] << 8);
        w[3] = '=';
    }
    out->len += size;
    return IONF_OK;
}

static inline uint8_t *
put_triple(uint8_t *w, uint32_t bits)
{
    w[0] = (uint8_t)(bits >> 16);
    w[1] = (uint8_t)(bits >> 8);
    w[2] = (uint8_t)bits;
    return w + 3;
}

/* Decode groups of four characters that nothing interrupts; `*i` moves past them. */
static uint8_t *
decode_quads(const uint8_t *text, size_t len, size_t *i, uint8_t *w)
{
    size_t at = *i;
    while (len - at >= 4) {
        const uint32_t a = values[text[at]];
        const uint32_t b = values[text[at + 1]];
        const uint32_t c = values[text[at + 2]];
        const uint32_t d = values[text[at + 3]];
        if ((a | b | c | d) >= SPACE) {
            break;
        }
        w = put_triple(w, a << 18 | b << 12 | c << 6 | d);
        at += 4;
    }
    *i = at;
    return w;
}

static size_t
skip_spaces(const uint8_t *text, size_t len, size_t i)
{
    while (i < len && values[text[i]] == SPACE) {
        i++;
    }
    return i;
}

/* From the first '=' on: exactly what completes the `count` characters of the last group, and
 * whitespace. False with `*i` at the offence. */
static bool
padding_is_right(const uint8_t *text, size_t len, size_t *i, unsigned count)
{
    for (unsigned needed = count >= 2 ? 4 - count : 0; needed != 0; needed--) {
        *i = skip_spaces(text, len, *i);
        if (*i == len || text[*i] != '=') {
            return false;
        }
        ++*i;
    }
    *i = skip_spaces(text, len, *i);
    return *i == len && count != 1;
}

/* Decode into `*dst`, which has room, and move it past that; on failure `*at` is at the offence. */
static ionf_status
decode_text(const uint8_t *text, size_t len, uint8_t **dst, size_t *at, const ionf_alloc *host)
{
    uint8_t *w = *dst;
    uint32_t bits = 0;
    unsigned count = 0; /* characters of the group that is open, in `bits` */
    size_t i = 0;
    size_t stop = len > IONF_STEP_BYTES ? IONF_STEP_BYTES : len; /* where to ask next */
    while (i < len) {
        if (IONF_UNLIKELY(i >= stop)) {
            stop = len - i > IONF_STEP_BYTES ? i + IONF_STEP_BYTES : len;
            if (ionf_alloc_ask(host) != IONF_OK) {
                return IONF_ERR_INTERRUPTED;
            }
        }
        if (count == 0) {
            w = decode_quads(text, stop, &i, w);
            if (i == stop) {
                continue;
            }
        }
        const uint8_t value = values[text[i]];
        if (value < SPACE) {
            bits = bits << 6 | value;
            if (++count == 4) {
                w = put_triple(w, bits);
                bits = 0;
                count = 0;
            }
        } else if (value == OTHER) {
            break;
        }
        i++;
    }
    *at = i;
    if (!padding_is_right(text, len, at, count)) {
        return IONF_ERR_BASE64;
    }
    if (count != 0) {
        w = put_triple(w, bits << (6 * (4 - count))) - (4 - count);
    }
    *dst = w;
    return IONF_OK;
}

ionf_status
ionf_b64_decode(const uint8_t *text, size_t len, ionf_buf *out, size_t *error_at)
{
    /* Three bytes for every four characters begun: never less than what is stored. */
    ionf_status status = ionf_buf_reserve(out, len / 4 * 3 + 3);
    if (status != IONF_OK) {
        return status;
    }
    uint8_t *end = out->data + out->len;
    status = decode_text(text, len, &end, error_at, &out->alloc);
    if (status == IONF_OK) {
        out->len = (size_t)(end - out->data);
    }
    return status;
}
