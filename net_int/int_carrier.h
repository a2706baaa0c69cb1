/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The carrier of telemetry, draft-miao-rtgwg-hpccplus-00 sections 6.2 and 7.2: when
 * a packet collects, which answer is news, and when the path is given up.
 *
 *	 UNPROVEN  --------------------- an answer ------------------> PROVEN
 *	  two, then one a patience                              one packet a period
 *	     |                                                    ^          |
 *	     | three of them                            an answer |          | none for
 *	     v                                                    |          v a patience
 *	 GIVEN UP  <------------- three of them ----------------- DOUBT: one a patience
 *
 * A period is T ("once per round trip"), at most 4 ms. Where round trips are much longer than T
 * although no queue is told of, the hosts are slow, and more answers would make them slower: a
 * quarter of TCP's RTT.
 *
 * Two answers are wanted soon from a start, or a restart after a pause, and while an
 * answer tells of a queue of more than half of T, of which round trips are much longer
 * than T: an eighth of a period, from a start a quarter. A start's first probe stands
 * behind the first data, if there is more: see int_passes(). In the first eighth of the window a
 * packet that is twice as far from the start, in bytes, as the last that had a probe has
 * one, too: of N senders that start at once the packet with d bytes in front of it waits
 * for N d, so that whatever N is, an answer comes soon after the first, and tells of a
 * queue. An unproven path gets the first two of these.
 *
 * Behind a start, INT_APART_PKTS packets are between two probes, for at most INT_APART_PERIODS
 * periods: the probes of many flows with small windows would be a load. 16 flows at a port of
 * 25 Gbit/s had one with each 1.7 packets. Where answers are wanted soon INT_APART_SOON_PKTS are
 * enough: with 4, 16 senders that had started at once left a queue of 10 packets behind.
 *
 * A patience is long enough for an answer to come back through full queues.
 *
 * Deviations:
 * - The draft knows no silence; ours ends it: probes that nobody answers draw
 *   duplicate ACKs from a host that takes them for TCP's.
 * - Each packet that collects has an id, of 32 bits and from a random start: an answer
 *   is news if its id is newer than the newest that was answered; of two segments of
 *   one super-packet, that have the same id, the later is newer. What was never sent is
 *   forged.
 */
#ifndef NET_INT_INT_CARRIER_H
#define NET_INT_INT_CARRIER_H

#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>
#include <net/hpcc.h>
#include <net/int.h>
#include <net/int_flow.h>

/* Draft: once per round trip; a long one is told more often. */
#define INT_PERIOD_MAX_NS	4000000U
#define INT_PERIOD_MIN_NS	1000U

/* Part of an RTT in which more than one answer would tell the same. */
#define INT_RTT_SHIFT		2

/* What records are good for: half a turn of a hop's clock. */
#define INT_PAUSE_NS		8000000ULL
#define INT_START_ANSWERS	2U
#define INT_START_SHIFT		3
#define INT_OPENING_SHIFT	2
/* What part of the first window packets that are twice as far count in. */
#define INT_FAR_SHIFT		3
/* Packets between two probes, and where answers are wanted soon, but at most so many periods. */
#define INT_APART_PKTS		8U
#define INT_APART_SOON_PKTS	2U
#define INT_APART_PERIODS	4U
/* A queue of more than T in 2^this is one to look at often. */
#define INT_QUEUE_SHIFT		1

/* In units of T and of TCP's own RTT; at least a period of the longest kind. */
#define INT_PATIENCE_RTTS	4U
#define INT_PATIENCE_MIN_NS	4000000ULL
/* Where TCP has no RTT yet: its first timeout. */
#define INT_PATIENCE_UNKNOWN_NS	1000000000ULL

/* Packets without an answer after which the path is given up. */
#define INT_DOUBTS_MAX		3U
/* Of these, as many may leave with the first window: the last shall find other weather. */
#define INT_OPENING_DOUBTS	2U

/* Inband: how often the receiver's law is told its terms. */
#define INT_TERMS_PERIOD_NS	10000000ULL

/* Answers to packets so much older than the newest are not believed. */
#define INT_IDS_MEMORY		65536U

/**
 * struct int_asker - of a flow whose congestion control collects; under its lock
 * @id: of the newest packet that left
 * @begun_seq: of the data that the first left with, or the first after a pause
 * @left_seq: of the data that it left with
 * @left_ns: when it left
 * @waiting_ns: since when an answer is waited for
 * @doubt_ns: when the last packet in doubt left
 * @doubts: packets that left in doubt
 * @starting: answers that are wanted soon
 * @opening: less than two came since the start
 * @passed: data has left since a pause, and nothing that collects yet
 * @waiting: an answer is waited for
 * @proven: an answer came once
 * @heard: @heard_id and @heard_seq are valid
 * @heard_empty: that answer had nothing to compute with
 * @heard_id: of the newest answer
 * @heard_seq: of it
 */
