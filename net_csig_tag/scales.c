// SPDX-License-Identifier: GPL-2.0
/*
 * Buckets of compact tags: net.hopcc.csig_buckets, which must be the same in the whole domain; in
 * kbit/s, ppm and ns:
 *
 *	abw 1000000 5000000 10000000; abw_c pow2 32; pd appendix_a
 */
#include <linux/slab.h>
#include <uapi/linux/pkt_sched_csig.h>

#include "net_csig_tag.h"

static const char * const signal_names[CSIG_TYPES] = {
	[CSIG_ABW] = "abw",
	[CSIG_ABW_C] = "abw_c",
	[CSIG_PD] = "pd",
};

static const u32 pow2_bases[CSIG_TYPES] = {
	TC_CSIG_POW2_DEFAULT_KBIT_PS, TC_CSIG_POW2_DEFAULT_PPM, TC_CSIG_POW2_DEFAULT_NS,
};

static void use_pow2(struct csig_scale *scale, u32 base)
{
	scale->edges = CSIG_EDGES;
	tc_csig_pow2(scale->edge, base);
}

/* Parses a list of edges, or the name of a rule for them. */
static int parse_edges(char *text, u32 type, struct csig_scale *scale)
{
	char *word = ctag_next_word(&text);
	u32 base;

	if (word && !strcmp(word, "appendix_a")) {
		scale->edges = TC_CSIG_APPENDIX_A_EDGES;
		tc_csig_appendix_a(scale->edge, type);
		return ctag_next_word(&text) ? -EINVAL : 0;
	}
	if (word && !strcmp(word, "pow2")) {
		word = ctag_next_word(&text);
		if (!word || kstrtou32(word, 10, &base) || base < 2 || base > TC_CSIG_POW2_BASE_MAX)
			return -EINVAL;
		use_pow2(scale, base);
		return ctag_next_word(&text) ? -EINVAL : 0;
	}
	for (scale->edges = 0; word; word = ctag_next_word(&text))
		if (scale->edges == CSIG_EDGES ||
		    kstrtou32(word, 10, &scale->edge[scale->edges++]))
			return -EINVAL;
	return scale->edges ? 0 : -EINVAL;
}

static int parse_signal(char *text, struct ctag_scales *scales)
{
	char *word = ctag_next_word(&text);
	u32 type;
	int err;

	for (type = 0; type < CSIG_TYPES; type++)
		if (word && !strcmp(word, signal_names[type]))
			break;
	if (type == CSIG_TYPES || !text)
		return -EINVAL;
	err = parse_edges(text, type, &scales->scale[type]);
	return err ?: csig_scale_ok(&scales->scale[type]) ? 0 : -EINVAL;
}

/* Modifies @text. */
static int parse_scales(char *text, struct ctag_scales *scales)
{
	char *one;
	int err = 0;

	while (!err && (one = strsep(&text, ";\n"))) {
		one = strim(one);
		if (*one)
			err = parse_signal(one, scales);
	}
	return err;
}

/* The defaults are those of tc's csig. */
static void use_defaults(struct ctag_scales *scales)
{
	u32 type;

	for (type = 0; type < CSIG_TYPES; type++) {
		scales->scale[type].quantum = 1;
		use_pow2(&scales->scale[type], pow2_bases[type]);
	}
}

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
	int err = -ENOMEM;

	if (scales && copy) {
		use_defaults(scales);
		err = parse_scales(copy, scales);
	}
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
