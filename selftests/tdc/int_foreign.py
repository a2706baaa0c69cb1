# SPDX-License-Identifier: GPL-2.0
"""Checks of what int with the option formats does to telemetry of other switches: frames of IFA 2.0,
IOAM and INT-MD 2.1, one by one, in virtual time. int_queue.py runs them.
"""
import json
import socket
import struct
import subprocess
import time

import frames
from frames import ETH_P_IPV6, HOPOPTS, TCP, UDP, checksum, expect, flood, frame, network, sh

IFA, DSCP_INTMD, NODE, OWN_PORT, TTL = 253, 9, 0x12345, 0x4567, 64
SCHEMA = 0x494e54
OPTIONS = f"int rate 10mbit port_id {OWN_PORT} formats ifa,ioam,intmd node_id {NODE} dscp_intmd {DSCP_INTMD}"
TAKEN_FOR_MORE = OPTIONS.replace("rate 10mbit", "rate 5mbit speed 10mbit")
ROOT = f"root handle 10: {OPTIONS}"
IFA_C, IFA_MF, IFA_TS = 1, 0x10, 8
HPCC, ALL = 0xd500, 0xff81
ONES = 0xffffffff
HOP = bytes(range(0x40, 0x60))


def ip(version, payload, protocol, **more):
    return (frames.ipv4 if version == 4 else frames.ipv6)(payload, protocol, **more)


def l4(following, payload=b"", options=b""):
    """TCP or UDP with a checksum that nobody updates."""
    if following == UDP:
        return struct.pack("!HHHH", 1, 2, 8 + len(payload), 0x1234)
    return struct.pack("!HHIIBBHHH", 1, 2, 3, 4, (20 + len(options)) << 2, 0x10, 1000, 0x1234, 0) + options


