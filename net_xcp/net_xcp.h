/* SPDX-License-Identifier: GPL-2.0 */
/* Declarations that the files of net_xcp share */
#ifndef HOPCC_NET_XCP_NET_XCP_H
#define HOPCC_NET_XCP_NET_XCP_H

#include <linux/ipv6.h>
#include <linux/netfilter.h>
#include <linux/skbuff.h>
#include <hopcc/core/hop_carrier.h>
#include <hopcc/core/hop_output.h>
#include <hopcc/core/hop_proto.h>
#include <hopcc/core/hop_shim.h>
#include <net/netns/generic.h>

#include "xcp_carrier.h"

/*
 * The counters of a network namespace, and their names
 *
 * XCP_COUNT_IN: headers removed from received packets
 * XCP_COUNT_IN_LATE: packets that arrived in fragments and were received again whole
 * XCP_COUNT_IN_FLAGS: subset of XCP_COUNT_IN with unknown flags
 * XCP_COUNT_IN_BAD_SUM: options and copies with a wrong TCP checksum, and segments of connections
 *	that have not negotiated
 * XCP_COUNT_IN_BAD_SEQ: subset of XCP_COUNT_IN: segments outside of the TCP windows, which may
 *	come from an attacker
 * XCP_COUNT_IN_EXCESS: ACKs with more feedback than tcp_xcp has asked for, whose peer may lie; it
 *	uses what it has asked for
 * XCP_COUNT_IN_NO_FLOW: options and headers that are not used, since no established connection has
 *	negotiated XCP, or for lack of room; dropped: SYNs and resets with a header, and segments
 *	with a header that belong to no connection of this host
 * XCP_COUNT_IN_OFF: XCP packets received while net.hopcc.xcp is 0, or with a next header that
 *	needs xcp_tunnel or xcp_ipsec while that is 0; left to the stack
 * XCP_COUNT_IN_HIDDEN: headers left in place because a filter of the device has not seen the
 *	packet below them
 * XCP_COUNT_BAD: malformed headers, by enum xcp_fault; left to the stack
 * XCP_COUNT_OUT_DATA: headers added to data, by tcp_xcp's sockets or as answers in other sockets'
 *	data
 * XCP_COUNT_OUT_ACK: Minimal headers added to pure ACKs, or to copies of them
 * XCP_COUNT_IN_HANDSHAKE: packets received with the option by which carriers negotiate
 * XCP_COUNT_OUT_HANDSHAKE: packets sent with it
 * XCP_COUNT_OUT_TRY: packets of which a copy has a header, to see if the path passes headers
 * XCP_COUNT_NO_ROOM: packets without a header because it would exceed the MTU or does not fit for
 *	another reason
 * XCP_COUNT_OUT_HIDDEN: packets without a header because a filter would miss what is below it
 * XCP_COUNT_OUT_GSO: GSO packets that carried a part of XCP_COUNT_OUT_DATA
 * XCP_COUNT_NO_MEMORY: packets that could not be made writable for lack of memory
 * XCP_COUNT_ACK_NOW: ACKs sent immediately because the sender's window is small
 * XCP_COUNT_ICMP: ICMP errors about packets with a header, passed on to TCP or the tunnel
 * XCP_COUNT_ICMP_REFUSED: ICMP errors that report that the peer or the path refuses our headers
 * XCP_COUNT_ICMP_SHORT: ICMP errors whose quote is too short, or has no XCP header
 * XCP_COUNT_SUPPORTED: connections whose peer supports XCP
 * XCP_COUNT_UNSUPPORTED: connections whose peer turned out not to support XCP
 * XCP_COUNT_AVOIDED: connections that neither ask by ACKs nor try headers because the peer is
 *	cached as one without support
 * XCP_COUNT_TUNNEL_OUT: copies of the header added to packets that enter a tunnel
 * XCP_COUNT_TUNNEL_NO_ROOM: packets without a copy because it would exceed the MTU
 * XCP_COUNT_TUNNEL_GSO: GSO packets that entered a tunnel or IPsec without a header in front
 * XCP_COUNT_TUNNEL_AVOIDED: packets without a copy because the tunnel's far end is cached as one
 *	without support
 * XCP_COUNT_TUNNEL_REFUSED: ICMP errors that report that the far end of a tunnel refuses copies
 * XCP_COUNT_TUNNEL_UNSENT: ICMP errors that report the same, but quote no copy that this host has
 *	sent lately; they change nothing
 * XCP_COUNT_TUNNEL_IN: copies removed from packets that leave a tunnel
 * XCP_COUNT_TUNNEL_LOWERED: subset of XCP_COUNT_TUNNEL_IN: copies that lowered Delta_Throughput in
 *	the inner header
 * XCP_COUNT_TUNNEL_BAD: subset of XCP_COUNT_TUNNEL_IN: copies that match no inner header
 * XCP_COUNT_IPSEC_OUT: headers added in front of AH and ESP
 * XCP_COUNT_IPSEC_IN: headers removed in front of AH and ESP
 */
