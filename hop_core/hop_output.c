// SPDX-License-Identifier: GPL-2.0
/* Where packets leave; see net/hop_output.h. */

#include <linux/module.h>
#include <net/dst.h>
#include <net/hop_output.h>
#include <net/tcp.h>

bool hop_output_read(struct sk_buff *skb, struct hop_segment *seg)
{
	const struct tcphdr *th;
	unsigned int headers_bytes;

	if (seg->place.next != IPPROTO_TCP)
		return false;
	headers_bytes = seg->place.offset_bytes + sizeof(*th);
	if (!pskb_may_pull(skb, headers_bytes))
		return false;
	th = hop_segment_tcp(skb, seg);
	headers_bytes = seg->place.offset_bytes + __tcp_hdrlen(th);
	if (skb->len < headers_bytes)
		return false;
	seg->payload_bytes = skb->len - headers_bytes;
	seg->syn = th->syn;
	seg->ack = th->ack;
	seg->rst = th->rst;
	return true;
}
EXPORT_SYMBOL_GPL(hop_output_read);

bool hop_output_has_room(const struct sk_buff *skb, unsigned int payload_bytes,
			 unsigned int bytes)
{
	unsigned int wire_bytes = skb->len + bytes;

	if (skb_is_gso(skb))
		wire_bytes += skb_shinfo(skb)->gso_size - payload_bytes;
	return wire_bytes <= dst_mtu(skb_dst(skb));
}
EXPORT_SYMBOL_GPL(hop_output_has_room);

/* What is there is of an earlier connection with these ports. */
static struct hop_flow *ask(const struct hop_greeter *greeter, const struct hop_flow_key *key,
			    const struct sock *sk, unsigned int payload_bytes)
{
	struct hop_flow *flow = hop_flow_find(key);

	if (flow)
		hop_flow_remove(flow);
	if (payload_bytes || !greeter->asks(key, sk))
		return NULL;
	return hop_flow_add(key, true);
}

/*
 * A SYN that is sent again since its header was refused (hop_icmp_ends()) says nothing of
 * congestion: the timeout takes no slow start away. Context: the socket sends, it is locked.
 */
static struct hop_flow *find_again(const struct hop_greeter *greeter,
				   const struct hop_flow_key *key, struct sock *sk)
{
	struct hop_flow *flow = hop_flow_find(key);

	if (flow && inet_csk(sk)->icsk_retransmits == 1 &&
	    greeter->stage(flow) == HOP_STAGE_SILENT)
		tcp_sk(sk)->snd_ssthresh = TCP_INFINITE_SSTHRESH;
	return flow;
}

static struct hop_flow *greet_with_syn(const struct hop_greeter *greeter, struct sock *sk,
				       unsigned int payload_bytes)
{
	struct hop_flow_key key;
	struct hop_flow *flow;

	hop_flow_key_of_sock(&key, greeter->kind, sk);
	if (inet_csk(sk)->icsk_retransmits)
		flow = find_again(greeter, &key, sk);
	else
		flow = ask(greeter, &key, sk, payload_bytes);
	if (!flow || greeter->event(flow, HOP_EVENT_SYN_OUT) != HOP_STAGE_ASKED)
		return NULL;
	return flow;
}

static struct hop_flow *greet_with_synack(const struct hop_greeter *greeter,
					  const struct sk_buff *skb, const struct tcphdr *th)
{
	struct hop_flow_key key;
	struct hop_flow *flow;
	enum hop_stage stage;

	if (skb->sk)
		hop_flow_key_of_sock(&key, greeter->kind, skb->sk);
	else
		hop_flow_key_of_output(&key, greeter->kind, skb, th);
	flow = hop_flow_find(&key);
	if (!flow)
		return NULL;
	stage = greeter->stage(flow);
	if (stage != HOP_STAGE_HEARD && stage != HOP_STAGE_ANSWERED) {
		/* Of an earlier connection; this one's SYN had no header. */
		if (stage == HOP_STAGE_SPEAKS)
			hop_flow_remove(flow);
		return NULL;
	}
	if (greeter->event(flow, HOP_EVENT_SYNACK_OUT) != HOP_STAGE_ANSWERED)
		return NULL;
	return flow;
}

struct hop_flow *hop_output_greet(const struct hop_greeter *greeter, const struct sk_buff *skb,
				  const struct tcphdr *th, unsigned int payload_bytes)
{
	struct sock *sk = skb->sk;

	/* Neither end shall expect headers that hop_shim_insert() would refuse. */
	if (hop_shim_is_rewritten(skb))
		return NULL;
	if (th->ack) {
		if (!sk || hop_output_is_tcp(sk) || sk->sk_state == TCP_NEW_SYN_RECV)
			return greet_with_synack(greeter, skb, th);
	} else if (hop_output_is_tcp(sk)) {
		return greet_with_syn(greeter, sk, payload_bytes);
	}
	return NULL;
}
EXPORT_SYMBOL_GPL(hop_output_greet);
