#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Test sch_xcp frame by frame, in virtual time; prints TAP.

    sender --va [xcp]========vb-- receiver

The port has 10 Mbyte/s and was idle, so 0.4 of that is available, for the packet times of four
flows; a min_interval of 250 ms makes them 1 s. A frame of 1000 bytes from a flow of 10 bytes/ms
uses 100 ms of that, so it gets 400000 bytes/s. Sending takes no virtual time, so all frames are in
one control interval.
"""
import json
import os
import struct
import subprocess
import sys
import time

import frames
from frames import (checksum, ETH_P_IP, DSTOPTS, FRAGMENT, HOPOPTS, ICMP, PACKET_VNET_HDR, TCP, UDP,
                    by_host_in_container, expect, expiries, flood, frame, in_container, network, run_checks, sh)

LEN, RATE, DUE = 1000, 10000000, 400000
STANDARD, MINIMAL, MICRO = 1, 2, 3
XCP = 63
MOST = 0x7fffffff
HOPSTAT = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../tools/hopstat/hopstat")


def header(delta=MOST, rtt=80000, throughput=10, fmt=MICRO, version=1, length=20, flags=0,
           protocol=TCP, reverse=0x01020304):
    return struct.pack("!BBBBIIiI", version << 4 | fmt, protocol, length, flags, rtt, throughput,
                       delta, reverse)


def ipv4(payload, protocol=XCP, **more):
    return frames.ipv4(payload, protocol, **more)


def ipv6(payload, protocol=XCP, extension=b""):
    return frames.ipv6(payload, protocol, extension)


def fill(head, used):
    """Return a congestion header and a TCP segment, LEN bytes in all."""
    return head + bytes(i & 0xff for i in range(LEN - used - len(head)))


PORT = f"root handle 10: xcp rate {RATE * 8}bit"
ROOT = f"{PORT} min_interval 250ms"
COUNTERS = ("standard", "minimal", "micro", "unknown", "other", "e2e_limited", "flagged",
            "bounded", "reduced", "unwritable")


def expect_stats(wire, malformed=None, **want):
    shown = wire.stats()
    expect({n: shown[n] for n in COUNTERS}, {n: want.get(n, 0) for n in COUNTERS}, "statistics")
    expect({k: v for k, v in shown["malformed"].items() if v}, malformed or {}, "malformed")


def near(got, want, what):
    assert abs(got - want) <= 1, f"{what}: got {got}, expected {want}"


def where(data):
    """Return the offset of Delta_Throughput in one of our frames."""
    return data.index(b"\x01\x02\x03\x04") - 4


def lowered(wire, data, counter, due=DUE):
    """Check that only Delta_Throughput was changed."""
    got, data = network(wire.qdisc(ROOT).pass_one(data)), network(data)
    at = where(data)
    expect(got[:at], data[:at], "before it")
    expect(got[at + 4:], data[at + 4:], "behind it")
    near(struct.unpack_from("!i", got, at)[0], due, "Delta_Throughput")
    expect_stats(wire, reduced=1, **{counter: 1})
    wire.empty()


V4, V6 = (lambda h, **k: ipv4(fill(h, 34), **k)), (lambda h, **k: ipv6(fill(h, 54), **k))
MPLS, MPLS_MC = 0x8847, 0x8848


def labelled(ip, labels=1, bottom=True):
    """Return a packet behind MPLS labels; the last has the bottom-of-stack bit if `bottom`."""
    out = b"".join(struct.pack("!I", (100 + n) << 12 | 64) for n in range(labels - 1))
    return out + struct.pack("!I", 99 << 12 | bottom << 8 | 64) + ip[1]


HOP = struct.pack("!BBIH", XCP, 0, 0x01040000, 0)
LOWERED = [
    ("IPv4, microseconds", frame(*V4(header())), "micro"),
    ("IPv4, standard", frame(*V4(header(rtt=80, fmt=STANDARD))), "standard"),
    ("IPv6, microseconds", frame(*V6(header())), "micro"),
    ("IPv6, standard", frame(*V6(header(rtt=80, fmt=STANDARD))), "standard"),
    ("IPv4 with options", frame(*ipv4(fill(header(), 46), options=b"\x01" * 12)), "micro"),
    ("IPv4, first fragment", frame(*V4(header(), fragment=0x2000)), "micro"),
    ("IPv6 behind hop-by-hop", frame(*ipv6(fill(header(), 62), HOPOPTS, HOP)), "micro"),
    ("IPv6 behind destination options", frame(*ipv6(fill(header(), 62), DSTOPTS, HOP)), "micro"),
    ("802.1Q", frame(*ipv4(fill(header(), 38)), ["q"]), "micro"),
    ("802.1ad, 802.1Q", frame(*ipv4(fill(header(), 42)), ["ad", "q"]), "micro"),
    ("IPv6 in two tags", frame(*ipv6(fill(header(), 62)), ["ad", "q"]), "micro"),
    ("MPLS", frame(MPLS, labelled(ipv4(fill(header(), 38)))), "micro"),
    ("MPLS, multicast", frame(MPLS_MC, labelled(ipv4(fill(header(), 38)))), "micro"),
    ("MPLS, IPv4 with options",
     frame(MPLS, labelled(ipv4(fill(header(), 50), options=b"\x01" * 12))), "micro"),
    ("three labels, IPv6", frame(MPLS, labelled(ipv6(fill(header(), 66)), 3)), "micro"),
    ("sixteen labels", frame(MPLS, labelled(ipv4(fill(header(), 98)), 16)), "micro"),
    ("MPLS in 802.1Q", frame(MPLS, labelled(ipv4(fill(header(), 46)), 2), ["q"]), "micro"),
    ("just above what is due", frame(*V4(header(delta=DUE + 2))), "micro"),
]


def untouched(wire, data, malformed, counters):
    got = wire.qdisc(ROOT).pass_one(data)
    expect(network(got), network(data), "frame")
    expect_stats(wire, {malformed: 1} if malformed else None, **counters)
    expect(wire.stats()["residue_pos"], 0.4 * RATE, "residue_pos")
    wire.empty()


UNTOUCHED = [
    ("minimal", frame(*V4(header(fmt=MINIMAL))), None, {"minimal": 1}),
    ("no RTT", frame(*V4(header(rtt=0))), None, {"micro": 1, "unknown": 1}),
    ("no Throughput", frame(*V6(header(throughput=0, fmt=STANDARD))), None,
     {"standard": 1, "unknown": 1}),
    ("flags", frame(*V4(header(rtt=0, flags=0xff))), None,
     {"micro": 1, "unknown": 1, "flagged": 1, "e2e_limited": 1}),
    ("version", frame(*V4(header(version=2))), "version", {}),
    ("format 0", frame(*V4(header(fmt=0))), "format", {}),
    ("format 4", frame(*V6(header(fmt=4))), "format", {}),
    ("length", frame(*V4(header(length=40))), "length", {}),
    ("nested", frame(*V4(header(protocol=XCP))), "next", {}),
    ("truncated", frame(*ipv4(header()[:19])), "truncated", {}),
    ("truncated, IPv6", frame(*ipv6(b"")), "truncated", {}),
    ("ends within, but the frame is padded", frame(*ipv4(header()[:10])) + header()[10:],
     "truncated", {}),
    ("later fragment", frame(*V4(header(), fragment=1)), None, {"other": 1}),
    ("later fragment, IPv6", frame(*ipv6(fill(header(), 62), FRAGMENT,
                                         struct.pack("!BBHI", XCP, 0, 8, 1))), None, {"other": 1}),
    ("in an ICMP error", frame(*ipv4(b"\x03\x04" + bytes(6) + V4(header())[1], ICMP)), None,
     {"other": 1}),
    ("UDP", frame(*V4(header(), protocol=UDP)), None, {"other": 1}),
    ("three tags", frame(*V4(header()), ["ad", "q", "q"]), None, {"other": 1}),
    ("MPLS, UDP", frame(MPLS, labelled(V4(header(), protocol=UDP))), None, {"other": 1}),
    ("MPLS, malformed", frame(MPLS, labelled(V4(header(version=2)))), "version", {}),
    ("MPLS, truncated", frame(MPLS, labelled(ipv4(header()[:19]))), "truncated", {}),
    ("seventeen labels", frame(MPLS, labelled(V4(header()), 17)), None, {"other": 1}),
    ("labels without a bottom", frame(MPLS, labelled((0, b""), 5, False)), None, {"other": 1}),
    ("MPLS, nothing below", frame(MPLS, labelled((0, b""), 2)), None, {"other": 1}),
    ("MPLS, Ethernet that looks like IPv4",
     frame(MPLS, labelled((0, bytes([V4(header())[1][0], 1]) + V4(header())[1][2:]))), None,
     {"other": 1}),
    ("MPLS, IPv6 longer than the frame",
     frame(MPLS, labelled((0, V6(header())[1][:-1]))), None, {"other": 1}),
    ("MPLS, neither 4 nor 6", frame(MPLS, labelled((0, bytes(8) + header()))), None,
     {"other": 1}),
    ("not IP", frame(0x88b5, header()), None, {"other": 1}),
]


def pools_follow_the_draft(wire):
    """Each packet gets 400000, so ten empty the pool. Of smaller requests, the rest stays."""
    wire.qdisc(ROOT)
    for delta, want, left in ((MOST, DUE, 9), (1000, 1000, 9 - 1000 / DUE), (-5, -5, None)):
        got = wire.pass_one(frame(*V4(header(delta=delta))))
        near(struct.unpack_from("!i", got, where(got))[0], want, f"asked for {delta}")
        sh("tc qdisc del dev va root") if left is None else None
    wire.qdisc(ROOT)
    for _ in range(11):
        wire.put(frame(*V4(header())))
    got = [struct.unpack_from("!i", f, where(f))[0] for f in wire.arrived()]
    for delta in got[:10]:
        near(delta, DUE, "Delta_Throughput")
    near(sum(got), 10 * DUE, "all of the pool")
    expect(got[10], 0, "after the pool")


def share_of_the_limited(wire):
    """End-to-end limited packets are charged a quarter: 44 get feedback until the pool is empty."""
    wire.qdisc(f"{ROOT} e2e_share 25%")
    wire.put(frame(*V4(header(flags=1))))
    near(wire.stats()["residue_pos"], 10 * DUE - DUE / 4, "residue_pos")
    wire.put(frame(*V4(header())))
    near(wire.stats()["residue_pos"], 9 * DUE - DUE / 4, "residue_pos")
    expect_stats(wire, micro=2, e2e_limited=1, reduced=2)


def one_packet_weighs_one_flow(wire):
    """A packet of 1 s (LEN / 1 byte/ms) is counted; the mean RTT is at most twice that over bytes."""
    wire.qdisc(PORT)
    wire.put(frame(*V4(header(rtt=20000))))
    time.sleep(0.0025)
    expect_stats(wire, micro=1, reduced=1)
    wire.put(frame(*V4(header(rtt=0xffffffff, throughput=1))))
    for _ in range(19):
        wire.put(frame(*V4(header(rtt=20000, throughput=1000))))
    time.sleep(0.021)
    shown = wire.stats()
    expect((shown["micro"], shown["bounded"]), (21, 1), "micro, bounded")
    # The mean over bytes: 19 packets of 20 ms, one of 1 s
    assert shown["avg_rtt_ns"] <= 2 * 69000000 + 1, shown["avg_rtt_ns"]
    rows = [json.loads(line) for line in subprocess.check_output([HOPSTAT, "--json"]).splitlines()]
    expect([row["detail"]["bounded_pkts"] for row in rows if row.get("kind") == "xcp"], [1], "hopstat: bounded")


def forged_interval_ends(wire):
    """A lone forged packet makes an interval of 1 s; others' bytes of min_interval end it."""
    wire.qdisc(PORT)
    wire.put(frame(*V4(header(rtt=0xffffffff, throughput=1))))
    time.sleep(0.0025)
    expect(wire.stats()["interval_ns"], 1000000000, "interval")
    time.sleep(0.1)
    for _ in range(10):
        wire.put(frame(*V4(header(rtt=20000, throughput=1000))))
    time.sleep(0.001)
    expect(wire.stats()["interval_ns"], 1000000000, "interval, after less bytes than 1 ms can send")
    wire.put(frame(*V4(header(rtt=20000, throughput=1000))))
    time.sleep(0.001)
    shown = wire.stats()
    expect((shown["intervals"], shown["interval_ns"]), (2, 20000000), "intervals, interval")


