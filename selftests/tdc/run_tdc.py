#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Run test cases in the JSON format of the kernel's tdc and print TAP.

    run_tdc.py CASES.json...

Needs root and stock tc with TC_LIB_DIR set. Every case gets a new network
namespace with a dummy device, as with tdc's nsPlugin. Known variables: $TC,
$IP, $DUMMY, and $DIR (the folder of this program).

In the lab's guest, starting a program takes 10 to 30 ms of CPU time, and starting python ten times
as long. So commands run without a shell if they need none, and the programs of $DIR run in this
process.
"""
import contextlib
import ctypes
import importlib
import io
import json
import os
import re
import shlex
import subprocess
import sys

DIR = os.path.dirname(os.path.realpath(__file__))
DUMMY = "dummy1"
CLONE_NEWNET = 0x40000000
LIBC = ctypes.CDLL(None, use_errno=True)
OURS = re.compile(r"python3 \$DIR/([\w-]+)\.py ")


def fresh_namespace():
    """Enter a new namespace. The old one ends with its last process and device."""
    if LIBC.unshare(CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "unshare")


def add_dummy():
    status, _ = run("$IP link add dev $DUMMY type dummy")
    if status:
        run(f"$IP link add dev $DUMMY type veth peer name {DUMMY}p")


def call(name, words):
    """Call main(*words) of a program in this folder."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        status = importlib.import_module(name).main(*words)
    return status or 0, said.getvalue()


def run(command):
    """Run a command. Return its exit status and its output."""
    ours = OURS.match(command)
    command = (command.replace("$TC", "tc").replace("$IP", "ip")
               .replace("$DUMMY", DUMMY).replace("$DIR", DIR))
    plain = not re.search(r"[|&;<>()`$*?~#\n]", command)
    if ours and plain:
        return call(ours[1], shlex.split(command)[2:])
    done = subprocess.run(shlex.split(command) if plain else ["sh", "-c", command],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def statuses(step):
    """Return (command, allowed exit statuses). A step is a command, or [command, status...]."""
    return (step, [0]) if isinstance(step, str) else (step[0], step[1:])


def run_steps(steps):
    for step in steps:
        command, allowed = statuses(step)
        status, out = run(command)
        if status not in allowed:
            return f"{command}: exit status {status}\n{out}"
    return None


def judge(case):
    """Run a case. Return None, or a message that tells what is wrong."""
    wrong = run_steps(case.get("setup", []))
    if wrong:
        return wrong
    status, said = run(case["cmdUnderTest"])
    if status != int(case["expExitCode"]):
        return f"exit status {status}, expected {case['expExitCode']}\n{said}"
    # Our extension: the text of an error message is part of the interface.
    if not re.search(case.get("expOutput", ""), said):
        return f"does not say /{case['expOutput']}/:\n{said}"
    _, shown = run(case["verifyCmd"])
    found = len(re.findall(case["matchPattern"], shown))
    if found != int(case["matchCount"]):
        return f"{found} times /{case['matchPattern']}/, expected {case['matchCount']}:\n{shown}"
    return run_steps(case.get("teardown", []))


def main(files):
    cases = []
    for name in files:
        with open(name, encoding="utf-8") as source:
            cases += json.load(source)
    failures = 0
    print(f"1..{len(cases)}")
    for number, case in enumerate(cases, 1):
        fresh_namespace()
        add_dummy()
        wrong = judge(case)
        failures += wrong is not None
        print(f"{'not ok' if wrong else 'ok'} {number} - {case['id']} {case['name']}")
        for line in (wrong or "").splitlines():
            print(f"# {line}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
