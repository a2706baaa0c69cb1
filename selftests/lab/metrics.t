#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Metrics of a result that can be redone by hand: two flows of a port, six periods of 1 s."""
import json
import math
import os
import sys
import tempfile

TOP = os.path.realpath(os.path.join(os.path.dirname(__file__), "../.."))
sys.path.insert(0, f"{TOP}/tools/lab")
sys.dont_write_bytecode = True

from hoplab import metrics, record, results  # noqa: E402

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


def measures(folder, *window_s):
    path = f"{folder}/made.jsonl"
    with open(path, "w") as out:
        out.writelines(json.dumps(line) + "\n" for line in lines())
    return metrics.Measures(results.Run(path), [t * S for t in window_s] or None)


def main():
    with tempfile.TemporaryDirectory() as folder:
        whole, middle, late = (measures(folder, *w) for w in ((), (0, 3), (3, 6)))
    claims = [
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
    ]
    print(f"1..{len(claims)}")
    failed = 0
    for number, (name, got, want) in enumerate(claims, 1):
        good = math.isnan(got) if want == "none" else got == want or abs(got - want) < 1e-9
        failed += not good
        print(f"{'' if good else 'not '}ok {number} - {name}" + ("" if good else f"\n# {got}, not {want}"))
    return 1 if failed else 0


sys.exit(main())
