# SPDX-License-Identifier: GPL-2.0
"""Input for ip, tc, sysctl and nft: lines that make the network in the guest.

Neighbours are written down, so no run starts with ARP noise.
"""
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from .prefixes import aggregated
from .schema import Case
from .topology import (IPV4_BITS, IPV6_BITS, Block, Gateways, Network, Port, address, hops_to, is_up, next_hops,
                       only_router)
from .tunnels import tunnel_lines

# Handle of the first qdisc below a link; the next ones count up.
FIRST_HANDLE = 10
# Speeds of IOAM's egress ID by their code, Mbit/s.
SPEEDS_MBIT = (0, 10, 100, 1000, 2500, 10000, 25000, 40000, 50000, 100000, 200000, 400000, 800000, 1600000, 5000)

# In a segment of more nodes each knows the routers and those that it has flows with, not all others.
NEIGHBOURS_MAX = 254

SYSCTLS = {
    "net.ipv4.ip_forward": "1",
    "net.ipv6.conf.all.forwarding": "1",
    "net.ipv4.tcp_ecn": "1",
    "net.ipv4.tcp_no_metrics_save": "1",
    "net.ipv4.tcp_slow_start_after_idle": "1",
    "net.ipv4.tcp_rmem": "4096 131072 67108864",
    "net.ipv4.tcp_wmem": "4096 131072 67108864",
    "net.ipv4.tcp_max_syn_backlog": "4096",
    # ECMP by ports, as switches do it.
    "net.ipv4.fib_multipath_hash_policy": "1",
    "net.ipv6.fib_multipath_hash_policy": "1",
}
# These exist once a kernel, in the first namespace.
GLOBAL_SYSCTLS = {
    "net.core.rmem_max": "268435456",
    "net.core.wmem_max": "268435456",
    "net.core.somaxconn": "4096",
    "net.core.netdev_max_backlog": "100000",
    "net.ipv4.tcp_mem": "1000000 1000000 1000000",
}


def veth_batch(net: Network) -> list[str]:
    lines = [f"netns add {node}" for node in net.nodes]
    for port in net.ports.values():
        if net.is_cut(port):
            # tools/lab/net_wire made it; the other end is in another kernel.
            if net.has(port.node):
                lines.append(f"link set wire{port.index} netns {port.node} name {port.peer} "
                             f"address {port.mac} mtu {port.link.mtu}")
        elif port.end == "a" and net.has(port.node):
            other = net.ports[f"{port.peer}:{port.node}"]
            mtu = port.link.mtu
            lines.append(f"link add {port.peer} netns {port.node} address {port.mac} mtu {mtu} "
                         f"type veth peer name {port.node} netns {port.peer} "
                         f"address {other.mac} mtu {mtu}")
    return lines


@dataclass
class Batches:
    """own: node -> its batch for ip or tc; plain: the plan of guest/network.c for other nodes and ports."""
    own: dict[str, list[str]] = field(default_factory=dict)
    plain: list[str] = field(default_factory=list)


def ip_batches(net: Network) -> Batches:
    """In a large network: ip sets the nodes up that have more than addresses, neighbours and plain routes."""
    found = Batches()
    extra = host_routes(net)
    ends = {end for tunnel in net.case.tunnels for end in (tunnel.a, tunnel.b)}
    for node in net.nodes:
        lines = ip_batch(net, node) + extra.get(node, [])
        if net.is_large and node not in net.bridges and node not in extra and node not in ends:
            found.plain += [f"node {node}", *lines]
        else:
            found.own[node] = lines
    return found


def ip_batch(net: Network, node: str) -> list[str]:
    lines = ["link set lo up"]
    bridge = node in net.bridges
    if bridge:
        lines.append("link add bridge type bridge mcast_snooping 0")
        lines.append("link set bridge up")
    for port in net.at[node]:
        lines += port_lines(net, port, " master bridge" if bridge else "")
    lines += [f"ioam namespace add {space}" for space in ioam_spaces(net, node)]
    return lines if bridge else [*lines, *route_lines(net, node), *tunnel_lines(net, node)]


def ioam_spaces(net: Network, node: str) -> list[int]:
    """The IOAM namespaces that a node is to know."""
    return list(dict.fromkeys(host.ioam for host in net.case.hosts if node in host.name and host.ioam is not None))


