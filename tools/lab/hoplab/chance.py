# SPDX-License-Identifier: GPL-2.0
"""
Statistics for heavy tails: medians over seeds, and intervals by the bootstrap.

A mean and its Student's t assume what completion times are not: of three seeds' 99th percentiles
they make 4757 +- 20023. A median over seeds needs no such assumption, its interval has the units and the bounds of
what was measured, and where a seed's value has a sample below it (transfers), that is drawn again as well.

All draws are of Python's Mersenne twister by whole numbers or random(), so each machine has the same.
"""
import functools
import math
import random
from collections.abc import Callable, Sequence
from typing import TypeVar

LEVEL = 0.95
REPLICATES = 1000
# The range of so many seeds holds their median with 1 - 2 / 2^6 = 0.97; that of five with 0.94 only.
SEEDS_LEAST = 6
# Draws of a run's transfers.
REDRAWS = 100
POSITION_BITS = 53

T = TypeVar("T")
Interval = tuple[float, float]
UNKNOWN: Interval = (math.nan, math.nan)


def middles(values: Sequence[float]) -> Interval:
    """The two middle values, which are one where their number is odd."""
    ordered = sorted(values)
    return ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]


def middle(values: Sequence[float]) -> float:
    """The median of seeds' values. Infinite where one of them is, NaN where one was not measured."""
    if not values or any(math.isnan(v) for v in values):
        return math.nan
    return math.inf if math.inf in values else sum(middles(values)) / 2


def ratio(own: float, other: float) -> float:
    """own / other of values that are 0 or more; 1 where both are 0, or both infinite."""
    if own == other:
        return 1.0
    if other == 0 or math.isinf(own):
        return math.inf
    return own / other


def interval(replicates: Sequence[Interval]) -> Interval:
    """What the middle 95 % of the replicates are within, each of which has a low and a high end."""
    lows, highs = (sorted(ends) for ends in zip(*replicates))
    if any(math.isnan(v) for v in (*lows, *highs)):
        return UNKNOWN
    out = math.floor(len(lows) * (1 - LEVEL) / 2)
    return lows[out], highs[-1 - out]


@functools.lru_cache(maxsize=64)
def drawn_seeds(count: int) -> tuple[tuple[int, ...], ...]:
    """REPLICATES draws of `count` of as many seeds, by their place: the same for all that are compared."""
    rng = random.Random(f"seeds/{count}")
    return tuple(tuple(rng.choices(range(count), k=count)) for _ in range(REPLICATES))


def over_seeds(count: int, value: Callable[[int, int], float]) -> Interval:
    """
    The interval of the median over seeds; value(place of a seed, number of the replicate). Of an even number of seeds
    both middle values count: their mean alone would make it too narrow.
    """
    if count < SEEDS_LEAST:
        return UNKNOWN
    return interval([middles([value(place, number) for place in places])
                     for number, places in enumerate(drawn_seeds(count))])


class Redraw:
    """Transfers drawn from those of a run, as many as there are; all runs of one plan have the same draw."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.used = False

    def of(self, values: Sequence[T]) -> list[T]:
        self.used = True
        return random.Random(self.name).choices(values, k=len(values)) if values else []


def drawn_place(rng: random.Random, count: int, rank: int) -> int:
    """
    The place (from 0) of the rank-th smallest (from 1) of `count` values drawn from `count` sorted ones.

    It is that of the rank-th smallest of `count` uniform numbers, found by halving their range: each of those within is in
    the lower half with a probability of one half.
    """
    position, inside = 0, count
    for bit in range(POSITION_BITS):
        if inside == 1:
            rest = POSITION_BITS - bit
            position = position << rest | rng.getrandbits(rest)
            break
        lower = rng.getrandbits(inside).bit_count()
        position <<= 1
        if rank <= lower:
            inside = lower
        else:
            position, rank, inside = position | 1, rank - lower, inside - lower
    return position * count >> POSITION_BITS


def of_quantiles(seeds: Sequence[Sequence[float]], shares: Sequence[float]) -> list[Interval]:
    """The intervals of quantiles of all seeds' values together: of seeds drawn, and of the values of these."""
    if len(seeds) < 2:
        return [UNKNOWN] * len(shares)
    found: list[list[float]] = [[] for _ in shares]
    rng = random.Random(f"transfers/{len(seeds)}")
    before: tuple[int, ...] = ()
    pool: list[float] = []
    # Equal draws of seeds come one after the other, so that their values are sorted once.
    for places in sorted(tuple(sorted(places)) for places in drawn_seeds(len(seeds))):
        if places != before:
            before, pool = places, sorted(v for place in places for v in seeds[place])
        for values, share in zip(found, shares):
            rank = min(len(pool), max(1, math.ceil(share * len(pool))))
            values.append(pool[drawn_place(rng, len(pool), rank)])
    return [interval([(value, value) for value in values]) for values in found]
