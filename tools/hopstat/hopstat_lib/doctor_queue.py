# SPDX-License-Identifier: GPL-2.0
"""Faults of queues that csig shares: with other congestion controls, and with their GSO packets."""
from collections.abc import Callable, Iterator

from . import flows
from .host import Host, finding, number, stage
from .table import Row

# Qdiscs that can separate flows: those below them need not share one queue.
SEPARATE = {"fq", "fq_codel", "fq_pie", "cake", "sfq", "prio", "drr", "ets", "qfq", "htb", "hfsc",
            "mqprio", "taprio"}

# Ethernet header, preamble and gap of each packet.
WIRE_BYTES = 38

# csig is starved if its delay exceeds this many targets, and its rate is this many times below
# another's.
STARVED_TARGETS, STARVED_TIMES = 5, 5

OWN_QUEUE = "fq_codel limit 10000 target 500us interval 10ms"


def uses_reports(flow: Row) -> bool:
    """True if hops report to this connection of csig; without reports it is Reno."""
    return bool(flow["cc"] == "csig" and not stage(flow) & flows.PATH_STAGE)


def is_starved(flow: Row, other: Row) -> bool:
    delay_ns = flow["bbr"][1] * 1000 if flow["bbr"] else 0
    target_ns = number("hopcc/tcp_csig_target_ns", 10000)
    return bool(delay_ns > STARVED_TARGETS * target_ns and is_far_slower(flow, other))


def is_far_slower(flow: Row, other: Row) -> bool:
    return bool(other["rate_bit_ps"] > STARVED_TIMES * flow["rate_bit_ps"])


def starved(host: Host, compare: Callable[[Row, Row], bool]) -> dict[int, set[str]]:
    """Return {device: congestion controls} of the others beside which csig is starved; all have data to send."""
    busy = [f for f in host.flows if f["waits"] and f["rate_bit_ps"] is not None]
    found: dict[int, set[str]] = {}
    for flow in busy:
        others = {o["cc"] for o in busy if o["cc"] != "csig" and o["index"] == flow["index"] and
                  compare(flow, o)} if uses_reports(flow) else ()
        if others:
            found.setdefault(flow["index"], set()).update(others)
    return found


def own_port(host: Host, index: int, separate: bool) -> Row | None:
    """Return the device's port of sch_csig if that has a queue for each flow, or if it has a single queue."""
    for port in host.ports:
        if port["kind"] == "csig" and port["dev"] == host.name(index) and \
                bool(host.qdiscs[index] & SEPARATE) == separate:
            return port
    return None


def own_queue(host: Host, index: int) -> str:
    """Return the command that separates flows, for this device if it has a single queue of sch_csig."""
    port = own_port(host, index, separate=False)
    if port:
        return f"tc qdisc replace dev {port['dev']} parent {port['handle']}1 {OWN_QUEUE}"
    return f"on the port that they share: tc qdisc replace dev PORT parent HANDLE:1 {OWN_QUEUE}"


def packet_ns(host: Host, index: int, rate_bit_ps: float) -> float:
    return float((host.links[index]["mtu"] + WIRE_BYTES) * 8 * 10**9 / rate_bit_ps)


def burst(host: Host, index: int) -> tuple[float, int] | None:
    """Return the time that the longest GSO packet takes in a port of sch_csig with a queue for each flow, and the
    number of packets that take half of csig's target; None if such GSO packets are shorter than the target."""
    target, link = number("hopcc/tcp_csig_target_ns"), host.links[index]
    port = own_port(host, index, separate=True)
    if not port or not port["rate_bit_ps"]:
        return None
    one_ns = packet_ns(host, index, port["rate_bit_ps"])
    longest_ns = one_ns * min(link["gso_max_segs"], link["gso_max_size"] // link["mtu"])
    return (longest_ns, max(int(target / 2 / one_ns), 1)) if longest_ns > max(target, one_ns) else None


def bursts(host: Host) -> dict[int, Row]:
    """Return {device: finding} where csig has a queue of its own, but waits for GSO packets of others: these are sent
    as a whole."""
    found = {}
    for index, others in sorted(starved(host, is_far_slower).items()):
        long = burst(host, index)
        if long:
            found[index] = finding(
                "burst", host.name(index), f"a GSO packet of {', '.join(sorted(others))} takes up to "
                f"{long[0] / 1000:.0f} us, and csig's next packet waits for all of it: above the target delay csig "
                "sends less", f"ip link set dev {host.name(index)} gso_max_segs {long[1]}")
    return found


def check_beside(host: Host) -> Iterator[Row]:
    """Yield one finding for each device on which others starve csig."""
    found = bursts(host)
    yield from found.values()
    for index, others in sorted(starved(host, is_starved).items()):
        # With a queue for each flow, csig shares none at its own port.
        if index not in found and not own_port(host, index, separate=True):
            yield finding("beside", host.name(index), "csig shares a queue with " + ", ".join(sorted(others)) +
                          ", which fills it: csig gets almost no rate", own_queue(host, index))


QUEUE_CHECKS: tuple[Callable[[Host], Iterator[Row]], ...] = (check_beside,)
