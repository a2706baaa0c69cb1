#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Telemetry byte by byte: what the carrier writes, reads, refuses. Prints TAP.
Needs root and the path of int_drive.ko; changes nothing outside its own network
namespace.

    the stack under test [tun0] ---- this script, the other end of TCP
"""
import random
import select
import socket
import struct
import sys
import time

import hosts
import shims
import wire
from shims import COOKIE, TOO_BIG, fragments, insert, ip_bytes, listen, negotiated, negotiation, quoted_error, \
    refuse, truncate
from wire import ACK, RST, SYN, Peer

INT, TCP, UDP = 254, 6, 17
DATA, PROBE, ECHO = 2, 3, 4
RECORDS, SUMMARY, RATIO, WINDOW = range(4)
ASKS, ANSWERS = (1, 0), (0, 1)     # bits of net_int in the option that negotiates
MSS = Peer.MSS
# TCP's first option: what a segment is. The last one is no mark.
PROBE_MARK, ECHO_MARK, OTHER_MARK = (struct.pack("!BBH", 253, 4, exid) for exid in (0x4850, 0x4841, 0x4851))
MESSAGE_BYTES = 36
DSCP = 10           # of a connection
IPV6_TCLASS = 67
TCP_CC_INFO = 26
KEY = bytes(range(16))
M64 = 2**64 - 1

tap = hosts.Tap()


def siphash24(key, data):
    """SipHash-2-4, from its paper."""
    k0, k1 = struct.unpack("<QQ", key)
    v = [k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d,
         k0 ^ 0x6c7967656e657261, k1 ^ 0x7465646279746573]

    def left(x, n):
        return (x << n | x >> (64 - n)) & M64

    def rounds(n):
        for _ in range(n):
            v[0] = (v[0] + v[1]) & M64
            v[2] = (v[2] + v[3]) & M64
            v[1] = left(v[1], 13) ^ v[0]
            v[3] = left(v[3], 16) ^ v[2]
            v[0] = left(v[0], 32)
            v[2] = (v[2] + v[1]) & M64
            v[0] = (v[0] + v[3]) & M64
            v[1] = left(v[1], 17) ^ v[2]
            v[3] = left(v[3], 21) ^ v[0]
            v[2] = left(v[2], 32)

    whole = data + bytes(7 - len(data) % 8) + bytes([len(data) & 255])
    for (word,) in struct.iter_unpack("<Q", whole):
        v[3] ^= word
        rounds(2)
        v[0] ^= word
    v[2] ^= 255
    rounds(4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def header(kind, slots=0, flags=0, hops=0, path=0, records=(), following=TCP, words=None,
           options=None, port=0):
    records = list(records) + [0] * (slots - len(records))
    return struct.pack("!BBBBI", following, 3 + 2 * slots if words is None else words, kind,
                       flags, hops << 28 | path << 16) + \
        b"".join(struct.pack("!Q", r) for r in records) + \
        struct.pack("!I", (slots << 28 | port << 12) if options is None else options)


def record(speed=9, ts=0, tx=0, qlen=0):
    return speed << 60 | (ts & 0xffffff) << 36 | (tx & 0xfffff) << 16 | qlen


def data_shim(number, cookie, **options):
    return header(DATA, **options) + struct.pack("!II", number, cookie & 0xffffffff)


def message(number, cookie, seq=0, t_ns=100000, wnd=1000000, kind=RECORDS, flows=0, tag=0):
    return struct.pack("!IQIIIHHQ", number, cookie, seq & 0xffffffff, t_ns, wnd, kind, flows, tag)


def mark_of(data):
    """PROBE, ECHO or None: what the first option of an IP packet's TCP says."""
    at = ip_bytes(data)
    if shims.next_of(data) != TCP or data[at + 12] >> 4 < 6:
        return None
    return {PROBE_MARK: PROBE, ECHO_MARK: ECHO}.get(bytes(data[at + 20:at + 24]))


def is_probe(packet):
    return mark_of(packet.raw) == PROBE


def is_echo(packet):
    return mark_of(packet.raw) == ECHO


def set_dscp(sock, version, dscp=DSCP):
    level, name = {4: (socket.IPPROTO_IP, socket.IP_TOS), 6: (socket.IPPROTO_IPV6, IPV6_TCLASS)}[version]
    sock.setsockopt(level, name, dscp << 2)


TERMS = struct.pack("!IIHH", 1250000, 996147, 0, 100)


def probe(number, cookie, slots=2, hops=0, path=0, records=(), flags=0, **options):
    return message(number, cookie, **options) + \
        header(PROBE, slots, flags, hops, path, records, following=0) + TERMS


class Message:
    """A message out of a packet's payload."""

    def __init__(self, payload):
        (self.id, self.cookie, self.seq, self.t_ns, self.wnd, self.kind, self.flows,
         self.tag) = struct.unpack_from("!IQIIIHHQ", payload)
        self.header = payload[MESSAGE_BYTES:]
        self.following, self.words, self.type, self.flags, path = struct.unpack_from("!BBBBI", self.header)
        self.hops, self.path = path >> 28, path >> 16 & 0xfff
        self.slots = (self.words - 3) // 2
        self.records = struct.unpack_from(f"!{self.slots}Q", self.header, 8)
        self.rest = self.header[self.words * 4:]


