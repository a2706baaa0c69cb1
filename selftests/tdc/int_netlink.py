#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Send an int root qdisc with any attributes, past the checks of tc's plug-in.

    int_netlink.py add|change DEV [rate=N] [switch_id=N] [99=N] [rate=hex:00ff] [strict] ...

`strict` sets NLA_F_NESTED, which tc omits. See qdisc_netlink.py.
"""
import sys

from qdisc_netlink import plain, send

TYPES = {"rate": 2, "speed": 3, "switch_id": 4, "port_id": 5, "overhead": 6, "sojourn": 7,
         "share": 8, "protocol": 9, "limit": 13,
         "formats": 14, "node_id": 15, "schema": 16, "dscp_intmd": 17, "formats_only": 18}


def main(*words):
    return send("int", plain(TYPES, ("rate", "speed")), *words)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
