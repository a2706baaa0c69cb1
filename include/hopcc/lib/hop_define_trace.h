/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The last line of each module's trace.h, outside of its guard: where CREATE_TRACE_POINTS is
 * defined, the kernel reads the module's trace.h again to define the tracepoints.
 */
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