def intervals_end_and_stop(wire):
    """The interval ends 1 ms after the first packet, its RTT. On an idle port, both timers stop."""
    wire.qdisc(PORT)
    wire.put(frame(*V4(header(rtt=20000))))
    time.sleep(0.0025)
    shown = wire.stats()
    expect((shown["intervals"], shown["avg_rtt_ns"], shown["interval_ns"]),
           (1, 20000000, 20000000), "intervals, avg_rtt, interval")
    # 1000 bytes in 1 ms: F = 0.4 * 9 Mbyte/s, no shuffling; Cp is for 100 ms of packet time.
    near(shown["input_bw"], 1000000, "input_bw")
    near(shown["feedback"], 3600000, "feedback")
    assert abs(shown["cp"] - 36000000) < 36, shown["cp"]
    time.sleep(0.1)
    # There is one more interval, of 20 ms, without packets.
    expect(wire.stats()["intervals"], 2, "intervals")
    time.sleep(10)
    expect(wire.stats()["intervals"], 2, "intervals, idle")
    wire.put(frame(*V4(header())))
    time.sleep(0.05)
    expect(wire.stats()["intervals"], 3, "intervals, after traffic came back")


HELD = "parent 10:1 handle 20: tbf rate 8bit burst 2000 limit 100000"
TIMERS = ("sxcp_ctl_expired", "sxcp_queue_expired")
PORTS = 100


