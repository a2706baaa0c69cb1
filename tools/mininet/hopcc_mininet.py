# SPDX-License-Identifier: GPL-2.0
"""hopcc in Mininet 2.3: links and Linux routers that use a system by its name.

    from functools import partial
    from mininet.net import Mininet
    from mininet.topo import SingleSwitchTopo
    from hopcc_mininet import HopccLink, HopccRouter

    link = partial(HopccLink, system="hpccpp", bw=1000, delay="25us")
    net = Mininet(topo=SingleSwitchTopo(3), switch=HopccRouter, link=link, controller=None)

Or by mn: mn --custom hopcc_mininet.py --controller none --switch hopcc
--link hopcc,system=hpccpp,bw=1000 --topo single,3

HopccLink shapes both of its ends to `bw`, gives ports of switches the queue of the system, and
gives hosts its congestion control and sysctls. HopccRouter is a Linux router in a network
namespace of its own. It needs no addresses of its ports and works in any of Mininet's
topologies: it answers ARP for all hosts and has a route to each.
"""
import re
import shlex
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mininet.link import Intf, Link, TCLink, TCULink
from mininet.node import Node, Switch
from mininet.util import quietRun

# A full frame on the wire, with Ethernet's preamble, FCS and gap, and what of it is not in the frame.
FRAME_BYTES, OVERHEAD_BYTES = 1538, 24
# Senders that LDCP's thresholds allow for, and packets in the ramp of one (ldcp-thresholds).
LDCP_FLOWS, LDCP_RAMP_PKTS = 8, 4
IPERF_PORT = 5001
TIMES_US = {"us": 1.0, "ms": 1e3, "s": 1e6}


class HopccError(Exception):
    """A parameter or a command that failed."""


@dataclass(frozen=True)
class Port:
    """One end of a link, as its system needs to know it."""
    mbit: float         # rate
    rtt_us: float       # base RTT of the network's longest path
    switch: int         # number of the switch, 0 to 255
    number: int         # number of the port
    limit: int          # bytes that the queue holds

    @property
    def bdp(self) -> int:
        """The bandwidth-delay product in bytes."""
        return max(round(self.mbit * self.rtt_us / 8), FRAME_BYTES)

    def packets_us(self, count: int) -> float:
        """The time of so many full packets."""
        return count * FRAME_BYTES * 8 / self.mbit


@dataclass(frozen=True)
class System:
    """A congestion control with its modules, its queue at switches and its sysctls."""
    cc: str
    modules: Sequence[str]
    queue: Callable[[Port], str]
    host: Callable[[Port], dict[str, object]]
    router: Callable[[Port], dict[str, object]] = lambda port: {}


def dctcp_queue(port: Port) -> str:
    # 20 packets at 1 Gbit/s, 65 at 10 Gbit/s as in the DCTCP paper, and a seventh of the BDP at least.
    mark = round(max(30000, 10 * port.mbit, port.bdp / 7))
    return f"wred limit {port.limit} ect min {mark} max {mark} prob 1"


def ldcp_queue(port: Port) -> str:
    low = port.bdp // 2
    high = low + LDCP_RAMP_PKTS * LDCP_FLOWS * FRAME_BYTES
    limit = high + port.bdp + LDCP_FLOWS * FRAME_BYTES
    return (f"wred limit {limit} overhead {OVERHEAD_BYTES} ect min {low} max {high} prob 1 "
            f"nect min {high} max {high} prob 1")


def xcp_queue(port: Port) -> str:
    interval_us = min(max(round(port.rtt_us), 10), 10000000)
    return (f"xcp rate {port.mbit:g}mbit overhead {OVERHEAD_BYTES} min_interval {interval_us}us "
            f"allowed_queue {2 * interval_us}us limit {port.limit}")


def speed_code(mbit: float) -> str:
    """The speed that records of INT report: the next one that has a code."""
    codes = (10, 100, 1000, 2500, 5000, 10000, 25000, 40000, 50000, 100000, 200000, 400000, 800000, 1600000)
    return f"{next((code for code in codes if code >= mbit), codes[-1])}mbit"


def hpccpp_queue(port: Port) -> str:
    return (f"int rate {port.mbit:g}mbit speed {speed_code(port.mbit)} overhead {OVERHEAD_BYTES} "
            f"switch_id {port.switch} port_id {port.number} limit {port.limit}")


