/* SPDX-License-Identifier: GPL-2.0 */
/* The counters of a carrier in a network namespace, as /proc/net/hopcc_* shows them. */
#ifndef HOPCC_CORE_HOP_COUNT_H
#define HOPCC_CORE_HOP_COUNT_H

#include <linux/percpu.h>

struct seq_file;

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
