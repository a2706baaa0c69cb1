# SPDX-License-Identifier: GPL-2.0
"""Transfers that arrive by chance: sizes from a distribution, start times, senders, receivers.

The load gives the number of transfers in a run, and their sizes are spread evenly over the
distribution: so each run has the stated load and its share of large transfers, and seeds differ
in senders, receivers, their sizes and times. Given their number, the start times are a Poisson
process: independent, and uniform over the run.
"""
import math
import random
from collections.abc import Iterator

from .schema import Flow

# start_ns, sender, receiver, bytes
Transfer = tuple[int, str, str, int]


def number_of(flow: Flow, ceilings_bps: list[float], time_ns: int) -> int:
    """How many transfers there are; ceilings_bps: each sender's share of its own link for payload."""
    if flow.mode == "poisson":
        assert flow.load and flow.distribution
        offered_bytes = flow.load * sum(ceilings_bps) * time_ns / 8e9
        return max(1, round(offered_bytes / flow.distribution.mean_bytes))
    assert flow.fanin
    return math.ceil(time_ns / period_ns(flow, ceilings_bps)) * flow.fanin * flow.parallel


def period_ns(flow: Flow, ceilings_bps: list[float]) -> int:
    """The time from one incast to the next: stated, or computed from the load."""
    if flow.period:
        return flow.period
    assert flow.fanin and flow.load
    burst_bytes = flow.fanin * flow.parallel * flow.bytes
    return max(1, round(burst_bytes * 8e9 / (flow.load * sum(ceilings_bps))))


def transfers(flow: Flow, ceilings_bps: list[float], stop_ns: int, seed: str) -> list[Transfer]:
    """All transfers of one [[flow]], by time."""
    rng = random.Random(f"{seed}/arrivals")
    make = poisson if flow.mode == "poisson" else incast
    return sorted(make(flow, ceilings_bps, stop_ns, rng), key=lambda t: t[0])


def poisson(flow: Flow, ceilings_bps: list[float], stop_ns: int, rng: random.Random) -> Iterator[Transfer]:
    assert flow.distribution
    count = number_of(flow, ceilings_bps, stop_ns - flow.start)
    sizes = [flow.distribution.quantile((i + rng.random()) / count) for i in range(count)]
    rng.shuffle(sizes)
    for size in sizes:
        source = rng.choices(flow.sources, ceilings_bps)[0]
        target = rng.choice([t for t in flow.targets if t != source])
        yield rng.randrange(flow.start, stop_ns), source, target, size


def incast(flow: Flow, ceilings_bps: list[float], stop_ns: int, rng: random.Random) -> Iterator[Transfer]:
    assert flow.fanin
    for start_ns in range(flow.start, stop_ns, period_ns(flow, ceilings_bps)):
        target = rng.choice(flow.targets)
        for source in rng.sample([s for s in flow.sources if s != target], flow.fanin):
            for _ in range(flow.parallel):
                yield start_ns, source, target, flow.bytes
