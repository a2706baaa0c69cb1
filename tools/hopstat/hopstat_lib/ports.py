# SPDX-License-Identifier: GPL-2.0
"""Ports: the queues of sch_wred, sch_xcp, sch_int and sch_csig and what they count."""
import socket
import struct

from . import netlink

GETQDISC = 38
TCA_KIND, TCA_STATS2 = 1, 7
STATS_BASIC, STATS_QUEUE, STATS_APP = 1, 3, 4

# The first fields of tc_*_xstats, which are only ever added to at their ends.
XSTATS = {
    "csig": ("rate_bytes_ps", "available_bytes_ps", "tx_bytes", "longest_ns"),
    "int": ("rate_bytes_ps", "speed_bytes_ps", "tx_bytes", "longest_queue_bytes"),
    "xcp": ("rate_bytes_ps", "feedback_bytes_ps", "input_bytes_ps"),
    "wred": ("marked_pkts", "ce_pkts", "ect_dropped_pkts", "nect_dropped_pkts"),
}

COLUMNS = ("dev", "kind", "handle", "used_ppm", "backlog_bytes", "queue_pkts", "drops",
           "sent_bytes", "sent_pkts", "detail")


def read():
    """A row a queue of ours."""
    rows = []
    for data in netlink.dump(netlink.ROUTE, GETQDISC, bytes(20)):
        index, handle = struct.unpack_from("iI", data, 4)
        attrs = dict(netlink.attributes(data[20:]))
        kind = attrs.get(TCA_KIND, b"").split(b"\0")[0].decode()
        if kind in XSTATS and TCA_STATS2 in attrs:
            rows.append(one(index, handle, kind, dict(netlink.attributes(attrs[TCA_STATS2]))))
    return rows


def one(index, handle, kind, stats):
    sent_bytes, sent_pkts = struct.unpack_from("QI", stats[STATS_BASIC])
    qlen, backlog, drops = struct.unpack_from("III", stats[STATS_QUEUE])
    names = XSTATS[kind]
    own = dict(zip(names, struct.unpack_from(f"{len(names)}Q", stats[STATS_APP])))
    return dict(dev=socket.if_indextoname(index), kind=kind, handle=f"{handle >> 16:x}:",
                used_ppm=used_ppm(kind, own), backlog_bytes=backlog, queue_pkts=qlen,
                drops=drops, sent_bytes=sent_bytes, sent_pkts=sent_pkts,
                detail=" ".join(f"{k}={v}" for k, v in own.items()))


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
        rate = dict(w.split("=") for w in r["detail"].split()).get("rate_bytes_ps")
        if r["used_ppm"] is None and past and rate and seconds > 0:
            sent = r["sent_bytes"] - past["sent_bytes"]
            r["used_ppm"] = int(sent * 1000000 / seconds / int(rate))
