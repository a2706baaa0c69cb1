#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""GRO of segments with XCP's header or inband telemetry, at the receiver, and at a router that
segments the merged packets again. Prints TAP.

    a ---- [r-a] r [r-b] ---- b

Needs root and the path of xcp_drive.ko or int_drive.ko, which selects the carrier under test;
changes nothing outside its own network namespaces.
"""
import os
import random
import socket
import struct
import subprocess
import sys
import time

import hosts
from csig_tag import Sniffer, SOL_PACKET, PACKET_QDISC_BYPASS
from hosts import A, B, ETHTOOL_SGRO, ETHTOOL_STSO, FAMILY, Stream, close, connect, counts, drive, offload, \
    since, sysctl, transfer
from shims import sum_tcp, tcp_is_right
from wire import inet_sum

tap = hosts.Tap()
MIB = 1 << 20
SIZE = 1000
TCP, UDP, IPIP = 6, 17, 4
ACK, PSH, ECE, CWR, FIN = 16, 8, 64, 128, 1
HOLD_NS = 1000000


class Xcp:
    """XCP's header, and the rules for merging and segmenting it."""
    name, carrier, protocol, cc = "XCP", "xcp", 63, "xcp"
    bytes, SUM = 20, 0x80

    @staticmethod
    def header(form=3, rtt=100, throughput=1000, delta=5, reverse=0, version=1, following=TCP, length=20,
               flags=0):
        return struct.pack("!BBBBIIii", version << 4 | form, following, length, flags, rtt, throughput,
                           delta, reverse)

    @classmethod
    def cases(cls):
        """Return cases: name, headers of segments, and (segments, header) of merged packets."""
        h = cls.header
        one, most = h(), 2**31 - 1
        yield "equal", [one] * 4, [(4, one)]
        yield "Reverse_Feedback adds up", [h(reverse=7), h(reverse=0), h(reverse=-12)], [(3, h(reverse=-5))]
        yield ("Reverse_Feedback beyond its field", [h(reverse=most), h(reverse=0), h(reverse=1), h(reverse=-most - 1),
                                                     h(reverse=-1), h(reverse=-1)],
               [(2, h(reverse=most)), (3, h(reverse=-most - 1)), (1, h(reverse=-1))])
        yield "shares that differ", [h(delta=d) for d in (5, 6, 5, 5, 6)], [(5, h(delta=27, flags=cls.SUM))]
        yield ("shares beyond the field", [h(delta=d) for d in (most, 1, -9, -most, -most)],
               [(1, h(delta=most)), (2, h(delta=-8, flags=cls.SUM)), (2, h(delta=-most))])
        yield ("the flag of a sum on the wire, which is none", [one, h(flags=cls.SUM), one],
               [(1, one), (1, h(flags=cls.SUM)), (1, one)])
        for field, value in (("rtt", 101), ("throughput", 999), ("flags", 1),
                             ("form", 1), ("form", 2)):
            other = h(**{field: value})
            yield f"another {field}, {value}", [one, one, other, other, one], [(2, one), (2, other), (1, one)]
        for what, other in (("version 2", h(version=2)), ("format 0", h(form=0)), ("length 24", h(length=24)),
                            ("an IP packet below", h(following=IPIP)), ("a header below", h(following=63))):
            yield what, [one, other, one, other], [(1, one), (1, other), (1, one), (1, other)]

    @classmethod
    def merged(cls, headers):
        """Return the header of the merged packet; None if these headers must not be merged."""
        fields = [struct.unpack("!3sB8sii", h) for h in headers]
        deltas, reverse = [f[3] for f in fields], sum(f[4] for f in fields)
        alike, delta = len(set(deltas)) == 1, sum(deltas)
        if len({f[:3] for f in fields}) > 1 or not -2**31 <= reverse < 2**31 or \
                not (alike or -2**31 <= delta < 2**31):
            return None
        first, flags, rest = fields[0][:3]
        return struct.pack("!3sB8sii", first, flags if alike else flags | cls.SUM, rest,
                           deltas[0] if alike else delta, reverse)

    @classmethod
    def segmented(cls, header, number, total):
        """Return the header of a segment, by its number and the number of segments."""
        first, flags, rest, delta, reverse = struct.unpack("!3sB8sii", header)
        if flags & cls.SUM and total > 1:
            each, left = divmod(abs(delta), total)
            delta = (each + (number >= total - left)) * (1 if delta > 0 else -1)
            flags &= ~cls.SUM
        return struct.pack("!3sB8sii", first, flags, rest, delta, 0 if number else reverse)

    @classmethod
    def random(cls, rng):
        return cls.header(delta=rng.choice((5, 5, 5, 5, 6)), reverse=rng.choice((0, 0, 0, 9, 2**31 - 1)))


