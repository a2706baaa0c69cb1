// SPDX-License-Identifier: GPL-2.0
/* The frame of a congestion control: registration, network namespaces and knobs */
#include <hopcc/core/hop_cc.h>
#include <hopcc/core/hop_ect.h>
#include <hopcc/core/hop_output.h>

/* Congestion controls with ECN; hop_cc_output() reads them without a lock. */
static const struct hop_cc *hop_cc_with_ecn[2];

/* Return: false if no place of hop_cc_with_ecn has @from. */
static bool hop_cc_replace(const struct hop_cc *from, const struct hop_cc *to)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(hop_cc_with_ecn); i++)
		if (cmpxchg(&hop_cc_with_ecn[i], from, to) == from)
			return true;
	return false;
}

static void hop_cc_stop_output(const struct hop_cc *cc)
{
	if (hop_cc_replace(cc, NULL))
		hop_hook_release();
}

static int hop_cc_start_output(const struct hop_cc *cc)
{
	int err;

	if (!(cc->ops->flags & TCP_CONG_NEEDS_ECN))
		return 0;
	err = hop_hook_hold();
	if (!err && !hop_cc_replace(NULL, cc)) {
		hop_hook_release();
		err = -EBUSY;
	}
	return err;
}

/* Context: process. Return: 0, or the error of the registration. */
int hop_cc_start_net(struct net *net, const struct hop_cc *cc)
{
	struct hop_sysctl *hs = net_generic(net, *cc->net_id);

	memcpy(hs + 1, cc->defaults, cc->defaults_bytes);
	return hop_sysctl_start(net, hs, cc->knobs, hs);
}
EXPORT_SYMBOL_GPL(hop_cc_start_net);

/* Return: the congestion control with ECN that @sk has, or whose fallback it has; or NULL. */
static const struct hop_cc *hop_cc_of(const struct sock *sk)
{
	const struct tcp_congestion_ops *ops = hop_peek(inet_csk(sk)->icsk_ca_ops);
	const struct hop_cc *cc;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(hop_cc_with_ecn); i++) {
		cc = READ_ONCE(hop_cc_with_ecn[i]);
		if (cc && (ops == cc->ops || ops == cc->reno))
			return cc;
	}
	return NULL;
}

unsigned int hop_cc_output(struct sk_buff *skb, const struct nf_hook_state *state)
{
	const struct sock *sk = skb->sk;
	const struct hop_cc *cc;

	lockdep_assert_in_rcu_read_lock();
	/* A SYN-ACK's owner is a connection request, whose listener has the congestion control. */
	if (sk && hop_peek(sk->sk_state) == TCP_NEW_SYN_RECV)
		sk = inet_reqsk(sk)->rsk_listener;
	cc = hop_output_is_tcp(sk) ? hop_cc_of(sk) : NULL;
	if (!cc || !hop_ect_is_segment(skb) || hop_ect_output_syn(skb) || !cc->output)
		return NF_ACCEPT;
	return skb->sk == sk ? cc->output(skb, cc, state) : NF_ACCEPT;
}

/*
 * Context: process. Every socket that uses the module holds a reference, so no socket is left. A
 * grace period passes after hop_cc_stop_output().
 */
void hop_cc_unregister(const struct hop_cc *cc, struct pernet_operations *nets)
{
	hop_cc_stop_output(cc);
	tcp_unregister_congestion_control(cc->ops);
	if (cc->reno)
		tcp_unregister_congestion_control(cc->reno);
	unregister_pernet_subsys(nets);
}
EXPORT_SYMBOL_GPL(hop_cc_unregister);

/* Context: process. Return: 0, or the error of the registration. */
int hop_cc_register(const struct hop_cc *cc, struct pernet_operations *nets)
{
	int err = hop_cc_start_output(cc);

	if (err)
		return err;
	err = register_pernet_subsys(nets);
	if (err)
		goto no_nets;
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
no_nets:
	hop_cc_stop_output(cc);
	return err;
}
EXPORT_SYMBOL_GPL(hop_cc_register);
