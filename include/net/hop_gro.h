/* SPDX-License-Identifier: GPL-2.0 */
/*
 * GRO of TCP segments with a header of ours between IP and TCP: the gro_receive and gro_complete
 * of the header's protocol number.
 *
 *	[IP][ours][TCP][data 1] + [IP][ours][TCP][data 2] -> [IP][ours][TCP][data 1][data 2]
 *
 * IP and TCP decide about their own headers as they do without ours; in between the carrier
 * decides about its header. Segmentation gives each segment a copy of the header again
 * (hop_shim_segment()).
 *
 * At most one packet of a connection is held. A segment that may not be merged with it makes it
 * leave first, so that the order stays.
 */
#ifndef HOPCC_NET_HOP_GRO_H
#define HOPCC_NET_HOP_GRO_H

#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/tcp.h>
#include <net/gro.h>
#include <net/hop_shim.h>
#include <net/protocol.h>

/**
 * struct hop_gro_kind - what a carrier decides about its header
 * @may_merge: returns true if @held, of @held_pkts segments, can stand for these and for those of
 *	@header, one or, of a GSO packet, @pkts; both are checked and of the same length
 * @merge: changes @held so that it does; called after may_merge(), once TCP has merged the data
 *
 * For a constant, so that both are inlined.
 */
struct hop_gro_kind {
	bool (*may_merge)(const void *held, u32 held_pkts, const void *header, u32 pkts);
	void (*merge)(void *held, u32 held_pkts, const void *header, u32 pkts);
};

/**
 * hop_gro_header() - read a header and the TCP header behind it
 * @skb: the packet; GRO's offset is at our header
 * @hdr_bytes: length of our header
 *
 * Context: softirq, RCU read side.
 * Return: our header, with all of TCP's behind it, where both stay while GRO looks at the packet;
 * NULL if the packet ends within them, or TCP's length is less than its least.
 */
static inline void *hop_gro_header(struct sk_buff *skb, unsigned int hdr_bytes)
{
	const unsigned int at_bytes = skb_gro_offset(skb), tcp_bytes = at_bytes + hdr_bytes;
	const u8 *header = skb_gro_header(skb, tcp_bytes + sizeof(struct tcphdr), at_bytes);
	unsigned int tcp_hdr_bytes;

	if (!header)
		return NULL;
	tcp_hdr_bytes = __tcp_hdrlen((const struct tcphdr *)(header + hdr_bytes));
	if (tcp_hdr_bytes < sizeof(struct tcphdr))
		return NULL;
	return skb_gro_header(skb, tcp_bytes + tcp_hdr_bytes, at_bytes);
}

/**
 * hop_gro_is_plain() - may GRO look at a packet with our header here?
 * @skb: the packet
 *
 * Within tunnels packets wait for the GRO of the tunnel's device. GRO with a list of segments
 * keeps each segment's own header, which must not change.
 *
 * Context: softirq, RCU read side.
 * Return: false if the packet must not be merged.
 */
static inline bool hop_gro_is_plain(const struct sk_buff *skb)
{
	return !NAPI_GRO_CB(skb)->encap_mark && !(skb->dev->features & NETIF_F_GRO_FRAGLIST);
}

/* The packet that is held of a connection, by TCP's ports; IP has compared addresses. */
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
 * Is TCP's header of @p, which is held, at the same place as that of @skb, and our header in front
 * of it ours to write? A header that is elsewhere has another length.
 */
static inline bool hop_gro_is_alike(const struct sk_buff *p, const struct sk_buff *skb,
				    unsigned int hdr_bytes)
{
	const int tcp_bytes = skb_gro_offset(skb) + hdr_bytes;

	return skb_transport_offset(p) == tcp_bytes &&
	       (!skb_cloned(p) || skb_clone_writable(p, tcp_bytes));
}

/**
 * hop_gro_receive() - merge a segment with what is held of its connection, or hold it
 * @head: what is held
 * @skb: the packet; GRO's offset is at our header
 * @header: of hop_gro_header(), checked
 * @hdr_bytes: its length, even
 * @tcp: TCP's offload
 * @kind: decides about the header
 *
 * What a device found out about the checksum of a protocol that it knows says nothing of TCP's
 * below our header (see hop_shim_strip()): TCP computes it.
 *
 * Context: softirq, RCU read side.
 * Return: a packet that is held and must leave now, or NULL, as gro_receive.
 */
static __always_inline struct sk_buff *hop_gro_receive(struct list_head *head, struct sk_buff *skb,
						       const void *header, unsigned int hdr_bytes,
						       const struct net_offload *tcp,
						       const struct hop_gro_kind *kind)
{
	struct sk_buff *held = hop_gro_find(head, header + hdr_bytes), *apart = NULL, *done;
	const u32 held_pkts = held ? NAPI_GRO_CB(held)->count : 0, pkts = NAPI_GRO_CB(skb)->count;

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
 * hop_gro_complete() - a packet that was merged leaves GRO
 * @skb: the packet
 * @tcp_bytes: from skb->data to TCP's header
 * @tcp: TCP's offload
 *
 * It is a GSO packet with our header, as those that the sender's TCP makes: no NIC may segment it
 * when it is forwarded.
 *
 * Context: softirq, RCU read side.
 * Return: 0 or an error, as gro_complete.
 */
static inline int hop_gro_complete(struct sk_buff *skb, int tcp_bytes,
				   const struct net_offload *tcp)
{
	const int err = tcp->callbacks.gro_complete(skb, tcp_bytes);

	if (!err)
		hop_shim_mark_gso(skb);
	return err;
}

/**
 * hop_gro_flush() - wait until no merged packet is held that was merged before
 *
 * For a module that goes: a packet that is held when nobody can complete it any more is lost, with
 * a warning. The caller has told its gro_receive to merge nothing more.
 *
 * Context: process; takes RTNL. It may take 0.2 s.
 */
void hop_gro_flush(void);

#endif /* HOPCC_NET_HOP_GRO_H */
