/* SPDX-License-Identifier: GPL-2.0 */
/* What the files of net_xcp share. */
#ifndef NET_XCP_NET_XCP_H
#define NET_XCP_NET_XCP_H

#include <linux/ipv6.h>
#include <linux/netfilter.h>
#include <linux/skbuff.h>
#include <linux/tcp.h>
#include <net/hop_flow.h>
#include <net/hop_output.h>
#include <net/hop_sysctl.h>
#include <net/hop_shim.h>
#include <net/hop_silent.h>
#include <net/netns/generic.h>

#include "xcp_carrier.h"

/**
 * enum xcp_count - what is counted, a netns; names are in xcp_count_names[]
 * @XCP_COUNT_IN: headers taken out of packets
 * @XCP_COUNT_IN_LATE: headers taken out of packets that arrived in fragments
 * @XCP_COUNT_IN_FLAGS: of XCP_COUNT_IN, with unknown flags
 * @XCP_COUNT_IN_BAD_SUM: of XCP_COUNT_IN, SYNs whose TCP checksum is wrong
 * @XCP_COUNT_IN_BAD_SEQ: of XCP_COUNT_IN, that TCP's windows have no place for: anybody's
 * @XCP_COUNT_IN_NO_FLOW: SYNs that open no flow, and ACKs that ask and find no room; headers,
 *	left in place, of no connection that negotiated them
 * @XCP_COUNT_IN_OFF: packets of our protocol while net.hopcc.xcp, or what follows needs
 *	xcp_tunnel or xcp_ipsec, is 0; left to the stack
 * @XCP_COUNT_IN_HIDDEN: headers left in place, since a filter of the device has not seen
 *	what is below them
 * @XCP_COUNT_BAD: malformed, by enum xcp_fault; left to the stack
 * @XCP_COUNT_BAD_LAST: the last of them
 * @XCP_COUNT_OUT_DATA: headers put on data, a reactor's and answers on others'
 * @XCP_COUNT_OUT_ACK: Minimal headers put on pure ACKs
 * @XCP_COUNT_OUT_SYN: headers put on SYNs, SYN-ACKs, and ACKs that ask
 * @XCP_COUNT_NO_ROOM: data of a reactor's socket that would exceed the MTU, and packets
 *	that a header does not fit in otherwise
 * @XCP_COUNT_OUT_SUPER: super-packets that some of XCP_COUNT_OUT_DATA left in
 * @XCP_COUNT_NO_MEMORY: packets that could not be made writable, for want of memory
 * @XCP_COUNT_ACK_NOW: ACKs sent at once for a small window
 * @XCP_COUNT_ICMP: errors about packets with a header, told to TCP
 * @XCP_COUNT_ICMP_REFUSED: errors that say that our headers are not welcome
 * @XCP_COUNT_ICMP_SHORT: errors that quote too little, no header of ours, or no packet
 *	of this host's
 * @XCP_COUNT_SPEAKS: connections whose peer speaks XCP
 * @XCP_COUNT_SILENT: connections that found out that it does not
 * @XCP_COUNT_RESET: of these, since the peer did not know a connection that spoke
 * @XCP_COUNT_AVOIDED: handshakes without a header, to or from a remembered destination
 * @XCP_COUNT_TUNNEL_OUT: copies put in front of what enters a tunnel
 * @XCP_COUNT_TUNNEL_NO_ROOM: packets that a copy would make exceed the MTU
 * @XCP_COUNT_TUNNEL_SUPER: super-packets that entered a tunnel or IPsec, without a header
 *	in front
 * @XCP_COUNT_TUNNEL_AVOIDED: packets into tunnels whose far end is remembered
 * @XCP_COUNT_TUNNEL_REFUSED: errors that say that the far end takes no copies
 * @XCP_COUNT_TUNNEL_IN: copies taken off
 * @XCP_COUNT_TUNNEL_LOWERED: of these, that lowered what the header inside asks
 * @XCP_COUNT_TUNNEL_BAD: of these, with no header inside that they are a copy of
 * @XCP_COUNT_IPSEC_OUT: headers put in front of AH and ESP
 * @XCP_COUNT_IPSEC_IN: headers taken off there
 * @XCP_COUNTS: number of counters
 */
