#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""HPCC++ by telemetry of other vendors. Prints TAP. Needs root; all is in network namespaces of its
own.

    a ---- [r-a] r [r-b, 100 Mbit/s] ---- b     r is stock Linux: its IOAM node, and tbf
    a ---- script ---- b                        the script is a switch: int_switch.py

The window follows the queue that the router reports; an application's own hop-by-hop options do not
matter; without a usable report a connection is Reno.
"""
import importlib.machinery
import importlib.util
import json
import os
import socket
import subprocess
import time

import hosts
import shims
from hosts import Stream, connect, run, sysctl, transfer
from int_switch import DEVICE, ETHERTYPES, IOAM_AT, IOAM_LENGTHS_AT, PORT, Switch, is_ifa, is_int_md, is_ioam

MB, MBIT = 1 << 20, 100
# The RTT of the path alone, and what packets in front of a probe may add.
PATH_US, SLACK_US = 1100, 200
RTT_MAX_US = 2 * PATH_US
IPV6_HOPOPTS = 54
PADDING = bytes([0, 0, 1, 4, 0, 0, 0, 0])
# An application's own trace: namespace 1, node and ports, room for two hops.
TRACE = bytes.fromhex("00030100" "311a0000" "00011004" "c0000000" + "00" * 16)
TOOL = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../tools/intlayout/intlayout")
LAYOUT = "layout linux-ioam\n"
# An option that a receiver skips if it does not know it.
UNKNOWN_OPTION = 0x1e
# The default of int_slots.
SLOTS = 5

tap = hosts.Tap()


def intlayout(name, *words, table=None):
    """Run the tool in a namespace. Return (exit status, what it prints)."""
    done = subprocess.run(["ip", "netns", "exec", name, TOOL, *words], input=table, text=True,
                          capture_output=True, check=False)
    return done.returncode, done.stdout + done.stderr


def counts(name):
    return hosts.counts(name, "int")


def build():
    hosts.build_path()
    for name, dev in (("a", "a-r"), ("b", "b-r")):
        run(f"ip netns exec {name} tc qdisc add dev {dev} root netem delay 500us limit 10000")
    # Its queue is the only one of the path.
    run(f"ip netns exec r tc qdisc add dev r-b root handle 1: tbf rate {MBIT}mbit burst 4k limit 4m")
    sysctl("a", "hopcc/tcp_hpccpp_rate_mbit", MBIT)
    run("ip -n r ioam namespace add 1")
    sysctl("r", "ipv6/ioam6_id", 5)
    sysctl("r", "ipv6/conf/r-a/ioam6_enabled", 1)
    speed(2)


def speed(code):
    """Set the speed code, the upper four bits of the egress ID: 2 is 100 Mbit/s."""
    sysctl("r", "ipv6/conf/r-b/ioam6_id", code << 12 | 7)


def is_steady(received, total):
    """Return True between the start and the end, where a stream may be over or wait for an ACK."""
    return total // 2 < received < total * 3 // 4


def used(pairs, total, start_s):
    """Return the share of the port that the streams used."""
    return len(pairs) * total / (time.monotonic() - start_s) / (MBIT * 125000)


def flow(total, options=None, streams=1, version=6, cc="hpccpp", halfway=None):
    """Streams from a to b, and halfway() in between. Return (exact, congestion controls, mean RTT, counts
    of a, of b).
    """
    before = [counts(end) for end in "ab"]
    pairs, rtts = [], []
    left = [halfway] if halfway else []
    for _ in range(streams):
        pair = connect(version, cc=cc)
        if options:
            pair[0].setsockopt(socket.IPPROTO_IPV6, IPV6_HOPOPTS, options)
        pairs.append(pair)

    def sample(received):
        if is_steady(received, total * streams):
            rtts.append(hosts.srtt_us(pairs[0][0]))
            if left:
                left.pop()()

    start_s = time.monotonic()
    exact = transfer([Stream(*pair, total) for pair in pairs], meanwhile=sample)
    share = used(pairs, total, start_s)
    names = sorted({hosts.cc_of(pair[0]) for pair in pairs})
    for pair in pairs:
        hosts.close(*pair)
    mean = sum(rtts) / max(len(rtts), 1)
    print(f"# {names} RTT {mean:.0f} us, {len(rtts)} samples, {share:.0%} used")
    return exact, names, mean, *(hosts.since(end, b, "int") for end, b in zip("ab", before))


def show(name, got):
    print(f"# {name}: " + " ".join(f"{k}={v}" for k, v in got.items() if v))


def ioam():
    sysctl("a", "hopcc/int_format", 2)
    sysctl("a", "hopcc/int_space", 1)
    tap.equal("a layout is accepted", intlayout("b", "set", "-", table=LAYOUT), (0, ""))
    # Another table, of another netns and of this one, in the middle of the connections.
    done = []
    exact, names, rtt, a, b = flow(2 * MB, streams=2, halfway=lambda: done.extend([
        intlayout("a", "set", "-", table=LAYOUT), intlayout("a", "del"),
        intlayout("b", "set", "-", table=LAYOUT + "space 1\n")]))
    tap.equal("tables are replaced in between", done, [(0, "")] * 3)
    show("a", a)
    show("b", b)
    reno = flow(2 * MB, streams=2, cc="reno")[2]
    tap.claim("IOAM of stock Linux: exact, and HPCC++ to the end", exact and names == ["hpccpp"], f"{names}")
    tap.claim("each probe had a trace and an answer", b["in_ioam"] == b["in_probe"] > 100 and a["in_answer"] > 100)
    tap.claim("the window follows the queue", rtt < RTT_MAX_US and reno > 5 * rtt, f"{rtt:.0f}, Reno {reno:.0f} us")
    for name, options in (("padding", PADDING), ("a trace", TRACE)):
        exact, names, rtt, a, b = flow(MB, options=options)
        show("a", a)
        show("b", b)
        tap.claim(f"beside an application's {name}: HPCC++", exact and names == ["hpccpp"] and
                  b["in_ioam"] == b["in_probe"] > 10 and not a["peer_given_up"])


def ioam_useless():
    """Without layout or speed there is no measurement: Reno."""
    speed(0)
    exact, names, rtt, a, b = flow(MB // 2)
    show("b", b)
    tap.claim("IOAM without the port's speed: Reno, and counted",
              exact and names == ["hpccpp-reno"] and b["in_ioam"] and b["tlm_no_layout"], f"{names}")
    speed(2)
    intlayout("b", "del")
    exact, names, rtt, a, b = flow(MB // 2)
    show("b", b)
    tap.claim("IOAM without a layout is not read: Reno",
              exact and names == ["hpccpp-reno"] and not b["in_ioam"], f"{names}")


IFA_QUEUE = f"""layout trident3
    device {DEVICE << 8} mask 0x0fffff00
