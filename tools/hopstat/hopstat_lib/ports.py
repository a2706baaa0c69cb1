# SPDX-License-Identifier: GPL-2.0
"""Ports: the queues of sch_wred, sch_xcp, sch_int and sch_csig and what they count."""
import array
import contextlib
import fcntl
import socket
import struct
import time

from . import netlink, table

GETQDISC = 38
TCA_KIND, TCA_OPTIONS, TCA_STATS2 = 1, 2, 7
STATS_BASIC, STATS_QUEUE, STATS_APP = 1, 3, 4
TBF_PARMS, TBF_RATE64 = 1, 4
ROOT = 0xffffffff
SIOCETHTOOL, ETHTOOL_GSET = 0x8946, 1
SPEED_UNKNOWN_MBIT = 0xffff

# The first fields of tc_*_xstats, which are only ever added to at their ends; Q and q of struct.
XSTATS = {
    "csig": ("QQQQ", ("rate_bytes_ps", "available_bytes_ps", "tx_bytes", "longest_ns")),
    "int": ("QQQQ", ("rate_bytes_ps", "speed_bytes_ps", "tx_bytes", "longest_queue_bytes")),
    "xcp": ("QqQQQQQQQQ", ("rate_bytes_ps", "feedback_bytes_ps", "input_bytes_ps",
                           "residue_pos_bytes_ps", "residue_neg_bytes_ps", "cp_bytes_ps2",
                           "cn_ppm_ps", "avg_rtt_ns", "interval_ns", "standing_queue_bytes")),
    "wred": ("QQQQQQQ", ("marked_pkts", "ce_pkts", "ect_dropped_pkts", "nect_dropped_pkts",
                         "limit_dropped_pkts", "queued_bytes", "peak_bytes")),
}

COLUMNS = ("dev", "kind", "handle", "rate_bit_ps", "used_ppm", "backlog_bytes", "delay_ns",
           "queue_pkts", "drops", "sent_bytes", "sent_pkts", "says", "detail")


def read():
    """A row a queue of ours."""
    rows, tree = [], {}
    for data in netlink.dump(netlink.ROUTE, GETQDISC, bytes(20)):
        index, handle, parent = struct.unpack_from("iII", data, 4)
        attrs = dict(netlink.attributes(data[20:]))
        kind = attrs.get(TCA_KIND, b"").split(b"\0")[0].decode()
        own = {}
        if kind in XSTATS and TCA_STATS2 in attrs:
            stats = dict(netlink.attributes(attrs[TCA_STATS2]))
            own = xstats(kind, stats)
            rows.append((index, handle, one(index, handle, kind, stats, own)))
        rate = own.get("rate_bytes_ps") or (tbf_rate(attrs) if kind == "tbf" else None)
        tree[index, handle >> 16] = parent, rate
    for index, handle, row in rows:
        rate = rate_of(tree, index, handle, row["dev"])
        row["rate_bit_ps"] = rate and 8 * rate
        row["delay_ns"] = row["backlog_bytes"] * 1000000000 // rate if rate else None
    return [row for index, handle, row in
            sorted(rows, key=lambda r: (r[2]["dev"], len(above(tree, r[0], r[1]))))]


def xstats(kind, stats):
    form, names = XSTATS[kind]
    return dict(zip(names, struct.unpack_from("=" + form, stats[STATS_APP])))


def one(index, handle, kind, stats, own):
    sent_bytes, sent_pkts = struct.unpack_from("QI", stats[STATS_BASIC])
    qlen, backlog, drops = struct.unpack_from("III", stats[STATS_QUEUE])
    return dict.fromkeys(COLUMNS) | dict(
        dev=socket.if_indextoname(index), kind=kind, handle=f"{handle >> 16:x}:",
        used_ppm=used_ppm(kind, own), backlog_bytes=backlog, queue_pkts=qlen, drops=drops,
        sent_bytes=sent_bytes, sent_pkts=sent_pkts, says=SAYS[kind](own),
        detail=" ".join(f"{k}={v}" for k, v in own.items()))


def tbf_rate(attrs):
    """Bytes/s of a shaper, for the queues below it that have no rate of their own."""
    options = dict(netlink.attributes(attrs.get(TCA_OPTIONS, b"")))
    if TBF_RATE64 in options:
        return struct.unpack("Q", options[TBF_RATE64])[0]
    return struct.unpack_from("I", options[TBF_PARMS], 8)[0] if TBF_PARMS in options else None


def above(tree, index, handle):
    """The rates, or None, of a queue and of those that it is in, up to the device's."""
    rates = []
    while handle != ROOT and len(rates) < 8:    # as deep as the kernel goes
        handle, rate = tree.get((index, handle >> 16), (ROOT, None))
        rates.append(rate)
    return rates


def rate_of(tree, index, handle, dev):
    """Its own, or of what is above it, or the device's; bytes/s."""
    return next((rate for rate in above(tree, index, handle) if rate), None) or device_rate(dev)


def device_rate(dev):
    """As ethtool tells it, bytes/s; None: it does not know."""
    command = array.array("B", struct.pack("I", ETHTOOL_GSET) + bytes(40))
    request = struct.pack("16sP", dev.encode(), command.buffer_info()[0])
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock, contextlib.suppress(OSError):
        fcntl.ioctl(sock, SIOCETHTOOL, request)
        low, high = struct.unpack_from("H", command, 12)[0], struct.unpack_from("H", command, 28)[0]
        if low != SPEED_UNKNOWN_MBIT and (low or high):
            return (high << 16 | low) * 125000
    return None


def used_ppm(kind, own):
    """Of its rate, where the port says what it uses."""
    rate = own.get("rate_bytes_ps")
    if not rate:
        return None
    if kind == "csig":
        return 1000000 - own["available_bytes_ps"] * 1000000 // rate
    if kind == "xcp":
        return own["input_bytes_ps"] * 1000000 // rate
    return None


def add_used(rows, before, seconds):
    """Of the others, by what was sent since another reading."""
    old = {(r["dev"], r["handle"]): r for r in before}
    for r in rows:
        past = old.get((r["dev"], r["handle"]))
        if r["used_ppm"] is None and past and r["rate_bit_ps"] and seconds > 0:
            sent_bytes = wire_bytes(r) - wire_bytes(past)
            r["used_ppm"] = int(max(sent_bytes, 0) * 8e6 / seconds / r["rate_bit_ps"])


def over(seconds, meanwhile):
    """Rows, used over so long at least; and what meanwhile() returns."""
    before, then = read(), time.monotonic()
    result = meanwhile()
    time.sleep(max(0, then + seconds - time.monotonic()))
    rows = read()
    add_used(rows, before, time.monotonic() - then)
    return rows, result


def wire_bytes(row):
    return int(dict(w.split("=") for w in row["detail"].split()).get("tx_bytes", row["sent_bytes"]))


# What a signaller tells flows, or has done to them, in words.
SAYS = {
    "csig": lambda own: f"free {table.number(8 * own['available_bytes_ps'])}bit/s, longest delay "
                        f"{own['longest_ns'] / 1000:.1f}us",
    "int": lambda own: f"longest queue {table.number(own['longest_queue_bytes'])}B",
    "xcp": lambda own: f"feedback {table.number(8 * own['feedback_bytes_ps'], '+')}bit/s, mean RTT "
                       f"{own['avg_rtt_ns'] / 1000:.0f}us, standing queue "
                       f"{table.number(own['standing_queue_bytes'])}B",
    "wred": lambda own: f"marked {own['marked_pkts']}, longest queue "
                        f"{table.number(own['peak_bytes'])}B",
}
