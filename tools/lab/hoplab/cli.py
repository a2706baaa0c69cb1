# SPDX-License-Identifier: GPL-2.0
"""The commands."""
import argparse
import json
import os
import re
import shlex
import shutil
import signal
import sys
import tempfile
import time
import traceback
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from . import (LabError, build, claims, digests, entrants, flent, guest, inputs, kinds, pages, ready, referee,
               runner, scenario, slowdown, table, topology)
from .claims import Decision
from .results import Run
from .runner import Choice, Job
from .scenario import Scenario

# The object that add_subparsers() returns; its class has no public name.
Commands = Any


def cmd_setup(args: Namespace) -> int:
    built = ready.prepare(args.kernel, kernel_modules=args.all)
    print(f"the lab is ready, {args.kernel} kernel: {built.kdir}")
    return 0


def cmd_list(args: Namespace) -> int:
    rows = [("scenario", "cases", "claims", "what")]
    for name in scenario.available() + scenario.available("figures") + scenario.available(referee.FOLDER):
        found = scenario.load(name)
        rows.append((name, str(len(found.cases)), str(sum(len(c.claims) for c in found.cases[:1])),
                     found.title))
    width = [max(len(r[i]) for r in rows) for i in range(3)]
    for r in rows:
        print(f"{r[0]:<{width[0]}}  {r[1]:>{width[1]}}  {r[2]:>{width[2]}}  {r[3]}")
    return 0


def chosen(args: Namespace) -> list[Scenario]:
    words = args.scenarios + (scenario.available("figures") if args.figures else [])
    if not words:
        raise LabError(f"{args.name}: which scenario? there are: {' '.join(scenario.available())}")
    return [scenario.load(word) for word in words]


def choice(args: Namespace) -> Choice:
    return Choice(args.only, args.seed, args.seeds, args.kernel)


def cmd_run(args: Namespace) -> int:
    scenarios = chosen(args)
    out = Path(args.out) if args.out else runner.default_out()
    out.mkdir(parents=True, exist_ok=True)
    jobs = runner.plan(scenarios, choice(args), out)
    progress = runner.Progress(len(jobs))
    start = time.monotonic()
    for job in runner.run_all(jobs, args.jobs, args.kernel_argument):
        progress.step(job)
    runs = [Run(j.file) for j in jobs if j.file]
    decisions = claims.decide(runs)
    show_results(args, jobs, runs, decisions, out)
    packets = sum(r.packets for r in runs)
    speed = (f"; {packets / 1e6:.2f} million packets, a million in "
             f"{sum(j.traffic_s for j in jobs) * 1e6 / packets:.1f} s of CPU time") if packets else ""
    print(f"[lab] {len(jobs)} runs in {time.monotonic() - start:.1f} s{speed}", file=sys.stderr)
    return 1 if any(j.outcome.problem for j in jobs) or not all(v.passed for v in decisions) else 0


def show_results(args: Namespace, jobs: list[Job], runs: list[Run], decisions: list[Decision], out: Path) -> None:
    traffic_s = {j.label: j.traffic_s for j in jobs}
    if args.tap:
        table.show_tap(jobs, decisions)
        return
    if args.json:
        print(json.dumps(as_json(jobs, runs, decisions), indent=1))
        return
    if runs:
        table.show(runs, traffic_s)
    table.show_claims(decisions)
    page = draw(out, runs, decisions) if runs else None
    show_failures(jobs)
    for job in jobs if args.digest else []:
        print(f"{job.digest or 'failed':64}  {job.label}")
    if page:
        print(f"\nresults: {out}/*.jsonl; plots: {page}")


def show_failures(jobs: list[Job]) -> None:
    """Show each failure once: runs that failed alike are named beside the first of them."""
    alike: dict[str, list[Job]] = {}
    for job in jobs:
        if job.outcome.problem:
            alike.setdefault(guest.signature(job.outcome), []).append(job)
    for first, *others in alike.values():
        guest.describe(first.outcome, first.label)
        if others:
            print(f"lab: {len(others)} more failed alike: {' '.join(j.label for j in others)}", file=sys.stderr)


