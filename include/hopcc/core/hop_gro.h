/* SPDX-License-Identifier: GPL-2.0 */
/*
 * GRO of TCP segments with one of our headers between IP and TCP: gro_receive and gro_complete
 * for the header's protocol number.
 *
 *	[IP][ours][TCP][data 1] + [IP][ours][TCP][data 2] -> [IP][ours][TCP][data 1][data 2]
 *
 * IP and TCP compare their own headers as they do without ours, and the carrier decides whether
 * its own headers can be merged. Segmentation later gives each segment a copy of the header
 * (hop_shim_segment()).
 *
 * At most one packet of a connection is held. If a segment may not be merged with it, the held
 * packet leaves first, so that packets stay in order.
 */
#ifndef HOPCC_CORE_HOP_GRO_H
#define HOPCC_CORE_HOP_GRO_H

#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/tcp.h>
#include <net/gro.h>
#include <hopcc/core/hop_shim.h>
#include <net/protocol.h>

/**
 * struct hop_gro_kind - a carrier's functions that merge its headers
 * @read: returns our header, from hop_gro_header(), validated, if it may be merged; or NULL
 * @bytes: returns the length of a header, even
 * @may_merge: returns true if the header @held, of @held_pkts segments, can also stand for
 *	@header, of @pkts segments (1, or more for a GSO packet); both are valid and have the
 *	same length
 * @merge: changes @held to stand for both; called after may_merge(), once TCP has merged the data
 *
 * Declare the variable const, so that the functions are inlined.
 */
struct hop_gro_kind {
	const void *(*read)(struct sk_buff *skb);
	unsigned int (*bytes)(const void *header);
	bool (*may_merge)(const void *held, u32 held_pkts, const void *header, u32 pkts);
	void (*merge)(void *held, u32 held_pkts, const void *header, u32 pkts);
};

/**
 * hop_gro_header() - get our header and the TCP header behind it
 * @skb: the packet; GRO's offset is at our header
 * @hdr_bytes: length of our header
 *
 * Context: softirq, RCU read side.
 * Return: our header, with the whole TCP header behind it; the address stays valid while GRO
 * processes the packet. NULL if the packet ends within them, or the TCP header's length is
 * below the minimum.
 */
static inline void *hop_gro_header(struct sk_buff *skb, unsigned int hdr_bytes)
{
	const unsigned int at_bytes = skb_gro_offset(skb), tcp_bytes = at_bytes + hdr_bytes;
	const u8 *header = skb_gro_header(skb, tcp_bytes + sizeof(struct tcphdr), at_bytes);
	unsigned int tcp_hdr_bytes;

	lockdep_assert_in_rcu_reader();
	if (!header)
		return NULL;
	tcp_hdr_bytes = __tcp_hdrlen((const struct tcphdr *)(header + hdr_bytes));
	if (tcp_hdr_bytes < sizeof(struct tcphdr))
		return NULL;
	return skb_gro_header(skb, tcp_bytes + tcp_hdr_bytes, at_bytes);
}

/**
 * hop_gro_is_plain() - may GRO merge a packet with our header on this device?
 * @skb: the packet
 *
 * Packets within a tunnel are not merged here but by the GRO of the tunnel's device. GRO that
 * keeps a list of segments (NETIF_F_GRO_FRAGLIST) keeps each segment's own header, which must
 * not change.
 *
 * Context: softirq, RCU read side.
 * Return: false if the packet must not be merged.
 */
static inline bool hop_gro_is_plain(const struct sk_buff *skb)
{
	lockdep_assert_in_rcu_reader();
	return !NAPI_GRO_CB(skb)->encap_mark && !(skb->dev->features & NETIF_F_GRO_FRAGLIST);
}

/* Find the held packet of a connection by TCP's ports; IP has compared the addresses. */
static inline struct sk_buff *hop_gro_find(const struct list_head *head, const struct tcphdr *th)
{
	struct sk_buff *p;

	list_for_each_entry(p, head, list)
		if (NAPI_GRO_CB(p)->same_flow &&
		    *(const u32 *)&tcp_hdr(p)->source == *(const u32 *)&th->source)
			return p;
	return NULL;
}

