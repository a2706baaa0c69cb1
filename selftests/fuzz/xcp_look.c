// SPDX-License-Identifier: GPL-2.0
/* A congestion header in a packet on egress: reading in place gives the same result as a search. */
#include "packet.h"
#include "../../hop_core/hop_pkt.c"
#include "xcp_header.h"
#include <uapi/linux/pkt_sched_xcp.h>
#include "xcp_look.h"

static bool is_equal(const struct sxcp_pkt *a, const struct sxcp_pkt *b)
{
	return a->class == b->class && a->fault == b->fault && a->format == b->format &&
	       a->flags == b->flags && a->pkts == b->pkts && a->bytes == b->bytes &&
	       a->rtt_us == b->rtt_us && a->throughput_bytes_pms == b->throughput_bytes_pms &&
	       a->delta_bytes_ps == b->delta_bytes_ps && a->offset_bytes == b->offset_bytes;
}

static void fuzz_once(void)
{
	const struct sxcp_params p = {
		.protocol = TC_XCP_PROTOCOL_DEFAULT,
		.overhead_bytes = fuzz_range(0, TC_XCP_OVERHEAD_MAX_BYTES),
	};
	u8 frame[FRAME_MAX_BYTES] = {};
	struct xcp_hdr h = draw_header();
	struct sk_buff skb = {};
	struct sxcp_pkt pkt, searched;
	u32 at;

	h.protocol = fuzz_choice(4) ? IPPROTO_TCP : p.protocol;
	if (!fuzz_choice(4))
		((u8 *)&h)[fuzz_range(0, 3)] = fuzz_byte();
	at = put_ethernet(frame, &skb.protocol, &skb.network_header);
	at = put_ip(frame, at, fuzz_choice(4) ? p.protocol : fuzz_byte(), fuzz_byte());
	put_header(frame, at, &h, sizeof(h));
	draw_packet(frame, &skb);
	pkt = sxcp_look(&skb, &p);
	searched = sxcp_search(&skb, &p);
	FUZZ_CLAIM(is_equal(&pkt, &searched));
	FUZZ_CLAIM((pkt.class == XCP_CLASS_OTHER) == !pkt.offset_bytes);
	FUZZ_CLAIM(!pkt.offset_bytes || !hop_pkt_lacks(&skb, p.protocol));
	FUZZ_CLAIM(pkt.class != XCP_CLASS_ASKING ||
		   pkt.offset_bytes + XCP_HDR_BYTES <= (int)skb.len);
	free_packet(&skb);
}
