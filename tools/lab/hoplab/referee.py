# SPDX-License-Identifier: GPL-2.0
"""The referee: congestion controls in every situation of scenarios/referee, ranked against each other."""
import hashlib
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import LabError, pages, runner, scenario
from .entrants import Entrant
from .metrics import Measures, mean
from .results import Run
from .runner import Choice, Job
from .scenario import Scenario
from .schema import Column
from .slowdown import finite, interval

FOLDER = "referee"
HEAD_OF_RANKS = "mean rank"
# An entrant that delivers less than this share of the best one is behind all others in each column: empty queues
# and no losses are no merit of a sender that does not send. Where two meet, one may take most of the port.
LEAST_SHARE = 0.5
LEAST_SHARE_BESIDE = 0.1
# A difference below 2 % of the larger value is none.
MARGIN = 0.02


@dataclass
class Cell:
    """One figure of one entrant: over seeds its mean and half of the 95 % confidence interval."""
    mean: float
    half: float     # NaN where there is one seed
    rank: int = 0   # 1 + the number of entrants that are better; 0: not ranked

    @property
    def edges(self) -> tuple[float, float]:
        half = self.half if math.isfinite(self.half) else 0
        return self.mean - half, self.mean + half

    def beats(self, other: "Cell", better: str) -> bool:
        """True if it is better than the other by more than both intervals, and MARGIN; what was not measured is worst."""
        if math.isnan(self.mean) or math.isnan(other.mean):
            return not math.isnan(self.mean)
        difference = abs(self.mean - other.mean)
        if math.isfinite(difference) and difference < MARGIN * max(abs(self.mean), abs(other.mean)):
            return False
        (low, high), (other_low, other_high) = self.edges, other.edges
        return low > other_high if better == "high" else high < other_low


@dataclass
class Line:
    """One entrant in one situation."""
    cc: str
    cells: list[Cell]
    problems: list[str]     # panics, warnings, hangs of its guests
    became: set[str]        # names that its sockets had in the end, where these are others
    bytes: float            # what its flows delivered; NaN: a guest failed
    unfinished: int = 0     # planned transfers that did not end, in all runs
    planned: int = 0        # planned transfers with a size

    @property
    def rank(self) -> float:
        return mean(c.rank for c in self.cells if c.rank)


@dataclass
class Table:
    """One situation."""
    name: str
    title: str
    columns: list[Column]
    lines: list[Line] = field(default_factory=list)
    # Where each entrant met each other one: (entrant, other) -> its share.
    pairs: dict[tuple[str, str], Cell] = field(default_factory=dict)


# --- the runs ---

def situations(only: Sequence[str] | None) -> list[str]:
    """Words for load(): all situations, or those that the user names."""
    names = [word.partition("/")[2] for word in scenario.available(FOLDER)]
    for word in only or ():
        if word not in names:
            raise LabError(f"--only {word}: no such situation; there are: {' '.join(names)}")
    return [f"{FOLDER}/{name}" for name in names if not only or name in only]


def load(word: str, entrants: Sequence[Entrant]) -> Scenario:
    """The scenario with a case an entrant; with a case a pair, where two congestion controls meet."""
    alone = [{"name": e.cc, "cc": e.cc, "port": e.port} for e in entrants]
    if "other" not in scenario.load(word).cases[0].params:
        return scenario.load(word, alone)
    return scenario.load(word, [{**one, "name": f"{one['cc']}.{other.cc}", "other": other.cc}
                                for one in alone for other in entrants if other.cc != one["cc"]])


def plan(scenarios: list[Scenario], entrants: Sequence[Entrant], seeds: int, out: Path) -> list[Job]:
    """All runs. Only runs with a foreign congestion control load its modules, which may be faulty."""
    modules = {e.cc: e.modules for e in entrants}
    jobs = []
    for seed in range(1, seeds + 1):
        for job in runner.plan(scenarios, Choice(seed=seed), out):
            there = (modules[job.case.params[key]] for key in ("cc", "other") if key in job.case.params)
            job.modules = [folder for folder in there if folder]
            jobs.append(job)
    return jobs


