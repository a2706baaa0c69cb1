# SPDX-License-Identifier: GPL-2.0
"""The same scenario in ns-3, for a comparison: its network, queues and connections, without hopcc and without Linux.

What ns-3 cannot run is refused: its congestion controls are those of CONTROLS, its switches mark by the queue or drop.
A link has the same time for a full packet as in the lab. Among equal paths each switch takes one for each destination:
ns-3.37 has ECMP by packet only.
"""
import json
import os
import resource
import subprocess
from argparse import Namespace
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

from . import LabError, build, scenario, slowdown, topology
from .connections import flows, ideal_s
from .metrics import mean, quantile
from .schema import Case
from .table import aligned
from .topology import Connection, Network, Port
from .units import NEVER

SOURCE = build.LAB / "ns3/replay.cc"
PACKAGES = ("ns3-applications", "ns3-point-to-point", "ns3-traffic-control", "ns3-internet")
CONTROLS = {"reno": "TcpLinuxReno", "cubic": "TcpCubic", "dctcp": "TcpDctcp", "dctcp_ms": "TcpDctcp", "bbr": "TcpBbr",
            "vegas": "TcpVegas", "westwood": "TcpWestwoodPlus"}
HEADER_BYTES = 52       # IPv4, TCP and timestamps
PPP_BYTES = 2           # what ns-3's links add to a packet
OPEN_NS = 1_000_000     # connections of mode persistent are open so long before their data starts
INITCWND = 10


@dataclass
class Result:
    """What ns-3 measured of a connection."""
    connection: Connection
    warm_bytes: int
    bytes: int
    last_ns: int


def queue_words(port: Port) -> str:
    """Return the queue of a port in the words of a plan: what the last qdisc of the chain does."""
    words = port.egress.queue.split(" / ")[-1].split()
    value = dict(zip(words[1:], words[2:]))
    if words[0] == "wred" and "min" in value and value["min"] == value.get("max"):
        return f"mark {value['min']} {value['limit']}"
    if words[0] in ("bfifo", "fq"):
        limit = value.get("limit", "64m") if words[0] == "bfifo" else "64m"
        return f"fifo {limit.replace('m', '000000').replace('k', '000')}"
    raise LabError(f"ns3: port {port.name}: ns-3 gets wred with min = max, bfifo or fq, not {' '.join(words)}")


def check(case: Case) -> None:
    for flow in case.flows:
        if flow.cc not in CONTROLS:
            raise LabError(f"ns3: flow {flow.name}: ns-3 has {' '.join(CONTROLS)}, not {flow.cc}")
        if flow.mode == "reconnect" or flow.rate or flow.family != 4:
            raise LabError(f"ns3: flow {flow.name}: no IPv6, no rate and no mode reconnect")
    if case.changes or case.tunnels or case.network.bridges:
        raise LabError("ns3: no [[change]], [[tunnel]] or bridges")


def link_lines(net: Network) -> Iterator[str]:
    for port in net.ports.values():
        if port.end == "a":
            back = net.ports[f"{port.peer}:{port.node}"]
            if (port.egress.rate, port.egress.delay) != (back.egress.rate, back.egress.delay):
                raise LabError(f"ns3: link {port.name}: both directions need the same rate and delay")
            rate_bps = port.egress.rate * (port.link.mtu + PPP_BYTES) // (port.link.mtu + 14 + port.egress.overhead)
            yield f"link {port.node} {port.peer} {rate_bps} {port.egress.delay} {queue_words(port)} {queue_words(back)}"


def route_lines(net: Network) -> Iterator[str]:
    """Of each node: the next hop to each host that is not adjacent."""
    for node in net.nodes:
        for host in net.case.network.hosts:
            hops = topology.hops_to(net, node, net.at[host][0].segment) if host != node else None
            hops = [(port, gateway) for port, gateway in hops or [] if gateway]
            if hops:
                yield f"route {node} {host} {hops[crc32(f'{node} {host}'.encode()) % len(hops)][0].peer}"


def flow_lines(net: Network) -> Iterator[str]:
    initcwnd = {flow.name: flow.initcwnd or INITCWND for flow in net.case.flows}
    for one in flows(net):
        # Both clocks start at 0: the first data may have to wait for the handshake.
        opens_ns = max(0, one["start_ns"] - OPEN_NS) if one["mode"] == "persistent" else one["start_ns"]
        yield (f"flow {one['id']} {one['from']} {one['to']} {one['port']} {opens_ns} {one['start_ns']} {one['bytes']} "
               f"{initcwnd[one['group']]} ns3::{CONTROLS[one['cc']]}")


def write_plan(net: Network, file: Path) -> None:
    """Write the network as replay.cc reads it: nodes, links with both queues, routes, connections."""
    case = net.case
    warmup_ns = case.run.window[0] if case.run.window else case.run.warmup
    mss = min(link.mtu for link in case.links) - HEADER_BYTES
    lines = [f"config {case.run.duration} {warmup_ns} {mss}", *(f"node {node}" for node in net.nodes),
             *link_lines(net), *route_lines(net), *flow_lines(net)]
    file.write_text("".join(f"{line}\n" for line in lines))


