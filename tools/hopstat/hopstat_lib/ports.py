# SPDX-License-Identifier: GPL-2.0
"""Read ports: the queues of sch_wred, sch_xcp, sch_int and sch_csig and their counters."""
import array
import contextlib
import fcntl
import socket
import struct
import time
from collections.abc import Callable
from typing import TypeVar

from . import netlink
from .table import Row

T = TypeVar("T")
# (device, major handle) -> parent, bytes/s if the qdisc limits it
Tree = dict[tuple[int, int], tuple[int, int | None]]

GETQDISC = 38
TCA_KIND, TCA_OPTIONS, TCA_STATS2 = 1, 2, 7
STATS_BASIC, STATS_QUEUE, STATS_APP = 1, 3, 4
TBF_PARMS, TBF_RATE64 = 1, 4
ROOT = 0xffffffff
SIOCETHTOOL, ETHTOOL_GSET, ETHTOOL_GDRVINFO = 0x8946, 1, 3
SPEED_UNKNOWN_MBIT = 0xffff

MALFORMED = {"csig": ("truncated", "order"), "int": ("truncated", "length", "type", "slots", "hops"),
             "xcp": ("truncated", "version", "format", "length", "next")}


def malformed(kind: str) -> tuple[str, ...]:
    return tuple(f"malformed_{cause}_pkts" for cause in MALFORMED[kind])


# The first fields of each tc_*_xstats, 64 bits each; those in SIGNED have a sign. New fields are only added
# at the end. SKIPPED ones are not shown.
SKIPPED = ""
SIGNED = ("feedback_bytes_ps",)
XSTATS: dict[str, tuple[str, ...]] = {
    "csig": ("rate_bytes_ps", "available_bytes_ps", "tx_bytes", "longest_ns", "compact_pkts", "expanded_pkts",
             "updated_abw_pkts", "updated_abw_c_pkts", "updated_pd_pkts", "unsupported_pkts", "stripped_pkts",
             "fenced_pkts", "unwritable_pkts", "untimed_pkts", *malformed("csig"), "qdiscs", "measured_bytes_ps"),
    "int": ("rate_bytes_ps", "speed_bytes_ps", "tx_bytes", "longest_queue_bytes", "stamped_data_pkts",
            "stamped_probe_pkts", "full_pkts", "echo_pkts", "unwritable_pkts", "untimed_pkts", *malformed("int")),
    "xcp": ("rate_bytes_ps", "feedback_bytes_ps", "input_bytes_ps", "residue_pos_bytes_ps",
            "residue_neg_bytes_ps", "cp_bytes_ps2", "cn_ppm_ps", "avg_rtt_ns", "interval_ns",
            "standing_queue_bytes", "intervals", "reduced_pkts", "unwritable_pkts", "other_pkts",
            "standard_pkts", "minimal_pkts", "micro_pkts", "unknown_pkts", "e2e_limited_pkts", "flagged_pkts",
            *malformed("xcp"), *[SKIPPED] * 14, "bounded_pkts"),
    "wred": ("marked_pkts", "ce_pkts", "ect_dropped_pkts", "nect_dropped_pkts", "limit_dropped_pkts",
             "queued_bytes", "peak_bytes"),
}

COLUMNS = ("dev", "kind", "parent", "handle", "rate_bit_ps", "line_bit_ps", "used_ppm", "backlog_bytes", "delay_ns",
           "queue_pkts", "drops", "sent_bytes", "sent_pkts", "says", "detail")


def read() -> list[Row]:
    """Return a row for each queue of our qdiscs."""
    rows: list[tuple[int, int, Row]] = []
    tree: Tree = {}
    for data in netlink.dump(netlink.ROUTE, GETQDISC, bytes(20)):
        index, handle, parent = struct.unpack_from("iII", data, 4)
        attrs = dict(netlink.attributes(data[20:]))
        kind = attrs.get(TCA_KIND, b"").split(b"\0")[0].decode()
        own: dict[str, int] = {}
        if kind in XSTATS and TCA_STATS2 in attrs:
            stats = dict(netlink.attributes(attrs[TCA_STATS2]))
            own = xstats(kind, stats)
            where = "root" if parent == ROOT else f"{parent >> 16:x}:{parent & 0xffff:x}"
            rows.append((index, handle, one(index, handle, kind, stats, own) | dict(parent=where)))
        rate = own.get("rate_bytes_ps") or (tbf_rate(attrs) if kind == "tbf" else None)
        tree[index, handle >> 16] = parent, rate
    for index, handle, row in rows:
        rate, line = rate_of(tree, index, handle, row["dev"]), line_of(tree, index, handle, row["dev"])
        row["rate_bit_ps"], row["line_bit_ps"] = rate and 8 * rate, line and 8 * line
        row["delay_ns"] = row["backlog_bytes"] * 1000000000 // rate if rate else None
    return [row for index, handle, row in
            sorted(rows, key=lambda r: (r[2]["dev"], len(above(tree, r[0], r[1]))))]


def xstats(kind: str, stats: dict[int, bytes]) -> dict[str, int]:
    form = "=" + "".join("8x" if name == SKIPPED else "q" if name in SIGNED else "Q" for name in XSTATS[kind])
    return dict(zip(filter(None, XSTATS[kind]), struct.unpack_from(form, stats[STATS_APP])))


def one(index: int, handle: int, kind: str, stats: dict[int, bytes], own: dict[str, int]) -> Row:
    sent_bytes, sent_pkts = struct.unpack_from("QI", stats[STATS_BASIC])
    qlen, backlog, drops = struct.unpack_from("III", stats[STATS_QUEUE])
    blank: Row = dict.fromkeys(COLUMNS)
    return blank | dict(
        dev=socket.if_indextoname(index), kind=kind, handle=f"{handle >> 16:x}:",
        used_ppm=used_ppm(kind, own), backlog_bytes=backlog, queue_pkts=qlen, drops=drops,
        sent_bytes=sent_bytes, sent_pkts=sent_pkts, says=SAYS[kind](own),
        detail=own)


