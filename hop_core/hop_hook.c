// SPDX-License-Identifier: GPL-2.0
/* The hooks of the carriers and of a congestion control; see hopcc/core/hop_hook.h. */

#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sysctl.h>
#include <hopcc/core/hop_filter.h>
#include <hopcc/core/hop_flow.h>
#include <hopcc/core/hop_hook.h>
#include <hopcc/core/hop_input.h>
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

/* IPv4 and IPv6. */
#define HOP_HOOK_FAMILIES	2

/* Maximum number of congestion controls of a network namespace that change packets. */
#define HOP_HOOK_CCS		2

/**
 * struct hop_hooks - the hooks of a network namespace
 * @carriers: the loaded carriers, by enum hop_hook_order; the hooks read them without @lock
 * @requests: the packets that each carrier wants to see; under @lock
 * @ccs: the congestion controls that change their sockets' packets; the hooks read them without
 *	@lock
 * @flows: address of the number of flows of the namespace
 * @examined: protocol numbers of the first header with which all incoming packets are examined
 * @tcp: HOP_HOOK_*, for TCP
 * @dsfield: DS field, without ECN, of further TCP packets that are examined without flows;
 *	HOP_HOOK_ECN_BITS: none
 * @all: every outgoing packet is examined
 * @output_flows: @flows, or, if @all is set, the address of a number that is never 0, so that one
 *	read tests both
 * @input: the hooks in PRE_ROUTING, registered while there is a carrier
 * @output: the hooks in POST_ROUTING, registered while there is a carrier or one of @ccs
 * @lock: serialises hop_hook_start(), hop_hook_stop() and the functions for @ccs
 */
struct hop_hooks {
	const struct hop_carrier *carriers[HOP_HOOK_CARRIERS];
	struct hop_hook_request requests[HOP_HOOK_CARRIERS];
	const struct hop_hook_cc *ccs[HOP_HOOK_CCS];
	const u32 *flows;
	DECLARE_BITMAP(examined, HOP_HOOK_PROTOCOLS);
	u8 tcp;
	u8 dsfield;
	bool all;
	const u32 *output_flows;
	struct nf_hook_ops input[HOP_HOOK_FAMILIES];
	struct nf_hook_ops output[HOP_HOOK_FAMILIES];
	struct mutex lock;	/* serialises start and stop */
};

static const u32 hop_hook_never_0 = 1;
static unsigned int hop_hook_net_id;

static struct hop_hooks *hop_hooks(const struct net *net)
{
	return net_generic(net, hop_hook_net_id);
}

