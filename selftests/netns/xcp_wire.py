#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""XCP's header byte by byte: the headers that the carrier writes, accepts and refuses. Prints TAP.
Needs root and the path of xcp_drive.ko; changes nothing outside its own network namespace.

    the stack under test [tun0] ---- this script, the other end of TCP
"""
import random
import socket
import struct
import sys
import time

import hosts
import shims
import wire
from shims import REFUSALS, TOO_BIG, finish, fragments, ip_bytes, listen, negotiated, negotiation, quoted_error, \
    refuse, set_next, truncate
from wire import ACK, RST, SYN, Peer

XCP = 63
STANDARD, MINIMAL, MICRO = 1, 2, 3
MSS = Peer.MSS
LIMIT = "/proc/sys/net/hopcc/flow_limit"

ASKS, ANSWERS = (4, 0), (0, 4)     # bits of net_xcp in the option that negotiates

tap = hosts.Tap()


def header(form=MICRO, rtt=100, throughput=1000, delta=0, reverse=0, version=1,
           following=socket.IPPROTO_TCP, length=20, flags=0):
    return struct.pack("!BBBBIIii", version << 4 | form, following, length, flags,
                       rtt, throughput, delta, reverse)


BIG = {"throughput": 1000000}       # a large window
UNKNOWN = header(rtt=0, throughput=0)
TRY = 2                             # the packet is a copy, which ends at the carrier


def unwrap(data):
    """Return (packet without the header, fields of the header or None)."""
    if shims.next_of(data) != XCP:
        return data, None
    first, following, length, flags, *rest = struct.unpack_from("!BBBBIIii", data, ip_bytes(data))
    assert first >> 4 == 1 and length == 20, "the stack sent no header of ours"
    return shims.remove(data, length, following), (first & 15, flags, *rest)


def counts():
    return shims.counts("xcp")


class Wire(shims.Wire):
    """.shim is of unwrap()."""
    unwrap = staticmethod(unwrap)


class Talker(shims.Talker):
    """A peer that speaks XCP."""
    protocol = XCP
    quick_acks = False

    def knock(self, listener, shim):
        """Send a SYN that asks, if there shall be headers. Return the SYN-ACKs."""
        self.stack_port = listener.getsockname()[1]
        self.send(SYN, pos=-1, ack=-1, options=self.OPTIONS + (negotiation(*ASKS) if shim else b""))
        answers = self.wire.read(5)
        if answers:
            self.stack_isn = answers[0].seq
        return answers


def another_protocol(tun, version):
    """253 is the number of Inband Flow Analyzer: such packets are not the carrier's."""
    listener, before = listen(version), counts()
    peer = Talker(tun, version, 49999)
    peer.protocol = 253
    got = shims.Talker.knock(peer, listener, UNKNOWN)
    ifa = struct.pack("!BBBB", 0x20, socket.IPPROTO_TCP, 0, 64)
    got += shims.Talker.knock(peer, listener, ifa)
    tap.equal(f"IPv{version}: protocol 253, a header of XCP's and of IFA's: not the carrier's",
              (got, {k: v for k, v in counts().items() if v != before[k]}), ([], {}))
    listener.close()


def handshake(tun, version):
    listener = listen(version)
    peer = Talker(tun, version, 50000)
    tap.equal(f"IPv{version}: a SYN asks: the SYN-ACK answers, without a header",
              [(negotiated(p)[0], p.shim, p.good) for p in peer.knock(listener, UNKNOWN)], [(ANSWERS, None, True)])
    time.sleep(1.5)
    tap.equal(f"IPv{version}: SYN-ACK again: without", [negotiated(p) for p in tun.read(5)], [None])
    peer.send(RST | ACK, pos=0)
    peer = Talker(tun, version, 50001)
    tap.equal(f"IPv{version}: a SYN that does not ask: neither does the SYN-ACK",
              [negotiated(p) for p in peer.knock(listener, None)], [None])
    peer.send(RST | ACK, pos=0)
    listener.close()


