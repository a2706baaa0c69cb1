#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""XCP's carrier with conntrack: stateful firewalls and NAT on the hosts and on the router between
them. Prints TAP. Needs root, nft and the path of xcp_drive.ko; changes nothing outside its own
network namespaces.

    a ---- [r-a] r [r-b] ---- b     two hosts and the router between them, veth pairs
"""
import select
import socket
import struct
import subprocess
import sys
import time

import hosts
import shims
import wire
from hosts import Stream, asked, connect, counts, drive, drive_reset, since, sysctl, transfer
from shims import REFUSALS, finish, insert, ip_bytes, quoted_error
from wire import ACK, PSH, RST, SYN
from xcp_wire import UNKNOWN, XCP, header

MB = 1 << 20
ETH_P_ALL = 3

tap = hosts.Tap()

# Only answers and new TCP connections may enter; an invalid packet is a failure.
HOST_FIREWALL = """
table inet host {
	chain input {
		type filter hook input priority 0; policy drop;
		iif lo accept
		icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert } accept
		ct state invalid counter drop comment "invalid"
		meta l4proto tcp ct state established counter accept comment "answered"
		tcp flags & (syn | ack) == syn ct state new accept
	}
	chain output {
		type filter hook output priority 0; policy drop;
		oif lo accept
		icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert } accept
		ct state invalid counter drop comment "invalid"
		meta l4proto tcp accept
	}
}
"""

ROUTER_TCP_ONLY = """
table inet router {
	chain forward {
		type filter hook forward priority 0; policy drop;
		icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert } accept
		ct state invalid drop
		meta l4proto tcp accept
	}
}
"""

ROUTER_LETS_XCP = """
table inet router {
	chain forward {
		type filter hook forward priority 0; policy drop;
		ct state established accept
		iifname "r-a" meta l4proto { tcp, 63 } ct state new accept
	}
}
"""

MASQUERADE = """
table inet nat {
	chain postrouting {
		type nat hook postrouting priority 100;
		oifname "r-b" masquerade
	}
}
"""

FORWARD_PORTS = """
table inet nat {
	chain prerouting {
		type nat hook prerouting priority -100;
		iifname "r-a" meta nfproto ipv4 meta l4proto tcp dnat ip to 198.51.100.1
		iifname "r-a" meta nfproto ipv6 meta l4proto tcp dnat ip6 to 2001:db8:2::1
	}
}
"""

# The host itself translates a service's address: its packets cannot be assigned to a connection,
# which stays without a carrier.
OWN_DNAT = """
table inet nat {
	chain output {
		type nat hook output priority -100;
		ip daddr 203.0.113.9 dnat ip to 198.51.100.1
		ip6 daddr 2001:db8:9::9 dnat ip6 to 2001:db8:2::1
	}
}
"""

# Conntrack without NAT rules.
ROUTER_STATEFUL = """
table inet router {
	chain forward {
		type filter hook forward priority 0; policy accept;
		ct state invalid counter drop comment "invalid"
	}
}
"""

ROUTER = {4: "192.0.2.2", 6: "2001:db8:1::2"}
SERVICE = {4: "203.0.113.9", 6: "2001:db8:9::9"}
# The client's address behind source NAT
MAPPED = {4: "198.51.100.2", 6: "2001:db8:2::2"}


def nft(name, rules):
    subprocess.run(["ip", "netns", "exec", name, "nft", "-f", "-"], input=rules.encode(),
                   check=True)


def counter(name, which):
    """Return the packet count of the rules with this comment."""
    out = subprocess.run(["ip", "netns", "exec", name, "nft", "list", "ruleset"],
                         stdout=subprocess.PIPE, check=True, text=True).stdout
    return sum(int(line.split("packets", 1)[1].split()[0])
               for line in out.splitlines() if f'comment "{which}"' in line)


def stream(version, total=5 * MB, **options):
    """Send a stream. Return (intact, opened, seconds to open, a's counters)."""
    drive_reset()
    before, start = counts("a"), time.monotonic()
    pair = connect(version, **options)
    if not pair:
        return False, 0, 20, since("a", before)
    took = time.monotonic() - start
    exact = transfer([Stream(*pair, total)])
    hosts.close(*pair)
    time.sleep(1)
    return exact, drive("opened"), took, since("a", before)


def with_xcp(version, name):
    exact, opened, _, got = stream(version)
    tap.claim(f"IPv{version} {name}: exact, with XCP, all feedback",
              exact and opened == 1 and got["out_data"] > 0 and
              drive("feedback") == asked(got) * drive("delta"),
              f"exact {exact}, opened {opened}, {got['out_data']} headers, {drive('feedback')}")


def without_xcp(version, name, limit_s, **options):
    exact, opened, took, got = stream(version, **options)
    tap.claim(f"IPv{version} {name}: exact, without XCP, opened within {limit_s} s",
              exact and opened == 0 and took <= limit_s and got["peer_unsupported"] == 1,
              f"{took:.3f} s")
    exact, opened, took, _ = stream(version, MB, **options)
    tap.claim(f"IPv{version} {name}: again: at once", exact and opened == 0 and took < 0.1,
              f"{took:.3f} s")


class Forger:
    """Writes packets of the server's address and port to the client's port at the NAT, without a cookie,
    and with sequence numbers that are half of all numbers away from the client's: guesses could be
    right by chance. TCP's checksum is the one that is right at an address.
    """
    ROUNDS = 100

    def __init__(self, version, ports, right_at, protocol, headers):
        self.version, self.ports, self.protocol, self.headers = version, ports, protocol, headers
        self.right_at, self.far_seq, self.sent, self.rounds = right_at[version], 0, 0, 0
        with hosts.inside("b"):
            self.raw = socket.socket(hosts.FAMILY[version], socket.SOCK_RAW, socket.IPPROTO_RAW)
        with hosts.inside("r"):
            self.seen = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(ETH_P_ALL))
        self.seen.bind(("r-a", ETH_P_ALL))
        self.seen.settimeout(5)

    def see_syn(self):
        """Read the client's SYN, below a header or not."""
        ports = struct.pack("!HH", *self.ports[::-1])
        while (at := (data := self.seen.recv(1 << 16)).find(ports)) < 0:
            pass
        self.far_seq = (struct.unpack_from("!I", data, at + 4)[0] + 2**31) % 2**32

    def build(self, ends, ports, flags, payload):
        packet = wire.Packet(*ports, self.far_seq, self.far_seq, flags, 0, len(payload))
        data = wire.build(self.version, packet, 65535, b"", payload)
        ends = b"".join(socket.inet_pton(hosts.FAMILY[self.version], end) for end in ends)
        return shims.sum_tcp(finish(data[:ip_bytes(data) - len(ends)] + ends + data[ip_bytes(data):]))

    def send(self):
        """Send one packet of each kind, and ICMP errors about packets that the client did not send."""
        if self.rounds == self.ROUNDS:
            return
        self.rounds += 1
        server, mapped = hosts.B[self.version], MAPPED[self.version]
        wire.SCRIPT, wire.STACK = hosts.B, MAPPED
        for shim in self.headers:
            for flags, payload in ((SYN | ACK, b""), (ACK, b""), (ACK | PSH, bytes(1000)), (RST, b"")):
                summed = self.build((server, self.right_at), self.ports, flags, payload)
                at = ip_bytes(summed)
                self.write(insert(self.build((server, mapped), self.ports, flags, payload)[:at] + summed[at:],
                                  self.protocol, shim))
                self.sent += 1
            quoted = wire.Packet(0, 0, 0, 0, 0, 0, 0)
            quoted.raw = insert(self.build((mapped, server), self.ports[::-1], ACK, bytes(100)), self.protocol, shim)
            for kind, code in REFUSALS[self.version]:
                self.write(quoted_error(self.version, quoted, kind, code, 40 if kind == 4 else 0, len(shim) + 20))

    def write(self, data):
        self.raw.sendto(data, (MAPPED[self.version], 0))


