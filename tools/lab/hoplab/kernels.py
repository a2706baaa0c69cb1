# SPDX-License-Identifier: GPL-2.0
"""[run] kernels: which kernel has which node, and the memory that the kernels share.

The division is a function of the scenario alone. Another one is another run: frames that arrive at the
same instant may then be handled in another order.
"""
import dataclasses
import itertools
import os
import struct
from collections.abc import Iterator, Sequence

from .schema import Case, Flow
from .tables import Fault
from .topology import Network, Port

# A kernel goes on without the others for the delay of a link between them; less is not worth its wait.
DELAY_MIN_NS = 500
# A kernel sees the others as they were one delay ago: nothing that needs both ends at once can cross.
CROSSING_MODES = ("once", "poisson", "incast")

# tools/lab/net_wire/wire_memory.h
MAGIC = 0x31657269772d6f68
LINE_BYTES = 64
RING_BYTES_MIN = 1 << 20
MEMORY_BYTES_MAX = 1 << 31


# --- the division ---

def divide(case: Case) -> list[list[str]]:
    """The nodes of each kernel: those that the scenario says, else equal shares of clusters."""
    if case.run.kernels == 1:
        if case.run.parts:
            raise Fault(f"run: parts: {len(case.run.parts)} parts, and 'kernels' is 1")
        return [case.nodes]
    parts = stated(case) if case.run.parts else computed(case)
    check_cut(case, parts)
    check_changes(case, parts)
    check_flows(case, parts)
    return parts


def stated(case: Case) -> list[list[str]]:
    parts: list[list[str]] = case.run.parts or []
    if len(parts) != case.run.kernels:
        raise Fault(f"run: parts: {len(parts)} parts for {case.run.kernels} kernels")
    named = list(itertools.chain(*parts))
    for node in named:
        if node not in case.nodes:
            raise Fault(f"run: parts: unknown node {node!r}; allowed: {' '.join(case.nodes)}")
        if named.count(node) > 1:
            raise Fault(f"run: parts: {node!r} is there twice")
    missing = [node for node in case.nodes if node not in named]
    if missing:
        raise Fault(f"run: parts: {missing[0]!r} is missing: name every node, or leave 'parts' out")
    return parts


def computed(case: Case) -> list[list[str]]:
    """Divide clusters with hosts, and then those without, so that each kernel has as many ports as another."""
    found: list[list[str]] = [[] for _ in range(case.run.kernels)]
    clusters = clusters_of(case)
    hosts = set(case.network.hosts)
    degrees = {node: 0 for node in case.nodes}
    for node in itertools.chain(*ends_of_links(case)):
        degrees[node] += 1
    for wanted in (True, False):
        some = [cluster for cluster in clusters if bool(hosts & set(cluster)) == wanted]
        if wanted and len(some) < case.run.kernels:
            raise Fault(f"run: kernels: {case.run.kernels} kernels, and the network has {len(some)} groups of hosts "
                        f"that links of {DELAY_MIN_NS} ns or more separate: lower the number, or write 'parts'")
        share_out(found, some, degrees)
    order = {node: number for number, node in enumerate(case.nodes)}
    return [sorted(part, key=order.__getitem__) for part in found]


