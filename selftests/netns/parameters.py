#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Module parameters that both ends of a connection and its switches agree on: IP protocol numbers, TPIDs
and ExIDs. The modules are loaded with other ones than by default, which then stand in the packets, and
none of the defaults does. Prints TAP.

    a ---- r [r-b: xcp, int or csig] ---- b

Needs root and the modules, which it loads anew.
"""
import collections
import json
import socket
import struct
import subprocess
import sys

import csig_flows
import hosts
import shims
from csig_tag import Sniffer
from hosts import Stream, close, connect, counts, run, since, sysctl, transfer
from shims import listen, negotiated, negotiation
from wire import Peer

# By default 63, 254, 0x88b5, 0x88b6, 0x484f and 0x4353.
XCP, INT, COMPACT, EXPANDED, NEGOTIATION, CSIG = 101, 102, 0x9a01, 0x9a02, 0x1357, 0x2468
BYTES = 1 << 17

tap = hosts.Tap()


def load():
    """Load all modules anew, four of them with parameters, and first with those that are refused."""
    hosts.unload()
    tap.claim("hop_core takes another ExID", hosts.load("hop_core", f"option_exid={NEGOTIATION}"))
    tap.claim("net_xcp takes another protocol number, and not 0",
              not hosts.load("net_xcp", "protocol=0") and hosts.load("net_xcp", f"protocol={XCP}"))
    tap.claim("net_int takes another protocol number, and neither 0 nor net_xcp's",
              not hosts.load("net_int", "protocol=0") and not hosts.load("net_int", f"protocol={XCP}") and
              hosts.load("net_int", f"protocol={INT}"))
    tap.claim("net_csig_tag takes other TPIDs and another ExID, and no length or one TPID for both forms",
              not hosts.load("net_csig_tag", "tpid_compact=1535") and
              not hosts.load("net_csig_tag", "tpid_expanded=1535") and
              not hosts.load("net_csig_tag", f"tpid_compact={COMPACT}", f"tpid_expanded={COMPACT}") and
              hosts.load("net_csig_tag", f"tpid_compact={COMPACT}", f"tpid_expanded={EXPANDED}", f"exid={CSIG}"))
    for name in ("tcp_xcp", "tcp_hpccpp", "tcp_csig", "sch_xcp", "sch_int", "sch_csig"):
        hosts.load(name)


def queue(kind, words):
    """Replace the qdisc of r's port to b."""
    run(f"tc -n r qdisc replace dev r-b root {kind} rate 100mbit {words}")


def exids(tcp):
    """Return (kind, ExID) of the experimental options in a TCP header."""
    at, end = 20, (tcp[12] >> 4) * 4
    while at < end and tcp[at]:
        if tcp[at] in (253, 254):
            yield tcp[at], struct.unpack_from("!H", tcp, at + 2)[0]
        at += 1 if tcp[at] == 1 else tcp[at + 1]


def numbers(frames):
    """Return what stands in frames of IP: TPIDs, protocol numbers, and the ExIDs of both kinds."""
    tpids, protocols, options = set(), set(), set()
    for frame in frames:
        at, kind = 12, struct.unpack_from("!H", frame, 12)[0]
        for tpid, size in ((COMPACT, 4), (0x88b5, 4), (EXPANDED, 8), (0x88b6, 8)):
            if kind == tpid:
                tpids.add(tpid)
                at += size
                kind, = struct.unpack_from("!H", frame, at)
        if kind not in (0x800, 0x86dd):
            continue
        ip = frame[at + 2:]
        protocol, tcp = (ip[9], ip[20:]) if kind == 0x800 else (ip[6], ip[40:])
        if protocol == socket.IPPROTO_TCP:
            options |= set(exids(tcp))
        if protocol != socket.IPPROTO_ICMPV6:
            protocols.add(protocol)
    return tpids, protocols, options


