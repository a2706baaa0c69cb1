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


def cell(values):
    """A figure: a value a seed, or one that is the same in six seeds."""
    values = values if isinstance(values, list) else [values] * 6
    return referee.Cell({seed: value if isinstance(value, referee.Sample) else referee.Sample(value)
                         for seed, value in enumerate(values, 1)})


def table_of(better, *lines):
    """One column; lines: (values, bytes, unfinished transfers)."""
    made = referee.Table("made", "made", [Column(title="made", metric="drops", better=better)], [
        referee.Line(str(number), [cell(values)], [], set(), received, *unfinished)
        for number, (values, received, *unfinished) in enumerate(lines)])
    referee.rank(made)
    return made


def ranks_of(better, *lines):
    """The rank of each line, or its best and its worst rank where it is undecided."""
    cells = [line.cells[0] for line in table_of(better, *lines).lines]
    return [c.best if c.best == c.worst else (c.best, c.worst) for c in cells]


HEAVY = [1, 2000, 5, 40, 3, 300]
DRAWN = [referee.Sample(value, [value / 9, value * 9]) for value in (10, 11, 12, 10, 11, 12)]


def ranking():
    nan, inf = math.nan, math.inf
    for what, found, wanted in (
            ("less is better", ranks_of("low", (1, 9), (3, 9), (2, 9)), [1, 3, 2]),
            ("more is better", ranks_of("high", (1, 9), (3, 9), (2, 9)), [3, 1, 2]),
            ("a difference below 2 % is none", ranks_of("high", (0.99, 9), (1, 9), (0.97, 9)), [1, 1, 3]),
            ("what depends on the seed is undecided", ranks_of("low", (HEAVY, 9), (30, 9), (31, 9)), [(1, 3), (1, 2), (2, 3)]),
            ("a ratio that is the same in each seed is not", ranks_of("low", ([2 * v for v in HEAVY], 9), (HEAVY, 9)), [2, 1]),
            ("it is undecided also where more is better", ranks_of("high", (HEAVY, 9), (30, 9)), [(1, 2), (1, 2)]),
            ("below six seeds all but the same is undecided", ranks_of("low", ([1] * 5, 9), ([2] * 5, 9), ([2] * 5, 9)),
             [(1, 3), (1, 2), (1, 2)]),
            ("only seeds that both have are compared", ranks_of("low", ([1] * 6 + [99] * 6, 9), (2, 9)), [1, 2]),
            ("few transfers that differ are no difference", ranks_of("low", (DRAWN, 9), (20, 9)), [(1, 2), (1, 2)]),
            ("many drops are more than none", ranks_of("low", (0, 9), (7, 9), (0, 9)), [1, 3, 1]),
            ("what was not measured is last", ranks_of("low", (nan, 9), (inf, 9), (5, 9)), [3, 2, 1]),
            ("what never happened in a seed is worst", ranks_of("high", ([9] * 5 + [inf], 9), (5, 9), (4, 9)), [3, 1, 2]),
            ("who delivers nothing is last", ranks_of("low", (0, 0), (7, 9), (nan, nan)), [2, 1, 2]),
            ("who delivers less than half of the best is last", ranks_of("low", (0, 4), (7, 9), (8, 5)), [3, 1, 2]),
            ("who leaves transfers unfinished is behind", ranks_of("low", (0, 9, 1), (7, 9), (1, 9, 2)), [2, 1, 3]),
            ("but before who does not deliver", ranks_of("low", (5, 9, 1), (7, 9), (0, 1)), [2, 1, 3]),
            ("a column without `better` has no ranks", ranks_of("", (1, 9), (2, 9)), [0, 0])):
        tap.equal(f"ranks: {what}", found, wanted)


def words():
    made = table_of("low", (HEAVY, 9), (30, 9), (31, 9))
    tap.equal("an undecided rank is printed as such", [row[1] for row in referee.rows_of(made)[1:]],
              ["1.0 to 2.0, undecided", "1.0 to 3.0, undecided", "2.0 to 3.0, undecided"])
    tap.equal("a wide interval is no first rank, and has no negative end", [row[2] for row in referee.rows_of(made)[1:]],
              ["30.00", "22.50 (1.00 to 2000.00)", "31.00"])
    tap.equal("whose ranks are undecided is run with more seeds", referee.undecided([made]), {"made": {"0", "1", "2"}})
    tap.equal("a decided one is not", referee.undecided([table_of("low", (1, 9), (2, 9))]), {"made": set()})
    for most, ends in ((12, [6, 12]), (3, [3]), (6, [6]), (20, [6, 12, 20])):
        seeds = [list(part) for part in referee.rounds(most)]
        tap.equal(f"at most {most} seeds: rounds until {ends}", ([part[-1] for part in seeds], sum(seeds, [])),
                  (ends, list(range(1, most + 1))))


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
    tap.claim("who stalls or panics is behind", {*order[3:]} == {"stalls", "panics"}, str(order))
    tap.equal("who stalls is no better than who panics", [entry["mean_rank"] for entry in found["ranks"][3:]], [4, 4])
    drops = {line["cc"]: line["columns"][-1]["value"] for line in found["situations"][0]["lines"]}
    tap.claim("who floods loses most", drops["floods"] > 10 * max(drops["reno"], drops["vegas"]), str(drops))
    tap.equal("what one seed shows of the others is undecided", [entry["decided"] for entry in found["ranks"]],
              [False] * 3 + [True] * 2)
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
    tap.equal("they never end", [one["value"] for one in lines["starves"]["columns"] if one["title"] == "all done after"], [None])
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
words()
refusals()
with tempfile.TemporaryDirectory() as name:
    starving(Path(name) / "starving")
    again(Path(name), verdict(Path(name)))
sys.exit(tap.done())
