/* Pausing the cyclic collector while values are built.
 *
 * Before 3.12 the collector runs inside allocations, from then on inside PyErr_CheckSignals, and would
 * walk the growing document again and again: citm_catalog 4.5 -> 2.9 ms on 3.11, four collections a load
 * instead of one on 3.13. Nothing that is being built can be garbage yet. What the pause put off happens
 * at the next allocation, or between bytecodes.
 *
 * From 3.12 on an input of a few hundred values ends before anyone looks at signals, mostly, and the two calls
 * would be a tenth of the time that the shortest ones take.
 *
 * Without a GIL there is one switch for all threads, which one call must not turn for the others; and there
 * a collection waits until a quarter of all that is alive is new.
 */
#ifndef PY_GC_H
#define PY_GC_H

#include "py_compat.h"

#define IONFAST_GC_SHORT_INPUT 4096

/* While an input of so many bytes is read; SIZE_MAX: who knows. */
static inline int
ionfast_gc_pause(size_t len)
{
    const bool is_short = IONFAST_COLLECTS_AT_SIGNALS && len <= IONFAST_GC_SHORT_INPUT;
    return IONFAST_HAS_GIL && !is_short && PyGC_Disable();
}

static inline void
ionfast_gc_resume(int was_enabled)
{
    if (was_enabled) {
        PyGC_Enable();
    }
}

#endif
