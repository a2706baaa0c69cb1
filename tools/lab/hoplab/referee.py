# SPDX-License-Identifier: GPL-2.0
"""The referee: congestion controls in every situation of scenarios/referee, ranked against each other."""
import enum
import functools
import hashlib
import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import LabError, chance, pages, runner, scenario
from .entrants import Entrant
from .metrics import Measures, mean
from .results import Run
from .runner import Choice, Job
from .scenario import Scenario
from .schema import Column
from .slowdown import finite

FOLDER = "referee"
HEAD_OF_RANKS = "mean rank"
# An entrant that delivers less than this share of the best one is behind all others in each column: empty queues
# and no losses are no merit of a sender that does not send. Where two meet, one may take most of the port.
LEAST_SHARE = 0.5
LEAST_SHARE_BESIDE = 0.1
# Flows with this name belong to the situation, also where their congestion control is the entrant.
BACKGROUND = "others"
# A difference below 2 % of the larger value is none.
MARGIN = 0.02


@dataclass
class Sample:
    """One figure of one run."""
    value: float
    redrawn: list[float] = field(default_factory=list)  # the same of REDRAWS draws of its transfers, if it is of transfers

    def replicate(self, number: int) -> float:
        return self.redrawn[number % len(self.redrawn)] if self.redrawn else self.value


@dataclass
class Cell:
    """One figure of one entrant: over seeds the median and its 95 % confidence interval."""
    seeds: dict[int, Sample]
    best: int = 0       # the best rank that it may have: 1 + the number of entrants that are better; 0: not ranked
    worst: int = 0      # the worst one: with those of which it is undecided

    @functools.cached_property
    def value(self) -> float:
        return chance.middle([sample.value for sample in self.seeds.values()])

    @functools.cached_property
    def interval(self) -> chance.Interval:
        samples = list(self.seeds.values())
        return chance.over_seeds(len(samples), lambda place, number: samples[place].replicate(number))

    @property
    def rank(self) -> float:
        return (self.best + self.worst) / 2


class Order(enum.Enum):
    """What is known of two figures."""
    BETTER = "better"
    EQUAL = "equal"             # the difference is below MARGIN
    WORSE = "worse"
    UNDECIDED = "undecided"     # it depends on the seeds


def compare(own: Cell, other: Cell, better: str) -> Order:
    """
    Compare by the ratio of the two in each seed, as all have the same plan in a seed: by the interval of its median.
    What was not measured is worst; behind all else is what never happened, in one of the seeds.
    """
    for is_worst in (math.isnan, math.isinf):
        if is_worst(own.value) or is_worst(other.value):
            if is_worst(own.value) and is_worst(other.value):
                return Order.EQUAL
            return Order.WORSE if is_worst(own.value) else Order.BETTER
    pairs = [(own.seeds[seed], other.seeds[seed]) for seed in own.seeds if seed in other.seeds]
    if better == "high":
        pairs = [(second, first) for first, second in pairs]
    return order_of(pairs)


def order_of(pairs: Sequence[tuple[Sample, Sample]]) -> Order:
    """The order of a pair of figures in the same seeds, of which the smaller is better."""
    ratios = [chance.ratio(first.value, second.value) for first, second in pairs]
    if set(ratios) == {1.0}:
        return Order.EQUAL
    if any(one.redrawn for pair in pairs for one in pair):
        low, high = chance.over_seeds(len(pairs), lambda place, number: chance.ratio(
            pairs[place][0].replicate(number), pairs[place][1].replicate(number)))
    else:
        low, high = chance.over_seeds(len(pairs), lambda place, _: ratios[place])
    if high < 1 - MARGIN:
        return Order.BETTER
    if low > 1 / (1 - MARGIN):
        return Order.WORSE
    return Order.EQUAL if low >= 1 - MARGIN and high <= 1 / (1 - MARGIN) else Order.UNDECIDED


@dataclass
class Ranks:
    """A rank: between the two others, which are equal where it is decided."""
    rank: float
    best: float
    worst: float

    @property
    def words(self) -> str:
        return f"{self.best:.1f}" if self.best == self.worst else f"{self.best:.1f} to {self.worst:.1f}"

    @property
    def is_decided(self) -> bool:
        return self.best == self.worst


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
    def ranks(self) -> "Ranks":
        """The means over its columns."""
        ranked = [c for c in self.cells if c.best]
        return Ranks(mean(c.rank for c in ranked), mean(c.best for c in ranked), mean(c.worst for c in ranked))


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
    there = scenario.load(word)
    alone = [{"name": e.cc, "cc": e.cc, "port": e.ports.get(there.name, e.port)} for e in entrants]
    if "other" not in there.cases[0].params:
        return scenario.load(word, alone)
    return scenario.load(word, [{**one, "name": f"{one['cc']}.{other.cc}", "other": other.cc}
                                for one in alone for other in entrants if other.cc != one["cc"]])


