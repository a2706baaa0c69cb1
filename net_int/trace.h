/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Trace events of net_int. Fields and their names are an interface for monitors. IPv4 addresses are
 * v4-mapped; ports are in host order.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM net_int

#if !defined(NET_INT_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define NET_INT_TRACE_H

#include <linux/tracepoint.h>
#include <hopcc/lib/hop_trace.h>
#include <hopcc/core/hop_flow.h>
#include <hopcc/wire/int.h>

/* Telemetry of a flow; type: enum int_type. */
DECLARE_EVENT_CLASS(int_header,

	TP_PROTO(const struct hop_flow_key *key, const struct int_hdr *h, u32 id, u32 seq),

	TP_ARGS(key, h, id, seq),

	TP_STRUCT__entry(
		HOP_TRACE_KEY_FIELDS
		__field(u8, type)
		__field(u8, flags)
		__field(u8, hops)
		__field(u16, path_id)
		__field(u32, id)
		__field(u32, seq)
	),

	TP_fast_assign(
		HOP_TRACE_KEY_ASSIGN(key);
		__entry->type = h->type;
		__entry->flags = h->flags;
		__entry->hops = int_hops(h);
		__entry->path_id = int_path_id(h);
		__entry->id = id;
		__entry->seq = seq;
	),

	TP_printk(HOP_TRACE_KEY_FORMAT " type=%u flags=0x%02x hops=%u path_id=0x%03x id=%u seq=%u",
		  HOP_TRACE_KEY_VALUES,
		  __entry->type, __entry->flags, __entry->hops, __entry->path_id,
		  __entry->id, __entry->seq)
);

DEFINE_EVENT(int_header, int_header_in,
	TP_PROTO(const struct hop_flow_key *key, const struct int_hdr *h, u32 id, u32 seq),
	TP_ARGS(key, h, id, seq)
);

DEFINE_EVENT(int_header, int_header_out,
	TP_PROTO(const struct hop_flow_key *key, const struct int_hdr *h, u32 id, u32 seq),
	TP_ARGS(key, h, id, seq)
);

/* An answer: kind is enum int_answer_kind, news enum int_news; wnd_bytes: u of a ratio. */
DECLARE_EVENT_CLASS(int_answer_class,

	TP_PROTO(const struct hop_flow_key *key, u32 id, u32 kind, u32 wnd_bytes, u32 flows,
		 int news),

	TP_ARGS(key, id, kind, wnd_bytes, flows, news),

	TP_STRUCT__entry(
		HOP_TRACE_KEY_FIELDS
		__field(u32, id)
		__field(u32, kind)
		__field(u32, wnd_bytes)
		__field(u32, flows)
		__field(int, news)
	),

	TP_fast_assign(
		HOP_TRACE_KEY_ASSIGN(key);
		__entry->id = id;
		__entry->kind = kind;
		__entry->wnd_bytes = wnd_bytes;
		__entry->flows = flows;
		__entry->news = news;
	),

	TP_printk(HOP_TRACE_KEY_FORMAT " id=%u kind=%u wnd_bytes=%u flows=%u news=%d",
		  HOP_TRACE_KEY_VALUES,
		  __entry->id, __entry->kind, __entry->wnd_bytes, __entry->flows,
		  __entry->news)
);

DEFINE_EVENT(int_answer_class, int_answer_in,
	TP_PROTO(const struct hop_flow_key *key, u32 id, u32 kind, u32 wnd_bytes, u32 flows,
		 int news),
	TP_ARGS(key, id, kind, wnd_bytes, flows, news)
);

DEFINE_EVENT(int_answer_class, int_answer_out,
	TP_PROTO(const struct hop_flow_key *key, u32 id, u32 kind, u32 wnd_bytes, u32 flows,
		 int news),
	TP_ARGS(key, id, kind, wnd_bytes, flows, news)
);

HOP_TRACE_DISCOVER(int_discover);

#endif

#include <hopcc/lib/hop_define_trace.h>
