/* SPDX-License-Identifier: GPL-2.0 */
/* Knobs below net.hopcc., one set a network namespace. */
#ifndef HOPCC_NET_HOP_SYSCTL_H
#define HOPCC_NET_HOP_SYSCTL_H

#include <linux/slab.h>
#include <linux/stddef.h>
#include <linux/sysctl.h>
#include <net/net_namespace.h>

/* A template's .data: where its value lies in the module's state of a netns. */
#define hop_sysctl_at(type, member) ((void *)offsetof(type, member))

/**
 * struct hop_sysctl - the knobs of one module in one netns
 * @header: as registered
 * @table: the netns' copy of the template
 */
struct hop_sysctl {
	struct ctl_table_header *header;
	struct ctl_table *table;
};

/**
 * hop_sysctl_start() - show a module's knobs in a netns
 * @net: the netns
 * @hs: for hop_sysctl_stop()
 * @template: the knobs, .data by hop_sysctl_at(), and an empty entry that ends them
 * @entries: their number, without the empty one
 * @state: the module's state of @net, what .data counts from
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
static inline int hop_sysctl_start(struct net *net, struct hop_sysctl *hs,
				   const struct ctl_table *template, unsigned int entries,
				   void *state)
{
	unsigned int i;

	hs->table = kmemdup(template, (entries + 1) * sizeof(*template), GFP_KERNEL);
	if (!hs->table)
		return -ENOMEM;
	for (i = 0; i < entries; i++)
		hs->table[i].data = (char *)state + (uintptr_t)template[i].data;
	hs->header = register_net_sysctl_sz(net, "net/hopcc", hs->table, entries);
	if (hs->header)
		return 0;
	kfree(hs->table);
	return -ENOMEM;
}

/**
 * hop_sysctl_stop() - take them away
 * @hs: of hop_sysctl_start()
 *
 * Context: process.
 */
static inline void hop_sysctl_stop(struct hop_sysctl *hs)
{
	unregister_net_sysctl_table(hs->header);
	kfree(hs->table);
}

#endif /* HOPCC_NET_HOP_SYSCTL_H */
