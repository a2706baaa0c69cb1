// SPDX-License-Identifier: GPL-2.0
/* Carriers negotiate by a TCP option; see hopcc/core/hop_negotiate.h. */

#include <linux/module.h>
#include <hopcc/core/hop_carrier.h>
#include <hopcc/core/hop_input.h>
#include <hopcc/core/hop_negotiate.h>
#include <hopcc/core/hop_option.h>
#include <net/tcp.h>

/* States in which a socket may ask; SYN_RECV: it is about to be established. */
#define HOP_NEGOTIATE_STATES (TCPF_SYN_RECV | TCPF_ESTABLISHED | TCPF_CLOSE_WAIT)

static int hop_negotiate_send(struct sk_buff *skb, const struct hop_segment *seg,
			      struct hop_flow *flow, bool asks, bool answers)
{
	const struct hop_carrier *carrier = flow->key.carrier;
	struct hop_option o;
	int err;

	hop_option_init(&o, hop_option_exid);
	o.asks = asks ? carrier->bit : 0;
	o.answers = answers ? carrier->bit : 0;
	if (carrier->cookie)
		o.cookie = cpu_to_be64(carrier->cookie(flow));
	err = hop_option_put(skb, seg->place.offset_bytes, &o);
	if (!err)
		hop_carrier_count_at(&flow->key, HOP_COUNT_OUT_HANDSHAKE);
	else
		hop_carrier_count_at(&flow->key, err == -ENOSPC ? HOP_COUNT_NO_ROOM :
								  HOP_COUNT_NO_MEMORY);
	return err;
}

/* An existing flow with the socket's key belongs to an earlier connection with the same ports. */
static struct hop_flow *hop_negotiate_syn(const struct hop_carrier *carrier,
					  const struct sk_buff *skb,
					  const struct hop_segment *seg)
{
	const struct sock *sk = skb->sk;
	struct hop_flow_key key;
	struct hop_flow *flow;

	if (inet_csk(sk)->icsk_retransmits)
		return NULL;
	hop_flow_key_of_sock(&key, carrier, sk);
	flow = hop_flow_find(&key);
	if (flow)
		hop_flow_remove(flow);
	if (seg->payload_bytes || !carrier->asks(&key, sk))
		return NULL;
	flow = hop_flow_add(&key, true);
	return flow && hop_flow_event(flow, HOP_EVENT_ASK) == HOP_STAGE_ASKED ? flow : NULL;
}

/*
 * A SYN-ACK without a socket has a SYN cookie. If the stage is neither of the two, the flow is an
 * earlier connection's, since this one's SYN did not ask.
 */
static struct hop_flow *hop_negotiate_synack(const struct hop_carrier *carrier,
					     const struct sk_buff *skb,
					     const struct hop_segment *seg)
{
	const struct sock *sk = skb->sk;
	struct hop_flow_key key;
	struct hop_flow *flow;

	/*
	 * The peer has acknowledged the first SYN-ACK, which is sent again while the listener waits
	 * for data (TCP_DEFER_ACCEPT), or has no room for the connection.
	 */
	if (sk && sk->sk_state == TCP_NEW_SYN_RECV && inet_rsk(inet_reqsk(sk))->acked)
		return NULL;
	if (sk)
		hop_flow_key_of_sock(&key, carrier, sk);
	else
		hop_flow_key_of_output(&key, carrier, skb, hop_segment_tcp(skb, seg));
	flow = hop_flow_find(&key);
	/* Anybody can have this host forward a SYN-ACK that seems to be one of its connections. */
	if (!flow || (!sk && hop_flow_tcp_state(&key) & HOP_FLOW_FULL))
		return NULL;
	switch (hop_flow_stage(flow)) {
	case HOP_STAGE_OFFERED:
		if (!sk)
			break;
		hop_flow_event(flow, HOP_EVENT_ANSWER);
		return flow;
	case HOP_STAGE_ANSWERED:
		/* The first SYN-ACK was lost, perhaps because of the option: pure ACKs ask. */
		hop_flow_event(flow, HOP_EVENT_AGAIN);
		return NULL;
	case HOP_STAGE_NONE:
		return NULL;
	default:
		break;
	}
	hop_flow_remove(flow);
	return NULL;
}

