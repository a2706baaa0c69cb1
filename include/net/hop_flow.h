/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The flow table: what a carrier knows of a TCP connection of this host, found
 * by netns and 5-tuple from a packet or a socket.
 *
 *	       first header                      socket gone
 *	(none) ------------> in the table (+1) --------------> removed (-1) --> freed
 *	                      ^ a reactor's hop_flow_hold() and hop_flow_put()
 *
 * One hash table under RCU. An entry belongs to one kind of carrier, whose state
 * it ends with. A netns has at most net.hopcc.flow_limit of them, and half-open
 * ones are a quarter of that at most: SYNs are free to send. Once a second those
 * that were not used lately are looked at, and go if their socket is gone.
 *
 * Addresses are those of the socket. A connection whose addresses this host
 * itself translates is not found by its packets: it goes without a carrier.
 */
#ifndef HOPCC_NET_HOP_FLOW_H
#define HOPCC_NET_HOP_FLOW_H

#include <linux/in6.h>
#include <linux/jiffies.h>
#include <linux/refcount.h>
#include <linux/rhashtable-types.h>
#include <linux/stddef.h>
#include <linux/types.h>

struct hop_flow_walk;
struct net;
struct sk_buff;
struct sock;
struct tcphdr;

/**
 * struct hop_flow_kind - a carrier's share of the table
 * @state_bytes: size of its private state
 * @start: sets up the state, which is zero
 */
struct hop_flow_kind {
	size_t state_bytes;
	void (*start)(void *state);
};

/**
 * struct hop_flow_key - what a flow is found by; no padding down to @dif
 * @net: where the socket is
 * @kind: of the carrier
 * @local: our address; IPv4 is v4-mapped
 * @peer: theirs
 * @scope_ifindex: where link-local addresses mean something, else 0
 * @local_port: our port
 * @peer_port: theirs
 * @dif: interface, to find the socket by; not compared
 * @sdif: the interface below it, if @dif is a VRF; not compared
 */
struct hop_flow_key {
	struct net *net;
	const struct hop_flow_kind *kind;
	struct in6_addr local;
	struct in6_addr peer;
	int scope_ifindex;
	__be16 local_port;
	__be16 peer_port;
	int dif;
	int sdif;
};

/**
 * struct hop_flow - an entry
 * @node: in the table
 * @key: what it is found by
 * @ref: the table's and the reactor's
 * @flags: HOP_FLOW_HALF_OPEN
 * @used_jiffies: when it was last found
 * @rcu: frees it
 * @state: the carrier's
 */
struct hop_flow {
	struct rhash_head node;
	struct hop_flow_key key;
	refcount_t ref;
	unsigned long flags;
	unsigned long used_jiffies;
	struct rcu_head rcu;
	u64 state[];
};

/* Bit of hop_flow.flags: the handshake is not over. */
#define HOP_FLOW_HALF_OPEN 0

/**
 * struct hop_flow_counts - of a netns
 * @flows: in the table now
 * @half_open: of these, half-open
 * @refused: not entered: the limit, or no memory
 */
struct hop_flow_counts {
	u32 flows;
	u32 half_open;
	u64 refused;
};

/**
 * hop_flow_key_of_sock() - the key of a socket's flow
 * @key: result
 * @kind: of the carrier
 * @sk: a TCP socket or a connection request
 *
 * Context: any.
 */
void hop_flow_key_of_sock(struct hop_flow_key *key, const struct hop_flow_kind *kind,
			  const struct sock *sk);

/**
 * hop_flow_key_of_input() - the key of the flow that an incoming packet belongs to
 * @key: result
 * @kind: of the carrier
 * @skb: the packet, network header set, skb->dev where it came in
 * @th: its TCP header, at least the ports
 *
 * Context: RCU read lock.
 */
void hop_flow_key_of_input(struct hop_flow_key *key, const struct hop_flow_kind *kind,
			   const struct sk_buff *skb, const struct tcphdr *th);

/**
 * hop_flow_key_of_output() - the key of the flow that an outgoing packet belongs to
 * @key: result
 * @kind: of the carrier
 * @skb: the packet, network header set, skb->dev where it goes out
 * @th: its TCP header, at least the ports
 *
 * For packets without a socket, such as a SYN-ACK with a cookie, and for packets
 * that an ICMP error quotes (@skb is the error, its data the quoted packet).
 *
 * Context: RCU read lock.
 */
