/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The algorithms of the telemetry carrier, draft-miao-rtgwg-hpccplus-00 sections 6.2 and 7.2: when
 * a packet collects records, which answer is new, and when to give up on a path.
 *
 *	 UNPROVEN  --------------------- an answer ------------------> PROVEN
 *	  two, then one a timeout                               one packet a period
 *	     |                                                    ^          |
 *	     | three of them                            an answer |          | none for
 *	     v                                                    |          v a timeout
 *	 GIVEN UP  <---------- three of them --------------- UNANSWERED: one a timeout
 *
 * A period is T ("once per round trip"), at most 4 ms. If RTTs are much longer than T although no
 * queue is reported, the hosts are slow, and more answers would slow them down further: then a
 * period is a quarter of TCP's RTT. If the congestion control finds that only the hosts limit the
 * flow (int_ask.seldom), one packet a round trip collects records, see nint_is_underway().
 *
 * Two answers are needed early after a start, or a restart after a pause: the period is then a
 * quarter of the usual one. While answers report a queue of more than half of T, which makes RTTs
 * much longer than T, it is an eighth. The first probe after a start is sent behind the first data
 * if more data follows: see nint_passes(). In the first eighth of the window, a packet also has a
 * probe if it is twice as far from the start, in bytes, as the last packet with a probe. If N
 * senders start at once, a packet with d bytes in front of it waits for N d bytes; so for any N an
 * answer that reports a queue arrives soon after the first one. On an unproven path only the first
 * two of these probes are sent.
 *
 * After the start, there are INT_APART_PKTS packets between two probes, for at most
 * INT_APART_PERIODS periods, because the probes of many flows with small windows would be a load:
 * 16 flows at a port of 25 Gbit/s sent a probe for every 1.7 packets. When answers are needed
 * early, the distance is INT_APART_SOON_PKTS: with 4 packets, 16 senders that started at once left
 * a queue of 10 packets.
 *
 * The timeout is long enough for an answer to return through full queues.
 *
 * Deviations:
 * - In the draft, probing never stops. Here it stops if there are no answers, because a host that
 *   takes probes for TCP data replies with duplicate ACKs.
 * - Each packet that collects records has a 32-bit ID; the first one is random. An answer is new if
 *   its ID is newer than the latest answered ID. Segments of one GSO packet have the same ID, and
 *   the later segment is newer. An answer to an ID that was never sent is forged.
 */
#ifndef HOPCC_NET_INT_INT_CARRIER_H
#define HOPCC_NET_INT_INT_CARRIER_H

#include <linux/build_bug.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/types.h>
#include <hopcc/lib/hop_discover.h>
#include <hopcc/lib/hpcc.h>
#include <hopcc/wire/hop_option.h>
#include <hopcc/wire/int.h>
#include <hopcc/flow/int_flow.h>

/* The draft says once per round trip; a long T needs more answers. */
#define INT_PERIOD_MAX_NS	4000000U
#define INT_PERIOD_MIN_NS	1000U

/* A second answer within 1/2^INT_RTT_SHIFT of an RTT would report the same: a period is longer. */
#define INT_RTT_SHIFT		2

/* Validity of records: half the period of a hop's timestamp. */
#define INT_PAUSE_NS		8000000ULL
#define INT_START_ANSWERS	2U
#define INT_START_SHIFT		3
#define INT_OPENING_SHIFT	2
/* Probes at doubling distances are sent in the first 1/2^INT_FAR_SHIFT of the window. */
#define INT_FAR_SHIFT		3
/*
 * Distance between two probes: in packets, in packets while answers are needed early, and the time
 * in periods after which a probe is sent at any distance.
 */
#define INT_APART_PKTS		8U
#define INT_APART_SOON_PKTS	2U
#define INT_APART_PERIODS	4U
/* After an answer with a queue above T / 2^INT_QUEUE_SHIFT more answers are needed early. */
#define INT_QUEUE_SHIFT		1