def tries(tun, version):
    """The peer tries a header by a copy of an ACK: a copy answers, and the header's end is here."""
    listener = listen(version)
    peer = Talker(tun, version, 50010)
    peer.knock(listener, UNKNOWN)
    peer.send(ACK)
    peer.read(5)
    for what, fields, want in (("within the windows", {}, [None, (MINIMAL, TRY, 0, 0, 0, 0)]),
                               ("beyond the window", {"pos": 1 << 30}, [])):
        peer.send(ACK, shim=header(rtt=0, throughput=0, flags=TRY), **fields)
        tap.equal(f"IPv{version} a copy tries a header, {what}", sorted((p.shim for p in peer.read(5)), key=bool), want)
    before = counts()
    peer.send(ACK, payload=b"x")
    tap.equal(f"IPv{version} a copy tried a header: ACKs have none before data has one",
              [p.shim for p in peer.read(50)], [None])
    peer.send(ACK, pos=1, payload=b"x", shim=header(throughput=1, delta=3))
    tap.equal(f"IPv{version} data has a header: so has the ACK", [p.shim and p.shim[5] for p in peer.read(50)], [3])
    peer.send(ACK, pos=2, payload=b"x")
    tap.equal(f"IPv{version} behind it an ACK of plain data has one, too", [p.shim and p.shim[5] for p in peer.read(50)], [0])
    tap.equal(f"IPv{version} that is a peer with support", counts()["peer_supported"] - before["peer_supported"], 0)
    peer.send(RST | ACK, pos=3)
    listener.accept()[0].close()
    listener.close()
    time.sleep(200)
    tun.read(5)


def flooded(tun, version):
    """An attacker can send SYNs with a header at no cost: half-open flows get at most a quarter of
    the table, and the newest of them keep their entries."""
    hosts.write(LIMIT, 40)
    listener, before = listen(version), counts()
    peers = [Talker(tun, version, 52000 + n) for n in range(50)]
    got = [peer.knock(listener, UNKNOWN) for peer in peers]
    after = counts()
    tap.equal(f"IPv{version} 50 SYNs, room for 10: the oldest make room for the newest",
              ([bool(negotiated(p)) for packets in got for p in packets],
               [after[k] - before[k] for k in ("flows_half_open", "flows_evicted",
                                               "flows_refused")]),
              ([True] * 50, [10, 40, 0]))
    peers[-1].send(ACK)
    peers[-1].send(ACK, payload=bytes(MSS), shim=header(throughput=1, delta=6))
    tap.equal(f"IPv{version} 50 SYNs: one of the newest 10 goes on",
              ([p.shim[5] for p in peers[-1].read(5) if p.shim], counts()["flows_half_open"]),
              ([6], 9))
    lost(version, peers[0], listener)
    for peer in peers:
        peer.send(RST | ACK, pos=MSS if peer in (peers[0], peers[-1]) else 0)
    listener.close()
    time.sleep(5)
    tun.read(5)
    tap.equal(f"IPv{version} 50 SYNs: nothing is left", counts()["flows"], 0)
    hosts.write(LIMIT, 65536)


def lost(version, peer, listener):
    """This end has lost the flow of a connection that negotiated: it is received, and answered."""
    before = counts()
    peer.send(ACK)
    peer.send(ACK, payload=bytes(MSS), shim=header(throughput=1, delta=7))
    after = counts()
    tap.equal(f"IPv{version} 50 SYNs: one whose entry made room goes on, too",
              ([p.shim and p.shim[5] for p in peer.read(5)],
               [after[k] - before[k] for k in ("flows", "flows_half_open", "in_no_flow")]),
              ([7], [1, 0, 0]))
    received = []
    for _ in range(2):
        sock = listener.accept()[0]
        received.append(len(sock.recv(1 << 16)))
        sock.close()
    tap.equal(f"IPv{version} 50 SYNs: both connections received the data", received, [MSS] * 2)


