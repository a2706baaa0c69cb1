#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Tags and reflections from end to end, over sch_csig on a router. Prints TAP.
Needs root; changes nothing outside its own network namespaces.
"""
import subprocess
import sys

import hosts
from hosts import A, B, Stream, close, connect, counts, since, sysctl, transfer, write

tap = hosts.Tap()
EVERY = ("a", "r", "b")


def csig(name):
    return counts(name, "csig")


def knob(name, key, value):
    sysctl(name, f"hopcc/{key}", value)


def setup():
    hosts.build_path()
    hosts.run("tc -n r qdisc replace dev r-b root handle 1: tbf rate 1gbit burst 64k limit 1mb")
    hosts.run("tc -n r qdisc add dev r-b parent 1:1 handle 10: csig rate 1gbit "
              "lm all compact 42 lm all expanded 4242")
    for name in EVERY:
        knob(name, "csig_ports", "*")
    knob("a", "csig", 2)
    knob("b", "csig", 1)
    knob("a", "csig_cc", "cubic")


def send(version, total=3 << 20, cc="cubic"):
    pair = connect(version, cc)
    good = pair and transfer([Stream(*pair, total)])
    if pair:
        close(*pair)
    return good


def main():
    setup()
    for version in (4, 6):
        before = {n: csig(n) for n in EVERY}
        print("# IPv", version, send(version))
        for n in EVERY:
            print("#", n, {k: v - before[n][k] for k, v in csig(n).items() if v != before[n][k]})
    print(subprocess.check_output("tc -n r -s qdisc show dev r-b".split()).decode().replace("\n", "\n# "))
    return tap.done()


sys.exit(main())
