// SPDX-License-Identifier: GPL-2.0
/* The hooks of carriers and congestion controls; see hopcc/core/hop_hook.h. */

#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sysctl.h>
#include <hopcc/core/hop_carrier.h>
#include <hopcc/core/hop_ect.h>
#include <hopcc/core/hop_flow.h>
#include <hopcc/core/hop_hook.h>
#include <hopcc/core/hop_option.h>
#include <hopcc/core/hop_output.h>
#include <hopcc/lib/hop_peek.h>
#include <hopcc/core/hop_shim.h>
#include <net/dsfield.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>
#include <net/tcp.h>

#define HOP_HOOK_PROTOCOLS	256

/* Priority in PRE_ROUTING. */
#define HOP_HOOK_INPUT		(NF_IP_PRI_CONNTRACK_DEFRAG - 50)

/*
 * Which TCP packets are examined: all while there are flows; those with room for the option by
 * which carriers negotiate.
 */
#define HOP_HOOK_WITH_FLOWS	1
#define HOP_HOOK_OPTIONS	2

/* The two bits of the DS field that are not the DSCP; with both set, no packet is marked. */
#define HOP_HOOK_ECN_BITS	0x03

/* Offset of the byte with the length, in the upper half, in the TCP header. */
#define HOP_HOOK_TCP_DOFF	12

/* PRE_ROUTING and POST_ROUTING, each for IPv4 and IPv6. */
#define HOP_HOOK_PLACES		4

/**
 * struct hop_hooks - the hooks of a network namespace
 * @carriers: the loaded carriers, by @order; the hooks read them without @lock
 * @requests: the packets that each carrier wants to see; under @lock
 * @flows: address of the number of flows of the namespace
 * @examined: protocol numbers of the first header with which all incoming packets are examined
 * @tcp: HOP_HOOK_*, for TCP
 * @dsfield: DS field, without ECN, of further TCP packets that are examined without flows;
 *	HOP_HOOK_ECN_BITS: none
 * @all: every outgoing packet is examined
 * @ops: the hooks
 * @lock: serialises hop_hook_start() and hop_hook_stop()
 */
struct hop_hooks {
	const struct hop_carrier *carriers[HOP_HOOK_CARRIERS];
	struct hop_hook_request requests[HOP_HOOK_CARRIERS];
	const u32 *flows;
	DECLARE_BITMAP(examined, HOP_HOOK_PROTOCOLS);
	u8 tcp;
	u8 dsfield;
	bool all;
	struct nf_hook_ops ops[HOP_HOOK_PLACES];
	struct mutex lock;	/* serialises start and stop */
};

static unsigned int hop_hook_net_id;

static struct hop_hooks *hop_hooks(const struct net *net)
{
	return net_generic(net, hop_hook_net_id);
}

/* May a TCP packet open a flow, because it has room for the option by which carriers negotiate? */
static bool hop_hook_may_negotiate(const struct sk_buff *skb, u8 pf)
{
	const unsigned int at_bytes = HOP_HOOK_TCP_DOFF +
		(pf == NFPROTO_IPV4 ? ip_hdrlen(skb) : sizeof(struct ipv6hdr));

	return skb_headlen(skb) <= at_bytes ||
	       skb->data[at_bytes] >= HOP_OPTION_TCP_BYTES / 4 << 4;
}

/* May a TCP packet have a header of another vendor, because of its DSCP? */
static bool hop_hook_is_marked(const struct hop_hooks *hooks, const struct sk_buff *skb, u8 pf)
{
	const u8 dsfield = pf == NFPROTO_IPV4 ? ipv4_get_dsfield(ip_hdr(skb)) :
						ipv6_get_dsfield(ipv6_hdr(skb));

	return (dsfield & ~HOP_HOOK_ECN_BITS) == READ_ONCE(hooks->dsfield);
}

