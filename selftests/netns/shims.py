# SPDX-License-Identifier: GPL-2.0
"""Our headers between IP and TCP, byte by byte: packets with a header, fragments of these, and
ICMP errors about them; a peer and a caller that use headers. wire.py has the TCP part.
"""
import copy
import os
import select
import socket
import struct

import wire
from wire import ACK, RST, SYN, Peer, inet_sum

MSS = Peer.MSS
COOKIE = 0x1122334455667788

# ICMP type and code of the errors "protocol unreachable" and "filtered"
REFUSALS = {4: ((3, 2), (3, 13), (3, 3)), 6: ((4, 1), (1, 1), (1, 4))}
TOO_BIG = {4: (3, 4), 6: (2, 0)}


def ip_bytes(data):
    return 40 if data[0] >> 4 == 6 else (data[0] & 15) * 4


def next_of(data):
    """Return the protocol number in the IP header."""
    return data[6 if data[0] >> 4 == 6 else 9]


def set_next(data, following):
    data = bytearray(data)
    data[6 if data[0] >> 4 == 6 else 9] = following
    return bytes(data)


def dscp_of(data):
    if data[0] >> 4 == 6:
        return struct.unpack_from("!H", data)[0] >> 6 & 63
    return data[1] >> 2


def finish(data):
    """Set IP's length and checksum."""
    data = bytearray(data)
    if data[0] >> 4 == 6:
        struct.pack_into("!H", data, 4, len(data) - 40)
        return bytes(data)
    end = ip_bytes(data)
    struct.pack_into("!HHHBBH", data, 2, len(data), *struct.unpack_from("!HHBB", data, 4), 0)
    struct.pack_into("!H", data, 10, inet_sum(bytes(data[:end])))
    return bytes(data)


def insert(data, protocol, shim):
    at = ip_bytes(data)
    return finish(set_next(data[:at], protocol) + shim + data[at:])


def remove(data, size, following):
    at = ip_bytes(data)
    return finish(set_next(data[:at], following) + data[at + size:])


def truncate(keep):
    """Return a change that truncates the packet `keep` bytes behind the IP header."""
    return lambda data: finish(data[:ip_bytes(data) + keep])


def fragments(data, at, step):
    """Return IP fragments of a packet, cut behind `at` at each `step` bytes (a multiple of 8)."""
    body = data[at:]
    for start in range(0, len(body), step):
        more = start + step < len(body)
        if data[0] >> 4 == 4:
            head = bytearray(data[:at])
            struct.pack_into("!HH", head, 4, 77, start // 8 | (0x2000 if more else 0))
            yield finish(bytes(head) + body[start:start + step])
        else:
            extension = struct.pack("!BBHI", data[6], 0, start | more, 77)
            yield finish(set_next(data[:at], 44) + extension + body[start:start + step])


def tcp_is_right(data):
    """Return True if the TCP checksum of a packet without our header is correct."""
    at = ip_bytes(data)
    addresses = data[8:40] if at == 40 else data[12:20]
    tcp = data[at:]
    return inet_sum(addresses + struct.pack("!II", len(tcp), 6) + tcp) == 0


def sum_tcp(data, at=None):
    """Return a packet with its TCP checksum set; @at: offset of TCP, if not right behind IP."""
    end = ip_bytes(data)
    addresses, at = data[8:40] if end == 40 else data[12:20], at or end
    tcp = data[at:at + 16] + bytes(2) + data[at + 18:]
    check = inet_sum(addresses + struct.pack("!II", len(tcp), 6) + tcp)
    return data[:at] + tcp[:16] + struct.pack("!H", check) + tcp[18:]


def ip_is_right(data):
    """Return True if IP's length and checksum are correct."""
    if data[0] >> 4 == 6:
        return struct.unpack_from("!H", data, 4)[0] == len(data) - 40
    return (struct.unpack_from("!H", data, 2)[0] == len(data) and
            inet_sum(data[:ip_bytes(data)]) == 0)


def quoted_error(version, packet, kind, code, info, keep):
    """Return an ICMP error that quotes a packet of the stack up to `keep` bytes behind IP."""
    quoted = packet.raw[:ip_bytes(packet.raw) + keep]
    if version == 4:
        body = struct.pack("!BBHI", kind, code, 0, info) + quoted
        body = body[:2] + struct.pack("!H", inet_sum(body)) + body[4:]
        ip = struct.pack("!BBHHHBBH", 0x45, 0, 0, 0, 0, 64, 1, 0)
        addresses = socket.inet_aton(wire.SCRIPT[4]) + socket.inet_aton(wire.STACK[4])
        return finish(ip + addresses + body)
    addresses = b"".join(socket.inet_pton(socket.AF_INET6, x[6])
                         for x in (wire.SCRIPT, wire.STACK))
    body = struct.pack("!BBHI", kind, code, 0, info) + quoted
    check = inet_sum(addresses + struct.pack("!II", len(body), 58) + body)
    body = body[:2] + struct.pack("!H", check) + body[4:]
    return finish(struct.pack("!IHBB", 6 << 28, 0, 58, 64) + addresses + body)


def refuse(tun, version, packet, shim_bytes, seq=0, kinds=None):
    """Send the errors by which a packet of the stack is refused, or the first `kinds` of them.

    shim_bytes: length of its header; seq: what is added to its sequence number in the quote.
    """
    at = ip_bytes(packet.raw) + shim_bytes + 4
    number = (struct.unpack_from("!I", packet.raw, at)[0] + seq) % 2**32
    quoted = copy.copy(packet)
    quoted.raw = packet.raw[:at] + struct.pack("!I", number) + packet.raw[at + 4:]
    for kind, code in REFUSALS[version][:kinds]:
        tun.write(quoted_error(version, quoted, kind, code, 40 if kind == 4 else 0,
                               shim_bytes + 8))


def counts(carrier):
    with open(f"/proc/thread-self/net/hopcc_{carrier}", encoding="ascii") as file:
        return {k: int(v) for k, v in (line.split() for line in file)}


def listen(version):
    listener = socket.socket(wire.FAMILY[version], socket.SOCK_STREAM)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"reno")
    listener.bind((wire.STACK[version], 0))
    listener.listen()
    return listener


