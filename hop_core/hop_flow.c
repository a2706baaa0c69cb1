// SPDX-License-Identifier: GPL-2.0
/* The flow table; see hopcc/core/hop_flow.h. */

#include <linux/jhash.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rhashtable.h>
#include <linux/seq_file_net.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>
#include <linux/workqueue.h>
#include <hopcc/core/hop_carrier.h>
#include <hopcc/core/hop_flow.h>
#include <hopcc/lib/hop_peek.h>
#include <hopcc/lib/hop_sysctl.h>
#include <net/netns/generic.h>
#include <net/netns/hash.h>
#include <net/tcp.h>

#define HOP_FLOW_LIMIT_DEFAULT	65536U
#define HOP_FLOW_LIMIT_MAX	4194304U

/* At most 1/4 of the limit may be half-open flows. */
#define HOP_FLOW_HALF_OPEN_SHARE 4

/* The longest time that hop_flow_retire() waits for sockets that processes use. */
#define HOP_FLOW_RETIRE_MAX_JIFFIES	(HZ / 10)

/* Interval of the ageing, and the time after a lookup in which an entry is not examined. */
#define HOP_FLOW_AGE_PERIOD	HZ
#define HOP_FLOW_YOUNG		(3 * HZ)

/* Maximum number of half-open entries that are examined to make room for one new entry. */
#define HOP_FLOW_ROOM_TRIES	32

/*
 * The default of flows_max is the number of entries that fit 1/64 of the memory, with 1024 bytes
 * each: an entry with a carrier's state is in kmalloc-1024. It is at least the default limit of one
 * network namespace.
 */
#define HOP_FLOW_MEMORY_SHARE	64
#define HOP_FLOW_BYTES		1024

/*
 * At most 1/2 of flows_max may be used by all namespaces together that belong to a user namespace
 * other than the initial one.
 */
#define HOP_FLOW_CONTAINED_SHARE 2

/**
 * struct hop_flow_net - the table's state of a network namespace
 * @net: the network namespace
 * @in_nets: member of hop_flow_nets
 * @lock: protects the members from @links to @counts
 * @links: list of all entries, the oldest first, and of the positions of walks
 * @half_open_flows: list of half-open entries, the oldest first
 * @counts: counters; the number of entries is read without the lock
 * @limit: the sysctl net.hopcc.flow_limit
 * @contained: the network namespace belongs to a user namespace other than the initial one
 * @used: true once an entry was made, so that readers of the table may access the namespace
 * @sysctl: registration of the sysctl
 */
struct hop_flow_net {
	struct net *net;
	struct list_head in_nets;
	spinlock_t lock;	/* protects @links to @counts */
	struct list_head links;
	struct list_head half_open_flows;
	struct hop_flow_counts counts;
	unsigned int limit;
	bool contained;
	bool used;
	struct hop_sysctl sysctl;
};

static unsigned int hop_flow_net_id;
static unsigned int hop_flow_limit_default = HOP_FLOW_LIMIT_DEFAULT;
static struct rhashtable hop_flows;

/* All network namespaces. A namespace cannot end while a walk through all of them passes it. */
static DEFINE_MUTEX(hop_flow_nets_lock);
static LIST_HEAD(hop_flow_nets);

/* Number of entries of all namespaces, and of those outside the initial user namespace. */
static atomic_t hop_flow_total;
static atomic_t hop_flow_contained;

static unsigned int hop_flow_max;
module_param_named(flows_max, hop_flow_max, uint, 0644);
MODULE_PARM_DESC(flows_max, "most flow entries of all network namespaces, containers at most half of them; 0: by the memory at load time (0)");

static void hop_flow_age(struct work_struct *work);
static DECLARE_DELAYED_WORK(hop_flow_age_work, hop_flow_age);

/*
 * This takes half the instructions of a hash over the whole key. As with inet6_ehashfn(), a peer
 * that chooses its address and its port cannot choose the bucket. The values that our side
 * chooses are only mixed in.
 */
