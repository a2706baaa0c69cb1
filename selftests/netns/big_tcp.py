#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""BIG TCP: IPv6 GSO packets above 64 KiB, which have a jumbo payload option in front of TCP, with
each congestion control and through each qdisc. Prints TAP.

    a [big0] ---- [big1] b

There is no router in between, since ip6_forward() of Linux 6.1 refuses such packets, with our
modules or without.

Needs root and the modules; changes nothing outside its own network namespaces.
"""
import sys
import time

import hosts
from hosts import Stream, close, connect, sysctl, transfer

tap = hosts.Tap()
MIB = 1 << 20
BIG, GSO_MAX = 200000, 65536
# cc, qdisc at big0, and True if the sender's packets exceed 64 KiB: GSO packets with XCP's or INT's
# header do not, and the other congestion controls limit their bursts.
CASES = (("cubic", "", True), ("xcp", "xcp rate 40gbit", False),
         ("cubic", "csig rate 40gbit", True), ("csig", "csig rate 40gbit", False),
         ("hpccpp", "int rate 40gbit", False), ("cubic", "int rate 40gbit", True),
         ("ldcp", "wred limit 20m ect min 1m max 2m prob 1", False),
         ("dctcp_ms", "wred limit 20m ect min 4m max 4m prob 1", True))


def prepare():
    hosts.build("a", "b")
    hosts.ip("link add big0 netns a type veth peer name big1 netns b")
    for number, (name, dev) in enumerate((("a", "big0"), ("b", "big1")), 1):
        hosts.run(f"ip -n {name} link set {dev} up gso_max_size {BIG} gro_max_size {BIG}")
        hosts.run(f"ip -n {name} addr add 2001:db8::{number}/64 dev {dev} nodad")
        hosts.offload(name, dev, hosts.ETHTOOL_SGRO, 1)
        sysctl(name, "ipv4/tcp_wmem", "4096 4194304 16777216")
        sysctl(name, "ipv4/tcp_rmem", "4096 4194304 16777216")
        sysctl(name, "ipv4/tcp_ecn", 1)
        sysctl(name, "hopcc/int_forward", 1)
    # Wait for duplicate address detection of the link-local addresses.
    time.sleep(3)
    # The delay makes the windows grow to some megabytes.
    hosts.run("tc -n b qdisc add dev big1 root netem delay 1ms limit 100000")


def sent(name, dev):
    with hosts.inside(name), open("/proc/thread-self/net/dev", encoding="ascii") as file:
        row = next(line.split(":")[1].split() for line in file if line.strip().startswith(dev + ":"))
    return int(row[8]), int(row[9])


def check(cc, qdisc, big):
    tagged = qdisc.startswith("csig")
    sysctl("a", "hopcc/csig", 2 if tagged else 0)
    sysctl("b", "hopcc/csig", 1 if tagged else 0)
    sysctl("a", "hopcc/csig_cc", cc)
    for name in "ab":
        sysctl(name, "hopcc/csig_ports", "*" if tagged else "")
    hosts.run("tc -n a qdisc del dev big0 root", check=False)
    if qdisc:
        hosts.run(f"tc -n a qdisc add dev big0 root handle 1: {qdisc}")
    before = sent("a", "big0")
    pair = connect(6, cc, to={6: "2001:db8::2"}, sink_cc=cc if cc in ("ldcp", "dctcp_ms") else "cubic")
    good = transfer([Stream(*pair, 32 * MIB)])
    repaired = hosts.retrans_of(pair[0])
    close(*pair)
    after = sent("a", "big0")
    mean = (after[0] - before[0]) / max(after[1] - before[1], 1)
    where = f"{cc} through {qdisc.split()[0] if qdisc else 'no qdisc'}"
    tap.claim(f"{where}: 32 MiB arrive whole, nothing is sent again", good and not repaired,
              f"{mean:.0f} bytes a packet, {repaired} repairs")
    if big:
        tap.claim(f"{where}: packets of more than 64 KiB", mean > GSO_MAX, f"{mean:.0f} bytes")


def main():
    prepare()
    for case in CASES:
        check(*case)
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
