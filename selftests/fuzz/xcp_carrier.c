// SPDX-License-Identifier: GPL-2.0
/* The XCP carrier: for any headers, received feedback is either returned or still pending. */
#include "xcp_header.h"
#include "../../hop_core/hop_discover.c"
#include "../../net_xcp/xcp_carrier.c"

static struct xcp_hdr draw_answer(void)
{
	struct xcp_hdr h = draw_header();

	h.reverse = cpu_to_be32(fuzz_u32());
	return h;
}

/* Return: the feedback of the header that arrives */
static s32 arrive(struct nxcp_vars *v)
{
	const struct xcp_hdr h = draw_answer(), outer = draw_answer();
	const s64 unreturned_bytes_ps = v->unreturned_bytes_ps;

	nxcp_account(v, &h, fuzz_range(0, U16_MAX), 1);
	if (!xcp_rtt_us(&h))
		FUZZ_CLAIM(v->unreturned_bytes_ps == unreturned_bytes_ps);
	else
		FUZZ_CLAIM(nxcp_has_pending(v) && v->asked);
	nxcp_window_is_small(v, &h);
	nxcp_wants_room(v);
	FUZZ_CLAIM(nxcp_is_copy(&h, &h));
	/* A tunnel's outer header never grants more than the network did. */
	FUZZ_CLAIM(!nxcp_is_copy(&outer, &h) || xcp_delta(&outer) <= xcp_delta(&h));
	return xcp_reverse(&h);
}

static void leave(struct nxcp_vars *v)
{
	const struct xcp_offer offer = {
		.rtt_us = fuzz_u32(),
		.throughput_bytes_ps = fuzz_range(0, BIT_ULL(40) - 1),
		.delta_bytes_ps = fuzz_u32(),
		.flags = fuzz_byte(),
	};
	const enum xcp_format format = fuzz_flag() ? XCP_FORMAT_STANDARD : XCP_FORMAT_MICRO;
	const s64 unreturned_bytes_ps = v->unreturned_bytes_ps;
	const s32 reverse_bytes_ps = nxcp_take_pending(v);
	struct xcp_hdr h;

	FUZZ_CLAIM(v->unreturned_bytes_ps + reverse_bytes_ps == unreturned_bytes_ps);
	FUZZ_CLAIM(!v->unreturned_headers);
	nxcp_write_offer(&h, 6, format, &offer, reverse_bytes_ps);
	FUZZ_CLAIM(xcp_check(&h, XCP_PROTOCOL_DEFAULT) == XCP_OK);
	FUZZ_CLAIM(xcp_reverse(&h) == reverse_bytes_ps);
	FUZZ_CLAIM(offer.rtt_us || (!h.rtt && !h.throughput && !h.delta));
	FUZZ_CLAIM(!(h.flags & ~XCP_FLAG_E2E_LIMITED));
}

static void fuzz_once(void)
{
	/* State as after any number of headers */
	struct nxcp_vars v = {
		.unreturned_bytes_ps = (s64)fuzz_range(0, 2 * XCP_UNRETURNED_MAX_BYTES_PS) -
				 XCP_UNRETURNED_MAX_BYTES_PS,
	};
	s64 feedback_bytes_ps = 0;
	enum hop_stage stage = HOP_STAGE_NONE;
	u32 headers;

	while (fuzz_has_more()) {
		switch (fuzz_choice(4)) {
		case 0:
			leave(&v);
			break;
		case 1:
			FUZZ_CLAIM(nxcp_take(&v, &headers) == feedback_bytes_ps);
			FUZZ_CLAIM(!nxcp_take(&v, &headers) && !headers);
			feedback_bytes_ps = 0;
			break;
		case 2:
			stage = hop_next_stage(stage, fuzz_choice(HOP_EVENT_HIDDEN + 1));
			FUZZ_CLAIM(stage <= HOP_STAGE_UNSUPPORTED);
			FUZZ_CLAIM(hop_peer_at(stage) <= HOP_PEER_UNSUPPORTED);
			break;
		default:
			feedback_bytes_ps += arrive(&v);
		}
		FUZZ_CLAIM(llabs(v.unreturned_bytes_ps) <= XCP_UNRETURNED_MAX_BYTES_PS);
	}
}
