#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""What a router sees of connections with a carrier: protocol and ports, by which ECMP, RSS and load
balancers choose a path, and what conntrack counts. Prints TAP. Needs root, nft and the modules; all
is in network namespaces of its own.

                     [r-b] ---- [b-r]
    a ---- [r-a] r                    b     r spreads connections over two links to b
                     [r-c] ---- [c-r]
"""
import json
import socket
import subprocess
import sys
import time

import hosts
from hosts import Stream, connect, ip, sysctl, transfer
from xcp_firewall import counter, nft

# With so many, one of the links is left out once in 2^31 runs.
CONNECTIONS, BYTES = 32, 1 << 18
# Congestion control, its carrier, counters of its forms, sysctls, the protocols beside TCP
CASES = (
    ("hpccpp", "int", ("out_handshake", "out_probe", "in_answer"), {}, []),
    ("csig", "csig", ("out_handshake", "out_tag"), {"csig_ports": "*", "csig": 2}, []),
    ("hpccpp", "int", ("out_handshake", "out_data"), {"int_forward": 1}, [254]),
    ("xcp", "xcp", ("out_handshake", "out_data"), {}, [63]),
)

SECOND_LINK = """
link add c-r netns b type veth peer name r-c netns r
-n r addr add 203.0.113.2/24 dev r-c
-n r addr add 2001:db8:3::2/64 dev r-c nodad
-n b addr add 203.0.113.1/24 dev c-r
-n b addr add 2001:db8:3::1/64 dev c-r nodad
-n r link set r-c up
-n b link set c-r up
-n r route add 198.51.100.1/32 nexthop via 198.51.100.1 dev r-b nexthop via 203.0.113.1 dev r-c
-n r route add 2001:db8:2::1/128 nexthop via 2001:db8:2::1 dev r-b nexthop via 2001:db8:3::1 dev r-c
"""

# Behind the removal of tags, in front of conntrack; ICMP resolves addresses.
LOOKS = """
table inet looks {
	set seen {
		type inet_proto . inet_service . inet_service
		flags dynamic
		size 1000
	}
	set paths {
		type inet_service . inet_service . ifname
		flags dynamic
		size 1000
	}
	chain arrives {
		type filter hook prerouting priority -300; policy accept;
		meta l4proto != { icmp, icmpv6 } add @seen { meta l4proto . th sport . th dport }
	}
	chain forward {
		type filter hook forward priority 0; policy accept;
		ct state invalid counter comment "invalid"
		ct state new counter comment "new"
	}
	chain leaves {
		type filter hook postrouting priority 0; policy accept;
		iifname "r-a" meta l4proto tcp add @paths { tcp sport . tcp dport . oifname }
	}
}
"""

tap = hosts.Tap()


def members(name):
    """Return the members of a set of the router."""
    out = subprocess.run(["ip", "netns", "exec", "r", "nft", "-j", "list", "set", "inet", "looks", name],
                         stdout=subprocess.PIPE, check=True, text=True).stdout
    found, = (part["set"] for part in json.loads(out)["nftables"] if "set" in part)
    return [tuple(one["concat"]) for one in found.get("elem", [])]


def number(protocol):
    return protocol if isinstance(protocol, int) else socket.getprotobyname(protocol)


def send(version, cc):
    """Return the ports of each connection, and True if all streams were exact."""
    ports, exact = [], True
    for _ in range(CONNECTIONS):
        pair = connect(version, cc=cc)
        ports.append((pair[0].getsockname()[1], pair[1].getsockname()[1]))
        exact = transfer([Stream(*pair, BYTES)]) and exact
        hosts.close(*pair)
    return ports, exact


def case(version, cc, carrier, forms, sysctls, others):
    hosts.build_path()
    ip(SECOND_LINK)
    # For duplicate address detection, as in build_path().
    time.sleep(3)
    # Protocol, addresses and ports of the packet, and not the sending socket's hash, which veth keeps.
    for family in ("ipv4", "ipv6"):
        sysctl("r", f"{family}/fib_multipath_hash_policy", 3)
        sysctl("r", f"{family}/fib_multipath_hash_fields", 0x37)
    for knob, value in sysctls.items():
        for name in ("a", "r", "b"):
            sysctl(name, f"hopcc/{knob}", value)
    # Only its router hashes, not the host.
    sysctl("b", "ipv4/conf/c-r/rp_filter", 0)
    nft("r", LOOKS)
    before = hosts.counts("a", carrier)
    ports, exact = send(version, cc)
    got = {form: count for form, count in hosts.since("a", before, carrier).items() if form in forms}
    seen = {(number(protocol), *rest) for protocol, *rest in members("seen")}
    want = {(socket.IPPROTO_TCP, *pair) for one in ports for pair in (one, one[::-1])}
    paths = members("paths")
    where = f"IPv{version} {cc}{''.join(f', {knob} {value}' for knob, value in sysctls.items())}"
    tap.claim(f"{where}: exact, with each of its forms", exact and all(got[form] >= CONNECTIONS for form in forms),
              f"{got}")
    tap.equal(f"{where}: protocols beside TCP", sorted({one[0] for one in seen} - {socket.IPPROTO_TCP}), others)
    if not others:
        tap.claim(f"{where}: a router sees the ports of the connections, and nothing else", seen == want,
                  f"{seen ^ want}")
        tap.equal(f"{where}: conntrack sees each connection open, and nothing invalid",
                  [counter("r", "new"), counter("r", "invalid")], [CONNECTIONS, 0])
        tap.claim(f"{where}: ECMP has each on one path, and uses both paths",
                  len(paths) == CONNECTIONS and len({one[2] for one in paths}) == 2, f"{len(paths)} paths")
    hosts.remove_path()


def main():
    for version in (4, 6):
        for one in CASES:
            case(version, *one)
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
