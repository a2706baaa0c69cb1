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

/*
 * The copy is linear. If there is data, TCP's checksum covers only the pseudo-header so far, which
 * has the length.
 */
struct sk_buff *hop_output_copy_headers(const struct sk_buff *skb, const struct hop_segment *seg)
{
	const unsigned int bytes = skb->len - seg->place.offset_bytes;
	struct sk_buff *copy = skb_copy(skb, GFP_ATOMIC);
	unsigned int headers_bytes;
	struct tcphdr *th;

	if (!copy)
		return NULL;
	th = (struct tcphdr *)(copy->data + seg->place.offset_bytes);
	headers_bytes = __tcp_hdrlen(th);
	skb_trim(copy, seg->place.offset_bytes + headers_bytes);
	skb_gso_reset(copy);
	hop_shim_set_ip_length(copy, hop_shim_ip_length(skb, (int)(headers_bytes - bytes)));
	inet_proto_csum_replace2(&th->check, copy, htons(bytes), htons(headers_bytes), true);
	skb_set_owner_w(copy, skb->sk);
	return copy;
}
EXPORT_SYMBOL_GPL(hop_output_copy_headers);
