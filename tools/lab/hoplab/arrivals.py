# SPDX-License-Identifier: GPL-2.0
"""Transfers that arrive by chance: sizes from a distribution, instants, senders, receivers.

A run has as many transfers as the load asks for, and their sizes are spread evenly over the
distribution: so each run bears its load and its share of giants, and seeds differ in who
sends what to whom, and when. Given their number, the instants are those of a Poisson
process: independent, uniform over the time.
"""
import bisect
import math
import random
from dataclasses import dataclass
from pathlib import Path

from .build import LAB

SIZES = LAB / "sizes"
MODES = ("poisson", "incast")


@dataclass
class Sizes:
    """A distribution of sizes: straight between its points."""
    name: str
    bytes_at: list
    share_at: list      # 0..1, not falling

    def quantile(self, share):
        """The size that `share` of the transfers do not exceed; at least 1."""
        right = max(1, bisect.bisect_left(self.share_at, share))
        (x0, x1), (p0, p1) = (v[right - 1:right + 1] for v in (self.bytes_at, self.share_at))
        return max(1, round(x0 + (x1 - x0) * (share - p0) / (p1 - p0) if p1 > p0 else x1))

    @property
    def mean_bytes(self):
        return sum((p1 - p0) * (x0 + x1) / 2 for x0, x1, p0, p1 in
                   zip(self.bytes_at, self.bytes_at[1:], self.share_at, self.share_at[1:]))


def available():
    return sorted(p.name for p in SIZES.iterdir())


def load(word, folder):
    """A distribution of the tree by name, a user's by its path from the scenario's folder."""
    path = SIZES / word if word in available() else Path(folder) / word
    if not path.is_file():
        raise ValueError(f"{word!r}: allowed: {' '.join(available())}, or a file beside the scenario")
    try:
        return parse(word, path.read_text())
    except (OSError, ValueError) as error:
        raise ValueError(f"{path}: {error}") from None


def parse(name, text):
    """Lines of "bytes percent", both rising, from 0 % to 100 %."""
    points = []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        try:
            size, percent = (float(w) for w in words)
        except ValueError:
            raise ValueError(f"line {number}: write bytes and percent, as 10000 15") from None
        least = points[-1] if points else (-1, 0)
        if not (least[0] < size <= 2**50 and least[1] <= percent <= 100):
            raise ValueError(f"line {number}: bytes must rise, up to 2^50, and percent not fall, up to 100")
        points.append((size, percent))
    if len(points) < 2 or points[0][1] != 0 or points[-1][1] != 100:
        raise ValueError("percent must go from 0 in the first line to 100 in the last")
    return Sizes(name, [x for x, _ in points], [p / 100 for _, p in points])


# --- transfers: (start_ns, sender, receiver, bytes) ---

def number_of(flow, ceilings_bps, time_ns):
    """How many transfers; ceilings_bps: of each sender's own link."""
    if flow["mode"] == "poisson":
        offered_bytes = flow["load"] * sum(ceilings_bps) * time_ns / 8e9
        return max(1, round(offered_bytes / flow["sizes"].mean_bytes))
    return math.ceil(time_ns / period_ns(flow, ceilings_bps)) * flow["fanin"] * flow["parallel"]


def period_ns(flow, ceilings_bps):
    """From one incast to the next: stated, or by its load."""
    burst_bytes = flow["fanin"] * flow["parallel"] * flow["bytes"]
    return flow["period"] or max(1, round(burst_bytes * 8e9 / (flow["load"] * sum(ceilings_bps))))


def transfers(flow, ceilings_bps, stop_ns, seed):
    """All of one [[flow]], by time."""
    rng = random.Random(f"{seed}/arrivals")
    make = poisson if flow["mode"] == "poisson" else incast
    return sorted(make(flow, ceilings_bps, stop_ns, rng), key=lambda t: t[0])


def poisson(flow, ceilings_bps, stop_ns, rng):
    count = number_of(flow, ceilings_bps, stop_ns - flow["start"])
    sizes = [flow["sizes"].quantile((i + rng.random()) / count) for i in range(count)]
    rng.shuffle(sizes)
    for size in sizes:
        source = rng.choices(flow["from"], ceilings_bps)[0]
        target = rng.choice([t for t in flow["to"] if t != source])
        yield rng.randrange(flow["start"], stop_ns), source, target, size


def incast(flow, ceilings_bps, stop_ns, rng):
    for start_ns in range(flow["start"], stop_ns, period_ns(flow, ceilings_bps)):
        target = rng.choice(flow["to"])
        for source in rng.sample([s for s in flow["from"] if s != target], flow["fanin"]):
            for _ in range(flow["parallel"]):
                yield start_ns, source, target, flow["bytes"]
