/* Pausing the cyclic collector while values are built.
 *
 * Where the collector runs inside allocations it would walk the growing document again and again, and
 * nothing that is being built can be garbage yet. What the pause put off happens at the next allocation.
 */
#ifndef PY_GC_H
#define PY_GC_H

#include "py_compat.h"

static inline int
ionfast_gc_pause(void)
{
    return IONFAST_GC_RUNS_IN_C ? PyGC_Disable() : 0;
}

static inline void
ionfast_gc_resume(int was_enabled)
{
    if (was_enabled) {
        PyGC_Enable();
    }
}

#endif
