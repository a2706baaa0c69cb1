# SPDX-License-Identifier: GPL-2.0
"""A generic XDP program that drops TCP to a port and counts the packets that it sees, loaded by
bpf(2) alone. It parses IPv4 without options and IPv6 without extension headers, behind an Ethernet
header without tags, if the device has one. It passes all other packets."""
import ctypes
import os
import socket
import struct

BPF = 321                       # the system call, on x86-64
MAP_CREATE, MAP_LOOKUP, PROG_LOAD, LINK_CREATE = 0, 1, 5, 28
ARRAY, XDP, ATTACH_XDP, SKB_MODE = 2, 6, 37, 2
DROP, PASS = 1, 2

LIBC = ctypes.CDLL(None, use_errno=True)


def bpf(command, attributes):
    room = ctypes.create_string_buffer(attributes.ljust(128, b"\0"), 128)
    fd = LIBC.syscall(BPF, command, room, 128)
    if fd < 0:
        raise OSError(ctypes.get_errno(), f"bpf({command})")
    return fd


def is_there():
    """Return True if the kernel has BPF."""
    try:
        os.close(bpf(MAP_CREATE, struct.pack("5I", ARRAY, 4, 8, 1, 0)))
    except OSError:
        return False
    return True


def address(data):
    return ctypes.addressof(ctypes.c_char.from_buffer(data))


# Registers: 0 result, 1 to 5 arguments, 6 start of the frame, 7 end of the frame, 10 stack.
def insn(code, to=0, source=0, offset=0, value=0):
    return struct.pack("<BBhi", code, source << 4 | to, offset, value)


LD_MAP, LOAD32, LOAD16, LOAD8, STORE32, ATOMIC64 = 0x18, 0x61, 0x69, 0x71, 0x62, 0xdb
MOV, MOV_REG, ADD, RIGHT = 0xb7, 0xbf, 0x07, 0x77
CALL, EXIT, JUMP_EQ, JUMP_NE, JUMP_GT_REG = 0x85, 0x95, 0x15, 0x55, 0x2d


def program(map_fd, port, at):
    """@at: offset of IP; a jump to "pass" is patched below."""
    low = socket.htons(port)
    code = [
        insn(LOAD32, 6, 1, 0), insn(LOAD32, 7, 1, 4),
        # seen += 1
        insn(STORE32, 10, 0, -4, 0), insn(MOV_REG, 2, 10), insn(ADD, 2, 0, 0, -4),
        insn(LD_MAP, 1, 1, 0, map_fd), insn(0), insn(CALL, value=1),
        insn(JUMP_EQ, 0, 0, 2, 0), insn(MOV, 1, value=1), insn(ATOMIC64, 0, 1, 0, 0),
    ]

    def check(following, ports):
        """Drop TCP to the port, with the protocol and the ports at these offsets."""
        return [insn(LOAD8, 2, 6, at + following), ("ne", 2, 6),
                insn(LOAD16, 2, 6, at + ports), ("ne", 2, low),
                insn(MOV, 0, value=DROP), insn(EXIT)]

    code += [insn(MOV_REG, 2, 6), insn(ADD, 2, value=at + 44), ("gt", 2, 7)]
    version = [insn(LOAD8, 2, 6, at), insn(RIGHT, 2, value=4)]
    four, six = check(9, 22), check(6, 42)
    code += version + [insn(JUMP_NE, 2, 0, len(four), 4)] + four
    code += version + [("ne", 2, 6)] + six
    end = len(code)
    for n, one in enumerate(code):
        if isinstance(one, tuple):
            kind, register, other = one
            code[n] = insn(JUMP_NE, register, 0, end - n - 1, other) if kind == "ne" else \
                insn(JUMP_GT_REG, register, other, end - n - 1)
    return b"".join(code + [insn(MOV, 0, value=PASS), insn(EXIT)])


class Program:
    """The program on a device of the calling thread's network namespace."""

    def __init__(self, device, port):
        self.map = bpf(MAP_CREATE, struct.pack("5I", ARRAY, 4, 8, 1, 0))
        at = 0 if device.startswith("tun") else 14
        code, text = bytearray(program(self.map, port, at)), bytearray(b"GPL\0")
        log = bytearray(1 << 16)
        try:
            self.fd = bpf(PROG_LOAD, struct.pack("IIQQIIQ", XDP, len(code) // 8, address(code),
                                                 address(text), 1, len(log), address(log)))
        except OSError:
            print("# " + log.rstrip(b"\0").decode().replace("\n", "\n# "))
            raise
        self.link = bpf(LINK_CREATE, struct.pack("IIII", self.fd, socket.if_nametoindex(device),
                                                 ATTACH_XDP, SKB_MODE))

    def seen(self):
        """Return the number of packets so far."""
        key, value = bytearray(4), bytearray(8)
        bpf(MAP_LOOKUP, struct.pack("IIQQQ", self.map, 0, address(key), address(value), 0))
        return struct.unpack("Q", value)[0]

    def remove(self):
        for fd in (self.link, self.fd, self.map):
            os.close(fd)
