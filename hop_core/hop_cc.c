// SPDX-License-Identifier: GPL-2.0
/* The frame of a congestion control: registration, network namespaces and knobs */
#include <linux/module.h>
#include <hopcc/core/hop_cc.h>

/* proc_handler of a struct hop_cc_gain */
int hop_cc_set_gain(compat_ctl_table *table, int write, void *buffer, size_t *len, loff_t *pos)
{
	struct hop_cc_gain *gain = container_of(table->data, struct hop_cc_gain, ppm);
	int err = proc_douintvec_minmax(table, write, buffer, len, pos);

	if (!err && write)
		WRITE_ONCE(gain->value, hop_wnd_of_ppm(READ_ONCE(gain->ppm)));
	return err;
}
EXPORT_SYMBOL_GPL(hop_cc_set_gain);

/* Context: process. Return: 0, or the error of the registration. */
int hop_cc_start_net(struct net *net, const struct hop_cc *cc)
{
	struct hop_sysctl *hs = net_generic(net, *cc->net_id);
	int err;

	memcpy(hs + 1, cc->defaults, cc->defaults_bytes);
	err = hop_sysctl_start(net, hs, cc->knobs, hs);
	if (err || !cc->hook)
		return err;
	err = hop_hook_start_cc(net, cc->hook);
	if (err)
		hop_sysctl_stop(hs);
	return err;
}
EXPORT_SYMBOL_GPL(hop_cc_start_net);

/* Context: process. A grace period passes before the module's code is freed. */
void hop_cc_leave_net(struct net *net, const struct hop_cc *cc)
{
	if (cc->hook)
		hop_hook_stop_cc(net, cc->hook);
}
EXPORT_SYMBOL_GPL(hop_cc_leave_net);

/* Context: process. */
void hop_cc_stop_net(struct net *net, const struct hop_cc *cc)
{
	hop_sysctl_stop(net_generic(net, *cc->net_id));
}
EXPORT_SYMBOL_GPL(hop_cc_stop_net);

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
	int err = register_pernet_subsys(nets);

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
