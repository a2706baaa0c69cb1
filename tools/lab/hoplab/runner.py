# SPDX-License-Identifier: GPL-2.0
"""Run scenarios: every case with every seed is a guest of its own."""
import concurrent.futures
import copy
import dataclasses
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from typing import BinaryIO

from . import LabError, batches, build, connections, guest, halves, inputs, kernels, ready, record, topology
from .guest import Outcome
from .scenario import Scenario
from .schema import Case
from .topology import Network

DEBUG_DURATION_NS = 10_000_000
# Between the end of the traffic and the guest's own limit.
GRACE_S = 120
# A guest with more than 60,535 connections: up to a million, with hopflow's results in its memory.
MANY_MEM = "16G"
# All hosts share the guest's table of connections, in which each stays for a minute after its end.
MANY_SLOTS = f"thash_entries={connections.COUNT_MAX}"
# Above all seeds of scenarios.
KERNEL_SEED_SHIFT = 33


@dataclass
class Job:
    """One guest to run, and what came of it."""
    scenario: Scenario
    case: Case
    seed: int
    kernel: str
    out: Path
    outcome: Outcome = field(default_factory=Outcome)
    digest: str = ""
    traffic_s: float = 0    # CPU time of the traffic alone, without boot and set-up
    file: Path | None = None    # the result, once it is there
    into: Path | None = None    # a file for the result; None: a name of the lab's choice in `out`
    modules: list[Path] = field(default_factory=list)   # folders with more modules for this run's kernel

    @property
    def label(self) -> str:
        return f"{self.scenario.name}/{self.case.name}/{self.seed}"

    @property
    def target(self) -> Path:
        return self.into or self.out / f"{self.scenario.name}.{self.case.name}.{self.seed}.jsonl"


@dataclass
class Choice:
    """The runs that the user asks for."""
    only: list[str] | None = None   # names of cases
    seed: int | None = None         # instead of the scenario's
    seeds: int | None = None        # at most so many of the scenario's
    kernel: str = "release"


