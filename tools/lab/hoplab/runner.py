# SPDX-License-Identifier: GPL-2.0
"""Run scenarios: every case with every seed is a guest of its own."""
import concurrent.futures
import copy
import os
import re
import shutil
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from . import LabError, build, guest, ready, results, topology

DEBUG_DURATION_NS = 10_000_000
# Between the end of the traffic and the guest's own limit.
GRACE_S = 120


@dataclass
class Job:
    """One guest to run, and what came of it."""
    scenario: object
    case: object
    seed: int
    kernel: str
    out: Path
    outcome: object = None
    digest: str = ""
    traffic_s: float = 0    # CPU time of the traffic alone, without boot and set-up
    file: Path = None
    into: Path = None       # another file for the result than its name in `out`

    @property
    def label(self):
        return f"{self.scenario.name}/{self.case.name}/{self.seed}"

    @property
    def target(self):
        return self.into or self.out / f"{self.scenario.name}.{self.case.name}.{self.seed}.jsonl"


def shortened(case):
    """A case as the debug kernel, 20 times slower, can run it."""
    case = copy.deepcopy(case)
    duration = case.run["debug_duration"] or min(case.run["duration"], DEBUG_DURATION_NS)
    for flow in case.flows:
        # What would start later starts in the same order within what is left.
        flow["start"] = flow["start"] * duration // case.run["duration"]
        flow["stagger"] = flow["stagger"] * duration // case.run["duration"]
        if flow["stop"]:
            flow["stop"] = max(1, flow["stop"] * duration // case.run["duration"])
    for change in case.changes:
        change["at"] = change["at"] * duration // case.run["duration"]
    case.sample["goodput"] = min(case.sample["goodput"], duration // 10)
    case.run.update(duration=duration, window=None, warmup=0)
    return case


def plan(scenarios, args, out):
    jobs = []
    for scenario in scenarios:
        for case in scenario.cases:
            if args.only and case.name not in args.only:
                continue
            ready = shortened(case) if args.kernel == "debug" else case
            seeds = [args.seed] if args.seed is not None else ready.run["seeds"]
            if args.kernel == "debug":
                seeds = seeds[:1]
            jobs += [Job(scenario, ready, seed, args.kernel, out) for seed in seeds]
    if not jobs:
        cases = [c.name for s in scenarios for c in s.cases]
        raise LabError(f"--only {' '.join(args.only)}: no such case; there are: {' '.join(cases)}")
    seen = {}
    for job in jobs:
        # Results, table and claims know a run by its name alone.
        other = seen.setdefault(job.target, job)
        if other is not job:
            raise LabError(f"{other.scenario.file} and {job.scenario.file} both give "
                           f"{job.target.name}: run one at a time, or rename one")
    return jobs


def need_nft(jobs, path="/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"):
    """Refuse before anything is built; path: where the guest looks for it."""
    walled = [job.scenario.name for job in jobs if any(h["nft"].strip() for h in job.case.hosts)]
    if walled and not shutil.which("nft", path=path):
        raise LabError(f"{walled[0]} has firewalls, and there is no nft: run tools/setup/setup.sh check")


def need_kernel_modules(case):
    """Return True if a run may need the kernel's own modules. Most runs do not, and do not wait for their build."""
    words = re.findall(r"[a-z0-9_]+", repr([case.network, case.hosts, case.links, case.routes, case.flows]))
    return bool(case.network["bridges"] or any(h["nft"].strip() for h in case.hosts)
                or {"netfilter", "bridge", "mpls", "encap"} & set(words)
                or (build.modular("NET_SCH") | build.modular("TCP_CONG")) & set(words))


def run_all(jobs, workers, arguments=()):
    """Run all jobs; a generator of those that ended, as they end."""
    need_nft(jobs)
    built = ready.prepare(jobs[0].kernel, kernel_modules=any(need_kernel_modules(j.case) for j in jobs))
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        waiting = [pool.submit(run_one, job, built, arguments) for job in jobs]
        try:
            for done in concurrent.futures.as_completed(waiting):
                yield done.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            guest.end_all()
            raise


def run_one(job, built, arguments):
    folder = build.scratch("run-")
    net = topology.build(job.case, job.seed)
    topology.write(net, folder)
    with open(folder / "output", "wb") as output:
        job.outcome = guest.run(boot_of(job, folder, built, output, arguments))
    job.outcome.folder = folder
    if not job.outcome.problem and job.outcome.status:
        job.outcome.problem = f"the run ended with status {job.outcome.status}"
        job.outcome.lines = []
    if job.outcome.problem:
        # A panic comes on the guest's output, after what its programs said.
        job.outcome.lines += build.read(folder / "output").splitlines()[-20:]
    if not job.outcome.problem:
        keep(job, net, folder)
        shutil.rmtree(folder)
    return job


def boot_of(job, folder, built, output, arguments):
    duration_s = (job.case.run["duration"] + topology.T0_NS) / 1e9
    return guest.Boot(
        command='"$HOPLAB_GUEST/scenario" "$HOPLAB_GUEST/traffic"', run=folder, built=built,
        arguments=list(arguments), seed=job.seed, timeout_s=job.case.run["timeout"] / 1e9,
        limit_s=duration_s + GRACE_S, output=output, begin="begin", variables={"HOPLAB_T0_NS": topology.T0_NS})


def keep(job, net, folder):
    job.file = job.target
    meta = results.meta_line(job.scenario, job.case, job.seed, job.kernel, net)
    job.traffic_s = job.outcome.cpu_s - job.outcome.setup_cpu_s
    parts = [folder / "flow.jsonl", folder / "sample.jsonl"]
    if job.case.sample["trace"]:
        parts.append(folder / "trace.jsonl")
        parts[-1].write_text(results.trace_lines((folder / "trace").read_text(), job.case.sample["trace"]))
    if topology.firewalls(net):
        parts.append(folder / "counters.jsonl")
        parts[-1].write_text("".join(results.counter_lines(node, (folder / f"{node}.counters").read_text())
                                     for node in topology.firewalls(net)))
    job.digest = results.write(job.file, meta, parts)


class Progress:
    """One line that says how far it is; on no terminal, a line a job."""

    def __init__(self, total, quiet=False):
        self.total, self.done, self.start, self.quiet = total, 0, None, quiet
        self.tty = sys.stderr.isatty()

    def step(self, job):
        self.done += 1
        if self.quiet:
            return
        # Of the runs alone: the first may have waited for a build.
        self.start = self.start or time.monotonic() - job.outcome.wall_s
        wall = time.monotonic() - self.start
        left = wall / self.done * (self.total - self.done)
        line = (f"[lab] {self.done}/{self.total} {job.label}: "
                f"{'FAILED' if job.outcome.problem else 'done'} in {job.outcome.wall_s:.1f} s"
                f"{f', about {left:.0f} s to go' if left >= 1 else ''}")
        if self.tty:
            print(f"\r\033[K{line}", end="\n" if self.done == self.total else "",
                  file=sys.stderr, flush=True)
        else:
            print(line, file=sys.stderr, flush=True)


def default_out():
    return Path(os.environ.get("HOPLAB_OUT", build.TOP / "lab-results"))