def unwrap(data):
    """(packet without the header, header and tail or None)"""
    if shims.next_of(data) != INT:
        return data, None
    at = ip_bytes(data)
    size = data[at + 1] * 4 + 8
    return shims.remove(data, size, data[at]), data[at:at + size]


def counts():
    return shims.counts("int")


def grown(before):
    after = counts()
    return {k: after[k] - before[k] for k in after
            if after[k] != before[k] and not k.startswith("flows")}


def sysctl(knob, value):
    hosts.write("/proc/sys/net/hopcc/" + knob, value)


def drive(name, value=None):
    return hosts.drive(name, value, "int_drive")


class Wire(shims.Wire):
    """.shim is of unwrap()."""
    unwrap = staticmethod(unwrap)


class Talker(shims.Talker):
    """A peer that speaks INT."""
    protocol = INT
    cookie = 0

    def knock(self, listener, option=negotiation(*ASKS)):
        self.OPTIONS = Peer.OPTIONS + (option or b"")
        answers = super().knock(listener, None)
        if answers and negotiated(answers[0]):
            self.cookie = negotiated(answers[0])[1]
        return answers

    def open(self, listener, option=negotiation(*ASKS)):
        return super().open(listener, option)

    def say(self, payload, mark, ack=0, **options):
        """A message: old bytes, as a carrier sends them."""
        self.send(ACK, pos=-len(payload), ack=ack, payload=payload, options=mark, **options)

    def ask(self, payload, **options):
        """A probe; the answers."""
        self.say(payload, PROBE_MARK, **options)
        return [p for p in self.read(2) if is_echo(p)]


def handshake(tun, version):
    listener = listen(version)
    peer = Talker(tun, version, 50000)
    got = peer.knock(listener)
    tap.claim(f"IPv{version}: a SYN asks: the SYN-ACK answers, with a cookie",
              [(negotiated(p), p.good) for p in got] == [((ANSWERS, peer.cookie), True)] and peer.cookie)
    first = peer.cookie
    time.sleep(1.5)
    tap.equal(f"IPv{version}: SYN-ACK again: without", [negotiated(p) for p in tun.read(5)], [None])
    peer.send(RST | ACK, pos=0)
    for what, option in (("none", None), ("another experiment", negotiation(*ASKS, exid=1)),
                         ("another length", negotiation(*ASKS, length=15)),
                         ("another carrier", negotiation(0x80, 0)), ("an answer", negotiation(*ANSWERS))):
        peer = Talker(tun, version, 50001)
        tap.equal(f"IPv{version}: SYN with an option, {what}: SYN-ACK without",
                  [negotiated(p) for p in peer.knock(listener, option)], [None])
        peer.send(RST | ACK, pos=0)
    peer = Talker(tun, version, 50002)
    peer.knock(listener)
    tap.claim(f"IPv{version}: another connection, another cookie", peer.cookie and peer.cookie != first)
    peer.send(RST | ACK, pos=0)
    with_cookies(tun, version, listener)
    time.sleep(200)
    tun.read(5)
    listener.close()


def with_cookies(tun, version, listener):
    """No state is kept for a SYN; an ACK asks once the connection exists."""
    hosts.write("/proc/sys/net/ipv4/tcp_syncookies", 2)
    before = counts()["flows"]
    peer = Talker(tun, version, 50003)
    got = peer.knock(listener)
    tap.equal(f"IPv{version}: SYN cookie: no answer, no flow",
              ([negotiated(p) for p in got], counts()["flows"] - before), ([None], 0))
    peer.send(ACK)
    sock = listener.accept()[0]
    for n in range(4):
        peer.send(ACK, options=negotiation(*ASKS))
        got = [negotiated(p) for p in peer.read(2)]
        tap.claim(f"IPv{version}: an ACK asks, {n + 1}: an ACK answers, three times",
                  [g and g[0] for g in got] == ([ANSWERS] if n < 3 else []), f"{got}")
    hosts.write("/proc/sys/net/ipv4/tcp_syncookies", 1)
    for what, where in (("beyond the window", {"pos": 1 << 30}), ("of what was not sent", {"ack": 1 << 20})):
        before = counts()
        peer.send(ACK, options=negotiation(*ASKS), **where)
        peer.read(2)
        tap.equal(f"IPv{version}: an ACK asks, {what}: counted", grown(before), {"in_handshake": 1, "in_no_flow": 1})
    peer.send(RST | ACK, pos=0)
    sock.close()


