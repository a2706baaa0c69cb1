/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HOPCC_XCP_ENDPOINTS_H
#define HOPCC_XCP_ENDPOINTS_H

#include <linux/in6.h>
#include <linux/types.h>

/**
 * struct xcp_endpoints - who the sampler looks at
 * @saddr: IPv6 address, or IPv4 mapped
 * @daddr: the same
 * @sport: of TCP or UDP
 * @dport: the same
 */
struct xcp_endpoints {
	struct in6_addr saddr;
	struct in6_addr daddr;
	__be16 sport;
	__be16 dport;
};

#endif /* HOPCC_XCP_ENDPOINTS_H */
