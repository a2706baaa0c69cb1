/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Trace events of tcp_csig. Fields and their names are an interface for monitors. IPv4 addresses
 * are v4-mapped; ports are in host order.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM tcp_csig

#if !defined(TCP_CSIG_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define TCP_CSIG_TRACE_H

#include <linux/tracepoint.h>
#include <hopcc/lib/hop_trace.h>

/* An ACK of acked_pkts packets; cw_2pow24 / 2^24 is the window after it; *_new: it was reported. */
TRACE_EVENT(csig_ack,

	TP_PROTO(const struct sock *sk, const struct tcsig_ack *ack, const struct tcsig_sock *cs),

	TP_ARGS(sk, ack, cs),

	TP_STRUCT__entry(
		HOP_TRACE_SOCK_FIELDS
		__field(u64, cw)
		__field(u64, delay_ns)
		__field(u32, acked_pkts)
		__field(u32, share_ppm)
		__field(bool, has_share)
		__field(bool, has_delay)
		__field(bool, limited)
		__field(bool, hop)
		__field(bool, cut)
		__field(bool, grown)
		__field(u8, stage)
	),

	TP_fast_assign(
		HOP_TRACE_SOCK_ASSIGN(sk);
		__entry->cw = cs->v.cw;
		__entry->delay_ns = cs->v.delay_ns;
		__entry->acked_pkts = ack->acked_pkts;
		__entry->share_ppm = ack->share_ppm;
		__entry->has_share = ack->has_share;
		__entry->has_delay = ack->has_delay;
		__entry->limited = ack->limited;
		__entry->hop = cs->hop;
		__entry->cut = cs->v.cut;
		__entry->grown = cs->v.grown;
		__entry->stage = cs->v.stage;
	),

	TP_printk(HOP_TRACE_SOCK_FORMAT " acked_pkts=%u cw_2pow24=%llu delay_ns=%llu delay_new=%d share_ppm=%u share_new=%d limited=%d hop=%d cut=%d grown=%d stage=%u",
		  HOP_TRACE_SOCK_VALUES,
		  __entry->acked_pkts, __entry->cw, __entry->delay_ns, __entry->has_delay,
		  __entry->share_ppm, __entry->has_share,
		  __entry->limited, __entry->hop, __entry->cut, __entry->grown, __entry->stage)
);

/* A transfer entered a stage (enum tcsig_stage), or a loss was found. */
TRACE_EVENT(csig_enter,

	TP_PROTO(const struct sock *sk, const struct tcsig_vars *v, bool loss),

	TP_ARGS(sk, v, loss),

	TP_STRUCT__entry(
		HOP_TRACE_SOCK_FIELDS
		__field(u64, cw)
		__field(u64, goal)
		__field(u8, stage)
		__field(bool, loss)
	),

	TP_fast_assign(
		HOP_TRACE_SOCK_ASSIGN(sk);
		__entry->cw = v->cw;
		__entry->goal = v->goal;
		__entry->stage = v->stage;
		__entry->loss = loss;
	),

	TP_printk(HOP_TRACE_SOCK_FORMAT " stage=%u loss=%d cw_2pow24=%llu goal_2pow24=%llu",
		  HOP_TRACE_SOCK_VALUES,
		  __entry->stage, __entry->loss, __entry->cw, __entry->goal)
);

HOP_TRACE_HOLD(csig_hold);

/* 8.2.1: another path is tried; tries: consecutive tries before that led to the same bottleneck. */
TRACE_EVENT(csig_move,

	TP_PROTO(const struct sock *sk, u32 locator, u64 delay_ns, u8 tries),

	TP_ARGS(sk, locator, delay_ns, tries),

	TP_STRUCT__entry(
		HOP_TRACE_SOCK_FIELDS
		__field(u32, locator)
		__field(u64, delay_ns)
		__field(u8, tries)
	),

	TP_fast_assign(
		HOP_TRACE_SOCK_ASSIGN(sk);
		__entry->locator = locator;
		__entry->delay_ns = delay_ns;
		__entry->tries = tries;
	),

	TP_printk(HOP_TRACE_SOCK_FORMAT " locator=%u delay_ns=%llu tries=%u",
		  HOP_TRACE_SOCK_VALUES,
		  __entry->locator, __entry->delay_ns, __entry->tries)
);

#endif

#include <hopcc/lib/hop_define_trace.h>
