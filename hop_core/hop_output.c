// SPDX-License-Identifier: GPL-2.0
/* Outgoing packets; see hopcc/core/hop_output.h. */

#include <linux/module.h>
#include <net/dst.h>
#include <hopcc/core/hop_output.h>
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

	lockdep_assert_in_rcu_read_lock();
	if (skb_is_gso(skb))
		wire_bytes += skb_shinfo(skb)->gso_size - payload_bytes;
	return wire_bytes <= dst_mtu(skb_dst(skb));
}
EXPORT_SYMBOL_GPL(hop_output_has_room);
