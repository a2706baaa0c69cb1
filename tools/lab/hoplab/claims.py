# SPDX-License-Identifier: GPL-2.0
"""Claims: formulas over metrics, judged seed by seed.

A formula is arithmetic over metrics: `queue_p95 - {K}`, `cubic.queue_mean /
dctcp_ms.queue_mean`, `case("incast-40").fct_max`, `jain("long")`. A metric alone
takes the scenario's first sampled port or all flows. A number may have a unit:
`60ms` is 0.06, `1gbit` is 1e9.
"""
import ast
import math
import operator
import re
from dataclasses import dataclass

from .results import Measures, metrics
from .units import RATES_BPS, TIMES_NS

OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
             ast.Div: operator.truediv, ast.Pow: operator.pow, ast.USub: operator.neg}
FUNCTIONS = {"sqrt": math.sqrt, "abs": abs, "min": min, "max": max}
UNITS = {**{u: v / 1e9 for u, v in TIMES_NS.items()}, **RATES_BPS}


def parse(formula):
    def number(match):
        return repr(float(match[1]) * UNITS[match[2]])
    units = "|".join(sorted(UNITS, key=len, reverse=True))
    plain = re.sub(rf"(?<![\w.\"'])([0-9]+(?:\.[0-9]+)?)({units})\b", number, str(formula))
    try:
        return ast.parse(plain.strip(), mode="eval").body
    except SyntaxError:
        raise ValueError(f"{formula!r} is not a formula") from None


def check(formula, cases):
    """Refuse what could not be evaluated, before anything runs."""
    Checker(formula, cases).visit(parse(formula))
    return formula


class Checker:
    def __init__(self, formula, cases):
        self.formula, self.cases = formula, cases

    def refuse(self, what):
        raise ValueError(f"{self.formula!r}: {what}")

    def visit(self, node):
        if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
            self.visit(node.left)
            self.visit(node.right)
        elif isinstance(node, ast.UnaryOp) and type(node.op) in OPERATORS:
            self.visit(node.operand)
        elif isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
            pass
        elif isinstance(node, ast.Call):
            self.call(node)
        else:
            self.metric(node)

    def call(self, node):
        if isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS:
            for argument in node.args:
                self.visit(argument)
            return
        self.metric(node.func)
        for argument in [*node.args, *(k.value for k in node.keywords)]:
            if not isinstance(argument, ast.Constant):
                self.refuse("a metric's argument is a name in quotes or a number")

    def metric(self, node):
        if isinstance(node, ast.Attribute):
            case = case_name(node.value)
            if case not in self.cases:
                self.refuse(f"unknown case {case!r}; allowed: {' '.join(self.cases)}")
            name = node.attr
        elif isinstance(node, ast.Name):
            name = node.id
        else:
            self.refuse(f"allowed: numbers, + - * / **, {' '.join(FUNCTIONS)}, metrics")
        if name not in metrics():
            self.refuse(f"unknown metric {name!r}; allowed: {' '.join(metrics())}")


def case_name(node):
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "case" and len(node.args) == 1:
        return getattr(node.args[0], "value", None)
    return None


def evaluate(formula, own, runs, window):
    """The formula's value for one run; `runs`: case -> run of the same seed."""
    def metric(node, args, named):
        if isinstance(node, ast.Attribute):
            case, name = case_name(node.value), node.attr
        else:
            case, name = own, node.id
        if case not in runs:
            raise ValueError(f"case {case!r} was not run")
        return getattr(Measures(runs[case], window), name)(*args, **named)

    def value(node):
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.BinOp):
            return OPERATORS[type(node.op)](value(node.left), value(node.right))
        if isinstance(node, ast.UnaryOp):
            return OPERATORS[type(node.op)](value(node.operand))
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS:
                return FUNCTIONS[node.func.id](*map(value, node.args))
            return metric(node.func, [a.value for a in node.args],
                          {k.arg: k.value.value for k in node.keywords})
        return metric(node, [], {})

    try:
        return float(value(parse(formula)))
    except (ZeroDivisionError, TypeError, KeyError, OverflowError) as error:
        raise ValueError(f"{formula}: {type(error).__name__}: {error}") from None


@dataclass
class Verdict:
    """One claim about one case, over all its seeds."""
    scenario: str
    case: str
    claim: dict
    values: list
    low: float
    high: float
    problem: str = None

    @property
    def passed(self):
        return not self.problem and bool(self.values) and \
            all(self.low <= v <= self.high for v in self.values)

    @property
    def required(self):
        words = [f">= {self.low:.4g}"] if self.low != -math.inf else []
        words += [f"<= {self.high:.4g}"] if self.high != math.inf else []
        return " and ".join(words)

    @property
    def measured(self):
        if self.problem:
            return self.problem
        words = f"{min(self.values):.4g}"
        return words if len(set(self.values)) == 1 else f"{words}..{max(self.values):.4g}"


def judge(runs):
    """All verdicts on a list of runs."""
    verdicts = []
    by_case = {}
    for run in runs:
        by_case.setdefault((run.meta["scenario"], run.meta["case"]), []).append(run)
    for (scenario, case), mine in by_case.items():
        for claim in mine[0].meta["claims"]:
            if mine[0].meta["kernel"] == "debug" and not claim["debug"]:
                continue
            verdicts.append(judge_one(scenario, case, claim, mine, by_case))
    return verdicts


def judge_one(scenario, case, claim, mine, by_case):
    verdict = Verdict(scenario, case, claim, [], -math.inf, math.inf)
    try:
        for run in mine:
            seed = run.meta["seed"]
            peers = {c: r for (s, c), rs in by_case.items() for r in rs
                     if s == scenario and r.meta["seed"] == seed}
            bounds = [default if claim[key] is None else
                      evaluate(claim[key], case, peers, claim["window"])
                      for key, default in (("min", -math.inf), ("max", math.inf))]
            verdict.low, verdict.high = bounds
            verdict.values.append(evaluate(claim["metric"], case, peers, claim["window"]))
    except ValueError as error:
        verdict.problem = str(error)
    return verdict
