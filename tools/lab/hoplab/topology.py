# SPDX-License-Identifier: GPL-2.0
"""From a case to a network: ports, addresses, routes, paths.

Each node is a network namespace; its device towards a peer bears the peer's
name. A segment is what one IP subnet covers: one link, or all links that
bridges join.
"""
import collections
import dataclasses
import functools
import itertools
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from . import LabError
from .schema import Case, Link, LinkEnd

# All times of a run count from here on CLOCK_MONOTONIC. The set-up takes no
# virtual time; by then timers are high-resolution and devices are up.
T0_NS = 2_000_000_000


# 198.18.0.0/15 and 2001:db8::/32 are for benchmarks and examples.
FIRST_IPV4, IPV4_BITS, IPV6_BITS = 198 << 24 | 18 << 16, 17, 16

# A network of more nodes is set up by programs that serve all nodes at once. Smaller ones are not: a process
# draws random numbers, so that fewer of them are another run, and the results of all scenarios would change.
NODES_LARGE = 128
# In a network of more segments, those between switches are not routed: nobody sends to an address there.
SEGMENTS_ROUTED = 512

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


@dataclass(frozen=True)
class Block:
    """The IPv4 addresses of a segment: so many, a power of two, from a multiple of their number on."""
    first: int
    bits: int

    def address(self, number: int) -> str:
        value = FIRST_IPV4 + self.first + number
        return ".".join(str(value >> shift & 255) for shift in (24, 16, 8, 0))

    @property
    def prefix(self) -> str:
        return f"{self.address(0)}/{32 - self.bits}"


@dataclass
class Network:
    case: Case
    seed: int
    ports: dict[str, Port] = field(default_factory=dict)            # "node:peer" -> Port
    at: dict[str, list[Port]] = field(default_factory=dict)         # node -> its ports
    bridges: frozenset[str] = frozenset()
    segments: list[list[Port]] = field(default_factory=list)        # the ports with an address
    routers: list[list[Port]] = field(default_factory=list)         # of these, the switches' ports
    blocks: list["Block"] = field(default_factory=list)             # the addresses of each segment
    # In a large network: the segments that are routed, those with a host or a tunnel's end. None: all segments are.
    routed: frozenset[int] | None = None
    avoid: frozenset[Pair] = frozenset()        # links that routes do not take
    down: frozenset[Pair] = frozenset()         # links that are down: their own ends do not use them
    own: frozenset[str] | None = None           # the nodes of this kernel; None: all of them
    kernel: int = 0                             # its number
    # Results that are computed once.
    hops: dict[str, dict[int, Gateways]] = field(default_factory=dict)
    paths: dict[tuple[str, str], list[list[Port]]] = field(default_factory=dict)
    connections: list[Connection] = field(default_factory=list)
    late_listeners: bool = False                                    # there are more than a host has ports
    taken: dict[str, set[int]] = field(default_factory=dict)        # host -> the ports of connections to it

    @functools.cached_property
    def peers(self) -> dict[str, set[str]]:
        """The nodes that each node has flows or routes with."""
        found: dict[str, set[str]] = {node: set() for node in self.at}
        pairs = [*(flow.pairs for flow in self.case.flows),
                 *(itertools.product(route.sources, route.targets) for route in self.case.routes)]
        for a, b in itertools.chain(*pairs):
            found[a].add(b)
            found[b].add(a)
        return found

    @property
    def nodes(self) -> list[str]:
        """The nodes of this kernel."""
        return [node for node in self.at if self.has(node)]

    def has(self, node: str) -> bool:
        return self.own is None or node in self.own

    def is_cut(self, port: Port) -> bool:
        """True if exactly one end of the port's link is in this kernel."""
        return self.has(port.node) != self.has(port.peer)

    @property
    def is_large(self) -> bool:
        return len(self.at) > NODES_LARGE


def build(case: Case, seed: int = 1) -> Network:
    net = Network(case, seed)
    net.at = {n: [] for n in case.nodes}
    numbers = {node: number_ for number_, node in enumerate(case.nodes, 1)}
    net.bridges = frozenset(case.network.bridges)
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
    switches = frozenset(net.case.network.switches)
    for port in net.ports.values():
        if port.segment < 0 and port.node not in net.bridges:
            members: list[Port] = []
            flood(net, port, len(net.segments), members)
            net.segments.append(members)
            net.routers.append([p for p in members if p.node in switches])
    net.blocks = blocks([len(members) for members in net.segments])
    if len(net.segments) > SEGMENTS_ROUTED:
        ends = {*net.case.network.hosts, *(end for tunnel in net.case.tunnels for end in (tunnel.a, tunnel.b))}
        net.routed = frozenset(p.segment for p in net.ports.values() if p.node in ends)
    for number_, members in enumerate(net.segments):
        for host, port in enumerate(members, 1):
            port.ipv4 = net.blocks[number_].address(host)
            port.ipv6 = f"2001:db8:{number_:x}::{host:x}"


