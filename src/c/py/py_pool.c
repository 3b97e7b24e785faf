/* The pools of the module state, the allocator that the core gets, and the `ionfast.pools` functions.
 *
 * With a GIL, objects are taken and given under it, and the pools need no lock of their own; without one
 * they have the state's.
 */
#include "py_pool.h"

#include "ionf_buf.h"
#include "py_reader.h"

/* ---- the core's memory: PyMem, so that tracemalloc sees it, counted per interpreter ---- */

static void *
heap_alloc(void *ctx, size_t size)
{
    ionfast_heap *heap = ctx;
    void *ptr = PyMem_Malloc(size);
    if (ptr != NULL) {
        heap->allocs++;
        heap->live_bytes += (int64_t)size;
        heap->total_bytes += size;
    }
    return ptr;
}

static void *
heap_realloc(void *ctx, void *ptr, size_t old_size, size_t size)
{
    ionfast_heap *heap = ctx;
    void *grown = PyMem_Realloc(ptr, size);
    if (grown != NULL) {
        heap->allocs++;
        heap->frees += ptr != NULL;
        heap->live_bytes += (int64_t)size - (int64_t)old_size;
        heap->total_bytes += size;
    }
    return grown;
}

static void
heap_free(void *ctx, void *ptr, size_t size)
{
    ionfast_heap *heap = ctx;
    if (ptr != NULL) {
        heap->frees++;
        heap->live_bytes -= (int64_t)size;
        PyMem_Free(ptr);
    }
}

/* ---- byte buffers and string decoders are both an ionf_buf ---- */

static void *
buf_create(void *ctx)
{
    const ionfast_state *state = ctx;
    ionf_buf *buf = ionf_alloc_new(&state->alloc, sizeof *buf);
    if (buf != NULL) {
        ionf_buf_init(buf, state->alloc);
    }
    return buf;
}

static void
buf_reset(void *object)
{
    ionf_buf_reset(object);
}

static void
buf_destroy(void *object)
{
    ionf_buf *buf = object;
    const ionf_alloc alloc = buf->alloc;
    ionf_buf_destroy(buf);
    ionf_alloc_free(&alloc, buf, sizeof *buf);
}

static size_t
buf_retained(const void *object)
{
    return sizeof(ionf_buf) + ((const ionf_buf *)object)->cap;
}

/* What the core asks within a long token. The exception that is set is what its status stands for. It may
 * run any Python code (handlers of signals, and from 3.12 on finalizers): see docs/robustness.md. */
static bool
is_interrupted(void *ctx)
{
    (void)ctx;
    return PyErr_CheckSignals() < 0;
}

static ionf_pool_type
buf_pool_type(ionfast_state *state)
{
    const ionf_pool_type type = {buf_create, buf_reset, buf_destroy, buf_retained, state};
    return type;
}

static void
lock_pools(void *lock)
{
    ionfast_spin_lock(lock);
}

static void
unlock_pools(void *lock)
{
    ionfast_spin_unlock(lock);
}

static void
share_pool(ionfast_state *state, ionf_pool *pool)
{
    if (!IONFAST_HAS_GIL) {
        pool->lock = lock_pools;
        pool->unlock = unlock_pools;
        pool->lock_ctx = &state->pool_lock;
    }
}

/* The pools by the names that `ionfast.pools` uses. */
#define POOLS(X) X(decoders) X(string_decoders) X(buffers) X(encoders)

void
ionfast_pool_setup(ionfast_state *state)
{
    const ionf_alloc alloc = {heap_alloc, heap_realloc, heap_free, &state->heap, is_interrupted};
    state->alloc = alloc;
    ionf_pool_init(&state->decoders, ionfast_decoder_pool_type(state), IONFAST_POOL_IDLE,
                   IONFAST_POOL_OBJECT_BYTES, IONFAST_POOL_BYTES);
    ionf_pool_init(&state->string_decoders, buf_pool_type(state), IONFAST_POOL_IDLE,
                   IONFAST_POOL_OBJECT_BYTES, IONFAST_POOL_BYTES);
    ionf_pool_init(&state->buffers, buf_pool_type(state), IONFAST_POOL_IDLE,
                   IONFAST_POOL_OBJECT_BYTES, IONFAST_POOL_BYTES);
    ionf_pool_init(&state->encoders, ionfast_encoder_pool_type(state), IONFAST_POOL_IDLE,
                   IONFAST_POOL_OBJECT_BYTES, IONFAST_POOL_BYTES);
#define SHARE(name) share_pool(state, &state->name);
    POOLS(SHARE)
#undef SHARE
}

