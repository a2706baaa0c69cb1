/* SPDX-License-Identifier: GPL-2.0 */
/* Declarations that the files of net_int share */
#ifndef HOPCC_NET_INT_NET_INT_H
#define HOPCC_NET_INT_NET_INT_H

#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netfilter.h>
#include <linux/siphash.h>
#include <linux/tcp.h>
#include <hopcc/core/hop_carrier.h>
#include <hopcc/core/hop_output.h>
#include <hopcc/core/hop_proto.h>
#include <hopcc/core/hop_shim.h>
#include <hopcc/flow/int_vendor.h>
#include <net/checksum.h>
#include <net/dsfield.h>
#include <net/netns/generic.h>

#include "int_carrier.h"
#include "int_receiver.h"

/*
 * Maximum number of devices for which senders are counted to determine N. If all entries are in
 * use, senders of flows to another device use their own N.
 */
#define INT_STARTERS 16

/* Maximum text length of net.hopcc.int_cc. */
#define INT_CC_BYTES 128

/* Maximum of net.hopcc.int_every. */
#define INT_EVERY_MAX 1000U

#define INT_SLOTS_DEFAULT 5U

#define INT_SPACE_MAX 65535U

/**
 * enum nint_forward - net.hopcc.int_forward: packets that collect telemetry
 * @INT_FORWARD_PROBE: probes
 * @INT_FORWARD_INBAND: data
 */
enum nint_forward {
	INT_FORWARD_PROBE,
	INT_FORWARD_INBAND,
};

/**
 * enum nint_reverse - net.hopcc.int_reverse: packets that return telemetry
 * @INT_REVERSE_NOTIFY: answer packets
 * @INT_REVERSE_ACK: pure ACKs, in a TCP option
 */
enum nint_reverse {
	INT_REVERSE_NOTIFY,
	INT_REVERSE_ACK,
};

/*
 * The counters of a network namespace beside INT_VENDOR_COUNT_LIST, and their names
 *
 * INT_COUNT_IN_HANDSHAKE: packets received with the option that negotiates
 * INT_COUNT_IN_DATA: headers removed from received data
 * INT_COUNT_IN_LATE: packets that arrived in fragments and were received again whole
 * INT_COUNT_IN_OFF: packets of our protocol received while net.hopcc.int is 0; left to the stack
 * INT_COUNT_IN_PROBE: probes received
 * INT_COUNT_IN_ANSWER: answer packets received
 * INT_COUNT_IN_OPTION: answers received in ACKs
 * INT_COUNT_IN_NO_FLOW: options that negotiate without effect: a SYN for which no flow is created,
 *	a SYN-ACK that answers no SYN of ours, an ACK outside of the windows; headers (removed and
 *	not used) and control packets for connections that have not negotiated telemetry; dropped:
 *	resets with a header, and segments with one that belong to no connection of this host
 * INT_COUNT_IN_BAD_COOKIE: headers (as for INT_COUNT_IN_NO_FLOW) and control packets (left to TCP)
 *	from a sender that has not read our cookie
 * INT_COUNT_IN_BAD_TAG: answers whose authentication tag is wrong
 * INT_COUNT_IN_OLD: answers that were reordered or replayed
 * INT_COUNT_IN_FORGED: answers to packets that were never sent
 * INT_COUNT_IN_UNASKED: answers for sockets that do not use telemetry any more
 * INT_COUNT_IN_SHORT: answers from paths with more hops than slots for records
 * INT_COUNT_N_CLIPPED: flows that are not counted in the N of other clients, because their client
 * has
 *	more than INT_STARTERS_OF_OTHER flows on a last hop; once per flow and period
 * INT_COUNT_BAD: malformed headers, by enum int_fault; left to the stack
 * INT_COUNT_BAD_NEXT: headers that are not followed by TCP
 * INT_COUNT_OUT_HANDSHAKE: packets sent with the option that negotiates
 * INT_COUNT_OUT_DATA: headers added to data
 * INT_COUNT_OUT_GSO: GSO packets that contained a part of INT_COUNT_OUT_DATA
 * INT_COUNT_OUT_PROBE: probes sent
 * INT_COUNT_OUT_ANSWER: answer packets sent
 * INT_COUNT_OUT_OPTION: answers sent in ACKs
 * INT_COUNT_OUT_HIDDEN: packets without a header in front of TCP because a filter would miss TCP
 *	below it
 * INT_COUNT_NO_ROOM: headers, probes or options omitted because they would exceed the MTU or TCP's
 *	header
 * INT_COUNT_NO_ROUTE: answers for which no route was found
 * INT_COUNT_ACK_NOW: ACKs sent immediately because the sender's window is small
 * INT_COUNT_ICMP: ICMP errors about packets with a header, passed on to TCP
 * INT_COUNT_ICMP_REFUSED: ICMP errors that report that the peer or the path refuses our headers
 * INT_COUNT_ICMP_SHORT: ICMP errors whose quote is too short, or has no header of ours
 * INT_COUNT_SUPPORTED: connections whose peer supports telemetry
 * INT_COUNT_UNSUPPORTED: connections whose peer turned out not to support telemetry
 * INT_COUNT_GIVEN_UP: subset of INT_COUNT_UNSUPPORTED: answers stopped
 * INT_COUNT_AVOIDED: connections that do not ask by ACKs, since the peer did not answer others
 */
