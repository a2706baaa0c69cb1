#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Congestion controls in BPF that use the kfuncs of net_int and of net_csig_tag, and a connection
with each.

    kfuncs.py ADDRESS           address of stream.py, behind a hop with sch_int and sch_csig

Needs root, both modules with BTF, "bpf_int" in net.hopcc.int_cc, "bpf_csig" in csig_cc.
This does not use libbpf: it parses BTF, and builds and loads the programs by itself.
"""
import contextlib
import ctypes
import os
import socket
import struct
import sys
import zlib

SYS_BPF = 321
MAP_CREATE, MAP_LOOKUP, MAP_UPDATE, MAP_DELETE, PROG_LOAD = 0, 1, 2, 3, 5
INFO_BY_FD, BTF_LOAD, BTF_FD_BY_ID, BTF_NEXT_ID = 15, 18, 19, 23
MAP_ARRAY, MAP_STRUCT_OPS = 2, 26
PROG_STRUCT_OPS = 27
PORT = 5001                 # port of stream.py
STRUCT, FUNC = 4, 12
# Number of bytes behind struct btf_type, by kind: fixed part, and part for each of vlen.
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
    """The BTF types of the kernel, or of a module on top of them."""

    def __init__(self, name, base=None):
        with open(f"/sys/kernel/btf/{name}", "rb") as file:
            data = file.read()
        _, _, _, head, type_at, type_len, str_at, str_len = struct.unpack_from("<HBBIIIII", data)
        self.data, self.base = data, base
        self.strings = data[head + str_at:head + str_at + str_len]
        self.first = base.first + len(base.places) if base else 1
        self.str_first = base.str_first + len(base.strings) if base else 0
        self.places = []
        at, end = head + type_at, head + type_at + type_len
        word = struct.Struct("<I").unpack_from
        while at < end:
            self.places.append(at)
            info, = word(data, at + 4)
            fixed, each = TRAIL.get(info >> 24 & 31, (0, 0))
            at += 12 + fixed + each * (info & 0xffff)

    def text(self, at):
        if at < self.str_first:
            return self.base.text(at)
        at -= self.str_first
        return self.strings[at:self.strings.index(0, at)].decode()

    def find(self, kind, name):
        """Return (id, size, offset of the members, number of members)."""
        want = self.str_first + self.strings.index(b"\0" + name.encode() + b"\0") + 1
        read = struct.Struct("<III").unpack_from
        for n, at in enumerate(self.places):
            name_at, info, size = read(self.data, at)
            if name_at == want and info >> 24 & 31 == kind:
                return self.first + n, size, at + 12, info & 0xffff
        raise LookupError(name)

    def members(self, at, count):
        """Return {name: (index, offset in bytes)}."""
        rows = [struct.unpack_from("<III", self.data, at + 12 * n) for n in range(count)]
        return {self.text(name): (n, (bits & 0xffffff) // 8)
                for n, (name, _, bits) in enumerate(rows)}


def module_fd(name):
    """Return a file descriptor of a module's BTF."""
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


def call(kfunc, index=0):
    """Call a kfunc of vmlinux, or of the BTF at an index of fd_array."""
    return insn(0x85, src=2, off=index, imm=kfunc)


def stack(dst, offset):
    """dst = r10 + offset"""
    return insn(0xbf, dst, 10) + insn(0x07, dst, imm=offset)


def load_u64(dst, src, offset):
    return insn(0x79, dst, src, offset)


def store_u64(base, offset, src):
    return insn(0x7b, base, src, offset)


def value_of(dst, fd):
    """dst = &value of the only element of an array map"""
    return insn(0x18, dst, 2, imm=fd) + insn(0)


def add_one(base, offset):
    return load_u64(2, base, offset) + insn(0x07, 2, imm=1) + store_u64(base, offset, 2)


