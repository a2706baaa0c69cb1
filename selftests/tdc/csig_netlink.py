#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Send a csig root qdisc with any attributes, bypassing the checks of tc's plug-in.

    csig_netlink.py add|change DEV [rate=N] [mode=N] [abw.quantum=N] [pd.edges=N,N...]
                    [abw.compact=CONSTANT[,WHAT:BITS...]] [99=N] [rate=hex:00ff] [strict] ...

`strict` sets NLA_F_NESTED, which tc omits. See qdisc_netlink.py.
"""
import struct
import sys

from qdisc_netlink import attr, send

TYPES = {"rate": 2, "overhead": 3, "mode": 4, "unsupported": 5, "estimator": 6, "interval": 7,
         "shift": 8, "tpid_compact": 9, "tpid_expanded": 10, "stage": 11,
         "orientation": 12, "port_id": 13, "device_id": 14, "limit": 15, "abw": 16, "abw_c": 17,
         "pd": 18}
WITHIN = {"on": 1, "quantum": 2, "edges": 3, "compact": 4, "expanded": 5}


def layout(text):
    """Return a struct tc_csig_layout."""
    constant, *fields = text.split(",")
    pairs = [int(n) for field in fields for n in field.split(":")]
    return struct.pack("=HBx", int(constant), len(fields)) + bytes(pairs[:12]).ljust(12, b"\0")


def payload_of(name, text):
    if text.startswith("hex:"):
        return bytes.fromhex(text[4:])
    if name in ("compact", "expanded"):
        return layout(text)
    if name == "edges":
        return b"".join(struct.pack("=I", int(edge)) for edge in text.split(",") if edge)
    return struct.pack("=Q" if name == "rate" else "=I", int(text))


def option(word):
    path, _, text = word.partition("=")
    name, _, within = path.partition(".")
    payload = payload_of(within or name, text)
    if within:
        payload = attr(WITHIN.get(within) or int(within), payload)
    return attr(TYPES.get(name) or int(name), payload)


def main(*words):
    return send("csig", option, *words)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
