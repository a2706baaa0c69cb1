// SPDX-License-Identifier: GPL-2.0
/*
 * GSO packets: TCP passes down one packet for many segments, with one INT header. Each segment on
 * the wire gets a copy of the header with the same ID; of two answers, that of the later segment is
 * newer (nint_answered()). NICs must not segment these packets: hop_shim_mark_gso() makes the
 * software here do it.
 *
 * GRO: received segments with a header are merged like those without one if the latest header can
 * represent all of them: see nint_may_merge(). This includes packets that a router merges and
 * forwards. Packets without a valid header of data in front of TCP, and all packets while
 * net.hopcc.int is 0, are passed to the stack one by one.
 */
#include <linux/netdevice.h>
#include <hopcc/core/hop_gro.h>
#include <net/protocol.h>

#include "net_int.h"

/* False until all functions are registered, and again once the module is removed. */
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

/* @skb is a merged packet, whose header has been validated. */
static int nint_complete_tcp(struct sk_buff *skb, int at_bytes, const struct net_offload *tcp)
{
	const struct int_hdr *h = (const struct int_hdr *)(skb->data + at_bytes);

	return tcp ? hop_gro_complete(skb, at_bytes + nint_shim_bytes(h), tcp) : -ENOENT;
}

static struct sk_buff *nint_gro_receive_v4(struct list_head *head, struct sk_buff *skb)
{
	return nint_gro_receive(head, skb, rcu_dereference(inet_offloads[IPPROTO_TCP]));
}

static int nint_gro_complete_v4(struct sk_buff *skb, int at_bytes)
{
	return nint_complete_tcp(skb, at_bytes, rcu_dereference(inet_offloads[IPPROTO_TCP]));
}

#if IS_ENABLED(CONFIG_IPV6)
static struct sk_buff *nint_gro_receive_v6(struct list_head *head, struct sk_buff *skb)
{
	return nint_gro_receive(head, skb, rcu_dereference(inet6_offloads[IPPROTO_TCP]));
}

static int nint_gro_complete_v6(struct sk_buff *skb, int at_bytes)
{
	return nint_complete_tcp(skb, at_bytes, rcu_dereference(inet6_offloads[IPPROTO_TCP]));
}
#endif

/* skb->data is at our header, which may come from a device or a tunnel and may be forged. */
static struct sk_buff *nint_gso_segment(struct sk_buff *skb, const struct net_offload *tcp)
{
	const unsigned int bytes = nint_pull_header(skb, 0);

	return bytes ? hop_shim_segment(skb, bytes, tcp) : ERR_PTR(-EINVAL);
}

static struct sk_buff *nint_gso_v4(struct sk_buff *skb, netdev_features_t features)
{
	return nint_gso_segment(skb, rcu_dereference(inet_offloads[IPPROTO_TCP]));
}

static const struct net_offload nint_offload_v4 = {
	.callbacks = {
		.gso_segment = nint_gso_v4,
		.gro_receive = nint_gro_receive_v4,
		.gro_complete = nint_gro_complete_v4,
	},
};

#if IS_ENABLED(CONFIG_IPV6)
static struct sk_buff *nint_gso_v6(struct sk_buff *skb, netdev_features_t features)
{
	return nint_gso_segment(skb, rcu_dereference(inet6_offloads[IPPROTO_TCP]));
}

static const struct net_offload nint_offload_v6 = {
	.callbacks = {
		.gso_segment = nint_gso_v6,
		.gro_receive = nint_gro_receive_v6,
		.gro_complete = nint_gro_complete_v6,
	},
};
#endif

int nint_offload_init(void)
{
	if (inet_add_offload(&nint_offload_v4, nint_protocol))
		return -EBUSY;
#if IS_ENABLED(CONFIG_IPV6)
	if (inet6_add_offload(&nint_offload_v6, nint_protocol)) {
		inet_del_offload(&nint_offload_v4, nint_protocol);
		return -EBUSY;
	}
#endif
	WRITE_ONCE(merging, true);
	return 0;
}

void nint_offload_exit(void)
{
#if IS_ENABLED(CONFIG_IPV6)
	inet6_del_offload(&nint_offload_v6, nint_protocol);
#endif
	inet_del_offload(&nint_offload_v4, nint_protocol);
}

/* Called before anything is freed that gro_receive and gro_complete need. */
void nint_gro_stop(void)
{
	WRITE_ONCE(merging, false);
	hop_gro_flush();
}
