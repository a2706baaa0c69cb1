#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Every congestion control and every carrier, while the network around them breaks.

    a [netem] ---- r [tbf, hop qdisc] ---- b [netem]     data in both directions
      [netem] ---- s [tbf, hop qdisc] ----   [netem]     the second path

A seeded schedule injects one fault after another: loss, reordering, duplication, corruption, link
flaps, MTU changes, path changes, a replaced qdisc, a removed router, knobs, another congestion
control, jumps of the wall clock, a suspended host, and standstills: all clocks go on, and nothing
else happens, as on a virtual machine that is stopped for a while. Both ends hash every byte.

chaos.py [--faults N] MODULE [SEED [SYSTEM ...]] prints TAP and then the numbers of streams, bytes
and faults. It needs root, all modules and the module standstill, whose file is MODULE (chaos.t
builds it), and changes nothing outside its own network namespaces but the clocks.
"""
import argparse
import collections
import math
import random
import socket
import sys
import time

import hosts
from hosts import Stream, close, run, sysctl, transfer

tap = hosts.Tap()
TOTAL_BYTES = 1 << 20
ENDS = {"a": {4: "10.9.0.1", 6: "fd09::1"}, "b": {4: "10.9.0.2", 6: "fd09::2"}}
ROUTERS = {"r": 1, "s": 2}
IMPAIRMENTS = ("", "loss 1%", "loss 10%", "delay 1ms 1ms", "delay 2ms reorder 75% 25%", "duplicate 5%",
               "corrupt 1%", "loss 3% duplicate 3% corrupt 1% delay 500us 400us")
WRED = "wred limit 300000 ect min 20000 max 20000 prob 1"
XCP, INT, CSIG = "xcp rate 100mbit", "int rate 100mbit switch_id 1", "csig rate 100mbit lm all compact 42"

# system: congestion control, qdisc of the routers, knobs of the hosts, the carrier and its knob
System = collections.namedtuple("System", "cc hop knobs carrier")
SYSTEMS = {
    "dctcp_ms": System("dctcp_ms", WRED, {}, None),
    "ldcp": System("ldcp", WRED, {}, None),
    "xcp": System("xcp", XCP, {"tcp_xcp_loss": 1, "xcp_unsupported_s": 0}, "xcp"),
    "hpccpp": System("hpccpp", INT, {"tcp_hpccpp_rate_mbit": 100, "int_unsupported_s": 0}, "int"),
    "hpccpp-inband": System("hpccpp", INT, {"tcp_hpccpp_rate_mbit": 100, "int_unsupported_s": 0,
                                            "int_forward": 1, "int_reverse": 1}, "int"),
    "csig": System("csig", CSIG, {"csig_unsupported_s": 0}, "csig"),
    "cubic-csig": System("cubic", CSIG, {"csig_unsupported_s": 0, "csig_cc": "cubic"}, "csig"),
}


class Network:
    """Two hosts and two routers, and the functions by which faults change them."""

    def __init__(self, system):
        self.system = system
        for name in ("a", "b"):
            self.add_host(name)
        for router in ROUTERS:
            self.add_router(router)
        self.impairment = ""
        self.take_path("r")

    def start(self, name):
        hosts.build(name)
        for knob in ("all", "default"):
            sysctl(name, f"ipv6/conf/{knob}/accept_dad", 0)
            sysctl(name, f"ipv6/conf/{knob}/keep_addr_on_down", 1)
        if self.system.carrier == "csig":
            sysctl(name, "hopcc/csig_ports", "*")
            sysctl(name, "hopcc/csig", 2)

    def add_host(self, name):
        self.start(name)
        for knob, value in self.system.knobs.items():
            sysctl(name, f"hopcc/{knob}", value)
        hosts.ip(f"-n {name} addr add {ENDS[name][4]}/32 dev lo\n"
                 f"-n {name} addr add {ENDS[name][6]}/128 dev lo nodad")

    def add_router(self, router):
        """Add a router, its links to both hosts and its qdiscs."""
        net = ROUTERS[router]
        self.start(router)
        lines = []
        for i, host in enumerate(ENDS):
            lines += [
                f"link add {host}-{router} netns {host} type veth peer name {router}-{host} netns {router}",
                f"-n {host} addr add 10.{net}.{i}.1/24 dev {host}-{router}",
                f"-n {host} addr add fd0{net}:{i}::1/64 dev {host}-{router} nodad",
                f"-n {router} addr add 10.{net}.{i}.2/24 dev {router}-{host}",
                f"-n {router} addr add fd0{net}:{i}::2/64 dev {router}-{host} nodad",
                f"-n {host} link set {host}-{router} up",
                f"-n {router} link set {router}-{host} up"]
        hosts.ip("\n".join(lines))
        for host in ENDS:
            self.add_router_routes(router, host)
            self.add_hop(router, host)

    @staticmethod
    def add_router_routes(router, host):
        net, i = ROUTERS[router], list(ENDS).index(host)
        hosts.ip(f"-n {router} route replace {ENDS[host][4]}/32 via 10.{net}.{i}.1\n"
                 f"-n {router} route replace {ENDS[host][6]}/128 via fd0{net}:{i}::1")

    def add_hop(self, router, host):
        dev = f"dev {router}-{host}"
        run(f"tc -n {router} qdisc replace {dev} root handle 1: tbf rate 100mbit burst 32k limit 300k")
        run(f"tc -n {router} qdisc add {dev} parent 1:1 handle 10: {self.system.hop}")

    def take_path(self, router):
        """Route between both hosts through this router."""
        self.path, net = router, ROUTERS[router]
        for i, (host, other) in enumerate((("a", "b"), ("b", "a"))):
            for version, gateway, mask in ((4, f"10.{net}.{i}.2", 32), (6, f"fd0{net}:{i}::2", 128)):
                run(f"ip -{version} -n {host} route replace {ENDS[other][version]}/{mask} via {gateway} "
                    f"src {ENDS[host][version]}")
        self.impair(self.impairment)

    def impair(self, impairment):
        self.impairment = impairment
        for host in ENDS:
            run(f"tc -n {host} qdisc replace dev {host}-{self.path} root netem limit 1000 {impairment}")

    def remove(self):
        for name in (*ENDS, *ROUTERS):
            run(f"ip netns del {name}")


class Faults:
    """The kinds of faults: each method starts a fault and returns the function that ends it."""

    def __init__(self, seed, network, socks, most):
        self.random, self.network, self.socks = random.Random(seed), network, socks
        self.kinds = [k for k in KINDS if network.system.carrier or k != "knob"]
        self.counts, self.most = collections.Counter(), most
        self.next_s, self.end_fault, self.clock_s = 0, None, 0

    def __call__(self, _received):
        now = time.monotonic()
        if now < self.next_s:
            return
        self.next_s = now + self.random.uniform(0.001, 0.016)
        if self.end_fault:
            self.end_fault()
            self.end_fault = None
            return
        if self.counts.total() == self.most:
            self.network.impair("")
            self.next_s = math.inf
            return
        name = self.random.choice(self.kinds)
        self.counts[name] += 1
        self.end_fault = getattr(self, name)()

    def stop(self):
        if self.end_fault:
            self.end_fault()
        self.jump_back()

    def impairment(self):
        self.network.impair(self.random.choice(IMPAIRMENTS))

    def link_flap(self):
        router, host = self.network.path, self.random.choice(list(ENDS))
        run(f"ip -n {router} link set {router}-{host} down")

        def up():
            run(f"ip -n {router} link set {router}-{host} up")
            self.network.add_router_routes(router, host)
        return up

    def mtu(self):
        router, host = self.network.path, self.random.choice(list(ENDS))
        run(f"ip -n {router} link set {router}-{host} mtu {self.random.choice((1280, 1400, 1492, 9000))}")
        return lambda: run(f"ip -n {router} link set {router}-{host} mtu 1500")

    def path(self):
        self.network.take_path("s" if self.network.path == "r" else "r")

    def hop_qdisc(self):
        router, host = self.network.path, self.random.choice(list(ENDS))
        run(f"tc -n {router} qdisc del dev {router}-{host} root")
        return lambda: self.network.add_hop(router, host)

    def router(self):
        """Remove a router with its devices and add it again; the other one takes over meanwhile."""
        gone = self.network.path
        run(f"ip netns del {gone}")
        self.network.take_path("s" if gone == "r" else "r")
        return lambda: self.network.add_router(gone)

    def knob(self):
        carrier = self.network.system.carrier
        host, on = self.random.choice(list(ENDS)), 2 if carrier == "csig" else 1
        sysctl(host, f"hopcc/{carrier}", 0)
        return lambda: sysctl(host, f"hopcc/{carrier}", on)

    def congestion_control(self):
        sock = self.random.choice(self.socks)
        before = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"reno")
        ours = self.network.system.cc.encode() if b"-reno" in before else before.rstrip(b"\0")
        return lambda: sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, ours)

    def wall_clock(self):
        step_s = self.random.choice((-3600, -1, 1, 3600, 86400))
        self.clock_s += step_s
        time.clock_settime(time.CLOCK_REALTIME, time.time() + step_s)

    def suspend(self):
        """Suspend a host: its links go down for a moment, and its wall clock jumps by hours."""
        host = self.random.choice(list(ENDS))
        self.set_links(host, "down")
        step_s = self.random.choice((60, 3600, 86400))
        self.clock_s += step_s
        time.clock_settime(time.CLOCK_REALTIME, time.time() + step_s)

        def resume():
            self.set_links(host, "up")
            self.network.take_path(self.network.path)
        return resume

    @staticmethod
    def set_links(host, state):
        hosts.ip("\n".join(f"-n {host} link set {host}-{router} {state}" for router in ROUTERS))

    def standstill(self):
        hosts.write(STANDSTILL_MS, self.random.choice((20, 200, 1000, 5000)))

    def jump_back(self):
        time.clock_settime(time.CLOCK_REALTIME, time.time() - self.clock_s)


KINDS = ("impairment", "impairment", "link_flap", "mtu", "path", "hop_qdisc", "router", "knob",
         "congestion_control", "wall_clock", "suspend", "standstill")
STANDSTILL_MS = "/sys/module/standstill/parameters/ms"


def connect(version, cc):
    """Return a connection between the hosts' own addresses, with the cc at both ends."""
    pair = hosts.connect(version, cc, to=ENDS["b"], sink_cc=cc)
    if not pair:
        sys.exit(f"{cc}: no connection over IPv{version}")
    return pair


