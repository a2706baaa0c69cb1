/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints for the decisions of tcp_dctcp_ms. Names and fields are an interface that monitoring
 * tools read. IPv4 addresses are v4-mapped; ports are in host byte order.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM dctcp_ms

#if !defined(TCP_DCTCP_MS_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define TCP_DCTCP_MS_TRACE_H

#include <linux/tracepoint.h>
#include <hopcc/lib/hop_trace.h>

/* Section 3.3, steps 5 to 8: an observation window has ended. */
TRACE_EVENT(dctcp_ms_update,

	TP_PROTO(const struct sock *sk, u32 alpha, u32 sent_bytes,
		 u32 marked_bytes, u32 cwnd_pkts, bool dctcp),

	TP_ARGS(sk, alpha, sent_bytes, marked_bytes, cwnd_pkts, dctcp),

	TP_STRUCT__entry(
		HOP_TRACE_SOCK_FIELDS
		__field(u32, alpha)
		__field(u32, sent_bytes)
		__field(u32, marked_bytes)
		__field(u32, cwnd_pkts)
		__field(bool, dctcp)
	),

	TP_fast_assign(
		HOP_TRACE_SOCK_ASSIGN(sk);
		__entry->alpha = alpha;
		__entry->sent_bytes = sent_bytes;
		__entry->marked_bytes = marked_bytes;
		__entry->cwnd_pkts = cwnd_pkts;
		__entry->dctcp = dctcp;
	),

	TP_printk(HOP_TRACE_SOCK_FORMAT " alpha_2pow31=%u sent_bytes=%u marked_bytes=%u cwnd_pkts=%u dctcp=%d",
		  HOP_TRACE_SOCK_VALUES,
		  __entry->alpha, __entry->sent_bytes, __entry->marked_bytes,
		  __entry->cwnd_pkts, __entry->dctcp)
);

/* A window is reduced; cause: 0 an ECN mark, 1 a loss. */
TRACE_EVENT(dctcp_ms_reduce,

	TP_PROTO(const struct sock *sk, bool loss, u32 from_pkts, u32 to_pkts),

	TP_ARGS(sk, loss, from_pkts, to_pkts),

	TP_STRUCT__entry(
		HOP_TRACE_SOCK_FIELDS
		__field(u32, from_pkts)
		__field(u32, to_pkts)
		__field(bool, loss)
	),

	TP_fast_assign(
		HOP_TRACE_SOCK_ASSIGN(sk);
		__entry->from_pkts = from_pkts;
		__entry->to_pkts = to_pkts;
		__entry->loss = loss;
	),

	TP_printk(HOP_TRACE_SOCK_FORMAT " loss=%d from_pkts=%u to_pkts=%u",
		  HOP_TRACE_SOCK_VALUES,
		  __entry->loss, __entry->from_pkts, __entry->to_pkts)
);

#endif

#include <hopcc/lib/hop_define_trace.h>
