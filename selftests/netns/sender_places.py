#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""More places of filters on the host that sends, in a distribution's kernel: sender_filters.py has
those that the lab's kernel has. A filter there drops TCP to a port, and no packet of a connection to
it reaches the wire, whatever the congestion control puts in front of TCP or behind it. Status 1 if a
claim fails.

    a ---- r ---- b		filters in a: a program of the control group of the process (BPF),
				chains of a bridge over a's device, and both below a VRF

Needs root, nft, BPF, the carriers, their congestion controls, and the kernel's bridge and vrf;
changes nothing outside its own network namespaces and a control group of its own.
"""
import socket
import struct
import sys
import time

import cgroup_skb
import hosts
import sender_filters
from hosts import B, cc_of, counts, run, sysctl
from sender_filters import BLOCKED, OPEN, PART, TICK_S, Server, abort, grown, move, nft_at, set_up, tap

# Long enough for a SYN without a header, and for data that TCP sends again.
WAIT_S = 2.5
# Congestion controls whose headers are in front of TCP, and one whose tag is in front of IP.
USERS = sender_filters.USERS
OTHERS = {"csig": ("csig", "csig", {})}
FRAME_BYTES = 256       # what may be in front of TCP's ports
# An emulated guest may be late by more than TCP's minimum RTO, 200 ms: TCP takes this for a loss, and
# XCP falls back to Reno.
RTO_MIN_MS = 1000
TRIES = 8


class Watch:
    """Counts what reaches the wire, in front of anything that could drop it."""

    def __init__(self):
        with hosts.inside("r"):
            self.sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        self.sock.bind(("r-a", 3))
        self.sock.setblocking(False)

    def frames(self):
        while True:
            try:
                frame, where = self.sock.recvfrom(FRAME_BYTES)
            except BlockingIOError:
                return
            if where[2] != socket.PACKET_OUTGOING:
                yield frame

    def forget(self):
        for _ in self.frames():
            pass

    def seen(self, socks):
        """Return the number of frames to BLOCKED since the last call, for each socket."""
        ports = [struct.pack("!HH", sock.getsockname()[1], BLOCKED) for sock in socks]
        found = [0] * len(ports)
        for frame in self.frames():
            for n, port in enumerate(ports):
                found[n] += port in frame
        return found


def kept(server, cc, port):
    """Open a connection that keeps its name, and send. Return it, or the last one that was tried."""
    for _ in range(TRIES):
        pair = server.connect(cc, port)
        if pair and move(pair, PART) == PART and cc_of(pair[0]) == hosts.NO_HOP.get(cc, cc):
            break
        if pair:
            hosts.close(*pair)
    return pair


def opened(server, users):
    """Open a connection of each user to both ports, and send. Return the pairs, by user."""
    pairs = {}
    for user, (cc, _carrier, knobs) in users.items():
        set_up(knobs, unsupported_s=0)
        pairs[user] = [kept(server, cc, port) for port in (BLOCKED, OPEN)]
        tap.equal(f"{server.what}, {user}: data arrives before",
                  [pair and (move(pair, PART), cc_of(pair[0])) for pair in pairs[user]],
                  [(PART, hosts.NO_HOP.get(cc, cc))] * 2)
    return pairs


def asking(server, users):
    """Begin to connect to the port. Return the sockets."""
    socks = []
    for cc, _carrier, knobs in users.values():
        set_up(knobs, unsupported_s=0)
        socks.append(server.socket(cc))
        socks[-1].setblocking(False)
        socks[-1].connect_ex((B[server.version], BLOCKED))
    return socks


def blocked(server, watch, users, pairs):
    """No packet of a connection to the port reaches the wire, be it open or not."""
    socks = [pairs[user][0][0] for user in users]
    watch.forget()
    for sock in socks:
        sock.send(bytes(PART))
    syns = asking(server, users)
    time.sleep(WAIT_S)
    tap.equal(f"{server.what}: no packet of an open connection passes, for {', '.join(users)}",
              watch.seen(socks), [0] * len(socks))
    # Else the timeouts of what the filter drops are remembered, as if the peer were at fault.
    abort(*syns, *socks)


def go_on(server, pairs):
    """A connection to another port goes on, without headers, and so does a new one."""
    for user, (cc, carrier, knobs) in USERS.items():
        what, left = f"{server.what}, {user}", "xcp-reno" if cc == "xcp" else cc
        before = counts("a", carrier)
        pair = pairs[user][1]
        tap.equal(f"{what}: a connection to another port goes on without headers",
                  (move(pair, PART), cc_of(pair[0]), grown(before, "a", carrier, sender_filters.HEADERS[carrier])),
                  (PART, left, {}))
        set_up(knobs)
        got, name, headers, hidden = sender_filters.opens(server, cc, carrier)
        tap.equal(f"{what}: a new one never has headers", (got, name, headers),
                  (sender_filters.TOTAL, left, 0))
        sender_filters.hidden_until_trusted(server, what, cc, carrier, knobs, hidden)


def go_on_as_before(server, pairs):
    """The filter sees TCP, and headers are used all the same."""
    for user, (cc, carrier, knobs) in USERS.items():
        set_up(knobs)
        got, name, _headers, hidden = sender_filters.opens(server, cc, carrier)
        tap.equal(f"{server.what}, {user}: connections to another port have headers",
                  (move(pairs[user][1], PART), cc_of(pairs[user][1][0]), got, name, hidden),
                  (PART, cc, sender_filters.TOTAL, cc, 0))


def place(server, watch, name, put, goes_on=go_on):
    server.what = f"IPv{server.version} {name}"
    users = USERS | OTHERS
    pairs = opened(server, users)
    remove = put()
    time.sleep(TICK_S)
    blocked(server, watch, users, pairs)
    goes_on(server, pairs)
    for user in OTHERS:
        tap.equal(f"{server.what}, {user}: a connection to another port goes on",
                  (move(pairs[user][1], PART), cc_of(pairs[user][1][0])), (PART, hosts.NO_HOP[user]))
    for user in users:
        abort(pairs[user][1][0])
        hosts.close(pairs[user][0][1], pairs[user][1][1])
    remove()
    time.sleep(TICK_S)
    for user, (cc, carrier, knobs) in USERS.items():
        set_up(knobs)
        sender_filters.after_all(server, f"{server.what}, {user}", cc, carrier)


def nft(family, hook):
    return lambda: nft_at("a", family, hook, f"dport {BLOCKED}")


def behind_carriers():
    """Behind a VRF a packet passes these chains twice, the second time with the device below."""
    return nft_at("a", "inet", "postrouting priority 350", f"dport {BLOCKED} oifname a-r")


def wait_longer(table=""):
    """Let a's timeouts last longer than its host may be late; @table: words of its routes' table."""
    for gateway in ("192.0.2.2", "2001:db8:1::2"):
        run(f"ip -n a route replace default via {gateway} rto_min {RTO_MIN_MS}ms {table}")


def into_vrf():
    """Move a's only link to a VRF, as in xcp_vrf.py."""
    run("ip -n a link add red type vrf table 10")
    run("ip -n a link set red up")
    run("ip -n a link set a-r master red")
    run(f"ip -n a addr replace {hosts.A[6]}/64 dev a-r nodad")
    wait_longer("vrf red")
    time.sleep(3)