static u32 hop_flow_hash(const void *data, u32 bytes, u32 seed)
{
	const struct hop_flow_key *key = data;
	const u32 *peer = (__force const u32 *)key->peer.s6_addr32;
	const u32 ports = (u32)(__force u16)key->local_port << 16 | (__force u16)key->peer_port;
	const u32 here = (__force u32)key->local.s6_addr32[3] ^ key->l3mdev_ifindex ^
			 net_hash_mix(key->net) ^ (u32)(uintptr_t)key->carrier;

	if (ipv6_addr_v4mapped(&key->peer))
		return jhash_3words(peer[3], ports, here, seed);
	return jhash_3words(jhash_3words(peer[0] ^ peer[1], peer[2], peer[3], seed), ports, here,
			    seed);
}

/* As memcmp() of the keys without dif and sdif, with a third of its instructions. */
static int hop_flow_compare(struct rhashtable_compare_arg *arg, const void *object)
{
	const struct hop_flow_key *b = &((const struct hop_flow *)object)->key;
	const struct hop_flow_key *a = arg->key;

	return a->peer_port != b->peer_port || a->local_port != b->local_port ||
	       a->carrier != b->carrier || a->net != b->net ||
	       !ipv6_addr_equal(&a->peer, &b->peer) || !ipv6_addr_equal(&a->local, &b->local) ||
	       a->scope_ifindex != b->scope_ifindex || a->l3mdev_ifindex != b->l3mdev_ifindex;
}

static const struct rhashtable_params hop_flow_params = {
	.key_len = offsetof(struct hop_flow_key, dif),
	.hashfn = hop_flow_hash,
	.obj_cmpfn = hop_flow_compare,
	.key_offset = offsetof(struct hop_flow, key),
	.head_offset = offsetof(struct hop_flow, node),
	.automatic_shrinking = true,
};

static struct hop_flow_net *hop_flow_net_of(const struct net *net)
{
	return net_generic(net, hop_flow_net_id);
}

const u32 *hop_flow_counter(const struct net *net)
{
	return &hop_flow_net_of(net)->counts.flows;
}

bool hop_flow_any(const struct net *net)
{
	lockdep_assert_in_rcu_read_lock();
	return READ_ONCE(hop_flow_net_of(net)->counts.flows);
}
EXPORT_SYMBOL_GPL(hop_flow_any);

/* With the sysctl tcp_l3mdev_accept, a socket bound to no device receives packets of all VRFs. */
static bool hop_flow_may_be_unbound(const struct hop_flow_key *key)
{
#ifdef CONFIG_NET_L3_MASTER_DEV
	return key->sdif && READ_ONCE(key->net->ipv4.sysctl_tcp_l3mdev_accept);
#else
	return false;
#endif
}

static struct hop_flow *hop_flow_find_unbound(const struct hop_flow_key *key)
{
	struct hop_flow_key unbound = *key;

	unbound.l3mdev_ifindex = 0;
	return rhashtable_lookup(&hop_flows, &unbound, hop_flow_params);
}

/*
 * SO_BINDTODEVICE may have changed the device by which the socket is found. The key of a packet
 * that arrives within another one has no device.
 */
static void hop_flow_note_use(struct hop_flow *flow, const struct hop_flow_key *key)
{
	WRITE_ONCE(flow->used_jiffies, jiffies);
	if (!key->dif)
		return;
	if (READ_ONCE(flow->key.dif) != key->dif)
		WRITE_ONCE(flow->key.dif, key->dif);
	if (READ_ONCE(flow->key.sdif) != key->sdif)
		WRITE_ONCE(flow->key.sdif, key->sdif);
}

struct hop_flow *hop_flow_find(const struct hop_flow_key *key)
{
	struct hop_flow *flow = rhashtable_lookup(&hop_flows, key, hop_flow_params);

	lockdep_assert_in_rcu_read_lock();
	if (!flow && hop_flow_may_be_unbound(key))
		flow = hop_flow_find_unbound(key);
	if (flow && time_after(jiffies, READ_ONCE(flow->used_jiffies)))
		hop_flow_note_use(flow, key);
	return flow;
}
EXPORT_SYMBOL_GPL(hop_flow_find);

struct hop_flow *hop_flow_of_sock(const struct hop_carrier *carrier, const struct sock *sk)
{
	struct hop_flow_key key;

