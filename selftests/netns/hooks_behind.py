#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Netfilter's hooks behind those of the carriers see every packet: chains of users, and net_csig_tag.
LDCP segments GSO packets in its hook, net_int sends probes there, and net_xcp segments what enters
IPsec's tunnel mode. Prints TAP. Needs root, nft and the modules; changes nothing outside its own
network namespaces.

    a [postrouting priority 310] ---- r [postrouting priority 310] ---- b
"""
import json
import subprocess
import time

import hosts
import xcp_ipsec
from hosts import A, B, Stream, connect, counts, since, sysctl, transfer
from xcp_firewall import nft

PROBE_MARK = 0xfd044850     # TCP's first option
TCP, XCP, INT = 6, 254, 63
KIB = 1 << 10
MESSAGE = 12 * KIB      # within LDCP's first window, whose last packet is sent as ECT and the others as Not-ECT

COUNTS = """
table inet behind {{
	chain postrouting {{
		type filter hook postrouting priority 310; policy accept;
		meta l4proto {{ {TCP}, {XCP}, {INT} }} counter comment "all"
		meta l4proto tcp @th,160,32 {PROBE_MARK} counter comment "probes"
	}}
}}
""".format(**globals())

tap = hosts.Tap()


def counted(name, what):
    """Return the packets and bytes of the rules with this comment."""
    out = subprocess.run(["ip", "netns", "exec", name, "nft", "-j", "list", "ruleset"], check=True, text=True,
                         stdout=subprocess.PIPE).stdout
    rules = [item["rule"] for item in json.loads(out)["nftables"] if item.get("rule", {}).get("comment") == what]
    values = [part["counter"] for rule in rules for part in rule["expr"] if "counter" in part]
    return [sum(value[key] for value in values) for key in ("packets", "bytes")]


def stream(version, cc, total, at="a"):
    """Return (the stream arrived, packets and bytes that the chain has seen)."""
    nft(at, "flush ruleset\n" + COUNTS)
    pair = connect(version, cc=cc, sink_cc=cc if cc == "ldcp" else "cubic")
    exact = bool(pair) and transfer([Stream(*pair, total)], limit_s=60)
    if pair:
        hosts.close(*pair)
    time.sleep(0.5)
    return exact, *counted(at, "all")


def ldcp(version):
    exact, _, seen = stream(version, "ldcp", MESSAGE)
    tap.claim(f"IPv{version} ldcp, a message of one window: a chain behind counts all bytes",
              exact and seen > MESSAGE, f"{seen} of {MESSAGE}")


def hpccpp(version):
    before = {name: counts(name, "int") for name in "ab"}
    exact, *_ = stream(version, "hpccpp", 300 * KIB)
    sent, came = (since(name, before[name], "int") for name in "ab")
    seen = counted("a", "probes")[0]
    tap.claim(f"IPv{version} hpccpp: a chain behind counts all probes", exact and seen >= sent["out_probe"] > 1,
              f"{seen} of {sent['out_probe']}; {came['in_probe']} received")


def tagged(version):
    """net_csig_tag's hook is behind, too."""
    for name in "ab":
        sysctl(name, "hopcc/csig", 2)
    for name in "arb":
        sysctl(name, "hopcc/csig_ports", "a-r r-a r-b b-r")
    sysctl("a", "hopcc/csig_cc", "ldcp")
    before = counts("a", "csig")
    exact, *_ = stream(version, "ldcp", MESSAGE)
    tags = since("a", before, "csig")["out_tag"]
    tap.claim(f"IPv{version} ldcp beside net_csig_tag: each packet with data is tagged",
              exact and tags >= MESSAGE // 1448, f"{tags} tags, at least {MESSAGE // 1448} packets")
    sysctl("a", "hopcc/csig_cc", "")


def ipsec():
    """The first router encrypts in tunnel mode, and so does b."""
    ends = ("198.51.100.2", B[4])
    xcp_ipsec.protect("r", "b", "esp", "tunnel", ends, (A[4] + "/32", B[4] + "/32"))
    for name in "rb":
        sysctl(name, "hopcc/xcp_ipsec", 1)
    exact, _, seen = stream(4, "xcp", 300 * KIB, at="r")
    tap.claim("IPv4 xcp in IPsec's tunnel mode: a chain behind counts all bytes", exact and seen > 300 * KIB,
              f"{seen} of {300 * KIB}")


def main():
    hosts.build_path()
    for dev in ("r-a", "r-b"):
        hosts.run(f"tc -n r qdisc replace dev {dev} root int rate 1gbit switch_id 1")
    for name in "ab":
        sysctl(name, "ipv4/tcp_ecn", 1)
    for version in (4, 6):
        ldcp(version)
        hpccpp(version)
        tagged(version)
    ipsec()
    hosts.remove_path()
    return tap.done()


if __name__ == "__main__":
    raise SystemExit(main())
