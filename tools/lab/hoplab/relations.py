# SPDX-License-Identifier: GPL-2.0
"""Checks between the tables of a case: nodes exist, paths lead to them, times and metrics fit."""
import itertools
from collections.abc import Callable, Iterable
from pathlib import Path

from . import claims, connections, kernels, sizes, topology
from .schema import CHANGED, Case, Change, Flow, Link, LinkEnd
from .tables import Fault, checked, keys_of
from .units import show_time

# The keys that depend on the mode, by mode; COMMON_KEYS are those of the modes that are not here.
MODE_KEYS = {"poisson": {"sizes", "load"}, "incast": {"bytes", "fanin", "period", "load", "parallel"}}
# No `warm` where transfers arrive by chance: it would add load that is not counted to the load measured.
COMMON_KEYS = {"count", "parallel", "think", "bytes", "stagger", "warm", "pairwise"}
NEEDED_KEYS = {"poisson": ("sizes", "load"), "incast": ("bytes", "fanin")}
# Without [sample] ports, so many are sampled: a sample costs wall time.
PORTS_SAMPLED = 8
# Each has a byte in its addresses.
TUNNELS_MAX = 254
# The kernel's BR_MAX_PORTS, of which it does not use the first.
BRIDGE_LINKS_MAX = 1023


def check(case: Case, folder: Path) -> None:
    """Refuse a case that could not run; fill in what follows from several tables."""
    check_nodes(case)
    check_links(case)
    check_tunnels(case)
    check_flows(case, folder)
    check_changes(case)
    check_paths(case)
    check_ports(case)
    case.parts = kernels.divide(case)


def node_in(place: str, words: Iterable[str], allowed: list[str]) -> None:
    for word in words:
        if word not in allowed:
            raise Fault(f"{place}: unknown node {word!r}; allowed: {' '.join(allowed)}")


def check_nodes(case: Case) -> None:
    every = case.nodes
    twice = [n for n in every if every.count(n) > 1]
    if twice:
        raise Fault(f"network: {twice[0]!r} is there twice")
    for index, host in enumerate(case.hosts, 1):
        node_in(f"host {index}: name", host.name, every)


# --- links and what changes them ---

def pairs_of(place: str, table: Link | Change | Flow) -> list[tuple[str, str]]:
    try:
        return table.pairs
    except ValueError as error:
        raise Fault(f"{place}: pairwise: {error}") from None


def check_links(case: Case) -> None:
    seen: set[frozenset[str]] = set()
    numbers = itertools.count(1)
    for link in case.links:
        place = "fabric" if link.of_fabric else f"link {next(numbers)}"
        node_in(f"{place}: a", link.a, case.nodes)
        node_in(f"{place}: b", link.b, case.nodes)
        link.settle(place)
        pairs_of(place, link)
        for a, b in link.pairs:
            if a == b or frozenset((a, b)) in seen:
                raise Fault(f"{place}: {a} and {b} cannot be linked (again)")
            seen.add(frozenset((a, b)))
    for node in case.network.bridges:
        links = sum(node in pair for pair in seen)
        if links > BRIDGE_LINKS_MAX:
            raise Fault(f"network: bridge {node!r} has {links} links: the kernel's have {BRIDGE_LINKS_MAX} ports at most")
    linked = set(itertools.chain(*seen))
    for node in case.nodes:
        if node not in linked:
            raise Fault(f"network: {node!r} has no link")


def check_changes(case: Case) -> None:
    linked = {frozenset(p) for link in case.links for p in link.pairs}
    for index, change in enumerate(case.changes, 1):
        place = f"change {index}"
        node_in(f"{place}: a", change.a, case.nodes)
        node_in(f"{place}: b", change.b, case.nodes)
        for a, b in pairs_of(place, change):
            if frozenset((a, b)) not in linked:
                raise Fault(f"{place}: there is no link of {a} and {b}")
            check_queues(place, case, change, a, b)
        if all(getattr(change, key) is None for key in CHANGED):
            raise Fault(f"{place}: nothing changes; allowed: {' '.join(CHANGED)}")
        for node in change.a + change.b:
            if node in case.network.bridges and (change.up, change.routed) != (None, None):
                raise Fault(f"{place}: {node!r} is a bridge: what has routes can be up, down or routed")
        if change.at >= case.run.duration:
            raise Fault(f"{place}: at: not within the run's duration, {show_time(case.run.duration)}")


