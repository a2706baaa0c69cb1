/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The common part of classful qdiscs that wrap one child qdisc or two.
 *
 * A qdisc that wraps one child puts struct hop_child first in its private data,
 * &hop_child_class_ops in its ops, and calls the functions below. The child is
 * class <handle>:1; tc may replace it by any qdisc. By default it is a byte fifo.
 *
 * A second child, class <handle>:2, is made with hop_child_create() and adopted with
 * hop_child_adopt(). Functions whose names end in _at take the index of the child. The
 * wrapper decides which child is served next, and its peek and its dequeue must agree on
 * that. The second child stays until the wrapper is destroyed.
 *
 * Accounting: a packet counts in the wrapper's qlen and backlog from enqueue until
 * hop_child_dequeue(), in wire bytes (qdisc_pkt_len). If the child drops a queued packet
 * by itself, it subtracts it from its parents by qdisc_tree_reduce_backlog(), as any
 * child does.
 *
 * peek() returns the child's packet, and dequeue() takes the packet that was peeked. So a
 * wrapper that writes to a packet on departure does so when the packet really departs.
 */
#ifndef HOPCC_CORE_HOP_CHILD_H
#define HOPCC_CORE_HOP_CHILD_H

#include <linux/rtnetlink.h>
#include <hopcc/lib/hop_lock.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>

#define HOP_CHILDREN_MAX 2

/**
 * struct hop_child - the children of a wrapper; must be the first member of qdisc_priv()
 * @qdisc: the first child, never NULL, and the second one, NULL if there is none; changed
 *	under the tree lock
 */
struct hop_child {
	struct Qdisc *qdisc[HOP_CHILDREN_MAX];
};

/* Class operations: graft, leaf, find, walk and dump. */
extern const struct Qdisc_class_ops hop_child_class_ops;

void hop_child_prepare(struct Qdisc *sch);
int hop_child_init(struct Qdisc *sch, u32 limit_bytes, struct netlink_ext_ack *extack);
struct Qdisc *hop_child_create(struct Qdisc *sch, int index, u32 limit_bytes,
			       struct netlink_ext_ack *extack);
void hop_child_reset(struct Qdisc *sch);
void hop_child_destroy(struct Qdisc *sch);

int hop_child_enqueue_list(struct sk_buff *skb, struct sk_buff *segs, struct Qdisc *sch,
			   struct sk_buff **to_free);

/**
 * hop_child_at() - get one of a wrapper's children
 * @sch: the wrapper
 * @index: 0 for the first child, 1 for the second
 *
 * Context: under the qdisc's lock or RTNL.
 * Return: the child; NULL if there is no second child.
 */
static inline struct Qdisc *hop_child_at(const struct Qdisc *sch, int index)
{
	const struct hop_child *child = (const void *)sch->privdata;

	if (IS_ENABLED(CONFIG_LOCKDEP) && !lockdep_rtnl_is_held())
		hop_assert_qdisc_lock(sch);
	return child->qdisc[index];
}

/**
 * hop_child_of() - get the first child of a wrapper
 * @sch: the wrapper
 *
 * Context: as hop_child_at().
 * Return: the child.
 */
static inline struct Qdisc *hop_child_of(const struct Qdisc *sch)
{
	return hop_child_at(sch, 0);
}

/**
 * hop_child_adopt() - give a wrapper its second child
 * @sch: the wrapper, which has only one child
 * @second: the child that hop_child_create() made for index 1
 *
 * Context: under the tree lock.
 */
static inline void hop_child_adopt(struct Qdisc *sch, struct Qdisc *second)
{
	struct hop_child *child = qdisc_priv(sch);

	hop_assert_qdisc_lock(sch);
	child->qdisc[1] = second;
}

/**
 * hop_child_enqueue_at() - enqueue a packet in a child and account it
 * @skb: the packet
 * @sch: the wrapper
 * @index: the child's index; the child must exist
 * @to_free: list of the packets that were dropped
 *
 * Context: under the qdisc's lock.
 * Return: the child's result, NET_XMIT_*.
 */
static inline int hop_child_enqueue_at(struct sk_buff *skb, struct Qdisc *sch, int index,
				       struct sk_buff **to_free)
{
	hop_assert_qdisc_lock(sch);
	/* The child may free the packet or change its length. */
	unsigned int len_bytes = qdisc_pkt_len(skb);
	int ret = qdisc_enqueue(skb, hop_child_at(sch, index), to_free);

	if (ret != NET_XMIT_SUCCESS) {
		if (net_xmit_drop_count(ret))
			qdisc_qstats_drop(sch);
		return ret;
	}
	sch->qstats.backlog += len_bytes;
	qdisc_qlen_inc(sch);
	return NET_XMIT_SUCCESS;
}

/**
 * hop_child_enqueue() - enqueue a packet in the first child and account it
 * @skb: the packet
 * @sch: the wrapper
 * @to_free: list of the packets that were dropped
 *
 * Context: under the qdisc's lock.
 * Return: the child's result, NET_XMIT_*.
 */
static inline int hop_child_enqueue(struct sk_buff *skb, struct Qdisc *sch,
				    struct sk_buff **to_free)
{
	hop_assert_qdisc_lock(sch);
	return hop_child_enqueue_at(skb, sch, 0, to_free);
}

/**
 * hop_child_peek() - get the packet that the next dequeue will return
 * @sch: the wrapper
 *
 * Context: under the qdisc's lock.
 * Return: the packet, still queued, or NULL.
 */
static inline struct sk_buff *hop_child_peek(struct Qdisc *sch)
{
	struct Qdisc *child = hop_child_of(sch);

	hop_assert_qdisc_lock(sch);
	return child->ops->peek(child);
}

/**
 * hop_child_take() - dequeue the head of the first child, without accounting
 * @sch: the wrapper
 *
 * This is for a wrapper that still holds the packet afterwards. It calls hop_child_leave()
 * when the packet departs. NULL does not mean that the child is empty: the child may be
 * throttled, and its own timer then schedules the root qdisc again.
 *
 * Context: under the qdisc's lock.
 * Return: the packet, or NULL.
 */
static inline struct sk_buff *hop_child_take(struct Qdisc *sch)
{
	hop_assert_qdisc_lock(sch);
	return qdisc_dequeue_peeked(hop_child_of(sch));
}

/**
 * hop_child_leave() - account a packet that leaves the wrapper towards the device
 * @sch: the wrapper
 * @skb: the packet
 *
 * Context: under the qdisc's lock.
 */
static inline void hop_child_leave(struct Qdisc *sch, struct sk_buff *skb)
{
	hop_assert_qdisc_lock(sch);
	qdisc_qstats_backlog_dec(sch, skb);
	qdisc_qlen_dec(sch);
	qdisc_bstats_update(sch, skb);
}

/**
 * hop_child_dequeue() - dequeue the head of the first child and account it
 * @sch: the wrapper
 *
 * Context: under the qdisc's lock.
 * Return: the packet, or NULL.
 */
static inline struct sk_buff *hop_child_dequeue(struct Qdisc *sch)
{
	struct sk_buff *skb = hop_child_take(sch);

	hop_assert_qdisc_lock(sch);
	if (skb)
		hop_child_leave(sch, skb);
	return skb;
}

#endif /* HOPCC_CORE_HOP_CHILD_H */
