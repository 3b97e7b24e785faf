/* The plain driver, for any compiler: runs a target over a corpus and over mutations of it.
 *
 *   fuzz_x [-runs=N] [-seconds=N] [-seed=N] [-max_len=N] [-out=FOLDER] [FILE or FOLDER]...
 *
 * Without -runs and -seconds each file runs once. Where the target and the core were compiled with
 * -fsanitize-coverage=trace-pc, inputs that reach new code are kept and mutated in turn. An input that
 * ends the process is left in FOLDER/crash-<seed>-<run>, so that it runs again alone. An input that
 * takes over a second is a failure as well.
 */
#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "fuzz.h"

typedef struct input {
    uint8_t *data; /* owned */
    size_t size;
} input;

static input *corpus;
static size_t corpus_count, corpus_cap;
static const char *out_folder = ".";
static uint64_t first_seed, run;
static const uint8_t *current;
static size_t current_size;

/* ---- coverage: a bit for each place that was reached, found by the low bits of its address */

#define MAP_BITS 18
static uint8_t seen[1u << MAP_BITS];
static size_t fresh_count, seen_count;

/* The compiler calls it on each edge. */
void __sanitizer_cov_trace_pc(void);

__attribute__((no_sanitize("address", "undefined"))) void
__sanitizer_cov_trace_pc(void)
{
    const uintptr_t at = (uintptr_t)__builtin_return_address(0);
    const size_t slot = (at ^ at >> MAP_BITS) & ((1u << MAP_BITS) - 1);
    if (!seen[slot]) {
        seen[slot] = 1;
        fresh_count++;
    }
}

/* ---- corpus */

static void
corpus_add(const uint8_t *data, size_t size)
{
    if (corpus_count == corpus_cap) {
        corpus_cap = corpus_cap == 0 ? 256 : 2 * corpus_cap;
        corpus = realloc(corpus, corpus_cap * sizeof *corpus);
        FUZZ_CHECK(corpus != NULL);
    }
    input *const added = &corpus[corpus_count++];
    added->size = size;
    added->data = malloc(size + 1);
    FUZZ_CHECK(added->data != NULL);
    memcpy(added->data, data, size);
}

static void
corpus_load_file(const char *path, size_t max_len)
{
    FILE *const file = fopen(path, "rb");
    if (file == NULL) {
        perror(path);
        exit(2);
    }
    uint8_t *const data = malloc(max_len + 1);
    FUZZ_CHECK(data != NULL);
    const size_t size = fread(data, 1, max_len + 1, file);
    fclose(file);
    if (size <= max_len) {
        corpus_add(data, size);
    }
    free(data);
}

static int
compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* A file, or all files of a folder, by name: the same order everywhere. */
static void
corpus_load(const char *path, size_t max_len)
{
    DIR *const folder = opendir(path);
    if (folder == NULL) {
        corpus_load_file(path, max_len);
        return;
    }
    char **names = NULL;
    size_t count = 0;
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        char *const name = malloc(strlen(path) + strlen(entry->d_name) + 2);
        names = realloc(names, (count + 1) * sizeof *names);
        FUZZ_CHECK(name != NULL && names != NULL);
        sprintf(name, "%s/%s", path, entry->d_name);
        names[count++] = name;
    }
    closedir(folder);
    qsort(names, count, sizeof *names, compare_names);
    for (size_t i = 0; i < count; i++) {
        struct stat about;
        if (stat(names[i], &about) == 0 && S_ISREG(about.st_mode)) {
            corpus_load_file(names[i], max_len);
        }
        free(names[i]);
    }
    free(names);
}

/* ---- one run */

/* Sanitizers end the process by abort_on_error=1, so that this is where each failure comes to. */
static void
on_crash(int number)
{
    char path[512];
    snprintf(path, sizeof path, "%s/crash-%llu-%llu", out_folder, (unsigned long long)first_seed,
             (unsigned long long)run);
    FILE *const file = fopen(path, "wb");
    if (file != NULL) {
        fwrite(current, 1, current_size, file);
        fclose(file);
    }
    fprintf(stderr, "signal %d; the input is in %s\n", number, path);
    _exit(1);
}

