#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Data into which a switch of another vendor inserts telemetry by itself. Prints TAP. Needs root; all
is in network namespaces of its own.

    a ---- script: a switch that inserts ---- b     int_switch.py

b's TCP must get each packet as a sent it, byte by byte, or as it arrived if it is malformed; a raw
socket at b shows what TCP gets. "brief" as an argument omits streams.
"""
import contextlib
import os
import random
import select
import socket
import struct
import subprocess
import sys
import time

import hosts
import relay
import shims
import xdp
from hosts import sysctl
from int_switch import ADDRESS, DEVICE, DSCP_INTMD, IFA, INT_MD_BITS, IOAM, Switch
from int_switch import PORT as SWITCH_PORT
from int_wire import mark_of
from wire import inet_sum

MB, MBIT, PATH_US = 1 << 20, 100, 1100
TCP, UDP, CE, HOPS = 6, 17, 3, 8
IFF_NAPI, IFF_VNET_HDR, NEEDS_CSUM = 0x10, 0x4000, 1
A = {4: "192.0.2.1", 6: "2001:db8::1"}
OTHER = "192.0.2.77"
PORT = 7777
TOOL = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../tools/intlayout/intlayout")
# Layouts of all formats, each with a queue; one table of ports serves them all.
LAYOUTS = f"""layout trident3
    device {DEVICE << 8} mask 0x0fffff00
layout int-md-hpcc
    device {DEVICE} mask 0xffffffff
layout linux-ioam
    device {DEVICE} mask 0x00ffffff