def answered(tun, version):
    """Answers to a probe, and to data with a header."""
    listener = listen(version)
    peer = Talker(tun, version, 50100)
    sock = peer.open(listener)
    stamps = (record(ts=1000, tx=500, qlen=3), record(ts=1100, tx=600, qlen=4))
    got = peer.ask(probe(77, peer.cookie, hops=2, path=0xabc, records=stamps, seq=4711))
    tap.claim(f"IPv{version} a probe: one answer, sums right, no data",
              len(got) == 1 and got[0].good and not sock_has_data(sock))
    m = Message(got[0].payload)
    tap.equal(f"IPv{version} a probe: the answer", (
        m.id, m.cookie, m.seq, m.kind, m.tag, m.type, m.hops, m.path, m.records, m.rest),
        (77, COOKIE, 4711, RECORDS, 0, ECHO, 2, 0xabc, stamps, b""))
    tap.equal(f"IPv{version} a probe: the answer is old bytes",
              (got[0].seq + got[0].size) % 2**32, 0)
    set_dscp(sock, version)
    tap.equal(f"IPv{version} probes of any DSCP: an answer each, of the connection's DSCP",
              [[p.dscp for p in peer.ask(probe(n, peer.cookie), ecn=dscp << 2)]
               for n, dscp in ((1, 0), (2, 27), (3, 63))], [[DSCP]] * 3)
    set_dscp(sock, version, 0)
    shim = data_shim(78, peer.cookie, slots=2, hops=1, path=5, records=stamps[:1])
    peer.send(ACK, pos=0, payload=b"x" * MSS, shim=shim)
    got = [p for p in peer.read(2) if is_echo(p)]
    m = Message(got[0].payload)
    tap.equal(f"IPv{version} data with a header: answer, data", (
        len(got), m.id, m.seq, m.hops, m.path, m.records, sock.recv(2 * MSS)),
        (1, 78, (peer.isn + 1 + MSS) % 2**32, 1, 5, stamps[:1] + (0,), b"x" * MSS))
    peer.send(RST | ACK, pos=MSS)
    sock.close()
    listener.close()


def in_fragments(tun, version):
    """Data with a header, cut: by a router, or where IPv6 allows it by its sender."""
    listener = listen(version)
    peer = Talker(tun, version, 50150)
    sock = peer.open(listener)
    for n, step in enumerate((512, 8)):
        before, raw = counts(), []
        payload = random.Random(step).randbytes(MSS)
        peer.send(ACK, pos=n * MSS, payload=payload,
                  shim=data_shim(90 + n, peer.cookie, slots=2, hops=1, path=5),
                  change=lambda data: raw.extend(fragments(data, ip_bytes(data), step)) or raw[0])
        for more in raw[1:]:
            tun.write(more)
        got = [p for p in peer.read(2) if is_echo(p)]
        m = Message(got[0].payload) if got else None
        tap.equal(f"IPv{version} data with a header in fragments of {step} bytes: answer, data",
                  (m and (m.id, m.seq, m.hops, m.path), grown(before), sock.recv(2 * MSS)),
                  ((90 + n, (peer.isn + 1 + (n + 1) * MSS) % 2**32, 1, 5),
                   {"in_data": 1, "in_late": 1, "out_answer": 1}, payload))
    peer.send(RST | ACK, pos=2 * MSS)
    sock.close()
    listener.close()


def sock_has_data(sock):
    return bool(select.select([sock], [], [], 0)[0])


def kinds(tun, version):
    """The kinds of answers: two probes 10 us apart at 100G, a full line and a queue."""
    listener = listen(version)
    peer = Talker(tun, version, 50110)
    sock = peer.open(listener)
    number = 100
    # Two packets of a queue do not count: 248 units of 40.96 ns in 10 us, << 20.
    for kind, low, high in ((SUMMARY, 0, 0), (RATIO, 1065150, 1065152), (WINDOW, 1, 1250000)):
        for n in range(2):
            number += 1
            ts, tx = number * 20000 + n * 10000, number * 488 + n * 244
            got = peer.ask(probe(number, peer.cookie, hops=2, path=3, t_ns=10000, kind=kind,
                                 records=(record(ts=ts, tx=tx), record(ts=ts, tx=tx, qlen=10))))
            time.sleep(0.001)
        m = Message(got[0].payload)
        tap.claim(f"IPv{version} kind {kind}: reported",
                  (m.kind, m.id) == (kind, number) and low <= m.wnd <= high,
                  f"{m.kind} {m.wnd} {m.t_ns}")
        if kind == SUMMARY:
            tap.equal(f"IPv{version} summary: the second hop's record",
                      (m.hops, m.path, m.slots, m.flags, m.records),
                      (2, 3, 1, 1, (record(ts=ts, tx=tx, qlen=10),)))
        else:
            tap.equal(f"IPv{version} kind {kind}: no records, N is reported",
                      (m.hops, m.path, m.slots, m.flows), (2 * (kind == WINDOW), 0, 0, 1))
    peer.send(RST | ACK, pos=0)
    sock.close()
    listener.close()


def signed(tun, version):
    """The tag is SipHash-2-4 over ends, message and header."""
    listener = listen(version)
    peer = Talker(tun, version, 50120)
    sock = peer.open(listener)
    sysctl("int_key", KEY.hex())
    got = peer.ask(probe(9, peer.cookie, hops=1, path=1, records=(record(),)))
    m = Message(got[0].payload)

    def mapped(text):
        packed = socket.inet_pton(wire.FAMILY[version], text)
        return packed if version == 6 else bytes(10) + b"\xff\xff" + packed

    text = mapped(wire.STACK[version]) + mapped(wire.SCRIPT[version]) + \
        struct.pack("!HH", peer.stack_port, peer.port) + \
        got[0].payload[:28] + bytes(8) + m.header
    tap.equal(f"IPv{version} key: the tag", m.tag, siphash24(KEY, text))
    sysctl("int_key", "\n")
    peer.send(RST | ACK, pos=0)
    sock.close()
    listener.close()


