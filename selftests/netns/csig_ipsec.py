#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Tags on packets that IPsec has encrypted, sections 2 and 7.1, in the network of csig_tunnel.py;
prints TAP.

    a ---- p ======== u ======== q ---- b
     transport mode: a to b; tunnel mode: p to q, or a to b

The slowest port is [u-q], with locator 42: the sender must receive it, by the reflection in the
encrypted ACKs. The argument "brief" is for slow kernels.

Needs root; changes nothing outside its own network namespaces.
"""
import socket
import sys

import csig_tunnel
from csig_flows import ABW, PD
from csig_tag import COMPACT, EXPANDED, Sniffer, knob, udp
from csig_tunnel import LOCATOR, MIB, P, Q, locators, slow, stream
from hosts import A, B, close, run

tap = csig_tunnel.tap
UDP_ENCAP, UDP_ENCAP_ESPINUDP, PORT = 100, 2, 4500
ENCAP = f"encap espinudp {PORT} {PORT} ::"
BRIEF = sys.argv[1:] == ["brief"]
KEY, KEY256 = "0x" + "5a" * 20, "0x" + "a5" * 32
# By name: protocol and algorithms. The padding of the second is up to 16 bytes.
CIPHERS = {
    "ESP": ("esp", f"aead rfc4106(gcm(aes)) {KEY} 128"),
    "ESP with CBC": ("esp", f"enc cbc(aes) {KEY256} auth-trunc hmac(sha256) {KEY256} 128"),
    "AH": ("ah", f"auth-trunc hmac(sha256) {KEY256} 128"),
}
NETS = {4: ("192.0.2.0/24", "198.51.100.0/24"), 6: ("2001:db8:1::/64", "2001:db8:2::/64")}
# A counter of these means that a tag, or a packet, was lost on the way.
LOST = ("out_no_room", "no_memory", "bad_truncated", "bad_order", "tunnel_lost", "in_fenced", "in_no_flow")


def protect(near, far, cipher, mode, ends, nets, encap="", what="tcp"):
    """Set IPsec up in both directions between two namespaces. ends: their addresses; nets: the
    networks behind them; what: the protocol to encrypt."""
    proto, algorithms = CIPHERS[cipher]
    for name, here, there, out, back in ((near, 0, 1, 100, 200), (far, 1, 0, 200, 100)):
        for source, sink, spi in ((here, there, out), (there, here, back)):
            run(f"ip -n {name} xfrm state add src {ends[source]} dst {ends[sink]} proto {proto} spi {spi}"
                f" reqid {spi} mode {mode} flag af-unspec {algorithms} {encap}")
        for source, sink, spi, way in ((here, there, out, "out"), (there, here, back, "in"),
                                       (there, here, back, "fwd")):
            run(f"ip -n {name} xfrm policy add src {nets[source]} dst {nets[sink]} proto {what} dir {way}"
                f" tmpl src {ends[source]} dst {ends[sink]} proto {proto} reqid {spi} mode {mode}")


def lay_open(*names):
    for name in names:
        run(f"ip -n {name} xfrm policy flush")
        run(f"ip -n {name} xfrm state flush")


def route_hosts(add):
    """Let the routers between a and b know both networks."""
    verb = "add" if add else "del"
    for version in (4, 6):
        left, right = NETS[version]
        for name, net, via in (("p", right, "10.1.0.2" if version == 4 else "fd01::2"),
                               ("u", right, Q[version]), ("u", left, P[version]),
                               ("q", left, "10.2.0.2" if version == 4 else "fd02::2")):
            run(f"ip -n {name} route {verb} {net} via {via}")


def is_whole(got, good):
    """True if no tag was lost behind the bottleneck, and none was refused on the way. On a tunnel's
    device packets merge, and the tags of their outer packets with them."""
    passed = got["q"].get("tunnel_out", got["q"]["out_forwarded"])
    return good and passed == got["b"]["in_tag"] == got["b"]["in_received"] and \
        not any(counts.get(key) for counts in got.values() for key in LOST)


def claim_told(what, protocol, **more):
    """The connection's packets pass u encrypted and tagged, and its sender learns of u-q."""
    sniffer = Sniffer("u", "u-q")
    good, flow, got = stream(**more)
    frames = [f for f in sniffer.frames() if len(f) > 1000]
    sniffer.close()
    a = got["a"]
    tap.claim(f"{what}: whole, each tag arrives and is passed to the connection, none is lost",
              is_whole(got, good) and a.get("out_tag", 0) > 600 and a.get("in_value", 0) > 20 and
              not a.get("path_stripped"), f"{good} {got}")
    tap.equal(f"{what}: the sender knows the bottleneck", locators(flow),
              {kind: LOCATOR["u-q"] for kind in (ABW, PD)})
    tap.claim(f"{what}: on the wire the tag is in front of the encrypted packet",
              len(frames) > 100 and all(is_tagged(frame, protocol) for frame in frames[-50:]),
              f"{len(frames)} frames, {frames[-1][:60].hex() if frames else ''}")
    return got