def tbf_rate(attrs: dict[int, bytes]) -> int | None:
    """Return the rate of a shaper in bytes/s, for the queues below it that have no rate of their own."""
    options = dict(netlink.attributes(attrs.get(TCA_OPTIONS, b"")))
    if TBF_RATE64 in options:
        return int(struct.unpack("Q", options[TBF_RATE64])[0])
    return int(struct.unpack_from("I", options[TBF_PARMS], 8)[0]) if TBF_PARMS in options else None


def above(tree: Tree, index: int, handle: int) -> list[int | None]:
    """Return the rates (or None) of the qdiscs above a queue, up to the root."""
    rates: list[int | None] = []
    while handle != ROOT and len(rates) < 8:    # the kernel's limit of the depth
        handle, rate = tree.get((index, handle >> 16), (ROOT, None))
        rates.append(rate)
    return rates


def rate_of(tree: Tree, index: int, handle: int, dev: str) -> int | None:
    """Return the rate of the queue, else of a qdisc above it, else of the device, in bytes/s."""
    return next((rate for rate in above(tree, index, handle) if rate), None) or device_rate(dev)


def line_of(tree: Tree, index: int, handle: int, dev: str) -> int | None:
    """Return the rate at which packets leave a queue: the least of the shapers above it and of the device,
    in bytes/s. A veth reports a speed that it does not keep."""
    rates = [rate for rate in above(tree, index, handle)[1:] if rate]
    if not is_veth(dev):
        rates.append(device_rate(dev) or 0)
    return min((rate for rate in rates if rate), default=None)


def is_veth(dev: str) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock, contextlib.suppress(OSError):
        return driver_of(sock, dev) == "veth"
    return False


def driver_of(sock: socket.socket, dev: str) -> str:
    command = array.array("B", struct.pack("I", ETHTOOL_GDRVINFO) + bytes(192))
    fcntl.ioctl(sock, SIOCETHTOOL, struct.pack("16sP", dev.encode(), command.buffer_info()[0]))
    return command.tobytes()[4:36].split(b"\0")[0].decode()


def device_rate(dev: str) -> int | None:
    """Return the speed that ethtool reports, in bytes/s; None if it is unknown."""
    command = array.array("B", struct.pack("I", ETHTOOL_GSET) + bytes(40))
    request = struct.pack("16sP", dev.encode(), command.buffer_info()[0])
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock, contextlib.suppress(OSError):
        fcntl.ioctl(sock, SIOCETHTOOL, request)
        low, high = struct.unpack_from("H", command, 12)[0], struct.unpack_from("H", command, 28)[0]
        if low != SPEED_UNKNOWN_MBIT and (low or high):
            return int((high << 16 | low) * 125000)
    return None


def used_ppm(kind: str, own: dict[str, int]) -> int | None:
    """Return the used part of the rate, if the qdisc reports its use."""
    rate = own.get("rate_bytes_ps")
    if not rate:
        return None
    if kind == "csig":
        return 1000000 - own["available_bytes_ps"] * 1000000 // (own["measured_bytes_ps"] or rate)
    if kind == "xcp":
        return own["input_bytes_ps"] * 1000000 // rate
    return None


def add_used(rows: list[Row], before: list[Row], seconds: float) -> None:
    """Add the used part of the other qdiscs' rates, from the bytes sent since an earlier reading."""
    old = {(r["dev"], r["handle"]): r for r in before}
    for r in rows:
        past = old.get((r["dev"], r["handle"]))
        if r["used_ppm"] is None and past and r["rate_bit_ps"] and seconds > 0:
            sent_bytes = wire_bytes(r) - wire_bytes(past)
            r["used_ppm"] = int(max(sent_bytes, 0) * 8e6 / seconds / r["rate_bit_ps"])


def add_sent(rows: list[Row], before: list[Row], seconds: float) -> None:
    """Add the rate at which each queue sent since an earlier reading; None if that is not known."""
    old = {(r["dev"], r["handle"]): wire_bytes(r) for r in before}
    for r in rows:
        past = old.get((r["dev"], r["handle"]))
        r["sent_bit_ps"] = None if past is None else max(0, round(8 * (wire_bytes(r) - past) / seconds))


def over(seconds: float, meanwhile: Callable[[], T]) -> tuple[list[Row], T]:
    """Return the rows, with the use over at least this time, and the result of meanwhile()."""
    before, then = read(), time.monotonic()
    result = meanwhile()
    time.sleep(max(0, then + seconds - time.monotonic()))
    rows = read()
    add_used(rows, before, time.monotonic() - then)
    return rows, result


def wire_bytes(row: Row) -> int:
    return int(row["detail"].get("tx_bytes", row["sent_bytes"]))


# For each qdisc: the feedback that it gives to flows.
SAYS: dict[str, Callable[[dict[str, int]], Row]] = {
    "csig": lambda own: dict(free_bit_ps=8 * own["available_bytes_ps"], longest_delay_ns=own["longest_ns"]),
    "int": lambda own: dict(longest_queue_bytes=own["longest_queue_bytes"]),
    "xcp": lambda own: dict(feedback_bit_ps=8 * own["feedback_bytes_ps"], mean_rtt_ns=own["avg_rtt_ns"],
                            standing_queue_bytes=own["standing_queue_bytes"]),
    "wred": lambda own: dict(marked_pkts=own["marked_pkts"], longest_queue_bytes=own["peak_bytes"]),
}
