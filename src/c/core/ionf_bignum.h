/* Natural numbers of bounded size on the stack: what exact comparisons of powers of ten need.
 *
 * Knows nothing of Ion and allocates nothing. A caller shows by its own bounds that a result fits.
 */
#ifndef IONF_BIGNUM_H
#define IONF_BIGNUM_H

#include "ionf_base.h"

/* 8448 bits: IONF_NUM_EXACT_BITS and a power of ten near it. */
#define IONF_BIGNUM_LIMBS 264

/* Little-endian limbs; the highest one in use is not 0, and 0 has none. */
typedef struct ionf_bignum {
    size_t count;
    uint32_t limbs[IONF_BIGNUM_LIMBS];
} ionf_bignum;

void ionf_bignum_set_u64(ionf_bignum *number, uint64_t value);
/* From `len` ASCII digits. */
void ionf_bignum_set_digits(ionf_bignum *number, const uint8_t *digits, size_t len);
/* From `len` big-endian bytes. */
void ionf_bignum_set_be(ionf_bignum *number, const uint8_t *bytes, size_t len);
/* number * factor + addend. */
void ionf_bignum_mul_add(ionf_bignum *number, uint32_t factor, uint32_t addend);
/* number * 5 ** exponent. */
void ionf_bignum_mul_pow5(ionf_bignum *number, unsigned exponent);
/* number * 2 ** bits. */
void ionf_bignum_shift_left(ionf_bignum *number, unsigned bits);
/* Negative, 0 or positive, as a is less than, equal to or greater than b. */
int ionf_bignum_compare(const ionf_bignum *a, const ionf_bignum *b);

#endif
