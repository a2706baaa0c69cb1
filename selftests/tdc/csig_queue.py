#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Test sch_csig frame by frame, in virtual time; prints TAP.

    sender --va [csig]========vb-- receiver

Sending takes no virtual time, so delays are known to the ns. Frames of a raw socket have the
tag's EtherType as their protocol, like those of a bridge. Behind another csig they have the
EtherType behind the tag, like those of one of our hosts.
"""
import errno
import random
import socket
import struct
import subprocess
import sys
import time

import frames
import int_queue
from frames import (ETH_P_IP, PACKET_VNET_HDR, TCP, UDP, checksum, expect, flood,
                    run_checks, sh, traced)

COMPACT, EXPANDED = 0x88b5, 0x88b6
ABW, ABW_C, PD = 0, 1, 2
Q, AD, QINQ = 0x8100, 0x88a8, 0x9100
ETH_P_ARP, ETH_P_LLDP, ETH_P_MPLS, ETH_P_MACSEC = 0x0806, 0x88cc, 0x8847, 0x88e5
LM = {COMPACT: 0x2a, EXPANDED: 0x1234}
LMS = f"lm all compact {LM[COMPACT]} lm all expanded {LM[EXPANDED]}"
ROOT = f"root handle 10: csig rate 10gbit {LMS}"
# An idle port of 10 Gbit/s: 8192000 kbit <= ABW < 12288000, 786432 ppm <= ABW/C < 1048576.
OWN = {COMPACT: {ABW: 17, ABW_C: 30}, EXPANDED: {ABW: 10**7 // 8000, ABW_C: 10**6}}
MOST = {COMPACT: 31, EXPANDED: 2**20 - 1}
NEEDS_CSUM, GSO_TCPV4 = 1, 1
# 8 Mbit/s: a frame of 1000 bytes takes 1 ms.
SHAPER = "root handle 1: tbf rate 8mbit burst 1100 limit 100mb"
BELOW = f"parent 1:1 handle 10: csig rate 10gbit {LMS}"
COUNTERS = ("unsupported", "stripped", "fenced", "untimed", "unwritable")


def tag(tpid, kind, value=None, lm=0, reserved=0):
    if value is None:
        value = 0 if kind == PD else MOST[tpid]
    if tpid == COMPACT:
        return struct.pack("!HH", tpid, kind << 13 | reserved << 12 | value << 7 | lm)
    return struct.pack("!HHI", tpid, lm, kind << 28 | value << 8 | reserved)


def read(data, at=12):
    """Return (type, value, locator, reserved) of the tag at an offset."""
    tpid, first = struct.unpack_from("!HH", data, at)
    if tpid == COMPACT:
        return first >> 13, first >> 7 & 31, first & 127, first >> 12 & 1
    assert tpid == EXPANDED, hex(tpid)
    second, = struct.unpack_from("!I", data, at + 4)
    return second >> 28, second >> 8 & 0xfffff, first, second & 255


def frame(middle, kind, payload):
    """Return a frame; middle: the tags between the source address and the EtherType."""
    return b"\xff" * 6 + b"\x02" + b"\0" * 5 + middle + struct.pack("!H", kind) + payload


def vlans(*tpids):
    return b"".join(struct.pack("!HH", tpid, 5) for tpid in tpids)


def received(data):
    """Return the frame as a packet socket receives it: without the outer VLAN tag."""
    outer, = struct.unpack_from("!H", data, 12)
    return data[:12] + data[16:] if outer in (Q, AD) and len(data) >= 18 else data


def filler(size):
    return bytes(i * 7 & 0xff for i in range(size))


def ip(version=4, size=100, protocol=200, **more):
    return (frames.ipv4 if version == 4 else frames.ipv6)(filler(size), protocol, **more)


def counters(wire):
    """Return all counters by name, except that of bytes."""
    shown = wire.stats()
    return {**{name: shown[name] for name in COUNTERS}, **shown["tagged"], **shown["updated"],
            **shown["malformed"]}


def put(wire, data):
    """Send a frame; the qdisc may report that it drops it."""
    try:
        wire.put(data)
    except OSError as error:
        if error.errno != errno.ENOBUFS:
            raise


def each_row(root, rows):
    """Return a check of rows on one qdisc: (name, frame, frame that arrives or None, counters)."""
    def check(wire):
        wire.qdisc(root)
        before, total = counters(wire), {}
        for _, data, _, counted in rows:
            put(wire, data)
            for name, value in counted.items():
                total[name] = total.get(name, 0) + value
        got = wire.arrived()
        due = [(name, received(want)) for name, _, want, _ in rows if want is not None]
        wrong = [f"{name}: got {data.hex()}, expected {want.hex()}"
                 for data, (name, want) in zip(got, due) if data != want]
        assert not wrong, "; ".join(wrong[:5])
        expect(len(got), len(due), "arrived")
        after = counters(wire)
        expect({k: v - before[k] for k, v in after.items() if v != before[k]}, total, "statistics")
        wire.empty()
    return check


FORM = {COMPACT: "compact", EXPANDED: "expanded"}
SIGNAL = {ABW: "abw", ABW_C: "abw_c", PD: "pd"}
IP4, IP6 = ip(4), ip(6)
STACKS = {"no VLAN": b"", "802.1Q": vlans(Q), "802.1ad": vlans(AD, Q), "three": vlans(AD, Q, Q),
          "9100": vlans(QINQ, Q), "eight": vlans(*[Q] * 8)}
INNER = {"IPv4": IP4, "IPv6": IP6, "ARP": (ETH_P_ARP, filler(28)), "LLDP": (ETH_P_LLDP, filler(60)),
         "MPLS": (ETH_P_MPLS, filler(60)), "802.3": (60, filler(60)), "nothing": (ETH_P_IP, b"")}


def updated_row(name, stack, tpid, kind, inner, **more):
    return (name, frame(stack + tag(tpid, kind, **more), *inner),
            frame(stack + tag(tpid, kind, OWN[tpid][kind], LM[tpid], more.get("reserved", 0)), *inner),
            {FORM[tpid]: 1, SIGNAL[kind]: 1})


def kept_row(name, middle, counted, inner=IP4):
    data = frame(middle, *inner)
    return name, data, data, counted


def updated_rows():
    for tpid in (COMPACT, EXPANDED):
        for kind in (ABW, ABW_C):
            for name, stack in STACKS.items():
                yield updated_row(f"{tpid:x} {kind} {name}", stack, tpid, kind, IP4)
            for name, inner in INNER.items():
                yield updated_row(f"{tpid:x} {kind} {name}", b"", tpid, kind, inner)
            own = OWN[tpid][kind]
            yield updated_row("one above", b"", tpid, kind, IP6, value=own + 1, lm=1,
                              reserved=1 if tpid == COMPACT else 0xa5)


def kept_rows():
    for tpid in (COMPACT, EXPANDED):
        form = FORM[tpid]
        for kind in (ABW, ABW_C):
            own = OWN[tpid][kind]
            for name, value in (("equal", own), ("below", own - 1), ("none", 0)):
                yield kept_row(f"{form} {kind} {name}", tag(tpid, kind, value, 3, 1), {form: 1})
        yield kept_row(f"{form} no delay", tag(tpid, PD, 0, 9), {form: 1})
        yield kept_row(f"{form} delay elsewhere", tag(tpid, PD, MOST[tpid], 9), {form: 1})
        for kind in range(3, 8 if tpid == COMPACT else 16):
            yield kept_row(f"{form} type {kind}", tag(tpid, kind, 5, 1, 1),
                           {form: 1, "unsupported": 1})
    yield kept_row("no tag", b"", {})
    yield kept_row("VLAN only", vlans(AD, Q), {})
    yield "payload", frame(b"", ETH_P_IP, tag(COMPACT, 0)), frame(b"", ETH_P_IP, tag(COMPACT, 0)), {}
    yield kept_row("behind MACsec's tag", struct.pack("!HHIH", ETH_P_MACSEC, 0x2000, 1, 0) +
                   tag(COMPACT, ABW), {})


def malformed_rows(strips=False):
    """Tags that another tag follows, and tags that are truncated at every byte."""
    for name, middle, count in (("tag on tag", tag(COMPACT, ABW) + tag(COMPACT, ABW), 2),
                                ("both", tag(EXPANDED, ABW) + tag(COMPACT, PD), 2),
                                ("three", tag(COMPACT, 7) * 3, 3),
                                ("VLAN behind", tag(COMPACT, ABW) + vlans(Q), 1),
                                ("VLAN between", vlans(Q) + tag(COMPACT, 1) + vlans(Q) +
                                 tag(EXPANDED, ABW), 2)):
        form = FORM[EXPANDED if name == "both" else COMPACT]
        counted = {form: 1, "order": 1, **({"stripped": count} if strips else {})}
        bare = {"VLAN behind": vlans(Q), "VLAN between": vlans(Q, Q)}.get(name, b"")
        data = frame(middle, *IP4)
        yield name, data, frame(bare, *IP4) if strips else data, counted
    for tpid, whole in ((COMPACT, 4), (EXPANDED, 8)):
        for cut in range(2, whole + 2):
            data = frame(tag(tpid, ABW), ETH_P_IP, b"")[:12 + cut]
            yield (f"{tpid:x} cut at {cut}", data, None if strips else data,
                   {FORM[tpid]: 1, "truncated": 1, **({"fenced": 1} if strips else {})})


def stripped_rows():
    for tpid in (COMPACT, EXPANDED):
        for kind in (ABW, PD, 7):
            for name, stack in STACKS.items():
                yield (f"{tpid:x} {kind} {name}", frame(stack + tag(tpid, kind), *IP4),
                       frame(stack, *IP4), {FORM[tpid]: 1, "stripped": 1})
            for name, inner in INNER.items():
                yield (f"{tpid:x} {kind} {name}", frame(tag(tpid, kind), *inner),
                       frame(b"", *inner), {FORM[tpid]: 1, "stripped": 1})
    yield kept_row("no tag", vlans(Q), {})


def unsupported_rows(on, strips):
    """on: signal types that the port supports."""
    for tpid in (COMPACT, EXPANDED):
        for kind in (ABW, ABW_C, 5):
            if kind in on:
                yield updated_row(f"{tpid:x} {kind}", b"", tpid, kind, IP4)
            elif strips:
                yield (f"{tpid:x} {kind}", frame(tag(tpid, kind), *IP4), frame(b"", *IP4),
                       {FORM[tpid]: 1, "unsupported": 1, "stripped": 1})
            else:
                yield kept_row(f"{tpid:x} {kind}", tag(tpid, kind), {FORM[tpid]: 1, "unsupported": 1})


def passed_rows():
    for tpid in (COMPACT, EXPANDED):
        for kind in (ABW, PD, 7):
            yield kept_row(f"{tpid:x} {kind}", vlans(Q) + tag(tpid, kind), {FORM[tpid]: 1})


def queues_see_ip(wire):
    """A queue marks all ECN-capable packets and drops the others: it marks tagged frames."""
    wire.qdisc(ROOT, "parent 10:1 handle 20: wred limit 1mb ect min 0 max 0 nect min 0 max 0")
    for stack in STACKS.values():
        for tpid in (COMPACT, EXPANDED):
            for version, at in ((4, 1), (6, 1)):
                data = frame(stack + tag(tpid, ABW), *ip(version, dsfield=2))
                got = received(wire.pass_one(data))
                want = received(frame(stack + tag(tpid, ABW, OWN[tpid][ABW], LM[tpid]),
                                      *ip(version, dsfield=3)))
                expect(got[-120:], want[-120:], f"CE, IPv{version}, at {at}")
    wire.empty()


def other_form(wire):
    """The inner of two qdiscs sees frames like those of our hosts: it updates and strips tags."""
    wire.qdisc("root handle 5: csig rate 10gbit mode pass", ROOT.replace("root", "parent 5:1"))
    for tpid in (COMPACT, EXPANDED):
        for stack in STACKS.values():
            got = wire.pass_one(frame(stack + tag(tpid, ABW), *IP6))
            expect(got, received(frame(stack + tag(tpid, ABW, OWN[tpid][ABW], LM[tpid]), *IP6)), "inner")
    sh("tc qdisc change dev va parent 5:1 handle 10: csig mode strip")
    for tpid in (COMPACT, EXPANDED):
        for stack in STACKS.values():
            expect(wire.pass_one(frame(stack + tag(tpid, ABW), *IP6)),
                   received(frame(stack, *IP6)), "stripped")
    wire.empty()


def tagged_1000(tpid, kind, stack=b""):
    data = frame(stack + tag(tpid, kind), *IP4)
    return data + bytes(1000 - len(data))


def delay_of_each(wire):
    """Frames that arrive at one time wait for those before them, 1 ms each."""
    wire.qdisc(SHAPER, BELOW)
    off_ns = 0
    for tpid in (EXPANDED, COMPACT):
        for _ in range(30):
            wire.put(tagged_1000(tpid, PD))
        waits = [read(data)[1] for data in wire.arrived()]
        expect(len(waits), 30, "arrived")
        if tpid == COMPACT:
            # Default edges: powers of two and halves between; the last bucket starts at 20.48 ms.
            edges_ns = [625 * 2 ** n * half // 2 for n in range(16) for half in (2, 3)][:31]
            expect(waits[6:], [sum(number * 10**6 - 10**5 >= edge for edge in edges_ns)
                               for number in range(6, 30)], "long delays")
            continue
        # tbf's bucket has 100 bytes, 100 us, more than a frame.
        for number, wait in enumerate(waits[1:], 1):
            off_ns = max(off_ns, abs(wait * 128 - number * 10**6 + 10**5))
        expect(waits[0], 0, "the first")
    print(f"# the delay is off by at most {off_ns} ns of a packet time of 1000000 ns")
    assert off_ns < 1000, f"off by {off_ns} ns"
    longest = wire.stats()["longest_delay"]
    assert abs(longest - 289 * 10**5) < 1000, longest
    wire.empty()


def delay_beside_int(wire):
    """csig and int, one around the other, both know the arrival time of a packet."""
    of_int = "int rate 10mbit sojourn"
    data = frame(tag(EXPANDED, PD), *frames.ipv4((int_queue.H + filler(1000))[:958], int_queue.INT))
    expect(len(data), 1000, "length")
    for outer, inner in ((f"csig rate 10gbit {LMS}", of_int), (of_int, f"csig rate 10gbit {LMS}")):
        wire.qdisc(SHAPER, f"parent 1:1 handle 10: {outer}", f"parent 10:1 handle 20: {inner}")
        for _ in range(20):
            wire.put(data)
        got = [(read(data)[1] * 128, int_queue.read(data, 42)[3][0][3]) for data in wire.arrived()]
        expect(len(got), 20, "arrived")
        for number, (waited_ns, queue_bytes) in enumerate(got[1:], 1):
            assert abs(waited_ns - number * 10**6 + 10**5) < 1000, got
            # 1250 bytes leave per ms.
            assert abs(queue_bytes - waited_ns * 1250 / 10**6) < 2, got
        expect([q["untimed"] for q in wire.shown() if "untimed" in q], [0, 0], "untimed")
        wire.empty()
        wire.clear()


def connection_tracking_below(wire):
    """A child's filters must not see conntrack state, since there is no conntrack here."""
    sh("modprobe act_ct")
    for hop in (f"csig rate 10gbit {LMS}", "int rate 10mbit sojourn"):
        wire.qdisc(f"root handle 10: {hop}", "parent 10:1 handle 20: prio")
        for state in ("+trk", "+trk+inv", "+trk+est"):
            sh(f"tc filter add dev va parent 20: protocol ip flower ct_state {state} action drop")
        sh("tc filter add dev va parent 20: protocol ip flower ct_state -trk classid 20:2")
        # The arrival time next to the packet: each bit of it is set at one of these times.
        sent = 0
        for _ in range(12):
            for tpid in (COMPACT, EXPANDED):
                wire.put(tagged_1000(tpid, PD))
                sent += 1
            time.sleep(0.0137)
        expect(len(wire.arrived()), sent, "arrived")
        expect(wire.stats_of("prio")["drops"], 0, "drops")
        wire.clear()


