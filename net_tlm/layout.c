// SPDX-License-Identifier: GPL-2.0
/*
 * Layouts of telemetry of other vendors, by generic netlink: uapi/hopcc/int_layout.h. A table is
 * validated by ntlm_check() before it replaces the old one.
 */
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <net/genetlink.h>
#include <uapi/hopcc/int_layout.h>

#include "net_tlm.h"

/* A write of one table at a time. */
static DEFINE_MUTEX(layout_lock);

static struct genl_family ntlm_family;

static int ntlm_layout_refuse(struct genl_info *info, const struct nlattr *attr, const char *text)
{
	NL_SET_BAD_ATTR(info->extack, attr);
	info->extack->_msg = text;
	return -EINVAL;
}

/* Return: the number of elements; negative: an error, which is reported. */
static int ntlm_count_of(struct genl_info *info, int attribute, size_t size, unsigned int max)
{
	const struct nlattr *attr = info->attrs[attribute];

	if (!attr)
		return 0;
	if (nla_len(attr) % size || nla_len(attr) / size > max)
		return ntlm_layout_refuse(info, attr, "no whole number of elements, or too many");
	return nla_len(attr) / size;
}

/* Reserved bytes may get a meaning in a later kernel, so they must be 0. */
static bool ntlm_fills_reserved(const struct int_layout *l)
{
	u32 i, pad = l->pad;

	for (i = 0; i < INT_LAYOUT_FIELDS; i++)
		pad |= l->field[i].pad;
	return pad;
}

static int ntlm_read_layouts(struct genl_info *info, struct ntlm_table *t,
			     struct int_layout *layout)
{
	const struct nlattr *attr = info->attrs[INT_LAYOUT_A_LAYOUTS];
	const char *fault;
	u32 i;

	memcpy(layout, nla_data(attr), nla_len(attr));
	for (i = 0; i < t->t.layouts; i++) {
		if (layout[i].flags & ~INT_LAYOUT_F_ALL)
			return ntlm_layout_refuse(info, attr, "unknown flag");
		if (ntlm_fills_reserved(&layout[i]))
			return ntlm_layout_refuse(info, attr, "a reserved byte is not 0");
		fault = ntlm_check(&layout[i]);
		if (fault)
			return ntlm_layout_refuse(info, attr, fault);
		t->formats |= BIT(layout[i].format);
	}
	return 0;
}

static int ntlm_read_ports(struct genl_info *info, struct ntlm_table *t,
			   struct int_layout_port *port)
{
	const struct nlattr *attr = info->attrs[INT_LAYOUT_A_PORTS];
	const char *fault;

	if (attr)
		memcpy(port, nla_data(attr), nla_len(attr));
	fault = ntlm_check_ports(port, t->t.ports);
	return fault ? ntlm_layout_refuse(info, attr, fault) : 0;
}

/* Return: the table in a message, validated, or an error, which is reported. */
static struct ntlm_table *ntlm_read_table(struct genl_info *info)
{
	const int layouts = ntlm_count_of(info, INT_LAYOUT_A_LAYOUTS, sizeof(struct int_layout),
					  INT_LAYOUT_MAX);
	const int ports = ntlm_count_of(info, INT_LAYOUT_A_PORTS, sizeof(struct int_layout_port),
					INT_LAYOUT_PORTS_MAX);
	const struct nlattr *schema = info->attrs[INT_LAYOUT_A_SCHEMA];
	struct int_layout *layout;
	struct ntlm_table *t;
	struct int_layout_port *port;
	int err;

	if (layouts < 0 || ports < 0)
		return ERR_PTR(-EINVAL);
	if (!layouts)
		return ERR_PTR(ntlm_layout_refuse(info, NULL, "no layout"));
	if (schema && nla_get_u32(schema) > IOAM_SCHEMA_MAX)
		return ERR_PTR(ntlm_layout_refuse(info, schema, "a schema ID has 24 bits"));
	t = kvzalloc(sizeof(*t) + layouts * sizeof(*layout) + ports * sizeof(*port),
		     GFP_KERNEL_ACCOUNT);
	if (!t)
		return ERR_PTR(-ENOMEM);
	layout = (struct int_layout *)(t + 1);
	port = (struct int_layout_port *)(layout + layouts);
	t->t = (struct tlm_table) {
		.layout = layout,
		.port = port,
		.layouts = layouts,
		.ports = ports,
		.trust_idle = info->attrs[INT_LAYOUT_A_TRUST_IDLE],
	};
	if (schema)
		t->t.schema = nla_get_u32(schema);
	err = ntlm_read_layouts(info, t, layout) ?: ntlm_read_ports(info, t, port);
	if (!err)
		return t;
	kvfree(t);
	return ERR_PTR(err);
}

/*
 * Replaces the table, and updates which packets the hooks look at. A packet is read by the old
 * table or by the new one.
 */
static void ntlm_layout_replace(struct net *net, struct ntlm_table *t)
{
	static u32 generation;
	struct ntlm_table *old;

	mutex_lock(&layout_lock);
	if (t)
		t->generation = ++generation ? generation : ++generation;
	old = rcu_replace_pointer(ntlm_net(net)->table, t, lockdep_is_held(&layout_lock));
	ntlm_hook(net);
	mutex_unlock(&layout_lock);
	if (old)
		kvfree_rcu(old, rcu);
}

