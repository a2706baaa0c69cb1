# SPDX-License-Identifier: GPL-2.0
"""Slowdown by flow size: quantiles of all seeds together, and their confidence intervals by the bootstrap."""
import math
from dataclasses import dataclass
from typing import Any

from .chance import Interval, of_quantiles
from .metrics import Measures, quantile
from .results import Run
from .units import NEVER

EDGES_BYTES = (0, 10**3, 3 * 10**3, 10**4, 3 * 10**4, 10**5, 3 * 10**5, 10**6, 3 * 10**6, 10**7, math.inf)
SHARES = (50, 95, 99)
HEAD = ("scenario", "case", "group", "bytes", "flows", "unfinished",
        *(word for share in SHARES for word in (f"p{share}", "95 %")))


@dataclass
class Row:
    """Transfers of one group of a case whose sizes are within low_bytes <= size < high_bytes."""
    scenario: str
    case: str
    group: str
    low_bytes: float
    high_bytes: float
    size_bytes: float       # the median size
    flows: int              # in all seeds
    unfinished: int         # flows that did not end: infinitely slow
    slowdown: dict[int, float]      # share -> quantile of the flows of all seeds
    intervals: dict[int, Interval]  # share -> its 95 % confidence interval; NaN where a seed is alone

    @property
    def is_all(self) -> bool:
        return self.low_bytes == 0 and self.high_bytes == math.inf

    def words(self) -> tuple[str, ...]:
        return (self.scenario, self.case, self.group, self.range, str(self.flows), str(self.unfinished),
                *(word for share in SHARES for word in (show(self.slowdown[share]), show_interval(self.intervals[share]))))

    @property
    def range(self) -> str:
        if self.is_all:
            return "all"
        if self.high_bytes == math.inf:
            return f">= {short(self.low_bytes)}"
        return f"{short(self.low_bytes)}..{short(self.high_bytes)}"

    def as_json(self) -> dict[str, Any]:
        return {"scenario": self.scenario, "case": self.case, "group": self.group,
                "low_bytes": self.low_bytes, "high_bytes": finite(self.high_bytes),
                "median_bytes": self.size_bytes, "flows": self.flows, "unfinished": self.unfinished,
                **{f"p{share}{end}": finite(v) for share in SHARES
                   for end, v in zip(("", "_low", "_high"), (self.slowdown[share], *self.intervals[share]))}}


def short(size_bytes: float) -> str:
    """1000 -> 1k: thousands, as the distributions are."""
    for unit, scale in (("M", 10**6), ("k", 10**3)):
        if size_bytes >= scale:
            return f"{size_bytes / scale:g}{unit}"
    return f"{size_bytes:g}"


def show(value: float) -> str:
    return NEVER if math.isinf(value) else "-" if math.isnan(value) else f"{value:.2f}"


def show_interval(ends: Interval) -> str:
    low, high = map(show, ends)
    return "-" if math.isnan(ends[0]) else f"{low}..{high}"


def finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def rows(runs: list[Run]) -> list[Row]:
    """For each group whose transfers arrive by chance: a row a size bin, and one of all sizes."""
    by_case: dict[tuple[str, str], list[Measures]] = {}
    for run in runs:
        by_case.setdefault((run.meta["scenario"], run.meta["case"]), []).append(Measures(run))
    found: list[Row] = []
    for (scenario, case), measures in by_case.items():
        for group in dict.fromkeys(g for m in measures for g in m.run.meta.get("arrivals", [])):
            seeds = [m.slowdowns_by_size(group) for m in measures]
            made = [row(scenario, case, group, seeds, *ends) for ends in zip(EDGES_BYTES, EDGES_BYTES[1:])]
            made = [r for r in made if r.flows]
            found += made + [row(scenario, case, group, seeds, 0, math.inf)] * (len(made) > 1)
    return found


def row(scenario: str, case: str, group: str, seeds: list[list[tuple[int, float]]], low_bytes: float,
        high_bytes: float) -> Row:
    """seeds: the [(bytes, slowdown)] of each seed."""
    inside = [[pair for pair in pairs if low_bytes <= pair[0] < high_bytes] for pairs in seeds]
    by_seed = [[value for _, value in pairs] for pairs in inside if pairs]
    sizes = [size for pairs in inside for size, _ in pairs]
    together = [value for values in by_seed for value in values]
    intervals = of_quantiles(by_seed, [share / 100 for share in SHARES])
    return Row(scenario, case, group, low_bytes, high_bytes, quantile(sizes, 0.5), len(sizes), together.count(math.inf),
               {share: quantile(together, share / 100) for share in SHARES}, dict(zip(SHARES, intervals)))
