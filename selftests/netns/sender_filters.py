#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Filters on the host that sends: none of them may miss TCP because a carrier puts a header in
front of it. Each place behind the carriers' hook gets a filter that drops TCP of one port, on the
host that connects and on the one that accepts. That port is blocked for each congestion control,
also for a connection that used headers before; connections to another port complete without
headers, and nothing is remembered about their destination. Prints TAP.

    a [a-r, or VLAN 5 over it, or br0 over it] ---- r ---- [b-r] b

Needs root, nft and the modules; changes nothing outside its own network namespaces.
"""
import contextlib
import select
import socket
import struct
import subprocess
import sys
import time

import hosts
from hosts import B, cc_of, counts, run, since, sysctl

BLOCKED, OPEN = 5022, 5080
TOTAL, PART = 300_000, 100_000
WAIT_S = 4
RTO_S = 0.2             # TCP's shortest timeout
CSIG_INITIATES = 2      # value of net.hopcc.csig
TRUST = 2               # value of net.hopcc.int and net.hopcc.xcp
TICK_S = 0.05           # longer than a tick of the clock, after which filters of devices below are noticed

tap = hosts.Tap()

# Congestion control, its carrier, values of sysctls
USERS = {
    "xcp": ("xcp", "xcp", {}),
    "hpccpp, probes": ("hpccpp", "int", {"int_forward": 0}),
    "hpccpp, headers in data": ("hpccpp", "int", {"int_forward": 1}),
}

# Counters of packets that left with a header in front of TCP
HEADERS = {"xcp": ("out_data", "out_ack", "out_try"), "int": ("out_data",)}


def nft(name, text):
    subprocess.run(["ip", "netns", "exec", name, "nft", "-f", "-"], input=text, text=True, check=True)


def nft_at(name, family, hook, match):
    nft(name, f"""table {family} sender {{
	chain c {{
		type filter hook {hook};
		tcp {match} drop
	}}
}}""")
    return lambda: run(f"ip netns exec {name} nft delete table {family} sender")


def tc_at(name, dev, match, how):
    """how: flower, or u32, which looks at fixed places of the packet."""
    run(f"tc -n {name} qdisc add dev {dev} clsact")
    for version, kind in ((4, "ip"), (6, "ipv6")):
        if how == "flower":
            words = "flower ip_proto tcp " + match.replace("sport", "src_port").replace("dport", "dst_port")
        else:
            ip = "ip" if version == 4 else "ip6"
            words = f"u32 match {ip} protocol 6 0xff match {ip} {match} 0xffff"
        run(f"tc -n {name} filter add dev {dev} egress prio {version} protocol {kind} {words} action drop")
    return lambda: run(f"tc -n {name} qdisc del dev {dev} clsact")


# Name: function of the host, its device and the match; it returns the function that removes it
PLACES = {
    "nftables on egress": lambda n, d, m: nft_at(n, "netdev", f"egress device {d} priority 0", m),
    "tc's flower on egress": lambda n, d, m: tc_at(n, d, m, "flower"),
    "tc's u32 on egress": lambda n, d, m: tc_at(n, d, m, "u32"),
    "nftables behind the carriers": lambda n, d, m: nft_at(n, "inet", "postrouting priority 350", m),
    "nftables, the last in POST_ROUTING":
        lambda n, d, m: nft_at(n, "inet", "postrouting priority 2147483647", m),
}

# Filters in front of the carriers' hook, or that are none: headers are used.
SEEN = {
    "nftables in front of the carriers": lambda n, d, m: nft_at(n, "inet", "postrouting priority 300", m),
    "nftables at the carriers' priority": lambda n, d, m: nft_at(n, "inet", "postrouting priority 301", m),
    "nftables at output": lambda n, d, m: nft_at(n, "inet", "output priority 0", m),
}


class Server:
    """Listens on both ports of b. @device: that of a's sockets, if they are bound to one."""

    def __init__(self, version, device=None):
        self.listeners = {}
        for port in (BLOCKED, OPEN):
            listener = self.listeners[port] = hosts.tcp("b", version, "cubic")
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if version == 6:
                listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            listener.bind(("::" if version == 6 else "0.0.0.0", port))
            listener.listen(16)
        self.version, self.device = version, device

    def socket(self, cc):
        sock = hosts.tcp("a", self.version, cc)
        if self.device:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, self.device.encode())
        return sock

    def connect(self, cc, port, wait_s=WAIT_S):
        """Return both ends, non-blocking; None if the connection does not open, or is not accepted."""
        sock = self.socket(cc)
        sock.setblocking(False)
        sock.connect_ex((B[self.version], port))
        listener = self.listeners[port]
        if not select.select([listener], [], [], wait_s)[0] or not select.select([], [sock], [], wait_s)[1]:
            sock.close()
            return None
        while True:
            # Those of answers() may wait in front.
            other, peer = listener.accept()
            if peer[1] == sock.getsockname()[1]:
                break
            other.close()
        other.setblocking(False)
        return sock, other

    def answers(self, cc, port):
        """Return True if a SYN reaches the port, whatever happens to the packets behind it."""
        sock = self.socket(cc)
        sock.setblocking(False)
        sock.connect_ex((B[self.version], port))
        ready = select.select([], [sock], [], WAIT_S)[1]
        abort(sock)
        return bool(ready)

    def close(self):
        hosts.close(*self.listeners.values())


