// SPDX-License-Identifier: GPL-2.0
/* Dumps of qdiscs; see hopcc/lib/hop_nla.h. */

#include <linux/module.h>
#include <linux/rtnetlink.h>
#include <hopcc/lib/hop_nla.h>

int hop_nla_dump(struct Qdisc *sch, struct sk_buff *skb,
		 int (*put)(struct Qdisc *sch, struct sk_buff *skb))
{
	struct nlattr *opts = nla_nest_start_noflag(skb, TCA_OPTIONS);
	int err;

	if (!opts)
		return -EMSGSIZE;
	err = put(sch, skb);
	if (!err)
		return nla_nest_end(skb, opts);
	nla_nest_cancel(skb, opts);
	return err;
}
EXPORT_SYMBOL_GPL(hop_nla_dump);
