/* Pausing the cyclic collector while values are built.
 *
 * Before 3.12 the collector runs inside allocations, from then on inside PyErr_CheckSignals, and would
 * walk the growing document again and again: citm_catalog 4.5 -> 2.9 ms on 3.11, four collections a load
 * instead of one on 3.13. Nothing that is being built can be garbage yet. What the pause put off happens
 * at the next allocation, or between bytecodes.
 *
 * Without a GIL there is one switch for all threads, which one call must not turn for the others; and there
 * a collection waits until a quarter of all that is alive is new.
 */
#ifndef PY_GC_H
#define PY_GC_H

#include "py_compat.h"

static inline int
ionfast_gc_pause(void)
{
    return IONFAST_HAS_GIL && PyGC_Disable();
}

static inline void
ionfast_gc_resume(int was_enabled)
{
    if (was_enabled) {
        PyGC_Enable();
    }
}

#endif
