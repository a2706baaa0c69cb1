/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Filters of this host that match TCP but cannot parse a carrier's header in front of TCP, or a tag
 * in front of IP. A filter misses TCP if it sees a packet only with the header:
 *
 *	output	filters behind our hook in POST_ROUTING: nftables' and other chains behind it in
 *		POST_ROUTING, programs of cgroups and of routes (BPF), nftables and tc on egress of
 *		the device and of the devices below it, and the chains of a bridge. Such a packet
 *		gets no header.
 *	input	filters in front of our hook in PRE_ROUTING. If the packet can pass them again
 *		without the header, it does; if not, the header stays.
 *
 * The queue of a device is no filter: what its classifiers match is not looked at.
 */
#ifndef HOPCC_CORE_HOP_FILTER_H
#define HOPCC_CORE_HOP_FILTER_H

#include <linux/netfilter.h>
#include <linux/skbuff.h>
#include <linux/types.h>

/**
 * HOP_FILTER_TRUST - value of a carrier's sysctl: do not check for filters that miss TCP
 *
 * With this value the administrator states that these filters can parse the carrier's header.
 */
#define HOP_FILTER_TRUST 2

/**
 * hop_filter_misses_output() - would a filter miss TCP below a header that is added now?
 * @skb: the packet, in our hook in POST_ROUTING
 * @state: state of the hook
 *
 * The devices below the packet's device (the ports of a bond or bridge, or the device of a VLAN)
 * are examined once in a tick of the clock, since a bridge may have many ports.
 *
 * Context: RCU read lock.
 * Return: true if there is such a filter.
 */
bool hop_filter_misses_output(const struct sk_buff *skb, const struct nf_hook_state *state);

/**
 * hop_filter_misses_tagged() - would a filter miss IP behind a tag that is added to a frame now?
 * @dev: the device that sends the frame
 *
 * The chains of a bridge match the EtherType of the frame. Filters on egress match skb->protocol,
 * which stays that of IP.
 *
 * Context: RCU read lock.
 * Return: true if @dev, or a device below it, is a bridge with such chains.
 */
bool hop_filter_misses_tagged(struct net_device *dev);

/**
 * hop_filter_misses_input() - has a filter missed TCP below a header, and will not see it again?
 * @skb: the packet, with skb->dev and skb->protocol set
 *
 * An XDP program saw the packet as it arrived, and never sees it without the header. The same
 * holds for all filters of the devices below the packet's device and for the chains of a bridge,
 * which are examined as by hop_filter_misses_output().
 *
 * Context: RCU read lock.
 * Return: true if there is such a filter.
 */
bool hop_filter_misses_input(const struct sk_buff *skb);

/**
 * hop_filter_may_look_again() - must a packet whose header is removed pass filters again?
 * @skb: the packet, in our hook in PRE_ROUTING
 *
 * These are tc and nftables on ingress of the device, and chains in front of our hook.
 *
 * Context: RCU read lock.
 * Return: true if there is such a filter, and receiving the packet again leads it there.
 */
bool hop_filter_may_look_again(const struct sk_buff *skb);

#endif /* HOPCC_CORE_HOP_FILTER_H */
