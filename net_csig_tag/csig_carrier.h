/* SPDX-License-Identifier: GPL-2.0 */
/*
 * CSIG's end host, draft-ravi-ippm-csig-01 sections 4.2, 4.3 and 6.3.3: which signal a
 * packet asks for, what of the answers is reflected, and whether the path takes tags.
 *
 *	option	+------+--------+-------------+------------------------------+
 *		| kind | length |    ExID     |  nothing, or the data fields |
 *		+------+--------+-------------+------------------------------+
 *		length 4: on SYN and SYN-ACK "I know CSIG"; later "no tag came", and in answer
 *			to length 5 "I know CSIG"
 *		length 5: on a pure ACK "do you know CSIG?", and a byte of zeros
 *		length 6, 10: a compact, an expanded tag's data fields
 *
 *	path	UNPROVEN ---------------- a value comes back --------------> PROVEN
 *		 one tag at a time                                          all tags
 *		    |  ^  ^------- none for a patience, or "no tag came" -------|
 *		    |  |
 *		    |  +-- after a while, one try -- STRIPPED: no tags
 *		    +------- three went unanswered -----^
 *
 * Deviations:
 * - Figure 3's Length counts the data fields; TCP requires that it counts the whole option.
 * - 6.3.3 leaves negotiation open: the option without data in the handshake is ours, and so is
 *   the question of length 5 where a congestion control is chosen on an established connection.
 * - A tag on a path that discards it is a lost packet: so one at a time until one came back.
 */
#ifndef NET_CSIG_TAG_CSIG_CARRIER_H
#define NET_CSIG_TAG_CSIG_CARRIER_H

#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/types.h>
#include <net/csig.h>

/* RFC 6994: kind for experiments, and who it is. */
#define CSIG_OPT_KIND		253
#define CSIG_EXID_DEFAULT	0x4353
#define CSIG_OPT_HEAD_BYTES	4U
#define CSIG_OPT_MAX_BYTES	12U
#define CSIG_OPT_QUESTION_BYTES	8U	/* with what fills its first word up */
#define CSIG_QUESTION_DATA_BYTES 1U
#define CSIG_DATA_MAX_BYTES	6U

#define CSIG_TCPOPT_EOL		0
#define CSIG_TCPOPT_NOP		1
#define CSIG_TCPOPT_MD5		19
#define CSIG_TCPOPT_AO		29

/**
 * enum csig_opt - what an option says
 * @CSIG_OPT_NONE: there is none
 * @CSIG_OPT_EMPTY: of the handshake, or that no tag came
 * @CSIG_OPT_QUESTION: an established connection's: does the peer know CSIG?
 * @CSIG_OPT_COMPACT: data fields of a compact tag
 * @CSIG_OPT_EXPANDED: of an expanded one
 * @CSIG_OPT_BAD: of another length
 */
enum csig_opt {
	CSIG_OPT_NONE,
	CSIG_OPT_EMPTY,
	CSIG_OPT_QUESTION,
	CSIG_OPT_COMPACT,
	CSIG_OPT_EXPANDED,
	CSIG_OPT_BAD,
};

static inline enum csig_opt csig_opt_of_length(u32 length)
{
	switch (length) {
	case CSIG_OPT_HEAD_BYTES:
		return CSIG_OPT_EMPTY;
	case CSIG_OPT_HEAD_BYTES + CSIG_QUESTION_DATA_BYTES:
		return CSIG_OPT_QUESTION;
	case CSIG_OPT_HEAD_BYTES + 2:
		return CSIG_OPT_COMPACT;
	case CSIG_OPT_HEAD_BYTES + 6:
		return CSIG_OPT_EXPANDED;
	default:
		return CSIG_OPT_BAD;
	}
}

static inline enum csig_form csig_opt_form(enum csig_opt opt)
{
	if (opt == CSIG_OPT_COMPACT)
		return CSIG_COMPACT;
	return opt == CSIG_OPT_EXPANDED ? CSIG_EXPANDED : CSIG_NONE;
}

