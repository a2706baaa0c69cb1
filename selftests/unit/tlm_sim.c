// SPDX-License-Identifier: GPL-2.0
/*
 * Simulation of HPCC++ with reduced records (net_tlm/int_load.h): packets of several flows through
 * one or more ports, an answer for one packet of each flow in each T.
 *
 *	sender --+
 *	sender --+-- port 0 -- port 1 -- port 2 --> receiver
 *	sender --+   each sender and each port at line rate
 *
 * Each case states bounds for the utilisation of a port, its mean and 95th percentile of the queue,
 * and the number of flows that fall back to Reno. The first cases compare the sources with our own
 * records; the others have several bottlenecks, or a switch that reports what is not true.
 *
 *	tlm_sim [CASE]		all cases, or one, with its figures
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/compiler.h>
#include "../../hop_core/hpcc.c"
#include "../../net_tlm/int_load.c"

#include "random.h"

#define PORTS		3
#define FLOWS_MAX	16
#define PACKETS_MAX	65536
#define EVENTS_MAX	(PACKETS_MAX + 64)
#define WIRE_BYTES	1538
#define WARM_UP_RTTS	200
#define MEASURED_RTTS	600
#define BLIND_ROUNDS	16
/* Bins of the queue's histogram, and bins in a BDP */
#define SLOTS		8192
#define SLOTS_A_BDP	256.0
#define BUFFER_BDPS	16

enum record_source { OWN, COUNTER, UTIL, QUEUE };

/* False reports of a switch; 0: the truth. */
struct lie {
	double speed;		/* reported speed, in units of the true one */
	double util_window_rtts;
	double refresh_rtts;	/* the counter is updated at this interval */
	bool clock_in_us;	/* counts microseconds, but the layout says nanoseconds */
	bool clock_in_ns;	/* the opposite */
	bool clock_steps;	/* 1 s forward and back, every 50 T */
	bool clock_frozen;
	bool counter_frozen;
	bool counter_random;
	bool util_zero;
	bool queue_zero;
	bool no_counter;
	bool unknown;		/* no layout fits */
	u32 queue_frozen;	/* at this value, bytes */
};

struct sim_case {
	const char *what;
	enum record_source source;
	u32 mbit_ps, rtt_us, flows;
	u32 ports;		/* more than 1: flow 0 crosses all of them, the others one each */
	struct lie lie;
	/*
	 * Claims: utilisation in percent, queues in percent of a BDP, the part of the port that the
	 * slowest flow has, flows with Reno. A queue of 1600 % is the port's buffer.
	 */
	double util_min, mean_max, p95_max, least_min;
	u32 reno_min, reno_max;
};

struct packet {
	u32 flow, port;
	u32 seq;
	double sent_ns;
	bool probe, lost;
	struct tlm_record record[PORTS];
};

struct port {
	double bytes_pns;
	u32 ring[PACKETS_MAX];
	u32 head, tail;
	u64 queue_bytes, limit_bytes, tx_bytes;
	double util, window_ns, window_start_ns;
	u64 window_bytes;
	double refresh_ns, refreshed_ns;
	u64 refreshed_bytes;
	/* measured */
	double integral, last_ns, most_bytes, slot[SLOTS];
	u64 start_bytes;
};

struct flow {
	u32 from, to;
	struct hpcc_params p;
	struct hpcc_vars v;
	struct tlm_vars t;
	u32 snd_nxt, inflight_bytes;
	double next_ns, probe_ns, lost_ns;
	bool waiting, reno;
	double reno_bytes, blind_ns;
	u64 delivered_bytes, start_bytes;
};

enum kind { SEND, DONE, ACK };

struct event {
	double ns;
	u64 order;
	enum kind kind;
	u32 id;
};

static struct {
	const struct sim_case *c;
	double now_ns, t_ns;
	bool measuring;
	u64 order;
	u32 events, free_packets;
	struct event event[EVENTS_MAX];
	struct packet packet[PACKETS_MAX];
	u32 free[PACKETS_MAX];
	struct port port[PORTS];
	struct flow flow[FLOWS_MAX];
} sim;

static bool earlier(const struct event *a, const struct event *b)
{
	return a->ns < b->ns || (a->ns == b->ns && a->order < b->order);
}

