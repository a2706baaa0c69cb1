#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Multipath TCP: each of a connection's two sub-flows negotiates, and keeps the congestion control
that was selected. Status 1 if a claim fails. Needs root, all congestion controls and a kernel with
MPTCP; changes nothing outside its own network namespaces.

    a 192.0.2.1, .11 ---- r ---- b		the second sub-flow starts from a's second address
"""
import select
import socket
import subprocess
import sys
import time

import hosts
from hosts import A, B, FAMILY, Stream, counts, ip, run, since, sysctl, transfer

TOTAL = 1 << 18
SECOND = {4: "192.0.2.11", 6: "2001:db8:1::11"}
CARRIERS = {"xcp": "xcp", "hpccpp": "int", "csig": "csig"}

tap = hosts.Tap()


def build():
    hosts.build_path()
    ip(f"-n a addr add {SECOND[4]}/24 dev a-r\n"
       f"-n a addr add {SECOND[6]}/64 dev a-r nodad")
    for name in "ab":
        ip(f"-n {name} mptcp limits set subflow 2")
        sysctl(name, "mptcp/enabled", 1)
        sysctl(name, "hopcc/csig_ports", "*")
        sysctl(name, "hopcc/csig", 2)
    # HPCC++ ends on a path where no hop reports.
    for dev in ("r-a", "r-b"):
        run(f"tc -n r qdisc add dev {dev} root int rate 100mbit switch_id 1")
    for address in SECOND.values():
        ip(f"-n a mptcp endpoint add {address} dev a-r subflow")


def multipath(name, version, cc):
    with hosts.inside(name):
        sock = socket.socket(FAMILY[version], socket.SOCK_STREAM, socket.IPPROTO_MPTCP)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, cc.encode())
    return sock


def connect(version, cc):
    """Return both ends, and the listener, which the second sub-flow needs too."""
    listener = multipath("b", version, cc)
    listener.bind((B[version], 0))
    listener.listen()
    sock = multipath("a", version, cc)
    sock.bind((A[version], 0))
    sock.connect((B[version], listener.getsockname()[1]))
    if not select.select([listener], [], [], 20)[0]:
        return None
    other = listener.accept()[0]
    for end in (sock, other):
        end.setblocking(False)
    return sock, other, listener


def subflows(name, cc=""):
    """Return how many sub-flows there are, and how many of them use the congestion control."""
    out = subprocess.run(["ip", "netns", "exec", name, "ss", "-tinHO", "state", "established"],
                         capture_output=True, text=True, check=True).stdout.splitlines()
    return len(out), sum(cc in line.split() for line in out)


def opened(sock, other):
    """The second sub-flow starts when the peer has acknowledged data. Return True if it all arrives."""
    sock.send(b"first")
    select.select([other], [], [], 5)
    first = other.recv(5)
    end = time.monotonic() + 5
    while time.monotonic() < end and any(subflows(name)[0] < 2 for name in "ab"):
        time.sleep(0.1)
    return first == b"first" and transfer([Stream(sock, other, TOTAL)], limit_s=30)


def case(version, cc):
    before = {name: counts(name, CARRIERS[cc]) for name in "ab"} if cc in CARRIERS else {}
    ends = connect(version, cc)
    exact = bool(ends) and opened(*ends[:2])
    found = [subflows(name, cc) for name in "ab"]
    got = [since(name, old, CARRIERS[cc]) for name, old in before.items()]
    got = [[new.get(key, 0) for key in ("peer_supported", "peer_unsupported", "icmp_refused")] for new in got]
    tap.claim(f"IPv{version} {cc}: exact, two sub-flows, both with {cc}, both negotiated",
              exact and found == [(2, 2)] * 2 and all(new == [2, 0, 0] for new in got),
              f"{exact}, {found}, {got}")
    if ends:
        hosts.close(*ends)
    time.sleep(0.5)


def main():
    build()
    for cc in (*CARRIERS, "dctcp_ms", "ldcp"):
        for version in (4, 6):
            case(version, cc)
    hosts.remove_path()
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