def draw(out: Path, runs: list[Run], decisions: list[Decision]) -> Path:
    # Imported here, since matplotlib takes a second to load.
    from . import report
    return report.write(out / "report.html", runs, decisions)


def as_json(jobs: list[Job], runs: list[Run], decisions: list[Decision]) -> dict[str, Any]:
    return {
        "runs": [{"run": j.label, "digest": j.digest, "wall_s": round(j.outcome.wall_s, 2),
                  "file": str(j.file), "problem": j.outcome.problem, "lines": j.outcome.lines,
                  "log": j.outcome.log and str(j.outcome.log)} for j in jobs],
        "table": [dict(zip(table.HEAD, table.row(r))) for r in runs],
        "groups": [dict(zip(table.GROUP_HEAD, r)) for r in table.group_rows(runs)[1:]],
        "unfinished": [{"run": r.label, **line} for r in runs for line in table.unfinished_lines(r)],
        "late": [{"run": r.label, "what": words} for r in runs for words in r.late()],
        "slowdown": [r.as_json() for r in slowdown.rows(runs)],
        "claims": [{"scenario": v.scenario, "case": v.case, "metric": v.claim.metric,
                    "measured": [slowdown.finite(x) for x in v.values], "required": v.required, "passed": v.passed,
                    "problem": v.problem, "source": v.claim.source} for v in decisions]}


def cmd_jobs(args: Namespace) -> int:
    """A command a run, for GNU parallel: its last word is the result's file."""
    program = os.path.relpath(build.LAB / "lab")
    kernel = ["--kernel", args.kernel] if args.kernel != "release" else []
    scenarios = chosen(args)
    for job in runner.plan(scenarios, choice(args), Path(args.out)):
        print(shlex.join([program, "measure", *kernel, job.scenario.word, job.case.name,
                          str(job.seed), str(job.target)]))
    return 0


def cmd_measure(args: Namespace) -> int:
    """Run one case with one seed. No claim is decided: a claim may be about several runs."""
    found = scenario.load(args.scenario)
    into = Path(args.file)
    job, = runner.plan([found], Choice([args.case], args.seed, kernel=args.kernel), into.parent)
    job.into = into
    into.parent.mkdir(parents=True, exist_ok=True)
    for _ in runner.run_all([job], 1):
        pass
    if job.outcome.problem:
        guest.describe(job.outcome, job.label)
        return 1
    print(f"{job.digest}  {job.label}")
    return 0


def cmd_digests(args: Namespace) -> int:
    """Compare the digests of a few results with the recorded ones."""
    jobs: list[Job] = []
    with tempfile.TemporaryDirectory() as folder:
        for name, case, seed in digests.CHOSEN:
            jobs += runner.plan([scenario.load(name)], Choice([case], seed), Path(folder))
        for _ in runner.run_all(jobs, args.jobs):
            pass
    show_failures(jobs)
    if any(job.outcome.problem for job in jobs):
        return 1
    found, kdir = {job.label: job.digest for job in jobs}, build.kernel_script("release")
    if args.record:
        digests.record(args.file, found, kdir)
        print(f"recorded in {args.file}")
        return 0
    holds, lines = digests.compare(args.file, found, kdir)
    print("\n".join([*(f"{digest}  {label}" for label, digest in found.items()), *lines]))
    return 0 if holds else 1


def cmd_report(args: Namespace) -> int:
    files = sorted(Path(args.folder).glob("*.jsonl"))
    if not files:
        raise LabError(f"{args.folder}: no results (*.jsonl) there")
    runs = [Run(f) for f in files]
    decisions = claims.decide(runs)
    table.show(runs, {})
    table.show_claims(decisions)
    print(f"\nplots: {draw(Path(args.folder), runs, decisions)}")
    return 0 if all(v.passed for v in decisions) else 1


