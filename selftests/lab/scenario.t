#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Messages for bad input to the lab: one line with the file, the place, what is allowed."""
import os
import subprocess
import sys
import tempfile

TOP = os.path.realpath(os.path.join(os.path.dirname(__file__), "../.."))
sys.path.insert(0, f"{TOP}/tools/lab")
sys.dont_write_bytecode = True

from hoplab import LabError, build, guest, runner, scenario, units  # noqa: E402

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

# A host on a switch of its own: an island.
APART = '[[link]]\na = "{}"\nb = "s2"\nrate = "1gbit"\n'

CHANGE = '[[change]]\nat = "5ms"\na = "h1"\nb = "s1"\nmtu = 1400\n'
TUNNEL = '[[tunnel]]\na = "s1"\nb = "s2"\nkind = "gre"\nbehind_a = "h1"\nbehind_b = "h2"\n'
FIREWALL = '[[host]]\nname = "s1"\nnft = """\ntable ip box {\n\tchain c {\n\t\tip ttl 1 counter comment "seen"\n\t}\n}\n"""\n'

# The network of GOOD, and a fabric in its place.
NETWORK = GOOD[GOOD.index("[network]"):GOOD.index("[[flow]]")]
FABRIC = '[fabric]\nkind = "leaf-spine"\nhosts = 2\nleaves = 2\nspines = 2\nrate = "1gbit"\n'
POISSON = 'mode = "poisson"\nsizes = "hadoop"\nload = 0.3\n'
INCAST = 'mode = "incast"\nbytes = 1000\nfanin = 1\nload = 0.3\n'

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
    ("no seed", 'duration = "10ms"', 'duration = "10ms"\nseeds = []', ["run: seeds", "at least one"]),
    ("a seed twice", 'duration = "10ms"', 'duration = "10ms"\nseeds = [1, 1]', ["run: seeds", "1 is there twice"]),
    ("no duration at all", '"10ms"', '"0s"', ["run: duration", "1us to 10000s"]),
    ("endless timeout", 'duration = "10ms"', 'duration = "10ms"\ntimeout = "0s"', ["run: timeout", "1us to"]),
    ("range downwards", '"h[1-2]"]', '"h[3-1]"]', ["network: hosts", "'h[3-1]'", "upwards"]),
    ("range without end", '"h[1-2]"]', '"h[1-9999999]"]', ["network: hosts", "10000 names"]),
    ("no hosts", 'hosts = ["h[1-2]"]', 'hosts = []', ["network: hosts", "at least one"]),
    ("a name of the lab's", '["s1"]', '["net"]', ["network: switches", "'net'", "another name"]),
    ("flow from nobody", 'from = "h1"', 'from = []', ["flow 1: from", "at least one"]),
    ("flow to itself", 'to = "h2"', 'to = "h1"', ["flow 1", "'h1' to itself"]),
    ("flow without a path", 'switches = ["s1"]\n[[link]]\na = "h[1-2]"',
     'switches = ["s1", "s2"]\n' + APART.format("h2") + '[[link]]\na = "h1"', ["flow 1", "no path from 'h1' to 'h2'"]),
    ("route without a path", 'hosts = ["h[1-2]"]\nswitches = ["s1"]\n',
     'hosts = ["h[1-3]"]\nswitches = ["s1", "s2"]\n' + APART.format("h3") +
     '[[route]]\nfrom = "h1"\nto = "h3"\noptions = ""\n', ["route 1", "no path from 'h1' to 'h3'"]),
    ("quotes in a flow's name", 'name = "long"', "name = 'lo\"ng'", ["flow 1: name", "letters, digits"]),
    ("stop before start", 'cc = "{cc}"', 'start = "5ms"\nstop = "4ms"', ["flow 1: start", "4 ms"]),
    ("stop after the end", 'cc = "{cc}"', 'stop = "11ms"', ["flow 1: stop", "duration"]),
    ("stagger beyond the end", 'cc = "{cc}"', 'parallel = 3\nstagger = "5ms"', ["flow 1: start", "last connection"]),
    ("delay above the wire's", '"25us"', '"60s"', ["link 1: delay", "'60s'", "0s to 10s"]),
    ("overhead above the wire's", 'delay = "25us"', 'overhead = 1025', ["link 1: overhead", "0 to 1024"]),
    ("period of nothing", '[[claim]]', '[sample]\nqueue = "0s"\n[[claim]]', ["sample: queue", "'0s'", "1us"]),
    ("size beyond all", 'cc = "{cc}"', 'bytes = 9000000000000000000', ["flow 1: bytes", "2^50"]),
    ("claim's window beyond the end", 'min = 1', 'min = 1\nwindow = ["1ms", "11ms"]', ["claim 1: window", "duration"]),
    ("min above max", 'min = 1', 'min = "2 * 2"\nmax = 3', ["claim 1", "'min' exceeds 'max'"]),
    ("bound that is no number", 'min = 1', 'min = nan', ["claim 1: min", "nan"]),
    ("number beyond all", 'min = 1', 'min = "1e999"', ["claim 1: min", "too large"]),
    ("claim on no case", 'min = 1', 'min = 1\ncase = []', ["claim 1: case", "at least one"]),
    ("unknown group of a metric", '"goodput"', "\"goodput('shrt')\"", ["claim 1: metric", "group 'shrt'", "allowed: long"]),
    ("unsampled port of a metric", '"goodput"', "\"drops('s1:h2')\"", ["claim 1: metric", "port 's1:h2'", "allowed"]),
    ("no port for a metric", '"goodput"', '"drops"', ["claim 1: metric", "port None", "none is there"]),
    ("untraced event of a metric", '"goodput"', "\"trace_count('tcp:tcp_probe')\"", ["claim 1: metric", "event 'tcp:tcp_probe'"]),
    ("unknown keyword of a metric", '"goodput"', "\"goodput(flow='long')\"", ["claim 1: metric", "goodput takes: group"]),
    ("missing argument of a metric", '"goodput"', '"fct_p"', ["claim 1: metric", "fct_p takes: share group"]),
    ("quantile", '"goodput"', '"fct_p(101)"', ["claim 1: metric", "share 101", "0 to 100"]),
    ("formula almost as deep", '"goodput"', f"\"{'-' * 390}godput\"", ["claim 1: metric", "'godput'"]),
    ("formula as deep as Python", '"goodput"', f"\"{'-' * 5000}1\"", ["claim 1: metric", "400 characters"]),
    ("uncounted comment of a metric", '"goodput"', "\"counted('seen')\"", ["claim 1: metric", "counter 'seen'", "none is there"]),
    ("unknown comment of a metric", '[[claim]]\nmetric = "goodput"',
     FIREWALL + "[[claim]]\nmetric = \"counted('sen')\"", ["claim 1: metric", "counter 'sen'", "allowed: seen"]),
    ("an IOAM namespace of 17 bits", '[[flow]]', '[[host]]\nname = "s1"\nioam = 65536\n[[flow]]',
     ["host 1: ioam", "0 to 65535"]),
    ("rules that are no text", '[[flow]]', '[[host]]\nname = "s1"\nnft = 1\n[[flow]]', ["host 1: nft", "write a string"]),
    ("unknown key of a change", '[[flow]]', CHANGE + 'speed = "1gbit"\n[[flow]]', ["change 1", "'speed'", "allowed", "mtu"]),
    ("change of nothing", '[[flow]]', CHANGE.replace("mtu", "# mtu") + '[[flow]]', ["change 1", "nothing changes", "rate"]),
    ("loss of a change", '[[flow]]', CHANGE + 'loss = 2\n[[flow]]', ["change 1: loss", "2"]),
    ("change without a time", '[[flow]]', CHANGE.replace("at", "# at") + '[[flow]]', ["change 1", "'at' is missing"]),
    ("unknown node of a change", '[[flow]]', CHANGE.replace('"h1"', '"h7"') + '[[flow]]', ["change 1: a", "'h7'", "h1 h2 s1"]),
    ("change of no link", '[[flow]]', CHANGE.replace('"s1"', '"h2"') + '[[flow]]', ["change 1", "no link of h1 and h2"]),
    ("change after the end", '[[flow]]', CHANGE.replace("5ms", "10ms") + '[[flow]]', ["change 1: at", "duration, 10 ms"]),
    ("reordering of a change", '[[flow]]', CHANGE + 'reorder = 2\n[[flow]]', ["change 1: reorder", "2"]),
    ("a change up that is no flag", '[[flow]]', CHANGE + 'up = 1\n[[flow]]', ["change 1: up", "true or false"]),
    ("routes of a bridge", 'switches = ["s1"]', 'bridges = ["s1"]', ["change 1", "'s1' is a bridge"],
     ('[[flow]]', CHANGE + 'routed = false\n[[flow]]')),
    ("unknown metric of a column", '[[claim]]', '[[column]]\ntitle = "t"\nmetric = "godput"\n[[claim]]', ["column 1: metric", "'godput'"]),
    ("a column's window beyond the end", '[[claim]]', '[[column]]\ntitle = "t"\nmetric = "goodput"\nwindow = ["1ms", "11ms"]\n[[claim]]',
     ["column 1: window", "duration"]),
    ("rate of a metric", '"goodput"', "\"recovery('9k')\"", ["claim 1: metric", "rate_bps '9k'", "write"]),
    ("MTU of a change", '[[flow]]', CHANGE.replace("1400", "500") + '[[flow]]', ["change 1: mtu", "576 to 65000"]),
    ("send buffer", 'cc = "{cc}"', 'sndbuf = "2g"', ["flow 1: sndbuf", "'2g'", "4k to 1g"]),
    ("a tunnel of an unknown kind", '[[flow]]', TUNNEL.replace("gre", "l2tp") + '[[flow]]', ["tunnel 1: kind", "'l2tp'", "ipip gre vxlan"]),
    ("a tunnel to nowhere", '[[flow]]', TUNNEL + '[[flow]]', ["tunnel 1: b", "'s2'", "h1 h2 s1"]),
    ("a tunnel's end behind it", '[[flow]]', TUNNEL.replace("s2", "h2") + '[[flow]]', ["tunnel 1: behind_b", "not behind it"]),
    ("a tunnel of two ends on one side", '[[flow]]', TUNNEL.replace('"s2"', '["h1", "h2"]') + '[[flow]]', ["tunnel 1: b", "one name"]),
    ("a source's rate without a unit", 'cc = "{cc}"', 'rate = 100', ["flow 1: rate", "is not a rate"]),
    ("a bridge of too many links", NETWORK, '[network]\nhosts = "h[1-1024]"\nbridges = "b1"\n[[link]]\na = "h[1-1024]"\nb = "b1"\n'
     'rate = "1gbit"\n', ["bridge 'b1' has 1024 links", "1023"]),
    ("a fabric's unknown kind", NETWORK, FABRIC.replace("leaf-spine", "torus"), ["fabric: kind", "'torus'", "leaf-spine fat-tree"]),
    ("a fabric without a number", NETWORK, FABRIC.replace("spines = 2", ""), ["fabric: 'spines' is missing", "hosts leaves spines"]),
    ("a fabric with another's number", NETWORK, FABRIC + "k = 4\n", ["fabric: 'k' is of another kind", "hosts leaves spines"]),
    ("a fat tree of odd switches", NETWORK, FABRIC.replace("leaf-spine", "fat-tree") + "k = 5\n", ["fabric: k", "even number, 2 to 24"]),
    ("a fabric without a rate", NETWORK, FABRIC.replace("rate", "# rate"), ["fabric: 'rate' is missing"]),
    ("a fabric of too many links", NETWORK, FABRIC.replace("hosts = 2\nleaves = 2", "hosts = 2048\nleaves = 17"), ["fabric: 34850 links", "32768"]),
    ("unknown key of a fabric", NETWORK, FABRIC + "depth = 3\n", ["fabric", "'depth'", "allowed", "up_rate"]),
    ("hosts beside a fabric", NETWORK, FABRIC + '[network]\nhosts = ["r1"]\n', ["network", "'hosts'", "allowed: sysctl"]),
    ("a fabric's link again", NETWORK, FABRIC + '[[link]]\na = "h1"\nb = "l1"\nrate = "1gbit"\n', ["link 1", "h1 and l1"]),
    ("node that a fabric has not", NETWORK, FABRIC + '[[link]]\na = "h5"\nb = "l1"\nrate = "1gbit"\n', ["link 1: a", "'h5'", "h1 h2 h3 h4 l1"]),
    ("arrivals without sizes", 'cc = "{cc}"', POISSON.replace("sizes", "# sizes"), ["flow 1: sizes", "'poisson' needs it"]),
    ("arrivals without a load", 'cc = "{cc}"', POISSON.replace("load", "# load"), ["flow 1: load", "'poisson' needs it"]),
    ("a load of nothing", 'cc = "{cc}"', POISSON.replace("0.3", "0"), ["flow 1: load", "above 0"]),
    ("unknown sizes", 'cc = "{cc}"', POISSON.replace("hadoop", "zipf"), ["flow 1: sizes", "'zipf'", "hadoop websearch"]),
    ("a file that holds no sizes", 'cc = "{cc}"', POISSON.replace("hadoop", "bad.toml"), ["flow 1: sizes", "bad.toml: line 2", "bytes and percent"]),
    ("sizes where there are bytes", 'cc = "{cc}"', 'sizes = "hadoop"', ["flow 1: sizes", "means nothing in mode 'once'"]),
    ("bytes where there are sizes", 'cc = "{cc}"', POISSON + "bytes = 9\n", ["flow 1: bytes", "means nothing in mode 'poisson'", "load sizes"]),
    ("arrivals with nobody to send to", 'from = "h1"\nto = "h2"', 'from = "h1"\nto = "h1"\n' + POISSON, ["flow 1: to", "none to send to but itself"]),
    ("too many connections", 'duration = "10ms"', 'duration = "10000s"', ["flow 1", "connections", "1048576", "lower the load"],
     ('cc = "{cc}"', POISSON)),
    ("incast without senders", 'cc = "{cc}"', INCAST.replace("fanin", "# fanin"), ["flow 1: fanin", "'incast' needs it"]),
    ("incast of too many senders", 'cc = "{cc}"', INCAST.replace("fanin = 1", "fanin = 2"), ["flow 1: fanin", "2 senders, and a receiver has 1"]),
    ("incast by load and by period", 'cc = "{cc}"', INCAST + 'period = "1ms"\n', ["flow 1: period", "not both"]),
    ("incast by neither", 'cc = "{cc}"', INCAST.replace("load", "# load"), ["flow 1: period", "or a load"]),
    ("size of a metric", '"goodput"', "\"slowdown_p(99, 'long', 0, '9k')\"", ["claim 1: metric", "high_bytes '9k'", "write"]),
    ("pairs of unequal lists", 'to = "h2"', 'to = ["h2", "h1"]\npairwise = true', ["flow 1: pairwise", "1 names", "2 on the other"]),
    ("links of unequal lists", 'b = "s1"', 'b = "s1"\npairwise = true', ["link 1: pairwise", "2 names on one side and 1"]),
    ("pairs of transfers that arrive by chance", 'cc = "{cc}"', POISSON + "pairwise = true\n", ["flow 1: pairwise", "mode 'poisson'"]),
    ("arithmetic over a word", 'cc = "{cc}"', 'bytes = "{= cc * 2}"', ["flow 1: bytes", "cc * 2", "allowed: numbers"]),
    ("arithmetic without a result", 'cc = "{cc}"', 'bytes = "{= 1 / 0}"', ["flow 1: bytes", "division by zero"]),
    ("a queue that is none", '[[flow]]', CHANGE + 'queue_a = "$(reboot)"\n[[flow]]', ["change 1: queue_a", "bfifo limit"]),
    ("one qdisc that becomes two", '[[flow]]', CHANGE + 'queue_b = "int switch_id 1 / bfifo"\n[[flow]]', ["change 1: queue_b", "several"]),
    ("not TOML", 'title = "a"', 'title = ', ["not TOML", "line 2"]),
]


