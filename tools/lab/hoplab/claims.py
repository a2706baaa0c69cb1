# SPDX-License-Identifier: GPL-2.0
"""Claims: formulas over metrics, decided seed by seed.

A formula is arithmetic over metrics: `queue_p95 - {K}`, `cubic.queue_mean /
dctcp_ms.queue_mean`, `case("incast-40").fct_max`, `jain("long")`. A metric alone
takes the scenario's first sampled port or all flows. A number may have a unit:
`60ms` is 0.06, `1gbit` is 1e9.

A formula with the time of a transfer that never ended has no value, whatever its
arithmetic is, and its claim fails: 1 / fct_max would be 0, and a ratio to a case
that hung would be as large as anybody likes.
"""
import ast
import inspect
import math
import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from .chance import Redraw
from .metrics import Measures, metrics
from .results import Run
from .schema import Case, Claim
from .units import NEVER, RATES_BPS, TIMES_NS

# The operators of ast take one argument or two.
OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.Div: operator.truediv, ast.Pow: operator.pow, ast.USub: operator.neg}
FUNCTIONS: dict[str, Callable[..., Any]] = {"sqrt": math.sqrt, "abs": abs, "min": min, "max": max}
UNITS = {**{u: v / 1e9 for u, v in TIMES_NS.items()}, **RATES_BPS}
# Nobody reads a longer formula; Python's own recursion limit allows this length.
FORMULA_MAX = 400
# Metrics that are infinite where a planned transfer did not end.
TIMES_OF_TRANSFERS = ("fct_", "slowdown_", "last_end")


def parse(formula: str | float) -> ast.expr:
    if len(str(formula)) > FORMULA_MAX:
        raise ValueError(f"a formula has {FORMULA_MAX} characters at most")

    def number(match: re.Match[str]) -> str:
        # A quoted name stays as it is, whatever it contains: "long-5ms".
        return match[0] if match["quoted"] else repr(float(match["value"]) * UNITS[match["unit"]])
    units = "|".join(sorted(UNITS, key=len, reverse=True))
    plain = re.sub(rf"(?P<quoted>\"[^\"]*\"|'[^']*')"
                   rf"|(?<![\w.])(?P<value>[0-9]+(?:\.[0-9]+)?)(?P<unit>{units})\b", number, str(formula))
    try:
        return ast.parse(plain.strip(), mode="eval").body
    except SyntaxError:
        raise ValueError(f"{formula!r} is not a formula") from None


def check(formula: str, cases: dict[str, Case], own: str) -> str:
    """Refuse a formula that cannot be evaluated for the case named `own`, before anything runs."""
    Checker(formula, cases, own).visit(parse(formula))
    return formula


def constant(formula: str | float | None) -> float | None:
    """The value of a formula without metrics, else None."""
    try:
        return None if formula is None else evaluate(formula, "", {}, None)
    except ValueError:
        return None


