/* SPDX-License-Identifier: GPL-2.0 */
#ifndef FUZZ_SHIM_LINUX_MPLS_H
#define FUZZ_SHIM_LINUX_MPLS_H

#include <linux/if_vlan.h>

#define MPLS_HLEN	4
#define MPLS_LS_S_MASK	0x100

struct mpls_shim_hdr {
	__be32 label_stack_entry;
};

struct mpls_label {
	__be32 entry;
};

static inline bool eth_p_mpls(__be16 type)
{
	return type == htons(ETH_P_MPLS_UC) || type == htons(ETH_P_MPLS_MC);
}

#endif
