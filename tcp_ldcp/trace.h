/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints for the decisions of tcp_ldcp. Names and fields are an interface that monitoring
 * tools read. IPv4 addresses are v4-mapped; ports are in host byte order.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM tcp_ldcp

#if !defined(TCP_LDCP_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define TCP_LDCP_TRACE_H

#include <linux/tracepoint.h>
#include <hopcc/lib/hop_trace.h>

/* Section 2.2: an ACK of acked_pkts packets has set the window to cw_2pow24 / 2^24. */
TRACE_EVENT(ldcp_ack,

	TP_PROTO(const struct sock *sk, const struct ldcp_ack *ack, const struct ldcp_vars *v),

	TP_ARGS(sk, ack, v),

	TP_STRUCT__entry(
		HOP_TRACE_SOCK_FIELDS
		__field(u64, cw)
		__field(u32, acked_pkts)
		__field(bool, ece)
		__field(u8, stage)
	),

	TP_fast_assign(
		HOP_TRACE_SOCK_ASSIGN(sk);
		__entry->cw = v->cw;
		__entry->acked_pkts = ack->acked_pkts;
		__entry->ece = ack->ece;
		__entry->stage = v->stage;
	),

	TP_printk(HOP_TRACE_SOCK_FORMAT " acked_pkts=%u ece=%d cw_2pow24=%llu stage=%u",
		  HOP_TRACE_SOCK_VALUES,
		  __entry->acked_pkts, __entry->ece, __entry->cw, __entry->stage)
);

/* Section 2.3: a flow entered a stage (enum ldcp_stage); loss: because a packet was lost */
TRACE_EVENT(ldcp_enter,

	TP_PROTO(const struct sock *sk, const struct ldcp_vars *v, bool loss),

	TP_ARGS(sk, v, loss),

	TP_STRUCT__entry(
		HOP_TRACE_SOCK_FIELDS
		__field(u64, cw)
		__field(u32, first_pkts)
		__field(u8, stage)
		__field(bool, loss)
	),

	TP_fast_assign(
		HOP_TRACE_SOCK_ASSIGN(sk);
		__entry->cw = v->cw;
		__entry->first_pkts = v->first_pkts;
		__entry->stage = v->stage;
		__entry->loss = loss;
	),

	TP_printk(HOP_TRACE_SOCK_FORMAT " stage=%u loss=%d cw_2pow24=%llu first_pkts=%u",
		  HOP_TRACE_SOCK_VALUES,
		  __entry->stage, __entry->loss, __entry->cw, __entry->first_pkts)
);

HOP_TRACE_HOLD(ldcp_hold);

#endif

#include <hopcc/lib/hop_define_trace.h>
