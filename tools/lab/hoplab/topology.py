# SPDX-License-Identifier: GPL-2.0
"""From a case to what the guest runs: addresses, routes, batches, plans.

Each node is a network namespace; its device towards a peer bears the peer's
name. A segment is what one IP subnet covers: one link, or all links that
bridges join. Neighbours are written down, so no run starts with ARP noise.
"""
import dataclasses
import itertools
import random
from dataclasses import dataclass, field

from . import arrivals

# All times of a run count from here on CLOCK_MONOTONIC. The set-up takes no
# virtual time; by then timers are high-resolution and devices are up.
T0_NS = 2_000_000_000
TAIL_NS = 1_000_000
PORT_FIRST = 5001
# Handle of the first qdisc below a link; the next ones count up.
FIRST_HANDLE = 10
# A port each.
FLOWS_MAX = 65536 - PORT_FIRST

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


@dataclass(eq=False)
class Port:
    """One end of a link."""
    node: str
    peer: str
    link: dict
    end: str            # "a" or "b": which of the link's values are its egress
    index: int
    mac: str
    segment: int = -1
    ipv4: str = ""
    ipv6: str = ""

    @property
    def name(self):
        return f"{self.node}:{self.peer}"

    def value(self, key):
        return self.link[f"{key}_{self.end}"]


@dataclass
class Network:
    case: object
    seed: int
    ports: dict = field(default_factory=dict)       # "node:peer" -> Port
    at: dict = field(default_factory=dict)          # node -> [Port]
    segments: list = field(default_factory=list)    # [[Port with an address]]
    found: dict = field(default_factory=dict)       # what was computed once: hops, paths, flows
    avoid: frozenset = frozenset()                  # links, as pairs of nodes, that routes do not take
    down: frozenset = frozenset()                   # links that are down: their own ends do not use them

    @property
    def bridges(self):
        return self.case.network["bridges"]

    @property
    def nodes(self):
        return list(self.at)


def build(case, seed=1):
    net = Network(case, seed)
    hosts = case.network
    net.at = {n: [] for n in hosts["hosts"] + hosts["switches"] + hosts["bridges"]}
    index = 0
    for link in case.links:
        for a, b in itertools.product(link["a"], link["b"]):
            index += 1
            for node, peer, end, side in ((a, b, "a", 1), (b, a, "b", 2)):
                mac = f"02:00:00:{index >> 8:02x}:{index & 255:02x}:{side:02x}"
                port = Port(node, peer, link, end, index, mac)
                net.ports[port.name] = port
                net.at[node].append(port)
    number(net)
    return net


def number(net):
    """Find the segments and give each port with an IP stack its addresses."""
    for port in net.ports.values():
        if port.segment < 0 and port.node not in net.bridges:
            members = []
            flood(net, port, len(net.segments), members)
            net.segments.append(members)
    for number_, members in enumerate(net.segments):
        for host, port in enumerate(members, 1):
            # 198.18.0.0/15 and 2001:db8::/32 are for benchmarks and examples.
            port.ipv4 = f"198.{18 + (number_ >> 8)}.{number_ & 255}.{host}"
            port.ipv6 = f"2001:db8:{number_:x}::{host:x}"


def flood(net, port, segment, members):
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


def next_hops(net, node):
    """segment -> [(own port, gateway port or None)]: all that lead there by the fewest hops."""
    key = ("hops", node)
    if key not in net.found:
        net.found[key] = {segment: [way for way in ways if is_up(net, way[0])]
                          for segment, ways in search_hops(net, node).items()}
    return net.found[key]


def is_usable(net, port):
    return frozenset((port.node, port.peer)) not in net.avoid


def is_up(net, port):
    return frozenset((port.node, port.peer)) not in net.down


def search_hops(net, node):
    found = {p.segment: [(p, None)] for p in net.at[node] if is_usable(net, p)}
    level = list(found)
    while level:
        beyond = {}
        for segment in level:
            for router in routers_of(net, segment, node):
                ways = [(first, gateway or router) for first, gateway in found[segment]]
                for out in (p for p in net.at[router.node] if p.segment not in found and is_usable(net, p)):
                    known = beyond.setdefault(out.segment, [])
                    known += [w for w in ways if w not in known]
        found |= beyond
        level = list(beyond)
    return found


def routers_of(net, segment, node):
    return [p for p in net.segments[segment]
            if p.node in net.case.network["switches"] and p.node != node and is_usable(net, p)]


def joined(net, a, b):
    """Whether packets get from one host to another and back."""
    return all(net.at[y][0].segment in next_hops(net, x) for x, y in ((a, b), (b, a)))


def changed(net, down, avoid):
    """The same network, where links are down, or routes do not take them."""
    return dataclasses.replace(net, down=frozenset(down), avoid=frozenset(avoid), found={})


