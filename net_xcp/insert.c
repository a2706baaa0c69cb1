// SPDX-License-Identifier: GPL-2.0
/*
 * Insert a congestion header in a packet, or note it if IPsec's transport mode comes first.
 *
 * Notes: a note holds the congestion header while IPsec processes the packet; see ipsec.c. It has
 * to survive encryption and decryption, which overwrite all of skb->cb, and no other field of the
 * skb is available. So it is stored in the packet's headroom, at skb->head. Room is reserved, so
 * that no header is pushed as far as the note. Code that reallocates the head for more room does
 * not copy the note: then one congestion header is lost.
 *
 * Memory is reused, and copying a head leaves its note in the old one. A note is therefore
 * identified by a random number drawn at boot and by the address of its skb, and is valid once.
 */
#include <linux/kmsan-checks.h>
#include <linux/random.h>
#include <hopcc/core/hop_filter.h>
#include <net/dst.h>
#include <net/xfrm.h>

#include "net_xcp.h"

static u64 nxcp_mark_of(const struct sk_buff *skb)
{
	static u64 boot_mark __read_mostly;

	net_get_random_once(&boot_mark, sizeof(boot_mark));
	return boot_mark ^ (uintptr_t)skb;
}

/* Return: number of bytes at skb->head that no header of the packet occupies */
static int nxcp_free_bytes(const struct sk_buff *skb)
{
	const unsigned char *first = min(skb->data, skb_network_header(skb));

	if (skb_mac_header_was_set(skb))
		first = min_t(const unsigned char *, first, skb_mac_header(skb));
	return first - skb->head;
}

/* @reserve_bytes: headroom that others may still push. Return: the note to fill in, or NULL */
struct nxcp_note *nxcp_note_leave(struct sk_buff *skb, unsigned int reserve_bytes)
{
	unsigned int used_bytes = skb_headroom(skb) - nxcp_free_bytes(skb);
	struct nxcp_note *note;

	if (skb_cow_head(skb, used_bytes + reserve_bytes + sizeof(*note)))
		return NULL;
	note = (struct nxcp_note *)skb->head;
	note->mark = nxcp_mark_of(skb);
	note->tunnel = false;
	return note;
}

bool nxcp_note_take(const struct sk_buff *skb, struct nxcp_note *taken)
{
	struct nxcp_note *note = (struct nxcp_note *)skb->head;

	if (nxcp_free_bytes(skb) < (int)sizeof(*note))
		return false;
	/* If there is no note, this memory is uninitialized. */
	kmsan_unpoison_memory(note, sizeof(*note));
	if (note->mark != nxcp_mark_of(skb))
		return false;
	*taken = *note;
	/* Clones share the head, but a note is for one address. */
	note->mark = 0;
	return true;
}

/* Invalidate a note left by an earlier packet whose skb and head this packet reuses. */
void nxcp_note_forget(const struct sk_buff *skb)
{
	struct nxcp_note stale;

	nxcp_note_take(skb, &stale);
}

bool nxcp_ipsec_is_transport(const struct sk_buff *skb)
{
	const struct xfrm_state *x = dst_xfrm(skb_dst(skb));

	return x && x->props.mode == XFRM_MODE_TRANSPORT;
}

/* Return: true for any mode but tunnel: a header that the packet has now would be encrypted */
bool nxcp_ipsec_is_inside(const struct sk_buff *skb)
{
	const struct xfrm_state *x = dst_xfrm(skb_dst(skb));

	return x && x->props.mode != XFRM_MODE_TUNNEL;
}

unsigned int nxcp_note_pushed_bytes(const struct sk_buff *skb)
{
	const struct dst_entry *dst = skb_dst(skb);

	return dst->header_len + LL_RESERVED_SPACE(dst->dev) + XCP_HDR_BYTES;
}

/*
 * On loopback the checksum can stay partial: no NIC parses the packet, and it never leaves the
 * host.
 */
struct xcp_hdr *nxcp_insert(struct sk_buff *skb, const struct hop_shim_place *place)
{
	enum nxcp_count why = XCP_COUNT_NO_MEMORY;
	struct xcp_hdr *h = NULL;
	struct nxcp_note *note;

	if (nxcp_ipsec_is_transport(skb) && skb_is_gso(skb)) {
		/* Each segment would need its own note. */
		why = XCP_COUNT_TUNNEL_GSO;
	} else if (nxcp_ipsec_is_transport(skb)) {
		note = nxcp_note_leave(skb, nxcp_note_pushed_bytes(skb));
		h = note ? &note->header : NULL;
	} else if (!hop_shim_fits(skb, XCP_HDR_BYTES)) {
		why = XCP_COUNT_NO_ROOM;
	} else {
		h = hop_shim_insert(skb, place, XCP_HDR_BYTES, nxcp_protocol,
				    skb->dev->flags & IFF_LOOPBACK);
	}
	if (!h)
		nxcp_count(nxcp_net(dev_net(skb->dev)), why);
	return h;
}
