// SPDX-License-Identifier: GPL-2.0
/* Counters; see hopcc/core/hop_count.h. */

#include <linux/module.h>
#include <linux/seq_file.h>
#include <hopcc/core/hop_count.h>
#include <hopcc/core/hop_flow.h>

static unsigned long hop_count_sum_of(const unsigned long __percpu *counts, unsigned int count)
{
	unsigned long sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		/* Each CPU may meanwhile write its own counter by this_cpu_add(). */
		sum += READ_ONCE(per_cpu_ptr(counts, cpu)[count]);
	return sum;
}

void hop_count_stage(unsigned long __percpu *counts, const struct hop_stage_counts *which,
		     enum hop_event event, enum hop_stage to)
{
	if (to == HOP_STAGE_SUPPORTED)
		this_cpu_inc(counts[which->supported]);
	if (hop_is_given_up(to) && hop_is_of_peer(event))
		this_cpu_inc(counts[which->unsupported]);
	if (event == HOP_EVENT_RESET)
		this_cpu_inc(counts[which->reset]);
}
EXPORT_SYMBOL_GPL(hop_count_stage);

void hop_flow_counts_show(struct seq_file *seq)
{
	const struct hop_flow_counts counts = hop_flow_count(seq_file_single_net(seq));

	seq_printf(seq, "flows %u\nflows_half_open %u\nflows_evicted %llu\nflows_walked %llu\n",
		   counts.flows, counts.half_open, counts.evicted, counts.walked);
	seq_printf(seq, "flows_refused %llu\nflows_refused_max %llu\nflows_refused_memory %llu\n",
		   counts.refused, counts.refused_max, counts.refused_memory);
}
EXPORT_SYMBOL_GPL(hop_flow_counts_show);

void hop_counts_show(struct seq_file *seq, const unsigned long __percpu *counts,
		     const char * const *names, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (names[i])
			seq_printf(seq, "%s %lu\n", names[i], hop_count_sum_of(counts, i));
	hop_flow_counts_show(seq);
}
EXPORT_SYMBOL_GPL(hop_counts_show);