/* Timeout in units of T or TCP's RTT, whichever is longer, and its minimum: the longest period. */
#define INT_TIMEOUT_RTTS	4U
#define INT_TIMEOUT_MIN_NS	4000000ULL
/* Timeout while TCP has no RTT yet: TCP's initial RTO. */
#define INT_TIMEOUT_UNKNOWN_NS	1000000000ULL

/* Number of unanswered packets after which the path is given up. */
#define INT_UNANSWERED_MAX		3U
/* The first of these are sent in the first window, the last one a timeout later. */
#define INT_OPENING_UNANSWERED	2U

/* With headers in data: how often the receiver gets the parameters of its algorithm. */
#define INT_TERMS_PERIOD_NS	10000000ULL

/* Answers to IDs that are older than the latest one by this much are ignored as forged. */
#define INT_IDS_MEMORY		65536U

/* The time at which a packet was sent wraps after 137 s, at 32 ns. */
#define INT_TIMED_SHIFT		5

/**
 * struct nint_asker - state of a flow that uses telemetry; protected by the flow's lock
 * @id: ID of the latest packet that collects records
 * @begun_seq: sequence number of the first data after the start or after a pause
 * @left_seq: sequence number of the data with which the latest packet was sent
 * @timed_id: ID of the packet whose RTT is measured; one at a time
 * @left_ns: time at which that was sent
 * @waiting_ns: time since which an answer is expected
 * @unanswered_ns: time at which the last packet was sent on a path that is unproven, or whose
 *	answers have stopped
 * @unanswered: number of such packets that are unanswered
 * @starting: number of answers that are needed early
 * @opening: fewer than two answers were received since the start
 * @passed: data was sent after a pause, but no packet that collects records yet
 * @waiting: an answer is expected
 * @proven: an answer was received at least once
 * @received: @received_id and @received_seq are valid
 * @received_empty: the latest answer had no data to compute with
 * @received_id: ID of the latest answer
 * @received_seq: SND.NXT in the latest answer
 * @rtt_ns: the latest RTT, from a probe to its answer; 0: not known
 * @timed: time at which packet @timed_id was sent, in units of 2^INT_TIMED_SHIFT ns; 0: no RTT is
 *	being measured
 */
struct nint_asker {
	u32 id;
	u32 begun_seq;
	u32 left_seq;
	u32 timed_id;
	u64 left_ns;
	u64 waiting_ns;
	u64 unanswered_ns;
	u8 unanswered;
	u8 starting;
	bool opening;
	bool passed;
	bool waiting;
	bool proven;
	bool received;
	bool received_empty;
	u32 received_id;
	u32 received_seq;
	u32 rtt_ns;
	u32 timed;
};

/**
 * enum nint_turn - should a packet collect records?
 * @INT_TURN_WAIT: not yet
 * @INT_TURN_SEND: yes
 * @INT_TURN_NO_ROOM: yes, but the header does not fit
 * @INT_TURN_GIVE_UP: no, because there are no answers
 */
enum nint_turn {
	INT_TURN_WAIT,
	INT_TURN_SEND,
	INT_TURN_NO_ROOM,
	INT_TURN_GIVE_UP,
};

/**
 * nint_period_ns() - interval of probes
 * @a: state of the flow
 * @t_ns: T
 * @srtt_us: TCP's smoothed RTT; 0: not known
 *
 * Return: ns.
 */
u32 nint_period_ns(const struct nint_asker *a, u32 t_ns, u32 srtt_us);

/**
 * nint_timeout_ns() - timeout of an answer
 * @t_ns: T
 * @srtt_us: TCP's smoothed RTT; 0: not known
 *
 * Return: ns.
 */
u64 nint_timeout_ns(u32 t_ns, u32 srtt_us);

/**
 * nint_is_far() - early in the first window: is this data twice as far as the last probe?
 * @a: state of the flow
 * @seq: sequence number of the data
 * @wnd_bytes: window
 *
 * Return: true if it is.
 */
bool nint_is_far(const struct nint_asker *a, u32 seq, u32 wnd_bytes);

