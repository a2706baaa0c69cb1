# SPDX-License-Identifier: GPL-2.0
"""Slowdown by flow size: of each seed a quantile, over seeds their mean and its confidence interval."""
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from .metrics import Measures, mean, quantile
from .results import Run
from .units import NEVER

EDGES_BYTES = (0, 10**3, 3 * 10**3, 10**4, 3 * 10**4, 10**5, 3 * 10**5, 10**6, 3 * 10**6, 10**7, math.inf)
SHARES = (50, 95, 99)
HEAD = ("scenario", "case", "group", "bytes", "flows", "unfinished",
        *(f"{word}{share}" for share in SHARES for word in ("p", "+-")))
# Student's t, 97.5 %, by degrees of freedom; beyond the table, by its expansion around the
# normal quantile (error below 0.001).
T_975 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228)
Z_975 = 1.959964


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
    slowdown: dict[int, tuple[float, float]]    # share -> (mean over seeds, half of the 95 % confidence interval)

    @property
    def is_all(self) -> bool:
        return self.low_bytes == 0 and self.high_bytes == math.inf

    def words(self) -> tuple[str, ...]:
        return (self.scenario, self.case, self.group, self.range, str(self.flows), str(self.unfinished),
                *(show(v) for share in SHARES for v in self.slowdown[share]))

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
                   for end, v in zip(("", "_ci95"), self.slowdown[share])}}


def short(size_bytes: float) -> str:
    """1000 -> 1k: thousands, as the distributions are."""
    for unit, scale in (("M", 10**6), ("k", 10**3)):
        if size_bytes >= scale:
            return f"{size_bytes / scale:g}{unit}"
    return f"{size_bytes:g}"


def show(value: float) -> str:
    return NEVER if math.isinf(value) else "-" if math.isnan(value) else f"{value:.2f}"


def finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def t_975(freedom: int) -> float:
    if freedom <= len(T_975):
        return T_975[freedom - 1]
    z, v = Z_975, freedom
    return (z + (z**3 + z) / (4 * v) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * v**2)
            + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * v**3))


def interval(values: Iterable[float]) -> tuple[float, float]:
    """Mean and half of its 95 % confidence interval; NaN where there is one value only."""
    values = list(values)
    if len(values) < 2 or math.inf in values:
        return mean(values), math.nan
    middle = mean(values)
    variance = sum((v - middle) ** 2 for v in values) / (len(values) - 1)
    return middle, t_975(len(values) - 1) * math.sqrt(variance / len(values))


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
    slowdown = {share: interval(quantile(v, share / 100) for v in by_seed) for share in SHARES}
    unfinished = sum(v == math.inf for values in by_seed for v in values)
    return Row(scenario, case, group, low_bytes, high_bytes, quantile(sizes, 0.5), len(sizes),
               unfinished, slowdown)