port {DEVICE} {PORT} {MBIT}
"""
IFA_COUNTER = IFA_QUEUE.replace("port", "    field tx bit 160 width 32\nport")
IFA_PORTS = IFA_COUNTER + f"port {DEVICE} {PORT + 1} {MBIT}\n"
INT_MD = f"layout int-md-hpcc\n    device {DEVICE} mask 0xffffffff\nwindow 2000000\nport {DEVICE} {PORT} {MBIT}\n"
IOAM_QUEUE = f"{LAYOUT}    device {DEVICE} mask 0x00ffffff\n"


def switch_flow(switch, version=4, cc="hpccpp", total=MB, hidden_s=0, streams=2):
    """Streams through the switch. Return (exact, congestion controls, mean RTT, counts of a, of b)."""
    pairs = [switch.connect(version, cc) for _ in range(streams)]
    switch.hidden_s = hidden_s
    before, rtts = [counts(end) for end in "ab"], []

    def sample(received):
        if is_steady(received, streams * total):
            rtts.append(hosts.srtt_us(pairs[0][0]))

    start_s = time.monotonic()
    exact = switch.transfer(pairs, total, sample)
    share = used(pairs, total, start_s)
    names = sorted({hosts.cc_of(pair[0]) for pair in pairs})
    for pair in pairs:
        hosts.close(*pair)
    switch.hidden_s = 0
    switch.run(0.05)
    mean = sum(rtts) / max(len(rtts), 1)
    got = [hosts.since(end, b, "int") for end, b in zip("ab", before)]
    print(f"# IPv{version} {names} RTT {mean:.0f} us, {len(rtts)} samples, {share:.0%} used")
    show("a", got[0])
    show("b", got[1])
    return exact, names, mean, *got


def by_script():
    """The three formats by the scripted switch."""
    switch = Switch()
    # One that did not answer is asked again.
    for name in "ab":
        sysctl(name, "hopcc/int_unsupported_s", 0)
    sysctl("a", "hopcc/tcp_hpccpp_rate_mbit", MBIT)
    sysctl("a", "hopcc/int_space", 0)
    reno = switch_flow(switch, cc="reno")[2]
    for part in (ifa, int_md, ioam_node):
        part(switch, reno)
    switch.close()


def works(switch, name, version, counter, reno):
    """Telemetry is read from each probe, and the window follows what it reports."""
    exact, names, rtt, _a, b = switch_flow(switch, version)
    tap.claim(f"IPv{version} {name}: exact, and HPCC++ to the end",
              exact and names == ["hpccpp"] and b[counter] == b["in_probe"] > 100, f"{names}")
    what = "queue and utilisation" if counter == "in_intmd" else "the queue"
    tap.claim(f"IPv{version} {name}: the window follows {what}",
              rtt < RTT_MAX_US and reno > 5 * rtt, f"{rtt:.0f}, Reno {reno:.0f} us")


def on_probes(switch, name, version, inband):
    """int_forward 1 beside a format: probes collect where the format can be used, otherwise data does."""
    sysctl("a", "hopcc/int_forward", 1)
    exact, _names, _rtt, a, b = switch_flow(switch, version, total=MB // 2)
    sysctl("a", "hopcc/int_forward", 0)
    tap.claim(f"{name}, int_forward 1: {'data has our own header' if inband else 'the format is on probes'}", exact and
              (a["out_data"] > 0) == inband and (b["in_ifa"] > 50) != inband, f"{a['out_data']} {b['in_ifa']}")


def ifa(switch, reno):
    """IFA: first without a layout, then with one of a queue, then with one of a counter."""
    sysctl("a", "hopcc/int_format", 1)
    exact, _names, _rtt, a, b = switch_flow(switch, total=MB // 2)
    tap.claim("IFA without a layout is left to the stack: exact, and telemetry is given up",
              exact and switch.stamped and a["peer_given_up"] and not b["in_probe"])
    for version, name, table in ((4, "IFA with a queue", IFA_QUEUE), (6, "IFA with a counter", IFA_COUNTER)):
        tap.equal(f"{name}: the layout is accepted", intlayout("b", "set", "-", table=table), (0, ""))
        works(switch, name, version, "in_ifa", reno)
    on_probes(switch, "IFA", 4, False)
    lies(switch, "IFA", 4)
    doctor()
    unsteady(switch)
    tap.equal("IFA with a counter again", intlayout("b", "set", "-", table=IFA_COUNTER), (0, ""))
    unknown_speed(switch)
    tap.equal("IFA with a counter once more", intlayout("b", "set", "-", table=IFA_COUNTER), (0, ""))
    slow_clock(switch)
    wrapped(switch)
    malformed(switch, "IFA", 4, is_ifa, mangled)
    short_of_slots(switch, "IFA", 4)


def int_md(switch, reno):
    """INT-MD: first without a layout, then with one."""
    sysctl("a", "hopcc/int_format", 3)
    exact, _names, _rtt, a, b = switch_flow(switch, total=MB // 2)
    tap.claim("INT-MD without a layout is left to TCP: exact, and telemetry is given up",
              exact and switch.stamped and a["peer_given_up"] and not b["in_probe"])
    intlayout("b", "set", "-", table=INT_MD)
    for version in (4, 6):
        works(switch, "INT-MD", version, "in_intmd", reno)
    lies(switch, "INT-MD", 4, (*LIES, NO_SPEED))
    idle(switch)
    malformed(switch, "INT-MD", 4, is_int_md, mangled_int_md)
    short_of_slots(switch, "INT-MD", 4)


def ioam_node(switch, reno):
    """IOAM by the script, which also writes what stock Linux does not."""
    sysctl("a", "hopcc/int_format", 2)
    sysctl("a", "hopcc/int_space", 1)
    tap.equal("IOAM with a device: the layout is accepted", intlayout("b", "set", "-", table=IOAM_QUEUE), (0, ""))
    works(switch, "IOAM", 6, "in_ioam", reno)
    on_probes(switch, "IOAM with IPv4", 4, True)
    lies(switch, "IOAM", 6)
    malformed(switch, "IOAM", 6, is_ioam, mangled_ioam)
    more_hops_than_ioam(switch)
    short_of_slots(switch, "IOAM", 6)


def short_of_slots(switch, name, version):
    """The path has more hops than the first probes have room for."""
    switch.hops = 3
    sysctl("a", "hopcc/int_slots", 1)
    exact, names, _rtt, a, _b = switch_flow(switch, version, total=MB // 2)
    switch.hops = 1
    sysctl("a", "hopcc/int_slots", SLOTS)
    tap.claim(f"{name}, more hops than slots: later probes have room for all", exact and names == ["hpccpp"] and
              1 <= a["in_short"] <= 20, f"{names} {a['in_short']}")


def changed(packet, at, value):
    return packet[:at] + bytes([value]) + packet[at + 1:]


def cuts(packet, start, tcp=None):
    """Return copies that end at each byte from start on; tcp: position of the TCP header, whose checksum is
    then correct.
    """
    for size in range(start, len(packet)):
        one = shims.finish(packet[:size])
        yield shims.sum_tcp(one, tcp) if tcp and size >= tcp + 20 else one


def with_options(packet, options):
    """Return an IPv6 packet with other hop-by-hop options in a header of the same length."""
    end = 48 + packet[41] * 8
    left = end - IOAM_AT - len(options) - 2
    return packet[:IOAM_AT] + options + bytes([UNKNOWN_OPTION, left]) + bytes(left) + packet[end:]


def mangled(packet):
    """Return malformed copies of a probe with IFA: one for each cause, and one cut at each length."""
    at = shims.ip_bytes(packet)
    # The length of the metadata, behind IFA's word and TCP with its mark.
    length = at + 4 + (packet[at + 16] >> 4) * 4 + 3
    payload = length + 1 + packet[length] * 4
    yield changed(packet, at, 0x10)
    yield changed(packet, at + 1, 1)
    yield changed(packet, at + 2, 8)
    yield changed(packet, at + 3, 0)
    yield changed(packet, at + 16, 0x10)
    # A word more than the metadata of a hop.
    yield shims.finish(changed(packet, length, 9)[:payload] + bytes(4) + packet[payload:])
    yield changed(packet, payload + 4, packet[payload + 4] ^ 1)
    yield changed(packet, payload + 8, packet[payload + 8] ^ 1)
    yield from cuts(packet, at)


def mangled_int_md(packet):
    """The same for INT-MD; the shim is behind TCP's header."""
    tcp = shims.ip_bytes(packet)
    at = tcp + (packet[tcp + 12] >> 4) * 4
    for offset, value in (0, 0x20), (0, 0x1c), (1, 2), (1, 255), (4, 0x10), (6, 0), (6, 7):
        yield changed(packet, at + offset, value)
    # The cookie, behind the metadata and two words of the message, as with IFA. The checksum is read first.
    cookie = at + 4 + packet[at + 1] * 4 + 8
    yield shims.sum_tcp(changed(packet, cookie, packet[cookie] ^ 1), tcp)
    yield changed(packet, at + 9, packet[at + 9] | 2)
    yield from cuts(packet, at, tcp)


