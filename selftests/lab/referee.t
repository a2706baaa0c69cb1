#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
`lab judge`: congestion controls from source, from the kernel's source and from a module are ranked; one that
panics, stalls or floods is a result, and the others' results stay as they are.
"""
import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, f"{TOP}/tools/lab")
sys.path.insert(0, f"{TOP}/selftests/lib")
sys.dont_write_bytecode = True

from hoplab import referee  # noqa: E402
from hoplab.schema import Column  # noqa: E402
from tap import Tap  # noqa: E402

FAULTY = TOP / "selftests/lab/faulty"
tap = Tap()


def lab(*words):
    return subprocess.run([f"{TOP}/tools/lab/lab", "judge", *map(str, words)], capture_output=True, text=True, cwd=TOP)


def ranks_of(better, *lines):
    """Ranks in one column; lines: (mean, half of the interval, bytes, unfinished transfers)."""
    made = referee.Table("made", "made", [Column(title="made", metric="drops", better=better)], [
        referee.Line(str(number), [referee.Cell(mean, half)], [], set(), received, *unfinished)
        for number, (mean, half, received, *unfinished) in enumerate(lines)])
    referee.rank(made)
    return [line.cells[0].rank for line in made.lines]


def ranking():
    nan = math.nan
    for what, found, wanted in (
            ("less is better", ranks_of("low", (1, nan, 9), (3, nan, 9), (2, nan, 9)), [1, 3, 2]),
            ("more is better", ranks_of("high", (1, nan, 9), (3, nan, 9), (2, nan, 9)), [3, 1, 2]),
            ("intervals that overlap are equal", ranks_of("low", (1, 0.6, 9), (2, 0.6, 9), (4, 0.1, 9)), [1, 1, 3]),
            ("a difference below 2 % is none", ranks_of("high", (0.99, nan, 9), (1, nan, 9), (0.97, nan, 9)), [1, 1, 3]),
            ("what was not measured is last", ranks_of("low", (nan, nan, 9), (math.inf, nan, 9), (5, nan, 9)), [3, 2, 1]),
            ("who delivers nothing is last", ranks_of("low", (0, nan, 0), (7, nan, 9), (nan, nan, nan)), [2, 1, 2]),
            ("who delivers less than half of the best is last", ranks_of("low", (0, nan, 4), (7, nan, 9), (8, nan, 5)), [3, 1, 2]),
            ("who leaves transfers unfinished is behind", ranks_of("low", (0, nan, 9, 1), (7, nan, 9), (1, nan, 9, 2)), [2, 1, 3]),
            ("but before who does not deliver", ranks_of("low", (5, nan, 9, 1), (7, nan, 9), (0, nan, 1)), [2, 1, 3]),
            ("a column without `better` has no ranks", ranks_of("", (1, nan, 9), (2, nan, 9)), [0, 0])):
        tap.equal(f"ranks: {what}", found, wanted)


def refusals():
    for words, wanted in ((["nobody"], "no such file, and no congestion control"), (["x.o"], "has no BPF JIT"),
                          (["x.ko"], "x.ko: no such file"), (["reno", "--only", "war"], "no such situation")):
        done = lab(*words)
        tap.claim(f"{' '.join(words)}: {wanted}", done.returncode == 2 and wanted in done.stderr, done.stderr)


def verdict(folder):
    """A situation with faulty congestion controls. Return the module built from the kernel's source."""
    done = lab("vegas", *(FAULTY / f"tcp_{name}.c" for name in ("panics", "stalls", "floods")), "--against", "reno",
               "--only", "long", "--seeds", 1, "--out", folder, "--json")
    tap.claim("a congestion control that panics is a result, not a failure", done.returncode == 0, done.stderr[-500:])
    found = json.loads(done.stdout)
    problems = {line["cc"]: line["problems"] for line in found["situations"][0]["lines"]}
    tap.claim("the panic is named", any("panic" in problem for problem in problems["panics"]), str(problems))
    tap.equal("the others are unharmed", [cc for cc in problems if problems[cc]], ["panics"])
    order = [entry["cc"] for entry in found["ranks"]]
    tap.claim("who floods, stalls or panics is behind", {*order[:2]} == {"reno", "vegas"} and order[2] == "floods", str(order))
    tap.equal("who stalls is no better than who panics", [entry["mean_rank"] for entry in found["ranks"][3:]], [4, 4])
    page = (folder / "report.html").read_text()
    tap.claim("the page has pictures, and the panic", page.count("<svg") >= 4 and "long/panics/1" in page)
    return next(TOP.glob("build/referee/*/tcp_vegas.ko"))


def starving(folder):
    """One that lets every second connection starve has the shortest completion times of those that end."""
    done = lab(FAULTY / "tcp_starves.c", "--against", "dctcp", "--against", "reno", "--only", "incast", "--seeds", 1,
               "--out", folder, "--json")
    tap.claim("a congestion control that starves connections is a result", done.returncode == 0, done.stderr[-500:])
    found = json.loads(done.stdout)
    tap.equal("it is the last", [entry["cc"] for entry in found["ranks"]][-1], "starves")
    lines = {line["cc"]: line for line in found["situations"][0]["lines"]}
    tap.equal("in every column", [one["rank"] for one in lines["starves"]["columns"]], [3] * 4)
    tap.equal("transfers that did not end are counted", {cc: (line["unfinished"], line["planned"]) for cc, line in lines.items()},
              {"starves": (16, 32), "dctcp": (0, 32), "reno": (0, 32)})
    tap.equal("they never end", [one["mean"] for one in lines["starves"]["columns"] if one["title"] == "all done after"], [None])
    page = (folder / "report.html").read_text()
    tap.claim("table and picture say so", "<td>16 of 32</td>" in page and "starves: 16 of 32 unfinished" in page
              and "<td>never</td>" in page)


def again(folder, module):
    """The same congestion control as a module gives the same results."""
    words = ("--against", "vegas", "--only", "long", "--seeds", 1, "--out", folder / "again")
    done = lab(module, *words)
    tap.claim("a module built for the lab's kernel is taken as it is", done.returncode == 0, done.stderr[-500:])
    files = [path / "long.vegas.1.jsonl" for path in (folder, folder / "again")]
    tap.equal("and has the same results, byte for byte", files[1].read_bytes(), files[0].read_bytes())


ranking()
refusals()
with tempfile.TemporaryDirectory() as name:
    starving(Path(name) / "starving")
    again(Path(name), verdict(Path(name)))
sys.exit(tap.done())
