// SPDX-License-Identifier: GPL-2.0
/* State of a connection: negotiation, received tags, reflected values; hopcc/flow/csig_flow.h. */

#include <linux/module.h>
#include <hopcc/core/hop_negotiate.h>
#include <net/tcp.h>

#include "net_csig_tag.h"
#include "trace.h"

static void ctag_flow_start(void *state)
{
	struct csig_flow *f = state;

	spin_lock_init(&f->lock);
	seqcount_spinlock_init(&f->reported_changes, &f->lock);
}

static void ctag_set_request(struct hop_flow *flow, const struct sock *sk)
{
	struct csig_flow *f = hop_flow_state(flow);
	struct ctag_request request;

	rcu_read_lock();
	request = ctag_request(ctag_net(flow->key.net), &flow->key, sk);
	rcu_read_unlock();
	spin_lock_bh(&f->lock);
	f->request.every_pkts = request.every_pkts;
	f->request.packets = request.packets;
	WRITE_ONCE(f->request.form, request.form);
	spin_unlock_bh(&f->lock);
}

/**
 * ctag_flow_settle() - complete the negotiation, once there is a full socket
 * @flow: the flow
 * @sk: its socket
 *
 * Context: RCU read lock.
 */
void ctag_flow_settle(struct hop_flow *flow, const struct sock *sk)
{
	lockdep_assert_in_rcu_read_lock();
	if (!hop_flow_settle(flow))
		return;
	hop_negotiate_settle(flow);
	ctag_set_request(flow, sk);
}

/**
 * ctag_flow_receive() - at the receiver: process a received tag
 * @cn: the netns' state
 * @flow: flow of its packet
 * @form: format of the tag
 * @t: the tag
 *
 * Context: RCU read lock.
 */
void ctag_flow_receive(struct ctag_net *cn, struct hop_flow *flow, enum csig_form form,
		       const struct csig_tag *t)
{
	struct csig_flow *f = hop_flow_state(flow);

	lockdep_assert_in_rcu_read_lock();
	if (t->type >= CSIG_TYPES) {
		ctag_count(cn, CTAG_IN_TYPE);
		return;
	}
	ctag_count(cn, CTAG_IN_RECEIVED);
	trace_csig_received(&flow->key, form, t);
	spin_lock_bh(&f->lock);
	ctag_receive(&f->received[t->type], form, t);
	if (ctag_opt_bytes(form) > f->option_bytes)
		WRITE_ONCE(f->option_bytes, ctag_opt_bytes(form));
	spin_unlock_bh(&f->lock);
}

/*
 * At the receiver: data was received without a tag. This is not reported while a received tag has
 * not been reflected yet: that tag may belong to this data, if it was in the outer packet of a
 * tunnel.
 */
void ctag_flow_miss(struct hop_flow *flow)
{
	struct csig_flow *f = hop_flow_state(flow);

	if (!READ_ONCE(f->asked_us))
		return;
	spin_lock_bh(&f->lock);
	f->untagged = ctag_reflect_pick(f->received) == CSIG_TYPES;
	spin_unlock_bh(&f->lock);
}

/* Trace and count a change of the path's state, which was @from. Context: the flow's lock held. */
static void ctag_note_path(struct ctag_net *cn, struct hop_flow *flow, u8 from)
{
	const struct csig_flow *f = hop_flow_state(flow);

	lockdep_assert_held(&f->lock);
	if (f->path.state == from)
		return;
	trace_csig_path(&flow->key, from, f->path.state);
	if (f->path.state == CSIG_PATH_STRIPPED)
		ctag_count(cn, CTAG_STRIPPED);
}

