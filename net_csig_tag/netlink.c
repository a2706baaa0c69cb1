// SPDX-License-Identifier: GPL-2.0
/* Dumps connections and their signals; see uapi/linux/csig_flow.h. */

#include <net/genetlink.h>
#include <uapi/linux/csig_flow.h>

#include "net_csig_tag.h"

static struct genl_family ctag_family;

/**
 * struct dump - state while flows are written into a message
 * @skb: the message
 * @cb: callback of the dump
 */
struct dump {
	struct sk_buff *skb;
	struct netlink_callback *cb;
};

static int ctag_put_signal(struct sk_buff *skb, enum csig_type type, const struct csig_signal *s)
{
	struct nlattr *nest = nla_nest_start(skb, CSIG_FLOW_ATTR_SIGNAL);

	if (!nest ||
	    nla_put_u32(skb, CSIG_FLOW_SIGNAL_TYPE, type) ||
	    nla_put_u32(skb, CSIG_FLOW_SIGNAL_FORM, s->form) ||
	    nla_put_u32(skb, CSIG_FLOW_SIGNAL_VALUE, s->value) ||
	    nla_put_u32(skb, CSIG_FLOW_SIGNAL_LOCATOR, s->locator) ||
	    nla_put_u64_64bit(skb, CSIG_FLOW_SIGNAL_LOW, s->low, CSIG_FLOW_SIGNAL_PAD) ||
	    nla_put_u64_64bit(skb, CSIG_FLOW_SIGNAL_HIGH, s->high, CSIG_FLOW_SIGNAL_PAD) ||
	    nla_put_u64_64bit(skb, CSIG_FLOW_SIGNAL_AGE, ktime_get_ns() - s->at_ns,
			      CSIG_FLOW_SIGNAL_PAD) ||
	    nla_put_u64_64bit(skb, CSIG_FLOW_SIGNAL_COUNT, s->count, CSIG_FLOW_SIGNAL_PAD))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int ctag_put_flow(struct sk_buff *skb, const struct hop_flow_key *key, struct csig_flow *f)
{
	struct csig_signal s;
	u32 type;

	if (nla_put(skb, CSIG_FLOW_ATTR_LOCAL, sizeof(key->local), &key->local) ||
	    nla_put(skb, CSIG_FLOW_ATTR_PEER, sizeof(key->peer), &key->peer) ||
	    nla_put_u16(skb, CSIG_FLOW_ATTR_LOCAL_PORT, ntohs(key->local_port)) ||
	    nla_put_u16(skb, CSIG_FLOW_ATTR_PEER_PORT, ntohs(key->peer_port)) ||
	    nla_put_u32(skb, CSIG_FLOW_ATTR_PATH, READ_ONCE(f->path.state)))
		return -EMSGSIZE;
	for (type = 0; type < CSIG_TYPES; type++)
		if (ctag_flow_read(f, type, &s) && ctag_put_signal(skb, type, &s))
			return -EMSGSIZE;
	return 0;
}

static bool ctag_dump_one(struct hop_flow *flow, void *what)
{
	const struct dump *d = what;
	void *head = genlmsg_put(d->skb, NETLINK_CB(d->cb->skb).portid, d->cb->nlh->nlmsg_seq,
				 &ctag_family, NLM_F_MULTI, CSIG_FLOW_GET);

	if (!head)
		return false;
	if (ctag_put_flow(d->skb, &flow->key, hop_flow_state(flow))) {
		genlmsg_cancel(d->skb, head);
		return false;
	}
	genlmsg_end(d->skb, head);
	return true;
}

static int ctag_dump_start(struct netlink_callback *cb)
{
	struct hop_flow_walk *walk = kmalloc(sizeof(*walk), GFP_KERNEL_ACCOUNT);

	if (!walk)
		return -ENOMEM;
	/* The socket holds a reference to its netns. */
	hop_flow_walk_open(walk, sock_net(cb->skb->sk));
	cb->args[0] = (long)walk;
	return 0;
}

static int ctag_dump_done(struct netlink_callback *cb)
{
	struct hop_flow_walk *walk = (struct hop_flow_walk *)cb->args[0];

	hop_flow_walk_close(walk);
	kfree(walk);
	return 0;
}

static int ctag_dump_flows(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct dump d = { .skb = skb, .cb = cb };

	hop_flow_walk((struct hop_flow_walk *)cb->args[0], &ctag_carrier, ctag_dump_one, &d);
	return skb->len;
}

static const struct genl_ops ctag_ops[] = {
	{
		.cmd = CSIG_FLOW_GET,
		.flags = GENL_UNS_ADMIN_PERM,
		.start = ctag_dump_start,
		.dumpit = ctag_dump_flows,
		.done = ctag_dump_done,
	},
};

static struct genl_family ctag_family = {
	.name = CSIG_FLOW_FAMILY,
	.version = CSIG_FLOW_VERSION,
	.netnsok = true,
	.module = THIS_MODULE,
	.ops = ctag_ops,
	.n_ops = ARRAY_SIZE(ctag_ops),
};

int ctag_netlink_init(void)
{
	return genl_register_family(&ctag_family);
}

void ctag_netlink_exit(void)
{
	genl_unregister_family(&ctag_family);
}
