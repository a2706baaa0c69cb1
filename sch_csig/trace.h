/* SPDX-License-Identifier: GPL-2.0 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM sch_csig

#if !defined(HOPCC_SCH_CSIG_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define HOPCC_SCH_CSIG_TRACE_H

#include <linux/tracepoint.h>
#include <hopcc/wire/csig.h>
#include <net/sch_generic.h>

/* A tag was updated: its new fields, and in measured the port's value in the signal's unit. */
TRACE_EVENT(csig_update,
	TP_PROTO(const struct Qdisc *sch, u32 form, const u8 *data, u64 measured),

	TP_ARGS(sch, form, data, measured),

	TP_STRUCT__entry(
		__field(int, ifindex)
		__field(u32, handle)
		__field(u32, form)
		__field(u32, type)
		__field(u32, value)
		__field(u32, locator)
		__field(u64, measured)
	),

	TP_fast_assign(
		const struct csig_tag t = csig_read(form, data);

		__entry->ifindex = qdisc_dev(sch)->ifindex;
		__entry->handle = sch->handle;
		__entry->form = form;
		__entry->type = t.type;
		__entry->value = t.value;
		__entry->locator = t.locator;
		__entry->measured = measured;
	),

	TP_printk("ifindex=%d handle=%x: form=%u type=%u value=%u locator=%u measured=%llu",
		  __entry->ifindex, __entry->handle >> 16, __entry->form, __entry->type,
		  __entry->value, __entry->locator, __entry->measured)
);

/* An interval or period ended: the new estimate. */
TRACE_EVENT(csig_interval,
	TP_PROTO(const struct Qdisc *sch, u64 used_bytes_ps, u64 available_bytes_ps),

	TP_ARGS(sch, used_bytes_ps, available_bytes_ps),

	TP_STRUCT__entry(
		__field(int, ifindex)
		__field(u32, handle)
		__field(u64, used_bytes_ps)
		__field(u64, available_bytes_ps)
	),

	TP_fast_assign(
		__entry->ifindex = qdisc_dev(sch)->ifindex;
		__entry->handle = sch->handle;
		__entry->used_bytes_ps = used_bytes_ps;
		__entry->available_bytes_ps = available_bytes_ps;
	),

	TP_printk("ifindex=%d handle=%x: used_bytes_ps=%llu available_bytes_ps=%llu",
		  __entry->ifindex, __entry->handle >> 16, __entry->used_bytes_ps,
		  __entry->available_bytes_ps)
);

#endif /* HOPCC_SCH_CSIG_TRACE_H */

#include <hopcc/lib/hop_define_trace.h>
