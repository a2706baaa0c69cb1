/* SPDX-License-Identifier: GPL-2.0 */
#ifndef FUZZ_SHIM_LINUX_IF_VLAN_H
#define FUZZ_SHIM_LINUX_IF_VLAN_H

#include <linux/skbuff.h>

#define ETH_HLEN	14
#define VLAN_HLEN	4
#define ETH_P_IP	0x0800
#define ETH_P_8021Q	0x8100
#define ETH_P_IPV6	0x86dd
#define ETH_P_MPLS_UC	0x8847
#define ETH_P_MPLS_MC	0x8848
#define ETH_P_8021AD	0x88a8

struct vlan_hdr {
	__be16 h_vlan_TCI;
	__be16 h_vlan_encapsulated_proto;
};

static inline bool eth_type_vlan(__be16 type)
{
	return type == htons(ETH_P_8021Q) || type == htons(ETH_P_8021AD);
}

#endif