window 2000000
port {DEVICE} {SWITCH_PORT} {MBIT}
"""
# The sender's DSCP.
DSCP = 10
IPV6_RECVTCLASS, IPV6_TCLASS = 66, 67

tap = hosts.Tap()


def counts():
    return hosts.counts("b", "int")


def grown(before):
    return {k: v - before[k] for k, v in counts().items() if v != before[k]}


def set_dscp(packet, dscp):
    """Return the packet with another DSCP; ECN stays."""
    if packet[0] >> 4 == 6:
        word = struct.unpack_from("!H", packet)[0]
        return struct.pack("!H", word & ~(63 << 6) | dscp << 6) + packet[2:]
    return shims.finish(packet[:1] + bytes([packet[1] & 3 | dscp << 2]) + packet[2:])


def l4_bytes(packet):
    at = shims.ip_bytes(packet)
    return 8 if shims.next_of(packet) == UDP else (packet[at + 12] >> 4) * 4


def with_ifa(packet, stack=b"", flags=0, most=255):
    """Return the packet with IFA's headers and a stack, and what the flags ask for."""
    at, size = shims.ip_bytes(packet), l4_bytes(packet)
    words = bytes(4 * (flags & 1) + 4 * (flags >> 4 & 1))
    header = bytes([0x20, shims.next_of(packet), flags, most])
    md = bytes([0, 0, 255, len(stack) // 4])
    return shims.finish(shims.set_next(packet[:at], IFA) + header + packet[at:at + size] + words + md + stack +
                        packet[at + size:])


def with_int_md(packet, stack=b"", update=True, npt=0, flags=0, hops=HOPS):
    """Return the packet with INT-MD; update: TCP's checksum includes it."""
    at, size = shims.ip_bytes(packet), l4_bytes(packet)
    shim = struct.pack("!BBHIHHHH", 0x10 | npt << 2, 3 + len(stack) // 4, shims.dscp_of(packet) << 2,
                       2 << 28 | flags << 25 | 6 << 8 | hops, INT_MD_BITS, 0, 0, 0)
    packet = set_dscp(shims.finish(packet[:at + size] + shim + stack + packet[at + size:]), DSCP_INTMD)
    return shims.sum_tcp(packet) if update else packet


def with_ioam(packet):
    """Return an IPv6 packet with an empty IOAM trace, with room for one hop of five words."""
    trace = struct.pack("!BBBBHHI", IOAM, 34, 0, 0, 1, 5 << 11 | 6, 0xf2000000) + bytes(24)
    return shims.finish(shims.set_next(packet[:40], 0) + bytes([packet[6], 4, 1, 0]) + trace + packet[40:])


def segment(version, payload=b"", options=b"", flags=0x10, ecn=0, seq=1, to=None):
    """Return a TCP segment from a to b, with the sender's DSCP."""
    tcp = struct.pack("!HHIIBBHHH", PORT, PORT, seq, 1, (20 + len(options)) // 4 << 4, flags, 1000, 0, 0)
    return finished(version, TCP, tcp + options + payload, ecn, to)


def finished(version, protocol, body, ecn=0, to=None):
    family = hosts.FAMILY[version]
    ends = socket.inet_pton(family, A[version]) + socket.inet_pton(family, to or ADDRESS[version])
    if version == 4:
        # DF, by which GRO merges packets whatever their ID is.
        packet = struct.pack("!BBHHHBBH", 0x45, ecn, 0, 1, 0x4000, 64, protocol, 0) + ends + body
    else:
        packet = struct.pack("!IHBB", 6 << 28 | ecn << 20, 0, protocol, 64) + ends + body
    packet = set_dscp(shims.finish(packet), DSCP)
    return shims.sum_tcp(packet) if protocol == TCP else packet


def datagram(version, payload):
    """Return a UDP datagram from a to b."""
    packet = finished(version, UDP, struct.pack("!HHHH", PORT, PORT, 8 + len(payload), 0) + payload)
    at = shims.ip_bytes(packet)
    ends = packet[8:40] if version == 6 else packet[12:20]
    check = inet_sum(ends + struct.pack("!II", len(packet) - at, UDP) + packet[at:])
    return packet[:at + 6] + struct.pack("!H", check) + packet[at + 8:]


class Raw:
    """What b's stack passes to TCP, UDP and the handler of IFA's protocol, for IPv4 and IPv6."""

    def __init__(self, switch):
        self.switch, self.sockets = switch, {}
        with hosts.inside("b"):
            for version in (4, 6):
                for protocol in (TCP, UDP, IFA):
                    sock = socket.socket(hosts.FAMILY[version], socket.SOCK_RAW, protocol)
                    sock.setblocking(False)
                    if version == 6:
                        sock.setsockopt(socket.IPPROTO_IPV6, IPV6_RECVTCLASS, 1)
                    self.sockets[version, protocol] = sock

    def read(self, version):
        """Return [(protocol, packet)]; of IPv6 only (traffic class, body)."""
        got = []
        for (family, protocol), sock in self.sockets.items():
            if family != version:
                continue
            with contextlib.suppress(BlockingIOError):
                while True:
                    data, extra = sock.recvmsg(65536, 100)[:2]
                    if version == 6:
                        data = [struct.unpack("i", x[2])[0] for x in extra if x[1] == IPV6_TCLASS][0], data
                    got.append((protocol, data))
        return got

    def deliver(self, packet, prefix=b""):
        """Write a packet to b's device, behind what the device expects. Return what the stack passes on."""
        version = packet[0] >> 4
        kind = b"\x08\x00" if version == 4 else b"\x86\xdd"
        macs = b"".join(bytes.fromhex(relay.MAC[name].replace(":", "")) for name in "ba")
        os.write(self.switch.taps[1], prefix + macs + kind + packet)
        select.select([s for (v, _), s in self.sockets.items() if v == version], [], [], 0.002)
        return self.read(version)

    def close(self):
        for sock in self.sockets.values():
            sock.close()


def seen(packet):
    """Return the packet as Raw.read() shows it."""
    if packet[0] >> 4 == 4:
        return shims.next_of(packet), packet
    return shims.next_of(packet), (struct.unpack_from("!H", packet)[0] >> 4 & 0xff, packet[40:])


STACK = bytes(range(64, 160))
OPTIONS = (b"", b"\1\1\1\1", bytes([1]) * 40)
PAYLOADS = (b"", b"x", bytes(range(256)) * 4)


def forms(version):
    """Yield (name, packet as a sent it, packet as it arrives, counter)."""
    for options in OPTIONS:
        for payload in PAYLOADS:
            for ecn, flags in ((0, 0x18), (CE, 0x10), (0, 2), (0, 4)):
                plain = segment(version, payload, options, flags, ecn)
                for stack in (b"", STACK):
                    for word in (0, 1, 0x10, 0x11):
                        yield f"IFA, flags {word:#x}", plain, with_ifa(plain, stack, word), "in_ifa_data"
                    for update in (True, False):
                        yield f"INT-MD, {update}", plain, with_int_md(plain, stack, update), "in_intmd_data"
    for payload in PAYLOADS:
        plain = datagram(version, payload)
        yield "IFA, UDP", plain, with_ifa(plain, STACK), "in_ifa_data"


def vectors(raw):
    """Each packet arrives at TCP as it was sent, whatever its headers are."""
    for version in (4, 6):
        bad, total, before = [], 0, counts()
        for name, plain, arriving, _counter in forms(version):
            got = raw.deliver(arriving)
            total += 1
            if got != [seen(plain)]:
                bad.append((name, len(plain), got, seen(plain)))
        tap.equal(f"IPv{version}: TCP gets each of {total} packets as it was sent", bad[:1], [])
        new = grown(before)
        tap.equal(f"IPv{version}: each is counted", new.get("in_ifa_data", 0) + new.get("in_intmd_data", 0), total)


def cut_ifa(plain, whole, size):
    """Return (what b gets of a packet that ends at size, counter)."""
    more = len(whole) - len(plain)
    headers = shims.ip_bytes(plain) + l4_bytes(plain) + more
    if size < headers:
        return shims.finish(whole[:size]), "bad_ifa_truncated"
    return shims.finish(plain[:size - more]), "in_ifa_data"


def cut_int_md(plain, whole, size):
    more = len(whole) - len(plain)
    tcp_end = shims.ip_bytes(plain) + l4_bytes(plain)
    one = shims.finish(whole[:size])
    if size >= shims.ip_bytes(plain) + 20:
        one = shims.sum_tcp(one)
    if size <= tcp_end:
        return one, None
    if size < tcp_end + more:
        return one, "bad_intmd_truncated"
    return shims.sum_tcp(shims.finish(plain[:size - more])), "in_intmd_data"


def cuts(raw):
    """Packets that end at each byte behind IP: whole, or as they arrive."""
    for version in (4, 6):
        plain = segment(version, bytes(40), OPTIONS[1])
        for name, whole, cut in (("IFA", with_ifa(plain, STACK), cut_ifa), ("INT-MD", with_int_md(plain, STACK), cut_int_md)):
            bad, before, want = [], counts(), {}
            for size in range(shims.ip_bytes(whole) + 1, len(whole)):
                expected, counter = cut(plain, whole, size)
                want[counter] = want.get(counter, 0) + 1
                one = shims.finish(whole[:size])
                if name == "INT-MD" and size >= shims.ip_bytes(plain) + 20:
                    one = shims.sum_tcp(one)
                got = raw.deliver(one)
                if got != [seen(expected)]:
                    bad.append((size, got, seen(expected)))
            want.pop(None, None)
            tap.equal(f"IPv{version} {name}, cut at each byte: whole, or as it arrived", bad[:1], [])
            tap.equal(f"IPv{version} {name}, cut at each byte: counted", grown(before), want)


def changed(packet, at, value):
    return packet[:at] + bytes([value]) + packet[at + 1:]


def malformed(raw):
    """What is malformed is left as it arrived, and counted by cause."""
    for version in (4, 6):
        plain = segment(version, bytes(100))
        whole, at = with_ifa(plain, STACK), shims.ip_bytes(plain)
        wrong = [(changed(whole, at + offset, value), f"bad_ifa_{cause}") for offset, value, cause in (
            (0, 0x10, "version"), (1, 1, "next"), (2, 8, "tail"), (3, 0, "length"), (16, 0x10, "l4"),
            (16, 0x40, "l4"), (27, 255, "truncated"))]
        md = with_int_md(plain, STACK)
        at += 20
        wrong += [(shims.sum_tcp(changed(md, at + offset, value)), f"bad_intmd_{cause}") for offset, value, cause in (
            (0, 0x20, "type"), (0, 0x1c, "npt"), (0, 0x14, "npt"), (0, 0x18, "npt"), (1, 2, "length"),
            (1, 255, "truncated"), (1, 26, "stack"), (4, 0x10, "version"), (6, 0, "hop_ml"), (6, 5, "hop_ml"),
            (9, md[at + 9] | 2, "bitmap"))]
        wrong.append((changed(md, len(md) - 1, 1), "in_bad_sum"))
        for packet, counter in wrong:
            before = counts()
            tap.equal(f"IPv{version}: {counter}: as it arrived", (raw.deliver(packet), grown(before)),
                      ([seen(packet)], {counter: 1}))
        before = counts()
        tap.equal(f"IPv{version}: a copy of INT-MD is dropped",
                  (raw.deliver(with_int_md(plain, STACK, flags=4)), grown(before)), ([], {}))


def is_consistent(arriving, got):
    """Return True if TCP or UDP gets a packet as it arrived or without some words in front of the payload, or none
    at all: a copy, or one whose protocol nobody reads.
    """
    if not got or got == [seen(arriving)]:
        return True
    body = got[0][1] if arriving[0] >> 4 == 4 else got[0][1][1]
    whole = len(arriving) if arriving[0] >> 4 == 4 else len(arriving) - 40
    return len(got) == 1 and len(body) < whole and (whole - len(body)) % 4 == 0 and \
        got[0][0] in (TCP, UDP) and arriving.endswith(body[len(body) - min(40, len(body) - 20):])


def mutated(raw):
    """Packets with a few bytes changed at random behind IP."""
    rng, bad, stripped = random.Random(5), [], 0
    for number in range(2000):
        plain = segment(4 + 2 * (number & 1), bytes(60), rng.choice(OPTIONS))
        whole = bytearray(with_ifa(plain, STACK) if number & 2 else with_int_md(plain, STACK))
        at = shims.ip_bytes(plain)
        for _ in range(rng.randint(1, 4)):
            whole[rng.randrange(at, at + 80)] = rng.choice((0, 1, 255, rng.randrange(256)))
        one = bytes(whole) if number & 2 else shims.sum_tcp(bytes(whole))
        got = raw.deliver(one)
        stripped += bool(got) and got != [seen(one)]
        if not is_consistent(one, got):
            bad.append((one, got))
    tap.claim("packets with bytes changed at random: as they arrived, or without whole headers",
              not bad and 200 < stripped < 1800, f"{bad[:1]} {stripped}")


def left_alone(raw):
    """Packets of others, and all packets without a layout or with the carrier off, stay as they are."""
    plain = segment(4, bytes(100))
    packets = (with_ifa(plain, STACK), with_int_md(plain, STACK))
    hosts.ip(f"-n b neigh replace {OTHER} lladdr {relay.MAC['a']} dev tap0")
    for packet in (with_ifa(segment(4, bytes(100), to=OTHER), STACK), with_int_md(segment(4, bytes(100), to=OTHER), STACK)):
        before = counts()
        raw.switch.sent = []
        got = raw.deliver(packet)
        forwarded = shims.finish(packet[:8] + bytes([packet[8] - 1]) + packet[9:])
        end = time.monotonic() + 5
        # What b has sent before is in front of it.
        while forwarded not in raw.switch.sent and time.monotonic() < end:
            raw.switch.run(0.02)
        tap.claim("a packet for another host is forwarded as it arrived",
                  not got and not grown(before) and forwarded in raw.switch.sent, f"{got} {grown(before)}")
    for what, command in (("without a layout", ("del",)), ("with a layout of IOAM", ("set", "-"))):
        intlayout(*command, table="layout linux-ioam\n" if "set" in command else None)
        before = counts()
        tap.equal(f"{what}: as it arrived", ([raw.deliver(one) for one in packets], grown(before)),
                  ([[seen(one)] for one in packets], {}))
    layouts()
    sysctl("b", "hopcc/int", 0)
    before = counts()
    tap.equal("with `int` 0: as it arrived", ([raw.deliver(one) for one in packets], grown(before)),
              ([[seen(one)] for one in packets], {}))
    sysctl("b", "hopcc/int", 1)


def intlayout(*words, table=None):
    """Run the tool at b. Return (exit status, what it prints)."""
    done = subprocess.run(["ip", "netns", "exec", "b", TOOL, *words], input=table, text=True, capture_output=True,
                          check=False)
    return done.returncode, done.stdout + done.stderr


def layouts():
    return intlayout("set", "-", table=LAYOUTS)


def filters(raw):
    """Filters of the device see TCP; one that cannot keeps IFA's headers in place."""
    plain = segment(4, bytes(100))
    packet = with_ifa(plain, STACK)
    run = ["ip", "netns", "exec", "b", "tc"]
    subprocess.run([*run, "qdisc", "add", "dev", "tap0", "clsact"], check=True)
    subprocess.run([*run, *"filter add dev tap0 ingress protocol ip pref 1 u32 match ip protocol 6 0xff match ip dport"
                    .split(), str(PORT), "0xffff", "action", "drop"], check=True)
    before = counts()
    tap.equal("a filter of tc on ingress sees TCP", (raw.deliver(packet), grown(before)), ([], {"in_ifa_data": 1}))
    subprocess.run([*run, "qdisc", "del", "dev", "tap0", "clsact"], check=True)
    if not xdp.is_there():
        return
    with hosts.inside("b"):
        program = xdp.Program("tap0", PORT + 1)
    before = counts()
    tap.equal("beside an XDP program: as it arrived", (raw.deliver(packet), grown(before)),
              ([seen(packet)], {"in_hidden": 1}))
    sysctl("b", "hopcc/int", 2)
    tap.equal("unless `int` is 2", raw.deliver(packet), [seen(plain)])
    sysctl("b", "hopcc/int", 1)
    program.remove()


class Inserter(Switch):
    """Inserts empty headers of a format, "ifa", "int_md" or "ioam", into each n-th TCP packet from a, to which it
    then adds a hop. probes: also into probes. update: TCP's checksum includes INT-MD.
    """

    def __init__(self, flags=0):
        self.format, self.every, self.probes, self.update = None, 1, True, True
        self.seen = self.inserted = 0
        self.sent = []
        super().__init__(flags)

    def stamp(self, packet, wait_s, now_s):
        if not self.format or shims.next_of(packet) != TCP or \
                (not self.probes and mark_of(packet)):
            return packet
        self.seen += 1
        if self.seen % self.every:
            return packet
        self.inserted += 1
        at = shims.ip_bytes(packet)
        check = packet[at + 16:at + 18]
        if self.format == "ioam":
            return self.write_ioam(with_ioam(packet), self.values(wait_s, now_s))
        packet = super().stamp(with_ifa(packet) if self.format == "ifa" else with_int_md(packet), wait_s, now_s)
        return packet if self.format == "ifa" or self.update else packet[:at + 16] + check + packet[at + 18:]

    def take(self, fd):
        """Also note what b sends, as IP packets, for left_alone()."""
        if fd == self.taps[1]:
            with contextlib.suppress(BlockingIOError):
                frame = os.read(fd, 65536)
                self.sent.append(frame[14:])
                self.under_way.append((time.monotonic() + self.delay_s, self.number, self.taps[0], frame))
                self.number += 1
                self.under_way.sort()
            return
        super().take(fd)


def mark(sock, version):
    """Set the sender's DSCP."""
    if version == 4:
        sock.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, DSCP << 2)
    else:
        sock.setsockopt(socket.IPPROTO_IPV6, IPV6_TCLASS, DSCP << 2)


def flow(switch, version, cc, total):
    """Two streams. Return (exact, congestion controls, mean RTT in us, new counts of b, packets with telemetry)."""
    pairs = [switch.connect(version, cc) for _ in range(2)]
    for source, _sink in pairs:
        mark(source, version)
    rtts = []

    def sample(received):
        if total // 2 < received < total * 3 // 2:
            rtts.append(hosts.srtt_us(pairs[0][0]))

    exact = switch.transfer(pairs, total, sample, limit_s=30)
    names = sorted({hosts.cc_of(source) for source, _sink in pairs})
    for pair in pairs:
        hosts.close(*pair)
    switch.run(0.05)
    return exact, names, sum(rtts) / max(len(rtts), 1)


def stream(switch, what, version, cc, total=MB, **settings):
    """Streams across a switch that inserts by these settings. Return (names, mean RTT, new counts of b)."""
    vars(switch).update({"every": 1, "probes": True, "update": True, "inserted": 0, **settings})
    before, sums = counts(), hosts.snmp("b", "Tcp", "InCsumErrors")
    exact, names, rtt = flow(switch, version, cc, total)
    new, inserted = grown(before), switch.inserted
    switch.format = None
    print(f"# {names} RTT {rtt:.0f} us, {inserted} inserted: " + " ".join(f"{k}={v}" for k, v in new.items()))
    removed = sum(new.get(k, 0) for k in ("in_ifa_data", "in_intmd_data", "in_ifa", "in_intmd"))
    expected = 0 if settings["format"] == "ioam" else inserted
    tap.claim(f"IPv{version} {what}: exact, each header is removed, each checksum is right",
              exact and inserted and removed == expected and hosts.snmp("b", "Tcp", "InCsumErrors") == sums,
              f"exact: {exact}, {inserted} inserted, {removed} removed")
    return names, rtt, new


def conventional(switch):
    """A connection that has not negotiated: its headers are removed, nothing is read."""
    for version in (4, 6):
        for name, settings in (("IFA", {"format": "ifa"}), ("INT-MD", {"format": "int_md"}),
                               ("INT-MD, checksum as it was", {"format": "int_md", "update": False}),
                               ("IFA, each tenth packet", {"format": "ifa", "every": 10}),
                               ("INT-MD, each tenth packet", {"format": "int_md", "every": 10})):
            new = stream(switch, f"{name}, Reno", version, "reno", **settings)[2]
            tap.equal("and no metadata is read", new.get("in_data_tlm"), None)


def negotiated(switch):
    """hpccpp with the default int_format: its probes are answered by what the switch inserted into data."""
    for version in (4, 6):
        for name, settings in (("IFA", {"format": "ifa"}), ("INT-MD", {"format": "int_md"}),
                               ("IFA, not into probes", {"format": "ifa", "probes": False}),
                               ("INT-MD, not into probes", {"format": "int_md", "probes": False}),
                               ("IFA, each fifth packet", {"format": "ifa", "every": 5}),
                               ("INT-MD, each fifth packet", {"format": "int_md", "every": 5, "update": False}),
                               ("IOAM, not into probes", {"format": "ioam", "probes": False}),
                               ("IOAM, each fifth packet", {"format": "ioam", "every": 5}))[:6 if version == 4 else 8]:
            names, rtt, new = stream(switch, f"{name}, HPCC++", version, "hpccpp", **settings)
            read = new.get("in_data_tlm", 0), sum(new.get(k, 0) for k in ("in_ifa", "in_intmd", "in_ioam"))
            tap.claim(f"and the window follows the queue, read from data: {name}",
                      names == ["hpccpp"] and rtt < 2 * PATH_US and read[0] > 50 and
                      (settings.get("probes", True) or not read[1]), f"{names} {rtt:.0f} us {read}")


def without_layout(switch):
    """The same network without a layout: TCP gets nothing of IFA, and INT-MD as data."""
    intlayout("del")
    switch.format, switch.every = "ifa", 1
    before = counts()
    listener = hosts.tcp("b", 4, "cubic")
    listener.bind(("", 0))
    listener.listen()
    sock = hosts.tcp("a", 4, "reno")
    sock.setblocking(False)
    sock.connect_ex((ADDRESS[4], listener.getsockname()[1]))
    switch.run(0.3)
    listener.setblocking(False)
    with contextlib.suppress(BlockingIOError):
        listener.accept()
        before = None
    tap.claim("without a layout IFA's packets do not reach TCP", before == counts())
    hosts.close(sock, listener)
    switch.format = None
    layouts()


def merged(raw):
    """GRO merges what has the next sequence number, with the shim: the packet is dropped, not stripped."""
    shim = len(with_int_md(segment(4, bytes(100)))) - len(segment(4, bytes(100)))
    subprocess.run(["ip", "netns", "exec", "b", "sh", "-c", "echo 1 >/sys/class/net/tap0/napi_defer_hard_irqs;"
                    "echo 20000000 > /sys/class/net/tap0/gro_flush_timeout"], check=True)
    for hole, name in ((0, "in sequence"), (shim, "with a hole of the shim's length")):
        first, second = (segment(4, bytes([n]) * 100, seq=1 + n * (100 + hole)) for n in (0, 1))
        before = counts()
        got = raw.deliver(with_int_md(first)) + raw.deliver(with_int_md(second))
        time.sleep(0.05)
        got += raw.read(4)
        want = ([seen(first), seen(second)], {"in_intmd_data": 2}) if not hole else ([], {"in_merged": 1})
        tap.equal(f"two segments with INT-MD, {name}, that GRO holds", (got, grown(before)), want)


def with_gro(switch):
    """Streams to a device that merges."""
    for name, settings in (("IFA", {"format": "ifa", "every": 3}), ("INT-MD", {"format": "int_md"}),
                           ("INT-MD, each third packet", {"format": "int_md", "every": 3})):
        new = stream(switch, f"{name}, Reno, with GRO", 4, "reno", **settings)[2]
        tap.equal("and none is merged with it", new.get("in_merged"), None)


def with_part_of_sum(packet):
    """Return a packet as a device gets it that is to compute TCP's checksum, whose field has the sum over the
    pseudo-header.
    """
    at = shims.ip_bytes(packet)
    at += 4 if shims.next_of(packet) == IFA else 0
    # IFA is not included in TCP's length.
    size = len(segment(packet[0] >> 4, PAYLOAD)) - shims.ip_bytes(packet) if shims.next_of(packet) == IFA else \
        len(packet) - at
    ends = packet[8:40] if packet[0] >> 4 == 6 else packet[12:20]
    check = inet_sum(ends + struct.pack("!II", size, TCP)) ^ 0xffff
    return packet[:at + 16] + struct.pack("!H", check) + packet[at + 18:], at


PAYLOAD = bytes(range(100))


class Device:
    """b with a device whose frames say whether a checksum is still to be computed, as between guests of a host."""

    def __init__(self):
        hosts.build("b")
        self.taps = [None, relay.open_tap("b", IFF_VNET_HDR)]
        hosts.ip(f"-n b addr add {ADDRESS[6]}/64 dev tap0 nodad")

    def close(self):
        os.close(self.taps[1])
        hosts.ip("netns del b")


def partial():
    """Packets whose checksum no device has computed."""
    device = Device()
    raw = Raw(device)
    layouts()
    for version in (4, 6):
        plain = segment(version, PAYLOAD)
        want = [seen(with_part_of_sum(plain)[0])]
        for name, packet in (("IFA", with_ifa(plain, STACK)), ("INT-MD", with_int_md(plain, STACK))):
            packet, at = with_part_of_sum(packet)
            prefix = struct.pack("<BBHHHH", NEEDS_CSUM, 0, 0, 0, 14 + at, 16)
            tap.equal(f"IPv{version} {name}, the checksum is still to be computed: as it was sent",
                      raw.deliver(packet, prefix), want)
    raw.close()
    device.close()


def main(brief):
    switch = Inserter()
    sysctl("b", "hopcc/int_unsupported_s", 0)
    sysctl("a", "hopcc/int_unsupported_s", 0)
    sysctl("a", "hopcc/tcp_hpccpp_rate_mbit", MBIT)
    tap.equal("a table with both formats is accepted", layouts(), (0, ""))
    raw = Raw(switch)
    for part in (vectors, cuts, malformed, mutated, left_alone, filters):
        part(raw)
    raw.close()
    for part in () if brief else (conventional, negotiated, without_layout):
        part(switch)
    switch.close()
    switch = Inserter(IFF_NAPI)
    layouts()
    raw = Raw(switch)
    merged(raw)
    raw.close()
    if not brief:
        with_gro(switch)
    switch.close()
    partial()
    return tap.done()


if __name__ == "__main__":
    sys.exit(main("brief" in sys.argv[1:]))
