// SPDX-License-Identifier: GPL-2.0
/* The common part of classful qdiscs that wrap one child or two; see hopcc/core/hop_child.h. */

#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <hopcc/lib/hop_arrival.h>
#include <hopcc/core/hop_child.h>

/* A default fifo must have room for one GSO packet at least, or it would drop all of them. */
#define HOP_CHILD_LIMIT_MIN_BYTES 65536

u64 hop_arrival_secret __read_mostly;
EXPORT_SYMBOL_GPL(hop_arrival_secret);

static struct hop_child *hop_child(struct Qdisc *sch)
{
	return qdisc_priv(sch);
}

/* Class 1 is the first child, class 2 the second. */
#define HOP_CHILD_CLASS(index)	((index) + 1)
#define HOP_CHILD_INDEX(class)	((class) - 1)

/**
 * hop_child_prepare() - make a wrapper safe to destroy
 * @sch: the wrapper
 *
 * A wrapper's init() must call this first, since the core calls destroy() after a failed init().
 */
void hop_child_prepare(struct Qdisc *sch)
{
	hop_child(sch)->qdisc[0] = &noop_qdisc;
	hop_child(sch)->qdisc[1] = NULL;
}
EXPORT_SYMBOL_GPL(hop_child_prepare);

/**
 * hop_child_create() - make a default child, a byte fifo
 * @sch: the wrapper
 * @index: index of the child
 * @limit_bytes: the fifo's limit; 0 for the device's tx_queue_len full frames
 * @extack: receives the message of a failure
 *
 * The fifo is visible to tc, so that a user can see where packets wait.
 *
 * Context: process, RTNL held.
 * Return: the child, for hop_child_adopt() or qdisc_put(); or an error of creating the fifo.
 */
struct Qdisc *hop_child_create(struct Qdisc *sch, int index, u32 limit_bytes,
			       struct netlink_ext_ack *extack)
{
	const struct net_device *dev = qdisc_dev(sch);
	struct Qdisc *fifo;

	ASSERT_RTNL();
	if (!limit_bytes)
		limit_bytes = clamp_t(u64, (u64)dev->tx_queue_len * psched_mtu(dev),
				      HOP_CHILD_LIMIT_MIN_BYTES, U32_MAX);
	fifo = fifo_create_dflt(sch, &bfifo_qdisc_ops, limit_bytes, extack);
	if (IS_ERR(fifo))
		return fifo;
	/* The fifo reports packets that it drops by itself to the class named here. */
	fifo->parent = TC_H_MAKE(sch->handle, HOP_CHILD_CLASS(index));
	qdisc_hash_add(fifo, false);
	return fifo;
}
EXPORT_SYMBOL_GPL(hop_child_create);

/**
 * hop_child_init() - give a wrapper its default child, a byte fifo
 * @sch: the wrapper, after hop_child_prepare()
 * @limit_bytes: the fifo's limit; 0 for the device's tx_queue_len full frames
 * @extack: receives the message of a failure
 *
 * Context: process, RTNL held.
 * Return: 0, or the error of creating the fifo.
 */
int hop_child_init(struct Qdisc *sch, u32 limit_bytes, struct netlink_ext_ack *extack)
{
	struct Qdisc *fifo = hop_child_create(sch, 0, limit_bytes, extack);

	ASSERT_RTNL();
	if (IS_ERR(fifo))
		return PTR_ERR(fifo);
	hop_child(sch)->qdisc[0] = fifo;
	return 0;
}
EXPORT_SYMBOL_GPL(hop_child_init);

/**
 * hop_child_reset() - drop all packets that the children hold
 * @sch: the wrapper
 *
 * The core clears the wrapper's own counts. Context: as qdisc_reset().
 */
void hop_child_reset(struct Qdisc *sch)
{
	qdisc_reset(hop_child_at(sch, 0));
	if (hop_child_at(sch, 1))
		qdisc_reset(hop_child_at(sch, 1));
}
EXPORT_SYMBOL_GPL(hop_child_reset);

/**
 * hop_child_destroy() - release the children
 * @sch: the wrapper
 *
 * Context: process, RTNL held.
 */
