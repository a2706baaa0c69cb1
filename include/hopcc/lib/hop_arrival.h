/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The time at which a packet arrived at its port. All our nested qdiscs of a device share one
 * mark per packet (hopcc/lib/hop_mark.h). It is in skb->cb[40..47], behind struct tc_skb_cb, where
 * a child's filters keep the result of connection tracking.
 *
 * A child that segments GSO packets overwrites the mark, and so do BPF filters (struct
 * bpf_skb_data_end): then the time is not known. A mark of one device is not valid on another.
 */
#ifndef HOPCC_LIB_HOP_ARRIVAL_H
#define HOPCC_LIB_HOP_ARRIVAL_H

#include <linux/skbuff.h>
#include <hopcc/lib/hop_lock.h>
#include <hopcc/lib/hop_mark.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>

#define HOP_ARRIVAL_CB_OFFSET 40

static_assert(sizeof(struct qdisc_skb_cb) <= HOP_ARRIVAL_CB_OFFSET);
static_assert(sizeof(struct tc_skb_cb) <= HOP_ARRIVAL_CB_OFFSET);
static_assert(HOP_ARRIVAL_CB_OFFSET + sizeof(u64) <= sizeof_field(struct sk_buff, cb));

/* The random secret of all marks of this machine. */
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
 * hop_arrival_note() - store the time at which a packet arrives
 * @skb: the packet
 * @sch: the qdisc
 * @user: the user that needs the time later
 *
 * Context: under the qdisc's lock, like the other functions in this file.
 */
static inline void hop_arrival_note(struct sk_buff *skb, const struct Qdisc *sch,
				    enum hop_mark_user user)
{
	u64 *mark = hop_arrival_mark(skb);

	hop_assert_qdisc_lock(sch);
	*mark = hop_mark_arrive(*mark, ktime_get_ns(), user, hop_arrival_key(sch));
}

/**
 * hop_arrival_waited_ns() - get the time that a packet has waited
 * @skb: the packet
 * @sch: the qdisc
 * @user: the user that called hop_arrival_note()
 * @now_ns: the current time, by ktime_get_ns()
 *
 * Return: the time since the packet arrived, ns, or HOP_MARK_UNKNOWN_NS.
 */
static inline u64 hop_arrival_waited_ns(struct sk_buff *skb, const struct Qdisc *sch,
					enum hop_mark_user user, u64 now_ns)
{
	return hop_mark_waited_ns(*hop_arrival_mark(skb), now_ns, user, hop_arrival_key(sch));
}

/**
 * hop_arrival_forget() - remove a user from the mark of a packet that leaves
 * @skb: the packet
 * @sch: the qdisc
 * @user: the user; it need not have called hop_arrival_note()
 */
static inline void hop_arrival_forget(struct sk_buff *skb, const struct Qdisc *sch,
				      enum hop_mark_user user)
{
	u64 *mark = hop_arrival_mark(skb);

	*mark = hop_mark_leave(*mark, user, hop_arrival_key(sch));
}

/**
 * hop_arrival_take() - hop_arrival_waited_ns() and hop_arrival_forget() in one call
 * @skb: the packet
 * @sch: the qdisc
 * @user: the user that called hop_arrival_note()
 * @now_ns: the current time, by ktime_get_ns()
 *
 * Return: the time that the packet waited, ns, or HOP_MARK_UNKNOWN_NS.
 */
static inline u64 hop_arrival_take(struct sk_buff *skb, const struct Qdisc *sch,
				   enum hop_mark_user user, u64 now_ns)
{
	return hop_mark_take(hop_arrival_mark(skb), now_ns, user, hop_arrival_key(sch));
}

#endif /* HOPCC_LIB_HOP_ARRIVAL_H */