def half_used(wire):
    """A load of 8 of 16 Mbit/s: the final estimate of each estimator."""
    for words, least in (("raw", 0), ("ewma", 0), ("dre shift 3", 0)):
        wire.qdisc(f"root handle 10: csig rate 16mbit estimator {words} interval 20ms quantum abw 1kbit {LMS}")
        start = time.monotonic()
        for number in range(300):
            time.sleep(max(0, start + number / 1000 - time.monotonic()))
            wire.put(tagged_1000(EXPANDED, ABW))
        got = [read(data)[1] for data in wire.arrived()]
        expect(len(got), 300, "arrived")
        expect(got[0], 16000, "idle")
        # T is 20 packet times at 8 Mbit/s and 40 at 16 Mbit/s, so the error is at most 1/40.
        assert abs(got[-1] - 8000) <= 400, (words, got[-1])
        # After an idle interval, all bandwidth is available again.
        time.sleep(5)
        expect(read(wire.pass_one(tagged_1000(EXPANDED, ABW)))[1] >= 15900, True, words)
        shown = wire.stats()
        expect((shown["tx_bytes"], "measured" in shown), (301000, False), "tx_bytes, measured")
        sh("tc qdisc del dev va root")


def slow_port(wire):
    """A port of 8 Mbit/s that is configured as one of 80: no bandwidth is available while it is full. After a pause
    the configured rate counts again, and a rate that is set is right."""
    for words in ("raw", "ewma", "dre"):
        wire.qdisc(SHAPER, f"parent 1:1 handle 10: csig rate 80mbit estimator {words} quantum abw 1kbit {LMS}")
        for _ in range(300):
            wire.put(tagged_1000(EXPANDED, ABW))
        time.sleep(0.28)
        measured = wire.stats()["measured"]
        assert abs(measured - 10**6) <= 40000, (words, measured)
        got = [read(data)[1] for data in wire.arrived()]
        expect(len(got), 300, "arrived")
        expect(got[0], 80000, "idle")
        # One packet of an interval of 32 KB.
        assert max(got[100:]) <= 400, (words, got)
        time.sleep(5)
        expect(read(wire.pass_one(tagged_1000(EXPANDED, ABW)))[1] >= 79000, True, words)
        expect("measured" in wire.stats(), False, f"{words}: forgotten")
        for _ in range(100):
            wire.put(tagged_1000(EXPANDED, ABW))
        time.sleep(0.09)
        expect("measured" in wire.stats(), True, f"{words}: measured again")
        sh("tc qdisc change dev va parent 1:1 handle 10: csig rate 8mbit")
        expect("measured" in wire.stats(), False, f"{words}: the rate was set")
        expect(len(wire.arrived()), 100, "arrived")
        sh("tc qdisc del dev va root")