#define XCP_COUNT_LIST(count)						\
	HOP_CARRIER_COUNT_LIST(XCP_COUNT, count)				\
	count(XCP_COUNT_IN, "in")					\
	count(XCP_COUNT_IN_LATE, "in_late")				\
	count(XCP_COUNT_IN_FLAGS, "in_flags_unknown")			\
	count(XCP_COUNT_IN_BAD_SEQ, "in_bad_seq")			\
	count(XCP_COUNT_IN_EXCESS, "in_excess")				\
	count(XCP_COUNT_IN_OFF, "in_off")				\
	count(XCP_COUNT_BAD, NULL)					\
	count(XCP_COUNT_BAD_TRUNCATED, "bad_truncated")			\
	count(XCP_COUNT_BAD_VERSION, "bad_version")			\
	count(XCP_COUNT_BAD_FORMAT, "bad_format")			\
	count(XCP_COUNT_BAD_LENGTH, "bad_length")			\
	count(XCP_COUNT_BAD_NEXT, "bad_next")				\
	count(XCP_COUNT_OUT_DATA, "out_data")				\
	count(XCP_COUNT_OUT_ACK, "out_ack")				\
	count(XCP_COUNT_OUT_TRY, "out_try")				\
	count(XCP_COUNT_OUT_GSO, "out_gso")				\
	count(XCP_COUNT_ACK_NOW, "ack_now")				\
	count(XCP_COUNT_ICMP, "icmp")					\
	count(XCP_COUNT_ICMP_REFUSED, "icmp_refused")			\
	count(XCP_COUNT_ICMP_SHORT, "icmp_short")			\
	count(XCP_COUNT_TUNNEL_OUT, "tunnel_out")			\
	count(XCP_COUNT_TUNNEL_NO_ROOM, "tunnel_no_room")		\
	count(XCP_COUNT_TUNNEL_GSO, "tunnel_gso")			\
	count(XCP_COUNT_TUNNEL_AVOIDED, "tunnel_avoided")		\
	count(XCP_COUNT_TUNNEL_REFUSED, "tunnel_refused")		\
	count(XCP_COUNT_TUNNEL_UNSENT, "tunnel_unsent")			\
	count(XCP_COUNT_TUNNEL_IN, "tunnel_in")				\
	count(XCP_COUNT_TUNNEL_LOWERED, "tunnel_lowered")		\
	count(XCP_COUNT_TUNNEL_BAD, "tunnel_bad")			\
	count(XCP_COUNT_IPSEC_OUT, "ipsec_out")				\
	count(XCP_COUNT_IPSEC_IN, "ipsec_in")

enum nxcp_count {
	XCP_COUNT_LIST(HOP_COUNTER_INDEX)
	XCP_COUNTS,
};

/**
 * struct nxcp_net - state per netns
 * @carrier: what all carriers have
 * @on: net.hopcc.xcp
 * @format: net.hopcc.xcp_format
 * @gso: net.hopcc.xcp_gso
 * @tunnel: net.hopcc.xcp_tunnel
 * @ipsec: net.hopcc.xcp_ipsec
 * @unsupported_tunnels: far ends of tunnels that do not support XCP; kept apart because connections
 *	do not end there
 * @sent: the copies that were sent lately; NULL until @tunnel or @ipsec is set
 */
struct nxcp_net {
	struct hop_carrier_net carrier;
	unsigned int on;
	unsigned int format;
	unsigned int gso;
	unsigned int tunnel;
	unsigned int ipsec;
	struct hop_recent unsupported_tunnels;
	struct nxcp_sent *sent;
};

/**
 * struct xcp_flow - net_xcp's state of a connection; stored in a struct hop_flow
 * @offer: values from the congestion control; written under the socket lock, read without a lock;
 *	the first member, see xcp_flow_offer()
 * @lock: protects all members for which no other lock is named; taken with BH off
 * @no_gso: the carrier has switched off the socket's GSO packets; protected by the socket lock
 * @room: the socket uses another congestion control and its data leaves room for answers; protected
 *	by the socket lock
 * @vars: state of the carrier's algorithm, xcp_carrier.h
 * @sk: socket of the congestion control while it uses the flow, or the one with @room; hooks only
 *	compare it and never dereference it
 *
 * With struct hop_flow the size is 256 bytes; one byte more would take 512.
 */
struct xcp_flow {
	struct xcp_offer offer;
	spinlock_t lock;	/* members not under the socket lock */
	bool no_gso;
	bool room;
	struct nxcp_vars vars;
	struct sock *sk;
};

