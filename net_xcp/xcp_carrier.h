/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The XCP carrier, draft-falk-xcp-spec-00 sections 3.1.1 and 3.1.2: the feedback that is pending
 * for the peer.
 *
 *	pending  += Delta_Throughput		for each received header
 *	reverse   = pending, limited to 32 bits	in the next header that is sent
 *	pending  -= reverse
 *
 * so that delayed ACKs, coalescing and retransmission lose no feedback.
 *
 * The negotiation with the peer is in hopcc/core/hop_negotiate.h.
 *
 * Deviations:
 * - The draft copies a sum of 32 bits. Our sum has 64 bits and is bounded: the part that does not
 *   fit into one header waits for the next.
 * - A header is answered even if the sum is 0, so that the sender learns that the network did
 *   answer.
 * - If the sender's window is below 4 segments, it gets an immediate ACK: with a window of one
 *   segment, its feedback would otherwise wait for the delayed-ACK timer.
 */
#ifndef HOPCC_NET_XCP_XCP_CARRIER_H
#define HOPCC_NET_XCP_XCP_CARRIER_H

#include <linux/types.h>
#include <hopcc/lib/hop_discover.h>
#include <hopcc/wire/xcp.h>
#include <hopcc/flow/xcp_flow.h>

/**
 * struct nxcp_vars - state per flow; written under the flow's lock, except @taken_bytes_ps and
 * @taken_headers
 * @unreturned_bytes_ps: pending feedback: sum of Delta_Throughput that was not returned
 *	yet, bytes/s
 * @unreturned_headers: number of headers in that sum that were not answered yet
 * @feedback_bytes_ps: sum of Reverse_Feedback since the connection started, bytes/s, modulo 2^64
 * @feedback_headers: number of headers in that sum, modulo 2^32; written after @feedback_bytes_ps
 * @taken_bytes_ps: value of @feedback_bytes_ps when the congestion control last took it; only
 *	nxcp_take() writes it
 * @taken_headers: value of @feedback_headers at that time; only nxcp_take() writes it
 * @segment_bytes: longest payload received from the peer, bytes
 * @asked: a header carried a demand since the last nxcp_flow_was_asked()
 * @needs_room: since the last answer, data was sent that had no room for one
 * @unasked: since the peer's last header, a header was sent without pending feedback
 */
struct nxcp_vars {
	s64 unreturned_bytes_ps;
	u64 feedback_bytes_ps;
	u64 taken_bytes_ps;
	u32 unreturned_headers;
	u32 feedback_headers;
	u32 taken_headers;
	u32 segment_bytes;
	bool asked;
	bool needs_room;
	bool unasked;
};

/**
 * nxcp_account() - account a received header
 * @v: the flow
 * @h: the header, validated by xcp_check()
 * @payload_bytes: payload of one packet on the wire, bytes
 * @segs_pkts: number of packets on the wire that the header represents, at most 2^16; above 1 for a
 *	GSO packet, whose header carries a demand for each of them but feedback only once
 *
 * A Minimal header and one without an RTT carry no demand, so they cause no pending feedback.
 */
void nxcp_account(struct nxcp_vars *v, const struct xcp_hdr *h, u32 payload_bytes, u32 segs_pkts);

/*
 * Return: true if an answer to the peer is pending; called for each packet without the flow's lock
 */
bool nxcp_has_pending(const struct nxcp_vars *v);

/**
 * nxcp_take_pending() - take the feedback for a header that is being sent
 * @v: the flow
 *
 * Return: the header's Reverse_Feedback, bytes/s; the part that does not fit stays pending.
 */
s32 nxcp_take_pending(struct nxcp_vars *v);

/**
 * nxcp_wants_room() - must a socket's data leave room for answers?
 * @v: the flow, after nxcp_account()
 *
 * If data flows in both directions, it carries the ACKs, and no other packet can carry an answer.
 *
 * Return: true if XCP_TIMEOUT_HEADERS headers are unanswered and data had no room for the answer.
 */
bool nxcp_wants_room(const struct nxcp_vars *v);

/**
 * nxcp_take() - take the feedback received for the congestion control
 * @v: the flow
 * @headers: number of headers
 *
 * Needs no lock against nxcp_account(), which writes the sums, while nxcp_take() writes the values
 * that it has seen. The sum may include a header that is not in the count yet; the next call then
 * counts it without feedback.
 *
 * Context: one caller at a time.
 * Return: the sum of Reverse_Feedback, bytes/s; 0 without a header.
 */
s64 nxcp_take(struct nxcp_vars *v, u32 *headers);

/**
 * nxcp_window_is_small() - is the sender's window so small that it waits for this ACK?
 * @v: the flow, after nxcp_account()
 * @h: the header of the sender's data
 *
 * The window is Throughput * RTT from the sender's header; an unknown window counts as small. A
 * sender whose data has Minimal headers has no demand and needs no immediate ACK.
 *
 * Return: true if the window is below XCP_SMALL_WINDOW_PKTS segments.
 */
bool nxcp_window_is_small(const struct nxcp_vars *v, const struct xcp_hdr *h);

/**
 * nxcp_write_minimal() - build a header that carries only feedback
 * @h: the header to write
 * @next: protocol of the next header
 * @reverse_bytes_ps: the result of nxcp_take_pending(), bytes/s
 */
void nxcp_write_minimal(struct xcp_hdr *h, u8 next, s32 reverse_bytes_ps);

/**
 * nxcp_write_offer() - build a header with the sender's offer and feedback
 * @h: the header to write
 * @next: protocol of the next header
 * @format: XCP_FORMAT_STANDARD or XCP_FORMAT_MICRO
 * @offer: values of the sender; an RTT of 0 makes the other values 0 (section 3.1.1)
 * @reverse_bytes_ps: the result of nxcp_take_pending(), bytes/s
 */
void nxcp_write_offer(struct xcp_hdr *h, u8 next, enum xcp_format format,
		      const struct xcp_offer *offer, s32 reverse_bytes_ps);

/**
 * nxcp_scale_offer() - compute the offer of a copy without the data
 * @offer: offer of each packet
 * @bytes: all packets as one GSO packet, with the headers, bytes
 * @copy_bytes: the copy, bytes
 * @pkts: number of packets
 *
 * A router's feedback is proportional to a packet's bytes over its Throughput, and at most the
 * packet's demand.
 *
 * Return: the offer.
 */
struct xcp_offer nxcp_scale_offer(const struct xcp_offer *offer, u32 bytes, u32 copy_bytes,
				  u32 pkts);

/**
 * nxcp_is_copy() - may a tunnel's outer header be copied to the inner one? (section 2.5)
 * @outer: the header in front of the tunnel's packet
 * @inner: the header in front of TCP
 *
 * Both headers are validated by xcp_check(). A switch qdisc in the tunnel may have lowered
 * Delta_Throughput, and nothing else.
 *
 * Return: true if @outer differs from @inner only in this.
 */
bool nxcp_is_copy(const struct xcp_hdr *outer, const struct xcp_hdr *inner);

#endif /* HOPCC_NET_XCP_XCP_CARRIER_H */
