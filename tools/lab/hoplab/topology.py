# SPDX-License-Identifier: GPL-2.0
"""From a case to a network: ports, addresses, routes, paths.

Each node is a network namespace; its device towards a peer bears the peer's
name. A segment is what one IP subnet covers: one link, or all links that
bridges join.
"""
import dataclasses
import itertools
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from .schema import Case, Link, LinkEnd

# All times of a run count from here on CLOCK_MONOTONIC. The set-up takes no
# virtual time; by then timers are high-resolution and devices are up.
T0_NS = 2_000_000_000


Pair = frozenset[str]                   # the nodes of a link
Connection = dict[str, Any]             # key of hopflow's plan -> value, in the plan's order


@dataclass(eq=False)
class Port:
    """One end of a link."""
    node: str
    peer: str
    link: Link
    end: str            # "a" or "b"
    index: int
    mac: str
    number: int         # of its node, from 1 on
    segment: int = -1
    ipv4: str = ""
    ipv6: str = ""

    @property
    def name(self) -> str:
        return f"{self.node}:{self.peer}"

    @property
    def egress(self) -> LinkEnd:
        return self.link.ends[self.end]


# The next hops towards a segment: own port, and the gateway's port unless the segment is adjacent.
Gateways = list[tuple[Port, Port | None]]


@dataclass
class Network:
    case: Case
    seed: int
    ports: dict[str, Port] = field(default_factory=dict)            # "node:peer" -> Port
    at: dict[str, list[Port]] = field(default_factory=dict)         # node -> its ports
    segments: list[list[Port]] = field(default_factory=list)        # the ports with an address
    avoid: frozenset[Pair] = frozenset()        # links that routes do not take
    down: frozenset[Pair] = frozenset()         # links that are down: their own ends do not use them
    # Results that are computed once.
    hops: dict[str, dict[int, Gateways]] = field(default_factory=dict)
    paths: dict[tuple[str, str], list[list[Port]]] = field(default_factory=dict)
    connections: list[Connection] = field(default_factory=list)

    @property
    def bridges(self) -> list[str]:
        return self.case.network.bridges

    @property
    def nodes(self) -> list[str]:
        return list(self.at)


def build(case: Case, seed: int = 1) -> Network:
    net = Network(case, seed)
    net.at = {n: [] for n in case.nodes}
    numbers = {node: number_ for number_, node in enumerate(case.nodes, 1)}
    index = 0
    for link in case.links:
        for a, b in link.pairs:
            index += 1
            for node, peer, end, side in ((a, b, "a", 1), (b, a, "b", 2)):
                mac = f"02:00:00:{index >> 8:02x}:{index & 255:02x}:{side:02x}"
                port = Port(node, peer, link, end, index, mac, numbers[node])
                net.ports[port.name] = port
                net.at[node].append(port)
    number(net)
    return net


def number(net: Network) -> None:
    """Find the segments and give each port with an IP stack its addresses."""
    for port in net.ports.values():
        if port.segment < 0 and port.node not in net.bridges:
            members: list[Port] = []
            flood(net, port, len(net.segments), members)
            net.segments.append(members)
    for number_, members in enumerate(net.segments):
        for host, port in enumerate(members, 1):
            # 198.18.0.0/15 and 2001:db8::/32 are for benchmarks and examples.
            port.ipv4 = f"198.{18 + (number_ >> 8)}.{number_ & 255}.{host}"
            port.ipv6 = f"2001:db8:{number_:x}::{host:x}"


def flood(net: Network, port: Port, segment: int, members: list[Port]) -> None:
    """Collect the ports of a segment, from one of them on."""
    stack = [port]
    while stack:
        here = stack.pop(0)
        if here.segment >= 0:
            continue
        here.segment = segment
        stack.append(net.ports[f"{here.peer}:{here.node}"])
        if here.node in net.bridges:
            stack += net.at[here.node]
        else:
            members.append(here)


