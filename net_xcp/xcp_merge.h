/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One congestion header for several segments: GRO merges headers, and segmentation splits them
 * again such that all sums of feedback are exact.
 *
 * The header of a GSO packet represents one header per segment:
 *
 *	RTT, Throughput, flags	the same in each segment
 *	Delta_Throughput	the value of each segment; with XCP_FLAG_SUM their sum
 *	Reverse_Feedback	the sum over all segments
 *
 * Segments merge if the first three fields are equal. A switch port gives each packet its share of
 * feedback in whole bytes/s, so the shares of consecutive packets often differ by one. The receiver
 * adds the sum to its pending feedback (nxcp_account()), a port distributes it (sxcp_read_sum()).
 * Segmentation divides the sum by the number of segments and gives the remainder to the last ones;
 * the first segment carries all of Reverse_Feedback.
 *
 * The individual demand of each segment is lost; the receiver does not use it.
 */
#ifndef HOPCC_NET_XCP_XCP_MERGE_H
#define HOPCC_NET_XCP_XCP_MERGE_H

#include <linux/types.h>
#include <hopcc/wire/xcp.h>

/**
 * nxcp_may_merge() - can one header represent the segments of two?
 * @held: a header that xcp_check() passed
 * @held_pkts: number of segments that @held represents, at most 2^16
 * @header: the header of the segments that follow, validated by xcp_check()
 * @pkts: number of segments that @header represents
 *
 * Return: true if nxcp_merge() loses no information that is used.
 */
bool nxcp_may_merge(const struct xcp_hdr *held, u32 held_pkts, const struct xcp_hdr *header,
		    u32 pkts);

/**
 * nxcp_merge() - merge two headers into one
 * @held: as in nxcp_may_merge(); changed
 * @held_pkts: as in nxcp_may_merge()
 * @header: as in nxcp_may_merge()
 * @pkts: as in nxcp_may_merge()
 */
void nxcp_merge(struct xcp_hdr *held, u32 held_pkts, const struct xcp_hdr *header, u32 pkts);

/**
 * nxcp_write_share() - write the next segment's share of a sum of Delta_Throughput
 * @h: the segment's header, a copy of the GSO packet's, with XCP_FLAG_SUM; changed
 * @left_bytes_ps: part of the sum that no segment has yet, bytes/s; changed
 * @left_pkts: number of segments that have no share yet, not 0
 */
void nxcp_write_share(struct xcp_hdr *h, s32 *left_bytes_ps, u32 left_pkts);

#endif /* HOPCC_NET_XCP_XCP_MERGE_H */
