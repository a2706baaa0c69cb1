#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Ways in which a connection starts, with the real modules and the same congestion control at both
ends: SYN cookies, TCP Fast Open, ports of connections in TIME-WAIT, and the ways to select a
congestion control. Prints TAP.

    a ---- [r-a] r [r-b] ---- b		both ports: 100 Mbit/s, 500 us, xcp, int or csig

Needs root and the modules; allows their congestion controls to all users, and changes nothing else
outside its own network namespaces.
"""
import contextlib
import socket
import sys
import time

import hosts
from hosts import A, B, Stream, connect, counts, netstat, run, since, sysctl, transfer
from late_choice import CARRIERS, falls_to, setup, uses_reports

MB = 1 << 20
TCP_FASTOPEN_CONNECT = 30
GATEWAY = {("a", 4): "192.0.2.2", ("b", 4): "198.51.100.2",
           ("a", 6): "2001:db8:1::2", ("b", 6): "2001:db8:2::2"}

tap = hosts.Tap()


def begin(cc):
    return {name: counts(name, CARRIERS[cc][0]) for name in "ab"} if cc in CARRIERS else {}


def settled(cc, ends, before):
    """Return what both ends' carriers counted, and whether it is one negotiation that succeeded."""
    carrier, data, _ = CARRIERS[cc]
    good, got = all(uses_reports(sock, cc) for sock in ends), {}
    for name in "ab":
        new = since(name, before[name], carrier)
        got[name] = [new.get(key, 0) for key in ("peer_supported", "peer_unsupported", "icmp_refused", data)]
        good = good and got[name][:3] == [1, 0, 0] and got[name][3] > 10
    return good, got


def stays(what, cc, ends, before, first=0):
    """Both ends send: exact, with the congestion control that was selected, and nothing is refused.
    End @first closes first."""
    exact = bool(ends) and transfer([Stream(*ends, 2 * MB), Stream(*reversed(ends), 2 * MB)])
    names = [hosts.cc_of(sock) for sock in ends]
    good, got = settled(cc, ends, before) if cc in CARRIERS else (True, {})
    tap.claim(f"{what}: exact, both ends stay with {cc}, nothing is refused",
              good and exact and names == [cc, cc], f"{exact}, {names}, {got}")
    ends[first].close()
    time.sleep(0.5)
    ends[not first].close()
    time.sleep(0.5)


def goes_without(what, cc, ends, before):
    """The peer's carrier is off: exact, without headers, and both ends know it."""
    exact = bool(ends) and transfer([Stream(*ends, MB), Stream(*reversed(ends), MB)])
    fell = [falls_to(sock, cc) for sock in ends]
    got = since("a", before["a"], CARRIERS[cc][0]).get(CARRIERS[cc][1], 0)
    tap.claim(f"{what}: exact, both ends do without", exact and all(fell) and not got,
              f"{exact}, {[hosts.cc_of(sock) for sock in ends]}, {fell}, {got}")
    hosts.close(*ends)
    time.sleep(0.5)


def cookies(version, cc):
    """The SYN-ACK is built without state; what it carries still proves the peer."""
    sysctl("b", "ipv4/tcp_syncookies", 2)
    before, sent = begin(cc), netstat("b", "SyncookiesSent")
    ends = connect(version, cc, sink_cc=cc)
    tap.equal(f"IPv{version} {cc}: a SYN cookie was sent", netstat("b", "SyncookiesSent") - sent, 1)
    stays(f"IPv{version} {cc}, a SYN cookie", cc, ends, before)
    if cc in CARRIERS:
        with switched_off("b", CARRIERS[cc][0]):
            before = begin(cc)
            goes_without(f"IPv{version} {cc}, a SYN cookie of a peer without support", cc,
                         connect(version, cc, sink_cc=cc), before)
        time.sleep(61)
    sysctl("b", "ipv4/tcp_syncookies", 1)


@contextlib.contextmanager
def switched_off(name, carrier):
    with hosts.inside(name), open(f"/proc/sys/net/hopcc/{carrier}", encoding="ascii") as file:
        level = file.read().strip()
    sysctl(name, f"hopcc/{carrier}", 0)
    try:
        yield
    finally:
        sysctl(name, f"hopcc/{carrier}", level)


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