class Int:
    """The INT header and its tail."""
    name, carrier, protocol, cc = "INT", "int", 254, "int_drive"
    bytes = 12 + 2 * 8 + 8

    @staticmethod
    def header(number=1, mark=0, cookie=0x55667788, kind=2, flags=0, hops=1, path=5, following=TCP, words=7,
               slots=2):
        """@mark: content of a record."""
        return struct.pack("!BBBBIQQIII", following, words, kind, flags, hops << 28 | path << 16, 9 << 60 | mark,
                           0, slots << 28 | mark << 12, number, cookie)

    @classmethod
    def cases(cls):
        h = cls.header
        one = h()
        yield "of one packet, with the newest records", [h(1, 1), h(1, 2), h(1, 3), h(1, 4)], [(4, h(1, 4))]
        yield "of several packets", [h(1, 1), h(2, 2), h(9, 3)], [(3, h(9, 3))]
        yield "ids that wrap", [h(2**32 - 1, 1), h(0, 2)], [(2, h(0, 2))]
        yield "an older id", [h(5, 1), h(4, 2), h(4, 3)], [(1, h(5, 1)), (2, h(4, 3))]
        for field, value in (("cookie", 0x55667789), ("flags", 0x40), ("hops", 2), ("path", 6)):
            other = h(**{field: value})
            yield f"another {field}, {value:#x}", [one, one, other, other, one], [(2, one), (2, other), (1, one)]
        for what, other in (("type 1", h(kind=1)), ("a PROBE", h(kind=3)), ("an ECHO", h(kind=4)),
                            ("type 0", h(kind=0)), ("UDP below", h(following=UDP)), ("no words", h(words=0)),
                            ("half a record", h(words=6)), ("too many words", h(words=255)),
                            ("slots that disagree", h(slots=3)), ("a path without hops", h(hops=0))):
            yield what, [one, other, one, other], [(1, one), (1, other), (1, one), (1, other)]

    @staticmethod
    def merged(headers):
        ids = [struct.unpack_from("!I", h, 28)[0] for h in headers]
        if len({h[:8] + h[32:] for h in headers}) > 1 or sorted(ids) != ids:
            return None
        return headers[-1]

    @staticmethod
    def segmented(header, number, total):
        return header

    @classmethod
    def random(cls, rng):
        return cls.header(rng.choice((7, 7, 7, 8)), rng.randrange(4), rng.choice((1, 1, 1, 1, 2)))


