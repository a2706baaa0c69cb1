// SPDX-License-Identifier: GPL-2.0
/*
 * ICMP errors that quote a packet with a congestion header. Those about the
 * header itself end XCP on the connection; all others are TCP's: without them
 * path MTU discovery would be a black hole.
 */
#include <linux/icmp.h>
#include <linux/icmpv6.h>
#include <net/hop_icmp.h>
#include <net/icmp.h>
#include <net/protocol.h>
#include <net/tcp.h>

#include "net_xcp.h"

/* Return: whether the error is dealt with. */
static bool end_xcp(struct xcp_net *xn, const struct hop_flow_key *key, const struct tcphdr *th,
		    enum hop_icmp_verdict verdict)
{
	struct hop_flow *flow = hop_flow_find(key);
	const struct xcp_flow *xf;
	bool refused, done;

	if (!flow)
		return verdict == HOP_ICMP_REFUSED;
	xf = hop_flow_state(flow);
	done = hop_icmp_ends(key, th, verdict, READ_ONCE(xf->vars.stage), &refused);
	if (refused) {
		xcp_count(xn, XCP_COUNT_ICMP_REFUSED);
		xcp_flow_event(flow, HOP_EVENT_REFUSED);
	}
	return done;
}

/*
 * Return: the quoted TCP header, or NULL if it is not there or the error is dealt
 * with. @offset_bytes: from skb->data, the quoted packet, to our quoted header.
 */
static const struct tcphdr *read_quoted(struct sk_buff *skb, unsigned int offset_bytes,
					enum hop_icmp_verdict verdict)
{
	struct xcp_net *xn = xcp_net(dev_net(skb->dev));
	const struct tcphdr *th;
	const struct xcp_hdr *h;
	struct hop_flow_key key;

	if (!pskb_may_pull(skb, offset_bytes + sizeof(*h) + HOP_ICMP_QUOTED_BYTES)) {
		xcp_count(xn, XCP_COUNT_ICMP_SHORT);
		return NULL;
	}
	h = (const struct xcp_hdr *)(skb->data + offset_bytes);
	if (xcp_check(h, xcp_protocol) || h->protocol != IPPROTO_TCP) {
		xcp_count(xn, XCP_COUNT_ICMP_SHORT);
		return NULL;
	}
	th = (const struct tcphdr *)(h + 1);
	hop_flow_key_of_output(&key, &xcp_flow_kind, skb, th);
	if (verdict != HOP_ICMP_NEXT && end_xcp(xn, &key, th, verdict))
		return NULL;
	xcp_count(xn, XCP_COUNT_ICMP);
	return th;
}

int xcp_icmp_v4(struct sk_buff *skb, u32 info)
{
	const struct iphdr *iph = (const struct iphdr *)skb->data;
	const struct icmphdr *icmp = icmp_hdr(skb);

	if (iph->ihl < 5 || iph->frag_off & htons(IP_OFFSET))
		return 0;
	if (!read_quoted(skb, iph->ihl * 4, hop_icmp_judge_v4(icmp->type, icmp->code)))
		return 0;
	return hop_icmp_tell_v4(skb, info, IPPROTO_TCP, XCP_HDR_BYTES);
}

#if IS_ENABLED(CONFIG_IPV6)
/* TCP is told where its header is: nothing needs to move. */
int xcp_icmp_v6(struct sk_buff *skb, struct inet6_skb_parm *opt, u8 type, u8 code,
		int offset, __be32 info)
{
	const struct inet6_protocol *tcp = rcu_dereference(inet6_protos[IPPROTO_TCP]);

	if (!read_quoted(skb, offset, hop_icmp_judge_v6(type, code)) || !tcp || !tcp->err_handler)
		return 0;
	return tcp->err_handler(skb, opt, type, code, offset + XCP_HDR_BYTES, info);
}
#endif
