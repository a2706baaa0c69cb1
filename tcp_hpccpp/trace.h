/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Trace events of tcp_hpccpp. Fields and their names are an interface for monitors. IPv4 addresses
 * are v4-mapped; ports are in host order.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM tcp_hpccpp

#if !defined(TCP_HPCCPP_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define TCP_HPCCPP_TRACE_H

#include <linux/tracepoint.h>
#include <hopcc/lib/hop_trace.h>

/* NewAck: an answer was processed. u_ppm is U; received, enum hpcc_received, is the result. */
TRACE_EVENT(hpccpp_answer,

	TP_PROTO(const struct sock *sk, const struct int_answer *answer,
		 enum hpcc_received received,
		 const struct hpcc_vars *v, u32 t_ns),

	TP_ARGS(sk, answer, received, v, t_ns),

	TP_STRUCT__entry(
		HOP_TRACE_SOCK_FIELDS
		__field(u8, kind)
		__field(u8, received)
		__field(u8, hops)
		__field(u8, bottleneck)
		__field(u32, u_ppm)
		__field(u32, inc_stage)
		__field(u32, wnd_ref_bytes)
		__field(u32, wnd_bytes)
		__field(u32, t_ns)
		__field(u32, flows)
	),

	TP_fast_assign(
		HOP_TRACE_SOCK_ASSIGN(sk);
		__entry->kind = answer->kind;
		__entry->received = received;
		__entry->hops = v->hops;
		__entry->bottleneck = v->bottleneck;
		__entry->u_ppm = ((u64)v->u * HPCC_PPM) >> HPCC_U_SHIFT;
		__entry->inc_stage = v->inc_stage;
		__entry->wnd_ref_bytes = v->wnd_ref >> HPCC_WND_SHIFT;
		__entry->wnd_bytes = hpcc_wnd_bytes(v);
		__entry->t_ns = t_ns;
		__entry->flows = answer->flows;
	),

	TP_printk(HOP_TRACE_SOCK_FORMAT " kind=%u received=%u hops=%u bottleneck=%u u_ppm=%u inc_stage=%u wnd_ref_bytes=%u wnd_bytes=%u t_ns=%u flows=%u",
		  HOP_TRACE_SOCK_VALUES,
		  __entry->kind, __entry->received, __entry->hops, __entry->bottleneck,
		  __entry->u_ppm, __entry->inc_stage, __entry->wnd_ref_bytes,
		  __entry->wnd_bytes, __entry->t_ns, __entry->flows)
);

/* Reno or HPCC++ controls the window from here on, or a loss halved it. */
HOP_TRACE_RULE(hpccpp_rule);

/* Section 9.4: another path is tried. */
TRACE_EVENT(hpccpp_move,

	TP_PROTO(const struct sock *sk, u8 bottleneck, u8 hops),

	TP_ARGS(sk, bottleneck, hops),

	TP_STRUCT__entry(
		HOP_TRACE_SOCK_FIELDS
		__field(u8, bottleneck)
		__field(u8, hops)
	),

	TP_fast_assign(
		HOP_TRACE_SOCK_ASSIGN(sk);
		__entry->bottleneck = bottleneck;
		__entry->hops = hops;
	),

	TP_printk(HOP_TRACE_SOCK_FORMAT " bottleneck=%u hops=%u",
		  HOP_TRACE_SOCK_VALUES,
		  __entry->bottleneck, __entry->hops)
);

#endif

#include <hopcc/lib/hop_define_trace.h>