/* Context: RCU read lock; @f's lock held. Readers of @reported do not take the lock. */
static void ctag_store_reported(const struct ctag_net *cn, struct csig_flow *f, enum csig_form form,
				const struct csig_tag *t)
{
	struct csig_signal *reported = &f->reported[t->type];
	struct csig_signal s = {
		.form = form,
		.initial = t->value == csig_initial(form, t->type),
		.value = t->value,
		.locator = t->locator,
		.at_ns = ktime_get_ns(),
		.count = reported->count,
	};

	lockdep_assert_in_rcu_read_lock();
	lockdep_assert_held(&f->lock);
	ctag_range(cn, t->type, &s);
	write_seqcount_begin(&f->reported_changes);
	*reported = s;
	/* ctag_flow_news() reads the count without the seqcount. */
	WRITE_ONCE(reported->count, s.count + 1);
	write_seqcount_end(&f->reported_changes);
}

/**
 * ctag_flow_reported() - at the sender: process a value that the peer has reflected
 * @cn: the netns' state
 * @flow: flow of the packet
 * @form: format of the value
 * @t: the reflected fields
 *
 * Context: RCU read lock.
 */
void ctag_flow_reported(struct ctag_net *cn, struct hop_flow *flow, enum csig_form form,
			const struct csig_tag *t)
{
	struct csig_flow *f = hop_flow_state(flow);
	u8 from;

	lockdep_assert_in_rcu_read_lock();
	if (t->type >= CSIG_TYPES) {
		ctag_count(cn, CTAG_IN_TYPE);
		return;
	}
	spin_lock_bh(&f->lock);
	ctag_count(cn, f->sent ? CTAG_IN_VALUE : CTAG_IN_UNASKED);
	if (f->sent) {
		from = f->path.state;
		ctag_store_reported(cn, f, form, t);
		ctag_path_answered(&f->path);
		trace_csig_reflected(&flow->key, form, t);
		ctag_note_path(cn, flow, from);
	}
	spin_unlock_bh(&f->lock);
}

/* At the sender: the peer reports that no tag was received. Context: RCU read lock. */
void ctag_flow_reported_empty(struct ctag_net *cn, struct hop_flow *flow, u32 ack_seq)
{
	struct csig_flow *f = hop_flow_state(flow);
	u8 from;

	lockdep_assert_in_rcu_read_lock();
	ctag_count(cn, CTAG_IN_EMPTY);
	spin_lock_bh(&f->lock);
	from = f->path.state;
	ctag_path_empty(&f->path, ack_seq, ktime_get_ns());
	ctag_note_path(cn, flow, from);
	spin_unlock_bh(&f->lock);
}

/*
 * Return: true if a tag is requested for this segment. After a retransmission timeout no segment
 * has a tag, because the tags may be the reason for the losses.
 */
static bool ctag_is_requested(const struct ctag_request *request, const struct hop_segment *seg,
			      const struct sock *sk)
{
	if (request->packets == CTAG_PROBES)
		return seg->payload_bytes <= 1;
	return seg->payload_bytes && !inet_csk(sk)->icsk_retransmits;
}

/**
 * ctag_type_of() - signal type that a packet requests
 * @cn: the netns' state
 * @n: number of packets before it that could have carried tags
 * @every_pkts: one packet in @every_pkts carries a tag
 *
 * Return: the type; CSIG_TYPES for no tag.
 */
u32 ctag_type_of(const struct ctag_net *cn, u32 n, u32 every_pkts)
{
	u32 type, weight_pkts[CSIG_TYPES];

	if (n % every_pkts)
		return CSIG_TYPES;
	/* The weights must not change during ctag_turn(). */
	for (type = 0; type < CSIG_TYPES; type++)
		weight_pkts[type] = READ_ONCE(cn->weight_pkts[type]);
	return ctag_turn(n / every_pkts, weight_pkts);
}

/*
 * @f's lock is held. Return: the type, or CSIG_TYPES for no tag.
 */
static u32 ctag_next_type(struct ctag_net *cn, struct csig_flow *f, u32 end_seq,
			  const struct sock *sk)
{
	const u64 now_ns = ktime_get_ns();
	const u64 timeout_ns = ctag_timeout_ns(tcp_sk(sk)->srtt_us >> 3);
	const u64 retry_ns = (u64)READ_ONCE(cn->retry_s) * NSEC_PER_SEC;
	u32 type;

	lockdep_assert_held(&f->lock);
	if (!ctag_path_may_tag(&f->path, now_ns, timeout_ns, retry_ns))
		return CSIG_TYPES;
	type = ctag_type_of(cn, f->offered_pkts++, f->request.every_pkts);
	if (type != CSIG_TYPES) {
		ctag_path_tagged(&f->path, end_seq, now_ns);
		f->sent = true;
	}
	return type;
}

