# SPDX-License-Identifier: GPL-2.0
"""Read flows and the feedback about their bottlenecks: of CSIG from net_csig_tag by netlink
(include/uapi/linux/csig_flow.h), of INT and XCP from the values that their congestion controls report to
ss. The hop of INT and the feedback of XCP come from tracepoints, which need root."""
import os
import re
import socket
import struct
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from . import netlink, sockets
from .sockets import Ends, endpoint
from .table import Row

Signal = dict[str, int]
CsigFlow = tuple[str, str, str, dict[int, Signal]]

FLOW_GET = 1
SIGNALS = ("abw_kbit_ps", "abw_c_ppm", "pd_ns")
PATHS = ("unproven", "proven", "stripped")
NO_BOUND = (1 << 64) - 1
TRACING = "/sys/kernel/tracing"
GAIN = 256          # ss shows this gain as 1
ALPHA = 1024        # ss shows DCTCP's alpha in these parts
SYSTEMS = {"hpccpp": "INT", "xcp": "XCP", "csig": "CSIG"}
OURS = ("dctcp_ms", "ldcp", "xcp", "hpccpp", "csig")

# The tracepoint of each congestion control.
EVENTS = {"hpccpp": "tcp_hpccpp/hpccpp_answer", "xcp": "tcp_xcp/xcp_feedback"}

# Rates and events are measured over this time.
LOOK_S = 0.05

# A flow without a known connection has ended if its signals are older than this.
ENDED_NS = 1000000000

# The fields of hopcc's congestion controls in their own words, which ss cannot print.
STAGES = {"ldcp": ("first RTT", "fast", "stable"), "csig": ("seek", "jump", "steady")}
# tcp_csig adds this to the stage while no hop of the path reports: the window is Reno's.
PATH_STAGE = 4
# csig and hpccpp add this to the stage while the guard is closed: packets were lost behind a queue that no hop
# reports, and the window is Reno's.
GUARDED = 1024

COLUMNS = ("system", "cc", "local", "peer", "hop", "used_ppm", "delay_ns", "free_kbit_ps",
           "feedback_bit_ps", "rate_bit_ps", "pace_bit_ps", "rtt_us", "path", "age_ns")

# The columns of `hopstat flows`.
TCP_COLUMNS = ("cc", "peer", "local", "rate_bit_ps", "pace_bit_ps", "window_pkts", "rtt_us",
               "base_rtt_us", "delay_ns", "used_ppm", "marked_ppm", "feedback_ppm", "stage")


def row(system: str, cc: str, local: str, peer: str) -> Row:
    blank: Row = dict.fromkeys(COLUMNS)
    return blank | dict(system=system, cc=cc, local=local, peer=peer)


def middle(signal: Signal) -> int:
    low, high = signal["low"], signal["high"]
    return low if high == NO_BOUND else (low + high) // 2


def csig_signal(data: bytes) -> tuple[int, Signal]:
    found = dict(netlink.attributes(data))
    kind, form, value, locator = (struct.unpack("I", found[i])[0] for i in range(2, 6))
    low, high, age_ns, count = (struct.unpack("Q", found[i])[0] for i in range(6, 10))
    return kind, dict(form=form, value=value, locator=locator, low=low, high=high,
                      age_ns=age_ns, count=count)


def csig_flows() -> Iterator[CsigFlow]:
    """Yield (local, peer, path, {signal: ...}) of each flow of net_csig_tag; none without the module.
    Raise PermissionError without root."""
    try:
        number = netlink.family("hopcc_csig")
    except FileNotFoundError:
        return
    for attrs in netlink.generic(number, FLOW_GET):
        flow: dict[Any, Any] = dict(signals={})
        for kind, value in attrs:
            if kind in (1, 2):
                flow[kind] = netlink.address(value)
            elif kind in (3, 4):
                flow[kind], = struct.unpack("H", value)
            elif kind == 5:
                flow["path"] = PATHS[struct.unpack("I", value)[0]]
            elif kind == 6:
                which, signal = csig_signal(value)
                flow["signals"][which] = signal
        yield endpoint(flow[1], flow[3]), endpoint(flow[2], flow[4]), flow["path"], flow["signals"]


