#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Headers that were not negotiated: a packet in each wire format, sent to a host whose sysctl is
off, or on but without a flow, or with another flow's cookie. With the sysctl off, the host must pass
such a packet to the stack unchanged. With the sysctl on, TCP must answer it as it would without the
header, and the header must have no effect. If the host removes a header, its filters must see the
packet behind the header: XDP (if the kernel has BPF), tc and nftables on ingress, nftables in front
of the carriers' hook, behind it, and at input. For filters of the sender, see sender_filters.py.
Prints TAP.

    the stack under test [tun0] ---- this script, which writes the packets
    u [u-w, or br0 over it] ---- w-u      for filters on a bridge's port, and for frames with a tag

Needs root and nft; changes nothing outside its own network namespace.
"""
import os
import select
import socket
import struct
import subprocess
import sys
import time
import types

import hosts
import int_wire
import shims
import wire
import xcp_wire
import xdp
from int_wire import ASKS, INT, PROBE_MARK, data_shim, header as int_header, negotiated, negotiation
from shims import finish, fragments, insert, ip_bytes, next_of, set_next
from wire import ACK, PSH, RST, SYN, Peer
from xcp_wire import UNKNOWN, XCP, header as xcp_header

IPIP, TCP, UDP, IPV6, GRE, ESP, AH = 4, 6, 17, 41, 47, 50, 51
FILTERED, OPEN = 5022, 5080      # ports of listeners
TRUST = 2                        # value of net.hopcc.int and net.hopcc.xcp
RTO_S = 0.2                      # TCP's shortest timeout
TICK_S = 0.05                    # longer than a tick of the clock, after which filters below are noticed

tap = hosts.Tap()

# Name of the ICMP error for an unknown protocol.
UNKNOWN_PROTOCOL = "protocol unknown"
ERRORS = {4: {(3, 2): UNKNOWN_PROTOCOL}, 6: {(4, 1): UNKNOWN_PROTOCOL}}


class Wire(shims.Wire):
    """Reads the packets of the stack, with a header of either carrier or without."""

    @staticmethod
    def unwrap(data):
        return (xcp_wire if next_of(data) == XCP else int_wire).unwrap(data)

    def heard(self, packets, wait_ms=5):
        """Send packets. Return the stack's answers, as words."""
        for packet in packets:
            self.write(packet)
        words = []
        while select.select([self.fd], [], [], wait_ms / 1000)[0]:
            word = self.word(os.read(self.fd, 65536))
            if word:
                words.append(word)
        return words

    def word(self, raw):
        version, following, body = raw[0] >> 4, next_of(raw), raw[ip_bytes(raw):]
        if following == {4: 1, 6: 58}[version]:
            # Ignore neighbour discovery and multicast listener reports.
            return None if version == 6 and body[0] > 127 else ERRORS[version].get(
                (body[0], body[1]), f"ICMP {body[0]}/{body[1]}")
        if following in (IPIP, IPV6, GRE):
            # A new tunnel also sends router solicitations and multicast listener reports.
            return wire.parse(body[4 if following == GRE else 0:]) and "through the tunnel"
        packet = wire.parse(self.unwrap(raw)[0])
        # A header with the right cookie is answered by telemetry, whatever filters do to TCP.
        if not packet or int_wire.mark_of(raw) == int_wire.ECHO:
            return None
        if packet.flags & RST:
            return "RST"
        return "SYN-ACK" if packet.flags & SYN else "ACK"


class End(Peer):
    """The script's end of a connection; its packets are returned and not sent."""
    number = 40000

    def __init__(self, version, to):
        End.number += 1
        super().__init__(None, version, End.number, to)

    def packet(self, flags, **fields):
        made = []
        self.wire = types.SimpleNamespace(write=made.append)
        self.send(flags, **fields)
        return made[0]

    def syn(self, option=b""):
        return self.packet(SYN, pos=-1, ack=-1, options=self.OPTIONS + option)

    def data(self, payload, pos=0):
        return self.packet(ACK | PSH, pos=pos, payload=payload)


def in_int(data, shim):
    return insert(data, INT, shim)


def in_xcp(data, shim=None):
    return insert(data, XCP, shim or xcp_header())


NO_TYPE = int_header(1) + bytes(8)

# Name, carrier, function that adds a header to a SYN, True if it is dropped.
SYNS = (
    ("below 254, of no type", "int", lambda data: in_int(data, NO_TYPE), False),
    ("below 254, as data", "int", lambda data: in_int(data, data_shim(1, 0)), False),
    ("below 63", "xcp", lambda data: in_xcp(data, UNKNOWN), True),
)

# Name, carrier, function that adds a header with a cookie to data.
WRAPS = (
    ("below 254", "int", lambda data, cookie: in_int(data, data_shim(1, cookie))),
    ("below 63", "xcp", lambda data, cookie: in_xcp(data)),
)


# Counters that change when data arrives with a header that the carrier does not use.
UNUSED = {"int": {"in_data": 1, "in_no_flow": 1}, "xcp": {"in": 1, "in_no_flow": 1}}

# The same for a header on data of a connection that has not negotiated. Data within both windows
# negotiates XCP, as a pure ACK that asks does.
PLAIN = {"int": UNUSED["int"], "xcp": {"in": 1, "peer_supported": 1, "out_ack": 1}}


def knob(name, value):
    hosts.write(f"/proc/sys/net/hopcc/{name}", value)


class Since:
    """The counters of a carrier that have grown, without those of the flow table."""

    def __init__(self, carrier):
        self.carrier, self.before = carrier, shims.counts(carrier)

    def __call__(self):
        after = shims.counts(self.carrier)
        return {k: after[k] - v for k, v in self.before.items()
                if after[k] != v and not k.startswith("flows")}


