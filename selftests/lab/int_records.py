#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Records of three hops, to the nanosecond and the byte.

    h1 --10G, 1 us-- s1 --1G, 5 us-- s2 --100G, 2 us-- h2

A train of frames of known sizes leaves h1 at one moment. Every node forwards in no time, so
all that a hop may write follows from sizes, rates and delays: this program computes it by
itself, event by event, and asks for equality.

The lab's timers fire up to 1 ns late, LATE_NS: so a frame starts at the computed nanosecond
or later by no more than one for each hop so far.
"""
import math
import os
import socket
import struct
import sys
import time
from fractions import Fraction

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from tap import Tap, must

INT, DATA, TCP = 254, 2, 6
ETH_P_IP = 0x0800
OVERHEAD = 24
SO_TIMESTAMPNS, SO_RCVBUFFORCE, SO_SNDBUFFORCE = 35, 33, 32
SLOTS = 5
# rate in bit/s, delay in ns, speed code, unit in bytes, switch ID, port ID
HOPS = [
    (10**10, 1000, 5, 64, 0x111, 11),
    (10**9, 5000, 3, 4, 0x222, 22),
    (10**11, 2000, 9, 512, 0x444, 33),
]
LATE_NS = 1
tap = Tap()
result = tap.result


def network():
    """A chain of bridges; the egress of each link is a wire with int in it."""
    for number, (rate, delay, _, _, switch, port) in enumerate(HOPS):
        here, there = f"w{number}", f"w{number}x"
        must(f"ip link add name {here} type veth peer name {there}")
        for end in (here, there):
            must(f"sysctl -qw net.ipv6.conf.{end}.disable_ipv6=1")
            must(f"ip link set {end} mtu 9000 up")
        must(f"tc qdisc add dev {here} root handle 1: link rate {rate}bit delay {delay}ns")
        must(f"tc qdisc add dev {here} parent 1:1 handle 10: int rate {rate}bit overhead {OVERHEAD} "
             f"switch_id {switch} port_id {port} limit 100mb")
    for number in range(len(HOPS) - 1):
        bridge = f"b{number}"
        must(f"ip link add name {bridge} type bridge mcast_snooping 0")
        must(f"sysctl -qw net.ipv6.conf.{bridge}.disable_ipv6=1")
        must(f"ip link set {bridge} mtu 9000 up")
        must(f"ip link set w{number}x master {bridge}")
        must(f"ip link set w{number + 1} master {bridge}")


def checksum(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    total = (total & 0xffff) + (total >> 16)
    return ~(total + (total >> 16)) & 0xffff


def frame(number, size):
    header = struct.pack("!BBBBI", TCP, 3 + 2 * SLOTS, DATA, 0, 0) + bytes(8 * SLOTS) + struct.pack(
        "!I", SLOTS << 28)
    payload = (header + struct.pack("!I", number)).ljust(size - 34, b"\0")
    ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(payload), 0, 0, 64, INT, 0,
                     socket.inet_aton("192.0.2.1"), socket.inet_aton("192.0.2.2"))
    ip = ip[:10] + struct.pack("!H", checksum(ip)) + ip[12:]
    return b"\xff" * 6 + b"\x02" + b"\0" * 5 + struct.pack("!H", ETH_P_IP) + ip + payload


def computed(start_ns, sizes):
    """[(hop, frame): (ns, bytes sent before, bytes left behind)], each hop a fifo queue."""
    entries = {}
    arrivals = [Fraction(start_ns)] * len(sizes)
    for hop, (rate, delay, *_) in enumerate(HOPS):
        free = Fraction(0)
        starts, sent = [], 0
        for number, size in enumerate(sizes):
            begin = max(arrivals[number], free)
            starts.append(begin)
            free = begin + Fraction((size + OVERHEAD) * 8 * 10**9, rate)
        for number, begin in enumerate(starts):
            # Who came at or before this moment and has not begun: at one moment, frames
            # come before the next one leaves only if they came first.
            behind = sum(sizes[other] + OVERHEAD for other in range(number + 1, len(sizes))
                         if arrivals[other] < begin)
            entries[hop, number] = (begin, sent, behind)
            sent += sizes[number] + OVERHEAD
        arrivals = [begin + Fraction((size + OVERHEAD) * 8 * 10**9, rate) + delay
                    for begin, size in zip(starts, sizes)]
    return entries


def main():
    if os.geteuid():
        print("1..0 # SKIP needs root in the lab's guest")
        return 0
    network()
    tx = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    tx.bind(("w0", 0))
    tx.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, 1 << 26)
    rx = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_IP))
    rx.bind((f"w{len(HOPS) - 1}x", ETH_P_IP))
    rx.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 26)
    time.sleep(1)
    # None so small that the header has no room in it.
    sizes = [1514 if i % 3 else 90 + 53 * i % 1400 for i in range(300)]
    start_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    for number, size in enumerate(sizes):
        tx.send(frame(number, size))
    passed_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC) - start_ns
    result(passed_ns < 1000, "all were sent while the first one left", f"{passed_ns} ns")
    time.sleep(0.1)
    got = []
    while True:
        try:
            got.append(rx.recv(2048, socket.MSG_DONTWAIT))
        except BlockingIOError:
            break
    judge(got, sizes, computed(start_ns, sizes))
    return tap.done()


def judge(got, sizes, entries):
    numbers = [struct.unpack_from("!I", data, 34 + 12 + 8 * SLOTS)[0] for data in got]
    result(numbers == list(range(len(sizes))), "all arrive, in order", str(len(numbers)))
    heads = {struct.unpack_from("!I", data, 38)[0] >> 16 for data in got}
    result(heads == {3 << 12 | 0x777}, "each says three hops, and their path", str(heads))
    named = []
    for number, data in enumerate(got):
        waits = [min(entries[hop, number][2] // unit, 65535) * Fraction(unit * 8, rate)
                 for hop, (rate, _, _, unit, _, _) in enumerate(HOPS)]
        port = struct.unpack_from("!I", data, 42 + 8 * SLOTS)[0] >> 12 & 0xffff
        named.append((port, HOPS[waits.index(max(waits))][5]))
    result(all(got == want for got, want in named) and len(set(named)) > 1,
           "each names the port with the longest queue", str(set(named)))
    for hop, (_, _, code, unit, _, _) in enumerate(HOPS):
        off, wrong = set(), []
        for number, data in enumerate(got):
            packed, = struct.unpack_from("!Q", data, 42 + 8 * hop)
            ns, sent, behind = entries[hop, number]
            off.add(((packed >> 36) - math.ceil(ns) + (1 << 23) & 0xffffff) - (1 << 23))
            want = (code, sent // unit & 0xfffff, min(behind // unit, 65535))
            seen = (packed >> 60, packed >> 16 & 0xfffff, packed & 0xffff)
            if seen != want:
                wrong.append((number, seen, want))
        result(off <= set(range((hop + 1) * LATE_NS + 1)), f"hop {hop + 1}: every time",
               f"off by {sorted(off)} ns")
        print(f"# hop {hop + 1}: late by {sorted(off)} ns")
        result(not wrong, f"hop {hop + 1}: every speed, txBytes and queue", str(wrong[:5]))


sys.exit(main())