def cmd_export(args: Namespace) -> int:
    """Results for another program, of one run or of all in a folder."""
    given = Path(args.results)
    files = sorted(given.glob("*.jsonl")) if given.is_dir() else [given]
    if not files:
        raise LabError(f"{args.results}: no results (*.jsonl) there")
    out = Path(args.out) if args.out else files[0].parent
    out.mkdir(parents=True, exist_ok=True)
    for file in files:
        print(flent.write(Run(file), out))
    return 0


def cmd_table(args: Namespace) -> int:
    folder = Path(args.out) if args.out else runner.default_out()
    found = {}
    for word in args.scenarios:
        one = scenario.load(word)
        found[one.name] = pages.lines(one, folder)
    if args.page:
        nowhere = pages.fill(args.page, found)
        if nowhere:
            raise LabError(f"{args.page}: no line <!-- lab table {nowhere[0]} -->")
        return 0
    for name, lines in found.items():
        print("\n".join([f"<!-- lab table {name} -->", *lines, "<!-- end -->"]))
    return 0


def cmd_judge(args: Namespace) -> int:
    """Congestion controls in every situation, ranked. One that panics or hangs is a result: the status stays 0."""
    kdir = build.kernel_script("release")
    default = entrants.settings()["default"]
    given = [entrants.resolve(word, kdir, args.port, args.cc_name) for word in args.what]
    against = [cc for cc in args.against or default["against"] if cc not in [e.cc for e in given]]
    there = given + [entrants.resolve(cc, kdir) for cc in against]
    scenarios = [referee.load(word, there) for word in referee.situations(args.only)]
    out = Path(args.out) if args.out else runner.default_out() / f"referee-{'-'.join(e.cc for e in given)}"
    out.mkdir(parents=True, exist_ok=True)
    jobs: list[Job] = []
    known: dict[int, referee.Seen] = {}
    wanted: dict[str, set[str]] | None = None
    for seeds in referee.rounds(args.seeds or default["seeds"]):
        added = referee.plan(scenarios, there, seeds, out, wanted)
        progress = runner.Progress(len(added))
        for job in runner.run_all(added, args.jobs):
            progress.step(job)
        jobs += added
        found = referee.tables(jobs, known)
        wanted = referee.undecided(found)
        if not any(wanted.values()):
            break
    show_verdict(args, jobs, found, out)
    return 0


def show_verdict(args: Namespace, jobs: list[Job], found: list[referee.Table], out: Path) -> None:
    from . import report    # matplotlib takes a second to load
    page = report.write_verdict(out / "report.html", jobs, found)
    if args.page:
        pages.fill(args.page, referee.for_pages(found))
    if args.json:
        print(json.dumps(referee.as_json(found, referee.digest(jobs)), indent=1))
        return
    for one in found:
        print(f"{one.name}: {one.title}")
        print("\n".join(table.aligned(referee.rows_of(one), 1)) + "\n")
        if one.pairs:
            print("own share of half, beside\n" + "\n".join(table.aligned(referee.pair_rows(one), 1)) + "\n")
    print("ranks\n" + "\n".join(table.aligned(referee.rank_rows(found), 1)))
    if any(referee.undecided(found).values()):
        print("a rank from A to B is undecided: it depends on the seeds")
    show_failures(jobs)
    print(f"\n{referee.digest(jobs)}  all {len(jobs)} results\nresults: {out}/*.jsonl; pictures: {page}")


def cmd_shell(args: Namespace) -> int:
    found = scenario.load(args.scenario)
    case = found.case_named(args.only) if args.only else found.cases[0]
    if case is None:
        raise LabError(f"no case {args.only!r}; there are: {' '.join(c.name for c in found.cases)}")
    if not sys.stdin.isatty():
        raise LabError("shell: needs a terminal")
    built = ready.prepare(args.kernel)
    folder = build.scratch("shell-")
    net = topology.build(case)
    inputs.write(net, folder)
    print(f"namespaces: {' '.join(net.nodes)}; as: ip netns exec {net.nodes[0]} ip route get "
          f"{topology.address(net, case.network.hosts[-1])}; `flows &` starts the scenario's flows; exit ends the guest",
          flush=True)
    outcome = guest.run(guest.Boot(
        command='"$HOPLAB_GUEST/scenario" bash --norc -i', run=folder, built=built,
        timeout_s=0, tty=True, variables={"PS1": "lab# ", "HOPLAB_TUN": "1"}))
    os.system("stty sane")
    shutil.rmtree(folder)
    if outcome.problem:
        guest.describe(outcome, "shell")
    return 1 if outcome.problem else 0