def answers(tun, version):
    """The pending feedback, and when it is returned."""
    listener = listen(version)
    peer = Talker(tun, version, 50100)
    sock = peer.open(listener, UNKNOWN)
    steps = (
        ("first of two: delayed", [header(delta=700, **BIG)], []),
        ("second: the sum", [header(delta=-200, **BIG)], [500]),
        ("a sum of 0 is returned", [header(delta=9, **BIG), header(delta=-9, **BIG)], [0]),
        ("Standard, flags", [header(STANDARD, delta=5, flags=1, **BIG),
                             header(STANDARD, delta=6, flags=0x80, **BIG)], [11]),
        ("Minimal asks nothing", [header(MINIMAL, 0, 0, 0, 77), header(MINIMAL, 0, 0)], [0]),
        ("plain data: one header is enough", [None, None], [None]),
        ("more than 32 bits: the rest follows",
         [header(delta=2**31 - 1, **BIG), header(delta=10, **BIG)], [2**31 - 1]),
        ("the rest", [None, None], [10]),
        ("a small window: at once", [header(throughput=1, delta=3)], [3]),
    )
    pos = 0
    for what, headers, want in steps:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 0)
        for xcp in headers:
            peer.send(ACK, pos=pos, payload=bytes(MSS), shim=xcp)
            pos += MSS
        got = peer.read(2)
        tap.equal(f"IPv{version} answer: {what}", [p.shim and p.shim[5] for p in got], want)
        tap.claim(f"IPv{version} answer: {what}: Minimal, sums right",
                  all((p.shim is None or p.shim[0] == MINIMAL) and p.good for p in got))
    peer.send(RST | ACK, pos=pos)
    sock.close()
    listener.close()


def data_answers(tun, version):
    """Data of a socket with another congestion control carries the pending feedback, once."""
    listener = listen(version)
    peer = Talker(tun, version, 50150)
    sock = peer.open(listener, UNKNOWN)
    sent = 0
    for what, delta, content, want in (
            ("a short segment", 7, b"short", [7]), ("nothing is pending", None, b"plain", [None]),
            ("a full segment", -8, bytes(MSS), [-8]),
            ("a GSO packet: the first of its segments", 9, bytes(3 * MSS), [9, 0, 0])):
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 0)
        if delta:
            peer.send(ACK, ack=sent, payload=bytes(MSS), shim=header(delta=delta, **BIG))
            peer.isn = (peer.isn + MSS) % 2**32
        before = counts()
        sock.send(content)
        got = peer.read(5)
        sent += len(content)
        tap.equal(f"IPv{version} answer on data: {what}",
                  ([p.shim and p.shim[5] for p in got], sum(p.size for p in got),
                   counts()["out_gso"] - before["out_gso"]),
                  (want, len(content), int(len(want) > 1)))
        tap.claim(f"IPv{version} answer on data: {what}: Minimal, bytes and sums right",
                  all((p.shim is None or p.shim[:5] == (MINIMAL, 0, 0, 0, 0)) and
                      p.good for p in got) and
                  b"".join(p.raw[-p.size:] for p in got) == content)
        peer.send(ACK, ack=sent)
        peer.read(5)
    peer.send(RST | ACK, ack=sent)
    sock.close()
    listener.close()


MALFORMED = (
    # name, header, change of the packet, counter
    ("version 0", header(version=0), None, "bad_version"),
    ("version 2", header(version=2), None, "bad_version"),
    ("version 15", header(version=15), None, "bad_version"),
    ("format 0", header(0), None, "bad_format"),
    ("format 4", header(4), None, "bad_format"),
    ("format 15", header(15), None, "bad_format"),
    ("length 0", header(length=0), None, "bad_length"),
    ("length 40", header(length=40), None, "bad_length"),
    ("length 255", header(length=255), None, "bad_length"),
    ("nested", header(following=XCP) + header(), None, "bad_next"),
    ("nested twice", header(following=XCP) * 2 + header(), None, "bad_next"),
    ("followed by UDP", header(following=17), None, "bad_next"),
    ("followed by hop-by-hop options", header(following=0), None, "bad_next"),
    ("no byte of it", header(), truncate(0), "bad_truncated"),
    ("one byte of it", header(), truncate(1), "bad_truncated"),
    ("19 bytes of it", header(), truncate(19), "bad_truncated"),
    ("nothing behind it", header(), truncate(20), "bad_truncated"),
    ("half of TCP behind it", header(), truncate(30), "bad_truncated"),
)

