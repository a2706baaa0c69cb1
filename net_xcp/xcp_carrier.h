/* SPDX-License-Identifier: GPL-2.0 */
/*
 * XCP's carrier, draft-falk-xcp-spec-00 sections 3.1.1 and 3.1.2: what is owed
 * to the peer.
 *
 *	owed     += Delta_Throughput		of each header that arrives
 *	reverse   = owed, as far as 32 bits go	in the next header that leaves
 *	owed     -= reverse
 *
 * so that delayed ACKs, coalescing and retransmission lose nothing.
 *
 * Whether the peer speaks XCP: net/hop_discover.h.
 *
 * Deviations:
 * - The draft copies a sum of 32 bits. Ours has 64 and is bounded: what one
 *   header cannot say waits for the next.
 * - A header whose sum is 0 is answered too: the sender learns that the
 *   network did answer.
 * - An immediate ACK where the sender's window is below 4 segments: a window of
 *   one segment would wait for the delayed ACK's timer, and with it its feedback.
 */
#ifndef NET_XCP_XCP_CARRIER_H
#define NET_XCP_XCP_CARRIER_H

#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/types.h>
#include <net/hop_discover.h>
#include <net/xcp.h>
#include <net/xcp_flow.h>

/* 2^40 B/s: 512 headers full. Who owes more has not answered for long. */
#define XCP_OWED_MAX_BYTES_PS	1099511627776LL

/* A window below so many segments wants its ACKs at once. */
#define XCP_SMALL_WINDOW_PKTS	4U

/* Two delayed ACKs' worth: so many headers wait for the next ACK, but no more. */
#define XCP_PATIENCE_HEADERS	4U

/**
 * struct xcp_vars - a flow's share of the law; written under the flow's lock, but @taken_*
 * @stage: of discovery
 * @owed_bytes_ps: sum of Delta_Throughput that was not returned yet
 * @owed_headers: headers that it came in, not answered yet
 * @feedback_bytes_ps: sum of Reverse_Feedback since the connection started, modulo 2^64
 * @feedback_headers: headers that it came in, modulo 2^32; written behind @feedback_bytes_ps
 * @taken_bytes_ps: @feedback_bytes_ps when the congestion control took it last
 * @taken_headers: @feedback_headers then; both are written by xcp_take() alone
 * @segment_bytes: the peer's longest payload
 * @asked: a header asked for something since the reactor wanted to know
 * @crowded: since the last answer, data left that had no room for one
 */
struct xcp_vars {
	s64 owed_bytes_ps;
	u64 feedback_bytes_ps;
	u64 taken_bytes_ps;
	enum hop_stage stage;
	u32 owed_headers;
	u32 feedback_headers;
	u32 taken_headers;
	u32 segment_bytes;
	bool asked;
	bool crowded;
};

/**
 * xcp_peer() - discovery as the reactor sees it
 * @stage: where it is
 *
 * Return: what is known of the peer.
 */
static inline enum xcp_peer xcp_peer(enum hop_stage stage)
{
	switch (stage) {
	case HOP_STAGE_SPEAKS:
		return XCP_PEER_SPEAKS;
	case HOP_STAGE_SILENT:
		return XCP_PEER_SILENT;
	default:
		return XCP_PEER_UNKNOWN;
	}
}

static inline u32 xcp_saturating_add(u32 count, u32 more)
{
	return count + min(more, U32_MAX - count);
}

/* |sum| <= 2^40 and |part| < 2^47: no overflow */
static inline s64 xcp_bounded_sum(s64 sum, s64 part)
{
	return clamp_t(s64, sum + part, -XCP_OWED_MAX_BYTES_PS, XCP_OWED_MAX_BYTES_PS);
}

/**
 * xcp_pending_bytes_ps() - the feedback that the congestion control did not take yet
 * @v: the flow
 *
 * Return: the sum of Reverse_Feedback, bytes/s, within XCP_OWED_MAX_BYTES_PS.
 */
static inline s64 xcp_pending_bytes_ps(const struct xcp_vars *v)
{
	return v->feedback_bytes_ps - READ_ONCE(v->taken_bytes_ps);
}

