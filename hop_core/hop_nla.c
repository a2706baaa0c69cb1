// SPDX-License-Identifier: GPL-2.0
/* Netlink options of qdiscs; see hopcc/lib/hop_nla.h. */

#include <linux/module.h>
#include <hopcc/lib/hop_drain.h>
#include <hopcc/lib/hop_nla.h>

int hop_nla_refuse(struct netlink_ext_ack *extack, const struct nlattr *attr, const char *message)
{
	NL_SET_BAD_ATTR(extack, attr);
	if (extack)
		extack->_msg = message;
	return -EINVAL;
}
EXPORT_SYMBOL_GPL(hop_nla_refuse);

int hop_nla_u32(u32 *value, u32 min, u32 max, const struct nlattr *attr, const char *message,
		struct netlink_ext_ack *extack)
{
	if (!attr)
		return 0;
	if (nla_get_u32(attr) < min || nla_get_u32(attr) > max)
		return hop_nla_refuse(extack, attr, message);
	*value = nla_get_u32(attr);
	return 0;
}
EXPORT_SYMBOL_GPL(hop_nla_u32);

int hop_nla_rate(u64 *rate_bytes_ps, const struct nlattr *attr, struct netlink_ext_ack *extack)
{
	const u64 rate = attr ? nla_get_u64(attr) : *rate_bytes_ps;

	if (rate && (rate < HOP_DRAIN_RATE_MIN_BYTES_PS || rate > HOP_DRAIN_RATE_MAX_BYTES_PS))
		return hop_nla_refuse(extack, attr, "rate must be 10kbit to 1600gbit, or auto");
	*rate_bytes_ps = rate;
	return 0;
}
EXPORT_SYMBOL_GPL(hop_nla_rate);

void hop_nla_defaults(u32 *values, const struct hop_nla_option *options, int max)
{
	int i;

	for (i = 0; i <= max; i++)
		values[i] = options[i].initial;
}
EXPORT_SYMBOL_GPL(hop_nla_defaults);

int hop_nla_options(u32 *values, const struct hop_nla_option *options, int max, struct nlattr **tb,
		    struct netlink_ext_ack *extack)
{
	int i, err = 0;

	for (i = 0; i <= max && !err; i++)
		if (options[i].refusal)
			err = hop_nla_u32(&values[i], options[i].min, options[i].max, tb[i],
					  options[i].refusal, extack);
	return err;
}
EXPORT_SYMBOL_GPL(hop_nla_options);

int hop_nla_put_options(struct sk_buff *skb, const u32 *values,
			const struct hop_nla_option *options, int max)
{
	int i, err = 0;

	for (i = 0; i <= max && !err; i++)
		if (options[i].refusal)
			err = nla_put_u32(skb, i, values[i]);
	return err;
}
EXPORT_SYMBOL_GPL(hop_nla_put_options);

int hop_nla_parse(struct nlattr **tb, int max, const struct nlattr *nest,
		  const struct nla_policy *policy, struct netlink_ext_ack *extack)
{
	return __nla_parse(tb, max, nla_data(nest), nla_len(nest), policy,
			   NL_VALIDATE_STRICT & ~NL_VALIDATE_NESTED, extack);
}
EXPORT_SYMBOL_GPL(hop_nla_parse);