FULL = data_shim(1, 0, slots=2)
BAD_SHIMS = (
    # name, header, change of the packet, counter
    ("length 0", header(DATA, words=0) + bytes(8), None, "bad_length"),
    ("length 2", header(DATA, words=2) + bytes(8), None, "bad_length"),
    ("half a record", header(DATA, words=4) + bytes(12), None, "bad_length"),
    ("16 records", header(DATA, words=35) + bytes(200), None, "bad_length"),
    ("length 255", header(DATA, words=255) + bytes(8), None, "bad_length"),
    ("type 0", header(0) + bytes(8), None, "bad_type"),
    ("a probe's", header(PROBE) + bytes(8), None, "bad_type"),
    ("an answer's", header(ECHO) + bytes(8), None, "bad_type"),
    ("type 255", header(255) + bytes(8), None, "bad_type"),
    ("slots 1 in a header of none", header(DATA, options=1 << 28) + bytes(8), None,
     "bad_slots"),
    ("a path of no hop", header(DATA, path=5) + bytes(8), None, "bad_hops"),
    ("nested", header(DATA, following=INT) + bytes(8) + FULL, None, "bad_next"),
    ("followed by UDP", header(DATA, following=UDP) + bytes(8), None, "bad_next"),
    ("no byte of it", FULL, truncate(0), "bad_truncated"),
    ("11 bytes of it", FULL, truncate(11), "bad_truncated"),
    ("no last word", FULL, truncate(24), "bad_truncated"),
    ("no tail", FULL, truncate(28), "bad_truncated"),
    ("nothing behind it", FULL, truncate(36), "bad_truncated"),
    ("half of TCP behind it", FULL, truncate(46), "bad_truncated"),
)


def malformed(tun, version):
    """Bad headers between good data: counted, dropped, the stream is what it was."""
    listener = listen(version)
    peer = Talker(tun, version, 50200)
    sock = peer.open(listener)
    sent = b""
    for what, shim, change, counter in BAD_SHIMS:
        before = counts()
        payload = random.Random(what).randbytes(100)

        def bend(data, shim=shim, change=change):
            data = insert(data, INT, shim)
            return change(data) if change else data

        peer.send(ACK, pos=len(sent), payload=bytes(100), change=bend)
        peer.read(1)
        after = grown(before)
        peer.send(ACK, pos=len(sent), payload=payload)
        sent += payload
        peer.read(1)
        tap.equal(f"IPv{version} malformed: {what}", after, {counter: 1})
    tap.claim(f"IPv{version} malformed: stream intact", sock.recv(1 << 20) == sent)
    peer.send(RST | ACK, pos=len(sent))
    sock.close()
    listener.close()


def bad_messages(tun, version):
    """They are left to TCP, to which they are old data; nobody is answered."""
    listener = listen(version)
    peer = Talker(tun, version, 50210)
    sock = peer.open(listener)
    good = probe(5, peer.cookie)
    at = MESSAGE_BYTES
    cases = (
        ("a wrong cookie", probe(5, peer.cookie ^ 1), {"in_bad_cookie": 1}),
        ("cut in the message", good[:35], {"bad_truncated": 1}),
        ("cut in the header", good[:47], {"bad_truncated": 1}),
        ("no terms", good[:-12], {"bad_length": 1}),
        ("half of the terms", good[:-6], {"bad_length": 1}),
        ("more behind the terms", good + bytes(4), {"bad_length": 1}),
        ("length 1", good[:at + 1] + b"\1" + good[at + 2:], {"bad_length": 1}),
        ("length 200", good[:at + 1] + b"\xc8" + good[at + 2:], {"bad_length": 1}),
        ("length 33", good[:at + 1] + b"\x21" + good[at + 2:], {"bad_truncated": 1}),
        ("a hello", good[:at + 2] + b"\1" + good[at + 3:], {"bad_type": 1}),
        ("an answer with a probe's mark", message(5, peer.cookie) + header(ECHO, 2, following=0),
         {"bad_type": 1}),
        ("slots disagree", good[:at + 24] + b"\xff" + good[at + 25:], {"bad_slots": 1}),
        ("a path of no hop", probe(5, peer.cookie, path=1), {"bad_hops": 1}),
    )
    for what, payload, want in cases:
        before = counts()
        got = peer.ask(payload)
        tap.equal(f"IPv{version} bad message: {what}", (grown(before), got), (want, []))
    for what, options in (("another experiment", OTHER_MARK), ("behind another option", b"\1" * 4 + PROBE_MARK),
                          ("none", b"")):
        before = counts()
        peer.say(good, options)
        tap.equal(f"IPv{version} no mark, {what}: not looked at", grown(before), {})
    before = counts()

    def spoil(data):
        return data[:-1] + bytes([data[-1] ^ 1])

    tap.equal(f"IPv{version} a wrong checksum: dropped", (peer.ask(good, change=spoil),
                                                          grown(before)), ([], {"in_bad_sum": 1}))
    tap.claim(f"IPv{version} bad messages: no data, and a good one is answered",
              len(peer.ask(good)) == 1 and not sock_has_data(sock))
    stranger = Talker(tun, version, 50211)
    stranger.stack_port, stranger.stack_isn = peer.stack_port, peer.stack_isn
    before = counts()
    stranger.ask(good)
    tap.equal(f"IPv{version} a message of a stranger", grown(before), {"in_no_flow": 1})
    peer.send(RST | ACK, pos=0)
    sock.close()
    listener.close()


