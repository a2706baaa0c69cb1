// SPDX-License-Identifier: GPL-2.0
/*
 * XCP headers that GRO merges: the receiver's counts are the same if segments arrive one by one,
 * merged, or merged and segmented again.
 */
#include "xcp_header.h"
#include "../../net_xcp/xcp_carrier.c"
#include "../../net_xcp/xcp_merge.c"

#define SEGMENTS_MAX 100U

/* Most headers equal the one before, otherwise nothing would merge. */
static struct xcp_hdr draw_next(const struct xcp_hdr *before)
{
	struct xcp_hdr h = fuzz_choice(8) ? *before : draw_header();

	h.protocol = before->protocol;
	h.flags &= ~XCP_FLAG_SUM;
	if (fuzz_flag())
		h.delta = cpu_to_be32(fuzz_u32());
	if (!fuzz_choice(8))
		((u8 *)&h)[fuzz_choice(XCP_HDR_BYTES)] ^= 1 << fuzz_choice(8);
	h.reverse = cpu_to_be32(fuzz_u32());
	return h;
}

static void claim_equal(const struct nxcp_vars *v, const struct nxcp_vars *w)
{
	FUZZ_CLAIM(v->unreturned_bytes_ps == w->unreturned_bytes_ps &&
		   v->unreturned_headers == w->unreturned_headers);
	FUZZ_CLAIM(v->feedback_bytes_ps == w->feedback_bytes_ps && v->asked == w->asked);
	FUZZ_CLAIM(!v->feedback_headers == !w->feedback_headers);
	FUZZ_CLAIM(v->segment_bytes == w->segment_bytes);
}

/* As in gso.c: the first segment carries all of Reverse_Feedback. */
static void account_segments(struct nxcp_vars *v, struct xcp_hdr h, u32 segs)
{
	const bool sum = h.flags & XCP_FLAG_SUM;
	s32 rest = xcp_delta(&h);
	s64 least = S32_MAX, most = S32_MIN;
	u32 left;

	for (left = segs; left; left--) {
		if (sum)
			nxcp_write_share(&h, &rest, left);
		FUZZ_CLAIM(!(h.flags & XCP_FLAG_SUM));
		least = min_t(s64, least, xcp_delta(&h));
		most = max_t(s64, most, xcp_delta(&h));
		nxcp_account(v, &h, 1000, 1);
		h.reverse = 0;
	}
	FUZZ_CLAIM(most - least <= 1 && !(sum && rest));
}

static void merge(struct xcp_hdr *held, u32 *held_pkts, struct nxcp_vars *single)
{
	/* Sometimes, use a sender's GSO packet. */
	const u32 pkts = fuzz_choice(8) ? 1 : fuzz_range(1, 9);
	const struct xcp_hdr before = *held, h = draw_next(held);

	if (xcp_check(&h, XCP_PROTOCOL_DEFAULT) != XCP_OK || h.flags & XCP_FLAG_SUM ||
	    !nxcp_may_merge(held, *held_pkts, &h, pkts))
		return;
	nxcp_account(single, &h, 1000, pkts);
	nxcp_merge(held, *held_pkts, &h, pkts);
	*held_pkts += pkts;
	FUZZ_CLAIM(xcp_check(held, XCP_PROTOCOL_DEFAULT) == XCP_OK);
	FUZZ_CLAIM(held->rtt == before.rtt && held->throughput == before.throughput &&
		   held->version_format == before.version_format &&
		   (held->flags & ~XCP_FLAG_SUM) == (h.flags & ~XCP_FLAG_SUM));
}

static void fuzz_once(void)
{
	struct nxcp_vars single = {}, merged = {}, again = {};
	struct xcp_hdr held = draw_header();
	u32 segs = 1;

	held.flags &= ~XCP_FLAG_SUM;
	held.reverse = cpu_to_be32(fuzz_u32());
	nxcp_account(&single, &held, 1000, 1);
	while (segs < SEGMENTS_MAX && fuzz_has_more())
		merge(&held, &segs, &single);
	nxcp_account(&merged, &held, 1000, segs);
	account_segments(&again, held, segs);
	claim_equal(&single, &merged);
	claim_equal(&single, &again);
}
