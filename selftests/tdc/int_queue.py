#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What sch_int does to frames, one by one, in virtual time; prints TAP.

    sender --va [int]========vb-- receiver

At 10 Mbit/s a unit is a byte: txBytes and queue length are exact. Sending takes no
virtual time, so the time of the record is known to the ns.
"""
import ctypes
import fcntl
import json
import socket
import struct
import subprocess
import sys
import time

import frames
import int_foreign
from frames import (DSTOPTS, ETH_P_IP, FRAGMENT, HOPOPTS, ICMP, PACKET_VNET_HDR, TCP, UDP,
                    checksum, expect, flood, frame, network, run_checks, sh)

INT, DATA, PROBE, ECHO = 254, 2, 3, 4
# TCP's first option: the marks of probes and of answers, and another experiment's.
PROBE_MARK, ECHO_MARK, OTHER_MARK = (struct.pack("!BBH", 253, 4, exid) for exid in (0x4850, 0x4841, 0x4851))
TERMS = bytes(range(12))
MESSAGE_BYTES = 36
SWITCH, OWN_PORT, OVERHEAD = 0x123, 0x4567, 24
ROOT = f"root handle 10: int rate 10mbit switch_id {SWITCH} port_id {OWN_PORT}"
SPEED_10M, SPEED_100G = 1, 9
# 8 Mbit/s: a frame of 1000 bytes takes 1 ms.
SHAPER = "root handle 1: tbf rate 8mbit burst 1100 limit 100mb"
BELOW = f"parent 1:1 handle 10: int rate 10mbit switch_id {SWITCH} port_id {OWN_PORT}"
LEN = 1000
NEEDS_CSUM = 1
SIOCETHTOOL, ETHTOOL_SSET, ETHTOOL_STXCSUM = 0x8946, 0x02, 0x17


def ethtool(dev, command, data):
    """The ioctl: the program may not be there."""
    held = ctypes.create_string_buffer(struct.pack("=I", command) + data)
    fcntl.ioctl(socket.socket(), SIOCETHTOOL,
                struct.pack("16sP16x", dev.encode(), ctypes.addressof(held)))


def set_speed(dev, mbit):
    """struct ethtool_cmd: supported, advertising, speed, duplex ..., speed_hi ..."""
    ethtool(dev, ETHTOOL_SSET, struct.pack("=IIHBBBBBBIIHBBI8x", 0, 0, mbit & 0xffff, 1, 0, 0, 0,
                                           0, 0, 0, 0, mbit >> 16, 0, 0, 0))


def record(speed=SPEED_10M, ts=0, tx=0, qlen=0):
    return struct.pack("!Q", speed << 60 | (ts & 0xffffff) << 36 | (tx & 0xfffff) << 16 | qlen)


def header(kind=DATA, slots=5, hops=0, path=0, records=(), port=0, words=None, said=None,
           following=TCP):
    """words, said: its length and its number of slots, if they shall be wrong."""
    body = b"".join(records).ljust(slots * 8, b"\0")
    return struct.pack("!BBBBI", following, 3 + 2 * slots if words is None else words, kind, 0x5a,
                       hops << 28 | path << 16 | 0xbeef) + body + struct.pack(
        "!I", (slots & 15 if said is None else said) << 28 | port << 12 | 0xabc)


def read(data, at):
    """The header at an offset: (hops, path, port, [records])."""
    words, = struct.unpack_from("!B", data, at + 1)
    first, = struct.unpack_from("!I", data, at + 4)
    last, = struct.unpack_from("!I", data, at + words * 4 - 4)
    packed = struct.unpack_from(f"!{words // 2 - 1}Q", data, at + 8)
    return (first >> 28, first >> 16 & 0xfff, last >> 12 & 0xffff,
            [(p >> 60, p >> 36 & 0xffffff, p >> 16 & 0xfffff, p & 0xffff) for p in packed])


def filler(size):
    return bytes(i * 7 & 0xff for i in range(size))


def pseudo(version, protocol, length):
    if version == 4:
        return (socket.inet_aton("192.0.2.1") + socket.inet_aton("192.0.2.2") +
                struct.pack("!HH", protocol, length))
    return (socket.inet_pton(socket.AF_INET6, "2001:db8::1") +
            socket.inet_pton(socket.AF_INET6, "2001:db8::2") + struct.pack("!II", length, protocol))


def whole_sum(version, protocol, segment):
    """0 where the checksum in it is right."""
    data = pseudo(version, protocol, len(segment)) + segment
    return checksum(data + b"\0" * (len(data) % 2))


def with_check(version, protocol, segment, partial=False):
    """The segment with its checksum; partial: that of the pseudo-header, not complemented."""
    at = {TCP: 16, UDP: 6}[protocol]
    segment = segment[:at] + b"\0\0" + segment[at + 2:]
    if partial:
        check = ~checksum(pseudo(version, protocol, len(segment))) & 0xffff
    else:
        check = whole_sum(version, protocol, segment)
        if protocol == UDP:
            check = check or 0xffff
    return segment[:at] + struct.pack("!H", check) + segment[at + 2:]


def udp(payload):
    return struct.pack("!HHHH", 1234, 5678, 8 + len(payload), 0) + payload


def tcp(payload, options=b"", flags=0x10):
    return struct.pack("!HHIIBBHHH", 1, 2, 3, 4, (20 + len(options)) << 2, flags, 1000, 0,
                       0) + options + payload


def message():
    return struct.pack("!IQIIIHHII", 1, 2, 3, 4, 5, 6, 7, 8, 9)


def ip(version, payload, protocol, **more):
    return (frames.ipv4 if version == 4 else frames.ipv6)(payload, protocol, **more)


def inband(version, head, tags=(), **more):
    return frame(*ip(version, head + filler(900), INT, **more), tags)


def probe(version, payload, tags=(), dscp=0, options=PROBE_MARK, **more):
    segment = with_check(version, TCP, tcp(payload, options))
    return frame(*ip(version, segment, TCP, dsfield=dscp << 2 | 2, **more), tags)


def expect_stats(wire, stamped=None, malformed=None, **want):
    shown = wire.stats()
    for group, only in (("stamped", stamped), ("malformed", malformed)):
        expect({k: v for k, v in shown[group].items() if v}, only or {}, group)
    counters = ("full", "untimed", "echo", "unwritable")
    expect({n: shown[n] for n in counters}, {n: want.get(n, 0) for n in counters}, "statistics")


def own_record(tx=0, qlen=0, speed=SPEED_10M):
    """Return the state of the port."""
    return record(speed, time.clock_gettime_ns(time.CLOCK_MONOTONIC), tx, qlen)


def with_entry(head, own, port=None):
    """A header behind a hop; port: if it names that."""
    slots = len(head) // 8 - 1
    first, = struct.unpack_from("!I", head, 4)
    last, = struct.unpack_from("!I", head, len(head) - 4)
    records = [head[8 + 8 * i:16 + 8 * i] for i in range(slots)]
    hops = first >> 28
    if hops < slots:
        records[hops] = own
    if port is not None:
        last = last & 0xf0000fff | port << 12
    first = min(hops + 1, 15) << 28 | (first >> 16 & 0xfff ^ SWITCH) << 16 | first & 0xffff
    return head[:4] + struct.pack("!I", first) + b"".join(records) + struct.pack("!I", last)


def counters(wire):
    """All counters but that of bytes, by name; and that of bytes."""
    shown = wire.stats()
    flat = {name: shown[name] for name in ("full", "untimed", "echo", "unwritable")}
    return {**flat, **shown["stamped"], **shown["malformed"]}, shown["tx_bytes"]


def each_row(rows):
    """A check of all rows, on one qdisc: a row is (name, what to send, what arrives, what is
    counted), the first two functions, the second of the record that is due."""
    def check(wire):
        wire.qdisc(ROOT)
        before, sent_bytes = counters(wire)
        wrong = []
        for name, send, arrive, counted in rows:
            own = own_record(tx=sent_bytes)
            data = send()
            got = wire.pass_one(data)
            after, sent_bytes = counters(wire)
            try:
                expect(network(got), network(arrive(own)), "frame")
                expect({k: v - before[k] for k, v in after.items() if v != before[k]}, counted,
                       "statistics")
            except AssertionError as error:
                wrong.append(f"{name}: {error}")
            before = after
        assert not wrong, "; ".join(wrong)
        wire.empty()
    return check


def stamped(name, make, head, kind, port=OWN_PORT, full=0):
    """The frame is as if made with the header that the hop leaves: so are its checksums."""
    return (name, lambda: make(head), lambda own: make(with_entry(head, own, port)),
            {kind: 1, "full": 1} if full else {kind: 1})


def untouched(name, data, malformed, counted):
    return name, lambda: data, lambda own: data, {malformed: 1} if malformed else counted


H = header()
P = message() + header(PROBE) + TERMS
TO_INT = struct.pack("!BBIH", INT, 0, 0x01040000, 0)
TO_UDP = struct.pack("!BBIH", UDP, 0, 0x01040000, 0)
OLD = [record(SPEED_100G, 1, 2, 10), record(SPEED_10M, 3, 4, 0)]
WALKED = header(hops=2, path=0xf0f, records=OLD, port=77)
IDLE = header(hops=1, path=SWITCH, records=OLD[1:], port=77)
FULL = header(slots=2, hops=2, path=0xf0f, records=OLD, port=77)
NONE = header(slots=0)
MOST = header(slots=15, hops=15, path=1, records=OLD, port=77)
LAST = header(slots=15, hops=14, path=1, records=OLD, port=77)


def made(maker, version, behind=b"", **more):
    return lambda head: maker(version, head + behind, **more)


def question(version, behind=TERMS, **more):
    return lambda head: probe(version, message() + head + behind, **more)


def behind_intmd(version, stack=bytes(24)):
    """A probe into which another switch has written INT-MD, before this one."""
    return lambda head: probe(version, int_foreign.intmd(stack) + message() + head + TERMS)


def behind_ifa(version, stack=bytes(64), following=TCP, mark=PROBE_MARK, **more):
    """The same for IFA: the checksum is that of TCP without it."""
    def make(head):
        segment = with_check(version, TCP, tcp(message() + head + TERMS, mark))
        words = struct.pack("!BBBB", 0, 0, 255, len(stack) // 4)
        at = 20 + len(mark)
        data = struct.pack("!BBBB", 0x20, following, 0, 64) + segment[:at] + words + stack + segment[at:]
        return frame(*ip(version, data, int_foreign.IFA, **more))
    return make


STAMPED = [
    ("IPv4", made(inband, 4), H, "data", {}),
    ("IPv6", made(inband, 6), H, "data", {}),
    ("IPv4 with options", made(inband, 4, options=b"\x01" * 12), H, "data", {}),
    ("IPv4, first fragment", made(inband, 4, fragment=0x2000), H, "data", {}),
    ("IPv6 behind hop-by-hop", lambda head: frame(*frames.ipv6(head, HOPOPTS, TO_INT)), H,
     "data", {}),
    ("IPv6 behind destination options", lambda head: frame(*frames.ipv6(head, DSTOPTS, TO_INT)),
     H, "data", {}),
    ("802.1Q", made(inband, 4, tags=["q"]), H, "data", {}),
    ("802.1ad, 802.1Q", made(inband, 4, tags=["ad", "q"]), H, "data", {}),
    ("IPv6 in two tags", made(inband, 6, tags=["ad", "q"]), H, "data", {}),
    ("third hop, a longer queue before", made(inband, 4), WALKED, "data", {"port": None}),
    ("second hop, as short a queue before", made(inband, 4), IDLE, "data", {"port": None}),
    ("no place left", made(inband, 6), FULL, "data", {"port": None, "full": 1}),
    ("no places", made(inband, 4), NONE, "data", {"port": None, "full": 1}),
    ("fifteenth hop", made(inband, 4), LAST, "data", {"port": None}),
    ("one of more than fifteen hops", made(inband, 4), MOST, "data", {"port": None, "full": 1}),
    ("probe, IPv4", question(4), header(PROBE), "probe", {}),
    ("probe, IPv6", question(6), header(PROBE), "probe", {}),
    ("probe with more behind, of odd length", question(4, filler(333)), header(PROBE), "probe", {}),
    ("probe with more TCP options", question(6, options=PROBE_MARK + b"\x01" * 12), header(PROBE), "probe", {}),
    ("probe of DSCP 27", question(4, dscp=27), header(PROBE), "probe", {}),
    ("probe of DSCP 63, IPv6", question(6, dscp=63), header(PROBE), "probe", {}),
    ("probe behind IPv4 options", lambda head: frame(*ip(
        4, with_check(4, TCP, tcp(message() + head + TERMS, PROBE_MARK)), TCP, options=b"\1" * 8)), header(PROBE),
     "probe", {}),
    ("probe in two tags", question(4, tags=["ad", "q"]), header(PROBE), "probe", {}),
    ("probe in a padded frame", lambda head: question(4)(head) + bytes(20), header(PROBE, slots=0),
     "probe", {"port": None, "full": 1}),
    ("probe behind INT-MD, IPv4", behind_intmd(4), header(PROBE), "probe", {}),
    ("probe behind INT-MD without metadata, IPv6", behind_intmd(6, b""), header(PROBE), "probe", {}),
    ("probe behind IFA, IPv4", behind_ifa(4), header(PROBE), "probe", {}),
    ("probe behind IFA without metadata, IPv6", behind_ifa(6, b""), header(PROBE), "probe", {}),
]


BAD = [
    ("length", header(words=2)),
    ("length", header(words=12)),
    ("length", header(slots=16)),
    ("type", header(0)),
    ("type", header(5)),
    ("slots", header(said=4)),
    ("hops", header(path=1)),
]
UNTOUCHED = [(f"{cause}, inband", inband(4 + 2 * (i % 2), head), cause, {})
             for i, (cause, head) in enumerate(BAD)]
UNTOUCHED += [(f"{cause}, probe", probe(4 + 2 * (i % 2), message() + head + TERMS), cause, {})
              for i, (cause, head) in enumerate(
                  [(cause, head[:2] + bytes([head[2] if cause == "type" else PROBE]) + head[3:])
                   for cause, head in BAD])]
UNTOUCHED += [
    ("truncated, inband", frame(*ip(4, H[:-1], INT)), "truncated", {}),
    ("truncated, IPv6", frame(*ip(6, H[:11], INT)), "truncated", {}),
    ("nothing of it", frame(*ip(4, b"", INT)), "truncated", {}),
    ("ends within, but the frame is padded", frame(*ip(4, H[:30], INT)) + H[30:], "truncated", {}),
    ("truncated, probe", probe(4, P[:-13]), "truncated", {}),
    ("probe that ends within its message", probe(6, P[:35]), "truncated", {}),
    ("probe, three bytes", probe(4, P[:3]), "truncated", {}),
    ("a probe's inband", inband(4, header(PROBE)), "type", {}),
    ("data's in a probe", probe(4, message() + H + TERMS), "type", {}),
    ("echo, inband", inband(4, header(ECHO)), None, {"echo": 1}),
    ("echo with a probe's mark", probe(4, message() + header(ECHO)), None, {"echo": 1}),
    ("answer", probe(4, message() + header(ECHO), options=ECHO_MARK), None, {}),
    ("a probe without mark", probe(4, P, options=b""), None, {}),
    ("a probe without mark, DSCP 27", probe(6, P, dscp=27, options=b""), None, {}),
    ("a probe with another option in front", probe(6, P, options=b"\1" * 4 + PROBE_MARK), None, {}),
    ("another experiment's", probe(4, P, options=OTHER_MARK), None, {}),
    ("a mark as data", probe(4, PROBE_MARK + P, options=b""), None, {}),
    ("a mark as data of IPv6", probe(6, PROBE_MARK + P, options=b""), None, {}),
    ("in UDP", frame(*ip(4, udp(PROBE_MARK * 4 + P), UDP)), None, {}),
    ("a mark, TCP without data", probe(6, b""), None, {}),
    ("TCP's header of 16 bytes", frame(*ip(4, tcp(P, PROBE_MARK)[:12] + b"\x40" + tcp(P, PROBE_MARK)[13:], TCP)),
     None, {}),
    ("TCP's header ends behind the packet",
     frame(*ip(4, tcp(b"", PROBE_MARK)[:12] + b"\xf0" + tcp(b"", PROBE_MARK)[13:], TCP)), None, {}),
    ("INT-MD, another experiment's", probe(4, int_foreign.intmd() + P, options=OTHER_MARK), None, {}),
    ("INT-MD that ends behind the packet", probe(6, int_foreign.intmd(total=30) + P), "length", {}),
    ("half of INT-MD", probe(4, int_foreign.intmd()[:9]), "truncated", {}),
    ("IFA without a mark", behind_ifa(4, mark=b"\1" * 4)(header(PROBE)), None, {}),
    ("IFA with UDP", behind_ifa(4, following=UDP)(header(PROBE)), None, {}),
    ("IFA in a later fragment", behind_ifa(4, fragment=1)(header(PROBE)), None, {}),
    ("IFA that ends within the stack",
     frame(*ip(6, network(behind_ifa(6)(header(PROBE)))[42:90], int_foreign.IFA)), None, {}),
    ("half a TCP header", frame(*ip(4, tcp(P)[:10], TCP)), None, {}),
    ("half a mark", frame(*ip(6, tcp(b"", PROBE_MARK)[:22], TCP)), None, {}),
    ("later fragment", inband(4, H, fragment=1), None, {}),
    ("later fragment, IPv6", frame(*frames.ipv6(H, FRAGMENT, struct.pack("!BBHI", INT, 0, 8, 1))),
     None, {}),
    ("in an ICMP error", frame(*ip(4, b"\x03\x04" + bytes(6) + ip(4, H, INT)[1], ICMP)), None, {}),
    ("three tags", inband(4, H, ["ad", "q", "q"]), None, {}),
    ("not IP", frame(0x88b5, H), None, {}),
    ("neither IPv4 nor IPv6", frame(ETH_P_IP, b"\x55" + bytes(19) + H), None, {}),
]


def units_of_the_speed(wire):
    """Records of 100 Gbit/s are in 512 bytes."""
    wire.qdisc("root handle 10: int rate 100gbit overhead 24")
    for _ in range(3):
        wire.put(inband(4, H))
    bytes_each = len(inband(4, H)) + OVERHEAD
    for number, got in enumerate(wire.arrived()):
        expect(read(got, 34)[3][0][0], SPEED_100G, "speed")
        expect(read(got, 34)[3][0][2], number * bytes_each // 512, "txBytes")
    expect(wire.stats()["tx_bytes"], 3 * bytes_each, "tx_bytes")


def train(wire, count, data):
    """Return the records that equal frames collect, one a ms behind the shaper."""
    for _ in range(count):
        wire.put(data)
    return [read(got, 34)[3][0] for got in wire.arrived()]


def below_a_shaper(wire):
    """tbf peeks long before it takes: frames are stamped when they leave."""
    wire.qdisc(SHAPER, f"{BELOW} overhead {OVERHEAD}")
    data = frame(*ip(4, (H + filler(1000))[:LEN - 34], INT))
    for _ in range(20):
        wire.put(data)
    # The second waits for 1 ms at the head; the first left, and only that is stamped.
    expect(wire.stats()["stamped"]["data"], 1, "stamped at once")
    records = [read(got, 34)[3][0] for got in wire.arrived()]
    expect([(r[2], r[3]) for r in records],
           [(0, 0)] + [(n * 1024, (19 - n) * 1024) for n in range(1, 20)], "txBytes, queue")
    # The bucket held 1100 bytes when the first of 1000 came.
    expect([(b[1] - a[1]) & 0xffffff for a, b in zip(records[1:], records[2:])], [10**6] * 18,
           "time between them")
    expect(wire.stats()["longest_queue"], 18 * 1024, "longest queue")
    wire.empty()


def queue_cannot_be_said(wire):
    wire.qdisc(SHAPER, BELOW)
    records = train(wire, 80, frame(*ip(4, (H + filler(1000))[:LEN - 34], INT)))
    expect([r[3] for r in records],
           [0] + [min(65535, (79 - n) * 1000) for n in range(1, 80)], "queue")
    expect(wire.stats()["longest_queue"], 78000, "longest queue")


def longest_names_itself(wire):
    """19 ms of queue here, 15 ms before; then 14 ms."""
    wire.qdisc(SHAPER, f"{BELOW} overhead 250")
    head = header(hops=1, path=1, records=[record(SPEED_10M, 1, 2, 18750)], port=77)
    for _ in range(20):
        wire.put(frame(*ip(4, (head + filler(1000))[:LEN - 34], INT)))
    got = [read(data, 34) for data in wire.arrived()]
    expect([g[2] for g in got], [77] + [OWN_PORT] * 3 + [77] * 16, "port")
    expect([g[1] for g in got], [SWITCH ^ 1] * 20, "path")


def around_another(wire):
    """The child that was grafted drops what it likes; all is accounted."""
    wire.qdisc(SHAPER, BELOW, "parent 10:1 handle 20: wred limit 5000")
    for _ in range(20):
        try:
            wire.put(frame(*ip(4, (H + filler(1000))[:LEN - 34], INT)))
        except OSError:
            pass
    expect(len(wire.arrived()), 6, "arrived")
    expect_stats(wire, stamped={"data": 6})
    expect(wire.stats()["tx_bytes"], 6000, "tx_bytes")
    wire.empty()


def around_another_of_its_kind(wire):
    """Two hops in one box: both stamp, each its own; the inner one has the queue."""
    wire.qdisc(SHAPER, f"{BELOW} sojourn", "parent 10:1 handle 20: int switch_id 1 rate 100mbit sojourn")
    for _ in range(3):
        wire.put(frame(*ip(4, (H + filler(1000))[:LEN - 34], INT)))
    for n, got in enumerate(wire.arrived()):
        hops, path, _, records = read(got, 34)
        expect((hops, path, records[0][0], records[1][0]), (2, SWITCH ^ 1, 2, SPEED_10M), "entries")
        if n == 2:
            assert records[0][3] >= 12500, records
    wire.empty()


def change_in_the_stream(wire):
    wire.qdisc(SHAPER, BELOW)
    words = ("rate 1gbit", "overhead 24", "sojourn", "nosojourn share", "speed 400gbit port_id 1",
             "noshare protocol 253", "protocol 254 speed auto limit 1mb", "switch_id 7")
    data = frame(*ip(4, (H + filler(1000))[:LEN - 34], INT))
    for turn in range(80):
        for _ in range(7):
            wire.put(data)
        sh(f"tc qdisc change dev va parent 1:1 handle 10: int {words[turn % 8]}")
        time.sleep(0.003)
    expect(len(wire.arrived()), 560, "arrived")
    shown = wire.stats()
    assert 300 < shown["stamped"]["data"] < 560, shown["stamped"]
    expect(any(shown["malformed"].values()), False, "malformed")
    wire.empty()


def options_of(wire):
    return wire.stats()["options"]


def refused_change_leaves_all(wire):
    """Right words in front of a wrong one, and rates that the device or a code forbids."""
    wire.qdisc(f"{ROOT} sojourn share overhead 24")
    before = options_of(wire)
    for words in ("switch_id 5 port_id 65536", "nosojourn overhead 1025", "rate 7gbit switch_id 5",
                  "noshare speed 7gbit", "port_id 5 protocol 0", "limit 1",
                  "port_id 6 rate 1bit"):
        done = subprocess.run(f"tc qdisc change dev va root int {words}", shell=True,
                              capture_output=True, text=True, check=False)
        assert done.returncode, words
        expect(options_of(wire), before, words)
    stamp_still = read(wire.pass_one(inband(4, H)), 34)
    expect(stamp_still[:3], (1, SWITCH, OWN_PORT), "stamp")


def other_code_points(wire):
    wire.qdisc(f"{ROOT} protocol 200")
    data = inband(4, H)
    expect(wire.pass_one(data), data, "old code point")
    expect_stats(wire)
    wire.pass_one(frame(*ip(6, H, 200)))
    expect_stats(wire, stamped={"data": 1})


def answer(version):
    return lambda head: probe(version, message() + head, options=ECHO_MARK)


def border_clears(wire):
    """Nothing that a hop has written leaves: on data, in probes, in answers."""
    wire.qdisc(f"{ROOT} border")
    rows = [(make, head[2], head[1] - 3 >> 1) for _, make, head, *_ in STAMPED]
    rows += [(make(version), ECHO, 2) for make in (answer, lambda v: made(inband, v)) for version in (4, 6)]
    for make, kind, slots in rows:
        walked = header(kind, slots=slots, hops=3, path=0xf0f, records=(OLD * 8)[:slots], port=77)
        expect(network(wire.pass_one(make(walked))), network(make(header(kind, slots=slots))),
               f"type {kind}, {slots} slots")
    for data in (frame(*ip(4, udp(filler(90)), UDP)), inband(4, header(said=4))):
        expect(wire.pass_one(data), data, "untouched")
    expect_stats(wire, malformed={"slots": 1})
    expect(wire.stats()["cleared"], len(rows), "cleared")
    sh("tc qdisc change dev va root int noborder")
    expect(read(wire.pass_one(inband(4, H)), 34)[:3], (1, SWITCH, OWN_PORT), "stamp")


def down_and_up(wire):
    wire.qdisc(SHAPER, f"{BELOW} sojourn")
    for _ in range(10):
        for _ in range(20):
            wire.put(inband(4, H))
        time.sleep(0.0015)
        sh("ip link set dev va down")
        wire.empty()
        sh("ip link set dev va up; sleep 0.01")
        wire.put(inband(4, H))
    time.sleep(1)
    wire.empty()


def speed_of_the_device(wire):
    """veth says 10 Gbit/s; a tap says what was configured, once it comes up again."""
    wire.qdisc("root handle 10: int")
    shown = wire.stats()
    expect((shown["port_rate"], shown["port_speed"]), (1250000000, 1250000000), "rates")
    sh("ip tuntap add dev tap0 mode tap; ip link set dev tap0 up")
    try:
        done = subprocess.run("tc qdisc add dev tap0 root handle 10: int", shell=True,
                              capture_output=True, text=True, check=False)
        expect(done.returncode, 0, done.stderr)
        for mbit, speed in ((25000, 25000), (7000, 0), (100, 100)):
            set_speed("tap0", mbit)
            sh("ip link set dev tap0 down; ip link set dev tap0 up")
            shown = json.loads(subprocess.check_output("tc -s -j qdisc show dev tap0", shell=True))
            expect((shown[0]["port_rate"], shown[0]["port_speed"]),
                   (mbit * 125000, speed * 125000), f"at {mbit} Mbit/s")
    finally:
        sh("ip link del dev tap0")


def put_partial(wire, data, start, at):
    """A frame whose checksum at start + at the device shall compute."""
    wire.put(struct.pack("=BBHHHH", NEEDS_CSUM, 0, 0, 0, start, at) + data)
    got = wire.arrived()
    expect(len(got), 1, "frames arrived")
    return got[0]


def checksum_is_the_devices(wire):
    """Computed behind us where the device cannot; else what is there stays as it is."""
    for able in (0, 1):
        ethtool("va", ETHTOOL_STXCSUM, struct.pack("=I", able))
        for version in (4, 6):
            start = 34 if version == 4 else 54
            head = header(PROBE)
            wire.qdisc(ROOT)
            want = with_check(version, TCP, tcp(message() + with_entry(head, own_record(), OWN_PORT) + TERMS,
                                                PROBE_MARK), partial=able)
            sent = with_check(version, TCP, tcp(message() + head + TERMS, PROBE_MARK), partial=True)
            got = put_partial(wire, frame(*ip(version, sent, TCP)), start, 16)
            expect(got[start:], want, f"able {able}, IPv{version}")
            sh("tc qdisc del dev va root")


def formats_leave_offloads_alone(wire):
    """The device would sum up the metadata, and a GSO packet's segments would each have it."""
    wire.qdisc(int_foreign.ROOT)
    data = frame(*ip(4, int_foreign.ifa(), int_foreign.IFA))
    expect(put_partial(wire, data, 38, 16), data, "a checksum that is the device's")
    _, packet = ip(4, int_foreign.ifa() + bytes(2900), int_foreign.IFA)
    wire.put(struct.pack("=BBHHHH", NEEDS_CSUM, 1, 94, 1000, 38, 16) + frame(ETH_P_IP, packet))
    wire.arrived()
    expect({k: v for k, v in wire.stats()["refused"].items() if v}, {"offload": 4}, "refused")