/**
 * nint_is_near() - is this data so close to the last probe that it needs none?
 * @a: state of the flow
 * @now_ns: current time
 * @t_ns: T
 * @seq: sequence number of the data
 * @mss_bytes: segment size
 *
 * Always false at a start and on an unproven path.
 *
 * Return: true if the data is sent without a probe.
 */
bool nint_is_near(const struct nint_asker *a, u64 now_ns, u32 t_ns, u32 seq, u32 mss_bytes);

/**
 * nint_is_underway() - check if the data with which the latest packet was sent is unacknowledged
 * @a: state of the flow; its latest packet was sent with its left_seq
 * @una_seq: current SND.UNA
 *
 * If one answer a round trip is enough, no other packet collects records meanwhile. This needs no
 * RTT, and the smoothed one would stay long for a while after a queue is gone.
 *
 * Return: true if it is; false if more answers are needed early, and on an unproven path.
 */
static inline bool nint_is_underway(const struct nint_asker *a, u32 una_seq)
{
	return a->proven && !a->starting && (s32)(a->left_seq - una_seq) >= 0;
}

/**
 * nint_passes() - decide if the first probe is to follow this data instead of preceding it
 * @a: state of the flow
 * @now_ns: current time
 * @seq: sequence number of the data
 * @more: other data follows immediately
 *
 * If senders start at once and each sends a probe first, these probes find an empty queue, with
 * which the algorithm would compare the next answer.
 *
 * Return: true if the probe is to follow; once per start.
 */
bool nint_passes(struct nint_asker *a, u64 now_ns, u32 seq, bool more);

/**
 * nint_forget_unanswered() - reset the count of unanswered packets
 * @a: state of the flow
 */
static inline void nint_forget_unanswered(struct nint_asker *a)
{
	a->waiting = false;
	a->unanswered = 0;
}

/**
 * nint_turn() - decide if it is time to collect records
 * @a: state of the flow
 * @now_ns: current time
 * @period_ns: nint_period_ns()
 * @timeout_ns: nint_timeout_ns()
 *
 * Headers in data do not wait for a period: every packet, or every n-th one, collects.
 *
 * Return: the decision.
 */
enum nint_turn nint_turn(const struct nint_asker *a, u64 now_ns, u32 period_ns, u64 timeout_ns);

/**
 * nint_leaves() - note that a packet that collects records is sent
 * @a: state of the flow
 * @now_ns: current time
 * @timeout_ns: nint_timeout_ns()
 * @seq: sequence number of the data with which it is sent. Headers in data do not depend on the
 *	distance: pass @a's left_seq, unless one answer a round trip is enough
 *
 * Return: ID of the packet.
 */
u32 nint_leaves(struct nint_asker *a, u64 now_ns, u64 timeout_ns, u32 seq);

/**
 * enum nint_news - classes of answers
 * @INT_NEWS: the latest answer
 * @INT_NEWS_OLD: reordered or replayed
 * @INT_NEWS_FORGED: for a packet that was never sent, or long ago
 */
enum nint_news {
	INT_NEWS,
	INT_NEWS_OLD,
	INT_NEWS_FORGED,
};

/**
 * nint_answered() - classify and note an answer
 * @a: state of the flow
 * @id: ID of the packet that is answered
 * @seq: SND.NXT after that packet was sent
 * @empty: the answer has no data to compute with
 * @now_ns: current time
 *
 * An empty answer proves that the peer answers. A later answer to the same packet with data is
 * still new: otherwise a forged empty answer could replace the real one.
 *
 * Return: class of the answer.
 */
enum nint_news nint_answered(struct nint_asker *a, u32 id, u32 seq, bool empty, u64 now_ns);

/**
 * nint_rtt_ns() - RTT of the packet whose answer nint_answered() has accepted
 * @a: state of the flow
 * @id: ID of the packet
 *
 * Return: ns; 0 if it was not measured.
 */
static inline u32 nint_rtt_ns(const struct nint_asker *a, u32 id)
{
	return !a->timed && id == a->timed_id ? a->rtt_ns : 0;
}