def port_lines(net: Network, port: Port, master: str = "") -> Iterator[str]:
    """Bring a device up, with its addresses and neighbours."""
    segs = "" if port.link.tso else " gso_max_segs 1"
    yield f"link set dev {port.peer}{segs}{master} up"
    if not master:
        # "replace": IPv4 addresses outlive a device that was down.
        yield f"address replace {port.ipv4}/{32 - net.blocks[port.segment].bits} dev {port.peer}"
        yield f"address replace {port.ipv6}/64 dev {port.peer} nodad"
        yield from neighbours(net, port)


def neighbours(net: Network, port: Port) -> Iterator[str]:
    members = net.segments[port.segment]
    known = None if len(members) <= NEIGHBOURS_MAX or port in net.routers[port.segment] else net.peers[port.node]
    for other in members:
        if other is not port and (known is None or other.node in known or other in net.routers[port.segment]):
            for ip in (other.ipv4, other.ipv6):
                yield f"neighbour replace {ip} lladdr {other.mac} dev {port.peer} nud permanent"


def route_lines(net: Network, node: str) -> Iterator[str]:
    router = only_router(net, node)
    if router:
        # One route is as good as one to each segment, and the set-up takes a time that grows with the nodes alone.
        port = net.at[node][0]
        if is_up(net, port):
            yield from (f"route replace {every} {via_words([(port, router)], family)}"
                        for every, family in (("0.0.0.0/0", 4), ("::/0", 6)))
        return
    there = {segment: hops for segment, hops in next_hops(net, node).items()
             if hops and hops[0][1] and (net.routed is None or segment in net.routed)}
    if net.routed is None or any((c.up, c.routed) != (None, None) for c in net.case.changes):
        # One route to each segment: a change replaces those that change.
        for segment, hops in there.items():
            yield f"route replace {net.blocks[segment].prefix} {via_words(hops, 4)}"
            yield f"route replace {net.segments[segment][0].ipv6.split('::')[0]}::/64 {via_words(hops, 6)}"
    else:
        yield from few_routes(net, there)


def few_routes(net: Network, there: dict[int, Gateways]) -> Iterator[str]:
    """The same routes by as few prefixes as possible: a number that does not grow with that of the hosts."""
    order = [(segment, tuple(hops)) for segment, hops in sorted(there.items())]
    for first, bits, hops in aggregated([(net.blocks[s].first, net.blocks[s].bits, hops) for s, hops in order],
                                        IPV4_BITS):
        yield f"route replace {Block(first, bits).prefix} {via_words(hops, 4)}"
    for first, bits, hops in aggregated([(s, 0, hops) for s, hops in order], IPV6_BITS):
        yield f"route replace 2001:db8:{first:x}::/{48 - bits} {via_words(hops, 6)}"


def via_words(hops: Sequence[tuple[Port, Port | None]], family: int) -> str:
    """One next hop makes a plain route; several make a route with several next hops."""
    each = []
    for port, gateway in hops:
        via = f"via {gateway.ipv4 if family == 4 else gateway.ipv6} " if gateway else ""
        each.append(f"{via}dev {port.peer}")
    return each[0] if len(each) == 1 else " ".join(f"nexthop {words}" for words in each)


def host_routes(net: Network) -> dict[str, list[str]]:
    """node -> lines: route options of [[route]] and of flows' initcwnd, merged."""
    options: dict[tuple[str, str], list[str]] = {}
    for route in net.case.routes:
        for pair in itertools.product(route.sources, route.targets):
            options.setdefault(pair, []).append(route.options)
    for flow in net.case.flows:
        if flow.initcwnd:
            for pair in flow.pairs:
                word = f"initcwnd {flow.initcwnd}"
                if pair[0] == pair[1]:
                    continue
                if word not in options.setdefault(pair, []):
                    options[pair].append(word)
    lines: dict[str, list[str]] = {}
    for (source, target), words in options.items():
        hops = hops_to(net, source, net.at[target][0].segment)
        if not hops:
            continue    # a change took the last one
        for family, bits in ((4, 32), (6, 128)):
            # Options stand before the word nexthop; with one next hop the order means nothing.
            lines.setdefault(source, []).append(
                f"route replace {address(net, target, family)}/{bits} {' '.join(words)} "
                f"{via_words(hops, family)}")
    return lines