static void add_event(double ns, enum kind kind, u32 id)
{
	u32 at = sim.events++;

	if (at >= EVENTS_MAX)
		exit(2);
	for (sim.event[at] = (struct event){ ns, sim.order++, kind, id };
	     at && earlier(&sim.event[at], &sim.event[(at - 1) / 2]); at = (at - 1) / 2)
		swap(sim.event[at], sim.event[(at - 1) / 2]);
}

static struct event next_event(void)
{
	const struct event first = sim.event[0];
	u32 at = 0, next;

	sim.event[0] = sim.event[--sim.events];
	while ((next = 2 * at + 1) < sim.events) {
		if (next + 1 < sim.events && earlier(&sim.event[next + 1], &sim.event[next]))
			next++;
		if (!earlier(&sim.event[next], &sim.event[at]))
			break;
		swap(sim.event[at], sim.event[next]);
		at = next;
	}
	return first;
}

static void note_queue(struct port *port)
{
	const double ns = sim.now_ns - port->last_ns;
	const double part = port->queue_bytes / (port->bytes_pns * sim.t_ns);

	port->last_ns = sim.now_ns;
	if (!sim.measuring)
		return;
	port->integral += ns * port->queue_bytes;
	port->slot[(u32)fmin(part * SLOTS_A_BDP, SLOTS - 1)] += ns;
	port->most_bytes = fmax(port->most_bytes, port->queue_bytes);
}

/* Average of the utilisation over the last window that ended. */
static void update_util(struct port *port)
{
	while (sim.now_ns - port->window_start_ns >= port->window_ns) {
		port->util = port->window_bytes / (port->bytes_pns * port->window_ns);
		port->window_start_ns += port->window_ns;
		port->window_bytes = 0;
	}
}

static void fill_time(struct tlm_record *r, const struct lie *lie)
{
	const double res_ns = sim.c->source == QUEUE ? 1000 : 1;
	u64 ns = 1000000000ULL + (u64)(sim.now_ns / res_ns) * (u64)res_ns;

	if (lie->clock_in_us)
		ns /= 1000;
	if (lie->clock_in_ns)
		ns *= 1000;
	if (lie->clock_frozen)
		ns = 1000000000;
	if (lie->clock_steps && (u64)(sim.now_ns / sim.t_ns / 50) % 2)
		ns += 1000000000;
	r->ts_ns = ns;
	r->ts_res_ns = res_ns;
	r->has |= TLM_HAS(INT_LAYOUT_NS);
}

static void fill_counter(struct port *port, struct tlm_record *r, const struct lie *lie)
{
	u64 bytes = port->tx_bytes;

	if (port->refresh_ns) {
		if (sim.now_ns - port->refreshed_ns >= port->refresh_ns) {
			port->refreshed_ns = sim.now_ns - fmod(sim.now_ns, port->refresh_ns);
			port->refreshed_bytes = bytes;
		}
		bytes = port->refreshed_bytes;
		r->tx_refresh_ns = port->refresh_ns;
	}
	if (lie->counter_frozen)
		bytes = 12345;
	if (lie->counter_random)
		bytes = rng();
	r->tx_bytes = bytes & U32_MAX;
	r->tx_period_bytes = 1ULL << 32;
	r->has |= TLM_HAS(INT_LAYOUT_TX);
}

/* The queue is that behind the packet, or, as in stock Linux, that before it. */
static void fill_record(u32 at, struct tlm_record *r, u64 queue_bytes)
{
	struct port *port = &sim.port[at];
	const struct lie *lie = at == sim.c->ports / 2 ? &sim.c->lie : &(struct lie){};

	*r = (struct tlm_record) { .node_id = at + 1, .port_id = 1, .queue_bytes = queue_bytes };
	r->mbit_ps = sim.c->mbit_ps * (lie->speed ?: 1.0);
	r->has = TLM_HAS(INT_LAYOUT_QUEUE) | TLM_HAS(INT_LAYOUT_SPEED) |
		  TLM_HAS(INT_LAYOUT_NODE) | TLM_HAS(INT_LAYOUT_PORT);
	if (lie->queue_zero)
		r->queue_bytes = 0;
	if (lie->queue_frozen)
		r->queue_bytes = lie->queue_frozen;
	fill_time(r, lie);
	if (sim.c->source == COUNTER || sim.c->source == OWN)
		fill_counter(port, r, lie);
	if (sim.c->source == UTIL) {
		r->util = lie->util_zero ? 0 : port->util * HPCC_U_ONE;
		r->has |= TLM_HAS(INT_LAYOUT_UTIL);
	}
	if (lie->no_counter)
		r->has &= ~TLM_HAS(INT_LAYOUT_TX);
	if (lie->unknown)
		r->has = 0;
}

