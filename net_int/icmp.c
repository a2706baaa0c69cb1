// SPDX-License-Identifier: GPL-2.0
/*
 * ICMP errors that quote a packet with our header in front of TCP. After an error about the
 * header itself probes collect on the connection; all others are passed to TCP.
 */
#include <linux/icmpv6.h>
#include <hopcc/core/hop_icmp.h>
#include <net/icmp.h>
#include <net/protocol.h>
#include <net/tcp.h>

#include "int_pull.h"
#include "net_int.h"

/*
 * Return: the length of our quoted header in front of TCP; 0 if there is none or the error has been
 * handled. @offset_bytes: offset of the header from skb->data, where the quoted packet starts.
 */
static unsigned int nint_read_quoted(struct sk_buff *skb, unsigned int offset_bytes,
				     enum hop_icmp_decision decision)
{
	struct nint_net *in = nint_net(dev_net(skb->dev));
	unsigned int bytes = nint_pull_header(skb, offset_bytes);
	const struct tcphdr *th;
	struct hop_flow_key key;

	if (!bytes) {
		nint_count(in, INT_COUNT_ICMP_SHORT);
		return 0;
	}
	th = (const struct tcphdr *)(skb->data + offset_bytes + bytes);
	hop_flow_key_of_output(&key, &nint_flow_kind, skb, th);
	if (decision != HOP_ICMP_NEXT && hop_icmp_ends(&key, th, decision))
		return 0;
	nint_count(in, INT_COUNT_ICMP);
	return bytes;
}

int nint_icmp_v4(struct sk_buff *skb, u32 info)
{
	const struct iphdr *iph = (const struct iphdr *)skb->data;
	const struct icmphdr *icmp = icmp_hdr(skb);
	unsigned int bytes;

	if (iph->ihl < 5 || iph->frag_off & htons(IP_OFFSET))
		return 0;
	bytes = nint_read_quoted(skb, iph->ihl * 4, hop_icmp_check_v4(icmp->type, icmp->code));
	return bytes ? hop_icmp_report_v4(skb, info, IPPROTO_TCP, bytes) : 0;
}

#if IS_ENABLED(CONFIG_IPV6)
/* TCP gets the offset of its header, so nothing must be moved. */
int nint_icmp_v6(struct sk_buff *skb, struct inet6_skb_parm *opt, u8 type, u8 code,
		 int offset, __be32 info)
{
	const struct inet6_protocol *tcp = rcu_dereference(inet6_protos[IPPROTO_TCP]);
	unsigned int bytes = nint_read_quoted(skb, offset, hop_icmp_check_v6(type, code));

	if (!bytes || !tcp || !tcp->err_handler)
		return 0;
	return tcp->err_handler(skb, opt, type, code, offset + bytes, info);
}
#endif
