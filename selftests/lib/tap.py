# SPDX-License-Identifier: GPL-2.0
"""Print claims as TAP, and run commands that must succeed."""
import re
import subprocess
import sys


class Tap:
    """Prints claims as TAP."""
    count = failures = 0

    def claim(self, what, good, detail=""):
        self.count += 1
        self.failures += not good
        print(("ok" if good else "not ok"), self.count, "-", what)
        for line in detail.splitlines():
            print("#", line)
        sys.stdout.flush()

    def result(self, good, what, detail=""):
        """claim(), for conditions that need no detail."""
        self.claim(what, good, detail)

    def equal(self, what, got, want):
        """want: the expected value, or a function that returns True for a correct one."""
        good = want(got) if callable(want) else got == want
        self.claim(what, good, "" if good else f"got {got}, want {want}")

    def done(self):
        """Print the last line, and return the exit status."""
        print(f"1..{self.count}")
        return 1 if self.failures else 0


def must(command):
    """Return a command's output. A plain command runs without a shell, to save time."""
    shell = re.search(r"[|&;<>()`$*?~#\"'\n]", command)
    done = subprocess.run(["sh", "-ec", command] if shell else command.split(),
                          capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{command}: {done.stderr.strip()}")
    return done.stdout
