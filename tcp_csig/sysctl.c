// SPDX-License-Identifier: GPL-2.0
/* Sysctls net.hopcc.tcp_csig_*; their bounds are only checked here. */
#include "tcp_csig.h"

#define TCSIG_KNOB(name, member, handler, low, high) \
	HOP_SYSCTL("tcp_csig_" name, 0644, struct tcsig_net, knobs.member, handler, low, high)

const struct ctl_table tcsig_table[TCSIG_KNOBS + 1] = {
	TCSIG_KNOB("target_ns", target_ns, proc_douintvec_minmax,
		   hop_sysctl_bound(TCSIG_TARGET_MIN_NS), hop_sysctl_bound(TCSIG_TARGET_MAX_NS)),
	TCSIG_KNOB("e2e_target_ns", e2e_target_ns, proc_douintvec_minmax,
		   hop_sysctl_bound(TCSIG_TARGET_MIN_NS), hop_sysctl_bound(TCSIG_TARGET_MAX_NS)),
	TCSIG_KNOB("beta_ppm", beta_ppm, proc_douintvec_minmax, SYSCTL_ONE,
		   hop_sysctl_bound(HOP_PPM)),
	TCSIG_KNOB("ai_ppm", ai.ppm, hop_cc_set_gain, hop_sysctl_bound(TCSIG_AI_MIN_PPM),
		   hop_sysctl_bound(TCSIG_AI_MAX_PPM)),
	TCSIG_KNOB("jump", jump, proc_dou8vec_minmax, SYSCTL_ZERO, SYSCTL_ONE),
	TCSIG_KNOB("idle_rounds", idle_rounds, proc_douintvec_minmax, SYSCTL_ZERO,
		   hop_sysctl_bound(TCSIG_IDLE_MAX_ROUNDS)),
	TCSIG_KNOB("move_rounds", move_rounds, proc_douintvec_minmax, SYSCTL_ZERO,
		   hop_sysctl_bound(TCSIG_MOVE_MAX_ROUNDS)),
	TCSIG_KNOB("edges", edge, proc_dointvec_minmax, SYSCTL_ZERO, hop_sysctl_bound(U16_MAX)),
	{ }
};
