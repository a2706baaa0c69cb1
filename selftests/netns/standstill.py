#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Hosts and routers that stand still for up to five minutes while their clocks go on.

A virtual machine whose host stops it sees this: the clocks jump, and nothing happened in between.
Over the network of chaos.py (a ---- r ---- b), every congestion control and carrier sends a stream; the machine
stands still once and again; then windows, pace and the timers of the switch qdiscs are compared
with those from before. Prints TAP. Needs root, all modules and the module standstill
(standstill.t builds it); changes nothing outside its own network namespaces but the clock.
"""
import collections
import re
import socket
import struct
import sys
import time

import chaos
import hosts
from hosts import Stream, close, transfer

tap = hosts.Tap()
TRACING = "/sys/kernel/tracing"
STANDSTILLS_MS = (20, 1000, 30000, 300000)
PART_BYTES = 2 << 20        # between two standstills
TRACED_S = 0.02
TIMER_MAX = 22              # expiries in TRACED_S: a period is 1 ms at least
EXPIRY = re.compile(r"hrtimer_expire_entry: hrtimer=(\S+) function=(\w+) \[(\w+)\] now=(\d+)")

# The largest window (packets) and pacing rate (bytes/s) of a phase.
Phase = collections.namedtuple("Phase", "cwnd pace_bytes_ps seconds")


def trace(on):
    hosts.write(f"{TRACING}/events/timer/hrtimer_expire_entry/enable", int(on))


def read_trace():
    """Return our timers' expiries, {(timer, function): [time in ns, ...]}; clear the trace."""
    found = collections.defaultdict(list)
    with open(f"{TRACING}/trace", encoding="ascii", errors="replace") as file:
        for line in file:
            if entry := EXPIRY.search(line):
                timer, function, _, now = entry.groups()
                found[timer, function].append(int(now))
    hosts.write(f"{TRACING}/trace", "")
    return found


def window_and_pace(sock):
    info = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 112)
    return struct.unpack_from("I", info, 80)[0], struct.unpack_from("Q", info, 104)[0]


class Standstills:
    """Samples the sender, and stops the machine after each part of the stream."""

    def __init__(self, sock, module):
        self.sock, self.knob = sock, f"/sys/module/{module}/parameters/ms"
        self.phases, self.expiries = [], []
        self.start_phase()

    def start_phase(self):
        self.start_s, self.cwnd, self.pace = time.monotonic(), 0, 0
        self.traced_until_s = None

    def __call__(self, received):
        cwnd, pace = window_and_pace(self.sock)
        self.cwnd, self.pace = max(self.cwnd, cwnd), max(self.pace, pace)
        if self.traced_until_s and time.monotonic() >= self.traced_until_s:
            self.end_trace()
        if len(self.phases) < len(STANDSTILLS_MS) and received >= (len(self.phases) + 1) * PART_BYTES:
            self.stand_still(STANDSTILLS_MS[len(self.phases)])

    def end_phase(self):
        if self.traced_until_s:
            self.end_trace()
        self.phases.append(Phase(self.cwnd, self.pace, time.monotonic() - self.start_s))

    def stand_still(self, ms):
        self.end_phase()
        trace(True)
        hosts.write(self.knob, ms)
        self.start_phase()
        self.traced_until_s = time.monotonic() + TRACED_S

    def end_trace(self):
        trace(False)
        self.traced_until_s = None
        self.expiries.append(read_trace())


def bursts(expiries):
    """Return (most expiries of a timer at one time, most in TRACED_S) after a standstill."""
    at_once = [max(collections.Counter(times).values()) for found in expiries for times in found.values()]
    return max(at_once, default=0), max((len(t) for found in expiries for t in found.values()), default=0)


def run_system(name, version):
    system = chaos.SYSTEMS[name]
    network = chaos.Network(system)
    pair = chaos.connect(version, system.cc)
    watch = Standstills(pair[0], "standstill")
    total = (len(STANDSTILLS_MS) + 1) * PART_BYTES
    whole = transfer([Stream(*pair, total)], limit_s=3600, meanwhile=watch, step_s=0.004)
    watch.end_phase()
    timers = sorted({function for found in watch.expiries for _, function in found})
    close(*pair)
    network.remove()
    judge(f"{name} over IPv{version}", whole, watch, timers)


def judge(name, whole, watch, timers):
    for ms, phase in zip((0, *STANDSTILLS_MS), watch.phases):
        print(f"# after {ms} ms: window {phase.cwnd}, pace {phase.pace_bytes_ps}, {phase.seconds:.3f} s")
    stood = len(watch.phases) - 1
    tap.claim(f"{name}: the stream arrives whole after {stood} standstills", whole and stood == len(STANDSTILLS_MS))
    tap.claim(f"{name}: the window stays within 1 and 2^20 packets", all(1 <= p.cwnd <= 1 << 20 for p in watch.phases))
    at_once, most = bursts(watch.expiries)
    tap.claim(f"{name}: no timer makes up for the periods of a standstill", at_once <= 1 and most <= TIMER_MAX,
              f"{at_once} expiries of a timer at once, {most} in {TRACED_S} s: {timers}")


def main():
    for number, name in enumerate(sys.argv[2:] or chaos.SYSTEMS):
        run_system(name, (4, 6)[number % 2])
    return tap.done()


if __name__ == "__main__":
    hosts.run(f"insmod {sys.argv[1]}")
    sys.exit(main())
