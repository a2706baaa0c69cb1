// SPDX-License-Identifier: GPL-2.0
/* The flow table; see net/hop_flow.h. */

#include <linux/ipv6.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/rhashtable.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <net/hop_arrival.h>
#include <net/hop_flow.h>
#include <net/hop_speed.h>
#include <net/hop_sysctl.h>
#include <net/inet6_hashtables.h>
#include <net/inet_hashtables.h>
#include <net/l3mdev.h>
#include <net/netns/generic.h>
#include <net/tcp.h>

#define HOP_FLOW_LIMIT_DEFAULT	65536U
#define HOP_FLOW_LIMIT_MAX	4194304U

/* Half-open flows are at most this share of the limit. */
#define HOP_FLOW_HALF_OPEN_SHARE 4

/* How often the table is looked through, and what is too young to be looked at. */
#define HOP_FLOW_AGE_PERIOD	HZ
#define HOP_FLOW_YOUNG		(3 * HZ)

/* Entries between two chances for others to run. */
#define HOP_FLOW_AGE_BATCH	256

struct hop_flow_net {
	atomic_t flows;
	atomic_t half_open;
	atomic64_t refused;
	unsigned int limit;
	struct hop_sysctl sysctl;
};

static unsigned int hop_flow_net_id;
static unsigned int hop_flow_limit_max = HOP_FLOW_LIMIT_MAX;
static unsigned int hop_flow_limit_default = HOP_FLOW_LIMIT_DEFAULT;
static struct rhashtable hop_flows;

static void hop_flow_age(struct work_struct *work);
static DECLARE_DELAYED_WORK(hop_flow_age_work, hop_flow_age);

static const struct rhashtable_params hop_flow_params = {
	.key_len = offsetof(struct hop_flow_key, dif),
	.key_offset = offsetof(struct hop_flow, key),
	.head_offset = offsetof(struct hop_flow, node),
	.automatic_shrinking = true,
};

static struct hop_flow_net *flow_net(const struct net *net)
{
	return net_generic(net, hop_flow_net_id);
}

static bool is_link_local(const struct in6_addr *addr)
{
	return ipv6_addr_type(addr) & IPV6_ADDR_LINKLOCAL;
}

static void set_scope(struct hop_flow_key *key, int ifindex)
{
	if (is_link_local(&key->local) || is_link_local(&key->peer))
		key->scope_ifindex = ifindex;
}

void hop_flow_key_of_sock(struct hop_flow_key *key, const struct hop_flow_kind *kind,
			  const struct sock *sk)
{
	memset(key, 0, sizeof(*key));
	key->net = sock_net(sk);
	key->kind = kind;
	if (sk->sk_family == AF_INET) {
		ipv6_addr_set_v4mapped(sk->sk_rcv_saddr, &key->local);
		ipv6_addr_set_v4mapped(sk->sk_daddr, &key->peer);
#if IS_ENABLED(CONFIG_IPV6)
	} else {
		key->local = sk->sk_v6_rcv_saddr;
		key->peer = sk->sk_v6_daddr;
#endif
	}
	key->local_port = htons(sk->sk_num);
	key->peer_port = sk->sk_dport;
	key->dif = sk->sk_bound_dev_if;
	set_scope(key, key->dif);
}
EXPORT_SYMBOL_GPL(hop_flow_key_of_sock);

/* The packet's source is the local end: swapped for what comes in. */
static void key_of_ip(struct hop_flow_key *key, const struct hop_flow_kind *kind,
		      const struct sk_buff *skb, const void *ip)
{
	memset(key, 0, sizeof(*key));
	key->net = dev_net(skb->dev);
	key->kind = kind;
	if (skb->protocol == htons(ETH_P_IP)) {
		const struct iphdr *iph = ip;

		ipv6_addr_set_v4mapped(iph->saddr, &key->local);
		ipv6_addr_set_v4mapped(iph->daddr, &key->peer);
	} else {
		const struct ipv6hdr *ip6h = ip;

		key->local = ip6h->saddr;
		key->peer = ip6h->daddr;
	}
}

static void set_interface(struct hop_flow_key *key, const struct sk_buff *skb)
{
	int master = l3mdev_master_ifindex_rcu(skb->dev);

	key->dif = master ?: skb->dev->ifindex;
	key->sdif = master ? skb->dev->ifindex : 0;
}

