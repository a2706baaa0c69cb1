#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Telemetry's carrier from end to end: streams are exact, answers come in the form
that was asked for, who does not know telemetry gets a connection without. Prints
TAP. Needs root and the path of int_drive.ko; all is in network namespaces of its own.

    a ---- [r-a] r [r-b] ---- b     two hosts and the router between them, veth pairs
"""
import os
import subprocess
import sys
import time

import hosts
from hosts import Stream, connect, run, sysctl, transfer, transfer_switching

# The debug kernel is slow.
SCALE = 10 if os.environ.get("HOPLAB_KERNEL") == "debug" else 1
MB = (1 << 20) // SCALE
CC = "int_drive"
RECORDS, SUMMARY, RATIO, WINDOW = range(4)
ANSWERS = {RECORDS: "records", SUMMARY: "summaries", RATIO: "ratios", WINDOW: "windows"}
KEY = "000102030405060708090a0b0c0d0e0f"

tap = hosts.Tap()


def counts(name):
    return hosts.counts(name, "int")


def since(name, before):
    return hosts.since(name, before, "int")


def drive(name, value=None):
    return hosts.drive(name, value, "int_drive")


def drive_reset():
    for name in ("opened", "refused", "closed", "silenced", "odd", "hops", "path_id", "flows",
                 "value", *ANSWERS.values()):
        drive(name, 0)


def answers():
    return {kind: drive(name) for kind, name in ANSWERS.items() if drive(name)}


def path(rate="1gbit", delay="50us", extra=""):
    """Two hops that speak, a's own port (switch 9) and the router's to b (switch 5),
    behind which the wire is narrow; the way back has the same delay and no hop."""
    # netem keeps the options that are not given.
    for dev in ("r-a", "r-b"):
        run(f"ip netns exec r tc qdisc del dev {dev} root", check=False)
    run("ip netns exec a tc qdisc replace dev a-r root handle 1: int rate 10gbit switch_id 9"
        " port_id 1")
    run(f"ip netns exec r tc qdisc replace dev r-b root handle 1: int rate {rate}"
        " switch_id 5 port_id 7")
    for dev, where in (("r-b", "parent 1:1 handle 10:"), ("r-a", "root handle 10:")):
        run(f"ip netns exec r tc qdisc replace dev {dev} {where} netem rate {rate}"
            f" delay {delay} limit 100000 {extra}")


HOPS, PATH_ID = 2, 9 ^ 5


def settle():
    """Wait until sockets are gone; in virtual time this is free."""
    time.sleep(1)


def one_way(version, total, meanwhile=None, **options):
    """A stream from a to b; (exact, counts of a, counts of b)."""
    drive_reset()
    before = [counts(end) for end in ("a", "b")]
    pair = connect(version, cc=CC, **options)
    exact = False
    if pair:
        exact = transfer([Stream(*pair, total)], meanwhile=meanwhile)
        hosts.close(*pair)
    settle()
    return exact, *(since(end, b) for end, b in zip(("a", "b"), before))


def malformed(got):
    return {k: v for k, v in got.items() if k.startswith(("bad_", "in_bad_")) and v}


def sound(a, b):
    """Nothing was lost or refused on the way."""
    return not malformed(a) and not malformed(b) and drive("odd") == 0 and \
        not a["in_forged"] and not a["in_no_flow"] and not b["in_no_flow"]


def opened_once(version, name, exact, a, b):
    tap.claim(f"IPv{version} {name}: exact, opened and closed",
              exact and (drive("opened"), drive("closed"), drive("refused")) == (1, 1, 0) and
              (a["out_handshake"], b["out_handshake"]) == (1, 1) and not drive("silenced"))


def told(version, name, a, b, want):
    """Answers of one kind came back, and reported both hops."""
    tap.claim(f"IPv{version} {name}: answers of kind {want} and no other",
              b["out_answer"] == a["in_answer"] and set(answers()) == {want}, f"{answers()}")
    if want in (RECORDS, SUMMARY):
        tap.equal(f"IPv{version} {name}: hops and path", (drive("hops"), drive("path_id")),
                  (HOPS, PATH_ID))
    tap.claim(f"IPv{version} {name}: all sound", sound(a, b), f"{malformed(a)} {malformed(b)}")


def probing(version, name, kind=RECORDS, want=None, **options):
    """Probes, and answers in packets of their own."""
    want = kind if want is None else want
    drive("kind", kind)
    exact, a, b = one_way(version, 5 * MB, **options)
    opened_once(version, name, exact, a, b)
    probes = a["out_probe"]
    tap.claim(f"IPv{version} {name}: each probe arrived, no data had a header",
              probes > 5 and b["in_probe"] == probes and not a["out_data"], f"{probes} probes")
    told(version, name, a, b, want)
    tap.claim(f"IPv{version} {name}: {'answered' if want == WINDOW else 'each answered'}",
              0 < a["in_answer"] <= probes if want == WINDOW else a["in_answer"] == probes,
              f"{a['in_answer']} answers")
    drive("kind", RECORDS)


def ratios(version):
    """Check a ratio and a window: the wire is full, and the window is below the most."""
    for kind, low, high in ((RATIO, 0.8, 40), (WINDOW, 64 / 2**20, 1250000 / 2**20)):
        drive("kind", kind)
        one_way(version, 5 * MB)
        value = drive("value") / 2**20
        tap.claim(f"IPv{version} kind {kind}: a value that can be, one flow",
                  low <= value <= high and drive("flows") == 1,
                  f"{value:.3f}, {drive('flows')} flows")
    drive("kind", RECORDS)


def crowd(version):
    """N of three flows with the same last hop."""
    drive("kind", WINDOW)
    drive_reset()
    pairs = [connect(version, cc=CC) for _ in range(3)]
    exact = transfer([Stream(*pair, 3 << 20) for pair in pairs])
    # N of the last answer while all three sent: then N shrinks.
    flows = drive("flows")
    for pair in pairs:
        hosts.close(*pair)
    settle()
    tap.claim(f"IPv{version} three flows: exact, N reported", exact and 2 <= flows <= 3, f"{flows}")
    drive("kind", RECORDS)


def by_ack(version):
    """Answers in a TCP option of ACKs."""
    sysctl("b", "hopcc/int_reverse", 1)
    for forward, name in ((0, "probe"), (1, "inband")):
        sysctl("a", "hopcc/int_forward", forward)
        exact, a, b = one_way(version, 5 * MB)
        opened_once(version, f"{name}, ack", exact, a, b)
        tap.claim(f"IPv{version} {name}, ack: the option came back",
                  a["in_option"] == b["out_option"] > 5, f"{b['out_option']} options")
        # Inband, what comes before the first probe with the terms is answered in full.
        tap.claim(f"IPv{version} {name}, ack: summaries", drive("summaries") > 5 and
                  set(answers()) <= {RECORDS, SUMMARY} and drive("records") <= 30 * forward,
                  f"{answers()}")
        tap.claim(f"IPv{version} {name}, ack: hops, path, sound", sound(a, b) and
                  (drive("hops"), drive("path_id")) == (HOPS, PATH_ID),
                  f"{malformed(a)} {malformed(b)} {drive('hops')} {drive('path_id')}")
    sysctl("a", "hopcc/int_forward", 0)
    sysctl("b", "hopcc/int_reverse", 0)


def inband(version, name, kind=RECORDS, super_packets=True, every=1, **options):
    """Headers on data."""
    sysctl("a", "hopcc/int_forward", 1)
    sysctl("a", "hopcc/int_every", every)
    drive("kind", kind)
    exact, a, b = one_way(version, 5 * MB, **options)
    opened_once(version, name, exact, a, b)
    low = 5 * MB // 1460 // every * (0.9 if every == 1 else 0.3)
    tap.claim(f"IPv{version} {name}: headers on data",
              b["in_data"] == a["out_data"] > low and not a["out_no_room"] and
              bool(a["out_gso"]) == super_packets,
              f"{a['out_data']} packets, {a['out_gso']} GSO packets")
    if kind == RECORDS:
        told(version, name, a, b, kind)
        # One packet in each T is answered, and one in T/8 while a queue stands: some eight pass in T.
        # A GSO packet that stays whole up to the receiver is one.
        least = min(a["out_gso"], a["out_data"] // 16) if super_packets else a["out_data"] // 16
        tap.claim(f"IPv{version} {name}: answered, and no packet twice",
                  least + a["out_probe"] <= a["in_answer"] <= a["out_data"] + a["out_probe"],
                  f"{a['in_answer']} answers, {a['out_data']} packets, {a['out_gso']} GSO packets")
    else:
        # A window is reported once a T, in which some eight packets pass.
        most = a["out_data"] // 4 if kind == WINDOW else a["out_data"]
        tap.claim(f"IPv{version} {name}: the terms were reported, answers of the kind",
                  a["out_probe"] > 0 and 0 < answers().get(kind, 0) < most and sound(a, b),
                  f"{a['out_probe']} probes, {answers()}")
    drive("kind", RECORDS)
    sysctl("a", "hopcc/int_every", 1)
    sysctl("a", "hopcc/int_forward", 0)


def gso(on):
    """Let sockets of a build GSO packets or not."""
    run(f"ip -n a link set dev a-r gso_max_segs {65535 if on else 1}")


def inbands(version):
    inband(version, "inband")
    inband(version, "inband, every 4th", every=4)
    inband(version, "inband, window", WINDOW)
    inband(version, "inband, ratio", RATIO)
    gso(False)
    inband(version, "inband, no GSO packets", super_packets=False)
    gso(True)
    sysctl("a", "hopcc/int_slots", 0)
    before = drive("odd")
    exact, a, b = one_way(version, MB)
    tap.claim(f"IPv{version} no room for records: hops counted all the same",
              exact and sound(a, b) and drive("hops") == HOPS and drive("odd") == before)
    sysctl("a", "hopcc/int_slots", 5)


def keys(version):
    """Answers are signed: with the right key, a wrong one, none."""
    other = KEY[:-1] + "0"
    for name, at_a, at_b, taken in (("the same key", KEY, KEY, True),
                                    ("a wrong key", KEY, other, False),
                                    ("no key at the receiver", KEY, "", False),
                                    ("no key at the sender", "", KEY, True)):
        sysctl("a", "hopcc/int_key", at_a + "\n")
        sysctl("b", "hopcc/int_key", at_b + "\n")
        exact, a, b = one_way(version, (5 if taken else 20) << 20)
        if taken:
            good = a["in_bad_tag"] == 0 and drive("records") > 5
        else:
            good = a["in_bad_tag"] == a["in_answer"] > 0 and not answers() and \
                drive("silenced") == a["peer_given_up"] == 1
        tap.claim(f"IPv{version} {name}: {'taken' if taken else 'rejected, given up'}, exact",
                  exact and good and b["in_bad_tag"] == 0,
                  f"{a['in_answer']} answers, {a['in_bad_tag']} bad")
        forget(not taken)
    sysctl("b", "hopcc/int_reverse", 1)
    sysctl("a", "hopcc/int_key", KEY + "\n")
    exact, a, _ = one_way(version, 5 * MB)
    tap.claim(f"IPv{version} a key, ack: an option cannot be signed: it is answered in packets",
              exact and not a["in_option"] and drive("records") > 5 and not a["in_bad_tag"])
    sysctl("b", "hopcc/int_key", "\n")
    exact, a, _ = one_way(version, 5 * MB)
    tap.claim(f"IPv{version} a key at the sender, ack: options are rejected",
              exact and a["in_option"] == a["in_bad_tag"] > 0 and not drive("summaries"))
    for name in ("a", "b"):
        sysctl(name, "hopcc/int_key", "\n")
    sysctl("b", "hopcc/int_reverse", 0)
    forget()


def anonymous(version):
    """The receiver tells ratios, whatever is asked for."""
    sysctl("b", "hopcc/int_anonymous", 1)
    for kind in (RECORDS, SUMMARY, WINDOW):
        probing(version, f"anonymous, asked for {kind}", kind, RATIO)
    tap.equal(f"IPv{version} anonymous: no word of hops and path",
              (drive("hops"), drive("path_id")), (0, 0))
    sysctl("b", "hopcc/int_anonymous", 0)


def forget(needed=True):
    """The memory for destinations without support runs out."""
    if needed:
        time.sleep(61)


def small_windows(version):
    """Below 4 segments of window packets are acknowledged at once."""
    for forward in (0, 1):
        sysctl("a", "hopcc/int_forward", forward)
        for window, want in ((2 * 1448, True), (1000000, False)):
            drive("wnd", window)
            # The small window is the driver's word only: TCP's own allows GSO packets.
            gso(not want)
            before = hosts.snmp("b", "Tcp", "OutSegs")
            _, a, b = one_way(version, 2 << 20)
            acks = hosts.snmp("b", "Tcp", "OutSegs") - before
            asked = b["in_data"] + b["in_probe"]
            good = b["ack_now"] > 0.9 * asked if want else b["ack_now"] == 0
            # Inband each packet asks; the first hundred or so get quick ACKs anyway.
            if forward:
                good = good and (acks > 0.9 * a["out_data"]) == want
            tap.claim(f"IPv{version} {'inband' if forward else 'probe'}, a window of {window}: "
                      f"{'ACKs at once' if want else 'delayed ACKs'}", good,
                      f"{b['ack_now']} of {asked}, {acks} ACKs")
    sysctl("a", "hopcc/int_forward", 0)
    drive("wnd", 1000000)


def both_ways(version):
    """Each end asks."""
    for forward in (0, 1):
        for name in ("a", "b"):
            sysctl(name, "hopcc/int_forward", forward)
        drive_reset()
        before = [counts(name) for name in ("a", "b")]
        a, b = connect(version, cc=CC, sink_cc=CC)
        exact = transfer([Stream(a, b, 5 * MB), Stream(b, a, 5 * MB)])
        hosts.close(a, b)
        settle()
        got = [since(name, b) for name, b in zip(("a", "b"), before)]
        tap.claim(f"IPv{version} both ways, {'inband' if forward else 'probe'}: exact, answers",
                  exact and drive("opened") == 2 and sound(*got) and
                  all(g["in_answer"] > 5 for g in got), f"{[g['in_answer'] for g in got]}")
    for name in ("a", "b"):
        sysctl(name, "hopcc/int_forward", 0)


def by_ack_both_ways(version):
    """Data leaves the option no ACK to ride on: it is answered in packets."""
    for name in ("a", "b"):
        sysctl(name, "hopcc/int_reverse", 1)
    drive_reset()
    before = [counts(name) for name in ("a", "b")]
    a, b = connect(version, cc=CC, sink_cc=CC)
    exact = transfer([Stream(a, b, 20 << 20), Stream(b, a, 20 << 20)])
    hosts.close(a, b)
    settle()
    got = [since(name, b) for name, b in zip(("a", "b"), before)]
    tap.claim(f"IPv{version} ack, both ways: exact, summaries, not given up",
              exact and sound(*got) and not drive("silenced") and drive("summaries") > 20 and
              all(g["in_option"] + g["in_answer"] > 10 for g in got),
              f"{[(g['in_option'], g['in_answer']) for g in got]}")
    for name in ("a", "b"):
        sysctl(name, "hopcc/int_reverse", 0)


def other_way(version):
    """b sends, and its cc is not one that asks."""
    before = counts("b")
    a, b = connect(version, cc=CC)
    exact = transfer([Stream(b, a, 5 * MB)])
    hosts.close(a, b)
    settle()
    got = since("b", before)
    tap.claim(f"IPv{version} other way: exact, cubic's data collects nothing",
              exact and not got["out_data"] and not got["out_probe"])


def impaired(version, extra, total):
    """A stream from a to b. Opened on a clean path: a handshake that lost its header is
    another story. (exact, counts of a, counts of b)"""
    drive_reset()
    before = [counts(name) for name in ("a", "b")]
    pair = connect(version, cc=CC)
    path(extra=extra)
    exact = transfer([Stream(*pair, total)])
    path()
    hosts.close(*pair)
    settle()
    got = [since(name, b) for name, b in zip(("a", "b"), before)]
    good = exact and drive("opened") == drive("closed") == 1 and not drive("odd") and \
        drive("records") + drive("summaries") > 5
    return good, *got


def lossy(version):
    for forward in (0, 1):
        sysctl("a", "hopcc/int_forward", forward)
        timeouts = hosts.netstat("a", "TCPTimeouts")
        good, a, b = impaired(version, "loss 0.5% duplicate 0.5% reorder 1%", 10 * MB)
        tap.claim(f"IPv{version} {('probe', 'inband')[forward]}, loss, "
                  "duplicates, reordering: exact, answers, not given up",
                  good and not drive("silenced") and not malformed(a) and not malformed(b) and
                  not a["in_forged"], f"{drive('records')} answers, {a['in_old']} old, silent "
                  f"{a['peer_unsupported']}, for want of answers {a['peer_given_up']}, "
                  f"{hosts.netstat('a', 'TCPTimeouts') - timeouts} timeouts")
    sysctl("a", "hopcc/int_forward", 0)


def corrupted(version):
    """A bit of a packet in a hundred is wrong: in IP, our header, TCP, the data. Each packet has a
    header of its own."""
    gso(False)
    for forward, reverse in ((0, 0), (1, 0), (1, 1)):
        sysctl("a", "hopcc/int_forward", forward)
        sysctl("b", "hopcc/int_reverse", reverse)
        good, a, b = impaired(version, "corrupt 1%", 20 << 20)
        tap.claim(f"IPv{version} {('probe', 'inband')[forward]}, {('notify', 'ack')[reverse]}, "
                  "bits flipped: exact, sound answers, bad ones counted",
                  good and (not forward or malformed(b)),
                  f"{answers()}, {malformed(a)} {malformed(b)}")
        forget(drive("silenced"))
    sysctl("a", "hopcc/int_forward", 0)
    sysctl("b", "hopcc/int_reverse", 0)
    gso(True)


def switched(version):
    """The cc changes while data flows."""
    for forward in (0, 1):
        sysctl("a", "hopcc/int_forward", forward)
        drive_reset()
        a, b = connect(version, cc=CC)
        exact = transfer_switching(a, b, ("cubic", CC) * 5)
        hosts.close(a, b)
        settle()
        tap.claim(f"IPv{version}: cc switched ten times: exact, opened and closed as often",
                  exact and drive("opened") == drive("closed") == 6 and not drive("odd"),
                  f"opened {drive('opened')}, closed {drive('closed')}, odd {drive('odd')}")
    sysctl("a", "hopcc/int_forward", 0)


def path_mtu(version):
    """A link behind the router becomes narrower while data has headers: ICMP reports it to TCP."""
    def narrow(received):
        if received > MB:
            run("ip -n r link set r-b mtu 1400")

    sysctl("a", "hopcc/int_forward", 1)
    start = time.monotonic()
    exact, a, _ = one_way(version, 5 * MB, narrow)
    took = time.monotonic() - start
    tap.claim(f"IPv{version} inband: path MTU found, stream exact, no stall",
              exact and a["icmp"] > 0 and took < 5, f"{a['icmp']} errors, {took:.3f} s")
    run("ip -n r link set r-b mtu 1500")
    for route in ("route flush cache", "-6 route flush cache"):
        run("ip -n a " + route, check=False)
    sysctl("a", "hopcc/int_forward", 0)


def without(version, name):
    """Connections without telemetry; their SYN asks each time, and three ACKs of the first one do."""
    for when, asks in (("first", 4), ("second", 1)):
        drive_reset()
        before, start = counts("a"), time.monotonic()
        pair = connect(version, cc=CC)
        opened = time.monotonic() - start
        exact = transfer([Stream(*pair, 2 * MB)]) if pair else False
        hosts.close(*(pair or ()))
        settle()
        got = since("a", before)
        tap.claim(f"IPv{version} {name}, {when} connection: exact, without, opened in time",
                  exact and opened <= 0.01 and drive("refused") == 1 and got["out_handshake"] == asks and
                  not got["out_data"] and not got["out_probe"], f"opened in {opened:.3f} s, {got['out_handshake']} ask")


def by_probes(version, name):
    """The path drops our protocol, and passes TCP: three ACKs have a header, and probes go on."""
    for forward in (0, 1):
        sysctl("a", "hopcc/int_forward", forward)
        start = time.monotonic()
        exact, a, _ = one_way(version, 5 * MB)
        took = time.monotonic() - start
        tap.claim(f"IPv{version} {name}, {('probe', 'inband')[forward]}: exact, telemetry by probes, no stall",
                  exact and a["peer_supported"] == 1 and a["in_answer"] > 5 and took < 3 and
                  a["out_data"] == 3 * forward, f"{a['in_answer']} answers, {a['out_data']} headers, {took:.3f} s")
    sysctl("a", "hopcc/int_forward", 0)


def brownfield(version):
    sysctl("b", "hopcc/int", 0)
    without(version, "peer without support")
    sysctl("b", "hopcc/int", 1)
    proto = {4: "ip", 6: "ipv6"}[version]
    run("ip netns exec r tc qdisc add dev r-a clsact")
    run(f"ip netns exec r tc filter add dev r-a ingress protocol {proto} flower"
        " ip_proto fe action drop")
    by_probes(version, "protocol dropped")
    run("ip netns exec r tc qdisc del dev r-a clsact")


def dropped_later(version):
    """The path changes in mid-connection to one that drops our protocol, or probes."""
    proto = {4: "ip", 6: "ipv6"}[version]
    # The mark of probes is TCP's first option.
    probes = f"u32 match u32 0xfd044850 0xffffffff at {({4: 40, 6: 60})[version]}"
    for forward, match in ((1, "flower ip_proto fe"), (0, probes)):
        sysctl("a", "hopcc/int_forward", forward)
        drive_reset()
        before = counts("a")
        pair = connect(version, cc=CC)
        state = {"dropping": False}

        def turn(received):
            if received > MB and not state["dropping"]:
                state["dropping"] = True
                run("ip netns exec r tc qdisc add dev r-a clsact")
                run(f"ip netns exec r tc filter add dev r-a ingress protocol {proto} {match} action drop")

        exact = transfer([Stream(*pair, 20 << 20)], limit_s=60, meanwhile=turn)
        hosts.close(*pair)
        settle()
        got = since("a", before)
        tap.claim(f"IPv{version} {'protocol' if forward else 'probes'} dropped in "
                  f"mid-connection: exact, {'on by probes' if forward else 'silent'}",
                  exact and drive("silenced") == got["peer_given_up"] == 1 - forward and
                  (got["out_probe"] > 5 or not forward),
                  f"{got['out_probe']} probes, {got['out_data']} headers, "
                  f"{got['peer_given_up']} given up")
        run("ip netns exec r tc qdisc del dev r-a clsact", check=False)
        forget(not forward)
    sysctl("a", "hopcc/int_forward", 0)


def many(version):
    """Connections leave no flow behind."""
    for _ in range(200 // SCALE):
        pair = connect(version, cc=CC)
        pair[0].send(b"x" * 3000)
        hosts.close(*pair)
    time.sleep(130)
    tap.equal(f"IPv{version}: flows of closed connections age out",
              (counts("a")["flows"], counts("b")["flows"]), (0, 0))


def limit(version):
    """The table is full: connections go without, and are counted."""
    sysctl("b", "hopcc/flow_limit", 0)
    exact, _, b = one_way(version, MB)
    tap.claim(f"IPv{version}: no room in the table: exact, counted",
              exact and b["flows_refused"] > 0)
    sysctl("b", "hopcc/flow_limit", 65536)
    forget()


def loopback(version):
    """Both ends in one namespace."""
    for forward in (0, 1):
        sysctl("a", "hopcc/int_forward", forward)
        drive_reset()
        before = counts("a")
        pair = connect(version, cc=CC, source="a", sink="a", to=hosts.A)
        exact = transfer([Stream(*pair, 20 * MB)])
        hosts.close(*pair)
        settle()
        got = since("a", before)
        tap.claim(f"IPv{version} loopback, {('probe', 'inband')[forward]}: exact, sound",
                  exact and drive("records") > 0 and not malformed(got) and not drive("odd"),
                  f"{drive('records')} answers")
    sysctl("a", "hopcc/int_forward", 0)


def knobs():
    for knob, value, good in (("int", 3, False), ("int", 2, True), ("int", 1, True), ("int_forward", 2, False),
                              ("int_reverse", 2, False), ("int_slots", 16, False),
                              ("int_slots", 15, True), ("int_slots", 5, True),
                              ("int_every", 0, False), ("int_every", 1001, False),
                              ("int_anonymous", 2, False),
                              ("int_unsupported_s", 86401, False), ("int_unsupported_s", 60, True),
                              ("int_key", KEY[1:] + "\n", False), ("int_key", "x" * 32, False),
                              ("int_key", KEY + "0\n", False), ("int_key", KEY, True),
                              ("int_key", "\n", True)):
        try:
            sysctl("a", "hopcc/" + knob, value)
            took = True
        except OSError:
            took = False
        tap.equal(f"sysctl {knob} {'takes' if good else 'refuses'} {value!r}", took, good)
    sysctl("a", "hopcc/int_key", KEY)
    with hosts.inside("a"), open("/proc/sys/net/hopcc/int_key", encoding="ascii") as file:
        tap.equal("int_key reads back", file.read().strip(), KEY)
    tap.equal("int_key is root's", os.stat("/proc/sys/net/hopcc/int_key").st_mode & 0o777, 0o600)
    sysctl("a", "hopcc/int_key", "\n")


def named(version):
    """Only a cc that int_cc names asks."""
    for names, asks in (("hpccpp", 0), ("int_drive2 xint_drive", 0), ("int_drive", 1),
                        ("reno int_drive", 1), ("xint_drive int_drive reno", 1)):
        sysctl("a", "hopcc/int_cc", names)
        _, a, _ = one_way(version, 3000)
        tap.equal(f"int_cc '{names}': asks or not", (a["out_handshake"], drive("opened")),
                  (asks, asks))
    sysctl("a", "hopcc/int_cc", "hpccpp " + CC)


def no_duplicate_acks(version):
    """Probes are not seen by TCP: no duplicate is reported."""
    before = {k: netstat("b", k) for k in ("TCPDSACKOldSent", "TCPDSACKOfoSent")}
    exact, _, b = one_way(version, 5 * MB)
    tap.claim(f"IPv{version}: TCP sees no probe: no DSACK",
              exact and b["in_probe"] > 5 and
              before == {k: netstat("b", k) for k in before})


def netstat(name, key):
    with hosts.inside(name), open("/proc/thread-self/net/netstat", encoding="ascii") as file:
        lines = [line.split() for line in file if line.startswith("TcpExt:")]
    return int(lines[1][lines[0].index(key)])


def period(version):
    """Once per min(T, 4 ms) while data is sent."""
    path(delay="1ms")
    for t_ns, low, high in ((1000000, 1e-3, 4e-3), (100000000, 4e-3, 8e-3)):
        drive("t_ns", t_ns)
        start = time.monotonic()
        exact, a, _ = one_way(version, 20 << 20)
        took = time.monotonic() - start - 1
        tap.claim(f"IPv{version} T = {t_ns // 1000000} ms: a probe each {low * 1e3} ms at most",
                  exact and low <= took / a["out_probe"] <= high,
                  f"{a['out_probe']} probes in {took:.3f} s")
    drive("t_ns", 100000)
    path()


def leave(module):
    """A namespace goes while it has flows; the modules go and come."""
    pair = connect(4, cc=CC)
    pair[0].send(b"x" * 1000000)
    run("ip netns del b")
    time.sleep(1)
    hosts.close(*pair)
    run("ip netns del a")
    run("ip netns del r")
    time.sleep(130)
    # What else holds it; it is loaded where it is built.
    run("rmmod tcp_hpccpp net_tlm", check=False)
    for line in ("rmmod int_drive", "rmmod net_int"):
        tap.equal(line, subprocess.run(line.split(), check=False).returncode, 0)
    path_ = module.replace("int_drive", "uml", 1).rsplit("/", 1)[0] + "/net_int/net_int.ko"
    tap.equal("insmod net_int", subprocess.run(["insmod", path_], check=False).returncode, 0)


def one_version(version):
    probing(version, "probe")
    for kind in (SUMMARY, RATIO, WINDOW):
        probing(version, f"probe, kind {kind}", kind)
    ratios(version)
    crowd(version)
    no_duplicate_acks(version)
    period(version)
    inbands(version)
    by_ack(version)
    keys(version)
    anonymous(version)
    small_windows(version)
    both_ways(version)
    by_ack_both_ways(version)
    other_way(version)
    lossy(version)
    corrupted(version)
    switched(version)
    path_mtu(version)
    brownfield(version)
    dropped_later(version)
    loopback(version)
    many(version)
    limit(version)


def main():
    module = sys.argv[1]
    run("modprobe sch_int", check=False)
    run(f"insmod {module}")
    hosts.build_path()
    path()
    knobs()
    for name in ("a", "b"):
        sysctl(name, "hopcc/int_cc", "hpccpp " + CC)
        # A queue of some 2 ms at most: timeout is four times what TCP measures.
        sysctl(name, "ipv4/tcp_rmem", "4096 131072 262144")
    named(4)
    for version in (4, 6):
        one_version(version)
    leave(module)
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