struct hop_flow *hop_negotiate_handshake(const struct hop_carrier *carrier, struct sk_buff *skb,
					 const struct hop_segment *seg)
{
	const struct sock *sk = skb->sk;
	struct hop_flow *flow = NULL;

	lockdep_assert_in_rcu_read_lock();
	/* A helper of conntrack changes sequence numbers, which probes and answers contain. */
	if (hop_shim_is_rewritten(skb))
		return NULL;
	/* Only SYNs and SYN-ACKs of this host; TCP's own sockets send neither. */
	if (!seg->ack && hop_output_is_tcp(sk))
		flow = hop_negotiate_syn(carrier, skb, seg);
	else if (seg->ack && (!sk || hop_output_is_tcp(sk) || sk->sk_state == TCP_NEW_SYN_RECV))
		flow = hop_negotiate_synack(carrier, skb, seg);
	/* A SYN-ACK may have no room (MPTCP, Fast Open): the next pure ACK answers. */
	if (flow && hop_negotiate_send(skb, seg, flow, !seg->ack, seg->ack) && seg->ack)
		set_bit(HOP_FLOW_ANSWERS, &flow->flags);
	return flow;
}
EXPORT_SYMBOL_GPL(hop_negotiate_handshake);

bool hop_negotiate_ack(struct sk_buff *skb, const struct hop_segment *seg, struct hop_flow *flow)
{
	bool asks, answers;

	lockdep_assert_in_rcu_read_lock();
	/* Most connections have nothing to negotiate. */
	if (!(READ_ONCE(flow->flags) & (BIT(HOP_FLOW_ASKS) | BIT(HOP_FLOW_ANSWERS))) ||
	    hop_segment_tcp(skb, seg)->fin || hop_shim_is_rewritten(skb))
		return false;
	asks = test_and_clear_bit(HOP_FLOW_ASKS, &flow->flags);
	answers = test_and_clear_bit(HOP_FLOW_ANSWERS, &flow->flags);
	if (!hop_negotiate_send(skb, seg, flow, asks, answers))
		return true;
	/* The next ACK may have room, with fewer SACK blocks. */
	if (asks)
		set_bit(HOP_FLOW_ASKS, &flow->flags);
	if (answers)
		set_bit(HOP_FLOW_ANSWERS, &flow->flags);
	return true;
}
EXPORT_SYMBOL_GPL(hop_negotiate_ack);

static void hop_negotiate_learn(struct hop_flow *flow, const struct hop_option *o)
{
	if (flow->key.carrier->learn)
		flow->key.carrier->learn(flow, o);
}

/* The peer asks by its SYN. A SYN that is sent again has no option, a different one is forged. */
static void hop_negotiate_receive_syn(const struct hop_flow_key *key, const struct hop_option *o)
{
	struct hop_flow *flow = hop_flow_find(key);
	/* A listener would accept it, and no live connection has these ports. */
	const bool opens = !(hop_flow_tcp_state(key) & ~TCPF_TIME_WAIT) &&
			   hop_flow_has_listener(key);

	if (opens) {
		if (flow)
			hop_flow_remove(flow);
		flow = hop_flow_add(key, true);
	}
	if (!flow) {
		hop_carrier_count_at(key, HOP_COUNT_IN_NO_FLOW);
		return;
	}
	/* Otherwise it is the SYN of a simultaneous open, or anybody's. */
	if (opens || hop_flow_stage(flow) == HOP_STAGE_ASKED) {
		hop_flow_event(flow, HOP_EVENT_OFFER);
		hop_negotiate_learn(flow, o);
	}
}

static void hop_negotiate_receive_synack(const struct hop_flow_key *key, const struct tcphdr *th,
					 const struct hop_option *o)
{
	struct hop_flow *flow = hop_flow_find(key);

	if (!flow || !hop_input_answers_syn(key, ntohl(th->ack_seq))) {
		hop_carrier_count_at(key, HOP_COUNT_IN_NO_FLOW);
		return;
	}
	hop_negotiate_learn(flow, o);
	hop_flow_event(flow, HOP_EVENT_RECEIVED);
}

