/* Base conversion, divide and conquer from the bottom up.
 *
 * The source is cut into limbs of base A, and runs of limbs into blocks. A block becomes a number
 * in the target base B by Horner's rule; then neighbours join, level by level:
 *
 *   [ block 0 | block 1 | block 2 | block 3 ]        LEAF limbs of base B each
 *   [ block 1 * P + block 0 | block 3 * P + block 2 ]        P = A ** (limbs of a block)
 *   [ ... * P ** 2 + ... ]
 *
 * All arithmetic is in base B, so that both directions are the same code: A and B are 10 ** 9 and
 * 2 ** 32, or the other way round. Every product is of two numbers of LEAF * 2 ** n limbs, which
 * is what Karatsuba's method likes best, and the transform of ionf_ntt.c that takes over where the
 * numbers are huge.
 */
#include "ionf_radix.h"

#include "ionf_ntt.h"
#include "ionf_num.h"

#define BASE_DECIMAL UINT64_C(1000000000)
#define BASE_BINARY (UINT64_C(1) << 32)
/* Limbs of a block in the target base; also where Karatsuba's method ends and the plain one
 * begins. */
#define LEAF 32
/* Limbs of the source in a block, such that A ** n itself fits LEAF limbs: 10 ** (9 * 34) is less
 * than 2 ** (32 * LEAF), and 2 ** (32 * 29) less than 10 ** (9 * LEAF). */
#define LEAF_DECIMAL 34
#define LEAF_BINARY 29

/* What to convert: limbs of base `from`, fetched from the text or the bytes. */
typedef struct radix_source {
    const uint8_t *data;
    size_t len;
    size_t limb_bytes; /* of `data` for one limb: 9 or 4 */
    size_t leaf_limbs;
    uint64_t from;
    uint64_t to;
} radix_source;

/* Limb `index`, counted from the least significant; the source has that many. */
static uint32_t
source_limb(const radix_source *source, size_t index)
{
    const size_t end = source->len - index * source->limb_bytes;
    const size_t start = end < source->limb_bytes ? 0 : end - source->limb_bytes;
    uint32_t limb = 0;
    if (source->from == BASE_DECIMAL) {
        for (size_t i = start; i < end; i++) {
            limb = limb * 10 + (source->data[i] - (uint32_t)'0');
        }
    } else {
        for (size_t i = start; i < end; i++) {
            limb = limb << 8 | source->data[i];
        }
    }
    return limb;
}

static size_t
source_limb_count(const radix_source *source)
{
    return source->len / source->limb_bytes + (source->len % source->limb_bytes != 0);
}

/* number * factor + addend over `count` limbs; gives what runs over, which may be more than
 * `base`. */
IONF_FORCE_INLINE uint32_t
mul_add_small(uint32_t *number, size_t count, uint64_t factor, uint32_t addend, uint64_t base)
{
    uint64_t carry = addend;
    for (size_t i = 0; i < count; i++) {
        carry += number[i] * factor;
        number[i] = (uint32_t)(carry % base);
        carry /= base;
    }
    return (uint32_t)carry;
}

/* One block by Horner's rule: `limbs` source limbs from `index` on, into LEAF zeroed limbs.
 * The base is a parameter that the caller makes constant, so that no division is left. */
IONF_FORCE_INLINE void
convert_block(const radix_source *source, size_t index, size_t limbs, uint32_t *block,
              uint64_t base)
{
    size_t used = 0;
    for (size_t i = limbs; i != 0; i--) {
        const uint32_t limb = source_limb(source, index + i - 1);
        uint64_t over = mul_add_small(block, used, source->from, limb, base);
        for (; over != 0; over /= base) {
            block[used++] = (uint32_t)(over % base);
        }
    }
}

/* Blocks between two questions to the host: some milliseconds. */
#define BLOCKS_A_STEP 1024