/**
 * nint_answer_queue_ns() - queue that an answer reports
 * @a: the answer
 * @t_ns: T
 *
 * Return: the longest queue of the path, ns. A ratio is the sum of the queue, in T, and the load,
 * which is at most 1. A window reports no queue: 0.
 */
u64 nint_answer_queue_ns(const struct int_answer *a, u32 t_ns);

/**
 * nint_hurry() - request early answers if the latest answer reports a long queue
 * @a: state of the flow
 * @queue_ns: nint_answer_queue_ns()
 * @t_ns: T
 */
void nint_hurry(struct nint_asker *a, u64 queue_ns, u32 t_ns);

/**
 * nint_window_is_small() - check if delayed ACKs would stall the sender
 * @wnd_bytes: window of the sender
 * @mss_bytes: segment size
 *
 * Return: true if ACKs must be sent immediately.
 */
static inline bool nint_window_is_small(u32 wnd_bytes, u32 mss_bytes)
{
	/* 2^16 * 4 < 2^32 */
	return wnd_bytes < mss_bytes * INT_SMALL_WINDOW_PKTS;
}

/**
 * nint_slots_for() - number of slots for records
 * @slots: net.hopcc.int_slots; 0: no slots on any path
 * @hops: number of hops on the path, as far as it is known
 *
 * Return: at most INT_SLOTS_MAX.
 */
unsigned int nint_slots_for(unsigned int slots, unsigned int hops);

/* TCP option for answers in ACKs, RFC 6994: 16 bytes. */
#define INT_OPT_KIND		253
#define INT_OPT_EXID		0x4849	/* "HI" */
#define INT_OPT_BYTES		16U
#define INT_OPT_ID_MASK		0xfffU

/**
 * struct nint_opt - wire format of the option
 * @kind: INT_OPT_KIND
 * @length: INT_OPT_BYTES
 * @exid: INT_OPT_EXID
 * @id_index: lower 12 bits of the ID, then the index of the hop, 4 bits
 * @path: nHop and pathID, the upper half of the header's path
 * @record: record of the most loaded hop
 */
struct nint_opt {
	__u8	kind;
	__u8	length;
	__be16	exid;
	__be16	id_index;
	__be16	path;
	__be64	record;
} __packed;

/**
 * nint_opt_write() - write the option
 * @opt: result
 * @id: ID of the packet that collected the records
 * @h: its header
 * @index: index of the most loaded hop, which has a record
 */
void nint_opt_write(struct nint_opt *opt, u32 id, const struct int_hdr *h, unsigned int index);

/**
 * nint_opt_read() - find the option in the TCP options
 * @opts: TCP options
 * @bytes: size of @opts, at most 40
 * @id: result: lower 12 bits of the ID
 * @a: result: the answer, without its sequence number
 *
 * Return: true if the option was found and is valid.
 */
bool nint_opt_read(const u8 *opts, unsigned int bytes, u32 *id, struct int_answer *a);

/* The complete ID for its lower 12 bits: the latest packet that was sent with them. */
u32 nint_whole_id(const struct nint_asker *a, u32 low);

/**
 * struct nint_control - what a control packet (probe or answer) has behind TCP's header
 * @msg: the message
 * @hdr: the header
 * @room: memory for @hdr and its records, and behind these the parameters of a probe
 */
struct nint_control {
	struct int_msg msg;
	union {
		struct int_hdr hdr;
		u8 room[INT_HDR_BYTES + INT_SLOTS_MAX * INT_RECORD_BYTES + INT_TERMS_BYTES];
	};
};

static_assert(offsetof(struct nint_control, room) == INT_MSG_BYTES, "place of the header");

/* Parameters behind the header of a probe. */
static inline struct int_terms *nint_control_terms(struct nint_control *ctl)
{
	return (void *)&ctl->hdr + ctl->hdr.words * INT_WORD_BYTES;
}

