/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HOPCC_SCH_XCP_XCP_ENDPOINTS_H
#define HOPCC_SCH_XCP_XCP_ENDPOINTS_H

#include <linux/in6.h>
#include <linux/types.h>

/**
 * struct sxcp_endpoints - addresses and ports of a sampled flow
 * @saddr: source address, IPv6 or IPv4-mapped
 * @daddr: destination address, IPv6 or IPv4-mapped
 * @sport: source port of TCP or UDP
 * @dport: destination port of TCP or UDP
 */
struct sxcp_endpoints {
	struct in6_addr saddr;
	struct in6_addr daddr;
	__be16 sport;
	__be16 dport;
};

#endif /* HOPCC_SCH_XCP_XCP_ENDPOINTS_H */