# Valid headers that only net.hopcc.xcp_tunnel and xcp_ipsec allow, which are 0 here.
NOT_ALLOWED = tuple((f"followed by protocol {n}", header(following=n), None, "in_off")
                    for n in (4, 41, 47, 50, 51))


def malformed(tun, version):
    """Malformed headers between valid ones are counted and left alone; the stream is intact."""
    listener = listen(version)
    peer = Talker(tun, version, 50200)
    sock = peer.open(listener, UNKNOWN)
    sent = b""
    for what, xcp, change, counter in MALFORMED + NOT_ALLOWED:
        before = counts()
        payload = random.Random(what).randbytes(MSS)
        peer.send(ACK, pos=len(sent), payload=bytes(MSS), shim=xcp, change=change)
        peer.read(1)
        after = counts()
        grown = {k: after[k] - before[k] for k in after if after[k] != before[k]}
        peer.send(ACK, pos=len(sent), payload=payload, shim=header())
        sent += payload
        peer.read(1)
        tap.equal(f"IPv{version} malformed: {what}", grown, {counter: 1})
    tap.claim(f"IPv{version} malformed: stream intact", sock.recv(1 << 20) == sent)
    peer.send(RST | ACK, pos=len(sent))
    sock.close()
    listener.close()


def odd_shapes(tun, version):
    """Fragments, IP options and extension headers around a good header."""
    listener = listen(version)
    peer = Talker(tun, version, 50300)
    sock = peer.open(listener, UNKNOWN)
    sent = b""
    raw = []

    def deliver(what, change, late):
        nonlocal sent
        before = counts()
        payload = random.Random(what).randbytes(MSS)
        raw.clear()
        peer.send(ACK, pos=len(sent), payload=payload, shim=header(throughput=1, delta=4),
                  change=lambda data: raw.extend(change(data)) or raw[0])
        for more in raw[1:]:
            tun.write(more)
        sent += payload
        got = peer.read(2)
        after = counts()
        tap.equal(f"IPv{version} {what}: taken, answered",
                  (after["in"] - before["in"], after["in_late"] - before["in_late"],
                   [p.shim and p.shim[5] for p in got]), (1, late, [4]))

    deliver("fragments of 512 bytes", lambda d: fragments(d, ip_bytes(d), 512), 1)
    deliver("fragments of 8 bytes", lambda d: fragments(d, ip_bytes(d), 8), 1)
    if version == 4:
        deliver("IP options", lambda d: [finish(
            bytes([0x4a]) + d[1:20] + b"\1" * 20 + d[20:])], 0)
    else:
        options = bytes([XCP, 0, 1, 4, 0, 0, 0, 0])
        deliver("destination options", lambda d: [finish(
            set_next(d[:40], 60) + options + d[40:])], 0)
        deliver("hop-by-hop and destination options", lambda d: [finish(
            set_next(d[:40], 0) + bytes([60]) + options[1:] + options + d[40:])], 0)
    tap.claim(f"IPv{version} odd shapes: stream intact", sock.recv(1 << 20) == sent)
    peer.send(RST | ACK, pos=len(sent))
    sock.close()
    listener.close()


def strangers(tun, version):
    """Headers for no socket, and on a connection that started without headers."""
    listener = listen(version)
    peer = Talker(tun, version, 50400)
    peer.stack_port = 9
    before = counts()
    peer.send(SYN, pos=-1, ack=-1, shim=UNKNOWN)
    got = tun.read(5)
    peer.send(ACK, pos=5, payload=b"x", shim=header(delta=1))
    got += tun.read(5)
    after = counts()
    tap.equal(f"IPv{version} no socket: a SYN and data with a header are dropped, no flow",
              (got, after["flows"] - before["flows"], after["in_no_flow"] - before["in_no_flow"]), ([], 0, 2))
    peer = Talker(tun, version, 50401)
    sock = peer.open(listener, None)
    before = counts()
    peer.send(ACK, pos=0, payload=bytes(MSS), shim=header(throughput=1, delta=8))
    after = counts()
    tap.equal(f"IPv{version} data with a header on a plain connection: received, and answered",
              ([p.shim and p.shim[5] for p in peer.read(2)], len(sock.recv(1 << 16)),
               [after[k] - before[k] for k in ("flows", "in_no_flow")]), ([8], MSS, [1, 0]))
    peer.send(RST | ACK, pos=MSS)
    sock.close()
    listener.close()


