#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Tags through tunnels that start and end at routers and bridges; prints TAP.

    a ---- p ======== u ======== q ---- b
             tunnel t0, p to q

Switch qdiscs: [u-q] locator 42, [q-b] locator 7, [a-p] locator 5, [u-p] locator 43. The slowest
port is the bottleneck, and the sender must receive its locator, wherever the port is.

The argument "brief" is for slow kernels: it tests only some tunnels and measures nothing.

Needs root; changes nothing outside its own network namespaces.
"""
import json
import random
import socket
import struct
import subprocess
import sys
import time

import csig_flows
import hosts
from csig_flows import ABW, PD, STRIPPED
from csig_tag import COMPACT, EXPANDED, MIB, PACKET_QDISC_BYPASS, SOL_PACKET, Sniffer, csig, knob, \
    sum16, tag_of
from hosts import A, B, Stream, close, connect, run, transfer

tap = hosts.Tap()
EVERY = ("a", "p", "u", "q", "b")
PORTS = "a-p p-a p-u u-p u-q q-u q-b b-q"
P = {4: "10.1.0.1", 6: "fd01::1"}
Q = {4: "10.2.0.1", 6: "fd02::1"}
WITHIN = {"p": {4: "203.0.113.1", 6: "fd03::1"}, "q": {4: "203.0.113.2", 6: "fd03::2"}}
# A sender fills the queue of its own port, however fast the port is.
FAST = {"a-p": "20gbit", "u-q": "1gbit", "q-b": "1gbit", "u-p": "1gbit"}
SLOW = "200mbit"
LOCATOR = {"a-p": 5, "u-q": 42, "q-b": 7, "u-p": 43}
LENGTH = {4: 24, 6: 64}

TOPOLOGY = """
link add a-p netns a type veth peer name p-a netns p
link add p-u netns p type veth peer name u-p netns u
link add u-q netns u type veth peer name q-u netns q
link add q-b netns q type veth peer name b-q netns b
-n a addr add 192.0.2.1/24 dev a-p
-n a addr add 2001:db8:1::1/64 dev a-p nodad
-n p addr add 192.0.2.2/24 dev p-a
-n p addr add 2001:db8:1::2/64 dev p-a nodad
-n p addr add 10.1.0.1/24 dev p-u
-n p addr add fd01::1/64 dev p-u nodad
-n u addr add 10.1.0.2/24 dev u-p
-n u addr add fd01::2/64 dev u-p nodad
-n u addr add 10.2.0.2/24 dev u-q
-n u addr add fd02::2/64 dev u-q nodad
-n q addr add 10.2.0.1/24 dev q-u
-n q addr add fd02::1/64 dev q-u nodad
-n q addr add 198.51.100.2/24 dev q-b
-n q addr add 2001:db8:2::2/64 dev q-b nodad
-n b addr add 198.51.100.1/24 dev b-q
-n b addr add 2001:db8:2::1/64 dev b-q nodad
-n a link set a-p up
-n p link set p-a up
-n p link set p-u up
-n u link set u-p up
-n u link set u-q up
-n q link set q-u up
-n q link set q-b up
-n b link set b-q up
-n a route add default via 192.0.2.2
-n a route add default via 2001:db8:1::2
-n p route add 10.2.0.0/24 via 10.1.0.2
-n p route add fd02::/64 via fd01::2
-n q route add 10.1.0.0/24 via 10.2.0.2
-n q route add fd01::/64 via fd02::2
-n b route add default via 198.51.100.2
-n b route add default via 2001:db8:2::2
"""

# (name, command that makes t0 from the outer addresses, outer IP version, inner IP version)
TUNNELS = (
    ("VXLAN", "type vxlan id 7 local {} remote {} dstport 4789", 4, 4),
    ("VXLAN on IPv6", "type vxlan id 7 local {} remote {} dstport 4789", 6, 4),
    ("VXLAN with IPv6 within", "type vxlan id 7 local {} remote {} dstport 4789 udpcsum", 4, 6),
    ("GENEVE", "type geneve id 7 remote {1}", 4, 4),
    ("GENEVE on IPv6", "type geneve id 7 remote {1}", 6, 4),
    ("GRE", "type gre local {} remote {} key 7 csum", 4, 4),
    ("GRE with frames", "type gretap local {} remote {}", 4, 4),
    ("GRE on IPv6", "type ip6gre local {} remote {}", 6, 6),
    ("IP in IP", "type ipip local {} remote {}", 4, 4),
    ("IPv6 in IP", "type sit local {} remote {}", 4, 6),
    ("IPv6 in IPv6", "type ip6tnl mode ip6ip6 local {} remote {}", 6, 6),
)


def set_qdisc(dev):
    rate, locator = FAST[dev], LOCATOR[dev]
    run(f"tc -n {dev[0]} qdisc replace dev {dev} root handle 1: tbf rate {rate} burst 64k limit 1mb")
    run(f"tc -n {dev[0]} qdisc replace dev {dev} parent 1:1 handle 10: csig rate {rate}"
        f" lm all compact {locator} lm all expanded {locator}")


def set_knobs():
    for name in EVERY:
        knob(name, "csig_ports", PORTS + " t0")
    for name in "ab":
        knob(name, "csig", 2)
        knob(name, "csig_cc", "cubic")


def build():
    run("modprobe -a vxlan geneve ip_gre ipip sit ip6_tunnel ip6_gre")
    hosts.build(*EVERY)
    hosts.ip(TOPOLOGY)
    for dev in FAST:
        set_qdisc(dev)
    set_knobs()
    # Wait for duplicate address detection of the link-local addresses.
    time.sleep(3)


def slow(port):
    """Make this port the bottleneck among all ports with a switch qdisc."""
    for dev, fast in FAST.items():
        rate = SLOW if dev == port else fast
        run(f"tc -n {dev[0]} qdisc change dev {dev} root handle 1: tbf rate {rate} burst 64k limit 1mb")
        run(f"tc -n {dev[0]} qdisc change dev {dev} parent 1:1 handle 10: csig rate {rate}")


def add_tunnel(words, outer, routed=("p", "q")):
    for name, ends in (("p", (P, Q)), ("q", (Q, P))):
        run(f"ip -n {name} link add t0 {words.format(*(end[outer] for end in ends))}")
        if name in routed:
            for version, address in WITHIN[name].items():
                run(f"ip -n {name} addr add {address}/{LENGTH[version]} dev t0" +
                    " nodad" * (version == 6))
        # A VXLAN device does not know its underlay's MTU, and outer packets must not be fragmented.
        run(f"ip -n {name} link set t0 mtu {1450 if outer == 4 else 1430} up")
    # A device without a link-local address does no IPv6 neighbour discovery.
    time.sleep(3)


def route(inner):
    for name, other, net in (("p", "q", B), ("q", "p", A)):
        run(f"ip -n {name} route replace {net[inner]} via {WITHIN[other][inner]} dev t0")


def remove_tunnel():
    for name in "pq":
        run(f"ip -n {name} link del t0")


def stream(version=4, to=None, source="a", sink="b", total=2 * MIB):
    """Return (intact, the sender's flow near the end, the counters' growth by namespace)."""
    before = {name: csig(name) for name in EVERY}
    pair = connect(version, "cubic", source=source, sink=sink, to={version: to or B[version]})
    if not pair:
        return False, None, {name: {} for name in EVERY}
    flow = None

    def look(received):
        nonlocal flow
        # The last tags may find the bottleneck idle.
        if not flow and received > total * 3 // 4:
            flow = csig_flows.flow_of(source, pair[0])

    good = transfer([Stream(*pair, total)], meanwhile=look)
    close(*pair)
    return good, flow, {name: {k: v - before[name][k] for k, v in csig(name).items()
                               if v != before[name][k]} for name in EVERY}


def locators(flow):
    """Return the locators of the two signals that identify the port."""
    return {kind: flow["signal"][kind]["locator"] for kind in (ABW, PD)
            if kind in flow["signal"]} if flow else None


def claim_told(what, port, entry="p", leave="q", sender="a", **more):
    slow(port)
    good, flow, got = stream(**more)
    sent, into, out = got[sender], got[entry], got[leave]
    tap.claim(f"{what}, bottleneck {port}: whole, tags go through, and none is lost",
              good and sent.get("in_value", 0) > 20 and not sent.get("path_stripped") and
              into.get("tunnel_in", 0) > 10 and out.get("tunnel_out", 0) > 10 and
              not any(c.get(k) for c in got.values() for k in ("tunnel_lost", "no_memory",
                                                               "out_no_room", "bad_order")),
              f"{got}")
    tap.equal(f"{what}, bottleneck {port}: the sender knows it", locators(flow),
              {kind: LOCATOR[port] for kind in (ABW, PD)})
    return got


def check_routed(tunnels=TUNNELS, ports=("u-q", "q-b")):
    for what, words, outer, inner in tunnels:
        add_tunnel(words, outer)
        route(inner)
        for port in ports:
            claim_told(what, port, version=inner)
        remove_tunnel()


def check_some():
    """VXLAN, GENEVE, GRE and IP in IP; IPv4 and IPv6."""
    check_routed([t for t in TUNNELS if t[0] in ("VXLAN on IPv6", "GENEVE", "GRE", "IPv6 in IPv6")], ("u-q",))


def queue_us():
    """Send a stream with tcp_csig. Return (intact, mean backlog of u-q in us at 1 Gbit/s)."""
    pair, backlogs, last_s = connect(4, "csig"), [], 0

    def look(received):
        nonlocal last_s
        if received > MIB and time.monotonic() > last_s + 0.0007:
            last_s = time.monotonic()
            shown = subprocess.check_output("tc -n u -j -s qdisc show dev u-q".split())
            backlogs.append(json.loads(shown)[0]["backlog"])

    good = transfer([Stream(*pair, 16 * MIB)], meanwhile=look)
    close(*pair)
    return good and len(backlogs) > 50, sum(backlogs) / max(1, len(backlogs)) * 8 / 1000


def check_queue():
    """tcp_csig keeps the queue in the underlay short, 50 us away."""
    slow("")
    run("tc -n a qdisc replace dev a-p root netem delay 50us limit 10000")
    run("tc -n q qdisc change dev q-b root handle 1: tbf rate 10gbit burst 64k limit 1mb")
    for name in "ab":
        knob(name, "csig_cc", "cubic csig")
    for what, words, outer, _ in TUNNELS[:2]:
        add_tunnel(words, outer)
        route(4)
        whole, named_us = queue_us()
        for name in "pq":
            knob(name, "csig_ports", PORTS)
        whole_too, unnamed_us = queue_us()
        for name in "pq":
            knob(name, "csig_ports", PORTS + " t0")
        remove_tunnel()
        tap.claim(f"{what}: csig keeps the underlay's queue short, since the tags report it",
                  whole and whole_too and 2 < named_us < 25 and 3 * named_us < unnamed_us,
                  f"{named_us:.1f} us; {unnamed_us:.1f} us where the tunnel is not named")
    for dev in ("a-p", "q-b"):
        set_qdisc(dev)
    for name in "ab":
        knob(name, "csig_cc", "cubic")


def check_hosts():
    """A tunnel of the hosts, named in csig_ports or not, through plain routers."""
    hosts.ip("""
