# SPDX-License-Identifier: GPL-2.0
"""Find faults of the configuration of this network namespace, each with its cause and the command
that corrects it."""
import functools
import ipaddress
import socket
import struct
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from . import flows, netlink, ports
from .flows import Ends
from .table import Row

# A cause and the command that corrects it.
Reason = tuple[str, str]

GETLINK, GETROUTE, GETQDISC = 18, 26, ports.GETQDISC
IFLA_IFNAME, IFLA_MTU, IFLA_LINK, IFLA_MASTER, IFLA_LINK_NETNSID = 3, 4, 5, 10, 37
RTA_DST, RTA_OIF, RTA_METRICS, RTAX_CC_ALGO = 1, 4, 8, 16
ARPHRD_ETHER = 1
TCPI_OPT_ECN = 8

COLUMNS = ("check", "where", "cause", "command")

MODULES = {"dctcp_ms": "tcp_dctcp_ms", "ldcp": "tcp_ldcp", "xcp": "tcp_xcp", "hpccpp": "tcp_hpccpp",
           "csig": "tcp_csig"}

# For each congestion control: the carrier's sysctl, and the least value at which new connections use
# the carrier.
CARRIERS: dict[str, tuple[str, int]] = {"xcp": ("xcp", 1), "hpccpp": ("int", 1), "csig": ("csig", 2)}

# These congestion controls need ECN.
ECN = ("dctcp_ms", "ldcp")

# Qdiscs that can separate flows: those below them need not share one queue.
SEPARATE = {"fq", "fq_codel", "fq_pie", "cake", "sfq", "prio", "drr", "ets", "qfq", "htb", "hfsc",
            "mqprio", "taprio"}

# tcp_csig adds 4 to the stage that ss shows where no hop of the path writes tags.
PATH_STAGE = 4
# The first tag of a connection may not have been reflected before this much data was acknowledged.
SETTLED_BYTES = 200000

# Ethernet header, preamble and gap of each packet; the least target in packet times; its rounding.
WIRE_BYTES, PACKET_TIMES, ROUND_NS = 38, 4, 10000

# What makes telemetry of other vendors' switches useless: (counter, cause, command).
TELEMETRY = (
    ("tlm_no_layout", "no layout fits the hops of the path, or no speed of their ports is known",
     "intlayout show; intlayout set FILE"),
    ("tlm_useless", "the values of the hops are implausible or stand still: a field, a unit or a clock is wrong",
     "intlayout show; intlayout set FILE"),
    ("tlm_contradicted", "the RTT is longer than the reported queues explain: a queue is not reported",
     "on each router: tc qdisc replace dev PORT root tbf rate RATE burst 20k limit 4m"),
)

# csig is starved if its delay exceeds this many targets, and its rate is this many times below
# another's.
STARVED_TARGETS, STARVED_TIMES = 5, 5

OWN_QUEUE = "fq_codel limit 10000 target 500us interval 10ms"


def finding(check: str, where: str, cause: str, command: str) -> Row:
    return dict(check=check, where=where, cause=cause, command=command)