def packet(kind, version, number, header, port=9, flags=ACK, ack=1, options=b"", tos=0, ttl=64, size=SIZE,
           protocol=None, seq=None, change=None):
    """Return an IP packet from a to b; its payload is its number."""
    payload = (struct.pack("!I", number) * (size // 4))
    tcp = struct.pack("!HHIIBBHHH", port, 9, 1 + (number if seq is None else seq) * SIZE & 0xffffffff, ack,
                      (20 + len(options)) // 4 << 4, flags, 1000, 0, 0) + options + payload
    length = len(header) + len(tcp)
    following = kind.protocol if protocol is None else protocol
    ends = socket.inet_pton(FAMILY[version], A[version]) + socket.inet_pton(FAMILY[version], B[version])
    if version == 4:
        ip = struct.pack("!BBHHHBBH", 0x45, tos, 20 + length, 0, 0x4000, ttl, following, 0) + ends
        ip = ip[:10] + struct.pack("!H", inet_sum(ip)) + ip[12:]
    else:
        ip = struct.pack("!IHBB", 6 << 28 | tos << 20, length, following, ttl) + ends
    data = sum_tcp(ip + header + tcp, len(ip) + len(header))
    return change(data) if change else data


def ip_bytes(version):
    return 20 if version == 4 else 40


class Link:
    """Sends frames to one end of a link, and reads what the stack of the other end receives."""

    def __init__(self, source, source_dev, sink, sink_dev, watch=None):
        self.wire = Sniffer(source, source_dev)
        self.wire.sock.setsockopt(SOL_PACKET, PACKET_QDISC_BYPASS, 1)
        self.far = Sniffer(*(watch or (sink, sink_dev)))
        shown = subprocess.check_output(f"ip -n {sink} -br link show dev {sink_dev}".split(), text=True)
        self.head = bytes.fromhex(shown.split()[2].replace(":", "")) + b"\x02" + bytes(5)

    def pass_on(self, version, packets, routed=False):
        """Send packets. Return the IP packets that arrive; routed ones have a new MAC header."""
        kind = struct.pack("!H", 0x0800 if version == 4 else 0x86dd)
        self.far.frames()
        for data in packets:
            self.wire.put(self.head + kind + data)
        time.sleep(0.02)
        found = [f for f in self.far.frames() if f[12:14] == kind]
        if not routed:
            return [f[14:] for f in found if f[6:12] == self.head[6:]]
        at, source = (26, 30) if version == 4 else (22, 38), socket.inet_pton(FAMILY[version], A[version])
        return [f[14:] for f in found if f[at[0]:at[1]] == source]

    def close(self):
        self.wire.close()
        self.far.close()


def parts(kind, version, data, options=0):
    """Return (numbers of the segments, header) of a packet, merged or not."""
    at = ip_bytes(version)
    payload = data[at + kind.bytes + 20 + options:]
    return ([struct.unpack_from("!I", payload, n)[0] for n in range(SIZE - 4, len(payload), SIZE)],
            data[at:at + kind.bytes])


def expect(kind, version, link, what, packets, want, options=0):
    """@want: for each resulting packet, the numbers of its segments, and its header."""
    got = [parts(kind, version, data, options) for data in link.pass_on(version, packets)]
    tap.equal(f"IPv{version} {kind.name}, {what}", sorted(got), sorted(want))


def groups(want):
    """Convert (count, header) to (numbers, header), with consecutive numbers."""
    start = 0
    for count, header in want:
        yield list(range(start, start + count)), header
        start += count


def headers_decide(kind, version, link):
    for what, headers, want in kind.cases():
        expect(kind, version, link, what, [packet(kind, version, n, h) for n, h in enumerate(headers)],
               list(groups(want)))


def flip(at):
    return lambda data: data[:at] + bytes([data[at] ^ 1]) + data[at + 1:]


def cut(keep):
    """Return a change that ends the IP packet and the frame @keep bytes behind the IP header."""
    def change(data):
        if data[0] >> 4 == 6:
            return data[:4] + struct.pack("!H", keep) + data[6:40 + keep]
        ip = data[:2] + struct.pack("!H", 20 + keep) + data[4:10] + bytes(2) + data[12:20]
        return ip[:10] + struct.pack("!H", inet_sum(ip)) + ip[12:] + data[20:20 + keep]
    return change


def others_decide(kind, version, link):
    """IP and TCP decide as without our header: packets like the first three merge."""
    h, at = kind.header(), ip_bytes(version)
    first = [packet(kind, version, n, h) for n in (0, 1)]
    for what, how in (("ECE", {"flags": ACK | ECE}), ("another ACK", {"ack": 2}), ("CE", {"tos": 3}),
                      ("another DSCP", {"tos": 0xb8}), ("another TTL", {"ttl": 63}),
                      ("a gap", {"seq": 7}), ("longer", {"size": SIZE + 200})):
        data = link.pass_on(version, first + [packet(kind, version, 2, h, **how)])
        tap.equal(f"IPv{version} {kind.name}, {what}: apart",
                  [len(d) - at - kind.bytes - 20 for d in data], [2 * SIZE, how.get("size", SIZE)])
    data = link.pass_on(version, first + [packet(kind, version, 2, h, options=b"\1\1\1\1")])
    tap.equal(f"IPv{version} {kind.name}, options: apart", [len(d) - at - kind.bytes - 20 for d in data],
              [2 * SIZE, SIZE + 4])
    expect(kind, version, link, "PSH ends a packet",
           [*first, packet(kind, version, 2, h, flags=ACK | PSH), packet(kind, version, 3, h)],
           [([0, 1, 2], kind.merged([h] * 3)), ([3], h)])
    expect(kind, version, link, "CWR starts one", [*first, packet(kind, version, 2, h, flags=ACK | CWR)],
           [([0, 1], h), ([2], h)])
    expect(kind, version, link, "two connections in turns",
           [packet(kind, version, n, h, port=9 + n % 2, seq=n // 2) for n in range(6)],
           [([0, 2, 4], h), ([1, 3, 5], h)])
    broken = packet(kind, version, 1, h, change=flip(at + kind.bytes + 200))
    got = [len(d) for d in link.pass_on(version, [first[0], broken, packet(kind, version, 2, h)])]
    tap.equal(f"IPv{version} {kind.name}, a wrong checksum: none of three merges", got, [len(broken)] * 3)


def truncated(kind, version, link):
    """A packet that ends within our header or TCP's does not change the packet that is held."""
    h = kind.header()
    first = packet(kind, version, 0, h)
    lost = []
    for keep in [*range(0, kind.bytes + 20, 3), kind.bytes + 19]:
        pair = [first, packet(kind, version, 1, h, change=cut(keep))]
        lost += [keep] * (sorted(link.pass_on(version, pair)) != sorted(pair))
    tap.equal(f"IPv{version} {kind.name}, cut within the headers: both stay as they were", lost, [])
    for doff in (0, 4, 15):
        def change(data):
            where = ip_bytes(version) + kind.bytes
            return sum_tcp(data[:where + 12] + bytes([doff << 4]) + data[where + 13:], where)
        got = link.pass_on(version, [first, packet(kind, version, 1, h, change=change)])
        tap.equal(f"IPv{version} {kind.name}, TCP's length is {doff} words: apart", [len(d) for d in got],
                  [len(first)] * 2)


def switched_off(kind, version, link):
    h = kind.header()
    packets = [packet(kind, version, n, h) for n in range(3)]
    sysctl("b", f"hopcc/{kind.carrier}", 0)
    expect(kind, version, link, "the carrier is off: one by one", packets, [([n], h) for n in range(3)])
    sysctl("b", f"hopcc/{kind.carrier}", 1)
    got = [len(d) for d in link.pass_on(version, [packet(kind, version, n, h, protocol=TCP) for n in range(3)])]
    tap.claim(f"IPv{version} {kind.name}, below the number of another protocol: one by one", len(got) == 3, f"{got}")


def draw(kind, version, rng, total):
    """Return random packets of two connections, most of which can merge: (header, port, packet)."""
    at, seq, made = ip_bytes(version), {9: 0, 10: 0}, []
    for number in range(total):
        header, port = kind.random(rng), rng.choice((9, 9, 9, 10))
        how = {"change": flip(rng.randrange(at + kind.bytes + 20 + 50))} if not rng.randrange(6) else {}
        if not rng.randrange(8):
            how["flags"] = ACK | PSH
        data = packet(kind, version, number, header, port=port, seq=seq[port], **how)
        made.append((data[at:at + kind.bytes], port, data))
        seq[port] += 1
    return made


def check_group(kind, made, numbers, header):
    """Return True if this packet is a valid result of merging these segments."""
    came = [made[n] for n in numbers]
    if len(numbers) == 1:
        return header == came[0][0]
    return header == kind.merged([h for h, _, _ in came]) and len({port for _, port, _ in came}) == 1


def anything(kind, version, link):
    """Random bits flip: each segment arrives once, in order, with a header that is valid for it."""
    rng, wrong, merged, total = random.Random(version), [], 0, 4000
    made = draw(kind, version, rng, total)
    seen = []
    for start in range(0, total, 40):
        for data in link.pass_on(version, [data for _, _, data in made[start:start + 40]]):
            numbers, header = parts(kind, version, data)
            seen += numbers
            merged += len(numbers) > 1
            if not all(n < total for n in numbers) or not check_group(kind, made, numbers, header):
                wrong.append((numbers, header.hex()))
    flipped = sum(made[n][2][-SIZE:-4] != struct.pack("!I", n) * (SIZE // 4 - 1) for n in range(total))
    tap.claim(f"IPv{version} {kind.name}, {total} segments with flipped bits: each arrives once, as it was",
              not wrong and abs(len(set(seen)) - total) <= flipped and len(seen) == len(set(seen)) and
              merged > total // 50, f"{len(seen)} of {total}, {merged} merged packets, {flipped} flipped numbers, "
              f"wrong {wrong[:3]}")


def again(kind, version):
    """A router merges packets, and segments them again in front of the next link."""
    for name, dev in (("a", "a-r"), ("r", "r-b")):
        offload(name, dev, ETHTOOL_STSO, 0)
    hold("b", "b-r", 0)
    hold("r", "r-a", HOLD_NS)
    link, middle = Link("a", "a-r", "r", "r-a", watch=("b", "b-r")), Sniffer("r", "r-a")
    at = ip_bytes(version)
    for what, headers, want in kind.cases():
        middle.frames()
        got = link.pass_on(version, [packet(kind, version, n, h) for n, h in enumerate(headers)], True)
        expected = [(n, kind.segmented(header, n - numbers[0], len(numbers)))
                    for numbers, header in groups(want) for n in numbers]
        found = [(numbers[0], header) for numbers, header in (parts(kind, version, d) for d in got) if len(numbers) == 1]
        sums = all(tcp_is_right(d[:at] + d[at + kind.bytes:]) for d in got if len(d) == at + kind.bytes + 20 + SIZE)
        tap.equal(f"IPv{version} {kind.name}, merged and segmented again: {what}",
                  (sorted(found), sums, sum(f[6:12] == link.head[6:] for f in middle.frames())),
                  (sorted(expected), True, len(want)))
    link.close()
    middle.close()
    hold("r", "r-a", 0)


def port_between(version):
    """The router's port gives feedback to merged packets, and the link's device segments them."""
    for name, dev in (("a", "a-r"), ("r", "r-b")):
        offload(name, dev, ETHTOOL_STSO, 0)
    hold("b", "b-r", 0)
    hold("r", "r-a", HOLD_NS)
    hosts.run("tc -n r qdisc replace dev r-b root handle 1: xcp rate 1gbit")
    link, at = Link("a", "a-r", "r", "r-a", watch=("b", "b-r")), ip_bytes(version)
    for what, asked, want in (("less than the port has: all is kept", (-5, -6, -5, -5, -6), [-5, -5, -5, -6, -6]),
                              ("more than the port has: each gets as much", [10**8 + n for n in range(5)], None)):
        headers = [Xcp.header(delta=d, reverse=n) for n, d in enumerate(asked)]
        got = link.pass_on(version, [packet(Xcp, version, n, h) for n, h in enumerate(headers)], True)
        fields = [struct.unpack_from("!BBBBIIii", d, at) for d in got]
        deltas = [f[6] for f in fields]
        good = deltas == want if want else max(deltas) < 10**8 and len(set(deltas)) == 1
        tap.claim(f"IPv{version} XCP, a port of the router, {what}", good and len(got) == 5 and
                  {f[3] for f in fields} == {0} and [f[7] for f in fields] == [10, 0, 0, 0, 0], f"{fields}")
    link.close()
    hosts.run("tc -n r qdisc del dev r-b root")
    hold("r", "r-a", 0)


def unload(kind):
    """The module is unloaded while GRO holds merged packets for a second."""
    offload("r", "r-b", ETHTOOL_STSO, 0)
    hold("b", "b-r", 10**9)
    link, before = Link("r", "r-b", "b", "b-r"), received(4)
    packets = [packet(kind, 4, n, kind.header()) for n in range(3)]
    held = len(link.pass_on(4, packets))
    # The real users of telemetry are still loaded.
    hosts.run("rmmod tcp_hpccpp net_tlm", check=False)
    hosts.run(f"rmmod {kind.carrier}_drive net_{kind.carrier}")
    came = received(4) - before
    time.sleep(1.5)
    log = subprocess.check_output(["dmesg", "-t"], text=True)
    tap.equal(f"{kind.name}: three segments are held as one packet, which comes through as the module goes",
              (held, came, received(4) - before), (0, 1, 1))
    tap.claim(f"{kind.name}: the kernel has nothing to say of it", "WARNING" not in log, log[-300:])
    link.close()


def hold(name, dev, hold_ns):
    """Make GRO hold packets for a time; 0 switches GRO off."""
    offload(name, dev, ETHTOOL_SGRO, bool(hold_ns))
    subprocess.run(["ip", "netns", "exec", name, "sh", "-c",
                    f"echo {hold_ns} > /sys/class/net/{dev}/gro_flush_timeout"], check=True)


def snmp6(name, key):
    with hosts.inside(name), open("/proc/thread-self/net/snmp6", encoding="ascii") as file:
        return int(next(line.split()[1] for line in file if line.split()[0] == key))


def forwarded(version):
    return hosts.snmp("r", "Ip", "ForwDatagrams") if version == 4 else snmp6("r", "Ip6OutForwDatagrams")


def received(version):
    return hosts.snmp("b", "Ip", "InReceives") if version == 4 else snmp6("b", "Ip6InReceives")


class Deltas:
    """Delta_Throughput of the packets on the link to b: the sum, and the number of changes."""

    def __init__(self):
        self.sniffer, self.changes = Sniffer("r", "r-b"), 0

    def sum(self):
        found = []
        for frame in self.sniffer.frames():
            at = 14 + (20 if frame[12:14] == b"\x08\0" else 40)
            if frame[23 if at == 34 else 20] == Xcp.protocol and frame[at] & 15 != 2:
                found.append(struct.unpack_from("!i", frame, at + 12)[0])
        self.sniffer.close()
        self.changes = sum(one != other for one, other in zip(found, found[1:]))
        return sum(found)


def check_feedback(kind, version, what, feedback, out, back):
    """The feedback is the same as without GRO. GRO holds a probe, which is a TCP segment, alone, so
    data overtakes it, and its answer is old. The receiver answers one packet in each T."""
    if kind is Xcp:
        tap.equal(f"IPv{version} XCP, {what}: all feedback comes back", drive("feedback"), feedback)
    else:
        tap.claim(f"IPv{version} INT, {what}: answers are news, of what was sent, and as sound as they left",
                  drive("records", module="int_drive") > 5 and not drive("odd", module="int_drive") and
                  out["in_old"] <= 1 and not out["in_forged"] and not back["in_bad_cookie"],
                  f"{drive('records', module='int_drive')} answers, {out['in_old']} old, {out['in_forged']} forged")


def stream(kind, version, what, deltas=None, total=4 * MIB):
    """Send a stream. @deltas: records the packets on the link; None if no router changes them.
    Return the number of packets at b's IP, as fractions of those that r forwarded, and of those on
    the link to b."""
    for name in ("feedback", "headers") if kind is Xcp else ("records", "odd"):
        drive(name, 0, f"{kind.carrier}_drive")
    before = [counts(name, kind.carrier) for name in "ab"]
    errors, through, came = hosts.snmp("b", "Tcp", "InErrs"), forwarded(version), received(version)
    pair = connect(version, kind.cc)
    good = transfer([Stream(*pair, total)])
    close(*pair)
    time.sleep(0.5)
    out, back = (since(name, b, kind.carrier) for name, b in zip("ab", before))
    sent, taken = out["out_data"], back["in" if kind is Xcp else "in_data"]
    bad = {k: v for k, v in back.items() if k.startswith("bad_") and v}
    tap.claim(f"IPv{version} {kind.name}, {what}: the stream is whole, each segment had a header",
              good and hosts.snmp("b", "Tcp", "InErrs") == errors and not bad and sent > total // 1460 and
              sent <= taken <= sent + 4, f"{sent} sent, {taken} taken, {bad}")
    if kind is Xcp:
        feedback = deltas.sum() if deltas else drive("delta") * hosts.asked(out)
    check_feedback(kind, version, what, feedback if kind is Xcp else None, out, back)
    return (received(version) - came) / sent, (forwarded(version) - through) / (2 * sent)


def streams(kind, version):
    """The sender's device segments; GRO is on at the router, at the receiver, or off."""
    offload("a", "a-r", ETHTOOL_STSO, 0)
    for what, router, receiver, segments, least, most in (
            ("nobody merges", 0, 0, 0, 0.99, 1.1), ("the receiver merges", 0, HOLD_NS, 0, 0, 0.35),
            ("the router merges and segments again", HOLD_NS, 0, 0, 0.99, 1.1),
            ("the router merges", HOLD_NS, 0, 1, 0, 0.35),
            ("both merge", HOLD_NS, HOLD_NS, 0, 0, 0.35)):
        hold("r", "r-a", router)
        offload("r", "r-b", ETHTOOL_STSO, segments)
        hold("b", "b-r", receiver)
        part, through = stream(kind, version, what)
        tap.claim(f"IPv{version} {kind.name}, {what}: packets at the receiver's IP", least <= part <= most,
                  f"{part:.3f} of those that were sent, {through:.3f} forwarded, with ACKs by two")
    hold("r", "r-a", 0)
    hold("b", "b-r", 0)
    for name, dev in (("a", "a-r"), ("r", "r-b")):
        offload(name, dev, ETHTOOL_STSO, 1)


def own_feedback(version):
    """A port gives each packet its own feedback: they merge, and no feedback is lost."""
    for name, value in (("delta", 2**30), ("rtt_us", 2100), ("throughput", 60000000)):
        drive(name, value)
    deltas = Deltas()
    offload("a", "a-r", ETHTOOL_STSO, 0)
    offload("r", "r-b", ETHTOOL_STSO, 0)
    hold("b", "b-r", HOLD_NS)
    hosts.run("tc -n r qdisc replace dev r-b root handle 1: xcp rate 1gbit")
    part, _ = stream(Xcp, version, "shares of a port, packet by packet", deltas)
    tap.claim(f"IPv{version} XCP, shares of a port, packet by packet: they differ, and packets merge",
              deltas.changes > 100 and part < 0.35, f"{deltas.changes} changes, {part:.3f} of the packets are left")
    hosts.run("tc -n r qdisc del dev r-b root")
    for name, value in (("delta", 1000), ("rtt_us", 100), ("throughput", 1000000)):
        drive(name, value)


def main():
    kind = Xcp if os.path.basename(sys.argv[1]).startswith("xcp") else Int
    if kind is Xcp:
        hosts.insmod(sys.argv[1])
    else:
        hosts.run(f"insmod {sys.argv[1]}")
    hosts.build_path()
    sysctl("a", "hopcc/int_forward", 1)
    sysctl("a", "hopcc/int_cc", "int_drive")
    # Resolve neighbours before frames are sent by hand.
    hosts.run("ip netns exec r ping -qc1 198.51.100.1", check=False)
    for version in (4, 6):
        close(*connect(version, "cubic"))
    # The delay makes windows grow to some hundred packets.
    hosts.run("tc -n b qdisc add dev b-r root link rate 10gbit delay 2ms")
    for version in (4, 6):
        offload("r", "r-b", ETHTOOL_STSO, 0)
        hold("b", "b-r", HOLD_NS)
        link = Link("r", "r-b", "b", "b-r")
        for check in (headers_decide, others_decide, truncated, switched_off, anything):
            check(kind, version, link)
        link.close()
        again(kind, version)
        streams(kind, version)
        if kind is Xcp:
            port_between(version)
            own_feedback(version)
    unload(kind)
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