def main():
    for module in ("tcp_hpccpp", "tcp_xcp", "tcp_csig", "sch_int"):
        run(f"modprobe {module}", check=False)
    group = cgroup_skb.Group()
    hosts.build_path()
    wait_longer()
    run("tc -n r qdisc add dev r-b root int")
    for name in "arb":
        sysctl(name, "hopcc/csig", 0 if name == "r" else 2)
        sysctl(name, "hopcc/csig_ports", "*")
    servers, watch = [Server(version) for version in (4, 6)], Watch()

    def program():
        return group.drop(BLOCKED)

    for server in servers:
        place(server, watch, "program of the control group", program)
    with sender_filters.stacked("bridge"):
        wait_longer()
        for server in servers:
            # IPv6 resolves its neighbours anew.
            while not server.answers("cubic", OPEN):
                pass
        place(servers[0], watch, "bridge's chain at output", nft("bridge", "output priority 0"))
        place(servers[1], watch, "bridge's chain in postrouting", nft("bridge", "postrouting priority 300"))
        place(servers[1], watch, "nftables on egress below a bridge", nft("netdev", "egress device a-r priority 0"))
    into_vrf()
    for server in servers:
        server.device = "red"
    place(servers[0], watch, "nftables behind the carriers, in a VRF", behind_carriers)
    place(servers[1], watch, "nftables on egress in a VRF", nft("netdev", "egress device a-r priority 0"))
    # With a qdisc the packet passes the VRF's own egress, too.
    run("tc -n a qdisc add dev red root pfifo")
    place(servers[0], watch, "nftables on egress in a VRF with a qdisc", nft("netdev", "egress device a-r priority 0"))
    place(servers[1], watch, "nftables on egress of a VRF with a qdisc", nft("netdev", "egress device red priority 0"),
          go_on_as_before)
    hosts.close(*(sock for server in servers for sock in server.listeners.values()))
    hosts.remove_path()
    group.close()
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
