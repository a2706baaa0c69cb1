#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""What bad input to the lab gets: one line with the file, the place, what is allowed."""
import os
import subprocess
import sys
import tempfile

TOP = os.path.realpath(os.path.join(os.path.dirname(__file__), "../.."))
GOOD = """
title = "a"
[params]
cc = "cubic"
[run]
duration = "10ms"
[network]
hosts = ["h[1-2]"]
switches = ["s1"]
[[link]]
a = "h[1-2]"
b = "s1"
rate = "1gbit"
delay = "25us"
[[flow]]
name = "long"
from = "h1"
to = "h2"
cc = "{cc}"
[[claim]]
metric = "goodput"
min = 1
"""

# name, text to replace, its replacement, words the answer must have
CASES = [
    ("unknown top-level key", 'title = "a"', 'tilte = "a"', ["'tilte'", "did you mean 'title'", "allowed"]),
    ("unknown key of a link", 'rate = "1gbit"', 'rate = "1gbit"\nspeed = 1', ["link 1", "'speed'", "allowed", "delay"]),
    ("unknown key of a flow", 'cc = "{cc}"', 'size = 1', ["flow 1", "'size'", "allowed"]),
    ("unknown key of run", 'duration = "10ms"', 'duration = "10ms"\nwarm = 1', ["run", "'warm'", "warmup"]),
    ("missing key", 'rate = "1gbit"', '', ["link 1", "'rate' is missing"]),
    ("missing table", '[run]\nduration = "10ms"', '', ["[run] is missing"]),
    ("missing key of run", 'duration = "10ms"', '', ["run", "'duration' is missing"]),
    ("unit of a rate", '"1gbit"', '"1gbut"', ["link 1: rate", "'1gbut'", "gbit"]),
    ("rate without unit", '"1gbit"', '1000000', ["link 1: rate", "gbit"]),
    ("rate out of range", '"1gbit"', '"2tbit"', ["link 1: rate", "10kbit to 1.6tbit"]),
    ("unit of a time", '"25us"', '"25"', ["link 1: delay", "'25'", "us"]),
    ("negative time", '"25us"', '"-25us"', ["link 1: delay", "'-25us'"]),
    ("unit of a size", 'cc = "{cc}"', 'bytes = "3x"', ["flow 1: bytes", "'3x'", "30k"]),
    ("unknown node of a link", 'b = "s1"', 'b = "s9"', ["link 1: b", "'s9'", "h1 h2 s1"]),
    ("unknown node of a flow", 'to = "h2"', 'to = "s1"', ["flow 1: to", "'s1'", "h1 h2"]),
    ("bad name of a node", '"h[1-2]"]', '"H 1"]', ["network: hosts", "'H 1'"]),
    ("long name of a node", '["s1"]', '["switch123"]', ["network: switches", "8 letters"]),
    ("a node twice", '["s1"]', '["h1"]', ["network", "'h1' is there twice"]),
    ("a link twice", 'a = "h[1-2]"', 'a = ["h1", "h1", "h2"]', ["link 1", "h1 and s1"]),
    ("a node without link", 'a = "h[1-2]"', 'a = "h1"', ["'h2' has no link"]),
    ("unknown cc", 'cc = "{cc}"', 'cc = "cubik"', ["flow 1: cc", "'cubik'", "cubic", "dctcp_ms"]),
    ("unknown cc by parameter", 'cc = "cubic"', 'cc = "vegas"', ["flow 1: cc", "'vegas'", "allowed"]),
    ("unknown parameter", '"{cc}"', '"{dd}"', ["flow 1: cc", "{dd}", "allowed", "cc"]),
    ("probability", 'delay = "25us"', 'loss = 2', ["link 1: loss", "0 to 1"]),
    ("qdisc string", 'delay = "25us"', 'queue = "$(reboot)"', ["link 1: queue", "bfifo limit"]),
    ("sysctl", 'switches =', 'sysctl = { a = 1 }\nswitches =', ["network: sysctl", "net.ipv4"]),
    ("flag", 'cc = "{cc}"', 'verify = 1', ["flow 1: verify", "true or false"]),
    ("mode", 'cc = "{cc}"', 'mode = "twice"', ["flow 1: mode", "once persistent reconnect"]),
    ("mode without size", 'cc = "{cc}"', 'mode = "persistent"', ["flow 1: bytes", "size"]),
    ("count of one transfer", 'cc = "{cc}"', 'count = 3\nbytes = 9', ["flow 1: count", "persistent"]),
    ("family", 'cc = "{cc}"', 'family = 5', ["flow 1: family", "4 6"]),
    ("start after the end", 'cc = "{cc}"', 'start = "1s"', ["flow 1: start", "duration"]),
    ("warm-up beyond the end", 'duration = "10ms"', 'duration = "10ms"\nwarmup = "1s"', ["run", "window"]),
    ("seeds", 'duration = "10ms"', 'duration = "10ms"\nseeds = ["a"]', ["run: seeds", "whole number"]),
    ("unknown port", '[[claim]]', '[sample]\nports = ["s1:h7"]\n[[claim]]', ["sample: ports", "'s1:h7'", "s1:h2"]),
    ("tracepoint", '[[claim]]', '[sample]\ntrace = ["tcp"]\n[[claim]]', ["sample: trace", "'tcp'", "tcp:tcp_probe"]),
    ("unknown metric", '"goodput"', '"godput"', ["claim 1: metric", "'godput'", "goodput"]),
    ("formula", '"goodput"', '"goodput +"', ["claim 1: metric", "formula"]),
    ("formula that is a program", '"goodput"', '"open(\'x\')"', ["claim 1: metric", "unknown metric 'open'"]),
    ("unknown case in a formula", '"goodput"', '"reno.goodput"', ["claim 1: metric", "case 'reno'", "allowed"]),
    ("unknown case of a claim", 'min = 1', 'min = 1\ncase = "x"', ["claim 1: case", "'x'", "allowed"]),
    ("claim without bound", 'min = 1', '', ["claim 1", "'min' or 'max'"]),
    ("sweep", '[params]', '[sweep]\nk = 3\n[params]', ["sweep", "list"]),
    ("a table where a list belongs", '[[flow]]', '[flow]', ["flow", "[[flow]]"]),
    ("not TOML", 'title = "a"', 'title = ', ["not TOML", "line 2"]),
]