static void start_port(u32 at)
{
	struct port *port = &sim.port[at];

	add_event(sim.now_ns + WIRE_BYTES / port->bytes_pns, DONE, at);
}

static void enqueue(u32 id)
{
	struct packet *packet = &sim.packet[id];
	struct port *port = &sim.port[packet->port];

	note_queue(port);
	if (packet->probe && sim.c->source == QUEUE)
		fill_record(packet->port, &packet->record[packet->port], port->queue_bytes);
	if (port->queue_bytes + WIRE_BYTES > port->limit_bytes) {
		packet->lost = true;
		add_event(sim.now_ns + sim.t_ns, ACK, id);
		return;
	}
	port->queue_bytes += WIRE_BYTES;
	port->ring[port->tail++ % PACKETS_MAX] = id;
	if (port->tail - port->head == 1)
		start_port(packet->port);
}

/* A packet has left a port: to the next one, or, as its ACK, to the sender. */
static void leave(u32 at)
{
	struct port *port = &sim.port[at];
	const u32 id = port->ring[port->head++ % PACKETS_MAX];
	struct packet *packet = &sim.packet[id];
	const struct flow *f = &sim.flow[packet->flow];

	note_queue(port);
	update_util(port);
	port->queue_bytes -= WIRE_BYTES;
	if (packet->probe && sim.c->source != QUEUE)
		fill_record(at, &packet->record[at], port->queue_bytes);
	port->tx_bytes += WIRE_BYTES;
	port->window_bytes += WIRE_BYTES;
	if (port->tail != port->head)
		start_port(at);
	if (at < f->to) {
		packet->port++;
		enqueue(id);
		return;
	}
	/* An RTT without queues is T. */
	add_event(sim.now_ns + sim.t_ns - (f->to - f->from + 1) * WIRE_BYTES / port->bytes_pns,
		  ACK, id);
}

static double window_bytes(const struct flow *f)
{
	return f->reno ? f->reno_bytes : (double)f->v.wnd / (1 << HPCC_WND_SHIFT);
}

/* Sends what the window and the pace allow. */
static void send(struct flow *f)
{
	const double wnd_bytes = window_bytes(f);
	struct packet *packet;
	u32 id;

	f->waiting = false;
	if (f->inflight_bytes && f->inflight_bytes + WIRE_BYTES > wnd_bytes + WIRE_BYTES - 1)
		return;
	if (sim.now_ns < f->next_ns) {
		f->waiting = true;
		add_event(f->next_ns, SEND, f - sim.flow);
		return;
	}
	id = sim.free[--sim.free_packets];
	packet = &sim.packet[id];
	*packet = (struct packet) { .flow = f - sim.flow, .port = f->from, .sent_ns = sim.now_ns };
	if (sim.now_ns - f->probe_ns >= sim.t_ns) {
		packet->probe = true;
		f->probe_ns = sim.now_ns;
	}
	f->snd_nxt += WIRE_BYTES;
	packet->seq = f->snd_nxt;
	f->inflight_bytes += WIRE_BYTES;
	f->next_ns = sim.now_ns + WIRE_BYTES * sim.t_ns / wnd_bytes;
	enqueue(id);
	f->waiting = true;
	add_event(f->next_ns, SEND, f - sim.flow);
}

/* Our own records, as they are on the wire. */
static enum hpcc_received receive_own(struct flow *f, const struct packet *packet)
{
	u8 room[INT_HDR_BYTES + PORTS * INT_RECORD_BYTES] __aligned(8);
	struct int_hdr *h = (struct int_hdr *)room;
	u32 i, hops = f->to - f->from + 1;

