# SPDX-License-Identifier: GPL-2.0
"""Probe paths, as Pingmesh does: connect to a host that answers, send a byte at a time, and read the
signals that the hops wrote."""
import contextlib
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NoReturn

from . import flows, netlink
from .flows import Signal
from .sockets import Ends, endpoint
from .table import Row

PORT = 4353
TCP_CONGESTION = 13
TCP_INFO_RTT = 68
COLUMNS = ("host", "signal", "hop", "value", "high", "rtt_us", "lost")


def answer(address: str, port: int, ready: Callable[[], object] | None = None) -> NoReturn:
    """Send each byte back until the program is ended."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.create_server((address, port), family=family, backlog=1024,
                              dualstack_ipv6=address == "::") as server:
        if ready:
            ready()
        while True:
            sock = server.accept()[0]
            threading.Thread(target=echo, args=(sock,), daemon=True).start()


def echo(sock: socket.socket) -> None:
    with sock, contextlib.suppress(OSError):
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while data := sock.recv(4096):
            sock.sendall(data)


def connect(host: str, port: int, cc: str, timeout_s: float) -> socket.socket:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    sock = socket.socket(*found[:2])
    sock.settimeout(timeout_s)
    if cc:
        choose(sock, cc)
    sock.connect(found[4])
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return sock


def choose(sock: socket.socket, cc: str) -> None:
    """Select a congestion control; raise ValueError with the remedy if the kernel refuses it."""
    try:
        sock.setsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, cc.encode())
    except FileNotFoundError:
        raise ValueError(f"the congestion control {cc} is not loaded: modprobe tcp_{cc}, or another --cc") \
            from None
    except PermissionError:
        raise ValueError(f"the congestion control {cc} is not allowed: run as root, or add it to "
                         "net.ipv4.tcp_allowed_congestion_control") from None


def ends(sock: socket.socket) -> Ends:
    local, peer = (endpoint(netlink.address(socket.inet_pton(sock.family, name[0])), name[1])
                   for name in (sock.getsockname(), sock.getpeername()))
    return local, peer


def worst(kind: int, have: Signal | None, new: Signal) -> Signal:
    """Return the reading that shows the more congested hop."""
    if have is None:
        return new
    return max(have, new, key=lambda s: s["low"]) if kind == 2 else \
        min(have, new, key=lambda s: s["low"])


def can_read() -> bool:
    """True if the caller may read the flows of net_csig_tag."""
    try:
        next(flows.csig_flows(), None)
    except PermissionError:
        return False
    return True


def trace(host: str, port: int = PORT, cc: str = "csig", count: int = 12, gap_s: float = 0.01,
          timeout_s: float = 3) -> list[Row]:
    """Return a row for each signal, with the worst value of all probes; one row without a signal if no
    signal arrived."""
    if not can_read():
        raise ValueError("only root can read CSIG's signals: sudo hopstat trace")
    seen: dict[int, Signal] = {}
    rtt_us, lost = [], 0
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
    base: Row = dict(host=host, rtt_us=struct.unpack_from("I", info, TCP_INFO_RTT)[0] if rtt_us else None,
                     lost=lost)
    rows = [base | dict(signal=flows.SIGNALS[kind], hop=s["locator"] or None, value=s["low"],
                        high=None if s["high"] == flows.NO_BOUND else s["high"])
            for kind, s in sorted(seen.items())]
    return rows or [base | dict(signal=None, hop=None, value=None, high=None)]


def is_reported(row: Row) -> bool:
    """True if a hop wrote the signal. A hop without a locator shows in the bandwidth, which then has an
    upper bound."""
    return bool(row["hop"]) or row["signal"] in flows.SIGNALS[:2] and row["high"] is not None


def mesh(hosts: Iterable[str], **options: Any) -> Iterator[Row]:
    """Yield the rows of trace() for each host, and a row for each host that does not answer."""
    for host in hosts:
        try:
            yield from trace(host, **options)
        except OSError as error:
            blank: Row = dict.fromkeys(COLUMNS)
            yield blank | dict(host=host, signal=f"unreachable: {error.strerror or error}")
