#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""XCP through tunnels, section 2.5: the sender receives the feedback of a router inside the tunnel
if net.hopcc.xcp_tunnel is on at both ends, and not if it is off. Headers that leave a tunnel are
not trusted. Prints TAP. Needs root; changes nothing outside its own network namespaces.

    a ---- e ========= r ==[xcp]== x ---- b
            tunnel's entry and exit
"""
import json
import os
import socket
import struct
import subprocess
import sys
import time

import hosts
from hosts import Stream, connect, counts, run, since, sysctl, transfer
from shims import finish, fragments
from wire import inet_sum
from xcp_wire import XCP, header

# The debug kernel is slow.
DEBUG = os.environ.get("HOPLAB_KERNEL") == "debug"
MB = (1 << 20) // (16 if DEBUG else 1)
RATE_BYTES_PS = 2500000
# Bytes, for an RTT of 20 ms and 20 Mbit/s
BUFFER = 64000

# asm-generic/socket.h
SO_RCVBUFFORCE = 33

tap = hosts.Tap()

OUTER = {"e": {4: "198.51.100.1", 6: "2001:db8:10::1"},
         "x": {4: "198.51.100.129", 6: "2001:db8:20::1"}}
A = {4: "192.0.2.1", 6: "2001:db8:1::1"}
B = {4: "192.0.2.129", 6: "2001:db8:2::1"}
# Far ends of a tunnel from a to b
FAR = {4: "203.0.113.2", 6: "2001:db8:9::2"}

TOPOLOGY = """
link add a-e netns a type veth peer name e-a netns e
link add e-r netns e type veth peer name r-e netns r
link add r-x netns r type veth peer name x-r netns x
link add x-b netns x type veth peer name b-x netns b
-n a addr add 192.0.2.1/25 dev a-e
-n a addr add 2001:db8:1::1/64 dev a-e nodad
-n e addr add 192.0.2.2/25 dev e-a
-n e addr add 2001:db8:1::2/64 dev e-a nodad
-n e addr add 198.51.100.1/25 dev e-r
-n e addr add 2001:db8:10::1/64 dev e-r nodad
-n r addr add 198.51.100.2/25 dev r-e
-n r addr add 2001:db8:10::2/64 dev r-e nodad
-n r addr add 198.51.100.130/25 dev r-x
-n r addr add 2001:db8:20::2/64 dev r-x nodad
-n x addr add 198.51.100.129/25 dev x-r
-n x addr add 2001:db8:20::1/64 dev x-r nodad
-n x addr add 192.0.2.130/25 dev x-b
-n x addr add 2001:db8:2::2/64 dev x-b nodad
-n b addr add 192.0.2.129/25 dev b-x
-n b addr add 2001:db8:2::1/64 dev b-x nodad
-n a link set a-e mtu 1400 up
-n e link set e-a up
-n e link set e-r up
-n r link set r-e up
-n r link set r-x up
-n x link set x-r up
-n x link set x-b up
-n b link set b-x mtu 1400 up
-n a route add default via 192.0.2.2
-n e route add default via 198.51.100.2
-n x route add default via 198.51.100.130
-n b route add default via 192.0.2.130
-n a route add default via 2001:db8:1::2
-n e route add default via 2001:db8:10::2
-n x route add default via 2001:db8:20::2
-n b route add default via 2001:db8:2::2
-n r route add 192.0.2.0/25 via 198.51.100.1
-n r route add 192.0.2.128/25 via 198.51.100.129
-n r route add 2001:db8:1::/64 via 2001:db8:10::1
-n r route add 2001:db8:2::/64 via 2001:db8:20::1
"""

# name, outer IP version, inner IP versions, type of link, its options
TUNNELS = (
    ("ipip", 4, (4,), "ipip", ""),
    ("sit", 4, (6,), "sit", ""),
    ("ip6tnl", 6, (4, 6), "ip6tnl", "mode any"),
    ("ip6tnl without encapsulation limit", 6, (6,), "ip6tnl", "mode ip6ip6 encaplimit none"),
    ("gre", 4, (4, 6), "gre", ""),
    ("gre with checksum", 4, (4, 6), "gre", "csum"),
    ("gre with checksum, key and sequence", 4, (4,), "gre", "csum key 7 seq"),
    ("ip6gre with checksum", 6, (4, 6), "ip6gre", "csum"),
)


def headers_of(got):
    """Return the number of headers that a host has sent."""
    return got["out_data"] + got["out_ack"] + got["out_try"]


def few(*cases):
    """Return all cases, or only the first one in the debug kernel."""
    return cases[:1] if DEBUG else cases


def build_path():
    hosts.build("a", "e", "r", "x", "b")
    hosts.ip(TOPOLOGY)
    for line in (f"r tc qdisc add dev r-x root handle 1: tbf rate {8 * RATE_BYTES_PS}bit"
                 " burst 3000 limit 1mb",
                 f"r tc qdisc add dev r-x parent 1: handle 10: xcp rate {8 * RATE_BYTES_PS}bit"
                 f" limit {BUFFER}",
                 "b tc qdisc add dev b-x root netem delay 20ms limit 10000"):
        run("ip netns exec " + line)
    # Wait for duplicate address detection of the link-local addresses.
    time.sleep(3)


def build_tunnel(version, kind, options, mtu=1400):
    hosts.ip("".join(f"""