/**
 * ctag_flow_tag() - at the sender: decide if a packet carries a tag
 * @cn: the netns' state
 * @flow: flow of the packet
 * @skb: the packet, whose socket is locked, because it is sending
 * @seg: result of ctag_read_segment()
 * @t: result
 *
 * Context: RCU read lock.
 * Return: format of the tag, or CSIG_NONE.
 */
enum csig_form ctag_flow_tag(struct ctag_net *cn, struct hop_flow *flow, const struct sk_buff *skb,
			     const struct hop_segment *seg, struct csig_tag *t)
{
	const u32 end_seq = ntohl(hop_segment_tcp(skb, seg)->seq) + seg->payload_bytes;
	struct csig_flow *f = hop_flow_state(flow);
	u32 type = CSIG_TYPES;
	enum csig_form form;
	u8 from;

	lockdep_assert_in_rcu_read_lock();
	spin_lock_bh(&f->lock);
	form = f->request.form;
	from = f->path.state;
	if (ctag_is_requested(&f->request, seg, skb->sk))
		type = ctag_next_type(cn, f, end_seq, skb->sk);
	ctag_note_path(cn, flow, from);
	spin_unlock_bh(&f->lock);
	if (type == CSIG_TYPES)
		return CSIG_NONE;
	*t = (struct csig_tag) { .type = type, .value = csig_initial(form, type) };
	return form;
}

/* At the sender: the tag that the flow decided on last was not sent after all. */
void ctag_flow_unsent(struct hop_flow *flow)
{
	struct csig_flow *f = hop_flow_state(flow);

	spin_lock_bh(&f->lock);
	ctag_path_unsent(&f->path);
	spin_unlock_bh(&f->lock);
}

/*
 * Bytes that this end adds to packets with data, and that TCP must leave free. ESP pads packets to
 * whole blocks of the cipher, so only a whole block less of data makes each packet shorter.
 */
static u32 ctag_added_bytes(const struct csig_flow *f)
{
	const u8 form = READ_ONCE(f->request.form);
	const u32 unit_bytes = READ_ONCE(f->encrypted) ? CTAG_CIPHER_BLOCK_BYTES : 1;

	return (form ? round_up(csig_shapes[form].tag_bytes, unit_bytes) : 0) +
	       READ_ONCE(f->option_bytes);
}

/* Return: true if ctag_flow_reserve() has to reserve more bytes. */
bool ctag_flow_lacks_room(const struct csig_flow *f)
{
	return ctag_added_bytes(f) > READ_ONCE(f->reserved_bytes);
}

/**
 * ctag_flow_reserve() - make TCP's segments leave room for what this end adds
 * @f: the flow
 * @sk: its socket
 *
 * Context: socket lock held.
 */
void ctag_flow_reserve(struct csig_flow *f, struct sock *sk)
{
	const u32 bytes = ctag_added_bytes(f);

	sock_owned_by_me(sk);
	if (bytes <= f->reserved_bytes || hop_flow_state_stage(f) != HOP_STAGE_SUPPORTED)
		return;
	hop_shim_reserve(sk, bytes - f->reserved_bytes);
	WRITE_ONCE(f->reserved_bytes, bytes);
	f->reserved_sk = sk;
}

/* Context: the lock of the socket, which may belong to a connection of another VRF. */
static void ctag_flow_leave(struct sock *sk, void *flow)
{
	struct csig_flow *f = flow;

	sock_owned_by_me(sk);
	if (f->reserved_sk != sk)
		return;
	hop_shim_release(sk, f->reserved_bytes);
	WRITE_ONCE(f->reserved_bytes, 0);
}

