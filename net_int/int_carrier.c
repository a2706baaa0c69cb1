// SPDX-License-Identifier: GPL-2.0
/* Functions that run once per connection: records of its handshake; see int_carrier.h. */

#include "int_carrier.h"

/* INT_SPEED_UNSURE if a hop found no slot for its record, or recorded no known rate. */
static u8 nint_met_speed(const struct int_hdr *h)
{
	if (!int_hops(h))
		return 0;
	if (int_hops(h) > int_slots(h))
		return INT_SPEED_UNSURE;
	return int_speed_code(hpcc_path_mbit(h)) ?: INT_SPEED_UNSURE;
}

struct nint_met nint_met_by_handshake(const struct int_hdr *h)
{
	return (struct nint_met) {
		.hops = int_hops(h),
		.speed = nint_met_speed(h),
		.queues_ns = min_t(u64, hpcc_queues_ns(h), U32_MAX),
	};
}

u16 nint_queues_to_report(const struct nint_met *met)
{
	return min_t(u32, met->queues_ns >> INT_QUEUES_SHIFT, U16_MAX);
}

u32 nint_reported_queues_ns(u16 queues)
{
	return queues == U16_MAX ? HPCC_QUEUE_LONG_NS : (u32)queues << INT_QUEUES_SHIFT;
}

void nint_report_syn(struct int_hdr *h, const struct nint_met *met)
{
	h->flags = met->hops;
	h->path = cpu_to_be32(nint_queues_to_report(met));
	*int_options(h) |= cpu_to_be32(met->speed);
}

struct nint_met nint_met_by_report(const struct int_hdr *h)
{
	return (struct nint_met) {
		.hops = min_t(unsigned int, (h->flags & INT_FLAGS_VALUE) ?: int_hops(h),
			      INT_HOPS_SATURATED),
		.speed = int_reported_speed(h),
		.queues_ns = nint_reported_queues_ns(int_padding(h)),
	};
}

unsigned int nint_slots_for(unsigned int slots, unsigned int hops)
{
	return slots ? clamp(hops, slots, INT_SLOTS_MAX) : 0;
}