-n {name} link add t0 type {kind} local {OUTER[name][version]} remote {OUTER[other][version]} {options}
-n {name} link set t0 mtu {mtu} up
-n {name} route add {behind[0]} dev t0
-n {name} route add {behind[1]} dev t0""" for name, other, behind in (
        ("e", "x", ("192.0.2.128/25", "2001:db8:2::/64")),
        ("x", "e", ("192.0.2.0/25", "2001:db8:1::/64")))))
    time.sleep(3)


def remove_tunnel():
    for name in ("e", "x"):
        run(f"ip -n {name} link del t0")


def switch(on, *names):
    for name in names or ("e", "x"):
        sysctl(name, "hopcc/xcp_tunnel", on)


def port():
    """Return tc's statistics of the bottleneck."""
    shown = subprocess.run("ip netns exec r tc -s -j qdisc show dev r-x".split(),
                           stdout=subprocess.PIPE, check=True).stdout
    return {q["kind"]: q for q in json.loads(shown)}


def through(version, total, to=None):
    """Send a stream from a to b. Return the changes at the hosts and at the port."""
    before = {name: counts(name) for name in "aexb"}
    start, half = port(), {}
    pair = connect(version, sink="b", to=to or B)
    if not pair:
        return {"exact": False}

    def watch(received):
        if not half and received > total // 2:
            half.update(time=time.monotonic(), bytes=port()["tbf"]["bytes"])

    exact = transfer([Stream(*pair, total)], meanwhile=watch)
    took = time.monotonic() - half.get("time", 0)
    end = port()
    hosts.close(*pair)
    time.sleep(1)
    got = {name: since(name, was) for name, was in before.items()}
    load = (end["tbf"]["bytes"] - half.get("bytes", 0)) / took / RATE_BYTES_PS
    got.update(exact=exact, took=took, load=load,
               drops=sum(end[k]["drops"] - start[k]["drops"] for k in end),
               reduced=end["xcp"]["reduced"] - start["xcp"]["reduced"])
    return got


def detail(got):
    return (f"load {got['load']:.3f}, {got['drops']} drops, {got['reduced']} lowered, "
            f"{got['e']['tunnel_out']} copies, {got['x']['tunnel_lowered']} copied back")


