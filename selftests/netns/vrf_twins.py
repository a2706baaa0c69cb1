#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Two VRFs with the same addresses, and in each a connection with the same ports: each has
its own flow, in every carrier. Status 1 if a claim fails. Needs root, the carriers, their
congestion controls and the kernel's vrf; all is in network namespaces of its own.

    a: VRF red  [red0] ----- [red0] VRF red  :b
       VRF blue [blue0] ---- [blue0] VRF blue     the same addresses in both
"""
import select
import socket
import sys
import time

import hosts
from hosts import FAMILY, Stream, counts, ip, run, sysctl, transfer

TOTAL = 1 << 18
VRFS = ("red", "blue")
ENDS = {"a": {4: "192.0.2.1", 6: "2001:db8:1::1"}, "b": {4: "192.0.2.2", 6: "2001:db8:1::2"}}
# Congestion control, its carrier, and the counter of headers or signals at the receiver
CARRIERS = {"xcp": ("xcp", "in"), "hpccpp": ("int", "in_probe"), "csig": ("csig", "in_received")}

tap = hosts.Tap()


def build():
    hosts.build("a", "b")
    for vrf in VRFS:
        ip(f"link add {vrf}0 netns a type veth peer name {vrf}0 netns b")
    for name in "ab":
        for number, vrf in enumerate(VRFS):
            ip(f"-n {name} link add {vrf} type vrf table {10 + number}\n"
               f"-n {name} link set {vrf} up\n"
               f"-n {name} link set {vrf}0 master {vrf}\n"
               f"-n {name} link set {vrf}0 up\n"
               f"-n {name} addr add {ENDS[name][4]}/24 dev {vrf}0\n"
               f"-n {name} addr add {ENDS[name][6]}/64 dev {vrf}0 nodad\n")
        sysctl(name, "hopcc/csig_ports", "*")
        sysctl(name, "hopcc/csig", 2)
        for carrier in ("xcp", "int", "csig"):
            sysctl(name, f"hopcc/{carrier}_unsupported_s", 0)
    time.sleep(3)


def bound(name, version, device, cc, port):
    sock = hosts.tcp(name, version, cc)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, device.encode())
    sock.bind((ENDS[name][version], port))
    return sock


def twin(version, device, cc, ports):
    """Connect between given ports. Return (source, sink) or None."""
    listener = bound("b", version, device, "cubic", ports[1])
    listener.listen()
    source = bound("a", version, device, cc, ports[0])
    source.setblocking(False)
    source.connect_ex((ENDS["b"][version], ports[1]))
    if not select.select([listener], [], [], 20)[0]:
        return None
    sink = listener.accept()[0]
    select.select([], [source], [], 20)
    listener.close()
    sink.setblocking(False)
    return source, sink


def idle(carrier):
    """Wait until no flow of an earlier connection is left."""
    end = hosts.limit_clock() + 60
    while any(counts(name, carrier)["flows"] for name in "ab") and hosts.limit_clock() < end:
        time.sleep(0.5)


def twins(version, cc, suffix):
    """suffix: "" binds sockets to the VRF, "0" to its port."""
    carrier, taken = CARRIERS[cc]
    ports = 40000 + version, 50000 + version
    what = f"IPv{version}, {cc}, sockets of {'ports' if suffix else 'VRFs'}"
    idle(carrier)
    before = {name: counts(name, carrier) for name in "ab"}

    def grown(name, key):
        return counts(name, carrier)[key] - before[name][key]

    pairs = [twin(version, vrf + suffix, cc, ports) for vrf in VRFS]
    flows = [grown(name, "flows") for name in "ab"]
    exact = all(pairs) and transfer([Stream(*p, TOTAL) for p in pairs], limit_s=60)
    peers = [grown(name, "peer_supported") for name in "ab"]
    for pair in filter(None, pairs):
        hosts.close(*pair)
    tap.equal(f"{what}: equal connections in two VRFs are two flows at both ends",
              (flows, peers), ([2, 2], [2, 2]))
    tap.claim(f"{what}: both streams are whole, and bear what is for them",
              exact and grown("b", taken) >= 2 and not grown("b", "in_no_flow"),
              f"{grown('b', taken)} taken, {grown('b', 'in_no_flow')} without a flow")


def unbound(version):
    """An unbound socket that accepts packets of all VRFs: tcp_l3mdev_accept."""
    for name in "ab":
        sysctl(name, "ipv4/tcp_l3mdev_accept", 1)
    idle("xcp")
    before = {name: counts(name) for name in "ab"}
    listener = hosts.tcp("b", version, "cubic")
    listener.bind(({4: "0.0.0.0", 6: "::"}[version], 0))
    listener.listen()
    source = bound("a", version, "red", "xcp", 0)
    source.setblocking(False)
    source.connect_ex((ENDS["b"][version], listener.getsockname()[1]))
    select.select([listener], [], [], 20)
    sink = listener.accept()[0]
    select.select([], [source], [], 20)
    sink.setblocking(False)
    exact = transfer([Stream(source, sink, TOTAL)], limit_s=60)
    got = {name: {k: v - before[name][k] for k, v in counts(name).items()} for name in "ab"}
    hosts.close(source, sink, listener)
    tap.claim(f"IPv{version}, xcp: a listener of no VRF takes a connection of one, in one flow",
              exact and all(got[n]["flows"] == got[n]["peer_supported"] == 1 for n in "ab") and
              not any(got[n]["in_no_flow"] for n in "ab"),
              f"{ {n: {k: v for k, v in got[n].items() if v} for n in 'ab'} }")
    for name in "ab":
        sysctl(name, "ipv4/tcp_l3mdev_accept", 0)


def main():
    build()
    for version in FAMILY:
        for cc in CARRIERS:
            twins(version, cc, "")
        twins(version, "csig", "0")
        unbound(version)
    run("ip netns del a")
    run("ip netns del b")
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
