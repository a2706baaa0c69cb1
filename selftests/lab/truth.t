#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The lab's figures do not depend on its own load, and say so where they would.

    i1 ---\\        /--- i2     an idle pair: 20 kB, a pause, 20 kB ...
    a1 ----\\      /---- b1     N busy pairs of their own links: one long flow each, 100 Gbit/s
    aN ----- s1 ------- bN
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, f"{TOP}/selftests/lib")
sys.dont_write_bytecode = True

from tap import Tap  # noqa: E402

PAIRS = (1, 16, 64)
MOST_NS = 10
tap = Tap()


def link(a, b, queue="", rate="100gbit"):
    return (f'[[link]]\na = {json.dumps(a)}\nb = "{b}"\nrate = "{rate}"\ndelay = "500ns"\n'
            + (f'queue_b = "{queue}"\n' if queue else ""))


def pairs(n):
    """A scenario of N busy pairs beside an idle one."""
    busy = "".join(f'[[flow]]\nname = "busy"\nfrom = "a{i}"\nto = "b{i}"\ncc = "cubic"\nstop = "400us"\nsndbuf = "4m"\n'
                   for i in range(1, n + 1))
    return f"""title = "{n} busy pairs beside an idle one"
[run]
duration = "1ms"
[network]
hosts = ["i[1-2]", "a[1-{n}]", "b[1-{n}]"]
switches = ["s1"]
{link(["i[1-2]"] + [f"{side}[1-{n}]" for side in "ab"], "s1")}
{busy}
[[flow]]
name = "idle"
from = "i1"
to = "i2"
cc = "cubic"
mode = "persistent"
bytes = 20000
count = 45
think = "5us"
[sample]
ports = ["s1:i2"]
goodput = "200us"
[[claim]]
metric = "transfers('idle')"
min = 45
[[claim]]
metric = "goodput('busy')"
min = "{25 * n}gbit"
note = "0.4 of the run at 94 Gbit/s: 37 at most"
[[claim]]
metric = "fct_p50('idle')"
min = 0
[[claim]]
metric = "fct_p99('idle')"
min = 0
"""


def run(folder, text, *options):
    """(what lab run --json prints, what it says besides)"""
    file = folder / f"made{len(list(folder.glob('*.toml')))}.toml"
    file.write_text(text)
    done = subprocess.run([TOP / "tools/lab/lab", "run", file, "--json", "--out", folder, *options],
                          capture_output=True, text=True, check=False)
    try:
        return json.loads(done.stdout), done.stderr
    except ValueError:
        return None, done.stderr


def measured(answer):
    return {c["metric"]: c["measured"][0] for c in answer["claims"] if c["measured"]}


def test_pairs(folder):
    found = {}
    for n in PAIRS:
        answer, said = run(folder, pairs(n))
        tap.result(answer and not answer["late"] and all(c["passed"] for c in answer["claims"]),
                   f"{n} busy pairs: the idle one ends all its transfers, no program is late", said)
        found[n] = measured(answer) if answer else {}
    for metric in ("fct_p50('idle')", "fct_p99('idle')"):
        values = [found[n].get(metric, 0) * 1e9 for n in PAIRS]
        tap.result(values[0] > 0 and max(values) - min(values) <= MOST_NS,
                   f"{metric} is the same beside {PAIRS} busy pairs, within {MOST_NS} ns",
                   f"{[f'{v:.0f} ns' for v in values]}")


def test_warning(folder):
    """With stock User-Mode Linux's clock, whose reads take time, the lab must notice."""
    answer, said = run(folder, pairs(16), "--kernel-argument", "free-clock-calls=0")
    tap.result(answer and answer["late"] and "completion times" in str(answer["late"]),
               "a clock whose reads take time: results are marked as late", f"{answer and answer['late']}\n{said}")


def port(queue, cc="dctcp"):
    return f"""title = "marks by {queue}"
[run]
duration = "20ms"
[network]
hosts = ["h[1-3]"]
switches = ["s1"]
{link(["h1", "h2"], "s1", rate="1gbit")}
{link(["h3"], "s1", queue, rate="1gbit")}
[[flow]]
name = "long-5ms"
from = ["h1", "h2"]
to = "h3"
cc = "{cc}"
[[claim]]
metric = "marks"
min = 1
[[claim]]
metric = "xstat('marked_pkts')"
min = 1
[[claim]]
metric = "goodput('long-5ms') / 2mbit"
min = 1
"""


def test_marks(folder):
    """Marks are counted wherever the queue is; where nobody counts them, they are no number."""
    wred = "wred limit 1000000 ect min 30000 max 30000 prob 1"
    for queue, own in ((wred, True), (f"int switch_id 1 rate 1gbit / {wred}", True),
                       (f"csig rate 1gbit / int switch_id 1 rate 1gbit / {wred}", True),
                       ("codel ce_threshold 20us", False), ("fq_codel ce_threshold 20us", False)):
        answer, said = run(folder, port(queue))
        got = measured(answer) if answer else {}
        tap.result(got.get("marks", 0) >= 1, f"marks of {queue}", f"{got}\n{said}")
        counter = got.get("xstat('marked_pkts')", 0)
        tap.result(counter is not None and counter >= 1 if own else counter is None,
                   f"and {'the counter' if own else 'no counter'} of wred", str(got))
    answer, said = run(folder, port("hhf"))
    got = measured(answer) if answer else {}
    tap.result("marks" in got and got["marks"] is None, "of a qdisc that the lab does not know: not a number", f"{got}\n{said}")
    tap.result(got.get("goodput('long-5ms') / 2mbit", 0) > 1, "a unit in a quoted name is part of the name", str(got))


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        test_pairs(folder)
        test_warning(folder)
        test_marks(folder)
    return tap.done()


os.chdir(TOP)
sys.exit(main())