/**
 * csig_opt_read() - find the option among TCP's
 * @opts: TCP's options
 * @bytes: of them, 40 at most
 * @exid: whose it is
 * @data: result, its data fields; CSIG_DATA_MAX_BYTES
 *
 * Return: what it says. What stands behind an option that cannot be read is not looked at.
 */
static inline enum csig_opt csig_opt_read(const u8 *opts, u32 bytes, u16 exid, u8 *data)
{
	u32 at = 0;

	while (at < bytes && opts[at] != CSIG_TCPOPT_EOL) {
		const u8 *o = opts + at;

		if (*o == CSIG_TCPOPT_NOP) {
			at++;
			continue;
		}
		if (at + 2 > bytes || o[1] < 2 || at + o[1] > bytes)
			break;
		if (o[0] == CSIG_OPT_KIND && o[1] >= CSIG_OPT_HEAD_BYTES &&
		    (o[2] << 8 | o[3]) == exid) {
			const enum csig_opt opt = csig_opt_of_length(o[1]);

			if (opt != CSIG_OPT_BAD)
				memcpy(data, o + CSIG_OPT_HEAD_BYTES, o[1] - CSIG_OPT_HEAD_BYTES);
			return opt;
		}
		at += o[1];
	}
	return CSIG_OPT_NONE;
}

/**
 * csig_opt_has_end() - may an option be appended?
 * @opts: TCP's options
 * @bytes: of them, 40 at most
 *
 * Return: false if they are signed (RFC 2385, RFC 5925), cannot be read, or end early:
 * what follows an end is not read.
 */
static inline bool csig_opt_has_end(const u8 *opts, u32 bytes)
{
	u32 at = 0;

	while (at < bytes) {
		const u8 *o = opts + at;

		if (*o == CSIG_TCPOPT_NOP) {
			at++;
			continue;
		}
		if (*o == CSIG_TCPOPT_EOL || *o == CSIG_TCPOPT_MD5 || *o == CSIG_TCPOPT_AO ||
		    at + 2 > bytes || o[1] < 2 || at + o[1] > bytes)
			return false;
		at += o[1];
	}
	return true;
}

/* Its room, in whole words: of a form's data fields, or CSIG_NONE's. */
static inline u32 csig_opt_bytes(enum csig_form form)
{
	const u32 bytes = CSIG_OPT_HEAD_BYTES + (form ? csig_data_bytes(form) : 0);

	return (bytes + 3) & ~3U;
}

/* The option's head behind what fills its first word up. Return: where its data goes. */
static inline u8 *csig_opt_write_head(u8 *to, u16 exid, u32 data_bytes, u32 room_bytes)
{
	const u32 bytes = CSIG_OPT_HEAD_BYTES + data_bytes;
	const u32 nops = room_bytes - bytes;

	memset(to, CSIG_TCPOPT_NOP, nops);
	to += nops;
	to[0] = CSIG_OPT_KIND;
	to[1] = bytes;
	to[2] = exid >> 8;
	to[3] = exid;
	return to + CSIG_OPT_HEAD_BYTES;
}

/**
 * csig_opt_write_question() - CSIG_OPT_QUESTION
 * @to: CSIG_OPT_QUESTION_BYTES
 * @exid: whose it is
 */
static inline void csig_opt_write_question(u8 *to, u16 exid)
{
	memset(csig_opt_write_head(to, exid, CSIG_QUESTION_DATA_BYTES, CSIG_OPT_QUESTION_BYTES), 0,
	       CSIG_QUESTION_DATA_BYTES);
}

/**
 * csig_opt_write() - the option, behind what fills its first word up
 * @to: csig_opt_bytes(@form)
 * @exid: whose it is
 * @form: of @t; CSIG_NONE: without data
 * @t: the data fields
 */
