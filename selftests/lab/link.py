#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Test the lab's link (sch_link) against exact arithmetic, frame by frame.

    wa --veth-- wb      the egress of wa is the link; frames are sent and received raw

UML runs a one-shot timer LATE_NS, 1 ns, after its time, unless it is already due
when another timer runs. So the time between two arrivals can be off by 1 ns.
"""
import json
import math
import os
import socket
import struct
import subprocess
import sys
import time
from fractions import Fraction

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from tap import Tap, must

OVERHEAD_BYTES = 24
LATE_NS = 1
FRAMES = 400
ETH_P_TEST = 0x88B5
SO_TIMESTAMPNS = 35
SO_SNDBUFFORCE = 32
SO_RCVBUFFORCE = 33

tap = Tap()
result = tap.result


def run(command):
    return subprocess.run(command.split(), capture_output=True, text=True, check=False)


def link(options):
    run("tc qdisc del dev wa root")
    must(f"tc qdisc add dev wa root handle 1: link {options}")


def change(options):
    must(f"tc qdisc change dev wa root link {options}")


def stats():
    """Return the statistics of wa's qdiscs, by kind."""
    return {q["kind"]: q for q in json.loads(must("tc -j -s qdisc show dev wa"))}


class Wire:
    """Raw sockets at both ends of the veth pair."""

    def __init__(self):
        self.tx = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        self.tx.bind(("wa", 0))
        self.tx.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, 1 << 26)
        self.rx = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_TEST))
        self.rx.bind(("wb", ETH_P_TEST))
        self.rx.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 26)
        self.rx.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)

    def send(self, number, size):
        head = b"\xff" * 6 + b"\x02" + b"\0" * 5 + struct.pack("!HI", ETH_P_TEST, number)
        self.tx.send(head.ljust(size, b"\0"))

    def receive(self, seconds):
        """Return [(number, time in ns, frame)] for the frames that arrive within the time."""
        time.sleep(seconds)
        frames = []
        while True:
            try:
                data, extra, _, _ = self.rx.recvmsg(2048, 256, socket.MSG_DONTWAIT)
            except BlockingIOError:
                return frames
            sec, nsec = struct.unpack("qq", extra[0][2])
            frames.append((struct.unpack_from("!I", data, 14)[0], sec * 10**9 + nsec, data))


def test_gaps(wire):
    """A slow first frame blocks the wire while the others queue; then they leave back to back."""
    for name, rate in (("10mbit", 10**7), ("1gbit", 10**9), ("10gbit", 10**10),
                       ("100gbit", 10**11), ("800gbit", 8 * 10**11), ("1600gbit", 16 * 10**11)):
        link("rate 100kbit delay 1234567ns")
        sizes = [1514] + [1514 if i % 5 else 60 + 37 * i % 1400 for i in range(1, FRAMES)]
        for number, size in enumerate(sizes):
            wire.send(number, size)
        change(f"rate {name}")
        frames = wire.receive(2)
        byte_ns = Fraction(8 * 10**9, rate)
        sent, worst = 0, 0
        for number, arrival, _ in frames[1:]:
            sent += sizes[number] + OVERHEAD_BYTES
            worst = max(worst, abs(arrival - frames[0][1] - math.ceil(sent * byte_ns)))
        result([f[0] for f in frames] == list(range(FRAMES)), f"{name}: all frames, in order",
               f"{len(frames)} of {FRAMES}")
        result(worst <= LATE_NS, f"{name}: every arrival within 1 ns of the ideal", f"off by {worst} ns")


def test_delay(wire):
    for delay in ("0ns", "1ns", "12345ns", "25us", "1s"):
        link(f"rate 1gbit delay {delay}")
        before = time.clock_gettime_ns(time.CLOCK_REALTIME)
        wire.send(0, 1000)
        after = time.clock_gettime_ns(time.CLOCK_REALTIME)
        frames = wire.receive(1.5)
        units = {"ns": 1, "us": 1000, "s": 10**9}
        unit = delay.lstrip("0123456789")
        expect = (1000 + OVERHEAD_BYTES) * 8 + int(delay[:-len(unit)]) * units[unit] + LATE_NS
        arrival = frames[0][1] if frames else 0
        result(before + expect <= arrival <= after + expect, f"delay {delay} is exact",
               f"{arrival - before} ns, expected {expect}")


def test_backlog(wire):
    """The first frame leaves the queue when its transmission starts, not when it arrives."""
    link("rate 1mbit delay 1s")
    must("tc qdisc add dev wa parent 1:1 handle 10: pfifo limit 100")
    for number in range(10):
        wire.send(number, 1000)
    result(stats()["pfifo"]["qlen"] == 9, "one on the wire, nine in the queue",
           str(stats()["pfifo"]["qlen"]))
    time.sleep(8.192e-3 * 4.5)
    queue = stats()
    result(queue["pfifo"]["qlen"] == 5, "four frame times later five are left",
           str(queue["pfifo"]["qlen"]))
    result(queue["link"]["qlen"] == 10 and queue["link"]["backlog"] == 10000,
           "the link counts those in flight too", str(queue["link"]))
    result(len(wire.receive(2)) == 10, "all arrive")
    queue = stats()
    result(queue["link"]["qlen"] == 0 and queue["link"]["backlog"] == 0, "and none is left")


