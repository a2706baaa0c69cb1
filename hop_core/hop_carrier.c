// SPDX-License-Identifier: GPL-2.0
/* State that net_int, net_xcp and net_csig_tag share; see hopcc/core/hop_carrier.h. */

#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <hopcc/core/hop_carrier.h>
#include <hopcc/core/hop_filter.h>
#include <net/netns/generic.h>

static struct hop_carrier_net *hop_carrier_of(const struct hop_flow_key *key)
{
	return net_generic(key->net, *key->carrier->net_id);
}

static unsigned long hop_carrier_sum_of(const unsigned long __percpu *counts, unsigned int count)
{
	unsigned long sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		/* Each CPU may meanwhile write its own counter by this_cpu_add(). */
		sum += READ_ONCE(per_cpu_ptr(counts, cpu)[count]);
	return sum;
}

/* The carrier's counters and then the flow table's, one per line */
static int hop_carrier_show(struct seq_file *seq, void *unused)
{
	const struct hop_carrier_net *cn = pde_data(file_inode(seq->file));
	unsigned int i;

	for (i = 0; i < cn->carrier->counts; i++)
		if (cn->carrier->names[i])
			seq_printf(seq, "%s %lu\n", cn->carrier->names[i],
				   hop_carrier_sum_of(cn->counts, i));
	hop_flow_show(seq);
	return 0;
}

int hop_carrier_start(struct net *net, const struct hop_carrier *carrier)
{
	struct hop_carrier_net *cn = net_generic(net, *carrier->net_id);
	int err = -ENOMEM;

	cn->net = net;
	cn->carrier = carrier;
	cn->unsupported_s = HOP_RECENT_DEFAULT_S;
	spin_lock_init(&cn->unsupported.lock);
	spin_lock_init(&cn->passed.lock);
	cn->counts = __alloc_percpu(carrier->counts * sizeof(unsigned long), sizeof(unsigned long));
	if (!cn->counts)
		return err;
	if (!proc_create_net_single(carrier->file, 0444, net->proc_net, hop_carrier_show, cn))
		goto no_proc;
	err = hop_sysctl_start(net, &cn->sysctl, carrier->table, cn);
	if (!err)
		return 0;
	remove_proc_entry(carrier->file, net->proc_net);
no_proc:
	free_percpu(cn->counts);
	return err;
}
EXPORT_SYMBOL_GPL(hop_carrier_start);

void hop_carrier_stop(struct hop_carrier_net *cn)
{
	remove_proc_entry(cn->carrier->file, cn->net->proc_net);
	free_percpu(cn->counts);
}
EXPORT_SYMBOL_GPL(hop_carrier_stop);

/* Traces and counts the step, and remembers a peer without support. */
static void hop_carrier_note_stage(const struct hop_flow *flow, enum hop_stage from,
				   enum hop_event event, enum hop_stage to)
{
	struct hop_carrier_net *cn = hop_carrier_of(&flow->key);

	cn->carrier->trace(&flow->key, event, from, to);
	if (to == HOP_STAGE_SUPPORTED)
		hop_carrier_count(cn, HOP_COUNT_SUPPORTED);
	if (to != HOP_STAGE_UNSUPPORTED || event == HOP_EVENT_HIDDEN)
		return;
	hop_carrier_count(cn, HOP_COUNT_UNSUPPORTED);
	hop_recent_add(&cn->unsupported, &flow->key.peer, READ_ONCE(cn->unsupported_s));
	hop_carrier_forget_passed(flow);
}

enum hop_stage hop_flow_event(struct hop_flow *flow, enum hop_event event)
{
	enum hop_stage from = hop_flow_stage(flow), to;

	lockdep_assert_in_rcu_read_lock();
	do {
		to = hop_next_stage(from, event);
	} while (from != to && !try_cmpxchg(&flow->stage, &from, to));
	if (from != to)
		hop_carrier_note_stage(flow, from, event, to);
	return to;
}
EXPORT_SYMBOL_GPL(hop_flow_event);

bool hop_carrier_avoids(const struct hop_flow_key *key)
{
	return hop_recent_has(&hop_carrier_of(key)->unsupported, &key->peer);
}
EXPORT_SYMBOL_GPL(hop_carrier_avoids);

void hop_carrier_count_at(const struct hop_flow_key *key, unsigned int count)
{
	hop_carrier_count(hop_carrier_of(key), count);
}

bool hop_carrier_hides(const struct hop_carrier_net *cn, unsigned int on,
		       const struct sk_buff *skb, const struct nf_hook_state *state)
{
	lockdep_assert_in_rcu_read_lock();
	if (on == HOP_FILTER_TRUST || !hop_filter_misses_output(skb, state))
		return false;
	hop_carrier_count(cn, HOP_COUNT_OUT_HIDDEN);
	return true;
}
EXPORT_SYMBOL_GPL(hop_carrier_hides);

void hop_carrier_note_passed(struct hop_flow *flow)
{
	/* Called for each header: avoid the write and the lock for all but the first. */
	if (test_bit(HOP_FLOW_PASSED, &flow->flags))
		return;
	set_bit(HOP_FLOW_PASSED, &flow->flags);
	hop_recent_add(&hop_carrier_of(&flow->key)->passed, &flow->key.peer, HOP_RECENT_DEFAULT_S);
}
EXPORT_SYMBOL_GPL(hop_carrier_note_passed);

void hop_carrier_forget_passed(const struct hop_flow *flow)
{
	hop_recent_add(&hop_carrier_of(&flow->key)->passed, &flow->key.peer, 0);
}
EXPORT_SYMBOL_GPL(hop_carrier_forget_passed);

bool hop_carrier_passes(const struct hop_flow *flow)
{
	return test_bit(HOP_FLOW_PASSED, &flow->flags) ||
	       hop_recent_has(&hop_carrier_of(&flow->key)->passed, &flow->key.peer);
}
EXPORT_SYMBOL_GPL(hop_carrier_passes);