def windows(tun, version):
    """An off-path attacker, who does not know the sequence numbers, has no effect."""
    listener = listen(version)
    peer = Talker(tun, version, 50450)
    sock = peer.open(listener, UNKNOWN)
    far = 1 << 30
    for what, pos, ack, counted in (
            ("data of long ago", -far, 0, True), ("data of the far future", far, 0, True),
            ("an ACK of long ago", 0, -far, True), ("an ACK of what was not sent", 0, 1, True),
            ("old data", -5000, 0, False), ("an old ACK", 0, -1, False)):
        before = counts()
        peer.send(ACK, pos=pos, ack=ack, payload=bytes(50) if pos else b"",
                  shim=header(delta=1000 if counted else 0, **BIG))
        peer.read(5)
        after = counts()
        tap.equal(f"IPv{version} {what}: {'not received' if counted else 'received'}",
                  after["in_bad_seq"] - before["in_bad_seq"], int(counted))
    peer.read(500)
    peer.send(ACK, payload=bytes(MSS), shim=header(throughput=1, delta=5))
    tap.equal(f"IPv{version} a header that was not received leaves nothing pending",
              [p.shim and p.shim[5] for p in peer.read(5)], [5])
    peer.send(RST | ACK, pos=MSS)
    sock.close()
    listener.close()


def fuzz(tun, version):
    """Random damage between good segments."""
    listener = listen(version)
    peer = Talker(tun, version, 50500)
    sock = peer.open(listener, UNKNOWN)
    dice = random.Random(version)
    sent = got = b""
    sock.setblocking(False)

    def damage(data):
        data = bytearray(data)
        at = ip_bytes(data)
        # Damage our header and IP's protocol byte; TCP handles damage of its own header.
        for _ in range(dice.randrange(1, 4)):
            data[at + dice.randrange(20)] = dice.randrange(256)
        if dice.random() < 0.3:
            data = data[:at + dice.randrange(60)]
        return finish(bytes(data))

    for _ in range(2000):
        payload = dice.randbytes(dice.randrange(1, MSS))
        # An old sequence number, so that a packet that survives the damage is a duplicate.
        peer.send(ACK, pos=-5000, payload=bytes(50), shim=header(delta=1), change=damage)
        peer.send(ACK, pos=len(sent), payload=payload, shim=header(delta=1))
        sent += payload
        peer.read(0)
        got += sock.recv(1 << 20)
    tap.claim(f"IPv{version} 2000 damaged headers: stream intact", got == sent,
              str({k: v for k, v in counts().items() if k.startswith("bad_")}))
    peer.send(RST | ACK, pos=len(sent))
    sock.close()
    listener.close()


# The stack sends ------------------------------------------------------------

class Caller(shims.Caller):
    """A connection whose congestion control is the test's xcp_drive."""
    talker = Talker
    cc = b"xcp"

    def accept(self):
        """Answer the SYN."""
        self.peer.send(SYN | ACK, pos=-1, ack=0, options=Peer.OPTIONS + negotiation(*ANSWERS))
        self.peer.read(5)

    def answer(self, shim):
        """Negotiate, with a byte of data that is not counted."""
        self.accept()
        self.sock.send(b"x")
        self.peer.read(5)
        self.peer.send(ACK, ack=1, shim=shim and header(MINIMAL, 0, 0))
        self.peer.stack_isn = (self.peer.stack_isn + 1) % 2**32
        self.peer.read(5)

    def data(self, size):
        self.sock.send(bytes(size))
        return self.peer.read(5)