def digest(jobs: Iterable[Job]) -> str:
    """One digest of all results: the same on every machine."""
    lines = sorted(f"{job.digest or 'failed'}  {job.label}\n" for job in jobs)
    return hashlib.sha256("".join(lines).encode()).hexdigest()


# --- what they say ---

@dataclass
class Seen:
    """What is kept of a run."""
    values: list[float]     # a column each
    became: set[str]
    bytes: float            # received of the entrant's own flows
    unfinished: int = 0     # planned transfers that did not end
    planned: int = 0        # planned transfers with a size


def seen(columns: Sequence[Column], job: Job) -> Seen:
    if not job.file:
        return Seen([math.nan] * len(columns), set(), math.nan)
    run = Run(job.file)
    cc = job.case.params["cc"]
    own = {flow["id"] for flow in run.meta["flows"] if flow["cc"] == cc}
    values = [pages.value(column, job.case, job.seed, {job.case.name: {job.seed: run}}) for column in columns]
    received = sum(totals[-1] for flow, (_, totals) in run.goodput.items() if flow in own)
    ended = [record is not None for plan, record in Measures(run).sized(None) if plan["id"] in own]
    return Seen(values, {f["cc"] for f in run.flows if f["id"] in own and f["cc"]} - {cc}, received,
                ended.count(False), len(ended))


def tables(jobs: Iterable[Job]) -> list[Table]:
    """The figures of all runs, ranked."""
    by_scenario: dict[str, list[Job]] = {}
    for job in jobs:
        by_scenario.setdefault(job.scenario.name, []).append(job)
    return [table(mine) for mine in by_scenario.values()]


def table(jobs: list[Job]) -> Table:
    """The figures of one situation."""
    first = jobs[0]
    made = Table(first.scenario.name, first.scenario.title, first.case.columns)
    results = {id(job): seen(made.columns, job) for job in jobs}
    for cc in dict.fromkeys(job.case.params["cc"] for job in jobs):
        mine = [job for job in jobs if job.case.params["cc"] == cc]
        # Where it met several others: a seed's value is the mean over them.
        by_seed = [[results[id(job)].values for job in mine if job.seed == seed]
                   for seed in dict.fromkeys(job.seed for job in mine)]
        cells = [Cell(*interval(mean(values[i] for values in one) for one in by_seed)) for i in range(len(made.columns))]
        made.lines.append(Line(cc, cells, [job.outcome.problem for job in mine if job.outcome.problem],
                               set().union(*(results[id(job)].became for job in mine)),
                               mean(results[id(job)].bytes for job in mine),
                               sum(results[id(job)].unfinished for job in mine),
                               sum(results[id(job)].planned for job in mine)))
        for other in dict.fromkeys(job.case.params.get("other") for job in mine):
            if other is not None:
                made.pairs[cc, other] = Cell(*interval(
                    results[id(job)].values[0] for job in mine if job.case.params["other"] == other))
    rank(made)
    return made


def class_of(line: Line, least_bytes: float) -> int:
    """
    0: it delivers, and all that was planned; 1: it left transfers unfinished; 2: it hardly delivers, or its guest failed.
    In every column an entrant is behind all those of a lower class: what was not sent causes no queue and no loss.
    """
    if not line.bytes >= least_bytes:
        return 2
    return 1 if line.unfinished else 0


def rank(made: Table) -> None:
    best = max((line.bytes for line in made.lines if not math.isnan(line.bytes)), default=0)
    least_bytes = best * (LEAST_SHARE_BESIDE if made.pairs else LEAST_SHARE)
    classes = {id(line): class_of(line, least_bytes) for line in made.lines}
    for index, column in enumerate(made.columns):
        for line in made.lines if column.better else []:
            cell, own = line.cells[index], classes[id(line)]
            cell.rank = 1 + sum(classes[id(other)] < own or
                                classes[id(other)] == own < 2 and other.cells[index].beats(cell, column.better)
                                for other in made.lines if other is not line)


