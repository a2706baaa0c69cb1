#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Requests and responses on a slow port: the client's receiver delays its ACKs, as it sends data itself. Prints TAP.

    a, responses [a-r] ---- r [r-b: tbf 100mbit, the congestion control's qdisc] ---- b, requests of 64 bytes

A window of one packet then waits for the timer of delayed ACKs, 40 ms, once a response or more often.
Needs root; changes nothing outside its own network namespaces.
"""
import sys
import time

import hosts
from hosts import run, sysctl

RATE = "100mbit"
QUEUES = {
    "cubic": "bfifo limit 1mb",
    "dctcp_ms": "wred limit 1mb ect min 30k max 30k prob 1",
    "ldcp": "wred limit 1mb ect min 30k max 30k prob 1",
    "xcp": f"xcp rate {RATE}",
    "hpccpp": f"int rate {RATE} overhead 24",
    "csig": f"csig rate {RATE} overhead 24",
}
# The last segment of a response stands alone, or with another one.
SIZES_BYTES = (14480, 20000, 20272)
SECONDS = 0.5
# The share of CUBIC's responses a second. HPCC++ keeps 5 % of the port free, and its probes take 4 %.
LEAST = 0.8
tap = hosts.Tap()


def responses_ps(cc, size_bytes):
    """Return how many responses a second one connection carries."""
    a, b = hosts.connect(4, cc, sink_cc=cc)
    for sock in a, b:
        sock.setblocking(True)
        sock.settimeout(5)
    count, start = 0, time.monotonic()
    while time.monotonic() < start + SECONDS:
        b.sendall(bytes(64))
        left = 64
        while left:
            left -= len(a.recv(left))
        a.sendall(bytes(size_bytes))
        left = size_bytes
        while left:
            left -= len(b.recv(left))
        count += 1
    end = time.monotonic()
    a.close()
    b.close()
    return count / (end - start)


def measure(cc):
    run("tc -n r qdisc del dev r-b root", check=False)
    run(f"tc -n r qdisc add dev r-b root handle 1: tbf rate {RATE} burst 5k limit 1mb")
    run(f"tc -n r qdisc add dev r-b parent 1: handle 10: {QUEUES[cc]}")
    return [responses_ps(cc, size) for size in SIZES_BYTES]


def main():
    hosts.build_path()
    for name in "arb":
        sysctl(name, "hopcc/csig_ports", "*")
        sysctl(name, "ipv4/tcp_ecn", 1)
    wanted = measure("cubic")
    for cc in list(QUEUES)[1:]:
        for size, most, found in zip(SIZES_BYTES, wanted, measure(cc)):
            tap.claim(f"{cc}, responses of {size} bytes: at least {LEAST} of cubic's", found >= LEAST * most,
                      f"{found:.1f} of {most:.1f} a second")
    hosts.remove_path()
    return tap.done()


sys.exit(main())