def csig_queue(port: Port) -> str:
    # Available bandwidth over the time of 20 packets.
    interval_us = min(max(round(port.packets_us(20)), 10), 1000000)
    return (f"csig rate {port.mbit:g}mbit overhead {OVERHEAD_BYTES} interval {interval_us}us "
            f"device_id {port.switch} port_id {port.number & 255} lm all expanded device:8,port:8 "
            f"limit {port.limit}")


def ecn(_port: Port) -> dict[str, object]:
    return {"net.ipv4.tcp_ecn": 1}


def ldcp_host(port: Port) -> dict[str, object]:
    return ecn(port) | {"net.hopcc.tcp_ldcp_rate_mbit": round(port.mbit),
                        "net.hopcc.tcp_ldcp_rtt_us": round(port.rtt_us)}


def csig_host(port: Port) -> dict[str, object]:
    # The target must be longer than four packets (tcp_csig.md, "The target").
    return csig_router(port) | {"net.hopcc.csig": 2, "net.hopcc.csig_form": 2,
                                "net.hopcc.tcp_csig_target_ns": round(max(10, port.packets_us(5)) * 1000)}


def csig_router(_port: Port) -> dict[str, object]:
    return {"net.hopcc.csig_ports": "*"}


SYSTEMS = {
    "dctcp_ms": System("dctcp_ms", ("sch_wred", "tcp_dctcp_ms"), dctcp_queue, ecn),
    "ldcp": System("ldcp", ("sch_wred", "tcp_ldcp"), ldcp_queue, ldcp_host),
    "xcp": System("xcp", ("sch_xcp", "net_xcp", "tcp_xcp"), xcp_queue, lambda port: {}),
    "hpccpp": System("hpccpp", ("sch_int", "net_int", "tcp_hpccpp"), hpccpp_queue,
                     lambda port: {"net.hopcc.tcp_hpccpp_rate_mbit": round(port.mbit)}),
    "csig": System("csig", ("sch_csig", "net_csig_tag", "tcp_csig"), csig_queue, csig_host, csig_router),
}
# No system: a byte fifo and the congestion control that hosts have.
PLAIN = System("", (), lambda port: f"bfifo limit {port.limit}", lambda port: {})


def system_of(name: str | None) -> System:
    if name is None:
        return PLAIN
    if name not in SYSTEMS:
        raise HopccError(f"no system {name!r}; there are: {' '.join(SYSTEMS)}")
    return SYSTEMS[name]


def time_us(given: str) -> float:
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)(us|ms|s)", str(given))
    if not match:
        raise HopccError(f"{given!r}: write a time as 25us, 1ms or 0.1s")
    return float(match[1]) * TIMES_US[match[2]]


def run(node: Node, command: str) -> str:
    """Run a command in a node. Return what it prints."""
    text, _, status = str(node.cmd(f"{command}; echo status $?")).rpartition("status ")
    if status.strip() != "0":
        raise HopccError(f"{node.name}: {command}: {text.strip()}")
    return text


def batch(node: Node, tool: str, lines: Sequence[str]) -> None:
    """Run the lines as commands of ip or tc, by one process."""
    if lines:
        run(node, f"{tool} -batch - <<<{shlex.quote(chr(10).join(lines))}")


def set_sysctls(node: Node, settings: dict[str, object]) -> None:
    """By the node's shell itself, which starts no process for it."""
    if settings:
        run(node, " && ".join(f"echo {shlex.quote(str(value))} >/proc/sys/{key.replace('.', '/')}"
                              for key, value in settings.items()))


def load(system: System) -> None:
    """Load the modules, and let other network namespaces choose the congestion control."""
    for module in system.modules:
        if not Path("/sys/module", module).exists():
            said = quietRun(f"modprobe {module}")
            if not Path("/sys/module", module).exists():
                raise HopccError(f"modprobe {module}: {said.strip()}")
    allowed = Path("/proc/sys/net/ipv4/tcp_allowed_congestion_control")
    names = allowed.read_text().split()
    if system.cc and system.cc not in names:
        allowed.write_text(" ".join([*names, system.cc]))