def abort(*socks):
    """Close connections by a reset, which a filter may drop: no end of them repeats anything."""
    for sock in socks:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        sock.close()


def move(pair, total, wait_s=WAIT_S, midway=None):
    """Send from a to b, and call midway() while half is under way. Return the number of bytes that arrive."""
    sock, other = pair
    left, got = total, 0
    while got < total:
        if midway and got > total // 2:
            midway()
            midway = None
        readable, writable, _ = select.select([other], [sock] if left else [], [], wait_s)
        if not readable and not writable:
            break
        if writable:
            with contextlib.suppress(BlockingIOError):
                left -= sock.send(bytes(min(left, 1 << 16)))
        if readable:
            got += len(other.recv(1 << 20))
    return got


def grown(before, name, carrier, keys):
    after = since(name, before, carrier)
    return {key: after[key] for key in keys if after[key]}


def set_up(knobs, value=1, unsupported_s=60):
    for name in ("a", "b"):
        for carrier in ("int", "xcp"):
            sysctl(name, f"hopcc/{carrier}", value)
            sysctl(name, f"hopcc/{carrier}_unsupported_s", unsupported_s)
        for key, number in knobs.items():
            sysctl(name, f"hopcc/{key}", number)


def opens(server, cc, carrier, name="a"):
    """Open a connection to the open port, and send. Return (bytes, congestion control, packets
    with headers, those that a filter kept from having one)."""
    before = counts(name, carrier)
    pair = server.connect(cc, OPEN)
    if not pair:
        return None
    got = move(pair, TOTAL)
    result = (got, cc_of(pair[0]), sum(grown(before, name, carrier, HEADERS[carrier]).values()),
              since(name, before, carrier)["out_hidden"])
    hosts.close(*pair)
    return result


def after_all(server, what, cc, carrier):
    """Without the filter the next connection uses headers at once."""
    before = counts("a", carrier)
    pair = server.connect(cc, OPEN)
    got, name = move(pair, PART), cc_of(pair[0])
    after = since("a", before, carrier)
    tap.equal(f"{what}: without the filter, the next connection negotiates at once",
              (got, name, after["peer_supported"], after["peer_avoided"], after["out_hidden"]),
              (PART, cc, 1, 0, 0))
    hosts.close(*pair)


def connecting(server, place, put):
    """The filter is on the host that connects."""
    for user, (cc, carrier, knobs) in USERS.items():
        what = f"IPv{server.version} {place}, {user}"
        left = "xcp-reno" if cc == "xcp" else cc
        # What the filter drops must not be remembered as a fault of the peer.
        set_up(knobs, unsupported_s=0)
        pairs = [server.connect(cc, port) for port in (BLOCKED, OPEN)]
        tap.equal(f"{what}: data arrives before", [move(pair, PART) for pair in pairs], [PART, PART])
        remove = put("a", "a-r", f"dport {BLOCKED}")
        time.sleep(TICK_S)
        tap.equal(f"{what}: an open connection to the port is blocked", move(pairs[0], PART), 0)
        abort(*pairs[0])
        tap.equal(f"{what}: the port is blocked", server.answers(cc, BLOCKED), False)
        set_up(knobs)
        before = counts("a", carrier)
        tap.equal(f"{what}: a connection to another port goes on", move(pairs[1], TOTAL), TOTAL)
        tap.equal(f"{what}: it has no headers any more",
                  (grown(before, "a", carrier, HEADERS[carrier]), cc_of(pairs[1][0])), ({}, left))
        hosts.close(*pairs[1])
        got, name, headers, hidden = opens(server, cc, carrier)
        tap.equal(f"{what}: a new one never has headers", (got, name, headers), (TOTAL, left, 0))
        hidden_until_trusted(server, what, cc, carrier, knobs, hidden)
        remove()
        time.sleep(TICK_S)
        after_all(server, what, cc, carrier)


