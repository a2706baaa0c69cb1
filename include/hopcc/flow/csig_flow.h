/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The interface by which a congestion control reads CSIG signals of a connection. The carrier
 * (net_csig_tag) provides, for each signal, the latest value that the receiver reflected. A
 * congestion control does not request tags: the netns' sysctl net.hopcc.csig_cc names the
 * congestion controls whose connections send tags.
 */
#ifndef HOPCC_FLOW_CSIG_FLOW_H
#define HOPCC_FLOW_CSIG_FLOW_H

#include <linux/bits.h>
#include <linux/types.h>
#include <hopcc/lib/hop_discover.h>
#include <hopcc/wire/csig.h>

struct csig_flow;
struct sock;

/**
 * struct csig_signal - latest reflected value of a signal
 * @form: format of the tag: CSIG_COMPACT or CSIG_EXPANDED
 * @initial: the value is the sender's initial one: no hop had a worse value
 * @value: value in the tag's units
 * @locator: locator of the bottleneck; 0 if no hop wrote one
 * @low: lowest signal value that @value represents, in the signal's unit: kbit/s, ppm or ns
 * @high: upper bound of the signal values that @value represents; U64_MAX: no bound
 * @at_ns: time at which the value was received, ns of CLOCK_MONOTONIC
 * @count: number of values received
 */
struct csig_signal {
	enum csig_form form;
	bool initial;
	u32 value;
	u32 locator;
	u64 low;
	u64 high;
	u64 at_ns;
	u64 count;
};

/**
 * ctag_flow_open() - start to read a connection's signals
 * @sk: a TCP socket that is established or finishing its handshake
 *
 * Context: socket lock held; may be softirq.
 * Return: the flow, with a reference that ctag_flow_close() drops; NULL if the peer does not
 * support CSIG, the netns has it switched off, or memory is short.
 */
struct csig_flow *ctag_flow_open(struct sock *sk);

/**
 * ctag_flow_ask() - negotiate CSIG on an established connection
 * @sk: a TCP socket for which ctag_flow_open() returned NULL
 *
 * This function is for a congestion control that was chosen when the connection was established,
 * and for one whose handshake lost a packet. It sends a pure ACK that asks the peer. If the data of
 * a whole round trip is acknowledged and no answer has come, the next call asks again, three times
 * in all.
 *
 * Context: socket lock held; may be softirq. May send an ACK.
 * Return: HOP_PEER_UNKNOWN: call it again at the next ACK; HOP_PEER_SUPPORTED: call
 * ctag_flow_open(); HOP_PEER_UNSUPPORTED: the connection stays without CSIG.
 */
enum hop_peer ctag_flow_ask(struct sock *sk);

/**
 * ctag_flow_read() - read the latest value of a signal
 * @flow: the flow that ctag_flow_open() returned
 * @type: type of the signal
 * @s: result
 *
 * Context: any but hard interrupt.
 * Return: false if no value has been reflected yet.
 */
bool ctag_flow_read(const struct csig_flow *flow, enum csig_type type, struct csig_signal *s);

/* Flag in the result of ctag_flow_news(), above the signals' bits: ctag_flow_is_fed() is true. */
#define CSIG_NEWS_FED	BIT(CSIG_TYPES)

/**
 * ctag_flow_news() - find the signals that were received since the caller's last reads
 * @flow: the flow that ctag_flow_open() returned
 * @seen: csig_signal.count of the caller's last read, by signal; 0 before the first
 *
 * An ACK usually reports one signal. This function takes no lock. A 32-bit CPU may read half of an
 * update; the next call sees the whole of it.
 *
 * Context: any but hard interrupt.
 * Return: 1 << enum csig_type for each signal that is new to the caller, and CSIG_NEWS_FED.
 */
u32 ctag_flow_news(const struct csig_flow *flow, const u64 *seen);

/**
 * ctag_flow_count_guarded() - count a loss behind a queue that no hop reports
 * @flow: the flow that ctag_flow_open() returned
 *
 * Context: any.
 */
void ctag_flow_count_guarded(struct csig_flow *flow);

/**
 * ctag_flow_is_fed() - check if signals are being received
 * @flow: the flow that ctag_flow_open() returned
 *
 * Context: any but hard interrupt.
 * Return: true if, as far as is known, tags pass the path and the peer reflects them. If false, a
 * congestion control must do without signals for a while.
 */
bool ctag_flow_is_fed(const struct csig_flow *flow);

/**
 * ctag_flow_close() - stop reading a connection's signals
 * @flow: the flow that ctag_flow_open() returned
 *
 * Context: any.
 */
void ctag_flow_close(struct csig_flow *flow);

#endif /* HOPCC_FLOW_CSIG_FLOW_H */