def address(net, host, family=4):
    port = net.at[host][0]
    return port.ipv4 if family == 4 else port.ipv6


# --- what is handed to ip, tc and sysctl ---

def veth_batch(net):
    lines = [f"netns add {node}" for node in net.nodes]
    for port in net.ports.values():
        if port.end == "a":
            other = net.ports[f"{port.peer}:{port.node}"]
            mtu = port.link["mtu"]
            lines.append(f"link add {port.peer} netns {port.node} address {port.mac} mtu {mtu} "
                         f"type veth peer name {port.node} netns {port.peer} "
                         f"address {other.mac} mtu {mtu}")
    return lines


def ip_batch(net, node):
    lines = ["link set lo up"]
    bridge = node in net.bridges
    if bridge:
        lines.append("link add bridge type bridge mcast_snooping 0")
        lines.append("link set bridge up")
    for port in net.at[node]:
        lines += port_lines(net, port, " master bridge" if bridge else "")
    return lines if bridge else lines + list(route_lines(net, node))


def port_lines(net, port, master=""):
    """What a device has when it is up."""
    segs = "" if port.link["tso"] else " gso_max_segs 1"
    yield f"link set dev {port.peer}{segs}{master} up"
    if not master:
        # "replace": IPv4 addresses outlive a device that was down.
        yield f"address replace {port.ipv4}/24 dev {port.peer}"
        yield f"address replace {port.ipv6}/64 dev {port.peer} nodad"
        yield from neighbours(net, port)


def neighbours(net, port):
    for other in net.segments[port.segment]:
        if other is not port:
            for ip in (other.ipv4, other.ipv6):
                yield f"neighbour replace {ip} lladdr {other.mac} dev {port.peer} nud permanent"


def route_lines(net, node):
    for segment, ways in next_hops(net, node).items():
        base = net.segments[segment][0]
        if ways and ways[0][1]:
            yield (f"route replace {base.ipv4.rsplit('.', 1)[0]}.0/24 {via_words(ways, 4)}")
            yield (f"route replace {base.ipv6.split('::')[0]}::/64 {via_words(ways, 6)}")


def via_words(ways, family):
    """One way is a plain route; several are next hops of one."""
    each = []
    for port, gateway in ways:
        via = f"via {gateway.ipv4 if family == 4 else gateway.ipv6} " if gateway else ""
        each.append(f"{via}dev {port.peer}")
    return each[0] if len(each) == 1 else " ".join(f"nexthop {words}" for words in each)


def host_routes(net):
    """node -> lines: route options of [[route]] and of flows' initcwnd, merged."""
    options = {}
    for route in net.case.routes:
        for pair in itertools.product(route["from"], route["to"]):
            options.setdefault(pair, []).append(route["options"])
    for flow in net.case.flows:
        if flow["initcwnd"]:
            for pair in itertools.product(flow["from"], flow["to"]):
                word = f"initcwnd {flow['initcwnd']}"
                if pair[0] == pair[1]:
                    continue
                if word not in options.setdefault(pair, []):
                    options[pair].append(word)
    lines = {}
    for (source, target), words in options.items():
        ways = next_hops(net, source).get(net.at[target][0].segment, [])
        if not ways:
            continue    # a change took the last one
        for family, bits in ((4, 32), (6, 128)):
            # Options stand before the word nexthop; with one way the order means nothing.
            lines.setdefault(source, []).append(
                f"route replace {address(net, target, family)}/{bits} {' '.join(words)} "
                f"{via_words(ways, family)}")
    return lines


def tc_batch(net, node):
    lines = []
    for port in net.at[node]:
        lines.append(f"qdisc replace dev {port.peer} root handle 1: {link_words(port, net.seed)}")
        parent = "1:1"
        for handle, words in enumerate(port.value("queue").split(" / "), FIRST_HANDLE):
            lines.append(f"qdisc add dev {port.peer} parent {parent} handle {handle}: {words}")
            parent = f"{handle}:1"
    return lines


def link_words(port, seed):
    words = (f"link rate {port.value('rate')}bit delay {port.value('delay')}ns "
             f"overhead {port.value('overhead')}")
    chances = [(k, port.value(k)) for k in ("loss", "reorder", "duplicate", "corrupt")]
    words += "".join(f" {k} {v:.10g}" for k, v in chances if v)
    if any(v for _, v in chances):
        words += f" seed {link_seed(port, seed)}"
    return words


def sysctl_lines(net, node):
    settings = SYSCTLS | net.case.network.get("of_nodes", {}).get(node, {}) | net.case.network["sysctl"]
    for host in net.case.hosts:
        if node in host["name"]:
            settings.update(host["sysctl"])
    return as_paths(settings)


