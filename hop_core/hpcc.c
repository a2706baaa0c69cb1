// SPDX-License-Identifier: GPL-2.0
/*
 * The HPCC++ algorithm, draft-miao-rtgwg-hpccplus-00 section 4.2: it computes the window from the
 * records of all hops. It runs at the sender, or at the receiver on the sender's behalf (section
 * 6.3.2).
 *
 *	u'_j = min(qlen_j, qlen'_j) / (B_j T) + txRate_j / B_j		of each hop j
 *	u    = max u'_j;  tau = min(dts of that hop, T)
 *	U    = (1 - tau/T) U + tau/T u
 *	W    = Wc / (U / eta) + W_ai	if U >= eta or incStage >= maxStage
 *	       Wc + W_ai		else
 *	Wc   = W	once a round trip
 *
 * U and u' are in units of 2^-20, windows in units of 2^-16 bytes. Ranges: T is 1 us to 1 s,
 * windows are up to 2^32 bytes, u' is up to 4095.
 *
 * Deviations from the draft; Documentation/conformance/hpccpp.md has what gets worse without each:
 * - Records. U starts at 1. Stored records are updated with every answer, Wc once a round trip. A
 *   record is new if its port has sent HPCC_UNITS_MIN units since the stored one, or after T: the
 *   rounding of fewer units would bias the maximum of the hops' rates upwards. Of the values that
 *   dts may have, the one closest to the time between the answers is taken. Records older than
 *   HPCC_STORED_MAX_NS are not compared; if W is less than a packet, it then doubles, so that the
 *   flow's next round is shorter. Records of HPCC_PATHS_MAX paths are kept, and a record is
 *   compared only with one of its own path.
 * - Hop. The most loaded hop stays the one of the latest answer, unless another hop's u' is larger
 *   by HPCC_U_STAY. Each u' is a few percent off, so the maximum of all would be too large.
 * - Queue. Two packets, HPCC_FREE_PKTS, count as empty: a probe has its own data packet behind it,
 *   and TCP's smallest burst is two packets.
 *   A queue must drain within T plus the delay of answers on the way back, which T does not
 *   include. The least time is HPCC_DRAIN_PKTS packet times of the port, so that a burst of another
 *   flow does not count as overload.
 * - Rate. W_init and W_ai are computed from the rate of the path's slowest port, whether this is
 *   slower or faster than the line: a W_ai from the line rate would not fit that port.
 * - Growth. The sender estimates the number of flows as W_init / (1.5 W), limited to N to
 *   HPCC_FLOWS_RANGE N, so that all flows together add less than 1.5 (1 - eta) of a BDP. In its
 *   first round a flow adds a third of W_ai. The target is eta - W_ai / W_init, and W is at most
 *   what this target allows, so that a single flow settles at eta.
 * - Bursts. If a burst has reduced W, and more than 1/16 of eta is free afterwards, W returns at
 *   once to the window that the flow had without overload (hpcc_remember()), instead of growing by
 *   W_ai for maxStage rounds.
 * - Windows below one packet. The flow's round is the time in which it sends one packet, several T.
 *   A queue must drain within such a round, not within T. With U below half of eta, or with W below
 *   a quarter of a packet, the flow does not wait for maxStage rounds. With W below a quarter of a
 *   packet, W moves by a quarter of the difference in each round, because the effect of a change
 *   is measured up to two rounds later.
 * - Loss sets W to half of the larger one of W and Wc. If U has already reduced W below that, a
 *   loss does not reduce W again.
 */
#include <linux/module.h>
#include <hopcc/lib/hpcc.h>

/* After this time a record is new even with fewer units than HPCC_UNITS_MIN: the load is low. */
#define HPCC_NEW_MAX_NS		4000000U
/*
 * A window below 1/2^HPCC_TINY_SHIFT of a full packet moves 1/2^HPCC_TINY_SHIFT of the way in each
 * round.
 */
