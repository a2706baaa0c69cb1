#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Send an int root qdisc with any attributes, past the checks of tc's plug-in.

    int-netlink.py add|change DEV [rate=N] [switch_id=N] [99=N] [rate=hex:00ff] [strict] ...

`strict` sets NLA_F_NESTED, which tc omits. See qdisc_netlink.py.
"""
import struct
import sys

from qdisc_netlink import NLA_F_NESTED, TCA_OPTIONS, attr, request

TYPES = {"rate": 2, "speed": 3, "switch_id": 4, "port_id": 5, "overhead": 6, "sojourn": 7,
         "share": 8, "protocol": 9, "dscp_data": 10, "dscp_probe": 11, "udp_port": 12, "limit": 13}


def option(word):
    name, _, text = word.partition("=")
    if text.startswith("hex:"):
        payload = bytes.fromhex(text[4:])
    else:
        payload = struct.pack("=Q" if name in ("rate", "speed") else "=I", int(text))
    return attr(TYPES.get(name) or int(name), payload)


def main(verb, dev, *words):
    nested = NLA_F_NESTED if "strict" in words else 0
    body = b"".join(option(w) for w in words if w != "strict")
    return request("int", verb, dev, attr(TCA_OPTIONS | nested, body))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