static ionf_status
convert_blocks(const radix_source *source, uint32_t *blocks, const ionf_alloc *host)
{
    const size_t limb_count = source_limb_count(source);
    size_t count = 0;
    for (size_t index = 0; index < limb_count; index += source->leaf_limbs, blocks += LEAF) {
        const size_t left = limb_count - index;
        const size_t limbs = left < source->leaf_limbs ? left : source->leaf_limbs;
        if (source->to == BASE_BINARY) {
            convert_block(source, index, limbs, blocks, BASE_BINARY);
        } else {
            convert_block(source, index, limbs, blocks, BASE_DECIMAL);
        }
        if (++count % BLOCKS_A_STEP == 0 && ionf_alloc_ask(host) != IONF_OK) {
            return IONF_ERR_INTERRUPTED;
        }
    }
    return IONF_OK;
}

/* A sum of products: high * base + low. */
typedef struct column_sum {
    uint64_t low, high;
} column_sum;

/* a[0] * b[0] + a[1] * b[-1] + ..., at most LEAF products. */
static inline column_sum
sum_column_binary(const uint32_t *a, const uint32_t *b, size_t count)
{
    column_sum sum = {0, 0};
    for (size_t i = 0; i < count; i++) {
        const uint64_t product = (uint64_t)a[i] * *(b - i);
        sum.low += (uint32_t)product;
        sum.high += product >> 32;
    }
    return sum;
}

/* The same in base 10 ** 9, where 16 products fit 64 bits: one division for all of them. */
static inline column_sum
sum_column_decimal(const uint32_t *a, const uint32_t *b, size_t count)
{
    column_sum sum = {0, 0};
    for (size_t start = 0; start < count; start += 16) {
        const size_t end = count - start < 16 ? count : start + 16;
        uint64_t part = 0;
        for (size_t i = start; i < end; i++) {
            part += (uint64_t)a[i] * *(b - i);
        }
        sum.low += part % BASE_DECIMAL;
        sum.high += part / BASE_DECIMAL;
    }
    return sum;
}

/* dst (2 * count limbs) = a * b, the plain way, column by column; `count` is at most LEAF. Row
 * by row there is a division at each product: 100,000 digits took 47 ms to print, and take 24. */
IONF_FORCE_INLINE void
mul_plain(uint32_t *dst, const uint32_t *a, const uint32_t *b, size_t count, uint64_t base)
{
    uint64_t carry = 0;
    for (size_t column = 0; column < 2 * count - 1; column++) {
        const size_t first = column < count ? 0 : column - count + 1;
        const size_t products = column < count ? column + 1 : count - first;
        const column_sum sum = base == BASE_BINARY
                                   ? sum_column_binary(a + first, b + column - first, products)
                                   : sum_column_decimal(a + first, b + column - first, products);
        carry += sum.low;
        dst[column] = (uint32_t)(carry % base);
        carry = carry / base + sum.high;
    }
    dst[2 * count - 1] = (uint32_t)carry;
}

/* dst += a over `count` limbs; gives the carry. */
static uint32_t
add_limbs(uint32_t *dst, const uint32_t *a, size_t count, uint64_t base)
{
    uint64_t carry = 0;
    for (size_t i = 0; i < count; i++) {
        carry += (uint64_t)dst[i] + a[i];
        const bool is_over = carry >= base;
        dst[i] = (uint32_t)(is_over ? carry - base : carry);
        carry = is_over;
    }
    return (uint32_t)carry;
}

/* dst = a - b over `count` limbs; gives the borrow. `dst` may be `a`. */
static uint32_t
sub_limbs(uint32_t *dst, const uint32_t *a, const uint32_t *b, size_t count, uint64_t base)
{
    uint64_t borrow = 0;
    for (size_t i = 0; i < count; i++) {
        const uint64_t subtrahend = b[i] + borrow;
        borrow = a[i] < subtrahend;
        dst[i] = (uint32_t)(borrow ? a[i] + base - subtrahend : a[i] - subtrahend);
    }
    return (uint32_t)borrow;
}

/* Add a small carry at `dst`; the sum is known to fit. */
static void
add_carry(uint32_t *dst, uint32_t carry, uint64_t base)
{
    for (; carry != 0; dst++) {
        const uint64_t sum = (uint64_t)*dst + carry;
        *dst = (uint32_t)(sum >= base ? sum - base : sum);
        carry = sum >= base;
    }
}

