# SPDX-License-Identifier: GPL-2.0
"""One guest: boot User-Mode Linux with a command, limit it, search its kernel log for trouble."""
import contextlib
import fcntl
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from . import LabError
from .build import BUILD, LAB, TOP, Built, load_order, read

# Messages of the kernel about faults.
TROUBLE = re.compile(
    r"WARNING:|BUG:|Oops|KASAN:|UBSAN:|Call Trace|INFO: (possible|rcu|task|suspicious)"
    r"|possible (circular|recursive)|inconsistent lock state|suspicious RCU"
    r"|lockdep is turned off|Kernel panic|general protection|scheduling while atomic"
    r"|refcount_t:|unregister_netdevice: waiting|corrupted stack end|failed, errno = ")


@dataclass
class Boot:
    """A command, and where to run it."""
    command: str                # a shell script
    run: Path                   # the run directory: the only place the guest can write to
    built: Built                # the kernel and the modules
    seed: int = 1
    timeout_s: float = 600      # wall time
    limit_s: float = 0          # virtual time after boot; 0: none
    mem: str = "4G"
    cpu: int | None = None      # pinned to this CPU; None: the first that is free
    tty: bool = False           # interactive: real time, stdin passed on
    output: BinaryIO | None = None      # where the guest's output goes; None: our stdout
    arguments: list[str] = field(default_factory=list)      # more words for the kernel's command line
    preload: list[Path] = field(default_factory=list)       # more libraries for the process that is the guest
    variables: dict[str, object] = field(default_factory=dict)
    begin: str = ""             # a file in `run` that the guest makes when its set-up is over


@dataclass
class Outcome:
    """How a run ended. `problem` is None or one line that says what went wrong."""
    status: int = 0
    problem: str | None = None
    lines: list[str] = field(default_factory=list)      # the kernel's log around the first trouble
    log: Path | None = None
    wall_s: float = 0
    cpu_s: float = 0            # CPU time of the guest's processes; on an idle CPU it is wall_s
    setup_cpu_s: float = 0      # the part of cpu_s until the file named by Boot.begin was there
    folder: Path | None = None


# Log lines to show before and after the first trouble.
LINES_BEFORE, LINES_AFTER = 20, 40
RUNNING: set["subprocess.Popen[bytes]"] = set()
# A guest uses so much of its memory at most; the rest of `mem` costs nothing.
MEMORY_BYTES = 1 << 30


def memory_folder(folders: Sequence[str] | None = None) -> str:
    """A folder for the file that is the guest's memory: it is mapped executable, and grows."""
    folders = folders or [f for f in (os.environ.get("TMPDIR"), "/dev/shm", "/tmp") if f]
    for folder in folders:
        with contextlib.suppress(OSError):
            found = os.statvfs(folder)
            if (not found.f_flag & os.ST_NOEXEC and found.f_bavail * found.f_frsize >= MEMORY_BYTES
                    and os.access(folder, os.W_OK | os.X_OK)):
                return folder
    raise LabError(f"no room for a guest's memory in {' '.join(folders)}: set TMPDIR to a folder "
                   f"with {MEMORY_BYTES >> 20} MB free that is not mounted noexec")


def existing(folder: Path) -> Path | str:
    return folder if folder.exists() else ""


def write_inputs(boot: Boot) -> None:
    """The files guest/init.c reads; its head lists them."""
    boot.run.mkdir(parents=True, exist_ok=True)
    for stale in ("status", "dmesg", "leaks"):
        (boot.run / stale).unlink(missing_ok=True)
    path = f"{LAB}/guest:{BUILD}/tc:{BUILD}/lab:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    variables: dict[str, object] = dict(
        PATH=path, HOME="/tmp", LC_ALL="C.UTF-8", PYTHONDONTWRITEBYTECODE=1,
        TC_LIB_DIR=BUILD / "tc", HOPLAB_TOP=TOP, HOPLAB_CWD=os.getcwd(), HOPLAB_GUEST=LAB / "guest",
        HOPLAB_TOOLS=BUILD / "guest", HOPLAB_KERNEL=boot.built.kernel, HOPLAB_SEED=boot.seed,
        HOPLAB_OUT=boot.run, HOPLAB_KO=boot.built.modules, HOPLAB_MODULES=existing(boot.built.kernel_modules),
        HOPLAB_LIMIT=f"{boot.limit_s:g}" if boot.limit_s else "",
        HOPLAB_TTY="1" if boot.tty else "", **boot.variables)
    if "GLIBC_TUNABLES" in os.environ:
        # Masks features of the CPU: for the guest's programs, too.
        variables.setdefault("GLIBC_TUNABLES", os.environ["GLIBC_TUNABLES"])
    for name, value in variables.items():
        if "\n" in str(value):
            raise LabError(f"{name}: a path with a line break: {str(value)!r}")
    (boot.run / "env").write_text("".join(f"{k}={v}\n" for k, v in variables.items()))
    (boot.run / "command").write_text(boot.command + "\n")
    modules = load_order(boot.built.modules, *boot.built.more_modules)
    (boot.run / "insmod").write_text("".join(f"{m}\n" for m in modules))


