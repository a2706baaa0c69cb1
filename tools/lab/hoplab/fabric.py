# SPDX-License-Identifier: GPL-2.0
"""Topologies with several equal paths: leaf-spine and fat-tree, from a few numbers.

    leaf-spine   s1  s2        every leaf to every spine
                 | \\/ |
                 l1  l2        `hosts` on each leaf
                h1.. ..h8

    fat-tree     c1 c2 c3 c4   core switch (i - 1) * k/2 + j: to aggregation switch i of each pod
                 a1 a2 | a3 a4   k/2 a pod: to every edge switch of it
                 e1 e2 | e3 e4   k/2 a pod, with k/2 hosts each
"""
import itertools
from dataclasses import dataclass, field
from typing import Any

from .schema import FABRICS, FabricTable

# A fabric's links: as many as 198.18.0.0/15 has room for, at four addresses each.
LINKS_MAX = 32768


@dataclass
class Fabric:
    """hosts, switches; links: (a, b, tier), a below b, tier "host" or "up"; sysctls of nodes."""
    hosts: list[str]
    switches: list[str]
    links: list[tuple[str, str, str]]
    sysctl: dict[str, dict[str, str]] = field(default_factory=dict)


# Switches of one vendor compute the same hash. A tier that chose by the hash of the tier below
# would see only a part of the hash values and use only a part of its paths. So the tier above
# leaves the protocol out of the hash: that gives another hash of the same ports.
OTHER_HASH = {f"net.ipv{v}.fib_multipath_hash_{k}": n for v in (4, 6)
              for k, n in (("policy", "3"), ("fields", str(0x33)))}


def expand(table: FabricTable) -> Fabric:
    """The nodes and links of a [fabric]."""
    own = FABRICS[table.kind]
    for key in itertools.chain(*FABRICS.values()):
        if (getattr(table, key) is None) == (key in own):
            what = "is missing" if key in own else "is of another kind"
            raise ValueError(f"{key!r} {what}: {table.kind} takes {' '.join(own)}")
    numbers: list[int] = [getattr(table, key) for key in own]
    made = fat_tree(*numbers) if table.kind == "fat-tree" else leaf_spine(*numbers)
    if len(made.links) > LINKS_MAX:
        raise ValueError(f"{len(made.links)} links: at most {LINKS_MAX}")
    return made


def numbered(letter: str, count: int) -> list[str]:
    return [f"{letter}{i}" for i in range(1, count + 1)]


def leaf_spine(hosts: int, leaves: int, spines: int) -> Fabric:
    every, lower, upper = numbered("h", hosts * leaves), numbered("l", leaves), numbered("s", spines)
    links = [(host, lower[i // hosts], "host") for i, host in enumerate(every)]
    links += [(leaf, spine, "up") for leaf in lower for spine in upper]
    return Fabric(every, lower + upper, links)


def fat_tree(k: int) -> Fabric:
    half = k // 2
    every = numbered("h", k * half * half)
    edge, middle, core = numbered("e", k * half), numbered("a", k * half), numbered("c", half * half)
    links = [(host, edge[i // half], "host") for i, host in enumerate(every)]
    for pod in range(k):
        mine = slice(pod * half, (pod + 1) * half)
        links += [(a, b, "up") for a in edge[mine] for b in middle[mine]]
        links += [(a, core[i * half + j], "up") for i, a in enumerate(middle[mine]) for j in range(half)]
    return Fabric(every, edge + middle + core, links, {a: OTHER_HASH for a in middle})


def port_values(table: FabricTable, tier: str) -> dict[str, Any]:
    """The values of a link's two ends, a below and b above, as in a [[link]]."""
    up_rate = table.rate if table.up_rate is None else table.up_rate
    up_queue = table.queue if table.up_queue is None else table.up_queue
    own = {"queue_a": table.host_queue, "queue_b": table.queue, "rate": table.rate} if tier == "host" else \
        {"queue_a": up_queue, "queue_b": up_queue, "rate": up_rate}
    return {**own, "delay": table.delay, "overhead": table.overhead}