def held_queue_rests(wire):
    """Around a child that holds its packets for hours, both timers stop within 16 periods."""
    wire.qdisc(f"{PORT} min_interval 10us max_interval 10us allowed_queue 10us", HELD)

    def put():
        for _ in range(8):
            wire.put(frame(*V4(header(rtt=1000, delta=0))))

    for timer in TIMERS:
        # An arrival starts both: 16 periods each, and one more of the control interval.
        count = expiries(timer, lambda: (put(), time.sleep(1)))
        assert 16 <= count <= 40, f"{timer}: {count} expiries in a second with one burst"
        expect(expiries(timer, lambda: time.sleep(1)), 0, f"{timer}: expiries without a packet")
    before = wire.stats()
    time.sleep(10)
    expect(wire.stats(), before, "statistics")
    sh("tc qdisc del dev va root")


def periods_of(wire, wait, more=""):
    """8 packets are held for a time, then one more arrives. Return the port's values at each half
    interval of 100 ms, from a quarter of one on."""
    wire.qdisc(f"{PORT} min_interval 100ms max_interval 100ms allowed_queue 100ms {more}", HELD)
    for _ in range(9):
        wire.put(frame(*V4(header(rtt=100000, delta=0))))
    time.sleep(wait)
    wire.put(frame(*V4(header(rtt=100000, delta=0))))
    seen = []
    time.sleep(0.025)
    for _ in range(6):
        shown = wire.stats()
        seen.append([shown[n] for n in ("feedback", "input_bw", "persistent_queue", "residue_pos",
                                        "residue_neg")])
        time.sleep(0.05)
    wire.clear()
    return seen