static inline void csig_opt_write(u8 *to, u16 exid, enum csig_form form,
				  const struct csig_tag *t)
{
	const u32 data_bytes = form ? csig_data_bytes(form) : 0;
	u8 *data = csig_opt_write_head(to, exid, data_bytes, csig_opt_bytes(form));

	if (form)
		csig_write(form, data, t);
}

/*
 * A tag on its way through the stack, from where it is decided to the device: 8 bytes
 * beside the packet, that others may overwrite: so they bear a check. Zeros are none.
 */
#define CSIG_MARK_BYTES		8U
#define CSIG_MARK_CHECK_BYTES	2U
/* 2^64 / golden ratio. */
#define CSIG_MARK_FACTOR	0x9e3779b97f4a7c15ULL

static inline u16 csig_mark_check(const u8 *data, enum csig_form form, u64 secret)
{
	u64 word = form;
	u32 i;

	for (i = 0; i < CSIG_DATA_MAX_BYTES; i++)
		word = word << 8 | data[i];
	word = (word ^ secret) * CSIG_MARK_FACTOR;
	word = (word ^ word >> 32) * CSIG_MARK_FACTOR;
	return max_t(u16, word >> 48, 1);
}

/**
 * csig_mark_write() - beside a packet
 * @mark: CSIG_MARK_BYTES
 * @form: CSIG_COMPACT or CSIG_EXPANDED
 * @t: the tag
 * @secret: random
 */
static inline void csig_mark_write(u8 *mark, enum csig_form form, const struct csig_tag *t,
				   u64 secret)
{
	u8 *data = mark + CSIG_MARK_CHECK_BYTES;
	u16 check;

	memset(data, 0, CSIG_DATA_MAX_BYTES);
	csig_write(form, data, t);
	check = csig_mark_check(data, form, secret);
	mark[0] = check >> 8;
	mark[1] = check;
}

/**
 * csig_mark_read() - is there one?
 * @mark: CSIG_MARK_BYTES
 * @t: result
 * @secret: of csig_mark_write()
 *
 * Return: its form, or CSIG_NONE; of what is none, one in 2^15 is taken for one.
 */
static inline enum csig_form csig_mark_read(const u8 *mark, struct csig_tag *t, u64 secret)
{
	const u8 *data = mark + CSIG_MARK_CHECK_BYTES;
	const u16 check = mark[0] << 8 | mark[1];
	enum csig_form form;

	if (!check)
		return CSIG_NONE;
	for (form = CSIG_COMPACT; form < CSIG_FORMS; form++)
		if (csig_mark_check(data, form, secret) == check)
			break;
	if (form == CSIG_FORMS)
		return CSIG_NONE;
	*t = csig_read(form, data);
	return form;
}

/**
 * struct csig_turns - whose turn it is; of a flow, under its lock
 * @type: of the last tag
 * @left_pkts: how many more ask for it
 */
struct csig_turns {
	u8 type;
	u32 left_pkts;
};

/* The first turn is that of the first signal. */
static inline void csig_turns_start(struct csig_turns *v)
{
	v->type = CSIG_TYPES - 1;
	v->left_pkts = 0;
}

/**
 * csig_turn() - what the next tag asks for: so many in a row, then the next signal
 * @v: of the flow
 * @weight_pkts: by signal; 0: never
 *
 * In a row, since a receiver merges what asks for the same.
 *
 * Return: enum csig_type; CSIG_TYPES if all weights are 0.
 */
static inline u32 csig_turn(struct csig_turns *v, const u32 *weight_pkts)
{
	u32 i;

	/* It may have been lowered meanwhile. */
	v->left_pkts = min(v->left_pkts, weight_pkts[v->type]);
	if (v->left_pkts) {
		v->left_pkts--;
		return v->type;
	}
	for (i = 1; i <= CSIG_TYPES; i++) {
		const u32 type = (v->type + i) % CSIG_TYPES;

		if (!weight_pkts[type])
			continue;
		v->type = type;
		v->left_pkts = weight_pkts[type] - 1;
		return type;
	}
	return CSIG_TYPES;
}