def if_result(result, then):
    """Run `then` if r0 equals result."""
    return insn(0x55, 0, off=len(then) // 8, imm=result) + then


def if_greater(a, b, then):
    """Run `then` if register a is greater than b, unsigned."""
    return insn(0xbd, a, b, off=len(then) // 8) + then


def create_map(kind, value_bytes, name, more=b""):
    attr = struct.pack("<IIIIIII16sI", kind, 4, value_bytes, 1, 0, 0, 0, name, 0) + more
    return bpf(MAP_CREATE, attr)[0]


def element(command, fd, value=0):
    bpf(command, struct.pack("<IIQQQ", fd, 0, address(bytes(4)), value, 0))


def own_btf():
    """Load BTF of the program, which the kernel requires for a struct_ops map besides its own."""
    types, strings = struct.pack("<IIII", 1, 1 << 24, 4, 32), b"\0int\0"
    data = struct.pack("<HBBIIIII", 0xeb9f, 1, 0, 24, 0, len(types), len(types), len(strings))
    data += types + strings
    return bpf(BTF_LOAD, struct.pack("<QQIII", address(data), 0, len(data), 0, 0))[0]


def load(code, member, ops_id, fds):
    log = ctypes.create_string_buffer(1 << 16)
    attr = struct.pack("<IIQQIIQII16sIIIIQIIQIIIIQ", PROG_STRUCT_OPS, len(code) // 8, address(code),
                       address(b"GPL\0"), 1, len(log), ctypes.addressof(log), 0, 0, b"hopcc", 0,
                       member, 0, 0, 0, 0, 0, 0, 0, ops_id, 0, 0, fds)
    try:
        return bpf(PROG_LOAD, attr)[0]
    except OSError:
        print(log.value.decode()[-2000:])
        raise


class Counts:
    """A map of 64-bit words that programs write and this script reads."""

    def __init__(self, words):
        self.words, self.fd = words, create_map(MAP_ARRAY, 8 * words, b"counts")

    def read(self):
        value = ctypes.create_string_buffer(8 * self.words)
        element(MAP_LOOKUP, self.fd, ctypes.addressof(value))
        return struct.unpack(f"<{self.words}Q", value.raw)


class Kernel:
    """The BTF types of the kernel and of our modules."""

    def __init__(self, *modules):
        self.vmlinux = Btf("vmlinux")
        self.modules = [Btf(name, self.vmlinux) for name in modules]
        self.ops_id, _, *members = self.vmlinux.find(STRUCT, "tcp_congestion_ops")
        self.members = self.vmlinux.members(*members)
        fds = [module_fd(name) for name in modules]
        self.fds = address(struct.pack(f"<{1 + len(fds)}i", 0, *fds))

    def call(self, name):
        """Call a kfunc of the first BTF that has it."""
        for n, module in enumerate(self.modules):
            with contextlib.suppress(LookupError, ValueError):
                return call(module.find(FUNC, name)[0], n + 1)
        raise LookupError(name)

    def reno(self, name):
        return call(self.vmlinux.find(FUNC, "tcp_reno_" + name)[0])

    def load(self, member, code):
        return load(code, self.members[member][0], self.ops_id, self.fds)

    @contextlib.contextmanager
    def congestion_control(self, name, programs):
        """Register a congestion control in a `with` block; its other functions are Reno's."""
        sock = load_u64(1, 1, 0)
        programs.setdefault("ssthresh", sock + self.reno("ssthresh") + EXIT)
        programs.setdefault("undo_cwnd", sock + self.reno("undo_cwnd") + EXIT)
        value_id, size, *parts = self.vmlinux.find(STRUCT, "bpf_struct_ops_tcp_congestion_ops")
        ops_at = self.vmlinux.members(*parts)["data"][1]
        value = bytearray(size)
        for member, code in programs.items():
            struct.pack_into("<Q", value, ops_at + self.members[member][1], self.load(member, code))
        struct.pack_into("16s", value, ops_at + self.members["name"][1], name)
        fd = create_map(MAP_STRUCT_OPS, size, b"ops",
                        struct.pack("<IIII", own_btf(), 0, 0, value_id))
        element(MAP_UPDATE, fd, address(value))
        try:
            yield
        finally:
            element(MAP_DELETE, fd)


def transfer(to, name, total):
    """Send data with a congestion control to stream.py. Return True if it reports intact data."""
    data = os.urandom(total)
    with socket.socket(socket.AF_INET6 if ":" in to else socket.AF_INET) as sock:
        sock.settimeout(60)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name)
        sock.connect((to, PORT))
        sock.sendall(data + struct.pack("!I", zlib.crc32(data)))
        sock.shutdown(socket.SHUT_WR)
        return sock.recv(2) == b"ok"


# Offsets on the stack: struct int_bpf_ask; int_bpf_answer, its first record and nHop;
# csig_bpf_signal, its lowest value and its count.
ASK, ANSWER, SIGNAL = -32, -32 - 160, -48
RECORD_AT, HOPS_AT, LOW_AT, COUNT_AT = ANSWER, ANSWER + 132, SIGNAL, SIGNAL + 24
MAX_DELAY = 2               # the signal max(PD)
PACKET_NS = 240000          # a packet time at the hop's 50 Mbit/s; a queue causes more delay
# cong_avoid: r6 points to its arguments, the first of which is the socket.
KEEP_R6, SOCK, DONE = insn(0xbf, 6, 1), load_u64(1, 6, 0), mov(0, 0) + EXIT


def as_reno(kernel):
    return KEEP_R6 + load_u64(2, 6, 8) + load_u64(3, 6, 16) + SOCK + kernel.reno("cong_avoid")


def hears_telemetry(kernel, counts):
    """Receive telemetry. Counts: joined, answers, a record, nHop."""
    sock = load_u64(1, 1, 0)
    joined = value_of(1, counts.fd) + add_one(1, 0)
    ask = b"".join(insn(0x62, 10, off=ASK + 4 * n, imm=value) for n, value in enumerate(
        (1000000, 100000, 1000000, 996147, 0, 100, 0)))
    heard = value_of(1, counts.fd) + add_one(1, 8) + load_u64(2, 10, RECORD_AT) + \
        store_u64(1, 16, 2) + insn(0x61, 2, 10, HOPS_AT) + store_u64(1, 24, 2)
    return {
        "init": sock + kernel.call("bpf_int_join") + if_result(0, joined) + DONE,
        "release": sock + kernel.call("bpf_int_leave") + DONE,
        "cong_avoid": as_reno(kernel) + ask + SOCK + stack(2, ASK) + kernel.call("bpf_int_ask") +
        SOCK + stack(2, ANSWER) + kernel.call("bpf_int_take") + if_result(1, heard) + DONE,
    }


def reads_signal(kernel, counts):
    """Read a signal. Counts: reads, signals, the longest delay."""
    heard = value_of(1, counts.fd) + add_one(1, 0) + load_u64(2, 10, COUNT_AT) + \
        store_u64(1, 8, 2) + load_u64(2, 10, LOW_AT) + load_u64(3, 1, 16) + \
        if_greater(2, 3, store_u64(1, 16, 2))
    return {
        "cong_avoid": as_reno(kernel) + SOCK + mov(2, MAX_DELAY) + stack(3, SIGNAL) +
        kernel.call("bpf_csig_read") + if_result(0, heard) + DONE,
    }


def refuses_null(kernel):
    """The verifier refuses a NULL pointer for the signal."""
    try:
        kernel.load("cong_avoid", KEEP_R6 + SOCK + mov(2, 0) + mov(3, 0) +
                    kernel.call("bpf_csig_read") + DONE)
    except OSError:
        return True
    return False


def see(kernel, to, name, programs, counts):
    with kernel.congestion_control(name, programs(kernel, counts)):
        return transfer(to, name, 1 << 20)


def main():
    kernel, telemetry, signal = Kernel("net_int", "net_csig_tag"), Counts(4), Counts(3)
    whole = [see(kernel, sys.argv[1], b"bpf_int", hears_telemetry, telemetry),
             see(kernel, sys.argv[1], b"bpf_csig", reads_signal, signal)]
    joined, answers, record, hops = telemetry.read()
    reads, signals, delay_ns = signal.read()
    speed, tx_units = record >> 60, record >> 16 & 0xfffff
    print(f"whole: {whole}; {joined} joined, {answers} answers, of {hops} hops, the first of speed "
          f"code {speed}, txBytes {tx_units}; {reads} reads of {signals} signals, {delay_ns} ns "
          "the longest delay")
    good = all(whole) and joined == 1 and answers > 0 and hops == 1 and speed == 2 and tx_units \
        and reads > 0 and signals > 0 and delay_ns >= PACKET_NS and refuses_null(kernel)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
