// SPDX-License-Identifier: GPL-2.0
/*
 * State of a connection: the congestion control's request, and the answers (hopcc/flow/int_flow.h);
 * and the state that the module has in it which knows the telemetry of other vendors
 * (hopcc/flow/int_vendor.h).
 */
#include <linux/kmod.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <hopcc/core/hop_input.h>
#include <hopcc/core/hop_negotiate.h>
#include <hopcc/lib/hop_trust.h>
#include <net/tcp.h>

#include "net_int.h"
#include "trace.h"

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
	struct hop_flow *flow;
	struct int_flow *f;

	lockdep_assert_in_rcu_read_lock();
	if (!hop_flow_any(dev_net(skb->dev)) || th->syn || th->rst)
		return NULL;
	flow = hop_flow_of_input(&nint_carrier, skb, th);
	if (!flow)
		return NULL;
	f = hop_flow_state(flow);
	return READ_ONCE(f->receiver.asked) &&
	       hop_input_is_from_peer(&flow->key, ntohl(th->seq), ntohl(th->ack_seq)) ? f : NULL;
}
EXPORT_SYMBOL_GPL(nint_vendor_reader);

/*
 * Sets @room to the needs of a probe beside @skb that asks in @format; to none if that cannot be
 * used. @skb and @state: NULL: beside any data. Context: f->lock is held, RCU read lock.
 */
void nint_vendor_room(struct int_vendor_room *room, const struct int_flow *f, unsigned int format,
		      const struct sk_buff *skb, const struct nf_hook_state *state)
{
	const struct hop_flow_key *key = &hop_flow_of_state((void *)f)->key;
	const struct int_vendor_ops *ops = format ? rcu_dereference(nint_vendor) : NULL;
	const struct nint_net *in = nint_net(key->net);

	lockdep_assert_held(&f->lock);
	lockdep_assert_in_rcu_read_lock();
	*room = (struct int_vendor_room) {
		.ops = ops,
		.format = format,
		.space = READ_ONCE(in->space),
		.slots = f->slots,
		.ipv6 = !ipv6_addr_v4mapped(&key->peer),
	};
	if (!ops || !f->slots || !ops->room(room, skb) ||
	    (skb && room->hides_tcp &&
	     hop_carrier_hides(&in->carrier, READ_ONCE(in->on), skb, state)))
		*room = (struct int_vendor_room){};
}

/* Return: as int_vendor_ops.read(). Context: RCU read lock. */
int nint_vendor_read(struct sk_buff *skb, unsigned int tcp_at, struct int_flow *f,
		     const void *carried)
{
	const struct int_vendor_ops *ops = rcu_dereference(nint_vendor);

	lockdep_assert_in_rcu_read_lock();
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
	lockdep_assert_in_rcu_read_lock();
	if (!ops || f->vendor->load != nint_vendor_loads || arrival->hdr->type != INT_TYPE_PROBE ||
	    !ops->learn(in->carrier.net, f->vendor, arrival, now_ns, &f->receiver.p,
			&f->receiver.v, reply))
		return false;
	if (READ_ONCE(in->anonymous))
		reply->hops = 0;
	return true;
}

/* Lets probes collect for the rest of the connection: headers in data do not pass the path. */
void nint_leave_data(struct hop_flow *flow)
{
	struct int_flow *f = hop_flow_state(flow);

	spin_lock_bh(&f->lock);
	f->probes_only = true;
	f->forward = INT_FORWARD_PROBE;
	nint_forget_unanswered(&f->asker);
	spin_unlock_bh(&f->lock);
	hop_carrier_forget_passed(flow);
}

void nint_flow_start(void *state)
{
	struct int_flow *f = state;

	spin_lock_init(&f->lock);
	get_random_bytes(&f->cookie, sizeof(f->cookie));
	get_random_bytes(&f->asker.id, sizeof(f->asker.id));
}

/* A little more would take memory of twice this size. Locks are larger in debug kernels. */
static_assert(sizeof(spinlock_t) > sizeof(u32) ||
	      sizeof(struct hop_flow) + sizeof(struct int_flow) <= 1024, "size of a flow");

