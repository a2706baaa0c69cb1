# SPDX-License-Identifier: GPL-2.0
"""One HTML file with tables and plots, which loads nothing; plots for documents as files of their own."""
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from . import referee, slowdown, table
from .claims import Decision
from .metrics import Measures
from .plot import Point, SlowdownPoint, cdf, plot, plot_slowdown
from .results import Run
from .runner import Job

# Everything that a template shows is escaped, except for Markup: the pictures.
PAGES = Environment(loader=FileSystemLoader(Path(__file__).parent), autoescape=True, undefined=StrictUndefined,
                    trim_blocks=True, keep_trailing_newline=True)
Row = tuple[str, ...]


@dataclass
class Section:
    """One scenario on the page, as report.html.j2 shows it."""
    name: str
    title: str
    source: str
    late: list[tuple[str, str]]     # run, what was late
    head: Row                       # a row a run
    rows: list[Row]
    groups: list[Row]               # a row a group of flows, the first is the head
    sizes_head: Row                 # a row a size of flows
    sizes: list[Row]
    decisions: list[Decision]
    pictures: list[Markup]


def write(path: Path, runs: list[Run], decisions: list[Decision]) -> Path:
    """Write the page, and slowdowns by size as SCENARIO-CASE-GROUP.svg beside it; return its path."""
    by_scenario: dict[str, list[Run]] = {}
    for run in runs:
        by_scenario.setdefault(run.meta["scenario"], []).append(run)
    sections = [section(name, mine, [v for v in decisions if v.scenario == name])
                for name, mine in by_scenario.items()]
    path.write_text(PAGES.get_template("report.html.j2").render(sections=sections))
    for name, mine in by_scenario.items():
        for words, picture in slowdown_plots(slowdown.rows(mine)):
            (path.parent / f"{'-'.join([name, *words])}.svg").write_text(picture + "\n")
    return path


def write_verdict(path: Path, jobs: list[Job], found: list[referee.Table]) -> Path:
    """Write the referee's page: ranks, a table a situation, and pictures of the runs with the first seed."""
    first = {job.scenario.name: [] for job in jobs}     # type: dict[str, list[Run]]
    for job in jobs:
        if job.file and job.seed == jobs[0].seed:
            first[job.scenario.name].append(Run(job.file))
    path.write_text(PAGES.get_template("referee.html.j2").render(
        sections=[section(name, mine, []) for name, mine in first.items() if mine],
        runs=len(jobs), seed=jobs[0].seed, digest=referee.digest(jobs), ranks=referee.rank_rows(found),
        problems=[(job.label, job.outcome.problem) for job in jobs if job.outcome.problem],
        found={one.name: [referee.rows_of(one), *([referee.pair_rows(one)] if one.pairs else [])] for one in found}))
    return path


def section(name: str, runs: list[Run], decisions: list[Decision]) -> Section:
    by_size = slowdown.rows(runs)
    pictures = [*(picture for _, picture in slowdown_plots(by_size)), *plots(runs)]
    # The heading is the scenario's name, and a page does not show what a packet cost: no columns for these.
    return Section(
        name=name, title=runs[0].meta["title"], source=runs[0].meta["source"],
        late=[(run.label, words) for run in runs for words in run.late()],
        head=table.HEAD[1:-1], rows=[table.row(r)[1:-1] for r in runs],
        groups=[r[1:] for r in table.group_rows(runs)],
        sizes_head=slowdown.HEAD[1:], sizes=[r.words()[1:] for r in by_size],
        decisions=decisions, pictures=[Markup(p) for p in pictures if p])


def slowdown_plots(rows: list[slowdown.Row]) -> Iterator[tuple[list[str], str]]:
    """
    The 99th percentile and the median over the size: a plot for cases that differ in the last word.
    Yields (words that name it, SVG).
    """
    together: dict[tuple[str, str], dict[str, list[SlowdownPoint]]] = {}
    for row in (r for r in rows if not r.is_all):
        first, _, last = row.case.rpartition("-")
        points = together.setdefault((row.group, first), {}).setdefault(last, [])
        points.append((row.size_bytes, row.slowdown[50], row.slowdown[99], row.intervals[99]))
    for (group, first), by_case in together.items():
        picture = plot_slowdown(f"slowdown by size: {group}{f', {first}' if first else ''}", by_case)
        if picture:
            yield [word for word in (first, group) if word], picture


def plots(runs: list[Run]) -> Iterator[str]:
    """Plots with a line a case, measured with its first seed; empty where there is nothing to show."""
    first: dict[str, Run] = {}
    for run in runs:
        first.setdefault(run.meta["case"], run)
    seed = seeds_of(first.values())
    for port in dict.fromkeys(p for r in runs for p in r.meta["ports"]):
        having = {c: r for c, r in first.items() if port in r.queue}
        yield plot(f"queue of {port} over time, {seed}", "ms", "packets",
                   [(c, queue_points(r, port)) for c, r in having.items()])
        yield plot(f"queue of {port}, distribution in the window, {seed}", "packets", "share of time",
                   [(c, cdf(Measures(r).samples(port))) for c, r in having.items()], steps=True)
    for case, run in first.items():
        yield plot(f"throughput by flow: {case}, {seeds_of([run])}", "ms", "Mbit/s", throughput(run))
    for group in dict.fromkeys(f["group"] for r in runs for f in r.meta["flows"] if f["bytes"]):
        measured = {c: Measures(r) for c, r in first.items()
                    if group in (f["group"] for f in r.meta["flows"])}
        yield plot(f"completion times: {group}, {seed}", "ms", "share of planned transfers",
                   [(finished(c, m, group), cdf([v * 1e3 for v in m.fcts(group)])) for c, m in measured.items()],
                   log_x=True, steps=True, top=1.02)


def seeds_of(runs: Iterable[Run]) -> str:
    """The seeds that a picture shows."""
    seeds = sorted({run.meta["seed"] for run in runs})
    return f"seed{'s' * (len(seeds) > 1)} {', '.join(map(str, seeds))}"


def finished(case: str, m: Measures, group: str) -> str:
    """The name of a case's curve of completion times, which ends below 1 if transfers did not end."""
    words = table.unfinished(m, group)
    return case if words == "0" else f"{case}: {words} unfinished"


def queue_points(run: Run, port: str) -> list[Point]:
    times, pkts, *_ = run.queue[port]
    return [(t / 1e6, p) for t, p in zip(times, pkts)]


def throughput(run: Run, most: int = 40) -> list[tuple[str, list[Point]]]:
    """The throughput of flows without a size: the others are in the plot of completion times."""
    series = []
    for flow in [f for f in run.meta["flows"] if not f["bytes"]][:most]:
        times, totals = run.goodput.get(flow["id"], ((), ()))
        points = [(t1 / 1e6, (b1 - b0) * 8e3 / (t1 - t0))
                  for t0, t1, b0, b1 in zip(times, times[1:], totals, totals[1:]) if t1 > t0]
        series.append((f"{flow['group']} {flow['from']} ({flow['cc']})", points))
    return series