#define INT_COUNT_LIST(count)						\
	count(INT_COUNT_IN_DATA, "in_data")				\
	count(INT_COUNT_IN_LATE, "in_late")				\
	count(INT_COUNT_IN_OFF, "in_off")				\
	count(INT_COUNT_IN_PROBE, "in_probe")				\
	count(INT_COUNT_IN_ANSWER, "in_answer")				\
	count(INT_COUNT_IN_OPTION, "in_option")				\
	count(INT_COUNT_IN_BAD_COOKIE, "in_bad_cookie")			\
	count(INT_COUNT_IN_BAD_TAG, "in_bad_tag")			\
	count(INT_COUNT_IN_OLD, "in_old")				\
	count(INT_COUNT_IN_FORGED, "in_forged")				\
	count(INT_COUNT_IN_UNASKED, "in_unasked")			\
	count(INT_COUNT_IN_SHORT, "in_short")				\
	count(INT_COUNT_N_CLIPPED, "n_clipped")				\
	count(INT_COUNT_BAD, NULL)					\
	count(INT_COUNT_BAD_TRUNCATED, "bad_truncated")			\
	count(INT_COUNT_BAD_LENGTH, "bad_length")			\
	count(INT_COUNT_BAD_TYPE, "bad_type")				\
	count(INT_COUNT_BAD_SLOTS, "bad_slots")				\
	count(INT_COUNT_BAD_HOPS, "bad_hops")				\
	count(INT_COUNT_BAD_NEXT, "bad_next")				\
	count(INT_COUNT_OUT_DATA, "out_data")				\
	count(INT_COUNT_OUT_GSO, "out_gso")				\
	count(INT_COUNT_OUT_PROBE, "out_probe")				\
	count(INT_COUNT_OUT_ANSWER, "out_answer")			\
	count(INT_COUNT_OUT_OPTION, "out_option")			\
	count(INT_COUNT_NO_ROUTE, "out_no_route")			\
	count(INT_COUNT_ACK_NOW, "ack_now")				\
	count(INT_COUNT_ICMP, "icmp")					\
	count(INT_COUNT_ICMP_REFUSED, "icmp_refused")			\
	count(INT_COUNT_ICMP_SHORT, "icmp_short")			\
	count(INT_COUNT_GIVEN_UP, "peer_given_up")			\
	count(INT_COUNT_GUARDED, "path_guarded")

enum nint_count {
	INT_COUNT_VENDOR_LAST = INT_VENDOR_COUNTS - 1,
	INT_COUNT_LIST(HOP_COUNTER_INDEX)
	INT_COUNTS,
};

/**
 * struct nint_key - net.hopcc.int_key
 * @sip: the key
 * @rcu: for kfree_rcu()
 */
struct nint_key {
	siphash_key_t sip;
	struct rcu_head rcu;
};

/**
 * struct nint_net - state of a netns
 * @carrier: what all carriers have
 * @on: net.hopcc.int
 * @forward: net.hopcc.int_forward
 * @reverse: net.hopcc.int_reverse
 * @slots: net.hopcc.int_slots
 * @every: net.hopcc.int_every
 * @anonymous: net.hopcc.int_anonymous
 * @format: net.hopcc.int_format
 * @space: net.hopcc.int_space
 * @cc: net.hopcc.int_cc
 * @key: net.hopcc.int_key; NULL: none
 * @starters_lock: protects @starters
 * @starters: flow counts of devices; NULL: none yet
 */
struct nint_net {
	struct hop_carrier_net carrier;
	unsigned int on;
	unsigned int forward;
	unsigned int reverse;
	unsigned int slots;
	unsigned int every;
	unsigned int anonymous;
	unsigned int format;
	unsigned int space;
	char cc[INT_CC_BYTES];
	struct nint_key __rcu *key;
	spinlock_t starters_lock;	/* protects @starters */
	struct nint_starters *starters[INT_STARTERS];
};

