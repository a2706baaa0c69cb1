# SPDX-License-Identifier: GPL-2.0
"""Faults of ports: of their queues, of routers between them, and of what carriers count there."""
from collections.abc import Callable, Iterable, Iterator

from .host import Host, finding, number, read_sysctl
from .table import Row

MODES = ("update", "pass", "strip")

# Qdiscs that hosts need on every port of the path.
EVERY_PORT = ("csig", "int", "xcp")

# A port sends faster than its qdisc assumes, or can not send as fast, if the rates differ by more.
TOLERANCE = 1.2
LINE_TOLERANCE = 1.01

# Advice for a filter that a carrier's header passes under.
UNFILTER = "tc qdisc del dev DEVICE clsact, ip link set dev DEVICE xdp off, or filter on the device with the address"

# For a carrier's counter that grew while doctor looked: check, cause and command.
EVENTS: dict[tuple[str, str], tuple[str, str, str]] = {
    ("csig", "in_fenced"): (
        "fenced", "tags arrive on a device that net.hopcc.csig_ports does not name, and are removed", ""),
    ("csig", "out_no_room"): (
        "room", "packets leave without a tag because the MTU leaves no room for it",
        "ip link set dev DEVICE mtu with 4 bytes more (8 for expanded tags), or a smaller MTU on the hosts"),
    ("csig", "out_segmented"): (
        "segmented", "GSO packets are segmented in front of the qdisc, which costs CPU time: they enter a tunnel, or "
        "the device checksums only protocols that it parses", "sysctl net.hopcc.csig_every=100, or a NIC for which "
        "ethtool -k DEVICE shows tx-checksum-ip-generic: on"),
    ("csig", "in_hidden"): (
        "hidden", "frames with tags are dropped on a device that net.hopcc.csig_ports does not name: a filter of the "
        "device has not seen what is below the tag", ""),
    **{(carrier, "in_hidden"): (
        "hidden", "headers stay in place, and their connections open without the feedback of the network's hops: a "
        "filter below the device that has the address (XDP, or tc and nftables on ingress) has not seen TCP",
        UNFILTER) for carrier in ("xcp", "int")},
    **{(carrier, "out_hidden"): (
        "hidden", "packets leave without headers: a filter behind the carriers (tc and nftables on egress, nftables in "
        "postrouting behind priority 301, programs of cgroups) would not see TCP below them",
        f"filter at output, nft ... hook output, or sysctl net.hopcc.{carrier}=2 if the filter knows the header")
       for carrier in ("xcp", "int")},
}


def name_ports(host: Host, more: Iterable[str]) -> str:
    """Return the command that trusts more devices."""
    names = " ".join([*host.words("hopcc/csig_ports"), *more])
    return f'sysctl net.hopcc.csig_ports="{names}"'


def place_of(port: Row) -> str:
    """Return the place of a queue as tc takes it."""
    parent = "root" if port["parent"] == "root" else f"parent {port['parent']}"
    return f"dev {port['dev']} {parent} handle {port['handle']}"


