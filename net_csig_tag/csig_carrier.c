// SPDX-License-Identifier: GPL-2.0
/* Negotiation, paths that drop tags, and tunnels; what each packet runs is in csig_carrier.h. */

#include "csig_carrier.h"

void ctag_opt_write_question(u8 *to, u16 exid)
{
	memset(ctag_opt_write_head(to, exid, CSIG_QUESTION_DATA_BYTES, CSIG_OPT_QUESTION_BYTES), 0,
	       CSIG_QUESTION_DATA_BYTES);
}

void ctag_turns_start(struct ctag_turns *v)
{
	v->type = CSIG_TYPES - 1;
	v->left_pkts = 0;
}

void ctag_path_miss(struct csig_path *p, u64 now_ns)
{
	p->waiting = false;
	WRITE_ONCE(p->state, CSIG_PATH_UNPROVEN);
	if (++p->misses < CSIG_MISSES_MAX)
		return;
	WRITE_ONCE(p->state, CSIG_PATH_STRIPPED);
	p->since_ns = now_ns;
}

void ctag_path_unsent(struct csig_path *p)
{
	if (p->newest)
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

void ctag_decap_put(struct ctag_decap *d, enum csig_form form, const struct csig_tag *t,
		    u64 now_ns)
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
