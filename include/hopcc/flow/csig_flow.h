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
#include <hopcc/wire/csig.h>

struct csig_flow;
struct sock;

/**
 * struct csig_signal - latest reflected value of a signal
 * @form: format of the tag: CSIG_COMPACT or CSIG_EXPANDED
 * @value: value in the tag's units
 * @locator: locator of the bottleneck; 0 if no hop wrote one
 * @low: lowest signal value that @value represents, in the signal's unit: kbit/s, ppm or ns
 * @high: upper bound of the signal values that @value represents; U64_MAX: no bound
 * @age_ns: time since the value was received
 * @count: number of values received
 */
struct csig_signal {
	enum csig_form form;
	u32 value;
	u32 locator;
	u64 low;
	u64 high;
	u64 age_ns;
	u64 count;
};

/**
 * csig_flow_open() - start to read a connection's signals
 * @sk: a TCP socket that is established or finishing its handshake
 *
 * Context: socket lock held; may be softirq.
 * Return: the flow, with a reference that csig_flow_close() drops; NULL if the peer does not
 * support CSIG, the netns has it switched off, or memory is short.
 */
struct csig_flow *csig_flow_open(struct sock *sk);

/**
 * csig_flow_ask() - negotiate CSIG on an established connection
 * @sk: a TCP socket for which csig_flow_open() returned NULL
 *
 * This function is for a congestion control that was chosen when the connection was established.
 * It sends a pure ACK that asks the peer. If the data of a whole round trip is acknowledged and no
 * answer has come, the next call asks again, three times in all.
 *
 * Context: socket lock held; may be softirq. May send an ACK.
 * Return: true if the answer is still open: call csig_flow_open() on each ACK, and this function
 * again if that returns NULL. False if the connection stays without CSIG.
 */
bool csig_flow_ask(struct sock *sk);

/**
 * csig_flow_read() - read the latest value of a signal
 * @flow: the flow that csig_flow_open() returned
 * @type: type of the signal
 * @s: result
 *
 * Context: any but hard interrupt.
 * Return: false if no value has been reflected yet.
 */
bool csig_flow_read(struct csig_flow *flow, enum csig_type type, struct csig_signal *s);

/**
 * struct csig_reading - latest value of a signal, in the short form for a congestion control
 * @count: as csig_signal.count
 * @low: as csig_signal.low
 * @high: as csig_signal.high
 * @locator: as csig_signal.locator
 * @initial: the value is the sender's initial one: no hop had a worse value
 */
struct csig_reading {
	u64 count;
	u64 low;
	u64 high;
	u32 locator;
	bool initial;
};

/* Flag in the result of csig_flow_news(), above the signals' bits: csig_flow_is_fed() is true. */
#define CSIG_NEWS_FED	BIT(CSIG_TYPES)

/**
 * csig_flow_news() - find the signals that were received since the caller's last reads
 * @flow: the flow that csig_flow_open() returned
 * @seen: csig_reading.count of the caller's last read, by signal; 0 before the first
 *
 * An ACK usually reports one signal. This function takes no lock.
 *
 * Context: any but hard interrupt.
 * Return: 1 << enum csig_type for each signal that is new to the caller, and CSIG_NEWS_FED.
 */
u32 csig_flow_news(const struct csig_flow *flow, const u64 *seen);

/**
 * csig_flow_read_new() - read a signal that csig_flow_news() found
 * @flow: the flow that csig_flow_open() returned
 * @type: type of the signal
 * @r: result: the latest value
 *
 * Context: any but hard interrupt.
 */
void csig_flow_read_new(const struct csig_flow *flow, enum csig_type type,
			struct csig_reading *r);

/**
 * csig_flow_is_fed() - check if signals are being received
 * @flow: the flow that csig_flow_open() returned
 *
 * Context: any but hard interrupt.
 * Return: true if, as far as is known, tags pass the path and the peer reflects them. If false, a
 * congestion control must do without signals for a while.
 */
bool csig_flow_is_fed(const struct csig_flow *flow);

/**
 * csig_flow_close() - stop reading a connection's signals
 * @flow: the flow that csig_flow_open() returned
 *
 * Context: any.
 */
void csig_flow_close(struct csig_flow *flow);

#endif /* HOPCC_FLOW_CSIG_FLOW_H */
