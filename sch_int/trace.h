/* SPDX-License-Identifier: GPL-2.0 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM sch_int

#if !defined(HOPCC_SCH_INT_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define HOPCC_SCH_INT_TRACE_H

#include <linux/tracepoint.h>
#include <hopcc/wire/int.h>
#include <net/sch_generic.h>

/* A hop's entry was written: the new header. written=0: there was no slot for the record */
TRACE_EVENT(int_stamp,
	TP_PROTO(const struct Qdisc *sch, struct int_hdr *h, const struct int_record *record,
		 bool written),

	TP_ARGS(sch, h, record, written),

	TP_STRUCT__entry(
		__field(int, ifindex)
		__field(u32, handle)
		__field(u32, type)
		__field(u32, hops)
		__field(u32, path_id)
		__field(u32, port_id)
		__field(u32, speed)
		__field(u32, ts_ns)
		__field(u32, tx_units)
		__field(u32, qlen_units)
		__field(bool, written)
	),

	TP_fast_assign(
		__entry->ifindex = qdisc_dev(sch)->ifindex;
		__entry->handle = sch->handle;
		__entry->type = h->type;
		__entry->hops = int_hops(h);
		__entry->path_id = int_path_id(h);
		__entry->port_id = int_port_id(h);
		__entry->speed = record->speed;
		__entry->ts_ns = record->ts_ns;
		__entry->tx_units = record->tx_units;
		__entry->qlen_units = record->qlen_units;
		__entry->written = written;
	),

	TP_printk("ifindex=%d handle=%x: type=%u hops=%u path_id=%u port_id=%u written=%d speed=%u ts_ns=%u tx_units=%u qlen_units=%u",
		  __entry->ifindex, __entry->handle >> 16, __entry->type, __entry->hops,
		  __entry->path_id, __entry->port_id, __entry->written, __entry->speed,
		  __entry->ts_ns, __entry->tx_units, __entry->qlen_units)
);

#endif /* HOPCC_SCH_INT_TRACE_H */

#include <hopcc/lib/hop_define_trace.h>