def client(version, cc, carrier, right_at=MAPPED, protocol=0, headers=(), total=MB):
    """Connect through the NAT, and send; forged packets arrive from the first data to the last.
    Return (exact, congestion control, what a counted about its peer), number of forged headers.
    """
    before = counts("a", carrier)
    listener, sock = hosts.tcp("b", version, "cubic"), hosts.tcp("a", version, cc)
    listener.bind((hosts.B[version], 0))
    listener.listen()
    sock.bind((hosts.A[version], 0))
    forger = Forger(version, (listener.getsockname()[1], sock.getsockname()[1]), right_at, protocol, headers)
    sock.setblocking(False)
    sock.connect_ex(listener.getsockname()[:2])
    forger.see_syn()
    if not select.select([listener], [], [], 20)[0]:
        return None, forger.sent
    other = listener.accept()[0]
    other.setblocking(False)
    exact = transfer([Stream(sock, other, total)], meanwhile=lambda _: forger.send(), step_s=0.01)
    name = hosts.cc_of(sock)
    hosts.close(sock, other, listener, forger.raw, forger.seen)
    time.sleep(1)
    return (exact, name, {key: count for key, count in since("a", before, carrier).items()
                          if count and key.startswith(("peer", "icmp_"))}), forger.sent


def forged(version, cc, carrier, protocol, headers, want, total=MB):
    """Headers to the NAT's own address: a router with the carrier removes them, and its conntrack sees
    TCP; one without translates the address above an unknown protocol. Nothing is remembered about
    peers, so that each connection asks. want: congestion control and counters of the connection.
    """
    sysctl("a", f"hopcc/{carrier}_unsupported_s", 0)
    for on, victim, right_at in ((0, "a", hosts.A), (1, "r", MAPPED)):
        sysctl("r", f"hopcc/{carrier}", on)
        what = f"IPv{version} source NAT {'with' if on else 'without'} the carrier, forged {carrier} headers"
        before = counts(victim, carrier)
        got, sent = client(version, cc, carrier, right_at, protocol, headers, total)
        grown = since(victim, before, carrier)
        unused = grown["in_no_flow"] + grown.get("in_bad_cookie", 0)
        tap.equal(f"{what}: exact, as without them", got, (True, *want))
        tap.claim(f"{what}: they reach {victim}", sent > 16 and unused > sent / 4, f"{unused} of {sent}")
        tap.equal(f"{what}: the next connection, too", client(version, cc, carrier)[0], (True, *want))