void hop_flow_key_of_output(struct hop_flow_key *key, const struct hop_flow_kind *kind,
			    const struct sk_buff *skb, const struct tcphdr *th)
{
	key_of_ip(key, kind, skb, skb->data);
	key->local_port = th->source;
	key->peer_port = th->dest;
	set_interface(key, skb);
	set_scope(key, skb->dev->ifindex);
}
EXPORT_SYMBOL_GPL(hop_flow_key_of_output);

void hop_flow_key_of_input(struct hop_flow_key *key, const struct hop_flow_kind *kind,
			   const struct sk_buff *skb, const struct tcphdr *th)
{
	key_of_ip(key, kind, skb, skb_network_header(skb));
	swap(key->local, key->peer);
	key->local_port = th->dest;
	key->peer_port = th->source;
	set_interface(key, skb);
	/* Through loopback, IPv6 keeps the interface that the address is of. */
	set_scope(key, skb->protocol == htons(ETH_P_IPV6) ? IP6CB(skb)->iif : 0);
}
EXPORT_SYMBOL_GPL(hop_flow_key_of_input);

struct sock *hop_flow_socket(const struct hop_flow_key *key)
{
	if (ipv6_addr_v4mapped(&key->peer))
		return compat_inet_established(key->net, key->peer.s6_addr32[3], key->peer_port,
					       key->local.s6_addr32[3], ntohs(key->local_port),
					       key->dif, key->sdif);
#if IS_ENABLED(CONFIG_IPV6)
	return compat_inet6_established(key->net, &key->peer, key->peer_port, &key->local,
					ntohs(key->local_port), key->dif, key->sdif);
#else
	return NULL;
#endif
}
EXPORT_SYMBOL_GPL(hop_flow_socket);

/* Which one of a group that shares the port does not matter: no packet is passed. */
bool hop_flow_has_listener(const struct hop_flow_key *key)
{
	if (ipv6_addr_v4mapped(&key->peer))
		return compat_inet_listener(key->net, NULL, 0, key->peer.s6_addr32[3],
					    key->peer_port, key->local.s6_addr32[3],
					    ntohs(key->local_port), key->dif, key->sdif);
#if IS_ENABLED(CONFIG_IPV6)
	return compat_inet6_listener(key->net, NULL, 0, &key->peer, key->peer_port,
				     &key->local, ntohs(key->local_port), key->dif, key->sdif);
#else
	return false;
#endif
}
EXPORT_SYMBOL_GPL(hop_flow_has_listener);

bool hop_flow_any(const struct net *net)
{
	return atomic_read(&flow_net(net)->flows);
}
EXPORT_SYMBOL_GPL(hop_flow_any);

struct hop_flow *hop_flow_find(const struct hop_flow_key *key)
{
	struct hop_flow *flow = rhashtable_lookup(&hop_flows, key, hop_flow_params);

	if (flow && time_after(jiffies, READ_ONCE(flow->used_jiffies)))
		WRITE_ONCE(flow->used_jiffies, jiffies);
	return flow;
}
EXPORT_SYMBOL_GPL(hop_flow_find);

static bool charge(struct hop_flow_net *fn, bool half_open)
{
	unsigned int limit = READ_ONCE(fn->limit);

	if (half_open &&
	    atomic_inc_return(&fn->half_open) > limit / HOP_FLOW_HALF_OPEN_SHARE) {
		atomic_dec(&fn->half_open);
		return false;
	}
	if (atomic_inc_return(&fn->flows) > limit) {
		atomic_dec(&fn->flows);
		if (half_open)
			atomic_dec(&fn->half_open);
		return false;
	}
	return true;
}

static void uncharge(struct hop_flow_net *fn, bool half_open)
{
	if (half_open)
		atomic_dec(&fn->half_open);
	atomic_dec(&fn->flows);
}

static struct hop_flow *new_flow(const struct hop_flow_key *key, bool half_open)
{
	struct hop_flow *flow;

	flow = kzalloc(struct_size(flow, state, DIV_ROUND_UP(key->kind->state_bytes,
							     sizeof(u64))), GFP_ATOMIC);
	if (!flow)
		return NULL;
	flow->key = *key;
	refcount_set(&flow->ref, 1);
	if (half_open)
		__set_bit(HOP_FLOW_HALF_OPEN, &flow->flags);
	flow->used_jiffies = jiffies;
	key->kind->start(flow->state);
	return flow;
}

/* Return: the flow that is in the table now; NULL if it could not grow. */
static struct hop_flow *enter(struct hop_flow *flow)
{
	struct hop_flow *old;

