#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""TCP Fast Open with the real modules, both ends with the same congestion control: a SYN that asks for
a cookie, then SYNs with data. Prints TAP.

    a ---- [r-a] r [r-b] ---- b		both ports: 100 Mbit/s, 500 us, xcp, int or csig

Needs root and the modules; changes nothing outside its own network namespaces.
"""
import socket
import sys
import time

import hosts
from hosts import B, Stream, connect, counts, since, sysctl, transfer
from late_choice import CARRIERS, falls_to, setup

MB = 1 << 20
TCP_FASTOPEN_CONNECT = 30

tap = hosts.Tap()


def listen(version, cc):
    listener = hosts.tcp("b", version, cc)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_FASTOPEN, 16)
    listener.bind((B[version], 0))
    listener.listen()
    return listener


def fast(version, cc, listener):
    """Connect with data on the SYN, or a request for a cookie. Return both ends, non-blocking."""
    sock = hosts.tcp("a", version, cc)
    sock.setsockopt(socket.IPPROTO_TCP, TCP_FASTOPEN_CONNECT, 1)
    sock.connect((B[version], listener.getsockname()[1]))
    sock.send(b"first")
    other = listener.accept()[0]
    first = other.recv(5)
    sock.setblocking(False)
    other.setblocking(False)
    return (sock, other) if first == b"first" else None


def stays(version, cc, what, ends, before):
    """Both ends send: exact, with the congestion control that was chosen, and nothing is refused."""
    exact = bool(ends) and transfer([Stream(*ends, 2 * MB), Stream(*reversed(ends), 2 * MB)])
    names = [hosts.cc_of(sock) for sock in ends]
    good = exact and names == [cc, cc]
    got = {}
    if cc in CARRIERS:
        carrier, data, _ = CARRIERS[cc]
        good = good and not any(falls_to(sock, cc) for sock in ends)
        for name in "ab":
            new = since(name, before[name], carrier)
            got[name] = {k: new.get(k, 0) for k in ("peer_supported", "peer_unsupported", "icmp_refused", data)}
            good = good and list(got[name].values())[:3] == [1, 0, 0] and got[name][data] > 10
    tap.claim(f"IPv{version} {cc}, {what}: exact, both ends stay with {cc}, nothing is refused", good,
              f"{exact}, {names}, {got}")
    hosts.close(*ends)
    time.sleep(0.5)


def begin(cc):
    return {name: counts(name, CARRIERS[cc][0]) for name in "ab"} if cc in CARRIERS else {}


def cases(version, cc):
    listener = listen(version, cc)
    for what, taken in (("a SYN that asks for a cookie", 0), ("a SYN with data", 1), ("another one", 1)):
        before, passive = begin(cc), hosts.netstat("b", "TCPFastOpenPassive")
        ends = fast(version, cc, listener)
        tap.equal(f"IPv{version} {cc}, {what}: opened by Fast Open",
                  hosts.netstat("b", "TCPFastOpenPassive") - passive, taken)
        stays(version, cc, what, ends, before)
    listener.close()
    before = begin(cc)
    stays(version, cc, "without Fast Open after that", connect(version, cc, sink_cc=cc), before)


def main():
    for cc in (*CARRIERS, "dctcp_ms", "ldcp"):
        if cc in CARRIERS:
            setup(cc)
        else:
            hosts.build_path()
        for name, value in (("a", 1), ("b", 2)):
            sysctl(name, "ipv4/tcp_fastopen", value)
        for version in (4, 6):
            cases(version, cc)
        hosts.remove_path()
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