/**
 * csig_nth_turn() - csig_turn() for who keeps no state
 * @n: how many tags went before
 * @weight_pkts: by signal; 0: never; may differ from call to call
 *
 * Return: enum csig_type; CSIG_TYPES if all weights are 0.
 */
static inline u32 csig_nth_turn(u32 n, const u32 *weight_pkts)
{
	u32 i, sum_pkts = 0;

	for (i = 0; i < CSIG_TYPES; i++)
		sum_pkts += weight_pkts[i];
	if (!sum_pkts)
		return CSIG_TYPES;
	n %= sum_pkts;
	for (i = 0; i < CSIG_TYPES - 1 && n >= weight_pkts[i]; i++)
		n -= weight_pkts[i];
	return i;
}

/**
 * enum csig_summary - what of a signal is reflected (4.2: "the latest ... or a more
 *	advanced summary")
 * @CSIG_SUMMARY_LATEST: the latest tag
 * @CSIG_SUMMARY_WORST: the worst since the last reflection
 * @CSIG_SUMMARY_EWMA: the mean, 1/8 a tag (5.3.2); the latest's locator
 * @CSIG_SUMMARIES: number of these
 */
enum csig_summary {
	CSIG_SUMMARY_LATEST,
	CSIG_SUMMARY_WORST,
	CSIG_SUMMARY_EWMA,
	CSIG_SUMMARIES,
};

#define CSIG_EWMA_SHIFT		3	/* gain 1/8 */
#define CSIG_EWMA_FRACTION	8	/* 2^20 values << 8 = 2^28 */

/**
 * struct csig_heard - a signal as the receiver has it; of a flow, under its lock
 * @form: of the tags; CSIG_NONE: there was none
 * @fresh: there was one since the last reflection
 * @latest: tag
 * @worst: tag since the last reflection
 * @ewma: of the values, << CSIG_EWMA_FRACTION
 * @heard_ns: when the latest came
 * @reflected_ns: when one was reflected last
 * @count: of tags; a merged packet has one
 */
struct csig_heard {
	u8 form;
	bool fresh;
	struct csig_tag latest;
	struct csig_tag worst;
	u32 ewma;
	u64 heard_ns;
	u64 reflected_ns;
	u64 count;
};

/**
 * csig_hear() - a tag came
 * @h: of its signal
 * @form: of it
 * @t: the tag
 * @now_ns: now
 */
static inline void csig_hear(struct csig_heard *h, enum csig_form form,
			     const struct csig_tag *t, u64 now_ns)
{
	const u32 fixed = t->value << CSIG_EWMA_FRACTION;

	if (h->form != form) {
		h->form = form;
		h->fresh = false;
		h->ewma = fixed;
	}
	h->ewma += ((s32)fixed - (s32)h->ewma) >> CSIG_EWMA_SHIFT;
	h->latest = *t;
	h->count++;
	h->heard_ns = now_ns;
	if (!h->fresh || csig_worse(t->type, t->value, h->worst.value))
		h->worst = *t;
	h->fresh = true;
}

/**
 * csig_reflect_pick() - which signal is reflected: of the fresh, the one that has waited most
 * @h: CSIG_TYPES of them
 *
 * Return: enum csig_type; CSIG_TYPES if none is fresh.
 */
static inline u32 csig_reflect_pick(const struct csig_heard *h)
{
	u32 i, pick = CSIG_TYPES;

	for (i = 0; i < CSIG_TYPES; i++)
		if (h[i].fresh && (pick == CSIG_TYPES || h[i].reflected_ns < h[pick].reflected_ns))
			pick = i;
	return pick;
}

/**
 * csig_reflect() - reflect a signal
 * @h: the signal
 * @summary: what of it
 * @now_ns: now
 *
 * Return: the tag.
 */
