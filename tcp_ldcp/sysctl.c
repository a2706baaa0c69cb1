// SPDX-License-Identifier: GPL-2.0
/* The sysctls net.hopcc.tcp_ldcp_* with their ranges */
#include "tcp_ldcp.h"

static unsigned int gain_min = 1;
static unsigned int gain_max = LDCP_PPM;
static unsigned int gamma_min = LDCP_GAMMA_MIN_PPM;
static unsigned int eta_max = LDCP_PPM - 1;
static unsigned int rate_max = LDCP_RATE_MAX_MBIT;
static unsigned int rtt_max = LDCP_RTT_MAX_US;
static unsigned int bytes_max = LDCP_BDP_MAX_BYTES;

/* Also store the value in the algorithm's fixed point. */
static int ldcp_set_gain(compat_ctl_table *table, int write, void *buffer, size_t *len, loff_t *pos)
{
	struct ldcp_gain *gain = container_of(table->data, struct ldcp_gain, ppm);
	int err = proc_douintvec_minmax(table, write, buffer, len, pos);

	if (!err && write)
		WRITE_ONCE(gain->value, ldcp_of_ppm(READ_ONCE(gain->ppm)));
	return err;
}

#define KNOB(name, member, type, handler, min, max)			\
	{								\
		.procname	= "tcp_ldcp_" name,			\
		.data		= hop_sysctl_at(struct ldcp_net, member), \
		.maxlen		= sizeof(type),				\
		.mode		= 0644,					\
		.proc_handler	= handler,				\
		.extra1		= min,					\
		.extra2		= max,					\
	}

#define SYSCTLS 9

/* The last entry terminates the table on kernels that do not count the entries. */
static const struct ctl_table ldcp_table[SYSCTLS + 1] = {
	KNOB("alpha_ppm", alpha.ppm, unsigned int, ldcp_set_gain, &gain_min, &gain_max),
	KNOB("beta_ppm", beta.ppm, unsigned int, ldcp_set_gain, &gain_min, &gain_max),
	KNOB("gamma_ppm", gamma.ppm, unsigned int, ldcp_set_gain, &gamma_min, &gain_max),
	KNOB("eta_ppm", eta.ppm, unsigned int, ldcp_set_gain, &gain_min, &eta_max),
	KNOB("per_rtt", per_rtt, u8, proc_dou8vec_minmax, SYSCTL_ZERO, SYSCTL_ONE),
	KNOB("ack_pkts", ack_pkts, u8, proc_dou8vec_minmax, SYSCTL_ONE, SYSCTL_TWO),
	KNOB("bdp_bytes", bdp.bytes, unsigned int, proc_douintvec_minmax, SYSCTL_ZERO,
	     &bytes_max),
	KNOB("rate_mbit", bdp.rate_mbit, unsigned int, proc_douintvec_minmax, SYSCTL_ZERO,
	     &rate_max),
	KNOB("rtt_us", bdp.rtt_us, unsigned int, proc_douintvec_minmax, SYSCTL_ZERO, &rtt_max),
	{ }
};

static struct ldcp_gain ldcp_gain_of(unsigned int ppm)
{
	return (struct ldcp_gain){ .ppm = ppm, .value = ldcp_of_ppm(ppm) };
}

int ldcp_sysctl_start(struct net *net, struct ldcp_net *ln)
{
	ln->alpha = ldcp_gain_of(LDCP_ALPHA_DEFAULT_PPM);
	ln->beta = ldcp_gain_of(LDCP_BETA_DEFAULT_PPM);
	ln->gamma = ldcp_gain_of(LDCP_GAMMA_DEFAULT_PPM);
	ln->eta = ldcp_gain_of(LDCP_ETA_DEFAULT_PPM);
	ln->ack_pkts = 1;
	return hop_sysctl_start(net, &ln->sysctl, ldcp_table, SYSCTLS, ln);
}