#define HPCC_TINY_SHIFT		2
/* Minimum time in which a queue must drain, in full packets that the port sends meanwhile. */
#define HPCC_DRAIN_PKTS		32U
/* u' by which another hop must exceed that of the most loaded one to replace it. */
#define HPCC_U_STAY		(HPCC_U_ONE >> 4)
#define HPCC_KEY_HOPS_SHIFT	24
/* In its first round a flow adds W_ai divided by this. */
#define HPCC_FIRST_AI		3U
#define HPCC_WND_MIN		((u64)HPCC_WND_MIN_BYTES << HPCC_WND_SHIFT)
/* Maximum of the estimate of N, in units of N. */
#define HPCC_FLOWS_RANGE	16U
/* The remembered window is used while more than 1/2^HPCC_ROOM_SHIFT of eta is free. */
#define HPCC_ROOM_SHIFT		4
/*
 * It decays by 1/2^HPCC_FORGET_SHIFT with each loss and in each round of a burst (U above
 * HPCC_U_BURST); in each other round without free capacity, by 1/2^HPCC_FOLLOW_SHIFT of its
 * difference to Wc.
 */
#define HPCC_FORGET_SHIFT	6
#define HPCC_FOLLOW_SHIFT	4

u32 hpcc_bdp_bytes(u64 rate_bytes_ps, u32 t_ns)
{
	u64 bytes = mul_u64_u32_div(rate_bytes_ps, t_ns, 1000000000U);

	return clamp_t(u64, bytes, HPCC_WND_MIN_BYTES, HPCC_WND_MAX_BYTES);
}
EXPORT_SYMBOL_GPL(hpcc_bdp_bytes);

u64 hpcc_wnd_ai(u32 wnd_init_bytes, u32 eta, u32 flows)
{
	/* 2^32 * 2^20 < 2^64 */
	u64 headroom = (u64)wnd_init_bytes * (HPCC_U_ONE - eta);

	return max_t(u64, div_u64(headroom >> (HPCC_U_SHIFT - HPCC_WND_SHIFT), flows), 1);
}
EXPORT_SYMBOL_GPL(hpcc_wnd_ai);

void hpcc_start(struct hpcc_vars *v, const struct hpcc_params *p)
{
	const u64 wnd = (u64)min(p->wnd_init_bytes, p->wnd_max_bytes) << HPCC_WND_SHIFT;

	*v = (struct hpcc_vars) {
		.wnd = wnd,
		.wnd_ref = wnd,
		.u = HPCC_U_ONE,
	};
}
EXPORT_SYMBOL_GPL(hpcc_start);

void hpcc_restart(struct hpcc_vars *v, const struct hpcc_params *p)
{
	const u64 quiet = v->wnd_quiet;

	hpcc_start(v, p);
	if (!quiet)
		return;
	v->wnd_ref = clamp_t(u64, quiet, HPCC_WND_MIN, v->wnd);
	v->wnd = v->wnd_ref;
	v->wnd_quiet = v->wnd_ref;
}
EXPORT_SYMBOL_GPL(hpcc_restart);

static u32 hpcc_packet_bytes(const struct hpcc_params *p)
{
	return p->packet_bytes ?: HPCC_PACKET_BYTES;
}

/* Transmission time of @units, as a fraction of @of_ps in 2^-HPCC_U_SHIFT. */
static u64 hpcc_share(u32 units, u32 unit_ps, u64 of_ps)
{
	/* 2^20 units * 2^20 ps << 20 = 2^60 */
	return units ? div64_u64((u64)units * unit_ps << HPCC_U_SHIFT, of_ps) : 0;
}

/* Transmission time of @bytes, below 2^32, at a port. Below 2^52. */
static u64 hpcc_wire_ps(u32 bytes, const struct int_speed *port)
{
	return (u64)bytes * port->unit_ps >> port->unit_shift;
}

/*
 * ts - ts'. Timestamps have 24 bits, so several differences are possible: the one closest to the
 * time between the answers is returned, or 0 if the record is not new.
 */
static u32 hpcc_elapsed_ns(u32 ts_ns, u32 was_ns, u32 local_ns)
{
	const u32 early_ns = (was_ns + local_ns + HPCC_EARLY_NS - ts_ns) & INT_TS_MASK;
	const u32 most_ns = local_ns + HPCC_EARLY_NS;

	return most_ns > early_ns && ts_ns != was_ns ? most_ns - early_ns : 0;
}

/* Return: true if the window is less than a packet. */
static bool hpcc_is_small(const struct hpcc_vars *v, const struct hpcc_params *p)
{
	return v->wnd_ref < (u64)hpcc_packet_bytes(p) << HPCC_WND_SHIFT;
}