static inline struct csig_tag csig_reflect(struct csig_heard *h, enum csig_summary summary,
					   u64 now_ns)
{
	struct csig_tag t = h->latest;

	if (summary == CSIG_SUMMARY_WORST)
		t = h->worst;
	if (summary == CSIG_SUMMARY_EWMA)
		t.value = (h->ewma + (1U << (CSIG_EWMA_FRACTION - 1))) >> CSIG_EWMA_FRACTION;
	h->fresh = false;
	h->reflected_ns = now_ns;
	return t;
}

/**
 * enum csig_path_state - does the path take tags? Drawn above.
 * @CSIG_PATH_UNPROVEN: it is tried
 * @CSIG_PATH_PROVEN: it does
 * @CSIG_PATH_STRIPPED: it does not
 */
enum csig_path_state {
	CSIG_PATH_UNPROVEN,
	CSIG_PATH_PROVEN,
	CSIG_PATH_STRIPPED,
};

/* Tags without an answer after which the path is one that strips. */
#define CSIG_MISSES_MAX		3U
/* In RTTs, and at least. */
#define CSIG_PATIENCE_RTTS	4U
#define CSIG_PATIENCE_MIN_NS	4000000ULL
/* Where TCP has no RTT yet: its first timeout. */
#define CSIG_PATIENCE_UNKNOWN_NS	1000000000ULL

/**
 * struct csig_path - of a flow that sends tags, under its lock
 * @state: enum csig_path_state
 * @misses: tags in a row that went unanswered
 * @waiting: a tag's answer is waited for
 * @newest: of all tags, it is the newest
 * @end_seq: what acknowledges the packet of this tag
 * @since_ns: when it left; of CSIG_PATH_STRIPPED, since when
 */
struct csig_path {
	u8 state;
	u8 misses;
	bool waiting;
	bool newest;
	u32 end_seq;
	u64 since_ns;
};

/**
 * csig_patience_ns() - how long an answer may take
 * @srtt_us: TCP's smoothed RTT; 0: not known
 */
static inline u64 csig_patience_ns(u32 srtt_us)
{
	if (!srtt_us)
		return CSIG_PATIENCE_UNKNOWN_NS;
	return max_t(u64, (u64)srtt_us * 1000 * CSIG_PATIENCE_RTTS, CSIG_PATIENCE_MIN_NS);
}

static inline void csig_path_miss(struct csig_path *p, u64 now_ns)
{
	p->waiting = false;
	WRITE_ONCE(p->state, CSIG_PATH_UNPROVEN);
	if (++p->misses < CSIG_MISSES_MAX)
		return;
	WRITE_ONCE(p->state, CSIG_PATH_STRIPPED);
	p->since_ns = now_ns;
}

/**
 * csig_path_may_tag() - may the next packet bear a tag?
 * @p: of the flow
 * @now_ns: now
 * @patience_ns: of csig_patience_ns()
 * @retry_ns: how long a path that strips is left alone
 */
static inline bool csig_path_may_tag(struct csig_path *p, u64 now_ns, u64 patience_ns,
				     u64 retry_ns)
{
	if (p->waiting && now_ns - p->since_ns > patience_ns)
		csig_path_miss(p, now_ns);
	if (p->state == CSIG_PATH_STRIPPED && now_ns - p->since_ns >= retry_ns) {
		WRITE_ONCE(p->state, CSIG_PATH_UNPROVEN);
		p->misses = CSIG_MISSES_MAX - 1;
	}
	if (p->state == CSIG_PATH_UNPROVEN)
		return !p->waiting;
	return p->state == CSIG_PATH_PROVEN;
}

/**
 * csig_path_tagged() - a packet with a tag leaves
 * @p: of the flow
 * @end_seq: behind its data
 * @now_ns: now
 */
static inline void csig_path_tagged(struct csig_path *p, u32 end_seq, u64 now_ns)
{
	p->newest = !p->waiting;
	if (p->waiting)
		return;
	p->waiting = true;
	p->end_seq = end_seq;
	p->since_ns = now_ns;
}