	int_write(h, 6, INT_TYPE_ECHO, 0, hops);
	h->path = cpu_to_be32(hops << INT_HOPS_SHIFT | (f->from + 1) << INT_PATH_ID_SHIFT);
	for (i = 0; i < hops; i++) {
		const struct tlm_record *r = &packet->record[f->from + i];
		const struct int_speed *speed = &int_speeds[int_speed_code(r->mbit_ps)];
		const struct int_record own = {
			.speed = int_speed_code(r->mbit_ps), .ts_ns = r->ts_ns,
			.tx_units = r->tx_bytes >> speed->unit_shift,
			.qlen_units = r->queue_bytes >> speed->unit_shift,
		};

		h->record[i] = int_pack(&own);
	}
	return hpcc_new_ack(&f->v, &f->p, h, packet->seq, f->snd_nxt, sim.now_ns);
}

static enum hpcc_received receive_reduced(struct flow *f, const struct packet *packet)
{
	const struct tlm_sample s = { .now_ns = sim.now_ns,
				      .own_bytes_ps = window_bytes(f) / sim.t_ns * 1e9,
				      .rtt_ns = sim.now_ns - packet->sent_ns };
	static struct tlm_path path;
	enum hpcc_received received;
	struct tlm_load load;
	u32 i;

	path.records = f->to - f->from + 1;
	path.hops = path.records;
	for (i = 0; i < path.records; i++)
		path.record[i] = packet->record[f->from + i];
	received = ntlm_receive(&f->t, &f->p, &path, &s, &load);
	if (received != HPCC_RECEIVED_NEW)
		return received;
	hpcc_receive_ratio(&f->v, &f->p, load.u, load.tau_ns);
	hpcc_decide(&f->v, &f->p, packet->seq, f->snd_nxt);
	return received;
}

/* After so many round trips without a usable answer, the flow has Reno for good. */
static void receive(struct flow *f, const struct packet *packet)
{
	enum hpcc_received received;

	if (f->reno)
		return;
	received = sim.c->source == OWN ? receive_own(f, packet) : receive_reduced(f, packet);
	if (received != HPCC_RECEIVED_NOTHING) {
		f->blind_ns = sim.now_ns;
		return;
	}
	if (sim.now_ns - f->blind_ns < BLIND_ROUNDS * sim.t_ns)
		return;
	f->reno_bytes = fmax(window_bytes(f), 2 * WIRE_BYTES);
	f->reno = true;
}

static void ack(u32 id)
{
	struct packet *packet = &sim.packet[id];
	struct flow *f = &sim.flow[packet->flow];

	f->inflight_bytes -= WIRE_BYTES;
	if (!packet->lost) {
		f->delivered_bytes += WIRE_BYTES;
		if (f->reno)
			f->reno_bytes += (double)WIRE_BYTES * WIRE_BYTES / f->reno_bytes;
		if (packet->probe)
			receive(f, packet);
	} else if (packet->sent_ns > f->lost_ns) {
		f->lost_ns = sim.now_ns;
		hpcc_halve(&f->v);
		f->reno_bytes = fmax(f->reno_bytes / 2, 2 * WIRE_BYTES);
	}
	sim.free[sim.free_packets++] = id;
	if (!f->waiting)
		send(f);
}

static void start_flow(u32 at)
{
	const struct sim_case *c = sim.c;
	struct flow *f = &sim.flow[at];

	f->to = c->ports - 1;
	if (c->ports > 1 && at) {
		f->from = (at - 1) % c->ports;
		f->to = f->from;
	}
	f->p.t_ns = sim.t_ns;
	f->p.eta = 0.95 * HPCC_U_ONE;
	f->p.max_stage = 5;
	f->p.wnd_max_bytes = hpcc_bdp_bytes(c->mbit_ps * 125000ULL, f->p.t_ns);
	f->p.wnd_init_bytes = f->p.wnd_max_bytes;
	f->p.wnd_ai = hpcc_wnd_ai(f->p.wnd_init_bytes, f->p.eta, 6);
	hpcc_start(&f->v, &f->p);
	f->probe_ns = -sim.t_ns;
	f->lost_ns = -1;
	f->waiting = true;
	add_event(uniform(0, sim.t_ns), SEND, at);
}