def read_sysctl(name: str) -> str | None:
    """The text of a sysctl; None if the kernel, or this network namespace, has none."""
    try:
        with open("/proc/sys/net/" + name, encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return None


def number(name: str, missing: int = 0) -> int:
    return int(read_sysctl(name) or missing)


def host_of(end: str) -> str:
    """The address of an endpoint: "[ADDRESS]:PORT" or "ADDRESS:PORT"."""
    return end.rpartition(":")[0].strip("[]")


def read_links() -> dict[int, dict[str, Any]]:
    """Return {index: {name, type, mtu, link, master}} of all devices."""
    found = {}
    for data in netlink.dump(netlink.ROUTE, GETLINK, bytes(16)):
        kind, index = struct.unpack_from("=Hi", data, 2)
        attrs = dict(netlink.attributes(data[16:]))
        numbers: dict[str, Any] = {
            key: struct.unpack("I", attrs[attr])[0] if attr in attrs else 0
            for key, attr in (("mtu", IFLA_MTU), ("link", IFLA_LINK), ("master", IFLA_MASTER))}
        if IFLA_LINK_NETNSID in attrs:
            numbers["link"] = 0     # an index of another network namespace
        found[index] = numbers | dict(name=attrs[IFLA_IFNAME].split(b"\0")[0].decode(), type=kind)
    return found


def read_qdiscs() -> dict[int, set[str]]:
    """Return {index: {kinds of qdiscs}} of all devices."""
    found: dict[int, set[str]] = {}
    for data in netlink.dump(netlink.ROUTE, GETQDISC, bytes(20)):
        index, = struct.unpack_from("i", data, 4)
        kind = dict(netlink.attributes(data[20:]))[ports.TCA_KIND]
        found.setdefault(index, set()).add(kind.split(b"\0")[0].decode())
    return found


def read_congctl() -> set[str]:
    """Return the congestion controls that routes select."""
    found = set()
    for data in netlink.dump(netlink.ROUTE, GETROUTE, bytes(12)):
        attrs = dict(netlink.attributes(data[12:]))
        metrics = dict(netlink.attributes(attrs.get(RTA_METRICS, b"")))
        if RTAX_CC_ALGO in metrics:
            found.add(metrics[RTAX_CC_ALGO].split(b"\0")[0].decode())
    return found


@functools.cache
def device_to(address: str) -> int | None:
    """Return the index of the device that packets to an address leave by; None without a route."""
    packed = ipaddress.ip_address(address.partition("%")[0]).packed
    family = socket.AF_INET if len(packed) == 4 else socket.AF_INET6
    body = struct.pack("BBBBBBBBI", family, 8 * len(packed), 0, 0, 0, 0, 0, 0, 0)
    body += struct.pack("HH", 4 + len(packed), RTA_DST) + packed
    try:
        for data in netlink.dump(netlink.ROUTE, GETROUTE, body, flags=0):
            attrs = dict(netlink.attributes(data[12:]))
            return int(struct.unpack("i", attrs[RTA_OIF])[0]) if RTA_OIF in attrs else None
    except OSError:
        pass
    return None


def read_csig() -> dict[Ends, tuple[str, bool]] | None:
    """Return {(local, peer): (path, has signals)} of the CSIG carrier; None without root."""
    try:
        return {(local, peer): (path, bool(signals))
                for local, peer, path, signals in flows.csig_flows()}
    except OSError:
        return None


class Host:
    """The state of this network namespace. To read it takes flows.LOOK_S."""

    def __init__(self, wanted: str | None) -> None:
        self.wanted = wanted
        before, then = flows.sockets(), time.monotonic()
        time.sleep(flows.LOOK_S)
        after, seconds = flows.sockets(), time.monotonic() - then
        flows.add_rates(after, before, seconds)
        self.flows = [self.one_flow(ends, flow, before.get(ends)) for ends, flow in after.items()]
        self.links, self.qdiscs, self.csig = read_links(), read_qdiscs(), read_csig()
        self.default = read_sysctl("ipv4/tcp_congestion_control") or ""
        self.used: set[str] = {self.default} | read_congctl() | {f["base"] for f in self.flows}
        if wanted and wanted in self.words("ipv4/tcp_available_congestion_control"):
            self.used.add(wanted)

    @staticmethod
    def one_flow(ends: Ends, flow: Row, before: Row | None) -> Row:
        """Return the flow with the selected congestion control, the device, and True if data waits."""
        local, peer = ends
        return flow | dict(local=local, peer=peer, base=flow["cc"].removesuffix("-reno"),
                           index=device_to(host_of(peer)),
                           waits=bool(before and before["unsent_bytes"] and flow["unsent_bytes"]))

    @staticmethod
    def words(name: str) -> list[str]:
        return (read_sysctl(name) or "").split()

    def name(self, index: int) -> str:
        return str(self.links[index]["name"]) if index in self.links else "?"

    def is_trusted(self, index: int) -> bool:
        names = self.words("hopcc/csig_ports")
        return "*" in names or self.name(index) in names

    def is_ethernet(self, index: int | None) -> bool:
        return index in self.links and self.links[index]["type"] == ARPHRD_ETHER

    def csig_flows(self) -> list[Row]:
        """Return the csig connections whose packets leave by an Ethernet device."""
        return [f for f in self.flows if f["cc"] == "csig" and self.is_ethernet(f["index"])]


def stage(flow: Row) -> int:
    return int(flow["bbr"][3] // flows.GAIN) if flow["bbr"] else 0


def check_module(host: Host) -> Iterator[Row]:
    if host.wanted and host.wanted not in host.words("ipv4/tcp_available_congestion_control"):
        module = MODULES.get(host.wanted, "tcp_" + host.wanted)
        yield finding("module", host.wanted, "the congestion control is not loaded", "modprobe " + module)


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


def has_carrier(cc: str) -> bool:
    """False if the carrier that a congestion control needs is switched off."""
    knob, least = CARRIERS.get(cc, ("", 0))
    return not knob or number("hopcc/" + knob) >= least


def check_carrier(host: Host) -> Iterator[Row]:
    for cc in sorted(host.used & set(CARRIERS)):
        if has_carrier(cc):
            continue
        knob, least = CARRIERS[cc]
        yield finding("carrier", cc, f"net.hopcc.{knob} is {number('hopcc/' + knob)}: connections open "
                      "without the feedback of the network's hops", f"sysctl net.hopcc.{knob}={least}")


def name_ports(host: Host, more: Iterable[str]) -> str:
    """Return the command that trusts more devices."""
    names = " ".join([*host.words("hopcc/csig_ports"), *more])
    return f'sysctl net.hopcc.csig_ports="{names}"'


def has_trusted_parts(host: Host, index: int) -> bool:
    """True if tags may enter or leave by a bridge, a bond or a VLAN device above this one."""
    return bool(host.links[index]["master"]) or any(
        link["link"] == index and host.is_trusted(upper) for upper, link in host.links.items())


def untrusted_ports(host: Host) -> list[int]:
    """Return the untrusted devices with a queue of sch_csig."""
    return [index for index, kinds in host.qdiscs.items() if "csig" in kinds and index in host.links and
            not host.is_trusted(index) and not has_trusted_parts(host, index)]


def check_ports(host: Host) -> Iterator[Row]:
    if read_sysctl("hopcc/csig_ports") is None:
        return
    mute = {f["index"] for f in host.csig_flows() if not host.is_trusted(f["index"])}
    mute.update(untrusted_ports(host))
    for index in sorted(mute):
        yield finding("ports", host.name(index), "net.hopcc.csig_ports does not name the device: packets "
                      "leave it, and are forwarded to it, without CSIG's tags",
                      name_ports(host, [host.name(index)]))
    if host.default == "csig" and not mute and not host.words("hopcc/csig_ports"):
        yield finding("ports", "csig", "net.hopcc.csig_ports names no device: no packet has a tag",
                      name_ports(host, ["DEVICE"]))


def read_counts(carrier: str) -> dict[str, int]:
    """Return the carrier's counters of this namespace; none if it is not loaded."""
    try:
        with open("/proc/net/hopcc_" + carrier, encoding="ascii") as file:
            return {name: int(value) for name, value in map(str.split, file)}
    except OSError:
        return {}


def has_unsupported_peers(carrier: str) -> bool:
    """True if a connection of this namespace found a peer or a path without the carrier."""
    counts = read_counts(carrier)
    return counts.get("peer_unsupported", 0) + counts.get("peer_avoided", 0) > 0


def check_telemetry(_host: Host) -> Iterator[Row]:
    """Yield what made telemetry of other vendors' switches useless so far."""
    counts = read_counts("int")
    for name, cause, command in TELEMETRY:
        if counts.get(name):
            yield finding("telemetry", name, f"{counts[name]} answers so far, after which senders are Reno: {cause}",
                          command)


def why_xcp_reno(flow: Row, peer: str) -> Reason:
    lost = flow["retrans_pkts"] and not number("hopcc/tcp_xcp_loss")
    reasons = []
    if lost:
        reasons.append(("a packet was lost, after which the draft asks for Reno (net.hopcc.tcp_xcp_loss is 0)",
                        "sysctl net.hopcc.tcp_xcp_loss=2"))
    if not lost or has_unsupported_peers("xcp"):
        reasons.append((f"{peer}, or a device on the path to it, drops packets of protocol 63",
                        f"on {peer}: modprobe net_xcp; sysctl net.hopcc.xcp=1"))
    causes, commands = zip(*reasons)
    return " or ".join(causes), " or ".join(commands)


def why_reno(flow: Row, peer: str) -> Reason:
    """Return why a connection fell back to Reno."""
    base = flow["base"]
    if base in ECN:
        if flow["options"] & TCPI_OPT_ECN:
            return ("ECN was negotiated, but data timed out three times in a row",
                    "find the device on the path that drops packets with ECT: tracepath, tcpdump")
        return (f"ECN was not negotiated: the listener was started with a congestion control that does not "
                f"need ECN, or {base} was selected after connect()",
                f"restart the server, or on it: ip route change ROUTE congctl {base}")
    if base == "xcp":
        return why_xcp_reno(flow, peer)
    return (f"{peer}, or a device on the path to it, drops packets with INT headers, or no hop writes to them",
            f"on {peer}: modprobe net_int; sysctl net.hopcc.int=1; "
            "on each port: tc qdisc add dev PORT root int")


def check_reno(host: Host) -> Iterator[Row]:
    """Yield one finding for all connections of a congestion control to a peer."""
    seen: dict[tuple[str, str], list[Row]] = {}
    for flow in host.flows:
        if flow["cc"] != flow["base"] and flow["base"] in MODULES and has_carrier(flow["base"]):
            seen.setdefault((flow["cc"], host_of(flow["peer"])), []).append(flow)
    for (cc, peer), group in sorted(seen.items()):
        cause, command = why_reno(group[0], peer)
        yield finding("reno", f"{cc} to {peer}", cause, command)


def why_path(host: Host, flow: Row) -> Reason:
    """Return why a csig connection receives no signals."""
    peer = host_of(flow["peer"])
    if host.csig is None:
        return "only root can see whether the peer, the path or its hops are the reason", "sudo hopstat doctor"
    path, has_signals = host.csig.get((flow["local"], flow["peer"]), ("", False))
    if path == "stripped":
        return ("a device on the path removes the tags, or drops packets that have one",
                "on each router of the path: modprobe net_csig_tag; sysctl net.hopcc.csig_ports=DEVICES")
    if has_signals:
        return "no hop of the path writes to the tags", "on each port: tc qdisc add dev PORT root csig"
    return (f"{peer} did not answer CSIG's option",
            f"on {peer}: modprobe net_csig_tag; sysctl net.hopcc.csig=1 net.hopcc.csig_ports=DEVICE")


def check_path(host: Host) -> Iterator[Row]:
    """Yield the paths without signals: the stage that ss shows, since csig has no second name for that
    state. Connections whose device or carrier is misconfigured are left to the other checks."""
    seen: dict[str, Row] = {}
    for flow in host.csig_flows():
        if stage(flow) & PATH_STAGE and flow["acked_bytes"] >= SETTLED_BYTES and \
                host.is_trusted(flow["index"]) and has_carrier("csig"):
            seen.setdefault(host_of(flow["peer"]), flow)
    for peer, flow in sorted(seen.items()):
        cause, command = why_path(host, flow)
        yield finding("path", f"csig to {peer}", f"csig uses the delay of the whole path only: {cause}", command)


def target_ns(flow: Row) -> int:
    """Return the target delay of a csig connection."""
    knob = "e2e_target_ns" if stage(flow) & PATH_STAGE else "target_ns"
    return number("hopcc/tcp_csig_" + knob, 10000)


def is_starved(flow: Row, other: Row) -> bool:
    delay_ns = flow["bbr"][1] * 1000 if flow["bbr"] else 0
    return bool(delay_ns > STARVED_TARGETS * target_ns(flow) and
                other["rate_bit_ps"] > STARVED_TIMES * flow["rate_bit_ps"])


def own_queue(host: Host, index: int) -> str:
    """Return the command that separates flows, for this device if it has a single queue of sch_csig."""
    for port in ports.read():
        if port["kind"] == "csig" and port["dev"] == host.name(index) and \
                not host.qdiscs[index] & SEPARATE:
            return f"tc qdisc replace dev {port['dev']} parent {port['handle']}1 {OWN_QUEUE}"
    return f"on the port that they share: tc qdisc replace dev PORT parent HANDLE:1 {OWN_QUEUE}"


def check_beside(host: Host) -> Iterator[Row]:
    """Yield one finding for each device on which others starve csig; all of them have data to send."""
    busy = [f for f in host.flows if f["waits"] and f["rate_bit_ps"] is not None]
    starved: dict[int, set[str]] = {}
    for flow in busy:
        others = {o["cc"] for o in busy if o["cc"] != "csig" and o["index"] == flow["index"] and
                  is_starved(flow, o)} if flow["cc"] == "csig" else ()
        if others:
            starved.setdefault(flow["index"], set()).update(others)
    for index, others in sorted(starved.items()):
        yield finding("beside", host.name(index), "csig shares a queue with " + ", ".join(sorted(others)) +
                      ", which fills it: csig gets almost no rate", own_queue(host, index))


def check_target(host: Host) -> Iterator[Row]:
    target = number("hopcc/tcp_csig_target_ns")
    if not target:
        return
    mtus = {link["name"]: link["mtu"] for link in host.links.values()}
    for port in ports.read():
        if port["kind"] != "csig" or not port["rate_bit_ps"]:
            continue
        packet_ns = (mtus[port["dev"]] + WIRE_BYTES) * 8 * 10**9 / port["rate_bit_ps"]
        if target < PACKET_TIMES * packet_ns:
            best = -int(-PACKET_TIMES * packet_ns // ROUND_NS) * ROUND_NS
            yield finding("target", port["dev"], f"net.hopcc.tcp_csig_target_ns is {target}, less than "
                          f"{PACKET_TIMES} packet times of this port: a part of the port stays unused",
                          f"on all senders: sysctl net.hopcc.tcp_csig_target_ns={best}")


CHECKS: tuple[Callable[[Host], Iterator[Row]], ...] = (
    check_module, check_allowed, check_ecn, check_carrier, check_ports, check_reno, check_telemetry, check_path,
    check_beside, check_target)


def findings(wanted: str | None = None) -> list[Row]:
    """Return all faults; wanted: a congestion control to check although nothing uses it yet."""
    host = Host(wanted)
    return [row for check in CHECKS for row in check(host)]


def lines(rows: Iterable[Row]) -> Iterator[str]:
    """Yield the findings as lines of text."""
    for row in rows:
        yield f"{row['check']}: {row['where']}: {row['cause']}"
        yield f"    {row['command']}"
