#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Test sch_wred frame by frame, in virtual time; prints TAP.

    sender --va [parent | wred]========vb-- receiver

The parent (tbf, htb) sends the first frame at once and holds the others, and
sending takes no virtual time. So frame n, all of length L, finds a backlog of
0, 0, L, 2L, 3L, ... Then the queue drains, and the frames that arrive are checked.
"""
import errno
import socket
import struct
import sys
import time

import frames
from frames import (ETH_P_IP, ETH_P_IPV6, PACKET_VNET_HDR, checksum, expect, flood_all, run_checks,
                    sh)

LEN = 1000
NOT_ECT, ECT_1, ECT_0, CE = range(4)
SO_SNDBUFFORCE = 32
ETH_P_ARP = 0x0806
ETH_P_8021Q, ETH_P_8021AD = 0x8100, 0x88a8
HELD_BY_TBF = "root handle 1: tbf rate 8mbit burst 1100 limit 100mb"
HTB = ["root handle 1: htb default 1",
       "class add dev va parent 1: classid 1:1 htb rate 8mbit burst 1100"]


def ipv4(ecn, length, number):
    header = struct.pack("!BBHHHBBH4s4s", 0x45, 0xb8 | ecn, length, number, 0, 64, 17, 0,
                         socket.inet_aton("192.0.2.1"), socket.inet_aton("192.0.2.2"))
    return header[:10] + struct.pack("!H", checksum(header)) + header[12:]


def ipv6(ecn, length, number):
    return (struct.pack("!IHBB", 6 << 28 | (0xb8 | ecn) << 20 | number, length - 40, 59, 64) +
            socket.inet_pton(socket.AF_INET6, "2001:db8::1") +
            socket.inet_pton(socket.AF_INET6, "2001:db8::2"))


def frame(kind, ecn, number, length=LEN):
    """Return a frame; kind: e.g. "ipv4", "ipv6", "arp", or with tags "ad.q.ipv4"."""
    *tags, last = kind.split(".")
    types = {"q": ETH_P_8021Q, "ad": ETH_P_8021AD, "ipv4": ETH_P_IP, "ipv6": ETH_P_IPV6,
             "arp": ETH_P_ARP}
    out = b"\xff" * 6 + b"\x02" + b"\0" * 5
    for tag in tags:
        # Priority 2 makes the first nibble of the tag 4, like IPv4's version.
        out += struct.pack("!HH", types[tag], 0x4005)
    out += struct.pack("!H", types[last])
    room = length - len(out)
    if last == "ipv4":
        out += ipv4(ecn, room, number)
    elif last == "ipv6":
        out += ipv6(ecn, room, number)
    else:
        out += struct.pack("!HHBBH", 1, ETH_P_IP, 6, 4, 1)
    return out + bytes(length - len(out))


def read_back(data, kind):
    """Return (number, ECN) of a frame that arrived; its header must be valid."""
    last = kind.split(".")[-1]
    # A tag may have been removed from the frame on arrival.
    for at in (14, 18, 22):
        if last == "ipv4" and data[at] == 0x45 and data[at + 8:at + 10] == b"\x40\x11":
            assert checksum(data[at:at + 20]) == 0, "IPv4 checksum"
            assert data[at + 1] & 0xfc == 0xb8, "DSCP"
            return struct.unpack_from("!H", data, at + 4)[0], data[at + 1] & 3
        if last == "ipv6" and data[at] == 0x6b and data[at + 6:at + 8] == b"\x3b\x40":
            word = struct.unpack_from("!I", data, at)[0]
            return word & 0xfffff, word >> 20 & 3
    raise AssertionError(f"unknown frame {data[:48].hex()}")


class Wire(frames.Wire):
    """A Wire whose buffers hold all frames, with the statistics of classes and qdiscs."""

    def __init__(self, kind, *options):
        super().__init__(kind, *options)
        self.out.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, 1 << 30)

    def qdisc(self, *lines):
        for line in lines:
            sh(f"tc {'qdisc add dev va ' if ' class ' not in f' {line} ' else ''}{line}")
        return self

    def send(self, kind, ecn, count, length=LEN):
        for number in range(count):
            self.put(frame(kind, ecn, number, length))

    def put(self, data):
        try:
            self.out.send(data)
        except OSError as error:
            # A drop by the limit reports ENOBUFS to a local sender.
            if error.errno != errno.ENOBUFS:
                raise

    def wred(self):
        return self.stats()

    def empty(self):
        """Check that no qdisc of the device counts any backlog."""
        super().empty()
        expect(self.wred()["wire_backlog"], 0, "wire_backlog")


def expect_stats(wire, **want):
    shown = wire.wred()
    names = ("marked", "ce", "ect_dropped", "nect_dropped", "limit_dropped")
    expect({n: shown[n] for n in names}, {n: want.get(n, 0) for n in names}, "statistics")


def held(wire, words):
    return wire.qdisc(HELD_BY_TBF, f"parent 1:1 handle 10: wred {words}")


def code_points(wire, kind, ecn, words, arrive, marked, stats):
    """Send twenty frames of a code point; check which arrive and which have CE."""
    held(wire, words).send(kind, ecn, 20)
    got = [read_back(f, kind) for f in wire.arrived()]
    expect([n for n, _ in got], arrive, "arrived")
    changed = [n for n, e in got if e == CE and ecn != CE]
    expect(changed, marked, "marked")
    expect([n for n, e in got if e not in (ecn, CE)], [], "code point broken")
    expect_stats(wire, **stats)
    wire.empty()


ALL = list(range(20))
STEP = "limit 1mb ect min 5000 max 5000 nect min 5000 max 5000"
# Frame n finds a backlog of (n - 1) * 1000 bytes.
CODE_POINTS = [
    ("ECT(0) IPv4", "ipv4", ECT_0, STEP, ALL, ALL[6:], {"marked": 14}),
    ("ECT(1) IPv4", "ipv4", ECT_1, STEP, ALL, ALL[6:], {"marked": 14}),
    ("ECT(0) IPv6", "ipv6", ECT_0, STEP, ALL, ALL[6:], {"marked": 14}),
    ("ECT(1) IPv6", "ipv6", ECT_1, STEP, ALL, ALL[6:], {"marked": 14}),
    ("Not-ECT IPv4", "ipv4", NOT_ECT, STEP, ALL[:6], [], {"nect_dropped": 14}),
    ("Not-ECT IPv6", "ipv6", NOT_ECT, STEP, ALL[:6], [], {"nect_dropped": 14}),
    ("CE IPv4", "ipv4", CE, STEP, ALL, [], {"ce": 20}),
    ("CE IPv6", "ipv6", CE, STEP, ALL, [], {"ce": 20}),
    ("ECT(0) in 802.1Q", "q.ipv4", ECT_0, STEP, ALL, ALL[6:], {"marked": 14}),
    ("ECT(0) in 802.1ad, 802.1Q", "ad.q.ipv4", ECT_0, STEP, ALL, ALL[6:], {"marked": 14}),
    ("ECT(1) IPv6 in two tags", "ad.q.ipv6", ECT_1, STEP, ALL, ALL[6:], {"marked": 14}),
    ("Not-ECT in 802.1Q", "q.ipv4", NOT_ECT, STEP, ALL[:6], [], {"nect_dropped": 14}),
    ("a byte above a multiple", "ipv4", ECT_0, "limit 1mb ect min 5001 max 5001", ALL, ALL[7:],
     {"marked": 13}),
    ("min 0 marks from the first", "ipv4", ECT_0, "limit 1mb ect min 0 max 0", ALL, ALL,
     {"marked": 20}),
    ("overhead counts per packet", "ipv4", ECT_0, "limit 1mb overhead 24 ect min 5120 max 5120",
     ALL, ALL[6:], {"marked": 14}),
    ("overhead, a byte more", "ipv4", ECT_0, "limit 1mb overhead 24 ect min 5121 max 5121",
     ALL, ALL[7:], {"marked": 13}),
    ("limit filled exactly", "ipv4", ECT_0, "limit 5000", ALL[:6], [], {"limit_dropped": 14}),
    ("limit, a byte less", "ipv4", ECT_0, "limit 4999", ALL[:5], [], {"limit_dropped": 15}),
    ("limit goes before the mark", "ipv4", ECT_0, "limit 5000 ect min 4000 max 4000", ALL[:6],
     [5], {"marked": 1, "limit_dropped": 14}),
    ("ect alone leaves Not-ECT", "ipv4", NOT_ECT, "limit 1mb ect min 0 max 0", ALL, [], {}),
    ("nect alone leaves ECT", "ipv4", ECT_0, "limit 1mb nect min 0 max 0", ALL, [], {}),
    ("prob 0: a step at max", "ipv4", ECT_0, "limit 1mb ect min 0 max 5000 prob 0", ALL, ALL[6:],
     {"marked": 14}),
]


def arp_obeys_the_limit_only(wire):
    held(wire, "limit 10000 nect min 0 max 0 ect min 0 max 0").send("arp", 0, 20)
    expect(len(wire.arrived()), 11, "arrived")
    expect_stats(wire, limit_dropped=9)


def ramp_has_its_probability(wire):
    """In the middle of a wide ramp: CE fills the queue, then Not-ECT is dropped with p = 1/4."""
    wire.qdisc(*HTB, "parent 1:1 handle 10: wred limit 200mb nect min 0 max 100000000 prob 0.5")
    wire.send("ipv4", CE, 834, 60000)
    backlog = wire.wred()["wire_backlog"]
    assert 49.9e6 < backlog < 50.1e6, backlog
    wire.send("ipv4", NOT_ECT, 10000, 100)
    dropped = wire.wred()["nect_dropped"]
    # 2500, plus or minus five standard deviations of 43.
    assert 2284 <= dropped <= 2716, dropped
    print(f"# dropped {dropped} of 10000 at p = 0.25")


def tags_beside_the_frame_count(wire):
    """A VLAN device's tag is in the skb's metadata, and counts: 1004 bytes on the wire."""
    sh("ip link add link va name va.5 type vlan id 5;"
       "sysctl -qw net.ipv6.conf.va/5.disable_ipv6=1; ip link set dev va.5 up")
    held(wire, "limit 1mb ect min 5020 max 5020")
    wire.out.bind(("va.5", 0))
    wire.send("ipv4", ECT_0, 20)
    expect(wire.wred()["wire_backlog"], 19 * 1004, "wire_backlog")
    got = [read_back(f, "ipv4") for f in wire.arrived()]
    expect(got, [(n, CE if n >= 6 else ECT_0) for n in range(20)], "number, ECN")
    wire.empty()
    wire.out.bind(("va", 0))
    sh("ip link del dev va.5")


def peak_and_reset(wire):
    held(wire, "limit 1mb ect min 5000 max 5000").send("ipv4", ECT_0, 20)
    expect((wire.wred()["wire_backlog"], wire.wred()["peak"]), (19000, 19000), "queued, peak")
    wire.arrived()
    expect((wire.wred()["wire_backlog"], wire.wred()["peak"]), (0, 19000), "drained, peak")
    wire.send("ipv4", ECT_0, 20)
    sh("ip link set dev va down")
    expect((wire.wred()["wire_backlog"], wire.wred()["peak"]), (0, 0), "reset")
    expect_stats(wire, marked=28)
    wire.empty()
    sh("ip link set dev va up")


def change_loses_nothing(wire):
    """Every option is changed while thirty frames are in the queue."""
    held(wire, "limit 1mb ect min 5000 max 5000").send("ipv4", ECT_0, 30)
    for words in ("overhead 24", "overhead 1000", "ect off", "limit 64", "limit 2000 overhead 8"):
        sh(f"tc qdisc change dev va parent 1:1 handle 10: wred {words}")
        expect(wire.wred()["wire_backlog"], 29000, f"wire_backlog after {words}")
    wire.send("ipv4", ECT_0, 3)
    expect_stats(wire, marked=24, limit_dropped=3)
    expect(len(wire.arrived()), 30, "arrived")
    wire.empty()
    wire.send("ipv4", ECT_0, 4)
    expect(len(wire.arrived()), 2, "arrived below the new limit")
    wire.empty()


def change_in_the_stream(wire):
    """Options change between frames while the queue drains: sent = arrived + dropped."""
    held(wire, "limit 20000 ect min 5000 max 5000")
    sent = 0
    for turn in range(60):
        wire.send("ipv4", ECT_0, 7)
        sent += 7
        limit, overhead = 6000 + 400 * turn, turn * 17
        sh("tc qdisc change dev va parent 1:1 handle 10: wred "
           f"limit {limit} overhead {overhead} ect min {turn} max 6000 prob 0.{turn + 1}")
        time.sleep(0.005)
    arrived = len(wire.arrived())
    dropped = wire.wred()["limit_dropped"]
    assert dropped > 0 and wire.wred()["marked"] > 0, "nothing happened"
    expect(arrived + dropped, sent, "arrived + dropped")
    expect(wire.wred()["drops"], dropped, "tc's drops")
    wire.empty()


def super_frame(number):
    """Return a TCP GSO packet of ten segments of 1000 bytes, with 54 bytes of headers."""
    vnet = struct.pack("=BBHHHH", 1, 1, 54, 1000, 34, 16)
    ip = struct.pack("!BBHHHBBH4s4s", 0x45, ECT_0, 40 + 10000, number, 0x4000, 64, 6, 0,
                     socket.inet_aton("192.0.2.1"), socket.inet_aton("192.0.2.2"))
    ip = ip[:10] + struct.pack("!H", checksum(ip)) + ip[12:]
    tcp = struct.pack("!HHIIBBHHH", 1, 2, number * 10000, 0, 0x50, 0x10, 100, 0, 0)
    return vnet + b"\xff" * 6 + b"\x02" + b"\0" * 5 + b"\x08\0" + ip + tcp + bytes(10000)


def super_packets_are_ten(wire):
    """htb does not segment; a GSO packet has 10 * (1054 + 24) = 10780 bytes on the wire."""
    wire.qdisc(*HTB,
               "parent 1:1 handle 10: wred limit 64680 overhead 24 ect min 21560 max 21560")
    for number in range(10):
        wire.put(super_frame(number))
    # The first left; 2 found a backlog below the threshold, 4 were marked, 3 did not fit.
    expect(wire.wred()["wire_backlog"], 6 * 10780, "wire_backlog")
    expect_stats(wire, marked=40, limit_dropped=30)
    expect(wire.wred()["drops"], 3, "tc's drops")
    got = [(struct.unpack_from("!H", f, 18)[0], f[15] & 3) for f in wire.arrived()]
    expect(got, [(0, 2), (1, 2), (2, 2), (3, 3), (4, 3), (5, 3), (6, 3)], "number, ECN")
    wire.empty()


def segmented_by_tbf(wire):
    """tbf segments one packet into ten: each is counted with its own headers."""
    held(wire, "limit 1mb ect min 5270 max 5270")
    wire.put(super_frame(0))
    expect(wire.wred()["wire_backlog"], 9 * 1054, "wire_backlog")
    # In a burst of 0 to 9, tbf dequeues none before all are queued, so n finds n * 1054 bytes.
    expect(wire.wred()["marked"], 5, "marked")
    expect(len(wire.arrived()), 10, "arrived")
    wire.empty()


def flooded_clones_are_not_marked(wire):
    """A bridge floods clones to two ports; only the port with wred marks its copy."""
    sent = [frame("ipv4", ECT_0, number) for number in range(3)]
    got = flood_all(wire, "root wred ect min 0 max 0", sent)
    want = [[(n, ecn) for n in range(3)] for ecn in (CE, ECT_0)]
    expect([[read_back(data, "ipv4") for data in port] for port in got], want,
           "marked port, other port")


PARENTS = {
    "tbf": [HELD_BY_TBF],
    "htb": HTB,
    "netem rate": ["root handle 1: netem rate 8mbit limit 1000"],
    "netem delay": ["root handle 1: netem delay 2ms limit 1000"],
    "mq": ["root handle 1: mq"],
    "tbf below prio": ["root handle 2: prio", "parent 2:1 handle 3: tbf rate 8mbit burst 1100 "
                       "limit 100mb", "parent 2:2 handle 4: tbf rate 8mbit burst 1100 limit 100mb",
                       "parent 2:3 handle 5: tbf rate 8mbit burst 1100 limit 100mb"],
}
CHILD = {"mq": ("1:1", "1:2"), "tbf below prio": ("3:1", "4:1", "5:1")}


def below(name):
    """Return a check: frames of all code points in three bursts are all accounted for."""
    def check(wire):
        wire.qdisc(*PARENTS[name])
        for n, parent in enumerate(CHILD.get(name, ("1:1",))):
            wire.qdisc(f"parent {parent} handle {10 + n}: wred limit 12000 "
                       "ect min 3000 max 6000 nect min 5000 max 5000")
        for _ in range(3):
            for ecn in (ECT_0, NOT_ECT, CE):
                wire.send("ipv4", ecn, 10)
            time.sleep(0.01)
        arrived = len(wire.arrived())
        wreds = [q for q in wire.shown() if q["kind"] == "wred"]
        lost = sum(q["limit_dropped"] + q["nect_dropped"] + q["ect_dropped"] for q in wreds)
        expect(arrived + lost, 90, "arrived + dropped")
        expect(sum(q["drops"] for q in wreds), lost, "tc's drops")
        expect(sum(q["packets"] for q in wreds), arrived, "packets that wred passed on")
        wire.empty()
    check.__doc__ = f"below {name}"
    return check


def as_root(wire):
    wire.qdisc("root handle 10: wred ect min 0 max 0").send("ipv4", ECT_0, 20)
    got = [read_back(f, "ipv4") for f in wire.arrived()]
    expect(got, [(n, CE) for n in range(20)], "arrived")
    expect_stats(wire, marked=20)
    wire.empty()


def main():
    checks = [(row[0], lambda wire, r=row: code_points(wire, *r[1:]), ()) for row in CODE_POINTS]
    for check in (arp_obeys_the_limit_only, ramp_has_its_probability,
                  tags_beside_the_frame_count, peak_and_reset,
                  change_loses_nothing, change_in_the_stream, as_root,
                  flooded_clones_are_not_marked):
        checks.append((check.__name__.replace("_", " "), check, ()))
    for check in (super_packets_are_ten, segmented_by_tbf):
        checks.append((check.__name__.replace("_", " "), check, (PACKET_VNET_HDR,)))
    checks += [(f"below {name}", below(name), ()) for name in PARENTS]
    return run_checks("wred", checks, Wire)


if __name__ == "__main__":
    sys.exit(main())
