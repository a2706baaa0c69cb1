/* SPDX-License-Identifier: GPL-2.0 */
#ifndef FUZZ_SHIM_LINUX_ETHERDEVICE_H
#define FUZZ_SHIM_LINUX_ETHERDEVICE_H

#include <linux/if_vlan.h>
#include <linux/netdevice.h>

#define ETH_P_802_2	4

static inline bool eth_proto_is_802_3(__be16 protocol)
{
	return ntohs(protocol) >= 0x600;
}

#endif
