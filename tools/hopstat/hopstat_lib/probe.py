# SPDX-License-Identifier: GPL-2.0
"""Probes in the manner of Pingmesh: a connection to a host that answers, a byte at a time, and
what the hops said of its path."""
import contextlib
import socket
import struct
import threading
import time

from . import flows

PORT = 4353
TCP_INFO_RTT = 68
COLUMNS = ("host", "signal", "hop", "value", "high", "rtt_us", "lost")


def answer(address, port, ready=None):
    """Send each byte back, for ever."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.create_server((address, port), family=family, backlog=1024,
                              dualstack_ipv6=address == "::") as server:
        if ready:
            ready()
        while True:
            sock = server.accept()[0]
            threading.Thread(target=echo, args=(sock,), daemon=True).start()


def echo(sock):
    with sock, contextlib.suppress(OSError):
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while data := sock.recv(4096):
            sock.sendall(data)


def connect(host, port, cc, timeout_s):
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    sock = socket.socket(*found[:2])
    sock.settimeout(timeout_s)
    if cc:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, cc.encode())
    sock.connect(found[4])
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return sock


def ends(sock):
    return tuple(flows.endpoint(flows.netlink.address(socket.inet_pton(sock.family, name[0])),
                                name[1]) for name in (sock.getsockname(), sock.getpeername()))


def worst(kind, have, new):
    """Of two readings the one that is more in the way."""
    if have is None:
        return new
    return max(have, new, key=lambda s: s["low"]) if kind == 2 else \
        min(have, new, key=lambda s: s["low"])


def trace(host, port=PORT, cc="csig", count=12, gap_s=0.01, timeout_s=3):
    """A row a signal: the worst over the probes; one row without a signal if none came."""
    seen, rtt_us, lost = {}, [], 0
    with connect(host, port, cc, timeout_s) as sock:
        for _ in range(count):
            begin = time.monotonic()
            try:
                sock.sendall(b"x")
                sock.recv(1)
            except socket.timeout:
                lost += 1
                continue
            rtt_us.append((time.monotonic() - begin) * 1e6)
            time.sleep(gap_s)
            for local, peer, _, signals in flows.csig_flows():
                if (local, peer) == ends(sock):
                    for kind, signal in signals.items():
                        seen[kind] = worst(kind, seen.get(kind), signal)
        info = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
    base = dict(host=host, rtt_us=struct.unpack_from("I", info, TCP_INFO_RTT)[0] if rtt_us else None,
                lost=lost)
    rows = [base | dict(signal=flows.SIGNALS[kind], hop=s["locator"] or None, value=s["low"],
                        high=None if s["high"] == flows.NO_BOUND else s["high"])
            for kind, s in sorted(seen.items())]
    return rows or [base | dict(signal=None, hop=None, value=None, high=None)]


def is_told(row):
    """Did a hop write? One without a locator is known by the bandwidth, which has a bound then."""
    return bool(row["hop"]) or row["signal"] in flows.SIGNALS[:2] and row["high"] is not None


def mesh(hosts, **options):
    """trace() to each, and a row for those that do not answer."""
    for host in hosts:
        try:
            yield from trace(host, **options)
        except OSError as error:
            yield dict.fromkeys(COLUMNS) | dict(host=host, signal=f"unreachable: {error.strerror or error}")
