# SPDX-License-Identifier: GPL-2.0
"""Tables of results for the documentation: a row a case, a column for each [[column]].

In a page a table stands between two lines, <!-- lab table NAME --> and <!-- end -->; NAME is the
scenario. So the figures of a page can be measured again and replaced, and its words stay.
"""
import math
import re
from collections.abc import Iterable
from pathlib import Path

from . import LabError, claims
from .chance import Redraw
from .results import Run
from .scenario import Scenario
from .schema import Case, Column
from .units import NEVER, show_rate, show_time

PLACE = re.compile(r"(<!-- lab table (\S+) -->\n).*?(<!-- end -->\n)", re.S)


def lines(scenario: Scenario, folder: Path) -> list[str]:
    """The table of a scenario, from the results of its cases in `folder`, as lines of Markdown."""
    columns = scenario.cases[0].columns
    if not columns:
        raise LabError(f"{scenario.file}: no [[column]]: nothing to show in a table")
    rows = [["", *(column.title for column in columns)], ["---"] * (len(columns) + 1)]
    runs = {case.name: load(scenario, case, folder) for case in scenario.cases}
    for case in scenario.cases:
        cells = [[show(column, value(column, case, seed, runs)) for seed in runs[case.name]]
                 for column in case.columns]
        rows.append([label(case, runs[case.name].values()),
                     *(" / ".join(dict.fromkeys(cell)) for cell in cells)])
    return [f"| {' | '.join(row)} |".replace("|  |", "| |") for row in rows]


def load(scenario: Scenario, case: Case, folder: Path) -> dict[int, Run]:
    """seed -> its run"""
    found = {}
    for seed in case.run.seeds:
        file = folder / f"{scenario.name}.{case.name}.{seed}.jsonl"
        if not file.exists():
            raise LabError(f"{file}: no such result: lab run {scenario.word} --out {folder}")
        found[seed] = Run(file)
    return found


def value(column: Column, case: Case, seed: int, runs: dict[str, dict[int, Run]], redraw: Redraw | None = None) -> float:
    peers = {name: mine[seed] for name, mine in runs.items() if seed in mine}
    try:
        return claims.evaluate(column.metric, case.name, peers, column.window, redraw)
    except claims.Never:
        return math.inf
    except ValueError:
        return math.nan


def show(column: Column, number: float) -> str:
    if math.isnan(number):
        return "-"
    if math.isinf(number):
        return NEVER
    if column.show == "time":
        return show_time(float(f"{number * 1e9:.3g}"))
    if column.show == "rate":
        return show_rate(float(f"{number:.3g}"))
    return f"{number:.{column.digits}f}"


def label(case: Case, runs: Iterable[Run]) -> str:
    """The case, and the congestion controls that its sockets had in the end where these are others."""
    others: set[str] = set()
    for run in runs:
        planned = {flow["id"]: flow["cc"] for flow in run.meta["flows"]}
        for flow in run.flows:
            wanted = planned[flow["id"]] if planned[flow["id"]] != "host" else case.params.get("cc", flow["cc"])
            others |= {flow["cc"]} - {wanted, None}
    words = ", ".join(f"`{name}`" for name in sorted(others))
    return f"`{case.name}`" + (f", then {words}" if words else "")


def fill(page: Path, found: dict[str, list[str]]) -> list[str]:
    """Put tables, by name, at their places in a page. Return: the names that have no place there."""
    text = page.read_text()
    used: set[str] = set()

    def table(match: re.Match[str]) -> str:
        if match[2] not in found:
            return match[0]
        used.add(match[2])
        return match[1] + "".join(f"{line}\n" for line in found[match[2]]) + match[3]

    page.write_text(PLACE.sub(table, text))
    return sorted(set(found) - used)
