# SPDX-License-Identifier: GPL-2.0
"""Faults of tunnels: devices whose outer packets do not carry what hops of the underlay read and write; and of filters
on ingress that count the packets of XCP twice."""
from collections.abc import Callable, Iterator

from .host import CARRIERS, Host, finding, number
from .table import Row

# Kinds of devices behind which a packet is inside of another one, by what can be done. XCP's header is copied with
# net.hopcc.xcp_tunnel; CSIG's tag leaves with a host's own tunnel, and with a router's if csig_ports names it.
COPIED = {"ipip", "sit", "gre", "ip6gre", "ip6tnl"}
TAGGED = COPIED | {"gretap", "ip6gretap", "vxlan", "geneve"}
TUNNELS = TAGGED | {"wireguard", "ovpn", "tun", "ppp", "vti", "vti6", "xfrm", "bareudp", "amt"}

# What outer packets lack, and what becomes of a connection. XCP cannot tell a router that grants all from none.
EFFECTS = {"xcp": ("XCP's header", "so that they are as between hosts back to back until a packet is lost"),
           "hpccpp": ("records of INT", "and they fall back to Reno"), "csig": ("CSIG's tags", "and they are as Reno")}


def is_tunnel(host: Host, index: int | None) -> bool:
    return index in host.links and host.links[index]["kind"] in TUNNELS


def may_copy(host: Host, cc: str, index: int) -> bool:
    """True if the outer packets of a host's own tunnel carry what the congestion control needs."""
    kind = host.links[index]["kind"]
    return cc == "csig" and kind in TAGGED or cc == "xcp" and kind in COPIED and bool(number("hopcc/xcp_tunnel"))


def hides(host: Host, flow: Row) -> bool:
    """True if a connection enters a tunnel whose outer packets show hops nothing of it."""
    return flow["base"] in CARRIERS and is_tunnel(host, flow["index"]) and \
        not may_copy(host, flow["base"], flow["index"])


def check_tunnel(host: Host) -> Iterator[Row]:
    """Yield the tunnels by which connections leave, and through which nobody copies."""
    for base, index in sorted({(flow["base"], flow["index"]) for flow in host.flows if hides(host, flow)}):
        kind, name, (lacks, effect) = host.links[index]["kind"], host.name(index), EFFECTS[base]
        command = f"ip route change PREFIX dev {name} congctl cubic, or a route beside the tunnel"
        if base == "xcp" and kind in COPIED:
            command = f"at both ends of {name}: sysctl net.hopcc.xcp_tunnel=1"
        yield finding("tunnel", name, f"connections of {base} enter this tunnel ({kind}), whose outer packets carry no "
                      f"{lacks}: no hop below it reports, {effect}", command)


def check_unnamed(host: Host) -> Iterator[Row]:
    """Yield the tunnels of a router that forwards CSIG's tags, where these end."""
    names = host.words("hopcc/csig_ports")
    if not names or not host.is_router():
        return
    for index, link in host.links.items():
        if not link["up"] or not is_tunnel(host, index) or host.is_trusted(index):
            continue
        named = link["kind"] in TAGGED
        yield finding("tunnel", link["name"], f"packets that enter this tunnel ({link['kind']}) go on without CSIG's "
                      "tags, so that their connections are as Reno: " +
                      ("net.hopcc.csig_ports does not name it" if named else "nobody copies tags through it"),
                      f'sysctl net.hopcc.csig_ports="{" ".join([*names, link["name"]])}"' if named else
                      "lead the domain's traffic beside the tunnel")


def check_twice(host: Host) -> Iterator[Row]:
    """Yield the devices on which a policer or a shaper (ifb) counts each packet with XCP's header twice: as it arrived,
    and again without its header."""
    if number("hopcc/xcp") != 1 or host.events.get("xcp", {}).get("in", 0) <= 0:
        return
    for index, actions in sorted(host.ingress_actions().items()):
        yield finding("twice", host.name(index), f"filters on ingress ({', '.join(sorted(actions))}) see each packet with "
                      "XCP's header twice, as it arrived and again as TCP: it counts twice against their rate",
                      "sysctl net.hopcc.xcp=2, if no filter of this host looks for TCP in packets of protocol 63")


TUNNEL_CHECKS: tuple[Callable[[Host], Iterator[Row]], ...] = (check_tunnel, check_unnamed, check_twice)
