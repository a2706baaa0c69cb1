# SPDX-License-Identifier: GPL-2.0
"""Line plots as inline SVG: no library, the same bytes for the same data."""
import html
import math

WIDTH, HEIGHT = 560, 300
LEFT, RIGHT, TOP, BOTTOM = 64, 12, 30, 44
# Okabe and Ito's colours, which colour-blind readers can tell apart.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#8c6d31")
POINTS = 2 * (WIDTH - LEFT - RIGHT)


def ticks(low, high, count=5):
    """Round values that cover low..high."""
    span = (high - low) or 1
    step = 10 ** math.floor(math.log10(span / count))
    step *= next(m for m in (1, 2, 5, 10) if span / (step * m) <= count)
    first = math.ceil(low / step - 1e-9)
    return [i * step for i in range(first, math.floor(high / step + 1e-9) + 1)]


def decades(low, high):
    return [10.0 ** i for i in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)]


def thin(points):
    """At most two points a pixel column, the least and the largest: peaks survive."""
    if len(points) <= POINTS:
        return points
    size = math.ceil(2 * len(points) / POINTS)
    kept = []
    for i in range(0, len(points), size):
        part = points[i:i + size]
        ends = {min(part, key=lambda p: p[1]), max(part, key=lambda p: p[1])}
        kept += sorted(ends)
    return kept


def cdf(values):
    """Sorted values -> points of the distribution function."""
    ordered = sorted(values)
    if len(ordered) > 400:
        # Quantiles are enough for the eye; the ends are kept.
        ordered = [ordered[round(i * (len(ordered) - 1) / 400)] for i in range(401)]
    return [(v, (i + 1) / len(ordered)) for i, v in enumerate(ordered)]


class Axes:
    def __init__(self, series, log_x, y_max):
        xs = [p[0] for _, points in series for p in points]
        ys = [p[1] for _, points in series for p in points]
        self.log = log_x and min(xs) > 0
        self.x_ticks = decades(min(xs), max(xs)) if self.log else ticks(min(xs), max(xs))
        self.x_low = min(xs + self.x_ticks) if self.log else min(xs)
        self.x_high = max(xs + self.x_ticks) if self.log else max(xs)
        self.y_high = y_max or max(ys) * 1.05 or 1
        self.y_ticks = ticks(0, self.y_high)

    def x(self, value):
        low, high = self.x_low, self.x_high
        if self.log:
            value, low, high = (math.log10(v) for v in (value, low, high))
        return LEFT + (value - low) / ((high - low) or 1) * (WIDTH - LEFT - RIGHT)

    def y(self, value):
        return HEIGHT - BOTTOM - min(value / self.y_high, 1) * (HEIGHT - TOP - BOTTOM)

    def frame(self, x_label, y_label):
        out = []
        for v in self.y_ticks:
            y = self.y(v)
            out.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
                       f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{v:g}</text>')
        for v in self.x_ticks:
            x = self.x(v)
            out.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"/>'
                       f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 15}" text-anchor="middle">{v:g}</text>')
        middle = (TOP + HEIGHT - BOTTOM) / 2
        out.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 8}" text-anchor="middle">'
                   f'{html.escape(x_label)}</text>'
                   f'<text transform="translate(13 {middle}) rotate(-90)" text-anchor="middle">'
                   f'{html.escape(y_label)}</text>')
        return out


def plot(title, x_label, y_label, series, log_x=False, y_max=None):
    """series: [(name, [(x, y)])] -> SVG text, empty when there is nothing to show."""
    series = [(name, thin(points)) for name, points in series if points]
    if not series:
        return ""
    axes = Axes(series, log_x, y_max)
    out = [f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{html.escape(title)}">',
           f'<text class="title" x="{LEFT}" y="16">{html.escape(title)}</text>']
    out += axes.frame(x_label, y_label)
    for number, (name, points) in enumerate(series):
        colour = COLOURS[number % len(COLOURS)]
        path = " ".join(f"{axes.x(x):.1f},{axes.y(y):.1f}" for x, y in points)
        out.append(f'<polyline points="{path}" stroke="{colour}"><title>{html.escape(name)}</title>'
                   "</polyline>")
    return "\n".join(out + ["</svg>", legend([name for name, _ in series])])


def legend(names):
    if len(names) < 2:
        return ""
    shown = [f'<span><i style="background:{COLOURS[i % len(COLOURS)]}"></i>{html.escape(n)}</span>'
             for i, n in enumerate(names[:12])]
    more = f"<span>and {len(names) - 12} more</span>" if len(names) > 12 else ""
    return f'<p class="legend">{"".join(shown)}{more}</p>'
