// SPDX-License-Identifier: GPL-2.0
/*
 * What the stack calls by the protocol number of our header.
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
#include <linux/icmpv6.h>
#include <linux/netdevice.h>
#include <hopcc/core/hop_gro.h>
#include <hopcc/core/hop_icmp.h>
#include <hopcc/core/hop_input.h>
#include <net/icmp.h>
#include <net/protocol.h>

#include "int_control.h"
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

/*
 * Return: the length of our quoted header in front of TCP; 0 if there is none or the error has been
 * handled. @offset_bytes: offset of the header from skb->data, where the quoted packet starts.
 */
static unsigned int nint_read_quoted(struct sk_buff *skb, unsigned int offset_bytes,
				     enum hop_icmp_decision decision)
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
	hop_flow_key_of_output(&key, &nint_flow_kind, skb, th);
	if (decision != HOP_ICMP_NEXT && hop_icmp_ends(&key, th, decision))
		return 0;
	nint_count(in, INT_COUNT_ICMP);
	return bytes;
}

static int nint_icmp_v4(struct sk_buff *skb, u32 info)
{
	const struct iphdr *iph = (const struct iphdr *)skb->data;
	const struct icmphdr *icmp = icmp_hdr(skb);
	unsigned int bytes;

	if (iph->ihl < 5 || iph->frag_off & htons(IP_OFFSET))
		return 0;
	bytes = nint_read_quoted(skb, iph->ihl * 4, hop_icmp_check_v4(icmp->type, icmp->code));
	return bytes ? hop_icmp_report_v4(skb, info, IPPROTO_TCP, bytes) : 0;
}

#if IS_ENABLED(CONFIG_IPV6)
/* TCP gets the offset of its header, so nothing must be moved. */
static int nint_icmp_v6(struct sk_buff *skb, struct inet6_skb_parm *opt, u8 type, u8 code,
			int offset, __be32 info)
{
	const struct inet6_protocol *tcp = rcu_dereference(inet6_protos[IPPROTO_TCP]);
	unsigned int bytes = nint_read_quoted(skb, offset, hop_icmp_check_v6(type, code));

	if (!bytes || !tcp || !tcp->err_handler)
		return 0;
	return tcp->err_handler(skb, opt, type, code, offset + bytes, info);
}
#endif

static int nint_late_v4(struct sk_buff *skb)
{
	if (!nint_receive_late(skb, offsetof(struct iphdr, protocol)))
		hop_input_refuse_v4(skb);
	return 0;
}

static const struct net_protocol nint_protocol_v4 = {
	.handler	= nint_late_v4,
	.err_handler	= nint_icmp_v4,
	/* TCP checks IPsec's policy; so does hop_input_refuse_v4(). */
	.no_policy	= 1,
	.icmp_strict_tag_validation = 1,
};

#if IS_ENABLED(CONFIG_IPV6)
/* A negative value: the packet has been consumed, and does not count as delivered. */
static int nint_late_v6(struct sk_buff *skb)
{
	if (!nint_receive_late(skb, IP6CB(skb)->nhoff))
		hop_input_refuse_v6(skb);
	return -1;
}

static const struct inet6_protocol nint_protocol_v6 = {
	.handler	= nint_late_v6,
	.err_handler	= nint_icmp_v6,
	/*
	 * Not INET6_PROTO_FINAL, which would remove the IP header from a checksum over the packet.
	 */
	.flags		= INET6_PROTO_NOPOLICY,
};
#endif

void nint_protocol_exit(void)
{
	/* Before anything is freed that gro_receive and gro_complete need. */
	WRITE_ONCE(merging, false);
	hop_gro_flush();
#if IS_ENABLED(CONFIG_IPV6)
	inet6_del_protocol(&nint_protocol_v6, nint_protocol);
	inet6_del_offload(&nint_offload_v6, nint_protocol);
#endif
	inet_del_protocol(&nint_protocol_v4, nint_protocol);
	inet_del_offload(&nint_offload_v4, nint_protocol);
}

/* Return: 0; -EBUSY if another module has the number. */
int nint_protocol_init(void)
{
	bool busy = inet_add_offload(&nint_offload_v4, nint_protocol) ||
		    inet_add_protocol(&nint_protocol_v4, nint_protocol);

#if IS_ENABLED(CONFIG_IPV6)
	busy = busy || inet6_add_offload(&nint_offload_v6, nint_protocol) ||
	       inet6_add_protocol(&nint_protocol_v6, nint_protocol);
#endif
	if (busy) {
		/* Each of these removes only what is ours. */
		nint_protocol_exit();
		return -EBUSY;
	}
	WRITE_ONCE(merging, true);
	return 0;
}