-n p route add 198.51.100.0/24 via 10.1.0.2
-n u route add 198.51.100.0/24 via 10.2.0.1
-n u route add 192.0.2.0/24 via 10.1.0.1
-n q route add 192.0.2.0/24 via 10.2.0.2
""")
    slow("u-q")
    for name, here, there, address in (("a", A, B, "203.0.113.1"), ("b", B, A, "203.0.113.2")):
        run(f"ip -n {name} link add t0 type vxlan id 7 local {here[4]} remote {there[4]} dstport 4789")
        run(f"ip -n {name} addr add {address}/24 dev t0")
        run(f"ip -n {name} link set t0 mtu 1450 up")
    for what, ports in (("not named", PORTS), ("named", PORTS + " t0")):
        for name in "ab":
            knob(name, "csig_ports", ports)
        good, flow, got = stream(to="203.0.113.2")
        tap.claim(f"the hosts' own tunnel, {what}: whole, reflected",
                  good and got["a"].get("in_value", 0) > 20 and
                  got["a"].get("out_tag") == got["p"].get("out_forwarded"), f"{got}")
        tap.equal(f"the hosts' own tunnel, {what}: the sender knows the bottleneck", locators(flow),
                  {kind: LOCATOR["u-q"] for kind in (ABW, PD)})
    for name in "ab":
        run(f"ip -n {name} link del t0")
    hosts.ip("""