class HopccIntf(Intf):  # type: ignore[misc]
    """A port with a shaper, and behind it the queue of a system."""

    # pylint: disable=arguments-differ
    def config(self, system: str | None = None, bw: float = 1000, delay: str | None = None,
               rtt: str = "100us", limit: int = 1000000, tso: bool = False,
               **params: Any) -> dict[str, Any]:
        """
        system: a name of SYSTEMS, or None for a byte fifo
        bw: rate in Mbit/s
        delay: propagation delay of this direction, as 25us
        rtt: base RTT of the network's longest path, from which thresholds and intervals follow
        limit: bytes that the queue holds; LDCP computes its own
        tso: leave GSO packets whole on their way from a host (fewer events, coarser queues)
        """
        result: dict[str, Any] = super().config(**params)
        if self.name == "lo":
            return result
        chosen = system_of(system)
        port = Port(float(bw), time_us(rtt), self.switch_number(), self.node.ports.get(self, 0), int(limit))
        if isinstance(self.node, Switch):
            queue = chosen.queue(port)
            settings = chosen.router(port) if isinstance(self.node, HopccRouter) else {}
        else:
            queue = f"bfifo limit {max(port.limit, 10 * port.bdp)}"
            settings = chosen.host(port)
            if chosen.cc:
                settings = settings | {"net.ipv4.tcp_congestion_control": chosen.cc}
        if not tso:
            batch(self.node, "ip", [f"link set dev {self.name} gso_max_segs 1"])
        self.shape(port, delay, queue)
        set_sysctls(self.node, settings)
        return result

    def switch_number(self) -> int:
        return int(self.node.dpid, 16) & 255 if isinstance(self.node, Switch) else 0

    def shape(self, port: Port, delay: str | None, queue: str) -> None:
        """netem, if there is a delay, above tbf, above the queue: packets that travel are not in the queue."""
        add, parent, lines = f"qdisc add dev {self.name}", "root", []
        if delay is not None:
            lines = [f"{add} root handle 1: netem delay {time_us(delay):g}us limit 1000000"]
            parent = "parent 1:1"
        # Timers of a real kernel are some 20 us late. Three packets at least, as in the README.
        burst = max(5000, round(port.mbit * 20 / 8))
        batch(self.node, "tc", [
            *lines, f"{add} {parent} handle 2: tbf rate {port.mbit:g}mbit burst {burst} limit {port.limit}",
            f"{add} parent 2:1 handle 10: {queue}"])

    def statistics(self) -> dict[str, int]:
        """The counters of the port's queue by their names in tc -s; sent_bytes and sent_pkts for the first two."""
        text = run(self.node, f"tc -s qdisc show dev {self.name}")
        part = next((p for p in re.split(r"^qdisc ", text, flags=re.M) if re.match(r"\w+ 10: ", p)), "")
        sent = re.search(r"Sent (\d+) bytes (\d+) pkt (.*)", part, re.S)
        if not sent:
            raise HopccError(f"{self.name} has no queue: {text}")
        words = {"sent_bytes": int(sent[1]), "sent_pkts": int(sent[2])}
        for name, value in re.findall(r"(\w+) (\d+)\b", sent[3]):
            words.setdefault(name, int(value))
        return words


class HopccLink(Link):  # type: ignore[misc]
    """A link of one rate whose ends use a system. Parameters: see HopccIntf.config()."""

    def __init__(self, *args: Any, system: str | None = None, **params: Any) -> None:
        load(system_of(system))
        # Not the parameter intf, which Mininet gives a value of its own.
        params.setdefault("cls1", HopccIntf)
        params.setdefault("cls2", HopccIntf)
        super().__init__(*args, system=system, **params)


