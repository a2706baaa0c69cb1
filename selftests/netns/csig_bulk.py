#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The overhead of tags, long streams, and a flood of SYNs without connections; prints TAP.

    a ---- [r-a] r [r-b: link, csig] ---- b

csig_bulk.py [BYTES [FLOWS]]: the length of each stream (default 16 MiB), and the number of SYNs
(default 20000). With less than 4 MiB, the overhead is not measured. Needs root;
changes nothing outside its own network namespaces.
"""
import contextlib
import ctypes
import random
import socket
import struct
import subprocess
import sys
import time

import csig_tag
import hosts
from csig_tag import Since, Sniffer, knob, merge_at_b, sum16
from hosts import ETHTOOL_STSO, Stream, close, connect, offload, sysctl, transfer

tap = hosts.Tap()
BYTES = int(sys.argv[1]) if len(sys.argv) > 1 else 16 << 20
FLOWS = int(sys.argv[2]) if len(sys.argv) > 2 else 20000
# Bytes of a frame besides TCP's data (MAC, IP, TCP with timestamps), and the link's overhead.
HEADERS, WIRE, MTU = 14 + 20 + 32, 24, 1500
FLOW_LIMIT = 1000
SO_ATTACH_FILTER, SO_TIMESTAMPNS = 26, 35
# BPF filter for outgoing frames behind their tag: one in 64 by IPv4's ID, and 100 bytes of it.
ONE_IN_64 = ((0x28, 0, 0, 0xfffff004), (0x15, 0, 4, 4),
             (0x28, 0, 0, 0xfff00004), (0x54, 0, 0, 63), (0x15, 0, 1, 0),
             (0x06, 0, 0, 100), (0x06, 0, 0, 0))


def setup():
    hosts.build_path()
    for name in "arb":
        knob(name, "csig_ports", "*")
        sysctl(name, "ipv4/tcp_rmem", "4096 8000000 64000000")
        sysctl(name, "ipv4/tcp_wmem", "4096 8000000 64000000")
    hosts.write("/proc/sys/net/core/netdev_max_backlog", 100000)
    knob("a", "csig", 2)
    knob("b", "csig", 1)


def link(rate):
    hosts.run(f"tc -n r qdisc replace dev r-b root handle 1: link rate {rate} overhead {WIRE}")
    hosts.run(f"tc -n r qdisc replace dev r-b parent 1:1 handle 10: csig rate {rate} limit 100mb")


class Clock(Sniffer):
    """Measures when the packets of a stream left r for b, independent of the receiver's reads."""

    def __init__(self):
        super().__init__("r", "r-b")
        code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *op) for op in ONE_IN_64))
        self.sock.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER,
                             struct.pack("HxxxxxxP", len(ONE_IN_64), ctypes.addressof(code)))
        self.sock.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)

    def departures(self):
        """Return (ns, sequence number) of packets with data, in the order in which they left."""
        found = []
        with contextlib.suppress(BlockingIOError):
            while True:
                data, ancillary, _, _ = self.sock.recvmsg(100, 64)
                seconds, ns = struct.unpack("qq", ancillary[0][2])
                _, tcp, _ = csig_tag.tcp_of(data)
                found.append((seconds * 10**9 + ns, struct.unpack_from("!I", tcp, 4)[0]))
        return found


