#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""selftests/lib/limit.py, by which the tests and the lab end what hangs: a command that spins is ended, and one that
sleeps; not one that other processes keep from its CPU. Children count with it, also those in sessions of their own.
"""
import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, f"{TOP}/tools/lab")
sys.path.insert(0, f"{TOP}/selftests/lib")
sys.dont_write_bytecode = True

from hoplab import own_time  # noqa: E402
from tap import Tap  # noqa: E402

LIMIT_S = 2
HOGS = 6
# For so long by the clock does a starved command run: by its CPU's share it gets 1.2 s of CPU time at most.
STARVED_S = 4 * LIMIT_S
SPIN = "import os, sys, time\nend = time.monotonic() + float(sys.argv[1])\nwhile time.monotonic() < end: pass\n"
# It sleeps while a child in a session of its own spins.
PARENT = ("import subprocess, sys\n"
          f"sys.exit(subprocess.call([sys.executable, '-c', {SPIN!r}, sys.argv[1]], start_new_session=True))\n")
tap = Tap()


def limited(*command, options=(), limit_s=LIMIT_S, before=()):
    """Run a command below limit.py. Return its status, and its and its children's CPU time."""
    used = os.times()
    done = subprocess.run([*before, f"{TOP}/selftests/lib/limit.py", *options, str(limit_s), *command],
                          capture_output=True, text=True, check=False)
    now = os.times()
    return done.returncode, now.children_user + now.children_system - used.children_user - used.children_system


def python(text, *words):
    return [sys.executable, "-I", "-S", "-c", text, *map(str, words)]


def test_law():
    rows = [("a thread that runs", 0.5, 0.5, 1, 0.5), ("two that run side by side", 0.5, 1, 2, 0.5),
            ("one that has 10 % of a CPU", 0.5, 0.05, 1, 0.05), ("two that share 10 %", 0.5, 0.05, 2, 0.025),
            ("all sleep", 0.5, 0, 0, 0.5), ("all sleep, after work", 0.5, 0.1, 0, 0.5),
            ("one waits for a CPU or a disk", 0.5, 0, 1, 0), ("it ran before the last look", 0.5, 0.7, 1, 0.5)]
    for what, clock_s, cpu_s, runnable, want in rows:
        tap.equal(f"own time: {what}", own_time.passed(clock_s, cpu_s, runnable), want)


def test_ended():
    """A process that ended while nobody looked has not slept since: a busy machine may let its watcher wait."""
    with subprocess.Popen(["true"]) as process:
        own = own_time.OwnTime([process.pid])
        while own_time.family([process.pid])[0].state != "Z":
            time.sleep(0.01)
        own.look()
        before = own.own_s
        time.sleep(0.5)
        tap.equal("a command that has ended, and was not waited for, has no own time", own.look(), before)


def test_ends():
    status, cpu_s = limited(*python(SPIN, 1000))
    tap.claim("a command that spins is ended, and not before its limit", status == 124 and cpu_s > 0.9 * LIMIT_S,
              f"status {status}, {cpu_s} s")
    start = time.monotonic()
    status, cpu_s = limited("sleep", "1000")
    tap.claim("a command that sleeps is ended, and not before its limit",
              status == 124 and time.monotonic() - start > 0.9 * LIMIT_S, f"status {status}, {cpu_s} s")
    status, _ = limited(*python(PARENT, 1000))
    tap.equal("a command whose child spins is ended", status, 124)


def test_whole_family():
    """The child of another session, which does not heed SIGTERM, ends with the command."""
    deaf = "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint(flush=True)\ntime.sleep(1000)\n"
    starts = ("import subprocess, sys, time\n"
              f"child = subprocess.Popen([sys.executable, '-c', {deaf!r}], start_new_session=True, stdout=-1)\n"
              "child.stdout.readline()\nopen(sys.argv[1], 'w').write(str(child.pid))\ntime.sleep(1000)\n")
    path = TOP / "build/own-time-child"
    path.parent.mkdir(exist_ok=True)
    status, _ = limited(*python(starts, path))
    pid = int(path.read_text())
    left = os.path.exists(f"/proc/{pid}") and " Z " not in Path(f"/proc/{pid}/stat").read_text()
    tap.claim("its children end with it, also one that ignores SIGTERM", status == 124 and not left, f"status {status}")
    if left:
        os.kill(pid, signal.SIGKILL)


def test_status():
    tap.equal("a command's status is the tool's", limited("sh", "-c", "exit 7")[0], 7)
    tap.equal("and a signal that ends it", limited("sh", "-c", "kill -9 $$")[0], 137)
    counts = "n=0; while read -r _; do n=$((n + 1)); [ $n -lt 2 ] || exit 8; done"
    tap.equal("--ticks: each second is a line", limited("sh", "-c", counts, options=["--ticks"], limit_s=10)[0], 8)


@contextlib.contextmanager
def hogs(cpu):
    """Processes that take a CPU; each in a session of its own, to which Linux may give a share of its own."""
    loops = [subprocess.Popen(["taskset", "-c", str(cpu), *python("while True: pass")], start_new_session=True)
             for _ in range(HOGS)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def test_starved():
    cpu = min(os.sched_getaffinity(0))
    before = ["nice", "-n", "19", "taskset", "-c", str(cpu)]
    for what, text in (("a command", SPIN), ("a command with a child, both", PARENT)):
        with hogs(cpu):
            status, cpu_s = limited(*python(text, STARVED_S), before=before)
        tap.claim(f"{what} kept from its CPU for {STARVED_S / LIMIT_S:g} times its limit is not ended",
                  status == 0, f"status {status}, {cpu_s} s")


os.chdir(TOP)
for test in (test_law, test_ended, test_ends, test_whole_family, test_status, test_starved):
    test()
sys.exit(tap.done())
