# SPDX-License-Identifier: GPL-2.0
"""Explain one connection: what its congestion control uses, where the bottleneck is, and which findings of
doctor concern it."""
from collections.abc import Iterator

from . import doctor, flows, host as state
from .host import CARRIERS, ECN, MODULES, Host, number
from .sockets import host_of
from .table import Row, cell, head

# These checks concern a host or its ports, not a certain peer; those of a port count if the flow uses it.
OF_HOST = {"module", "allowed", "ecn", "carrier", "room", "domain"}

# The values of hopstat's flows that are shown, in this order.
VALUES = ("hop", "used_ppm", "delay_ns", "free_kbit_ps", "feedback_bit_ps", "path")


def matches(flow: Row, wanted: str) -> bool:
    """True if a flow is meant: by the peer's address, an endpoint, a port of the peer, or by both ends as
    LOCAL-PEER."""
    local, _, peer = wanted.rpartition("-")
    if local:
        return matches(flow, peer) and local.strip("[]") in (flow["local"], host_of(flow["local"]))
    port = wanted.removeprefix(":")
    return wanted.strip("[]") == host_of(flow["peer"]) or wanted == flow["peer"] or \
        port.isdecimal() and flow["peer"].endswith(":" + port)


def selected_by(flow: Row, host: Host) -> str:
    """Return where the congestion control of a connection comes from, as far as that can be seen."""
    route = state.route_to(host_of(flow["peer"]))[2]
    if route == flow["base"]:
        return "a route's congctl"
    return "net.ipv4.tcp_congestion_control" if flow["base"] == host.default else "the program or its listener"


def facts(flow: Row, host: Host, row: Row | None) -> Iterator[tuple[str, str]]:
    """Yield (name, text) of what is known about a connection."""
    base = flow["base"]
    yield "congestion control", f"{flow['cc']}, selected by {selected_by(flow, host)}"
    if flow["cc"] != base:
        yield "law", "Reno: it fell back"
    device = host.name(flow["index"]) if flow["index"] is not None else "none"
    router = state.route_to(host_of(flow["peer"]))[1]
    yield "leaves by", device + (f" to the router {router}" if router else "")
    if base in ECN:
        ecn = "negotiated" if flow["options"] & doctor.TCPI_OPT_ECN else "not negotiated"
        yield "ECN", f"{ecn}; net.ipv4.tcp_ecn is {number('ipv4/tcp_ecn')}"
    if base in CARRIERS:
        knob, least = CARRIERS[base]
        value = number("hopcc/" + knob, -1)
        yield "carrier", "not loaded" if value < 0 else f"net.hopcc.{knob} is {value}" + \
            ("" if value >= least else f", and {least} is needed")
    if base == "csig" and host.is_ethernet(flow["index"]):
        yield "device trusted", "yes" if host.is_trusted(flow["index"]) else "no"
    for key in ("rate_bit_ps", "rtt_us"):
        yield head(key), cell(key, flow[key])
    words = {"retrans_pkts": flow["retrans_pkts"]} | flows.own_words(flow["cc"], flow)
    words |= {key: row[key] for key in VALUES} if row else {}
    yield from ((head(key), cell(key, value)) for key, value in words.items() if value is not None)


def concerns(found: Row, flow: Row, host: Host) -> bool:
    """True if a finding of doctor concerns a connection."""
    where = found["where"]
    if found["check"] in ("reno", "path", "guard"):
        return where in {f"{name} to {host_of(flow['peer'])}" for name in (flow["cc"], flow["base"])}
    if found["check"] in OF_HOST:
        return where in (flow["base"], CARRIERS.get(flow["base"], ("",))[0]) or \
            found["check"] == "domain" and flow["base"] == "csig"
    return flow["index"] is not None and host.name(flow["index"]) in where.split(", ")


def verdict(flow: Row, found: list[Row]) -> str:
    """Return what a connection is, in one sentence."""
    base = flow["base"]
    if base not in MODULES:
        return f"{flow['cc']} is none of hopcc's congestion controls"
    reasons = [f["cause"] for f in found if f["check"] in ("reno", "path", "tunnel", "carrier", "ports")]
    if doctor.has_no_hop(flow):
        return f"no hop reports, and this connection is as Reno{', because ' + reasons[0] if reasons else ''}"
    if flow["cc"] != base:
        return f"this connection is Reno because {reasons[0] if reasons else 'it fell back'}"
    if base in doctor.REPORTING and state.stage(flow) & flows.GUARDED:
        return "packets were lost behind a queue that no hop reports, and this connection is as Reno meanwhile"
    return f"this connection uses {base}"


def explain(wanted: str) -> list[Row]:
    """Return one row for each connection that is meant: flow, facts, findings, verdict."""
    host = Host(None)
    found = [row for check in doctor.CHECKS for row in check(host)]
    known = {(r["local"], r["peer"]): r for r in flows.csig_rows({(f["local"], f["peer"]): f for f in host.flows})}
    return [dict(flow=f"{flow['local']} to {flow['peer']}", verdict=verdict(flow, own),
                 facts=dict(facts(flow, host, known.get((flow["local"], flow["peer"])))), findings=own)
            for flow in host.flows if matches(flow, wanted)
            for own in [[row for row in found if concerns(row, flow, host)]]]


def lines(rows: list[Row]) -> Iterator[str]:
    for row in rows:
        yield f"{row['flow']}: {row['verdict']}"
        yield from (f"    {name}: {text}" for name, text in row["facts"].items())
        yield from ("    " + line for line in doctor.lines(row["findings"]))
