# SPDX-License-Identifier: GPL-2.0
"""The TCP connections of a run: when each starts, from where to where, with how many bytes."""
import itertools
import random
from collections.abc import Iterator

from . import LabError, arrivals
from .arrivals import Transfer
from .kinds import FROM_HOST
from .schema import Flow
from .topology import Connection, Network, address, ceiling_bps, path_of

TAIL_NS = 1_000_000
PORT_FIRST = 5001
# A port of its own for each connection of a run; with more connections, at each host. Then listeners open late, and
# a connection may have taken a port from 32768 on for its other end.
PORTS = 65536 - PORT_FIRST
LATE_PORTS = 32768 - PORT_FIRST
# Connections of a run: hopflow and its results need memory for each.
COUNT_MAX = 1 << 20


def flows(net: Network) -> list[Connection]:
    """Each connection, or in mode reconnect each series of them, as the plan's keys."""
    if not net.connections:
        net.late_listeners = has_many(net)
        for index, flow in enumerate(net.case.flows, 1):
            for transfer in arriving(net, flow, index) if flow.arrives else stated(flow):
                net.connections.append(flow_keys(net, flow, len(net.connections), transfer))
    return net.connections


def stated(flow: Flow) -> Iterator[Transfer]:
    """The connections of a [[flow]] that states each of them."""
    pairs = itertools.product(flow.pairs, range(flow.parallel))
    for order, ((source, target), _) in enumerate(pairs):
        yield flow.start + order * flow.stagger, source, target, flow.bytes


def arriving(net: Network, flow: Flow, index: int) -> list[Transfer]:
    return arrivals.transfers(flow, sender_ceilings_bps(net, flow), stop_ns(net, flow), f"{net.seed}/{index}")


def number_of(net: Network, flow: Flow) -> int:
    """How many connections a [[flow]] stands for."""
    if flow.arrives:
        return arrivals.number_of(flow, sender_ceilings_bps(net, flow), stop_ns(net, flow) - flow.start)
    return len(flow.pairs) * flow.parallel


def sender_ceilings_bps(net: Network, flow: Flow) -> list[float]:
    return [ceiling_bps(net.at[host][0], flow.family) for host in flow.sources]


def stop_ns(net: Network, flow: Flow) -> int:
    return flow.stop or net.case.run.duration


def flow_keys(net: Network, flow: Flow, number: int, transfer: Transfer) -> Connection:
    start_ns, source, target, size_bytes = transfer
    keys: Connection = {"id": number, "group": flow.name, "from": source, "to": target,
                        "addr": address(net, target, flow.family), "port": port_of(net, target, number)}
    for key, cc in (("cc", flow.cc), ("sink_cc", flow.sink_cc or flow.cc), ("accept_cc", flow.accept_cc)):
        if cc != FROM_HOST:
            keys[key] = cc
    keys["start_ns"] = start_ns + jitter_ns(net, flow, number)
    keys["bytes"] = size_bytes
    if flow.sndbuf:
        keys["sndbuf_bytes"] = flow.sndbuf
    if flow.rate:
        keys["rate_bits_ps"] = flow.rate
    if flow.warm:
        keys["warm_bytes"] = flow.warm
    # `stop` ends the arrivals, not the transfers that have arrived. Their connections are open before.
    keys["stop_ns"] = net.case.run.duration if flow.arrives else stop_ns(net, flow)
    return keys | {"mode": "persistent" if flow.arrives else flow.mode, "count": flow.count,
                   "think_ns": flow.think, "verify": int(flow.verify)}


def port_of(net: Network, target: str, number: int) -> int:
    """A port that no other connection to the target has."""
    if not net.late_listeners:
        return PORT_FIRST + number
    taken = net.taken.setdefault(target, set())
    if len(taken) == LATE_PORTS:
        raise LabError(f"more than {LATE_PORTS} connections to {target}; shorten the time from start to stop, or lower "
                       "the load")
    port = number % LATE_PORTS
    while port in taken:
        port = (port + 1) % LATE_PORTS
    taken.add(port)
    return PORT_FIRST + port


def has_many(net: Network) -> bool:
    """More connections than ports: hopflow cannot have a listener of each from the beginning."""
    return sum(number_of(net, flow) for flow in net.case.flows) > PORTS


def jitter_ns(net: Network, flow: Flow, number: int) -> int:
    """A delay by which runs of two seeds differ: no two hosts start at the same instant."""
    return random.Random(f"{net.seed}/{number}").randrange(flow.jitter + 1)


def family_of(connection: Connection) -> int:
    return 6 if ":" in connection["addr"] else 4


def ideal_s(net: Network, connection: Connection, payload_bytes: int, handshake: bool) -> float:
    """The least time of a transfer on an empty path: one way, plus its bytes at the bottleneck."""
    family = family_of(connection)
    path = path_of(net, connection["from"], connection["to"])
    back = path_of(net, connection["to"], connection["from"])
    slowest = min(path, key=lambda p: ceiling_bps(p, family))
    one_way = sum(p.egress.delay for p in path) / 1e9
    rtt = one_way + sum(p.egress.delay for p in back) / 1e9
    return (rtt if handshake else 0) + one_way + payload_bytes * 8 / ceiling_bps(slowest, family)


def flow_plan(net: Network) -> list[str]:
    """The plan of hopflow."""
    case, found = net.case, flows(net)
    lines = [f"config end_ns={case.run.duration + TAIL_NS} "
             f"sample_ns={case.sample.sockets} goodput_ns={case.sample.goodput}"
             + ("" if net.own is None else f" flows={len(found)}") + " late_listeners=1" * net.late_listeners]
    own = [part for flow in found if (part := half(net, flow))]
    return lines + [" ".join(["flow", *(f"{k}={v}" for k, v in flow.items())]) for flow in own]


def half(net: Network, flow: Connection) -> Connection | None:
    """A connection as a kernel's hopflow has it: both ends, one of them, or none."""
    here = [end for end, node in (("sender", flow["from"]), ("sink", flow["to"])) if net.has(node)]
    if not here:
        return None
    return flow if len(here) == 2 else {**flow, "half": here[0]}