def heard(version, name, total):
    """The option is on at both ends: the sender follows the router inside the tunnel."""
    switch(1)
    got = through(version, total)
    tap.claim(f"IPv{version} in {name}: exact, without a drop, at the inner router's rate",
              got["exact"] and not got["drops"] and 0.95 <= got["load"] <= 1.01, detail(got))
    tap.claim(f"IPv{version} in {name}: each header has a copy, and none is left over",
              got["e"]["tunnel_out"] == headers_of(got["a"]) > 0 and
              got["x"]["tunnel_in"] == got["e"]["tunnel_out"] and
              got["e"]["tunnel_in"] == got["x"]["tunnel_out"] ==
              headers_of(got["b"]) > 0)
    tap.claim(f"IPv{version} in {name}: what the router lowered was copied back",
              0 < got["x"]["tunnel_lowered"] <= got["reduced"] and
              not any(got[end]["tunnel_" + k] for end in "ex"
                      for k in ("bad", "no_room", "gso", "avoided", "refused")))


def not_heard(version, name, total):
    """The same path with the option off: without feedback, the sender is too fast."""
    switch(0)
    got = through(version, total)
    tap.claim(f"IPv{version} in {name}, option off: exact, and the router inside overflows",
              got["exact"] and got["drops"] > 0 and not got["reduced"] and
              got["a"]["out_data"] > 0 and not got["e"]["tunnel_out"], detail(got))


def every_kind():
    for name, outer, inners, kind, options in TUNNELS:
        if DEBUG and name != "ip6gre with checksum":
            continue
        build_tunnel(outer, kind, options)
        for inner in inners:
            heard(inner, name, 8 * MB)
        if kind in ("ipip", "ip6tnl"):
            not_heard(inners[0], name, 8 * MB)
        remove_tunnel()


def from_host(version, name, outer, kind):
    """The tunnel starts at the sender: its GSO packets are segmented in front of the tunnel."""
    switch(1, "a", "b")
    for end, local, remote, address in (("a", A, B, 1), ("b", B, A, 2)):
        run(f"ip -n {end} link add t0 type {kind} local {local[outer]} remote {remote[outer]}")
        run(f"ip -n {end} link set t0 mtu 1300 up")
        run(f"ip -n {end} addr add 203.0.113.{address}/24 dev t0")
        run(f"ip -n {end} addr add 2001:db8:9::{address}/64 dev t0 nodad")
    time.sleep(3)
    got = through(version, 2 * MB, FAR)
    a, b = got["a"], got["b"]
    tap.claim(f"IPv{version} in {name} from the host: GSO packets, a copy for each segment",
              got["exact"] and a["out_gso"] > 0 and not a["tunnel_gso"] and
              a["tunnel_out"] == headers_of(a) == b["tunnel_in"] and
              b["tunnel_lowered"] > 0 and not got["drops"],
              f"{a['out_data']} packets, {a['out_gso']} GSO packets, "
              f"{b['tunnel_lowered']} lowered")
    for end in "ab":
        run(f"ip -n {end} link del t0")
    switch(0, "a", "b")