class Connection:
    """A connection to a listener of the stack, negotiated with a carrier's header or not."""

    def __init__(self, tun, listener, version, carrier=None):
        self.tun, self.cookie = tun, 0
        self.peer = End(version, listener.getsockname()[1])
        syn = self.peer.syn(negotiation(*{"int": ASKS, "xcp": xcp_wire.ASKS}[carrier]) if carrier else b"")
        # Read the retransmissions of earlier connections.
        tun.heard([])
        tun.write(syn)
        answer, = tun.read(5)
        self.peer.stack_isn = answer.seq
        if carrier == "int":
            self.cookie = negotiated(answer)[1]
        tun.heard([self.peer.packet(ACK)])
        self.sock = listener.accept()[0]
        self.sock.setblocking(False)
        self.pos = 0

    def try_data(self, wrap, cookie=None):
        """Send data with a header. Return (the stack's answers, the data that the socket got)."""
        data = b"below a header"
        packet = wrap(self.peer.data(data, self.pos), self.cookie if cookie is None else cookie)
        words = self.tun.heard(packet if isinstance(packet, list) else [packet])
        got = self.received()
        self.pos += len(got)
        return words, got == data

    def received(self):
        try:
            return self.sock.recv(1 << 16)
        except BlockingIOError:
            return b""

    def works(self):
        """Return True if plain data still arrives."""
        data = b"plain"
        self.tun.heard([self.peer.data(data, self.pos)])
        self.pos += len(data)
        return self.received() == data

    def close(self):
        # With the ACK bit, as from a peer that knows the connection: else the peer would be cached.
        self.tun.heard([self.peer.packet(RST | ACK, pos=self.pos)])
        self.sock.close()


def listen(version, port):
    listener = socket.socket(wire.FAMILY[version], socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if version == 6:
        listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    listener.bind((wire.STACK[version], port))
    listener.listen()
    # A connection that does not open must not stop the test.
    listener.settimeout(5)
    return listener


def switched_off(tun, version, listener):
    """The sysctl is off: neither handshakes nor data with a header are accepted."""
    port = listener.getsockname()[1]
    for carrier in ("int", "xcp"):
        pair = Connection(tun, listener, version, carrier)
        knob(carrier, 0)
        for name, whose, wrap, _ in SYNS:
            if whose != carrier:
                continue
            since, end = Since(carrier), End(version, port)
            tap.equal(f"IPv{version} off, a SYN {name}: left to the stack",
                      (tun.heard([wrap(end.syn())]), since()),
                      ([UNKNOWN_PROTOCOL], {"in_off": 1}))
            since = Since(carrier)
            whole = wrap(end.syn())
            tap.equal(f"IPv{version} off, a SYN {name} in fragments: left to the stack",
                      (tun.heard(fragments(whole, ip_bytes(whole), 24)), since()),
                      ([UNKNOWN_PROTOCOL], {"in_off": 1}))
        for name, whose, wrap in WRAPS:
            if whose == carrier:
                tap.equal(f"IPv{version} off, negotiated data {name}: left to the stack",
                          pair.try_data(wrap), ([UNKNOWN_PROTOCOL], False))
        tap.claim(f"IPv{version} {carrier} off: plain data arrives", pair.works())
        knob(carrier, 1)
        pair.close()


def handshakes(tun, version, listener):
    """The sysctl is on: no SYN has a header."""
    for name, carrier, wrap, dropped in SYNS:
        since, end = Since(carrier), End(version, listener.getsockname()[1])
        tap.equal(f"IPv{version} on, a SYN {name}: {'dropped' if dropped else 'left'}, counted",
                  (tun.heard([wrap(end.syn())]), since()),
                  ([], {"in_no_flow": 1}) if dropped else ([UNKNOWN_PROTOCOL], {"bad_type": 1}))
        tun.heard([end.packet(RST, pos=0)])


def answers_without_question(tun, version):
    """A SYN-ACK with a header for a socket that sent a SYN, or for no socket: no SYN-ACK has one."""
    for name, carrier, wrap, dropped in SYNS:
        want = [] if dropped else [UNKNOWN_PROTOCOL]
        sock = socket.socket(wire.FAMILY[version], socket.SOCK_STREAM)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"reno")
        sock.setblocking(False)
        end = End(version, 0)
        sock.connect_ex((wire.SCRIPT[version], end.port))
        syn, = tun.read(5)
        end.stack_isn, end.stack_port = syn.seq, syn.sport
        synack = end.packet(SYN | ACK, pos=-1, ack=0, options=Peer.OPTIONS)
        since = Since(carrier)
        words = tun.heard([wrap(synack)])
        tap.equal(f"IPv{version} a SYN-ACK {name} to a plain SYN: {'dropped' if dropped else 'left'}",
                  words, want)
        tap.equal(f"IPv{version} a SYN-ACK {name} to a plain SYN: counted", sum(since().values()), 1)
        tap.equal(f"IPv{version} a plain SYN-ACK after one {name}: connected",
                  (tun.heard([synack]), sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)),
                  (["ACK"], 0))
        tun.heard([end.packet(RST, pos=0)])
        sock.close()
        end = End(version, 9)
        synack = end.packet(SYN | ACK, pos=-1, ack=0, options=Peer.OPTIONS)
        whole = wrap(synack)
        tap.equal(f"IPv{version} a SYN-ACK {name} for no socket, whole and in fragments, then a plain one",
                  (tun.heard([whole]), tun.heard(fragments(whole, ip_bytes(whole), 24)),
                   tun.heard([synack])),
                  (want, want, ["RST"]))


def flows(carrier):
    return shims.counts(carrier)["flows"]


def added(carrier, before):
    """Return how many flows there are more than before; those of closed connections end meanwhile."""
    return max(0, flows(carrier) - before)