def appearing(server, place, put):
    """The filter appears while a connection sends: no packet is lost for that, and none waits."""
    for user, (cc, carrier, knobs) in USERS.items():
        what, removes = f"IPv{server.version} {place} appears, {user}", []
        set_up(knobs)
        pair = server.connect(cc, OPEN)
        before, timeouts = counts("a", carrier), hosts.netstat("a", "TCPTimeouts")
        start = time.monotonic()
        got = move(pair, TOTAL, midway=lambda: removes.append(put("a", "a-r", f"dport {BLOCKED}")))
        took, headers = time.monotonic() - start, sum(grown(before, "a", carrier, HEADERS[carrier]).values())
        tap.equal(f"{what}: no timeout, no packet is sent again",
                  (got, hosts.netstat("a", "TCPTimeouts") - timeouts, hosts.retrans_of(pair[0])), (TOTAL, 0, 0))
        tap.claim(f"{what}: no stall of a timeout", took < RTO_S, f"{took:.3f} s")
        before = counts("a", carrier)
        tap.equal(f"{what}: it goes on without headers",
                  (move(pair, PART), grown(before, "a", carrier, HEADERS[carrier]), cc_of(pair[0])),
                  (PART, {}, "xcp-reno" if cc == "xcp" else cc))
        if user != "hpccpp, probes":
            tap.claim(f"{what}: with headers before", headers > 0, str(headers))
        hosts.close(*pair)
        removes[0]()


def hidden_until_trusted(server, what, cc, carrier, knobs, hidden, name="a"):
    """@hidden packets were without a header; where filters are trusted, @name sends headers."""
    if cc != "xcp" and not (knobs["int_forward"] and name == "a"):
        return
    tap.claim(f"{what}: that is counted", hidden > 0, str(hidden))
    set_up(knobs, TRUST, unsupported_s=0)
    got, _name, headers, _hidden = opens(server, cc, carrier, name)
    tap.claim(f"{what}: if filters are trusted, headers are used", got == TOTAL and headers > 0, f"{got} {headers}")
    set_up(knobs)


def accepting(server, place, put):
    """The filter is on the host that accepts: its answers would have a header."""
    for user, (cc, carrier, knobs) in USERS.items():
        what = f"IPv{server.version} {place} at the server, {user}"
        # The client takes the server for one without support, as it was.
        set_up(knobs, unsupported_s=0)
        remove = put("b", "b-r", f"sport {BLOCKED}")
        tap.equal(f"{what}: the port is blocked", server.answers(cc, BLOCKED), False)
        got, _name, headers, hidden = opens(server, cc, carrier, "b")
        tap.equal(f"{what}: answers of another port have no headers", (got, headers), (TOTAL, 0))
        hidden_until_trusted(server, what, cc, carrier, knobs, hidden, "b")
        remove()
        after_all(server, what, cc, carrier)


def in_front(server, place, put):
    """The filter sees TCP, and headers are used all the same."""
    for user, (cc, carrier, knobs) in USERS.items():
        set_up(knobs)
        what = f"IPv{server.version} {place}, {user}"
        remove = put("a", "a-r", f"dport {BLOCKED}")
        tap.equal(f"{what}: the port is blocked", server.answers(cc, BLOCKED), False)
        remove_unused = tc_unused()
        got, name, _headers, hidden = opens(server, cc, carrier)
        tap.equal(f"{what}: another port has headers", (got, name, hidden), (TOTAL, cc, 0))
        remove_unused()
        remove()


def tc_unused():
    """A qdisc for filters without any, and a shaper, are no filters."""
    run("tc -n a qdisc add dev a-r clsact")
    run("tc -n a qdisc add dev a-r root tbf rate 1gbit burst 50k limit 1mb")

    def remove():
        run("tc -n a qdisc del dev a-r clsact")
        run("tc -n a qdisc del dev a-r root")
    return remove