def command_line(boot: Boot) -> list[str]:
    # The guest finds its run directory as our current directory.
    kernel = [str(boot.built.kdir / "linux"), f"mem={boot.mem}", "rootfstype=hostfs", "root=none", "ro",
              f'init="{BUILD}/guest/init"', "console=tty1", "con=null", "con1=null,fd:2",
              "con0=fd:0,fd:1", "random.trust_cpu=on", "kasan_multi_shot", "panic=-1"]
    if not boot.tty:
        kernel += ["time-travel=inf-cpu", "time-travel-start=1700000000000000000"]
    kernel += boot.arguments
    return ["setpriv", "--pdeathsig", "KILL", "taskset", "-c", str(boot.cpu),
            "setarch", "-R", *kernel]


@contextlib.contextmanager
def free_cpu(cache: Path, wanted: int | None = None) -> Iterator[int]:
    """A CPU that no guest of any checkout has: two guests that share one are twice as slow."""
    cpus = sorted(os.sched_getaffinity(0))
    if wanted is not None:
        yield cpus[wanted % len(cpus)]
        return
    for cpu in cpus:
        with open(cache / f".cpu{cpu}.lock", "w") as handle:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            yield cpu
            return
    yield cpus[os.getpid() % len(cpus)]


def wait(process: "subprocess.Popen[bytes]", boot: Boot) -> tuple[float, float] | None:
    """Return: the guest's CPU seconds, and those of its set-up; None when the time is over."""
    start, setup_cpu_s = time.monotonic(), 0.0
    begin = boot.run / boot.begin if boot.begin else None
    while not boot.timeout_s or time.monotonic() - start < boot.timeout_s:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            return usage.ru_utime + usage.ru_stime, setup_cpu_s
        if begin and begin.exists():
            setup_cpu_s, begin = group_cpu_s(process.pid), None
        time.sleep(0.01)
    return None


def group_cpu_s(group: int) -> float:
    """CPU seconds of a process group, with those of its processes that have ended."""
    ticks = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        fields = read(stat).rpartition(")")[2].split()
        # State, parent, group; then, from the twelfth on, the times in clock ticks.
        if len(fields) > 14 and int(fields[2]) == group:
            ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def end(process: "subprocess.Popen[bytes]", alone: bool = False) -> None:
    """UML is a group of processes: end all of them, and only them."""
    with contextlib.suppress(ProcessLookupError):
        if alone:
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)
    if process.returncode is None:
        process.wait()


def end_all() -> None:
    """For an interrupt: guests are not in the terminal's process group."""
    for process in list(RUNNING):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def run(boot: Boot) -> Outcome:
    """Boot the guest and wait for its end. The caller reads the files that the guest left in boot.run."""
    write_inputs(boot)
    libraries = [BUILD / "guest/entropy.so", *boot.preload]
    environment = dict(os.environ, HOME=str(boot.run), TMPDIR=memory_folder(),
                       LD_PRELOAD=":".join(map(str, libraries)), HOPLAB_SEED=str(boot.seed))
    start = time.monotonic()
    with free_cpu(boot.built.kdir.parent, boot.cpu) as cpu, open(boot.run / "kernel.log", "wb") as log:
        boot.cpu = cpu
        process = subprocess.Popen(
            command_line(boot), cwd=boot.run, stdin=None if boot.tty else subprocess.DEVNULL, stdout=boot.output,
            stderr=log, env=environment, start_new_session=not boot.tty)
        RUNNING.add(process)
        try:
            spent = wait(process, boot)
        finally:
            end(process, boot.tty)
            RUNNING.discard(process)
    outcome = outcome_of(boot, spent is None, process.returncode)
    outcome.wall_s = time.monotonic() - start
    outcome.cpu_s, outcome.setup_cpu_s = spent or (0, 0)
    return outcome


