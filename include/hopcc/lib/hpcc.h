/* SPDX-License-Identifier: GPL-2.0 */
/* The HPCC++ algorithm: parameters, state and functions; the law is in hop_core/hpcc.c */
#ifndef HOPCC_LIB_HPCC_H
#define HOPCC_LIB_HPCC_H

#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>
#include <hopcc/wire/int.h>

#define HPCC_U_SHIFT		20
#define HPCC_U_ONE		1048576U	/* 1 << HPCC_U_SHIFT */
#define HPCC_U_MAX		U32_MAX
#define HPCC_WND_SHIFT		16
#define HPCC_WND_MAX_BYTES	U32_MAX
/* One full packet in 96 T; 4000 flows of this window share 100 Gbit/s at T = 5 us. */
#define HPCC_WND_MIN_BYTES	16U
#define HPCC_UNITS_MIN		32U
/* A full packet of Ethernet's usual MTU, with preamble and gap */
#define HPCC_PACKET_BYTES	1538U
/* Queue that counts as empty, in full packets */
#define HPCC_FREE_PKTS		2U
/* Rounds after the start in which a fully used port does not yet mean a steady state. */
#define HPCC_STEADY_ROUNDS	4U
#define HPCC_U_BURST		(HPCC_U_ONE + (HPCC_U_ONE >> 4))
#define HPCC_PPM		1000000U
#define HPCC_PS_PER_NS		1000U
#define HPCC_T_MIN_NS		1000U
#define HPCC_T_MAX_NS		1000000000U
/* Half the period of a hop's timestamp. */
#define HPCC_EARLY_NS		(INT_TS_MASK / 2)
/*
 * Records that were stored longer ago than this cannot be compared: at line rate, txBytes wraps
 * every 33.5 ms, and the time between the writing of two records may exceed the time between their
 * arrivals by HPCC_EARLY_NS.
 */
#define HPCC_STORED_MAX_NS	(3 * HPCC_EARLY_NS)
/* Returned for a queue that is longer than a record can report. */
#define HPCC_QUEUE_LONG_NS	U32_MAX
/* Maximum number of paths whose records are stored; limited further by HPCC_HOPS_STORED. */
#define HPCC_PATHS_MAX		4U
/* Room for four paths of 4 hops, three of 5, two of 8, or one of INT_SLOTS_MAX. */
#define HPCC_HOPS_STORED	16U

/**
 * struct hpcc_params - parameters of a connection; written by its owner
 * @t_ns: T, the base RTT, HPCC_T_MIN_NS to HPCC_T_MAX_NS
 * @eta: target utilisation, in 2^-HPCC_U_SHIFT, at most 1
 * @max_stage: maxStage
 * @wnd_max_bytes: BDP at line rate, HPCC_WND_MIN_BYTES to HPCC_WND_MAX_BYTES
 * @wnd_init_bytes: W_init, BDP at the rate of the path's slowest port, or else of the line;
 *	at least HPCC_WND_MIN_BYTES. The first window is at most @wnd_max_bytes
 * @wnd_ai: W_ai for N flows, the maximum, bytes << HPCC_WND_SHIFT
 * @late_ns: delay of answers on the way back, at most HPCC_T_MAX_NS. A queue must drain within
 *	T + @late_ns, because a new window takes effect only after that time
 * @packet_bytes: size of a full packet on the wire; 0: not known, HPCC_PACKET_BYTES
 */
struct hpcc_params {
	u64 wnd_ai;
	u32 t_ns;
	u32 eta;
	u32 max_stage;
	u32 wnd_max_bytes;
	u32 wnd_init_bytes;
	u32 packet_bytes;
	u32 late_ns;
};

/**
 * struct hpcc_hop - stored state of a hop
 * @record: its record, as in the header
 * @u: u', in 2^-HPCC_U_SHIFT
 */
struct hpcc_hop {
	__be64 record;
	u32 u;
};

/**
 * struct hpcc_path - a path whose records are stored
 * @stored_ns: local time at which they were stored
 * @key: hpcc_path_key(); 0: the entry is free
 */
struct hpcc_path {
	u64 stored_ns;
	u32 key;
};

