// SPDX-License-Identifier: GPL-2.0
/* Filters from which a header in front of TCP would hide it; see hopcc/core/hop_filter.h. */

#include <linux/bpf-cgroup.h>
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/netfilter_bridge.h>
#include <linux/netfilter_ipv4.h>
#include <hopcc/core/hop_filter.h>
#include <hopcc/core/hop_hook.h>
#include <net/dst.h>
#include <net/lwtunnel.h>
#include <net/xfrm.h>

/*
 * Hooks of the kernel at both ends of a list, and those of the carriers, do not filter:
 * br_netfilter's is the first, those of SYNPROXY and of conntrack's confirmation are the last. A
 * user's chain of nftables may have these priorities, too, but its hook has a type.
 */
static bool hop_filter_is_filter(const struct nf_hook_ops *ops)
{
	if (ops->hook_ops_type != NF_HOOK_OP_UNDEFINED)
		return true;
	/* br_netfilter passes the packets to the chains of IP, where our hooks are. */
	if (ops->pf == NFPROTO_BRIDGE && ops->priority == NF_BR_PRI_BRNF)
		return false;
	if (ops->priority >= HOP_HOOK_OUTPUT && ops->priority <= HOP_HOOK_OUTPUT_TAG)
		return false;
	return ops->priority > NF_IP_PRI_FIRST && ops->priority < NF_IP_PRI_CONNTRACK_CONFIRM - 1;
}

/* Is the hook at an index of a list a filter? A hook that is being removed is not. */
static bool hop_filter_is_filter_at(const struct nf_hook_entries *list, unsigned int i)
{
	return hop_filter_is_filter(READ_ONCE(nf_hook_entries_get_hook_ops(list)[i]));
}

static const struct nf_hook_entries *hop_filter_list_at(const struct net *net, bool ipv4,
							unsigned int hooknum)
{
	return ipv4 ? rcu_dereference(net->nf.hooks_ipv4[hooknum]) :
		      rcu_dereference(net->nf.hooks_ipv6[hooknum]);
}

static bool hop_filter_is_in_front(const struct net *net, bool ipv4)
{
	const struct nf_hook_entries *list = hop_filter_list_at(net, ipv4, NF_INET_PRE_ROUTING);
	const unsigned int end = list ? list->num_hook_entries : 0;
	unsigned int i;

	for (i = 0; i < end && list->hooks[i].hook != hop_hook_input; i++)
		if (hop_filter_is_filter_at(list, i))
			return true;
	return false;
}

static bool hop_filter_is_behind(const struct net *net, bool ipv4)
{
	const struct nf_hook_entries *list = hop_filter_list_at(net, ipv4, NF_INET_POST_ROUTING);
	unsigned int i = list ? list->num_hook_entries : 0;

	while (i-- && list->hooks[i].hook != hop_hook_output)
		if (hop_filter_is_filter_at(list, i))
			return true;
	return false;
}

static bool hop_filter_has_filter(const struct nf_hook_entries *list)
{
	unsigned int i;

	for (i = 0; list && i < list->num_hook_entries; i++)
		if (hop_filter_is_filter_at(list, i))
			return true;
	return false;
}

static bool hop_filter_has_ingress(const struct net_device *dev)
{
#ifdef CONFIG_NETFILTER_INGRESS
	if (hop_filter_has_filter(rcu_dereference(dev->nf_hooks_ingress)))
		return true;
#endif
	return compat_has_tc_ingress(dev);
}

static bool hop_filter_has_egress(const struct net_device *dev)
{
#ifdef CONFIG_NETFILTER_EGRESS
	if (hop_filter_has_filter(rcu_dereference(dev->nf_hooks_egress)))
		return true;
#endif
	return compat_has_tc_egress(dev);
}

static bool hop_filter_has_bridge_chain(const struct net *net, unsigned int hooknum)
{
#ifdef CONFIG_NETFILTER_FAMILY_BRIDGE
	return hop_filter_has_filter(rcu_dereference(net->nf.hooks_bridge[hooknum]));
#else
	return false;
#endif
}

/* A header of a packet that arrives or is sent; a tag in front of IP in a frame that is sent. */
enum hop_filter_of {
	HOP_FILTER_OF_INPUT,
	HOP_FILTER_OF_OUTPUT,
	HOP_FILTER_OF_TAG,
	HOP_FILTER_KINDS
};

static bool hop_filter_has_frame_chain(const struct net_device *dev, enum hop_filter_of of)
{
	const struct net *net = dev_net(dev);

	if (!netif_is_bridge_master(dev))
		return false;
	if (of == HOP_FILTER_OF_INPUT)
		return hop_filter_has_bridge_chain(net, NF_BR_PRE_ROUTING) ||
		       hop_filter_has_bridge_chain(net, NF_BR_LOCAL_IN);
	return hop_filter_has_bridge_chain(net, NF_BR_LOCAL_OUT) ||
	       hop_filter_has_bridge_chain(net, NF_BR_POST_ROUTING);
}