def without_a_flow(tun, version, listener):
    """The sysctl is on, and the connection has not negotiated, or does not exist: TCP decides."""
    for name, carrier, wrap in WRAPS:
        pair, since = Connection(tun, listener, version), Since(carrier)
        tap.equal(f"IPv{version} on without a flow, data {name}: received, not refused",
                  (pair.try_data(wrap), since()), ((["ACK"], True), PLAIN[carrier]))
        tap.claim(f"IPv{version} on without a flow, after data {name}: plain data arrives",
                  pair.works())
        pair.close()
        pair, since = Connection(tun, listener, version), Since(carrier)

        def pieces(data, cookie, wrap=wrap):
            whole = wrap(data, cookie)
            return list(fragments(whole, ip_bytes(whole), 32))

        tap.equal(f"IPv{version} on without a flow, data {name} in fragments: received",
                  (pair.try_data(pieces), since()), ((["ACK"], True), PLAIN[carrier] | {"in_late": 1}))
        pair.close()
        forged(tun, version, listener, name, carrier, wrap)
        since, end = Since(carrier), End(version, 9)
        before = flows(carrier)
        tap.equal(f"IPv{version} on without a socket, data {name}: dropped",
                  (tun.heard([wrap(end.data(b"x"), 0)]), since(), added(carrier, before)),
                  ([], {"in_no_flow": 1}, 0))


def forged(tun, version, listener, name, carrier, wrap):
    """Data that an attacker forges who does not see the connection: no flow, and nothing received.
    TCP reports its own sequence number once, and passes over an ACK of what it has not sent.
    """
    pair = Connection(tun, listener, version)
    for what, fields, want in (("beyond the window", {"pos": 1 << 30}, ["ACK"]),
                               ("of what was not sent", {"ack": 1 << 20}, [])):
        since, before = Since(carrier), flows(carrier)
        packet = pair.peer.packet(**({"flags": ACK | PSH, "pos": 0, "payload": b"forged"} | fields))
        words = tun.heard([wrap(packet, 0)])
        tap.equal(f"IPv{version} on without a flow, forged data {what} {name}: as without a header",
                  (words, pair.received(), since(), added(carrier, before)),
                  (want, b"", UNUSED[carrier], 0))
    tap.claim(f"IPv{version} after forged data {name}: plain data arrives", pair.works())
    pair.close()


def requests(tun, version, listener):
    """A connection request is no established connection: TCP completes the handshake, and the
    header has no effect.
    """
    for name, carrier, wrap in WRAPS:
        end = End(version, listener.getsockname()[1])
        tun.write(end.syn())
        answer, = tun.read(5)
        end.stack_isn = answer.seq
        since, before = Since(carrier), flows(carrier)
        words = tun.heard([wrap(end.data(b"first"), 0)])
        sock = listener.accept()[0]
        tap.equal(f"IPv{version} data {name} ends the handshake: received, no flow",
                  (words, sock.recv(100), since(), added(carrier, before)),
                  (["ACK"], b"first", UNUSED[carrier], 0))
        tun.heard([end.packet(RST | ACK, pos=5)])
        sock.close()


def swapped(packet):
    """Return an IPv6 packet with its addresses exchanged, for which its checksum holds, too."""
    return packet[:8] + packet[24:40] + packet[8:24] + packet[40:]


def forwarded(tun, listener):
    """A SYN-ACK that this host forwards, and that seems to be from one of its own connections: IPv6
    does not look at the source. The connection goes on as before.
    """
    hosts.write("/proc/sys/net/ipv6/conf/all/forwarding", 1)
    for name, carrier, wrap in WRAPS:
        pair = Connection(tun, listener, 6, carrier)
        pair.try_data(wrap)
        since = Since(carrier)
        before = pair.try_data(wrap), since()
        forged = wire.Packet(pair.peer.stack_port, pair.peer.port, 1, 1, SYN | ACK, 0, 0)
        tap.equal(f"IPv6 a SYN-ACK as from a connection with data {name}: forwarded",
                  tun.heard([swapped(wire.build(6, forged, 65535, Peer.OPTIONS, b""))]), ["SYN-ACK"])
        since = Since(carrier)
        tap.equal(f"IPv6 the same, data {name} arrives as before", (pair.try_data(wrap), since()), before)
        pair.close()
    hosts.write("/proc/sys/net/ipv6/conf/all/forwarding", 0)


def sent_again(tun, version, listener):
    """The SYN-ACK was acknowledged, and is sent again since the socket waits for data: the flow stays."""
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_DEFER_ACCEPT, 1)
    for name, carrier, wrap in WRAPS:
        end = End(version, listener.getsockname()[1])
        tun.write(end.syn(negotiation(*{"int": ASKS, "xcp": xcp_wire.ASKS}[carrier])))
        answer, = tun.read(5)
        end.stack_isn = answer.seq
        cookie = negotiated(answer)[1] if carrier == "int" else 0
        tap.equal(f"IPv{version} {carrier}: a socket that waits for data: the SYN-ACK comes again",
                  set(tun.heard([wrap(end.packet(ACK), cookie)], 1500)), {"SYN-ACK"})
        tun.heard([end.data(b"first")])
        sock, since = listener.accept()[0], Since(carrier)
        words = tun.heard([wrap(end.data(b"second", 5), cookie)])
        tap.equal(f"IPv{version} {carrier}: then data {name}: its header is used",
                  (words, since().get("in_no_flow", 0)), (["ACK"], 0))
        tun.heard([end.packet(RST | ACK, pos=11)])
        sock.close()
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_DEFER_ACCEPT, 0)


