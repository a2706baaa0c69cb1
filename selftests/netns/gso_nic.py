#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""GSO packets with a header between IP and TCP: they pass Linux' virtual devices unsegmented, and
software segments them in front of a NIC, which would mistake the header for TCP's. Prints TAP.

    a ---- [r-a] r [nic0] ---- [nic1] b

Needs root and the path of csig_nic.ko; changes nothing outside its own network namespaces.
"""
import sys
import time

import hosts
from hosts import Stream, close, connect, drive, sysctl, transfer

tap = hosts.Tap()
MIB = 1 << 20
LINKS = """
link add a-r netns a type veth peer name r-a netns r
link set nic0 netns r
link set nic1 netns b
-n a link set a-r up
-n r link set r-a up
-n r link set nic0 up
-n b link set nic1 up
"""
# Name, cc, carrier, and the carrier's counter of packets with a header at the receiver.
CARRIERS = (("XCP", "xcp", "xcp", "in"), ("INT inband", "hpccpp", "int", "in_data"))
# The delay makes the window grow to some hundred packets.
DELAY = "link rate 10gbit delay 2ms"


def address(name, dev, net, host):
    hosts.run(f"ip -n {name} addr add 203.0.{net}.{host}/24 dev {dev}")
    hosts.run(f"ip -n {name} addr add 2001:db8:{net}::{host}/64 dev {dev} nodad")


def streams(source, net, host, where, carriers=CARRIERS):
    for what, cc, carrier, counter in carriers:
        hosts.run("tc -n r qdisc del dev nic0 root", check=False)
        hosts.run(f"tc -n r qdisc add dev nic0 root handle 1: {carrier} rate 1gbit")
        for version, to in ((4, f"203.0.{net}.{host}"), (6, f"2001:db8:{net}::{host}")):
            drive("mistaken", 0, "csig_nic")
            sent, got = hosts.counts(source, carrier), hosts.counts("b", carrier)
            pair = connect(version, cc, source=source, to={version: to})
            good = transfer([Stream(*pair, 4 * MIB)])
            close(*pair)
            mistaken = drive("mistaken", module="csig_nic")
            out, came = hosts.since(source, sent, carrier), hosts.since("b", got, carrier)
            tap.claim(f"{where}, IPv{version} {what}: whole, and no NIC got a GSO packet that it cannot segment",
                      good and not mistaken and out["out_gso"] > 30 and
                      came[counter] > MIB // 1448,
                      f"{mistaken} mistaken, {out['out_gso']} GSO packets, "
                      f"{out['out_data']} packets, {came[counter]} with a header")


def own():
    address("r", "nic0", 113, 2)
    address("b", "nic1", 113, 1)
    streams("r", 113, 1, "a NIC's own")


def vlan():
    for name, dev, host in (("r", "nic0", 2), ("b", "nic1", 1)):
        hosts.run(f"ip -n {name} link add link {dev} name v5 type vlan id 5")
        hosts.run(f"ip -n {name} link set v5 up")
        address(name, "v5", 114, host)
    streams("r", 114, 1, "a VLAN device")


def tunnel():
    hosts.run("modprobe -a vxlan")
    for name, there, host in (("r", 1, 2), ("b", 2, 1)):
        hosts.run(f"ip -n {name} link add t0 type vxlan id 7 dstport 4789 remote 203.0.113.{there}")
        hosts.run(f"ip -n {name} link set t0 up")
        address(name, "t0", 115, host)
    # sch_int does not read the inner header, and without answers the window stays small.
    streams("r", 115, 1, "VXLAN", CARRIERS[:1])


def routed():
    address("a", "a-r", 116, 3)
    address("r", "r-a", 116, 2)
    hosts.run("ip -n a route add default via 203.0.116.2")
    hosts.run("ip -n a route add default via 2001:db8:116::2")
    hosts.run("ip -n b route add 203.0.116.0/24 via 203.0.113.2")
    hosts.run("ip -n b route add 2001:db8:116::/64 via 2001:db8:113::2")
    # A port that reduces feedback: then our header looks like a long TCP header.
    hosts.run("tc -n a qdisc add dev a-r root xcp rate 300mbit")
    refused = hosts.snmp("r", "Ip", "FragFails")
    streams("a", 113, 1, "from a veth, routed")
    tap.equal("from a veth, routed: none is too large", hosts.snmp("r", "Ip", "FragFails"), refused)
    hosts.run("tc -n a qdisc del dev a-r root")


def bridged():
    hosts.run("ip -n r link add name sw type bridge")
    for dev in ("nic0", "r-a"):
        hosts.run(f"ip -n r link set {dev} master sw")
    hosts.run("ip -n r link set sw up")
    address("a", "a-r", 117, 3)
    address("b", "nic1", 117, 1)
    streams("a", 117, 1, "from a veth, bridged")


def main():
    hosts.run(f"insmod {sys.argv[1]}")
    hosts.build("a", "r", "b")
    hosts.ip(LINKS)
    time.sleep(3)
    hosts.run(f"tc -n b qdisc add dev nic1 root {DELAY}")
    for name in "ar":
        sysctl(name, "hopcc/int_forward", 1)
    for check in (own, vlan, tunnel, routed, bridged):
        print("#", check.__name__)
        check()
    return tap.done()


sys.exit(main())