def asking(tun, version):
    hosts.drive_reset()
    caller = Caller(tun, version, 51000)
    tap.equal(f"IPv{version}: our SYN asks, and has no header", (negotiated(caller.syn)[0], caller.syn.shim), (ASKS, None))
    caller.answer(UNKNOWN)
    packets = caller.data(3 * MSS)
    tap.equal(f"IPv{version}: each data packet has the offer",
              {p.shim for p in packets if p.size}, {(MICRO, 0, 100, 1000, 1000, 0)})
    tap.claim(f"IPv{version}: MSS leaves room, sums right",
              all(p.size <= MSS - 20 and p.good for p in packets))
    super_packet(caller, version)
    caller.peer.send(ACK, pos=2, ack=3 * MSS + 6 * 980, shim=header(MINIMAL, 0, 0, 0, -1234))
    caller.peer.read(5)
    tap.equal(f"IPv{version}: Reverse_Feedback reaches the congestion control",
              hosts.drive("feedback"), -1234)
    caller.close()


def super_packet(caller, version):
    """TCP sends one GSO packet: the wire has many packets, and they get one answer."""
    caller.peer.send(ACK, ack=3 * MSS, payload=b"x", shim=header(delta=55))
    caller.peer.read(5)
    caller.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 0)
    # The pending feedback waits for data, since the ACK of this packet is delayed.
    caller.peer.send(ACK, pos=1, ack=3 * MSS, payload=b"y", shim=header(delta=66, **BIG))
    caller.heard = 2
    before = counts()["out_gso"]
    content = random.Random(4).randbytes(6 * (MSS - 20))
    caller.sock.send(content)
    packets = [p for p in caller.peer.read(5) if p.size]
    tap.equal(f"IPv{version} GSO packet: segments, each with the offer, one answer",
              (counts()["out_gso"] > before, [p.size for p in packets],
               [p.shim for p in packets]),
              (True, [MSS - 20] * 6, [(MICRO, 0, 100, 1000, 1000, 66)] +
               [(MICRO, 0, 100, 1000, 1000, 0)] * 5))
    tap.claim(f"IPv{version} GSO packet: bytes, sums, lengths and identifiers right",
              b"".join(p.raw[-p.size:] for p in packets) == content and
              all(p.good for p in packets) and
              (version == 6 or len({p.raw[4:6] for p in packets}) == 6))


