/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The receiver of telemetry that switches of other vendors wrote into a probe: it runs the law in
 * int_load.h and answers with a ratio, U over T. The sender needs neither the layouts nor the state
 * of the hops.
 *
 * Ports with sch_int may be on the same path. Their records are in the probe's INT header, and U is
 * the larger result of both.
 *
 * Deviations:
 * - The law checks the reports by the RTT of an earlier probe, which the sender has measured and
 *   sends in the message of each probe.
 * - A u that is an average over more than T lags behind the load. Wc is still updated once in each
 *   round trip.
 * - If no hop can be used, the answer is of the kind INT_ANSWER_RECORDS and has no record. The
 *   sender cannot use such an answer, and falls back to Reno.
 */
#ifndef HOPCC_NET_TLM_INT_TLM_H
#define HOPCC_NET_TLM_INT_TLM_H

#include <hopcc/flow/int_vendor.h>

#include "int_load.h"

/* Metadata of a hop, bytes: IOAM_HPCC_BITS, INTMD_HPCC_BITS; IFA in all public examples. */
#define NTLM_IOAM_NODE_BYTES	20U
#define NTLM_INTMD_NODE_BYTES	24U
#define NTLM_IFA_NODE_BYTES	32U

/*
 * If a probe had too little room, the sender makes room for one hop more in each round trip. After
 * NTLM_FULL_MAX answers in a row without more room it evidently cannot make room. An unreported hop
 * may then be the bottleneck.
 */
#define NTLM_FULL_MAX	64U

/* IFA's headers without metadata. */
#define NTLM_IFA_BYTES		(IFA_HDR_BYTES + IFA_MD_BYTES)

/**
 * struct ntlm_state - state of the law for a flow; all zero at the start
 * @v: state of the hops
 * @path: records of the latest probe
 * @u: U, as filtered, in 2^-HPCC_U_SHIFT; 0: no measurement yet
 * @generation: number of the table that @path was read by; 0: none yet
 * @trust_idle: that table's trust in empty queues
 * @full: number of consecutive probes that had no room for all hops, and room for equally many
 * @full_hops: number of hops that wrote metadata into the latest probe
 * @elsewhere: the latest records were those of other hops than the ones before
 * @none: the latest records gave no measurement
 */
struct ntlm_state {
	struct tlm_vars v;
	struct tlm_path path;
	u32 u;
	u32 generation;
	u8 full;
	u8 full_hops;
	bool trust_idle;
	bool elsewhere;
	bool none;
};

/**
 * enum ntlm_news - result of a probe
 * @NTLM_USED: the hops were measured, or stored for the next measurement
 * @NTLM_NO_LAYOUT: no hop can be used, and one had no layout or no known speed
 * @NTLM_USELESS: no hop can be used, since their values were implausible or stood still
 * @NTLM_CONTRADICTED: the RTT contradicts the reported queues, for good
 * @NTLM_NO_ROOM: the path has more hops than the format has room for
 * @NTLM_PATHS: packets take another path each time
 */
enum ntlm_news {
	NTLM_USED,
	NTLM_NO_LAYOUT,
	NTLM_USELESS,
	NTLM_CONTRADICTED,
	NTLM_NO_ROOM,
	NTLM_PATHS,
};

/**
 * ntlm_ioam_data_bytes() - room for the data of hops in a probe
 * @slots: number of hops
 *
 * Return: bytes, a multiple of 8, up to IOAM_DATA_MAX_BYTES.
 */
u32 ntlm_ioam_data_bytes(u32 slots);

/**
 * ntlm_use_table() - note the table that the next records are read by
 * @t: the flow
 * @generation: number of the table, not 0
 * @trust_idle: the administrator confirms that an empty queue is reported truly
 *
 * A counter or a queue in other units must not be compared with one that was read by an earlier
 * table: the measurement of all hops starts again.
 */
void ntlm_use_table(struct ntlm_state *t, u32 generation, bool trust_idle);

/**
 * ntlm_reply() - write the answer to a probe
 * @t: the flow
 * @p: parameters of the algorithm, which the sender has sent
 * @v: its state, for hops of our own
 * @h: header of the probe, validated
 * @now_ns: local clock
 * @is_new: other vendors' hops were measured since the last answer; false if the probe has no
 *	telemetry of theirs, and no data with it arrived since then
 * @reply: result
 */
void ntlm_reply(const struct ntlm_state *t, const struct hpcc_params *p, struct hpcc_vars *v,
		const struct int_hdr *h, u64 now_ns, bool is_new, struct nint_reply *reply);

/**
 * ntlm_update() - process telemetry of other vendors in a probe
 * @t: the flow; @t->path has the records
 * @p: parameters of the algorithm, which the sender has sent
 * @v: its state, for hops of our own
 * @h: header of the probe, validated
 * @s: local clock, the flow's rate and RTT
 * @reply: result
 *
 * Return: what became of the telemetry.
 */
enum ntlm_news ntlm_update(struct ntlm_state *t, const struct hpcc_params *p, struct hpcc_vars *v,
			   const struct int_hdr *h, const struct tlm_sample *s,
			   struct nint_reply *reply);

#endif /* HOPCC_NET_TLM_INT_TLM_H */