def time_goes_on_while_timers_rest(wire):
    """After the timers have rested for 15 minutes, the values are as after 1.1 s without a rest."""
    for more in ("", "share"):
        # 11 intervals: the packet arrives at the start of the next one, as after a rest.
        short, long = periods_of(wire, 1.101, more), periods_of(wire, 901.125, more)
        # The timer's latency, some ns per interval, moves the time but not the interval.
        for a, b in zip(short, long):
            for got, want in zip(b, a):
                assert abs(got - want) <= abs(want) / 10**5 + 1, (more, short, long)
        expect(short[0][1:3], [0, 7 * LEN], "load and queue while they stand")
        near(short[2][1], LEN * 10, "load of the interval with a packet")


def departures_end_the_rest(wire):
    """One frame per second, intervals of 10 ms: values follow departures; timers rest between."""
    wire.qdisc(f"{PORT} min_interval 10ms max_interval 10ms allowed_queue 10ms",
               "parent 10:1 handle 20: tbf rate 8kbit burst 1000 limit 100000")
    for _ in range(12):
        wire.put(frame(*V4(header(rtt=10000, delta=0))))
    time.sleep(1.05)
    for held in range(10, 5, -1):
        time.sleep(0.25)
        shown = wire.stats()
        expect((shown["qlen"], shown["persistent_queue"]), (held, held * LEN), "queue after a departure")
        # b is 0.226274, and avg_rtt is 10 ms.
        near(shown["feedback"], 0.4 * RATE - 0.226274 * held * LEN * 100, "feedback")
        for timer in TIMERS:
            expect(expiries(timer, lambda: time.sleep(0.3)), 0, f"{timer}: expiries between departures")
        time.sleep(0.15)
    wire.clear()


