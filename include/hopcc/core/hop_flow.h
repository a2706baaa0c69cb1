/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The flow table stores a carrier's state of TCP connections of this host. An entry is found
 * by network namespace and 5-tuple, from a packet or from a socket.
 *
 *	       first header                      socket gone
 *	(none) ------------> in the table (+1) --------------> removed (-1) --> freed
 *	                      ^ hop_flow_hold() and hop_flow_put() of a congestion control
 *
 * It is one hash table under RCU. An entry belongs to one carrier, whose state stands
 * at its end. A network namespace has at most net.hopcc.flow_limit entries, and at most a
 * quarter of these may be half-open, since an attacker can send SYNs at no cost. All
 * namespaces together have at most flows_max entries, a parameter of hop_core; namespaces
 * that belong to a user namespace other than the initial one have at most half of that. If
 * there is no room, the oldest half-open entry of the network namespace is removed. An accepted
 * connection is never removed to make room, even if no data has been sent yet. Once a
 * second, entries that were not used lately are examined, and removed if their socket is gone.
 *
 * The memory control group of a process that connects is charged for its entries. An entry
 * that an incoming SYN opens is made in softirq, where no group is known; only the limits
 * bound these.
 *
 * Each network namespace also has its entries in a list. So a walk costs time in proportion
 * to the entries of that namespace, and takes a spinlock for a bounded number of them at a time.
 *
 * The addresses in a key are the socket's. If this host itself translates the addresses of a
 * connection, its packets do not match the entry, and the connection works without a carrier.
 */
#ifndef HOPCC_CORE_HOP_FLOW_H
#define HOPCC_CORE_HOP_FLOW_H

#include <linux/atomic.h>
#include <linux/in6.h>
#include <linux/jiffies.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/rhashtable-types.h>
#include <linux/stddef.h>
#include <linux/types.h>
#include <hopcc/lib/hop_discover.h>

struct hop_carrier;
struct hop_flow;
struct net;
struct seq_file;
struct sk_buff;
struct sock;
struct tcphdr;

/**
 * struct hop_flow_key - key of a flow; there is no padding in front of @dif
 * @net: network namespace of the socket
 * @carrier: the carrier
 * @local: our address; IPv4 is v4-mapped
 * @peer: the peer's address
 * @scope_ifindex: the interface that link-local addresses belong to; 0 for other addresses
 * @l3mdev_ifindex: VRF of the socket or of the packet's interface, 0 if none; equal addresses
 *	and ports in two VRFs are two connections
 * @local_port: our port
 * @peer_port: the peer's port
 * @dif: interface, for the lookup of the socket; not compared
 * @sdif: the port of the VRF, if @dif is a VRF; not compared
 */