	lockdep_assert_in_rcu_read_lock();
	hop_flow_key_of_sock(&key, carrier, sk);
	return hop_flow_find(&key);
}
EXPORT_SYMBOL_GPL(hop_flow_of_sock);

struct hop_flow *hop_flow_of_input(const struct hop_carrier *carrier, const struct sk_buff *skb,
				   const struct tcphdr *th)
{
	struct hop_flow_key key;

	lockdep_assert_in_rcu_read_lock();
	hop_flow_key_of_input(&key, carrier, skb, th);
	return hop_flow_find(&key);
}
EXPORT_SYMBOL_GPL(hop_flow_of_input);

static void hop_flow_uncharge_total(const struct hop_flow_net *fn)
{
	atomic_dec(&hop_flow_total);
	if (fn->contained)
		atomic_dec(&hop_flow_contained);
}

/* Return: true if all namespaces together have room for one more entry. */
static bool hop_flow_charge_total(const struct hop_flow_net *fn)
{
	const unsigned int max = READ_ONCE(hop_flow_max);
	bool fits = atomic_inc_return(&hop_flow_total) <= max;

	if (fn->contained)
		fits &= atomic_inc_return(&hop_flow_contained) <= max / HOP_FLOW_CONTAINED_SHARE;
	if (!fits)
		hop_flow_uncharge_total(fn);
	return fits;
}

static bool hop_flow_is_opening(const struct hop_flow *flow)
{
	return test_bit(HOP_FLOW_OPENING, &flow->flags);
}

static bool hop_flow_is_within_limit(const struct hop_flow_net *fn, const struct hop_flow *flow)
{
	const unsigned int limit = READ_ONCE(fn->limit);

	return fn->counts.flows < limit &&
	       (!hop_flow_is_opening(flow) ||
		fn->counts.half_open < limit / HOP_FLOW_HALF_OPEN_SHARE);
}

/* Return: 0; -EDQUOT: the namespace is at its limit; -ENFILE: all together are at theirs. */
static int hop_flow_enlist(struct hop_flow_net *fn, struct hop_flow *flow)
{
	int err = -EDQUOT;

	spin_lock_bh(&fn->lock);
	if (!hop_flow_is_within_limit(fn, flow))
		goto unlock;
	err = -ENFILE;
	if (!hop_flow_charge_total(fn))
		goto unlock;
	err = 0;
	list_add_tail(&flow->in_net.list, &fn->links);
	WRITE_ONCE(fn->counts.flows, fn->counts.flows + 1);
	if (hop_flow_is_opening(flow)) {
		list_add_tail(&flow->in_half_open, &fn->half_open_flows);
		fn->counts.half_open++;
	}
unlock:
	spin_unlock_bh(&fn->lock);
	return err;
}

/* @fn's lock held. */
static void hop_flow_leave_half_open(struct hop_flow_net *fn, struct hop_flow *flow)
{
	lockdep_assert_held(&fn->lock);
	if (list_empty(&flow->in_half_open))
		return;
	list_del_init(&flow->in_half_open);
	fn->counts.half_open--;
}

static void hop_flow_delist(struct hop_flow_net *fn, struct hop_flow *flow)
{
	spin_lock_bh(&fn->lock);
	list_del(&flow->in_net.list);
	hop_flow_leave_half_open(fn, flow);
	WRITE_ONCE(fn->counts.flows, fn->counts.flows - 1);
	hop_flow_uncharge_total(fn);
	spin_unlock_bh(&fn->lock);
}

/*
 * A congestion control that holds a removed entry must not wait for feedback: the entry can no
 * longer be found.
 */
bool hop_flow_remove(struct hop_flow *flow)
{
	lockdep_assert_in_rcu_read_lock();
	if (rhashtable_remove_fast(&hop_flows, &flow->node, hop_flow_params))
		return false;
	WRITE_ONCE(flow->stage, HOP_STAGE_UNSUPPORTED);
	hop_flow_delist(hop_flow_net_of(flow->key.net), flow);
	hop_flow_put(flow);
	return true;
}

