#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""XCP through an MPLS router, which reduces the request behind the labels. Prints TAP.

    a --- push 100 ---> r --- swap 100 to 200 ---> b pops
    a <------------------ IP ---------------------

r never processes a's data as IP. Its port to b has 20 Mbit/s: without feedback, a stream
would overflow the buffer; with feedback, it loses nothing.
"""
import json
import subprocess
import sys
import time

import hosts
from hosts import Stream, connect, run, sysctl, transfer

RATE = "20mbit"
TOTAL = 5 << 20

tap = hosts.Tap()


def label_path(labels):
    """Set up the path: a pushes @labels, r swaps the outer one, b pops one after the other."""
    inner = [str(300 + n) for n in range(labels - 1)]
    for name, port in (("a", "a-r"), ("r", "r-a"), ("b", "b-r")):
        sysctl(name, "mpls/platform_labels", 1000)
        sysctl(name, f"mpls/conf/{port}/input", 1)
    sysctl("b", "mpls/conf/lo/input", 1)
    stack = "/".join(["100"] + inner)
    run(f"ip -n a route replace 198.51.100.0/24 encap mpls {stack} via 192.0.2.2 dev a-r")
    run(f"ip -n a -6 route replace 2001:db8:2::/64 encap mpls {stack} via 2001:db8:1::2 dev a-r")
    run("ip -n r -f mpls route replace 100 as 200 via inet 198.51.100.1 dev r-b")
    for label in ["200"] + inner:
        run(f"ip -n b -f mpls route replace {label} dev lo")


def router():
    shown = subprocess.check_output(["ip", "netns", "exec", "r", "tc", "-s", "-j", "qdisc", "show",
                                     "dev", "r-b"])
    return {q["kind"]: q for q in json.loads(shown)}


def through(version, labels, gso):
    what = f"IPv{version}, {labels} label{'s' if labels > 1 else ''}" + (", gso" if gso else "")
    label_path(labels)
    sysctl("a", "hopcc/xcp_gso", gso)
    run("ip netns exec r tc qdisc replace dev r-b root handle 1: tbf rate 20mbit burst 5k limit 1mb")
    run(f"ip netns exec r tc qdisc add dev r-b parent 1: handle 10: xcp rate {RATE} limit 100k")
    pair = connect(version)
    tap.claim(f"{what}: connected", bool(pair))
    if not pair:
        return
    tap.claim(f"{what}: stream exact", transfer([Stream(*pair, TOTAL)]))
    hosts.close(*pair)
    time.sleep(1)
    port = router()
    # A packet has 1428 bytes of payload, minus the labels.
    tap.claim(f"{what}: the router read each data packet's header",
              port["xcp"]["micro"] >= TOTAL / 1428, f"{port['xcp']['micro']}")
    tap.claim(f"{what}: and lowered its demand", port["xcp"]["reduced"] > TOTAL / 1428 / 2,
              f"{port['xcp']['reduced']}")
    tap.equal(f"{what}: no packet was dropped", port["tbf"]["drops"], 0)
    run("ip netns exec r tc qdisc del dev r-b root")


def main():
    for module in ("mpls_router", "mpls_iptunnel", "mpls_gso"):
        run(f"modprobe {module}")
    hosts.build_path()
    for version in (4, 6):
        for labels in (1, 2):
            through(version, labels, 0)
        through(version, 1, 1)
    hosts.remove_path()
    return tap.done()


sys.exit(main())
