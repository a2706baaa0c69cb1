# SPDX-License-Identifier: GPL-2.0
"""Output on the terminal: the table of runs, the claims, TAP."""
import math

from collections.abc import Sequence

from . import guest, slowdown
from .claims import Decision
from .metrics import Measures
from .results import Run
from .runner import Job
from .units import NEVER, show_rate, show_time

SHARE_S = 0.1
GROUP_HEAD = ("scenario", "case", "seed", "flows", "goodput", "transfers", "fct p50", "fct p95", "fct p99",
              "fct max", "unfinished", "slow p50", "retrans", "probes", "timeouts")
HEAD = ("scenario", "case", "seed", "goodput", "ceiling", "q mean", "q p99", "q max", "drops",
        "marks", "jain", "min share", "fct p50", "fct p95", "fct p99", "unfinished", "slow p50", "s/Mpkt")


def row(run: Run, traffic_s: float | None = None) -> tuple[str, ...]:
    m = Measures(run)
    sampled = bool(run.meta["ports"])
    steady = [f["group"] for f in run.meta["flows"]
              if f["start_ns"] <= m.window[0] and f["group"] not in run.meta.get("arrivals", [])]
    packets = run.packets
    return (run.meta["scenario"], run.meta["case"], str(run.meta["seed"]),
            show_rate(m.goodput()), number(m.utilization(), 3) if sampled else "-",
            *((number(v, 1) if sampled else "-")
              for v in ((m.queue_mean(), m.queue_p99(), m.queue_max()) if sampled else (0,) * 3)),
            str(m.drops()) if sampled else "-", number(m.marks(), 0) if sampled else "-",
            number(m.jain(steady[0]), 3) if steady else "-", smallest_share(m, steady),
            *(fct(m.fct_p(p)) for p in (50, 95, 99)), unfinished(m), number(m.slowdown_p50(), 2),
            number(traffic_s * 1e6 / packets, 1) if traffic_s and packets else "-")


def smallest_share(m: Measures, groups: list[str]) -> str:
    """What the index over the whole window hides: of the first group in any SHARE_S."""
    low, high = m.window
    return number(m.share_min(min(SHARE_S, (high - low) / 1e9), groups[0]), 2) if groups else "-"


def unfinished_lines(run: Run) -> list[dict[str, str | int]]:
    """Of each group: how many transfers were planned, and how many of them did not end."""
    m = Measures(run)
    found: list[dict[str, str | int]] = []
    for name in dict.fromkeys(f["group"] for f in run.meta["flows"]):
        ended = [record is not None for _, record in m.planned(name)]
        found.append({"group": name, "planned": len(ended), "unfinished": ended.count(False)})
    return found


def group_rows(runs: list[Run]) -> list[tuple[str, ...]]:
    """A line a group of flows, where a run has more than one."""
    rows: list[tuple[str, ...]] = []
    for run in runs:
        m = Measures(run)
        names = list(dict.fromkeys(f["group"] for f in run.meta["flows"]))
        for name in names if len(names) > 1 else []:
            rows.append((run.meta["scenario"], run.meta["case"], str(run.meta["seed"]), name,
                         show_rate(m.goodput(name)), str(m.transfers(name) or "-"),
                         *(fct(m.fct_p(p, name)) for p in (50, 95, 99)), fct(m.fct_max(name)),
                         unfinished(m, name), number(m.slowdown_p50(name), 2), str(m.retrans(name)),
                         number(m.loss_probes(name), 0), str(m.timeouts(name))))
    return [GROUP_HEAD] + rows if rows else []


def unfinished(m: Measures, group: str | None = None) -> str:
    """How many of the planned transfers did not end."""
    ended = [found is not None for _, found in m.planned(group)]
    return "0" if all(ended) else f"{ended.count(False)} of {len(ended)}"


def number(value: float, digits: int) -> str:
    return NEVER if math.isinf(value) else "-" if math.isnan(value) else f"{value:.{digits}f}"


def fct(value_s: float) -> str:
    return NEVER if math.isinf(value_s) else "-" if math.isnan(value_s) else show_time(value_s * 1e9)


def aligned(rows: Sequence[Sequence[str]], left: int = 2) -> list[str]:
    widths = [max(len(r[i]) for r in rows) for i in range(len(rows[0]))]
    return ["  ".join(c.ljust(w) if i < left else c.rjust(w)
                      for i, (c, w) in enumerate(zip(r, widths))).rstrip() for r in rows]


def show(runs: list[Run], traffic_s: dict[str, float]) -> None:
    rows = [HEAD] + [row(r, traffic_s.get(r.label)) for r in runs]
    print("\n".join(aligned(rows)))
    groups = group_rows(runs)
    if groups:
        print("\n" + "\n".join(aligned(groups)))
    sizes = [slowdown.HEAD] + [r.words() for r in slowdown.rows(runs)]
    if len(sizes) > 1:
        print("\nslowdown by flow size, of all seeds together, and its 95 % confidence interval\n"
              + "\n".join(aligned(sizes, 4)))
        print()
    print("ceiling: goodput through the first sampled port as a share of its payload rate; "
          "queues in packets;\njain: of the first group; min share: of its flows in any 100 ms, 1 being their mean;\nslow: completion time over the ideal one; "
          "unfinished: planned transfers that did not end: their time is infinite")
    if groups:
        print("probes: tail loss probes of the group's hosts; one waits for two round trips, and 200 ms "
              "longer\nwhere a single segment is in flight; timeouts: retransmission timeouts (RTO)")
    show_late(runs)


def show_late(runs: list[Run]) -> None:
    late = [(run.label, words) for run in runs for words in run.late()]
    if late:
        print("\nWARNING: the lab's own programs were late by more than 1 % of what they measured:")
        print("\n".join(f"  {label}: {words}" for label, words in late))


def show_claims(decisions: list[Decision]) -> None:
    if not decisions:
        return
    rows: list[tuple[str, ...]] = [("claim", "case", "measured", "required", "")]
    for v in decisions:
        rows.append((v.claim.metric, f"{v.scenario}/{v.case}", v.measured, v.required,
                     "pass" if v.passed else "FAIL"))
    print()
    print("\n".join(aligned(rows)))


def show_tap(jobs: list[Job], decisions: list[Decision]) -> None:
    print(f"1..{len(jobs) + len(decisions)}")
    count = 0
    shown: set[str] = set()
    for job in jobs:
        count += 1
        print(f"{'not ' if job.outcome.problem else ''}ok {count} - {job.label} runs")
        if job.outcome.problem:
            alike = guest.signature(job.outcome)
            lines = [] if alike in shown else job.outcome.lines
            print("\n".join(f"# {line}" for line in [job.outcome.problem, *lines]))
            shown.add(alike)
    for v in decisions:
        count += 1
        print(f"{'' if v.passed else 'not '}ok {count} - {v.scenario}/{v.case}: "
              f"{v.claim.metric.replace('#', '')} {v.required}")
        print(f"# measured {v.measured}" + (f"; {v.claim.source}" if v.claim.source else ""))