/*
 * The oldest half-open entry is the one that is least likely to become a connection. If its
 * connection exists by now, although it has sent nothing yet, the entry stays but is not half-open.
 * Under RCU the entry stays readable if another CPU removes it first.
 *
 * Return: true if there may be room now.
 */
static bool hop_flow_make_room(struct hop_flow_net *fn)
{
	struct hop_flow *flow;
	bool keeps, evicted;

	spin_lock_bh(&fn->lock);
	flow = list_first_entry_or_null(&fn->half_open_flows, struct hop_flow, in_half_open);
	spin_unlock_bh(&fn->lock);
	if (!flow)
		return false;
	keeps = hop_flow_tcp_state(&flow->key) & HOP_FLOW_FULL;
	evicted = !keeps && hop_flow_remove(flow);
	spin_lock_bh(&fn->lock);
	if (keeps)
		hop_flow_leave_half_open(fn, flow);
	fn->counts.evicted += evicted;
	spin_unlock_bh(&fn->lock);
	return true;
}

/* A process that connects is charged for the memory; in softirq no group can be charged. */
static struct hop_flow *hop_flow_create(const struct hop_flow_key *key, bool half_open)
{
	struct hop_flow *flow;

	flow = kzalloc(struct_size(flow, state, DIV_ROUND_UP(key->carrier->state_bytes,
							     sizeof(u64))),
		       GFP_ATOMIC | __GFP_ACCOUNT);
	if (!flow)
		return NULL;
	flow->key = *key;
	flow->in_net.flow = flow;
	INIT_LIST_HEAD(&flow->in_half_open);
	refcount_set(&flow->ref, 1);
	atomic_inc(key->carrier->entries);
	if (half_open)
		__set_bit(HOP_FLOW_OPENING, &flow->flags);
	flow->used_jiffies = jiffies;
	key->carrier->start(flow->state);
	return flow;
}

/*
 * Insert the entry into the list first and then into the table: a CPU that finds it in the table
 * may remove it from both, and a CPU that finds it only in the list does not remove it.
 *
 * Return: the flow that is in the table now, or an error.
 */
static struct hop_flow *hop_flow_list_and_enter(struct hop_flow_net *fn, struct hop_flow *flow)
{
	int err = hop_flow_enlist(fn, flow);
	struct hop_flow *old;
	unsigned int tries;

	for (tries = 0; err && tries < HOP_FLOW_ROOM_TRIES && hop_flow_make_room(fn); tries++)
		err = hop_flow_enlist(fn, flow);
	if (err)
		return ERR_PTR(err);
	old = rhashtable_lookup_get_insert_fast(&hop_flows, &flow->node, hop_flow_params);
	if (old) {
		hop_flow_delist(fn, flow);
		/* The table could not grow, or another CPU was first. */
		return IS_ERR(old) ? ERR_PTR(-ENOMEM) : old;
	}
	schedule_delayed_work(&hop_flow_age_work, HOP_FLOW_AGE_PERIOD);
	return flow;
}

struct hop_flow *hop_flow_add(const struct hop_flow_key *key, bool half_open)
{
	struct hop_flow_net *fn = hop_flow_net_of(key->net);
	struct hop_flow *flow = hop_flow_find(key), *entered;

	lockdep_assert_in_rcu_read_lock();
	if (flow)
		return flow;
	WRITE_ONCE(fn->used, true);
	flow = hop_flow_create(key, half_open);
	entered = flow ? hop_flow_list_and_enter(fn, flow) : ERR_PTR(-ENOMEM);
	if (entered == flow)
		return flow;
	/* There is no room, or another CPU was first. A walk may hold a reference to our entry. */
	if (flow)
		hop_flow_put(flow);
	if (!IS_ERR(entered))
		return entered;
	spin_lock_bh(&fn->lock);
	fn->counts.refused++;
	fn->counts.refused_max += PTR_ERR(entered) == -ENFILE;
	fn->counts.refused_memory += PTR_ERR(entered) == -ENOMEM;
	spin_unlock_bh(&fn->lock);
	return NULL;
}
EXPORT_SYMBOL_GPL(hop_flow_add);