/* Filters on egress match skb->protocol, which a tag does not change. */
static int hop_filter_is_filtered(struct net_device *dev, struct netdev_nested_priv *priv)
{
	const enum hop_filter_of of = *(const enum hop_filter_of *)priv->data;

	if (hop_filter_has_frame_chain(dev, of))
		return true;
	if (of == HOP_FILTER_OF_INPUT)
		return dev_xdp_prog_count(dev) || hop_filter_has_ingress(dev);
	return of == HOP_FILTER_OF_OUTPUT && hop_filter_has_egress(dev);
}

/* The latest walk below a device. It is valid for a tick, since a bridge may have many ports. */
struct hop_filter_below {
	const struct net_device *dev;
	unsigned long at_jiffies;
	bool found;
};

static DEFINE_PER_CPU(struct hop_filter_below, hop_filter_below[HOP_FILTER_KINDS]);

/* Is there a filter of a device below @dev, or of @dev as a bridge? */
static bool hop_filter_is_below(struct net_device *dev, enum hop_filter_of of)
{
	struct netdev_nested_priv priv = { .data = &of };
	struct hop_filter_below *below;
	bool found;

	if (hop_filter_has_frame_chain(dev, of))
		return true;
	if (list_empty(&dev->adj_list.lower))
		return false;
	local_bh_disable();
	below = this_cpu_ptr(&hop_filter_below[of]);
	if (below->dev != dev || time_is_before_jiffies(below->at_jiffies)) {
		below->dev = dev;
		below->at_jiffies = jiffies;
		below->found = netdev_walk_all_lower_dev_rcu(dev, hop_filter_is_filtered, &priv);
	}
	found = below->found;
	local_bh_enable();
	return found;
}

/* The same condition as in ip_finish_output(). */
static bool hop_filter_runs_program(const struct sk_buff *skb)
{
#ifdef CONFIG_CGROUP_BPF
	struct sock *sk;

	if (!cgroup_bpf_enabled(CGROUP_INET_EGRESS) || !skb->sk)
		return false;
	sk = sk_to_full_sk(skb->sk);
	return sk && sk_fullsock(sk) && cgroup_bpf_sock_enabled(sk, CGROUP_INET_EGRESS);
#else
	return false;
#endif
}

/* BPF programs of routes: those of type xmit run behind POST_ROUTING, the others before. */
static bool hop_filter_has_route_program(const struct dst_entry *dst)
{
	const struct lwtunnel_state *lwt = dst->lwtstate;

	return lwt && lwt->type == LWTUNNEL_ENCAP_BPF && lwtunnel_xmit_redirect(dst->lwtstate);
}

/* Will IPsec in software transform the packet? Filters behind it see only AH or ESP. */
static bool hop_filter_is_to_be_encrypted(const struct dst_entry *dst)
{
	const struct xfrm_state *x = dst_xfrm(dst);

	return x && !x->xso.dev;
}

bool hop_filter_misses_output(const struct sk_buff *skb, const struct nf_hook_state *state)
{
	const struct dst_entry *dst = skb_dst(skb);

	lockdep_assert_in_rcu_read_lock();
	if (hop_filter_is_behind(state->net, state->pf == NFPROTO_IPV4))
		return true;
	if (dst && hop_filter_is_to_be_encrypted(dst))
		return false;
	return hop_filter_runs_program(skb) || (dst && hop_filter_has_route_program(dst)) ||
	       hop_filter_has_egress(state->out) ||
	       hop_filter_is_below(state->out, HOP_FILTER_OF_OUTPUT);
}

bool hop_filter_misses_tagged(struct net_device *dev)
{
	lockdep_assert_in_rcu_read_lock();
	return hop_filter_is_below(dev, HOP_FILTER_OF_TAG);
}
EXPORT_SYMBOL_GPL(hop_filter_misses_tagged);

/* Return: true if a bridge is passing the packet to PRE_ROUTING (br_netfilter). */
static bool hop_filter_is_bridged(const struct sk_buff *skb)
{
#if IS_ENABLED(CONFIG_BRIDGE_NETFILTER)
	return nf_bridge_info_exists(skb);
#else
	return false;
#endif
}

static bool hop_filter_is_ipv4(const struct sk_buff *skb)
{
	return skb->protocol == htons(ETH_P_IP);
}

/* A packet that a bridge passes to PRE_ROUTING passes there only once. */
bool hop_filter_misses_input(const struct sk_buff *skb)
{
	struct net_device *dev = skb->dev;

	lockdep_assert_in_rcu_read_lock();
	if (dev_xdp_prog_count(dev))
		return true;
	if (hop_filter_is_bridged(skb) &&
	    hop_filter_is_in_front(dev_net(dev), hop_filter_is_ipv4(skb)))
		return true;
	return hop_filter_is_below(dev, HOP_FILTER_OF_INPUT);
}
EXPORT_SYMBOL_GPL(hop_filter_misses_input);

bool hop_filter_may_look_again(const struct sk_buff *skb)
{
	lockdep_assert_in_rcu_read_lock();
	return (hop_filter_has_ingress(skb->dev) ||
		hop_filter_is_in_front(dev_net(skb->dev), hop_filter_is_ipv4(skb))) &&
	       !hop_filter_is_bridged(skb);
}