def firewalls(net):
    """node -> its rules, as nft reads them."""
    rules = {}
    for host in net.case.hosts:
        for node in host["name"]:
            if host["nft"].strip():
                rules[node] = rules.get(node, "") + host["nft"].rstrip("\n") + "\n"
    return rules


def change_plan(net):
    """
    What changes while the traffic runs, at both ends of a link at once.
    Return: the lines of the plan, and the batches for ip that it names, by name.
    """
    plan, batches = [], {}
    down, avoid = set(), set()

    def batch(at_ns, node, lines):
        name = f"change{len(batches)}.ip"
        batches[name] = lines
        plan.append(f"{at_ns} ip -n {node} -batch {name}")

    for change in sorted(net.case.changes, key=lambda c: c["at"]):
        links = set(map(frozenset, itertools.product(change["a"], change["b"])))
        before = routes_now(net, down, avoid)
        for gone, key in ((down, "up"), (avoid, "routed")):
            if change[key] is not None:
                gone -= links
                gone |= set() if change[key] else links
        after = routes_now(net, down, avoid)
        for port in changed_ports(net, change):
            plan += [f"{change['at']} {words}" for words in change_words(port, change, net.seed)]
            if change["up"]:
                batch(change["at"], port.node, [*port_lines(net, port), *after[port.node]])
        if change["routed"] is not None:
            for node in after:
                others = [line for line in after[node] if line not in before[node]]
                if others:
                    batch(change["at"], node, others)
    return plan, batches


def changed_ports(net, change):
    for a, b in itertools.product(change["a"], change["b"]):
        yield from (net.ports[f"{a}:{b}"], net.ports[f"{b}:{a}"])


def routes_now(net, down, avoid):
    """node -> its routes, from what routing knows, without next hops that are behind a device that is down"""
    now = changed(net, down, avoid)
    extra = host_routes(now)
    return {node: [*route_lines(now, node), *extra.get(node, [])] for node in net.nodes if node not in net.bridges}


def change_words(port, change, seed):
    if change["up"] is False:
        yield f"ip -n {port.node} link set dev {port.peer} down"
    if change["mtu"] is not None:
        yield f"ip -n {port.node} link set dev {port.peer} mtu {change['mtu']}"
    link = [f"{key} {change[key]}{unit}" for key, unit in (("rate", "bit"), ("delay", "ns"))
            if change[key] is not None]
    chances = [f"{key} {change[key]:.10g}" for key in ("loss", "reorder") if change[key] is not None]
    if chances:
        link += [*chances, f"seed {link_seed(port, seed)}"]
    if link:
        yield f"tc -n {port.node} qdisc change dev {port.peer} root handle 1: link {' '.join(link)}"


def link_seed(port, seed):
    """Each end has a stream of its own."""
    return (seed << 20) + (port.index << 1) + (port.end == "b")


def as_paths(settings):
    return [f"{key.replace('.', '/')}={value}" for key, value in settings.items()]


# --- what is handed to hopflow and hopsample ---

def flow_plan(net):
    case = net.case
    lines = [f"config end_ns={case.run['duration'] + TAIL_NS} "
             f"sample_ns={case.sample['sockets']} goodput_ns={case.sample['goodput']}"]
    return lines + [" ".join(["flow", *(f"{k}={v}" for k, v in flow.items())]) for flow in flows(net)]


def flows(net):
    """Each connection (or, of mode reconnect, series of them) as the plan's keys."""
    if "flows" not in net.found:
        found = net.found["flows"] = []
        for index, flow in enumerate(net.case.flows, 1):
            planned = arriving(net, flow, index) if flow["mode"] in arrivals.MODES else \
                stated(flow)
            for start_ns, source, target, size_bytes in planned:
                found.append(flow_keys(net, flow, len(found), (start_ns, source, target, size_bytes)))
    return net.found["flows"]


def stated(flow):
    """The connections of a [[flow]] that says each of them: (start_ns, from, to, bytes)."""
    pairs = itertools.product(flow["from"], flow["to"], range(flow["parallel"]))
    for order, (source, target, _) in enumerate(pairs):
        yield flow["start"] + order * flow["stagger"], source, target, flow["bytes"]


def arriving(net, flow, index):
    return arrivals.transfers(flow, sender_ceilings_bps(net, flow), stop_ns(net, flow), f"{net.seed}/{index}")


def connections(net, flow):
    """How many connections a [[flow]] stands for."""
    if flow["mode"] in arrivals.MODES:
        return arrivals.number_of(flow, sender_ceilings_bps(net, flow), stop_ns(net, flow) - flow["start"])
    return len(flow["from"]) * len(flow["to"]) * flow["parallel"]


def sender_ceilings_bps(net, flow):
    return [ceiling_bps(net.at[host][0], flow["family"]) for host in flow["from"]]


def stop_ns(net, flow):
    return flow["stop"] or net.case.run["duration"]


