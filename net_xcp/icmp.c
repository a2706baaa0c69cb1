// SPDX-License-Identifier: GPL-2.0
/*
 * ICMP errors that quote a packet with a congestion header. Those about the
 * header itself end XCP on the connection, or copies into the tunnel; all others
 * are TCP's, or the tunnel's: without them path MTU discovery would be a black hole.
 */
#include <linux/icmp.h>
#include <linux/icmpv6.h>
#include <net/icmp.h>
#include <net/protocol.h>
#include <net/tcp.h>

#include "net_xcp.h"

/* RFC 792: ports and sequence number are what an error quotes at least. */
#define XCP_QUOTED_NEXT_BYTES 8

/**
 * enum xcp_verdict - what an error says of our header
 * @XCP_VERDICT_NEXT: nothing
 * @XCP_VERDICT_MAYBE: somebody filters: perhaps us, perhaps what follows
 * @XCP_VERDICT_REFUSED: its protocol number is not known there
 */
enum xcp_verdict {
	XCP_VERDICT_NEXT,
	XCP_VERDICT_MAYBE,
	XCP_VERDICT_REFUSED,
};

static enum xcp_verdict judge_v4(u8 type, u8 code)
{
	if (type != ICMP_DEST_UNREACH)
		return XCP_VERDICT_NEXT;
	switch (code) {
	case ICMP_PROT_UNREACH:
		return XCP_VERDICT_REFUSED;
	case ICMP_PORT_UNREACH:
	case ICMP_NET_ANO:
	case ICMP_HOST_ANO:
	case ICMP_PKT_FILTERED:
		return XCP_VERDICT_MAYBE;
	default:
		return XCP_VERDICT_NEXT;
	}
}

/* The quoted segment is one that TCP has in flight; else anybody could send this. */
static bool is_in_flight(const struct hop_flow_key *key, const struct tcphdr *th)
{
	struct sock *sk = hop_flow_socket(key);
	u32 seq = ntohl(th->seq);
	bool good = false;

	if (!sk)
		return false;
	if (sk->sk_state == TCP_NEW_SYN_RECV)
		good = seq == tcp_rsk(inet_reqsk(sk))->snt_isn;
	else if (sk_fullsock(sk))
		good = between(seq, READ_ONCE(tcp_sk(sk)->snd_una),
			       READ_ONCE(tcp_sk(sk)->snd_nxt));
	sock_gen_put(sk);
	return good;
}

static bool is_handshake(enum xcp_stage stage)
{
	return stage == XCP_STAGE_ASKED || stage == XCP_STAGE_LOST ||
	       stage == XCP_STAGE_HEARD || stage == XCP_STAGE_ANSWERED;
}

/*
 * A filter's answer to a SYN is asked again without a header before TCP believes
 * it; to a packet of an open connection it is TCP's own affair.
 *
 * Return: whether the error is dealt with.
 */
static bool end_xcp(struct xcp_net *xn, const struct hop_flow_key *key, const struct tcphdr *th,
		    enum xcp_verdict verdict)
{
	struct hop_flow *flow = hop_flow_find(key);
	const struct xcp_flow *xf;

	if (!flow)
		return verdict == XCP_VERDICT_REFUSED;
	xf = hop_flow_state(flow);
	if (verdict == XCP_VERDICT_MAYBE && !is_handshake(READ_ONCE(xf->vars.stage)))
		return false;
	if (is_in_flight(key, th)) {
		xcp_count(xn, XCP_COUNT_ICMP_REFUSED);
		xcp_flow_event(flow, XCP_EVENT_REFUSED);
	}
	return true;
}

/* Return: whether an error about a connection's packet is dealt with. */
static bool hear_of_tcp(struct xcp_net *xn, const struct sk_buff *skb, const struct tcphdr *th,
			enum xcp_verdict verdict)
{
	struct hop_flow_key key;

	if (verdict == XCP_VERDICT_NEXT)
		return false;
	hop_flow_key_of_output(&key, &xcp_flow_kind, skb, th);
	return end_xcp(xn, &key, th, verdict);
}

/* The same of a tunnel's. What filters say is the tunnel's affair. */
static bool hear_of_tunnel(struct xcp_net *xn, const struct sk_buff *skb,
			   enum xcp_verdict verdict)
{
	if (verdict != XCP_VERDICT_REFUSED || !(READ_ONCE(xn->tunnel) || READ_ONCE(xn->ipsec)))
		return false;
	xcp_tunnel_refused(xn, skb);
	return true;
}

