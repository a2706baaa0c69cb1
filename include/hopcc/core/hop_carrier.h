/* SPDX-License-Identifier: GPL-2.0 */
/*
 * State that each of net_int, net_xcp and net_csig_tag has in a network namespace: counters, shown
 * in /proc/net/hopcc_*, sysctls, and the cache of peers without support.
 */
#ifndef HOPCC_CORE_HOP_CARRIER_H
#define HOPCC_CORE_HOP_CARRIER_H

#include <linux/percpu.h>
#include <hopcc/core/hop_flow.h>
#include <hopcc/core/hop_recent.h>
#include <hopcc/lib/hop_count.h>
#include <hopcc/lib/hop_sysctl.h>

/**
 * struct hop_carrier_kind - a carrier
 * @net_id: identifier of its state in a network namespace, which starts with a struct
 *	hop_carrier_net
 * @file: name of its file in /proc/net
 * @table: its sysctls
 * @names: names of its counters, from HOP_CARRIER_COUNT_LIST on; a counter without a name (NULL) is
 *	not shown
 * @counts: number of counters
 * @icmp_refused: counter of ICMP errors by which the peer or the path refuses headers; carriers
 *	of a header that is a protocol of IP have it
 * @trace: tracepoint of a step of discovery
 */
struct hop_carrier_kind {
	unsigned int *net_id;
	const char *file;
	const struct ctl_table *table;
	const char * const *names;
	unsigned int counts;
	unsigned int icmp_refused;
	void (*trace)(const struct hop_flow_key *key, int event, int from, int to);
};

/**
 * struct hop_carrier_net - first member of a carrier's state in a network namespace
 * @net: the network namespace
 * @kind: the carrier
 * @counts: counters per CPU
 * @sysctl: the sysctls
 * @unsupported_s: net.hopcc.*_unsupported_s
 * @unsupported: peers without support, and those to which the path does not pass headers
 * @passed: peers to which headers in front of TCP have passed lately
 */
struct hop_carrier_net {
	struct net *net;
	const struct hop_carrier_kind *kind;
	unsigned long __percpu *counts;
	struct hop_sysctl sysctl;
	unsigned int unsupported_s;
	struct hop_recent unsupported;
	struct hop_recent passed;
};

/**
 * hop_carrier_start() - start a carrier in a network namespace
 * @net: the network namespace; the carrier's state there is zero but for its sysctls' defaults
 * @kind: the carrier
 *
 * Undone by hop_sysctl_stop() in pre_exit(), and hop_carrier_stop() in exit().
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int hop_carrier_start(struct net *net, const struct hop_carrier_kind *kind);

/**
 * hop_carrier_stop() - free what hop_carrier_start() allocated
 * @cn: the carrier in a network namespace, whose sysctls and hooks have ended
 *
 * Context: process.
 */
void hop_carrier_stop(struct hop_carrier_net *cn);

/**
 * hop_carrier_avoids() - is the peer of a connection cached as one without support?
 * @key: the connection's key
 *
 * Context: any.
 * Return: true if the connection does without the carrier.
 */
bool hop_carrier_avoids(const struct hop_flow_key *key);

/**
 * hop_carrier_count_at() - count for a connection's carrier
 * @key: the connection's key
 * @count: the counter
 *
 * Context: any.
 */
void hop_carrier_count_at(const struct hop_flow_key *key, unsigned int count);

/**
 * hop_carrier_note_passed() - note that the path passes a header in front of TCP, both ways
 * @flow: a flow
 *
 * Context: any but hard interrupt.
 */
void hop_carrier_note_passed(struct hop_flow *flow);

/**
 * hop_carrier_forget_passed() - let later connections to the peer try headers by ACKs again
 * @flow: a flow whose headers do not pass the path any more
 *
 * Context: any but hard interrupt.
 */
void hop_carrier_forget_passed(const struct hop_flow *flow);

/**
 * hop_carrier_passes() - has the path passed a header in front of TCP?
 * @flow: a flow
 *
 * Context: any but hard interrupt.
 * Return: true if it has, on this connection, or within HOP_RECENT_DEFAULT_S on another one.
 */
bool hop_carrier_passes(const struct hop_flow *flow);

static inline void hop_carrier_count_add(const struct hop_carrier_net *cn, unsigned int count,
					 unsigned int n)
{
	this_cpu_add(cn->counts[count], n);
}

static inline void hop_carrier_count(const struct hop_carrier_net *cn, unsigned int count)
{
	hop_carrier_count_add(cn, count, 1);
}

#endif /* HOPCC_CORE_HOP_CARRIER_H */
