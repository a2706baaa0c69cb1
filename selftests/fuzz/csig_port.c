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
	const u64 waited_ns = fuzz_u64();

	FUZZ_CLAIM(scsig_port_available_bytes_ps(v, p) <= p->capacity_bytes_ps);
	FUZZ_CLAIM(!v->drain.rate_bytes_ps ||
		   scsig_port_available_bytes_ps(v, p) <= v->drain.rate_bytes_ps);
	FUZZ_CLAIM(scsig_port_value(v, p, CSIG_ABW, 0) <=
		   p->capacity_bytes_ps / CSIG_BYTES_PER_KBIT);
	FUZZ_CLAIM(scsig_port_value(v, p, CSIG_ABW_C, 0) <= CSIG_PPM_MAX);
	FUZZ_CLAIM(scsig_port_value(v, p, CSIG_PD, waited_ns) == waited_ns);
}

/* Packets at one instant with forged sizes: more bytes than any port sends in an interval */
static void send_burst(struct scsig_port_vars *v, u64 now_ns)
{
	const u32 bytes = fuzz_range(1, S32_MAX);
	u32 pkts = fuzz_range(1, 512);

	while (pkts--)
		scsig_port_sent(v, now_ns, bytes);
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
	FUZZ_CLAIM(with->periods == without->periods && with->start_ns == without->start_ns);
}

static void check_share(const struct scsig_port_vars *v, const struct scsig_port_params *p,
			u64 now_ns)
{
	struct scsig_port_vars without = *v, with = *v;
	const u32 bytes = (now_ns & S32_MAX) + 1;

	if (!v->runs)
		return;
	scsig_port_sent(&with, v->start_ns, bytes);
	scsig_port_look(&without, p, now_ns);
	scsig_port_look(&with, p, now_ns);
	check_added(&with, &without, p, bytes);
}

/* The same for a packet of one of several queues */
static void check_share_of_queue(const struct scsig_port_vars *v, const struct scsig_port_params *p,
				 u64 total_bytes, u64 now_ns)
{
	const u64 due_ns = scsig_port_shared_due_ns(p);
	struct scsig_port_vars without = *v, with = *v;
	const u32 bytes = (now_ns & S32_MAX) + 1;

	scsig_port_look_total(&without, p, due_ns, total_bytes, now_ns);
	scsig_port_look_total(&with, p, due_ns, total_bytes + bytes, now_ns);
	check_added(&with, &without, p, bytes);
}

/*
 * A port with several queues: the CPUs may update it in a different order than they read the clock.
 */
static void fuzz_queues(void)
{
	const struct scsig_port_params p = draw_params();
	const u64 due_ns = scsig_port_shared_due_ns(&p);
	u64 now_ns = fuzz_range(1000, 1ULL << 60), total_bytes = fuzz_u64();
	struct scsig_port_vars v = {};

	while (fuzz_has_more()) {
		const struct scsig_port_vars before = v;

		now_ns += fuzz_range(0, 1ULL << 50);
		total_bytes += fuzz_u32();
		check_share_of_queue(&v, &p, total_bytes, now_ns);
		if (scsig_port_look_total(&v, &p, due_ns, total_bytes, now_ns - fuzz_range(0,
											   1000)))
			FUZZ_CLAIM(v.periods > before.periods && v.start_ns >= before.start_ns);
		else
			FUZZ_CLAIM(v.used_bytes_ps == before.used_bytes_ps &&
				   v.bytes >= before.bytes);
		check(&v, &p);
	}
}

static void fuzz_once(void)
{
	struct scsig_port_params p = draw_params();
	struct scsig_port_vars v = {};
	u64 now_ns = fuzz_range(0, 1ULL << 60);

	if (fuzz_choice(2)) {
		fuzz_queues();
		return;
	}
	while (fuzz_has_more()) {
		const u64 periods = v.periods, used_bytes_ps = v.used_bytes_ps;
		struct scsig_port_vars bounded = v;
		bool due;

		now_ns += fuzz_range(0, 1ULL << 50);
		check_share(&v, &p, now_ns);
		bounded.bytes = min_t(u64, v.bytes, CSIG_BYTES_MAX);
		scsig_port_look(&bounded, &p, now_ns);
		due = scsig_port_is_due(&v, scsig_port_due_ns(&p), now_ns);
		if (!scsig_port_look(&v, &p, now_ns))
			FUZZ_CLAIM(v.used_bytes_ps == used_bytes_ps && v.periods == periods);
		else
			FUZZ_CLAIM(due && v.periods > periods && !v.bytes);
		/* More bytes than any port can send count as the maximum. */
		FUZZ_CLAIM(v.used_bytes_ps == bounded.used_bytes_ps && v.dre_x == bounded.dre_x);
		FUZZ_CLAIM(!v.runs || v.start_ns <= now_ns);
		if (fuzz_choice(4))
			send_burst(&v, now_ns);
		else if (fuzz_flag())
			/* A change while traffic flows restarts the estimate. */
			v = (struct scsig_port_vars) {}, p = draw_params();
		else
			/* A measured rate changes the interval. */
			p.interval_ns = fuzz_range(TC_CSIG_INTERVAL_MIN_NS,
						   TC_CSIG_INTERVAL_MAX_NS);
		v.drain = draw_drain(&p);
		check(&v, &p);
	}
}
