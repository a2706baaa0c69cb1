#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Programs of a congestion control in BPF that call net_int's kfuncs: the verifier must take
each. They are not run. Needs root and net_int loaded; exit 4 if the module has no BTF. The
programs go with the process.

Without libbpf: BTF is read, programs are written and loaded by hand.
"""
import ctypes
import os
import struct
import sys

SYS_BPF = 321
PROG_LOAD = 5
INFO_BY_FD, BTF_FD_BY_ID, BTF_NEXT_ID = 15, 19, 23
PROG_STRUCT_OPS = 27
STRUCT, FUNC = 4, 12
# Bytes that follow struct btf_type, by kind: fixed, and for each of vlen.
TRAIL = {1: (4, 0), 3: (12, 0), 4: (0, 12), 5: (0, 12), 6: (0, 8), 13: (0, 8), 14: (4, 0),
         15: (0, 12), 17: (4, 0), 19: (0, 12)}
LIBC = ctypes.CDLL(None, use_errno=True)
KEEP = []


def bpf(command, attr):
    buf = ctypes.create_string_buffer(attr, 160)
    got = LIBC.syscall(SYS_BPF, command, buf, len(buf))
    if got < 0:
        raise OSError(ctypes.get_errno(), f"bpf({command})")
    return got, buf.raw


def address(data):
    buf = ctypes.create_string_buffer(bytes(data), max(len(data), 1))
    KEEP.append(buf)
    return ctypes.addressof(buf)


class Btf:
    """Types of the kernel, or of a module on top of them."""

    def __init__(self, name, base=None):
        with open(f"/sys/kernel/btf/{name}", "rb") as file:
            data = file.read()
        _, _, _, head, type_at, type_len, str_at, str_len = struct.unpack_from("<HBBIIIII", data)
        self.base, self.strings = base, data[head + str_at:head + str_at + str_len]
        self.first = base.first + len(base.types) if base else 1
        self.str_first = base.str_first + len(base.strings) if base else 0
        self.types = []
        at, end = head + type_at, head + type_at + type_len
        while at < end:
            name_at, info, size = struct.unpack_from("<III", data, at)
            fixed, each = TRAIL.get(info >> 24 & 31, (0, 0))
            more = fixed + each * (info & 0xffff)
            self.types.append((info >> 24 & 31, name_at, size, data[at + 12:at + 12 + more]))
            at += 12 + more

    def text(self, at):
        if at < self.str_first:
            return self.base.text(at)
        at -= self.str_first
        return self.strings[at:self.strings.index(0, at)].decode()

    def find(self, kind, name):
        """(id, size, trail)"""
        for n, (what, name_at, size, trail) in enumerate(self.types):
            if what == kind and name_at >= self.str_first and self.text(name_at) == name:
                return self.first + n, size, trail
        raise LookupError(name)

    def members(self, trail):
        """name: (index, offset in bytes)"""
        rows = struct.iter_unpack("<III", trail)
        return {self.text(name): (n, (bits & 0xffffff) // 8)
                for n, (name, _, bits) in enumerate(rows)}


def module_fd(name):
    """A descriptor of a module's BTF."""
    number = 0
    while True:
        _, raw = bpf(BTF_NEXT_ID, struct.pack("<II", number, 0))
        number = struct.unpack_from("<I", raw, 4)[0]
        fd, _ = bpf(BTF_FD_BY_ID, struct.pack("<I", number))
        text = ctypes.create_string_buffer(64)
        info = ctypes.create_string_buffer(struct.pack("<QIIQII", 0, 0, 0,
                                                       ctypes.addressof(text), 64, 0))
        bpf(INFO_BY_FD, struct.pack("<IIQ", fd, 32, ctypes.addressof(info)))
        if text.value.decode() == name:
            return fd
        os.close(fd)


def insn(code, dst=0, src=0, off=0, imm=0):
    return struct.pack("<BBhi", code, src << 4 | dst, off, imm)


EXIT = insn(0x95)


def mov(dst, imm):
    return insn(0xb7, dst, imm=imm)


def call(kfunc):
    """Of the BTF at index 1 of fd_array."""
    return insn(0x85, src=2, off=1, imm=kfunc)


def stack(dst, offset):
    """dst = r10 + offset"""
    return insn(0xbf, dst, 10) + insn(0x07, dst, imm=offset)


ASK, ANSWER = -32, -32 - 160


def programs(kfunc):
    sock = insn(0x79, 1, 1)             # r1 = *(u64 *)(r1 + 0)
    keep, back = insn(0xbf, 6, 1), insn(0xbf, 1, 6)
    ask = b"".join(insn(0x62, 10, off=ASK + 4 * n, imm=value) for n, value in enumerate(
        (1000000, 100000, 1000000, 996147, 0, 100, 0)))
    # An answer of before is of no use: r0 is the result.
    return {
        "init": sock + call(kfunc["bpf_int_join"]) + EXIT,
        "release": sock + call(kfunc["bpf_int_leave"]) + mov(0, 0) + EXIT,
        "ssthresh": mov(0, 20) + EXIT,
        "undo_cwnd": mov(0, 20) + EXIT,
        "cong_avoid": sock + keep + ask + stack(2, ASK) + call(kfunc["bpf_int_ask"]) + back +
        stack(2, ANSWER) + call(kfunc["bpf_int_take"]) + EXIT,
    }


def load(code, member, ops_id, fds):
    log = ctypes.create_string_buffer(1 << 16)
    attr = struct.pack("<IIQQIIQII16sIIIIQIIQIIIIQ", PROG_STRUCT_OPS, len(code) // 8, address(code),
                       address(b"GPL\0"), 1, len(log), ctypes.addressof(log), 0, 0, b"int", 0,
                       member, 0, 0, 0, 0, 0, 0, 0, ops_id, 0, 0, fds)
    try:
        return bpf(PROG_LOAD, attr)[0]
    except OSError:
        print(log.value.decode()[-2000:])
        raise


def load_all():
    """As the operations of a tcp_congestion_ops."""
    vmlinux = Btf("vmlinux")
    module = Btf("net_int", vmlinux)
    kfunc = {name: module.find(FUNC, name)[0] for name in
             ("bpf_int_join", "bpf_int_ask", "bpf_int_take", "bpf_int_leave")}
    ops_id, _, trail = vmlinux.find(STRUCT, "tcp_congestion_ops")
    members = vmlinux.members(trail)
    fds = address(struct.pack("<ii", 0, module_fd("net_int")))
    for name, code in programs(kfunc).items():
        load(code, members[name][0], ops_id, fds)
        print("loaded:", name)


def main():
    if not os.path.exists("/sys/kernel/btf/net_int"):
        print("net_int has no BTF here")
        return 4
    load_all()
    return 0


if __name__ == "__main__":
    sys.exit(main())
