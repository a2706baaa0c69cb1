# SPDX-License-Identifier: GPL-2.0
"""Read TCP sockets by inet_diag, with the values that our congestion controls report to ss."""
import socket
import struct
from collections.abc import Iterator
from typing import NamedTuple

from . import netlink
from .table import Row

Ends = tuple[str, str]      # local and peer, each with its port

DIAG_BY_FAMILY, TCP = 20, 6
ESTABLISHED, LISTEN = 1 << 1, 1 << 10
DIAG_INFO, DIAG_CONG, DIAG_VEGAS, DIAG_DCTCP, DIAG_BBR = 2, 4, 3, 9, 16
NO_PACE = (1 << 64) - 1


def endpoint(address: str, port: int | str) -> str:
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def host_of(end: str) -> str:
    """The address of an endpoint: "[ADDRESS]:PORT" or "ADDRESS:PORT"."""
    return end.rpartition(":")[0].strip("[]")


def dump(states: int) -> Iterator[tuple[Ends, Row]]:
    for family in (socket.AF_INET, socket.AF_INET6):
        ext = sum(1 << (kind - 1) for kind in (DIAG_INFO, DIAG_CONG, DIAG_VEGAS))
        body = struct.pack("BBBBI", family, TCP, ext, 0, states) + bytes(48)
        for data in netlink.dump(netlink.SOCK_DIAG, DIAG_BY_FAMILY, body):
            yield one_socket(data)


def connections() -> dict[Ends, Row]:
    """Return {(local, peer): {cc, bbr: (bw, mrtt, gain, gain), rtt_us, ...}} of all TCP connections;
    unsent_bytes is the data that is not acknowledged yet, sent or not."""
    return dict(dump(ESTABLISHED))


class Listener(NamedTuple):
    """A listening TCP socket."""
    local: str
    cc: str
    inode: int


def listeners() -> list[Listener]:
    return [Listener(local, row["cc"], row["inode"]) for (local, _), row in dump(LISTEN)]


def one_socket(data: bytes) -> tuple[Ends, Row]:
    family = data[0]
    sport, dport = struct.unpack_from(">HH", data, 4)
    size = 4 if family == socket.AF_INET else 16
    local = endpoint(netlink.address(data[8:8 + size]), sport)
    peer = endpoint(netlink.address(data[24:24 + size]), dport)
    out: Row = dict(cc="", bbr=None, dctcp=None, rtt_us=None, least_us=None, acked_bytes=0,
                    rate_bit_ps=None, pace_bit_ps=None, cwnd_pkts=None,
                    inode=struct.unpack_from("I", data, 68)[0],
                    unsent_bytes=struct.unpack_from("I", data, 60)[0], options=0, retrans_pkts=0)
    for kind, value in netlink.attributes(data[72:]):
        if kind == DIAG_CONG:
            out["cc"] = value.split(b"\0")[0].decode()
        elif kind == DIAG_BBR and len(value) >= 20:
            low, high, mrtt_us, gain, gain2 = struct.unpack_from("5I", value)
            out["bbr"] = (low | high << 32, mrtt_us, gain, gain2)
        elif kind == DIAG_DCTCP and len(value) >= 16:
            out["dctcp"] = struct.unpack_from("HHIII", value)
        elif kind == DIAG_INFO:
            add_info(out, value)
    return (local, peer), out


def add_info(out: Row, info: bytes) -> None:
    """Add the fields of struct tcp_info; an older kernel has fewer."""
    if len(info) < 112:
        return
    out["options"], out["retrans_pkts"] = info[5], struct.unpack_from("I", info, 100)[0]
    out["rtt_us"], out["cwnd_pkts"] = (struct.unpack_from("I", info, at)[0] for at in (68, 80))
    pace_bytes_ps, = struct.unpack_from("Q", info, 104)
    out["pace_bit_ps"] = None if pace_bytes_ps == NO_PACE else 8 * pace_bytes_ps
    if len(info) >= 152:
        out["acked_bytes"], = struct.unpack_from("Q", info, 120)
        out["least_us"], = struct.unpack_from("I", info, 148)