def flood(net: Network, port: Port, segment: int, members: list[Port]) -> None:
    """Collect the ports of a segment, from one of them on."""
    waiting, seen = collections.deque([port]), set()
    while waiting:
        here = waiting.popleft()
        if here.segment >= 0:
            continue
        here.segment = segment
        waiting.append(net.ports[f"{here.peer}:{here.node}"])
        if here.node not in net.bridges:
            members.append(here)
        elif here.node not in seen:
            seen.add(here.node)
            waiting += net.at[here.node]


def blocks(sizes: list[int]) -> list[Block]:
    """The addresses of segments with so many ports: a /24 each where all of these fit, else as few as will do."""
    for least_bits in (8, 2):
        found, end = [], 0
        for size in sizes:
            # Two addresses are the subnet's own.
            bits = max(least_bits, (size + 1).bit_length())
            first = -(-end >> bits) << bits
            found.append(Block(first, bits))
            end = first + (1 << bits)
        if end <= 1 << IPV4_BITS:
            return found
    raise LabError(f"{len(sizes)} links: {Block(0, IPV4_BITS).prefix} has no addresses for so many")


def next_hops(net: Network, node: str) -> dict[int, Gateways]:
    """segment -> all next hops that lead there by the fewest hops."""
    if node not in net.hops:
        found = search_hops(net, node)
        net.hops[node] = {segment: [hop for hop in hops if is_up(net, hop[0])]
                          for segment, hops in found.items()} if net.down else found
    return net.hops[node]


def hops_to(net: Network, node: str, segment: int) -> Gateways | None:
    """The next hops towards a segment; None: there is no path; none: the links of the path are down."""
    if len(net.at[node]) > 1 or not (gateway := only_router(net, node)):
        return next_hops(net, node).get(segment)
    port = net.at[node][0]
    if segment != port.segment and segment not in next_hops(net, gateway.node):
        return None
    return [(port, gateway if segment != port.segment else None)] if is_up(net, port) else []


def only_router(net: Network, node: str) -> Port | None:
    """The router of a node with one link, if there is one and no other: all that it sends goes there."""
    routers = routers_of(net, net.at[node][0].segment, node) if len(net.at[node]) == 1 else []
    return routers[0] if len(routers) == 1 and is_usable(net, net.at[node][0]) else None


def is_usable(net: Network, port: Port) -> bool:
    return not net.avoid or frozenset((port.node, port.peer)) not in net.avoid


def is_up(net: Network, port: Port) -> bool:
    return not net.down or frozenset((port.node, port.peer)) not in net.down


def search_hops(net: Network, node: str) -> dict[int, Gateways]:
    found: dict[int, Gateways] = {p.segment: [(p, None)] for p in net.at[node] if is_usable(net, p)}
    level, seen = list(found), {node}
    while level:
        # The routers that are one hop further away, and then what lies beyond them.
        routers: dict[str, Gateways] = {}
        for segment in level:
            for router in net.routers[segment]:
                if router.node not in seen and is_usable(net, router):
                    add_hops(routers, router.node, [(first, gateway or router) for first, gateway in found[segment]])
        beyond: dict[int, Gateways] = {}
        for router_, hops in routers.items():
            for out in net.at[router_]:
                if out.segment not in found and is_usable(net, out):
                    add_hops(beyond, out.segment, hops)
        seen |= routers.keys()
        found |= beyond
        level = list(beyond)
    return found


def add_hops(found: dict[Any, Gateways], key: Any, hops: Gateways) -> None:
    known = found.setdefault(key, [])
    known += [hop for hop in hops if hop not in known] if known else hops


def routers_of(net: Network, segment: int, node: str) -> list[Port]:
    return [p for p in net.routers[segment] if p.node != node and is_usable(net, p)]


def joined(net: Network, a: str, b: str) -> bool:
    """True if packets get from one host to another and back."""
    return all(hops_to(net, x, net.at[y][0].segment) is not None for x, y in ((a, b), (b, a)))


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
                 for node in nodes for port, gateway in hops_to(net, node, segment) or []]
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
