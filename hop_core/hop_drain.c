// SPDX-License-Identifier: GPL-2.0
/* The rate of a port; see hopcc/lib/hop_drain.h. */

#include <linux/math64.h>
#include <linux/module.h>
#include <hopcc/lib/hop_drain.h>

/* A rate that is close enough to the port's is the port's. */
static void hop_drain_set(struct hop_drain *d, u64 sent_bytes_ps, u64 rate_bytes_ps)
{
	sent_bytes_ps = max_t(u64, sent_bytes_ps, HOP_DRAIN_RATE_MIN_BYTES_PS);
	d->rate_bytes_ps = sent_bytes_ps < rate_bytes_ps - rate_bytes_ps / 8 ? sent_bytes_ps : 0;
}

/* Capped to 2^32 bytes per nanosecond, so that the quotient fits 64 bits */
static u64 hop_drain_sent_bytes_ps(u64 bytes, u64 elapsed_ns)
{
	return mul_u64_u64_div_u64(bytes, HOP_DRAIN_NS_PER_S, max3(elapsed_ns, bytes >> 32, 1ULL));
}

/* No packet waited for a while: raise the capacity. */
static void hop_drain_raise(struct hop_drain *d, u64 rate_bytes_ps)
{
	const bool slow = d->clear < HOP_DRAIN_CLEAR;
	const unsigned int shift = slow ? HOP_DRAIN_SLOW_SHIFT : HOP_DRAIN_FAST_SHIFT;

	if (!d->rate_bytes_ps)
		return;
	hop_drain_set(d, d->rate_bytes_ps + (d->rate_bytes_ps >> shift), rate_bytes_ps);
	d->clear += slow;
}

static void hop_drain_start(struct hop_drain_run *run, const struct hop_drain_sent *sent)
{
	run->start_bytes = sent->bytes;
	run->start_moves = sent->moves;
	run->start_ns = sent->now_ns;
	run->waited = sent->waits;
	run->waited_once = false;
}

/* Packets have waited for all of the interval, and wait. Return: as hop_drain_close() */
static bool hop_drain_measure(struct hop_drain *d, struct hop_drain_run *run, u64 rate_bytes_ps,
			      const struct hop_drain_sent *sent)
{
	const u64 before_bytes_ps = hop_drain_capacity_bytes_ps(d, rate_bytes_ps);
	const u64 bytes = sent->bytes - run->start_bytes;
	const u64 elapsed_ns = sent->now_ns - run->start_ns;

	d->clear = 0;
	d->changed_ns = sent->now_ns;
	/* Nothing was sent: a device that was stopped says nothing about its rate. */
	if (!bytes) {
		hop_drain_start(run, sent);
		return false;
	}
	if (sent->moves - run->start_moves < HOP_DRAIN_MOVES)
		return false;
	hop_drain_start(run, sent);
	hop_drain_set(d, hop_drain_sent_bytes_ps(bytes, elapsed_ns), rate_bytes_ps);
	return hop_drain_capacity_bytes_ps(d, rate_bytes_ps) < before_bytes_ps;
}

bool hop_drain_close(struct hop_drain *d, struct hop_drain_run *run, u64 rate_bytes_ps,
		     const struct hop_drain_sent *sent)
{
	if (run->waited && sent->waits)
		return hop_drain_measure(d, run, rate_bytes_ps, sent);
	hop_drain_raise(d, rate_bytes_ps);
	hop_drain_start(run, sent);
	return false;
}
EXPORT_SYMBOL_GPL(hop_drain_close);

/* Raise the capacity at the end of a span. @is_news: see hop_drain_check_span() */
static void hop_drain_end_span(struct hop_drain *d, const struct hop_drain_run *run,
			       u64 rate_bytes_ps, u64 sent_bytes_ps, bool is_news)
{
	if (sent_bytes_ps > d->rate_bytes_ps + (d->rate_bytes_ps >> HOP_DRAIN_MORE_SHIFT))
		hop_drain_set(d, min(sent_bytes_ps + (sent_bytes_ps >> HOP_DRAIN_FAST_SHIFT),
				     2 * d->rate_bytes_ps), rate_bytes_ps);
	else if (!run->waited_once && is_news)
		hop_drain_raise(d, rate_bytes_ps);
	if (run->waited_once)
		d->clear = 0;
}

/*
 * Check the span of a port whose measured rate is in use. Packets did not wait all the time.
 * Return: true if the span ended.
 */
static bool hop_drain_check_span(struct hop_drain *d, const struct hop_drain_run *run,
				 u64 rate_bytes_ps, const struct hop_drain_sent *sent)
{
	const u64 elapsed_ns = sent->now_ns - run->start_ns;
	const bool is_whole = sent->moves - run->start_moves >= HOP_DRAIN_MOVES;
	/* Another queue may have seen packets wait, or have raised the rate for the same span. */
	const bool is_news = (s64)(run->start_ns - d->changed_ns) >= 0;
	u64 sent_bytes_ps;

	if (!is_whole && elapsed_ns < HOP_DRAIN_KEPT_NS)
		return false;
	sent_bytes_ps = hop_drain_sent_bytes_ps(sent->bytes - run->start_bytes, elapsed_ns);
	if (elapsed_ns >= HOP_DRAIN_KEPT_NS &&
	    sent_bytes_ps < d->rate_bytes_ps >> HOP_DRAIN_IDLE_SHIFT) {
		if (is_news)
			*d = (struct hop_drain){};
		return true;
	}
	if (!is_whole)
		return false;
	hop_drain_end_span(d, run, rate_bytes_ps, sent_bytes_ps, is_news);
	if (run->waited_once || is_news)
		d->changed_ns = sent->now_ns;
	return true;
}

bool hop_drain_look(struct hop_drain *d, struct hop_drain_run *run, u64 rate_bytes_ps,
		    const struct hop_drain_sent *sent)
{
	if (run->waited && sent->waits)
		return hop_drain_measure(d, run, rate_bytes_ps, sent);
	if (!d->rate_bytes_ps || hop_drain_check_span(d, run, rate_bytes_ps, sent))
		hop_drain_start(run, sent);
	return false;
}
EXPORT_SYMBOL_GPL(hop_drain_look);
