#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Record one frame of each form that the carriers send: the reference for the dissectors and for the
layers of scapy. Prints lines of "NAME HEX", which frames.txt holds.

    tools/lab/lab exec -- /usr/bin/python3 -B selftests/interfaces/record_frames.py [int|csig|xcp|formats]

    a ---- [r-a] r [r-b] ---- b         see selftests/netns/hosts.py
"""
import os
import select
import socket
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../netns"))
import hosts
from hosts import close, connect, sysctl

ETH_P_ALL, SOL_PACKET, PACKET_OUTGOING = 3, 263, 4
HOP, TCP, GRE, XCP, IFA, INT = 0, 6, 47, 63, 253, 254
MARKS = {0x4850: "probe", 0x4841: "answer"}
TYPES = {2: "data", 3: "probe", 4: "answer"}
KINDS = ("records", "summary", "ratio", "window")
CARRIERS = {1: "int", 2: "csig", 4: "xcp"}


class Sniffer:
    """All frames that a device receives."""

    def __init__(self, name, device):
        with hosts.inside(name):
            self.sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
        self.sock.bind((device, 0))

    def read(self):
        while select.select([self.sock], [], [], 0)[0]:
            frame, address = self.sock.recvfrom(65536)
            if address[2] != PACKET_OUTGOING:
                yield frame


def options(tcp):
    """Return the names of our TCP options."""
    found, at, end = [], 20, (tcp[12] >> 4) * 4
    while at < end and tcp[at]:
        if tcp[at] == 1:
            at += 1
            continue
        if tcp[at] == 253:
            exid = struct.unpack_from("!H", tcp, at + 2)[0]
            if exid not in MARKS:
                found.append({0x4353: f"csig-option-{tcp[at + 1]}", 0x4849: "int-option"}[exid])
        elif tcp[at] == 254:
            found += [f"option-{CARRIERS[tcp[at + 4 + i]]}-{what}"
                      for i, what in enumerate(("asks", "answers")) if tcp[at + 4 + i]]
        at += tcp[at + 1]
    return found


def of_transport(protocol, data):
    """Return the form of a packet, from its IP payload on."""
    if protocol == XCP:
        inner = of_transport(data[1], data[20:])
        return [f"xcp-{data[0] & 15}" + ("-gre" if data[1] == GRE else "")] + inner
    if protocol == HOP:
        return ["ioam"] + of_transport(data[0], data[(data[1] + 1) * 8:])
    if protocol == IFA:
        # Behind the header and TCP's, of 24 bytes in a probe: the metadata's header, and its length in words.
        at = 4 + (data[16] >> 4) * 4
        return ["ifa"] + of_transport(data[1], data[4:at] + data[at + 4 + data[at + 3] * 4:])
    if protocol == INT:
        return ["int-" + TYPES[data[2]]] + of_transport(data[0], data[data[1] * 4 + 8:])
    if protocol != TCP:
        return []
    found, payload = options(data), data[(data[12] >> 4) * 4:]
    mark = MARKS.get(struct.unpack_from("!H", data, 22)[0]) if data[12] >> 4 > 5 and data[20:22] == b"\xfd\4" else None
    if not mark:
        return found
    # The slots are in the header's last word; INT-MD in front makes the packet longer.
    terms = 12 if mark == "probe" else 0
    if len(payload) - terms - 36 != 12 + (payload[len(payload) - terms - 4] >> 4) * 8:
        found.append("intmd")
        payload = payload[(payload[1] + 1) * 4:]
    kind = struct.unpack_from("!H", payload, 24)[0]
    found.append(f"int-{TYPES[payload[38]]}-{KINDS[kind]}")
    return found


def form_of(frame):
    """Return a name for what is ours in a frame, or an empty one."""
    at, found = 12, []
    while (kind := struct.unpack_from("!H", frame, at)[0]) not in (0x800, 0x86dd):
        if kind == 0x8100:
            found.append("vlan")
        elif kind in (0x88b5, 0x88b6):
            found.append({0x88b5: "csig-compact", 0x88b6: "csig-expanded"}[kind])
        else:
            return ""
        at += 8 if kind == 0x88b6 else 4
    ip = frame[at + 2:]
    if kind == 0x800:
        found += of_transport(ip[9], ip[(ip[0] & 15) * 4:struct.unpack_from("!H", ip, 2)[0]])
    else:
        found += ["ipv6"] + of_transport(ip[6], ip[40:])
    return "-".join(found) if set(found) - {"vlan", "ipv6"} else ""


class Recorder:
    """Keeps of each form the frame with the most bytes that are not 0."""

    def __init__(self):
        self.sniffers = [Sniffer("a", "a-r"), Sniffer("b", "b-r")]
        self.frames = {}

    def collect(self, prefix=""):
        for sniffer in self.sniffers:
            for frame in sniffer.read():
                name = form_of(frame)
                if name:
                    self.keep(prefix + name, frame)

    def keep(self, name, frame):
        def used(data):
            return len(data) - data.count(0)

        if used(frame) >= used(self.frames.get(name, b"")):
            self.frames[name] = frame


def queue(words, device="r-b"):
    subprocess.run(f"tc -n r qdisc replace dev {device} root {words}".split(), check=True)


def talk(cc, version=4, rounds=4, late=False, both=False):
    """Send a few small messages, with answers if both."""
    pair = connect(version, "cubic" if late else cc)
    if pair is None:
        sys.exit(f"no connection with {cc}")
    source, sink = pair
    if late:
        source.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, cc.encode())
    for _ in range(rounds):
        source.send(b"hopcc 12")
        time.sleep(0.02)
        if both:
            sink.send(b"12 hopcc")
            time.sleep(0.02)
    close(source, sink)
    time.sleep(1)


def record_xcp(recorder):
    subprocess.run("tc -n b qdisc add dev b-r root netem delay 2ms".split(), check=True)
    for device in ("r-a", "r-b"):
        queue("xcp rate 100mbit", device)
    for micro in (1, 3):
        sysctl("a", "hopcc/xcp_format", micro)
        talk("xcp")
        recorder.collect()
    talk("xcp", 6)
    recorder.collect()
    hosts.ip("-n a link add t0 type gre local 192.0.2.1 remote 198.51.100.1\n"
             "-n a addr add 203.0.113.1/24 dev t0\n-n a link set t0 mtu 1400 up\n"
             "-n b link add t0 type gre local 198.51.100.1 remote 192.0.2.1\n"
             "-n b addr add 203.0.113.2/24 dev t0\n-n b link set t0 mtu 1400 up\n")
    for name in "ab":
        sysctl(name, "hopcc/xcp_tunnel", 1)
    pair = connect(4, "xcp", to={4: "203.0.113.2"})
    # The first data tries the path by copies.
    for _ in range(4):
        pair[0].send(b"hopcc 12")
        time.sleep(0.05)
    close(*pair)
    recorder.collect()


def record_int(recorder):
    for device, number in (("r-a", 5), ("r-b", 7)):
        queue(f"int rate 100mbit speed 100mbit switch_id {number} port_id 9", device)
    sysctl("a", "hopcc/tcp_hpccpp_rate_mbit", 100)
    for answer in range(4):
        sysctl("a", "hopcc/tcp_hpccpp_answer", answer)
        talk("hpccpp")
        recorder.collect()
    sysctl("a", "hopcc/tcp_hpccpp_answer", 0)
    talk("hpccpp", late=True)
    recorder.collect("late-")
    talk("hpccpp", 6)
    recorder.collect()
    sysctl("a", "hopcc/int_forward", 1)
    sysctl("b", "hopcc/int_reverse", 1)
    talk("hpccpp", rounds=8)
    recorder.collect()


def record_formats(recorder):
    """Probes that ask other switches, and what a hop of each format has written into them."""
    for name, value in (("tcp_hpccpp_rate_mbit", 100), ("int_space", 1), ("int_forward", 0),
                        ("csig", 1)):
        sysctl("a", f"hopcc/{name}", value)
    sysctl("b", "hopcc/int_reverse", 0)
    hosts.ip("-n r ioam namespace add 1\n")
    sysctl("r", "ipv6/ioam6_id", 7)
    sysctl("r", "ipv6/conf/r-a/ioam6_enabled", 1)
    sysctl("r", "ipv6/conf/r-b/ioam6_id", 2 << 12 | 9)
    for number, name in enumerate(("ifa", "ioam", "intmd"), 1):
        queue(f"int rate 100mbit switch_id 7 port_id 9 formats {name} node_id 7 dscp_intmd 27")
        sysctl("a", "hopcc/int_format", number)
        for end in "ab":
            sysctl(end, "hopcc/int_unsupported_s", 0)
        talk("hpccpp", 6 if name == "ioam" else 4)
        recorder.collect()
    # Answers and options are those of record_int().
    recorder.frames = {name: frame for name, frame in recorder.frames.items() if "probe" in name}


def record_csig(recorder):
    for device, number in (("r-a", 5), ("r-b", 7)):
        queue(f"csig rate 100mbit lm all compact {number} lm all expanded {0x1200 + number}", device)
    for name in "arb":
        sysctl(name, "hopcc/csig_ports", "*")
        sysctl(name, "hopcc/csig", 2)
    for form in (1, 2):
        sysctl("a", "hopcc/csig_form", form)
        talk("csig", rounds=8)
        recorder.collect()
    talk("csig", 6, rounds=8)
    recorder.collect()
    talk("csig", rounds=8, late=True)
    recorder.collect()


def main():
    for module in ("tcp_hpccpp", "tcp_csig", "tcp_xcp"):
        hosts.run(f"modprobe {module}", check=False)
    hosts.build_path()
    records = {"int": record_int, "csig": record_csig, "xcp": record_xcp, "formats": record_formats}
    for record in [records[name] for name in sys.argv[1:] or records]:
        recorder = Recorder()
        record(recorder)
        for name, frame in recorder.frames.items():
            print(name, frame.hex(), flush=True)


if __name__ == "__main__":
    main()
