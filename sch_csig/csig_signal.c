// SPDX-License-Identifier: GPL-2.0
/* Options of signals; see csig_signal.h. */

#include <linux/stringify.h>
#include <hopcc/lib/hop_nla.h>

#include "csig_signal.h"

int scsig_parse_scale(struct csig_scale *scale, struct nlattr **tb, struct netlink_ext_ack *extack)
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

int scsig_parse_layout(struct tc_csig_layout *layout, enum csig_form form,
		       const struct nlattr *attr, struct netlink_ext_ack *extack)
{
	if (!attr)
		return 0;
	*layout = *(const struct tc_csig_layout *)nla_data(attr);
	layout->pad = 0;
	if (!scsig_layout_ok(layout, form))
		return hop_nla_refuse(extack, attr, form == CSIG_COMPACT ?
				      "lm must fit 7 bits in a compact tag" :
				      "lm must fit 16 bits in an expanded tag");
	return 0;
}
