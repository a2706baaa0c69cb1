/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The sender as an INT source: when data carries the header of another vendor's format. Nothing in
 * a handshake says that the receiver removes such headers, so a probe has to prove it:
 *
 *	 ASKING   all probes have the format; data has none
 *	  |  an answer to such a probe: the path passes it, and the receiver removes it
 *	 PROVEN   waits for data
 *	  |  data
 *	 SENDING  new data has the format; a probe has none, and is answered by what data collected
 *	  |  some data is lost
 *	 ASKING, or after NINT_SOURCE_LOSSES times STOPPED: probes have the format, data has none
 *
 * Data that is sent again has no header, so it arrives even if the receiver has lost its layout in
 * between. An answer to a probe without the format that reports a new U of such hops shows that
 * data with the format arrives. Losses are forgotten after NINT_SOURCE_REPORTS of these without
 * another loss: fewer do not, since a path may drop only long packets with the format, or those
 * above some rate.
 */
#ifndef HOPCC_NET_INT_INT_SOURCE_H
#define HOPCC_NET_INT_INT_SOURCE_H

#include <linux/types.h>

#include "int_carrier.h"

/* Number of losses after which the data of a connection no longer carries a format. */
#define NINT_SOURCE_LOSSES	3U

/*
 * Number of packets in a row that cannot get a header, after which GSO packets are better: an
 * application's own options, a conntrack helper, a program that queues all packets.
 */
#define NINT_SOURCE_MISSES	255U

/* Number of reports after which losses are forgotten. */
#define NINT_SOURCE_REPORTS	16U

/* The time of the last data is in units of 2^10 ns, and wraps after 73 minutes. */
#define NINT_SOURCE_TIME_SHIFT	10

/**
 * enum nint_source_stage - may data carry a format?
 * @NINT_SOURCE_OFF: not configured
 * @NINT_SOURCE_ASKING: no probe with the format was sent yet
 * @NINT_SOURCE_ASKED: none was answered yet
 * @NINT_SOURCE_PROVEN: one was answered, and no data was sent yet
 * @NINT_SOURCE_SENDING: data carries it
 * @NINT_SOURCE_STOPPED: data with it was lost too often, or could not get it
 */
enum nint_source_stage {
	NINT_SOURCE_OFF,
	NINT_SOURCE_ASKING,
	NINT_SOURCE_ASKED,
	NINT_SOURCE_PROVEN,
	NINT_SOURCE_SENDING,
	NINT_SOURCE_STOPPED,
};

/**
 * struct nint_source - state of a connection; protected by the flow's lock
 * @id: ASKED: ID of the first probe with the format; PROVEN, SENDING: ID of the latest one, or of a
 *	later one that was answered
 * @end_seq: SENDING: sequence number behind the last data with the format
 * @sent: SENDING: time at which that was sent, 2^NINT_SOURCE_TIME_SHIFT ns
 * @stage: enum nint_source_stage
 * @losses: number of losses that are not forgotten
 * @reports: number of reports since the last loss
 * @misses: number of packets since the last one with the format that could not get it
 */
struct nint_source {
	u32 id;
	u32 end_seq;
	u32 sent;
	u8 stage;
	u8 losses;
	u8 reports;
	u8 misses;
};

/**
 * nint_source_is_on_probe() - does the next probe have the format?
 * @s: state of the connection
 * @now_ns: current time
 *
 * After a pause, the receiver has no recent telemetry of data that the answer could report.
 *
 * Return: true if it does.
 */
static inline bool nint_source_is_on_probe(const struct nint_source *s, u64 now_ns)
{
	return s->stage != NINT_SOURCE_SENDING ||
	       (u32)(now_ns >> NINT_SOURCE_TIME_SHIFT) - s->sent >
	       INT_PAUSE_NS >> NINT_SOURCE_TIME_SHIFT;
}

/**
 * nint_source_probe_sent() - note that a probe is sent
 * @s: state of the connection
 * @id: ID of the probe
 * @has_format: it has the format; false also if that was not possible
 */
