// SPDX-License-Identifier: GPL-2.0
/*
 * Functions that IP calls for the protocol number of the INT header; hop_proto.h registers them.
 *
 * GSO packets: TCP passes down one packet for many segments, with one INT header. Each segment on
 * the wire gets a copy of the header with the same ID; of two answers, that of the later segment is
 * newer (nint_answered()). NICs must not segment these packets: hop_shim_mark_gso() makes the
 * software here do it.
 *
 * GRO: received segments with a header are merged like those without one if the latest header can
 * represent all of them: see nint_may_merge(). This includes packets that a router merges and
 * forwards. Packets without a valid header of data in front of TCP, and all packets while
 * net.hopcc.int is 0, are passed to the stack one by one.
 *
 * An ICMP error may quote a packet with our header in front of TCP. After an error about the header
 * itself probes collect on the connection; all others are passed to TCP.
 *
 * The handler gets what the hook in input.c has left, and packets that arrived in fragments.
 */
#include "int_control.h"
#include "net_int.h"

static bool nint_gro_may_merge(const void *held, u32 held_pkts, const void *header, u32 pkts)
{
	return nint_may_merge(held, header);
}

static void nint_gro_merge(void *held, u32 held_pkts, const void *header, u32 pkts)
{
	nint_merge(held, header);
}

/* Return: the header in front of TCP if it may be merged, or NULL. */
static const void *nint_gro_read(struct sk_buff *skb)
{
	const unsigned int at_bytes = skb_gro_offset(skb);
	struct int_hdr *h;

	if (!READ_ONCE(nint_proto.merges) || !READ_ONCE(nint_net(dev_net(skb->dev))->on) ||
	    !hop_gro_is_plain(skb))
		return NULL;
	h = skb_gro_header(skb, at_bytes + INT_HDR_BYTES, at_bytes);
	if (!h || h->next != IPPROTO_TCP || h->type != INT_TYPE_DATA ||
	    h->words > int_hdr_bytes(INT_SLOTS_MAX) / INT_WORD_BYTES)
		return NULL;
	h = hop_gro_header(skb, nint_shim_bytes(h));
	return !h || int_check(h, h->words * INT_WORD_BYTES) ? NULL : h;
}

static unsigned int nint_gro_bytes(const void *header)
{
	return nint_shim_bytes(header);
}

static const struct hop_gro_kind nint_gro = {
	.read = nint_gro_read,
	.bytes = nint_gro_bytes,
	.may_merge = nint_gro_may_merge,
	.merge = nint_gro_merge,
};

/* skb->data is at our header, which may come from a device or a tunnel and may be forged. */
static struct sk_buff *nint_gso_segment(struct sk_buff *skb, const struct net_offload *tcp)
{
	const unsigned int bytes = nint_pull_header(skb, 0);

	return bytes ? hop_shim_segment(skb, bytes, tcp) : ERR_PTR(-EINVAL);
}

/*
 * Return: the length of our quoted header in front of TCP; 0 if there is none or the error has been
 * handled. @offset_bytes: offset of the header from skb->data, where the quoted packet starts.
 */
static unsigned int nint_read_quoted(struct sk_buff *skb, unsigned int offset_bytes,
				     enum hop_icmp_decision decision, u8 *next)
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
	hop_flow_key_of_output(&key, &nint_carrier, skb, th);
	if (decision != HOP_ICMP_NEXT && hop_icmp_ends(&key, th, decision))
		return 0;
	nint_count(in, INT_COUNT_ICMP);
	*next = IPPROTO_TCP;
	return bytes;
}

HOP_PROTO(nint);