/* This runs for every incoming packet of a host that has loaded the modules, used or not. */
static bool hop_hook_concerns_input(const struct hop_hooks *hooks, const struct sk_buff *skb,
				    u8 pf)
{
	const u8 first = pf == NFPROTO_IPV4 ? ip_hdr(skb)->protocol : ipv6_hdr(skb)->nexthdr;
	const u8 when = READ_ONCE(hooks->tcp);

	if (test_bit(first, hooks->examined))
		return true;
	if (first != IPPROTO_TCP)
		return false;
	if (when & HOP_HOOK_WITH_FLOWS &&
	    (READ_ONCE(*hooks->flows) || hop_hook_is_marked(hooks, skb, pf)))
		return true;
	return when & HOP_HOOK_OPTIONS && hop_hook_may_negotiate(skb, pf);
}

static void hop_hook_find_place(const struct sk_buff *skb, struct hop_shim_place *place)
{
	if (!hop_shim_find(skb, place))
		place->next = 0;
}

/*
 * This function and its twin of output are not inlined, since the kernel may be built to zero all
 * local variables of a function, and most packets do not need these.
 */
static noinline unsigned int hop_hook_show_input(const struct hop_hooks *hooks, struct sk_buff *skb,
						 const struct nf_hook_state *state)
{
	const struct hop_carrier *carrier;
	struct hop_shim_place place;
	unsigned int i, len_bytes = 0, decision;

	lockdep_assert_in_rcu_read_lock();
	for (i = 0; i < HOP_HOOK_CARRIERS; i++) {
		carrier = READ_ONCE(hooks->carriers[i]);
		if (!carrier)
			continue;
		/* Parse for the first carrier, and again if a carrier removed a header. */
		if (skb->len != len_bytes)
			hop_hook_find_place(skb, &place);
		len_bytes = skb->len;
		decision = carrier->input(skb, &place, state);
		if (decision != NF_ACCEPT)
			return decision;
	}
	return NF_ACCEPT;
}

unsigned int hop_hook_input(void *priv, struct sk_buff *skb, const struct nf_hook_state *state)
{
	if (!hop_hook_concerns_input(priv, skb, state->pf))
		return NF_ACCEPT;
	return hop_hook_show_input(priv, skb, state);
}

static bool hop_hook_is_forwarded(const struct sk_buff *skb, u8 pf)
{
	return pf == NFPROTO_IPV4 ? IPCB(skb)->flags & IPSKB_FORWARDED :
				    IP6CB(skb)->flags & IP6SKB_FORWARDED;
}

/*
 * This runs for every outgoing packet. If there is no flow, there is nothing to answer, and only a
 * SYN of this host can open a flow. A SYN-ACK with a SYN cookie has no socket, and neither has a
 * forwarded packet, so the flag of forwarded packets distinguishes these two.
 */
static bool hop_hook_concerns_output(const struct hop_hooks *hooks, const struct sk_buff *skb,
				     u8 pf)
{
	const struct sock *sk = skb->sk;

	if (READ_ONCE(hooks->all))
		return true;
	if (!READ_ONCE(*hooks->flows))
		return sk && hop_peek(sk->sk_state) == TCP_SYN_SENT;
	return sk || !hop_hook_is_forwarded(skb, pf);
}

static noinline unsigned int hop_hook_show_carriers(const struct hop_hooks *hooks,
						    struct sk_buff *skb,
						    const struct nf_hook_state *state)
{
	const struct hop_carrier *carrier;
	struct hop_segment seg;
	unsigned int i, len_bytes = 0, decision;

	lockdep_assert_in_rcu_read_lock();
	/* A VRF: the packet comes here again with the device below, behind that one's filters. */
	if (netif_is_l3_master(state->out))
		return NF_ACCEPT;
	/*
	 * A VRF with a qdisc leaves the link header of its own device in front. IP writes that of
	 * the device below, so a header may take the room.
	 */
	if (skb->sk && netif_is_l3_slave(state->out))
		skb_unset_mac_header(skb);
	/* IPsec's output calls this hook before a packet of this host has its device. */
	if (!skb->dev)
		skb->dev = state->out;
	seg.state = state;
	for (i = 0; i < HOP_HOOK_CARRIERS; i++) {
		carrier = READ_ONCE(hooks->carriers[i]);
		if (!carrier || !carrier->output)
			continue;
		/* Parse for the first carrier, and again if a carrier inserted a header. */
		if (skb->len != len_bytes) {
			hop_hook_find_place(skb, &seg.place);
			seg.tcp = !hop_output_is_foreign(skb, state->net) &&
				  hop_output_read(skb, &seg);
		}
		len_bytes = skb->len;
		decision = carrier->output(skb, &seg, state);
		if (decision != NF_ACCEPT)
			return decision;
	}
	return NF_ACCEPT;
}

