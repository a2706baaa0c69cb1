#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Names of tests follow one rule, words joined by underscores; a hyphen separates the variant that
selftests/run.sh knows: NAME-SERIES.t and NAME-matrix.t. Each entry of debug.list names a test, its
program and its module, and debug.sh makes a wrapper for each.
"""
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from tap import Tap

GOOD = re.compile(r"[a-z0-9_]+(?:-(?:matrix|\d+(?:\.\d+)*)\.t|\.(?:t|py|sh))")


def names(folder):
    """The tests, programs and shell files below a folder."""
    for place, subfolders, files in os.walk(folder):
        subfolders[:] = sorted(set(subfolders) - {"__pycache__"})
        yield from (os.path.join(place, name) for name in sorted(files)
                    if name.endswith((".t", ".py", ".sh")))


def badly_named(paths):
    return [path for path in paths if not GOOD.fullmatch(os.path.basename(path))]


def entries():
    with open("selftests/debug.list", encoding="utf-8") as file:
        return [line.split() for line in file if not line.startswith("#")]


def missing():
    complaints = []
    for name, needs, program, *arguments in entries():
        files = [f"selftests/{name}.t", f"selftests/{program}"]
        if needs not in ("-", "nft"):
            files.append(f"selftests/netns/{needs}/{needs}.c")
        complaints += [f"{name}: no {path}" for path in files if not os.path.exists(path)]
        if ("@" in arguments) != (needs not in ("-", "nft")):
            complaints.append(f"{name}: @ stands for a module, and a module needs its @")
    return complaints


def wrappers():
    """Complaints about the wrappers that debug.sh writes."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(["selftests/debug.sh", "--wrappers", folder], capture_output=True,
                              text=True, check=False)
        got = done.stdout.split()
        want = [f"{folder}/{entry[0]}-debug.t" for entry in entries()]
        unusable = [path for path in got if not os.access(path, os.X_OK)]
    return [] if got == want and not unusable else [f"got {got}, want {want}", done.stderr]


def refused():
    done = subprocess.run(["selftests/debug.sh", "netns/nosuch"], capture_output=True, text=True, check=False)
    good = done.returncode and done.stdout.startswith("Bail out!") and "netns/xcp_wire" in done.stdout
    return [] if good else [done.stdout]


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
    planted = ["a/b-c.py", "a/B.t", "a/b-7.x.t"]
    good = ["a/b_c.py", "a/b-6.12.t", "a/b_c-matrix.t"]
    tap = Tap()
    for claim, complaints in (
            ("planted bad names are found, good names are not",
             [] if badly_named(planted + good) == planted else [str(badly_named(planted + good))]),
            ("tests' files have names of words joined by underscores", badly_named(names("selftests"))),
            ("each entry of debug.list names a test, a program and a module that exist", missing()),
            ("debug.sh writes a wrapper for each entry of debug.list", wrappers()),
            ("debug.sh refuses a name that is not in debug.list, and lists the names", refused())):
        tap.claim(claim, not complaints, "\n".join(complaints))
    return tap.done()


sys.exit(main())