def check_tunnels(case: Case) -> None:
    routers = case.network.hosts + case.network.switches
    if len(case.tunnels) > TUNNELS_MAX:
        raise Fault(f"tunnel {TUNNELS_MAX + 1}: at most {TUNNELS_MAX}")
    for index, tunnel in enumerate(case.tunnels, 1):
        place = f"tunnel {index}"
        node_in(f"{place}: a", [tunnel.a], routers)
        node_in(f"{place}: b", [tunnel.b], routers)
        for key, hosts in (("behind_a", tunnel.behind_a), ("behind_b", tunnel.behind_b)):
            node_in(f"{place}: {key}", hosts, case.network.hosts)
            if {tunnel.a, tunnel.b} & set(hosts):
                raise Fault(f"{place}: {key}: an end of the tunnel is not behind it: its packets go to that address")


def check_queues(place: str, case: Case, change: Change, a: str, b: str) -> None:
    """The sampler knows one qdisc by its class, but qdiscs below each other by their handles."""
    known = ports(case)
    for key, queue, port in (("queue_a", change.queue_a, f"{a}:{b}"), ("queue_b", change.queue_b, f"{b}:{a}")):
        link, end = known[port]
        if queue and " / " in queue + link.ends[end].queue:
            raise Fault(f"{place}: {key}: a queue of several qdiscs cannot change, nor can one qdisc become several")


# --- flows ---

def check_flows(case: Case, folder: Path) -> None:
    hosts = case.network.hosts
    for index, flow in enumerate(case.flows, 1):
        place = f"flow {index}"
        node_in(f"{place}: from", flow.sources, hosts)
        node_in(f"{place}: to", flow.targets, hosts)
        pairs_of(place, flow)
        check_mode(place, flow, folder)
        check_times(place, flow, case.run.duration)
    for index, route in enumerate(case.routes, 1):
        node_in(f"route {index}: from", route.sources, hosts)
        node_in(f"route {index}: to", route.targets, hosts)


def check_mode(place: str, flow: Flow, folder: Path) -> None:
    """Refuse keys that mean nothing in the flow's mode, and a mode without what it needs."""
    mode = flow.mode
    if mode in ("persistent", "reconnect") and not flow.bytes:
        raise Fault(f"{place}: bytes: mode {mode!r} needs a size")
    if flow.count != 1 and mode == "once":
        raise Fault(f"{place}: count: mode 'once' is one transfer; allowed: persistent reconnect")
    own = MODE_KEYS.get(mode, COMMON_KEYS)
    defaults = {key.name: key.default for key in keys_of(Flow)}
    for key in ("sizes", "load", "fanin", "period", *sorted(COMMON_KEYS)):
        if getattr(flow, key) != defaults[key] and key not in own:
            raise Fault(f"{place}: {key}: means nothing in mode {mode!r}; allowed: {' '.join(sorted(own))}")
    if flow.arrives:
        check_arrivals(place, flow, folder)


def check_arrivals(place: str, flow: Flow, folder: Path) -> None:
    for key in NEEDED_KEYS[flow.mode]:
        if not getattr(flow, key):
            raise Fault(f"{place}: {key}: mode {flow.mode!r} needs it")
    if flow.mode == "incast" and bool(flow.period) == bool(flow.load):
        raise Fault(f"{place}: period: mode 'incast' needs this or a load, and not both")
    if flow.sizes:
        flow.distribution = checked(f"{place}: sizes", lambda word: sizes.load(word, folder), flow.sizes)
    for key, hosts in (("from", flow.sources), ("to", flow.targets)):
        twice = [n for n in hosts if hosts.count(n) > 1]
        if twice:
            raise Fault(f"{place}: {key}: {twice[0]!r} is there twice")
    for source in flow.sources if flow.mode == "poisson" else []:
        if flow.targets == [source]:
            raise Fault(f"{place}: to: {source!r} has none to send to but itself")
    others = len(flow.sources) - bool(set(flow.sources) & set(flow.targets))
    if flow.fanin and flow.fanin > others:
        raise Fault(f"{place}: fanin: {flow.fanin} senders, and a receiver has {others}; "
                    "`parallel` gives each several connections")