def gso_packet_is_ten(wire):
    """One header, copied to all segments: on the link ten of 1000 bytes and headers each."""
    wire.qdisc(f"{ROOT} overhead 26")
    head = H + tcp(b"")
    _, packet = ip(4, head + bytes(10 * 1000), INT)
    behind = 34 + len(head)
    # Checksum from TCP on. Nothing segments protocol 254: the device drops it.
    wire.put(struct.pack("=BBHHHH", NEEDS_CSUM, 1, behind, 1000, behind - 20, 16) +
             frame(ETH_P_IP, packet))
    expect_stats(wire, stamped={"data": 10})
    expect(wire.stats()["tx_bytes"], 10 * (1000 + behind + 26), "tx_bytes")
    wire.empty()


def super_probe(wire):
    """TCP's checksum of a GSO packet is the device's, and stays as it is."""
    wire.qdisc(ROOT)
    payload = message() + header(PROBE)
    segment = with_check(4, TCP, tcp(payload + bytes(3000 - len(payload)), PROBE_MARK), partial=True)
    data = frame(*ip(4, segment, TCP))
    own = own_record()
    wire.put(struct.pack("=BBHHHH", NEEDS_CSUM, 1, 58, 1000, 34, 16) + data)
    got = wire.arrived()
    expect(len(got), 1, "arrived")
    at = 58 + len(message())
    expect(got[0][at:at + 52], with_entry(header(PROBE), own, OWN_PORT), "header")
    expect(got[0][:at] + got[0][at + 52:], data[:at] + data[at + 52:], "around it")
    expect_stats(wire, stamped={"probe": 3})
    expect(wire.stats()["tx_bytes"], 3 * (58 + 1000), "tx_bytes")


