/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Options of a qdisc out of netlink, refused with a message that names the option
 * and its range: policies could not say that.
 */
#ifndef HOPCC_NET_HOP_NLA_H
#define HOPCC_NET_HOP_NLA_H

#include <linux/netlink.h>
#include <net/netlink.h>

/**
 * hop_nla_refuse() - refuse a request
 * @extack: for the message
 * @attr: what is wrong
 * @message: what is allowed; a constant
 *
 * Return: -EINVAL
 */
static inline int hop_nla_refuse(struct netlink_ext_ack *extack, const struct nlattr *attr,
				 const char *message)
{
	NL_SET_BAD_ATTR(extack, attr);
	if (extack)
		extack->_msg = message;
	return -EINVAL;
}

/**
 * hop_nla_u32() - replace a value by an attribute
 * @value: kept if there is none, or if it is refused
 * @min: least value allowed
 * @max: greatest value allowed
 * @attr: NLA_U32 that the policy passed, or NULL
 * @message: names the option and its range
 * @extack: for @message
 *
 * Return: 0 or -EINVAL
 */
static inline int hop_nla_u32(u32 *value, u32 min, u32 max, const struct nlattr *attr,
			      const char *message, struct netlink_ext_ack *extack)
{
	if (!attr)
		return 0;
	if (nla_get_u32(attr) < min || nla_get_u32(attr) > max)
		return hop_nla_refuse(extack, attr, message);
	*value = nla_get_u32(attr);
	return 0;
}

/**
 * hop_nla_parse() - the attributes of a nest
 * @tb: result, of @max + 1
 * @max: greatest type known
 * @nest: the nest
 * @policy: types
 * @extack: for the message
 *
 * Strict but for NLA_F_NESTED, which tc does not set on TCA_OPTIONS.
 *
 * Return: 0 or a negative error
 */
static inline int hop_nla_parse(struct nlattr **tb, int max, const struct nlattr *nest,
				const struct nla_policy *policy, struct netlink_ext_ack *extack)
{
	return __nla_parse(tb, max, nla_data(nest), nla_len(nest), policy,
			   NL_VALIDATE_STRICT & ~NL_VALIDATE_NESTED, extack);
}

#endif /* HOPCC_NET_HOP_NLA_H */
