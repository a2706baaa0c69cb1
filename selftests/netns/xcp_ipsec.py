#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""XCP through IPsec, sections 2.3 and 2.5, in the network of xcp_tunnel.py. With
net.hopcc.xcp_ipsec, the header is in front of AH and ESP, and the sender receives the feedback of
the router on the path. Without it, the connection works as without XCP. Prints TAP. Needs root;
changes nothing outside its own network namespaces.
"""
import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import time

import hosts
import xcp_tunnel
from hosts import connect, counts, run, since, sysctl
from shims import fragments, ip_bytes
from xcp_tunnel import A, B, DEBUG, MB, OUTER, addresses, change, headers_of, ip, refuse, through
from xcp_wire import XCP, header

KEY = "0x" + "5a" * 20
KEY256 = "0x" + "a5" * 32

tap = xcp_tunnel.tap

ETH_P_ALL = 3

ALGORITHM = {"esp": f"aead rfc4106(gcm(aes)) {KEY} 128",
             "ah": f"auth-trunc hmac(sha256) {KEY256} 128"}


def state(name, proto, mode, source, sink, spi):
    run(f"ip -n {name} xfrm state add src {source} dst {sink} proto {proto} spi {spi}"
        f" reqid {spi} mode {mode} flag af-unspec {ALGORITHM[proto]}")


def policy(name, direction, ends, proto, mode, source, sink, spi):
    run(f"ip -n {name} xfrm policy add src {ends[0]} dst {ends[1]} dir {direction}"
        f" tmpl src {source} dst {sink} proto {proto} reqid {spi} mode {mode}")


def protect(near, far, proto, mode, ends, nets):
    """Set up IPsec in both directions between two namespaces. ends: their addresses; nets: the
    networks behind them."""
    for name, here, there, out, back in ((near, 0, 1, 100, 200), (far, 1, 0, 200, 100)):
        for source, sink, spi in ((here, there, out), (there, here, back)):
            state(name, proto, mode, ends[source], ends[sink], spi)
        policy(name, "out", (nets[here], nets[there]), proto, mode, ends[here], ends[there], out)
        for direction in ("in", "fwd"):
            policy(name, direction, (nets[there], nets[here]), proto, mode, ends[there],
                   ends[here], back)


def lay_open(*names):
    for name in names:
        run(f"ip -n {name} xfrm policy flush")
        run(f"ip -n {name} xfrm state flush")
        for route in ("route flush cache", "-6 route flush cache"):
            run(f"ip -n {name} {route}", check=False)


def switch(on, *names):
    for name in names:
        sysctl(name, "hopcc/xcp_ipsec", on)


def detail(got, near, far):
    return (f"load {got['load']:.3f}, {got['drops']} drops, {got['reduced']} lowered, "
            f"{got[near]['ipsec_out']} in front, {got[far]['tunnel_lowered']} copied back")


def no_trouble(got):
    return not any(v for end in "aexb" for k, v in got[end].items()
                   if k in ("tunnel_bad", "tunnel_no_room", "tunnel_gso", "no_memory")
                   or k.startswith("bad_"))


def transport(version, proto):
    """The hosts encrypt in transport mode: the only congestion header is in front of IPsec."""
    name = f"IPv{version} in {proto.upper()} transport"
    ends = A[version], B[version]
    protect("a", "b", proto, "transport", ends, ends)
    got = through(version, 2 * MB)
    tap.claim(f"{name}, option off: exact, without XCP",
              got["exact"] and not got["a"]["out_data"] and not got["a"]["out_try"] and
              not got["b"]["in"], detail(got, "a", "b"))
    switch(1, "a", "b")
    got = through(version, 8 * MB)
    a, b = got["a"], got["b"]
    tap.claim(f"{name}: exact, without a drop, at the router's rate",
              got["exact"] and not got["drops"] and 0.95 <= got["load"] <= 1.01,
              detail(got, "a", "b"))
    tap.claim(f"{name}: each header was in front, and reached its connection",
              a["ipsec_out"] == headers_of(a) == b["ipsec_in"] == b["in"] > 0 and
              b["ipsec_out"] == headers_of(b) == a["ipsec_in"] == a["in"] > 0 and
              got["reduced"] > 0 and no_trouble(got), f"{a} {b}")
    # Only the receiver has this switched off, and does not answer.
    switch(0, "b")
    got = through(version, max(MB, 1 << 19))    # it asks in four round trips
    tap.claim(f"{name}, only the sender's option on: exact, without XCP",
              got["exact"] and not got["a"]["out_data"] and got["a"]["peer_unsupported"] == 1 and
              not got["b"]["ipsec_in"], f"{got['a']} {got['b']}")
    switch(0, "a")
    lay_open("a", "b")
    time.sleep(61)


# The router that says that b does not know our protocol, and whom it tells
ROUTER = {"r": {4: "198.51.100.2", 6: "2001:db8:10::2"}, "a": A}
UNKNOWN_PROTOCOL = {4: (3, 2), 6: (4, 1)}
QUOTED_BYTES = 500
PROHIBITED = {4: (3, 13), 6: (1, 1)}


def sent_by(version, sock, other):
    """Send some data. Return the packets with a header in front of IPsec that r passes on."""
    with hosts.inside("r"):
        wire = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(ETH_P_ALL))
    wire.bind(("r-x", ETH_P_ALL))
    wire.setblocking(False)
    size = sock.send(bytes(20000))
    while size and select.select([other], [], [], 20)[0]:
        size -= len(other.recv(size))
    found = []
    with wire:
        while True:
            try:
                packet, where = wire.recvfrom(4096)
            except BlockingIOError:
                return found
            if where[2] == socket.PACKET_OUTGOING and packet[{4: 9, 6: 6}[version]] == XCP:
                found.append(packet[:QUOTED_BYTES])


def not_believed(version, proto):
    """Errors about what a did not send: the connection goes on, nothing is remembered of b."""
    name = f"IPv{version} in {proto.upper()} transport"
    ends = A[version], B[version]
    protect("a", "b", proto, "transport", ends, ends)
    switch(1, "a", "b")
    pair = connect(version, to=B)
    sent = sent_by(version, *pair)
    at = {4: 20, 6: 40}[version]
    # The identifiers of IPsec follow the header: SPI and sequence number, in AH behind a word.
    spi = at + 20 + {"esp": 0, "ah": 4}[proto]
    ports = struct.pack("!HH", pair[0].getsockname()[1], pair[0].getpeername()[1])
    made_up = {
        "made up": (ip(version, XCP, addresses(version, *ends), header(following={"esp": 50, "ah": 51}[proto]) +
                       bytes(200)), True),
        "with another SPI": (change(sent[-1], spi + 3), True),
        "with another sequence number": (change(sent[-1], spi + 7), True),
        "with TCP in the clear": (ip(version, XCP, addresses(version, *ends), header() + ports + bytes(200)), False),
    }
    for what, (quoted, secret) in made_up.items():
        tap.equal(f"{name}: an error about a packet that we did not send, {what}",
                  refuse(version, quoted, UNKNOWN_PROTOCOL[version], ("r", "a"), ROUTER),
                  {"tunnel_unsent": 1} if secret else {})
        tap.equal(f"{name}: a filter's error about it is left to {'IPsec' if secret else 'TCP'}, {what}",
                  refuse(version, quoted, PROHIBITED[version], ("r", "a"), ROUTER), {"icmp": 1})
    got = through(version, MB // 4)
    tap.claim(f"{name}: forged errors change nothing: the next connection has headers",
              got["exact"] and got["a"]["peer_supported"] == 1 and got["a"]["ipsec_out"] > MB // 4 // 1400 and
              not got["a"]["peer_avoided"])
    before = counts("a")
    sent = sent_by(version, *pair)
    grown = since("a", before)
    tap.claim(f"{name}: forged errors change nothing: the connection goes on with headers",
              grown["ipsec_out"] == grown["out_data"] == len(sent) > 1 and hosts.cc_of(pair[0]) == "xcp",
              f"{grown['ipsec_out']} in front, of {grown['out_data']}")
    tap.equal(f"{name}: an error about a packet that we did send is counted",
              refuse(version, sent[-1], UNKNOWN_PROTOCOL[version], ("r", "a"), ROUTER), {"tunnel_refused": 1})
    hosts.close(*pair)
    switch(0, "a", "b")
    lay_open("a", "b")
    time.sleep(61)


NETS = {4: ("192.0.2.0/25", "192.0.2.128/25"), 6: ("2001:db8:1::/64", "2001:db8:2::/64")}


def gateways(version, outer, proto):
    """Routers encrypt in tunnel mode."""
    name = f"IPv{version} in {proto.upper()} tunnel over IPv{outer}"
    protect("e", "x", proto, "tunnel", (OUTER["e"][outer], OUTER["x"][outer]), NETS[version])
    got = through(version, 2 * MB)
    tap.claim(f"{name}, option off: exact, the header stays inside",
              got["exact"] and got["a"]["out_data"] > 0 and not got["reduced"] and
              not got["e"]["ipsec_out"], detail(got, "e", "x"))
    switch(1, "e", "x")
    got = through(version, 8 * MB)
    a, e, x, b = (got[end] for end in "aexb")
    tap.claim(f"{name}: exact, without a drop, at the inner router's rate",
              got["exact"] and not got["drops"] and 0.95 <= got["load"] <= 1.01,
              detail(got, "e", "x"))
    tap.claim(f"{name}: each header has a copy, and what it says is copied back",
              e["ipsec_out"] == headers_of(a) == x["ipsec_in"] > 0 and
              x["ipsec_out"] == headers_of(b) == e["ipsec_in"] > 0 and
              0 < x["tunnel_lowered"] <= got["reduced"] and no_trouble(got), f"{a} {e} {x} {b}")
    refused(name, version, outer, proto)
    switch(0, "e", "x")
    lay_open("e", "x")


def refused(name, version, outer, proto):
    """The far end does not know our protocol, or another host says so."""
    made_up = ip(outer, XCP, addresses(outer, OUTER["e"][outer], OUTER["x"][outer]),
                 header(following={"esp": 50, "ah": 51}[proto]) + bytes(200))
    tap.equal(f"{name}: an error about a packet that we did not send",
              refuse(outer, made_up), {"tunnel_unsent": 1})
    switch(0, "x")
    got = through(version, MB)
    e = got["e"]
    # Two copies may share a place in the table of those that were sent, by chance, one in 64.
    tap.claim(f"{name}, only the near end's option on: exact, and no copies after those of one RTT",
              got["exact"] and 1 <= e["tunnel_refused"] and
              e["ipsec_out"] == e["tunnel_refused"] + e["tunnel_unsent"] == got["x"]["in_off"] <= 2, f"{e} {got['x']}")
    time.sleep(61)


def hosts_tunnel(version):
    """The hosts themselves encrypt in tunnel mode, as a host does that dials in."""
    ends = A[version], B[version]
    protect("a", "b", "esp", "tunnel", ends, ends)
    for on in (0, 1):
        switch(on, "a", "b")
        got = through(version, MB)
        tap.claim(f"IPv{version} in the hosts' own ESP tunnel, option {'on' if on else 'off'}: exact, with headers",
                  got["exact"] and got["a"]["out_data"] > 0 and got["b"]["in"] > 0 and
                  bool(got["b"]["ipsec_out"]) == bool(on), f"{got['exact']} {got['a']}")
    switch(0, "a", "b")
    lay_open("a", "b")


def forged():
    """A router on the path writes another RTT to the copies."""
    protect("e", "x", "esp", "tunnel", (OUTER["e"][4], OUTER["x"][4]), NETS[4])
    switch(1, "e", "x")
    run("ip netns exec r tc qdisc add dev r-e clsact")
    run("ip netns exec r tc filter add dev r-e ingress protocol ip flower ip_proto 3f"
        " action pedit munge offset 24 u32 set 0x00000001")
    got = through(4, MB)
    x = got["x"]
    tap.claim("ESP tunnel, each copy forged: exact, counted, nothing copied",
              got["exact"] and not x["tunnel_lowered"] and
              x["tunnel_bad"] == x["ipsec_in"] > 0,
              f"{x['tunnel_bad']} forged")
    run("ip netns exec r tc qdisc del dev r-e clsact")
    switch(0, "e", "x")
    lay_open("e", "x")


def narrow(version):
    """A link with a smaller MTU: ICMP about a packet with a header in front reaches ESP."""
    ends = A[version], B[version]
    protect("a", "b", "esp", "transport", ends, ends)
    switch(1, "a", "b")
    # To a known destination the first data has headers.
    through(version, MB)
    run("ip -n r link set r-x mtu 1320")
    # ICMP reports to ESP and not to TCP, so packets that were too big count as lost.
    sysctl("a", "hopcc/tcp_xcp_loss", 1)
    got = through(version, 2 * MB)
    tap.claim(f"IPv{version} in ESP transport: the path's MTU is found, with headers on",
              got["exact"] and got["a"]["icmp"] > 0 and got["took"] < 20 and
              got["a"]["ipsec_out"] > 2 * MB // 1400, f"{got['a']['icmp']} errors")
    run("ip -n r link set r-x mtu 1500")
    sysctl("a", "hopcc/tcp_xcp_loss", 0)
    switch(0, "a", "b")
    lay_open("a", "b")


def cut(version):
    """A process that fragments a's packets with a header in front, at r."""
    kind = {4: 0x0800, 6: 0x86dd}[version]
    run("ip netns exec r tc qdisc add dev r-e clsact")
    run(f"ip netns exec r tc filter add dev r-e ingress protocol {'ip' if version == 4 else 'ipv6'}"
        " flower ip_proto 3f action drop")
    shown = subprocess.run("ip -n x -j link show dev x-r".split(), stdout=subprocess.PIPE,
                           check=True).stdout
    mac = bytes.fromhex(json.loads(shown)[0]["address"].replace(":", ""))
    with hosts.inside("r"):
        wire = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM)
    # ETH_P_ALL, since other packet sockets receive packets after the filter.
    wire.bind(("r-e", ETH_P_ALL))
    pid = os.fork()
    while not pid:
        data, where = wire.recvfrom(65536)
        if (where[1] != kind or where[2] == socket.PACKET_OUTGOING or
                data[6 if version == 6 else 9] != XCP):
            continue
        # A single IPv6 fragment keeps its fragment header, which AH does not expect.
        pieces = fragments(data, ip_bytes(data), 512) if len(data) > 512 else [data]
        for piece in pieces:
            wire.sendto(piece, ("r-x", kind, 0, 0, mac))
    wire.close()
    return pid