/*
 * Return: true if the window is less than a quarter of a packet: the flow's round exceeds 4 T.
 * False without records: a ratio has the queue in terms of T.
 */
static bool hpcc_is_tiny(const struct hpcc_vars *v, const struct hpcc_params *p)
{
	const u64 tiny = (u64)hpcc_packet_bytes(p) << (HPCC_WND_SHIFT - HPCC_TINY_SHIFT);

	return v->wnd_ref < tiny && v->stride;
}

/*
 * The time in which a queue must drain: T plus the delay on the way back, or the flow's round if
 * the window is less than a packet. It is at least HPCC_DRAIN_PKTS packet times of the port, and
 * twice as many for a window between a quarter of a packet and one: few such flows use a port, and
 * a flow may meet the same packets of other flows in each of its rounds.
 */
static u64 hpcc_drain_ps(const struct hpcc_vars *v, const struct hpcc_params *p,
			 const struct int_speed *port)
{
	const u32 packet_bytes = hpcc_packet_bytes(p);
	u32 pkts = HPCC_DRAIN_PKTS;
	u64 ns = p->t_ns + p->late_ns;

	if (hpcc_is_small(v, p)) {
		/* 2^30 * 2^17 < 2^64 */
		ns = div_u64((u64)p->t_ns * packet_bytes, v->wnd_ref >> HPCC_WND_SHIFT);
		pkts = hpcc_is_tiny(v, p) ? pkts : 2 * pkts;
	}
	return max(min_t(u64, ns, HPCC_T_MAX_NS) * HPCC_PS_PER_NS,
		   hpcc_wire_ps(pkts * packet_bytes, port));
}

/*
 * Lines 4 and 5 of the draft's algorithm for one hop: its u'. Return: ts - ts', and stores the
 * record; 0: it is not new. A port that has changed its speed counts in other units: its record is
 * only stored.
 */
static u32 hpcc_measure_hop(const struct hpcc_vars *v, const struct hpcc_params *p,
			    struct hpcc_hop *hop, __be64 record, u32 local_ns)
{
	const struct int_record was = int_unpack(hop->record), now = int_unpack(record);
	const struct int_speed *port = &int_speeds[now.speed];
	const u32 free_units = HPCC_FREE_PKTS * hpcc_packet_bytes(p) >> port->unit_shift;
	const u32 dt_ns = hpcc_elapsed_ns(now.ts_ns, was.ts_ns, local_ns);
	const u32 units = (now.tx_units - was.tx_units) & INT_TX_MASK;
	const u32 qlen_units = min(now.qlen_units, was.qlen_units);

	if (now.speed != was.speed) {
		hop->record = record;
		return 0;
	}
	if (!dt_ns || (units < HPCC_UNITS_MIN && dt_ns < min(p->t_ns, HPCC_NEW_MAX_NS)))
		return 0;
	hop->record = record;
	hop->u = min_t(u64, HPCC_U_MAX,
		       hpcc_share(units, port->unit_ps, (u64)dt_ns * HPCC_PS_PER_NS) +
		       hpcc_share(qlen_units - min(qlen_units, free_units), port->unit_ps,
				  hpcc_drain_ps(v, p, port)));
	return dt_ns;
}

/* Lines 8 and 9. */
static void hpcc_filter(struct hpcc_vars *v, u32 u, u32 tau_ns, u32 t_ns)
{
	/* |u - U| < 2^32, tau < 2^24 */
	if (tau_ns < t_ns)
		v->u += (s32)div_s64(((s64)u - v->u) * tau_ns, t_ns);
	else
		v->u = u;
}

/*
 * Key of a set of records: the path, the number of records (at least 1), and the hop of the first
 * record. Never 0.
 */
static u32 hpcc_path_key(u16 path_id, u8 hops, u8 records, u8 index)
{
	return (u32)hops << HPCC_KEY_HOPS_SHIFT | (u32)records << 20 | (u32)index << 16 | path_id;
}

