// SPDX-License-Identifier: GPL-2.0
/* The CSIG algorithms of the end host; see csig_carrier.h. */

#include <linux/string.h>

#include "csig_carrier.h"

/* Consecutive unanswered tags after which the path is considered to strip tags. */
#define CSIG_MISSES_MAX		3U
/* Timeout of an answer in RTTs, and its minimum. */
#define CSIG_TIMEOUT_RTTS	4U
#define CSIG_TIMEOUT_MIN_NS	4000000ULL
/* Timeout while TCP has no RTT yet: TCP's initial RTO. */
#define CSIG_TIMEOUT_UNKNOWN_NS	1000000000ULL

/* Maximum time to wait: the inner packet follows in the same softirq, or was dropped. */
#define CSIG_DECAP_MAX_NS	10000000ULL

static u32 ctag_opt_length(enum csig_form form)
{
	return CSIG_OPT_HEAD_BYTES + (form ? csig_data_bytes(form) : 0);
}

enum csig_form ctag_opt_form(const u8 *opt)
{
	enum csig_form form;

	for (form = CSIG_NONE; form < CSIG_FORMS; form++)
		if (opt[1] == ctag_opt_length(form))
			break;
	return form;
}

u32 ctag_opt_bytes(enum csig_form form)
{
	return (ctag_opt_length(form) + 3) & ~3U;
}

void ctag_opt_write(u8 *to, u16 exid, enum csig_form form, const struct csig_tag *t)
{
	const u32 bytes = ctag_opt_length(form), nops = ctag_opt_bytes(form) - bytes;

	memset(to, HOP_OPTION_NOP, nops);
	to += nops;
	to[0] = CSIG_OPT_KIND;
	to[1] = bytes;
	to[2] = exid >> 8;
	to[3] = exid;
	if (form)
		csig_write(form, to + CSIG_OPT_HEAD_BYTES, t);
}

static u16 ctag_mark_check(const u8 *data, enum csig_form form, u64 secret)
{
	u64 word = form;
	u32 i;

	for (i = 0; i < CSIG_DATA_MAX_BYTES; i++)
		word = word << 8 | data[i];
	word = (word ^ secret) * CSIG_MARK_FACTOR;
	word = (word ^ word >> 32) * CSIG_MARK_FACTOR;
	return max_t(u16, word >> 48, 1);
}

void ctag_mark_write(u8 *mark, enum csig_form form, const struct csig_tag *t, u64 secret)
{
	u8 *data = mark + CSIG_MARK_CHECK_BYTES;
	u16 check;

	memset(data, 0, CSIG_DATA_MAX_BYTES);
	csig_write(form, data, t);
	check = ctag_mark_check(data, form, secret);
	mark[0] = check >> 8;
	mark[1] = check;
}

enum csig_form ctag_mark_read(const u8 *mark, struct csig_tag *t, u64 secret)
{
	const u8 *data = mark + CSIG_MARK_CHECK_BYTES;
	const u16 check = mark[0] << 8 | mark[1];
	enum csig_form form;

	if (!check)
		return CSIG_NONE;
	for (form = CSIG_COMPACT; form < CSIG_FORMS; form++)
		if (ctag_mark_check(data, form, secret) == check)
			break;
	if (form == CSIG_FORMS)
		return CSIG_NONE;
	*t = csig_read(form, data);
	return form;
}

u32 ctag_turn(u32 n, const u32 *weight_pkts)
{
	u32 i, sum_pkts = 0;

	for (i = 0; i < CSIG_TYPES; i++)
		sum_pkts += weight_pkts[i];
	if (!sum_pkts)
		return CSIG_TYPES;
	n %= sum_pkts;
	for (i = 0; i < CSIG_TYPES - 1 && n >= weight_pkts[i]; i++)
		n -= weight_pkts[i];
	return i;
}

void ctag_receive(struct ctag_received *h, enum csig_form form, const struct csig_tag *t)
{
	h->form = form;
	h->fresh = true;
	h->latest = *t;
}