-n p route del 198.51.100.0/24
-n u route del 198.51.100.0/24
-n u route del 192.0.2.0/24
-n q route del 192.0.2.0/24
""")


def check_forms():
    """Expanded tags; and single frames, which GRO of the tunnel's device merges."""
    add_tunnel(TUNNELS[0][1], 4)
    route(4)
    knob("a", "csig_form", EXPANDED)
    claim_told("VXLAN, expanded tags", "u-q")
    run("ip -n a link set a-p gso_max_segs 1")
    hosts.offload("a", "a-p", hosts.ETHTOOL_STSO, 0)
    claim_told("VXLAN, expanded tags, no GSO packets", "u-q")
    knob("a", "csig_form", COMPACT)
    claim_told("VXLAN, no GSO packets", "u-q")
    run("ip -n a link set a-p gso_max_segs 65535")
    hosts.offload("a", "a-p", hosts.ETHTOOL_STSO, 1)
    remove_tunnel()


def check_unnamed():
    """A tunnel that csig_ports does not name ends the domain."""
    add_tunnel(TUNNELS[0][1], 4)
    route(4)
    slow("u-q")
    for name, what, count in (("p", "starts", "tunnel_in"), ("q", "ends", "tunnel_out")):
        knob(name, "csig_ports", PORTS)
        good, flow, got = stream()
        tap.claim(f"where a tunnel {what} that is not named, the path strips",
                  good and flow["path"] == STRIPPED and not got["a"].get("in_value") and
                  not got[name].get(count), f"{got}")
        knob(name, "csig_ports", PORTS + " t0")
    remove_tunnel()