def trace_lines(event, run):
    return traced(f"sch_csig/{event}", run)


def idle_port_rests(wire):
    """While no packet leaves, no interval ends; the next packet ends all that have passed, which were empty."""
    def two():
        wire.put(tagged_1000(COMPACT, ABW))
        time.sleep(1)
        wire.put(tagged_1000(COMPACT, ABW))
    wire.qdisc("root handle 10: csig rate 8mbit interval 10ms")
    lines = trace_lines("csig_interval", two)
    expect(len(lines), 1, "intervals")
    assert "used_bytes_ps=0 available_bytes_ps=1000000" in lines[0], lines
    sh("tc qdisc del dev va root")


def held_queue(wire):
    """Around a child that holds its packets for hours, the port is idle, for tags and for tc."""
    for words in ("raw", "dre shift 4"):
        wire.qdisc(f"root handle 10: csig rate 8mbit interval 160us estimator {words} "
                   f"quantum abw 1kbit {LMS}",
                   "parent 10:1 handle 20: tbf rate 8bit burst 2000 limit 100000")
        for _ in range(10):
            wire.put(tagged_1000(EXPANDED, ABW))
        time.sleep(1)
        expect(wire.stats()["qlen"], 8, "held")
        expect(wire.stats()["available"], 1000000, "available")
        # All packets leave, the first one as from an idle port.
        sh("tc qdisc change dev va parent 10:1 handle 20: tbf rate 8mbit burst 2000 limit 100000")
        wire.put(tagged_1000(EXPANDED, ABW))
        time.sleep(1)
        got = [read(data)[1] for data in wire.arrived()]
        expect((len(got), got[2]), (11, 8000), "arrived, reported")
        wire.empty()
        wire.clear()