u32 ctag_reflect_pick(const struct ctag_received *h)
{
	u32 i, pick = CSIG_TYPES;

	for (i = 0; i < CSIG_TYPES; i++)
		if (h[i].fresh && (pick == CSIG_TYPES || h[i].reflected_ns < h[pick].reflected_ns))
			pick = i;
	return pick;
}

void ctag_reflected(struct ctag_received *h, u64 now_ns)
{
	h->fresh = false;
	h->reflected_ns = now_ns;
}

u64 ctag_timeout_ns(u32 srtt_us)
{
	if (!srtt_us)
		return CSIG_TIMEOUT_UNKNOWN_NS;
	return max_t(u64, (u64)srtt_us * 1000 * CSIG_TIMEOUT_RTTS, CSIG_TIMEOUT_MIN_NS);
}

static void ctag_path_miss(struct csig_path *p, u64 now_ns)
{
	p->waiting = false;
	WRITE_ONCE(p->state, CSIG_PATH_UNPROVEN);
	if (++p->misses < CSIG_MISSES_MAX)
		return;
	WRITE_ONCE(p->state, CSIG_PATH_STRIPPED);
	p->since_ns = now_ns;
}

bool ctag_path_may_tag(struct csig_path *p, u64 now_ns, u64 timeout_ns, u64 retry_ns)
{
	if (p->waiting && now_ns - p->since_ns > timeout_ns)
		ctag_path_miss(p, now_ns);
	if (p->state == CSIG_PATH_STRIPPED && now_ns - p->since_ns >= retry_ns) {
		WRITE_ONCE(p->state, CSIG_PATH_UNPROVEN);
		p->misses = CSIG_MISSES_MAX - 1;
	}
	if (p->state == CSIG_PATH_UNPROVEN)
		return !p->waiting;
	return p->state == CSIG_PATH_PROVEN;
}

void ctag_path_tagged(struct csig_path *p, u32 end_seq, u64 now_ns)
{
	p->newest = !p->waiting;
	if (p->waiting)
		return;
	p->waiting = true;
	p->end_seq = end_seq;
	p->since_ns = now_ns;
}

void ctag_path_unsent(struct csig_path *p)
{
	if (p->newest)
		p->waiting = false;
}

void ctag_path_answered(struct csig_path *p)
{
	WRITE_ONCE(p->state, CSIG_PATH_PROVEN);
	p->misses = 0;
	p->waiting = false;
}

void ctag_path_empty(struct csig_path *p, u32 ack_seq, u64 now_ns)
{
	if (p->waiting && (s32)(ack_seq - p->end_seq) >= 0)
		ctag_path_miss(p, now_ns);
}

static bool ctag_decap_waits(const struct ctag_decap *d, u32 type, u64 now_ns)
{
	return d->form[type] && now_ns - d->since_ns[type] <= CSIG_DECAP_MAX_NS;
}

u32 ctag_decap_waiting(const struct ctag_decap *d, u64 now_ns)
{
	u32 type, waiting = 0;

	for (type = 0; type < CSIG_TYPES; type++)
		waiting += ctag_decap_waits(d, type, now_ns);
	return waiting;
}

void ctag_decap_put(struct ctag_decap *d, enum csig_form form, const struct csig_tag *t, u64 now_ns)
{
	const u32 type = t->type;

	if (ctag_decap_waits(d, type, now_ns) && d->form[type] == form) {
		if (csig_worse(type, t->value, d->tag[type].value))
			d->tag[type] = *t;
		return;
	}
	d->form[type] = form;
	d->tag[type] = *t;
	d->since_ns[type] = now_ns;
}

enum csig_form ctag_decap_take(struct ctag_decap *d, u32 type, struct csig_tag *t, u64 now_ns)
{
	enum csig_form form;
	u32 i, pick = CSIG_TYPES;

	for (i = 0; i < CSIG_TYPES; i++) {
		if ((type != CSIG_TYPES && type != i) || !ctag_decap_waits(d, i, now_ns))
			continue;
		if (pick == CSIG_TYPES || d->since_ns[i] < d->since_ns[pick])
			pick = i;
	}
	if (pick == CSIG_TYPES)
		return CSIG_NONE;
	form = d->form[pick];
	*t = d->tag[pick];
	d->form[pick] = CSIG_NONE;
	return form;
}