/**
 * struct int_flow - net_int's state of a connection; together with its hop_flow it has 1024 bytes
 * @lock: protects all other fields; taken with BH off
 * @cookie: our cookie; a packet with it comes from a host that has read our handshake
 * @peer_cookie: the peer's cookie
 * @sk: socket of the congestion control while it uses telemetry; hooks compare the pointer, and
 *	dereference it only while they hold the socket
 * @forward: enum int_forward, as it was when @sk started to use telemetry
 * @slots: number of slots for records
 * @format: net.hopcc.int_format, as it was when @sk started to use telemetry; 0: it cannot be used
 * @stopped: the flow is about to be freed, and must not get @vendor any more
 * @probes_only: the path does not pass our headers
 * @proof_id: ID of the latest pure ACK with such a header
 * @proof: pure ACKs with such a header; under the socket lock
 * @hops: number of hops on the path of data if known, otherwise on the reverse path
 * @asked: @ask is set
 * @terms_reported: with headers in data: the receiver knows the parameters of the algorithm
 * @summary_due: @summary waits for an ACK
 * @acks_now: the latest packet that collects records has requested ACKs without delay
 * @syn_sent_ns: time at which our SYN was sent, by tcp_clock_ns(); 0: we sent none
 * @terms_ns: time at which the parameters were sent last, the lower 32 bits
 * @pending_ns: time since which a summary has been waiting, the lower 32 bits
 * @ask: request of the congestion control; its @wnd_bytes and @seldom are also written under the
 *	socket lock
 * @skipped: number of data packets since the last one with a header
 * @asker: state that decides when to collect, and which answers are new
 * @answer: the latest answer
 * @answer_is_new: the congestion control has not taken it yet; read without @lock
 * @receiver: state for telemetry that the peer collects
 * @summary: option for the next ACK
 * @vendor: state for telemetry of other vendors; NULL: none was received
 */
struct int_flow {
	spinlock_t lock;	/* protects all fields below */
	u64 cookie;
	u64 peer_cookie;
	struct sock *sk;
	u8 forward;
	u8 slots;
	u8 format;
	bool stopped;
	bool probes_only;
	u32 proof_id;
	struct hop_late proof;
	u8 hops;
	bool asked;
	bool terms_reported;
	bool summary_due;
	bool acks_now;
	u64 syn_sent_ns;
	u32 terms_ns;
	u32 pending_ns;
	struct int_ask ask;
	u16 skipped;
	struct nint_asker asker;
	struct int_answer answer;
	bool answer_is_new;
	struct nint_receiver receiver;
	struct nint_opt summary;
	struct int_vendor_state *vendor;
};

extern unsigned int int_net_id;
extern u8 nint_protocol;
extern const struct hop_carrier nint_carrier;

static inline struct nint_net *nint_net(const struct net *net)
{
	return net_generic(net, int_net_id);
}

static inline void nint_count_add(const struct nint_net *in, unsigned int count, unsigned int n)
{
	hop_carrier_count_add(&in->carrier, count, n);
}

static inline void nint_count(const struct nint_net *in, unsigned int count)
{
	nint_count_add(in, count, 1);
}

/* flow.c */
void nint_flow_start(void *state);
void nint_vendor_stop(void *state);
unsigned int nint_answer_store(struct hop_flow *flow, u32 id, const struct int_answer *a);
void nint_leave_data(struct hop_flow *flow);
int nint_vendor_load(struct net *net);
void nint_vendor_room(struct int_vendor_room *room, const struct int_flow *f, unsigned int format,
		      const struct sk_buff *skb, const struct nf_hook_state *state);
int nint_vendor_read(struct sk_buff *skb, unsigned int tcp_at, struct int_flow *f,
		     const void *carried);
bool nint_vendor_learn(const struct nint_net *in, struct int_flow *f,
		       const struct nint_arrival *arrival, u64 now_ns, struct nint_reply *reply);

/* input.c */
unsigned int nint_input(struct sk_buff *skb, const struct hop_shim_place *place,
			const struct nf_hook_state *state);
bool nint_receive_late(struct sk_buff *skb);

/* Return: true if data carries headers. */
static inline bool nint_is_inband(const struct int_flow *f)
{
	return f->forward == INT_FORWARD_INBAND &&
	       test_bit(HOP_FLOW_PASSED, &hop_flow_of_state((void *)f)->flags);
}

/* A packet of the peer's carrier. If the peer's cookie is not known yet, ACKs ask for it. */
static inline void nint_flow_receive(struct hop_flow *flow)
{
	const struct int_flow *f = hop_flow_state(flow);

	if (READ_ONCE(f->peer_cookie))
		hop_flow_event(flow, HOP_EVENT_RECEIVED);
}

/* Room of our own header in data. */
static inline unsigned int nint_inband_bytes(unsigned int slots)
{
	return int_hdr_bytes(slots) + INT_TAIL_BYTES;
}

/* answer.c */
bool nint_has_key(const struct nint_net *in);
u64 nint_tag(const struct nint_net *in, const struct hop_flow_key *key, bool out,
	     const struct nint_control *ctl);
void nint_starters_free(struct nint_net *in);
void nint_arrive(struct nint_net *in, struct sk_buff *skb, struct hop_flow *flow,
		 const struct nint_arrival *arrival);

/* probe.c */
struct sk_buff *nint_control_alloc(const struct tcphdr *like, u32 una,
				   const struct nint_control *ctl, unsigned int headroom_bytes);
void nint_control_csum(struct sk_buff *skb, const void *saddr, const void *daddr);
void nint_probe(struct nint_net *in, struct sk_buff *skb, const struct hop_segment *seg,
		struct sock *sk, struct hop_flow *flow);

/* output.c */
unsigned int nint_output(struct sk_buff *skb, const struct hop_segment *seg,
			 const struct nf_hook_state *state);

/* protocol.c */
extern struct hop_proto nint_proto;

#endif /* HOPCC_NET_INT_NET_INT_H */
