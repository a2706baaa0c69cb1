#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Headers and tags on a NIC that computes a checksum over the whole packet (CHECKSUM_COMPLETE):
streams must be intact, and the stack must find no wrong checksum. Prints TAP.

    a ---- [r-a] r [nic0: link, switch qdisc] ---- [nic1] b

If the checksum is wrong and the packet is not, Linux logs "hw csum failure", and the lab fails the
run. Needs root and the path of checksum_nic.ko; changes nothing outside its own network namespaces.
"""
import sys
import time

import hosts
from hosts import Stream, connect, drive, sysctl, transfer

tap = hosts.Tap()
MIB = 1 << 20
LINKS = """
link add a-r netns a type veth peer name r-a netns r
link set nic0 netns r
link set nic1 netns b
-n a addr add 192.0.2.1/24 dev a-r
-n a addr add 2001:db8:1::1/64 dev a-r nodad
-n r addr add 192.0.2.2/24 dev r-a
-n r addr add 2001:db8:1::2/64 dev r-a nodad
-n r addr add 198.51.100.2/24 dev nic0
-n r addr add 2001:db8:2::2/64 dev nic0 nodad
-n b addr add 198.51.100.1/24 dev nic1
-n b addr add 2001:db8:2::1/64 dev nic1 nodad
-n a link set a-r up
-n r link set r-a up
-n r link set nic0 up
-n b link set nic1 up
-n a route add default via 192.0.2.2
-n b route add default via 198.51.100.2
-n a route add default via 2001:db8:1::2
-n b route add default via 2001:db8:2::2
"""
# Name, cc, sysctls, qdisc; the carrier and its counters at b that must grow, and the least growth.
CARRIERS = (
    ("XCP", "xcp", {}, "xcp rate 1gbit", "xcp", "in", 500),
    ("INT inband", "hpccpp", {"int_forward": 1}, "int rate 1gbit", "int", "in_data", 500),
    ("INT probes", "hpccpp", {"int_forward": 0}, "int rate 1gbit", "int", "in_probe", 20),
    ("CSIG compact", "csig", {}, "csig rate 1gbit", "csig", "in_tag", 500),
    ("CSIG expanded", "csig", {"csig_form": 2}, "csig rate 1gbit", "csig", "in_tag", 500),
)


def carry(what, cc, queue, carrier, counter, least):
    hosts.run("tc -n r qdisc del dev nic0 root", check=False)
    hosts.run("tc -n r qdisc add dev nic0 root handle 1: link rate 1gbit delay 50us overhead 24")
    hosts.run(f"tc -n r qdisc replace dev nic0 parent 1:1 handle 10: {queue}")
    for version in (4, 6):
        counts = hosts.counts("b", carrier)
        errors, sums = hosts.snmp("b", "Tcp", "InErrs"), drive("summed", module="checksum_nic")
        pair = connect(version, cc)
        good = transfer([Stream(*pair, MIB)])
        hosts.close(*pair)
        got = hosts.since("b", counts, carrier)
        wrong = hosts.snmp("b", "Tcp", "InErrs") - errors
        summed = drive("summed", module="checksum_nic") - sums
        tap.claim(f"IPv{version} {what}: exact, no sum is wrong",
                  good and not wrong and not got["in_bad_sum"] and got[counter] >= least and
                  summed > MIB // 1448, f"{summed} summed, {wrong} wrong, {counter} {got[counter]}")


def main():
    hosts.run(f"insmod {sys.argv[1]}")
    hosts.build("a", "r", "b")
    hosts.ip(LINKS)
    time.sleep(3)
    for name in "arb":
        sysctl(name, "hopcc/csig_ports", "*")
        sysctl(name, "hopcc/csig", 2)
    for what, cc, knobs, *rest in CARRIERS:
        for key, value in knobs.items():
            sysctl("a", f"hopcc/{key}", value)
        carry(what, cc, *rest)
    return tap.done()


sys.exit(main())