class Talk:
    """A stream from a to b, and what became of it: is it whole, and does its sender still use its own law?"""

    def __init__(self, cc, carrier, version=4):
        sniffer, before = Sniffer("r", "r-b"), counts("a", carrier)
        pair = connect(version, cc)
        self.good = transfer([Stream(*pair, BYTES)]) and hosts.cc_of(pair[0]) == cc
        self.flow = csig_flows.flow_of("a", pair[0]) if carrier == "csig" else None
        self.got = collections.Counter({k: v for k, v in since("a", before, carrier).items() if v})
        self.numbers = numbers(sniffer.frames())
        out = subprocess.run("tc -n r -s -j qdisc show dev r-b".split(), capture_output=True, check=True).stdout
        self.qdisc = json.loads(out)[0]
        close(*pair)
        sniffer.close()


def check_xcp(version):
    queue("xcp", f"protocol {XCP}")
    t = Talk("xcp", "xcp", version)
    tap.equal(f"IPv{version} net_xcp: its header has the other protocol number, its option the other ExID",
              t.numbers, (set(), {XCP, socket.IPPROTO_TCP}, {(254, NEGOTIATION)}))
    tap.claim(f"IPv{version} net_xcp: the switch reads each header, b returns them, the stream is whole",
              t.good and t.qdisc["micro"] >= t.got["out_data"] > 50 and t.got["in"] > 50,
              f"{t.good} {t.qdisc['micro']} {t.got}")


def check_other_switch():
    queue("xcp", "protocol 63")
    t = Talk("xcp", "xcp")
    tap.claim("a switch with XCP's default number: the stream is whole, no header is found",
              t.good and t.got["out_data"] > 50 and not t.qdisc["micro"], f"{t.good} {t.qdisc['micro']} {t.got}")


def check_int(version):
    queue("int", f"switch_id 1 protocol {INT}")
    sysctl("a", "hopcc/int_forward", 1)
    t = Talk("hpccpp", "int", version)
    tap.equal(f"IPv{version} net_int: its header has the other protocol number, its option the other ExID",
              t.numbers, (set(), {INT, socket.IPPROTO_TCP}, {(254, NEGOTIATION), (253, 0x4850), (253, 0x4841)}))
    tap.claim(f"IPv{version} net_int: the switch writes into each header, b answers, the stream is whole",
              t.good and t.qdisc["stamped"]["data"] == t.got["out_data"] > 50 and t.got["in_answer"] > 5,
              f"{t.good} {t.qdisc['stamped']} {t.got}")


def check_csig():
    queue("csig", f"lm all compact 42 lm all expanded 4242 tpid_compact {COMPACT} tpid_expanded {EXPANDED}")
    for name in "arb":
        sysctl(name, "hopcc/csig_ports", "*")
        sysctl(name, "hopcc/csig", 2)
    for form, tpid, locator in ((1, COMPACT, 42), (2, EXPANDED, 4242)):
        sysctl("a", "hopcc/csig_form", form)
        t = Talk("csig", "csig")
        tap.equal(f"net_csig_tag, form {form}: the other TPID, and the other ExID of values that return",
                  t.numbers, ({tpid}, {socket.IPPROTO_TCP}, {(254, NEGOTIATION), (253, CSIG)}))
        tap.claim(f"net_csig_tag, form {form}: the switch's values arrive, the stream is whole",
                  t.good and t.got["out_tag"] > 50 and t.got["in_value"] > 20 and
                  t.flow["signal"][csig_flows.ABW]["locator"] == locator, f"{t.good} {t.got} {t.flow}")


class Wire(shims.Wire):
    @staticmethod
    def unwrap(data):
        return data, None


def check_other_end():
    """A peer whose hop_core has the default asks in vain."""
    tun, answers = Wire(), []
    for port, exid in enumerate((0x484f, NEGOTIATION), 50000):
        peer = shims.Talker(tun, 4, port)
        peer.OPTIONS = Peer.OPTIONS + negotiation(asks=4, exid=exid)
        with listen(4) as listener:
            answers.append([negotiated(packet) for packet in peer.knock(listener, None)])
    tap.equal("a SYN with the default ExID gets no answer of a carrier; one with the other ExID does",
              answers, [[None], [((0, 4), 0)]])


def main():
    load()
    hosts.build_path()
    for version in (4, 6):
        check_xcp(version)
        check_int(version)
    check_csig()
    check_other_switch()
    check_other_end()
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
