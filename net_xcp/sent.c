// SPDX-License-Identifier: GPL-2.0
/* The table of copies that were sent lately; see xcp_sent.h. */
#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/siphash.h>

#include "net_xcp.h"
#include "xcp_sent.h"

/*
 * 32 kB. If 64 copies or fewer were sent to a far end in the last round trip, the table still has
 * the copy that an ICMP error is about in at least 37 % of the cases. If not, the next error may
 * succeed.
 */
#define XCP_SENT_ROWS		64U
#define XCP_SENT_COLUMNS	64U

/**
 * struct nxcp_sent - the table of a netns
 * @secret: key of the hashes
 * @hashes: hashes of copies, by far end and by their own lowest bits; 0: none. Written without a
 *	lock: a hash that another CPU replaces, or that is read half, is one that was not found
 */
struct nxcp_sent {
	siphash_key_t secret;
	u64 hashes[XCP_SENT_ROWS][XCP_SENT_COLUMNS];
};

/**
 * nxcp_sent_start() - make the table of a netns if it has none
 * @xn: the carrier's state in the netns
 *
 * Context: process; calls for one netns are serialised.
 * Return: 0 or -ENOMEM.
 */
int nxcp_sent_start(struct nxcp_net *xn)
{
	struct nxcp_sent *sent;

	if (xn->sent)
		return 0;
	sent = kvzalloc(sizeof(*sent), GFP_KERNEL_ACCOUNT);
	if (!sent)
		return -ENOMEM;
	get_random_bytes(&sent->secret, sizeof(sent->secret));
	/* Pairs with nxcp_place_of(): its reader sees the key. */
	smp_store_release(&xn->sent, sent);
	return 0;
}

/* Return: the place of the packet's copy in the table, or NULL. @hash: result */
static u64 *nxcp_place_of(struct nxcp_net *xn, const struct sk_buff *skb, unsigned int offset_bytes,
			  u64 *hash)
{
	/* Pairs with nxcp_sent_start(). */
	struct nxcp_sent *sent = smp_load_acquire(&xn->sent);
	struct nxcp_copy copy __aligned(SIPHASH_ALIGNMENT);
	u32 row;

	if (!sent || !nxcp_copy_read(skb, offset_bytes, &copy))
		return NULL;
	*hash = siphash(&copy, sizeof(copy), &sent->secret);
	row = hash_32(ipv6_addr_hash(&copy.peer), ilog2(XCP_SENT_ROWS));
	return &sent->hashes[row][*hash % XCP_SENT_COLUMNS];
}

/**
 * nxcp_sent_add() - store a copy that is being sent
 * @xn: the carrier's state in the netns
 * @skb: the packet, complete; skb->data at its IP header
 * @offset_bytes: offset of the copy from skb->data
 */
void nxcp_sent_add(struct nxcp_net *xn, const struct sk_buff *skb, unsigned int offset_bytes)
{
	u64 hash, *place = nxcp_place_of(xn, skb, offset_bytes, &hash);

	if (place)
		WRITE_ONCE(*place, hash);
}

/**
 * nxcp_sent_has() - does an ICMP error quote a copy that was sent lately?
 * @xn: the carrier's state in the netns
 * @skb: the error; skb->data at the quoted IP header, which is linear
 * @offset_bytes: offset of our header from skb->data
 *
 * Return: true if it does.
 */
bool nxcp_sent_has(struct nxcp_net *xn, const struct sk_buff *skb, unsigned int offset_bytes)
{
	u64 hash, *place = nxcp_place_of(xn, skb, offset_bytes, &hash);

	return place && READ_ONCE(*place) == hash;
}
