# SPDX-License-Identifier: GPL-2.0
"""Claims as TAP, and commands that must succeed."""
import re
import subprocess
import sys


class Tap:
    """Claims as TAP."""
    count = failures = 0

    def claim(self, what, good, detail=""):
        self.count += 1
        self.failures += not good
        print(("ok" if good else "not ok"), self.count, "-", what)
        for line in detail.splitlines():
            print("#", line)
        sys.stdout.flush()

    def result(self, good, what, detail=""):
        """claim(), for conditions that say it all."""
        self.claim(what, good, detail)

    def equal(self, what, got, want):
        """want: a value, or a function that judges one."""
        good = want(got) if callable(want) else got == want
        self.claim(what, good, "" if good else f"got {got}, want {want}")

    def done(self):
        """The last line; the exit status."""
        print(f"1..{self.count}")
        return 1 if self.failures else 0


def must(command):
    """What it says; plain commands need no shell, which costs as much as they do."""
    shell = re.search(r"[|&;<>()`$*?~#\"'\n]", command)
    done = subprocess.run(["sh", "-ec", command] if shell else command.split(),
                          capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{command}: {done.stderr.strip()}")
    return done.stdout