def resets(tun, version, listener):
    """A reset never has a header: one with a header does not reset the connection."""
    for name, carrier, wrap in WRAPS:
        pair = Connection(tun, listener, version, carrier)
        reset = wrap(pair.peer.packet(RST, pos=0), pair.cookie)
        tap.equal(f"IPv{version} a reset {name}: no answer", (tun.heard([reset]), pair.works()), ([], True))
        pair.close()


def segment(end, payload, mark=PROBE_MARK, **fields):
    """A control packet: old bytes, as a carrier sends them."""
    return end.packet(**({"flags": ACK, "pos": -len(payload), "options": mark, "payload": payload} |
                         fields))


def int_questions(tun, version, listener):
    """An option on a pure ACK of an established connection asks for telemetry, and nothing else does."""
    asks = {"options": negotiation(*ASKS)}
    pair, since = Connection(tun, listener, version), Since("int")
    for answered in (True, True, True, False):
        words, got = tun.heard([pair.peer.packet(ACK, **asks)]), since()
        tap.equal(f"IPv{version} an ACK asks: three are answered, the next is TCP's",
                  (words, {k: v for k, v in got.items() if k.startswith(("in", "out"))}),
                  (["ACK"], {"in_handshake": 1, "out_handshake": 1}) if answered else
                  ([], {"in_handshake": 1, "in_no_flow": 1}))
        since = Since("int")
    tap.claim(f"IPv{version} after ACKs that ask: plain data arrives", pair.works())
    pair.close()
    for what, fields, words, count in (
            ("beyond the window", {"pos": 1 << 30}, ["ACK"], "in_no_flow"),
            ("of what was not sent", {"ack": 1 << 20}, [], "in_no_flow"),
            ("with FIN", {"flags": ACK | wire.FIN}, ["ACK"], "in_no_flow"),
            ("with a wrong checksum", {}, [], "in_bad_sum")):
        pair, since = Connection(tun, listener, version), Since("int")
        before = flows("int")
        packet = pair.peer.packet(**({"flags": ACK} | asks | fields))
        if "checksum" in what:
            packet = packet[:-1] + bytes([packet[-1] ^ 1])
        heard, got = tun.heard([packet]), since()
        tap.equal(f"IPv{version} an ACK asks, {what}: left to TCP, counted",
                  (heard, got.get(count), got.get("out_handshake"), added("int", before)), (words, 1, None, 0))
        pair.close()
    since, end = Since("int"), End(version, listener.getsockname()[1])
    tap.equal(f"IPv{version} an ACK asks without a connection: refused by TCP",
              (tun.heard([end.packet(ACK, **asks)]), since().get("in_no_flow")), (["RST"], 1))


def csig_questions(tun, version, listener):
    """The same for CSIG."""
    asks = {"flags": ACK, "pos": 0, "options": negotiation(2, 0)}
    knob("csig", 1)
    for what, fields, counted, words in (
            ("within the windows", {}, {"in_handshake": 1, "out_handshake": 1, "peer_supported": 1}, ["ACK"]),
            ("beyond the window", {"pos": 1 << 30}, {"in_handshake": 1, "in_no_flow": 1}, None),
            ("of what was not sent", {"ack": 1 << 20}, {"in_handshake": 1, "in_no_flow": 1}, None),
            ("with FIN", {"flags": ACK | wire.FIN, "pos": 5}, {"in_handshake": 1, "in_no_flow": 1}, None)):
        pair, since = Connection(tun, listener, version), Since("csig")
        heard = tun.heard([pair.peer.packet(**(asks | fields))])
        tap.equal(f"IPv{version} an ACK that asks for CSIG {what}",
                  (words and heard, since(), pair.works()), (words, counted, True))
        pair.close()
    since, end = Since("csig"), End(version, listener.getsockname()[1])
    tap.equal(f"IPv{version} an ACK that asks for CSIG without a connection: refused by TCP",
              (tun.heard([end.packet(**asks)]), since()), (["RST"], {"in_handshake": 1, "in_no_flow": 1}))
    knob("csig", 0)


def cookies(tun, version, listener):
    """Data of a flow with another flow's cookie."""
    pair, other = (Connection(tun, listener, version, "int") for _ in range(2))
    # The answer to the first data counts the peer.
    pair.works()
    for name, carrier, wrap in WRAPS[:1]:
        since = Since(carrier)
        tap.equal(f"IPv{version} another flow's cookie, data {name}: received, the header has no effect",
                  (pair.try_data(wrap, other.cookie), since()),
                  ((["ACK"], True), {"in_data": 1, "in_bad_cookie": 1}))
        since = Since(carrier)
        far = wrap(pair.peer.data(b"forged", 1 << 30), other.cookie)
        tap.equal(f"IPv{version} another flow's cookie, forged data {name}: as without a flow",
                  (tun.heard([far]), pair.received(), since()),
                  (["ACK"], b"", {"in_data": 1, "in_bad_cookie": 1}))
        tap.equal(f"IPv{version} its own cookie, data {name}: taken",
                  (pair.try_data(wrap)[1], pair.works()), (True, True))
    pair.close()
    other.close()


def as_it_came(tun, version, listener):
    """Raw sockets for the protocols receive the packets, byte for byte, unless they are TCP's."""
    family, port = wire.FAMILY[version], listener.getsockname()[1]
    raw = {n: socket.socket(family, socket.SOCK_RAW, n) for n in (INT, XCP)}
    for sock in raw.values():
        sock.settimeout(0.1)

    def got(sock):
        try:
            return sock.recv(1 << 16)
        except TimeoutError:
            return None

    for state in ("off", "on"):
        for name, carrier, wrap in WRAPS:
            knob(carrier, int(state == "on"))
            packet = wrap(End(version, port).data(b"content"), 5)
            words = tun.heard([packet])
            body = packet[ip_bytes(packet):]
            if state == "on":
                tap.equal(f"IPv{version} {state}, {name}: no raw socket sees the segment",
                          (got(raw[next_of(packet)]), words), (None, []))
            else:
                want = packet if version == 4 else body
                tap.equal(f"IPv{version} {state}, {name}: a raw socket sees the packet",
                          got(raw[next_of(packet)]), want)
    for sock in raw.values():
        sock.close()