def bridge(*names):
    """Bridge a's and b's ports with the tunnel, so that they are in one network."""
    for name in names:
        port = {"p": "p-a", "q": "q-b"}[name]
        run(f"ip -n {name} link add br0 type bridge")
        for dev in (port, "t0"):
            run(f"ip -n {name} link set {dev} master br0")
        run(f"ip -n {name} link set br0 up")


def unbridge(*names):
    for name in names:
        run(f"ip -n {name} link del br0")


def check_bridged():
    """The tunnel carries frames with their tags; the hosts' MTU leaves room for both tags."""
    add_tunnel(TUNNELS[0][1], 4, routed=())
    bridge("p", "q")
    for name, dev, address in (("a", "a-p", "203.0.113.11/24"), ("b", "b-q", "203.0.113.12/24")):
        run(f"ip -n {name} addr add {address} dev {dev}")
        run(f"ip -n {name} link set {dev} mtu 1400")
    for port in ("a-p", "u-q", "q-b"):
        got = claim_told("bridged VXLAN", port, to="203.0.113.12")
        worse = got["q"].get("tunnel_worse", 0)
        tap.claim(f"bridged VXLAN, bottleneck {port}: the tag within is replaced if it is better",
                  worse > 10 if port == "u-q" else worse < got["q"].get("tunnel_out", 0),
                  f"{got['q']}")
    for name, dev in (("a", "a-p"), ("b", "b-q")):
        run(f"ip -n {name} link set {dev} mtu 1450")
    good, flow, got = stream(to="203.0.113.12")
    tap.claim("bridged VXLAN, hosts that leave no room for the tag outside: whole, overlay only",
              good and got["p"].get("out_no_room", 0) > 10 and got["a"].get("in_value", 0) > 20 and
              not got["a"].get("path_stripped") and locators(flow)[ABW] == LOCATOR["q-b"], f"{got}")
    for name, dev, address in (("a", "a-p", "203.0.113.11/24"), ("b", "b-q", "203.0.113.12/24")):
        run(f"ip -n {name} addr del {address} dev {dev}")
        run(f"ip -n {name} link set {dev} mtu 1500")
    unbridge("p", "q")
    remove_tunnel()


