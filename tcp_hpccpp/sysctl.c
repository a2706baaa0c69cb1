// SPDX-License-Identifier: GPL-2.0
/* The sysctls of the sender, net.hopcc.tcp_hpccpp_*. */

#include "tcp_hpccpp.h"

atomic_t hpccpp_knob_changes;

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
	if (value && (value < HPCC_T_MIN_NS || value > HPCC_T_MAX_NS))
		return -EINVAL;
	WRITE_ONCE(*t_ns, value);
	hpccpp_count_write();
	return 0;
}

#define HPCCPP_KNOB(name, handler, member, low, high) \
	HOP_SYSCTL("tcp_hpccpp_" name, 0644, struct hpccpp_net, member, handler, low, high)

const struct ctl_table hpccpp_table[HPCCPP_KNOBS + 1] = {
	HPCCPP_KNOB("eta_ppm", hpccpp_set_knob, config.eta_ppm,
		    hop_sysctl_bound(HPCCPP_ETA_MIN_PPM), hop_sysctl_bound(HPCC_PPM)),
	HPCCPP_KNOB("max_stage", hpccpp_set_knob, config.max_stage, SYSCTL_ZERO,
		    hop_sysctl_bound(HPCCPP_STAGE_MAX)),
	HPCCPP_KNOB("flows", hpccpp_set_knob, config.flows, SYSCTL_ONE,
		    hop_sysctl_bound(HPCCPP_FLOWS_MAX)),
	HPCCPP_KNOB("rate_mbit", hpccpp_set_knob, config.rate_mbit, SYSCTL_ZERO,
		    hop_sysctl_bound(HPCCPP_RATE_MAX_MBIT)),
	HPCCPP_KNOB("answer", hpccpp_set_knob, answer, SYSCTL_ZERO,
		    hop_sysctl_bound(INT_ANSWER_WINDOW)),
	HPCCPP_KNOB("hold", hpccpp_set_knob, config.hold, SYSCTL_ZERO, SYSCTL_ONE),
	HPCCPP_KNOB("move", hpccpp_set_knob, move, SYSCTL_ZERO, SYSCTL_ONE),
	HPCCPP_KNOB("t_ns", hpccpp_set_t, config.t_ns, NULL,
		    hop_sysctl_words("N, N 0 or from 1000 to 1000000000")),
	{ }
};