void hop_child_destroy(struct Qdisc *sch)
{
	ASSERT_RTNL();
	qdisc_put(hop_child_at(sch, 0));
	qdisc_put(hop_child_at(sch, 1));
}
EXPORT_SYMBOL_GPL(hop_child_destroy);

/**
 * hop_child_enqueue_list() - enqueue the segments of a GSO packet in the child
 * @skb: the GSO packet
 * @segs: its segments, the result of skb_gso_segment()
 * @sch: the wrapper
 * @to_free: list of the packets that were dropped
 *
 * If we return success, the parents count one packet of @skb's length. This function corrects
 * their counts by the difference to the packets and bytes that were queued.
 *
 * Context: under the qdisc's lock.
 * Return: NET_XMIT_SUCCESS if a segment was queued, else NET_XMIT_DROP.
 */
int hop_child_enqueue_list(struct sk_buff *skb, struct sk_buff *segs, struct Qdisc *sch,
			   struct sk_buff **to_free)
{
	unsigned int whole_bytes = qdisc_pkt_len(skb), queued_bytes = 0;
	struct sk_buff *next;
	int queued_pkts = 0;

	hop_assert_qdisc_lock(sch);
	if (IS_ERR_OR_NULL(segs))
		return qdisc_drop(skb, sch, to_free);

	skb_list_walk_safe(segs, segs, next) {
		unsigned int len_bytes = segs->len;

		skb_mark_not_on_list(segs);
		compat_set_pkt_len(segs, len_bytes, 1);
		if (hop_child_enqueue(segs, sch, to_free) != NET_XMIT_SUCCESS)
			continue;
		queued_pkts++;
		queued_bytes += len_bytes;
	}
	if (!queued_pkts) {
		kfree_skb(skb);
		return NET_XMIT_DROP;
	}
	qdisc_tree_reduce_backlog(sch, 1 - queued_pkts, whole_bytes - queued_bytes);
	consume_skb(skb);
	return NET_XMIT_SUCCESS;
}
EXPORT_SYMBOL_GPL(hop_child_enqueue_list);

static int hop_child_graft(struct Qdisc *sch, unsigned long class, struct Qdisc *new,
			   struct Qdisc **old, struct netlink_ext_ack *extack)
{
	struct Qdisc **child = &hop_child(sch)->qdisc[HOP_CHILD_INDEX(class)];

	*old = qdisc_replace(sch, new ?: &noop_qdisc, child);
	return 0;
}

static struct Qdisc *hop_child_leaf(struct Qdisc *sch, unsigned long class)
{
	return hop_child_at(sch, HOP_CHILD_INDEX(class));
}

static unsigned long hop_child_find(struct Qdisc *sch, u32 classid)
{
	const u32 class = TC_H_MIN(classid);

	if (!class || class > HOP_CHILDREN_MAX || !hop_child_at(sch, HOP_CHILD_INDEX(class)))
		return 0;
	return class;
}

static void hop_child_walk(struct Qdisc *sch, struct qdisc_walker *walker)
{
	int index;

	for (index = 0; index < HOP_CHILDREN_MAX; index++)
		if (hop_child_at(sch, index) && !walker->stop)
			tc_qdisc_stats_dump(sch, HOP_CHILD_CLASS(index), walker);
}

static int hop_child_dump_class(struct Qdisc *sch, unsigned long class,
				struct sk_buff *skb, struct tcmsg *tcm)
{
	tcm->tcm_handle |= TC_H_MIN(class);
	tcm->tcm_info = hop_child_leaf(sch, class)->handle;
	return 0;
}

static int hop_child_dump_class_stats(struct Qdisc *sch, unsigned long class,
				      struct gnet_dump *dump)
{
	struct Qdisc *child = hop_child_leaf(sch, class);

	if (gnet_stats_copy_basic(dump, NULL, &child->bstats, true) < 0 ||
	    qdisc_qstats_copy(dump, child) < 0)
		return -1;
	return 0;
}

const struct Qdisc_class_ops hop_child_class_ops = {
	.graft = hop_child_graft,
	.leaf = hop_child_leaf,
	.find = hop_child_find,
	.walk = hop_child_walk,
	.dump = hop_child_dump_class,
	.dump_stats = hop_child_dump_class_stats,
};
EXPORT_SYMBOL_GPL(hop_child_class_ops);
