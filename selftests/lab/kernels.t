#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""One scenario on several kernels: its division, what is refused, equal bytes on an idle and on a busy machine, the
claims of one and of two kernels, and the end of a run whose kernel is killed.

    h1..h4 - s1 === s2 - r1..r4      scenarios/kernels.toml: the link in the middle is cut
"""
import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from unittest import mock

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, f"{TOP}/tools/lab")
sys.path.insert(0, f"{TOP}/selftests/lib")
sys.dont_write_bytecode = True

from hoplab import LabError, claims, guest, halves, kernels, ready, results, runner, scenario, topology  # noqa: E402
from tap import Tap  # noqa: E402

BUSY_PROCESSES = 4
tap = Tap()

CHAIN = """
[run]
duration = "20ms"
{run}
[network]
hosts = ["h1", "h2", "r1", "r2"]
switches = ["s1", "s2"]
[[link]]
a = ["h1", "h2"]
b = "s1"
rate = "1gbit"
delay = "10us"
[[link]]
a = "s1"
b = "s2"
rate = "1gbit"
delay = "{delay}"
[[link]]
a = "s2"
b = ["r1", "r2"]
rate = "1gbit"
delay = "10us"
[[flow]]
name = "f"
from = "h1"
to = "r1"
{flow}
{more}
"""


def load(folder, run="kernels = 2", delay="2us", flow="", more=""):
    file = folder / "chain.toml"
    file.write_text(CHAIN.format(run=run, delay=delay, flow=flow, more=more))
    return scenario.load(str(file)).cases[0]


def refused(folder, words, what, **changes):
    try:
        load(folder, **changes)
        error = "it was taken"
    except LabError as found:
        error = str(found)
    tap.claim(f"refused: {what}", words in error, error)


def test_division(folder):
    tap.equal("a chain is divided in its middle", load(folder).parts, [["h1", "h2", "s1"], ["r1", "r2", "s2"]])
    tap.equal("one kernel has all nodes", load(folder, run="").parts, [["h1", "h2", "r1", "r2", "s1", "s2"]])
    own = 'kernels = 2\nparts = [["h1", "s1", "s2", "r[1-2]"], ["h2"]]'
    tap.equal("a scenario may say which node is where", load(folder, run=own).parts[1], ["h2"])
    case = scenario.load("fabric-small").cases[0]
    for count in (2, 4):
        case.run.kernels = count
        parts = kernels.divide(case)
        of = kernels.kernel_of(parts)
        together = all(of[f"h{i}"] == of[f"l{(i + 3) // 4}"] for i in range(1, 17))
        tap.claim(f"a fabric on {count} kernels: hosts are with their leaf, and every node is somewhere",
                  together and sorted(sum(parts, [])) == sorted(case.nodes), str(parts))


def test_refusals(folder):
    refused(folder, "at least", "a cut link without a delay", delay="0s",
            run='kernels = 2\nparts = [["h[1-2]", "s1"], ["s2", "r[1-2]"]]')
    refused(folder, "separate", "a division by links of 499 ns", delay="499ns")
    refused(folder, "2 groups of hosts", "more kernels than groups of hosts", run="kernels = 3")
    refused(folder, "'s2' is missing", "a node that is nowhere",
            run='kernels = 2\nparts = [["h[1-2]", "s1"], ["r[1-2]"]]')
    refused(folder, "there twice", "a node that is in two kernels",
            run='kernels = 2\nparts = [["h[1-2]", "s1"], ["s1", "s2", "r[1-2]"]]')
    refused(folder, "unknown node", "a node that does not exist", run='kernels = 2\nparts = [["x1"], ["s1"]]')
    refused(folder, "1 parts for 2", "another number of parts", run='kernels = 2\nparts = [["h1"]]')
    refused(folder, "'kernels' is 1", "parts for one kernel", run='parts = [["h1"]]')
    refused(folder, "triggers the next", "transfers one after another across kernels",
            flow='mode = "persistent"\nbytes = 1000\ncount = 3')
    refused(folder, "'warm'", "a warm-up across kernels", flow="warm = 1000\nbytes = 1000\nstart = '1ms'")
    refused(folder, "cannot change", "a change of a cut link",
            more='[[change]]\nat = "1ms"\na = "s1"\nb = "s2"\nup = false')
    case = load(folder, flow='mode = "persistent"\nbytes = 1000\ncount = 3',
                run='kernels = 2\nparts = [["h1", "s1", "s2", "r1", "r2"], ["h2"]]')
    tap.claim("the same flow within a kernel is not", len(case.parts) == 2)


def test_memory(folder):
    case = load(folder)
    text, size = kernels.memory_layout(topology.build(case), case.parts)
    tap.claim("a ring has room for more than its link has under way",
              size > 2 * (1 << 20) and len(text) < 1024, str(size))
    case.links[1].ends["a"].delay = case.links[1].ends["b"].delay = 9 * 10**9
    try:
        kernels.memory_layout(topology.build(case), case.parts)
        error = "taken"
    except LabError as found:
        error = str(found)
    tap.claim("refused: links that hold more than the memory has room for", "MB at most" in error, error)


def test_halves(folder):
    sender = {"type": "flow", "id": 3, "n": 0, "start_ns": 5, "end_ns": 90, "bytes": 0, "retrans": 2, "done": True,
              "corrupt": 0, "late_ns": 1, "cc": "reno", "ecn": True, "half": "sender"}
    sink = {**sender, "start_ns": 6, "end_ns": 80, "bytes": 10, "retrans": 0, "cc": "", "ecn": False, "half": "sink"}
    one, = halves.whole_flows([sink, sender])
    tap.equal("two halves are one flow, each end's values from there",
              [one[k] for k in ("start_ns", "end_ns", "bytes", "retrans", "cc", "ecn", "late_ns")],
              [5, 80, 10, 2, "reno", True, 2])
    alone, = halves.whole_flows([{**sender, "done": False, "error": "Connection refused"}])
    tap.claim("a sender that failed alone is kept", alone["error"] == "Connection refused" and "half" not in alone)
    kept, = halves.whole_flows([sink, {**sender, "error": "Connection reset by peer"}])
    tap.claim("the end of a complete transfer is no error", "error" not in kept and kept["done"])


def test_cpus(folder):
    cpus = sorted(os.sched_getaffinity(0))
    with contextlib.ExitStack() as held:
        try:
            guest.take_locks(folder, cpus, len(cpus) + 1, held)
            error = "they were found"
        except LabError as found:
            error = str(found)
    tap.claim("refused: more kernels than CPUs", "as many CPUs" in error, error)
    with contextlib.ExitStack() as other, contextlib.ExitStack() as held:
        guest.lock_cpu(folder, 0, other)
        said, found = waiting(folder, held, other.close)
    tap.claim("a group waits until it has all its CPUs", len(said) == 1 and "waiting for 2 CPUs" in said[0]
              and sorted(found) == [0, 1], f"{said} {found}")
    free = []

    def look():
        with contextlib.ExitStack() as probe:
            free.append(guest.take_locks(folder, [0, 1], 1, probe))

    with contextlib.ExitStack() as other, contextlib.ExitStack() as held:
        guest.lock_cpu(folder, 0, other)
        said, found = waiting(folder, held, look)
    tap.claim("and holds none meanwhile", free == [[1]] * guest.GROUP_ATTEMPTS, str(free[:3]))
    tap.claim("after a while it takes CPUs with other guests, one for each kernel, and says so",
              "1 of 2 CPUs have another guest" in said[-1] and sorted(found) == [0, 1], f"{said} {found}")


def waiting(folder, held, meanwhile):
    """Take two CPUs with `meanwhile` in place of each pause. Return what was said, and the CPUs."""
    with mock.patch.object(guest.time, "sleep", lambda _: meanwhile()), mock.patch.object(guest, "say") as say:
        found = guest.take_locks(folder, [0, 1], 2, held)
    return [call.args[0] for call in say.call_args_list], found


@contextlib.contextmanager
def busy(count):
    """Processes that take the CPUs from the guests."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def run(built, job):
    runner.run_one(job, built, ())
    if job.outcome.problem:
        guest.describe(job.outcome, job.label)
    return job