static __always_inline u8 hop_hook_first_header(const struct sk_buff *skb, u8 pf)
{
	return pf == NFPROTO_IPV4 ? ip_hdr(skb)->protocol : ipv6_hdr(skb)->nexthdr;
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
static __always_inline bool hop_hook_is_marked(const struct hop_hooks *hooks,
					       const struct sk_buff *skb, u8 pf)
{
	const u8 dsfield = pf == NFPROTO_IPV4 ? ipv4_get_dsfield(ip_hdr(skb)) :
						ipv6_get_dsfield(ipv6_hdr(skb));

	return (dsfield & ~HOP_HOOK_ECN_BITS) == READ_ONCE(hooks->dsfield);
}

/* This runs for every incoming packet of a host that has loaded the modules, used or not. */
static __always_inline bool hop_hook_concerns_input(const struct hop_hooks *hooks,
						    const struct sk_buff *skb, u8 pf)
{
	const u8 first = hop_hook_first_header(skb, pf), when = READ_ONCE(hooks->tcp);

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

static unsigned int hop_hook_input_v4(void *priv, struct sk_buff *skb,
				      const struct nf_hook_state *state)
{
	if (!hop_hook_concerns_input(priv, skb, NFPROTO_IPV4))
		return NF_ACCEPT;
	return hop_hook_show_input(priv, skb, state);
}

static unsigned int hop_hook_input_v6(void *priv, struct sk_buff *skb,
				      const struct nf_hook_state *state)
{
	if (!hop_hook_concerns_input(priv, skb, NFPROTO_IPV6))
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
static __always_inline bool hop_hook_concerns_output(const struct hop_hooks *hooks,
						     const struct sk_buff *skb, u8 pf)
{
	const u32 *flows = READ_ONCE(hooks->output_flows);
	const struct sock *sk = skb->sk;

	if (!READ_ONCE(*flows))
		return sk && hop_peek(sk->sk_state) == TCP_SYN_SENT;
	return sk || !hop_hook_is_forwarded(skb, pf) || READ_ONCE(hooks->all);
}

static void hop_hook_read_segment(struct sk_buff *skb, struct hop_segment *seg,
				  const struct net *net)
{
	hop_hook_find_place(skb, &seg->place);
	seg->tcp = !hop_output_is_foreign(skb, net) && hop_output_read(skb, seg);
}

static noinline unsigned int hop_hook_show_output(const struct hop_hooks *hooks,
						  struct sk_buff *skb,
						  const struct nf_hook_state *state)
{
	const struct hop_carrier *carrier;
	struct hop_segment seg;
	unsigned int i, len_bytes = 0, decision;

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
		if (skb->len != len_bytes)
			hop_hook_read_segment(skb, &seg, state->net);
		len_bytes = skb->len;
		decision = carrier->output(skb, &seg, state);
		if (decision != NF_ACCEPT)
			return decision;
	}
	return NF_ACCEPT;
}

/* Return: the socket that sent @skb, or the listener of a SYN-ACK, or NULL. */
static const struct sock *hop_hook_sender(const struct sk_buff *skb)
{
	const struct sock *sk = skb->sk;

	/* A SYN-ACK's owner is a connection request, whose listener has the congestion control. */
	if (sk && hop_peek(sk->sk_state) == TCP_NEW_SYN_RECV)
		sk = inet_reqsk(sk)->rsk_listener;
	return sk && sk_fullsock(sk) && sk_is_tcp(sk) ? sk : NULL;
}

/* Return: the congestion control of @hooks that @sk has, or NULL. */
static const struct hop_hook_cc *hop_hook_find_cc(const struct hop_hooks *hooks,
						  const struct sock *sk)
{
	const struct tcp_congestion_ops *ops = hop_peek(inet_csk(sk)->icsk_ca_ops);
	const struct hop_hook_cc *cc;
	unsigned int i;

	for (i = 0; i < HOP_HOOK_CCS; i++) {
		cc = READ_ONCE(hooks->ccs[i]);
		if (cc && (ops == cc->ops[0] || ops == cc->ops[1]))
			return cc;
	}
	return NULL;
}

static bool hop_hook_has_cc(const struct hop_hooks *hooks)
{
	unsigned int i;

	for (i = 0; i < HOP_HOOK_CCS; i++)
		if (READ_ONCE(hooks->ccs[i]))
			return true;
	return false;
}

static noinline unsigned int hop_hook_output_of_cc(const struct hop_hooks *hooks,
						   const struct hop_hook_cc *cc,
						   struct sk_buff *skb, const struct sock *sk,
						   const struct nf_hook_state *state)
{
	const unsigned int decision =
		cc->output(skb, sk, hop_peek(inet_csk(sk)->icsk_ca_ops) == cc->ops[1], state);

	if (decision != NF_ACCEPT || !hop_hook_concerns_output(hooks, skb, state->pf))
		return decision;
	return hop_hook_show_output(hooks, skb, state);
}

static unsigned int hop_hook_output(void *priv, struct sk_buff *skb,
				    const struct nf_hook_state *state)
{
	const struct hop_hooks *hooks = priv;
	const struct sock *sk = hop_hook_has_cc(hooks) ? hop_hook_sender(skb) : NULL;
	const struct hop_hook_cc *cc = sk ? hop_hook_find_cc(hooks, sk) : NULL;

	if (cc)
		return hop_hook_output_of_cc(hooks, cc, skb, sk, state);
	if (!hop_hook_concerns_output(hooks, skb, state->pf))
		return NF_ACCEPT;
	return hop_hook_show_output(hooks, skb, state);
}

/*
 * As NF_HOOK() does, but from the hook behind ours on. Ours is no longer found while it is being
 * unregistered; a packet that came by then is lost.
 */
void hop_hook_pass_on(struct sk_buff *skb, const struct nf_hook_state *state)
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
EXPORT_SYMBOL_GPL(hop_hook_pass_on);

static const struct nf_hook_ops hop_hook_input_ops[HOP_HOOK_FAMILIES] = {
	HOP_HOOK(hop_hook_input_v4, NFPROTO_IPV4, NF_INET_PRE_ROUTING,
		 NF_IP_PRI_CONNTRACK_DEFRAG - 50),
	HOP_HOOK(hop_hook_input_v6, NFPROTO_IPV6, NF_INET_PRE_ROUTING,
		 NF_IP_PRI_CONNTRACK_DEFRAG - 50),
};

static const struct nf_hook_ops hop_hook_output_ops[HOP_HOOK_FAMILIES] =
	HOP_HOOKS(hop_hook_output, NF_INET_POST_ROUTING, HOP_HOOK_OUTPUT);

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
	WRITE_ONCE(hooks->output_flows, all ? &hop_hook_never_0 : hooks->flows);
}

static bool hop_hook_has_carrier(const struct hop_hooks *hooks)
{
	unsigned int i;

	for (i = 0; i < HOP_HOOK_CARRIERS; i++)
		if (hooks->carriers[i])
			return true;
	return false;
}

/* Register the hooks that another user, a carrier or a congestion control, needs. */
static int hop_hook_add_hooks(struct net *net, struct hop_hooks *hooks, bool carrier)
{
	const bool input = carrier && !hop_hook_has_carrier(hooks);
	const bool output = !hop_hook_has_cc(hooks) && !hop_hook_has_carrier(hooks);
	int err = 0;

	if (input)
		err = nf_register_net_hooks(net, hooks->input, HOP_HOOK_FAMILIES);
	if (!err && output) {
		err = nf_register_net_hooks(net, hooks->output, HOP_HOOK_FAMILIES);
		if (err && input)
			nf_unregister_net_hooks(net, hooks->input, HOP_HOOK_FAMILIES);
	}
	return err;
}

/* Unregister the hooks that nobody needs any more after a user has left. */
static void hop_hook_drop_hooks(struct net *net, struct hop_hooks *hooks, bool carrier)
{
	if (hop_hook_has_carrier(hooks))
		return;
	if (carrier)
		nf_unregister_net_hooks(net, hooks->input, HOP_HOOK_FAMILIES);
	if (!hop_hook_has_cc(hooks))
		nf_unregister_net_hooks(net, hooks->output, HOP_HOOK_FAMILIES);
}

int hop_hook_start(struct net *net, const struct hop_carrier *carrier,
		   const struct hop_hook_request *request)
{
	struct hop_hooks *hooks = hop_hooks(net);
	int err;

	mutex_lock(&hooks->lock);
	err = hop_hook_add_hooks(net, hooks, true);
	if (!err) {
		WRITE_ONCE(hooks->carriers[carrier->order], carrier);
		hooks->requests[carrier->order] = *request;
		hop_hook_sum_requests(hooks);
	}
	mutex_unlock(&hooks->lock);
	return err;
}
EXPORT_SYMBOL_GPL(hop_hook_start);

void hop_hook_stop(struct net *net, const struct hop_carrier *carrier)
{
	struct hop_hooks *hooks = hop_hooks(net);

	mutex_lock(&hooks->lock);
	if (hooks->carriers[carrier->order]) {
		WRITE_ONCE(hooks->carriers[carrier->order], NULL);
		hop_hook_sum_requests(hooks);
		hop_hook_drop_hooks(net, hooks, true);
	}
	mutex_unlock(&hooks->lock);
}
EXPORT_SYMBOL_GPL(hop_hook_stop);

/* Return: the slot of @cc (NULL: a free slot); NULL if there is none. */
static const struct hop_hook_cc **hop_hook_slot(struct hop_hooks *hooks,
						const struct hop_hook_cc *cc)
{
	unsigned int i;

	for (i = 0; i < HOP_HOOK_CCS; i++)
		if (hooks->ccs[i] == cc)
			return &hooks->ccs[i];
	return NULL;
}

int hop_hook_start_cc(struct net *net, const struct hop_hook_cc *cc)
{
	struct hop_hooks *hooks = hop_hooks(net);
	const struct hop_hook_cc **slot;
	int err = -EBUSY;

	mutex_lock(&hooks->lock);
	slot = hop_hook_slot(hooks, NULL);
	if (slot)
		err = hop_hook_add_hooks(net, hooks, false);
	if (!err)
		WRITE_ONCE(*slot, cc);
	mutex_unlock(&hooks->lock);
	return err;
}

void hop_hook_stop_cc(struct net *net, const struct hop_hook_cc *cc)
{
	struct hop_hooks *hooks = hop_hooks(net);
	const struct hop_hook_cc **slot;

	mutex_lock(&hooks->lock);
	slot = hop_hook_slot(hooks, cc);
	if (slot) {
		WRITE_ONCE(*slot, NULL);
		hop_hook_drop_hooks(net, hooks, false);
	}
	mutex_unlock(&hooks->lock);
}

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
	hooks->output_flows = hooks->flows;
	for (i = 0; i < HOP_HOOK_FAMILIES; i++) {
		hooks->input[i] = hop_hook_input_ops[i];
		hooks->input[i].priv = hooks;
		hooks->output[i] = hop_hook_output_ops[i];
		hooks->output[i].priv = hooks;
	}
	return 0;
}

/* All carriers and the congestion control have left the namespace before it exits. */
static struct pernet_operations hop_hook_net_ops = {
	.init = hop_hook_net_init,
	.id = &hop_hook_net_id,
	.size = sizeof(struct hop_hooks),
};

/**
 * hop_hook_init() - initialise the hooks when hop_core is loaded
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int hop_hook_init(void)
{
	hop_filter_init(hop_hook_input_ops, hop_hook_output_ops);
	return register_pernet_subsys(&hop_hook_net_ops);
}

/**
 * hop_hook_exit() - clean up when hop_core is unloaded; the carriers are unloaded already
 *
 * Context: process.
 */
void hop_hook_exit(void)
{
	unregister_pernet_subsys(&hop_hook_net_ops);
}
