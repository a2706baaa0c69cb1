/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The CSIG algorithms of the end host, draft-ravi-ippm-csig-01 sections 4.2, 4.3 and 6.3.3: which
 * signal a packet requests, which value is reflected, and whether tags pass the path.
 *
 *	option	+------+--------+-------------+------------------------------+
 *		| kind | length |    ExID     |   data fields, if any        |
 *		+------+--------+-------------+------------------------------+
 *		length 4: on SYN and SYN-ACK "I know CSIG"; later "no tag came", and in answer
 *			to length 5 "I know CSIG"
 *		length 5: on a pure ACK "do you know CSIG?", and a byte of zeros
 *		length 6 or 10: data fields of a compact or expanded tag
 *
 *	path	UNPROVEN ---------------- a value comes back --------------> PROVEN
 *		 one tag at a time                                          all tags
 *		    |  ^  ^------- none within the timeout, or length 4 --------|
 *		    |  |
 *		    |  +-- after a time, one try --- STRIPPED: no tags
 *		    +------- three unanswered tags -----^
 *
 * Deviations:
 * - Length in figure 3 counts only the data fields; TCP requires the length of the whole option.
 * - 6.3.3 leaves negotiation open: the option without data in the handshake is ours, and so is the
 *   question of length 5 where a congestion control is chosen on an established connection.
 * - On a path that discards tagged packets, each tag means a lost packet. So only one tag at a time
 *   is sent until a value is reflected.
 */
#ifndef HOPCC_NET_CSIG_TAG_CSIG_CARRIER_H
#define HOPCC_NET_CSIG_TAG_CSIG_CARRIER_H

#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/types.h>
#include <hopcc/wire/csig.h>

/* Experimental option kind and our ExID (RFC 6994). */
#define CSIG_OPT_KIND		253
#define CSIG_EXID_DEFAULT	0x4353
#define CSIG_OPT_HEAD_BYTES	4U
#define CSIG_OPT_MAX_BYTES	12U
#define CSIG_OPT_QUESTION_BYTES	8U	/* including the NOPs that pad it to whole words */
#define CSIG_QUESTION_DATA_BYTES 1U
#define CSIG_DATA_MAX_BYTES	6U

#define CSIG_TCPOPT_EOL		0
#define CSIG_TCPOPT_NOP		1
#define CSIG_TCPOPT_MD5		19
#define CSIG_TCPOPT_AO		29

/**
 * enum ctag_opt - contents of an option
 * @CSIG_OPT_NONE: no option
 * @CSIG_OPT_EMPTY: handshake, or report that no tag was received
 * @CSIG_OPT_QUESTION: asks on an established connection if the peer supports CSIG
 * @CSIG_OPT_COMPACT: data fields of a compact tag
 * @CSIG_OPT_EXPANDED: data fields of an expanded tag
 * @CSIG_OPT_BAD: invalid length
 */
enum ctag_opt {
	CSIG_OPT_NONE,
	CSIG_OPT_EMPTY,
	CSIG_OPT_QUESTION,
	CSIG_OPT_COMPACT,
	CSIG_OPT_EXPANDED,
	CSIG_OPT_BAD,
};

static inline enum ctag_opt ctag_opt_of_length(u32 length)
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

static inline enum csig_form ctag_opt_form(enum ctag_opt opt)
{
	if (opt == CSIG_OPT_COMPACT)
		return CSIG_COMPACT;
	return opt == CSIG_OPT_EXPANDED ? CSIG_EXPANDED : CSIG_NONE;
}

/**
 * ctag_opt_read() - find the CSIG option in the TCP options
 * @opts: TCP options
 * @bytes: size of @opts, at most 40
 * @exid: ExID of the CSIG option
 * @data: result: the data fields; CSIG_DATA_MAX_BYTES of room
 *
 * The search ends at an option that cannot be parsed.
 *
 * Return: contents of the option; CSIG_OPT_BAD for an option of ours whose length is none of ours
 * or leads beyond @opts.
 */
static inline enum ctag_opt ctag_opt_read(const u8 *opts, u32 bytes, u16 exid, u8 *data)
{
	u32 at = 0;

	while (at < bytes && opts[at] != CSIG_TCPOPT_EOL) {
		const u8 *o = opts + at;

		if (*o == CSIG_TCPOPT_NOP) {
			at++;
			continue;
		}
		if (at + 2 > bytes || o[1] < 2)
			break;
		if (o[0] == CSIG_OPT_KIND && o[1] >= CSIG_OPT_HEAD_BYTES &&
		    at + CSIG_OPT_HEAD_BYTES <= bytes && (o[2] << 8 | o[3]) == exid) {
			const enum ctag_opt opt = ctag_opt_of_length(o[1]);

			if (opt == CSIG_OPT_BAD || at + o[1] > bytes)
				return CSIG_OPT_BAD;
			memcpy(data, o + CSIG_OPT_HEAD_BYTES, o[1] - CSIG_OPT_HEAD_BYTES);
			return opt;
		}
		at += o[1];
	}
	return CSIG_OPT_NONE;
}