# Programs of all kinds may wait by calls that fail: here these calls take time, as in stock kernels.
EXEC_CLOCK = "free-clock-calls=0"
# Where Debian's package has Mininet; the guest's programs are this machine's.
MININET = "/usr/lib/python3/dist-packages/mininet"


def cmd_exec(args: Namespace) -> int:
    return run_command(args, {})


def run_command(args: Namespace, variables: dict[str, object]) -> int:
    built = ready.prepare(args.kernel, args.modules)
    run = build.scratch("exec-")
    outcome = guest.run(guest.Boot(
        command=shlex.join(args.command), run=run, built=built, seed=args.seed,
        timeout_s=args.timeout, limit_s=args.limit, variables={"HOPLAB_TUN": "1", **variables},
        arguments=[EXEC_CLOCK, *args.kernel_argument]))
    if outcome.problem:
        guest.describe(outcome, shlex.join(args.command))
    else:
        shutil.rmtree(run)
    return outcome.status


def cmd_mininet(args: Namespace) -> int:
    """A Mininet script in a guest, or mn."""
    if not Path(MININET).exists():
        raise LabError(f"no Mininet in {MININET}: apt-get install --no-install-recommends mininet iputils-ping")
    if args.script != "mn" and not Path(args.script).is_file():
        raise LabError(f"no script {args.script}")
    paths = [str(build.TOP / "tools/mininet"), *filter(None, [os.environ.get("PYTHONPATH")])]
    args.command = [str(build.LAB / "guest/mininet"), args.script, *args.arguments]
    args.modules, args.kernel_argument = None, []
    return run_command(args, {"PYTHONPATH": ":".join(paths), "LD_PRELOAD": build.BUILD / "guest/polls.so"})


def whole(low: int, high: int) -> Callable[[str], int]:
    """An option's value: a whole number."""
    def parse(given: str) -> int:
        try:
            return kinds.integer(low, high)(int(given) if given.isascii() and given.isdigit() else given)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None
    return parse


SEED = whole(0, kinds.SEED_MAX)


def seconds(given: str) -> float:
    if not re.fullmatch(r"[0-9]{1,7}(\.[0-9]+)?", given):
        raise argparse.ArgumentTypeError(f"{given!r}: write seconds, 0 to 9999999")
    return float(given)


def add_kernel(command: argparse.ArgumentParser) -> None:
    command.add_argument("--kernel", choices=build.KERNELS, default="release",
                         help="debug: KASAN, UBSAN, lockdep, kmemleak")


def add_kernel_argument(command: argparse.ArgumentParser) -> None:
    command.add_argument("--kernel-argument", action="append", default=[], metavar="WORD",
                         help="one more word for the guest kernel's command line; may be repeated")


def add_run(commands: Commands) -> None:
    run = commands.add_parser("run", help="run scenarios, by name or file; measure, decide claims, draw")
    run.add_argument("scenarios", nargs="*", metavar="SCENARIO")
    run.add_argument("--figures", action="store_true", help="those of scenarios/figures, too big for a gate")
    add_kernel(run)
    run.add_argument("--seed", type=SEED, help="this seed instead of the scenario's")
    run.add_argument("--seeds", type=whole(1, 1000), help="the first N of the scenario's seeds", metavar="N")
    run.add_argument("--jobs", type=whole(1, 1024), default=len(os.sched_getaffinity(0)),
                     help="guests at once")
    run.add_argument("--out", metavar="DIR", help="results (lab-results)")
    run.add_argument("--only", action="append", metavar="CASE", help="this case; may be repeated")
    run.add_argument("--json", action="store_true", help="print all as JSON")
    run.add_argument("--tap", action="store_true", help="print claims as TAP, for prove")
    add_kernel_argument(run)
    run.add_argument("--digest", action="store_true", help="print the SHA-256 of each result file")
    run.set_defaults(call=cmd_run)


