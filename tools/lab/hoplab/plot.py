# SPDX-License-Identifier: GPL-2.0
"""Line plots as inline SVG, drawn by matplotlib; the same bytes for the same data."""
import html
import io
import math
from collections.abc import Iterable
from typing import Any

import matplotlib
from matplotlib.figure import Figure

from .chance import Interval

# Okabe and Ito's colours, which colour-blind readers can tell apart.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#8c6d31")
WIDTH_IN, HEIGHT_IN = 6.2, 3.3
POINTS = 1000
LEGEND = 12

Point = tuple[float, float]
# Bytes, median, 99th percentile, and its confidence interval.
SlowdownPoint = tuple[float, float, float, Interval]

matplotlib.use("svg")
matplotlib.rcParams.update({
    "svg.hashsalt": "hopcc", "svg.fonttype": "none", "font.size": 9, "axes.titlesize": 10,
    "axes.titleweight": "bold", "axes.titlelocation": "left", "axes.grid": True,
    "grid.color": "#e4e4e4", "axes.spines.top": False, "axes.spines.right": False,
    "axes.prop_cycle": matplotlib.cycler(color=COLOURS), "lines.linewidth": 1.1})


def thin(points: list[Point]) -> list[Point]:
    """At most two points a column, the least and the largest, so that peaks stay."""
    if len(points) <= POINTS:
        return points
    size = math.ceil(2 * len(points) / POINTS)
    kept: list[Point] = []
    for i in range(0, len(points), size):
        part = points[i:i + size]
        kept += sorted({min(part, key=lambda p: p[1]), max(part, key=lambda p: p[1])})
    return kept


def cdf(values: Iterable[float]) -> list[Point]:
    """Values -> points of their distribution function. It ends below 1 where values are infinite."""
    ordered = sorted(values)
    if len(ordered) > POINTS:
        # Quantiles are enough for the eye; the ends are kept.
        ordered = [ordered[round(i * (len(ordered) - 1) / POINTS)] for i in range(POINTS + 1)]
    return [(v, (i + 1) / len(ordered)) for i, v in enumerate(ordered) if math.isfinite(v)]


def plot(title: str, x_label: str, y_label: str, series: list[tuple[str, list[Point]]], log_x: bool = False,
         steps: bool = False, top: float | None = None) -> str:
    """series: [(name, [(x, y)])] -> SVG text, empty when there is nothing to show; a name without points stays."""
    series = [(name, thin(points)) for name, points in series]
    if not any(points for _, points in series):
        return ""
    figure = Figure(figsize=(WIDTH_IN, HEIGHT_IN), layout="constrained")
    axes = figure.add_subplot(title=title, xlabel=x_label, ylabel=y_label)
    for number, (name, points) in enumerate(series):
        axes.plot([x for x, _ in points], [y for _, y in points], drawstyle="steps-post" if steps else "default",
                  label=name if number < LEGEND else None)
    if log_x:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter("{x:g}")
        axes.xaxis.set_minor_formatter("")
    axes.set_ylim(bottom=0, top=top)
    if len(series) > 1:
        axes.legend(fontsize=8, framealpha=0.85, edgecolor="none", loc="best",
                    title=f"and {len(series) - LEGEND} more" if len(series) > LEGEND else None)
    return inline(figure, title)


def plot_slowdown(title: str, series: dict[str, list[SlowdownPoint]]) -> str:
    """series: case -> its points -> SVG text, empty when there is nothing to show. Infinite is a mark on the upper edge."""
    series = {case: points for case, points in series.items() if len(points) > 1}
    if not any(math.isfinite(tail) for points in series.values() for _, _, tail, _ in points):
        return ""
    figure = Figure(figsize=(WIDTH_IN, HEIGHT_IN), layout="constrained")
    axes = figure.add_subplot(title=f"{title}; p99, dashed p50", xlabel="bytes", ylabel="slowdown")
    for number, (case, points) in enumerate(series.items()):
        colour = COLOURS[number % len(COLOURS)]
        draw_tail(axes, points, colour, case if number < LEGEND else None)
        ended = [p for p in points if math.isfinite(p[1])]
        axes.plot([p[0] for p in ended], [p[1] for p in ended], linestyle="--", color=colour)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter("{x:g}")
    axes.legend(fontsize=8, edgecolor="none", loc="upper left", bbox_to_anchor=(1, 1))
    return inline(figure, title)


def draw_tail(axes: Any, points: list[SlowdownPoint], colour: str, label: str | None) -> None:
    """The 99th percentiles with their intervals; an interval without an upper end has none in the picture either."""
    ended = [p for p in points if math.isfinite(p[2])]
    error = [[tail - low if math.isfinite(low) else 0 for _, _, tail, (low, _) in ended],
             [high - tail if math.isfinite(high) else 0 for _, _, tail, (_, high) in ended]]
    axes.errorbar([p[0] for p in ended], [p[2] for p in ended], error, marker=".", capsize=2, color=colour, label=label)
    never = [p[0] for p in points if math.isinf(p[2])]
    if never:
        axes.plot(never, [1] * len(never), "^", transform=axes.get_xaxis_transform(), clip_on=False, color=colour)


def inline(figure: Any, title: str) -> str:
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    svg = text.getvalue()
    label = f'<svg role="img" aria-label="{html.escape(title)}"'
    return svg[svg.index("<svg"):].replace("<svg", label, 1)
