/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Options of a qdisc out of netlink, refused with a message that names the option
 * and its range: policies could not say that.
 */
#ifndef HOPCC_NET_HOP_NLA_H
#define HOPCC_NET_HOP_NLA_H

#include <linux/netlink.h>
#include <linux/stringify.h>
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
 * struct hop_nla_option - an option of 32 bits
 * @initial: its default
 * @min: least
 * @max: greatest
 * @refusal: what is said to who wants another; NULL where a type is no such option
 */
struct hop_nla_option {
	u32 initial;
	u32 min;
	u32 max;
	const char *refusal;
};

/* Bounds are bare literals, so that the message can quote them. */
#define HOP_NLA_OPTION(name, unit, initial, min, max)				\
	{ initial, min, max, name " must be " __stringify(min) " to " __stringify(max) unit }

/**
 * hop_nla_defaults() - every option's default
 * @values: result, of @max + 1, by type
 * @options: by type
 * @max: greatest type
 */
static inline void hop_nla_defaults(u32 *values, const struct hop_nla_option *options, int max)
{
	int i;

	for (i = 0; i <= max; i++)
		values[i] = options[i].initial;
}

/**
 * hop_nla_options() - overlay values with the attributes of a request
 * @values: of @max + 1, by type; worthless after an error
 * @options: by type
 * @max: greatest type
 * @tb: attributes, by type
 * @extack: for the message
 *
 * Return: 0 or -EINVAL
 */
static inline int hop_nla_options(u32 *values, const struct hop_nla_option *options, int max,
				  struct nlattr **tb, struct netlink_ext_ack *extack)
{
	int i, err = 0;

	for (i = 0; i <= max && !err; i++)
		if (options[i].refusal)
			err = hop_nla_u32(&values[i], options[i].min, options[i].max, tb[i],
					  options[i].refusal, extack);
	return err;
}

/**
 * hop_nla_put_options() - dump values
 * @skb: into this message
 * @values: of @max + 1, by type
 * @options: by type
 * @max: greatest type
 *
 * Return: 0 or -EMSGSIZE
 */
static inline int hop_nla_put_options(struct sk_buff *skb, const u32 *values,
				      const struct hop_nla_option *options, int max)
{
	int i, err = 0;

	for (i = 0; i <= max && !err; i++)
		if (options[i].refusal)
			err = nla_put_u32(skb, i, values[i]);
	return err;
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