def add_jobs(commands: Commands) -> None:
    jobs = commands.add_parser("jobs", help="print a command a run, for GNU parallel on many machines")
    jobs.add_argument("scenarios", nargs="*", metavar="SCENARIO")
    jobs.add_argument("--figures", action="store_true", help="those of scenarios/figures, too big for a gate")
    add_kernel(jobs)
    jobs.add_argument("--seed", type=SEED, help="this seed instead of the scenario's")
    jobs.add_argument("--out", metavar="DIR", default="lab-results", help="where results go (lab-results)")
    jobs.add_argument("--only", action="append", metavar="CASE", help="this case; may be repeated")
    jobs.set_defaults(call=cmd_jobs, seeds=None)
    one = commands.add_parser("measure", help="one run, its results to FILE; decide claims by `report`")
    one.add_argument("scenario", metavar="SCENARIO")
    one.add_argument("case", metavar="CASE")
    one.add_argument("seed", type=SEED, metavar="SEED")
    one.add_argument("file", metavar="FILE")
    add_kernel(one)
    one.set_defaults(call=cmd_measure)


def add_export(commands: Commands) -> None:
    export = commands.add_parser("export", help="results as data files of Flent")
    export.add_argument("results", metavar="DIR|FILE", help="results of `run`, or one of them")
    export.add_argument("--flent", action="store_true", required=True, help="as Flent's *.flent.gz")
    export.add_argument("--out", metavar="DIR", help="where the files go (beside the results)")
    export.set_defaults(call=cmd_export)


def add_table(commands: Commands) -> None:
    tables = commands.add_parser("table", help="tables of results for the documentation: a row a case")
    tables.add_argument("scenarios", nargs="+", metavar="SCENARIO")
    tables.add_argument("--out", metavar="DIR", help="where their results are (lab-results)")
    tables.add_argument("--page", type=Path, metavar="FILE", help="put them into this page, at their marks")
    tables.set_defaults(call=cmd_table)


def add_judge(commands: Commands) -> None:
    one = commands.add_parser("judge", help="congestion controls in every situation, beside others, ranked")
    one.add_argument("what", nargs="+", metavar="CC",
                     help="a name, tcp_x.c, its folder, or tcp_x.ko built for the lab's kernel")
    one.add_argument("--against", action="append", metavar="CC", help="beside this one (cubic reno bbr dctcp); may be repeated")
    one.add_argument("--port", metavar="QDISC", help="what a switch port of 1 Gbit/s has for these")
    one.add_argument("--cc-name", metavar="NAME", help="its name, where its module is not tcp_NAME")
    one.add_argument("--seeds", type=whole(1, 1000), help="at most seeds 1 to N (12); from the 7th on while ranks are undecided", metavar="N")
    one.add_argument("--only", action="append", metavar="SITUATION", help="this situation; may be repeated")
    one.add_argument("--jobs", type=whole(1, 1024), default=len(os.sched_getaffinity(0)), help="guests at once")
    one.add_argument("--out", metavar="DIR", help="results (lab-results/referee-CC)")
    one.add_argument("--page", type=Path, metavar="FILE", help="put the tables into this page, at their marks")
    one.add_argument("--json", action="store_true", help="print all as JSON")
    one.set_defaults(call=cmd_judge)


def cmd_ns3(args: Namespace) -> int:
    from . import ns3
    return ns3.command(args)


def add_ns3(commands: Commands) -> None:
    one = commands.add_parser("ns3", help="the network and flows of a scenario in the simulator ns-3, for comparison")
    one.add_argument("scenario", metavar="SCENARIO")
    one.add_argument("--only", metavar="CASE")
    one.add_argument("--seed", type=SEED, default=1)
    one.add_argument("--json", action="store_true", help="an object a case")
    one.set_defaults(call=cmd_ns3)