bool hop_flow_settle(struct hop_flow *flow)
{
	struct hop_flow_net *fn;
	bool settled;

	/* This is called for every packet, so check before locking. */
	if (!hop_flow_is_opening(flow))
		return false;
	fn = hop_flow_net_of(flow->key.net);
	spin_lock_bh(&fn->lock);
	settled = test_and_clear_bit(HOP_FLOW_OPENING, &flow->flags);
	hop_flow_leave_half_open(fn, flow);
	spin_unlock_bh(&fn->lock);
	return settled;
}
EXPORT_SYMBOL_GPL(hop_flow_settle);

void hop_flow_put(struct hop_flow *flow)
{
	const struct hop_carrier *carrier = flow->key.carrier;
	atomic_t *entries = carrier->entries;

	if (!refcount_dec_and_test(&flow->ref))
		return;
	if (carrier->stop)
		carrier->stop(flow->state);
	kfree_rcu(flow, rcu);
	/* Once the last entry is gone, hop_flow_retire() lets the carrier's module be freed. */
	if (atomic_dec_and_test(entries))
		wake_up_var(entries);
}
EXPORT_SYMBOL_GPL(hop_flow_put);

void hop_flow_show(struct seq_file *seq)
{
	struct hop_flow_net *fn = hop_flow_net_of(seq_file_single_net(seq));
	struct hop_flow_counts counts;

	spin_lock_bh(&fn->lock);
	counts = fn->counts;
	spin_unlock_bh(&fn->lock);
	seq_printf(seq, "flows %u\nflows_half_open %u\nflows_evicted %llu\nflows_walked %llu\n",
		   counts.flows, counts.half_open, counts.evicted, counts.walked);
	seq_printf(seq, "flows_refused %llu\nflows_refused_max %llu\nflows_refused_memory %llu\n",
		   counts.refused, counts.refused_max, counts.refused_memory);
}

void hop_flow_walk_open(struct hop_flow_walk *walk, struct net *net)
{
	struct hop_flow_net *fn = hop_flow_net_of(net);

	walk->net = net;
	walk->position.flow = NULL;
	walk->flow = NULL;
	spin_lock_bh(&fn->lock);
	list_add(&walk->position.list, &fn->links);
	spin_unlock_bh(&fn->lock);
}
EXPORT_SYMBOL_GPL(hop_flow_walk_open);

/*
 * Pass up to HOP_FLOW_STEP entries, up to one of @carrier, which is held. Return: true if more may
 * be left.
 */
static bool hop_flow_step(struct hop_flow_walk *walk, const struct hop_carrier *carrier)
{
	struct hop_flow_net *fn = hop_flow_net_of(walk->net);
	struct hop_flow_link *link;
	struct list_head *at;
	unsigned int passed;

	walk->flow = NULL;
	spin_lock_bh(&fn->lock);
	at = walk->position.list.next;
	for (passed = 0; at != &fn->links && !walk->flow && passed < HOP_FLOW_STEP; passed++) {
		link = list_entry(at, struct hop_flow_link, list);
		at = at->next;
		if (link->flow && (!carrier || link->flow->key.carrier == carrier) &&
		    hop_flow_hold(link->flow))
			walk->flow = link->flow;
	}
	list_move_tail(&walk->position.list, at);
	if (carrier)
		fn->counts.walked += passed;
	spin_unlock_bh(&fn->lock);
	return passed;
}

bool hop_flow_walk(struct hop_flow_walk *walk, const struct hop_carrier *carrier,
		   bool (*visit)(struct hop_flow *flow, void *what), void *what)
{
	bool visited = true;

	do {
		if (walk->flow) {
			rcu_read_lock();
			visited = visit(walk->flow, what);
			rcu_read_unlock();
			if (!visited)
				return false;
			hop_flow_put(walk->flow);
		}
		cond_resched();
	} while (hop_flow_step(walk, carrier));
	return true;
}
EXPORT_SYMBOL_GPL(hop_flow_walk);

void hop_flow_walk_close(struct hop_flow_walk *walk)
{
	struct hop_flow_net *fn = hop_flow_net_of(walk->net);

	if (walk->flow)
		hop_flow_put(walk->flow);
	spin_lock_bh(&fn->lock);
	list_del(&walk->position.list);
	spin_unlock_bh(&fn->lock);
}
EXPORT_SYMBOL_GPL(hop_flow_walk_close);

