#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""hopcc-exporter without the modules, and the dashboard of its metrics, whose schema is that of Grafana 9;
prints TAP. netns/hopstat.t compares the values with traffic.

    exporter.py PROMTOOL
"""
import copy
import itertools
import json
import os
import re
import socket
import subprocess
import sys
import tempfile

TOP = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../..")
sys.path[:0] = [os.path.join(TOP, "selftests/lib"), os.path.join(TOP, "tools/hopstat")]
sys.dont_write_bytecode = True

from hopstat_lib import series  # noqa: E402
from tap import Tap             # noqa: E402

EXPORTER = os.path.join(TOP, "tools/hopstat/hopcc-exporter")
DASHBOARD = os.path.join(TOP, "tools/grafana/hopcc.json")
PANELS = {"row", "timeseries", "stat"}
COLUMNS = 24        # of Grafana's grid
tap = Tap()


def run(*words, text="", **env):
    return subprocess.run(words, input=text, capture_output=True, text=True, check=False,
                          env=dict(os.environ, **env))


def see_metrics(promtool, folder):
    """Return the text of the metrics of a system without modules."""
    path = os.path.join(folder, "hopcc.prom")
    done = run(EXPORTER, "--textfile", path, "--interval", "0.05", "--sample", "0.01", "--count", "1")
    with open(path, encoding="ascii") as file:
        text = file.read()
    tap.claim("a textfile, and no file beside it", not done.returncode and os.listdir(folder) == ["hopcc.prom"],
              f"{done.stderr}{os.listdir(folder)}")
    checked = run(promtool, "check", "metrics", text=text)
    tap.claim("promtool check metrics has nothing to say", not checked.returncode and text and not
              (checked.stdout + checked.stderr), checked.stdout + checked.stderr)
    checked = run(promtool, "check", "metrics", text="# HELP hopcc_bad_bits X.\n# TYPE hopcc_bad_bits counter\n"
                  "hopcc_bad_bits 1\n")
    tap.claim("but it has of a counter without _total", checked.returncode and "_total" in checked.stderr,
              checked.stderr)
    return text


def see_refusals():
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "prometheus_client.py"), "w", encoding="ascii") as file:
            file.write("raise ImportError\n")
        done = run(EXPORTER, PYTHONPATH=folder)
    tap.claim("without the library it names the package", done.returncode == 1 and done.stderr.count("\n") == 1 and
              "apt-get install python3-prometheus-client" in done.stderr, done.stderr)
    with socket.create_server(("127.0.0.1", 0)) as server:
        done = run(EXPORTER, "--listen", f"127.0.0.1:{server.getsockname()[1]}")
    tap.claim("a port in use: one line, exit 2", done.returncode == 2 and "in use" in
              done.stderr.splitlines()[-1] and "Traceback" not in done.stderr, done.stderr)
    done = run(EXPORTER, "--listen", "127.0.0.1:70000")
    tap.claim("a port that does not exist is refused", done.returncode == 2 and "1 to 65535" in done.stderr,
              done.stderr)


def see_series():
    """The worst value against a search of all values; the number of series."""
    worst = series.Worst(max, 10)
    values = [(at / 8, (at * 7919) % 101 + (500 if at == 200 else 0)) for at in range(800)]
    wrong = []
    for at_s, value in values:
        worst.add(value, at_s)
        # A value may stay for a slot longer.
        least = max(v for t, v in values if at_s - 10 <= t <= at_s)
        most = max(v for t, v in values if at_s - 10 - 2 * series.SLOT_S <= t <= at_s)
        if not least <= worst.value(at_s) <= most:
            wrong.append((at_s, worst.value(at_s), least, most))
    tap.claim("the worst value is that of its time, to a second", not wrong, f"{wrong[:3]}")
    tap.claim("and is none after it", worst.value(150) is None and len(worst.slots) == 0)
    readings = series.Readings("x", "X.", ("a",), max, 10)
    for number in range(series.SERIES_MAX + 500):
        readings.add((str(number),), 1, 0)
    rows = {labels: count for labels, count, _, _ in readings.rows(0)}
    tap.claim("10000 series at most; the readings of others are in one", len(rows) == series.SERIES_MAX + 1 and
              rows[(series.OTHER,)] == 500, f"{len(rows)}")


def names_of(text):
    """Return the names of the samples that the families of a text may have."""
    names = set()
    for name, kind in re.findall(r"^# TYPE (\S+) (\S+)$", text, re.M):
        names |= {name + "_sum", name + "_count"} if kind == "summary" else {name}
    return names


def expressions(dashboard):
    """Yield the queries of all panels, and the metrics of the variables."""
    for panel in dashboard["panels"]:
        for target in panel.get("targets", ()):
            yield target["expr"]
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query":
            yield re.fullmatch(r"label_values\((\w+), \w+\)", variable["query"]["query"])[1]


def overlap(one, other):
    return all(one[at] < other[at] + other[size] and other[at] < one[at] + one[size]
               for at, size in (("x", "w"), ("y", "h")))


def faults(dashboard, names):
    """Return what Grafana, or a reader, would miss."""
    found = []
    panels = dashboard["panels"]
    if len({panel["id"] for panel in panels}) != len(panels) or not dashboard["title"] or \
            not isinstance(dashboard["schemaVersion"], int):
        found.append("title, schemaVersion or the panels' numbers")
    known = {variable["name"] for variable in dashboard["templating"]["list"]} | {"__rate_interval"}
    found += [f"variable {name}" for name in set(re.findall(r"\$\{?(\w+)", json.dumps(dashboard)))
              if name not in known | {"__all"}]
    for panel in panels:
        grid = panel["gridPos"]
        if panel["type"] not in PANELS or not panel["title"] or grid["x"] + grid["w"] > COLUMNS:
            found.append(f"panel {panel['title']}")
        if panel["type"] != "row" and not (panel["targets"] and panel["description"] and
                                           panel["fieldConfig"]["defaults"]["unit"]):
            found.append(f"{panel['title']}: targets, description or unit")
        for target in panel.get("targets", ()):
            if target["datasource"] != dict(type="prometheus", uid="${datasource}"):
                found.append(f"{panel['title']}: datasource")
    found += [f"{a['title']} covers {b['title']}" for a, b in itertools.combinations(panels, 2)
              if overlap(a["gridPos"], b["gridPos"])]
    for query in expressions(dashboard):
        found += [f"{name} is no metric" for name in re.findall(r"\bhopcc_\w+", query) if name not in names]
    return found


def rules_of(dashboard):
    """The queries as rules, which promtool parses."""
    rules = [dict(record=f"q{n}", expr=expr.replace("$__rate_interval", "5m"))
             for n, expr in enumerate(expressions(dashboard))]
    return json.dumps(dict(groups=[dict(name="hopcc", rules=rules)]))


def see_dashboard(promtool, text):
    with open(DASHBOARD, encoding="ascii") as file:
        dashboard = json.load(file)
    names = names_of(text)
    found = faults(dashboard, names)
    tap.claim("the dashboard: panels, grid, variables, and each metric is the exporter's", not found, f"{found}")
    shown = set(re.findall(r"\bhopcc_\w+", " ".join(expressions(dashboard))))
    missing = {name for name in names if re.search("_(sum|max|min)$", name)} - shown
    tap.claim("it shows all that is added up", not missing, f"{missing}")
    checked = run(promtool, "check", "rules", "/dev/stdin", text=rules_of(dashboard))
    tap.claim("promtool parses all its queries", not checked.returncode and f"{len(list(expressions(dashboard)))} "
              "rules found" in checked.stdout, checked.stdout + checked.stderr)
    bad = copy.deepcopy(dashboard)
    bad["panels"][1]["targets"][0]["expr"] = "rate(hopcc_nothing_total[$__rate_interval"
    bad["panels"][2]["gridPos"]["x"] = 0
    found = faults(bad, names)
    checked = run(promtool, "check", "rules", "/dev/stdin", text=rules_of(bad))
    tap.claim("an unknown metric, a covered panel and a query that does not parse are found", len(found) == 2 and
              checked.returncode, f"{found}")


def main(promtool):
    see_refusals()
    with tempfile.TemporaryDirectory() as folder:
        text = see_metrics(promtool, folder)
    see_series()
    see_dashboard(promtool, text)
    return tap.done()


sys.exit(main(sys.argv[1]))
