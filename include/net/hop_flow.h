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
 * ones are a quarter of that at most: SYNs are free to send. All namespaces together
 * have at most flows_max, a parameter of hop_core, and those of other user namespaces
 * than the first at most half of it. Where there is no room, the oldest half-open entry
 * of the netns makes room. Once a second those that were not used lately are looked at,
 * and go if their socket is gone.
 *
 * The memory control group of a process that connects is charged for its entries. Those
 * that a SYN opens are made in softirq, where no group is known: the limits bound them.
 *
 * Each netns also has its entries in a list: a walk costs what the netns has, and takes
 * a spinlock for a bounded number of entries at a time.
 *
 * Addresses are those of the socket. A connection whose addresses this host
 * itself translates is not found by its packets: it goes without a carrier.
 */
#ifndef HOPCC_NET_HOP_FLOW_H
#define HOPCC_NET_HOP_FLOW_H

#include <linux/in6.h>
#include <linux/jiffies.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/rhashtable-types.h>
#include <linux/stddef.h>
#include <linux/types.h>
#include <net/hop_discover.h>

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
 * @l3mdev_ifindex: VRF of the socket or of the packet's interface, else 0: equal addresses
 *	and ports in two VRFs are two connections
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
	int l3mdev_ifindex;
	__be16 local_port;
	__be16 peer_port;
	int dif;
	int sdif;
};

/**
 * struct hop_flow_link - place in the list of a netns
 * @list: in the list, under the lock of the netns
 * @flow: the entry; NULL for the position of a walk
 */
struct hop_flow_link {
	struct list_head list;
	struct hop_flow *flow;
};

/**
 * struct hop_flow - an entry
 * @node: in the table
 * @key: what it is found by
 * @in_net: place among all entries of the netns
 * @in_half_open: place among the half-open ones of the netns, the oldest first; under its lock
 * @ref: the table's and the reactor's
 * @flags: HOP_FLOW_*; HOP_FLOW_HALF_OPEN is changed under the lock of the netns
 * @late: negotiation on an established connection; under the socket lock
 * @used_jiffies: when it was last found
 * @rcu: frees it
 * @state: the carrier's
 */
struct hop_flow {
	struct rhash_head node;
	struct hop_flow_key key;
	struct hop_flow_link in_net;
	struct list_head in_half_open;
	refcount_t ref;
	unsigned long flags;
	struct hop_late late;
	unsigned long used_jiffies;
	struct rcu_head rcu;
	u64 state[];
};

/*
 * Bits of hop_flow.flags: the handshake is not over; the next pure ACK is to have a header that
 * asks the peer, or one that answers it.
 */
#define HOP_FLOW_HALF_OPEN 0
#define HOP_FLOW_ASKS 1
#define HOP_FLOW_ANSWERS 2

/**
 * struct hop_flow_counts - of a netns
 * @flows: in the table now
 * @half_open: of these, half-open
 * @evicted: half-open entries that were removed to make room for others
 * @refused: not entered: net.hopcc.flow_limit, flows_max, or no memory
 * @refused_max: part of @refused: flows_max was reached
 * @refused_memory: part of @refused: no memory
 * @walked: entries that walks of this netns have passed
 */
struct hop_flow_counts {
	u32 flows;
	u32 half_open;
	u64 evicted;
	u64 refused;
	u64 refused_max;
	u64 refused_memory;
	u64 walked;
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
 * @key: the key of the flow
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
 * hop_flow_counter() - where the number of a netns' flows stands
 * @net: the netns
 *
 * Context: any.
 * Return: to be read with READ_ONCE(), while the netns is there.
 */
const u32 *hop_flow_counter(const struct net *net);

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
 * Return: the flow; NULL if the netns, or all together, have their limit and the netns has no
 * half-open flow to remove, or if there is no memory.
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

/* Entries that a walk passes with the lock of the netns held. */
#define HOP_FLOW_STEP 32

/**
 * struct hop_flow_walk - a walk through the entries of a netns
 * @net: the netns
 * @position: behind what was passed
 * @held: entries that were found and not visited yet, with a reference each
 * @first: the next of @held
 * @end: behind the last of @held
 */
struct hop_flow_walk {
	struct net *net;
	struct hop_flow_link position;
	struct hop_flow *held[HOP_FLOW_STEP];
	unsigned int first;
	unsigned int end;
};

/**
 * hop_flow_walk_open() - begin to look through the entries of a netns
 * @walk: for the functions below; stays where it is
 * @net: the netns; must not end before hop_flow_walk_close()
 *
 * Context: process.
 */
void hop_flow_walk_open(struct hop_flow_walk *walk, struct net *net);

/**
 * hop_flow_walk() - go on: call @visit for flows until it refuses one
 * @walk: of hop_flow_walk_open()
 * @kind: flows of this carrier; NULL: of all
 * @visit: takes a flow; may sleep; false: it has no room for it now
 * @what: for @visit
 *
 * The next call begins with the flow that was refused. A flow that is there all the time
 * is visited once; one that is entered or removed meanwhile may be visited or not.
 *
 * Context: process.
 * Return: whether all were seen.
 */
bool hop_flow_walk(struct hop_flow_walk *walk, const struct hop_flow_kind *kind,
		   bool (*visit)(struct hop_flow *flow, void *what), void *what);

/**
 * hop_flow_walk_close() - end it
 * @walk: of hop_flow_walk_open()
 *
 * Context: process.
 */
void hop_flow_walk_close(struct hop_flow_walk *walk);

/**
 * hop_flow_l3mdev() - the VRF of a socket
 * @sk: a TCP socket or a connection request
 *
 * Context: any.
 * Return: the interface index of the VRF whose device, or a port of which, @sk is bound to;
 * else 0.
 */
int hop_flow_l3mdev(const struct sock *sk);

static inline void *hop_flow_state(struct hop_flow *flow)
{
	return flow->state;
}

static inline struct hop_flow *hop_flow_of_state(void *state)
{
	return state - offsetof(struct hop_flow, state);
}

#endif /* HOPCC_NET_HOP_FLOW_H */
