// SPDX-License-Identifier: GPL-2.0
/* A CSIG port: the reported available bandwidth never exceeds the port's rate. */
#include "fuzz.h"
#include "../../sch_csig/csig_port.c"

static struct scsig_port_params draw_params(void)
{
	return (struct scsig_port_params) {
		.capacity_bytes_ps = fuzz_range(1, TC_CSIG_RATE_MAX_BYTES_PS),
		.interval_ns = fuzz_range(TC_CSIG_INTERVAL_MIN_NS, TC_CSIG_INTERVAL_MAX_NS),
		.estimator = fuzz_range(0, TC_CSIG_ESTIMATOR_MAX),
		.shift = fuzz_range(TC_CSIG_SHIFT_MIN, TC_CSIG_SHIFT_MAX),
		.shared = fuzz_flag(),
	};
}

/* The rate that the port is found to send: any rate that tc accepts, below the configured one */
static struct hop_drain draw_drain(const struct scsig_port_params *p)
{
	return (struct hop_drain) {
		.rate_bytes_ps = fuzz_flag() ? 0 : fuzz_range(1, p->capacity_bytes_ps),
	};
}

static void check(const struct scsig_port_vars *v, const struct scsig_port_params *p)
{
	FUZZ_CLAIM(scsig_port_available_bytes_ps(v, p) <= p->capacity_bytes_ps);
	FUZZ_CLAIM(!v->drain.rate_bytes_ps ||
		   scsig_port_available_bytes_ps(v, p) <= v->drain.rate_bytes_ps);
	FUZZ_CLAIM(scsig_port_value(v, p, CSIG_ABW) <=
		   p->capacity_bytes_ps / CSIG_BYTES_PER_KBIT);
	FUZZ_CLAIM(scsig_port_value(v, p, CSIG_ABW_C) <= CSIG_PPM_MAX);
}

/* Packets at one instant with forged sizes: more bytes than any port sends in an interval */
static u64 burst_bytes(void)
{
	return fuzz_range(1, S32_MAX) * fuzz_range(1, 512);
}

/*
 * The most that one packet adds to the estimate is its bytes in one T, whatever the estimator; the
 * estimate takes nothing else from a packet: hop_pkt.c has the claim that a tag does not change the
 * bytes, hop_drain.c that of the measured rate. dre rounds X and then the quotient.
 */
static void check_added(const struct scsig_port_vars *with, const struct scsig_port_vars *without,
			const struct scsig_port_params *p, u32 bytes)
{
	FUZZ_CLAIM(with->used_bytes_ps >= without->used_bytes_ps);
	FUZZ_CLAIM(with->used_bytes_ps - without->used_bytes_ps <=
		   scsig_port_rate(bytes, p->interval_ns) + 2);
	FUZZ_CLAIM(with->start_ns == without->start_ns);
}

static void check_share(const struct scsig_port_vars *v, const struct scsig_port_params *p,
			u64 total_bytes, u64 now_ns)
{
	struct scsig_port_vars without = *v, with = *v;
	const u32 bytes = (now_ns & S32_MAX) + 1;

	scsig_port_look(&without, p, total_bytes, now_ns);
	scsig_port_look(&with, p, total_bytes + bytes, now_ns);
	check_added(&with, &without, p, bytes);
}

/* More bytes than any port can send count as the maximum. */
static void check_bound(const struct scsig_port_vars *v, const struct scsig_port_params *p,
			u64 total_bytes, u64 now_ns)
{
	const u64 left_bytes = total_bytes - v->total_bytes;
	struct scsig_port_vars bounded = *v, all = *v;

	scsig_port_look(&all, p, total_bytes, now_ns);
	scsig_port_look(&bounded, p, v->total_bytes + min_t(u64, left_bytes, CSIG_BYTES_MAX),
			now_ns);
	FUZZ_CLAIM(all.used_bytes_ps == bounded.used_bytes_ps && all.dre_x == bounded.dre_x);
}

/* Look at the port; the CPUs may do so in a different order than they read the clock. */
static void look(struct scsig_port_vars *v, const struct scsig_port_params *p, u64 total_bytes,
		 u64 now_ns)
{
	const struct scsig_port_vars before = *v;
	const bool due = scsig_port_is_due(v, p, now_ns);

	if (scsig_port_look(v, p, total_bytes, now_ns))
		FUZZ_CLAIM(due && !v->bytes && v->start_ns <= now_ns &&
			   v->start_ns >= before.start_ns);
	else
		FUZZ_CLAIM(v->used_bytes_ps == before.used_bytes_ps && v->bytes >= before.bytes &&
			   (!due || !before.runs));
}

static void fuzz_once(void)
{
	struct scsig_port_params p = draw_params();
	struct scsig_port_vars v = {};
	u64 now_ns = fuzz_range(1000, 1ULL << 60), total_bytes = fuzz_u64();

	while (fuzz_has_more()) {
		now_ns += fuzz_range(0, 1ULL << 50);
		total_bytes += fuzz_u32();
		check_share(&v, &p, total_bytes, now_ns);
		check_bound(&v, &p, total_bytes, now_ns);
		look(&v, &p, total_bytes, now_ns - (p.shared ? fuzz_range(0, 1000) : 0));
		if (fuzz_choice(4))
			total_bytes += burst_bytes();
		else if (fuzz_flag())
			/* A change while traffic flows restarts the estimate. */
			v = (struct scsig_port_vars) {}, p = draw_params();
		else
			/* A measured rate changes the interval. */
			v.drain_interval_ns = fuzz_range(TC_CSIG_INTERVAL_MIN_NS,
							 TC_CSIG_INTERVAL_MAX_NS);
		v.drain = draw_drain(&p);
		check(&v, &p);
	}
}