/**
 * ctag_opt_has_end() - check if an option may be appended
 * @opts: TCP options
 * @bytes: size of @opts, at most 40
 *
 * Return: false if the packet is signed (RFC 2385, RFC 5925), or if the options cannot be parsed or
 * contain an End of Option List: what follows that is not read.
 */
static inline bool ctag_opt_has_end(const u8 *opts, u32 bytes)
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

/* Size of the option for tags of @form (CSIG_NONE: without data), padded to whole words. */
static inline u32 ctag_opt_bytes(enum csig_form form)
{
	const u32 bytes = CSIG_OPT_HEAD_BYTES + (form ? csig_data_bytes(form) : 0);

	return (bytes + 3) & ~3U;
}

/*
 * Writes the head of the option, behind NOPs that pad it to whole words. Return: the position of
 * its data.
 */
static inline u8 *ctag_opt_write_head(u8 *to, u16 exid, u32 data_bytes, u32 room_bytes)
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
 * ctag_opt_write_question() - write CSIG_OPT_QUESTION
 * @to: CSIG_OPT_QUESTION_BYTES
 * @exid: whose it is
 */
void ctag_opt_write_question(u8 *to, u16 exid);

/**
 * ctag_opt_write() - write the option, behind NOPs that pad it to whole words
 * @to: csig_opt_bytes(@form) bytes
 * @exid: ExID of the option
 * @form: format of @t; CSIG_NONE: without data
 * @t: the data fields
 */
static inline void ctag_opt_write(u8 *to, u16 exid, enum csig_form form,
				  const struct csig_tag *t)
{
	const u32 data_bytes = form ? csig_data_bytes(form) : 0;
	u8 *data = ctag_opt_write_head(to, exid, data_bytes, ctag_opt_bytes(form));

	if (form)
		csig_write(form, data, t);
}

/*
 * A mark is a tag on its way from POST_ROUTING, or a tunnel's entry, to the device that sends it.
 * It is 8 bytes in skb->cb, which others may overwrite, so it contains a keyed check value. Zeros
 * are no mark.
 */
#define CSIG_MARK_BYTES		8U
#define CSIG_MARK_CHECK_BYTES	2U
/* 2^64 / golden ratio */
#define CSIG_MARK_FACTOR	0x9e3779b97f4a7c15ULL

static inline u16 ctag_mark_check(const u8 *data, enum csig_form form, u64 secret)
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
 * ctag_mark_write() - write a mark
 * @mark: CSIG_MARK_BYTES
 * @form: CSIG_COMPACT or CSIG_EXPANDED
 * @t: the tag
 * @secret: key of the check value, random
 */
static inline void ctag_mark_write(u8 *mark, enum csig_form form, const struct csig_tag *t,
				   u64 secret)
{
	u8 *data = mark + CSIG_MARK_CHECK_BYTES;
	u16 check;

	memset(data, 0, CSIG_DATA_MAX_BYTES);
	csig_write(form, data, t);
	check = ctag_mark_check(data, form, secret);
	mark[0] = check >> 8;
	mark[1] = check;
}

/**
 * ctag_mark_read() - read a mark, if there is one
 * @mark: CSIG_MARK_BYTES
 * @t: result
 * @secret: key that ctag_mark_write() used
 *
 * Return: the tag's format, or CSIG_NONE. Other contents are taken for a mark with a probability of
 * 1 in 2^15.
 */
static inline enum csig_form ctag_mark_read(const u8 *mark, struct csig_tag *t, u64 secret)
{
	const u8 *data = mark + CSIG_MARK_CHECK_BYTES;
	const u16 check = mark[0] << 8 | mark[1];
	enum csig_form form;

	if (!check)
		return CSIG_NONE;
	for (form = CSIG_COMPACT; form < CSIG_FORMS; form++)
		if (ctag_mark_check(data, form, secret) == check)
			break;
	if (form == CSIG_FORMS)
		return CSIG_NONE;
	*t = csig_read(form, data);
	return form;
}

/**
 * struct ctag_turns - the signal that a flow's next tag requests; protected by the flow's lock
 * @type: signal type of the last tag
 * @left_pkts: number of further tags with this type before the next type's turn
 */
struct ctag_turns {
	u8 type;
	u32 left_pkts;
};

/* The first turn is that of the first signal type. */
void ctag_turns_start(struct ctag_turns *v);