def in_pieces(version, proto):
    """Fragments of packets with a header in front are reassembled and then processed alike."""
    ends = A[version], B[version]
    protect("a", "b", proto, "transport", ends, ends)
    switch(1, "a", "b")
    child = cut(version)
    time.sleep(0.1)
    total = 1 << 18             # the first packets have no header
    got = through(version, total)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    a, b = got["a"], got["b"]
    tap.claim(f"IPv{version} in {proto.upper()} transport, in fragments: exact, each header taken",
              got["exact"] and a["ipsec_out"] == b["ipsec_in"] == b["in"] > total // 1600 and
              b["in_late"] > b["in"] * 0.9 and a["peer_supported"] == 1 and no_trouble(got),
              f"{a['ipsec_out']} in front, {b['in_late']} in fragments, {b['in']} taken")
    run("ip netns exec r tc qdisc del dev r-e clsact")
    switch(0, "a", "b")
    lay_open("a", "b")
    time.sleep(61)


def main():
    xcp_tunnel.build_path()
    for version, proto in ((6, "esp"),) if DEBUG else (
            (4, "esp"), (4, "ah"), (6, "esp"), (6, "ah")):
        transport(version, proto)
    for version, proto in ((4, "esp"), (6, "ah")):
        not_believed(version, proto)
    for version, outer, proto in ((4, 4, "esp"),) if DEBUG else (
            (4, 4, "esp"), (6, 6, "esp"), (4, 6, "esp"), (4, 4, "ah")):
        gateways(version, outer, proto)
    hosts_tunnel(4)
    hosts_tunnel(6)
    forged()
    for version, proto in ((4, "esp"), (6, "ah")):
        in_pieces(version, proto)
    for version in () if DEBUG else (4, 6):
        narrow(version)
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
