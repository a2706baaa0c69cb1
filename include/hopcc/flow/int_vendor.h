/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The interface between the telemetry carrier (net_int) and the module that knows the telemetry of
 * other vendors (net_tlm). Without that module, net_int reads one pointer for each probe that it
 * sends or answers, and nothing for other packets: net_tlm has an input hook of its own, in front
 * of net_int's.
 *
 * net_tlm keeps its state of a connection in net_int's flow, which frees it.
 */
#ifndef HOPCC_FLOW_INT_VENDOR_H
#define HOPCC_FLOW_INT_VENDOR_H

#include <linux/types.h>
#include <hopcc/flow/int_flow.h>
#include <hopcc/lib/hop_count.h>
#include <hopcc/lib/hpcc.h>
#include <hopcc/wire/int.h>

struct hop_segment;
struct net;
struct sk_buff;
struct tcphdr;

/* Maximum of net.hopcc.int_format. */
#define INT_VENDOR_FORMAT_MAX	3U

/*
 * The counters of net_int that net_tlm counts, too, and their names
 *
 * INT_COUNT_IN_HIDDEN: headers left in place because a filter of the device has not seen the
 *	packet below them
 * INT_COUNT_IN_BAD_SUM: headers and control packets with a wrong TCP checksum
 * INT_COUNT_NO_MEMORY: packets that could not be allocated or made writable for lack of memory
 * INT_COUNT_IN_IFA: probes with IFA metadata that were read
 * INT_COUNT_IN_IOAM: probes with an IOAM trace that was read
 * INT_COUNT_IN_INTMD: probes with INT-MD metadata that were read
 * INT_COUNT_IN_DATA_TLM: TCP packets other than probes whose telemetry of other vendors was read
 * INT_COUNT_IN_IFA_DATA: packets of TCP and UDP from which IFA's headers were removed
 * INT_COUNT_IN_INTMD_DATA: packets of TCP from which INT-MD was removed
 * INT_COUNT_IN_MERGED: packets of TCP that were merged with INT-MD in them; dropped
 * INT_COUNT_TLM_NO_LAYOUT: answers without a ratio: no hop has a layout and a known speed
 * INT_COUNT_TLM_USELESS: answers without a ratio: values of hops are implausible or stand still
 * INT_COUNT_TLM_CONTRADICTED: answers without a ratio: the reported queues do not explain the RTT
 * INT_COUNT_TLM_NO_ROOM: answers without a ratio: there is no room for all hops of the path
 * INT_COUNT_TLM_PATHS: answers without a ratio: packets take another path each time
 * INT_COUNT_TLM_IMPLAUSIBLE: records of hops that could not be true
 * INT_COUNT_BAD_IFA: malformed IFA headers, by enum ifa_fault; left to the stack
 * INT_COUNT_BAD_IOAM: malformed IOAM traces, by enum ioam_fault; not read
 * INT_COUNT_BAD_INTMD: malformed INT-MD, by enum intmd_fault; left to TCP, as data
 * INT_COUNT_BAD_STACK: metadata that is no whole number of hops by the layouts; not read
 */
