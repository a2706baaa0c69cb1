/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Several segments, one congestion header: what GRO merges, and what segmentation makes of it
 * again, so that all sums of feedback are exact.
 *
 * The header of a GSO packet stands for one of each segment:
 *
 *	RTT, Throughput, flags	every segment's
 *	Delta_Throughput	every segment's; with XCP_FLAG_SUM their sum
 *	Reverse_Feedback	their sum
 *
 * So segments merge if the first three are equal. A port gives each packet its share of feedback,
 * in whole bytes/s: of packets in a row, shares often differ by one. The receiver adds the sum to
 * what it owes (xcp_account()), a port shares it out (xcp_read_sum()). Segmentation divides it
 * by the number of segments, the rest goes to the first ones; it leaves Reverse_Feedback to the
 * first segment.
 *
 * What each segment asked for is lost; the receiver does not use it.
 */
#ifndef NET_XCP_XCP_MERGE_H
#define NET_XCP_XCP_MERGE_H

#include <linux/limits.h>
#include <linux/types.h>
#include <net/xcp.h>

/* Sums that a header can say; 2^16 * 2^31 + 2^16 * 2^31 is less than 2^63. */
static inline bool xcp_fits(s64 sum_bytes_ps)
{
	return sum_bytes_ps >= S32_MIN && sum_bytes_ps <= S32_MAX;
}

static inline s64 xcp_merged_delta(const struct xcp_hdr *held, u32 held_pkts,
				   const struct xcp_hdr *header, u32 pkts)
{
	return xcp_delta_sum(held, held_pkts) + xcp_delta_sum(header, pkts);
}

static inline s64 xcp_merged_reverse(const struct xcp_hdr *held, const struct xcp_hdr *header)
{
	return (s64)xcp_reverse(held) + xcp_reverse(header);
}

/* Does each segment of both have the Delta_Throughput that the held header says? */
static inline bool xcp_is_alike(const struct xcp_hdr *held, const struct xcp_hdr *header)
{
	return held->delta == header->delta && !((held->flags | header->flags) & XCP_FLAG_SUM);
}

/**
 * xcp_may_merge() - can one header stand for the segments of two?
 * @held: a header that xcp_check() passed
 * @held_pkts: segments that it stands for, at most 2^16
 * @header: another, of the segments that follow
 * @pkts: segments that this one stands for
 *
 * Return: true if xcp_merge() loses nothing that is used.
 */
static inline bool xcp_may_merge(const struct xcp_hdr *held, u32 held_pkts,
				 const struct xcp_hdr *header, u32 pkts)
{
	return held->version_format == header->version_format &&
	       held->protocol == header->protocol &&
	       !((held->flags ^ header->flags) & ~XCP_FLAG_SUM) &&
	       held->rtt == header->rtt && held->throughput == header->throughput &&
	       xcp_fits(xcp_merged_reverse(held, header)) &&
	       (xcp_is_alike(held, header) ||
		xcp_fits(xcp_merged_delta(held, held_pkts, header, pkts)));
}

/**
 * xcp_merge() - let one header stand for the segments of two
 * @held: of xcp_may_merge(); changed
 * @held_pkts: of xcp_may_merge()
 * @header: of xcp_may_merge()
 * @pkts: of xcp_may_merge()
 */
static inline void xcp_merge(struct xcp_hdr *held, u32 held_pkts, const struct xcp_hdr *header,
			     u32 pkts)
{
	held->reverse = cpu_to_be32(xcp_merged_reverse(held, header));
	if (xcp_is_alike(held, header))
		return;
	held->delta = cpu_to_be32(xcp_merged_delta(held, held_pkts, header, pkts));
	held->flags |= XCP_FLAG_SUM;
}

/**
 * struct xcp_rest - a GSO packet's header while it is shared out to its segments
 * @each_bytes_ps: Delta_Throughput of every segment
 * @step_bytes_ps: 1 or -1: what the first ones have beyond that
 * @left_pkts: number of these, less those that have it already
 */
struct xcp_rest {
	s32 each_bytes_ps;
	s32 step_bytes_ps;
	u32 left_pkts;
};

/**
 * xcp_split() - a sum of Delta_Throughput is to be shared out
 * @h: the header, with XCP_FLAG_SUM
 * @segs_pkts: segments, not 0
 *
 * Return: for xcp_write_segment().
 */
static inline struct xcp_rest xcp_split(const struct xcp_hdr *h, u32 segs_pkts)
{
	const s32 sum_bytes_ps = xcp_delta(h);
	const s32 left = sum_bytes_ps % (s32)segs_pkts;

	return (struct xcp_rest) {
		.each_bytes_ps = sum_bytes_ps / (s32)segs_pkts,
		.step_bytes_ps = left < 0 ? -1 : 1,
		.left_pkts = left < 0 ? -left : left,
	};
}

/**
 * xcp_write_segment() - the share of the next segment
 * @h: the segment's header, a copy of that of the GSO packet; changed
 * @rest: of xcp_split(); changed
 */
static inline void xcp_write_segment(struct xcp_hdr *h, struct xcp_rest *rest)
{
	s32 delta_bytes_ps = rest->each_bytes_ps;

	if (rest->left_pkts) {
		delta_bytes_ps += rest->step_bytes_ps;
		rest->left_pkts--;
	}
	h->delta = cpu_to_be32(delta_bytes_ps);
	h->flags &= ~XCP_FLAG_SUM;
}

#endif /* NET_XCP_XCP_MERGE_H */