def no_room():
    """If the tunnel uses the whole MTU, full packets get no copy of the header. The router below does not see
    them, so packets are lost, and the sender falls back: its packets have a header until then."""
    switch(1)
    run("ip -n a link set a-e mtu 1500")
    run("ip -n b link set b-x mtu 1500")
    build_tunnel(4, "ipip", "", mtu=1480)
    through(4, MB // 8)         # finds the path MTU
    got = through(4, 2 * MB)
    tap.claim("no room for a copy: exact, counted, and the packet is what it was",
              got["exact"] and got["e"]["tunnel_no_room"] > 10 * got["e"]["tunnel_out"] and
              got["e"]["tunnel_no_room"] + got["e"]["tunnel_out"] == headers_of(got["a"]) and
              got["a"]["out_no_room"] == 0 and got["x"]["tunnel_bad"] == 0,
              f"{got['a']['out_data']} packets with a header, {got['e']['tunnel_no_room']} without a copy, "
              f"{got['e']['tunnel_out']} with one")
    remove_tunnel()
    run("ip -n a link set a-e mtu 1400")
    run("ip -n b link set b-x mtu 1400")


def narrow(outer, kind, version):
    """A link with a smaller MTU inside: ICMP about the packet with the copy reaches the tunnel. Below
    1380 bytes, IPv6's least packets do not fit with ip6gre and a copy, and no TCP could go on."""
    switch(1)
    build_tunnel(outer, kind, "")
    run("ip -n r link set r-x mtu 1380")
    got = through(version, 2 * MB)
    tap.claim(f"IPv{version} in {kind} over IPv{outer}: the tunnel learns the path's MTU",
              got["exact"] and got["e"]["icmp"] > 0 and got["took"] < 20,
              f"{got['e']['icmp']} errors, {got['e']['tunnel_no_room']} without a copy")
    run("ip -n r link set r-x mtu 1500")
    remove_tunnel()
    for name in "ae":
        for route in ("route flush cache", "-6 route flush cache"):
            run(f"ip -n {name} {route}", check=False)


def addresses(version, source, sink):
    return b"".join(socket.inet_pton(hosts.FAMILY[version], end) for end in (source, sink))


def ip(version, following, ends, payload):
    """Return an IP packet; ends: both addresses."""
    if version == 6:
        return finish(struct.pack("!IHBB", 6 << 28, 0, following, 64) + ends + payload)
    return finish(struct.pack("!BBHHHBBH", 0x45, 0, 0, 77, 0, 64, following, 0) + ends + payload)


def send(name, version, packet):
    """Send a packet from a namespace, unchanged."""
    with hosts.inside(name):
        raw = socket.socket(hosts.FAMILY[version], socket.SOCK_RAW, socket.IPPROTO_RAW)
    with raw:
        if version == 6:
            to = socket.inet_ntop(socket.AF_INET6, packet[24:40])
        else:
            to = socket.inet_ntoa(packet[16:20])
        raw.sendto(packet, (to, 0))


def refuse(outer, quoted, code=None, ends=("x", "e"), at=OUTER):
    """x sends an ICMP error to e: it does not know the protocol of a packet. Return what grew at e.

    code: type and code of another error. ends: other hosts than x and e; at: their addresses.
    """
    sender, receiver = ends
    back = addresses(outer, at[sender][outer], at[receiver][outer])
    before = counts(receiver)
    if outer == 4:
        body = struct.pack("!BBHI", *code or (3, 2), 0, 0) + quoted
        body = body[:2] + struct.pack("!H", inet_sum(body)) + body[4:]
        send(sender, 4, ip(4, 1, back, body))
    else:
        body = struct.pack("!BBHI", *code or (4, 1), 0, 40) + quoted
        check = inet_sum(back + struct.pack("!II", len(body), 58) + body)
        send(sender, 6, ip(6, 58, back, body[:2] + struct.pack("!H", check) + body[4:]))
    time.sleep(0.5)
    return {k: v for k, v in since(receiver, before).items() if v and k.startswith(("tunnel", "icmp"))}


def copies(outer, total=MB):
    """Send a stream through the tunnel. Return the outer packets with a copy as x receives them."""
    with hosts.inside("x"):
        tap = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM,
                            socket.htons({4: 0x800, 6: 0x86dd}[outer]))
    tap.bind(("x-r", 0))
    tap.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 24)
    tap.setblocking(False)
    with tap:
        through(4, total)
        found = []
        while True:
            try:
                packet, where = tap.recvfrom(4096)
            except BlockingIOError:
                return found
            if where[2] == socket.PACKET_HOST and packet[ip_next(packet)] == XCP:
                found.append(packet)


def ip_next(packet):
    """Return the offset of the byte that has the number of the header that follows IP's."""
    if packet[0] >> 4 == 4:
        return 9
    # ip6gre puts an option in front: the tunnel's encapsulation limit.
    return 40 if packet[6] == 60 else 6


def change(packet, at, count=1):
    """Return the packet with a bit changed in some bytes from an offset."""
    return packet[:at] + bytes(b ^ 1 for b in packet[at:at + count]) + packet[at + count:]