def tc_batches(net: Network) -> Batches:
    """In a large network: tc sets the first port of those with the same qdiscs, and records its messages."""
    found = Batches()
    recorded: dict[tuple[str, ...], list[str]] = {}
    count = 0
    for node in net.nodes:
        plain = []
        for port in net.at[node]:
            lines = tc_lines(net, port)
            key = tuple(line.replace(f" dev {port.peer} ", " ") for line in lines)
            if net.is_large and key in recorded:
                plain.append(" ".join(["qdisc", port.peer, *recorded[key]]))
                continue
            found.own.setdefault(node, []).extend(lines)
            recorded[key] = [str(count + i) for i in range(len(lines))]
            count += len(lines)
        if plain:
            found.plain += [f"node {node}", *plain]
    return found


def tc_lines(net: Network, port: Port) -> list[str]:
    return [f"qdisc replace dev {port.peer} root handle 1: {link_words(net, port)}",
            *queue_lines(port, port.egress.queue, FIRST_HANDLE)]


def queue_lines(port: Port, queue: str, first_handle: int) -> Iterator[str]:
    """The qdiscs below the link, in place of those that are there; %node and %port are numbers."""
    parent = "1:1"
    queue = queue.replace("%node", str(port.number)).replace("%port", str(port.index))
    for handle, words in enumerate(queue.split(" / "), first_handle):
        yield f"qdisc replace dev {port.peer} parent {parent} handle {handle}: {words}"
        parent = f"{handle}:1"


def link_words(net: Network, port: Port) -> str:
    end = port.egress
    # Between kernels the wire takes all of the delay: the longer it is, the less they wait for each other.
    delay_ns = 0 if net.is_cut(port) else end.delay
    words = f"link rate {end.rate}bit delay {delay_ns}ns overhead {end.overhead}"
    chances = [("loss", end.loss), ("reorder", end.reorder), ("duplicate", end.duplicate), ("corrupt", end.corrupt)]
    words += "".join(f" {k} {v:.10g}" for k, v in chances if v)
    if any(v for _, v in chances):
        words += f" seed {link_seed(port, net.seed)}"
    return words


def link_seed(port: Port, seed: int) -> int:
    """Each end has a random sequence of its own."""
    return (seed << 20) + (port.index << 1) + (port.end == "b")


def sysctl_lines(net: Network, node: str) -> list[str]:
    settings = SYSCTLS | ioam_sysctls(net, node) | net.case.network.of_nodes.get(node, {}) | net.case.network.sysctl
    for host in net.case.hosts:
        if node in host.name:
            settings.update(host.sysctl)
    return as_paths(settings)


def ioam_sysctls(net: Network, node: str) -> dict[str, str]:
    """An IOAM node that reports each port's speed, in the way of the layout linux-ioam."""
    if not ioam_spaces(net, node):
        return {}
    settings = {"net.ipv6.ioam6_id": str(net.at[node][0].number)}
    for port in net.at[node]:
        settings[f"net.ipv6.conf.{port.peer}.ioam6_enabled"] = "1"
        settings[f"net.ipv6.conf.{port.peer}.ioam6_id"] = str(speed_code(port.egress.rate) << 12 | port.index)
    return settings


def speed_code(rate_bps: int) -> int:
    """The code of the layout linux-ioam; 0: this speed has none."""
    return SPEEDS_MBIT.index(rate_bps // 10**6) if rate_bps // 10**6 in SPEEDS_MBIT else 0


def of_nodes(case: Case, key: str) -> dict[str, str]:
    """node -> the text that [[host]] has for it, under this key."""
    texts: dict[str, str] = {}
    for host in case.hosts:
        for node in host.name:
            if getattr(host, key).strip():
                texts[node] = texts.get(node, "") + getattr(host, key).rstrip("\n") + "\n"
    return texts


def firewalls(net: Network) -> dict[str, str]:
    return firewalls_of(net.case)


def firewalls_of(case: Case) -> dict[str, str]:
    """node -> its rules, as nft reads them."""
    return of_nodes(case, "nft")


def as_paths(settings: dict[str, str]) -> list[str]:
    return [f"{key.replace('.', '/')}={value}" for key, value in settings.items()]
