/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Configuration of a signal by tc: scale of its values and layout of its locators. The attributes
 * are read here, apart from the qdisc, so that the fuzzer reads them with the same code.
 */
#ifndef HOPCC_SCH_CSIG_CSIG_SIGNAL_H
#define HOPCC_SCH_CSIG_CSIG_SIGNAL_H

#include <linux/stringify.h>
#include <hopcc/lib/hop_nla.h>
#include <hopcc/wire/csig.h>
#include <uapi/linux/pkt_sched_csig.h>

/**
 * struct scsig_signal - configuration of a signal type
 * @on: the port supports this signal
 * @scale: encoding of the signal's values
 * @layout: layout of the locators, by form
 * @locator: locator that this port writes, by form; without a TTL
 * @has_ttl: the locator depends on the packet's TTL, by form
 */
struct scsig_signal {
	bool on;
	struct csig_scale scale;
	struct csig_layout layout[CSIG_FORMS];
	u16 locator[CSIG_FORMS];
	bool has_ttl[CSIG_FORMS];
};

/**
 * scsig_parse_scale() - read how a signal's values are encoded
 * @scale: result; keeps what the request does not contain; undefined after an error
 * @tb: the signal's attributes by TCA_CSIG_SIGNAL_*, validated by the policy: at most
 *	TC_CSIG_EDGES_MAX edges
 * @extack: receives the error message
 *
 * Context: any; the caller owns @scale.
 * Return: 0; -EINVAL
 */
static inline int scsig_parse_scale(struct csig_scale *scale, struct nlattr **tb,
				    struct netlink_ext_ack *extack)
{
	const struct nlattr *edges = tb[TCA_CSIG_SIGNAL_EDGES];
	int err = hop_nla_u32(&scale->quantum, TC_CSIG_QUANTUM_MIN, TC_CSIG_QUANTUM_MAX,
			      tb[TCA_CSIG_SIGNAL_QUANTUM], "quantum must be 1 to "
			      __stringify(TC_CSIG_QUANTUM_MAX), extack);

	if (err || !edges)
		return err;
	if (!nla_len(edges) || nla_len(edges) % sizeof(u32))
		return hop_nla_refuse(extack, edges, "buckets must have 1 to "
				      __stringify(TC_CSIG_EDGES_MAX) " edges");
	scale->edges = nla_len(edges) / sizeof(u32);
	memcpy(scale->edge, nla_data(edges), nla_len(edges));
	if (!csig_scale_ok(scale))
		return hop_nla_refuse(extack, edges, "edges of buckets must ascend, from above 0");
	return 0;
}

/**
 * scsig_parse_layout() - read the layout of a signal's locators
 * @layout: result; unchanged without @attr, undefined after an error
 * @form: the form of tags that have such locators
 * @attr: struct tc_csig_layout, whose size the policy validated, or NULL
 * @extack: receives the error message
 *
 * Context: any; the caller owns @layout.
 * Return: 0; -EINVAL: the layout is not one, or does not fit the locator
 */
static inline int scsig_parse_layout(struct csig_layout *layout, enum csig_form form,
				     const struct nlattr *attr, struct netlink_ext_ack *extack)
{
	const struct tc_csig_layout *wanted;
	u32 i;

	if (!attr)
		return 0;
	wanted = nla_data(attr);
	layout->constant = wanted->constant;
	layout->fields = wanted->fields;
	for (i = 0; i < CSIG_FIELDS_MAX; i++) {
		layout->field[i].what = wanted->field[i].what;
		layout->field[i].bits = wanted->field[i].bits;
	}
	if (!csig_layout_ok(layout, form))
		return hop_nla_refuse(extack, attr, form == CSIG_COMPACT ?
				      "lm must fit 7 bits in a compact tag" :
				      "lm must fit 16 bits in an expanded tag");
	return 0;
}

#endif /* HOPCC_SCH_CSIG_CSIG_SIGNAL_H */
