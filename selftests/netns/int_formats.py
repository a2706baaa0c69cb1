#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""HPCC++ by telemetry of other vendors. Prints TAP. Needs root; all is in network namespaces of its
own.

    a ---- [r-a] r [r-b, 100 Mbit/s] ---- b     r is stock Linux: its IOAM node, and tbf

The window follows the queue that the router reports; an application's own hop-by-hop options do not
matter; without a usable report a connection is Reno.
"""
import os
import socket
import struct
import subprocess

import hosts
from hosts import Stream, connect, run, sysctl, transfer

MB, MBIT = 1 << 20, 100
IPV6_HOPOPTS = 54
PADDING = bytes([0, 0, 1, 4, 0, 0, 0, 0])
# An application's own trace: namespace 1, node and ports, room for two hops.
TRACE = bytes.fromhex("00030100" "311a0000" "00011004" "c0000000" + "00" * 16)
TOOL = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../tools/intlayout/intlayout")
LAYOUT = "layout linux-ioam\n"

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
    for name, dev in (("a", "a-r"), ("r", "r-a"), ("b", "b-r")):
        run(f"ip netns exec {name} tc qdisc add dev {dev} root netem delay 50us limit 10000")
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


def srtt_us(sock):
    return struct.unpack_from("I", sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104), 68)[0]


def name_of(sock):
    return sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).rstrip(b"\0").decode()


def flow(total, options=None, streams=1, version=6, cc="hpccpp"):
    """Streams from a to b. Return (exact, congestion controls, mean RTT, counts of a, of b)."""
    before = [counts(end) for end in "ab"]
    pairs, rtts = [], []
    for _ in range(streams):
        pair = connect(version, cc=cc)
        if options:
            pair[0].setsockopt(socket.IPPROTO_IPV6, IPV6_HOPOPTS, options)
        pairs.append(pair)

    def sample(received):
        # The first half is the start.
        if received > total * streams // 2:
            rtts.append(srtt_us(pairs[0][0]))

    exact = transfer([Stream(*pair, total) for pair in pairs], meanwhile=sample)
    names = sorted({name_of(pair[0]) for pair in pairs})
    for pair in pairs:
        hosts.close(*pair)
    mean = sum(rtts) / max(len(rtts), 1)
    print(f"# {names} RTT {mean:.0f} us, {len(rtts)} samples")
    return exact, names, mean, *(hosts.since(end, b, "int") for end, b in zip("ab", before))


def show(name, got):
    print(f"# {name}: " + " ".join(f"{k}={v}" for k, v in got.items() if v))


def ioam():
    sysctl("a", "hopcc/int_format", 2)
    sysctl("a", "hopcc/int_space", 1)
    tap.equal("a layout is accepted", intlayout("b", "set", "-", table=LAYOUT), (0, ""))
    exact, names, rtt, a, b = flow(2 * MB, streams=2)
    show("a", a)
    show("b", b)
    reno = flow(2 * MB, streams=2, cc="reno")[2]
    tap.claim("IOAM of stock Linux: exact, and HPCC++ to the end", exact and names == ["hpccpp"], f"{names}")
    tap.claim("each probe had a trace and an answer", b["in_ioam"] == b["in_probe"] > 100 and a["in_answer"] > 100)
    tap.claim("the window follows the queue", rtt < 400 and reno > 10 * rtt, f"{rtt:.0f}, Reno {reno:.0f} us")
    for name, options in (("padding", PADDING), ("a trace", TRACE)):
        exact, names, rtt, a, b = flow(MB, options=options)
        show("a", a)
        show("b", b)
        tap.claim(f"beside an application's {name}: HPCC++", exact and names == ["hpccpp"] and
                  b["in_ioam"] == b["in_probe"] > 10 and not a["peer_given_up"])


def sticky():
    """An application's options, without other formats: probes are answered."""
    exact, _names, _rtt, a, b = flow(MB, options=PADDING)
    show("a", a)
    tap.claim("beside an application's options probes are sent and answered",
              exact and a["in_answer"] > 1 and b["in_probe"] > 1 and not a["out_no_room"])
    tap.claim("and the destination is not given up", not a["peer_given_up"] and not a["peer_unsupported"])


build()
sticky()
ioam()
hosts.remove_path()
tap.done()