def overall(found: Sequence[Table]) -> list[tuple[str, float, list[float]]]:
    """(entrant, mean over the situations of its mean ranks, these), the best first."""
    ccs = list(dict.fromkeys(line.cc for one in found for line in one.lines))
    ranks = {cc: [next((line.rank for line in one.lines if line.cc == cc), math.nan) for one in found] for cc in ccs}
    made = [(cc, mean(r for r in ranks[cc] if not math.isnan(r)), ranks[cc]) for cc in ccs]
    return sorted(made, key=lambda entry: entry[1])


# --- as tables ---

def words(column: Column, cell: Cell) -> str:
    text = pages.show(column, cell.mean)
    spread = pages.show(column, cell.half) if math.isfinite(cell.half) and math.isfinite(cell.mean) else ""
    # An interval that is less than what is shown of the mean says nothing.
    if not spread or cell.half < 0.005 * abs(cell.mean) or not re.search("[1-9]", spread):
        return text
    return f"{text} ± {spread}"


def rank_rows(found: Sequence[Table]) -> list[list[str]]:
    rows = [["", HEAD_OF_RANKS, *(one.name for one in found)]]
    for cc, all_of_them, each in overall(found):
        rows.append([cc, f"{all_of_them:.1f}", *("-" if math.isnan(r) else f"{r:.1f}" for r in each)])
    return rows


def rows_of(one: Table) -> list[list[str]]:
    planned = any(line.planned for line in one.lines)
    rows = [["", "rank", *(column.title for column in one.columns), *["unfinished"] * planned]]
    for line in sorted(one.lines, key=lambda line: line.rank):
        name = f"{line.cc}, then {', '.join(sorted(line.became))}" if line.became else line.cc
        unfinished = f"{line.unfinished} of {line.planned}" if line.unfinished else "0"
        rows.append([name, f"{line.rank:.1f}", *(words(*pair) for pair in zip(one.columns, line.cells)),
                     *[unfinished] * planned])
    return rows


def pair_rows(one: Table) -> list[list[str]]:
    """Its own share: a row an entrant, a column for each other one."""
    ccs = list(dict.fromkeys(cc for cc, _ in one.pairs))
    return [["beside", *ccs]] + [[cc, *(words(one.columns[0], one.pairs[cc, other]) if (cc, other) in one.pairs
                                        else "" for other in ccs)] for cc in ccs]


def markdown(rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [rows[0], ["---"] * len(rows[0]), *rows[1:]]
    return [f"| {' | '.join(line)} |".replace("|  |", "| |") for line in lines]


def for_pages(found: Sequence[Table]) -> dict[str, list[str]]:
    """Tables of a page of the documentation, by the name at their place (pages.py)."""
    made = {"referee": markdown(rank_rows(found))}
    for one in found:
        made[f"referee-{one.name}"] = markdown(rows_of(one))
        if one.pairs:
            made[f"referee-{one.name}-pairs"] = markdown(pair_rows(one))
    return made


def as_json(found: Sequence[Table], whole: str) -> dict[str, Any]:
    return {
        "digest": whole,
        "ranks": [{"cc": cc, "mean_rank": finite(all_of_them), **{one.name: finite(r) for one, r in zip(found, each)}}
                  for cc, all_of_them, each in overall(found)],
        "situations": [{"name": one.name, "title": one.title, "lines": [
            {"cc": line.cc, "became": sorted(line.became), "problems": line.problems,
             "planned": line.planned, "unfinished": line.unfinished, "columns": [
                {"title": column.title, "metric": column.metric, "better": column.better or None,
                 "mean": finite(cell.mean), "ci95": finite(cell.half), "rank": cell.rank or None}
                for column, cell in zip(one.columns, line.cells)]} for line in one.lines]} for one in found]}