def lab(*words):
    return subprocess.run([f"{TOP}/tools/lab/lab", *words], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL)


def fault(answer, words):
    """Return the fault of the answer, or None."""
    if answer.returncode != 2:
        return f"exit status {answer.returncode}, not 2"
    if "Traceback" in answer.stderr or answer.stderr.count("\n") != 1:
        return "not one line"
    missing = [w for w in words if w not in answer.stderr]
    return f"without {missing}" if missing else None


def main():
    tests = [(name, lambda file, pairs=((old, new), *more): refused(file, pairs), words)
             for name, old, new, words, *more in CASES]
    tests += [
        ("no such scenario", lambda file: lab("run", "nosuch"), ["nosuch", "smoke"]),
        ("no such file", lambda file: lab("run", "./nosuch.toml"), ["nosuch.toml"]),
        ("no such case", lambda file: lab("run", "smoke", "--only", "x"), ["--only x", "all"]),
        ("a report of nothing", lambda file: lab("report", os.path.dirname(file)), ["no results"]),
        ("a report of no result", lambda file: report_of(file, "3\n"), ["bad.jsonl: line 1"]),
        ("a report of a torn result", lambda file: report_of(file, '{"type":"meta","schema":1}\n{"type":'), ["bad.jsonl: line 2"]),
        ("two scenarios of one name", same_name, ["good.toml", "good.all.1.jsonl", "rename"]),
        ("no guest at once", lambda file: lab("run", "smoke", "--jobs", "0"), ["--jobs", "1 to 1024"]),
        ("seed", lambda file: lab("run", "smoke", "--seed", "-1"), ["--seed", "0 to 4294967296"]),
        ("seconds", lambda file: lab("exec", "--timeout", "nan", "true"), ["--timeout", "'nan'"]),
        ("unknown option", lambda file: lab("run", "--sed", "1"), ["--sed"]),
    ]
    print(f"1..{len(tests) + 4}")
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
    wrong = memory_fault()
    failed += bool(wrong)
    print(f"{'not ' if wrong else ''}ok {len(tests) + 2} - a guest's memory is where it can be")
    if wrong:
        print(f"# {wrong}")
    wrong = nft_fault()
    failed += bool(wrong)
    print(f"{'not ' if wrong else ''}ok {len(tests) + 3} - a scenario with firewalls asks for nft first")
    if wrong:
        print(f"# {wrong}")
    wrong = units_fault()
    failed += bool(wrong)
    print(f"{'not ' if wrong else ''}ok {len(tests) + 4} - units as tc takes them, in small letters and in large ones")
    if wrong:
        print(f"# {wrong}")
    return 1 if failed else 0


