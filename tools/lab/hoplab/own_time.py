# SPDX-License-Identifier: GPL-2.0
"""The own time of processes: it passes while they run or sleep, and not while they wait for a CPU or a disk.

A limit on it ends a command that spins or hangs. A busy machine makes a command long, and never exceeds its limit.
"""
import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

PERIOD_S = 0.5          # between two looks, at least
# A look reads all of /proc: it takes 2 % of a CPU at most, also among thousands of processes.
LOOK_SHARE = 50
# A bound on the time of the clock, in limits, for processes that wait for a disk that never answers.
FAR = 20
# What a command may do after SIGTERM, in seconds of the clock.
GRACE_S = 5
TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")
# States of a process that has ended, while nobody has waited for it: it neither runs nor sleeps.
ENDED = "ZX"
# States that count as waiting for a CPU or a disk: one of a thread that runs is the same as of one that waits for a CPU.
RUNNABLE = "RD"


@dataclass(frozen=True)
class Process:
    """A line of /proc/PID/stat."""
    pid: int
    state: str
    parent: int
    group: int
    session: int
    cpu_s: float            # with that of the children that have ended and were waited for
    start: int              # a process ID may be another process's later

    @classmethod
    def parse(cls, text: str) -> "Process":
        head, _, rest = text.rpartition(")")
        words = rest.split()
        return cls(pid=int(head.split()[0]), state=words[0], parent=int(words[1]), group=int(words[2]),
                   session=int(words[3]), cpu_s=sum(map(int, words[11:15])) / TICKS_A_SECOND, start=int(words[19]))


def read(path: str) -> str:
    """A file of /proc, empty where its process has ended."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def processes() -> list[Process]:
    found = (read(f"/proc/{pid}/stat") for pid in os.listdir("/proc") if pid.isdigit())
    return [Process.parse(text) for text in found if text]


def family(roots: Iterable[int]) -> list[Process]:
    """The roots, their descendants, and the members of their process groups and sessions."""
    everything = processes()
    heads = set(roots)
    inside = {p.pid for p in everything if {p.pid, p.group, p.session} & heads}
    more = inside
    while more:
        more = {p.pid for p in everything if p.parent in more} - inside
        inside |= more
    return [p for p in everything if p.pid in inside]


def runnable_threads(pid: int) -> int:
    with contextlib.suppress(OSError):
        texts = (read(f"/proc/{pid}/task/{thread}/stat") for thread in os.listdir(f"/proc/{pid}/task"))
        return sum(text.rpartition(")")[2].split()[0] in RUNNABLE for text in texts if text)
    return 0


def passed(clock_s: float, cpu_s: float, runnable: int) -> float:
    """The own time that passed between two looks, from the CPU time and the number of runnable threads.

    Threads that run side by side share the time. One that was runnable at the look has waited for a CPU
    whenever it did not run; if none was, all slept.
    """
    return min(clock_s, cpu_s / runnable) if runnable else clock_s


class OwnTime:
    """The own time of processes and their families since the first look at them."""

    def __init__(self, roots: Iterable[int]) -> None:
        self.roots = list(roots)
        self.own_s, self.period_s = 0.0, PERIOD_S
        self.start = self.last = time.monotonic()
        self.cpu_s = self.of(family(self.roots))

    @staticmethod
    def of(members: Iterable[Process]) -> float:
        return sum(p.cpu_s for p in members)

    def look(self) -> float:
        """Look at the processes, as often as has_exceeded() does; return their own time."""
        now, before = time.monotonic(), time.thread_time()
        members = family(self.roots)
        cpu_s = self.of(members)
        if any(p.state not in ENDED for p in members):
            runnable = sum(runnable_threads(p.pid) for p in members)
            self.own_s += passed(now - self.last, max(cpu_s - self.cpu_s, 0), runnable)
        self.last, self.cpu_s = now, cpu_s
        self.period_s = max(PERIOD_S, LOOK_SHARE * (time.thread_time() - before))
        return self.own_s

    def has_exceeded(self, limit_s: float) -> bool:
        """Look if it is time to; return True if the limit is exceeded."""
        if time.monotonic() - self.last >= min(self.period_s, limit_s):
            self.look()
        return self.own_s > limit_s or self.last - self.start > FAR * limit_s


def end(process: "subprocess.Popen[bytes]") -> None:
    """End a process and its family: SIGTERM, then SIGKILL to what is left."""
    members = family([process.pid])
    send(members, signal.SIGTERM)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(GRACE_S)
    ours = {(p.pid, p.start) for p in members + family([process.pid])}
    send((p for p in processes() if (p.pid, p.start) in ours), signal.SIGKILL)
    process.wait()


def send(members: Iterable[Process], number: int) -> None:
    for member in members:
        with contextlib.suppress(ProcessLookupError):
            os.kill(member.pid, number)


def wait(process: "subprocess.Popen[bytes]", limit_s: float, each_second: Callable[[], None] = lambda: None) -> bool:
    """Wait for a process; return False if its own time exceeded the limit, and it was ended."""
    own, seconds = OwnTime([process.pid]), 0
    while not own.has_exceeded(limit_s):
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(PERIOD_S)
            return True
        while seconds < int(own.own_s):
            seconds += 1
            each_second()
    end(process)
    return False