def malformed(tun, version, listener):
    """Malformed headers of both carriers, also in fragments, are passed to the stack unchanged."""
    port = listener.getsockname()[1]
    for what, carrier, packet, count in (
            ("INT of type 9", "int", lambda d: in_int(d, int_header(9) + bytes(8)), "bad_type"),
            ("INT of 255 words", "int",
             lambda d: in_int(d, int_header(2, words=255) + bytes(8)), "bad_length"),
            ("INT below INT", "int",
             lambda d: in_int(d, int_header(2, following=INT) + bytes(8) + NO_TYPE), "bad_next"),
            ("XCP of version 2", "xcp", lambda d: in_xcp(d, xcp_header(version=2)), "bad_version"),
            ("XCP below XCP", "xcp",
             lambda d: in_xcp(d, xcp_header(following=XCP) + xcp_header()), "bad_next"),
            ("XCP above UDP", "xcp", lambda d: in_xcp(d, xcp_header(following=UDP)), "bad_next")):
        whole = packet(End(version, port).syn())
        for how, pieces in (("", [whole]), (" in fragments", fragments(whole, ip_bytes(whole), 24))):
            since = Since(carrier)
            late = {"in_late": 1} if how else {}
            tap.equal(f"IPv{version} {what}{how}: left to the stack, counted",
                      (tun.heard(pieces), since()), ([UNKNOWN_PROTOCOL], {count: 1} | late))


def single_fragment(tun, listener):
    """IPv6 leaves the fragment header in a packet that is one fragment; it must not be received again and again."""
    whole, since = in_xcp(End(6, listener.getsockname()[1]).syn(), xcp_header()), Since("xcp")
    tap.equal("IPv6 XCP in a single fragment: left to the stack",
              (tun.heard(fragments(whole, ip_bytes(whole), 65528)), since()), ([UNKNOWN_PROTOCOL], {}))


# Tunnels and IPsec -----------------------------------------------------------

INNER = {4: ("203.0.113.2", "203.0.113.1"), 6: ("2001:db8:9::2", "2001:db8:9::1")}


class Inner(End):
    """The script's end of a connection through a tunnel."""

    def packet(self, flags, **fields):
        script, stack = wire.SCRIPT[self.version], wire.STACK[self.version]
        wire.SCRIPT[self.version], wire.STACK[self.version] = INNER[self.version]
        try:
            return super().packet(flags, **fields)
        finally:
            wire.SCRIPT[self.version], wire.STACK[self.version] = script, stack


def outer(version, following, body):
    """Return a packet of the script with a congestion header in front of body."""
    head = End(version, 9).syn()
    head = head[:ip_bytes(head)]
    return in_xcp(finish(set_next(head, following) + body), xcp_header(following=following))


# Name, type of link, protocol, header between the outer and the inner packet
TUNNELS = {4: (("IPIP", "ipip", IPIP, b""), ("GRE", "gre", GRE, struct.pack("!HH", 0, 0x800))),
           6: (("IPv6 in IPv6", "ip6tnl encaplimit none", IPV6, b""),
               ("GRE", "ip6gre encaplimit none", GRE, struct.pack("!HH", 0, 0x86dd)))}


def tunnel(tun, version, listener, name, following, between):
    """An existing tunnel: packets that leave it behind a congestion header."""
    port = listener.getsockname()[1]
    for knobs, want, grown in (((1, 0), [UNKNOWN_PROTOCOL], {"in_off": 1}),
                               ((0, 1), [UNKNOWN_PROTOCOL], {"in_off": 1}),
                               ((1, 1), ["through the tunnel"], {"tunnel_in": 1, "tunnel_bad": 1})):
        knob("xcp", knobs[0])
        knob("xcp_tunnel", knobs[1])
        since, end = Since("xcp"), Inner(version, port)
        tap.equal(f"IPv{version} {name} below 63, xcp {knobs[0]}, xcp_tunnel {knobs[1]}",
                  (tun.heard([outer(version, following, between + end.syn())]), since()),
                  (want, grown))
    tun.heard([outer(version, following, between + end.packet(RST, pos=0))])
    # A filter that drops all tunnel packets.
    tc_filter(version, f"ip_proto {following:x}")
    tap.equal(f"IPv{version} {name} below 63, tc drops {name}: not bypassed",
              tun.heard([outer(version, following, between + Inner(version, port).syn())]), [])
    tc_clear()
    knob("xcp_tunnel", 0)


def tunnels(tun, version):
    for name, kind, following, between in TUNNELS[version]:
        hosts.ip(f"""link add t0 type {kind} local {wire.STACK[version]} remote {wire.SCRIPT[version]}
link set t0 mtu 1300 up
addr add {INNER[version][1]}/{24 if version == 4 else 64} dev t0 {'nodad' if version == 6 else ''}""")
        with socket.socket(wire.FAMILY[version], socket.SOCK_STREAM) as listener:
            listener.bind((INNER[version][1], 0))
            listener.listen()
            tunnel(tun, version, listener, name, following, between)
        hosts.run("ip link del t0")


def no_states():
    """Return the number of AH and ESP packets for which IPsec found no state."""
    with open("/proc/thread-self/net/xfrm_stat", encoding="ascii") as file:
        return dict(line.split() for line in file)["XfrmInNoStates"]