def next_hops(net: Network, node: str) -> dict[int, Gateways]:
    """segment -> all next hops that lead there by the fewest hops."""
    if node not in net.hops:
        net.hops[node] = {segment: [hop for hop in hops if is_up(net, hop[0])]
                          for segment, hops in search_hops(net, node).items()}
    return net.hops[node]


def is_usable(net: Network, port: Port) -> bool:
    return frozenset((port.node, port.peer)) not in net.avoid


def is_up(net: Network, port: Port) -> bool:
    return frozenset((port.node, port.peer)) not in net.down


def search_hops(net: Network, node: str) -> dict[int, Gateways]:
    found: dict[int, Gateways] = {p.segment: [(p, None)] for p in net.at[node] if is_usable(net, p)}
    level = list(found)
    while level:
        beyond: dict[int, Gateways] = {}
        for segment in level:
            for router in routers_of(net, segment, node):
                hops: Gateways = [(first, gateway or router) for first, gateway in found[segment]]
                for out in (p for p in net.at[router.node] if p.segment not in found and is_usable(net, p)):
                    known = beyond.setdefault(out.segment, [])
                    known += [hop for hop in hops if hop not in known]
        found |= beyond
        level = list(beyond)
    return found


def routers_of(net: Network, segment: int, node: str) -> list[Port]:
    return [p for p in net.segments[segment]
            if p.node in net.case.network.switches and p.node != node and is_usable(net, p)]


def joined(net: Network, a: str, b: str) -> bool:
    """True if packets get from one host to another and back."""
    return all(net.at[y][0].segment in next_hops(net, x) for x, y in ((a, b), (b, a)))


def changed(net: Network, down: Iterable[Pair], avoid: Iterable[Pair]) -> Network:
    """The same network, where links are down, or routes do not take them."""
    return dataclasses.replace(net, down=frozenset(down), avoid=frozenset(avoid),
                               hops={}, paths={}, connections=[])


def address(net: Network, host: str, family: int = 4) -> str:
    port = net.at[host][0]
    return port.ipv4 if family == 4 else port.ipv6


def path_of(net: Network, source: str, target: str) -> list[Port]:
    """The egress ports from one host to another; of equal paths, the first."""
    return [ports[0] for ports in paths_of(net, source, target)]


def paths_of(net: Network, source: str, target: str) -> list[list[Port]]:
    """Hop by hop from one host to another: the egress ports that a packet may take there."""
    key = (source, target)
    if key not in net.paths:
        net.paths[key] = search_paths(net, source, target)
    return net.paths[key]


def search_paths(net: Network, source: str, target: str) -> list[list[Port]]:
    # All paths are equally long, so a node is the same number of hops away on each of them.
    steps: list[list[Port]] = []
    nodes = [source]
    segment = net.at[target][0].segment
    while nodes != [target] and len(steps) < 64:
        parts = [bridged(net, port, gateway.node if gateway else target)
                 for node in nodes for port, gateway in next_hops(net, node)[segment]]
        for ports in itertools.zip_longest(*parts):
            steps.append([p for p in dict.fromkeys(ports) if p])
        nodes = list(dict.fromkeys(part[-1].peer for part in parts))
    return steps


def bridged(net: Network, port: Port, target: str) -> list[Port]:
    """The egress ports within a segment, through its bridges."""
    queue, seen = [[port]], {port.node}
    while queue:
        path = queue.pop(0)
        here = path[-1].peer
        if here == target:
            return path
        if here in net.bridges and here not in seen:
            seen.add(here)
            queue += [path + [p] for p in net.at[here] if p.peer not in seen]
    return [port]


def ceiling_bps(port: Port, family: int = 4) -> float:
    """Payload rate of full segments with timestamps: the most TCP can carry on this port."""
    header = 52 if family == 4 else 72
    mtu = port.link.mtu
    return port.egress.rate * (mtu - header) / (mtu + 14 + port.egress.overhead)
