# SPDX-License-Identifier: GPL-2.0
"""Flows and what their path says of its bottleneck: of CSIG by net_csig_tag's own netlink
(include/uapi/linux/csig_flow.h), of INT and XCP by what their congestion controls tell ss, and
the hop of INT by tracepoints."""
import os
import re
import socket
import struct
import time

from . import netlink

DIAG_BY_FAMILY, ESTABLISHED, TCP = 20, 1 << 1, 6
DIAG_INFO, DIAG_CONG, DIAG_VEGAS, DIAG_BBR = 2, 4, 3, 16
FLOW_GET = 1
SIGNALS = ("abw_kbit_ps", "abw_c_ppm", "pd_ns")
PATHS = ("unproven", "proven", "stripped")
NO_BOUND = (1 << 64) - 1
TRACING = "/sys/kernel/tracing"
GAIN = 256          # what ss takes for 1
SYSTEMS = {"hpccpp": "INT", "xcp": "XCP", "csig": "CSIG"}

COLUMNS = ("system", "cc", "local", "peer", "hop", "used_ppm", "delay_ns", "free_kbit_ps",
           "rate_bit_ps", "rtt_us", "path", "age_ns")


def row(system, cc, local, peer):
    return dict.fromkeys(COLUMNS) | dict(system=system, cc=cc, local=local, peer=peer)


def endpoint(address, port):
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def sockets():
    """{(local, peer): {cc, bbr: (bw, mrtt, gain, gain), rtt_us, rate}} of TCP."""
    found = {}
    for family in (socket.AF_INET, socket.AF_INET6):
        ext = sum(1 << (kind - 1) for kind in (DIAG_INFO, DIAG_CONG, DIAG_VEGAS, DIAG_BBR))
        body = struct.pack("BBBBI", family, TCP, ext & 0xff, 0, ESTABLISHED) + bytes(48)
        for data in netlink.dump(netlink.SOCK_DIAG, DIAG_BY_FAMILY, body):
            key, value = one_socket(data)
            found[key] = value
    return found


def one_socket(data):
    family = data[0]
    sport, dport = struct.unpack_from(">HH", data, 4)
    size = 4 if family == socket.AF_INET else 16
    local = endpoint(netlink.address(data[8:8 + size]), sport)
    peer = endpoint(netlink.address(data[24:24 + size]), dport)
    out = dict(cc="", bbr=None, rtt_us=None, rate_bit_ps=None)
    for kind, value in netlink.attributes(data[72:]):
        if kind == DIAG_CONG:
            out["cc"] = value.split(b"\0")[0].decode()
        elif kind == DIAG_BBR and len(value) >= 20:
            low, high, mrtt_us, gain, gain2 = struct.unpack_from("5I", value)
            out["bbr"] = (low | high << 32, mrtt_us, gain, gain2)
        elif kind == DIAG_INFO and len(value) >= 112:
            out["rtt_us"], = struct.unpack_from("I", value, 68)
            out["rate_bit_ps"] = 8 * struct.unpack_from("Q", value, 104)[0]
    return (local, peer), out


def middle(signal):
    low, high = signal["low"], signal["high"]
    return low if high == NO_BOUND else (low + high) // 2


def csig_signal(data):
    found = dict(netlink.attributes(data))
    kind, form, value, locator = (struct.unpack("I", found[i])[0] for i in range(2, 6))
    low, high, age_ns, count = (struct.unpack("Q", found[i])[0] for i in range(6, 10))
    return kind, dict(form=form, value=value, locator=locator, low=low, high=high,
                      age_ns=age_ns, count=count)


def csig_flows():
    """Of net_csig_tag: (local, peer, path, {signal: ...}) each; none without the module."""
    try:
        number = netlink.family("hopcc_csig")
    except OSError:
        return
    for attrs in netlink.generic(number, FLOW_GET):
        flow = dict(signals={})
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


def csig_row(local, peer, path, signals, known):
    out = row("CSIG", known.get("cc", ""), local, peer)
    out["path"], out["rtt_us"], out["rate_bit_ps"] = path, known.get("rtt_us"), known.get("rate_bit_ps")
    if 0 in signals:
        out["free_kbit_ps"] = signals[0]["low"]
    if 1 in signals:
        out["used_ppm"] = 1000000 - min(signals[1]["low"], 1000000)
    if 2 in signals:
        out["delay_ns"] = middle(signals[2])
    # The hop that is most in the way: of the delay, else of what is free.
    written = [signals[i] for i in (2, 1, 0) if i in signals and signals[i]["locator"]]
    out["hop"] = written[0]["locator"] if written else None
    out["age_ns"] = min((s["age_ns"] for s in signals.values()), default=None)
    return out


def other_row(local, peer, known, hops):
    cc = known["cc"]
    out = row(SYSTEMS[cc], cc, local, peer)
    out["rtt_us"], out["rate_bit_ps"] = known["rtt_us"], known["rate_bit_ps"]
    if not known["bbr"]:
        return out
    bw_bytes_ps, mrtt_us, gain, _ = known["bbr"]
    # XCP's routers do not name themselves, and say no more than this: what they allot.
    out["rate_bit_ps"] = 8 * bw_bytes_ps
    if cc == "hpccpp":
        out["used_ppm"] = gain * 1000000 // GAIN
        out["hop"] = hops.get((local, peer))
        out["delay_ns"] = max(0, (out["rtt_us"] or mrtt_us) - mrtt_us) * 1000
    return out


def trace_hops(wait_s=0.05):
    """{(local, peer): hop} by INT, from hpccpp_answer over a short while; needs root."""
    instance = f"{TRACING}/instances/hopstat.{os.getpid()}"
    switch = instance + "/events/tcp_hpccpp/hpccpp_answer/enable"
    try:
        os.mkdir(instance)
    except OSError:
        return {}
    try:
        with open(switch, "w", encoding="ascii") as file:
            file.write("1")
        time.sleep(wait_s)
        with open(instance + "/trace", encoding="ascii") as file:
            return dict(parse_hops(file))
    except OSError:
        return {}
    finally:
        os.rmdir(instance)


def parse_hops(lines):
    for line in lines:
        found = dict(re.findall(r"(\w+)=(\S+)", line))
        if "bottleneck" in found:
            ends = [netlink.address(socket.inet_pton(socket.AF_INET6, found[k]))
                    for k in ("saddr", "daddr")]
            yield ((endpoint(ends[0], found["sport"]), endpoint(ends[1], found["dport"])),
                   int(found["bottleneck"]) + 1)


def read(events=True):
    """A row a flow that listens to its hops."""
    known = sockets()
    rows = [csig_row(local, peer, path, signals, known.get((local, peer), {}))
            for local, peer, path, signals in csig_flows() if signals]
    told = {(r["local"], r["peer"]) for r in rows}
    rest = {ends: s for ends, s in known.items() if s["cc"] in SYSTEMS and ends not in told}
    hops = trace_hops() if events and any(s["cc"] == "hpccpp" for s in rest.values()) else {}
    rows += [other_row(*ends, s, hops) for ends, s in rest.items()]
    return sorted(rows, key=lambda r: -(r["rate_bit_ps"] or 0))
