# SPDX-License-Identifier: GPL-2.0
"""Find faults of the configuration of this network namespace, each with its cause and the command
that corrects it."""
import os
import re
from collections.abc import Callable, Iterable, Iterator

from . import host as state
from . import flows, sockets
from .doctor_ports import PORT_CHECKS
from .doctor_queue import QUEUE_CHECKS
from .doctor_tunnels import TUNNEL_CHECKS, hides
from .host import (CARRIERS, ECN, MODULES, Host, Reason, finding, first_router, has_carrier, number,
                   read_counts, read_text, stage)
from .sockets import host_of
from .table import Row

TCPI_OPT_ECN = 8

COLUMNS = ("check", "where", "cause", "command")

# The first tag of a connection may not have been reflected before this much data was acknowledged.
SETTLED_BYTES = 200000

# Congestion controls with a guard, and the qdisc that reports to each.
REPORTING = {"csig": "csig", "hpccpp": "int"}
# An RTT of more than so many least ones, and of this, has a queue worth a finding.
LONG_RTTS, LONG_US = 4, 500

# Causes why telemetry of other vendors' switches is useless: (counter, cause, command).
TELEMETRY = (
    ("tlm_no_layout", "no layout fits the hops of the path, or no speed of their ports is known",
     "intlayout show; intlayout set FILE"),
    ("tlm_useless", "the values of the hops are implausible or stand still: a field, a unit or a clock is wrong",
     "intlayout show; intlayout set FILE"),
    ("tlm_contradicted", "the RTT is longer than the reported queues explain: a queue is not reported",
     "on each router: tc qdisc replace dev PORT root tbf rate RATE burst 20k limit 4m"),
    ("tlm_no_room", "the path has more hops than int_format has room for",
     "at the senders: sysctl net.hopcc.int_format=0, with qdisc int on the ports"),
    ("tlm_paths", "packets of a connection take another path each time: a switch or a bond sprays them",
     "let it choose the path by a hash of addresses and ports"),
)

# Packets that telemetry of other vendors' switches has cost: (counter, cause with its number, command).
TELEMETRY_LOST = (
    ("in_merged", "{} packets so far were dropped, as two segments with INT-MD were merged",
     "ethtool -K DEVICE gro off lro off"),
)


def signed_only() -> str:
    """Return why this kernel loads signed modules only; empty if it loads others, too."""
    lockdown = re.search(r"\[(integrity|confidentiality)\]", read_text(state.LOCKDOWN) or "")
    if lockdown:
        return f"lockdown {lockdown[1]}, as with secure boot"
    return "module.sig_enforce" if read_text(state.SIG_ENFORCE) == "Y" else ""


def why_not_loaded(module: str) -> Reason:
    release = os.uname().release
    known = read_text(f"{state.MODULES_DIR}/{release}/modules.dep") or ""
    if f"/{module}.ko" not in known:
        return (f"the congestion control is not loaded, and hopcc is not installed for the kernel {release}",
                f"make KVER={release} && sudo make KVER={release} install, in hopcc's source; modprobe {module}")
    signed = signed_only()
    if not signed:
        return "the congestion control is not loaded", "modprobe " + module
    return (f"the congestion control is not loaded, and this kernel loads signed modules only ({signed})",
            f"sign the modules with a key that the firmware knows (kmodsign, mokutil --import), or switch secure "
            f"boot off; modprobe {module}")


def check_module(host: Host) -> Iterator[Row]:
    if host.wanted and host.wanted not in host.words("ipv4/tcp_available_congestion_control"):
        cause, command = why_not_loaded(MODULES.get(host.wanted, "tcp_" + host.wanted))
        yield finding("module", host.wanted, cause, command)


def check_allowed(host: Host) -> Iterator[Row]:
    knob = "ipv4/tcp_allowed_congestion_control"
    allowed = host.words(knob)
    if host.wanted and host.wanted in host.used and host.wanted not in (host.default, *allowed):
        yield finding("allowed", host.wanted,
                      "programs without CAP_NET_ADMIN and other network namespaces cannot select it",
                      f'sysctl net.ipv4.tcp_allowed_congestion_control="{" ".join(allowed)} {host.wanted}" '
                      "in the initial network namespace")


def check_ecn(host: Host) -> Iterator[Row]:
    ecn = number("ipv4/tcp_ecn")
    for cc in sorted(host.used & set(ECN)):
        if ecn != 1:
            yield finding("ecn", cc, f"net.ipv4.tcp_ecn is {ecn}: a connection gets no ECN, and falls back "
                          "to Reno, if a program selects the congestion control after connect()",
                          "sysctl net.ipv4.tcp_ecn=1")