def csig_row(local: str, peer: str, path: str, signals: Mapping[int, Signal], known: Row) -> Row:
    out = row("CSIG", known.get("cc", ""), local, peer)
    out["path"] = path
    for key in ("rtt_us", "rate_bit_ps", "pace_bit_ps"):
        out[key] = known.get(key)
    if 0 in signals:
        out["free_kbit_ps"] = signals[0]["low"]
    if 1 in signals:
        out["used_ppm"] = 1000000 - min(signals[1]["low"], 1000000)
    if 2 in signals:
        out["delay_ns"] = middle(signals[2])
    # The bottleneck is the hop with the largest delay, or with the least free bandwidth.
    written = [signals[i] for i in (2, 1, 0) if i in signals and signals[i]["locator"]]
    out["hop"] = written[0]["locator"] if written else None
    out["age_ns"] = min((s["age_ns"] for s in signals.values()), default=None)
    return out


def other_row(local: str, peer: str, known: Row, events: Row) -> Row:
    """Return the row of a flow of INT or XCP, or of CSIG where its carrier cannot be read; events: the
    values of its tracepoints, or nothing."""
    cc = known["cc"]
    out = row(SYSTEMS[cc], cc, local, peer)
    for key in ("rtt_us", "rate_bit_ps", "pace_bit_ps"):
        out[key] = known[key]
    if not known["bbr"]:
        return out
    bw_bytes_ps, mrtt_us, gain, _ = known["bbr"]
    out["pace_bit_ps"] = 8 * bw_bytes_ps
    # hpccpp reports T, the RTT without queues; for XCP the minimum RTT stands for it.
    least_us = mrtt_us if cc == "hpccpp" else known["least_us"]
    if out["rtt_us"] is not None and least_us is not None:
        out["delay_ns"] = max(0, out["rtt_us"] - least_us) * 1000
    if cc == "csig":
        out["delay_ns"] = 1000 * mrtt_us
    elif cc == "hpccpp":
        out["used_ppm"] = gain * 1000000 // GAIN
        out["hop"] = events.get("hop")
    elif "feedback_bytes_ps" in events:
        add_feedback(out, events["feedback_bytes_ps"] * (out["rtt_us"] or 0) / 1e6)
    return out


def add_feedback(out: Row, change_bytes_ps: float) -> None:
    """Add the change of rate that the XCP routers grant in a round trip. They do not identify themselves;
    the change shows how far the flow is from the rate that it may have."""
    out["feedback_bit_ps"] = round(8 * change_bytes_ps)
    rate = out["pace_bit_ps"]
    if rate and rate + out["feedback_bit_ps"] > 0:
        out["used_ppm"] = round(rate * 1e6 / (rate + out["feedback_bit_ps"]))
    out["free_kbit_ps"] = max(0, out["feedback_bit_ps"]) // 1000


def listen(ccs: Iterable[str], wait_s: float = LOOK_S) -> dict[Ends, Row]:
    """Return {(local, peer): {...}} from the tracepoints of these congestion controls during a short time;
    empty without root, or without the tracepoints."""
    instance = f"{TRACING}/instances/hopstat.{os.getpid()}"
    try:
        os.mkdir(instance)
    except OSError:
        return {}
    try:
        for cc in ccs:
            with open(f"{instance}/events/{EVENTS[cc]}/enable", "w", encoding="ascii") as file:
                file.write("1")
        time.sleep(wait_s)
        with open(instance + "/trace", encoding="ascii") as file:
            return parse_events(file)
    except OSError:
        return {}
    finally:
        os.rmdir(instance)


def parse_events(lines: Iterable[str]) -> dict[Ends, Row]:
    seen: dict[Ends, Row] = {}
    for line in lines:
        found = dict(re.findall(r"(\w+)=(\S+)", line))
        when = re.search(r" (\d+\.\d+): \w+: ", line)
        if not when or "daddr" not in found:
            continue
        local, peer = (endpoint(netlink.address(socket.inet_pton(socket.AF_INET6, found[a])), found[p])
                       for a, p in (("saddr", "sport"), ("daddr", "dport")))
        flow = seen.setdefault((local, peer), dict(first_s=float(when[1]), sum=0))
        flow["last_s"] = float(when[1])
        if "bottleneck" in found:
            flow["hop"] = int(found["bottleneck"]) + 1
        if "feedback_bytes_ps" in found:
            flow["sum"] += int(found["feedback_bytes_ps"])
    # Each header has its packet's part of the change. The sum over a second, times the RTT, is the
    # change in a round trip.
    for flow in seen.values():
        if "hop" not in flow and flow["last_s"] > flow["first_s"]:
            flow["feedback_bytes_ps"] = flow["sum"] / (flow["last_s"] - flow["first_s"])
    return seen


