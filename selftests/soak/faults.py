# SPDX-License-Identifier: GPL-2.0
"""Make allocations fail on request, and read the kernel's log.

The debug kernel has failslab and fail_page_alloc. Each failure is logged with its stack, which
shows the module and the function that it reached.
"""
import collections
import contextlib
import errno
import os
import re
import subprocess

KINDS = ("failslab", "fail_page_alloc")
TROUBLE = re.compile("WARNING:|BUG:|Oops|KASAN:|UBSAN:|INFO: |possible (circular|recursive)|"
                     "inconsistent lock state|suspicious RCU|refcount_t:|general protection|Kernel panic")
# The lines of a failure: header, task, words of the stack, then addresses.
START = "FAULT_INJECTION: forcing a failure."
REST = re.compile(r"name \w+, interval|space -?\d+, times|CPU: \d+ |Hardware name|Stack:|Call Trace:|"
                  r"( ?[0-9a-f]{8,16})+$| ?\[<[0-9a-f]+>\]|$")
FRAME = re.compile(r"\[<[0-9a-f]+>\] (\w[\w.]*)\+\S+ \[(\w+)\]")


def write(path, data):
    """Write to a file. Return 0, or a negative error."""
    try:
        with open(path, "wb", buffering=0) as file:
            file.write(data)
        return 0
    except OSError as error:
        return -error.errno


def setting(kind, name, value):
    """Write a setting; repeat it if an allocation for the write itself fails."""
    for _ in range(100):
        try:
            with open(f"/sys/kernel/debug/{kind}/{name}", "w", encoding="ascii") as file:
                file.write(str(value))
            return
        except OSError as error:
            if error.errno != errno.ENOMEM:
                return


def available():
    return all(os.path.exists(f"/sys/kernel/debug/{kind}/probability") for kind in KINDS)


def prepare():
    """Fail only on request; log each failure with its stack."""
    for kind in KINDS:
        for name, value in (("probability", 0), ("interval", 1), ("times", -1), ("task-filter", "N"),
                            ("verbose", 2), ("verbose_ratelimit_interval_ms", 0), ("ignore-gfp-wait", "N")):
            setting(kind, name, value)
    setting("fail_page_alloc", "min-order", 0)


def fail_atomic(percent):
    """Make a percentage of atomic allocations fail, as in the paths of any packets. While the
    settings are written, none fails, since the writes themselves must not fail."""
    for kind in KINDS:
        setting(kind, "probability", 0)
        setting(kind, "ignore-gfp-wait", "Y" if percent else "N")
    for kind in KINDS:
        setting(kind, "probability", percent)


def forget(words):
    """Clear the kernel's log of expected lines. If it is empty, the lab reads the console's."""
    subprocess.run(["dmesg", "-C"], check=True)
    with open("/dev/kmsg", "w", encoding="ascii") as log:
        log.write(words + "\n")


class Nth:
    """Makes the nth allocation of a system call of this thread fail."""

    def __init__(self):
        self.file = None
        with contextlib.suppress(OSError):
            self.file = os.open("/proc/thread-self/fail-nth", os.O_RDWR)

    def during(self, number, call):
        """Return (result of the call, True if an allocation failed)."""
        os.pwrite(self.file, str(number).encode(), 0)
        try:
            result = call()
        finally:
            left = int(os.pread(self.file, 16, 0))
            os.pwrite(self.file, b"0", 0)
        return result, left == 0


class Log:
    """Reads the kernel's log: counts failures, and keeps reports."""

    def __init__(self):
        self.file = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK)
        self.in_failure = self.named = False
        self.failures, self.lost = 0, 0
        self.sites = collections.Counter()      # {(module, function): failures below it}
        self.reports = []
        self.read()

    def lines(self):
        while True:
            try:
                record = os.read(self.file, 8192).decode(errors="replace")
            except BlockingIOError:
                return
            except OSError as error:
                if error.errno != errno.EPIPE:
                    raise
                self.lost += 1
                continue
            yield from record.partition(";")[2].split("\n ")[0].splitlines()

    def read(self):
        """Return the number of allocations that failed since the last call."""
        before = self.failures
        for line in self.lines():
            self.take(line.replace("\\x0a", "\n"))
        return self.failures - before

    def take(self, line):
        if START in line:
            self.failures += 1
            self.in_failure, self.named = True, False
        elif self.in_failure and REST.match(line):
            frame = FRAME.search(line)
            if frame and not self.named:
                self.named = True
                self.sites[frame[2], frame[1].split(".")[0]] += 1
        else:
            self.in_failure = False
            if TROUBLE.search(line):
                self.reports.append(line)

    def of_modules(self, modules):
        """Return {module: {function: failures}} for these modules."""
        found = {}
        for (module, function), number in sorted(self.sites.items()):
            if module in modules:
                found.setdefault(module, {})[function] = number
        return found
