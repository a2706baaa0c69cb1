#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""A congestion control in BPF that calls net_csig_tag's kfunc: the verifier must take it. It is
not run. Needs root and net_csig_tag loaded; exit 4 if the module has no BTF."""
import os
import struct
import sys

from int_kfunc import EXIT, FUNC, STRUCT, Btf, address, call, insn, load, module_fd, mov, stack

SIGNAL = -48


def main():
    if not os.path.exists("/sys/kernel/btf/net_csig_tag"):
        print("net_csig_tag has no BTF here")
        return 4
    vmlinux = Btf("vmlinux")
    kfunc = Btf("net_csig_tag", vmlinux).find(FUNC, "bpf_csig_read")[0]
    ops_id, _, trail = vmlinux.find(STRUCT, "tcp_congestion_ops")
    fds = address(struct.pack("<ii", 0, module_fd("net_csig_tag")))
    # r1 = *(u64 *)(r1 + 0): the socket
    code = insn(0x79, 1, 1) + mov(2, 0) + stack(3, SIGNAL) + call(kfunc) + EXIT
    load(code, vmlinux.members(trail)["cong_avoid"][0], ops_id, fds)
    print("loaded: cong_avoid")
    # A signal must have its place: the verifier looks.
    try:
        load(insn(0x79, 1, 1) + mov(2, 0) + mov(3, 0) + call(kfunc) + EXIT,
             vmlinux.members(trail)["cong_avoid"][0], ops_id, fds)
    except OSError:
        print("refused: no place for the result")
        return 0
    return 1


if __name__ == "__main__":
    sys.exit(main())
