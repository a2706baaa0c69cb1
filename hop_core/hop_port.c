// SPDX-License-Identifier: GPL-2.0
/* One port that several qdiscs send through; see hopcc/core/hop_port.h. */

#include <linux/module.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <hopcc/core/hop_child.h>
#include <hopcc/core/hop_port.h>
#include "hop_port_sum.h"
#include <net/pkt_sched.h>

/* List of all shared ports; under RTNL. */
static LIST_HEAD(hop_ports);

static bool hop_port_has_mq(const struct net_device *dev)
{
	return rtnl_dereference(dev->qdisc)->flags & TCQ_F_MQROOT;
}

/* Return: true if @sch is below qdiscs that wrap one child, and else only below mq */
static bool hop_port_is_wrapped(const struct Qdisc *sch)
{
	const struct Qdisc *above = qdisc_root_sleeping(sch);

	while (above->ops->cl_ops == &hop_child_class_ops) {
		if (above->handle == TC_H_MAJ(sch->parent))
			return true;
		above = hop_child_of(above);
	}
	return false;
}

/**
 * hop_port_is_of_queue() - does a qdisc get all packets of one transmit queue?
 * @sch: the qdisc; its init() may be the caller
 *
 * If so, the device is the port, which the qdiscs of the other queues share. A qdisc below a
 * scheduler or a shaper belongs to a class, whose rate is not the device's.
 *
 * Context: process, RTNL held.
 * Return: true if the qdisc is below mq or mqprio, without anything between them but our own
 * qdiscs that wrap one child.
 */
bool hop_port_is_of_queue(const struct Qdisc *sch)
{
	const struct net_device *dev = qdisc_dev(sch);

	ASSERT_RTNL();
	/* mq makes its queues' default qdiscs, without handles, before mq itself is attached. */
	if (!sch->handle)
		return netif_is_multiqueue(dev) && sch->parent != TC_H_ROOT &&
		       TC_H_MIN(sch->parent) == sch->dev_queue - dev->_tx + 1;
	if (!hop_port_has_mq(dev))
		return false;
	return TC_H_MAJ(sch->parent) == rtnl_dereference(dev->qdisc)->handle ||
	       hop_port_is_wrapped(sch);
}
EXPORT_SYMBOL_GPL(hop_port_is_of_queue);

/**
 * hop_port_has_ring() - does a qdisc hand its packets to a hardware device's driver?
 * @sch: the qdisc; its init() may be the caller
 *
 * A qdisc below a scheduler or a shaper does not decide when the driver gets a packet. A virtual
 * device has no ring: it forwards packets at once.
 *
 * Context: process, RTNL held.
 * Return: true if nothing but our own qdiscs that wrap one child is between @sch and the device or
 * its transmit queue, and if the device is hardware.
 */
bool hop_port_has_ring(const struct Qdisc *sch)
{
	ASSERT_RTNL();
	if (!qdisc_dev(sch)->dev.parent)
		return false;
	return sch->parent == TC_H_ROOT || hop_port_is_of_queue(sch) || hop_port_is_wrapped(sch);
}
EXPORT_SYMBOL_GPL(hop_port_has_ring);

static struct hop_port *hop_port_find(const struct Qdisc *sch, u64 key)
{
	struct hop_port *port;

	list_for_each_entry(port, &hop_ports, list)
		if (port->ops == sch->ops && port->dev == qdisc_dev(sch) && port->key == key)
			return port;
	return NULL;
}

/**
 * hop_port_get() - get a reference to the shared port of a kind of qdisc on a device
 * @sch: a qdisc of that kind on that device
 * @key: identifies the port among those of the same kind on the same device
 * @bytes: size of the structure that starts with struct hop_port; it is zeroed
 *
 * Context: process, RTNL held.
 * Return: the port, to be released by hop_port_put(); NULL if there is no memory.
 */
struct hop_port *hop_port_get(const struct Qdisc *sch, u64 key, size_t bytes)
{
	struct hop_port *port = hop_port_find(sch, key);

	ASSERT_RTNL();
	if (!port) {
		port = kzalloc(bytes, GFP_KERNEL);
		if (!port)
			return NULL;
		spin_lock_init(&port->lock);
		INIT_LIST_HEAD(&port->queues);
		port->ops = sch->ops;
		port->dev = qdisc_dev(sch);
		port->key = key;
		list_add_tail(&port->list, &hop_ports);
	}
	WRITE_ONCE(port->stale_ns, hop_port_is_of_queue(sch) || hop_port_has_mq(port->dev) ?
		   HOP_PORT_STALE_NS : 0);
	port->users++;
	return port;
}
EXPORT_SYMBOL_GPL(hop_port_get);

/**
 * hop_port_put() - release a reference to a port that hop_port_use() has not taken over
 * @port: the port; NULL for none
 *
 * Context: process, RTNL held.
 */
void hop_port_put(struct hop_port *port)
{
	ASSERT_RTNL();
	if (!port || --port->users)
		return;
	list_del(&port->list);
	kfree(port);
}
EXPORT_SYMBOL_GPL(hop_port_put);

/**
 * hop_port_sum() - get the number of bytes that a port has sent
 * @port: the port
 *
 * Context: the port's lock held.
 * Return: bytes on the wire.
 */
