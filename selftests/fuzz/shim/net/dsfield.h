/* SPDX-License-Identifier: GPL-2.0 */
#ifndef FUZZ_SHIM_NET_DSFIELD_H
#define FUZZ_SHIM_NET_DSFIELD_H

#include <linux/ipv6.h>

static inline u8 ipv6_get_dsfield(const struct ipv6hdr *ip)
{
	return ip->priority << 4 | ip->flow_lbl[0] >> 4;
}

#endif