/*
 * Has @p, which is held, its TCP header at the same offset as @skb, and can our header in front of
 * it be written? If the offsets differ, so do the lengths of our headers.
 */
static inline bool hop_gro_is_alike(const struct sk_buff *p, const struct sk_buff *skb,
				    unsigned int hdr_bytes)
{
	const int tcp_bytes = skb_gro_offset(skb) + hdr_bytes;

	return skb_transport_offset(p) == tcp_bytes &&
	       (!skb_cloned(p) || skb_clone_writable(p, tcp_bytes));
}

/**
 * hop_gro_receive() - merge a segment with the held packet of its connection, or hold it
 * @head: list of held packets
 * @skb: the packet; GRO's offset is at our header
 * @tcp: TCP's offload, or NULL
 * @kind: the carrier's functions
 *
 * CHECKSUM_UNNECESSARY concerns a protocol that the device knows, not TCP behind our
 * header (see hop_shim_strip()). So TCP computes its checksum.
 *
 * Context: softirq, RCU read side.
 * Return: a held packet that must leave now, or NULL, like gro_receive.
 */
static inline struct sk_buff *hop_gro_receive(struct list_head *head, struct sk_buff *skb,
					      const struct net_offload *tcp,
					      const struct hop_gro_kind *kind)
{
	const void *header = tcp && tcp->callbacks.gro_receive ? kind->read(skb) : NULL;
	const u32 pkts = NAPI_GRO_CB(skb)->count;
	struct sk_buff *held, *apart = NULL, *done;
	unsigned int hdr_bytes;
	u32 held_pkts;

	lockdep_assert_in_rcu_reader();
	if (!header) {
		NAPI_GRO_CB(skb)->flush = 1;
		return NULL;
	}
	hdr_bytes = kind->bytes(header);
	held = hop_gro_find(head, header + hdr_bytes);
	held_pkts = held ? NAPI_GRO_CB(held)->count : 0;
	if (held && !(hop_gro_is_alike(held, skb, hdr_bytes) &&
		      kind->may_merge(skb_transport_header(held) - hdr_bytes, held_pkts,
				      header, pkts))) {
		NAPI_GRO_CB(held)->same_flow = 0;
		apart = held;
	}
	skb_gro_pull(skb, hdr_bytes);
	skb_gro_postpull_rcsum(skb, header, hdr_bytes);
	skb_set_transport_header(skb, skb_gro_offset(skb));
	NAPI_GRO_CB(skb)->csum_cnt = 0;
	done = call_gro_receive(tcp->callbacks.gro_receive, head, skb);
	if (apart)
		return apart;
	if (held && NAPI_GRO_CB(skb)->same_flow)
		kind->merge(skb_transport_header(held) - hdr_bytes, held_pkts, header, pkts);
	return done;
}

/**
 * hop_gro_complete() - finish a merged packet that leaves GRO
 * @skb: the packet, whose header has been validated
 * @at_bytes: offset of our header from skb->data
 * @tcp: TCP's offload, or NULL
 * @kind: the carrier's functions
 *
 * The packet is a GSO packet with our header, like those that a sender's TCP makes. If it is
 * forwarded, no NIC may segment it.
 *
 * Context: softirq, RCU read side.
 * Return: 0 or an error, like gro_complete.
 */
static inline int hop_gro_complete(struct sk_buff *skb, int at_bytes,
				   const struct net_offload *tcp, const struct hop_gro_kind *kind)
{
	int err;

	lockdep_assert_in_rcu_reader();
	if (!tcp)
		return -ENOENT;
	err = tcp->callbacks.gro_complete(skb, at_bytes + kind->bytes(skb->data + at_bytes));
	if (!err)
		hop_shim_mark_gso(skb);
	return err;
}

/**
 * hop_gro_flush() - wait until GRO holds none of the packets that were merged before the call
 *
 * A module calls this function before it is unloaded: a packet that is still held when nothing
 * can complete it any more is lost, with a warning. The caller has made its gro_receive stop
 * merging before.
 *
 * Context: process; takes RTNL, and releases it while it waits. It may take 0.2 s, whatever the
 * number of devices.
 */
void hop_gro_flush(void);

#endif /* HOPCC_CORE_HOP_GRO_H */