/* The newest tag did not leave: that there is no answer says nothing of the path. */
static inline void csig_path_unsent(struct csig_path *p)
{
	if (p->newest)
		p->waiting = false;
}

/* A value came back. */
static inline void csig_path_answered(struct csig_path *p)
{
	WRITE_ONCE(p->state, CSIG_PATH_PROVEN);
	p->misses = 0;
	p->waiting = false;
}

/**
 * csig_path_empty() - the receiver says that no tag came
 * @p: of the flow
 * @ack_seq: what it acknowledges
 * @now_ns: now
 */
static inline void csig_path_empty(struct csig_path *p, u32 ack_seq, u64 now_ns)
{
	if (p->waiting && (s32)(ack_seq - p->end_seq) >= 0)
		csig_path_miss(p, now_ns);
}

/*
 * A tag outside a tunnel's packet, after decapsulation: what it says waits for the packet within.
 * Receivers merge packets in between, so it waits by flow and by signal, and the worst stays.
 */

/* It waits this long: the packet within follows in the same softirq, or was dropped. */
#define CSIG_DECAP_MAX_NS	10000000ULL

/**
 * struct csig_decap - outer tags of a flow that no inner packet has taken yet
 * @form: by signal, form of @tag; CSIG_NONE: none waits
 * @tag: by signal, the worst
 * @since_ns: by signal, arrival of the first
 */
struct csig_decap {
	u8 form[CSIG_TYPES];
	struct csig_tag tag[CSIG_TYPES];
	u64 since_ns[CSIG_TYPES];
};

static inline bool csig_decap_waits(const struct csig_decap *d, u32 type, u64 now_ns)
{
	return d->form[type] && now_ns - d->since_ns[type] <= CSIG_DECAP_MAX_NS;
}

/* Return: number of signals that wait. */
static inline u32 csig_decap_waiting(const struct csig_decap *d, u64 now_ns)
{
	u32 type, waiting = 0;

	for (type = 0; type < CSIG_TYPES; type++)
		waiting += csig_decap_waits(d, type, now_ns);
	return waiting;
}

/**
 * csig_decap_put() - a packet is decapsulated that has a tag outside
 * @d: outer tags of the inner packet's flow
 * @form: form of @t
 * @t: the tag; its type is below CSIG_TYPES
 * @now_ns: now
 */
static inline void csig_decap_put(struct csig_decap *d, enum csig_form form,
				  const struct csig_tag *t, u64 now_ns)
{
	const u32 type = t->type;

	if (csig_decap_waits(d, type, now_ns) && d->form[type] == form) {
		if (csig_worse(type, t->value, d->tag[type].value))
			d->tag[type] = *t;
		return;
	}
	d->form[type] = form;
	d->tag[type] = *t;
	d->since_ns[type] = now_ns;
}

/**
 * csig_decap_take() - the inner packet takes what its outer tag said
 * @d: outer tags of the packet's flow
 * @type: the signal it asks for; CSIG_TYPES: any, and that which has waited longest is taken
 * @t: result
 * @now_ns: now
 *
 * Return: form of @t; CSIG_NONE if nothing waits.
 */
static inline enum csig_form csig_decap_take(struct csig_decap *d, u32 type, struct csig_tag *t,
					     u64 now_ns)
{
	enum csig_form form;
	u32 i, pick = CSIG_TYPES;

	for (i = 0; i < CSIG_TYPES; i++) {
		if ((type != CSIG_TYPES && type != i) || !csig_decap_waits(d, i, now_ns))
			continue;
		if (pick == CSIG_TYPES || d->since_ns[i] < d->since_ns[pick])
			pick = i;
	}
	if (pick == CSIG_TYPES)
		return CSIG_NONE;
	form = d->form[pick];
	*t = d->tag[pick];
	d->form[pick] = CSIG_NONE;
	return form;
}

#endif /* NET_CSIG_TAG_CSIG_CARRIER_H */