static void start(const struct sim_case *c)
{
	u32 i;

	memset(&sim, 0, sizeof(sim));
	rng_state = 1;
	sim.c = c;
	sim.t_ns = c->rtt_us * 1000.0;
	for (i = 0; i < PACKETS_MAX; i++)
		sim.free[sim.free_packets++] = i;
	for (i = 0; i < c->ports; i++) {
		struct port *port = &sim.port[i];

		port->bytes_pns = c->mbit_ps / 8000.0;
		port->limit_bytes = fmax(BUFFER_BDPS * port->bytes_pns * sim.t_ns,
					 100 * WIRE_BYTES);
		port->window_ns = (c->lie.util_window_rtts ?: 1) * sim.t_ns;
		port->refresh_ns = c->lie.refresh_rtts * sim.t_ns;
	}
	for (i = 0; i < c->flows; i++)
		start_flow(i);
}

static void measure_from_here(void)
{
	u32 i;

	for (i = 0; i < PORTS; i++) {
		note_queue(&sim.port[i]);
		sim.port[i].start_bytes = sim.port[i].tx_bytes;
	}
	for (i = 0; i < FLOWS_MAX; i++)
		sim.flow[i].start_bytes = sim.flow[i].delivered_bytes;
	sim.measuring = true;
}

static void run(const struct sim_case *c)
{
	const double end_ns = (WARM_UP_RTTS + MEASURED_RTTS) * c->rtt_us * 1000.0;

	start(c);
	while (sim.events) {
		const struct event e = next_event();

		sim.now_ns = e.ns;
		if (!sim.measuring && e.ns >= WARM_UP_RTTS * sim.t_ns)
			measure_from_here();
		if (e.ns >= end_ns)
			break;
		if (e.kind == SEND)
			send(&sim.flow[e.id]);
		else if (e.kind == DONE)
			leave(e.id);
		else
			ack(e.id);
	}
}

struct figures {
	double util, mean, p95, most;
	double flow_least, flow_most;
	u32 reno;
};

static double percentile(const struct port *port, double part)
{
	double all = 0, sum = 0;
	u32 i;

	for (i = 0; i < SLOTS; i++)
		all += port->slot[i];
	for (i = 0; i < SLOTS - 1 && sum < part * all; i++)
		sum += port->slot[i];
	return i * 100 / SLOTS_A_BDP;
}

/* Figures of the port whose reports are tested, the middle one. */
static struct figures figures_of(const struct sim_case *c)
{
	const double ns = MEASURED_RTTS * sim.t_ns;
	const struct port *port = &sim.port[c->ports / 2];
	const double bdp_bytes = port->bytes_pns * sim.t_ns;
	struct figures f = {
		.util = (port->tx_bytes - port->start_bytes) / (port->bytes_pns * ns) * 100,
		.mean = port->integral / ns / bdp_bytes * 100,
		.p95 = percentile(port, 0.95),
		.most = port->most_bytes / bdp_bytes * 100,
		.flow_least = 1e9,
	};
	u32 i;

	for (i = 0; i < c->flows; i++) {
		const struct flow *flow = &sim.flow[i];
		const double part = (flow->delivered_bytes - flow->start_bytes) /
				    (port->bytes_pns * ns) * 100;

		f.reno += flow->reno;
		f.flow_least = fmin(f.flow_least, part);
		f.flow_most = fmax(f.flow_most, part);
	}
	return f;
}