# Devices above a-r that have a's addresses.
STACKS = {
    "VLAN": (("a", "link add link a-r name a-r.5 type vlan id 5"), ("r", "link add link r-a name r-a.5 type vlan id 5")),
    "bridge": (("a", "link add br0 type bridge"), ("a", "link set a-r master br0")),
}


@contextlib.contextmanager
def stacked(kind):
    """Move the addresses of the link between a and r to devices above it."""
    for name, words in STACKS[kind]:
        run(f"ip -n {name} {words}")
    devices = {"a": ("a-r", "a-r.5" if kind == "VLAN" else "br0"),
               "r": ("r-a", "r-a.5" if kind == "VLAN" else "r-a")}
    for name, (below, above) in devices.items():
        move_addresses(name, below, above)
    try:
        yield
    finally:
        for name, (below, above) in devices.items():
            move_addresses(name, above, below)
            if above != below:
                run(f"ip -n {name} link del {above}")


def move_addresses(name, old, new):
    if old == new:
        return
    host = 1 if name == "a" else 2
    hosts.ip(f"""-n {name} link set {new} up
-n {name} addr del 192.0.2.{host}/24 dev {old}
-n {name} addr del 2001:db8:1::{host}/64 dev {old}
-n {name} addr add 192.0.2.{host}/24 dev {new}
-n {name} addr add 2001:db8:1::{host}/64 dev {new} nodad
""" + ("""-n a route replace default via 192.0.2.2
-n a route replace default via 2001:db8:1::2
""" if name == "a" else ""))


def below(server):
    """The filter is at the device below the one with the address."""
    for kind in STACKS:
        with stacked(kind):
            # IPv6 resolves its neighbours anew.
            while not server.answers("cubic", OPEN):
                pass
            # tc calls frames with a VLAN tag another protocol than IP.
            for place in ("nftables on egress", "tc's u32 on egress")[:1 if kind == "VLAN" else 2]:
                connecting(server, f"{place} below a {kind}", PLACES[place])


def tagged(server):
    """CSIG's tag is in the frame's header, which filters that match IP skip."""
    for carrier in ("int", "xcp"):
        for name in ("a", "b"):
            sysctl(name, f"hopcc/{carrier}", 0)
    for name, ports in (("a", "a-r"), ("r", "r-a r-b"), ("b", "b-r")):
        sysctl(name, "hopcc/csig", 0 if name == "r" else CSIG_INITIATES)
        sysctl(name, "hopcc/csig_ports", ports)
    for place, put in PLACES.items():
        what = f"IPv{server.version} {place}, csig"
        pairs = [server.connect("csig", port) for port in (BLOCKED, OPEN)]
        tap.equal(f"{what}: data arrives before", [move(pair, PART) for pair in pairs], [PART, PART])
        remove = put("a", "a-r", f"dport {BLOCKED}")
        tap.equal(f"{what}: an open connection to the port is blocked", move(pairs[0], PART), 0)
        tap.equal(f"{what}: the port is blocked", server.answers("csig", BLOCKED), False)
        before = counts("a", "csig")
        tap.equal(f"{what}: a connection to another port goes on", move(pairs[1], TOTAL), TOTAL)
        tap.claim(f"{what}: with tags", since("a", before, "csig")["out_tag"] > 0)
        abort(*pairs[0])
        hosts.close(*pairs[1])
        remove()
    for name in ("a", "r", "b"):
        sysctl(name, "hopcc/csig_ports", "\n")
        sysctl(name, "hopcc/csig", 0)


def main(brief=False):
    for module in ("tcp_hpccpp", "tcp_xcp", "tcp_csig", "sch_int"):
        run(f"modprobe {module}", check=False)
    hosts.build_path()
    run("tc -n r qdisc add dev r-b root int")
    for version in (4, 6):
        server = Server(version)
        # A debug kernel is several times slower.
        for place, put in list(PLACES.items())[::2 if brief else 1]:
            connecting(server, place, put)
            accepting(server, place, put)
            appearing(server, place, put)
        for place, put in SEEN.items():
            in_front(server, place, put)
        below(server)
        tagged(server)
        server.close()
    return tap.done()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] == ["brief"]))
