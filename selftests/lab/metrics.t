#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Metrics of a result that can be redone by hand: two flows of a port, six periods of 1 s; five transfers, of which two end."""
import json
import math
import os
import sys
import tempfile

TOP = os.path.realpath(os.path.join(os.path.dirname(__file__), "../.."))
sys.path.insert(0, f"{TOP}/tools/lab")
sys.dont_write_bytecode = True

from hoplab import claims, metrics, plot, record, report, results, slowdown, table  # noqa: E402

S = 10**9
# Bytes that each flow receives in each period, of 80 that the port can carry.
SHARES = [(60, 20), (40, 40), (50, 10), (32, 32), (38, 42), (40, 40)]
NFT = json.dumps({"nftables": [
    {"metainfo": {"version": "1"}},
    {"rule": {"comment": "seen", "expr": [{"match": {}}, {"counter": {"packets": 3, "bytes": 60}}, {"drop": None}]}},
    {"rule": {"expr": [{"counter": {"packets": 5, "bytes": 5}}]}},
    {"rule": {"comment": "uncounted", "expr": [{"drop": None}]}}]})


def lines():
    ports = {"s1:h3": {"ceiling_bps": 80 * 8}}
    flows = [{"id": i, "group": "f", "family": 4, "path": ["s1:h3"], "start_ns": 0, "stop_ns": 6 * S}
             for i in (0, 1)]
    yield {"type": "meta", "schema": results.SCHEMA, "goodput_ns": S, "window_ns": [0, 6 * S],
           "ports": ports, "flows": flows}
    totals = [0, 0]
    for second, shares in enumerate(SHARES, 1):
        for flow, share in enumerate(shares):
            totals[flow] += share
            yield {"type": "goodput", "t_ns": second * S, "id": flow, "bytes": totals[flow]}
    for node in ("s1", "s2"):
        yield from map(json.loads, record.counter_lines(node, NFT).splitlines())


def made(folder, those):
    path = f"{folder}/made.jsonl"
    with open(path, "w") as out:
        out.writelines(json.dumps(line) + "\n" for line in those)
    return results.Run(path)


def measures(folder, *window_s):
    return metrics.Measures(made(folder, lines()), [t * S for t in window_s] or None)


# Bounds of claims about transfers of which some did not end: none may hold.
NEVER = (("fct_max", None, 100), ("fct_mean", None, 100), ("last_end", None, 100), ("slowdown_p99", None, 1e9),
         ("fct_max", 0, None), ("1 / fct_max", None, 1), ("fct_p50 / fct_max", 0, 1), ("min(fct_p50, fct_max)", 0, 9),
         ("fct_max - fct_max", None, 1), ("all.fct_max / fct_p50", 1, None), ("fct_p50", None, "fct_max"),
         ("fct_p50", "-fct_max", None))


def claim(metric, low, high):
    return {"metric": metric, "case": None, "min": low, "max": high, "window": None, "source": "", "note": "",
            "debug": False}


def transfers():
    """Of three connections with 4, 1 and 1 transfers of 1000 bytes: two end, two hang, two do not even start."""
    flows = [{"id": i, "group": group, "family": 4, "path": [], "start_ns": 0, "stop_ns": 6 * S, "bytes": 1000, "cc": "reno",
              "from": "h1", "to": "h2", "ideal_base_ns": 0, "ceiling_bps": 8000, **({"count": 4} if i == 0 else {})}
             for i, group in enumerate(("a", "a", "b"))]
    yield {"type": "meta", "schema": results.SCHEMA, "scenario": "made", "case": "all", "seed": 1, "kernel": "release",
           "title": "", "source": "", "goodput_ns": S, "window_ns": [0, 6 * S], "ports": {}, "flows": flows, "arrivals": ["a"],
           "claims": [claim(*one) for one in NEVER] + [claim("fct_p(16)", 0.9, 1.1), claim("recovery(1gbit)", 1, None)]}
    for number, end_s, done in ((0, 1, True), (0, 6, False), (1, 3, True), (2, 6, False)):
        yield {"type": "flow", "id": number, "start_ns": S // 2 if number else 0, "end_ns": end_s * S, "bytes": 1000 if done else 9,
               "retrans": 0, "done": done}
    yield {"type": "host", "host": "h1", "loss_probes": 0, "timeouts": 0}


