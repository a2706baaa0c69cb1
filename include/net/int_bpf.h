/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a congestion control in BPF and net_int say to each other: the structures of
 * net/int_flow.h in scalars, which is what the verifier lets a program hand over.
 */
#ifndef HOPCC_NET_INT_BPF_H
#define HOPCC_NET_INT_BPF_H

#include <linux/types.h>

struct sock;

#define INT_BPF_RECORDS 15

/**
 * struct int_bpf_ask - what is wanted of the next probes; see struct int_ask
 * @t_ns: T, the base RTT
 * @wnd_bytes: the window
 * @wnd_max_bytes: the greatest window
 * @eta: target utilisation, 2^-20
 * @max_stage: up to 65535
 * @flows: N
 * @kind: enum int_answer_kind
 */
struct int_bpf_ask {
	__u32 t_ns;
	__u32 wnd_bytes;
	__u32 wnd_max_bytes;
	__u32 eta;
	__u32 max_stage;
	__u32 flows;
	__u32 kind;
};

/**
 * struct int_bpf_answer - what came back; see struct int_answer
 * @record: a hop each, as on the wire, in host order: from the highest bit on speed code
 *	4, ns 24, txBytes 20, qlen 16
 * @kind: enum int_answer_kind
 * @seq: snd_nxt when the probe had left
 * @flows: N of the last hop; 0: not told
 * @hops: nHop
 * @path_id: pathID
 * @index: of the hop that a summary is of
 * @records: valid in @record
 * @u: of a ratio, 2^-20
 * @tau_ns: of a ratio
 * @wnd_bytes: of a window
 */
struct int_bpf_answer {
	__u64 record[INT_BPF_RECORDS];
	__u32 kind;
	__u32 seq;
	__u32 flows;
	__u32 hops;
	__u32 path_id;
	__u32 index;
	__u32 records;
	__u32 u;
	__u32 tau_ns;
	__u32 wnd_bytes;
};

int bpf_int_join(struct sock *sk);
int bpf_int_ask(struct sock *sk, const struct int_bpf_ask *ask);
int bpf_int_take(struct sock *sk, struct int_bpf_answer *answer);
void bpf_int_leave(struct sock *sk);

#endif /* HOPCC_NET_INT_BPF_H */