static unsigned int hop_hook_show_output(const struct hop_hooks *hooks, struct sk_buff *skb,
					 const struct nf_hook_state *state)
{
	if (!hop_hook_concerns_output(hooks, skb, state->pf))
		return NF_ACCEPT;
	return hop_hook_show_carriers(hooks, skb, state);
}

unsigned int hop_hook_output(void *priv, struct sk_buff *skb, const struct nf_hook_state *state)
{
	const unsigned int decision = hop_ect_output(skb, state);

	return decision == NF_ACCEPT ? hop_hook_show_output(priv, skb, state) : decision;
}

void hop_hook_pass_cc(struct sk_buff *skb, const struct nf_hook_state *state)
{
	lockdep_assert_in_rcu_read_lock();
	if (hop_hook_show_output(hop_hooks(state->net), skb, state) == NF_ACCEPT)
		hop_hook_pass_behind(skb, state);
}
EXPORT_SYMBOL_GPL(hop_hook_pass_cc);

/*
 * As NF_HOOK() does, but from the hook behind ours on. Ours is no longer found while it is being
 * unregistered; a packet that came by then is lost.
 */
void hop_hook_pass_behind(struct sk_buff *skb, const struct nf_hook_state *state)
{
	struct nf_hook_entries __rcu *const *all = state->pf == NFPROTO_IPV4 ?
		state->net->nf.hooks_ipv4 : state->net->nf.hooks_ipv6;
	const struct nf_hook_entries *e = rcu_dereference(all[state->hook]);
	struct nf_hook_state rest = *state;
	unsigned int i = 0;

	lockdep_assert_in_rcu_read_lock();
	while (e && i < e->num_hook_entries && READ_ONCE(e->hooks[i].hook) != hop_hook_output)
		i++;
	if (!e || i == e->num_hook_entries)
		kfree_skb(skb);
	else if (nf_hook_slow(skb, &rest, e, i + 1) == 1)
		state->okfn(state->net, state->sk, skb);
}
EXPORT_SYMBOL_GPL(hop_hook_pass_behind);

static const struct nf_hook_ops hop_hook_ops[HOP_HOOK_PLACES] = {
	HOP_HOOK(hop_hook_input, NFPROTO_IPV4, NF_INET_PRE_ROUTING, HOP_HOOK_INPUT),
	HOP_HOOK(hop_hook_input, NFPROTO_IPV6, NF_INET_PRE_ROUTING, HOP_HOOK_INPUT),
	HOP_HOOK(hop_hook_output, NFPROTO_IPV4, NF_INET_POST_ROUTING, HOP_HOOK_OUTPUT),
	HOP_HOOK(hop_hook_output, NFPROTO_IPV6, NF_INET_POST_ROUTING, HOP_HOOK_OUTPUT),
};

