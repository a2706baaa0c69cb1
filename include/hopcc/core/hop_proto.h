/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A header between IP and TCP with a protocol number of IP: what IP calls for that number. IP has
 * no argument that tells two carriers apart, so each has functions of its own, which HOP_PROTO()
 * defines around the carrier's.
 *
 *	gso_segment, gro_receive, gro_complete	GSO packets, and GRO (hop_gro.h)
 *	handler			packets that the hook has left: fragments, malformed headers
 *	err_handler		ICMP errors that quote the header (hop_icmp.h)
 */
#ifndef HOPCC_CORE_HOP_PROTO_H
#define HOPCC_CORE_HOP_PROTO_H

#include <hopcc/core/hop_gro.h>
#include <hopcc/core/hop_icmp.h>
#include <hopcc/core/hop_input.h>

/**
 * struct hop_proto - what IP calls for a carrier's protocol number
 * @v4: handlers for IPv4
 * @v6: handlers for IPv6
 * @offload_v4: GSO and GRO for IPv4
 * @offload_v6: GSO and GRO for IPv6
 * @merges: GRO may merge; false until all of these are registered, and again once the module is
 *	removed
 */
struct hop_proto {
	const struct net_protocol *v4;
	const struct inet6_protocol *v6;
	const struct net_offload *offload_v4;
	const struct net_offload *offload_v6;
	bool merges;
};

/**
 * hop_proto_register() - register a carrier: hooks, network namespaces, functions of its protocol
 * @p: the functions
 * @number: the protocol number
 * @nets: operations of network namespaces, which call hop_hook_start() and hop_hook_stop()
 *
 * Context: process.
 * Return: 0; -EINVAL if the number is 0, -EBUSY if another module has it; or another error.
 */
int hop_proto_register(struct hop_proto *p, u8 number, struct pernet_operations *nets);

/**
 * hop_proto_unregister() - undo hop_proto_register() when the carrier is unloaded
 * @p: the functions
 * @number: the protocol number
 * @nets: operations of network namespaces
 * @carrier: the carrier's flows, which are removed
 *
 * Context: process; see hop_gro_flush() and hop_flow_retire().
 */
void hop_proto_unregister(struct hop_proto *p, u8 number, struct pernet_operations *nets,
			  const struct hop_carrier *carrier);

/* GSO and GRO for one version of IP; @offloads: inet_offloads or inet6_offloads */
#define HOP_PROTO_OFFLOAD(prefix, version, offloads)				\
	static struct sk_buff *prefix##_gro_receive_##version(struct list_head *head,	\
							      struct sk_buff *skb)	\
	{									\
		return hop_gro_receive(head, skb, rcu_dereference(offloads[IPPROTO_TCP]), \
				       &prefix##_gro);				\
	}									\
	static int prefix##_gro_complete_##version(struct sk_buff *skb, int at_bytes)	\
	{									\
		return hop_gro_complete(skb, at_bytes,				\
					rcu_dereference(offloads[IPPROTO_TCP]),	\
					&prefix##_gro);				\
	}									\
	static struct sk_buff *prefix##_gso_##version(struct sk_buff *skb,	\
						      netdev_features_t features)	\
	{									\
		return prefix##_gso_segment(skb, rcu_dereference(offloads[IPPROTO_TCP])); \
	}									\
	static const struct net_offload prefix##_offload_##version = {		\
		.callbacks = {							\
			.gso_segment	= prefix##_gso_##version,		\
			.gro_receive	= prefix##_gro_receive_##version,	\
			.gro_complete	= prefix##_gro_complete_##version,	\
		},								\
	}

/**
 * HOP_PROTO - define a carrier's struct hop_proto
 * @prefix: the carrier's prefix, of these functions: @prefix_receive_late() and
 *	@prefix_read_quoted(), as for hop_icmp_v4(); and, in the same file, @prefix_gso_segment() and
 *	@prefix_gro, a struct hop_gro_kind
 *
 * @prefix_receive_late() gets a packet that has passed the hook, with skb->data at the header. It
 * returns false if the packet is unchanged and no protocol accepts it.
 *
 * TCP and hop_input_refuse() check IPsec's policy. INET6_PROTO_FINAL would remove the IP header
 * from a checksum over the packet. A handler of IPv6 returns less than 0 for a packet that it
 * consumed, which does not count as delivered.
 */
#define HOP_PROTO(prefix)							\
	HOP_PROTO_OFFLOAD(prefix, v4, inet_offloads);				\
	HOP_PROTO_OFFLOAD(prefix, v6, inet6_offloads);				\
	static int prefix##_late_v4(struct sk_buff *skb)			\
	{									\
		if (!prefix##_receive_late(skb))				\
			hop_input_refuse(skb);					\
		return 0;							\
	}									\
	static int prefix##_late_v6(struct sk_buff *skb)			\
	{									\
		if (!prefix##_receive_late(skb))				\
			hop_input_refuse(skb);					\
		return -1;							\
	}									\
	static int prefix##_icmp_v4(struct sk_buff *skb, u32 info)		\
	{									\
		return hop_icmp_v4(skb, info, prefix##_read_quoted);		\
	}									\
	static int prefix##_icmp_v6(struct sk_buff *skb, struct inet6_skb_parm *opt,	\
				    u8 type, u8 code, int offset, __be32 info)	\
	{									\
		return hop_icmp_v6(skb, opt, type, code, offset, info,		\
				   prefix##_read_quoted);			\
	}									\
	static const struct net_protocol prefix##_protocol_v4 = {		\
		.handler	= prefix##_late_v4,				\
		.err_handler	= prefix##_icmp_v4,				\
		.no_policy	= 1,						\
		.icmp_strict_tag_validation = 1,				\
	};									\
	static const struct inet6_protocol prefix##_protocol_v6 = {		\
		.handler	= prefix##_late_v6,				\
		.err_handler	= prefix##_icmp_v6,				\
		.flags		= INET6_PROTO_NOPOLICY,				\
	};									\
	struct hop_proto prefix##_proto = {					\
		.v4 = &prefix##_protocol_v4,					\
		.v6 = &prefix##_protocol_v6,					\
		.offload_v4 = &prefix##_offload_v4,				\
		.offload_v6 = &prefix##_offload_v6,				\
	}

#endif /* HOPCC_CORE_HOP_PROTO_H */
