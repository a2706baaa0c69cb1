/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The hooks of the carriers: one pair for all of them in a network namespace. A packet's
 * headers are read once, and most packets pass after a few instructions.
 *
 *	way in	PRE_ROUTING in front of defragmentation and conntrack: packets with a header
 *		of a carrier; TCP and UDP only while the namespace has flows, and only resets
 *		unless a carrier wants all segments
 *	way out	POST_ROUTING behind source NAT: the first packet of a connection that this
 *		host opens; other packets of this host only while the namespace has flows;
 *		and the segments of sockets with the congestion control that asks for them
 */
#ifndef HOPCC_NET_HOP_HOOK_H
#define HOPCC_NET_HOP_HOOK_H

#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6.h>
#include <linux/types.h>

struct hop_greeter;
struct hop_segment;
struct hop_shim_place;
struct net;
struct sk_buff;
struct sock;
struct tcp_congestion_ops;

/**
 * HOP_HOOK - what a struct nf_hook_ops is initialised with
 * @function: the hook
 * @family: NFPROTO_IPV4 or NFPROTO_IPV6
 * @where: NF_INET_*
 * @order: its priority: NF_IP_PRI_*, which NF_IP6_PRI_* equal
 */
#define HOP_HOOK(function, family, where, order) {	\
		.hook		= (function),		\
		.pf		= (family),		\
		.hooknum	= (where),		\
		.priority	= (order),		\
	}

/**
 * HOP_HOOKS - what an array of two struct nf_hook_ops is initialised with: IPv4, IPv6
 * @function: the hook
 * @where: NF_INET_*
 * @order: as for HOP_HOOK
 */
#define HOP_HOOKS(function, where, order) {				\
	HOP_HOOK(function, NFPROTO_IPV4, where, order),			\
	HOP_HOOK(function, NFPROTO_IPV6, where, order),			\
}

/**
 * enum hop_hook_order - which carrier sees a packet first
 * @HOP_HOOK_XCP: net_xcp
 * @HOP_HOOK_INT: net_int
 * @HOP_HOOK_CARRIERS: their number
 */
enum hop_hook_order {
	HOP_HOOK_XCP,
	HOP_HOOK_INT,
	HOP_HOOK_CARRIERS,
};

/**
 * struct hop_carrier - what a carrier does with the packets of a network namespace
 * @order: its place among the carriers
 * @input: takes a packet that comes in; @place->next is 0 if it is a fragment, or ends within
 *	its IP headers. Returns NF_ACCEPT, NF_DROP or NF_STOLEN
 * @output: takes a packet that leaves. Returns NF_ACCEPT or NF_STOLEN
 * @greeter: its part in discovery, which TCP's resets may end
 *
 * Context of both functions: RCU read lock; skb->data at the network header.
 */
struct hop_carrier {
	enum hop_hook_order order;
	unsigned int (*input)(struct sk_buff *skb, const struct hop_shim_place *place,
			      const struct nf_hook_state *state);
	unsigned int (*output)(struct sk_buff *skb, const struct hop_segment *seg,
			       const struct nf_hook_state *state);
	const struct hop_greeter *greeter;
};

/**
 * struct hop_hook_wish - the packets that a carrier wants to see in a network namespace
 * @protocol: on the way in, of its header, whatever else is there
 * @segments: on the way in also TCP and UDP, while the namespace has flows
 * @all: all packets, on both ways
 */
struct hop_hook_wish {
	u8 protocol;
	bool segments;
	bool all;
};

/**
 * hop_hook_start() - a carrier is in a network namespace, or wants to see other packets there
 * @net: the namespace
 * @carrier: the carrier
 * @wish: what it wants to see
 *
 * Context: process.
 * Return: 0; or an error of registering hooks, and nothing is changed.
 */
int hop_hook_start(struct net *net, const struct hop_carrier *carrier,
		   const struct hop_hook_wish *wish);

/**
 * hop_hook_stop() - a carrier leaves a network namespace
 * @net: the namespace
 * @carrier: the carrier; hop_hook_start() may have failed
 *
 * A packet may still be with the carrier until an RCU grace period has ended.
 *
 * Context: process.
 */
void hop_hook_stop(struct net *net, const struct hop_carrier *carrier);

/**
 * struct hop_hook_cc - a congestion control that changes what its own sockets send
 * @ops: the congestion control, and the one that its sockets fall back to
 * @output: takes a packet of a socket with one of @ops, in front of all carriers; @sk is the
 *	listener where the packet's owner is a request. Returns NF_ACCEPT or NF_STOLEN
 *
 * Context of @output: RCU read lock; skb->data at the network header.
 */
struct hop_hook_cc {
	const struct tcp_congestion_ops *ops[2];
	unsigned int (*output)(struct sk_buff *skb, const struct sock *sk,
			       const struct nf_hook_state *state);
};

/**
 * hop_hook_start_cc() - a congestion control is in a network namespace
 * @net: the namespace
 * @cc: the congestion control; there is one at most
 *
 * Context: process.
 * Return: 0; -EBUSY where there is another; or an error of registering hooks.
 */
int hop_hook_start_cc(struct net *net, const struct hop_hook_cc *cc);

/**
 * hop_hook_stop_cc() - a congestion control leaves a network namespace
 * @net: the namespace
 * @cc: the congestion control
 *
 * A packet may still be with the congestion control until an RCU grace period has ended.
 *
 * Context: process.
 */
void hop_hook_stop_cc(struct net *net, const struct hop_hook_cc *cc);

/**
 * hop_hook_knob() - proc_handler of a sysctl that decides which packets a carrier wants to see
 * @table: as of proc_douintvec_minmax()
 * @write: as there
 * @buffer: as there
 * @len: as there
 * @pos: as there
 * @apply: calls hop_hook_start() by the new value
 * @state: for @apply
 *
 * Context: process.
 * Return: 0; or an error, and then the value is as it was.
 */
int hop_hook_knob(compat_ctl_table *table, int write, void *buffer, size_t *len, loff_t *pos,
		  int (*apply)(void *state), void *state);

/* hop_core's own */
int hop_hook_init(void);
void hop_hook_exit(void);

#endif /* HOPCC_NET_HOP_HOOK_H */