/**
 * struct hpcc_vars - state of the algorithm; written under its owner's lock
 * @wnd: W, bytes << HPCC_WND_SHIFT
 * @wnd_ref: Wc, bytes << HPCC_WND_SHIFT
 * @wnd_quiet: window to which W returns after a burst, bytes << HPCC_WND_SHIFT; 0: none
 * @u: U, in 2^-HPCC_U_SHIFT
 * @inc_stage: incStage
 * @rounds: number of rounds since the start, at most HPCC_STEADY_ROUNDS
 * @hops: nHop of the latest answer; 0: no answer yet
 * @path_id: pathID of the latest answer
 * @bottleneck: index of the most loaded hop on that path
 * @at: index of that path in @path
 * @stride: number of entries of @hop per path; 0: no path is stored
 * @update_seq: lastUpdateSeq
 * @updated: @update_seq is valid
 * @update_ns: lastUpdateTime of the algorithm at the receiver
 * @path_mbit: hpcc_path_mbit() of the latest answer with all records, or as hpccpp_note_speed()
 * @path: the paths
 * @hop: records, @stride entries per path
 */
struct hpcc_vars {
	u64 wnd;
	u64 wnd_ref;
	u64 wnd_quiet;
	u32 u;
	u16 inc_stage;
	u16 path_id;
	u8 rounds;
	u8 hops;
	u8 bottleneck;
	u8 at;
	u8 stride;
	bool updated;
	u32 update_seq;
	u32 path_mbit;
	u64 update_ns;
	struct hpcc_path path[HPCC_PATHS_MAX];
	struct hpcc_hop hop[HPCC_HOPS_STORED];
};

/**
 * enum hpcc_received - result of processing an answer
 * @HPCC_RECEIVED_NEW: U was updated
 * @HPCC_RECEIVED_SAME: U did not change, because the answer came too early or too late
 * @HPCC_RECEIVED_FIRST: records were stored; none were before, or they were too old
 * @HPCC_RECEIVED_PATH: records were stored; none of this path were before
 * @HPCC_RECEIVED_NOTHING: the answer has no record, or one with an unknown speed
 */
enum hpcc_received {
	HPCC_RECEIVED_NEW,
	HPCC_RECEIVED_SAME,
	HPCC_RECEIVED_FIRST,
	HPCC_RECEIVED_PATH,
	HPCC_RECEIVED_NOTHING,
};

/**
 * hpcc_bdp_bytes() - compute a bandwidth-delay product
 * @rate_bytes_ps: rate, bytes/s, below 2^38
 * @t_ns: T
 *
 * Return: rate * T, clamped to the window's bounds.
 */
u32 hpcc_bdp_bytes(u64 rate_bytes_ps, u32 t_ns);

/**
 * hpcc_wnd_ai() - compute W_ai by the draft's rule of thumb, W_init (1 - eta) / N
 * @wnd_init_bytes: W_init
 * @eta: in 2^-HPCC_U_SHIFT
 * @flows: N, at least 1
 *
 * Return: bytes << HPCC_WND_SHIFT, at least 1.
 */
u64 hpcc_wnd_ai(u32 wnd_init_bytes, u32 eta, u32 flows);

/**
 * hpcc_start() - start at the lower of line rate and the slowest port's rate, W = W_init
 * @v: state of the connection
 * @p: its parameters
 */
void hpcc_start(struct hpcc_vars *v, const struct hpcc_params *p);

/**
 * hpcc_restart() - start on another path, with the window that the flow had before congestion
 * @v: state of the connection
 * @p: its parameters
 *
 * Several flows may leave a path at the same time. If each started at line rate they would cause a
 * burst, and the algorithm would preserve the ratios of their windows.
 */
void hpcc_restart(struct hpcc_vars *v, const struct hpcc_params *p);

/**
 * hpcc_path_mbit() - rate of the slowest port of a path
 * @h: header with the records, validated
 *
 * Return: Mbit/s; 0 if there is no record, or if the speed of a port is not known.
 */
u32 hpcc_path_mbit(const struct int_hdr *h);

/**
 * hpcc_forward_ns() - sum of a packet's transmission times at the ports of a path
 * @h: header with the records, validated
 * @wire_bytes: size of the packet on the wire
 *
 * Return: ns, for all ports with a record.
 */
u32 hpcc_forward_ns(const struct int_hdr *h, u32 wire_bytes);

/* Return: true if the speeds of all records are known. */
static inline bool hpcc_understands(const struct int_hdr *h)
{
	return hpcc_path_mbit(h);
}

/**
 * hpcc_receive() - MeasureInflight: process an answer with all records
 * @v: state of the connection
 * @p: its parameters
 * @h: header with the records, validated
 * @now_ns: local clock
 *
 * Return: the effect of the answer.
 */
