/* SPDX-License-Identifier: GPL-2.0 */
/* Attributes of a request, and the error messages for refused ones */
#ifndef FUZZ_SHIM_LINUX_NETLINK_H
#define FUZZ_SHIM_LINUX_NETLINK_H

#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/types.h>
#include <string.h>

struct sk_buff;
struct nla_policy;

struct nlattr {
	u16 nla_len;
	u16 nla_type;
};

struct netlink_ext_ack {
	const char *_msg;
	const struct nlattr *bad_attr;
};

#define NL_SET_BAD_ATTR(extack, attr) do {	\
	if (extack)				\
		(extack)->bad_attr = (attr);	\
} while (0)

#define NL_VALIDATE_STRICT	0x1f
#define NL_VALIDATE_NESTED	0x08

static inline const void *nla_data(const struct nlattr *attr)
{
	return attr + 1;
}

static inline int nla_len(const struct nlattr *attr)
{
	return attr->nla_len - sizeof(*attr);
}

static inline u32 nla_get_u32(const struct nlattr *attr)
{
	u32 value;

	memcpy(&value, nla_data(attr), sizeof(value));
	return value;
}

static inline u64 nla_get_u64(const struct nlattr *attr)
{
	u64 value;

	memcpy(&value, nla_data(attr), sizeof(value));
	return value;
}

/* No fuzzer dumps options or parses whole requests: the kernel's own code does that. */
static inline int nla_put_u32(struct sk_buff *skb, int type, u32 value)
{
	return -EMSGSIZE;
}

static inline int __nla_parse(struct nlattr **tb, int max, const void *head, int bytes,
			      const struct nla_policy *policy, unsigned int validate,
			      struct netlink_ext_ack *extack)
{
	return -EINVAL;
}

#endif
