#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Packets without a connection carry an RTT of 71 minutes and a Throughput of 1 byte/ms through a
port of sch_xcp, before flows start there and while they last. Prints TAP. Needs root and the
modules; changes nothing outside its own network namespaces.

    a ---- [r-a] r [r-b: xcp] ---- b
"""
import select
import socket
import struct
import subprocess
import sys
import time

import hosts
from hosts import run

FORGED_SOURCE = {4: "203.0.113.1", 6: "2001:db8:9::1"}
XCP, MICRO, TCP = 63, 3, 6
CASES = (
    # IP version, name, port, options, delay of a link, s, flows, s of traffic, forged packets/s, bytes, least part
    (4, "10 Gbit/s", "10gbit", "min_interval 100us allowed_queue 200us", "25us", 8, 0.1, 20, 60, 0.95),
    (4, "10 Gbit/s", "10gbit", "min_interval 100us allowed_queue 200us", "25us", 8, 0.1, 1000, 60, 0.9),
    (4, "100 Mbit/s", "100mbit", "", "2ms", 2, 2, 10, 1400, 0.9),
    (4, "100 Mbit/s", "100mbit", "", "2ms", 2, 2, 20, 1400, 0.85),
    (6, "100 Mbit/s", "100mbit", "", "2ms", 2, 2, 20, 1400, 0.85),
    # 1.2 % of the port: the flows start slowly.
    (4, "100 Mbit/s", "100mbit", "", "2ms", 2, 6, 100, 1400, 0.5),
    # 12 % of the port are forged: what is left is stated in security.md.
    (4, "100 Mbit/s", "100mbit", "", "2ms", 2, 2, 1000, 1400, 0.05),
)

tap = hosts.Tap()


def forged_packet(version, size):
    """Return an IP packet with a header of XCP: the longest RTT, the lowest Throughput."""
    ip_bytes = {4: 20, 6: 40}[version]
    header = struct.pack("!BBBBIIiI", 1 << 4 | MICRO, TCP, 20, 0, 2**32 - 1, 1, 2**31 - 1, 0)
    body = header + bytes(size - ip_bytes - len(header))
    ends = b"".join(socket.inet_pton(hosts.FAMILY[version], end)
                    for end in (FORGED_SOURCE[version], hosts.B[version]))
    if version == 6:
        return struct.pack("!IHBB", 6 << 28, len(body), XCP, 64) + ends + body
    return struct.pack("!BBHIBBH", 0x45, 0, size, 0, 64, XCP, 0) + ends + body


class Forger:
    """Sends packets a second from a, in step with the traffic."""

    def __init__(self, version, pps, size):
        with hosts.inside("a"):
            self.sock = socket.socket(hosts.FAMILY[version], socket.SOCK_RAW, socket.IPPROTO_RAW)
        self.packet, self.to = forged_packet(version, size), (hosts.B[version], 0)
        self.pps, self.next = pps, time.monotonic()

    def send_due(self):
        """Send what is due. Return the time until the next packet."""
        while self.pps and self.next <= time.monotonic():
            self.sock.sendto(self.packet, self.to)
            self.next += 1 / self.pps
        return self.next - time.monotonic() if self.pps else 1


def transfer(forger, pairs, seconds):
    """Fill all connections for a time. Return the bytes that arrived."""
    senders, receivers = [p[0] for p in pairs], [p[1] for p in pairs]
    end, block, got = time.monotonic() + seconds, bytes(1 << 16), 0
    while time.monotonic() < end:
        wait_s = min(forger.send_due(), end - time.monotonic())
        readable, writable, _ = select.select(receivers, senders, [], max(wait_s, 0))
        got += sum(len(sock.recv(1 << 20)) for sock in readable)
        for sock in writable:
            try:
                sock.send(block)
            except BlockingIOError:
                continue
    return got


def shown(key):
    text = subprocess.run("tc -n r -s -j qdisc show dev r-b".split(), capture_output=True, text=True, check=True).stdout
    return int(text.split(f'"{key}":', 1)[1].split(",", 1)[0].strip(" }]"))


def goodput(version, rate, options, delay, flows, seconds, pps, size):
    """Return bytes/s of all flows, and the number of packets that the port counts as bounded."""
    hosts.build_path()
    for name, dev in (("a", "a-r"), ("b", "b-r"), ("r", "r-b")):
        run(f"tc -n {name} qdisc add dev {dev} root handle 1: link rate {rate} delay {delay} overhead 24")
    run(f"tc -n r qdisc add dev r-b parent 1:1 handle 10: xcp rate {rate} overhead 24 limit 1000000 {options}")
    forger = Forger(version, pps, size)
    transfer(forger, [], 0.06)
    pairs = [hosts.connect(version) for _ in range(flows)]
    got = transfer(forger, pairs, seconds)
    bounded = shown("bounded")
    forger.sock.close()
    hosts.close(*(sock for pair in pairs for sock in pair))
    hosts.remove_path()
    return got / seconds, bounded


def main():
    alone = {}
    for version, name, rate, options, delay, flows, seconds, pps, size, least in CASES:
        args = (version, rate, options, delay, flows, seconds)
        if args not in alone:
            alone[args] = goodput(*args, 0, size)[0]
        forged, bounded = goodput(*args, pps, size)
        text = f"IPv{version} {name}, {flows} flows, {pps} forged packets a second of {size} bytes"
        tap.claim(f"{text}: the flows keep {least:.0%}", forged >= least * alone[args],
                  f"{forged * 8e-6:.1f} of {alone[args] * 8e-6:.1f} Mbit/s")
        tap.claim(f"{text}: they are counted", bounded >= pps * seconds / 2, str(bounded))
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
