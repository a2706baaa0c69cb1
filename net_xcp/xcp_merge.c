// SPDX-License-Identifier: GPL-2.0
/* Merged segments with XCP headers; see xcp_merge.h. */

#include <linux/limits.h>
#include "xcp_merge.h"

/* Return: true if a header's field can hold the sum; 2^16 * 2^31 + 2^16 * 2^31 is less than 2^63 */
static bool nxcp_fits(s64 sum_bytes_ps)
{
	return sum_bytes_ps >= S32_MIN && sum_bytes_ps <= S32_MAX;
}

static s64 nxcp_merged_delta(const struct xcp_hdr *held, u32 held_pkts,
			     const struct xcp_hdr *header, u32 pkts)
{
	return xcp_delta_sum(held, held_pkts) + xcp_delta_sum(header, pkts);
}

static s64 nxcp_merged_reverse(const struct xcp_hdr *held, const struct xcp_hdr *header)
{
	return (s64)xcp_reverse(held) + xcp_reverse(header);
}

/* Return: true if each segment of both has the same Delta_Throughput */
static bool nxcp_is_alike(const struct xcp_hdr *held, const struct xcp_hdr *header)
{
	return held->delta == header->delta && !((held->flags | header->flags) & XCP_FLAG_SUM);
}

bool nxcp_may_merge(const struct xcp_hdr *held, u32 held_pkts, const struct xcp_hdr *header,
		    u32 pkts)
{
	return held->version_format == header->version_format &&
	       held->protocol == header->protocol &&
	       !((held->flags ^ header->flags) & ~XCP_FLAG_SUM) &&
	       held->rtt == header->rtt && held->throughput == header->throughput &&
	       nxcp_fits(nxcp_merged_reverse(held, header)) &&
	       (nxcp_is_alike(held, header) ||
		nxcp_fits(nxcp_merged_delta(held, held_pkts, header, pkts)));
}

void nxcp_merge(struct xcp_hdr *held, u32 held_pkts, const struct xcp_hdr *header, u32 pkts)
{
	held->reverse = cpu_to_be32(nxcp_merged_reverse(held, header));
	if (nxcp_is_alike(held, header))
		return;
	held->delta = cpu_to_be32(nxcp_merged_delta(held, held_pkts, header, pkts));
	held->flags |= XCP_FLAG_SUM;
}

void nxcp_write_share(struct xcp_hdr *h, s32 *left_bytes_ps, u32 left_pkts)
{
	const s32 share_bytes_ps = *left_bytes_ps / (s32)left_pkts;

	*left_bytes_ps -= share_bytes_ps;
	h->delta = cpu_to_be32(share_bytes_ps);
	h->flags &= ~XCP_FLAG_SUM;
}
