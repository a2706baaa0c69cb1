/* SPDX-License-Identifier: GPL-2.0 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM xcp

#if !defined(HOPCC_SCH_XCP_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define HOPCC_SCH_XCP_TRACE_H

#include <linux/tracepoint.h>
#include <net/sch_generic.h>
#include "xcp_router.h"

/* The end of a control interval: its load, and the feedback available to the next one */
TRACE_EVENT(xcp_interval,
	TP_PROTO(const struct Qdisc *sch, const struct sxcp_vars *v, u64 elapsed_ns),

	TP_ARGS(sch, v, elapsed_ns),

	TP_STRUCT__entry(
		__field(int, ifindex)
		__field(u32, handle)
		__field(u64, elapsed_ns)
		__field(u64, avg_rtt_ns)
		__field(s64, input_bw_bytes_ps)
		__field(s64, feedback_bytes_ps)
		__field(s64, residue_pos_bytes_ps)
		__field(s64, residue_neg_bytes_ps)
		__field(u32, queue_bytes)
	),

	TP_fast_assign(
		__entry->ifindex = qdisc_dev(sch)->ifindex;
		__entry->handle = sch->handle;
		__entry->elapsed_ns = elapsed_ns;
		__entry->avg_rtt_ns = sxcp_avg_rtt_ns(v);
		__entry->input_bw_bytes_ps = v->input_bw_q16 >> XCP_RATE_SHIFT;
		__entry->feedback_bytes_ps = v->feedback_q16 >> XCP_RATE_SHIFT;
		__entry->residue_pos_bytes_ps = v->residue_pos_q16 >> XCP_RATE_SHIFT;
		__entry->residue_neg_bytes_ps = v->residue_neg_q16 >> XCP_RATE_SHIFT;
		__entry->queue_bytes = min_t(u64, U32_MAX, sxcp_standing_bytes(v));
	),

	TP_printk("ifindex=%d handle=%x: elapsed_ns=%llu avg_rtt_ns=%llu input_bw_bytes_ps=%lld feedback_bytes_ps=%lld residue_pos_bytes_ps=%lld residue_neg_bytes_ps=%lld queue_bytes=%u",
		  __entry->ifindex, __entry->handle >> 16, __entry->elapsed_ns,
		  __entry->avg_rtt_ns, __entry->input_bw_bytes_ps, __entry->feedback_bytes_ps,
		  __entry->residue_pos_bytes_ps, __entry->residue_neg_bytes_ps,
		  __entry->queue_bytes)
);

#endif /* HOPCC_SCH_XCP_TRACE_H */

#include <hopcc/lib/hop_define_trace.h>