def share_out(parts: list[list[str]], clusters: list[list[str]], degrees: dict[str, int]) -> None:
    """Neighbours in the file stay together; every part gets one cluster at least, if there are as many."""
    weights = [sum(degrees[node] for node in cluster) for cluster in clusters]
    whole, before = sum(weights), 0
    for index, (cluster, weight) in enumerate(zip(clusters, weights)):
        number = min(len(parts) - 1, (2 * before + weight) * len(parts) // (2 * whole))
        # With few clusters of unequal weights, none may be left for the last parts or for the first ones.
        if len(clusters) >= len(parts):
            number = max(min(number, index), len(parts) - len(clusters) + index)
        parts[number] += cluster
        before += weight


def ends_of_links(case: Case) -> Iterator[tuple[str, str]]:
    for link in case.links:
        yield from link.pairs


def clusters_of(case: Case) -> list[list[str]]:
    """Nodes that stay together: a host and its only neighbour, and the ends of links with too short a delay."""
    ports: dict[str, int] = {node: 0 for node in case.nodes}
    for node in itertools.chain(*ends_of_links(case)):
        ports[node] += 1
    leaves = {node for node in case.network.hosts if ports[node] == 1}
    root = {node: node for node in case.nodes}

    def find(node: str) -> str:
        while root[node] != node:
            node = root[node]
        return node

    for link in case.links:
        short = min(end.delay for end in link.ends.values()) < DELAY_MIN_NS
        for a, b in link.pairs:
            if short or leaves & {a, b}:
                root[find(b)] = find(a)
    found: dict[str, list[str]] = {}
    for node in case.nodes:
        found.setdefault(find(node), []).append(node)
    return list(found.values())


def kernel_of(parts: Sequence[Sequence[str]]) -> dict[str, int]:
    return {node: number for number, part in enumerate(parts) for node in part}


# --- refusals ---

def check_cut(case: Case, parts: list[list[str]]) -> None:
    of = kernel_of(parts)
    for link in case.links:
        for a, b in link.pairs:
            delay_ns = min(end.delay for end in link.ends.values())
            if of[a] != of[b] and delay_ns < DELAY_MIN_NS:
                raise Fault(f"run: parts: {a} and {b} are in different kernels, and their link has a delay of "
                            f"{delay_ns} ns: {DELAY_MIN_NS} ns at least")


def check_changes(case: Case, parts: list[list[str]]) -> None:
    of = kernel_of(parts)
    for index, change in enumerate(case.changes, 1):
        for a, b in change.pairs:
            if of[a] != of[b]:
                raise Fault(f"change {index}: {a} and {b} are in different kernels, and such a link cannot change: "
                            "write 'parts' that leave its ends together")


def check_flows(case: Case, parts: list[list[str]]) -> None:
    for index, flow in enumerate(case.flows, 1):
        why = why_not_across(flow)
        crossing = next((pair for pair in flow.pairs if crosses(pair, parts)), None) if why else None
        if crossing:
            raise Fault(f"flow {index}: {crossing[0]} and {crossing[1]} are in different kernels, and {why}: "
                        "write 'parts' that leave them together")


def crosses(pair: tuple[str, str], parts: list[list[str]]) -> bool:
    of = kernel_of(parts)
    return of[pair[0]] != of[pair[1]]


def why_not_across(flow: Flow) -> str:
    """What of a flow triggers something at the other end at once; empty: nothing does."""
    if flow.mode not in CROSSING_MODES:
        return f"in mode {flow.mode!r} the end of a transfer at one end triggers the next at the other"
    if flow.warm:
        return "the end of 'warm' at one end triggers the transfer at the other"
    return ""


# --- a kernel's share ---

def shares(net: Network, parts: Sequence[Sequence[str]]) -> list[Network]:
    """The network as each kernel has it: its own nodes, among all of them."""
    if len(parts) == 1:
        return [net]
    return [dataclasses.replace(net, own=frozenset(part), kernel=number) for number, part in enumerate(parts)]


def cut_ports(net: Network, parts: Sequence[Sequence[str]]) -> list[tuple[Port, Port]]:
    """Both ports of each link between kernels."""
    of = kernel_of(parts)
    pairs = [(port, net.ports[f"{port.peer}:{port.node}"]) for port in net.ports.values() if port.end == "a"]
    return [(a, b) for a, b in pairs if of[a.node] != of[b.node]]


# --- the shared memory ---

def memory_layout(net: Network, parts: Sequence[Sequence[str]]) -> tuple[bytes, int]:
    """The head and the tables of the shared memory, and the size of all of it."""
    of = kernel_of(parts)
    links: list[bytes] = []
    bits: dict[tuple[int, int, int], int] = {}
    for ports in cut_ports(net, parts):
        channels = []
        for port in ports:
            key = (of[port.node], of[port.peer], port.egress.delay)
            bits[key] = bits.get(key, 0) + port.egress.rate * port.egress.delay
            channels.append(list(bits).index(key))
        links.append(struct.pack("5I", ports[0].index, *(of[p.node] for p in ports), *channels))
    head = struct.pack(f"Q3I{LINE_BYTES - 20}x", MAGIC, len(parts), len(bits), len(links))
    head += bytes(LINE_BYTES * len(parts))
    offset = aligned(len(head) + 32 * len(bits) + sum(map(len, links)))
    table = b""
    for (sender, receiver, delay_ns), bits_ns in bits.items():
        ring_bytes = ring_size(bits_ns)
        table += struct.pack("2I3Q", sender, receiver, delay_ns, offset, ring_bytes)
        offset += 2 * LINE_BYTES + ring_bytes
    if offset > MEMORY_BYTES_MAX:
        raise Fault(f"run: kernels: the links between kernels hold up to {offset >> 20} MB: "
                    f"{MEMORY_BYTES_MAX >> 20} MB at most; write 'parts' that cut fewer or shorter ones")
    return head + table + b"".join(links), offset


def aligned(size_bytes: int) -> int:
    return -(-size_bytes // LINE_BYTES) * LINE_BYTES


def ring_size(bits_ns: int) -> int:
    """
    A power of two above what a channel can hold. A kernel is ahead of another by the delay at most, so frames of
    twice the delay are under way; frames have heads, which are shorter than they are themselves.
    """
    return 1 << (RING_BYTES_MIN + 4 * bits_ns // (8 * 10**9)).bit_length()


def memory(net: Network, parts: Sequence[Sequence[str]]) -> int:
    """The descriptor of the shared memory, which is gone with the last of its users."""
    text, size_bytes = memory_layout(net, parts)
    fd = os.memfd_create("hopcc-wire", 0)
    os.write(fd, text)
    os.truncate(fd, size_bytes)
    return fd
