// SPDX-License-Identifier: GPL-2.0
/*
 * Received segments with a header are merged like those without one if the latest header can
 * represent all of them: see int_merge.h. This includes packets that a router merges and forwards.
 *
 * Packets without a valid header of data in front of TCP, and all packets while net.hopcc.int is 0,
 * are passed to the stack one by one.
 */
#include <hopcc/core/hop_gro.h>

#include "int_merge.h"
#include "net_int.h"

/* False until the module has started, and again once it is removed. */
static bool merging;

static bool nint_gro_may_merge(const void *held, u32 held_pkts, const void *header, u32 pkts)
{
	return nint_may_merge(held, header);
}

static void nint_gro_merge(void *held, u32 held_pkts, const void *header, u32 pkts)
{
	nint_merge(held, header);
}

static const struct hop_gro_kind nint_gro = {
	.may_merge = nint_gro_may_merge,
	.merge = nint_gro_merge,
};

/* Return: the header in front of TCP if it may be merged, or NULL. */
static struct int_hdr *nint_read_header(struct sk_buff *skb)
{
	const unsigned int at_bytes = skb_gro_offset(skb);
	struct int_hdr *h;

	if (!READ_ONCE(merging) || !READ_ONCE(nint_net(dev_net(skb->dev))->on) ||
	    !hop_gro_is_plain(skb))
		return NULL;
	h = skb_gro_header(skb, at_bytes + INT_HDR_BYTES, at_bytes);
	if (!h || h->next != IPPROTO_TCP || h->type != INT_TYPE_DATA ||
	    h->words > int_hdr_bytes(INT_SLOTS_MAX) / INT_WORD_BYTES)
		return NULL;
	h = hop_gro_header(skb, nint_shim_bytes(h));
	return !h || int_check(h, h->words * INT_WORD_BYTES) ? NULL : h;
}

static struct sk_buff *nint_gro_receive(struct list_head *head, struct sk_buff *skb,
					const struct net_offload *tcp)
{
	const struct int_hdr *h = tcp && tcp->callbacks.gro_receive ? nint_read_header(skb) : NULL;

	if (h)
		return hop_gro_receive(head, skb, h, nint_shim_bytes(h), tcp, &nint_gro);
	NAPI_GRO_CB(skb)->flush = 1;
	return NULL;
}

/*
 * @skb is a merged packet, whose header has been validated.
 */
static int nint_complete_tcp(struct sk_buff *skb, int at_bytes, const struct net_offload *tcp)
{
	const struct int_hdr *h = (const struct int_hdr *)(skb->data + at_bytes);

	return tcp ? hop_gro_complete(skb, at_bytes + nint_shim_bytes(h), tcp) : -ENOENT;
}

struct sk_buff *nint_gro_receive_v4(struct list_head *head, struct sk_buff *skb)
{
	return nint_gro_receive(head, skb, rcu_dereference(inet_offloads[IPPROTO_TCP]));
}

int nint_gro_complete_v4(struct sk_buff *skb, int at_bytes)
{
	return nint_complete_tcp(skb, at_bytes, rcu_dereference(inet_offloads[IPPROTO_TCP]));
}

#if IS_ENABLED(CONFIG_IPV6)
struct sk_buff *nint_gro_receive_v6(struct list_head *head, struct sk_buff *skb)
{
	return nint_gro_receive(head, skb, rcu_dereference(inet6_offloads[IPPROTO_TCP]));
}

int nint_gro_complete_v6(struct sk_buff *skb, int at_bytes)
{
	return nint_complete_tcp(skb, at_bytes, rcu_dereference(inet6_offloads[IPPROTO_TCP]));
}
#endif

void nint_gro_start(void)
{
	WRITE_ONCE(merging, true);
}

/* Called before anything is freed that gro_receive and gro_complete need. */
void nint_gro_stop(void)
{
	WRITE_ONCE(merging, false);
	hop_gro_flush();
}
