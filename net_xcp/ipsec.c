// SPDX-License-Identifier: GPL-2.0
/*
 * IPsec, sections 2.3 and 2.5: the congestion header is in front of AH and ESP, where switch qdiscs
 * can read and write it.
 *
 *	                  transport mode		tunnel mode
 *	POST_ROUTING	  [IP][TCP]	  + note	[IP][XCP][TCP]	      + note
 *	  AH, ESP
 *	POST_ROUTING	  [IP][XCP][ESP]		[IP2][XCP][ESP[IP][XCP][TCP]]
 *	  the network
 *	PRE_ROUTING	  [IP][ESP]	  + note	[IP2][ESP[..]]	      + note
 *	  AH, ESP
 *	PRE_ROUTING	  [IP][TCP], note received	[IP][XCP][TCP], note copied in
 *
 * A note holds the header while IPsec processes the packet: insert.c.
 */
#include <hopcc/core/hop_hook.h>
#include <net/xfrm.h>

#include "net_xcp.h"

bool nxcp_ipsec_is(u8 protocol)
{
	return protocol == IPPROTO_ESP || protocol == IPPROTO_AH;
}

/* Leave a note with the header of a packet that is about to enter tunnel mode. */
static void nxcp_ipsec_enter(struct nxcp_net *xn, struct sk_buff *skb,
			     const struct hop_shim_place *place)
{
	const struct xcp_hdr *h;
	struct nxcp_note *note;
	struct xcp_hdr buf;

	h = skb_header_pointer(skb, place->offset_bytes, sizeof(buf), &buf);
	if (xcp_check(h, nxcp_protocol))
		return;
	buf = *h;
	note = nxcp_note_leave(skb, nxcp_note_pushed_bytes(skb));
	if (!note) {
		nxcp_count(xn, XCP_COUNT_NO_MEMORY);
		return;
	}
	note->header = buf;
	note->tunnel = true;
}

/*
 * Add the noted header to an encrypted packet. A packet that a device will encrypt stays as the
 * device expects it; a connection in transport mode detects by itself that its headers do not get
 * through.
 */
static void nxcp_insert_noted(struct nxcp_net *xn, struct sk_buff *skb,
			      const struct hop_shim_place *place, const struct nf_hook_state *state)
{
	struct nxcp_note note;
	struct xcp_hdr *h;

	if (!nxcp_note_take(skb, &note) || xfrm_offload(skb) ||
	    !nxcp_tunnel_may_copy(xn, skb, state, note.tunnel))
		return;
	h = nxcp_insert(skb, place);
	if (!h)
		return;
	*h = note.header;
	h->protocol = place->next;
	nxcp_sent_add(xn, skb, place->offset_bytes);
	nxcp_count(xn, XCP_COUNT_IPSEC_OUT);
}

/* The packet has just been received or sent by TCP: a note at its head is stale. */
void nxcp_ipsec_begin(const struct sk_buff *skb)
{
	const u8 next = skb->protocol == htons(ETH_P_IP) ? ip_hdr(skb)->protocol :
							   ipv6_hdr(skb)->nexthdr;

	/* Between two transformations the packet still has the note of the first. */
	if (dst_xfrm(skb_dst(skb)) && !nxcp_ipsec_is(next))
		nxcp_note_forget(skb);
}

/* The packet that this CPU is about to receive again; its note is valid. */
static DEFINE_PER_CPU(const struct sk_buff *, expected);

/* Set the packet that nxcp_ipsec_decrypted() expects next, or NULL. Context: BH off. */
void nxcp_ipsec_expect(const struct sk_buff *skb)
{
	this_cpu_write(expected, skb);
}

/* Return: true if the packet was decrypted; otherwise it has no note or is not decrypted yet. */
bool nxcp_ipsec_decrypted(struct sk_buff *skb)
{
	const struct sec_path *sp = skb_sec_path(skb);

	if (sp && sp->len && !xfrm_offload(skb))
		return true;
	if (this_cpu_read(expected) == skb)
		nxcp_ipsec_expect(NULL);
	else
		nxcp_note_forget(skb);
	return false;
}

/* A GSO packet enters tunnel mode: segment it, so that each segment has its own note. */
static unsigned int nxcp_enter_segments(struct nxcp_net *xn, struct sk_buff *skb,
					const struct hop_shim_place *place,
					const struct nf_hook_state *state)
{
	struct sk_buff *segs = skb_gso_segment(skb, NETIF_F_SG), *seg, *next;

	if (IS_ERR_OR_NULL(segs)) {
		nxcp_count(xn, XCP_COUNT_TUNNEL_GSO);
		return NF_ACCEPT;
	}
	consume_skb(skb);
	skb_list_walk_safe(segs, seg, next) {
		skb_mark_not_on_list(seg);
		nxcp_ipsec_enter(xn, seg, place);
		hop_hook_pass_behind(seg, state);
	}
	return NF_STOLEN;
}

/* Return: NF_ACCEPT or NF_STOLEN. */
unsigned int nxcp_ipsec_output(struct nxcp_net *xn, struct sk_buff *skb,
			       const struct hop_shim_place *place,
			       const struct nf_hook_state *state)
{
	const struct xfrm_state *x = dst_xfrm(skb_dst(skb));

	if (!x && nxcp_ipsec_is(place->next))
		nxcp_insert_noted(xn, skb, place, state);
	if (!x || x->props.mode != XFRM_MODE_TUNNEL || place->next != nxcp_protocol)
		return NF_ACCEPT;
	if (skb_is_gso(skb))
		return nxcp_enter_segments(xn, skb, place, state);
	nxcp_ipsec_enter(xn, skb, place);
	return NF_ACCEPT;
}

/* Keep the header, which is removed from an encrypted packet, in a note. */
void nxcp_ipsec_leave(struct nxcp_net *xn, struct sk_buff *skb, const struct xcp_hdr *h)
{
	struct nxcp_note *note;

	nxcp_count(xn, XCP_COUNT_IPSEC_IN);
	note = nxcp_note_leave(skb, 0);
	if (note)
		note->header = *h;
	else
		nxcp_count(xn, XCP_COUNT_NO_MEMORY);
}

/*
 * Use the note of a decrypted packet. In tunnel mode, copy its Delta_Throughput to the inner
 * header; in transport mode the note is the header of the packet itself.
 *
 * Return: true if @h is now the header of this packet.
 */
bool nxcp_ipsec_input(struct nxcp_net *xn, struct sk_buff *skb, const struct hop_shim_place *place,
		      struct xcp_hdr *h)
{
	const struct sec_path *sp = skb_sec_path(skb);
	struct nxcp_note note;

	if (nxcp_ipsec_is(place->next) || !nxcp_note_take(skb, &note))
		return false;
	*h = note.header;
	if (sp && sp->len && sp->xvec[sp->len - 1]->props.mode == XFRM_MODE_TRANSPORT)
		return place->next == IPPROTO_TCP;
	h->protocol = skb->protocol == htons(ETH_P_IP) ? IPPROTO_IPIP : IPPROTO_IPV6;
	nxcp_tunnel_copy_back(xn, skb, 0, h);
	return false;
}
