/* SPDX-License-Identifier: GPL-2.0 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM wred

#if !defined(HOPCC_WRED_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define HOPCC_WRED_TRACE_H

#include <linux/tracepoint.h>
#include <net/sch_generic.h>
#include "wred.h"

TRACE_DEFINE_ENUM(WRED_MARK);
TRACE_DEFINE_ENUM(WRED_DROP_UNMARKABLE);
TRACE_DEFINE_ENUM(WRED_DROP_EARLY);
TRACE_DEFINE_ENUM(WRED_DROP_LIMIT);

/* A packet that was marked or dropped, with the backlog that it found */
TRACE_EVENT(wred_decision,
	TP_PROTO(const struct Qdisc *sch, enum wred_action decision, u32 backlog_bytes,
		 u32 pkt_bytes, u32 segs_pkts),

	TP_ARGS(sch, decision, backlog_bytes, pkt_bytes, segs_pkts),

	TP_STRUCT__entry(
		__field(int, ifindex)
		__field(u32, handle)
		__field(u32, decision)
		__field(u32, backlog_bytes)
		__field(u32, pkt_bytes)
		__field(u32, segs_pkts)
	),

	TP_fast_assign(
		__entry->ifindex = qdisc_dev(sch)->ifindex;
		__entry->handle = sch->handle;
		__entry->decision = decision;
		__entry->backlog_bytes = backlog_bytes;
		__entry->pkt_bytes = pkt_bytes;
		__entry->segs_pkts = segs_pkts;
	),

	TP_printk("ifindex=%d handle=%x: decision=%s backlog_bytes=%u pkt_bytes=%u segs_pkts=%u",
		  __entry->ifindex, __entry->handle >> 16,
		  __print_symbolic(__entry->decision,
				   { WRED_MARK, "mark" },
				   { WRED_DROP_UNMARKABLE, "drop_unmarkable" },
				   { WRED_DROP_EARLY, "drop_early" },
				   { WRED_DROP_LIMIT, "drop_limit" }),
		  __entry->backlog_bytes, __entry->pkt_bytes, __entry->segs_pkts)
);

#endif /* HOPCC_WRED_TRACE_H */

#include <hopcc/lib/hop_define_trace.h>
