/* SPDX-License-Identifier: GPL-2.0 */
/*
 * When did this packet arrive at its port? One time a packet (net/hop_mark.h), for all of
 * ours that are around one another on a device, in skb->cb[40..47]: behind struct
 * tc_skb_cb, where a child's filters keep what connection tracking said.
 *
 * A child that segments overwrites it, and so do filters in BPF (struct bpf_skb_data_end):
 * then it is not known. On another device a mark of this one is none.
 */
#ifndef HOPCC_NET_HOP_ARRIVAL_H
#define HOPCC_NET_HOP_ARRIVAL_H

#include <linux/skbuff.h>
#include <net/hop_mark.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>

#define HOP_ARRIVAL_CB_OFFSET 40

static_assert(sizeof(struct qdisc_skb_cb) <= HOP_ARRIVAL_CB_OFFSET);
static_assert(sizeof(struct tc_skb_cb) <= HOP_ARRIVAL_CB_OFFSET);
static_assert(HOP_ARRIVAL_CB_OFFSET + sizeof(u64) <= sizeof_field(struct sk_buff, cb));

/* Of all marks of this machine; random. */
extern u64 hop_arrival_secret;

static inline u64 *hop_arrival_mark(struct sk_buff *skb)
{
	return (u64 *)(skb->cb + HOP_ARRIVAL_CB_OFFSET);
}

static inline u64 hop_arrival_key(const struct Qdisc *sch)
{
	return hop_arrival_secret ^ (unsigned long)qdisc_dev(sch);
}

/**
 * hop_arrival_note() - a packet arrives
 * @skb: the packet
 * @sch: where
 * @user: who will want to know
 *
 * Context: under the qdisc's lock, as all of these.
 */
static inline void hop_arrival_note(struct sk_buff *skb, const struct Qdisc *sch,
				    enum hop_mark_user user)
{
	u64 *mark = hop_arrival_mark(skb);

	*mark = hop_mark_arrive(*mark, ktime_get_ns(), user, hop_arrival_key(sch));
}

/**
 * hop_arrival_waited_ns() - how long has a packet been here?
 * @skb: the packet
 * @sch: where
 * @user: of hop_arrival_note()
 * @now_ns: of ktime_get_ns()
 *
 * Return: that, or HOP_MARK_UNKNOWN_NS.
 */
static inline u64 hop_arrival_waited_ns(struct sk_buff *skb, const struct Qdisc *sch,
					enum hop_mark_user user, u64 now_ns)
{
	return hop_mark_waited_ns(*hop_arrival_mark(skb), now_ns, user, hop_arrival_key(sch));
}

/**
 * hop_arrival_forget() - a packet leaves
 * @skb: the packet
 * @sch: where
 * @user: of hop_arrival_note(), which may not have been called
 */
static inline void hop_arrival_forget(struct sk_buff *skb, const struct Qdisc *sch,
				      enum hop_mark_user user)
{
	u64 *mark = hop_arrival_mark(skb);

	*mark = hop_mark_leave(*mark, user, hop_arrival_key(sch));
}

/**
 * hop_arrival_take() - hop_arrival_waited_ns() and hop_arrival_forget() of a packet that leaves
 * @skb: the packet
 * @sch: the qdisc
 * @user: the user that called hop_arrival_note()
 * @now_ns: result of ktime_get_ns()
 *
 * Return: the time that the packet waited, ns, or HOP_MARK_UNKNOWN_NS.
 */
static inline u64 hop_arrival_take(struct sk_buff *skb, const struct Qdisc *sch,
				   enum hop_mark_user user, u64 now_ns)
{
	return hop_mark_take(hop_arrival_mark(skb), now_ns, user, hop_arrival_key(sch));
}

#endif /* HOPCC_NET_HOP_ARRIVAL_H */