def emptied_while_it_rests(wire):
    """The child drops all its packets while the timers rest: the port is like an idle one."""
    wire.qdisc(ROOT, HELD)
    for _ in range(8):
        wire.put(frame(*V4(header(rtt=1000, delta=0))))
    time.sleep(10)
    expect(wire.stats()["qlen"], 6, "held")
    sh("tc qdisc replace dev va parent 10:1 handle 30: bfifo limit 1mb")
    wire.empty()
    expect(wire.stats()["persistent_queue"], 6 * LEN, "before the next packet")
    wire.put(frame(*V4(header(delta=0))))
    expect(wire.stats()["persistent_queue"], 0, "persistent queue")
    expect(wire.stats()["residue_pos"], 0.4 * RATE, "residue_pos")


def containers_have_slow_timers(_wire):
    """In a user namespace, all three times must be 1 ms at least."""
    said = in_container("""
        for w in 'min_interval 999us' 'min_interval 10us max_interval 10us' 'allowed_queue 999us'; do
            tc qdisc add dev va root handle 1: xcp rate 1gbit $w && echo taken: $w
        done
        tc qdisc add dev va root handle 1: xcp rate 1gbit min_interval 1ms max_interval 1ms \
            allowed_queue 1ms && echo slow
        tc qdisc change dev va root handle 1: xcp allowed_queue 10us && echo taken later
        tc qdisc change dev va root handle 1: xcp rate 2gbit && echo a rate""")
    expect([line for line in said.splitlines() if not line.startswith("Error: ")],
           ["slow", "a rate"], "in a container")
    expect(said.count("must be 1000 us at least"), 4, "refusals")
    said = by_host_in_container(["tc qdisc add dev va root handle 1: xcp rate 1gbit allowed_queue 999us"])
    assert "must be 1000 us at least" in said, said


def hundred_ports_rest(_wire):
    """The shortest times that a container may set, on a hundred ports that hold packets for hours:
    two timers each, a millisecond apart, until 16 periods after the last packet.
    """
    sent_ns, first, second = frames.expiries_of_ports(
        PORTS, (f"{PORT} min_interval 1ms max_interval 1ms allowed_queue 1ms", HELD),
        frame(*V4(header(rtt=1000, delta=0))), 8, TIMERS)
    assert 32 * PORTS <= len(first) <= 40 * PORTS, f"{len(first)} expiries after one burst"
    most = frames.most_in_1_ms(first)
    assert most <= 2 * PORTS, f"{most} expiries in 1 ms"
    last_ms = (first[-1] - sent_ns) / 10**6
    assert last_ms <= 18, f"the last expiry is {last_ms:.3f} ms after the last packet"
    print(f"# {PORTS} ports: {len(first)} expiries, at most {most} in 1 ms, until {last_ms:.3f} ms")
    expect(second, [], "expiries without a packet")


def queue_persists(wire):
    """tbf holds packets: after 2 ms, the minimum queue is the persistent queue."""
    wire.qdisc("root handle 1: tbf rate 8mbit burst 1100 limit 100mb",
               f"parent 1:1 handle 10: xcp rate {RATE * 8}bit overhead 24")
    for _ in range(50):
        wire.put(frame(*V4(header(rtt=1000, delta=0))))
    time.sleep(0.0065)
    # A frame takes 1 ms and has 1024 bytes on the link; two periods of 2 ms are over.
    queue = wire.stats()["persistent_queue"]
    assert 43 * 1024 <= queue <= 47 * 1024 and queue % 1024 == 0, queue
    assert wire.stats()["feedback"] < 0, wire.stats()["feedback"]
    expect(len(wire.arrived()), 50, "arrived")
    time.sleep(1)
    expect(wire.stats()["persistent_queue"], 0, "persistent queue, drained")
    wire.empty()


