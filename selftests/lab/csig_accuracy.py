#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Compare the values that a port writes to tags with the load that it carries.

    sender --w0, at a fraction of the rate-- bridge --w1, 1 Gbit/s, csig-- receiver

Tagged frames of 1250 bytes, which take 10 us on w1, are sent at one time and leave w0 evenly. So
the load of w1 is exactly that fraction. Every frame asks for min(ABW), in kbit/s.

Then the load is twice the rate: the queue grows by half a packet time per frame, which max(PD)
must show.
"""
import os
import socket
import struct
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from tap import Tap, must

SIZE, RATE_KBIT, PACKET_NS = 1250, 10**6, 10000
EXPANDED, ABW, PD = 0x88b6, 0, 2
QUANTUM_NS = 16
SO_RCVBUFFORCE, SO_SNDBUFFORCE = 33, 32
# The interval is n packet times, so the error may be up to 1/n of the rate.
PACKETS = (10, 100)
LOADS = (*range(5, 100, 10), 100)
tap = Tap()
result = tap.result


def network():
    for here in ("w0", "w1"):
        must(f"ip link add name {here} txqueuelen 20000 type veth peer name {here}x")
        for end in (here, f"{here}x"):
            must(f"sysctl -qw net.ipv6.conf.{end}.disable_ipv6=1")
            must(f"ip link set {end} up")
    must("ip link add name b0 type bridge mcast_snooping 0")
    must("sysctl -qw net.ipv6.conf.b0.disable_ipv6=1")
    must("ip link set b0 up")
    must("ip link set w0x master b0")
    must("ip link set w1 master b0")
    must("tc qdisc add dev w0 root handle 1: link rate 1gbit overhead 0")
    must("tc qdisc add dev w1 root handle 1: link rate 1gbit overhead 0")
    must(f"tc qdisc add dev w1 parent 1:1 handle 10: csig rate 1gbit quantum abw 1kbit "
         f"quantum pd {QUANTUM_NS}ns")
    time.sleep(1)


class Wire:
    def __init__(self):
        self.tx = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        self.tx.bind(("w0", 0))
        self.tx.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, 1 << 26)
        self.rx = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(EXPANDED))
        self.rx.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 26)
        self.rx.bind(("w1x", EXPANDED))

    def values(self, kind, frames):
        """Send some frames at one time. Return the value of each when it arrives."""
        initial = 0 if kind == PD else 2**20 - 1
        data = b"\xff" * 6 + b"\x02" + b"\0" * 5 + struct.pack(
            "!HHIH", EXPANDED, 0, kind << 28 | initial << 8, 0x0800)
        data = data.ljust(SIZE, b"\0")
        for _ in range(frames):
            self.tx.send(data)
        time.sleep(frames * PACKET_NS * 10 / 1e9 + 0.01)
        values = []
        while True:
            try:
                got = self.rx.recv(2048, socket.MSG_DONTWAIT)
            except BlockingIOError:
                return values
            values.append(struct.unpack_from("!I", got, 16)[0] >> 8 & 0xfffff)


def estimator(wire, words, packets):
    """Return the greatest error of ABW at any load, as a fraction of the rate."""
    must(f"tc qdisc change dev w1 parent 1:1 handle 10: csig estimator {words} "
         f"interval {packets * PACKET_NS}ns")
    idle = wire.values(ABW, 1)
    worst, lost = abs(idle[0] - RATE_KBIT), 0
    for load in LOADS:
        must(f"tc qdisc change dev w0 root link rate {RATE_KBIT * load // 100}kbit")
        # After eight intervals the initial estimate has decayed to e^-8; then two more intervals.
        warm = packets * 8 * load // 100 + 2
        frames = warm + max(20, packets * 2 * load // 100)
        values = wire.values(ABW, frames)
        lost += frames - len(values)
        worst = max(worst, *(abs(value - RATE_KBIT * (100 - load) // 100)
                             for value in values[warm:]))
    part = worst / RATE_KBIT
    result(not lost and part <= 1 / packets, f"{words}, {packets} packet times: the error of ABW is "
           f"1/{packets} at most", f"{part * 100:.3f} % of the rate, {lost} lost")


def delay(wire):
    must("tc qdisc change dev w0 root link rate 2gbit")
    values = wire.values(PD, 400)
    off_ns = max(abs(value * QUANTUM_NS - number * PACKET_NS // 2)
                 for number, value in enumerate(values))
    result(len(values) == 400 and off_ns < PACKET_NS, "PD: the error is below one packet time",
           f"{off_ns} ns of {PACKET_NS}; the longest delay was {values[-1] * QUANTUM_NS} ns")


def main():
    if os.geteuid():
        print("1..0 # SKIP needs root in the lab's guest")
        return 0
    network()
    wire = Wire()
    for packets in PACKETS:
        for words in ("raw", "ewma", "dre shift 3"):
            estimator(wire, words, packets)
    delay(wire)
    return tap.done()


sys.exit(main())