/* A question gets at most HOP_LATE_ASKS answers. */
static void hop_negotiate_receive_question(const struct hop_flow_key *key,
					   const struct hop_option *o)
{
	struct hop_flow *flow = hop_flow_add(key, false);

	if (!flow || READ_ONCE(flow->late.asked) >= HOP_LATE_ASKS) {
		hop_carrier_count_at(key, HOP_COUNT_IN_NO_FLOW);
		return;
	}
	WRITE_ONCE(flow->late.asked, flow->late.asked + 1);
	hop_negotiate_learn(flow, o);
	hop_flow_event(flow, HOP_EVENT_RECEIVED);
	set_bit(HOP_FLOW_ANSWERS, &flow->flags);
	hop_input_answer_now(key);
}

static void hop_negotiate_receive_ack(const struct hop_flow_key *key, const struct tcphdr *th,
				      const struct hop_option *o)
{
	const u8 bit = key->carrier->bit;
	const bool from_peer = hop_input_is_from_peer(key, ntohl(th->seq), ntohl(th->ack_seq));
	struct hop_flow *flow = hop_flow_find(key);

	if (o->answers & bit && flow && hop_flow_stage(flow) == HOP_STAGE_ASKED && from_peer) {
		hop_negotiate_learn(flow, o);
		hop_flow_event(flow, HOP_EVENT_RECEIVED);
	}
	if (!(o->asks & bit))
		return;
	if (from_peer && !th->fin && !th->rst && hop_flow_tcp_state(key) & ~TCPF_TIME_WAIT)
		hop_negotiate_receive_question(key, o);
	else
		hop_carrier_count_at(key, HOP_COUNT_IN_NO_FLOW);
}

void hop_negotiate_receive(const struct hop_carrier *carrier, struct sk_buff *skb,
			   unsigned int tcp_at, const struct nf_hook_state *state)
{
	const struct tcphdr *th;
	struct hop_flow_key key;
	unsigned int tcp_bytes;
	struct hop_option o;

	lockdep_assert_in_rcu_read_lock();
	if (!pskb_may_pull(skb, tcp_at + HOP_OPTION_TCP_BYTES))
		return;
	tcp_bytes = __tcp_hdrlen((const struct tcphdr *)(skb->data + tcp_at));
	if (tcp_bytes < HOP_OPTION_TCP_BYTES || !pskb_may_pull(skb, tcp_at + tcp_bytes))
		return;
	th = (const struct tcphdr *)(skb->data + tcp_at);
	if (!hop_option_read((const u8 *)(th + 1), tcp_bytes - sizeof(*th), hop_option_exid, &o) ||
	    !((o.asks | o.answers) & carrier->bit) || !hop_input_is_local(skb, state))
		return;
	hop_flow_key_of_input(&key, carrier, skb, th);
	if (hop_input_is_mangled(skb, th)) {
		hop_carrier_count_at(&key, HOP_COUNT_IN_BAD_SUM);
		return;
	}
	hop_carrier_count_at(&key, HOP_COUNT_IN_HANDSHAKE);
	if (!th->syn)
		hop_negotiate_receive_ack(&key, th, &o);
	else if (th->ack && o.answers & carrier->bit)
		hop_negotiate_receive_synack(&key, th, &o);
	else if (!th->ack && o.asks & carrier->bit)
		hop_negotiate_receive_syn(&key, &o);
}
EXPORT_SYMBOL_GPL(hop_negotiate_receive);

enum hop_stage hop_negotiate_settle(struct hop_flow *flow)
{
	lockdep_assert_in_rcu_read_lock();
	hop_flow_settle(flow);
	return hop_flow_event(flow, HOP_EVENT_ESTABLISHED);
}
EXPORT_SYMBOL_GPL(hop_negotiate_settle);

struct hop_flow *hop_negotiate_open(const struct hop_carrier *carrier, struct sock *sk)
{
	struct hop_flow *flow;

