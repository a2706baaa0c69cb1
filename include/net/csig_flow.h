/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What CSIG's carrier (net_csig_tag) tells a congestion control about a connection: what
 * the receiver reflected, by signal. Nothing is asked for here: a netns' sysctl
 * net.hopcc.csig_cc names the congestion controls whose connections bear tags.
 */
#ifndef HOPCC_NET_CSIG_FLOW_H
#define HOPCC_NET_CSIG_FLOW_H

#include <linux/bits.h>
#include <linux/types.h>
#include <net/csig.h>

struct csig_flow;
struct sock;

/**
 * struct csig_signal - the latest that was reflected of a signal
 * @form: of the tag: CSIG_COMPACT or CSIG_EXPANDED
 * @value: in the tag's units
 * @locator: of the bottleneck; 0 if no hop wrote one
 * @low: the least value that @value stands for: kbit/s, ppm or ns, by signal
 * @high: the least above all that it stands for; U64_MAX: no bound
 * @age_ns: time since it came
 * @count: how many came
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
 * csig_flow_open() - a congestion control reads a connection's signals
 * @sk: a TCP socket that is established or finishing its handshake
 *
 * Context: socket lock held; may be softirq.
 * Return: the flow, with a reference that csig_flow_close() gives back; NULL if the peer
 * does not know CSIG, the netns has it switched off, or memory is short.
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
 * csig_flow_read() - the latest of a signal
 * @flow: of csig_flow_open()
 * @type: of the signal
 * @s: result
 *
 * Context: any but hard interrupt.
 * Return: false if none was reflected yet.
 */
bool csig_flow_read(struct csig_flow *flow, enum csig_type type, struct csig_signal *s);

/**
 * struct csig_reading - a signal for a congestion control
 * @count: as csig_signal.count
 * @low: as csig_signal.low
 * @high: as csig_signal.high
 * @locator: as csig_signal.locator
 * @initial: the value is the one that senders write: no hop wrote a worse one
 */
struct csig_reading {
	u64 count;
	u64 low;
	u64 high;
	u32 locator;
	bool initial;
};

/* In what csig_flow_news() returns, above the bits of signals: csig_flow_is_fed(). */
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
 * @type: the signal's type
 * @r: result: the latest value
 *
 * Context: any but hard interrupt.
 */
void csig_flow_read_new(const struct csig_flow *flow, enum csig_type type,
			struct csig_reading *r);

/**
 * csig_flow_is_fed() - do signals come?
 * @flow: of csig_flow_open()
 *
 * Context: any but hard interrupt.
 * Return: whether the path takes tags, as far as is known. Where it strips them, or the
 * peer does not reflect, a congestion control has to go without for a while.
 */
bool csig_flow_is_fed(const struct csig_flow *flow);

/**
 * csig_flow_close() - a congestion control leaves
 * @flow: of csig_flow_open()
 *
 * Context: any.
 */
void csig_flow_close(struct csig_flow *flow);

#endif /* HOPCC_NET_CSIG_FLOW_H */
