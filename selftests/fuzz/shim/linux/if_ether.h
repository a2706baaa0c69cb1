/* SPDX-License-Identifier: GPL-2.0 */
#ifndef FUZZ_SHIM_LINUX_IF_ETHER_H
#define FUZZ_SHIM_LINUX_IF_ETHER_H

#include <linux/if_vlan.h>

#define ETH_ALEN	6
#define ETH_P_TEB	0x6558

#endif