/* Combine the requests of all carriers of the namespace. */
static void hop_hook_sum_requests(struct hop_hooks *hooks)
{
	DECLARE_BITMAP(examined, HOP_HOOK_PROTOCOLS) = {};
	u8 dsfield = HOP_HOOK_ECN_BITS, tcp = 0;
	const struct hop_hook_request *r;
	bool all = false;
	unsigned int i;

	for (i = 0; i < HOP_HOOK_CARRIERS; i++) {
		if (!hooks->carriers[i])
			continue;
		r = &hooks->requests[i];
		__set_bit(r->protocol, examined);
		tcp |= r->segments ? HOP_HOOK_WITH_FLOWS : 0;
		tcp |= r->options ? HOP_HOOK_OPTIONS : 0;
		all |= r->all;
		if (r->marked)
			dsfield = r->dscp << 2;
	}
	/* Packets arrive meanwhile: no bit that stays is 0 for a moment. */
	for (i = 0; i < HOP_HOOK_PROTOCOLS; i++)
		assign_bit(i, hooks->examined,
			   all || hop_shim_may_follow(i) || test_bit(i, examined));
	WRITE_ONCE(hooks->tcp, tcp);
	WRITE_ONCE(hooks->dsfield, dsfield);
	WRITE_ONCE(hooks->all, all);
}

void hop_hook_start(struct net *net, const struct hop_carrier *carrier,
		    const struct hop_hook_request *request)
{
	struct hop_hooks *hooks = hop_hooks(net);

	mutex_lock(&hooks->lock);
	WRITE_ONCE(hooks->carriers[carrier->order], carrier);
	hooks->requests[carrier->order] = *request;
	hop_hook_sum_requests(hooks);
	mutex_unlock(&hooks->lock);
}
EXPORT_SYMBOL_GPL(hop_hook_start);

void hop_hook_stop(struct net *net, const struct hop_carrier *carrier)
{
	struct hop_hooks *hooks = hop_hooks(net);

	mutex_lock(&hooks->lock);
	WRITE_ONCE(hooks->carriers[carrier->order], NULL);
	hop_hook_sum_requests(hooks);
	mutex_unlock(&hooks->lock);
}
EXPORT_SYMBOL_GPL(hop_hook_stop);

int hop_hook_knob(compat_ctl_table *table, int write, void *buffer, size_t *len, loff_t *pos,
		  int (*apply)(void *state), void *state)
{
	static DEFINE_MUTEX(lock);
	unsigned int *knob = table->data, before;
	int err;

	mutex_lock(&lock);
	before = *knob;
	err = proc_douintvec_minmax(table, write, buffer, len, pos);
	if (!err && write) {
		err = apply(state);
		if (err)
			WRITE_ONCE(*knob, before);
	}
	mutex_unlock(&lock);
	return err;
}
EXPORT_SYMBOL_GPL(hop_hook_knob);

static int __net_init hop_hook_net_init(struct net *net)
{
	struct hop_hooks *hooks = hop_hooks(net);
	unsigned int i;

	mutex_init(&hooks->lock);
	hooks->flows = hop_flow_counter(net);
	for (i = 0; i < HOP_HOOK_PLACES; i++) {
		hooks->ops[i] = hop_hook_ops[i];
		hooks->ops[i].priv = hooks;
	}
	return nf_register_net_hooks(net, hooks->ops, HOP_HOOK_PLACES);
}

/* All carriers have left the namespace before. */
static void __net_exit hop_hook_net_pre_exit(struct net *net)
{
	nf_unregister_net_hooks(net, hop_hooks(net)->ops, HOP_HOOK_PLACES);
}

static struct pernet_operations hop_hook_net_ops = {
	.init = hop_hook_net_init,
	.pre_exit = hop_hook_net_pre_exit,
	.id = &hop_hook_net_id,
	.size = sizeof(struct hop_hooks),
};

static DEFINE_MUTEX(hop_hook_lock);	/* protects the number of users */
static unsigned int hop_hook_users;

int hop_hook_hold(void)
{
	int err = 0;

	mutex_lock(&hop_hook_lock);
	if (!hop_hook_users)
		err = register_pernet_subsys(&hop_hook_net_ops);
	if (!err)
		hop_hook_users++;
	mutex_unlock(&hop_hook_lock);
	return err;
}

void hop_hook_release(void)
{
	mutex_lock(&hop_hook_lock);
	if (!--hop_hook_users)
		unregister_pernet_subsys(&hop_hook_net_ops);
	mutex_unlock(&hop_hook_lock);
}
