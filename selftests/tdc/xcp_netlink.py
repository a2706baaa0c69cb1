#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Send an xcp root qdisc with any attributes, bypassing the checks of tc's plug-in.

    xcp_netlink.py add|change DEV [rate=N] [alpha=N] [min_interval=N] [99=N]
                   [rate=hex:00ff] [strict] ...

`strict` sets NLA_F_NESTED, which tc omits. See qdisc_netlink.py.
"""
import sys

from qdisc_netlink import plain, send

TYPES = {"rate": 2, "overhead": 3, "alpha": 4, "beta": 5, "gamma": 6, "min_interval": 7,
         "max_interval": 8, "allowed_queue": 9, "e2e_share": 10, "protocol": 11, "limit": 12,
         "share": 13}


def main(*words):
    return send("xcp", plain(TYPES), *words)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
