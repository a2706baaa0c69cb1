# SPDX-License-Identifier: GPL-2.0
"""One HTML file with tables and plots, and files of those that go into documents; no network."""
import html

from . import slowdown, table
from .metrics import Measures
from .plot import cdf, plot, plot_slowdown

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 1180px; margin: 2em auto; padding: 0 1em;
	color: #222; background: #fff }
h1 { font-size: 1.5em } h2 { font-size: 1.2em; margin-top: 2.5em; border-top: 1px solid #ccc;
	padding-top: 1em } .note { color: #666; margin-top: -.6em }
table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums;
	display: block; overflow-x: auto }
th, td { padding: .25em .7em; text-align: right; border-bottom: 1px solid #e4e4e4; white-space: nowrap }
th:nth-child(-n+2), td:nth-child(-n+2) { text-align: left }
.claims td { white-space: normal } .pass { color: #067a46 } .fail { color: #b00020; font-weight: 600 }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(440px, 1fr)); gap: 1.2em;
	margin-top: 1.5em } svg { width: 100%; height: auto }
"""


def write(path, runs, verdicts):
    """Write the page, and slowdowns by size as SCENARIO-CASE-GROUP.svg beside it; returns its path."""
    by_scenario = {}
    for run in runs:
        by_scenario.setdefault(run.meta["scenario"], []).append(run)
    parts = [section(name, mine, [v for v in verdicts if v.scenario == name])
             for name, mine in by_scenario.items()]
    head = "".join(f'<li><a href="#{esc(n)}">{esc(n)}</a>: {esc(r[0].meta["title"])}</li>'
                   for n, r in by_scenario.items())
    path.write_text(
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>hopcc lab</title>'
        f"<style>{STYLE}</style><h1>hopcc lab: real Linux networking in virtual time</h1>"
        f"<ul>{head}</ul>{''.join(parts)}</html>\n")
    for name, mine in by_scenario.items():
        for words, picture in slowdown_plots(slowdown.rows(mine)):
            (path.parent / f"{'-'.join([name, *words])}.svg").write_text(picture + "\n")
    return path


def esc(value):
    return html.escape(str(value))


def section(name, runs, verdicts):
    meta = runs[0].meta
    source = f'<p class="note">{esc(meta["source"])}</p>' if meta["source"] else ""
    rows = [table.HEAD[1:-1]] + [table.row(r)[1:-1] for r in runs]
    groups = table.group_rows(runs)
    by_group = f"<p></p>{grid([r[1:] for r in groups])}" if groups else ""
    by_size = slowdown.rows(runs)
    sizes = ("<p>Slowdown by flow size; over seeds: mean and 95 % confidence interval.</p>"
             f"{grid([slowdown.HEAD[1:]] + [r.words()[1:] for r in by_size])}") if by_size else ""
    late = "".join(f'<p class="fail">Late: {esc(run.label)}: {esc(words)}</p>' for run in runs for words in run.late())
    pictures = [*(picture for _, picture in slowdown_plots(by_size)), *plots(runs)]
    return (f'<h2 id="{esc(name)}">{esc(meta["title"])}</h2>{source}{late}{grid(rows)}{by_group}{sizes}'
            f'{claims(verdicts)}<div class="plots">{"".join(pictures)}</div>')


def slowdown_plots(rows):
    """
    The 99th percentile and the median over the size: a plot for cases that differ in the last word.
    Yields (words that name it, SVG).
    """
    together = {}
    for row in (r for r in rows if not r.is_all):
        first, _, last = row.case.rpartition("-")
        points = together.setdefault((row.group, first), {}).setdefault(last, [])
        points.append((row.size_bytes, row.slowdown[50], row.slowdown[99]))
    for (group, first), by_case in together.items():
        picture = plot_slowdown(f"slowdown by size: {group}{f', {first}' if first else ''}", by_case)
        if picture:
            yield [word for word in (first, group) if word], picture


def grid(rows):
    head = "".join(f"<th>{esc(c)}</th>" for c in rows[0])
    body = "".join("<tr>" + "".join(f"<td>{esc(c)}</td>" for c in r) + "</tr>" for r in rows[1:])
    return f"<table><tr>{head}</tr>{body}</table>"


def claims(verdicts):
    if not verdicts:
        return ""
    rows = "".join(
        f"<tr><td><code>{esc(v.claim.metric)}</code></td><td>{esc(v.case)}</td>"
        f"<td>{esc(v.measured)}</td><td>{esc(v.required)}</td>"
        f'<td class="{"pass" if v.passed else "fail"}">{"pass" if v.passed else "FAIL"}</td>'
        f"<td>{esc(v.claim.source or v.claim.note)}</td></tr>" for v in verdicts)
    return ('<p></p><table class="claims"><tr><th>claim</th><th>case</th><th>measured</th>'
            f"<th>required</th><th></th><th>source</th></tr>{rows}</table>")


def plots(runs):
    """One line a case: its first seed."""
    first = {}
    for run in runs:
        first.setdefault(run.meta["case"], run)
    for port in dict.fromkeys(p for r in runs for p in r.meta["ports"]):
        having = {c: r for c, r in first.items() if port in r.queue}
        yield plot(f"queue of {port} over time", "ms", "packets",
                   [(c, queue_points(r, port)) for c, r in having.items()])
        yield plot(f"queue of {port}, distribution in the window", "packets", "share of time",
                   [(c, cdf(Measures(r).samples(port))) for c, r in having.items()], steps=True)
    for case, run in first.items():
        yield plot(f"throughput by flow: {case}", "ms", "Mbit/s", throughput(run))
    for group in dict.fromkeys(f["group"] for r in runs for f in r.meta["flows"] if f["bytes"]):
        having = {c: Measures(r) for c, r in first.items()
                  if group in (f["group"] for f in r.meta["flows"])}
        yield plot(f"completion times: {group}", "ms", "share of transfers",
                   [(c, cdf([v * 1e3 for v in m.fcts(group)])) for c, m in having.items()],
                   log_x=True, steps=True)


def queue_points(run, port):
    times, pkts, *_ = run.queue[port]
    return [(t / 1e6, p) for t, p in zip(times, pkts)]


def throughput(run, most=40):
    """Of flows without a size: the others are in the plot of completion times."""
    series = []
    for flow in [f for f in run.meta["flows"] if not f["bytes"]][:most]:
        times, totals = run.goodput.get(flow["id"], ((), ()))
        points = [(t1 / 1e6, (b1 - b0) * 8e3 / (t1 - t0))
                  for t0, t1, b0, b1 in zip(times, times[1:], totals, totals[1:]) if t1 > t0]
        series.append((f"{flow['group']} {flow['from']} ({flow['cc']})", points))
    return series
