#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Tags on NICs that compute checksums and segment only for packets that they can parse: directly,
and below VLAN devices and bridges, which offer more features than their NIC. Prints TAP.

    a ---- [r-a] r [nic0] ---- [nic1] b

Needs root and the path of csig_nic.ko; changes nothing outside its own network namespaces.
"""
import json
import subprocess
import sys
import time

import hosts
from csig_tag import Since, knob
from hosts import Stream, close, connect, drive, transfer

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


def address(name, dev, addr):
    hosts.run(f"ip -n {name} addr add {addr}/24 dev {dev}")


def stream(source, address_to, what, sink="b", least=20):
    """Send an intact stream in which the NICs had to process no packet that they cannot parse."""
    drive("mistaken", 0, "csig_nic")
    drive("parsed", 0, "csig_nic")
    since = Since()
    pair = connect(4, "cubic", source=source, sink=sink, to={4: address_to})
    good = transfer([Stream(*pair, MIB)])
    close(*pair)
    got = {name: since(name) for name in "arb"}
    mistaken = drive("mistaken", module="csig_nic")
    tap.claim(f"{what}: whole, tagged, the NIC gets no packet that it cannot parse",
              good and not mistaken and got[sink].get("in_tag", 0) >= least and
              got[source].get("in_value", 0) >= least and
              # Compare up to the last packet, which may arrive when the socket is in TIME_WAIT.
              got[source]["in_value"] == got[sink]["out_value"] and
              not got[source].get("in_forged"),
              f"{mistaken} mistaken, {drive('parsed', module='csig_nic')} parsed, {got}")
    return got


def own():
    """r sends: wire packets, and GSO packets, which are segmented in front of the NIC."""
    address("r", "nic0", "203.0.113.2")
    address("b", "nic1", "203.0.113.1")
    hosts.run("ip -n r link set nic0 gso_max_segs 1")
    stream("r", "203.0.113.1", "its own packets")
    hosts.run("ip -n r link set nic0 gso_max_segs 65535")
    got = stream("r", "203.0.113.1", "its own GSO packets")
    tap.claim("which were some, and each of their frames had a tag",
              got["r"].get("out_segmented", 0) > 5 and
              got["r"]["out_tag"] == got["b"]["in_tag"] > 700)
    hosts.run("modprobe -a vxlan geneve")
    for words in ("vxlan id 7 dstport 4789 local {0} remote {1}", "geneve id 7 remote {1}"):
        ends = ("203.0.113.2", "203.0.113.1")
        for name, pair, addr in (("r", ends, "192.0.2.9"), ("b", ends[::-1], "192.0.2.10")):
            hosts.run(f"ip -n {name} link add t0 type {words.format(*pair)}")
            hosts.run(f"ip -n {name} link set t0 up")
            address(name, "t0", addr)
        got = stream("r", "192.0.2.10", f"GSO packets in {words.split()[0]}")
        tap.claim("which were some, and each of their frames had a tag outside",
                  got["r"].get("out_segmented", 0) > 5 and
                  got["r"]["out_tag"] == got["b"]["in_tag"] > 700)
        for name in "rb":
            hosts.run(f"ip -n {name} link del t0")
    for name, dev in (("r", "nic0"), ("b", "nic1")):
        hosts.run(f"ip -n {name} addr flush dev {dev}")


def copies():
    """a's packets are for r, which merges them. A copy of each leaves by a NIC that computes any
    checksum, after r has taken the tag off: the copy must still be marked as one that no NIC
    segments. And r must know the tag although a tc filter on ingress has used skb->cb."""
    address("a", "a-r", "203.0.113.3")
    address("r", "r-a", "203.0.113.2")
    for line in ("qdisc add dev nic0 root netem delay 5ms", "qdisc add dev r-a clsact",
                 "filter add dev r-a ingress protocol 0x88b5 matchall action mirred egress mirror dev nic0",
                 "filter add dev r-a ingress protocol ip matchall action ok"):
        hosts.run(f"tc -n r {line}")
    knob("a", "csig_weights", "8 8 8")
    drive("sums_any", 1, "csig_nic")
    hosts.offload("a", "a-r", hosts.ETHTOOL_STSO, False)
    hosts.offload("r", "r-a", hosts.ETHTOOL_SGRO, True)
    subprocess.run(["ip", "netns", "exec", "r", "sh", "-c",
                    "echo 1000000 > /sys/class/net/r-a/gro_flush_timeout"], check=True)
    got = stream("a", "203.0.113.2", "packets that r merges, behind a tc filter", sink="r")
    time.sleep(0.02)
    shown = subprocess.check_output("tc -n r -j -s qdisc show dev nic0 root".split())
    left, mistaken = json.loads(shown)[0]["packets"], drive("mistaken", module="csig_nic")
    tap.claim("copies of which leave later, segmented by software",
              got["r"]["in_tag"] < 400 and left > 700 and not mistaken,
              f"{left} packets left, {mistaken} mistaken")
    knob("a", "csig_weights", "1 1 1")
    hosts.offload("a", "a-r", hosts.ETHTOOL_STSO, True)
    drive("sums_any", 0, "csig_nic")
    hosts.run("tc -n r qdisc del dev r-a clsact")
    hosts.run("tc -n r qdisc del dev nic0 root")
    for name, dev in (("a", "a-r"), ("r", "r-a")):
        hosts.run(f"ip -n {name} addr flush dev {dev}")


def vlan():
    for name, dev, addr in (("r", "nic0", "203.0.113.2"), ("b", "nic1", "203.0.113.1")):
        hosts.run(f"ip -n {name} link add link {dev} name v5 type vlan id 5")
        hosts.run(f"ip -n {name} link set v5 up gso_max_segs 1")
        address(name, "v5", addr)
    stream("r", "203.0.113.1", "a VLAN device")
    for name in "rb":
        hosts.run(f"ip -n {name} link del v5")


def bridge():
    """Streams of r from a bridge's address, then of a through the bridge, with GSO packets."""
    hosts.run("ip -n r link add name sw type bridge")
    for dev in ("nic0", "r-a"):
        hosts.run(f"ip -n r link set {dev} master sw")
    hosts.run("ip -n r link set sw up gso_max_segs 1")
    for name, dev, addr in (("a", "a-r", "203.0.113.3"), ("r", "sw", "203.0.113.2"),
                            ("b", "nic1", "203.0.113.1")):
        address(name, dev, addr)
    stream("r", "203.0.113.1", "a bridge's own")
    hosts.run("tc -n r qdisc add dev nic0 root handle 1: csig rate 10gbit lm all compact 42")
    got = stream("a", "203.0.113.1", "GSO packets through a bridge with sch_csig")
    tap.claim("which were some", got["a"].get("out_gso", 0) > 5)


def main():
    hosts.run(f"insmod {sys.argv[1]}")
    hosts.build("a", "r", "b")
    hosts.ip(LINKS)
    for name in "arb":
        knob(name, "csig_ports", "*")
        knob(name, "csig", 2)
        knob(name, "csig_cc", "cubic")
    for check in (own, copies, vlan, bridge):
        print("#", check.__name__)
        check()
    return tap.done()


sys.exit(main())
