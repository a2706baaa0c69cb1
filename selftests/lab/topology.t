#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Fabrics: what the generators link, how ECMP spreads, that sizes and arrivals are what
was asked for."""
import collections
import json
import math
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tools/lab"))
sys.dont_write_bytecode = True

from hoplab import connections, record, results, scenario, sizes, topology  # noqa: E402

# Two flow sizes that differ by 2 bytes: the packets of a port tell its number of flows.
SPREAD = """
title = "flows of one size from the first pod of a fat tree to the others"
[run]
duration = "40ms"
[network]
sysctl = {{ {sysctl} }}
[fabric]
kind = "fat-tree"
k = 4
rate = "10gbit"
delay = "1us"
[[flow]]
name = "f"
from = "h[1-4]"
to = "h[5-16]"
cc = "cubic"
mode = "poisson"
sizes = "fixed"
load = {load}
stop = "20ms"
family = {family}
[sample]
ports = ["e1:a1", "e1:a2", "e2:a1", "e2:a2", "a1:c1", "a1:c2", "a2:c3", "a2:c4"]
queue = "1ms"
sockets = "20ms"
"""
FIXED = "9999 0\n10001 100\n"
PLAIN = '"net.ipv4.fib_multipath_hash_policy" = 1, "net.ipv6.fib_multipath_hash_policy" = 1'
PATHS = """
title = "paths"
[run]
duration = "10ms"
[fabric]
kind = "{kind}"
{shape}
rate = "10gbit"
up_rate = "40gbit"
delay = "1us"
queue = "bfifo limit 100k"
up_queue = "bfifo limit 400k"
host_queue = "pfifo"
[[flow]]
name = "web"
from = "h[1-8]"
to = "h[1-8]"
mode = "{mode}"
{more}
"""
POISSON = 'sizes = "websearch"\nload = 0.5\nstop = "5ms"'
count = failed = 0


def ok(holds, name, *notes):
    global count, failed
    count += 1
    failed += not holds
    print(f"{'' if holds else 'not '}ok {count} - {name}")
    for note in notes:
        print(f"# {note}")


def case_of(text, name="t"):
    return scenario.build(Path(f"/nonexistent/{name}.toml"), tomllib.loads(text)).cases[0]


def shaped(kind, shape, mode="poisson", more=POISSON, seed=1):
    return topology.build(case_of(PATHS.format(kind=kind, shape=shape, mode=mode, more=more)), seed)


def widths(net, a, b):
    return [len(step) for step in topology.paths_of(net, a, b)]


def lab(*words):
    return subprocess.run([f"{TOP}/tools/lab/lab", *words], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, cwd=TOP)


# --- what is linked ---

def test_leaf_spine():
    net = shaped("leaf-spine", "hosts = 4\nleaves = 2\nspines = 3")
    ok(len(net.case.network.hosts) == 8 and len(net.at["l1"]) == 7 and len(net.at["s1"]) == 2,
       "leaf-spine: 4 hosts and 3 spines on a leaf, 2 leaves on a spine")
    ok(widths(net, "h1", "h8") == [1, 3, 3, 1] and widths(net, "h1", "h2") == [1, 1],
       "leaf-spine: as many ways as spines, and none above for neighbours")
    port = net.ports
    ok([port[p].egress.rate // 10**9 for p in ("h1:l1", "l1:h1", "l1:s1", "s1:l1")] == [10, 10, 40, 40]
       and [port[p].egress.queue for p in ("h1:l1", "l1:h1", "l1:s1", "s1:l1")] ==
       ["pfifo", "bfifo limit 100k", "bfifo limit 400k", "bfifo limit 400k"],
       "rates and queues are where they were stated")


def test_fat_tree():
    net = shaped("fat-tree", "k = 4")
    degrees = {n: len(net.at[n]) for n in net.nodes}
    ok(len(net.case.network.hosts) == 16 and len(net.case.network.switches) == 20
       and all(d == (1 if n.startswith("h") else 4) for n, d in degrees.items()),
       "fat-tree of 4: 16 hosts, 20 switches of 4 ports")
    ok(widths(net, "h1", "h16") == [1, 2, 4, 4, 2, 1] and widths(net, "h1", "h3") == [1, 2, 2, 1]
       and widths(net, "h1", "h2") == [1, 1], "fat-tree: 4 ways between pods, 2 within one")
    pods = {frozenset(p.peer for p in net.at[c]) for c in ("c1", "c2", "c3", "c4")}
    ok(pods == {frozenset(f"a{2 * pod + i}" for pod in range(4)) for i in (1, 2)},
       "fat-tree: a core switch meets one aggregation switch of each pod")
    base = connections.ideal_s(net, {"from": "h1", "to": "h16", "addr": "1"}, 0, False)
    ok(math.isclose(base, 6e-6), "the ideal time counts the hops between pods", f"{base}")


# --- sizes and arrivals ---

def test_sizes():
    for name, mean_bytes in (("websearch", 1711250), ("hadoop", 120420.75)):
        found = sizes.load(name, "/nonexistent")
        points = [line.split() for line in (TOP / "tools/lab/sizes" / name).read_text().splitlines()
                  if not line.startswith("#")]
        wrong = [(x, p) for x, p in points if found.quantile(float(p) / 100) != max(1, int(x))]
        ok(not wrong, f"{name}: quantiles are the file's points", *wrong)
        n = 100000
        sampled = sum(found.quantile((i + 0.5) / n) for i in range(n)) / n
        ok(math.isclose(found.mean_bytes, mean_bytes) and math.isclose(sampled, mean_bytes, rel_tol=1e-4),
           f"{name}: the mean is that of the drawn sizes", f"{found.mean_bytes} {sampled}")


def longer(net, times):
    net.case.run.duration *= times
    net.case.flows[0].stop *= times
    return net


def test_poisson():
    net = longer(shaped("fat-tree", "k = 4"), 20)
    for seed in (1, 2, 3):
        net.seed, net.found = seed, {}
        flows = connections.flows(net)
        offered = sum(f["bytes"] for f in flows) * 8 / 0.100 / sum(
            topology.ceiling_bps(net.at[f"h{i}"][0]) for i in range(1, 9))
        ok(abs(offered / 0.5 - 1) < 0.05, f"web search at 50 %, seed {seed}: the load within 5 %",
           f"{len(flows)} flows, {offered:.4f}")
    ok(not [f for f in flows if f["from"] == f["to"]], "no host sends to itself")


def test_process():
    """Against what a Poisson process and fair dice give, four standard deviations wide."""
    net = shaped("fat-tree", "k = 4", more='sizes = "hadoop"\nload = 1.0\nstop = "9.9ms"')
    flows = connections.flows(net)
    n, pairs = len(flows), collections.Counter((f["from"], f["to"]) for f in flows)
    # The jitter of 10 us moves neighbours about.
    times = sorted(f["start_ns"] for f in flows)
    half = sum(t < 4_950_000 for t in times)
    ok(abs(half - n / 2) < 4 * math.sqrt(n / 4), "arrivals: half of them in half of the time", f"{half} of {n}")
    gaps = sorted(b - a for a, b in zip(times, times[1:]))
    mean = sum(gaps) / len(gaps)
    short = sum(g < mean * math.log(2) for g in gaps)
    ok(abs(short - n / 2) < 4 * math.sqrt(n / 4), "arrivals: gaps have an exponential's median",
       f"{short} of {n}")
    expected = n / 56
    chi2 = sum((pairs[(f"h{i}", f"h{j}")] - expected) ** 2 / expected
               for i in range(1, 9) for j in range(1, 9) if i != j)
    # 55 degrees of freedom: mean 55, standard deviation sqrt(110).
    ok(chi2 < 55 + 4 * math.sqrt(110), "senders and receivers are equally likely", f"chi2 {chi2:.1f}")


def test_incast():
    net = shaped("fat-tree", "k = 4", "incast", 'bytes = 100000\nfanin = 5\nparallel = 2\nload = 0.02\njitter = "0s"')
    flows = connections.flows(net)
    bursts = collections.defaultdict(list)
    for flow in flows:
        bursts[flow["start_ns"]].append(flow)
    period_ns = 10 * 100000 * 8e9 / (0.02 * 8 * topology.ceiling_bps(net.at["h1"][0]))
    starts = sorted(bursts)
    ok(len(starts) == math.ceil(10_000_000 / period_ns) > 1 and
       all(abs(b - a - period_ns) <= 1 for a, b in zip(starts, starts[1:])), "incast: its load says how often",
       f"{period_ns:.0f} {starts}")
    ok(all(len({f["to"] for f in b}) == 1 and len(b) == 10 and len({f["from"] for f in b}) == 5
           and not {f["to"] for f in b} & {f["from"] for f in b} for b in bursts.values()),
       "incast: one receiver, 5 senders of 2 connections, none of them the receiver")
    ok(len({b[0]["to"] for b in bursts.values()}) > 1, "incast: another receiver each time")


def test_plan():
    again = [connections.flow_plan(shaped("fat-tree", "k = 4", seed=s)) for s in (7, 7, 8)]
    ok(again[0] == again[1] != again[2], "plans depend on the seed, and on nothing else")
    net = longer(shaped("fat-tree", "k = 4", more='sizes = "hadoop"\nload = 1.0\nstop = "10ms"'), 10)
    calls = collections.Counter()
    search = topology.search_paths

    def counted(net_, a, b):
        calls[a, b] += 1
        return search(net_, a, b)
    topology.search_paths = counted
    connections.flow_plan(net)
    record.meta_line(scenario.load("smoke"), net.case, 1, "release", net)
    topology.search_paths = search
    ok(len(connections.flows(net)) > 5000 and len(calls) == 56 and set(calls.values()) == {1},
       "each path is searched once, however many flows", f"{len(connections.flows(net))} flows")


def test_many():
    net = longer(shaped("fat-tree", "k = 4", more='sizes = "hadoop"\nload = 1.0\nstop = "10ms"'), 80)
    plan, flows = connections.flow_plan(net), connections.flows(net)
    ends = collections.Counter((f["to"], f["port"]) for f in flows)
    ok(len(flows) > connections.PORTS and max(ends.values()) == 1 and max(f["port"] for f in flows) < 32768,
       "more connections than ports: each has one of its own at its host, below those of senders", f"{len(flows)} flows")
    ok("late_listeners=1" in plan[0], "and hopflow opens each listener late")


# --- in the guest ---

def flows_by_port(folder, family, load=0.06, sysctl=""):
    """Flows that each port carried, by its bytes: acknowledgements of the other way are few."""
    Path(folder, "fixed").write_text(FIXED)
    file = Path(folder, f"spread{family}{'plain' if sysctl else ''}.toml")
    file.write_text(SPREAD.format(family=family, load=load, sysctl=sysctl))
    answer = lab("run", str(file), "--out", folder, "--json")
    if answer.returncode:
        print("\n".join(f"# {x}" for x in answer.stderr.splitlines()))
        return {}, 0
    run = results.Run(Path(folder, f"{file.stem}.all.1.jsonl"))
    by_size = json.loads(answer.stdout)["slowdown"]
    # Below 10000 bytes, from there on, and all.
    ok([r["high_bytes"] for r in by_size] == [10000, 30000, None] and
       sum(r["flows"] for r in by_size[:2]) == by_size[2]["flows"] == len(run.flows) and
       all(1 < r["p50"] <= r["p95"] <= r["p99"] < 50 and r["p99_low"] is None for r in by_size),
       f"IPv{family}: --json has the slowdown by size", *by_size)
    ended = sum(f["done"] for f in run.flows)
    # 7 segments and what opens and closes the connection.
    flow_bytes = sum(run.ports[p]["bytes"] for p in ("e1:a1", "e1:a2", "e2:a1", "e2:a2")) / max(1, ended)
    return {p: run.ports[p]["bytes"] / flow_bytes for p in run.meta["ports"]}, ended


def even(ports, names, total):
    """Within four standard deviations of what dice give."""
    share = 1 / len(names)
    width = 4 * math.sqrt(total * share * (1 - share))
    return all(abs(ports.get(p, 0) - total * share) < width for p in names)


def test_spread(folder):
    cores = ("a1:c1", "a1:c2", "a2:c3", "a2:c4")
    for family in (4, 6):
        ports, total = flows_by_port(folder, family)
        shown = " ".join(f"{p} {n:.0f}" for p, n in ports.items())
        ok(total > 500 and even(ports, cores, total),
           f"IPv{family}: flows spread over the core as dice would", f"{total} flows: {shown}")
        edges = [sum(ports.get(f"e{e}:{a}", 0) for e in (1, 2)) for a in ("a1", "a2")]
        ok(all(abs(n - total / 2) < 4 * math.sqrt(total / 4) for n in edges),
           f"IPv{family}: and over aggregation", edges)
    ports, total = flows_by_port(folder, 4, sysctl=PLAIN)
    ok(total > 500 and not even(ports, cores, total) and min(ports[p] for p in cores) < total / 50,
       "two tiers of one hash do not: the generator's other hash is what spreads", ports)


def main():
    for test in (test_leaf_spine, test_fat_tree, test_sizes, test_poisson, test_process, test_incast,
                 test_plan, test_many):
        test()
    with tempfile.TemporaryDirectory() as folder:
        test_spread(folder)
    print(f"1..{count}")
    return 1 if failed else 0


sys.exit(main())
