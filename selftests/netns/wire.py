# SPDX-License-Identifier: GPL-2.0
"""One end of a TCP connection by hand: a tun device in a new network namespace. The stack under
test is at one end; the script reads and writes packets at the other.

    stack 192.0.2.1, 2001:db8::1 [tun0] <--> script 192.0.2.2, 2001:db8::2
"""
import ctypes
import dataclasses
import fcntl
import os
import select
import socket
import stat
import struct
import subprocess
import time

CLONE_NEWNET = 0x40000000
TUNSETIFF = 0x400454CA
IFF_TUN, IFF_NO_PI = 1, 0x1000
SO_RCVBUFFORCE = 33

FIN, SYN, RST, PSH, ACK, ECE, CWR = 1, 2, 4, 8, 16, 64, 128
NOT_ECT, ECT1, ECT0, CE = 0, 1, 2, 3

STACK = {4: "192.0.2.1", 6: "2001:db8::1"}
SCRIPT = {4: "192.0.2.2", 6: "2001:db8::2"}
FAMILY = {4: socket.AF_INET, 6: socket.AF_INET6}


@dataclasses.dataclass
class Packet:
    """The fields of a TCP packet that tests use; ecn is the IP code point."""
    sport: int
    dport: int
    seq: int
    ack: int
    flags: int
    ecn: int
    size: int
    time_ns: int = 0


def inet_sum(data):
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def build(version, packet, window, options, payload):
    src = socket.inet_pton(FAMILY[version], SCRIPT[version])
    dst = socket.inet_pton(FAMILY[version], STACK[version])
    offset = (20 + len(options)) // 4

    def header(check):
        return struct.pack("!HHIIBBHHH", packet.sport, packet.dport,
                           packet.seq % 2**32, packet.ack % 2**32, offset << 4,
                           packet.flags, window, check, 0)

    length = 20 + len(options) + len(payload)
    pseudo = src + dst + struct.pack("!II", length, socket.IPPROTO_TCP)
    tcp = header(inet_sum(pseudo + header(0) + options + payload)) + options + payload
    if version == 6:
        return struct.pack("!IHBB", 6 << 28 | packet.ecn << 20, length,
                           socket.IPPROTO_TCP, 64) + src + dst + tcp
    ip = struct.pack("!BBHHHBBH", 0x45, packet.ecn, 20 + length, 0, 0x4000, 64,
                     socket.IPPROTO_TCP, 0) + src + dst
    return ip[:10] + struct.pack("!H", inet_sum(ip)) + ip[12:] + tcp


def too_big(source, to, mtu_bytes, quote):
    """Return an ICMP error "fragmentation needed"; addresses are bytes, quote is the packet."""
    icmp = struct.pack("!BBHHH", 3, 4, 0, 0, mtu_bytes) + quote
    icmp = icmp[:2] + struct.pack("!H", inet_sum(icmp)) + icmp[4:]
    ip = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(icmp), 0, 0, 64, socket.IPPROTO_ICMP, 0)
    ip += source + to
    return ip[:10] + struct.pack("!H", inet_sum(ip)) + ip[12:] + icmp


def parse(data):
    """Return a Packet, or None if it is not TCP."""
    if data[0] >> 4 == 6:
        protocol, ecn, tcp = data[6], data[1] >> 4 & 3, data[40:]
    else:
        protocol, ecn, tcp = data[9], data[1] & 3, data[(data[0] & 15) * 4:]
    if protocol != socket.IPPROTO_TCP:
        return None
    sport, dport, seq, ack, offset, flags = struct.unpack("!HHIIBB", tcp[:14])
    return Packet(sport, dport, seq, ack, flags, ecn, len(tcp) - (offset >> 4) * 4,
                  time.monotonic_ns())


def tun_node():
    if os.path.exists("/dev/net/tun"):
        return "/dev/net/tun"
    node = f"/run/tun.{os.getpid()}"
    os.mknod(node, stat.S_IFCHR | 0o600, os.makedev(10, 200))
    return node


