/* SPDX-License-Identifier: GPL-2.0 */
/* The option `limit` of a qdisc that wraps children: it applies to the default children, fifos. */
#ifndef HOPCC_LIB_HOP_LIMIT_H
#define HOPCC_LIB_HOP_LIMIT_H

#include <hopcc/core/hop_child.h>
#include <hopcc/lib/hop_nla.h>

/* A default child is a fifo that this qdisc made, and that no graft has replaced. */
static inline bool hop_limit_is_default(const struct Qdisc *child)
{
	return child && child != &noop_qdisc && !child->handle;
}

/**
 * hop_limit_child() - find a default child, which `limit` applies to
 * @sch: the wrapper
 *
 * Context: process, RTNL held.
 * Return: the first default child; NULL if all children were grafted.
 */
static inline struct Qdisc *hop_limit_child(const struct Qdisc *sch)
{
	int index;

	ASSERT_RTNL();
	for (index = 0; index < HOP_CHILDREN_MAX; index++)
		if (hop_limit_is_default(hop_child_at(sch, index)))
			return hop_child_at(sch, index);
	return NULL;
}

/**
 * hop_limit_parse() - read the limit from a request
 * @sch: the wrapper
 * @limit_bytes: result; unchanged if there is no attribute
 * @min_bytes: minimum that is allowed
 * @attr: attribute of type NLA_U32, validated by the policy, or NULL
 * @refusal: error message that names the range
 * @extack: receives the error message
 *
 * Context: process, RTNL held.
 * Return: 0 or -EINVAL
 */
static inline int hop_limit_parse(const struct Qdisc *sch, u32 *limit_bytes, u32 min_bytes,
				  const struct nlattr *attr, const char *refusal,
				  struct netlink_ext_ack *extack)
{
	ASSERT_RTNL();
	if (attr && !hop_limit_child(sch))
		return hop_nla_refuse(extack, attr,
				      "limit is the default child's; set that of the grafted one");
	return hop_nla_u32(limit_bytes, min_bytes, U32_MAX, attr, refusal, extack);
}

/**
 * hop_limit_set() - set the limit of the default children
 * @sch: the wrapper
 * @limit_bytes: limit by hop_limit_parse(); 0 leaves the limit unchanged
 *
 * Context: process, RTNL held.
 * Return: 0 or -ENOMEM
 */
static inline int hop_limit_set(struct Qdisc *sch, u32 limit_bytes)
{
	int index, err = 0;

	ASSERT_RTNL();
	for (index = 0; limit_bytes && index < HOP_CHILDREN_MAX && !err; index++)
		if (hop_limit_is_default(hop_child_at(sch, index)))
			err = fifo_set_limit(hop_child_at(sch, index), limit_bytes);
	return err;
}

/**
 * hop_limit_put() - dump the limit of the default child, if there is one
 * @skb: netlink message that the attribute is added to
 * @sch: the wrapper
 * @type: type of the attribute
 *
 * Context: process, RTNL held.
 * Return: 0 or -EMSGSIZE
 */
static inline int hop_limit_put(struct sk_buff *skb, const struct Qdisc *sch, int type)
{
	const struct Qdisc *child = hop_limit_child(sch);

	ASSERT_RTNL();
	return child ? nla_put_u32(skb, type, child->limit) : 0;
}

#endif /* HOPCC_LIB_HOP_LIMIT_H */