enum xcp_count {
	XCP_COUNT_IN,
	XCP_COUNT_IN_LATE,
	XCP_COUNT_IN_FLAGS,
	XCP_COUNT_IN_BAD_SUM,
	XCP_COUNT_IN_BAD_SEQ,
	XCP_COUNT_IN_NO_FLOW,
	XCP_COUNT_IN_OFF,
	XCP_COUNT_IN_HIDDEN,
	XCP_COUNT_BAD,
	XCP_COUNT_BAD_LAST = XCP_COUNT_BAD + XCP_FAULTS - 1,
	XCP_COUNT_OUT_DATA,
	XCP_COUNT_OUT_ACK,
	XCP_COUNT_OUT_SYN,
	XCP_COUNT_NO_ROOM,
	XCP_COUNT_OUT_SUPER,
	XCP_COUNT_NO_MEMORY,
	XCP_COUNT_ACK_NOW,
	XCP_COUNT_ICMP,
	XCP_COUNT_ICMP_REFUSED,
	XCP_COUNT_ICMP_SHORT,
	XCP_COUNT_SPEAKS,
	XCP_COUNT_SILENT,
	XCP_COUNT_RESET,
	XCP_COUNT_AVOIDED,
	XCP_COUNT_TUNNEL_OUT,
	XCP_COUNT_TUNNEL_NO_ROOM,
	XCP_COUNT_TUNNEL_SUPER,
	XCP_COUNT_TUNNEL_AVOIDED,
	XCP_COUNT_TUNNEL_REFUSED,
	XCP_COUNT_TUNNEL_IN,
	XCP_COUNT_TUNNEL_LOWERED,
	XCP_COUNT_TUNNEL_BAD,
	XCP_COUNT_IPSEC_OUT,
	XCP_COUNT_IPSEC_IN,
	XCP_COUNTS,
};

/**
 * struct xcp_net - of a netns
 * @net: the netns
 * @on: net.hopcc.xcp
 * @format: net.hopcc.xcp_format
 * @silent_s: net.hopcc.xcp_silent_s
 * @gso: net.hopcc.xcp_gso
 * @tunnel: net.hopcc.xcp_tunnel
 * @ipsec: net.hopcc.xcp_ipsec
 * @counts: XCP_COUNTS of them, of each CPU
 * @sysctl: the sysctls
 * @silent: of connections
 * @silent_tunnels: far ends of tunnels; apart, since errors about their packets prove less
 */
struct xcp_net {
	struct net *net;
	unsigned int on;
	unsigned int format;
	unsigned int silent_s;
	unsigned int gso;
	unsigned int tunnel;
	unsigned int ipsec;
	unsigned long __percpu *counts;
	struct hop_sysctl sysctl;
	struct hop_silent silent;
	struct hop_silent silent_tunnels;
};

/**
 * struct xcp_flow - what net_xcp knows of a connection; state of a hop_flow
 * @offer: the congestion control's; written under the socket lock and read without a lock; the
 *	first member, see xcp_flow_offer()
 * @lock: of all that follows but where another is named; taken with BH off
 * @no_gso: the carrier has switched the socket's GSO packets off; socket lock
 * @room: the socket's congestion control is another, and its data leaves room for answers; socket
 *	lock
 * @vars: the law's
 * @sk: the congestion control's socket while it takes part; compared, never followed by hooks
 *
 * With struct hop_flow it is 256 bytes; one more would take 512.
 */
struct xcp_flow {
	struct xcp_offer offer;
	spinlock_t lock;	/* of what is not the socket lock's */
	bool no_gso;
	bool room;
	struct xcp_vars vars;
	struct sock *sk;
};

static_assert(!offsetof(struct xcp_flow, offer));

extern unsigned int xcp_net_id;
extern u8 xcp_protocol;
extern const struct hop_flow_kind xcp_flow_kind;

static inline struct xcp_net *xcp_net(const struct net *net)
{
	return net_generic(net, xcp_net_id);
}