/* dst = |a - b| over `count` limbs; true when a < b. */
static bool
abs_difference(uint32_t *dst, const uint32_t *a, const uint32_t *b, size_t count, uint64_t base)
{
    size_t i = count;
    while (i != 0 && a[i - 1] == b[i - 1]) {
        i--;
    }
    const bool is_less = i != 0 && a[i - 1] < b[i - 1];
    (void)sub_limbs(dst, is_less ? b : a, is_less ? a : b, count, base);
    return is_less;
}

/* dst (2 * count limbs) = a * b by Karatsuba's method; `count` is LEAF * 2 ** n. `scratch` holds
 * 4 * count limbs: two for the differences and their product, the rest for the levels below.
 *
 *   a1 b0 + a0 b1 = a0 b0 + a1 b1 - (a1 - a0)(b1 - b0)
 *
 * The recursion is as deep as the logarithm of `count`. */
/* NOLINTBEGIN(misc-no-recursion) */
static void
mul_limbs(uint32_t *dst, const uint32_t *a, const uint32_t *b, size_t count, uint32_t *scratch,
          uint64_t base)
{
    if (count <= LEAF) {
        if (base == BASE_BINARY) {
            mul_plain(dst, a, b, count, BASE_BINARY);
        } else {
            mul_plain(dst, a, b, count, BASE_DECIMAL);
        }
        return;
    }
    const size_t half = count / 2;
    uint32_t *const middle = scratch + count;
    uint32_t *const deeper = scratch + 2 * count;
    const bool a_is_less = abs_difference(scratch, a + half, a, half, base);
    const bool b_is_less = abs_difference(scratch + half, b + half, b, half, base);
    mul_limbs(middle, scratch, scratch + half, half, deeper, base);
    mul_limbs(dst, a, b, half, deeper, base);
    mul_limbs(dst + count, a + half, b + half, half, deeper, base);
    memcpy(scratch, dst, count * sizeof *dst);
    uint32_t carry = add_limbs(scratch, dst + count, count, base);
    if (a_is_less == b_is_less) {
        carry -= sub_limbs(scratch, scratch, middle, count, base);
    } else {
        carry += add_limbs(scratch, middle, count, base);
    }
    carry += add_limbs(dst + half, scratch, count, base);
    add_carry(dst + half + count, carry, base);
}
/* NOLINTEND(misc-no-recursion) */

/* The memory of one conversion and its parts. */
typedef struct radix_work {
    ionf_alloc alloc;
    size_t unasked;    /* limbs multiplied since the host was asked last */
    size_t size;       /* bytes of the blocks and what stands behind them */
    size_t total;      /* limbs of the blocks: LEAF * 2 ** n */
    uint32_t *blocks;  /* owned; `total` limbs */
    uint32_t *power;   /* within blocks: `total`, of which half is used */
    uint32_t *product; /* within blocks: `total` */
    uint32_t *scratch; /* within blocks: 2 * `total` */

    size_t words_size;
    uint64_t *roots;       /* owned; NULL: all products are short */
    uint64_t *factor;      /* within roots: `power` transformed */
    uint64_t *ntt_scratch; /* within roots */
} radix_work;

static void
work_destroy(radix_work *work)
{
    ionf_alloc_free(&work->alloc, work->blocks, work->size);
    ionf_alloc_free(&work->alloc, work->roots, work->words_size);
}

/* For products of up to `count` limbs. */
static ionf_status
work_create_ntt(radix_work *work, size_t count)
{
    const size_t words =
        IONF_NTT_ROOT_WORDS(1) + IONF_NTT_FACTOR_WORDS(1) + IONF_NTT_SCRATCH_WORDS(1);
    if (!ionf_size_mul(count, words * sizeof *work->roots, &work->words_size)) {
        return IONF_ERR_NOMEM;
    }
    work->roots = ionf_alloc_new(&work->alloc, work->words_size);
    if (work->roots == NULL) {
        return IONF_ERR_NOMEM;
    }
    work->factor = work->roots + IONF_NTT_ROOT_WORDS(count);
    work->ntt_scratch = work->factor + IONF_NTT_FACTOR_WORDS(count);
    return ionf_ntt_roots(work->roots, count, &work->alloc);
}