def child_that_segments(wire):
    """tbf below us segments what does not fit its bucket, and so overwrites the arrival time:
    the queue is then what is left in it."""
    payload = message() + header(PROBE)
    segment = with_check(4, TCP, tcp(payload + bytes(3000 - len(payload)), PROBE_MARK), partial=True)
    data = frame(*ip(4, segment, TCP))
    wire.qdisc(f"{ROOT} sojourn", "parent 10:1 handle 20: tbf rate 8mbit burst 1100 limit 100mb")
    for _ in range(2):
        wire.put(struct.pack("=BBHHHH", NEEDS_CSUM, 1, 58, 1000, 34, 16) + data)
    got = wire.arrived()
    expect(len(got), 6, "arrived")
    # Each segment has TCP's header, with the mark, but only the first has a message behind it.
    expect_stats(wire, stamped={"probe": 2}, malformed={"length": 4}, untimed=2)
    # The fourth of six, of 1058 bytes each.
    expect(read(got[3], 58 + len(message()))[3][0][3], 2 * 1058, "queue")
    wire.empty()


def flooded_clones_differ(wire):
    """A bridge floods clones to two ports: the one with int stamps its own copy only."""
    data = inband(4, H)
    got = flood(wire, ROOT, data)
    expect(read(got[0], 34)[0], 1, "hops with int")
    expect(got[1], data, "without")


