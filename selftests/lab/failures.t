#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Messages of the lab when a guest dies: the cause with it, once, and what to do."""
import contextlib
import io
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, f"{TOP}/tools/lab")
sys.path.insert(0, f"{TOP}/selftests/lib")
sys.dont_write_bytecode = True

from hoplab import LabError, build, cli, guest, ready, runner  # noqa: E402
from tap import Tap  # noqa: E402

PANIC = "Kernel panic - not syncing: Attempted to kill init! exitcode=0x0000000b"
CAUSE = "userspace - ptrace set fp regs failed, errno = 14"
tap = Tap()


def died(folder, lines):
    """The outcome of a guest that left this on its console."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "kernel.log").write_text("\n".join(lines) + "\n")
    boot = guest.Boot(command="true", run=folder, built=None)
    return guest.outcome_of(boot, False, 1)


def said(call, *args):
    words = io.StringIO()
    with contextlib.redirect_stderr(words):
        call(*args)
    return words.getvalue()


def test_panic(folder):
    before, after = [f"earlier {i}" for i in range(30)], [f"later {i}" for i in range(60)]
    outcome = died(folder / "panic", [*before, CAUSE, PANIC, *after])
    text = said(guest.describe, outcome, "a run")
    tap.result(CAUSE in text.splitlines()[0], "the cause, not the panic behind it, is in the first line", text)
    tap.result("earlier 10\n" in text and "earlier 9\n" not in text and "later 38\n" in text and "later 39\n" not in text,
               "twenty lines before it and forty after it", text)
    tap.result(str(folder / "panic/kernel.log") in text, "and the file of the whole log")
    tap.result("please report it" in text, "and what to do", text)


def test_once(folder):
    jobs = []
    for number in range(8):
        case = type("case", (), {"name": f"case{number}"})
        job = runner.Job(type("scenario", (), {"name": "many"}), case, 1, "release", folder)
        words = CAUSE if number < 7 else "BUG: another at 0x1234"
        job.outcome = died(folder / f"run{number}", [f"[{number}.25] boots at {number:#x}", words, PANIC])
        jobs.append(job)
    text = said(cli.show_failures, jobs)
    tap.result(text.count(PANIC) == 2 and text.count("many/case0/1") == 1, "seven alike are reported once, another as well", text)
    tap.result("6 more failed alike: many/case1/1" in text, "and which they are", text)


def test_traceback():
    def lab(*words):
        return subprocess.run([TOP / "tools/lab/lab", *words], capture_output=True, text=True, check=False)

    plain, debug = lab("run", "nosuch"), lab("--debug", "run", "nosuch")
    tap.result(plain.returncode == 2 and plain.stderr.count("\n") == 1 and "Traceback" not in plain.stderr,
               "a fault is one line", plain.stderr)
    tap.result("Traceback" in debug.stderr and "scenario.py" in debug.stderr, "lab --debug shows its traceback")


def broken(folder, script):
    """A kernel that only says something, in place of the real one."""
    kdir = folder / "kernel"
    shutil.rmtree(kdir, ignore_errors=True)
    kdir.mkdir()
    (kdir / "linux").write_text(f"#!/bin/sh\n{script}\n")
    (kdir / "linux").chmod(0o755)
    modules = folder / "modules"
    modules.mkdir(exist_ok=True)
    return build.Built("release", kdir, modules, folder / "none")


def test_boot(folder):
    for script, words in (("echo 'check_ptrace : ptrace failed, errno = 1' >&2; exit 1", "SYS_PTRACE"),
                          (f"echo '{CAUSE}' >&2; echo '{PANIC}' >&2; exit 1", "registers"),
                          ("echo 'mmap failed' >&2; exit 1", "TMPDIR")):
        try:
            with contextlib.redirect_stderr(io.StringIO()):
                ready.boot(broken(folder, script))
            error = "it was found to boot"
        except LabError as found:
            error = str(found)
        tap.result("does not boot on this machine" in error and words in error,
                   f"a kernel that does not boot is not ready: {words}", error)


def test_again(folder):
    stamp = folder / "booted/kernel"
    ready.stamp_of = lambda built: stamp
    ready.prepare("release", kernel_modules=False)
    tap.result(stamp.read_text() == ready.host(), "the machine on which the kernel booted is remembered")
    # Count the boots instead of booting.
    boots = []
    real, ready.boot = ready.boot, boots.append
    try:
        ready.prepare("release", kernel_modules=False)
        tap.result(not boots, "the same machine: no boot again")
        stamp.write_text("another CPU")
        ready.prepare("release", kernel_modules=False)
        tap.result(len(boots) == 1 and stamp.read_text() == ready.host(), "another CPU or host kernel: one boot")
    finally:
        ready.boot = real


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        test_panic(folder)
        test_once(folder)
        test_traceback()
        test_boot(folder)
        test_again(folder)
    return tap.done()


os.chdir(TOP)
sys.exit(main())