def rate_word(bits_ps: float) -> str:
    """Return a rate as tc takes it, rounded down to kbit/s."""
    kbit = int(bits_ps // 1000)
    return f"{kbit // 1000}mbit" if kbit % 1000 == 0 else f"{kbit}kbit"


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


def check_router(host: Host) -> Iterator[Row]:
    """A router with sch_csig but without the carrier, which moves tags from port to port."""
    mute = untrusted_ports(host)
    if read_sysctl("hopcc/csig_ports") is None and mute and host.is_router():
        names = " ".join(host.name(index) for index in host.routed())
        yield finding("router", ", ".join(host.name(index) for index in sorted(mute)),
                      "packets that this router forwards lose their tags, or are dropped: net_csig_tag is "
                      "not loaded", f'modprobe net_csig_tag; sysctl net.hopcc.csig_ports="{names}"')


def check_missing(host: Host) -> Iterator[Row]:
    """The ports of a router without a qdisc that another port has."""
    if not host.is_router():
        return
    routed = host.routed()
    for kind in EVERY_PORT:
        having = [i for i in routed if kind in host.qdiscs.get(i, ())]
        missing = [i for i in routed if kind not in host.qdiscs.get(i, ()) and not has_lower(host, i, kind)]
        for index in missing if having else ():
            yield finding("qdisc", host.name(index), f"the port has no sch_{kind}, unlike "
                          f"{host.name(having[0])}: flows do not learn of its queue",
                          f"tc qdisc add dev {host.name(index)} root {kind}")


def has_lower(host: Host, index: int, kind: str) -> bool:
    """True if a device of a bridge or a bond, or the one below a VLAN device, has the qdisc."""
    parts = [i for i, link in host.links.items() if link["master"] == index]
    parts.append(host.links[index]["link"])
    return any(kind in host.qdiscs.get(part, ()) for part in parts)


def check_rate(host: Host) -> Iterator[Row]:
    for port in host.ports:
        rate, line, sent = port["rate_bit_ps"], port["line_bit_ps"], port["sent_bit_ps"]
        if port["kind"] not in EVERY_PORT or not rate:
            continue
        if line and rate > LINE_TOLERANCE * line:
            yield finding("rate", port["dev"], f"sch_{port['kind']} assumes {rate_word(rate)}, but packets "
                          f"leave at {rate_word(line)}: the queue builds up elsewhere, and the port never "
                          "reports that it is full",
                          f"tc qdisc change {place_of(port)} {port['kind']} rate {rate_word(line)}")
        elif sent and sent > TOLERANCE * rate:
            yield finding("rate", port["dev"], f"sch_{port['kind']} assumes {rate_word(rate)}, but the port "
                          f"sends {rate_word(sent)}: it reports a full port too early",
                          f"tc qdisc change {place_of(port)} {port['kind']} rate RATE, the port's; or put a "
                          f"shaper above it: tbf rate {rate_word(rate)}")


def check_speed(host: Host) -> Iterator[Row]:
    """A sch_int that follows its device to a speed without a code."""
    for port in host.ports:
        if port["kind"] == "int" and not port["detail"]["speed_bytes_ps"]:
            yield finding("speed", port["dev"], "the port's speed has no code: its reports are useless, and "
                          "connections of hpccpp fall back to Reno", f"tc qdisc change {place_of(port)} int speed "
                          "SPEED, the next one above that has a code: 10mbit 100mbit 1gbit 2500mbit 5gbit 10gbit "
                          "25gbit 40gbit 50gbit 100gbit 200gbit 400gbit 800gbit 1600gbit")


def check_strip(host: Host) -> Iterator[Row]:
    """A sch_csig of the own port that removes the tags of own flows, or does not write to them."""
    used = {f["index"] for f in host.csig_flows()}
    for (index, handle), (mode, _) in sorted(host.csig_configs.items()):
        if mode and index in used:
            verb = "removes" if MODES[mode] == "strip" else "does not update"
            port = next(p for p in host.ports if (p["dev"], p["handle"]) == (host.name(index), handle))
            yield finding("mode", host.name(index), f"sch_csig of this port {verb} the tags of csig: its mode "
                          f"is {MODES[mode]}", f"tc qdisc change {place_of(port)} csig mode update")


def check_domain(host: Host) -> Iterator[Row]:
    """Units of expanded tags that differ between the carrier and the ports of this namespace."""
    wanted = [int(word) for word in host.words("hopcc/csig_quantum")]
    if not number("hopcc/csig"):
        return
    for (index, _), (_, quanta) in sorted(host.csig_configs.items()):
        own = [quanta.get(kind, value) for kind, value in enumerate(wanted)]
        if own != wanted and host.is_trusted(index):
            text = " ".join(str(value) for value in own)
            yield finding("domain", host.name(index), "net.hopcc.csig_quantum is "
                          f"{' '.join(str(v) for v in wanted)}, the port's sch_csig has {text}: values of "
                          "expanded tags are misread", f'sysctl net.hopcc.csig_quantum="{text}"')


def check_events(host: Host) -> Iterator[Row]:
    for (carrier, counter), (check, cause, command) in EVENTS.items():
        if host.events.get(carrier, {}).get(counter, 0) <= 0:
            continue
        if not command:
            names = [host.name(i) for i in host.routed() if not host.is_trusted(i)]
            command = name_ports(host, names or ["DEVICE"])
        yield finding(check, carrier, cause, command)


PORT_CHECKS: tuple[Callable[[Host], Iterator[Row]], ...] = (
    check_ports, check_router, check_missing, check_rate, check_speed, check_strip, check_domain,
    check_events)