def trace_tells(wire):
    wire.qdisc(ROOT)
    lines = trace_lines("csig_update", lambda: wire.put(frame(tag(EXPANDED, ABW), *IP4)))
    expect(len(lines), 1, "events")
    assert (f"handle=10: form=2 type=0 value=1250 locator={LM[EXPANDED]} measured=10000000"
            in lines[0]), lines


def locator_of(wire, words, data, want):
    sh(f"tc qdisc replace dev va root handle 10: csig rate 100gbit {words}")
    expect(read(wire.pass_one(data))[2], want, words)


def locators(wire):
    """The fields of locators, by signal and by form."""
    parts = "stage 5 orientation 2 port_id 77 device_id 200"
    compact, expanded = tag(COMPACT, ABW), tag(EXPANDED, ABW_C)
    for version, ttl in ((4, 64), (6, 64)):
        inner = ip(version)
        locator_of(wire, f"{parts} lm abw compact capacity:4,stage:3", frame(compact, *inner), 9 << 3 | 5)
        locator_of(wire, f"{parts} lm abw compact ttl:7 lm pd compact 9", frame(compact, *inner), ttl)
        locator_of(wire, "lm abw compact ttl:3", frame(compact, *inner), 7)
        locator_of(wire, f"{parts} lm abw_c expanded device:8,ttl:8", frame(expanded, *inner), 200 << 8 | ttl)
        locator_of(wire, f"{parts} lm abw_c expanded orientation:2,port:10", frame(expanded, *inner),
                   2 << 10 | 77)
    mpls = (ETH_P_MPLS, struct.pack("!I", 16 << 12 | 1 << 8 | 33) + filler(40))
    locator_of(wire, "lm abw compact ttl:7", frame(compact, *mpls), 33)
    locator_of(wire, "lm abw compact ttl:7", frame(compact, ETH_P_ARP, filler(28)), 0)
    sh("tc qdisc del dev va root")


