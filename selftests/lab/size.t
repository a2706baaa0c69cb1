#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""A large network: its few routes lead where the next hops are, one program sets it up, packets arrive."""
import collections
import ipaddress
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tools/lab"))
sys.path.insert(0, str(TOP / "selftests/lib"))
sys.dont_write_bytecode = True

from hoplab import batches, scenario, topology  # noqa: E402
from tap import Tap  # noqa: E402

tap = Tap()

# 528 links are more than 198.18.0.0/15 has /24s, and their ends more than the 1024 files that a process may have open.
LARGE = """
title = "128 hosts and 41 switches, 528 links"
[run]
duration = "20ms"
[fabric]
kind = "leaf-spine"
hosts = 8
leaves = 16
spines = 25
rate = "10gbit"
delay = "1us"
queue = "wred limit 1000000 ect min 65000 max 65000 prob 1"
host_queue = "bfifo limit 1m"
[[host]]
name = "s[1-25]"
sysctl = { "net.ipv4.ip_forward" = 1 }
[[route]]
from = "h1"
to = "h128"
options = "congctl reno"
[[flow]]
name = "long"
from = "h[1-8]"
to = "h[121-128]"
pairwise = true
bytes = 100000
[[flow]]
name = "six"
from = "h[9-16]"
to = "h[101-108]"
pairwise = true
bytes = 100000
family = 6
[sample]
ports = ["l16:h121", "l14:h105"]
queue = "1ms"
[[claim]]
metric = "done('long') + done('six')"
min = 2
[[claim]]
metric = "retrans"
max = 0
[[claim]]
metric = "fct_max"
max = "1ms"
[[claim]]
metric = "xstat('backlog_bytes')"
max = 0
note = "the port's qdisc is a wred: tc's messages were repeated with another device"
"""
FABRIC = LARGE[LARGE.index("[fabric]"):LARGE.index("[[host]]")]
# One bridge that has more hosts than a /24 has addresses.
BRIDGE = '[network]\nhosts = "h[1-300]"\nbridges = ["b1"]\n[[link]]\na = "h[1-300]"\nb = "b1"\nrate = "1gbit"\n'


def case_of(text):
    return scenario.build(Path("/nonexistent/t.toml"), tomllib.loads(text)).cases[0]


def routes_of(net, node):
    """The routes of a node, by IP version: (network, its next hops as (gateway, device))."""
    found = collections.defaultdict(list)
    for line in batches.route_lines(net, node):
        _, _, prefix, *words = line.split()
        hops = {(words[i + 1], words[i + 3]) for i, word in enumerate(words) if word == "via"}
        network = ipaddress.ip_network(prefix.replace("::/", ":0:0::/") if ":0::" in prefix else prefix)
        found[network.version].append((network, hops))
    return {version: sorted(routes, key=lambda r: -r[0].prefixlen) for version, routes in found.items()}


def wrong_routes(net):
    """(node, host) where the longest prefix does not lead to the next hops that the search has found."""
    hosts = {h: net.at[h][0] for h in net.case.network.hosts}
    wrong = []
    for node in net.nodes:
        routes = routes_of(net, node)
        own = {p.segment for p in net.at[node]}
        for host, port in hosts.items():
            if port.segment in own:
                continue
            hops = topology.hops_to(net, node, port.segment)
            for version, attr in ((4, "ipv4"), (6, "ipv6")):
                address = ipaddress.ip_address(getattr(port, attr))
                taken = next((via for network, via in routes[version] if address in network), None)
                if taken != {(getattr(gateway, attr), p.peer) for p, gateway in hops}:
                    wrong.append((node, host, version))
    return wrong


def test_routes():
    net = topology.build(case_of(LARGE))
    tap.equal("the longest prefix leads to the next hops, from each node to each host", wrong_routes(net)[:4], [])
    lines = sum(len(list(batches.route_lines(net, node))) for node in net.nodes)
    tap.result(lines <= 2 * (128 + 16 + 25 * 17), "few routes: a host and a leaf have one, a spine one a leaf", str(lines))
    addresses = [p.ipv4 for p in net.ports.values()]
    tap.equal("no address twice", len(set(addresses)), len(addresses))
    flap = '[[change]]\nat = "5ms"\na = "l1"\nb = "s1"\nup = false\n'
    net = topology.build(case_of(LARGE.replace("[[flow]]", flap + "[[flow]]", 1)))
    tap.equal("where routes change, each host's subnet has its own", wrong_routes(net)[:4], [])
    tap.equal("and there are as many", len(list(batches.route_lines(net, "s1"))), 2 * 128)


def test_plan():
    net = topology.build(case_of(LARGE))
    own = batches.tc_batches(net).own
    tap.equal("tc sets one port of each kind", {n: len(lines) for n, lines in own.items()}, {"h1": 2, "l1": 2})
    tap.equal("ip sets nodes up that have more than plain lines", list(batches.ip_batches(net).own), ["h1"])
    small = topology.build(case_of(LARGE.replace("leaves = 16", "leaves = 2").replace("h[121-128]", "h[9-16]").replace(
        "h[101-108]", "h[1-8]").replace('"h128"', '"h16"').replace('"l16:h121", "l14:h105"', '"l2:h9"')))
    tap.equal("a small network is set up as ever", [b.plain for b in (batches.ip_batches(small), batches.tc_batches(small))],
              [[], []])


def test_bridge():
    text = LARGE.replace(FABRIC, BRIDGE).replace("s[1-25]", "b1").replace('"l16:h121", "l14:h105"', '"b1:h121"')
    net = topology.build(case_of(text.replace('"h128"', '"h300"')))
    networks = {str(ipaddress.ip_interface(f"{p.ipv4}/{32 - net.blocks[0].bits}").network) for p in net.segments[0]}
    tap.equal("300 hosts on one bridge share a subnet", networks, {"198.18.0.0/23"})
    known = {h: len(list(batches.neighbours(net, net.at[h][0]))) for h in ("h1", "h9", "h299")}
    tap.equal("each knows those that it talks to", known, {"h1": 4, "h9": 2, "h299": 0})


def test_run():
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "large.toml").write_text(LARGE)
        done = subprocess.run([TOP / "tools/lab/lab", "run", f"{folder}/large.toml", "--out", folder],
                              capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
        tap.result(done.returncode == 0, "packets arrive, by IPv4 and IPv6", done.stdout + done.stderr)


def main():
    for test in (test_routes, test_plan, test_bridge, test_run):
        test()
    return tap.done()


sys.exit(main())
