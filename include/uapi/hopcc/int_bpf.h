/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The interface of net_int for a congestion control in BPF: the structures of hopcc/flow/int_flow.h
 * as scalars, since the verifier allows a program to pass only these.
 */
#ifndef HOPCC_UAPI_INT_BPF_H
#define HOPCC_UAPI_INT_BPF_H

#include <linux/types.h>
#include "bpf_kfunc.h"

struct sock;

#define INT_BPF_RECORDS 15

/**
 * struct int_bpf_ask - request for the next probes; see struct int_ask
 * @t_ns: T, the base RTT, ns
 * @wnd_bytes: the current window
 * @wnd_max_bytes: the largest window
 * @eta: target utilisation, in units of 2^-20
 * @max_stage: maxStage of HPCC++, 0 to 65535
 * @flows: N, the number of flows
 * @kind: the kind of answer wanted, enum int_answer_kind
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
 * struct int_bpf_answer - the answer to a probe; see struct int_answer
 * @record: records of the hops, as on the wire but in host order; from the highest bit on: speed
 *	code 4 bits, ns 24, txBytes 20, qlen 16
 * @kind: the kind of answer, enum int_answer_kind
 * @seq: snd_nxt when the probe was sent
 * @flows: N that the receiver counts on its last hop; 0 if not reported
 * @hops: nHop, number of hops
 * @path_id: pathID
 * @index: INT_ANSWER_SUMMARY: index of the hop that the record belongs to
 * @records: number of valid elements of @record
 * @u: INT_ANSWER_RATIO: u, the path's load, in units of 2^-20
 * @tau_ns: INT_ANSWER_RATIO: time over which @u was measured, ns
 * @wnd_bytes: INT_ANSWER_WINDOW: W, the window that the receiver computed
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

HOPCC_KFUNC int bpf_int_join(struct sock *sk);
HOPCC_KFUNC int bpf_int_ask(struct sock *sk, const struct int_bpf_ask *ask);
HOPCC_KFUNC int bpf_int_take(struct sock *sk, struct int_bpf_answer *answer);
HOPCC_KFUNC void bpf_int_leave(struct sock *sk);

#endif /* HOPCC_UAPI_INT_BPF_H */