def plan(scenarios: list[Scenario], entrants: Sequence[Entrant], seeds: Iterable[int], out: Path,
         wanted: Mapping[str, set[str]] | None = None) -> list[Job]:
    """
    The runs of all entrants, or in each situation of those that are wanted. Only runs with a foreign congestion control
    load its modules, which may be faulty.
    """
    modules = {e.cc: e.modules for e in entrants}
    jobs = []
    for seed in seeds:
        for job in runner.plan(scenarios, Choice(seed=seed), out):
            if wanted is not None and job.case.params["cc"] not in wanted.get(job.scenario.name, ()):
                continue
            there = (modules[job.case.params[key]] for key in ("cc", "other") if key in job.case.params)
            job.modules = [folder for folder in there if folder]
            jobs.append(job)
    return jobs


def rounds(most: int) -> Iterator[range]:
    """The seeds of each round: as many as there were before are added while a rank is undecided."""
    ends = [min(chance.SEEDS_LEAST, most)]
    while ends[-1] < most:
        ends.append(min(2 * ends[-1], most))
    for before, end in zip([0, *ends], ends):
        yield range(before + 1, end + 1)


def digest(jobs: Iterable[Job]) -> str:
    """One digest of all results: the same on every machine."""
    lines = sorted(f"{job.digest or 'failed'}  {job.label}\n" for job in jobs)
    return hashlib.sha256("".join(lines).encode()).hexdigest()


# --- what they say ---

@dataclass
class Seen:
    """What is kept of a run."""
    samples: list[Sample]   # a column each
    became: set[str]
    bytes: float            # received of the entrant's own flows
    unfinished: int = 0     # planned transfers that did not end
    planned: int = 0        # planned transfers with a size


def seen(columns: Sequence[Column], job: Job) -> Seen:
    if not job.file:
        return Seen([Sample(math.nan) for _ in columns], set(), math.nan)
    run = Run(job.file)
    cc = job.case.params["cc"]
    own = {flow["id"] for flow in run.meta["flows"] if flow["cc"] == cc and flow["group"] != BACKGROUND}
    samples = [sample_of(column, job, run) for column in columns]
    received = sum(totals[-1] for flow, (_, totals) in run.goodput.items() if flow in own)
    ended = [record is not None for plan, record in Measures(run).sized(None) if plan["id"] in own]
    return Seen(samples, {f["cc"] for f in run.flows if f["id"] in own and f["cc"]} - {cc}, received,
                ended.count(False), len(ended))


def sample_of(column: Column, job: Job, run: Run) -> Sample:
    runs = {job.case.name: {job.seed: run}}
    found = Sample(pages.value(column, job.case, job.seed, runs))
    for number in range(chance.REDRAWS if column.better else 0):
        redraw = chance.Redraw(f"{job.seed}/{number}")
        value = pages.value(column, job.case, job.seed, runs, redraw)
        if not redraw.used:
            break
        found.redrawn.append(value)
    return found


def tables(jobs: Iterable[Job], known: dict[int, Seen]) -> list[Table]:
    """The figures of all runs, ranked. known: what was seen of jobs before, by id()."""
    by_scenario: dict[str, list[Job]] = {}
    for job in jobs:
        by_scenario.setdefault(job.scenario.name, []).append(job)
    return [table(mine, known) for mine in by_scenario.values()]


def together(samples: list[Sample]) -> Sample:
    """Where an entrant met several others in a seed: the mean over them."""
    return samples[0] if len(samples) == 1 else Sample(mean(sample.value for sample in samples))


def table(jobs: list[Job], results: dict[int, Seen]) -> Table:
    """The figures of one situation; results: of the jobs that were seen before."""
    first = jobs[0]
    made = Table(first.scenario.name, first.scenario.title, first.case.columns)
    results |= {id(job): seen(made.columns, job) for job in jobs if id(job) not in results}
    for cc in dict.fromkeys(job.case.params["cc"] for job in jobs):
        mine = [job for job in jobs if job.case.params["cc"] == cc]
        by_seed: dict[int, list[Seen]] = {}
        for job in mine:
            by_seed.setdefault(job.seed, []).append(results[id(job)])
        found = [result for those in by_seed.values() for result in those]
        cells = [Cell({seed: together([one.samples[i] for one in those]) for seed, those in by_seed.items()})
                 for i in range(len(made.columns))]
        made.lines.append(Line(
            cc, cells, [job.outcome.problem for job in mine if job.outcome.problem],
            set().union(*(one.became for one in found)), mean(one.bytes for one in found),
            sum(one.unfinished for one in found), sum(one.planned for one in found)))
        for other in dict.fromkeys(job.case.params.get("other") for job in mine):
            if other is not None:
                made.pairs[cc, other] = Cell({job.seed: results[id(job)].samples[0] for job in mine
                                              if job.case.params["other"] == other})
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
        cells = [line.cells[index] for line in made.lines if column.better]
        for cell in cells:
            cell.best = cell.worst = 1
        for (one, cell), (other, other_cell) in itertools.combinations(zip(made.lines, cells), 2):
            classed = (classes[id(one)], classes[id(other)])
            count(cell, other_cell, ordered(*classed) if classed[0] != classed[1] or classed[0] == 2 else
                  compare(cell, other_cell, column.better))