/* Return: true if records of this path are stored; it then becomes the latest answer's path. */
static bool hpcc_find_path(struct hpcc_vars *v, u32 key)
{
	unsigned int i;

	if (v->path[v->at].key == key)
		return true;
	for (i = 0; i < HPCC_PATHS_MAX; i++) {
		if (v->path[i].key != key)
			continue;
		v->at = i;
		return true;
	}
	return false;
}

/*
 * Makes room for @records of a new path: in a free entry, otherwise in the entry of the path with
 * the oldest last answer. A path with more records than any before replaces all paths.
 */
static void hpcc_add_path(struct hpcc_vars *v, u32 key, u8 records)
{
	unsigned int i, paths;

	if (records > v->stride) {
		for (i = 0; i < HPCC_PATHS_MAX; i++)
			v->path[i].key = 0;
		v->stride = records;
	}
	v->at = 0;
	paths = min(HPCC_HOPS_STORED / v->stride, HPCC_PATHS_MAX);
	for (i = 0; i < paths && v->path[v->at].key; i++)
		if (!v->path[i].key || v->path[i].stored_ns < v->path[v->at].stored_ns)
			v->at = i;
	v->path[v->at].key = key;
}

/*
 * Lines 1 to 10, for records of the same hops as the stored ones. If U followed the maximum of u',
 * a flow across three equally loaded hops would get less of each than a flow across one.
 */
static enum hpcc_received hpcc_measure(struct hpcc_vars *v, const struct hpcc_params *p,
				       const __be64 *record, unsigned int records, u64 now_ns)
{
	const u32 local_ns = now_ns - v->path[v->at].stored_ns;
	struct hpcc_hop *hop = &v->hop[v->at * v->stride];
	/* With records that were only stored, u' is 0. */
	const bool may_stay = v->bottleneck < records && hop[v->bottleneck].u;
	u32 dt_ns[INT_SLOTS_MAX];
	unsigned int i, most = 0;

	for (i = 0; i < records; i++) {
		dt_ns[i] = hpcc_measure_hop(v, p, &hop[i], record[i], local_ns);
		if (hop[i].u > hop[most].u)
			most = i;
	}
	if (!may_stay || hop[most].u - hop[v->bottleneck].u > HPCC_U_STAY)
		v->bottleneck = most;
	if (!dt_ns[v->bottleneck])
		return HPCC_RECEIVED_SAME;
	hpcc_filter(v, hop[v->bottleneck].u, dt_ns[v->bottleneck], p->t_ns);
	return HPCC_RECEIVED_NEW;
}

u32 hpcc_path_mbit(const struct int_hdr *h)
{
	const unsigned int records = int_records(h);
	u32 least_mbit = U32_MAX;
	unsigned int i;

	for (i = 0; i < records; i++)
		least_mbit = min(least_mbit, int_speeds[int_unpack(h->record[i]).speed].mbit_ps);
	return records ? least_mbit : 0;
}
EXPORT_SYMBOL_GPL(hpcc_path_mbit);

u32 hpcc_forward_ns(const struct int_hdr *h, u32 wire_bytes)
{
	const unsigned int records = int_records(h);
	unsigned int i;
	u64 ps = 0;

	/* 15 * 2^32 bytes * 2^20 ps < 2^56 */
	for (i = 0; i < records; i++)
		ps += hpcc_wire_ps(wire_bytes, &int_speeds[int_unpack(h->record[i]).speed]);
	return min_t(u64, div_u64(ps, HPCC_PS_PER_NS), HPCC_T_MAX_NS);
}
EXPORT_SYMBOL_GPL(hpcc_forward_ns);

/*
 * The stored records are too old to be compared. If the window is less than a packet, the flow's
 * round takes that long, and the next records would be too old as well: double the window.
 */
static void hpcc_shorten_round(struct hpcc_vars *v, const struct hpcc_params *p)
{
	if (!hpcc_is_small(v, p))
		return;
	v->wnd_ref = min(v->wnd_ref * 2, (u64)p->wnd_max_bytes << HPCC_WND_SHIFT);
	v->wnd = v->wnd_ref;
}