def is_tagged(frame, protocol):
    """True if the frame has a tag, and IP with this protocol behind it."""
    tag_bytes = {b"\x88\xb5": 4, b"\x88\xb6": 8}.get(frame[12:14])
    if not tag_bytes:
        return False
    ip = frame[14 + tag_bytes:]
    return ip[9 if ip[0] >> 4 == 4 else 6] == protocol


def check_transport():
    cases = [(4, "ESP"), (6, "ESP")] if BRIEF else [(v, cipher) for cipher in CIPHERS for v in (4, 6)]
    for version, cipher in cases:
        ends = A[version], B[version]
        protect("a", "b", cipher, "transport", ends, ends)
        claim_told(f"IPv{version}, {cipher}, transport mode", {"esp": 50, "ah": 51}[CIPHERS[cipher][0]],
                   version=version)
        lay_open("a", "b")


def check_expanded():
    protect("a", "b", "ESP", "transport", (A[4], B[4]), (A[4], B[4]))
    knob("a", "csig_form", EXPANDED)
    claim_told("ESP, expanded tags", 50)
    knob("a", "csig_form", COMPACT)
    lay_open("a", "b")


def check_udp():
    """ESP in UDP: the hosts have a socket on the port, as IKE's daemon has."""
    opened = [udp(name, 4, (end[4], PORT)) for name, end in (("a", A), ("b", B))]
    for sock in opened:
        sock.setsockopt(socket.IPPROTO_UDP, UDP_ENCAP, UDP_ENCAP_ESPINUDP)
    protect("a", "b", "ESP", "transport", (A[4], B[4]), (A[4], B[4]), ENCAP)
    claim_told("ESP in UDP", 17)
    lay_open("a", "b")
    close(*opened)


def check_hosts_tunnel():
    """The hosts themselves encrypt in tunnel mode."""
    for version in (4, 6):
        ends = A[version], B[version]
        protect("a", "b", "ESP", "tunnel", ends, ends)
        claim_told(f"IPv{version}, the hosts' own ESP tunnel", 50, version=version)
        lay_open("a", "b")


def check_gateways():
    """Routers encrypt in tunnel mode. The inner packet has no tag between the gateways."""
    for version, outer in ((4, 4), (6, 4)) if BRIEF else ((4, 4), (6, 6), (4, 6), (6, 4)):
        protect("p", "q", "ESP", "tunnel", (P[outer], Q[outer]), NETS[version])
        claim_told(f"IPv{version} between gateways, ESP on IPv{outer}", 50, version=version)
        lay_open("p", "q")


def check_gre():
    """A GRE tunnel of the routers, which csig_ports names, and which ESP encrypts in transport mode."""
    for name, ends in (("p", (P[4], Q[4])), ("q", (Q[4], P[4]))):
        run(f"ip -n {name} link add t0 type gre local {ends[0]} remote {ends[1]}")
        run(f"ip -n {name} link set t0 mtu 1400 up")
        run(f"ip -n {name} route replace {NETS[4][name == 'p']} dev t0")
    ends = P[4], Q[4]
    protect("p", "q", "ESP", "transport", ends, ends, what="gre")
    claim_told("GRE of the routers, in ESP", 50)
    for name in "pq":
        run(f"ip -n {name} link del t0")
    lay_open("p", "q")


def check_fenced():
    """A tag that comes by a device that csig_ports does not name reaches nobody."""
    protect("a", "b", "ESP", "transport", (A[4], B[4]), (A[4], B[4]))
    knob("b", "csig_ports", "\n")
    good, flow, got = stream(total=MIB)
    tap.claim("ESP, a receiver that does not trust its port: whole, no tag is believed, and the path strips",
              good and not got["b"].get("in_received") and got["b"].get("in_fenced", 0) > 0 and
              not got["a"].get("in_value") and got["a"].get("path_stripped") == 1 and
              flow["path"] == csig_tunnel.STRIPPED, f"{got}")
    knob("b", "csig_ports", csig_tunnel.PORTS)
    lay_open("a", "b")


def main():
    csig_tunnel.build()
    slow("u-q")
    route_hosts(True)
    check_transport()
    check_expanded()
    check_udp()
    check_fenced()
    check_hosts_tunnel()
    check_gateways()
    check_gre()
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