def two_classes(wire, *lines):
    """A shaper, and classes 2:1 and 2:2 that take turns, ten frames in each at one moment.
    Of all, in the order in which they left: (class, speed, ns since the first, tx, qlen)."""
    wire.qdisc(SHAPER)
    for line in lines:
        sh(f"tc {line}")
    sh("tc filter add dev va parent 2: protocol ip u32 match u8 1 0xff at 8 flowid 2:1;"
       "tc filter add dev va parent 2: protocol ip u32 match u8 2 0xff at 8 flowid 2:2")
    data = frame(*ip(4, (H + filler(1000))[:LEN - 34], INT))
    for _ in range(10):
        for ttl in (1, 2):
            wire.put(data[:22] + bytes([ttl]) + data[23:])
    got = wire.arrived()
    expect(len(got), 20, "arrived")
    wire.empty()
    entries, last, passed_ns = [], None, 0
    for data in got:
        speed, ts, tx, qlen = read(data, 34)[3][0]
        passed_ns += 0 if last is None else (ts - last) & 0xffffff
        last = ts
        entries.append((data[22], speed, passed_ns, tx, qlen))
    return entries


def int_of(minor, more, port=OWN_PORT):
    return (f"qdisc add dev va parent 2:{minor} handle {minor}0: int rate 10mbit "
            f"switch_id {SWITCH} port_id {port} {more}")