/* Context: f->lock is held, RCU read lock. */
static void nint_begin_forward(struct int_flow *f, const struct nint_net *in)
{
	struct hop_flow *flow = hop_flow_of_state(f);
	struct int_vendor_room room;

	lockdep_assert_held(&f->lock);
	lockdep_assert_in_rcu_read_lock();
	f->slots = nint_slots_for(READ_ONCE(in->slots), f->hops);
	nint_vendor_room(&room, f, READ_ONCE(in->format), NULL, NULL);
	f->format = room.format;
	/* Probes, if they ask hops of another vendor, too. */
	f->forward = f->probes_only || f->format ? INT_FORWARD_PROBE : READ_ONCE(in->forward);
	if (f->forward == INT_FORWARD_INBAND && hop_carrier_passes(flow))
		set_bit(HOP_FLOW_PASSED, &flow->flags);
	f->skipped = 0;
}

/* A congestion control closes the flow before the next one opens it: only one may use it. */
static bool nint_take_part(struct int_flow *f, struct sock *sk, const struct nint_net *in)
{
	bool taken;

	rcu_read_lock();
	spin_lock_bh(&f->lock);
	taken = hop_flow_state_stage(f) == HOP_STAGE_SUPPORTED && !f->sk;
	if (taken) {
		WRITE_ONCE(f->sk, sk);
		nint_begin_forward(f, in);
		/* Earlier answers are not for this congestion control. */
		WRITE_ONCE(f->answer_is_new, false);
		f->asked = false;
		/* Nothing may have been sent for a long time. */
		nint_forget_unanswered(&f->asker);
	}
	spin_unlock_bh(&f->lock);
	rcu_read_unlock();
	return taken;
}

enum hop_peer nint_flow_negotiate(struct sock *sk)
{
	sock_owned_by_me(sk);
	return hop_negotiate_ask(&nint_carrier, sk, READ_ONCE(nint_net(sock_net(sk))->on));
}
EXPORT_SYMBOL_GPL(nint_flow_negotiate);

struct int_flow *nint_flow_open(struct sock *sk)
{
	const struct nint_net *in = nint_net(sock_net(sk));
	struct hop_flow *flow;
	struct int_flow *f;

	sock_owned_by_me(sk);
	flow = READ_ONCE(in->on) ? hop_negotiate_open(&nint_carrier, sk) : NULL;
	if (!flow)
		return NULL;
	f = hop_flow_state(flow);
	if (!nint_take_part(f, sk, in)) {
		hop_flow_put(flow);
		return NULL;
	}
	if (f->forward == INT_FORWARD_INBAND)
		hop_shim_open_sock(sk, true);
	return f;
}
EXPORT_SYMBOL_GPL(nint_flow_open);

/*
 * Return: true if hops had no room for their records. The next probes have room for all. Data has
 * it after the congestion control has reserved it: nint_flow_grow(). Context: f->lock is held.
 */
static bool nint_is_short(struct int_flow *f, const struct int_answer *a)
{
	unsigned int slots = a->kind == INT_ANSWER_RECORDS ? int_slots(&a->hdr) : f->slots;

	lockdep_assert_held(&f->lock);
	if (a->hops <= slots || !f->slots)
		return false;
	f->hops = a->hops;
	if (!nint_is_inband(f))
		f->slots = nint_slots_for(f->slots, f->hops);
	return true;
}

/*
 * Stores the answer; an empty answer does not replace one that was not taken yet. Context: f->lock
 * is held.
 */
static void nint_keep_answer(struct int_flow *f, u32 id, const struct int_answer *a)
{
	lockdep_assert_held(&f->lock);
	if (f->answer_is_new && nint_answer_is_empty(a))
		return;
	f->answer = *a;
	f->answer.rtt_ns = nint_rtt_ns(&f->asker, id);
	WRITE_ONCE(f->answer_is_new, true);
	nint_hurry(&f->asker, nint_answer_queue_ns(a, f->ask.t_ns), f->ask.t_ns);
}

/* Return: INT_COUNTS, or the counter of the reason why the answer is not new. */
unsigned int nint_answer_store(struct hop_flow *flow, u32 id, const struct int_answer *a)
{
	struct int_flow *f = hop_flow_state(flow);
	bool lacks_records = false;
	enum nint_news news;

	spin_lock_bh(&f->lock);
	if (!f->sk) {
		spin_unlock_bh(&f->lock);
		return INT_COUNT_IN_UNASKED;
	}
	news = nint_answered(&f->asker, id, a->seq, nint_answer_is_empty(a), ktime_get_ns());
	if (news == INT_NEWS) {
		if (id == f->proof_id && f->proof.asks)
			hop_carrier_note_passed(flow);
		lacks_records = nint_is_short(f, a);
		nint_keep_answer(f, id, a);
	}
	spin_unlock_bh(&f->lock);
	trace_int_answer_in(&flow->key, id, a->kind, a->kind == INT_ANSWER_RATIO ? a->u :
			    a->wnd_bytes, a->flows, news);
	if (news != INT_NEWS)
		return news == INT_NEWS_OLD ? INT_COUNT_IN_OLD : INT_COUNT_IN_FORGED;
	return lacks_records ? INT_COUNT_IN_SHORT : INT_COUNTS;
}