struct hop_flow_key {
	struct net *net;
	const struct hop_carrier *carrier;
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
 * struct hop_flow_link - element of the list of a network namespace
 * @list: member of the list; under the lock of the network namespace
 * @flow: the entry; NULL if the element is the position of a walk
 */
struct hop_flow_link {
	struct list_head list;
	struct hop_flow *flow;
};

/**
 * struct hop_flow - an entry of the flow table
 * @node: member of the hash table
 * @key: key of the flow
 * @in_net: element of the list of all entries of the network namespace
 * @in_half_open: member of the list of half-open entries of the network namespace, the oldest
 *	first; under its lock
 * @ref: reference count: the table and the congestion control hold references
 * @stage: stage of discovery; hop_flow_event() changes it, hop_flow_stage() reads it
 * @flags: HOP_FLOW_*; HOP_FLOW_OPENING is changed under the lock of the netns
 * @late: negotiation on an established connection; under the socket lock, but for @late.asked
 * @used_jiffies: time of the last successful lookup
 * @rcu: for freeing the entry
 * @state: private state of the carrier
 */
struct hop_flow {
	struct rhash_head node;
	struct hop_flow_key key;
	struct hop_flow_link in_net;
	struct list_head in_half_open;
	refcount_t ref;
	enum hop_stage stage;
	unsigned long flags;
	struct hop_late late;
	unsigned long used_jiffies;
	struct rcu_head rcu;
	u64 state[];
};

/*
 * Bits of hop_flow.flags: hop_flow_settle() has not been called yet for a new connection; the next
 * pure ACK asks by the option, or answers by it; a header in front of TCP is tried with the next
 * pure ACK, or answered with it; headers of this connection pass the path; hop_flow.late counts
 * tries.
 */
#define HOP_FLOW_OPENING 0
#define HOP_FLOW_ASKS 1
#define HOP_FLOW_ANSWERS 2
#define HOP_FLOW_TRIES 3
#define HOP_FLOW_SHOWS 4
#define HOP_FLOW_PASSED 5
#define HOP_FLOW_TRIED 6

/**
 * hop_flow_take() - clear a bit that asks for something
 * @flow: a flow
 * @bit: HOP_FLOW_*
 *
 * Most packets find it clear, and write nothing.
 *
 * Context: any.
 * Return: true if it was set.
 */
static inline bool hop_flow_take(struct hop_flow *flow, unsigned int bit)
{
	return READ_ONCE(flow->flags) & BIT(bit) && test_and_clear_bit(bit, &flow->flags);
}

/**
 * struct hop_flow_counts - counters of the flow table for a network namespace
 * @flows: entries in the table now
 * @half_open: half-open entries among these
 * @evicted: half-open entries that were removed to make room for others
 * @refused: entries refused because of net.hopcc.flow_limit, flows_max, or lack of memory
 * @refused_max: part of @refused that is due to flows_max
 * @refused_memory: part of @refused that is due to lack of memory
 * @walked: entries that a carrier's walks of this netns have passed
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
 * hop_flow_key_of_sock() - get the key of a socket's flow
 * @key: result
 * @carrier: the carrier
 * @sk: a TCP socket or a connection request
 *
 * Context: any.
 */
void hop_flow_key_of_sock(struct hop_flow_key *key, const struct hop_carrier *carrier,
			  const struct sock *sk);

/**
 * hop_flow_key_of_input() - get the key of the flow that an incoming packet belongs to
 * @key: result
 * @carrier: the carrier
 * @skb: the packet; its network header is set, and skb->dev is the device it arrived at
 * @th: its TCP header, at least the ports
 *
 * Context: RCU read lock.
 */
void hop_flow_key_of_input(struct hop_flow_key *key, const struct hop_carrier *carrier,
			   const struct sk_buff *skb, const struct tcphdr *th);

/**
 * hop_flow_key_of_output() - get the key of the flow that an outgoing packet belongs to
 * @key: result
 * @carrier: the carrier
 * @skb: the packet; its network header is set, and skb->dev is the device it leaves by
 * @th: its TCP header, at least the ports
 *
 * This is for packets without a socket, such as a SYN-ACK with a SYN cookie, and for packets
 * that an ICMP error quotes (@skb is the error, and skb->data is at the quoted packet).
 *
 * Context: RCU read lock.
 */
void hop_flow_key_of_output(struct hop_flow_key *key, const struct hop_carrier *carrier,
			    const struct sk_buff *skb, const struct tcphdr *th);

/**
 * hop_flow_socket() - look up the socket of a flow
 * @key: the key of the flow
 *
 * Context: RCU read lock.
 * Return: a full socket, a connection request or a socket in TIME_WAIT, with a reference that
 * the caller releases by sock_gen_put(); NULL if there is none.
 */
struct sock *hop_flow_socket(const struct hop_flow_key *key);

/*
 * States of a full socket. A half-open connection has a connection request or, with a SYN cookie,
 * no socket.
 */
#define HOP_FLOW_FULL (~(TCPF_NEW_SYN_RECV | TCPF_TIME_WAIT))

/**
 * hop_flow_tcp_state() - get the state of a connection's socket
 * @key: key of its flow
 *
 * Context: RCU read lock.
 * Return: 1 shifted by the state, as TCPF_ESTABLISHED; 0 if no socket has these ports.
 */
u32 hop_flow_tcp_state(const struct hop_flow_key *key);

/**
 * hop_flow_socket_of_any_device() - look up the socket of a flow, whatever device it is bound to
 * @key: the key of the flow; the socket may have been bound to another device since
 *
 * Context: RCU read lock.
 * Return: as hop_flow_socket().
 */
struct sock *hop_flow_socket_of_any_device(const struct hop_flow_key *key);

/**
 * hop_flow_has_listener() - would a SYN find a listener?
 * @key: key of the flow that the SYN would open
 *
 * Context: RCU read lock, BH off.
 * Return: true if there is a listener.
 */
bool hop_flow_has_listener(const struct hop_flow_key *key);

/**
 * hop_flow_any() - has a network namespace any flow?
 * @net: the network namespace
 *
 * This is cheap enough to be called for every packet.
 *
 * Context: RCU read lock.
 * Return: true if the namespace has a flow.
 */
bool hop_flow_any(const struct net *net);

/**
 * hop_flow_counter() - get the address of the number of flows of a network namespace
 * @net: the network namespace
 *
 * Context: any.
 * Return: address of the number, which must be read with READ_ONCE(); valid as long as @net.
 */
const u32 *hop_flow_counter(const struct net *net);

/**
 * hop_flow_find() - look a flow up
 * @key: key of the flow
 *
 * Context: RCU read lock; the result is valid while the lock is held.
 * Return: the flow, or NULL.
 */
struct hop_flow *hop_flow_find(const struct hop_flow_key *key);

/**
 * hop_flow_of_sock() - look up the flow of a socket
 * @carrier: the carrier
 * @sk: a TCP socket
 *
 * Context: RCU read lock; the result is valid while the lock is held.
 * Return: the flow, or NULL.
 */
struct hop_flow *hop_flow_of_sock(const struct hop_carrier *carrier, const struct sock *sk);

/**
 * hop_flow_of_input() - look up the flow that an incoming packet belongs to
 * @carrier: the carrier
 * @skb: the packet, as for hop_flow_key_of_input()
 * @th: its TCP header, at least the ports
 *
 * Context: RCU read lock; the result is valid while the lock is held.
 * Return: the flow, or NULL.
 */
struct hop_flow *hop_flow_of_input(const struct hop_carrier *carrier, const struct sk_buff *skb,
				   const struct tcphdr *th);

/**
 * hop_flow_add() - look a flow up, or insert it if it does not exist
 * @key: key of an existing socket, or of a SYN that a listener will accept
 * @half_open: the socket is not established yet
 *
 * Context: RCU read lock; the result is valid while the lock is held. Does not sleep.
 * Return: the flow; NULL if there is no memory, or if a limit is reached, of the network
 * namespace or of all together, and the namespace has no half-open flow that could be removed.
 */
struct hop_flow *hop_flow_add(const struct hop_flow_key *key, bool half_open);

/**
 * hop_flow_settle() - note that the handshake of a flow is complete
 * @flow: the flow
 *
 * Context: any.
 * Return: true if the flow was half-open until now.
 */
bool hop_flow_settle(struct hop_flow *flow);

/**
 * hop_flow_remove() - remove a flow from the table
 * @flow: the flow; it is freed once nobody holds a reference any more; its stage becomes
 *	HOP_STAGE_UNSUPPORTED, so that a congestion control that holds it falls back
 *
 * Context: RCU read lock.
 * Return: true; false if another CPU has removed it.
 */
bool hop_flow_remove(struct hop_flow *flow);

/**
 * hop_flow_hold() - take a reference, to keep a flow beyond the RCU read lock
 * @flow: a flow that hop_flow_find() or hop_flow_add() returned
 *
 * Context: any in which the memory of the flow cannot be freed at the same time.
 * Return: false if the flow is about to be freed.
 */
static inline bool hop_flow_hold(struct hop_flow *flow)
{
	return refcount_inc_not_zero(&flow->ref);
}

/**
 * hop_flow_put() - release a reference
 * @flow: the flow
 *
 * Context: any. Does not access the network namespace, which may be gone.
 */
void hop_flow_put(struct hop_flow *flow);

/**
 * hop_flow_retire() - remove all flows of a carrier that is unloaded
 * @carrier: the carrier, which adds no flows any more
 *
 * Sockets get back what the carrier has reserved in them, except for those that a process uses all
 * the time. The function waits until no entry of this carrier exists and no function of it is
 * called any more.
 *
 * Context: process; may sleep.
 */
void hop_flow_retire(const struct hop_carrier *carrier);

/**
 * hop_flow_show() - print the table's counters for a network namespace, one per line
 * @seq: a file of proc_create_net_single()
 *
 * Context: process.
 */
void hop_flow_show(struct seq_file *seq);

/* Most entries that a walk passes each time it holds the lock of the network namespace. */
#define HOP_FLOW_STEP 32

/**
 * struct hop_flow_walk - a walk through the entries of a network namespace
 * @net: the network namespace
 * @position: element of the list, behind the entries that were passed
 * @flow: an entry that was found and not visited yet, with a reference; NULL: none
 */
struct hop_flow_walk {
	struct net *net;
	struct hop_flow_link position;
	struct hop_flow *flow;
};

/**
 * hop_flow_walk_open() - start a walk through the entries of a network namespace
 * @walk: state of the walk, which must not be moved in memory
 * @net: the network namespace, which must exist until hop_flow_walk_close()
 *
 * Context: process.
 */
void hop_flow_walk_open(struct hop_flow_walk *walk, struct net *net);

/**
 * hop_flow_walk() - continue a walk: call @visit for flows until it refuses one
 * @walk: state of the walk, after hop_flow_walk_open()
 * @carrier: the carrier whose flows are visited; NULL for all carriers
 * @visit: function that is called for a flow, under the RCU read lock; returns false if it has no
 *	room now
 * @what: argument of @visit
 *
 * The next call starts with the flow that was refused. A flow that exists during the whole
 * walk is visited once; one that is inserted or removed meanwhile may be visited or not.
 *
 * Context: process.
 * Return: true if the walk has reached the end.
 */
bool hop_flow_walk(struct hop_flow_walk *walk, const struct hop_carrier *carrier,
		   bool (*visit)(struct hop_flow *flow, void *what), void *what);

/**
 * hop_flow_walk_close() - end a walk
 * @walk: state of the walk, after hop_flow_walk_open()
 *
 * Context: process.
 */
void hop_flow_walk_close(struct hop_flow_walk *walk);

/**
 * hop_flow_stage() - get the stage of discovery
 * @flow: the entry
 *
 * Context: any.
 * Return: the stage; it may change at any time.
 */
static inline enum hop_stage hop_flow_stage(const struct hop_flow *flow)
{
	return READ_ONCE(flow->stage);
}

/**
 * hop_flow_event() - update the stage of discovery after an event
 * @flow: the entry
 * @event: the event
 *
 * Context: RCU read lock.
 * Return: the new stage.
 */
enum hop_stage hop_flow_event(struct hop_flow *flow, enum hop_event event);

static inline void *hop_flow_state(struct hop_flow *flow)
{
	return flow->state;
}

static inline struct hop_flow *hop_flow_of_state(void *state)
{
	return state - offsetof(struct hop_flow, state);
}

/* Called by hop_core only. */
int hop_flow_table_start(void);
void hop_flow_table_stop(void);

/**
 * hop_flow_state_stage() - get the stage of discovery
 * @state: private state of the carrier
 *
 * Context: any.
 * Return: the stage; it may change at any time.
 */
static inline enum hop_stage hop_flow_state_stage(const void *state)
{
	return hop_flow_stage(state - offsetof(struct hop_flow, state));
}

#endif /* HOPCC_CORE_HOP_FLOW_H */
