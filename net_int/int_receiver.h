/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The receiver of telemetry, draft-miao-rtgwg-hpccplus-00 sections 6.2.2, 6.3.2, 7.1 and 9.1: what
 * it returns to the sender.
 *
 *	records		all records as they arrived
 *	summary		"the link with the highest inflight bytes"
 *	ratio		"only convey the relative ratio": U, no rate, queue or number of hops
 *	window		Rx-HPCC: "feedback the calculated window ... once every RTT"
 *
 * Deviations:
 * - The ratio is U as filtered by the receiver, and the time of measurement is given as T. So the
 *   sender's own filter uses it unchanged, and a lost answer does no harm.
 * - N is the number of flows that arrived on the same device and have the link to it, the path's
 *   last hop, as their bottleneck. A client reports T and the bottleneck of its flows, and may lie:
 *   so it adds only a limited number to the N of other clients.
 * - If the sender requests what this host must not or cannot yet report, it gets a less detailed
 *   answer.
 * - If every data packet collects records, not every one is answered: there is one answer per T, or
 *   per T/8 while a port of the path has a queue of more than half of T. The algorithm changes Wc
 *   once per round trip, and an answer for each packet would cost the hosts more than the data
 *   does.
 */
#ifndef HOPCC_NET_INT_INT_RECEIVER_H
#define HOPCC_NET_INT_INT_RECEIVER_H

#include <linux/minmax.h>
#include <linux/types.h>
#include <hopcc/lib/hpcc.h>
#include <hopcc/wire/int.h>
#include <hopcc/flow/int_flow.h>
#include <hopcc/flow/int_vendor.h>

/*
 * Maximum time for which an answer waits for an ACK with room for it: data or SACK blocks may take
 * that room. The time is shorter than a sender's timeout.
 */
#define INT_PENDING_MAX_NS	2000000ULL

/* A flow is counted if it was seen within the current or the last period of this many T. */
#define INT_STARTERS_TS	10U

/*
 * Number of entries for the clients of a device. A keyed hash of a client's address chooses its
 * entry, so clients may share an entry by chance, but no client can choose one.
 */
#define INT_STARTERS_CLIENTS	64U

/*
 * Maximum number that a client adds to the N of other clients. A client with more flows gets an N
 * that includes all of them. So the sum of all W_ai is limited: to one W (1 - eta) for each client
 * above the maximum, and one for all other clients together.
 */
#define INT_STARTERS_OF_OTHER	64U

/* A device without such flows for this time may lose its entry to another device. */
#define INT_STARTERS_IDLE_NS	1000000000LL

/*
 * With headers in data: after a report of a queue, answers are sent every T / 2^INT_ANSWER_SHIFT.
 */
#define INT_ANSWER_SHIFT	3

/**
 * struct nint_receiver - state for received telemetry of a flow; protected by the flow's lock
 * @asked: the sender has sent its parameters
 * @u_is_new: U has changed since the last answer
 * @kind: kind of answer that it requested
 * @flows: N of the sender
 * @counted: N that this host counts; 0: the last hop is not the flow's bottleneck
 * @p: parameters of the algorithm
 * @v: state of the algorithm; for all kinds but records
 * @reported_ns: time of the last answer, except answers to probes that do not request W
 * @starters_epoch: period of the client in which the flow was counted last; 0: never
 * @starters: device for which it was counted
 */
struct nint_receiver {
	bool asked;
	bool u_is_new;
	enum int_answer_kind kind;
	u32 flows;
	u32 counted;
	struct hpcc_params p;
	struct hpcc_vars v;
	u64 reported_ns;
	u32 starters_epoch;
	u32 starters;
};

/**
 * struct nint_client - flows of a client that share a last hop
 * @epoch_ns: time at which the current period of INT_STARTERS_TS * T started; 0: none yet
 * @epoch: number of the period, not 0
 * @t_ns: largest T of the flows, halved with each period; 0: none yet
 * @flows: number of flows seen in the period
 * @before: number of flows seen in the previous one
 */
struct nint_client {
	u64 epoch_ns;
	u32 epoch;
	u32 t_ns;
	u32 flows;
	u32 before;
};

/**
 * struct nint_starters - number of flows that share a last hop; protected by a lock of the netns
 * @device: device on which they arrive
 * @epochs: number of the last period of any client
 * @used_ns: time at which a flow was last counted
 * @client: flows by client, each with its own period
 */
struct nint_starters {
	u32 device;
	u32 epochs;
	u64 used_ns;
	struct nint_client client[INT_STARTERS_CLIENTS];
};

/* Return: the longest queue that a record reports, ns. */
static inline u64 nint_longest_queue_ns(const struct int_hdr *h)
{
	u64 queue_ns = 0;
	unsigned int i;

	for (i = 0; i < int_records(h); i++) {
		struct int_record r = int_unpack(h->record[i]);

		queue_ns = max(queue_ns, hpcc_queue_ns(&r));
	}
	return queue_ns;
}

/**
 * nint_starters_join() - count a flow whose bottleneck is the last hop
 * @s: count of the device
 * @client: entry of the client that sends the flow, below INT_STARTERS_CLIENTS
 * @r: the flow
 * @now_ns: current time
 *
 * Return: false if the flow is not counted in the N of other clients, because the client has more
 * than INT_STARTERS_OF_OTHER flows. Only the first call for a flow in a period returns false.
 */
bool nint_starters_join(struct nint_starters *s, u32 client, struct nint_receiver *r, u64 now_ns);

/**
 * nint_starters_flows() - get N for a client
 * @s: count of the device
 * @client: entry of the client
 * @now_ns: current time
 *
 * Whatever one client sends, the N of another client grows by INT_STARTERS_OF_OTHER at most, and
 * one packet of a client increases it by 1 at most.
 *
 * Return: all flows of the client, and of each other client at most INT_STARTERS_OF_OTHER.
 */
u32 nint_starters_flows(const struct nint_starters *s, u32 client, u64 now_ns);

/* The periods' numbers differ from those of the device that had this entry before. */
void nint_starters_init(struct nint_starters *s, u32 device, u64 now_ns);

/* Return: true if the entry of the device may be given to another device. */
bool nint_starters_is_idle(const struct nint_starters *s, u64 now_ns);

/**
 * nint_receiver_starters() - set N, which determines W_ai
 * @r: the flow
 * @counted: N that this host counts; 0: the last hop is not the bottleneck
 */
void nint_receiver_starters(struct nint_receiver *r, u32 counted);

/**
 * nint_receiver_ask() - process the request in a probe
 * @r: the flow
 * @msg: message of the probe
 * @terms: parameters in the probe
 *
 * The algorithm starts with the first request. If T or the maximum window changes later, the window
 * is scaled so that the rate stays the same.
 */
void nint_receiver_ask(struct nint_receiver *r, const struct int_msg *msg,
		       const struct int_terms *terms);

/* Return: true if the last hop has a record and is the most loaded one. */
bool nint_receiver_is_last_hop(const struct nint_receiver *r, const struct int_hdr *h);

/**
 * nint_receiver_update() - process received telemetry
 * @r: the flow
 * @h: its header, validated
 * @anonymous: this host reports only ratios
 * @by_ack: it answers in ACKs, which have no room for all records
 * @now_ns: local clock
 * @reply: result
 *
 * Return: true if an answer must be sent.
 */
bool nint_receiver_update(struct nint_receiver *r, const struct int_hdr *h,
			  bool anonymous, bool by_ack, u64 now_ns,
			  struct nint_reply *reply);

#endif /* HOPCC_NET_INT_INT_RECEIVER_H */