/* Length of a control packet behind TCP's header. */
static inline unsigned int nint_control_bytes(const struct nint_control *ctl)
{
	return INT_MSG_BYTES + ctl->hdr.words * INT_WORD_BYTES +
	       (ctl->hdr.type == INT_TYPE_PROBE ? INT_TERMS_BYTES : 0);
}

/**
 * nint_control_check() - validate a control packet
 * @ctl: the packet; as much of it as there is
 * @bytes: length of the packet behind TCP's header
 * @type: the type that the packet's mark indicates, INT_TYPE_PROBE or INT_TYPE_ECHO
 *
 * Return: INT_OK, or the reason why the packet is not a control packet.
 */
enum int_fault nint_control_check(struct nint_control *ctl, unsigned int bytes,
				  enum int_type type);

/**
 * nint_control_answer() - read an answer
 * @ctl: a control packet of INT_TYPE_ECHO that nint_control_check() accepted
 * @now_ns: time at which it arrived, local clock
 * @a: result: the answer
 *
 * Return: true if @a is valid; false if its kind is unknown or its hop is out of range.
 */
bool nint_control_answer(const struct nint_control *ctl, u64 now_ns, struct int_answer *a);

/**
 * nint_answer_is_empty() - check if an answer reports nothing
 * @a: an answer
 *
 * Return: true if no hop wrote a record, or one has an unknown speed.
 */
static inline bool nint_answer_is_empty(const struct int_answer *a)
{
	return a->kind == INT_ANSWER_RECORDS && !hpcc_understands(&a->hdr);
}

/*
 * Rules for GRO: which headers of two segments may be merged into one.
 *
 * The latest header is kept, with its records and its ID. Nothing uses the data that is lost:
 *
 * - An answer reports on one packet, the latest, and supersedes the answers to all earlier ones
 *   (nint_answered()). Merged segments are answered once, with the id and records of the last and
 *   with TCP's sequence number behind it: as if the answers to the others had been overtaken. This
 *   holds for segments of one GSO packet, which have the same ID, and for those of several.
 * - The algorithm, at either end, compares the latest records with those that it has stored, over
 *   the time between them. Segments that merge arrive within one poll of a NIC, far below T; GRO of
 *   ACKs has the same effect at the sender.
 *
 * Headers that the carrier treats differently are not merged: if type, length, flags, path or
 * number of hops differ, which shows a change of the path; if cookies differ, because a forged
 * segment must not be accepted with good ones; and if an older ID follows a newer one, because the
 * answer would be ignored as old.
 */

/* Size of a header that passed int_check(), with its tail. */
static inline unsigned int nint_shim_bytes(const struct int_hdr *h)
{
	return h->words * INT_WORD_BYTES + INT_TAIL_BYTES;
}

static inline const struct int_tail *nint_tail_of(const struct int_hdr *h)
{
	return (const void *)h + h->words * INT_WORD_BYTES;
}

/**
 * nint_may_merge() - check if the later of two headers can represent the segments of both
 * @held: an INT_TYPE_DATA header that int_check() passed, with its tail
 * @header: the header of the segment that follows
 *
 * Return: true if nint_merge() loses no data that is used.
 */
static inline bool nint_may_merge(const struct int_hdr *held, const struct int_hdr *header)
{
	const struct int_tail *old, *new;

	if (held->next != header->next || held->words != header->words ||
	    held->type != header->type || held->flags != header->flags ||
	    held->path != header->path)
		return false;
	old = nint_tail_of(held);
	new = nint_tail_of(header);
	return old->second == new->second &&
	       (s32)(be32_to_cpu(new->first) - be32_to_cpu(old->first)) >= 0;
}

/**
 * nint_merge() - merge two headers
 * @held: the earlier header of nint_may_merge(); is replaced
 * @header: the later header of nint_may_merge()
 */
static inline void nint_merge(struct int_hdr *held, const struct int_hdr *header)
{
	memcpy(held, header, nint_shim_bytes(header));
}

#endif /* HOPCC_NET_INT_INT_CARRIER_H */