def below_a_shaper(wire):
    """tbf peeks long before it dequeues: headers are written when the frames leave."""
    wire.qdisc("root handle 1: tbf rate 8mbit burst 1100 limit 100mb",
               f"parent 1:1 handle 10: xcp rate {RATE * 8}bit")
    for _ in range(20):
        wire.put(frame(*V4(header())))
    # The first frame left and was reduced; the second waits for 1 ms at the head.
    expect(wire.stats()["reduced"], 1, "reduced at once")
    expect(len(wire.arrived()), 20, "arrived")
    expect(wire.stats()["reduced"], 20, "reduced in the end")
    wire.empty()


def around_another(wire):
    """A grafted child drops packets, and all are accounted for."""
    wire.qdisc("root handle 1: tbf rate 8mbit burst 1100 limit 100mb",
               f"parent 1:1 handle 10: xcp rate {RATE * 8}bit",
               "parent 10:1 handle 20: wred limit 5000")
    for _ in range(20):
        try:
            wire.put(frame(*V4(header())))
        except OSError:
            pass
    expect(wire.stats()["micro"], 20, "arrivals")
    expect(len(wire.arrived()), 6, "arrived")
    expect_stats(wire, micro=20, reduced=6)
    wire.empty()


def change_in_the_stream(wire):
    wire.qdisc("root handle 1: tbf rate 8mbit burst 1100 limit 100mb",
               f"parent 1:1 handle 10: xcp rate {RATE * 8}bit")
    for turn in range(60):
        for _ in range(7):
            wire.put(frame(*V4(header())))
        words = ("rate 1gbit", "overhead 24", "min_interval 10us", "protocol 254", "protocol 63",
                 "min_interval 10ms max_interval 10ms")[turn % 6]
        sh(f"tc qdisc change dev va parent 1:1 handle 10: xcp {words} max_interval 1s"
           .replace("max_interval 10ms max_interval 1s", "max_interval 10ms"))
        time.sleep(0.003)
    expect(len(wire.arrived()), 420, "arrived")
    wire.empty()


def down_and_up(wire):
    wire.qdisc("root handle 1: tbf rate 8mbit burst 1100 limit 100mb",
               f"parent 1:1 handle 10: xcp rate {RATE * 8}bit")
    for _ in range(20):
        for _ in range(20):
            wire.put(frame(*V4(header())))
        time.sleep(0.0015)
        sh("ip link set dev va down")
        wire.empty()
        expect(wire.stats()["residue_pos"], 0.4 * RATE, "residue_pos of a new port")
        sh("ip link set dev va up; sleep 0.01")
        wire.put(frame(*V4(header())))
    time.sleep(2)
    wire.empty()


def speed_of_the_device(wire):
    """The speed of the device: veth reports 10 Gbit/s."""
    wire.qdisc("root handle 10: xcp")
    expect(wire.stats()["capacity"], 1250000000, "capacity")


def gso_packet_is_ten(wire):
    """A GSO packet is ten packets of 1100 bytes on the link, of a flow of 11 bytes/ms."""
    wire.qdisc(f"{ROOT} overhead 26")
    tcp = struct.pack("!HHIIBBHHH", 1, 2, 0, 0, 0x50, 0x10, 1000, 0, 0)
    _, ip = ipv4(header(throughput=11) + tcp + bytes(10 * 1000))
    # The checksum starts at TCP; segments have 1000 bytes, headers 74.
    wire.put(struct.pack("=BBHHHH", 1, 1, 74, 1000, 54, 16) + frame(ETH_P_IP, ip))
    # 100 ms each, so ten empty the pool. Protocol 63 cannot be segmented, so the device drops it.
    expect_stats(wire, micro=10, reduced=10)
    near(wire.stats()["residue_pos"], 0, "residue_pos")
    wire.empty()


SLOW = "root handle 1: tbf rate 8mbit burst 1100 limit 100mb"
SHARE = f"parent 1:1 handle 10: xcp rate {RATE * 8}bit share"
PLAIN = frame(*ipv4(bytes(LEN - 34), UDP))


