#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Statistics of heavy tails: intervals hold what they say they hold, have no impossible ends, and are the same everywhere."""
import math
import random
import statistics
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, f"{TOP}/tools/lab")
sys.path.insert(0, f"{TOP}/selftests/lib")
sys.dont_write_bytecode = True

from hoplab import chance, slowdown  # noqa: E402
from tap import Tap  # noqa: E402

TRIALS = 300
SIGMA = 2.0     # of a lognormal distribution with median 1: its mean is 7.4, its 97.5 % quantile 50
tap = Tap()


def medians():
    inf, nan = math.inf, math.nan
    for values, wanted in (([3, 1, 2], 2), ([4, 1, 2, 3], 2.5), ([1, 2, inf], inf), ([0, 0], 0)):
        tap.equal(f"the median of {values}", chance.middle(values), wanted)
    tap.claim("none of what was not measured", math.isnan(chance.middle([1, nan, inf])) and math.isnan(chance.middle([])))
    for pair, wanted in (((6, 3), 2), ((0, 0), 1), ((inf, inf), 1), ((1, 0), inf), ((inf, 2), inf), ((2, inf), 0), ((0, 2), 0)):
        tap.equal(f"the ratio of {pair}", chance.ratio(*pair), wanted)


def over_seeds(values):
    return chance.over_seeds(len(values), lambda place, _: values[place])


def coverage():
    """The share of intervals that hold the median 1, of lognormal values."""
    rng = random.Random(1)
    for count in (6, 9, 12):
        samples = [[math.exp(rng.gauss(0, SIGMA)) for _ in range(count)] for _ in range(TRIALS)]
        found = [over_seeds(sample) for sample in samples]
        hits = sum(low <= 1 <= high for low, high in found)
        sd = math.sqrt(0.95 * 0.05 / TRIALS)
        # Few values have few possible ends: an interval may hold the median in more cases than it says.
        tap.claim(f"{count} seeds of a heavy tail: 95 % of the intervals hold the median", hits / TRIALS > 0.95 - 2 * sd, str(hits / TRIALS))
        tap.claim(f"{count} seeds: both ends are within what was measured",
                  all(min(s) <= low <= high <= max(s) for s, (low, high) in zip(samples, found)))
    tap.claim("five seeds have no interval", all(map(math.isnan, over_seeds([1, 2, 3, 4, 5]))))
    tap.equal("what never happened in one seed may be the end", over_seeds([1] * 5 + [math.inf]), (1, math.inf))


def quantiles():
    """The 90th percentile of all seeds' transfers, which are lognormal."""
    rng, truth, hits = random.Random(2), math.exp(SIGMA * statistics.NormalDist().inv_cdf(0.9)), 0
    for _ in range(TRIALS):
        seeds = [[math.exp(rng.gauss(0, SIGMA)) for _ in range(50)] for _ in range(6)]
        (low, high), = chance.of_quantiles(seeds, [0.9])
        hits += low <= truth <= high
    tap.claim("95 % of the intervals hold a quantile of transfers", hits / TRIALS > 0.9, str(hits / TRIALS))
    apart = [[1.0] * 100, [1000.0] * 100, [1.0] * 100, [1000.0] * 100]
    tap.equal("seeds that differ make it wide, however many transfers they have", chance.of_quantiles(apart, [0.5]), [(1, 1000)])
    tap.claim("one seed has no interval", all(math.isnan(end) for end in chance.of_quantiles([[1.0, 2.0]], [0.5])[0]))
    hung = [[1.0] * 98 + [math.inf] * 2] * 4
    (low, high), = chance.of_quantiles(hung, [0.98])
    tap.equal("transfers that did not end are in it", (low, high), (1, math.inf))
    made = slowdown.row("s", "c", "g", [[(1000, v) for v in seed] for seed in hung], 0, math.inf)
    tap.equal("the words of a row", made.words()[4:], ("400", "8", "1.00", "1.00..1.00", "1.00", "1.00..1.00", "never", "1.00..never"))


def draws():
    """drawn_place() is the order statistic of a draw with replacement: its distribution is a binomial's tail."""
    rng, count, rank = random.Random(3), 40, 36
    places = [chance.drawn_place(rng, count, rank) for _ in range(20000)]
    for place in (33, 35, 37):
        part = (place + 1) / count
        wanted = sum(math.comb(count, k) * part**k * (1 - part)**(count - k) for k in range(rank, count + 1))
        found = sum(p <= place for p in places) / len(places)
        tap.claim(f"the {rank}th of {count} drawn is the {place + 1}th or before as often as it should",
                  abs(found - wanted) < 4 * math.sqrt(wanted * (1 - wanted) / len(places)), f"{found}, {wanted:.4f}")
    tap.equal("of one value there is one", {chance.drawn_place(rng, 1, 1) for _ in range(9)}, {0})
    tap.equal("draws are the same on all machines and each time",
              (chance.drawn_seeds(6)[:2], [chance.drawn_place(random.Random("x"), 1000, 990) for _ in range(2)],
               chance.Redraw("1/0").of(range(8))), DRAWN)
    first, second = chance.Redraw("1/7"), chance.Redraw("1/7")
    tap.equal("runs of one plan have the same transfers drawn", first.of(range(100)), second.of(range(100)))


# Python's generator has given these since version 3.2.
DRAWN = (((0, 0, 1, 2, 2, 0), (5, 0, 4, 2, 0, 1)), [989, 989], [7, 3, 3, 3, 4, 0, 2, 4])

medians()
coverage()
quantiles()
draws()
sys.exit(tap.done())
