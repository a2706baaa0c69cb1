// SPDX-License-Identifier: GPL-2.0
/* The frame of a congestion control: registration, network namespaces and knobs */
#include <hopcc/core/hop_cc.h>

/* Context: process. Return: 0, or the error of the registration. */
int hop_cc_start_net(struct net *net, const struct hop_cc *cc)
{
	struct hop_sysctl *hs = net_generic(net, *cc->net_id);
	int err;

	memcpy(hs + 1, cc->defaults, cc->defaults_bytes);
	err = hop_sysctl_start(net, hs, cc->knobs, hs);
	if (err || !cc->hooks)
		return err;
	err = nf_register_net_hooks(net, cc->hooks, HOP_CC_HOOKS);
	if (err)
		hop_sysctl_stop(hs);
	return err;
}
EXPORT_SYMBOL_GPL(hop_cc_start_net);

/* Context: process. A grace period passes before the module's code is freed. */
void hop_cc_leave_net(struct net *net, const struct hop_cc *cc)
{
	if (cc->hooks)
		nf_unregister_net_hooks(net, cc->hooks, HOP_CC_HOOKS);
	hop_sysctl_stop(net_generic(net, *cc->net_id));
}
EXPORT_SYMBOL_GPL(hop_cc_leave_net);

const struct sock *hop_cc_sender(const struct sk_buff *skb, const struct hop_cc *cc)
{
	const struct tcp_congestion_ops *ops;
	const struct sock *sk = skb->sk;

	lockdep_assert_in_rcu_read_lock();
	/* A SYN-ACK's owner is a connection request, whose listener has the congestion control. */
	if (sk && hop_peek(sk->sk_state) == TCP_NEW_SYN_RECV)
		sk = inet_reqsk(sk)->rsk_listener;
	if (!sk || !sk_fullsock(sk) || !sk_is_tcp(sk))
		return NULL;
	ops = hop_peek(inet_csk(sk)->icsk_ca_ops);
	return ops == cc->ops || ops == cc->reno ? sk : NULL;
}
EXPORT_SYMBOL_GPL(hop_cc_sender);

/* Context: process. Every socket that uses the module holds a reference, so no socket is left. */
void hop_cc_unregister(const struct hop_cc *cc, struct pernet_operations *nets)
{
	tcp_unregister_congestion_control(cc->ops);
	if (cc->reno)
		tcp_unregister_congestion_control(cc->reno);
	unregister_pernet_subsys(nets);
}
EXPORT_SYMBOL_GPL(hop_cc_unregister);

/* Context: process. Return: 0, or the error of the registration. */
int hop_cc_register(const struct hop_cc *cc, struct pernet_operations *nets)
{
	unsigned int i;
	int err;

	for (i = 0; cc->hooks && i < HOP_CC_HOOKS; i++)
		cc->hooks[i].priv = (void *)cc;
	err = register_pernet_subsys(nets);
	if (err)
		return err;
	if (cc->reno)
		err = tcp_register_congestion_control(cc->reno);
	if (err)
		goto no_reno;
	err = tcp_register_congestion_control(cc->ops);
	if (!err)
		return 0;
	if (cc->reno)
		tcp_unregister_congestion_control(cc->reno);
no_reno:
	unregister_pernet_subsys(nets);
	return err;
}
EXPORT_SYMBOL_GPL(hop_cc_register);