def outcome_of(boot: Boot, timed_out: bool, code: int) -> Outcome:
    text = read(boot.run / "status").strip()
    # A guest that dies leaves no dmesg: only what the kernel wrote to its console.
    log = next(f for f in (boot.run / "dmesg", boot.run / "kernel.log") if read(f) or f.name == "kernel.log")
    lines = read(log).splitlines()
    trouble = next((i for i, line in enumerate(lines) if TROUBLE.search(line)), None)
    leaks = read(boot.run / "leaks").strip().splitlines()
    outcome = Outcome(status=int(text) if text.isdigit() else 1, log=log)
    if timed_out:
        outcome.problem = f"no end within {boot.timeout_s:g} s of wall time"
    elif text.startswith("limit"):
        outcome.problem = f"no end within {text.split()[1]} s of virtual time"
    elif text.startswith("setup"):
        outcome.problem = f"the guest failed to {text}"
    elif trouble is not None:
        outcome.problem = f"the guest's kernel complains: {lines[trouble].strip()}"
    elif leaks:
        outcome.problem = "kmemleak: " + leaks[0]
    elif not text:
        outcome.problem = "the guest died" + (f" by signal {-code}" if code < 0 else f" with status {code}")
    if outcome.problem:
        outcome.status = outcome.status or 1
        outcome.lines = around(lines, trouble, leaks)
    return outcome


def around(lines: list[str], trouble: int | None, leaks: list[str]) -> list[str]:
    """The lines around the first trouble, as its cause often stands before it; else the end of the log."""
    if trouble is not None:
        return lines[max(0, trouble - LINES_BEFORE):trouble + 1 + LINES_AFTER]
    return leaks[:LINES_AFTER] or lines[-LINES_BEFORE:]


def describe(outcome: Outcome, where: str) -> None:
    print(f"lab: {where}: {outcome.problem}{advice(outcome)}", file=sys.stderr)
    for line in outcome.lines:
        print(f"    {line}", file=sys.stderr)
    if outcome.log:
        print(f"lab: the whole log is {outcome.log}", file=sys.stderr)


# Pairs of a pattern in the log and the advice for it.
ADVICE = (
    (r"extended registers: the host refuses|set fp regs failed",
     "this host's kernel refuses to save and restore the registers of its CPU for a traced process: "
     "please report it with /proc/cpuinfo and uname -a"),
    (r"ptrace.*(EPERM|not permitted|errno = 1\b)|check_ptrace",
     "the host forbids ptrace, which User-Mode Linux needs: in a container allow it (docker run "
     "--cap-add SYS_PTRACE --security-opt seccomp=unconfined), elsewhere see kernel.yama.ptrace_scope"),
    (r"failed to set personality",
     "the host forbids personality(2), which the lab needs for equal addresses in each run: in a "
     "container allow it (docker run --security-opt seccomp=unconfined)"),
    (r"[Cc]annot allocate memory|No space left|mapping .*failed|mmap.*failed",
     "there is no memory for the guest: free some, or set TMPDIR to a folder that is not mounted noexec"),
)


def advice(outcome: Outcome) -> str:
    text = "\n".join(outcome.lines)
    found = next((words for pattern, words in ADVICE if re.search(pattern, text)), None)
    return f"; {found}" if found else ""


def signature(outcome: Outcome) -> str:
    """The words of a failure without addresses, times and numbers: failures alike have the same."""
    words = [outcome.problem or "", *outcome.lines]
    return re.sub(r"\b(run|boot|exec)-\w+|0x[0-9a-f]+|\b[0-9a-f]{8,16}\b|[0-9]+(\.[0-9]+)?", "N", "\n".join(words))