/* Processes the records of a path; they are only stored if there are none to compare them with. */
static enum hpcc_received hpcc_take(struct hpcc_vars *v, const struct hpcc_params *p, u32 key,
				    const __be64 *record, unsigned int records, u64 now_ns)
{
	enum hpcc_received received = HPCC_RECEIVED_NEW;
	unsigned int i;

	if (!hpcc_find_path(v, key)) {
		received = v->hops ? HPCC_RECEIVED_PATH : HPCC_RECEIVED_FIRST;
		hpcc_add_path(v, key, records);
	} else if (now_ns - v->path[v->at].stored_ns > HPCC_STORED_MAX_NS) {
		received = HPCC_RECEIVED_FIRST;
		hpcc_shorten_round(v, p);
	}
	v->hops = key >> HPCC_KEY_HOPS_SHIFT;
	v->path_id = key;
	if (received == HPCC_RECEIVED_NEW) {
		received = hpcc_measure(v, p, record, records, now_ns);
	} else {
		v->bottleneck = 0;
		for (i = 0; i < records; i++)
			v->hop[v->at * v->stride + i] = (struct hpcc_hop){ .record = record[i] };
	}
	if (received != HPCC_RECEIVED_SAME)
		v->path[v->at].stored_ns = now_ns;
	return received;
}

enum hpcc_received hpcc_receive(struct hpcc_vars *v, const struct hpcc_params *p,
				const struct int_hdr *h, u64 now_ns)
{
	const unsigned int records = int_records(h);
	const u32 key = hpcc_path_key(int_path_id(h), int_hops(h), records, 0);
	__be64 record[INT_SLOTS_MAX];

	v->path_mbit = hpcc_path_mbit(h);
	if (!v->path_mbit)
		return HPCC_RECEIVED_NOTHING;
	/* Records in a header may be unaligned. */
	memcpy(record, h->record, records * sizeof(*record));
	return hpcc_take(v, p, key, record, records, now_ns);
}
EXPORT_SYMBOL_GPL(hpcc_receive);

enum hpcc_received hpcc_receive_one(struct hpcc_vars *v, const struct hpcc_params *p, u8 hops,
				    u16 path_id, u8 index, const struct int_record *now, u64 now_ns)
{
	const __be64 record = int_pack(now);
	enum hpcc_received received;

	if (!int_speeds[now->speed].mbit_ps)
		return HPCC_RECEIVED_NOTHING;
	received = hpcc_take(v, p, hpcc_path_key(path_id, hops, 1, index), &record, 1, now_ns);
	v->bottleneck = index;
	/* Another hop is no other path. */
	return received == HPCC_RECEIVED_PATH ? HPCC_RECEIVED_FIRST : received;
}
EXPORT_SYMBOL_GPL(hpcc_receive_one);

/*
 * W_ai, with the sender's estimate of N, W_init / (1.5 W): it is 1.5 W (1 - eta). In the
 * first round W is a fraction of the line rate's BDP and says little about N.
 */
static u64 hpcc_own_ai(const struct hpcc_vars *v, const struct hpcc_params *p)
{
	const u64 most = v->rounds ? p->wnd_ai : p->wnd_ai / HPCC_FIRST_AI;
	const u64 own = mul_u64_u64_shr(v->wnd_ref, (HPCC_U_ONE - p->eta) * 3 / 2, HPCC_U_SHIFT);

	return max_t(u64, clamp(own, p->wnd_ai / HPCC_FLOWS_RANGE, most), 1);
}

/* Line 13: Wc / (U / eta) + W_ai, at most the maximum window. */
static u64 hpcc_multiply(const struct hpcc_vars *v, const struct hpcc_params *p, u64 wnd_ai)
{
	const u64 wnd_max = (u64)p->wnd_max_bytes << HPCC_WND_SHIFT;
	/* W_ai / W_init: 2^48 << 4 < 2^64 */
	const u64 own = div_u64(wnd_ai << (HPCC_U_SHIFT - HPCC_WND_SHIFT), p->wnd_init_bytes);
	const u32 aim = p->eta - min_t(u64, own, p->eta / 2), u = max(v->u, 1U);

	/* Test Wc * aim / U >= max without a division: 2^48 * 2^32 >> 20 < 2^64 */
	if (mul_u64_u64_shr(v->wnd_ref, aim, HPCC_U_SHIFT) >=
	    mul_u64_u64_shr(wnd_max, u, HPCC_U_SHIFT))
		return wnd_max;
	return mul_u64_u32_div(v->wnd_ref, aim, u) + wnd_ai;
}