#define INT_VENDOR_COUNT_LIST(count)					\
	HOP_CARRIER_COUNT_LIST(INT_COUNT, count)				\
	count(INT_COUNT_IN_IFA, "in_ifa")				\
	count(INT_COUNT_IN_IOAM, "in_ioam")				\
	count(INT_COUNT_IN_INTMD, "in_intmd")				\
	count(INT_COUNT_IN_DATA_TLM, "in_data_tlm")			\
	count(INT_COUNT_IN_IFA_DATA, "in_ifa_data")			\
	count(INT_COUNT_IN_INTMD_DATA, "in_intmd_data")			\
	count(INT_COUNT_IN_MERGED, "in_merged")				\
	count(INT_COUNT_TLM_NO_LAYOUT, "tlm_no_layout")			\
	count(INT_COUNT_TLM_USELESS, "tlm_useless")			\
	count(INT_COUNT_TLM_CONTRADICTED, "tlm_contradicted")		\
	count(INT_COUNT_TLM_NO_ROOM, "tlm_no_room")			\
	count(INT_COUNT_TLM_PATHS, "tlm_paths")				\
	count(INT_COUNT_TLM_IMPLAUSIBLE, "tlm_implausible")		\
	count(INT_COUNT_BAD_IFA, NULL)					\
	count(INT_COUNT_BAD_IFA_TRUNCATED, "bad_ifa_truncated")		\
	count(INT_COUNT_BAD_IFA_VERSION, "bad_ifa_version")		\
	count(INT_COUNT_BAD_IFA_TAIL, "bad_ifa_tail")			\
	count(INT_COUNT_BAD_IFA_NEXT, "bad_ifa_next")			\
	count(INT_COUNT_BAD_IFA_L4, "bad_ifa_l4")			\
	count(INT_COUNT_BAD_IFA_LENGTH, "bad_ifa_length")		\
	count(INT_COUNT_BAD_IOAM, NULL)					\
	count(INT_COUNT_BAD_IOAM_NONE, NULL)				\
	count(INT_COUNT_BAD_IOAM_TRUNCATED, "bad_ioam_truncated")	\
	count(INT_COUNT_BAD_IOAM_OPTIONS, "bad_ioam_options")		\
	count(INT_COUNT_BAD_IOAM_LENGTH, "bad_ioam_length")		\
	count(INT_COUNT_BAD_IOAM_TYPE, "bad_ioam_type")			\
	count(INT_COUNT_BAD_IOAM_NODE_LEN, "bad_ioam_node_len")		\
	count(INT_COUNT_BAD_IOAM_REMAINING, "bad_ioam_remaining")	\
	count(INT_COUNT_BAD_IOAM_STACK, "bad_ioam_stack")		\
	count(INT_COUNT_BAD_INTMD, NULL)				\
	count(INT_COUNT_BAD_INTMD_TRUNCATED, "bad_intmd_truncated")	\
	count(INT_COUNT_BAD_INTMD_TYPE, "bad_intmd_type")		\
	count(INT_COUNT_BAD_INTMD_NPT, "bad_intmd_npt")			\
	count(INT_COUNT_BAD_INTMD_LENGTH, "bad_intmd_length")		\
	count(INT_COUNT_BAD_INTMD_VERSION, "bad_intmd_version")		\
	count(INT_COUNT_BAD_INTMD_BITMAP, "bad_intmd_bitmap")		\
	count(INT_COUNT_BAD_INTMD_HOP_ML, "bad_intmd_hop_ml")		\
	count(INT_COUNT_BAD_INTMD_STACK, "bad_intmd_stack")		\
	count(INT_COUNT_BAD_STACK, "bad_stack")

enum int_vendor_count {
	INT_VENDOR_COUNT_LIST(HOP_COUNTER_INDEX)
	INT_VENDOR_COUNTS,
};

/**
 * struct int_vendor_state - first member of net_tlm's state of a connection
 * @load: number of the loading of net_tlm that made the state; a later build may have another
 *	layout
 */
struct int_vendor_state {
	u32 load;
};

/**
 * struct int_vendor_room - what a probe needs for telemetry of other vendors
 * @ops: NULL: nothing
 * @format: net.hopcc.int_format; 0: nothing
 * @space: net.hopcc.int_space
 * @slots: number of hops for which there must be room
 * @ipv6: the connection's packets are IPv6
 * @hides_tcp: result: a header is in front of TCP's
 * @bytes: result: bytes that are added to a packet without hop-by-hop options
 * @tcp_bytes: result: number of added bytes, by this host and by hops, that are payload of TCP
 * @growth_bytes: result: bytes that hops may add to the packet on its way
 */
struct int_vendor_room {
	const struct int_vendor_ops *ops;
	unsigned int format;
	unsigned int space;
	unsigned int slots;
	bool ipv6;
	bool hides_tcp;
	unsigned int bytes;
	unsigned int tcp_bytes;
	unsigned int growth_bytes;
};

/**
 * struct nint_arrival - received telemetry
 * @id: ID of the packet that collected it
 * @seq: SND.NXT after that packet was sent
 * @hdr: the header
 * @traced: int_vendor_ops.read() has read telemetry of other vendors
 * @rtt_ns: RTT of an earlier probe; 0: not known
 * @wnd_bytes: the sender's window
 */
struct nint_arrival {
	u32 id;
	u32 seq;
	bool traced;
	u32 rtt_ns;
	u32 wnd_bytes;
	const struct int_hdr *hdr;
};

/**
 * struct nint_reply - contents of an answer
 * @kind: kind of the answer
 * @wnd: WINDOW: W, bytes; RATIO: U
 * @tau_ns: RATIO: time of measurement
 * @flows: N; 0: not reported
 * @index: SUMMARY: index of the hop
 * @hops: WINDOW, RATIO: number of hops for which the sender must make room; with RATIO, of other
 *	vendors' hops; 0: none, or not reported
 * @none: RECORDS: the answer has no records, even if the probe has some
 */