static ionf_status
work_create(radix_work *work, size_t block_count, const ionf_alloc *alloc)
{
    memset(work, 0, sizeof *work);
    work->alloc = *alloc;
    size_t total = LEAF;
    while (total / LEAF < block_count) {
        if (!ionf_size_mul(total, 2, &total)) {
            return IONF_ERR_NOMEM;
        }
    }
    if (!ionf_size_mul(total, 5 * sizeof *work->blocks, &work->size)) {
        return IONF_ERR_NOMEM;
    }
    work->blocks = ionf_alloc_new(alloc, work->size);
    if (work->blocks == NULL) {
        return IONF_ERR_NOMEM;
    }
    work->total = total;
    work->power = work->blocks + total;
    work->product = work->power + total;
    work->scratch = work->product + total;
    memset(work->blocks, 0, 2 * total * sizeof *work->blocks);
    return total / 2 < IONF_NTT_MIN ? IONF_OK : work_create_ntt(work, total / 2);
}

/* Limbs multiplied between two questions to the host: some milliseconds. */
#define LIMBS_A_STEP ((size_t)1 << 15)

/* work->product = a * work->power, of `width` limbs each. */
static ionf_status
multiply_by_power(radix_work *work, const uint32_t *a, size_t width, uint64_t base)
{
    if (width < IONF_NTT_MIN) {
        mul_limbs(work->product, a, work->power, width, work->scratch, base);
    } else {
        const ionf_status status = ionf_ntt_multiply(work->product, a, work->factor, width, base,
                                                     work->roots, work->ntt_scratch, &work->alloc);
        if (status != IONF_OK) {
            return status;
        }
    }
    work->unasked += width;
    if (work->unasked < LIMBS_A_STEP) {
        return IONF_OK;
    }
    work->unasked = 0;
    return ionf_alloc_ask(&work->alloc);
}

/* power = from ** leaf_limbs, in the target base. */
static void
first_power(const radix_source *source, uint32_t *power)
{
    power[0] = 1;
    for (size_t i = 0; i < source->leaf_limbs; i++) {
        (void)mul_add_small(power, LEAF, source->from, 0, source->to);
    }
}

/* Two blocks of `width` limbs become one. */
static ionf_status
join_pair(const radix_source *source, radix_work *work, uint32_t *low, size_t width)
{
    const ionf_status status = multiply_by_power(work, low + width, width, source->to);
    if (status == IONF_OK) {
        const uint32_t carry = add_limbs(work->product, low, width, source->to);
        add_carry(work->product + width, carry, source->to);
        memcpy(low, work->product, 2 * width * sizeof *low);
    }
    return status;
}

static ionf_status
join_blocks(const radix_source *source, radix_work *work, size_t block_count)
{
    ionf_status status = IONF_OK;
    first_power(source, work->power);
    for (size_t width = LEAF; status == IONF_OK && block_count > 1; width *= 2) {
        if (width >= IONF_NTT_MIN) {
            status =
                ionf_ntt_transform(work->factor, work->power, width, work->roots, &work->alloc);
        }
        for (size_t i = 0; status == IONF_OK && i + 1 < block_count; i += 2) {
            status = join_pair(source, work, work->blocks + i * width, width);
        }
        block_count = block_count / 2 + block_count % 2;
        if (status == IONF_OK && block_count > 1) {
            status = multiply_by_power(work, work->power, width, source->to);
            memcpy(work->power, work->product, 2 * width * sizeof *work->power);
        }
    }
    return status;
}

/* Limbs stored between two questions to the host. */
#define LIMBS_OUT_A_STEP ((size_t)1 << 18)