def program() -> Path:
    """replay, built if its source is newer."""
    made = build.TOP / "build/ns3/replay"
    if made.exists() and made.stat().st_mtime > SOURCE.stat().st_mtime:
        return made
    made.parent.mkdir(parents=True, exist_ok=True)
    asked = subprocess.run(["pkg-config", "--cflags", "--libs", *PACKAGES], capture_output=True, text=True, check=False)
    if asked.returncode:
        raise LabError("no ns-3: apt-get install --no-install-recommends libns3-dev libgsl-dev g++ pkg-config")
    done = subprocess.run(["g++", "-O2", "-std=c++17", str(SOURCE), *asked.stdout.split(), "-o", str(made)],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        raise LabError(f"{SOURCE.name} does not build: {done.stderr.strip().splitlines()[-1]}; "
                       "apt-get install --no-install-recommends libns3-dev libgsl-dev g++")
    return made


def replay(net: Network, folder: Path) -> tuple[list[Result], resource.struct_rusage]:
    """Return what ns-3 measured, and what its process used."""
    plan, output = folder / "plan", folder / "output"
    write_plan(net, plan)
    with open(output, "wb") as file, subprocess.Popen([str(program()), str(plan)], stdout=file) as child:
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if status:
        raise LabError(f"ns-3 ended with status {child.returncode}")
    lines = output.read_text().splitlines()
    return [Result(one, *map(int, line.split()[1:])) for one, line in zip(flows(net), lines)], used


def goodputs(net: Network, results: Sequence[Result]) -> dict[str, float]:
    """Mean goodput of a connection of each group after the warm-up, Mbit/s."""
    run = net.case.run
    time_ns = run.duration - (run.window[0] if run.window else run.warmup)
    found: dict[str, list[float]] = {}
    for one in results:
        found.setdefault(one.connection["group"], []).append((one.bytes - one.warm_bytes) * 8e3 / time_ns)
    return {group: mean(values) for group, values in found.items()}


def slowdowns(net: Network, results: Sequence[Result]) -> Iterator[dict[str, Any]]:
    """Percentiles of the slowdown by size, as in the lab's reports; without a transfer's end it is infinite."""
    sized = [one for one in results if one.connection["bytes"]]
    of = {one.connection["id"]: (one.last_ns - one.connection["start_ns"]) / 1e9 /
          ideal_s(net, one.connection, one.connection["bytes"],
                  one.connection["mode"] == "once")
          if one.bytes == one.connection["bytes"] else float("inf") for one in sized}
    for low, high in [*zip(slowdown.EDGES_BYTES, slowdown.EDGES_BYTES[1:]), (0, float("inf"))]:
        values = [of[one.connection["id"]] for one in sized if low <= one.connection["bytes"] < high]
        if values:
            yield {"bytes_from": low, "bytes_below": None if high == float("inf") else high, "flows": len(values),
                   "unfinished": values.count(float("inf")),
                   **{f"p{share}": quantile(sorted(values), share / 100) for share in slowdown.SHARES}}


def measure(case: Case, seed: int, folder: Path) -> dict[str, Any]:
    check(case)
    net = topology.build(case, seed)
    results, used = replay(net, folder)
    sized = [one for one in results if one.connection["bytes"]]
    ended = [one.last_ns - one.connection["start_ns"] for one in sized if one.bytes == one.connection["bytes"]]
    unfinished = len(sized) - len(ended)
    return {"case": case.name, "seed": seed, "goodput_mbit": goodputs(net, results),
            "fct_max_ms": max(ended) / 1e6 if ended and not unfinished else None, "unfinished": unfinished,
            "slowdown": list(slowdowns(net, results)),
            "cpu_s": used.ru_utime + used.ru_stime, "memory_mb": used.ru_maxrss / 1024}


def show(row: dict[str, Any]) -> None:
    print(f"{row['case']}, seed {row['seed']}: {row['cpu_s']:.1f} CPU s, at most {row['memory_mb']:.0f} MB")
    lines = [("flows", "Mbit/s each")] + [(group, f"{value:.1f}") for group, value in row["goodput_mbit"].items()]
    print("\n".join(aligned(lines, 1)))
    if row["slowdown"]:
        longest = NEVER if row["fct_max_ms"] is None else f"{row['fct_max_ms']:.3f} ms"
        print(f"longest transfer: {longest}; unfinished: {row['unfinished']}")
        lines = [("from bytes", "flows", "unfinished", "p50", "p95", "p99")]
        lines += [(f"{one['bytes_from']:.0f}" if one["bytes_below"] else "all", str(one["flows"]),
                   str(one["unfinished"]), *(f"{one[f'p{share}']:.2f}" for share in slowdown.SHARES))
                  for one in row["slowdown"]]
        print("slowdown\n" + "\n".join(aligned(lines, 1)))


def command(args: Namespace) -> int:
    """`lab ns3`: one scenario, its cases one after the other."""
    found = scenario.load(args.scenario)
    cases = [case for case in found.cases if not args.only or case is found.case_named(args.only)]
    if not cases:
        raise LabError(f"no case {args.only!r}; there are: {' '.join(c.name for c in found.cases)}")
    folder = build.scratch("ns3-")
    rows = [measure(case, args.seed, folder) for case in cases]
    for row in rows:
        if args.json:
            print(json.dumps({"scenario": found.name, **row}))
        else:
            show(row)
    return 0
