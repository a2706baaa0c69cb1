/* SPDX-License-Identifier: GPL-2.0 */
/* No harness has a socket; the constants that hop_core's code for headers uses stand here. */
#ifndef FUZZ_SHIM_NET_SOCK_H
#define FUZZ_SHIM_NET_SOCK_H

#include <linux/skbuff.h>

#define IP_MAX_MTU		0xffff
#define SKB_GSO_SCTP		0x4000
#define NETIF_F_SG		1

#endif