def check_carrier(host: Host) -> Iterator[Row]:
    for cc in sorted(host.used & set(CARRIERS)):
        if has_carrier(cc):
            continue
        knob, least = CARRIERS[cc]
        yield finding("carrier", cc, f"net.hopcc.{knob} is {number('hopcc/' + knob)}: connections open "
                      "without the feedback of the network's hops", f"sysctl net.hopcc.{knob}={least}")


def check_listeners(host: Host) -> Iterator[Row]:
    """The default is a congestion control of ours, but servers that were started before still have theirs."""
    if host.default not in MODULES:
        return
    late: dict[str, list[sockets.Listener]] = {}
    for listener in sockets.listeners():
        if listener.cc != host.default and listener.cc not in MODULES:
            late.setdefault(listener.cc, []).append(listener)
    for cc, group in sorted(late.items()):
        names = ", ".join(sorted(state.programs(one.inode for one in group))) or "these programs"
        numbers = sorted({int(one.local.rpartition(":")[2]) for one in group})
        effect = "gets no ECN and falls back to Reno at the client" if host.default in ECN else \
            "sends as before"
        yield finding("servers", "port " + ", ".join(str(n) for n in numbers),
                      f"{names} started before net.ipv4.tcp_congestion_control was {host.default}, and keeps "
                      f"{cc}: what connects to it {effect}", f"restart {names}")


def held(carrier: str) -> str:
    """Return the words about destinations that are left alone because they did not answer."""
    counts = read_counts(carrier)
    if not counts.get("peer_unsupported", 0) + counts.get("peer_avoided", 0):
        return ""
    return f", and new connections do not ask it again for {number(f'hopcc/{carrier}_unsupported_s')} s " \
           f"(net.hopcc.{carrier}_unsupported_s)"


def check_telemetry(_host: Host) -> Iterator[Row]:
    """Yield what made telemetry of other vendors' switches useless so far."""
    counts = read_counts("int")
    for name, cause, command in TELEMETRY:
        if counts.get(name):
            yield finding("telemetry", name, f"{counts[name]} answers so far, after which senders are Reno: {cause}",
                          command)
    for name, cause, command in TELEMETRY_LOST:
        if counts.get(name):
            yield finding("telemetry", name, cause.format(counts[name]), command)


def why_xcp_reno(flow: Row, peer: str) -> Reason:
    lost = flow["retrans_pkts"] and not number("hopcc/tcp_xcp_loss")
    reasons: list[Reason] = []
    if lost:
        reasons.append(("a packet was lost, after which the draft asks for Reno (net.hopcc.tcp_xcp_loss is 0)",
                        "sysctl net.hopcc.tcp_xcp_loss=2"))
    if not reasons or held("xcp"):
        reasons.append((f"{peer}, or a device on the path to it{first_router(peer)}, drops packets of protocol "
                        f"63{held('xcp')}", f"on {peer}: modprobe net_xcp; sysctl net.hopcc.xcp=1"))
    causes, commands = zip(*reasons)
    return " or ".join(causes), " or ".join(commands)


def why_no_ecn(flow: Row, peer: str) -> Reason:
    """Return why a connection that needs ECN got none."""
    base, ecn = flow["base"], number("ipv4/tcp_ecn")
    if ecn == 1:
        return (f"ECN was not negotiated: this host asked, so that {peer} has net.ipv4.tcp_ecn=0, or its "
                f"listener was started with a congestion control that does not need ECN",
                f"on {peer}: sysctl net.ipv4.tcp_ecn=1; restart the server, or ip route change ROUTE congctl {base}")
    return (f"ECN was not negotiated: {base} was selected after connect(), when this host had not asked "
            f"(net.ipv4.tcp_ecn is {ecn}), or the listener of {peer} needs no ECN",
            f"sysctl net.ipv4.tcp_ecn=1; on {peer}: restart the server, or ip route change ROUTE congctl {base}")


def why_reno(flow: Row, peer: str) -> Reason:
    """Return why a connection fell back to Reno."""
    base = flow["base"]
    if base in ECN:
        if flow["options"] & TCPI_OPT_ECN:
            return ("ECN was negotiated, but data timed out three times in a row",
                    f"find the device on the path{first_router(peer)} that drops packets with ECT: tracepath, "
                    "tcpdump")
        return why_no_ecn(flow, peer)
    if base == "xcp":
        return why_xcp_reno(flow, peer)
    if base == "csig":
        return (f"{peer} did not answer CSIG's option{held('csig')}",
                f"on {peer}: modprobe net_csig_tag; sysctl net.hopcc.csig=1 net.hopcc.csig_ports=DEVICE")
    return (f"{peer}, or a device on the path to it{first_router(peer)}, drops packets with INT headers, or no "
            f"hop writes to them{held('int')}",
            f"on {peer}: modprobe net_int; sysctl net.hopcc.int=1; "
            "on each port: tc qdisc add dev PORT root int")


