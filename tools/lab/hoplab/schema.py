# SPDX-License-Identifier: GPL-2.0
"""The tables of a scenario file, and the case that they describe.

Each dataclass is one table: its fields are the keys (tables.py), in the order in which a message
lists them. Times are in ns, rates in bit/s, sizes in bytes. Documentation/lab.md explains each key.
"""
import dataclasses
import itertools
import re
from dataclasses import dataclass, field
from typing import Annotated, Any

from .kinds import (FROM_HOST, SEED_MAX, Bound, Delay, Flag, Load, Mtu, Name, Names, Overhead, Period, Probability, Queue,
                    Rate, Size, SNDBUF, Sysctls, Text, Time, Window, cc, distinct, even, group, integer, list_of,
                    names, names_or_none, one_of, one_or_list, text, tracepoint)
from .sizes import Sizes
from .tables import Fault, Key, Params, keys_of, values

# Modes whose transfers arrive by chance (arrivals.py).
ARRIVALS = ("poisson", "incast")
# The keys that each kind of fabric takes (fabric.py).
FABRICS = {"leaf-spine": ("hosts", "leaves", "spines"), "fat-tree": ("k",)}
# Kinds of tunnels, and the bytes by which each makes an IP packet longer.
TUNNELS = {"ipip": 20, "gre": 24, "vxlan": 50}
Cc = Annotated[str, cc]
Few = Annotated[int, integer(1, 2048)]
Many = Annotated[int, integer(1, 1000)]


@dataclass(kw_only=True)
class RunTable:
    """[run]"""
    duration: Period
    warmup: Time = 0
    window: Window | None = None
    seeds: Annotated[list[int], distinct(integer(0, SEED_MAX))] = field(default_factory=lambda: [1])
    debug_duration: Period | None = None
    timeout: Period = 600 * 10**9
    kernels: Annotated[int, integer(1, 64)] = 1
    parts: Annotated[list[list[str]], list_of(names)] | None = None


@dataclass(kw_only=True)
class Nodes:
    """[network]"""
    hosts: Names
    switches: Annotated[list[str], names_or_none] = field(default_factory=list)
    bridges: Annotated[list[str], names_or_none] = field(default_factory=list)
    sysctl: Sysctls = field(default_factory=dict)
    # Sysctls that a fabric gives to single nodes; no key.
    of_nodes: dict[str, dict[str, str]] = field(default_factory=dict)


@dataclass(kw_only=True)
class NodesOfFabric:
    """[network] beside a [fabric], which says what nodes there are"""
    sysctl: Sysctls = field(default_factory=dict)


@dataclass(kw_only=True)
class FabricTable:
    """[fabric]"""
    kind: Annotated[str, one_of(*FABRICS)]
    hosts: Few | None = None
    leaves: Few | None = None
    spines: Few | None = None
    k: Annotated[int, even(2, 24)] | None = None
    rate: Rate
    up_rate: Rate | None = None
    delay: Delay = 0
    queue: Queue | None = None
    up_queue: Queue | None = None
    host_queue: Queue | None = None
    overhead: Overhead | None = None
    mtu: Mtu = 1500


@dataclass(kw_only=True)
class Host:
    """[[host]]: settings of nodes of any kind"""
    name: Names
    sysctl: Sysctls = field(default_factory=dict)
    nft: Text = ""
    layout: Text = ""
    ioam: Annotated[int, integer(0, 0xffff)] | None = None


def pairs(left: list[str], right: list[str], pairwise: bool) -> list[tuple[str, str]]:
    """Every pair of the two lists; pairwise: the first of both, the second of both, and so on."""
    if not pairwise:
        return list(itertools.product(left, right))
    if len(left) != len(right):
        raise ValueError(f"{len(left)} names on one side and {len(right)} on the other: write as many on both")
    return list(zip(left, right))


@dataclass(kw_only=True)
class LinkEnd:
    """The egress of one end of a link: keys of [[link]], for both ends or, with _a or _b, for one"""
    rate: Rate
    delay: Delay = 0
    overhead: Overhead = 24
    queue: Queue = "bfifo limit 64m"
    loss: Probability = 0.0
    reorder: Probability = 0.0
    duplicate: Probability = 0.0
    corrupt: Probability = 0.0


@dataclass(kw_only=True)
class Link:
    """[[link]]"""
    a: Names
    b: Names
    pairwise: Flag = False
    mtu: Mtu = 1500
    tso: Flag = True
    # Values of LinkEnd's keys, as far as the file has them.
    written: dict[str, Any] = field(default_factory=dict)
    ends: dict[str, LinkEnd] = field(default_factory=dict)      # "a" and "b", once settle() was called
    of_fabric: bool = False

    @classmethod
    def read(cls, place: str, raw: Any, params: Params) -> "Link":
        own = keys_of(cls)
        of_ends = [Key(key.name + end, key.field + end, key.kind, None)
                   for key in keys_of(LinkEnd) for end in ("", "_a", "_b")]
        found = values(place, [*own, *of_ends], raw, params)
        return cls(**{key.field: found.pop(key.field) for key in own if key.field in found}, written=found)

    def settle(self, place: str) -> None:
        """Give each end the value written for it, else the one for both, else the default."""
        for end in "ab":
            found = {}
            for key in keys_of(LinkEnd):
                own, both = (self.written.get(name) for name in (f"{key.field}_{end}", key.field))
                value = own if own is not None else both
                if value is not None:
                    found[key.field] = value
            if not found.get("rate"):
                raise Fault(f"{place}: 'rate' is missing")
            self.ends[end] = LinkEnd(**found)

    @property
    def pairs(self) -> list[tuple[str, str]]:
        return pairs(self.a, self.b, self.pairwise)

    @property
    def queued(self) -> list[str]:
        """The ends whose queue the file says."""
        return [end for end in "ab" if self.written.get("queue") or self.written.get(f"queue_{end}")]