/* Return: true if more than 1/16 of the target utilisation is free. */
static bool hpcc_has_room(const struct hpcc_vars *v, const struct hpcc_params *p)
{
	return v->u < p->eta - (p->eta >> HPCC_ROOM_SHIFT);
}

/*
 * At the end of a round, update the window to which the flow returns after a burst. It is the
 * largest window without overload; while the port is neither overloaded nor has free capacity, it
 * slowly follows Wc. In the first rounds of a flow it is only raised with U below eta, because then
 * many senders that start at once look like a steady state.
 */
static void hpcc_remember(struct hpcc_vars *v, const struct hpcc_params *p)
{
	const bool steady = v->rounds >= HPCC_STEADY_ROUNDS && v->u <= HPCC_U_BURST;

	v->rounds += v->rounds < HPCC_STEADY_ROUNDS;
	if (v->wnd_quiet <= v->wnd_ref)
		v->wnd_quiet = steady || v->u < p->eta ? v->wnd_ref : v->wnd_quiet;
	else if (v->u > HPCC_U_BURST)
		v->wnd_quiet -= v->wnd_quiet >> HPCC_FORGET_SHIFT;
	else if (!hpcc_has_room(v, p))
		v->wnd_quiet -= (v->wnd_quiet - v->wnd_ref) >> HPCC_FOLLOW_SHIFT;
}

/*
 * Return: true if the flow does not wait for maxStage rounds, because each of its rounds lasts
 * longer than 4 T, or longer than T while U is below half of eta.
 */
static bool hpcc_is_starved(const struct hpcc_vars *v, const struct hpcc_params *p)
{
	return hpcc_is_tiny(v, p) || (hpcc_is_small(v, p) && v->u < p->eta / 2);
}

/*
 * W by lines 12 to 17, before it is limited. Without overload W is at most what U allows: otherwise
 * a single flow would settle above eta. If much capacity is free after a burst, the flow returns to
 * the window from before the burst. A flow whose window is far below a packet measures an average
 * over a whole round, and a new window takes effect with its next packet, up to a round later. If
 * such flows changed their windows by the whole difference, the load would oscillate.
 */
static u64 hpcc_next_wnd(const struct hpcc_vars *v, const struct hpcc_params *p, bool multiply)
{
	const u64 wnd_ai = hpcc_own_ai(v, p), wnd = v->wnd_ref + wnd_ai;
	const u64 multiplied = hpcc_multiply(v, p, wnd_ai);

	if (multiply && hpcc_is_tiny(v, p))
		/* 2^48 * 2^2 */
		return ((v->wnd_ref << HPCC_TINY_SHIFT) - v->wnd_ref + multiplied) >>
		       HPCC_TINY_SHIFT;
	if (multiply)
		return multiplied;
	return min(multiplied, hpcc_has_room(v, p) ? max(wnd, v->wnd_quiet) : wnd);
}

/**
 * hpcc_compute_wind() - ComputeWind
 * @v: state of the connection; U is new
 * @p: its parameters
 * @update: updateWc
 */
static void hpcc_compute_wind(struct hpcc_vars *v, const struct hpcc_params *p, bool update)
{
	const bool multiply = v->u >= p->eta || v->inc_stage >= p->max_stage ||
			      hpcc_is_starved(v, p);
	const u64 wnd = hpcc_next_wnd(v, p, multiply);

	v->wnd = clamp_t(u64, wnd, HPCC_WND_MIN, (u64)p->wnd_max_bytes << HPCC_WND_SHIFT);
	if (!update)
		return;
	hpcc_remember(v, p);
	v->inc_stage = multiply ? 0 : v->inc_stage + 1;
	v->wnd_ref = v->wnd;
}

enum hpcc_received hpcc_receive_ratio(struct hpcc_vars *v, const struct hpcc_params *p, u32 u,
				      u32 tau_ns)
{
	if (!tau_ns)
		return HPCC_RECEIVED_SAME;
	hpcc_filter(v, u, tau_ns, p->t_ns);
	return HPCC_RECEIVED_NEW;
}
EXPORT_SYMBOL_GPL(hpcc_receive_ratio);