class Wire:
    """The tun device. The constructor moves the caller to a new network namespace."""

    def __init__(self):
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.unshare(CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), "unshare")
        node = tun_node()
        self.fd = os.open(node, os.O_RDWR)
        if node.startswith("/run/"):
            os.unlink(node)
        fcntl.ioctl(self.fd, TUNSETIFF, struct.pack("16sH22x", b"tun0", IFF_TUN | IFF_NO_PI))
        for line in ("link set lo up", "link set tun0 up",
                     "addr add 192.0.2.1/24 dev tun0",
                     "-6 addr add 2001:db8::1/64 dev tun0 nodad"):
            subprocess.run(["ip", *line.split()], check=True)

    def read(self, wait_ms):
        """Return all TCP packets until wait_ms have passed without one."""
        packets = []
        end = time.monotonic() + wait_ms / 1000
        while select.select([self.fd], [], [], max(0, end - time.monotonic()))[0]:
            packet = parse(os.read(self.fd, 65536))
            # Do not wait longer because of IPv6 neighbour discovery.
            if packet:
                packets.append(packet)
                end = time.monotonic() + wait_ms / 1000
        return packets

    def write(self, data):
        os.write(self.fd, data)


def make_room(sock):
    """Enlarge the receive buffer for a test that does not read: a second segment causes an ACK
    only while the window's right edge advances, else a read does. Call this after the handshake:
    otherwise the first window of Linux 6.12 is the whole buffer, even towards a peer without
    window scaling, and its edge does not advance.
    """
    sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 20)


class Peer:
    """The script's end of a connection; positions are bytes from 0."""
    MSS = 1000
    OPTIONS = struct.pack("!BBH", 2, 4, MSS) + b"\1\1\4\2"  # MSS, SACK permitted

    def __init__(self, wire, version, port, stack_port=0):
        self.wire, self.version = wire, version
        self.port, self.stack_port = port, stack_port
        self.isn, self.stack_isn = 0x7fffff00, 0

    def send(self, flags, pos=0, ack=0, ecn=NOT_ECT, payload=b"", options=b""):
        """pos and ack count from the first data byte of each direction."""
        packet = Packet(self.port, self.stack_port, self.isn + 1 + pos,
                        self.stack_isn + 1 + ack, flags, ecn, len(payload))
        self.wire.write(build(self.version, packet, 65535, options, payload))

    def read(self, wait_ms=5):
        """Return the packets that the stack sent on this connection, with positions."""
        packets = [p for p in self.wire.read(wait_ms) if p.dport == self.port]
        for p in packets:
            p.seq = (p.seq - self.stack_isn - 1) % 2**32
            p.ack = (p.ack - self.isn - 1) % 2**32
        return packets

    def connect(self, listener, flags=ECE | CWR):
        """An active open by the script; returns the stack's socket and SYN-ACK."""
        self.stack_port = listener.getsockname()[1]
        self.send(SYN | flags, pos=-1, ack=-1, options=self.OPTIONS)
        synack, = self.wire.read(5)
        self.stack_isn = synack.seq
        self.send(ACK)
        return listener.accept()[0], synack

    def accept(self, sock, flags=ECE, rtt_ms=0):
        """A passive open by the script; sock is a non-blocking socket, not yet connected."""
        sock.connect_ex((SCRIPT[self.version], self.port))
        return self.answer(sock, flags, rtt_ms)

    def answer(self, sock, flags, rtt_ms):
        syn, = self.wire.read(5)
        self.stack_isn, self.stack_port = syn.seq, syn.sport
        waited_s = (time.monotonic_ns() - syn.time_ns) / 1e9
        time.sleep(max(0, rtt_ms / 1000 - waited_s))
        self.send(SYN | ACK | flags, pos=-1, ack=0, options=self.OPTIONS)
        self.wire.read(5)
        if sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
            raise ConnectionError("the handshake failed")
        return syn

    def sack(self, ack, blocks, flags=ACK, **more):
        """Send an ACK with SACK blocks, as (first, beyond) byte positions."""
        base = self.stack_isn + 1
        body = b"".join(struct.pack("!II", (a + base) % 2**32, (b + base) % 2**32)
                        for a, b in blocks)
        self.send(flags, ack=ack, options=b"\1\1" + bytes([5, 2 + len(body)]) + body, **more)

    def refuse(self, mtu_bytes, pos):
        """Send a router's ICMP error (IPv4): the packet at a position is larger than the MTU."""
        script, stack = (socket.inet_aton(side[4]) for side in (SCRIPT, STACK))
        quote = struct.pack("!BBHHHBBH", 0x45, 0, 40 + self.MSS, 0, 0x4000, 64,
                            socket.IPPROTO_TCP, 0) + stack + script
        quote += struct.pack("!HHI", self.stack_port, self.port,
                             (self.stack_isn + 1 + pos) % 2**32)
        self.wire.write(too_big(script, stack, mtu_bytes, quote))
