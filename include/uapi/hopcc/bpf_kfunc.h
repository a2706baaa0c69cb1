/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HOPCC_UAPI_BPF_KFUNC_H
#define HOPCC_UAPI_BPF_KFUNC_H

/* In a BPF program a kfunc is an external symbol that libbpf finds in the modules' BTF. */
#ifdef __bpf__
#define HOPCC_KFUNC extern __attribute__((section(".ksyms")))
#else
#define HOPCC_KFUNC
#endif

#endif /* HOPCC_UAPI_BPF_KFUNC_H */