def shortened(case: Case) -> Case:
    """A case as the debug kernel, 20 times slower, can run it."""
    case = copy.deepcopy(case)
    whole = case.run.duration
    duration = case.run.debug_duration or min(whole, DEBUG_DURATION_NS)
    for flow in case.flows:
        # Flows that would start later start in the same order within what is left.
        flow.start = flow.start * duration // whole
        flow.stagger = flow.stagger * duration // whole
        if flow.stop:
            flow.stop = max(1, flow.stop * duration // whole)
    for change in case.changes:
        change.at = change.at * duration // whole
    case.sample.goodput = min(case.sample.goodput, duration // 10)
    case.run.duration, case.run.window, case.run.warmup = duration, None, 0
    return case


def plan(scenarios: list[Scenario], choice: Choice, out: Path) -> list[Job]:
    jobs = []
    for scenario in scenarios:
        for case in scenario.cases:
            if choice.only and not any(case is scenario.case_named(word) for word in choice.only):
                continue
            ready = shortened(case) if choice.kernel == "debug" else case
            seeds = [choice.seed] if choice.seed is not None else ready.run.seeds[:choice.seeds]
            if choice.kernel == "debug":
                seeds = seeds[:1]
            jobs += [Job(scenario, ready, seed, choice.kernel, out) for seed in seeds]
    if not jobs:
        cases = [c.name for s in scenarios for c in s.cases]
        raise LabError(f"--only {' '.join(choice.only or [])}: no such case; there are: {' '.join(cases)}")
    seen: dict[Path, Job] = {}
    for job in jobs:
        # Results, table and claims know a run by its name alone.
        other = seen.setdefault(job.target, job)
        if other is not job:
            raise LabError(f"{other.scenario.file} and {job.scenario.file} both give "
                           f"{job.target.name}: run one at a time, or rename one")
    return jobs


GUEST_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def need_nft(jobs: list[Job], path: str = GUEST_PATH) -> None:
    """Refuse before anything is built; path: where the guest looks for nft."""
    walled = [job.scenario.name for job in jobs if any(h.nft.strip() for h in job.case.hosts)]
    nft = shutil.which("nft", path=path)
    if walled and not nft:
        raise LabError(f"{walled[0]} has firewalls, and there is no nft: run tools/setup/setup.sh check")
    for rules in {(node, text) for job in jobs for node, text in batches.firewalls_of(job.case).items()}:
        check_rules(nft or "nft", *rules)


def check_rules(nft: str, node: str, rules: str) -> None:
    """Refuse what is no rule. What the kernel would refuse is found in the guest: here nobody may ask a kernel."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, f"{node}.nft").write_text(rules)
        said = subprocess.run([nft, "-c", "-f", f"{node}.nft"], cwd=folder, capture_output=True, text=True,
                              check=False).stderr
    if "Error: syntax error" in said:
        raise LabError("\n    ".join(said.splitlines()[:3]))


def need_kernel_modules(case: Case) -> bool:
    """Return True if a run may need the kernel's own modules. Most runs do not, and do not wait for their build."""
    words = re.findall(r"[a-z0-9_]+", repr([case.network, case.hosts, case.links, case.routes, case.flows]))
    return bool(case.network.bridges or case.tunnels or any(h.nft.strip() for h in case.hosts)
                or {"netfilter", "bridge", "mpls", "encap"} & set(words)
                or (build.modular("NET_SCH") | build.modular("TCP_CONG")) & set(words))


def run_all(jobs: list[Job], workers: int, arguments: Sequence[str] = ()) -> Iterator[Job]:
    """Run all jobs, with `workers` guests at once; yield each as it ends."""
    need_nft(jobs)
    workers = max(1, workers // max(job.case.run.kernels for job in jobs))
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


def run_one(job: Job, built: build.Built, arguments: Sequence[str]) -> Job:
    folder = build.scratch("run-")
    if job.modules:
        built = dataclasses.replace(built, more_modules=job.modules)
    net = topology.build(job.case, job.seed)
    shares = kernels.shares(net, job.case.parts)
    folders = [folder] if len(shares) == 1 else [folder / str(share.kernel) for share in shares]
    for share, own in zip(shares, folders):
        own.mkdir(exist_ok=True)
        inputs.write(share, own)
    job.outcome = boot_all(job, net, folder, folders, built, arguments)
    job.outcome.folder = folder
    if not job.outcome.problem and job.outcome.status:
        job.outcome.problem = f"the run ended with status {job.outcome.status}"
        job.outcome.lines = []
    if job.outcome.problem:
        # A panic comes on the guest's output, after what its programs said.
        job.outcome.lines += build.read(folder / "output").splitlines()[-20:]
    if not job.outcome.problem:
        keep(job, net, shares, folders)
        shutil.rmtree(folder)
    return job


def boot_all(job: Job, net: Network, folder: Path, folders: list[Path], built: build.Built,
             arguments: Sequence[str]) -> Outcome:
    """Run the kernels of a job, each in its own folder; what their programs say goes to one file."""
    wire = kernels.memory(net, job.case.parts) if len(folders) > 1 else None
    try:
        with open(folder / "output", "ab") as output:
            boots = [boot_of(job, own, built, output, arguments) for own in folders]
            if connections.has_many(net):
                for boot in boots:
                    boot.mem = MANY_MEM
                    boot.arguments.append(MANY_SLOTS)
            for number, boot in enumerate(boots):
                boot.number, boot.wire = number, wire
                # Each kernel has random numbers of its own; the first has those of a kernel that is alone.
                boot.seed += number << KERNEL_SEED_SHIFT
            return guest.run_group(boots)
    finally:
        if wire is not None:
            os.close(wire)


def boot_of(job: Job, folder: Path, built: build.Built, output: BinaryIO, arguments: Sequence[str]) -> guest.Boot:
    duration_s = (job.case.run.duration + topology.T0_NS) / 1e9
    return guest.Boot(
        command='"$HOPLAB_GUEST/scenario" "$HOPLAB_GUEST/traffic"', run=folder, built=built,
        arguments=list(arguments), seed=job.seed, timeout_s=job.case.run.timeout / 1e9,
        limit_s=duration_s + GRACE_S, output=output, begin="begin", variables={"HOPLAB_T0_NS": topology.T0_NS})


def keep(job: Job, net: Network, shares: list[Network], folders: list[Path]) -> None:
    job.file = job.target
    meta = record.meta_line(job.scenario, job.case, job.seed, job.kernel, net)
    job.traffic_s = job.outcome.cpu_s - job.outcome.setup_cpu_s
    each = [parts_of(job, share, folder) for share, folder in zip(shares, folders)]
    if len(folders) == 1:
        parts = each[0]
    else:
        parts = [halves.merge(files, folders[0].parent / files[0].name) for files in zip(*each)]
    job.digest = record.write(job.file, meta, parts)


def parts_of(job: Job, share: Network, folder: Path) -> list[Path]:
    """The files that one kernel's programs wrote."""
    parts = [folder / "flow.jsonl", folder / "sample.jsonl"]
    if job.case.sample.trace:
        parts.append(folder / "trace.jsonl")
        parts[-1].write_text(record.trace_lines((folder / "trace").read_text(), job.case.sample.trace))
    walled = batches.firewalls(share)
    if walled:
        parts.append(folder / "counters.jsonl")
        parts[-1].write_text("".join(record.counter_lines(node, (folder / f"{node}.counters").read_text())
                                     for node in walled if share.has(node)))
    return parts


class Progress:
    """One line with the progress; where stderr is no terminal, a line a job."""

    def __init__(self, total: int, quiet: bool = False) -> None:
        self.total, self.done, self.quiet = total, 0, quiet
        self.start = 0.0
        self.tty = sys.stderr.isatty()

    def step(self, job: Job) -> None:
        self.done += 1
        if self.quiet:
            return
        # The time of the runs alone: the first may have waited for a build.
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


def default_out() -> Path:
    return Path(os.environ.get("HOPLAB_OUT", build.TOP / "lab-results"))
