/* SPDX-License-Identifier: GPL-2.0 */
/* The option `limit` of a qdisc that wraps children: it applies to the default children, fifos. */
#ifndef HOPCC_LIB_HOP_LIMIT_H
#define HOPCC_LIB_HOP_LIMIT_H

#include <hopcc/core/hop_child.h>
#include <hopcc/lib/hop_nla.h>

/**
 * hop_limit_child() - find a default child, which `limit` applies to
 * @sch: the wrapper
 *
 * Context: process, RTNL held.
 * Return: the first default child; NULL if all children were grafted.
 */
struct Qdisc *hop_limit_child(const struct Qdisc *sch);

/* The least limit; TC_*_LIMIT_MIN_BYTES of each qdisc. */
#define HOP_LIMIT_MIN_BYTES 64

/**
 * hop_limit_read() - read the limit of a default child that is still to be made
 * @limit_bytes: result; unchanged if there is no attribute
 * @attr: attribute of type NLA_U32, validated by the policy, or NULL
 * @extack: receives the error message
 *
 * Return: 0 or -EINVAL
 */
int hop_limit_read(u32 *limit_bytes, const struct nlattr *attr, struct netlink_ext_ack *extack);

/**
 * hop_limit_parse() - read the limit from a request
 * @sch: the wrapper
 * @limit_bytes: result; unchanged if there is no attribute
 * @attr: attribute of type NLA_U32, validated by the policy, or NULL
 * @extack: receives the error message
 *
 * Context: process, RTNL held.
 * Return: 0 or -EINVAL
 */
int hop_limit_parse(const struct Qdisc *sch, u32 *limit_bytes, const struct nlattr *attr,
		    struct netlink_ext_ack *extack);

/**
 * hop_limit_set() - set the limit of the default children
 * @sch: the wrapper
 * @limit_bytes: limit by hop_limit_parse(); 0 leaves the limit unchanged
 *
 * Context: process, RTNL held.
 * Return: 0 or -ENOMEM
 */
int hop_limit_set(struct Qdisc *sch, u32 limit_bytes);

/**
 * hop_limit_put() - dump the limit of the default child, if there is one
 * @skb: netlink message that the attribute is added to
 * @sch: the wrapper
 * @type: type of the attribute
 *
 * Context: process, RTNL held.
 * Return: 0 or -EMSGSIZE
 */
int hop_limit_put(struct sk_buff *skb, const struct Qdisc *sch, int type);

#endif /* HOPCC_LIB_HOP_LIMIT_H */
