#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Packets that leave through another network namespace than that of their socket. ipvlan in mode
L3 sends the packets of its namespace through the output hooks of the namespace that has the
device below, and each packet keeps its socket. There the sender's flow and its knobs must have
no say.

    a [i0: ipvlan] on r [w0] ---- [w1] b

Status 1 if a claim fails. Needs root, the carriers, their congestion controls and the kernel's
ipvlan; all is in network namespaces of its own.
"""
import sys
import time

import hosts
import vrf_twins
from hosts import FAMILY, Stream, close, connect, counts, run, sysctl, transfer

TOTAL = 1 << 18
A = {4: "192.0.2.1", 6: "2001:db8:1::1"}
B = {4: "192.0.2.2", 6: "2001:db8:1::2"}
R = {4: "192.0.2.3", 6: "2001:db8:1::3"}
MAC = "02:00:00:00:00:01"
CARRIERS = {"xcp": "xcp", "hpccpp": "int", "csig": "csig"}
ON = {"xcp": 1, "int": 1, "csig": 2}

tap = hosts.Tap()

NETWORK = f"""
link add w0 netns r address {MAC} type veth peer name w1 netns b
-n r link set w0 up
-n b link set w1 up
-n r link add i0 link w0 netns a type ipvlan mode l3
-n a link set i0 up
-n a addr add {A[4]}/24 dev i0
-n a addr add {A[6]}/64 dev i0 nodad
-n r addr add {R[4]}/24 dev w0
-n r addr add {R[6]}/64 dev w0 nodad
-n b addr add {B[4]}/24 dev w1
-n b addr add {B[6]}/64 dev w1 nodad
-n b neigh add {A[4]} lladdr {MAC} dev w1
-n b neigh add {A[6]} lladdr {MAC} dev w1
"""


def build():
    hosts.build("a", "r", "b")
    hosts.ip(NETWORK)
    for name in "arb":
        for carrier in CARRIERS.values():
            sysctl(name, f"hopcc/{carrier}_unsupported_s", 0)
            sysctl(name, f"hopcc/{carrier}", ON[carrier])
    time.sleep(3)


def grown(name, carrier, before):
    """Counters that have changed, but for those of dumps."""
    return {k: v - before[name][k] for k, v in counts(name, carrier).items()
            if v != before[name][k] and k != "flows_walked"}


def stream(version, cc):
    """(whether a stream from a to b is exact, what each namespace counted)"""
    carrier = CARRIERS[cc]
    vrf_twins.idle(carrier)
    before = {name: counts(name, carrier) for name in "arb"}
    pair = connect(version, cc, to=B)
    exact = bool(pair) and transfer([Stream(*pair, TOTAL)], limit_s=60)
    got = {name: grown(name, carrier, before) for name in "arb"}
    if pair:
        close(*pair)
    return exact, got


def silenced(version, cc):
    """a's knob is off: nothing that the other namespace allows speaks for a's sockets."""
    carrier = CARRIERS[cc]
    sysctl("a", f"hopcc/{carrier}", 0)
    exact, got = stream(version, cc)
    tap.equal(f"IPv{version}, {cc}: off in the socket's namespace: no header, no flow, in none",
              (exact, got), (True, {"a": {}, "r": {}, "b": {}}))
    sysctl("a", f"hopcc/{carrier}", ON[carrier])


def passed(version, cc):
    """a's knob is on: a's headers pass, and the other namespace adds nothing."""
    exact, got = stream(version, cc)
    tap.claim(f"IPv{version}, {cc}: on: the socket's namespace negotiates, the other does nothing",
              exact and not got["r"] and got["a"].get("peer_supported") == 1 and
              got["b"].get("peer_supported") == 1, f"exact: {exact}, {got}")


def main():
    build()
    for version in FAMILY:
        for cc in CARRIERS:
            silenced(version, cc)
            passed(version, cc)
    for name in "arb":
        run(f"ip netns del {name}")
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
