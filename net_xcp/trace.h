/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints for the headers and decisions of net_xcp. Names and fields are an interface that
 * monitoring tools read. IPv4 addresses are v4-mapped; ports are in host byte order.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM net_xcp

#if !defined(NET_XCP_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define NET_XCP_TRACE_H

#include <linux/tracepoint.h>
#include <hopcc/lib/hop_trace.h>
#include <hopcc/core/hop_flow.h>
#include <hopcc/wire/xcp.h>

/* A congestion header of a flow; format: 1 Standard, 2 Minimal, 3 Micro */
DECLARE_EVENT_CLASS(xcp_header,

	TP_PROTO(const struct hop_flow_key *key, const struct xcp_hdr *h),

	TP_ARGS(key, h),

	TP_STRUCT__entry(
		HOP_TRACE_KEY_FIELDS
		__field(u8, format)
		__field(u8, flags)
		__field(u32, rtt_us)
		__field(u32, throughput)
		__field(s32, delta)
		__field(s32, reverse)
	),

	TP_fast_assign(
		HOP_TRACE_KEY_ASSIGN(key);
		__entry->format = xcp_format(h);
		__entry->flags = h->flags;
		__entry->rtt_us = xcp_rtt_us(h);
		__entry->throughput = be32_to_cpu(h->throughput);
		__entry->delta = xcp_delta(h);
		__entry->reverse = xcp_reverse(h);
	),

	TP_printk(HOP_TRACE_KEY_FORMAT " format=%u flags=%u rtt_us=%u throughput_bytes_pms=%u delta_bytes_ps=%d reverse_bytes_ps=%d",
		  HOP_TRACE_KEY_VALUES,
		  __entry->format, __entry->flags, __entry->rtt_us, __entry->throughput,
		  __entry->delta, __entry->reverse)
);

DEFINE_EVENT(xcp_header, xcp_header_in,
	TP_PROTO(const struct hop_flow_key *key, const struct xcp_hdr *h),
	TP_ARGS(key, h)
);

DEFINE_EVENT(xcp_header, xcp_header_out,
	TP_PROTO(const struct hop_flow_key *key, const struct xcp_hdr *h),
	TP_ARGS(key, h)
);

HOP_TRACE_DISCOVER(xcp_discover);

#endif

#include <hopcc/lib/hop_define_trace.h>