u64 hop_port_sum(const struct hop_port *port)
{
	const struct hop_port_queue *queue;
	u64 bytes = port->base_bytes;

	lockdep_assert_held(&port->lock);
	list_for_each_entry(queue, &port->queues, list)
		bytes += atomic64_read(&queue->sent_bytes);
	return bytes;
}
EXPORT_SYMBOL_GPL(hop_port_sum);

/* Store the current counts of each qdisc, which may be sending. Context: the port's lock held. */
static void hop_port_report_locked(struct hop_port *port)
{
	u64 bytes = port->base_bytes, backlog_bytes = 0;
	struct hop_port_queue *queue;
	u32 backlog_pkts = 0;

	lockdep_assert_held(&port->lock);
	list_for_each_entry(queue, &port->queues, list) {
		queue->seen_bytes = atomic64_read(&queue->sent_bytes);
		queue->seen_backlog_bytes = READ_ONCE(queue->sch->qstats.backlog);
		queue->seen_backlog_pkts = READ_ONCE(queue->sch->q.qlen);
		bytes += queue->seen_bytes;
		backlog_bytes += queue->seen_backlog_bytes;
		backlog_pkts += queue->seen_backlog_pkts;
	}
	list_for_each_entry(queue, &port->queues, list) {
		atomic64_set(&queue->others_bytes, bytes - queue->seen_bytes);
		atomic64_set(&queue->others_backlog_bytes,
			     backlog_bytes - queue->seen_backlog_bytes);
		atomic_set(&queue->others_backlog_pkts, backlog_pkts - queue->seen_backlog_pkts);
	}
}

/**
 * hop_port_report() - update each qdisc's sums over the port's other qdiscs
 * @port: the port
 * @now_ns: current time, by ktime_get_ns()
 *
 * If another CPU is updating them at the moment, this does nothing.
 *
 * Context: bottom halves disabled.
 */
void hop_port_report(struct hop_port *port, u64 now_ns)
{
	if (!spin_trylock(&port->lock))
		return;
	atomic64_set(&port->summed_ns, now_ns);
	hop_port_report_locked(port);
	spin_unlock(&port->lock);
}
EXPORT_SYMBOL_GPL(hop_port_report);

/* A qdisc that leaves a shared port continues from the port's count. */
static void hop_port_leave(struct hop_port_queue *queue)
{
	struct hop_port *port = queue->port;
	u64 bytes;

	if (!port)
		return;
	spin_lock_bh(&port->lock);
	bytes = hop_port_sum(port);
	port->base_bytes = hop_port_sum_leave(port->base_bytes,
					      atomic64_read(&queue->sent_bytes));
	list_del(&queue->list);
	hop_port_report_locked(port);
	spin_unlock_bh(&port->lock);
	atomic64_set(&queue->sent_bytes, bytes);
	atomic64_set(&queue->others_bytes, 0);
}

static void hop_port_join(struct hop_port_queue *queue, struct hop_port *port)
{
	if (!port)
		return;
	spin_lock_bh(&port->lock);
	port->base_bytes = hop_port_sum_join(port->base_bytes, atomic64_read(&queue->sent_bytes),
					     list_empty(&port->queues));
	list_add_tail(&queue->list, &port->queues);
	hop_port_report_locked(port);
	spin_unlock_bh(&port->lock);
}

/**
 * hop_port_use() - move a qdisc to another port
 * @queue: the qdisc's part of the port, with its qdisc set
 * @port: the new port, from hop_port_get(), whose reference this takes over; NULL if the qdisc is a
 *	port by itself
 *
 * A qdisc in the tree is moved under the tree lock.
 *
 * Context: process, RTNL held.
 */
void hop_port_use(struct hop_port_queue *queue, struct hop_port *port)
{
	struct hop_port *old = queue->port;

	ASSERT_RTNL();
	if (port != old) {
		hop_port_leave(queue);
		hop_port_join(queue, port);
		queue->port = port;
	}
	hop_port_put(old);
}
EXPORT_SYMBOL_GPL(hop_port_use);

/**
 * hop_port_total_bytes() - get the number of bytes that a qdisc's port has sent until now
 * @queue: the qdisc's part of the port, shared or not
 *
 * Context: under the tree lock.
 * Return: bytes on the wire.
 */
u64 hop_port_total_bytes(struct hop_port_queue *queue)
{
	u64 bytes;

	hop_assert_qdisc_lock(queue->sch);
	if (!queue->port)
		return atomic64_read(&queue->sent_bytes);
	spin_lock_bh(&queue->port->lock);
	bytes = hop_port_sum(queue->port);
	spin_unlock_bh(&queue->port->lock);
	return bytes;
}
EXPORT_SYMBOL_GPL(hop_port_total_bytes);

/**
 * hop_port_qdiscs() - get the number of qdiscs that send through a qdisc's port
 * @queue: the qdisc's part of the port, shared or not
 *
 * Context: under the tree lock; the number may change concurrently.
 * Return: the number, including the qdisc itself.
 */
u32 hop_port_qdiscs(const struct hop_port_queue *queue)
{
	hop_assert_qdisc_lock(queue->sch);
	return queue->port ? READ_ONCE(queue->port->users) : 1;
}
EXPORT_SYMBOL_GPL(hop_port_qdiscs);
