# SPDX-License-Identifier: GPL-2.0
"""Read the state of this network namespace for doctor and why."""
import functools
import glob
import ipaddress
import os
import socket
import struct
import time
from collections.abc import Iterable
from typing import Any

from . import flows, netlink, ports, sockets
from .sockets import Ends, host_of
from .table import Row

# The configuration of a sch_csig: its mode, and each signal's quantum.
Config = tuple[int, dict[int, int]]

# A cause and the command that corrects it.
Reason = tuple[str, str]

GETLINK, GETROUTE, GETQDISC, GETTFILTER = 18, 26, ports.GETQDISC, 46
# The parent of filters on ingress, of the qdiscs ingress and clsact.
INGRESS = 0xfffffff2
# Actions on ingress that count packets against a rate.
COUNTING = ("police", "mirred")
IFLA_IFNAME, IFLA_MTU, IFLA_LINK, IFLA_MASTER, IFLA_LINK_NETNSID = 3, 4, 5, 10, 37
IFLA_LINKINFO, IFLA_INFO_KIND = 18, 1
IFLA_GSO_MAX_SEGS, IFLA_GSO_MAX_SIZE = 40, 41
RTA_DST, RTA_OIF, RTA_GATEWAY, RTA_METRICS, RTAX_CC_ALGO = 1, 4, 5, 8, 16
TCA_CSIG_MODE, TCA_CSIG_SIGNAL_ABW, SIGNALS, TCA_CSIG_SIGNAL_QUANTUM = 4, 16, 3, 2
ARPHRD_ETHER, IFF_UP = 1, 1

MODULES = {"dctcp_ms": "tcp_dctcp_ms", "ldcp": "tcp_ldcp", "xcp": "tcp_xcp", "hpccpp": "tcp_hpccpp",
           "csig": "tcp_csig"}

# For each congestion control: the carrier's sysctl, and the least value at which new connections use
# the carrier.
CARRIERS: dict[str, tuple[str, int]] = {"xcp": ("xcp", 1), "hpccpp": ("int", 1), "csig": ("csig", 2)}

# These congestion controls need ECN.
ECN = ("dctcp_ms", "ldcp")

PROC, LOCKDOWN = "/proc", "/sys/kernel/security/lockdown"
MODULES_DIR, SIG_ENFORCE = "/lib/modules", "/sys/module/module/parameters/sig_enforce"


def finding(check: str, where: str, cause: str, command: str) -> Row:
    return dict(check=check, where=where, cause=cause, command=command)


def read_text(path: str) -> str | None:
    """The text of a file; None if it cannot be read."""
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return None


def read_sysctl(name: str) -> str | None:
    """The text of a sysctl; None if the kernel, or this network namespace, has none."""
    return read_text(f"{PROC}/sys/net/{name}")


def number(name: str, missing: int = 0) -> int:
    return int(read_sysctl(name) or missing)


def read_counts(carrier: str) -> dict[str, int]:
    """Return the counters of a carrier in this namespace; empty without its module."""
    text = read_text(f"{PROC}/net/hopcc_{carrier}") or ""
    return {name: int(value) for name, value in (line.split() for line in text.splitlines())}


def read_links() -> dict[int, dict[str, Any]]:
    """Return {index: {name, kind, type, up, mtu, link, master, gso_max_segs, gso_max_size}} of all devices."""
    found = {}
    for data in netlink.dump(netlink.ROUTE, GETLINK, bytes(16)):
        kind, index, flags = struct.unpack_from("=HiI", data, 2)
        attrs = dict(netlink.attributes(data[16:]))
        numbers: dict[str, Any] = {
            key: struct.unpack("I", attrs[attr])[0] if attr in attrs else 0
            for key, attr in (("mtu", IFLA_MTU), ("link", IFLA_LINK), ("master", IFLA_MASTER),
                              ("gso_max_segs", IFLA_GSO_MAX_SEGS), ("gso_max_size", IFLA_GSO_MAX_SIZE))}
        if IFLA_LINK_NETNSID in attrs:
            numbers["link"] = 0     # an index of another network namespace
        info = dict(netlink.attributes(attrs.get(IFLA_LINKINFO, b"")))
        found[index] = numbers | dict(name=attrs[IFLA_IFNAME].split(b"\0")[0].decode(), type=kind,
                                      kind=info.get(IFLA_INFO_KIND, b"").split(b"\0")[0].decode(),
                                      up=bool(flags & IFF_UP))
    return found


