# SPDX-License-Identifier: GPL-2.0
"""One guest: boot User-Mode Linux with a command, limit it, search its kernel log for trouble."""
import contextlib
import fcntl
import itertools
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
from .build import BUILD, LAB, TOP, Built, load_order, read, say
from .own_time import OwnTime, family

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
    timeout_s: float = 600      # the guest's own time (own_time.py); 0: none
    limit_s: float = 0          # virtual time after boot; 0: none
    mem: str = "4G"
    cpu: int | None = None      # pinned to this CPU; None: the first that is free
    tty: bool = False           # interactive: real time, stdin passed on
    output: BinaryIO | None = None      # where the guest's output goes; None: our stdout
    arguments: list[str] = field(default_factory=list)      # more words for the kernel's command line
    preload: list[Path] = field(default_factory=list)       # more libraries for the process that is the guest
    variables: dict[str, object] = field(default_factory=dict)
    begin: str = ""             # a file in `run` that the guest makes when its set-up is over
    wire: int | None = None     # descriptor of the memory that it shares with other kernels (kernels.py)
    number: int = 0             # its number among them


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


WIRE = "net_wire"
# A group of guests waits so often, and so long each time, for CPUs without a guest; other checkouts may have them for
# hours. It holds none meanwhile: two groups with a part each would wait for each other.
GROUP_ATTEMPTS, ATTEMPT_S = 600, 0.1
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
    (boot.run / "insmod").write_text("".join(f"{line}\n" for line in modules_to_load(boot)))


def modules_to_load(boot: Boot) -> list[str]:
    """Lines of the file insmod. A kernel alone has no wire."""
    modules = load_order(boot.built.modules, *boot.built.more_modules)
    lines = [str(module) for module in modules if module.stem != WIRE]
    if boot.wire is not None:
        lines += [f"{module}\tkernel={boot.number}" for module in modules if module.stem == WIRE]
    return lines


def command_line(boot: Boot) -> list[str]:
    # The guest finds its run directory as our current directory.
    kernel = [str(boot.built.kdir / "linux"), f"mem={boot.mem}", "rootfstype=hostfs", "root=none", "ro",
              f'init="{BUILD}/guest/init"', "console=tty1", "con=null", "con1=null,fd:2",
              "con0=fd:0,fd:1", "random.trust_cpu=on", "kasan_multi_shot", "panic=-1"]
    if not boot.tty:
        kernel += ["time-travel=inf-cpu", "time-travel-start=1700000000000000000"]
    if boot.wire is not None:
        kernel.append(f"iomem=wire,/proc/self/fd/{boot.wire}")
    kernel += boot.arguments
    return ["setpriv", "--pdeathsig", "KILL", "taskset", "-c", str(boot.cpu),
            "setarch", "-R", *kernel]


@contextlib.contextmanager
def free_cpus(cache: Path, count: int, wanted: int | None = None) -> Iterator[list[int]]:
    """CPUs that no guest of any checkout has: two guests that share one are twice as slow, or far slower if one
    waits for the other."""
    cpus = sorted(os.sched_getaffinity(0))
    if wanted is not None:
        yield [cpus[(wanted + i) % len(cpus)] for i in range(count)]
        return
    with contextlib.ExitStack() as held:
        found = take_locks(cache, cpus, count, held)
        yield found or [cpus[os.getpid() % len(cpus)]]


def take_locks(cache: Path, cpus: list[int], count: int, held: contextlib.ExitStack) -> list[int]:
    """CPUs that are free, which `held` gives back: one, or none; or as many as asked for, of which some may have
    another guest where no such number became free in a while."""
    if count > len(cpus):
        raise LabError(f"a run of {count} kernels needs as many CPUs, and this machine has {len(cpus)}")
    attempts = 0 if count == 1 else GROUP_ATTEMPTS
    for attempt in range(attempts + 1):
        with contextlib.ExitStack() as trial:
            free = list(itertools.islice((cpu for cpu in cpus if lock_cpu(cache, cpu, trial)), count))
            if len(free) == count or attempt == attempts:
                held.enter_context(trial.pop_all())
                break
        if not attempt:
            say(f"waiting for {count} CPUs without a guest, for {attempts * ATTEMPT_S:.0f} s at most")
        time.sleep(ATTEMPT_S)
    if count == 1 or len(free) == count:
        return free
    say(f"{count - len(free)} of {count} CPUs have another guest: this run takes longer")
    return free + [cpu for cpu in cpus if cpu not in free][:count - len(free)]


