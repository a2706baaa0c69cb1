// SPDX-License-Identifier: GPL-2.0
/*
 * The counterpart of hopcc/flow/csig_flow.h for a congestion control in BPF. The kfunc is for
 * struct_ops programs, in particular tcp_congestion_ops; in other programs the socket lock is not
 * held.
 *
 * A program may forget to close a flow. So it holds no reference to the flow, which is looked up
 * with each call. There is nothing to open, because net.hopcc.csig_cc names the congestion control,
 * or a rule selects its flows.
 */
#include <linux/btf.h>
#include <linux/btf_ids.h>
#include <linux/module.h>
#include <uapi/hopcc/csig_bpf.h>

#include "net_csig_tag.h"

/* Context: RCU read lock. Return: false if no value has been received yet. */
static bool ctag_read_flow(struct sock *sk, u32 type, struct csig_signal *s, bool *fed)
{
	struct hop_flow *flow = hop_flow_of_sock(&ctag_carrier, sk);
	struct csig_flow *f;

	lockdep_assert_in_rcu_read_lock();
	if (!flow)
		return false;
	f = hop_flow_state(flow);
	*fed = ctag_flow_is_fed(f);
	return ctag_flow_read(f, type, s);
}

compat_kfunc_start_defs();

/**
 * bpf_csig_read() - read the latest value of a signal
 * @sk: a TCP socket
 * @type: 0: min(ABW), 1: min(ABW/C), 2: max(PD)
 * @s: result
 *
 * Context: socket lock held.
 * Return: 0; -EINVAL for an undefined type; -ENOENT if no value has been reflected yet.
 */
__bpf_kfunc int bpf_csig_read(struct sock *sk, u32 type, struct csig_bpf_signal *s)
{
	struct csig_signal one;
	bool found, fed = false;

	sock_owned_by_me(sk);
	if (type >= CSIG_TYPES)
		return -EINVAL;
	rcu_read_lock();
	found = ctag_read_flow(sk, type, &one, &fed);
	rcu_read_unlock();
	if (!found)
		return -ENOENT;
	*s = (struct csig_bpf_signal) {
		.low = one.low,
		.high = one.high,
		.age_ns = ktime_get_ns() - one.at_ns,
		.count = one.count,
		.form = one.form,
		.value = one.value,
		.locator = one.locator,
		.fed = fed,
	};
	return 0;
}

compat_kfunc_end_defs();

compat_kfunc_ids_start(ctag_kfunc_ids)
BTF_ID_FLAGS(func, bpf_csig_read, COMPAT_KF_TRUSTED)
compat_kfunc_ids_end(ctag_kfunc_ids)

static const struct btf_kfunc_id_set ctag_kfunc_set = {
	.owner = THIS_MODULE,
	.set = &ctag_kfunc_ids,
};

/* A module that was built without the kernel's vmlinux has no BTF, and then no kfunc. */
int ctag_kfunc_init(void)
{
	if (!THIS_MODULE->btf_data_size)
		return 0;
	return register_btf_kfunc_id_set(BPF_PROG_TYPE_STRUCT_OPS, &ctag_kfunc_set);
}