static inline void xcp_add_feedback(struct xcp_vars *v, s32 reverse_bytes_ps)
{
	const s64 pending_bytes_ps = xcp_pending_bytes_ps(v);
	const s64 more_bytes_ps = xcp_bounded_sum(pending_bytes_ps, reverse_bytes_ps) -
				  pending_bytes_ps;

	WRITE_ONCE(v->feedback_bytes_ps, v->feedback_bytes_ps + more_bytes_ps);
	/* A header that xcp_take() counts is in the sum that it reads. */
	smp_store_release(&v->feedback_headers, v->feedback_headers + 1);
}

/**
 * xcp_account() - a header arrived
 * @v: the flow
 * @h: the header, checked
 * @payload_bytes: what a packet on the wire carries
 * @segs_pkts: packets on the wire that it came with, at most 2^16: above 1 of a super-packet,
 *	whose header asks for each of them, and answers once
 *
 * A Minimal header and one without an RTT ask for nothing: nothing is owed.
 */
static inline void xcp_account(struct xcp_vars *v, const struct xcp_hdr *h, u32 payload_bytes,
			       u32 segs_pkts)
{
	v->segment_bytes = max_t(u32, v->segment_bytes, payload_bytes);
	xcp_add_feedback(v, xcp_reverse(h));
	if (!xcp_rtt_us(h))
		return;
	WRITE_ONCE(v->owed_bytes_ps,
		   xcp_bounded_sum(v->owed_bytes_ps, xcp_delta_sum(h, segs_pkts)));
	WRITE_ONCE(v->owed_headers, xcp_saturating_add(v->owed_headers, segs_pkts));
	v->asked = true;
}

/* Is there anything to tell the peer? Asked for each packet, without the flow's lock. */
static inline bool xcp_owes(const struct xcp_vars *v)
{
	return READ_ONCE(v->owed_headers) || READ_ONCE(v->owed_bytes_ps);
}

/**
 * xcp_pay() - a header leaves
 * @v: the flow
 *
 * Return: its Reverse_Feedback, bytes/s; what it cannot hold stays owed.
 */
static inline s32 xcp_pay(struct xcp_vars *v)
{
	s32 reverse_bytes_ps = clamp_t(s64, v->owed_bytes_ps, S32_MIN, S32_MAX);

	WRITE_ONCE(v->owed_bytes_ps, v->owed_bytes_ps - reverse_bytes_ps);
	WRITE_ONCE(v->owed_headers, 0);
	v->crowded = false;
	return reverse_bytes_ps;
}

/**
 * xcp_wants_room() - shall a socket's data leave room for answers?
 * @v: the flow, after xcp_account()
 *
 * Where data goes both ways it brings the ACKs, and no other packet brings an answer.
 *
 * Return: whether XCP_PATIENCE_HEADERS wait, and data did not take them along.
 */
static inline bool xcp_wants_room(const struct xcp_vars *v)
{
	return v->crowded && v->owed_headers >= XCP_PATIENCE_HEADERS;
}

/**
 * xcp_take() - the congestion control takes the feedback that arrived for it
 * @v: the flow
 * @headers: number of headers
 *
 * Needs no lock against xcp_account(): one writes the sums, the other what it has seen of them.
 * The sum may be ahead of the count, whose headers then come without feedback the next time.
 *
 * Context: one caller at a time.
 * Return: the sum of their Reverse_Feedback, bytes/s; 0 without a header.
 */
static inline s64 xcp_take(struct xcp_vars *v, u32 *headers)
{
	/* Pairs with the release in xcp_add_feedback(): the count is read before the sum. */
	const u32 count = smp_load_acquire(&v->feedback_headers);
	const u64 sum_bytes_ps = READ_ONCE(v->feedback_bytes_ps);
	const s64 taken_bytes_ps = sum_bytes_ps - v->taken_bytes_ps;

	*headers = count - v->taken_headers;
	if (!*headers)
		return 0;
	v->taken_headers = count;
	WRITE_ONCE(v->taken_bytes_ps, sum_bytes_ps);
	return taken_bytes_ps;
}