static int ntlm_set_table(struct sk_buff *skb, struct genl_info *info)
{
	struct ntlm_table *t = ntlm_read_table(info);

	if (IS_ERR(t))
		return PTR_ERR(t);
	if (info->attrs[INT_LAYOUT_A_CHECK])
		kvfree(t);
	else
		ntlm_layout_replace(genl_info_net(info), t);
	return 0;
}

static int ntlm_del_table(struct sk_buff *skb, struct genl_info *info)
{
	ntlm_layout_replace(genl_info_net(info), NULL);
	return 0;
}

static int ntlm_put_table(struct sk_buff *msg, const struct tlm_table *t)
{
	if (nla_put(msg, INT_LAYOUT_A_LAYOUTS, t->layouts * sizeof(*t->layout), t->layout))
		return -EMSGSIZE;
	if (t->ports && nla_put(msg, INT_LAYOUT_A_PORTS, t->ports * sizeof(*t->port), t->port))
		return -EMSGSIZE;
	if (t->schema && nla_put_u32(msg, INT_LAYOUT_A_SCHEMA, t->schema))
		return -EMSGSIZE;
	return t->trust_idle ? nla_put_flag(msg, INT_LAYOUT_A_TRUST_IDLE) : 0;
}

static struct sk_buff *ntlm_build_reply(struct genl_info *info, const struct tlm_table *t)
{
	const size_t table_bytes = t->layouts * sizeof(*t->layout) + t->ports * sizeof(*t->port);
	struct sk_buff *msg = genlmsg_new(NLMSG_DEFAULT_SIZE + table_bytes, GFP_KERNEL);
	void *hdr;

	if (!msg)
		return ERR_PTR(-ENOMEM);
	hdr = genlmsg_put_reply(msg, info, &ntlm_family, 0, INT_LAYOUT_CMD_GET);
	if (hdr && !ntlm_put_table(msg, t)) {
		genlmsg_end(msg, hdr);
		return msg;
	}
	nlmsg_free(msg);
	return ERR_PTR(-EMSGSIZE);
}

static int ntlm_get_table(struct sk_buff *skb, struct genl_info *info)
{
	static const struct tlm_table builtin = {
		.layout = ntlm_builtin_layouts,
		.layouts = INT_LAYOUT_BUILTINS,
	};
	static const struct tlm_table none;
	const struct net *net = genl_info_net(info);
	const struct ntlm_table *t;
	struct sk_buff *msg;

	if (info->attrs[INT_LAYOUT_A_BUILTIN]) {
		msg = ntlm_build_reply(info, &builtin);
	} else {
		mutex_lock(&layout_lock);
		t = rcu_dereference_protected(ntlm_net(net)->table, lockdep_is_held(&layout_lock));
		msg = ntlm_build_reply(info, t ? &t->t : &none);
		mutex_unlock(&layout_lock);
	}
	return IS_ERR(msg) ? PTR_ERR(msg) : genlmsg_reply(msg, info);
}

static const struct nla_policy ntlm_policy[INT_LAYOUT_A_MAX + 1] = {
	[INT_LAYOUT_A_LAYOUTS] = { .type = NLA_BINARY },
	[INT_LAYOUT_A_PORTS] = { .type = NLA_BINARY },
	[INT_LAYOUT_A_SCHEMA] = { .type = NLA_U32 },
	[INT_LAYOUT_A_TRUST_IDLE] = { .type = NLA_FLAG },
	[INT_LAYOUT_A_CHECK] = { .type = NLA_FLAG },
	[INT_LAYOUT_A_BUILTIN] = { .type = NLA_FLAG },
};

static const struct genl_ops ntlm_ops[] = {
	{ .cmd = INT_LAYOUT_CMD_SET, .doit = ntlm_set_table, .flags = GENL_UNS_ADMIN_PERM },
	{ .cmd = INT_LAYOUT_CMD_DEL, .doit = ntlm_del_table, .flags = GENL_UNS_ADMIN_PERM },
	{ .cmd = INT_LAYOUT_CMD_GET, .doit = ntlm_get_table, .flags = GENL_UNS_ADMIN_PERM },
};

static struct genl_family ntlm_family __ro_after_init = {
	.name = INT_LAYOUT_GENL_NAME,
	.version = INT_LAYOUT_GENL_VERSION,
	.maxattr = INT_LAYOUT_A_MAX,
	.policy = ntlm_policy,
	.ops = ntlm_ops,
	.n_ops = ARRAY_SIZE(ntlm_ops),
	.netnsok = true,
	.module = THIS_MODULE,
};

int ntlm_layout_init(void)
{
	return genl_register_family(&ntlm_family);
}

void ntlm_layout_exit(void)
{
	genl_unregister_family(&ntlm_family);
}

void ntlm_layout_free(const struct net *net)
{
	/* No lock: netlink and hooks are gone, and a grace period has ended. */
	kvfree(rcu_dereference_protected(ntlm_net(net)->table, true));
}

MODULE_ALIAS_GENL_FAMILY(INT_LAYOUT_GENL_NAME);