def goodput(rate_gbit, total):
    """Return the fraction of the link's bits that is TCP data, in the middle of the stream."""
    pair = connect(4, "cubic")
    clock = Clock()
    good = transfer([Stream(*pair, total)])
    seen = clock.departures()
    close(*pair, clock)
    (t0_ns, first), (t1_ns, last) = seen[len(seen) * 3 // 10], seen[len(seen) * 7 // 10]
    return good, (last - first) % 2**32 * 8 / (t1_ns - t0_ns) / rate_gbit


def check_overhead():
    """Tags cost exactly their bytes."""
    merge_at_b(True)
    for rate_gbit in (10, 100):
        link(f"{rate_gbit}gbit")
        total = max(BYTES, rate_gbit * 2 << 20)
        for what, cc, tag_bytes in (("none", "csig", 0), ("compact", "cubic", 4), ("expanded", "cubic", 8)):
            knob("a", "csig_cc", cc)
            knob("a", "csig_form", 2 if tag_bytes == 8 else 1)
            since = Since()
            good, got = goodput(rate_gbit, total)
            due = (MTU + 14 - HEADERS - tag_bytes) / (MTU + 14 + WIRE)
            tap.claim(f"{rate_gbit} Gbit/s, tags: {what}: TCP gets what their bytes leave",
                      good and abs(got / due - 1) < 0.0001 and
                      (since("a").get("out_tag", 0) > total / 1500) == bool(tag_bytes),
                      f"{got:.6f} of the link, {due:.6f} due, {since('a')}")
    merge_at_b(False)
    knob("a", "csig_form", 1)


def check_volume():
    """Streams are intact with GSO and GRO, and without, with tags of both sizes."""
    link("10gbit")
    knob("a", "csig_cc", "cubic")
    for on in (True, False):
        merge_at_b(on)
        offload("a", "a-r", ETHTOOL_STSO, on)
        hosts.run(f"ip -n a link set a-r gso_max_segs {65535 if on else 1}")
        for form in (1, 2):
            knob("a", "csig_form", form)
            since = Since()
            pair = connect(4, "cubic")
            good = transfer([Stream(*pair, BYTES)])
            close(*pair)
            got = since("a")
            tap.claim(f"{BYTES >> 20} MiB, offloads {'on' if on else 'off'}, {csig_tag.FORM[form]}: equal",
                      good and got.get("out_tag", 0) > 0.9 * BYTES / 1448 and
                      bool(got.get("out_gso")) == on, f"{got}")
    hosts.run("ip -n a link set a-r gso_max_segs 65535")
    offload("a", "a-r", ETHTOOL_STSO, 1)
    knob("a", "csig_form", 1)


def syns(head, port, number):
    """Return frames of SYNs with a tag and our option, each for another connection to b's address.
    @head: both MAC addresses."""
    ip = struct.pack("!BBHHHBBH", 0x45, 0, 56, 0, 0x4000, 64, 6, 0)
    rest = struct.pack("!IIBBHHH", 1, 0, 9 << 4, 2, 1000, 0, 0) + struct.pack("!BBHB11x", 254, 16, 0x484f, 2)
    for _ in range(number):
        ends = struct.pack("!II", 0xc0000300 | random.randrange(1, 255), 0xc6336401)
        tcp = struct.pack("!HH", random.randrange(1024, 65536), port) + rest
        check = sum16(ends + struct.pack("!HH", 6, len(tcp)) + tcp)
        packet = ip + ends
        yield (head + struct.pack("!HHH", 0x88b5, random.randrange(65536), 0x0800) + packet[:10] +
               struct.pack("!H", sum16(packet)) + packet[12:] + tcp[:16] + struct.pack("!H", check) + tcp[18:])


def check_flood():
    """Forged connections use at most their share of the table, and are removed afterwards."""
    sysctl("b", "hopcc/flow_limit", FLOW_LIMIT)
    sysctl("b", "ipv4/conf/all/rp_filter", 0)
    hosts.run("ip -n b route add blackhole 192.0.3.0/24")
    listener = hosts.tcp("b", 4)
    listener.bind(("0.0.0.0", 0))
    listener.listen()
    wire = Sniffer("r", "r-b")
    wire.sock.setsockopt(csig_tag.SOL_PACKET, csig_tag.PACKET_QDISC_BYPASS, 1)
    shown = subprocess.check_output("ip -n b -br link show dev b-r".split(), text=True)
    head = bytes.fromhex(shown.split()[2].replace(":", "")) + b"\x02" + bytes(5)
    since, most = Since(), 0
    before = csig_tag.csig("b")
    for number, frame in enumerate(syns(head, listener.getsockname()[1], FLOWS)):
        with contextlib.suppress(BlockingIOError):
            wire.put(frame)
        # Sending takes no virtual time, and a device's backlog holds a thousand frames.
        if number % 250 == 249:
            time.sleep(0.001)
            most = max(most, csig_tag.csig("b")["flows"] - before["flows"])
    got = since("b")
    tap.claim(f"{FLOWS} connections that nobody opens: {FLOW_LIMIT // 4} flows at most, the oldest make room",
              most <= FLOW_LIMIT // 4 and got.get("in_handshake", 0) > 0.9 * FLOWS and
              got.get("flows_evicted", 0) > 0.5 * FLOWS and not got.get("flows_refused"),
              f"{most} flows, {got}")
    pair = connect(4, "cubic")
    tap.claim("a stream passes meanwhile", transfer([Stream(*pair, 1 << 20)]))
    close(*pair, wire, listener)
    time.sleep(200)
    tap.equal("in the end no flow is left", [csig_tag.csig(name)["flows"] for name in "ab"], [0, 0])


def main():
    setup()
    # check_overhead() uses long streams at any volume, which are too slow for a debug kernel.
    for check in (*[check_overhead] * (BYTES >= 4 << 20), check_volume, check_flood):
        print("#", check.__name__)
        check()
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