struct int_asker {
	u32 id;
	u32 begun_seq;
	u32 left_seq;
	u64 left_ns;
	u64 waiting_ns;
	u64 doubt_ns;
	u8 doubts;
	u8 starting;
	bool opening;
	bool passed;
	bool waiting;
	bool proven;
	bool heard;
	bool heard_empty;
	u32 heard_id;
	u32 heard_seq;
};

/**
 * enum int_turn - is it time to collect?
 * @INT_TURN_WAIT: not yet
 * @INT_TURN_SEND: yes
 * @INT_TURN_NO_ROOM: yes, but it does not fit
 * @INT_TURN_GIVE_UP: nobody answers
 */
enum int_turn {
	INT_TURN_WAIT,
	INT_TURN_SEND,
	INT_TURN_NO_ROOM,
	INT_TURN_GIVE_UP,
};

/**
 * int_period_ns() - how often to probe
 * @a: the flow
 * @t_ns: T
 * @srtt_us: TCP's smoothed RTT; 0: not known
 *
 * Return: ns.
 */
static inline u32 int_period_ns(const struct int_asker *a, u32 t_ns, u32 srtt_us)
{
	const u32 period_ns = clamp(t_ns, INT_PERIOD_MIN_NS, INT_PERIOD_MAX_NS);

	if (a->starting)
		return period_ns >> (a->opening ? INT_OPENING_SHIFT : INT_START_SHIFT);
	return clamp_t(u64, (u64)srtt_us * NSEC_PER_USEC >> INT_RTT_SHIFT, period_ns,
		       INT_PERIOD_MAX_NS);
}

/**
 * int_patience_ns() - how long to wait for an answer
 * @t_ns: T
 * @srtt_us: TCP's smoothed RTT; 0: not known
 *
 * Return: ns.
 */
static inline u64 int_patience_ns(u32 t_ns, u32 srtt_us)
{
	u64 rtt_ns = max_t(u64, t_ns, (u64)srtt_us * NSEC_PER_USEC);

	if (!srtt_us)
		return INT_PATIENCE_UNKNOWN_NS;
	return max_t(u64, rtt_ns * INT_PATIENCE_RTTS, INT_PATIENCE_MIN_NS);
}

static inline bool int_in_doubt(const struct int_asker *a, u64 now_ns, u64 patience_ns)
{
	return !a->proven || (a->waiting && now_ns - a->waiting_ns > patience_ns);
}

/**
 * int_is_far() - early in the first window: twice as far from the start as the last that collects?
 * @a: the flow
 * @seq: the sequence number of the data
 * @wnd_bytes: the window
 *
 * Return: whether.
 */
static inline bool int_is_far(const struct int_asker *a, u32 seq, u32 wnd_bytes)
{
	u32 last_bytes = a->left_seq - a->begun_seq, bytes = seq - a->begun_seq;

	return a->opening && (a->proven || a->doubts < INT_OPENING_DOUBTS) &&
	       last_bytes < wnd_bytes >> INT_FAR_SHIFT && (s32)bytes > 0 &&
	       bytes >= 2ULL * last_bytes;
}

/**
 * int_is_near() - are the last probe and this data so close together that none is needed?
 * @a: the flow
 * @now_ns: now
 * @t_ns: T
 * @seq: the sequence number of the data
 * @mss_bytes: its segments
 *
 * Not at a start, nor in doubt.
 *
 * Return: true if the data goes without a probe.
 */
static inline bool int_is_near(const struct int_asker *a, u64 now_ns, u32 t_ns, u32 seq,
			       u32 mss_bytes)
{
	const u64 longest_ns = (u64)clamp(t_ns, INT_PERIOD_MIN_NS, INT_PERIOD_MAX_NS) *
			       INT_APART_PERIODS;
	const u32 apart_pkts = a->starting ? INT_APART_SOON_PKTS : INT_APART_PKTS;

	return a->proven && !a->opening && seq - a->left_seq < apart_pkts * mss_bytes &&
	       now_ns - a->left_ns < min_t(u64, longest_ns, INT_PERIOD_MAX_NS);
}