/*
 * A connection in TIME_WAIT sends no packets that concern a carrier. A socket whose VRF has changed
 * no longer finds its entry.
 */
static bool hop_flow_socket_is_gone(const struct hop_flow *flow)
{
	struct sock *sk = hop_flow_socket_of_any_device(&flow->key);
	struct hop_flow_key key;
	bool gone = true;

	if (!sk)
		return true;
	if (hop_peek(sk->sk_state) != TCP_TIME_WAIT) {
		hop_flow_key_of_sock(&key, flow->key.carrier, sk);
		gone = rhashtable_lookup(&hop_flows, &key, hop_flow_params) != flow;
	}
	sock_gen_put(sk);
	return gone;
}

/*
 * A carrier reserves only while the stage is HOP_STAGE_SUPPORTED, which it reads under the lock of
 * the socket, so it does not reserve again afterwards.
 */
static void hop_flow_remove_and_leave(struct hop_flow *flow, struct sock *sk)
{
	local_bh_disable();
	bh_lock_sock(sk);
	if (!sock_owned_by_user(sk)) {
		hop_flow_remove(flow);
		flow->key.carrier->leave(sk, flow->state);
	}
	bh_unlock_sock(sk);
	local_bh_enable();
}

/* If a process uses the socket just now, the entry stays, and the caller tries again later. */
static bool hop_flow_try_remove(struct hop_flow *flow, void *unused)
{
	struct sock *sk = NULL;

	if (flow->key.carrier->leave)
		sk = hop_flow_socket_of_any_device(&flow->key);
	if (sk && sk_fullsock(sk))
		hop_flow_remove_and_leave(flow, sk);
	else
		hop_flow_remove(flow);
	if (sk)
		sock_gen_put(sk);
	return true;
}

static bool hop_flow_remove_stale(struct hop_flow *flow, void *unused)
{
	if (time_before(jiffies, READ_ONCE(flow->used_jiffies) + HOP_FLOW_YOUNG))
		return true;
	if (hop_flow_socket_is_gone(flow))
		return hop_flow_try_remove(flow, NULL);
	WRITE_ONCE(flow->used_jiffies, jiffies);
	return true;
}

static bool hop_flow_remove_any(struct hop_flow *flow, void *unused)
{
	hop_flow_remove(flow);
	return true;
}

/* Visit the entries of a network namespace; @carrier: NULL for all carriers. */
static void hop_flow_visit_net(struct net *net, const struct hop_carrier *carrier,
			       bool (*visit)(struct hop_flow *flow, void *unused))
{
	struct hop_flow_walk walk;

	hop_flow_walk_open(&walk, net);
	hop_flow_walk(&walk, carrier, visit, NULL);
	hop_flow_walk_close(&walk);
}

/*
 * Walks of the lists are used, since an rhashtable's walk may skip the successor of an entry that
 * was removed.
 */
static void hop_flow_visit_all(const struct hop_carrier *carrier,
			       bool (*visit)(struct hop_flow *flow, void *unused))
{
	struct hop_flow_net *fn;

	mutex_lock(&hop_flow_nets_lock);
	list_for_each_entry(fn, &hop_flow_nets, in_nets) {
		if (READ_ONCE(fn->counts.flows))
			hop_flow_visit_net(fn->net, carrier, visit);
	}
	mutex_unlock(&hop_flow_nets_lock);
}

/* The work stops while the table is empty; the next flow schedules it again. */
static void hop_flow_age(struct work_struct *work)
{
	hop_flow_visit_all(NULL, hop_flow_remove_stale);
	if (atomic_read(&hop_flows.nelems))
		schedule_delayed_work(&hop_flow_age_work, HOP_FLOW_AGE_PERIOD);
}