def ipsec(tun, version):
    for name, following, body in (
            ("ESP", ESP, struct.pack("!II", 77, 1) + bytes(64)),
            ("AH", AH, struct.pack("!BBHII", TCP, 4, 0, 77, 1) + bytes(64))):
        packet = outer(version, following, body)
        # The kernel's handler of the protocol must exist.
        hosts.run(f"ip xfrm state add src {INNER[version][0]} dst {INNER[version][1]} proto"
                  f" {name.lower()} spi 9 mode transport {KEYS[name]}")
        for knobs, want, grown, seen in (((1, 0), [UNKNOWN_PROTOCOL], {"in_off": 1}, 0),
                                         ((0, 1), [UNKNOWN_PROTOCOL], {"in_off": 1}, 0),
                                         ((1, 1), [], {"ipsec_in": 1}, 1)):
            knob("xcp", knobs[0])
            knob("xcp_ipsec", knobs[1])
            since, before = Since("xcp"), int(no_states())
            tap.equal(f"IPv{version} {name} below 63, xcp {knobs[0]}, xcp_ipsec {knobs[1]}",
                      (tun.heard([packet]), since(), int(no_states()) - before),
                      (want, grown, seen))
        tc_filter(version, f"ip_proto {following:x}")
        before = int(no_states())
        tap.equal(f"IPv{version} {name} below 63, tc drops {name}: not bypassed",
                  (tun.heard([packet]), int(no_states()) - before), ([], 0))
        tc_clear()
        knob("xcp_ipsec", 0)
        knob("xcp", 1)
        hosts.run("ip xfrm state flush")


KEYS = {"ESP": "aead rfc4106(gcm(aes)) 0x" + "5a" * 20 + " 128",
        "AH": "auth-trunc hmac(sha256) 0x" + "a5" * 32 + " 128"}


# Filters ---------------------------------------------------------------------

def nft(text):
    subprocess.run(["nft", "-f", "-"], input=text, text=True, check=True)


def tc_filter(version, match):
    hosts.run("tc qdisc add dev tun0 clsact")
    hosts.run(f"tc filter add dev tun0 ingress protocol {'ip' if version == 4 else 'ipv6'}"
              f" flower {match} action drop")


def tc_clear():
    hosts.run("tc qdisc del dev tun0 clsact")


def nft_filter(family, hook):
    nft(f"""table {family} unsolicited {{
	chain c {{
		type filter hook {hook};
		tcp dport {FILTERED} drop
	}}
}}""")
    return lambda: hosts.run(f"nft delete table {family} unsolicited")


def with_tc(version):
    tc_filter(version, f"ip_proto tcp dst_port {FILTERED}")
    return tc_clear


class Filters:
    """Each method adds a filter for an IP version, and returns the function that removes it."""
    ALL = {
        "tc on ingress": with_tc,
        "nftables on ingress": lambda v: nft_filter("netdev", "ingress device tun0 priority 0"),
        "nftables, the first in PRE_ROUTING":
            lambda v: nft_filter("inet", "prerouting priority -2147483648"),
        "nftables at the carriers' priority": lambda v: nft_filter("inet", "prerouting priority -450"),
        "nftables in front of conntrack":
            lambda v: nft_filter("inet", "prerouting priority -300"),
        "nftables at input": lambda v: nft_filter("inet", "input priority 0"),
    }


def filtered_handshakes(tun, version, name):
    """No SYN passes a filter of its port, in any format."""
    tap.equal(f"IPv{version} {name}: a plain SYN is dropped",
              tun.heard([End(version, FILTERED).syn()]), [])
    for form, _, wrap, dropped in SYNS:
        whole = wrap(End(version, FILTERED).syn())
        want = [] if dropped else [UNKNOWN_PROTOCOL]
        tap.equal(f"IPv{version} {name}: a SYN {form} does not pass", tun.heard([whole]), want)
        tap.equal(f"IPv{version} {name}: a SYN {form} in fragments does not pass",
                  tun.heard(fragments(whole, ip_bytes(whole), 24)), want)


def filters(tun, version, listeners):
    for name, put in Filters.ALL.items():
        # These connections negotiate before the filter is added.
        pairs = [Connection(tun, listeners[FILTERED], version, carrier) for _, carrier, _ in WRAPS]
        free = [Connection(tun, listeners[OPEN], version, carrier) for _, carrier, _ in WRAPS]
        plain = [Connection(tun, listeners[FILTERED], version) for _ in WRAPS]
        remove = put(version)
        filtered_handshakes(tun, version, name)
        for (form, _, wrap), pair, other, third in zip(WRAPS, pairs, free, plain):
            def pieces(data, cookie, wrap=wrap):
                whole = wrap(data, cookie)
                return list(fragments(whole, ip_bytes(whole), 32))

            tap.equal(f"IPv{version} {name}: data {form} does not pass, negotiated or not",
                      (pair.try_data(wrap), third.try_data(wrap)), (([], False), ([], False)))
            tap.equal(f"IPv{version} {name}: data {form} in fragments does not pass",
                      (pair.try_data(pieces), third.try_data(pieces)), (([], False), ([], False)))
            tap.equal(f"IPv{version} {name}: data {form} in fragments to another port does",
                      other.try_data(pieces)[1], True)
            tap.equal(f"IPv{version} {name}: data {form} to another port does",
                      other.try_data(wrap)[1], True)
        remove()
        for (form, _, wrap), pair in zip(WRAPS, pairs):
            tap.equal(f"IPv{version} without {name}: data {form} arrives", pair.try_data(wrap)[1],
                      True)
        for pair in pairs + free + plain:
            pair.close()