@dataclass(kw_only=True)
class Change:
    """[[change]]"""
    at: Time
    a: Names
    b: Names
    pairwise: Flag = False
    mtu: Mtu | None = None
    rate: Rate | None = None
    delay: Delay | None = None
    loss: Probability | None = None
    reorder: Probability | None = None
    up: Flag | None = None
    routed: Flag | None = None
    queue_a: Queue | None = None
    queue_b: Queue | None = None

    @property
    def pairs(self) -> list[tuple[str, str]]:
        return pairs(self.a, self.b, self.pairwise)


CHANGED = tuple(key.name for key in keys_of(Change) if key.default is None)


@dataclass(kw_only=True)
class Tunnel:
    """[[tunnel]]: two nodes, and the hosts that each reaches through it"""
    a: Name
    b: Name
    kind: Annotated[str, one_of(*TUNNELS)]
    behind_a: Names
    behind_b: Names
    mtu: Mtu | None = None


@dataclass(kw_only=True)
class Route:
    """[[route]]; its keys `from` and `to` are sources and targets here"""
    sources: Names
    targets: Names
    options: Text


@dataclass(kw_only=True)
class Flow:
    """[[flow]]; its keys `from` and `to` are sources and targets here"""
    name: Annotated[str, group]
    sources: Names
    targets: Names
    pairwise: Flag = False
    cc: Cc = FROM_HOST
    sink_cc: Cc | None = None
    accept_cc: Cc = FROM_HOST
    start: Time = 0
    stop: Time | None = None
    stagger: Time = 0
    jitter: Time = 10_000
    bytes: Size = 0
    rate: Rate | None = None
    sndbuf: Annotated[int, SNDBUF] | None = None
    warm: Size = 0
    mode: Annotated[str, one_of("once", "persistent", "reconnect", *ARRIVALS)] = "once"
    sizes: Text | None = None
    load: Load | None = None
    fanin: Many | None = None
    period: Period | None = None
    count: Annotated[int, integer(0, 10**6)] = 1
    parallel: Many = 1
    think: Time = 0
    initcwnd: Many | None = None
    family: Annotated[int, one_of(4, 6)] = 4
    verify: Flag = False
    # The distribution that `sizes` names, once relations.py has read it; no key.
    distribution: Sizes | None = None

    @property
    def pairs(self) -> list[tuple[str, str]]:
        return pairs(self.sources, self.targets, self.pairwise)

    @property
    def arrives(self) -> bool:
        """True if the transfers arrive by chance."""
        return self.mode in ARRIVALS


@dataclass(kw_only=True)
class Sample:
    """[sample]"""
    ports: Annotated[list[str], list_of(text)] | None = None
    queue: Period | None = None
    sockets: Period = 1_000_000
    goodput: Period = 10_000_000
    trace: Annotated[list[str], list_of(tracepoint)] = field(default_factory=list)


@dataclass(kw_only=True)
class Claim:
    """[[claim]]; results hold it with these names"""
    metric: Text
    case: Annotated[list[str], one_or_list(text)] | None = None
    min: Bound | None = None
    max: Bound | None = None
    window: Window | None = None
    source: Text = ""
    note: Text = ""
    debug: Flag = False

    def applies(self, case: str) -> bool:
        """True if the claim is about the case of this name."""
        return self.case is None or any(matches(pattern, case) for pattern in self.case)

    def as_json(self) -> dict[str, Any]:
        return dataclasses.asdict(self)


@dataclass(kw_only=True)
class Column:
    """[[column]]"""
    title: Text
    metric: Text
    window: Window | None = None
    show: Annotated[str, one_of("number", "time", "rate")] = "number"
    digits: Annotated[int, integer(0, 6)] = 2
    better: Annotated[str, one_of("", "high", "low")] = ""


# In a file there is one table of each of the first, and a list of tables of each of the second.
TABLES = ("run", "network", "sample", "fabric")
ARRAYS = ("host", "link", "tunnel", "route", "flow", "change", "claim", "column")


@dataclass
class Case:
    """One network, one set of flows: a scenario with its parameters filled in."""
    name: str
    params: Params
    run: RunTable
    network: Nodes
    sample: Sample
    hosts: list[Host]
    links: list[Link]
    tunnels: list[Tunnel]
    routes: list[Route]
    flows: list[Flow]
    changes: list[Change]
    claims: list[Claim]
    columns: list[Column]
    # The sampled ports and the sampling period of their queues, set by relations.py.
    ports: list[str] = field(default_factory=list)
    queue_period_ns: int = 0
    # The nodes of each kernel, set by relations.py.
    parts: list[list[str]] = field(default_factory=list)

    @property
    def window(self) -> tuple[int, int]:
        return self.run.window or (self.run.warmup, self.run.duration)

    @property
    def nodes(self) -> list[str]:
        return self.network.hosts + self.network.switches + self.network.bridges

    @property
    def counters(self) -> list[str]:
        """Comments of the counting rules in the nodes' firewalls."""
        found = [re.findall(r'\bcounter\b[^\n]*\bcomment "([^"\n]*)"', host.nft) for host in self.hosts]
        return list(dict.fromkeys(itertools.chain(*found)))


def matches(pattern: Any, case: str) -> bool:
    """True if the pattern, in which * stands for any text, is the name of the case."""
    return bool(re.fullmatch(re.escape(str(pattern)).replace(r"\*", ".*"), case))
