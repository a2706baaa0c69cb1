# SPDX-License-Identifier: GPL-2.0
"""A result file, as the lab writes it: a line about the run, then what the guest's programs wrote."""
import hashlib
import json
import re
from pathlib import Path
from typing import Any

from . import connections, topology
from .results import SCHEMA
from .scenario import Scenario
from .schema import Case
from .topology import Network, Port


def meta_line(scenario: Scenario, case: Case, seed: int, kernel: str, net: Network) -> dict[str, Any]:
    """The first line of a result: all that is needed to read the rest."""
    chosen: set[str] = set()
    flows = [flow_line(net, flow, chosen) for flow in connections.flows(net)]
    ports = {name: {**port_line(net.ports[name]), "chosen": name in chosen} for name in case.ports}
    params = {k: v for k, v in case.params.items() if k != "case"}
    several = {"kernels": case.run.kernels} if case.run.kernels > 1 else {}
    return {"type": "meta", "schema": SCHEMA, "scenario": scenario.name, "title": scenario.title,
            "source": scenario.source, "case": case.name, "params": params, "seed": seed,
            "kernel": kernel, **several, "duration_ns": case.run.duration, "window_ns": list(case.window),
            "goodput_ns": case.sample.goodput, "ports": ports, "flows": flows,
            "arrivals": [f.name for f in case.flows if f.arrives],
            "claims": [c.as_json() for c in case.claims if c.applies(case.name)]}


def flow_line(net: Network, flow: topology.Connection, chosen: set[str]) -> dict[str, Any]:
    """One connection; chosen: ports are added between which its packets may choose."""
    family = connections.family_of(flow)
    steps = topology.paths_of(net, flow["from"], flow["to"])
    chosen |= {p.name for step in steps if len(step) > 1 for p in step}
    handshake = flow["mode"] != "persistent" and not flow.get("warm_bytes")
    base = connections.ideal_s(net, flow, 0, handshake)
    several = {"count": flow["count"]} if flow["count"] != 1 else {}
    return {
        "id": flow["id"], "group": flow["group"], "from": flow["from"], "to": flow["to"],
        "cc": flow.get("cc", "host"), "start_ns": flow["start_ns"], "stop_ns": flow["stop_ns"],
        "family": family, "bytes": flow["bytes"], **several,
        "path": [p[0].name for p in steps if len(p) == 1], "ideal_base_ns": round(base * 1e9),
        "ceiling_bps": min(topology.ceiling_bps(p[0], family) for p in steps)}


def port_line(port: Port) -> dict[str, Any]:
    return {"rate_bps": port.egress.rate, "overhead_bytes": port.egress.overhead,
            "ceiling_bps": topology.ceiling_bps(port), "ceiling6_bps": topology.ceiling_bps(port, 6),
            "queue": port.egress.queue}


def write(path: Path, meta: dict[str, Any], parts: list[Path]) -> str:
    """Join the meta line and the guest's files; return the digest of all of it."""
    digest = hashlib.sha256()
    part = path.with_name(f".{path.name}.part")
    with open(part, "wb") as out:
        for chunk in [json.dumps(meta).encode() + b"\n", *(p.read_bytes() for p in parts)]:
            out.write(chunk)
            digest.update(chunk)
    # A file of this name is complete, even if the lab is interrupted here.
    part.replace(path)
    return digest.hexdigest()


TRACE_LINE = re.compile(r"\s*\S+-\d+\s+\[\d+\].*?\s(\d+)\.(\d{6}): (\w+): (.*)")


def trace_lines(text: str, events: list[str]) -> str:
    """The kernel's trace as JSON-lines; it prints its times in us."""
    systems = {e.partition(":")[2]: e for e in events}
    found = []
    for line in text.splitlines():
        match = TRACE_LINE.match(line)
        if match:
            t_ns = int(match[1] + match[2]) * 1000 - topology.T0_NS
            fields = dict(re.findall(r"(\w+)=(\S+)", match[4]))
            found.append(json.dumps({"type": "trace", "t_ns": t_ns, "event": systems.get(match[3], match[3]),
                                     "fields": {k: number(v) for k, v in fields.items()}}) + "\n")
    return "".join(found)


def counter_lines(node: str, text: str) -> str:
    """The counters of the rules with a comment as JSON-lines; the text is nft's own JSON."""
    found = []
    for rule in (item["rule"] for item in json.loads(text)["nftables"] if "rule" in item):
        for counter in (e["counter"] for e in rule["expr"] if "counter" in e and "comment" in rule):
            found.append(json.dumps({"type": "counter", "node": node, "name": rule["comment"],
                                     "packets": counter["packets"], "bytes": counter["bytes"]}) + "\n")
    return "".join(found)


def number(word: str) -> int | str:
    try:
        return int(word, 0)
    except ValueError:
        return word
