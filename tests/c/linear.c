/* Counts the work of reading standard input a byte at a time: basic blocks run, by way of
 * -fsanitize-coverage=trace-pc. Built and run by tests/test_incremental.py, which compares inputs of
 * different lengths. Prints the number, then how reading ended.
 */
#include <stdio.h>
#include <stdlib.h>

#include "ionf_bin_read.h"
#include "ionf_txt_read.h"

static unsigned long long blocks;

/* Called by each block; would call itself if it were counted too. */
__attribute__((no_sanitize_coverage)) void __sanitizer_cov_trace_pc(void);

void
__sanitizer_cov_trace_pc(void)
{
    blocks++;
}

#define INPUT_MAX (1 << 22)

static uint8_t input[INPUT_MAX];
static ionf_bin_reader bin;
static ionf_txt_reader txt;

/* Tokens until one is missing. */
static ionf_status
read_on(bool is_binary)
{
    for (;;) {
        ionf_token token;
        const ionf_status status =
            is_binary ? ionf_bin_next(&bin, &token) : ionf_txt_next(&txt, &token);
        if (status != IONF_OK || token.kind == IONF_KIND_EOF) {
            return status;
        }
    }
}

int
main(void)
{
    const size_t len = fread(input, 1, INPUT_MAX, stdin);
    const bool is_binary = len != 0 && input[0] == 0xE0;
    const ionf_limits limits = ionf_limits_default();
    const ionf_alloc alloc = ionf_alloc_libc();
    ionf_buf scratch;
    ionf_buf_init(&scratch, alloc);
    ionf_bin_reader_init(&bin, alloc);
    ionf_txt_reader_init(&txt, alloc);
    txt.scratch = &scratch;
    ionf_bin_reader_open(&bin, input, is_binary ? 1 : 0, false, &limits, NULL);
    ionf_txt_reader_open(&txt, input, 1, false, &limits, NULL);
    size_t start = 0;
    size_t end = 1;
    ionf_status status;
    while ((status = read_on(is_binary)) == IONF_NEED_DATA) {
        start += is_binary ? ionf_bin_reader_release(&bin) : ionf_txt_reader_release(&txt);
        end += end < len;
        if (is_binary) {
            ionf_bin_reader_window(&bin, input + start, end - start, end == len);
        } else {
            ionf_txt_reader_window(&txt, input + start, end - start, end == len);
        }
    }
    ionf_bin_reader_destroy(&bin);
    ionf_txt_reader_destroy(&txt);
    ionf_buf_destroy(&scratch);
    printf("%llu %s\n", blocks, ionf_status_name(status));
    return 0;
}