def check_mixed():
    """The tunnel starts at a router and ends at a bridge, and vice versa."""
    add_tunnel(TUNNELS[0][1], 4, routed=("p",))
    bridge("q")
    run("ip -n b addr add 203.0.113.12/24 dev b-q")
    run("ip -n b route replace default via 203.0.113.1")
    run("ip -n b link set b-q mtu 1400")
    for port in ("u-q", "q-b"):
        claim_told("VXLAN from a router to a bridge", port, to="203.0.113.12")
    claim_told("VXLAN from a bridge to a router", "u-p", entry="q", leave="p", sender="b",
               source="b", sink="a", to=A[4])
    run("ip -n b addr del 203.0.113.12/24 dev b-q")
    run("ip -n b route replace default via 198.51.100.2")
    run("ip -n b link set b-q mtu 1500")
    unbridge("q")
    remove_tunnel()


def ipv4(source, destination, protocol, data):
    ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(data), 0, 0x4000, 64, protocol, 0,
                     socket.inet_aton(source), socket.inet_aton(destination))
    return ip[:10] + struct.pack("!H", sum16(ip)) + ip[12:] + data


def vxlan(inner, number=7):
    return struct.pack("!HHHHII", 40000, 4789, 16 + len(inner), 0, 1 << 27, number << 8) + inner


def random_inner(source):
    """Return a random inner frame: tags, headers and length are random."""
    kinds = (b"\x81\0\0\5", b"\x88\xa8\0\5", tag_of(COMPACT, ABW, 3, 9), tag_of(EXPANDED, ABW, 3, 9))
    frame = source.randbytes(12)
    frame += b"".join(source.choices(kinds, k=source.choice((0, 1, 1, 2, 31))))
    frame += source.choice((b"\x08\0", b"\x86\xdd", source.randbytes(2)))
    frame += source.choice((b"\x45", b"\x4f", b"\x60", source.randbytes(1)))
    frame += source.randbytes(5) + source.choice((b"\6", b"\x11", b"\0", b"\x2b", b"\x2c")) + source.randbytes(80)
    return frame[:source.randrange(len(frame) + 1)]


class Wire:
    """Sends frames with a tag to q on its link to the underlay."""

    def __init__(self):
        self.sniffer = Sniffer("u", "u-q")
        self.sniffer.sock.setsockopt(SOL_PACKET, PACKET_QDISC_BYPASS, 1)
        shown = subprocess.check_output("ip -n q -br link show dev q-u".split(), text=True)
        self.head = bytes.fromhex(shown.split()[2].replace(":", "")) + b"\x02" + bytes(5)

    def put(self, tag, protocol, data):
        self.sniffer.put(self.head + tag + b"\x08\0" + ipv4(P[4], Q[4], protocol, data))

    def close(self):
        self.sniffer.close()