void hop_flow_key_of_output(struct hop_flow_key *key, const struct hop_flow_kind *kind,
			    const struct sk_buff *skb, const struct tcphdr *th);

/**
 * hop_flow_socket() - the socket of a flow
 * @key: of the flow
 *
 * Context: RCU read lock.
 * Return: a full socket, a request, one in TIME_WAIT, with a reference for
 * sock_gen_put(); or NULL.
 */
struct sock *hop_flow_socket(const struct hop_flow_key *key);

/**
 * hop_flow_has_listener() - would a SYN find a listener?
 * @key: of the flow that it would open
 *
 * Context: RCU read lock, BH off.
 * Return: whether it would.
 */
bool hop_flow_has_listener(const struct hop_flow_key *key);

/**
 * hop_flow_any() - has this netns a flow at all?
 * @net: the netns
 *
 * Context: RCU read lock. For the path of every packet.
 * Return: whether it has.
 */
bool hop_flow_any(const struct net *net);

/**
 * hop_flow_find() - look a flow up
 * @key: what by
 *
 * Context: RCU read lock; the result is good while it is held.
 * Return: the flow, or NULL.
 */
struct hop_flow *hop_flow_find(const struct hop_flow_key *key);

/**
 * hop_flow_add() - look a flow up or enter it
 * @key: of a socket that is there, or of a SYN that a listener will take
 * @half_open: the socket is not established yet
 *
 * Context: RCU read lock; the result is good while it is held. Does not sleep.
 * Return: the flow; NULL if the netns has its limit or there is no memory.
 */
struct hop_flow *hop_flow_add(const struct hop_flow_key *key, bool half_open);

/**
 * hop_flow_settle() - the handshake is over
 * @flow: the flow
 *
 * Context: any.
 * Return: whether it was half-open until now.
 */
bool hop_flow_settle(struct hop_flow *flow);

/**
 * hop_flow_remove() - take a flow out of the table
 * @flow: the flow; who holds a reference keeps it
 *
 * Context: RCU read lock.
 */
void hop_flow_remove(struct hop_flow *flow);

/**
 * hop_flow_hold() - keep a flow beyond the RCU read lock
 * @flow: of hop_flow_find() or hop_flow_add()
 *
 * Context: RCU read lock.
 * Return: false if it is on its way out.
 */
static inline bool hop_flow_hold(struct hop_flow *flow)
{
	return refcount_inc_not_zero(&flow->ref);
}

/**
 * hop_flow_put() - give a reference back
 * @flow: the flow
 *
 * Context: any. Does not look at the netns: that may be gone.
 */
void hop_flow_put(struct hop_flow *flow);

/**
 * hop_flow_retire() - a carrier leaves: remove its flows
 * @kind: its kind; it adds none any more
 *
 * Context: process.
 */
void hop_flow_retire(const struct hop_flow_kind *kind);

/**
 * hop_flow_count() - the table's counters
 * @net: of this netns
 *
 * Context: any.
 * Return: the counters.
 */
struct hop_flow_counts hop_flow_count(const struct net *net);

/**
 * hop_flow_walk_open() - begin to look through the table
 *
 * Context: process.
 * Return: the walk, for hop_flow_walk_close(); NULL without memory.
 */
struct hop_flow_walk *hop_flow_walk_open(void);

/**
 * hop_flow_walk() - go on: call @visit for flows until it refuses one
 * @walk: of hop_flow_walk_open()
 * @net: flows of this netns
 * @kind: and of this carrier
 * @visit: takes a flow; does not sleep; false: it has no room for it now
 * @what: for @visit
 *
 * The next call begins with the flow that was refused. A table that is resized meanwhile
 * may show a flow twice.
 *
 * Context: process.
 * Return: whether all were seen.
 */
bool hop_flow_walk(struct hop_flow_walk *walk, const struct net *net,
		   const struct hop_flow_kind *kind,
		   bool (*visit)(struct hop_flow *flow, void *what), void *what);

/**
 * hop_flow_walk_close() - end it
 * @walk: of hop_flow_walk_open()
 *
 * Context: process.
 */
void hop_flow_walk_close(struct hop_flow_walk *walk);

static inline void *hop_flow_state(struct hop_flow *flow)
{
	return flow->state;
}

static inline struct hop_flow *hop_flow_of_state(void *state)
{
	return state - offsetof(struct hop_flow, state);
}

#endif /* HOPCC_NET_HOP_FLOW_H */