	sock_owned_by_me(sk);
	if (hop_output_is_opening(sk))
		return NULL;
	rcu_read_lock();
	flow = hop_flow_of_sock(carrier, sk);
	if (flow && hop_flow_hold(flow))
		hop_negotiate_settle(flow);
	else
		flow = NULL;
	rcu_read_unlock();
	return flow;
}
EXPORT_SYMBOL_GPL(hop_negotiate_open);

/*
 * An answer may arrive at the same time. A question that never left, as where IPsec or TCP-MD5
 * keeps it from leaving, says nothing of the peer.
 */
static enum hop_peer hop_negotiate_give_up(struct hop_flow *flow, bool tries)
{
	const bool kept = test_and_clear_bit(HOP_FLOW_ASKS, &flow->flags) |
			  test_and_clear_bit(HOP_FLOW_TRIES, &flow->flags);
	const enum hop_event event = tries ? HOP_EVENT_TIMEOUTS : HOP_EVENT_UNANSWERED;

	return hop_peer_at(hop_flow_event(flow, kept ? HOP_EVENT_HIDDEN : event));
}

static bool hop_negotiate_avoids(const struct hop_flow_key *key)
{
	const bool avoids = hop_carrier_avoids(key);

	if (avoids)
		hop_carrier_count_at(key, HOP_COUNT_AVOIDED);
	return avoids;
}

/* Return: the state of the peer; @asks: set to true if the next ACK asks. */
static enum hop_peer hop_negotiate_take_turn(struct hop_flow *flow, const struct sock *sk,
					     bool *asks)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	const enum hop_stage stage = hop_negotiate_settle(flow);
	const bool tries = stage == HOP_STAGE_SUPPORTED && flow->key.carrier->in_front &&
			   !hop_carrier_passes(flow);

	if (!tries && !hop_may_ask(stage))
		return hop_peer_at(stage);
	if (tries && !test_and_set_bit(HOP_FLOW_TRIED, &flow->flags))
		flow->late.asks = 0;
	if (!flow->late.asks && hop_negotiate_avoids(&flow->key))
		return HOP_PEER_UNSUPPORTED;
	switch (hop_late_turn(&flow->late, tp->snd_una, tp->snd_nxt)) {
	case HOP_LATE_ASK:
		*asks = true;
		if (!tries)
			hop_flow_event(flow, HOP_EVENT_ASK);
		set_bit(tries ? HOP_FLOW_TRIES : HOP_FLOW_ASKS, &flow->flags);
		return HOP_PEER_UNKNOWN;
	case HOP_LATE_GIVE_UP:
		return hop_negotiate_give_up(flow, tries);
	default:
		return HOP_PEER_UNKNOWN;
	}
}

enum hop_peer hop_negotiate_ask(const struct hop_carrier *carrier, struct sock *sk, bool starts)
{
	enum hop_peer peer = HOP_PEER_UNSUPPORTED;
	struct hop_flow_key key;
	struct hop_flow *flow;
	bool asks = false;

	sock_owned_by_me(sk);
	if (hop_output_is_opening(sk))
		return HOP_PEER_UNKNOWN;
	if (!(1 << sk->sk_state & HOP_NEGOTIATE_STATES))
		return HOP_PEER_UNSUPPORTED;
	hop_flow_key_of_sock(&key, carrier, sk);
	rcu_read_lock();
	flow = hop_flow_find(&key);
	if (!flow && starts && !hop_negotiate_avoids(&key)) {
		/* At the end of a handshake that has not negotiated: ACKs ask when data is sent. */
		if (hop_output_is_late(sk))
			flow = hop_flow_add(&key, false);
		else
			peer = HOP_PEER_UNKNOWN;
	}
	if (flow)
		peer = hop_negotiate_take_turn(flow, sk, &asks);
	rcu_read_unlock();
	/* At the end of the handshake, the ACK that ends it asks. */
	if (asks && hop_output_is_late(sk))
		compat_send_ack(sk, tcp_sk(sk)->rcv_nxt);
	return peer;
}
EXPORT_SYMBOL_GPL(hop_negotiate_ask);
