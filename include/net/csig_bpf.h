/* SPDX-License-Identifier: GPL-2.0 */
/* What a congestion control in BPF reads of net_csig_tag: struct csig_signal in scalars. */
#ifndef HOPCC_NET_CSIG_BPF_H
#define HOPCC_NET_CSIG_BPF_H

#include <linux/types.h>

struct sock;

/**
 * struct csig_bpf_signal - see struct csig_signal
 * @low: the least value that @value stands for: kbit/s, ppm or ns, by signal
 * @high: the least above all that it stands for; all ones: no bound
 * @age_ns: time since it came
 * @count: how many came
 * @form: 1 compact, 2 expanded
 * @value: in the tag's units
 * @locator: of the bottleneck
 * @fed: whether the path takes tags, as far as is known
 */
struct csig_bpf_signal {
	__u64 low;
	__u64 high;
	__u64 age_ns;
	__u64 count;
	__u32 form;
	__u32 value;
	__u32 locator;
	__u32 fed;
};

int bpf_csig_read(struct sock *sk, __u32 type, struct csig_bpf_signal *s);

#endif /* HOPCC_NET_CSIG_BPF_H */
