/* SPDX-License-Identifier: GPL-2.0 */
/* Assertions on locks that the kernel has no function for. */
#ifndef HOPCC_LIB_HOP_LOCK_H
#define HOPCC_LIB_HOP_LOCK_H

#include <linux/lockdep.h>
#include <net/sch_generic.h>

/**
 * hop_assert_qdisc_lock() - check that the lock of a qdisc's tree is held
 * @sch: the qdisc
 *
 * The lock is that of the qdisc at the root: the core holds it while packets enter and leave any
 * qdisc below, and sch_tree_lock() takes it. While a device is shut down, dev_queue->qdisc already
 * points to another qdisc when the last packets leave; qdisc_sleeping does not.
 */
static inline void hop_assert_qdisc_lock(const struct Qdisc *sch)
{
	/* Without lockdep the pointer would be read for nothing. */
	if (IS_ENABLED(CONFIG_LOCKDEP)) {
		struct Qdisc *root = rcu_dereference_raw(sch->dev_queue->qdisc_sleeping);

		lockdep_assert_held(qdisc_lock(root));
	}
}

#endif /* HOPCC_LIB_HOP_LOCK_H */