static inline void xcp_count_add(const struct xcp_net *xn, unsigned int count, unsigned int n)
{
	this_cpu_add(xn->counts[count], n);
}

static inline void xcp_count(const struct xcp_net *xn, unsigned int count)
{
	xcp_count_add(xn, count, 1);
}

static inline void xcp_count_fault(const struct xcp_net *xn, enum xcp_fault fault)
{
	xcp_count(xn, XCP_COUNT_BAD + fault);
}

/* flow.c */
enum hop_stage xcp_flow_event(struct hop_flow *flow, enum hop_event event);
void xcp_flow_make_room(struct sock *sk, void *flow);

/* input.c */
unsigned int xcp_input(struct sk_buff *skb, const struct hop_shim_place *place,
		       const struct nf_hook_state *state);
int xcp_input_init(void);
void xcp_input_exit(void);

/* tunnel.c */
bool xcp_tunnel_is(u8 protocol);
void xcp_tunnel_enter(struct xcp_net *xn, struct sk_buff *skb,
		      const struct hop_shim_place *place);
void xcp_tunnel_approach(struct sk_buff *skb, const struct net_device *out);
void xcp_tunnel_leave(struct xcp_net *xn, struct sk_buff *skb, unsigned int offset_bytes,
		      const struct xcp_hdr *outer);
void xcp_tunnel_copy_back(struct xcp_net *xn, struct sk_buff *skb, unsigned int offset_bytes,
			  const struct xcp_hdr *outer);
bool xcp_tunnel_may_copy(struct xcp_net *xn, const struct sk_buff *skb, bool tunnel);
void xcp_tunnel_refused(struct xcp_net *xn, const struct sk_buff *skb);

/* ipsec.c */
bool xcp_ipsec_is(u8 protocol);
void xcp_ipsec_begin(const struct sk_buff *skb);
void xcp_ipsec_expect(const struct sk_buff *skb);
bool xcp_ipsec_decrypted(struct sk_buff *skb);
bool xcp_ipsec_is_transport(const struct sk_buff *skb);
bool xcp_ipsec_is_unknown(const struct sk_buff *skb);
struct xcp_hdr *xcp_ipsec_note(struct sk_buff *skb);
unsigned int xcp_ipsec_output(struct xcp_net *xn, struct sk_buff *skb,
			      const struct hop_shim_place *place,
			      const struct nf_hook_state *state);
void xcp_ipsec_leave(struct xcp_net *xn, struct sk_buff *skb, const struct xcp_hdr *h);
bool xcp_ipsec_input(struct xcp_net *xn, struct sk_buff *skb, const struct hop_shim_place *place,
		     struct xcp_hdr *h);

/* output.c */
extern const struct hop_greeter xcp_greeter;
struct xcp_hdr *xcp_insert(struct sk_buff *skb, const struct hop_shim_place *place);
void xcp_output_pay(const struct xcp_net *xn, struct xcp_hdr *h, const struct sock *sk);
unsigned int xcp_output(struct sk_buff *skb, const struct hop_segment *seg,
			const struct nf_hook_state *state);

/* gso.c */
int xcp_gso_init(void);
void xcp_gso_exit(void);

/* gro.c */
struct sk_buff *xcp_gro_receive_v4(struct list_head *head, struct sk_buff *skb);
int xcp_gro_complete_v4(struct sk_buff *skb, int at_bytes);
struct sk_buff *xcp_gro_receive_v6(struct list_head *head, struct sk_buff *skb);
int xcp_gro_complete_v6(struct sk_buff *skb, int at_bytes);
void xcp_gro_start(void);
void xcp_gro_stop(void);

/* icmp.c */
int xcp_icmp_v4(struct sk_buff *skb, u32 info);
int xcp_icmp_v6(struct sk_buff *skb, struct inet6_skb_parm *opt, u8 type, u8 code,
		int offset, __be32 info);

/* What may follow our header: TCP, a tunnel, or what hides either. */
static inline bool xcp_may_follow(u8 protocol)
{
	return protocol == IPPROTO_TCP || xcp_tunnel_is(protocol) || xcp_ipsec_is(protocol);
}

#endif /* NET_XCP_NET_XCP_H */
