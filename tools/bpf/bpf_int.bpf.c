// SPDX-License-Identifier: GPL-2.0
/*
 * An example of a congestion control in BPF that uses INT telemetry: Reno, whose window does not
 * grow while a hop of the path has a queue. It takes the answers to net_int's probes.
 *
 *	make -C tools/bpf
 *	bpftool struct_ops register build/bpf/bpf_int.bpf.o
 *	sysctl net.hopcc.int_cc=bpf_int net.ipv4.tcp_congestion_control=bpf_int
 *	bpftool map dump name bpf_int.bss
 */
#include "tcp_ca.h"
#include <hopcc/int_bpf.h>

/* A record: speed code 4 bits, ns 24, txBytes 20, qlen 16. */
#define QLEN_MASK 0xffff
#define SPEED_SHIFT 60
/* A unit is 4 ns at the speed of the port, at 1 Gbit/s or more: this is a queue of 4 us. */
#define QUEUE_UNITS 1024
/* INT_ANSWER_RECORDS, and T until the kernel's own RTT is known. */
#define ANSWER_RECORDS 0
#define T_NS 1000000
#define WND_BYTES 100000
#define ETA 996147	/* 0.95 << 20 */

/* The values of all connections, for bpftool map dump. */
__u64 joined, answers, held, longest_qlen;
__u32 hops, speed_code;

SEC("struct_ops/bpf_int_init")
void BPF_PROG(bpf_int_init, struct sock *sk)
{
	if (!bpf_int_join(sk))
		joined++;
}

SEC("struct_ops/bpf_int_release")
void BPF_PROG(bpf_int_release, struct sock *sk)
{
	bpf_int_leave(sk);
}

/* The longest queue of the hops, in units of their records. */
static __u64 longest_queue(const struct int_bpf_answer *answer)
{
	__u64 longest = 0;
	__u32 i;

	for (i = 0; i < INT_BPF_RECORDS; i++) {
		__u64 qlen = answer->record[i] & QLEN_MASK;

		if (i < answer->records && qlen > longest)
			longest = qlen;
	}
	return longest;
}

/* Return: true if the newest answer reports a queue. Each answer is returned once. */
static bool path_is_queued(struct sock *sk)
{
	struct int_bpf_ask ask = {
		.t_ns = T_NS, .wnd_bytes = WND_BYTES, .wnd_max_bytes = 10 * WND_BYTES,
		.eta = ETA, .flows = 100, .kind = ANSWER_RECORDS,
	};
	struct int_bpf_answer answer = {};
	__u64 qlen;

	bpf_int_ask(sk, &ask);
	if (bpf_int_take(sk, &answer) != 1)
		return false;
	answers++;
	hops = answer.hops;
	speed_code = answer.record[0] >> SPEED_SHIFT;
	qlen = longest_queue(&answer);
	if (qlen > longest_qlen)
		longest_qlen = qlen;
	return qlen > QUEUE_UNITS;
}

SEC("struct_ops/bpf_int_cong_avoid")
void BPF_PROG(bpf_int_cong_avoid, struct sock *sk, __u32 ack, __u32 acked)
{
	if (path_is_queued(sk))
		held++;
	else
		tcp_reno_cong_avoid(sk, ack, acked);
}

SEC("struct_ops/bpf_int_ssthresh")
__u32 BPF_PROG(bpf_int_ssthresh, struct sock *sk)
{
	return tcp_reno_ssthresh(sk);
}

SEC("struct_ops/bpf_int_undo_cwnd")
__u32 BPF_PROG(bpf_int_undo_cwnd, struct sock *sk)
{
	return tcp_reno_undo_cwnd(sk);
}

SEC(".struct_ops")
struct tcp_congestion_ops bpf_int = {
	.init = (void *)bpf_int_init,
	.release = (void *)bpf_int_release,
	.cong_avoid = (void *)bpf_int_cong_avoid,
	.ssthresh = (void *)bpf_int_ssthresh,
	.undo_cwnd = (void *)bpf_int_undo_cwnd,
	.name = "bpf_int",
};

char _license[] SEC("license") = "GPL";