def read_qdiscs() -> dict[int, set[str]]:
    """Return {index: {kinds of qdiscs}} of all devices."""
    found: dict[int, set[str]] = {}
    for data in netlink.dump(netlink.ROUTE, GETQDISC, bytes(20)):
        index, = struct.unpack_from("i", data, 4)
        kind = dict(netlink.attributes(data[20:]))[ports.TCA_KIND]
        found.setdefault(index, set()).add(kind.split(b"\0")[0].decode())
    return found


def read_ingress(index: int) -> set[str]:
    """Return which of COUNTING the filters on ingress of a device have. An action's kind is a string in the filter."""
    body = struct.pack("=BxxxiIII", 0, index, 0, INGRESS, 0)
    try:
        text = b"".join(netlink.dump(netlink.ROUTE, GETTFILTER, body))
    except OSError:
        return set()
    return {kind for kind in COUNTING if kind.encode() + b"\0" in text}


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
def route_to(address: str) -> tuple[int | None, str | None, str | None]:
    """Return the device that packets to an address leave by, the first router, and the congestion control
    that the route selects; each None if there is none."""
    packed = ipaddress.ip_address(address.partition("%")[0]).packed
    family = socket.AF_INET if len(packed) == 4 else socket.AF_INET6
    body = struct.pack("BBBBBBBBI", family, 8 * len(packed), 0, 0, 0, 0, 0, 0, 0)
    body += struct.pack("HH", 4 + len(packed), RTA_DST) + packed
    try:
        for data in netlink.dump(netlink.ROUTE, GETROUTE, body, flags=0):
            attrs = dict(netlink.attributes(data[12:]))
            metrics = dict(netlink.attributes(attrs.get(RTA_METRICS, b"")))
            return (int(struct.unpack("i", attrs[RTA_OIF])[0]) if RTA_OIF in attrs else None,
                    netlink.address(attrs[RTA_GATEWAY]) if RTA_GATEWAY in attrs else None,
                    metrics[RTAX_CC_ALGO].split(b"\0")[0].decode() if RTAX_CC_ALGO in metrics else None)
    except OSError:
        pass
    return None, None, None


def first_router(peer: str) -> str:
    """Return the words about the place where a search on the path starts."""
    router = route_to(peer)[1]
    return f" (the first router is {router})" if router else ""


def read_csig() -> dict[Ends, str] | None:
    """Return {(local, peer): path} of the CSIG carrier; None without root."""
    try:
        return {(local, peer): path for local, peer, path, _ in flows.csig_flows()}
    except OSError:
        return None


def programs(inodes: Iterable[int]) -> set[str]:
    """Return the names of the programs that hold these sockets, as far as the caller may see them."""
    wanted = {f"socket:[{inode}]" for inode in inodes}
    names = set()
    for path in glob.glob(f"{PROC}/[0-9]*/fd/*"):
        try:
            if os.readlink(path) in wanted:
                names.add(read_text(path.split("/fd/")[0] + "/comm") or "?")
        except OSError:
            continue
    return names