def kinds(frames):
    """Return a letter for each frame: x for XCP, o for others."""
    return "".join("x" if f[23] == XCP else "o" for f in frames)


def numbered(data, number):
    return data[:-2] + struct.pack("!H", number)


def shared_by_turns(wire):
    """With equal weights and a shaper that peeks, both kinds alternate, in any order of arrival."""
    # The second packet was already peeked at, so it left although XCP's had arrived. XCP is then
    # two packets behind, and is next when both are equal.
    wire.qdisc(SLOW, SHARE)
    for _ in range(20):
        wire.put(PLAIN)
    for _ in range(20):
        wire.put(frame(*V4(header(fmt=MINIMAL))))
    order = kinds(wire.arrived())
    expect(order, "oo" + "xxx" + "ox" * 17 + "o", "order")
    sent = [wire.stats()[f"share_{n}"]["sent"] for n in ("xcp", "other")]
    expect(sent, [20 * LEN] * 2, "sent")
    wire.empty()


def share_of_one_alone(wire):
    """At 1 ms per frame, one kind alone loses nothing; a kind that returns gets no extra share."""
    wire.qdisc(SLOW, SHARE)
    for data in (PLAIN, frame(*V4(header(fmt=MINIMAL)))):
        for _ in range(50):
            wire.put(data)
        time.sleep(0.0495)
        expect(wire.stats()["qlen"], 0, "still queued")
    for _ in range(10):
        wire.put(frame(*V4(header(fmt=MINIMAL))))
        wire.put(PLAIN)
    order = kinds(wire.arrived())
    expect(order[:100], "o" * 50 + "x" * 50, "alone")
    assert "xxx" not in order[100:] and "ooo" not in order[100:], order[100:]
    wire.empty()


def share_counts_xcp_only(wire):
    """With `share`, the input counts XCP only: 10 of 20 frames in the first interval of 1 ms."""
    wire.qdisc(f"{PORT} share")
    for _ in range(10):
        wire.put(frame(*V4(header(rtt=1000))))
        wire.put(PLAIN)
    wire.put(frame(*V4(header(version=2))))
    time.sleep(0.0012)
    shown = wire.stats()
    # 1 ms, plus some ns until the timer runs.
    assert 0 <= 10 * LEN * 1000 - shown["input_bw"] < 1000, shown["input_bw"]
    # Both need more than their half, 5 frames, so the weight moved by 10 % of the difference
    # between flows; the other kind leaves no unused share.
    weight = shown["share_xcp"]["weight"]
    assert 0.5 < weight <= 0.6001, weight
    assert abs(shown["share_xcp"]["capacity"] - weight * RATE) < RATE / 1e5, shown["share_xcp"]
    # Packets of 100 ms in an interval of 1 ms, each of a flow of 10 bytes/ms
    expect(shown["share_xcp"]["flow"], 10000, "XCP's flow")
    expect([shown["share_xcp"]["sent"], shown["share_other"]["sent"]], [10 * LEN, 11 * LEN],
           "sent")
    time.sleep(0.003)
    expect(wire.stats()["share_xcp"]["capacity"], RATE, "of a port without others")
    wire.empty()


def share_sees_losses(wire, child):
    """The other queue, four frames long, drops arriving or queued packets."""
    wire.qdisc(SLOW, SHARE, f"parent 10:2 handle 20: {child}")
    for _ in range(40):
        wire.put(frame(*V4(header(rtt=1000))))
        try:
            wire.put(PLAIN)
        except OSError:
            pass
    time.sleep(0.0015)
    # One flow is known, and one of its losses per RTT counts. 40 packets arrived.
    loss = wire.stats()["share_other"]["loss"]
    assert abs(loss - 1 / 40) < 1e-6, loss
    order = kinds(wire.arrived())
    expect(order.count("x"), 40, "of XCP")
    expect(order.count("o"), 4, "of others")
    wire.empty()