void nint_flow_close(struct int_flow *flow)
{
	sock_owned_by_me(flow->sk);
	spin_lock_bh(&flow->lock);
	WRITE_ONCE(flow->sk, NULL);
	spin_unlock_bh(&flow->lock);
	hop_flow_put(hop_flow_of_state(flow));
}
EXPORT_SYMBOL_GPL(nint_flow_close);

static bool nint_same_terms(const struct int_ask *a, const struct int_ask *b)
{
	return a->t_ns == b->t_ns && a->wnd_max_bytes == b->wnd_max_bytes && a->eta == b->eta &&
	       a->max_stage == b->max_stage && a->flows == b->flows && a->kind == b->kind;
}

void nint_flow_ask(struct int_flow *flow, const struct int_ask *ask)
{
	sock_owned_by_me(flow->sk);
	spin_lock_bh(&flow->lock);
	if (!flow->asked || !nint_same_terms(&flow->ask, ask))
		flow->terms_reported = false;
	flow->asked = true;
	flow->ask = *ask;
	spin_unlock_bh(&flow->lock);
}
EXPORT_SYMBOL_GPL(nint_flow_ask);

bool nint_flow_acks_now(const struct int_flow *flow)
{
	return READ_ONCE(flow->acks_now);
}
EXPORT_SYMBOL_GPL(nint_flow_acks_now);

/* Sends an ACK with a header to see if the path passes it; after HOP_LATE_ASKS of them, no more. */
static void nint_flow_prove(struct int_flow *f)
{
	const struct tcp_sock *tp = tcp_sk(f->sk);

	sock_owned_by_me(f->sk);
	switch (hop_late_turn(&f->proof, tp->snd_una, tp->snd_nxt)) {
	case HOP_LATE_ASK:
		set_bit(HOP_FLOW_TRIES, &hop_flow_of_state(f)->flags);
		compat_send_ack(f->sk, tp->rcv_nxt);
		break;
	case HOP_LATE_GIVE_UP:
		nint_leave_data(hop_flow_of_state(f));
		break;
	default:
		break;
	}
}

bool nint_flow_take(struct int_flow *flow, struct int_answer *answer)
{
	sock_owned_by_me(flow->sk);
	if (flow->forward == INT_FORWARD_INBAND && !nint_is_inband(flow))
		nint_flow_prove(flow);
	/* Called for each ACK. Often there is no answer, and the check must not take a lock. */
	if (!READ_ONCE(flow->answer_is_new))
		return false;
	spin_lock_bh(&flow->lock);
	*answer = flow->answer;
	WRITE_ONCE(flow->answer_is_new, false);
	spin_unlock_bh(&flow->lock);
	return true;
}
EXPORT_SYMBOL_GPL(nint_flow_take);

unsigned int nint_flow_hdr_bytes(const struct int_flow *flow)
{
	return flow->forward == INT_FORWARD_INBAND ? nint_inband_bytes(flow->slots) : 0;
}
EXPORT_SYMBOL_GPL(nint_flow_hdr_bytes);

unsigned int nint_flow_grow(struct int_flow *flow)
{
	sock_owned_by_me(flow->sk);
	spin_lock_bh(&flow->lock);
	flow->slots = nint_slots_for(flow->slots, flow->hops);
	spin_unlock_bh(&flow->lock);
	return nint_flow_hdr_bytes(flow);
}
EXPORT_SYMBOL_GPL(nint_flow_grow);

u64 nint_flow_syn_sent_ns(const struct int_flow *flow)
{
	return READ_ONCE(flow->syn_sent_ns);
}
EXPORT_SYMBOL_GPL(nint_flow_syn_sent_ns);

void nint_flow_count_guarded(struct int_flow *flow)
{
	nint_count(nint_net(hop_flow_of_state(flow)->key.net), INT_COUNT_GUARDED);
}
EXPORT_SYMBOL_GPL(nint_flow_count_guarded);

enum hop_peer nint_flow_peer(const struct int_flow *flow)
{
	return hop_peer_at(hop_flow_state_stage(flow));
}
EXPORT_SYMBOL_GPL(nint_flow_peer);