def fuzz(tun, version):
    """Noise in headers and messages: the kernel lives, the stream is what it was."""
    listener = listen(version)
    peer = Talker(tun, version, 50220)
    sock = peer.open(listener)
    dice = random.Random(version)
    for n in range(1500):
        shim = bytearray(data_shim(n, peer.cookie, slots=3, hops=2, path=5,
                                   records=(record(ts=n * 1000, tx=n * 7),) * 2))
        mail = bytearray(probe(n, peer.cookie, slots=3, hops=2, path=5, kind=n % 5,
                               records=(record(ts=n * 1000, tx=n * 7),) * 2))
        for _ in range(dice.randrange(4)):
            shim[dice.randrange(len(shim))] = dice.randrange(256)
            mail[dice.randrange(MESSAGE_BYTES, len(mail))] = dice.randrange(256)
        # Data that was received before.
        peer.send(ACK, pos=-MSS, payload=bytes(MSS), shim=bytes(shim))
        peer.say(bytes(mail[:dice.randrange(MESSAGE_BYTES, len(mail) + 1)]), PROBE_MARK)
        if n % 50 == 0:
            tun.read(0)
    tun.read(20)
    got = peer.ask(probe(5000, peer.cookie))
    peer.send(ACK, payload=b"end")
    peer.read(2)
    tap.claim(f"IPv{version} 3000 packets of noise: answers go on, the stream is intact",
              len(got) == 1 and sock.recv(100) == b"end")
    peer.send(RST | ACK, pos=3)
    sock.close()
    listener.close()


class Caller(shims.Caller):
    """Its cc is the test's."""
    talker = Talker
    cc = b"int_drive"
    newest = None       # probe

    def __init__(self, tun, version, port, answer=True):
        super().__init__(tun, version, port)
        self.cookie = negotiated(self.syn)[1] if negotiated(self.syn) else 0
        if answer:
            self.answer(negotiation(*ANSWERS))

    def answer(self, option):
        """Send a SYN-ACK with or without an option."""
        self.peer.send(SYN | ACK, pos=-1, ack=0, options=Peer.OPTIONS + (option or b""))
        self.peer.read(5)

    def data(self, size):
        """Packets that go out for it; all is acknowledged."""
        self.sock.send(bytes(size))
        got = self.peer.read(2)
        self.acked += size
        self.peer.send(ACK, ack=self.acked)
        got += self.peer.read(2)
        for packet in got:
            if is_probe(packet):
                self.newest = Message(packet.payload)
        return got

    def probe(self):
        """The next probe."""
        return next((Message(p.payload) for p in self.data(MSS) if is_probe(p)), None)

    def reply(self, m, payload=None, **options):
        """An answer to a probe."""
        fields = {"seq": m.seq, "kind": RECORDS, **options}
        number = fields.pop("number", m.id)
        cookie = fields.pop("cookie", self.cookie)
        if payload is None:
            payload = message(number, cookie, **fields) + header(ECHO, m.slots, following=0)
        self.peer.say(payload, ECHO_MARK, ack=self.acked)
        return self.peer.read(1)

    def take(self):
        """Values that the test's congestion control finds at the next ACK."""
        self.data(MSS)
        return [drive(name) for name in ("records", "summaries", "ratios", "windows")]


def drive_reset():
    for name in ("records", "summaries", "ratios", "windows", "silenced", "opened", "hops",
                 "path_id", "value", "flows", "odd"):
        drive(name, 0)


def probing(tun, version):
    drive_reset()
    caller = Caller(tun, version, 51000)
    tap.claim(f"IPv{version}: our SYN asks, with a cookie",
              negotiated(caller.syn) == (ASKS, caller.cookie) and caller.cookie and caller.syn.good)
    set_dscp(caller.sock, version)
    early = caller.data(100)
    tap.equal(f"IPv{version}: the first packet takes a probe along, of its DSCP",
              [(is_probe(p), p.dscp) for p in early if p.size], [(True, DSCP), (False, DSCP)])
    probes = [p for p in early if is_probe(p)]
    tap.claim(f"IPv{version}: sums right, in front of SND.UNA", probes[0].good and
              (probes[0].seq + probes[0].size + 100 - caller.acked) % 2**32 == 0)
    m = Message(probes[0].payload)
    tap.equal(f"IPv{version}: the probe", (
        m.cookie, m.t_ns, m.wnd, m.kind, m.type, m.slots, m.hops, m.rest, probes[0].size),
        (COOKIE, 100000, 1000000, RECORDS, PROBE, 5, 0, TERMS, 144 - 44))
    tap.equal(f"IPv{version}: the probe tells SND.NXT",
              (m.seq - caller.peer.stack_isn - 1) % 2**32, caller.acked)
    tap.equal(f"IPv{version}: unanswered: the second packet, too, then no other for now",
              [sum(is_probe(p) for p in caller.data(100)) for _ in range(3)],
              [1, 0, 0])
    hostile(caller, version, caller.newest)
    caller.close()


