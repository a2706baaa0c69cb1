/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The CSIG algorithms of the end host, draft-ravi-ippm-csig-01 sections 4.2, 4.3 and 6.3.3: which
 * signal a packet requests, which value is reflected, and whether tags pass the path.
 *
 *	option	+------+--------+-------------+------------------------------+
 *		| kind | length |    ExID     |   data fields, if any        |
 *		+------+--------+-------------+------------------------------+
 *		length 4: no tag was received
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
 * - 6.3.3 leaves negotiation open: hopcc/core/hop_negotiate.h.
 * - On a path that discards tagged packets, each tag means a lost packet. So only one tag at a time
 *   is sent until a value is reflected.
 */
#ifndef HOPCC_NET_CSIG_TAG_CSIG_CARRIER_H
#define HOPCC_NET_CSIG_TAG_CSIG_CARRIER_H

#include <linux/types.h>
#include <hopcc/wire/csig.h>
#include <hopcc/wire/hop_option.h>

/* Experimental option kind and our ExID (RFC 6994). */
#define CSIG_OPT_KIND		253
#define CSIG_EXID_DEFAULT	0x4353
#define CSIG_OPT_HEAD_BYTES	4U
#define CSIG_DATA_MAX_BYTES	6U
/* The longest option: an expanded tag's data fields, and NOPs. */
#define CSIG_OPT_MAX_BYTES	12U

/**
 * ctag_opt_form() - format of the data in an option
 * @opt: an option that hop_option_find() has found
 *
 * Return: the format; CSIG_NONE: the option reports that no tag was received; CSIG_FORMS: its
 * length is none of ours.
 */
enum csig_form ctag_opt_form(const u8 *opt);

/* Size of the option for tags of @form (CSIG_NONE: without data), padded to whole words. */
u32 ctag_opt_bytes(enum csig_form form);

/**
 * ctag_opt_write() - write the option, behind NOPs that pad it to whole words
 * @to: ctag_opt_bytes(@form) bytes
 * @exid: ExID of the option
 * @form: format of @t; CSIG_NONE: without data
 * @t: the data fields
 */
void ctag_opt_write(u8 *to, u16 exid, enum csig_form form, const struct csig_tag *t);

/*
 * A mark is a copy of a tag in skb->cb. It carries the tag from POST_ROUTING, or from the egress
 * hook of a tunnel, to the egress hook of the port. Other code may overwrite these 8 bytes in
 * between, so they contain a keyed check value. Eight zero bytes are no mark.
 */
#define CSIG_MARK_BYTES		8U
#define CSIG_MARK_CHECK_BYTES	2U
/* 2^64 / golden ratio */
#define CSIG_MARK_FACTOR	0x9e3779b97f4a7c15ULL

/**
 * ctag_mark_write() - write a mark
 * @mark: CSIG_MARK_BYTES
 * @form: CSIG_COMPACT or CSIG_EXPANDED
 * @t: the tag
 * @secret: key of the check value, random
 */
void ctag_mark_write(u8 *mark, enum csig_form form, const struct csig_tag *t, u64 secret);

/**
 * ctag_mark_read() - read a mark, if there is one
 * @mark: CSIG_MARK_BYTES
 * @t: result
 * @secret: key that ctag_mark_write() used
 *
 * Return: the tag's format, or CSIG_NONE. Other contents are taken for a mark with a probability of
 * 1 in 2^15.
 */
enum csig_form ctag_mark_read(const u8 *mark, struct csig_tag *t, u64 secret);

/**
 * ctag_turn() - choose the signal type of the next tag
 * @n: number of previous tags
 * @weight_pkts: weights by signal type; 0: never; may differ from call to call
 *
 * The types take turns, each for as many consecutive tags as its weight. A receiver merges only
 * packets that request the same signal, so consecutive tags of a type are better than a mixture.
 *
 * Return: enum csig_type; CSIG_TYPES if all weights are 0.
 */
u32 ctag_turn(u32 n, const u32 *weight_pkts);

/**
 * struct ctag_received - state of a signal at the receiver; protected by the flow's lock
 * @form: format of the tags; CSIG_NONE: no tag was received
 * @fresh: a tag was received since the last reflection
 * @latest: the latest tag
 * @reflected_ns: time of the last reflection
 */
