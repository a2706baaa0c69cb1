/* SPDX-License-Identifier: GPL-2.0 */
/* The option `limit` of a qdisc that wraps a child: that of the default child, a fifo. */
#ifndef HOPCC_NET_HOP_LIMIT_H
#define HOPCC_NET_HOP_LIMIT_H

#include <net/hop_child.h>
#include <net/hop_nla.h>

/**
 * hop_limit_is_ours() - is the child still the fifo that was there before any graft?
 * @sch: the wrapper
 *
 * Context: process, RTNL held.
 */
static inline bool hop_limit_is_ours(const struct Qdisc *sch)
{
	const struct Qdisc *child = hop_child_of(sch);

	return child != &noop_qdisc && !child->handle;
}

/**
 * hop_limit_parse() - the limit that a request asks for
 * @sch: the wrapper
 * @limit_bytes: result; kept if there is no attribute
 * @min_bytes: least that is allowed
 * @attr: NLA_U32 that the policy passed, or NULL
 * @refusal: names the range
 * @extack: for the message
 *
 * Context: process, RTNL held.
 * Return: 0 or -EINVAL
 */
static inline int hop_limit_parse(const struct Qdisc *sch, u32 *limit_bytes, u32 min_bytes,
				  const struct nlattr *attr, const char *refusal,
				  struct netlink_ext_ack *extack)
{
	if (attr && !hop_limit_is_ours(sch))
		return hop_nla_refuse(extack, attr,
				      "limit is the default child's; set that of the grafted one");
	return hop_nla_u32(limit_bytes, min_bytes, U32_MAX, attr, refusal, extack);
}

/**
 * hop_limit_put() - dump the default child's limit; nothing once another was grafted
 * @skb: into this message
 * @sch: the wrapper
 * @type: of the attribute
 *
 * Context: process, RTNL held.
 * Return: 0 or -EMSGSIZE
 */
static inline int hop_limit_put(struct sk_buff *skb, const struct Qdisc *sch, int type)
{
	return hop_limit_is_ours(sch) ? nla_put_u32(skb, type, hop_child_of(sch)->limit) : 0;
}

#endif /* HOPCC_NET_HOP_LIMIT_H */
