# SPDX-License-Identifier: GPL-2.0
"""[[change]]: what changes in the network while the traffic runs."""
from collections.abc import Iterator

from .batches import FIRST_HANDLE, host_routes, link_seed, port_lines, queue_lines, route_lines
from .schema import Change
from .topology import Network, Pair, Port, changed

# Qdiscs below each other that a queue may have; each change has as many handles of its own.
QUEUES_MAX = 16


def change_plan(net: Network) -> tuple[list[str], dict[str, list[str]]]:
    """
    The plan of all changes; a change takes place at both ends of a link at once.
    Return: the lines of the plan, and the batches for ip that it names, by name.
    """
    plan: list[str] = []
    batches: dict[str, list[str]] = {}
    first_handle = FIRST_HANDLE
    down: set[Pair] = set()
    avoid: set[Pair] = set()

    def batch(at_ns: int, node: str, lines: list[str]) -> None:
        name = f"change{len(batches)}.ip"
        batches[name] = lines
        plan.append(f"{at_ns} ip -n {node} -batch {name}")

    for change in sorted(net.case.changes, key=lambda c: c.at):
        links = {frozenset(pair) for pair in change.pairs}
        before = routes_now(net, down, avoid)
        for gone, state in ((down, change.up), (avoid, change.routed)):
            if state is not None:
                gone -= links
                gone |= set() if state else links
        after = routes_now(net, down, avoid)
        for port, queue in changed_ports(net, change):
            if not net.has(port.node):
                continue
            plan += [f"{change.at} {words}" for words in change_words(port, change, net.seed)]
            if queue:
                # Another handle than that of the qdisc that is there, which may be of another kind.
                first_handle += QUEUES_MAX
                plan += [f"{change.at} tc -n {port.node} {words}" for words in queue_lines(port, queue, first_handle)]
            if change.up:
                batch(change.at, port.node, [*port_lines(net, port), *after[port.node]])
        if change.routed is not None:
            for node in after:
                others = [line for line in after[node] if line not in before[node]]
                if others:
                    batch(change.at, node, others)
    return plan, batches


def changed_ports(net: Network, change: Change) -> Iterator[tuple[Port, str | None]]:
    """The ports, and what the change says of their queues."""
    for a, b in change.pairs:
        yield from ((net.ports[f"{a}:{b}"], change.queue_a), (net.ports[f"{b}:{a}"], change.queue_b))


def routes_now(net: Network, down: set[Pair], avoid: set[Pair]) -> dict[str, list[str]]:
    """node -> the routes that routing knows, without next hops behind a device that is down."""
    now = changed(net, down, avoid)
    extra = host_routes(now)
    return {node: [*route_lines(now, node), *extra.get(node, [])] for node in net.nodes if node not in net.bridges}


def change_words(port: Port, change: Change, seed: int) -> Iterator[str]:
    if change.up is False:
        yield f"ip -n {port.node} link set dev {port.peer} down"
    if change.mtu is not None:
        yield f"ip -n {port.node} link set dev {port.peer} mtu {change.mtu}"
    link = [f"{key} {value}{unit}" for key, value, unit in (("rate", change.rate, "bit"), ("delay", change.delay, "ns"))
            if value is not None]
    chances = [f"{key} {value:.10g}" for key, value in (("loss", change.loss), ("reorder", change.reorder))
               if value is not None]
    if chances:
        link += [*chances, f"seed {link_seed(port, seed)}"]
    if link:
        yield f"tc -n {port.node} qdisc change dev {port.peer} root handle 1: link {' '.join(link)}"
