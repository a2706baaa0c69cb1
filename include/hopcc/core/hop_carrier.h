/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Carriers: net_int, net_xcp, net_csig_tag, and net_tlm, which only reads packets for net_int. Each
 * of them registers a struct hop_carrier. The first three have a struct hop_carrier_net in each
 * network namespace: counters, which /proc/net/hopcc_* shows, sysctls, and caches of peers.
 */
#ifndef HOPCC_CORE_HOP_CARRIER_H
#define HOPCC_CORE_HOP_CARRIER_H

#include <linux/percpu.h>
#include <hopcc/core/hop_flow.h>
#include <hopcc/core/hop_recent.h>
#include <hopcc/lib/hop_count.h>
#include <hopcc/lib/hop_sysctl.h>

struct hop_option;
struct hop_segment;
struct hop_shim_place;
struct nf_hook_state;
struct sk_buff;

/**
 * struct hop_carrier - a carrier
 * @order: position among the carriers at the hooks, less than HOP_HOOK_CARRIERS; no two carriers
 *	have the same
 * @input: processes an incoming packet; @place->next is 0 if the packet is a fragment or ends
 *	within its IP headers. Return: NF_ACCEPT, NF_DROP or NF_STOLEN
 * @output: processes an outgoing packet. Return: NF_ACCEPT or NF_STOLEN. NULL: none
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
 * @state_bytes: size of its private state in a flow
 * @entries: number of its flows that are not freed yet; changed by hop_core
 * @start: initialises a new private state, which is zeroed before
 * @refused: called when an ICMP error shows that a header is not accepted, under the RCU read lock;
 *	NULL: then the connection does without the carrier
 * @leave: called when a flow is removed before its connection ends: gives back what the carrier
 *	has reserved in the socket, which may be another connection's; under the lock of the socket,
 *	with BH off; NULL: not needed
 * @stop: called when the last reference to the flow is released; readers may still use the state
 *	until an RCU grace period has ended; NULL: not needed
 * @bit: HOP_OPTION_* of the carrier
 * @in_front: data has a header in front of TCP, which is tried before the peer counts as one with
 *	support
 * @asks: returns true if the first SYN of a socket must ask; not called for a SYN with data
 * @cookie: returns the cookie that the option has for the peer; NULL: none
 * @learn: takes what the peer's option says; only the first one counts; NULL: nothing
 *
 * One whose only members are @order and @input has no flows and no state.
 *
 * Context of @input and @output: RCU read lock; skb->data at the network header.
 */
struct hop_carrier {
	u8 order;
	unsigned int (*input)(struct sk_buff *skb, const struct hop_shim_place *place,
			      const struct nf_hook_state *state);
	unsigned int (*output)(struct sk_buff *skb, const struct hop_segment *seg,
			       const struct nf_hook_state *state);
	unsigned int *net_id;
	const char *file;
	const struct ctl_table *table;
	const char * const *names;
	unsigned int counts;
	unsigned int icmp_refused;
	void (*trace)(const struct hop_flow_key *key, int event, int from, int to);
	size_t state_bytes;
	atomic_t *entries;
	void (*start)(void *state);
	void (*refused)(struct hop_flow *flow);
	void (*leave)(struct sock *sk, void *state);
	void (*stop)(void *state);
	u8 bit;
	bool in_front;
	bool (*asks)(const struct hop_flow_key *key, const struct sock *sk);
	u64 (*cookie)(const struct hop_flow *flow);
	void (*learn)(struct hop_flow *flow, const struct hop_option *o);
};

/**
 * struct hop_carrier_net - first member of a carrier's state in a network namespace
 * @net: the network namespace
 * @carrier: the carrier
 * @counts: counters per CPU
 * @sysctl: the sysctls
 * @unsupported_s: net.hopcc.*_unsupported_s
 * @unsupported: peers without support, and those to which the path does not pass headers
 * @passed: peers to which headers in front of TCP have passed lately
 */
struct hop_carrier_net {
	struct net *net;
	const struct hop_carrier *carrier;
	unsigned long __percpu *counts;
	struct hop_sysctl sysctl;
	unsigned int unsupported_s;
	struct hop_recent unsupported;
	struct hop_recent passed;
};

/**
 * hop_carrier_start() - start a carrier in a network namespace
 * @net: the network namespace; the carrier's state there is zero but for its sysctls' defaults
 * @carrier: the carrier
 *
 * Undone by hop_sysctl_stop() in pre_exit(), and hop_carrier_stop() in exit().
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int hop_carrier_start(struct net *net, const struct hop_carrier *carrier);

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
 * hop_carrier_hides() - would a filter miss what is below a header that a carrier sends?
 * @cn: the carrier's state of the network namespace; counts the packet if so
 * @on: the carrier's sysctl; HOP_FILTER_TRUST: the administrator knows the filters
 * @skb: the packet, without the header
 * @state: state of the hook in POST_ROUTING
 *
 * Context: RCU read lock.
 * Return: true if the packet must have no header, see hop_filter_misses_output().
 */
bool hop_carrier_hides(const struct hop_carrier_net *cn, unsigned int on,
		       const struct sk_buff *skb, const struct nf_hook_state *state);

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
