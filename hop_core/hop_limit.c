// SPDX-License-Identifier: GPL-2.0
/* The option limit of qdiscs that wrap children; see hopcc/lib/hop_limit.h. */

#include <linux/module.h>
#include <hopcc/lib/hop_limit.h>

/* A default child is a fifo that this qdisc has created and that no user has replaced. */
static bool hop_limit_is_default(const struct Qdisc *child)
{
	return child && child != &noop_qdisc && !child->handle;
}

struct Qdisc *hop_limit_child(const struct Qdisc *sch)
{
	int index;

	ASSERT_RTNL();
	for (index = 0; index < HOP_CHILDREN_MAX; index++)
		if (hop_limit_is_default(hop_child_at(sch, index)))
			return hop_child_at(sch, index);
	return NULL;
}
EXPORT_SYMBOL_GPL(hop_limit_child);

int hop_limit_read(u32 *limit_bytes, const struct nlattr *attr, struct netlink_ext_ack *extack)
{
	return hop_nla_u32(limit_bytes, HOP_LIMIT_MIN_BYTES, U32_MAX, attr, "limit must be "
			   __stringify(HOP_LIMIT_MIN_BYTES) " to 4294967295 bytes", extack);
}
EXPORT_SYMBOL_GPL(hop_limit_read);

int hop_limit_parse(const struct Qdisc *sch, u32 *limit_bytes, const struct nlattr *attr,
		    struct netlink_ext_ack *extack)
{
	ASSERT_RTNL();
	if (attr && !hop_limit_child(sch))
		return hop_nla_refuse(extack, attr,
				      "limit is the default child's; set that of the grafted one");
	return hop_limit_read(limit_bytes, attr, extack);
}
EXPORT_SYMBOL_GPL(hop_limit_parse);

int hop_limit_set(struct Qdisc *sch, u32 limit_bytes)
{
	int index, err = 0;

	ASSERT_RTNL();
	for (index = 0; limit_bytes && index < HOP_CHILDREN_MAX && !err; index++)
		if (hop_limit_is_default(hop_child_at(sch, index)))
			err = fifo_set_limit(hop_child_at(sch, index), limit_bytes);
	return err;
}
EXPORT_SYMBOL_GPL(hop_limit_set);

int hop_limit_put(struct sk_buff *skb, const struct Qdisc *sch, int type)
{
	const struct Qdisc *child = hop_limit_child(sch);

	ASSERT_RTNL();
	return child ? nla_put_u32(skb, type, child->limit) : 0;
}
EXPORT_SYMBOL_GPL(hop_limit_put);