void
ionfast_pool_teardown(ionfast_state *state)
{
#define CLEAR(name) ionf_pool_clear(&state->name);
    POOLS(CLEAR)
#undef CLEAR
    ionfast_reader_drop_idle(state);
}

/* ---- the functions of the extension module ---- */

static int
stats_add(PyObject *all, const char *name, ionf_pool *pool)
{
    ionf_pool_stats stats;
    ionf_pool_stats_get(pool, &stats);
    PyObject *row = Py_BuildValue(
        "{s:K,s:K,s:K,s:K,s:K,s:n,s:n}", "takes", (unsigned long long)stats.takes, "hits",
        (unsigned long long)stats.hits, "misses", (unsigned long long)stats.misses, "gives",
        (unsigned long long)stats.gives, "drops", (unsigned long long)stats.drops, "idle",
        (Py_ssize_t)stats.idle, "idle_bytes", (Py_ssize_t)stats.idle_bytes);
    if (row == NULL) {
        return -1;
    }
    const int status = PyDict_SetItemString(all, name, row);
    Py_DECREF(row);
    return status;
}

static int
stats_add_heap(PyObject *all, const ionfast_heap *heap)
{
    PyObject *row =
        Py_BuildValue("{s:K,s:K,s:L,s:K}", "allocs", (unsigned long long)heap->allocs, "frees",
                      (unsigned long long)heap->frees, "live_bytes", (long long)heap->live_bytes,
                      "total_bytes", (unsigned long long)heap->total_bytes);
    if (row == NULL) {
        return -1;
    }
    const int status = PyDict_SetItemString(all, "heap", row);
    Py_DECREF(row);
    return status;
}

PyObject *
ionfast_pool_stats(PyObject *module, PyObject *Py_UNUSED(args))
{
    ionfast_state *state = ionfast_state_of_module(module);
    PyObject *all = PyDict_New();
    if (all == NULL) {
        return NULL;
    }
#define ADD(name)                                                                                 \
    if (stats_add(all, #name, &state->name) < 0) {                                                \
        goto fail;                                                                                \
    }
    POOLS(ADD)
#undef ADD
    if (stats_add_heap(all, &state->heap) < 0) {
        goto fail;
    }
    return all;
fail:
    Py_DECREF(all);
    return NULL;
}

PyObject *
ionfast_pool_clear(PyObject *module, PyObject *Py_UNUSED(args))
{
    ionfast_pool_teardown(ionfast_state_of_module(module));
    Py_RETURN_NONE;
}

PyObject *
ionfast_pool_configure(PyObject *module, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"max_idle", "max_object_bytes", "max_bytes", NULL};
    Py_ssize_t max_idle = IONFAST_POOL_IDLE;
    Py_ssize_t max_object_bytes = IONFAST_POOL_OBJECT_BYTES;
    Py_ssize_t max_bytes = IONFAST_POOL_BYTES;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$nnn:configure", keywords, &max_idle,
                                     &max_object_bytes, &max_bytes)) {
        return NULL;
    }
    if (max_idle < 0 || max_idle > IONF_POOL_MAX_IDLE || max_object_bytes < 0 || max_bytes < 0) {
        return PyErr_Format(PyExc_ValueError,
                            "max_idle must be 0 to %d, max_object_bytes and max_bytes at least 0",
                            IONF_POOL_MAX_IDLE);
    }
    ionfast_state *state = ionfast_state_of_module(module);
#define CONFIGURE(name)                                                                           \
    ionf_pool_configure(&state->name, (size_t)max_idle, (size_t)max_object_bytes,                 \
                        (size_t)max_bytes);
    POOLS(CONFIGURE)
#undef CONFIGURE
    Py_RETURN_NONE;
}

/* One block more, or one less, that wants the pools off: they are on again when the last one has ended,
 * whichever thread began first. */
PyObject *
ionfast_pool_disable(PyObject *module, PyObject *flag)
{
    const int is_more = PyObject_IsTrue(flag);
    if (is_more < 0) {
        return NULL;
    }
    ionfast_state *state = ionfast_state_of_module(module);
    ionfast_spin_lock(&state->pool_lock);
    if (is_more) {
        state->pool_disablers++;
    } else if (state->pool_disablers != 0) {
        state->pool_disablers--;
    }
#define DISABLE(name) state->name.is_disabled = state->pool_disablers != 0;
    POOLS(DISABLE)
#undef DISABLE
    ionfast_spin_unlock(&state->pool_lock);
    Py_RETURN_NONE;
}
