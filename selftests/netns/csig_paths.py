#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Tags together with NAT, tunnels, small MTUs, and the unloading of the module; prints TAP.

    a ---- [r-a] r [r-b: tbf 1gbit, csig] ---- b

Needs root and nft; changes nothing outside its own network namespaces.
"""
import os
import socket
import subprocess
import sys
import time

import csig_flows
import csig_tag
import hosts
from csig_flows import STRIPPED
from csig_tag import COMPACT, EXPANDED, MIB, SO_RCVMARK, Since, Sniffer, knob, mark_of, udp
from hosts import A, B, Stream, close, connect, run, transfer

tap = hosts.Tap()
TPIDS = (b"\x88\xb5", b"\x88\xb6")
SERVICE = "203.0.113.9"

# The address that the host itself translates has its own route.
OWN_DNAT = f"""
table ip nat {{
	chain output {{
		type nat hook output priority -100;
		ip daddr {SERVICE} dnat to {B[4]}
	}}
}}
"""
MASQUERADE = """
table ip nat {
	chain post {
		type nat hook postrouting priority 100;
		oifname "r-b" masquerade
	}
}
"""


def nft(name, rules):
    subprocess.run(["ip", "netns", "exec", name, "nft", "-f", "-"], input=rules, text=True,
                   check=True)


def stream(total=2 * MIB, to=B[4], **more):
    """Return (intact, the sender's flow, the counters' growth)."""
    since = Since()
    pair = connect(4, "cubic", to={4: to}, **more)
    good = transfer([Stream(*pair, total)])
    flow = csig_flows.flow_of("a", pair[0])
    close(*pair)
    return good, flow, {name: since(name) for name in "arb"}


def check_nat():
    """Conntrack at both ends and on the router, with loss."""
    nft("a", OWN_DNAT)
    nft("r", MASQUERADE)
    run(f"ip -n a route add {SERVICE} via 192.0.2.2")
    run("tc -n r qdisc add dev r-a root netem loss 0.5%")
    run("tc -n b qdisc add dev b-r root netem loss 0.5%")
    good, _, got = stream(to=SERVICE)
    a = got["a"]
    tap.claim("through DNAT at the sender, masquerading on the way and loss: whole, tagged in "
              "full frames, and reflected",
              good and a.get("out_tag", 0) > 1200 and a.get("in_value", 0) > 20 and
              a.get("out_no_room", 0) < 20 and not a.get("path_stripped"), f"{got}")
    for name in "ar":
        nft(name, "flush ruleset")
    run("tc -n r qdisc del dev r-a root")
    run("tc -n b qdisc del dev b-r root")


def check_no_room():
    """The route's MTU is 1500, its device's 1496: full frames fit, but not with tags."""
    run(f"ip -n a route add {B[4]} via 192.0.2.2 mtu lock 1500")
    run("ip -n a link set a-r mtu 1496")
    hosts.offload("a", "a-r", hosts.ETHTOOL_STSO, 0)
    run("ip -n a link set a-r gso_max_segs 1")
    good, flow, got = stream()
    tap.claim("tags that stay for want of room are counted, and not against the path",
              good and got["a"].get("out_no_room", 0) > 1000 and flow["path"] != STRIPPED and
              not got["a"].get("path_stripped"), f"{got['a']}")
    run("ip -n a link set a-r mtu 1500")
    run("ip -n a link set a-r gso_max_segs 65535")
    hosts.offload("a", "a-r", hosts.ETHTOOL_STSO, 1)
    run(f"ip -n a route del {B[4]}")


def check_udp_tunnel():
    """A datagram in IP in IP: the outer packet has the tag, and the application receives it."""
    run("modprobe ipip")
    for name, local, remote, addr in (("a", A[4], B[4], "203.0.113.1"),
                                      ("b", B[4], A[4], "203.0.113.2")):
        run(f"ip -n {name} link add t0 type ipip local {local} remote {remote}")
        run(f"ip -n {name} addr add {addr}/24 dev t0")
        run(f"ip -n {name} link set t0 up")
        knob(name, "csig_rules", "udp to 203.0.113.2 port 7000")
    one, two = udp("a", 4, ("203.0.113.1", 0)), udp("b", 4, ("203.0.113.2", 7000))
    two.setsockopt(socket.SOL_SOCKET, SO_RCVMARK, 1)
    sniffer = Sniffer("r", "r-a")
    marks = []
    for _ in range(3):
        one.sendto(b"?", two.getsockname())
        marks.append(mark_of(two)[1])
    # A packet socket on ingress receives a packet with a tag twice.
    frames = {f for f in sniffer.frames()
              if f[12:14] == TPIDS[0] and f[27] == socket.IPPROTO_IPIP}
    sniffer.close()
    close(one, two)
    tap.claim("UDP through a tunnel: the tag is outside, once, and the application receives it",
              len(frames) == 3 and [mark >> 31 for mark in marks] == [1, 1, 1] and
              [mark >> 13 & 7 for mark in marks] == [0, 1, 2], f"{len(frames)} frames, {[hex(m) for m in marks]}")
    for name in "ab":
        run(f"ip -n {name} link del t0")
        knob(name, "csig_rules", "\n")


# Tunnels from a, by the outer addresses of both ends.
TUNNELS = {
    "VXLAN": "t0 type vxlan id 7 local {} remote {} dstport 4789",
    "VXLAN on IPv6": "t0 type vxlan id 7 local {} remote {} dstport 4789",
    "GENEVE": "t0 type geneve id 7 remote {1}",
    "GRE with a key": "t0 type gre local {} remote {} key 7",
    "GRE with frames": "t0 type gretap local {} remote {}",
}


def check_frame_tunnels():
    """GSO packets in tunnels: the outer packet has one tag, the wire has one frame per segment, and
    the inner connection receives the signal."""
    run("modprobe -a vxlan geneve ip_gre")
    for what, words in TUNNELS.items():
        ends = [(end[6 if "IPv6" in what else 4]) for end in (A, B)]
        for name, pair, addr in (("a", ends, "203.0.113.1"), ("b", ends[::-1], "203.0.113.2")):
            run(f"ip -n {name} link add {words.format(*pair)}")
            run(f"ip -n {name} addr add {addr}/24 dev t0")
            run(f"ip -n {name} link set t0 up")
        sniffer = Sniffer("b", "b-r")
        good, flow, got = stream(to="203.0.113.2")
        frames = [f for f in sniffer.frames() if len(f) > 1000 and f[12:14] == TPIDS[0]]
        sniffer.close()
        a, r = got["a"], got["r"]
        tap.claim(f"GSO packets in {what}: whole, each has a tag outside, forwarded and reported within",
                  good and a.get("out_gso", 0) > 10 and a["out_tag"] > 1400 and
                  a["out_tag"] == r.get("out_forwarded") and
                  a.get("in_value", 0) > 20 and not a.get("path_stripped"),
                  f"{len(frames)} long frames, {got}")
        tap.equal(f"{what}: and of whom it is", {s["locator"] for s in flow["signal"].values()}, {42})
        for name in "ab":
            run(f"ip -n {name} link del t0")


def check_udp_program():
    """tools/csig-udp at both ends: signals take turns, and every second datagram has a tag."""
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../build/csig-udp")
    for name in "ab":
        knob(name, "csig_rules", f"udp to {B[4]} port 7000 every 2")
    with subprocess.Popen(["ip", "netns", "exec", "b", program, "serve", "7000"]) as server:
        time.sleep(0.5)
        said = subprocess.check_output(["ip", "netns", "exec", "a", program, "ask", B[4], "7000", "6"],
                                       text=True).splitlines()
        server.kill()
    tap.claim("csig-udp: each second datagram had a tag, and its answer says what came",
              said[1::2] == ["no tag came"] * 3 and
              [line.split()[0] for line in said[::2]] == ["min(ABW)", "min(ABW/C)", "max(PD)"] and
              all(line.endswith("locator 42") for line in said[:3:2]), f"{said}")
    for name in "ab":
        knob(name, "csig_rules", "\n")


def ranges():
    _, flow, _ = stream(MIB // 4)
    return {kind: (s["value"], s["low"], s["high"]) for kind, s in flow["signal"].items()}


def check_buckets():
    """With the same table of buckets on the hop and on the host, values have the same meaning."""
    run("tc -n r qdisc change dev r-b parent 1:1 handle 10: csig buckets abw appendix_a "
        "buckets pd 1us,2us,1s")
    knob("a", "csig_buckets", "abw appendix_a; pd 1000 2000 1000000000")
    got = ranges()
    # The last reading of bandwidth may be of an idle port, all of whose 1 Gbit/s is free.
    tap.claim("buckets of the host's own: of bandwidth one of the first two, of delay one of four",
              got[csig_flows.ABW] in ((0, 0, 1000000), (1, 1000000, 5000000)) and
              got[csig_flows.PD] in ((0, 0, 1000), (1, 1000, 2000), (2, 2000, 1000000000)), f"{got}")
    for bad in ("abw", "abw 2 1", "abw 0", "loss 1", "pd pow2", "pd pow2 0", "pd appendix_a 1",
                "abw " + " ".join(map(str, range(1, 33)))):
        refused = False
        try:
            knob("a", "csig_buckets", bad)
        except OSError:
            refused = True
        with hosts.inside("a"), open("/proc/sys/net/hopcc/csig_buckets", encoding="ascii") as file:
            tap.claim(f"'{bad[:20]}' is refused, and the old ones stay",
                      refused and file.read().startswith("abw appendix_a; pd 1000"))
    knob("a", "csig_buckets", "\n")
    run("tc -n r qdisc change dev r-b parent 1:1 handle 10: csig buckets abw pow2 buckets pd pow2")


def check_full_frames():
    """MTU 1500 on each link: the longest frames, with tags of both sizes."""
    run("ip -n a link set a-r gso_max_segs 1")
    hosts.offload("a", "a-r", hosts.ETHTOOL_STSO, 0)
    for form in (COMPACT, EXPANDED):
        knob("a", "csig_form", form)
        sniffer = Sniffer("r", "r-a")
        good, _, got = stream()
        sizes = {len(f) for f in sniffer.frames() if f[12:14] == TPIDS[form - 1]}
        sniffer.close()
        tap.claim(f"{csig_tag.FORM[form]}: the longest frame with a tag fills the MTU, and none is lost",
                  good and max(sizes) == 1514 and got["a"].get("out_tag") == got["r"].get("in_tag"),
                  f"{max(sizes, default=0)} bytes, {got}")
    knob("a", "csig_form", COMPACT)
    run("ip -n a link set a-r gso_max_segs 65535")
    hosts.offload("a", "a-r", hosts.ETHTOOL_STSO, 1)


SWITCH = """
link add c-s netns c type veth peer name s-c netns s
link add d-s netns d type veth peer name s-d netns s
-n c link set c-s up
-n d link set d-s up
-n c addr add 192.0.2.1/24 dev c-s
-n d link add link d-s name v10 type vlan id 10
-n d addr add 192.0.2.2/24 dev v10
-n d link set v10 up
-n s link add name sw type bridge vlan_filtering 1
-n s link set sw up
-n s link set s-c master sw
-n s link set s-d master sw
-n s link set s-c up
-n s link set s-d up
"""


def check_bridge():
    """c is in VLAN 10, d at a trunk. The bridge's port shapes, and segments a GSO packet of the
    bridge's form, by the tag's EtherType; then sch_csig below sees IP packets."""
    hosts.build("c", "s", "d")
    hosts.ip(SWITCH)
    for line in ("add dev s-c vid 10 pvid untagged", "del dev s-c vid 1", "add dev s-d vid 10"):
        run(f"bridge -n s vlan {line}")
    for name in "cd":
        knob(name, "csig_ports", "c-s v10")
        knob(name, "csig", 2)
        knob(name, "csig_cc", "cubic")
    for what, lines in (
            ("tbf, which segments", ("root tbf rate 1gbit burst 2k limit 3mb",)),
            ("tbf and sch_csig", ("root handle 1: tbf rate 1gbit burst 2k limit 3mb",
                                  "parent 1:1 csig rate 1gbit lm all compact 42"))):
        for line in lines:
            run(f"tc -n s qdisc replace dev s-d {line}")
        before = {name: csig_tag.csig(name) for name in "cd"}
        pair = connect(4, "cubic", source="c", sink="d", to={4: "192.0.2.2"})
        good = transfer([Stream(*pair, 2 * MIB)])
        flow = csig_flows.flow_of("c", pair[0])
        close(*pair)
        got = {name: {k: v - before[name][k] for k, v in csig_tag.csig(name).items()}
               for name in "cd"}
        shown = subprocess.check_output("tc -n s -s qdisc show dev s-d".split(), text=True)
        tap.claim(f"a bridge with VLANs, its port has {what}: whole, no drop, segments have the tag",
                  good and "dropped 0" in shown and got["c"]["out_gso"] > 20 and
                  got["c"]["out_tag"] > 1400 and
                  got["d"]["in_tag"] > 0.99 * got["c"]["out_tag"] and got["c"]["in_value"] > 20,
                  f"{got['c']} {got['d']['in_tag']}")
        told = {signal["locator"] for signal in flow["signal"].values()}
        tap.equal("and of whom it is", told, {42} if len(lines) == 2 else {0})
    hosts.ip("netns del c\nnetns del s\nnetns del d")


def check_unload():
    """The module is unloaded during a stream, while GRO holds packets for 50 ms."""
    knob("a", "csig_weights", "8 8 8")
    csig_tag.merge_at_b(True, 50000000)
    run("ip -n a link set a-r gso_max_segs 1")
    hosts.offload("a", "a-r", hosts.ETHTOOL_STSO, 0)
    pair = connect(4, "cubic")
    gone = []

    def unload(received):
        if received > MIB and not gone:
            gone.append(subprocess.Popen(["rmmod", "tcp_csig", "net_csig_tag"]))

    good = transfer([Stream(*pair, 32 * MIB)], meanwhile=unload)
    close(*pair)
    log = subprocess.check_output(["dmesg", "-t"], text=True)
    status = gone[0].wait() if gone else "not begun"
    tap.claim("a module that goes while packets with tags are held: the stream is whole, "
              "and the kernel has nothing to say",
              good and status == 0 and "WARNING" not in log, f"whole: {good}, rmmod: {status}, {log[-300:]}")


def main():
    csig_tag.setup()
    for check in (check_nat, check_no_room, check_udp_tunnel, check_frame_tunnels, check_udp_program, check_buckets,
                  check_full_frames, check_bridge, check_unload):
        print("#", check.__name__)
        check()
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