def csig_configs() -> dict[tuple[int, str], Config]:
    """Return {(index, handle): configuration} of each sch_csig."""
    found = {}
    for data in netlink.dump(netlink.ROUTE, ports.GETQDISC, bytes(20)):
        index, handle = struct.unpack_from("iI", data, 4)
        attrs = dict(netlink.attributes(data[20:]))
        if attrs.get(ports.TCA_KIND) != b"csig\0":
            continue
        options = dict(netlink.attributes(attrs.get(ports.TCA_OPTIONS, b"")))
        nests = {kind: dict(netlink.attributes(options[TCA_CSIG_SIGNAL_ABW + kind]))
                 for kind in range(SIGNALS) if TCA_CSIG_SIGNAL_ABW + kind in options}
        found[index, f"{handle >> 16:x}:"] = (
            struct.unpack("I", options[TCA_CSIG_MODE])[0],
            {kind: struct.unpack("I", nest[TCA_CSIG_SIGNAL_QUANTUM])[0] for kind, nest in nests.items()
             if TCA_CSIG_SIGNAL_QUANTUM in nest})
    return found


class Host:
    """The state of this network namespace. To read it takes flows.LOOK_S."""

    def __init__(self, wanted: str | None) -> None:
        self.wanted = wanted
        counts = {carrier: read_counts(carrier) for carrier, _ in CARRIERS.values()}
        old_ports, before, then = ports.read(), sockets.connections(), time.monotonic()
        time.sleep(flows.LOOK_S)
        after, self.ports, seconds = sockets.connections(), ports.read(), time.monotonic() - then
        flows.add_rates(after, before, seconds)
        ports.add_sent(self.ports, old_ports, seconds)
        self.flows = [self.one_flow(ends, flow, before.get(ends)) for ends, flow in after.items()]
        # carrier -> counter -> events during the look
        self.counts = {carrier: read_counts(carrier) for carrier in counts}
        self.events = {carrier: {name: now - counts[carrier].get(name, now) for name, now in own.items()}
                       for carrier, own in self.counts.items()}
        self.links, self.qdiscs, self.csig = read_links(), read_qdiscs(), read_csig()
        self.csig_configs = csig_configs()
        self.default = read_sysctl("ipv4/tcp_congestion_control") or ""
        self.used: set[str] = {self.default} | read_congctl() | {f["base"] for f in self.flows}
        if wanted and wanted in self.words("ipv4/tcp_available_congestion_control"):
            self.used.add(wanted)

    @staticmethod
    def one_flow(ends: Ends, flow: Row, before: Row | None) -> Row:
        """Return the flow with the selected congestion control, the device, and True if data waits."""
        local, peer = ends
        return flow | dict(local=local, peer=peer, base=flow["cc"].removesuffix("-reno"),
                           index=route_to(host_of(peer))[0],
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

    def is_router(self) -> bool:
        """True if this namespace forwards between at least two devices."""
        forwards = number("ipv4/ip_forward") or number("ipv6/conf/all/forwarding")
        return bool(forwards) and len(self.routed()) > 1

    def routed(self) -> list[int]:
        """Return the Ethernet devices that are up and that no bridge or bond contains."""
        return [index for index, link in self.links.items()
                if self.is_ethernet(index) and link["up"] and not link["master"]]

    def ingress_actions(self) -> dict[int, set[str]]:
        """Return {device: actions on its ingress that count packets}."""
        found = {index: read_ingress(index) for index, kinds in self.qdiscs.items() if kinds & {"ingress", "clsact"}}
        return {index: actions for index, actions in found.items() if actions}

    def stripping(self) -> set[int]:
        """Return the devices whose sch_csig does not update tags."""
        return {index for (index, _), (mode, _) in self.csig_configs.items() if mode}

    def csig_flows(self) -> list[Row]:
        """Return the connections that chose csig and whose packets leave by an Ethernet device."""
        return [f for f in self.flows if f["base"] == "csig" and self.is_ethernet(f["index"])]

    def may_tag(self, index: int) -> bool:
        """True if packets with tags may leave by this device."""
        return self.is_trusted(index) and index not in self.stripping()


def stage(flow: Row) -> int:
    return int(flow["bbr"][3] // flows.GAIN) if flow["bbr"] else 0


def has_carrier(cc: str) -> bool:
    """False if the carrier that a congestion control needs is switched off."""
    knob, least = CARRIERS.get(cc, ("", 0))
    return not knob or number("hopcc/" + knob) >= least