def of_transfers(run):
    """[(what, found, wanted)]"""
    m = metrics.Measures(run)
    decisions = claims.decide([run])
    curve = plot.cdf(m.fcts("a"))
    ends = [(10, 1, 2, (1, 3)), (1000, 1, 2, (1, math.inf))]
    marks = [plot.plot_slowdown("t", {"all": points}).count("<use") for points in (ends, [*ends, (100, 1, math.inf, (2, math.inf))])]
    row, = [r for r in slowdown.rows([run]) if r.is_all] or slowdown.rows([run])
    return [
        ("each planned transfer counts", m.fcts(None), [1] + [math.inf] * 3 + [2.5, math.inf]),
        ("a quantile of all of them", m.fct_p(33), 2.5),
        ("which is infinite from the first that did not end on", m.fct_p50(), math.inf),
        ("the longest", m.fct_max(), math.inf),
        ("the mean", m.fct_mean(), math.inf),
        ("the last end", m.last_end(), math.inf),
        ("the slowdown", (m.slowdown_p(20, "a"), m.slowdown_p(40, "a"), m.slowdown_p50("a"), m.slowdown_mean("a")),
         (1, 2.5, math.inf, math.inf)),
        ("the share that ended", m.done(), 2 / 6),
        ("the number that did not", (m.unfinished(), m.unfinished("a"), m.unfinished("b")), (4, 3, 1)),
        ("the number that did", m.transfers(), 2),
        ("no claim about them holds", [d.claim.metric for d in decisions[:len(NEVER)] if d.passed], []),
        ("for the reason", {d.measured for d in decisions if d.claim.metric.startswith("fct_max")},
         {"fct_max: never: a planned transfer did not end"}),
        ("one about those that ended does", [d.passed for d in decisions[len(NEVER):]][:1], [True]),
        ("what else never happened is a value", decisions[-1].passed, True),
        ("the curve of the completion times ends below 1", curve, [(1, 0.2), (2.5, 0.4)]),
        ("and a percentile of theirs is a mark in the picture of slowdowns", marks[1] - marks[0], 1),
        ("the name of the curve says so", report.finished("all", m, "a"), "all: 3 of 5 unfinished"),
        ("the table has the number", table.row(run)[table.HEAD.index("unfinished")], "4 of 6"),
        ("and the word", table.row(run)[table.HEAD.index("fct p50")], "never"),
        ("of each group", [r[table.GROUP_HEAD.index("unfinished")] for r in table.group_rows([run])[1:]], ["3 of 5", "1 of 1"]),
        ("and for programs", table.unfinished_lines(run), [{"group": "a", "planned": 5, "unfinished": 3},
                                                           {"group": "b", "planned": 1, "unfinished": 1}]),
        ("the table by size has it, too", (row.flows, row.unfinished, row.words()[6]), (5, 3, "never")),
        ("which is null for programs", row.as_json()["p99"], None)]


def is_equal(got, want):
    if want == "none":
        return math.isnan(got)
    return got == want or isinstance(want, float) and abs(got - want) < 1e-9


def main():
    with tempfile.TemporaryDirectory() as folder:
        whole, middle, late = (measures(folder, *w) for w in ((), (0, 3), (3, 6)))
        unfinished = of_transfers(made(folder, transfers()))
    found = [
        ("converged for one period, at the end of the second", whole.convergence(), 2),
        ("settled when the third is over", whole.settling(), 3),
        ("settled from the start of a window", late.settling(), 0),
        ("not settled where the last period is unfair", middle.settling(), math.inf),
        ("settled at once if little is asked", whole.settling(threshold=0.5), 0),
        ("the worst period of the port", whole.utilization_min(), 0.75),
        ("the worst period of a window", late.utilization_min(), 0.8),
        ("a rate is reached at the end of a period", whole.recovery(70 * 8), 1),
        ("and from a window's start on", middle.recovery(75 * 8), 1),
        ("one that is never reached", whole.recovery(81 * 8), math.inf),
        ("the smallest share, in spans of one period", whole.share_min(1), 2 * 10 / 60),
        ("in spans of two", whole.share_min(2), 2 * 42 / 124),
        ("in a span longer than the window", middle.share_min(4), "none"),
        ("rules of one comment, on all nodes", whole.counted("seen"), 6),
        ("a rule without a counter", whole.counted("uncounted"), 0),
        *((f"transfers: {name}", got, want) for name, got, want in unfinished),
    ]
    print(f"1..{len(found)}")
    failed = 0
    for number, (name, got, want) in enumerate(found, 1):
        good = is_equal(got, want)
        failed += not good
        print(f"{'' if good else 'not '}ok {number} - {name}" + ("" if good else f"\n# {got}, not {want}"))
    return 1 if failed else 0


sys.exit(main())
