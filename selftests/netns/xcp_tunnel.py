#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""XCP through tunnels, section 2.5: a router inside the tunnel is heard when
net.hopcc.xcp_tunnel is on at both ends, and is not when it is off; what comes out
of a tunnel is not trusted. Prints TAP. Needs root; all is in network namespaces of
its own.

    a ---- e ========= r ==[xcp]== x ---- b
            tunnel's entry and exit
"""
import json
import os
import socket
import struct
import subprocess
import sys
import time

import hosts
from hosts import Stream, connect, counts, run, since, sysctl, transfer
from wire import inet_sum

# The debug kernel is slow.
DEBUG = os.environ.get("HOPLAB_KERNEL") == "debug"
MB = (1 << 20) // (8 if DEBUG else 1)
RATE_BYTES_PS = 2500000
# Of an RTT of 20 ms and 20 Mbit/s
BUFFER = 64000

tap = hosts.Tap()

OUTER = {"e": {4: "198.51.100.1", 6: "2001:db8:10::1"},
         "x": {4: "198.51.100.129", 6: "2001:db8:20::1"}}
B = {4: "192.0.2.129", 6: "2001:db8:2::1"}

TOPOLOGY = """
link add a-e netns a type veth peer name e-a netns e
link add e-r netns e type veth peer name r-e netns r
link add r-x netns r type veth peer name x-r netns x
link add x-b netns x type veth peer name b-x netns b
-n a addr add 192.0.2.1/25 dev a-e
-n a addr add 2001:db8:1::1/64 dev a-e nodad
-n e addr add 192.0.2.2/25 dev e-a
-n e addr add 2001:db8:1::2/64 dev e-a nodad
-n e addr add 198.51.100.1/25 dev e-r
-n e addr add 2001:db8:10::1/64 dev e-r nodad
-n r addr add 198.51.100.2/25 dev r-e
-n r addr add 2001:db8:10::2/64 dev r-e nodad
-n r addr add 198.51.100.130/25 dev r-x
-n r addr add 2001:db8:20::2/64 dev r-x nodad
-n x addr add 198.51.100.129/25 dev x-r
-n x addr add 2001:db8:20::1/64 dev x-r nodad
-n x addr add 192.0.2.130/25 dev x-b
-n x addr add 2001:db8:2::2/64 dev x-b nodad
-n b addr add 192.0.2.129/25 dev b-x
-n b addr add 2001:db8:2::1/64 dev b-x nodad
-n a link set a-e up
-n e link set e-a up
-n e link set e-r up
-n r link set r-e up
-n r link set r-x up
-n x link set x-r up
-n x link set x-b up
-n b link set b-x up
-n a route add default via 192.0.2.2
-n e route add default via 198.51.100.2
-n x route add default via 198.51.100.130
-n b route add default via 192.0.2.130
-n a route add default via 2001:db8:1::2
-n e route add default via 2001:db8:10::2
-n x route add default via 2001:db8:20::2
-n b route add default via 2001:db8:2::2
"""

# name, version outside, versions inside, type of link, its options
TUNNELS = (
    ("ipip", 4, (4,), "ipip", ""),
    ("sit", 4, (6,), "sit", ""),
    ("ip6tnl", 6, (4, 6), "ip6tnl", "mode any"),
    ("ip6tnl without encapsulation limit", 6, (6,), "ip6tnl", "mode ip6ip6 encaplimit none"),
    ("gre", 4, (4, 6), "gre", ""),
    ("gre with checksum", 4, (4, 6), "gre", "csum"),
    ("gre with checksum, key and sequence", 4, (4,), "gre", "csum key 7 seq"),
    ("ip6gre with checksum", 6, (4, 6), "ip6gre", "csum"),
)


def build_path():
    hosts.build("a", "e", "r", "x", "b")
    for line in TOPOLOGY.strip().splitlines():
        run("ip " + line)
    for line in (f"r tc qdisc add dev r-x root handle 1: tbf rate {8 * RATE_BYTES_PS}bit"
                 " burst 3000 limit 1mb",
                 f"r tc qdisc add dev r-x parent 1: handle 10: xcp rate {8 * RATE_BYTES_PS}bit"
                 f" limit {BUFFER}",
                 "b tc qdisc add dev b-x root netem delay 20ms limit 10000"):
        run("ip netns exec " + line)
    # Link-local addresses, which neighbours are asked from, are checked for twins.
    time.sleep(3)


def build_tunnel(version, kind, options, mtu=1400):
    for name, other in (("e", "x"), ("x", "e")):
        run(f"ip -n {name} link add t0 type {kind} local {OUTER[name][version]}"
            f" remote {OUTER[other][version]} {options}")
        run(f"ip -n {name} link set t0 mtu {mtu} up")
    run("ip -n e route add 192.0.2.128/25 dev t0")
    run("ip -n x route add 192.0.2.0/25 dev t0")
    run("ip -n e -6 route add 2001:db8:2::/64 dev t0")
    run("ip -n x -6 route add 2001:db8:1::/64 dev t0")
    time.sleep(3)


def remove_tunnel():
    for name in ("e", "x"):
        run(f"ip -n {name} link del t0")


def switch(on):
    for name in ("e", "x"):
        sysctl(name, "hopcc/xcp_tunnel", on)


def port():
    """The bottleneck as tc sees it."""
    shown = subprocess.run("ip netns exec r tc -s -j qdisc show dev r-x".split(),
                           stdout=subprocess.PIPE, check=True).stdout
    return {q["kind"]: q for q in json.loads(shown)}


def through(version, total):
    """A stream from a to b: what it did to all concerned."""
    before = {name: counts(name) for name in "aexb"}
    start, half = port(), {}
    pair = connect(version, sink="b", to=B)
    if not pair:
        return {"exact": False}

    def watch(received):
        if not half and received > total // 2:
            half.update(time=time.monotonic(), bytes=port()["tbf"]["bytes"])

    exact = transfer([Stream(*pair, total)], meanwhile=watch)
    took = time.monotonic() - half["time"]
    end = port()
    hosts.close(*pair)
    time.sleep(1)
    got = {name: since(name, was) for name, was in before.items()}
    got.update(exact=exact, load=(end["tbf"]["bytes"] - half["bytes"]) / took / RATE_BYTES_PS,
               drops=sum(end[k]["drops"] - start[k]["drops"] for k in end),
               reduced=end["xcp"]["reduced"] - start["xcp"]["reduced"])
    return got


def detail(got):
    return (f"load {got['load']:.3f}, {got['drops']} drops, {got['reduced']} lowered, "
            f"{got['e']['tunnel_out']} copies, {got['x']['tunnel_lowered']} copied back")


def heard(version, name, total):
    """Both ends know: the router inside is obeyed."""
    switch(1)
    got = through(version, total)
    tap.claim(f"IPv{version} in {name}: exact, without a drop, at the inner router's rate",
              got["exact"] and not got["drops"] and 0.95 <= got["load"] <= 1, detail(got))
    data = got["a"]["out_data"]
    tap.claim(f"IPv{version} in {name}: each header has a copy, and none is left over",
              got["e"]["tunnel_out"] == data + got["a"]["out_syn"] > 0 and
              got["x"]["tunnel_in"] == got["e"]["tunnel_out"] and
              got["e"]["tunnel_in"] == got["x"]["tunnel_out"] ==
              got["b"]["out_ack"] + got["b"]["out_syn"] > 0)
    tap.claim(f"IPv{version} in {name}: what the router lowered was copied back",
              0 < got["x"]["tunnel_lowered"] <= got["reduced"] and
              not any(got[end]["tunnel_" + k] for end in "ex"
                      for k in ("bad", "no_room", "super", "avoided", "refused")))


def not_heard(version, name, total):
    """The same path with the option off: who does not hear sends too fast."""
    switch(0)
    got = through(version, total)
    tap.claim(f"IPv{version} in {name}, option off: exact, and the router inside overflows",
              got["exact"] and got["drops"] > 0 and not got["reduced"] and
              got["a"]["out_data"] > 0 and not got["e"]["tunnel_out"], detail(got))


def every_kind():
    for name, outer, inners, kind, options in TUNNELS:
        if DEBUG and kind not in ("ip6tnl", "gre"):
            continue
        build_tunnel(outer, kind, options)
        for inner in inners:
            heard(inner, name, 8 * MB)
        if kind in ("ipip", "ip6tnl"):
            not_heard(inners[0], name, 8 * MB)
        remove_tunnel()


def main():
    build_path()
    every_kind()
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
