/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's structures that a congestion control in BPF needs, in part: libbpf finds members
 * by their names in the kernel's BTF, so that neither vmlinux.h nor a certain kernel is needed to
 * build.
 */
#ifndef HOPCC_TOOLS_BPF_TCP_CA_H
#define HOPCC_TOOLS_BPF_TCP_CA_H

#include <stdbool.h>
#include <linux/types.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

/*
 * Defined and not only declared, since its kind in the BTF must be the kernel's. Add members as
 * you need them.
 */
struct sock_common {
	unsigned short skc_family;
} __attribute__((preserve_access_index));

struct sock {
	struct sock_common __sk_common;
} __attribute__((preserve_access_index));

struct tcp_congestion_ops {
	__u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, __u32 ack, __u32 acked);
	__u32 (*undo_cwnd)(struct sock *sk);
	void (*init)(struct sock *sk);
	void (*release)(struct sock *sk);
	char name[16];
};

/* Reno's functions, which the kernel exports to BPF. */
__u32 tcp_reno_ssthresh(struct sock *sk) __ksym;
void tcp_reno_cong_avoid(struct sock *sk, __u32 ack, __u32 acked) __ksym;
__u32 tcp_reno_undo_cwnd(struct sock *sk) __ksym;

#endif /* HOPCC_TOOLS_BPF_TCP_CA_H */
