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
 * The note holds the header while IPsec processes the packet. It has to survive encryption and
 * decryption, which overwrite all of skb->cb, and no other field of the skb is available. So it is
 * stored in the packet's headroom, at skb->head: nobody pushes that far because we reserve room,
 * and code that reallocates the head for more room does not copy the note; then only a header is
 * lost.
 *
 * Memory is reused, and copying a head leaves its note in the old one. A note is therefore
 * identified by a random number drawn at boot, by the address of its skb, and by a ticket that is
 * valid once.
 */
#include <linux/kmsan-checks.h>
#include <linux/random.h>
#include <net/dst.h>
#include <net/xfrm.h>

#include "net_xcp.h"

/* Maximum number of packets between two hooks; with more, the oldest ones lose their headers. */
#define XCP_TICKETS 4096

/**
 * struct nxcp_note - a congestion header stored at skb->head
 * @mark: identifies the skb that the note belongs to
 * @ticket: serial number, valid once
 * @header: the congestion header
 * @tunnel: the header is a copy of the inner packet's header
 */
struct nxcp_note {
	u64 mark;
	s64 ticket;
	struct xcp_hdr header;
	bool tunnel;
};

bool nxcp_ipsec_is(u8 protocol)
{
	return protocol == IPPROTO_ESP || protocol == IPPROTO_AH;
}

#ifdef CONFIG_XFRM
static atomic64_t tickets_issued;

/* Indexed by ticket: the last ticket issued in this slot, or 0 once it is used */
static atomic64_t tickets[XCP_TICKETS];

static atomic64_t *slot_of(s64 ticket)
{
	return &tickets[(u64)ticket % XCP_TICKETS];
}

static s64 issue_ticket(void)
{
	s64 ticket = atomic64_inc_return(&tickets_issued);

	atomic64_set(slot_of(ticket), ticket);
	return ticket;
}

/* Return: true if the ticket was valid */
static bool use_ticket(s64 ticket)
{
	return ticket && atomic64_cmpxchg(slot_of(ticket), ticket, 0) == ticket;
}

static u64 mark_of(const struct sk_buff *skb)
{
	static u64 boot_mark __read_mostly;

	net_get_random_once(&boot_mark, sizeof(boot_mark));
	return boot_mark ^ (uintptr_t)skb;
}

/* Return: number of bytes at skb->head that no header of the packet occupies */
static int free_bytes(const struct sk_buff *skb)
{
	const unsigned char *first = min(skb->data, skb_network_header(skb));

	if (skb_mac_header_was_set(skb))
		first = min_t(const unsigned char *, first, skb_mac_header(skb));
	return first - skb->head;
}

/* @reserve_bytes: headroom that others may still push. Return: the note to fill in, or NULL */
static struct nxcp_note *leave_note(struct sk_buff *skb, unsigned int reserve_bytes)
{
	unsigned int used_bytes = skb_headroom(skb) - free_bytes(skb);
	struct nxcp_note *note;

	if (skb_cow_head(skb, used_bytes + reserve_bytes + sizeof(*note)))
		return NULL;
	note = (struct nxcp_note *)skb->head;
	note->mark = mark_of(skb);
	note->ticket = issue_ticket();
	note->tunnel = false;
	return note;
}

static bool take_note(const struct sk_buff *skb, struct nxcp_note *taken)
{
	const struct nxcp_note *note = (const struct nxcp_note *)skb->head;

	if (free_bytes(skb) < (int)sizeof(*note))
		return false;
	/* If there is no note, this memory is uninitialized. */
	kmsan_unpoison_memory(note, sizeof(*note));
	if (note->mark != mark_of(skb))
		return false;
	*taken = *note;
	return use_ticket(taken->ticket);
}

/* Invalidate a note left by an earlier packet whose skb and head this packet reuses. */
static void forget_note(const struct sk_buff *skb)
{
	struct nxcp_note stale;

	take_note(skb, &stale);
}

/* Return: the AH or ESP state that will transform this outgoing packet, or NULL */
static const struct xfrm_state *waits_for(const struct sk_buff *skb)
{
	return dst_xfrm(skb_dst(skb));
}

bool nxcp_ipsec_is_transport(const struct sk_buff *skb)
{
	const struct xfrm_state *x = waits_for(skb);

	return x && x->props.mode == XFRM_MODE_TRANSPORT;
}

/* Return: true for a mode other than transport or tunnel, for which headers are not tested */
bool nxcp_ipsec_is_unknown(const struct sk_buff *skb)
{
	const struct xfrm_state *x = waits_for(skb);

	return x && x->props.mode != XFRM_MODE_TRANSPORT && x->props.mode != XFRM_MODE_TUNNEL;
}

static unsigned int pushed_bytes(const struct sk_buff *skb)
{
	const struct dst_entry *dst = skb_dst(skb);

	return dst->header_len + LL_RESERVED_SPACE(dst->dev) + XCP_HDR_BYTES;
}

/*
 * Store the header in a note instead of the packet. Return: the place to write it, or NULL if
 * memory is short
 */
struct xcp_hdr *nxcp_ipsec_note(struct sk_buff *skb)
{
	struct nxcp_note *note = leave_note(skb, pushed_bytes(skb));

