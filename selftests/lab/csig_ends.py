#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Figure 5 of the draft at 1 % of its rates, as the flow state of a TCP sender shows it.

    a ---- b0 ==five hops of csig_path.py== b5 ---- b
    c -VLAN 5- ra -- b0                     b5 -- rb -VLAN 6- d     ra, rb: routers

The sender writes one byte every 1.5 ms, which is 0.1 % of the slowest link. Each packet asks for
another signal. The flow state is read a little later; the answer arrives within 100 us, one RTT.
"""
import os
import socket
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../netns"))
import csig_flows
import csig_path as path
import hosts

path.RUN_NS = 12000000

HOST = {"a": ("192.0.2.1", "02:00:00:00:0a:01"), "b": ("192.0.2.2", "02:00:00:00:0b:01"),
        "ra": ("192.0.2.11", "02:00:00:00:0a:02"), "rb": ("192.0.2.12", "02:00:00:00:0b:02")}
OTHER = {"a": "b", "b": "a", "ra": "rb", "rb": "ra"}
# Hosts behind a router: name, router, VLAN, network
BEHIND = (("c", "ra", 5, "198.51.100"), ("d", "rb", 6, "203.0.113"))
NAMES = {path.ABW: "min(ABW)", path.ABW_C: "min(ABW/C)", path.PD: "max(PD)"}
FORMS = {1: path.COMPACT, 2: path.EXPANDED}
GAP_S, RTT_S = 1.5e-3, 100e-6
tap = hosts.Tap()


def attach(name, bridge):
    other = OTHER[name]
    hosts.build(name)
    path.must(f"ip link add name {name}x type veth peer name e0 netns {name};"
              f"sysctl -qw net.ipv6.conf.{name}x.disable_ipv6=1;"
              f"ip link set {name}x master {bridge} up;"
              f"ip -n {name} link set e0 address {HOST[name][1]} up;"
              f"ip -n {name} addr add {HOST[name][0]}/24 dev e0;"
              f"ip -n {name} neigh add {HOST[other][0]} lladdr {HOST[other][1]} dev e0;"
              f"bridge fdb replace {HOST[name][1]} dev {name}x master static")
    hosts.sysctl(name, "hopcc/csig_ports", "e0")
    hosts.sysctl(name, "hopcc/csig_quantum", "1000 100 64")


def behind(host, router, vlan, net):
    """Make a host behind a router, in a VLAN of the link between them."""
    hosts.build(host)
    path.must(f"ip link add name {host}{router} netns {router} type veth peer name e0 netns {host}")
    for name, dev, number in ((host, "e0", 1), (router, host + router, 2)):
        path.must(f"ip -n {name} link set {dev} up;"
                  f"ip -n {name} link add link {dev} name v{vlan} type vlan id {vlan};"
                  f"ip -n {name} link set v{vlan} up;"
                  f"ip -n {name} addr add {net}.{number}/24 dev v{vlan}")
        hosts.sysctl(name, "hopcc/csig_ports", f"e0 v{vlan}" if name == router else f"v{vlan}")
    path.must(f"ip -n {host} route add default via {net}.2")
    hosts.sysctl(host, "hopcc/csig_quantum", "1000 100 64")


def network():
    path.network()
    attach("a", "b0")
    attach("b", "b5")
    attach("ra", "b0")
    attach("rb", "b5")
    for host, router, vlan, net in BEHIND:
        behind(host, router, vlan, net)
    path.must(f"ip -n ra route add 203.0.113.0/24 via {HOST['rb'][0]};"
              f"ip -n rb route add 198.51.100.0/24 via {HOST['ra'][0]}")
    for hop in range(1, len(path.HOPS) + 1):
        for near, far in (("a", "b"), ("ra", "rb")):
            path.must(f"bridge fdb replace {HOST[far][1]} dev h{hop} master static;"
                      f"bridge fdb replace {HOST[near][1]} dev h{hop}x master static")
    for near, far in (("a", "b"), ("c", "d")):
        hosts.sysctl(near, "hopcc/csig", 2)
        hosts.sysctl(far, "hopcc/csig", 1)
        hosts.sysctl(near, "hopcc/csig_cc", "cubic")
    time.sleep(3)


def connect(source="a"):
    sink, to = ("b", HOST["b"][0]) if source == "a" else ("d", "203.0.113.1")
    pair = hosts.connect(4, "cubic", source, sink, {4: to})
    for sock in pair:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return pair


def write(pair, source="a"):
    """Write a byte. Return the sender's flow state a little later, and that time."""
    pair[1].setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
    left_ns = time.monotonic_ns()
    pair[0].send(b"x")
    time.sleep(2 * RTT_S)
    flow = csig_flows.flow_of(source, pair[0])
    flow["since_ns"] = time.monotonic_ns() - left_ns
    return flow


def judge(form, worst, what, source="a"):
    """Write once for each signal, under load, and check its value."""
    hosts.sysctl(source, "hopcc/csig_form", form)
    pair = connect(source)
    # Afterwards the path is known to pass tags, and the next packet asks for the first signal.
    for _ in range(3):
        write(pair, source)
        time.sleep(GAP_S)
    load = path.Path()
    load.load()
    time.sleep(2.2 * path.INTERVAL_NS / 1e9)
    for kind in (path.ABW, path.ABW_C, path.PD):
        flow = write(pair, source)
        got = flow["signal"].get(kind, dict(value=-1, locator=0, age_ns=1 << 40, low=0, high=0))
        took_ns = flow["since_ns"] - got["age_ns"]
        tap.claim(f"{what}: {NAMES[kind]} and its locator, one RTT after",
                  0 < took_ns < RTT_S * 1e9 and
                  path.is_right(kind, FORMS[form], got["value"], got["locator"], *worst[kind]),
                  f"{got['low']} to {got['high']}, locator {got['locator']}, "
                  f"after {took_ns} ns; due: hop {worst[kind][0]}, {worst[kind][1]}")
        time.sleep(GAP_S)
    hosts.close(*pair)
    time.sleep(0.2)


def main():
    if os.geteuid():
        print("1..0 # SKIP needs root in the lab's guest")
        return 0
    network()
    judge(1, path.WORST, "compact")
    judge(2, path.WORST, "expanded")
    path.must("tc qdisc change dev h3 parent 1:1 handle 10: csig mode pass")
    judge(2, {**path.WORST, path.PD: (1, 10000)}, "a hop that passes is missing")
    judge(2, {**path.WORST, path.PD: (1, 10000)}, "and between routers, VLANs at both ends", "c")
    path.must("tc qdisc change dev h3 parent 1:1 handle 10: csig mode strip")
    before = hosts.counts("a", "csig")
    pair = connect()
    states = [write(pair)["path"] for _ in range(5)]
    hosts.close(*pair)
    after = hosts.counts("a", "csig")
    tap.claim("a hop that strips: three tags, and the sender stops",
              after["out_tag"] - before["out_tag"] == 3 and states[-1] == csig_flows.STRIPPED and
              after["in_value"] == before["in_value"], f"{states}")
    return tap.done()


sys.exit(main())