class Wire(wire.Wire):
    """Also reads packets with a header: .shim of a packet is its header, .raw the whole packet,
    .good is True if its checksums and lengths are correct."""

    @staticmethod
    def unwrap(data):
        """Return (packet without the header, header in the form that the test needs, or None)."""
        raise NotImplementedError

    def read(self, wait_ms):
        packets = []
        while select.select([self.fd], [], [], wait_ms / 1000)[0]:
            raw = os.read(self.fd, 65536)
            data, shim = self.unwrap(raw)
            packet = wire.parse(data)
            if packet:
                packet.shim, packet.raw, packet.dscp = shim, raw, dscp_of(raw)
                packet.good = tcp_is_right(data) and ip_is_right(raw)
                packet.payload = data[len(data) - packet.size:]
                packets.append(packet)
        return packets


class Talker(Peer):
    """A peer that can add a header to its packets, or change them in another way."""
    protocol = None     # number of the header
    quick_acks = True   # the stack sends quick ACKs after open()

    def send(self, *args, shim=None, change=None, **kwargs):
        wire_ = self.wire

        class Once:
            """Replaces the device for one Peer.send()."""

            @staticmethod
            def write(data):
                data = insert(data, self.protocol, shim) if shim else data
                wire_.write(change(data) if change else data)

        self.wire = Once
        try:
            super().send(*args, **kwargs)
        finally:
            self.wire = wire_

    def knock(self, listener, shim):
        """Send a SYN with or without a header. Return the SYN-ACKs."""
        self.stack_port = listener.getsockname()[1]
        self.send(SYN, pos=-1, ack=-1, options=self.OPTIONS, shim=shim)
        answers = self.wire.read(5)
        if answers:
            self.stack_isn = answers[0].seq
        return answers

    def open(self, listener, shim):
        """Open a connection with a SYN with or without a header, and pass its quick ACKs."""
        self.knock(listener, shim)
        self.send(ACK)
        sock = listener.accept()[0]
        wire.make_room(sock)
        for pos in range(0, 40 * MSS, MSS):
            self.send(ACK, pos=pos, payload=bytes(MSS))
            self.wire.read(1)
        if not self.quick_acks:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 0)
        sock.recv(40 * MSS)
        self.wire.read(500)
        self.isn = (self.isn + 40 * MSS) % 2**32
        return sock


def negotiation(asks=0, answers=0, cookie=COOKIE, exid=0x484f, length=16):
    """The TCP option by which carriers negotiate."""
    return struct.pack("!BBHBBHQ", 254, length, exid, asks, answers, 0, cookie)


def negotiated(packet):
    """((asks, answers), cookie) of a packet's option, or None."""
    tcp = packet.raw[ip_bytes(packet.raw):]
    options = tcp[20:(tcp[12] >> 4) * 4]
    while options and options[0]:
        size = 1 if options[0] == 1 else options[1]
        if options[0] == 254:
            kind = struct.unpack("!BBHBBHQ", options[:16])
            return kind[3:5], kind[6]
        options = options[size:]
    return None


class Caller:
    """An active open of the stack; .syn is its SYN, which is not answered yet."""
    talker = Talker     # class of the peer
    cc = None
    # Number of bytes that the peer has sent, and that it has acknowledged.
    heard = acked = 0

    def __init__(self, tun, version, port):
        self.sock = socket.socket(wire.FAMILY[version], socket.SOCK_STREAM)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, self.cc)
        self.sock.setblocking(False)
        self.peer = self.talker(tun, version, port)
        self.sock.connect_ex((wire.SCRIPT[version], port))
        self.syn, = tun.read(5)
        self.peer.stack_isn, self.peer.stack_port = self.syn.seq, self.syn.sport

    def answer(self, shim):
        """Send a SYN-ACK with or without a header."""
        self.peer.send(SYN | ACK, pos=-1, ack=0, options=Peer.OPTIONS, shim=shim)
        self.peer.read(5)

    def error(self):
        return self.sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)

    def close(self):
        self.peer.send(RST | ACK, pos=self.heard, ack=self.acked)
        self.sock.close()
        self.peer.wire.read(5)