def listen(version, cc):
    listener = hosts.tcp("b", version, cc)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_FASTOPEN, 16)
    listener.bind((B[version], 0))
    listener.listen()
    return listener


def fast_open(version, cc):
    """A SYN with data has no option, and a SYN-ACK with Fast Open's cookie has no room for it: ACKs ask."""
    for name, value in (("a", 1), ("b", 2)):
        sysctl(name, "ipv4/tcp_fastopen", value)
    listener = listen(version, cc)
    for what, taken in (("a SYN that asks for a cookie", 0), ("a SYN with data", 1), ("another one", 1)):
        what = f"IPv{version} {cc}, {what}"
        before, passive, start = begin(cc), netstat("b", "TCPFastOpenPassive"), time.monotonic()
        ends = fast(version, cc, listener)
        spent_s = time.monotonic() - start
        tap.equal(f"{what}: opened by Fast Open", netstat("b", "TCPFastOpenPassive") - passive, taken)
        if cc in CARRIERS:
            asked = since("a", before["a"], CARRIERS[cc][0]).get(CARRIERS[cc][2], 0)
            tap.claim(f"{what}: {'no SYN' if taken else 'SYN and ACK'} with an option, nothing lost",
                      asked == (0 if taken else 2) and spent_s < 0.5, f"{asked} options, {spent_s:.3f} s")
        stays(what, cc, ends, before)
    listener.close()
    before = begin(cc)
    stays(f"IPv{version} {cc}, without Fast Open after that", cc, connect(version, cc, sink_cc=cc), before)


def again(listener, version, port, cc):
    """Connect from a port of our choice. Return both ends, non-blocking."""
    sock = hosts.tcp("a", version, cc)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind((A[version], port))
    sock.connect((B[version], listener.getsockname()[1]))
    other = listener.accept()[0]
    sock.setblocking(False)
    other.setblocking(False)
    return sock, other


def time_wait(version, cc):
    """The same addresses and ports once more: nothing of the connection before is used."""
    sysctl("a", "ipv4/tcp_tw_reuse", 1)
    listener = listen(version, cc)
    sock, other = again(listener, version, 0, "cubic")
    port = sock.getsockname()[1]
    sock.close()
    other.close()
    for first, what in ((0, "our TIME-WAIT of cubic"), (1, f"our TIME-WAIT of {cc}"),
                        (0, "the peer's TIME-WAIT"), (0, f"our TIME-WAIT of {cc} once more")):
        time.sleep(1.1)
        before = begin(cc)
        ends = again(listener, version, port, cc)
        stays(f"IPv{version} {cc}, {what}", cc, ends, before, first)
    listener.close()


def selected(version, cc):
    """By the namespace's default, and by the metric of a route."""
    for name in "ab":
        sysctl(name, "ipv4/tcp_congestion_control", cc)
    before = begin(cc)
    stays(f"IPv{version} {cc}, the default", cc, connect(version, cc=None, sink_cc=None), before)
    for name in "ab":
        sysctl(name, "ipv4/tcp_congestion_control", "cubic")
        run(f"ip -n {name} route replace default via {GATEWAY[name, version]} congctl {cc}")
    before = begin(cc)
    stays(f"IPv{version} {cc}, of a route", cc, connect(version, cc=None, sink_cc=None), before)
    for name in "ab":
        run(f"ip -n {name} route replace default via {GATEWAY[name, version]}")


def main():
    # Only what is allowed to all can be the default in a namespace.
    hosts.write("/proc/sys/net/ipv4/tcp_allowed_congestion_control",
                " ".join(("reno", "cubic", "dctcp_ms", "ldcp", *CARRIERS)))
    for cc in (*CARRIERS, "dctcp_ms", "ldcp"):
        if cc in CARRIERS:
            setup(cc)
        else:
            hosts.build_path()
        for version in (4, 6):
            cookies(version, cc)
            fast_open(version, cc)
            time_wait(version, cc)
            selected(version, cc)
        hosts.remove_path()
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
