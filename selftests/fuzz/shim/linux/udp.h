/* SPDX-License-Identifier: GPL-2.0 */
#ifndef FUZZ_SHIM_LINUX_UDP_H
#define FUZZ_SHIM_LINUX_UDP_H

#include <linux/skbuff.h>

struct udphdr {
	__be16 source;
	__be16 dest;
	__be16 len;
	__sum16 check;
};

#endif