def has_no_hop(flow: Row) -> bool:
    """True if a connection of csig is as Reno until a hop reports."""
    return bool(flow["base"] == "csig" and stage(flow) & flows.PATH_STAGE)


def check_reno(host: Host) -> Iterator[Row]:
    """Yield one finding for all connections of a congestion control to a peer."""
    seen: dict[tuple[str, str], list[Row]] = {}
    for flow in host.flows:
        if flow["cc"] != flow["base"] and flow["base"] in MODULES and has_carrier(flow["base"]) and \
                not hides(host, flow) and not has_no_hop(flow) and \
                (flow["base"] != "csig" or host.may_tag(flow["index"])):
            seen.setdefault((flow["cc"], host_of(flow["peer"])), []).append(flow)
    for (cc, peer), group in sorted(seen.items()):
        cause, command = why_reno(group[0], peer)
        yield finding("reno", f"{cc} to {peer}", cause, command)


def why_path(host: Host, flow: Row) -> Reason:
    """Return why a csig connection receives no signals."""
    peer = host_of(flow["peer"])
    if host.csig is None:
        return "only root can see whether the peer, the path or its hops are the reason", "sudo hopstat doctor"
    path = host.csig.get((flow["local"], flow["peer"]), "")
    if path == "stripped":
        return (f"a device on the path{first_router(peer)} removes the tags, or drops packets that have one; "
                f"tags are tried again every {number('hopcc/csig_retry_s')} s (net.hopcc.csig_retry_s)",
                "on each router of the path: modprobe net_csig_tag; sysctl net.hopcc.csig_ports=DEVICES")
    return "no hop of the path writes to the tags", "on each port: tc qdisc add dev PORT root csig"


def check_path(host: Host) -> Iterator[Row]:
    """Yield the paths without signals, by the stage that ss shows. Connections whose device or carrier is misconfigured
    are left to the other checks."""
    seen: dict[str, Row] = {}
    for flow in host.csig_flows():
        if has_no_hop(flow) and flow["acked_bytes"] >= SETTLED_BYTES and \
                host.may_tag(flow["index"]) and has_carrier("csig"):
            seen.setdefault(host_of(flow["peer"]), flow)
    for peer, flow in sorted(seen.items()):
        cause, command = why_path(host, flow)
        yield finding("path", f"csig to {peer}", f"csig is as Reno, because no hop reports: {cause}", command)


def check_guard(host: Host) -> Iterator[Row]:
    """Yield the paths with a queue that no hop reports, behind which packets of csig and hpccpp were lost. A guard
    that is about to open is no fault."""
    seen: dict[str, Row] = {}
    for flow in host.flows:
        if flow["cc"] in REPORTING and stage(flow) & flows.GUARDED and \
                flow["rtt_us"] > max(LONG_RTTS * (flow["least_us"] or 0), LONG_US):
            seen.setdefault(f"{flow['cc']} to {host_of(flow['peer'])}", flow)
    for where, flow in sorted(seen.items()):
        kind, dev = REPORTING[flow["cc"]], host.name(flow["index"])
        own = any(port["kind"] == kind and port["dev"] == dev for port in host.ports)
        port = f"a port behind {dev}" if own else f"{dev}, which has no sch_{kind}, or a port behind it"
        yield finding("guard", where, f"packets were lost behind a queue that no hop reports (RTT "
                      f"{flow['rtt_us']} us, least {flow['least_us']} us), so the window is Reno's: {port}, does not report",
                      f"on each port of the path: tc qdisc replace dev PORT root {kind}")


CHECKS: tuple[Callable[[Host], Iterator[Row]], ...] = (
    check_module, check_allowed, check_ecn, check_carrier, *PORT_CHECKS, check_listeners, check_reno, check_telemetry,
    check_path, check_guard, *QUEUE_CHECKS, *TUNNEL_CHECKS)


def findings(wanted: str | None = None) -> list[Row]:
    """Return all faults; wanted: a congestion control to check although nothing uses it yet."""
    host = Host(wanted)
    return [row for check in CHECKS for row in check(host)]


def lines(rows: Iterable[Row]) -> Iterator[str]:
    """Yield the findings as lines of text."""
    for row in rows:
        yield f"{row['check']}: {row['where']}: {row['cause']}"
        yield f"    {row['command']}"