def nat_begins(version):
    """A NAT rule is added while conntrack still has an entry of our protocol, so that packets with a
    header are not translated: the first connection loses data with a header, to which the server has
    no connection; the next ones open at once, without XCP, and none is reset.
    """
    with_xcp(version, "router with conntrack")
    nft("r", MASQUERADE)
    exact, _, took, got = stream(version, MB)
    tap.claim(f"IPv{version} source NAT starts: exact, opened at once, without XCP after two timeouts",
              exact and took < 0.001 and got["peer_unsupported"] == 1, f"{exact} {took:.6f} s {got}")
    exact, opened, took, got = stream(version, MB)
    tap.claim(f"IPv{version} source NAT began, the next: exact, without XCP, at once",
              exact and opened == 0 and took < 0.001 and got["peer_avoided"] == 1, f"{took:.6f} s")
    time.sleep(61)
    exact, opened, took, got = stream(version, MB)
    tap.claim(f"IPv{version} source NAT began, 60 s later: the same, after tries by data and three ACKs",
              exact and opened == 0 and took < 0.001 and got["out_try"] == 13, f"{took:.6f} s {got['out_try']}")


def firewalls_on_hosts(version):
    with_xcp(version, "stateful firewall on both hosts")
    tap.equal(f"IPv{version} stateful firewall: nothing invalid",
              [counter(name, "invalid") for name in ("a", "b")], [0, 0])
    tap.claim(f"IPv{version} stateful firewall: what passed was known",
              all(counter(name, "answered") > 0 for name in ("a", "b")))


# Rules by host, and the claim. Each case starts with an empty conntrack table.
CASES = (
    ({"a": HOST_FIREWALL, "b": HOST_FIREWALL}, firewalls_on_hosts),
    ({"r": ROUTER_LETS_XCP}, lambda v: with_xcp(v, "router lets the protocol pass")),
    ({"r": ROUTER_TCP_ONLY}, lambda v: without_xcp(v, "router passes TCP only", 0.001)),
    ({"r": MASQUERADE}, lambda v: without_xcp(v, "source NAT on the router", 0.001)),
    ({"r": MASQUERADE}, lambda v: forged(v, "xcp", "xcp", XCP, (UNKNOWN, header(delta=1000)),
                                         ("xcp", {"peer_supported": 1, "peer_unsupported": 1}))),
    ({"r": ROUTER_STATEFUL}, nat_begins),
    ({"r": FORWARD_PORTS},
     lambda v: without_xcp(v, "destination NAT on the router", 0.001, to=ROUTER)),
    ({"a": OWN_DNAT},
     lambda v: without_xcp(v, "destination NAT on the host", 0.4, to=SERVICE)),
)


def main():
    hosts.insmod(sys.argv[1])
    for version in (4, 6):
        for rules, claims in CASES:
            hosts.build_path()
            for name, text in rules.items():
                nft(name, text)
            claims(version)
            hosts.remove_path()
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
