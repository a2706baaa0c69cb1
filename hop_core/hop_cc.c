// SPDX-License-Identifier: GPL-2.0
/* The frame of a congestion control: registration, network namespaces and knobs */
#include <hopcc/core/hop_cc.h>
#include <hopcc/core/hop_ect.h>

static void hop_cc_stop_output(const struct hop_cc *cc)
{
	if (hop_ect_replace(cc, NULL))
		hop_hook_release();
}

static int hop_cc_start_output(const struct hop_cc *cc)
{
	int err;

	if (!(cc->ops->flags & TCP_CONG_NEEDS_ECN))
		return 0;
	err = hop_hook_hold();
	if (!err && !hop_ect_replace(NULL, cc)) {
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