def on_the_way(packet):
    """Return a packet as routers and NAT may have changed it: DSCP, ECN, hops, source, delta."""
    at = xcp_at(packet)
    if packet[0] >> 4 == 4:
        packet = change(packet, 1)
        packet = change(packet, 8)
        packet = change(packet, 10, 6)
    else:
        packet = change(packet, 0)
        packet = change(packet, 7, 17)
    return packet[:at + 12] + struct.pack("!i", -2**31) + packet[at + 16:]


def xcp_at(packet):
    """Return the offset of the copy in an outer packet."""
    if packet[0] >> 4 == 4:
        return 20
    return 48 if packet[6] == 60 else 40


def forgeries(outer, copy):
    """Return errors' quotes that e did not send, by what is wrong with them."""
    at = xcp_at(copy)
    ends = [addresses(outer, source, OUTER["x"][outer])
            for source in (A[outer], OUTER["e"][outer])]
    made_up = header(following=47) + bytes(200)
    # The place of IPv4's identifier and of IPv6's flow label
    ident = 4 if outer == 4 else 2
    # Behind the copy: 4 bytes of GRE, 20 each of IP and XCP, and TCP's sequence number
    seq = at + 20 + 4 + 20 + 20 + 4
    return {
        "of another host": ip(outer, XCP, ends[0], made_up),
        "made up": ip(outer, XCP, ends[1], made_up),
        "to another far end": change(copy, 19 if outer == 4 else 39),
        "another identifier": change(copy, ident),
        "another RTT": change(copy, at + 7),
        "another inner sequence number": change(copy, seq),
        "cut off": copy[:at + 20 + 60],
    }


def refused(outer):
    """The far end does not know our protocol: the tunnel adds no copies for some time."""
    switch(1)
    build_tunnel(outer, "gre" if outer == 4 else "ip6gre", "")
    copy = copies(outer)[-1]
    for what, quoted in forgeries(outer, copy).items():
        tap.equal(f"over IPv{outer}: an error about a packet that we did not send, {what}",
                  refuse(outer, quoted), {"tunnel_unsent": 1})
    got = through(4, MB)["e"]
    tap.claim(f"over IPv{outer}: forged errors change nothing",
              got["tunnel_out"] > 0 and not got["tunnel_avoided"])
    copy = copies(outer)[-1]
    tap.equal(f"over IPv{outer}: another error about a copy is the tunnel's",
              refuse(outer, copy, (3, 1) if outer == 4 else (1, 3)), {"icmp": 1})
    tap.equal(f"over IPv{outer}: an error about a copy, as changed on the way",
              refuse(outer, on_the_way(copy)), {"tunnel_refused": 1})
    got = through(4, MB)["e"]
    tap.claim(f"over IPv{outer}: no copies", not got["tunnel_out"] and got["tunnel_avoided"] > 0)
    time.sleep(61)
    got = through(4, MB)["e"]
    tap.claim(f"over IPv{outer}: a minute later copies again",
              got["tunnel_out"] > 0 and not got["tunnel_avoided"])
    switched_off(outer)
    remove_tunnel()


def switched_off(outer):
    """The far end refuses copies by itself: those of the first RTT are lost, with copies of ACKs below them."""
    switch(0, "x")
    got = through(4, MB)
    e = got["e"]
    tap.claim(f"over IPv{outer}: a far end with the option off answers, and gets no more copies",
              got["exact"] and 1 <= e["tunnel_out"] == e["tunnel_refused"] == got["x"]["in_off"] <= 2 and
              not e["tunnel_unsent"], f"{e}")
    time.sleep(61)
    switch(1, "x")