def more_hops(tun, version):
    """The path has more hops than the probe has room for: the next one has room for all."""
    drive_reset()
    caller = Caller(tun, version, 51100)
    caller.data(100)
    for hops, slots in ((5, 5), (7, 7), (6, 7), (15, 15)):
        m, before = caller.newest, counts()
        short = hops > m.slots
        caller.reply(m, message(m.id, caller.cookie, seq=m.seq) +
                     header(ECHO, m.slots, hops=hops, path=5, records=[record()] * m.slots,
                            following=0))
        got = grown(before)
        caller.data(MSS)
        tap.equal(f"IPv{version}: a path of {hops} hops, reported by {m.slots} records: next, {slots}",
                  (got.get("in_answer"), got.get("in_short"), caller.newest.slots),
                  (1, 1 if short else None, slots))
    caller.close()


def hostile(caller, version, m):
    """Answers that are not."""
    cases = (
        ("a wrong cookie", {"cookie": caller.cookie ^ 1}, "in_bad_cookie"),
        ("the next id", {"number": (m.id + 1) % 2**32}, "in_forged"),
        ("an old id", {"number": (m.id - 65536) % 2**32}, "in_forged"),
        ("kind 5", {"kind": 5}, "bad_slots"),
        ("kind 4", {"kind": 4}, "bad_slots"),
        ("a summary of five", {"kind": SUMMARY}, "bad_slots"),
    )
    for what, options, counter in cases:
        before = counts()
        caller.reply(m, **options)
        tap.equal(f"IPv{version} hostile: {what}", grown(before).get(counter), 1)
    one = message(m.id, caller.cookie, kind=SUMMARY)
    for what, payload, counter in (
            ("a summary of a hop that is not there",
             one + header(ECHO, 1, 2, hops=2, path=1, following=0), "bad_slots"),
            ("a summary of hop 63", one + header(ECHO, 1, 63, hops=15, following=0), "bad_slots"),
            ("a probe's header", one + header(PROBE, 1, following=0) + TERMS, "bad_type"),
            ("no header", one, "bad_truncated"),
            ("bytes behind it", one + header(ECHO, 1, hops=1, following=0) + b"1234",
             "bad_length")):
        before = counts()
        caller.reply(m, payload)
        tap.equal(f"IPv{version} hostile: {what}", grown(before).get(counter), 1)
    tap.equal(f"IPv{version} hostile: nothing reached the cc", caller.take(), [0, 0, 0, 0])
    m = caller.newest
    before = counts()
    tap.equal(f"IPv{version} the answer, at last: taken, TCP sees nothing",
              (caller.reply(m), caller.take()), ([], [1, 0, 0, 0]))
    caller.reply(m)
    tap.equal(f"IPv{version} hostile: replayed: counted, not taken",
              (grown(before).get("in_old"), caller.take()), (1, [1, 0, 0, 0]))
    good_kinds(caller, version)


def good_kinds(caller, version):
    """Answers of the other kinds, each to a new probe."""
    cases = (
        (SUMMARY, {}, header(ECHO, 1, 1, hops=2, path=7, records=(record(tx=55),), following=0),
         55, (2, 7)),
        (RATIO, {"wnd": 123456, "t_ns": 1000}, header(ECHO, following=0), 123456, (0, 0)),
        (WINDOW, {"wnd": 65000, "flows": 3}, header(ECHO, following=0), 65000, (0, 0)),
    )
    caller.reply(caller.newest)
    for kind, options, echo, value, where in cases:
        time.sleep(0.001)
        m = caller.probe()
        caller.reply(m, message(m.id, caller.cookie, seq=m.seq, kind=kind, **options) + echo)
        took = caller.take()
        tap.equal(f"IPv{version} kind {kind}: taken",
                  (took[kind], drive("value"), (drive("hops"), drive("path_id")), drive("odd")),
                  (1, value, where, 0))
    empty_first(caller, version)


def empty_first(caller, version):
    """One without records, whoever sent it, does not keep the true one out, nor displace it."""
    def whole(m):
        return message(m.id, caller.cookie, seq=m.seq, kind=RECORDS) + \
            header(ECHO, 1, 1, hops=1, path=7, records=(record(tx=55),), following=0)

    time.sleep(0.001)
    m = caller.probe()
    before = counts()
    caller.reply(m)
    caller.reply(m, whole(m))
    caller.reply(m)
    got = caller.take()[RECORDS], drive("hops"), drive("path_id"), grown(before).get("in_old")
    tap.equal(f"IPv{version} hostile: an empty answer in front of the true one, and behind it",
              got[1:], (1, 7, 1))