	return note ? &note->header : NULL;
}

/* Leave a note with the header of a packet that is about to enter tunnel mode. */
static void enter(struct nxcp_net *xn, struct sk_buff *skb, const struct hop_shim_place *place)
{
	const struct xcp_hdr *h;
	struct nxcp_note *note;
	struct xcp_hdr buf;

	h = skb_header_pointer(skb, place->offset_bytes, sizeof(buf), &buf);
	if (xcp_check(h, nxcp_protocol))
		return;
	buf = *h;
	note = leave_note(skb, pushed_bytes(skb));
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
static void insert_noted(struct nxcp_net *xn, struct sk_buff *skb,
			 const struct hop_shim_place *place)
{
	struct nxcp_note note;
	struct xcp_hdr *h;

	if (!take_note(skb, &note) || xfrm_offload(skb) ||
	    !nxcp_tunnel_may_copy(xn, skb, note.tunnel))
		return;
	h = nxcp_insert(skb, place);
	if (!h)
		return;
	*h = note.header;
	h->protocol = place->next;
	if (!note.tunnel)
		nxcp_fill_requests(xn, h, skb->sk);
	nxcp_count(xn, XCP_COUNT_IPSEC_OUT);
}

/* The packet has just been received or sent by TCP: a note at its head is stale. */
void nxcp_ipsec_begin(const struct sk_buff *skb)
{
	const u8 next = skb->protocol == htons(ETH_P_IP) ? ip_hdr(skb)->protocol :
							   ipv6_hdr(skb)->nexthdr;

	/* Between two transformations the packet still has the note of the first. */
	if (waits_for(skb) && !nxcp_ipsec_is(next))
		forget_note(skb);
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
		forget_note(skb);
	return false;
}

/* A GSO packet enters tunnel mode: segment it, so that each segment has its own note. */
static unsigned int enter_segments(struct nxcp_net *xn, struct sk_buff *skb,
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
		enter(xn, seg, place);
		state->okfn(state->net, state->sk, seg);
	}
	return NF_STOLEN;
}

/* Return: NF_ACCEPT or NF_STOLEN. */
unsigned int nxcp_ipsec_output(struct nxcp_net *xn, struct sk_buff *skb,
			       const struct hop_shim_place *place,
			       const struct nf_hook_state *state)
{
	const struct xfrm_state *x = waits_for(skb);

	if (!x && nxcp_ipsec_is(place->next))
		insert_noted(xn, skb, place);
	if (!x || x->props.mode != XFRM_MODE_TUNNEL || place->next != nxcp_protocol)
		return NF_ACCEPT;
	if (skb_is_gso(skb))
		return enter_segments(xn, skb, place, state);
	enter(xn, skb, place);
	return NF_ACCEPT;
}

/* Keep the header, which is removed from an encrypted packet, in a note. */
void nxcp_ipsec_leave(struct nxcp_net *xn, struct sk_buff *skb, const struct xcp_hdr *h)
{
	struct nxcp_note *note;

	nxcp_count(xn, XCP_COUNT_IPSEC_IN);
	note = leave_note(skb, 0);
	if (note)
		note->header = *h;
	else
		nxcp_count(xn, XCP_COUNT_NO_MEMORY);
}

/* Return: true if the packet was received in IPsec's transport mode */
static bool came_in_transport(const struct sk_buff *skb)
{
	const struct sec_path *sp = skb_sec_path(skb);

	return sp && sp->len && sp->xvec[sp->len - 1]->props.mode == XFRM_MODE_TRANSPORT;
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
	struct nxcp_note note;

	if (nxcp_ipsec_is(place->next) || !take_note(skb, &note))
		return false;
	*h = note.header;
	if (came_in_transport(skb))
		return place->next == IPPROTO_TCP;
	h->protocol = skb->protocol == htons(ETH_P_IP) ? IPPROTO_IPIP : IPPROTO_IPV6;
	nxcp_tunnel_copy_back(xn, skb, 0, h);
	return false;
}
#else
void nxcp_ipsec_begin(const struct sk_buff *skb)
{
}

void nxcp_ipsec_expect(const struct sk_buff *skb)
{
}

bool nxcp_ipsec_decrypted(struct sk_buff *skb)
{
	return false;
}

bool nxcp_ipsec_is_transport(const struct sk_buff *skb)
{
	return false;
}

bool nxcp_ipsec_is_unknown(const struct sk_buff *skb)
{
	return false;
}

struct xcp_hdr *nxcp_ipsec_note(struct sk_buff *skb)
{
	return NULL;
}

unsigned int nxcp_ipsec_output(struct nxcp_net *xn, struct sk_buff *skb,
			       const struct hop_shim_place *place,
			       const struct nf_hook_state *state)
{
	return NF_ACCEPT;
}

void nxcp_ipsec_leave(struct nxcp_net *xn, struct sk_buff *skb, const struct xcp_hdr *h)
{
	nxcp_count(xn, XCP_COUNT_IPSEC_IN);
}

bool nxcp_ipsec_input(struct nxcp_net *xn, struct sk_buff *skb, const struct hop_shim_place *place,
		      struct xcp_hdr *h)
{
	return false;
}
#endif
