// SPDX-License-Identifier: GPL-2.0
/*
 * An example of a congestion control in BPF that uses CSIG's signals: Reno, whose window does not
 * grow while the longest delay of a hop is above a target. A connection needs no more than a name
 * in the sysctl csig_cc.
 *
 *	make -C tools/bpf
 *	bpftool struct_ops register build/bpf/bpf_csig.bpf.o
 *	sysctl net.hopcc.csig_cc=bpf_csig net.ipv4.tcp_congestion_control=bpf_csig
 *	bpftool map dump name bpf_csig.bss
 */
#include "tcp_ca.h"
#include <hopcc/csig_bpf.h>

/* The signal max(PD): the longest delay of a packet in a hop, ns. */
#define MAX_DELAY 2
#define TARGET_NS 1000000

/* The values of all connections, for bpftool map dump. */
__u64 reads, held, longest_delay_ns, signals;

SEC("struct_ops/bpf_csig_cong_avoid")
void BPF_PROG(bpf_csig_cong_avoid, struct sock *sk, __u32 ack, __u32 acked)
{
	struct csig_bpf_signal signal = {};
	bool known = !bpf_csig_read(sk, MAX_DELAY, &signal);

	if (known) {
		reads++;
		signals = signal.count;
		if (signal.low > longest_delay_ns)
			longest_delay_ns = signal.low;
	}
	if (known && signal.low > TARGET_NS)
		held++;
	else
		tcp_reno_cong_avoid(sk, ack, acked);
}

SEC("struct_ops/bpf_csig_ssthresh")
__u32 BPF_PROG(bpf_csig_ssthresh, struct sock *sk)
{
	return tcp_reno_ssthresh(sk);
}

SEC("struct_ops/bpf_csig_undo")
__u32 BPF_PROG(bpf_csig_undo, struct sock *sk)
{
	return tcp_reno_undo_cwnd(sk);
}

SEC(".struct_ops")
struct tcp_congestion_ops bpf_csig = {
	.cong_avoid = (void *)bpf_csig_cong_avoid,
	.ssthresh = (void *)bpf_csig_ssthresh,
	.undo_cwnd = (void *)bpf_csig_undo,
	.name = "bpf_csig",
};

char _license[] SEC("license") = "GPL";