def add_rates(known: dict[Ends, Row], before: dict[Ends, Row], seconds: float) -> None:
    """Add the rates at which data was acknowledged between two readings."""
    for ends, flow in known.items():
        if ends in before and seconds > 0:
            acked_bytes = flow["acked_bytes"] - before[ends]["acked_bytes"]
            flow["rate_bit_ps"] = round(8 * acked_bytes / seconds)


def csig_rows(known: Mapping[Ends, Row]) -> list[Row]:
    """Return the rows of the flows that the CSIG carrier knows; none without root. A path that strips
    tags has a row without signals, unlike the flows of a receiver, which never sent a tag."""
    try:
        found = list(csig_flows())
    except PermissionError:
        return []
    rows = [csig_row(local, peer, path, signals, known.get((local, peer), {}))
            for local, peer, path, signals in found
            if signals or path == "stripped" or known.get((local, peer), {}).get("cc", "").startswith("csig")]
    # The carrier keeps a connection for a while after its end. UDP flows have no known socket at all.
    return [r for r in rows if (r["local"], r["peer"]) in known or
            r["age_ns"] is not None and r["age_ns"] < ENDED_NS]


def look(events: bool) -> tuple[dict[Ends, Row], dict[Ends, Row]]:
    """Return the connections with their rates, and the values of tracepoints. Takes LOOK_S."""
    before, then = sockets.connections(), time.monotonic()
    ccs = {s["cc"] for s in before.values()} & set(EVENTS) if events else set()
    events_of = listen(ccs) if ccs else {}
    time.sleep(max(0, then + LOOK_S - time.monotonic()))
    known = sockets.connections()
    add_rates(known, before, time.monotonic() - then)
    return known, events_of


def by_rate(rows: Iterable[Row]) -> list[Row]:
    return sorted(rows, key=lambda r: -(r["rate_bit_ps"] or 0))


def read() -> list[Row]:
    """Return a row for each flow that uses feedback from hops. Takes LOOK_S."""
    known, events_of = look(True)
    rows = csig_rows(known)
    listed = {(r["local"], r["peer"]) for r in rows}
    rows += [other_row(local, peer, s, events_of.get((local, peer), {})) for (local, peer), s in known.items()
             if s["cc"] in SYSTEMS and (local, peer) not in listed]
    return by_rate(rows)


def stage_of(cc: str, number: int) -> str:
    """Return the name of a stage, as the congestion control reports it to ss."""
    if number >= GUARDED:
        return stage_of(cc, number - GUARDED) + ", guarded"
    names = STAGES.get(cc.removesuffix("-reno"))
    if not names:
        return str(number)
    name = names[number % PATH_STAGE] if number % PATH_STAGE < len(names) else str(number)
    return name + (", as Reno" if cc.startswith("csig") and number & PATH_STAGE else "")


def own_words(cc: str, known: Row) -> Row:
    """Return the values that a congestion control reports to ss, by their own names."""
    if cc == "dctcp_ms" and known["dctcp"]:
        return dict(marked_ppm=known["dctcp"][2] * 1000000 // ALPHA)
    # csig has values while it is as Reno, because no hop reports.
    if not known["bbr"] or cc.endswith("-reno") and cc != "csig-reno":
        return {}
    bytes_ps, time_us, first, second = known["bbr"]
    common = dict(pace_bit_ps=8 * bytes_ps)
    if cc == "ldcp":
        return common | dict(base_rtt_us=time_us, window_pkts=first / GAIN, stage=stage_of(cc, second // GAIN))
    if cc.startswith("csig"):
        return common | dict(delay_ns=1000 * time_us, window_pkts=first / GAIN,
                             stage=stage_of(cc, second // GAIN))
    if cc == "hpccpp":
        return common | dict(base_rtt_us=time_us, used_ppm=first * 1000000 // GAIN,
                             stage=stage_of(cc, second // GAIN))
    return common | dict(base_rtt_us=known["least_us"], feedback_ppm=second * 1000000 // GAIN)


def connections() -> list[Row]:
    """Return a row for each connection of our congestion controls, whichever feedback it uses. Takes
    LOOK_S."""
    known, _ = look(False)
    blank: Row = dict.fromkeys(TCP_COLUMNS)
    return by_rate(
        blank | dict(cc=s["cc"], local=local, peer=peer, rate_bit_ps=s["rate_bit_ps"],
                     pace_bit_ps=s["pace_bit_ps"], window_pkts=s["cwnd_pkts"], rtt_us=s["rtt_us"]) |
        own_words(s["cc"], s)
        for (local, peer), s in known.items() if s["cc"].removesuffix("-reno") in OURS)
