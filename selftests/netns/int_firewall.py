#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Telemetry's carrier beside conntrack: stateful firewalls and NAT on the hosts and on
the router between them, and routers that rewrite DSCPs, or drop probes or their marks. Prints TAP. Needs
root, nft, the modules and the path of int_drive.ko; all is in network namespaces of its own.

    a ---- [r-a] r [r-b] ---- b     two hosts and the router between them, veth pairs
"""
import socket
import sys
import time

import hosts
from hosts import Stream, connect, run, sysctl, transfer
from late_choice import UNDO
from xcp_firewall import counter, nft, tap, FORWARD_PORTS, HOST_FIREWALL, MASQUERADE, OWN_DNAT, \
    ROUTER, ROUTER_STATEFUL, ROUTER_TCP_ONLY, SERVICE

MB = 1 << 20
CC = "int_drive"
# At the port's 100 Mbit/s, 25 kB take 2 ms.
BASE_RTT_US, QUEUE_US = 2000, 2000
# 16 bytes of option take 1.3 us at each port, on SYN and SYN-ACK.
OPENS_US = 10

# Only data with a header has our protocol; all else is TCP.
ROUTER_LETS_INT = """
table inet router {
	chain forward {
		type filter hook forward priority 0; policy drop;
		ct state invalid counter drop comment "invalid"
		ct state established counter accept comment "answered"
		iifname "r-a" meta l4proto { tcp, 254 } ct state new accept
	}
}
"""

# Conntrack that minds sequence numbers, on the way of probes and answers.
ROUTER_STRICT = """
table inet router {
	chain forward {
		type filter hook forward priority 0; policy drop;
		icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert } accept
		ct state invalid counter drop comment "invalid"
		accept
	}
}
"""


def marked(mark, action):
    """Rules for the packets whose first TCP option is a mark of probes or of answers."""
    return f"""
