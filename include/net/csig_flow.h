/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What CSIG's carrier (net_csig_tag) tells a congestion control about a connection: what
 * the receiver reflected, by signal. Nothing is asked for here: a netns' sysctl
 * net.hopcc.csig_cc names the congestion controls whose connections bear tags.
 */
#ifndef HOPCC_NET_CSIG_FLOW_H
#define HOPCC_NET_CSIG_FLOW_H

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
 * csig_flow_read_new() - read the latest value of a signal if it is new to the caller
 * @flow: the flow that csig_flow_open() returned
 * @type: the signal's type
 * @seen: csig_signal.count at the caller's last read, 0 before the first
 * @s: the latest value, written if it is new; its age is 0
 *
 * An ACK usually reports one signal. For the other signals this function takes no lock.
 *
 * Context: any but hard interrupt.
 * Return: true if a value was received since the caller's last read.
 */
bool csig_flow_read_new(struct csig_flow *flow, enum csig_type type, u64 seen,
			struct csig_signal *s);

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
