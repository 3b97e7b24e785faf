/* Natural numbers of bounded size. All loops are quadratic: this is for rare comparisons. */
#include "ionf_bignum.h"

#include <assert.h>

static void
push_limb(ionf_bignum *number, uint32_t limb)
{
    assert(number->count < IONF_BIGNUM_LIMBS);
    number->limbs[number->count++] = limb;
}

void
ionf_bignum_set_u64(ionf_bignum *number, uint64_t value)
{
    number->count = 0;
    for (; value != 0; value >>= 32) {
        push_limb(number, (uint32_t)value);
    }
}

void
ionf_bignum_mul_add(ionf_bignum *number, uint32_t factor, uint32_t addend)
{
    uint64_t carry = addend;
    for (size_t i = 0; i < number->count; i++) {
        carry += (uint64_t)number->limbs[i] * factor;
        number->limbs[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry != 0) {
        push_limb(number, (uint32_t)carry);
    }
}

void
ionf_bignum_set_digits(ionf_bignum *number, const uint8_t *digits, size_t len)
{
    number->count = 0;
    while (len != 0) {
        const size_t group = len < 9 ? len : 9;
        uint32_t factor = 1;
        uint32_t value = 0;
        for (size_t i = 0; i < group; i++) {
            factor *= 10;
            value = value * 10 + (digits[i] - (uint32_t)'0');
        }
        ionf_bignum_mul_add(number, factor, value);
        digits += group;
        len -= group;
    }
}

void
ionf_bignum_set_be(ionf_bignum *number, const uint8_t *bytes, size_t len)
{
    while (len != 0 && *bytes == 0) {
        bytes++;
        len--;
    }
    number->count = 0;
    while (len != 0) {
        const size_t group = len < 4 ? len : 4;
        uint32_t limb = 0;
        for (size_t i = len - group; i < len; i++) {
            limb = limb << 8 | bytes[i];
        }
        push_limb(number, limb);
        len -= group;
    }
}

void
ionf_bignum_mul_pow5(ionf_bignum *number, unsigned exponent)
{
    /* 5 ** 13 is the greatest that fits a limb. */
    for (; exponent >= 13; exponent -= 13) {
        ionf_bignum_mul_add(number, 1220703125u, 0);
    }
    uint32_t factor = 1;
    for (; exponent != 0; exponent--) {
        factor *= 5;
    }
    ionf_bignum_mul_add(number, factor, 0);
}

void
ionf_bignum_shift_left(ionf_bignum *number, unsigned bits)
{
    ionf_bignum_mul_add(number, (uint32_t)1 << bits % 32, 0);
    const size_t limbs = bits / 32;
    if (number->count == 0 || limbs == 0) {
        return;
    }
    assert(limbs <= IONF_BIGNUM_LIMBS - number->count);
    memmove(number->limbs + limbs, number->limbs, number->count * sizeof *number->limbs);
    memset(number->limbs, 0, limbs * sizeof *number->limbs);
    number->count += limbs;
}

int
ionf_bignum_compare(const ionf_bignum *a, const ionf_bignum *b)
{
    if (a->count != b->count) {
        return a->count < b->count ? -1 : 1;
    }
    for (size_t i = a->count; i != 0; i--) {
        if (a->limbs[i - 1] != b->limbs[i - 1]) {
            return a->limbs[i - 1] < b->limbs[i - 1] ? -1 : 1;
        }
    }
    return 0;
}
