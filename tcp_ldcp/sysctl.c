// SPDX-License-Identifier: GPL-2.0
/* The sysctls net.hopcc.tcp_ldcp_* with their ranges */
#include "tcp_ldcp.h"

#define LDCP_KNOB(name, member, handler, low, high) \
	HOP_SYSCTL("tcp_ldcp_" name, 0644, struct ldcp_net, knobs.member, handler, low, high)

const struct ctl_table ldcp_table[LDCP_KNOBS + 1] = {
	LDCP_KNOB("alpha_ppm", alpha.ppm, hop_cc_set_gain, SYSCTL_ONE, hop_sysctl_bound(HOP_PPM)),
	LDCP_KNOB("beta_ppm", beta.ppm, hop_cc_set_gain, SYSCTL_ONE, hop_sysctl_bound(HOP_PPM)),
	LDCP_KNOB("gamma_ppm", gamma.ppm, hop_cc_set_gain, hop_sysctl_bound(LDCP_GAMMA_MIN_PPM),
		  hop_sysctl_bound(HOP_PPM)),
	LDCP_KNOB("eta_ppm", eta.ppm, hop_cc_set_gain, SYSCTL_ONE, hop_sysctl_bound(HOP_PPM - 1)),
	LDCP_KNOB("per_rtt", per_rtt, proc_dou8vec_minmax, SYSCTL_ZERO, SYSCTL_ONE),
	LDCP_KNOB("ack_pkts", ack_pkts, proc_dou8vec_minmax, SYSCTL_ONE, SYSCTL_TWO),
	LDCP_KNOB("bdp_bytes", bdp.bytes, proc_douintvec_minmax, SYSCTL_ZERO,
		  hop_sysctl_bound(LDCP_BDP_MAX_BYTES)),
	LDCP_KNOB("rate_mbit", bdp.rate_mbit, proc_douintvec_minmax, SYSCTL_ZERO,
		  hop_sysctl_bound(LDCP_RATE_MAX_MBIT)),
	LDCP_KNOB("rtt_us", bdp.rtt_us, proc_douintvec_minmax, SYSCTL_ZERO,
		  hop_sysctl_bound(LDCP_RTT_MAX_US)),
	{ }
};