/* Return: true if the first SYN of a socket must carry the option. */
static bool ctag_is_asking(const struct hop_flow_key *key, const struct sock *sk)
{
	struct ctag_net *cn = ctag_net(key->net);

	return READ_ONCE(cn->level) == CTAG_INITIATES && ctag_request(cn, key, sk).form;
}

static void ctag_learn(struct hop_flow *flow, const struct hop_option *o)
{
	struct csig_flow *f = hop_flow_state(flow);

	if (o->asks & HOP_OPTION_CSIG)
		WRITE_ONCE(f->asked_us, true);
}

static const char * const ctag_count_names[] = { CTAG_COUNT_LIST(HOP_COUNTER_NAME) };
static atomic_t ctag_flow_entries = ATOMIC_INIT(0);

const struct hop_carrier ctag_carrier = {
	.net_id = &ctag_net_id,
	.file = "hopcc_csig",
	.table = ctag_table,
	.names = ctag_count_names,
	.counts = CTAG_COUNTS,
	.trace = trace_csig_discover,
	.state_bytes = sizeof(struct csig_flow),
	.entries = &ctag_flow_entries,
	.start = ctag_flow_start,
	.leave = ctag_flow_leave,
	.bit = HOP_OPTION_CSIG,
	.asks = ctag_is_asking,
	.learn = ctag_learn,
};

struct csig_flow *ctag_flow_open(struct sock *sk)
{
	const struct ctag_net *cn = ctag_net(sock_net(sk));
	struct hop_flow *flow;
	struct csig_flow *f;

	sock_owned_by_me(sk);
	flow = READ_ONCE(cn->level) ? hop_negotiate_open(&ctag_carrier, sk) : NULL;
	if (!flow)
		return NULL;
	f = hop_flow_state(flow);
	/* No packet has settled it, or the congestion control was chosen after the handshake. */
	if (!READ_ONCE(f->request.form))
		ctag_set_request(flow, sk);
	if (hop_flow_stage(flow) == HOP_STAGE_SUPPORTED)
		return f;
	hop_flow_put(flow);
	return NULL;
}
EXPORT_SYMBOL_GPL(ctag_flow_open);

enum hop_peer ctag_flow_ask(struct sock *sk)
{
	struct hop_flow_key key;
	bool starts;

	sock_owned_by_me(sk);
	hop_flow_key_of_sock(&key, &ctag_carrier, sk);
	rcu_read_lock();
	starts = ctag_is_asking(&key, sk);
	rcu_read_unlock();
	return hop_negotiate_ask(&ctag_carrier, sk, starts);
}
EXPORT_SYMBOL_GPL(ctag_flow_ask);

bool ctag_flow_is_fed(const struct csig_flow *f)
{
	return READ_ONCE(f->path.state) != CSIG_PATH_STRIPPED;
}
EXPORT_SYMBOL_GPL(ctag_flow_is_fed);

u32 ctag_flow_news(const struct csig_flow *f, const u64 *seen)
{
	u32 type, news = ctag_flow_is_fed(f) ? CSIG_NEWS_FED : 0;

	for (type = 0; type < CSIG_TYPES; type++)
		if (READ_ONCE(f->reported[type].count) != seen[type])
			news |= BIT(type);
	return news;
}
EXPORT_SYMBOL_GPL(ctag_flow_news);

bool ctag_flow_read(const struct csig_flow *f, enum csig_type type, struct csig_signal *s)
{
	unsigned int start;

	do {
		start = read_seqcount_begin(&f->reported_changes);
		*s = f->reported[type];
	} while (read_seqcount_retry(&f->reported_changes, start));
	return s->count;
}
EXPORT_SYMBOL_GPL(ctag_flow_read);

void ctag_flow_count_guarded(struct csig_flow *f)
{
	ctag_count(ctag_net(hop_flow_of_state(f)->key.net), CTAG_GUARDED);
}
EXPORT_SYMBOL_GPL(ctag_flow_count_guarded);

void ctag_flow_close(struct csig_flow *f)
{
	hop_flow_put(hop_flow_of_state(f));
}
EXPORT_SYMBOL_GPL(ctag_flow_close);
