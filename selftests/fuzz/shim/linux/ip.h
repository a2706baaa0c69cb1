/* SPDX-License-Identifier: GPL-2.0 */
#ifndef FUZZ_SHIM_LINUX_IP_H
#define FUZZ_SHIM_LINUX_IP_H

#include <linux/if_vlan.h>
#include <netinet/in.h>

#define IP_OFFSET	0x1fff
#define IP_MF		0x2000

struct iphdr {
#if __BYTE_ORDER == __LITTLE_ENDIAN
	u8 ihl:4, version:4;
#else
	u8 version:4, ihl:4;
#endif
	u8 tos;
	__be16 tot_len;
	__be16 id;
	__be16 frag_off;
	u8 ttl;
	u8 protocol;
	__sum16 check;
	__be32 saddr;
	__be32 daddr;
};

static inline bool ip_is_fragment(const struct iphdr *ip)
{
	return ip->frag_off & htons(IP_MF | IP_OFFSET);
}

#endif
