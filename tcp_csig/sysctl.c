// SPDX-License-Identifier: GPL-2.0
/* Sysctls net.hopcc.tcp_csig_*; their bounds are only checked here. */
#include "tcp_csig.h"

static unsigned int target_min = TCSIG_TARGET_MIN_NS;
static unsigned int target_max = TCSIG_TARGET_MAX_NS;
static unsigned int beta_min = 1;
static unsigned int beta_max = TCSIG_PPM;
static unsigned int ai_min = TCSIG_AI_MIN_PPM;
static unsigned int ai_max = TCSIG_AI_MAX_PPM;
static unsigned int idle_max = TCSIG_IDLE_MAX_ROUNDS;
static unsigned int rounds_max = TCSIG_MOVE_MAX_ROUNDS;
static int locator_max = U16_MAX;

/* The algorithm reads the value in its own fixed point. */
static int tcsig_set_gain(compat_ctl_table *table, int write, void *buffer, size_t *len,
			  loff_t *pos)
{
	struct tcsig_gain *gain = container_of(table->data, struct tcsig_gain, ppm);
	int err = proc_douintvec_minmax(table, write, buffer, len, pos);

	if (!err && write)
		WRITE_ONCE(gain->value, tcsig_of_ppm(READ_ONCE(gain->ppm)));
	return err;
}

#define KNOB(name, member, handler, min, max)				\
	{								\
		.procname	= "tcp_csig_" name,			\
		.data		= hop_sysctl_at(struct tcsig_net, member), \
		.maxlen		= sizeof_field(struct tcsig_net, member), \
		.mode		= 0644,					\
		.proc_handler	= handler,				\
		.extra1		= min,					\
		.extra2		= max,					\
	}

#define SYSCTLS 8

/* The last entry terminates the table on kernels that do not count entries. */
static const struct ctl_table tcsig_table[SYSCTLS + 1] = {
	KNOB("target_ns", target_ns, proc_douintvec_minmax, &target_min, &target_max),
	KNOB("e2e_target_ns", e2e_target_ns, proc_douintvec_minmax, &target_min, &target_max),
	KNOB("beta_ppm", beta_ppm, proc_douintvec_minmax, &beta_min, &beta_max),
	KNOB("ai_ppm", ai.ppm, tcsig_set_gain, &ai_min, &ai_max),
	KNOB("jump", jump, proc_dou8vec_minmax, SYSCTL_ZERO, SYSCTL_ONE),
	KNOB("idle_rounds", idle_rounds, proc_douintvec_minmax, SYSCTL_ZERO, &idle_max),
	KNOB("move_rounds", move_rounds, proc_douintvec_minmax, SYSCTL_ZERO, &rounds_max),
	KNOB("edges", edge, proc_dointvec_minmax, SYSCTL_ZERO, &locator_max),
	{ }
};

int tcsig_sysctl_start(struct net *net, struct tcsig_net *cn)
{
	cn->target_ns = TCSIG_TARGET_DEFAULT_NS;
	cn->e2e_target_ns = TCSIG_E2E_TARGET_DEFAULT_NS;
	cn->beta_ppm = TCSIG_BETA_DEFAULT_PPM;
	cn->ai.ppm = TCSIG_AI_DEFAULT_PPM;
	cn->ai.value = tcsig_of_ppm(TCSIG_AI_DEFAULT_PPM);
	cn->jump = 1;
	cn->idle_rounds = TCSIG_IDLE_DEFAULT_ROUNDS;
	return hop_sysctl_start(net, &cn->sysctl, tcsig_table, SYSCTLS, cn);
}
