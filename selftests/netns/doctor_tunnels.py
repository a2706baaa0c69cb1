#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Tunnels through which nobody copies: connections show that they have fallen back, and hopstat doctor
names the tunnel. And filters on ingress that count XCP's packets twice. Prints TAP.

    a ---- p ==== u [u-q: tbf 20mbit, no hop of ours] ==== q ---- b

Needs root; changes nothing outside its own network namespaces.
"""
import json
import subprocess
import sys

import csig_ipsec
import csig_tunnel
import doctor
import hosts
from csig_tunnel import B, PORTS
from doctor import Load, finds, obey
from hosts import A, run, sysctl

tap = doctor.tap
INSIDE = {4: "203.0.113.2"}
GRE = "type gre local {} remote {}"


def names(load):
    return [hosts.cc_of(pair[0]) for pair in load.pairs]


def narrow():
    """The port in the underlay drops, and has none of our qdiscs."""
    run("tc -n u qdisc del dev u-q root")
    run("tc -n u qdisc add dev u-q root tbf rate 20mbit burst 16k limit 60k")


def see_hosts_tunnel():
    """A GRE tunnel of the hosts, which XCP's and INT's headers enter."""
    for name, here, there, address in (("a", A, B, "203.0.113.1"), ("b", B, A, "203.0.113.2")):
        run(f"ip -n {name} link add t0 {GRE.format(here[4], there[4])}")
        run(f"ip -n {name} addr add {address}/24 dev t0")
        run(f"ip -n {name} link set t0 mtu 1400 up")
    with Load((4, "hpccpp"), to=INSIDE) as load:
        load.run(1)
        tap.equal("hpccpp in a tunnel that nobody copies through shows its fall-back", names(load), ["hpccpp-reno"])
        finds("a", "hpccpp in a tunnel", ("tunnel", "t0", "connections of hpccpp enter this tunnel (gre)"), load=load)
    with Load((4, "xcp"), to=INSIDE) as load:
        load.run(0.2)
        command, = finds("a", "xcp in a tunnel", ("tunnel", "t0", "connections of xcp enter this tunnel (gre)"), load=load)
        for name in "ab":
            obey(name, [command.removeprefix("at both ends of t0: ")])
        finds("a", "xcp with copies", load=load)
    for name in "ab":
        sysctl(name, "hopcc/xcp_tunnel", 0)
        run(f"ip -n {name} link del t0")


def see_router_tunnel():
    """A tunnel of the routers, whose csig_ports do not name it."""
    csig_tunnel.add_tunnel(GRE, 4)
    csig_tunnel.route(4)
    for name in "pq":
        sysctl(name, "hopcc/csig_ports", PORTS)
    sysctl("a", "hopcc/csig_retry_s", 1)
    with Load((4, "csig")) as load:
        load.run(1)
        tap.equal("csig in a tunnel of the routers that is not named shows its fall-back", names(load), ["csig-reno"])
        row = doctor.explains(B[4], "csig in that tunnel", "no hop reports, and this connection is as Reno", load)
        tap.equal("with the carrier's finding", [found["check"] for found in row["findings"]], ["path"])
        commands = finds("p", "a tunnel that starts here", ("tunnel", "t0", "csig_ports does not name it"))
        for name in "pq":
            obey(name, commands)
        finds("p", "it is named")
        run("tc -n u qdisc replace dev u-q root tbf rate 100mbit burst 64k limit 1mb")
        load.run(2)
        tap.equal("once it is named the same connection is one of csig", names(load), ["csig"])
    csig_tunnel.remove_tunnel()


def see_other_kind():
    """A device that encrypts, as WireGuard's: for the name of the kind a route to it is enough."""
    run("ip -n a link add x0 type xfrm dev a-p if_id 7")
    run("ip -n a addr add 203.0.114.1/32 dev x0")
    run("ip -n a link set x0 up")
    with Load((4, "csig")) as load:
        load.run(0.1)
        run(f"ip -n a route add {B[4]} dev x0")
        command, = finds("a", "a device that nobody copies through", ("tunnel", "x0", "enter this tunnel (xfrm)"))
        tap.equal("the command names the device", command,
                  "ip route change PREFIX dev x0 congctl cubic, or a route beside the tunnel")
    run("ip -n a link del x0")


def sent_bytes(name, dev):
    shown = subprocess.check_output(f"tc -n {name} -j -s qdisc show dev {dev} root".split())
    return json.loads(shown)[0]["bytes"]


def received_bytes(name, dev):
    shown = subprocess.check_output(f"ip -n {name} -j -s link show dev {dev}".split())
    return json.loads(shown)[0]["stats64"]["rx"]["bytes"]


def passes(load):
    """Return how often a byte from the wire enters the shaper."""
    before = received_bytes("b", "b-q"), sent_bytes("b", "ifb0")
    load.run(1)
    return (sent_bytes("b", "ifb0") - before[1]) / max(1, received_bytes("b", "b-q") - before[0])


def see_shaper():
    """A shaper on ingress, by ifb: XCP's packets enter it twice, unless xcp is 2."""
    run("modprobe ifb numifbs=0")
    run("ip -n b link add ifb0 type ifb")
    run("ip -n b link set ifb0 up")
    run("tc -n b qdisc add dev ifb0 root tbf rate 10mbit burst 16k limit 1mb")
    run("tc -n b qdisc add dev b-q clsact")
    run("tc -n b filter add dev b-q ingress matchall action mirred egress redirect dev ifb0")
    run("tc -n u qdisc replace dev u-q root tbf rate 1gbit burst 64k limit 1mb")
    # To a known destination the first data has headers.
    with Load((4, "xcp")) as load:
        load.run(0.5)
    with Load((4, "xcp")) as load:
        load.run(0.5)
        twice = passes(load)
        command, = finds("b", "a shaper on ingress", ("twice", "b-q", "mirred"), load=load)
        obey("b", [command.partition(",")[0]])
        finds("b", "with xcp 2", load=load)
        once = passes(load)
        tap.claim("XCP's packets enter the shaper twice; with xcp 2 once", 1.8 < twice < 2.2 and 0.9 < once < 1.1 and
                  names(load) == ["xcp"], f"{twice:.2f}, {once:.2f}, {names(load)}")
    sysctl("b", "hopcc/xcp", 1)
    run("ip -n b link del ifb0")


def main():
    csig_tunnel.build()
    csig_ipsec.route_hosts(True)
    narrow()
    for name in "ab":
        sysctl(name, "hopcc/csig_cc", "csig")
    see_hosts_tunnel()
    see_router_tunnel()
    see_other_kind()
    see_shaper()
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
