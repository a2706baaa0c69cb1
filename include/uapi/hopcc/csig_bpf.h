/* SPDX-License-Identifier: GPL-2.0 */
/* CSIG's signals for a congestion control in BPF: struct csig_signal as scalars. */
#ifndef HOPCC_UAPI_CSIG_BPF_H
#define HOPCC_UAPI_CSIG_BPF_H

#include <linux/types.h>
#include "bpf_kfunc.h"

struct sock;

/**
 * struct csig_bpf_signal - the latest value of a signal; see struct csig_signal
 * @low: lower bound of the values that @value stands for, inclusive: kbit/s, ppm or ns,
 *	depending on the signal
 * @high: upper bound, exclusive, in the same unit; all ones: no bound
 * @age_ns: time since the value arrived, ns
 * @count: number of values that arrived
 * @form: form of the tag: 1 compact, 2 expanded
 * @value: value in the tag's units
 * @locator: locator of the bottleneck; 0 if no hop wrote one
 * @fed: 0 if the path is known to strip tags, else 1
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

HOPCC_KFUNC int bpf_csig_read(struct sock *sk, __u32 type, struct csig_bpf_signal *s);

#endif /* HOPCC_UAPI_CSIG_BPF_H */