def refused(tun, version):
    tcp = {4: 40, 6: 60}[version]
    # 58: the header and Ethernet; rounded up.
    scaled = -(-1000 * (tcp + 58) // (tcp + 1 + 38))
    for n, (kind, code) in enumerate(REFUSALS[version]):
        before = counts()
        caller = Caller(tun, version, 51100 + n)
        caller.accept()
        copy, plain = caller.data(1)
        tap.equal(f"IPv{version} the first data is plain, and a copy of its headers in front tries a header",
                  (plain.shim, plain.size, copy.shim, copy.size, copy.good),
                  (None, 1, (MICRO, TRY, 100, scaled, 1000, 0), 0, True))
        tun.write(quoted_error(version, copy, kind, code, 40 if kind == 4 else 0, 40))
        tap.equal(f"IPv{version} ICMP {kind}/{code} for a copy that tries a header: plain data, no error",
                  ({p.shim for p in caller.data(MSS) if p.size}, caller.error(),
                   counts()["icmp_refused"] - before["icmp_refused"]), ({None}, 0, 1))
        caller.close()
        time.sleep(61)


def blind_errors(tun, version):
    """Errors that quote another sequence number end nothing; one about data in flight does."""
    before = counts()
    caller = Caller(tun, version, 51200)
    caller.answer(UNKNOWN)
    packet = caller.data(MSS)[0]
    refuse(tun, version, packet, len(UNKNOWN), seq=1 << 20)
    caller.peer.send(ACK, ack=MSS)
    refuse(tun, version, packet, len(UNKNOWN), kinds=1)
    packets = [p for p in caller.data(MSS) if p.size]
    tap.equal(f"IPv{version} ICMP with a wrong or an old sequence number: XCP goes on",
              (len(packets) > 0, [p.shim is None for p in packets].count(True),
               counts()["icmp_refused"] - before["icmp_refused"]), (True, 0, 0))
    refuse(tun, version, packets[0], len(UNKNOWN), kinds=1)
    caller.peer.send(ACK, ack=MSS + sum(p.size for p in packets))
    tap.equal(f"IPv{version} ICMP about data in flight: plain data",
              ({p.shim for p in caller.data(MSS) if p.size},
               counts()["icmp_refused"] - before["icmp_refused"]), ({None}, 1))
    caller.close()
    time.sleep(61)


def too_big(tun, version):
    caller = Caller(tun, version, 51300)
    caller.answer(UNKNOWN)
    hosts.write("/proc/sys/net/ipv4/route/min_pmtu", 552)
    packet = max(caller.data(MSS), key=lambda p: p.size)
    before = counts()
    mtu = {4: 800, 6: 1280}[version]
    for keep in (8, 27):        # short quotes, as of old ICMP: less than TCP's 8 bytes
        tun.write(quoted_error(version, packet, *TOO_BIG[version], mtu, keep))
    short = counts()["icmp_short"] - before["icmp_short"]
    want_short = 2 if version == 4 else 1
    tap.claim(f"IPv{version} ICMP that quotes too little: counted",
              short >= want_short - 1 and not caller.peer.read(5), f"{short}")
    tun.write(quoted_error(version, packet, *TOO_BIG[version], mtu, 28))
    smaller = caller.peer.read(5)
    if version == 4:
        tap.claim("IPv4 ICMP fragmentation needed: smaller packets, with headers",
                  smaller and all(len(p.raw) <= mtu and p.shim for p in smaller),
                  f"{[len(p.raw) for p in smaller]}")
    else:
        tap.claim("IPv6 ICMP packet too big reaches TCP",
                  counts()["icmp"] - before["icmp"] == 1)
    caller.close()


def noise(tun, version):
    """ICMP errors that quote random bytes, and echo requests that contain headers."""
    caller = Caller(tun, version, 51400)
    caller.answer(UNKNOWN)
    packet = caller.data(MSS)[0]
    dice = random.Random(version)
    for _ in range(500):
        raw = bytearray(packet.raw)
        for _ in range(3):
            raw[dice.randrange(64)] = dice.randrange(256)
        shadow = wire.Packet(0, 0, 0, 0, 0, 0, 0)
        shadow.raw = bytes(raw)
        kind, code = dice.choice(REFUSALS[version] + (TOO_BIG[version],))
        tun.write(quoted_error(version, shadow, kind, code, 1400, dice.randrange(8, 60)))
    echo = {4: 8, 6: 128}[version]
    packet.raw = header() * 10
    shadow.raw = header(following=XCP) * 10
    for p in (packet, shadow):
        p.raw = bytes([0x45]) + p.raw[1:]
        tun.write(quoted_error(version, p, echo, 0, 1, 100))
    tun.read(20)
    tap.claim(f"IPv{version} 500 errors with rubbish, echoes with headers: alive", True)
    caller.close()
    time.sleep(61)


def raw_socket(version):
    """The same malformed headers from a raw socket of this host."""
    listener = listen(version)
    before = counts()
    with socket.socket(wire.FAMILY[version], socket.SOCK_RAW, XCP) as raw:
        sent = 0
        for _, xcp, change, _ in MALFORMED:
            keep = len(change(bytes([0x45]) + bytes(19) + xcp)) - 20 if change else 20
            raw.sendto(xcp[:keep] if change else xcp + bytes(40), (wire.STACK[version], 0))
            sent += 1
        raw.sendto(UNKNOWN + struct.pack("!HHIIBBHHH", 1, listener.getsockname()[1], 1, 0,
                                         5 << 4, SYN, 100, 0, 0), (wire.STACK[version], 0))
    after = counts()
    bad = sum(after[k] - before[k] for k in after if k.startswith("bad_"))
    tap.equal(f"IPv{version} raw socket of this host: all counted",
              (bad, after["in_no_flow"] - before["in_no_flow"]), (sent, 1))
    listener.close()


def main():
    hosts.insmod(sys.argv[1])
    tun = Wire()
    for version in (4, 6):
        another_protocol(tun, version)
        handshake(tun, version)
        tries(tun, version)
        flooded(tun, version)
        answers(tun, version)
        data_answers(tun, version)
        malformed(tun, version)
        odd_shapes(tun, version)
        strangers(tun, version)
        windows(tun, version)
        fuzz(tun, version)
        raw_socket(version)
        asking(tun, version)
        blind_errors(tun, version)
        refused(tun, version)
        too_big(tun, version)
        noise(tun, version)
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
