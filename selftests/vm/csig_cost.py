#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The CPU cost of tags and reflections, in instructions per byte. Prints TAP. csig_cost.sh runs it
on a CPU whose clock counts instructions.

    a ---- r [r-b: csig] ---- b         no link has a rate: the CPU is the bottleneck
"""
import os
import select
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../netns"))
import hosts
from csig_tag import Since, knob

tap = hosts.Tap()
MIB = 1 << 20
ROUNDS, ROUND_BYTES = 3, 32 * MIB
COST_MAX = 1.10
BLOCK = bytes(MIB)


def idle_ticks():
    with open("/proc/stat", encoding="ascii") as file:
        return int(file.readline().split()[4])


def stream():
    """Send a stream. Return (instructions per byte in all three hosts, idle fraction)."""
    source, sink = hosts.connect(4, "cubic")
    room, sent, got = bytearray(MIB), 0, 0
    start_ns, idle = time.monotonic_ns(), idle_ticks()
    while got < ROUND_BYTES:
        ready = select.select([sink], [source] if sent < ROUND_BYTES else [], [], 5)
        if ready[0]:
            got += sink.recv_into(room)
        if ready[1]:
            sent += source.send(BLOCK)
    took_ns = time.monotonic_ns() - start_ns
    idle_ns = (idle_ticks() - idle) * 1e9 / os.sysconf("SC_CLK_TCK")
    hosts.close(source, sink)
    return (took_ns - idle_ns) / got, idle_ns / took_ns


def compare(what):
    since, plain, tagged = Since(), [], []
    for _ in range(ROUNDS):
        knob("a", "csig", 0)
        plain.append(stream())
        knob("a", "csig", 2)
        tagged.append(stream())
    off, on = (sorted(cost for cost, _ in column)[ROUNDS // 2] for column in (plain, tagged))
    a = since("a")
    tap.claim(f"{what}: at most 10 % more",
              on <= COST_MAX * off and a.get("out_tag", 0) > ROUNDS * ROUND_BYTES / 1500,
              f"{off:.3f} instructions a byte without tags, {on:.3f} with: {on / off:.3f}; "
              f"{plain} {tagged} {a}")


def main():
    hosts.build_path()
    for name in "arb":
        knob(name, "csig_ports", "*")
    knob("b", "csig", 1)
    knob("a", "csig_cc", "cubic")
    hosts.run("tc -n r qdisc replace dev r-b root csig rate 100gbit")
    compare("GSO packets")
    hosts.offload("r", "r-b", hosts.ETHTOOL_STSO, False)
    hosts.offload("b", "b-r", hosts.ETHTOOL_SGRO, True)
    knob("a", "csig_weights", "64 64 64")
    compare("segmented on the way, merged at the receiver")
    return tap.done()


sys.exit(main())
