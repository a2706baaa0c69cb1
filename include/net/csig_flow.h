/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What CSIG's carrier (net_csig_tag) tells a congestion control about a connection: what
 * the receiver reflected, by signal. Nothing is asked for here: a netns' sysctl
 * net.hopcc.csig_cc names the congestion controls whose connections bear tags.
 */
#ifndef HOPCC_NET_CSIG_FLOW_H
#define HOPCC_NET_CSIG_FLOW_H

#include <linux/bits.h>
#include <linux/seqlock.h>
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

/**
 * struct csig_told - the latest of a signal, as the carrier keeps it
 * @form: of the tag
 * @tag: the tag
 * @initial: as csig_reading.initial
 * @low: as csig_signal.low
 * @high: as csig_signal.high
 * @at_ns: when it was received
 * @count: as csig_signal.count
 */
struct csig_told {
	enum csig_form form;
	struct csig_tag tag;
	bool initial;
	u64 low;
	u64 high;
	u64 at_ns;
	u64 count;
};

/**
 * struct csig_view - where a flow's signals are
 * @changes: of @told
 * @told: by signal
 * @path: does it take tags? CSIG_VIEW_STRIPPED: no
 */
struct csig_view {
	const seqcount_spinlock_t *changes;
	const struct csig_told *told;
	const u8 *path;
};

/**
 * csig_flow_view() - let a congestion control read signals without a call for each
 * @flow: the flow that csig_flow_open() returned; the view is valid as long
 *
 * Context: any.
 * Return: the view, for csig_news() and csig_read_new().
 */
struct csig_view csig_flow_view(const struct csig_flow *flow);

/* In what csig_news() returns, above the bits of signals: csig_flow_is_fed(). */
#define CSIG_NEWS_FED	BIT(CSIG_TYPES)

/* csig_view.path: it strips tags. */
#define CSIG_VIEW_STRIPPED	2

/**
 * csig_news() - find the signals that were received since the caller's last reads
 * @view: the view that csig_flow_view() returned
 * @seen: csig_reading.count of the caller's last read, by signal; 0 before the first
 *
 * An ACK usually reports one signal. This function takes no lock. A 32-bit CPU may read half of an
 * update; the next call sees the whole of it.
 *
 * Context: any but hard interrupt.
 * Return: 1 << enum csig_type for each signal that is new to the caller, and CSIG_NEWS_FED.
 */
static inline u32 csig_news(const struct csig_view *view, const u64 *seen)
{
	u32 type, news = READ_ONCE(*view->path) != CSIG_VIEW_STRIPPED ? CSIG_NEWS_FED : 0;

	for (type = 0; type < CSIG_TYPES; type++)
		if (READ_ONCE(view->told[type].count) != seen[type])
			news |= BIT(type);
	return news;
}

/**
 * csig_read_new() - read a signal that csig_news() found
 * @view: the view that csig_flow_view() returned
 * @type: the signal's type
 * @r: result: the latest value
 *
 * Context: any but hard interrupt.
 */
static inline void csig_read_new(const struct csig_view *view, enum csig_type type,
				 struct csig_reading *r)
{
	const struct csig_told *told = &view->told[type];
	unsigned int start;

	do {
		start = read_seqcount_begin(view->changes);
		r->count = told->count;
		r->low = told->low;
		r->high = told->high;
		r->locator = told->tag.locator;
		r->initial = told->initial;
	} while (read_seqcount_retry(view->changes, start));
}

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
