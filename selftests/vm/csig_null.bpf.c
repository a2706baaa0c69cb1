// SPDX-License-Identifier: GPL-2.0
/* A congestion control that the verifier must refuse: a NULL pointer for the signal. */
#include "tcp_ca.h"
#include <hopcc/csig_bpf.h>

SEC("struct_ops/csig_null_cong_avoid")
void BPF_PROG(csig_null_cong_avoid, struct sock *sk, __u32 ack, __u32 acked)
{
	bpf_csig_read(sk, 0, NULL);
	tcp_reno_cong_avoid(sk, ack, acked);
}

SEC("struct_ops/csig_null_ssthresh")
__u32 BPF_PROG(csig_null_ssthresh, struct sock *sk)
{
	return tcp_reno_ssthresh(sk);
}

SEC("struct_ops/csig_null_undo")
__u32 BPF_PROG(csig_null_undo, struct sock *sk)
{
	return tcp_reno_undo_cwnd(sk);
}

SEC(".struct_ops")
struct tcp_congestion_ops csig_null = {
	.cong_avoid = (void *)csig_null_cong_avoid,
	.ssthresh = (void *)csig_null_ssthresh,
	.undo_cwnd = (void *)csig_null_undo,
	.name = "csig_null",
};

char _license[] SEC("license") = "GPL";