static_assert(!offsetof(struct xcp_flow, offer));

extern unsigned int xcp_net_id;
extern u8 nxcp_protocol;
extern const struct hop_carrier nxcp_carrier;

static inline struct nxcp_net *nxcp_net(const struct net *net)
{
	return net_generic(net, xcp_net_id);
}

static inline void nxcp_count_add(const struct nxcp_net *xn, unsigned int count, unsigned int n)
{
	hop_carrier_count_add(&xn->carrier, count, n);
}

static inline void nxcp_count(const struct nxcp_net *xn, unsigned int count)
{
	nxcp_count_add(xn, count, 1);
}

/* flow.c */
void nxcp_flow_start(void *state);
void nxcp_flow_leave(struct sock *sk, void *flow);
void nxcp_flow_make_room(struct sock *sk, void *flow);

/* input.c */
unsigned int nxcp_input(struct sk_buff *skb, const struct hop_shim_place *place,
			const struct nf_hook_state *state);
bool nxcp_receive_late(struct sk_buff *skb);

/* insert.c */
/**
 * struct nxcp_note - a congestion header stored at skb->head
 * @mark: identifies the skb that the note belongs to
 * @header: the congestion header
 * @tunnel: the header is a copy of the inner packet's header
 */
struct nxcp_note {
	u64 mark;
	struct xcp_hdr header;
	bool tunnel;
};

bool nxcp_ipsec_is_transport(const struct sk_buff *skb);
bool nxcp_ipsec_is_inside(const struct sk_buff *skb);
struct nxcp_note *nxcp_note_leave(struct sk_buff *skb, unsigned int reserve_bytes);
bool nxcp_note_take(const struct sk_buff *skb, struct nxcp_note *taken);
void nxcp_note_forget(const struct sk_buff *skb);
unsigned int nxcp_note_pushed_bytes(const struct sk_buff *skb);
struct xcp_hdr *nxcp_insert(struct sk_buff *skb, const struct hop_shim_place *place);

/* sent.c */
int nxcp_sent_start(struct nxcp_net *xn);
void nxcp_sent_add(struct nxcp_net *xn, const struct sk_buff *skb, unsigned int offset_bytes);
bool nxcp_sent_has(struct nxcp_net *xn, const struct sk_buff *skb, unsigned int offset_bytes);

/* tunnel.c */
bool nxcp_tunnel_is(u8 protocol);
void nxcp_tunnel_enter(struct nxcp_net *xn, struct sk_buff *skb,
		       const struct hop_shim_place *place, const struct nf_hook_state *state);
void nxcp_tunnel_approach(struct sk_buff *skb, const struct net_device *out);
void nxcp_tunnel_copy_back(struct nxcp_net *xn, struct sk_buff *skb, unsigned int offset_bytes,
			   const struct xcp_hdr *outer);
bool nxcp_tunnel_may_copy(struct nxcp_net *xn, const struct sk_buff *skb,
			  const struct nf_hook_state *state, bool tunnel);
void nxcp_tunnel_refused(struct nxcp_net *xn, const struct sk_buff *skb, unsigned int offset_bytes);

/* ipsec.c */
bool nxcp_ipsec_is(u8 protocol);
void nxcp_ipsec_begin(const struct sk_buff *skb);
void nxcp_ipsec_expect(const struct sk_buff *skb);
bool nxcp_ipsec_decrypted(struct sk_buff *skb);
unsigned int nxcp_ipsec_output(struct nxcp_net *xn, struct sk_buff *skb,
			       const struct hop_shim_place *place,
			       const struct nf_hook_state *state);
void nxcp_ipsec_leave(struct nxcp_net *xn, struct sk_buff *skb, const struct xcp_hdr *h);
bool nxcp_ipsec_input(struct nxcp_net *xn, struct sk_buff *skb, const struct hop_shim_place *place,
		      struct xcp_hdr *h);

/* output.c */
unsigned int nxcp_output(struct sk_buff *skb, const struct hop_segment *seg,
			 const struct nf_hook_state *state);

/* offload.c */
extern struct hop_proto nxcp_proto;

/* icmp.c */
unsigned int nxcp_read_quoted(struct sk_buff *skb, unsigned int offset_bytes,
			      enum hop_icmp_decision decision, u8 *next);

/* Return: true if @protocol may follow the XCP header: TCP, a tunnel, AH or ESP */
static inline bool nxcp_may_follow(u8 protocol)
{
	return protocol == IPPROTO_TCP || nxcp_tunnel_is(protocol) || nxcp_ipsec_is(protocol);
}

#endif /* HOPCC_NET_XCP_NET_XCP_H */