def add_limits(command: argparse.ArgumentParser) -> None:
    add_kernel(command)
    command.add_argument("--seed", type=SEED, default=1)
    command.add_argument("--timeout", type=seconds, default=600, metavar="S", help="own time: no load exceeds it (600)")
    command.add_argument("--limit", type=seconds, default=0, metavar="S", help="virtual time (none)")


def add_mininet(commands: Commands) -> None:
    run = commands.add_parser("mininet", help="run a Mininet script, or mn, in virtual time")
    add_limits(run)
    run.add_argument("script", metavar="SCRIPT|mn")
    run.add_argument("arguments", nargs=argparse.REMAINDER, metavar="ARGUMENT")
    run.set_defaults(call=cmd_mininet)


def add_exec(commands: Commands) -> None:
    run = commands.add_parser("exec", help="run a command as root in a guest, modules loaded")
    add_limits(run)
    add_kernel_argument(run)
    run.add_argument("--modules", metavar="DIR", help="load the .ko of DIR, build none")
    run.add_argument("command", nargs=argparse.REMAINDER, metavar="CMD")
    run.set_defaults(call=cmd_exec)


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}\n")


def parser() -> Parser:
    top = Parser(prog="lab", description="real Linux networking in virtual time")
    top.add_argument("--debug", action="store_true", help="a failure of the lab shows its Python traceback")
    commands = top.add_subparsers(dest="name", required=True, metavar="COMMAND")
    setup = commands.add_parser("setup", help="build all that guests need; at once when done before")
    add_kernel(setup)
    setup.add_argument("--all", action="store_true",
                       help="also the kernel's own modules, which are else built on first use")
    setup.set_defaults(call=cmd_setup)
    commands.add_parser("list", help="the scenarios").set_defaults(call=cmd_list)
    add_run(commands)
    add_jobs(commands)
    again = commands.add_parser("report", help="table, claims and plots of results, again")
    again.add_argument("folder", metavar="DIR")
    again.set_defaults(call=cmd_report)
    add_export(commands)
    add_table(commands)
    add_judge(commands)
    same = commands.add_parser("digests", help="are the bytes of a few results the recorded ones, on this CPU, too?")
    same.add_argument("--record", action="store_true", help="record those of this machine")
    same.add_argument("--file", type=Path, default=digests.FILE, help="where they are recorded")
    same.add_argument("--jobs", type=whole(1, 1024), default=len(os.sched_getaffinity(0)), help="guests at once")
    same.set_defaults(call=cmd_digests)
    shell = commands.add_parser("shell", help="a shell in a scenario's network, in real time")
    shell.add_argument("scenario", metavar="SCENARIO")
    shell.add_argument("--only", metavar="CASE")
    add_kernel(shell)
    shell.set_defaults(call=cmd_shell)
    add_exec(commands)
    add_mininet(commands)
    add_ns3(commands)
    return top


def interrupted(*_: Any) -> NoReturn:
    raise KeyboardInterrupt


def main(argv: list[str]) -> int:
    args = parser().parse_args(argv)
    if args.name == "exec":
        args.command = args.command[1:] if args.command[:1] == ["--"] else args.command
        if not args.command:
            parser().error("exec: which command?")
    signal.signal(signal.SIGTERM, interrupted)
    try:
        status: int = args.call(args)
        return status
    except Exception as error:
        if args.debug:
            raise
        if getattr(args, "tap", False):
            # Beside the claims, as a test's log may lack stderr.
            print(f"# {type(error).__name__}: {error}")
        return fault(error)
    except KeyboardInterrupt:
        print("lab: interrupted", file=sys.stderr)
        return 130


def fault(error: Exception) -> int:
    """Print one line about an error. Return: the exit status."""
    if isinstance(error, (LabError, OSError)):
        print(f"lab: {error}", file=sys.stderr)
        return 2
    place = traceback.extract_tb(error.__traceback__)[-1]
    print(f"lab: a fault of the lab itself: {type(error).__name__}: {error} "
          f"({Path(place.filename).name}:{place.lineno}); lab --debug shows where", file=sys.stderr)
    return 3
