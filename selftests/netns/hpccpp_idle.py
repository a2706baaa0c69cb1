#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""HPCC++ after idle times, also those beyond 2^32 microseconds, of which tcp_mstamp's lower half says
nothing. Prints TAP. Needs root, the modules and virtual time; all is in network namespaces of its own.

    a ---- [r-a] r [r-b, 100 Mbit/s] ---- b
"""
import time

import hosts
from hosts import Stream, connect, run, sysctl, transfer

MB = 1 << 20
WRAP_S = (1 << 32) / 10**6

tap = hosts.Tap()


def build():
    hosts.build_path()
    for dev in ("r-a", "r-b"):
        run(f"tc -n r qdisc replace dev {dev} root handle 1: link rate 100mbit delay 500us overhead 24")
        run(f"tc -n r qdisc replace dev {dev} parent 1:1 handle 10: int rate 100mbit overhead 24 switch_id 1")
    for name in ("a", "b"):
        sysctl(name, "hopcc/int_cc", "hpccpp")


def window_after(idle_s):
    """A flow shares the port with seven others, ends first and is idle. Return its window before and after."""
    pairs = [connect(4, cc="hpccpp") for _ in range(8)]
    source, sink = pairs[0]
    first, ended_s = Stream(source, sink, MB // 2), []

    def serve(_):
        first.push(more=True)
        first.pull()
        if first.received == MB // 2 and not ended_s:
            ended_s.append(time.monotonic())

    exact = transfer([Stream(*pair, MB) for pair in pairs[1:]], meanwhile=serve, step_s=0.001)
    name, before = hosts.cc_of(source), hosts.cwnd_of(source)
    time.sleep(ended_s[0] + idle_s - time.monotonic())
    source.send(b"x")
    after = hosts.cwnd_of(source)
    for pair in pairs:
        hosts.close(*pair)
    print(f"# idle for {idle_s:.3f} s: {name}, window {before}, then {after} packets")
    assert exact and name == "hpccpp", name
    return before, after


def main():
    build()
    for what, idle_s in (("2 s", 2), ("2^32 us", WRAP_S + 0.05), ("2^33 us", 2 * WRAP_S + 0.05)):
        before, after = window_after(idle_s)
        tap.claim(f"after {what} without data a flow starts anew", after > before, f"{before}, {after} packets")
    hosts.remove_path()
    return tap.done()


if __name__ == "__main__":
    raise SystemExit(main())