def silence(tun, version):
    """Three probes without an answer, and no more."""
    drive_reset()
    caller = Caller(tun, version, 51100)
    before = counts()
    times = []
    for _ in range(400):
        if any(is_probe(p) for p in caller.data(MSS)):
            times.append(time.monotonic())
        time.sleep(0.001)
    tap.claim(f"IPv{version} nobody answers: two probes, a timeout later a third, then none",
              len(times) == 3 and times[2] - times[1] >= 0.004 and
              grown(before).get("peer_given_up") == 1, f"{times}")
    caller.close()
    tap.equal(f"IPv{version} nobody answers: the congestion control notices", drive("silenced"), 1)
    time.sleep(61)


def option(summary_id, index, hops, path, stamp, exid=0x4849, length=16):
    return struct.pack("!BBHHHQ", 253, length, exid, (summary_id & 0xfff) << 4 | index,
                       hops << 12 | path, stamp)


def options(tun, version):
    """Answers in a TCP option."""
    drive_reset()
    caller = Caller(tun, version, 51200)
    m = caller.probe()
    good = option(m.id, 1, 2, 9, record(tx=77))
    for what, opts, where, key in (
            ("an ACK of what was not sent", good, {"ack": caller.acked + 5000}, "in_no_flow"),
            ("a sequence number far away", good, {"ack": caller.acked, "pos": 1 << 30},
             "in_no_flow"),
            ("a hop that is not there", option(m.id, 2, 2, 9, 0), {"ack": caller.acked}, None),
            ("another experiment", option(m.id, 1, 2, 9, 0, exid=1), {"ack": caller.acked}, None),
            ("a length of 200", option(m.id, 1, 2, 9, 0, length=200), {"ack": caller.acked},
             None)):
        before = counts()
        caller.peer.send(ACK, options=opts, **where)
        caller.peer.read(1)
        got = grown(before)
        tap.equal(f"IPv{version} option, {what}", (got.get(key), got.get("in_option")),
                  (1 if key else None, None))
    caller.peer.send(ACK, ack=caller.acked, options=good)
    tap.equal(f"IPv{version} option: taken", (caller.take(), drive("hops"), drive("path_id"),
                                              drive("value")), ([0, 1, 0, 0], 2, 9, 77))
    before = counts()
    for opts in (good, option(m.id - 1, 1, 2, 9, 0)):
        caller.peer.send(ACK, ack=caller.acked - MSS, options=opts)
    caller.peer.read(1)
    tap.equal(f"IPv{version} option again, and an older one: counted, not taken",
              (grown(before).get("in_old"), caller.take()), (2, [0, 1, 0, 0]))
    sysctl("int_key", KEY.hex())
    before = counts()
    caller.peer.send(ACK, ack=caller.acked, options=good)
    caller.peer.read(1)
    tap.equal(f"IPv{version} option and a key: rejected", grown(before).get("in_bad_tag"), 1)
    sysctl("int_key", "\n")
    caller.close()


def inband(tun, version):
    """Headers on data; errors about them."""
    sysctl("int_forward", 1)
    drive_reset()
    caller = Caller(tun, version, 51300)
    prove(caller, version)
    # MSS leaves room: header, 5 records, tail.
    size = MSS - 60
    content = random.Random(4).randbytes(4 * size)
    before = counts()
    caller.sock.send(content)
    packets = [p for p in caller.peer.read(2) if p.size and not mark_of(p.raw)]
    tails = {struct.unpack("!II", p.shim[-8:]) for p in packets}
    tap.claim(f"IPv{version} inband: segments, each with a header, of one GSO packet",
              [p.size for p in packets] == [size] * 4 and len(tails) == 1 and
              grown(before).get("out_gso") == 1 and
              {p.shim[:-8] for p in packets} == {header(DATA, 5)}, f"{[p.size for p in packets]}")
    tap.claim(f"IPv{version} inband: the receiver's cookie, bytes and sums right",
              {t[1] for t in tails} == {COOKIE & 0xffffffff} and
              b"".join(p.payload for p in packets) == content and all(p.good for p in packets))
    caller.acked += len(content)
    too_big(caller, version, packets[0])
    caller.close()
    sysctl("int_forward", 0)


def prove(caller, version):
    """Data has no header until that of a pure ACK is answered."""
    caller.sock.send(bytes(MSS))
    tap.equal(f"IPv{version} inband: the first data has no header", {p.shim for p in caller.peer.read(2)}, {None})
    caller.acked += MSS
    caller.peer.send(ACK, ack=caller.acked)
    got = [p for p in caller.peer.read(2) if p.shim]
    tap.equal(f"IPv{version} inband: a pure ACK has the first one",
              [(p.shim[:-8], p.size, p.good) for p in got], [(header(DATA, 5), 0, True)])
    number, = struct.unpack("!I", got[0].shim[-8:-4])
    caller.peer.say(message(number, caller.cookie, seq=caller.acked) + header(ECHO, 5, following=0),
                    ECHO_MARK, ack=caller.acked)
    caller.peer.read(1)


