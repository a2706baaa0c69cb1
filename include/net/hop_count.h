/* SPDX-License-Identifier: GPL-2.0 */
/* A carrier's counters of a netns, as /proc/net/hopcc_* shows them. */
#ifndef HOPCC_NET_HOP_COUNT_H
#define HOPCC_NET_HOP_COUNT_H

#include <linux/percpu.h>

struct seq_file;

/**
 * hop_counts_show() - show counters, one a line, and those of the flow table behind them
 * @seq: of proc_create_net_single()
 * @counts: the counters
 * @names: their names; one without a name is not shown
 * @n: their number
 *
 * Context: process.
 */
void hop_counts_show(struct seq_file *seq, const unsigned long __percpu *counts,
		     const char * const *names, unsigned int n);

/**
 * hop_flow_counts_show() - show the counters of the flow table, one a line
 * @seq: the file that proc_create_net_single() made
 *
 * Context: process.
 */
void hop_flow_counts_show(struct seq_file *seq);

#endif /* HOPCC_NET_HOP_COUNT_H */
