// SPDX-License-Identifier: GPL-2.0
/* The end host's part of XCP; see xcp_carrier.h. */

#include <linux/limits.h>
#include "xcp_carrier.h"

/* 2^40 bytes/s, 512 headers' worth; a larger sum means that no answer was sent for a long time. */
#define XCP_UNRETURNED_MAX_BYTES_PS	1099511627776LL

/* A sender with a window below this number of segments gets immediate ACKs. */
#define XCP_SMALL_WINDOW_PKTS	4U

/* Maximum number of headers that wait for the next ACK: as many as two delayed ACKs cover */
#define XCP_TIMEOUT_HEADERS	4U

/* Preamble, MAC header, checksum and gap of Ethernet. */
#define XCP_FRAME_BYTES			38U

void nxcp_account(struct nxcp_vars *v, const struct xcp_hdr *h, u32 payload_bytes, u32 segs_pkts)
{
	v->segment_bytes = max_t(u32, v->segment_bytes, payload_bytes);
	v->unasked = false;
	WRITE_ONCE(v->feedback_bytes_ps, v->feedback_bytes_ps + xcp_reverse(h));
	/* A reader that sees the new count also sees the new sum; pairs with nxcp_take(). */
	smp_store_release(&v->feedback_headers, v->feedback_headers + 1);
	if (!xcp_rtt_us(h))
		return;
	/* No overflow: the sum is at most 2^40, the header's part less than 2^47. */
	WRITE_ONCE(v->unreturned_bytes_ps,
		   clamp_t(s64, v->unreturned_bytes_ps + xcp_delta_sum(h, segs_pkts),
			   -XCP_UNRETURNED_MAX_BYTES_PS, XCP_UNRETURNED_MAX_BYTES_PS));
	WRITE_ONCE(v->unreturned_headers,
		   v->unreturned_headers + min(segs_pkts, U32_MAX - v->unreturned_headers));
	v->asked = true;
}

bool nxcp_has_pending(const struct nxcp_vars *v)
{
	return READ_ONCE(v->unreturned_headers) || READ_ONCE(v->unreturned_bytes_ps);
}

s32 nxcp_take_pending(struct nxcp_vars *v)
{
	s32 reverse_bytes_ps = clamp_t(s64, v->unreturned_bytes_ps, S32_MIN, S32_MAX);

	WRITE_ONCE(v->unreturned_bytes_ps, v->unreturned_bytes_ps - reverse_bytes_ps);
	WRITE_ONCE(v->unreturned_headers, 0);
	v->needs_room = false;
	return reverse_bytes_ps;
}

bool nxcp_wants_room(const struct nxcp_vars *v)
{
	return v->needs_room && v->unreturned_headers >= XCP_TIMEOUT_HEADERS;
}

s64 nxcp_take(struct nxcp_vars *v, u32 *headers)
{
	/* Pairs with the release in nxcp_account(): the count is read before the sum. */
	const u32 count = smp_load_acquire(&v->feedback_headers);
	const u64 sum_bytes_ps = READ_ONCE(v->feedback_bytes_ps);
	const s64 taken_bytes_ps = sum_bytes_ps - v->taken_bytes_ps;

	*headers = count - v->taken_headers;
	if (!*headers)
		return 0;
	v->taken_headers = count;
	v->taken_bytes_ps = sum_bytes_ps;
	return taken_bytes_ps;
}

bool nxcp_window_is_small(const struct nxcp_vars *v, const struct xcp_hdr *h)
{
	/* bytes/ms * us = bytes / 1000; (2^32 - 1)^2 < 2^64, 2^16 * 4 * 1000 < 2^28 */
	u64 window = (u64)be32_to_cpu(h->throughput) * xcp_rtt_us(h);

	return xcp_format(h) != XCP_FORMAT_MINIMAL &&
	       window < (u64)v->segment_bytes * XCP_SMALL_WINDOW_PKTS * XCP_US_PER_MS;
}

void nxcp_write_minimal(struct xcp_hdr *h, u8 next, s32 reverse_bytes_ps)
{
	*h = (struct xcp_hdr) {
		.version_format = XCP_VERSION << 4 | XCP_FORMAT_MINIMAL,
		.protocol = next,
		.length = XCP_HDR_BYTES,
		.reverse = cpu_to_be32(reverse_bytes_ps),
	};
}

void nxcp_write_offer(struct xcp_hdr *h, u8 next, enum xcp_format format,
		      const struct xcp_offer *offer, s32 reverse_bytes_ps)
{
	nxcp_write_minimal(h, next, reverse_bytes_ps);
	h->version_format = XCP_VERSION << 4 | format;
	h->flags = offer->flags & XCP_FLAG_E2E_LIMITED;
	if (!offer->rtt_us)
		return;
	h->rtt = xcp_rtt_field(format, offer->rtt_us);
	h->throughput = xcp_throughput_field(offer->throughput_bytes_ps);
	h->delta = cpu_to_be32(offer->delta_bytes_ps);
}

struct xcp_offer nxcp_scale_offer(const struct xcp_offer *offer, u32 bytes, u32 copy_bytes,
				  u32 pkts)
{
	struct xcp_offer scaled = *offer;

	copy_bytes += XCP_FRAME_BYTES;
	bytes += pkts * XCP_FRAME_BYTES;
	scaled.throughput_bytes_ps = mul_u64_u32_div(offer->throughput_bytes_ps, copy_bytes, bytes);
	scaled.delta_bytes_ps = clamp_t(s64, (s64)offer->delta_bytes_ps * pkts, S32_MIN, S32_MAX);
	return scaled;
}

bool nxcp_is_copy(const struct xcp_hdr *outer, const struct xcp_hdr *inner)
{
	return outer->version_format == inner->version_format &&
	       outer->flags == inner->flags && outer->rtt == inner->rtt &&
	       outer->throughput == inner->throughput && outer->reverse == inner->reverse &&
	       xcp_delta(outer) <= xcp_delta(inner);
}