static ionf_status
append_be(const uint32_t *limbs, size_t count, ionf_buf *out)
{
    size_t size;
    if (!ionf_size_mul(count, 4, &size)) {
        return IONF_ERR_NOMEM;
    }
    const ionf_status status = ionf_buf_reserve(out, size);
    if (status != IONF_OK || count == 0) {
        return status;
    }
    uint8_t *w = out->data + out->len;
    for (unsigned shift = 32; shift != 0; shift -= 8) {
        if (w != out->data + out->len || limbs[count - 1] >> (shift - 8) != 0) {
            *w++ = (uint8_t)(limbs[count - 1] >> (shift - 8));
        }
    }
    for (size_t i = count - 1; i != 0; i--) {
        if (i % LIMBS_OUT_A_STEP == 0 && ionf_alloc_ask(&out->alloc) != IONF_OK) {
            return IONF_ERR_INTERRUPTED;
        }
        const uint32_t limb = limbs[i - 1];
        *w++ = (uint8_t)(limb >> 24);
        *w++ = (uint8_t)(limb >> 16);
        *w++ = (uint8_t)(limb >> 8);
        *w++ = (uint8_t)limb;
    }
    out->len = (size_t)(w - out->data);
    return IONF_OK;
}

static void
put_nine_digits(uint8_t *dst, uint32_t limb)
{
    for (size_t i = 9; i != 0; i--) {
        dst[i - 1] = (uint8_t)('0' + limb % 10);
        limb /= 10;
    }
}

static ionf_status
append_digits(const uint32_t *limbs, size_t count, ionf_buf *out)
{
    if (count == 0) {
        return ionf_buf_push(out, '0');
    }
    size_t size;
    if (!ionf_size_mul(count, 9, &size) || !ionf_size_add(size, IONF_U64_TEXT_MAX, &size)) {
        return IONF_ERR_NOMEM;
    }
    const ionf_status status = ionf_buf_reserve(out, size);
    if (status != IONF_OK) {
        return status;
    }
    uint8_t *w = out->data + out->len;
    w += ionf_num_print_u64(w, limbs[count - 1]);
    for (size_t i = count - 1; i != 0; i--, w += 9) {
        if (i % LIMBS_OUT_A_STEP == 0 && ionf_alloc_ask(&out->alloc) != IONF_OK) {
            return IONF_ERR_INTERRUPTED;
        }
        put_nine_digits(w, limbs[i - 1]);
    }
    out->len = (size_t)(w - out->data);
    return IONF_OK;
}

static ionf_status
append_result(const radix_source *source, const uint32_t *limbs, size_t count, ionf_buf *out)
{
    while (count != 0 && limbs[count - 1] == 0) {
        count--;
    }
    return source->to == BASE_BINARY ? append_be(limbs, count, out)
                                     : append_digits(limbs, count, out);
}

static ionf_status
convert(const radix_source *source, ionf_buf *out)
{
    const size_t limb_count = source_limb_count(source);
    if (limb_count <= source->leaf_limbs) {
        uint32_t block[LEAF] = {0};
        const ionf_status status = convert_blocks(source, block, &out->alloc);
        return status == IONF_OK ? append_result(source, block, LEAF, out) : status;
    }
    const size_t block_count = (limb_count - 1) / source->leaf_limbs + 1;
    radix_work work;
    ionf_status status = work_create(&work, block_count, &out->alloc);
    if (status == IONF_OK) {
        status = convert_blocks(source, work.blocks, &work.alloc);
    }
    if (status == IONF_OK) {
        status = join_blocks(source, &work, block_count);
    }
    if (status == IONF_OK) {
        status = append_result(source, work.blocks, work.total, out);
    }
    work_destroy(&work);
    return status;
}

ionf_status
ionf_radix_digits_to_be(const uint8_t *digits, size_t len, ionf_buf *out)
{
    const radix_source source = {digits, len, 9, LEAF_DECIMAL, BASE_DECIMAL, BASE_BINARY};
    return convert(&source, out);
}

ionf_status
ionf_radix_be_to_digits(const uint8_t *bytes, size_t len, ionf_buf *out)
{
    const radix_source source = {bytes, len, 4, LEAF_BINARY, BASE_BINARY, BASE_DECIMAL};
    return convert(&source, out);
}