def test_children(wire):
    """Children that drop queued packets, throttle, or are changed, and a parent that peeks."""
    for child in ("fq_codel", "tbf rate 10mbit burst 3000 limit 1000000", "fq", "prio",
                  "netem delay 1ms"):
        link("rate 100mbit delay 10us")
        must(f"tc qdisc add dev wa parent 1:1 handle 10: {child}")
        for number in range(50):
            wire.send(number, 1000)
        frames = wire.receive(1)
        queue = stats()["link"]
        result(len(frames) == 50 and not queue["qlen"] and not queue["backlog"],
               f"over {child.split()[0]}: all arrive, nothing left",
               f"{len(frames)} arrived, {queue}")
    run("tc qdisc del dev wa root")
    must("tc qdisc add dev wa root handle 2: tbf rate 10mbit burst 3000 limit 1000000")
    must("tc qdisc add dev wa parent 2:1 handle 1: link rate 100mbit delay 10us")
    for number in range(50):
        wire.send(number, 1000)
    frames = wire.receive(1)
    queue = stats()
    left = [q[key] for q in queue.values() for key in ("qlen", "backlog")]
    result(len(frames) == 50 and not any(left), "below tbf: all arrive, nothing left",
           f"{len(frames)} arrived, {queue}")


def test_graft(wire):
    link("rate 1mbit delay 1ms")
    for number in range(20):
        wire.send(number, 1000)
    must("tc qdisc add dev wa parent 1:1 handle 10: pfifo limit 100")
    queue = stats()["link"]
    result(queue["qlen"] == 1 and queue["backlog"] == 1000,
           "a new child starts empty; the wire keeps its frame", str(queue))
    for number in range(5):
        wire.send(number, 1000)
    must("tc qdisc del dev wa parent 1:1")
    frames = wire.receive(1)
    queue = stats()["link"]
    result(len(frames) == 1 and queue["qlen"] == 0, "a child removed under load", str(queue))


def fate(wire, seed):
    link(f"rate 1gbit delay 100us loss 0.1 reorder 0.05 duplicate 0.03 corrupt 4% seed {seed}")
    for number in range(FRAMES):
        wire.send(number, 1000)
    frames = wire.receive(0.1)
    return [f[0] for f in frames], [f[2] for f in frames], stats()["link"]


def test_faults(wire):
    order, data, link_stats = fate(wire, 5)
    result((order, data) == fate(wire, 5)[:2], "the same seed: the same fate")
    result(order != fate(wire, 6)[0], "another seed: another fate")
    arrived = FRAMES - link_stats["lost_pkts"] + link_stats["duplicated_pkts"]
    # A corrupted frame may have a wrong type or number, but it arrives.
    result(abs(len(order) - arrived) <= 1, "as many arrive as the counters say",
           f"{len(order)}, counters {arrived}")
    for key, low, high in (("lost_pkts", 24, 58), ("reordered_pkts", 8, 32),
                           ("duplicated_pkts", 3, 24), ("corrupted_pkts", 5, 30)):
        result(low <= link_stats[key] <= high, f"{key} as asked for", str(link_stats[key]))
    result(link_stats["qlen"] == 0 and link_stats["backlog"] == 0, "nothing is left")


REFUSED = (
    ("rate 9999bit", "rate: 10kbit to 1600gbit"),
    ("rate 1601gbit", "rate: 10kbit to 1600gbit"),
    ("rate fast", "10kbit to 1600gbit"),
    ("delay 10000000001ns", "delay: at most 10s"),
    ("delay soon", "at most 10s"),
    ("overhead 1025", "overhead: at most 1024 bytes"),
    ("overhead -1", "at most 1024"),
    ("loss 1.1", "0 to 1"),
    ("reorder -0.1", "0 to 1"),
    ("duplicate 101%", "0 to 1"),
    ("corrupt x", "0 to 1"),
    ("seed x", "a number"),
    ("rate", "10kbit to 1600gbit"),
    ("colour blue", "colour"),
)


def test_options():
    link("rate 123456789bit delay 7ns overhead 0 loss 0.25 reorder 0.5 duplicate 1 corrupt 0 seed 9")
    options = stats()["link"]["options"]
    shown = {k: round(v, 6) for k, v in options.items()}
    result(shown == {"rate_bits_ps": 123456784, "delay_ns": 7, "overhead": 0, "loss": 0.25,
                     "reorder": 0.5, "duplicate": 1, "corrupt": 0, "seed": 9},
           "options are shown as set (tc's rates are whole bytes)", str(shown))
    for words, message in REFUSED:
        done = run(f"tc qdisc change dev wa root link {words}")
        result(done.returncode != 0 and message in done.stderr, f"refused: {words}",
               done.stderr.strip())
    result(stats()["link"]["options"] == options, "a refusal changes nothing")
    run("tc qdisc del dev wa root")
    done = run("tc qdisc add dev wa root link delay 1us")
    result(done.returncode != 0 and "needs a rate" in done.stderr, "refused: no rate",
           done.stderr.strip())


def main():
    if os.geteuid():
        print("1..0 # SKIP needs root in the lab's guest")
        return 0
    must("ip link add name wa type veth peer name wb")
    for end in ("wa", "wb"):
        must(f"sysctl -qw net.ipv6.conf.{end}.disable_ipv6=1")
        must(f"ip link set {end} up")
    wire = Wire()
    time.sleep(0.1)
    for test in (test_gaps, test_delay, test_backlog, test_children, test_graft, test_faults):
        test(wire)
    test_options()
    must("ip link del wa")
    return tap.done()


sys.exit(main())