def share_sees_marks(wire):
    """wred marks at once; packets that arrive marked do not count."""
    wire.qdisc(SLOW, SHARE, "parent 10:2 handle 20: wred limit 100000 ect min 0 max 0 prob 1")
    for tos in (2, 3, 3, 2, 2):
        ip = bytearray(PLAIN)
        ip[15] = tos
        ip[24:26] = b"\0\0"
        ip[24:26] = struct.pack("!H", checksum(bytes(ip[14:34])))
        wire.put(bytes(ip))
    got = wire.arrived()
    expect(sum(f[15] & 3 == 3 for f in got), 5, "marked")
    shown = wire.stats()["share_other"]
    assert 0.1 < shown["loss"] <= 1, shown
    wire.empty()


def share_changes_in_the_stream(wire):
    """Switch to two queues and back under load: nothing is lost, and each kind stays in order.

    Each turn has 12 frames, of which 8 wait at the change; all leave before the next turn.
    """
    wire.qdisc(SLOW, SHARE.replace("share", ""))
    put = 0
    for turn in range(40):
        for _ in range(4):
            wire.put(numbered(frame(*V4(header())), put))
            wire.put(numbered(PLAIN, put))
            put += 1
        sh("tc qdisc change dev va parent 1:1 handle 10: xcp "
           f"{'noshare' if turn % 2 else 'share'}")
        for _ in range(2):
            wire.put(numbered(frame(*V4(header())), put))
            wire.put(numbered(PLAIN, put))
            put += 1
        time.sleep(0.0125)
    got = wire.arrived()
    expect(len(got), 2 * put, "arrived")
    for kind in "xo":
        numbers = [struct.unpack("!H", f[-2:])[0] for f in got if kinds([f]) == kind]
        expect(numbers, list(range(put)), f"order of {kind}")
    wire.empty()


def share_grafts_in_the_stream(wire):
    """A child that is replaced drops its packets, which is not congestion."""
    wire.qdisc(SLOW, SHARE)
    for turn in range(6):
        for _ in range(20):
            wire.put(PLAIN)
            wire.put(frame(*V4(header(rtt=1000, delta=0))))
        time.sleep(0.0035)
        sh(f"tc qdisc replace dev va parent 10:{turn % 2 + 1} handle {20 + turn}: bfifo limit 1mb")
        time.sleep(0.0035)
    # Without any loss, one of the packets in the mean counts as lost.
    assert wire.stats()["share_other"]["loss"] < 0.06, wire.stats()["share_other"]
    wire.arrived()
    wire.empty()
    sh("ip link set dev va down; ip link set dev va up; sleep 0.01")
    for _ in range(20):
        wire.put(PLAIN)
    sh("ip link set dev va down")
    wire.empty()
    sh("ip link set dev va up")


def flooded_clones_differ(wire):
    """A bridge floods clones to two ports: the port with xcp changes its own copy only."""
    data = frame(*V4(header()))
    deltas = [struct.unpack_from("!i", got, where(data))[0] for got in flood(wire, ROOT, data)]
    near(deltas[0], DUE, "with xcp")
    expect(deltas[1], MOST, "without")


def main():
    checks = [(f"lowered: {row[0]}", lambda wire, r=row: lowered(wire, *r[1:]), ())
              for row in LOWERED]
    checks += [(f"untouched: {row[0]}", lambda wire, r=row: untouched(wire, *r[1:]), ())
               for row in UNTOUCHED]
    for check in (pools_follow_the_draft, share_of_the_limited,
                  one_packet_weighs_one_flow, forged_interval_ends, intervals_end_and_stop,
                  held_queue_rests, time_goes_on_while_timers_rest,
                  departures_end_the_rest, emptied_while_it_rests,
                  containers_have_slow_timers, hundred_ports_rest, queue_persists, below_a_shaper,
                  around_another, change_in_the_stream,
                  down_and_up, speed_of_the_device, flooded_clones_differ,
                  shared_by_turns, share_of_one_alone, share_counts_xcp_only, share_sees_marks,
                  share_changes_in_the_stream, share_grafts_in_the_stream):
        checks.append((check.__name__.replace("_", " "), check, ()))
    for child in ("bfifo limit 4500", "pfifo limit 4", "pfifo_head_drop limit 4"):
        checks.append((f"share sees losses of {child}",
                       lambda wire, c=child: share_sees_losses(wire, c), ()))
    checks.append(("GSO packet is ten", gso_packet_is_ten, (PACKET_VNET_HDR,)))
    return run_checks("xcp", checks)


if __name__ == "__main__":
    sys.exit(main())
