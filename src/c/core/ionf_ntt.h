/* Products of huge naturals in n log n time, by a number-theoretic transform: what base conversion of
 * millions of digits needs.
 *
 * Knows nothing of Ion and allocates nothing; `host` is asked about once a millisecond whether to go on, and
 * IONF_ERR_INTERRUPTED, the only failure, leaves rubbish in the results. Below IONF_NTT_MIN limbs Karatsuba's
 * method is faster.
 */
#ifndef IONF_NTT_H
#define IONF_NTT_H

#include "ionf_alloc.h"

/* Where it begins to pay: 256 limbs took 0.9 of Karatsuba's time in base 10 ** 9, 1.1 in 2 ** 32. */
#define IONF_NTT_MIN 512

/* A number of `count` limbs, transformed: so many words. */
#define IONF_NTT_FACTOR_WORDS(count) (4 * (count))
/* Roots for products of `count` limbs. */
#define IONF_NTT_ROOT_WORDS(count) (2 * (count))
/* Scratch of one product. */
#define IONF_NTT_SCRATCH_WORDS(count) (6 * (count))

/* `count` is a power of two up to 2 ** 30; the roots for it serve as well for every smaller one. */
IONF_MUST_CHECK ionf_status ionf_ntt_roots(uint64_t *roots, size_t count, const ionf_alloc *host);
/* Transform `limbs`, `count` of them. */
IONF_MUST_CHECK ionf_status ionf_ntt_transform(uint64_t *factor, const uint32_t *limbs,
                                               size_t count, const uint64_t *roots,
                                               const ionf_alloc *host);
/* dst (2 * count limbs) = a * factor, in limbs of `base`, 10 ** 9 or 2 ** 32. */
IONF_MUST_CHECK ionf_status ionf_ntt_multiply(uint32_t *dst, const uint32_t *a,
                                              const uint64_t *factor, size_t count, uint64_t base,
                                              const uint64_t *roots, uint64_t *scratch,
                                              const ionf_alloc *host);

#endif