/*
 * Return: the protocol that the error is to be told, whose header is quoted behind
 * ours; 0: that is not there, or the error is dealt with. @offset_bytes: from
 * skb->data, the quoted packet, to our quoted header.
 */
static u8 read_quoted(struct sk_buff *skb, unsigned int offset_bytes, enum xcp_verdict verdict)
{
	struct xcp_net *xn = xcp_net(dev_net(skb->dev));
	const struct xcp_hdr *h;
	bool done;

	if (!pskb_may_pull(skb, offset_bytes + sizeof(*h) + XCP_QUOTED_NEXT_BYTES)) {
		xcp_count(xn, XCP_COUNT_ICMP_SHORT);
		return 0;
	}
	h = (const struct xcp_hdr *)(skb->data + offset_bytes);
	if (xcp_check(h, xcp_protocol) || !xcp_may_follow(h->protocol)) {
		xcp_count(xn, XCP_COUNT_ICMP_SHORT);
		return 0;
	}
	if (h->protocol == IPPROTO_TCP)
		done = hear_of_tcp(xn, skb, (const struct tcphdr *)(h + 1), verdict);
	else
		done = hear_of_tunnel(xn, skb, verdict);
	if (done)
		return 0;
	xcp_count(xn, XCP_COUNT_ICMP);
	return h->protocol;
}

/* It finds its header behind the quoted IP header: let it be there, then undo. */
static int tell_v4(struct sk_buff *skb, u32 info, u8 next)
{
	const struct net_protocol *protocol = rcu_dereference(inet_protos[next]);
	unsigned int ip_bytes = ((const struct iphdr *)skb->data)->ihl * 4;
	u8 quoted[60 + XCP_HDR_BYTES];
	int err = 0;

	if (!protocol || !protocol->err_handler ||
	    skb_ensure_writable(skb, ip_bytes + XCP_HDR_BYTES + XCP_QUOTED_NEXT_BYTES))
		return 0;
	memcpy(quoted, skb->data, ip_bytes + XCP_HDR_BYTES);
	memmove(skb->data + XCP_HDR_BYTES, quoted, ip_bytes);
	__skb_pull(skb, XCP_HDR_BYTES);
	((struct iphdr *)skb->data)->protocol = next;
	err = protocol->err_handler(skb, info);
	__skb_push(skb, XCP_HDR_BYTES);
	memcpy(skb->data, quoted, ip_bytes + XCP_HDR_BYTES);
	return err;
}

int xcp_icmp_v4(struct sk_buff *skb, u32 info)
{
	const struct iphdr *iph = (const struct iphdr *)skb->data;
	const struct icmphdr *icmp = icmp_hdr(skb);
	u8 next;

	if (iph->ihl < 5 || iph->frag_off & htons(IP_OFFSET))
		return 0;
	next = read_quoted(skb, iph->ihl * 4, judge_v4(icmp->type, icmp->code));
	return next ? tell_v4(skb, info, next) : 0;
}

#if IS_ENABLED(CONFIG_IPV6)
static enum xcp_verdict judge_v6(u8 type, u8 code)
{
	if (type == ICMPV6_PARAMPROB && code == ICMPV6_UNK_NEXTHDR)
		return XCP_VERDICT_REFUSED;
	if (type != ICMPV6_DEST_UNREACH)
		return XCP_VERDICT_NEXT;
	switch (code) {
	case ICMPV6_ADM_PROHIBITED:
	case ICMPV6_PORT_UNREACH:
	case ICMPV6_POLICY_FAIL:
	case ICMPV6_REJECT_ROUTE:
		return XCP_VERDICT_MAYBE;
	default:
		return XCP_VERDICT_NEXT;
	}
}

/* It is told where its header is: nothing needs to move. */
int xcp_icmp_v6(struct sk_buff *skb, struct inet6_skb_parm *opt, u8 type, u8 code,
		int offset, __be32 info)
{
	u8 next = read_quoted(skb, offset, judge_v6(type, code));
	const struct inet6_protocol *protocol = rcu_dereference(inet6_protos[next]);

	if (!next || !protocol || !protocol->err_handler)
		return 0;
	return protocol->err_handler(skb, opt, type, code, offset + XCP_HDR_BYTES, info);
}
#endif