def other_tpids(wire):
    wire.qdisc(f"{ROOT} tpid_compact 0x9900 tpid_expanded 0xccdd")
    for tpid, now in ((COMPACT, 0x9900), (EXPANDED, 0xccdd)):
        data = frame(tag(tpid, ABW), *IP4)
        expect(wire.pass_one(data), data, "old TPID")
        wire.put(data[:12] + struct.pack("!H", now) + data[14:])
        got = wire.arrived()[0]
        expect(got[12:14], struct.pack("!H", now), "TPID")
        expect(read(data[:14] + got[14:])[1], OWN[tpid][ABW], "value")


def change_in_the_stream(wire):
    wire.qdisc(SHAPER, BELOW)
    words = ("rate 1gbit", "overhead 24 estimator dre interval 160us", "estimator ewma",
             "signals pd", "signals abw,abw_c,pd buckets abw appendix_a", "mode pass",
             "mode update limit 1mb", "mode update estimator raw interval 10us")
    for turn in range(80):
        for _ in range(7):
            wire.put(tagged_1000(COMPACT, turn % 3))
        sh(f"tc qdisc change dev va parent 1:1 handle 10: csig {words[turn % 8]}")
        time.sleep(0.003)
    expect(len(wire.arrived()), 560, "arrived")
    shown = wire.stats()
    assert sum(shown["updated"].values()) > 300, shown["updated"]
    expect(any(shown["malformed"].values()), False, "malformed")
    wire.empty()


