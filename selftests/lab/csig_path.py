#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Figure 5 of the draft at 1 % of its rates: five hops, and raw frames with tags.

    probe --b0 ==hop 1== b1 ==hop 2== b2 ==hop 3== b3 ==hop 4== b4 ==hop 5== b5-- receiver
           c1           k1,c2        k2,c3        k3,c4        k4,c5        k5

At each hop, cross traffic enters at c and leaves at k. A hop is a link, below it csig with the
hop's number as its locator, and below that a delay.

    rate        8G     1G     1G     1G   400M
    available   1G   950M   700M   900M   200M
    part     12.5 %   95 %   70 %   90 %   50 %
    delay     10us    3us   18us    5us    8us
"""
import os
import socket
import struct
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from tap import Tap, must

COMPACT, EXPANDED, ABW, ABW_C, PD = 0x88b5, 0x88b6, 0, 1, 2
# rate and available bandwidth, Mbit/s; delay, us; length of a frame of cross traffic, bytes
HOPS = [(8000, 1000, 10, 1250), (1000, 950, 3, 64), (1000, 700, 18, 64), (1000, 900, 5, 64),
        (400, 200, 8, 64)]
# The hop where each signal is worst, and its value there, in kbit/s, ppm and ns.
WORST = {ABW: (5, 200000), ABW_C: (1, 125000), PD: (3, 18000)}
QUANTA = {ABW: 1000, ABW_C: 100, PD: 64}
INTERVAL_NS, RUN_NS = 400000, 4000000
# No probe waits for another one, and no interval contains two.
PROBE_GAP_S = 450e-6
PROBE = b"\x02\0\0\0\0\x77"
SO_SNDBUFFORCE = 32
tap = Tap()
result = tap.result


def veth(here, there, bridge=None):
    must(f"ip link add name {here} txqueuelen 20000 type veth peer name {there}")
    for end in (here, there):
        must(f"sysctl -qw net.ipv6.conf.{end}.disable_ipv6=1; ip link set {end} up")
    if bridge:
        must(f"ip link set {there} master {bridge}")


def sink(hop):
    return f"02:00:00:00:00:{hop:02x}"


def network():
    for number in range(len(HOPS) + 1):
        must(f"ip link add name b{number} type bridge mcast_snooping 0;"
             f"sysctl -qw net.ipv6.conf.b{number}.disable_ipv6=1; ip link set b{number} up")
    for hop, (rate, left, delay, _) in enumerate(HOPS, 1):
        veth(f"h{hop}", f"h{hop}x", f"b{hop}")
        must(f"ip link set h{hop} master b{hop - 1}")
        veth(f"c{hop}", f"c{hop}x", f"b{hop - 1}")
        veth(f"k{hop}x", f"k{hop}", f"b{hop}")
        must(f"tc qdisc add dev c{hop} root link rate {rate - left}mbit overhead 0;"
             f"tc qdisc add dev h{hop} root handle 1: link rate {rate}mbit overhead 0;"
             f"tc qdisc add dev h{hop} parent 1:1 handle 10: csig rate {rate}mbit "
             f"interval {INTERVAL_NS}ns quantum abw 1mbit quantum abw_c 0.01% quantum pd 64ns "
             f"lm all compact {hop} lm all expanded {0x100 + hop};"
             f"tc qdisc add dev h{hop} parent 10:1 netem delay {delay}us limit 10000;"
             f"bridge fdb replace {sink(hop)} dev h{hop} master static;"
             f"bridge fdb replace {sink(hop)} dev k{hop} master static;"
             f"bridge fdb replace 02:00:00:00:00:77 dev h{hop} master static")
    veth("p0", "p0x", "b0")
    veth("rx", "r0", f"b{len(HOPS)}")
    must("bridge fdb replace 02:00:00:00:00:77 dev r0 master static")
    time.sleep(1)


def out(dev):
    made = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    made.bind((dev, 0))
    made.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, 1 << 26)
    return made


def probe(tpid, kind, vlan):
    """Return a probe that contains only its tag, with the value that a sender writes first."""
    value = 0 if kind == PD else (31 if tpid == COMPACT else 2**20 - 1)
    tag = (struct.pack("!HH", tpid, kind << 13 | value << 7) if tpid == COMPACT else
           struct.pack("!HHI", tpid, 0, kind << 28 | value << 8))
    middle = struct.pack("!HH", 0x8100, 5) if vlan else b""
    return (PROBE + b"\x02\0\0\0\0\x66" + middle + tag + b"\x08\0").ljust(64, b"\0")


def read(frame):
    """Return (type, value, locator) of a tag."""
    tpid, first = struct.unpack_from("!HH", frame, 12)
    if tpid == COMPACT:
        return tpid, first >> 13, first >> 7 & 31, first & 127
    second, = struct.unpack_from("!I", frame, 16)
    return tpid, second >> 28, second >> 8 & 0xfffff, first


class Path:
    def __init__(self):
        self.cross = [out(f"c{hop}") for hop in range(1, len(HOPS) + 1)]
        self.tx = out("p0")
        self.rx = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        self.rx.bind(("rx", 0))

    def load(self):
        for hop, (rate, left, _, size) in enumerate(HOPS, 1):
            data = bytes.fromhex(sink(hop).replace(":", "")) + b"\x02\0\0\0\0\x55\x08\0"
            for _ in range(RUN_NS * (rate - left) // 8000 // size):
                self.cross[hop - 1].send(data.ljust(size, b"\0"))

    def tags(self, vlan=False):
        """Return the tags of probes, sent two intervals after the cross traffic started."""
        time.sleep(2.2 * INTERVAL_NS / 1e9)
        for tpid in (COMPACT, EXPANDED):
            for kind in (ABW, ABW_C, PD):
                self.tx.send(probe(tpid, kind, vlan))
                time.sleep(PROBE_GAP_S)
        time.sleep(0.2)
        found = []
        while True:
            try:
                frame = self.rx.recv(2048, socket.MSG_DONTWAIT)
            except BlockingIOError:
                return found
            if frame[:6] == PROBE:
                found.append(frame)


def bucket(kind, value):
    """Return the bucket of a value with pow2: the edges are base and 1.5 times base, doubled."""
    base = {ABW: 32000, ABW_C: 32, PD: 625}[kind]
    edges = [(base << i // 2) * (3 if i % 2 else 2) // 2 for i in range(31)]
    return sum(edge <= value for edge in edges)


def is_right(kind, tpid, value, locator, hop, want):
    """Return True if a value is within 1 % of the rate, one packet time, or one compact bucket."""
    rate, _, _, size = HOPS[hop - 1]
    if tpid == COMPACT:
        return locator == hop and abs(value - bucket(kind, want)) <= 1
    slack = {ABW: rate * 10, ABW_C: 10000, PD: size * 8000 // rate}[kind]
    return locator == 0x100 + hop and abs(value * QUANTA[kind] - want) <= slack


def judge(path, text, worst, vlan=False):
    path.load()
    found = [read(frame) for frame in path.tags(vlan)]
    wrong = [tag for tag in found
             if not is_right(tag[1], tag[0], tag[2], tag[3], *worst[tag[1]])]
    said = {kind: value * QUANTA[kind] for tpid, kind, value, _ in found if tpid == EXPANDED}
    result(len(found) == 6 and not wrong, text,
           f"{said.get(ABW)} kbit/s, {said.get(ABW_C)} ppm, {said.get(PD)} ns; wrong: {wrong}")


def main():
    if os.geteuid():
        print("1..0 # SKIP needs root in the lab's guest")
        return 0
    network()
    path = Path()
    judge(path, "every signal says the worst hop, and names it", WORST)
    must("tc qdisc change dev h3 parent 1:1 handle 10: csig mode pass")
    judge(path, "a hop that passes is missing, the rest is right, behind a VLAN tag too",
          {**WORST, PD: (1, 10000)}, vlan=True)
    must("tc qdisc change dev h3 parent 1:1 handle 10: csig mode strip")
    frames = path.tags()
    result(len(frames) == 6 and all(frame[12:14] == b"\x08\0" for frame in frames),
           "behind a hop that strips no tag arrives, but every frame")
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
