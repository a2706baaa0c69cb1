#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Multipath TCP: each of a connection's two sub-flows negotiates, and keeps the congestion control
that was selected. Status 1 if a claim fails. Needs root, all congestion controls and a kernel with
MPTCP; changes nothing outside its own network namespaces.

    a 192.0.2.1, .11 ---- r [r-b] ---- b	the second sub-flow starts from a's second address
                          r [r-b2] --- b	with csig on two paths, it takes this port
"""
import select
import socket
import subprocess
import sys
import time

import csig_flows
import hosts
from hosts import A, B, FAMILY, Stream, counts, ip, run, since, sysctl, transfer

TOTAL = 1 << 18
SECOND = {4: "192.0.2.11", 6: "2001:db8:1::11"}
CARRIERS = {"xcp": "xcp", "hpccpp": "int", "csig": "csig"}
# The locators of r's ports to b, and their rates: the second sub-flow's is the slower one.
PATHS = {"r-b": (17, "100mbit"), "r-b2": (18, "50mbit")}

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


def build_paths():
    """A second link from r to b, for packets from a's second addresses. Each port reports to tags."""
    ip("link add r-b2 netns r type veth peer name b-r2 netns b\n"
       "-n r link set r-b2 up\n-n b link set b-r2 up")
    sysctl("r", "hopcc/csig_ports", "*")
    for dev, (locator, rate) in PATHS.items():
        run(f"tc -n r qdisc replace dev {dev} root handle 1: tbf rate {rate} burst 64k limit 1mb")
        run(f"tc -n r qdisc add dev {dev} parent 1:1 csig rate {rate} lm all compact {locator}")
    mac = subprocess.run("ip -n b -br link show dev b-r2".split(), capture_output=True, text=True,
                         check=True).stdout.split()[2]
    for version, address in SECOND.items():
        # b has its addresses on the other device.
        for line in (f"route add {B[version]} dev r-b2 table 2", f"rule add from {address} lookup 2",
                     f"neigh add {B[version]} lladdr {mac} dev r-b2"):
            run(f"ip -n r -{version} {line}")


def locators(flow):
    """Return the locators that the signals of a sub-flow have reported; 0 is that of an idle path."""
    return {signal["locator"] for signal in flow["signal"].values()} - {0}


def both_paths(version):
    """Return (all arrived, {is it the first sub-flow: locators that were reported})."""
    ends = connect(version, "csig")
    if not ends:
        return False, {}
    sock, reported = ends[0], {}

    def look(received):
        if received > TOTAL * 4:
            for flow in csig_flows.flows("a"):
                if flow["peer_port"] == sock.getpeername()[1] and flow["signal"]:
                    reported.setdefault(flow["port"] == sock.getsockname()[1], set()).update(locators(flow))

    exact = opened(*ends[:2], TOTAL * 16, look)
    hosts.close(*ends)
    return exact, reported


def see_paths():
    """Section 8.2.1: a sub-flow's signals are those of its own path."""
    build_paths()
    wanted = {True: {PATHS["r-b"][0]}, False: {PATHS["r-b2"][0]}}
    for version in (4, 6):
        exact, reported = both_paths(version)
        tap.claim(f"IPv{version} csig on two paths: exact, each sub-flow receives the signals of its own path",
                  exact and reported == wanted, f"{exact}, {reported}")


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


def subflows(name, *ccs):
    """Return how many sub-flows there are, and how many of them show one of the congestion controls."""
    out = subprocess.run(["ip", "netns", "exec", name, "ss", "-tinHO", "state", "established"],
                         capture_output=True, text=True, check=True).stdout.splitlines()
    return len(out), sum(any(cc in line.split() for cc in ccs) for line in out)


def opened(sock, other, total=TOTAL, look=None):
    """The second sub-flow starts when the peer has acknowledged data. Return True if it all arrives."""
    sock.send(b"first")
    select.select([other], [], [], 5)
    first = other.recv(5)
    end = time.monotonic() + 5
    while time.monotonic() < end and any(subflows(name)[0] < 2 for name in "ab"):
        time.sleep(0.1)
    return first == b"first" and transfer([Stream(sock, other, total)], limit_s=60, meanwhile=look)


def case(version, cc):
    before = {name: counts(name, CARRIERS[cc]) for name in "ab"} if cc in CARRIERS else {}
    ends = connect(version, cc)
    exact = bool(ends) and opened(*ends[:2])
    found = [subflows(name, *shown) for name, shown in (("a", (cc, hosts.NO_HOP.get(cc, cc))), ("b", (cc,)))]
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
    see_paths()
    hosts.remove_path()
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