table inet marks {{
	chain forward {{
		type filter hook forward priority -150;
		meta l4proto tcp @th,160,32 {mark} {action}
	}}
}}
"""


PROBES, ANSWERS = 0xfd044850, 0xfd044841
DROP, ANSWERS_DROP = marked(PROBES, "drop"), marked(ANSWERS, "drop")
# The DSCP with which data and probes of the connection leave the router.
REWRITE = """
table inet dscp {
	chain forward {
		type filter hook forward priority -150;
		ip dscp set 0 counter
		ip6 dscp set 0 counter
	}
}
"""
TOS = 0x28

# The gateway of a service: its own firewall drops what it does not translate.
DNAT_DROPS = FORWARD_PORTS + """
table inet own {
	chain input {
		type filter hook input priority 0; policy drop;
		icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert } accept
	}
}
"""

# Boxes that remove options that they do not know.
STRIPS = """
table inet router {
	chain forward {
		type filter hook forward priority 0; policy accept;
		reset tcp option 254
	}
}
"""
STRIPS_MARKS = STRIPS.replace("254", "253")
STRIPS_SYN = STRIPS.replace("reset", "tcp flags & syn == syn reset")

# No ICMP error reveals to the sender that the peer does not know the protocol.
DROPS_PROTOCOL = """
table inet router {
	chain forward {
		type filter hook forward priority 0; policy accept;
		meta l4proto 254 drop
	}
}
"""


def drive(name, value=None):
    return hosts.drive(name, value, "int_drive")


def stream(version, total=5 * MB, tos=0, **options):
    """(exact, opened, seconds to open, counts of a)"""
    for name in ("opened", "refused", "closed", "silenced", "records", "odd"):
        drive(name, 0)
    before, start = hosts.counts("a", "int"), time.monotonic()
    pair = connect(version, cc=CC, **options)
    if not pair:
        return False, 0, 20, hosts.since("a", before, "int")
    took = time.monotonic() - start
    level, name = {4: (socket.IPPROTO_IP, socket.IP_TOS),
                   6: (socket.IPPROTO_IPV6, socket.IPV6_TCLASS)}[version]
    pair[0].setsockopt(level, name, tos)
    exact = transfer([Stream(*pair, total)])
    hosts.close(*pair)
    time.sleep(1)
    return exact, drive("opened"), took, hosts.since("a", before, "int")


def with_telemetry(version, name):
    """One packet in each T is answered, one in T/8 while a queue stands; each probe is."""
    for forward in (0, 1):
        sysctl("a", "hopcc/int_forward", forward)
        exact, opened, _, got = stream(version)
        headers = got["out_data"] + got["out_probe"]
        tap.claim(f"IPv{version} {name}, {('probe', 'inband')[forward]}: exact, answers",
                  exact and opened == 1 and not drive("silenced") and drive("records") > 5 and
                  bool(got["out_gso"]) == bool(forward) and
                  (5 < got["in_answer"] < headers if forward else got["in_answer"] == headers),
                  f"{got['in_answer']} answers, {got['out_probe']} probes, "
                  f"{got['out_data']} headers")
    sysctl("a", "hopcc/int_forward", 0)


def by_probes(version, name, **options):
    """As inband has a protocol of its own, which stateful firewalls do not know."""
    exact, opened, _, got = stream(version, **options)
    tap.claim(f"IPv{version} {name}, probe: exact, each answered", exact and opened == 1 and
              got["in_answer"] == got["out_probe"] > 5, f"{got['out_probe']} probes")
    tap.equal(f"IPv{version} {name}: nothing invalid", counter("r", "invalid"), 0)


def without(version, name, **options):
    for when in ("first", "again"):
        exact, opened, took, _ = stream(version, MB, **options)
        tap.claim(f"IPv{version} {name}, {when}: exact, without telemetry, at once",
                  exact and opened == 0 and took < 0.01, f"{took:.4f} s")


class Sent:
    """What became of a stream of hpccpp through a port of 100 Mbit/s."""

    def __init__(self, version, total=20 * MB, cc="hpccpp", **options):
        before, start = hosts.counts("a", "int"), time.monotonic()
        undone = sum(hosts.netstat("a", name) for name in UNDO)
        source, sink = connect(version, cc=cc, **options)
        self.took, self.rtts_us = time.monotonic() - start, []
        start = time.monotonic()
        self.exact = transfer([Stream(source, sink, total)], step_s=0.01,
                              meanwhile=lambda _: self.rtts_us.append(hosts.srtt_us(source)))
        self.seconds = time.monotonic() - start
        self.name, self.retrans = hosts.cc_of(source), hosts.retrans_of(source)
        self.undone = sum(hosts.netstat("a", name) for name in UNDO) - undone
        self.got = hosts.since("a", before, "int")
        hosts.close(source, sink)
        time.sleep(1)
        # Without its start, when the connection is still Reno.
        self.rtt_us = max(self.rtts_us[len(self.rtts_us) // 4:])
        self.words = (f"opened in {self.took * 1000:.3f} ms, {self.seconds:.2f} s, "
                      f"{self.got['out_handshake']} handshakes, {self.got['in_answer']} answers, "
                      f"RTT {self.rtt_us} us, {self.retrans} lost, {self.undone} undone, {self.name}")


def port():
    """A bottleneck that writes records, in place of netem."""
    hosts.run("modprobe tcp_hpccpp", check=False)
    for dev in ("r-a", "r-b"):
        run(f"tc -n r qdisc replace dev {dev} root handle 1: link rate 100mbit delay 500us overhead 24")
        run(f"tc -n r qdisc replace dev {dev} parent 1:1 handle 10: int rate 100mbit overhead 24 switch_id 1")
    for name in ("a", "b"):
        sysctl(name, "hopcc/int_cc", "hpccpp")
        sysctl(name, "ipv4/tcp_rmem", "4096 131072 1048576")


def asked(version, name, opens_us=OPENS_US, handshakes=1, **options):
    """The first connection opens as Reno's, and has telemetry and a short queue as the second one."""
    port()
    # The first one resolves addresses.
    reno = [Sent(version, cc="reno", total=MB, **options) for _ in range(2)][1]
    for when in ("first", "again"):
        r = Sent(version, **options)
        tap.claim(f"IPv{version} {name}, {when}: opens like Reno's; telemetry, a short queue, nothing lost",
                  r.exact and abs(r.took - reno.took) * 1e6 <= opens_us and r.name == "hpccpp" and
                  r.got["peer_supported"] == 1 and r.got["in_answer"] > 100 and
                  r.got["out_handshake"] == handshakes and r.rtt_us < BASE_RTT_US + QUEUE_US and
                  not r.retrans and not r.undone, f"{r.words}; Reno in {reno.took * 1000:.3f} ms")