/**
 * int_passes() - data leaves: is the first probe to stand behind it, and not in front?
 * @a: the flow
 * @now_ns: now
 * @seq: the sequence number of the data
 * @more: other data follows at once
 *
 * Senders that start at once have nothing but probes in front of them: what the first ones
 * read is an empty queue, which the law would compare the next answer with.
 *
 * Return: whether; once a start.
 */
static inline bool int_passes(struct int_asker *a, u64 now_ns, u32 seq, bool more)
{
	if (!more || a->passed || (a->left_ns && now_ns - a->left_ns <= INT_PAUSE_NS))
		return false;
	a->passed = true;
	a->begun_seq = seq;
	return true;
}

/**
 * int_turn() - is it time to collect?
 * @a: the flow
 * @now_ns: now
 * @period_ns: of int_period_ns()
 * @patience_ns: of int_patience_ns()
 *
 * Inband does without waiting: of its packets each, or each n-th, collects.
 *
 * Return: whether.
 */
static inline enum int_turn int_turn(const struct int_asker *a, u64 now_ns, u32 period_ns,
				     u64 patience_ns)
{
	if (!int_in_doubt(a, now_ns, patience_ns))
		return a->left_ns && now_ns - a->left_ns < period_ns ? INT_TURN_WAIT :
								       INT_TURN_SEND;
	if (a->doubts && now_ns - a->doubt_ns < patience_ns)
		return INT_TURN_WAIT;
	return a->doubts < INT_DOUBTS_MAX ? INT_TURN_SEND : INT_TURN_GIVE_UP;
}

/**
 * int_leaves() - a packet that collects leaves
 * @a: the flow
 * @now_ns: now
 * @patience_ns: of int_patience_ns()
 * @seq: of the data that it leaves with; inband distance does not count: as of the last
 *
 * Return: its id.
 */
static inline u32 int_leaves(struct int_asker *a, u64 now_ns, u64 patience_ns, u32 seq)
{
	if (now_ns - a->left_ns > INT_PAUSE_NS) {
		a->starting = INT_START_ANSWERS;
		a->opening = true;
		if (!a->passed)
			a->begun_seq = seq;
	}
	a->passed = false;
	if (int_in_doubt(a, now_ns, patience_ns) &&
	    (!a->doubts || now_ns - a->doubt_ns >= patience_ns || int_is_far(a, seq, U32_MAX))) {
		a->doubts += a->doubts < INT_DOUBTS_MAX;
		a->doubt_ns = now_ns;
	}
	if (!a->waiting) {
		a->waiting = true;
		a->waiting_ns = now_ns;
	}
	a->left_ns = now_ns;
	a->left_seq = seq;
	WRITE_ONCE(a->id, a->id + 1);
	return a->id;
}

/**
 * enum int_news - what an answer is
 * @INT_NEWS: the newest
 * @INT_NEWS_OLD: reordered, or replayed
 * @INT_NEWS_FORGED: to a packet that never left, or long ago
 */
enum int_news {
	INT_NEWS,
	INT_NEWS_OLD,
	INT_NEWS_FORGED,
};

/**
 * int_answered() - an answer came
 * @a: the flow
 * @id: of the packet that it answers
 * @seq: SND.NXT when that had left
 * @empty: there is nothing in it to compute with
 * @now_ns: now
 *
 * An empty one proves that somebody listens. One to the same packet that is not empty is
 * still news: else who forges the first takes the place of the other.
 *
 * Return: what it is.
 */
static inline enum int_news int_answered(struct int_asker *a, u32 id, u32 seq, bool empty,
					 u64 now_ns)
{
	const bool again = a->heard && id == a->heard_id;

	if (!a->left_ns || a->id - id >= INT_IDS_MEMORY)
		return INT_NEWS_FORGED;
	if (a->heard && (s32)(id - a->heard_id) < 0)
		return INT_NEWS_OLD;
	if (again && (s32)(seq - a->heard_seq) <= 0 && (empty || !a->heard_empty))
		return INT_NEWS_OLD;
	a->heard = true;
	a->heard_empty = empty;
	a->heard_id = id;
	a->heard_seq = seq;
	a->proven = true;
	a->doubts = 0;
	a->starting -= a->starting > 0;
	a->opening &= a->starting > 0;
	/* What left since is waited for from now on. */
	a->waiting = id != a->id;
	a->waiting_ns = now_ns;
	return INT_NEWS;
}

static inline u64 int_record_queue_ns(const struct int_record *r)
{
	/* 2^16 * 2^20 */
	return div_u64((u64)r->qlen_units * int_speeds[r->speed].unit_ps, HPCC_PS_PER_NS);
}

