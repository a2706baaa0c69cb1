# SPDX-License-Identifier: GPL-2.0
"""A program on egress of a control group (v2) that drops TCP to a port, loaded by bpf(2) alone. It
parses IPv4 without options and IPv6 without extension headers, and passes all other packets."""
import os
import socket
import struct
import tempfile

import hosts
from xdp import ADD, CALL, EXIT, JUMP_EQ, JUMP_NE, LOAD16, LOAD8, MOV, MOV_REG, PROG_LOAD, RIGHT, address, bpf, insn

PROG_ATTACH, PROG_DETACH = 8, 9
CGROUP_SKB, INET_EGRESS = 8, 1
LOAD_BYTES = 26                 # the helper bpf_skb_load_bytes()
DROP, PASS = 0, 1


def load(offset, size):
    """Read bytes of the packet into register 2. A packet that is too short leaves 0 there."""
    return [insn(MOV, 2, value=0), insn(0x7b, 10, 2, -8),      # *(u64 *)(r10 - 8) = r2
            insn(MOV_REG, 1, 6), insn(MOV, 2, value=offset), insn(MOV_REG, 3, 10), insn(ADD, 3, value=-8),
            insn(MOV, 4, value=size), insn(CALL, value=LOAD_BYTES),
            insn(LOAD8 if size == 1 else LOAD16, 2, 10, -8)]


def check(following, ports, port):
    """Return DROP for TCP to the port, with the protocol and the ports at these offsets; else PASS."""
    drop = load(ports, 2) + [insn(JUMP_NE, 2, 0, 2, socket.htons(port)), insn(MOV, 0, value=DROP), insn(EXIT)]
    return load(following, 1) + [insn(JUMP_NE, 2, 0, len(drop), 6)] + drop + [insn(MOV, 0, value=PASS), insn(EXIT)]


def program(port):
    four, six = check(9, 22, port), check(6, 42, port)
    return b"".join([insn(MOV_REG, 6, 1)] + load(0, 1) + [insn(RIGHT, 2, value=4), insn(JUMP_EQ, 2, 0, len(four), 6)] +
                    four + six)


class Group:
    """A control group for this process, whose sockets belong to it from now on."""

    def __init__(self):
        self.root = tempfile.mkdtemp()
        hosts.run(f"mount -t cgroup2 none {self.root}")
        os.mkdir(f"{self.root}/sender")
        hosts.write(f"{self.root}/sender/cgroup.procs", os.getpid())
        self.fd = os.open(f"{self.root}/sender", os.O_RDONLY)

    def drop(self, port):
        """Drop TCP to the port. Return the function that ends it."""
        code, text = bytearray(program(port)), bytearray(b"GPL\0")
        log = bytearray(1 << 16)
        try:
            fd = bpf(PROG_LOAD, struct.pack("IIQQIIQ", CGROUP_SKB, len(code) // 8, address(code), address(text), 1,
                                            len(log), address(log)))
        except OSError:
            print("# " + log.rstrip(b"\0").decode().replace("\n", "\n# "))
            raise
        bpf(PROG_ATTACH, struct.pack("IIII", self.fd, fd, INET_EGRESS, 0))

        def remove():
            bpf(PROG_DETACH, struct.pack("IIII", self.fd, fd, INET_EGRESS, 0))
            os.close(fd)
        return remove

    def close(self):
        hosts.write(f"{self.root}/cgroup.procs", os.getpid())
        os.close(self.fd)
        os.rmdir(f"{self.root}/sender")
        hosts.run(f"umount {self.root}")
        os.rmdir(self.root)