	old = rhashtable_lookup_get_insert_fast(&hop_flows, &flow->node, hop_flow_params);
	if (!old) {
		schedule_delayed_work(&hop_flow_age_work, HOP_FLOW_AGE_PERIOD);
		return flow;
	}
	return IS_ERR(old) ? NULL : old;
}

struct hop_flow *hop_flow_add(const struct hop_flow_key *key, bool half_open)
{
	struct hop_flow_net *fn = flow_net(key->net);
	struct hop_flow *flow = hop_flow_find(key), *entered;

	if (flow)
		return flow;
	if (!charge(fn, half_open))
		goto refused;
	flow = new_flow(key, half_open);
	entered = flow ? enter(flow) : NULL;
	if (entered == flow && flow)
		return flow;
	/* Another CPU was first, or there is no room. */
	kfree(flow);
	uncharge(fn, half_open);
	if (entered)
		return entered;
refused:
	atomic64_inc(&fn->refused);
	return NULL;
}
EXPORT_SYMBOL_GPL(hop_flow_add);

bool hop_flow_settle(struct hop_flow *flow)
{
	/* Called for every packet: look before writing. */
	if (!test_bit(HOP_FLOW_HALF_OPEN, &flow->flags) ||
	    !test_and_clear_bit(HOP_FLOW_HALF_OPEN, &flow->flags))
		return false;
	atomic_dec(&flow_net(flow->key.net)->half_open);
	return true;
}
EXPORT_SYMBOL_GPL(hop_flow_settle);

void hop_flow_remove(struct hop_flow *flow)
{
	/* Of several who try, one succeeds. */
	if (rhashtable_remove_fast(&hop_flows, &flow->node, hop_flow_params))
		return;
	uncharge(flow_net(flow->key.net),
		 test_and_clear_bit(HOP_FLOW_HALF_OPEN, &flow->flags));
	hop_flow_put(flow);
}
EXPORT_SYMBOL_GPL(hop_flow_remove);

void hop_flow_put(struct hop_flow *flow)
{
	if (refcount_dec_and_test(&flow->ref))
		kfree_rcu(flow, rcu);
}
EXPORT_SYMBOL_GPL(hop_flow_put);

struct hop_flow_counts hop_flow_count(const struct net *net)
{
	const struct hop_flow_net *fn = flow_net(net);

	return (struct hop_flow_counts) {
		.flows = atomic_read(&fn->flows),
		.half_open = atomic_read(&fn->half_open),
		.refused = atomic64_read(&fn->refused),
	};
}
EXPORT_SYMBOL_GPL(hop_flow_count);

/* A connection in TIME_WAIT sends nothing that a carrier cares for. */
static bool socket_is_gone(const struct hop_flow *flow)
{
	struct sock *sk = hop_flow_socket(&flow->key);
	bool gone = !sk || sk->sk_state == TCP_TIME_WAIT;

	if (sk)
		sock_gen_put(sk);
	return gone;
}

static bool is_stale(struct hop_flow *flow)
{
	if (time_before(jiffies, READ_ONCE(flow->used_jiffies) + HOP_FLOW_YOUNG))
		return false;
	if (socket_is_gone(flow))
		return true;
	WRITE_ONCE(flow->used_jiffies, jiffies);
	return false;
}

/* Remove what @match says; a table that is resized meanwhile may show a flow twice. */
static void hop_flow_sweep(bool (*match)(struct hop_flow *flow, const void *what),
			   const void *what)
{
	struct rhashtable_iter iter;
	struct hop_flow *flow;
	unsigned int seen = 0;

	rhashtable_walk_enter(&hop_flows, &iter);
	rhashtable_walk_start(&iter);
	while ((flow = rhashtable_walk_next(&iter))) {
		if (!IS_ERR(flow) && match(flow, what))
			hop_flow_remove(flow);
		if (++seen % HOP_FLOW_AGE_BATCH)
			continue;
		rhashtable_walk_stop(&iter);
		cond_resched();
		rhashtable_walk_start(&iter);
	}
	rhashtable_walk_stop(&iter);
	rhashtable_walk_exit(&iter);
}

static bool match_stale(struct hop_flow *flow, const void *what)
{
	return is_stale(flow);
}

static bool match_kind(struct hop_flow *flow, const void *kind)
{
	return flow->key.kind == kind;
}

static bool match_net(struct hop_flow *flow, const void *net)
{
	return flow->key.net == net;
}

/* An empty table needs no clock; the next flow winds it up. */
static void hop_flow_age(struct work_struct *work)
{
	hop_flow_sweep(match_stale, NULL);
	if (atomic_read(&hop_flows.nelems))
		schedule_delayed_work(&hop_flow_age_work, HOP_FLOW_AGE_PERIOD);
}

