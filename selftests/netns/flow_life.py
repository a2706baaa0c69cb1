#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Entries of the flow table live as long as they are needed: not beyond their carrier's module or
their network namespace, and not less than their connection. Prints TAP.

    one, two: connections with themselves           a ---- r ---- b

usage: flow_life.py CONNECTIONS    of each carrier in each of one and two

Needs root and all modules; unloads two carriers; changes nothing else outside its own network
namespaces.
"""
import json
import resource
import socket
import subprocess
import sys
import threading
import time

import hosts
from flow_table import Pairs
from hosts import Stream, cc_of, counts, sysctl, transfer

IDLE_S = 6      # longer than ageing leaves an unused entry alone
FLOW_LIMIT, ACCEPTED = 400, 300

tap = hosts.Tap()


class Ends(Pairs):
    """Connections that can send, and whose congestion control's module can be unloaded."""

    def release(self):
        """Let no socket use the congestion control's module any more."""
        for sock in self.socks:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"reno")

    def stream(self, stop):
        """Send on the first connection until @stop is set."""
        source, sink = self.socks[:2]
        while not stop.is_set():
            source.sendall(bytes(20000))
            left = 20000
            while left:
                left -= len(sink.recv(left))
            time.sleep(0.001)


def flows():
    return [counts(name, "csig")["flows"] for name in ("one", "two")]


def unload(gone, module, others):
    """Unload a carrier while a connection of it and one of another carrier send."""
    stop = threading.Event()
    before = flows()
    busy = [threading.Thread(target=ends.stream, args=(stop,)) for ends in (gone[0], others[0])]
    for ends in gone:
        ends.release()
    for thread in busy:
        thread.start()
    hosts.run(f"rmmod tcp_{module[0]} {module[1]}")
    left = flows()
    stop.set()
    for thread in busy:
        thread.join()
    tap.equal(f"{module[1]} is unloaded under traffic: its flows go, and no other carrier's",
              [x - y for x, y in zip(before, left)], [len(ends.socks) for ends in gone])


def modules_end(number):
    hosts.build("one", "two")
    for name in ("one", "two"):
        sysctl(name, "hopcc/csig", 2)
    kept = [Ends(name, number, "csig") for name in ("one", "two")]
    alone = flows()
    tap.equal("each connection has two flows", alone, [2 * number] * 2)
    # Otherwise it holds net_int.
    hosts.run("rmmod net_tlm")
    for module in (("xcp", "net_xcp"), ("hpccpp", "net_int")):
        gone = [Ends(name, number, module[0]) for name in ("one", "two")]
        unload(gone, module, kept)
        for ends in gone:
            ends.close()
    time.sleep(IDLE_S)
    tap.equal("the other carrier's flows stay when they are idle", flows(), alone)
    hosts.run("ip netns del two")
    kept[1].close()
    time.sleep(70)
    tap.equal("a namespace that ends leaves another's flows alone", counts("one", "csig")["flows"], alone[0])
    kept[0].close()
    time.sleep(70)
    tap.equal("in the end no flow is left", counts("one", "csig")["flows"], 0)
    hosts.run("ip netns del one")
    log = subprocess.check_output(["dmesg", "-t"], text=True)
    tap.claim("the kernel has nothing to say of it", "WARNING" not in log and "BUG" not in log, log[-300:])


HEADERS = {"xcp": ("xcp", "out_data"), "hpccpp": ("int", "out_probe"), "csig": ("csig", "out_tagged")}


def sends_headers(cc, pair, total=500000):
    """Return (the stream arrived, packets with headers or probes that @a has sent for it)."""
    carrier, counter = HEADERS[cc]
    before = counts("a", carrier)[counter]
    stream = Stream(*pair, total)
    exact = transfer([stream], limit_s=60)
    return exact, counts("a", carrier)[counter] - before


def rest(pair):
    """Send without ending the stream, then be idle for longer than ageing waits."""
    pair[0].setblocking(True)
    pair[0].sendall(bytes(20000))
    pair[1].setblocking(True)
    left = 20000
    while left:
        left -= len(pair[1].recv(left))
    for sock in pair:
        sock.setblocking(False)
    time.sleep(IDLE_S)


