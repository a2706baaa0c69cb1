// SPDX-License-Identifier: GPL-2.0
/* ECT of sent packets; see hopcc/core/hop_ect.h. */

#include <linux/module.h>
#include <hopcc/core/hop_ect.h>
#include <hopcc/core/hop_shim.h>
#include <net/dsfield.h>
#include <net/ip.h>

bool hop_ect_is_segment(const struct sk_buff *skb)
{
	const int offset = skb_transport_offset(skb);
	struct hop_shim_place place;

	if (skb->encapsulation || offset <= 0 || offset + sizeof(struct tcphdr) > skb_headlen(skb))
		return false;
	if (skb->protocol == htons(ETH_P_IP))
		return ip_hdr(skb)->protocol == IPPROTO_TCP;
	if (ipv6_hdr(skb)->nexthdr == IPPROTO_TCP)
		return true;
	return hop_shim_find(skb, &place) && place.next == IPPROTO_TCP;
}
EXPORT_SYMBOL_GPL(hop_ect_is_segment);

void hop_ect_clear(struct sk_buff *skb)
{
	if (skb_ensure_writable(skb, skb_network_offset(skb) + sizeof(struct ipv6hdr)))
		return;
	if (skb->protocol == htons(ETH_P_IP))
		ipv4_change_dsfield(ip_hdr(skb), (u8)~INET_ECN_MASK, INET_ECN_NOT_ECT);
	else
		ipv6_change_dsfield(ipv6_hdr(skb), (u8)~INET_ECN_MASK, INET_ECN_NOT_ECT);
}
EXPORT_SYMBOL_GPL(hop_ect_clear);

bool hop_ect_output_syn(struct sk_buff *skb)
{
	const struct tcphdr *th = tcp_hdr(skb);

	if (th->syn && !th->ece)
		hop_ect_clear(skb);
	return th->syn;
}
EXPORT_SYMBOL_GPL(hop_ect_output_syn);
