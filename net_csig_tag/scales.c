// SPDX-License-Identifier: GPL-2.0
/*
 * Buckets of compact tags: net.hopcc.csig_buckets, which must be the same in the whole domain; in
 * kbit/s, ppm and ns:
 *
 *	abw 1000000 5000000 10000000; abw_c pow2 32; pd appendix_a
 */
#include <linux/slab.h>

#include "net_csig_tag.h"

/**
 * ctag_scales_set() - set net.hopcc.csig_buckets
 * @cn: the netns' state
 * @text: shorter than CTAG_BUCKETS_BYTES; signals that it does not name get the defaults
 *
 * Context: process.
 * Return: 0, -EINVAL or -ENOMEM; after an error the old scales stay.
 */
int ctag_scales_set(struct ctag_net *cn, const char *text)
{
	struct ctag_scales *scales = kzalloc(sizeof(*scales), GFP_KERNEL);
	char *copy = kstrdup(text, GFP_KERNEL);
	int err = scales && copy ? ctag_parse_scales(copy, scales->scale) : -ENOMEM;

	kfree(copy);
	if (err) {
		kfree(scales);
		return err;
	}
	strscpy(scales->text, text, sizeof(scales->text));
	scales = unrcu_pointer(xchg(&cn->scales, RCU_INITIALIZER(scales)));
	if (scales)
		kfree_rcu(scales, rcu);
	return 0;
}

/*
 * @text has room for CTAG_BUCKETS_BYTES. Context: process.
 */
void ctag_scales_text(struct ctag_net *cn, char *text)
{
	const struct ctag_scales *scales;

	rcu_read_lock();
	scales = rcu_dereference(cn->scales);
	strscpy(text, scales->text, CTAG_BUCKETS_BYTES);
	rcu_read_unlock();
}

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
	const u32 quantum = READ_ONCE(cn->quantum[type]);
	const struct csig_scale *scale;

	if (s->form != CSIG_COMPACT) {
		s->low = csig_expanded_low(quantum, s->value);
		s->high = csig_expanded_high(quantum, s->value);
		return;
	}
	rcu_read_lock();
	scale = &rcu_dereference(cn->scales)->scale[type];
	s->low = csig_low(scale, s->form, s->value);
	s->high = csig_high(scale, s->form, s->value);
	rcu_read_unlock();
}