static inline void nint_source_probe_sent(struct nint_source *s, u32 id, bool has_format)
{
	if (!has_format) {
		/* Its answer would not prove anything. */
		if (s->stage == NINT_SOURCE_ASKED)
			s->stage = NINT_SOURCE_ASKING;
		return;
	}
	if (s->stage == NINT_SOURCE_ASKED)
		return;
	s->id = id;
	if (s->stage == NINT_SOURCE_ASKING)
		s->stage = NINT_SOURCE_ASKED;
}

/**
 * nint_source_answered() - note an answer
 * @s: state of the connection
 * @id: ID of the probe that is answered
 * @latest_id: ID of the latest probe
 * @proves: it proves the format, if that probe had it; INT-MD needs a probe with NINT_SUM_MARK
 * @has_u: the answer reports a new U of hops of other vendors
 */
static inline void nint_source_answered(struct nint_source *s, u32 id, u32 latest_id, bool proves,
					bool has_u)
{
	const s32 later = id - s->id;

	if (s->stage == NINT_SOURCE_ASKED && later >= 0 && proves) {
		s->stage = NINT_SOURCE_PROVEN;
		s->id = latest_id;
	} else if (s->stage == NINT_SOURCE_SENDING && later > 0 && has_u) {
		s->id = id;
		if (++s->reports >= NINT_SOURCE_REPORTS) {
			s->reports = 0;
			s->losses = 0;
		}
	}
}

/**
 * nint_source_is_on_data() - does a data packet get the header?
 * @s: state of the connection
 * @seq: sequence number of the data
 * @next_seq: SND.NXT; data in front of it is retransmitted
 *
 * Data that had the format is sent again with the same sequence number if this host has dropped it.
 *
 * Return: true if it does.
 */
static inline bool nint_source_is_on_data(const struct nint_source *s, u32 seq, u32 next_seq)
{
	if ((s32)(seq - next_seq) < 0)
		return false;
	return s->stage == NINT_SOURCE_PROVEN ||
	       (s->stage == NINT_SOURCE_SENDING && (s32)(seq - s->end_seq) >= 0);
}

/**
 * nint_source_data_sent() - note that data with the format is sent
 * @s: state of the connection
 * @end_seq: sequence number behind the data
 * @now_ns: current time
 */
static inline void nint_source_data_sent(struct nint_source *s, u32 end_seq, u64 now_ns)
{
	s->stage = NINT_SOURCE_SENDING;
	s->misses = 0;
	s->end_seq = end_seq;
	s->sent = now_ns >> NINT_SOURCE_TIME_SHIFT;
}

/**
 * nint_source_lost() - note that data is sent again because it was lost
 * @s: state of the connection
 * @seq: sequence number of the data
 *
 * Data from before SENDING may be the cause, or one without the format in between. That is one loss
 * too many, which reports make up for.
 *
 * Return: true if the format is given up on data.
 */
static inline bool nint_source_lost(struct nint_source *s, u32 seq)
{
	if (s->stage != NINT_SOURCE_SENDING || (s32)(seq - s->end_seq) >= 0)
		return false;
	s->losses++;
	s->reports = 0;
	s->stage = s->losses < NINT_SOURCE_LOSSES ? NINT_SOURCE_ASKING : NINT_SOURCE_STOPPED;
	return s->stage == NINT_SOURCE_STOPPED;
}

/**
 * nint_source_missed() - note that new data could not get the header
 * @s: state of the connection
 *
 * Return: true if the format is given up on data.
 */
static inline bool nint_source_missed(struct nint_source *s)
{
	if (s->stage != NINT_SOURCE_PROVEN && s->stage != NINT_SOURCE_SENDING)
		return false;
	if (s->misses < NINT_SOURCE_MISSES)
		s->misses++;
	if (s->misses < NINT_SOURCE_MISSES)
		return false;
	s->stage = NINT_SOURCE_STOPPED;
	return true;
}

#endif /* HOPCC_NET_INT_INT_SOURCE_H */
