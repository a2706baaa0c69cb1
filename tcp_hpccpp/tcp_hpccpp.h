/* SPDX-License-Identifier: GPL-2.0 */
/* Declarations that the files of tcp_hpccpp share */
#ifndef HOPCC_TCP_HPCCPP_TCP_HPCCPP_H
#define HOPCC_TCP_HPCCPP_TCP_HPCCPP_H

#include <linux/atomic.h>
#include <hopcc/core/hop_cc.h>

#include "hpccpp_sender.h"

/* Number of peers for which starting flows are counted; a newer peer may replace one. */
#define HPCCPP_STARTS_BITS	6

/**
 * struct hpccpp_net - state of one network namespace
 * @sysctl: the sysctls
 * @config: values of the sysctls that the algorithm's parameters depend on
 * @answer: net.hopcc.tcp_hpccpp_answer
 * @move: net.hopcc.tcp_hpccpp_move
 * @starts: starting flows by peer
 */
struct hpccpp_net {
	struct hop_sysctl sysctl;
	struct hpccpp_config config;
	u32 answer;
	u32 move;
	struct hpccpp_start starts[1 << HPCCPP_STARTS_BITS];
};

/* sysctl.c */
extern atomic_t hpccpp_knob_changes;	/* writes of the sysctls, in all network namespaces */
#define HPCCPP_KNOBS 8
extern const struct ctl_table hpccpp_table[HPCCPP_KNOBS + 1];

#endif /* HOPCC_TCP_HPCCPP_TCP_HPCCPP_H */
