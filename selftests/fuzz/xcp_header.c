// SPDX-License-Identifier: GPL-2.0
/* The XCP header: sch_xcp's reading of any 20 bytes, and the carrier's fields */
#include "fuzz.h"
#include "xcp_router.h"

/* The demand per packet is the mean, rounded up by less than 1 byte/s. */
static void check_sum(const struct sxcp_pkt *pkt, const struct xcp_hdr *h)
{
	const s64 more = (s64)pkt->delta_bytes_ps * pkt->pkts - xcp_delta_sum(h, pkt->pkts);

	FUZZ_CLAIM(more >= 0 && more < pkt->pkts);
	FUZZ_CLAIM(pkt->sum == (pkt->pkts > 1 && h->flags & XCP_FLAG_SUM));
	FUZZ_CLAIM(!pkt->sum || pkt->flags == (h->flags & ~XCP_FLAG_SUM));
}

static void check_read(const struct xcp_hdr *h, u8 protocol)
{
	struct tc_xcp_xstats stats = {};
	struct sxcp_pkt pkt = { .pkts = fuzz_flag() ? 1 : fuzz_range(1, 1 << 19), .bytes = 1500 };

	sxcp_read(&pkt, h, protocol);
	FUZZ_CLAIM((pkt.class == XCP_CLASS_MALFORMED) == (pkt.fault != XCP_OK));
	FUZZ_CLAIM(pkt.fault < XCP_FAULTS);
	sxcp_count(&stats, &pkt);
	if (pkt.class == XCP_CLASS_ASKING)
		/* The algorithm divides by these. */
		FUZZ_CLAIM(pkt.rtt_us && pkt.throughput_bytes_pms);
	if (pkt.fault == XCP_OK) {
		check_sum(&pkt, h);
		FUZZ_CLAIM(h->protocol != protocol);
		FUZZ_CLAIM(xcp_format(h) != XCP_FORMAT_MINIMAL || !xcp_rtt_us(h));
	}
}

static void check_fields(void)
{
	const u32 rtt_us = fuzz_u32();
	const u64 bytes_ps = fuzz_range(0, (u64)U32_MAX * XCP_MS_PER_S);
	struct xcp_hdr h = { .version_format = XCP_FORMAT_STANDARD };

	/* Values are rounded up, so that a known value does not become 0. */
	h.rtt = xcp_rtt_field(XCP_FORMAT_STANDARD, rtt_us);
	FUZZ_CLAIM(xcp_rtt_us(&h) >= rtt_us && !xcp_rtt_us(&h) == !rtt_us);
	h.version_format = XCP_FORMAT_MICRO;
	h.rtt = xcp_rtt_field(XCP_FORMAT_MICRO, rtt_us);
	FUZZ_CLAIM(xcp_rtt_us(&h) == rtt_us);
	h.throughput = xcp_throughput_field(bytes_ps);
	FUZZ_CLAIM((u64)be32_to_cpu(h.throughput) * XCP_MS_PER_S >= bytes_ps);
	FUZZ_CLAIM(!h.throughput == !bytes_ps);
}

static void fuzz_once(void)
{
	const u8 protocol = fuzz_byte();
	u8 *h = fuzz_buffer(XCP_HDR_BYTES);

	check_read((struct xcp_hdr *)h, protocol);
	check_read(NULL, protocol);
	free(h);
	check_fields();
}