def bound_later(cc):
    """Any user may bind an established connection to a device, or bind it to none."""
    for version in (4, 6):
        pair = hosts.connect(version, cc)
        for device, what in ((b"a-r", "bound to its device"), (b"", "bound to none again")):
            pair[0].setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, device)
            pair[1].setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"b-r" if device else b"")
            rest(pair)
            kept = [counts(name, HEADERS[cc][0])["flows"] for name in "ab"]
            tap.equal(f"{cc}, IPv{version}, {what} and idle: the flows stay", kept, [1, 1])
        exact, headers = sends_headers(cc, pair)
        tap.claim(f"{cc}, IPv{version}: its data has feedback afterwards",
                  exact and headers > 0 and cc_of(pair[0]) == cc, f"{exact}, {headers}, {cc_of(pair[0])}")
        hosts.close(*pair)
        time.sleep(IDLE_S)


def link_local(name, dev):
    """Return the link-local address of a device."""
    shown = subprocess.check_output(["ip", "-n", name, "-j", "-6", "addr", "show", "dev", dev, "scope", "link"])
    # Beside it are empty objects.
    return next(a["local"] for found in json.loads(shown) for a in found.get("addr_info", []) if a)


def scope_goes(cc):
    """Any user may unbind a connection of link-local addresses from its device, which is a part of
    the key. The entry is not found any more, and the congestion control falls back.
    """
    with hosts.inside("r"):
        index = socket.if_nametoindex("r-a")
        listener = socket.socket(socket.AF_INET6, socket.SOCK_STREAM)
    listener.bind((link_local("r", "r-a"), 0, 0, index))
    listener.listen()
    with hosts.inside("a"):
        index = socket.if_nametoindex("a-r")
    source = hosts.tcp("a", 6, cc)
    source.connect((link_local("r", "r-a"), listener.getsockname()[1], 0, index))
    pair = source, listener.accept()[0]
    listener.close()
    rest(pair)
    before = counts("a", HEADERS[cc][0])
    source.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"")
    time.sleep(IDLE_S)
    exact, headers = sends_headers(cc, pair)
    got = hosts.since("a", before, HEADERS[cc][0])
    tap.equal(f"{cc}, the key of the connection's entry changes: it falls back and goes on",
              (exact, headers, cc_of(source), before["flows"], got["flows"], got["peer_unsupported"]),
              (True, 0, cc + "-reno", 1, -1, 0))
    hosts.close(*pair)
    time.sleep(IDLE_S)


def accepted_and_idle(cc):
    """Connections that TCP has accepted are not half-open, although they have sent nothing."""
    carrier = HEADERS[cc][0]
    before, learned = counts("b", carrier), counts("a", carrier)["peer_unsupported"]
    pairs = [hosts.connect(4, cc) for _ in range(ACCEPTED)]
    got = hosts.since("b", before, carrier)
    tap.equal(f"{cc}: {ACCEPTED} accepted connections that are idle keep their flows",
              [got[k] for k in ("flows", "flows_evicted", "flows_refused")], [ACCEPTED, 0, 0])
    exact, headers = sends_headers(cc, pairs[0], 20000)
    tap.claim(f"{cc}: the first data of the oldest one has feedback",
              exact and headers > 0 and cc_of(pairs[0][0]) == cc and
              counts("a", carrier)["peer_unsupported"] == learned,
              f"{exact}, {headers}, {cc_of(pairs[0][0])}")
    for pair in pairs:
        hosts.close(*pair)
    time.sleep(70)


def connections_last():
    hosts.build_path()
    sysctl("b", "hopcc/flow_limit", FLOW_LIMIT)
    # Without a report of any hop, hpccpp falls back.
    for dev in ("r-a", "r-b"):
        hosts.run(f"ip netns exec r tc qdisc add dev {dev} root int rate 1gbit")
    for cc in ("xcp", "hpccpp"):
        bound_later(cc)
        scope_goes(cc)
        accepted_and_idle(cc)
    hosts.remove_path()


def main():
    resource.setrlimit(resource.RLIMIT_NOFILE, (100000, 100000))
    connections_last()
    modules_end(int(sys.argv[1]))
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