def change_shows_in_the_next_tag(wire):
    """On an idle port, within one interval, no value computed before a change is written."""
    rows = (("rate 5001mbit", EXPANDED, ABW, 625, LM[EXPANDED]),
            ("quantum abw 7mbit", EXPANDED, ABW, 714, LM[EXPANDED]),
            ("quantum abw_c 0.0998%", EXPANDED, ABW_C, 1002, LM[EXPANDED]),
            ("buckets abw 1gbit,2gbit", COMPACT, ABW, 2, LM[COMPACT]),
            ("lm abw compact 5", COMPACT, ABW, 2, 5),
            ("lm abw compact capacity:4", COMPACT, ABW, 2, 0),
            ("rate 10gbit", COMPACT, ABW, 2, 5))
    wire.qdisc(f"root handle 10: csig rate 10001mbit interval 1s {LMS}")
    for words, tpid, kind, _, _ in rows:
        wire.put(frame(tag(tpid, kind), *IP4))
        sh(f"tc qdisc change dev va root handle 10: csig {words}")
        wire.put(frame(tag(tpid, kind), *IP4))
    got = [read(data) for data in wire.arrived()]
    expect(got[0], (ABW, 1250, LM[EXPANDED], 0), "first")
    expect(got[1::2], [(kind, value, lm, 0) for _, _, kind, value, lm in rows], "after each change")


def refused_change_leaves_all(wire):
    wire.qdisc(f"{ROOT} overhead 24 estimator dre interval 1ms")
    before = wire.stats()["options"]
    for words in ("stage 5 port_id 65536", "overhead 1 interval 9us", "estimator ewma shift 9",
                  "stage 9 lm all compact stage:3", "stage 9 shift 0", "tpid_compact 34998",
                  "stage 9 buckets abw 2gbit,1gbit", "stage 9 tpid_expanded 33024",
                  "signals pd limit 1", "rate 1bit"):
        done = subprocess.run(f"tc qdisc change dev va root csig {words}", shell=True,
                              capture_output=True, text=True, check=False)
        assert done.returncode, words
        expect(wire.stats()["options"], before, words)
    expect(read(wire.pass_one(frame(tag(COMPACT, ABW), *IP4)))[1:3], (17, LM[COMPACT]), "tag")


def down_and_up(wire):
    wire.qdisc(SHAPER, f"{BELOW} interval 100us")
    for _ in range(10):
        for _ in range(20):
            wire.put(tagged_1000(COMPACT, PD))
        time.sleep(0.0015)
        sh("ip link set dev va down")
        wire.empty()
        sh("ip link set dev va up; sleep 0.01")
        wire.put(tagged_1000(COMPACT, PD))
    time.sleep(1)
    wire.empty()


def flooded_clones_differ(wire):
    """A bridge floods clones to two ports: the port with csig changes its own copy only."""
    data = frame(tag(COMPACT, ABW), *IP4)
    got = flood(wire, ROOT, data)
    expect(read(got[0]), (ABW, 17, LM[COMPACT], 0), "with csig")
    expect(got[1], data, "without")
    got = flood(wire, ROOT + " mode strip", data)
    expect(got[0], frame(b"", *IP4), "stripped")
    expect(got[1], data, "without")