def gateway(version, claims, *arguments):
    """The gateway translates a service's port, and has no carrier itself."""
    sysctl("r", "hopcc/int", 0)
    claims(version, *arguments, to=ROUTER)


def cookies(version):
    """No state is kept for a SYN: its option is not answered, nor is that of the third ACK."""
    sysctl("b", "ipv4/tcp_syncookies", 2)
    asked(version, "SYN cookies", handshakes=3)


def not_asked(version, name, **options):
    """A peer that answers nothing: a SYN and three ACKs ask; the next connection's SYN only."""
    port()
    reno = [Sent(version, cc="reno", **options) for _ in range(2)][1]
    for when, handshakes in (("first", 4), ("again", 1)):
        r = Sent(version, **options)
        tap.claim(f"IPv{version} {name}, {when}: exact, Reno, nothing lost, opens like Reno's",
                  r.exact and r.name == "hpccpp-reno" and not r.got["in_answer"] and
                  abs(r.took - reno.took) * 1e6 <= OPENS_US and
                  r.got["out_handshake"] == handshakes and r.retrans <= reno.retrans and
                  not r.undone and r.seconds < reno.seconds * 1.02, f"{r.words}; Reno: {reno.words}")


def no_carrier(version):
    sysctl("b", "hopcc/int", 0)
    not_asked(version, "peer without the carrier")


def nat_begins(version):
    """Headers and the handshake are one connection to conntrack: NAT translates both."""
    by_probes(version, "router with conntrack")
    nft("r", MASQUERADE)
    by_probes(version, "source NAT starts")


def firewalls_on_hosts(version):
    with_telemetry(version, "stateful firewall on both hosts")
    tap.equal(f"IPv{version} stateful firewall: nothing invalid",
              [counter(name, "invalid") for name in ("a", "b")], [0, 0])


def given_up(version, name):
    """Probes are not answered: a few, then none, and TCP does not suffer."""
    exact, opened, _, got = stream(version, 50 * MB)
    tap.claim(f"IPv{version} {name}: exact, three probes and no more, the congestion control notices",
              exact and opened == 1 and got["out_probe"] == 3 and got["peer_given_up"] == 1 and
              drive("silenced") == 1, f"{got['out_probe']} probes")
    time.sleep(61)


# Rules by host, and what is claimed. Conntrack has no memory of the case before.
CASES = (
    ({"a": HOST_FIREWALL, "b": HOST_FIREWALL}, firewalls_on_hosts),
    ({"r": ROUTER_LETS_INT}, lambda v: by_probes(v, "router that passes what it knows")),
    ({"r": ROUTER_STRICT}, lambda v: by_probes(v, "router that drops what is invalid")),
    ({"r": ROUTER_TCP_ONLY}, lambda v: asked(v, "router passes TCP only")),
    ({"r": MASQUERADE}, lambda v: asked(v, "source NAT on the router")),
    ({"r": DNAT_DROPS}, lambda v: gateway(v, asked, "destination NAT on the router")),
    ({}, cookies),
    ({"r": STRIPS_SYN}, lambda v: asked(v, "router removes the option from SYNs", handshakes=2)),
    ({"r": STRIPS}, lambda v: not_asked(v, "router removes the option")),
    ({"r": DROPS_PROTOCOL}, no_carrier),
    ({"r": ROUTER_STATEFUL}, nat_begins),
    ({"a": OWN_DNAT}, lambda v: without(v, "destination NAT on the host", to=SERVICE)),
    ({"r": REWRITE}, lambda v: by_probes(v, "router rewrites DSCPs", tos=TOS)),
    ({"r": DROP}, lambda v: given_up(v, "router drops probes")),
    ({"r": ANSWERS_DROP}, lambda v: given_up(v, "router drops answers")),
    ({"r": STRIPS_MARKS}, lambda v: given_up(v, "router removes the marks")),
)


def main():
    hosts.insmod(sys.argv[1])
    for version in (4, 6):
        for rules, claims in CASES:
            hosts.build_path()
            for name in ("a", "b"):
                sysctl(name, "hopcc/int_cc", CC)
                sysctl(name, "ipv4/tcp_rmem", "4096 131072 262144")
            for dev in ("r-a", "r-b"):
                run(f"ip netns exec r tc qdisc replace dev {dev} root netem rate 1gbit"
                    " delay 50us limit 100000")
            for name, text in rules.items():
                nft(name, text)
            claims(version)
            hosts.remove_path()
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