def lock_cpu(cache: Path, cpu: int, held: contextlib.ExitStack) -> bool:
    handle = open(cache / f".cpu{cpu}.lock", "w")
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        handle.close()
        return False
    held.enter_context(handle)
    return True


@dataclass
class Member:
    """One guest of a group while it runs."""
    boot: Boot
    process: "subprocess.Popen[bytes]"
    spent: tuple[float, float] | None = None    # CPU seconds, and those of the set-up, once it has ended
    setup_cpu_s: float = 0.0
    begun: bool = False

    def poll(self) -> bool:
        """Return True once the guest has ended."""
        if self.spent:
            return True
        pid, status, usage = os.wait4(self.process.pid, os.WNOHANG)
        if pid:
            self.process.returncode = os.waitstatus_to_exitcode(status)
            self.spent = usage.ru_utime + usage.ru_stime, self.setup_cpu_s
        elif self.boot.begin and not self.begun and (self.boot.run / self.boot.begin).exists():
            self.setup_cpu_s, self.begun = OwnTime.of(family([self.process.pid])), True
        return bool(pid)

    @property
    def has_failed(self) -> bool:
        """True if the guest has ended, and its command has not succeeded."""
        return self.spent is not None and read(self.boot.run / "status").strip() != "0"


def wait(members: list[Member], timeout_s: float) -> Member | None:
    """Wait for the end of all guests, of the first one that fails, or of their time; return the one that failed."""
    own = OwnTime(member.process.pid for member in members)
    while not timeout_s or not own.has_exceeded(timeout_s):
        ended = [member.poll() for member in members]
        failed = next((member for member in members if member.has_failed), None)
        if failed or all(ended):
            return failed
        time.sleep(0.01)
    return None


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
    return run_group([boot])


def run_group(boots: list[Boot]) -> Outcome:
    """Boot guests that make one run. When one fails, all end: the others would wait for its clock for ever."""
    start = time.monotonic()
    members: list[Member] = []
    failed = None
    with free_cpus(boots[0].built.kdir.parent, len(boots), boots[0].cpu) as cpus:
        try:
            for boot, cpu in zip(boots, cpus):
                boot.cpu = cpu
                members.append(Member(boot, launch(boot)))
                RUNNING.add(members[-1].process)
            failed = wait(members, boots[0].timeout_s)
        finally:
            for member in members:
                end(member.process, member.boot.tty)
                RUNNING.discard(member.process)
    outcome = outcome_of_group(members, failed)
    outcome.wall_s = time.monotonic() - start
    spent = [member.spent for member in members if member.spent]
    if len(spent) == len(members):
        outcome.cpu_s, outcome.setup_cpu_s = map(sum, zip(*spent))
    return outcome


def launch(boot: Boot) -> "subprocess.Popen[bytes]":
    write_inputs(boot)
    libraries = [BUILD / "guest/entropy.so", *boot.preload]
    environment = dict(os.environ, HOME=str(boot.run), TMPDIR=memory_folder(),
                       LD_PRELOAD=":".join(map(str, libraries)), HOPLAB_SEED=str(boot.seed))
    with open(boot.run / "kernel.log", "wb") as log:
        return subprocess.Popen(
            command_line(boot), cwd=boot.run, stdin=None if boot.tty else subprocess.DEVNULL, stdout=boot.output,
            stderr=log, env=environment, start_new_session=not boot.tty,
            pass_fds=() if boot.wire is None else (boot.wire,))


def outcome_of_group(members: list[Member], failed: Member | None) -> Outcome:
    """The outcome of the guest that failed; else of the first in which something is wrong, or of the first."""
    outcomes = [(m.boot, outcome_of(m.boot, m.spent is None, m.process.returncode))
                for m in ([failed] if failed else members)]
    boot, outcome = next(((b, o) for b, o in outcomes if o.problem or o.status), outcomes[0])
    if outcome.problem and boot.wire is not None:
        outcome.problem = f"kernel {boot.number}: {outcome.problem}"
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
        outcome.problem = f"no end within {boot.timeout_s:g} s of its own time"
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