def pseudo_sum(length, protocol):
    return ~checksum(socket.inet_aton("192.0.2.1") + socket.inet_aton("192.0.2.2") +
                     struct.pack("!HH", protocol, length)) & 0xffff


def ethtool_csum(on):
    """Switch veth's checksum offload on or off."""
    import ctypes  # pylint: disable=import-outside-toplevel
    import fcntl  # pylint: disable=import-outside-toplevel
    held = ctypes.create_string_buffer(struct.pack("=II", 0x17, on))
    fcntl.ioctl(socket.socket(), 0x8946, struct.pack("16sP16x", b"va", ctypes.addressof(held)))


def checksum_is_the_devices(wire):
    """The checksum is left to a device that can compute it behind a tag, and computed otherwise."""
    payload = filler(100)
    for able in (0, 1):
        ethtool_csum(able)
        for words in ("", "mode strip"):
            wire.qdisc(f"{ROOT} {words}")
            udp = struct.pack("!HHHH", 1, 2, 8 + len(payload), pseudo_sum(8 + len(payload), UDP))
            data = frame(tag(COMPACT, ABW), *frames.ipv4(udp + payload, UDP))
            wire.put(struct.pack("=BBHHHH", NEEDS_CSUM, 0, 0, 0, 38, 6) + data)
            got = wire.arrived()[0]
            at = 34 if words else 38
            whole = struct.pack("!HH", UDP, len(got) - at)
            total = checksum(socket.inet_aton("192.0.2.1") + socket.inet_aton("192.0.2.2") + whole +
                             got[at:])
            if able:
                expect(got[at:], udp + payload, f"partial {words}")
            else:
                expect(total, 0, f"whole {words}")
            sh("tc qdisc del dev va root")


def super_frame(stack=b"", size=3000):
    """Return a TCP GSO packet of three segments, with a tag."""
    tcp = struct.pack("!HHIIBBHHH", 1, 2, 3, 4, 5 << 4, 0x10, 1000, pseudo_sum(20 + size, TCP), 0)
    data = frame(stack + tag(COMPACT, ABW), *frames.ipv4(tcp + filler(size), TCP))
    start = 18 + len(stack) + 20
    return struct.pack("=BBHHHH", NEEDS_CSUM, GSO_TCPV4, start + 20, 1000, start, 16) + data


def super_packet(wire):
    """A GSO packet of three counts as three, and has one tag."""
    wire.qdisc(f"{ROOT} overhead 24")
    wire.put(super_frame())
    got = wire.arrived()
    expect(len(got), 1, "arrived")
    expect(read(got[0]), (ABW, 17, LM[COMPACT], 0), "tag")
    shown = wire.stats()
    expect((shown["tagged"]["compact"], shown["updated"]["abw"]), (3, 3), "counted")
    expect(shown["tx_bytes"], 3 * (18 + 40 + 1000 + 24), "tx_bytes")


def super_packet_is_segmented(wire):
    """A child segments the GSO packet: each segment has the tag; on a stripping port, none has."""
    for words, at in (("", 18), ("mode strip", 14)):
        for stack in (b"", vlans(Q)):
            wire.qdisc(f"{ROOT} {words}", "parent 10:1 handle 20: tbf rate 1gbit burst 1200 limit 1mb")
            wire.put(super_frame(stack))
            got = wire.arrived()
            expect([len(data) for data in got], [at + 40 + 1000] * 3, "segments")
            expect(b"".join(data[at + 40:] for data in got), filler(3000), "payload")
            for data in got:
                expect(struct.unpack_from("!H", data, 12)[0], ETH_P_IP if words else COMPACT, "type")
                if not words:
                    expect(read(data)[:3], (ABW, 17, LM[COMPACT]), "tag")
            sh("tc qdisc del dev va root")


def random_frames(wire):
    """Random frames: only those are lost that a stripping port must not let pass."""
    rng = random.Random(7)
    pieces = [tag(COMPACT, ABW), tag(EXPANDED, PD), tag(COMPACT, 6), vlans(Q), vlans(AD),
              b"\x08\x00", b"\x00\x20", filler(20)]
    for words in ("", "mode strip", "unsupported strip signals abw"):
        wire.qdisc(f"{ROOT} {words}")
        for _ in range(1000):
            body = b"".join(rng.choice(pieces) for _ in range(rng.randrange(1, 9)))
            data = b"\xff" * 6 + b"\x02" + b"\0" * 5 + body[:rng.randrange(2, 90)]
            put(wire, data)
        got, shown = wire.arrived(), wire.stats()
        # veth drops frames that end within a VLAN tag.
        expect(shown["packets"] + shown["fenced"], 1000, words)
        if "mode strip" in words:
            for data in got:
                while data[12:14] in (b"\x81\x00", b"\x88\xa8"):
                    data = data[:12] + data[16:]
                assert data[12:14] not in (b"\x88\xb5", b"\x88\xb6"), data.hex()
            assert shown["fenced"] > 5 and shown["stripped"] > 300, shown
        sh("tc qdisc del dev va root")