void hpcc_decide(struct hpcc_vars *v, const struct hpcc_params *p, u32 ack_seq, u32 snd_nxt)
{
	bool update = !v->updated || (s32)(ack_seq - v->update_seq) > 0;

	hpcc_compute_wind(v, p, update);
	if (!update)
		return;
	v->updated = true;
	v->update_seq = snd_nxt;
}
EXPORT_SYMBOL_GPL(hpcc_decide);

enum hpcc_received hpcc_new_ack(struct hpcc_vars *v, const struct hpcc_params *p,
				const struct int_hdr *h, u32 ack_seq, u32 snd_nxt, u64 now_ns)
{
	enum hpcc_received received = hpcc_receive(v, p, h, now_ns);

	if (received == HPCC_RECEIVED_NEW)
		hpcc_decide(v, p, ack_seq, snd_nxt);
	return received;
}
EXPORT_SYMBOL_GPL(hpcc_new_ack);

bool hpcc_new_int(struct hpcc_vars *v, const struct hpcc_params *p, const struct int_hdr *h,
		  u64 now_ns)
{
	bool update = now_ns - v->update_ns > p->t_ns;

	if (hpcc_receive(v, p, h, now_ns) != HPCC_RECEIVED_NEW)
		return false;
	hpcc_compute_wind(v, p, update);
	if (update)
		v->update_ns = now_ns;
	return update;
}
EXPORT_SYMBOL_GPL(hpcc_new_int);

void hpcc_halve(struct hpcc_vars *v)
{
	const u64 before = max(v->wnd, v->wnd_ref);

	v->wnd = max(min(v->wnd, before / 2), HPCC_WND_MIN);
	v->wnd_ref = v->wnd;
	v->wnd_quiet = min(v->wnd_quiet, before - (before >> HPCC_FORGET_SHIFT));
	v->inc_stage = 0;
}
EXPORT_SYMBOL_GPL(hpcc_halve);

/*
 * The window that has the same rate over the current T as @wnd over @was_t_ns, within the bounds.
 */
static u64 hpcc_rescale_wnd(u64 wnd, u32 was_t_ns, const struct hpcc_params *p)
{
	const u64 wnd_max = (u64)p->wnd_max_bytes << HPCC_WND_SHIFT;

	/* 2^32 * 2^30 < 2^64 */
	if (div_u64((wnd >> HPCC_WND_SHIFT) * p->t_ns, was_t_ns) >= p->wnd_max_bytes)
		return wnd_max;
	/*
	 * The result is below 2^32 bytes, plus 2^20 bytes for the truncated fraction: no overflow.
	 */
	return clamp_t(u64, mul_u64_u32_div(wnd, p->t_ns, was_t_ns),
		       (u64)HPCC_WND_MIN_BYTES << HPCC_WND_SHIFT, wnd_max);
}

void hpcc_rescale(struct hpcc_vars *v, u32 was_t_ns, const struct hpcc_params *p)
{
	v->wnd = hpcc_rescale_wnd(v->wnd, was_t_ns, p);
	v->wnd_ref = hpcc_rescale_wnd(v->wnd_ref, was_t_ns, p);
	if (v->wnd_quiet)
		v->wnd_quiet = hpcc_rescale_wnd(v->wnd_quiet, was_t_ns, p);
}
EXPORT_SYMBOL_GPL(hpcc_rescale);

u64 hpcc_queue_ns(const struct int_record *r)
{
	const u32 unit_ps = int_speeds[r->speed].unit_ps;

	if (r->qlen_units == INT_QLEN_MAX && unit_ps)
		return HPCC_QUEUE_LONG_NS;
	/* 2^16 units * 2^20 ps = 2^36 */
	return div_u64((u64)r->qlen_units * unit_ps, HPCC_PS_PER_NS);
}
EXPORT_SYMBOL_GPL(hpcc_queue_ns);

u64 hpcc_queues_ns(const struct int_hdr *h)
{
	const unsigned int records = int_records(h);
	u64 queues_ns = 0;
	unsigned int i;

	for (i = 0; i < records; i++) {
		struct int_record r = int_unpack(h->record[i]);

		queues_ns += hpcc_queue_ns(&r);
	}
	return queues_ns;
}
EXPORT_SYMBOL_GPL(hpcc_queues_ns);
