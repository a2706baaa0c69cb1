/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints for the decisions of tcp_xcp. Names and fields are an interface that monitoring tools
 * read. IPv4 addresses are v4-mapped; ports are in host byte order.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM tcp_xcp

#if !defined(TCP_XCP_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define TCP_XCP_TRACE_H

#include <linux/tracepoint.h>
#include <hopcc/lib/hop_trace.h>

/* Section 3.1.3: feedback arrived and set the window; also records the next packets' offer */
TRACE_EVENT(xcp_feedback,

	TP_PROTO(const struct sock *sk, s64 feedback_bytes_ps, u32 headers, u64 wnd_bytes,
		 u32 rtt_us, const struct xcp_offer *offer),

	TP_ARGS(sk, feedback_bytes_ps, headers, wnd_bytes, rtt_us, offer),

	TP_STRUCT__entry(
		HOP_TRACE_SOCK_FIELDS
		__field(s64, feedback_bytes_ps)
		__field(u64, wnd_bytes)
		__field(u64, throughput_bytes_ps)
		__field(s32, demand_bytes_ps)
		__field(u32, headers)
		__field(u32, rtt_us)
		__field(u8, flags)
	),

	TP_fast_assign(
		HOP_TRACE_SOCK_ASSIGN(sk);
		__entry->feedback_bytes_ps = feedback_bytes_ps;
		__entry->wnd_bytes = wnd_bytes;
		__entry->throughput_bytes_ps = offer->throughput_bytes_ps;
		__entry->demand_bytes_ps = offer->delta_bytes_ps;
		__entry->headers = headers;
		__entry->rtt_us = rtt_us;
		__entry->flags = offer->flags;
	),

	TP_printk(HOP_TRACE_SOCK_FORMAT " feedback_bytes_ps=%lld headers=%u wnd_bytes=%llu rtt_us=%u throughput_bytes_ps=%llu demand_bytes_ps=%d flags=%u",
		  HOP_TRACE_SOCK_VALUES,
		  __entry->feedback_bytes_ps, __entry->headers, __entry->wnd_bytes,
		  __entry->rtt_us, __entry->throughput_bytes_ps, __entry->demand_bytes_ps,
		  __entry->flags)
);

/* Sections 3.1.3.2 and 4.1: XCP or the end-to-end control starts to determine the window. */
HOP_TRACE_RULE(xcp_rule);

#endif

#include <hopcc/lib/hop_define_trace.h>