/**
 * int_answer_queue_ns() - the queue that an answer tells of
 * @a: the answer
 * @t_ns: T
 *
 * Return: ns, of the longest on the path; a ratio holds it, in T, and the load, 1 at most.
 * The receiver's window says nothing of it.
 */
static inline u64 int_answer_queue_ns(const struct int_answer *a, u32 t_ns)
{
	u64 queue_ns = 0;
	unsigned int i;

	switch (a->kind) {
	case INT_ANSWER_RECORDS:
		for (i = 0; i < int_records(&a->hdr); i++) {
			struct int_record r = int_unpack(a->hdr.record[i]);

			queue_ns = max(queue_ns, int_record_queue_ns(&r));
		}
		return queue_ns;
	case INT_ANSWER_SUMMARY:
		return int_record_queue_ns(&a->record);
	case INT_ANSWER_RATIO:
		/* 2^32 * 2^30 < 2^64 */
		return a->u > HPCC_U_ONE ?
		       (u64)(a->u - HPCC_U_ONE) * t_ns >> HPCC_U_SHIFT : 0;
	case INT_ANSWER_WINDOW:
		break;
	}
	return 0;
}

/**
 * int_hurry() - the newest answer tells of a queue
 * @a: the flow
 * @queue_ns: of int_answer_queue_ns()
 * @t_ns: T
 *
 * Its next answers are wanted soon, if the queue is long.
 */
static inline void int_hurry(struct int_asker *a, u64 queue_ns, u32 t_ns)
{
	if (queue_ns > t_ns >> INT_QUEUE_SHIFT)
		a->starting = INT_START_ANSWERS;
}

/**
 * int_window_is_small() - would a delayed ACK stall the sender?
 * @wnd_bytes: its window
 * @mss_bytes: its segments
 *
 * Return: whether its ACKs must come at once.
 */
static inline bool int_window_is_small(u32 wnd_bytes, u32 mss_bytes)
{
	/* 2^16 * 4 < 2^32 */
	return wnd_bytes < mss_bytes * INT_SMALL_WINDOW_PKTS;
}

/**
 * struct int_met - what a SYN or SYN-ACK met on its way
 * @hops: nHop; 0: not known
 * @speed: code of the rate of the slowest port, or INT_SPEED_UNSURE; 0: no port is known
 * @queues_ns: the queues of the path's ports in sum, as reported; 0: none, or not known
 */
struct int_met {
	u8 hops;
	u8 speed;
	u32 queues_ns;
};

/* INT_SPEED_UNSURE where a hop found no room for its record, or does not know its rate. */
static inline u8 int_met_speed(const struct int_hdr *h)
{
	if (!int_hops(h))
		return 0;
	if (int_hops(h) > int_slots(h))
		return INT_SPEED_UNSURE;
	return int_speed_code(hpcc_path_mbit(h)) ?: INT_SPEED_UNSURE;
}

/* The hops, the slowest port and the queues that a HELLO met, as it came in. */
static inline struct int_met int_met_by_hello(const struct int_hdr *h)
{
	return (struct int_met) {
		.hops = int_hops(h),
		.speed = int_met_speed(h),
		.queues_ns = min_t(u64, hpcc_queues_ns(h), U32_MAX),
	};
}

/* Queues as they are reported, in 2^INT_QUEUES_SHIFT ns. */
static inline u16 int_queues_to_report(const struct int_met *met)
{
	return min_t(u32, met->queues_ns >> INT_QUEUES_SHIFT, U16_MAX);
}

/**
 * int_report_syn() - a SYN-ACK's HELLO reports what the SYN met
 * @h: the header, written by int_write()
 * @met: what the SYN met, by int_met_by_hello()
 */
static inline void int_report_syn(struct int_hdr *h, const struct int_met *met)
{
	h->flags = met->hops;
	h->path = cpu_to_be32(int_queues_to_report(met));
	*int_options(h) |= cpu_to_be32(met->speed);
}

/* A SYN-ACK's HELLO, as it came in. A peer that reports nothing has a path back, at least. */
static inline struct int_met int_met_by_report(const struct int_hdr *h)
{
	return (struct int_met) {
		.hops = min_t(unsigned int, (h->flags & INT_FLAGS_VALUE) ?: int_hops(h),
			      INT_HOPS_SATURATED),
		.speed = int_reported_speed(h),
		.queues_ns = int_padding(h) << INT_QUEUES_SHIFT,
	};
}

/**
 * int_slots_for() - records to make room for
 * @slots: net.hopcc.int_slots; 0: none, whatever the path
 * @hops: number of hops on the path, as far as known
 *
 * Return: up to INT_SLOTS_MAX.
 */