struct ctag_received {
	u8 form;
	bool fresh;
	struct csig_tag latest;
	u64 reflected_ns;
};

/**
 * ctag_receive() - process a received tag
 * @h: state of its signal
 * @form: format of the tag
 * @t: the tag
 */
void ctag_receive(struct ctag_received *h, enum csig_form form, const struct csig_tag *t);

/**
 * ctag_reflect_pick() - choose the fresh signal whose last reflection is the oldest
 * @h: CSIG_TYPES signals
 *
 * Return: enum csig_type; CSIG_TYPES if none is fresh.
 */
u32 ctag_reflect_pick(const struct ctag_received *h);

/**
 * ctag_reflected() - note that the latest tag of a signal was reflected
 * @h: state of the signal
 * @now_ns: current time
 */
void ctag_reflected(struct ctag_received *h, u64 now_ns);

/**
 * enum ctag_path_state - do tags pass the path? For the transitions see the drawing above.
 * @CSIG_PATH_UNPROVEN: not known; one tag at a time is sent
 * @CSIG_PATH_PROVEN: tags pass
 * @CSIG_PATH_STRIPPED: tags do not pass
 */
enum ctag_path_state {
	CSIG_PATH_UNPROVEN,
	CSIG_PATH_PROVEN,
	CSIG_PATH_STRIPPED,
};

/**
 * struct csig_path - path of a flow that sends tags; protected by the flow's lock
 * @state: enum ctag_path_state
 * @misses: number of consecutive unanswered tags
 * @waiting: a tag is waiting for its answer
 * @newest: no other tag was sent after the unanswered one
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
u64 ctag_timeout_ns(u32 srtt_us);

/**
 * ctag_path_may_tag() - check if the next packet may carry a tag
 * @p: the flow's path
 * @now_ns: current time
 * @timeout_ns: ctag_timeout_ns()
 * @retry_ns: time after which a path that strips tags is tried again
 *
 * Return: true if it may.
 */
bool ctag_path_may_tag(struct csig_path *p, u64 now_ns, u64 timeout_ns, u64 retry_ns);

/**
 * ctag_path_tagged() - note that a packet with a tag is sent
 * @p: the flow's path
 * @end_seq: sequence number behind its data
 * @now_ns: current time
 */
void ctag_path_tagged(struct csig_path *p, u32 end_seq, u64 now_ns);

/* The latest tag was not sent after all, so a missing answer says nothing about the path. */
void ctag_path_unsent(struct csig_path *p);

/* A value has been reflected. */
void ctag_path_answered(struct csig_path *p);

/**
 * ctag_path_empty() - process a report that no tag was received
 * @p: the flow's path
 * @ack_seq: acknowledgment number of the report
 * @now_ns: current time
 */
void ctag_path_empty(struct csig_path *p, u32 ack_seq, u64 now_ns);

/*
 * After decapsulation the tag of the outer packet is stored until the inner packet is received. The
 * host may merge packets in between, so tags are stored by flow and signal, and of several tags the
 * one with the worst value is kept.
 */

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

/* Return: the number of signals for which a tag waits. */
u32 ctag_decap_waiting(const struct ctag_decap *d, u64 now_ns);

/**
 * ctag_decap_put() - store the outer tag of a decapsulated packet
 * @d: outer tags of the inner packet's flow
 * @form: format of @t
 * @t: the tag; its type is below CSIG_TYPES
 * @now_ns: current time
 */
void ctag_decap_put(struct ctag_decap *d, enum csig_form form, const struct csig_tag *t,
		    u64 now_ns);

/**
 * ctag_decap_take() - take an outer tag for an inner packet
 * @d: outer tags of the packet's flow
 * @type: signal that the packet requests; CSIG_TYPES: any, the one that has waited longest
 * @t: result
 * @now_ns: current time
 *
 * Return: format of @t; CSIG_NONE if no tag waits.
 */
enum csig_form ctag_decap_take(struct ctag_decap *d, u32 type, struct csig_tag *t, u64 now_ns);

#endif /* HOPCC_NET_CSIG_TAG_CSIG_CARRIER_H */