class HopccRouter(Switch):  # type: ignore[misc]
    """
    A Linux router in a network namespace of its own, in the place of a switch. Hosts keep the
    addresses that Mininet gives them, in one subnet: the router answers ARP for all of them and
    forwards by a route to each, along the fewest hops.
    """

    def __init__(self, name: str, **params: Any) -> None:
        params["inNamespace"] = True
        super().__init__(name, **params)
        # A source for ARP and ICMP: ports have no address. 198.18.0.0/15 is for benchmarks.
        number = int(self.dpid, 16) & 0xffff
        batch(self, "ip", [f"addr add 198.18.{number >> 8}.{number & 255}/32 dev lo", "link set lo up"])
        set_sysctls(self, {"net.ipv4.ip_forward": 1, "net.ipv4.conf.all.proxy_arp": 1,
                           "net.ipv4.conf.all.send_redirects": 0, "net.ipv4.conf.default.send_redirects": 0,
                           "net.ipv4.conf.all.rp_filter": 0, "net.ipv4.conf.default.rp_filter": 0,
                           "net.ipv4.fib_multipath_hash_policy": 1})

    def start(self, _controllers: Sequence[Any]) -> None:
        """Routes to all hosts. All links are there by now."""
        # Linux answers for others after a random time of up to 0.8 s.
        set_sysctls(self, {f"net.ipv4.neigh.{intf.name}.proxy_delay": 0
                           for intf in self.intfList() if intf.name != "lo"})
        lines = []
        for host, ports in routes(self).items():
            hops = [f"dev {port.name}" for port in ports]
            words = hops[0] if len(hops) == 1 else " ".join(f"nexthop {hop}" for hop in hops)
            lines += [f"route replace {address}/32 {words}" for address in addresses(host)]
        batch(self, "ip", lines)

    def connected(self) -> bool:
        return True


def addresses(host: Node) -> Iterator[str]:
    for intf in host.intfList():
        if intf.IP() and intf.name != "lo":
            yield intf.IP()


def neighbours(node: Node) -> Iterator[tuple[Intf, Node]]:
    """The ports of a node, each with the node at the other end."""
    for intf in node.intfList():
        if intf.link:
            other = intf.link.intf2 if intf.link.intf1 is intf else intf.link.intf1
            yield intf, other.node


def routes(router: Node) -> dict[Node, list[Intf]]:
    """Every host, with the ports that lead there by the fewest hops. Hosts do not forward."""
    first: dict[Node, list[Intf]] = {}
    for intf, node in neighbours(router):
        first.setdefault(node, []).append(intf)
    found: dict[Node, list[Intf]] = {router: [], **first}
    level = list(first)
    while level:
        further: dict[Node, list[Intf]] = {}
        for node in (n for n in level if isinstance(n, Switch)):
            for _, beyond in neighbours(node):
                if beyond not in found:
                    ports = further.setdefault(beyond, [])
                    ports += [port for port in found[node] if port not in ports]
        found |= further
        level = list(further)
    return {node: ports for node, ports in found.items() if not isinstance(node, Switch)}


def transfer(senders: Sequence[Node], receiver: Node, seconds: float = 1) -> list[float]:
    """Send by iperf from all senders at once. Return the goodput of each, in Mbit/s."""
    server = receiver.popen(["iperf", "-s", "-y", "C", "-P", str(len(senders))], stderr=subprocess.DEVNULL)
    clients: list["subprocess.Popen[bytes]"] = []
    try:
        wait_for_listener(receiver, IPERF_PORT)
        for sender in senders:
            clients.append(sender.popen(["iperf", "-c", receiver.IP(), "-t", f"{seconds:g}"],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT))
        if any(client.wait() for client in clients):
            raise HopccError("a client of iperf failed")
        said, _ = server.communicate(timeout=60)
    finally:
        for process in [server, *clients]:
            process.kill()
            process.wait()
    return goodputs(said.decode(), [sender.IP() for sender in senders])


def wait_for_listener(node: Node, port: int) -> None:
    for _ in range(100):
        if run(node, f"ss -Hltn sport = :{port}").strip():
            return
        time.sleep(0.05)
    raise HopccError(f"{node.name}: nobody listens on port {port}")


def goodputs(report: str, addresses_: Sequence[str]) -> list[float]:
    """Of a server's report, a line of values for each connection, the last of them bit/s."""
    found: dict[str, float] = {}
    for line in report.splitlines():
        words = line.split(",")
        if len(words) > 8 and (address := next((a for a in addresses_ if a in words[1:5]), None)):
            found[address] = found.get(address, 0) + float(words[8]) / 1e6
    if len(found) != len(addresses_):
        raise HopccError(f"iperf: no result of {' '.join(set(addresses_) - set(found))}: {report!r}")
    return [found[address] for address in addresses_]


# For mn --custom. It does not know the name `links` (a comma is missing there): this replaces its own table.
LINKS = {"default": Link, "tc": TCLink, "tcu": TCULink, "hopcc": HopccLink}
switches = {"hopcc": HopccRouter}