class Checker:
    def __init__(self, formula: str, cases: dict[str, Case], own: str) -> None:
        self.formula, self.cases, self.own = formula, cases, own

    def refuse(self, what: str) -> NoReturn:
        raise ValueError(f"{self.formula!r}: {what}")

    def visit(self, node: ast.expr) -> None:
        if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
            self.visit(node.left)
            self.visit(node.right)
        elif isinstance(node, ast.UnaryOp) and type(node.op) in OPERATORS:
            self.visit(node.operand)
        elif isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
            if abs(node.value) == math.inf:
                self.refuse("a number is too large")
        elif isinstance(node, ast.Call):
            self.call(node)
        else:
            self.metric(node, [], [])

    def call(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS:
            if not node.args or node.keywords:
                self.refuse(f"{node.func.id} takes formulas in parentheses")
            for argument in node.args:
                self.visit(argument)
        else:
            self.metric(node.func, node.args, node.keywords)

    def metric(self, node: ast.expr, args: list[ast.expr], named: list[ast.keyword]) -> None:
        case: Any = self.own
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
        if not all(isinstance(a, ast.Constant) for a in [*args, *(k.value for k in named)]):
            self.refuse("a metric's argument is a name in quotes or a number")
        signature = inspect.signature(getattr(Measures, name))
        try:
            given = signature.bind(self, *constants(args), **keywords(named))
        except TypeError:
            self.refuse(f"{name} takes: {' '.join(list(signature.parameters)[1:]) or 'nothing'}")
        given.apply_defaults()
        self.arguments(self.cases[case], dict(given.arguments))

    def arguments(self, case: Case, given: dict[str, Any]) -> None:
        """Check a metric's arguments; a parameter of one name means the same in all metrics."""
        allowed: dict[str, list[str]] = {
            "port": case.ports, "event": case.sample.trace, "counter": case.counters,
            "group": list(dict.fromkeys(f.name for f in case.flows))}
        limits = {"share": 100, "threshold": 1, "low_bytes": math.inf, "high_bytes": math.inf,
                  "rate_bps": math.inf, "span_s": math.inf}
        del given["self"]
        for key, value in given.items():
            known: list[Any] = allowed.get(key, [value])
            if key in limits:
                if not isinstance(value, (int, float)) or not 0 <= value <= limits[key]:
                    self.refuse(f"{key} {value!r}: write 0 to {limits[key]}")
            elif value not in known and not (known and value is None):
                self.refuse(f"{key} {value!r}: allowed: {' '.join(known) or 'none is there'}")
            elif not isinstance(value, (str, type(None))):
                self.refuse(f"{key} {value!r}: write a name in quotes")


def constants(nodes: list[ast.expr]) -> list[Any]:
    """The arguments of a metric: Checker allows constants only."""
    return [node.value for node in nodes if isinstance(node, ast.Constant)]


def keywords(nodes: list[ast.keyword]) -> dict[str, Any]:
    return {node.arg or "": node.value.value for node in nodes if isinstance(node.value, ast.Constant)}


def case_name(node: ast.expr) -> Any:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "case" and len(node.args) == 1:
        return getattr(node.args[0], "value", None)
    return None


def evaluate(formula: str | float, own: str, runs: dict[str, Run], window: Sequence[int] | None,
             redraw: Redraw | None = None) -> float:
    """The formula's value for one run, or for transfers drawn from it; `runs`: case -> run of the same seed."""
    def metric(node: ast.expr, args: list[Any], named: dict[str, Any]) -> Any:
        if isinstance(node, ast.Attribute):
            case, name = case_name(node.value), node.attr
        else:
            case, name = own, getattr(node, "id")
        if case not in runs:
            raise ValueError(f"case {case!r} was not run")
        found = getattr(Measures(runs[case], window, redraw), name)(*args, **named)
        if math.isinf(found) and name.startswith(TIMES_OF_TRANSFERS):
            raise Never(f"{name}: {NEVER}: a planned transfer did not end")
        return found

    def value(node: ast.expr) -> Any:
        if isinstance(node, ast.Constant):
            return float(node.value)    # ** of large whole numbers would take for ever
        if isinstance(node, ast.BinOp):
            return OPERATORS[type(node.op)](value(node.left), value(node.right))
        if isinstance(node, ast.UnaryOp):
            return OPERATORS[type(node.op)](value(node.operand))
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS:
                return FUNCTIONS[node.func.id](*map(value, node.args))
            return metric(node.func, constants(node.args), keywords(node.keywords))
        return metric(node, [], {})

    try:
        return float(value(parse(formula)))
    except (ZeroDivisionError, TypeError, KeyError, OverflowError) as error:
        raise ValueError(f"{formula}: {type(error).__name__}: {error}") from None


class Never(ValueError):
    """A formula needs the time of a transfer that never ended."""


@dataclass
class Decision:
    """One claim about one case, over all its seeds."""
    scenario: str
    case: str
    claim: Claim
    values: list[float]
    low: float
    high: float
    problem: str | None = None

    @property
    def passed(self) -> bool:
        return not self.problem and bool(self.values) and \
            all(self.low <= v <= self.high for v in self.values)

    @property
    def required(self) -> str:
        words = [f">= {self.low:.4g}"] if self.low != -math.inf else []
        words += [f"<= {self.high:.4g}"] if self.high != math.inf else []
        return " and ".join(words)

    @property
    def measured(self) -> str:
        if self.problem:
            return self.problem
        low, high = (NEVER if math.isinf(v) else f"{v:.4g}" for v in (min(self.values), max(self.values)))
        return low if len(set(self.values)) == 1 else f"{low}..{high}"


def decide(runs: list[Run]) -> list[Decision]:
    """Decide all claims on a list of runs."""
    decisions = []
    by_case: dict[tuple[str, str], list[Run]] = {}
    for run in runs:
        by_case.setdefault((run.meta["scenario"], run.meta["case"]), []).append(run)
    for (scenario, case), mine in by_case.items():
        for claim in (Claim(**item) for item in mine[0].meta["claims"]):
            if mine[0].meta["kernel"] == "debug" and not claim.debug:
                continue
            decisions.append(decide_one(scenario, case, claim, mine, by_case))
    return decisions


def decide_one(scenario: str, case: str, claim: Claim, mine: list[Run],
               by_case: dict[tuple[str, str], list[Run]]) -> Decision:
    decision = Decision(scenario, case, claim, [], -math.inf, math.inf)
    try:
        for run in mine:
            seed = run.meta["seed"]
            peers = {c: r for (s, c), rs in by_case.items() for r in rs
                     if s == scenario and r.meta["seed"] == seed}
            decision.low, decision.high = (
                default if bound is None else evaluate(bound, case, peers, claim.window)
                for bound, default in ((claim.min, -math.inf), (claim.max, math.inf)))
            decision.values.append(evaluate(claim.metric, case, peers, claim.window))
    except ValueError as error:
        decision.problem = str(error)
    return decision