def xdp_filter(tun, version, listeners):
    """An XDP program sees a packet once, as it arrived, so no header that hides TCP is removed."""
    if not xdp.is_there():
        print("# the kernel has no BPF: XDP is left to the debug kernel's test")
        return
    pairs = [Connection(tun, listeners[OPEN], version, carrier) for _, carrier, _ in WRAPS]
    program, end = xdp.Program("tun0", FILTERED), End(version, OPEN)
    tap.equal(f"IPv{version} XDP: a plain SYN to its port is dropped, one to another is not",
              (tun.heard([End(version, FILTERED).syn()]), tun.heard([end.syn()])),
              ([], ["SYN-ACK"]))
    tun.heard([end.packet(RST, pos=0)])
    for form, carrier, wrap, dropped in SYNS:
        for port in (FILTERED, OPEN):
            since = Since(carrier)
            tap.equal(f"IPv{version} XDP: a SYN {form} to port {port} stays below its header",
                      (tun.heard([wrap(End(version, port).syn())]), since()),
                      ([], {"in_no_flow": 1}) if dropped else ([UNKNOWN_PROTOCOL], {"bad_type": 1}))
    plain = Connection(tun, listeners[OPEN], version)
    for (form, carrier, wrap), pair in zip(WRAPS, pairs):
        for whose in (pair, plain):
            since = Since(carrier)
            tap.equal(f"IPv{version} XDP: data {form} stays below its header"
                      f"{', without a flow' if whose is plain else ''}",
                      (whose.try_data(wrap), since()), (([UNKNOWN_PROTOCOL], False), {"in_hidden": 1}))
    plain.close()
    for carrier in ("int", "xcp"):
        knob(carrier, TRUST)
    for (form, carrier, wrap), pair in zip(WRAPS, pairs):
        before = program.seen()
        tap.equal(f"IPv{version} XDP that knows headers: data {form} is taken, and seen once",
                  (pair.try_data(wrap)[1], program.seen() - before), (True, 1))
    for carrier in ("int", "xcp"):
        knob(carrier, 1)
    program.remove()
    for pair in pairs:
        pair.close()


# A filter of a device below --------------------------------------------------

def stacked(version):
    """tc on a bridge's port would not see the packet behind a header, so no header is removed."""
    hosts.build("u")
    hosts.ip("""link add u-w netns u type veth peer name w-u
-n u link add br0 type bridge
-n u link set u-w master br0 up
-n u link set br0 up
link set w-u up
-n u addr add 198.51.100.1/24 dev br0
-n u addr add 2001:db8:2::1/64 dev br0 nodad
addr add 198.51.100.2/24 dev w-u
addr add 2001:db8:2::2/64 dev w-u nodad""")
    script, stack = {4: "198.51.100.2", 6: "2001:db8:2::2"}, {4: "198.51.100.1", 6: "2001:db8:2::1"}
    with hosts.inside("u"):
        listener = socket.socket(wire.FAMILY[version], socket.SOCK_STREAM)
    listener.bind((stack[version], OPEN))
    listener.listen()

    def opened(cc, carrier):
        before = hosts.counts("u", carrier)
        sock = socket.socket(wire.FAMILY[version], socket.SOCK_STREAM)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, cc)
        sock.bind((script[version], 0))
        sock.settimeout(10)
        sock.connect((stack[version], OPEN))
        listener.accept()[0].close()
        sock.close()
        return {k: v for k, v in hosts.since("u", before, carrier).items()
                if v and k in ("in", "in_handshake", "in_hidden")}

    def stray(carrier):
        before = hosts.counts("u", carrier)
        packet = End(version, OPEN).data(b"x")
        shim = {"int": data_shim(1, 0), "xcp": xcp_header()}[carrier]
        with socket.socket(wire.FAMILY[version], socket.SOCK_RAW, {"int": INT, "xcp": XCP}[carrier]) as raw:
            raw.sendto(shim + packet[ip_bytes(packet):], (stack[version], 0))
        time.sleep(0.01)
        return {k: v for k, v in hosts.since("u", before, carrier).items() if v and not k.startswith("flows")}

    def connected(cc):
        sock = socket.socket(wire.FAMILY[version], socket.SOCK_STREAM)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, cc)
        sock.bind((script[version], 0))
        sock.connect((stack[version], OPEN))
        other = listener.accept()[0]
        other.settimeout(10)
        return sock, other

    def passes(pair, size=20000):
        """Send data. Return True if it arrives before a second timeout."""
        start, left = time.monotonic(), size
        pair[0].sendall(bytes(size))
        while left:
            left -= len(pair[1].recv(left))
        return time.monotonic() - start < 2 * RTO_S

    # Neighbours must be resolved before the first packet.
    opened(b"reno", "int")
    for carrier, cc, taken in (("int", b"hpccpp", "in_handshake"), ("xcp", b"xcp", "in_handshake")):
        knob(f"{carrier}_unsupported_s", 0)
        tap.claim(f"IPv{version} {carrier} over a bridge: negotiated",
                  opened(cc, carrier).get(taken, 0) > 0)
        pair = connected(cc)
        tap.claim(f"IPv{version} {carrier} over a bridge: data passes", passes(pair))
        hosts.run("tc -n u qdisc add dev u-w clsact")
        hosts.run("tc -n u filter add dev u-w ingress protocol ip flower ip_proto udp action drop")
        time.sleep(TICK_S)
        before = hosts.counts("u", carrier)
        tap.claim(f"IPv{version} {carrier} over a bridge whose port gets a filter: an open connection goes on",
                  passes(pair))
        # HPCC++ has no header in its data here, and ends, since no hop reports.
        tap.equal(f"IPv{version} {carrier} the same: no header hides data from the filter",
                  (hosts.since("u", before, carrier)["in_hidden"] > 0, hosts.cc_of(pair[0])),
                  (True, "xcp-reno") if carrier == "xcp" else (False, "hpccpp-reno"))
        hosts.close(*pair)
        # An option of TCP hides nothing.
        tap.equal(f"IPv{version} {carrier} over a bridge whose port has a filter: negotiated",
                  opened(cc, carrier).get("in_handshake"), 1)
        tap.equal(f"IPv{version} {carrier} the same, data without a flow: stays below its header",
                  stray(carrier), {"in_hidden": 1})
        hosts.sysctl("u", f"hopcc/{carrier}", TRUST)
        tap.claim(f"IPv{version} {carrier} the same, filters trusted: negotiated",
                  opened(cc, carrier).get(taken, 0) > 0)
        hosts.sysctl("u", f"hopcc/{carrier}", 1)
        hosts.run("tc -n u qdisc del dev u-w clsact")
        time.sleep(TICK_S)
        knob(f"{carrier}_unsupported_s", 60)
    listener.close()
    hosts.run("ip netns del u")
    hosts.run("ip link del w-u", check=False)


