/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The netfilter hooks: one pair per network namespace, which all carriers and the congestion
 * controls with ECN share. A packet's headers are read once, and most packets pass after a few
 * instructions.
 *
 *	input	PRE_ROUTING, in front of defragmentation and conntrack: packets with a header
 *		of a carrier; TCP with room for the option that may open a flow; all TCP only
 *		while the namespace has flows and a carrier wants it
 *	output	POST_ROUTING, behind source NAT: the first packet of a connection that this
 *		host opens; other packets of this host only while the namespace has flows
 *
 * In front of the carriers, a congestion control may change the packets of its sockets: see
 * hop_cc.output.
 */
#ifndef HOPCC_CORE_HOP_HOOK_H
#define HOPCC_CORE_HOP_HOOK_H

#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6.h>
#include <linux/types.h>

struct hop_carrier;
struct net;
struct sk_buff;

/**
 * HOP_HOOK - initialiser of a struct nf_hook_ops
 * @function: the hook function
 * @family: NFPROTO_IPV4 or NFPROTO_IPV6
 * @where: hook point, NF_INET_*
 * @order: priority, NF_IP_PRI_* for both families: NF_IP6_PRI_* have the same values
 */
#define HOP_HOOK(function, family, where, order) {	\
		.hook		= (function),		\
		.pf		= (family),		\
		.hooknum	= (where),		\
		.priority	= (order),		\
	}

/*
 * Priorities in POST_ROUTING: congestion controls and the carriers of headers, and behind these
 * net_csig_tag.
 */
#define HOP_HOOK_OUTPUT		(NF_IP_PRI_CONNTRACK_HELPER + 1)
#define HOP_HOOK_OUTPUT_TAG	(NF_IP_PRI_CONNTRACK_HELPER + 2)

/* Maximum number of carriers. */
#define HOP_HOOK_CARRIERS	3

/**
 * struct hop_hook_request - the packets that a carrier wants to see in a network namespace
 * @protocol: protocol number of the carrier's header: all incoming packets with it; 0: none
 * @options: also incoming TCP packets whose header has room for the option by which carriers
 *	negotiate
 * @segments: also all incoming TCP packets, while the namespace has flows
 * @marked: also incoming TCP packets with @dscp, while it has none; needs @segments; for one
 *	carrier
 * @dscp: DSCP of packets from which a header may have to be removed
 * @all: all packets, incoming and outgoing
 */
struct hop_hook_request {
	u8 protocol;
	bool options;
	bool segments;
	bool marked;
	u8 dscp;
	bool all;
};

/**
 * hop_hook_hold() - have the hooks in all network namespaces
 *
 * A module calls this function before it registers its own operations of network namespaces.
 *
 * Context: process.
 * Return: 0, or the error of registering the hooks.
 */
int hop_hook_hold(void);

/**
 * hop_hook_release() - undo hop_hook_hold()
 *
 * No carrier of the module is started any more.
 *
 * Context: process.
 */
void hop_hook_release(void);

/**
 * hop_hook_start() - start a carrier in a network namespace, or change which packets it sees
 * @net: the namespace
 * @carrier: the carrier
 * @request: the packets that the carrier wants to see
 *
 * Context: process.
 */
void hop_hook_start(struct net *net, const struct hop_carrier *carrier,
		    const struct hop_hook_request *request);

/**
 * hop_hook_stop() - stop a carrier in a network namespace
 * @net: the namespace
 * @carrier: the carrier; it may not have started
 *
 * The carrier may still process packets until an RCU grace period has ended.
 *
 * Context: process.
 */
void hop_hook_stop(struct net *net, const struct hop_carrier *carrier);

/**
 * hop_hook_pass_behind() - send a packet through the hooks that are behind the carriers'
 * @skb: a packet that is sent in addition to the hook's one, or in its place; it has a route and
 *	a device, and skb->data is at its network header
 * @state: the state of the hook
 *
 * Filters of users, net_csig_tag and conntrack's last hook see the packet; then it is sent.
 *
 * Context: RCU read lock, within the hook in POST_ROUTING.
 */
void hop_hook_pass_behind(struct sk_buff *skb, const struct nf_hook_state *state);

/**
 * hop_hook_pass_cc() - send a packet of a congestion control through carriers and further hooks
 * @skb: the packet, as for hop_hook_pass_behind()
 * @state: the state of the hook
 *
 * Context: RCU read lock, within hop_cc.output().
 */
void hop_hook_pass_cc(struct sk_buff *skb, const struct nf_hook_state *state);

/**
 * hop_hook_knob() - proc_handler of a sysctl that decides which packets a carrier sees
 * @table: the sysctl, as for proc_douintvec_minmax()
 * @write: true to write the value, false to read it
 * @buffer: the text, as for proc_douintvec_minmax()
 * @len: length of the text, as for proc_douintvec_minmax()
 * @pos: file position, as for proc_douintvec_minmax()
 * @apply: function that calls hop_hook_start() according to the new value
 * @state: argument of @apply
 *
 * Context: process.
 * Return: 0; or an error, and then the old value is kept.
 */
int hop_hook_knob(compat_ctl_table *table, int write, void *buffer, size_t *len, loff_t *pos,
		  int (*apply)(void *state), void *state);

/* Called by hop_core only; its hooks in PRE_ROUTING and in POST_ROUTING. */
unsigned int hop_hook_input(void *priv, struct sk_buff *skb, const struct nf_hook_state *state);
unsigned int hop_hook_output(void *priv, struct sk_buff *skb, const struct nf_hook_state *state);

#endif /* HOPCC_CORE_HOP_HOOK_H */
