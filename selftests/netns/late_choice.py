#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""A congestion control that is chosen when the connection is established, as iperf3 -C does:
ACKs negotiate XCP and CSIG, and segments of TCP negotiate telemetry. Prints TAP.

    a ---- [r-a] r [r-b] ---- b		both ports: 100 Mbit/s, 500 us, xcp, int or csig

Needs root, nft and the modules; changes nothing outside its own network namespaces.
"""
import socket
import struct
import sys
import time

import hosts
from hosts import Stream, connect, counts, netstat, run, since, sysctl, transfer
from xcp_firewall import nft

MB = 1 << 20
# By congestion control: its carrier; the counters of headers on or beside data, and of questions.
CARRIERS = {"xcp": ("xcp", "out_data", "out_handshake"), "hpccpp": ("int", "out_probe", "out_handshake"),
            "csig": ("csig", "out_tag", "out_handshake")}
# csig's cwnd_gain is 4 and more while no hop reports.
TCP_CC_INFO, ONE, PATH = 26, 256, 4
# Reductions of the window that TCP took back.
UNDO = ("TCPDSACKUndo", "TCPFullUndo", "TCPPartialUndo", "TCPLossUndo")

tap = hosts.Tap()

DROP = """
table inet lossy {
	chain forward {
		type filter hook forward priority 0; policy accept;
		meta l4proto 63 drop
		tcp option 253 exists drop
		tcp option 254 exists drop
	}
}
"""


def setup(cc):
    hosts.build_path()
    qdisc = {"xcp": "xcp rate 100mbit overhead 24", "hpccpp": "int rate 100mbit overhead 24 switch_id 1",
             "csig": "csig rate 100mbit overhead 24 lm all compact 7"}
    for dev in ("r-a", "r-b"):
        run(f"tc -n r qdisc replace dev {dev} root handle 1: link rate 100mbit delay 500us")
        run(f"tc -n r qdisc replace dev {dev} parent 1:1 handle 10: {qdisc[cc]}")
    for name in ("a", "b"):
        sysctl(name, "ipv4/tcp_rmem", "4096 131072 1048576")
    if cc != "csig":
        return
    for name in ("a", "r", "b"):
        sysctl(name, "hopcc/csig_ports", "a-r r-a r-b b-r")
        sysctl(name, "hopcc/tcp_csig_target_ns", 500000)
    for name in ("a", "b"):
        sysctl(name, "hopcc/csig", 2)


def falls_to(sock, cc):
    """Nothing is negotiated: is the connection Reno?"""
    return hosts.cc_of(sock) == cc + "-reno"


def uses_reports(sock, cc):
    """True if the congestion control runs and, for csig, hops report."""
    if hosts.cc_of(sock) != cc:
        return False
    info = sock.getsockopt(socket.IPPROTO_TCP, TCP_CC_INFO, 20)
    return cc != "csig" or struct.unpack_from("I", info, 16)[0] // ONE < PATH


def choose(sock, cc):
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, cc.encode())


class Run:
    """A connection that starts with cubic: what became of it."""

    def __init__(self, version, cc, total=5 * MB, passive=False, meanwhile=None, names=None,
                 prepare=None):
        carrier = CARRIERS[cc][0]
        sender = "b" if passive else "a"
        before, undone = counts(sender, carrier), sum(netstat(sender, name) for name in UNDO)
        ends = connect(version, cc="cubic")
        source, sink = reversed(ends) if passive else ends
        self.quiet = not any(since(sender, before, carrier).values())
        for name in names or (cc,):
            choose(source, name)
        if prepare:
            prepare(source)
        self.exact = transfer([Stream(source, sink, total)], meanwhile=meanwhile)
        self.name = hosts.cc_of(source)
        self.fell, self.good = falls_to(source, cc), uses_reports(source, cc)
        self.got = since(sender, before, carrier)
        self.undone = sum(netstat(sender, name) for name in UNDO) - undone
        self.retrans = hosts.retrans_of(source)
        hosts.close(*ends)
        time.sleep(0.1)


class Healed:
    """Nothing is dropped any more once data has arrived; telemetry asks beside the first data."""
    done = False

    def __call__(self, received):
        if received and not self.done:
            nft("r", "flush ruleset")
            self.done = True


def works(version, cc, what, **options):
    r = Run(version, cc, **options)
    tap.claim(f"IPv{version} {cc} {what}: cubic without a header, then negotiated",
              r.quiet and r.exact and r.good and r.got["peer_supported"] == 1 and
              r.got[CARRIERS[cc][1]] > 10,
              f"{r.name}, {r.got['peer_supported']}, {r.got[CARRIERS[cc][1]]} headers or probes")


LOSES_THREE = """
table inet lossy {
	chain forward {
		type filter hook forward priority 0; policy accept;
		ct original packets 20-22 meta length > 1000 drop
	}
}
"""


def beside_losses(version):
    """The peer's TCP reports each question as received twice, which must not undo the recovery of three
    lost packets.
    """
    socks = []

    def choose_later(received):
        if received > MB // 10 and socks:
            choose(socks.pop(), "hpccpp")

    nft("r", LOSES_THREE)
    hosts.sysctl("r", "netfilter/nf_conntrack_acct", 1)
    # Each packet is one for conntrack.
    hosts.offload("a", "a-r", hosts.ETHTOOL_STSO, 0)
    r = Run(version, "hpccpp", names=("cubic",), meanwhile=choose_later, total=20 * MB,
            prepare=socks.append)
    tap.claim(f"IPv{version} hpccpp asks a peer without the carrier after losses: nothing is undone",
              r.exact and r.fell and r.got["out_handshake"] == 3 and r.retrans == 3 and not r.undone,
              f"{r.name}, {r.got['out_handshake']} questions, {r.retrans} lost, {r.undone} undone")
    hosts.offload("a", "a-r", hosts.ETHTOOL_STSO, 1)
    nft("r", "flush ruleset")
    time.sleep(61)


def falls_back(version, cc, what, asked, **options):
    for when, headers, silent in (("first", asked, 1), ("again", 0, 0)):
        r = Run(version, cc, **options)
        sent = r.got[CARRIERS[cc][2]]
        tap.claim(f"IPv{version} {cc} {what}, {when}: exact, without headers, no packet is lost",
                  r.exact and r.fell and r.got["peer_unsupported"] == silent and sent == headers and
                  not r.retrans and not r.undone,
                  f"{r.name}, {sent} questions, {r.retrans} lost, {r.undone} undone")


def cases(version, cc):
    works(version, cc, "chosen behind connect()")
    works(version, cc, "chosen behind accept()", passive=True)
    works(version, cc, "chosen, left and chosen again", names=(cc, "cubic", cc))
    nft("r", DROP)
    works(version, cc, "first question lost", meanwhile=Healed())
    sysctl("b", "hopcc/" + CARRIERS[cc][0], 0)
    falls_back(version, cc, "carrier off at the peer", 3)
    if cc == "hpccpp":
        time.sleep(61)
        beside_losses(version)
    sysctl("b", "hopcc/" + CARRIERS[cc][0], 2 if cc == "csig" else 1)
    time.sleep(61)
    nft("r", DROP)
    falls_back(version, cc, "path drops the protocol", 3)
    nft("r", "flush ruleset")


def main():
    for cc in CARRIERS:
        setup(cc)
        for version in (4, 6):
            cases(version, cc)
            time.sleep(61)
        hosts.remove_path()
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
