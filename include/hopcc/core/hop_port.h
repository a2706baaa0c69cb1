/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One port that several qdiscs send through: the qdiscs of a NIC's transmit queues below mq, or
 * those of the classes of one link.
 *
 * Each qdisc counts what it sends in memory of its own, under its own lock. The port's count is
 * their sum (hop_core/hop_port_sum.h), which is computed at most once in HOP_PORT_STALE_NS, or once
 * in an interval of the qdisc's algorithm. So CPUs that send through different queues neither
 * take a common lock nor write to a common cache line for each packet.
 */
#ifndef HOPCC_CORE_HOP_PORT_H
#define HOPCC_CORE_HOP_PORT_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/netdevice.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <hopcc/lib/hop_ring.h>
#include <net/sch_generic.h>

/*
 * Maximum age of a sum that is written to a packet: 1 % of an RTT of 51 us; 6.4 kB at 100 Gbit/s.
 */
#define HOP_PORT_STALE_NS 512

/**
 * struct hop_port - state that the qdiscs of one port share
 * @lock: protects @queues, @base_bytes and the structure that embeds this one; nests in qdisc
 *	locks
 * @queues: qdiscs that send through the port, by struct hop_port_queue.list
 * @base_bytes: part of the sum that no present qdisc has counted, see hop_port_sum_join()
 * @summed_ns: time of the last sum, ns of ktime_get_ns(); written under @lock
 * @stale_ns: age from which the sum is computed again for a packet, ns; 0 if all qdiscs have one
 *	lock, since another sum then costs little
 * @list: member of the list of all ports; this and all members below: under RTNL
 * @ops: kind of the qdiscs
 * @dev: the port's device
 * @key: identifies a port among those of the same kind on the same device
 * @users: number of references
 */
struct hop_port {
	spinlock_t lock; /* protects the sum; taken once in an interval */
	struct list_head queues;
	u64 base_bytes;
	atomic64_t summed_ns;
	u64 stale_ns;
	struct list_head list;
	const struct Qdisc_ops *ops;
	const struct net_device *dev;
	u64 key;
	unsigned int users;
};

/**
 * struct hop_port_queue - one qdisc's part of its port
 * @sent_bytes: bytes on the wire that the qdisc sent, or another sum that its kind counts;
 *	written under the qdisc's lock, read by any CPU
 * @port: the shared port; NULL if the qdisc is a port by itself; changed under the tree lock
 * @sch: the qdisc
 * @list: member of struct hop_port.queues; this and the next three: under the port's lock
 * @seen_bytes: @sent_bytes as of the last sum
 * @seen_backlog_bytes: backlog of the qdisc as of the last sum
 * @seen_backlog_pkts: number of packets in that backlog
 * @others_bytes: bytes of the port's other qdiscs and its base, as of the last sum; this and the
 *	next two: written by any CPU under the port's lock
 * @others_backlog_bytes: backlog of the port's other qdiscs
 * @others_backlog_pkts: number of packets in that backlog
 */
struct hop_port_queue {
	atomic64_t sent_bytes;
	struct hop_port *port;
	struct Qdisc *sch;
	struct list_head list;
	u64 seen_bytes;
	u32 seen_backlog_bytes;
	u32 seen_backlog_pkts;
	atomic64_t others_bytes;
	atomic64_t others_backlog_bytes;
	atomic_t others_backlog_pkts;
};

bool hop_port_is_of_queue(const struct Qdisc *sch);
bool hop_port_has_ring(const struct Qdisc *sch);
struct hop_port *hop_port_get(const struct Qdisc *sch, u64 key, size_t bytes);
void hop_port_put(struct hop_port *port);
void hop_port_use(struct hop_port_queue *queue, struct hop_port *port);
u64 hop_port_sum(const struct hop_port *port);
void hop_port_report(struct hop_port *port, u64 now_ns);
u64 hop_port_total_bytes(struct hop_port_queue *queue);
u32 hop_port_qdiscs(const struct hop_port_queue *queue);

/**
 * hop_port_count() - count a packet that leaves
 * @queue: the qdisc's part of the port
 * @bytes: the packet's size, bytes on the wire
 *
 * Context: under the qdisc's lock.
 * Return: bytes that the qdisc had sent before.
 */
static inline u64 hop_port_count(struct hop_port_queue *queue, u32 bytes)
{
	hop_assert_qdisc_lock(queue->sch);
	/* There is only one writer, so no read-modify-write instruction is needed. */
	const u64 before_bytes = atomic64_read(&queue->sent_bytes);

	atomic64_set(&queue->sent_bytes, before_bytes + bytes);
	return before_bytes;
}

/**
 * hop_port_refresh() - compute the sums over the other qdiscs again if they are too old
 * @queue: a qdisc's part of a shared port
 * @now_ns: current time, by ktime_get_ns()
 *
 * This never waits: if another CPU is computing the sums, the last ones stay.
 *
 * Context: under the qdisc's lock.
 */
static inline void hop_port_refresh(struct hop_port_queue *queue, u64 now_ns)
{
	struct hop_port *port = queue->port;

	hop_assert_qdisc_lock(queue->sch);
	/* The age is negative if another CPU has read the clock after this one. */
	if ((s64)(now_ns - atomic64_read(&port->summed_ns)) >= (s64)port->stale_ns)
		hop_port_report(port, now_ns);
}

/* The driver writes BQL's counters without our lock, so they are read once each. */
static inline void hop_port_add_bql(const struct netdev_queue *txq, struct hop_ring_bql *bql)
{
#ifdef CONFIG_BQL
	bql->completed_bytes += READ_ONCE(txq->dql.num_completed);
	bql->queued_bytes += READ_ONCE(txq->dql.num_queued);
#endif
}

/**
 * hop_port_bql() - read the counters of byte queue limits below a qdisc
 * @sch: a qdisc for which hop_port_has_ring() is true
 * @is_of_queue: hop_port_is_of_queue() is true
 *
 * Context: under the qdisc's lock.
 * Return: those of the qdisc's transmit queue, or the sums over the device's.
 */
static inline struct hop_ring_bql hop_port_bql(const struct Qdisc *sch, bool is_of_queue)
{
	const struct net_device *dev = qdisc_dev(sch);
	struct hop_ring_bql bql = {};
	unsigned int i;

	hop_assert_qdisc_lock(sch);
	if (is_of_queue)
		hop_port_add_bql(sch->dev_queue, &bql);
	for (i = 0; !is_of_queue && i < READ_ONCE(dev->real_num_tx_queues); i++)
		hop_port_add_bql(netdev_get_tx_queue(dev, i), &bql);
	bql.is_used = bql.queued_bytes;
	return bql;
}

/**
 * hop_port_look_stopped() - see if the driver has stopped the queue of a packet that arrives
 * @ring: the qdisc's ring
 * @sch: the qdisc, for which hop_port_has_ring() is true
 * @skb: the packet
 *
 * Context: under the qdisc's lock.
 */
static inline void hop_port_look_stopped(struct hop_ring *ring, const struct Qdisc *sch,
					 const struct sk_buff *skb)
{
	hop_assert_qdisc_lock(sch);
	if (netif_xmit_stopped(skb_get_tx_queue(qdisc_dev(sch), skb)))
		hop_ring_stopped(ring);
}

#endif /* HOPCC_CORE_HOP_PORT_H */
