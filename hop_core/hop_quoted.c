// SPDX-License-Identifier: GPL-2.0
/* Quoted packets of ICMP errors; see hopcc/lib/hop_quoted.h. */

#include <linux/icmpv6.h>
#include <linux/ip.h>
#include <linux/string.h>
#include <hopcc/lib/hop_quoted.h>

enum hop_icmp_decision hop_icmp_check_v4(u8 type, u8 code)
{
	if (type != ICMP_DEST_UNREACH)
		return HOP_ICMP_NEXT;
	switch (code) {
	case ICMP_PROT_UNREACH:
		return HOP_ICMP_REFUSED;
	case ICMP_PORT_UNREACH:
	case ICMP_NET_ANO:
	case ICMP_HOST_ANO:
	case ICMP_PKT_FILTERED:
		return HOP_ICMP_MAYBE;
	default:
		return HOP_ICMP_NEXT;
	}
}

enum hop_icmp_decision hop_icmp_check_v6(u8 type, u8 code)
{
	if (type == ICMPV6_PARAMPROB && code == ICMPV6_UNK_NEXTHDR)
		return HOP_ICMP_REFUSED;
	if (type != ICMPV6_DEST_UNREACH)
		return HOP_ICMP_NEXT;
	switch (code) {
	case ICMPV6_ADM_PROHIBITED:
	case ICMPV6_PORT_UNREACH:
	case ICMPV6_POLICY_FAIL:
	case ICMPV6_REJECT_ROUTE:
		return HOP_ICMP_MAYBE;
	default:
		return HOP_ICMP_NEXT;
	}
}

bool hop_quoted_skip_v4(struct sk_buff *skb, u8 next, unsigned int shim_bytes,
			struct hop_quoted_ip *quoted)
{
	const unsigned int ip_bytes = ((const struct iphdr *)skb->data)->ihl * 4;

	if (shim_bytes > HOP_ICMP_SHIM_MAX_BYTES ||
	    skb_ensure_writable(skb, ip_bytes + shim_bytes + HOP_ICMP_QUOTED_BYTES))
		return false;
	quoted->ip_bytes = ip_bytes;
	quoted->shim_bytes = shim_bytes;
	memcpy(quoted->saved, skb->data, ip_bytes + shim_bytes);
	memmove(skb->data + shim_bytes, quoted->saved, ip_bytes);
	__skb_pull(skb, shim_bytes);
	((struct iphdr *)skb->data)->protocol = next;
	return true;
}

void hop_quoted_restore_v4(struct sk_buff *skb, const struct hop_quoted_ip *quoted)
{
	__skb_push(skb, quoted->shim_bytes);
	memcpy(skb->data, quoted->saved, quoted->ip_bytes + quoted->shim_bytes);
}