void hop_flow_retire(const struct hop_carrier *carrier)
{
	const unsigned long end = jiffies + HOP_FLOW_RETIRE_MAX_JIFFIES;

	hop_flow_visit_all(carrier, hop_flow_try_remove);
	while (atomic_read(carrier->entries) && time_before(jiffies, end)) {
		schedule_timeout_uninterruptible(1);
		hop_flow_visit_all(carrier, hop_flow_try_remove);
	}
	hop_flow_visit_all(carrier, hop_flow_remove_any);
	/* A reader may have found an entry before, and still call the carrier's functions. */
	synchronize_rcu();
	wait_var_event(carrier->entries, !atomic_read(carrier->entries));
}
EXPORT_SYMBOL_GPL(hop_flow_retire);

/* The empty entry ends the table in kernels that do not get the number of entries. */
static const struct ctl_table hop_flow_table[] = {
	HOP_SYSCTL_NUMBER("flow_limit", struct hop_flow_net, limit, 0, HOP_FLOW_LIMIT_MAX),
	{ }
};

static int __net_init hop_flow_net_init(struct net *net)
{
	struct hop_flow_net *fn = hop_flow_net_of(net);
	int err;

	fn->net = net;
	spin_lock_init(&fn->lock);
	INIT_LIST_HEAD(&fn->links);
	INIT_LIST_HEAD(&fn->half_open_flows);
	fn->limit = HOP_FLOW_LIMIT_DEFAULT;
	fn->contained = net->user_ns != &init_user_ns;
	err = hop_sysctl_start(net, &fn->sysctl, hop_flow_table, fn);
	/* A container's root may not raise the limit above the default: it is the host's memory. */
	if (!err && fn->contained)
		fn->sysctl.table[0].extra2 = &hop_flow_limit_default;
	if (err)
		return err;
	mutex_lock(&hop_flow_nets_lock);
	list_add_tail(&fn->in_nets, &hop_flow_nets);
	mutex_unlock(&hop_flow_nets_lock);
	return 0;
}

/* The carriers registered later, so their exits ran before, and no flows are added any more. */
static void __net_exit hop_flow_net_exit(struct list_head *nets)
{
	bool used = false;
	struct net *net;

	list_for_each_entry(net, nets, exit_list) {
		struct hop_flow_net *fn = hop_flow_net_of(net);

		hop_sysctl_stop(&fn->sysctl);
		mutex_lock(&hop_flow_nets_lock);
		list_del(&fn->in_nets);
		mutex_unlock(&hop_flow_nets_lock);
		if (!READ_ONCE(fn->used))
			continue;
		hop_flow_visit_net(net, NULL, hop_flow_remove_any);
		used = true;
	}
	/* A reader of the table may be looking up a socket in one of these namespaces. */
	if (used)
		synchronize_rcu();
}

static struct pernet_operations hop_flow_net_ops = {
	.init = hop_flow_net_init,
	.exit_batch = hop_flow_net_exit,
	.id = &hop_flow_net_id,
	.size = sizeof(struct hop_flow_net),
};

/**
 * hop_flow_table_start() - make the flow table when hop_core is loaded
 *
 * Context: process.
 * Return: 0 or a negative error.
 */
int hop_flow_table_start(void)
{
	const u64 entries = div_u64((u64)totalram_pages() << PAGE_SHIFT,
				    HOP_FLOW_MEMORY_SHARE * HOP_FLOW_BYTES);
	int err;

	static_assert(offsetof(struct hop_flow_key, dif) ==
		      2 * sizeof(void *) + 2 * sizeof(struct in6_addr) + 2 * sizeof(int) +
		      2 * sizeof(__be16));

	if (!hop_flow_max)
		hop_flow_max = clamp_t(u64, entries, HOP_FLOW_LIMIT_DEFAULT, HOP_FLOW_LIMIT_MAX);
	err = rhashtable_init(&hop_flows, &hop_flow_params);
	if (err)
		return err;
	err = register_pernet_subsys(&hop_flow_net_ops);
	if (err)
		rhashtable_destroy(&hop_flows);
	return err;
}

/* Carriers hold a reference to this module, so the table is empty now. */
void hop_flow_table_stop(void)
{
	cancel_delayed_work_sync(&hop_flow_age_work);
	unregister_pernet_subsys(&hop_flow_net_ops);
	rhashtable_destroy(&hop_flows);
}