def units_fault():
    pairs = [(units.rate_bps("10Gbit"), 10**10), (units.rate_bps("2.5gbit"), 2_500_000_000), (units.size_bytes("1MB"), 1 << 20),
             (units.size_bytes("30k"), 30 << 10), (units.time_ns("0.1S"), 10**8)]
    return None if all(found == wanted for found, wanted in pairs) else str(pairs)


def nft_fault():
    def fault_of(word):
        found = scenario.load(word)
        try:
            runner.need_nft([runner.Job(found, case, 1, "release", None) for case in found.cases], path="/nonexistent")
        except LabError as error:
            return str(error)
        return None

    if fault_of("smoke"):
        return "asked for where there is no firewall"
    said = fault_of("xcp-middlebox") or "not asked for"
    return None if "no nft" in said and "setup.sh" in said else said


def memory_fault():
    """/proc has no room and is no place for programs."""
    with tempfile.TemporaryDirectory() as folder:
        if guest.memory_folder(["/proc", "/nonexistent", folder]) != folder:
            return "a folder that would do was not taken"
    try:
        return f"{guest.memory_folder(['/proc', '/nonexistent'])} was taken"
    except LabError as error:
        return None if "TMPDIR" in str(error) and "MB free" in str(error) else str(error)


def scratch_race():
    """Another lab command removes its run directory while this one looks for old ones."""
    class Vanishing(type(build.BUILD)):
        def is_dir(self):
            found = super().is_dir()
            self.rmdir()
            return found

    old = build.BUILD
    with tempfile.TemporaryDirectory() as folder:
        build.BUILD = Vanishing(folder)
        try:
            Vanishing(folder, "run/other").mkdir(parents=True)
            return None if build.scratch("run-").exists() else "no run directory"
        except OSError as error:
            return str(error)
        finally:
            build.BUILD = old


def report_of(file, text):
    with open(f"{os.path.dirname(file)}/bad.jsonl", "w") as out:
        out.write(text)
    return lab("report", os.path.dirname(file))


def same_name(file):
    files = [f"{os.path.dirname(file)}/{n}/good.toml" for n in "ab"]
    for name in files:
        os.mkdir(os.path.dirname(name))
        with open(name, "w") as out:
            out.write(GOOD)
    return lab("run", *files)


def refused(file, pairs):
    text = GOOD
    for old, new in pairs:
        assert text.count(old) >= 1, old
        text = text.replace(old, new, 1)
    with open(file, "w") as out:
        out.write(text)
    return lab("run", file)


sys.exit(main())
