// SPDX-License-Identifier: GPL-2.0
/* Telemetry of other vendors: calls the module that knows it; see hopcc/flow/int_vendor.h. */
#include <linux/kmod.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <hopcc/core/hop_filter.h>
#include <hopcc/core/hop_input.h>
#include <hopcc/lib/hop_trust.h>

#include "net_int.h"

static const struct int_vendor_ops __rcu *nint_vendor;

/* Number of modules that were registered so far. */
static u32 nint_vendor_loads;

void nint_vendor_register(const struct int_vendor_ops *ops)
{
	nint_vendor_loads++;
	/* A CPU that reads the pointer then reads the new number, too. */
	synchronize_rcu();
	rcu_assign_pointer(nint_vendor, ops);
}
EXPORT_SYMBOL_GPL(nint_vendor_register);

void nint_vendor_unregister(void)
{
	RCU_INIT_POINTER(nint_vendor, NULL);
	synchronize_rcu();
}
EXPORT_SYMBOL_GPL(nint_vendor_unregister);

/*
 * Loads the module. The root of a container cannot: a module is the machine's. Return: 0 or
 * -EOPNOTSUPP.
 */
int nint_vendor_load(struct net *net)
{
	/* A namespace that is being removed would wait for this sysctl, and the module for it. */
	if (!rcu_access_pointer(nint_vendor) && hop_is_trusted(net) && maybe_get_net(net)) {
		request_module("net_tlm");
		put_net(net);
	}
	if (rcu_access_pointer(nint_vendor))
		return 0;
	if (hop_is_trusted(net))
		pr_warn_ratelimited("hopcc: net.hopcc.int_format needs a module: modprobe net_tlm\n");
	return -EOPNOTSUPP;
}

unsigned int nint_vendor_on(const struct net *net)
{
	return READ_ONCE(nint_net(net)->on);
}
EXPORT_SYMBOL_GPL(nint_vendor_on);

void nint_vendor_count(const struct net *net, unsigned int count, unsigned int n)
{
	nint_count_add(nint_net(net), count, n);
}
EXPORT_SYMBOL_GPL(nint_vendor_count);

struct int_vendor_state *nint_vendor_lock(struct int_flow *f, size_t bytes)
	__acquires(&f->lock)
{
	spin_lock_bh(&f->lock);
	if (f->vendor && f->vendor->load != nint_vendor_loads) {
		kfree(f->vendor);
		f->vendor = NULL;
	}
	if (!f->vendor && !f->stopped) {
		f->vendor = kzalloc(bytes, GFP_ATOMIC | __GFP_ACCOUNT);
		if (f->vendor)
			f->vendor->load = nint_vendor_loads;
	}
	return f->vendor;
}
EXPORT_SYMBOL_GPL(nint_vendor_lock);

void nint_vendor_unlock(struct int_flow *f)
	__releases(&f->lock)
{
	spin_unlock_bh(&f->lock);
}
EXPORT_SYMBOL_GPL(nint_vendor_unlock);

/* A packet that is being processed may have found the flow before. */
void nint_vendor_stop(void *state)
{
	struct int_vendor_state *vendor;
	struct int_flow *f = state;

	spin_lock_bh(&f->lock);
	vendor = f->vendor;
	f->vendor = NULL;
	f->stopped = true;
	spin_unlock_bh(&f->lock);
	kfree(vendor);
}

struct int_flow *nint_vendor_reader(struct sk_buff *skb, const struct tcphdr *th)
{
	struct hop_flow_key key;
	struct hop_flow *flow;
	struct int_flow *f;

	lockdep_assert_in_rcu_read_lock();
	if (!hop_flow_any(dev_net(skb->dev)) || th->syn || th->rst)
		return NULL;
	hop_flow_key_of_input(&key, &nint_flow_kind, skb, th);
	flow = hop_flow_find(&key);
	if (!flow)
		return NULL;
	f = hop_flow_state(flow);
	return READ_ONCE(f->receiver.asked) &&
	       hop_input_is_from_peer(&key, ntohl(th->seq), ntohl(th->ack_seq)) ? f : NULL;
}
EXPORT_SYMBOL_GPL(nint_vendor_reader);

/*
 * Return: true, and counts it, if a filter would miss TCP below what is put in front of it.
 */
bool nint_is_hidden(const struct sk_buff *skb, const struct nf_hook_state *state)
{
	const struct nint_net *in = nint_net(state->net);

	if (READ_ONCE(in->on) == HOP_FILTER_TRUST || !hop_filter_misses_output(skb, state))
		return false;
	nint_count(in, INT_COUNT_OUT_HIDDEN);
	return true;
}

/*
 * Sets @room to the needs of a probe beside @skb that asks in @format; to none if that cannot be
 * used. @skb and @state: NULL: beside any data. Context: f->lock is held, RCU read lock.
 */
void nint_vendor_room(struct int_vendor_room *room, const struct int_flow *f, unsigned int format,
		      const struct sk_buff *skb, const struct nf_hook_state *state)
{
	const struct hop_flow_key *key = &hop_flow_of_state((void *)f)->key;
	const struct int_vendor_ops *ops = format ? rcu_dereference(nint_vendor) : NULL;

	lockdep_assert_held(&f->lock);
	lockdep_assert_in_rcu_read_lock();
	*room = (struct int_vendor_room) {
		.ops = ops,
		.format = format,
		.space = READ_ONCE(nint_net(key->net)->space),
		.slots = f->slots,
		.ipv6 = !ipv6_addr_v4mapped(&key->peer),
	};
	if (!ops || !f->slots || !ops->room(room, skb) ||
	    (skb && room->hides_tcp && nint_is_hidden(skb, state)))
		*room = (struct int_vendor_room){};
}

/* Return: as int_vendor_ops.read(). Context: RCU read lock. */
int nint_vendor_read(struct sk_buff *skb, unsigned int tcp_at, struct int_flow *f,
		     const void *carried)
{
	const struct int_vendor_ops *ops = rcu_dereference(nint_vendor);

	if (ops)
		return ops->read(skb, tcp_at, f, carried);
	/* The module is being unloaded, and has not verified the checksum. */
	return carried ? -ENOENT : 0;
}

/* Return: as int_vendor_ops.learn(). Context: f->lock is held, RCU read lock. */
bool nint_vendor_learn(const struct nint_net *in, struct int_flow *f,
		       const struct nint_arrival *arrival, u64 now_ns, struct nint_reply *reply)
{
	const struct int_vendor_ops *ops = f->vendor ? rcu_dereference(nint_vendor) : NULL;

	lockdep_assert_held(&f->lock);
	if (!ops || f->vendor->load != nint_vendor_loads || arrival->hdr->type != INT_TYPE_PROBE ||
	    !ops->learn(in->carrier.net, f->vendor, arrival, now_ns, &f->receiver.p,
			&f->receiver.v, reply))
		return false;
	if (READ_ONCE(in->anonymous))
		reply->hops = 0;
	return true;
}
