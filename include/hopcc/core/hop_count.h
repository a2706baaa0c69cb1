/* SPDX-License-Identifier: GPL-2.0 */
/* The counters of a carrier in a network namespace, as /proc/net/hopcc_* shows them. */
#ifndef HOPCC_CORE_HOP_COUNT_H
#define HOPCC_CORE_HOP_COUNT_H

#include <linux/percpu.h>
#include <hopcc/lib/hop_discover.h>

struct seq_file;

/**
 * struct hop_stage_counts - the counters of a carrier for results of discovery
 * @supported: index of the counter of connections whose peer supports the carrier's headers
 * @unsupported: index of the counter of connections whose peer does not
 * @reset: index of the counter of those that were reset after they had negotiated headers
 */
struct hop_stage_counts {
	unsigned int supported;
	unsigned int unsupported;
	unsigned int reset;
};

/**
 * hop_count_stage() - count the result of discovery
 * @counts: the carrier's counters
 * @which: those to be used
 * @event: the event that changed the stage of discovery
 * @to: the stage after it
 *
 * Context: any.
 */
void hop_count_stage(unsigned long __percpu *counts, const struct hop_stage_counts *which,
		     enum hop_event event, enum hop_stage to);

/**
 * hop_counts_show() - show a carrier's counters and then the flow table's, one per line
 * @seq: the file that proc_create_net_single() made
 * @counts: the carrier's counters
 * @names: names of the counters; a counter without a name (NULL) is not shown
 * @n: number of counters
 *
 * Context: process.
 */
void hop_counts_show(struct seq_file *seq, const unsigned long __percpu *counts,
		     const char * const *names, unsigned int n);

/**
 * hop_flow_counts_show() - show the counters of the flow table, one per line
 * @seq: the file that proc_create_net_single() made
 *
 * Context: process.
 */
void hop_flow_counts_show(struct seq_file *seq);

#endif /* HOPCC_CORE_HOP_COUNT_H */