def speed_of_the_device(wire):
    """The speed of the device: veth reports 10 Gbit/s."""
    wire.qdisc("root handle 10: csig lm abw compact capacity:4")
    expect(wire.stats()["port_rate"], 1250000000, "rate")
    expect(read(wire.pass_one(frame(tag(COMPACT, ABW), *IP4)))[1:3], (17, 5), "value, code")


def no_frames_no_tags(wire):
    sh("ip tuntap add dev tun9 mode tun")
    try:
        done = subprocess.run("tc qdisc add dev tun9 root csig rate 1gbit", shell=True,
                              capture_output=True, text=True, check=False)
        assert done.returncode and "the device has no Ethernet frames" in done.stderr, done.stderr
    finally:
        sh("ip link del dev tun9")
    wire.empty()


MACSEC = """
ip link add link va name ma type macsec port 1 encrypt on
ip link add link vb name mb type macsec port 1 encrypt on
ip macsec add ma tx sa 0 pn 1 on key 01 00112233445566778899aabbccddeeff
ip macsec add mb rx port 1 address $(cat /sys/class/net/va/address)
ip macsec add mb rx port 1 address $(cat /sys/class/net/va/address) sa 0 pn 1 on key 01 00112233445566778899aabbccddeeff
sysctl -qw net.ipv6.conf.ma.disable_ipv6=1 net.ipv6.conf.mb.disable_ipv6=1
ip link set dev ma up; ip link set dev mb up
"""


def macsec(wire):
    """The tag is inside MACsec: a port on the macsec device updates it, one below cannot see it."""
    sh(MACSEC)
    out = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    inp = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    try:
        sh("tc qdisc add dev ma " + ROOT)
        wire.qdisc(ROOT + " mode strip")
        out.bind(("ma", 0))
        inp.bind(("mb", 0))
        inp.settimeout(0.2)
        for stack in (b"", vlans(Q)):
            for tpid in (COMPACT, EXPANDED):
                out.send(frame(stack + tag(tpid, ABW), *IP4))
                expect(inp.recv(2000), received(frame(stack + tag(tpid, ABW, OWN[tpid][ABW], LM[tpid]),
                                                      *IP4)), "behind MACsec")
        expect([wire.stats()["tagged"], wire.stats()["stripped"]],
               [{"compact": 0, "expanded": 0}, 0], "below")
    finally:
        out.close()
        inp.close()
        sh("ip link del dev ma; ip link del dev mb")


def flood_frames():
    """Return one frame of each kind."""
    return [row[1] for rows in (updated_rows(), kept_rows(), malformed_rows()) for row in rows]


def main():
    rows = [("updated", ROOT, updated_rows()), ("kept", ROOT, kept_rows()),
            ("malformed", ROOT, malformed_rows()),
            ("stripped", f"{ROOT} mode strip", stripped_rows()),
            ("malformed, stripped", f"{ROOT} mode strip", malformed_rows(strips=True)),
            ("passed", f"{ROOT} mode pass", passed_rows()),
            ("unsupported, passed", f"{ROOT} signals abw_c", unsupported_rows((ABW_C,), False)),
            ("unsupported, stripped", f"{ROOT} signals abw unsupported strip",
             unsupported_rows((ABW,), True))]
    rows = [(name, root, list(group)) for name, root, group in rows]
    checks = [(f"{name}: {len(group)} frames", each_row(root, group), ()) for name, root, group in rows]
    for check in (queues_see_ip, other_form, delay_of_each, delay_beside_int, connection_tracking_below, half_used, slow_port, idle_port_rests,
                  held_queue, trace_tells, locators,
                  other_tpids, change_in_the_stream, change_shows_in_the_next_tag, refused_change_leaves_all, down_and_up,
                  flooded_clones_differ, random_frames, speed_of_the_device, no_frames_no_tags, macsec):
        checks.append((check.__name__.replace("_", " "), check, ()))
    for check in (checksum_is_the_devices, super_packet, super_packet_is_segmented):
        checks.append((check.__name__.replace("_", " "), check, (PACKET_VNET_HDR,)))
    return run_checks("csig", checks)


if __name__ == "__main__":
    sys.exit(main())
