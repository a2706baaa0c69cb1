#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Send an int root qdisc with any attributes, past the checks of tc's plug-in.

    int_netlink.py add|change DEV [rate=N] [switch_id=N] [99=N] [rate=hex:00ff] [strict] ...

`strict` sets NLA_F_NESTED, which tc omits. See qdisc_netlink.py.
"""
import sys

from qdisc_netlink import plain, send

TYPES = {"switch_id": 2, "port_id": 3, "overhead": 4, "sojourn": 5, "share": 6, "protocol": 7, "formats": 8,
         "node_id": 9, "schema": 10, "dscp_intmd": 11, "formats_only": 12, "border": 13, "limit": 14,
         "rate": 15, "speed": 16}


def main(*words):
    return send("int", plain(TYPES, ("rate", "speed")), *words)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
