#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The room that a carrier has TCP's segments leave is given back when the flow goes before its
connection: a carrier is unloaded and loaded again, and the connection negotiates anew. Prints TAP.

    a ---- [r-a] r [r-b] ---- b		both ports: 100 Mbit/s, 500 us

Needs root and the modules; unloads two carriers; changes nothing else outside its own network
namespaces.

usage: room.py [vrf]    vrf: a socket that joins a VRF, which the lab's kernel does not have; unloads nothing
"""
import os
import socket
import struct
import sys
import time

import hosts
from hosts import counts, run, sysctl

CYCLES = 3
IDLE_S = 6      # longer than ageing leaves an unused entry alone
CARRIER = {"xcp": "net_xcp", "csig": "net_csig_tag"}
KO = os.environ.get("HOPLAB_KO")

tap = hosts.Tap()


def mss_of(sock):
    """Return the MSS with which TCP sends."""
    return struct.unpack_from("I", sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104), 16)[0]


def configure(cc):
    """Set the carrier's sysctls, which are lost when its module goes."""
    if cc == "xcp":
        # Each packet of b that is too big for its answer is a packet on the wire.
        sysctl("b", "hopcc/xcp_gso", 0)
        return
    for name in "arb":
        sysctl(name, "hopcc/csig_ports", "a-r r-a r-b b-r")
    for name in "ab":
        sysctl(name, "hopcc/csig", 2)


def build(cc):
    hosts.build_path()
    configure(cc)
    for dev in ("r-a", "r-b"):
        run(f"tc -n r qdisc replace dev {dev} root netem rate 100mbit delay 500us")


def both_ways(pair, rounds=30, size=20000):
    """Send data in both directions at once, so that answers wait for room in data."""
    for sock in pair:
        sock.setblocking(True)
    for _ in range(rounds):
        for sock in pair:
            sock.sendall(bytes(size))
        for sock in pair:
            left = size
            while left:
                left -= len(sock.recv(left))


def choose(pair, cc):
    pair[0].setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, cc.encode())


def use(pair, cc):
    """Let a negotiate, and send until b has room in its data, at most for a while."""
    free = mss_of(pair[1])
    choose(pair, cc)
    for _ in range(20):
        both_ways(pair)
        if mss_of(pair[1]) < free:
            break


def reload(cc):
    run(f"rmmod tcp_{cc} {CARRIER[cc]}")
    yield
    for module in (CARRIER[cc], f"tcp_{cc}"):
        run(f"insmod {KO}/{module}/{module}.ko")
    configure(cc)


def cycles(cc, version):
    """Return the MSS of both ends while the carrier is loaded and while it is not, and the numbers of flows of b."""
    pair = hosts.connect(version, cc="reno", sink_cc="reno")
    both_ways(pair)
    with_flow, without, flows = [], [[mss_of(sock) for sock in pair]], []
    for _ in range(CYCLES):
        use(pair, cc)
        with_flow.append([mss_of(sock) for sock in pair])
        flows.append(counts("b", cc)["flows"])
        choose(pair, "reno")
        steps = reload(cc)
        next(steps)
        without.append([mss_of(sock) for sock in pair])
        next(steps, None)
    hosts.close(*pair)
    return with_flow, without, flows


def change_vrf(cc):
    """b's socket joins a VRF, where packets do not find its flow any more."""
    pair = hosts.connect(4, cc="reno", sink_cc="reno")
    both_ways(pair)
    before = mss_of(pair[1])
    use(pair, cc)
    tap.claim(f"{cc}: a flow in use has room", mss_of(pair[1]) < before, f"{mss_of(pair[1])} of {before}")
    run("ip -n b link add vrf-b type vrf table 10")
    run("ip -n b link set b-r master vrf-b")
    pair[1].setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"b-r")
    time.sleep(IDLE_S)
    tap.equal(f"{cc}: a flow that its connection has left for a VRF goes, and gives the room back",
              [counts("b", cc)["flows"], mss_of(pair[1])], [0, before])
    hosts.close(*pair)


def reloaded(cc, version):
    with_flow, without, flows = cycles(cc, version)
    what = f"{cc}, IPv{version}"
    tap.claim(f"{what}: each time, the connection negotiates anew, and both ends leave room",
              flows == [1] * CYCLES and all(x < y for x, y in zip(with_flow[0], without[0])),
              f"{flows}, {with_flow[0]} of {without[0]}")
    tap.equal(f"{what}: the room is the same each time", with_flow, with_flow[:1] * CYCLES)
    tap.equal(f"{what}: without the flow the room is given back", without, without[:1] * (CYCLES + 1))


def main():
    for cc in ("csig", "xcp"):
        build(cc)
        if sys.argv[1:] == ["vrf"]:
            change_vrf(cc)
        else:
            for version in (4, 6):
                reloaded(cc, version)
        hosts.remove_path()
    return tap.done()


if __name__ == "__main__":
    raise SystemExit(main())