def headers(carrier):
    """Return the number of packets with the carrier's header or tag that left both hosts."""
    if not carrier:
        return 0
    return sum(v for name in ENDS for k, v in hosts.counts(name, carrier).items()
               if k in ("out_tag", "out_data", "out_probe", "out"))


def run_system(name, version, seed, most):
    """Return (intact, bytes received, number of faults) for both directions of a connection."""
    system = SYSTEMS[name]
    network = Network(system)
    pair = connect(version, system.cc)
    faults = Faults(f"{seed} {name} {version}", network, pair, most)
    streams = [Stream(*pair, TOTAL_BYTES), Stream(*reversed(pair), TOTAL_BYTES)]
    random.seed(seed)
    whole = transfer(streams, meanwhile=faults, step_s=0.004)
    faults.stop()
    received, left = sum(s.received for s in streams), headers(system.carrier)
    close(*pair)
    network.remove()
    tap.claim(f"{name} over IPv{version}: both directions arrive whole",
              whole, f"{received} bytes, {faults.counts.total()} faults: {dict(faults.counts)}")
    if system.carrier:
        tap.claim(f"{name} over IPv{version}: the carrier's headers travelled", left > 50, f"{left} headers")
    return received, faults.counts


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("module")
    parser.add_argument("--faults", type=int, default=40, help="of a connection; then the network stays whole")
    parser.add_argument("seed", type=int, nargs="?", default=1)
    parser.add_argument("systems", nargs="*", default=list(SYSTEMS))
    arguments = parser.parse_args()
    run(f"insmod {arguments.module}")
    received, counts, streams = 0, collections.Counter(), 0
    for name in arguments.systems:
        for version in (4, 6):
            got, faults = run_system(name, version, arguments.seed, arguments.faults)
            received, streams, counts = received + got, streams + 2, counts + faults
    tap.claim("each kind of fault was injected", set(counts) == set(KINDS), f"{dict(counts)}")
    print(f"# {streams} streams, {received} bytes, {counts.total()} faults, {tap.failures} failures")
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