def mangled_ioam(packet):
    """The same for IOAM. The kernel parses the hop-by-hop header first and drops a packet unless its options
    end where the header ends, so what is shortened is followed by another option.
    """
    size = packet[IOAM_AT + 1] + 2
    trace = packet[IOAM_AT:IOAM_AT + size]
    # Too short for a trace, and no whole number of words.
    yield with_options(packet, changed(trace, 1, 4)[:6])
    yield with_options(packet, changed(trace, 1, size - 4)[:-2])
    # A bit that is not defined, and none at all.
    yield changed(packet, IOAM_AT + 9, 8)
    yield packet[:IOAM_AT + 8] + bytes(3) + packet[IOAM_AT + 11:]
    yield changed(packet, IOAM_LENGTHS_AT, 4 << 3)
    yield changed(packet, IOAM_LENGTHS_AT + 1, 127)
    yield changed(packet, IOAM_LENGTHS_AT + 1, packet[IOAM_LENGTHS_AT + 1] + 1)
    # More options than are examined: the kernel allows eight, with up to seven bytes of padding in between.
    # The first padding is in front of them.
    yield with_options(packet, (5 * (3 * bytes([1, 0]) + bytes([UNKNOWN_OPTION, 0])))[2:])
    yield from cuts(packet, 40, 48 + packet[41] * 8)
    # The kernel drops an option that is longer than the header, and a header that is longer than the packet.
    yield changed(packet, IOAM_AT + 1, 255)
    yield changed(packet, 41, 255)


