/* SPDX-License-Identifier: GPL-2.0 */
#ifndef FUZZ_SHIM_NET_GENEVE_H
#define FUZZ_SHIM_NET_GENEVE_H

#include <linux/types.h>

#define GENEVE_UDP_PORT	6081

struct genevehdr {
#if __BYTE_ORDER == __LITTLE_ENDIAN
	u8 opt_len:6, ver:2;
	u8 rsvd1:6, critical:1, oam:1;
#else
	u8 ver:2, opt_len:6;
	u8 oam:1, critical:1, rsvd1:6;
#endif
	__be16 proto_type;
	u8 vni[3];
	u8 rsvd2;
};

#endif