def busy():
    """Many copies to one far end do not displace the last one to another."""
    build_tunnel(4, "gre", "")
    copy = copies(4, MB // 8)[-1]
    remove_tunnel()
    build_tunnel(6, "ip6gre", "")
    before = counts("e")
    through(4, 8 * MB)
    remove_tunnel()
    many = since("e", before)["tunnel_out"]
    tap.claim("copies to another far end do not displace one", many > 64 and
              refuse(4, copy) == {"tunnel_refused": 1}, f"{many} copies")
    time.sleep(61)


DELTA = 100000


class Forger:
    """Sends handmade packets to the tunnel's exit, and reads the packets that arrive at b."""

    def __init__(self, outer, inner, gre=None):
        self.outer, self.inner, self.gre = outer, inner, gre
        self.following = 47 if gre is not None else {4: 4, 6: 41}[inner]
        self.number = 0
        with hosts.inside("b"):
            self.tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
            self.tap.bind(("b-x", 0))

    def packet(self, xcp, following=XCP):
        """Return an inner packet with a number, by which it is recognised."""
        self.number += 1
        tcp = struct.pack("!HHIIBBHHH", 9, 9, 0, 0, 5 << 4, 16, 0, 0, 0)
        return ip(self.inner, following, addresses(self.inner, A[self.inner], B[self.inner]),
                  xcp + tcp + b"packet %8d" % self.number + bytes(200))

    def wrap(self, xcp, inner, spoil=0):
        """Return an outer packet; spoil: error of the GRE checksum."""
        tunnel = b""
        if self.gre is not None:
            kind = 0x800 if self.inner == 4 else 0x86dd
            # Checksum, key, sequence number
            rest = b"".join(word for bit, word in ((0x8000, bytes(4)), (0x2000, bytes(4)),
                                                   (0x1000, struct.pack("!I", self.number)))
                            if self.gre & bit)
            tunnel = struct.pack("!HH", self.gre, kind) + rest
            if self.gre & 0x8000:
                check = inet_sum(tunnel + inner) ^ spoil
                tunnel = tunnel[:4] + struct.pack("!H", check) + tunnel[6:]
        return ip(self.outer, XCP,
                  addresses(self.outer, OUTER["e"][self.outer], OUTER["x"][self.outer]),
                  xcp + tunnel + inner)

    def arrived(self):
        """Return the IP packet with the last number; None if it did not arrive."""
        end = time.monotonic() + 0.2
        while time.monotonic() < end:
            self.tap.settimeout(0.1)
            try:
                frame = self.tap.recv(4096)
            except TimeoutError:
                continue
            if b"packet %8d" % self.number in frame:
                return frame[14:]
        return None

    def expect(self, what, packets, want, grown):
        """packets: (packet on the wire, ...); want: the packet at b, except for its hop count."""
        before = counts("x")
        for packet in packets:
            send("e", self.outer, packet)
        got = self.arrived()
        growth = {k: v for k, v in since("x", before).items()
                  if v and (k.startswith("tunnel") or k.startswith("bad") or
                            k in ("in_late", "in_off"))}
        if want:
            hops = 7 if self.inner == 6 else 8
            want = finish(want[:hops] + bytes([want[hops] - 1]) + want[hops + 1:])
        tap.claim(f"{self.name()}, forged: {what}", (got, growth) == (want, grown),
                  f"{growth}" + ("" if got == want else f", got {got!r:.400}, want {want!r:.400}"))

    def name(self):
        gre = "" if self.gre is None else f", GRE {self.gre:#x}"
        return f"IPv{self.inner} in IPv{self.outer}{gre}"


COPIED = {"tunnel_in": 1, "tunnel_lowered": 1}
BAD = {"tunnel_in": 1, "tunnel_bad": 1}

# Fields that differ from those of the inner header.
FORGED = (
    ("asks for more", {"delta": DELTA + 1}),
    ("asks for most", {"delta": 2**31 - 1}),
    ("another RTT", {"rtt": 99, "delta": 1}),
    ("another throughput", {"throughput": 1, "delta": 1}),
    ("another format", {"form": 1, "delta": 1}),
    ("another flag", {"flags": 1, "delta": 1}),
    ("another feedback", {"reverse": 1, "delta": 1}),
)


def forged(outer, inner, gre=None):
    """A header that is not a copy changes nothing; the payload arrives if the option is on."""
    f = Forger(outer, inner, gre)

    def copy(**fields):
        return header(following=f.following, **fields)

    for what, delta in (("less", 7), ("less than nothing", -DELTA), ("least", -2**31)):
        plain, less = f.packet(header(delta=DELTA)), None
        less = plain.replace(struct.pack("!i", DELTA), struct.pack("!i", delta), 1)
        f.expect(what, [f.wrap(copy(delta=delta), plain)], less, COPIED)
    plain = f.packet(header(delta=DELTA))
    f.expect("the same", [f.wrap(copy(delta=DELTA), plain)], plain, {"tunnel_in": 1})
    for what, fields in FORGED:
        plain = f.packet(header(delta=DELTA))
        f.expect(what, [f.wrap(copy(**fields), plain)], plain, BAD)
    for what, xcp, following in (("no header inside", b"", 6),
                                 ("a malformed one inside", header(version=2), XCP),
                                 ("two inside", header(following=XCP) + header(), XCP)):
        plain = f.packet(xcp, following)
        f.expect(what, [f.wrap(copy(delta=1), plain)], plain, BAD)
    plain = f.packet(header(delta=DELTA))
    f.expect("a malformed one outside", [f.wrap(copy(version=3), plain)], None,
             {"bad_version": 1})
    short = f.packet(header())[:30]
    f.expect("cut off inside", [f.wrap(copy(), short)], None, BAD)
    plain = f.packet(header(delta=DELTA))
    less = plain.replace(struct.pack("!i", DELTA), struct.pack("!i", 5), 1)
    packet = f.wrap(copy(delta=5), plain)
    f.expect("in fragments", list(fragments(packet, 40 if outer == 6 else 20, 64)), less,
             {"in_late": 1, **COPIED})
    switch(0)
    plain = f.packet(header(delta=DELTA))
    f.expect("option off: left alone", [f.wrap(copy(delta=5), plain)], None, {"in_off": 1})
    switch(1)
    if gre and gre & 0x8000:
        plain = f.packet(header(delta=DELTA))
        f.expect("a wrong checksum stays wrong", [f.wrap(copy(delta=5), plain, spoil=1)], None,
                 COPIED)
    f.tap.close()


def not_trusted():
    run("ip netns exec r tc qdisc del dev r-x root")
    for outer, inner, kind, options, gre in few(
            (4, 6, "gre", "csum", 0x8000), (4, 4, "ipip", "", None), (4, 6, "sit", "", None),
            (6, 4, "ip6tnl", "mode any", None), (6, 6, "ip6tnl", "mode any", None),
            (4, 4, "gre", "", 0), (4, 4, "gre", "csum key 0 seq", 0xb000),
            (6, 4, "ip6gre", "csum", 0x8000)):
        build_tunnel(outer, kind, options)
        forged(outer, inner, gre)
        remove_tunnel()


def knobs():
    for value, good in ((2, False), (0, True), (1, True)):
        try:
            switch(value)
            took = True
        except OSError:
            took = False
        tap.equal(f"sysctl xcp_tunnel {'takes' if good else 'refuses'} {value}", took, good)


def main():
    build_path()
    knobs()
    every_kind()
    for version, name, outer, kind in few(
            (4, "gre", 4, "gre"), (4, "ipip", 4, "ipip"), (4, "ip6tnl", 6, "ip6tnl mode any"),
            (4, "ip6gre", 6, "ip6gre"), (6, "sit", 4, "sit")):
        from_host(version, name, outer, kind)
    no_room()
    for outer, kind, version in few((4, "gre", 4), (4, "ipip", 4), (4, "sit", 6),
                                    (6, "ip6gre", 6)):
        narrow(outer, kind, version)
    for outer in few(4, 6):
        refused(outer)
    busy()
    not_trusted()
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