static inline unsigned int int_slots_for(unsigned int slots, unsigned int hops)
{
	return slots ? clamp(hops, slots, INT_SLOTS_MAX) : 0;
}

/* The TCP option of the `ack` form, RFC 6994: 16 bytes. */
#define INT_OPT_KIND		253
#define INT_OPT_EXID		0x4849	/* "HI" */
#define INT_OPT_BYTES		16U
/* RFC 2385, RFC 5925 */
#define INT_OPT_MD5		19
#define INT_OPT_AO		29
#define INT_OPT_ID_BITS		12
#define INT_OPT_ID_MASK		0xfffU

/**
 * struct int_opt - on the wire
 * @kind: INT_OPT_KIND
 * @length: INT_OPT_BYTES
 * @exid: INT_OPT_EXID
 * @id_index: lower 12 bits of the id, and which hop it is, 4 bits
 * @path: nHop and pathID, as in the header
 * @record: of the most loaded hop
 */
struct int_opt {
	__u8	kind;
	__u8	length;
	__be16	exid;
	__be16	id_index;
	__be16	path;
	__be64	record;
} __packed;

/**
 * struct int_summary - what the option says
 * @id: of the packet that collected; of a received one the lower 12 bits
 * @hops: nHop
 * @path_id: pathID
 * @index: which hop @record is of
 * @record: packed
 */
struct int_summary {
	u32 id;
	u8 hops;
	u16 path_id;
	u8 index;
	__be64 record;
};

static inline void int_opt_write(struct int_opt *opt, const struct int_summary *s)
{
	*opt = (struct int_opt) {
		.kind = INT_OPT_KIND,
		.length = INT_OPT_BYTES,
		.exid = cpu_to_be16(INT_OPT_EXID),
		.id_index = cpu_to_be16((s->id & INT_OPT_ID_MASK) << 4 | (s->index & 0xf)),
		.path = cpu_to_be16(s->hops << 12 | (s->path_id & INT_SWITCH_ID_MAX)),
		.record = s->record,
	};
}

/**
 * int_opt_is_signed() - are TCP's options signed, RFC 2385 or RFC 5925?
 * @opts: options
 * @bytes: of them
 *
 * What is added to a signed segment makes it another.
 *
 * Return: whether; what cannot be read is.
 */
static inline bool int_opt_is_signed(const u8 *opts, unsigned int bytes)
{
	unsigned int at = 0;

	while (at < bytes && opts[at]) {
		if (opts[at] == 1) {
			at++;
			continue;
		}
		if (at + 2 > bytes || opts[at + 1] < 2 || at + opts[at + 1] > bytes ||
		    opts[at] == INT_OPT_MD5 || opts[at] == INT_OPT_AO)
			return true;
		at += opts[at + 1];
	}
	return false;
}

/**
 * int_opt_read() - find the option among others
 * @opts: TCP's options
 * @bytes: of them, 40 at most
 * @s: result
 *
 * Return: whether it is there, and sound.
 */
static inline bool int_opt_read(const u8 *opts, unsigned int bytes, struct int_summary *s)
{
	struct int_opt opt;
	unsigned int at = 0;

	while (at < bytes && opts[at]) {
		if (opts[at] == 1) {
			at++;
			continue;
		}
		if (at + 2 > bytes || opts[at + 1] < 2 || at + opts[at + 1] > bytes)
			return false;
		if (opts[at] == INT_OPT_KIND && opts[at + 1] == INT_OPT_BYTES) {
			memcpy(&opt, opts + at, sizeof(opt));
			if (be16_to_cpu(opt.exid) == INT_OPT_EXID)
				break;
		}
		at += opts[at + 1];
	}
	if (at >= bytes || !opts[at])
		return false;
	s->id = be16_to_cpu(opt.id_index) >> 4;
	s->index = be16_to_cpu(opt.id_index) & 0xf;
	s->hops = be16_to_cpu(opt.path) >> 12;
	s->path_id = be16_to_cpu(opt.path) & INT_SWITCH_ID_MAX;
	s->record = opt.record;
	return s->index < s->hops && s->index < INT_SLOTS_MAX;
}

/* The id whose lower 12 bits came back: the newest that left with them. */
static inline u32 int_whole_id(const struct int_asker *a, u32 low)
{
	const u32 id = READ_ONCE(a->id);

	return id - ((id - low) & INT_OPT_ID_MASK);
}

#endif /* NET_INT_INT_CARRIER_H */