static double
seconds_of(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double
now(void)
{
    return seconds_of(CLOCK_MONOTONIC);
}

/* What an input takes, however busy the machine is. */
static double
processor_time(void)
{
    return seconds_of(CLOCK_PROCESS_CPUTIME_ID);
}

/* In memory of just its size, so that one byte too far is found. */
static void
run_one(const uint8_t *data, size_t size)
{
    uint8_t *const copy = malloc(size == 0 ? 1 : size);
    FUZZ_CHECK(copy != NULL);
    memcpy(copy, data, size);
    current = copy;
    current_size = size;
    alarm(60); /* an endless loop ends too */
    const double start = processor_time();
    (void)LLVMFuzzerTestOneInput(copy, size);
    if (processor_time() - start > 1) {
        fprintf(stderr, "slow: %.2f s\n", processor_time() - start);
        abort();
    }
    free(copy);
}

static uint64_t
mix(uint64_t value)
{
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9u;
    value = (value ^ value >> 27) * 0x94D049BB133111EBu;
    return value ^ value >> 31;
}

/* The run's input depends on the corpus, the seed and the number of the run alone. */
static void
run_mutated(uint8_t *buffer, size_t max_len)
{
    const uint64_t random = mix(first_seed * 0x9E3779B97F4A7C15u + run);
    const input *const from = &corpus[random % corpus_count];
    memcpy(buffer, from->data, from->size);
    size_t size = from->size;
    if (random >> 60 == 0) { /* the head of one and the tail of another */
        const input *const other = &corpus[mix(random) % corpus_count];
        const size_t head = size == 0 ? 0 : (random >> 32) % size;
        const size_t room = max_len - head;
        const size_t tail = other->size < room ? other->size : room;
        memcpy(buffer + head, other->data + (other->size - tail), tail);
        size = head + tail;
    }
    size = fuzz_mutate(buffer, size, max_len, random);
    run_one(buffer, size);
    if (fresh_count != 0) {
        seen_count += fresh_count;
        fresh_count = 0;
        corpus_add(buffer, size);
    }
}

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t cap);

size_t
LLVMFuzzerMutate(uint8_t *data, size_t size, size_t cap)
{
    return fuzz_mutate(data, size, cap, size);
}

int
main(int argc, char **argv)
{
    uint64_t runs = 0;
    size_t max_len = 4096;
    double seconds = 0;
    for (int i = 1; i < argc; i++) {
        const char *const equals = argv[i][0] == '-' ? strchr(argv[i], '=') : NULL;
        if (equals == NULL) {
            continue;
        }
        const unsigned long long value = strtoull(equals + 1, NULL, 10);
        runs = strncmp(argv[i], "-runs=", 6) == 0 ? value : runs;
        seconds = strncmp(argv[i], "-seconds=", 9) == 0 ? (double)value : seconds;
        first_seed = strncmp(argv[i], "-seed=", 6) == 0 ? value : first_seed;
        max_len = strncmp(argv[i], "-max_len=", 9) == 0 ? (size_t)value : max_len;
        out_folder = strncmp(argv[i], "-out=", 5) == 0 ? equals + 1 : out_folder;
    }
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] != '-') {
            corpus_load(argv[i], max_len);
        }
    }
    for (size_t i = 0; i < 3; i++) {
        signal((int[]){SIGABRT, SIGSEGV, SIGALRM}[i], on_crash);
    }
    corpus_add((const uint8_t *)"", 0);
    const double start = now();
    for (size_t i = 0; i < corpus_count; i++) {
        run_one(corpus[i].data, corpus[i].size);
    }
    const size_t loaded = corpus_count;
    seen_count = fresh_count;
    fresh_count = 0;
    uint8_t *const buffer = malloc(max_len + 1);
    FUZZ_CHECK(buffer != NULL);
    const bool is_endless = runs == 0 && seconds > 0;
    for (run = 0; is_endless || run < runs; run++) {
        if (seconds > 0 && run % 64 == 0 && now() - start > seconds) {
            break;
        }
        run_mutated(buffer, max_len);
    }
    printf("%llu runs in %.1f s, corpus %zu + %zu, %zu places\n", (unsigned long long)run,
           now() - start, loaded, corpus_count - loaded, seen_count);
    for (size_t i = 0; i < corpus_count; i++) {
        free(corpus[i].data);
    }
    free(corpus);
    free(buffer);
    return 0;
}
