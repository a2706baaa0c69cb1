/* SPDX-License-Identifier: GPL-2.0 */
/* A netfilter hook in both families. */
#ifndef HOPCC_NET_HOP_HOOK_H
#define HOPCC_NET_HOP_HOOK_H

#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6.h>

/**
 * HOP_HOOKS - what an array of two struct nf_hook_ops is initialised with: IPv4, IPv6
 * @function: the hook
 * @where: NF_INET_*
 * @order: its priority: NF_IP_PRI_*, which NF_IP6_PRI_* equal
 */
#define HOP_HOOKS(function, where, order) {		\
	{						\
		.hook		= (function),		\
		.pf		= NFPROTO_IPV4,		\
		.hooknum	= (where),		\
		.priority	= (order),		\
	},						\
	{						\
		.hook		= (function),		\
		.pf		= NFPROTO_IPV6,		\
		.hooknum	= (where),		\
		.priority	= (order),		\
	},						\
}

#endif /* HOPCC_NET_HOP_HOOK_H */