def ordered(one: int, other: int) -> Order:
    return Order.EQUAL if one == other else Order.BETTER if one < other else Order.WORSE


def count(cell: Cell, other: Cell, order: Order) -> None:
    """Put the order of two entrants into their ranks."""
    if order is Order.UNDECIDED:
        cell.worst += 1
        other.worst += 1
    for behind in [other] * (order is Order.BETTER) + [cell] * (order is Order.WORSE):
        behind.best += 1
        behind.worst += 1


def undecided(found: Sequence[Table]) -> dict[str, set[str]]:
    """situation -> the entrants that have an undecided rank there"""
    return {one.name: {line.cc for line in one.lines if any(c.best < c.worst for c in line.cells)} for one in found}


def overall(found: Sequence[Table]) -> list[tuple[str, Ranks, list[Ranks | None]]]:
    """(entrant, means over the situations of its ranks, these), the best first."""
    made = []
    for cc in dict.fromkeys(line.cc for one in found for line in one.lines):
        each = [next((line.ranks for line in one.lines if line.cc == cc), None) for one in found]
        there = [r for r in each if r is not None and not math.isnan(r.rank)]
        made.append((cc, Ranks(mean(r.rank for r in there), mean(r.best for r in there), mean(r.worst for r in there)), each))
    return sorted(made, key=lambda entry: entry[1].rank)


# --- as tables ---

def words(column: Column, cell: Cell) -> str:
    text, (low, high) = pages.show(column, cell.value), cell.interval
    # An interval that is less than what is shown of the figure says nothing.
    if not math.isfinite(cell.value) or math.isnan(low) or high - low < 0.01 * abs(cell.value):
        return text
    ends = [pages.show(column, end) for end in (low, high)]
    return text if ends == [text] * 2 else f"{text} ({ends[0]} to {ends[1]})"


def rank_rows(found: Sequence[Table]) -> list[list[str]]:
    rows = [["", HEAD_OF_RANKS, *(one.name for one in found)]]
    for cc, all_of_them, each in overall(found):
        rows.append([cc, all_of_them.words, *("-" if r is None else r.words for r in each)])
    return rows


def rows_of(one: Table) -> list[list[str]]:
    planned = any(line.planned for line in one.lines)
    rows = [["", "rank", *(column.title for column in one.columns), *["unfinished"] * planned, "seeds"]]
    for line in sorted(one.lines, key=lambda line: line.ranks.rank):
        name = f"{line.cc}, then {', '.join(sorted(line.became))}" if line.became else line.cc
        unfinished = f"{line.unfinished} of {line.planned}" if line.unfinished else "0"
        rows.append([name, line.ranks.words if line.ranks.is_decided else f"{line.ranks.words}, undecided",
                     *(words(*pair) for pair in zip(one.columns, line.cells)), *[unfinished] * planned,
                     str(len(line.cells[0].seeds))])
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


def rank_json(ranks: Ranks, name: str) -> dict[str, Any]:
    return {name: finite(ranks.rank), "best": finite(ranks.best), "worst": finite(ranks.worst),
            "decided": ranks.is_decided}


def cell_ranks(cell: Cell) -> dict[str, Any]:
    return rank_json(Ranks(cell.rank, cell.best, cell.worst), "rank")


def as_json(found: Sequence[Table], whole: str) -> dict[str, Any]:
    return {
        "digest": whole,
        "ranks": [{"cc": cc, **rank_json(all_of_them, "mean_rank"),
                   **{one.name: rank_json(r, "rank") if r else None for one, r in zip(found, each)}}
                  for cc, all_of_them, each in overall(found)],
        "situations": [{"name": one.name, "title": one.title, "lines": [
            {"cc": line.cc, "became": sorted(line.became), "problems": line.problems,
             "planned": line.planned, "unfinished": line.unfinished, "columns": [
                {"title": column.title, "metric": column.metric, "better": column.better or None,
                 "value": finite(cell.value), "low": finite(cell.interval[0]), "high": finite(cell.interval[1]),
                 "seeds": [finite(sample.value) for sample in cell.seeds.values()],
                 **(cell_ranks(cell) if cell.best else {})}
                for column, cell in zip(one.columns, line.cells)]} for line in one.lines]} for one in found]}