def too_big(caller, version, packet):
    hosts.write("/proc/sys/net/ipv4/route/min_pmtu", 552)
    mtu = {4: 800, 6: 1280}[version]
    before = counts()
    for keep in (8, 67):        # ICMP of old: not all of our header in it
        caller.peer.wire.write(quoted_error(version, packet, *TOO_BIG[version], mtu, keep))
    caller.peer.wire.write(quoted_error(version, packet, *TOO_BIG[version], mtu, 68))
    smaller = [p for p in caller.peer.read(5) if p.size]
    got = grown(before)
    tap.claim(f"IPv{version} ICMP too big: short quotes counted, TCP informed",
              got.get("icmp") == 1 and 1 <= got.get("icmp_short", 0) <= 2 and
              (version == 6 or smaller and all(len(p.raw) <= mtu for p in smaller)), f"{got}")


def blind_errors(tun, version):
    """Errors that quote another sequence number end nothing; after one about data in flight probes
    collect."""
    sysctl("int_forward", 1)
    drive_reset()
    before = counts()
    caller = Caller(tun, version, 51450)

    def sent():
        caller.sock.send(bytes(MSS - 60))
        return next(p for p in caller.peer.read(2) if p.size and not mark_of(p.raw))

    def acknowledge(packet):
        caller.acked += packet.size
        caller.peer.send(ACK, ack=caller.acked)
        caller.peer.read(2)

    packet = sent()
    tap.claim(f"IPv{version} inband: the first data of the next connection has a header", packet.shim)
    refuse(tun, version, packet, 60, seq=1 << 20)
    acknowledge(packet)
    refuse(tun, version, packet, 60, kinds=1)
    packet = sent()
    tap.claim(f"IPv{version} ICMP with a wrong or an old sequence number: headers go on",
              packet.shim and "icmp_refused" not in grown(before), f"{grown(before)}")
    refuse(tun, version, packet, 60, kinds=1)
    acknowledge(packet)
    after = []
    for _ in range(3):
        time.sleep(0.01)
        caller.sock.send(bytes(MSS - 60))
        after += [p for p in caller.peer.read(2) if p.size]
        acknowledge(after[-1])
    tap.claim(f"IPv{version} ICMP about data in flight: no more headers, but probes",
              not any(p.shim for p in after) and {is_probe(p) for p in after} == {True, False} and
              grown(before).get("icmp_refused") == 1, f"{[is_probe(p) for p in after]}, {grown(before)}")
    caller.close()
    caller = Caller(tun, version, 51460)
    prove(caller, version)
    caller.close()
    sysctl("int_forward", 0)


def spoofed_synack(tun, version):
    """A SYN-ACK that answers no SYN of ours tells no cookie."""
    caller = Caller(tun, version, 51500, answer=False)
    before = counts()
    caller.peer.send(SYN | ACK, pos=-1, ack=7777, options=Peer.OPTIONS + negotiation(*ANSWERS, cookie=1))
    caller.peer.read(5)
    tap.claim(f"IPv{version} spoofed SYN-ACK: not believed",
              grown(before).get("in_no_flow") == 1 and "peer_supported" not in grown(before))
    caller.answer(negotiation(*ANSWERS))
    m = caller.probe()
    tap.equal(f"IPv{version} after a spoofed SYN-ACK: the true cookie", m and m.cookie, COOKIE)
    caller.close()


def other_dscp(tun):
    """The DSCP of INT-MD is a module parameter: switches know its probes by it."""
    hosts.run("rmmod net_tlm")
    loaded = hosts.load("net_tlm", "dscp_intmd=64"), hosts.load("net_tlm", "dscp_intmd=21")
    sysctl("int_format", 3)
    for version in (4, 6):
        caller = Caller(tun, version, 52000 + version)
        set_dscp(caller.sock, version)
        tap.equal(f"IPv{version} dscp_intmd: refused above 63; a probe of int_format 3 has it, data its own",
                  (loaded, [(is_probe(p), p.dscp, p.good) for p in caller.data(100) if p.size]),
                  ((False, True), [(True, 21, True), (False, DSCP, True)]))
        caller.close()


def main():
    hosts.run(f"insmod {sys.argv[1]}")
    tun = Wire()
    sysctl("int_cc", "int_drive")
    tap.equal("SipHash-2-4: its paper's vector", siphash24(KEY, bytes(range(15))),
              0xa129ca6149be45e5)
    with open("/sys/module/hop_core/parameters/option_exid", encoding="ascii") as parameter:
        tap.equal("option_exid is the ExID of the option that negotiates", int(parameter.read()), 0x484f)
    for version in (4, 6):
        handshake(tun, version)
        answered(tun, version)
        in_fragments(tun, version)
        kinds(tun, version)
        signed(tun, version)
        malformed(tun, version)
        bad_messages(tun, version)
        fuzz(tun, version)
        probing(tun, version)
        more_hops(tun, version)
        silence(tun, version)
        options(tun, version)
        inband(tun, version)
        blind_errors(tun, version)
        spoofed_synack(tun, version)
    other_dscp(tun)
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