def check_times(place: str, flow: Flow, duration_ns: int) -> None:
    count = 1 if flow.arrives else len(flow.pairs) * flow.parallel
    last_ns = flow.start + (count - 1) * flow.stagger + flow.jitter
    stop_ns = duration_ns if flow.stop is None else flow.stop
    if stop_ns > duration_ns:
        raise Fault(f"{place}: stop: not within the run's duration")
    if last_ns >= stop_ns:
        raise Fault(f"{place}: start: the last connection may start at {show_time(last_ns)}, "
                    f"not before its stop (default: the duration) at {show_time(stop_ns)}")


# --- paths and ports ---

def check_paths(case: Case) -> None:
    """Each pair of a flow or a route: two hosts with a path from one to the other and back."""
    net = topology.build(case)
    for index, flow in enumerate(case.flows, 1):
        for a, b in flow.pairs:
            if a != b or not flow.arrives:
                check_pair(net, f"flow {index}", a, b)
    for index, route in enumerate(case.routes, 1):
        for a, b in itertools.product(route.sources, route.targets):
            check_pair(net, f"route {index}", a, b)
    for index, tunnel in enumerate(case.tunnels, 1):
        check_pair(net, f"tunnel {index}", tunnel.a, tunnel.b)
    check_number(case, net)


def check_pair(net: topology.Network, place: str, a: str, b: str) -> None:
    if a == b:
        raise Fault(f"{place}: from {a!r} to itself")
    if not topology.joined(net, a, b):
        raise Fault(f"{place}: no path from {a!r} to {b!r} and back")


def check_number(case: Case, net: topology.Network) -> None:
    """Not more connections than hopflow has memory for."""
    count = 0
    for index, flow in enumerate(case.flows, 1):
        own = connections.number_of(net, flow)
        count += own
        if count > connections.COUNT_MAX:
            raise Fault(f"flow {index}: {own} connections, {count} in all: at most {connections.COUNT_MAX}; "
                        "shorten the time from start to stop, or lower the load")


def ports(case: Case) -> dict[str, tuple[Link, str]]:
    """All egress ports: name -> (link, end)."""
    found = {}
    for link in case.links:
        for a, b in link.pairs:
            found[f"{a}:{b}"] = (link, "a")
            found[f"{b}:{a}"] = (link, "b")
    return found


def check_ports(case: Case) -> None:
    known = ports(case)
    case.ports = [p for p, (link, end) in known.items() if end in link.queued][:PORTS_SAMPLED] \
        if case.sample.ports is None else case.sample.ports
    for port in case.ports:
        if port not in known:
            raise Fault(f"sample: ports: unknown port {port!r}; allowed: {' '.join(known)}")
    case.queue_period_ns = case.sample.queue or sample_period_ns(
        link.ends[end] for link, end in (known[p] for p in case.ports))
    low, high = case.window
    if not low < high <= case.run.duration:
        raise Fault("run: the window must lie within the duration, and the warm-up below it")


def sample_period_ns(sampled: Iterable[LinkEnd]) -> int:
    """Four frames of the fastest sampled port, and no less than 10 us: a sample costs wall time."""
    return max(10_000, 4 * 1538 * 8 * 10**9 // max((end.rate for end in sampled), default=10**9))


# --- claims and columns: formulas over the metrics of all cases ---

def check_formulas(case: Case, known: dict[str, Case]) -> None:
    def formula(place: str, value: str) -> None:
        checked(place, lambda v: claims.check(v, known, case.name), value)

    check_claims(case, formula)
    check_columns(case, formula)


def check_claims(case: Case, formula: Callable[[str, str], None]) -> None:
    for index, claim in enumerate(case.claims, 1):
        place = f"claim {index}"
        if not claim.applies(case.name):
            continue
        if claim.min is None and claim.max is None:
            raise Fault(f"{place}: 'min' or 'max' is missing")
        for key, value in (("metric", claim.metric), ("min", claim.min), ("max", claim.max)):
            if isinstance(value, str):
                formula(f"{place}: {key}", value)
        if claim.window and claim.window[1] > case.run.duration:
            raise Fault(f"{place}: window: not within the run's duration")
        low, high = (claims.constant(value) for value in (claim.min, claim.max))
        if low is not None and high is not None and low > high:
            raise Fault(f"{place}: 'min' exceeds 'max'")


def check_columns(case: Case, formula: Callable[[str, str], None]) -> None:
    for index, column in enumerate(case.columns, 1):
        formula(f"column {index}: metric", column.metric)
        if column.window and column.window[1] > case.run.duration:
            raise Fault(f"column {index}: window: not within the run's duration")