struct nint_reply {
	enum int_answer_kind kind;
	u32 wnd;
	u32 tau_ns;
	u32 flows;
	u8 index;
	u8 hops;
	bool none;
};

/**
 * struct int_vendor_ops - what net_int calls
 * @room: sender: sets the results in @room, for a probe beside @skb, or beside any data (NULL).
 *	Return: false if the format cannot be used
 * @wrap: sender: adds the headers of @room and the IP headers of @skb to @probe, whose data is at
 *	its TCP header, which has a checksum
 * @read: receiver: reads what a probe has carried; @carried is the argument of
 *	nint_vendor_take(), NULL for a probe that net_int found, whose TCP header is at @tcp_at
 *	from skb->data. Return: 1 if it has read something, 0 if there is nothing, negative if the
 *	probe must not be answered
 * @learn: receiver: writes the answer to a probe, with the flow's lock held. Return: false if there
 *	is no telemetry of other vendors to answer with
 *
 * Context of all: RCU read lock.
 */
struct int_vendor_ops {
	bool (*room)(struct int_vendor_room *room, const struct sk_buff *skb);
	void (*wrap)(struct sk_buff *probe, const struct sk_buff *skb,
		     const struct hop_segment *seg, const struct int_vendor_room *room);
	int (*read)(struct sk_buff *skb, unsigned int tcp_at, struct int_flow *f,
		    const void *carried);
	bool (*learn)(const struct net *net, struct int_vendor_state *state,
		      const struct nint_arrival *arrival, u64 now_ns, const struct hpcc_params *p,
		      struct hpcc_vars *v, struct nint_reply *reply);
};

/**
 * nint_vendor_register() - start to call a module's functions
 * @ops: the functions
 *
 * Context: process; one module at a time.
 */
void nint_vendor_register(const struct int_vendor_ops *ops);

/**
 * nint_vendor_unregister() - stop to call the functions
 *
 * None of them runs when this function returns.
 *
 * Context: process.
 */
void nint_vendor_unregister(void);

/**
 * nint_vendor_on() - get net.hopcc.int
 * @net: network namespace
 *
 * Context: any.
 * Return: the value.
 */
unsigned int nint_vendor_on(const struct net *net);

/**
 * nint_vendor_count() - count in /proc/net/hopcc_int
 * @net: network namespace
 * @count: enum int_vendor_count
 * @n: number to add
 *
 * Context: any.
 */
void nint_vendor_count(const struct net *net, unsigned int count, unsigned int n);

/**
 * nint_vendor_lock() - take the lock of a flow, and get the module's state in it
 * @f: the flow
 * @bytes: size of the state, which is all zero at the start but for struct int_vendor_state
 *
 * Context: any but hard interrupt.
 * Return: the state; NULL if memory is short or the flow is about to be freed.
 */
struct int_vendor_state *nint_vendor_lock(struct int_flow *f, size_t bytes);

/**
 * nint_vendor_unlock() - release the lock of a flow
 * @f: the flow, also if nint_vendor_lock() returned NULL
 */
void nint_vendor_unlock(struct int_flow *f);

/**
 * nint_vendor_reader() - find the flow that uses the telemetry of a TCP segment
 * @skb: the packet, for this host
 * @th: its TCP header
 *
 * Context: RCU read lock.
 * Return: the flow, if its peer has asked for telemetry and the segment is within its windows; or
 * NULL.
 */
struct int_flow *nint_vendor_reader(struct sk_buff *skb, const struct tcphdr *th);

/**
 * nint_vendor_is_control() - is a TCP segment a probe or an answer?
 * @skb: the packet; skb->data is at its network header
 * @tcp_at: offset of the TCP header from skb->data
 * @payload_at: offset of the payload
 *
 * Context: any.
 * Return: true if it has the form of a probe or an answer.
 */
bool nint_vendor_is_control(const struct sk_buff *skb, unsigned int tcp_at,
			    unsigned int payload_at);

/**
 * nint_vendor_take() - process a probe with headers of another vendor in front of its payload
 * @skb: the packet, for this host; skb->data is at its network header
 * @tcp_at: offset of the TCP header from skb->data, which is linear
 * @payload_at: offset of the payload
 * @carried: argument of int_vendor_ops.read(), which is called for a valid probe
 *
 * The packet is linear when @read is called.
 *
 * Context: softirq, RCU read lock.
 * Return: true if the packet was a probe, and is consumed; false if it is data.
 */
bool nint_vendor_take(struct sk_buff *skb, unsigned int tcp_at, unsigned int payload_at,
		      const void *carried);

#endif /* HOPCC_FLOW_INT_VENDOR_H */