# CSIG ------------------------------------------------------------------------

TAGS = {"compact": struct.pack("!HH", 0x88b5, 0x0f80),
        "expanded": struct.pack("!HHI", 0x88b6, 1, 0x00ffff00)}


def tagged(tun_version, port, tag, mac):
    """Return a frame with a tag and a SYN."""
    kind = {4: 0x800, 6: 0x86dd}[tun_version]
    return mac + b"\x02" + bytes(5) + tag + struct.pack("!H", kind) + End(tun_version, port).syn()


def tags(version):
    """Frames with a tag: filters on ingress see the frame; XDP sees it once, as it arrived."""
    hosts.build("u")
    hosts.ip(f"""link add u-w netns u type veth peer name w-u
-n u link set u-w up
link set w-u up
-n u addr add {wire.STACK[version]}/{24 if version == 4 else 64} dev u-w {'nodad' if version == 6 else ''}
-n u neigh add {wire.SCRIPT[version]} lladdr 02:00:00:00:00:00 dev u-w""")
    hosts.sysctl("u", "hopcc/csig", 1)
    with hosts.inside("u"):
        listeners = [listen(version, port) for port in (FILTERED, OPEN)]
    frames = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    frames.bind(("w-u", 3))
    shown = subprocess.check_output("ip -n u -br link show dev u-w".split(), text=True)
    mac = bytes.fromhex(shown.split()[2].replace(":", ""))
    tun = types.SimpleNamespace(word=Wire.word, unwrap=Wire.unwrap)

    def heard(frame):
        frames.send(frame)
        words = []
        while select.select([frames], [], [], 0.01)[0]:
            raw, where = frames.recvfrom(1 << 16)
            if where[2] != socket.PACKET_OUTGOING and raw[12:14] in (b"\x08\x00", b"\x86\xdd"):
                words.append(Wire.word(tun, raw[14:]))
        return [word for word in words if word]

    def grown(before):
        return {k: v for k, v in hosts.since("u", before, "csig").items()
                if v and k in ("in_tag", "in_fenced", "in_hidden")}

    for form, tag in TAGS.items():
        for ports, count in (("\n", "in_fenced"), ("u-w", "in_tag")):
            hosts.sysctl("u", "hopcc/csig_ports", ports)
            where = f"IPv{version} a SYN behind a {form} tag, {count}"
            tap.equal(f"{where}: answered", heard(tagged(version, OPEN, tag, mac)), ["SYN-ACK"])
            hosts.run("tc -n u qdisc add dev u-w clsact")
            hosts.run(f"tc -n u filter add dev u-w ingress protocol {'ip' if version == 4 else 'ipv6'}"
                      f" flower ip_proto tcp dst_port {FILTERED} action drop")
            tap.equal(f"{where}: does not get past tc", heard(tagged(version, FILTERED, tag, mac)), [])
            if xdp.is_there():
                with hosts.inside("u"):
                    program = xdp.Program("u-w", FILTERED)
                before = hosts.counts("u", "csig")
                words = heard(tagged(version, OPEN, tag, mac))
                tap.equal(f"{where}: XDP sees the frame once",
                          (words, program.seen(), grown(before)),
                          (["SYN-ACK"], 1, {"in_tag": 1}) if count == "in_tag" else
                          ([], 1, {"in_hidden": 1}))
                program.remove()
            hosts.run("tc -n u qdisc del dev u-w clsact")
    for sock in (frames, *listeners):
        sock.close()
    hosts.run("ip netns del u")
    hosts.run("ip link del w-u", check=False)


def main():
    for module in ("tcp_hpccpp", "tcp_xcp", "net_csig_tag"):
        hosts.run(f"modprobe {module}", check=False)
    tun = Wire()
    for path in ("ipv4/icmp_ratelimit", "ipv6/icmp/ratelimit"):
        hosts.write("/proc/sys/net/" + path, 0)
    for version in (4, 6):
        listeners = {port: listen(version, port) for port in (FILTERED, OPEN)}
        switched_off(tun, version, listeners[OPEN])
        handshakes(tun, version, listeners[OPEN])
        answers_without_question(tun, version)
        without_a_flow(tun, version, listeners[OPEN])
        requests(tun, version, listeners[OPEN])
        sent_again(tun, version, listeners[OPEN])
        resets(tun, version, listeners[OPEN])
        int_questions(tun, version, listeners[OPEN])
        csig_questions(tun, version, listeners[OPEN])
        cookies(tun, version, listeners[OPEN])
        as_it_came(tun, version, listeners[OPEN])
        malformed(tun, version, listeners[OPEN])
        if version == 6:
            single_fragment(tun, listeners[OPEN])
        if version == 6:
            forwarded(tun, listeners[OPEN])
        tunnels(tun, version)
        ipsec(tun, version)
        filters(tun, version, listeners)
        xdp_filter(tun, version, listeners)
        stacked(version)
        tags(version)
        for listener in listeners.values():
            listener.close()
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
