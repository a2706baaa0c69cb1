#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""A class of HPCC++ beside a class of other traffic, with the rate that a scheduler guarantees, as in
Documentation/reference/sch_int.md. Prints TAP. Needs root, the modules, drr, htb and ets; all is in network
namespaces of its own.

    h1 ----+
           s [link 1 Gbit/s; scheduler; a class each: int] ---- r
    h2 ----+

The class of h1 has DSCP 10, that of h2 none: probes and data of a connection are in one class.
"""
import socket
import sys
import threading
import time

import hosts
from hosts import inside, run

RATE_BPS, DELAY = 1e9, "20us"
# TCP's data in what the port sends: 1448 of 1514 and the 24 of the overhead
GOODPUT_BPS = RATE_BPS * 1448 / 1538
WARM_S, SPAN_S = 0.08, 0.1
DSCP = 10
FLOWS = 2
# Least share of the guarantee; of the port where the other class is idle: HPCC++ uses 0.95, its probes included.
LEAST, LEAST_ALONE, MOST_RTT_US = 0.95, 0.9, 250

tap = hosts.Tap()


def build():
    hosts.build("h1", "h2", "s", "r")
    for n, name in enumerate(("h1", "h2", "r"), 1):
        hosts.ip(f"""
            link add {name}-s netns {name} type veth peer name s-{name} netns s
            -n {name} addr add 10.{n}.0.1/24 dev {name}-s
            -n s addr add 10.{n}.0.2/24 dev s-{name}
            -n {name} link set {name}-s up
            -n s link set s-{name} up
            -n {name} route add default via 10.{n}.0.2""")
    for space, dev in (("h1", "h1-s"), ("h2", "h2-s"), ("s", "s-h1"), ("s", "s-h2"), ("r", "r-s")):
        run(f"tc -n {space} qdisc replace dev {dev} root handle 1: link rate 10gbit delay {DELAY} overhead 24")


def classes(kind, weights):
    """A scheduler whose classes 1 and 2 share the port by their weights, with an int in each."""
    quanta = [1514 * weight for weight in weights]
    mbit = [1000 * weight // sum(weights) for weight in weights]
    run("tc -n s qdisc del dev s-r root", check=False)
    run(f"tc -n s qdisc add dev s-r root handle 1: link rate {RATE_BPS / 1e6:.0f}mbit delay {DELAY} overhead 24")
    if kind == "ets":
        run(f"tc -n s qdisc add dev s-r parent 1:1 handle 2: ets bands 2 quanta {quanta[0]} {quanta[1]}")
    else:
        run(f"tc -n s qdisc add dev s-r parent 1:1 handle 2: {kind}")
    if kind == "htb":
        # Only classes of one parent lend their rate.
        run("tc -n s class add dev s-r parent 2: classid 2:9 htb rate 1gbit overhead 24")
    for n, (quantum, rate) in enumerate(zip(quanta, mbit), 1):
        if kind == "drr":
            run(f"tc -n s class add dev s-r parent 2: classid 2:{n} drr quantum {quantum}")
        elif kind == "htb":
            run(f"tc -n s class add dev s-r parent 2:9 classid 2:{n} htb rate {rate}mbit ceil 1gbit "
                f"quantum {quantum} overhead 24")
        run(f"tc -n s qdisc add dev s-r parent 2:{n} handle {n}0: int rate {rate}mbit speed 1gbit overhead 24 sojourn "
            "share port_id 2")
    run("tc -n s filter add dev s-r parent 2: protocol ip prio 1 u32 "
        f"match ip dsfield {DSCP << 2:#x} 0xfc flowid 2:1")
    run("tc -n s filter add dev s-r parent 2: protocol all prio 9 u32 match u32 0 0 flowid 2:2")
    return mbit[0] / 1000


class Flow:
    """A stream from a host to r: bytes that arrived from WARM_S on."""

    def __init__(self, host, cc):
        self.received, self.stop = 0, None
        with inside("r"):
            listener = hosts.tcp("r", 4)
            listener.bind(("", 0))
            listener.listen()
        self.source = hosts.tcp(host, 4, cc)
        if host == "h1":
            self.source.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, DSCP << 2)
        self.source.connect(("10.3.0.1", listener.getsockname()[1]))
        self.sink = listener.accept()[0]
        listener.close()
        self.threads = [threading.Thread(target=run) for run in (self.send, self.receive)]

    def start(self, begin):
        self.begin, self.stop = begin + WARM_S, begin + WARM_S + SPAN_S
        for thread in self.threads:
            thread.start()

    def send(self):
        while time.monotonic() < self.stop:
            self.source.send(bytes(65536))
        self.source.shutdown(socket.SHUT_WR)

    def receive(self):
        while data := self.sink.recv(1 << 20):
            if self.begin < time.monotonic() < self.stop:
                self.received += len(data)

    def end(self):
        for thread in self.threads:
            thread.join(60)
        self.rtt_us, self.cc = hosts.srtt_us(self.source), hosts.cc_of(self.source)
        hosts.close(self.source, self.sink)


def talk(other):
    """Shares of the port's goodput that both classes get, flows of h1."""
    own = [Flow("h1", "hpccpp") for _ in range(FLOWS)]
    others = [Flow("h2", other) for _ in range(FLOWS)] if other else []
    begin = time.monotonic()
    for flow in own + others:
        flow.start(begin)
    for flow in own + others:
        flow.end()
    shares = [sum(flow.received for flow in flows) * 8 / SPAN_S / GOODPUT_BPS for flows in (own, others)]
    return shares, own


def beside(kind, weights, other):
    part = classes(kind, weights)
    (share, rest), flows = talk(other)
    rtt_us = max(flow.rtt_us for flow in flows)
    least, words = (LEAST * part, f"{LEAST} of this") if other else (LEAST_ALONE, f"{LEAST_ALONE} of the port")
    tap.claim(f"{kind}, {part:.2f} of the port guaranteed, beside {other or 'nothing'}: hpccpp has {words}, "
              "and a short queue", share >= least and rtt_us < MOST_RTT_US and
              {flow.cc for flow in flows} == {"hpccpp"},
              f"{share:.3f} of the port, {share / part:.3f} of the guarantee; the other {rest:.3f}; RTT {rtt_us} us, "
              f"{[flow.cc for flow in flows]}")


def main():
    run("modprobe -a sch_drr sch_htb sch_ets cls_u32 sch_int tcp_hpccpp", check=False)
    build()
    for kind, weights, others in (("drr", (1, 2), ("cubic", "hpccpp", None)), ("drr", (1, 1), ("cubic",)),
                                  ("htb", (1, 1), ("cubic", None)), ("ets", (1, 1), ("cubic",))):
        for other in others:
            beside(kind, weights, other)
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
