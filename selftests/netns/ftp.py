#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Active FTP with conntrack's helper on the client's own host: the helper reads "PORT" in the
control connection, expects the server's connection, and behind NAT translates the address, which
changes the length of the data. Prints TAP. Needs root, nft, the carriers with their congestion
controls and the kernel's nf_conntrack_ftp and nf_nat_ftp; changes nothing outside its own network
namespaces.

    client a 192.0.2.1, on its loopback 203.0.113.77 ---- r ---- server b 198.51.100.1
"""
import select
import socket
import subprocess
import sys
import time

import hosts
from hosts import A, B, Stream, counts, sysctl, transfer

MIB = 1 << 20
CONTROL, LINES = 21, 200
INNER = "203.0.113.77"
# Congestion control, its carrier, and the carrier's counter of headers sent on data
CARRIERS = (("xcp", "xcp", "out_data"), ("hpccpp", "int", "out_data"))

tap = hosts.Tap()

# Only answers and connections that the helper expects may enter.
FIREWALL = """
table ip ftp {
	ct helper ftp { type "ftp" protocol tcp; }
	chain output {
		type filter hook output priority 0;
		tcp dport 21 ct helper set "ftp"
	}
	chain input {
		type filter hook input priority 0; policy drop;
		iif lo accept
		ct state { established, related } accept
	}
	chain nat {
		type nat hook postrouting priority 100;
		ip saddr 203.0.113.77 snat to 192.0.2.1
	}
}
"""


def listen(name, address, port, cc):
    listener = hosts.tcp(name, 4, cc)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((address, port))
    listener.listen()
    return listener


def join(name, cc, address, listener, bind_to):
    """Connect to a listener. Return both ends, or None."""
    sock = hosts.tcp(name, 4, cc)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind(bind_to)
    sock.setblocking(False)
    sock.connect_ex(address)
    if not select.select([listener], [], [], 10)[0]:
        return None
    other = listener.accept()[0]
    select.select([], [sock], [], 10)
    return sock, other


def line_of(sock):
    """Return a line, or the part of it that arrives within a time."""
    line = b""
    while not line.endswith(b"\n") and select.select([sock], [], [], 10)[0]:
        data = sock.recv(1)
        if not data:
            break
        line += data
    return line.decode()


def say(client, server, line):
    """Send a line and an answer. Return what the server and the client read."""
    client.sendall(f"{line}\r\n".encode())
    received = line_of(server).strip()
    server.sendall(f"200 {received}\r\n".encode())
    return received, line_of(client).strip()


def chat(client, server, start):
    """Send many lines each way: a sequence number off by one would stop the connection."""
    lines = [f"NOOP {n} " + "x" * (n % 97 + 1) for n in range(start, start + LINES)]
    return all(say(client, server, line) == (line, f"200 {line}") for line in lines)


def session(cc, address):
    """Return (address that the server received, data arrived, the control connection works)."""
    control = listen("b", B[4], CONTROL, "cubic")
    pair = join("a", cc, (B[4], CONTROL), control, (address, 0))
    if not pair:
        return None, False, False
    client, server = pair
    client.setblocking(True)
    before = chat(client, server, 0)
    data = listen("a", address, 0, "cubic")
    port = data.getsockname()[1]
    words = f"{address.replace('.', ',')},{port >> 8},{port & 255}"
    received, _ = say(client, server, "PORT " + words)
    if not received.startswith("PORT "):
        return received, False, False
    *reported, high, low = received.split()[1].split(",")
    reported = ".".join(reported)
    streams = join("b", cc, (reported, int(high) << 8 | int(low)), data, (B[4], 20))
    came = streams is not None and transfer([Stream(*streams, MIB)], limit_s=60)
    hosts.close(control, data, *(streams or ()))
    after = chat(client, server, LINES)
    hosts.close(client, server)
    return reported, came, before and after


def check(cc, carrier, headers):
    for what, address, seen in (("its own address", A[4], A[4]),
                                ("an address that is translated", INNER, A[4])):
        before = counts("a", carrier)
        reported, came, works = session(cc, address)
        count = hosts.since("a", before, carrier)
        tap.equal(f"{cc}, {what}: the server receives an address that it can reach", reported, seen)
        tap.claim(f"{cc}, {what}: the data connection opens, every byte comes", came, reported)
        tap.claim(f"{cc}, {what}: the control connection works before and after", works, reported)
        tap.equal(f"{cc}, {what}: no header where the helper reads", count[headers], 0)


def main():
    hosts.build_path()
    subprocess.run(["ip", "-n", "a", "addr", "add", INNER + "/32", "dev", "lo"], check=True)
    subprocess.run(["ip", "netns", "exec", "a", "nft", "-f", "-"], input=FIREWALL.encode(),
                   check=True)
    for name in "ab":
        sysctl(name, "hopcc/int_forward", 1)
    tap.claim("without our carriers FTP works", session("cubic", INNER) == (A[4], True, True), "cubic")
    for cc, carrier, headers in CARRIERS:
        check(cc, carrier, headers)
    time.sleep(0.1)
    hosts.remove_path()
    return tap.done()


sys.exit(main())