CAUSES = {
    "IFA": ("bad_ifa_version", "bad_ifa_next", "bad_ifa_tail", "bad_ifa_length", "bad_ifa_l4", "bad_ifa_truncated",
            "bad_stack", "in_bad_sum", "in_bad_cookie"),
    "INT-MD": ("bad_intmd_truncated", "bad_intmd_type", "bad_intmd_npt", "bad_intmd_length", "bad_intmd_version",
               "bad_intmd_bitmap", "bad_intmd_hop_ml", "bad_intmd_stack", "in_bad_cookie"),
    # Not bad_ioam_truncated: the hook has found TCP behind the header, so that the header is whole.
    "IOAM": ("bad_ioam_options", "bad_ioam_length", "bad_ioam_type", "bad_ioam_node_len", "bad_ioam_remaining",
             "bad_ioam_stack"),
}


def malformed(switch, name, version, is_one, mangle):
    """Malformed copies of the first probes are counted by cause, and change nothing."""
    left = [2]

    def copies(frame):
        if frame[12:14] not in ETHERTYPES or not is_one(frame[14:]) or not left[0]:
            return []
        left[0] -= 1
        return [frame[:14] + one for one in mangle(frame[14:])]

    switch.mangle = copies
    exact, names, rtt, _a, b = switch_flow(switch, version, total=MB // 2)
    switch.mangle = None
    tap.claim(f"beside malformed {name}: exact, and HPCC++ to the end",
              exact and names == ["hpccpp"] and rtt < RTT_MAX_US, f"{names} {rtt:.0f} us")
    tap.equal(f"each cause is counted, {name}", [cause for cause in CAUSES[name] if not b[cause]], [])


# Reports of a switch: (name, counter at the receiver, delay that it hides, change of the values).
LIES = (
    ("of another device", "tlm_no_layout", 0, lambda v: {**v, "device": 99}),
    # The queue is more than the port sends in a second; with all its 24 bits set it would be missing.
    ("with absurd values", "tlm_useless", 0,
     lambda v: {**v, "queue": 0xfffffe, "residence": 10 ** 9 + 668, "used": 1 << 31}),
    ("that stands still", "tlm_useless", 0,
     lambda v: {**v, "queue": 30000, "tx": 5, "ns": 10 ** 9, "used": 10 ** 6}),
    ("with a queue that is always empty", "tlm_contradicted", 0.004,
     lambda v: {**v, "queue": 0, "tx": 0, "used": 0}),
)
# INT-MD has no field for the speed.
NO_SPEED = ("of a port without a speed", "tlm_no_layout", 0, lambda v: {**v, "port": 9})


def lies(switch, name, version, reports=LIES, total=MB // 2, streams=2):
    """A connection does not follow reports that are wrong."""
    for what, counter, hidden_s, lie in reports:
        switch.lie = lie
        exact, names, _rtt, _a, b = switch_flow(switch, version, total=total, hidden_s=hidden_s, streams=streams)
        tap.claim(f"IPv{version} {name} {what}: Reno, and counted by {counter}",
                  exact and names == ["hpccpp-reno"] and b[counter] > 0, f"{names}")
    switch.lie = None


def every_second(change):
    """Return a lie about every second packet."""
    told = [0]

    def lie(values):
        told[0] += 1
        return change(values) if told[0] % 2 else values
    return lie


def unsteady(switch):
    """Some reports are right, but no two in a row can be compared."""
    absurd = LIES[1][3]
    lies(switch, "IFA", 4, [("with every second value absurd", "tlm_useless", 0, every_second(absurd))], streams=1)
    tap.equal("a layout with two ports is accepted", intlayout("b", "set", "-", table=IFA_PORTS), (0, ""))
    lies(switch, "IFA", 4, [("of two paths by turns", "tlm_paths", 0,
                             every_second(lambda v: {**v, "port": PORT + 1}))], streams=1)
    tap.equal("hopstat doctor names them", hosts.findings("b", "telemetry")[-1:], ["tlm_paths"])


def more_hops_than_ioam(switch):
    """A trace has room for 12 hops in 255 bytes."""
    switch.hops = 13
    lies(switch, "IOAM over 13 hops,", 6, [("one of which is not seen", "tlm_no_room", 0, None)], total=4 * MB)
    switch.hops = 1
    tap.equal("hopstat doctor names it", "tlm_no_room" in hosts.findings("b", "telemetry"), True)


class Policer:
    """A bucket of tokens: it drops what is too much, and delays nothing."""

    def __init__(self, bytes_ps, burst_bytes):
        self.bytes_ps, self.burst_bytes = bytes_ps, burst_bytes
        self.tokens, self.filled_s, self.dropped = burst_bytes, time.monotonic(), 0

    def __call__(self, frame):
        now_s = time.monotonic()
        self.tokens = min(self.burst_bytes, self.tokens + (now_s - self.filled_s) * self.bytes_ps)
        self.filled_s = now_s
        if len(frame) > self.tokens:
            self.dropped += 1
            return True
        self.tokens -= len(frame)
        return False


def policed(switch):
    """Half of the port's rate, by a policer that reports nothing: a loss ends the search for a rate."""
    switch.drop = Policer(MBIT * 125000 // 2, 20000)
    source, sink = switch.connect(4, "hpccpp")
    cwnds, start_s = [], time.monotonic()
    exact = switch.transfer([(source, sink)], 8 * MB, lambda _: cwnds.append(hosts.cwnd_of(source)))
    dropped, switch.drop = switch.drop.dropped, None
    name, share = hosts.cc_of(source), used(range(1), 8 * MB, start_s)
    hosts.close(source, sink)
    # 50 Mbit/s and 11 ms are 46 packets, and the last step doubles the window.
    tap.claim("behind a policer: exact, and the window does not run away",
              exact and name == "hpccpp" and 20 < max(cwnds) < 100 and dropped < 600, f"{name} {max(cwnds)} {dropped}")
    tap.claim("and the policer's rate is used", share > 0.25, f"{share:.2f} of 0.50")


def unknown_speed(switch):
    """The sender's device reports no speed, and the receiver no records, only U."""
    hosts.set_speed("a", "tap0", -1)
    # The kernel announces a change of the carrier, not one of the speed.
    for state in ("off", "on"):
        run(f"ip -n a link set tap0 carrier {state}")
        switch.run(1.2)
    sysctl("a", "hopcc/tcp_hpccpp_rate_mbit", 0)
    delay_s, switch.delay_s = switch.delay_s, 0.005
    tap.equal("a layout with two ports once more", intlayout("b", "set", "-", table=IFA_PORTS), (0, ""))
    total, start_s = 4 * MB, time.monotonic()
    half = switch.sent_bytes + total
    # Another port: its first answer has no U.
    switch.lie = lambda v: {**v, "port": PORT + (v["tx"] > half)}
    exact, names, rtt, _a, _b = switch_flow(switch, total=total)
    share = used(range(2), total, start_s)
    tap.claim("the sender's device reports no speed: HPCC++, and more than TCP's initial window a round trip",
              exact and names == ["hpccpp"] and rtt < 20000 and share > 0.5, f"{share:.0%} {rtt:.0f} us")
    switch.lie = None
    policed(switch)
    switch.delay_s = delay_s
    sysctl("a", "hopcc/tcp_hpccpp_rate_mbit", MBIT)


def doctor():
    tap.equal("hopstat doctor names each cause", hosts.findings("b", "telemetry"),
              list(dict.fromkeys(one[1] for one in LIES)))


def slow_clock(switch):
    switch.lie = lambda v: {**v, "ns": v["ns"] // 1000, "residence": v["residence"] // 1000}
    exact, names, rtt, _a, b = switch_flow(switch)
    switch.lie = None
    tap.claim("IPv4 IFA with a clock in microseconds: by the queue alone",
              exact and names == ["hpccpp"] and b["tlm_implausible"] and rtt < RTT_MAX_US, f"{rtt:.0f} us")


def idle(switch):
    """The utilisation is not true, but the queue is: the algorithm then allows a queue of one BDP."""
    switch.lie = lambda v: {**v, "used": 0}
    exact, names, rtt, _a, _b = switch_flow(switch)
    switch.lie = None
    tap.claim("IPv4 INT-MD with a utilisation that is always 0: by the queue alone",
              exact and names == ["hpccpp"] and rtt < 2 * PATH_US + SLACK_US, f"{rtt:.0f} us")


def wrapped(switch):
    """The counter wraps in the middle. It is read when the packet leaves, the time that the layout computes,
    so that only a mistake at the wrap could make a record implausible.
    """
    switch.lie = lambda v: {**v, "tx": v["tx"] + v["queue"]}
    switch.sent_bytes = (1 << 32) - MB
    exact, names, rtt, _a, b = switch_flow(switch)
    switch.lie = None
    tap.claim("IPv4 IFA with a counter that wraps: HPCC++ to the end, each record is used",
              exact and names == ["hpccpp"] and switch.sent_bytes > 1 << 32 and rtt < RTT_MAX_US and
              not b["tlm_implausible"], f"{names} {rtt:.0f} us, {b['tlm_implausible']}")


# (table, a part of the message)
WRONG = (
    ("layout nexus", "line 1: layout nexus: one of trident3"),
    ("mbit 5", "line 1: mbit: no layout"),
    ("layout ifa\nwords 8\nfield queue bit 240 width 32", "not within an element"),
    ("layout ifa\nfield queue bit 0 width 32", "words are for IFA"),
    ("layout linux-ioam\ntype 0x700000", "not within an element"),
    ("layout linux-ioam\nresolution 0", "the resolution is 0 or above a second"),
    ("layout linux-ioam\nport 1 1 0", "the speed of a port is 0"),
    ("layout linux-ioam\nport 1 1 10\nport 1 1 20", "ascending"),
    ("layout linux-ioam\nschema 0x1000000", "24 bits"),
    ("layout linux-ioam\nmbit many", "line 2: 'many' is not a number"),
    ("", "no layout"),
)


def tool():
    """What is set is shown, a faulty table changes nothing, and only root of the netns may do it."""
    whole = LAYOUT + "space 1\nmbit 10\nport 2 1 40000\nport 1 7 1000\nschema 5\ntrust-idle\n"
    intlayout("b", "set", "-", table=whole)
    status, shown = intlayout("b", "show")
    tap.claim("intlayout show prints what set accepts", status == 0 and "port 1 7 1000\nport 2 1 40000" in shown)
    tap.equal("and is accepted by set", intlayout("b", "set", "-", table=shown), (0, ""))
    table = json.loads(intlayout("b", "--json", "show")[1])
    tap.equal("JSON has the same", (table["schema"], table["trust-idle"], table["layouts"][0]["mbit"],
                                    table["layouts"][0]["fields"]["queue"]["element"]), (5, True, 10, 6))
    wrong = [(text, *intlayout("b", "set", "-", table=text)) for text, _ in WRONG]
    bad = [one for one, (_, part) in zip(wrong, WRONG) if one[1] != 1 or part not in one[2]]
    tap.equal("faulty tables are refused, with the reason", bad, [])
    tap.equal("check refuses, too", intlayout("b", "check", "-", table=WRONG[2][0])[0], 1)
    tap.equal("check changes nothing", (intlayout("b", "check", "-", table=LAYOUT), intlayout("b", "show")[1]),
              ((0, ""), shown))
    tap.equal("another netns has none", intlayout("a", "show"), (0, ""))
    built = intlayout("a", "builtin")[1]
    tap.claim("the built-in layouts are accepted", built.count("layout") == 4 and
              intlayout("a", "check", "-", table=built) == (0, ""))
    done = subprocess.run(["ip", "netns", "exec", "b", "setpriv", "--bounding-set", "-net_admin", TOOL, "del"],
                          capture_output=True, text=True, check=False)
    tap.claim("without CAP_NET_ADMIN: refused", done.returncode == 1 and "not permitted" in done.stderr,
              done.stderr)
    tap.equal("del removes all", (intlayout("b", "del"), intlayout("b", "show")), ((0, ""), (0, "")))


def reserved():
    """A table of a tool of a later version, which fills bytes that mean nothing yet."""
    loader = importlib.machinery.SourceFileLoader("intlayout", TOOL)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("intlayout", loader))
    loader.exec_module(module)
    answers = []
    with hosts.inside("b"):
        whole = module.pack_layout(module.parse(LAYOUT, module.read_builtins())["layouts"][0])
        for at in (None, 3, module.LAYOUT.size + 6, module.LAYOUT_BYTES - 5):
            data = bytearray(whole)
            if at is not None:
                data[at] = 1
            try:
                module.call(module.SET, module.attribute(module.LAYOUTS, bytes(data)) + module.attribute(module.CHECK))
                answers.append("")
            except module.Mistake as mistake:
                answers.append(str(mistake))
    tap.equal("reserved bytes are refused", answers, [""] + 3 * ["a reserved byte is not 0"])


MODPROBE, ASKED = "/run/modprobe", "/run/modprobe.asked"


def asked():
    """Return what the kernel has called modprobe for since the last call."""
    with open(ASKED, "a+", encoding="ascii") as file:
        file.seek(0)
        text = file.read()
        file.truncate(0)
    return [line.split()[-1] for line in text.splitlines()]


def modprobe(command):
    """Let the kernel call a script that notes what it is called for and then runs a command."""
    with open(MODPROBE, "w", encoding="ascii") as file:
        file.write(f'#!/bin/sh\necho "$*" >>{ASKED}\n{command}\n')
    os.chmod(MODPROBE, 0o755)
    hosts.write("/proc/sys/kernel/modprobe", MODPROBE)


def set_format(*words):
    """Set int_format to 1 in a. Return (exit status, the value)."""
    path = "/proc/sys/net/hopcc/int_format"
    done = subprocess.run(["ip", "netns", "exec", "a", *words, "sh", "-c", f"echo 1 >{path}; s=$?; cat {path}; exit $s"],
                          capture_output=True, text=True, check=False)
    return done.returncode, done.stdout.strip()


def by_need():
    """net_tlm is loaded by int_format and by intlayout; a container does not load it."""
    with open("/proc/sys/kernel/modprobe", encoding="ascii") as file:
        before = file.read().strip()
    with open(f"{os.environ['HOPLAB_OUT']}/insmod", encoding="utf-8") as file:
        path, = (line.strip() for line in file if line.strip().endswith("/net_tlm.ko"))
    run("rmmod net_tlm")
    modprobe("exit 1")
    tap.equal("int_format without net_tlm is refused", (set_format(), asked()), ((1, "0"), ["net_tlm"]))
    log = subprocess.check_output(["dmesg", "-t"], text=True)
    tap.claim("and the log has what to type", "needs a module: modprobe net_tlm" in log, log[-200:])
    tap.equal("intlayout says it, too", intlayout("b", "show"), (1, "intlayout: net_tlm is not loaded: modprobe net_tlm\n"))
    tap.equal("it has asked for the family", asked(), ["net-pf-16-proto-16-family-hopcc_int"])
    modprobe(f"exec insmod {path}")
    tap.equal("a container loads nothing", (set_format("unshare", "-Urn"), asked()), ((1, "0"), []))
    tap.equal("int_format loads net_tlm", (set_format(), asked()), ((0, "1"), ["net_tlm"]))
    run("rmmod net_tlm")
    tap.equal("intlayout loads it", (intlayout("b", "show"), asked()),
              ((0, ""), ["net-pf-16-proto-16-family-hopcc_int"]))
    hosts.write("/proc/sys/kernel/modprobe", before)
    sysctl("a", "hopcc/int_format", 0)


def unloaded():
    """net_tlm goes in the middle of connections, and comes again."""
    sysctl("a", "hopcc/int_format", 2)
    sysctl("a", "hopcc/int_space", 1)
    intlayout("b", "set", "-", table=LAYOUT)
    gone = []

    def reload():
        run("rmmod net_tlm")
        gone.append(intlayout("b", "show")[0])
        hosts.load("net_tlm")
        gone.append(intlayout("b", "show"))
        gone.append(intlayout("b", "set", "-", table=LAYOUT))

    exact, names, _rtt, _a, b = flow(4 * MB, streams=2, halfway=reload)
    show("b", b)
    tap.equal("unloaded and loaded in between: no layout is left, and one is accepted", gone, [1, (0, ""), (0, "")])
    tap.claim("the connections go on, and their probes are read before and after it", exact and b["in_ioam"] > 100, f"{names}")
    log = subprocess.check_output(["dmesg", "-t"], text=True)
    tap.claim("the kernel has nothing to say of it", "WARNING" not in log and "BUG" not in log, log[-300:])
    intlayout("b", "del")
    sysctl("a", "hopcc/int_format", 0)


def sticky():
    """An application's options, without other formats: probes are answered."""
    exact, _names, _rtt, a, b = flow(MB // 2, options=PADDING)
    show("a", a)
    tap.claim("beside an application's options probes are sent and answered",
              exact and a["in_answer"] > 1 and b["in_probe"] > 1 and not a["out_no_room"])
    tap.claim("and the destination is not given up", not a["peer_given_up"] and not a["peer_unsupported"])


build()
by_need()
tool()
reserved()
sticky()
unloaded()
ioam()
ioam_useless()
hosts.remove_path()
by_script()
tap.done()
