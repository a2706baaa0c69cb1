/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Trace events of net_csig_tag. Fields and their names are an interface for monitors. IPv4
 * addresses are v4-mapped; ports are in host order.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM net_csig_tag

#if !defined(NET_CSIG_TAG_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define NET_CSIG_TAG_TRACE_H

#include <linux/tracepoint.h>
#include <hopcc/lib/hop_trace.h>
#include <hopcc/wire/csig.h>
#include <hopcc/core/hop_flow.h>

/* A signal of a flow; form: enum csig_form, type: enum csig_type, value: in the tag's units. */
DECLARE_EVENT_CLASS(csig_signal_class,

	TP_PROTO(const struct hop_flow_key *key, int form, const struct csig_tag *t),

	TP_ARGS(key, form, t),

	TP_STRUCT__entry(
		HOP_TRACE_KEY_FIELDS
		__field(int, form)
		__field(u32, type)
		__field(u32, value)
		__field(u32, locator)
	),

	TP_fast_assign(
		HOP_TRACE_KEY_ASSIGN(key);
		__entry->form = form;
		__entry->type = t->type;
		__entry->value = t->value;
		__entry->locator = t->locator;
	),

	TP_printk(HOP_TRACE_KEY_FORMAT " form=%d type=%u value=%u locator=%u",
		  HOP_TRACE_KEY_VALUES,
		  __entry->form, __entry->type, __entry->value, __entry->locator)
);

/* At the receiver: a tag was received. */
DEFINE_EVENT(csig_signal_class, csig_received,
	TP_PROTO(const struct hop_flow_key *key, int form, const struct csig_tag *t),
	TP_ARGS(key, form, t)
);

/* At the sender: a reflection was received. */
DEFINE_EVENT(csig_signal_class, csig_reflected,
	TP_PROTO(const struct hop_flow_key *key, int form, const struct csig_tag *t),
	TP_ARGS(key, form, t)
);

/* A step of the negotiation; enum hop_event and enum hop_stage. */
HOP_TRACE_DISCOVER(csig_discover);

/* A change of the path's state, enum ctag_path_state. */
TRACE_EVENT(csig_path,

	TP_PROTO(const struct hop_flow_key *key, int from, int to),

	TP_ARGS(key, from, to),

	TP_STRUCT__entry(
		HOP_TRACE_KEY_FIELDS
		__field(int, from)
		__field(int, to)
	),

	TP_fast_assign(
		HOP_TRACE_KEY_ASSIGN(key);
		__entry->from = from;
		__entry->to = to;
	),

	TP_printk(HOP_TRACE_KEY_FORMAT " from=%d to=%d",
		  HOP_TRACE_KEY_VALUES,
		  __entry->from, __entry->to)
);

#endif

#include <hopcc/lib/hop_define_trace.h>