/**
 * xcp_take_asked() - the reactor wants to know whether the peer asks
 * @v: the flow
 *
 * Return: whether it did since the last call.
 */
static inline bool xcp_take_asked(struct xcp_vars *v)
{
	bool asked = v->asked;

	v->asked = false;
	return asked;
}

/**
 * xcp_window_is_small() - does the sender wait for this ACK?
 * @v: the flow, after xcp_account()
 * @h: the header of its data
 *
 * Its window is Throughput * RTT, as it says itself; unknown is small. Who sends
 * Minimal on data does not ask for anything.
 *
 * Return: whether its window is below XCP_SMALL_WINDOW_PKTS segments.
 */
static inline bool xcp_window_is_small(const struct xcp_vars *v, const struct xcp_hdr *h)
{
	/* bytes/ms * us = bytes / 1000; (2^32 - 1)^2 < 2^64, 2^16 * 4 * 1000 < 2^28 */
	u64 window = (u64)be32_to_cpu(h->throughput) * xcp_rtt_us(h);

	return xcp_format(h) != XCP_FORMAT_MINIMAL &&
	       window < (u64)v->segment_bytes * XCP_SMALL_WINDOW_PKTS * XCP_US_PER_MS;
}

/**
 * xcp_write_minimal() - a header that only answers
 * @h: where it goes
 * @next: the protocol that follows
 * @reverse_bytes_ps: of xcp_pay()
 */
static inline void xcp_write_minimal(struct xcp_hdr *h, u8 next, s32 reverse_bytes_ps)
{
	*h = (struct xcp_hdr) {
		.version_format = XCP_VERSION << 4 | XCP_FORMAT_MINIMAL,
		.protocol = next,
		.length = XCP_HDR_BYTES,
		.reverse = cpu_to_be32(reverse_bytes_ps),
	};
}

/**
 * xcp_write_offer() - a header that asks, and answers
 * @h: where it goes
 * @next: the protocol that follows
 * @format: XCP_FORMAT_STANDARD or XCP_FORMAT_MICRO
 * @offer: what the sender says; an RTT of 0 makes the rest 0 (section 3.1.1)
 * @reverse_bytes_ps: of xcp_pay()
 */
static inline void xcp_write_offer(struct xcp_hdr *h, u8 next, enum xcp_format format,
				   const struct xcp_offer *offer, s32 reverse_bytes_ps)
{
	xcp_write_minimal(h, next, reverse_bytes_ps);
	h->version_format = XCP_VERSION << 4 | format;
	h->flags = offer->flags & XCP_FLAGS_KNOWN;
	if (!offer->rtt_us)
		return;
	h->rtt = xcp_rtt_field(format, offer->rtt_us);
	h->throughput = xcp_throughput_field(offer->throughput_bytes_ps);
	h->delta = cpu_to_be32(offer->delta_bytes_ps);
}

/**
 * xcp_is_question() - does a header ask whether headers come through?
 * @h: a header on a pure ACK, checked
 *
 * All others on pure ACKs are Minimal: they answer.
 *
 * Return: true if it says nothing of its sender, as on a SYN.
 */
static inline bool xcp_is_question(const struct xcp_hdr *h)
{
	return xcp_format(h) != XCP_FORMAT_MINIMAL && !h->rtt;
}

/**
 * xcp_is_copy() - may what a tunnel brought be copied back? (section 2.5)
 * @outer: the header in front of the tunnel's packet
 * @inner: the header in front of TCP
 *
 * Both are checked. On its way a router may have lowered Delta_Throughput, and
 * nothing else.
 *
 * Return: whether @outer is @inner but for that.
 */
static inline bool xcp_is_copy(const struct xcp_hdr *outer, const struct xcp_hdr *inner)
{
	return outer->version_format == inner->version_format &&
	       outer->flags == inner->flags && outer->rtt == inner->rtt &&
	       outer->throughput == inner->throughput && outer->reverse == inner->reverse &&
	       xcp_delta(outer) <= xcp_delta(inner);
}

#endif /* NET_XCP_XCP_CARRIER_H */
