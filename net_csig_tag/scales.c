// SPDX-License-Identifier: GPL-2.0
/*
 * Buckets of compact tags: net.hopcc.csig_buckets, which must be the same in the whole domain; in
 * kbit/s, ppm and ns:
 *
 *	abw 1000000 5000000 10000000; abw_c pow2 32; pd appendix_a
 */
#include "net_csig_tag.h"

/**
 * ctag_range() - range of signal values that a reflected value represents
 * @cn: the netns' state
 * @type: enum csig_type
 * @s: form and value are input; low and high are the result
 *
 * Context: any but hard interrupt.
 */
void ctag_range(const struct ctag_net *cn, enum csig_type type, struct csig_signal *s)
{
	const struct csig_scale expanded = { .quantum = READ_ONCE(cn->quantum[type]) };
	const struct csig_scale *scale;

	if (s->form != CSIG_COMPACT) {
		s->low = csig_low(&expanded, s->form, s->value);
		s->high = csig_high(&expanded, s->form, s->value);
		return;
	}
	rcu_read_lock();
	scale = &container_of(rcu_dereference(cn->texts[CTAG_SCALES]), struct ctag_scales,
			      text)->scale[type];
	s->low = csig_low(scale, s->form, s->value);
	s->high = csig_high(scale, s->form, s->value);
	rcu_read_unlock();
}