def test_claims(built, jobs):
    measured = [results.Run(run(built, job).file) for job in jobs]
    for one in claims.decide(measured):
        tap.claim(f"{one.case}: {one.claim.metric}", one.passed, f"measured {one.measured}")
    tap.equal("the result says how many kernels there were", [m.meta.get("kernels") for m in measured], [None, 2])
    return jobs[1].digest


def test_digests(built, job, first):
    again = run(built, job).digest
    with busy(BUSY_PROCESSES):
        loaded = run(built, job).digest
    tap.equal("three runs have equal digests, the third on a busy machine", [again, loaded], [first, first])


def kernel_process(number, thread):
    """The guest of this number, once its traffic runs; None if the run has ended."""
    while thread.is_alive():
        for process in list(guest.RUNNING):
            folder = Path(os.readlink(f"/proc/{process.pid}/cwd"))
            if folder.name == str(number) and (folder / "begin").exists():
                return process
        time.sleep(0.01)
    return None


def test_killed(built, folder):
    for flow in (case := load(folder, run="kernels = 2\ntimeout = '120s'")).flows:
        flow.stop = None
    case.run.duration = 60 * 10**9
    found = scenario.load(str(folder / "chain.toml"))
    job = runner.Job(found, case, 1, "release", folder)
    thread = threading.Thread(target=runner.run_one, args=(job, built, ()))
    thread.start()
    if victim := kernel_process(1, thread):
        victim.send_signal(signal.SIGKILL)
    # Without the message it would end by the scenario's `timeout`.
    thread.join()
    tap.claim("a killed kernel ends the run with a message", job.outcome.problem == "kernel 1: the guest died by signal 9",
              job.outcome.problem)
    tap.claim("and no kernel of it goes on", not guest.RUNNING and not job.file)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for test in (test_division, test_refusals, test_memory, test_halves, test_cpus):
            test(folder)
        if len(os.sched_getaffinity(0)) < 2:
            print("# one CPU: no run of two kernels")
            return tap.done()
        built = ready.prepare("release", kernel_modules=False)
        jobs = runner.plan([scenario.load("kernels")], runner.Choice(), folder)
        test_digests(built, jobs[1], test_claims(built, jobs))
        test_killed(built, folder)
    return tap.done()


os.chdir(TOP)
sys.exit(main())
