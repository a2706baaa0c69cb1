// SPDX-License-Identifier: GPL-2.0
/*
 * GSO packets: TCP passes down one packet for many segments, with one INT header. Each segment on
 * the wire gets a copy of the header with the same ID; of two answers, that of the later segment is
 * newer (nint_answered()).
 *
 * NICs must not segment these packets: hop_shim_mark_gso() makes the software here do it.
 */
#include <linux/netdevice.h>
#include <net/protocol.h>

#include "int_pull.h"
#include "net_int.h"

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

int nint_gso_init(void)
{
	if (inet_add_offload(&nint_offload_v4, nint_protocol))
		return -EBUSY;
#if IS_ENABLED(CONFIG_IPV6)
	if (inet6_add_offload(&nint_offload_v6, nint_protocol)) {
		inet_del_offload(&nint_offload_v4, nint_protocol);
		return -EBUSY;
	}
#endif
	return 0;
}

void nint_gso_exit(void)
{
#if IS_ENABLED(CONFIG_IPV6)
	inet6_del_offload(&nint_offload_v6, nint_protocol);
#endif
	inet_del_offload(&nint_offload_v4, nint_protocol);
}