void hop_flow_retire(const struct hop_flow_kind *kind)
{
	hop_flow_sweep(match_kind, kind);
}
EXPORT_SYMBOL_GPL(hop_flow_retire);

struct hop_flow_walk {
	struct rhashtable_iter iter;
};

struct hop_flow_walk *hop_flow_walk_open(void)
{
	struct hop_flow_walk *walk = kmalloc(sizeof(*walk), GFP_KERNEL);

	if (walk)
		rhashtable_walk_enter(&hop_flows, &walk->iter);
	return walk;
}
EXPORT_SYMBOL_GPL(hop_flow_walk_open);

bool hop_flow_walk(struct hop_flow_walk *walk, const struct net *net,
		   const struct hop_flow_kind *kind,
		   bool (*visit)(struct hop_flow *flow, void *what), void *what)
{
	struct hop_flow *flow;

	rhashtable_walk_start(&walk->iter);
	for (flow = rhashtable_walk_peek(&walk->iter); flow;
	     flow = rhashtable_walk_next(&walk->iter)) {
		/* An error: the table is being resized; what follows may come again. */
		if (!IS_ERR(flow) && flow->key.net == net && flow->key.kind == kind &&
		    !visit(flow, what))
			break;
	}
	rhashtable_walk_stop(&walk->iter);
	return !flow;
}
EXPORT_SYMBOL_GPL(hop_flow_walk);

void hop_flow_walk_close(struct hop_flow_walk *walk)
{
	rhashtable_walk_exit(&walk->iter);
	kfree(walk);
}
EXPORT_SYMBOL_GPL(hop_flow_walk_close);

/* The last entry ends the table where entries are not counted. */
static const struct ctl_table hop_flow_table[] = {
	{
		.procname	= "flow_limit",
		.data		= hop_sysctl_at(struct hop_flow_net, limit),
		.maxlen		= sizeof(unsigned int),
		.mode		= 0644,
		.proc_handler	= proc_douintvec_minmax,
		.extra1		= SYSCTL_ZERO,
		.extra2		= &hop_flow_limit_max,
	},
	{ }
};

static int __net_init hop_flow_net_init(struct net *net)
{
	struct hop_flow_net *fn = flow_net(net);
	int err;

	fn->limit = HOP_FLOW_LIMIT_DEFAULT;
	err = hop_sysctl_start(net, &fn->sysctl, hop_flow_table, 1, fn);
	/* What a container's root may not raise, since the memory is not his. */
	if (!err && net->user_ns != &init_user_ns)
		fn->sysctl.table[0].extra2 = &hop_flow_limit_default;
	return err;
}

/* After the carriers' exits: they registered later. Nobody adds any more. */
static void __net_exit hop_flow_net_exit(struct net *net)
{
	struct hop_flow_net *fn = flow_net(net);

	hop_sysctl_stop(&fn->sysctl);
	if (!atomic_read(&fn->flows))
		return;
	hop_flow_sweep(match_net, net);
	/* The ageing work may be looking for a socket of this netns. */
	synchronize_rcu();
}

static struct pernet_operations hop_flow_net_ops = {
	.init = hop_flow_net_init,
	.exit = hop_flow_net_exit,
	.id = &hop_flow_net_id,
	.size = sizeof(struct hop_flow_net),
};

static int __init hop_core_init(void)
{
	int err;

	static_assert(offsetof(struct hop_flow_key, dif) ==
		      2 * sizeof(void *) + 2 * sizeof(struct in6_addr) + sizeof(int) +
		      2 * sizeof(__be16));

	get_random_bytes(&hop_arrival_secret, sizeof(hop_arrival_secret));
	err = rhashtable_init(&hop_flows, &hop_flow_params);
	if (err)
		return err;
	err = register_pernet_subsys(&hop_flow_net_ops);
	if (err)
		goto destroy_table;
	err = hop_speed_start();
	if (err)
		goto unregister;
	return 0;

unregister:
	unregister_pernet_subsys(&hop_flow_net_ops);
destroy_table:
	rhashtable_destroy(&hop_flows);
	return err;
}

/* Carriers hold a reference to this module: the table is empty. */
static void __exit hop_core_exit(void)
{
	hop_speed_stop();
	cancel_delayed_work_sync(&hop_flow_age_work);
	unregister_pernet_subsys(&hop_flow_net_ops);
	rhashtable_destroy(&hop_flows);
}

module_init(hop_core_init);
module_exit(hop_core_exit);
