/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Parsing of a qdisc's netlink options. An option that is out of range is refused with a
 * message that names the option and its range; a netlink policy cannot report that.
 */
#ifndef HOPCC_LIB_HOP_NLA_H
#define HOPCC_LIB_HOP_NLA_H

#include <linux/netlink.h>
#include <linux/stringify.h>
#include <net/netlink.h>

struct Qdisc;

/**
 * hop_nla_refuse() - refuse a request
 * @extack: receives the message
 * @attr: the attribute that is wrong
 * @message: constant string that tells what is allowed
 *
 * Return: -EINVAL
 */
int hop_nla_refuse(struct netlink_ext_ack *extack, const struct nlattr *attr, const char *message);

/**
 * hop_nla_u32() - read a value from an attribute
 * @value: result; unchanged if there is no attribute, or if it is refused
 * @min: least value allowed
 * @max: greatest value allowed
 * @attr: attribute of type NLA_U32, validated by the policy, or NULL
 * @message: error message that names the option and its range
 * @extack: receives @message
 *
 * Return: 0 or -EINVAL
 */
int hop_nla_u32(u32 *value, u32 min, u32 max, const struct nlattr *attr, const char *message,
		struct netlink_ext_ack *extack);

/**
 * hop_nla_rate() - read the rate of a port from an attribute
 * @rate_bytes_ps: result, bytes/s; 0 for the device's rate; unchanged if there is no attribute
 * @attr: attribute of type NLA_U64, validated by the policy, or NULL
 * @extack: receives the error message
 *
 * Return: 0 or -EINVAL
 */
int hop_nla_rate(u64 *rate_bytes_ps, const struct nlattr *attr, struct netlink_ext_ack *extack);

/**
 * struct hop_nla_option - an option of 32 bits
 * @initial: default value
 * @min: least value allowed
 * @max: greatest value allowed
 * @refusal: error message for other values; NULL if the type is not an option of this kind
 */
struct hop_nla_option {
	u32 initial;
	u32 min;
	u32 max;
	const char *refusal;
};

/* Pass the bounds as bare literals, so that the message can contain them. */
#define HOP_NLA_OPTION(name, unit, initial, min, max)				\
	{ initial, min, max, name " must be " __stringify(min) " to " __stringify(max) unit }

/**
 * hop_nla_defaults() - set all options to their defaults
 * @values: result: @max + 1 values, indexed by type
 * @options: the options, indexed by type
 * @max: greatest type
 */
void hop_nla_defaults(u32 *values, const struct hop_nla_option *options, int max);

/**
 * hop_nla_options() - update values from the attributes of a request
 * @values: @max + 1 values, indexed by type; undefined after an error
 * @options: the options, indexed by type
 * @max: greatest type
 * @tb: the attributes, indexed by type
 * @extack: receives the error message
 *
 * Return: 0 or -EINVAL
 */
int hop_nla_options(u32 *values, const struct hop_nla_option *options, int max, struct nlattr **tb,
		    struct netlink_ext_ack *extack);

/**
 * hop_nla_put_options() - dump values
 * @skb: netlink message that the attributes are added to
 * @values: @max + 1 values, indexed by type
 * @options: the options, indexed by type
 * @max: greatest type
 *
 * Return: 0 or -EMSGSIZE
 */
int hop_nla_put_options(struct sk_buff *skb, const u32 *values,
			const struct hop_nla_option *options, int max);

/**
 * hop_nla_parse() - parse nested attributes
 * @tb: result: @max + 1 attributes, indexed by type
 * @max: greatest known type
 * @nest: the attribute that contains the others
 * @policy: the types
 * @extack: receives the error message
 *
 * Validation is strict, except that NLA_F_NESTED is not required: tc does not set it on
 * TCA_OPTIONS.
 *
 * Return: 0 or a negative error
 */
int hop_nla_parse(struct nlattr **tb, int max, const struct nlattr *nest,
		  const struct nla_policy *policy, struct netlink_ext_ack *extack);

/**
 * hop_nla_dump() - dump() of a qdisc
 * @sch: the qdisc
 * @skb: the message
 * @put: puts the options into the message; returns 0 or an error
 *
 * Return: the length of the message; an error, and no options are in it.
 */
int hop_nla_dump(struct Qdisc *sch, struct sk_buff *skb,
		 int (*put)(struct Qdisc *sch, struct sk_buff *skb));

#endif /* HOPCC_LIB_HOP_NLA_H */