/**
 * ctag_turn() - signal type of the next tag: each type has its weight of consecutive tags
 * @v: the flow's turns
 * @weight_pkts: weights by signal type; 0: never
 *
 * The tags of a type are consecutive because a receiver merges packets that request the same
 * signal.
 *
 * Return: enum csig_type; CSIG_TYPES if all weights are 0.
 */
static inline u32 ctag_turn(struct ctag_turns *v, const u32 *weight_pkts)
{
	u32 i;

	/* The weight may have been lowered since. */
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
 * ctag_nth_turn() - ctag_turn() for callers without state
 * @n: number of previous tags
 * @weight_pkts: weights by signal type; 0: never; may differ from call to call
 *
 * Return: enum csig_type; CSIG_TYPES if all weights are 0.
 */
static inline u32 ctag_nth_turn(u32 n, const u32 *weight_pkts)
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
 * struct ctag_received - state of a signal at the receiver; protected by the flow's lock
 * @form: format of the tags; CSIG_NONE: no tag was received
 * @fresh: a tag was received since the last reflection
 * @latest: the latest tag
 * @received_ns: time at which the latest tag was received
 * @reflected_ns: time of the last reflection
 * @count: number of tags received; a merged packet has one
 */
struct ctag_received {
	u8 form;
	bool fresh;
	struct csig_tag latest;
	u64 received_ns;
	u64 reflected_ns;
	u64 count;
};

/**
 * ctag_receive() - process a received tag
 * @h: state of its signal
 * @form: format of the tag
 * @t: the tag
 * @now_ns: current time
 */
static inline void ctag_receive(struct ctag_received *h, enum csig_form form,
				const struct csig_tag *t, u64 now_ns)
{
	h->form = form;
	h->fresh = true;
	h->latest = *t;
	h->count++;
	h->received_ns = now_ns;
}

/**
 * ctag_reflect_pick() - choose the fresh signal whose last reflection is the oldest
 * @h: CSIG_TYPES signals
 *
 * Return: enum csig_type; CSIG_TYPES if none is fresh.
 */
static inline u32 ctag_reflect_pick(const struct ctag_received *h)
{
	u32 i, pick = CSIG_TYPES;

	for (i = 0; i < CSIG_TYPES; i++)
		if (h[i].fresh && (pick == CSIG_TYPES || h[i].reflected_ns < h[pick].reflected_ns))
			pick = i;
	return pick;
}

/**
 * ctag_reflected() - the latest tag of a signal was reflected
 * @h: state of the signal
 * @now_ns: current time
 */
static inline void ctag_reflected(struct ctag_received *h, u64 now_ns)
{
	h->fresh = false;
	h->reflected_ns = now_ns;
}

/**
 * enum ctag_path_state - do tags pass the path? For the transitions see the drawing above.
 * @CSIG_PATH_UNPROVEN: not known; one tag at a time is sent
 * @CSIG_PATH_PROVEN: they do
 * @CSIG_PATH_STRIPPED: they do not
 */
enum ctag_path_state {
	CSIG_PATH_UNPROVEN,
	CSIG_PATH_PROVEN,
	CSIG_PATH_STRIPPED,
};

/* Consecutive unanswered tags after which the path is considered to strip tags. */
#define CSIG_MISSES_MAX		3U
/* Timeout of an answer in RTTs, and its minimum. */
#define CSIG_TIMEOUT_RTTS	4U
#define CSIG_TIMEOUT_MIN_NS	4000000ULL
/* Timeout while TCP has no RTT yet: TCP's initial RTO. */
#define CSIG_TIMEOUT_UNKNOWN_NS	1000000000ULL

/**
 * struct csig_path - path of a flow that sends tags; protected by the flow's lock
 * @state: enum csig_path_state
 * @misses: number of consecutive unanswered tags
 * @waiting: a tag is waiting for its answer
 * @newest: the tag that waits is the latest tag
 * @end_seq: sequence number that acknowledges the packet of this tag
 * @since_ns: time at which it was sent; for CSIG_PATH_STRIPPED, time at which that state was
 *	entered
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
 * ctag_timeout_ns() - timeout of an answer
 * @srtt_us: TCP's smoothed RTT; 0: not known
 *
 * Return: the timeout, nanoseconds.
 */
static inline u64 ctag_timeout_ns(u32 srtt_us)
{
	if (!srtt_us)
		return CSIG_TIMEOUT_UNKNOWN_NS;
	return max_t(u64, (u64)srtt_us * 1000 * CSIG_TIMEOUT_RTTS, CSIG_TIMEOUT_MIN_NS);
}

void ctag_path_miss(struct csig_path *p, u64 now_ns);

/**
 * ctag_path_may_tag() - check if the next packet may carry a tag
 * @p: the flow's path
 * @now_ns: current time
 * @timeout_ns: ctag_timeout_ns()
 * @retry_ns: time after which a path that strips tags is tried again
 *
 * Return: true if it may.
 */
static inline bool ctag_path_may_tag(struct csig_path *p, u64 now_ns, u64 timeout_ns,
				     u64 retry_ns)
{
	if (p->waiting && now_ns - p->since_ns > timeout_ns)
		ctag_path_miss(p, now_ns);
	if (p->state == CSIG_PATH_STRIPPED && now_ns - p->since_ns >= retry_ns) {
		WRITE_ONCE(p->state, CSIG_PATH_UNPROVEN);
		p->misses = CSIG_MISSES_MAX - 1;
	}
	if (p->state == CSIG_PATH_UNPROVEN)
		return !p->waiting;
	return p->state == CSIG_PATH_PROVEN;
}

/**
 * ctag_path_tagged() - note that a packet with a tag is sent
 * @p: the flow's path
 * @end_seq: sequence number behind its data
 * @now_ns: current time
 */
static inline void ctag_path_tagged(struct csig_path *p, u32 end_seq, u64 now_ns)
{
	p->newest = !p->waiting;
	if (p->waiting)
		return;
	p->waiting = true;
	p->end_seq = end_seq;
	p->since_ns = now_ns;
}

/* The latest tag was not sent after all, so a missing answer says nothing about the path. */
void ctag_path_unsent(struct csig_path *p);

/* A value has been reflected. */
static inline void ctag_path_answered(struct csig_path *p)
{
	WRITE_ONCE(p->state, CSIG_PATH_PROVEN);
	p->misses = 0;
	p->waiting = false;
}

/**
 * ctag_path_empty() - process a report that no tag was received
 * @p: the flow's path
 * @ack_seq: acknowledgment number of the report
 * @now_ns: current time
 */
static inline void ctag_path_empty(struct csig_path *p, u32 ack_seq, u64 now_ns)
{
	if (p->waiting && (s32)(ack_seq - p->end_seq) >= 0)
		ctag_path_miss(p, now_ns);
}

/*
 * After decapsulation the tag of the outer packet waits for the inner packet. Since receivers merge
 * packets in between, tags wait per flow and signal, and the worst value is kept.
 */

/* Maximum time to wait: the inner packet follows in the same softirq, or was dropped. */
#define CSIG_DECAP_MAX_NS	10000000ULL

/**
 * struct ctag_decap - outer tags of a flow that no inner packet has taken yet
 * @form: format of @tag by signal; CSIG_NONE: no tag waits
 * @tag: the worst tag by signal
 * @since_ns: arrival of the first tag by signal
 */
struct ctag_decap {
	u8 form[CSIG_TYPES];
	struct csig_tag tag[CSIG_TYPES];
	u64 since_ns[CSIG_TYPES];
};

static inline bool ctag_decap_waits(const struct ctag_decap *d, u32 type, u64 now_ns)
{
	return d->form[type] && now_ns - d->since_ns[type] <= CSIG_DECAP_MAX_NS;
}

/* Return: the number of signals for which a tag waits. */
static inline u32 ctag_decap_waiting(const struct ctag_decap *d, u64 now_ns)
{
	u32 type, waiting = 0;

	for (type = 0; type < CSIG_TYPES; type++)
		waiting += ctag_decap_waits(d, type, now_ns);
	return waiting;
}

/**
 * ctag_decap_put() - store the outer tag of a decapsulated packet
 * @d: outer tags of the inner packet's flow
 * @form: format of @t
 * @t: the tag; its type is below CSIG_TYPES
 * @now_ns: current time
 */
static inline void ctag_decap_put(struct ctag_decap *d, enum csig_form form,
				  const struct csig_tag *t, u64 now_ns)
{
	const u32 type = t->type;

	if (ctag_decap_waits(d, type, now_ns) && d->form[type] == form) {
		if (csig_worse(type, t->value, d->tag[type].value))
			d->tag[type] = *t;
		return;
	}
	d->form[type] = form;
	d->tag[type] = *t;
	d->since_ns[type] = now_ns;
}

/**
 * ctag_decap_take() - take an outer tag for an inner packet
 * @d: outer tags of the packet's flow
 * @type: signal that the packet requests; CSIG_TYPES: any, the one that has waited longest
 * @t: result
 * @now_ns: current time
 *
 * Return: format of @t; CSIG_NONE if no tag waits.
 */
static inline enum csig_form ctag_decap_take(struct ctag_decap *d, u32 type, struct csig_tag *t,
					     u64 now_ns)
{
	enum csig_form form;
	u32 i, pick = CSIG_TYPES;

	for (i = 0; i < CSIG_TYPES; i++) {
		if ((type != CSIG_TYPES && type != i) || !ctag_decap_waits(d, i, now_ns))
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

#endif /* HOPCC_NET_CSIG_TAG_CSIG_CARRIER_H */
