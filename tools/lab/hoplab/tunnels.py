# SPDX-License-Identifier: GPL-2.0
"""[[tunnel]]: lines for ip that make the device of a tunnel's end, and lead traffic through it."""
from collections.abc import Iterator

from .schema import TUNNELS, Tunnel
from .topology import Network, address

# Each tunnel has subnets of its own: 192.168.N.0/24 and 2001:db8:ffff:N::/64.
VXLAN_PORT = 4789
# ipip carries IPv4 alone.
TUNNELS_IPV6 = ("gre", "vxlan")


def tunnel_lines(net: Network, node: str) -> Iterator[str]:
    """What ip does at a node, once its own routes are there."""
    for number, tunnel in enumerate(net.case.tunnels, 1):
        if node == tunnel.a:
            yield from end_lines(net, tunnel, number, node, tunnel.b, tunnel.behind_b, (1, 2))
        elif node == tunnel.b:
            yield from end_lines(net, tunnel, number, node, tunnel.a, tunnel.behind_a, (2, 1))


def end_lines(net: Network, tunnel: Tunnel, number: int, node: str, other: str, behind: list[str],
              sides: tuple[int, int]) -> Iterator[str]:
    """sides: the numbers of this end and of the other in addresses."""
    device = f"tun{number}"
    families = (4, 6) if tunnel.kind in TUNNELS_IPV6 else (4,)
    own, peer = ({4: f"192.168.{number}.{side}", 6: f"2001:db8:ffff:{number:x}::{side}"} for side in sides)
    words = f"local {address(net, node)} remote {address(net, other)} ttl 64"
    vxlan = f" id {number} dstport {VXLAN_PORT}" if tunnel.kind == "vxlan" else ""
    mac = f"address {mac_of(number, sides[0])} " if vxlan else ""
    yield f"link add {device} {mac}type {tunnel.kind}{vxlan} {words}"
    yield f"link set dev {device} mtu {tunnel.mtu or least_mtu(net, tunnel)} up"
    for family in families:
        yield f"address replace {own[family]}/{24 if family == 4 else '64'} dev {device}" + \
            (" nodad" if family == 6 else "")
        if vxlan:
            yield f"neighbour replace {peer[family]} lladdr {mac_of(number, sides[1])} dev {device} nud permanent"
        for host in behind:
            yield (f"route replace {address(net, host, family)}/{32 if family == 4 else 128} "
                   f"via {peer[family]} dev {device}")


def mac_of(number: int, side: int) -> str:
    return f"02:00:01:00:{number:02x}:{side:02x}"


def least_mtu(net: Network, tunnel: Tunnel) -> int:
    """The largest packet that fits into any link of the network with the tunnel's header."""
    return min(link.mtu for link in net.case.links) - TUNNELS[tunnel.kind]
