# SPDX-License-Identifier: GPL-2.0
"""Topologies with several equal ways: leaf-spine and fat-tree, from a few numbers.

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

# What 198.18.0.0/15 holds, a /24 a link.
LINKS_MAX = 512
KEYS = {"leaf-spine": ("hosts", "leaves", "spines"), "fat-tree": ("k",)}


@dataclass
class Fabric:
    """hosts, switches; links: (a, b, tier), a below b, tier "host" or "up"; sysctls of nodes."""
    hosts: list
    switches: list
    links: list
    sysctl: dict = field(default_factory=dict)


# Switches of one make hash alike: a tier that chose by the hash of the tier below would see
# a part of the flows only and use a part of its ways. So the tier above leaves the protocol
# out, which is another hash of the same ports.
OTHER_HASH = {f"net.ipv{v}.fib_multipath_hash_{k}": n for v in (4, 6)
              for k, n in (("policy", "3"), ("fields", str(0x33)))}


def expand(table):
    """The nodes and links that a [fabric] stands for."""
    kind = table["kind"]
    for key in itertools.chain(*KEYS.values()):
        if (table[key] is None) == (key in KEYS[kind]):
            what = "is missing" if key in KEYS[kind] else "is of another kind"
            raise ValueError(f"{key!r} {what}: {kind} takes {' '.join(KEYS[kind])}")
    made = leaf_spine(**{k: table[k] for k in KEYS[kind]}) if kind == "leaf-spine" else fat_tree(table["k"])
    if len(made.links) > LINKS_MAX:
        raise ValueError(f"{len(made.links)} links: at most {LINKS_MAX}")
    return made


def numbered(letter, count):
    return [f"{letter}{i}" for i in range(1, count + 1)]


def leaf_spine(hosts, leaves, spines):
    every, lower, upper = numbered("h", hosts * leaves), numbered("l", leaves), numbered("s", spines)
    links = [(host, lower[i // hosts], "host") for i, host in enumerate(every)]
    links += [(leaf, spine, "up") for leaf in lower for spine in upper]
    return Fabric(every, lower + upper, links)


def fat_tree(k):
    half = k // 2
    every = numbered("h", k * half * half)
    edge, middle, core = numbered("e", k * half), numbered("a", k * half), numbered("c", half * half)
    links = [(host, edge[i // half], "host") for i, host in enumerate(every)]
    for pod in range(k):
        mine = slice(pod * half, (pod + 1) * half)
        links += [(a, b, "up") for a in edge[mine] for b in middle[mine]]
        links += [(a, core[i * half + j], "up") for i, a in enumerate(middle[mine]) for j in range(half)]
    return Fabric(every, edge + middle + core, links, {a: OTHER_HASH for a in middle})


def port_values(table, tier):
    """What the two ends of a link are: a below, b above."""
    up = {k: table[k] if table[f"up_{k}"] is None else table[f"up_{k}"] for k in ("rate", "queue")}
    own = {"queue_a": table["host_queue"] if tier == "host" else up["queue"],
           "queue_b": table["queue"] if tier == "host" else up["queue"],
           "rate": table["rate"] if tier == "host" else up["rate"]}
    return own | {k: table[k] for k in ("delay", "overhead", "mtu")}
