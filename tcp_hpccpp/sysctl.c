// SPDX-License-Identifier: GPL-2.0
/* The sysctls of the sender, net.hopcc.tcp_hpccpp_*. */

#include <net/net_namespace.h>

#include "tcp_hpccpp.h"

atomic_t hpccpp_knob_changes;

static unsigned int hpccpp_eta_min = HPCCPP_ETA_MIN_PPM;
static unsigned int hpccpp_eta_max = HPCC_PPM;
static unsigned int hpccpp_stage_max = HPCCPP_STAGE_MAX;
static unsigned int hpccpp_flows_max = HPCCPP_FLOWS_MAX;
static unsigned int hpccpp_t_max = HPCC_T_MAX_NS;
static unsigned int hpccpp_rate_max = HPCCPP_RATE_MAX_MBIT;
static unsigned int hpccpp_answer_max = INT_ANSWER_WINDOW;

static void hpccpp_count_write(void)
{
	/* The value is written before the count; hpccpp_see() reads them in the opposite order. */
	smp_mb__before_atomic();
	atomic_inc(&hpccpp_knob_changes);
}

static int hpccpp_set_knob(compat_ctl_table *table, int write, void *buffer, size_t *len,
			   loff_t *pos)
{
	const int err = proc_douintvec_minmax(table, write, buffer, len, pos);

	if (write && !err)
		hpccpp_count_write();
	return err;
}

/* T is 0 for the measured one, or at least HPCC_T_MIN_NS. */
static int hpccpp_set_t(compat_ctl_table *table, int write, void *buffer, size_t *len,
			loff_t *pos)
{
	unsigned int *t_ns = table->data, value = READ_ONCE(*t_ns);
	struct ctl_table one = { .data = &value, .maxlen = sizeof(value) };
	int err = proc_douintvec(&one, write, buffer, len, pos);

	if (err || !write)
		return err;
	if (value && (value < HPCC_T_MIN_NS || value > hpccpp_t_max))
		return -EINVAL;
	WRITE_ONCE(*t_ns, value);
	hpccpp_count_write();
	return 0;
}

#define HPCCPP_KNOB(name, handler, member, min, max)			\
	{								\
		.procname	= "tcp_hpccpp_" name,			\
		.data		= hop_sysctl_at(struct hpccpp_net, member), \
		.maxlen		= sizeof(unsigned int),			\
		.mode		= 0644,					\
		.proc_handler	= handler,				\
		.extra1		= min,					\
		.extra2		= max,					\
	}

#define HPCCPP_SYSCTLS 8

/* The last entry terminates the table on kernels that do not count entries. */
static const struct ctl_table hpccpp_table[HPCCPP_SYSCTLS + 1] = {
	HPCCPP_KNOB("eta_ppm", hpccpp_set_knob, config.eta_ppm, &hpccpp_eta_min, &hpccpp_eta_max),
	HPCCPP_KNOB("max_stage", hpccpp_set_knob, config.max_stage, SYSCTL_ZERO, &hpccpp_stage_max),
	HPCCPP_KNOB("flows", hpccpp_set_knob, config.flows, SYSCTL_ONE, &hpccpp_flows_max),
	HPCCPP_KNOB("rate_mbit", hpccpp_set_knob, config.rate_mbit, SYSCTL_ZERO, &hpccpp_rate_max),
	HPCCPP_KNOB("answer", hpccpp_set_knob, answer, SYSCTL_ZERO, &hpccpp_answer_max),
	HPCCPP_KNOB("hold", hpccpp_set_knob, config.hold, SYSCTL_ZERO, SYSCTL_ONE),
	HPCCPP_KNOB("move", hpccpp_set_knob, move, SYSCTL_ZERO, SYSCTL_ONE),
	HPCCPP_KNOB("t_ns", hpccpp_set_t, config.t_ns, NULL,
		    hop_sysctl_words("N, N 0 or from 1000 to 1000000000")),
	{ }
};

int hpccpp_sysctl_start(struct net *net, struct hpccpp_net *hn)
{
	hn->config = (struct hpccpp_config){
		.eta_ppm = HPCCPP_ETA_DEFAULT_PPM,
		.max_stage = HPCCPP_STAGE_DEFAULT,
		.flows = HPCCPP_FLOWS_DEFAULT,
	};
	return hop_sysctl_start(net, &hn->sysctl, hpccpp_table, HPCCPP_SYSCTLS, hn);
}