static const struct sim_case cases[] = {
	/* The sources, with 8 flows */
	{ "25G own records", OWN, 25000, 20, 8, 1, {}, 95, 16, 30, 8.3, 0, 0 },
	{ "25G counter", COUNTER, 25000, 20, 8, 1, {}, 95, 15, 30, 8.4, 0, 0 },
	{ "25G utilisation", UTIL, 25000, 20, 8, 1, {}, 95, 16, 30, 8.3, 0, 0 },
	{ "25G queue", QUEUE, 25000, 20, 8, 1, {}, 97, 21, 37, 8.5, 0, 0 },
	{ "100G own records", OWN, 100000, 10, 8, 1, {}, 96, 9, 17, 8.5, 0, 0 },
	{ "100G counter", COUNTER, 100000, 10, 8, 1, {}, 96, 9, 17, 8.6, 0, 0 },
	{ "100G utilisation", UTIL, 100000, 10, 8, 1, {}, 97, 10, 18, 8.5, 0, 0 },
	{ "100G queue", QUEUE, 100000, 10, 8, 1, {}, 98, 17, 26, 8.6, 0, 0 },
	{ "1G own records", OWN, 1000, 100, 8, 1, {}, 92, 48, 95, 3.8, 0, 0 },
	{ "1G counter", COUNTER, 1000, 100, 8, 1, {}, 92, 48, 95, 3.9, 0, 0 },
	{ "1G utilisation", UTIL, 1000, 100, 8, 1, {}, 93, 46, 95, 4.8, 0, 0 },
	{ "1G queue", QUEUE, 1000, 100, 8, 1, {}, 87, 28, 49, 0.9, 0, 0 },
	/* One flow: it ends at eta, or at line rate */
	{ "25G one flow own records", OWN, 25000, 20, 1, 1, {}, 93, 4, 6, 66.5, 0, 0 },
	{ "25G one flow counter", COUNTER, 25000, 20, 1, 1, {}, 93, 4, 6, 66.5, 0, 0 },
	{ "25G one flow utilisation", UTIL, 25000, 20, 1, 1, {}, 92, 4, 6, 66.2, 0, 0 },
	{ "25G one flow queue", QUEUE, 25000, 20, 1, 1, {}, 93, 4, 6, 66.6, 0, 0 },
	/* Flow 0 crosses three bottlenecks */
	{ "three bottlenecks own records", OWN, 25000, 20, 10, 3, {}, 95, 6, 12, 14.7, 0, 0 },
	{ "three bottlenecks counter", COUNTER, 25000, 20, 10, 3, {}, 95, 6, 12, 14.8, 0, 0 },
	{ "three bottlenecks utilisation", UTIL, 25000, 20, 10, 3, {}, 95, 6, 12, 14.1, 0, 0 },
	{ "three bottlenecks queue", QUEUE, 25000, 20, 10, 3, {}, 97, 14, 21, 9.8, 0, 0 },
	/* Values that switches average or update at intervals */
	{ "counter every 4 T", COUNTER, 25000, 20, 8, 1, { .refresh_rtts = 4 },
	  98, 22, 33, 7.1, 0, 0 },
	{ "counter every 20 T", COUNTER, 25000, 20, 8, 1, { .refresh_rtts = 20 },
	  97, 12, 21, 3.2, 0, 0 },
	{ "utilisation over 4 T", UTIL, 25000, 20, 8, 1, { .util_window_rtts = 4 },
	  97, 11, 25, 8.4, 0, 0 },
	{ "utilisation over 20 T", UTIL, 25000, 20, 8, 1, { .util_window_rtts = 20 },
	  97, 11, 22, 8.2, 0, 0 },
	/* A wrong speed: too low, ports are not used; too high, a queue of a BDP, or Reno */
	{ "counter, speed half", COUNTER, 25000, 20, 8, 1, { .speed = 0.5 },
	  94, 13, 27, 7.9, 0, 0 },
	{ "counter, speed tenth", COUNTER, 25000, 20, 8, 1, { .speed = 0.1 }, 57, 4, 9, 1.1, 0, 0 },
	{ "counter, speed double", COUNTER, 25000, 20, 8, 1, { .speed = 2 },
	  98, 129, 135, 8.3, 0, 0 },
	{ "counter, speed ten times", COUNTER, 25000, 20, 8, 1, { .speed = 10 },
	  98, 1600, 1600, 8.3, 8, 8 },
	{ "queue, speed half", QUEUE, 25000, 20, 8, 1, { .speed = 0.5 }, 94, 13, 27, 7.9, 0, 0 },
	{ "queue, speed tenth", QUEUE, 25000, 20, 8, 1, { .speed = 0.1 }, 61, 4, 12, 4.7, 0, 0 },
	{ "queue, speed double", QUEUE, 25000, 20, 8, 1, { .speed = 2 }, 98, 30, 33, 8.6, 0, 0 },
	{ "queue, speed ten times", QUEUE, 25000, 20, 8, 1, { .speed = 10 },
	  98, 106, 110, 8.5, 0, 0 },
	/* Clocks and counters: the queue alone remains */
	{ "counter, clock in us", COUNTER, 25000, 20, 8, 1, { .clock_in_us = true },
	  97, 21, 37, 8.5, 0, 0 },
	{ "counter, clock in ns read as us", COUNTER, 25000, 20, 8, 1, { .clock_in_ns = true },
	  97, 21, 37, 8.5, 0, 0 },
	{ "counter, clock steps", COUNTER, 25000, 20, 8, 1, { .clock_steps = true },
	  95, 15, 30, 8.4, 0, 0 },
	{ "queue, clock steps", QUEUE, 25000, 20, 8, 1, { .clock_steps = true },
	  97, 21, 37, 8.5, 0, 0 },
	{ "counter, clock frozen", COUNTER, 25000, 20, 8, 1, { .clock_frozen = true },
	  97, 21, 37, 8.6, 0, 0 },
	{ "counter frozen", COUNTER, 25000, 20, 8, 1, { .counter_frozen = true },
	  97, 21, 37, 8.6, 0, 0 },
	{ "counter random", COUNTER, 25000, 20, 8, 1, { .counter_random = true },
	  97, 21, 37, 8.5, 0, 0 },
	/* Utilisation and queues: the RTT contradicts them, or they do not follow the window */
	{ "utilisation always 0", UTIL, 25000, 20, 8, 1, { .util_zero = true },
	  98, 135, 190, 8.2, 0, 0 },
	{ "utilisation 0, queue 0", UTIL, 25000, 20, 8, 1,
	  { .util_zero = true, .queue_zero = true }, 98, 1600, 1600, 8.3, 8, 8 },
	{ "queue always 0", QUEUE, 25000, 20, 8, 1, { .queue_zero = true },
	  98, 1600, 1600, 8.3, 8, 8 },
	{ "queue frozen at 100 kB", QUEUE, 25000, 20, 8, 1, { .queue_frozen = 100000 },
	  98, 1600, 1600, 6.9, 8, 8 },
	{ "queue frozen at 20 kB", QUEUE, 25000, 20, 8, 1, { .queue_frozen = 20000 },
	  98, 1600, 1600, 6.9, 8, 8 },
	{ "queue frozen at 1 packet", QUEUE, 25000, 20, 8, 1, { .queue_frozen = 1538 },
	  98, 1600, 1600, 8.3, 8, 8 },
	{ "counter, queue frozen at 100 kB", COUNTER, 25000, 20, 8, 1, { .queue_frozen = 100000 },
	  98, 1600, 1600, 7.8, 8, 8 },
	/* Hops that are different */
	{ "middle hop's queue always 0", QUEUE, 25000, 20, 10, 3, { .queue_zero = true },
	  98, 275, 286, 5.1, 0, 0 },
	{ "three bottlenecks, middle hop without a counter", COUNTER, 25000, 20, 10, 3,
	  { .no_counter = true }, 97, 14, 21, 13.4, 0, 0 },
	{ "three bottlenecks, middle hop unknown", COUNTER, 25000, 20, 10, 3, { .unknown = true },
	  98, 1600, 1600, 9.8, 4, 4 },
	{ "unknown", COUNTER, 25000, 20, 8, 1, { .unknown = true }, 98, 1600, 1600, 7.6, 8, 8 },
};

int main(int argc, char **argv)
{
	u32 i, count = 0, failed = 0;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct sim_case *c = &cases[i];
		struct figures f;
		bool good;

		if (argc > 1 && !strstr(c->what, argv[1]))
			continue;
		run(c);
		f = figures_of(c);
		good = f.util >= c->util_min && f.mean <= c->mean_max && f.p95 <= c->p95_max &&
		       f.flow_least >= c->least_min && f.reno >= c->reno_min &&
		       f.reno <= c->reno_max;
		failed += !good;
		printf("%sok %u - %s: used %.1f %%, flows %.1f to %.1f %%, Reno %u, ",
		       good ? "" : "not ", ++count, c->what, f.util, f.flow_least, f.flow_most,
		       f.reno);
		printf("queue mean %.1f, 95th %.1f, most %.0f %% of a BDP\n", f.mean, f.p95,
		       f.most);
	}
	printf("1..%u\n", count);
	return failed || !count;
}