def flow_keys(net, flow, number_, transfer):
    start_ns, source, target, size_bytes = transfer
    arrives = flow["mode"] in arrivals.MODES
    keys = {"id": number_, "group": flow["name"], "from": source, "to": target,
            "addr": address(net, target, flow["family"]), "port": PORT_FIRST + number_}
    for key in ("cc", "sink_cc", "accept_cc"):
        if flow[key] != "host":
            keys[key] = flow[key]
    keys["start_ns"] = start_ns + jitter_ns(net, flow, number_)
    keys["bytes"] = size_bytes
    if flow["sndbuf"]:
        keys["sndbuf_bytes"] = flow["sndbuf"]
    if flow["warm"]:
        keys["warm_bytes"] = flow["warm"]
    # `stop` ends the arrivals, not those that have arrived. Their connections are open before.
    keys["stop_ns"] = net.case.run["duration"] if arrives else stop_ns(net, flow)
    return keys | {"mode": "persistent" if arrives else flow["mode"], "count": flow["count"],
                   "think_ns": flow["think"], "verify": int(flow["verify"])}


def jitter_ns(net, flow, number_):
    """What makes one seed's run another than the next one's: no two hosts start at one instant."""
    return random.Random(f"{net.seed}/{number_}").randrange(flow["jitter"] + 1)


def sample_plan(net):
    case = net.case
    lines = [f"config period_ns={case.sample['queue']} start_ns=0 end_ns={case.run['duration']}"]
    for name in case.sample["ports"]:
        port = net.ports[name]
        depth = len(port.value("queue").split(" / "))
        below = ",".join(f"{handle}:1" for handle in range(FIRST_HANDLE, FIRST_HANDLE + depth - 1))
        lines.append(f"port ns={port.node} dev={port.peer} name={name} parent=1:1"
                     + (f" below={below}" if below else ""))
    return lines


# --- all of it, as files of the run directory ---

def write(net, folder):
    """Write all inputs; returns the command."""
    def put(name, lines):
        (folder / name).write_text("".join(f"{x}\n" for x in lines))

    extra = host_routes(net)
    put("net.ip", veth_batch(net))
    for node in net.nodes:
        put(f"{node}.ip", ip_batch(net, node) + extra.get(node, []))
        put(f"{node}.tc", tc_batch(net, node))
        put(f"{node}.sysctl", sysctl_lines(net, node))
    put(".sysctl", as_paths(GLOBAL_SYSCTLS))
    put("nodes", net.nodes)
    for node, rules in firewalls(net).items():
        put(f"{node}.nft", rules.splitlines())
    put("firewalls", firewalls(net))
    plan, batches = change_plan(net)
    put("change.plan", plan)
    for name, lines in batches.items():
        put(name, lines)
    put("flow.plan", flow_plan(net))
    put("sample.plan", sample_plan(net))
    put("trace.events", net.case.sample["trace"])


def ideal_s(net, flow, payload_bytes, handshake):
    """The least time of a transfer on an empty path: one way, plus its bytes at the bottleneck."""
    path = path_of(net, flow["from"], flow["to"])
    back = path_of(net, flow["to"], flow["from"])
    slowest = min(path, key=lambda p: ceiling_bps(p, flow_family(flow)))
    one_way = sum(p.value("delay") for p in path) / 1e9
    rtt = one_way + sum(p.value("delay") for p in back) / 1e9
    return (rtt if handshake else 0) + one_way + payload_bytes * 8 / ceiling_bps(slowest, flow_family(flow))


def flow_family(flow):
    return 6 if ":" in flow["addr"] else 4


def path_of(net, source, target):
    """The egress ports from one host to another; of equal ways, the first."""
    return [ports[0] for ports in paths_of(net, source, target)]


def paths_of(net, source, target):
    """Hop by hop from one host to another: the egress ports that a packet may take there."""
    key = ("paths", source, target)
    if key not in net.found:
        net.found[key] = search_paths(net, source, target)
    return net.found[key]


def search_paths(net, source, target):
    # All ways are equally long, so the nodes of one hop are passed at the same hop of each.
    steps, nodes = [], [source]
    segment = net.at[target][0].segment
    while nodes != [target] and len(steps) < 64:
        ways = [bridged(net, port, gateway.node if gateway else target)
                for node in nodes for port, gateway in next_hops(net, node)[segment]]
        for ports in itertools.zip_longest(*ways):
            steps.append([p for p in dict.fromkeys(ports) if p])
        nodes = list(dict.fromkeys(way[-1].peer for way in ways))
    return steps


def bridged(net, port, target):
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


def ceiling_bps(port, family=4):
    """Payload rate of full segments with timestamps: the most TCP can carry on this port."""
    header = 52 if family == 4 else 72
    mtu = port.link["mtu"]
    return port.value("rate") * (mtu - header) / (mtu + 14 + port.value("overhead"))
