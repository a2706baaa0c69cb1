/* SPDX-License-Identifier: GPL-2.0 */
#ifndef FUZZ_SHIM_NET_VXLAN_H
#define FUZZ_SHIM_NET_VXLAN_H

#include <linux/types.h>

#define IANA_VXLAN_UDP_PORT	4789
#define VXLAN_HF_VNI		htonl(1 << 27)

struct vxlanhdr {
	__be32 vx_flags;
	__be32 vx_vni;
};

#endif
