// SPDX-License-Identifier: GPL-2.0
/*
 * One packet adds no more than its bytes to the state of a port of sch_int, which all flows share.
 *
 * The state is txBytes, the queue, the bytes in the driver's ring and the utilisation for INT-MD.
 * It is made of packets' sizes and of the clock: txBytes and the ring grow by the packet's bytes on
 * the wire, the queue is the child's backlog, and the utilisation is computed from txBytes. A value
 * in a header is read for that header alone. So packets that differ only in what is behind their
 * length leave the same port. hop_pkt.c has the claim that no byte of a packet changes its size on
 * the wire, and the bound for GSO packets; int_foreign.c has the bound of the bytes that a hop
 * inserts.
 */
#include "int_header.h"
#include "../../hop_core/hop_ring.c"
#include <uapi/linux/pkt_sched_int.h>
#include "hop_ioam.c"
#include "int_format.c"
#include "../../sch_int/int_hop.c"

struct port {
	struct sint_hop_params hop;
	struct hop_ring ring;
	struct sint_util util;
	u64 rate_bytes_ps;
	u64 tx_bytes;
	u64 queue_bytes;
};

static struct port draw_port(u64 now_ns)
{
	struct port port = {
		.rate_bytes_ps = fuzz_range(TC_INT_RATE_MIN_BYTES_PS, TC_INT_RATE_MAX_BYTES_PS),
		.tx_bytes = fuzz_u64(),
		.queue_bytes = fuzz_u32(),
	};

	port.hop.code = fuzz_flag() ? sint_hop_code(port.rate_bytes_ps) : fuzz_range(0, 14);
	port.hop.switch_id = fuzz_range(0, TC_INT_SWITCH_ID_MAX);
	port.hop.port_id = fuzz_range(0, TC_INT_PORT_ID_MAX);
	port.hop.pace_q40 = sint_hop_pace_q40(port.rate_bytes_ps);
	hop_ring_set_rate(&port.ring, port.rate_bytes_ps);
	port.ring.now_ns = now_ns;
	port.util = (struct sint_util) { .since_ns = now_ns, .tx_bytes = port.tx_bytes };
	return port;
}

/* A packet leaves, as in sint_dequeue(). @h: its header, or NULL. Return: the record of the port */
static __be64 depart(struct port *port, struct int_hdr *h, u32 bytes, u64 now_ns)
{
	const struct hop_ring_bql none = {};
	const u64 ring_bytes = hop_ring_held_bytes(&port->ring, now_ns, &none);
	const struct sint_hop_moment moment = {
		now_ns, port->tx_bytes - ring_bytes, port->queue_bytes + ring_bytes,
	};
	const struct int_record r = sint_hop_record(&port->hop, &moment);
	s64 change;

	if (h)
		sint_hop_write(h, &port->hop, int_pack(&r), &change);
	sint_util_ppm(&port->util, now_ns, moment.tx_bytes, port->rate_bytes_ps);
	port->tx_bytes += bytes;
	hop_ring_give(&port->ring, now_ns, bytes, &none);
	return int_pack(&r);
}

/* Packets of the same size with any header, or with none, leave the same port and see the same. */
static void check_header(struct port *port, u32 bytes, u64 now_ns)
{
	struct port other = *port;
	u32 room_bytes;
	struct int_hdr *h = draw_header(&room_bytes);
	const bool valid = int_check(room_bytes < INT_HDR_BYTES ? NULL : h, room_bytes) == INT_OK;
	const u32 hops = valid ? int_hops(h) : 0;
	const __be64 want = depart(&other, NULL, bytes, now_ns);

	FUZZ_CLAIM(depart(port, valid ? h : NULL, bytes, now_ns) == want);
	FUZZ_CLAIM(!memcmp(&other, port, sizeof(other)));
	FUZZ_CLAIM(!valid || hops >= int_slots(h) || h->record[hops] == want);
	free(h);
}

/* Return: the utilisation by @bytes in a window, ppm, rounded up by one part in 1024, and 2 */
static u64 most_ppm(u32 bytes, u64 window_ns, u64 rate_bytes_ps)
{
	const u64 can_bytes = max_t(u64, 1, mul_u64_u64_div_u64(window_ns, rate_bytes_ps,
								SINT_NS_PER_S));
	const u64 ppm = (u64)bytes * SINT_PPM / can_bytes;

	return ppm + (ppm >> 10) + 2;
}

/*
 * A packet more adds its bytes over the window to the utilisation. A packet that asks ends a window
 * of SINT_UTIL_WINDOW_NS at least, and changes nothing before.
 */
static void check_util(struct port *port, u64 now_ns)
{
	const u64 window_ns = now_ns - port->util.since_ns;
	const u64 tx_bytes = port->util.tx_bytes + fuzz_range(0, 1ULL << 44);
	const u32 bytes = fuzz_range(1, S32_MAX);
	struct sint_util without = port->util, with = port->util;
	const u32 ppm = sint_util_ppm(&without, now_ns, tx_bytes, port->rate_bytes_ps);
	const u32 with_ppm = sint_util_ppm(&with, now_ns, tx_bytes + bytes, port->rate_bytes_ps);

	FUZZ_CLAIM(with_ppm >= ppm);
	FUZZ_CLAIM(with_ppm - ppm <= most_ppm(bytes, max_t(u64, window_ns, SINT_UTIL_WINDOW_NS),
					      port->rate_bytes_ps));
	FUZZ_CLAIM(window_ns >= SINT_UTIL_WINDOW_NS ||
		   (with_ppm == ppm && !memcmp(&with, &port->util, sizeof(with))));
}

static void fuzz_once(void)
{
	u64 now_ns = fuzz_range(0, 1ULL << 60);
	struct port port = draw_port(now_ns);

	while (fuzz_has_more()) {
		const u64 tx_bytes = port.tx_bytes, given_bytes = port.ring.given_bytes;
		const u32 bytes = fuzz_range(1, S32_MAX);

		now_ns += fuzz_range(0, 1ULL << 50);
		check_util(&port, now_ns);
		check_header(&port, bytes, now_ns);
		FUZZ_CLAIM(port.tx_bytes - tx_bytes == bytes);
		FUZZ_CLAIM(port.ring.given_bytes - given_bytes == bytes);
		FUZZ_CLAIM(port.ring.work_q16 <= HOP_RING_MAX_BYTES << HOP_RING_SHIFT);
		port.queue_bytes = fuzz_u32();
	}
}