def filled_at_once(entries):
    """Each frame waited since the first one left: one a ms, whichever class."""
    for number, (_, _, waited_ns, _, qlen) in enumerate(entries):
        # 10 Mbit/s: 1.25 bytes a us
        expect(qlen, waited_ns * 1250 // 10**6, f"time in the queue, frame {number}")
    # Each class had ten frames at most: its own queue would say half of this.
    assert entries[-1][4] > 22000, entries[-1]


DRR = ["qdisc add dev va parent 1:1 handle 2: drr"] + [
    f"class add dev va parent 2: classid 2:{n} drr quantum 1000" for n in (1, 2)]
ETS = ["qdisc add dev va parent 1:1 handle 2: ets bands 2 quanta 1000 1000"]
HTB = ["qdisc add dev va parent 1:1 handle 2: htb"] + [
    f"class add dev va parent 2: classid 2:{n} htb rate 100mbit quantum 1000" for n in (1, 2)]


def sojourn_below(classes):
    return lambda wire: filled_at_once(two_classes(
        wire, *classes, int_of(1, "sojourn"), int_of(2, "sojourn")))


def sojourn_of_a_class(wire):
    """The record says the port's speed, so the queue is what the port sends in that time, at any rate of the class."""
    entries = two_classes(wire, *DRR, *(
        f"qdisc add dev va parent 2:{n} handle {n}0: int rate {rate} speed 10mbit sojourn"
        for n, rate in ((1, "2mbit"), (2, "6mbit"))))
    expect({speed for _, speed, *_ in entries}, {SPEED_10M}, "speed")
    filled_at_once(entries)


def classes_have_a_guarantee(wire):
    """Bytes of the class itself, in the measure of its guarantee until it is known what the others leave."""
    entries = two_classes(wire, *DRR, *(
        f"qdisc add dev va parent 2:{n} handle {n}0: int rate {rate} speed 10mbit share sojourn port_id 1"
        for n, rate in ((1, "5mbit"), (2, "2mbit"))))
    expect({speed for _, speed, *_ in entries}, {SPEED_10M}, "speed")
    filled_at_once(entries)
    # 10 Mbit/s over the guarantee and 1/32 of it; the first frame has sent nothing before.
    for n, scaled in ((1, 1939), (2, 4848)):
        tx = tx_of(entries, n)
        expect((tx[0], {after - before for before, after in zip(tx, tx[1:])} - {scaled, scaled + 1}), (0, set()),
               f"txBytes {n}")


def longest_queue_of_a_class(wire):
    """What was in the queue; the records have it in the measure of the guarantee, 4.85 times as much."""
    entries = two_classes(wire, *DRR, *(
        f"qdisc add dev va parent 2:{n} handle {n}0: int rate 2mbit speed 10mbit share port_id 1" for n in (1, 2)))
    expect([q["longest_queue"] for q in wire.shown() if q["kind"] == "int"], [8000, 8000], "longest queues")
    assert max(e[4] for e in entries) in range(38700, 38800), entries


def tx_of(entries, number):
    return [e[3] for e in entries if e[0] == number]


def classes_share_a_port(wire):
    """txBytes of the port, not of the class, for those who share and bear its ID."""
    lines = [*DRR, int_of(1, "share"), int_of(2, "share")]
    entries = two_classes(wire, *lines)
    expect([e[3] for e in entries], [n * 1000 for n in range(20)], "txBytes, shared")
    # One alone goes on where both were; the other too.
    sh("tc qdisc change dev va parent 2:1 int noshare")
    data = frame(*ip(4, (H + filler(1000))[:LEN - 34], INT))
    for want in (20000, 21000):
        got = wire.pass_one(data[:22] + b"\1" + data[23:])
        expect(read(got, 34)[3][0][2], want, "txBytes, alone")
    got = wire.pass_one(data[:22] + b"\2" + data[23:])
    expect(read(got, 34)[3][0][2], 20000, "txBytes, the other")
    sh("tc qdisc del dev va parent 2:2; tc qdisc del dev va root")


def classes_that_do_not_share(wire):
    for first, second in ((int_of(1, ""), int_of(2, "share")),
                          (int_of(1, "share"), int_of(2, "share", OWN_PORT + 1))):
        entries = two_classes(wire, *DRR, first, second)
        for number in (1, 2):
            expect(tx_of(entries, number), [n * 1000 for n in range(10)], f"txBytes {number}")
        sh("tc qdisc del dev va root")


def trace_tells(wire):
    trace = "/sys/kernel/tracing/"
    sh(f"echo > {trace}trace; echo 1 > {trace}events/sch_int/int_stamp/enable")
    wire.qdisc(ROOT).put(inband(4, H))
    sh(f"echo 0 > {trace}events/sch_int/int_stamp/enable")
    with open(f"{trace}trace", encoding="utf-8") as log:
        lines = [line for line in log if "int_stamp:" in line]
    expect(len(lines), 1, "events")
    _, ts, tx, qlen = read(wire.arrived()[0], 34)[3][0]
    words = (f"handle=10: type=2 hops=1 path_id={SWITCH} port_id={OWN_PORT} written=1 "
             f"speed=1 ts_ns={ts} tx_units={tx} qlen_units={qlen}")
    assert words in lines[0], lines[0]


def flood_frames():
    """One of each."""
    return [row[1](row[2]) for row in STAMPED] + [row[1] for row in UNTOUCHED]


def main():
    groups = [(f"stamped, {'/'.join(kinds)}", [stamped(*r[:4], **r[4]) for r in STAMPED
                                               if r[3] in kinds])
              for kinds in (("data",), ("probe",))]
    groups += [("untouched, malformed", [untouched(*r) for r in UNTOUCHED if r[2]]),
               ("untouched, not ours to stamp", [untouched(*r) for r in UNTOUCHED if not r[2]])]
    checks = [(f"{name}: {len(rows)} frames", each_row(rows), ()) for name, rows in groups]
    for check in (units_of_the_speed, below_a_shaper, queue_cannot_be_said, longest_names_itself,
                  around_another, around_another_of_its_kind, change_in_the_stream,
                  refused_change_leaves_all, other_code_points, border_clears, down_and_up, speed_of_the_device,
                  sojourn_of_a_class, classes_have_a_guarantee, longest_queue_of_a_class, classes_share_a_port,
                  classes_that_do_not_share, flooded_clones_differ, trace_tells):
        checks.append((check.__name__.replace("_", " "), check, ()))
    checks += [(f"formats: {check.__name__.replace('_', ' ')}", check, ()) for check in int_foreign.CHECKS]
    checks += [(f"sojourn below {name}", sojourn_below(classes), ())
               for name, classes in (("drr", DRR), ("ets", ETS), ("htb", HTB))]
    for check in (checksum_is_the_devices, formats_leave_offloads_alone, gso_packet_is_ten,
                  super_probe, child_that_segments):
        checks.append((check.__name__.replace("_", " "), check, (PACKET_VNET_HDR,)))
    return run_checks("int", checks)


if __name__ == "__main__":
    sys.exit(main())