def lab(*words):
    return subprocess.run([f"{TOP}/tools/lab/lab", *words], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL)


def fault(answer, words):
    """What is wrong with the answer, or None."""
    if answer.returncode != 2:
        return f"exit status {answer.returncode}, not 2"
    if "Traceback" in answer.stderr or answer.stderr.count("\n") != 1:
        return "not one line"
    missing = [w for w in words if w not in answer.stderr]
    return f"without {missing}" if missing else None


def main():
    tests = [(name, lambda file, a=old, b=new: refused(file, a, b), words)
             for name, old, new, words in CASES]
    tests += [
        ("no such scenario", lambda file: lab("run", "nosuch"), ["nosuch", "smoke"]),
        ("no such file", lambda file: lab("run", "./nosuch.toml"), ["nosuch.toml"]),
        ("no such case", lambda file: lab("run", "smoke", "--only", "x"), ["--only x", "all"]),
        ("a report of nothing", lambda file: lab("report", os.path.dirname(file)), ["no results"]),
    ]
    print(f"1..{len(tests) + 1}")
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        file = f"{folder}/bad.toml"
        for number, (name, run, words) in enumerate(tests, 1):
            answer = run(file)
            wrong = fault(answer, words)
            failed += bool(wrong)
            print(f"{'not ' if wrong else ''}ok {number} - {name}")
            print(f"# {answer.stderr.strip()}" + (f"\n# {wrong}" if wrong else ""))
    listed = lab("list")
    failed += bool(listed.returncode)
    print(f"{'not ' if listed.returncode else ''}ok {len(tests) + 1} - all scenarios of the tree are well-formed")
    return 1 if failed else 0


def refused(file, old, new):
    assert GOOD.count(old) >= 1, old
    with open(file, "w") as out:
        out.write(GOOD.replace(old, new, 1))
    return lab("run", file)


sys.exit(main())
