// SPDX-License-Identifier: GPL-2.0
/*
 * The counterpart of hopcc/flow/int_flow.h for a congestion control in BPF. The kfuncs are for
 * struct_ops programs, in particular tcp_congestion_ops; in other programs the socket lock is not
 * held.
 *
 * A program may forget to leave. So it holds no reference to the flow, which is looked up with each
 * call and removed with its socket. The program collects records only with probes, because they
 * need no reserved room.
 */
#include <linux/btf.h>
#include <linux/btf_ids.h>
#include <linux/module.h>
#include <uapi/hopcc/int_bpf.h>

#include "net_int.h"

static_assert(INT_BPF_RECORDS == INT_SLOTS_MAX);

/* Context: RCU read lock. Return: the flow that @sk has joined, or NULL. */
static struct int_flow *nint_flow_of(struct sock *sk)
{
	struct hop_flow_key key;
	struct hop_flow *flow;
	struct int_flow *f;

	lockdep_assert_in_rcu_read_lock();
	hop_flow_key_of_sock(&key, &nint_flow_kind, sk);
	flow = hop_flow_find(&key);
	if (!flow)
		return NULL;
	f = hop_flow_state(flow);
	return READ_ONCE(f->sk) == sk && READ_ONCE(f->lent) ? f : NULL;
}

static void nint_kfunc_copy_answer(struct int_bpf_answer *to, const struct int_answer *a)
{
	unsigned int i;

	*to = (struct int_bpf_answer) {
		.kind = a->kind,
		.seq = a->seq,
		.flows = a->flows,
		.hops = a->hops,
		.path_id = a->path_id,
	};
	switch (a->kind) {
	case INT_ANSWER_RECORDS:
		to->records = int_records(&a->hdr);
		for (i = 0; i < to->records; i++)
			to->record[i] = be64_to_cpu(a->hdr.record[i]);
		break;
	case INT_ANSWER_SUMMARY:
		to->index = a->index;
		to->records = 1;
		to->record[0] = be64_to_cpu(int_pack(&a->record));
		break;
	case INT_ANSWER_RATIO:
		to->u = a->u;
		to->tau_ns = a->tau_ns;
		break;
	case INT_ANSWER_WINDOW:
		to->wnd_bytes = a->wnd_bytes;
		break;
	}
}

compat_kfunc_start_defs();

/**
 * bpf_int_join() - start to use telemetry on a connection
 * @sk: the socket, established or finishing its handshake
 *
 * Context: socket lock held.
 * Return: 0; -ENOENT without telemetry on this connection; -EBUSY if another congestion control
 * uses it.
 */
__bpf_kfunc int bpf_int_join(struct sock *sk)
{
	sock_owned_by_me(sk);
	return nint_flow_join(sk);
}

/**
 * bpf_int_ask() - set what the next probes request
 * @sk: the socket of bpf_int_join()
 * @ask: the request; is copied
 *
 * Context: socket lock held.
 * Return: 0; -EINVAL if a value is out of range; -ENOENT if the socket has not joined or has left.
 */
__bpf_kfunc int bpf_int_ask(struct sock *sk, const struct int_bpf_ask *ask)
{
	struct int_ask one = {
		.t_ns = ask->t_ns,
		.wnd_bytes = ask->wnd_bytes,
		.wnd_max_bytes = ask->wnd_max_bytes,
		.eta = ask->eta,
		.max_stage = ask->max_stage,
		.flows = ask->flows,
		.kind = ask->kind,
	};
	struct int_flow *f;

	sock_owned_by_me(sk);
	if (!ask->t_ns || ask->kind > INT_ANSWER_WINDOW || ask->max_stage > U16_MAX)
		return -EINVAL;
	rcu_read_lock();
	f = nint_flow_of(sk);
	if (f)
		nint_flow_ask(f, &one);
	rcu_read_unlock();
	return f ? 0 : -ENOENT;
}

/**
 * bpf_int_take() - take the latest answer; each answer is returned once
 * @sk: the socket of bpf_int_join()
 * @answer: result
 *
 * Context: socket lock held.
 * Return: 1 if an answer was received since the last call, otherwise 0; -ENOENT as bpf_int_ask(),
 * or if the peer does not answer any more.
 */
__bpf_kfunc int bpf_int_take(struct sock *sk, struct int_bpf_answer *answer)
{
	struct int_answer a;
	struct int_flow *f;
	int got = -ENOENT;

	sock_owned_by_me(sk);
	rcu_read_lock();
	f = nint_flow_of(sk);
	if (f && nint_flow_peer(f) == HOP_PEER_SUPPORTED)
		got = nint_flow_take(f, &a);
	rcu_read_unlock();
	if (got == 1)
		nint_kfunc_copy_answer(answer, &a);
	return got;
}

/**
 * bpf_int_leave() - stop using telemetry on a connection
 * @sk: the socket of bpf_int_join()
 *
 * Context: socket lock held.
 */
__bpf_kfunc void bpf_int_leave(struct sock *sk)
{
	sock_owned_by_me(sk);
	nint_flow_leave(sk);
}

compat_kfunc_end_defs();

compat_kfunc_ids_start(int_kfunc_ids)
BTF_ID_FLAGS(func, bpf_int_join, COMPAT_KF_TRUSTED)
BTF_ID_FLAGS(func, bpf_int_ask, COMPAT_KF_TRUSTED)
BTF_ID_FLAGS(func, bpf_int_take, COMPAT_KF_TRUSTED)
BTF_ID_FLAGS(func, bpf_int_leave, COMPAT_KF_TRUSTED)
compat_kfunc_ids_end(int_kfunc_ids)

static const struct btf_kfunc_id_set nint_kfunc_set = {
	.owner = THIS_MODULE,
	.set = &int_kfunc_ids,
};

/* A module that was built without the kernel's vmlinux has no BTF, and then no kfuncs. */
int nint_kfunc_init(void)
{
	if (!THIS_MODULE->btf_data_size)
		return 0;
	return register_btf_kfunc_id_set(BPF_PROG_TYPE_STRUCT_OPS, &nint_kfunc_set);
}
