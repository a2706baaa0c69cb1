/* SPDX-License-Identifier: GPL-2.0 */
#ifndef FUZZ_SHIM_NET_GRE_H
#define FUZZ_SHIM_NET_GRE_H

#include <linux/types.h>

#define GRE_CSUM	htons(0x8000)
#define GRE_KEY		htons(0x2000)
#define GRE_SEQ		htons(0x1000)

#define GRE_HEADER_SECTION 4

struct gre_base_hdr {
	__be16 flags;
	__be16 protocol;
};

#endif