enum hpcc_received hpcc_receive(struct hpcc_vars *v, const struct hpcc_params *p,
				const struct int_hdr *h, u64 now_ns);

/**
 * hpcc_receive_one() - process an answer with the record of only the most loaded hop
 * @v: state of the connection
 * @p: its parameters
 * @hops: nHop of the packet that collected it
 * @path_id: pathID of that packet
 * @index: index of the hop on the path, below @hops and INT_SLOTS_MAX
 * @now: record of the hop
 * @now_ns: local clock
 *
 * All other hops are less loaded, so this hop's u' is the maximum. The record is compared with the
 * last one of the same hop, which may be older than the last answer.
 *
 * Return: the effect of the answer.
 */
enum hpcc_received hpcc_receive_one(struct hpcc_vars *v, const struct hpcc_params *p, u8 hops,
				    u16 path_id, u8 index, const struct int_record *now,
				    u64 now_ns);

/**
 * hpcc_receive_ratio() - process an answer with a u that the receiver measured
 * @v: state of the connection
 * @p: its parameters
 * @u: u, in 2^-HPCC_U_SHIFT
 * @tau_ns: time over which it was measured
 *
 * Return: HPCC_RECEIVED_NEW, or HPCC_RECEIVED_SAME if @tau_ns is 0.
 */
enum hpcc_received hpcc_receive_ratio(struct hpcc_vars *v, const struct hpcc_params *p, u32 u,
				      u32 tau_ns);

/**
 * hpcc_decide() - second part of NewAck, for a new U
 * @v: state of the connection
 * @p: its parameters
 * @ack_seq: sequence number of the packet that collected the records
 * @snd_nxt: current SND.NXT
 */
void hpcc_decide(struct hpcc_vars *v, const struct hpcc_params *p, u32 ack_seq, u32 snd_nxt);

/**
 * hpcc_new_ack() - NewAck: the algorithm at the sender
 * @v: state of the connection
 * @p: its parameters
 * @h: header with the records, validated
 * @ack_seq: sequence number of the packet that collected them
 * @snd_nxt: current SND.NXT
 * @now_ns: local clock
 *
 * Return: the effect of the records.
 */
enum hpcc_received hpcc_new_ack(struct hpcc_vars *v, const struct hpcc_params *p,
				const struct int_hdr *h, u32 ack_seq, u32 snd_nxt, u64 now_ns);

/**
 * hpcc_new_int() - NewINT: the algorithm at the receiver
 * @v: state of the connection
 * @p: its parameters
 * @h: header with the records, validated
 * @now_ns: local clock
 *
 * The receiver does not know when a round starts; it uses periods of T.
 *
 * Return: true if W is to be sent.
 */
bool hpcc_new_int(struct hpcc_vars *v, const struct hpcc_params *p, const struct int_hdr *h,
		  u64 now_ns);

/**
 * hpcc_halve() - halve the window after a loss, as every TCP on a shared network must
 * @v: state of the connection
 *
 * The lost packet was sent about a round trip ago, with the Wc of that time.
 */
void hpcc_halve(struct hpcc_vars *v);

/**
 * hpcc_rescale() - keep the rate W / T when T or the line rate has changed
 * @v: state of the connection
 * @was_t_ns: previous T, at least HPCC_T_MIN_NS
 * @p: the new parameters
 */
void hpcc_rescale(struct hpcc_vars *v, u32 was_t_ns, const struct hpcc_params *p);

/**
 * hpcc_queue_ns() - queue that a record reports
 * @r: the record
 *
 * Return: ns; HPCC_QUEUE_LONG_NS if the queue is longer than a record can report; 0 if the speed of
 * the port is not known.
 */
u64 hpcc_queue_ns(const struct int_record *r);

/**
 * hpcc_queues_ns() - sum of the queues of a path's ports, as the records report them
 * @h: header with the records, validated
 *
 * Return: ns; HPCC_QUEUE_LONG_NS or more if a queue is longer than a record can report; 0 if there
 * is no record.
 */
u64 hpcc_queues_ns(const struct int_hdr *h);

/**
 * hpcc_wnd_bytes() - W in bytes
 * @v: state of the connection
 *
 * Return: bytes, rounded down.
 */
static inline u32 hpcc_wnd_bytes(const struct hpcc_vars *v)
{
	return v->wnd >> HPCC_WND_SHIFT;
}

#endif /* HOPCC_LIB_HPCC_H */