def check_malformed():
    """Random bytes in tunnel packets; and more flows at once than the table has room for."""
    source, wire = random.Random(1), Wire()
    add_tunnel(TUNNELS[0][1], 4)
    route(4)
    before = csig("q")
    for _ in range(1000):
        inner = random_inner(source)
        tag = tag_of(source.choice((COMPACT, EXPANDED)), source.randrange(8), 5, 6)
        wire.put(tag, 17, vxlan(inner))
        wire.put(tag, source.choice((4, 41, 47)), inner[14:])
        time.sleep(0.001)
    got = {k: v - before[k] for k, v in csig("q").items() if v != before[k]}
    tap.claim("random bytes in tunnels: all are taken for what they are",
              got["in_tag"] >= 2000 and
              got.get("tunnel_lost", 0) > 0 and got.get("bad_order", 0) > 0, f"{got}")
    time.sleep(1)
    before = csig("q")
    for port in range(2000):
        tcp = struct.pack("!HHIIBBHHH", port, 9, 1, 1, 0x50, 16, 1000, 0, 0)
        frame = bytes(12) + b"\x08\0" + ipv4(A[4], B[4], 6, tcp)
        wire.put(tag_of(COMPACT, ABW, 5, 6), 17, vxlan(frame, 8))
    got = {k: v - before[k] for k, v in csig("q").items() if v != before[k]}
    tap.claim("2000 flows whose packets never come: at most 512 are kept, others are counted",
              2000 - 512 <= got.get("tunnel_lost", 0) < 2000, f"{got}")
    wire.close()
    time.sleep(1)
    claim_told("VXLAN, after that", "u-q")
    remove_tunnel()


def check_unload():
    """The module is unloaded during a stream, while its hooks are on a tunnel."""
    add_tunnel(TUNNELS[0][1], 4)
    route(4)
    pair, gone = connect(4, "cubic"), []

    def unload(received):
        if received > MIB and not gone:
            gone.append(subprocess.Popen(["rmmod", "tcp_csig", "net_csig_tag"]))

    good = transfer([Stream(*pair, 8 * MIB)], meanwhile=unload)
    close(*pair)
    status = gone[0].wait() if gone else "not begun"
    log = subprocess.check_output(["dmesg", "-t"], text=True)
    tap.claim("the module goes while a tunnel is named: the stream is whole, no warning",
              good and status == 0 and "WARNING" not in log, f"{good}, rmmod: {status}, {log[-300:]}")


# Linux' own port of VXLAN is 8472, not IANA's.
OTHER_PORTS = (("VXLAN", "type vxlan id 7 local {} remote {} dstport 8472", 4, 4),
               ("GENEVE", "type geneve id 7 remote {1} dstport 6082", 4, 4))


def check_ports():
    """Tunnels on other UDP ports, which parameters of the module name. It is loaded anew."""
    slow("u-q")
    for what, words, outer, inner in OTHER_PORTS:
        add_tunnel(words, outer)
        route(inner)
        good, _, got = stream()
        tap.claim(f"{what} on a port that no parameter names: whole, and no tag is copied to the inner packet",
                  good and not got["q"].get("tunnel_out"), f"{got}")
        remove_tunnel()
    run("rmmod tcp_csig net_csig_tag")
    tap.claim("the module takes other ports", hosts.load("net_csig_tag", "port_vxlan=8472", "port_geneve=6082") and
              hosts.load("tcp_csig"))
    set_knobs()
    for what, words, outer, inner in OTHER_PORTS:
        add_tunnel(words, outer)
        route(inner)
        claim_told(f"{what} on a port that a parameter names", "u-q")
        remove_tunnel()


def main():
    checks = (check_routed, check_queue, check_hosts, check_forms, check_unnamed, check_bridged,
              check_mixed, check_malformed, check_ports, check_unload)
    if sys.argv[1:] == ["brief"]:
        checks = check_some, check_hosts, check_bridged, check_mixed, check_malformed, check_unload
    build()
    for check in checks:
        print("#", check.__name__)
        check()
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
