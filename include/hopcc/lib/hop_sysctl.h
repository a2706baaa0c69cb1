/* SPDX-License-Identifier: GPL-2.0 */
/* The sysctls below net.hopcc, which each network namespace has its own set of. */
#ifndef HOPCC_LIB_HOP_SYSCTL_H
#define HOPCC_LIB_HOP_SYSCTL_H

#include <linux/stddef.h>
#include <linux/sysctl.h>
#include <net/net_namespace.h>

/* .data of a template's entry: offset of the value in the module's per-namespace state. */
#define hop_sysctl_at(type, member) ((void *)offsetof(type, member))

/**
 * struct hop_sysctl - the sysctls of one module in one network namespace
 * @header: result of the registration
 * @table: the namespace's copy of the template
 */
struct hop_sysctl {
	struct ctl_table_header *header;
	struct ctl_table *table;
};

/* A bound that SYSCTL_ZERO and its like do not have. */
#define hop_sysctl_bound(value)	((void *)&(const unsigned int){ value })

/* The upper bound of an entry whose handler has the bounds: the words to type behind "=". */
#define hop_sysctl_words(words)	((void *)(words))

/**
 * HOP_SYSCTL() - an entry of a template
 * @name: name below net.hopcc. A carrier's names start with its signal (xcp, int, csig), those of a
 *	congestion control with the name of its module (tcp_xcp, tcp_hpccpp)
 * @access: mode of the file
 * @type: the module's state of a network namespace
 * @member: the value in @type; its size is that of the entry
 * @handler: reads and writes the value, as proc_douintvec_minmax()
 * @low: pointer to the lower bound; NULL if @handler has the bounds, or there are none
 * @high: pointer to the upper bound; hop_sysctl_words() if @handler has the bounds; NULL if there
 *	are none
 */
#define HOP_SYSCTL(name, access, type, member, handler, low, high)	\
	{								\
		.procname	= name,					\
		.data		= hop_sysctl_at(type, member),		\
		.maxlen		= sizeof_field(type, member),		\
		.mode		= access,				\
		.proc_handler	= handler,				\
		.extra1		= low,					\
		.extra2		= high,					\
	}

/* The handler of a number by its size; the kernel has one for vectors of int alone. */
#define hop_sysctl_handler(bytes)					\
	((bytes) == sizeof(u8) ? proc_dou8vec_minmax :			\
	 (bytes) == sizeof(u32) ? proc_douintvec_minmax : proc_dointvec_minmax)

/**
 * HOP_SYSCTL_NUMBER() - an entry of a template: a number or a vector of numbers
 * @name: as in HOP_SYSCTL()
 * @type: the module's state of a network namespace
 * @member: the value in @type: u8, u32, or an array of int
 * @low: the lower bound, a constant
 * @high: the upper bound, a constant
 */
#define HOP_SYSCTL_NUMBER(name, type, member, low, high)			\
	HOP_SYSCTL(name, 0644, type, member,					\
		   hop_sysctl_handler(sizeof_field(type, member)),		\
		   hop_sysctl_bound(low), hop_sysctl_bound(high))

/**
 * hop_sysctl_start() - register a module's sysctls in a network namespace
 * @net: the network namespace
 * @hs: result, for hop_sysctl_stop()
 * @template: the sysctls, with .data by hop_sysctl_at(), and an empty entry at the end
 * @state: the module's state of @net, which .data is an offset in
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int hop_sysctl_start(struct net *net, struct hop_sysctl *hs, const struct ctl_table *template,
		     void *state);

/**
 * hop_sysctl_set_if() - the handler of a number whose values are not one range
 * @table: the entry
 * @write: as in a proc_handler, as are the next three
 * @buffer: text
 * @len: length of @buffer
 * @pos: position in the file
 * @may: returns true for an allowed value
 *
 * Context: process.
 * Return: 0 or an error; -EINVAL for a value that is not allowed.
 */
int hop_sysctl_set_if(compat_ctl_table *table, int write, void *buffer, size_t *len, loff_t *pos,
		      bool (*may)(unsigned int value));

/* Return: the empty entry at the end of a table. */
static inline const struct ctl_table *hop_sysctl_end(const struct ctl_table *table)
{
	while (table->procname)
		table++;
	return table;
}

/**
 * hop_sysctl_net() - get the network namespace of a sysctl
 * @table: the entry that a handler was called with
 *
 * Context: process, in a handler.
 * Return: the network namespace.
 */
static inline struct net *hop_sysctl_net(const struct ctl_table *table)
{
	return hop_sysctl_end(table)->extra1;
}

/**
 * hop_sysctl_stop() - unregister a module's sysctls in a network namespace
 * @hs: result of hop_sysctl_start()
 *
 * Context: process.
 */
void hop_sysctl_stop(struct hop_sysctl *hs);

#endif /* HOPCC_LIB_HOP_SYSCTL_H */