def ifa(stack=HOP, following=TCP, flags=0, most=64, limit=255, words=None, version=2, options=b""):
    """An IFA packet from behind IP to the end of its stack."""
    extra = b"\xc0\xde\0\0" * bool(flags & IFA_C) + b"\0\0\0\x41" * bool(flags & IFA_MF)
    return (struct.pack("!BBBB", version << 4 | 15, following, flags, most) + l4(following, options=options) + extra +
            struct.pack("!BBBB", 0xf8, 0, limit, len(stack) // 4 if words is None else words) + stack)


def ifa_own(tx, queue=0, waited_ns=0):
    seconds, ns = divmod(time.clock_gettime_ns(time.CLOCK_MONOTONIC) - waited_ns, 10**9)
    return struct.pack("!IIHHIIIII", NODE << 8 | TTL, 15 << 28 | seconds & 0xfffff, OWN_PORT, 0, ns, waited_ns,
                       tx & ONES, queue, queue)


def intmd(stack=b"", bitmap=HPCC, words=6, remaining=8, flags=0, npt=2, total=None, kind=1, version=2):
    length = 3 + len(stack) // 4 if total is None else total
    return struct.pack("!BBHIHHHH", kind << 4 | npt << 2, length, 0, version << 28 | flags << 25 | words << 8 |
                       remaining, bitmap, 7, 0, 0) + stack


def intmd_own(bitmap, words):
    """Words of this hop; None: utilisation, which depends on the time since the last frame."""
    now = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    values = [(NODE,), (OWN_PORT,), (0,), (0,), divmod(now, 2**32), divmod(now, 2**32), (ONES, ONES), (None,), (0,),
              (), (), (), (), (), (), (ONES,)]
    out = [value for bit, value in enumerate(values) if bitmap & 0x8000 >> bit]
    flat = [word for value in out for word in value]
    return flat + [ONES] * (words - len(flat))


def pseudo(version, protocol, length):
    ends = network(frame(*ip(version, b"", protocol)))
    if version == 4:
        return ends[12:20] + struct.pack("!HH", protocol, length)
    return ends[8:40] + struct.pack("!II", length, protocol)


def segment(version, protocol, payload, options=b""):
    """TCP or UDP with a right checksum."""
    head = l4(protocol, payload, options)
    at = 16 if protocol == TCP else 6
    data = head[:at] + b"\0\0" + head[at + 2:] + payload
    check = checksum(pseudo(version, protocol, len(data)) + data + b"\0" * (len(data) % 2))
    return data[:at] + struct.pack("!H", check or 0xffff) + data[at + 2:]


def md_frame(version, protocol, payload, **more):
    return frame(*ip(version, segment(version, protocol, payload), protocol, dsfield=DSCP_INTMD << 2, **more))


def delta(after, before):
    return {group: {k: v - before[group][k] for k, v in after[group].items() if v != before[group][k]}
            for group in ("written", "refused")}


def expect_counts(wire, before, written=None, refused=None):
    expect(delta(wire.stats(), before), {"written": written or {}, "refused": refused or {}}, "statistics")


IFA_ROWS = [(f"IPv{version}, {name}", version, options, {**more, "following": following})
            for version in (4, 6) for name, following, options, more in (
                ("TCP, second hop", TCP, {}, {}),
                ("TCP, first hop, options", TCP, {}, {"stack": b"", "options": b"\1" * 12}),
                ("UDP, tenth hop of ten", UDP, {}, {"stack": HOP, "limit": 1, "most": 16}),
                ("TCP, checksum, fragment word, in a tag", TCP, {"tags": ["q"]}, {"flags": IFA_C | IFA_MF}))]


def ifa_grows(wire):
    """One hop's metadata is in front of the others'; IP's length and checksum are right, L4's as they were."""
    wire.qdisc(ROOT)
    for name, version, options, more in IFA_ROWS:
        before = wire.stats()
        data = ifa(**more)
        tail = b"payload of an odd length"
        own = ifa_own(before["tx_bytes"])
        got = wire.pass_one(frame(*ip(version, data + tail, IFA), **options))
        stack = more.get("stack", HOP)
        grown = {**more, "stack": own + stack, "limit": more.get("limit", 255)}
        if grown["limit"] != 255:
            grown["limit"] -= 1
        expect(network(got), network(frame(*ip(version, ifa(**grown) + tail, IFA))), name)
        expect_counts(wire, before, {"ifa": 1})
        sent = len(frame(*ip(version, data + tail, IFA), **options)) + 32
        expect(wire.stats()["tx_bytes"] - before["tx_bytes"], sent, f"{name}: tx_bytes")


def damage_stays(wire):
    """A wrong checksum of IPv4 is as wrong in the grown packet: the next router drops it."""
    wire.qdisc(ROOT)
    for damage in (1, 0x8000):
        sent = bytearray(frame(*ip(4, ifa() + b"data", IFA)))
        right, = struct.unpack_from("!H", sent, 24)
        struct.pack_into("!H", sent, 24, right ^ damage)
        residue = checksum(sent[14:34])
        assert residue, "the damage is seen"
        got = wire.pass_one(bytes(sent))
        expect(len(got), len(sent) + 32, "length")
        expect(checksum(got[14:34]), residue, f"residue of the checksum, damage {damage:x}")


IFA_LEFT = [
    ("malformed", ifa(version=1)),
    ("malformed", ifa(flags=IFA_TS)),
    ("malformed", ifa(following=1)),
    ("malformed", ifa(words=65)),
    ("malformed", struct.pack("!BBBBIIII", 0x13, 6, 20, 0, 1, 2, 3, 4) + l4(TCP)),     # XCP
    ("limit", ifa(limit=0)),
    ("limit", ifa(most=15)),
]


def left_alone(wire, rows):
    """Frames that must arrive as they were sent, and are counted by cause."""
    before, wanted = wire.stats(), {}
    for cause, data in rows:
        wire.put(data)
        if cause:
            wanted[cause] = wanted.get(cause, 0) + 1
    for number, (got, (cause, data)) in enumerate(zip(wire.arrived(), rows, strict=True)):
        expect(got, data, f"frame {number}, {cause}")
    expect_counts(wire, before, refused=wanted)


def ifa_left_alone(wire):
    wire.qdisc(ROOT)
    data = ifa()
    rows = [(cause, frame(*ip(version, body, IFA))) for version in (4, 6) for cause, body in IFA_LEFT]
    # Cut at every byte: IP's length is right, the frame may be padded.
    rows += [("malformed", frame(*ip(version, data[:n], IFA)) + pad) for version in (4, 6)
             for n in range(len(data)) for pad in (b"", data[n:])]
    rows += [("fragment", frame(*ip(4, data, IFA, fragment=fragment))) for fragment in (0x2000, 1)]
    rows += [(None, frame(*ip(4, data, 252)))]
    left_alone(wire, rows)


def intmd_grows(wire):
    """Lengths of IP and UDP and the checksum follow; the words are in the order of the bitmap."""
    wire.qdisc(ROOT)
    for version in (4, 6):
        for protocol in (TCP, UDP):
            for bitmap, words in ((HPCC, 6), (ALL, 13), (0x8000, 3)):
                before = wire.stats()
                stack, tail = bytes(range(words * 4)), b"behind, odd"
                want = intmd_own(bitmap, words)
                got = network(wire.pass_one(md_frame(version, protocol, intmd(stack, bitmap, words) + tail)))
                # Behind the type of the frame, IP, the header and the shim
                at = 2 + (20 if version == 4 else 40) + (20 if protocol == TCP else 8) + 16
                own = list(struct.unpack_from(f"!{words}I", got, at))
                want = [own[i] if word is None else word for i, word in enumerate(want)]
                expect(own, want, f"IPv{version}, {protocol}, {bitmap:x}")
                grown = intmd(struct.pack(f"!{words}I", *own) + stack, bitmap, words, remaining=7) + tail
                expect(got, network(md_frame(version, protocol, grown)), f"IPv{version}, {protocol}, {bitmap:x}")
                expect_counts(wire, before, {"intmd": 1})


def intmd_full(wire):
    """No hop is left: E. No room in the MTU: M. Else it is as it was, with a right checksum."""
    wire.qdisc(ROOT)
    for version in (4, 6):
        for protocol in (TCP, UDP):
            before = wire.stats()
            got = wire.pass_one(md_frame(version, protocol, intmd(remaining=0)))
            expect(got, md_frame(version, protocol, intmd(remaining=0, flags=2)), "E")
            expect_counts(wire, before, refused={"limit": 1})
    data, tail = intmd(), bytes(1400)
    sent = md_frame(4, TCP, data + tail)
    sh(f"ip link set dev va mtu {len(sent) - 14 + 23}")
    try:
        before = wire.stats()
        expect(wire.pass_one(sent), md_frame(4, TCP, intmd(flags=1) + tail), "M")
        expect_counts(wire, before, refused={"mtu": 1})
        sh(f"ip link set dev va mtu {len(sent) - 14 + 24}")
        expect(len(wire.pass_one(sent)), len(sent) + 24, "length in an MTU that just holds it")
    finally:
        sh("ip link set dev va mtu 65535")


def intmd_left_alone(wire):
    wire.qdisc(ROOT)
    stack = bytes(24)
    rows = [("malformed", md_frame(version, protocol, body)) for version in (4, 6) for protocol in (TCP, UDP)
            for body in (b"", intmd(kind=2), intmd(version=1), intmd(npt=3), intmd(total=2), intmd(words=5),
                         intmd(words=0), intmd(bitmap=0x0040), intmd(bytes(20)), intmd(stack, total=10))]
    data = intmd(stack)
    rows += [("malformed", md_frame(version, protocol, data[:n])) for version in (4, 6) for protocol in (TCP, UDP)
             for n in range(len(data))]
    rows += [("malformed", frame(*ip(4, segment(4, protocol, data)[:n], protocol, dsfield=DSCP_INTMD << 2)))
             for protocol in (TCP, UDP) for n in range(20)]
    rows += [("fragment", md_frame(4, UDP, data, fragment=0x2000)),
             (None, frame(*ip(4, segment(4, TCP, data), TCP, dsfield=(DSCP_INTMD + 1) << 2)))]
    left_alone(wire, rows)


def trace(node=NODE, delay=ONES, queue=1234, record=b"\xaa" * 8, schema=SCHEMA, at_ns=0, remaining=0, kind=0xfa0002):
    """A hop-by-hop header with a trace of two hops."""
    seconds, ns = divmod(at_ns, 10**9)
    hops = b"".join(struct.pack("!IIIIII", 62 << 24 | which, 5, seconds, ns // 1000, late, depth) +
                    struct.pack("!I", 2 << 24 | schema) + own
                    for which, late, depth, own in ((node, delay, queue, record), (7, ONES, 0, b"\xbb" * 8)))
    option = struct.pack("!BBBBHHI", 0x31, 10 + remaining * 4 + len(hops), 0, 0, 1, 6 << 11 | remaining, kind << 8)
    body = bytes((1, 0)) + option + bytes(remaining * 4) + hops
    body += bytes((1, (-len(body) - 4) % 8)) + bytes((-len(body) - 4) % 8)
    return struct.pack("!BB", UDP, (len(body) + 2) // 8 - 1) + body


def trace_frame(**fields):
    return frame(*frames.ipv6(segment(6, UDP, b"data"), HOPOPTS, trace(**fields)))


def ioam_is_complete(wire):
    """Delay, queue and record replace what the router's stack wrote; all else is as it was."""
    wire.qdisc(ROOT)
    for remaining in (0, 3):
        before = wire.stats()
        real_ns = time.clock_gettime_ns(time.CLOCK_REALTIME)
        at_ns = (real_ns - 7000) // 1000 * 1000
        now = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        got = wire.pass_one(trace_frame(at_ns=at_ns, remaining=remaining))
        own = struct.pack("!Q", 1 << 60 | (now & 0xffffff) << 36 | (before["tx_bytes"] & 0xfffff) << 16)
        late, = struct.unpack_from("!I", got, got.index(b"\x3e" + struct.pack("!I", NODE)[1:]) + 16)
        assert 7000 <= late < 9000, late
        expect(got, trace_frame(at_ns=at_ns, remaining=remaining, delay=late, queue=0, record=own), "header")
        expect_counts(wire, before, {"ioam": 1})


def mark_and(options=b"", body=b""):
    """A probe from TCP's header on, of one slot; options are behind its mark, body in front of its message."""
    message = bytes(36) + struct.pack("!BBBBI", 0, 5, 3, 0, 0) + bytes(8) + struct.pack("!I", 1 << 28) + bytes(12)
    return segment(4, TCP, body + message, struct.pack("!BBH", 253, 4, 0x4850) + options)


def summed(data):
    """Return the TCP segment with its checksum."""
    return segment(4, TCP, data[(data[12] >> 4) * 4:], data[20:(data[12] >> 4) * 4])


def intmd_in_probes(wire):
    """A probe may have INT-MD or just its DSCP, which is then no malformed packet."""
    wire.qdisc(f"root handle 10: int rate 10mbit port_id {OWN_PORT} formats intmd node_id {NODE} dscp_intmd 27")
    for only, records in (("noformats_only", 1), ("formats_only", 0)):
        sh(f"tc qdisc change dev va root int {only}")
        for options in (b"", b"\1" * 8):
            for body, grown in ((b"", 0), (intmd(), 24)):
                before = wire.stats()
                sent = frame(*ip(4, mark_and(options, body), TCP, dsfield=27 << 2))
                got = wire.pass_one(sent)
                expect(len(got), len(sent) + grown, "length")
                # The record of this hop is there, and TCP's checksum is right.
                at = 34 + 24 + len(options) + len(body) + grown
                expect(got[at + 40] >> 4, records, "nHop")
                expect(network(got), network(frame(*ip(4, summed(got[34:]), TCP, dsfield=27 << 2))), "checksum")
                expect_counts(wire, before, {"intmd": 1} if grown else {})
                expect(wire.stats()["stamped"]["probe"] - before["stamped"]["probe"], records, "records")


def intmd_beside_answers(wire):
    """An answer whose connection has the DSCP of INT-MD is no malformed packet either."""
    wire.qdisc(f"root handle 10: int rate 10mbit formats intmd node_id {NODE} dscp_intmd 27")
    answer = bytes(36) + struct.pack("!BBBBI", 0, 5, 4, 0, 0) + bytes(8) + struct.pack("!I", 1 << 28)
    before = wire.stats()
    sent = frame(*ip(4, segment(4, TCP, answer, struct.pack("!BBH", 253, 4, 0x4841)), TCP, dsfield=27 << 2))
    expect(wire.pass_one(sent), sent, "the frame")
    expect_counts(wire, before)


def ioam_left_alone(wire):
    """A trace whose newest data is of another router, and any that is not valid."""
    wire.qdisc(ROOT)
    data = trace()
    rows = [("other_node", trace_frame(node=NODE + 1)), ("malformed", trace_frame(kind=0xfa0402)),
            ("malformed", trace_frame(kind=0xf80002))]
    rows += [(None, frame(*frames.ipv6(b"", HOPOPTS, bytes((UDP, 0, 1, 4, 0, 0, 0, 0)))))]
    rows += [("malformed", frame(*frames.ipv6(b"", HOPOPTS, data[:n]))) for n in range(len(data))]
    left_alone(wire, rows)


STOCK_ROUTER = """
ip netns add r; ip link add ha type veth peer name ra netns r; ip link add hb type veth peer name rb netns r
sysctl -qw net.ipv6.conf.ha.disable_ipv6=1 net.ipv6.conf.hb.disable_ipv6=1
ip link set dev ha up; ip link set dev hb up; ip -n r link set dev ra up; ip -n r link set dev rb up
ip netns exec r sysctl -qw net.ipv6.conf.all.forwarding=1 net.ipv6.ioam6_id=7 net.ipv6.conf.ra.ioam6_enabled=1
ip netns exec r sysctl -qw net.ipv6.conf.ra.ioam6_id=3 net.ipv6.conf.rb.ioam6_id=4
ip -n r addr add 2001:db8::a/64 dev ra nodad; ip -n r addr add 2001:db8:2::a/64 dev rb nodad
ip -n r neigh add 2001:db8:2::2 dev rb lladdr 02:00:00:00:00:02
ip -n r link set dev ra address 02:00:00:00:00:0a
ip -n r ioam namespace add 1; ip -n r ioam schema add 4804180 01234567
ip -n r ioam namespace set 1 schema 4804180
"""


def empty_trace(words):
    """A packet of the source: room for `words` words, and no data yet."""
    option = struct.pack("!BBBBHHI", 0x31, 10 + words * 4, 0, 0, 1, 6 << 11 | words, 0xfa000200) + bytes(words * 4)
    body = bytes((1, 0)) + option
    pad = (-len(body) - 4) % 8
    header = struct.pack("!BB", UDP, (len(body) + 4 + pad) // 8 - 1) + body + bytes((1, pad)) + bytes(pad)
    data = bytearray(frame(*frames.ipv6(l4(UDP, b"data") + b"data", HOPOPTS, header)))
    data[:6] = b"\x02\0\0\0\0\x0a"
    data[38:54] = socket.inet_pton(socket.AF_INET6, "2001:db8:2::2")
    return bytes(data)


def behind_a_stock_router(wire):
    """The kernel's own IOAM node writes its data, and int completes it; without room, neither does."""
    del wire
    for line in STOCK_ROUTER.strip().splitlines():
        sh(line)
    ends = []
    try:
        sh(f"ip netns exec r tc qdisc add dev rb root handle 10: int rate 10mbit port_id {OWN_PORT}"
           " formats ioam node_id 7")
        for name, kind in (("ha", 0), ("hb", ETH_P_IPV6)):
            ends.append(socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(kind)))
            ends[-1].bind((name, 0))
            ends[-1].settimeout(0.2)
        time.sleep(2)
        for words, hops in ((9, 1), (7, 0)):
            ends[0].send(empty_trace(words))
            got = ends[1].recv(2000)
            while got[20] or got[38:54] != socket.inet_pton(socket.AF_INET6, "2001:db8:2::2"):
                got = ends[1].recv(2000)
            lengths, = struct.unpack_from("!H", got, 64)
            expect((lengths & 0x7f, lengths >> 7 & 15), (0, 0) if hops else (7, 8), "room and flags")
            if hops:
                node, ports, _, _, late, queue, schema, record = struct.unpack_from("!IIIIIIIQ", got, 70)
                expect((node, ports, queue, schema), (63 << 24 | 7, 3 << 16 | 4, 0, 2 << 24 | SCHEMA), "stock fields")
                assert late < 10**6, late
                expect((record >> 60, record & 0xffff), (1, 0), "speed and queue of the record")
        shown = json.loads(subprocess.check_output("ip netns exec r tc -s -j qdisc show dev rb", shell=True))[0]
        expect(shown["written"]["ioam"], 1, "written")
    finally:
        for end in ends:
            end.close()
        sh("ip netns del r")


def delay_in_the_qdisc(wire, options=OPTIONS, scale=1):
    """Of 20 frames below a shaper, each waits a ms longer, and leaves one less behind."""
    wire.qdisc("root handle 1: tbf rate 8mbit burst 1100 limit 100mb", f"parent 1:1 handle 10: {options}")
    body = ifa(stack=b"")
    data = frame(*ip(4, body + bytes(1000 - 34 - len(body)), IFA))
    for _ in range(20):
        wire.put(data)
    got = wire.arrived()
    expect(len(got), 20, "arrived")
    at = 34 + len(body)
    hops = [struct.unpack_from("!IIHHIIIII", d, at) for d in got]
    waited = [h[5] for h in hops]
    expect([b - a for a, b in zip(waited[1:], waited[2:])], [10**6] * 18, "residence")
    expect([h[7] for h in hops], [(19 - n) * 1000 * scale if n else 0 for n in range(20)], "queue")
    expect([h[6] for h in hops], [n * 1032 * scale for n in range(20)], "bytes sent")
    wire.empty()


def numbers_of_the_speed(wire):
    """IFA reports a speed: a port of 5 Mbit/s that is taken for one of 10 has twice the bytes. The delay stays."""
    delay_in_the_qdisc(wire, TAKEN_FOR_MORE, 2)


def bytes_of_the_rate(wire):
    """INT-MD reports no speed: its bytes are as they are."""
    wire.qdisc("root handle 1: tbf rate 8mbit burst 1100 limit 100mb", f"parent 1:1 handle 10: {TAKEN_FOR_MORE}")
    for _ in range(3):
        wire.put(md_frame(4, TCP, intmd(bitmap=0x1000, words=1) + bytes(900)))
    queues = [struct.unpack_from("!I", d, 34 + 20 + 16)[0] & 0xffffff for d in wire.arrived()]
    expect(queues[1:], [queues[1], 0], "queues in INT-MD")
    assert 950 < queues[1] < 1050, queues
    wire.empty()


def clones_grow_apart(wire):
    """A bridge floods clones to two ports: only the one with int grows."""
    data = frame(*ip(4, ifa(), IFA))
    got = flood(wire, ROOT, data)
    expect(len(got[0]), len(data) + 32, "length with int")
    expect(got[0][:14] + got[0][-32:], data[:14] + HOP, "ends")
    expect(got[1], data, "without")


def off_by_default(wire):
    wire.qdisc(f"root handle 10: int rate 10mbit port_id {OWN_PORT}")
    for data in (frame(*ip(4, ifa(), IFA)), md_frame(4, TCP, intmd()), trace_frame()):
        expect(wire.pass_one(data), data, "frame")
    assert "written" not in wire.stats(), wire.stats()


CHECKS = (ifa_grows, damage_stays, ifa_left_alone, intmd_grows, intmd_full, intmd_left_alone, intmd_in_probes,
          intmd_beside_answers, ioam_is_complete, ioam_left_alone, behind_a_stock_router, delay_in_the_qdisc,
          numbers_of_the_speed, bytes_of_the_rate, clones_grow_apart, off_by_default)
